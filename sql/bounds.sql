-- Segments that have no row which matches, by the bounds of their columns in the directory, are skipped.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA bounds;
SET search_path = bounds, public;
SET rtscan.merge_worker = off;
SET max_parallel_workers_per_gather = 0;
SET timezone = 'Europe/Berlin';

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/counts.psql
\i :directory/sql/include/differences.psql
\set ECHO all
-- columns that ascend, descend, repeat, have NULLs only in some segments, -0, infinities and NaN in others; q has no
-- keys, nor has m
CREATE TABLE t WITH (autovacuum_enabled = off) AS
SELECT i AS id, -i::bigint * 1000000000 AS l, timestamp '2020-10-24 00:00' + i * interval '5 s' AS ts,
	CASE WHEN i > 20000 THEN i % 100 + i / 10000 * 50 END AS n,
	CASE WHEN i > 40000 THEN 'NaN' WHEN i < 10000 THEN '-Infinity' WHEN i < 20000 THEN '-0'
		ELSE i / 7.0::float8 END AS f,
	(i / 1000)::numeric AS q, 'm' || lpad((i / 100)::text, 5, '0') AS m, hashint4(i) AS h
FROM generate_series(1, 60000) i;
-- (VACUUM would merge the segments)
VACUUM ANALYZE t;
SET rtscan.debug_segment_rows = 5800;
CREATE INDEX t_bounds ON t USING rtscan (id, l, ts, n, f, q, m, (md5(id::text))) INCLUDE (h);
RESET rtscan.debug_segment_rows;
SELECT segments > 8 AS many FROM rtscan_stats('t_bounds');
SELECT rtscan_check('t_bounds', true);
-- Return which segments a query searches: all, some or none.
CREATE FUNCTION searched(condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE format('EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, FORMAT json) SELECT count(*) FROM t WHERE %s',
		condition) INTO plan;
	plan := jsonb_path_query_first(plan, 'strict $.**.Plan ? (exists(@.Segments))');
	RETURN CASE plan ->> 'Segments Skipped' WHEN plan ->> 'Segments' THEN 'none' ELSE coalesce(
		regexp_replace(plan ->> 'Segments Skipped', '.*', 'some'), 'all') END;
END
$$;
CREATE TABLE asked (condition text);
INSERT INTO asked VALUES
	('id < 1000'), ('id > 59000'), ('id = 30000'), ('id BETWEEN 25000 AND 26000'), ('id < 0'), ('id > 60000'),
	('id = 3000000000'), ('id > -3000000000'), ('id < 3000000000'), ('id IN (5, 59999)'), ('id IN (-5, 30000, 70000)'),
	('id = ANY (ARRAY[-1, 70000])'),
	('id < ALL (ARRAY[500, 40000])'), ('id > ANY (ARRAY[500, 59990])'), ('NOT id > 100'), ('id <> 5'), ('id IS NULL'),
	('id IS NOT NULL'), ('id < 100 OR id > 59900'), ('id < 100 OR l > -5000000000'),
	('id < 20000 AND l < -40000000000000'),
	('id IS DISTINCT FROM 5'), ('id IS NOT DISTINCT FROM 5'), ('l = -7000000000'), ('l > -1000000000'),
	('l >= -1000000000'),
	('l < 0 AND id < 10'), ('ts < ''2020-10-24 01:00'''), ('ts >= ''2020-10-27'''), ('ts = ''2020-10-25 02:30'''),
	('ts < timestamptz ''2020-10-25 02:30+02'''), ('ts >= timestamptz ''2020-10-25 02:30+01'''), ('ts > ''infinity'''),
	('ts = timestamptz ''2020-10-25 02:30+01'''), ('ts < date ''2020-10-24'''), ('ts >= date ''2020-10-27'''),
	('n < 100'), ('n = 349'), ('n > 340'), ('n IS NULL'), ('n IS NOT NULL'), ('n IS DISTINCT FROM 349'), ('n <> 349'),
	('n IS NULL AND id > 30000'), ('n IS NULL OR id > 59990'), ('n < 0'), ('f = ''NaN'''), ('f = 0'), ('f = ''-0'''),
	('f < ''-Infinity'''), ('f = ''-Infinity'''), ('f > 1e9'), ('f BETWEEN 3000 AND 3100'), ('f <> ''NaN'''),
	('f = 0.0::float4'), ('q = 59'), ('q < 2'), ('m > ''m00590'''), ('m < ''m00002'''), ('id < 100 AND m > ''m'''),
	('h = 5'), ('h > 0 AND id < 5'), ('id < NULL'), ('id = 5 AND id = 6');
SELECT condition, searched(condition) FROM asked;
-- a bitmap scan takes no negations
SELECT differences('t', 't_bounds', array_agg(condition), false)
FROM asked
WHERE condition !~ 'NULL$|id = 6|ALL|<>|DISTINCT|^h =';
SELECT miscounted('t', array_agg(condition), 'id, n', NULL, NULL) FROM asked;
-- Rows that come later have bounds of their own; those that died stay within them.
DELETE FROM t WHERE id % 3 = 0;
VACUUM t;
INSERT INTO t SELECT id + 100000, l, ts, n, f, q, m, h FROM t WHERE id % 20 = 1;
SELECT searched('id > 100000'), searched('id > 200000');
SELECT count(*) FROM t WHERE id > 100000;
VACUUM t;
SELECT searched('id > 100000'), searched('id > 200000');
SELECT miscounted('t', array_agg(condition), 'id, n', NULL, NULL) FROM asked;
SELECT rtscan_merge('t_bounds');
SELECT searched('id > 100000'), searched('id > 200000');
SELECT miscounted('t', array_agg(condition), 'id, n', NULL, NULL) FROM asked;
SELECT rtscan_check('t_bounds', true);
-- Each of a nested loop's searches, those of dimensions, and processes skip on their own.
SET rtscan.debug_segment_rows = 5800;
REINDEX INDEX t_bounds;
RESET rtscan.debug_segment_rows;
CREATE TABLE d AS SELECT i * 211 % 70000 AS k, i % 5 AS g FROM generate_series(1, 300) i;
ANALYZE d;
SELECT unequal('SELECT g, count(*), sum(h) FROM t JOIN d ON k = id WHERE l > -30000000000000
	GROUP BY g ORDER BY g', NULL);
SELECT unequal('SELECT count(*) FROM d, LATERAL (SELECT count(*) AS n FROM t WHERE id BETWEEN k AND k + 3) c
	WHERE c.n > 2', NULL);
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT count(*), sum(h) FROM t WHERE id BETWEEN 20000 AND 45000 AND f > 3000;
SELECT count(*), sum(h) FROM t WHERE id + 0 BETWEEN 20000 AND 45000 AND f + 0 > 3000;
DROP SCHEMA bounds CASCADE;
