-- Joins as sets of keys: rows and aggregates of a table joined with others whose keys an index looks up, the same as by
-- PostgreSQL's own joins.

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA star;
SET search_path = star, public;
SET rtscan.pending_list_limit = '64kB';
SET rtscan.merge_worker = off;
SET max_parallel_workers_per_gather = 0;
-- wherever a star can be, it is
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_nestloop = off;

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/plans.psql
\i :directory/sql/include/stars.psql
\set ECHO all
CREATE COLLATION caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
-- a and t come often, so that they are coded; p and q hardly do; o is in heap order; v, w and f are INCLUDEd
CREATE TABLE fact (id int, o int, a int, b bigint, p int, q float8, n numeric, t text, c text COLLATE caseless, d date,
	s timestamp, v int, w text, f float8, m numeric(10, 2), filler text)
	WITH (autovacuum_enabled = off, fillfactor = 80);
CREATE FUNCTION facts(first int, n int) RETURNS SETOF fact LANGUAGE sql AS $$
	SELECT i, nullif(i, first + 5), CASE WHEN h % 11 > 0 THEN h % 100 END,
	CASE WHEN h % 13 > 0 THEN (h % 300)::bigint END, h,
		CASE h % 10 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' WHEN 2 THEN 'infinity' ELSE (h % 2000)::float8 END,
		CASE WHEN h % 7 = 0 THEN 'NaN' WHEN h % 5 > 0 THEN round(h % 50 / 2.0, h % 3) END,
		CASE WHEN h % 9 > 0 THEN 'text ' || h % 40 END, (ARRAY['a', 'A', 'b', 'B', 'ä', NULL])[1 + h % 6],
		date '2024-01-01' + h % 400, timestamp '2024-01-01' + h % 400 * interval '12 hours',
		h % 17, 'w' || h % 6, h % 101 / 4.0, h % 1000 / 10.0, NULL
	FROM (SELECT i, abs(hashint4(i)) FROM generate_series(first, first + n - 1) i) r (i, h)
$$;
INSERT INTO fact SELECT * FROM facts(1, 66000);
CREATE INDEX fact_star ON fact USING rtscan (o, a, b, p, q, n, t, c, d, s) INCLUDE (id, v, w, f, m);
DELETE FROM fact WHERE id % 13 = 0;
VACUUM ANALYZE fact;
-- segments of what was pending, pending rows, dead ones, rows that are not all-visible
INSERT INTO fact SELECT * FROM facts(100001, 3000);
DELETE FROM fact WHERE id % 17 = 0;
UPDATE fact SET filler = 'HOT' WHERE id % 11 = 0;
UPDATE fact SET a = a + 1 WHERE id % 997 = 0;
SELECT segments > 1 AS segments, pending > 0 AS pending FROM rtscan_stats('fact_star');

CREATE TABLE dim (k int PRIMARY KEY, k8 bigint UNIQUE, g int, name text, amount numeric, day date, flag bool);
INSERT INTO dim SELECT i, i, nullif(i % 7, 3), 'name ' || i % 5, i / 4.0, date '2024-01-01' + i % 3, i % 2 = 0
	FROM generate_series(-5, 120) i;
CREATE TABLE keys (k int, k2 int2, k8 bigint, q float8, q4 float4, n numeric, t text, c text COLLATE caseless, d date,
	s timestamp, z timestamptz, o int);
INSERT INTO keys SELECT CASE WHEN i % 5 > 0 THEN i % 30 END, i % 30, i,
	CASE i % 4 WHEN 0 THEN 'NaN' WHEN 1 THEN 0 ELSE i::float8 END, i,
	CASE WHEN i % 3 = 0 THEN 'NaN' WHEN i % 4 > 0 THEN i / 2.00 END,
	'text ' || i, (ARRAY['A', 'Ä', NULL])[1 + i % 3], date '2024-01-01' + i,
	timestamp '2024-01-01' + i * interval '1 day',
	timestamptz '2024-01-01' + i * interval '1 day', i * 100
	FROM generate_series(0, 60) i;
ANALYZE dim, keys;

--
-- Semi joins
--
EXPLAIN (COSTS OFF) SELECT id, v FROM fact WHERE a IN (SELECT k FROM keys WHERE k < 20) AND p > 0;
EXPLAIN (COSTS OFF, VERBOSE) SELECT count(*) FROM fact WHERE EXISTS (SELECT FROM keys WHERE keys.k = fact.a);
SELECT differs(format('SELECT %s FROM fact WHERE %s', output, qual))
FROM unnest('{count(*),"count(*), sum(v), max(p), min(w)","id, v, w, f","a, t"}'::text[]) output,
	unnest(ARRAY['a IN (SELECT k FROM keys)', 'a = ANY (SELECT k FROM keys WHERE k8 > 20)',
	'a IN (SELECT k2 FROM keys)',
	'a IN (SELECT k8 FROM keys)', 'b IN (SELECT k FROM keys)', 'b IN (SELECT k2 FROM keys)',
	'EXISTS (SELECT FROM keys WHERE k = a)', 'EXISTS (SELECT 1 FROM keys WHERE keys.k8 = fact.a AND keys.k2 > 3)',
	'q IN (SELECT q FROM keys)', 'q IN (SELECT q4 FROM keys)', 'n IN (SELECT n FROM keys)', 't IN (SELECT t FROM keys)',
	'c IN (SELECT c FROM keys)', 'd IN (SELECT d FROM keys)', 's IN (SELECT s FROM keys)', 's IN (SELECT d FROM keys)',
	'd IN (SELECT s FROM keys)', 'o IN (SELECT o FROM keys)', 'p IN (SELECT p FROM fact WHERE id < 500)',
	'v IN (SELECT k FROM keys)', 'w IN (SELECT ''w'' || k FROM keys)', 'a IN (SELECT k + 1 FROM keys)',
	'a IN (SELECT k FROM keys WHERE k < -5)',
	'a IN (SELECT k FROM keys) AND p > 1000000000 AND v < 9', 'a IN (SELECT k FROM keys) AND f + v > 12',
	'a IN (SELECT k FROM keys) AND b IN (SELECT k8 * 3 FROM keys) AND t IN (SELECT t FROM keys)',
	'a IN (SELECT k FROM keys UNION ALL SELECT g FROM dim)', 'a IN (SELECT max(k) FROM keys GROUP BY k2 / 2)',
	'a IN (SELECT k.k FROM keys k JOIN dim USING (k) WHERE g > 2 OFFSET 0)',
	'a IN (SELECT x FROM (VALUES (1), (2), (2), (NULL)) y (x) OFFSET 0)',
	'a IN (SELECT unnest(ARRAY[1, 2, 3, 3, NULL]))', 'p IN (SELECT generate_series(1, 100000))']) qual;
