# Tests index builds with a device, which sorts and makes sieve vectors: the index's pages must be identical to those
# of the CPU's build. A build also leaves on the device what scans will need.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use DeviceTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Test::More;

need_device();

# To a build rays are nothing of their own: rtcudb has its BVHs.
@executors = grep { $_ ne 'rt' } @executors if @executors > 2;

my $node = device_node('build', "maintenance_work_mem = '64MB'\nwal_level = minimal\nmax_wal_senders = 0\n");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION rtscan');
wait_until('the device is there', sub { device_status($node) });

# Keys of all widths and signs, few values and many, NULLs at the ends and in between, a single value, in the heap's
# order, and by comparison.
$node->safe_psql('postgres', q{
	CREATE TABLE t AS SELECT
		(i::int8 * 7919 % 200003 - 100000)::int4 AS four, i::int8 * 1000003 % 99999999977 - 50000000000 AS eight,
		(i % 200 - 100)::int2 AS two, CASE WHEN i % 10 > 0 THEN (i % 1000)::float8 / 7 - 70 END AS real,
		CASE WHEN i > 5000 AND i < 190000 THEN i % 3 = 0 END AS flag, NULL::int4 AS none, 42 AS one, i AS ascending, -i AS descending,
		timestamptz '2001-01-01' + i * interval '77 s' AS at, 'text ' || i % 777 AS text
	FROM generate_series(1, 200000) AS i});

# Return the file of an index, without what differs from build to build: LSNs and checksums, and the build's own id
# on the metapage.
sub pages
{
	my ($index) = @_;
	my $path = $node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('$index')");
	my @pages = unpack('(a8192)*', slurp_file($path));
	substr($_, 0, 10, "\0" x 10) foreach @pages;
	substr($pages[0], 64 + 8, 16, '') if @pages;    # behind magic and format
	return \@pages;
}

