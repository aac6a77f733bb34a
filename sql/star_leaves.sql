-- Stars whose fact has partitions or children, at several levels and with columns in other places: each leaf is a star
-- of its own.

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA star_leaves;
SET search_path = star_leaves, public;
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
CREATE TABLE fact (id int, a int, b int, o int, v int, g int, t text) PARTITION BY RANGE (o);
CREATE TABLE fact_1 PARTITION OF fact FOR VALUES FROM (0) TO (100);
CREATE TABLE fact_2 PARTITION OF fact FOR VALUES FROM (100) TO (200) PARTITION BY LIST (g);
CREATE TABLE fact_2a (g int, was int, t text, v int, o int, b int, id int, a int);
ALTER TABLE fact_2a DROP COLUMN was;
ALTER TABLE fact_2 ATTACH PARTITION fact_2a FOR VALUES IN (0, 1);
CREATE TABLE fact_2b PARTITION OF fact_2 DEFAULT;
CREATE TABLE fact_3 PARTITION OF fact FOR VALUES FROM (200) TO (300);
CREATE TABLE fact_4 PARTITION OF fact DEFAULT;
INSERT INTO fact SELECT i, nullif(abs(hashint4(i)) % 100, 7), abs(hashint4(-i)) % 200, i * 31 % 300, i % 1000,
	nullif(i % 5, 4), 'text ' || i % 3 FROM generate_series(1, 20000) i;
CREATE INDEX ON fact USING rtscan (a, b, o) INCLUDE (id, v, g, t);
CREATE TABLE one (k int PRIMARY KEY, c int, name text);
INSERT INTO one SELECT i, nullif(i % 7, 3), 'name ' || i % 5 FROM generate_series(-5, 90) i;
CREATE TABLE two (k int PRIMARY KEY, k2 int UNIQUE, d int);
INSERT INTO two SELECT i, i, i % 13 FROM generate_series(0, 180) i;
CREATE TABLE days (k int PRIMARY KEY, month int);
INSERT INTO days SELECT i, i / 30 FROM generate_series(0, 299) i;
CREATE TABLE again (k int, e int);
INSERT INTO again SELECT nullif(i % 40, 13), i % 3 FROM generate_series(1, 100) i;
VACUUM ANALYZE fact, one, two, days, again;
-- pending rows, dead ones, rows that are not all-visible
INSERT INTO fact SELECT i, i % 100, i % 200, i % 300, i, i % 4, 'new' FROM generate_series(20001, 21000) i;
DELETE FROM fact WHERE id % 17 = 0;

EXPLAIN (COSTS OFF) SELECT c, sum(v) FROM fact JOIN one ON a = k WHERE o < 250 GROUP BY c;
EXPLAIN (COSTS OFF) SELECT id, name FROM fact LEFT JOIN one ON a = k WHERE o IN (50, 150) AND g = 1;
SELECT differs(format(query, shown), NULL)
FROM unnest(ARRAY['SELECT %s FROM fact JOIN one ON a = one.k',
	'SELECT %s FROM one JOIN fact ON one.k = a AND name < ''name 3''', 'SELECT %s FROM fact LEFT JOIN one ON a = one.k',
	'SELECT %s FROM fact LEFT JOIN one ON a = one.k AND c > 2 WHERE c IS NULL OR v < 100',
	'SELECT %s FROM fact JOIN one ON a = one.k JOIN two ON b = two.k JOIN days ON o = days.k WHERE month > 2 AND d < 5',
	'SELECT %s FROM fact JOIN one ON a = one.k LEFT JOIN two ON b = two.k AND d <> 4',
	'SELECT %s FROM fact JOIN one ON a = one.k JOIN two ON two.k = one.k WHERE b < 150',
	'SELECT %s FROM fact JOIN two ON a = k2 JOIN one ON one.k = two.k',
	'SELECT %s FROM fact JOIN again ON a = again.k JOIN one ON one.k = a',
	'SELECT %s FROM fact JOIN one ON a = one.k AND c = g',
	'SELECT %s FROM fact JOIN one ON a = one.k WHERE c + g > 4',
	'SELECT %s FROM fact JOIN one ON a = one.k WHERE b IN (SELECT k FROM two WHERE d < 3)',
	'SELECT %s FROM fact JOIN one ON a = one.k WHERE NOT EXISTS (SELECT FROM two WHERE k = b AND d < 3)',
	'SELECT %s FROM fact JOIN one ON a = one.k WHERE b NOT IN (SELECT k FROM two WHERE d < 3)',
	'SELECT %s FROM fact JOIN one ON a = one.k WHERE o = 7',
	'SELECT %s FROM fact JOIN one ON a = one.k WHERE o = 7 AND o = 8',
	'SELECT %s FROM fact JOIN one ON a = one.k WHERE a = 13',
	'SELECT %s FROM fact JOIN (SELECT * FROM one ORDER BY c, k LIMIT 20) one ON a = one.k',
	'SELECT %s FROM fact JOIN one ON a = one.k JOIN (SELECT id AS i FROM fact_3) third ON i = id',
	'SELECT %s FROM fact JOIN one ON a = one.k WHERE fact.v < (SELECT avg(d) FROM two WHERE two.k > c)']) query,
	unnest(ARRAY['count(*), sum(v), max(name)', 'id, v, c, name', 'fact.tableoid::regclass, id, name',
	'fact, one']) shown;
