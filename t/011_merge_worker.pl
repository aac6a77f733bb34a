# Tests the background worker that merges what insertions flush: there are few segments without VACUUM, next to
# writers, readers and sessions that drop or lock the table. Without worker, by setting or for lack of processes,
# insertions go on.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Test::More;
use Time::HiRes qw(usleep);

my $node = new_node('merge_worker', "max_worker_processes = 4\nlog_min_messages = debug1\nmaintenance_work_mem = 16MB\n");
$node->start;
create_tables($node, t => [ '', 100 ], off => [ '', 100 ], u => [ 'UNLOGGED', 100 ]);

# Insert rows in many transactions, so that workers see what was flushed.
sub insert_rows
{
	my ($name, $first, $last) = @_;
	my $step = 700;
	$node->safe_psql('postgres', join(";\n", map { "INSERT INTO $name " . rows($_, $_ + $step - 1) } map { $first + $_ * $step } 0 .. ($last - $first) / $step));
	return;
}

sub segments
{
	my ($name) = @_;
	return $node->safe_psql('postgres', "SELECT segments FROM rtscan_stats('${name}_idx')");
}

# Wait until the merges after the last flushes have ended.
sub await_few
{
	my ($name, $limit) = @_;
	return $node->poll_query_until('postgres', "SELECT segments <= $limit FROM rtscan_stats('${name}_idx')");
}

# The worker is switched off, which only a superuser may do.
$node->safe_psql('postgres', "LOAD 'rtscan';\nALTER SYSTEM SET rtscan.merge_worker = off;\nSELECT pg_reload_conf()");
insert_rows('off', 1000, 60_000);
my $unmerged = segments('off');
cmp_ok($unmerged, '>', 20, 'without workers there are many segments');
$node->safe_psql('postgres', "LOAD 'rtscan';\nALTER SYSTEM RESET rtscan.merge_worker;\nSELECT pg_reload_conf()");

# The same rows with workers.
foreach my $name ('t', 'u')
{
	insert_rows($name, 1000, 60_000);
	ok(await_few($name, 16), "workers have merged the segments of $name") || diag(segments($name));
	healthy($node, $name, 'merged by workers');
}

sub await_no_worker
{
	return $node->poll_query_until('postgres',
		"SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'rtscan merge worker')");
}

# One run serves all indexes, even those without a request: no index is left with a full tier or a long list.
$node->safe_psql('postgres', q{
	CREATE TABLE parts (id int, filler text) PARTITION BY HASH (id);
	CREATE INDEX parts_idx ON parts USING rtscan (id) INCLUDE (filler)});
$node->safe_psql('postgres', join(';',
	map { "CREATE TABLE parts_$_ PARTITION OF parts FOR VALUES WITH (MODULUS 60, REMAINDER $_)" } 0 .. 59));
$node->safe_psql('postgres', "INSERT INTO parts SELECT i, repeat('x', 480) FROM generate_series(1, 9000) i") foreach 1 .. 24;
ok(await_no_worker(), 'the worker ends');
# tiers of less than 1,024 and of less than 8,192 rows (merge.h)
my $parts = q{generate_series(0, 59) n, rtscan_stats(format('parts_%s_id_filler_idx', n)::regclass)};
is($node->safe_psql('postgres', "SELECT max(segments) < 15, max(pending_bytes) < 64 * 1024 + 9 * 8192 FROM $parts"),
	't|t', 'no partition has a full tier, nor a long list')
  || diag($node->safe_psql('postgres',
	"SELECT segments, pending_bytes, count(*) FROM $parts GROUP BY 1, 2 ORDER BY 1, 2"));
is($node->safe_psql('postgres', 'SET enable_seqscan = off; SELECT count(*), sum(id) FROM parts WHERE id > 0'),
	24 * 9000 . '|' . 24 * 9000 * 9001 / 2, 'all rows are there');

