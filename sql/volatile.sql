-- Volatile functions, in subqueries as well, are called as often as without rtscan.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA volatile_calls;
SET search_path = volatile_calls, public;
CREATE SEQUENCE calls;
CREATE FUNCTION calls_of(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	rows text;
BEGIN
	PERFORM setval('calls', 1, false);
	EXECUTE format('SELECT array_agg(q)::text FROM (%s) q', query) INTO rows;
	RETURN nextval('calls') - 1;
END
$$;
CREATE FUNCTION plan_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	plan text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		plan := plan || line || E'\n';
	END LOOP;
	RETURN plan;
END
$$;
-- How often a query calls nextval(), without rtscan (by the btree, in order) and with it; and whether the plan with it
-- has what it is not to have
CREATE FUNCTION called(query text, unwanted text, OUT without bigint, OUT "with" bigint, OUT is_there bool)
LANGUAGE plpgsql
SET max_parallel_workers_per_gather = 0 AS $$
BEGIN
	SET LOCAL enable_seqscan = off;
	SET LOCAL enable_bitmapscan = off;
	SET LOCAL enable_indexscan = off;
	SET LOCAL enable_indexonlyscan = off;
	SET LOCAL enable_sort = off;
	SET LOCAL enable_nestloop = off;
	SET LOCAL enable_hashjoin = off;
	SET LOCAL enable_mergejoin = off;
	"with" := calls_of(query);
	is_there := plan_of(query) ~ unwanted;
	SET LOCAL enable_indexscan = on;
	SET LOCAL rtscan.enable_scan = off;
	SET LOCAL rtscan.enable_aggregate = off;
	SET LOCAL rtscan.enable_star = off;
	without := calls_of(query);
	RESET rtscan.enable_scan;
	RESET rtscan.enable_aggregate;
	RESET rtscan.enable_star;
END
$$;
CREATE TABLE t (a int, b int);
INSERT INTO t SELECT abs(hashint4(i)), i % 20 FROM generate_series(1, 5000) i;
CREATE INDEX t_idx ON t USING rtscan (a, b);
CREATE INDEX t_ordered ON t (a);
CREATE TABLE p (a int, b int) PARTITION BY RANGE (b);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20);
INSERT INTO p SELECT * FROM t;
CREATE INDEX p_idx ON p USING rtscan (a, b);
CREATE TABLE d (k int PRIMARY KEY, name text);
INSERT INTO d SELECT i, 'name ' || i FROM generate_series(0, 19) i;
VACUUM ANALYZE t, p, d;

-- Rows that OFFSET skips: of the targets' subqueries, once for all rows or for each; in subqueries of these
SELECT called(format('SELECT a, %s FROM t ORDER BY a LIMIT 5 OFFSET %s', target, skipped), 'Offset: ')
FROM unnest(ARRAY['nextval(''calls'')', '(SELECT nextval(''calls'') + 0 * t.a)', '(SELECT nextval(''calls''))',
		'(SELECT (SELECT nextval(''calls'') + d.k) FROM d WHERE k = t.b)',
		'EXISTS (SELECT FROM d WHERE k = t.b AND nextval(''calls'') > 0)',
		'CASE WHEN b = 3 THEN (SELECT nextval(''calls'') + t.b) END',
		't.b IN (SELECT k + nextval(''calls'') FROM d)',
		'(WITH c AS MATERIALIZED (SELECT nextval(''calls'') + t.b AS n) SELECT n FROM c)']) target,
	unnest(ARRAY['1000', '10000']) skipped;
-- Rows are skipped if targets call no volatile function
SELECT called(format('SELECT a, %s FROM t ORDER BY a LIMIT 5 OFFSET 1000', target), 'Offset: ')
FROM unnest(ARRAY['b', '(SELECT name FROM d WHERE k = t.b)', '(SELECT max(k) FROM d)', 'b IN (SELECT k FROM d)'])
	target;

-- Values of a hashed subquery are not looked up in the index before there is a row to ask
SELECT called(query, 'Index Cond: [^\n]*SubPlan')
FROM unnest(ARRAY[
	'SELECT count(*) FROM t WHERE a < 0 AND b NOT IN (SELECT nextval(''calls'') FROM generate_series(1, 3))',
	'SELECT * FROM t WHERE a < 0 AND b NOT IN (SELECT nextval(''calls'') FROM generate_series(1, 3))',
	'SELECT * FROM t WHERE a < 0 AND (b = 50 OR b IN (SELECT nextval(''calls'') FROM generate_series(1, 3)))',
	'SELECT * FROM t WHERE a < 0 AND (a + b > 5 OR b IN (SELECT nextval(''calls'') FROM generate_series(1, 3)))',
	'SELECT count(*) FILTER (WHERE b NOT IN (SELECT nextval(''calls'') FROM generate_series(1, 3)))
		FROM t
		WHERE a < 0']) query;
SELECT called('SELECT count(*) FROM t WHERE b NOT IN (SELECT k FROM d WHERE k < 5)', 'Index Cond: [^\n]*SubPlan');

-- Each leaf of a star meets the same rows of a dimension
SELECT called(format('SELECT name, count(*) FROM p JOIN d ON d.k = p.b WHERE %s GROUP BY name', condition),
	'Dimensions: ')
FROM unnest(ARRAY['nextval(''calls'') + d.k > 0', '(SELECT nextval(''calls'') + d.k) > 0',
	'(SELECT max(k) FROM d) > d.k']) condition;
DROP SCHEMA volatile_calls CASCADE;
