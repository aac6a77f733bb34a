-- Numbers that a LIMIT, a setting or a join makes large: none of them overflows, and memory is taken for what there
-- is.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
SET rtscan.merge_worker = off;
CREATE SCHEMA sizes;
SET search_path = sizes, public;
SET max_parallel_workers_per_gather = 0;
SET jit = off;

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/plans.psql
\set ECHO all
-- Have all plans be those of rtscan, or none.
CREATE FUNCTION use_rtscan(used bool) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	setting text;
BEGIN
	FOREACH setting IN ARRAY '{enable_scan,enable_aggregate,enable_star}'::text[] LOOP
		PERFORM set_config('rtscan.' || setting, used::text, false);
	END LOOP;
	FOREACH setting IN ARRAY
		'{seqscan,bitmapscan,sort,incremental_sort,hashjoin,mergejoin,nestloop}'::text[] LOOP
		PERFORM set_config('enable_' || setting, (NOT used)::text, false);
	END LOOP;
END
$$;
CREATE FUNCTION digest(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT count(*) || '' '' || md5(string_agg(q::text, '';'')) FROM (%s) q', query) INTO result;
	RETURN result;
END
$$;
-- A query has the same rows in the same order by a bounded heap as without rtscan: a line if not.
CREATE FUNCTION unlike(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	expected text;
	found text;
BEGIN
	PERFORM use_rtscan(false);
	expected := digest(query);
	PERFORM use_rtscan(true);
	found := digest(query);
	IF found IS DISTINCT FROM expected OR plan_text(query) !~ 'Order Method: bounded heap' THEN
		RETURN NEXT format('%s: %s instead of %s by%s%s', query, found, expected, E'\n', plan_text(query));
	END IF;
END
$$;

--
-- The first rows of a LIMIT that is larger than the table, than 4 GB or than 32 bits
--
CREATE TABLE t (a int, b int, w text, n numeric) WITH (autovacuum_enabled = off);
INSERT INTO t SELECT abs(hashint4(i)) % 1000, nullif(i % 17, 3), nullif('w' || abs(hashint4(i)) % 70, 'w7'), i / 4.0
	FROM generate_series(1, 5000) i;
CREATE INDEX t_idx ON t USING rtscan (a, b) INCLUDE (w, n);
DELETE FROM t WHERE b = 5;
VACUUM ANALYZE t;
INSERT INTO t SELECT i, i % 7, 'pending ' || i, i FROM generate_series(1, 300) i;
-- any user may set work_mem so high
SET work_mem = '200GB';
SELECT use_rtscan(true);
SELECT explained('SELECT count(*) FROM (SELECT a, b FROM t ORDER BY a, b LIMIT 536870913) s');
SELECT count(*) FROM (SELECT a, b FROM t ORDER BY a, b LIMIT 536870913) s;
SELECT unlike(format('SELECT %s FROM t ORDER BY %s LIMIT %s', columns, coalesce(directions, columns), rows))
FROM (VALUES ('a, b', NULL), ('b, w, a', 'b DESC, w, a'), ('w, n, b, a', 'w NULLS FIRST, n DESC, b, a'))
	o (columns, directions),
	unnest('{134217726,536870913,600000000}'::int[]) rows;
SET work_mem = '2047GB';
SELECT unlike(format('SELECT a, b FROM t WHERE a < 700 ORDER BY a, b LIMIT %s', rows))
FROM unnest('{1,2147483647,2147483648,4294967296,4294967297,4294967300 OFFSET 1000}'::text[]) rows;
-- Less memory is left when the plan is executed
SET plan_cache_mode = force_generic_plan;
PREPARE first_rows AS SELECT md5(string_agg(s::text, ';')) FROM (SELECT w, n FROM t ORDER BY w, n LIMIT 4294967299) s;
EXPLAIN (COSTS OFF) EXECUTE first_rows;
SET work_mem = '64kB';
CREATE TEMP TABLE found AS EXECUTE first_rows;
SELECT use_rtscan(false);
SELECT count(*) FROM found
WHERE md5 = (SELECT md5(string_agg(s::text, ';')) FROM (SELECT w, n FROM t ORDER BY w, n) s);
RESET plan_cache_mode;
RESET work_mem;
-- More rows are wanted than the LIMIT said
SELECT unlike(format('SELECT b, w FROM t WHERE a < 900 ORDER BY %s FETCH FIRST %s ROWS WITH TIES', columns, rows))
FROM unnest('{1,5,600,4000,5000}'::int[]) rows, unnest('{"b DESC, w","w, b"}'::text[]) columns;
SELECT unlike('SELECT w FROM t WHERE a > 50 ORDER BY w FETCH FIRST 2 ROWS WITH TIES');
SELECT count(*) FROM (SELECT a FROM t ORDER BY a OFFSET 4611686018427387904 LIMIT 5) s;

--
-- Rows that meet so many of several tables that their combinations have no number of 64 bits
--
SET work_mem = '16MB';
CREATE TABLE fact (id int, a int, b int, c int, d int, v bigint) WITH (autovacuum_enabled = off);
INSERT INTO fact SELECT i, i, i, i, i, 9223372036854775807 - i FROM generate_series(1, 200) i;
CREATE INDEX fact_idx ON fact USING rtscan (a, b, c, d) INCLUDE (id, v);
CREATE TABLE many (k int, x int);
-- 1 and 2 come 65,536 times, 3 comes 3 times, 4 twice
INSERT INTO many SELECT k, i FROM generate_series(1, 65536) i, generate_series(1, 2) k;
INSERT INTO many VALUES (3, 1), (3, 2), (3, 3), (4, 1), (4, 2), (5, 1);
VACUUM ANALYZE fact, many;
CREATE FUNCTION joined(output text, condition text, tables int DEFAULT 4) RETURNS text LANGUAGE sql AS $$
	SELECT format('SELECT %s FROM fact %s WHERE %s', output,
		string_agg(format('JOIN many m%s ON m%1$s.k = %s', i, substr('abcd', i, 1)), ' '), condition)
	FROM generate_series(1, tables) i
$$;
CREATE FUNCTION outcome(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT string_agg(q::text, '' '' ORDER BY q::text COLLATE "C") FROM (%s) q', query) INTO result;
	RETURN result;
EXCEPTION WHEN numeric_value_out_of_range THEN
	RETURN SQLERRM;
END
$$;
SELECT use_rtscan(true);
SELECT explained(joined('count(*)', 'id = 1'));
-- PostgreSQL would count until there is such an error
SELECT outcome(joined('count(*)', condition))
FROM unnest('{id = 1,id < 3,"id IN (2, 3)","id IN (1, 5)"}'::text[]) condition;
SELECT outcome(joined('count(*) FILTER (WHERE m1.x > 5), count(*), max(v)', 'id = 2'));
-- Some of them come soon
SELECT explained(joined('id, m1.x, m2.x, m3.x, m4.x', 'id = 1') || ' LIMIT 3');
SELECT count(*), count(DISTINCT s) FROM (
	SELECT id, m1.x AS x1, m2.x AS x2, m3.x AS x3, m4.x AS x4
	FROM fact JOIN many m1 ON m1.k = a JOIN many m2 ON m2.k = b JOIN many m3 ON m3.k = c JOIN many m4 ON m4.k = d
	WHERE id = 1
	LIMIT 70000) s;
SELECT outcome(format('SELECT EXISTS (%s)', joined('1', 'id = 2')));
-- Counts and sums of bigint are exact
SELECT query, outcome(query) IS NOT DISTINCT FROM expected AS same, expected
FROM (VALUES ('count(*)', 'id = 3', 4, '(81)'), ('count(*)', 'id BETWEEN 3 AND 5', 4, '(98)'),
	('sum(v), avg(v), count(*)', 'id = 1', 1,
		format('(%s,%s,65536)', (9223372036854775806::numeric * 65536), 9223372036854775806)),
	('sum(v)', 'id IN (2, 4)', 1,
		format('(%s)', 9223372036854775805::numeric * 65536 + 9223372036854775803::numeric * 2)),
	('id, sum(v) + 0, count(*)', 'id IN (3, 4) GROUP BY id', 4,
		format('(3,%s,81) (4,%s,16)', 9223372036854775804::numeric * 81, 9223372036854775803::numeric * 16))) q
	(output, condition, tables, expected), LATERAL joined(output, condition, tables) query;
DROP SCHEMA sizes CASCADE;