-- the same without a star: the key is not only a column, times pass through the time zone, NOT IN
SELECT differs('SELECT count(*) FROM fact WHERE ' || qual, 0)
FROM unnest(ARRAY['a + 1 IN (SELECT k FROM keys)', 's IN (SELECT z FROM keys)', 'a NOT IN (SELECT k FROM keys)',
	'a IN (SELECT k FROM keys) OR v = 3', 'a < ANY (SELECT k FROM keys)',
	'c COLLATE "C" IN (SELECT c FROM keys)', 'a IN (SELECT k FROM keys WHERE false)']) qual;

--
-- Anti joins
--
EXPLAIN (COSTS OFF) SELECT id, v FROM fact WHERE NOT EXISTS (SELECT FROM keys WHERE k = a AND k2 > 5);
SELECT differs(format('SELECT %s FROM fact WHERE NOT EXISTS (SELECT FROM keys WHERE %s) AND %s', output, keys, others))
FROM unnest('{count(*),"count(*), sum(v), max(p), min(w)","id, a, v, w"}'::text[]) output,
	unnest('{keys.k = a,keys.k8 = a,keys.k2 = b,keys.q = fact.q,keys.n = fact.n,keys.t = fact.t,keys.c = fact.c,
		keys.d = fact.s,keys.o = fact.o,keys.k = v,''w'' || keys.k = w,keys.k = a AND k < -5,keys.k = a AND k2 > 20,
		keys.k = a AND k IS NOT NULL}'::text[]) keys,
	unnest('{true,p > 1000000000 AND b < 200,a IN (SELECT k FROM dim WHERE flag)}'::text[]) others;
SELECT differs('SELECT count(*) FROM fact LEFT JOIN keys ON keys.k = a WHERE keys.k IS NULL');
SELECT differs('SELECT id, keys.t FROM fact LEFT JOIN keys ON keys.k = a WHERE keys.k IS NULL', 0);

--
-- Inner joins with unique dimensions, of which nothing is wanted
--
SELECT differs(format('SELECT %s FROM %s', output, tables))
FROM unnest('{count(*),"sum(v), max(p), min(w)","id, v, w"}'::text[]) output,
	unnest(ARRAY['fact JOIN dim ON dim.k = fact.a', 'dim, fact WHERE dim.k = fact.a AND g = 2',
	'fact JOIN dim ON k8 = a AND g IS NULL', 'fact, dim WHERE b = k AND flag AND d < ''2024-06-01''',
	'fact JOIN dim d1 ON d1.k = a JOIN dim d2 ON d2.k8 = b WHERE d1.g < 4 AND d2.flag',
	'fact JOIN (SELECT DISTINCT k FROM keys) x ON x.k = a',
	'fact JOIN (SELECT k2, sum(k8) FROM keys GROUP BY k2) x ON k2 = a',
	'fact JOIN (SELECT d.k FROM dim d JOIN dim e ON e.k = d.g) x ON x.k = a',
	'fact JOIN dim ON k = a WHERE a IN (SELECT k FROM keys)',
	'dim d1, fact, dim d2, dim d3 WHERE d1.k = a AND d2.k = b AND d3.k = v AND d1.g = 1 AND NOT d2.flag AND d3.g > 2',
	'fact, dim d1, dim d2 WHERE a = d1.k AND d1.k = d2.k AND d2.flag']) tables;
-- rows from the heap
EXPLAIN (COSTS OFF, VERBOSE) SELECT filler, v + 1 FROM fact JOIN dim ON k = a WHERE g = 2 AND filler <> 'x';
ALTER TABLE fact ADD gone int, ADD seven int DEFAULT 7;
ALTER TABLE fact DROP gone;
SELECT differs(format('SELECT %s FROM %s WHERE %s', output, tables, quals))
FROM unnest('{fact.*,"id, filler, seven",seven + v AS x}'::text[]) output,
	unnest('{fact,fact JOIN dim ON k = a,fact JOIN (SELECT * FROM dim WHERE flag) d ON k = b}'::text[]) tables,
	unnest(ARRAY['a IN (SELECT keys.k FROM keys)', 'b IN (SELECT keys.k FROM keys) AND filler IS NULL AND v < 9',
	'NOT EXISTS (SELECT FROM keys WHERE keys.k = a) AND seven > v AND p > 0',
	'a IN (SELECT keys.k FROM keys) AND v + f > 20']) quals;
