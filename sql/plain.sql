-- Key columns of many values: stored in row order, found by binary search, tested by value.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA plain;
SET search_path = plain, public;
SET max_parallel_workers_per_gather = 0;
SET constraint_exclusion = off;
SET maintenance_work_mem = '256MB';
SET timezone = 'Europe/Berlin';

-- Long runs of equal values, extreme ones, NULLs; types whose integers ascend as their keys do, and -0, which does not.
CREATE TABLE t AS SELECT i AS id, abs(hashint4(i)) AS k, hashint4(i) AS a,
	CASE WHEN i % 5 > 0 THEN CASE WHEN i % 9 = 0 THEN 7 ELSE hashint4(-i)::bigint END END AS b,
	CASE i % 7 WHEN 0 THEN -9223372036854775808 WHEN 1 THEN 9223372036854775807
		ELSE (hashint4(i)::bigint << 31) + i END AS x,
	'2020-01-01'::timestamp + abs(hashint4(i)) % 1000000 * interval '100 s' AS ts,
	CASE i % 10000 WHEN 0 THEN 'NaN' WHEN 1 THEN 'Infinity' WHEN 2 THEN '-Infinity'
		ELSE hashint4(i) / 1e3 END::float8 AS f, (4294967295 - abs(hashint4(i)) * 2::bigint)::oid AS o,
	CASE WHEN i % 1000 = 0 THEN '-0'::float8 ELSE hashint4(i)::float8 / 1e3 END AS zero, i % 3 AS g
FROM generate_series(1, 140000) i;
CREATE INDEX t_idx ON t USING rtscan (a, b, x, ts, f, o, zero, g);
VACUUM ANALYZE t;
SELECT rtscan_check('t_idx', true);
-- Is a column plain?  Then its dictionary is sparse
CREATE FUNCTION stored(name text, OUT sparse boolean, OUT bits numeric) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE INDEX one ON t USING rtscan (%s)', name);
	SELECT dictionary_bytes * 8.0 / rows < 1, round(codes_bytes * 8.0 / rows) FROM rtscan_stats('one')
		INTO sparse, bits;
	DROP INDEX one;
END $$;
SELECT name, stored.* FROM unnest(ARRAY['a', 'b', 'x', 'ts', 'f', 'o', 'zero']) name, stored(name);

CREATE FUNCTION compare(condition text, what text DEFAULT
	'count(*), sum(a), min(a), max(a), min(b), max(b), min(x), max(x), min(ts), max(ts), min(o), max(o), sum(b % 1000)',
	OUT plan text, OUT same boolean, OUT count bigint) LANGUAGE plpgsql AS $$
DECLARE
	by_index text;
	by_heap text;
	line text;
BEGIN
	SET LOCAL enable_seqscan = off;
	FOR line IN EXECUTE format('EXPLAIN (COSTS OFF) SELECT %s FROM t WHERE %s', what, condition) LOOP
		plan := coalesce(plan, substring(line FROM 'RtscanAggregate|RtscanScan|Bitmap Index Scan'));
	END LOOP;
	EXECUTE format('SELECT q::text FROM (SELECT %s FROM t WHERE %s) q', what, condition) INTO by_index;
	SET LOCAL enable_seqscan = on;
	SET LOCAL enable_bitmapscan = off;
	SET LOCAL rtscan.enable_scan = off;
	SET LOCAL rtscan.enable_aggregate = off;
	EXECUTE format('SELECT q::text FROM (SELECT %s FROM t WHERE %s) q', what, condition) INTO by_heap;
	same := by_index IS NOT DISTINCT FROM by_heap;
	EXECUTE format('SELECT count(*) FROM t WHERE %s', condition) INTO count;
	RESET enable_bitmapscan;
	RESET rtscan.enable_scan;
	RESET rtscan.enable_aggregate;
END $$;

