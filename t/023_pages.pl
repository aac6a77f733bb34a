# Tests that pages are reclaimed. Pages written by flushes and merges that were interrupted, by a cancel or a crash,
# are freed by the next flush or merge, which reads no other pages for that. VACUUM finds free pages that a crash has
# removed from the free space map, also without reading other pages, and truncates a free tail of the file.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Test::More;

my $node = new_node('pages', "maintenance_work_mem = 64MB\nrtscan.merge_worker = off\nrtscan.pending_list_limit = 64MB\n"
	  . "restart_after_crash = on\nwal_keep_size = 4GB\ncheckpoint_timeout = 1h\nmax_wal_size = 8GB\n");
$node->start;
create_tables($node, t => [ '', 1 ], tail => [ '', 1 ], kept => [ '', 1 ]);

# An index whose flushes and merges can be interrupted, or delayed, when they have written the pages of other
# columns.
$node->safe_psql('postgres', q{
CREATE FUNCTION failing(int, int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	IF abs($1 - $2) > current_setting('test.apart', true)::int THEN RAISE 'cut short'; END IF;
	IF abs($1 - $2) > current_setting('test.sleep', true)::int THEN PERFORM pg_sleep(60); END IF;
	RETURN btint4cmp($1, $2);
END $$;
CREATE OPERATOR CLASS failing FOR TYPE int USING rtscan AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 failing(int, int);
DROP INDEX t_idx;
} . 'INSERT INTO t ' . rows(2, 200_000) . '; CREATE INDEX t_idx ON t USING rtscan (a, b, c, (id + 0) failing); VACUUM t');

# Return the pages of an index that a statement reads, and its error.
sub reads
{
	my ($name, $statement) = @_;
	my $count = "SELECT idx_blks_read + idx_blks_hit FROM pg_statio_user_indexes WHERE indexrelname = '${name}_idx'";
	my $before = $node->safe_psql('postgres', $count);
	my ($rc, $out, $err) = $node->psql('postgres', $statement);
	return ($node->safe_psql('postgres', $count) - $before, $err);
}

# Return the pages of t_idx that are lost, when nothing is retired any more.
sub nothing_lost
{
	my ($name, $what) = @_;
	my $use = page_use($node, $name);
	is("$use->{lost} lost, $use->{unproposed} free but not proposed, $use->{retired} retired",
		'0 lost, 0 free but not proposed, 0 retired', "$what: no page of $name is lost");
	return $use;
}

sub size
{
	my ($name) = @_;
	return $node->safe_psql('postgres', "SELECT pg_relation_size('${name}_idx') / 8192");
}

# ---- flushes and merges that are interrupted

# Rows that are so large that a few fill many pages.
sub wide_rows
{
	my ($first, $last) = @_;
	return rows($first, $last) =~ s/'k' \|\| i % 50/(SELECT 'k' || string_agg(md5(i::text || n), '') FROM generate_series(1, 10) n)/r;
}

# Add a segment, and merge if there are enough. Returns their number.
my $next = 300_000;

sub add_segment
{
	$node->safe_psql('postgres', 'INSERT INTO t ' . wide_rows($next, $next + 1049) . "; SELECT rtscan_merge('t_idx')");
	$next += 1050;
	return $node->safe_psql('postgres', "SELECT segments FROM rtscan_stats('t_idx')");
}

# Make so many segments that the next one starts a merge, with room for it in the file.
sub prepare_merge
{
	my $segments = 0;
	while ((my $more = add_segment()) > $segments) { $segments = $more }
	add_segment() foreach 1 .. 7;
	$node->safe_psql('postgres', $_) foreach ('SELECT txid_current()', "SELECT rtscan_merge('t_idx')");
	return;
}

prepare_merge();
nothing_lost('t', 'at first');

# a flush
my $pages = size('t');
$node->safe_psql('postgres', "SET rtscan.pending_list_limit = '64MB'; INSERT INTO t " . wide_rows(400_000, 401_999));
my ($read, $err) = reads('t', "SET test.apart = 0; SELECT rtscan_merge('t_idx')");
like($err, qr/cut short/, 'a flush is cut short');
my $lost = page_use($node, 't')->{lost};
cmp_ok($lost, '>', 10, "it has left $lost pages");
foreach (1 .. 20)
{
	(undef, $err) = reads('t', "SET test.apart = 0; SELECT rtscan_merge('t_idx')");
	like($err, qr/cut short/, 'and so are the next ones') if $_ == 20;
}
is(page_use($node, 't')->{lost}, $lost, '20 more have left no more');
my $size = size('t');
cmp_ok($size, '<=', $pages + $lost + 10, "the file has not grown by more than they and the pending rows ($pages, $size pages)");

$node->safe_psql('postgres', "SELECT rtscan_merge('t_idx')");
prepare_merge();
$node->safe_psql('postgres', 'INSERT INTO t ' . wide_rows(450_000, 451_049));
($read, $err) = reads('t', "SET test.apart = 10000; SELECT rtscan_merge('t_idx')");
like($err, qr/cut short/, 'a merge is cut short');
$lost = page_use($node, 't')->{lost};
cmp_ok($lost, '>', 40, "it has left $lost pages");
$size = size('t');
foreach (1 .. 20)
{
	(undef, $err) = reads('t', "SET test.apart = 10000; SELECT rtscan_merge('t_idx')");
	like($err, qr/cut short/, 'and so are the next ones') if $_ == 20;
}
cmp_ok(page_use($node, 't')->{lost}, '<=', $lost + 10, '20 more have left no more');
cmp_ok(size('t'), '<=', $size + 10, 'the file has not grown');
healthy($node, 't', 'after merges that were cut short');

# dead bits use the merge slot as well: its next user cleans up, and reads nothing else
$node->safe_psql('postgres', "SET test.apart = 10000; SET statement_timeout = '1min'; DELETE FROM t WHERE id = 7");
($read, $err) = reads('t', "SET test.apart = 10000; VACUUM t");
note("VACUUM has read $read blocks of " . size('t') . ": $err");
($read, $err) = reads('t', "SELECT rtscan_merge('t_idx')");
is($err, '', 'the merge succeeds at last');
$node->safe_psql('postgres', $_) foreach ('SELECT txid_current()', "SELECT rtscan_merge('t_idx')");
nothing_lost('t', 'after the merge');

# ---- a crash in a merge

prepare_merge();
$node->safe_psql('postgres', 'INSERT INTO t ' . wide_rows(500_000, 501_049));
my $script = start_script($node, "SET application_name = 'merging'", 'SET test.sleep = 10000', "SELECT rtscan_merge('t_idx')");
ok($node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'merging' AND wait_event = 'PgSleep'"),
	'a merge is at work');
# so that what it has written is on disk
$node->safe_psql('postgres', 'CHECKPOINT');
my $merging = $node->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE application_name = 'merging'");
kill('KILL', $merging);
finish_script($script);
ok($node->poll_query_until('postgres', 'SELECT true'), 'the server is back');
$lost = page_use($node, 't')->{lost};
cmp_ok($lost, '>', 40, "the crash has left $lost pages");
$size = size('t');
# what VACUUM reads besides depends on the segments, not on the file
my ($reads_after_crash) = reads('t', 'VACUUM (INDEX_CLEANUP ON) t');
$node->safe_psql('postgres', 'SELECT txid_current()');
my ($reads_again) = reads('t', 'VACUUM (INDEX_CLEANUP ON) t');
note("of $size pages, VACUUM reads $reads_after_crash after the crash, then $reads_again");
nothing_lost('t', 'after the crash');
healthy($node, 't', 'after the crash');

# An attempt that only VACUUM cleans up, and which has nothing else to merge.
$node->safe_psql('postgres', 'INSERT INTO t ' . wide_rows(600_000, 600_999));
(undef, $err) = reads('t', "SET test.apart = 0; SELECT rtscan_merge('t_idx')");
like($err, qr/cut short/, 'another flush is cut short');
$lost = page_use($node, 't')->{lost};
cmp_ok($lost, '>', 0, "it has left $lost pages");
($read) = reads('t', 'VACUUM (INDEX_CLEANUP ON) t');
cmp_ok($read, '<', size('t') / 3, 'VACUUM clears up after it without reading the whole index');
$node->safe_psql('postgres', $_) foreach ('SELECT txid_current()', "SELECT rtscan_merge('t_idx')");
nothing_lost('t', 'after that');

# ---- the free space map

# Return the logged pages of an index's free space map since a position.
sub map_images
{
	my ($name, $from) = @_;
	# records of index maintenance are written to disk with another commit
	$node->safe_psql('postgres', "SELECT pg_logical_emit_message(true, 'flush', '')");
	my $file = $node->safe_psql('postgres', "SELECT pg_relation_filenode('${name}_idx')");
	my $end = $node->lsn('flush');
	my @files = map { $node->data_dir . '/pg_wal/' . $node->safe_psql('postgres', "SELECT pg_walfile_name('$_')") } $from, $end;
	return scalar(grep { m{/$file fork fsm } } split(/\n/, (run_command([ 'pg_waldump', '-s', $from,
					'-e', $end, @files ]))[0]));
}

# three leaf pages of the map; recycling logs one of them, with the two pages above
$node->safe_psql('postgres', q{
	CREATE TABLE broad (a int, w text);
	ALTER TABLE broad ALTER w SET STORAGE plain;
	INSERT INTO broad SELECT i, repeat(md5(i::text), 200) FROM generate_series(1, 9000) i;
	CREATE INDEX broad_idx ON broad USING rtscan (a) INCLUDE (w)});
cmp_ok(size('broad'), '>', 2 * 4069, 'an index has more than two leaf pages of its map');
$node->safe_psql('postgres', "INSERT INTO broad VALUES (1, 'one'); SELECT rtscan_merge('broad_idx'); SELECT txid_current()");
my $from = $node->lsn('flush');
$node->safe_psql('postgres', "SELECT rtscan_merge('broad_idx')");
is(map_images('broad', $from), 3, 'what is recycled logs as many pages of the map as it takes');
$from = $node->lsn('flush');
$node->safe_psql('postgres', "INSERT INTO broad VALUES (2, 'two'); VACUUM broad");
is(map_images('broad', $from), 0, 'and what frees nothing none');

# without the map, as on a promoted standby, VACUUM reads only the free pages
my $path = $node->safe_psql('postgres', "SELECT pg_relation_filepath('t_idx')");
$node->stop;
unlink($node->data_dir . "/${path}_fsm") or die "unlink: $!";
$node->start;
my $use = page_use($node, 't');
cmp_ok($use->{unproposed}, '>', 50, 'without a free space map free pages are not proposed');
$node->safe_psql('postgres', 'INSERT INTO t ' . rows(610_011, 610_020));
($read) = reads('t', 'VACUUM (INDEX_CLEANUP ON, TRUNCATE OFF) t');
cmp_ok($read, '<', $use->{free} + ($use->{pages} - $use->{free}) / 3, "VACUUM reads $read of $use->{pages} pages");
$node->safe_psql('postgres', $_) foreach ('SELECT txid_current()', "SELECT rtscan_merge('t_idx')");
nothing_lost('t', 'with a new free space map');
healthy($node, 't', 'with a new free space map');

# ---- the end of the file

# Return a backend that remembers the page to which it has appended, and which will be truncated.
$node->safe_psql('postgres', "INSERT INTO $_ " . rows(2, 60_000)
	  . "; SELECT rtscan_merge('${_}_idx')") foreach qw(tail kept);
$node->safe_psql('postgres', 'ALTER TABLE kept SET (vacuum_truncate = off)');
my $writer = $node->background_psql('postgres');
$writer->query_safe("INSERT INTO tail " . rows(60_001, 61_000));
my $reader = $node->background_psql('postgres');

my $full = size('tail');
# a session that uses the index prevents truncation, and VACUUM does not wait for it
$reader->query_safe('BEGIN; SELECT count(*) FROM tail WHERE a < 10');
# the remaining rows are written to the end of the file, then a part of them to pages freed before
foreach my $left (10_000, 1000)
{
	$node->safe_psql('postgres', "DELETE FROM $_ WHERE id > $left; VACUUM (TRUNCATE OFF) $_") foreach qw(tail kept);
	$node->safe_psql('postgres', 'SELECT txid_current()');
}
$node->safe_psql('postgres', "SET statement_timeout = '30s'; VACUUM (INDEX_CLEANUP ON, TRUNCATE OFF) tail");
cmp_ok(size('tail'), '>=', $full, 'an index that is in use is not truncated');
$reader->query_safe('COMMIT');
$node->safe_psql('postgres', 'VACUUM (INDEX_CLEANUP ON) tail; VACUUM (INDEX_CLEANUP ON) kept');
$size = size('tail');
cmp_ok($size, '<', $full / 5, "its free tail is cut off ($full, $size pages)");
cmp_ok(size('kept'), '>=', $full / 2, 'but not if vacuum_truncate is off');
nothing_lost('tail', 'after truncation');
$writer->query_safe('INSERT INTO tail ' . rows(61_001, 62_000));
is($reader->query_safe('SELECT count(*) FROM tail WHERE id > 60000'), '1000', 'a backend that had appended to a page that is gone goes on');
healthy($node, $_, 'after truncation') foreach qw(tail kept);
$writer->quit;
$reader->quit;

# recovery truncates, too
$node->stop('immediate');
$node->start;
cmp_ok(size('tail'), '<', $full / 5, 'after a crash it is still cut off');
healthy($node, $_, 'after a crash') foreach qw(t tail kept);
unlike(slurp_file($node->logfile), qr/PANIC|TRAP:/, 'no assertion failed');
$node->stop;

done_testing();
