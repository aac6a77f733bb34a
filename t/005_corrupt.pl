# Changes random bytes on pages of the index: checks, statistics, queries, inserts and VACUUM must raise an error or
# answer, and the server must survive. An answer may be wrong only if rtscan_check() complains, since no index can
# detect every changed bit by itself.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use File::Copy;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Test::More;
use Time::HiRes qw(time);

my $seconds = $ENV{RTSCAN_CORRUPT_SECONDS} // 60;
my $seed = srand($ENV{RTSCAN_CORRUPT_SEED} // time());
diag("RTSCAN_CORRUPT_SEED=$seed");
my $page = 8192;

# Several tables of each kind, so that the server need not be restarted for each corruption.
my %kinds = (small => 500, segments => 40_000, vectors => 70_000);
my @names = map { my $kind = $_; map { "$kind$_" } 1 .. ($kind eq 'vectors' ? 4 : 8) } sort keys %kinds;

my $node = new_node('corrupt', "restart_after_crash = off\nstatement_timeout = 30s\nlog_error_verbosity = verbose\n");
$node->start;
create_tables($node, map { $_ => [ '', $kinds{ $_ =~ s/\d+//r } ] } @names);
foreach my $name (@names)
{
	$node->safe_psql('postgres', qq{
		ALTER TABLE $name
			ADD p numeric(10,2) GENERATED ALWAYS AS (id / 4.0) STORED,
			ADD q numeric GENERATED ALWAYS AS (id / 4.0) STORED,
			ADD d text GENERATED ALWAYS AS ('d' || id::text) STORED;
		DROP INDEX ${name}_idx;
		CREATE INDEX ${name}_idx ON $name USING rtscan (a, b, c, p) INCLUDE (id, q, d)}) if $name =~ /[24]$/;
	$node->safe_psql('postgres', large_segments() . "; REINDEX INDEX ${name}_idx") if $name =~ /vectors/;
	# dead rows, several segments, and a pending list
	$node->safe_psql('postgres', "DELETE FROM $name WHERE id % 5 = 0; INSERT INTO $name " . rows(200_001, 203_000));
	$node->safe_psql('postgres', "VACUUM (FREEZE) $name");
	$node->safe_psql('postgres', "INSERT INTO $name " . rows(300_001, 300_200));
	$node->safe_psql('postgres', "VACUUM (FREEZE, INDEX_CLEANUP OFF) $name; INSERT INTO $name " . rows(300_201, 300_210));
}

my %path = map { $_ => [ split(/\n/, $node->safe_psql('postgres',
			"SELECT pg_relation_filepath('$_') UNION ALL SELECT pg_relation_filepath('${_}_idx')")) ] } @names;
healthy($node, $_, 'before') foreach @names;
$node->stop;

# All files of the tables and indexes as they are now, from which every round starts.
my $store = PostgreSQL::Test::Utils::tempdir();
my %saved;
foreach my $name (@names)
{
	foreach my $file (map { glob($node->data_dir . "/$_ " . $node->data_dir . "/${_}_*") } @{ $path{$name} })
	{
		next unless -e $file;
		$saved{$file} = "$store/" . ($file =~ s{/}{_}gr);
		copy($file, $saved{$file}) or die "copy: $!";
	}
}

sub restore
{
	foreach my $name (@names)
	{
		unlink map { glob($node->data_dir . "/${_}_*") } @{ $path{$name} };
	}
	copy($saved{$_}, $_) or die "copy: $!" foreach keys %saved;
	return;
}

sub random_bytes
{
	my ($count) = @_;
	return join('', map { chr(int(rand(256))) } 1 .. $count);
}

# RtscanPageKind in src/storage/page.h.
my %page_kinds = (list => 3, pending => 4, descriptor => 5, dead => 7, tidmap => 9, taken => 15);

sub page_kind
{
	my ($bytes) = @_;
	return unpack('S', substr($bytes, $page - 4));
}

# Choose a page: mostly among those first in the file, the first page of the pending list, and descriptors of
# segments, which are used as they are stored. These few pages are read by every query.
sub choose_victim
{
	my ($file, $pages) = @_;
	my $dice = rand();
	return int(rand($pages)) if $dice < 0.5;
	return int(rand($pages < 5 ? $pages : 5)) if $dice < 0.75;
	my $content = slurp_file($file);
	my $kind = $page_kinds{ $dice < 0.85 ? 'list' : 'descriptor' };
	my @found = grep { page_kind(substr($content, $_ * $page, $page)) == $kind } reverse 0 .. $pages - 1;
	return $found[ $dice < 0.85 ? 0 : int(rand(@found)) ] // 0;
}

# Change the bytes of one page, in ways in which disks, bugs and operators change them.
sub spoil_page
{
	my ($bytes, $other) = @_;
	my $kind = int(rand(9));
	my $at = rand() < 0.5 ? int(rand(200)) : int(rand($page - 8));
	if ($kind == 0) { $bytes = random_bytes($page) }
	elsif ($kind == 1) { $bytes = "\0" x $page }
	elsif ($kind == 2) { $bytes = $other }
	elsif ($kind == 3) { substr($bytes, $page / 2) = substr($other, $page / 2) }    # a torn page
	elsif ($kind == 4) { substr($bytes, $at, 4) = pack('L', (0, 1, 0x7fffffff, 0xffffffff, 0x10000)[ int(rand(5)) ]) }
	elsif ($kind == 5) { substr($bytes, $at, 1) = chr(ord(substr($bytes, $at, 1)) ^ (1 << int(rand(8)))) }
	elsif ($kind == 6) { substr($bytes, $at, 2) = pack('S', int(rand(65536))) }
	elsif ($kind == 7) { substr($bytes, $page - 16 + int(rand(16)), 1) = random_bytes(1) }    # in the special area
	else { substr($bytes, $at, 8) = random_bytes(8) }
	return ($bytes, $kind);
}

# Damage one or a few pages of an index file, or truncate it. Returns a description.
sub spoil
{
	my ($file) = @_;
	my $pages = (-s $file) / $page;
	if (rand() < 0.05)
	{
		my $left = int(rand($pages));
		truncate($file, $left * $page) or die "truncate: $!";
		return "cut to $left of $pages pages";
	}
	open(my $handle, '+<:raw', $file) or die "open: $!";
	my @done;
	foreach (1 .. 1 + int(rand(3)))
	{
		my ($victim, $source) = (choose_victim($file, $pages), int(rand($pages)));
		my @bytes = map { seek($handle, $_ * $page, 0); read($handle, my $bytes, $page); $bytes } ($victim, $source);
		my ($bytes, $kind) = spoil_page(@bytes);
		seek($handle, $victim * $page, 0);
		print $handle $bytes;
		push @done, "page $victim of $pages, kind $kind" . ($kind == 2 || $kind == 3 ? " from $source" : '');
	}
	close($handle);
	return join('; ', @done);
}

# Give a TID on each page of a kind a block number that no table has: TIDBitmap and prefetching trust the numbers
# they get.
sub invalidate_tids
{
	my ($file, $kind) = @_;
	my $count = 0;
	open(my $handle, '+<:raw', $file) or die "open: $!";
	foreach my $number (1 .. (-s $file) / $page - 1)
	{
		seek($handle, $number * $page, 0);
		read($handle, my $bytes, $page);
		next if page_kind($bytes) != $page_kinds{$kind};
		my $last_run = 80 + 8 * (unpack('L', substr($bytes, 72)) - 1);
		seek($handle, $number * $page + ($kind eq 'tidmap' ? $last_run : 64), 0);
		print $handle pack('L', 0xffffffff);
		$count++;
	}
	close($handle);
	ok($count > 0, "$file has $kind pages");
	return "TIDs of $count $kind pages invalid";
}

# Clear the last dead bits of each chunk: rows appear live whose tuples VACUUM has removed, and whose TIDs are not
# reused yet.
sub revive_rows
{
	my ($file) = @_;
	my $count = 0;
	open(my $handle, '+<:raw', $file) or die "open: $!";
	foreach my $number (1 .. (-s $file) / $page - 1)
	{
		seek($handle, $number * $page, 0);
		read($handle, my $bytes, $page);
		next if page_kind($bytes) != $page_kinds{dead};
		my $last = (grep { substr($bytes, $_, 8) ne "\0" x 8 } map { 8 * $_ } 8 .. 1000)[-1] // next;
		seek($handle, $number * $page + $last, 0);
		print $handle "\0" x 8;
		$count++;
	}
	close($handle);
	ok($count > 0, "$file has dead bits");
	return "the last dead bits of $count pages cleared";
}

# Make the metapage name itself, or a block after the end, as the spare directory: at 108 in the file
# (storage/directory.h).
sub mislead_spare
{
	my ($file) = @_;
	my $block = rand() < 0.5 ? 0 : 0x7fffffff;
	open(my $handle, '+<:raw', $file) or die "open: $!";
	seek($handle, 108, 0);
	print $handle pack('L', $block);
	close($handle);
	return "spare directory at $block";
}

# Clear pages that the metapage names, so that other work may allocate them: the spare directory, and the list of
# pages being written. Since the kind of a segment's descriptor is wrong, DELETE fails, and VACUUM's search for
# orphans is the first to write.
sub empty_named_pages
{
	my ($file) = @_;
	my $count = 0;
	open(my $handle, '+<:raw', $file) or die "open: $!";
	seek($handle, 108, 0);
	read($handle, my $spare, 4);
	foreach my $number (1 .. (-s $file) / $page - 1)
	{
		seek($handle, $number * $page, 0);
		read($handle, my $bytes, $page);
		next unless page_kind($bytes) == $page_kinds{taken} || $number == unpack('L', $spare);
		seek($handle, $number * $page, 0);
		print $handle "\0" x $page;
		$count++;
	}
	ok($count > 0, "$file has such pages");
	foreach my $number (1 .. (-s $file) / $page - 1)
	{
		seek($handle, $number * $page, 0);
		read($handle, my $bytes, $page);
		next unless page_kind($bytes) == $page_kinds{descriptor};
		seek($handle, $number * $page + $page - 4, 0);
		print $handle pack('S', 0);
		last;
	}
	close($handle);
	return "$count named pages empty";
}

# Change the metapage, at 188, so that entries have more bounds than the index has columns: if possible, so many that
# the directory's first page is one entry. Differences, which would contradict it, are removed.
sub widen_bounds
{
	my ($file) = @_;
	open(my $handle, '+<:raw', $file) or die "open: $!";
	read($handle, my $meta, $page);
	my $directory = unpack('x104 L', $meta);
	my $bounds = 20;
	if ($directory < (-s $file) / $page)
	{
		seek($handle, $directory * $page + 12, 0);
		read($handle, my $lower, 2);
		$bounds = int((unpack('S', $lower) - 64 - 40) / 16);
	}
	seek($handle, 12, 0);
	print $handle pack('S', 200);
	seek($handle, 188, 0);
	print $handle pack('L', $bounds);
	close($handle);
	return "entries with $bounds bounds";
}

# Change the directory, and the differences in the metapage, so that no segment has NULLs in any of four columns.
# Each record says so at 36, after the lowest byte, which has the kind in 7 bits. The bounds at 188 of the metapage
# determine the length of a record.
sub deny_nulls
{
	my ($file) = @_;
	my $count = 0;
	open(my $handle, '+<:raw', $file) or die "open: $!";
	read($handle, my $meta, $page);
	my ($directory, $bounds) = unpack('x104 L x80 L', $meta);
	foreach ([ 0, 200 ], [ $directory, 64 ])
	{
		my ($block, $first) = @$_;
		next if $block >= (-s $file) / $page;
		seek($handle, $block * $page, 0);
		read($handle, my $bytes, $page);
		for (my $at = $first; $at < unpack('x12 S', $bytes); $at += 40 + 16 * $bounds)
		{
			next if (ord(substr($bytes, $at + 36, 1)) & 0x7f) != 0;
			substr($bytes, $at + 37, 1) = "\x0f";
			$count++;
		}
		seek($handle, $block * $page, 0);
		print $handle $bytes;
	}
	close($handle);
	ok($count > 0, "$file has entries of segments");
	return "NULLs of $count segments denied";
}

# Change the descriptors so that the first key column has lost images, while the directory says that no column has.
# RtscanColumnHeader, which begins with the flags, follows the descriptor's header, the extents of 8 bytes, and first
# rows of tidmap pages of 4 bytes.
sub lose_images
{
	my ($file) = @_;
	my $count = 0;
	open(my $handle, '+<:raw', $file) or die "open: $!";
	foreach my $number (1 .. (-s $file) / $page - 1)
	{
		seek($handle, $number * $page, 0);
		read($handle, my $bytes, $page);
		next unless page_kind($bytes) == $page_kinds{descriptor} && unpack('L', substr($bytes, $page - 56, 4)) == 0;
		my ($extents, $tidmap_pages) = unpack('x88 L x12 L', $bytes);
		my $at = 64 + 48 + 8 * $extents + 8 * int(($tidmap_pages + 1) / 2);
		my $flags = unpack('L', substr($bytes, $at, 4));
		die "impossible flags $flags on page $number" unless ($flags & ~0x1f) == 0 && ($flags & 0x14);
		next if $flags & 0x10;
		seek($handle, $number * $page + $at, 0);
		print $handle pack('L', $flags & ~0x04);
		$count++;
	}
	close($handle);
	ok($count > 0, "$file has descriptors");
	return "images of $count segments lost";
}

# Return a statement's error, its SQLSTATE with message and detail, or '' if it succeeded.
sub try_statement
{
	my ($statement) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n$statement", timeout => 60, timed_out => \my $late);
	return 'no end, and not to be cancelled' if $late;
	return '' if $err !~ /ERROR|FATAL|PANIC|closed the connection/;
	return $err =~ /(?:ERROR|FATAL|PANIC):\s+(.*(?:\nDETAIL:.*)?)/ ? $1 : $err;
}

sub alive
{
	return $node->psql('postgres', 'SELECT 1') == 0;
}

my $compare = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT compare_scans('NAME', 15); COMMIT";
my @statements = (
	[ check => "SELECT rtscan_check('NAME_idx', true)" ], [ stats => "SELECT rtscan_stats('NAME_idx')" ], [ queries => $compare ],
	[ insert => 'INSERT INTO NAME ' . rows(400_001, 402_500) ], [ delete => 'DELETE FROM NAME WHERE id % 3 = 0' ],
	[ vacuum => 'VACUUM NAME' ], [ drop => 'BEGIN; DROP INDEX NAME_idx; ROLLBACK' ],
	# rolled back, so that the damaged file remains the index's
	[ reindex => "BEGIN ISOLATION LEVEL REPEATABLE READ; REINDEX INDEX NAME_idx; SELECT compare_scans('NAME', 5); ROLLBACK" ]);

# Do everything that a user does with a table whose index is damaged. Returns false if the server did not survive.
sub use_table
{
	my ($name, $done, $seen) = @_;
	my %error;
	foreach my $statement (@statements)
	{
		my ($what, $text) = @$statement;
		my $error = $error{$what} = try_statement($text =~ s/NAME/$name/gr);
		$seen->{ $error eq '' ? 'fine' : $error =~ /^(\w{5}):/ ? $1 : 'other' }++;
		fail("$name ($done): $what takes too long") if $error =~ /57014/;
		return fail("$name ($done): $what: $error") if $error =~ /closed the connection|no end/;
	}
	ok($error{check} ne '' || $error{queries} !~ /MISMATCH/, "$name ($done): no wrong answer behind rtscan_check's back")
	  || diag($error{queries});
	like($error{check}, qr/the directory says that no row is NULL/, "$name ($done): rtscan_check() finds them") if $done =~ /denied/;
	like($error{check}, qr/the directory says that no image is lost/, "$name ($done): rtscan_check() finds it") if $done =~ /lost/;
	# REINDEX reads only the heap
	is($error{reindex}, '', "$name ($done): REINDEX repairs it");
	return 1;
}

my $end = time() + $seconds;
my %seen;
for (my $round = 0; $round < 7 || time() < $end; $round++)
{
	restore();
	my %done = map {
		my $file = $node->data_dir . '/' . $path{$_}[1];
		$_ =>
			$round > 6 ? spoil($file)
		  : $round == 6 ? lose_images($file)
		  : $round == 5 ? deny_nulls($file)
		  : $round == 4 ? widen_bounds($file)
		  : $round == 3 ? empty_named_pages($file)
		  : $round == 2 ? revive_rows($file)
		  : $round == 1 ? mislead_spare($file)
		  :               invalidate_tids($file, /vectors[13]/ ? 'tidmap' : 'pending')
	} @names;
	last unless ok($node->start(fail_ok => 1), 'the server starts');
	foreach my $name (@names)
	{
		last unless use_table($name, $done{$name}, \%seen);
	}
	last unless ok(alive(), 'the server lives');
	$node->stop;
}
note(join(', ', map { "$_: $seen{$_}" } sort keys %seen));
cmp_ok($seen{XX002} // 0, '>', 0, 'corruption was noticed');
unlike(slurp_file($node->logfile), qr/was terminated by signal|PANIC|TRAP:/, 'the server never crashed');
$node->stop('immediate');

done_testing();