-- a condition more; wanted without being in index or heap
SELECT differs('SELECT ' || query, 0)
FROM unnest(ARRAY['count(*) FROM fact LEFT JOIN dim ON k = a AND g < v WHERE g > 2 OR g IS NULL',
	'count(*) FROM fact LEFT JOIN keys ON keys.k = a AND k2 < v',
	'filler, name FROM fact JOIN dim ON k = a', 'fact.ctid FROM fact JOIN dim ON k = a']) query;

--
-- Attributes
--
EXPLAIN (COSTS OFF, VERBOSE) SELECT name, sum(v) FROM fact JOIN dim ON k = a WHERE g = 2 GROUP BY name;
EXPLAIN (COSTS OFF, VERBOSE) SELECT id, name, amount FROM fact JOIN dim ON k = a WHERE g = 2;
SELECT differs(format('SELECT %s FROM fact JOIN dim d1 ON d1.k = %s JOIN dim d2 ON d2.k8 = %s WHERE d1.g < 5 %s',
	output, first, second, behind))
FROM (VALUES ('d1.name, count(*), sum(v), min(p), max(w)', 'GROUP BY d1.name'),
	('d1.g, d2.g, d1.flag, sum(f)', 'GROUP BY 1, 2, 3'), ('d1.amount, d2.day, count(*)', 'GROUP BY 1, 2'),
	('sum(d1.amount), sum(d2.amount * v), max(d1.name), count(d2.g), avg(d1.g)', ''),
	('v, sum(d1.g + v), min(d2.name)', 'GROUP BY v'), ('id, d1.name, d2.amount, d1.g + v AS x', ''),
	('d1.k AS k1, d2.k AS k2, a, b', ''),
	('upper(d1.name), extract(month FROM d2.day), count(*) FILTER (WHERE d1.flag)', 'GROUP BY 1, 2'),
	('d1.g, count(DISTINCT d2.g), percentile_disc(0.5) WITHIN GROUP (ORDER BY d2.amount)', 'GROUP BY 1'),
	('d1.name', 'GROUP BY d1.name HAVING sum(v) > 100 AND min(d1.k) > 0'),
	('d1.g, t, count(*)', 'GROUP BY 1, 2')) q (output, behind),
	(VALUES ('a', 'b'), ('b', 'a'), ('v', 'a'), ('o', 'v')) keys (first, second);
