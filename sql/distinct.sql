-- SELECT DISTINCT is GROUP BY all that is selected: the node RtscanAggregate answers it, with the rows that PostgreSQL
-- has.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA distinct_rows;
SET search_path = distinct_rows, public;

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/outcomes.psql
\i :directory/sql/include/plans.psql
\set ECHO all
CREATE COLLATION caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE e (
	id int, city text, code int, at timestamp, word text COLLATE caseless, n numeric, f float8, flag bool, filler text);
INSERT INTO e
SELECT i,
	CASE WHEN i % 50 > 0 THEN 'city ' || abs(hashint4(i)) % 40 END,
	abs(hashint4(i + 1)) % 12,
	'2024-03-30'::timestamp + i % 300 * interval '1 hour',
	(ARRAY['a', 'A', 'b', 'B'])[1 + i % 4],
	CASE i % 3 WHEN 0 THEN 1.0 WHEN 1 THEN 1.00 ELSE i % 7 END,
	CASE i % 3 WHEN 0 THEN '-0' WHEN 1 THEN 0 ELSE i % 5 END,
	CASE WHEN i % 3 > 0 THEN i % 2 = 0 END,
	'filler ' || i % 4
FROM generate_series(1, 4000) i;
CREATE INDEX e_idx ON e USING rtscan (id, city, code, at) INCLUDE (word, n, f, flag);
CREATE TABLE d (k int PRIMARY KEY, name text, kind int);
INSERT INTO d SELECT i, 'name ' || i / 3, i % 2 FROM generate_series(0, 9) i;
DELETE FROM e WHERE id % 13 = 0;
VACUUM ANALYZE e, d;
INSERT INTO e SELECT id + 10000, 'pending ' || id, code, at, word, n, f, flag FROM e WHERE id % 400 = 1;

-- Columns, expressions; conditions that the index looks up, and others
SELECT differs(format('SELECT DISTINCT %s FROM e%s', selected, condition))
FROM unnest(ARRAY['city', 'code, city', 'city, city', 'flag, code', 'lower(city)', 'code % 3, city IS NULL',
		'date_trunc(''day'', at)', 'at::date, 1', 'now() > at, code',
		'CASE WHEN code > 5 THEN city END', 'flag, flag IS NULL']) selected,
	unnest(ARRAY['', ' WHERE code < 4', ' WHERE id % 7 = 0', ' WHERE id < 0',
		' WHERE code = 3 AND id < 900']) condition;
-- Any of several values that are equal but look different may stand for all of them
SELECT differs(q) FROM unnest(ARRAY['SELECT lower(word COLLATE "C") FROM (SELECT DISTINCT word FROM e) q',
	'SELECT trim_scale(n) FROM (SELECT DISTINCT n FROM e) q', 'SELECT f + 0 FROM (SELECT DISTINCT f FROM e) q',
	'SELECT lower(word COLLATE "C"), code FROM (SELECT DISTINCT word, code FROM e WHERE code < 3) q',
	'SELECT DISTINCT word COLLATE "C" FROM e']) q;
