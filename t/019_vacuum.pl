# Tests VACUUM's options and accidents: which of its work an index gets with each option, and that the index is right
# afterwards.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Test::More;
use Time::HiRes qw(usleep);

# Only VACUUM merges here, and it has enough memory.
my $node = new_node('vacuum', "maintenance_work_mem = 16MB\nrtscan.merge_worker = off\nmax_parallel_maintenance_workers = 4\nmin_parallel_index_scan_size = 0\n");
$node->start;
create_tables($node, t => [ '', 20_000 ]);

my $next = 100_001;
# segments of each table's index after the last spoil()
my %unmerged;

# Make several segments of similar size, a pending list, and dead rows in all of them.
sub spoil
{
	my ($node, $name) = @_;
	foreach (1 .. 9)
	{
		$node->safe_psql('postgres', "SET rtscan.pending_list_limit = 64; INSERT INTO $name " . rows($next, $next + 1999));
		$next += 2000;
	}
	$node->safe_psql('postgres', "DELETE FROM $name WHERE id % 5 = 0; UPDATE $name SET a = a + 1 WHERE id % 7 = 0");
	$unmerged{$name} = stats($node, $name, 'segments');
	return;
}

# Return a statement's NOTICE, INFO and other messages.
sub messages
{
	my ($node, $statement) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', $statement);
	is($rc, 0, "$statement succeeds") || diag($err);
	return $err;
}

sub stats
{
	my ($node, $name, $columns) = @_;
	return $node->safe_psql('postgres', "SELECT $columns FROM rtscan_stats('${name}_idx')");
}

# There are no other changes meanwhile, so VACUUM must have counted a row in the index for each row of the table.
sub right_reltuples
{
	my ($node, $name, $what) = @_;
	my $rows = $node->safe_psql('postgres', 'SET enable_indexscan = off; SET enable_bitmapscan = off; SET rtscan.enable_scan = off; SET rtscan.enable_aggregate = off;'
		  . "SELECT count(*) FROM $name");
	is($node->safe_psql('postgres', "SELECT reltuples FROM pg_class WHERE oid = '${name}_idx'::regclass"), $rows, "$what: reltuples");
	return;
}

sub vacuumed
{
	my ($node, $name, $what) = @_;
	healthy($node, $name, $what);
	right_reltuples($node, $name, $what);
	my ($segments, $dead, $pending) = split(/\|/, stats($node, $name, 'segments, dead, pending'));
	is($pending, 0, "$what: no row is pending");
	cmp_ok($segments, '<', $unmerged{$name}, "$what: segments are merged") if $unmerged{$name};
	return;
}

# ---- INDEX_CLEANUP

spoil($node, 't');
my $before = stats($node, 't', 'segments, rows, dead, pending');
my $live = $node->safe_psql('postgres', 'SELECT count(*) FROM t');
$node->safe_psql('postgres', 'VACUUM (INDEX_CLEANUP OFF) t');
is(stats($node, 't', 'segments, rows, dead, pending'), $before, 'INDEX_CLEANUP OFF: the index is as it was');
healthy($node, 't', 'INDEX_CLEANUP OFF');
$node->safe_psql('postgres', 'INSERT INTO t ' . rows($next, $next + 3000) . '; DELETE FROM t WHERE id % 11 = 0; VACUUM (INDEX_CLEANUP OFF) t');
healthy($node, 't', 'INDEX_CLEANUP OFF twice, with rows in between');
$node->safe_psql('postgres', 'VACUUM (INDEX_CLEANUP ON) t');
vacuumed($node, 't', 'INDEX_CLEANUP ON');

# few dead rows: AUTO leaves them in the index, but merges all the same
$node->safe_psql('postgres', "DELETE FROM t WHERE ctid = (SELECT min(ctid) FROM t); INSERT INTO t " . rows($next, $next + 100));
my $dead = stats($node, 't', 'dead');
my $auto = messages($node, 'VACUUM (INDEX_CLEANUP AUTO, VERBOSE) t');
like($auto, qr/index scan bypassed: 1 pages from table/, 'AUTO: vacuum passes by');
is(stats($node, 't', 'pending, dead'), "0|$dead", 'AUTO: no row is pending, and none has died in the index');
healthy($node, 't', 'AUTO');
$node->safe_psql('postgres', 'VACUUM (INDEX_CLEANUP ON) t');
vacuumed($node, 't', 'ON after AUTO');
spoil($node, 't');
$auto = messages($node, 'VACUUM (INDEX_CLEANUP AUTO, VERBOSE) t');
like($auto, qr/index scan needed/, 'AUTO: there are many dead rows');
vacuumed($node, 't', 'AUTO with many dead rows');

# ---- ANALYZE alone does none of VACUUM's work

