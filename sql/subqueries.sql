-- Subqueries that are executed again for each row of the query around them: results are remembered by their parameters.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA subqueries;
SET search_path = subqueries, public;
SET rtscan.merge_worker = off;
SET jit = off;

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/outcomes.psql
\i :directory/sql/include/plans.psql
\set ECHO all
\pset format unaligned
\pset tuples_only on
CREATE TABLE facts (k int, s text, n numeric(8, 2), v int) WITH (autovacuum_enabled = off);
INSERT INTO facts SELECT i % 20, 's' || i % 7, i * 0.25, i % 1000 FROM generate_series(1, 2000) i;
CREATE INDEX facts_idx ON facts USING rtscan (k, s) INCLUDE (n, v);
VACUUM ANALYZE facts;
-- k comes again, in any order, is NULL, and may be none of the facts'; -0 equals 0, and 1.0 equals 1.00
CREATE TABLE asks (id int, k int, s text, w float8, m numeric) WITH (autovacuum_enabled = off);
INSERT INTO asks
SELECT i, CASE WHEN i % 11 > 0 THEN i * 7 % 23 END, CASE WHEN i % 13 > 0 THEN 's' || i % 9 END,
	('{0,-0,1,NaN}'::float8[])[i % 4 + 1], ('{1.0,1.00,2,NaN}'::numeric[])[i % 4 + 1]
FROM generate_series(1, 120) i;
ANALYZE asks;

