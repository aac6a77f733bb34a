# Tests conditions that a device evaluates on rows: on INCLUDE columns, with long lists, and by dimensions of stars,
# whose columns are groups of its aggregates. Results must be right for every type with integers or codes, before
# and after changes, and without the device.

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

# What rt finds is tested like what compute finds.
@executors = grep { $_ ne 'rt' } @executors if @executors > 2;

my $node = device_node('device_tests', "autovacuum = off\nmax_parallel_workers_per_gather = 0\nwork_mem = 64MB\n");
$node->start;
create_big($node);
$node->safe_psql('postgres', <<'SQL');
-- c repeats, so that it is coded; p hardly does; d is in heap order; k8 and day are of other types than their dimensions' keys
CREATE TABLE fact AS SELECT abs(hashint4(i)) % 5000 AS c, abs(hashint4(i + 7)) % 1000003 AS p, i / 100 AS d, (abs(hashint4(i)) % 900)::int8 AS k8,
	date '2020-01-01' + abs(hashint4(i)) % 700 AS day, nullif(abs(hashint4(i + 3)) % 50, 17) AS q, 'text ' || abs(hashint4(i)) % 300 AS name,
	(i % 4999 / 100.0)::numeric(6, 2) AS price, nullif(i % 77, 5) AS v, 'tag ' || i % 23 AS tag, hashint8(i) * 1000003::bigint AS wide,
	(i % 1000)::float8 / 8 AS f, nullif(i % 31, 30) AS far, i % 3 = 0 AS yes, 'long ' || i AS unique_text,
	(i / 70000) * 10000000000 + i % 1000 AS apart, (i % 5000 * 1000.37)::numeric(14, 2) AS amounts
FROM generate_series(1, 200000) AS i;
SET maintenance_work_mem = '90MB'; SET rtscan.debug_segment_rows = 4193280; SET max_parallel_maintenance_workers = 0;
CREATE INDEX fact_idx ON fact USING rtscan (c, p, d, k8, day, q, name) INCLUDE (v, price, tag, wide, f, far, yes, q, unique_text, apart, amounts);
CREATE TABLE customer AS SELECT i AS id, nullif('nation ' || i % 25, 'nation 3') AS nation, i % 5 AS region, i / 7.0 AS amount FROM generate_series(0, 4800) AS i;
ALTER TABLE customer ADD PRIMARY KEY (id);
CREATE TABLE part AS SELECT p AS id, 'brand ' || p % 40 AS brand, p % 7 AS kind FROM (SELECT DISTINCT p FROM fact WHERE p % 3 = 0 ORDER BY p LIMIT 30000) AS parts;
ALTER TABLE part ADD PRIMARY KEY (id);
CREATE TABLE little AS SELECT i::int2 AS id, nullif(i % 4, 2) AS g, date '2019-12-31' + i AS day, CASE WHEN i % 10 < 7 THEN i END AS far FROM generate_series(0, 899) AS i;
ALTER TABLE little ADD PRIMARY KEY (id); ALTER TABLE little ADD UNIQUE (day);
CREATE TABLE names AS SELECT 'text ' || i AS name, i % 3 AS g FROM generate_series(0, 250) AS i;
ALTER TABLE names ADD PRIMARY KEY (name);
-- keys that are far apart, but one, and both ends that there may be
CREATE TABLE sparse AS SELECT wide AS id, nullif('label ' || abs(hashint8(wide)) % 30, 'label 3') AS label, abs(hashint8(wide)) % 4 AS part
	FROM (SELECT DISTINCT wide FROM fact WHERE c % 2 = 0) AS wides;
INSERT INTO sparse SELECT min(id) + 1, 'another', 1 FROM sparse;
ALTER TABLE sparse ADD PRIMARY KEY (id);
CREATE TABLE ends AS TABLE sparse;
INSERT INTO ends VALUES (-9223372036854775808, 'least', 1), (9223372036854775807, 'greatest', 1);
ALTER TABLE ends ADD PRIMARY KEY (id);
CREATE TABLE several AS SELECT i % 400 AS id, i AS n FROM generate_series(0, 700) AS i;
VACUUM ANALYZE;
SQL
comes_back($node, $_, 'first use') foreach @executors;

