-- Joins by several keys at once, which only together say what row of the other table is met.

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA star_keys;
SET search_path = star_keys, public;
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
-- a, b, c and t come often, so that they are coded; p hardly does; v and w are INCLUDEd
CREATE TABLE fact (id int, a int, b bigint, c int, t text, q float8, p int, v int, w text, filler text)
	WITH (autovacuum_enabled = off, fillfactor = 80);
CREATE FUNCTION facts(first int, n int) RETURNS SETOF fact LANGUAGE sql AS $$
	SELECT i, nullif(h % 60, 7), nullif(h / 60 % 50, 9), nullif(h / 3000 % 12, 5), nullif('text ' || h % 31, 'text 4'),
		CASE h % 10 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' ELSE (h % 40)::float8 END, h % 30000, nullif(h % 17, 11),
		nullif('w' || h / 17 % 9, 'w6'), NULL
	FROM (SELECT i, abs(hashint4(i)) FROM generate_series(first, first + n - 1) i) r (i, h)
$$;
INSERT INTO fact SELECT * FROM facts(1, 8000);
CREATE INDEX fact_keys ON fact USING rtscan (a, b, c, t, q, p) INCLUDE (id, v, w);
DELETE FROM fact WHERE id % 13 = 0;
VACUUM ANALYZE fact;
-- segments of what was pending, pending rows, dead ones, rows that are not all-visible
INSERT INTO fact SELECT * FROM facts(100001, 1500);
DELETE FROM fact WHERE id % 17 = 0;
UPDATE fact SET filler = 'HOT' WHERE id % 11 = 0;
UPDATE fact SET a = a + 1 WHERE id % 997 = 0;
SELECT segments > 1 AS segments, pending > 0 AS pending FROM rtscan_stats('fact_keys');

-- unique together, for all of three keys; with duplicates and NULLs
CREATE TABLE two (x int, y bigint, label text, g int, n numeric, flag bool, PRIMARY KEY (x, y));
INSERT INTO two SELECT i % 70, i / 70, 'label ' || i % 23, nullif(i % 7, 3), i / 4.0, i % 3 > 0
	FROM generate_series(0, 2800) i;
CREATE TABLE three (x int, y int2, z int8, label text, UNIQUE (x, y, z));
INSERT INTO three SELECT i % 40, nullif(i / 40 % 30, 4), i / 1200, 'label ' || i % 5 FROM generate_series(0, 9000) i;
CREATE TABLE keys (x int, y int2, z int, t text, q float4, p int, w text);
INSERT INTO keys SELECT nullif(i % 50, 3), nullif(i * 7 % 45, 2), i % 11, nullif('text ' || i % 20, 'text 9'),
	CASE i % 5 WHEN 0 THEN 'NaN' WHEN 1 THEN 0 ELSE (i % 40)::float4 END, i * 3, nullif('w' || i % 8, 'w1')
	FROM generate_series(1, 4000) i;
ANALYZE two, three, keys;

--
-- Semi and anti joins
--
EXPLAIN (COSTS OFF) SELECT id FROM fact WHERE (a, b) IN (SELECT x, y FROM keys WHERE z = 1) AND p > 100;
EXPLAIN (COSTS OFF) SELECT count(*) FROM fact WHERE NOT EXISTS (SELECT FROM keys WHERE x = a AND y = b AND z > 1);
SELECT differs(format('SELECT %s FROM fact WHERE %s EXISTS (SELECT FROM keys k WHERE %s) AND %s',
	output, kind, keys, others))
FROM unnest('{"count(*), sum(v), min(w)","id, a, v, w",*}'::text[]) output,
	unnest('{"",NOT}'::text[]) kind,
	unnest('{x = a AND y = b,k.t = fact.t AND x = a,k.q = fact.q AND y = b,k.p = fact.p AND y = b,x = a AND x = b,
		x = a AND y = a,y = b AND z = v,k.w = fact.w AND z = v,x = a AND y = b AND k.z = c,
		k.t = fact.t AND y = b AND k.q = fact.q AND x = a,x = a AND y = b AND z = 7,x = a AND y = b AND x < -5,
		k.p = fact.p AND k.w = fact.w}'::text[]) keys,
	unnest('{true,p < 20000 AND b < 40 AND v + c > 4}'::text[]) others
