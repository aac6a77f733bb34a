# Fills the disk during builds, flushes, merges and VACUUM, or when pages are freed: there must be a clean error, the
# index must be unchanged, and everything must work when there is space again. The disk is a small tmpfs with a
# tablespace, in a mount namespace of its own.

use strict;
use warnings;

# A namespace belongs to a process: the test runs itself again inside one, where it can mount without being root.
my $in_namespace;

BEGIN
{
	my @unshare = qw(unshare --user --map-current-user --keep-caps --mount);
	$in_namespace = $ENV{RTSCAN_TEST_NAMESPACE};
	if (!$in_namespace && system("@unshare true 2>/dev/null") == 0)
	{
		$ENV{RTSCAN_TEST_NAMESPACE} = 1;
		exec(@unshare, $^X, (map { "-I$_" } @INC), $0) or die "exec: $!";
	}
}

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Test::More;

my $disk = PostgreSQL::Test::Utils::tempdir();
my $ballast = "$disk/ballast";
if (!$in_namespace || system("mount -t tmpfs -o size=40m tmpfs $disk") != 0)
{
	plan skip_all => 'no mount namespace for a small disk';
}
mkdir("$disk/space") or die "mkdir: $!";

# Return the free bytes of the disk.
sub free_space
{
	my @fields = split(' ', (split(/\n/, `df -B1 $disk`))[1]);
	return $fields[3];
}

# Leave only that many bytes free on the disk.
sub leave_space
{
	my ($bytes) = @_;
	unlink($ballast);
	my $size = free_space() - $bytes;
	system("head -c $size /dev/zero > $ballast") == 0 or die 'cannot fill the disk';
	return;
}

sub make_space
{
	unlink($ballast) or die "unlink: $!";
	return;
}

my $full = qr/No space left on device|could not extend file/;
my $node = new_node('full', "maintenance_work_mem = 1MB\n");
$node->start;
create_tables($node, t => [ '', 1000 ]);
$node->safe_psql('postgres', "CREATE TABLESPACE small LOCATION '$disk/space'");
$node->safe_psql('postgres', 'CREATE TABLE big (LIKE t); INSERT INTO big ' . rows(1, 150_000));
my $build = 'CREATE INDEX big_idx ON big USING rtscan (a, b, c, (id::int8 * 7919 % 1000003)) TABLESPACE small';

# Return the error of a statement.
sub failing
{
	my ($statement) = @_;
	$node->psql('postgres', $statement, stderr => \my $err);
	return $err;
}

my $before = free_space();
foreach my $memory ('1MB', '64MB')
{
	$node->safe_psql('postgres', "ALTER SYSTEM SET maintenance_work_mem = '$memory'; SELECT pg_reload_conf()");
	$node->safe_psql('postgres', $build);
	my $size = $node->safe_psql('postgres', "SELECT pg_relation_size('big_idx')");
	$node->safe_psql('postgres', 'DROP INDEX big_idx; CHECKPOINT');
	foreach my $left (map { int($_ * $size) } 0, 0.05, 0.3, 0.6, 0.9)
	{
		leave_space($left);
		like(failing($build), $full, "build with $memory and $left bytes left");
		make_space();
		is($node->safe_psql('postgres', "SELECT count(*) FROM pg_class WHERE relname = 'big_idx'"), '0', 'there is no index');
		$node->safe_psql('postgres', 'CHECKPOINT');
		cmp_ok(free_space(), '>=', $before - 65536, 'its space is free again');
	}
}
$node->safe_psql('postgres', $build);
healthy($node, 'big', 'built after all');

# the heap is on another disk, so that only the index fails
my $next = 200_001;
foreach my $left (0, 20_000, 50_000, 150_000, 400_000)
{
	leave_space($left);
	my $failed = 0;
	foreach (1 .. 100)
	{
		$failed++ if failing('INSERT INTO big ' . rows($next, $next + 3999)) =~ $full;
		$next += 4000;
		last if $failed == 3;
	}
	cmp_ok($failed, '>', 0, "inserts failed with $left bytes left");
	compare_scans($node, 'big', "inserts with $left bytes left");
	failing("DELETE FROM big WHERE id % 41 = $left / 10000; VACUUM big") for 1 .. 2;
	healthy($node, 'big', "vacuum with $left bytes left");
	make_space();
	$node->safe_psql('postgres', 'INSERT INTO big ' . rows($next, $next + 3999));
	$next += 4000;
	$node->safe_psql('postgres', 'VACUUM big');
	healthy($node, 'big', "after $left bytes, with space again");
}

