-- Planning of stars: indexes with very many columns, and the number of rows that the planner expects.

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA star_planner;
SET search_path = star_planner, public;
SET rtscan.merge_worker = off;
SET max_parallel_workers_per_gather = 0;
-- wherever a star can be, it is
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_nestloop = off;

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/plans.psql
\i :directory/sql/include/stars.psql
\set ECHO all

--
-- An index has 32 columns at most, and what dimensions add to them is no part of that
--
DO $$
DECLARE
	columns text := (SELECT string_agg('c' || i, ', ' ORDER BY i) FROM generate_series(11, 31) i);
BEGIN
	EXECUTE format('CREATE TABLE fact (id int, a int, b int, c int, t text, %s, last text)
		WITH (autovacuum_enabled = off)',
		(SELECT string_agg(format('c%s int', i), ', ' ORDER BY i) FROM generate_series(6, 31) i));
	EXECUTE format('INSERT INTO fact SELECT i, h %% 100, h %% 30, h %% 7, ''t'' || h %% 50, %s, ''last '' || h %% 9
		FROM (SELECT i, abs(hashint4(i)) FROM generate_series(1, 5000) i) r (i, h)',
		(SELECT string_agg(format('h %% %s', i * 3), ', ' ORDER BY i) FROM generate_series(6, 31) i));
	EXECUTE format('CREATE INDEX fact_star ON fact USING rtscan (id, a, b, c, t, c6, c7, c8, c9, c10)
		INCLUDE (%s, last)', columns);
END
$$;
VACUUM ANALYZE fact;
SELECT indnatts FROM pg_index WHERE indrelid = 'fact'::regclass;
INSERT INTO fact (id, a, b, c, t, c31, last) SELECT -i, i, i, 3, 't' || i, i, 'pending'
	FROM generate_series(1, 40) i;
CREATE TABLE dim (k int PRIMARY KEY, g int, name text, day date, amount numeric, x float8, y bigint, z text);
INSERT INTO dim SELECT i, nullif(i % 7, 3), 'name ' || i % 5, date '2024-01-01' + i % 3, i / 4.0, i, i % 11,
	'z' || i % 4 FROM generate_series(-5, 120) i;
CREATE TABLE pair (k int, l int, name text, number int, PRIMARY KEY (k, l));
INSERT INTO pair SELECT i, j, 'pair ' || (i + j) % 6, i * j FROM generate_series(0, 40) i, generate_series(0, 5) j;
CREATE TABLE word (t text, meaning text, n int);
INSERT INTO word SELECT 't' || i % 40, 'meaning ' || i % 13, i FROM generate_series(1, 60) i;
ANALYZE dim, pair, word;

SELECT explained('SELECT name, day, count(*), sum(amount), sum(c31), max(last) FROM fact JOIN dim ON dim.k = fact.a
	WHERE g = 2 GROUP BY name, day');
SELECT explained('SELECT id, last, name, day FROM fact JOIN dim ON dim.k = fact.a WHERE g = 2 AND c31 < 30');
SELECT differs(query) FROM unnest(ARRAY[
	'SELECT name, day, count(*), sum(amount), sum(c31), max(last) FROM fact JOIN dim ON k = a
		WHERE g = 2 GROUP BY 1, 2',
	'SELECT id, last, name, day, x, y, z, amount FROM fact JOIN dim ON k = a WHERE g = 2 AND c31 < 30',
	'SELECT id, last, c31, name, z, g FROM fact LEFT JOIN dim ON k = a WHERE c11 < 20',
	'SELECT g, y, z, count(*), sum(x), min(last), max(day) FROM fact LEFT JOIN dim ON k = b GROUP BY 1, 2, 3',
	'SELECT d.name, e.z, f.day, count(*), sum(d.amount + e.amount), sum(f.x * c30) FROM fact JOIN dim d ON d.k = a
		JOIN dim e ON e.k = b JOIN dim f ON f.k = c WHERE d.g > 1 AND e.y < 9 GROUP BY 1, 2, 3',
	'SELECT id, c20, last, d.name, d.x, e.z, e.day, f.amount, f.y FROM fact JOIN dim d ON d.k = a JOIN dim e ON e.k = b
		LEFT JOIN dim f ON f.k = c WHERE d.g > 1 AND e.y < 9 AND c13 < 20',
	'SELECT pair.name, dim.name, count(*), sum(number), sum(c31) FROM fact JOIN pair ON pair.k = b AND l = c
		JOIN dim ON dim.k = a GROUP BY 1, 2',
	'SELECT id, last, pair.name, number, dim.z FROM fact LEFT JOIN pair ON pair.k = b AND l = c JOIN dim ON dim.k = a
		WHERE c31 < 40',
	'SELECT id, last, meaning, n, name FROM fact JOIN word USING (t) JOIN dim ON k = a WHERE c31 < 60',
	'SELECT meaning, name, count(*), sum(n), sum(c29), count(DISTINCT last) FROM fact JOIN word USING (t)
		JOIN dim ON k = a GROUP BY 1, 2',
	'SELECT count(*) FROM fact WHERE NOT EXISTS (SELECT FROM pair WHERE k = b AND l = c)',
	'SELECT last, c31 FROM fact WHERE EXISTS (SELECT FROM pair WHERE k = b AND l = c AND number > 20)',
	'SELECT d.name, count(*) FILTER (WHERE e.g > 1), sum(c31) FILTER (WHERE d.x < e.x) FROM fact JOIN dim d ON d.k = a
		JOIN dim e ON e.k = c31 GROUP BY 1']) query;

--
-- A calendar of 200 years, and a table with rows of five of them: how many a condition on the calendar leaves
--
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_nestloop;
CREATE TABLE dates (k int PRIMARY KEY, day date, year int, month int, quarter text COLLATE "C", back int, noise int);
INSERT INTO dates SELECT 2415022 + i, d, extract(year FROM d), extract(month FROM d), to_char(d, 'YYYY"Q"Q'), -i,
	abs(hashint4(i))
	FROM (SELECT i, date '1900-01-02' + i FROM generate_series(0, 73048) i) r (i, d);
CREATE TABLE sales (k int, k8 bigint, day date, item int, id int, v int) WITH (autovacuum_enabled = off);
INSERT INTO sales SELECT k, k, date '1900-01-02' + k - 2415022, i % 500, i, i % 7
	FROM (SELECT i, 2450816 + abs(hashint4(i)) % 1823 FROM generate_series(1, 40000) i) r (i, k);
CREATE TABLE items (item int PRIMARY KEY, name text);
INSERT INTO items SELECT i, 'item ' || i FROM generate_series(0, 499) i;
CREATE TABLE marked (id int PRIMARY KEY, mark int);
INSERT INTO marked SELECT i * 10, i % 3 FROM generate_series(1, 4000) i;
VACUUM ANALYZE dates, sales, items, marked;

CREATE FUNCTION expected(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	RETURN plan #>> '{0,Plan,Plan Rows}';
END $$;
-- Queries of which less than half or more than twice the rows are expected.
CREATE FUNCTION misjudged(queries text[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	query text;
	rows bigint;
BEGIN
	FOREACH query IN ARRAY queries LOOP
		EXECUTE format('SELECT count(*) FROM (%s OFFSET 0) r', query) INTO rows;
		IF expected(query) NOT BETWEEN rows / 2.0 AND rows * 2.0 THEN
			RETURN NEXT format('%s: %s rows expected, %s come', query, expected(query), rows);
		END IF;
	END LOOP;
END $$;
CREATE FUNCTION joined(conditions text[], key text DEFAULT 'k', fact text DEFAULT 'sales') RETURNS text[]
LANGUAGE sql AS $$
	SELECT array_agg(format('SELECT s.v, d.day FROM %s s JOIN dates d ON d.%s = s.%s WHERE %s', fact,
		CASE key WHEN 'k8' THEN 'k' ELSE key END, key, condition)) FROM unnest(conditions) condition
$$;

-- without an index it is PostgreSQL's estimate
SELECT count(*) FROM misjudged(joined('{d.year = 2000}'));
SELECT expected('SELECT v FROM sales s JOIN dates d USING (k) WHERE d.year = 1950') AS outside \gset
CREATE INDEX sales_all ON sales USING rtscan (k, k8, day, item) INCLUDE (id, v);
SELECT misjudged(joined(ARRAY['d.year = 2000', '2001 = d.year', 'd.year = 1999 AND d.month BETWEEN 9 AND 12',
	'd.month = 5', 'd.noise < 1000000000', 'd.year IN (1999, 2000, 2001)',
	'd.day BETWEEN ''2000-08-23'' AND ''2000-11-06''', 'd.day >= ''2000-01-01'' AND d.day < ''2000-07-01''',
	'd.k BETWEEN 2451000 AND 2451500', 'd.quarter = ''2000Q1''', 'd.back BETWEEN -36600 AND -36300',
	'd.year > 1990', 'd.year = 2000 AND d.month IN (1, 2)', 'd.k > 2451300 AND d.year IN (2000, 2001) AND s.v = 3',
	'true']));
SELECT misjudged(joined('{d.year = 2000,d.month = 5,d.year BETWEEN 1999 AND 2001}', 'k8'));
SELECT misjudged(joined('{d.year = 2000,d.month = 5,d.year BETWEEN 1999 AND 2001}', 'day'));
-- a list with more values than are looked up, and NULL
SELECT misjudged(joined(ARRAY[format('d.day = ANY (%L)',
	(SELECT array_agg(date '1999-12-31' + nullif(i, 7)) FROM generate_series(1, 400) i))]));
-- further joins
SELECT misjudged(ARRAY['SELECT name FROM sales JOIN dates USING (k) JOIN items USING (item) WHERE year = 2000',
	'SELECT mark FROM sales JOIN dates USING (k) JOIN marked USING (id) WHERE year = 2000',
	'SELECT mark, name FROM sales s JOIN dates d USING (k) JOIN items USING (item) JOIN marked m ON m.id = s.id
		WHERE year IN (1999, 2000)',
	'SELECT s.v FROM sales s JOIN dates d USING (k) LEFT JOIN marked m ON m.id = s.id WHERE year = 2000',
	'SELECT v FROM sales WHERE k IN (SELECT k FROM dates WHERE year = 2000)']);
-- the estimate stays if the condition seems to exclude all of the table's keys
SELECT expected('SELECT v FROM sales s JOIN dates d USING (k) WHERE d.year = 1950') = :outside AS same;
-- each quarter, of which some are bounds of the histogram and others lie between two (all rows are sampled)
ALTER TABLE dates ALTER quarter SET STATISTICS 300;
ANALYZE dates;
SELECT misjudged(joined(ARRAY(SELECT format('d.quarter = %L', quarter) FROM dates
	WHERE day BETWEEN '1998-04-01' AND '2002-12-31' GROUP BY quarter)));
-- with a foreign key, PostgreSQL would not consider the conditions
ALTER TABLE sales ADD FOREIGN KEY (k) REFERENCES dates;
SELECT misjudged(joined('{d.year = 2000,d.month = 5}'));
-- if the user may not know the values, as a policy may hide rows, PostgreSQL's estimate is used
CREATE ROLE rtscan_seller;
GRANT USAGE ON SCHEMA star_planner TO rtscan_seller;
GRANT SELECT ON dates, sales TO rtscan_seller;
SET ROLE rtscan_seller;
SELECT count(*) FROM misjudged(joined('{d.year = 2000}'));
RESET ROLE;
ALTER TABLE sales ENABLE ROW LEVEL SECURITY;
CREATE POLICY all_sales ON sales USING (true);
SET ROLE rtscan_seller;
SELECT count(*) FROM misjudged(joined('{d.year = 2000}'));
RESET ROLE;
ALTER TABLE sales DISABLE ROW LEVEL SECURITY;
-- the same without statistics
CREATE TABLE unseen (LIKE dates) WITH (autovacuum_enabled = off);
INSERT INTO unseen SELECT * FROM dates;
CREATE TABLE plain AS SELECT * FROM sales;
ANALYZE plain;
SELECT condition FROM unnest('{u.k > 2000000,u.k > 2451500,u.year > 1990,u.year = 2000}'::text[]) condition
	WHERE expected('SELECT s.v, u.day FROM sales s JOIN unseen u USING (k) WHERE ' || condition)
		<> expected('SELECT s.v, u.day FROM plain s JOIN unseen u USING (k) WHERE ' || condition);
-- most rows have not come to segments yet: the keys of those that have tell little
CREATE TABLE fresh (LIKE sales) WITH (autovacuum_enabled = off);
INSERT INTO fresh SELECT * FROM sales WHERE id <= 1000;
CREATE INDEX fresh_all ON fresh USING rtscan (k) INCLUDE (v);
SET rtscan.pending_list_limit = '64MB';
INSERT INTO fresh SELECT * FROM sales WHERE id <= 10000;
ANALYZE fresh;
SELECT segments > 0 AS segments, pending FROM rtscan_stats('fresh_all');
SELECT count(*) FROM misjudged(joined('{d.year = 2000}', 'k', 'fresh'));
RESET rtscan.pending_list_limit;
-- partitions
CREATE TABLE parts (LIKE sales) PARTITION BY RANGE (k);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (2451500);
CREATE TABLE parts_2 (v int, id int, item int, day date, k8 bigint, k int);
ALTER TABLE parts ATTACH PARTITION parts_2 FOR VALUES FROM (2451500) TO (9999999);
INSERT INTO parts SELECT * FROM sales;
CREATE INDEX ON parts USING rtscan (k) INCLUDE (v);
VACUUM ANALYZE parts;
SELECT misjudged(joined('{d.year = 2000,d.month = 5,"d.year IN (1999, 2000, 2001)"}', 'k', 'parts'));
SELECT misjudged(ARRAY['SELECT name FROM parts JOIN dates USING (k) JOIN items USING (item) WHERE year = 2000']);

--
-- Keys that are compared by calls of functions take longer to sort and to look up than integers
--
CREATE TABLE texts WITH (autovacuum_enabled = off) AS
SELECT i % 5000 AS number, lpad((i % 5000)::text, 8) COLLATE "C" AS word FROM generate_series(1, 20000) i;
CREATE INDEX ON texts USING rtscan (number, word);
CREATE TABLE words WITH (autovacuum_enabled = off) AS
SELECT i AS number, lpad(i::text, 8) COLLATE "C" AS word FROM generate_series(0, 4999) i;
VACUUM ANALYZE texts, words;
CREATE FUNCTION cost_of(query text) RETURNS float LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN plan -> 0 -> 'Plan' ->> 'Total Cost';
END
$$;
SELECT cost_of('SELECT count(*) FROM texts JOIN words USING (word)') /
	cost_of('SELECT count(*) FROM texts JOIN words USING (number)') > 3 AS dearer;

DROP SCHEMA star_planner CASCADE;
DROP ROLE rtscan_seller;
