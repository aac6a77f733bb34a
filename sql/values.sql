-- Aggregates of values, computed by the index: the same as PostgreSQL's own, to the last digit.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA "values";
SET search_path = "values", public;
SET max_parallel_workers_per_gather = 0;
SET rtscan.enable_scan = off; -- this is about aggregates

CREATE FUNCTION hash(i int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT abs(hashint4($1))';

-- The result of a query by PostgreSQL's own aggregates, and whether the node's is the same.
CREATE FUNCTION compare(query text, OUT node boolean, OUT same boolean, OUT result text) LANGUAGE plpgsql AS $$
DECLARE
	line text;
	by_index text;
BEGIN
	SET LOCAL enable_seqscan = off;
	SET LOCAL enable_bitmapscan = off;
	node := false;
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		node := node OR line LIKE '%RtscanAggregate%';
	END LOOP;
	EXECUTE 'SELECT q::text FROM (' || query || ') AS q' INTO by_index;
	SET LOCAL rtscan.enable_aggregate = off;
	SET LOCAL enable_seqscan = on;
	EXECUTE 'SELECT q::text FROM (' || query || ') AS q' INTO result;
	same := by_index IS NOT DISTINCT FROM result;
	RESET rtscan.enable_aggregate;
	RESET enable_seqscan;
	RESET enable_bitmapscan;
END $$;

--
-- Integers: columns in heap order, of few values, with NULLs, of extreme values
--
CREATE TABLE t (ordered int, small smallint, middle int, large bigint, flag boolean);
CREATE INDEX t_all ON t USING rtscan (ordered, small, middle, large, flag);
CREATE TABLE question (condition text);
INSERT INTO question VALUES ('true'), ('ordered < 100'), ('middle < 5000'), ('flag'), ('NOT flag OR small IS NULL'),
	('small IS NULL'), ('large > 0 AND middle BETWEEN 10 AND 9000 AND small <> 3'), ('ordered = 77'), ('ordered < 0'),
	('ordered IN (5, 50, 500) OR middle = 7');
CREATE FUNCTION all_questions() RETURNS TABLE (node boolean, same boolean, conditions bigint) LANGUAGE sql AS $$
	SELECT node, same, count(*) FROM question, compare(
		'SELECT count(*), count(small), sum(ordered), sum(small), sum(middle), sum(large),
			avg(ordered), avg(small), avg(middle), avg(large),
			min(ordered), max(ordered), min(small), max(small), min(middle), max(middle), min(large), max(large),
			sum(small) FILTER (WHERE flag), max(middle) FILTER (WHERE small < 0 OR flag IS NULL),
			min(large) FILTER (WHERE large > 0)
		FROM t WHERE ' || condition) GROUP BY node, same
$$;
SELECT * FROM all_questions();
INSERT INTO t VALUES (1, NULL, NULL, NULL, NULL);
SELECT * FROM all_questions();
TRUNCATE t;
INSERT INTO t SELECT i, CASE WHEN i % 7 > 0 THEN hash(i) % 40 - 20 END, hash(i + 1000000) % 10000 - 3,
		(hash(i + 2000000)::bigint << 30) * (1 - hash(i) % 2 * 2), hash(i + 3000000) % 3 = 0
	FROM generate_series(1, 140000) i;
SELECT * FROM all_questions(); -- pending rows and segments
REINDEX INDEX t_all;
SELECT * FROM all_questions();
VACUUM t;
SELECT * FROM all_questions();
UPDATE t SET small = small + 1, middle = -middle WHERE ordered % 1000 < 20;
DELETE FROM t WHERE ordered BETWEEN 64000 AND 65000 OR ordered > 139990;
INSERT INTO t VALUES
	(0, -32768, -2147483648, -9223372036854775808, true), (0, 32767, 2147483647, 9223372036854775807, false),
	(NULL, NULL, NULL, NULL, NULL), (0, 32767, 2147483647, 9223372036854775807, false);
SELECT * FROM all_questions();
VACUUM t;
SELECT * FROM all_questions();
BEGIN;
DELETE FROM t WHERE middle < 0;
SAVEPOINT s;
INSERT INTO t SELECT 1, 1, 1, 1, true FROM generate_series(1, 3000);
SELECT * FROM all_questions();
ROLLBACK TO s;
SELECT * FROM all_questions();
ROLLBACK;
SELECT * FROM all_questions();

-- a column in heap order: rows that are far from each other, and some that are near
CREATE TABLE far AS
SELECT CASE WHEN i < 149000 THEN i / 3 - 40 END AS o, hash(i) AS h FROM generate_series(1, 150000) i;
CREATE INDEX ON far USING rtscan (o, h);
VACUUM ANALYZE far;
SELECT node, same, count(*)
FROM unnest(ARRAY[1, 17, 150, 1200, 40000]) n,
	unnest(ARRAY['h %% %s = 0', 'h %% %s = 0 AND o > 20000',
		'h < 1000000000 AND h %% %s = 0 OR o BETWEEN 700 AND 703',
		'(o < 2 OR o > 49620 OR o IS NULL) AND h %% %s >= 0', 'o %% %s = 7', 'h < 2000000000 / %s']) condition,
	compare('SELECT count(*), count(o), sum(o), min(o + 1), max(-o), sum(o::bigint * h) FROM far WHERE ' ||
		format(condition, n))
GROUP BY node, same;
SELECT node, same
FROM compare('SELECT string_agg(o || '' '' || c, '', '')
	FROM (SELECT o, count(*) AS c FROM far WHERE h < 10000000 GROUP BY o ORDER BY o) f');
DROP TABLE far;

-- FILTER whose argument would fail is not asked where there are no rows
PREPARE filtered (int) AS SELECT count(*) FILTER (WHERE ordered > 100 / $1) FROM t WHERE ordered < -5;
SET plan_cache_mode = force_generic_plan;
EXECUTE filtered(0);
RESET plan_cache_mode;
SELECT * FROM compare('
	SELECT count(*) FILTER (WHERE ordered > (SELECT 1 / (count(*) - 1) FROM (VALUES (1)) v))
	FROM t
	WHERE ordered < -5');
SELECT * FROM compare('SELECT count(*) FILTER (WHERE ordered > (SELECT 30)) FROM t WHERE ordered < 55');

-- the planner knows that there are no rows
SELECT * FROM compare('SELECT count(*) FROM t WHERE false');
SELECT * FROM compare('SELECT count(*), sum(ordered) FROM t WHERE ordered < NULL AND middle > 5 HAVING count(*) > 0');

-- a partial index answers its own predicate
CREATE INDEX t_partial ON t USING rtscan (middle) WHERE large > 0 AND ordered IS NOT NULL;
DROP INDEX t_all;
SELECT node, same
FROM compare('SELECT count(*), sum(middle) FROM t WHERE large > 0 AND ordered IS NOT NULL AND middle < 1000');
SELECT node, same FROM compare('SELECT count(*), sum(middle) FROM t WHERE large > 0 AND middle < 1000');
SELECT node, same
FROM compare('
	SELECT count(*), sum(middle) FROM t WHERE large > 0 AND ordered IS NOT NULL AND middle < 1000 AND small > 0');

-- sums beyond 64 bits
CREATE TABLE huge AS
	SELECT CASE WHEN i % 3 = 0 THEN -9223372036854775808 ELSE 9223372036854775807 - i END AS v
	FROM generate_series(1, 1000) i;
CREATE INDEX ON huge USING rtscan (v);
VACUUM huge;
SELECT * FROM compare('SELECT sum(v), avg(v), min(v), max(v) FROM huge');
SELECT * FROM compare('SELECT sum(v), avg(v) FROM huge WHERE v < 0');

--
-- Minima and maxima of other types
--
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE types (t text COLLATE "C", v varchar(20), b text COLLATE blind, d date, z timestamptz, o oid, m mood,
	n numeric, f float8, i inet);
INSERT INTO types
SELECT 'x' || hash(i), 'y' || hash(i + 1), CASE WHEN i % 2 = 0 THEN 'a' ELSE 'A' END || hash(i) % 9,
	'2000-01-01'::date + hash(i) % 999, '2000-01-01'::timestamptz + hash(i) % 99999 * interval '1 s', hash(i),
	(ARRAY['ok', 'happy'])[i % 2 + 1]::mood, hash(i) % 100 / 10.0, i, '10.0.0.0'::inet + hash(i) % 1000
FROM generate_series(1, 3000) i;
INSERT INTO types VALUES
	(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
	(repeat('long', 500), '', 'aÄ', 'infinity', '-infinity', 0, 'sad', 'NaN', 'NaN', '::1');
CREATE INDEX types_all ON types USING rtscan (t, v, b, d, z, o, m, n, f, i);
-- pending
INSERT INTO types VALUES ('', 'zzz', 'zz', '-infinity', 'infinity', 4294967295, 'happy', '-1.0', '-0', '0.0.0.0');
SELECT aggregate, compared.node, compared.same, left(result, 40) AS result
FROM unnest(ARRAY['t', 'v', 'd', 'z', 'o', 'm', 'n', 'f', 'i']) AS c,
	format('SELECT min(%s), max(%s) FROM types', c, c) AS aggregate, compare(aggregate) AS compared;
-- any of several equal texts may be the result
SELECT * FROM compare('SELECT lower(min(b)), max(b) FROM types');
SELECT * FROM compare('
	SELECT min(t), max(v), min(m), max(o) FROM types WHERE o BETWEEN 1 AND 1000000000 AND t > ''x5''');
SELECT * FROM compare('SELECT min(t), max(v) FROM types WHERE o < 0');
SELECT * FROM compare('SELECT min(t COLLATE "en-x-icu") FROM types'); -- another order
SELECT * FROM compare('SELECT sum(o::bigint), sum(length(t)) FROM types'); -- of expressions
SELECT * FROM compare('
	SELECT sum(DISTINCT d - ''2000-01-01''::date), count(DISTINCT d)
	FROM types
	WHERE d < ''infinity''::date AND d > ''-infinity''::date');

-- blanks at the end of bpchar
CREATE TABLE padded (id int, c bpchar);
INSERT INTO padded VALUES (1, 'a  '), (2, 'a'), (3, 'b');
CREATE INDEX ON padded USING rtscan (id, c);
VACUUM padded;
SELECT * FROM compare('SELECT min(c), max(c) FROM padded WHERE id > 1');

-- a user without the privilege to execute an aggregate, or an operator's function, cannot do so here
CREATE ROLE rtscan_nobody;
GRANT USAGE ON SCHEMA "values" TO rtscan_nobody;
GRANT SELECT ON t TO rtscan_nobody;
PREPARE total AS SELECT sum(middle) FROM t WHERE middle > 0 AND large > 0 AND ordered IS NOT NULL;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) EXECUTE total;
BEGIN;
REVOKE EXECUTE ON FUNCTION sum(int) FROM public;
SET ROLE rtscan_nobody;
EXECUTE total;
ROLLBACK;
BEGIN;
REVOKE EXECUTE ON FUNCTION int4gt(int, int) FROM public;
SET ROLE rtscan_nobody;
EXECUTE total;
ROLLBACK;
RESET ROLE;
-- the same for rows
PREPARE found AS SELECT middle FROM t WHERE middle > 0 AND large > 0 AND ordered % 7 = 1;
SET rtscan.enable_scan = on;
EXPLAIN (COSTS OFF) EXECUTE found;
BEGIN;
REVOKE EXECUTE ON FUNCTION int4gt(int, int) FROM public;
SET ROLE rtscan_nobody;
EXECUTE found;
ROLLBACK;
BEGIN;
REVOKE EXECUTE ON FUNCTION int4mod(int, int) FROM public;
SET ROLE rtscan_nobody;
EXECUTE found;
ROLLBACK;
SET rtscan.enable_scan = off;
RESET ROLE;
RESET enable_seqscan;
RESET enable_bitmapscan;
DROP OWNED BY rtscan_nobody;
DROP ROLE rtscan_nobody;

EXPLAIN (COSTS OFF) SELECT min(t), sum(o::int) FROM types WHERE d > '2000-02-02';
SET client_min_messages = error;
DROP SCHEMA "values" CASCADE;