spoil($node, 't');
$before = stats($node, 't', 'segments, rows, dead, pending');
$node->safe_psql('postgres', 'ANALYZE t');
is(stats($node, 't', 'segments, rows, dead, pending'), $before, 'ANALYZE: the index is as it was');
healthy($node, 't', 'ANALYZE');
$node->safe_psql('postgres', 'VACUUM ANALYZE t');
vacuumed($node, 't', 'VACUUM ANALYZE');

# ---- the table is rewritten

spoil($node, 't');
$node->safe_psql('postgres', 'VACUUM FULL t');
vacuumed($node, 't', 'VACUUM FULL');
is(stats($node, 't', 'dead'), 0, 'VACUUM FULL: no row is dead');
$node->safe_psql('postgres', 'CREATE INDEX t_id ON t (id DESC)');
spoil($node, 't');
$node->safe_psql('postgres', 'CLUSTER t USING t_id');
vacuumed($node, 't', 'CLUSTER');
is(stats($node, 't', 'dead'), 0, 'CLUSTER: no row is dead');
is($node->safe_psql('postgres', "SELECT id = (SELECT max(id) FROM t) FROM t WHERE ctid = '(0,1)'"), 't', 'CLUSTER: the table has its order');
$node->psql('postgres', 'CLUSTER t USING t_idx', stderr => \my $error);
like($error, qr/cannot cluster on index "t_idx" because access method does not support clustering/, 'CLUSTER by rtscan');
spoil($node, 't');
vacuumed($node, 't', 'VACUUM after CLUSTER') if messages($node, 'VACUUM t') eq '';
$node->safe_psql('postgres', 'DROP INDEX t_id');

spoil($node, 't');
$node->safe_psql('postgres', 'VACUUM (FREEZE) t');
vacuumed($node, 't', 'FREEZE');
spoil($node, 't');
$node->safe_psql('postgres', 'VACUUM (DISABLE_PAGE_SKIPPING, TRUNCATE OFF, PARALLEL 0) t');
vacuumed($node, 't', 'DISABLE_PAGE_SKIPPING');

# the end of the table is truncated
$node->safe_psql('postgres', "DELETE FROM t WHERE ctid >= '(20,1)'");
$node->safe_psql('postgres', 'VACUUM (TRUNCATE ON) t');
is($node->safe_psql('postgres', "SELECT pg_relation_size('t') / 8192"), 20, 'TRUNCATE: the table is shorter');
vacuumed($node, 't', 'TRUNCATE');
$node->safe_psql('postgres', 'INSERT INTO t ' . rows($next, $next + 9999));
healthy($node, 't', 'TRUNCATE, with rows in the same places');
$node->safe_psql('postgres', 'DELETE FROM t');
$node->safe_psql('postgres', 'VACUUM t');
is(stats($node, 't', 'rows, dead, pending'), '0|0|0', 'no row is left');
vacuumed($node, 't', 'all rows deleted');

# ---- in parallel workers

$node->safe_psql('postgres', 'INSERT INTO t ' . rows(1, 20_000) . '; CREATE INDEX t_id ON t USING rtscan (id) INCLUDE (a);'
	  . 'CREATE INDEX t_partial ON t USING rtscan (u, id) WHERE id % 2 = 0');
foreach my $parallel (2, 0)
{
	spoil($node, 't');
	my $err = messages($node, "VACUUM (PARALLEL $parallel, VERBOSE) t");
	like($err, qr/launched 2 parallel vacuum workers for index vacuuming \(planned: 2\)/, 'PARALLEL 2: workers for bulk delete') if $parallel;
	unlike($err, qr/parallel vacuum workers/, 'PARALLEL 0: no workers') unless $parallel;
	vacuumed($node, 't', "PARALLEL $parallel");
	check_index($node, 't', "PARALLEL $parallel, t_idx");
	foreach my $index (qw(t_id t_partial))
	{
		$node->safe_psql('postgres', "SELECT rtscan_check('$index', true)");
		is($node->safe_psql('postgres', qq{
			SELECT pending, reltuples = rows - dead
			FROM rtscan_stats('$index'), pg_class c
			WHERE c.oid = '$index'::regclass}), '0|t', "PARALLEL $parallel: reltuples of $index");
	}
}
# no rows have died: only cleanup
foreach (1 .. 12)
{
	$node->safe_psql('postgres', 'INSERT INTO t ' . rows($next, $next + 1999));
	$next += 2000;
}
$unmerged{t} = stats($node, 't', 'segments');
like(messages($node, "VACUUM (PARALLEL 2, VERBOSE) t"), qr/launched 2 parallel vacuum workers for index cleanup \(planned: 2\)/, 'PARALLEL 2: workers for cleanup');
vacuumed($node, 't', 'PARALLEL 2, cleanup');

# ---- bulk delete does not open segments that cannot have dead rows

