-- Joins as sets of keys, of tables that have a thousand times as many rows as the planner expected: they come in ranges
-- that fit into memory, and the answer is the same as by PostgreSQL's own joins.

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA star_memory;
SET search_path = star_memory, public;
SET rtscan.pending_list_limit = '64kB';
SET rtscan.merge_worker = off;
SET max_parallel_workers_per_gather = 0;
SET work_mem = '64kB';
-- wherever a star can be, it is
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_nestloop = off;

CREATE FUNCTION outcome(query text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	rows text[];
BEGIN
	EXECUTE 'SELECT array_agg(r::text ORDER BY r::text COLLATE "C") FROM (' || query || ') r' INTO rows;
	RETURN rows;
EXCEPTION WHEN others THEN
	RETURN ARRAY[SQLERRM];
END $$;
-- How many ranges dimensions came in, one after another.
CREATE FUNCTION ranges_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, FORMAT json, COSTS OFF, TIMING OFF) ' || query INTO plan;
	RETURN (SELECT string_agg(CASE WHEN (dimension ->> 'Ranges')::int > 1 THEN 'several' ELSE 'one' END, ', '
		ORDER BY n)
		FROM jsonb_path_query(plan::jsonb, 'strict $.**.Dimensions[*]') WITH ORDINALITY d (dimension, n));
END $$;
CREATE FUNCTION differs(query text, ranges text DEFAULT 'several') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	found text := ranges_of(query);
	with_star text[] := outcome(query);
	without_star text[];
BEGIN
	SET LOCAL rtscan.enable_star = off;
	SET LOCAL rtscan.enable_scan = off;
	SET LOCAL rtscan.enable_aggregate = off;
	SET LOCAL enable_hashjoin = on;
	SET LOCAL work_mem = '64MB';
	without_star := outcome(query);
	SET LOCAL rtscan.enable_star = on;
	SET LOCAL rtscan.enable_scan = on;
	SET LOCAL rtscan.enable_aggregate = on;
	SET LOCAL enable_hashjoin = off;
	SET LOCAL work_mem = '64kB';
	IF found IS DISTINCT FROM ranges THEN
		RETURN NEXT format('%s: %s ranges, not %s', query, found, ranges);
	END IF;
	IF with_star IS DISTINCT FROM without_star THEN
		RETURN NEXT format('%s: with a star %s rows, %s; without %s, %s', query, cardinality(with_star),
			left(with_star::text, 300), cardinality(without_star), left(without_star::text, 300));
	END IF;
END $$;

-- p, q, t: some thousands of values; a: few; o: in heap order; v, w and x are INCLUDEd
CREATE TABLE fact (id int, o int, a int, p int, q float8, t text, n numeric, v int, w int, x text,
	filler text)
	WITH (autovacuum_enabled = off);
CREATE FUNCTION facts(first int, n int) RETURNS SETOF fact LANGUAGE sql AS $$
	SELECT i, i, CASE WHEN h % 11 > 0 THEN h % 100 END, CASE WHEN h % 13 > 0 THEN h % 24000 END,
		CASE h % 10 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' WHEN 2 THEN NULL ELSE (h % 12000)::float8 END,
		CASE WHEN h % 9 > 0 THEN 'text ' || h % 5000 END, CASE WHEN h % 7 = 0 THEN 'NaN' ELSE h % 9000 / 2.0 END,
		h % 17, CASE WHEN h % 5 > 0 THEN h % 20000 END, 'x' || h % 6, NULL
	FROM (SELECT i, abs(hashint4(i)) FROM generate_series(first, first + n - 1) i) r (i, h)
$$;
INSERT INTO fact SELECT * FROM facts(1, 12000);
CREATE INDEX fact_star ON fact USING rtscan (o, a, p, q, t, n) INCLUDE (id, v, w, x);
DELETE FROM fact WHERE id % 13 = 0;
VACUUM ANALYZE fact;
INSERT INTO fact SELECT * FROM facts(100001, 1500);
DELETE FROM fact WHERE id % 17 = 0;
UPDATE fact SET a = a + 1 WHERE id % 997 = 0;
SELECT segments > 1 AS segments, pending > 0 AS pending FROM rtscan_stats('fact_star');

