# Tests a table whose partitions are foreign tables (postgres_fdw) on two workers with rtscan indexes: it must answer
# like one local table, and the workers must use rtscan. One of them has rtscan preloaded, the other loads it in each
# session.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Test::More;

my $explain = "session_preload_libraries = auto_explain\nauto_explain.log_min_duration = 0\n";
my $coordinator = new_node('coordinator');
my %workers = (east => new_node('east', $explain), west => new_node('west', "$explain shared_preload_libraries = rtscan\n"));
$_->start foreach ($coordinator, values %workers);

# Columns of t; g decides which worker has a row.
my $columns = 'id int, g int, a int, b text, c timestamptz, v numeric(8, 2)';

sub readings
{
	my ($first, $last) = @_;
	return "SELECT i, i % 40, CASE WHEN i % 17 <> 0 THEN i::int8 * 7919 % 1000 END::int, CASE WHEN i % 11 <> 0 THEN 'k' || i % 50 END, "
	  . "'2020-01-01 00:00+00'::timestamptz + i % 1000 * interval '1 hour', i % 777 / 4.0 FROM generate_series($first, $last) i";
}

sub ask
{
	my ($query, $settings) = @_;
	return $coordinator->safe_psql('postgres', ($settings // '') . ';' . $query);
}

foreach my $name (sort keys %workers)
{
	$workers{$name}->safe_psql('postgres', "CREATE EXTENSION rtscan; CREATE TABLE t ($columns);"
		  . 'CREATE INDEX t_idx ON t USING rtscan (a, b, c) INCLUDE (id, g, v)');
}
ask("CREATE EXTENSION postgres_fdw; CREATE TABLE here ($columns); CREATE TABLE t (LIKE here) PARTITION BY HASH (g);");
my $remainder = 0;
foreach my $name (sort keys %workers)
{
	my ($host, $port) = ($workers{$name}->host, $workers{$name}->port);
	ask("CREATE SERVER $name FOREIGN DATA WRAPPER postgres_fdw
			OPTIONS (host '$host', port '$port', dbname 'postgres', options '-c enable_seqscan=off',
				async_capable 'true', batch_size '1000');
		CREATE USER MAPPING FOR PUBLIC SERVER $name;
		CREATE FOREIGN TABLE t_$name PARTITION OF t FOR VALUES WITH (MODULUS 2, REMAINDER $remainder)
			SERVER $name OPTIONS (table_name 't')");
	$remainder++;
}
ask('INSERT INTO here ' . readings(1, 40_000) . '; INSERT INTO t SELECT * FROM here; ANALYZE here; ANALYZE t');
$_->safe_psql('postgres', 'VACUUM ANALYZE t') foreach values %workers;

my $partitionwise = 'SET enable_partitionwise_aggregate = on';

# Return the workers' plans of a query.
sub plans_while
{
	my ($what) = @_;
	my %from = map { $_ => -s $workers{$_}->logfile } keys %workers;
	my $answer = $what->();
	return ($answer, map { my $log = slurp_file($workers{$_}->logfile, $from{$_}); $log } sort keys %workers);
}

# Check that a query of t has the same answer as on the local table, and that each worker answers it by a node, even
# as the first query of a new connection.
sub same_answer
{
	my ($what, $node, $query, $settings, $expected) = @_;
	($expected = $query) =~ s/\bt\b/here/g unless $expected;
	my ($answer, @plans) = plans_while(sub { ask($query, $settings) });
	is($answer, ask($expected), $what);
	like($_, qr/Custom Scan \($node\)/, "$what: by $node") foreach @plans;
	return;
}

my $quals = "a < 300 AND c >= '2020-01-20'";
same_answer('rows', 'RtscanScan', "SELECT id, a, v FROM t WHERE $quals ORDER BY id");
same_answer('the first rows', 'RtscanScan', 'SELECT a, b, c FROM t WHERE a > 100 ORDER BY a, b, c LIMIT 20');
same_answer('an aggregate of rows', 'RtscanScan',
	"SELECT stddev(v), percentile_cont(0.5) WITHIN GROUP (ORDER BY a), count(DISTINCT b) FROM t WHERE $quals");

# if each group is in one partition, whole aggregates are pushed down to the workers
same_answer('groups of a worker each', 'RtscanAggregate',
	"SELECT g, count(*), sum(v), min(c), stddev(a) FROM t WHERE $quals GROUP BY g ORDER BY g", $partitionwise);
same_answer('HAVING', 'RtscanAggregate',
	'SELECT g, avg(v) FROM t WHERE a < 500 GROUP BY g HAVING count(*) > 450 ORDER BY g', $partitionwise);

# Otherwise a query aggregates on each worker, and adds up the results.
sub of_both
{
	my ($select, $rest) = @_;
	return '(' . join(' UNION ALL ', map { "(SELECT $select FROM t_$_ WHERE $quals $rest)" } sort keys %workers) . ') parts';
}
same_answer('counts, sums and means', 'RtscanAggregate',
	'SELECT sum(n), sum(v), sum(v) / sum(vs), max(c) FROM ' . of_both('count(*) AS n, sum(v) AS v, count(v) AS vs, max(c) AS c', ''),
	'', "SELECT count(*), sum(v), avg(v), max(c) FROM here WHERE $quals");
same_answer('the first rows of both', 'RtscanScan',
	'SELECT * FROM ' . of_both('a, id', 'ORDER BY a DESC, id LIMIT 10') . ' ORDER BY a DESC, id LIMIT 10',
	'', "SELECT a, id FROM here WHERE $quals ORDER BY a DESC, id LIMIT 10");

# A view of such queries: conditions on group keys are pushed down to the workers.
ask('CREATE VIEW by_b AS ' . join(' UNION ALL ', map { "SELECT b, count(*) AS n, sum(v) AS v FROM t_$_ GROUP BY b" } sort keys %workers));
same_answer('a view', 'RtscanAggregate', "SELECT b, sum(n), sum(v) FROM by_b WHERE b < 'k3' GROUP BY b ORDER BY b",
	'', "SELECT b, count(*), sum(v) FROM here WHERE b < 'k3' GROUP BY b ORDER BY b");

# Values that are known only when the query runs are sent to the workers.
my $counts = 'SELECT sum(n), sum(v) FROM ' . of_both('count(*) AS n, sum(v) AS v', 'AND a >= $1 AND b <> $2');
my $generic = 'SET plan_cache_mode = force_generic_plan; SET jit = off';
sub prepared
{
	my ($query) = @_;
	return "PREPARE q (int, text) AS $query; " . join(';', map { "EXECUTE q ($_)" } "10, 'k1'", "250, 'k2'", "NULL, 'k3'", "-5, ''");
}
same_answer('a generic plan', 'RtscanAggregate', prepared($counts), $generic,
	prepared("SELECT count(*), sum(v) FROM here WHERE $quals AND a >= \$1 AND b <> \$2"));
same_answer('a custom plan', 'RtscanAggregate', prepared($counts), '',
	prepared("SELECT count(*), sum(v) FROM here WHERE $quals AND a >= \$1 AND b <> \$2"));
sub of_each_key
{
	my ($count) = @_;
	return "SELECT k, $count FROM generate_series(0, 900, 100) k ORDER BY k";
}
same_answer('a correlated subquery', 'RtscanAggregate',
	of_each_key('(' . join(') + (', map { "SELECT count(*) FROM t_$_ WHERE a BETWEEN k AND k + 10" } sort keys %workers) . ')'),
	'', of_each_key('(SELECT count(*) FROM here WHERE a BETWEEN k AND k + 10)'));
same_answer('a nested loop', 'RtscanScan',
	'SELECT k, id, v FROM generate_series(0, 900, 100) k JOIN t ON a = k AND b < \'k2\' ORDER BY k, id',
	"SET enable_hashjoin = off; SET enable_mergejoin = off");

# A transaction sees what it has written on the workers; afterwards all sessions see it, or none.
sub writes
{
	my ($end) = @_;
	return join(';', 'BEGIN', 'INSERT INTO t ' . readings(50_001, 52_000), 'SELECT count(*), sum(v) FROM t WHERE a < 300',
		'UPDATE t SET a = a + 500, v = -1 WHERE a < 100 AND b > \'k3\'', 'SELECT g, count(*), sum(v) FROM t WHERE a >= 500 GROUP BY g ORDER BY g',
		'SAVEPOINT s', 'DELETE FROM t WHERE a > 1200', 'SELECT count(*) FROM t', 'ROLLBACK TO s',
		'DELETE FROM t WHERE a IS NULL AND b < \'k2\'', 'SELECT count(*), sum(v), min(a), max(c) FROM t WHERE a IS NULL OR a > 700', $end);
}
foreach my $end ('ROLLBACK', 'COMMIT')
{
	same_answer("written, before $end", 'RtscanScan', writes($end), $partitionwise);
	same_answer("written, after $end", 'RtscanScan', "SELECT id, a, v FROM t WHERE $quals ORDER BY id");
}

# A worker that disappears makes the query fail with postgres_fdw's error; the next query makes a new connection.
my $session = $coordinator->background_psql('postgres', on_error_stop => 0);
my $all = "SELECT count(*) FROM t WHERE a < 400";
$session->query_safe("BEGIN; $all");
$workers{east}->restart('fast');
my ($out, $failed) = $session->query("$all; ROLLBACK");
ok($failed, 'a query fails if its worker has been restarted');
like($session->{stderr}, qr/terminating connection|server closed the connection|no connection to the server/, 'with the reason');
$session->{stderr} = '';
is($session->query_safe($all), ask('SELECT count(*) FROM here WHERE a < 400'), 'the next transaction connects anew');
$workers{west}->stop('fast');
$session->query($all);
like($session->{stderr}, qr/could not connect to server "west"/, 'a worker that is down is named');
$session->{stderr} = '';
$workers{west}->start;
is($session->query_safe($all), ask('SELECT count(*) FROM here WHERE a < 400'), 'a worker that is up again is asked again');
$session->quit;

foreach my $name (sort keys %workers)
{
	check_index($workers{$name}, 't', $name);
	$workers{$name}->safe_psql('postgres', 'VACUUM t');
	unlike(slurp_file($workers{$name}->logfile), qr/TRAP:|PANIC:|was terminated by signal/, "$name never crashed");
}
same_answer('counts after a vacuum', 'RtscanAggregate', 'SELECT sum(n) FROM ' . of_both('count(*) AS n', ''),
	'', "SELECT count(*) FROM here WHERE $quals");
$_->stop foreach ($coordinator, values %workers);
done_testing();