WHERE others = 'true' OR output <> '*';
SELECT differs('SELECT count(*), sum(v) FROM fact WHERE ' || qual)
FROM unnest(ARRAY['(a, b) IN (SELECT x, y FROM keys)', '(a, b, c) = ANY (SELECT x, y, z FROM keys WHERE p > 200)',
	'(a, b) IN (SELECT max(x), y FROM keys GROUP BY y)',
	'(a, t) IN (SELECT x, t FROM keys) AND b IN (SELECT y FROM keys)',
	'(a, b) IN (SELECT x, y FROM keys) AND (b, c) IN (SELECT y, z FROM keys)
		AND NOT EXISTS (SELECT FROM keys WHERE x = c AND y = v)',
	'(a, b) IN (SELECT x, x FROM two UNION ALL SELECT y, x FROM keys)',
	'(p, a) IN (SELECT i, i % 60 FROM generate_series(0, 20000) i)',
	'(a, b) IN (VALUES (1, 2), (1, 2), (3, NULL), (4, 5))']) qual;
-- other conditions, keys that no index has, pairs in which NULL counts: PostgreSQL's joins
SELECT differs('SELECT count(*) FROM fact WHERE ' || qual, 0)
FROM unnest(ARRAY['EXISTS (SELECT FROM keys k WHERE x = a AND y < b)',
	'EXISTS (SELECT FROM keys k WHERE x = a AND k.w = filler)',
	'NOT EXISTS (SELECT FROM keys k WHERE x = a AND y = b AND z < v)',
	'(a, b) NOT IN (SELECT x, y FROM keys)',
	'EXISTS (SELECT FROM keys k WHERE x = a AND y IS NOT DISTINCT FROM b)']) qual;
