-- Grouping sets, ROLLUP, CUBE and GROUPING() by the node RtscanAggregate: the same rows as PostgreSQL's own.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA sets;
SET search_path = sets, public;
SET rtscan.pending_list_limit = '64kB';
SET rtscan.merge_worker = off;

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/outcomes.psql
\i :directory/sql/include/plans.psql
\set ECHO all
-- Keys with NULLs, which are others than those of sets that lack a key; u is unique.  Floats add up exactly.
CREATE FUNCTION rows(start int, n int)
RETURNS TABLE (u int, a int, b int, c text, d date, e bool, v int, f float8, n numeric(12, 2), m numeric)
LANGUAGE sql AS $$
	SELECT i, CASE WHEN h % 11 > 0 THEN h % 7 END, CASE WHEN h % 13 > 0 THEN h % 5 END,
		   CASE WHEN h % 17 > 0 THEN 'c' || h % 3 END, CASE WHEN h % 19 > 0 THEN '2024-01-01'::date + h % 90 END,
		   CASE WHEN h % 3 > 0 THEN h % 2 = 0 END, CASE WHEN h % 23 > 0 THEN h % 1000 - 500 END,
		   CASE WHEN h % 29 > 0 THEN h % 64 / 4.0 END, CASE WHEN h % 31 > 0 THEN (h % 100000) / 100.0 END,
		   CASE WHEN h % 37 = 0 THEN 'NaN' WHEN h % 41 > 0 THEN round((h % 997) / 7.0, h % 5) END
	FROM (SELECT i, abs(hashint4(i)) FROM generate_series(start, start + n - 1) i) r (i, h)
$$;
CREATE TABLE few AS SELECT * FROM rows(1, 0);
ALTER TABLE few ALTER n TYPE numeric(12, 2), ADD filler text, SET (autovacuum_enabled = off, fillfactor = 80);
CREATE TABLE none (LIKE few) WITH (autovacuum_enabled = off);
CREATE TABLE many (LIKE few) WITH (autovacuum_enabled = off);
INSERT INTO few SELECT * FROM rows(1, 3000);
INSERT INTO many SELECT * FROM rows(1, 70000);
CREATE INDEX few_all ON few USING rtscan (a, b, u) INCLUDE (c, d, e, v, f, n, m);
CREATE INDEX none_all ON none USING rtscan (a, b, u) INCLUDE (c, d, e, v, f, n, m);
CREATE INDEX many_all ON many USING rtscan (a, b, u) INCLUDE (c, d, e, v, f, n, m);
DELETE FROM few WHERE u % 13 = 0;
VACUUM ANALYZE few;
VACUUM ANALYZE none;
-- segments, pending rows, dead ones, rows that are not all-visible
INSERT INTO few SELECT * FROM rows(10001, 900);
DELETE FROM few WHERE u % 17 = 0;
UPDATE few SET filler = 'HOT' WHERE u % 11 = 0;
UPDATE few SET a = a + 1 WHERE u % 97 = 0;
DELETE FROM many WHERE u BETWEEN 2000 AND 4000;
VACUUM ANALYZE many;
SELECT segments > 0 AS segments, pending > 0 AS pending FROM rtscan_stats('few_all');

