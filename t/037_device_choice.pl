# Tests the choice of "auto" if rays seem to be fast: BVHs that rays need are built when they have been missing for
# long enough, one after another while other queries are answered; and "auto" no longer uses rays for a group of
# columns in which they prove slow.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use DeviceTest qw(:DEFAULT :compare);
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Test::More;

need_device();
plan skip_all => 'it is about the executor rt' unless grep { $_ eq 'rt' } @executors;

my $node = device_node('choice', "autovacuum = off\nmax_parallel_workers_per_gather = 0\nrtscan.device_fault = 'fast-rays'\n");
$node->start;
create_big($node);
$node->safe_psql('postgres', <<'SQL');
-- of several segments, whose columns are in no order; and of one
CREATE TABLE fact AS SELECT hashint4(i) AS a, hashint4(i + 7) AS b, hashint4(i + 13) AS c, i % 100 AS v FROM generate_series(1, 700000) AS i;
CREATE TABLE one AS SELECT hashint4(i) AS a, hashint4(i + 7) AS b, hashint4(i + 13) AS c, i % 100 AS v FROM generate_series(1, 1000000) AS i;
SET max_parallel_maintenance_workers = 0;
SET maintenance_work_mem = '64MB'; SET rtscan.debug_segment_rows = 193536; CREATE INDEX fact_idx ON fact USING rtscan (a, b, c) INCLUDE (v);
SET maintenance_work_mem = '280MB'; SET rtscan.debug_segment_rows = 4193280; CREATE INDEX one_idx ON one USING rtscan (a, b, c) INCLUDE (v);
VACUUM ANALYZE fact, one;
SQL
compare($node, 'SET enable_seqscan = off; SET enable_bitmapscan = off; SET rtscan.debug_compare_executors = off; ');

# Ranges of a column that fall between the boundaries of bins, so many that the CPU takes longer than sending a
# request to the device.
sub ranges
{
	my ($column, $n) = @_;
	return '(' . join(' OR ', map { my $low = -2_000_000_000 + $_ * 70_000_000; "$column BETWEEN $low AND " . ($low + 41_234_567) } 0 .. $n - 1) . ')';
}

sub bvhs { return device_status($node)->{bvhs} }

# ---------------------------------------------------------------- a group of columns

comes_back($node, 'compute', 'first use');
# once rays have been traced, the time of a request to the device is known
my $of_group = 'SELECT count(*) FROM one WHERE ' . ranges('a', 50) . ' AND b < 1700000000';
my $right_of_group = right($of_group);
# the columns are on the device: only BVHs are missing
is(answered('compute', $of_group), $right_of_group, 'compute');
my ($before, $rounds) = (bvhs(), 0);
my $by = explained('auto', $of_group)->{Executor};
is($by, 'compute', 'BVHs are not built for one query');
is(bvhs(), $before, 'there is none');
while (bvhs() == $before && $rounds++ < 300)
{
	is(answered('auto', $of_group), $right_of_group, 'right without');
}
is(bvhs(), $before + 1, 'but for several queries');
$rounds = 0;
do
{
	$by = explained('auto', $of_group)->{Executor};
} while ($by eq 'rt' && $rounds++ < 50);
isnt($by, 'rt', 'rays are slower there than was thought');
is(answered('auto', $of_group), $right_of_group, 'right after that');
is(answered('rt', $of_group), $right_of_group, 'and by them');
is(answered('rt', $of_group =~ s/count\(\*\)/sum(v)/r), right($of_group =~ s/count\(\*\)/sum(v)/r), 'and added up');

# ---------------------------------------------------------------- one after another