CREATE TABLE question (number serial, condition text);
INSERT INTO question (condition) VALUES ('a < 0'), ('a BETWEEN -1000000 AND 1000000'), ('a = hashint4(77)'),
	('a > 2147483000'), ('a >= -2147483648'),
	('a = 5'), ('a < hashint4(100) AND b > 0'), ('a IN (' || (SELECT string_agg(hashint4(i)::text, ', ')
		FROM generate_series(1, 500) i) || ') AND b IS NOT NULL'),
	('b = 7'), ('b < 7'), ('b <= 7 AND a > 0'), ('b > 7 AND a < 1000000000'), ('x = 9223372036854775807'),
		('x = -9223372036854775808 AND f > 0'), ('x > 5 AND b > 5'),
	('b IS NULL'), ('b IS NULL AND a < 0'), ('b IS NOT NULL AND a > 0 AND f < 1000'),
		('x IN (7, 9223372036854775807) AND a < 0'), ('b IN (7, ' || hashint4(-101) || ') OR b IS NULL'),
		('b > 9223372036854775806'), ('b IS NULL OR b = 7'),
	('b IS NULL OR b < 0'), ('a < 10000000.5'), ('a < 9223372036854775807'), ('b > 5::int2 AND b < 12345678901'),
		('ts = ''infinity'''), ('ts < ''-infinity'''), ('ts > ''2020-06-01'' AND ts < ''2020-06-02'''),
	('ts < ''2020-03-29 02:30''::timestamptz'),
		('ts >= ''2021-10-31 00:30+00''::timestamptz AND ts <= ''2021-10-31 01:30+00''::timestamptz'),
		('ts = ''2020-05-05''::date'),
	('f = ''NaN'''), ('f > 1e6 AND f < ''NaN'''), ('f >= ''Infinity'''), ('f < 0 AND g = 1'), ('f = 0'),
		('o > 4294967000'), ('o < 2147483648 AND g < 2'),
	('zero = 0'), ('zero < 0 AND a < 0'), ('g = 1 AND a < -2000000000'),
		('a < -2140000000 AND b < 0 AND f < -2140000'), ('a = ANY (ARRAY[]::int[])'), ('b BETWEEN 8 AND 6');
-- single rows, tested by values that are the last of their intervals, or the first, or next to them
INSERT INTO question (condition) SELECT format(pattern, a, b, o, ts)
	FROM (SELECT * FROM t WHERE id IN (17, 70001, 139998)) t,
	unnest(ARRAY['a = %1$s AND b <= %2$s AND o <= %3$s', 'a = %1$s AND b >= %2$s AND o >= %3$s',
		'a IN (%1$s, 5) AND b BETWEEN %2$s AND %2$s AND ts = %4$L', 'a = %1$s AND b < %2$s', 'a = %1$s AND o > %3$s',
		'a = %1$s AND b IN (%2$s, 7)', 'a = %1$s AND b IN (6, 8)', 'a = %1$s AND b IS NULL',
			'a = %1$s AND (b IS NULL OR b = %2$s)', 'o = %3$s AND a >= %1$s AND f > -1e9']) pattern
	ORDER BY id, pattern;
