-- A page of rows, each with the number of all rows: the number is a subquery of its own, which needs only bits.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA page_and_total;
SET search_path = page_and_total, public;
\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/plans.psql
\set ECHO all

CREATE TABLE t (id int, a int, b text, d date) WITH (autovacuum_enabled = off);
INSERT INTO t SELECT i, abs(hashint4(i)) % 1000, 'b' || i % 7, date '2025-01-01' + i % 300 FROM generate_series(1,
	50000) i;
CREATE INDEX t_idx ON t USING rtscan (a, d, id) INCLUDE (b);
CREATE TABLE other AS SELECT i AS a, 'name ' || i % 40 AS name FROM generate_series(0, 999, 3) i;
VACUUM ANALYZE t, other;

SELECT explained('SELECT id, d, count(*) OVER () FROM t WHERE a < 100 AND d >= ''2025-05-01'' ORDER BY d DESC LIMIT
	5');

-- Return the rows of a query, which is planned as it is: a query in a subquery is not.
CREATE FUNCTION rows_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	rows text := '';
	cursor refcursor;
	row record;
BEGIN
	OPEN cursor FOR EXECUTE query;
	LOOP
		FETCH cursor INTO row;
		EXIT WHEN NOT FOUND;
		rows := rows || row::text;
	END LOOP;
	CLOSE cursor;
	RETURN rows;
END
$$;
-- Return whether a query's rows are those without rtscan, and whether its plan has a subquery in place of the window.
CREATE FUNCTION asked(query text, OUT same boolean, OUT subquery boolean) LANGUAGE plpgsql AS $$
DECLARE
	found text := rows_of(query);
	line text;
	plan text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		plan := plan || line;
	END LOOP;
	subquery := plan ~ 'InitPlan' AND plan !~ 'WindowAgg';
	PERFORM set_config('rtscan.enable_aggregate', 'off', true), set_config('rtscan.enable_scan', 'off', true),
		set_config('enable_bitmapscan', 'off', true);
	same := found = rows_of(query);
	PERFORM set_config('rtscan.enable_aggregate', 'on', true), set_config('rtscan.enable_scan', 'on', true),
		set_config('enable_bitmapscan', 'on', true);
END
$$;
CREATE FUNCTION asked_all() RETURNS TABLE (query text, same boolean, subquery boolean) LANGUAGE sql AS $$
	SELECT query, (asked(query)).* FROM unnest(ARRAY[
		'SELECT id, d, count(*) OVER () FROM t WHERE a < 100 AND d >= ''2025-05-01'' ORDER BY d DESC, id LIMIT 5',
		'SELECT id, d, count(*) OVER () FROM t ORDER BY a, id LIMIT 5 OFFSET 3000',
		'SELECT id, count(*) OVER () FROM t WHERE a < 3 ORDER BY id LIMIT 5 OFFSET 100000',
		'SELECT id, count(*) OVER () FROM t WHERE a < 0 ORDER BY id LIMIT 5',
		'SELECT count(*) OVER () * 2 + id, count(*) OVER () FROM t WHERE a = 7 ORDER BY count(*) OVER (), id LIMIT 5',
		'SELECT DISTINCT b, count(*) OVER () FROM t WHERE a < 50 ORDER BY b LIMIT 3',
		'SELECT id, name, count(*) OVER () FROM t JOIN other USING (a) WHERE d < ''2025-02-01'' ORDER BY id LIMIT 5',
		'SELECT id, name, count(*) OVER () FROM t LEFT JOIN other USING (a) WHERE a < 9 ORDER BY id LIMIT 5',
		'SELECT id, a, count(*) OVER w FROM t WHERE a < 100 WINDOW w AS () ORDER BY id LIMIT 5',
		-- other windows, or rows that need not be the same if they are asked for twice
		'SELECT id, count(*) OVER (PARTITION BY b) FROM t WHERE a < 100 ORDER BY id LIMIT 5',
		'SELECT id, count(*) OVER (ORDER BY id) FROM t WHERE a < 100 ORDER BY id LIMIT 5',
		'SELECT id, count(*) OVER (ROWS 2 PRECEDING) FROM (SELECT * FROM t WHERE a < 5 ORDER BY id) q ORDER BY id
		LIMIT 5',
		'SELECT id, count(*) FILTER (WHERE b = ''b1'') OVER () FROM t WHERE a < 100 ORDER BY id LIMIT 5',
		'SELECT id, count(*) OVER (), sum(a) OVER () FROM t WHERE a < 100 ORDER BY id LIMIT 5',
		'SELECT id, count(b) OVER () FROM t WHERE a < 100 ORDER BY id LIMIT 5',
		'SELECT id, count(*) OVER () FROM t WHERE a < 100 ORDER BY id',
		'SELECT id, count(*) OVER () FROM t WHERE a < 100 AND random() >= 0 ORDER BY id LIMIT 5',
		'SELECT id, count(*) OVER () FROM t TABLESAMPLE bernoulli (100) WHERE a < 100 ORDER BY id LIMIT 5',
		'SELECT id, count(*) OVER () FROM (SELECT * FROM t WHERE a < 9 ORDER BY id LIMIT 100) q ORDER BY id LIMIT 5',
		'SELECT a, count(*) OVER () FROM t WHERE a < 100 GROUP BY a ORDER BY a LIMIT 5',
		'SELECT a, count(*) OVER () FROM other ORDER BY a LIMIT 5']) query
$$;
SELECT * FROM asked_all();

-- rows that have changed, also in the same transaction
UPDATE t SET a = a + 1 WHERE id % 50 = 0;
INSERT INTO t SELECT i, i % 1000, 'new', '2025-12-01' FROM generate_series(50001, 50500) i;
SELECT bool_and(same) AS same, count(*) FILTER (WHERE subquery) AS subqueries FROM asked_all();
BEGIN;
DELETE FROM t WHERE id % 3 = 0;
SELECT bool_and(same) AS same FROM asked_all();
ROLLBACK;

-- parameters, whose plan is made once; policies and privileges
PREPARE page(int, int) AS SELECT id, count(*) OVER () FROM t WHERE a < $1 ORDER BY id LIMIT $2;
SET plan_cache_mode = force_generic_plan;
EXECUTE page(2, 2);
EXECUTE page(100, 1);
RESET plan_cache_mode;
CREATE ROLE reader;
GRANT USAGE ON SCHEMA page_and_total TO reader;
GRANT SELECT (id, a) ON t TO reader;
ALTER TABLE t ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON t TO reader USING (a < 500);
SET ROLE reader;
SELECT id, count(*) OVER () = (SELECT count(*) FROM t WHERE a > 400) AS same FROM t WHERE a > 400 ORDER BY id LIMIT 1;
SELECT d, count(*) OVER () FROM t WHERE a > 400 ORDER BY id LIMIT 1;
RESET ROLE;
-- partitions
CREATE TABLE p (LIKE t) PARTITION BY RANGE (a);
CREATE TABLE p_1 PARTITION OF p FOR VALUES FROM (0) TO (300);
CREATE TABLE p_2 PARTITION OF p FOR VALUES FROM (300) TO (2000);
INSERT INTO p SELECT * FROM t;
CREATE INDEX ON p USING rtscan (a, d, id) INCLUDE (b);
VACUUM ANALYZE p;
SELECT (asked('SELECT id, count(*) OVER () FROM p WHERE a < 400 ORDER BY d, id LIMIT 5')).*;

SET client_min_messages = error;
DROP SCHEMA page_and_total CASCADE;
DROP ROLE reader;
