-- Counts from the index alone, by the node RtscanAggregate: what they are, where the node is not to be had, how it is
-- shown.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA aggregate;
SET search_path = aggregate, public;
SET rtscan.enable_scan = off; -- this is about aggregates
SET rtscan.pending_list_limit = '64kB';
SET rtscan.merge_worker = off;

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/counts.psql
\i :directory/sql/include/plans.psql
\set ECHO all
-- a: many values; b: few; c: floats; d: boolean; s: text. All have NULLs. Some rows are dead, some pending, some
-- changed.
CREATE FUNCTION rows(start int, n int) RETURNS TABLE (id int, a int, b int2, c float8, d bool, s text) LANGUAGE sql
AS $$
	SELECT i,
		   CASE WHEN x % 19 > 0 THEN x % 1007 END,
		   CASE WHEN x % 7 > 0 THEN x % 5 END,
		   CASE WHEN x % 29 = 0 THEN 'NaN' WHEN x % 31 = 0 THEN 'Infinity' WHEN x % 37 = 0 THEN '-0'
				WHEN x % 11 > 0 THEN x % 809 / 4.0 END,
		   CASE WHEN x % 3 > 0 THEN x % 2 = 0 END,
		   CASE WHEN x % 17 > 0 THEN (ARRAY['k', 'K', 'ä', 'a '])[1 + x % 4] || x % 23 END
	FROM (SELECT i, abs(hashint4(i)) FROM generate_series(start, start + n - 1) i) r (i, x)
$$;
CREATE TABLE few (id int, a int, b int2, c float8, d bool, s text, filler text)
WITH (autovacuum_enabled = off, fillfactor = 80);
CREATE TABLE many (LIKE few) WITH (autovacuum_enabled = off, fillfactor = 80);
CREATE TABLE fresh (LIKE few) WITH (autovacuum_enabled = off);
CREATE INDEX fresh_abcds ON fresh USING rtscan (a, b, c, d, s);
INSERT INTO few SELECT * FROM rows(1, 700);
INSERT INTO many SELECT * FROM rows(1, 66000);
CREATE INDEX few_abcds ON few USING rtscan (a, b, c, d, s) INCLUDE (id);
CREATE INDEX many_abcds ON many USING rtscan (a, b, c, d, s) INCLUDE (id);
DELETE FROM few WHERE id % 13 = 0;
DELETE FROM many WHERE id % 13 = 0;
VACUUM ANALYZE few;
VACUUM ANALYZE many;
INSERT INTO few SELECT * FROM rows(701, 100);
INSERT INTO many SELECT * FROM rows(66001, 8000);
-- nearly all of it pending
INSERT INTO fresh SELECT * FROM rows(1, 1);
VACUUM fresh;
INSERT INTO fresh SELECT * FROM rows(2, 90);
DELETE FROM few WHERE id % 17 = 0;
DELETE FROM many WHERE id BETWEEN 20000 AND 21000;
UPDATE few SET filler = 'HOT' WHERE id % 11 = 0;
UPDATE many SET filler = 'HOT' WHERE id % 1001 = 0;
UPDATE many SET a = a + 1 WHERE id % 997 = 0;

--
-- Conditions, and what they are of NULL
--
SELECT miscounted(tab, ARRAY[
	'a < 500', 'a <> 500', 'a IS NULL', 'a IS NOT NULL AND b IS NULL', 'a = 77 OR b = 2',
	'a BETWEEN 100 AND 800 AND b <> 3', 'a BETWEEN SYMMETRIC 800 AND 100',
	'500 > a', '3 <> b', 'a > 5 AND a > 7 AND a < 900 AND a < 850', 'a < 5 AND a > 7', 'a < 5 OR a >= 5',
	'a < 5 OR a >= 5 OR a IS NULL', '(a < 5 OR a IS NOT NULL) AND (b = 1 OR b <> 1)',
	'NOT (a < 300 AND (b = 1 OR NOT (c > 5 OR d)))',
	'(a < 100 OR (b = 2 AND (c > 100 OR (a > 900 AND NOT d)))) AND s IS NOT NULL',
	'a = 1 OR a = 2 OR b = 1 OR c = 5 OR d OR s = ''k1''',
	'a IS NULL AND b IS NULL AND c IS NULL AND d IS NULL AND s IS NULL',
	'a IS NULL OR b IS NULL OR c IS NULL OR d IS NULL OR s IS NULL', '(a, b) = (5, 2)', '(a, b) <> (5, 2)',
	'(a < 700 OR b = 0) AND (a > 300 OR b = 1) AND (b <> 2 OR c IS NULL) AND (d OR s >= ''k'')',
	'a < 100000 AND b > -1'], 'a, b, c, d, s')
FROM unnest('{few,many,fresh}'::text[]) tab;
-- constants that are NULL are gone when the planner is done, with all of the condition or with the node
SELECT miscounted(tab, ARRAY[
	'a < 500', 'a = NULL', 'a <> NULL', 'a < NULL OR b = 1', 'a < NULL AND b = 1', 'NOT (a < NULL OR b = 1)', 'true',
	'false', 'a < 5 OR true', 'NULL::bool', 'a = a', 'a IN (NULL)', 'a = ANY (NULL)', 'a <> ALL (''{}'')'],
	'', NULL, NULL)
FROM unnest('{few,many,fresh}'::text[]) tab;
SELECT miscounted(tab, ARRAY[
	'a < (SELECT NULL::int)', 'a <> (SELECT NULL::int) OR b = 1', 'a IS NULL OR a < (SELECT NULL::int)',
	'b = (SELECT 3) AND a > (SELECT 100)', 'a < (SELECT max(id) / 2 FROM fresh)'], 'a')
FROM unnest('{few,many,fresh}'::text[]) tab;
-- booleans
SELECT miscounted(tab, ARRAY[
	'd', 'NOT d', 'd IS TRUE', 'd IS FALSE', 'd IS UNKNOWN', 'd IS NOT TRUE', 'd IS NOT FALSE', 'd IS NOT UNKNOWN',
	'd = true', 'd = false', 'd <> true', 'd <> (SELECT true)', 'd < (SELECT true)',
	'(NOT d) IS TRUE', '(NOT d) IS NOT TRUE', '(NOT d) IS NOT UNKNOWN', 'NOT (d IS NOT FALSE AND a < 500)',
	'd OR d IS NULL', 'd OR NOT d', 'd AND NOT d', 'd IS NULL'], 'd', NULL, NULL)
FROM unnest('{few,many}'::text[]) tab;
SELECT miscounted(tab,
	ARRAY['d', 'd IS TRUE', 'd IS FALSE', 'd IS UNKNOWN', 'd IS NOT TRUE', 'd IS NOT FALSE', 'd IS NOT UNKNOWN'], 'd')
FROM unnest('{few,many}'::text[]) tab;
-- three values of more than columns
SELECT miscounted(tab, ARRAY[
	'(a < 500) IS TRUE', '(a < 500) IS NOT TRUE', '(a < 500 OR d) IS UNKNOWN', '(a < 500) IS NULL',
	'(a < 500 AND d) IS NOT FALSE', '(a < 500) = d', 'a IS DISTINCT FROM 5', 'a IS NOT DISTINCT FROM NULL',
	'a IS DISTINCT FROM (SELECT NULL::int)',
	'coalesce(d, true)', 'CASE WHEN d THEN a < 5 ELSE b = 1 END', 'nullif(a, 5) = 6'], 'd', NULL, NULL)
