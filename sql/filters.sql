-- Conditions however they are joined and negated, answered from the index alone: one boolean tree, folded
-- column by column.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA filters;
SET search_path = filters, public;

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/counts.psql
\set ECHO all
\pset format unaligned
\pset tuples_only on
SET jit = off;
SET max_parallel_workers_per_gather = 0;

-- a: many values and NULLs; b: few; c: text that sorts by bytes; f: a boolean; g: with the heap's order
CREATE FUNCTION rows(start int, n int) RETURNS TABLE (a int, b int2, c text, f bool, g int8,
	p text) LANGUAGE sql AS $$
	SELECT CASE WHEN x % 19 > 0 THEN x % 10007 END,
		   CASE WHEN x % 23 > 0 THEN x % 37 END,
		   CASE WHEN x % 29 > 0 THEN (ARRAY['ab', 'abc', 'a_c', 'a%c', 'b', 'B', 'ab\c',
			''])[x % 8 + 1] || CASE WHEN x % 3 > 0 THEN (x % 90)::text ELSE '' END END,
		   CASE WHEN x % 7 > 0 THEN x % 7 > 3 END,
		   i / 7,
		   CASE WHEN x % 31 > 0 THEN md5((x % 500)::text) END
	FROM (SELECT i, abs(hashint4(i)) FROM generate_series(start, start + n - 1) i) r (i, x)
$$;
CREATE TABLE few AS SELECT * FROM rows(1, 900);
CREATE TABLE many AS SELECT * FROM rows(1, 71000);
ALTER TABLE few ALTER c TYPE text COLLATE "C";
ALTER TABLE many ALTER c TYPE text COLLATE "C";
CREATE INDEX few_idx ON few USING rtscan (a, b, c, f, g, p text_pattern_ops);
CREATE INDEX many_idx ON many USING rtscan (a, b, c, f, g, p text_pattern_ops);
DELETE FROM many WHERE g % 13 = 0;
VACUUM (ANALYZE) many;
VACUUM (ANALYZE) few;
INSERT INTO few SELECT * FROM rows(901, 200);
INSERT INTO many SELECT * FROM rows(71001, 300);

-- All of them are the index's; so are their negations, and so they are as FILTER.
CREATE TABLE conditions (condition text);
INSERT INTO conditions VALUES
	('a < 5 OR a > 9000'), ('a < 5 OR a > 9000 OR a = 700 OR a IS NULL'), ('a <> 3'),
		('a <> 3 AND a <> 4 AND b <> 5'), ('NOT (a BETWEEN 100 AND 9000)'),
	('a = 77 AND (b < 9 OR g > 9000)'),
		('a IN (77, 78, 4001) AND (b < 9 OR (g < 5000 AND (c > ''b'' OR f)) OR c IS NULL)'),
		('(a = 77 OR a = 4001) AND (b < 9 OR c < ''b'') AND (g < 900 OR NOT f)'),
	('(a < 300 OR a > 9000) AND (b < 5 OR b > 30)'), ('(a < 300 AND b < 5) OR (a > 9000 AND b > 30) OR g = 17'),
		('a < 300 AND (b = 3 OR c = ''b'')'),
	('(a < 5000 OR a >= 5000) AND b = 3'), ('a < 5000 OR a >= 5000 OR a IS NULL'), ('a < 10 AND a > 9000'),
		('(a < 10 AND a > 9000) OR b = 3'),
	('a IN (1, 2, 300, NULL)'), ('a NOT IN (1, 2, 300)'), ('a NOT IN (1, NULL)'),
		('b NOT IN (1, 2, 3) AND a NOT IN (7, 8) AND g NOT IN (1, 2, 3, 4)'),
	('a <> ALL (''{}''::int[])'), ('a = ANY (''{}''::int[])'), ('a > ALL (''{1, 8000, 50}''::int[])'),
		('a <= ALL (ARRAY[9000, 100, 5000])'),
	('a < ANY (ARRAY[30, 40, NULL])'), ('a < ALL (ARRAY[30, 40, NULL])'), ('a = ALL (ARRAY[30, 30])'),
		('a = ALL (ARRAY[30, 31])'), ('a <> ALL (ARRAY[30, 31]::int8[])'),
	('a IS DISTINCT FROM 30'), ('NOT (a IS DISTINCT FROM 30)'),
		('b IS NOT DISTINCT FROM 3 OR a IS NOT DISTINCT FROM NULL'),
		('(a IS DISTINCT FROM 30) AND (b IS DISTINCT FROM 3)'), ('30 IS DISTINCT FROM a'),
	('f'), ('NOT f'), ('f IS TRUE'), ('f IS NOT TRUE'), ('f IS FALSE'), ('f IS NOT FALSE'), ('f IS UNKNOWN'),
		('f IS NOT UNKNOWN'), ('f OR a < 100'), ('NOT f AND b < 3'), ('(a < 100) IS TRUE'),
		('(a < 100 OR b = 3) IS FALSE'),
	('(a, b) < (300, 5)'), ('(a, b) <= (300, 5)'), ('(a, b, g) > (9000, 5, 20)'), ('(a, b) >= (300, 5)'),
		('NOT ((a, b) < (300, 5))'), ('(300, b) < (a, 5)'), ('(a, b) = (300, 5)'), ('(a, b) <> (300, 5)'),
		('(a, b) IN ((1, 2), (300, 5), (4, 4))'), ('(a, b) < (300, NULL)'),
	('c LIKE ''ab%'''), ('c NOT LIKE ''ab%'''), ('c LIKE ''a\_c%'''), ('c LIKE ''a\%c%'''),
		('c LIKE ''ab\\\\%'''), ('c LIKE ''abc'''), ('c LIKE ''%'''), ('c NOT LIKE ''%'''), ('c LIKE '''''),
		('c LIKE ''ab%'' OR c = ''b'' OR a < 30'), ('c LIKE ''a%%'''),
	('p LIKE ''ab%'''), ('p LIKE ''f%'' AND a < 3000'), ('p NOT LIKE ''f%'''), ('p = md5(''7'')');