CREATE FUNCTION reused(query text) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT trim(line) FROM explained(query, 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF') line
	WHERE line ~ 'Results Reused'
$$;
SELECT reused('SELECT id, (SELECT count(*) FROM facts f WHERE f.k = a.k) FROM asks a');
SELECT reused('SELECT id, (SELECT sum(n) FROM facts f WHERE f.k = a.k AND f.s < a.s) FROM asks a');
-- expressions on results may have other parameters
SELECT reused('SELECT id, (SELECT a.id * sum(n) FROM facts f WHERE f.k = a.k HAVING count(*) > a.id % 9) FROM asks a');
-- from bits and from rows, with HAVING, FILTERs and residual conditions that have parameters, also texts
SELECT differs(format('SELECT id, (SELECT %s FROM facts f WHERE %s) FROM asks a', aggregate, condition), NULL)
FROM unnest(ARRAY['count(*)', 'max(f.s)', 'sum(n)', 'count(*) FILTER (WHERE f.s > a.s)', 'sum(n + a.id % 3)',
		'sum(v) FILTER (WHERE v % 5 = a.k)', 'array_agg(DISTINCT f.s)', 'max(f.s || a.s)', 'min(n) + a.id',
		'percentile_disc(a.id % 5 / 4.0) WITHIN GROUP (ORDER BY v)']) aggregate,
	unnest(ARRAY['f.k = a.k', 'f.k = a.k AND f.s < a.s', 'f.k < a.k AND v % 7 = a.k % 7', 'f.s = a.s',
		'f.k = a.k HAVING count(*) > a.id', 'f.k = 3 AND f.n > a.m', 'f.k = 3 AND f.n::float8 > a.w',
		'f.k = (SELECT max(b.k) FROM asks b WHERE b.s = a.s)',
		'f.k IN (SELECT b.k FROM asks b WHERE b.id = a.id % 10)', 'f.k = ANY (ARRAY[a.k, a.id % 5])']) condition;
-- a subquery's own parameter changes while those of the node are the same
SELECT differs('SELECT id, (SELECT sum(v) FROM facts f
	WHERE f.k = 5 AND f.v < (SELECT b.id FROM asks b WHERE b.id = a.id)) FROM asks a', NULL);
SELECT differs('SELECT a.id, q.* FROM asks a,
	LATERAL (SELECT sum(v), a.id FROM facts f WHERE f.k = a.k AND f.v > coalesce(a.k, 0) OFFSET 0) q', NULL);
-- values that look alike are not taken for others: what is shown of them may differ
SELECT differs('SELECT a.id, (SELECT sum(v * a.w) FROM facts f WHERE f.k = 1 AND f.v < 2),
	(SELECT max(n + a.m) FROM facts f WHERE f.k = 1) FROM asks a', NULL);
-- in a recursive query, and where rows are changed by the query around it
SELECT differs('WITH RECURSIVE r AS (SELECT 1 AS n, 0::int8 AS c UNION ALL
	SELECT n + 1, (SELECT count(*) FROM facts f WHERE f.k = n % 4) FROM r WHERE n < 12) SELECT * FROM r', NULL);
BEGIN;
UPDATE facts f SET v = (SELECT count(*) FROM facts g WHERE g.k = f.k) WHERE k < 6;
SELECT k, min(v), max(v) FROM facts WHERE k < 7 GROUP BY k ORDER BY k;
ROLLBACK;
-- volatile functions below are called each time: they may see what others have done meanwhile
CREATE TABLE notes (i int);
CREATE FUNCTION note(i int) RETURNS int VOLATILE LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO notes VALUES (i);
	RETURN i;
END
$$;
CREATE FUNCTION noted(k int) RETURNS SETOF int VOLATILE LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY SELECT n.i FROM notes n WHERE k IS NOT NULL;
END
$$;
CREATE FUNCTION counted(condition text, by_node bool) RETURNS text LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_indexscan = off SET rtscan.enable_scan = off AS $$
DECLARE
	result text;
BEGIN
	PERFORM set_config('rtscan.enable_aggregate', by_node::text, true);
	DELETE FROM notes;
	EXECUTE format('SELECT string_agg(c::text, '' '') FROM (SELECT note(id),
		(SELECT count(*) FROM facts f WHERE f.k = a.k AND %s) AS c FROM asks a OFFSET 0) q', condition) INTO result;
	RETURN result;
END
$$;
SELECT counted(condition, true) = counted(condition, false) AS same, length(counted(condition, true)) > 120 AS counted
FROM unnest('{f.v IN (SELECT i FROM noted(a.k) i),f.v NOT IN (SELECT i FROM noted(a.k) i)}'::text[]) condition;
-- executed again, with another snapshot
PREPARE asked AS SELECT sum((SELECT count(*) FROM facts f WHERE f.k = a.k)) FROM asks a;
SET plan_cache_mode = force_generic_plan;
EXECUTE asked;
DELETE FROM facts WHERE k = 7;
EXECUTE asked;
RESET plan_cache_mode;
-- Return the cost, for which the planner expects some results to be reused: none if the column is unique, half if
-- nothing is known, or else according to ANALYZE's number of values; other conditions are taken to leave a tenth of the
-- rows
CREATE FUNCTION subquery_cost(source text, condition text) RETURNS numeric LANGUAGE plpgsql
SET enable_seqscan = off AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE format('EXPLAIN (FORMAT json) SELECT (SELECT count(*) FROM facts f WHERE f.k = %s) FROM %s',
		condition, source) INTO plan;
	plan := jsonb_path_query_first(plan, '$.** ? (@."Parent Relationship" == "SubPlan")');
	RETURN CASE WHEN plan->>'Custom Plan Provider' = 'RtscanAggregate' THEN plan->>'Startup Cost' END;
END
$$;
CREATE TABLE unknown (k int) WITH (autovacuum_enabled = off);
INSERT INTO unknown SELECT i FROM generate_series(1, 120) i;
CREATE TABLE parents (LIKE asks) WITH (autovacuum_enabled = off);
CREATE TABLE children () INHERITS (parents) WITH (autovacuum_enabled = off);
INSERT INTO parents TABLE asks;
ANALYZE parents;
SELECT source, condition, round(subquery_cost(source, condition) / subquery_cost('asks a', 'a.id'), 2)
FROM (VALUES ('asks a', 'a.id'), ('asks a', 'a.k'), ('asks a', 'a.id % 3'), ('asks a JOIN asks b USING (id)', 'a.id'),
	('(TABLE asks OFFSET 0) a', 'a.id'), ('generate_series(1, 9) a', 'a'), ('unknown a', 'a.k'),
	('asks a WHERE id > 5', 'a.k'), ('asks a GROUP BY a.k', 'a.k'), ('parents a', 'a.k')) asked (source, condition);
-- in WHERE; in HAVING, and where the subquery has one itself, nothing is
CREATE FUNCTION cost_beside(query text) RETURNS numeric LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE format('EXPLAIN (FORMAT json) %s', query) INTO plan;
	plan := jsonb_path_query_first(plan, '$.** ? (@."Parent Relationship" == "SubPlan")');
	RETURN round((plan->>'Startup Cost')::numeric / subquery_cost('asks a', 'a.id'), 2);
END
$$;
SELECT cost_beside('SELECT 1 FROM asks a WHERE id < (SELECT count(*) FROM facts f WHERE f.k = a.k)');
SELECT cost_beside('SELECT 1 FROM asks a WHERE id < 9 AND id < (SELECT count(*) FROM facts f WHERE f.k = a.k)');
SELECT cost_beside('SELECT 1 FROM asks a GROUP BY k HAVING count(*) < (SELECT count(*) FROM facts f WHERE f.k = a.k)');
SELECT cost_beside('SELECT 1 FROM asks a
	WHERE id < (SELECT count(*) FROM facts f WHERE f.k = a.k AND f.s < (SELECT max(s) FROM asks))') >= 1;
-- two columns have as many values as they make together
SELECT round(subquery_cost('asks a', 'a.k AND f.v = a.id') / subquery_cost('asks a', 'a.id AND f.v = a.id'), 2),
	round(subquery_cost('asks a', 'a.k AND f.v = a.k % 2') / subquery_cost('asks a', 'a.id AND f.v = a.id % 2'), 2);
-- more results than there is memory for
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT differs('SELECT i, (SELECT max(f.s || i) FROM facts f WHERE f.k = i % 3 AND f.v < i)
	FROM generate_series(1, 800) i', NULL);
SELECT differs('SELECT i, (SELECT count(*) FROM facts f WHERE f.v < i % 300) FROM generate_series(1, 700) i', NULL);
RESET work_mem;
RESET hash_mem_multiplier;
-- an array that a row has of its own is no argument
SET enable_seqscan = off;
SELECT differs(format('SELECT count(*), sum(f.v) FROM facts f
	WHERE k %s (ARRAY(SELECT a.k FROM asks a WHERE a.s = f.s))', op), NULL)
FROM unnest('{= ANY,<> ALL,= ALL,< ANY}'::text[]) op;
RESET enable_seqscan;
--
-- Above other plans of aggregates, PostgreSQL's own node reuses results
--
CREATE FUNCTION memoized(query text) RETURNS SETOF text LANGUAGE sql SET enable_hashjoin = on AS $$
	SELECT trim(line) FROM explained(query, 'COSTS OFF') line WHERE line ~ 'Memoize|Cache Key'
$$;
CREATE TABLE names (s text PRIMARY KEY, name text) WITH (autovacuum_enabled = off);
INSERT INTO names SELECT 's' || i, 'name ' || i % 3 FROM generate_series(0, 6) i;
ANALYZE names;
SELECT memoized('SELECT id, (SELECT max(name) FROM facts f JOIN names USING (s) WHERE f.k = a.k) FROM asks a');
SELECT memoized('WITH sums AS MATERIALIZED (SELECT k, s, sum(v) AS v FROM facts GROUP BY k, s)
	SELECT k, s FROM sums a WHERE v > (SELECT avg(v) FROM sums b WHERE b.s = a.s)');
-- but not what may differ each time, what has its own node, and what is not executed for rows
SELECT memoized('SELECT (SELECT max(name) FROM facts f JOIN names USING (s) WHERE f.k = a.k AND random() < 2)
	FROM asks a');
SELECT memoized('SELECT (SELECT max(i) FROM facts f JOIN names USING (s), noted(a.k) i WHERE f.k = a.k) FROM asks a');
SELECT memoized('SELECT id, (SELECT max(i) FROM facts f, names, note(id) i WHERE f.k = a.k) FROM asks a');
SELECT memoized('SELECT id, (SELECT count(*) FROM facts f WHERE f.k = a.k) FROM asks a');
SELECT memoized('SELECT (SELECT name FROM facts f JOIN names USING (s) WHERE f.k = a.k LIMIT 1) FROM asks a');
SELECT memoized('SELECT i, (SELECT count(*) FROM names b WHERE b.s > a.s) FROM names a, generate_series(1, 9) i');
SELECT differs(format('SELECT id, (SELECT %s FROM facts f JOIN names USING (s) WHERE %s) FROM asks a',
	result, condition), NULL)
FROM unnest(ARRAY['count(*)', 'max(name)', 'sum(n * a.m)', 'string_agg(name, a.s ORDER BY v)', 'sum(v) + a.id']) result,
	unnest(ARRAY['f.k = a.k', 'f.k = a.k AND name < a.s', 'f.k < a.k AND v % 7 = a.k % 7', 's = a.s',
		'f.k = 1 AND n > a.m',
		'f.k = 3 AND f.n::float8 > a.w', 'f.k IN (SELECT b.k FROM asks b WHERE b.id = a.id % 10)']) condition;
SELECT differs('WITH sums AS MATERIALIZED (SELECT k, s, sum(v) AS v FROM facts GROUP BY k, s)
	SELECT k, s FROM sums a WHERE v > (SELECT avg(v) FROM sums b WHERE b.s = a.s)', NULL);
PREPARE asked_of_join AS SELECT sum((SELECT count(*) FROM facts f JOIN names USING (s) WHERE f.k = a.k)) FROM asks a;
EXECUTE asked_of_join;
DELETE FROM names WHERE s = 's3';
EXECUTE asked_of_join;

DROP SCHEMA subqueries CASCADE;