-- many rows, and NULLs, although one row is expected; and tables of which few rows are expected
CREATE FUNCTION many(n int) RETURNS TABLE (k int, g int, name text) LANGUAGE sql ROWS 1
	PARALLEL SAFE AS $$
	SELECT i, i % 7, 'name ' || i % 50 FROM generate_series(1, n * 3, 3) i UNION ALL VALUES (NULL::int, 5, 'none')
$$;
CREATE TABLE dim (k int PRIMARY KEY, k8 bigint UNIQUE, q float8 UNIQUE, t text UNIQUE, n numeric UNIQUE, g int,
	name text, amount numeric, long text);
INSERT INTO dim SELECT i, i, CASE WHEN i = 7 THEN 'NaN'::float8 WHEN i > 9 THEN i ELSE i - 9 END, 'text ' || i,
	CASE WHEN i = 7 THEN 'NaN'::numeric ELSE i / 2.00 END, nullif(i % 7, 3), 'name ' || i % 50, i / 4.0,
	repeat('long ', i % 20)
	FROM generate_series(1, 15000, 2) i;
ANALYZE dim;
CREATE VIEW dims AS SELECT * FROM dim WHERE k > k8 - 1 AND k8 > k - 1 AND k + 0 > 2 AND k + 1 > 3 AND k8 + 0 > 2
	AND k8 + 1 > 3 AND g + 0 IS DISTINCT FROM 4;

-- semi and anti joins, by keys of all kinds
SELECT differs(format('SELECT %s FROM fact WHERE %s AND v < 15', output, qual))
FROM unnest('{count(*),"x, id + v AS y"}'::text[]) output,
	unnest(ARRAY['p IN (SELECT k FROM many(9000))', 'o IN (SELECT k FROM many(9000))',
	'w IN (SELECT k FROM many(9000))', 'p IN (SELECT k8 FROM dims)', 'q IN (SELECT q FROM dims)',
	't IN (SELECT t FROM dims)', 'n IN (SELECT n FROM dims)', 'q IN (SELECT k::float4 FROM many(9000))',
	'NOT EXISTS (SELECT FROM many(9000) WHERE k = p)', 'NOT EXISTS (SELECT FROM many(9000) WHERE k = o)',
	'NOT EXISTS (SELECT FROM many(9000) WHERE k = w)', 'NOT EXISTS (SELECT FROM dims WHERE k8 = p)',
	'NOT EXISTS (SELECT FROM dims WHERE dims.q = fact.q)', 'NOT EXISTS (SELECT FROM dims WHERE dims.t = fact.t)',
	'NOT EXISTS (SELECT FROM dims WHERE dims.n = fact.n)']) qual;
-- keys that come often need no ranges
SELECT differs('SELECT count(*) FROM fact WHERE p IN (SELECT k % 3000 FROM many(15000))', 'one');
-- inner and left joins, with attributes
SELECT differs(format('SELECT %s FROM fact %s JOIN dims d ON d.%s WHERE a > 3 %s', output, kind, key, behind))
FROM unnest('{"",LEFT}'::text[]) kind, unnest('{k = p,k8 = o,k = w,q = fact.q,t = fact.t,n = fact.n}'::text[]) key,
	(VALUES ('count(d.k), sum(d.amount), max(d.name), avg(d.g)', ''), ('d.name, x, count(*), sum(d.amount * v)',
	'GROUP BY 1, 2'), ('id, d.name, d.long, d.amount', '')) q (output, behind);
SELECT differs('SELECT ' || query)
FROM unnest('{"k, count(*) FROM fact JOIN dims ON k = p GROUP BY 1",
	"g, x, count(*) FROM fact LEFT JOIN dims ON k = p GROUP BY 1, 2"}'::text[]) query;
SELECT differs('SELECT g, x, count(*) FROM fact JOIN dims ON k = p GROUP BY GROUPING SETS ((g), (x), (id % 3), ())');
-- dimensions that are scanned by an index, and taken by column: keys and attributes by value and by reference, and
-- NULLs among them
CREATE TABLE labelled (k int UNIQUE, k8 bigint, q float8, t text UNIQUE, name text, long text, half float8,
	d date);