my $list = join(',', map { 13 * $_ } 0 .. 300);
my $twice = join(',', 1 .. 9, 9, 11 .. 90);
# conditions on rows, all of which a device evaluates
my @conditions = (
	'v < 40', 'v <> 7 AND q < 30', 'v IS NULL', 'v IS NOT NULL AND far IS NULL', "tag = 'tag 7'", "tag >= 'tag 20' AND v BETWEEN 3 AND 60", "tag <> 'tag 3'",
	'price BETWEEN 3.005 AND 21', 'price = 7.5', 'price IN (1, 2.25, 49.98, 700)', 'wide > 0', 'f < 60.1', 'f >= 60.125 AND f <= 100', 'yes', 'NOT yes AND q = 5',
	"v = ANY ('{1,2,3,5,8,13,21,34,55,89}')", "v <> ALL ('{1,2,3,5,8,13,21,34,55,89}')", "c = ANY ('{$list}')", "c <> ALL ('{$list}') AND v > 5",
	"p = ANY (ARRAY(SELECT id FROM part WHERE kind = 2))", "k8 = ANY ('{$list}'::int8[])", 'v < 3 OR c < 100', "(v < 3 OR tag = 'tag 9') AND d > 500",
	"(v IS NULL OR price > 40) AND (q < 10 OR far = 3)", "far IS DISTINCT FROM 4 AND q IS NOT NULL", 'v > 76', 'v < 0', 'v >= 0', 'v < 1000',
	'v IN (1, 1, 3)', 'v IN (4, 4)', "c = ANY ('{$twice}')", "c <> ALL ('{$twice}') AND far IN (2, 2, 4, 4)", 'apart IN (5, 10000000005, 20000000007, 20000000999)',
	'apart <> ALL (ARRAY[5, 10000000005, 20000000007])', 'apart > 10000000000', 'amounts IN (1000.37, 4000 * 1000.37)',
	'wide = ANY (ARRAY(SELECT wide FROM fact WHERE c = 7))', 'wide <> ALL (ARRAY(SELECT wide FROM fact WHERE c < 70 AND wide IS NOT NULL)) AND v > 5');
my @queries = (
	(map { "SELECT count(*), sum(v), sum(wide), min(price), max(q) FROM fact WHERE $_" } @conditions),
	(map { "SELECT tag, count(*), sum(price), max(far) FROM fact WHERE $_ GROUP BY tag" } @conditions[0, 3, 4, 7, 18, 21, 22]),
	'SELECT count(*), sum(v) FROM fact JOIN customer ON c = id WHERE region = 2',
	'SELECT nation, count(*), sum(v), min(wide), max(price) FROM fact JOIN customer ON c = id WHERE region < 3 AND q < 40 GROUP BY nation',
	'SELECT nation, yes, count(v), sum(v * q) FROM fact JOIN customer ON c = id GROUP BY nation, yes',
	'SELECT nation, count(*), avg(price) FROM fact LEFT JOIN customer ON c = id AND region = 1 WHERE v > 30 GROUP BY nation',
	'SELECT brand, count(*), sum(price) FROM fact JOIN part ON p = id WHERE kind IN (1, 2, 5) AND far < 20 GROUP BY brand',
	"SELECT nation, brand, d / 500, count(*), sum(wide) FROM fact JOIN customer ON c = customer.id JOIN part ON p = part.id WHERE region = 1 GROUP BY 1, 2, 3",
	'SELECT g, count(*), sum(v) FROM fact JOIN little ON k8 = id WHERE g < 3 GROUP BY g',
	'SELECT g, little.day, count(*), sum(v) FROM fact JOIN little ON fact.day = little.day GROUP BY g, little.day',
	'SELECT g % 2, count(*) FROM fact JOIN little USING (day) WHERE v < 60 GROUP BY g',
	'SELECT little.far, count(*), sum(v) FROM fact JOIN little ON q = id GROUP BY little.far',
	'SELECT g, count(*), max(v) FROM fact JOIN little ON v = id GROUP BY g',
	'SELECT g, count(*) FROM fact LEFT JOIN little ON fact.far = id AND g > 0 GROUP BY g',
	'SELECT count(*), sum(v) FROM fact WHERE c IN (SELECT id FROM customer WHERE region = 3)',
	'SELECT q, count(*), sum(v) FROM fact WHERE EXISTS (SELECT FROM customer WHERE id = c AND region < 2) GROUP BY q',
	'SELECT count(*), sum(v) FROM fact WHERE NOT EXISTS (SELECT FROM customer WHERE id = c AND region > 0)',
	'SELECT nation, count(*) FROM fact JOIN customer ON c = id WHERE NOT EXISTS (SELECT FROM part WHERE part.id = p) GROUP BY nation',
	'SELECT nation, region, count(*), GROUPING(nation, region) FROM fact JOIN customer ON c = id WHERE q > 5 GROUP BY GROUPING SETS ((nation), (region), ())',
	'SELECT label, count(*), sum(v), max(price) FROM fact JOIN sparse ON wide = id WHERE q < 40 GROUP BY label',
	'SELECT label, nation, count(*) FROM fact JOIN sparse ON wide = sparse.id JOIN customer ON c = customer.id WHERE part = 2 GROUP BY label, nation',
	'SELECT label, count(*), sum(part) FROM fact LEFT JOIN sparse ON wide = id AND part > 1 WHERE v > 30 GROUP BY label',
	'SELECT count(*), sum(v) FROM fact WHERE wide IN (SELECT id FROM sparse WHERE part = 3)',
	'SELECT tag, count(*), sum(v) FROM fact WHERE NOT EXISTS (SELECT FROM sparse WHERE id = wide) GROUP BY tag',
	'SELECT count(*), sum(v) FROM fact WHERE EXISTS (SELECT FROM ends WHERE id = wide AND part = 1)',
	'SELECT nation, count(*) FROM fact JOIN customer ON c = id WHERE region = 9 GROUP BY nation',
	'SELECT count(*), sum(v) FROM fact JOIN customer ON c = id WHERE region = 9',
	'SELECT upper(nation), sum(v) FROM fact JOIN customer ON c = id WHERE region = 0 GROUP BY upper(nation) HAVING count(*) > 10');
