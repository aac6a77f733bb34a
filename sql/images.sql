-- Equal values of key columns that do not look alike: the index gives back each as it is.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA images;
SET search_path = images, public;
SET max_parallel_workers_per_gather = 0;
SET maintenance_work_mem = '256MB';
SET jit = off;

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/plans.psql
\set ECHO all
CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TYPE amount AS (a numeric, f float8);
-- Few values and many, NULLs, and some that ascend with the rows; what zero looks like is a matter of g.
CREATE FUNCTION rows(first int, last int) RETURNS TABLE (
	id int, g int, f float8, f4 float4, few numeric, n numeric, many numeric, asc_n numeric, bp bpchar, v text,
	iv interval, ar numeric[], am amount, one_zero float8, plain float8) LANGUAGE sql AS $$
SELECT i, i % 7,
	CASE WHEN i % 11 > 0 THEN CASE h % 5 WHEN 0 THEN CASE WHEN i % 7 = 1 THEN '-0'::float8 ELSE 0 END
		WHEN 1 THEN CASE WHEN i % 2 = 0 THEN 'NaN' ELSE 'Infinity'::float8 - 'Infinity' END
		ELSE h % 3000 / 8.0 END END,
	CASE h % 3 WHEN 0 THEN '-0' WHEN 1 THEN 0 ELSE (h % 900)::float4 END,
	CASE WHEN i % 13 > 0 THEN round(h % 5, i % 3) END,
	round(h % 2000 - 1000, CASE WHEN i % 7 = 2 THEN 1 ELSE h % 4 END),
	round(h % 100000, h % 3), round(i / 50, i % 2),
	'k' || h % 600 || repeat(' ', h % 3), (ARRAY['a', 'A', 'ab', 'aB'])[1 + h % 4] || h % 300,
	CASE WHEN h % 2 = 0 THEN h % 20 * interval '1 month' ELSE h % 20 * interval '30 days' END,
	ARRAY[round(h % 9, h % 2)], ROW(round(h % 30, h % 2), CASE WHEN h % 2 = 0 THEN '-0' ELSE 0::float8 END)::amount,
	CASE WHEN i = 77777 THEN '-0' ELSE i::float8 END, hashint4(i) / 1e3::float8
FROM generate_series(first, last) i, LATERAL (SELECT abs(hashint4(i)) AS h) hash
$$;
CREATE TABLE t (id int, g int, f float8, f4 float4, few numeric, n numeric, many numeric, asc_n numeric, bp bpchar,
	v text COLLATE blind, iv interval, ar numeric[], am amount, one_zero float8, plain float8)
	WITH (autovacuum_enabled = off);
INSERT INTO t SELECT * FROM rows(1, 140000);
CREATE INDEX t_idx ON t USING rtscan (id, g, f, f4, few, n, many, asc_n, bp, v, iv, ar, am, one_zero, plain);
VACUUM ANALYZE t;
SELECT rtscan_check('t_idx', true);
SELECT bool_and(pg_index_column_has_property('t_idx', k, 'returnable')) AS returned FROM generate_series(1, 15) k;

-- Queries whose results by the index and by the table are compared; and how many of the rows come from the heap.
CREATE TABLE question (number serial, query text);
INSERT INTO question (query) VALUES
	('SELECT id, float8send(f), float4send(f4), few, n, many, asc_n FROM t'),
	('SELECT id, quote_literal(bp), v, iv, ar, am, float8send(one_zero), float8send(plain) FROM t'),
	('SELECT id, few, bp || ''.'', am FROM t WHERE f = 0 AND g = 1'),
	('SELECT id, float8send(f) FROM t WHERE f = ''NaN'' AND g > 2'),
	('SELECT id, v FROM t WHERE v = ''A7'''), ('SELECT id, n FROM t WHERE n BETWEEN 3 AND 5.0'),
	('SELECT id FROM t WHERE n::text = ''7.00'''), ('SELECT id FROM t WHERE f::text = ''-0'' AND few = 3'),
	('SELECT id, asc_n FROM t WHERE asc_n BETWEEN 100 AND 103 OR asc_n > 2795'),
	('SELECT id, one_zero FROM t WHERE one_zero < 5'), ('SELECT g, ar FROM t WHERE ar = ''{7}'' AND id < 5000'),
	('SELECT sum(few), sum(n), avg(many), sum(asc_n * 2) FROM t WHERE g < 5'),
	('SELECT g, sum(f) FROM t WHERE f < 1000 GROUP BY g'),
	('SELECT n::text, count(*), min(id) FROM t GROUP BY 1'),
	('SELECT few::text, f4::text, count(*), sum(n) FROM t WHERE g = 2 GROUP BY 1, 2'),
	('SELECT scale(asc_n), max(length(bp::text)), count(*) FROM t GROUP BY 1'),
	('SELECT length(v COLLATE "C"), v COLLATE "C", count(*) FROM t WHERE id < 30000 GROUP BY v COLLATE "C"'),
	-- groups and extremes all of whose rows look alike, but others that equal them do not
	('SELECT f, count(*) FROM t WHERE f = 0 AND g = 1 GROUP BY f'),
	('SELECT f, count(*) FROM t WHERE f = 0 AND g = 3 GROUP BY f'),
	('SELECT n, count(*) FROM t WHERE g = 2 GROUP BY n'),
	('SELECT n, few IS NULL, count(*) FROM t WHERE g = 2 GROUP BY 1, 2'),
	('SELECT min(f), max(f) FROM t WHERE f = 0 AND g = 1'), ('SELECT min(f), max(f) FROM t WHERE f = 0 AND g = 4'),
	('SELECT min(n), max(n) FROM t WHERE g = 2'),
	('SELECT min(n) FILTER (WHERE g = 2), max(id) FROM t WHERE n > 17'),
	('SELECT min(few), max(few) FROM t WHERE id IN (34, 35, 36)'),
	('SELECT min(asc_n), max(asc_n) FROM t WHERE id % 2 = 1'),
	('SELECT min(one_zero) FROM t WHERE id = 77777'),
	('SELECT min(one_zero), max(plain) FROM t WHERE id > 70000'),
	('SELECT min(bp), max(bp) FROM t WHERE id = 16'), ('SELECT min(iv), max(iv) FROM t WHERE id = 20'),
	('SELECT * FROM (SELECT n, id FROM t ORDER BY n DESC, id LIMIT 3000) q'),
	('SELECT * FROM (SELECT f::text, id FROM t WHERE g = 1 ORDER BY f, id LIMIT 4000) q'),
	('SELECT * FROM (SELECT few, v, id FROM t ORDER BY v, few, id LIMIT 300) q'),
	('SELECT id, few, n FROM (SELECT * FROM t WHERE id = 12345 ORDER BY n LIMIT 5) q');
