# Tests the background worker that looks into changed pages of tables that are queried: the first query after an update
# finds its pages remembered, and no other process waits for the worker.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Test::More;
use Time::HiRes qw(sleep time);

my $node = new_node('node', "shared_preload_libraries = rtscan\nwal_level = replica\nmax_parallel_workers_per_gather = 0\nshared_buffers = 32MB\n");
$node->start;
my $table = q{
	CREATE EXTENSION rtscan;
	CREATE TABLE t (id int, a int, note text) WITH (autovacuum_enabled = off);
	INSERT INTO t SELECT i, i % 1000, 'note' FROM generate_series(1, 50000) i;
	CREATE INDEX t_idx ON t USING rtscan (a) INCLUDE (id);
	VACUUM ANALYZE t;
	GRANT SELECT ON t TO PUBLIC;
};
$node->safe_psql('postgres', "$table CREATE ROLE ordinary LOGIN;");

my $query = 'SELECT count(*), sum(id) FROM t WHERE a < 500';
my $settings = 'SET enable_seqscan = off; SET enable_bitmapscan = off;';
sub ask { my ($db) = @_; return $node->safe_psql($db // 'postgres', "$settings $query", extra_params => [ '-U', 'ordinary' ]) }
sub workers { return $node->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'rtscan page worker'") }

sub await_workers
{
	my ($wanted, $why) = @_;
	for (my $start = time; time < $start + 60; sleep 0.1)
	{
		return pass($why) if workers() eq $wanted;
	}
	return fail($why);
}

# After an update, wait for some time. Has the next query looked into pages, and were pages remembered?
my $changes = 0;
sub first_query
{
	my ($seconds) = @_;
	$changes++;
	$node->safe_psql('postgres', "UPDATE t SET note = 'note $changes' WHERE id % 100 = $changes");
	sleep $seconds;
	my $plan = $node->safe_psql('postgres', "$settings EXPLAIN (ANALYZE, COSTS OFF) $query");
	return ($plan =~ /Pages Looked Into: [1-9]/ ? 'looked into' : '') . ($plan =~ /Pages Remembered: [1-9]/ ? 'remembered' : '');
}

# Wait longer and longer, for a slow machine.
sub becomes
{
	my ($wanted, $why) = @_;
	my $found;
	for my $seconds (1, 2, 4, 8, 16)
	{
		$found = first_query($seconds);
		last if $found eq $wanted;
	}
	return is($found, $wanted, $why);
}

is(workers(), 0, 'no worker before the first query');
my $answer = ask();
await_workers(1, 'a query of an ordinary user requests a worker');
becomes('remembered', 'the first query after an update looks into no page');
is(ask(), $answer, 'and its answer is right');

# An old snapshot does not keep it from remembering what is settled, and it does not keep rows from being removed.
my $old = $node->background_psql('postgres');
$old->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
becomes('remembered', 'also beside an old snapshot');
$old->query_safe('COMMIT');
$old->quit;

# Nobody waits for it.
my $busy = IPC::Run::start([ 'pgbench', '-n', '-c', 2, '-T', 6, '-f', write_script("UPDATE t SET note = 'x' WHERE id = random() * 50000;"),
	$node->connstr('postgres') ], '>', \my $written, '2>', \my $trouble);
foreach my $statement ('ALTER TABLE t ADD COLUMN more int', 'ALTER TABLE t DROP COLUMN more', 'VACUUM (TRUNCATE) t', 'VACUUM FULL t',
	'REINDEX TABLE t', 'CREATE INDEX CONCURRENTLY other ON t (id)', 'DROP INDEX other')
{
	ask();
	my ($rc, $out, $err) = $node->psql('postgres', "SET lock_timeout = '5s';\n$statement");
	is($err, '', "$statement does not wait");
	is(ask(), $answer, 'the answer stays right');
}
$busy->finish;
await_workers(1, 'the worker is still there');

# A table that goes, one that was emptied.
$node->safe_psql('postgres', "CREATE TABLE u AS TABLE t; CREATE INDEX ON u USING rtscan (a) INCLUDE (id); $settings SELECT count(*) FROM u WHERE a < 9");
$node->safe_psql('postgres', 'DROP TABLE u');
$node->safe_psql('postgres', 'BEGIN; TRUNCATE t; ROLLBACK');
becomes('remembered', 'a table was dropped, and one nearly truncated');

# Other databases have their own workers, which do not keep them from being dropped, copied and renamed.
$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql('other', $table);
ask('other');
await_workers(2, 'each database has its worker');
$node->safe_psql('postgres', 'CREATE DATABASE copy TEMPLATE other');
ask('other');
await_workers(2, 'it comes back');
$node->safe_psql('postgres', 'ALTER DATABASE other RENAME TO another');
ask('another');
await_workers(2, 'and again');

# Nor at a rate at which it has to rest for a minute.
$node->append_conf('postgresql.conf', 'rtscan.page_worker_rate = 4');
$node->reload;
$node->safe_psql('another', 'UPDATE t SET note = note WHERE id % 50 = 0');
ask('another');
sleep 3;
$node->safe_psql('postgres', 'ALTER DATABASE another RENAME TO third');
$node->append_conf('postgresql.conf', 'rtscan.page_worker_rate = 20000');
$node->reload;
ask('third');
await_workers(2, 'and after a slow one');
$node->safe_psql('postgres', 'DROP DATABASE third');
is(workers(), 1, 'its worker went with it');

# Ended by an administrator, it comes back with the next query of a later second; switched off, it does not.
$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'rtscan page worker'");
await_workers(0, 'the worker was ended');
ask();
await_workers(1, 'a query requests it again');
$node->append_conf('postgresql.conf', 'rtscan.page_worker_rate = 0');
$node->reload;
await_workers(0, 'the rate 0 ends it');
ask();
like(first_query(3), qr/looked into/, 'without it, the first query looks into pages');
is(workers(), 0, 'no worker is requested');

is(join("\n", grep { /ERROR:|terminated by signal|PANIC|TRAP/ } split(/\n/, slurp_file($node->logfile))), '', 'no error in the log');
check_index($node, 't', 'after all');
done_testing();

sub write_script
{
	my ($text) = @_;
	my $file = $node->basedir . '/script.sql';
	append_to_file($file, "$text\n");
	return $file;
}
