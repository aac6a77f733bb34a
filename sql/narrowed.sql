-- Percentiles of a key column of many rows: most values are not collected, but counted.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA narrowed;
SET search_path = narrowed, public;
SET rtscan.merge_worker = off;
SET max_parallel_workers_per_gather = 0;
-- not all values fit
SET work_mem = '1200kB';
SET hash_mem_multiplier = 1;

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/counts.psql
\set ECHO all
-- Values in no order, with NULLs, descending in heap order, of few kinds, and such that those of the rows that are
-- looked at first are others than most.
CREATE TABLE t WITH (autovacuum_enabled = off) AS
SELECT i AS id, hashint4(i) AS k, CASE WHEN i % 3 > 0 THEN hashint8(i) * 5::bigint END AS n,
	   '2020-01-01'::date - i / 100 AS h, (hashint4(i) % 5)::smallint AS d,
	   CASE WHEN i % 128 = 0 THEN i ELSE 1000000 + abs(hashint4(i)) % 1000 END AS m, hashint4(i) AS v
FROM generate_series(0, 139999) i;
CREATE INDEX t_all ON t USING rtscan (id, k, n, h, d, m) INCLUDE (v);
VACUUM ANALYZE t;
-- Return what EXPLAIN shows of values that did not fit
CREATE FUNCTION spilled(query text) RETURNS text LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET rtscan.enable_scan = off AS $$
DECLARE
	line text;
	found text := 'none';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'Spilled Values' THEN
			found := substring(line, '\d+')::int > 70000;
		END IF;
	END LOOP;
	RETURN found;
END
$$;
CREATE TABLE percentiles (percentile text);
INSERT INTO percentiles VALUES
	('percentile_disc(0.5) WITHIN GROUP (ORDER BY %s)'), ('percentile_disc(0.1) WITHIN GROUP (ORDER BY %s DESC)'),
	('percentile_disc(array[[0.4, NULL], [0.55, 0.5]]) WITHIN GROUP (ORDER BY %s)'),
	('percentile_disc(array[0.1, 0.9]) WITHIN GROUP (ORDER BY %s)'), ('percentile_disc(0) WITHIN GROUP (ORDER BY %s)'),
	('percentile_disc(1) WITHIN GROUP (ORDER BY %s)'), ('percentile_disc(NULL::float8) WITHIN GROUP (ORDER BY %s)');
CREATE FUNCTION problems(tail text, columns text DEFAULT 'k,n,m') RETURNS SETOF text LANGUAGE sql AS $$
	SELECT u
	FROM percentiles, unnest(string_to_array(columns, ',')) c,
		unequal(format('SELECT %s %s', format(percentile, c), tail)) u
$$;
SELECT c, spilled(format('SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY %s) FROM t WHERE id >= 0', c))
FROM unnest('{k,n,h,d,m,v,k + 1}'::text[]) c;
SELECT spilled(q) FROM (VALUES
	('SELECT percentile_cont(0.3) WITHIN GROUP (ORDER BY k) FROM t WHERE id >= 0'),
	('SELECT percentile_disc(array[0.3, 0.5]) WITHIN GROUP (ORDER BY k) FROM t WHERE id >= 0'),
	('SELECT percentile_disc(array[0.3, 0.7]) WITHIN GROUP (ORDER BY k) FROM t WHERE id >= 0'),
	('SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY k) FROM t WHERE id >= 0 AND v + 1 <> 0'),
	('SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY k) FILTER (WHERE v <> 0) FROM t WHERE id >= 0'),
	('SELECT mode() WITHIN GROUP (ORDER BY k) FROM t WHERE id >= 0')) q (q);
SELECT problems('FROM t WHERE id >= 0', 'k,n,h,d,m');
-- values that are left are narrowed again, unless most are equal, or percentiles are far apart
SET work_mem = '64kB';
SELECT problems('FROM t WHERE id >= 0', 'k,n,h,d,m');
SET work_mem = '1200kB';
SELECT unequal(format('SELECT percentile_cont(%s) WITHIN GROUP (ORDER BY %s) FROM t WHERE id >= 0 AND d > 0', f, c))
FROM unnest('{k,n,m,k DESC}'::text[]) c, unnest('{0.5,"array[0.25, 0.3]",0.99999}'::text[]) f;
-- not all rows, or all, but from few chunks
SELECT problems('FROM t WHERE k > 0 AND (n > 5 OR m < 1000000)');
SELECT problems('FROM t WHERE id > 60000 AND d <> 0');
-- dead rows, rows that are not all-visible, pending ones
DELETE FROM t WHERE id % 7 = 0;
INSERT INTO t SELECT i, i, i, '2020-01-01', 3, i, i FROM generate_series(140000, 142000) i;
SELECT problems('FROM t WHERE id >= 0');
VACUUM t;
BEGIN;
UPDATE t SET k = k + 1, n = -n WHERE id % 1000 = 1;
SELECT problems('FROM t WHERE id >= 0');
ROLLBACK;
-- fractions that are none
SELECT percentile_disc(1.5) WITHIN GROUP (ORDER BY k) FROM t WHERE id >= 0;
SELECT percentile_disc(array[0.5, -1]) WITHIN GROUP (ORDER BY k) FROM t WHERE id >= 0;
SELECT percentile_disc(array[0.5, -1]) WITHIN GROUP (ORDER BY k) FROM t WHERE id < 0;

SET client_min_messages = error;
DROP SCHEMA narrowed CASCADE;