INSERT INTO labelled SELECT CASE WHEN i % 11 > 0 THEN i END, i, i, CASE WHEN i % 9 > 0 THEN 'text ' || i END,
	CASE WHEN i % 7 > 0 THEN 'name ' || i % 80 END, CASE WHEN i % 5 > 0 THEN repeat('long ' || i, i % 400) END,
	CASE WHEN i % 13 > 0 THEN i % 90 / 2.0 END, CASE WHEN i % 3 > 0 THEN '2020-01-01'::date + i % 30 END
	FROM generate_series(1, 30000) i;
CREATE INDEX labelled_rtscan ON labelled USING rtscan (k, k8, q, t, name) INCLUDE (long, half, d);
VACUUM ANALYZE labelled;
CREATE VIEW labels AS SELECT * FROM labelled WHERE k <= 10000 AND k8 <= 10000 AND q <= 10000;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT name, count(*), sum(v) FROM fact JOIN labels d ON d.k = p GROUP BY 1;
SELECT differs('SELECT ' || query)
FROM unnest('{"count(*), sum(d.half), max(d.d), count(d.name) FROM fact JOIN labels d ON d.k = p",
	"name, half, count(*), sum(v) FROM fact LEFT JOIN labels d ON d.k = p GROUP BY 1, 2",
	"id, d.name, d.d FROM fact LEFT JOIN labels d ON d.k = p",
	"d.d, half, count(*) FROM fact JOIN labels d ON d.t = fact.t GROUP BY 1, 2",
	"count(*) FROM fact WHERE p IN (SELECT k FROM labels)",
	"count(*) FROM fact WHERE NOT EXISTS (SELECT FROM labels d WHERE d.t = fact.t)"}'::text[]) query;
-- and with memory for all of them
CREATE MATERIALIZED VIEW plain_labels AS SELECT * FROM labels;
SET work_mem = '64MB';
SELECT outcome(query) = outcome(replace(query, 'labels', 'plain_labels')) AS same
FROM unnest('{"SELECT half, count(*) FROM fact JOIN labels d ON d.k = p GROUP BY 1",
	"SELECT name, half, d, count(*) FROM fact JOIN labels d ON d.k = p GROUP BY 1, 2, 3",
	"SELECT id, long, name, d FROM fact LEFT JOIN labels d ON d.k = p"}'::text[]) query;
SET work_mem = '64kB';
RESET enable_seqscan;
RESET enable_bitmapscan;
-- several keys: ranges are of the first
CREATE TABLE pairs (k int, a int, label text, UNIQUE (k, a));
INSERT INTO pairs SELECT i / 2, i % 60, 'label ' || i % 9 FROM generate_series(1, 12000) i;
ANALYZE pairs;
CREATE VIEW few_pairs AS SELECT * FROM pairs WHERE k + 0 > 2 AND k + 1 > 3 AND a + 0 < 55 AND a + 1 < 57 AND k + a > 9
	AND k + a > 10;
SELECT differs(format(query, kind))
FROM unnest('{"SELECT count(*), count(label) FROM fact %s JOIN few_pairs d ON d.k = p AND d.a = fact.a",
	"SELECT label, x, sum(v) FROM fact %s JOIN few_pairs d ON d.k = p AND d.a = fact.a GROUP BY 1, 2"}'::text[]) query,
	unnest('{"",LEFT}'::text[]) kind;
SELECT differs('SELECT x, count(*) FROM fact WHERE ' || query || ' GROUP BY x')
FROM unnest('{"(p, a) IN (SELECT k, a FROM few_pairs)",
	"NOT EXISTS (SELECT FROM few_pairs d WHERE d.k = p AND d.a = fact.a)"}'::text[]) query;
