-- The first groups in the order of an aggregate: the node leaves out groups that cannot be among them.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA top_groups;
SET search_path = top_groups, public;

CREATE TABLE t (id int, k int, g text, a int, b bigint, c numeric(10, 2), n numeric,
	d date) WITH (autovacuum_enabled = off);
INSERT INTO t
	SELECT i, abs(hashint4(i)) % 7000, 'g' || i % 50, CASE WHEN i % 3 > 0 THEN i % 1000 - 500 END,
	hashint8(i) * 1000003::bigint,
		i % 977 / 7.0, CASE WHEN i % 1000 > 2 THEN i % 77 / 10 ^ (i % 4)::numeric WHEN i % 1000 = 2 THEN 'NaN' END,
		date '2025-01-01' + i % 300
	FROM generate_series(1, 60000) i;
CREATE INDEX t_idx ON t USING rtscan (k, a, d) INCLUDE (id, g, b, c, n);
VACUUM ANALYZE t;
SET enable_seqscan = off;
SET enable_bitmapscan = off;

-- Return whether a query's rows are those of PostgreSQL's own plan, and "Top Groups" of its plan.
CREATE FUNCTION asked(query text, OUT same boolean, OUT top text) LANGUAGE plpgsql AS $$
DECLARE
	found text;
	line text;
	expected text;
BEGIN
	EXECUTE format('SELECT array_agg(q::text) FROM (%s) q', query) INTO found;
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		top := coalesce(top, substring(line FROM 'Top Groups: (.*)'));
	END LOOP;
	PERFORM set_config('rtscan.enable_aggregate', 'off', true), set_config('rtscan.enable_scan', 'off', true);
	EXECUTE format('SELECT array_agg(q::text) FROM (%s) q', query) INTO expected;
	PERFORM set_config('rtscan.enable_aggregate', 'on', true), set_config('rtscan.enable_scan', 'on', true);
	same := found IS NOT DISTINCT FROM expected;
END
$$;
CREATE FUNCTION asked_all() RETURNS TABLE (query text, same boolean, top text) LANGUAGE sql AS $$
	SELECT query, (asked(query)).* FROM unnest(ARRAY[
		'SELECT k, sum(c) FROM t GROUP BY k ORDER BY 2 DESC, 1 LIMIT 10',
		'SELECT k, sum(c) FROM t GROUP BY k ORDER BY 2, 1 LIMIT 10',
		'SELECT k, count(*) FROM t GROUP BY k ORDER BY 2 DESC, 1 LIMIT 7 OFFSET 5',
		'SELECT k, count(a), sum(b) FROM t WHERE d < ''2025-03-01'' GROUP BY k ORDER BY 2, 3 LIMIT 10',
		'SELECT k, sum(a) FROM t GROUP BY k ORDER BY 2 DESC, 1 LIMIT 10',
		'SELECT k, sum(a) FROM t WHERE id % 11 = 0 GROUP BY k ORDER BY 2 NULLS FIRST, 1 LIMIT 30',
		'SELECT k, sum(a) FROM t WHERE id % 11 = 0 GROUP BY k ORDER BY 2 DESC NULLS LAST, 1 LIMIT 3',
		'SELECT k, sum(b) FROM t GROUP BY k ORDER BY sum(b) DESC LIMIT 10',
		'SELECT k, sum(n) FROM t GROUP BY k ORDER BY 2 DESC, 1 LIMIT 10',
		'SELECT k, sum(n) FROM t GROUP BY k ORDER BY 2, 1 LIMIT 10',
		'SELECT k, g, sum(c) FROM t GROUP BY k, g ORDER BY 3 DESC, 1, 2 LIMIT 10',
		'SELECT k, sum(c) FILTER (WHERE a > 0) FROM t GROUP BY k ORDER BY 2 DESC, 1 LIMIT 10',
		'SELECT date_trunc(''week'', d), sum(c), count(*) FROM t GROUP BY 1 ORDER BY 3 DESC, 1 LIMIT 4',
		'SELECT k, sum(c) FROM t GROUP BY k ORDER BY 2 DESC, 1 FETCH FIRST 10 ROWS WITH TIES',
		'SELECT k, count(*) FROM t GROUP BY k ORDER BY 2 DESC, 1 LIMIT 0',
		'SELECT k, count(*) FROM t GROUP BY k ORDER BY 2 DESC, 1 LIMIT NULL OFFSET 6990',
		'SELECT k, count(*) FROM t GROUP BY k ORDER BY 2 DESC, 1 LIMIT 20000',
		'SELECT * FROM (SELECT k, sum(c) AS s FROM t GROUP BY k ORDER BY 2 DESC, 1 LIMIT 10) q JOIN t USING (k)
			ORDER BY s, id',
		-- whose groups are not rows, or whose order is another
		'SELECT k, sum(c) FROM t GROUP BY k HAVING count(*) < 9 ORDER BY 2 DESC, 1 LIMIT 10',
		'SELECT k, sum(c), rank() OVER (ORDER BY sum(c)) FROM t GROUP BY k ORDER BY 2 DESC, 1 LIMIT 10',
		'SELECT DISTINCT sum(c) FROM t GROUP BY k ORDER BY 1 DESC LIMIT 10',
		'SELECT k, sum(c), generate_series(1, 2) FROM t GROUP BY k ORDER BY 2 DESC, 1, 3 LIMIT 10',
		'SELECT k, g, sum(c) FROM t GROUP BY ROLLUP (k, g) ORDER BY 3 DESC, 1, 2 LIMIT 10',
		'SELECT k, avg(c) FROM t GROUP BY k ORDER BY 2 DESC, 1 LIMIT 10',
		'SELECT k, count(DISTINCT g) FROM t GROUP BY k ORDER BY 2 DESC, 1 LIMIT 10',
		'SELECT k, sum(c) FROM t GROUP BY k ORDER BY -sum(c), 1 LIMIT 10',
		'SELECT k, sum(c) FROM t GROUP BY k ORDER BY k DESC LIMIT 10',
		'SELECT k, sum(c) FROM t GROUP BY k ORDER BY 2 DESC, 1 LIMIT (SELECT 5)']) query