-- A type that has no order
CREATE TABLE h (a int, x xid);
INSERT INTO h SELECT i, (i % 7)::text::xid FROM generate_series(1, 3000) i;
CREATE INDEX h_idx ON h USING rtscan (a) INCLUDE (x);
VACUUM ANALYZE h;
SELECT differs('SELECT DISTINCT x FROM h');
-- Above it an order, a limit, aggregates, a join; in subqueries, with rows of others for parameters
SELECT differs(q, n) FROM (VALUES
	('SELECT DISTINCT city FROM e ORDER BY city DESC NULLS LAST LIMIT 3', 1),
	('SELECT DISTINCT city, code FROM e ORDER BY code, city OFFSET 10 LIMIT 5', 1),
	('SELECT DISTINCT city FROM e ORDER BY city FETCH FIRST 2 ROWS WITH TIES', 1),
	('SELECT count(*), count(city) FROM (SELECT DISTINCT city, code FROM e) q', 1),
	('SELECT code, count(*) FROM (SELECT DISTINCT city, code FROM e) q GROUP BY code', 1),
	('SELECT * FROM d JOIN (SELECT DISTINCT code FROM e WHERE flag) q ON q.code = d.k', 1),
	('SELECT * FROM d WHERE k IN (SELECT DISTINCT code FROM e WHERE city = ''city 3'')', 1),
	('SELECT * FROM d WHERE k NOT IN (SELECT DISTINCT code FROM e WHERE id < 20)', 1),
	('SELECT k, ARRAY(SELECT DISTINCT flag FROM e WHERE code = d.k ORDER BY flag) FROM d', 1),
	('SELECT k, q.* FROM d, LATERAL (SELECT DISTINCT flag, k + code FROM e WHERE code = d.k) q', 1),
	('WITH q AS MATERIALIZED (SELECT DISTINCT city FROM e) SELECT * FROM q a, q b WHERE a.city < b.city', 1),
	('SELECT DISTINCT city FROM e UNION ALL SELECT DISTINCT name FROM d', 1),
	('SELECT DISTINCT code FROM (SELECT code, flag FROM e WHERE flag) q', 1),
	('SELECT * FROM e WHERE EXISTS (SELECT DISTINCT k FROM d WHERE k = code) AND id < 9', 0)) q (q, n);
-- Stars
SELECT differs(q) FROM unnest(ARRAY['SELECT DISTINCT name, city FROM e JOIN d ON k = code',
	'SELECT DISTINCT name FROM e LEFT JOIN d ON k = code WHERE id % 2 = 0',
	'SELECT DISTINCT city FROM e WHERE code IN (SELECT k FROM d WHERE kind = 1)',
	'SELECT DISTINCT name, a.kind FROM e JOIN (SELECT k, name, kind + 1 AS kind FROM d) a ON k = code WHERE flag']) q;
-- Queries that are not like GROUP BY: the first row of each, volatile functions, functions that return several rows,
-- groups and windows, nothing but a constant
SELECT differs(q, n) FROM (VALUES
	('SELECT DISTINCT ON (city) city, id FROM e ORDER BY city, id', 0),
	('SELECT DISTINCT city, random() < 2 FROM e', 0),
	('SELECT DISTINCT city, (SELECT random() < 2 OR e.code > 3) FROM e', 0),
	('SELECT DISTINCT code, generate_series(1, code % 3) FROM e', 0),
	('SELECT DISTINCT count(*) FROM e GROUP BY city', 1),
	('SELECT DISTINCT city FROM e GROUP BY city, code', 1),
	('SELECT DISTINCT code, rank() OVER (ORDER BY code) FROM e', 0),
	('SELECT DISTINCT 1 FROM e', 0),
	('SELECT DISTINCT filler, city FROM e', 0),
	('SELECT DISTINCT e FROM e', 0),
	('SELECT DISTINCT city FROM (SELECT city FROM e ORDER BY id LIMIT 500) q', 0),
	('SELECT DISTINCT name FROM d', 0)) q (q, n);
SELECT count(*) FROM (SELECT DISTINCT code, (SELECT d.name FROM d WHERE k = e.code) FROM e) q;

-- Partitions, each on its own
CREATE TABLE p (id int, city text, code int) PARTITION BY RANGE (id);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (MINVALUE) TO (1000);
CREATE TABLE p2 (code int, filler text, id int, city text);
ALTER TABLE p2 DROP filler;
ALTER TABLE p ATTACH PARTITION p2 FOR VALUES FROM (1000) TO (MAXVALUE);
INSERT INTO p SELECT id, city, code FROM e;
CREATE INDEX p_idx ON p USING rtscan (id, city, code);
VACUUM ANALYZE p;
SELECT differs(q, n) FROM (VALUES
	('SELECT DISTINCT city, code % 2 FROM p', 2),
	('SELECT DISTINCT city FROM p WHERE id < 500', 1),
	('SELECT DISTINCT name FROM p JOIN d ON k = code', 2)) q (q, n);
SELECT explained('SELECT DISTINCT city FROM p WHERE code < 5 ORDER BY city', 'VERBOSE, COSTS OFF');

