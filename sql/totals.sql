-- Aggregates of whole chunks, and by cell: values of all widths, at the edges of chunks, of slices and of 64 bits.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA totals;
SET search_path = totals, public;
SET rtscan.merge_worker = off;
SET TimeZone = 'UTC';

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/outcomes.psql
\i :directory/sql/include/plans.psql
\set ECHO all
\pset format unaligned
\pset tuples_only on
-- How many bits integers take is in their names; n: some are NULL; m: so large that few can be added in 64 bits;
-- part: all of a chunk are NULL; same: all of a chunk are alike; c: numerics of one scale, e: of several
CREATE FUNCTION rows(start int, n int) RETURNS TABLE (id int, p int, k int, b1 int, b4 int, n4 int, b8 int2, n8 int2,
	b16 int, n16 int, b24 int, n24 int, b32 int, n32 int, b48 int8, n48 int8, m63 int8, b64 int8, n64 int8, part int,
	same int, d date, t timestamptz, o bool, c numeric(12, 2), e numeric) LANGUAGE sql AS $$
	SELECT i, x % 1000,
		   CASE WHEN x % 91 > 0 THEN x % 313 END,
		   x % 2 + 7,
		   x % 11 - 5,
		   CASE WHEN x % 5 > 0 THEN x % 7 * 2 END,
		   x % 200 - 100,
		   CASE WHEN x % 17 > 0 THEN x % 100 END,
		   x % 10007,
		   CASE WHEN x % 3 > 0 THEN x % 5003 - 2000 END,
		   x % 1000003 - 500000,
		   CASE WHEN x % 13 > 0 THEN x % 100003 END,
		   x - 1000000000,
		   CASE WHEN x % 19 > 0 THEN x - 2000000000 END,
		   (x - 1000000000)::int8 * 60000,
		   CASE WHEN x % 23 > 0 THEN x::int8 * 100000 END,
		   ((x % 3) - 1)::int8 << 53,
		   CASE x % 4 WHEN 0 THEN 9223372036854775807 WHEN 1 THEN -9223372036854775808 ELSE x::int8 << (x % 32) END,
		   CASE x % 4 WHEN 0 THEN 9223372036854775806 WHEN 1 THEN -9223372036854775807 END,
		   CASE WHEN i NOT BETWEEN 64513 AND 129024 THEN x % 50 END,
		   i / 50000,
		   '2000-01-01'::date + x % 9999,
		   '2020-01-01 UTC'::timestamptz + x * interval '1.000001 s',
		   CASE WHEN x % 29 > 0 THEN x % 3 = 0 END,
		   CASE WHEN x % 31 > 0 THEN (x % 99991 - 50000) / 100.0 END,
		   CASE WHEN x % 37 > 0 THEN round((x % 9973 - 5000) / 7.0, i / 40000 % 3) END
	FROM (SELECT i, hashint4(i) & 2147483647 FROM generate_series(start, start + n - 1) i) v (i, x)
$$;
CREATE TABLE w (id int, p int, k int, b1 int, b4 int, n4 int, b8 int2, n8 int2, b16 int, n16 int, b24 int, n24 int,
	b32 int, n32 int, b48 int8, n48 int8, m63 int8, b64 int8, n64 int8, part int, same int, d date, t timestamptz,
	o bool, c numeric(12, 2), e numeric) WITH (autovacuum_enabled = off);
INSERT INTO w SELECT * FROM rows(1, 150000);
CREATE INDEX w_idx ON w USING rtscan (id, p, k)
INCLUDE (b1, b4, n4, b8, n8, b16, n16, b24, n24, b32, n32, b48, n48, m63, b64, n64, part, same, d, t, o, c, e);
VACUUM (FREEZE, ANALYZE) w;

-- conditions that all rows meet, most, some, few and none, around the edges of chunks (64,512 rows) and slices; each is
-- combined with some of the queries
CREATE TABLE conditions (n serial, condition text);
INSERT INTO conditions (condition) VALUES ('p >= 0'), ('p < 900'), ('p < 400'), ('p BETWEEN 500 AND 560'), ('p = 7'),
	('p < 0'), ('id BETWEEN 64512 AND 64513'), ('id BETWEEN 64480 AND 66600'), ('id > 129024'),
	('id <= 1024 AND p < 990'), ('id BETWEEN 64513 AND 129024'), ('id > 149990'),
	('k IS NULL'), ('k < 200 AND p > 100');
