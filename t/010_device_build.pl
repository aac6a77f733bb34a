# The device sorts what an index is built from: its pages are those of the CPU's build, to the byte. And a build leaves on
# the device what scans will need.

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

my $node = device_node('build', "maintenance_work_mem = '64MB'\nwal_level = minimal\nmax_wal_senders = 0\n");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION rtscan');
wait_until('the device is there', sub { device_status($node) });

# Keys of all widths and signs, few values and many, NULLs at the ends and in between, one value, in the heap's order, by
# comparison.
$node->safe_psql('postgres', q{
	CREATE TABLE t AS SELECT
		(i::int8 * 7919 % 200003 - 100000)::int4 AS four, i::int8 * 1000003 % 99999999977 - 50000000000 AS eight,
		(i % 200 - 100)::int2 AS two, CASE WHEN i % 10 > 0 THEN (i % 1000)::float8 / 7 - 70 END AS real,
		CASE WHEN i > 5000 AND i < 190000 THEN i % 3 = 0 END AS flag, NULL::int4 AS none, 42 AS one, i AS ascending, -i AS descending,
		timestamptz '2001-01-01' + i * interval '77 s' AS at, 'text ' || i % 777 AS text
	FROM generate_series(1, 200000) AS i});

# The file of an index, without what differs from build to build: LSNs and checksums, and the build's own id on the metapage.
sub pages
{
	my ($index) = @_;
	my $path = $node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('$index')");
	my @pages = unpack('(a8192)*', slurp_file($path));
	substr($_, 0, 10, "\0" x 10) foreach @pages;
	substr($pages[0], 64 + 8, 16, '') if @pages;    # behind magic and format
	return \@pages;
}

sub build
{
	my ($executor, $columns) = @_;
	my $before = device_status($node);
	$node->safe_psql('postgres', "SET rtscan.executor = $executor; DROP INDEX IF EXISTS i; CREATE INDEX i ON t USING rtscan ($columns); CHECKPOINT");
	my $after = device_status($node);
	return (pages('i'), { map { $_ => $after->{$_} - $before->{$_} } qw(sorts columns bvhs) });
}

foreach my $columns ('four', 'eight, two', 'real, flag, none', 'one, ascending, descending', 'at, text, four')
{
	my ($expected, $by_cpu) = build('cpu', $columns);
	is_deeply($by_cpu, { sorts => 0, columns => 0, bvhs => 0 }, "$columns: the CPU builds alone");
	cmp_ok(scalar(@$expected), '>', 50, "$columns: there are pages");
	foreach my $executor (@executors)
	{
		my ($pages, $by_device) = build($executor, $columns);
		my @different = grep { $pages->[$_] ne $expected->[$_] } 0 .. $#$expected;
		is(scalar(@$pages), scalar(@$expected), "$columns, $executor: as many pages");
		is("@different", '', "$columns, $executor: the same pages");
		my $keys = grep { !/text/ } split(/, /, $columns);
		cmp_ok($by_device->{sorts}, '>', 0, "$columns, $executor: the device sorted") unless $columns =~ /none/;
		cmp_ok($by_device->{columns}, '>=', $keys, "$columns, $executor: the columns are on the device");
		cmp_ok($by_device->{bvhs}, $executor eq 'rt' ? '>' : '==', 0, "$columns, $executor: BVHs");
		$node->safe_psql('postgres', "SELECT rtscan_check('i', true)");
	}
}

# A merge, too: rows in the order of one build and of another's parts.
foreach my $executor ('cpu', @executors)
{
	$node->safe_psql('postgres', "SET rtscan.executor = $executor; DROP INDEX IF EXISTS i; DROP TABLE IF EXISTS parts;
		CREATE TABLE parts (LIKE t); CREATE INDEX i ON parts USING rtscan (four, real, text)");
	$node->safe_psql('postgres', "SET rtscan.executor = $executor; INSERT INTO parts SELECT * FROM t WHERE ascending % 9 = $_") foreach 0 .. 8;
	my $before = device_status($node);
	$node->safe_psql('postgres', "SET maintenance_work_mem = '256MB'; SET rtscan.executor = $executor; VACUUM parts");
	my $sorts = device_status($node)->{sorts} - $before->{sorts};
	cmp_ok($sorts, $executor eq 'cpu' ? '==' : '>', 0, "$executor: who sorts a merge");
	is($node->safe_psql('postgres', "SELECT rtscan_check('i', true); SELECT rows + pending FROM rtscan_stats('i')"), "\n200000", "$executor: the merge is right");
}

server_is_healthy($node, 'builds');
done_testing();