-- (what an IN costs depends on PostgreSQL's version)
SELECT number, CASE WHEN condition !~ ' IN ' THEN plan END AS plan, same, count
FROM question, compare(condition)
ORDER BY number;
-- negated and whole lists, differences
INSERT INTO question (condition) VALUES ('a <> 5'), ('b <> 7 AND a < 0'), ('b IS DISTINCT FROM 7'),
	('b IS NOT DISTINCT FROM NULL'), ('a IS DISTINCT FROM ' || hashint4(77)), ('NOT (a BETWEEN -1000000 AND 1000000)'),
	('NOT (b > 7 OR b IS NULL)'), ('b NOT IN (7, 8, ' || hashint4(-101) || ')'), ('x > ALL (ARRAY[5, 7]) AND b = 7'),
	('a <> ALL (SELECT hashint4(i) FROM generate_series(1, 10) i)'),
		('(b = 7 OR x < 0) AND NOT (ts > ''2021-01-01'')'),
	('a <> ALL (ARRAY[' || (SELECT string_agg(hashint4(i)::text, ', ') FROM generate_series(1, 300) i) || '])'),
	('ts <> ''2020-03-29 03:30''::timestamptz'),
		('ts IN (''2020-10-25 00:30+00''::timestamptz, ''2020-03-29 01:30+00'')');
SELECT number, plan IS NOT NULL AS planned, same, count FROM question, compare(condition) WHERE number > 75
ORDER BY number;
-- values, rows by other nodes
SELECT plan, same, count FROM compare('a BETWEEN 0 AND 50000000',
	'md5(string_agg(ROW(a, b, ts, o, g)::text, '','' ORDER BY a, b))');
SELECT plan, same, count FROM compare('b > 0 AND g = 2',
	'g, md5(string_agg(ROW(a, b, ts, o)::text, '','' ORDER BY a, b)) FROM t WHERE b > 0 AND g = 2 GROUP BY g
		UNION SELECT 0, count(*)::text');
SELECT plan, same, count FROM compare('a < -2000000000',
	'count(*), count(DISTINCT b), round(sum(f)::numeric, 2), avg(o::bigint), max(b) FILTER (WHERE g = 1)');
-- Their values come from the index as they were; also those of floats, of which equal ones need not look alike.
SELECT plan, same, count
FROM compare('a BETWEEN 0 AND 50000000', 'sum(hashtextextended(concat_ws('' '', a, b, x, ts, o, g), 0))');
SELECT plan, same, count
FROM compare('zero = 0', 'sum(hashtextextended(zero::text, 0)), count(*) FILTER (WHERE zero::text = ''-0'')');
SELECT same FROM compare('a < 0 AND zero <= 0', 'min(zero), max(zero), sum(hashtextextended(f::text, 0))');
CREATE FUNCTION from_heap(columns text, OUT rows bigint) LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE format('EXPLAIN (ANALYZE, FORMAT JSON) SELECT %s FROM t WHERE a BETWEEN 0 AND 50000000', columns) INTO plan;
	rows := plan #>> '{0,Plan,Heap Fetches}';
END $$;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT columns, from_heap(columns) FROM unnest('{"a, b, x, ts, o, g","a, zero","f"}'::text[]) columns;
RESET enable_seqscan;
RESET enable_bitmapscan;
-- groups: by a plain column, too
SELECT count(*) FROM (SELECT b, count(*) FROM t WHERE a < 0 GROUP BY b) q;
SET rtscan.enable_aggregate = off;
SELECT count(*) FROM (SELECT b, count(*) FROM t WHERE a < 0 GROUP BY b) q;
RESET rtscan.enable_aggregate;

-- In an order, walked or sorted, from either end: is it the index's, and does it give what sorting gives?
CREATE FUNCTION in_order(sorted text, condition text, n int, OUT ordered boolean, OUT same boolean)
LANGUAGE plpgsql AS $$
DECLARE
	query text := format('SELECT %s AS v FROM t WHERE %s ORDER BY %s LIMIT %s', split_part(sorted, ' ', 1), condition,
		sorted, n);
	listed text := format('SELECT string_agg(coalesce(v::text, ''-''), '','') FROM (%s) q', query);
	plan json;
	by_index text;
	by_heap text;
BEGIN
	SET LOCAL enable_seqscan = off;
	SET LOCAL enable_bitmapscan = off;
	SET LOCAL enable_sort = off;
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	ordered := plan #>> '{0,Plan,Plans,0,Order}' IS NOT NULL;
	EXECUTE listed INTO by_index;
	SET LOCAL enable_seqscan = on;
	SET LOCAL enable_sort = on;
	SET LOCAL rtscan.enable_scan = off;
	EXECUTE listed INTO by_heap;
	same := by_index IS NOT DISTINCT FROM by_heap;
	RESET enable_bitmapscan;
	RESET rtscan.enable_scan;
END $$;
CREATE FUNCTION orders(OUT orders bigint, OUT ordered bigint, OUT same bigint) LANGUAGE sql AS $$
	SELECT count(*), count(*) FILTER (WHERE o.ordered), count(*) FILTER (WHERE o.same)
	FROM unnest(ARRAY['a', 'b', 'x', 'ts', 'f', 'zero']) name,
		unnest(ARRAY['', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST']) direction,
		(VALUES ('true', 10), ('a < -2140000000', 50), ('b IS NULL OR b < 5 OR g = 1', 2000)) asked (condition, n),
		in_order(name || direction, condition, n) o $$;
SELECT * FROM orders();

-- Dead rows, pending ones, merges: of plain and coded segments.
DELETE FROM t WHERE id % 10 = 3;
INSERT INTO t SELECT i, 1, i, i, i, '2022-01-01', i, i, i, 1 FROM generate_series(200001, 203000) i;
VACUUM t;
SELECT bool_and(same) FROM question, compare(condition) WHERE number % 3 = 0;
SELECT rtscan_merge('t_idx') > 0 AS merged;
INSERT INTO t SELECT i, abs(hashint4(i)), hashint4(i), i, -i, NULL, 'NaN', i, -i, 2
	FROM generate_series(300001, 480000) i;
VACUUM t;
SELECT rtscan_merge('t_idx') > 0 AS merged;
SELECT rtscan_check('t_idx', true);
SELECT bool_and(same) FROM question, compare(condition) WHERE number % 3 = 1;
INSERT INTO t SELECT i, 1, -i, NULL, i, '2022-01-01', i, i, i, 1 FROM generate_series(500001, 500100) i;
SELECT bool_and(same) FROM question, compare(condition) WHERE number % 3 = 2;
SELECT segments > 1 AS several, pending > 0 AS pending FROM rtscan_stats('t_idx');
SELECT * FROM orders();

-- A minimum that no row of the first ranks has, so that all values are looked at.
CREATE TABLE far AS SELECT i AS id, hashint4(i) AS a, CASE WHEN hashint4(i) > 1500000000 THEN 1 ELSE 0 END AS late
	FROM generate_series(1, 150000) i;
CREATE INDEX far_idx ON far USING rtscan (a, late);
VACUUM ANALYZE far;
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT min(a), max(-a) FROM far WHERE late = 1;
SELECT min(a), count(*) FROM far WHERE late = 1;
SET enable_bitmapscan = off;
SET rtscan.enable_scan = off;
SET rtscan.enable_aggregate = off;
SELECT min(a), count(*) FROM far WHERE late = 1;
-- one of many values has most of the rows
CREATE TABLE skewed AS SELECT CASE WHEN i % 4 = 0 THEN i ELSE 17 END AS a, i % 10 AS b
FROM generate_series(1, 300000) i;
CREATE INDEX skewed_idx ON skewed USING rtscan (a, b);
VACUUM ANALYZE skewed;
SET enable_seqscan = off;
SET statement_timeout = '1min';
SELECT count(*), sum(b), min(a), max(a) FROM skewed WHERE a = 17;
SELECT count(*), sum(b), min(a), max(a) FROM skewed WHERE a <= 17;
SELECT count(*), sum(b), min(a), max(a) FROM skewed WHERE a > 17;
SELECT count(DISTINCT a), percentile_disc(0.8) WITHIN GROUP (ORDER BY a) FROM skewed WHERE b < 9;
SELECT a, count(*) FROM skewed GROUP BY a ORDER BY 2 DESC, 1 LIMIT 2;
SELECT count(*), sum(b) FROM skewed WHERE a IN (16, 17, 20) OR a BETWEEN 50000 AND 60000;
SELECT rtscan_check('skewed_idx', true), dictionary_bytes < 50000 AS sparse
FROM rtscan_stats('skewed_idx');
RESET statement_timeout;
RESET enable_seqscan;
DROP SCHEMA plain CASCADE;
