-- RtscanScan frees the memory of each scan at its end. Its memory grows neither with the rows that it returns nor with
-- the number of scans.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
SET rtscan.enable_aggregate = off;
SET rtscan.merge_worker = off;
CREATE SCHEMA scan_memory;
SET search_path = scan_memory, public;
SET max_parallel_workers_per_gather = 0;
SET jit = off;
SET work_mem = '256kB';

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/plans.psql
\set ECHO all
CREATE FUNCTION hash(i int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT abs(hashint4($1))';
CREATE FUNCTION used() RETURNS bigint LANGUAGE sql AS 'SELECT sum(total_bytes) / 1024 FROM pg_backend_memory_contexts';
-- Return the memory that the session uses in addition, in kB: while a query is read, part by part, and at its end.
CREATE FUNCTION growth(query text, part int, OUT rows int, OUT during bigint, OUT after bigint) LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET enable_hashjoin = off
SET enable_mergejoin = off SET enable_material = off SET enable_memoize = off AS $$
DECLARE
	c refcursor;
	n int;
	before bigint;
BEGIN
	rows := 0;
	before := used();
	OPEN c NO SCROLL FOR EXECUTE query;
	LOOP
		MOVE FORWARD part IN c;
		GET DIAGNOSTICS n = ROW_COUNT;
		rows := rows + n;
		EXIT WHEN n < part;
		during := greatest(during, used() - before);
	END LOOP;
	CLOSE c;
	after := used() - before;
END
$$;
-- More than it should, or not by the index: a line.
CREATE FUNCTION grows(query text, part int, expected int, most int DEFAULT 1000) RETURNS SETOF text LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET enable_hashjoin = off
SET enable_mergejoin = off SET enable_material = off SET enable_memoize = off AS $$
DECLARE
	found record;
	plan text;
BEGIN
	SELECT string_agg(line, E'\n') INTO plan FROM explained(query) line;
	IF plan !~ 'RtscanScan' OR query ~ 'ORDER' AND plan !~ 'Order:' THEN
		RETURN NEXT format(E'%s:\n%s', query, plan);
	END IF;
	SELECT * INTO found FROM growth(query, part); -- what is cached later is there
	SELECT * INTO found FROM growth(query, part);
	IF found.rows <> expected OR found.during IS NULL OR found.during > most OR found.after > 50 THEN
		RETURN NEXT format('%s: %s', query, found);
	END IF;
END
$$;

--
-- Many rows: values of every kind; by a cursor that is open for long
--
CREATE TABLE t (
	id int, few int, many int, word text COLLATE "C", price numeric(10,2), long text, filler text)
WITH (autovacuum_enabled = off);
INSERT INTO t
SELECT i, hash(i) % 50, hash(i + 5), 'w' || hash(i + 7) % 3000, i / 4.0, repeat('x', i % 70) || i, 'f' || i
FROM generate_series(1, 200000) i;
SET rtscan.debug_segment_rows = 15000;
CREATE INDEX t_all ON t USING rtscan (id, few, many, word) INCLUDE (price, long);
VACUUM ANALYZE t;
SELECT segments > 10 AS segments FROM rtscan_stats('t_all');
-- (rows of small segments are sorted, which takes 24 bytes a row; the dictionaries of all segments share work_mem)
SELECT grows(query, 2000, rows::int, CASE WHEN query ~ 'ORDER' THEN 4500 ELSE 1000 END)
FROM (VALUES
	('SELECT id, few, many, word, price, long FROM t', 200000),
	('SELECT filler, many FROM t WHERE few < 40', (SELECT count(*) FROM t WHERE few < 40)),
	('SELECT long, price FROM t WHERE id % 2 = 1 AND word || long > ''w''', 100000),
	('SELECT filler FROM t WHERE id % 2 = 1 AND word || long > ''w''', 100000),
	('SELECT upper(long) || word FROM t WHERE word <> ''w7'' AND length(filler) < 100',
		(SELECT count(*) FROM t WHERE word <> 'w7')),
	('SELECT id, many, long FROM t ORDER BY many', 200000),
	('SELECT id, few, long FROM t ORDER BY few DESC', 200000),
	('SELECT word, long FROM t WHERE few < 40 ORDER BY word', (SELECT count(*) FROM t WHERE few < 40)),
	('SELECT id, filler FROM t WHERE id % 2 = 1 ORDER BY id DESC', 100000),
	('SELECT id, many FROM t ORDER BY few, many LIMIT 3000', 3000),
	('SELECT DISTINCT ON (word) word, id, long FROM t ORDER BY word, many DESC',
		(SELECT count(DISTINCT word) FROM t)),
	('SELECT long FROM t WHERE few IN (3, 7) AND word || long > ''w'' ORDER BY word',
		(SELECT count(*) FROM t WHERE few IN (3, 7)))) q (query, rows);
-- first rows of each group in several passes: dictionaries take work_mem, groups twice as much (all at once: 9 MB)
SET work_mem = '2MB';
SELECT grows('SELECT DISTINCT ON (many) many, id FROM t ORDER BY many, id', 2000,
	(SELECT count(DISTINCT many) FROM t)::int, 12000);
SET work_mem = '256kB';

--
-- Scanned again and again: a point, a range, an order; parameters that change, and that do not
--
CREATE TABLE s (id int, a int, b int, w text COLLATE "C", filler text) WITH (autovacuum_enabled = off);
INSERT INTO s SELECT i, i, i % 50, 'w' || i, 'f' || i FROM generate_series(1, 5000) i;
CREATE INDEX s_all ON s USING rtscan (a, b, w) INCLUDE (id);
VACUUM ANALYZE s;
INSERT INTO s SELECT i, i, i % 50, 'w' || i, 'f' || i FROM generate_series(5001, 5050) i;
CREATE TABLE n AS SELECT i, 'w' || i AS w FROM generate_series(1, 5000) i;
ANALYZE n;
SELECT grows(query, 500, 5000)
FROM unnest(ARRAY[
	'SELECT n.i, s.id FROM n JOIN s ON s.a = n.i', 'SELECT n.i, s.filler FROM n JOIN s ON s.a = n.i AND s.b = n.i % 50',
	'SELECT n.i, s.id FROM n LEFT JOIN s ON s.w = n.w AND s.b + s.a > n.i',
	'SELECT n.i, (SELECT id FROM s WHERE a >= n.i ORDER BY a LIMIT 1) FROM n',
	'SELECT n.i, (SELECT max(a) FROM s WHERE b = n.i % 50 AND w <> n.w) FROM n',
	'SELECT n.i, l.* FROM n, LATERAL (SELECT w, filler FROM s WHERE a >= n.i ORDER BY w DESC LIMIT 1) l',
	'SELECT n.i, EXISTS (SELECT FROM s WHERE a BETWEEN n.i AND n.i + 9 AND b % 2 = n.i % 2) FROM n']) query;
-- a hundred thousand times
SELECT grows('SELECT n.i FROM n, generate_series(1, 20) g WHERE EXISTS (SELECT FROM s WHERE s.a = n.i + g % 2)', 10000,
	100000);

--
-- Many cursors at a time, and one after another
--
CREATE FUNCTION cursors(first int, last int) RETURNS int LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
DECLARE
	c refcursor;
	open refcursor[];
	found int;
	sum int := 0;
BEGIN
	FOR i IN first .. last LOOP
		c := NULL;
		OPEN c FOR EXECUTE 'SELECT id, ' || (ARRAY['w', 'filler'])[1 + i % 2] || ' FROM s WHERE a >= $1'
			|| (ARRAY['', ' ORDER BY a', ' ORDER BY b DESC'])[1 + i % 3] USING i;
		FETCH c INTO found;
		sum := sum + (found >= i)::int;
		open := open || c;
	END LOOP;
	FOREACH c IN ARRAY open LOOP
		FETCH c INTO found;
		CLOSE c;
		sum := sum + (found IS NOT NULL)::int;
	END LOOP;
	RETURN sum;
END
$$;
SELECT cursors(1, 700);
SELECT used() AS before \gset
SELECT cursors(1, 100), cursors(101, 700), cursors(101, 700);
SELECT used() - :before < 1000 AS given_back;
-- also for a transaction that fails
BEGIN;
DECLARE c CURSOR FOR SELECT id, long FROM t ORDER BY many;
MOVE 10 IN c;
SAVEPOINT s;
DECLARE d CURSOR FOR SELECT filler FROM t WHERE id > 5;
MOVE 10 IN d;
SELECT id, 1 / (id - 60000) FROM t WHERE id > 50000 ORDER BY many;
ROLLBACK TO s;
MOVE 10 IN c;
SELECT 1 / 0;
ROLLBACK;
SELECT used() - :before < 1000 AS given_back;

-- rows that meet several, more often than a batch has rows
CREATE TABLE pending (a int, v int, m numeric);
CREATE INDEX ON pending USING rtscan (a) INCLUDE (v, m);
INSERT INTO pending SELECT 1, i, i / 4.0 FROM generate_series(1, 200) i;
CREATE TABLE copies AS SELECT 1 AS k, i AS g FROM generate_series(1, 3000) i;
ANALYZE pending, copies;
SET enable_nestloop = off;
SELECT grows('SELECT v, g, m FROM pending JOIN copies ON k = a WHERE v + m + 3000 > g', 10000, 600000);
RESET enable_nestloop;

-- a session keeps little more of a segment's descriptor than it needs: each page of it costs the first query a
-- page fault
SELECT string_agg(format('hashint4(i + %s) AS c%s', i, i), ', ') AS columns, string_agg('c' || i, ', ') AS keys
FROM generate_series(1, 20) i \gset
CREATE TABLE many_columns AS SELECT :columns FROM generate_series(1, 70000) i;
CREATE INDEX many_columns_idx ON many_columns USING rtscan (:keys);
CREATE FUNCTION kept() RETURNS bigint LANGUAGE sql AS $$
	SELECT coalesce(sum(total_bytes), 0) FROM pg_backend_memory_contexts WHERE name = 'rtscan segment'
$$;
SELECT kept() AS before \gset
SELECT grows('SELECT c1 FROM many_columns WHERE c2 < 0', 10000,
	(SELECT count(*)::int FROM many_columns WHERE c2 < 0));
SELECT kept() - :before BETWEEN 1 AND 3 * descriptor_bytes AS little
FROM rtscan_stats('many_columns_idx');

-- Whether segments have lost how values looked that are equal to others, the directory says: a session that plans its
-- first query opens the descriptors of no more than 8 segments, for their size.
CREATE TABLE looks WITH (autovacuum_enabled = off) AS
SELECT i, round(i % 100, i % 3) AS n, CASE i % 2 WHEN 0 THEN '-0' ELSE i::float8 END AS f, 'w' || i % 1000 AS w
FROM generate_series(1, 200000) i;
SET rtscan.debug_segment_rows = 18000;
CREATE INDEX looks_idx ON looks USING rtscan (i, n, f, w);
VACUUM ANALYZE looks;
INSERT INTO looks SELECT -i, 1.00, '-0', 'w' FROM generate_series(1, 5000) i;
VACUUM looks;
SELECT segments > 10 AS segments FROM rtscan_stats('looks_idx');
\c -
SET client_min_messages = warning;
SET search_path = scan_memory, public;
SET enable_seqscan = off;
SET enable_sort = off;
SELECT explained('SELECT n, f, w FROM looks');
SELECT explained('SELECT n FROM looks ORDER BY i');
SELECT bool_and(pg_index_column_has_property('looks_idx', number, 'returnable')) AS returnable
FROM generate_series(1, 4) number;
SELECT count(*) BETWEEN 1 AND 8 AS few FROM pg_backend_memory_contexts WHERE name = 'rtscan segment';
SELECT n, f, w FROM looks WHERE i IN (-1, 4, 102) ORDER BY i;

DROP SCHEMA scan_memory CASCADE;