--
-- Sets of all kinds
--
CREATE VIEW sets AS
	SELECT unnest(ARRAY[
		'ROLLUP (a)', 'ROLLUP (a, b)', 'ROLLUP (a, b, c, d)', 'CUBE (a)', 'CUBE (a, b)', 'CUBE (a, b, c)',
		'CUBE (a, b, c, e)', 'ROLLUP (a, (b, c))', 'CUBE ((a, b), c)', 'a, ROLLUP (b, c)', 'ROLLUP (a), ROLLUP (b)',
		'CUBE (a, b), ROLLUP (c)', 'GROUPING SETS ((a), (b))', 'GROUPING SETS ((a), (b), (c), ())',
		'GROUPING SETS ((a, b), (b, c), (c, a))', 'GROUPING SETS ((a, b), (c, d), (a))', 'GROUPING SETS ((a), (a))',
		'GROUPING SETS ((a, b), (a), (b, a), (a), ())', 'GROUPING SETS ((), ())', 'GROUPING SETS (())', '()',
		'GROUPING SETS ((a), ROLLUP (b, c), CUBE (d, e))', 'DISTINCT ROLLUP (a, b), ROLLUP (a, c)',
		'ALL ROLLUP (a, b), ROLLUP (a, c)', 'DISTINCT GROUPING SETS ((a), (a), ())', 'GROUPING SETS ((u), (a))',
		'GROUPING SETS ((u, a), (u, b))', 'ROLLUP (a, u)', 'CUBE (d, u)', 'GROUPING SETS ((d), (v), (f), (n))',
		'GROUPING SETS ((a, b, c, d, e), (v))', 'a, GROUPING SETS ((b, c), (b))', 'CUBE (n, f)',
		'ROLLUP (c, a, c)']) AS sets;
CREATE VIEW aggregates AS
	SELECT unnest(ARRAY[
		'count(*)', 'count(v)', 'sum(v)', 'avg(v)', 'min(c)', 'max(d)', 'sum(f)', 'avg(f)', 'min(f)', 'sum(n)',
		'avg(n)', 'max(n)', 'trim_scale(sum(m))', 'stddev(v)', 'variance(n)', 'bool_and(e)', 'bit_or(v)',
		'bit_xor(v::bigint)', 'corr(v, v + 1)', 'regr_count(v, f)', 'count(*) FILTER (WHERE a > 2)',
		'sum(v) FILTER (WHERE c = ''c1'')', 'sum(v * 2 + a)', 'max(v) - min(v)', 'max(c || e)', 'count(DISTINCT v)',
		'count(DISTINCT a)', 'sum(DISTINCT v)', 'count(DISTINCT d) FILTER (WHERE e)', 'count(DISTINCT n)',
		'percentile_disc(0.5) WITHIN GROUP (ORDER BY v)',
		'percentile_cont(ARRAY[0, 0.3, 1]) WITHIN GROUP (ORDER BY v DESC)',
		'mode() WITHIN GROUP (ORDER BY b)']) AS aggregate;
-- keys are shown if a set has them, GROUPING() says which
CREATE FUNCTION query_of(sets text, aggregates text, source text) RETURNS text LANGUAGE sql AS $$
	SELECT format('SELECT %s%s FROM %s GROUP BY %s',
				  (SELECT string_agg(format('%s AS %1$s_, GROUPING(%1$s), ', key), '' ORDER BY key)
				   FROM unnest('{a,b,c,d,e,f,m,n,u,v}'::text[]) key
				   WHERE regexp_replace(sets, '[A-Z]+', '', 'g') ~ ('\m' || key || '\M')),
				  aggregates, source, sets)
