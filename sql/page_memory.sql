-- What is remembered of heap pages that are not all-visible: answers are those of sequential scans after each kind of
-- change, and pages are looked into once.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA page_memory;
SET search_path = page_memory, public;
SET rtscan.merge_worker = off;
SET max_parallel_workers_per_gather = 0;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET rtscan.enable_scan = off;

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/counts.psql
\set ECHO all
CREATE TABLE kept (k int, v int, t text) WITH (fillfactor = 80, autovacuum_enabled = off);
INSERT INTO kept SELECT i % 1000, i, repeat('x', 20) FROM generate_series(1, 20000) i;
CREATE INDEX kept_idx ON kept USING rtscan (k, v);
VACUUM ANALYZE kept;

-- Has a query looked into pages, and were rows of pages remembered?
CREATE FUNCTION pages_of(query text, OUT looked_into bool, OUT remembered bool) LANGUAGE plpgsql AS $$
DECLARE
	plan text := '';
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		plan := plan || line || E'\n';
	END LOOP;
	looked_into := plan ~ 'Heap Pages Looked Into: [1-9]';
	remembered := plan ~ 'Heap Pages Remembered: [1-9]';
END
$$;
-- Counts, sums, groups and few rows, before and after the pages have been looked into.
CREATE FUNCTION differ(tab text) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT u
	FROM generate_series(1, 2) i,
		unnest(ARRAY['SELECT count(*) FROM %s WHERE k < 500', 'SELECT sum(v) FROM %s WHERE v BETWEEN 1000 AND 15000',
			'SELECT * FROM (SELECT k, count(*), max(v) FROM %s WHERE v < 12000 GROUP BY k) q ORDER BY k',
			'SELECT count(*) FROM %s WHERE v = 4711',
			'SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY v) FROM %s WHERE k < 700']) q,
		unequal(format(q, tab)) u
$$;
SELECT differ('kept');
SELECT * FROM pages_of('SELECT count(*) FROM kept WHERE k < 500'); -- all are all-visible

-- Updates, some of them HOT, and deletions.
UPDATE kept SET t = 'hot' WHERE v % 50 = 1;
SELECT * FROM pages_of('SELECT count(*) FROM kept WHERE k < 500');
-- From PostgreSQL 19 on, the query before has made the pages all-visible.
SELECT looked_into, remembered OR current_setting('server_version_num')::int >= 190000 AS remembered
FROM pages_of('SELECT count(*) FROM kept WHERE k < 500');
SELECT differ('kept');
UPDATE kept SET k = k + 1 WHERE v % 70 = 1;
SELECT differ('kept');
DELETE FROM kept WHERE v % 90 = 2;
SELECT differ('kept');
VACUUM (INDEX_CLEANUP on) kept;
INSERT INTO kept SELECT i % 1000, i, 'in freed places' FROM generate_series(1, 300) i;
SELECT differ('kept');

-- Rows that are locked, or that transactions and subtransactions that were rolled back have changed.
UPDATE kept SET t = 'hot again' WHERE v % 60 = 1;
SELECT count(*) FROM (SELECT FROM kept WHERE v % 100 = 3 FOR UPDATE) q;
SELECT differ('kept');
BEGIN;
DELETE FROM kept WHERE v % 80 = 3;
SELECT differ('kept');
SAVEPOINT s;
UPDATE kept SET v = -v WHERE v % 80 = 4;
SELECT differ('kept');
ROLLBACK TO s;
SELECT differ('kept');
ROLLBACK;
SELECT differ('kept');

-- A cursor's snapshot is older than those with which pages have been looked into since.
CREATE FUNCTION fetched(cur refcursor) RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
	r record;
BEGIN
	FETCH cur INTO r;
	RETURN NEXT r;
END
$$;
BEGIN;
CREATE TEMP TABLE before ON COMMIT DROP AS SELECT count(*), sum(v) FROM kept WHERE k < 500;
DECLARE c CURSOR FOR SELECT count(*), sum(v) FROM kept WHERE k < 500;
DELETE FROM kept WHERE v % 7 = 3;
SELECT count(*) > 0 AS some FROM kept WHERE k < 500;
SELECT f = b AS same FROM fetched('c') f (count bigint, sum bigint), before b;
ROLLBACK;
SELECT differ('kept');

-- Nothing is remembered where changes are not logged, nor in SERIALIZABLE transactions.
CREATE UNLOGGED TABLE unlogged_kept (LIKE kept) WITH (autovacuum_enabled = off);
CREATE TEMP TABLE temp_kept (LIKE kept) WITH (autovacuum_enabled = off);
INSERT INTO unlogged_kept SELECT i % 1000, i FROM generate_series(1, 20000) i;
INSERT INTO temp_kept TABLE unlogged_kept;
CREATE INDEX ON unlogged_kept USING rtscan (k, v);
CREATE INDEX ON temp_kept USING rtscan (k, v);
VACUUM ANALYZE unlogged_kept, temp_kept;
UPDATE unlogged_kept SET t = 'changed' WHERE v % 50 = 1;
UPDATE temp_kept SET t = 'changed' WHERE v % 50 = 1;
SELECT differ('unlogged_kept') UNION ALL SELECT differ('temp_kept');
SELECT tab, q.remembered
FROM unnest(ARRAY['unlogged_kept', 'temp_kept']) tab, pages_of(format('SELECT count(*) FROM %s WHERE k < 500', tab)) q;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT * FROM pages_of('SELECT count(*) FROM kept WHERE k < 500');
SELECT * FROM pages_of('SELECT count(*) FROM kept WHERE k < 500');
ROLLBACK;

-- A table that is rewritten or truncated, and filled anew, has other pages.
TRUNCATE kept;
INSERT INTO kept SELECT i % 1000, i + 7, 'new' FROM generate_series(1, 20000) i;
UPDATE kept SET t = 'newer' WHERE v % 50 = 1;
SELECT differ('kept');
SET client_min_messages = error;
DROP SCHEMA page_memory CASCADE;
