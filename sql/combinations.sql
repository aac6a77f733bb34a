-- Groups that one segment's combinations have been looked up for are kept for the next segment, if the columns have
-- exact integers from the same range.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA combinations;
SET search_path = combinations, public;
SET rtscan.pending_list_limit = '64kB';
SET rtscan.merge_worker = off;
SET max_parallel_workers_per_gather = 0;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET rtscan.enable_scan = off;

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/counts.psql
\i :directory/sql/include/plans.psql
\i :directory/sql/include/singly.psql
\set ECHO all
CREATE TABLE t (id int, i int, j bigint, k int) WITH (autovacuum_enabled = off);
CREATE INDEX t_all ON t USING rtscan (id) INCLUDE (i, j, k);
-- rows of a segment: i and j from some integers on
CREATE FUNCTION add(first int, n int, i int, j bigint) RETURNS void LANGUAGE sql AS $$
	INSERT INTO t
	SELECT r, CASE WHEN r % 11 > 0 THEN i + r % 50 END, CASE WHEN r % 13 > 0 THEN j + r % 7 END, r % 3
	FROM generate_series(first, first + n - 1) r
$$;
CREATE FUNCTION problems(nodes int DEFAULT 1) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT u
	FROM unnest(ARRAY['i', 'i, j', 'j, k', 'i::text', 'i % 5', 'i, j, k, id % 2',
		'GROUPING SETS ((i), (j, k), ())']) keys,
		unequal(format('SELECT %s, count(*), count(i), sum(j), min(i), avg(j) FROM t WHERE id > 0 GROUP BY %s
			ORDER BY 1, 2, 3, 4, 5', CASE WHEN keys LIKE 'G%' THEN 'i, j, k' ELSE keys END, keys), nodes) u
$$;
SELECT add(1, 4000, 100, 5);
SELECT add(10001, 4000, 100, 5);
SELECT add(20001, 4000, 100, 5);
SELECT segments, pending FROM rtscan_stats('t_all');
-- each group is looked up once in all segments, and once a pending row
SELECT singly('SELECT i::text, count(*) FROM t WHERE id > 0 GROUP BY 1');
SELECT problems();
-- fewer values, others below, above, none at all
SELECT add(30001, 3000, 100, NULL);
SELECT problems();
SELECT add(40001, 3000, 99, 4), add(50001, 3000, 101, 6);
SELECT add(60001, 3000, NULL, 1000000000000), add(70001, 3000, 120, -5);
SELECT problems();
SELECT add(80001, 9000, 100, 5);
DELETE FROM t WHERE id % 17 = 0;
SELECT segments > 5 AS segments FROM rtscan_stats('t_all');
SELECT problems();
-- not all groups fit
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT problems(NULL);
RESET work_mem;
VACUUM t;
SELECT problems();

SET client_min_messages = error;
DROP SCHEMA combinations CASCADE;
