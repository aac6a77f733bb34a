# Tests values that a device counts for percentiles, and FILTER, conditions that the index does not look up, and
# DISTINCT, which use its aggregates: results must be right before and after changes, and without the device.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use DeviceTest qw(:DEFAULT :compare);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtscanTest;
use Test::More;

need_device();

# What rt finds is counted like what compute finds.
@executors = grep { $_ ne 'rt' } @executors if @executors > 2;

my $node = device_node('entries', "autovacuum = off\nmax_parallel_workers_per_gather = 0\nwork_mem = 64MB\n");
$node->start;
create_big($node);
$node->safe_psql('postgres', <<'SQL');
-- several segments; wide, moment and small have more bits than bins have, apart has few values far from each other, ends all there are
CREATE TABLE fact AS SELECT hashint4(i) AS a, abs(hashint4(i + 5)) % 1000 AS b, hashint8(i) * 1000003::bigint AS wide,
	timestamptz '2021-01-01 00:00+00' + abs(hashint4(i)) % 100000000 * interval '1 second' AS moment,
	nullif((abs(hashint4(i + 3)) % 30000 - 15000)::int2, 77) AS small, (i % 3 - 1) * 4000000000000000000::bigint AS apart, date '2020-01-01' + i % 900 AS day,
	CASE WHEN i % 70000 = 1 THEN 'infinity' WHEN i % 70000 = 2 THEN '-infinity' ELSE timestamp '2000-01-01' + i * interval '7 minutes' END AS ends,
	CASE WHEN i < 5 THEN i END AS nulls, 42 AS same, nullif('tag ' || abs(hashint4(i + 9)) % 7, 'tag 5') AS tag, i % 11 = 0 AS yes, nullif(i % 60, 3) AS v,
	(i % 40 / 4.0)::numeric(5, 2) AS price, (i % 31) / 8.0::float8 AS f, abs(hashint4(i + 1)) % 400 AS id
FROM generate_series(1, 210000) AS i;
SET maintenance_work_mem = '180MB'; SET rtscan.debug_segment_rows = 4193280; SET max_parallel_maintenance_workers = 0;
CREATE INDEX fact_idx ON fact USING rtscan (a, b, wide, moment, small, apart, day, ends, nulls, same, id) INCLUDE (tag, yes, v, price, f);
CREATE TABLE shop AS SELECT i AS id, 'town ' || i % 9 AS town, i % 4 AS kind FROM generate_series(0, 390) AS i;
ALTER TABLE shop ADD PRIMARY KEY (id);
VACUUM ANALYZE;
SQL
comes_back($node, $_, 'first use') foreach @executors;
compare($node, 'SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_nestloop = off; ');

my $where = 'FROM fact WHERE b < 900';
my @counted = (
	"SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY a) $where", "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a) $where AND a > -1000000000",
	"SELECT percentile_cont(0.999) WITHIN GROUP (ORDER BY b DESC) $where", "SELECT percentile_disc(ARRAY[0, 0.25, 0.5, 0.75, 1]) WITHIN GROUP (ORDER BY wide) $where",
	"SELECT percentile_disc(ARRAY[[0.9, 0.1], [0.5, NULL]]) WITHIN GROUP (ORDER BY moment DESC) $where", "SELECT percentile_disc(0) WITHIN GROUP (ORDER BY small) $where",
	"SELECT percentile_disc(1) WITHIN GROUP (ORDER BY small) $where", "SELECT percentile_cont(ARRAY[0.01, 0.02]) WITHIN GROUP (ORDER BY small) FROM fact",
	"SELECT percentile_disc(ARRAY[0.1, 0.4, 0.8]) WITHIN GROUP (ORDER BY apart) $where", "SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY day) $where AND day > '2020-03-01'",
	'SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY nulls) FROM fact', "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY same) $where",
	"SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY wide) FROM fact WHERE b = 7", "SELECT percentile_disc(0.7) WITHIN GROUP (ORDER BY a) FROM fact WHERE b < 5 OR day < '2020-02-01'",
	"SELECT percentile_disc(0.7) WITHIN GROUP (ORDER BY a) FROM fact WHERE v = 7 AND tag >= 'tag 3'");
