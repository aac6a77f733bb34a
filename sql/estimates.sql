-- What the planner expects: groups by the columns of dimensions, and rows that conditions leave of queries in WITH and
-- FROM.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA estimates;
SET search_path = estimates, public;
SET rtscan.merge_worker = off;
SET max_parallel_workers_per_gather = 0;
SET jit = off;
-- from 19 on, PostgreSQL may group before it joins
DO $$
BEGIN
	PERFORM set_config(name, 'off', false) FROM pg_settings WHERE name = 'enable_eager_aggregate';
END $$;

-- a calendar of 80 years, of which the facts have three; ANALYZE reads all rows
CREATE TABLE dates (k int, year int, quarter int, name text) WITH (autovacuum_enabled = off);
INSERT INTO dates SELECT i, 1950 + i / 365, i / 91 % 4, 'day ' || i FROM generate_series(0, 29199) i;
CREATE TABLE sales (k int, item int, v int) WITH (autovacuum_enabled = off);
INSERT INTO sales SELECT 18250 + i % 1095, i % 200, i FROM generate_series(1, 24000) i;
CREATE INDEX ON sales USING rtscan (k, item) INCLUDE (v);
CREATE TABLE returns (k int, item int, v int) WITH (autovacuum_enabled = off);
INSERT INTO returns SELECT 18250 + i % 1095, i % 200, i FROM generate_series(1, 2400) i;
CREATE INDEX ON returns USING rtscan (k, item) INCLUDE (v);
VACUUM ANALYZE dates, sales, returns;

CREATE FUNCTION plan_of(query text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	RETURN plan;
END $$;
-- How many rows the nodes of a kind are expected to return.
CREATE FUNCTION expected(query text, kind text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(node ->> 'Plan Rows', ' ') FROM jsonb_path_query(plan_of(query), 'strict $.**') node
	WHERE jsonb_typeof(node) = 'object' AND coalesce(node ->> 'Custom Plan Provider', node ->> 'Node Type') = kind
$$;
-- The same, as a multiple of the rows that there are.
CREATE FUNCTION misjudged(query text, kind text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, FORMAT json) ' || query INTO plan;
	RETURN (SELECT string_agg(round((node ->> 'Plan Rows')::numeric /
		greatest((node ->> 'Actual Rows')::numeric, 1), 1)::text, ' ')
		FROM jsonb_path_query(plan, 'strict $.**') node
		WHERE jsonb_typeof(node) = 'object' AND coalesce(node ->> 'Custom Plan Provider', node ->> 'Node Type') = kind);
END $$;

--
-- Groups by the columns of a dimension that go with its key
--
SELECT misjudged('SELECT year, quarter, sum(v) FROM sales JOIN dates USING (k) GROUP BY year, quarter',
	'RtscanAggregate');
SELECT misjudged('SELECT year, sum(v) FROM sales JOIN dates USING (k) GROUP BY year', 'RtscanAggregate');
SELECT misjudged('SELECT name, sum(v) FROM sales JOIN dates USING (k) GROUP BY name', 'RtscanAggregate');
SELECT misjudged('SELECT year, sum(v) FROM sales JOIN dates USING (k) WHERE year IN (2000, 2001) GROUP BY year',
	'RtscanAggregate');

--
-- Conditions on columns that go with the key: in OR, and with a value that is known only when the query runs
--
SELECT condition, misjudged(format('SELECT v FROM sales JOIN dates USING (k) WHERE %s', condition), 'RtscanScan')
FROM unnest('{year = 2001,year = 2001 OR year = 2000 AND quarter = 1,year = (SELECT 2001),
	year IN (SELECT 2001) AND quarter = 2,quarter = (SELECT 2),year < 2001 OR year > 2001}'::text[]) condition;

--
-- Conditions on queries in WITH
--
SELECT condition, misjudged(format('WITH sums AS MATERIALIZED (
		SELECT year, quarter, item, sum(v) AS v FROM sales JOIN dates USING (k) GROUP BY year, quarter, item)
	SELECT * FROM sums WHERE %s', condition), 'CTE Scan')
FROM unnest('{year = 2001,year = 2001 AND quarter = 2,item = 7,7 = item,year = 2001 OR year = 2000 AND quarter = 1,
	item = 7 AND year = 2002,year = (SELECT 2001)}'::text[]) condition;
SELECT condition, misjudged(format('WITH sums AS MATERIALIZED (
		SELECT ''sold'' AS kind, year, item, sum(v) AS v FROM sales JOIN dates USING (k) GROUP BY year, item
		UNION ALL
		SELECT ''returned'', year, item, sum(v) FROM returns JOIN dates USING (k) GROUP BY year, item)
	SELECT * FROM sums WHERE %s', condition), 'CTE Scan')
FROM unnest('{kind = ''sold'',kind = ''sold'' AND year = 2001,kind = ''none'',year = 2001,item = 7}'::text[]) condition;
SELECT condition, misjudged(format('WITH sums AS MATERIALIZED (
		SELECT ''sold'' AS kind, year, item FROM sales JOIN dates USING (k)
		UNION
		SELECT ''returned'', year, item FROM returns JOIN dates USING (k))
	SELECT * FROM sums WHERE %s', condition), 'CTE Scan')
FROM unnest('{year = 2001,year = 2001 AND item = 7}'::text[]) condition;
-- of a query that refers to another one
SELECT misjudged('WITH sums AS MATERIALIZED (
		SELECT year, item, sum(v) AS v FROM sales JOIN dates USING (k) GROUP BY year, item),
	many AS MATERIALIZED (SELECT year, v FROM sums) SELECT * FROM many WHERE year = 2000', 'CTE Scan');
-- conditions on aggregates, and others than equality, are estimated as by PostgreSQL
CREATE FUNCTION expected_without(query text, kind text) RETURNS text LANGUAGE sql
SET rtscan.enable_scan = off SET rtscan.enable_aggregate = off AS $$
	SELECT expected(query, kind)
$$;
SELECT condition, expected(query, 'CTE Scan') = expected_without(query, 'CTE Scan') AS same
FROM unnest('{v = 7,item > 7,item <> 7,item % 2 = 1,item = 7}'::text[]) condition,
	format('WITH sums AS MATERIALIZED (SELECT item, sum(v) AS v FROM sales GROUP BY item) SELECT * FROM sums WHERE %s',
		condition) query;
-- conditions outside of window functions
SELECT misjudged('SELECT * FROM (SELECT year, item, sum(v), rank() OVER (ORDER BY sum(v)) AS place
	FROM sales JOIN dates USING (k) GROUP BY year, item) q WHERE year = 2001', 'Subquery Scan');
-- results of such queries are joined by hashing, not row by row
SELECT expected('WITH sums AS MATERIALIZED (
		SELECT year, quarter, item, sum(v) AS v FROM sales JOIN dates USING (k) GROUP BY year, quarter, item)
	SELECT * FROM sums a JOIN sums b USING (item) JOIN sums c USING (item)
	WHERE a.year = 2000 AND a.quarter = 1 AND b.year = 2001 AND b.quarter = 1 AND c.year = 2002 AND c.quarter = 1',
	'Nested Loop') IS NULL;
DROP SCHEMA estimates CASCADE;