SELECT differs('SELECT count(*) FROM fact WHERE a IN (SELECT x FROM keys WHERE y = b)', NULL);
-- keys that come often are brought together as they come
CREATE TABLE many AS SELECT i % 30 AS x, i % 21 AS y FROM generate_series(1, 150000) i;
ANALYZE many;
SET work_mem = '32MB';
SELECT differs('SELECT count(*), sum(v) FROM fact
	WHERE NOT EXISTS (SELECT FROM many WHERE x = a AND y = b)');
RESET work_mem;

--
-- Inner and left joins
--
EXPLAIN (COSTS OFF, VERBOSE) SELECT label, sum(v) FROM fact JOIN two ON x = a AND y = b WHERE g = 2 GROUP BY label;
EXPLAIN (COSTS OFF, VERBOSE) SELECT id, label FROM fact LEFT JOIN two ON x = a AND y = b WHERE p < 100;
SELECT differs(format('SELECT %s FROM fact %s JOIN two ON %s WHERE p > 20 %s', output, kind, keys, behind))
FROM (VALUES ('label, count(*), sum(v), count(g)', 'GROUP BY label'), ('g, c, sum(n), max(label)', 'GROUP BY 1, 2'),
	('id, label, n, g + v AS x', ''), ('sum(n), max(label), count(g)', ''),
	('coalesce(label, ''none''), g IS NULL, count(*)', 'GROUP BY 1, 2')) q (output, behind),
	unnest('{"",LEFT}'::text[]) kind,
	unnest('{x = a AND y = b,y = b AND x = a,x = v AND y = b,x = c AND y = v,x = b AND y = p}'::text[]) keys;
SELECT differs('SELECT ' || query)
FROM unnest(ARRAY['count(*) FROM fact JOIN two ON x = a AND y = b', 'id, v FROM fact JOIN two ON x = v AND y = b',
	'label, count(*) FROM fact JOIN three ON x = a AND y = b AND z = c GROUP BY 1',
	'label, count(*) FROM fact LEFT JOIN three ON z = c AND x = a AND y = b GROUP BY 1',
	'id, three.label, two.label AS more FROM fact JOIN three ON x = a AND y = b AND z = c
		LEFT JOIN two ON two.x = v AND two.y = a',
	'fact.* FROM fact JOIN two ON x = a AND y = b WHERE flag',
	'filler, id FROM fact JOIN two ON x = a AND y = b AND g < v',
	'count(*), sum(g) FROM fact JOIN two ON x = a AND y = b AND g < v',
	'two.label, e.label, count(*) FROM fact JOIN two ON x = a AND y = b JOIN two e ON e.x = c AND e.y = v
		WHERE e.g = two.g GROUP BY 1, 2',
	'label, count(*) FROM fact JOIN two ON x = a AND y = b WHERE (a, c) IN (SELECT x, z FROM keys) GROUP BY 1',
	'label, m FROM fact JOIN (SELECT x, y, max(label), count(*) FROM two GROUP BY x, y) d (x, y, label, m)
		ON x = a AND y = b',
	'd.label, e.label, count(*) FROM fact JOIN (two d JOIN three e ON e.x = d.g AND e.y = d.g AND e.z = d.g)
		ON d.x = a AND d.y = b GROUP BY 1, 2',
	'label, count(*) FROM fact, two WHERE x = a AND y = b AND a = 3 AND label < ''label 15'' GROUP BY 1',
	'label, count(*) FROM fact JOIN (SELECT * FROM two WHERE x = 3) p ON y = b GROUP BY 1',
	'(x = a AND y = b) AS same, count(*) FROM fact JOIN two ON x = a AND y = b GROUP BY 1',
	'label, count(*) FROM fact JOIN two ON x = a AND y = b JOIN keys USING (x) GROUP BY 1']) query;
-- not unique, not even together
SELECT differs('SELECT ' || query)
FROM unnest('{"count(*) FROM fact JOIN keys ON x = a AND y = b",
	"label, count(*) FROM fact JOIN three ON x = a AND y = b GROUP BY 1",
	"label, z, id FROM fact LEFT JOIN three ON x = a AND y = b WHERE v = 3",
	"keys.t, sum(v), count(*) FROM fact LEFT JOIN keys ON x = a AND y = b AND z = c GROUP BY 1",
	"keys.w, label, count(*) FROM fact JOIN keys ON x = a AND y = b JOIN two USING (x, y)
		GROUP BY 1, 2"}'::text[]) query;
-- another condition of an outer join
SELECT differs('SELECT label, count(*) FROM fact LEFT JOIN two ON x = a AND y = b AND g < v GROUP BY 1', 0);

--
-- Parameters, and loops
--
PREPARE by_group(int) AS SELECT label, count(*) FROM fact JOIN two ON x = a AND y = b WHERE g = $1 AND n < 50
	GROUP BY 1 ORDER BY 1 LIMIT 3;
SET plan_cache_mode = force_generic_plan;
EXECUTE by_group(1);
EXECUTE by_group(2);
EXECUTE by_group(NULL);
RESET plan_cache_mode;
SELECT differs(format('SELECT * FROM (SELECT DISTINCT g FROM two) x, LATERAL (SELECT %s) y', query))
FROM unnest('{"count(*), sum(v) FROM fact WHERE (a, b) IN (SELECT x, y FROM two WHERE two.g = x.g)",
	"sum(v), max(label) FROM fact JOIN two ON x = a AND y = b WHERE two.g = x.g",
	"count(*) FROM fact WHERE c = x.g AND NOT EXISTS (SELECT FROM keys k WHERE k.x = a AND k.y = b)",
	"ARRAY(SELECT id FROM fact JOIN two ON x = a AND y = b WHERE two.g = x.g AND v = 3 ORDER BY id)"}'::text[]) query;
CREATE TABLE none (LIKE two INCLUDING ALL);
SELECT differs('SELECT ' || query)
FROM unnest('{"count(*) FROM fact WHERE (a, b) IN (SELECT x, y FROM none)",
	"label, count(*) FROM fact JOIN none ON x = a AND y = b GROUP BY 1",
	"count(*), sum(v) FROM fact WHERE NOT EXISTS (SELECT FROM none WHERE x = a AND y = b)",
	"label, count(*) FROM fact LEFT JOIN none ON x = a AND y = b GROUP BY 1"}'::text[]) query;
-- only pending rows; types that have no 64-bit keys; collations
CREATE COLLATION caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TABLE odd (e mood, u uuid, s text COLLATE caseless, n numeric, v int);
CREATE INDEX ON odd USING rtscan (e, u, s, n) INCLUDE (v);
INSERT INTO odd SELECT (ARRAY['sad', 'ok', 'happy', NULL])[1 + i % 4]::mood, md5((i % 9)::text)::uuid,
	(ARRAY['a', 'A', 'b', 'B', NULL])[1 + i % 5], round(i % 6, i % 3), i FROM generate_series(1, 90) i;
CREATE TABLE odd_keys AS SELECT * FROM odd WHERE v < 12;
CREATE FUNCTION differ_by_odd_keys() RETURNS SETOF text LANGUAGE sql AS $$
	SELECT differs(format('SELECT %s FROM odd f
		WHERE %s EXISTS (SELECT FROM odd_keys k WHERE k.%s = f.%3$s AND k.%s = f.%4$s)', output, kind, one, other))
	FROM unnest('{*,"count(*), sum(v)"}'::text[]) output, unnest('{"",NOT}'::text[]) kind,
		unnest('{e,u,s,n}'::text[]) one, unnest('{e,u,s,n}'::text[]) other WHERE one < other
	UNION ALL SELECT differs(format('SELECT max, sum(v) FROM odd f LEFT JOIN
		(SELECT %s, %s, max(v) FROM odd_keys GROUP BY 1, 2) k USING (%1$s, %2$s) GROUP BY 1', one, other))
	FROM unnest('{e,u,s,n}'::text[]) one, unnest('{e,u,s,n}'::text[]) other WHERE one < other
$$;
SELECT * FROM differ_by_odd_keys();
VACUUM odd;
SELECT * FROM differ_by_odd_keys();
--
-- Subqueries that PostgreSQL makes no join of: NOT IN, and IN beside others; of NULLs, of nothing
--
CREATE TABLE subqueries AS SELECT format('SELECT count(*), sum(v) FROM fact WHERE %s %s', others, qual) AS query
	FROM unnest('{"","v > 5 AND","v > 5 OR","NOT","c IS NULL OR NOT"}'::text[]) others,
	unnest(ARRAY['a NOT IN (SELECT x FROM keys)', 'a NOT IN (SELECT x FROM keys WHERE x > 4)',
	'a NOT IN (SELECT x FROM keys WHERE x < 0)', 'b NOT IN (SELECT y FROM keys WHERE y > 9)',
	't NOT IN (SELECT t FROM keys WHERE t > ''text 2'')', 'v NOT IN (SELECT z FROM keys)',
	't NOT IN (SELECT t::varchar FROM keys WHERE x > 40 AND t > '''')', 'q NOT IN (SELECT q FROM keys WHERE z = 1)',
	'w NOT IN (SELECT w FROM keys WHERE w > ''w3'')', '(a IN (SELECT x FROM keys WHERE x < 9) OR c = 3)',
	'(NOT a = ANY (SELECT x FROM keys WHERE x < 9) AND c > 3)',
	'(p IN (SELECT p FROM keys) OR a NOT IN (SELECT x FROM keys WHERE x > 30))',
	'p NOT IN (SELECT max(p) FROM keys GROUP BY x)']) qual;
SELECT differs(query, NULL) FROM subqueries;
-- List the subqueries that are no conditions of the index; there should be none
SELECT query FROM subqueries, plan_text(query) plan
WHERE plan !~ 'Dimensions:' AND (plan !~ 'Index Cond: .*hashed SubPlan' OR plan ~ 'Filter: .*SubPlan');
SELECT differs('SELECT ' || query, NULL)
FROM unnest('{"id, a FROM fact WHERE a NOT IN (SELECT x FROM keys WHERE x > 4) AND v = 3",
	"* FROM fact WHERE a NOT IN (SELECT x FROM keys WHERE x > 4) AND v = 3",
	"label, count(*) FROM fact JOIN two ON x = a AND y = b WHERE b NOT IN (SELECT z FROM keys WHERE z > 2) GROUP BY 1",
	"count(*) FILTER (WHERE a NOT IN (SELECT x FROM keys WHERE x > 9)), count(*) FROM fact",
	"count(*) FROM fact WHERE a NOT IN (SELECT x FROM keys WHERE z = v AND x > 0)",
	"count(*) FROM fact WHERE (a, b) NOT IN (SELECT x, y FROM keys WHERE x > 0 AND y > 0)",
	"count(*) FROM fact WHERE a > ALL (SELECT x FROM keys WHERE x < 20)"}'::text[]) query;
-- executed again where what they depend on has changed, and only then
SELECT differs(format('SELECT * FROM (SELECT DISTINCT g FROM two) x, LATERAL (SELECT %s) y', query), NULL)
FROM unnest('{"count(*), sum(v) FROM fact WHERE p NOT IN (SELECT p FROM keys WHERE z = x.g)",
	"sum(v) FROM fact WHERE c = x.g AND a NOT IN (SELECT k.x FROM keys k WHERE k.x > 30)",
	"ARRAY(SELECT id FROM fact WHERE c = x.g AND p NOT IN (SELECT p FROM keys) AND v < 3 ORDER BY id)"}'::text[]) query;
-- and where they are given values of each row that the node is asked for
SELECT differs('SELECT ' || query, NULL)
FROM unnest('{"s, id FROM generate_series(0, 3) s
		JOIN fact ON a = ANY (ARRAY(SELECT x FROM keys WHERE x < s * 9)) AND c = s",
	"s, id FROM generate_series(0, 3) s
		JOIN fact ON a <> ALL (ARRAY(SELECT x FROM keys WHERE x < s * 9)) AND c = s"}'::text[]) query;
SELECT plan_text('SELECT id FROM generate_series(0, 3) s
	JOIN fact ON a = ANY (ARRAY(SELECT x FROM keys WHERE x < s * 9)) AND c = s') ~ 'SubPlan.* AND .*s\.s' AS asked;
CREATE SEQUENCE executions;
CREATE FUNCTION counted(x int) RETURNS int LANGUAGE sql AS $$SELECT nextval('executions')::int * 0 + x$$;
SELECT count(*), sum(y.n) > 0 AS found FROM generate_series(1, 5) i,
	LATERAL (SELECT count(*) AS n FROM fact
		WHERE c = i AND a NOT IN (SELECT counted(g) FROM two WHERE x = 3 AND g = 1)) y;
SELECT nextval('executions') - 1 = (SELECT count(*) FROM two WHERE x = 3 AND g = 1) AS once;
CREATE TABLE copy AS SELECT * FROM fact;
UPDATE fact SET v = -1 WHERE v = 3 AND a NOT IN (SELECT x FROM keys WHERE x > 4);
UPDATE copy SET v = -1 WHERE v = 3 AND a NOT IN (SELECT x FROM keys WHERE x > 4);
DELETE FROM fact WHERE p NOT IN (SELECT p FROM keys WHERE z > 3) AND v > 4;
DELETE FROM copy WHERE p NOT IN (SELECT p FROM keys WHERE z > 3) AND v > 4;
SELECT count(*) > 0 AS rows, count(*) FILTER (WHERE v = -1) > 0 AS updated FROM copy;
SELECT count(*) FROM (SELECT * FROM fact EXCEPT ALL SELECT * FROM copy) x;
SELECT count(*) FROM (SELECT * FROM copy EXCEPT ALL SELECT * FROM fact) x;

-- several processes
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
ALTER TABLE fact SET (parallel_workers = 2);
SELECT differs('SELECT ' || query)
FROM unnest(ARRAY['label, sum(v), count(*) FROM fact JOIN two ON x = a AND y = b GROUP BY 1',
	'id, v FROM fact WHERE (a, b) IN (SELECT x, y FROM keys WHERE z < 3)',
	'count(*) FROM fact WHERE NOT EXISTS (SELECT FROM keys WHERE x = a AND y = b)']) query;
RESET max_parallel_workers_per_gather;

DROP SCHEMA star_keys CASCADE;