# Return how many of the index's pages a statement reads.
sub pages_read
{
	my ($node, $index, $statement) = @_;
	my $count = "SELECT idx_blks_read + idx_blks_hit FROM pg_statio_all_indexes WHERE indexrelname = '$index'";
	my $before = $node->safe_psql('postgres', $count);
	$node->safe_psql('postgres', "SET maintenance_work_mem = '1MB'; $statement");
	return $node->safe_psql('postgres', $count) - $before;
}

$node->safe_psql('postgres', 'CREATE TABLE calm (LIKE t); INSERT INTO calm ' . rows(1, 150_000) . "; VACUUM calm;"
	  . "SET rtscan.debug_segment_rows = 4000; SET max_parallel_maintenance_workers = 0; CREATE INDEX calm_idx ON calm USING rtscan (a, b, c, id, (repeat(md5(id::text), 2)))");
my $segments = stats($node, 'calm', 'segments');
cmp_ok($segments, '>=', 30, "calm: $segments segments");
my $cleanup = pages_read($node, 'calm_idx', 'VACUUM calm');
foreach my $where ("ctid = (SELECT max(ctid) FROM calm)", "ctid = (SELECT min(ctid) FROM calm)", "a < 0", "id % 10 = 0")
{
	$node->safe_psql('postgres', "DELETE FROM calm WHERE $where");
	my $pages = pages_read($node, 'calm_idx', 'VACUUM (INDEX_CLEANUP ON) calm') - $cleanup;
	is(stats($node, 'calm', 'segments'), $segments, "calm, $where: nothing is merged");
	cmp_ok($pages, $where =~ /%/ ? '>' : '<', $segments, "calm, $where: so many pages more than by cleanup alone are read");
	healthy($node, 'calm', "calm, $where");
	right_reltuples($node, 'calm', "calm, $where");
}
# another VACUUM of the same blocks finds other rows
$node->safe_psql('postgres', "DELETE FROM calm WHERE id % 10 = 1");
$node->safe_psql('postgres', "SET maintenance_work_mem = '1MB'; VACUUM calm");
is(stats($node, 'calm', 'rows - dead'), $node->safe_psql('postgres', 'SELECT count(*) FROM calm'), 'calm: all have been found');
healthy($node, 'calm', 'calm, again');
# validating a new index must see all its rows, whatever the visibility map says
$node->safe_psql('postgres', 'CREATE INDEX CONCURRENTLY calm_other ON calm USING rtscan (id, a)');
is($node->safe_psql('postgres', "SELECT rows + pending FROM rtscan_stats('calm_other')"), stats($node, 'calm', 'rows - dead'),
	'calm: an index that is built concurrently has each row once');

# ---- vacuum_cost_delay: each phase sleeps, can be cancelled then, and leaves the index right

# Return a session that vacuums, and sleeps after every page that it reads.
sub start_slow_vacuum
{
	my ($options) = @_;
	return start_script($node, 'SET vacuum_cost_delay = 100', 'SET vacuum_cost_limit = 1', 'SET vacuum_cost_page_miss = 1',
		'SET vacuum_cost_page_dirty = 0', "VACUUM ($options) delayed");
}

# Return the first process of this kind that sleeps in this phase and holds the merge lock of an index. In cleanup
# none of the first index's segments have been merged yet, so that it is the merge that sleeps, not the freeing of
# pages.
sub await_sleep
{
	my ($phase, $backend_type) = @_;
	my $unmerged = $phase eq 'cleaning up indexes' ? "(SELECT segments FROM rtscan_stats('delayed_idx')) >= 8" : 'true';
	for (my $tries = 0; $tries < 1800; $tries++)
	{
		my $pid = $node->safe_psql('postgres', qq{
			SELECT a.pid
			FROM pg_stat_progress_vacuum v
				JOIN pg_stat_activity a ON v.pid IN (a.pid, a.leader_pid)
				JOIN pg_locks l ON l.pid = a.pid AND locktype = 'page' AND granted
			WHERE v.phase = '$phase' AND wait_event = 'VacuumDelay' AND backend_type = '$backend_type' AND $unmerged
			LIMIT 1});
		return $pid if $pid ne '';
		usleep(10_000);
	}
	return '';
}

$node->safe_psql('postgres', q{
	CREATE TABLE delayed (LIKE t);
	CREATE INDEX delayed_idx ON delayed USING rtscan (a, b, c);
	CREATE INDEX delayed_id ON delayed USING rtscan (id, u);
	CREATE INDEX delayed_u ON delayed USING rtscan (u) INCLUDE (b)});
