# Tests power failures in the middle of writes, after which some sectors of the index's pages are new and others old.
# The full-page images in WAL must repair all of them. Without such images the same damage is not repaired, which
# shows that it is real.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Test::More;

my $rounds = $ENV{RTSCAN_TORN_ROUNDS} // 3;
my ($page, $sector) = (8192, 512);
my @tables = qw(s t);

# Return the files of the indexes, by their paths in the data directory.
sub index_files
{
	my ($node) = @_;
	my %content;
	foreach my $path (split(/\n/, $node->safe_psql('postgres', join(' UNION ALL ', map { "SELECT pg_relation_filepath('${_}_idx')" } @tables))))
	{
		foreach my $file (map { $path . $_ } '', '_fsm')
		{
			$content{$file} = -e $node->data_dir . "/$file" ? slurp_file($node->data_dir . "/$file") : '';
		}
	}
	return \%content;
}

# Return a page as it may be after an interrupted write: the first sectors are new and the others old, or any of
# them.
sub torn_page
{
	my ($old, $new) = @_;
	my $first = 1 + int(rand($page / $sector - 1));
	my $any = rand() < 0.5;
	return join('', map { substr($_ < $first || ($any && rand() < 0.5) ? $new : $old, $_ * $sector, $sector) } 0 .. $page / $sector - 1);
}

# Put mixtures of old and new pages into a data directory. Returns how many pages are neither old nor new.
sub tear_files
{
	my ($directory, $old, $new) = @_;
	my $torn = 0;
	foreach my $file (sort keys %$new)
	{
		my @pages;
		foreach my $at (map { $_ * $page } 0 .. length($new->{$file}) / $page - 1)
		{
			my $before = $at < length($old->{$file}) ? substr($old->{$file}, $at, $page) : "\0" x $page;
			my $after = substr($new->{$file}, $at, $page);
			push @pages, torn_page($before, $after);
			$torn++ if $pages[-1] ne $before && $pages[-1] ne $after;
		}
		open(my $handle, '>:raw', "$directory/$file") or die "open: $!";
		print $handle @pages;
		close($handle) or die "close: $!";
	}
	return $torn;
}

# Make every kind of change to an index, without a checkpoint.
sub change
{
	my ($node, $name) = @_;
	$node->safe_psql('postgres', $_) foreach (
		"INSERT INTO $name " . rows(20_001, 24_000), "SELECT rtscan_merge('${name}_idx')",
		"DELETE FROM $name WHERE id % 5 = 0", "VACUUM $name", 'SELECT txid_current()', "VACUUM $name",
		"UPDATE $name SET a = 999 - a WHERE id % 7 = 0", "INSERT INTO $name " . rows(30_001, 31_000));
	return;
}

# Check that the indexes are right and stay so, and that no page is torn any more.
sub use_mended
{
	my ($node) = @_;
	healthy($node, $_, 'mended') foreach @tables;
	foreach my $name (@tables)
	{
		$node->safe_psql('postgres', "INSERT INTO $name " . rows(40_001, 43_000));
		vacuum_completely($node, $name);
		healthy($node, $name, 'mended, changed');
		is(page_use($node, $name)->{lost}, 0, 'no page is lost');
	}
	$node->stop;
	unlike(slurp_file($node->logfile), qr/page verification failed|PANIC|TRAP:/, 'no complaint');
	command_ok([ 'pg_checksums', '--check', '-D', $node->data_dir ], 'all checksums are right');
	return;
}

foreach my $images ('on', 'off')
{
	my $node = new_node("images_$images", "full_page_writes = $images\nrtscan.merge_worker = off\ncheckpoint_timeout = 1h\n"
		  . "max_wal_size = 8GB\n", extra => ['-k']);
	$node->start;
	create_tables($node, map { $_ => [ '', 20_000 ] } @tables);
	foreach my $name (@tables)
	{
		# dead bits, free pages, a pending list
		$node->safe_psql('postgres', $_) foreach ("INSERT INTO $name " . rows(19_001, 20_000), "DELETE FROM $name WHERE id % 11 = 0",
			"VACUUM $name", 'SELECT txid_current()', "VACUUM $name", "INSERT INTO $name " . rows(20_001, 20_100));
	}
	$node->safe_psql('postgres', 'CHECKPOINT');
	my $old = index_files($node);
	change($node, $_) foreach @tables;
	$node->stop('immediate');
	$node->backup_fs_cold('crashed');
	$node->start;
	healthy($node, $_, 'not torn') foreach @tables;
	$node->safe_psql('postgres', 'CHECKPOINT');
	my $new = index_files($node);
	$node->stop;

	foreach my $round (1 .. ($images eq 'on' ? $rounds : 1))
	{
		my $torn = PostgreSQL::Test::Cluster->new("torn_${images}_$round");
		$torn->init_from_backup($node, 'crashed');
		cmp_ok(tear_files($torn->data_dir, $old, $new), '>', 20, 'many pages are neither old nor new');
		my $started = $torn->start(fail_ok => 1);
		if ($images eq 'on')
		{
			ok($started, 'recovery mends torn pages') && use_mended($torn);
		}
		else
		{
			ok(!$started && slurp_file($torn->logfile) =~ /invalid page/, 'torn pages are not mended without images');
		}
	}
}

done_testing();