-- count(DISTINCT x) of values that are not collected as integers counts groups of x
SELECT differs(format('SELECT %s FROM e%s', selected, condition))
FROM unnest(ARRAY['count(DISTINCT city)', 'count(DISTINCT word), count(DISTINCT word), count(word)',
		'count(DISTINCT n) FILTER (WHERE code < 5), sum(n), max(city)',
		'count(DISTINCT lower(city)) + 1, count(*), avg(code)', 'count(DISTINCT city), count(DISTINCT code)',
		'sum(id) FILTER (WHERE flag), count(DISTINCT nullif(word, ''a''))']) selected,
	unnest(ARRAY['', ' WHERE code < 4', ' WHERE id % 7 = 0', ' WHERE id < 0', ' WHERE city IS NULL']) condition;
SELECT differs(format('SELECT %s, %s FROM e%s', keys, selected, rest))
FROM unnest(ARRAY['code', 'flag, code', 'date_trunc(''day'', at)']) keys,
	unnest(ARRAY['count(DISTINCT city)', 'count(DISTINCT n), sum(id), count(city)',
		'count(DISTINCT word) FILTER (WHERE id % 3 = 0), count(*) FILTER (WHERE flag)']) selected,
	LATERAL unnest(ARRAY['', ' WHERE id % 5 < 3']) condition,
	LATERAL unnest(ARRAY[condition || ' GROUP BY ' || keys,
		condition || ' GROUP BY ' || keys || ' HAVING count(*) > 100']) rest;
SET work_mem = '64kB';
SELECT differs('SELECT count(DISTINCT city || id) FROM e');
SELECT differs('SELECT code, count(DISTINCT city || id), sum(id) FROM e GROUP BY code');
SELECT differs('SELECT id / 2, count(DISTINCT city) FROM e GROUP BY 1');
RESET work_mem;
SELECT differs(q, n) FROM (VALUES
	('SELECT count(DISTINCT city), count(DISTINCT word) FROM e', 0),
	('SELECT code, city, count(DISTINCT city) FROM e GROUP BY code, city', 0),
	('SELECT code, count(DISTINCT city) FROM e GROUP BY ROLLUP (code)', 0),
	('SELECT count(DISTINCT (city, code)) FROM e', NULL),
	('SELECT count(DISTINCT city || random()::text) > 5 FROM e', 0),
	('SELECT count(DISTINCT city ORDER BY city) FROM e', 0),
	('SELECT kind, count(DISTINCT city), count(DISTINCT name) FROM e JOIN d ON k = code GROUP BY kind', 0),
	('SELECT kind, count(DISTINCT city), sum(id) FROM e JOIN d ON k = code GROUP BY kind', 1),
	('SELECT kind, count(DISTINCT name) FROM e JOIN d ON k = code GROUP BY kind', 1),
	('SELECT k, (SELECT count(DISTINCT city) FROM e WHERE code = k) FROM d', 1)) q (q, n);
SELECT explained('SELECT code, count(DISTINCT city), sum(id) FROM e GROUP BY code HAVING count(DISTINCT city) > 2',
	'VERBOSE, COSTS OFF');
SELECT explained('SELECT count(DISTINCT lower(city)) FROM e');

-- Several processes
ALTER TABLE e SET (parallel_workers = 2);
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET rtscan.enable_scan = off;
INSERT INTO e SELECT i, 'city ' || i % 100, i % 12 FROM generate_series(20001, 150000) i;
VACUUM ANALYZE e;
SELECT plan_text('SELECT DISTINCT id / 2 FROM e WHERE city <> ''city 7'' AND code + id > 0')
	~ 'HashAggregate\n.*Gather\n.*RtscanAggregate' AS shared;
SELECT explained('SELECT DISTINCT city, code FROM e', 'VERBOSE, COSTS OFF');
SELECT count(*), sum(half) FROM (SELECT DISTINCT id / 2 AS half FROM e WHERE city <> 'city 7' AND code + id > 0) q;
SET max_parallel_workers_per_gather = 0;
SET rtscan.enable_aggregate = off;
RESET enable_seqscan;
SELECT count(*), sum(half) FROM (SELECT DISTINCT id / 2 AS half FROM e WHERE city <> 'city 7' AND code + id > 0) q;
DROP SCHEMA distinct_rows CASCADE;