SELECT miscounted('few', ARRAY(SELECT condition FROM conditions), 'a, b', 1, 1);
SELECT miscounted('many', ARRAY(SELECT condition FROM conditions), 'a, b', 1, 1);
-- none is asked of rows one by one
CREATE FUNCTION has_row_filter(condition text, tab text DEFAULT 'many') RETURNS bool LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) SELECT count(*) FROM ' || tab || ' WHERE ' || condition LOOP
		IF line LIKE '%Row Filter%' OR line LIKE '%Seq Scan%' THEN
			RETURN true;
		END IF;
	END LOOP;
	RETURN false;
END
$$;
SET enable_seqscan = off;
SELECT condition FROM conditions WHERE has_row_filter(condition);
SELECT condition FROM conditions WHERE has_row_filter(format('NOT (%s)',
	condition)) OR has_row_filter(format('(%s) IS TRUE', condition));
RESET enable_seqscan;
-- values that are not known until the query runs
PREPARE parameters(int, int[], text) AS
	SELECT count(*), count(*) FILTER (WHERE a IS DISTINCT FROM $1), count(*) FILTER (WHERE a <> ALL ($2)),
		count(*) FILTER (WHERE a IS NOT DISTINCT FROM $1), count(*) FILTER (WHERE (a, b) < ($1, 7))
	FROM many WHERE a <> $1 OR b = 3 OR a > ALL ($2);
SET plan_cache_mode = force_generic_plan;
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) EXECUTE parameters(3, '{1, 2}', '');
SELECT count(*), count(*) FILTER (WHERE a IS DISTINCT FROM 3), count(*) FILTER (WHERE a <> ALL ('{1, 2}')),
	count(*) FILTER (WHERE a IS NOT DISTINCT FROM 3), count(*) FILTER (WHERE (a, b) < (3,
	7)) FROM (SELECT * FROM many OFFSET 0) m WHERE a <> 3 OR b = 3 OR a > ALL ('{1, 2}');
EXECUTE parameters(3, '{1, 2}', '');
SELECT count(*), count(*) FILTER (WHERE a IS NOT NULL), 0, count(*) FILTER (WHERE a IS NULL),
	0 FROM (SELECT * FROM many OFFSET 0) m WHERE b = 3;
