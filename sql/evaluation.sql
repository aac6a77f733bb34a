-- RtscanAggregate evaluates arguments that are also keys of GROUP BY, and it evaluates conditions in PostgreSQL's
-- order.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA evaluation;
SET search_path = evaluation, public;
SET rtscan.merge_worker = off;
-- thousands of plans are run once
SET jit = off;

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/outcomes.psql
\i :directory/sql/include/plans.psql
\set ECHO all
-- k has NULLs and 0; d is before and after today
CREATE TABLE few (id int, k int, s int2, d date, w text) WITH (autovacuum_enabled = off);
INSERT INTO few SELECT i, nullif(i % 23, 22), i % 7 - 3, current_date - 500 + i, 'w' || i % 5
FROM generate_series(1, 1000) i;
CREATE INDEX few_all ON few USING rtscan (k, s, d) INCLUDE (id, w);
VACUUM ANALYZE few;
INSERT INTO few SELECT i, i % 23, i % 7 - 3, current_date, 'pending' FROM generate_series(1001, 1100) i;
CREATE TABLE other (id int, x int, w text);
INSERT INTO other SELECT i, nullif(i * 3, 15), 'w' || i FROM generate_series(1, 6) i;
ANALYZE other;
CREATE TABLE parts (id int, k int, s int2, d date, w text) PARTITION BY RANGE (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (300);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (300) TO (600);
CREATE TABLE parts_d PARTITION OF parts DEFAULT;
CREATE INDEX parts_all ON parts USING rtscan (k, s, d) INCLUDE (id, w);
INSERT INTO parts SELECT * FROM few;
VACUUM ANALYZE parts;

--
-- Keys without columns, which are asked for in WHERE, FILTER and HAVING as well
--
CREATE FUNCTION steady(int) RETURNS int LANGUAGE plpgsql STABLE PARALLEL SAFE AS 'BEGIN RETURN $1; END';
CREATE VIEW queries AS SELECT unnest(ARRAY[
	'SELECT %2$s, count(*) FROM %3$s WHERE %1$s < %2$s GROUP BY %2$s',
	'SELECT %2$s AS a, k, count(*), sum(k) FROM %3$s WHERE %1$s >= %2$s GROUP BY %2$s, k',
	'SELECT %2$s, sum(s) FROM %3$s WHERE %1$s = %2$s OR k = 1 GROUP BY 1',
	'SELECT %2$s, sum(s) FROM %3$s WHERE %1$s IN (%2$s, %2$s + 1) OR %1$s <> %2$s + 1 GROUP BY %2$s',
	'SELECT max(w) FROM %3$s WHERE %1$s < ANY (ARRAY[%2$s, %2$s + 1]) GROUP BY ARRAY[%2$s, %2$s + 1]',
	'SELECT min(w) FROM %3$s WHERE %1$s BETWEEN %2$s - 1 AND %2$s GROUP BY %2$s, %2$s - 1',
	'SELECT sum(id) FROM %3$s WHERE %2$s > %1$s AND %1$s + 0 < %2$s - 1 GROUP BY %2$s, %2$s - 1, %1$s + 0',
	'SELECT %2$s + 1, count(*) FROM %3$s WHERE %1$s < %2$s + 1 GROUP BY %2$s',
	'SELECT count(*), count(*) FILTER (WHERE %1$s < %2$s), sum(k) FILTER (WHERE %1$s >= %2$s) FROM %3$s GROUP BY %2$s',
	'SELECT %1$s < %2$s, count(*), count(*) FILTER (WHERE %1$s < %2$s) FROM %3$s GROUP BY %1$s < %2$s',
	'SELECT %1$s < %2$s, count(*)
		FROM %3$s
		WHERE %1$s < %2$s OR k IS NULL
		GROUP BY %1$s < %2$s
		HAVING bool(%1$s < %2$s) OR sum(s) < 0',
	'SELECT %2$s, max(%1$s - %2$s)
		FROM %3$s
		WHERE %1$s <> %2$s
		GROUP BY %2$s
		HAVING max(%1$s) > %2$s OR %2$s = min(%1$s)',
	'SELECT k, max(coalesce(%1$s, %2$s))
		FROM %3$s
		WHERE %1$s IS NULL OR %1$s < %2$s
		GROUP BY k, %2$s, coalesce(%1$s, %2$s)']) AS query;
SELECT differs(format(query, col, key, tab), CASE tab WHEN 'few' THEN 1 ELSE 3 END)
FROM queries,
	(VALUES
		('d', 'current_date'), ('d', 'now()::date'), ('k', 'steady(7)'), ('k', 'extract(dow FROM now())::int'),
		('k', 'length(current_user)'), ('k', 'current_setting(''work_mem'')::int')) keys (col, key),
	unnest('{few,parts}'::text[]) tab
WHERE key !~ 'work_mem' OR query ~ 'FILTER';
-- keys of an outer query: the results for one of its rows are of no use for the next
SELECT differs(format('SELECT o.id, q.* FROM other o, LATERAL (%s) q', format(query, 'k', key, tab)),
	CASE tab WHEN 'few' THEN 1 ELSE 3 END)
FROM queries, unnest('{o.x,steady(o.x),abs(o.x)}'::text[]) key, unnest('{few,parts}'::text[]) tab;
SELECT differs(q, NULL) FROM (VALUES
	('SELECT o.id, (SELECT count(*) FROM few WHERE k < o.x GROUP BY o.x) FROM other o'),
	('SELECT o.id, ARRAY(SELECT count(*) + o.x FROM few WHERE k < o.x GROUP BY o.x, s ORDER BY 1) FROM other o'),
	('SELECT o.id, ARRAY(
		SELECT row(n, count(*)) FROM (SELECT k % o.x, count(*) AS n FROM few GROUP BY k % o.x) r GROUP BY n ORDER BY n)
		FROM other o'),
	('SELECT o.id, ARRAY(
		SELECT row(n, count(*)) FROM (SELECT o.x, count(*) AS n FROM few GROUP BY o.x, k % 3) r GROUP BY n ORDER BY n)
		FROM other o'),
	('SELECT o.id, ARRAY(SELECT row(k % o.x, count(*)) FROM parts GROUP BY k % o.x ORDER BY 1) FROM other o'),
	('SELECT o.id, EXISTS (SELECT FROM few WHERE k = o.x GROUP BY o.x HAVING count(*) > o.id * 15) FROM other o'),
	('SELECT o.id, (SELECT sum(n) FROM (SELECT count(*) AS n FROM few WHERE w = o.w GROUP BY o.w) q) FROM other o'),
	('SELECT o, (SELECT count(*) FROM few WHERE k < o.x GROUP BY o, o.x) FROM other o'),
	('SELECT o.id, (SELECT max(row(o.x, k)::text) FROM few WHERE row(k, s) > row(o.x, 1) GROUP BY row(o.x, 1), o.x)
		FROM other o'),
	('SELECT (SELECT count(*) FROM few WHERE k < max(o.x) GROUP BY max(o.x)) FROM other o'),
	('WITH c AS MATERIALIZED (SELECT 7 AS v)
		SELECT q.* FROM c, LATERAL (SELECT v, count(*) FROM few WHERE k < v GROUP BY v) q'),
	('SELECT v, count(*), sum(k)
		FROM (SELECT (SELECT max(x) FROM other) AS v, k, s FROM few OFFSET 0) q
		WHERE k < v
		GROUP BY v'),
	('SELECT v, count(*), sum(k)
		FROM (SELECT (SELECT max(x) FROM other) AS v, k, s FROM few) q
		WHERE k < v
		GROUP BY v')) q (q);
-- parameters
SELECT differs_prepared(mode, 'int', format(query, 'k', key, tab), '7', 'NULL', '-1', '22')
FROM queries,
	unnest('{force_generic_plan,force_custom_plan}'::text[]) mode,
	unnest('{$1,steady($1),abs($1)}'::text[]) key,
	unnest('{few,parts}'::text[]) tab;
SELECT differs_prepared(mode, 'int[]', query, '''{1,NULL,5}''', 'NULL', '''{}''')
FROM unnest('{force_generic_plan,force_custom_plan}'::text[]) mode,
	unnest(ARRAY[
		'SELECT $1, count(*) FROM few WHERE k = ANY ($1) GROUP BY $1',
		'SELECT $1[1], sum(s) FROM few WHERE k >= $1[1] GROUP BY $1[1], $1',
		'SELECT cardinality($1), max(k) FROM few WHERE k = ANY ($1) OR k < cardinality($1) GROUP BY 1']) query;
-- in what is calculated of many rows at a time; not where they are wider than that
SELECT differs_prepared(mode, type, format(query, tab), VARIADIC arguments)
FROM unnest('{force_generic_plan,force_custom_plan}'::text[]) mode,
	unnest('{few,parts}'::text[]) tab,
	(VALUES ('int', '{7,"NULL",-1,2147483647}'::text[]), ('bigint', '{7,"NULL",-9223372036854775808}'),
		('numeric', '{7,"NULL",7.50,1e30,''NaN''}'), ('float8', '{7,"NULL",-0.25,''NaN''}'))
		arguments (type, arguments),
	unnest(ARRAY[
		'SELECT s, count(*), sum(k) FROM %s WHERE k + s > $1 OR $1 IS NULL AND k IS NULL GROUP BY s',
		'SELECT s, max(k + $1), sum(k * $1), count(*) FILTER (WHERE k - s IS DISTINCT FROM $1) FROM %s GROUP BY s',
		'SELECT k + s = $1, count(*) FROM %s GROUP BY k + s = $1',
		'SELECT count(coalesce(k + $1, nullif($1, s))), sum(CASE WHEN k > $1 THEN 1 ELSE 2 END) FROM %s']) query;
SELECT differs_prepared('force_generic_plan', 'date', '
	SELECT count(*), max(d - $1) FROM few WHERE d + k > $1 OR $1 IS NULL', 'current_date', 'NULL', '''-infinity''');
SET plan_cache_mode = force_generic_plan;
SET enable_seqscan = off;
PREPARE calculated AS SELECT count(*) FROM few WHERE k + s > $1::int OR $1 IS NULL AND k IS NULL;
SELECT line FROM explained('EXECUTE calculated(7)', 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF') line
WHERE line ~ 'Row Filter|Singly';
RESET plan_cache_mode;
RESET enable_seqscan;
-- parameters of the query around it, and of a subquery
SELECT differs('
	SELECT o.id, (SELECT sum(id + o.x) FROM few WHERE k = o.x OR o.x IS NULL AND k + s IS NULL) FROM other o', NULL);
SELECT differs('SELECT count(*) FROM few WHERE k + s > (SELECT max(x) FROM other)');
CREATE FUNCTION counted(x int) RETURNS SETOF bigint LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_bitmapscan = off SET rtscan.enable_scan = off AS $$
BEGIN
	RETURN QUERY SELECT count(*) FROM few WHERE k < x GROUP BY x;
END
$$;
SELECT differs('SELECT o.id, c FROM other o, counted(o.x) c', 0);
-- how they are shown
SET enable_seqscan = off;
SET rtscan.enable_scan = off;
SET enable_bitmapscan = off;
SET max_parallel_workers_per_gather = 0;
SELECT explained('
	SELECT current_date, count(*), sum(k) FILTER (WHERE d < current_date)
	FROM few
	WHERE d < current_date AND id > extract(day FROM current_date)
	GROUP BY current_date', 'VERBOSE, COSTS OFF');
SELECT line
FROM explained('
	SELECT o.id, q.*
	FROM other o, LATERAL (SELECT o.x, count(*) FROM few WHERE k < o.x OR s = abs(o.x) GROUP BY o.x, abs(o.x)) q',
	'VERBOSE, COSTS OFF') line
WHERE line !~ 'Cache Key';
-- fetched bit by bit, forth and back, and again
BEGIN;
DECLARE c SCROLL CURSOR FOR
	SELECT o.id, q.*
	FROM other o, LATERAL (SELECT o.x, s, count(*) FROM few WHERE k < o.x GROUP BY o.x, s HAVING s > 1 ORDER BY s) q
	ORDER BY o.id;
FETCH 3 FROM c;
FETCH BACKWARD 2 FROM c;
FETCH ALL FROM c;
ROLLBACK;

--
-- Conditions are evaluated in PostgreSQL's order: one that is not evaluated cannot fail
--
CREATE TABLE tab2 (col0 int, col1 int, col2 int);
INSERT INTO tab2 VALUES (64, 77, 40), (75, 67, 58), (46, 51, 23);
CREATE INDEX tab2_all ON tab2 USING rtscan (col0, col1, col2);
VACUUM ANALYZE tab2;
SELECT differs('
	SELECT max(col1)
	FROM tab2
	WHERE col1 * col1 * -(-col2) * -col0 * -77 * -col0 IS NOT NULL AND NOT col0 BETWEEN 35 * -col2 AND NULL');
CREATE FUNCTION costly(int) RETURNS int LANGUAGE plpgsql STABLE COST 1000 AS 'BEGIN RETURN 1 / $1; END';
CREATE FUNCTION dear(int) RETURNS bool LANGUAGE plpgsql STABLE COST 10000 AS 'BEGIN RETURN 1 / $1 >= 0; END';
SELECT differs(format('SELECT count(*), sum(k), max(100 / k) FROM %s WHERE %s %s', tab, condition, tail),
	CASE tab WHEN 'few' THEN 1 ELSE 3 END)
FROM unnest('{few,parts}'::text[]) tab,
	unnest(ARRAY['""', 'GROUP BY s', 'GROUP BY 100 / k']) tail (t),
	replace(t, '""', '') tail2 (tail),
	unnest(ARRAY[
		'1000 / k + s > 0 AND k + 0 <> 0', 'costly(k) >= 0 AND k + s - s + 0 <> 0', 'costly(k) >= 0 AND k <> 0',
		'dear(k) AND costly(k) >= 0 AND k % 22 <> 0', 'k % 23 <> 0 AND 1 / k >= 0',
		'w LIKE ''w%'' AND costly(k) >= 0 AND id + 0 > 0 AND abs(k) > 0',
		-- these fail: the first are as cheap as the second
		'1 / k >= 0 AND k % 23 <> 0', '1 / k >= 0 AND 0 <> k % 23', '(1 / k >= 0 AND k % 23 <> 0)',
		'NOT (1 / k < 0 OR k % 23 = 0)']) condition;
-- HAVING
SELECT differs(format('SELECT s, count(*) FROM few GROUP BY s HAVING %s', condition))
FROM unnest(ARRAY[
	'100 / sum(s) + count(*) > 0 AND sum(s) <> 0', 'costly(s) >= 0 AND sum(s) <> 0', '100 / sum(s) > 0 AND sum(s) <> 0',
	'sum(s) <> 0 AND 100 / sum(s) <> 0']) condition;
-- FILTER is one condition, evaluated as it is written; arguments are evaluated only for rows that pass it
SELECT differs(format('SELECT %s FROM few %s', aggregate, tail), NULL)
FROM unnest(ARRAY['', 'GROUP BY s', 'WHERE k <> 0']) tail,
	unnest(ARRAY[
		'count(*) FILTER (WHERE k <> 0 AND costly(k) >= 0)', 'count(*) FILTER (WHERE costly(k) >= 0 AND k <> 0)',
		'sum(100 / k) FILTER (WHERE k + 0 > 0)', 'sum(100 / k) FILTER (WHERE s <> 0), sum(s)',
		'max(100 / k) FILTER (WHERE k > 0)', 'sum(2147483647 + k) FILTER (WHERE k + 0 = 0)',
		'avg(2147483640 + k) FILTER (WHERE k < 8 AND id > 0)', 'sum(2147483640 + k), count(*)',
		'sum((30000 + id)::int2 * s) FILTER (WHERE id + 0 < 100)',
		'count(100 / k) FILTER (WHERE k + 0 > 0)']) aggregate;
-- an argument of FILTER that no row reaches is not evaluated
SELECT differs(format('SELECT %s FROM few %s', aggregate, tail), NULL)
FROM unnest(ARRAY['', 'WHERE k < 0', 'GROUP BY s', 'WHERE k < 0 GROUP BY s']) tail,
	unnest(ARRAY[
		'count(*) FILTER (WHERE costly(0) > k)',
		'count(*) FILTER (WHERE k < 0 AND s < costly(0))',
		'max(k) FILTER (WHERE k < 0 AND (s < 3 OR s = ANY (ARRAY[1, costly(0)])))',
		'count(*) FILTER (WHERE k >= 0 OR k IS NULL OR s < costly(0))',
		'count(*) FILTER (WHERE k < (SELECT 1 / (id - id) FROM other LIMIT 1))',
		'count(*) FILTER (WHERE s < steady(3)),
			count(*) FILTER (WHERE k < 0 AND d < now() - costly(0) * interval ''1 day'')']) aggregate;
SELECT differs_prepared('force_generic_plan', 'int', '
	SELECT count(*) FILTER (WHERE k < 0 AND d < current_date - $1),
		count(*) FILTER (WHERE k > 5 AND d < current_date - $1)
	FROM few
	WHERE k < 5', '3', '2147483647', 'NULL');
-- some of them from bits of rows, others from the values of a float
CREATE TABLE floats (f float8, at timestamptz, s int2);
INSERT INTO floats SELECT i / 4.0, now() - i * interval '1 hour', i % 7 FROM generate_series(1, 1000) i;
CREATE INDEX floats_all ON floats USING rtscan (f, at, s);
VACUUM ANALYZE floats;
SELECT differs(format('SELECT count(*) FILTER (WHERE f > 5 AND %s) FROM floats', condition), nodes)
FROM (VALUES
	('at > now() - interval ''7 days''', 1),
	('at >= date_trunc(''month'', current_date) AND at < current_timestamp', 1), ('at > current_date - 7', 1),
	('s < (SELECT 3)', 1), ('s IN (1, 2, 3::bigint)', 1), ('s < steady(3)', 1),
	('at > now() - steady(7) * interval ''1 day''', 1), ('s < length(current_user)', 1)) q (condition, nodes);
-- arithmetic of many rows at a time is of those that pass
SELECT differs(format('SELECT s, sum(2147483640 + k), sum((2147483640 + k) * 1), count(*) FROM few WHERE %s GROUP BY s',
	condition), NULL)
FROM unnest(ARRAY['k + 0 < 8', 'k < 8', 'k + 0 < 9', 'id + 0 > 1050', 'w || s = ''w10''']) condition;

--
-- The greatest number of columns that a tuple may have, as aggregates, and one more
--
SELECT differs(
	format('SELECT 1 FROM few HAVING %s', string_agg(format('count(*) FILTER (WHERE k > %s) >= 0', i), ' AND ')),
	1665 - n)
FROM unnest('{1664,1665}'::int[]) n, generate_series(1, n) i
GROUP BY n;

SET client_min_messages = error;
DROP SCHEMA evaluation CASCADE;