my @by_entries = (
	"SELECT count(*) FILTER (WHERE b < 500), sum(wide) FILTER (WHERE tag = 'tag 3' AND v > 10), sum(a) $where",
	"SELECT count(*) FILTER (WHERE tag IS NULL), max(price) FILTER (WHERE tag LIKE '%4'), min(moment) FILTER (WHERE v IS NULL OR yes), avg(v) FILTER (WHERE NOT yes) $where",
	"SELECT tag, count(*) FILTER (WHERE v < 5), sum(price) FILTER (WHERE yes), count(v) $where GROUP BY tag",
	"SELECT v % 7, count(*) FILTER (WHERE upper(tag) = 'TAG 1'), sum(b * v) FILTER (WHERE v > 30), count(*) FILTER (WHERE false) $where GROUP BY 1",
	"SELECT count(DISTINCT v), sum(DISTINCT v), count(DISTINCT price), avg(DISTINCT price), count(DISTINCT b), count(*) $where",
	"SELECT tag, count(DISTINCT v) FILTER (WHERE yes), sum(DISTINCT v % 7), count(DISTINCT day), sum(a) $where GROUP BY tag",
	"SELECT yes, count(DISTINCT f), max(DISTINCT v), count(DISTINCT yes::int) $where GROUP BY yes",
	"SELECT count(*), sum(a) $where AND v % 7 = 3 AND lower(tag) <> 'tag 2'", "SELECT tag, sum(price), count(*) $where AND v + b % 3 > 40 GROUP BY tag",
	"SELECT tag, count(*) $where AND length(tag) > 100 GROUP BY tag", "SELECT count(*), max(a) $where AND length(tag) > 100",
	"SELECT count(DISTINCT v) FILTER (WHERE v > 100), count(DISTINCT nulls) $where",
	"SELECT tag, yes, count(*) FILTER (WHERE v > 20), GROUPING(tag, yes) $where GROUP BY GROUPING SETS ((tag), (yes), ())",
	"SELECT sum(CASE WHEN tag = 'tag 1' THEN 1 ELSE 0 END), count(CASE WHEN v > 20 THEN 1 END), max(v % 7), min(CASE WHEN yes THEN date '2020-03-04' ELSE 'infinity' END) $where",
	"SELECT tag, sum(v % 7), avg(CASE WHEN v < 20 THEN 1.50 WHEN v < 40 THEN 0.125 ELSE 3 END), count(nullif(v % 5, 3)), max(v::numeric / 8), sum(price) $where GROUP BY tag",
	"SELECT sum(CASE WHEN v = 7 THEN 'NaN' WHEN yes THEN 1 ELSE 2.5::numeric END), sum(CASE WHEN v < 0 THEN 1 END), sum(v / 3::numeric), avg(v / 7::numeric), max(v / 9.0) $where",
	"SELECT yes, sum(date_part('month', day)::int), sum(CASE WHEN v > 30 THEN 1 ELSE 0 END) FILTER (WHERE tag > 'tag 2'), sum(9223372036854775807 - v) $where GROUP BY yes",
	'SELECT sum(kind), avg(kind * 1.5), max(kind - v % 4), count(town), min(length(town)) FROM fact JOIN shop USING (id)',
	'SELECT tag, sum(CASE WHEN kind = 2 AND yes THEN v ELSE 0 END), sum(a) FROM fact LEFT JOIN shop ON fact.id = shop.id AND kind > 0 GROUP BY tag',
	"SELECT sum(CASE WHEN tag = 'tag 1' THEN wide ELSE 0 END), avg(CASE v WHEN 7 THEN a WHEN 8 THEN -b END), sum(CASE WHEN yes THEN a * v::int8 WHEN v > 50 THEN a ELSE 7 END) $where",
	"SELECT tag, sum(CASE WHEN v < 20 THEN price * 1.10 WHEN yes THEN small ELSE 0.125 END), avg(CASE WHEN v > 100 THEN wide END), sum(CASE WHEN v > 30 THEN small END) FILTER (WHERE yes) $where GROUP BY tag",
	"SELECT yes, sum(CASE WHEN 10 / v > 1 THEN small ELSE 0 END) FILTER (WHERE v <> 0), sum(CASE WHEN CASE v WHEN 7 THEN yes END THEN a ELSE b END) $where GROUP BY yes",
	"SELECT sum(CASE WHEN town LIKE '%3' THEN a ELSE 0 END), sum(CASE kind WHEN 1 THEN b WHEN 2 THEN a END), sum(CASE WHEN town > tag THEN wide ELSE 0 END) FROM fact LEFT JOIN shop ON fact.id = shop.id",
	'SELECT town, count(*) FILTER (WHERE kind = 2), sum(a) FILTER (WHERE yes) FROM fact JOIN shop USING (id) GROUP BY town',
	'SELECT count(*) FILTER (WHERE town > tag), count(DISTINCT kind), sum(b) FROM fact LEFT JOIN shop ON fact.id = shop.id AND kind > 0 WHERE v < 50',
	'SELECT kind, sum(a) FROM fact JOIN shop USING (id) WHERE kind > v % 3 GROUP BY kind',
	'SELECT count(*), sum(v) FROM fact JOIN shop USING (id) WHERE town = \'town 3\' AND substr(town, 6) < substr(tag, 5)');