# DROP DATABASE does not wait long.
$node->safe_psql('postgres', 'CREATE DATABASE brief');
$node->safe_psql('brief', 'CREATE EXTENSION rtscan; CREATE TABLE t (a int); CREATE INDEX t_a ON t USING rtscan (a)');
$node->safe_psql('brief', 'INSERT INTO t SELECT generate_series(1, 20000)');
ok($node->poll_query_until('postgres', q{
	SELECT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'rtscan merge worker' AND datname = 'brief')}),
	'a worker is there');
is($node->psql('postgres', 'DROP DATABASE brief'), 0, 'its database is dropped');

# A table that is locked when the worker runs is served in a later run.
$node->safe_psql('postgres', 'CREATE TABLE locked (a int); CREATE INDEX locked_idx ON locked USING rtscan (a)');
my $locker = $node->background_psql('postgres');
$locker->query_safe('BEGIN; INSERT INTO locked SELECT generate_series(1, 8000); LOCK locked IN SHARE MODE; SELECT pg_sleep(1); COMMIT');
$locker->quit;
ok($node->poll_query_until('postgres', "SELECT pending < 5000 FROM rtscan_stats('locked_idx')"), 'a locked table is served later');

# With readers and writers, VACUUM, and a merge on demand at the same time.
my @scripts = map {
	my $n = $_;
	start_script($node, map { 'INSERT INTO t ' . rows(100_000 * $n + 500 * $_, 100_000 * $n + 500 * $_ + 499) } 1 .. 60)
} 1 .. 3;
push @scripts, start_script($node, 'SET client_min_messages = warning',
	('DELETE FROM t WHERE id % 97 = (random() * 96)::int', 'VACUUM t', "SELECT rtscan_merge('t_idx')") x 8);
compare_scans($node, 't', "while workers merge, $_", 10) foreach 1 .. 6;
is(finish_script($_), '', 'no error') foreach @scripts;
healthy($node, 't', 'after writers, vacuums and merges');

# Locking or dropping the table does not wait long, and no worker fails.
foreach my $round (1 .. 5)
{
	$node->safe_psql('postgres', "CREATE TABLE gone (LIKE t); CREATE INDEX gone_idx ON gone USING rtscan (a, b, c)");
	insert_rows('gone', 1, 15_000);
	$node->safe_psql('postgres', $round % 2 ? 'DROP TABLE gone' : 'BEGIN; LOCK gone; TRUNCATE gone; DROP TABLE gone; COMMIT');
}
# an index that no other process can see yet
$node->safe_psql('postgres', "BEGIN; CREATE TABLE own (LIKE t); CREATE INDEX own_idx ON own USING rtscan (a, b, c); INSERT INTO own "
	  . rows(1, 20_000) . '; COMMIT');
healthy($node, 'own', 'filled where it was created');