FROM unnest('{few,many}'::text[]) tab;
-- arrays
SELECT miscounted(tab, ARRAY[
	'a IN (1, 2, 3)', 'a IN (1, NULL, 3, 3)', 'a = ANY (''{}'')', 'a < ANY (''{5,NULL,100}'')',
	'a >= ANY (''{900,950}'') OR b IN (1, 2)', 'a = ANY (''{{1,2},{3,NULL}}'')', 's IN (''k1'', ''K2'', ''ä3'')',
	'a = ANY ((SELECT array_agg(i) FROM generate_series(1, 300) i)::int[])', 'a = ANY ((SELECT NULL::int[])::int[])',
	'a IN (7, (SELECT 8), NULL)', 'a IN (SELECT 5) OR a = 6', 'c IN (''NaN'', ''-0'', ''Infinity'')'], 'a', NULL, NULL)
FROM unnest('{few,many}'::text[]) tab;
SELECT miscounted(tab, ARRAY[
	'a IN (1, 2, 3)', 'a = ANY (''{}'')', 'a < ANY (''{5,NULL,100}'')',
	's IN (''k1'', ''K2'', ''ä3'') OR a IN (7, (SELECT 8), NULL)'], 'a')
FROM unnest('{few,many}'::text[]) tab;
SELECT miscounted(tab,
	ARRAY['a NOT IN (1, 2)', 'a <> ALL (''{1,2}'')', 'a <> ANY (''{1,2}'')', 'a < ALL (''{500,600}'')'], 'a')
FROM unnest('{few,many}'::text[]) tab;
-- floats and texts
SELECT miscounted(tab, ARRAY[
	'c = 0', 'c <> 0', 'c = ''NaN''', 'c <> ''NaN''', 'c > 100', 'c >= ''Infinity''', 'c < ''-Infinity''',
	'c <= 100::float4', 'c <> 0::float4', '5::float4 < c', 'c BETWEEN ''-0'' AND ''Infinity'''], 'c')
FROM unnest('{few,many}'::text[]) tab;
SELECT miscounted(tab, ARRAY[
	's < ''b''', 's >= ''K'' AND s < ''L''', 's <> ''k5''', 's = ''a 7''', 's > ''ä''', 's <> ''''',
	's BETWEEN ''k'' AND ''l''', 's = ''k1''::varchar'], 's')
FROM unnest('{few,many}'::text[]) tab;
-- conditions that the index cannot look up are tested on its rows, unless they are volatile, or about columns that the
-- index lacks or does not have as they look
SELECT miscounted(tab, ARRAY[
	's LIKE ''k%''', 's ~ ''^k''', 's < ''b'' COLLATE "und-x-icu"', 's || ''x'' = ''k1x''', 's = lower(s)',
	'''k1''::name < s', 'a + 1 = 6', 'a = b', 'a::text = ''5''', 'id < 50', 'a = 5 OR id < 30'], '')
FROM unnest('{few,many}'::text[]) tab;
SELECT miscounted('few', ARRAY['a < c'], '', NULL, NULL);
SELECT miscounted('few', ARRAY['filler IS NULL', 'a < random() * 0 + 500', 'ctid < ''(1,1)'''], '', 0, 0);

--
-- Minima, maxima and counts of any type
--
CREATE COLLATION caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE pair AS (x int, y text);
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE TABLE types (n numeric, t timestamp, tz timestamptz, dt date, x text COLLATE caseless, x_c text COLLATE "C",
	v varchar(10), f bpchar(5), i8 int8, f4 float4, j jsonb, u uuid, m mood, p pair, r int4range, ai int[], po positive,
	ch "char", nm name, iv interval, ip inet, by bytea)
WITH (autovacuum_enabled = off);
INSERT INTO types
SELECT CASE WHEN i % 10 = 0 THEN 'NaN' ELSE round(i / 4.0, i % 4) END,
	'2021-10-30'::timestamp + i * interval '17 minutes', '2021-10-30'::timestamptz + i * interval '17 minutes',
	'2021-10-25'::date + i % 13,
	(ARRAY['a', 'A', 'b', 'ä'])[1 + i % 4] || i % 5, (ARRAY['a', 'A', 'b', 'ä'])[1 + i % 4] || i % 5, chr(97 + i % 26),
	chr(97 + i % 26) || repeat(' ', i % 3), i * 3000000000, i / 7.0, jsonb_build_object('k', i % 9),
	md5((i % 50)::text)::uuid, (ARRAY['sad', 'ok', 'happy'])[1 + i % 3]::mood,
	ROW(CASE WHEN i % 4 > 0 THEN i % 6 END, NULLIF(chr(97 + i % 3), 'a'))::pair, int4range(i % 20, i % 20 + i % 7),
	ARRAY[i % 3, NULLIF(i % 5, 0)], 1 + i % 12, chr(97 + i % 26)::"char", chr(97 + i % 26),
	i % 40 * interval '1 day 3 hours', ('10.0.0.' || i % 256)::inet, decode(to_hex(16 + i % 200), 'hex')
FROM generate_series(1, 600) i;
INSERT INTO types DEFAULT VALUES;
CREATE INDEX types_all ON types USING rtscan (n, t, tz, dt, x, x_c, v, f, i8, f4, j, u, m, p, r, ai, po, ch, nm, iv,
	ip, by);
SET TimeZone = 'Europe/Berlin';
SELECT miscounted('types', ARRAY[
	'n > 50', 'n = 5.0', 'n <> ''NaN''', '5.25 >= n', 'n < ''Infinity''', 't < ''2021-10-31 02:30''',
	't <> ''2021-10-30 00:17''', 't >= ''2021-10-31 02:30 Europe/Berlin''::timestamptz',
	't <> ''2021-10-31 00:30+00''::timestamptz', '''2021-11-01''::date <= t',
	'tz < ''2021-10-31 02:30''::timestamp', 'tz = ''2021-10-30 00:17+02''', 'tz <> ''2021-10-31''::date',
	'tz BETWEEN now() - interval ''100 years'' AND now()', 'dt = ''2021-10-31''',
	'dt < ''2021-10-31 02:30''::timestamp', 'dt <> ''2021-10-31 00:00''::timestamptz',
	'''2021-10-31 00:00''::timestamptz > dt',
	'x = ''a1''', 'x <> ''A1''', 'x < ''b''', 'x > ''A'' AND x < ''ä3''', 'x_c = ''a1''', 'x_c <> ''A1''',
	'x_c < ''b''', 'v = ''c''', 'v <> ''c''', 'v::text >= ''k''', 'f = ''c''', 'f = ''c  ''', 'f <> ''c ''', 'i8 > 5',
	'i8 = 3000000000', 'i8 <> 2::int2', '5::int2 < i8', 'f4 < 20', 'f4 <> 1::float8', 'f4 = 0.14285715::float4',
	'j = ''{"k": 3}''', 'j <> ''{"k": 3}''', 'j < ''{"k": 5}''', 'u <> md5(''7'')::uuid', 'm > ''sad''', 'm <> ''ok''',
	'p IS NULL', 'p < ROW(3, ''b'')::pair', 'p <> ROW(NULL, ''b'')::pair', 'r <> ''empty''', 'r < ''[5,8)''',
	'ai <> ''{1,2}''', 'ai > ''{1,NULL}''', 'po < 5', 'po <> 3', 'ch <> ''k''', 'ch = ''k''',
	'nm < ''k''', 'nm <> ''k''::text COLLATE "C"', 'iv > ''30 days''', 'iv <> ''1 day 3 hours''', 'ip < ''10.0.0.9''',
	'by <> ''\x11''', 't IS NULL OR tz IS NULL', 'm = ''ok'' OR r IS NULL OR po > 7'],
	'n, t, x, p, ai, po, ch', NULL, NULL);