# merges, on demand and by VACUUM, keep the old segments
$node->safe_psql('postgres', "LOAD 'rtscan';\nALTER SYSTEM SET rtscan.merge_worker = off;\nSELECT pg_reload_conf()");
$node->safe_psql('postgres', 'DROP INDEX big_idx; CHECKPOINT');

sub segments
{
	return $node->safe_psql('postgres', "SELECT segments FROM rtscan_stats('big_idx')");
}

# Check that all free pages are in the free space map, and all others are needed.
sub nothing_lost
{
	my ($what) = @_;
	vacuum_completely($node, 'big');
	my $use = page_use($node, 'big');
	is("$use->{lost} lost, $use->{unproposed} free but not proposed", '0 lost, 0 free but not proposed', "$what: no page is lost");
	return;
}

# Create a new index without free pages, and insert rows until there are segments to merge.
sub new_index
{
	my ($insertions) = @_;
	$node->safe_psql('postgres', 'DROP INDEX IF EXISTS big_idx; TRUNCATE big; INSERT INTO big ' . rows(1, 3000) . "; $build; CHECKPOINT");
	$node->safe_psql('postgres', 'INSERT INTO big ' . rows(2000 * $_, 2000 * $_ + 1999)) for 2 .. $insertions;
	return;
}

foreach my $kind ('rtscan_merge', 'VACUUM')
{
	foreach my $left (100_000, 300_000)
	{
		# an old snapshot, so that no page of what was flushed can be reused
		my $reader = $node->background_psql('postgres');
		$reader->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
		new_index(24);
		my $size = $node->safe_psql('postgres', "SELECT pg_relation_size('big_idx')");
		leave_space($left);
		like(failing($kind eq 'VACUUM' ? 'VACUUM big' : "SELECT rtscan_merge('big_idx')"), $full, "$kind with $left bytes left");
		cmp_ok($node->safe_psql('postgres', "SELECT pg_relation_size('big_idx')"), '>', $size + $left / 2, 'in the middle of its writing');
		is($node->safe_psql('postgres', "SELECT pending FROM rtscan_stats('big_idx')"), '0', 'and not of its flush');
		healthy($node, 'big', "$kind with $left bytes left");
		make_space();
		$reader->query_safe('COMMIT');
		$reader->quit;
		cmp_ok(segments(), '>', 8, 'segments that were not merged are still there');
		$node->safe_psql('postgres', $kind eq 'VACUUM' ? 'VACUUM big' : "SELECT rtscan_merge('big_idx')");
		cmp_ok(segments(), '<=', 8, 'merged after all');
		healthy($node, 'big', "$kind, with space again");
		nothing_lost("$kind with $left bytes left");
	}
}

# pages are freed, and there is no space for a free space map
new_index(1);
$node->safe_psql('postgres', $_) foreach ('INSERT INTO big ' . rows(3001, 3100), "SELECT rtscan_merge('big_idx')", 'SELECT txid_current()');
leave_space(0);
like(failing("SELECT rtscan_merge('big_idx')"), $full, 'no space for the free space map');
healthy($node, 'big', 'without a free space map');
make_space();
nothing_lost('without a free space map');
healthy($node, 'big', 'with a free space map');

# VACUUM has dead rows to mark, and no space for that, or only for a part of it
foreach my $left (0, 8192)
{
	new_index(1);
	$node->safe_psql('postgres', 'DELETE FROM big WHERE id % 41 = 1');
	leave_space($left);
	like(failing('VACUUM big'), $full, "no space for dead bits with $left bytes left");
	healthy($node, 'big', "no space for dead bits with $left bytes left");
	make_space();
	nothing_lost("no space for dead bits with $left bytes left");
	healthy($node, 'big', "dead bits, with space again");
}
$node->safe_psql('postgres', 'INSERT INTO big ' . rows(10_001, 100_000));

# REINDEX keeps the old index
leave_space(300_000);
like(failing('REINDEX INDEX big_idx'), $full, 'reindex');
make_space();
healthy($node, 'big', 'after a failed REINDEX');

# a crash with a full disk
leave_space(100_000);
failing('INSERT INTO big ' . rows($next, $next + 20_000));
$node->stop('immediate');
make_space();
$node->start;
healthy($node, 'big', 'after a crash with a full disk');
unlike(slurp_file($node->logfile), qr/was terminated by signal|PANIC|TRAP:/, 'the server never crashed');
$node->stop;

done_testing();
