-- Expressions that are calculated for many rows at a time: the same values, digits and errors as row by row.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA vectors;
SET search_path = vectors, public;
SET rtscan.merge_worker = off;
SET jit = off;
SET TimeZone = 'Europe/Berlin';

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/outcomes.psql
\set ECHO all
\pset format unaligned
\pset tuples_only on
-- Rows that no expression fails for: some of each column are NULL. n: of one scale; m: of several; r: the integers up to
-- 32 bits' ends
CREATE FUNCTION rows(start int, n int) RETURNS TABLE (i int, s int2, b int8, n numeric(12, 3), m numeric, f float8, e float4,
	d date, t timestamp, z timestamptz, o bool, r int, h time, c numeric(5, 0), w float8) LANGUAGE sql AS $$
	SELECT CASE WHEN x % 17 > 0 THEN x % 2001 - 1000 END,
		   CASE WHEN x % 19 > 0 THEN (x % 200 - 100)::int2 END,
		   CASE WHEN x % 23 > 0 THEN x::int8 * 1000 - 7 END,
		   CASE WHEN x % 29 > 0 THEN (x % 100000 - 50000) / 1000.0 END,
		   CASE WHEN x % 31 > 0 THEN round(x % 1000 / 7.0, x % 4) END,
		   CASE WHEN x % 37 > 0 THEN (x % 4096 - 2048) / 16.0 END,
		   CASE WHEN x % 41 > 0 THEN (x % 512) / 8.0 END,
		   CASE WHEN x % 43 > 0 THEN '2000-02-27'::date + (x % 20000 - 9000) END,
		   CASE WHEN x % 47 > 0 THEN '2001-03-01'::timestamp + (x % 100000007 - 50000000) * interval '13.000017 s' END,
		   CASE WHEN x % 53 > 0 THEN '2001-03-01 UTC'::timestamptz + (x % 100000007 - 50000000) * interval '7.000017 s' END,
		   CASE WHEN x % 59 > 0 THEN x % 3 = 0 END,
		   CASE WHEN x % 61 > 0 THEN (ARRAY[-2147483648, -2147483647, -2, -1, 0, 1, 2, 2147483646, 2147483647])[x % 9 + 1] END,
		   '00:00'::time + (x % 86400) * interval '1 s',
		   CASE WHEN x % 67 > 0 THEN x % 99999 - 50000 END,
		   CASE WHEN x % 71 > 0 THEN (ARRAY[1, 2.5, -0.0, 0, 'NaN', 'Infinity', '-Infinity', 1e300, 1e-300]::float8[])[x % 9 + 1] END
	FROM (SELECT i, abs(hashint4(i)) FROM generate_series(start, start + n - 1) i) v (i, x)
$$;
CREATE TABLE many (k int, i int, s int2, b int8, n numeric(12, 3), m numeric, f float8, e float4, d date, t timestamp,
	z timestamptz, o bool, r int, h time, c numeric(5, 0), w float8) WITH (autovacuum_enabled = off);
INSERT INTO many SELECT abs(hashint4(i)) % 6, * FROM rows(1, 3000);
CREATE INDEX many_idx ON many USING rtscan (k, i, b, d) INCLUDE (s, n, m, f, e, t, z, o, r, h, c, w);
VACUUM ANALYZE many;
INSERT INTO many SELECT abs(hashint4(i)) % 6, * FROM rows(3001, 500);

-- how many nodes a query has, and how many rows they evaluated one by one
CREATE FUNCTION singly(query text) RETURNS text LANGUAGE plpgsql
SET max_parallel_workers_per_gather = 0 SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off
SET enable_hashagg = off AS $$
DECLARE
	line text;
	found text := 'no node';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'Rtscan(Aggregate|Scan)' AND found = 'no node' THEN
			found := 'none';
		ELSIF line ~ 'Rows Evaluated Singly' THEN
			found := substring(line, '\d+');
		END IF;
	END LOOP;
	RETURN found;