SELECT differs(format('SELECT %s FROM fact JOIN one ON a = k JOIN days ON o = days.k GROUP BY %1$s', key), 5)
FROM unnest(ARRAY['c', 'name, month', 'g', 'c, g, t', 'c + g', 'v % 10, month']) key;
SELECT differs('SELECT c, count(*), sum(v), avg(v), min(t) FROM fact JOIN one ON a = k
	GROUP BY c HAVING sum(v) > 1000', 5);
SELECT differs('SELECT id, name FROM (SELECT * FROM fact WHERE v > 3) fact JOIN one ON a = one.k', 5);
SELECT differs('SELECT count(*) FROM fact WHERE a IN (SELECT k FROM again)', 5);
SELECT differs('SELECT id FROM fact WHERE a IN (SELECT k FROM again)', 5);
SELECT differs('SELECT id FROM fact WHERE NOT EXISTS (SELECT FROM again WHERE k = a)', 5);
-- a key that equals another dimension's key
SELECT differs('SELECT sum(v), count(d) FROM one JOIN two ON one.k = two.k JOIN fact ON a = one.k', 5);
-- no second half of these
SELECT differs('SELECT c, name, sum(v) FROM fact JOIN one ON a = k GROUP BY ROLLUP (c, name)', NULL);
SELECT differs('SELECT c, percentile_disc(0.5) WITHIN GROUP (ORDER BY v), count(DISTINCT g) FROM fact
	JOIN one ON a = k GROUP BY c', NULL);
-- once for each outer row, with parameters that leave partitions out
SELECT differs('SELECT n, l.* FROM generate_series(0, 320, 40) n,
	LATERAL (SELECT ' || shown || ' FROM fact LEFT JOIN one ON a = k WHERE o = n OFFSET 0) l', NULL)
FROM unnest('{"sum(v), count(name)","v, name"}'::text[]) shown;
SET plan_cache_mode = force_generic_plan;
PREPARE of_day(int) AS
	SELECT count(*), sum(v), count(name) FROM fact LEFT JOIN one ON a = k WHERE o = $1;
EXPLAIN (COSTS OFF) EXECUTE of_day(150);
EXECUTE of_day(150);
PREPARE rows_of_day(int) AS
	SELECT id, name FROM fact JOIN one ON a = k WHERE o = $1 AND b < 50 AND c < 3;
EXPLAIN (COSTS OFF) EXECUTE rows_of_day(20);
EXECUTE rows_of_day(20);
RESET plan_cache_mode;
-- leaves have dimensions in common: each is executed once, also where it comes in ranges, for all of which each leaf is
-- searched; but not where parameters change it
SELECT trim(line) FROM explained('SELECT c, sum(v) FROM fact JOIN one ON a = k WHERE o < 200 GROUP BY c',
	'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF') line WHERE line ~ 'Relation|keys|Seq Scan';
CREATE TABLE many (k int, e int);
INSERT INTO many SELECT i, i % 5 FROM generate_series(-9000, 200) i;
CREATE UNIQUE INDEX ON many (k);
ANALYZE many;
SET work_mem = '64kB';
SELECT differs(query, 5)
FROM unnest(ARRAY['SELECT e, sum(v), count(*) FROM fact JOIN many ON b = k AND k % 1 = 0 GROUP BY e',
	'SELECT id, e FROM fact JOIN many ON b = k AND k % 1 = 0 WHERE o BETWEEN 50 AND 250 OR v = 3',
	'SELECT count(*), count(e) FROM fact LEFT JOIN many ON b = k AND k % 1 = 0']) query;
SELECT substring(line, 'ranges=\d+') FROM explained('SELECT e, sum(v) FROM fact JOIN many ON b = k AND k % 1 = 0
	GROUP BY e', 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF') line WHERE line ~ 'ranges';
RESET work_mem;
SELECT differs('SELECT n, l.* FROM generate_series(0, 3) n,
	LATERAL (SELECT ' || shown || ' FROM fact JOIN one ON a = k AND c = n WHERE b < 20 OFFSET 0) l', NULL)
FROM unnest('{"sum(v), count(name)","v, name"}'::text[]) shown;
SELECT differs('SELECT (SELECT sum(v) FROM fact JOIN one ON a = k WHERE c <> n AND o < n * 50)
	FROM generate_series(0, 3) n', NULL);
SELECT differs('SELECT n, count(*) FROM generate_series(0, 3) n,
	LATERAL (SELECT id, name FROM fact JOIN one ON a = k WHERE b <> n LIMIT 20 + n) l GROUP BY n', NULL);
SELECT differs('SELECT sum(v) FROM fact JOIN one ON a = k AND c < (SELECT max(d) - 8 FROM two)', 5);
-- twice in a query
SELECT differs('SELECT * FROM (SELECT c, sum(v) FROM fact JOIN one ON a = k GROUP BY c) x FULL JOIN
	(SELECT c, count(*) FROM fact JOIN one ON a = k WHERE b < 100 GROUP BY c) y USING (c)', NULL);
SELECT differs('SELECT sum(v) FROM fact JOIN one ON a = k UNION ALL SELECT sum(b) FROM fact JOIN one ON a = k', 10);
-- a cursor, in both directions
BEGIN;
DECLARE rows SCROLL CURSOR FOR SELECT id, name FROM fact JOIN one ON a = k WHERE b = 3 AND c = 1 ORDER BY id;
FETCH 2 FROM rows;
FETCH BACKWARD 1 FROM rows;
COMMIT;
-- rows that are changed or locked are not a star's
SELECT differs('SELECT id FROM fact JOIN one ON a = k WHERE b = 3 FOR UPDATE OF fact', 0);
BEGIN;
UPDATE fact SET v = -1 FROM one WHERE a = k AND c = 1;
SELECT count(*) FROM fact WHERE v = -1;
ROLLBACK;

-- several processes
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET min_parallel_index_scan_size = 0;
SET parallel_leader_participation = off;
EXPLAIN (COSTS OFF) SELECT c, sum(v) FROM fact JOIN one ON a = k WHERE o BETWEEN 90 AND 210 AND g < 2 GROUP BY c;
SELECT differs('SELECT c, sum(v), count(*) FROM fact JOIN one ON a = k GROUP BY c', 5);
SELECT differs('SELECT id, name FROM fact JOIN one ON a = k WHERE b < 100', 5);
RESET max_parallel_workers_per_gather;
RESET parallel_leader_participation;
-- both sides have partitions
CREATE TABLE parted (k int, p int) PARTITION BY RANGE (k);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (100);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (100) TO (300);
INSERT INTO parted SELECT i, i % 9 FROM generate_series(0, 299) i;
CREATE UNIQUE INDEX ON parted (k);
ANALYZE parted;
SELECT differs('SELECT p, sum(v) FROM fact JOIN parted ON o = k GROUP BY p', 5);
CREATE TABLE like_parted (id int, k int, a int) PARTITION BY RANGE (k);
CREATE TABLE like_parted_1 PARTITION OF like_parted FOR VALUES FROM (0) TO (100);
CREATE TABLE like_parted_2 PARTITION OF like_parted FOR VALUES FROM (100) TO (300);
INSERT INTO like_parted SELECT i, i % 300, i % 70 FROM generate_series(1, 3000) i;
CREATE INDEX ON like_parted USING rtscan (k, a) INCLUDE (id);
VACUUM ANALYZE like_parted;
SET enable_partitionwise_join = on;
SET enable_partitionwise_aggregate = on;
SELECT differs(query, NULL)
FROM unnest(ARRAY['SELECT p, sum(id) FROM like_parted JOIN parted USING (k) GROUP BY p',
	'SELECT k, p, count(*) FROM like_parted JOIN parted USING (k) GROUP BY k, p',
	'SELECT id, p, name FROM like_parted l JOIN parted USING (k) JOIN one ON l.a = one.k',
	'SELECT p.k, name, count(*) FROM like_parted l JOIN parted p USING (k) JOIN one ON l.a = one.k
	GROUP BY p.k, name']) query;
RESET enable_partitionwise_join;
RESET enable_partitionwise_aggregate;

-- subqueries that are planned on their own have a plan for each leaf, with processes or without
SELECT differs('SELECT c, sum(v) FROM fact JOIN (SELECT c, max(k) AS k FROM one GROUP BY c) d ON a = k GROUP BY c', 5);
SET max_parallel_workers_per_gather = 0;
EXPLAIN (COSTS OFF) SELECT sum(v) FROM fact JOIN (SELECT c, max(k) AS k FROM one GROUP BY c) d ON a = k WHERE o < 150;
SELECT differs(format(query, shown), 5)
FROM unnest(ARRAY['SELECT %s FROM fact JOIN (SELECT c, max(k) AS k FROM one GROUP BY c) d ON a = k',
	'SELECT %s FROM fact JOIN (SELECT c, k FROM one ORDER BY c, k LIMIT 20) d ON a = k',
	'SELECT %s FROM fact LEFT JOIN (SELECT DISTINCT ON (c) c, k FROM one ORDER BY c, k DESC) d ON a = k',
	'SELECT %s FROM fact JOIN (SELECT k, rank() OVER (ORDER BY name) AS c FROM one) d ON a = k WHERE c < 40',
	'SELECT %s FROM fact JOIN (SELECT k, min(e) AS c FROM again GROUP BY k HAVING count(*) > 2) d ON a = k',
	'SELECT %s FROM fact JOIN (SELECT k, c FROM one UNION SELECT k, d FROM two WHERE d = 99) d ON a = k',
	'SELECT %s FROM fact JOIN (SELECT k, c FROM one EXCEPT SELECT k, d FROM two) d ON a = k',
	'SELECT %s FROM fact JOIN (SELECT max(k) AS k, c FROM (SELECT k, c FROM one ORDER BY k LIMIT 30) l
		GROUP BY c) d ON a = k',
	'SELECT %s FROM fact JOIN (SELECT k, max((SELECT count(*) FROM again WHERE again.k = one.k)) AS c FROM one
		GROUP BY k) d ON a = k',
	'SELECT %s FROM fact JOIN (SELECT k, min(c) AS c FROM one WHERE k > (SELECT min(d) + 3 FROM two) GROUP BY k) d
		ON a = k',
	'SELECT %s FROM fact JOIN (WITH w AS MATERIALIZED (SELECT k, c FROM one) SELECT k, max(c) AS c FROM w
		WHERE k > (SELECT min(k) FROM w) GROUP BY k) d ON a = k',
	'SELECT %s FROM fact JOIN (SELECT s.k, name, s.c FROM (SELECT max(k) AS k, c FROM one GROUP BY c) s
		JOIN one ON s.k = one.k) d ON a = k',
	'SELECT %s FROM fact, (SELECT NULL::int AS c) n WHERE a IN (SELECT max(k) FROM again GROUP BY e)']) query,
	unnest(ARRAY['count(*), sum(v), sum(c)', 'id, v, c']) shown;
-- (that has a star itself)
SELECT differs('SELECT id, v, c FROM fact JOIN (SELECT two.k, sum(fact_1.v) AS c FROM fact_1 JOIN two ON b = two.k
	GROUP BY two.k) d ON a = d.k', 10);
PREPARE of_subquery(int) AS
	SELECT count(*), sum(v) FROM fact JOIN (SELECT c, max(k) AS k FROM one WHERE k < $1 GROUP BY c) d ON a = k;
SET plan_cache_mode = force_generic_plan;
EXECUTE of_subquery(50);
EXECUTE of_subquery(20);
RESET plan_cache_mode;
-- a subquery returns the same rows for all leaves: it is executed once, or there is no star
SELECT count(DISTINCT a)
FROM fact JOIN (SELECT (random() * 40 + (SELECT min(d) FROM two))::int AS k OFFSET 0) d ON a = k;
SELECT max(c) FROM generate_series(1, 3) n, LATERAL (SELECT count(DISTINCT a) AS c FROM fact
	JOIN (SELECT (random() * 40 + n)::int AS k OFFSET 0) d ON a = k) l;
SELECT differs(query, 0) FROM unnest(ARRAY[
	'SELECT count(*) > 0 FROM fact JOIN one ON a = k AND random() < 2',
	'SELECT count(*) > 0 FROM fact JOIN one TABLESAMPLE BERNOULLI (100) ON a = k',
	'SELECT count(*) > 0 FROM fact JOIN (SELECT k FROM one TABLESAMPLE BERNOULLI (100) LIMIT 50) d ON a = k']) query;
SELECT trim(line) FROM explained('SELECT sum(v) FROM fact JOIN (SELECT c, max(k) AS k FROM one
	WHERE k > (SELECT min(d) FROM two) GROUP BY c) d ON a = k', 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF') line
WHERE line ~ 'on one';
SELECT differs('SELECT n, l.* FROM generate_series(0, 3) n, LATERAL (SELECT sum(v), count(c) FROM fact
	JOIN (SELECT c, max(k) AS k FROM one WHERE k > n * 20 GROUP BY c) d ON a = k) l', NULL);
-- but what has one plan only: with partitions, with row locks, with a maximum from an index; and a working table
CREATE INDEX ON parted (p);
SELECT differs(query, 0) FROM unnest(ARRAY[
	'SELECT sum(v) FROM fact JOIN (SELECT k FROM parted ORDER BY k LIMIT 20) d ON a = k',
	'SELECT sum(v) FROM fact JOIN (SELECT k FROM one FOR SHARE) d ON a = k',
	'SELECT sum(v) FROM fact JOIN (SELECT max(k) AS k FROM one) d ON a = k',
	'SELECT sum(v) FROM fact JOIN (SELECT max(k) AS k FROM one GROUP BY ()) d ON a = k',
	'SELECT sum(v) FROM fact JOIN (SELECT k, max(c) AS c FROM one GROUP BY ROLLUP (k, name)) d ON a = k',
	'SELECT id FROM fact JOIN (SELECT p, max(k) AS k FROM (SELECT * FROM parted LIMIT 200) x GROUP BY p) d
		ON a = k']) query;
SELECT differs('WITH RECURSIVE r (k, n) AS (SELECT 1, 0 UNION ALL SELECT b, n + 1 FROM r JOIN fact ON a = k WHERE n < 1)
	SELECT k, n FROM r', 0);
SELECT differs('WITH d AS MATERIALIZED (SELECT k, c FROM one WHERE c > 2) SELECT c, sum(v) FROM fact JOIN d ON a = k
	GROUP BY c', 5);
-- an outer join that is none in the end leaves placeholders, which an Append has computed
SELECT differs('SELECT max(d.p), count(*) FROM two LEFT JOIN (' || fact || ' JOIN
	(SELECT k, coalesce(p, 3) AS p FROM parted) d ON a = d.k) ON two.k = b WHERE d.p > 5', NULL)
FROM unnest('{fact,fact_3}'::text[]) fact;

-- rows of the heap with columns of both sides: each leaf returns those that meet any, and PostgreSQL joins them
ALTER TABLE fact ADD COLUMN more text DEFAULT 'more';
UPDATE fact SET more = 'more ' || id WHERE id % 3 = 0;
SET enable_hashjoin = on;
EXPLAIN (COSTS OFF) SELECT more, name FROM fact JOIN one ON a = k WHERE c = 5 AND name < 'name 2';
EXPLAIN (COSTS OFF) SELECT more, k FROM one LEFT JOIN fact ON a = k AND o IN (50, 150) WHERE c = 5;
SELECT differs(query, NULL)
FROM unnest(ARRAY[$$SELECT id, more, name FROM fact JOIN one ON a = k WHERE c = 5 AND name < 'name 2'$$,
	$$SELECT id, more, name FROM one LEFT JOIN fact ON a = k WHERE c = 5$$,
	$$SELECT id, more, e FROM fact JOIN again ON a = k AND e = 1 WHERE k < 5$$,
	$$SELECT k, name FROM one WHERE c = 5 AND NOT EXISTS (SELECT FROM fact WHERE a = k AND more > 'more 3')$$,
	$$SELECT k, name FROM one WHERE c = 5 AND EXISTS (SELECT FROM fact WHERE a = k AND more > 'more 3')$$]) query;
SET enable_hashjoin = off;

-- a partition without an index, which may be left out
CREATE TABLE bare (id int, a int, v int) PARTITION BY LIST (a);
CREATE TABLE bare_1 PARTITION OF bare FOR VALUES IN (1, 2, 3);
CREATE TABLE bare_2 PARTITION OF bare DEFAULT;
INSERT INTO bare SELECT i, i % 10, i FROM generate_series(1, 1000) i;
CREATE INDEX ON bare_1 USING rtscan (a) INCLUDE (v);
VACUUM ANALYZE bare;
SELECT differs('SELECT c, sum(v) FROM bare JOIN one ON a = k GROUP BY c', 0);
SELECT differs('SELECT c, sum(v) FROM bare JOIN one ON a = k WHERE a < 4 AND a > 0 GROUP BY c', NULL);
SELECT differs('SELECT c, sum(v) FROM bare JOIN one ON a = k WHERE a IN (1, 2) GROUP BY c', 1);

-- children, of which the parent is one
CREATE TABLE parent (id int, a int, v int);
CREATE TABLE child (more int) INHERITS (parent);
INSERT INTO parent SELECT i, i % 100, i FROM generate_series(1, 3000) i;
INSERT INTO child SELECT i, i % 100, i, -i FROM generate_series(3001, 5000) i;
CREATE INDEX ON parent USING rtscan (a) INCLUDE (v, id);
CREATE INDEX ON child USING rtscan (a) INCLUDE (v, id);
VACUUM ANALYZE parent, child;
SELECT differs('SELECT c, sum(v) FROM parent JOIN one ON a = k GROUP BY c', 2);
SELECT differs('SELECT id, name FROM parent LEFT JOIN one ON a = k WHERE v % 7 = 1', 2);
SELECT differs('SELECT id, name FROM ONLY parent JOIN one ON a = k', 1);

-- privileges and policies
CREATE ROLE star_leaves_reader;
GRANT USAGE ON SCHEMA star_leaves TO star_leaves_reader;
GRANT SELECT ON fact, one TO star_leaves_reader;
ALTER TABLE fact ENABLE ROW LEVEL SECURITY;
CREATE POLICY even ON fact USING (v % 2 = 0);
SET ROLE star_leaves_reader;
EXPLAIN (COSTS OFF) SELECT count(*), sum(v % 2) FROM fact JOIN one ON a = k WHERE o < 50;
SELECT count(*) > 0, sum(v % 2) FROM fact JOIN one ON a = k;
RESET ROLE;

DROP SCHEMA star_leaves CASCADE;
DROP ROLE star_leaves_reader;