# The worker calls comparison functions as the table's owner, and a failing one has no effect on other tables.
$node->safe_psql('postgres', q{
CREATE ROLE owner; GRANT ALL ON SCHEMA public TO owner;
SET ROLE owner;
CREATE FUNCTION fussy(int, int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	IF current_user <> 'owner' THEN RAISE 'compared by %', current_user; END IF;
	-- a merge takes its time
	IF random() < 0.0005 THEN PERFORM pg_sleep(0.01); END IF;
	RETURN btint4cmp($1, $2);
END $$;
RESET ROLE;
CREATE OPERATOR CLASS fussy FOR TYPE int USING rtscan AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 fussy(int, int);
SET ROLE owner;
CREATE TABLE fussy (a int); CREATE INDEX fussy_idx ON fussy USING rtscan (a fussy);
});
$node->safe_psql('postgres', join(";\n", 'SET ROLE owner', ('INSERT INTO fussy SELECT generate_series(1, 800)') x 60));
ok(await_few('fussy', 16), 'a worker merges as the table\'s owner');

# A comparison function that reads a table does so with the worker's snapshot, whose rows VACUUM of that table must
# keep.
$node->safe_psql('postgres', q{
CREATE TABLE ranks (value int PRIMARY KEY, rank int);
INSERT INTO ranks SELECT i, i FROM generate_series(0, 2999) i;
CREATE FUNCTION compare_ranks(int, int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
	x int := (SELECT rank FROM public.ranks WHERE value = $1);
	y int := (SELECT rank FROM public.ranks WHERE value = $2);
BEGIN
	IF x IS NULL OR y IS NULL THEN RAISE 'no rank for % or %', $1, $2; END IF;
	RETURN btint4cmp(x, y);
END $$;
CREATE OPERATOR CLASS by_rank FOR TYPE int USING rtscan AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 compare_ranks(int, int);
CREATE TABLE ranked (a int); CREATE INDEX ranked_idx ON ranked USING rtscan (a by_rank);
});
my $changes = start_script($node, ('UPDATE ranks SET rank = rank', 'VACUUM ranks') x 400);
$node->safe_psql('postgres', join(";\n", map { "INSERT INTO ranked SELECT ($_ + 7 * i) % 3000 FROM generate_series(1, 3000) i" } 1 .. 16));
ok(await_few('ranked', 12), 'a worker merges by a function that looks at a table');
is(finish_script($changes), '', 'while that changes');

# Waiting for the merge lock does not cancel an autovacuum that holds it.
$node->safe_psql('postgres', q{
	CREATE TABLE vacuumed (LIKE t) WITH (autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1);
	CREATE INDEX vacuumed_idx ON vacuumed USING rtscan (a, b, c)});
$node->safe_psql('postgres', 'INSERT INTO vacuumed ' . rows(100 * $_, 100 * $_ + 99) . "; SELECT rtscan_merge('vacuumed_idx')") foreach 1 .. 7;
$node->safe_psql('postgres', 'DELETE FROM vacuumed WHERE id % 2 = 0');
$node->append_conf('postgresql.conf', "autovacuum = on\nautovacuum_naptime = 1s\ndeadlock_timeout = 100ms\n");
$node->reload;
# it sleeps in each segment
ok($node->poll_query_until('postgres', q{
	SELECT EXISTS (
		SELECT FROM pg_stat_activity JOIN pg_locks l USING (pid)
		WHERE locktype = 'page' AND page = 0 AND granted
			AND backend_type = 'autovacuum worker' AND relation = 'vacuumed_idx'::regclass)}),
	'an autovacuum has the merge lock');
$node->psql('postgres', "SET statement_timeout = '400ms'; SELECT rtscan_merge('vacuumed_idx')", stderr => \my $waited);
like($waited, qr/canceling statement due to statement timeout/, 'rtscan_merge() waits for it');
$node->psql('postgres', "SET lock_timeout = '300ms'; SELECT rtscan_merge('vacuumed_idx')", stderr => \$waited);
like($waited, qr/canceling statement due to lock timeout/, 'no longer than lock_timeout');
$node->safe_psql('postgres', "SELECT rtscan_merge('vacuumed_idx')");
ok(!$node->log_contains('canceling autovacuum task'), 'the autovacuum was not cancelled');
$node->append_conf('postgresql.conf', "autovacuum = off\ndeadlock_timeout = 1s\n");
$node->reload;

# Settings of an ordinary user do not make the worker use more memory than the server's settings allow, nor flush
# others' lists early.
$node->append_conf('postgresql.conf', "maintenance_work_mem = 1MB\nrtscan.pending_list_limit = 512kB\n");
$node->reload;
ok(await_no_worker(), 'no worker is left');
$node->safe_psql('postgres', q{
CREATE TABLE others (LIKE t); CREATE INDEX others_idx ON others USING rtscan (a, b, c);
CREATE OR REPLACE FUNCTION fussy(int, int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	-- a session of psql has a name
	IF current_setting('application_name') = '' AND random() < 0.001 THEN
		RAISE LOG 'the worker has % by path %', current_setting('maintenance_work_mem'), current_setting('search_path');
	END IF;
	IF random() < 0.0005 THEN PERFORM pg_sleep(0.01); END IF;
	RETURN btint4cmp($1, $2);
END $$});
$node->safe_psql('postgres', 'INSERT INTO others ' . rows(1, 4000));
# a list that is longer than the session's limit, but not than the server's
my $pending = q{SELECT pending, pending_bytes BETWEEN 100000 AND 400000 FROM rtscan_stats('others_idx')};
is($node->safe_psql('postgres', $pending), '4000|t', 'there is a list of others');
$node->safe_psql('postgres', join(";\n", 'SET ROLE owner', "SET maintenance_work_mem = '256MB'", 'SET rtscan.pending_list_limit = 64',
		('INSERT INTO fussy SELECT generate_series(1, 800)') x 60));
ok(await_no_worker(), 'a worker has come, and gone');
is($node->safe_psql('postgres', "SELECT pending_bytes < 64 * 1024 + 9 * 8192 FROM rtscan_stats('fussy_idx')"), 't',
	'it has flushed the list of who has a lower limit');
is($node->safe_psql('postgres', $pending), '4000|t', 'and has left that of others alone');
my %said = map { $_ => 1 } slurp_file($node->logfile) =~ /LOG:  (the worker has .*)/g;
is(join("\n", keys %said), 'the worker has 1MB by path pg_catalog, pg_temp', 'its settings are not those of the session');
$node->append_conf('postgresql.conf', "maintenance_work_mem = 16MB\nrtscan.pending_list_limit = 64kB\n");
$node->reload;

# Processes of a parallel VACUUM, each with its share of maintenance_work_mem, request workers as well.
$node->safe_psql('postgres', join(';', 'CREATE TABLE parallel (LIKE t)',
		map { "CREATE INDEX parallel_$_ ON parallel USING rtscan ($_)" } qw(a b c)));
$node->safe_psql('postgres', join(";\n", "SET maintenance_work_mem = '1MB'", 'SET min_parallel_index_scan_size = 0',
		'INSERT INTO parallel ' . rows(1, 20_000),
		'DELETE FROM parallel WHERE id % 3 = 0', 'VACUUM (PARALLEL 2) parallel'));

# Without free worker processes insertions go on, and VACUUM does the work.
my $log = -s $node->logfile;
$node->append_conf('postgresql.conf', 'max_worker_processes = 0');
$node->restart;
insert_rows('t', 500_000, 540_000);
ok($node->log_contains('no background worker is free to maintain index "t_idx"', $log), 'there is no worker');
healthy($node, 't', 'without workers');
$node->safe_psql('postgres', 'VACUUM t');
ok(await_few('t', 16), 'vacuum merges instead');
healthy($node, 't', 'after vacuum');

# killed in the middle: the server restarts, as it does for any process
$node->append_conf('postgresql.conf', "max_worker_processes = 8\nrestart_after_crash = on");
$node->restart;
my $killed = 0;
my $find = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'rtscan merge worker'";
for (my $round = 0; $round < 20 && $killed < 3; $round++)
{
	my $end = -s $node->logfile;
	my $pid = '';
	my $script = start_script($node, 'SET ROLE owner', ('INSERT INTO fussy SELECT generate_series(1, 800)') x 60);
	for (my $tries = 0; $tries < 300 && $pid !~ /^\d+$/; $tries++) { $pid = $node->safe_psql('postgres', $find); }
	my $found = $pid =~ /^\d+$/ && kill('KILL', $pid);
	finish_script($script);
	next unless $found;
	# unless it was about to end anyway
	my $crashed = 0;
	for (my $tries = 0; $tries < 50 && !$crashed; $tries++)
	{
		usleep(100_000);
		$crashed = $node->log_contains(qr/all server processes terminated; reinitializing/, $end);
	}
	next unless $crashed;
	$killed++;
	$node->poll_query_until('postgres', 'SELECT true');
	check_index($node, 'fussy', "kill $killed of a worker");
}
cmp_ok($killed, '>', 0, 'workers were killed');
$node->safe_psql('postgres', 'VACUUM fussy');
check_index($node, 'fussy', 'vacuum after the kills');

my $logged = slurp_file($node->logfile);
unlike($logged, qr/TRAP:|PANIC:/, 'no assertion failed');
my @errors = grep { !/terminated by signal 9|in recovery mode|terminating (connection|background worker|autovacuum process)/ } $logged =~ /\[\d+\] (?:ERROR|FATAL):.*/g;
is(join("\n", @errors), '', 'no process failed');

$node->stop;
done_testing();
