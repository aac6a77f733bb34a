-- Segments that lack a value are skipped, once enough values have been looked up one after another.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA absent;
SET search_path = absent, public;
SET rtscan.merge_worker = off;
SET max_parallel_workers_per_gather = 0;
SET timezone = 'Europe/Berlin';

-- Values that are anywhere: a, f and ts differ mostly, of r each is five times, of n most are NULL; s has no keys.
CREATE TABLE t WITH (autovacuum_enabled = off) AS
SELECT i AS id, hashint4(i) AS a, hashint4(i / 5) AS r, CASE WHEN i % 4 = 0 THEN hashint4(-i)::bigint END AS n,
	CASE i % 1000 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' WHEN 2 THEN 'Infinity' ELSE hashint4(i) / 7.0 END::float8 AS f,
	timestamp '2020-01-01' + abs(hashint4(i)) % 10000000 * interval '17 s' AS ts, 'value ' || hashint4(i) AS s
FROM generate_series(1, 120000) i;
VACUUM ANALYZE t;
SET rtscan.debug_segment_rows = 38000;
CREATE INDEX t_absent ON t USING rtscan (a, r, n, f, ts, s) INCLUDE (id);
SELECT segments BETWEEN 3 AND 6 AS several FROM rtscan_stats('t_absent');
-- some of them, others, and NULL
CREATE TABLE asked AS
SELECT i AS number, CASE WHEN i % 7 > 0 THEN hashint4(i * 80) END AS a, hashint4(i) AS r, hashint4(-i * 4)::bigint AS n,
	CASE i % 10 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' WHEN 2 THEN 'Infinity' WHEN 3 THEN i
		ELSE hashint4(i * 30) / 7.0 END::float8 AS f,
	timestamp '2020-01-01' + abs(hashint4(i * 40)) % 10000000 * interval '17 s' AS ts, 'value ' || hashint4(i * 50) AS s
FROM generate_series(1, 1500) i;
ANALYZE asked;

-- Return whether a nested loop, which looks up one row after another, finds the same rows, and skips segments.
CREATE FUNCTION looped(condition text, hashed text DEFAULT NULL, OUT same boolean, OUT rows bigint, OUT skipped boolean)
LANGUAGE plpgsql
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off SET enable_material = off
SET enable_memoize = off SET enable_seqscan = off SET enable_nestloop = on
SET rtscan.enable_star = off SET rtscan.enable_aggregate = off SET rtscan.enable_scan = on AS $$
DECLARE
	query text := format('SELECT count(*), sum(number), sum(t.id) FROM asked JOIN t ON %s', condition);
	plan jsonb;
	by_loop text;
	expected text;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, FORMAT json) ' || query INTO plan;
	plan := jsonb_path_query_first(plan, 'lax $.** ? (exists(@.Segments))');
	skipped := (plan ->> 'Segments Skipped')::int > 0;
	EXECUTE format('SELECT q::text, count FROM (%s) q', query) INTO by_loop, rows;
	SET LOCAL rtscan.enable_scan = off;
	SET LOCAL enable_hashjoin = on;
	SET LOCAL enable_seqscan = on;
	SET LOCAL enable_nestloop = off;
	EXECUTE format('SELECT q::text FROM (%s) q', replace(query, condition, coalesce(hashed, condition))) INTO expected;
	same := by_loop = expected;
END $$;
CREATE TABLE question (number serial, condition text);
INSERT INTO question (condition) VALUES ('t.a = asked.a'), ('t.r = asked.r'), ('t.n = asked.n'), ('t.f = asked.f'),
	('t.ts = asked.ts'), ('t.s = asked.s'), ('t.n = asked.a'), ('t.a = asked.n'),
	('t.f = asked.f AND t.a = hashint4(number * 30)'), ('t.a = asked.a AND t.r = hashint4(number * 16)'),
	('t.a = asked.a AND t.id > 40000'), ('t.a = asked.a AND t.id = number * 80');
SELECT condition, looped.* FROM question, looped(condition) ORDER BY number;
-- A local time is more than one instant, where the clock is set back.
INSERT INTO t SELECT id, a, r, n, f, timestamp '2020-10-25 02:30', s FROM t WHERE id % 20000 = 0;
UPDATE asked SET ts = '2020-10-25 02:30' WHERE number % 100 = 0;
SELECT looped.* FROM looped('t.ts = asked.ts::timestamptz', 't.ts::timestamptz = asked.ts::timestamptz');
-- A node counts as one that repeats; an aggregate, too, and one whose rows are the heap's.
SELECT count(*), sum(c) FROM asked, LATERAL (SELECT count(*) AS c FROM t WHERE t.a = asked.a OFFSET 0) counted;
SELECT count(*), sum(length(first.s)) FROM asked, LATERAL (SELECT t.s FROM t WHERE t.a = asked.a LIMIT 1) first;
SELECT count(*) AS matching, count(DISTINCT number) FROM asked JOIN t USING (a);
-- OR: what lacks one value may have the other
SELECT count(*), sum(c)
FROM asked, LATERAL (SELECT count(*) AS c FROM t WHERE t.a = asked.a OR t.n = asked.n OFFSET 0) counted;
SELECT sum(c) FROM (SELECT count(*) AS c FROM asked JOIN t USING (a)
	UNION ALL SELECT count(*) FROM asked JOIN t USING (n)
	UNION ALL SELECT -count(*) FROM asked JOIN t USING (a, n)) counted;
-- With little memory some segments have none.
SET work_mem = '64kB';
SELECT condition, same, rows FROM question, looped(condition) WHERE number IN (1, 2, 4) ORDER BY number;
RESET work_mem;
DELETE FROM t WHERE id % 3 = 0;
VACUUM t;
INSERT INTO t SELECT id + 120000, a, r, n, f, ts, s FROM t WHERE id % 100 = 1;
SELECT condition, same, rows FROM question, looped(condition) ORDER BY number;
DROP SCHEMA absent CASCADE;
