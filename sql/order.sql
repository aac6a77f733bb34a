-- Rows in an order: of key columns, and of any columns of the index by a bounded heap, compared with sequential
-- scans.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
SET rtscan.enable_aggregate = off;
SET rtscan.merge_worker = off;
CREATE SCHEMA orders;
SET search_path = orders, public;
SET max_parallel_workers_per_gather = 0;
SET jit = off;

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/plans.psql
\set ECHO all
CREATE FUNCTION hash(i int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT abs(hashint4($1))';
-- Return a query's rows by a kind of scan, one by one.
CREATE FUNCTION rows_of(kind text, query text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	found text[];
BEGIN
	PERFORM set_config('enable_seqscan', (kind = 'sequential')::text, true),
		set_config('enable_bitmapscan', 'off', true), set_config('enable_indexscan', 'off', true),
		set_config('rtscan.enable_scan', (kind <> 'sequential')::text, true), set_config('enable_sort',
		(kind = 'sequential')::text, true);
	EXECUTE format('SELECT array_agg(q::text) FROM (%s) q', query) INTO found;
	RETURN found;
END
$$;
CREATE FUNCTION plan_of(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM rows_of('index', 'SELECT');
	RETURN (SELECT string_agg(line, E'\n') FROM explained(query) line);
END
$$;
-- A query returns the same rows, one after another, in whatever way, and its plan has what it should have: or else a
-- line.
CREATE FUNCTION unlike(query text, plan text DEFAULT 'Order Method: bounded heap')
	RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	expected text[] := rows_of('sequential', query);
	found text[] := rows_of('index', query);
BEGIN
	IF found IS DISTINCT FROM expected THEN
		RETURN NEXT format('%s: %s instead of %s', query, left(found::text, 500), left(expected::text, 500));
	END IF;
	IF plan_of(query) !~ plan THEN
		RETURN NEXT format(E'%s: not %s:\n%s', query, plan, plan_of(query));
	END IF;
END
$$;

-- Types with vectors and without, few and many values, NULLs, values that are equal and look different
CREATE TABLE t (id int, k int, few int2, many int, big int8, real4 float4, real8 float8, price numeric,
	word text COLLATE "C", long text,
	day date, moment timestamptz, flag bool, letter "char", number oid, lsn pg_lsn, list int[], span interval,
	clock int);
INSERT INTO t SELECT i, hash(i) % 1000, nullif(hash(i) % 7, 3), hash(i + 1),
	(hash(i + 2)::int8 - 1000000000) * 3000000000,
	CASE WHEN i % 11 = 0 THEN 'NaN' WHEN i % 13 = 0 THEN '-0' WHEN i % 7 <> 0 THEN (hash(i) % 50 - 20) / 4.0 END,
	CASE WHEN i % 11 = 0 THEN 'NaN' WHEN i % 13 = 0 THEN '-0' WHEN i % 17 = 0 THEN 'Infinity'
	WHEN i % 19 = 0 THEN '-Infinity'
		WHEN i % 7 <> 0 THEN (hash(i + 3) - 1000000000) / 3.0 END,
	CASE WHEN i % 5 > 0 THEN (hash(i + 4) % 10000)::numeric / CASE i % 3 WHEN 0 THEN 10
	WHEN 1 THEN 100 ELSE 1 END END,
	CASE WHEN i % 9 > 0 THEN 'w' || hash(i + 5) % 3000 END, repeat(chr(97 + hash(i + 6) % 26), i % 40) || i,
	date '2000-01-01' + hash(i + 7) % 5000, timestamptz '2020-01-01' + hash(i + 8) % 100000 * interval '1 minute',
	CASE hash(i) % 3 WHEN 0 THEN true WHEN 1 THEN false END, chr(1 + hash(i) % 127)::"char",
	(hash(i + 9) + (i % 2) * 2147483648)::oid,
	pg_lsn '0/0' + hash(i + 10), CASE WHEN i % 4 > 0 THEN ARRAY[hash(i) % 10, i] END,
	hash(i + 11) % 1000 * interval '1 hour', i
FROM generate_series(1, 70000) i;
CREATE INDEX t_idx ON t USING rtscan (k, few, many) INCLUDE (id, big, real4, real8, price, word, long, day, moment,
	flag, letter, number, lsn,
	list, span, clock);
VACUUM ANALYZE t;
CREATE TABLE columns AS SELECT attname AS name, row_number() OVER (ORDER BY attnum) AS n,
	CASE WHEN attname IN ('real4', 'real8') THEN attname || ' + 0' WHEN attname = 'price' THEN 'trim_scale(price)'
		ELSE quote_ident(attname) END AS shown
FROM pg_attribute WHERE attrelid = 't'::regclass AND attnum > 0;
CREATE TABLE conditions AS SELECT row_number() OVER () AS n, c FROM unnest(ARRAY['k >= 0', 'k < 300', 'k < 20',
	'k = 5', 'k < 700 AND few = 1',
	'k = -1']) c;
-- Orders of one column, whatever its type is; of two; of more
CREATE TABLE queries AS
SELECT format('SELECT %s FROM t WHERE %s ORDER BY %I%s%s LIMIT %s', shown, c, name, direction, nulls, rows) AS query
FROM columns, conditions co, unnest(ARRAY['', ' DESC']) WITH ORDINALITY d (direction, dn),
	unnest(ARRAY['', ' NULLS FIRST', ' NULLS LAST']) WITH ORDINALITY nu (nulls, nn), unnest(ARRAY[1, 20,
	700]) WITH ORDINALITY r (rows, rn)
WHERE (columns.n + co.n * 2 + dn * 3 + nn * 5 + rn * 7) % 17 = 0 AND (name, c) NOT IN (('k', 'k = 5'), ('k',
	'k = -1'), ('few', 'k < 700 AND few = 1'))
UNION ALL
SELECT format('SELECT %s, %s FROM t WHERE %s ORDER BY %I%s, %I%s LIMIT %s OFFSET %s', a.shown, b.shown, c, a.name,
	ad, b.name, bd, rows, skipped)
FROM columns a, columns b, conditions co, unnest(ARRAY['', ' DESC', ' NULLS FIRST']) WITH ORDINALITY d (ad, an),
	unnest(ARRAY['', ' DESC', ' DESC NULLS LAST']) WITH ORDINALITY e (bd, bn), unnest(ARRAY[10,
	300]) WITH ORDINALITY r (rows, rn),
	unnest(ARRAY[0, 50]) WITH ORDINALITY o (skipped, skn)
WHERE (a.n * 7 + b.n * 5 + co.n * 3 + an * 11 + bn * 13 + rn + skn) % 199 = 0 AND a.name <> b.name
	AND 'k' <> ALL (ARRAY[a.name, b.name]) AND (a.name, c) <> ('few', 'k < 700 AND few = 1') AND (b.name,
	c) <> ('few', 'k < 700 AND few = 1')
UNION ALL
SELECT 'SELECT flag, few, real4 + 0, word FROM t WHERE k < 500
	ORDER BY flag DESC, few NULLS FIRST, real4, word DESC LIMIT 400'
UNION ALL
SELECT 'SELECT flag, few, id FROM t WHERE k < 500 ORDER BY flag NULLS FIRST, few, id DESC LIMIT 25 OFFSET 1200';
SELECT count(*) > 150 AS many FROM queries;
SELECT unlike(query, CASE WHEN query ~ 'ORDER BY (k|few|many)\M' THEN 'Order' ELSE 'bounded heap' END) FROM queries;
-- How many of them have been found by a heap
SELECT count(*) > 130 AS by_heap FROM queries WHERE plan_of(query) ~ 'bounded heap';

-- The plan: not without a LIMIT, beyond work_mem, with a condition on rows, an order that is not the type's own, or
-- a join
SELECT plan_of('SELECT word, day FROM t WHERE k < 500
	ORDER BY word DESC NULLS LAST, day, few NULLS FIRST LIMIT 5 OFFSET 7');
SELECT query, plan_of(query) ~ 'bounded heap' AS by_heap
FROM unnest(ARRAY['word FROM t WHERE k < 500 ORDER BY word LIMIT 5', 'word FROM t WHERE k < 500 ORDER BY word',
	'word FROM t WHERE k < 500 ORDER BY word LIMIT 60000', 'word FROM t WHERE k < 500 ORDER BY word || ''x'' LIMIT 5',
	'word FROM t WHERE k < 500 AND length(word) > 3 ORDER BY word LIMIT 5',
	'word FROM t WHERE k < 500 ORDER BY word COLLATE "en-x-icu" LIMIT 5',
	'number FROM t WHERE k < 500 ORDER BY many::oid LIMIT 5',
	'long FROM t WHERE k < 500 ORDER BY long USING ~<~ LIMIT 5',
	'a.word FROM t a JOIN t b USING (id) WHERE a.k < 500 ORDER BY a.word LIMIT 5',
	'DISTINCT word FROM t WHERE k < 500 ORDER BY word LIMIT 5',
	'word, count(*) FROM t WHERE k < 500 GROUP BY word ORDER BY word LIMIT 5']) WITH ORDINALITY
	q (select_list, n), LATERAL (SELECT 'SELECT ' || select_list AS query) s
ORDER BY n;
SELECT unlike(query, 'Order')
	FROM unnest(ARRAY['SELECT word FROM t WHERE k < 500 ORDER BY word COLLATE "en-x-icu" LIMIT 5',
	'SELECT long FROM t WHERE k < 500 ORDER BY long COLLATE "C" DESC LIMIT 50']) query;

-- More rows than the planner thought: ties, and limits that turn out to be others
SELECT unlike(format('SELECT %1$s FROM t WHERE k < 300
	ORDER BY %1$s DESC NULLS LAST FETCH FIRST %2$s ROWS WITH TIES', o, n))
FROM unnest(ARRAY['day', 'word', 'list']) o, unnest(ARRAY[1, 100]) n;
SELECT unlike('SELECT flag FROM t WHERE k < 300 ORDER BY flag DESC FETCH FIRST 3 ROWS WITH TIES');
CREATE FUNCTION chosen_limit() RETURNS int8 STABLE LANGUAGE sql AS $$ SELECT current_setting('orders.rows')::int8 $$;
SET plan_cache_mode = force_generic_plan;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET orders.rows = 10;
PREPARE some_rows AS SELECT id, day FROM t WHERE k < 300 ORDER BY day DESC, id LIMIT chosen_limit();
EXPLAIN (COSTS OFF) EXECUTE some_rows;
SET orders.rows = 9;
CREATE TEMP TABLE first_9 AS EXECUTE some_rows;
SET orders.rows = 3000;
CREATE TEMP TABLE first_3000 AS EXECUTE some_rows;
SET orders.rows = 1000000;
CREATE TEMP TABLE all_rows AS EXECUTE some_rows;
SET work_mem = '64kB';
CREATE TEMP TABLE all_again AS EXECUTE some_rows;
RESET work_mem;
RESET plan_cache_mode;
RESET enable_seqscan;
RESET enable_bitmapscan;
SELECT (SELECT count(*) FROM first_9) AS nine, (SELECT count(*) FROM first_3000) AS three_thousand,
	(SELECT array_agg(a::text) FROM all_rows a) = (SELECT array_agg(b::text) FROM (SELECT id, day FROM t
	WHERE k < 300 ORDER BY day DESC, id) b) AS same,
	(SELECT array_agg(a::text) FROM all_rows a) = (SELECT array_agg(b::text) FROM all_again b) AS same_again,
	(SELECT array_agg(a::text) FROM (SELECT * FROM all_rows LIMIT 3000) a) = (SELECT array_agg(b::text)
	FROM first_3000 b) AS begins_like_that;

-- Rows of the table's, in the order of columns of the index
CREATE INDEX t_keys ON t USING rtscan (k) INCLUDE (day, real8);
SELECT unlike('SELECT real8 + 0, day, word, clock, t.ctid IS NULL FROM t WHERE k < 300
	ORDER BY day, real8, id LIMIT 30', 'RtscanScan');
SELECT unlike('SELECT day, real8 + 0, (SELECT count(*) FROM t u WHERE u.id = t.id AND u.word = t.word) FROM t
	WHERE k < 300 ORDER BY day, real8 LIMIT 3');
DROP INDEX t_keys;

-- Several segments and pending rows; rows that are gone, changed, or not yet there
SET enable_seqscan = off;
UPDATE t SET price = price + 1, clock = -clock WHERE id % 10 = 3;
DELETE FROM t WHERE id % 10 = 4;
INSERT INTO t SELECT (jsonb_populate_record(t, jsonb_build_object('id', id + 100000, 'clock', id % 50))).* FROM t
	WHERE id % 20 = 1;
VACUUM t; -- flushes
SELECT segments > 1 AS flushed FROM rtscan_stats('t_idx');
INSERT INTO t SELECT (jsonb_populate_record(t, jsonb_build_object('id', id + 200000, 'clock', id % 70))).* FROM t
	WHERE id % 100 = 7;
SELECT segments > 1 AS several, pending > 0 AS and_pending FROM rtscan_stats('t_idx');
RESET enable_seqscan;
BEGIN;
DELETE FROM t WHERE clock < 1000;
INSERT INTO t SELECT (jsonb_populate_record(t, jsonb_build_object('id', id + 300000, 'clock', 500))).* FROM t
	WHERE id % 70 = 1;
SELECT unlike('SELECT clock, id FROM t WHERE k < 300 ORDER BY clock, id LIMIT 20');
ROLLBACK;
SELECT unlike(query, 'Order') FROM queries WHERE hash(length(query) + ascii(right(query, 1))) % 5 = 0;
SELECT unlike('SELECT clock, id FROM t WHERE k < 300 ORDER BY clock, id LIMIT 20');
SELECT unlike('SELECT clock, id FROM t WHERE k < 300 ORDER BY clock DESC, id LIMIT 300 OFFSET 1000');
VACUUM t;
SELECT unlike('SELECT clock, id FROM t WHERE k < 300 ORDER BY clock, id LIMIT 20');
-- Only candidates are looked up in the table
CREATE FUNCTION fetches(query text) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	PERFORM rows_of('index', 'SELECT');
	RETURN (SELECT substring(line, 'Heap Fetches: (\d+)')::int FROM explained(query,
	'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF') line
		WHERE line ~ 'Heap Fetches');
END
$$;
DELETE FROM t WHERE id % 20 = 11;
SELECT fetches('SELECT clock FROM t WHERE k >= 0 ORDER BY clock, id LIMIT 5') BETWEEN 1 AND 2000 AS few;

-- Rows that OFFSET skips are not produced: columns of all sorts, from either end, with pending rows and rows that
-- are gone
CREATE TABLE s (id int, a int, few int, word text, f float8, up int, nul int, main bool);
INSERT INTO s SELECT i, hash(i), hash(i) % 5, 'w' || hash(i) % 2000, CASE
	WHEN i % 10 = 0 THEN 'NaN' ELSE (hash(i) % 1000) / 8.0 END,
	i, CASE WHEN hash(i) % 3 = 0 THEN hash(i + 1) % 10000 END, i <= 69000
FROM generate_series(1, 70000) i;
CREATE INDEX s_idx ON s USING rtscan (a, few, word, f, up, nul) INCLUDE (id) WHERE main;
VACUUM ANALYZE s;
CREATE FUNCTION offsets_unlike(condition text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	ordered text;
	query text;
	rows text[];
	expected text[];
	found text[];
	skips int := 0;
BEGIN
	FOREACH ordered IN ARRAY '{a,a DESC,few,word DESC,f,f DESC,up,up DESC,nul,nul DESC,nul NULLS FIRST,
			nul DESC NULLS LAST}'::text[] LOOP
		query := format('SELECT %s AS x FROM s WHERE main AND %s ORDER BY %s', split_part(ordered, ' ', 1),
		condition, ordered);
		rows := rows_of('sequential', query);
		FOR n IN 0 .. 6 LOOP
			query := regexp_replace(query, '( OFFSET.*)?$', format(' OFFSET %s LIMIT 3',
				(ARRAY[0, 1, 100, cardinality(rows) / 3, cardinality(rows) - 2, cardinality(rows),
				cardinality(rows) + 5])[n + 1]));
			expected := nullif(rows[substring(query, 'OFFSET (\d+)')::int + 1 : substring(query,
			'OFFSET (\d+)')::int + 3], '{}');
			found := rows_of('index', query);
			IF found IS DISTINCT FROM expected THEN
				RETURN NEXT format('%s: %s instead of %s', query, found, expected);
			END IF;
			skips := skips + (plan_of(query) ~ 'Offset: ')::int;
		END LOOP;
	END LOOP;
	RETURN NEXT CASE WHEN skips > 50 THEN 'nearly all skip' ELSE skips::text END;
END
$$;
SELECT offsets_unlike('few > 0');
DELETE FROM s WHERE id % 17 = 3;
INSERT INTO s SELECT id + 1000000, a, few, word, f, up, nul, main FROM s WHERE id % 20 = 1;
SELECT offsets_unlike('few > 0');
VACUUM s;
INSERT INTO s SELECT id + 2000000, a + 1, few, word, f, up, nul, main FROM s WHERE id % 200 = 1;
SELECT segments > 1 AS several, pending > 0 AS and_pending FROM rtscan_stats('s_idx');
SELECT offsets_unlike('a < 1500000000');
BEGIN;
DELETE FROM s WHERE id % 2 = 1;
SELECT offsets_unlike('few > 0');
ROLLBACK;
-- Parameters, as PostgreSQL takes them; with each row of another table; with rows of the table's
SET enable_sort = off;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET plan_cache_mode = force_generic_plan;
PREPARE skip (int, int) AS SELECT a FROM s WHERE main AND few > 0 ORDER BY a OFFSET $1 LIMIT $2;
EXPLAIN (COSTS OFF) EXECUTE skip (1, 1);
EXECUTE skip (40000, 2);
EXECUTE skip (NULL, 1);
EXECUTE skip (-1, 1);
EXECUTE skip (1, -1);
EXECUTE skip (1000000, 1);
RESET plan_cache_mode;
SELECT explained('SELECT * FROM s WHERE main AND few > 0 ORDER BY a OFFSET (SELECT 30000) LIMIT 1');
SELECT x, s.* FROM generate_series(0, 60000, 20000) x, LATERAL (SELECT a FROM s WHERE main
	AND few > x % 3 ORDER BY a OFFSET x LIMIT 1) s;
SELECT * FROM s WHERE main AND few > 0 ORDER BY a OFFSET (SELECT 30000) LIMIT 1;
RESET enable_seqscan;
SET rtscan.enable_scan = off;
EXECUTE skip (40000, 2);
SELECT x, s.* FROM generate_series(0, 60000, 20000) x, LATERAL (SELECT a FROM s WHERE main
	AND few > x % 3 ORDER BY a OFFSET x LIMIT 1) s;
SELECT * FROM s WHERE main AND few > 0 ORDER BY a OFFSET (SELECT 30000) LIMIT 1;
RESET rtscan.enable_scan;
-- OFFSET does not skip rows that another node needs
SELECT query, plan_of(query) ~ 'Offset: ' AS skips
FROM unnest(ARRAY['a FROM s WHERE main ORDER BY a OFFSET 9000 LIMIT 1', 'a FROM s WHERE main ORDER BY a OFFSET 9000',
	'a FROM s WHERE main ORDER BY a OFFSET 9000 LIMIT 1 FOR UPDATE',
	'a, random() FROM s WHERE main ORDER BY a OFFSET 9000 LIMIT 1',
	'a, generate_series(1, 2) FROM s WHERE main ORDER BY a OFFSET 9000 LIMIT 1',
	'DISTINCT a FROM s WHERE main ORDER BY a OFFSET 9000 LIMIT 1',
	'a, rank() OVER (ORDER BY a) FROM s WHERE main ORDER BY a OFFSET 9000 LIMIT 1',
	'a FROM s WHERE main AND id % 2 = 0 ORDER BY a OFFSET 9000 LIMIT 1',
	'a, few FROM s WHERE main ORDER BY a, few OFFSET 9000 LIMIT 1',
	'a + 1 FROM s WHERE main ORDER BY a OFFSET 9000 LIMIT 1'])
	WITH ORDINALITY q (select_list, n), LATERAL (SELECT 'SELECT ' || select_list AS query) s
ORDER BY n;
RESET enable_sort;
RESET enable_bitmapscan;
-- Also where a btree has rows in that order for less than the index, if all are wanted
CREATE INDEX s_btree ON s (a);
CREATE INDEX s_words ON s (word DESC);
VACUUM ANALYZE s;
CREATE TABLE skipping (n int, query text);
INSERT INTO skipping SELECT n, q FROM unnest(ARRAY['SELECT a FROM s WHERE main ORDER BY a OFFSET 40000 LIMIT 3',
	'SELECT a + 1 FROM s WHERE main ORDER BY a DESC OFFSET 40000 LIMIT 3',
	'SELECT a, main FROM s WHERE main AND few > 0 ORDER BY a OFFSET 40000 LIMIT 1',
	'SELECT word, (SELECT max(few) FROM s) FROM s WHERE main ORDER BY word DESC OFFSET 40000 LIMIT 3',
	'SELECT x.a + 1 FROM (SELECT a FROM s WHERE main ORDER BY a OFFSET 40000 LIMIT 3) x',
	'SELECT DISTINCT a FROM s WHERE main ORDER BY a OFFSET 40000 LIMIT 3',
	'SELECT a, count(*) OVER (ORDER BY a) FROM s WHERE main ORDER BY a OFFSET 40000 LIMIT 3',
	'SELECT a, count(*) FROM s WHERE main GROUP BY a ORDER BY a OFFSET 40000 LIMIT 3']) WITH ORDINALITY q (q, n);
SELECT n, plan_text(query) ~ 'Offset: ' AS skips FROM skipping ORDER BY n;
SELECT unlike(query, '') FROM skipping;
DROP INDEX s_btree, s_words;

-- Segments that follow each other, as those of a table in the order of time: values of several are tried
CREATE TABLE follow AS
SELECT i AS a, nullif(i % 5, 0) * i AS b, lpad(i::text, 6, '0') AS t FROM generate_series(1, 120000) i;
SET rtscan.debug_segment_rows = 18000;
SET max_parallel_maintenance_workers = 0;
CREATE INDEX ON follow USING rtscan (a, b, t);
VACUUM ANALYZE follow;
RESET rtscan.debug_segment_rows;
RESET max_parallel_maintenance_workers;
SELECT segments > 3 AS several FROM rtscan_stats('follow_a_b_t_idx');
SELECT unlike(format('SELECT %1$s FROM follow ORDER BY %1$s %2$s LIMIT 3 OFFSET %3$s', c, d, n), 'Offset: ')
FROM unnest(ARRAY['a', 'b', 't']) c, unnest(ARRAY['', 'DESC', 'DESC NULLS LAST']) d,
	unnest(ARRAY[20000, 55555, 90000, 119998]) n;

-- Nodes of PostgreSQL that use the order: groups, windows, merge joins, cursors that go back
SELECT unlike(query, 'Order: |Unique')
FROM unnest(ARRAY['SELECT DISTINCT ON (k) k, few FROM t WHERE many < 500000000 ORDER BY k, few DESC LIMIT 20',
	'SELECT k, row_number() OVER (ORDER BY k) FROM t WHERE many < 100000000 ORDER BY k LIMIT 30',
	'SELECT k, count(*) OVER (PARTITION BY k) FROM t WHERE many < 100000000 ORDER BY k LIMIT 30',
	'SELECT k FROM t WHERE many < 100000000 ORDER BY k DESC FETCH FIRST 5 ROWS WITH TIES',
	'SELECT k, many FROM t WHERE few = 2 ORDER BY k DESC, many LIMIT 40 OFFSET 3']) query;
SET rtscan.enable_star = off;
SET enable_hashjoin = off;
SET enable_nestloop = off;
SELECT unlike(query, 'Order: ')
FROM unnest(ARRAY['SELECT a.many, b.id FROM t a JOIN t b ON a.many = b.many WHERE a.k < 5 AND b.k < 7
	ORDER BY a.many, b.id',
	'SELECT a.many, b.id FROM t a LEFT JOIN t b ON a.many = b.many AND b.k < 2 WHERE a.k < 5
	ORDER BY a.many, b.id LIMIT 20']) query;
RESET rtscan.enable_star;
RESET enable_hashjoin;
RESET enable_nestloop;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT clock, id FROM t WHERE k < 300 ORDER BY clock, id LIMIT 6;
FETCH 4 FROM c;
FETCH BACKWARD 2 FROM c;
FETCH LAST FROM c;
FETCH FIRST FROM c;
COMMIT;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT k, many FROM t WHERE few = 2 ORDER BY k DESC, many;
MOVE 500 FROM c;
FETCH BACKWARD 2 FROM c;
FETCH RELATIVE 2 FROM c;
COMMIT;
-- again and again, with other rows; rows that are locked
SELECT x, s.* FROM generate_series(1, 3) x, LATERAL (SELECT clock, id FROM t WHERE k = x ORDER BY clock DESC,
	id LIMIT 2) s;
SELECT clock, id FROM t WHERE k < 300 ORDER BY clock DESC, id LIMIT 2 FOR UPDATE;
RESET enable_seqscan;
RESET enable_bitmapscan;
-- Partitions: each has its first rows
CREATE TABLE p (id int, a int, day date, f float8) PARTITION BY HASH (id);
CREATE TABLE p0 PARTITION OF p FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE p1 (f float8, day date, a int, id int);
ALTER TABLE p ATTACH PARTITION p1 FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO p SELECT i, hash(i) % 1000, date '2000-01-01' + hash(i) % 300,
	CASE i % 3 WHEN 0 THEN '-0' WHEN 1 THEN 0.0::float8 END
FROM generate_series(1, 20000) i;
CREATE INDEX p_idx ON p USING rtscan (a) INCLUDE (day, id, f);
VACUUM ANALYZE p;
SELECT plan_of('SELECT day, id FROM p WHERE a < 300 ORDER BY day DESC, id LIMIT 20');
SELECT unlike('SELECT day, id FROM p WHERE a < 300 ORDER BY day DESC, id LIMIT 20');
SELECT unlike('SELECT f + 0, id FROM p WHERE a < 300 ORDER BY f DESC NULLS LAST, id LIMIT 700');
SELECT unlike('SELECT a FROM p WHERE a < 300 ORDER BY a OFFSET 1000 LIMIT 2', 'Order: a');
DROP SCHEMA orders CASCADE;