$$;
SELECT * FROM asked_all();

-- groups that are spilled; rows that have changed; several processes
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SET enable_hashagg = off;
SET enable_sort = off;
SELECT count(*) AS asked, count(*) FILTER (WHERE same) AS same, count(top) AS top FROM asked_all();
RESET work_mem;
RESET hash_mem_multiplier;
RESET enable_hashagg;
RESET enable_sort;
UPDATE t SET c = c + 1000 WHERE id % 100 = 0;
DELETE FROM t WHERE id % 17 = 0;
SELECT count(*) AS asked, count(*) FILTER (WHERE same) AS same, count(top) AS top FROM asked_all();
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT count(*) AS asked, count(*) FILTER (WHERE same) AS same FROM asked_all();
RESET max_parallel_workers_per_gather;

-- executed again and again: a prepared query, whose limit is known only when it begins, and a subquery
PREPARE first(int) AS SELECT k, sum(b) FROM t GROUP BY k ORDER BY 2 DESC LIMIT $1;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE first(3);
SET plan_cache_mode = force_custom_plan;
EXPLAIN (COSTS OFF) EXECUTE first(3);
RESET plan_cache_mode;
SELECT (asked('SELECT g.i, q.* FROM generate_series(1, 5) g(i), LATERAL (SELECT k, sum(b) AS s FROM t WHERE a > g.i
	* 50
	GROUP BY k ORDER BY 2 DESC LIMIT 3) q ORDER BY 1, 3')).*;

-- stars, and partitions
CREATE TABLE d AS SELECT i AS k, 'name ' || i % 900 AS name FROM generate_series(0, 6999) i;
ALTER TABLE d ADD PRIMARY KEY (k);
ANALYZE d;
SELECT (asked('SELECT name, sum(b) FROM t JOIN d USING (k) GROUP BY name ORDER BY 2 DESC LIMIT 5')).*;
CREATE TABLE p (LIKE t) PARTITION BY RANGE (k);
CREATE TABLE p_1 PARTITION OF p FOR VALUES FROM (0) TO (3000);
CREATE TABLE p_2 PARTITION OF p FOR VALUES FROM (3000) TO (7000);
INSERT INTO p SELECT * FROM t;
CREATE INDEX ON p USING rtscan (k, a, d) INCLUDE (id, g, b, c, n);
VACUUM ANALYZE p;
SET enable_partitionwise_aggregate = on;
SELECT (asked('SELECT k, sum(c) FROM p GROUP BY k ORDER BY 2 DESC, 1 LIMIT 10')).same;
SELECT (asked('SELECT g, sum(c) FROM p GROUP BY g ORDER BY 2 DESC, 1 LIMIT 10')).same;

SET client_min_messages = error;
DROP SCHEMA top_groups CASCADE;