CREATE FUNCTION compare(query text, counts boolean, OUT problem text, OUT from_heap bigint) LANGUAGE plpgsql AS $$
DECLARE
	hashed text := format('SELECT count(*) || ''/'' || sum(hashtextextended(q::text, 0)) FROM (%s) q', query);
	plan json;
	by_index text;
	by_table text;
BEGIN
	SET LOCAL enable_seqscan = off;
	SET LOCAL enable_bitmapscan = off;
	EXECUTE format('EXPLAIN (%s FORMAT JSON) %s', CASE WHEN counts THEN 'ANALYZE, TIMING OFF,' END, query) INTO plan;
	EXECUTE hashed INTO by_index;
	SET LOCAL enable_seqscan = on;
	SET LOCAL rtscan.enable_scan = off;
	SET LOCAL rtscan.enable_aggregate = off;
	EXECUTE hashed INTO by_table;
	RESET enable_bitmapscan;
	RESET rtscan.enable_scan;
	RESET rtscan.enable_aggregate;
	IF plan::text !~ 'Rtscan(Scan|Aggregate)' THEN
		problem := 'not from the index';
	ELSIF by_index IS DISTINCT FROM by_table THEN
		problem := format('%s, not %s', by_index, by_table);
	END IF;
	SELECT sum(m[1]::bigint) FROM regexp_matches(plan::text, '"Heap Fetches": (\d+)', 'g') m INTO from_heap;
END $$;
CREATE FUNCTION problems() RETURNS TABLE (query text, problem text) LANGUAGE sql AS $$
	SELECT q.query, c.problem FROM question q, compare(q.query, false) c WHERE c.problem IS NOT NULL ORDER BY number
$$;
SELECT count(*) > 30 AS asked, sum(from_heap), string_agg(problem, ', ') AS problems
FROM question q, compare(q.query, true);
-- one that is alone among its likes, and none: how they are stored
CREATE FUNCTION stored(name text, OUT codes numeric, OUT include boolean) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE INDEX one ON t USING rtscan (%s)', name);
	SELECT round(codes_bytes * 8.0 / rows), include_bytes > 0 FROM rtscan_stats('one') INTO codes, include;
	DROP INDEX one;
END $$;
SELECT name, stored.* FROM unnest('{g,few,many,one_zero,plain}'::text[]) name, stored(name);

-- Pending rows, flushed ones, dead ones, merged ones.
INSERT INTO t SELECT * FROM rows(140001, 142000);
SELECT * FROM problems();
VACUUM t;
INSERT INTO t SELECT * FROM rows(142001, 144000);
DELETE FROM t WHERE id % 17 = 3;
SELECT * FROM problems();
VACUUM t;
SELECT * FROM problems();
SELECT segments > 1 AS several, rtscan_check('t_idx', true) FROM rtscan_stats('t_idx');
INSERT INTO t SELECT * FROM rows(200001, 330000);
VACUUM t;
SELECT rtscan_merge('t_idx') > 0 AS merged;
SELECT rtscan_check('t_idx', true);
SELECT * FROM problems();
-- the only -0 goes
DELETE FROM t WHERE id <= 200000;
VACUUM t;
SELECT rtscan_merge('t_idx') > 0 AS merged;
SELECT rtscan_check('t_idx', true);
SELECT * FROM problems();
-- built by rows of the table that are in any order
UPDATE t SET many = many + 0.0000, few = few + 0.000 WHERE id % 3 = 0;
REINDEX INDEX t_idx;
SELECT * FROM problems();

-- Many rows of one value, no two of which look alike.
CREATE TABLE scales AS SELECT i AS id, round(1, i) AS n FROM generate_series(0, 1500) i;
CREATE INDEX scales_idx ON scales USING rtscan (n, id);
VACUUM ANALYZE scales;
SELECT rtscan_check('scales_idx', true);
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT count(*), count(DISTINCT scale(n)), min(scale(n)), max(scale(n)) FROM scales WHERE n = 1;
SELECT bool_and(scale(n) = id) FROM scales;
SELECT explained('SELECT bool_and(scale(n) = id) FROM scales',
	'COSTS OFF, ANALYZE, TIMING OFF, SUMMARY OFF, BUFFERS OFF');
DROP SCHEMA images CASCADE;