# conditions of which the CPU evaluates some or all
my @others = (
	"SELECT count(*), sum(v) FROM fact WHERE unique_text < 'long 3'",
	'SELECT count(*), sum(v) FROM fact WHERE ' . join(' AND ', map { "v <> $_" } 1 .. 40),
	"SELECT count(*) FILTER (WHERE c = ANY ('{$list}')), count(*) FILTER (WHERE v IN (2, 2, 4)) FROM fact WHERE q < 40",
	'SELECT o, total FROM generate_series(1, 30) AS o, LATERAL (SELECT nation, sum(v) AS total FROM fact JOIN customer ON c = id WHERE d < o * 10 GROUP BY nation) AS sums',
	'SELECT label, count(*) FROM fact JOIN ends ON wide = id GROUP BY label',
	'SELECT count(*), sum(v) FROM fact WHERE NOT EXISTS (SELECT FROM ends WHERE id = wide)',
	"SELECT nation, sum(amount) FROM fact JOIN customer ON c = id WHERE region = 2 GROUP BY nation",
	"SELECT nation, sum(v * region) FROM fact JOIN customer ON c = id WHERE region = 2 GROUP BY nation",
	"SELECT nation, sum(v) FROM fact JOIN customer ON c = id WHERE region > q % 3 GROUP BY nation",
	'SELECT g, count(*) FROM fact JOIN names USING (name) WHERE v < 30 GROUP BY g',
	'SELECT n % 7, count(*), sum(v) FROM fact JOIN several ON c = id GROUP BY 1',
	'SELECT count(*), sum(v) FROM fact JOIN several ON c = id',
	'SELECT g, count(*) FROM fact JOIN little ON k8 = id AND fact.day = little.day GROUP BY g',
	'SELECT nation, count(*) FILTER (WHERE v < 5) FROM fact JOIN customer ON c = id GROUP BY nation',
	"SELECT c, v, tag FROM fact WHERE tag = 'tag 7' AND v < 5",
	'SELECT c, nation, v FROM fact JOIN customer ON c = id WHERE region = 4 AND v = 3',
	"SELECT c, p FROM fact WHERE c = ANY ('{$list}') AND far = 9",
	"SELECT count(*) FROM fact WHERE (v < 3 OR (tag = 'tag 9' AND (q = 1 OR q IS NULL))) AND d > 500");

# only stars
compare($node, 'SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_nestloop = off; ');