my @by_steps = (
	"SELECT count(*) FILTER (WHERE a < 1000000), count(*) FILTER (WHERE a >= 1000000 AND a < 2000000000), sum(v) FILTER (WHERE a > 5 AND wide <> 7) $where",
	"SELECT tag, count(*) FILTER (WHERE wide > 0), sum(a) FILTER (WHERE wide BETWEEN -1e18::int8 AND 1e18::int8), min(small) FILTER (WHERE moment >= '2022-01-01') $where GROUP BY tag",
	"SELECT sum(CASE WHEN a < 0 THEN 1 ELSE 0 END), count(CASE WHEN wide > 7 AND small <= 100 THEN 1 END), sum(CASE WHEN moment >= '2022-01-01' THEN v END) $where",
	"SELECT count(*) FILTER (WHERE small = 5), count(*) FILTER (WHERE small <> 5), count(*) FILTER (WHERE small IS NULL), count(*) FILTER (WHERE NOT small > 100) $where",
	"SELECT count(*) FILTER (WHERE 30000 < small), count(*) FILTER (WHERE small < 100000), count(*) FILTER (WHERE small > 10::int8 OR yes) $where",
	"SELECT count(*) FILTER (WHERE price > 3.333), count(*) FILTER (WHERE price <= 3.25 AND a > 0), sum(price) FILTER (WHERE price = 7.5) $where",
	"SELECT count(*) FILTER (WHERE day < date '2021-01-01'), max(a) FILTER (WHERE day = '2020-06-07'), count(*) FILTER (WHERE day > NULL::date) $where",
	"SELECT sum(CASE WHEN a > 1000 THEN a WHEN a < -1000000 THEN -a::int8 ELSE wide END), avg(CASE WHEN small > 5 AND wide < 0 THEN small ELSE 0 END) $where",
	"SELECT v, sum(wide) FILTER (WHERE a > 0 AND small IN (3)), avg(small) FILTER (WHERE apart > -1 OR a < -2000000000) $where GROUP BY v",
	"SELECT sum(v * small) FILTER (WHERE small > 0), sum(a) FILTER (WHERE small > 10000) $where AND v < 10",
	'SELECT town, count(*) FILTER (WHERE a > 0 AND kind = 2), count(*) FILTER (WHERE a < -1000000000) FROM fact JOIN shop USING (id) GROUP BY town');
push @by_entries, @by_steps;
my %not_aggregated = (
	'a condition, DISTINCT or expression on a column with too many different values' =>
	  "SELECT count(*) FILTER (WHERE a < 7 * b), count(DISTINCT small), sum(CASE WHEN yes THEN a::int8 ELSE 0 END) $where",
	'an aggregate, expression or join that needs each row' => "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY a) FILTER (WHERE v > 3) $where");