-- Put each of these columns into a format
CREATE FUNCTION of_columns(list text, VARIADIC columns text[]) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(format(list, c), ', ') FROM unnest(columns) c
$$;
CREATE FUNCTION sums(few boolean, tail text) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT format(query, NULL, condition) || tail
	FROM conditions
		CROSS JOIN unnest(ARRAY[
			'SELECT ' || of_columns('sum(%1$s), avg(%1$s), count(%1$s)', 'b1', 'b4', 'n4', 'b8', 'n8', 'b16', 'n16',
				'b24', 'n24', 'b32', 'n32', 'b48', 'n48', 'part', 'same', 'c') || ' FROM w WHERE %2$s',
			'SELECT ' || of_columns('min(%1$s), max(%1$s)', 'b1', 'b4', 'n4', 'b8', 'n8', 'b16', 'n16', 'b24', 'n24',
				'b32', 'n32', 'b48', 'n48', 'part', 'same', 'd', 't') || ' FROM w WHERE %2$s',
			'SELECT min(n8), max(n16), count(n24), count(*) FROM w WHERE %2$s',
			'SELECT ' || of_columns('sum(%1$s), avg(%1$s), count(%1$s), min(%1$s), max(%1$s)', 'id', 'p', 'm63', 'b64',
				'n64') || ' FROM w WHERE %2$s',
			'SELECT sum(n16), min(b32), max(n8), count(*), count(d), sum(e), min(c), max(e) FROM w WHERE %2$s',
			'SELECT sum(k), min(k), count(k), count(o), bool_or(o), bit_and(b16), sum(b8::int8) FROM w WHERE %2$s',
			'SELECT sum(b8 * n8), sum(b24 * b4), avg(n16 * b1), sum(k * b24), sum(b4 - b32), sum(m63 - b8),
				sum(c * b4), avg(c + 1.25), sum((1 - b4) * (b16 + 2)), sum(n48 * n4), sum(-b24), sum(part * 3)
				FROM w WHERE %2$s'])
			WITH ORDINALITY q (query, c)
	WHERE CASE WHEN few THEN n IN (2, 8) ELSE (n + c) % 2 = 0 END
	ORDER BY n, c
$$;
SELECT differs(query) FROM sums(false, '') query;

-- with keys of several kinds: few cells, NULLs among them, too many cells, expressions, FILTERs, other aggregates
CREATE FUNCTION grouped(few boolean) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT format(query, condition)
	FROM conditions
		CROSS JOIN unnest(ARRAY[
			'SELECT b4, count(*), ' || of_columns('sum(%1$s), avg(%1$s), count(%1$s), min(%1$s), max(%1$s)',
				'p', 'n4', 'b8', 'n16', 'b32', 'n48') || ' FROM w WHERE %1$s GROUP BY b4',
			'SELECT n8, b1, count(*), ' || of_columns('sum(%1$s), count(%1$s), min(%1$s), max(%1$s)', 'm63', 'b64',
				'n64', 'part', 'same', 'c') || ' FROM w WHERE %1$s GROUP BY n8, b1',
			'SELECT n4, k, b1, count(*), sum(b16), max(t), min(d), sum(e), avg(e) FROM w WHERE %1$s
				GROUP BY n4, k, b1',
			'SELECT b16, count(*), sum(n32), min(b8) FROM w WHERE %1$s GROUP BY b16',
			'SELECT b24, n4, count(*), sum(n32) FROM w WHERE %1$s AND p < 30 GROUP BY b24, n4',
			'SELECT b16 %% 10, count(*), sum(m63), sum(c) FROM w WHERE %1$s GROUP BY b16 %% 10',
			'SELECT part, o, sum(b8) FILTER (WHERE n16 > 0), min(n24) FILTER (WHERE n4 IS NULL),
				count(*) FILTER (WHERE b1 = 7), sum(m63) FILTER (WHERE b8 > 0), max(b64) FILTER (WHERE p < 0),
				count(*) FROM w WHERE %1$s GROUP BY part, o',
			'SELECT n8, stddev(b16), sum(b16), count(DISTINCT b4), max(b16 * 2 - n4), sum(b24 / 3), count(*),
				bit_or(b4) FROM w WHERE %1$s GROUP BY n8',
			'SELECT n8, sum(b8 * b4), avg(n16 * b1), sum(k * b24), sum(c * (1 - b4)), sum(m63 - b8), sum(c - 7),
				sum(b16 * 30 - b24), count(*) FROM w WHERE %1$s GROUP BY n8',
			'SELECT same, sum(n16) FROM w WHERE %1$s AND b8 + b4 > 0 GROUP BY same HAVING count(*) > 1',
			'SELECT b8 FROM w WHERE %1$s GROUP BY b8'])
			WITH ORDINALITY q (query, c)
	WHERE CASE WHEN few THEN n IN (2, 8) ELSE (n + c) % 3 = 0 END
	ORDER BY n, c
$$;
SELECT differs(query) FROM grouped(false) query;

-- errors appear where they would
SELECT differs('SELECT b4, sum(b16 / b4), count(*) FROM w GROUP BY b4');
SELECT differs('SELECT b4, sum(b16 / nullif(b4, 0)), count(*) FROM w GROUP BY b4');
SELECT differs('SELECT b4, sum(b64 * 2) FROM w GROUP BY b4');
SELECT differs('SELECT b4, sum(b8 * b4), sum((b8 * 400)::int2) FROM w GROUP BY b4');
SELECT differs('SELECT sum(b32 * b4) FROM w WHERE id > 0');
SELECT differs('SELECT sum(b64 - b4) FROM w WHERE id > 0');
SELECT differs('SELECT b1, sum(b16 / b4) FILTER (WHERE b4 <> 0), sum(b16) FROM w GROUP BY b1');

-- groups that do not fit into memory, unlike their cells, and of which the planner expects few
ALTER TABLE w ALTER b16 SET (n_distinct = 5);
ANALYZE w;
SET work_mem = '512kB';
SET hash_mem_multiplier = 1;
SELECT differs('SELECT b16, count(*), sum(n32), min(b8) FROM w WHERE p < 900 GROUP BY b16');
SELECT differs('SELECT b16 + 1, count(*), sum(n32), min(b8) FROM w WHERE p < 900 GROUP BY 1');
SELECT line ~ 'Spilled' AS spilled
FROM explained('SELECT b16 + 1, count(*), sum(n32), min(b8) FROM w WHERE p < 900 GROUP BY 1',
	'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF') line
ORDER BY spilled DESC LIMIT 1;
RESET work_mem;
RESET hash_mem_multiplier;
ALTER TABLE w ALTER b16 RESET (n_distinct);
ANALYZE w;

-- dead rows, changed ones, and rows that are pending
DELETE FROM w WHERE id % 7 = 3 OR id BETWEEN 64510 AND 64600;
UPDATE w SET b16 = b16 + 1, m63 = -m63 WHERE id % 11 = 0;
SELECT differs(query) FROM sums(true, '') query;
VACUUM w;
INSERT INTO w SELECT * FROM rows(200001, 3000);
SELECT differs(query) FROM sums(true, '') query;
SELECT differs(query) FROM grouped(true) query;

-- several segments, one of them small
VACUUM w;
INSERT INTO w SELECT * FROM rows(300001, 70000);
VACUUM w;
SELECT differs(query) FROM sums(true, ' AND id > 140000') query;
SELECT differs(query) FROM grouped(true) query;

-- processes that share them
SET min_parallel_index_scan_size = 0;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT sum(s), min(least), max(greatest), sum(c) FROM (
	SELECT b4, sum(n16) s, min(b24) least, max(b24) greatest, count(n16) c FROM w WHERE p < 950 GROUP BY b4) groups;
SELECT sum(n16), min(b24), max(b24), count(n16) FROM w WHERE p < 950;
SET rtscan.enable_aggregate = off;
SET enable_seqscan = on;
SELECT sum(n16), min(b24), max(b24), count(n16) FROM w WHERE p < 950;

SET client_min_messages = error;
DROP SCHEMA totals CASCADE;