sub all_right
{
	my ($what, $settings, $every) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my @all = (@queries, @others);
	are_right($what, $_, $settings, map { $all[$_] } grep { $_ % ($every // 1) == 0 } 0 .. $#all) foreach @executors;
	return;
}

# ---------------------------------------------------------------- all rows are all-visible

all_right('vacuumed');
foreach my $executor (@executors)
{
	foreach my $query (@queries)
	{
		my $told = explained($executor, $query);
		is($told->{'Not Aggregated by Device'}, undef, "$executor: all of it is aggregated by the device: $query");
		is($told->{'Segments on CPU'}, 0, "$executor: nothing is left to the CPU: $query") unless $query =~ /region = 9|v < 0|v > 76/;
		my ($from) = $query =~ /(FROM .*?)(?: GROUP BY|$)/;
		my $rows = right("SELECT count(*) $from");
		my $times = $query =~ /GROUPING SETS/ ? 3 : 1;
		cmp_ok($told->{'Rows Aggregated by Device'} // 0, '>=', $rows, "$executor: all of its rows: $query");
		cmp_ok($told->{'Rows Aggregated by Device'} // 0, '<=', $times * $rows, "$executor: and no others: $query");
	}
	is(answered($executor, $queries[$_], 'SET rtscan.fallback = off; '), right($queries[$_]), "$executor: without the CPU: $queries[$_]") foreach 0, 4, 17, 37, 40 .. 55;
}
my $keys = explained($executors[0], 'SELECT brand, count(*) FROM fact JOIN part ON p = id GROUP BY brand');
is($keys->{'Not Aggregated by Device'}, undef, 'keys of a plain column');

# ---------------------------------------------------------------- what processes would share is done at once

foreach my $executor (@executors)
{
	my $parallel = 'SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; ';
	foreach my $query (grep { /customer/ || /tag/ } @queries[0 .. 40])
	{
		my $told = explained($executor, $query, $parallel);
		is($told->{'Workers Planned'}, undef, "$executor: one process has it done: $query") if defined $told->{'Rows Aggregated by Device'};
		is(answered($executor, $query, $parallel), right($query), "$executor: and right: $query");
	}
}

# ---------------------------------------------------------------- keys that do not fit into memory are processed in
# ranges

foreach my $query (grep { /JOIN part/ } @queries)
{
	my $small = "SET work_mem = '64kB'; SET hash_mem_multiplier = 1; ";
	is(answered($_, $query, $small), right($query), "$_: ranges of keys: $query") foreach @executors;
}

# ---------------------------------------------------------------- rows that some snapshots do not see

change('UPDATE fact SET v = v + 1 WHERE c < 30; DELETE FROM fact WHERE d = 777; INSERT INTO fact SELECT * FROM fact WHERE c = 4000');
all_right('changed', undef, 3);
change('VACUUM fact');
all_right('vacuumed again', undef, 3);
change("DELETE FROM customer WHERE id % 11 = 0; UPDATE customer SET nation = 'none' WHERE id % 13 = 0; DELETE FROM fact WHERE c % 19 = 0");
all_right('other dimensions', undef, 3);

# ---------------------------------------------------------------- segments with integers near either limit of the
# type

my $large = "SET max_parallel_maintenance_workers = 0; SET maintenance_work_mem = '64MB'; SET rtscan.debug_segment_rows = 4193280; SET rtscan.pending_list_limit = '64MB'; ";
my $by_device = 'SET rtscan.fallback = off; ';
change($large . <<'SQL');
CREATE TABLE apart AS SELECT i AS a, (-9223372036854775808)::int8 + i % 1000 AS k, i % 7 AS v FROM generate_series(1, 70001) AS i;
CREATE INDEX apart_idx ON apart USING rtscan (a) INCLUDE (k, v);
INSERT INTO apart SELECT i, 9223372036854775807 - i % 1000, i % 7 FROM generate_series(1, 70001) AS i;
SQL
change("$large VACUUM ANALYZE apart");
my $both = "ARRAY(SELECT (-9223372036854775808)::int8 + i FROM generate_series(0, 69) AS i UNION ALL SELECT 9223372036854775807 - i FROM generate_series(0, 69) AS i)";
foreach my $condition (
	"k <> ALL ('{-9223372036854775800, 9223372036854775800}')",
	'k <> 2000000014', "k = ANY ('{-9223372036854775808, 5, 9223372036854775807}')",
	"k = ANY ($both)", "k <> ALL ($both)")
{
	my $query = "SELECT v, count(*), sum(a) FROM apart WHERE a < 60000 AND $condition GROUP BY v";
	is(answered($_, $query, $by_device), right($query), "$_: from end to end: $condition") foreach @executors;
}

# ---------------------------------------------------------------- integers in equal steps, which a hash must
# distribute well

change("$large CREATE TABLE steps AS SELECT i AS a, i * 200000000::int8 AS k, i % 7 AS v FROM generate_series(1, 70001) AS i; CREATE INDEX steps_idx ON steps USING rtscan (a) INCLUDE (k, v)");
change('VACUUM ANALYZE steps');
foreach my $condition ('k = ANY (ARRAY(SELECT i * 200000000::int8 FROM generate_series(1, 3000) AS i))', 'k <> ALL (ARRAY(SELECT i * 200000000::int8 FROM generate_series(1, 3000) AS i))')
{
	my $query = "SELECT v, count(*), sum(a) FROM steps WHERE $condition GROUP BY v";
	is(answered($_, $query, $by_device), right($query), "$_: equal steps: $condition") foreach @executors;
}

# ---------------------------------------------------------------- faults

under_faults($node, sub { all_right($_[0], undef, 6); }, 'no-import', 'no-scratch-memory', 'no-upload-memory', map { "lost-after=$_" } 2, 9, 30);
server_is_healthy($node, 'device_tests');

done_testing();
