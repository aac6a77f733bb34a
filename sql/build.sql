-- Building indexes.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA build;
SET search_path = build, public;

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/differences.psql
\i :directory/sql/include/plans.psql
\set ECHO all
CREATE FUNCTION hash(i int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT abs(hashint4($1))';
--
-- Numbers of rows around a chunk, 64512; all shapes of data
--
CREATE FUNCTION check_rows(n int) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	CREATE TABLE x AS
		SELECT i AS sorted, -i AS reverse, hash(i) % (n + 1) AS random, hash(i) % 3 AS few, NULL::int AS nothing,
			0 AS equal,
			   hash(i / 1000) AS clustered, CASE WHEN i % 2 = 0 THEN hash(i) % 1000 END AS half, i / 300 AS steps,
			   CASE WHEN i < n - 5 THEN i / 9 END AS nulls_last, CASE WHEN i > 5 THEN i END AS nulls_first
		FROM generate_series(1, n) i;
	CREATE INDEX x_all ON x USING rtscan (sorted, reverse, random, few, nothing, equal, clustered, half, steps,
		nulls_last, nulls_first);
	PERFORM rtscan_check('x_all', true);
	RETURN QUERY SELECT format('%s rows: %s', n, d) FROM differences('x', 'x_all', ARRAY[
		'sorted > 0 AND sorted < 10', 'sorted = 1', 'sorted >= 64500', 'sorted = 64512',
		'sorted = ANY (''{1,2,64511,64512,64513,64514,129024,129025}'')',
		'reverse <= -64500', 'reverse = -1', 'reverse > -70 AND reverse <= -10', 'reverse BETWEEN -64520 AND -64490',
		'random < 50', 'random >= 64450', 'random > 30000 AND random < 30100 AND few = 1',
		'few = 2 AND sorted > 64400', 'few < 0', 'few >= 3', 'few > 1 AND random < 300',
		'nothing IS NULL AND sorted < 7', 'nothing IS NOT NULL', 'nothing < 5', 'equal = 0 AND reverse < -64490',
		'equal < 0', 'equal > 0', 'equal IS NULL',
		format('clustered = %s', hash(64)), format('clustered <= %s AND half < 20', hash(1)),
		'half IS NULL AND random < 40', 'half IS NOT NULL AND half >= 990',
		'steps = 215', 'steps = 0 AND few = 0', 'steps >= 214 AND steps < 216', 'steps > 3 AND steps < 5 AND half = 5',
		'nulls_last IS NULL', 'nulls_last >= 7167', 'nulls_last < 2', 'nulls_first IS NULL', 'nulls_first < 9',
		'nulls_first >= 64510', 'nulls_first IS NULL AND nulls_last IS NULL']) d;
	DROP TABLE x;
END
$$;
SELECT check_rows(n) FROM unnest('{0,1,2,255,256,257,1000,64511,64512,64513,129024,129025}'::int[]) n;

-- numbers of values around what fits a byte, two bytes and the bins
CREATE FUNCTION check_values(n int, k int) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	CREATE TABLE x AS
		SELECT i, (i::int8 * 7919 % k)::int AS v, CASE WHEN i % 10 > 0 THEN (i::int8 * 7919 % k)::int END AS w
		FROM generate_series(1, n) i;
	CREATE INDEX x_all ON x USING rtscan (v, w, i);
	PERFORM rtscan_check('x_all', true);
	RETURN QUERY
		SELECT format('%s rows, %s values: %s', n, k, d)
		FROM differences('x', 'x_all', ARRAY['v IS NULL', 'w IS NULL AND i < 50', 'w IS NULL AND v < 5',
		format('v >= %s AND i < 3000', k - 1), format('v = %s', k - 1), format('w >= %s', k - 1),
		format('w > %s AND w IS NOT NULL AND i < 3000', k - 3), format('v > %s', k - 1), 'v < 0',
		'v = 0', 'w < 1 AND i > 50', format('v <= %s AND i < 100', k - 2),
		format('w < %s AND w IS NOT NULL AND i < 100', k - 1), format('w = ANY (''{0,%s,%s,NULL}'')', k - 1, k),
		format('v > 0 AND v < %s AND i > %s', k - 1, n - 70), format('w BETWEEN %s AND %s', k / 2, k / 2 + 1),
		format('w IS NULL AND v = %s', k - 1)]) d;
	DROP TABLE x;
END
$$;
SELECT check_values(3000, k) FROM unnest('{1,2,127,128,254,255,256,257,2999}'::int[]) k;
SELECT check_values(66000, k) FROM unnest('{1,2,254,255,256,257,65535,65536,65537}'::int[]) k;

-- segments as small as memory allows, and what is in them
CREATE TABLE t WITH (autovacuum_enabled = off) AS
	SELECT i AS id, hash(i) % 5000 AS a, 'k' || hash(i) % 77 AS b FROM generate_series(1, 40000) i;
SET rtscan.debug_segment_rows = 18000;
CREATE INDEX t_ab ON t USING rtscan (a, b, id);
SELECT segments > 2 AS several, rows, dead, pending FROM rtscan_stats('t_ab');
SELECT rtscan_check('t_ab', true);
SELECT differences('t', 't_ab',
	'{a < 77,a > 4900 AND b = ''k5'',id BETWEEN 19990 AND 20010,b >= ''k76'' AND a < 1000,id > 39990,b IS NULL}');
RESET rtscan.debug_segment_rows;
REINDEX INDEX t_ab;
SELECT segments, rows FROM rtscan_stats('t_ab');
SELECT differences('t', 't_ab',
	'{a < 77,a > 4900 AND b = ''k5'',id BETWEEN 19990 AND 20010,b >= ''k76'' AND a < 1000,id > 39990,b IS NULL}');
-- other ways to build it again
REINDEX INDEX CONCURRENTLY t_ab;
INSERT INTO t SELECT -i, i, 'new' FROM generate_series(1, 100) i;
REINDEX TABLE CONCURRENTLY t;
CREATE INDEX CONCURRENTLY t_b ON t USING rtscan (b);
SELECT indexrelid::regclass, indisvalid, indisready, (SELECT rows + pending FROM rtscan_stats(indexrelid)),
	rtscan_check(indexrelid, true)
	FROM pg_index WHERE indrelid = 't'::regclass ORDER BY 1;
SELECT differences('t', 't_b', '{b = ''new'',b < ''k11'',b > ''k5''}');
-- with changes in the same transaction, and rolled back
DROP INDEX t_ab;
BEGIN;
UPDATE t SET a = -a WHERE id % 100 = 0;
CREATE INDEX t_a ON t USING rtscan (a);
INSERT INTO t VALUES (0, 0, 'zero');
SELECT rtscan_check('t_a', true);
SELECT differences('t', 't_a', '{a < 0,a > 4990,a = 0}')
WHERE NOT (SELECT indcheckxmin FROM pg_index WHERE indexrelid = 't_a'::regclass);
ROLLBACK;
BEGIN;
REINDEX INDEX t_b;
ROLLBACK;
SELECT rtscan_check('t_b', true);
DROP TABLE t;

-- an error in the middle
CREATE TABLE t AS SELECT i AS a FROM generate_series(1, 30000) i;
SET rtscan.debug_segment_rows = 18000;
CREATE INDEX t_a ON t USING rtscan ((1 / (a - 29000)));
CREATE INDEX t_a ON t USING rtscan ((1 / (a - 30001)), a);
SELECT rtscan_check('t_a', true);
RESET rtscan.debug_segment_rows;
DROP TABLE t;

-- HOT chains: roots out of order within a page, dead members
CREATE TABLE t (id int, a int, filler text) WITH (fillfactor = 40);
INSERT INTO t SELECT i, hash(i) % 100, 'x' FROM generate_series(1, 3000) i;
UPDATE t SET filler = 'y' WHERE id % 3 = 0;
UPDATE t SET filler = 'z' WHERE id % 6 = 0;
DELETE FROM t WHERE id % 7 = 0;
UPDATE t SET filler = 'a' WHERE id % 2 = 0;
CREATE INDEX t_a ON t USING rtscan (a, id);
UPDATE t SET filler = 'b' WHERE id % 5 = 0;
SELECT rtscan_check('t_a', true);
-- the chains would be broken only if an indexed column had changed
SELECT differences('t', 't_a', '{a < 50,id > 2000 AND a = 3,a >= 98}');
DROP TABLE t;

--
-- In parallel: a table that says how many workers it wants has as many ranges of blocks at least, each a segment
--
CREATE TABLE t (id int, a int, b text, x float8, n numeric)
	WITH (autovacuum_enabled = off, parallel_workers = 3, fillfactor = 60);
INSERT INTO t SELECT i, hash(i) % 5000, CASE WHEN i % 7 > 0 THEN 'k' || hash(i) % 77 END, (i % 9 - 4) * 0.0::float8,
		i % 50 / 10.0
	FROM generate_series(1, 40000) i;
UPDATE t SET x = x + 1 WHERE id % 5 = 0;
DELETE FROM t WHERE id % 7 = 3;
ANALYZE t;
SET max_parallel_maintenance_workers = 3;
CREATE FUNCTION built(name text) RETURNS TABLE (segments bigint, rows bigint, checked text) LANGUAGE sql AS $$
	SELECT segments, rows, rtscan_check(name, true)::text FROM rtscan_stats(name)
$$;
CREATE INDEX t_all ON t USING rtscan (a, b, x, id) INCLUDE (n, b);
SELECT * FROM built('t_all');
SELECT differences('t', 't_all', ARRAY['a < 77', 'a > 4900 AND b = ''k5''', 'id BETWEEN 19990 AND 20010',
	'b >= ''k76'' AND a < 1000', 'id > 39990', 'b IS NULL AND a < 50', 'x = 0 AND id < 100']);
-- the same by one process, but for how many segments there are
SET max_parallel_maintenance_workers = 0;
CREATE INDEX t_one ON t USING rtscan (a, b, x, id) INCLUDE (n, b);
SELECT * FROM built('t_one');
DROP INDEX t_one;
SET max_parallel_maintenance_workers = 3;
-- segments are in the heap's order, and so are rows
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT count(*)
FROM (SELECT id, lag(id) OVER () AS before FROM (SELECT id FROM t WHERE a >= 0 AND id % 5 <> 0 OFFSET 0) rows) pairs
WHERE id < before;
RESET enable_bitmapscan;
RESET enable_seqscan;
-- more than a segment of a range; expressions and predicates that workers may evaluate, and one that they may not
SET rtscan.debug_segment_rows = 6000;
CREATE INDEX t_wide ON t USING rtscan ((md5(id::text)), a);
SELECT segments > 4 AS several, rows, checked FROM built('t_wide');
SELECT differences('t', 't_wide', '{md5(id::text) < ''08''}', false);
DROP INDEX t_wide;
-- far fewer rows than the heap's size tells, of each range
CREATE INDEX t_few ON t USING rtscan (a, b) WHERE id % 1000 = 0;
SELECT segments <= 4 AS few, rows, checked FROM built('t_few');
SELECT differences('t', 't_few', '{id % 1000 = 0,id % 1000 = 0 AND a < 2000}', false);
DROP INDEX t_few;
RESET rtscan.debug_segment_rows;
CREATE INDEX t_some ON t USING rtscan ((a * 2), lower(b)) WHERE a % 2 = 0;
SELECT * FROM built('t_some');
CREATE FUNCTION alone(int) RETURNS int LANGUAGE plpgsql IMMUTABLE PARALLEL UNSAFE AS 'BEGIN RETURN $1 + 1; END';
CREATE INDEX t_alone ON t USING rtscan (alone(a));
SELECT * FROM built('t_alone');
-- an error in the process that comes to that row
\set VERBOSITY sqlstate
CREATE INDEX t_error ON t USING rtscan ((1 / (id - 39999)), a);
\set VERBOSITY default
SELECT count(*) FROM pg_class WHERE relname = 't_error';
-- other ways to build it; rows that are changed in the same transaction
REINDEX TABLE CONCURRENTLY t;
CREATE INDEX CONCURRENTLY t_b ON t USING rtscan (b);
SELECT name, built(name) FROM unnest('{t_all,t_some,t_alone,t_b}'::text[]) name;
-- a broken HOT chain, in the last blocks
DROP INDEX t_all, t_some, t_alone, t_b;
BEGIN;
UPDATE t SET a = -a WHERE id = 39998;
CREATE INDEX t_a ON t USING rtscan (a);
SELECT rtscan_check('t_a', true), indcheckxmin FROM pg_index WHERE indexrelid = 't_a'::regclass;
ROLLBACK;
BEGIN;
CREATE TABLE fresh WITH (parallel_workers = 3) AS SELECT * FROM t;
CREATE INDEX fresh_a ON fresh USING rtscan (a, id);
TRUNCATE fresh;
INSERT INTO fresh SELECT * FROM t;
REINDEX TABLE fresh;
COMMIT;
SELECT * FROM built('fresh_a');
SELECT differences('fresh', 'fresh_a', '{a < 77,id > 39990}');
VACUUM FULL fresh;
SELECT * FROM built('fresh_a');
-- fewer blocks than processes, no rows, and no blocks
TRUNCATE fresh;
SELECT * FROM built('fresh_a');
INSERT INTO fresh SELECT * FROM t LIMIT 20;
REINDEX TABLE fresh;
SELECT * FROM built('fresh_a');
DELETE FROM fresh;
REINDEX TABLE fresh;
SELECT * FROM built('fresh_a');
-- no workers to be had
INSERT INTO fresh SELECT * FROM t;
SET max_parallel_workers = 0;
REINDEX TABLE fresh;
SELECT * FROM built('fresh_a');
RESET max_parallel_workers;
-- a table that does not ask for workers has enough rows for several processes, or none
ALTER TABLE fresh RESET (parallel_workers);
SET min_parallel_table_scan_size = 0;
REINDEX TABLE fresh;
SELECT * FROM built('fresh_a');
RESET min_parallel_table_scan_size;
RESET max_parallel_maintenance_workers;
DROP TABLE t, fresh;

--
-- Columns: many, expressions, some rows only, INCLUDE
--
DO $$
BEGIN
	EXECUTE format('CREATE TABLE t (%s)',
		(SELECT string_agg(format('c%s int', i), ', ') FROM generate_series(1, 33) i));
	EXECUTE format('INSERT INTO t SELECT %s FROM generate_series(1, 3000) r',
		(SELECT string_agg(format('NULLIF(hash(r * 40 + %s) %% 100, %s)', i, i), ', ') FROM generate_series(1, 33) i));
	EXECUTE format('CREATE INDEX t_all ON t USING rtscan (%s)',
		(SELECT string_agg('c' || i, ', ') FROM generate_series(1, 32) i));
	EXECUTE format('INSERT INTO t SELECT %s FROM generate_series(3001, 3100) r',
		(SELECT string_agg(format('NULLIF(hash(r * 40 + %s) %% 100, %s)', i, i), ', ') FROM generate_series(1, 33) i));
END
$$;
SELECT rtscan_check('t_all', true);
SELECT differences('t', 't_all', (
	SELECT array_agg(format('c%s < 50', i)) || array_agg(format('c%s IS NULL AND c%s > 10', i, 33 - i))
		|| string_agg(format('c%s >= 2', i), ' AND ')
		|| string_agg(format('c%s BETWEEN 5 AND 99', i), ' AND ') FROM generate_series(1, 32) i));
DO $$
BEGIN
	EXECUTE format('CREATE INDEX ON t USING rtscan (%s)',
		(SELECT string_agg('c' || i, ', ') FROM generate_series(1, 33) i));
END
$$;
DO $$
BEGIN
	EXECUTE format('CREATE INDEX ON t USING rtscan (c1) INCLUDE (%s)',
		(SELECT string_agg('c' || i, ', ') FROM generate_series(2, 33) i));
END
$$;
DO $$
BEGIN
	EXECUTE format('CREATE INDEX t_include ON t USING rtscan (c1) INCLUDE (%s)',
		(SELECT string_agg('c' || i, ', ') FROM generate_series(3, 33) i));
END
$$;
SELECT rtscan_check('t_include', true);
-- the same column more than once
CREATE INDEX t_twice ON t USING rtscan (c33, c33, (c33 % 7)) INCLUDE (c33);
SELECT rtscan_check('t_twice', true);
DROP INDEX t_all, t_include;
SELECT differences('t', 't_twice', '{c33 < 50 AND c33 > 40,c33 = 5 AND c33 % 7 = 5,c33 % 7 = 3,c33 IS NULL}');
DROP TABLE t;

CREATE TABLE t AS
	SELECT i AS id, hash(i) % 1000 AS a, CASE WHEN i % 5 > 0 THEN 'Text ' || hash(i) % 300 END AS b
	FROM generate_series(1, 3000) i;
CREATE INDEX t_part ON t USING rtscan (id) WHERE b IS NOT NULL AND a < 500;
CREATE INDEX t_none ON t USING rtscan (id) WHERE a < 0;
INSERT INTO t SELECT i, hash(i) % 1000 - 5, CASE WHEN i % 5 > 0 THEN 'Text ' || hash(i) % 300 END
FROM generate_series(3001, 3200) i;
SELECT rtscan_check(i, true) FROM unnest('{t_part,t_none}'::regclass[]) i;
SELECT differences('t', 't_part',
	'{b IS NOT NULL AND a < 500,b IS NOT NULL AND a < 500 AND id < 100,b IS NOT NULL AND a < 300 AND id > 3100}',
	false);
SELECT differences('t', 't_none', '{a < 0,a < -2 AND id > 5}', false);
CREATE INDEX t_expression ON t USING rtscan ((a * 2), lower(b), (a IS NULL), (b COLLATE "C"));
INSERT INTO t SELECT i, hash(i) % 1000 - 5, CASE WHEN i % 5 > 0 THEN 'Text ' || hash(i) % 300 END
FROM generate_series(3201, 3400) i;
SELECT rtscan_check('t_expression', true);
SELECT differences('t', 't_expression', ARRAY[
	'a * 2 < 100', 'lower(b) = ''text 5''', 'lower(b) >= ''text 98'' AND a * 2 > 1000',
	'lower(b) IS NULL AND a * 2 < 600',
	'b COLLATE "C" > ''Text 29'' AND lower(b) < ''text 8''']);
ALTER INDEX t_expression ALTER COLUMN 1 SET STATISTICS 10;
ANALYZE t;
SELECT differences('t', 't_expression', '{a * 2 = 100}');
DROP TABLE t;

-- INCLUDE columns: types without an order, wide ones, NULLs; more than a chunk
CREATE TABLE t (a int, b text, p point, j json, n name, x numeric, f bool, arr int[], c "char", m macaddr, box box,
	t timetz, poly polygon, i interval);
INSERT INTO t SELECT hash(i) % 5000,
		CASE WHEN i % 3 > 0 THEN repeat('long ', hash(i) % 30) END, CASE WHEN i % 7 > 0 THEN point(i, -i) END,
		CASE WHEN i % 2 > 0 THEN json_build_object('i', i) END,
		CASE WHEN i % 11 > 0 THEN 'name ' || i END, CASE WHEN i > 64000 THEN i / 7.0 END,
		CASE WHEN i < 64513 THEN i % 2 = 0 END,
		CASE WHEN i % 1000 = 0 THEN ARRAY[i, NULL] END, CASE WHEN i % 3 > 0 THEN 'x' END,
		CASE WHEN i % 5 = 0 THEN '08:00:2b:01:02:03'::macaddr END,
		CASE WHEN i % 2 > 0 THEN box(point(i, i)) END,
		timetz(timestamptz '2000-01-01 12:00+00' + i % 9 * interval '1 min'),
		CASE WHEN i % 50 = 0 THEN polygon(4 + i % 40, circle(point(i, i), i)) END,
		NULLIF(i % 13, 0) * interval '1 day'
	FROM generate_series(1, 64600) i;
CREATE INDEX t_a ON t USING rtscan (a) INCLUDE (b, p, j, n, x, f, arr, c, m, box, t, poly, i);
INSERT INTO t SELECT * FROM t LIMIT 200;
INSERT INTO t DEFAULT VALUES;
SELECT rtscan_check('t_a', true);
VACUUM t;
SELECT rtscan_check('t_a', true);
SELECT differences('t', 't_a', '{a < 20,a IS NULL,a = 4999}');
SELECT pg_get_indexdef('t_a'::regclass);
\set VERBOSITY sqlstate
CREATE INDEX ON t USING rtscan (a) INCLUDE ((a + 1));
CREATE INDEX ON t USING rtscan (a) INCLUDE (b COLLATE "C");
\set VERBOSITY default
DROP TABLE t;

--
-- Kinds of tables
--
CREATE UNLOGGED TABLE t AS SELECT i AS id, hash(i) % 100 AS a FROM generate_series(1, 2000) i;
CREATE INDEX t_a ON t USING rtscan (a, id);
INSERT INTO t SELECT i, i FROM generate_series(1, 100) i;
SELECT pg_relation_size('t_a', 'init') > 0 AS has_init_fork, rtscan_check('t_a', true);
SELECT differences('t', 't_a', '{a < 5,id > 1990}');
ALTER TABLE t SET LOGGED;
SELECT pg_relation_size('t_a', 'init') > 0 AS has_init_fork, rtscan_check('t_a', true);
SELECT differences('t', 't_a', '{a < 5,id > 1990}');
ALTER TABLE t SET UNLOGGED;
TRUNCATE t;
INSERT INTO t SELECT i, i FROM generate_series(1, 100) i;
SELECT rtscan_check('t_a', true);
SELECT differences('t', 't_a', '{a < 5,id > 90}');
DROP TABLE t;

CREATE TABLE p (id int, a int, b text) PARTITION BY RANGE (id);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (1) TO (1001);
CREATE INDEX p_ab ON p USING rtscan (a, b) WITH (sieve_bins = 16);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (1001) TO (2001);
CREATE TABLE p3 (b text, dropped int, id int, a int);
ALTER TABLE p3 DROP COLUMN dropped;
INSERT INTO p3 SELECT 'b' || i % 10, i, hash(i) % 100 FROM generate_series(2001, 3000) i;
CREATE INDEX p3_ab ON p3 USING rtscan (a, b);
ALTER TABLE p ATTACH PARTITION p3 FOR VALUES FROM (2001) TO (3001);
INSERT INTO p SELECT i, hash(i) % 100, 'b' || i % 10 FROM generate_series(1, 2000) i;
SELECT relid, isleaf FROM pg_partition_tree('p_ab') ORDER BY relid::text COLLATE "C";
SELECT reloptions FROM pg_class WHERE oid = 'p2_a_b_idx'::regclass;
SELECT rtscan_check(relid, true) FROM pg_partition_tree('p_ab') WHERE isleaf;
SELECT differences(tab, index_name, '{a < 5,a >= 50 AND b = ''b3'',b > ''b8''}')
FROM (VALUES ('p1', 'p1_a_b_idx'), ('p2', 'p2_a_b_idx'), ('p3', 'p3_ab')) v (tab, index_name);
UPDATE p SET id = 3001 - id WHERE a = 7;
SET enable_seqscan = off;
SELECT count(*), sum(id) FROM p WHERE a = 7;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT * FROM p WHERE a BETWEEN 3 AND 5 AND b = 'b3' AND id > 1500;
EXPLAIN (COSTS OFF) SELECT a, b FROM p WHERE a BETWEEN 3 AND 5 AND b = 'b3';
SELECT count(*), sum(a) FROM (SELECT a, b FROM p WHERE a BETWEEN 3 AND 5 AND b = 'b3' OFFSET 0) x;
RESET enable_bitmapscan;
SET rtscan.enable_scan = off;
EXPLAIN (COSTS OFF) SELECT * FROM p WHERE a BETWEEN 3 AND 5 AND b = 'b3' AND id > 1500;
SELECT count(*), sum(a) FROM (SELECT a, b FROM p WHERE a BETWEEN 3 AND 5 AND b = 'b3' OFFSET 0) x;
RESET rtscan.enable_scan;
RESET enable_seqscan;
SELECT count(*), sum(id) FROM p WHERE a % 100 = 7;
REINDEX INDEX p_ab;
SELECT rtscan_check(relid, true) FROM pg_partition_tree('p_ab') WHERE isleaf;
DROP TABLE p;

CREATE MATERIALIZED VIEW v AS SELECT hash(i) % 100 AS a FROM generate_series(1, 2000) i;
CREATE INDEX v_a ON v USING rtscan (a);
REFRESH MATERIALIZED VIEW v;
SELECT rtscan_check('v_a', true);
SELECT differences('v', 'v_a', '{a < 5,a = 77}');
DROP MATERIALIZED VIEW v;

CREATE TABLE t AS SELECT hash(i) % 100 AS a FROM generate_series(1, 500) i;
CREATE INDEX t_a ON t USING rtscan (a) WITH (sieve_bins = 64, sieve_components = 1);
CREATE TABLE copy (LIKE t INCLUDING INDEXES);
SELECT pg_get_indexdef('copy_a_idx'::regclass);
DROP TABLE t, copy;

--
-- Options, and what there is not
--
CREATE TABLE t AS SELECT i AS id, hash(i) % 50000 AS a FROM generate_series(1, 65000) i;
CREATE INDEX ON t USING rtscan (a) WITH (sieve_bins = 1);
CREATE INDEX ON t USING rtscan (a) WITH (sieve_bins = 1025);
CREATE INDEX ON t USING rtscan (a) WITH (sieve_bins = 'many');
CREATE INDEX ON t USING rtscan (a) WITH (sieve_components = 0);
CREATE INDEX ON t USING rtscan (a) WITH (sieve_components = 3);
CREATE INDEX ON t USING rtscan (a) WITH (fillfactor = 70);
CREATE INDEX t_a ON t USING rtscan (a);
SELECT vectors FROM rtscan_stats('t_a');
ALTER INDEX t_a SET (sieve_bins = 100);
REINDEX INDEX t_a;
SELECT vectors FROM rtscan_stats('t_a');
ALTER INDEX t_a SET (sieve_components = 1);
REINDEX INDEX t_a;
SELECT vectors FROM rtscan_stats('t_a');
ALTER INDEX t_a RESET (sieve_bins);
ALTER INDEX t_a SET (sieve_bins = 0);
REINDEX INDEX t_a;
SELECT vectors, (SELECT reloptions FROM pg_class WHERE oid = 't_a'::regclass) FROM rtscan_stats('t_a');
SELECT rtscan_check('t_a', true);
SELECT differences('t', 't_a', '{a < 300,a > 49000}');
CREATE UNIQUE INDEX ON t USING rtscan (a);
ALTER TABLE t ADD EXCLUDE USING rtscan (a WITH =);
ALTER TABLE t ADD UNIQUE USING INDEX t_a;
ALTER TABLE t REPLICA IDENTITY USING INDEX t_a;
\set VERBOSITY sqlstate
CREATE INDEX ON t USING rtscan (a DESC);
CREATE INDEX ON t USING rtscan (a NULLS FIRST);
CREATE INDEX ON t USING rtscan (a int4_ops (sieve_bins = 5));
\set VERBOSITY default
CREATE INDEX ON t USING rtscan (ctid);
CLUSTER t USING t_a;
ALTER TABLE t CLUSTER ON t_a;
SET enable_seqscan = off;
SELECT explained('SELECT a FROM t WHERE a < 20 ORDER BY a');
SET rtscan.enable_aggregate = off;
SET enable_bitmapscan = off;
SELECT explained('SELECT max(a) FROM t');
SELECT explained('SELECT a FROM t');
SET rtscan.enable_scan = off;
SELECT explained('SELECT max(a) FROM t');
SELECT explained('SELECT a FROM t');
RESET rtscan.enable_scan;
RESET enable_bitmapscan;
RESET enable_seqscan;
DROP TABLE t;

--
-- Temporary tables, whose buffers are the session's own
--
CREATE TEMPORARY TABLE temporary_t (id int, a int);
CREATE INDEX temporary_t_a ON temporary_t USING rtscan (a);
INSERT INTO temporary_t SELECT i, hash(i) % 100 FROM generate_series(1, 3000) i;
DELETE FROM temporary_t WHERE id % 3 = 0;
VACUUM temporary_t;
INSERT INTO temporary_t SELECT i, hash(i) % 100 FROM generate_series(1, 300) i;
SELECT rtscan_check('temporary_t_a', true);
SELECT differences('temporary_t', 'temporary_t_a', '{a < 5,a = 77,a >= 99}');
REINDEX TABLE temporary_t;
SELECT rtscan_check('temporary_t_a', true);
SELECT differences('temporary_t', 'temporary_t_a', '{a < 5,a = 77,a >= 99}');
-- more than a chunk
TRUNCATE temporary_t;
INSERT INTO temporary_t SELECT i, CASE WHEN i % 9 > 0 THEN hash(i) % 10000 END FROM generate_series(1, 66000) i;
DROP INDEX temporary_t_a;
CREATE INDEX temporary_t_a ON temporary_t USING rtscan (a, id);
SELECT rtscan_check('temporary_t_a', true);
SELECT differences('temporary_t', 'temporary_t_a',
	'{a < 5,a = 77,a >= 9990,a IS NULL AND id > 65000,a > 50 AND a < 9950 AND id < 20}');
DELETE FROM temporary_t WHERE a % 3 = 0;
VACUUM temporary_t;
SELECT differences('temporary_t', 'temporary_t_a',
	'{a < 5,a = 77,a >= 9990,a IS NULL AND id > 65000,a > 50 AND a < 9950 AND id < 20}');
DROP TABLE temporary_t;
CREATE TEMPORARY TABLE temporary_t (a int) ON COMMIT DELETE ROWS;
CREATE INDEX temporary_t_a ON temporary_t USING rtscan (a);
BEGIN;
INSERT INTO temporary_t SELECT generate_series(1, 50);
SELECT differences('temporary_t', 'temporary_t_a', '{a < 5}');
COMMIT;
SELECT count(*) FROM temporary_t WHERE a < 5;
BEGIN;
INSERT INTO temporary_t SELECT generate_series(3, 50);
SELECT differences('temporary_t', 'temporary_t_a', '{a < 5}');
SELECT rtscan_check('temporary_t_a', true);
COMMIT;
DROP TABLE temporary_t;

--
-- Pages whose rows are all settled, and others: HOT chains, redirected line pointers, rows of transactions that run
-- or were aborted
--
CREATE TABLE settled (id int, a int, b text, c int) WITH (fillfactor = 80, autovacuum_enabled = off);
INSERT INTO settled SELECT i, i * 7919 % 1000, 'k' || i % 77, i FROM generate_series(1, 20000) i;
CREATE FUNCTION build_settled(what text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	DROP INDEX IF EXISTS settled_a, settled_c;
	CREATE INDEX settled_a ON settled USING rtscan (a, id) INCLUDE (c);
	CREATE INDEX settled_c ON settled USING rtscan (a, (id + c), (upper(b))) WHERE c % 3 <> 0;
	PERFORM rtscan_check('settled_a', true), rtscan_check('settled_c', true);
	RETURN QUERY SELECT format('%s: %s', what, d) FROM differences('settled', 'settled_a',
		'{a < 5,id <= 5001 AND a >= 0,a = -1,id > 4990}') d;
	RETURN QUERY SELECT format('%s: %s', what, d) FROM differences('settled', 'settled_c',
		'{c % 3 <> 0 AND a < 500,c % 3 <> 0 AND id + c > 300}') d;
END $$;
SELECT build_settled('nobody has looked at them');
SELECT build_settled('all are settled');
UPDATE settled SET c = c + 3 WHERE id % 100 = 3;
SELECT build_settled('chains');
VACUUM settled;
SELECT build_settled('redirected');
BEGIN;
DELETE FROM settled WHERE id % 1000 = 7;
ROLLBACK;
DELETE FROM settled WHERE id BETWEEN 5000 AND 9000;
BEGIN;
UPDATE settled SET a = -1 WHERE id % 5000 = 1;
SELECT build_settled('changed by this transaction');
COMMIT;
SELECT build_settled('deleted');
VACUUM settled;
SELECT build_settled('vacuumed');
CREATE INDEX CONCURRENTLY settled_later ON settled USING rtscan (a, (id + c)) WHERE c % 3 <> 0;
SELECT rtscan_check('settled_later', true);
DROP TABLE settled;

SET client_min_messages = error;
DROP SCHEMA build CASCADE;
