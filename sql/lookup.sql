-- Lookups in the inner side of a nested loop: few rows of each of several segments, again and again.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
SET rtscan.merge_worker = off;
CREATE SCHEMA lookup;
SET search_path = lookup, public;
SET max_parallel_workers_per_gather = 0;
SET jit = off;
SET rtscan.executor = cpu;
SET rtscan.enable_star = off; -- this is about nested loops

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/plans.psql
\set ECHO all
-- Three segments of plain columns, unique values and some that repeat, INCLUDEd ones, NULLs; outer rows, half of
-- which find nothing.
SET rtscan.debug_segment_rows = 258048;
CREATE TABLE t AS SELECT i AS id, hashint4(i) AS a, CASE WHEN i % 9 > 0 THEN hashint4(-i) / 1000 END AS b,
		i % 1000 AS v, 'text ' || i AS t
	FROM generate_series(1, 600000) i;
CREATE INDEX t_idx ON t USING rtscan (a, b) INCLUDE (id, v);
CREATE INDEX t_a ON t (a);
VACUUM (FREEZE, ANALYZE) t;
SELECT segments > 1 AS several FROM rtscan_stats('t_idx');
CREATE TABLE o AS SELECT i, i % 7 AS m,
		CASE WHEN i % 20 = 0 THEN NULL WHEN i % 2 = 0 THEN hashint4(i * 1000) ELSE hashint4(i * 1000) + 1 END AS k
	FROM generate_series(1, 500) i;
ANALYZE o;

-- Each query by the index, and by a btree: 'same', or what differs.
CREATE FUNCTION looked_up(query text) RETURNS text LANGUAGE plpgsql
SET rtscan.enable_scan = on SET enable_hashjoin = off SET enable_mergejoin = off SET enable_material = off
SET enable_memoize = off SET enable_seqscan = off SET enable_bitmapscan = off SET enable_indexscan = off
SET enable_indexonlyscan = off AS $$
DECLARE
	plan text;
	found text;
BEGIN
	SELECT string_agg(line, E'\n') INTO plan FROM explained(query) line;
	IF plan !~ 'Nested Loop' OR plan !~ 'RtscanScan' THEN
		RETURN plan;
	END IF;
	EXECUTE query INTO found;
	RETURN found;
END
$$;
CREATE FUNCTION compared(query text) RETURNS text LANGUAGE plpgsql
SET rtscan.enable_scan = off SET enable_bitmapscan = off SET enable_seqscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET enable_material = off AS $$
DECLARE
	found text;
	expected text;
BEGIN
	found := looked_up(query);
	EXECUTE query INTO expected;
	RETURN CASE WHEN found = expected THEN 'same' ELSE format('%s: %s instead of %s', query, found, expected) END;
END
$$;
CREATE TABLE query AS
	SELECT format('SELECT (count(*), sum(t.a::bigint), sum(%s), sum(o.i))::text FROM %s WHERE %s', what, tables,
		condition) AS text
FROM unnest(ARRAY['t.v', 't.id * t.b::bigint', 'length(t.t)']) what,
	(VALUES ('o, t', 't.a = o.k'), ('o, t', 't.a BETWEEN o.k AND o.k + 40000'),
		('o, t', 't.a >= o.k AND t.a < o.k::bigint + 50000'),
		('o, t', 't.a > o.k - 30000 AND t.a <= o.k AND t.b > 0'), ('o, t', 't.a = ANY (ARRAY[o.k, o.k - 1])'),
		('o, t', 't.a BETWEEN o.k AND o.k + 20000000 AND t.b BETWEEN o.m * 1000 AND o.m * 1000 + 9000 AND o.i < 50'),
		('o LEFT JOIN t ON t.a = o.k AND t.v < 500', 'true'),
		('(SELECT * FROM o ORDER BY k) o, t', 't.a BETWEEN o.k AND o.k + 30000')) q(tables, condition);
SELECT compared(text), count(*) FROM query GROUP BY 1;

-- Dead rows, rows that are not visible to all, and pending ones.
DELETE FROM t WHERE id % 10 = 3;
VACUUM t;
SELECT dead > 0 AS dead FROM rtscan_stats('t_idx');
SELECT compared(text), count(*) FROM query GROUP BY 1;
UPDATE t SET v = v + 1 WHERE id % 50 = 0;
DELETE FROM t WHERE id % 10 = 5;
INSERT INTO t SELECT id + 1000000, a, b, v, t FROM t WHERE id % 1000 = 0;
SELECT compared(text), count(*) FROM query GROUP BY 1;

-- A lookup reads few pages of a segment: those of the dictionary, of the order, and of the values that are looked at.
VACUUM t;
SELECT rtscan_merge('t_idx') IS NOT NULL AS merged;
CREATE FUNCTION pages_a_lookup(query text, OUT few boolean) LANGUAGE plpgsql AS $$
DECLARE
	before bigint;
	lookups int = (SELECT count(*) * (SELECT segments FROM rtscan_stats('t_idx')) FROM o WHERE k IS NOT NULL);
	pages numeric;
BEGIN
	before := sum(pages_read) FROM pg_stat_rtscan;
	PERFORM looked_up(query);
	pages := ((SELECT sum(pages_read) FROM pg_stat_rtscan) - before) / lookups;
	few := pages < 8;
	IF NOT few THEN
		RAISE WARNING '% pages', pages;
	END IF;
END
$$;
SELECT pages_a_lookup('SELECT (count(*), sum(t.v))::text FROM o, t WHERE t.a = o.k') AS point,
	pages_a_lookup('SELECT (count(*), sum(t.v))::text FROM o, t WHERE t.a BETWEEN o.k AND o.k + 7000') AS range;
DROP SCHEMA lookup CASCADE;
