-- Aggregates over partitions: which of them are searched, by whom, and what memory that takes

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA partitions;
SET search_path = partitions, public;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET rtscan.enable_scan = off;
SET max_parallel_workers_per_gather = 0;
SET jit = off;

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/plans.psql
\set ECHO all

-- Return a query's plan, without the lines of EXPLAIN that do not matter here.
CREATE FUNCTION plan(query text, options text DEFAULT 'COSTS OFF') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN SELECT explained(query, options) LOOP
		IF line !~ ('^ *(Group Key|Index|Index Cond|Executor|Rays|Segments|Segments on CPU|Chunks Skipped|Pending Rows'
					'|Heap [\w ]+|Batches|Workers Launched|Rows Aggregated by Device|Not Aggregated by Device): ') THEN
			RETURN NEXT line;
		END IF;
	END LOOP;
END $$;

CREATE FUNCTION executed(query text) RETURNS SETOF text LANGUAGE sql
	RETURN plan(query, 'ANALYZE, BUFFERS OFF, COSTS OFF, TIMING OFF, SUMMARY OFF');

-- Rows that a query has with the node and not without, or the other way round; and its plan if that has no node.
CREATE FUNCTION differences(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	plan text := (SELECT string_agg(p, E'\n') FROM plan(query) p);
BEGIN
	IF plan !~ 'RtscanAggregate|Subplans Removed: 5' THEN
		RETURN NEXT query || E':\n' || plan;
	END IF;
	EXECUTE 'CREATE TEMP TABLE with_node AS SELECT r::text FROM (' || query || ') r';
	SET LOCAL rtscan.enable_aggregate = off;
	SET LOCAL enable_partition_pruning = off;
	SET LOCAL plan_cache_mode = auto;
	EXECUTE 'CREATE TEMP TABLE without_node AS SELECT r::text FROM (' || query || ') r';
	RETURN QUERY EXECUTE format('
		SELECT %1$L || '': only with the node: '' || r FROM (TABLE with_node EXCEPT ALL TABLE without_node) x
		UNION ALL
		SELECT %1$L || '': only without: '' || r FROM (TABLE without_node EXCEPT ALL TABLE with_node) y', query);
	DROP TABLE with_node, without_node;
	SET LOCAL rtscan.enable_aggregate = on;
	SET LOCAL enable_partition_pruning = on;
END $$;

-- ---- which partitions are searched

-- one of them has its columns in another order, one has partitions itself, and one is for all other rows
CREATE TABLE p (d int, s text, v numeric(10,2), i int) PARTITION BY RANGE (d);
CREATE TABLE p_1 PARTITION OF p FOR VALUES FROM (0) TO (100);
CREATE TABLE p_2 (i int, gone text, v numeric(10,2), s text, d int);
ALTER TABLE p_2 DROP COLUMN gone;
ALTER TABLE p ATTACH PARTITION p_2 FOR VALUES FROM (100) TO (200);
CREATE TABLE p_3 PARTITION OF p FOR VALUES FROM (200) TO (300) PARTITION BY LIST (s);
CREATE TABLE p_3_a PARTITION OF p_3 FOR VALUES IN ('a', 'b');
CREATE TABLE p_3_c PARTITION OF p_3 FOR VALUES IN ('c');
CREATE TABLE p_d PARTITION OF p DEFAULT;
CREATE INDEX p_ds ON p USING rtscan (d, s) INCLUDE (v, i);
INSERT INTO p SELECT x % 400, substr('abc', 1 + x % 3, 1), x * 0.01, x FROM generate_series(1, 8000) x;
VACUUM ANALYZE p;
CREATE FUNCTION stable(anyelement) RETURNS anyelement STABLE LANGUAGE plpgsql AS 'BEGIN RETURN $1; END';

-- when the query is planned: of one partition that is left there is no Append
SELECT plan('SELECT count(*) FROM p WHERE d < 150');
SELECT plan('SELECT s, sum(v) FROM p WHERE d < 50 GROUP BY s');
SELECT plan('SELECT count(*) FROM p WHERE d < 50 AND d > 150');
SELECT * FROM differences('SELECT s, sum(v), count(*) FROM p WHERE d < 50 GROUP BY s');

-- when it begins
SELECT executed('SELECT count(*), sum(v) FROM p WHERE d < stable(50)');
SELECT executed('SELECT s, count(*) FROM p WHERE d BETWEEN stable(210) AND stable(220) AND s = ''c'' GROUP BY s');
SELECT executed('SELECT count(*) FROM p WHERE d = stable(NULL::int)');
SELECT executed('SELECT s, count(*) FROM p WHERE d = stable(NULL::int) GROUP BY s');
SELECT * FROM differences('SELECT count(*), sum(v), max(s) FROM p WHERE d < stable(50)');
SELECT * FROM differences('SELECT s, d % 5 AS x, sum(v) FROM p WHERE d > stable(250) GROUP BY 1, 2');
SELECT * FROM differences('SELECT count(*), sum(v) FROM p WHERE d = stable(NULL::int)');
SET plan_cache_mode = force_generic_plan;
PREPARE q (int, text) AS SELECT s, count(*), sum(v) FROM p WHERE d < $1 AND s = $2 GROUP BY s;
SELECT executed('EXECUTE q (10, ''a'')');
EXECUTE q (10, 'a');
EXECUTE q (250, 'c');
EXECUTE q (-1, 'a');
EXECUTE q (NULL, 'a');
SELECT executed('EXECUTE q (NULL, ''a'')');
DEALLOCATE q;
RESET plan_cache_mode;
SET enable_partition_pruning = off;
SELECT executed('SELECT count(*) FROM p WHERE d < stable(50)');
RESET enable_partition_pruning;

-- and for each outer row
SET enable_memoize = off;
SELECT executed('SELECT x, (SELECT sum(v) FROM p WHERE d = x) FROM (VALUES (7), (107), (207)) o (x)');
SELECT executed('
	SELECT x, c
	FROM (VALUES (207, ''a''), (208, ''c'')) o (x, y),
		LATERAL (SELECT count(*) AS c FROM p WHERE d = x AND s = y OFFSET 0) z');
RESET enable_memoize;
SELECT executed('SELECT count(*) FROM p WHERE d = (SELECT max(x) FROM (VALUES (7), (107)) o (x))');
SELECT * FROM differences('SELECT x, (SELECT sum(v) FROM p WHERE d = x) FROM generate_series(-10, 410, 7) x');
SELECT * FROM differences('
	SELECT x, (SELECT count(*) FILTER (WHERE s <> ''a'') FROM p WHERE d BETWEEN x AND x + 3)
	FROM generate_series(-10, 410, 7) x');
SELECT * FROM differences('
	SELECT x, y.*
	FROM generate_series(0, 400, 90) x, LATERAL (SELECT s, sum(v), max(i) FROM p WHERE d <= x GROUP BY s OFFSET 0) y');
SELECT * FROM differences('
	SELECT x, y.*
	FROM generate_series(0, 400, 90) x,
		LATERAL (SELECT s, sum(v), max(i) FROM p WHERE d <= x GROUP BY s ORDER BY s LIMIT 1) y');

-- with PostgreSQL's own ways of aggregating partitions
SET enable_partitionwise_aggregate = on;
SELECT * FROM differences('SELECT d, count(*), sum(v) FROM p WHERE d < stable(150) GROUP BY d');
SELECT * FROM differences(
	'SELECT d, count(*), sum(v) FROM p WHERE d > stable(150) AND s > stable(''a''::text) GROUP BY d');
SELECT * FROM differences('SELECT s, count(*), sum(v) FROM p WHERE d < stable(150) GROUP BY s');
SELECT * FROM differences('SELECT x, (SELECT sum(v) FROM p WHERE d = x) FROM generate_series(-10, 410, 7) x');
RESET enable_partitionwise_aggregate;

-- children are no partitions: all of them are searched
CREATE TABLE parent (d int, v numeric, CHECK (d < 100) NO INHERIT);
CREATE TABLE child (x int, CHECK (d >= 100)) INHERITS (parent);
INSERT INTO parent SELECT i % 100, i FROM generate_series(1, 3000) i;
INSERT INTO child SELECT 100 + i % 100, i / 2.0, i FROM generate_series(1, 3000) i;
CREATE INDEX ON parent USING rtscan (d) INCLUDE (v);
CREATE INDEX ON child USING rtscan (d) INCLUDE (v);
VACUUM ANALYZE parent, child;
SELECT executed('SELECT count(*), sum(v) FROM parent WHERE d < stable(50)');
SELECT * FROM differences('SELECT d % 3 AS x, count(*), sum(v) FROM parent WHERE d < stable(150) GROUP BY 1');
SELECT * FROM differences('SELECT x, (SELECT sum(v) FROM parent WHERE d = x) FROM generate_series(-10, 210, 7) x');

-- a partition has no such index: PostgreSQL aggregates all of them
DROP INDEX p_ds;
CREATE INDEX ON p_1 USING rtscan (d, s) INCLUDE (v, i);
SELECT plan('SELECT count(*) FROM p WHERE d < 150');
SELECT plan('SELECT count(*) FROM p WHERE d < 50');
CREATE INDEX p_ds ON p USING rtscan (d, s) INCLUDE (v, i);

-- ---- by several processes, each of which takes one partition after another

SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET max_parallel_workers_per_gather = 2;
-- (the dearest partition first: that is no matter here)
SELECT line FROM plan('SELECT s, count(*), sum(v) FROM p WHERE d < 350 GROUP BY s') line ORDER BY line COLLATE "C";
SELECT plan('SELECT count(*) FROM p WHERE d < stable(150)');
ALTER FUNCTION stable PARALLEL SAFE;
SELECT line FROM plan('SELECT count(*) FROM p WHERE d < stable(150)') line ORDER BY line COLLATE "C";
SELECT line FROM executed('SELECT count(*) FROM p WHERE d < stable(150)') line WHERE line ~ 'Removed|Parallel';
SELECT * FROM differences('SELECT s, count(*), sum(v), avg(v), max(d) FROM p GROUP BY s');
SELECT * FROM differences('SELECT count(*), sum(v * d), avg(v), min(s) FROM p WHERE d % 7 = 3');
SELECT * FROM differences('SELECT count(*), sum(v) FROM p WHERE d < stable(150)');
-- more groups than fit
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT * FROM differences('SELECT i, count(*), sum(v) FROM p GROUP BY i');
RESET work_mem;
RESET hash_mem_multiplier;
-- rows of the own transaction, and pending ones
BEGIN;
INSERT INTO p SELECT x % 400, 'b', 1, -x FROM generate_series(1, 1000) x;
DELETE FROM p WHERE i % 5 = 0;
SELECT * FROM differences('SELECT s, count(*), sum(v), avg(v), max(d) FROM p GROUP BY s');
ROLLBACK;
-- in a serializable transaction
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT s, count(*), sum(v) FROM p WHERE d < 350 GROUP BY s ORDER BY s;
SELECT DISTINCT relation::regclass::text COLLATE "C" AS locked
FROM pg_locks
WHERE mode = 'SIReadLock' AND pid = pg_backend_pid()
ORDER BY 1;
COMMIT;
-- no process to be had, the leader does not take part, and what processes cannot share
SET max_parallel_workers = 0;
SELECT * FROM differences('SELECT s, count(*), avg(v) FROM p WHERE d < 350 GROUP BY s');
RESET max_parallel_workers;
SET parallel_leader_participation = off;
SELECT * FROM differences('SELECT s, count(*), avg(v) FROM p WHERE d < 350 GROUP BY s');
RESET parallel_leader_participation;
SET enable_parallel_append = off;
SELECT plan('SELECT s, count(*) FROM p WHERE d < 150 GROUP BY s');
RESET enable_parallel_append;
CREATE FUNCTION unsafe(int) RETURNS int LANGUAGE plpgsql IMMUTABLE PARALLEL UNSAFE AS $$ BEGIN RETURN $1; END $$;
SELECT plan('SELECT sum(unsafe(i)) FROM p WHERE d < 150');
CREATE TEMP TABLE own (LIKE p) PARTITION BY RANGE (d);
CREATE TEMP TABLE own_1 PARTITION OF own FOR VALUES FROM (0) TO (100);
CREATE TEMP TABLE own_2 PARTITION OF own DEFAULT;
CREATE INDEX ON own USING rtscan (d);
INSERT INTO own SELECT * FROM p;
VACUUM ANALYZE own;
SELECT plan('SELECT count(*) FROM own WHERE d < 150');
SELECT * FROM differences('SELECT count(*) FROM own WHERE d < 150');
-- a worker executes a whole plan, or what another table's rows ask for
-- (16 has renamed the setting)
SELECT name AS debug_parallel FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query') \gset
SET :debug_parallel = on;
SELECT plan('SELECT s, sum(v) FROM p_1 WHERE d < 50 GROUP BY s HAVING count(*) > 3');
SELECT * FROM differences('SELECT s, sum(v) FROM p_1 WHERE d < 50 GROUP BY s HAVING count(*) > 3');
SELECT * FROM differences('SELECT x, (SELECT sum(v) FROM p WHERE d = x) FROM generate_series(-10, 410, 7) x');
RESET :debug_parallel;
SET enable_seqscan = on;
SET enable_nestloop = off;
SET enable_mergejoin = off;
ALTER TABLE p_1 SET (parallel_workers = 2);
SELECT plan('
	SELECT p_1.i FROM p_1, (SELECT d, max(i) AS m FROM p_2 GROUP BY d) x WHERE x.d = p_1.d + 100 AND p_1.i < x.m');
SELECT * FROM differences('
	SELECT p_1.i FROM p_1, (SELECT d, max(i) AS m FROM p_2 GROUP BY d) x WHERE x.d = p_1.d + 100 AND p_1.i < x.m');
RESET enable_nestloop;
RESET enable_mergejoin;
SET enable_seqscan = off;
SET max_parallel_workers_per_gather = 0;

-- ---- memory: a node, or a scan, gives back what it took when it has returned its last row

CREATE TABLE many (d int, k int, v numeric(10,2), i int) PARTITION BY RANGE (d);
DO $$ BEGIN
	FOR n IN 0 .. 199 LOOP
		EXECUTE format('CREATE TABLE many_%s PARTITION OF many FOR VALUES FROM (%s) TO (%s)', n, n * 10, n * 10 + 10);
	END LOOP;
END $$;
CREATE INDEX ON many USING rtscan (d, k) INCLUDE (v, i);
INSERT INTO many SELECT x % 2000, x % 17, x * 0.01, x FROM generate_series(1, 20000) x;
VACUUM ANALYZE many;


-- Return, after a query has returned some rows, the kB that indexes took, without those that are kept for segments,
-- and the kB that the executor took for each partition.
CREATE FUNCTION memory(query text, node text, rows int, most int DEFAULT 600) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	plan text := (SELECT string_agg(p, E'\n') FROM plan(query) p);
	c refcursor;
	ours bigint;
	everything bigint;
	kept bigint;
BEGIN
	IF plan !~ node THEN
		RETURN (query) || E':\n' || plan;
	END IF;
	OPEN c FOR EXECUTE query;
	MOVE FORWARD rows FROM c;
	SELECT sum(total_bytes) FILTER (WHERE name LIKE 'rtscan%') / 1024, sum(total_bytes) / 1024 / 200
	INTO ours, everything
	FROM pg_backend_memory_contexts
	WHERE name ~ '^(rtscan|ExecutorState|ExprContext)' AND name NOT IN ('rtscan segment', 'rtscan segments');
	SELECT total_bytes / 1024 / 1024 INTO kept FROM pg_backend_memory_contexts WHERE name = 'TopMemoryContext';
	CLOSE c;
	RETURN concat_ws(', ', 'enough', CASE WHEN ours > most THEN 'but ' || ours || ' kB' END,
		CASE WHEN everything - ours / 200 > 50 THEN 'but ' || everything || ' kB a partition' END,
		CASE WHEN kept > 20 THEN 'but ' || kept || ' MB that stay' END);
END $$;
SELECT memory('SELECT k, count(*), sum(v * i), max(v) FROM many WHERE k < 100 GROUP BY k', 'RtscanAggregate', 1);
SELECT memory('SELECT count(*), sum(v * i), max(v) FROM many WHERE k < 100', 'RtscanAggregate', 1);
SELECT memory('SELECT count(*), min(d), max(d) FILTER (WHERE k < 3) FROM many WHERE k < 100', 'RtscanAggregate', 1);
SET enable_partitionwise_aggregate = on;
SELECT memory('SELECT d, sum(v * i) FROM many WHERE k < 100 GROUP BY d', 'Append.*RtscanAggregate', 1995);
RESET enable_partitionwise_aggregate;
SET rtscan.enable_aggregate = off;
SET enable_bitmapscan = on;
SELECT memory('SELECT * FROM many WHERE k < 100', 'Bitmap', 19990);
SET enable_bitmapscan = off;
SET rtscan.enable_scan = on;
SELECT memory('SELECT ctid, * FROM many WHERE k < 100', 'RtscanScan', 19990);
SELECT memory('SELECT * FROM many WHERE k < 100', 'RtscanScan', 19990);
-- all at once, merged in an order, each with a page of bits, and of others' rows no more than the next few
SELECT memory('SELECT k FROM many WHERE d < 1800 ORDER BY k LIMIT 10', 'Merge Append.*RtscanScan', 5, 180 * 130);

-- workers would have to open all of them, for less than that takes
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET max_parallel_workers_per_gather = 2;
SELECT line FROM plan('SELECT * FROM many WHERE k < 5') line LIMIT 2;
SELECT line FROM plan('SELECT * FROM many WHERE v < 150 ORDER BY k LIMIT 10') line LIMIT 3;
SELECT line FROM plan('SELECT count(*), sum(v) FROM many WHERE k < 15') line LIMIT 3;
-- partitions further down are counted, too
CREATE TABLE above (LIKE many) PARTITION BY RANGE (d);
ALTER TABLE above ATTACH PARTITION many FOR VALUES FROM (0) TO (2000);
SELECT line FROM plan('SELECT * FROM above WHERE k < 5') line LIMIT 2;
ALTER TABLE above DETACH PARTITION many;
-- but for the rows of another table they pay
CREATE TABLE others AS SELECT i % 20 AS k FROM generate_series(1, 10000) i;
ALTER TABLE others SET (parallel_workers = 2);
ANALYZE others;
SET enable_seqscan = on;
SELECT line FROM plan('SELECT count(m.v) FROM others o JOIN many m ON m.k > o.k AND m.k < o.k + 2') line LIMIT 5;
SET enable_seqscan = off;
SET max_parallel_workers_per_gather = 0;
SET rtscan.enable_scan = off;
SET rtscan.enable_aggregate = on;

-- a scan goes on in the next call, and outlives a subtransaction that fails in between
CREATE FUNCTION interrupted(query text, rows int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	c refcursor;
	r record;
	rows_found text[] := '{}';
BEGIN
	OPEN c FOR EXECUTE query;
	BEGIN
		FOR n IN 1 .. rows LOOP
			FETCH c INTO r;
			rows_found := rows_found || r::text;
		END LOOP;
		PERFORM count(*), sum(v) FROM many WHERE k < 3;
		RAISE 'no more';
	EXCEPTION WHEN raise_exception THEN
		PERFORM k, sum(v) FROM many WHERE d < 500 GROUP BY k;
	END;
	LOOP
		FETCH c INTO r;
		EXIT WHEN NOT FOUND;
		rows_found := rows_found || r::text;
	END LOOP;
	RETURN QUERY EXECUTE format('SELECT r::text FROM (%s) r EXCEPT ALL SELECT unnest($1)', query) USING rows_found;
	RETURN QUERY EXECUTE format('SELECT unnest($1) EXCEPT ALL SELECT r::text FROM (%s) r', query) USING rows_found;
END $$;
SET enable_partitionwise_aggregate = on;
SELECT * FROM interrupted('SELECT d, sum(v * i) FROM many WHERE k < 100 GROUP BY d', 1005);
RESET enable_partitionwise_aggregate;
SELECT * FROM interrupted('SELECT k, sum(v * i) FROM many_7 WHERE k < 100 GROUP BY k', 5);

DROP SCHEMA partitions CASCADE;