END
$$;
-- An expression as an argument, in FILTER, HAVING, GROUP BY and WHERE. It is calculated for all rows.
CREATE FUNCTION differs_everywhere(e text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	type text;
	of_row text;
	query text;
BEGIN
	EXECUTE format('SELECT pg_typeof(%s) FROM many LIMIT 1', e) INTO type;
	FOREACH query IN ARRAY ARRAY['SELECT count(%1$s), count(*) FROM many', 'SELECT k, count(%1$s) FROM many GROUP BY k',
		CASE WHEN type <> 'boolean' THEN 'SELECT min(%1$s), max(%1$s) FROM many' END,
		CASE WHEN type ~ 'int|num|double' THEN 'SELECT k, sum(%1$s), avg(%1$s) FROM many GROUP BY k' END,
		CASE WHEN type ~ 'int|num|double' THEN 'SELECT sum(%1$s) FILTER (WHERE i > s), avg(%1$s) FROM many WHERE i < b' END,
		CASE WHEN type = 'boolean' THEN 'SELECT count(*), sum(i) FROM many WHERE %1$s' END,
		CASE WHEN type = 'boolean' THEN 'SELECT count(*), sum(i) FROM many WHERE NOT (%1$s)' END,
		CASE WHEN type = 'boolean' THEN 'SELECT k, count(*) FILTER (WHERE %1$s) FROM many GROUP BY k' END,
		'SELECT %1$s, count(*), sum(i) FROM many GROUP BY 1',
		'SELECT %1$s, k, count(*) FROM many WHERE i > s GROUP BY 1, 2 HAVING count(*) > 1']
	LOOP
		IF query IS NOT NULL THEN
			RETURN QUERY SELECT differs(format(query, e));
		END IF;
	END LOOP;
	of_row := singly(format('SELECT count(%s) FROM many', e));
	IF of_row <> 'none' THEN
		RETURN NEXT format('%s: rows evaluated singly: %s', e, of_row);
	END IF;
END
$$;

--
-- All of these are calculated
--
CREATE TABLE expressions (e text);
INSERT INTO expressions SELECT unnest(ARRAY[
	-- integers
	'i + s', 'i - b', 'i::int8 * r', '-i', '+i', '@ s', 'abs(b)', '(b + 1)::int8', '(i / 7)::int2', 's::int4 * s', '(b % 1000)::int2',
	'i / 7', 'i / -7', 'b / 1000', 's / 3::int2', 'i % 7', 'i % -7', 'b % 11', 'mod(i, 10)', 'r / 2', 'r % 1000', 'r::int8 / -3',
	'b / 3000000000', 'b % 3000000000', 'o::int + i',
	-- numerics
	'n + i', 'n * n', 'n - 0.5', '-n', 'abs(n)', 'i::numeric', 'n::int', 'n::int8', '(n * 100)::int2 / 2', 'c::int4', 'n * 2.50 - c',
	-- floats
	'f + 1', 'f - e', 'f * f', 'f / 3', 'e::float8 / 7', '-f', 'abs(f)', 'abs(e)', '-e', '@ f', 'sqrt(abs(f))', 'i::float8 / 3',
	'f / (i * i + 1)', 'n::float8', 'c::float8', 'b::float8', 'f::int', 'e::int8', 'f::int2', 'f * 0.1 + e * 0.3',
	-- dates
	'd - date ''2000-01-01''', 'd + i', 'd - i', '(d + 1) - d', 'd::timestamp', 't::date', 't::date - d', 'd + 10',
	'date_trunc(''second'', t)', 'date_trunc(''minute'', t)', 'date_trunc(''hour'', t)', 'date_trunc(''day'', t)',
	'date_trunc(''week'', t)', 'date_trunc(''month'', t)', 'date_trunc(''quarter'', t)', 'date_trunc(''year'', t)',
	'date_trunc(''milliseconds'', t)', 'date_trunc(''microseconds'', t)', 'date_trunc(''MONTH'', d::timestamp)',
	'extract(year FROM t)', 'extract(quarter FROM t)', 'extract(month FROM t)', 'extract(day FROM t)', 'extract(hour FROM t)',
	'extract(minute FROM t)', 'extract(second FROM t)', 'extract(milliseconds FROM t)', 'extract(microseconds FROM t)',
	'extract(dow FROM t)', 'extract(isodow FROM t)', 'extract(doy FROM t)', 'extract(epoch FROM t)', 'extract(year FROM d)',
	'extract(quarter FROM d)', 'extract(month FROM d)', 'extract(day FROM d)', 'extract(dow FROM d)', 'extract(isodow FROM d)',
	'extract(doy FROM d)', 'extract(epoch FROM d)', 'extract(year FROM d) * 100 + extract(month FROM d)',
	-- comparisons
	'i < s', 'i <= b', 'i = s', 'i <> s', 'i >= s * 2', 'b > i', 'r < i', 'n < c', 'n = 0.5', 'n >= i', 'c <> i', 'c <= -n', 'f < e', 'f <= w',
	'w < f', 'w = w', 'w <> f', 'w >= f', 'w > e', 'w = ''NaN''', 'w < ''NaN''', 'w <= ''Infinity''', 'w > ''-Infinity''', 'w = 0', 'd < t::date',
	'd = d + 0', 't <> d::timestamp', 't >= date_trunc(''day'', t)', 'h < time ''12:00''', 'z > timestamptz ''2000-01-01 UTC''', 'o = (i > 0)',
	'o < (i > 0)', 'i IN (1, 2, 3, NULL)', 'i + 1 NOT IN (1, 2, 3)', 'i % 5 = ANY (ARRAY[1, 2])', 'i % 5 < ALL (ARRAY[3, 4])',
	'i IN (1::int8, 2)', 'i IS DISTINCT FROM s', 'f IS NOT DISTINCT FROM e', 'i BETWEEN s - 10 AND s + 10',
	-- truth values
	'o AND i > 0', 'o OR i > s', 'NOT o', 'NOT (o AND i > s)', 'i > 0 AND s > 0 AND b > 0 AND o', 'i > 500 OR s > 50 OR NOT o',
	'o IS TRUE', 'o IS NOT TRUE', 'o IS FALSE', 'o IS NOT FALSE', 'o IS UNKNOWN', 'o IS NOT UNKNOWN', '(i > s) IS NULL', '(i > s) IS NOT TRUE',
	'i + s IS NULL', 'i + s IS NOT NULL', 'i > s OR NULL', 'i > s AND NULL',
	-- choices
	'CASE WHEN i > s THEN i ELSE s END', 'CASE WHEN o THEN i END', 'CASE WHEN i > 500 THEN 1 WHEN i > 0 THEN 2 WHEN i IS NULL THEN 3 END',
	'CASE i % 3 WHEN 0 THEN b WHEN 1 THEN i WHEN -1 THEN NULL ELSE -1 END', 'CASE WHEN o THEN n ELSE 0.000 END', 'CASE WHEN o THEN f ELSE e END',
	'CASE WHEN i > s THEN i > 0 ELSE o END', 'CASE i WHEN s THEN 1 ELSE CASE s WHEN 3 THEN 2 ELSE 0 END END', 'coalesce(i, s, -1)', 'coalesce(n, 7.125)',
	'coalesce(f, 0)', 'coalesce(d, date ''2020-01-01'')', 'coalesce(o, i > 0)', 'nullif(i % 3, 0)', 'nullif(s, i)', 'nullif(f, e)', 'greatest(i, s, 3)',
	'least(i, s)', 'greatest(f, w, 0)', 'least(w, e)', 'greatest(n, 0.500)', 'least(d, d + i)', 'greatest(w, 0, -0.0)']);
SELECT differs_everywhere(e) FROM expressions;
