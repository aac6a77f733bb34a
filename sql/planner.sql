-- When the planner takes an rtscan index by itself, and what it expects of it.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
SET rtscan.enable_aggregate = off; -- this is about scans
CREATE SCHEMA planner;
SET search_path = planner, public;
SET max_parallel_workers_per_gather = 0;

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/plans.psql
\set ECHO all

CREATE FUNCTION hash(i int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT abs(hashint4($1))';
CREATE TABLE t (id int PRIMARY KEY, a int, b int, c float8, d date, e text, filler text);
INSERT INTO t
SELECT i, hash(i) % 10000, hash(i + 1000000) % 10000, hash(i + 2000000) % 10000, '2000-01-01'::date + i / 25,
	'k' || hash(i + 3000000) % 100, repeat('x', 100)
	FROM generate_series(1, 25000) i;
CREATE INDEX t_a ON t USING btree (a);
CREATE INDEX t_rtscan ON t USING rtscan (a, b, c, d, e);
CREATE TABLE tiny AS SELECT * FROM t WHERE id <= 20;
CREATE INDEX tiny_rtscan ON tiny USING rtscan (a, b, c, d, e);
ANALYZE t;
ANALYZE tiny;

-- The indexes that a query would use.
CREATE FUNCTION planned(query text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	RETURN plan;
END
$$;
CREATE FUNCTION indexes(query text) RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(string_agg(DISTINCT i #>> '{}', ', '), 'none')
	FROM planned(query) plan, unnest('{Index,Index Name}'::text[]) key,
		jsonb_path_query(plan, format('$.**."%s"', key)::jsonpath) i
$$;
-- it should: ranges on several columns, and on columns that no btree begins with
EXPLAIN (COSTS OFF) SELECT * FROM t WHERE b BETWEEN 500 AND 600 AND c > 9900;
EXPLAIN (COSTS OFF) SELECT * FROM t WHERE b < 20 OR c > 9990;
SELECT q, indexes(q) FROM unnest(ARRAY[
	'SELECT * FROM t WHERE b < 50',
	'SELECT * FROM t WHERE a < 3000 AND b < 300 AND c < 300',
	'SELECT * FROM t WHERE b = 77',
	'SELECT * FROM t WHERE a = 77 AND b < 5000',
	'SELECT * FROM t WHERE e IN (''k5'', ''k6'') AND c < 100 AND d >= ''2001-01-01''',
	'SELECT * FROM t WHERE d = ''2001-01-01''',
	'SELECT * FROM t WHERE b IS NULL',
	'SELECT * FROM t WHERE b < 500 AND c < 500 ORDER BY a LIMIT 10',
	'SELECT count(*) FROM t WHERE b < 500 AND c < 500 AND d < ''2001-01-01''',
	'SELECT t.* FROM tiny JOIN t ON t.b = tiny.b AND t.c < tiny.c',
	'UPDATE t SET filler = ''y'' WHERE b < 100 AND c < 100',
	'DELETE FROM t WHERE b < 100 AND c < 100',
	'SELECT * FROM t WHERE b < 5000 AND c < 5000 AND a < 500 AND e = ''k7''']) q;
PREPARE generic (int, float8) AS SELECT * FROM t WHERE b = $1 AND c < $2;
SET plan_cache_mode = force_generic_plan;
SELECT indexes('EXECUTE generic(5, 5)');
RESET plan_cache_mode;
-- by a bitmap it should not: most of the rows (by RtscanScan that takes no longer than a sequential scan), a point that
-- a btree finds
SET rtscan.enable_scan = off;
SELECT q, indexes(q) FROM unnest(ARRAY[
	'SELECT * FROM t WHERE b > 500',
	'SELECT * FROM t WHERE b >= 0 AND c >= 0 AND a >= 0',
	'SELECT * FROM t WHERE b <> 50',
	'SELECT * FROM t WHERE a = 77']) q;
RESET rtscan.enable_scan;
-- it should not: a row that a unique btree finds, a tiny table, an order, no condition that it can answer
SELECT q, indexes(q) FROM unnest(ARRAY[
	'SELECT * FROM t WHERE b IS NOT NULL',
	'SELECT * FROM t WHERE id = 77',
	'SELECT * FROM t WHERE id = 77 AND b < 5000 AND c < 5000',
	'SELECT * FROM tiny WHERE b < 50',
	'SELECT * FROM t WHERE b > 5 ORDER BY id LIMIT 10',
	'SELECT count(*) FROM t',
	'SELECT * FROM t WHERE b + 0 < 50',
	'SELECT * FROM t WHERE (b, c) < (50, 50)',
	'SELECT * FROM t WHERE NOT b > 50 AND c + a < 3']) q;
SET enable_bitmapscan = off;
SELECT indexes('SELECT * FROM t WHERE b < 50');
SET rtscan.enable_scan = off;
SELECT indexes('SELECT * FROM t WHERE b < 50');
RESET rtscan.enable_scan;
RESET enable_bitmapscan;

--
-- Columns of the index are read by RtscanScan, where they are asked for, and by a bitmap scan not at all
--
CREATE TABLE covered AS
	SELECT i AS id, hash(i) AS a, hash(i + 1000000) AS b, hash(i + 2000000) AS c, repeat('x', 20) AS filler
	FROM generate_series(1, 70000) i;
CREATE INDEX covered_all ON covered USING rtscan (a, b, c) INCLUDE (id);
VACUUM ANALYZE covered;
CREATE FUNCTION total_cost(query text, settings text DEFAULT '') RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE settings;
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	RETURN plan #>> '{0,Plan,Total Cost}';
END
$$;
-- columns that the index has all of, and others: of a bitmap the same price
SELECT total_cost('SELECT id, b FROM covered WHERE a < 100000000', 'SET LOCAL rtscan.enable_scan = off')
	= total_cost('SELECT filler FROM covered WHERE a < 100000000', 'SET LOCAL rtscan.enable_scan = off') AS same;
SET enable_seqscan = off;
SET rtscan.enable_scan = off;
EXPLAIN (COSTS OFF) SELECT id, b FROM covered WHERE a < 100000000;
RESET rtscan.enable_scan;
RESET enable_seqscan;

-- a sample is of the table
SELECT count(*) BETWEEN 500 AND 4000 AS tenth
FROM (SELECT a FROM covered TABLESAMPLE BERNOULLI (10) REPEATABLE (1) WHERE b < 500000000 OFFSET 0) s;
SELECT count(*) = 0 AS none FROM covered TABLESAMPLE BERNOULLI (0) WHERE b < 500000000;
-- the arms of a UNION ALL are tables of their own
SELECT count(*)
FROM (SELECT a, b FROM covered WHERE b < 500000000 UNION ALL SELECT a, c FROM covered UNION ALL SELECT id, a FROM t) s
WHERE a < 100000000;
SELECT count(*)
FROM (
	SELECT a + 0 AS a, b + 0 AS b FROM covered WHERE b < 500000000
	UNION ALL SELECT a, c FROM covered
	UNION ALL SELECT id, a FROM t) s
WHERE a + 0 < 100000000;

-- data of a planning run does not depend on the relation cache (on servers that can discard that)
DO $$
BEGIN
	PERFORM set_config('debug_discard_caches', '1', false);
EXCEPTION WHEN invalid_parameter_value THEN
	NULL;
END
$$;
SELECT count(*) FROM t WHERE e < 'k2' AND d IN ('2000-01-05', '2001-01-01');
SELECT count(*) FROM t WHERE a < 5 OR e = 'k77' AND b < 5000;
DO $$ BEGIN PERFORM set_config('debug_discard_caches', '0', false); END $$;
-- a function is asked once for its value
CREATE SEQUENCE calls;
CREATE FUNCTION counted(int) RETURNS int LANGUAGE plpgsql STABLE AS $$
BEGIN
	PERFORM nextval('calls');
	RETURN $1;
END
$$;
EXPLAIN (COSTS OFF) SELECT count(*) FROM covered WHERE a < counted(5) AND b < counted(7);
SELECT nextval('calls') <= 7 AS few_calls;

--
-- A list costs by the pages of the dictionary that it is looked up in, not by its elements
--
SELECT total_cost(format('SELECT count(*) FROM covered WHERE a IN (%s)', string_agg(i::text, ',')),
	'SET LOCAL rtscan.enable_aggregate = on') < 40 AS cheap
FROM generate_series(1, 10) i;
-- lookups as inner side of a join cost about the same with another condition
CREATE TABLE outer_side AS SELECT a FROM covered WHERE id <= 50;
ANALYZE outer_side;
SET rtscan.enable_star = off;
SELECT explained('SELECT covered.* FROM outer_side o JOIN covered ON covered.a = o.a');
SELECT explained('SELECT covered.* FROM outer_side o JOIN covered ON covered.a = o.a AND b < 1000000000');
RESET rtscan.enable_star;

--
-- If a user may not see all rows, EXPLAIN shows estimates from statistics alone
--
CREATE ROLE rtscan_curious;
CREATE TABLE hidden (id int, owner name, a int) WITH (autovacuum_enabled = off);
ALTER TABLE hidden ALTER id SET STATISTICS 0, ALTER a SET STATISTICS 0;
INSERT INTO hidden SELECT i * 2, CASE WHEN i % 100 = 0 THEN 'rtscan_curious' ELSE 'somebody' END, i % 7
FROM generate_series(1, 20000) i;
CREATE INDEX hidden_all ON hidden USING rtscan (id, owner, a);
ANALYZE hidden;
ALTER TABLE hidden ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON hidden USING (owner = current_user);
CREATE VIEW barred WITH (security_barrier) AS SELECT * FROM hidden WHERE owner = current_user;
CREATE TABLE columnar (id int, secret int) WITH (autovacuum_enabled = off);
ALTER TABLE columnar ALTER id SET STATISTICS 0, ALTER secret SET STATISTICS 0;
INSERT INTO columnar SELECT i, i * 2 FROM generate_series(1, 20000) i;
CREATE INDEX columnar_all ON columnar USING rtscan (id, secret);
ANALYZE columnar;
GRANT USAGE ON SCHEMA planner TO rtscan_curious;
GRANT SELECT ON hidden, barred TO rtscan_curious;
GRANT SELECT (id) ON columnar TO rtscan_curious;
-- Does the price of a query tell whether there is a value?
CREATE FUNCTION tells(query text) RETURNS boolean LANGUAGE sql AS $$
	SELECT count(DISTINCT total_cost(format(query, v), 'SET LOCAL enable_seqscan = off')) > 1
	FROM unnest('{332,333,334,335,-5,9999999}'::int[]) v
$$;
SELECT q, tells(q)
FROM unnest(ARRAY[
	'SELECT * FROM hidden WHERE id = %s', 'SELECT count(*) FROM hidden WHERE id = %s',
	'SELECT * FROM barred WHERE id = %s', 'SELECT id FROM columnar WHERE id = %s']) q;
SET ROLE rtscan_curious;
SELECT q, tells(q)
FROM unnest(ARRAY[
	'SELECT * FROM hidden WHERE id = %s', 'SELECT count(*) FROM hidden WHERE id = %s',
	'SELECT * FROM barred WHERE id = %s', 'SELECT id FROM columnar WHERE id = %s']) q;
RESET ROLE;

--
-- Estimates of rows are exact for one column, without any statistics
--
CREATE TABLE skewed (a int, b text COLLATE "C", c float8, d timestamp, e int, f int) WITH (autovacuum_enabled = off);
ALTER TABLE skewed ALTER a SET STATISTICS 0, ALTER b SET STATISTICS 0, ALTER c SET STATISTICS 0,
	ALTER d SET STATISTICS 0, ALTER e SET STATISTICS 0, ALTER f SET STATISTICS 0;
INSERT INTO skewed
	SELECT CASE WHEN x % 10 < 3 THEN NULL WHEN x % 10 < 8 THEN 42 ELSE (sqrt(x % 1000000))::int END,
		'k' || length((x % 100000)::text), exp(x % 20), '2000-01-01'::timestamp + i * interval '1 min',
		   hash(i + 1000000) % 1000, hash(i + 2000000) % 1000
	FROM (SELECT i, hash(i) FROM generate_series(1, 70000) i) r (i, x);
CREATE INDEX skewed_all ON skewed USING rtscan (a, b, c, d, e, f);
ANALYZE skewed;
-- Estimated and actual rows of a bitmap index scan; a line where they differ by more than a factor, and some rows.
CREATE FUNCTION misestimates(tab text, factor float8, conditions text[]) RETURNS SETOF text LANGUAGE plpgsql
SET enable_seqscan = off SET rtscan.enable_scan = off AS $$
DECLARE
	condition text;
	plan jsonb;
	node jsonb;
	estimated float8;
	actual float8;
BEGIN
	FOREACH condition IN ARRAY conditions LOOP
		EXECUTE format('EXPLAIN (ANALYZE, FORMAT json) SELECT FROM %s WHERE %s', tab, condition) INTO plan;
		node := jsonb_path_query_first(plan, '$.** ? (@."Node Type" == "Bitmap Index Scan")');
		estimated := node ->> 'Plan Rows';
		actual := node ->> 'Actual Rows';
		IF estimated IS NULL OR (estimated + 20) / (actual + 20) NOT BETWEEN 1 / factor AND factor THEN
			RETURN NEXT format('%s: %s rows estimated, %s found', condition, estimated, actual);
		END IF;
	END LOOP;
END
$$;
SELECT misestimates('skewed', 1.1, ARRAY[
	'a = 42', 'a < 42', 'a > 42', 'a <= 42', 'a IS NULL', 'a IS NOT NULL', 'a = 41', 'a > 900', 'a > 2000', 'a < -5',
	'a BETWEEN 40 AND 45', 'a BETWEEN 500 AND 510', 'a > 50 AND a < 40',
	'a IN (1, 42, 900)', 'a = ANY (''{42,42,NULL,5}'')', 'a < ANY (''{10,20,NULL}'')', 'a > 42::int8', 'a < 5000000000',
	'a = ANY (''{}'')',
	'b = ''k5''', 'b = ''k1''', 'b > ''k4''', 'b < ''k'' || ''2''', 'b >= ''z''', 'c = 1', 'c < exp(3)', 'c > 1e6',
	'c <= ''NaN''', 'd < ''2000-01-02''', 'd >= ''2000-02-18''::date', 'd BETWEEN ''2000-01-10'' AND ''2000-01-11''',
	'd < ''2000-01-10''::timestamptz', 'e < 10', 'e = 999', 'f >= 500']);
-- independent columns
SELECT misestimates('skewed', 1.3, ARRAY[
	'e < 100 AND f < 100', 'e BETWEEN 200 AND 300 AND f > 500', 'e < 500 AND f < 500 AND a = 42',
	'e > 900 AND a IS NULL', 'e = ANY (''{1,2,3,4,5,6,7,8,9,10}'') AND f < 500',
	'd < ''2000-01-10'' AND e < 300 AND f < 300']);
-- the values of parameters, of stable functions and of expressions that can be evaluated while planning
SELECT misestimates('skewed', 1.1,
	ARRAY['e < length(''0123456789'')', 'd < now()', 'd > now()', 'e < current_setting(''server_version_num'')::int']);
-- an index of some rows only
CREATE TABLE partly AS
	SELECT i AS id, hash(i) % 10000 AS a, hash(i + 1000000) % 10000 AS b, i % 100 = 0 AS rare,
		repeat('x', 100) AS filler
	FROM generate_series(1, 25000) i;
CREATE INDEX partly_rare ON partly USING rtscan (a, b) WHERE rare;
ANALYZE partly;
SELECT misestimates('partly', 1.3,
	ARRAY['rare AND a < 5000', 'rare AND a > 1000 AND b < 9000', 'rare AND a < 10', 'rare']);
SELECT q, indexes(q)
FROM unnest(ARRAY[
	'SELECT * FROM partly WHERE rare AND a < 5000', 'SELECT * FROM partly WHERE rare',
	'SELECT * FROM partly WHERE a < 5000']) q;
-- many segments, dead rows
SET rtscan.pending_list_limit = '64kB';
SET rtscan.merge_worker = off;
CREATE TABLE grown (a int, b int) WITH (autovacuum_enabled = off);
ALTER TABLE grown ALTER a SET STATISTICS 0, ALTER b SET STATISTICS 0;
CREATE INDEX grown_all ON grown USING rtscan (a, b);
INSERT INTO grown SELECT i, hash(i) % 1000 FROM generate_series(1, 40000) i;
VACUUM ANALYZE grown;
SELECT misestimates('grown', 1.2,
	ARRAY['a < 1000', 'a > 39000', 'b < 100', 'a BETWEEN 15000 AND 25000 AND b = 5', 'b > 1000']);
RESET rtscan.pending_list_limit;
RESET rtscan.merge_worker;

--
-- An index that is empty, or that has pending rows only; a table that was never analyzed
--
CREATE TABLE fresh (a int, b int) WITH (autovacuum_enabled = off);
CREATE INDEX fresh_all ON fresh USING rtscan (a, b);
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT * FROM fresh WHERE a < 5 AND b > 7;
INSERT INTO fresh SELECT i, hash(i) % 1000 FROM generate_series(1, 1000) i;
EXPLAIN (COSTS OFF) SELECT * FROM fresh WHERE a < 5 AND b > 7;
SELECT count(*) FROM fresh WHERE a < 5 AND b > 7;
RESET enable_seqscan;
-- the planner looks at an index that the transaction has just made
BEGIN;
CREATE INDEX fresh_b ON fresh USING rtscan (b);
SET LOCAL enable_seqscan = off;
SELECT count(*) FROM fresh WHERE b = 5;
COMMIT;
-- a constant that an outer join could make NULL is one where the join is an inner one after all
CREATE VIEW constants AS SELECT a, b, 3 AS few, id FROM t;
SET enable_seqscan = off;
SET enable_hashjoin = off;
SELECT count(*) FROM tiny LEFT JOIN constants c ON c.a = tiny.a WHERE c.b % 7 < 7 AND c.id > c.few;
SELECT count(*) FROM tiny LEFT JOIN constants c ON c.a = tiny.a WHERE c.b > c.few;
RESET enable_hashjoin;
-- conditions on rows are paid for in an order, too
CREATE FUNCTION slow(text) RETURNS bool IMMUTABLE COST 100000 LANGUAGE plpgsql AS 'BEGIN RETURN $1 > ''k5''; END';
SET enable_indexscan = off;
SELECT total_cost('SELECT a FROM t WHERE slow(e) AND b < 5000 ORDER BY a')
	>= total_cost('SELECT a FROM t WHERE slow(e) AND b < 5000') AS paid;
RESET enable_indexscan;
RESET enable_seqscan;
-- an expression that raises an error when it is evaluated raises none in planning
SELECT explained('SELECT count(*) FROM t WHERE b < 1 / (SELECT 0) AND c < 0');

--
-- The planner knows how many values a column has, of which ANALYZE saw few
--
CREATE TABLE uneven AS
SELECT CASE WHEN i % 10 > 0 THEN i % 3 ELSE i END AS a, i % 2 AS b FROM generate_series(1, 20000) i;
ALTER TABLE uneven ALTER a SET STATISTICS 1, ALTER b SET STATISTICS 1;
ANALYZE uneven;
CREATE FUNCTION groups(query text) RETURNS float8 LANGUAGE sql AS $$
	SELECT (planned(query) #> '{0,Plan,Plan Rows}')::float8
$$;
SELECT groups('SELECT a FROM uneven GROUP BY a') < 1000 AS few;
CREATE INDEX uneven_all ON uneven USING rtscan (b, a);
SELECT groups('SELECT a FROM uneven GROUP BY a'), groups('SELECT a FROM uneven WHERE a = 10') < 40 AS looked_up;
-- also for an expression of it; not if its number of values has been set, or if the user may not see all rows
SELECT groups('SELECT a + 1 FROM uneven GROUP BY a + 1');
ALTER TABLE uneven ALTER a SET (n_distinct = 77);
ANALYZE uneven;
SELECT groups('SELECT a FROM uneven GROUP BY a');
ALTER TABLE uneven ALTER a RESET (n_distinct);
ANALYZE uneven;
ALTER TABLE uneven ENABLE ROW LEVEL SECURITY;
CREATE POLICY all_rows ON uneven USING (b >= 0);
GRANT SELECT ON uneven TO rtscan_curious;
SELECT groups('SELECT a FROM uneven GROUP BY a');
SET ROLE rtscan_curious;
SELECT groups('SELECT a FROM uneven GROUP BY a') < 1000 AS few;
RESET ROLE;

--
-- A column's own conditions leave few of its values, and so few groups; those of other columns leave all of them
--
CREATE TABLE branded AS SELECT i % 1000 AS brand, i % 7 AS year, i % 10 AS ten FROM generate_series(1, 21000) i;
CREATE INDEX branded_all ON branded USING rtscan (brand, year, ten);
VACUUM ANALYZE branded;
SET rtscan.enable_aggregate = on;
SET rtscan.enable_scan = off;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT q, groups(q) BETWEEN least AND most AS right
FROM (VALUES
	('SELECT brand, count(*) FROM branded WHERE brand BETWEEN 21 AND 28 GROUP BY brand', 7, 9),
	('SELECT brand, year, count(*) FROM branded WHERE brand BETWEEN 21 AND 28 GROUP BY brand, year', 50, 63),
	('SELECT brand, year, count(*) FROM branded WHERE brand = 21 AND year < 2 GROUP BY brand, year', 2, 2),
	('SELECT brand, count(*) FROM branded WHERE brand > 900 AND ten = 5 GROUP BY brand', 95, 105),
	('SELECT brand, count(*) FROM branded WHERE ten = 5 GROUP BY brand', 850, 1000),
	('SELECT brand + 1, count(*) FROM branded WHERE brand < 5 GROUP BY brand + 1', 4, 7))
	AS r (q, least, most);
RESET rtscan.enable_scan;
RESET enable_seqscan;
RESET enable_bitmapscan;

--
-- Rows that pass what the index does not answer come late, if they are together in the heap, in whose order those of
-- each value come
--
CREATE TABLE late AS SELECT i AS place, i % 3 AS kind, hashint4(i) % 1000 AS anywhere, repeat('x', 100) AS filler
FROM generate_series(1, 100000) i;
CREATE INDEX late_all ON late USING rtscan (kind, anywhere);
CREATE INDEX late_place ON late (place);
VACUUM ANALYZE late;
SELECT q, plan_text(q) ~ 'Order: ' AS in_order
FROM (VALUES ('SELECT * FROM late ORDER BY kind LIMIT 10'),
	('SELECT * FROM late WHERE place > 10 ORDER BY kind LIMIT 10'),
	('SELECT * FROM late WHERE place BETWEEN 80000 AND 81000 ORDER BY kind LIMIT 10'),
	('SELECT * FROM late WHERE anywhere < 50 AND length(filler) > 3 ORDER BY kind LIMIT 10')) AS r (q);
-- or at once, by which end of the heap the order begins at
SELECT condition, direction,
	plan_text(format('SELECT * FROM late WHERE %s ORDER BY kind %s LIMIT 10', condition, direction)) ~ 'Order: '
		AS in_order
FROM unnest('{place > 70000,70000 < place,place < 30000,30000 > place,place = 500}'::text[]) condition,
	unnest('{ASC,DESC}'::text[]) direction;
-- a sequential scan, which EXISTS or LIMIT would end, does not find them at once either, but after the rows that
-- precede them in the heap
SELECT condition, indexes(format('SELECT * FROM late WHERE %s LIMIT 10', condition)) AS few,
	indexes(format('SELECT EXISTS (SELECT FROM late WHERE %s AND length(filler) > 3)', condition)) AS any,
	indexes(format('SELECT * FROM late WHERE %s AND length(filler) > 3', condition)) AS all
FROM unnest('{place > 50000,place < 50000,place BETWEEN 40000 AND 90000,place > 1}'::text[]) condition;

-- for PostgreSQL's own scan in that order as for ours
CREATE INDEX late_kind ON late USING btree (kind);
SET rtscan.enable_scan = off;
SELECT condition, direction,
	total_cost(format('SELECT * FROM late WHERE %s ORDER BY kind %s LIMIT 10', condition, direction),
		'SET LOCAL enable_sort = off') > 1000 AS late
FROM unnest('{ASC,DESC}'::text[]) direction,
	unnest('{length(filler) > 3,place > 70000,70000 < place,place < 30000,place BETWEEN 50000 AND 70000}'::text[])
		condition;
RESET rtscan.enable_scan;
-- rows that a partial index does not have need not be passed
CREATE INDEX late_last ON late USING btree (kind) WHERE place > 70000;
SELECT total_cost('SELECT * FROM late WHERE place > 70000 AND length(filler) > 3 ORDER BY kind LIMIT 10',
	'SET LOCAL enable_sort = off; SET LOCAL rtscan.enable_scan = off') < 1000 AS at_once;

--
-- Rows that are together in the heap are got from it, not looked for with a bitmap of ours as well
--
CREATE TABLE together AS
	SELECT i AS id, i / 3 AS part, hash(i) % 20000 AS apart, hash(i + 1000000) % 10000 AS b, hash(i) % 7 AS other,
		repeat('x', 100) AS filler
	FROM generate_series(1, 60000) i;
CREATE INDEX together_part ON together USING btree (part, other);
CREATE INDEX together_apart ON together USING btree (apart, other);
CREATE INDEX together_rtscan ON together USING rtscan (b);
VACUUM ANALYZE together;
SET rtscan.enable_scan = off;
SELECT q, indexes('SELECT * FROM together WHERE b < 400 AND ' || q)
FROM unnest(ARRAY[
	'part BETWEEN 4000 AND 4700', 'apart BETWEEN 4000 AND 4700',
	'(part BETWEEN 4000 AND 4700 OR part = 77)', '(apart BETWEEN 4000 AND 4700 OR apart = 77)',
	'(part BETWEEN 4000 AND 4700 OR part = 77 AND b < 10)', '(apart BETWEEN 4000 AND 4700 OR apart = 77 AND b < 10)',
	'part BETWEEN 4000 AND 4700 AND apart BETWEEN 4000 AND 9000', '(part BETWEEN 4000 AND 4700 OR b = 77)']) q;
-- not those of a list, or those that are NULL, or of which another column lets few pass: they may be anywhere
UPDATE together SET part = NULL WHERE id % 60 = 0;
VACUUM ANALYZE together;
SET enable_indexscan = off;
SELECT q, indexes('SELECT * FROM together WHERE b < 400 AND ' || q)
FROM unnest(ARRAY['part IS NULL', 'part BETWEEN 2000 AND 18000 AND other = 5']) q;
SELECT indexes(format('SELECT * FROM together WHERE b < 400 AND part IN (%s)', string_agg((i * 100)::text, ',')))
FROM generate_series(1, 200) i;
RESET enable_indexscan;
RESET rtscan.enable_scan;

--
-- Conditions that exclude each other: no table is read, whatever the others are expected to find
--
SELECT condition, plan_text('SELECT EXISTS (SELECT FROM together WHERE ' || condition || ')') ~ 'One-Time Filter: false'
	AS excluded
FROM unnest(ARRAY['part < 1059 AND other = 2 AND part BETWEEN 7336 AND 7337', 'b = 3 AND b > 5',
	'b IN (1, 2, 3) AND b > 3', 'b IS NULL AND b < 4', 'filler < ''a'' AND filler > ''b''',
	'other < 2::bigint AND other > 3', 'b % 10 = 3 AND b % 10 > 4',
	-- not these
	'part < 1059 AND part > 1000', 'part < 1059 AND b BETWEEN 7336 AND 7337', 'b IN (1, 2, 3) AND b > 2',
	'b < (SELECT 3) AND b > (SELECT 5)', 'b < random() AND b > random() + 1',
	'b < 5 OR b > 7', 'b IN (1, 2) AND b IN (3, 4)']) condition;
-- only the first of very many conditions on one column are compared, and lists not with themselves
SELECT n, plan_text(format('SELECT * FROM together WHERE %s AND b < 3 AND b > 4',
	(SELECT string_agg('b <> -' || i, ' AND ') FROM generate_series(1, n) i))) ~ 'One-Time' AS excluded
FROM unnest(ARRAY[10, 500]) n;
SELECT plan_text(format('SELECT * FROM together WHERE b %s AND b = 3 AND other = 1', list)) ~ 'One-Time' AS excluded
FROM unnest(ARRAY['NOT IN (1, 2, 3)', 'IN (1, 2)', '= ALL (ARRAY[3, 4])', 'NOT IN (1, 2)', 'IN (3, 4)']) list;
SELECT explained('SELECT count(*) FROM together WHERE b < 5 AND b > 7');
SELECT count(*), count(s.id) FROM together t LEFT JOIN (SELECT * FROM together WHERE b < 5 AND b > 7) s USING (id);
UPDATE together SET other = 1 WHERE b < 5 AND b > 7 RETURNING *;
-- with parameters the plan is for all values
PREPARE excluding (int, int) AS SELECT count(*) FROM together WHERE b < $1 AND b > $2;
SET plan_cache_mode = force_custom_plan;
SELECT plan_text('EXECUTE excluding (5, 7)') ~ 'One-Time Filter: false' AS excluded;
SET plan_cache_mode = force_generic_plan;
SELECT plan_text('EXECUTE excluding (5, 7)') ~ 'One-Time Filter: false' AS excluded;
EXECUTE excluding (5, 7);
EXECUTE excluding (7, 5);
RESET plan_cache_mode;
SELECT count(*) FROM together WHERE b < 7 AND b > 5;
-- switched off
SET rtscan.enable_scan = off;
SELECT plan_text('SELECT count(*) FROM together WHERE b < 5 AND b > 7') ~ 'One-Time' AS excluded;
RESET rtscan.enable_scan;
SET constraint_exclusion = off;
SELECT plan_text('SELECT count(*) FROM together WHERE b < 5 AND b > 7') ~ 'One-Time' AS excluded;
RESET constraint_exclusion;

SET client_min_messages = error;
DROP SCHEMA planner CASCADE;
DROP ROLE rtscan_curious;
