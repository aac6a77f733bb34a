# Tests that inserting on the primary cancels no query on a standby, however many flushes and merges that starts:
# pages of merged segments are reused by VACUUM, which logs one record for that, or when no query can need them.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Test::More;

my $primary = new_node('primary', "wal_keep_size = 4GB\nmaintenance_work_mem = 16MB\n", allows_streaming => 1);
$primary->start;
create_tables($primary, t => [ '', 1000 ]);
$primary->safe_psql('postgres', 'CREATE TABLE other AS SELECT generate_series(1, 1000) AS i');
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', "max_standby_streaming_delay = 100ms\nhot_standby_feedback = off\n");
$standby->start;

my $next = 1001;

# Insertions that flush, and merges by workers.
sub insert
{
	my ($times) = @_;
	foreach (1 .. $times)
	{
		$primary->safe_psql('postgres', 'INSERT INTO t ' . rows($next, $next + 3999));
		$next += 4000;
	}
	$primary->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'rtscan merge worker'");
	return;
}

# Return the records since a position that make standbys wait for queries or cancel them, and the number of images of
# the index's free space map.
sub recycled
{
	my ($from) = @_;
	# records of index maintenance are written to disk with another commit
	$primary->safe_psql('postgres', "SELECT pg_logical_emit_message(true, 'flush', '')");
	my $end = $primary->lsn('flush');
	my @files = map { $primary->data_dir . '/pg_wal/' . $primary->safe_psql('postgres', "SELECT pg_walfile_name('$_')") } $from, $end;
	my $file = $primary->safe_psql('postgres', "SELECT pg_relation_filenode('t_idx')");
	my @records = split(/\n/, (run_command([ 'pg_waldump', '-s', $from, '-e', $end, @files ]))[0]);
	return (scalar(grep { /REUSE_PAGE/ } @records), scalar(grep { m{/$file fork fsm } } @records));
}

sub conflicts
{
	return $standby->safe_psql('postgres', q{
		SELECT sum(confl_tablespace + confl_lock + confl_snapshot + confl_bufferpin + confl_deadlock)
		FROM pg_stat_database_conflicts});
}

sub retired
{
	return page_use($primary, 't')->{retired};
}

my $reader = $standby->background_psql('postgres');
$reader->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM other; SELECT count(*) FROM t WHERE a < 500');
my $start = $primary->lsn('flush');
insert(30);
cmp_ok(retired(), '>', 8, 'there were flushes and merges');
cmp_ok($primary->safe_psql('postgres', "SELECT segments FROM rtscan_stats('t_idx')"), '<', 20, 'so there are few segments');
$primary->wait_for_catchup($standby);
is(join(' ', recycled($start)), '0 0', 'no record says that pages are used again, none that the map has changed');
is($reader->query_safe('SELECT count(*) FROM other'), '1000', 'a reader on the standby is not cancelled');
is(conflicts(), 0, 'nobody is');
$reader->query_safe('COMMIT');
$reader->quit;

# VACUUM may cancel queries, with a record each time it recycles, which is twice
$start = $primary->lsn('flush');
$primary->safe_psql('postgres', 'VACUUM (TRUNCATE OFF) t');
my ($records) = recycled($start);
ok($records == 1 || $records == 2, "VACUUM uses all of them again ($records records)");
cmp_ok(retired(), '<', 8, 'at once');
$primary->wait_for_catchup($standby);
compare_scans($standby, 't', 'standby');

# without a standby workers need not wait
$standby->stop;
ok($primary->poll_query_until('postgres', 'SELECT count(*) = 0 FROM pg_stat_replication'), 'the standby is gone');
$start = $primary->lsn('flush');
foreach (1 .. 20)
{
	insert(8);
	last if (recycled($start))[0] > 0;
}
my $images;
($records, $images) = recycled($start);
cmp_ok($records, '>', 0, 'then pages are used again at once');
cmp_ok($images, '>=', 3 * $records, 'each time the map is logged: a page that has changed, and the two above it');
healthy($primary, 't', 'primary');

# a standby that is disconnected for a while has a slot
$primary->safe_psql('postgres', "SELECT pg_create_physical_replication_slot('away', true)");
insert(1);
$start = $primary->lsn('flush');
insert(30);
is(join(' ', recycled($start)), '0 0', 'a slot waits for a standby');
$primary->stop;

done_testing();
