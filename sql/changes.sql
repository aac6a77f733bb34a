-- Tables that change: pending lists, flushes, dead rows, merges, rewrites. After each step the index is checked.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA changes;
SET search_path = changes, public;
SET rtscan.pending_list_limit = '64kB';
SET rtscan.merge_worker = off;

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/differences.psql
\set ECHO all
CREATE FUNCTION hash(i int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT abs(hashint4($1))';
CREATE TABLE t (key int PRIMARY KEY, a int, b text, filler text, id int GENERATED ALWAYS AS (key) STORED)
WITH (autovacuum_enabled = off, fillfactor = 90);
CREATE INDEX t_ab ON t USING rtscan (a, b, id);
-- List the faults of the index; there should be none.
CREATE FUNCTION problems() RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM rtscan_check('t_ab', true);
	RETURN QUERY
		SELECT differences('t', 't_ab', ARRAY[
			'a < 100', 'a >= 900 AND b < ''k5''', 'b = ''k7'' AND a IS NOT NULL', 'a IS NULL',
			'b IS NULL AND id < 5000', 'id BETWEEN 2000 AND 2100 AND a >= 0', 'a = ANY (''{1,2,3,500,999,NULL}'')',
			'id > 19900', 'a <= 500 AND a > 490 AND b >= ''k1''', 'id < 0', 'b > ''z''']);
EXCEPTION WHEN OTHERS THEN
	RETURN NEXT SQLERRM;
END
$$;
-- Rows from first to last.
CREATE PROCEDURE add(first int, last int) LANGUAGE sql AS $$
	INSERT INTO t
	SELECT i, CASE WHEN hash(i) % 20 > 0 THEN hash(i) % 1000 END,
		CASE WHEN hash(i) % 15 > 0 THEN 'k' || hash(i) % 13 END
	FROM generate_series(first, last) i
$$;

SELECT problems();
CALL add(1, 1);
SELECT problems();
CALL add(2, 300);
SELECT problems();
SELECT segments, rows, pending FROM rtscan_stats('t_ab');

-- several flushes in one statement
CALL add(301, 20000);
SELECT segments > 3 AS several, rows + pending AS rows, pending < 5000 AS few_pending FROM rtscan_stats('t_ab');
SELECT problems();
VACUUM t;
SELECT segments < 8 AS few, rows, dead, pending FROM rtscan_stats('t_ab');
SELECT problems();

-- updates, HOT and not; through the index itself
UPDATE t SET filler = 'x' WHERE id % 10 = 0;
SELECT problems();
UPDATE t SET a = a + 1 WHERE id % 7 = 0;
SELECT problems();
SET enable_seqscan = off;
UPDATE t SET a = a + 20 WHERE a BETWEEN 100 AND 200;
DELETE FROM t WHERE a > 950 AND b = 'k3';
INSERT INTO t SELECT id + 30000, a, b FROM t WHERE a < 20;
RESET enable_seqscan;
SELECT problems();
UPDATE t SET a = NULL WHERE id % 31 = 0;
UPDATE t SET a = 77, b = NULL WHERE id % 31 = 1;
SELECT problems();

-- dead rows; their TIDs are given to other rows
DELETE FROM t WHERE id % 3 = 0;
SELECT problems();
VACUUM t;
SELECT problems();
SELECT rows - dead + pending = (SELECT count(*) FROM t) AS all_rows FROM rtscan_stats('t_ab');
CREATE TABLE before AS SELECT max(ctid) FROM t;
INSERT INTO t SELECT -i, 1000 + i % 5, 'new' FROM generate_series(1, 3000) i;
SELECT count(*) > 1000 AS reused FROM t WHERE id < 0 AND ctid < (SELECT max FROM before);
SELECT problems();
SELECT differences('t', 't_ab', '{b = ''new'',a > 1000 AND b <> ''new'',a >= 1002}', false);
VACUUM t;
SELECT problems();
DELETE FROM t WHERE id < 0 AND id % 2 = 0;
VACUUM t;
INSERT INTO t SELECT -i, i % 7, 'newer' FROM generate_series(2, 3000, 2) i;
SELECT problems();

-- vacuum without the index, then with it; of several kinds
DELETE FROM t WHERE id BETWEEN 4000 AND 6000;
VACUUM (INDEX_CLEANUP off) t;
CALL add(140001, 140300);
SELECT problems();
VACUUM (INDEX_CLEANUP on, PARALLEL 2) t;
SELECT problems();
VACUUM (FREEZE, ANALYZE) t;
SELECT problems();
CALL add(4000, 6000);
SELECT problems();

-- transactions and parts of them that come to nothing
BEGIN;
CALL add(50000, 56000);
SELECT problems();
ROLLBACK;
SELECT problems();
BEGIN;
CALL add(60000, 60100);
SAVEPOINT one;
CALL add(60101, 64000);
UPDATE t SET a = 5 WHERE id > 60000 AND id % 2 = 0;
SAVEPOINT two;
DELETE FROM t WHERE a = 5;
SELECT problems();
ROLLBACK TO two;
SELECT problems();
ROLLBACK TO one;
CALL add(70000, 70010);
SELECT problems();
COMMIT;
SELECT problems();
SELECT count(*) FROM t WHERE id BETWEEN 60000 AND 70010;
DO $$
BEGIN
	FOR i IN 1 .. 20 LOOP
		BEGIN
			INSERT INTO t VALUES (80000 + i, i, 'sub');
			IF i % 2 = 0 THEN
				RAISE division_by_zero;
			END IF;
		EXCEPTION WHEN division_by_zero THEN
		END;
	END LOOP;
END
$$;
SELECT count(*) FROM t WHERE b = 'sub';
SELECT problems();
-- statements that fail late
INSERT INTO t SELECT CASE WHEN i = 5000 THEN 70005 ELSE 90000 + i END, i % 1000, 'failed'
FROM generate_series(1, 5000) i;
SELECT problems();
INSERT INTO t SELECT 90000 + i, 1 / (3000 - i), 'failed' FROM generate_series(1, 5000) i;
SELECT problems();
COPY t (key, a, b, filler) FROM STDIN;
100001	1	copied	\N
100002	\N	\N	\N
100003	3	copied	\N
\.
COPY t (key, a, b, filler) FROM STDIN;
100004	1	copied	\N
100005	x	copied	\N
\.
SELECT problems();
SELECT count(*) FROM t WHERE b = 'failed' OR b = 'copied';
VACUUM t;
SELECT problems();
SELECT rows - dead + pending = (SELECT count(*) FROM t) AS all_rows FROM rtscan_stats('t_ab');

-- ON CONFLICT
INSERT INTO t SELECT i, 1, 'conflict' FROM generate_series(100002, 100100) i ON CONFLICT DO NOTHING;
INSERT INTO t SELECT i, 2, 'conflict'
FROM generate_series(100051, 100120) i
ON CONFLICT (key) DO UPDATE SET a = excluded.a + 100, b = 'updated' WHERE t.id % 2 = 0;
SELECT problems();
SELECT b, count(*), sum(a) FROM t WHERE b IN ('conflict', 'updated') GROUP BY b ORDER BY b;
MERGE INTO t USING (SELECT i FROM generate_series(100100, 100140) i) s ON t.key = s.i
	WHEN MATCHED AND s.i % 2 = 0 THEN DELETE
	WHEN MATCHED THEN UPDATE SET a = 999
	WHEN NOT MATCHED THEN INSERT VALUES (s.i, 3, 'merged');
SELECT problems();

-- a scan that has begun sees neither what comes after it nor flushes
BEGIN;
SET LOCAL enable_seqscan = off;
DECLARE early CURSOR FOR SELECT count(*) OVER (), id FROM t WHERE a BETWEEN 300 AND 310;
DECLARE late CURSOR FOR SELECT id FROM t WHERE a BETWEEN 300 AND 310;
CREATE TABLE expected AS SELECT count(*) FROM t WHERE a >= 300 AND a + 0 <= 310;
MOVE 1 IN early;
MOVE 1 IN late;
INSERT INTO t SELECT 200000 + i, 305, 'later' FROM generate_series(1, 6000) i;
UPDATE t SET a = 306 WHERE id < 1000;
DELETE FROM t WHERE a = 302;
DO $$
DECLARE
	early refcursor := 'early';
	late refcursor := 'late';
	n int;
	seen int := 1;
	id int;
BEGIN
	FETCH early INTO n, id;
	LOOP
		FETCH late INTO id;
		EXIT WHEN NOT FOUND;
		seen := seen + 1;
	END LOOP;
	IF n <> (SELECT count FROM expected) OR seen <> n THEN
		RAISE 'cursors saw % and % rows instead of %', n, seen, (SELECT count FROM expected);
	END IF;
END
$$;
SELECT problems();
ROLLBACK;
SELECT problems();

-- all rows gone, and new ones
BEGIN;
TRUNCATE t;
SELECT problems();
CALL add(1, 100);
SELECT problems();
ROLLBACK;
SELECT problems();
DELETE FROM t;
SELECT problems();
VACUUM t;
SELECT problems();
SELECT rows - dead + pending AS rows FROM rtscan_stats('t_ab');
CALL add(1, 5000);
SELECT problems();
TRUNCATE t;
SELECT problems();
SELECT segments, rows, dead, pending FROM rtscan_stats('t_ab');
CALL add(1, 12000);
SELECT problems();

--
-- Tables that are written anew, and columns that change
--
DELETE FROM t WHERE id % 5 = 0;
VACUUM FULL t;
SELECT problems();
SELECT rows + pending = (SELECT count(*) FROM t) AS all_rows, dead FROM rtscan_stats('t_ab');
CLUSTER t USING t_pkey;
SELECT problems();
ALTER TABLE t ALTER a TYPE bigint;
SELECT problems();
CALL add(20001, 20100);
ALTER TABLE t ALTER b TYPE varchar(50) COLLATE "C";
SELECT problems();
ALTER TABLE t ALTER b TYPE varchar(60);
SELECT problems();
ALTER TABLE t ALTER a TYPE numeric(12, 2) USING -a;
SELECT problems();
ALTER TABLE t ALTER a TYPE int USING -a;
ALTER TABLE t ADD added text DEFAULT 'added', ADD random float8 DEFAULT random();
CALL add(20101, 20200);
SELECT problems();
ALTER TABLE t DROP added;
ALTER TABLE t RENAME a TO c;
ALTER TABLE t RENAME c TO a;
ALTER INDEX t_ab RENAME TO t_ba;
ALTER INDEX t_ba RENAME TO t_ab;
CALL add(20201, 20300);
SELECT problems();
-- in a transaction that takes it back
BEGIN;
ALTER TABLE t ALTER a TYPE text USING 'text ' || a;
INSERT INTO t VALUES (-1, 'x', 'y');
SELECT rtscan_check('t_ab', true);
SELECT differences('t', 't_ab', '{a < ''text 2'',a = ''x''}');
ROLLBACK;
SELECT problems();
-- dropping a column drops its index
ALTER TABLE t DROP b;
SELECT to_regclass('t_ab');
DROP TABLE t, before;

--
-- Many small segments: more than a page of the directory holds; then merges
--
CREATE TABLE t (id int, a int, b text) WITH (autovacuum_enabled = off);
ALTER TABLE t ALTER b SET STORAGE EXTERNAL;
CREATE INDEX t_ab ON t USING rtscan (a, id) INCLUDE (b);
INSERT INTO t SELECT i, hash(i) % 1000, repeat(md5(i::text), 60) FROM generate_series(1, 6500) i;
SELECT segments > 180 AS many, rows + pending AS rows FROM rtscan_stats('t_ab');
SELECT rtscan_check('t_ab', true);
SELECT differences('t', 't_ab', '{a < 20,a >= 990 AND id < 3000,a = 500,id BETWEEN 3000 AND 3050}');
DELETE FROM t WHERE a % 10 = 3;
VACUUM t;
SELECT segments < 20 AS few, rows - dead AS rows, pending FROM rtscan_stats('t_ab');
SELECT rtscan_check('t_ab', true);
SELECT differences('t', 't_ab', '{a < 20,a >= 990 AND id < 3000,a = 500,id BETWEEN 3000 AND 3050}');
INSERT INTO t SELECT -i, hash(i) % 1000, repeat(md5(i::text), 60) FROM generate_series(1, 1500) i;
SELECT rtscan_check('t_ab', true);
SELECT differences('t', 't_ab', '{a < 20,a >= 990 AND id < 3000,a = 500,id BETWEEN -300 AND 50}');
-- without a vacuum
SELECT rtscan_merge('t_ab') < 20 AS few;
SELECT rtscan_merge('t_ab') = segments AS nothing_left, rows - dead AS rows, pending FROM rtscan_stats('t_ab');
SELECT rtscan_check('t_ab', true);
SELECT differences('t', 't_ab', '{a < 20,a >= 990 AND id < 3000,a = 500,id BETWEEN -300 AND 50}');
BEGIN;
INSERT INTO t SELECT 10000 + i, i, 'in vain' FROM generate_series(1, 900) i;
SELECT rtscan_merge('t_ab') < 20 AS few;
SELECT differences('t', 't_ab', '{a < 20,id > 10000}');
ROLLBACK;
SELECT differences('t', 't_ab', '{a < 20,id > 10000}');
SELECT rtscan_merge('t'), rtscan_merge('t_ab');
SELECT rtscan_merge(NULL) IS NULL AS strict, rtscan_merge('pg_class_oid_index');
CREATE TEMP TABLE own (a int);
CREATE INDEX own_a ON own USING rtscan (a);
SELECT rtscan_merge('own_a');
INSERT INTO own SELECT generate_series(1, 10000);
SELECT rtscan_merge('own_a') > 0 AS some;
SELECT rows, pending FROM rtscan_stats('own_a');
DROP TABLE own;
DROP TABLE t;

-- several indexes, vacuumed by several processes; a comparison function in SQL, which a flush calls
CREATE FUNCTION backwards(int, int) RETURNS int
LANGUAGE sql IMMUTABLE STRICT AS 'SELECT btint4cmp($2, $1) + (SELECT 0 FROM pg_am LIMIT 1)';
CREATE OPERATOR CLASS backwards FOR TYPE int USING rtscan AS
	OPERATOR 1 >, OPERATOR 2 >=, OPERATOR 3 =, OPERATOR 4 <=, OPERATOR 5 <, FUNCTION 1 backwards(int, int);
CREATE TABLE t (id int, a int, b text) WITH (autovacuum_enabled = off);
CREATE INDEX t_a ON t USING rtscan (a backwards, id);
CREATE INDEX t_b ON t USING rtscan (b, id);
CREATE INDEX t_id ON t USING rtscan (id);
INSERT INTO t SELECT i, hash(i) % 100, 'k' || i % 17 FROM generate_series(1, 3000) i;
SET min_parallel_index_scan_size = 0;
VACUUM (PARALLEL 3) t;
INSERT INTO t SELECT i, hash(i) % 100, 'k' || i % 17 FROM generate_series(3001, 3500) i;
DELETE FROM t WHERE id % 3 = 0;
VACUUM (PARALLEL 3) t;
INSERT INTO t SELECT -i, hash(i) % 100, 'k' || i % 17 FROM generate_series(1, 1100) i;
RESET min_parallel_index_scan_size;
SELECT rtscan_check(i, true) FROM unnest('{t_a, t_b, t_id}'::regclass[]) i;
SELECT differences('t', 't_a', '{a > 90,a <= 3,a = 50}');
SELECT differences('t', 't_b', '{b > ''k5'',b = ''k3''}');
DROP INDEX CONCURRENTLY t_a;
BEGIN;
DROP INDEX t_b;
ROLLBACK;
SELECT differences('t', 't_b', '{b > ''k5'',b = ''k3''}');
DROP TABLE t;

-- vacuum after vacuum; each finds something to flush, kill and merge
CREATE TABLE t (id int, a int, b text) WITH (autovacuum_enabled = off);
CREATE INDEX t_ab ON t USING rtscan (a, b, id);
CREATE TABLE found (problem text);
\set ECHO none
SELECT query FROM generate_series(1, 40) round, LATERAL (VALUES
	(1, format('INSERT INTO t SELECT i, hash(i) %% 1000, ''k'' || i %% 13 FROM generate_series(%s, %s) i',
		round * 1000, round * 1000 + 100 + hash(round) % 800)),
	(2, format('DELETE FROM t WHERE hash(id) %% 40 = %s OR id < %s',
		round, CASE WHEN round % 8 = 0 THEN (round - 4) * 1000 ELSE 0 END)),
	(3, 'VACUUM t'),
	(4, format('INSERT INTO t SELECT -i, hash(i) %% 1000, ''k'' || i %% 13 FROM generate_series(1, %s) i', round % 5)),
	(5, 'INSERT INTO found SELECT problems()')) q (step, query)
ORDER BY round, step
\gexec
\set ECHO all
SELECT * FROM found;
SELECT segments < 20 AS few, rows - dead + pending = (SELECT count(*) FROM t) AS all_rows FROM rtscan_stats('t_ab');

-- built with more memory than a merge has: a segment is written anew in parts, values kept whole or not
CREATE TABLE u (id int, a int, b text, c numeric, note text) WITH (autovacuum_enabled = off);
INSERT INTO u
SELECT i, hash(i) % 1000, CASE WHEN i % 7 > 0 THEN 'k' || i % 999 END, hash(i) % 50 + 0.5, repeat('n', i % 9)
	FROM generate_series(1, 60000) i;
SET maintenance_work_mem = '256MB';
CREATE INDEX u_abc ON u USING rtscan (a, b, c, id) INCLUDE (note);
SELECT segments, rows FROM rtscan_stats('u_abc');
SET rtscan.debug_segment_rows = 5000;
DELETE FROM u WHERE hash(id + 7) % 5 < 2;
VACUUM u;
SELECT segments BETWEEN 5 AND 40 AS several, dead, rows = (SELECT count(*) FROM u) AS all_rows
FROM rtscan_stats('u_abc');
SELECT rtscan_check('u_abc', true);
SELECT differences('u', 'u_abc',
	'{a < 20,b = ''k7'',b IS NULL AND a > 900,c = 7.5 AND id < 30000,id BETWEEN 20000 AND 20100}');
DELETE FROM u WHERE id > 100;
VACUUM u;
SELECT segments, dead, rows FROM rtscan_stats('u_abc');

-- a full tier of more rows than a merge has memory for: as many as there is room for
SET rtscan.debug_segment_rows = 47000;
INSERT INTO u SELECT i, hash(i) % 1000, 'k', 0.5, 'n' FROM generate_series(1, 100000) i;
VACUUM u;
SELECT segments < 50 AS few, rows = (SELECT count(*) FROM u) AS all_rows FROM rtscan_stats('u_abc');
SELECT differences('u', 'u_abc', '{a < 20,b = ''k7'',c = 0.5 AND id < 3000}');
RESET rtscan.debug_segment_rows;
DROP TABLE u;

-- a copy of the index goes on with the same ids, and when it is rolled back so does the original
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE rtscan_elsewhere LOCATION '';
CREATE TABLE u (id int, a int) WITH (autovacuum_enabled = off);
CREATE INDEX u_a ON u USING rtscan (a, id);
INSERT INTO u SELECT i, hash(i) % 1000 FROM generate_series(1, 5000) i;
VACUUM u;
BEGIN;
ALTER INDEX u_a SET TABLESPACE rtscan_elsewhere;
INSERT INTO u SELECT i, hash(i) % 1000 FROM generate_series(5001, 20000) i;
SELECT segments > 1 AS several, rows + pending AS rows FROM rtscan_stats('u_a');
SELECT differences('u', 'u_a', '{a < 20,a >= 990 AND id < 3000,a = 500,id BETWEEN 4000 AND 9050}');
ROLLBACK;
INSERT INTO u SELECT -i, hash(-i) % 1000 FROM generate_series(1, 18000) i;
SELECT segments > 1 AS several, rows + pending AS rows FROM rtscan_stats('u_a');
SELECT differences('u', 'u_a', '{a < 20,a >= 990 AND id < 3000,a = 500,id BETWEEN -4000 AND 50}');
ALTER INDEX u_a SET TABLESPACE rtscan_elsewhere;
SELECT differences('u', 'u_a', '{a < 20,a >= 990 AND id < 3000,a = 500,id BETWEEN -4000 AND 50}');
SELECT rtscan_check('u_a', true);
DROP TABLE u;
DROP TABLESPACE rtscan_elsewhere;

-- a row asks for maintenance if it begins a page: one that a page has room for makes the list no longer
CREATE TABLE u (a int) WITH (autovacuum_enabled = off);
CREATE INDEX u_a ON u USING rtscan (a);
SET rtscan.pending_list_limit = '1MB';
INSERT INTO u SELECT hash(i) % 1000 FROM generate_series(1, 12000) i;
SET rtscan.pending_list_limit = '64kB';
INSERT INTO u VALUES (1);
SELECT segments, pending FROM rtscan_stats('u_a');
INSERT INTO u SELECT hash(i) % 1000 FROM generate_series(1, 600) i;
SELECT segments, rows + pending AS rows FROM rtscan_stats('u_a');
SELECT rtscan_check('u_a', true);
DROP TABLE u;

SET client_min_messages = error;
DROP SCHEMA changes CASCADE;
