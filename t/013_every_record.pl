# Tests a crash after any WAL record: a standby that replays one record at a time must answer correctly after each,
# and a server that recovers or is promoted after some of them must continue without losing pages. With
# wal_consistency_checking = all, replay compares every page with the primary's.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use List::Util qw(shuffle);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Test::More;

# Number of records that are tested, and after how many of them a server continues.
my $points = $ENV{RTSCAN_RECORD_POINTS} // 200;
my $recoveries = $ENV{RTSCAN_RECORD_RECOVERIES} // 10;

my $segment_size = 16 * 1024 * 1024;
my @tables = qw(big cut t);

my $primary = new_node('primary', "wal_consistency_checking = 'all'\nrtscan.merge_worker = off\ncheckpoint_timeout = 1h\n"
	  . "max_wal_size = 8GB\nwal_keep_size = 8GB\nwal_compression = off\n", allows_streaming => 1, extra => ['-k']);
$primary->start;
create_tables($primary, t => [ '', 300 ], u => [ 'UNLOGGED', 300 ], big => [ '', 1 ]);
# with sieve vectors, even when a third is deleted: more rows than a chunk has
$primary->safe_psql('postgres', 'INSERT INTO big ' . rows(2, 100_000) . '; ' . large_segments() . '; REINDEX TABLE big');
# an index whose flushes and merges can be interrupted by rows that are far apart, when they have written the pages
# of other columns
$primary->safe_psql('postgres', q{
CREATE FUNCTION failing(int, int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	IF abs($1 - $2) > current_setting('test.apart', true)::int THEN RAISE 'cut short'; END IF;
	RETURN btint4cmp($1, $2);
END $$;
CREATE OPERATOR CLASS failing FOR TYPE int USING rtscan AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 failing(int, int);
CREATE TABLE cut (LIKE t);
CREATE INDEX cut_idx ON cut USING rtscan (a, b, c, (id + 0) failing);
});
$primary->backup('base');

# ---- the workload

sub wide_rows
{
	my ($first, $last) = @_;
	my $wide = "(SELECT 'k' || string_agg(md5(i::text || n), '') FROM generate_series(1, 10) n)";
	return rows($first, $last) =~ s/'k' \|\| i % 50/$wide/r;
}

my %table_of;

sub note_files
{
	$table_of{ $_->[0] } = $_->[1] foreach map { [ split(/\|/) ] } split(/\n/, $primary->safe_psql('postgres',
			q{SELECT pg_relation_filenode(oid), replace(relname, '_idx', '') FROM pg_class WHERE relname IN ('t_idx', 'cut_idx', 'big_idx')}));
	return;
}

# Run statements, each in a transaction of its own; expected is an error.
sub change
{
	my ($statements, $expected) = @_;
	my ($rc, $out, $err) = $primary->psql('postgres', join(";\n", @$statements), on_error_stop => 0);
	my $errors = join("\n", grep { /ERROR|FATAL/ && !($expected && /$expected/) } split(/\n/, $err));
	is($errors, '', 'the workload runs') if $errors;
	note_files();
	return;
}

# Make eight segments of that many rows, and the merge that follows.
sub merge_segments
{
	my ($name, $first, $rows) = @_;
	return map { ("INSERT INTO $name " . ($name eq 'cut' ? \&wide_rows : \&rows)->($first + 1000 * $_, $first + 1000 * $_ + $rows - 1),
			"SELECT rtscan_merge('${name}_idx')") } 0 .. 7;
}

my $start = $primary->lsn('flush');
note_files();
change([ 'INSERT INTO t ' . rows(1001, 3400), merge_segments('t', 10_001, 20) ]);
change([ 'BEGIN', 'INSERT INTO t ' . rows(5001, 5040), 'SAVEPOINT s', 'INSERT INTO t ' . rows(5041, 5100), 'ROLLBACK TO s', 'COMMIT' ]);
change([ 'DELETE FROM t WHERE id % 5 = 0', 'VACUUM t', 'UPDATE t SET a = 999 - a WHERE id % 3 = 0', 'VACUUM t', 'SELECT txid_current()', 'VACUUM t' ]);
change([ 'INSERT INTO t ' . rows(6001, 8000) ]);
# rows for which not all pages of the table need be compared
change([ "SET wal_consistency_checking = 'Generic, Btree'", 'DELETE FROM big WHERE id % 25 < 8', 'RESET wal_consistency_checking',
		large_segments(), 'VACUUM big', 'SELECT txid_current()', 'VACUUM big',
		'INSERT INTO big ' . rows(100_001, 100_100), 'DELETE FROM big WHERE id % 100 = 1', 'VACUUM big' ]);
change([ "SET rtscan.pending_list_limit = '256kB'", 'SET test.apart = 0', 'INSERT INTO cut ' . wide_rows(1, 1000) ], 'cut short');
change([ 'SET test.apart = 0', "SELECT rtscan_merge('cut_idx')" ], 'cut short');
cmp_ok(page_use($primary, 'cut')->{lost}, '>', 10, 'flushes that were cut short have lost pages');
change([ 'VACUUM cut', 'SET test.apart = 500', merge_segments('cut', 2001, 60) ], 'cut short');
cmp_ok(page_use($primary, 'cut')->{lost}, '>', 10, 'so have merges');
change([ 'VACUUM cut', 'INSERT INTO cut ' . wide_rows(3001, 3020), "SELECT rtscan_merge('cut_idx')", 'TRUNCATE cut',
		'INSERT INTO cut ' . wide_rows(3021, 3040) ]);
change([ 'INSERT INTO u ' . rows(1001, 3400), 'REINDEX INDEX u_idx', 'DELETE FROM u WHERE id % 7 = 0', 'VACUUM u' ]);
change([ 'REINDEX INDEX t_idx', 'INSERT INTO t ' . rows(9001, 9020), 'VACUUM t' ]);
healthy($primary, $_, 'primary') foreach @tables, 'u';
my $end = $primary->lsn('flush');

# ---- the workload's WAL

sub lsn_number
{
	my ($high, $low) = split(m{/}, $_[0]);
	return hex($high) * 2**32 + hex($low);
}

# Return the WAL file that has a position, and the offset in it.
sub wal_file
{
	my ($node, $position) = @_;
	my $name = sprintf('%08X%08X%08X', 1, $position / 2**32, $position % 2**32 / $segment_size);
	return ($node->data_dir . "/pg_wal/$name", $position % $segment_size);
}

# Return the bytes from one position to another, by pages or by files: a list of [ position, bytes ].
sub wal_pieces
{
	my ($from, $to, $size) = @_;
	my @pieces;
	while ($from < $to)
	{
		my $next = $from - $from % $size + $size;
		my $length = ($next < $to ? $next : $to) - $from;
		my ($file, $offset) = wal_file($primary, $from);
		open(my $handle, '<:raw', $file) or die "open: $!";
		seek($handle, $offset, 0);
		read($handle, my $bytes, $length) == $length or die "read: $!";
		close($handle);
		push @pieces, [ $from, $bytes ];
		$from += $length;
	}
	return @pieces;
}

# Give a server the WAL from one position to another.
sub give_wal
{
	my ($node, $from, $to) = @_;
	foreach my $piece (wal_pieces($from, $to, $segment_size))
	{
		my ($position, $bytes) = @$piece;
		my ($file, $offset) = wal_file($node, $position);
		if (!-e $file)
		{
			append_to_file($file, '');
			truncate($file, $segment_size) or die "truncate: $!";
		}
		open(my $handle, '+<:raw', $file) or die "open: $!";
		seek($handle, $offset, 0);
		print $handle $bytes;
		close($handle) or die "close: $!";
	}
	return;
}

# Return the kinds of rtscan's pages in a record. wal_consistency_checking adds the image of each page, which ends in
# the kind.
my @kind_names = ('free', 'meta', 'directory', 'list', 'pending', 'descriptor', 'dead map', 'dead', 'shared', 'tidmap', 'dictionary',
	'sieve', 'order', 'codes', 'include', 'taken');

sub page_kinds
{
	my ($from, $to) = @_;
	# without the header of each WAL page, which is long at the beginning of a file
	my $record = join('', map { substr($_->[1], $_->[0] % 8192 ? 0 : $_->[0] % $segment_size ? 24 : 40) } wal_pieces($from, $to, 8192));
	$record = substr($record, 0, unpack('L', $record));
	my ($at, $content) = (24, 0);
	my @blocks;
	# headers of blocks, until the rest is as long as they announce
	while ($at + $content < length($record))
	{
		my ($id, $flags, $data) = unpack("x$at C C S", $record . "\0" x 4);
		# the main data, which is last: short or long
		last if $id > 32;
		my $image = $flags & 0x10 ? unpack('x' . ($at + 4) . ' S', $record) : 0;
		push @blocks, [ $flags & 0x0F, $image, $data ];
		$content += $image + $data;
		$at += 8 + ($flags & 0x10 ? 5 : 0) + ($flags & 0x80 ? 0 : 12);
	}
	my $main = ord(substr($record, $at, 1));
	$at += 2 if $main == 255 && @blocks && $at + $content < length($record);
	$at += 5 if $main == 254 && @blocks && $at + $content < length($record);
	my @kinds;
	foreach my $block (@blocks)
	{
		my ($fork, $image, $data) = @$block;
		my ($kind, $page_id) = unpack('S S', substr($record, $at + $image - 4, 4));
		push @kinds, $fork == 1 ? 'map' : $page_id == 0xFF52 ? $kind_names[$kind] : 'other' if $image;
		$at += $image + $data;
	}
	return \@kinds;
}

# Return the records that touch an index, and ends of transactions, each with its position and description.
my @records;
foreach my $line (split(/\n/, (run_command([ 'pg_waldump', '-p', $primary->data_dir . '/pg_wal', '-s', $start, '-e', $end ]))[0]))
{
	my ($manager, $lsn, $description) = $line =~ /^rmgr: (\w+).*, lsn: ([0-9A-F]+\/[0-9A-F]+), .*desc: (\S+)/ or next;
	$records[-1]{end} = lsn_number($lsn) if @records;
	my ($name) = grep { defined } map { $table_of{$_} } $line =~ m{rel \d+/\d+/(\d+)}g;
	push @records, { lsn => $lsn, begin => lsn_number($lsn), end => lsn_number($end), name => $name,
		what => $manager eq $description ? $manager : "$manager $description" };
}
@records = grep { $_->{name} || $_->{what} =~ /^Transaction/ } @records;
my %count;
foreach my $record (@records)
{
	my %kinds = $record->{name} ? map { $_ => 1 } @{ page_kinds($record->{begin}, $record->{end}) } : ();
	$count{$_}++ foreach keys %kinds;
	$record->{what} .= ' ' . join(', ', sort keys %kinds);
}
cmp_ok($count{$_} // 0, '>', 0, "the workload has written $_ pages") foreach grep { $_ ne 'include' } @kind_names, 'map';
is($count{other} // 0, 0, 'and no others');

# Choose two of each kind, and then any. Records that only append a row or free a page are many, and alike.
my (%seen, @recovered, @chosen, @others, @alike);
foreach my $record (shuffle(@records))
{
	my $nth = $seen{ $record->{what} }++;
	push @recovered, $record if $nth == 0;
	push @{ $nth < 2 ? \@chosen : $record->{what} =~ /Generic pending$|free$/ && rand() < 0.95 ? \@alike : \@others }, $record;
}
note(scalar(@records) . " records:");
note("  $seen{$_} $_") foreach sort keys %seen;
push @chosen, splice(@{ [ @others, @alike ] }, 0, $points - @chosen) if @chosen < $points;
@chosen = sort { $a->{begin} <=> $b->{begin} } @chosen;

# ---- a standby that stops after each record

my $position = lsn_number($start);

sub new_server
{
	my ($name) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	$node->init_from_backup($primary, 'base');
	$node->append_conf('postgresql.conf', "wal_retrieve_retry_interval = 2ms\nmax_standby_archive_delay = -1\n"
		  . "log_statement = none\nautovacuum = off\n");
	return $node;
}

# Return SQL that waits until a record, the last one there is, has been replayed, with snapshots that do not delay
# replay.
sub await_replay
{
	my ($record) = @_;
	return "DO \$\$ BEGIN WHILE pg_last_wal_replay_lsn() <= '$record->{lsn}' LOOP PERFORM pg_sleep(0.002); COMMIT; END LOOP; END \$\$;\n";
}

my $standby = new_server('standby');
$standby->set_standby_mode;
$standby->start;
my $locked = 0;
my $failed = 0;
foreach my $record (@chosen)
{
	my $name = $record->{name} // $tables[ rand(@tables) ];
	give_wal($standby, $position, $record->{end});
	$position = $record->{end};
	my ($rc, $out, $err) = $standby->psql('postgres', await_replay($record)
		  . "SET lock_timeout = '50ms'; BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT compare_scans('$name', 3); COMMIT;"
		  . "SELECT rtscan_check('${name}_idx', true)", on_error_stop => 1, timeout => 60);
	# between a REINDEX or TRUNCATE and its commit the table is locked
	if ($err =~ /lock timeout/) { $locked++ }
	elsif ($rc != 0)
	{
		fail("after $record->{lsn} ($record->{what} of $name)");
		diag($err);
		last if ++$failed == 5;
	}
}
is($failed, 0, 'right after each of ' . @chosen . ' records');
note("$locked of them locked");
cmp_ok($locked, '<', @chosen / 3, 'and hardly ever locked');
$standby->stop('fast', fail_ok => 1);

# ---- servers that continue after some records

push @recovered, @others;
foreach my $record (splice(@recovered, 0, $recoveries))
{
	my $promoted = rand() < 0.5;
	my $what = ($promoted ? 'promoted' : 'recovered') . " after $record->{lsn} ($record->{what} of " . ($record->{name} // '') . ')';
	my $node = new_server("after_$record->{begin}");
	give_wal($node, lsn_number($start), $record->{end});
	$node->set_standby_mode if $promoted;
	$node->start;
	if ($promoted)
	{
		$node->safe_psql('postgres', await_replay($record));
		$node->promote;
	}
	foreach my $name (@tables)
	{
		$node->safe_psql('postgres', "INSERT INTO $name " . rows(200_001, 200_100));
		vacuum_completely($node, $name);
		healthy($node, $name, $what);
		my $use = page_use($node, $name);
		is("$use->{lost} lost, $use->{unproposed} free but not proposed, $use->{retired} retired",
			'0 lost, 0 free but not proposed, 0 retired', "$what: no page of $name is lost");
	}
	unlike(slurp_file($node->logfile), qr/inconsistent page|PANIC|TRAP:/, "$what: no complaint");
	$node->stop('immediate');
	$node->clean_node;
}
unlike(slurp_file($standby->logfile), qr/inconsistent page|PANIC|TRAP:/, 'replay wrote the same pages');

done_testing();
