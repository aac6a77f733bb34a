# Tests aggregates of a device, and that EXPLAIN says how many rows it has aggregated, or why not all: for
# all-visible rows and others, with any columns, while groups spill, while keys run queries in between, and when the
# device is lost.

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

# What rt finds is aggregated like what compute finds.
@executors = grep { $_ ne 'rt' } @executors if @executors > 2;

my $rows = 220_000;
my $node = device_node('aggregates', "autovacuum = off\nmax_parallel_workers_per_gather = 0\nwork_mem = 64MB\n");
$node->start;
create_big($node);
# several segments; the least values of g, n and w are in different ones
$node->safe_psql('postgres', <<"SQL");
CREATE TABLE facts AS SELECT hashint4(i) AS a, nullif(i % 1000, 17) AS b, hashint4(i) % 5003 AS v, nullif(i % 97 + i / 100000, 13) AS g,
	((i % 8999 - i / 100) / 100.0)::numeric(8, 2) AS n, hashint8(i) * 1000003::bigint AS w, 'k' || i % 20 AS t,
	date '2020-01-01' + i / 5000 AS d, i % 3 = 0 AS yes, null::int AS nothing, CASE WHEN i % 2 = 0 THEN 1.0 ELSE 2.25 END AS scales,
	CASE WHEN i < 120000 THEN 5 ELSE 7 END AS same, nullif((i % 11 - 1) / 100.0, 0.04)::numeric(4, 2) AS rate,
	CASE WHEN i < 219000 THEN i / 500 END AS hour, 'part ' || i / 30000 AS part
FROM generate_series(1, $rows) AS i;
SET maintenance_work_mem = '90MB'; SET rtscan.debug_segment_rows = 4193280; SET max_parallel_maintenance_workers = 0;
CREATE INDEX facts_idx ON facts USING rtscan (a, b, rate, hour, part) INCLUDE (v, g, n, w, t, d, yes, nothing, scales, same, b);
VACUUM ANALYZE facts;
CREATE FUNCTION asks(g int) RETURNS int LANGUAGE plpgsql STABLE AS \$\$
BEGIN
	PERFORM count(*) FROM facts WHERE a < 1000000 AND b < 900;
	RETURN g % 5;
END \$\$;
SQL
comes_back($node, $_, 'first use') foreach @executors;