EXECUTE parameters(NULL, NULL, '');
SELECT count(*), count(*) FILTER (WHERE a IS DISTINCT FROM 3), count(*),
	count(*) FILTER (WHERE a IS NOT DISTINCT FROM 3), count(*) FILTER (WHERE (a, b) < (3,
	7)) FROM (SELECT * FROM many OFFSET 0) m;
EXECUTE parameters(3, '{}', '');
RESET plan_cache_mode;

-- Long lists are one merge with the dictionary: also of values that there are not, twice, in any order, of
-- other types, and of
-- types that are compared by functions.
CREATE FUNCTION list(element text, n int, type text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE elements text;
BEGIN
	EXECUTE
		format('SELECT quote_literal(array_agg((%s)::%s ORDER BY hashint4(i))) FROM generate_series(-5, %s) i',
		element, type, n) INTO elements;
	RETURN elements || '::' || type || '[]';
END
$$;
SELECT miscounted(tab, ARRAY(SELECT format('%s %s (%s)', col, op, list(element, n, type))
	FROM (VALUES ('a', 'i * 3', 'int'), ('a', 'i * 3', 'int8'), ('a', 'i / 2', 'int2'), ('c',
		'''ab'' || i % 120', 'text'), ('p', 'md5(i::text)', 'text'), ('g', 'i * 7', 'int8'), ('g', 'i * 7',
		'int'), ('b', 'i % 50', 'int')) l (col, element, type),
		 (VALUES ('= ANY'), ('<> ALL')) o (op), (VALUES (3), (700)) n (n) WHERE tab = 'many' OR n = 700), '',
			1, 1)
FROM (VALUES ('few'), ('many')) t (tab);
SELECT miscounted('many', ARRAY[format('a = ANY (%s) OR (b = 3 AND g <> ALL (%s))', list('i * 5', 3000, 'int'),
	list('i * 4', 3000, 'int')),
	format('a <> ALL (%s) AND b = ANY (%s)', list('i * 5', 3000, 'int'), list('i % 30', 3000, 'int'))], '', 1,
		1);
-- without going down the dictionary for each element
SELECT rtscan_stat_reset();
DO $$ BEGIN EXECUTE format('SELECT count(*) FROM many WHERE a < 200 AND a = ANY (%s)', list('i * 3', 20000,
	'int')); END $$;
SELECT pages_read < 200 FROM pg_stat_rtscan WHERE executor = 'cpu';
-- and the planner looks up a few of them
CREATE FUNCTION estimate(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	RETURN plan->0->'Plan'->>'Plan Rows';
END
$$;
SET enable_seqscan = off;
SELECT estimate(format('SELECT * FROM many WHERE a = ANY (%s)', list('i * 2', 3000,
	'int'))) BETWEEN 12000 AND 25000;

-- INCLUDEd columns are compared a chunk at a time, for the rows that are left: types with keys and
-- without, alone and among alternatives.
RESET enable_seqscan;
CREATE TABLE inc_few AS SELECT a, b, a % 1000 AS i4, (b * 3)::int2 AS i2, a::int8 * 1000000007 AS i8,
	a / 7.0::float8 AS f8, (a % 300)::numeric(9, 2) AS n, (b / 3.0)::numeric AS m, c, f AS bo,
	date '2020-01-01' + a % 900 AS d, timestamptz '2021-03-28 00:00+00' + a * interval '1 minute' AS tz,
		p::varchar(40) AS p, CASE WHEN b > 3 THEN a END AS s FROM few;
CREATE TABLE inc_many AS SELECT a, b, a % 1000 AS i4, (b * 3)::int2 AS i2, a::int8 * 1000000007 AS i8,
	a / 7.0::float8 AS f8, (a % 300)::numeric(9, 2) AS n, (b / 3.0)::numeric AS m, c, f AS bo,
	date '2020-01-01' + a % 900 AS d, timestamptz '2021-03-28 00:00+00' + a * interval '1 minute' AS tz,
		p::varchar(40) AS p, CASE WHEN b > 3 THEN a END AS s FROM many;
CREATE INDEX inc_few_idx ON inc_few USING rtscan (a, b) INCLUDE (i4, i2, i8, f8, n, m, c, bo, d, tz, p, s);
CREATE INDEX inc_many_idx ON inc_many USING rtscan (a, b) INCLUDE (i4, i2, i8, f8, n, m, c, bo, d, tz, p, s);
DELETE FROM inc_many WHERE a % 17 = 3;
VACUUM (ANALYZE) inc_many;
VACUUM (ANALYZE) inc_few;
INSERT INTO inc_few SELECT * FROM inc_many LIMIT 100;
INSERT INTO inc_many SELECT * FROM inc_many WHERE a < 50 OR a IS NULL LIMIT 300;
TRUNCATE conditions;
INSERT INTO conditions VALUES
	('i4 < 100'), ('i4 >= 900 AND a < 5000'), ('i4 BETWEEN 20 AND 30 AND b = 3'), ('i4 IN (3, 5, 8)'),
		('i4 NOT IN (3, 5, 8) AND a < 300'), ('i4 <> 7'), ('i4 IS NULL'), ('i4 IS NOT NULL AND b < 3'),
		('i4 IS DISTINCT FROM 7'), ('NOT (i4 IS DISTINCT FROM 7)'),
	('i4 < ALL (ARRAY[500, 10])'), ('i4 >= ANY (ARRAY[990, NULL, 995])'), ('i4 = ALL (ARRAY[5, 6])'),
		('i4 = ANY (''{}'')'), ('i4 <> ALL (''{}'')'), ('i4 NOT IN (1, NULL)'), ('i4 < 5::int8'),
		('i4 = ANY (ARRAY[5, 70]::int8[])'), ('i4 <> ALL (ARRAY[5, 70]::int2[])'),
	('(a < 100 AND b < 20) OR i4 IN (3, 5, 8)'), ('i4 < 10 OR i4 > 990'), ('i4 < 10 OR i2 > 100 OR a < 30'),
		('(i4 < 100 OR b = 3) AND (i2 < 20 OR a > 5000)'),
		('(i4 < 100 AND (i2 = 9 OR i2 = 12 OR a < 70)) OR (b = 7 AND i8 > 5000000000000)'),
		('i4 > 500 AND i4 < 400'),
	('i2 = 9'), ('i8 < 1000000007000'), ('f8 < 50.5'), ('f8 >= ''NaN'''), ('f8 <> 1'), ('n < 50'),
		('n IN (1, 2.00, 77)'), ('m > 5.5'), ('m = 1'), ('c < ''abc'''), ('c = ''b'''),
		('c IN (''b'', ''B'', ''ab'') AND a < 3000'), ('c <> ''b'' OR a < 50'), ('bo'), ('NOT bo'),
		('bo IS NOT TRUE'), ('bo IS UNKNOWN OR a < 5'),
	('d < date ''2020-06-01'''), ('d = timestamp ''2020-06-01'''), ('tz < timestamptz ''2021-03-28 05:00+00'''),
		('tz BETWEEN timestamp ''2021-03-28 01:00'' AND timestamp ''2021-03-28 04:00'''), ('p >= ''f'''),
		('p < ''1'' AND a < 4000'), ('s < 40'), ('s IS NULL AND a < 100'), ('(i4, b) < (300, 5)'),
		('(b, i4) >= (30, 500)');
SELECT miscounted(tab, ARRAY(SELECT condition FROM conditions), '', 1, 1) FROM (VALUES ('inc_few'),
	('inc_many')) t (tab);
SELECT unequal(format('SELECT b, count(*), sum(i8), min(s) FROM %s WHERE %s GROUP BY b ORDER BY b', tab,
	condition)) FROM conditions, (VALUES ('inc_many')) t (tab) WHERE condition ~ '^[(]';
SET enable_seqscan = off;
SELECT condition FROM conditions WHERE has_row_filter(condition, 'inc_many');
EXPLAIN (COSTS OFF) SELECT count(*) FROM inc_many WHERE (a < 100 AND b < 20) OR i4 IN (3, 5, 8);
-- types whose comparison may call a user's functions are not compared that way
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TABLE moods AS SELECT i AS a, (ARRAY['sad', 'ok', 'happy'])[i % 3 + 1]::mood AS m,
	ARRAY[i % 5] AS r FROM generate_series(1, 500) i;
CREATE INDEX moods_idx ON moods USING rtscan (a) INCLUDE (m, r);
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM moods WHERE m < 'happy' AND r < '{3}' AND a < 100;
RESET enable_bitmapscan;
SELECT count(*) FROM moods WHERE m < 'happy' AND r < '{3}' AND a < 100;
-- an array with many elements, and one whose range is too wide for bits
SELECT miscounted('inc_many', ARRAY[format('a < 5000 AND i4 = ANY (%s)', list('i * 3', 1000, 'int')),
	format('a < 5000 AND i8 = ANY (%s)', list('i::int8 * 1000000007', 1000, 'int8')),
	format('b = 3 OR i8 <> ALL (%s)', list('i::int8 * 1000000007', 3000, 'int8')),
	format('n = ANY (%s)', list('i / 2', 500, 'numeric'))], '', 1, 1);

-- Not the index's: patterns with more in them, of other collations, or that are not known; and <> ANY.
CREATE TABLE others AS SELECT c COLLATE "en-x-icu" AS c, p FROM few;
CREATE INDEX others_idx ON others USING rtscan (c, p);
SELECT miscounted('few', ARRAY['c LIKE ''%b''', 'c LIKE ''a_c%''', 'c LIKE ''a%c%''', 'c ILIKE ''ab%''',
	'c LIKE c', 'a <> ANY (''{1,2}'')'], '', NULL, NULL);
SELECT miscounted('others', '{c LIKE ''ab%''}', '', NULL, NULL);
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM others WHERE c LIKE 'ab%';
-- (PostgreSQL itself may look such a pattern up in the index)
SET enable_indexscan = off;
SELECT count(*) FROM few WHERE c LIKE 'ab\';
RESET enable_indexscan;
RESET enable_bitmapscan;

-- Prefixes where the index has no values for the planner: no segment, or not for this user to know; and two of them
CREATE TABLE prefixes (a text COLLATE "C", b int);
CREATE INDEX prefixes_idx ON prefixes USING rtscan (a, b);
SELECT count(*) FROM prefixes WHERE a LIKE 'x%';
INSERT INTO prefixes SELECT chr(97 + i % 26) || i, i FROM generate_series(1, 3000) i;
SELECT count(*) FROM prefixes WHERE a LIKE 'x%' AND b > 100;
VACUUM ANALYZE prefixes;
CREATE VIEW barrier WITH (security_barrier) AS SELECT 1 AS x;
SELECT count(*) FROM prefixes, barrier WHERE a LIKE 'x%';
SELECT count(*) FILTER (WHERE a LIKE 'x1%'), count(*) FILTER (WHERE a LIKE 'y%') FROM prefixes;
CREATE ROLE rtscan_half_blind;
GRANT USAGE ON SCHEMA filters TO rtscan_half_blind;
GRANT SELECT (b) ON prefixes TO rtscan_half_blind;
CREATE FUNCTION matching() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS $$
	SELECT count(*) FROM filters.prefixes WHERE a LIKE 'x%' $$;
SET ROLE rtscan_half_blind;
SELECT filters.matching();
SELECT count(*) FROM prefixes WHERE a LIKE 'x%';
RESET ROLE;

-- Local times do not ascend as the instants do that they stand for, where the clock changes: in segments, and pending.
SET timezone = 'Europe/Berlin';
CREATE TABLE instants AS SELECT '2021-03-27 12:00+00'::timestamptz + i * interval '10 s' AS z
FROM generate_series(1, 9000) i;
CREATE INDEX instants_idx ON instants USING rtscan (z);
VACUUM ANALYZE instants;
INSERT INTO instants SELECT * FROM instants WHERE z BETWEEN '2021-03-28 00:30+00' AND '2021-03-28 02:30+00';
SELECT z, count(*) FROM instants
WHERE z = ANY ('{2021-03-28 01:59, 2021-03-28 02:59, 2021-03-28 03:00, 2021-03-28 03:05}'::timestamp[])
GROUP BY z ORDER BY z;
RESET timezone;

-- PostgreSQL evaluates the arguments of a FILTER for no row here, so they must not raise errors.
SELECT count(*), count(*) FILTER (WHERE z > date_trunc('fortnight', now())) FROM instants WHERE z < '1999-01-01';
SELECT count(*), count(*) FILTER (WHERE z > date_trunc('day', now())) FROM instants WHERE z < '1999-01-01';

RESET enable_seqscan;
DROP SCHEMA filters CASCADE;
DROP ROLE rtscan_half_blind;