$$;
SELECT query_of('ROLLUP (a, b)', 'count(*)', 'few');
SELECT differs(query_of(sets, 'count(*), sum(v), avg(f), min(c), sum(n), count(DISTINCT v)', 'few'), NULL) FROM sets;
SELECT differs(query_of(sets, 'count(*), sum(v), max(d), percentile_disc(0.5) WITHIN GROUP (ORDER BY v)', 'few
	WHERE a > 100'), NULL) FROM sets;
SELECT differs(query_of(sets, 'count(*), sum(v), max(n), trim_scale(sum(m))', 'few
	WHERE a BETWEEN 1 AND 5 AND v % 2 = 0'), NULL) FROM sets;
SELECT differs(query_of(sets, 'count(*), sum(v), stddev(v), max(c)', 'none'), NULL) FROM sets;
SELECT differs(query_of('CUBE (a, b)', aggregate, 'few')) FROM aggregates;
SELECT differs(query_of('GROUPING SETS ((a, c), (b), (d), ())', aggregate, 'few')) FROM aggregates;
SELECT differs(query_of('ROLLUP (c, e), GROUPING SETS ((), ())', aggregate, 'few')) FROM aggregates;
SELECT differs(query_of('GROUPING SETS ((), ())', aggregate, 'few')) FROM aggregates;
SELECT differs(query_of(sets, 'count(*), sum(v), count(DISTINCT u % 100)', 'many'), NULL)
FROM unnest(ARRAY['CUBE (a, b, c)', 'GROUPING SETS ((a, d), (b), (v))', 'ROLLUP (e, v)',
	'GROUPING SETS ((u), (a), ())']) sets;

--
-- Keys that are expressions, and what can be said of keys
--
SELECT differs(query) FROM unnest(ARRAY[
	'SELECT a + 1, b % 2, count(*), GROUPING(a + 1, b % 2), GROUPING(b % 2) FROM few GROUP BY ROLLUP (a + 1, b % 2)',
	'SELECT a, a + 1, count(*), GROUPING(a + 1, a) FROM few GROUP BY CUBE (a, a + 1)',
	'SELECT a, a + 1 AS x, a + b, count(*) FROM few GROUP BY CUBE (a, b)',
	'SELECT lower(c), upper(lower(c)), c || ''!'', max(c), GROUPING(c, lower(c)) FROM few
		GROUP BY GROUPING SETS ((lower(c)), (c))',
	'SELECT date_trunc(''month'', d), extract(dow FROM d), sum(v) FROM few GROUP BY ROLLUP (1, 2)',
	'SELECT CASE WHEN a > 3 THEN ''high'' ELSE c END, b IS NULL, avg(n) FROM few GROUP BY CUBE (1, 2)',
	'SELECT coalesce(a, -1), coalesce(b, -1), count(*) FROM few GROUP BY ROLLUP (a, b)',
	'SELECT coalesce(a, -1) AS a, count(*) FROM few GROUP BY ROLLUP (coalesce(a, -1))',
	'SELECT a IS NULL, GROUPING(a) = 1 AND a IS NULL, count(*) FROM few GROUP BY ROLLUP (a)',
	'SELECT CASE WHEN GROUPING(a) = 1 THEN ''all'' ELSE a::text END, sum(v) FROM few GROUP BY ROLLUP (a)',
	'SELECT GROUPING(a, b, c, d, e), GROUPING(e, a) + GROUPING(c), count(*) FROM few GROUP BY CUBE (a, b, c, d, e)',
	'SELECT count(*) FROM few GROUP BY CUBE (a, b)',
	'SELECT GROUPING(a) FROM few GROUP BY CUBE (a, b)',
	'SELECT a FROM few GROUP BY ROLLUP (a)',
	'SELECT a, GROUPING(a), GROUPING(a, a), count(*) FROM few GROUP BY a',
	'SELECT now() > ''2020-01-01'', a, sum(v) FROM few GROUP BY ROLLUP (1, 2)',
	'SELECT a, sum(a), count(a), max(b), b FROM few GROUP BY CUBE (a, b)',
	'SELECT a, b, sum(v) FILTER (WHERE a > 3 OR b < 2), count(*) FILTER (WHERE a IS NULL) FROM few
		GROUP BY CUBE (a, b)',
	-- HAVING, ORDER BY, LIMIT, DISTINCT, windows
	'SELECT a, b, count(*) FROM few GROUP BY ROLLUP (a, b) HAVING count(*) > 50',
	'SELECT a, b, count(*) FROM few GROUP BY ROLLUP (a, b) HAVING GROUPING(b) = 1',
	'SELECT a, b, count(*) FROM few GROUP BY ROLLUP (a, b) HAVING a IS NULL',
	'SELECT a, b, count(*) FROM few GROUP BY ROLLUP (a, b) HAVING a > 2 OR GROUPING(a, b) = 3 AND sum(v) < 0',
	'SELECT a, b, count(*) FROM few WHERE b > 1 GROUP BY CUBE (a, b) HAVING b > 2',
	'SELECT * FROM (SELECT a, b, GROUPING(a, b) g, count(*) FROM few
		GROUP BY CUBE (a, b) ORDER BY a, b DESC NULLS LAST, g LIMIT 17) q',
	'SELECT * FROM (SELECT a, b, GROUPING(a, b) g, count(*) FROM few
		GROUP BY CUBE (a, b) ORDER BY GROUPING(a, b), 1, 2 OFFSET 7) q',
	'SELECT DISTINCT GROUPING(a, b), count(*) > 100 FROM few GROUP BY CUBE (a, b)',
	'SELECT a, b, sum(v), rank() OVER (PARTITION BY GROUPING(a, b), a ORDER BY sum(v)) FROM few GROUP BY CUBE (a, b)',
	-- in queries
	'WITH q AS (SELECT a, b, sum(v) s FROM few GROUP BY ROLLUP (a, b)) SELECT x.a, x.b, x.s, y.s
		FROM q x JOIN q y ON y.a = x.a AND y.b IS NULL',
	'SELECT x, y, count(*), sum(z), GROUPING(x, y) FROM (SELECT a + 1 AS x, b AS y, v * 2 AS z FROM few
		WHERE a > 1) q GROUP BY CUBE (x, y)',
	'SELECT x, sum(z) FILTER (WHERE y > 2) FROM (SELECT a + 1 AS x, b + 0 AS y, v AS z FROM few) q WHERE y < 4
		GROUP BY ROLLUP (x)',
	'SELECT i, q.* FROM generate_series(1, 4) i, LATERAL (SELECT a, sum(v * i) FROM few WHERE b = i
		GROUP BY ROLLUP (a) OFFSET 0) q',
	'SELECT i, (SELECT count(*) FROM (SELECT 1 FROM few WHERE a = i GROUP BY CUBE (b, c)) q)
		FROM generate_series(1, 7) i',
	'SELECT a, count(*), (SELECT max(i) FROM generate_series(1, 3) i WHERE i < a) FROM few
		GROUP BY ROLLUP (a)']) query;
-- a column that is known to be one value, and one that is a constant
SELECT differs(query, n) FROM (VALUES
	('SELECT a, b, GROUPING(a, b), count(*) FROM few WHERE a = 3 GROUP BY CUBE (a, b)', 1),
	('SELECT a, b, count(*) FROM few WHERE a IS NULL GROUP BY ROLLUP (a, b)', 1),
	('SELECT 5 AS five, count(*) FROM few GROUP BY ROLLUP (five)', NULL),
	('SELECT 5 AS five, a, sum(v) FROM few GROUP BY GROUPING SETS ((five), (a))', NULL),
	('SELECT five, a, GROUPING(five, a), sum(v) FROM (SELECT 5 AS five, a, v FROM few) q
		GROUP BY CUBE (five, a)', NULL),
	('SELECT a, CASE WHEN true THEN a END, GROUPING(a), count(*) FROM few GROUP BY GROUPING SETS ((a),
	(CASE WHEN true THEN a END))', NULL),
	('SELECT a, random() > 2, count(*) FROM few GROUP BY ROLLUP (1, 2)', 0),
	('SELECT a, filler, count(*) FROM few GROUP BY CUBE (1, 2)', 0),
	('SELECT 1 FROM few GROUP BY GROUPING SETS ((), ())', 0),
	('SELECT 1 FROM few GROUP BY () HAVING true', 0)) q (query, n);
SELECT differs_prepared(mode, 'int', 'SELECT a, b, GROUPING(a, b), sum(v + $1) FROM few WHERE b > $1
	GROUP BY ROLLUP (a, b)', '1', '3', 'NULL', '9')
FROM unnest('{force_generic_plan,force_custom_plan}'::text[]) mode;
SELECT differs_prepared(mode, 'int', 'SELECT $1 + a, $1 AS p, count(*) FROM few GROUP BY CUBE (1, 2)', '1', 'NULL')
FROM unnest('{force_custom_plan}'::text[]) mode;

--
-- Plans: a pass over rows for all, or for some sets
--
SET enable_seqscan = off;
SET rtscan.enable_scan = off;
SELECT explained('SELECT a, b, GROUPING(a), count(*) FROM few GROUP BY ROLLUP (a, b)
	HAVING GROUPING(b) = 0 ORDER BY a, b LIMIT 5');
SELECT explained('SELECT a, b, count(*) FROM few GROUP BY GROUPING SETS ((a), (b))');
SELECT explained('SELECT u, v, a, count(*) FROM few GROUP BY GROUPING SETS ((u), (v), (a), (v, a))');
SELECT explained('SELECT count(*) FROM few GROUP BY GROUPING SETS ((), ())');
SELECT explained('SELECT a + 1 AS x, count(*) FROM few GROUP BY ROLLUP (x)', 'COSTS OFF, FORMAT YAML');
SELECT explained('SELECT x, GROUPING(x), count(*) FROM (SELECT a + 1 AS x FROM few WHERE b > 2) q WHERE x > 3
	GROUP BY ROLLUP (x)', 'COSTS OFF, VERBOSE');
-- rows are looked at once, or once for each set that is no part of another
CREATE FUNCTION evaluated(query text) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT line FROM explained(query, 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF') line
		WHERE line ~ 'Pending Rows|Group Key|Combined'
$$;
SELECT evaluated('SELECT count(*) FROM few GROUP BY CUBE (a, b)');
SELECT evaluated('SELECT count(*) FROM few GROUP BY GROUPING SETS ((a), (b), (c))');
SELECT evaluated('SELECT count(*) FROM few GROUP BY GROUPING SETS ((u), (v))');
RESET enable_seqscan;
RESET rtscan.enable_scan;

--
-- Little memory: groups of sets of rows and of their parts are spilled, values of groups and of all rows are sorted
--
CREATE FUNCTION spills(query text) RETURNS text LANGUAGE plpgsql SET enable_seqscan = off SET enable_hashagg = off
SET enable_sort = off SET rtscan.enable_scan = off SET max_parallel_workers_per_gather = 0
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
	line text;
	found text[];
	expected text[];
	spilled text = '';
BEGIN
	-- the planner expects that memory is enough
	SET LOCAL rtscan.enable_aggregate = on;
	SET LOCAL work_mem = '256MB';
	EXECUTE 'PREPARE spilling AS SELECT array_agg(q::text ORDER BY q::text COLLATE "C") FROM (' || query || ') q';
	EXECUTE 'EXPLAIN EXECUTE spilling';
	SET LOCAL work_mem = '64kB';
	SET LOCAL hash_mem_multiplier = 1;
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE spilling' LOOP
		IF line ~ 'Spilled|RtscanAggregate' THEN
			spilled := spilled || substring(line, '(Spilled \w+|RtscanAggregate)') || ' ';
		END IF;
	END LOOP;
	EXECUTE 'EXECUTE spilling' INTO found;
	DEALLOCATE spilling;
	SET LOCAL rtscan.enable_aggregate = off;
	SET LOCAL enable_seqscan = on;
	SET LOCAL enable_sort = on;
	SET LOCAL work_mem = '64MB';
	expected := rows_of(query);
	IF found IS DISTINCT FROM expected THEN
		RETURN format('%s instead of %s', left(found::text, 500), left(expected::text, 500));
	END IF;
	RETURN spilled;
END
$$;
SELECT spills(query) FROM unnest(ARRAY[
	'SELECT u, a, b, count(*), sum(v), max(c), trim_scale(sum(m)) FROM many WHERE u < 12000 GROUP BY CUBE (u, a, b)',
	'SELECT u % 5000, v, count(*), min(c) FROM many WHERE u < 20000 GROUP BY GROUPING SETS ((u % 5000), (v),
	(u % 5000, v), (u % 5000, v))',
	'SELECT u, v, count(*), stddev(n) FROM many WHERE u < 9000 GROUP BY GROUPING SETS ((u), (v), ())',
	'SELECT a, b, count(DISTINCT u::bigint * 1000003), count(*) FROM many WHERE u < 30000 GROUP BY CUBE (a, b)',
	'SELECT e, count(DISTINCT u::bigint * 1000003 % 9999991), percentile_cont(0.3) WITHIN GROUP (ORDER BY u), count(*)
		FROM many WHERE a > 4 GROUP BY GROUPING SETS ((e), (e), (), ())',
	'SELECT a, e, percentile_disc(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY u),
		mode() WITHIN GROUP (ORDER BY u % 1000)
		FROM many WHERE b > 1 GROUP BY ROLLUP (a, e)']) query;

--
-- Beside what is parallel, or of partitions: grouping sets are PostgreSQL's there, GROUPING() without sets is not
--
CREATE TABLE parted (a int, b int, v int) PARTITION BY RANGE (a);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (50);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (50) TO (100);
INSERT INTO parted SELECT i % 100, i % 7, i FROM generate_series(1, 5000) i;
CREATE INDEX ON parted USING rtscan (a, b) INCLUDE (v);
VACUUM ANALYZE parted;
SELECT differs('SELECT b, GROUPING(b), sum(v) FROM parted GROUP BY b', 2);
SELECT differs('SELECT b, GROUPING(b), sum(v) FROM parted GROUP BY ROLLUP (b)', 0);
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT explained('SELECT b, GROUPING(b), sum(v) FROM many GROUP BY b');
SELECT sum(hashtext(q::text)) = (SELECT sum(hashtext(p::text)) FROM (SELECT b, 0 AS g, sum(v) FROM many
	GROUP BY b) p) AS same
FROM (SELECT b, GROUPING(b) AS g, sum(v) FROM many GROUP BY b) q;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;

--
-- Aggregates that are PostgreSQL's, over the rows of RtscanScan, also in its order
--
CREATE AGGREGATE total(int) (sfunc = int4_sum, stype = bigint);
CREATE FUNCTION later(int, int) RETURNS int LANGUAGE sql AS 'SELECT $2';
CREATE AGGREGATE last(int) (sfunc = later, stype = int);
CREATE FUNCTION scan_differs(query text, settings text DEFAULT '') RETURNS SETOF text LANGUAGE plpgsql
SET max_parallel_workers_per_gather = 0 SET enable_bitmapscan = off AS $$
DECLARE
	expected text[];
	found text[];
	plan text;
BEGIN
	SET LOCAL enable_seqscan = on;
	SET LOCAL enable_hashagg = on;
	SET LOCAL rtscan.enable_scan = off;
	SET LOCAL rtscan.enable_aggregate = off;
	expected := rows_of(query);
	SET LOCAL enable_seqscan = off;
	SET LOCAL rtscan.enable_scan = on;
	SET LOCAL rtscan.enable_aggregate = on;
	EXECUTE settings;
	plan := plan_of(query);
	found := rows_of(query);
	IF found IS DISTINCT FROM expected OR plan !~ 'RtscanScan' OR plan ~ 'RtscanAggregate' THEN
		RETURN NEXT format(E'%s: %s instead of %s\n%s', query, left(found::text, 500), left(expected::text, 500), plan);
	END IF;
END
$$;
SELECT scan_differs(format('SELECT %s %s FROM %s GROUP BY %s', regexp_replace(keys, '^GROUP.*', 'GROUPING(a, b),'),
	aggregates, source, rtrim(keys, ',')), settings)
FROM unnest(ARRAY['a,', 'a, b,', 'c,', 'a % 3, e,', 'GROUPING SETS ((a), (b), (b, a), ())']) keys,
	unnest(ARRAY[
		'string_agg(c, '','' ORDER BY u)', 'string_agg(c, '','' ORDER BY a, u DESC) FILTER (WHERE b > 2)',
		'array_agg(v ORDER BY v, u), array_agg(u ORDER BY u DESC)', 'array_agg(DISTINCT c), count(DISTINCT c)',
		'total(v), sum(v)', 'last(u ORDER BY u)', 'last(v ORDER BY b, u), max(v)', 'jsonb_object_agg(u, c)',
		'sum(n ORDER BY u), count(*)', 'rank(3) WITHIN GROUP (ORDER BY v)']) aggregates,
	unnest(ARRAY['few', 'few WHERE a BETWEEN 2 AND 4 AND b < 3', 'few WHERE a > 100', 'none']) source,
	unnest(ARRAY['', 'SET LOCAL enable_hashagg = off']) settings;
SELECT scan_differs('SELECT string_agg(c, '','' ORDER BY u), total(v), last(v ORDER BY a, u) FROM few');
-- groups in the order of a key column: the first ones take but their rows
SELECT scan_differs(format('SELECT * FROM (SELECT a, u, count(*), array_agg(v ORDER BY v) FROM %s GROUP BY u, a
	ORDER BY u %s LIMIT 5) q', source, direction), 'SET LOCAL enable_hashagg = off')
FROM unnest('{few,few WHERE a > 2 AND u > 9000,none}'::text[]) source, unnest('{ASC,DESC}'::text[]) direction;
SELECT explained('SELECT u, count(*), max(v) FROM many GROUP BY u ORDER BY u LIMIT 5');
SELECT explained('SELECT u, array_agg(v) FROM many WHERE u > 50 GROUP BY u ORDER BY u DESC LIMIT 5');
SELECT explained('SELECT a, count(*), max(v) FROM many GROUP BY a ORDER BY a LIMIT 5');
SELECT explained('SELECT a, b, count(*) FROM many GROUP BY ROLLUP (a, b) ORDER BY a, b LIMIT 5');
SELECT line FROM explained('SELECT u, count(*) FROM many GROUP BY u ORDER BY u LIMIT 5',
	'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF') line WHERE line ~ 'rows';

-- numbers of which a group has special ones only
CREATE TABLE special AS
	SELECT i % 3 AS a, i % 4 AS b, (ARRAY['NaN', 'Infinity', '-Infinity', '1.5'])[1 + i % 4]::numeric AS n
	FROM generate_series(1, 200) i;
CREATE INDEX special_all ON special USING rtscan (a, b) INCLUDE (n);
VACUUM ANALYZE special;
SELECT differs('SELECT a, b, sum(n), avg(n), variance(n) FROM special GROUP BY CUBE (a, b)');

--
-- Privileges: functions of keys and aggregates, and rows that a policy hides
--
CREATE ROLE rtscan_sets;
CREATE FUNCTION twice(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1 * 2; END';
REVOKE EXECUTE ON FUNCTION twice FROM PUBLIC;
GRANT USAGE ON SCHEMA sets TO rtscan_sets;
GRANT SELECT ON few TO rtscan_sets;
ALTER TABLE few ENABLE ROW LEVEL SECURITY;
CREATE POLICY visible ON few USING (a < 4);
SET ROLE rtscan_sets;
SELECT differs('SELECT a, b, count(*), sum(v) FROM few GROUP BY CUBE (a, b)');
SELECT differs('SELECT twice(a), count(*) FROM few GROUP BY ROLLUP (twice(a))', NULL);
SELECT twice(a), count(*) FROM few GROUP BY ROLLUP (twice(a));
RESET ROLE;
DROP OWNED BY rtscan_sets;
DROP ROLE rtscan_sets;

SELECT rtscan_check(index, true) FROM unnest('{few_all,many_all,none_all}'::regclass[]) index;
DROP SCHEMA sets CASCADE;
