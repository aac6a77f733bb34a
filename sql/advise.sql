-- rtscan_advise(): indexes that do not exist, for queries that are only planned.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA advise;
SET search_path = advise, public;
SET max_parallel_workers_per_gather = 0;
SET TimeZone = 'Europe/Berlin';

CREATE TABLE customers WITH (autovacuum_enabled = off) AS
	SELECT i AS id, 'name ' || i AS name, 'region ' || i % 7 AS region FROM generate_series(1, 12000) i;
ALTER TABLE customers ADD PRIMARY KEY (id);
CREATE TABLE orders (id bigint, customer int REFERENCES customers, ts timestamptz, status text, amount numeric(10, 2),
	details jsonb, remark text) WITH (autovacuum_enabled = off);
INSERT INTO orders
	SELECT i, i % 12000 + 1, timestamptz '2025-01-01 00:00+00' + make_interval(mins => i), 'status ' || i % 5,
	i % 1000 / 8.0,
		jsonb_build_object('channel', i % 3, 'campaign', i % 500), repeat(md5(i::text), 10)
	FROM generate_series(1, 60000) i;
CREATE INDEX orders_customer ON orders (customer);
CREATE INDEX orders_ts ON orders (ts);
CREATE INDEX orders_status ON orders (status);
VACUUM ANALYZE customers, orders;

-- what is proposed for queries, and which queries gain by it; without the costs, which differ by version
CREATE FUNCTION advice(VARIADIC queries text[])
RETURNS TABLE (definition text, unneeded regclass[], query text, gains boolean, problem text) LANGUAGE sql AS $$
	SELECT definition, unneeded, query, cost_with_index < cost, problem FROM rtscan_advise(queries)
$$;
SELECT * FROM advice('SELECT status, sum(amount) FROM orders WHERE ts >= $1 GROUP BY status',
	'SELECT * FROM orders WHERE status = $1 AND amount BETWEEN $2 AND $3 ORDER BY ts DESC LIMIT 20');
-- the columns of queries that gain nothing are left out: one row by the primary key, all rows
SELECT * FROM advice('SELECT name FROM customers WHERE id = $1', 'SELECT remark FROM orders',
	'SELECT count(*) FROM orders WHERE amount > 120');
-- through views, subqueries, WITH, joins, USING, and subqueries of expressions
CREATE VIEW open_orders AS SELECT o.*,
	c.region FROM orders o JOIN customers c ON c.id = o.customer WHERE status <> 'status 0';
