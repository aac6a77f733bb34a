-- Aggregates by several processes, and over partitions and children: partial results that PostgreSQL combines

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA parallel;
SET search_path = parallel, public;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET enable_seqscan = off;
SET rtscan.enable_scan = off;
SET enable_bitmapscan = off;
SET jit = off;

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/plans.psql
\set ECHO all

-- Rows that one way of answering has and the other has not, as text; and whether the plan had what it should.
CREATE FUNCTION differences(query text, node text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	plan text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		plan := plan || line || E'\n';
	END LOOP;
	IF plan !~ node THEN
		RETURN NEXT query || E':\n' || plan;
	END IF;
	EXECUTE 'CREATE TEMP TABLE with_node AS SELECT r::text FROM (' || query || ') r';
	SET LOCAL rtscan.enable_aggregate = off;
	SET LOCAL max_parallel_workers_per_gather = 0;
	EXECUTE 'CREATE TEMP TABLE without_node AS SELECT r::text FROM (' || query || ') r';
	RETURN QUERY EXECUTE format('
		SELECT %1$L || '': only with the node: '' || r FROM (TABLE with_node EXCEPT ALL TABLE without_node) x
		UNION ALL
		SELECT %1$L || '': only without: '' || r FROM (TABLE without_node EXCEPT ALL TABLE with_node) y', query);
	DROP TABLE with_node, without_node;
	SET LOCAL rtscan.enable_aggregate = on;
	SET LOCAL max_parallel_workers_per_gather = 2;
END $$;

-- many segments, dead rows, rows that are not all-visible, pending rows; values of all kinds that have transition
-- states
CREATE TABLE t (id int, k int, s text, i2 int2, i4 int4, i8 int8, n numeric(12,2), m numeric, f4 float4, f8 float8,
	d date)
	WITH (autovacuum_enabled = off, parallel_workers = 2);
INSERT INTO t SELECT i, i % 997, 'group ' || i % 23, i % 100 - 50, i * 17, (i::int8 << 40) - i, (i - 50000) * 0.01,
	CASE i % 9 WHEN 0 THEN NULL WHEN 1 THEN i * 1000000000000000.0 WHEN 2 THEN i / 3.0 ELSE i END, i % 1000, i % 1000,
	'2020-01-01'::date + i % 777
	FROM generate_series(1, 100000) i;
-- vacuum would make one segment of them
SET rtscan.debug_segment_rows = 18000;
CREATE INDEX t_all ON t USING rtscan (k, s, d) INCLUDE (id, i2, i4, i8, n, m, f4, f8);
DELETE FROM t WHERE id % 11 = 0;
VACUUM ANALYZE t;
UPDATE t SET n = n + 1 WHERE id % 1000 = 0;
INSERT INTO t SELECT -i, i, 'pending', 1, 2, 3, 4, 5.00, 6, 7, '2020-01-01' FROM generate_series(1, 500) i;
SET max_parallel_workers_per_gather = 2;

EXPLAIN (VERBOSE, COSTS OFF)
SELECT s, count(*), sum(i8), avg(m) FROM t WHERE k < 500 GROUP BY s HAVING count(*) > 10 ORDER BY s;
SELECT * FROM differences('
	SELECT count(*), count(m), sum(i2), sum(i4), sum(i8), sum(n), sum(m), sum(f8), avg(i2), avg(i4), avg(i8), avg(n),
		avg(m), avg(f4), avg(f8), min(s), max(d), min(n), max(m)
	FROM t
	WHERE k < 500', 'Gather.*Parallel Custom');
SELECT * FROM differences('
	SELECT s, i2, count(*), sum(i2), sum(i4), sum(i8), sum(n), sum(m), avg(i2), avg(i8), avg(n), avg(m), avg(f8),
		min(s), max(d)
	FROM t
	WHERE k < 900
	GROUP BY s, i2', 'Gather.*Parallel Custom');
SELECT * FROM differences('SELECT count(*), sum(i4), avg(m), avg(f8), max(s), sum(m) FROM t WHERE i4 < 0',
	'Gather.*Parallel Custom');
SELECT * FROM differences(
	'SELECT s, sum(n * m), count(*) FILTER (WHERE i2 > 0) FROM t WHERE k BETWEEN 100 AND 500 AND i4 % 3 = 0 GROUP BY s',
	'Gather.*Parallel Custom');
SELECT * FROM differences('
	SELECT date_trunc(''month'', d) AS m, sum(i8) + count(*) AS x
	FROM t
	GROUP BY 1
	HAVING sum(n) > 0
	ORDER BY 1
	LIMIT 7', 'Gather.*Parallel Custom');
-- variances, bits and what else has a state; regressions are rounded, as they depend on the order of rows
SELECT * FROM differences('
	SELECT variance(i2), var_pop(i4), stddev(i8), stddev_pop(n), var_samp(m), variance(d - ''2020-01-01''::date),
		bit_and(i4), bit_or(i8), bit_xor(i2), bool_and(k > 10), bool_or(i2 = 7), every(d IS NOT NULL), sum(id::money),
		min(f8), max(f4), regr_count(f8, f4)
	FROM t
	WHERE k < 500', 'Gather.*Parallel Custom');
SELECT * FROM differences('
	SELECT s, i2, variance(i2), var_pop(i4), stddev(i8), stddev_pop(n), var_samp(m), variance(9223372036854775807 - i8),
		bit_and(i4), bit_or(i8), bit_xor(i2), bool_and(k > 10), bool_or(i2 = 7), sum(id::money), min(f8), max(f4)
	FROM t
	WHERE k < 900
	GROUP BY s, i2', 'Gather.*Parallel Custom');
SELECT * FROM differences('
	SELECT i2, variance(f8)::float4, stddev_pop(f4)::float4, corr(f8, id)::float4, covar_samp(id, f4)::float4,
		regr_slope(f4, i4)::float4, regr_syy(id, f8)::float4, regr_count(m, f8), regr_avgx(id, f8)::float4
	FROM t
	WHERE k < 700
	GROUP BY i2', 'Gather.*Parallel Custom');
SELECT * FROM differences('
	SELECT variance(i8), stddev(m), variance(f8), corr(f8, f4), regr_count(f8, f8), bit_or(i4), bool_and(k > 0)
	FROM t
	WHERE k < 500 AND i2 > 1000', 'Gather.*Parallel Custom');
-- sums of bigints that are no bigints, of both signs and near zero, of few rows and of many
SELECT * FROM differences('
	SELECT sum(9223372036854775807 - i8), avg(i8 - 9223372036854775807), sum(4611686018427387904 + i8),
		avg(-4611686018427387904 - i8), sum((k % 2 * 2 - 1) * (4611686018427387904 + i8)),
		sum(-i8), sum(i2::int8), avg(i2::int8 - 100)
	FROM t
	WHERE k < 900', 'Gather.*Parallel Custom');
SELECT * FROM differences('
	SELECT s, i2, sum(9223372036854775807 - i8), avg(i8 - 9223372036854775807),
		sum((k % 2 * 2 - 1) * (4611686018427387904 + i8)), sum((k - 150)::int8), count(*)
	FROM t
	WHERE k < 900
	GROUP BY s, i2', 'Gather.*Parallel Custom');
-- special values reach the result through whatever process sees them
INSERT INTO t VALUES
	(0, 0, 'nan', 0, 0, 0, 'NaN', 'NaN', 'NaN', 'NaN', NULL),
	(0, 0, 'up', 0, 0, 0, NULL, 'Infinity', 'Infinity', 'Infinity', NULL),
	(0, 0, 'down', 0, 0, 0, 0, '-Infinity', '-Infinity', '-Infinity', NULL),
	(0, 0, 'both', 0, 0, 0, 0, 'Infinity', 1, 1, 'infinity'),
	(0, 0, 'both', 0, 0, 0, 0, '-Infinity', 1, 1, '-infinity');
SELECT * FROM differences('
	SELECT s, sum(n), avg(n), sum(m), avg(m), sum(f4), avg(f4), sum(f8), avg(f8), min(d), max(d), max(m),
		variance(n), stddev(m), variance(f4)::float4, stddev_pop(f8)::float4, corr(f8, id)::float4,
		regr_avgy(f8, id)::float4, min(f8), max(f4)
	FROM t
	WHERE k < 10
	GROUP BY s', 'Gather.*Parallel Custom');
VACUUM t;
SELECT * FROM differences('
	SELECT s, sum(n), avg(n), sum(m), avg(m), sum(f4), avg(f4), sum(f8), avg(f8), min(d), max(d), max(m),
		variance(n), stddev(m), variance(f4)::float4, stddev_pop(f8)::float4, corr(f8, id)::float4,
		regr_avgy(f8, id)::float4, min(f8), max(f4)
	FROM t
	WHERE k < 10
	GROUP BY s', 'Gather.*Parallel Custom');
-- errors of arguments in a process
\set SHOW_CONTEXT never
SELECT sum(i4 * 2000) FROM t WHERE k > 900;
SELECT s, sum(1 / (i2 - 3)) FROM t GROUP BY s;
\set SHOW_CONTEXT errors
-- more groups than fit: they come in parts
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
ALTER TABLE t ALTER id SET (n_distinct = 50);
ANALYZE t;
SELECT * FROM differences('SELECT id, count(*), sum(n) FROM t WHERE k < 900 GROUP BY id', 'Gather.*Parallel Custom');
SELECT count(*) FROM (SELECT id, s, sum(n) FROM t GROUP BY id, s LIMIT 100) x;
SELECT count(*)
FROM generate_series(1, 3) i, LATERAL (SELECT id, sum(n) FROM t WHERE k < i * 100 GROUP BY id LIMIT 100) x;
RESET work_mem;
RESET hash_mem_multiplier;
-- again and again, with parameters
SELECT * FROM differences('
	SELECT x, (SELECT sum(i4) FROM t WHERE k < x), (SELECT max(s) FROM t WHERE k = x AND id < x * 50)
	FROM generate_series(1, 20) x', 'RtscanAggregate');
SELECT * FROM differences('
	SELECT x, y.*
	FROM generate_series(1, 5) x, LATERAL (SELECT s, sum(i8) FROM t WHERE k BETWEEN x AND 100 GROUP BY s OFFSET 0) y',
	'RtscanAggregate');
SET plan_cache_mode = force_generic_plan;
PREPARE p (int, numeric) AS
	SELECT s, sum(n * $2), count(*) FILTER (WHERE m > $2) FROM t WHERE k < $1 GROUP BY s ORDER BY s LIMIT 3;
EXPLAIN (COSTS OFF) EXECUTE p (10, 2);
EXECUTE p (10, 2);
EXECUTE p (NULL, 2);
EXECUTE p (20, 1.5);
DEALLOCATE p;
RESET plan_cache_mode;
-- keys without columns, that are asked for in WHERE and FILTER as well; a key that only a subplan above knows
SELECT * FROM differences(
	'SELECT now() AS n, sum(i4), count(*) FILTER (WHERE d < now()::date) FROM t WHERE d < now() GROUP BY now()',
	'Gather.*Parallel Custom');
SELECT * FROM differences(
	'SELECT v, sum(i8), max(d) FROM (SELECT (SELECT 300) AS v, * FROM t) q WHERE k < v GROUP BY v',
	'Gather.*Parallel Custom');
SELECT * FROM differences('SELECT i2 % v AS m, sum(i8) FROM (SELECT (SELECT 7) AS v, * FROM t) q GROUP BY i2 % v',
	'Gather.*Parallel Custom');
SET plan_cache_mode = force_generic_plan;
PREPARE p (int) AS SELECT $1, count(*), sum(i4), min(s) FILTER (WHERE k > $1 - 5) FROM t WHERE k < $1 GROUP BY $1;
EXPLAIN (VERBOSE, COSTS OFF) EXECUTE p (10);
EXECUTE p (10);
EXECUTE p (NULL);
EXECUTE p (11);
DEALLOCATE p;
RESET plan_cache_mode;
-- no process to be had, or the leader does not take part
SET max_parallel_workers = 0;
SELECT * FROM differences('SELECT s, count(*), avg(n) FROM t WHERE k < 500 GROUP BY s', 'Gather.*Parallel Custom');
RESET max_parallel_workers;
SET parallel_leader_participation = off;
SELECT * FROM differences('SELECT s, count(*), avg(n) FROM t WHERE k < 500 GROUP BY s', 'Gather.*Parallel Custom');
RESET parallel_leader_participation;
-- functions that are not parallel safe
CREATE FUNCTION unsafe(int) RETURNS int LANGUAGE plpgsql IMMUTABLE PARALLEL UNSAFE AS $$ BEGIN RETURN $1; END $$;
EXPLAIN (COSTS OFF) SELECT sum(unsafe(i4)) FROM t WHERE k < 500;

-- partitions, of which one has its columns in another order, one has partitions itself, and one is empty
RESET enable_bitmapscan;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE p (a int, b text, n numeric(10,2), c int) PARTITION BY RANGE (a);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (400);
CREATE TABLE p2 (c int, gone text, n numeric(10,2), b text, a int);
ALTER TABLE p2 DROP COLUMN gone;
ALTER TABLE p ATTACH PARTITION p2 FOR VALUES FROM (400) TO (600);
CREATE TABLE p3 PARTITION OF p FOR VALUES FROM (600) TO (2000) PARTITION BY LIST (b);
CREATE TABLE p3_x PARTITION OF p3 FOR VALUES IN ('b0', 'b1', 'b2');
CREATE TABLE p3_y PARTITION OF p3 DEFAULT;
CREATE TABLE p4 PARTITION OF p FOR VALUES FROM (2000) TO (3000);
CREATE INDEX p_ab ON p USING rtscan (a, b) INCLUDE (n, c);
INSERT INTO p SELECT i % 1000, 'b' || i % 7, i * 0.01, i FROM generate_series(1, 20000) i;
VACUUM ANALYZE p;
EXPLAIN (VERBOSE, COSTS OFF) SELECT b, count(*), avg(n) FROM p WHERE a BETWEEN 100 AND 700 GROUP BY b;
SELECT * FROM differences(
	'SELECT b, count(*), avg(n), sum(c), max(a), min(b) FROM p WHERE a BETWEEN 100 AND 700 GROUP BY b',
	'Finalize.*Append.*RtscanAggregate');
SELECT * FROM differences('SELECT count(*), avg(n), sum(n * c), max(a) FROM p WHERE a BETWEEN 100 AND 700',
	'Finalize.*Append.*RtscanAggregate');
SELECT * FROM differences('SELECT count(*) FROM p WHERE a > 1500', 'RtscanAggregate');
SELECT * FROM differences('SELECT count(*), sum(c) FROM p WHERE a = 450 AND b = ''b1''', 'RtscanAggregate');
SELECT * FROM differences(
	'SELECT a % 10 AS x, lower(b) AS y, count(*) FILTER (WHERE c > 500) FROM p GROUP BY 1, 2 HAVING max(n) > 1',
	'Finalize.*Append.*RtscanAggregate');
SET enable_partitionwise_aggregate = on;
SELECT * FROM differences('SELECT a, count(*), avg(n) FROM p WHERE b > ''b2'' GROUP BY a', 'Append.*RtscanAggregate');
SELECT * FROM differences(
	'SELECT b, count(*), avg(n) FROM p WHERE a < 800 GROUP BY b', 'Finalize.*Append.*RtscanAggregate');
RESET enable_partitionwise_aggregate;
-- one without the index
DROP INDEX p_ab;
CREATE INDEX ON p1 USING rtscan (a, b) INCLUDE (n, c);
SELECT explained('SELECT count(*) FROM p WHERE a < 450');

-- children
CREATE TABLE parent (a int, n numeric);
CREATE TABLE child (x int) INHERITS (parent);
INSERT INTO parent SELECT i, i FROM generate_series(1, 3000) i;
INSERT INTO child SELECT i, i / 2.0, i FROM generate_series(1, 3000) i;
CREATE INDEX ON parent USING rtscan (a) INCLUDE (n);
CREATE INDEX ON child USING rtscan (a) INCLUDE (n);
VACUUM ANALYZE parent, child;
-- the planner takes remainders for as many groups as there are values
SET enable_bitmapscan = off;
SELECT * FROM differences('SELECT a % 3 AS x, count(*), sum(n), max(n) FROM parent WHERE a < 2000 GROUP BY 1',
	'Finalize.*Append.*RtscanAggregate');
SELECT * FROM differences('SELECT count(*), sum(n) FROM ONLY parent WHERE a < 2000', 'RtscanAggregate');
RESET enable_bitmapscan;

-- one segment of several chunks, which processes share: each row comes once
CREATE TABLE chunks (id int, k int, v int) WITH (autovacuum_enabled = off, parallel_workers = 2);
INSERT INTO chunks SELECT i, i % 1000, i % 5 FROM generate_series(1, 400000) i;
RESET rtscan.debug_segment_rows;
SET max_parallel_workers_per_gather = 2;
CREATE INDEX ON chunks USING rtscan (k) INCLUDE (id, v);
DELETE FROM chunks WHERE id % 100 = 7;
VACUUM ANALYZE chunks;
INSERT INTO chunks SELECT -i, i, 0 FROM generate_series(1, 100) i;
SET rtscan.enable_scan = on;
SELECT explained('SELECT id FROM chunks WHERE k < 500');
SELECT count(*), count(DISTINCT id), sum(id) FROM (SELECT id FROM chunks WHERE k < 500 OFFSET 0) x;
SET rtscan.enable_scan = off;
SELECT explained('SELECT count(*), sum(id::bigint * (v % 5)) FROM chunks WHERE k < 500');
SELECT count(*), sum(id::bigint * (v % 5)) FROM chunks WHERE k < 500;
SET rtscan.enable_aggregate = off;
SET enable_seqscan = on;
SELECT count(*), count(DISTINCT id), sum(id), sum(id::bigint * v) FROM chunks WHERE k < 500;

-- Many small segments, of whose rows the heap says which are visible: one process has counted them before others have
-- started.
RESET ALL;
SET client_min_messages = warning;
SET search_path = parallel, public;
SET rtscan.executor = cpu;
SET rtscan.merge_worker = off;
SET rtscan.pending_list_limit = '64kB';
SET jit = off;
CREATE TABLE small (a int, b int, c int) WITH (autovacuum_enabled = off);
CREATE INDEX small_all ON small USING rtscan (a, b, c);
DO $$ BEGIN
	FOR i IN 1..110 LOOP
		INSERT INTO small SELECT h % 1000000, h % 999983, h % 999979
			FROM (SELECT abs(hashint4(i * 5400 + j)) FROM generate_series(1, 5400) j) r (h);
	END LOOP;
END $$;
ANALYZE small;
SELECT segments BETWEEN 150 AND 300 AS many FROM rtscan_stats('small_all');
SELECT explained('SELECT count(*) FROM small');
SELECT count(*) FROM small;
-- processes share it if it takes longer
SET cpu_operator_cost = 0.025;
SELECT explained('SELECT count(*), sum(a * b::numeric), max(c % 77) FROM small WHERE a + b > c');

DROP SCHEMA parallel CASCADE;