my $query = 'SELECT count(*) FROM fact WHERE ' . join(' OR ', map { '(' . join(' AND ', map { ranges($_, 3) } split(//)) . ')' } qw(ab bc ac));
my $short = 'SELECT count(*) FROM one WHERE a > 12345';
my $needed = 3 * $node->safe_psql('postgres', "SELECT segments FROM rtscan_stats('fact_idx')");
cmp_ok($needed, '>=', 9, 'there are several segments');
my ($right, $of_short) = (right($query), right($short));
is(answered('compute', $query), $right, 'compute: the columns are on the device');
is(answered('compute', $short), $of_short, 'compute: those of other queries, too');
$before = bvhs();
my ($stdout, $stderr) = ('', '');
my $asks = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', 'SET enable_seqscan = off; SET rtscan.debug_compare_executors = off; SET rtscan.executor = rt',
		'-c', $query ], '>', \$stdout, '2>', \$stderr);
wait_until('the first BVH is built', sub { bvhs() > $before });
is(answered('compute', $short), $of_short, 'others are answered while BVHs are built');
cmp_ok(bvhs(), '<', $before + $needed, 'and before all of them are');
ok($asks->finish, 'rt answers');
is($stdout, "$right\n", 'rt is right');
is($stderr, '', 'and does not complain');
is(bvhs(), $before + $needed, 'each group of each segment has a BVH');

# ---------------------------------------------------------------- rows that are tested in vain

# Two columns that are independent according to the statistics. But where a is more than 12345 b is hardly ever
# small, except in the next few rows, and in those at the end; and where a is NULL it never is.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE vain AS SELECT CASE WHEN i % 500 > 0 THEN a END AS a, CASE WHEN i % 500 = 0 THEN 5
  WHEN i % 100000 = 1 OR a BETWEEN 12345 AND 33820 OR a > 2000000000 THEN -7 ELSE sign(a)::int * abs(hashint4(i + 7) / 2) END AS b, i % 7 AS v
  FROM generate_series(1, 1000000) AS i, hashint4(i) AS a;
SET max_parallel_maintenance_workers = 0; SET rtscan.executor = cpu;
SET maintenance_work_mem = '64MB'; SET rtscan.debug_segment_rows = 700000; CREATE INDEX vain_idx ON vain USING rtscan (a, b) INCLUDE (v);
VACUUM ANALYZE vain;
SQL
cmp_ok($node->safe_psql('postgres', "SELECT segments FROM rtscan_stats('vain_idx')"), '>', 1, 'of several segments');
my $small = $node->safe_psql('postgres', 'SELECT count(*) FROM vain WHERE a BETWEEN 12345 AND 33820');
ok($small > 1 && $small < 15, "$small rows pass first");
my $one = $node->safe_psql('postgres', 'SELECT min(a) FROM vain WHERE a > 4000000');
my $compared = 'SET enable_seqscan = off; SET rtscan.executor = auto; SET rtscan.debug_compare_executors = on;';
my @in_vain = (
	# many rows remain, which are read in order, or few, which are sorted; and some may be skipped first
	'a > 3000000 AND b < -5 ORDER BY a LIMIT 15', 'a > 12345 AND b < -5 ORDER BY a LIMIT 15',
	'a > 12345 AND a < 1900000000 AND b < -5 ORDER BY a LIMIT 15', 'a > 12345 AND a < 1900000000 AND b < -5 ORDER BY a DESC LIMIT 15',
	"a <> $one AND a > 3000000 AND b < -5 ORDER BY a LIMIT 12", 'b < -5 ORDER BY a DESC LIMIT 10', 'b < -5 ORDER BY a NULLS FIRST LIMIT 10');
foreach my $device ('columns not there', 'columns there')
{
	$node->safe_psql('postgres', "SET rtscan.executor = compute; SELECT rtscan_prewarm('vain_idx')") if $device eq 'columns there';
	foreach my $few (map { "SELECT a, b, v FROM vain WHERE $_" } @in_vain)
	{
		my $right_few = $node->safe_psql('postgres', 'SET rtscan.executor = cpu; ' . $few =~ s/\b([ab]) (<|>|<>) /$1 + 0 $2 /gr);
		isnt($right_few, '', 'there are some');
		# with comparison, a device is used however slow it is
		is($node->safe_psql('postgres', "$compared $few"), $right_few, "$device, compared: $few");
		is($node->safe_psql('postgres', "$compared SET rtscan.debug_compare_executors = off; $few"), $right_few, "$device, auto: $few");
		next if $device eq 'columns not there';
		like($node->safe_psql('postgres', "$compared EXPLAIN (ANALYZE, COSTS off) $few"), qr/Order: a.*Executor: compute/s, "a device has the rest: $few");
	}
}
like($node->safe_psql('postgres', "$compared EXPLAIN (ANALYZE, COSTS off) SELECT a, b, v FROM vain WHERE a > 12345 AND b > 5 ORDER BY a LIMIT 10"),
	qr/Executor: cpu/, 'not in vain');

# ---------------------------------------------------------------- more than fits into memory, for two sessions at a
# time

my $used = device_status($node)->{memory_used};
configure($node, 'rtscan.device_memory' => int($used / 1024 * 0.8) . 'kB');
comes_back($node, 'compute', 'less memory');
my @both = map { "SELECT count(*) FROM fact WHERE a > 12345 AND $_ < 100000000" } qw(b c);
my @rights = map { right($_) } @both;
my @all = map {
	my %of = (stdout => '', stderr => '');
	$of{run} = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', 'SET enable_seqscan = off; SET rtscan.debug_compare_executors = off; SET rtscan.executor = rt',
			map { ('-c', $_) } ($_) x 5 ], '>', \$of{stdout}, '2>', \$of{stderr});
	\%of
} @both;
foreach my $i (0 .. $#both)
{
	ok($all[$i]{run}->finish, "little memory: there is an answer: $both[$i]");
	is($all[$i]{stdout}, "$rights[$i]\n" x 5, "little memory: right: $both[$i]");
}
server_is_healthy($node);

done_testing();