sub all_right
{
	my ($what, $settings, $every) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my @all = (@counted, @by_entries, values %not_aggregated);
	are_right($what, $_, $settings, map { $all[$_] } grep { $_ % ($every // 1) == 0 } 0 .. $#all) foreach @executors;
	return;
}

# ---------------------------------------------------------------- all rows are all-visible

all_right('vacuumed');
foreach my $executor (@executors)
{
	foreach my $query (@counted, @by_entries)
	{
		my $told = explained($executor, $query, 'SET rtscan.fallback = off; ');
		is($told->{'Not Aggregated by Device'}, undef, "$executor: all of it is aggregated by the device: $query");
		my ($from) = $query =~ /(FROM .*?)(?: GROUP BY|$)/;
		my $rows = right("SELECT count(*) $from");
		cmp_ok($told->{'Rows Aggregated by Device'} // 0, '>=', $rows, "$executor: all of its rows: $query");
	}
	foreach my $why (sort keys %not_aggregated)
	{
		is(explained($executor, $not_aggregated{$why})->{'Not Aggregated by Device'}, $why, "$executor: not aggregated by the device: $why");
		like(answered($executor, $not_aggregated{$why}, 'SET rtscan.fallback = off; '), qr/An aggregate has a FILTER, which only the CPU evaluates/, "$executor: nor without the CPU: $why");
	}
	# infinities are all bits apart
	my $ends = "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY ends) $where";
	is(explained($executor, $ends)->{'Not Aggregated by Device'}, 'values that are not stored as integers', "$executor: no bins of all there are");
	is(answered($executor, $ends), right($ends), "$executor: but right");
	# an expression fails only for rows that exist
	like(answered($executor, "SELECT count(*) FILTER (WHERE 1 / (v - 5) > 0) $where"), qr/division by zero/, "$executor: what fails for a row fails");
	my $never = "SELECT count(*) FILTER (WHERE 1 / (v - 5) >= 0), sum(a) $where AND v <> 5";
	is(answered($executor, $never), right($never), "$executor: what would fail for no row does not");
}

# ---------------------------------------------------------------- parameters

my $asked = "SELECT tag, sum(v * %s), avg(price + %s), count(*) FILTER (WHERE small > %s), count(*) FILTER (WHERE a < %s AND wide <> %s) $where GROUP BY tag";
my $prepare = 'SET plan_cache_mode = force_generic_plan; PREPARE q (int, numeric, int2, int, int8) AS ' . sprintf($asked, map { "\$$_" } 1 .. 5) . '; ';
foreach my $values ([ 3, 0.25, -7, 1000000, 5 ], [ -1, 1000, 15000, 0, -1 ], [ 'NULL', 1, 'NULL', 7, 'NULL' ], [ 2, "'NaN'", 7, 'NULL', 0 ])
{
	my $right = right(sprintf($asked, map { $$values[$_] . '::' . qw(int numeric int2 int int8)[$_] } 0 .. 4));
	my $execute = 'EXECUTE q (' . join(', ', @$values) . ')';
	foreach my $executor (@executors)
	{
		is(answered($executor, $execute, $prepare), $right, "$executor: $execute");
		is(explained($executor, $execute, $prepare)->{'Not Aggregated by Device'}, "@$values[0, 1]" =~ /N/ ? 'an aggregate, expression or join that needs each row' : undef, "$executor: aggregated by the device: $execute");
	}
}
my $around = "SELECT n, of_n.* FROM generate_series(-2, 2) AS n, LATERAL (SELECT sum(v * n), count(*) FILTER (WHERE small > n * 7000) $where) AS of_n";
is(answered($_, $around), right($around), "$_: of the query around") foreach @executors;
my $subquery = "SELECT count(*) FILTER (WHERE a > (SELECT avg(id)::int FROM shop)), sum(a) $where";
my $guarded = "SELECT count(*) FILTER (WHERE \$1 <> 0 AND small > 100 / \$1), sum(a) $where";
foreach my $executor (@executors)
{
	my $plan = 'SET plan_cache_mode = force_generic_plan; PREPARE q (int) AS ';
	is(answered($executor, 'EXECUTE q (0)', $plan . $guarded . '; '), right($guarded =~ s/\$1/0/gr =~ s{100 / 0}{1}r), "$executor: what is guarded does not fail");
	is(answered($executor, 'EXECUTE q (7)', $plan . $guarded . '; '), right($guarded =~ s/\$1/7/gr), "$executor: nor is it another");
}
my $failing = 'SELECT count(*) FILTER (WHERE a > (SELECT 1 / (count(*) - 391) FROM shop)) FROM fact WHERE a = hashint4(1) AND b = ';
my $of_no_row = $failing . 'abs(hashint4(7)) % 1000';
foreach my $executor (@executors)
{
	is(answered($executor, $subquery), right($subquery), "$executor: compared with what a subquery returns");
	is(answered($executor, $of_no_row), right($of_no_row), "$executor: which is not executed for no row");
	like(answered($executor, $failing . 'abs(hashint4(6)) % 1000'), qr/division by zero/, "$executor: but for one");
}

# ---------------------------------------------------------------- groups that do not fit

foreach my $query ("SELECT b, v, count(*) FILTER (WHERE yes), count(DISTINCT price) $where GROUP BY b, v", "SELECT day, count(DISTINCT v), sum(DISTINCT b) $where GROUP BY day")
{
	my $small = "SET work_mem = '64kB'; SET hash_mem_multiplier = 1; ";
	is(answered($_, $query, $small), right($query), "$_: spilled: $query") foreach @executors;
}

# ---------------------------------------------------------------- the full range of a type, in segments with few
# bits and with many

change('CREATE TABLE far (x bigint, y bigint)');
change('INSERT INTO far SELECT -9223372036854775807 + i * 65000000000000, CASE WHEN i % 2 = 0 THEN 0 ELSE 1099511627781 END FROM generate_series(1::bigint, 70000) AS i');
change('INSERT INTO far VALUES (9223372036854775806, 5)');
change("SET maintenance_work_mem = '64MB'; SET rtscan.debug_segment_rows = 4193280; SET max_parallel_maintenance_workers = 0; CREATE INDEX far_idx ON far USING rtscan (x, y)");
change('INSERT INTO far SELECT i % 1000 + 1, CASE WHEN i % 2 = 0 THEN 0 ELSE 1099511627781 END FROM generate_series(1, 140000) AS i');
change('VACUUM ANALYZE far');
foreach my $query ((map { "SELECT percentile_disc($_) WITHIN GROUP (ORDER BY x) FROM far" } 0.1, 0.5, 0.9, 1), (map { "SELECT percentile_disc($_) WITHIN GROUP (ORDER BY y) FROM far" } 0.1, 0.5, 0.6))
{
	is(answered($_, $query), right($query), "$_: $query") foreach @executors;
}

# ---------------------------------------------------------------- rows that some snapshots do not see, and values
# outside of all bins

change('UPDATE fact SET v = v + 1 WHERE b < 30; DELETE FROM fact WHERE day = \'2020-01-07\'; '
	  . 'INSERT INTO fact (a, b, wide, moment, small, v, tag) SELECT 2147483647 - i, i, 9223372036854775000 - i, timestamptz \'2030-01-01 00:00+00\' + i * interval \'1 s\', -32000, i % 70, \'new\' FROM generate_series(1, 500) AS i');
all_right('changed');
change('VACUUM fact');
all_right('vacuumed again', undef, 3);
change('DELETE FROM fact WHERE b % 3 = 0');
all_right('deleted', undef, 3);

# ---------------------------------------------------------------- faults

under_faults($node, sub { all_right($_[0], undef, 4); }, 'no-import', 'no-scratch-memory', 'no-upload-memory', map { "lost-after=$_" } 2, 3, 4, 9, 30);
server_is_healthy($node, 'device_entries');

done_testing();
