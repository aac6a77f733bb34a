-- What the planner makes of stars: of indexes with very many columns, and how many rows it expects.

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

DROP SCHEMA star_planner CASCADE;
