-- RtscanScan in the order of a key: of every kind of column, from either end, with NULLs first or last, of one segment
-- or many and of pending rows; and what PostgreSQL makes of an order.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
SET rtscan.enable_aggregate = off;
SET rtscan.merge_worker = off;
CREATE SCHEMA in_order;
SET search_path = in_order, public;
SET max_parallel_workers_per_gather = 0;
SET timezone = 'UTC';
SET enable_tidscan = off;

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/differences.psql
\i :directory/sql/include/plans.psql
\set ECHO all
CREATE FUNCTION hash(i int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT abs(hashint4($1))';
-- Return a query's rows by a kind of scan, as text, in its order.
CREATE FUNCTION sequence_of(kind text, query text) RETURNS text[] LANGUAGE plpgsql SET jit = off AS $$
DECLARE
	r record;
	found text[];
BEGIN
	PERFORM allow_scan(kind), set_config('enable_sort', (kind = 'sequential')::text, true),
		set_config('enable_hashagg', (kind = 'sequential')::text, true);
	EXECUTE format('SELECT array_agg(q::text) FROM (%s) q', query) INTO found;
	RETURN coalesce(found, '{}');
END
$$;
CREATE FUNCTION plan(query text) RETURNS text LANGUAGE plpgsql SET enable_sort = off SET enable_hashagg = off AS $$
BEGIN
	PERFORM allow_scan('columns');
	RETURN (SELECT string_agg(line, E'\n') FROM explained(query) line);
END
$$;
-- A query has the same rows in the same order by RtscanScan as by a sequential scan and a sort: a line if not, or if
-- the scan has no order.
CREATE FUNCTION unlike(query text, node text DEFAULT 'Order: ') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	expected text[] := sequence_of('sequential', query);
	found text[] := sequence_of('columns', query);
BEGIN
	IF found IS DISTINCT FROM expected THEN
		RETURN NEXT format('%s: %s rows instead of %s, %s instead of %s', query, cardinality(found),
			cardinality(expected), left(found::text, 500), left(expected::text, 500));
	END IF;
	IF plan(query) !~ node THEN
		RETURN NEXT format(E'%s:\n%s', query, plan(query));
	END IF;
END
$$;
-- Rows with equal keys may come in any order: the keys' sequence is the same, and so are all rows; of some of them each
-- is one of all.
CREATE FUNCTION misordered(tab text, list text, key text, direction text, qual text, part text) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
	query text := format('SELECT %s FROM %s WHERE %s ORDER BY %s %s', list, tab, qual, key, direction);
	surplus text[];
BEGIN
	RETURN QUERY
		SELECT unlike(format('SELECT %s AS shown FROM %s WHERE %s ORDER BY %s %s %s',
			-- equal values may come in any order
			CASE key WHEN 'price' THEN 'trim_scale(price)' WHEN 'f' THEN 'f + 0' ELSE key END,
			tab, qual, key, direction, part));
	SELECT array_agg(row)
	FROM (
		SELECT unnest(sequence_of('columns', format('%s %s', query, part)))
		EXCEPT ALL
		SELECT unnest(sequence_of('sequential', query))) s (row)
	INTO surplus;
	IF surplus IS NOT NULL THEN
		RETURN NEXT format('%s %s: surplus %s', query, part, left(surplus::text, 500));
	END IF;
	IF plan(query) !~ 'Order: ' THEN
		RETURN NEXT format(E'%s:\n%s', query, plan(query));
	END IF;
END
$$;

--
-- Columns: in heap order; with few values, with many, unique; with no NULLs, some, and nothing else
--
CREATE COLLATION plain (provider = icu, locale = 'und');
CREATE TABLE t (
	id int, few int, many int, word text COLLATE "C", price numeric, f float8, ts timestamptz, yes bool,
	name text COLLATE plain, nothing int, pad char(5), filler text)
WITH (autovacuum_enabled = off);
CREATE FUNCTION t_rows(first int, last int) RETURNS SETOF t LANGUAGE sql AS $$
	SELECT i, CASE WHEN i % 23 > 0 THEN hash(i) % 90 - 40 END, hash(i + 5) - 1000000000,
		CASE WHEN i % 31 > 0 THEN 'w' || hash(i + 7) % 3000 END,
		CASE WHEN i % 997 = 5 THEN 'NaN' WHEN i % 1009 = 7 THEN 0.000
			ELSE round(hash(i) % 100000 / 8.0 - 5000, i % 4) END,
		CASE i % 401 WHEN 1 THEN 'NaN' WHEN 2 THEN '-0' WHEN 3 THEN '0' WHEN 4 THEN 'inf' WHEN 5 THEN '-inf'
			ELSE hash(i) / 7.0 - 1e8 END,
		CASE WHEN i % 500 > 3 THEN timestamptz '2000-01-01' + hash(i + 9) * interval '1 s' ELSE '-infinity' END,
		CASE WHEN i % 3 > 0 THEN hash(i) % 2 = 0 END, chr(65 + hash(i) % 26) || chr(97 + hash(i + 1) % 26), NULL::int,
		CASE WHEN i % 5 > 0 THEN 'p' || hash(i) % 40 END, 'f' || i
	FROM generate_series(first, last) i
$$;
INSERT INTO t SELECT * FROM t_rows(1, 9000);
SET rtscan.debug_segment_rows = 18000;
CREATE INDEX t_all ON t USING rtscan (id, few, many, word, price, f, ts, yes, name, nothing, pad) INCLUDE (filler);
INSERT INTO t SELECT * FROM t_rows(9001, 9900);
DELETE FROM t WHERE id % 13 = 0;
VACUUM ANALYZE t;
UPDATE t SET many = many + 1 WHERE id % 17 = 0;
UPDATE t SET filler = 'changed' WHERE id % 29 = 0;
DELETE FROM t WHERE id % 101 = 0;
INSERT INTO t SELECT * FROM t_rows(9901, 10100);
BEGIN;
INSERT INTO t SELECT * FROM t_rows(20001, 20100);
ROLLBACK;
SELECT segments > 1 AS segments, pending_bytes > 0 AS pending FROM rtscan_stats('t_all');
CREATE TABLE orders (key text, direction text);
INSERT INTO orders
SELECT key, direction
FROM unnest('{id,few,many,word,price,f,ts,yes,name,nothing,pad}'::text[]) key,
	unnest('{ASC,DESC,ASC NULLS FIRST,DESC NULLS LAST}'::text[]) direction;
-- each with some of these
CREATE TABLE quals (n serial, qual text);
INSERT INTO quals (qual) VALUES
	('true'), ('few > 30'), ('many BETWEEN 0 AND 50000000'), ('word LIKE ''w11%'' OR few = 7'), ('id % 7 = 3'),
	('id < 3000 AND f <> 0'), ('yes AND price > 0 AND length(word) > 2'), ('few IN (1, 2) AND id % 2 = 0'),
	('id BETWEEN 70 AND 77'), ('few > 1000'), ('name < ''C'' AND few <> 3'), ('filler LIKE ''%7''');
CREATE TABLE parts (n serial, part text);
INSERT INTO parts (part) VALUES (''), ('LIMIT 1'), ('LIMIT 10'), ('OFFSET 100 LIMIT 50'), ('LIMIT 3000');
CREATE VIEW chosen AS
SELECT key, direction, qual, part, hash(row_number() OVER (ORDER BY key, direction, q.n, p.n)::int) AS random
FROM orders, quals q, parts p;
SELECT misordered('t', list, key, direction, qual, part)
FROM chosen, unnest('{id,"filler, ctid"}'::text[]) WITH ORDINALITY l (list, n)
WHERE random % 16 = n;
-- from one segment, with chunks; keys with few values are walked value by value
CREATE TABLE large (LIKE t) WITH (autovacuum_enabled = off);
INSERT INTO large SELECT * FROM t_rows(1, 70000);
RESET rtscan.debug_segment_rows;
CREATE INDEX large_all ON large USING rtscan (id, few, many, word, price, f, ts, yes, name, nothing, pad)
	INCLUDE (filler);
VACUUM ANALYZE large;
-- without a condition, or with a range of the order's column alone, bits are not needed
CREATE TABLE ranges AS
SELECT key, format(qual, key, low, high) AS qual
FROM (
	SELECT percentile_disc('{0.3,0.6}'::float8[]) WITHIN GROUP (ORDER BY id)::text[] AS id,
		percentile_disc('{0.3,0.6}'::float8[]) WITHIN GROUP (ORDER BY few)::text[] AS few,
		percentile_disc('{0.3,0.6}'::float8[]) WITHIN GROUP (ORDER BY many)::text[] AS many,
		percentile_disc('{0.3,0.6}'::float8[]) WITHIN GROUP (ORDER BY word)::text[] AS word,
		percentile_disc('{0.3,0.6}'::float8[]) WITHIN GROUP (ORDER BY price)::text[] AS price,
		percentile_disc('{0.3,0.6}'::float8[]) WITHIN GROUP (ORDER BY f)::text[] AS f,
		percentile_disc('{0.3,0.6}'::float8[]) WITHIN GROUP (ORDER BY ts)::text[] AS ts
	FROM large) q,
	LATERAL (VALUES ('id', id), ('few', few), ('many', many), ('word', word), ('price', price), ('f', f), ('ts', ts))
		AS k (key, ends),
	LATERAL (VALUES (ends[1], ends[2])) AS e (low, high),
	unnest('{true,%1$s IS NOT NULL,%1$s IS NULL,%1$s > %2$L,%1$s <= %3$L,%1$s >= %2$L AND %1$s < %3$L,
		%1$s BETWEEN %2$L AND %2$L,%1$s > %3$L OR %1$s IS NULL,%1$s <> %2$L,%1$s > %2$L AND id > 100,
		few < 60 AND id > 2000,(%1$s < %2$L OR %1$s > %3$L) AND many <> 7,
		(%1$s IS NULL OR %1$s > %3$L) AND id <> 9,few IS NULL AND id < 60000}'::text[]) qual;
CREATE VIEW taken AS
SELECT unlike(format('SELECT %s AS shown FROM large WHERE %s ORDER BY %s %s LIMIT %s',
	CASE key WHEN 'price' THEN 'trim_scale(price)' WHEN 'f' THEN 'f + 0' ELSE key END, qual, key, direction,
	CASE WHEN random % 2 = 0 THEN 10 ELSE 3000 END)) AS unlike, random
FROM (
	SELECT key, direction, qual, hash(row_number() OVER (ORDER BY key, direction, qual)::int) AS random
	FROM ranges JOIN orders USING (key)) r;
SELECT unlike FROM taken WHERE random % 3 = 0;
DELETE FROM large WHERE id % 11 = 0 OR id BETWEEN 30000 AND 40000;
SELECT unlike FROM taken WHERE random % 3 = 1;
SELECT segments FROM rtscan_stats('large_all');
SELECT misordered('large', CASE WHEN random % 2 = 0 THEN 'id' ELSE 'filler, ctid' END, key, direction, qual, part)
FROM chosen
WHERE random % 55 = 7 AND part <> '';
-- rows that have died need bits
VACUUM large;
INSERT INTO large SELECT * FROM t_rows(70001, 70300);
SELECT unlike FROM taken WHERE random % 6 = 2;
DROP TABLE large CASCADE;

-- Few rows are tested one after another, until that takes too long: all that match are at the other end.
CREATE TABLE twins AS
SELECT i AS id, hash(i) AS a, hash(i) / 7 AS twin, nullif(i % 10, 3) AS few FROM generate_series(1, 140000) i;
CREATE INDEX ON twins USING rtscan (id, a, twin, few);
VACUUM ANALYZE twins;
SELECT unlike(format('SELECT %1$s FROM twins WHERE %2$s ORDER BY %1$s %3$s LIMIT %4$s', key, qual, direction, rows))
FROM unnest('{a,id,twin}'::text[]) AS key,
	unnest('{ASC,DESC}'::text[]) AS direction,
	unnest('{1,10,100}'::int[]) AS rows,
	unnest(ARRAY['few > 4', 'twin < 200000000', 'twin > 100000000 AND few <> 5',
		'a BETWEEN 900000000 AND 1900000000 AND few < 5', 'id < 70000 AND few IN (2, 7)',
		'(a < 20000000 OR a > 2000000000) AND few <> 4', 'few IS NULL']) AS qual;
DROP TABLE twins;

--
-- PostgreSQL's nodes above a scan in order
--
CREATE TABLE o (x int, y int);
INSERT INTO o SELECT i, i % 5 * 3 FROM generate_series(-45, 60, 3) i;
ANALYZE o;
SELECT unlike(q)
FROM unnest(ARRAY[
	-- the first of several keys
	'SELECT few, id FROM t ORDER BY few, id',
	'SELECT word, id, ctid FROM t WHERE few > 0 ORDER BY word DESC, id LIMIT 500',
	'SELECT few, many, filler FROM t ORDER BY few DESC NULLS LAST, many DESC LIMIT 50',
	'SELECT DISTINCT few FROM t ORDER BY few', 'SELECT few, count(*), sum(price) FROM t GROUP BY few ORDER BY few',
	'SELECT word, min(id) FROM t WHERE few < 3 GROUP BY word HAVING count(*) > 1 ORDER BY word DESC',
	'SELECT few FROM t WHERE id > 500 ORDER BY few FETCH FIRST 3 ROWS WITH TIES',
	'SELECT yes FROM t WHERE few = 3 ORDER BY yes DESC FETCH FIRST 1 ROW WITH TIES',
	'SELECT id, row_number() OVER (ORDER BY id), lag(few) OVER (ORDER BY id) FROM t ORDER BY id LIMIT 700',
	'SELECT id, rank() OVER (ORDER BY id DESC) FROM t WHERE few = 7 ORDER BY id DESC',
	'SELECT few, many, sum(price) OVER (PARTITION BY few ORDER BY many) FROM t WHERE yes ORDER BY few, many',
	'SELECT min(many), max(many) FROM t',
	'SELECT max(id) FROM t WHERE few > 1000', 'SELECT max(nothing) FROM t', 'SELECT max(price), min(f) FROM t',
	-- again and again
	'SELECT x, l.* FROM o, LATERAL (SELECT id, few FROM t WHERE few >= x ORDER BY id LIMIT 3) l ORDER BY x, id',
	'SELECT x, l.* FROM o, LATERAL (SELECT id, filler FROM t WHERE few = x AND id % 7 > y ORDER BY id DESC LIMIT 2) l
		ORDER BY x, id',
	'SELECT x, (SELECT max(many) FROM t WHERE few < x AND yes) FROM o ORDER BY x',
	'SELECT x FROM o WHERE x < (SELECT few FROM t WHERE id > o.y ORDER BY id LIMIT 1) ORDER BY x',
	-- from the middle on, as pages are shown
	'SELECT id, word FROM t WHERE id > 5000 ORDER BY id LIMIT 20',
	'SELECT word, id FROM t WHERE (word, id) > (''w2'', 77) ORDER BY word, id LIMIT 20',
	-- computed columns, whole rows, system columns
	'SELECT t, t.tableoid::regclass FROM t WHERE few = 7 ORDER BY id LIMIT 20',
	'SELECT id + few, upper(word) || price FROM t ORDER BY id LIMIT 20', 'SELECT 1 FROM t ORDER BY id LIMIT 20',
	'SELECT * FROM (SELECT id, few FROM t ORDER BY id LIMIT 100) s WHERE few > 0',
	'(SELECT id FROM t WHERE few = 3 ORDER BY id LIMIT 3)
		UNION ALL (SELECT id FROM t WHERE few = 4 ORDER BY id DESC LIMIT 3)',
	'WITH w AS MATERIALIZED (SELECT id FROM t ORDER BY id DESC LIMIT 5) SELECT id FROM w',
	'SELECT id FROM t WHERE few = 3 ORDER BY id OFFSET 3 FOR UPDATE']) q;
SELECT unlike(q, 'Scan')
FROM unnest(ARRAY[
	'SELECT DISTINCT ON (few) few, word, id FROM t ORDER BY few, word, id',
	'SELECT DISTINCT ON (few, yes) few, yes, id FROM t WHERE many > 0 ORDER BY few DESC, yes, id DESC',
	'SELECT min(word), max(word) FROM t WHERE few = 3 AND id % 2 = 0']) q;
-- an order that is none of a key's
SELECT unlike(q, '^(?!.*Order: )')
FROM unnest(ARRAY[
	'SELECT id FROM t WHERE few = 3 ORDER BY filler, id', 'SELECT name FROM t WHERE few = 3 ORDER BY name COLLATE "C"',
	'SELECT id FROM t WHERE few = 3 ORDER BY -id', 'SELECT id FROM t WHERE few = 3 ORDER BY word USING ~<~, id']) q;
SELECT plan('SELECT few, id FROM t WHERE yes ORDER BY few DESC NULLS LAST, id LIMIT 5');
SELECT plan('SELECT max(many) FROM t WHERE few = 3');
-- expressions and parts of tables
CREATE INDEX t_expression ON t USING rtscan (lower(filler), (many % 1000)) INCLUDE (id) WHERE yes;
SELECT unlike(q)
FROM unnest(ARRAY[
	'SELECT lower(filler), id FROM t WHERE yes ORDER BY lower(filler), id LIMIT 100',
	'SELECT many % 1000, id FROM t WHERE yes AND lower(filler) > ''f7'' ORDER BY many % 1000 DESC, id']) q;
DROP INDEX t_expression;

--
-- Partitions, of which some are left out; children
--
CREATE TABLE p (k int, a int, w text COLLATE "C") PARTITION BY RANGE (k);
CREATE TABLE p_1 PARTITION OF p FOR VALUES FROM (0) TO (1000);
CREATE TABLE p_2 (w text COLLATE "C", gone int, a int, k int);
ALTER TABLE p_2 DROP gone;
ALTER TABLE p ATTACH PARTITION p_2 FOR VALUES FROM (1000) TO (2000);
CREATE TABLE p_3 PARTITION OF p FOR VALUES FROM (2000) TO (4000) PARTITION BY LIST (a);
CREATE TABLE p_3_some PARTITION OF p_3 FOR VALUES IN (0, 1, 2, 3, 4);
CREATE TABLE p_3_rest PARTITION OF p_3 DEFAULT;
INSERT INTO p SELECT i, i % 20, 'w' || hash(i) % 111 FROM generate_series(0, 2999) i;
CREATE INDEX ON p USING rtscan (w, a);
VACUUM ANALYZE p;
INSERT INTO p SELECT i, i % 20, 'w' || hash(i) % 111 FROM generate_series(3000, 3099) i;
CREATE TABLE parent (a int, w text COLLATE "C");
CREATE TABLE child (more int) INHERITS (parent);
INSERT INTO parent SELECT hash(i), 'p' || i FROM generate_series(1, 1000) i;
INSERT INTO child SELECT hash(i + 7), 'c' || i, i FROM generate_series(1, 1000) i;
CREATE INDEX ON parent USING rtscan (a);
CREATE INDEX ON child USING rtscan (a) INCLUDE (w);
VACUUM ANALYZE parent, child;
SELECT unlike(q, 'Merge Append.*Order: .*Order: ')
FROM unnest(ARRAY[
	'SELECT w, a FROM p ORDER BY w, a', 'SELECT w, a, k FROM p WHERE a % 2 = 1 ORDER BY w DESC, k LIMIT 50',
	'SELECT w, k FROM p WHERE k < 1500 ORDER BY w, k LIMIT 500',
	'SELECT w FROM p WHERE k > 1500 AND a = 3 ORDER BY w',
	'SELECT x, (SELECT max(w) FROM p WHERE a = x AND k > y * 200) FROM o ORDER BY x',
	'SELECT tableoid::regclass, a, w FROM parent ORDER BY a, w LIMIT 500',
	'SELECT a FROM parent WHERE a > 1000000 ORDER BY a DESC']) q;
PREPARE pruned (int, int) AS SELECT w, k FROM p WHERE k BETWEEN $1 AND $2 ORDER BY w, k LIMIT 3;
SET plan_cache_mode = force_generic_plan;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_sort = off;
EXECUTE pruned (1200, 2100);
EXECUTE pruned (5000, 6000);
EXECUTE pruned (NULL, 7);
SELECT plan('EXECUTE pruned (1200, 1300)');
RESET plan_cache_mode;
DEALLOCATE pruned;

--
-- Cursors: forward, backward, kept after their transaction, and where rows are changed
--
BEGIN;
DECLARE c CURSOR FOR SELECT many, id FROM t WHERE few = 7 ORDER BY many;
SELECT explained('DECLARE c CURSOR FOR SELECT many, id FROM t WHERE few = 7 ORDER BY many');
FETCH 2 FROM c;
UPDATE t SET filler = 'current' WHERE CURRENT OF c RETURNING id, many;
MOVE 20 IN c;
FETCH 1 FROM c;
DELETE FROM t WHERE CURRENT OF c RETURNING id, many;
MOVE FORWARD ALL IN c;
UPDATE t SET filler = 'none' WHERE CURRENT OF c;
ROLLBACK;
BEGIN;
DECLARE c CURSOR FOR SELECT upper(word), filler FROM t WHERE few = 7 ORDER BY id DESC FOR UPDATE;
FETCH 1 FROM c;
UPDATE t SET id = -id WHERE CURRENT OF c RETURNING id, few;
FETCH 1 FROM c;
DELETE FROM t WHERE CURRENT OF c RETURNING id;
FETCH 1 FROM c;
DECLARE d CURSOR FOR SELECT FROM t WHERE few = 7 ORDER BY id DESC;
MOVE 3 IN d;
DELETE FROM t WHERE CURRENT OF d RETURNING id;
ROLLBACK;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT many, id FROM t WHERE few = 7 ORDER BY many DESC;
FETCH LAST FROM c;
FETCH PRIOR FROM c;
FETCH FIRST FROM c;
FETCH ABSOLUTE 30 FROM c;
FETCH BACKWARD 2 FROM c;
DELETE FROM t WHERE few = 7;
FETCH RELATIVE 5 FROM c;
FETCH ABSOLUTE -2 FROM c;
ROLLBACK;
BEGIN;
DECLARE h CURSOR WITH HOLD FOR SELECT id, word FROM t WHERE id > 9800 ORDER BY id;
FETCH 1 FROM h;
DELETE FROM t WHERE id = 9803;
COMMIT;
FETCH 3 FROM h;
CLOSE h;
-- rows that a HOT update has moved: VACUUM leaves a redirection where their first versions were
CREATE TABLE hot (a int, b int) WITH (autovacuum_enabled = off, fillfactor = 50);
INSERT INTO hot SELECT i, 0 FROM generate_series(1, 100) i;
CREATE INDEX ON hot USING rtscan (a);
UPDATE hot SET b = 1 WHERE a % 2 = 0;
VACUUM (FREEZE) hot;
UPDATE hot SET b = 2 WHERE a % 3 = 0;
BEGIN;
DECLARE c CURSOR FOR SELECT a FROM hot WHERE a > 11;
FETCH 1 FROM c;
DELETE FROM hot WHERE CURRENT OF c RETURNING *;
FETCH 3 FROM c;
UPDATE hot SET b = 3 WHERE CURRENT OF c RETURNING *;
DECLARE d CURSOR FOR SELECT a FROM hot ORDER BY a DESC;
MOVE 5 IN d;
UPDATE hot SET b = 4 WHERE CURRENT OF d RETURNING *;
MOVE 2 IN d;
DELETE FROM hot WHERE CURRENT OF d RETURNING *;
SELECT explained('DECLARE d CURSOR FOR SELECT a FROM hot ORDER BY a DESC');
ROLLBACK;
-- below a limit, a subquery, and an Append; and in a function
BEGIN;
DECLARE c CURSOR FOR SELECT a FROM hot WHERE a > 50 ORDER BY a LIMIT 5;
MOVE 2 IN c;
DELETE FROM hot WHERE CURRENT OF c RETURNING *;
DECLARE d CURSOR FOR SELECT * FROM (SELECT a FROM hot WHERE a > 60 LIMIT 8) s WHERE a > 62;
SELECT explained('DECLARE d CURSOR FOR SELECT * FROM (SELECT a FROM hot WHERE a > 60 LIMIT 8) s WHERE a > 62');
MOVE 2 IN d;
UPDATE hot SET b = 5 WHERE CURRENT OF d RETURNING *;
DECLARE e CURSOR FOR SELECT a FROM hot WHERE a = 70 UNION ALL SELECT id FROM t WHERE few = 7;
SELECT explained('DECLARE e CURSOR FOR SELECT a FROM hot WHERE a = 70 UNION ALL SELECT id FROM t WHERE few = 7');
MOVE 1 IN e;
DELETE FROM hot WHERE CURRENT OF e RETURNING *;
DO $$
DECLARE
	own CURSOR FOR SELECT a FROM hot WHERE a BETWEEN 80 AND 83;
BEGIN
	FOR found IN own LOOP
		UPDATE hot SET b = -found.a WHERE CURRENT OF own;
	END LOOP;
END $$;
SELECT a, b FROM hot WHERE b < 0 ORDER BY a;
ROLLBACK;
-- a cursor sees earlier changes of its own transaction, but no later ones
BEGIN;
UPDATE t SET id = -id WHERE id < 5;
DELETE FROM t WHERE id = -2;
DECLARE c CURSOR FOR SELECT id, few FROM t ORDER BY id;
UPDATE t SET id = -5 WHERE id = 5;
DELETE FROM t WHERE id = -3;
FETCH 5 FROM c;
SAVEPOINT s;
DELETE FROM t;
FETCH 2 FROM c;
ROLLBACK TO s;
FETCH 2 FROM c;
ROLLBACK;
RESET enable_seqscan;
RESET enable_bitmapscan;
RESET enable_sort;

--
-- The formats of EXPLAIN
--
CREATE FUNCTION lines(format text, query text) RETURNS SETOF text LANGUAGE plpgsql SET enable_seqscan = off
SET enable_bitmapscan = off SET enable_sort = off AS $$
DECLARE
	text text;
BEGIN
	EXECUTE format('EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF, FORMAT %s) %s', format, query)
		INTO text;
	IF format = 'json' THEN
		RETURN NEXT text::json #>> '{0,Plan,Plans,0,Order}';
	END IF;
	RETURN QUERY
		SELECT trim(line)
		FROM string_to_table(text, E'\n') line
		WHERE line ~ '\m(Order|Index|Index Cond|Index-Cond|Row Filter|Row-Filter)\M' AND line !~ 'Removed';
END
$$;
SELECT format, lines(format, 'SELECT id FROM t WHERE few = 7 AND many % 2 = 0 ORDER BY id DESC NULLS LAST LIMIT 3')
FROM unnest('{json,yaml,xml}'::text[]) format;

--
-- Rows that not everybody may see: a function that tells what it is given is called for no others
--
CREATE TABLE secrets (id int, a int, owner name) WITH (autovacuum_enabled = off);
INSERT INTO secrets SELECT i, i % 50, CASE WHEN i % 2 = 0 THEN 'rtscan_sorter' ELSE 'nobody' END
FROM generate_series(1, 200) i;
CREATE INDEX ON secrets USING rtscan (id, a) INCLUDE (owner);
VACUUM ANALYZE secrets;
CREATE FUNCTION leak(int) RETURNS bool LANGUAGE plpgsql IMMUTABLE COST 0.01 AS $$
BEGIN
	RAISE NOTICE 'seen %', $1;
	RETURN true;
END
$$;
CREATE ROLE rtscan_sorter;
GRANT USAGE ON SCHEMA in_order TO rtscan_sorter;
GRANT SELECT ON secrets TO rtscan_sorter;
ALTER TABLE secrets ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON secrets USING (owner = current_user);
SET client_min_messages = notice;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_sort = off;
SET ROLE rtscan_sorter;
SELECT explained('SELECT id FROM secrets WHERE leak(id) AND a < 4 ORDER BY id DESC');
SELECT id FROM secrets WHERE leak(id) AND a < 4 ORDER BY id DESC;
SELECT id, ctid FROM secrets WHERE leak(id) AND a IN (3, 4) ORDER BY a, id;
RESET ROLE;
SET client_min_messages = warning;
DROP TABLE secrets;
DROP OWNED BY rtscan_sorter;
DROP ROLE rtscan_sorter;

--
-- Few rows of many segments: each is opened when it is its turn
--
CREATE TABLE times (at timestamp, s int, v int);
CREATE INDEX times_i ON times USING rtscan (at, s) INCLUDE (v);
CREATE PROCEDURE add(first int, nulls bool DEFAULT false) LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO times
	SELECT CASE WHEN nulls AND i % 500 = 0 THEN NULL ELSE timestamp '2024-01-01' + i * interval '1 min' END, i % 10, i
	FROM generate_series(first + 1, first + 1000) i;
	PERFORM rtscan_merge('times_i');
END
$$;
CREATE FUNCTION skipped(query text) RETURNS text LANGUAGE plpgsql SET enable_sort = off AS $$
BEGIN
	PERFORM allow_scan('columns');
	RETURN (SELECT string_agg(trim(line), ', ')
		FROM explained(query, 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF') line
		WHERE line ~ 'Segments(| Skipped): ');
END
$$;
CALL add(0);
CALL add(2000);
CALL add(1000);
CALL add(3000);
ANALYZE times;
CREATE TABLE few_rows (query text);
INSERT INTO few_rows
SELECT format('SELECT at FROM times%s ORDER BY at %s LIMIT %s', qual, direction, n)
FROM unnest('{""," WHERE s < 5"," WHERE v % 3 = 1"," WHERE s = 7 AND at > ''2024-01-01 05:00''"}'::text[]) qual,
	unnest('{ASC,DESC,NULLS FIRST,DESC NULLS LAST}'::text[]) direction,
	unnest('{1,3,40}'::int[]) n;
SELECT unlike(query) FROM few_rows;
SELECT skipped('SELECT at FROM times ORDER BY at DESC LIMIT 3');
SELECT skipped('SELECT at FROM times ORDER BY at LIMIT 3');
SELECT skipped('SELECT at FROM times WHERE s < 5 ORDER BY at DESC LIMIT 3');
-- all of them where as many may be wanted, or rows are skipped
SELECT skipped('SELECT * FROM (SELECT at FROM times ORDER BY at DESC LIMIT 3 OFFSET 999) x');
SELECT skipped('SELECT at FROM times ORDER BY at DESC LIMIT 2000');
SELECT skipped('SELECT at FROM times ORDER BY at DESC');
-- one has NULLs, which come first by default: it is opened whenever they may be
CALL add(500, true);
SELECT unlike(query) FROM few_rows;
SELECT skipped('SELECT at FROM times ORDER BY at DESC LIMIT 3');
SELECT skipped('SELECT at FROM times ORDER BY at DESC NULLS LAST LIMIT 3');
SELECT skipped('SELECT at FROM times WHERE at IS NULL ORDER BY at DESC LIMIT 3');
-- pending rows, before and behind all others, and between; rows that no snapshot sees
INSERT INTO times VALUES ('2020-01-01', 1, 1), ('2030-01-01', 2, 2), ('2024-01-02', 3, 3), (NULL, 4, 4);
SELECT unlike(query) FROM few_rows;
-- (what is left of the newest segment is not enough)
DELETE FROM times WHERE v > 3010 OR v % 7 = 0;
SELECT unlike(query) FROM few_rows;
SELECT skipped('SELECT at FROM times ORDER BY at DESC NULLS LAST LIMIT 3');
SELECT skipped('SELECT at FROM times ORDER BY at DESC NULLS LAST LIMIT 40');
VACUUM times;
SELECT unlike(query) FROM few_rows;
SET rtscan.enable_scan = off;
SELECT rtscan_check('times_i', true);
RESET rtscan.enable_scan;
-- no more segments are opened than necessary: not for a row that is not wanted, not because one segment has no
-- matching rows, and not if pending rows are enough
TRUNCATE times;
CALL add(0);
CALL add(1000);
CREATE PROCEDURE add_some(first int, every int) LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO times
	SELECT timestamp '2024-01-01' + i * interval '1 min', CASE WHEN i % every = 7 THEN 7 ELSE i % 2 * 20 END, i
	FROM generate_series(first + 1, first + 1000) i;
	PERFORM rtscan_merge('times_i');
END
$$;
CALL add_some(2000, 10000);
CALL add_some(3000, 100);
VACUUM ANALYZE times;
SELECT unlike(query) FROM few_rows;
SELECT skipped('SELECT at FROM times WHERE s = 7 ORDER BY at DESC LIMIT 10');
SELECT skipped('SELECT at FROM times WHERE s = 7 ORDER BY at DESC LIMIT 11');
INSERT INTO times SELECT timestamp '2030-01-01' + i * interval '1 min', 7, i FROM generate_series(1, 20) i;
SELECT skipped('SELECT at FROM times WHERE s = 7 ORDER BY at DESC LIMIT 20');
SELECT skipped('SELECT at FROM times WHERE s = 7 ORDER BY at DESC LIMIT 21');
SELECT unlike(query) FROM few_rows;
-- but all where a condition that the index does not know leaves few, or each has rows from everywhere
SELECT skipped('SELECT at FROM times WHERE v % 1000 = 1 AND v % 3 = 1 ORDER BY at DESC LIMIT 3');
SELECT skipped('SELECT at FROM times ORDER BY s LIMIT 3');

--
-- Compiled expressions
--
SET jit = on;
SET jit_above_cost = 0;
SET jit_inline_above_cost = 0;
SET jit_optimize_above_cost = 0;
SELECT few, id, upper(word), filler FROM t WHERE few = 7 AND many % 2 = 0 AND length(filler) > 4 ORDER BY id LIMIT 3;
SELECT id + few AS sum, word || 'x' FROM t WHERE few = 7 AND many % 2 = 0 ORDER BY id DESC LIMIT 3;

DROP SCHEMA in_order CASCADE;