SELECT unequal(format('
	SELECT count(*), count(%1$s), count(*) FILTER (WHERE %1$s <> %2$s)
	FROM types
	WHERE %1$s < %2$s OR %1$s > %2$s OR %1$s IS NULL', attname,
	quote_literal(value) || '::' || format_type(atttypid, atttypmod)))
FROM pg_attribute, LATERAL (SELECT to_jsonb(types) ->> attname::text AS value FROM types LIMIT 1 OFFSET 200) v
WHERE attrelid = 'types'::regclass AND attnum > 0 AND attname NOT IN ('p', 'ai');
RESET TimeZone;
-- that a row is NULL is more than that its column is
SELECT unequal('SELECT count(*), count(p) FROM types WHERE p IS NOT NULL', 1);
SELECT unequal('SELECT count(*), count(p) FROM types WHERE p <> ROW(1, ''b'')::pair');

--
-- In queries of any kind
--
CREATE VIEW v AS SELECT * FROM many WHERE a < 500;
CREATE VIEW counted AS SELECT count(*) AS n, count(a) FILTER (WHERE d) AS m FROM many WHERE b <> 1;
CREATE TABLE other (id int, x int, y int2, z float8, t text);
INSERT INTO other SELECT i, CASE WHEN i % 7 > 0 THEN i * 13 % 1100 END, i % 6, i, 'k' || i
FROM generate_series(1, 40) i;
CREATE UNIQUE INDEX ON other (id);
ANALYZE other;
SELECT unequal(query, nodes) FROM (VALUES
	('SELECT count(*), count(*) + 1, 2 * count(a) FILTER (WHERE d) + count(*), ''x'' FROM many WHERE b = 1', 1),
	('SELECT count(1), count(''x''), count(d) FROM many WHERE b = 1', 1),
	('SELECT count(*) FROM many WHERE b = 1 HAVING count(*) > 100', 1),
	('SELECT count(*) FROM many WHERE b = 1 HAVING count(*) > 1e9', 1),
	('SELECT 1 FROM many WHERE b = 1 HAVING count(a) > 100 AND count(*) FILTER (WHERE d) IS NOT NULL', 1),
	('SELECT count(*) FROM many WHERE b = 1 HAVING count(s) BETWEEN (SELECT min(id) FROM other) AND 1e9 + count(*)', 1),
	('SELECT count(*) FROM many WHERE b = 1 HAVING 1 = 2', NULL),
	('SELECT count(*) FROM many WHERE b = 1 HAVING NULL', NULL),
	('SELECT 1 FROM many HAVING true', NULL),
	('SELECT count(*) FROM many WHERE b = 1 HAVING random() < 2', NULL),
	('SELECT count(*) FROM many WHERE b = 1 LIMIT 1', 1),
	('SELECT count(*) FROM many WHERE b = 1 LIMIT 0', NULL),
	('SELECT count(*) FROM many WHERE b = 1 OFFSET 1', 1),
	('SELECT count(*) AS n FROM many WHERE b = 1 ORDER BY n, count(a)', 1),
	('SELECT DISTINCT count(*) FROM many WHERE b = 1', 1),
	('SELECT count(*), generate_series(1, 3) FROM many WHERE b = 1', 1),
	('SELECT count(*) + generate_series(1, count(*) FILTER (WHERE a < 3)::int) FROM many WHERE b = 1', 1),
	('SELECT sum(count(*)) OVER (), count(a), row_number() OVER (ORDER BY count(*)) FROM many WHERE b = 1', 1),
	('SELECT count(*), (SELECT count(*) FROM few WHERE a < 500) FROM many WHERE b = 1', 2),
	('SELECT count(*), (SELECT sum(x) FROM other WHERE id < count(many.a)) FROM many WHERE b = 1', 1),
	('SELECT count(*) FROM many WHERE a < 500
		UNION ALL SELECT count(*) FROM many WHERE a >= 500
		UNION ALL SELECT count(*) FROM many WHERE a IS NULL', 3),
	('SELECT count(*) FROM many WHERE a < 500 UNION SELECT count(*) FROM many WHERE a < 500', 2),
	('SELECT count(*) FROM many WHERE a < 500 EXCEPT SELECT count(*) FROM many WHERE NOT a >= 500', 2),
	('SELECT n, m
		FROM (SELECT count(*) AS n FROM many WHERE a < 500) x, (SELECT count(*) AS m FROM few WHERE a < 500) y', 2),
	('SELECT o.id, n
		FROM other o LEFT JOIN (SELECT count(*) AS n FROM few WHERE a < 500) y ON n > o.id * 10
		ORDER BY 1', 1),
	('WITH c AS (SELECT count(*) AS n FROM many WHERE b = 2) SELECT n, n + (SELECT n FROM c) FROM c', 1),
	('WITH c AS MATERIALIZED (SELECT * FROM many WHERE b = 2) SELECT count(*) FROM c', 0),
	('WITH c AS NOT MATERIALIZED (SELECT * FROM many WHERE b = 2) SELECT count(*) FROM c WHERE a < 10', 1),
	('WITH RECURSIVE r AS (
			SELECT 1::bigint AS i UNION ALL SELECT i + (SELECT count(*) FROM few WHERE a < r.i) + 1 FROM r WHERE i < 50)
		SELECT * FROM r', NULL),
	('SELECT count(*), count(b) FROM v WHERE b <> 1', 1),
	('SELECT * FROM counted', 1),
	('SELECT count(*) FROM counted', NULL),
	('SELECT count(*) FROM (SELECT a, b FROM many WHERE d OFFSET 0) q WHERE b = 1', 0),
	('SELECT count(x) FROM (SELECT a AS x, b FROM many WHERE d) q WHERE b = 1', 1),
	('SELECT count(*), count(a) FROM many LEFT JOIN other ON other.id = many.a WHERE b = 1', 1),
	('SELECT count(*) FROM many, (VALUES (5)) w (x) WHERE a = w.x', 1),
	('SELECT count(*) FROM many, (VALUES (5), (6)) w (x) WHERE a = w.x', 1),
	('SELECT count(*) FROM many CROSS JOIN other WHERE a < 10', 0),
	('SELECT count(*) FROM many WHERE a IN (SELECT x FROM other)', 1),
	('SELECT count(*) FROM many WHERE EXISTS (SELECT FROM other WHERE x = 5) AND a < 100', NULL),
	('SELECT count(*) FROM many WHERE EXISTS (SELECT FROM other WHERE x = many.a) OR a < 100', 0),
	('SELECT count(*) FROM many WHERE a = 5 AND a = b', NULL),
	('SELECT count(*) FROM many WHERE a = 3 AND b = 3 AND a = (SELECT 3)', NULL),
	('SELECT ARRAY(SELECT count(*) FROM many WHERE a < 500), EXISTS (SELECT count(*) FROM many WHERE a < 0),
			5 IN (SELECT count(*) FROM few WHERE a < 3)', NULL),
	-- once for each row of another table
	('SELECT o.id, (SELECT count(*) FROM many WHERE a < o.x) FROM other o', 1),
	('SELECT o.id, (SELECT count(a) FROM many WHERE b <> o.y OR a > o.x),
			(SELECT count(*) FILTER (WHERE s = o.t) FROM few)
		FROM other o', 2),
	('SELECT o.id, n, m
		FROM other o,
			LATERAL (
				SELECT count(*) AS n, count(*) FILTER (WHERE b = o.y) AS m
				FROM many
				WHERE a BETWEEN o.x AND o.x + 100
				HAVING count(*) > o.z) c', 1),
	('SELECT o.id, n
		FROM other o
			LEFT JOIN LATERAL (
				SELECT count(*) AS n FROM few WHERE a = ANY (ARRAY[o.x, o.id, NULL]) OR c < o.z) c ON n > 5', 1),
	('SELECT id FROM other o WHERE (SELECT count(*) FROM many WHERE a = o.x) > 60', 1),
	('SELECT y, sum((SELECT count(*) FROM many WHERE a = o.x)) FROM other o GROUP BY y ORDER BY y', 1),
	('SELECT o.id, (SELECT count(*) FROM many WHERE a < max(o.x)) FROM other o GROUP BY o.id ORDER BY o.id', 1),
	('SELECT (SELECT count(*) FROM many WHERE a < max(o.x) AND b > min(o.y)) FROM other o', 1),
	('SELECT (SELECT count(o.x) FROM few WHERE a < 5 LIMIT 1) FROM other o', 0),
	('SELECT (SELECT count(*) FROM other WHERE x < count(few.a)) FROM few WHERE d', 1),
	('SELECT o.id, (SELECT (SELECT count(*) FROM few WHERE a < o.x AND b > p.y) FROM other p WHERE p.id = o.id)
		FROM other o', 1),
	-- from the values of rows
	('SELECT count(*) FROM many GROUP BY b ORDER BY 1', 1),
	('SELECT b, count(*) FROM many WHERE a < 500 GROUP BY b ORDER BY b', 1),
	('SELECT count(a + 1) FROM many', 1),
	('SELECT count((a, b)) FROM many', 1),
	('SELECT count(id) FROM many', 1),
	('SELECT count(*) FROM many WHERE id < 100', 1),
	('SELECT count(*) FILTER (WHERE id < 100) FROM many WHERE a < 500', 1),
	('SELECT count(*) FILTER (WHERE now() > ''1999-01-01'') FROM many WHERE a < 500', 1),
	-- not for the node
	('SELECT count(*) FROM many WHERE a < 5 GROUP BY ()', NULL),
	('SELECT b, count(*) FROM many GROUP BY GROUPING SETS ((b), ()) ORDER BY b, 2', 1),
	('SELECT b, count(*) FROM many GROUP BY ROLLUP (b) ORDER BY b, 2', 1),
	('SELECT count(DISTINCT a ORDER BY a) FROM many', 0),
	('SELECT count(a ORDER BY a) FROM many', 0),
	('SELECT count(*), sum(a) FROM many WHERE b = 1', 1),
	('SELECT count(*), max(a) FROM many WHERE b = 1', 1),
	('SELECT count(NULL), count(*) FROM many WHERE b = 1', NULL),
	('SELECT count(many), count(filler), count(ctid) FROM many', 0),
	('SELECT count(*) FROM many TABLESAMPLE SYSTEM (100) WHERE a < 500', 0),
	('SELECT count(*) FROM many TABLESAMPLE BERNOULLI (100)', 0),
	('SELECT count(*) FROM many WHERE (SELECT true) AND a < 500', NULL),
	('SELECT count(*) FROM many WHERE current_user <> ''x'' AND a < 500', NULL),
	('SELECT count(*) FROM many WHERE a < 500 AND now() < ''1999-01-01''', NULL),
	('SELECT count(*) FILTER (WHERE a < (SELECT o.x FROM other o WHERE o.id = many.b)) FROM many', 0),
	('SELECT json_agg(a) IS NULL FROM many', 0),
	('SELECT count(*) FROM many WHERE ctid IS NOT NULL AND tableoid = ''many''::regclass', 0)) q (query, nodes);
CREATE MATERIALIZED VIEW mat AS SELECT * FROM few;
CREATE INDEX mat_a ON mat USING rtscan (a, b);
SELECT unequal('SELECT count(*), count(b) FROM mat WHERE a < 500');
DELETE FROM few WHERE id % 5 = 0;
REFRESH MATERIALIZED VIEW mat;
SELECT unequal('SELECT count(*), count(b) FROM mat WHERE a < 500');

--
-- Chosen by cost; what EXPLAIN shows
--
EXPLAIN (COSTS OFF) SELECT count(*) FROM many WHERE a < 500 AND (b = 1 OR d);
EXPLAIN (COSTS OFF) SELECT count(*), count(*) FILTER (WHERE d) FROM many;
EXPLAIN (VERBOSE, COSTS OFF)
SELECT count(*) + 1, count(s) FILTER (WHERE a < 500 OR b IN (1, 2))
FROM many AS m
WHERE a <> 7 AND NOT d
HAVING count(*) > 5 AND count(a) < 1e9;
EXPLAIN (VERBOSE, COSTS OFF) SELECT count(*) FROM aggregate.many, (VALUES (5)) w (x) WHERE a = w.x;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT explained('
	SELECT o.id,
		(SELECT count(*) FILTER (WHERE few.b > o.y) FROM few WHERE few.a < o.x OR few.a = (SELECT max(id) FROM other))
	FROM other o', 'VERBOSE, COSTS OFF');
RESET enable_seqscan;
RESET enable_bitmapscan;
SELECT explained('SELECT count(*) FROM many WHERE a < 500 HAVING count(*) > 1', 'COSTS OFF, FORMAT JSON');
SELECT explained('SELECT count(*) FROM many', 'COSTS OFF, FORMAT YAML');
SELECT explained($$SELECT count(*) FROM many WHERE s > '<&'$$, 'COSTS OFF, FORMAT XML');
CREATE FUNCTION shown(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN SELECT explained(query, 'ANALYZE, BUFFERS OFF, COSTS OFF, TIMING OFF, SUMMARY OFF') LOOP
		CONTINUE WHEN line ~ '(Rays|Segments on CPU|Rows Aggregated by Device|Not Aggregated by Device): ';
		RETURN NEXT regexp_replace(
			regexp_replace(line, '(Executor: )\w+', '\1...'), '(Heap [\w ]+: )[1-9]\d*', '\1some');
	END LOOP;
END
$$;
SELECT shown('SELECT count(*) FROM many WHERE a < 500');
SELECT shown('SELECT count(*) FROM many WHERE a < 5 AND a > 7');
-- (19 counts one table)
SELECT replace(line, 'many.a', 'a') AS shown FROM shown('SELECT count(*) FROM many WHERE a < (SELECT NULL::int)') line;
-- VACUUM marks all pages of a temporary table, whatever snapshots there are
CREATE TEMP TABLE clean WITH (autovacuum_enabled = off) AS SELECT * FROM rows(1, 30000);
CREATE INDEX clean_ab ON clean USING rtscan (a, b);
VACUUM ANALYZE clean;
SELECT shown('SELECT count(*), count(b) FROM clean WHERE a < 500 OR b = 1');
SELECT shown('SELECT count(*) FROM clean');
DELETE FROM clean WHERE a = 300;
SELECT shown('SELECT count(*) FROM clean WHERE a < 500');
VACUUM clean;
SELECT shown('SELECT count(*) FROM clean WHERE a < 500');
SELECT shown('SELECT o.id, (SELECT count(*) FROM clean WHERE a < o.id) FROM other o');
-- nothing is shown of a node that has not been executed
SELECT shown('SELECT CASE WHEN o.id < 0 THEN (SELECT count(*) FROM clean WHERE a < o.id) END FROM other o');
SET rtscan.enable_aggregate = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM clean;
EXPLAIN (COSTS OFF) SELECT count(*) FROM clean;
RESET rtscan.enable_aggregate;
-- the cheapest of several indexes
CREATE INDEX clean_a ON clean USING rtscan (a);
CREATE INDEX clean_btree ON clean (a);
VACUUM ANALYZE clean;
EXPLAIN (COSTS OFF) SELECT count(*) FROM clean WHERE a < 500 AND b = 2;
SELECT unequal('SELECT count(*) FROM clean WHERE a < 500');

--
-- Prepared: custom and generic plans, NULLs among the parameters; in functions
--
CREATE FUNCTION unequal_prepared(mode text, types text, query text, VARIADIC arguments text[]) RETURNS SETOF text
LANGUAGE plpgsql
SET max_parallel_workers_per_gather = 0 SET enable_seqscan = off SET enable_indexscan = off
SET rtscan.enable_scan = off SET enable_bitmapscan = off AS $$
DECLARE
	argument text;
	found text;
	expected text;
	line text;
	plan text;
BEGIN
	PERFORM set_config('plan_cache_mode', mode, true);
	EXECUTE format('PREPARE with_node (%s) AS SELECT q::text FROM (%s) q', types, query);
	FOREACH argument IN ARRAY arguments LOOP
		plan := '';
		FOR line IN EXECUTE format('EXPLAIN (COSTS OFF) EXECUTE with_node (%s)', argument) LOOP
			plan := plan || line || E'\n';
		END LOOP;
		EXECUTE format('EXECUTE with_node (%s)', argument) INTO found;
		SET LOCAL rtscan.enable_aggregate = off;
		EXECUTE format('PREPARE without_node (%s) AS SELECT q::text FROM (%s) q', types, query);
		EXECUTE format('EXECUTE without_node (%s)', argument) INTO expected;
		DEALLOCATE without_node;
		SET LOCAL rtscan.enable_aggregate = on;
		IF found IS DISTINCT FROM expected
			OR plan !~ 'RtscanAggregate' AND (mode = 'force_generic_plan' OR argument !~ 'NULL') THEN
			RETURN NEXT format(E'%s (%s), %s: %s instead of %s\n%s', query, argument, mode, found, expected, plan);
		END IF;
	END LOOP;
	DEALLOCATE with_node;
END
$$;
SELECT p FROM unnest('{force_custom_plan,force_generic_plan,auto}'::text[]) mode, LATERAL (
	SELECT unequal_prepared(mode, 'int', 'SELECT count(*), count(*) FILTER (WHERE b <> $1) FROM many WHERE a < $1',
		'500', 'NULL', '-5', '2', '3', '4', '1000')
	UNION ALL
	SELECT unequal_prepared(mode, 'int, int, int', '
		SELECT count(*), count(s) FILTER (WHERE d OR b = $3)
		FROM many
		WHERE a BETWEEN $1 AND $2 OR a + 0 IS NULL AND false OR a = $3', '1, 500, 7', '500, 1, 7', 'NULL, 5, 6',
		'5, NULL, NULL', 'NULL, NULL, NULL')
	UNION ALL
	SELECT unequal_prepared(mode, 'int[]', 'SELECT count(*) FROM many WHERE a = ANY ($1) OR b > ANY ($1)', '''{1,2}''',
		'''{}''', 'NULL', '''{NULL}''', '''{{3,4},{5,NULL}}''')
	UNION ALL SELECT unequal_prepared(mode, 'bool', 'SELECT count(*) FROM many WHERE d <> $1', 'true', 'NULL', 'false')
	UNION ALL
	SELECT unequal_prepared(mode, 'text', 'SELECT count(*) FROM many WHERE s > $1 HAVING count(*) > length($1)',
		'''b''', 'NULL', '''''')
	) p (p);
CREATE FUNCTION below(int) RETURNS bigint LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
BEGIN
	RETURN (SELECT count(*) FROM few WHERE a < $1);
END
$$;
CREATE FUNCTION below_sql(int) RETURNS bigint LANGUAGE sql STABLE AS 'SELECT count(*) FROM few WHERE a < $1';
SELECT unequal('SELECT below(x), below_sql(x) FROM other', 0);
SELECT unequal('SELECT count(*) FROM many WHERE a < below(100) AND b <> below_sql(NULL) + 1');
-- a plan relies on an index that goes away
PREPARE p AS SELECT count(*) FROM clean WHERE a < 500;
SET enable_seqscan = off;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SET enable_indexonlyscan = off;
EXECUTE p;
SELECT explained('EXECUTE p');
DROP INDEX clean_a;
SELECT explained('EXECUTE p');
EXECUTE p;
DROP INDEX clean_ab;
SELECT explained('EXECUTE p');
EXECUTE p;
CREATE INDEX clean_ab ON clean USING rtscan (a, b);
SELECT explained('EXECUTE p');
CREATE TEMP TABLE child () INHERITS (clean);
INSERT INTO child (a) VALUES (1);
SELECT explained('EXECUTE p');
EXECUTE p;
DROP TABLE child;
EXECUTE p;
ALTER TABLE clean ALTER COLUMN a TYPE bigint;
VACUUM clean;
EXECUTE p;
SELECT explained('EXECUTE p');
DEALLOCATE p;
RESET enable_seqscan;
RESET enable_indexscan;
RESET enable_bitmapscan;
RESET enable_indexonlyscan;

--
-- Indexes on expressions, with predicates, opclasses and collations of their own
--
CREATE TABLE special (id int, a int, s text, t text COLLATE "und-x-icu", p bool, j jsonb)
WITH (autovacuum_enabled = off);
INSERT INTO special SELECT id, a, s, s, id % 3 = 0, to_jsonb(r) FROM rows(1, 3000) r;
CREATE INDEX special_e ON special USING rtscan ((a % 10), lower(s), (a > 500), (s IS NULL), ((j ->> 'b')::int));
VACUUM ANALYZE special;
SELECT miscounted('special', ARRAY[
	'a % 10 = 3', 'a % 10 <> 3 AND lower(s) >= ''k''', '(a > 500)', 'NOT (a > 500)', '(a > 500) IS NOT TRUE',
	'(a > 500) IS UNKNOWN OR a % 10 < 5', '(s IS NULL)', '(s IS NULL) = false', '(j ->> ''b'')::int = 2 OR a % 10 = 1',
	'(j ->> ''b'')::int IS NULL'], 'lower(s), a % 10', NULL, NULL);
SELECT unequal(q, n) FROM (VALUES
	('SELECT count(*), count(lower(s)), count(a % 10), count(*) FILTER (WHERE (a > 500) IS NOT TRUE)
		FROM special
		WHERE lower(s) > ''k'' OR (j ->> ''b'')::int <> 2', 1),
	('SELECT count(s) FROM special WHERE a % 10 = 1', 0),
	('SELECT count(*) FROM special WHERE a % 10 = 1 AND a = 11', 0),
	('SELECT count(*) FROM special WHERE upper(s) = ''K1''', 0)) q (q, n);
DROP INDEX special_e;
CREATE INDEX special_p ON special USING rtscan (a, s) WHERE a > 300 AND s IS NOT NULL;
SELECT unequal(q, n) FROM (VALUES
	('SELECT count(*) FROM special WHERE a > 300 AND s IS NOT NULL', 1),
	('SELECT count(*), count(s) FROM special WHERE a > 500 AND s < ''l''', 1),
	('SELECT count(*) FROM special WHERE a > 500', 0),
	('SELECT count(*) FROM special', 0),
	('SELECT count(*) FROM special WHERE a >= 300 AND s < ''l''', 0),
	('SELECT count(*) FILTER (WHERE a > 500 AND s IS NOT NULL) FROM special', 0),
	('SELECT count(*) FROM special WHERE a > 500 AND s IS NOT NULL OR a = 7', 0),
	('SELECT count(*), (SELECT count(*) FROM special t WHERE t.a > o.x AND t.s = ''k1'')
		FROM other o
		GROUP BY o.x
		ORDER BY o.x', 0)) q (q, n);
DROP INDEX special_p;
CREATE INDEX special_p ON special USING rtscan (a) WHERE p;
SELECT unequal(q, n) FROM (VALUES
	('SELECT count(*) FROM special WHERE p AND a < 500', NULL),
	('SELECT count(*) FROM special WHERE p', NULL),
	('SELECT count(*) FROM special WHERE a < 500', 0),
	('SELECT count(*) FROM special WHERE NOT p AND a < 500', 0)) q (q, n);
DROP INDEX special_p;
CREATE INDEX special_c ON special USING rtscan (s COLLATE "C", t, s text_pattern_ops, (t COLLATE caseless));
SELECT unequal(q, n) FROM (VALUES
	('SELECT count(*) FROM special WHERE s COLLATE "C" < ''b'' OR s COLLATE "C" <> ''k3''', 1),
	('SELECT count(*) FROM special WHERE t < ''b''', 1),
	('SELECT count(*) FROM special WHERE t COLLATE "C" < ''b''', 1),
	('SELECT count(*) FROM special WHERE s ~<~ ''b'' AND s ~>=~ ''K''', NULL),
	('SELECT count(*) FROM special WHERE s < ''b''', NULL),
	('SELECT count(*) FROM special WHERE s = ''k3''', NULL),
	('SELECT count(*) FROM special WHERE s <> ''k3''', NULL),
	('SELECT count(*) FROM special WHERE t COLLATE caseless = ''k3''', NULL),
	('SELECT count(*) FROM special WHERE t COLLATE caseless <> ''k3'' AND t <> ''K3''', NULL),
	('SELECT count(t), count(s) FROM special WHERE t > ''a''', 1)) q (q, n);

--
-- Partitions, parents and other kinds of tables
--
CREATE TABLE parts (id int, a int, b int2, c float8, d bool, s text) PARTITION BY RANGE (a);
CREATE TABLE part_1 PARTITION OF parts FOR VALUES FROM (0) TO (500);
CREATE TABLE part_2 (s text, extra int, a int, d bool, id int, b int2, c float8);
ALTER TABLE part_2 DROP COLUMN extra;
ALTER TABLE parts ATTACH PARTITION part_2 FOR VALUES FROM (500) TO (2000);
CREATE TABLE part_d PARTITION OF parts DEFAULT;
INSERT INTO parts SELECT * FROM rows(1, 3000);
CREATE INDEX parts_abd ON parts USING rtscan (a, b, d);
VACUUM ANALYZE parts;
SELECT unequal(q, n)
FROM unnest('{off,on}'::text[]) partitionwise,
	set_config('enable_partitionwise_aggregate', partitionwise, false),
	LATERAL (VALUES
		('SELECT count(*) FROM parts', 3),
		('SELECT count(*), count(b) FROM parts WHERE a < 700 AND b <> 2', 3),
		('SELECT a, count(*) FROM parts WHERE b = 1 GROUP BY a ORDER BY a', 3),
		('SELECT count(*) FROM parts WHERE a = 5', 1),
		('SELECT count(*) FROM part_1 WHERE a < 300', 1),
		('SELECT count(*) FROM part_2 WHERE b = 1 OR a > 600', 1),
		('SELECT count(*), count(d) FROM part_d', 1),
		('SELECT count(*) FROM part_2 WHERE a < 300', NULL),
		('SELECT count(*) FROM ONLY part_1 WHERE b = 1', 1),
		('SELECT count(*) FROM ONLY parts WHERE b = 1', 0)) q (q, n)
		ORDER BY 1;
RESET enable_partitionwise_aggregate;
CREATE TABLE parent (a int, b int);
CREATE TABLE child () INHERITS (parent);
CREATE INDEX parent_a ON parent USING rtscan (a);
CREATE INDEX child_a ON child USING rtscan (a);
INSERT INTO parent SELECT i, i % 5 FROM generate_series(1, 500) i;
INSERT INTO child SELECT i, i % 5 FROM generate_series(1, 700) i;
VACUUM ANALYZE parent;
VACUUM ANALYZE child;
SELECT unequal(q, n) FROM (VALUES
	('SELECT count(*) FROM parent WHERE a < 100', 2),
	('SELECT count(*) FROM ONLY parent WHERE a < 100', 1),
	('SELECT count(*) FROM child WHERE a < 100', 1)) q (q, n);
CREATE TEMP TABLE temporary AS SELECT * FROM rows(1, 2000);
CREATE INDEX ON temporary USING rtscan (a, b);
CREATE UNLOGGED TABLE unlogged AS SELECT * FROM rows(1, 2000);
CREATE INDEX ON unlogged USING rtscan (a, b);
SELECT unequal(format('SELECT count(*), count(b) FILTER (WHERE b <> 2) FROM %s WHERE a < 500 OR a IS NULL', tab))
FROM unnest('{temporary,unlogged}'::text[]) tab;
DELETE FROM temporary WHERE a < 300;
DELETE FROM unlogged WHERE a < 300;
SELECT unequal(format('SELECT count(*), count(b) FILTER (WHERE b <> 2) FROM %s WHERE a < 500 OR a IS NULL', tab))
FROM unnest('{temporary,unlogged}'::text[]) tab;
CREATE TABLE none (a int, b int);
CREATE INDEX none_a ON none USING rtscan (a);
SELECT unequal('SELECT count(*), count(a) FROM none WHERE a < 5 OR a IS NULL', NULL);
INSERT INTO none VALUES (1, 1);
SELECT unequal('SELECT count(*), count(a) FROM none WHERE a < 5 OR a IS NULL', NULL);
VACUUM none;
SELECT unequal('SELECT count(*), count(a) FROM none WHERE a < 5 OR a IS NULL');
DELETE FROM none;
SELECT unequal('SELECT count(*), count(a) FROM none WHERE a < 5 OR a IS NULL');
VACUUM none;
SELECT unequal('SELECT count(*), count(a) FROM none WHERE a < 5 OR a IS NULL', NULL);
INSERT INTO none VALUES (NULL, 1);
SELECT unequal('SELECT count(*), count(a) FROM none WHERE a < 5 OR a IS NULL', NULL);

--
-- A table that changes
--
CREATE TABLE t (id int PRIMARY KEY, a int, b int2, c float8, d bool, s text, filler text)
WITH (autovacuum_enabled = off, fillfactor = 70);
CREATE INDEX t_ab ON t USING rtscan (a, b, d);
CREATE FUNCTION problems() RETURNS SETOF text LANGUAGE sql AS $$
	SELECT unequal('
		SELECT count(*), count(a), count(*) FILTER (WHERE a < 500 OR b = 1 AND d), count(b) FILTER (WHERE a IS NULL)
		FROM t')
	UNION ALL SELECT unequal('SELECT count(*), count(b) FROM t WHERE a < 500')
	UNION ALL SELECT unequal('SELECT count(*), count(*) FILTER (WHERE b <> 3) FROM t WHERE a >= 5000 OR a IS NULL')
$$;
INSERT INTO t SELECT * FROM rows(1, 2000);
VACUUM t;
SELECT problems();
INSERT INTO t SELECT * FROM rows(2001, 20000);
SELECT problems();
DELETE FROM t WHERE id % 3 = 0;
SELECT problems();
VACUUM t;
SELECT problems();
INSERT INTO t SELECT id, a + 5000, b, c, d, s FROM rows(30001, 5000);
SELECT problems();
VACUUM t;
SELECT problems();
UPDATE t SET filler = 'x' WHERE id % 5 = 0;
SELECT problems();
UPDATE t SET a = a + 10 WHERE id % 7 = 0;
SELECT problems();
VACUUM (INDEX_CLEANUP off) t;
SELECT problems();
VACUUM (FREEZE) t;
SELECT problems();
DELETE FROM t WHERE a > 900;
VACUUM (INDEX_CLEANUP off) t;
INSERT INTO t SELECT * FROM rows(40001, 300);
SELECT problems();
VACUUM t;
SELECT problems();
-- in a transaction, and in parts of it
BEGIN;
INSERT INTO t SELECT * FROM rows(50001, 500);
SELECT problems();
UPDATE t SET a = a + 1 WHERE id > 50000;
UPDATE t SET filler = 'y' WHERE id > 50000;
SELECT problems();
SAVEPOINT one;
DELETE FROM t WHERE id > 50200;
UPDATE t SET b = NULL WHERE id % 100 = 0;
SELECT problems();
SAVEPOINT two;
INSERT INTO t SELECT * FROM rows(60001, 5000);
DELETE FROM t WHERE a < 100;
SELECT problems();
ROLLBACK TO two;
SELECT problems();
ROLLBACK TO one;
SELECT problems();
RELEASE one;
COMMIT;
SELECT problems();
BEGIN;
INSERT INTO t SELECT * FROM rows(70001, 9000);
DELETE FROM t WHERE id % 2 = 0;
SELECT problems();
ROLLBACK;
SELECT problems();
VACUUM t;
SELECT problems();
-- a statement sees what was before it, a cursor what was when it was declared
WITH gone AS (DELETE FROM t WHERE a < 50 RETURNING id, a),
	new AS (INSERT INTO t SELECT id + 200000, a FROM gone RETURNING a)
SELECT count(*) = (SELECT count(*) FROM t WHERE a < 50) AS same FROM t WHERE a < 50;
SELECT problems();
SET enable_seqscan = off;
SET enable_bitmapscan = off;
BEGIN;
SELECT count(*) AS before FROM t WHERE a < 500 \gset
DECLARE one CURSOR FOR SELECT count(*) FROM t WHERE a < 500;
DECLARE two SCROLL CURSOR FOR SELECT count(*) AS n FROM t WHERE a < 500 UNION ALL SELECT count(*) FROM t WHERE a >= 500;
DECLARE held CURSOR WITH HOLD FOR SELECT count(*) FROM t WHERE a < 500;
DELETE FROM t WHERE a < 400;
INSERT INTO t SELECT id, a + 400, b FROM rows(80001, 3000);
UPDATE t SET a = 20 WHERE id % 20 = 0;
FETCH ALL FROM one \gset one_
FETCH 1 FROM two \gset two_
SELECT :one_count = :before AND :two_n = :before AS same;
MOVE ALL FROM two;
MOVE BACKWARD ALL FROM two;
FETCH NEXT FROM two \gset two_
SELECT :two_n = :before AS same;
SELECT count(*) FROM t WHERE a < 500 HAVING count(*) = :before;
FETCH BACKWARD 1 FROM one;
ROLLBACK;
SELECT count(*) = :before AS same FROM t WHERE a < 500;
BEGIN;
DECLARE held CURSOR WITH HOLD FOR SELECT count(*) FROM t WHERE a < 500;
DELETE FROM t WHERE a < 40;
COMMIT;
FETCH held \gset held_
SELECT :held_count = :before AS same;
CLOSE held;
RESET enable_seqscan;
RESET enable_bitmapscan;
-- made anew
VACUUM FULL t;
SELECT problems();
CLUSTER t USING t_pkey;
SELECT problems();
REINDEX INDEX t_ab;
SELECT problems();
DELETE FROM t WHERE id % 11 = 0;
REINDEX TABLE t;
SELECT problems();
ALTER TABLE t SET ACCESS METHOD heap;
SELECT problems();
ALTER TABLE t ALTER COLUMN a TYPE bigint;
SELECT problems();
ALTER TABLE t SET UNLOGGED;
SELECT problems();
ALTER TABLE t DROP COLUMN filler, ADD COLUMN filler text DEFAULT 'new';
SELECT problems();
BEGIN;
TRUNCATE t;
SELECT count(*) FROM t WHERE a < 500;
INSERT INTO t SELECT * FROM rows(1, 100);
SELECT count(*) = (SELECT count(*) FROM rows(1, 100) WHERE a < 500) AS same FROM t WHERE a < 500;
ROLLBACK;
SELECT problems();
TRUNCATE t;
SELECT count(*) FROM t WHERE a < 500;
-- rows that are frozen as they come
CREATE TABLE frozen (a int) WITH (autovacuum_enabled = off);
CREATE INDEX frozen_a ON frozen USING rtscan (a);
INSERT INTO frozen VALUES (5);
VACUUM frozen;
BEGIN;
TRUNCATE frozen;
\copy frozen FROM PROGRAM 'seq 1 20000' WITH (FREEZE)
SELECT unequal('SELECT count(*) FROM frozen WHERE a <= 1000');
DELETE FROM frozen WHERE a % 2 = 0;
SELECT unequal('SELECT count(*) FROM frozen WHERE a <= 1000');
COMMIT;
SELECT unequal('SELECT count(*) FROM frozen WHERE a <= 1000');
VACUUM frozen;
SELECT unequal('SELECT count(*) FROM frozen WHERE a <= 1000');

--
-- Rows and columns that not everybody may see
--
CREATE ROLE rtscan_reader;
CREATE FUNCTION leak(x anyelement) RETURNS bool LANGUAGE plpgsql COST 0.0000001 AS $$
BEGIN
	RAISE NOTICE 'leaked %', x;
	RETURN true;
END
$$;
CREATE FUNCTION leaky_less(x int, y int) RETURNS bool LANGUAGE plpgsql IMMUTABLE STRICT COST 0.0000001 AS $$
BEGIN
	IF x > 400 THEN
		RAISE NOTICE 'leaked %', x;
	END IF;
	RETURN x < y;
END
$$;
CREATE TABLE secrets (owner name, a int, b int, n numeric) WITH (autovacuum_enabled = off);
INSERT INTO secrets SELECT CASE WHEN i <= 400 THEN 'rtscan_reader' ELSE 'other' END, i, i % 10, i
FROM generate_series(1, 800) i;
CREATE INDEX secrets_oab ON secrets USING rtscan (owner, a, b, n);
VACUUM ANALYZE secrets;
ALTER TABLE secrets ENABLE ROW LEVEL SECURITY;
CREATE POLICY mine ON secrets USING (owner = current_user);
GRANT USAGE ON SCHEMA aggregate TO rtscan_reader;
GRANT SELECT ON secrets TO rtscan_reader;
CREATE VIEW barrier WITH (security_barrier) AS SELECT * FROM secrets WHERE b < 5;
CREATE VIEW open_view AS SELECT * FROM secrets WHERE b < 5;
GRANT SELECT ON barrier, open_view TO rtscan_reader;
SET client_min_messages = notice;
SELECT unequal('SELECT count(*) FROM barrier WHERE a > 5', 0);
SELECT unequal('SELECT count(*) FROM open_view WHERE a > 5', 1);
SET ROLE rtscan_reader;
SELECT unequal(q, n) FROM (VALUES
	('SELECT count(*) FROM secrets', 1),
	('SELECT count(*), count(b) FILTER (WHERE b <> 2), count(*) FILTER (WHERE a > 700) FROM secrets WHERE a > 300', 1),
	('SELECT count(*) FROM secrets WHERE n > 300', 0),
	('SELECT count(*) FILTER (WHERE n > 300) FROM secrets', 1),
	('SELECT count(n) FROM secrets', 1)) q (q, n);
SET enable_bitmapscan = off;
SET rtscan.enable_scan = on;
EXPLAIN (COSTS OFF) SELECT count(*) FROM secrets WHERE leak(a) AND a BETWEEN 399 AND 402;
SELECT count(*) FROM secrets WHERE leak(a) AND a BETWEEN 399 AND 402;
SET rtscan.enable_scan = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM secrets WHERE leak(a) AND a BETWEEN 399 AND 402;
SELECT count(*) FROM secrets WHERE leak(a) AND a BETWEEN 399 AND 402;
SELECT count(*) FILTER (WHERE leak(b)) FROM secrets WHERE a BETWEEN 399 AND 402;
RESET enable_bitmapscan;
RESET ROLE;
-- an operator that leaks
CREATE OPERATOR <<<< (LEFTARG = int, RIGHTARG = int, FUNCTION = leaky_less);
CREATE OPERATOR CLASS leaky_ops FOR TYPE int USING rtscan AS
	OPERATOR 1 <<<< (int, int), OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
	FUNCTION 1 btint4cmp(int, int);
CREATE INDEX secrets_leaky ON secrets USING rtscan (a leaky_ops, owner);
VACUUM ANALYZE secrets;
SET ROLE rtscan_reader;
SELECT unequal(q, n) FROM (VALUES
	('SELECT count(*) FROM secrets WHERE a <<<< 300', 0),
	('SELECT count(*) FILTER (WHERE a <<<< 300 OR owner = ''x'') FROM secrets', 1)) q (q, n);
RESET ROLE;
REVOKE SELECT ON secrets FROM rtscan_reader;
GRANT SELECT (owner, a) ON secrets TO rtscan_reader;
SET ROLE rtscan_reader;
SELECT unequal('SELECT count(*), count(a) FROM secrets WHERE a > 300');
SELECT count(*) FROM secrets WHERE b = 1;
SELECT count(b) FROM secrets;
SELECT count(*) FILTER (WHERE b = 1) FROM secrets;
SELECT count(*) FROM secrets HAVING count(b) > 1;
SELECT count(*) > 0 AS some FROM open_view;
RESET ROLE;
REVOKE SELECT (owner, a) ON secrets FROM rtscan_reader;
SET ROLE rtscan_reader;
SELECT count(*) FROM secrets;
RESET ROLE;
-- a plan that was made for one is not for another
GRANT SELECT ON secrets TO rtscan_reader;
PREPARE p AS SELECT count(*) FROM secrets WHERE a > 300;
EXECUTE p;
SET ROLE rtscan_reader;
EXECUTE p;
RESET ROLE;
EXECUTE p;
DEALLOCATE p;

--
-- Rows that may not be visible: few and many in a chunk, where chunks, words and pages of the tidmap end
--
CREATE TABLE edges (id int, filler text) WITH (autovacuum_enabled = off, fillfactor = 95);
INSERT INTO edges SELECT i FROM generate_series(1, 140000) i;
DELETE FROM edges WHERE id % 13 = 0 AND id < 70000;
CREATE INDEX edges_id ON edges USING rtscan (id);
VACUUM edges;
UPDATE edges SET filler = 'HOT' WHERE id % 503 = 0;
DELETE FROM edges WHERE id % 401 = 0;
BEGIN;
UPDATE edges SET filler = 'HOT, in vain' WHERE id % 307 = 0;
DELETE FROM edges WHERE id % 311 = 0;
UPDATE edges SET id = - id WHERE id % 919 = 0;
ROLLBACK;
BEGIN;
SELECT count(*) FROM (SELECT FROM edges WHERE id % 701 = 0 FOR SHARE) locked;
DELETE FROM edges WHERE id % 337 = 0;
SELECT unequal(format('SELECT count(*) FROM edges WHERE id BETWEEN %s AND %s', low, low + n))
FROM generate_series(59000, 71000, 613) low, unnest('{0,60,62,63,64,66,200,4000}'::int[]) n;
SELECT unequal(format('SELECT count(*), count(*) FILTER (WHERE id > 90000) FROM edges WHERE id < %s OR id > %s', low,
	low + n))
FROM unnest('{-1,70,1000}'::int[]) low, unnest('{1,70000,139000}'::int[]) n;
COMMIT;
SELECT unequal('SELECT count(*) FROM edges'), unequal('SELECT count(*) FROM edges WHERE id > 64000');
-- frozen from the start, by the transaction that asks
BEGIN;
TRUNCATE edges;
\copy edges (id) FROM PROGRAM 'seq 1 70000' WITH (FREEZE)
DELETE FROM edges WHERE id % 100 = 7;
SELECT unequal('SELECT count(*) FROM edges WHERE id > 100');
COMMIT;
SELECT unequal('SELECT count(*) FROM edges WHERE id > 100');

--
-- A count of values that are never NULL is a count of rows, whether the index has them or not
--
CREATE TABLE never_null (id bigint PRIMARY KEY, k int, v text NOT NULL, x int);
INSERT INTO never_null SELECT i, i % 5, 'v', nullif(i % 3, 0) FROM generate_series(1, 2000) i;
CREATE INDEX ON never_null USING rtscan (k);
VACUUM ANALYZE never_null;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT count(id), count(v), count(never_null), count(ctid) FROM never_null WHERE k < 3;
SELECT count(id), count(v), count(never_null), count(ctid) FROM never_null WHERE k < 3;
EXPLAIN (COSTS OFF) SELECT k, count(id), count(v) FILTER (WHERE k > 1) FROM never_null GROUP BY k;
SELECT k, count(id), count(v) FILTER (WHERE k > 1) FROM never_null GROUP BY k ORDER BY k;
SELECT count(x), count(DISTINCT id) FROM never_null WHERE k < 3;
SELECT count(never_null.id), count(*) FROM (VALUES (1), (9)) w (k) LEFT JOIN never_null USING (k);
ALTER TABLE never_null ALTER v DROP NOT NULL;
UPDATE never_null SET v = NULL WHERE id % 2 = 0;
SELECT count(v) FROM never_null WHERE k < 3;
RESET enable_seqscan;
RESET enable_bitmapscan;

--
-- Errors, and what is not allowed
--
SELECT count(*) FROM many FOR UPDATE;
CREATE FUNCTION fails(int) RETURNS int LANGUAGE plpgsql STABLE AS $$ BEGIN RAISE 'fails'; END $$;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT count(*) FROM many WHERE a < fails(1);
SELECT count(*) FROM many WHERE a < 500 HAVING fails(count(*)::int) > 5;
SELECT count(*) / (count(*) - count(*)) FROM many WHERE a < 500;
SELECT count(*) FROM many WHERE a < (SELECT id FROM other);
SELECT count(*) FROM many WHERE a < 5;
SET rtscan.debug_pause = 'nowhere';
SELECT count(*) FROM many WHERE a < 5;
SET rtscan.debug_pause = 'map';
SELECT count(*) FROM many WHERE a < 5;
RESET rtscan.debug_pause;
BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE;
SELECT count(*) FROM many WHERE a < 5;
COMMIT;
RESET enable_seqscan;
RESET enable_bitmapscan;
SELECT scans > 0 AS counted
FROM (
	SELECT sum(idx_scan) AS scans, pg_stat_force_next_flush()
	FROM pg_stat_user_indexes
	WHERE indexrelname = 'many_abcds') s;

SET client_min_messages = error;
DROP SCHEMA aggregate CASCADE;
DROP ROLE rtscan_reader;