my $where = 'FROM facts WHERE a < 1900000000 AND b < 950';
my @aggregated = (
	"SELECT sum(v), avg(v), count(g), count(*), min(v), max(v) $where",
	"SELECT min(a), max(a), sum(a), min(w), max(w), sum(w), avg(w) $where",
	"SELECT sum(n), avg(n), min(n), max(n), count(n), min(d), max(d), sum(same), count(nothing), sum(nothing), max(nothing) $where",
	"SELECT g, count(*), sum(v), min(w), max(n), count(nothing), sum(w) $where GROUP BY g",
	"SELECT t, yes, count(*), sum(n), min(d) $where GROUP BY t, yes",
	"SELECT d, same, sum(g), max(a) $where GROUP BY d, same",
	"SELECT n, count(*), sum(v) $where GROUP BY n",
	"SELECT v, sum(g), count(*) $where GROUP BY v",
	"SELECT v, g, count(*), max(w) $where GROUP BY v, g",
	"SELECT b, t, d, sum(n), count(g) $where GROUP BY b, t, d",
	"SELECT b, t, sum(v * (1 - rate)), max(rate) $where GROUP BY b, t",
	"SELECT hour, part, sum(v), min(hour), count(hour) $where GROUP BY hour, part",
	"SELECT hour, sum(hour * v), avg(n + hour) $where GROUP BY hour",
	"SELECT part, max(hour) $where AND part > 'part' GROUP BY part, hour",
	'SELECT part, sum(hour), max(hour), count(*), sum(n) FROM facts GROUP BY part',
	'SELECT count(v), sum(v), min(w), max(a) FROM facts',
	'SELECT t, sum(v), count(*), min(b) FROM facts WHERE a < -1000000000 OR b < 300 GROUP BY t',
	"SELECT sum(w), max(n) FROM facts WHERE hour > 20 AND (a < 0 OR b IN (5, 7, 990)) AND (rate <> 0.05 OR part = 'part 3' OR a > 2000000000)",
	'SELECT g, avg(v) FROM facts WHERE (b < 500 AND a > 100000000) OR (rate > 0.01 AND b > 700 AND hour < 400) OR b IS NULL GROUP BY g',
	'SELECT g, t, count(*), sum(n) FROM facts GROUP BY g, t',
	'SELECT b, v, count(*), max(g) FROM facts GROUP BY b, v',
	"SELECT g % 10, date_trunc('month', d), count(*), avg(v) $where GROUP BY 1, 2",
	"SELECT yes, t, count(*), GROUPING(yes, t) $where GROUP BY GROUPING SETS ((yes), (t), ())",
	"SELECT g, count(*) $where GROUP BY g HAVING sum(v) > 1000000",
	"SELECT sum(b), avg(b), min(b), max(b), count(b), sum(v) $where",
	"SELECT yes, sum(b), max(b), min(w), count(b) $where GROUP BY yes",
	"SELECT b % 7, min(b), sum(b), count(*) $where GROUP BY b",
	"SELECT asks(g), count(*), sum(n) $where GROUP BY 1",
	"SELECT sum(v * g), sum(n * same), avg(v - 3 * w), sum(n - w * 2), sum((n + 1) * (2 - same)), sum(-v), count(*) $where",
	"SELECT t, sum(v * rate), sum(n * (1 - rate)), avg(n * same * 0.5), sum(a::bigint - w), sum(rate * 7) $where GROUP BY t",
	"SELECT b, sum(b * v), avg(n + b) $where GROUP BY b",
	"SELECT sum(rate), avg(rate), min(rate), max(rate), count(rate), sum(n * (1 - rate)) $where",
	"SELECT yes, sum(v * (1 - rate) * (1 + rate)), max(rate), avg(rate * w) $where GROUP BY yes",
	'SELECT sum(v), count(*) FROM facts WHERE a < 1000000000 OR (b > 5 AND (a > 2000000000 OR rate > 0))',
	'SELECT yes, sum(v) FROM facts WHERE (a < 0 OR (b > 5 AND (a > 1000000000 OR b < 50) AND (a < 1500000000 OR b = 7))) AND (b <> 9 OR (a > 5 AND (b = 9 OR v < 10))) GROUP BY yes',
	'SELECT sum(v) FROM facts WHERE (a < 0 AND (b < 5 OR (a > -1000000000 AND (b > 90 OR n < 3)))) OR (b = 6 AND (a < -5 OR a > 5 OR b < 3))');
my %not_aggregated = (
	'more groups or aggregates than a device can hold' => "SELECT v, g, sum(w), min(w), max(w), sum(a), min(a), max(a), sum(n), min(n) $where GROUP BY v, g",
	'values that are not stored as integers' => "SELECT sum(scales) $where",
	'too many alternatives (OR), or a condition that only the CPU can test' =>
	  'SELECT sum(v) FROM facts WHERE ' . join(' OR ', map { "(a < " . ($_ * 10_000_000) . " AND b > $_)" } 1 .. 40),
	'the sum of an expression that does not follow from sums of its columns' => "SELECT sum(v + g) $where",
	'an aggregate, expression or join that needs each row' => "SELECT sum(v + g), percentile_disc(0.5) WITHIN GROUP (ORDER BY v) $where");

# queries in between use the index only if the device aggregates rows
compare($node, 'SET enable_seqscan = off; ', sub { return $_[0] =~ s/asks\(g\)/g % 5/r; });