-- keys that several rows have, which come in one range
SELECT differs(format(query, kind))
FROM unnest('{"SELECT count(*), count(d.k), sum(g), max(name)
		FROM fact %s JOIN (SELECT k %% 3000, g, name FROM many(9000)) d (k) ON d.k = p",
	"SELECT id, d.k, g FROM fact %s JOIN (SELECT k %% 3000, g FROM many(9000)) d (k) ON d.k = p WHERE v < 5",
	"SELECT label, x, sum(v) FROM fact %s JOIN few_pairs d ON d.k = p GROUP BY 1, 2",
	"SELECT label, count(*) FROM fact %s JOIN (SELECT * FROM few_pairs UNION ALL SELECT * FROM few_pairs) d ON d.k = p
		AND d.a = fact.a GROUP BY 1"}'::text[]) query, unnest('{"",LEFT}'::text[]) kind;
-- several dimensions: each range with each
SELECT differs('SELECT ' || query, ranges)
FROM (VALUES ('count(*), sum(d.g) FROM fact JOIN dims d ON d.k = p JOIN dims e ON e.k8 = o', 'several, several'),
	('d.g, e.g, count(*) FROM fact LEFT JOIN dims d ON d.k = p LEFT JOIN dims e ON e.k8 = o GROUP BY 1, 2',
	'several, several'),
	('d.name, count(*) FROM fact JOIN dims d ON d.k = p WHERE a IN (SELECT k FROM many(9)) AND NOT EXISTS
	(SELECT FROM many(9000) m WHERE m.k = o) GROUP BY 1', 'several, one, several'),
	('count(*) FROM fact WHERE p IN (SELECT k FROM many(9000)) AND NOT EXISTS (SELECT FROM dims
	WHERE dims.t = fact.t)',
	'several, several'),
	('count(*) FROM fact JOIN dims d ON d.k = p AND d.g < v', 'several')) q (query, ranges);
-- rows from the heap, FILTER that may fail, a limit, a cursor
SELECT differs('SELECT fact.* FROM fact WHERE p IN (SELECT k FROM many(9000)) AND v = 3');
SELECT differs('SELECT count(*) FILTER (WHERE v > (SELECT 1 / (count(*) - 7500) FROM dim WHERE k > 0)), count(*)
	FROM fact WHERE p IN (SELECT k FROM many(9000)) AND v > 100');
SELECT count(*) FROM (SELECT FROM fact WHERE p IN (SELECT k FROM many(9000)) LIMIT 10) x;
BEGIN;
DECLARE cur CURSOR FOR SELECT id, name FROM fact JOIN dims ON k = p WHERE v = 3;
FETCH 2 FROM cur \g /dev/null
UPDATE fact SET p = p + 1;
DELETE FROM dim;
MOVE ALL FROM cur;
ROLLBACK;
-- again: with the same rows, from the first range on, and with others
SELECT differs(format('SELECT * FROM generate_series(0, 3) y, LATERAL (SELECT %s) z', query))
FROM unnest('{"count(*), sum(v) FROM fact JOIN dims ON k = p WHERE v > y","name, count(*) FROM fact JOIN dims ON k = p
	WHERE v > y GROUP BY name","count(*) FROM fact WHERE p IN (SELECT k + y FROM dims)",
	"ARRAY(SELECT id FROM fact WHERE v = y AND p IN (SELECT k FROM dims) ORDER BY id)"}'::text[]) query;
-- several processes, each of which goes through the ranges for the rows that it has taken
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
ALTER TABLE fact SET (parallel_workers = 2);
INSERT INTO fact SELECT * FROM facts(200001, 20000);
VACUUM ANALYZE fact;
INSERT INTO fact SELECT * FROM facts(300001, 500);
CREATE VIEW once AS SELECT k, min(g) AS g, max(name) AS name FROM many(9000) GROUP BY k;
EXPLAIN (COSTS OFF) SELECT x, count(*) FROM fact WHERE NOT EXISTS (SELECT FROM many(9000) WHERE k = p) GROUP BY x;
SELECT differs('SELECT ' || query)
FROM unnest('{"name, sum(v) FROM fact JOIN once ON k = p GROUP BY name","x, g, sum(v), count(*) FROM fact LEFT JOIN once
	ON k = p GROUP BY 1, 2","id, name FROM fact JOIN once ON k = p WHERE v < 3",
	"x, count(*) FROM fact WHERE NOT EXISTS (SELECT FROM many(9000) WHERE k = p) GROUP BY x"}'::text[]) query;
SET parallel_leader_participation = off;
SELECT differs('SELECT x, count(*) FROM fact WHERE NOT EXISTS (SELECT FROM many(9000) WHERE k = p) GROUP BY x');
RESET parallel_leader_participation;
RESET max_parallel_workers_per_gather;

DROP SCHEMA star_memory CASCADE;
