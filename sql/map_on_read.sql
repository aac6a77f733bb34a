-- PostgreSQL 19 marks pages as all-visible when a query reads them after a change, if it leaves the table alone; it
-- tries that once.  So does rtscan, for the sake of all that read later.  Older versions leave it to VACUUM.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA map_on_read;
SET search_path = map_on_read, public;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET max_parallel_workers_per_gather = 0;

CREATE TABLE seen_by_map (a int, b int, filler text) WITH (autovacuum_enabled = off);
CREATE TABLE read_by_rows (LIKE seen_by_map) WITH (autovacuum_enabled = off);
CREATE TABLE changed (LIKE seen_by_map) WITH (autovacuum_enabled = off);
INSERT INTO seen_by_map
SELECT i, i % 100, repeat('x', 50)
FROM generate_series(1, 20000) i;
INSERT INTO read_by_rows
SELECT i, i % 100, repeat('x', 50)
FROM generate_series(1, 20000) i;
INSERT INTO changed
SELECT i, i % 100, repeat('x', 50)
FROM generate_series(1, 20000) i;
CREATE INDEX seen_by_map_idx ON seen_by_map USING rtscan (a, b);
CREATE INDEX read_by_rows_idx ON read_by_rows USING rtscan (a, b);
CREATE INDEX changed_idx ON changed USING rtscan (a, b);

-- RtscanAggregate looks at the pages to see which rows are visible, RtscanScan for the rows themselves
EXPLAIN (COSTS OFF) SELECT count(*) FROM seen_by_map WHERE a > 0 AND b < 100;
SELECT count(*) FROM seen_by_map WHERE a > 0 AND b < 100;
EXPLAIN (COSTS OFF) SELECT filler FROM read_by_rows WHERE a > 0 AND b < 100;
SELECT count(filler) FROM (SELECT filler FROM read_by_rows WHERE a > 0 AND b < 100 OFFSET 0) s;

-- one that changes the table need not: the pages are not what it leaves behind
EXPLAIN (COSTS OFF) DELETE FROM changed WHERE a > 0 AND b < 100 AND filler = 'y';
DELETE FROM changed WHERE a > 0 AND b < 100 AND filler = 'y';

-- ANALYZE counts what the map has; a page with room for more rows, as the last one, is not marked
ANALYZE seen_by_map, read_by_rows, changed;
SELECT relname,
	   (relallvisible >= relpages - 1) =
	   (current_setting('server_version_num')::int >= 190000 AND relname <> 'changed') AS as_this_version_does
FROM pg_class
WHERE oid IN ('seen_by_map'::regclass, 'read_by_rows'::regclass, 'changed'::regclass)
ORDER BY relname;

DROP SCHEMA map_on_read CASCADE;