# Return what a build writes, and what the device has done for it.
sub build
{
	my ($executor, $table, $columns, $options) = @_;
	my $before = device_status($node);
	$node->safe_psql('postgres', "SET rtscan.executor = $executor; DROP INDEX IF EXISTS i; "
		  . "CREATE INDEX i ON $table USING rtscan ($columns) WITH (" . ($options // 'sieve_bins = 256') . '); CHECKPOINT');
	my $after = device_status($node);
	return (pages('i'), { map { $_ => $after->{$_} - $before->{$_} } qw(sorts sieves columns bvhs) });
}

# Check that each executor writes what the CPU writes. Returns what each has done.
sub same_pages
{
	my ($what, @index) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($expected, $by_cpu) = build('cpu', @index);
	my %done;
	is_deeply($by_cpu, { sorts => 0, sieves => 0, columns => 0, bvhs => 0 }, "$what: the CPU builds alone");
	cmp_ok(scalar(@$expected), '>', 20, "$what: there are pages");
	foreach my $executor (@executors)
	{
		(my $pages, $done{$executor}) = build($executor, @index);
		my @different = grep { $pages->[$_] ne $expected->[$_] } 0 .. $#$expected;
		is(scalar(@$pages), scalar(@$expected), "$what, $executor: as many pages");
		is("@different", '', "$what, $executor: the same pages");
		$node->safe_psql('postgres', "SELECT rtscan_check('i', true)");
	}
	return %done;
}

foreach my $columns ('four', 'eight, two', 'real, flag, none', 'one, ascending, descending', 'at, text, four', 'text')
{
	my %done = same_pages($columns, 't', $columns);
	my $sorted = grep { !/text/ } split(/, /, $columns);
	my $sieved = grep { !/^(one|ascending|none|at)$/ } split(/, /, $columns);
	foreach my $executor (@executors)
	{
		my $by_device = $done{$executor};
		cmp_ok($by_device->{sorts}, '>', 0, "$columns, $executor: the device sorted") unless $columns =~ /none|^text$/;
		cmp_ok($by_device->{sieves}, '>=', $sieved, "$columns, $executor: the device made vectors");
		cmp_ok($by_device->{columns}, '>=', $sorted, "$columns, $executor: the columns are on the device");
		cmp_ok($by_device->{bvhs}, $executor eq 'rt' ? '>' : '==', 0, "$columns, $executor: BVHs");
	}
}

# Sieves of all kinds: a bin for NULLs alone, few bins, and as many as possible; fewer values than bins; no low
# vectors, no high vectors.
foreach my $options (
	'sieve_components = 1', 'sieve_bins = 2', 'sieve_bins = 3', 'sieve_bins = 2, sieve_components = 1',
	'sieve_bins = 17', 'sieve_bins = 1024', 'sieve_bins = 1024, sieve_components = 1')
{
	my %done = same_pages($options, 't', 'four, real, two, text', $options);
	cmp_ok($done{$_}->{sieves}, '>=', 4, "$options, $_: the device made vectors") foreach @executors;
}

# Segments that end with a chunk, or just before or after.
foreach my $rows (64511, 64512, 64513, 129024)
{
	$node->safe_psql('postgres', "CREATE TABLE t$rows AS SELECT * FROM t WHERE ascending <= $rows");
	my %done = same_pages("$rows rows", "t$rows", 'four, real, ascending, text');
	is($done{$_}->{sieves}, $rows < 64512 ? 0 : 3, "$rows rows, $_: who made vectors") foreach @executors;
}

# Vectors that do not fit into the area, and data that does not fit into the device's memory.
{
	$node->safe_psql('postgres', 'CREATE TABLE large AS SELECT i::int8 * 7919 % 700001 AS a FROM generate_series(1, 600000) AS i');
	my %done = same_pages('large', 'large', 'a', 'sieve_bins = 1024, sieve_components = 1');
	is("$done{$_}->{sorts} $done{$_}->{sieves}", '1 0', "large, $_: the CPU makes more vectors than the device may") foreach @executors;
	foreach my $fault ('no-build-memory', 'no-import')
	{
		my $offset = -s $node->logfile;
		configure($node, 'rtscan.device_fault' => $fault);
		$node->wait_for_log(qr/rtscan uses the device/, $offset);
		%done = same_pages($fault, 't', 'four, real, two');
		is("$done{$_}->{sorts} $done{$_}->{sieves}", $fault eq 'no-import' ? '3 3' : '0 0', "$fault, $_: who builds") foreach @executors;
	}
	configure($node, 'rtscan.device_fault' => undef);
	wait_until('the device is there again', sub { device_status($node) });
}

# A merge as well: its rows are in the order of one part after another.
foreach my $executor ('cpu', @executors)
{
	$node->safe_psql('postgres', "SET rtscan.executor = $executor; DROP INDEX IF EXISTS i; DROP TABLE IF EXISTS parts;
		CREATE TABLE parts (LIKE t); CREATE INDEX i ON parts USING rtscan (four, real, text)");
	$node->safe_psql('postgres', "SET rtscan.executor = $executor; INSERT INTO parts SELECT * FROM t WHERE ascending % 9 = $_") foreach 0 .. 8;
	my $before = device_status($node);
	$node->safe_psql('postgres', "SET maintenance_work_mem = '256MB'; SET rtscan.executor = $executor; VACUUM parts");
	my $after = device_status($node);
	cmp_ok($after->{$_} - $before->{$_}, $executor eq 'cpu' ? '==' : '>', 0, "$executor: who does a merge's $_") foreach qw(sorts sieves build_time);
	is($node->safe_psql('postgres', "SELECT rtscan_check('i', true); SELECT rows + pending FROM rtscan_stats('i')"), "\n200000", "$executor: the merge is right");
}

unlike(slurp_file($node->logfile), qr/WARNING: .*rtscan's device/, 'what the device made was right');
server_is_healthy($node, 'builds');
done_testing();