# few pages in the table, and many segments
sub fill_delayed
{
	$node->safe_psql('postgres', 'TRUNCATE delayed');
	my $flush = join(';', map { "SELECT rtscan_merge('delayed_$_')" } qw(idx id u));
	$node->safe_psql('postgres', 'INSERT INTO delayed ' . rows(1 + 100 * $_, 100 * $_ + 100) . "; $flush") foreach 1 .. 7;
	$node->safe_psql('postgres', 'DELETE FROM delayed WHERE id % 3 = 0');
	$unmerged{delayed} = stats($node, 'delayed', 'segments');
	return;
}

foreach my $case ([ 'vacuuming indexes', 'client backend', 'PARALLEL 0' ], [ 'cleaning up indexes', 'client backend', 'PARALLEL 0' ],
	[ 'vacuuming indexes', 'parallel worker', 'PARALLEL 2' ])
{
	my ($phase, $backend_type, $options) = @$case;
	my $what = "cost delay, $options, $phase";
	fill_delayed();
	# the eighth segment is pending until then, so that there is something to merge in cleanup
	$node->safe_psql('postgres', 'INSERT INTO delayed ' . rows(1, 100));
	my $script = start_slow_vacuum($options);
	isnt(await_sleep($phase, $backend_type), '', "$what: a $backend_type sleeps");
	is($node->safe_psql('postgres', 'SELECT pg_cancel_backend(pid) FROM pg_stat_progress_vacuum'), 't', "$what: is to be cancelled");
	like(finish_script($script), qr/ERROR:  canceling statement due to user request/, "$what: cancelled");
	healthy($node, 'delayed', "$what, cancelled");
	$node->safe_psql('postgres', "VACUUM delayed");
	vacuumed($node, 'delayed', "$what, vacuumed after all");
}

# ---- more dead rows than fit in maintenance_work_mem need several passes of bulk delete

$node->safe_psql('postgres', 'CREATE TABLE passes (LIKE t); INSERT INTO passes ' . rows(1, 420_000) . q{;
	CREATE INDEX passes_idx ON passes USING rtscan (a, b, c);
	DELETE FROM passes WHERE id % 10 <> 0});
like(messages($node, "SET maintenance_work_mem = '1MB'; VACUUM (VERBOSE) passes"), qr/index scans: ([3-9])/, 'three passes');
vacuumed($node, 'passes', 'three passes');
is(stats($node, 'passes', 'rows - dead'), 42_000, 'three passes: all dead rows are marked');

unlike(slurp_file($node->logfile), qr/TRAP:|PANIC:|was terminated by signal/, 'the server never crashed');
$node->stop;

# ---- near wraparound: failsafe mode, and autovacuum's aggressive VACUUM

my $old = new_node('wraparound', "maintenance_work_mem = 16MB\nrtscan.merge_worker = off\n"
	  . "autovacuum_naptime = 1s\nautovacuum_freeze_max_age = 100000\nsynchronous_commit = off\nfsync = off\nlog_autovacuum_min_duration = 0\n");
$old->start;
create_tables($old, t => [ '', 10_000 ], auto => [ '', 10_000 ]);
spoil($old, $_) foreach qw(t auto);
# more than 105 % of autovacuum_freeze_max_age, which failsafe mode requires
$old->safe_psql('postgres', "DO 'BEGIN FOR i IN 1 .. 106000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END'");
$before = stats($old, 't', 'segments, rows, dead, pending');
my $failsafe = messages($old, 'SET vacuum_failsafe_age = 0; SET vacuum_multixact_failsafe_age = 0; VACUUM (VERBOSE) t');
like($failsafe, qr/bypassing nonessential maintenance of table "postgres.public.t" as a failsafe/, 'failsafe mode');
is(stats($old, 't', 'segments, rows, dead, pending'), $before, 'failsafe mode: nothing is flushed, deleted or merged');
healthy($old, 't', 'failsafe mode');
$old->safe_psql('postgres', 'INSERT INTO t ' . rows($next, $next + 5000));
healthy($old, 't', 'failsafe mode, with new rows');
$old->safe_psql('postgres', 'VACUUM (INDEX_CLEANUP ON) t');
vacuumed($old, 't', 'after failsafe mode');

$old->append_conf('postgresql.conf', "autovacuum = on\nautovacuum_vacuum_threshold = 1000000000\nautovacuum_vacuum_insert_threshold = 1000000000\n");
$old->reload;
ok($old->poll_query_until('postgres', "SELECT age(relfrozenxid) < 100000 FROM pg_class WHERE relname = 'auto'"), 'autovacuum freezes the table');
$old->wait_for_log(qr/automatic aggressive vacuum to prevent wraparound of table "postgres.public.auto"/, 0);
$old->append_conf('postgresql.conf', "autovacuum = off\n");
$old->restart;
vacuumed($old, 'auto', 'aggressive autovacuum');
unlike(slurp_file($old->logfile), qr/TRAP:|PANIC:|was terminated by signal/, 'the server never crashed');
$old->stop;

done_testing();
