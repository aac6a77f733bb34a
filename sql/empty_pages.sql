-- COPY leaves empty pages at a table's end, since PostgreSQL 16, which are not all-visible: nothing is looked up
-- there, and no price is paid for it.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA empty_pages;
SET search_path = empty_pages, public;
SET max_parallel_workers_per_gather = 0;
SET enable_seqscan = off;

CREATE FUNCTION cost_of(query text) RETURNS float LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN plan -> 0 -> 'Plan' ->> 'Total Cost';
END $$;

BEGIN;
CREATE TABLE copied (a int) WITH (autovacuum_enabled = off);
COPY copied FROM PROGRAM 'seq 100000' WITH (FREEZE);
COMMIT;
CREATE INDEX copied_idx ON copied USING rtscan (a);
ANALYZE copied;
EXPLAIN (COSTS OFF) SELECT count(*) FROM copied WHERE a % 2 = 0 AND a < 90000;
SELECT cost_of('SELECT count(*) FROM copied WHERE a % 2 = 0 AND a < 90000') AS rows_before,
	   cost_of('SELECT a FROM copied WHERE a < 90000') AS scan_before \gset

-- VACUUM gives the empty pages back
VACUUM ANALYZE copied;
SELECT relallvisible = relpages AS all_visible FROM pg_class WHERE oid = 'copied'::regclass;
SELECT cost_of('SELECT count(*) FROM copied WHERE a % 2 = 0 AND a < 90000') / :rows_before
	   BETWEEN 0.98 AND 1.02 AS same_for_rows,
	   cost_of('SELECT a FROM copied WHERE a < 90000') / :scan_before BETWEEN 0.98 AND 1.02 AS same_for_scan;

-- pages with rows that are not all-visible have their price
UPDATE copied SET a = a WHERE a % 100 = 0;
ANALYZE copied;
SELECT cost_of('SELECT count(*) FROM copied WHERE a % 2 = 0 AND a < 90000') / :rows_before > 1.1 AS more_for_rows;

-- the rows of a partial index may be where none of these pages are
CREATE TABLE made (a int) WITH (autovacuum_enabled = off);
INSERT INTO made SELECT generate_series(1, 100000);
VACUUM ANALYZE made;
CREATE INDEX made_first ON made USING rtscan (a) WHERE a <= 10000;
UPDATE made SET a = a WHERE a <= 50000 AND a % 100 = 1;
ANALYZE made;
EXPLAIN (COSTS OFF) SELECT count(*) FROM made WHERE a % 2 = 0 AND a <= 10000;
SELECT cost_of('SELECT count(*) FROM made WHERE a % 2 = 0 AND a <= 10000') AS rows_seen \gset
VACUUM ANALYZE made;
SELECT cost_of('SELECT count(*) FROM made WHERE a % 2 = 0 AND a <= 10000') / :rows_seen < 0.9 AS less_if_visible;

DROP SCHEMA empty_pages CASCADE;