sub all_right
{
	my ($what, $settings, $every) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	foreach my $executor (@executors)
	{
		are_right($what, $executor, $settings, map { $aggregated[$_] } grep { $executor ne 'rtcudb' || $_ % ($every // 1) == 0 } 0 .. $#aggregated);
	}
	return;
}

# Check some of them with rtcudb, which takes long: it has a BVH for each set of columns.
sub some_right { return all_right($_[0], undef, 5); }

# ---------------------------------------------------------------- all rows are all-visible

# Several segments, which are requested together if they have few alternatives.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE several AS SELECT hashint4(i) % 100 AS a, hashint4(i * 3) % 100 AS b, i % 100 AS c, i % 50 AS v FROM generate_series(1, 700000) AS i;
SET maintenance_work_mem = '64MB'; SET rtscan.debug_segment_rows = 193536; SET max_parallel_maintenance_workers = 0;
CREATE INDEX several_idx ON several USING rtscan (a, b, c) INCLUDE (v);
VACUUM ANALYZE several;
SQL
cmp_ok($node->safe_psql('postgres', "SELECT segments FROM rtscan_stats('several_idx')"), '>=', 4, 'there are several segments');
foreach my $executor (@executors)
{
	foreach my $select ('sum(v), count(*)', 'v, count(*)', 'a, b, v, sum(c)')
	{
		my $query = "SELECT $select FROM several WHERE c < 5 OR ((a < 50 OR b < 50) AND (a < 60 OR b < 70) AND (a < 70 OR b < 90) AND (b < 95 OR a > -90))"
		  . ($select =~ /^sum/ ? '' : ' GROUP BY ' . join(', ', grep { /^[abv]$/ } split(/, /, $select)));
		is(answered($executor, $query, 'SET rtscan.fallback = off; '), right($query), "$executor: alternatives of several segments: $select");
	}
	my $told = explained($executor, 'SELECT sum(v) FROM several WHERE c < 5 OR ((a < 50 OR b < 50) AND (a < 60 OR b < 70) AND (a < 70 OR b < 90) AND (b < 95 OR a > -90))', 'SET rtscan.fallback = off; ');
	is($told->{'Not Aggregated by Device'}, undef, "$executor: all of them are aggregated by the device");
}

my $matching = $node->safe_psql('postgres', "SELECT count(*) $where");
my $vacuumed = 'SET rtscan.fallback = off; ';
all_right('vacuumed', $vacuumed);
foreach my $executor (@executors)
{
	foreach my $query (@aggregated)
	{
		my $told = explained($executor, $query, $vacuumed);
		my $times = $query =~ /GROUPING SETS/ ? 3 : 1;
		my ($from) = $query =~ /(FROM .*?)(?: GROUP BY|$)/;
		my $expected = right("SELECT count(*) $from");
		cmp_ok($told->{'Rows Aggregated by Device'}, '>=', $expected, "$executor: all rows are aggregated by the device: $query");
		cmp_ok($told->{'Rows Aggregated by Device'}, '<=', $times * $expected, "$executor: once for each search: $query");
		is($told->{'Not Aggregated by Device'}, undef, "$executor: all of it: $query");
	}
	my $with_nulls = 'SELECT same, count(b), min(b), sum(b), count(*) FROM facts WHERE a < 1900000000 GROUP BY same';
	cmp_ok(explained($executor, $with_nulls, $vacuumed)->{'Rows Aggregated by Device'}, '>', $matching, "$executor: NULLs of a coded column are aggregated by the device");
	is(answered($executor, $with_nulls, $vacuumed), right($with_nulls), "$executor: and right");
	foreach my $why (sort keys %not_aggregated)
	{
		my $told = explained($executor, $not_aggregated{$why}, $vacuumed);
		is_deeply([ @$told{ 'Rows Aggregated by Device', 'Not Aggregated by Device' } ], [ undef, $why ], "$executor: not aggregated by the device: $why");
		is(answered($executor, $not_aggregated{$why}), right($not_aggregated{$why}), "$executor: right: $why");
	}
	# then bits of all alternatives are requested
	foreach my $alternatives ('(a < 1900000000 OR b < 5)', '(a < 0 OR (b < 900 AND (a < 1000000000 OR rate > 0)))')
	{
		my $many = "SELECT v, g, sum(w), min(w), max(w) FROM facts WHERE $alternatives AND b > 3 GROUP BY v, g";
		is(explained($executor, $many, $vacuumed)->{'Rows Aggregated by Device'}, undef, "$executor: too many groups: $alternatives");
		is(answered($executor, $many, $vacuumed), right($many), "$executor: right without device aggregates: $alternatives");
	}
}

# ---------------------------------------------------------------- no aggregation by the device if processes share segments

my $parallel = 'SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; ';
foreach my $query ("SELECT g, count(*), sum(v), sum(v * (1 - rate)) $where GROUP BY g", 'SELECT hour, max(w) FROM facts GROUP BY hour', 'SELECT sum(n), avg(a) FROM facts')
{
	isnt(explained('cpu', $query, $parallel)->{'Workers Planned'}, undef, "several processes would share the CPU's work: $query");
	foreach my $executor (@executors)
	{
		my $told = explained($executor, $query, $parallel);
		is($told->{'Workers Planned'}, undef, "$executor: one has it done: $query");
		cmp_ok($told->{'Rows Aggregated by Device'}, '>', 0, "$executor: all at once: $query");
		is(answered($executor, $query, $parallel), right($query), "$executor: and right");
	}
}
foreach my $query ("SELECT count(*) FILTER (WHERE v > g), sum(v) $where", "SELECT sum(a::bigint * v) $where", "SELECT t, stddev(v) $where GROUP BY t")
{
	isnt(explained($_, $query, $parallel)->{'Workers Planned'}, undef, "$_: several processes share what only the CPU does: $query") foreach @executors;
}

# ---------------------------------------------------------------- groups that do not fit

change('ALTER TABLE facts ALTER v SET (n_distinct = 50); ANALYZE facts');
foreach my $executor (@executors)
{
	my $query = "SELECT v, sum(g), count(*) $where GROUP BY v";
	my $small = "SET work_mem = '64kB'; SET hash_mem_multiplier = 1; ";
	my $told = explained($executor, $query, $small);
	cmp_ok($told->{'Spilled Groups'}, '>', 0, "$executor: groups are spilled");
	cmp_ok($told->{'Rows Aggregated by Device'}, '>', 0, "$executor: of rows that the device has aggregated");
	is(answered($executor, $query, $small), right($query), "$executor: spilled groups are right");
}

# ---------------------------------------------------------------- rows that some snapshots do not see

change('UPDATE facts SET v = v + 1 WHERE b < 3 AND a > 0; DELETE FROM facts WHERE d = date \'2020-01-03\'');
some_right('changed');
change('VACUUM facts');
some_right('changed and vacuumed');
# except for those that are now a small segment
my $living = $node->safe_psql('postgres', "SELECT count(*) $where AND NOT (b < 3 AND a > 0)");
is(explained($_, $aggregated[0])->{'Rows Aggregated by Device'}, $living, "$_: rows beside dead ones are aggregated by the device") foreach @executors;
change("SET maintenance_work_mem = '90MB'; SET rtscan.debug_segment_rows = 4193280; REINDEX INDEX facts_idx");
some_right('indexed anew');
change("DELETE FROM facts WHERE d = date '2020-02-05'; VACUUM facts; UPDATE facts SET v = v + 1 WHERE ctid = (SELECT max(ctid) FROM facts)");
# of two blocks
$living = $node->safe_psql('postgres', "SELECT count(*) $where");
foreach my $executor (@executors)
{
	my $told = explained($executor, $aggregated[0]);
	cmp_ok($told->{'Rows Aggregated by Device'}, '<', $living, "$executor: rows of blocks that are not all-visible are not aggregated by the device");
	cmp_ok($told->{'Rows Aggregated by Device'}, '>', $living - 300, "$executor: the others are");
}
all_right('partly visible');

# ---------------------------------------------------------------- successive aggregates

# A workgroup without a chunk to aggregate must not add what another one has left in its memory.
$node->safe_psql('postgres', <<"SQL");
CREATE TABLE mixed AS SELECT hashint4(i) AS a, i % 1000 AS b, hashint4(i) % 97 AS v, i % 97 AS g, i % 4001 AS h, hashint4(i) % 1000003 AS w, i / 70000 AS k
FROM generate_series(1, 260000) AS i;
SET maintenance_work_mem = '96MB'; SET rtscan.debug_segment_rows = 4193280; SET max_parallel_maintenance_workers = 0;
CREATE INDEX mixed_idx ON mixed USING rtscan (a, b) INCLUDE (v, g, h, w, k);
VACUUM ANALYZE mixed;
UPDATE mixed SET w = w WHERE ctid < '(900, 1)' AND b % 50 = 3;
SQL
my $changed = 3;
foreach my $executor (@executors)
{
	my $mixed = 'FROM mixed WHERE a < 1900000000 AND b < 950';
	my ($wide, $narrow) = ("SELECT k % 2, sum(w), max(w), min(w), sum(h), max(h) $mixed GROUP BY k % 2", "SELECT k, count(*), sum(v), max(v), min(h), sum(g) $mixed GROUP BY k");
	# what has been found of these pages would be remembered
	change("UPDATE mixed SET w = w WHERE ctid < '(900, 1)' AND b % 50 = " . ++$changed);
	my $aggregated = explained($executor, $narrow)->{'Rows Aggregated by Device'};
	cmp_ok($aggregated, '>', 50000, "$executor: some chunks are aggregated by the device");
	cmp_ok($aggregated, '<', 150000, "$executor: others are not");
	foreach my $round (1 .. 10)
	{
		is(answered($executor, $wide), right($wide), "$executor, round $round: wide measures");
		is(answered($executor, $narrow), right($narrow), "$executor, round $round: narrow ones");
	}
}

# A segment without values has no scale of its own.
$node->safe_psql('postgres', <<"SQL");
CREATE TABLE scaled AS SELECT i % 1000 AS a, CASE WHEN i > 200000 THEN (i % 50 / 100.0)::numeric(8, 2) END AS g,
	CASE WHEN i > 200000 THEN (i % 7777 / 10.0)::numeric(8, 1) END AS x FROM generate_series(1, 400000) AS i;
SET maintenance_work_mem = '64MB'; SET rtscan.debug_segment_rows = 129024; SET max_parallel_maintenance_workers = 0;
CREATE INDEX scaled_idx ON scaled USING rtscan (a) INCLUDE (g, x);
VACUUM ANALYZE scaled;
SQL
foreach my $executor (@executors)
{
	my $query = 'SELECT g, g::text, count(*), sum(x) FROM scaled WHERE a < 900 GROUP BY g';
	my $told = explained($executor, $query);
	cmp_ok($told->{Segments}, '>', 2, "$executor: some segments have only NULLs");
	cmp_ok($told->{'Rows Aggregated by Device'}, '>', 250000, "$executor: most are aggregated by the device, with those that have values");
	is(answered($executor, $query), right($query), "$executor: the scale is that of the values");
}

# Codes' integers are added up as well, of few values and of many; each segment may store a column in a different
# way.
$node->safe_psql('postgres', <<"SQL");
CREATE TABLE coded AS SELECT hashint4(i) AS a, CASE WHEN i < 150000 THEN i ELSE i % 100 END AS k, (abs(hashint4(i * 3)) % 6000 * 1.5)::numeric(12, 2) AS price,
	nullif(abs(hashint4(i * 5)) % 7000, 3) * 1000003::bigint AS far, (i % 11 / 100.0)::numeric(4, 2) AS rate, nullif(i % 5, 2) AS g,
	CASE WHEN i > 200000 THEN timestamp '2020-01-01' + i % 6001 * interval '1 day' END AS late FROM generate_series(1, 300000) AS i;
SET maintenance_work_mem = '64MB'; SET rtscan.debug_segment_rows = 193536; SET max_parallel_maintenance_workers = 0;
CREATE INDEX coded_idx ON coded USING rtscan (a, k, rate) INCLUDE (price, far, g, late, k);
VACUUM ANALYZE coded;
SQL
my $coded = 'FROM coded WHERE a > -1000000000';
foreach my $change ('', 'DELETE FROM coded WHERE a % 7 = 0; VACUUM coded')
{
	change($change);
	my $rows = $node->safe_psql('postgres', "SELECT count(*) $coded");
	foreach my $query (
		"SELECT sum(price), avg(price), min(price), max(price), count(price) $coded", "SELECT sum(far), min(far), max(far), count(far), avg(far) $coded",
		"SELECT sum(k), max(k), min(k), sum(rate) $coded", "SELECT g, sum(price * (1 - rate)), sum(far * 2), sum(k - price), avg(price * rate * 2), min(late), count(late) $coded GROUP BY g",
		"SELECT rate, sum(rate), sum(price), max(late) $coded GROUP BY rate")
	{
		foreach my $executor (@executors)
		{
			my $told = explained($executor, $query);
			cmp_ok($told->{Segments}, '>', 1, "$executor: several segments: $query");
			is($told->{'Rows Aggregated by Device'}, $rows, "$executor: codes' integers are aggregated by the device: $query");
			is(answered($executor, $query), right($query), "$executor: and right");
		}
	}
}

# Sums that have one measure in each segment, and two in all together, of which there are too many; and rows after
# the segments that a device evaluates.
my @sums = map { "far$_" } 1 .. 18;
my $far = join(', ', map { "i * 20000::bigint + $_ AS far$_" } 1 .. 18);
change(<<"SQL");
CREATE TABLE sums AS SELECT hashint4(i) AS a, i % 2 AS g, i / 8 AS near, $far FROM generate_series(1, 260000) AS i;
SET maintenance_work_mem = '64MB'; SET rtscan.debug_segment_rows = 129024; SET max_parallel_maintenance_workers = 0;
CREATE INDEX sums_idx ON sums USING rtscan (a) INCLUDE (g, near, @{[ join(', ', @sums) ]});
INSERT INTO sums SELECT hashint4(i), i % 2, i / 8, @{[ join(', ', map { "i * $_" } 1 .. 18) ]} FROM generate_series(1, 5000) AS i;
VACUUM ANALYZE sums;
SQL
my $sums = join(', ', map { "sum($_)" } @sums);
foreach my $query ("SELECT $sums FROM sums", "SELECT g, $sums FROM sums GROUP BY g", 'SELECT near, g, count(*), sum(far1) FROM sums GROUP BY near, g')
{
	foreach my $executor (@executors)
	{
		my $told = explained($executor, $query, 'SET rtscan.fallback = off; ');
		cmp_ok($told->{Segments}, '>', 1, "$executor: several segments: $query");
		is($told->{'Not Aggregated by Device'}, undef, "$executor: all that a device takes is aggregated by the device: $query");
		cmp_ok($told->{'Rows Aggregated by Device'}, '>', 200000, "$executor: that is most");
		is(answered($executor, $query), right($query), "$executor: and right");
	}
}

# Codes of a key with a user's operator class are not ordered like the integers; and a key may have no values.
$node->safe_psql('postgres', <<"SQL");
CREATE FUNCTION reverse_cmp(int, int) RETURNS int LANGUAGE sql IMMUTABLE STRICT AS 'SELECT btint4cmp(\$2, \$1)';
CREATE OPERATOR CLASS reverse_ops FOR TYPE int USING rtscan AS
	OPERATOR 1 >, OPERATOR 2 >=, OPERATOR 3 =, OPERATOR 4 <=, OPERATOR 5 <, FUNCTION 1 reverse_cmp(int, int);
CREATE TABLE reversed AS SELECT hashint4(i) AS a, i % 3000 AS down, null::int AS gone, i % 70 AS v FROM generate_series(1, 70000) AS i;
SET maintenance_work_mem = '64MB'; SET rtscan.debug_segment_rows = 4193280; SET max_parallel_maintenance_workers = 0;
CREATE INDEX reversed_idx ON reversed USING rtscan (a, down reverse_ops, gone) INCLUDE (v);
VACUUM ANALYZE reversed;
SQL
foreach my $query (map { "SELECT $_ FROM reversed WHERE a > 0" } 'sum(down), min(down), max(down), count(down)', 'sum(v), count(gone), sum(gone)')
{
	foreach my $executor (@executors)
	{
		cmp_ok(explained($executor, $query, 'SET enable_bitmapscan = off; ')->{'Rows Aggregated by Device'} // 0, '>', 30000, "$executor: aggregated by the device: $query");
		is(answered($executor, $query), right($query), "$executor: and right: $query");
	}
}

# Columns that are added up must be evicted for those that are searched.
$node->safe_psql('postgres', "SET maintenance_work_mem = '96MB'; SET rtscan.debug_segment_rows = 4193280; SET max_parallel_maintenance_workers = 0; REINDEX INDEX mixed_idx; VACUUM mixed");
configure($node, 'rtscan.device_memory' => '12MB');
wait_until('a small device', sub { (device_status($node) // { memory_limit => 0 })->{memory_limit} == 12 << 20 });
foreach my $executor (grep { $_ eq 'compute' } @executors)
{
	my $query = 'SELECT sum(v), sum(g), sum(h), sum(w) FROM mixed WHERE a < 1900000000 AND b < 950';
	is(answered($executor, $query, 'SET rtscan.fallback = off; '), right($query), 'little memory: bits will do');
	is(explained($executor, $query)->{'Rows Aggregated by Device'}, undef, 'little memory: there is none for values');
}
configure($node, 'rtscan.device_memory' => undef);

# ---------------------------------------------------------------- a round that is repeated

# The first segment's entries have no room, the second one's have. The constant that the first rows are compared with
# is computed by the device as well, and replaces the second one's bits, which are too many for work_mem. Then its
# device aggregate is made again, and must be used.
change(<<'SQL');
CREATE TABLE again (far bigint, v int) WITH (autovacuum_enabled = off);
INSERT INTO again SELECT i % 300000 * 10000000019, i FROM generate_series(1, 600000) AS i;
SET maintenance_work_mem = '512MB'; SET rtscan.debug_segment_rows = 4193280; SET max_parallel_maintenance_workers = 0;
CREATE INDEX again_idx ON again USING rtscan (v, far);
SET rtscan.pending_list_limit = '1GB';
INSERT INTO again SELECT i % 1000 * 10000000019, i FROM generate_series(600001, 1200000) AS i;
VACUUM again;
ALTER TABLE again ALTER far SET (n_distinct = 50);
ANALYZE again;
SQL
is($node->safe_psql('postgres', "SELECT segments, rows FROM rtscan_stats('again_idx')"), '2|1200000', 'two segments');
my $again = 'SELECT count(*), sum(n) FROM (SELECT far, count(*) FILTER (WHERE far >= (SELECT count(*) FROM facts WHERE a < 1000000 AND b < 900) * 0) AS n '
  . 'FROM again WHERE v > 10 AND v < 1199990 GROUP BY far OFFSET 0) AS q';
foreach my $executor (@executors)
{
	my $small = "SET work_mem = '64kB'; SET hash_mem_multiplier = 1; SET enable_bitmapscan = off; SET rtscan.enable_scan = off; ";
	is(answered($executor, $again, $small), right($again), "$executor: a device aggregate that is made again is given");
	is(explained($executor, $again, $small)->{'Rows Aggregated by Device'}, 599989, "$executor: rows of the second segment were aggregated by the device");
}

# ---------------------------------------------------------------- faults

under_faults($node, \&some_right, 'no-import', 'no-scratch-memory', 'no-upload-memory', map { "lost-after=$_" } 2, 9, 30);

# The program hangs when a session requests a device aggregate, and answered before: totals, groups by codes, groups
# by ranks.
foreach my $query (@aggregated[0, 3, 12])
{
	my $session = $node->background_psql('postgres', on_error_stop => 0);
	my $fallbacks = 'SELECT sum(fallbacks) FROM pg_stat_rtscan';
	$session->query_safe("SET rtscan.executor = $executors[0]; SET enable_seqscan = off; SET rtscan.fallback = off");
	is(sorted($session->query_safe($query)), right($query), "before the program hangs: $query");
	my $before = $node->safe_psql('postgres', $fallbacks);
	$session->query_safe("SET rtscan.device_timeout = '200ms'; SET rtscan.fallback = on");
	my $program = program_pid($node);
	kill 'STOP', $program;
	is(sorted($session->query_safe($query)), right($query), "the program hangs: $query");
	kill 'CONT', $program;
	$session->quit;
	cmp_ok($node->safe_psql('postgres', $fallbacks), '>', $before, "the program hangs: the CPU has answered");
	comes_back($node, $_, 'after it hung') foreach @executors;
}
server_is_healthy($node, 'aggregates');

done_testing();