-- left joins
EXPLAIN (COSTS OFF) SELECT name, sum(v) FROM fact LEFT JOIN dim ON k = a WHERE p > 0 GROUP BY name;
SELECT differs(format('SELECT %s FROM fact LEFT JOIN dim d1 ON d1.k = %s %s JOIN (SELECT * FROM dim WHERE flag) d2
	ON d2.k8 = %s WHERE p > 0 %s', output, first, kind, second, behind))
FROM (VALUES ('d1.name, count(*), sum(v), count(d1.g)', 'GROUP BY d1.name'), ('d1.g, d2.g, sum(f)', 'GROUP BY 1, 2'),
	('id, d1.name, d2.amount, d1.g + v AS x', ''), ('sum(d1.amount), max(d1.name), count(d2.g)', ''),
	('coalesce(d1.name, ''none''), d1.g IS NULL, count(*)', 'GROUP BY 1, 2')) q (output, behind),
	(VALUES ('a', 'b'), ('b', 'a'), ('v', 'a'), ('o', 'v')) keys (first, second), unnest('{"",LEFT}'::text[]) kind;
SELECT differs('SELECT ' || query, 0)
FROM unnest('{"g, count(*) FROM fact LEFT JOIN dim ON k = a AND v > 3 GROUP BY g",
	"g, count(*) FROM fact LEFT JOIN dim ON k = a WHERE g IS NULL OR g > v GROUP BY g",
	"g, count(*) FROM fact RIGHT JOIN dim ON k = a GROUP BY g",
	"x, count(*) FROM fact LEFT JOIN (SELECT k, 5 AS x FROM dim) y ON k = a GROUP BY x"}'::text[]) query;
-- snowflakes: unique if each of their rows is of another row of the table that has the key
SELECT differs('SELECT ' || query)
FROM unnest('{"e.name, d.g, count(*) FROM fact JOIN (dim d JOIN dim e ON e.k = d.g) ON d.k = a GROUP BY 1, 2",
	"e.name, count(*) FROM fact JOIN (dim d LEFT JOIN dim e ON e.k = d.g) ON d.k = a GROUP BY 1",
	"e.name, x.amount, v FROM fact JOIN dim d ON d.k = a JOIN dim e ON e.k = d.g JOIN dim x ON x.k8 = e.k AND x.flag",
	"e.name, count(*) FROM fact LEFT JOIN (dim d JOIN dim e ON e.k = d.g) ON d.k = a GROUP BY 1",
	"d.name, sum(v) FROM fact JOIN (SELECT * FROM dim WHERE g IN (SELECT k FROM keys)) d ON d.k = a GROUP BY 1",
	"e.t, d.name, count(*) FROM fact JOIN (dim d JOIN keys e ON e.k = d.g) ON d.k = a GROUP BY 1, 2"}'::text[]) query;
SELECT differs('SELECT e.t, d.name, count(*) FROM fact JOIN (dim d JOIN keys e ON e.k = d.g) ON e.k = a
	GROUP BY 1, 2');
-- a left join's key above it; left joins within a dimension, and what they make NULL
SELECT differs('SELECT ' || query)
FROM unnest('{"f.id, d.k FROM fact f LEFT JOIN dim d ON d.k = f.a",
	"d.k, count(*) FROM fact f LEFT JOIN dim d ON d.k = f.a GROUP BY 1",
	"count(d.k) FROM fact f LEFT JOIN dim d ON d.k = f.a",
	"e.name, g.name, count(*) FROM fact f JOIN dim d ON d.k = f.a LEFT JOIN dim e ON e.k = d.g
		LEFT JOIN dim g ON g.k = d.g + 1 GROUP BY 1, 2"}'::text[]) query;
SELECT differs('SELECT ' || query || ' FROM fact f JOIN dim d ON d.k = f.a
	LEFT JOIN (SELECT k, 5 AS x, coalesce(g, 0) AS y FROM dim) s ON s.k = d.g' || behind, 1)
FROM (VALUES ('s.x, count(*)', ' GROUP BY 1'), ('count(s.x)', ''), ('count(*)', ' WHERE s.x IS NULL'),
	('s.y, count(*)', ' GROUP BY 1'), ('f.id, s.x, s.y', ''), ('count(*) FILTER (WHERE s.x = 5)', ''),
	('d.g', ' GROUP BY 1 HAVING max(s.y) > 0')) q (query, behind);
-- a condition over both sides, of one equivalence class with others
CREATE TABLE both_d (c int, e int, b int, PRIMARY KEY (c, e));
CREATE TABLE both_f (x int, y int, a int);
INSERT INTO both_d SELECT i % 40, i / 40, i % 7 FROM generate_series(0, 999) i;
INSERT INTO both_f SELECT i % 40, i % 25, i % 38 FROM generate_series(1, 20000) i;
CREATE INDEX both_star ON both_f USING rtscan (x, y, a);
VACUUM ANALYZE both_f;
ANALYZE both_d;
SELECT differs('SELECT count(*) FROM both_d d JOIN both_f f ON f.x = d.c AND f.y = d.e WHERE f.a + d.b = d.c');
SELECT differs('SELECT d.b, count(*) FROM both_d d JOIN both_f f ON f.x = d.c AND f.y = d.e
	WHERE f.a + d.b = f.x GROUP BY 1');
-- more conditions than the key's, over several dimensions
EXPLAIN (COSTS OFF) SELECT count(*) FROM fact JOIN dim d ON d.k = a AND d.g < v JOIN dim e ON e.k = b AND e.g > d.g;
SELECT differs('SELECT ' || query)
FROM unnest('{"count(*) FROM fact JOIN dim ON k = a AND g < v",
	"name, sum(v) FROM fact JOIN dim ON k = a AND k8 < b GROUP BY 1",
	"id, d.name FROM fact JOIN dim d ON d.k = a JOIN dim e ON e.k = b WHERE d.g = e.g AND d.amount <> e.amount",
	"d.g, count(*) FROM fact JOIN (dim d JOIN dim e ON e.k = d.g) ON d.k = a AND e.g + d.g > v % 5 GROUP BY 1",
	"count(*) FROM fact JOIN dim d ON d.k = a AND d.k8 = b",
	"count(*), sum(d.g) FROM fact, dim d WHERE d.k8 = b AND d.k = v",
	"id FROM fact JOIN dim d ON d.k = a JOIN dim e ON e.k = b WHERE d.name || e.name || w > ''name 3''"}'::text[])
	query;
-- dimensions that are no tables
SELECT differs('SELECT ' || query)
FROM unnest(ARRAY[
	'x, count(*), sum(v) FROM fact JOIN (SELECT k2, sum(k8) FROM keys GROUP BY k2) y (k, x) ON k = a GROUP BY x',
	'x FROM fact JOIN (SELECT DISTINCT ON (c) c, t FROM keys) y (c, x) USING (c)',
	'y, count(*) FROM fact JOIN (SELECT max(day), k FROM dim GROUP BY k) x (y, z) ON z = b GROUP BY y']) query;

--
-- Parameters, loops, subqueries, locks, changes, and privileges
--
PREPARE by_group(int) AS SELECT name, count(*) FROM fact JOIN dim ON k = a WHERE g = $1 GROUP BY name ORDER BY name;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE by_group(1);
EXECUTE by_group(1);
EXECUTE by_group(2);
EXECUTE by_group(NULL);
RESET plan_cache_mode;
SELECT differs(format('SELECT * FROM (SELECT DISTINCT g FROM dim) x, LATERAL (SELECT %s) y', query))
FROM unnest('{"count(*), sum(v) FROM fact WHERE a IN (SELECT k FROM dim WHERE dim.g = x.g)",
	"sum(v) FROM fact JOIN dim ON k = a WHERE dim.g = x.g", "sum(v) FROM fact JOIN dim ON k = a WHERE b = x.g",
	"ARRAY(SELECT id FROM fact JOIN dim ON k = a WHERE dim.g = x.g AND v = 3 ORDER BY id)",
	"name, min(v) FROM fact JOIN dim ON k = a WHERE p > x.g GROUP BY name"}'::text[]) query;
SELECT differs('WITH d AS MATERIALIZED (SELECT k, name FROM dim WHERE g = 4)
	SELECT id, v FROM fact WHERE a IN (SELECT k FROM d)');
SELECT differs('SELECT id FROM fact WHERE a IN (SELECT k FROM keys) AND v = 3 FOR UPDATE', 0);
BEGIN;
SELECT plan_text('UPDATE fact SET v = -1 WHERE a IN (SELECT k FROM keys)') ~ 'Dimensions' AS star;
DECLARE cur CURSOR FOR SELECT id, name FROM fact JOIN dim ON k = a WHERE g = 2 AND v = 3 ORDER BY id;
FETCH 2 FROM cur;
UPDATE fact SET a = a + 1 WHERE v = 3;
DELETE FROM dim WHERE g = 2;
FETCH 2 FROM cur;
ROLLBACK;
-- a genetic search for an order of joins
SET geqo_threshold = 2;
SELECT differs('SELECT d.name, sum(v) FROM fact JOIN dim d ON d.k = a JOIN dim e ON e.k = b
	WHERE e.g = 2 GROUP BY d.name', 0);
RESET geqo_threshold;
-- empty ones: dimensions, facts
CREATE TABLE empty (LIKE dim INCLUDING ALL);
SELECT differs('SELECT ' || query)
FROM unnest(ARRAY['count(*), sum(v) FROM fact WHERE a IN (SELECT k FROM empty)',
	'name, count(*) FROM fact JOIN empty ON k = a GROUP BY name', 'id FROM fact JOIN empty ON k = a JOIN dim USING (k)',
	'sum(dim.amount) FROM fact JOIN dim ON k = a JOIN empty ON empty.k = b',
	'count(*), sum(v) FROM fact WHERE NOT EXISTS (SELECT FROM empty WHERE k = a)',
	'name, count(*) FROM fact LEFT JOIN empty ON k = a GROUP BY name']) query;
CREATE TABLE no_facts (a int, v int);
CREATE INDEX ON no_facts USING rtscan (a) INCLUDE (v);
SELECT differs('SELECT name, sum(v) FROM no_facts JOIN dim ON k = a GROUP BY name');
-- values that dictionaries lack: all rows are pending
INSERT INTO no_facts SELECT i % 50, i FROM generate_series(1, 200) i;
SELECT differs('SELECT name, sum(v) FROM no_facts JOIN dim ON k = a GROUP BY name');
-- types that have no 64-bit keys; partitions, joined one by one
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TABLE odd_facts (e mood, u uuid, l int[], p int4range, i inet, v int);
INSERT INTO odd_facts SELECT (ARRAY['sad', 'ok', 'happy', NULL])[1 + i % 4]::mood, md5((i % 9)::text)::uuid,
	ARRAY[i % 3, NULL], int4range(i % 5, i % 5 + 3), '10.0.0.0'::inet + i % 7, i FROM generate_series(1, 2000) i;
CREATE INDEX ON odd_facts USING rtscan (e, u, l, p, i) INCLUDE (v);
VACUUM ANALYZE odd_facts;
CREATE TABLE odd_keys AS SELECT DISTINCT ON (e) * FROM odd_facts WHERE e > 'sad' ORDER BY e, v;
ANALYZE odd_keys;
SELECT differs(format('SELECT count(*), sum(v) FROM odd_facts WHERE %1$s IN (SELECT %1$s FROM odd_keys)', key)),
	differs(format('SELECT * FROM odd_facts f WHERE NOT EXISTS (SELECT FROM odd_keys k WHERE k.%1$s = f.%1$s)', key)),
	differs(format('SELECT k.%1$s, sum(f.v) FROM odd_facts f JOIN (SELECT DISTINCT %1$s FROM odd_keys) k USING (%1$s)
		GROUP BY 1', key))
FROM unnest('{e,u,l,p,i}'::text[]) key;
CREATE TABLE parts (a int, b int, v int) PARTITION BY HASH (a);
CREATE TABLE dims (k int PRIMARY KEY, name text) PARTITION BY HASH (k);
CREATE TABLE parts0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parts1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TABLE dims0 PARTITION OF dims FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE dims1 PARTITION OF dims FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parts SELECT i % 100, i % 7, i FROM generate_series(1, 5000) i;
INSERT INTO dims SELECT i, 'name ' || i % 5 FROM generate_series(50, 150) i;
CREATE INDEX ON parts USING rtscan (a, b) INCLUDE (v);
VACUUM ANALYZE parts, dims;
SELECT differs('SELECT name, sum(v) FROM parts JOIN dims ON k = a GROUP BY name', 2);
SET enable_partitionwise_join = on;
SET enable_partitionwise_aggregate = on;
SELECT differs('SELECT ' || query, 2)
FROM unnest('{"name, sum(v) FROM parts JOIN dims ON k = a GROUP BY name",
	"a, name, sum(v) FROM parts JOIN dims ON k = a GROUP BY 1, 2", "v, name FROM parts JOIN dims ON k = a WHERE b = 3",
	"count(*) FROM parts WHERE a IN (SELECT k FROM dims)"}'::text[]) query;
-- rows that a policy hides, of either table; an operator that tells about rows is asked after what guards them
CREATE ROLE star_user;
GRANT USAGE ON SCHEMA star TO star_user;
GRANT SELECT ON fact, dim, keys TO star_user;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA star TO star_user;
ALTER TABLE dim ENABLE ROW LEVEL SECURITY;
ALTER TABLE fact ENABLE ROW LEVEL SECURITY;
CREATE POLICY odd ON dim USING (k % 2 = 1);
CREATE POLICY few ON fact USING (v < 9);
SET ROLE star_user;
SELECT differs('SELECT name, count(*) FROM fact JOIN dim ON k = a GROUP BY name');
SELECT differs('SELECT count(*) FROM fact WHERE t IN (SELECT t FROM keys)');
SELECT differs('SELECT count(*) FROM fact WHERE n IN (SELECT n FROM keys)', 0);
RESET ROLE;
ALTER TABLE dim DISABLE ROW LEVEL SECURITY;
ALTER TABLE fact DISABLE ROW LEVEL SECURITY;
DROP OWNED BY star_user;
DROP ROLE star_user;
--
-- Rows that meet several
--
CREATE TABLE several (k int, g int, name text, n numeric, side bool);
INSERT INTO several SELECT CASE WHEN i <= 60 THEN nullif(i % 20, 7) WHEN i <= 1100 THEN 33 ELSE 44 + i % 2 END,
	nullif(i % 7, 3), nullif('name ' || i % 9, 'name 4'), i / 4.0, i % 2 = 0 FROM generate_series(1, 1300) i;
ANALYZE several;
EXPLAIN (COSTS OFF) SELECT g, count(*), sum(v) FROM fact JOIN several ON k = a GROUP BY g;
EXPLAIN (COSTS OFF) SELECT name, sum(v) FROM fact LEFT JOIN several ON k = a GROUP BY name;
SELECT differs(format('SELECT %s FROM fact %s JOIN several ON k = a WHERE %s %s', output, kind, quals, behind))
FROM (VALUES ('count(*)', ''), ('count(*), sum(v), sum(m), min(w), max(t), count(fact.n)', ''),
	('name, count(*), sum(v), sum(several.n), max(t)', 'GROUP BY name'),
	('g, side, v % 3, count(*), count(g)', 'GROUP BY 1, 2, 3'), ('w, v, count(*)', 'GROUP BY 1, 2'),
	('g, w, count(*)', 'GROUP BY ROLLUP (g, w)'), ('a, count(DISTINCT name), count(DISTINCT id)', 'GROUP BY a'),
	('count(*) FILTER (WHERE g > v), sum(v * g), avg(v) FILTER (WHERE side)', ''),
	('percentile_disc(0.5) WITHIN GROUP (ORDER BY o), percentile_disc(0.3) WITHIN GROUP (ORDER BY g)', ''),
	('mode() WITHIN GROUP (ORDER BY v), stddev(v), regr_count(v, g)', '')) x (output, behind),
	unnest('{"",LEFT}'::text[]) kind,
	unnest('{p % 40 = 0,"a IN (33, 44, 7, 101) AND v < 2","name > ''name 5'' AND v < g AND b < 30",
		"o BETWEEN 10 AND 40","a IS NULL AND v = 3"}'::text[]) quals
WHERE NOT (kind = 'LEFT' AND quals LIKE 'name%');
SELECT differs(format('SELECT %s FROM fact %s JOIN several ON k = a WHERE %s', output, kind, quals))
FROM unnest('{"id, a, g, name","t, c, several.n, w",name,1,"v + g AS x, several.side"}'::text[]) output,
	unnest('{"",LEFT}'::text[]) kind,
	unnest('{p % 400 = 0,"a IN (44, 7, 101) AND v < 2 AND b < 20","o BETWEEN 10 AND 20",
		"o < 30 AND v < 5"}'::text[]) quals;
-- with others, that have one row or several; conditions over both; of several keys; by values that are no codes
SELECT differs('SELECT ' || query)
FROM unnest('{"x.g, x.name, count(*) FROM fact JOIN several x ON x.k = a JOIN dim z ON z.k = x.g
		WHERE o < 3000 GROUP BY 1, 2",
	"x.name, y.g, count(*), sum(v) FROM fact JOIN several x ON x.k = a JOIN several y ON y.k = b
		WHERE o < 2000 GROUP BY 1, 2",
	"x.g, y.name, z.name FROM fact LEFT JOIN several x ON x.k = a LEFT JOIN several y ON y.k = b JOIN dim z ON z.k = b
		WHERE o < 99",
	"count(*) FROM fact JOIN several x ON x.k = a JOIN several y ON y.k = b AND y.g = x.g WHERE o < 9000",
	"x.name, count(*) FROM fact JOIN several x ON x.k = a AND x.g < v AND x.n <> f GROUP BY 1",
	"x.name, count(*) FROM fact JOIN several x ON x.k = a AND x.g = b GROUP BY 1",
	"x.name, count(*) FROM fact LEFT JOIN several x ON x.k = a AND x.g = b GROUP BY 1",
	"x.name, count(*) FROM fact JOIN several x ON x.k = a AND x.g = v AND x.g = b GROUP BY 1",
	"x.name, id FROM fact JOIN several x ON x.k = v AND x.g = v",
	"x.side, count(*) FROM fact JOIN several x ON x.k = v GROUP BY 1", "g, id FROM fact JOIN several x ON x.k = p",
	"count(*), sum(g) FROM fact JOIN several x ON x.k = o",
	"d1, id FROM fact JOIN (SELECT k, g + 1 FROM several) x (k, d1) ON k = v",
	"count(*) FROM fact JOIN several x ON x.k = a WHERE b IN (SELECT k FROM keys)
		AND NOT EXISTS (SELECT FROM dim WHERE k = v)",
	"count(*) FROM fact JOIN (SELECT * FROM several WHERE n < 0) x ON x.k = a",
	"count(*), count(x.k) FROM fact LEFT JOIN (SELECT * FROM several WHERE n < 0) x ON x.k = a"}'::text[]) query;
-- from the heap, or of the others those that a row of the table meets: PostgreSQL's join
SELECT differs('SELECT filler, name FROM fact JOIN several ON k = a WHERE v = 1 AND b < 9', NULL);
SELECT differs('SELECT * FROM ' || query, NULL)
FROM unnest('{dim WHERE k IN (SELECT a FROM fact WHERE v < 5),
	several WHERE EXISTS (SELECT FROM fact WHERE a = k AND v < 5),
	"several LEFT JOIN (SELECT id, a FROM fact WHERE v = 5) f ON a = k"}'::text[]) query;
-- again and again, and not to the end
SELECT differs(format('SELECT * FROM (VALUES (0), (33), (NULL), (44)) x (y), LATERAL (SELECT %s OFFSET 0) z',
	query), NULL)
FROM unnest('{"id, name FROM fact JOIN several ON k = a AND k > x.y WHERE o < 200",
	"count(*), sum(v) FROM fact JOIN several ON k = a WHERE a < x.y",
	"name, count(*) FROM fact LEFT JOIN several ON k = a WHERE a = x.y OR a = x.y + 1 GROUP BY 1"}'::text[]) query;
SELECT count(*) FROM generate_series(1, 3) y, LATERAL (SELECT id, name FROM fact JOIN several ON k = a
	WHERE a IN (33, y) LIMIT 1500) z;
BEGIN;
DECLARE cursor CURSOR FOR SELECT a, k FROM fact JOIN several ON k = a WHERE a = 33;
FETCH 3 FROM cursor;
MOVE 5000 FROM cursor;
FETCH 2 FROM cursor;
COMMIT;
-- operators that lack one: the planner cannot know that what equals the same is equal
CREATE OPERATOR === (FUNCTION = int4eq, LEFTARG = int4, RIGHTARG = int4, COMMUTATOR = ===, MERGES);
CREATE OPERATOR === (FUNCTION = int8eq, LEFTARG = int8, RIGHTARG = int8, COMMUTATOR = ===, MERGES);
CREATE OPERATOR === (FUNCTION = int2eq, LEFTARG = int2, RIGHTARG = int2, COMMUTATOR = ===, MERGES);
CREATE OPERATOR === (FUNCTION = int48eq, LEFTARG = int4, RIGHTARG = int8, COMMUTATOR = ===, MERGES);
CREATE OPERATOR === (FUNCTION = int84eq, LEFTARG = int8, RIGHTARG = int4, COMMUTATOR = ===, MERGES);
CREATE OPERATOR === (FUNCTION = int28eq, LEFTARG = int2, RIGHTARG = int8, COMMUTATOR = ===, MERGES);
CREATE OPERATOR === (FUNCTION = int82eq, LEFTARG = int8, RIGHTARG = int2, COMMUTATOR = ===, MERGES);
DO $$
DECLARE
	method text;
	type text;
BEGIN
	FOREACH method IN ARRAY '{btree,rtscan}'::text[] LOOP
		EXECUTE format('CREATE OPERATOR FAMILY same USING %s', method);
		FOREACH type IN ARRAY '{int2,int4,int8}'::text[] LOOP
			EXECUTE format('CREATE OPERATOR CLASS same_%2$s FOR TYPE %2$s USING %1$s FAMILY same AS
				OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 ===, OPERATOR 4 >=, OPERATOR 5 >,
				FUNCTION 1 bt%2$scmp(%2$s, %2$s)', method, type);
		END LOOP;
		EXECUTE format('ALTER OPERATOR FAMILY same USING %s ADD
			OPERATOR 1 < (int4, int8), OPERATOR 2 <= (int4, int8), OPERATOR 3 === (int4, int8),
			OPERATOR 4 >= (int4, int8), OPERATOR 5 > (int4, int8), FUNCTION 1 (int4, int8) btint48cmp(int4, int8),
			OPERATOR 3 === (int8, int4), FUNCTION 1 (int8, int4) btint84cmp(int8, int4),
			OPERATOR 3 === (int2, int8), FUNCTION 1 (int2, int8) btint28cmp(int2, int8),
			OPERATOR 3 === (int8, int2), FUNCTION 1 (int8, int2) btint82cmp(int8, int2)', method);
	END LOOP;
END $$;
CREATE TABLE four (id int, x int, w int);
INSERT INTO four SELECT i, i % 10, i % 7 FROM generate_series(1, 1000) i;
CREATE INDEX ON four USING rtscan (x same_int4, w) INCLUDE (id);
VACUUM ANALYZE four;
CREATE TABLE two (k2 int PRIMARY KEY, k int2);
INSERT INTO two SELECT i, i FROM generate_series(0, 6) i;
CREATE TABLE eight (k int8 NOT NULL, s text);
INSERT INTO eight SELECT i, 's' || i FROM generate_series(0, 9) i;
CREATE UNIQUE INDEX ON eight (k same_int8);
ANALYZE two, eight;
SET join_collapse_limit = 1;
SELECT count(*), sum(id) FROM (four JOIN two ON w = k2) JOIN eight ON two.k === eight.k AND x === eight.k;
SELECT count(*), sum(id) FROM (four JOIN two ON w = k2) JOIN eight ON x === eight.k AND two.k === eight.k;
SELECT count(*), sum(id) FROM four WHERE x = w;
RESET join_collapse_limit;
-- all values are keys, and what else is asked leaves as many codes as there are keys, NULL's among them
CREATE TABLE coin (id int, side bool NOT NULL, v int);
CREATE INDEX ON coin USING rtscan (side, v) INCLUDE (id);
INSERT INTO coin SELECT i, i % 3 = 0, i % 7 FROM generate_series(1, 400) i;
VACUUM ANALYZE coin;
CREATE TABLE sides (side bool PRIMARY KEY, label text);
INSERT INTO sides VALUES (false, 'tail'), (true, 'head');
CREATE TABLE hidden (side bool);
INSERT INTO hidden VALUES (false);
ANALYZE sides, hidden;
SELECT differs('SELECT ' || query)
FROM unnest('{"id, label FROM coin NATURAL JOIN sides s WHERE NOT EXISTS (SELECT FROM hidden h WHERE h.side = s.side)",
	"label, sum(v) FROM coin NATURAL JOIN sides s WHERE NOT EXISTS (SELECT FROM hidden WHERE side = s.side) GROUP BY 1",
	"id, label FROM coin NATURAL JOIN sides WHERE side NOT IN (SELECT side FROM hidden)",
	"id, label FROM coin NATURAL JOIN sides WHERE side IS DISTINCT FROM false"}'::text[]) query;
-- thousands of keys that are close to each other, with as many names: of codes, which come often, and of values
CREATE TABLE near (id int, often int, seldom int, v int);
INSERT INTO near SELECT i, nullif(h % 4000, 7), h % 40000, h % 17
	FROM (SELECT i, abs(hashint4(i)) FROM generate_series(1, 66000) i) r (i, h);
CREATE INDEX near_star ON near USING rtscan (often, seldom) INCLUDE (id, v);
INSERT INTO near SELECT i, i % 4100, i * 7 % 41000, i % 17 FROM generate_series(70001, 71500) i;
VACUUM near;
INSERT INTO near SELECT i, i, i, 1 FROM generate_series(3990, 4010) i;
CREATE TABLE close (k int PRIMARY KEY, name text);
INSERT INTO close SELECT i, nullif('name ' || i, 'name 103') FROM generate_series(100, 39000, 3) i;
ANALYZE near, close;
EXPLAIN (COSTS OFF) SELECT name, count(*), sum(v) FROM near JOIN close ON k = seldom GROUP BY name;
SELECT differs('SELECT ' || query)
FROM unnest(ARRAY['name, count(*), sum(v) FROM near JOIN close ON k = often GROUP BY name',
	'name, count(*), sum(v) FROM near JOIN close ON k = seldom GROUP BY name',
	'name, count(*), sum(v) FROM near LEFT JOIN close ON k = seldom GROUP BY name',
	'id, name FROM near JOIN close ON k = often WHERE seldom > 38000',
	'count(*), sum(v) FROM near WHERE seldom IN (SELECT k FROM close)',
	'count(*), sum(v) FROM near WHERE often IN (SELECT k FROM close) AND seldom IN (SELECT k FROM close WHERE k > 200)',
	'count(*), sum(v) FROM near WHERE often < 50 AND seldom IN (SELECT k FROM close)',
	'count(*), sum(v) FROM near WHERE NOT EXISTS (SELECT FROM close WHERE k = seldom)']) query;
-- labels that come often, of all lengths: plain and compressed, beside each other; and more than are looked at
CREATE TABLE labels (k int PRIMARY KEY, word text, amount numeric, bits varbit, fixed char(9), parts int[]);
INSERT INTO labels SELECT i, CASE i % 4 WHEN 0 THEN '' WHEN 1 THEN repeat('long ', 2000 + i % 3)
		WHEN 2 THEN repeat('w', i % 300) WHEN 3 THEN repeat('w', i % 2 + 126) END,
	CASE WHEN i % 7 > 0 THEN round(i % 3, i % 4) END, (i % 5)::bit(3), i % 6, ARRAY[i % 2, NULL]
	FROM generate_series(1, 2500) i;
INSERT INTO labels SELECT k + 2500, word, amount, bits, fixed, parts FROM labels WHERE k % 3 = 0;
ANALYZE labels;
SELECT differs('SELECT ' || query)
FROM unnest(ARRAY['md5(word), count(*), sum(v) FROM near JOIN labels ON k = often GROUP BY word',
	'bits, fixed, parts, count(*), sum(amount) FROM near JOIN labels ON k = seldom GROUP BY bits, fixed, parts',
	'near.id, md5(word), amount::text, bits, fixed, parts FROM near JOIN labels ON k = often',
	'min(word), max(length(word)), count(DISTINCT word) FROM near LEFT JOIN labels ON k = seldom
		WHERE often < 3000']) query;
-- several processes
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
ALTER TABLE fact SET (parallel_workers = 2);
EXPLAIN (COSTS OFF) SELECT name, sum(v) FROM fact JOIN dim ON k = a WHERE g = 2 GROUP BY name;
SELECT differs('SELECT ' || query)
FROM unnest(ARRAY['name, sum(v), count(*) FROM fact JOIN dim ON k = a WHERE g = 2 GROUP BY name',
	'id, v, name FROM fact JOIN dim ON k = a WHERE g < 3',
	'count(*) FROM fact WHERE a IN (SELECT k FROM keys) AND t IN (SELECT t FROM keys)',
	'name, sum(v), count(*) FROM fact LEFT JOIN several ON k = a GROUP BY 1',
	'id, name FROM fact JOIN several ON k = a WHERE b < 9']) query;
RESET max_parallel_workers_per_gather;

DROP SCHEMA star CASCADE;