SELECT * FROM advice('SELECT region, sum(amount) FROM open_orders WHERE ts > now() - interval ''7 days'' GROUP BY
	region');
SELECT * FROM advice('WITH late AS (SELECT amount AS a, status AS s FROM orders WHERE ts > $1)
	SELECT s, max(a) FROM late WHERE a > 3 GROUP BY s');
SELECT * FROM advice('SELECT count(*) FROM (SELECT id AS customer FROM customers WHERE region = ''region 1'') c
	JOIN orders USING (customer)');
SELECT * FROM advice('SELECT count(*) FROM customers WHERE id IN (SELECT customer FROM orders WHERE amount > 124)');
-- values of jsonb are keys if the query says which; a parameter does not
SELECT * FROM advice('SELECT details ->> ''channel'', sum(amount) FROM orders
		WHERE (details ->> ''campaign'')::int < 5 GROUP BY 1',
	'SELECT count(*) FROM orders WHERE details ->> $1 = ''5''');
-- changes of rows
SELECT * FROM advice('UPDATE orders SET amount = 0 WHERE amount > 124 AND status = ''status 3''',
	'DELETE FROM orders WHERE amount = 123.5', 'INSERT INTO customers SELECT 1 FROM orders WHERE amount = 3.125');
-- problems do not end it
SELECT * FROM advice('SELECT', 'SELECT 1/0', 'SELECT * FROM missing', 'VACUUM', '', NULL, 'SELECT $1',
	'SELECT count(*) FROM orders WHERE amount > 3; SELECT 1 AS two; SELECT count(*) FROM pg_class WHERE relname =
	''x''');
SELECT count(*) FROM rtscan_advise('{}');

-- each statement of a text is planned on its own
SELECT * FROM advice('SELECT count(*) FROM orders WHERE amount > 3; SELECT count(*) FROM orders WHERE amount > 4;
	SELECT * FROM missing');
-- results of rows that are changed, and the conditions of MERGE
SELECT * FROM advice('WITH gone AS (DELETE FROM orders WHERE ts < $1 RETURNING status, amount)
	SELECT status, sum(amount) FROM gone GROUP BY status');
SELECT * FROM advice('MERGE INTO orders USING customers ON customers.id = orders.customer AND orders.amount = 124.875
	WHEN MATCHED THEN DELETE');
-- UNION
SELECT * FROM advice('SELECT sum(a) FROM (SELECT amount AS a, status AS s FROM orders UNION ALL SELECT id, region
	FROM customers) u WHERE s = ''status 1''');
-- columns that refer to others again and again are followed once
DO $$
DECLARE
	query text := 'WITH c0 AS MATERIALIZED (SELECT amount AS a FROM orders)';
BEGIN
	FOR i IN 1..60 LOOP
		query := query || format(', c%s AS MATERIALIZED (SELECT a + a AS a FROM c%s)', i, i - 1);
	END LOOP;
	SET LOCAL statement_timeout = '30s';
	PERFORM FROM rtscan_advise(ARRAY[query || ' SELECT count(*) FROM c60 WHERE a > 5']);
END
$$;
-- what no index can have as a key: sets, records, values of a domain over jsonb as a whole
CREATE DOMAIN document AS jsonb;
CREATE TABLE documents WITH (autovacuum_enabled = off) AS
	SELECT i, i % 100 AS a, jsonb_build_object('k', i % 7, 'list', jsonb_build_array(i % 5))::document AS d
	FROM generate_series(1, 20000) i;
ANALYZE documents;
CREATE FUNCTION as_record(jsonb) RETURNS record LANGUAGE sql IMMUTABLE AS 'SELECT 5, ''x''::text';
SELECT definition FROM advice('SELECT i, jsonb_array_elements_text(d -> ''list'') AS x FROM documents WHERE a = 5
	ORDER BY x',
	'SELECT count(*) FROM documents WHERE as_record(d) = ROW(5, ''x'') AND a < 10',
	'SELECT count(*) FROM documents WHERE d ->> ''k'' = ''5'' AND a < 10');
-- functions that are called while a query is planned do not see the indexes, nor do plans that they keep
CREATE FUNCTION cutoff() RETURNS numeric LANGUAGE plpgsql STABLE AS $$
BEGIN
	RETURN (SELECT max(amount) - 1 FROM orders WHERE customer > 3);
END
$$;
SELECT * FROM advice(VARIADIC array_fill('SELECT count(*) FROM orders WHERE amount > cutoff()'::text, ARRAY[3]));
SELECT cutoff(), cutoff(), cutoff(), cutoff(), cutoff(), cutoff();
-- errors that are not a query's end the call, and leave the transaction as it was
CREATE FUNCTION exhausted() RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	RAISE EXCEPTION USING ERRCODE = 'out_of_memory', MESSAGE = 'exhausted';
END
$$;
DO $$
BEGIN
	CREATE TEMPORARY TABLE undone (i int);
	PERFORM rtscan_advise(ARRAY['SELECT exhausted()']);
EXCEPTION WHEN out_of_memory THEN
	RAISE WARNING 'out of memory';
END
$$;
SELECT to_regclass('undone') IS NULL AS undone;
-- neither locks nor settings are left behind
SHOW work_mem;
BEGIN;
SELECT count(*) FROM advice('DELETE FROM customers WHERE id = 5');
SELECT mode FROM pg_locks WHERE relation = 'customers'::regclass AND pid = pg_backend_pid();
COMMIT;
SHOW work_mem;
-- indexes of constraints are needed
CREATE TABLE excluded (i int, j int, EXCLUDE USING btree (j WITH =)) WITH (autovacuum_enabled = off);
INSERT INTO excluded SELECT i, i FROM generate_series(1, 20000) i;
ANALYZE excluded;
SELECT * FROM advice('SELECT count(*) FROM excluded WHERE i < 5');

-- costs and size are those of a real index, about
SELECT definition, index_bytes, cost_with_index FROM rtscan_advise(ARRAY[
	'SELECT status, sum(amount) FROM orders WHERE customer < 1000 GROUP BY status']) \gset
CREATE TABLE before AS SELECT count(*) AS indexes FROM pg_class WHERE relkind = 'i';
:definition;
ANALYZE orders;
SELECT indexes + 1 = (SELECT count(*) FROM pg_class WHERE relkind = 'i') AS nothing_was_created FROM before;
CREATE FUNCTION cost(query text) RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	RETURN plan #>> '{0,Plan,Total Cost}';
END
$$;
SELECT cost('SELECT status, sum(amount) FROM orders WHERE customer < 1000 GROUP BY status') / :cost_with_index
	BETWEEN 0.25 AND 4 AS as_estimated;
SELECT total_bytes::float8 / :index_bytes BETWEEN 0.5 AND 2 AS as_estimated
FROM rtscan_stats((SELECT indexrelid FROM pg_index JOIN pg_class c ON c.oid = indexrelid JOIN pg_am a ON a.oid = relam
	WHERE indrelid = 'orders'::regclass AND amname = 'rtscan'));
-- with it, nothing more is to be gained
SELECT * FROM advice('SELECT status, sum(amount) FROM orders WHERE customer < 1000 GROUP BY status');
-- a hypothetical index is not seen by other queries, and not after an error
EXPLAIN (COSTS OFF) SELECT count(*) FROM orders WHERE ts < '2025-01-02';

-- partitions, with columns in another order
CREATE TABLE parts (id int, day date, kind text, x float8) PARTITION BY RANGE (day);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM ('2025-01-01') TO ('2025-02-01');
CREATE TABLE parts_2 (x float8, dropped int, kind text, day date, id int);
ALTER TABLE parts_2 DROP COLUMN dropped;
ALTER TABLE parts ATTACH PARTITION parts_2 FOR VALUES FROM ('2025-02-01') TO ('2025-03-01');
CREATE INDEX parts_kind ON parts (kind);
CREATE INDEX parts_x ON parts (x);
INSERT INTO parts SELECT i, date '2025-01-01' + i % 59, 'kind ' || i % 9, i % 777 FROM generate_series(1, 40000) i;
VACUUM ANALYZE parts;
SELECT * FROM advice('SELECT kind, sum(id) FROM parts WHERE day > ''2025-01-20'' AND x < 500 GROUP BY kind',
	'SELECT min(kind) FROM parts', 'SELECT count(*) FROM parts_1 WHERE x < 500');

-- others see only what they may see: what fails for them is a problem; policies hide rows
CREATE ROLE adviser;
GRANT USAGE ON SCHEMA advise TO adviser;
GRANT SELECT (id, amount) ON orders TO adviser;
SET ROLE adviser;
SELECT * FROM advice('SELECT count(*) FROM orders WHERE amount > 124.5',
	'SELECT count(*) FROM orders WHERE ts > ''2026-01-01''');
-- a view shows others' columns, but not what statistics tell of them
RESET ROLE;
CREATE VIEW shown WITH (security_barrier) AS SELECT id, amount FROM orders WHERE remark IS NOT NULL AND status <> 'x';
GRANT SELECT ON shown TO adviser;
SET ROLE adviser;
SELECT * FROM advice('SELECT count(*) FROM shown WHERE amount > 124.5');
RESET ROLE;
ALTER TABLE orders ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON orders TO adviser USING (id < 10);
SET ROLE adviser;
SELECT * FROM advice('SELECT count(*) FROM orders WHERE amount > 124.5');
RESET ROLE;
-- in a transaction that only reads; without pg_stat_statements; small tables, and those that were never analyzed
BEGIN READ ONLY;
SELECT count(*) FROM advice('SELECT count(*) FROM parts WHERE x > 700');
COMMIT;
SELECT count(*) FROM rtscan_advise();
CREATE TABLE small AS SELECT i FROM generate_series(1, 5000) i;
CREATE TABLE unknown WITH (autovacuum_enabled = off) AS SELECT i FROM generate_series(1, 50000) i;
ANALYZE small;
SELECT * FROM advice('SELECT count(*) FROM small WHERE i > 4990', 'SELECT count(*) FROM unknown WHERE i > 4990');

SET client_min_messages = error;
DROP SCHEMA advise CASCADE;
DROP ROLE adviser;
