# Cancels queries through RtscanScan at many points: while they search, read values, evaluate quals, walk and sort.
# Each must release its resources, even in a transaction that continues, and the next query must be right.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Test::More;
use Time::HiRes qw(time);

my $points = $ENV{RTSCAN_CANCEL_POINTS} // 6;

my $node = new_node('cancel_scan', "restart_after_crash = off\n");
$node->start;
create_tables($node, t => [ '', 60_000 ]);
$node->safe_psql('postgres', 'DELETE FROM t WHERE id % 7 = 0; VACUUM ANALYZE t; UPDATE t SET u = 1 WHERE id % 13 = 0;'
	  . "SET rtscan.pending_list_limit = '64MB'; INSERT INTO t " . rows(60_001, 70_000));

my $settings = 'SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off; SET max_parallel_workers_per_gather = 0;'
  . "SET rtscan.enable_aggregate = off; SET work_mem = '1MB'";
my $many = "SELECT 'k' || i FROM generate_series(1, 20000) i";

# Count the rows of a query in a subquery that is not part of the aggregation.
sub counted
{
	return "SELECT count(*), count(x) FROM ($_[0] OFFSET 0) x";
}

my @queries = (
	counted('SELECT a, b, c FROM t WHERE a < 990'),
	counted('SELECT id, a FROM t WHERE a < 990'),
	counted("SELECT a FROM t WHERE length(b || c::text || a) > 3 AND b LIKE '%7%'"),
	counted("SELECT u FROM t WHERE a < 990 AND length(b || c::text || a) > 3 AND id % 3 = 0"),
	counted('SELECT a, b FROM t ORDER BY a DESC'),
	counted('SELECT b, c FROM t ORDER BY c'),
	counted('SELECT id, b FROM t WHERE a > 10 ORDER BY b DESC'),
	counted("SELECT b, a FROM t WHERE length(b || a) > 1 ORDER BY b, a"),
	counted("SELECT a FROM t WHERE b <> ALL (ARRAY($many))"),
	counted('SELECT a FROM t WHERE a = ANY (ARRAY(SELECT i * 2 FROM generate_series(1, 50000) i))'),
	counted('SELECT i, l.b FROM generate_series(1, 100) i, LATERAL (SELECT b FROM t WHERE a > i % 900 ORDER BY c LIMIT 3) l'),
	counted('SELECT i, (SELECT count(u) FROM (SELECT u FROM t WHERE a = i) t) FROM generate_series(1, 500) i'));

# Return the milliseconds that a query takes, and its result.
sub measured
{
	my ($query) = @_;
	my $start = time();
	my $result = $node->safe_psql('postgres', "$settings; $query");
	return (int(1000 * (time() - $start)), $result);
}

my ($connecting) = measured('SELECT 1');

foreach my $query (@queries)
{
	like($node->safe_psql('postgres', "$settings; EXPLAIN $query"), qr/RtscanScan/, "by the index: $query");
	my ($limit, $expected) = measured($query);
	$limit = $limit > $connecting ? $limit - $connecting : 1;
	# The timeout may cancel the first ROLLBACK instead of a query that was fast enough; the abort also removes the
	# timeout.
	my @statements = map { ('SAVEPOINT s', 'SET LOCAL statement_timeout = ' . (1 + int($limit * $_ / ($points + 1))), $query, 'ROLLBACK TO s', 'ROLLBACK TO s') } 1 .. $points;
	my ($rc, $out, $err) = $node->psql('postgres', join('; ', $settings, 'BEGIN') . ";\n" . join(";\n", @statements) . ";\n$query;\nCOMMIT;\n$query", on_error_stop => 0);
	my $cancelled = () = $err =~ /canceling statement due to statement timeout/g;
	cmp_ok($cancelled, '>', 0, "cancelled in the middle $cancelled times");
	unlike($err, qr/(ERROR|WARNING|FATAL)(?!:  canceling statement)/, 'and nothing else happened');
	is((split(/\n/, $out))[$_], $expected, 'then it is right') foreach -1, -2;
}
healthy($node, 't', 'after all');
unlike(slurp_file($node->logfile), qr/WARNING|was terminated by signal|PANIC|TRAP:/, 'nothing has leaked');
$node->stop;

done_testing();
