# Tests that what one query has remembered of a page is not used by an older snapshot. Snapshots with the same xmax are told
# apart by the number of transactions that they see as running, and one that is being prepared may be listed twice: here it
# waits for a synchronous standby that does not exist.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Test::More;

my $node = new_node('primary', q{
shared_preload_libraries = rtscan
max_prepared_transactions = 5
synchronous_standby_names = 'nobody'
synchronous_commit = local
autovacuum = off
enable_seqscan = off
enable_bitmapscan = off
rtscan.page_worker_rate = 0
}, allows_streaming => 1);
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION rtscan;
	CREATE TABLE t (a int);
	CREATE TABLE other (a int);
	INSERT INTO t SELECT generate_series(1, 1000);
	CREATE INDEX ON t USING rtscan (a);
	VACUUM t;
});

my $count = 'SELECT count(*) FROM t WHERE a > 0';
my $explain = "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) $count";
my ($deleter, $preparer, $cursor, $reader) = map { $node->background_psql('postgres') } 1 .. 4;
$preparer->query_safe('SET synchronous_commit = on; BEGIN; SELECT pg_current_xact_id()');
$deleter->query_safe('BEGIN; DELETE FROM t WHERE a = 1');
$node->safe_psql('postgres', 'INSERT INTO other VALUES (1)');
$cursor->query_safe("BEGIN; DECLARE c CURSOR FOR $count");
$deleter->query_safe('COMMIT');
$preparer->query_until(qr/begun/, "\\echo begun\nPREPARE TRANSACTION 'p';\n");
ok($node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'"),
	'a transaction that is being prepared waits for a standby');
is($node->safe_psql('postgres', $count), 999, 'a new snapshot does not see the deleted row');
is($cursor->query_safe('FETCH c'), 1000, 'an older one sees it');

# Snapshots of replication slots, which only transactions with one snapshot can import, are not in the order of others.
# So such transactions use only answers that depend on transactions older than all that they see as running.
$reader->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
like($reader->query_safe($explain), qr/Looked Into/, 'REPEATABLE READ looks') for 1 .. 2;
$reader->query_safe('COMMIT');
my @counts = map { $node->safe_psql('postgres', $explain) } 1 .. 2;
unlike($counts[1], qr/Looked Into/, 'READ COMMITTED recalls');

# In a parallel worker, a function that takes a snapshot of its own finds the transaction of its query listed there.
$node->append_conf('postgresql.conf', 'synchronous_standby_names = \'\'');
$node->reload;
$preparer->quit;
$node->safe_psql('postgres', q{
	ROLLBACK PREPARED 'p';
	VACUUM t;
	INSERT INTO other SELECT generate_series(1, 20000);
	ANALYZE other;
	CREATE FUNCTION counted(int) RETURNS bigint VOLATILE PARALLEL SAFE LANGUAGE plpgsql
		AS 'BEGIN RETURN (SELECT count(*) FROM t WHERE a > 0); END';
});
my ($leader, $other) = ($cursor, $deleter);
$leader->query_safe('COMMIT; BEGIN; INSERT INTO other VALUES (1)');
$other->query_safe('BEGIN; DELETE FROM t WHERE a = 2');
$node->safe_psql('postgres', 'INSERT INTO other VALUES (2)');
$reader->query_safe("BEGIN; DECLARE c CURSOR FOR $count");
$other->query_safe('COMMIT');
$leader->query_safe('SET enable_seqscan = on; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;'
	. 'SET min_parallel_table_scan_size = 0; SET parallel_leader_participation = off');
my $parallel = 'SELECT max(counted(a)) FROM other WHERE a % 5000 = 0';
like($leader->query_safe("EXPLAIN (COSTS OFF) $parallel"), qr/Gather/, 'a function is called in workers');
is($leader->query_safe($parallel), 998, 'which see what was deleted');
is($reader->query_safe('FETCH c'), 999, 'an older snapshot still sees it');

$node->stop('immediate');
done_testing();
