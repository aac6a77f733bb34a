-- rtscan_benchmark(): the scans in a query's plan, up to row bits
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
RESET client_min_messages;
CREATE TABLE timed AS SELECT i AS a, (i * 7919) % 100000 AS b FROM generate_series(1, 100000) i;
CREATE INDEX timed_scan ON timed USING rtscan (a, b);
VACUUM ANALYZE timed;
INSERT INTO timed VALUES (5, 5);	-- pending
SET enable_seqscan = off;
-- scans for bitmaps, also where another plan is cheaper
EXPLAIN (COSTS OFF) SELECT * FROM timed WHERE b BETWEEN 1000 AND 1999;

SELECT index, rows, bits_time >= 0 AS timed FROM rtscan_benchmark('SELECT * FROM timed WHERE a <= 50', 3);
SELECT index, rows FROM rtscan_benchmark('SELECT * FROM timed WHERE b BETWEEN 1000 AND 1999', 1);
SELECT rows = (SELECT count(*) FROM timed WHERE a < 70000 AND b > 20000) AS right
	FROM rtscan_benchmark('SELECT * FROM timed WHERE a < 70000 AND b > 20000');
-- two scans, and none
SELECT index, rows
FROM rtscan_benchmark('SELECT * FROM timed WHERE a = 5 UNION ALL SELECT * FROM timed WHERE b IS NULL', 2);
SELECT index, rows FROM rtscan_benchmark('SELECT 1');

-- calls that it refuses
SELECT rtscan_benchmark('DELETE FROM timed WHERE a = 5');
SELECT rtscan_benchmark('SELECT * FROM timed WHERE a = 5 FOR UPDATE');
SELECT rtscan_benchmark('SELECT 1; SELECT 2');
SELECT rtscan_benchmark('
	SELECT t.a FROM (VALUES (1), (2)) v (x), LATERAL (SELECT a FROM timed WHERE a = v.x OFFSET 0) t');
SELECT rtscan_benchmark('SELECT 1', 0);
SELECT count(*) FROM timed WHERE a = 5;
CREATE ROLE regress_rtscan_timer;
SET ROLE regress_rtscan_timer;
SELECT rtscan_benchmark('SELECT 1');
RESET ROLE;
DROP ROLE regress_rtscan_timer;
DROP TABLE timed;
