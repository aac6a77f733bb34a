-- EXPLAIN of tables that are joined shows keys read and found, codes, ways, and the rows left by each. The one that
-- leaves the fewest rows comes first, whatever the planner expected.

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA star_explain;
SET search_path = star_explain, public;
SET rtscan.merge_worker = off;
SET max_parallel_workers_per_gather = 0;
-- the ways are the CPU's
SET rtscan.executor = cpu;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_nestloop = off;

-- Return the lines of EXPLAIN about dimensions.
CREATE FUNCTION dimensions_of(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ '^ +(inner|left|semi|anti) ' THEN
			RETURN NEXT ltrim(line);
		END IF;
	END LOOP;
END $$;

-- a: 100 values, b: 1,000, which all rows of a's have ten of; c: 50,000; p is plain; o in heap order; v INCLUDEd
CREATE TABLE fact (o int, a int, b int, c int, p int, v int) WITH (autovacuum_enabled = off);
INSERT INTO fact SELECT i, h % 100, h % 1000, h % 50000, (i::bigint * 7919 % 1000003)::int, h % 17
	FROM (SELECT i, abs(hashint4(i)) FROM generate_series(1, 150000) i) r (i, h);
CREATE INDEX fact_star ON fact USING rtscan (o, a, b, c, p) INCLUDE (v);
VACUUM ANALYZE fact;
CREATE TABLE dim (k int PRIMARY KEY, g int);
INSERT INTO dim SELECT i, i % 10 FROM generate_series(-99, 2000) i;
ANALYZE dim;

-- the same in other formats; nothing of that without ANALYZE
CREATE FUNCTION explained(query text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN ' || query INTO plan;
	RETURN jsonb_path_query_first(plan::jsonb, 'strict $.**.Dimensions');
END $$;
EXPLAIN (COSTS OFF) SELECT count(*) FROM fact JOIN dim ON k = a WHERE b IN (SELECT k FROM dim);
SELECT jsonb_pretty(explained('(FORMAT json) SELECT count(*) FROM fact JOIN dim ON k = a'));
SELECT jsonb_pretty(explained('(FORMAT json, ANALYZE, TIMING OFF) SELECT count(*) FROM fact JOIN dim ON k = a
	WHERE g = 3'));

-- ways: all rows; vectors of bins and what is around them; the order; codes of rows that are left; one row after
-- another; values of INCLUDEd columns; none at all
SELECT dimensions_of('SELECT count(*) FROM fact JOIN dim ON k = a');
SELECT dimensions_of('SELECT count(*) FROM fact WHERE c IN (SELECT i FROM generate_series(1, 30000) i)');
SELECT dimensions_of('SELECT count(*) FROM fact JOIN dim ON k = a WHERE g = 3');
SELECT dimensions_of('SELECT count(*) FROM fact JOIN dim ON k = b WHERE g = 3 AND a < 50');
SELECT dimensions_of('SELECT count(*) FROM fact JOIN dim d ON d.k = c JOIN dim e ON e.k = a
	WHERE d.g = 3 AND e.g = 3');
SELECT dimensions_of('SELECT count(*) FROM fact WHERE v IN (SELECT k FROM dim WHERE g = 5) AND a = 3');
SELECT dimensions_of('SELECT sum(v) FROM fact LEFT JOIN dim ON k = a WHERE p < 50000');
SELECT dimensions_of('SELECT sum(g) FROM fact LEFT JOIN dim ON k = a WHERE p < 50000');
SELECT dimensions_of('SELECT count(*) FROM fact WHERE p IN (SELECT i FROM generate_series(1, 100000, 11) i)');
SELECT dimensions_of('SELECT count(*) FROM fact WHERE NOT EXISTS (SELECT FROM dim WHERE k = a AND g > 4)');
SELECT dimensions_of('SELECT count(*) FROM fact JOIN dim ON k = a WHERE g < -9');
-- once, for a column of two; of each answer of several
SELECT dimensions_of('SELECT count(*) FROM fact WHERE a IN (SELECT k FROM dim WHERE g < 5) AND
	a IN (SELECT i FROM generate_series(-3, 39) i)');
SELECT dimensions_of('SELECT * FROM generate_series(1, 3) x, LATERAL (SELECT count(*) FROM fact JOIN dim ON k = a
	WHERE g = 3 AND b > x) y');

-- The planner takes conditions on a dimension for independent of each other, and so for more selective than they are,
-- or less; by the keys that there are, the dimension that leaves the fewest rows is evaluated first.
CREATE TABLE same (k int PRIMARY KEY, x int, y int, z int);
INSERT INTO same SELECT i, i % 2, i % 2, i % 2 FROM generate_series(0, 999) i;
CREATE TABLE other (k int PRIMARY KEY, x int, y int);
INSERT INTO other SELECT i, i / 5, i / 5 FROM generate_series(0, 99) i;
ANALYZE same, other;
SELECT dimensions_of('SELECT count(*) FROM fact JOIN same ON same.k = b JOIN other ON other.k = a
	WHERE same.x = 1 AND same.y = 1 AND same.z = 1 AND other.x < 2');
SELECT dimensions_of('SELECT count(*) FROM fact JOIN same ON same.k = b JOIN other ON other.k = a
	WHERE same.x = 1 AND same.y = 0 AND same.z = 1 AND other.x < 2');
SELECT dimensions_of('SELECT count(*) FROM fact JOIN dim ON dim.k = b JOIN other ON other.k = a
	WHERE (dim.k + 1) % 100 = 7 AND other.x < 10 AND c IN (SELECT i FROM generate_series(1, 40000) i)');

-- several processes: each looks all keys up in its part of the segments, and a key counts once, whichever finds it;
-- several answers are summed up
INSERT INTO fact SELECT i, h % 100, h % 1000, h % 50000, (i::bigint * 7919 % 1000003)::int, h % 17
	FROM (SELECT i, abs(hashint4(i)) FROM generate_series(200001, 350000) i) r (i, h);
VACUUM ANALYZE fact;
SELECT segments > 1 AS several FROM rtscan_stats('fact_star');
CREATE TABLE serial AS SELECT dimensions_of('SELECT a, v FROM fact JOIN dim ON k = b WHERE g = 3 AND b < 300');
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
ALTER TABLE fact SET (parallel_workers = 2);
ALTER TABLE dim SET (parallel_workers = 0);
SET cpu_index_tuple_cost = 1;
SET cpu_tuple_cost = 1;
EXPLAIN (COSTS OFF) SELECT a, v FROM fact JOIN dim ON k = b WHERE g = 3 AND b < 300;
SELECT dimensions_of AS serial, dimensions_of('SELECT a, v FROM fact JOIN dim ON k = b WHERE g = 3
	AND b < 300') AS parallel FROM serial;
SET enable_material = off;
SET enable_nestloop = on;
EXPLAIN (COSTS OFF) SELECT * FROM (VALUES (1), (2)) x CROSS JOIN (SELECT a, v FROM fact JOIN dim ON k = b
	WHERE g = 3 AND b < 300 OFFSET 0) y;
SELECT dimensions_of('SELECT * FROM (VALUES (1), (2)) x CROSS JOIN (SELECT a, v FROM fact JOIN dim ON k = b
	WHERE g = 3 AND b < 300 OFFSET 0) y');
-- also for answers that a LIMIT has ended
SET max_parallel_workers = 0;
SELECT dimensions_of('SELECT * FROM (VALUES (1), (2), (3)) x LEFT JOIN (SELECT a, v FROM fact JOIN dim ON k = b
	WHERE g = 3 AND b < 300 LIMIT 8000) y ON true');

DROP SCHEMA star_explain CASCADE;
