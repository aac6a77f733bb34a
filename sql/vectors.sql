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
\i :directory/sql/include/singly.psql
\set ECHO all
\pset format unaligned
\pset tuples_only on
-- Each column has some NULLs. n: numerics of one scale; m: of several; r: integers up to the ends of 32 bits
CREATE FUNCTION rows(start int, n int) RETURNS TABLE (i int, s int2, b int8, n numeric(12, 3), m numeric, f float8,
	e float4, d date, t timestamp, z timestamptz, o bool, r int, h time, c numeric(5, 0), w float8) LANGUAGE sql AS $$
	SELECT CASE WHEN x % 17 > 0 THEN x % 2001 - 1000 END,
		   CASE WHEN x % 19 > 0 THEN (x % 200 - 100)::int2 END,
		   CASE WHEN x % 23 > 0 THEN x::int8 * 1000 - 7 END,
		   CASE WHEN x % 29 > 0 THEN (x % 100000 - 50000) / 1000.0 END,
		   CASE WHEN x % 31 > 0 THEN round(x % 1000 / 7.0, x % 4) END,
		   CASE WHEN x % 37 > 0 THEN (x % 4096 - 2048) / 16.0 END,
		   CASE WHEN x % 41 > 0 THEN (x % 512) / 8.0 END,
		   CASE WHEN x % 43 > 0 THEN '2000-02-27'::date + (x % 20000 - 9000) END,
		   CASE WHEN x % 47 > 0 THEN timestamp '2001-03-01' + (x % 100000007 - 50000000) * interval '13.000017 s' END,
		   CASE WHEN x % 53 > 0 THEN '2001-03-01 UTC'::timestamptz + (x % 999983 - 500000) * interval '77.000017 s' END,
		   CASE WHEN x % 59 > 0 THEN x % 3 = 0 END,
		   CASE WHEN x % 61 > 0 THEN ('{-2147483648,-2147483647,-2,-1,0,1,2,2147483647}'::int[])[x % 8 + 1] END,
		   '00:00'::time + (x % 86400) * interval '1 s',
		   CASE WHEN x % 67 > 0 THEN x % 99999 - 50000 END,
		   CASE WHEN x % 71 > 0 THEN ('{1,2.5,0,-3,NaN,Infinity,-Infinity,1e300,1e-300}'::float8[])[x % 9 + 1] END
	FROM (SELECT i, abs(hashint4(i)) FROM generate_series(start, start + n - 1) i) v (i, x)
$$;
CREATE TABLE many (k int, i int, s int2, b int8, n numeric(12, 3), m numeric, f float8, e float4, d date, t timestamp,
	z timestamptz, o bool, r int, h time, c numeric(5, 0), w float8) WITH (autovacuum_enabled = off);
INSERT INTO many SELECT abs(hashint4(i)) % 6, * FROM rows(1, 3000);
CREATE INDEX many_idx ON many USING rtscan (k, i, b, d) INCLUDE (s, n, m, f, e, t, z, o, r, h, c, w);
VACUUM ANALYZE many;
INSERT INTO many SELECT abs(hashint4(i)) % 6, * FROM rows(3001, 500);

-- An expression as an argument, in FILTER, HAVING, GROUP BY and WHERE. It is calculated for all rows. (Sums of floats
-- that are not exact depend on the order of rows.)
CREATE FUNCTION differs_everywhere(e text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	type text;
	query text;
	of_row text;
BEGIN
	EXECUTE format('SELECT pg_typeof(%s) FROM many LIMIT 1', e) INTO type;
	FOR query IN SELECT q FROM (VALUES
		('.', 'SELECT count(%1$s), count(*) FROM many'),
		('.', 'SELECT k, count(%1$s) FROM many GROUP BY k'),
		('^(?!bool)', 'SELECT min(%1$s), max(%1$s) FROM many'),
		('int|num|exact', 'SELECT k, sum(%1$s), avg(%1$s) FROM many GROUP BY k'),
		('int|num|exact', 'SELECT sum(%1$s) FILTER (WHERE i > s), avg(%1$s) FROM many WHERE i < b'),
		('bool', 'SELECT count(*), sum(i) FROM many WHERE %1$s'),
		('bool', 'SELECT count(*), sum(i) FROM many WHERE NOT (%1$s)'),
		('bool', 'SELECT k, count(*) FILTER (WHERE %1$s) FROM many GROUP BY k'),
		('.', 'SELECT %1$s, count(*), sum(i) FROM many GROUP BY 1'),
		('.', 'SELECT %1$s, k, count(*) FROM many WHERE i > s GROUP BY 1, 2 HAVING count(*) > 1')) v (types, q)
		WHERE type || CASE WHEN type ~ 'double' AND e !~ '/|sqrt|0\.|n::' THEN ' exact' ELSE '' END ~ types
	LOOP
		RETURN QUERY SELECT differs(format(query, e));
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
	'i + s', 'i - b', 'i::int8 * r', '-i', '+i', '@ s', 'abs(b)', '(b + 1)::int8', '(i / 7)::int2', 's::int4 * s',
	'(b % 1000)::int2', 'i / 7', 'i / -7', 'b / 1000', 's / 3::int2', 'i % 7', 'i % -7', 'b % 11', 'mod(i, 10)',
	'r / 2', 'r % 1000', 'r::int8 / -3', 'b / 3000000000', 'b % 3000000000', 'o::int + i',
	-- numerics
	'n + i', 'n * n', 'n - 0.5', '-n', 'abs(n)', 'i::numeric', 'n::int', 'n::int8', '(n * 100)::int8 / 2', 'c::int4',
	'n * 2.50 - c',
	-- floats
	'f + 1', 'f - e', 'f * f', 'f / 3', 'e::float8 / 7', '-f', 'abs(f)', 'abs(e)', '-e', '@ f', 'sqrt(abs(f))',
	'i::float8 / 3', 'f / (i * i + 1)', 'n::float8', 'c::float8', 'b::float8', 'f::int', 'e::int8', 'f::int2',
	'f * 0.1 + e * 0.3',
	-- dates and timestamps
	'd - date ''2000-01-01''', 'd + i', 'd - i', '(d + 1) - d', 'd::timestamp', 't::date', 't::date - d', 'd + 10',
	'date_trunc(''second'', t)', 'date_trunc(''minute'', t)', 'date_trunc(''hour'', t)', 'date_trunc(''day'', t)',
	'date_trunc(''week'', t)', 'date_trunc(''month'', t)', 'date_trunc(''quarter'', t)', 'date_trunc(''year'', t)',
	'date_trunc(''milliseconds'', t)', 'date_trunc(''microseconds'', t)', 'date_trunc(''MONTH'', d::timestamp)',
	'extract(year FROM t)', 'extract(quarter FROM t)', 'extract(month FROM t)', 'extract(day FROM t)',
	'extract(hour FROM t)', 'extract(minute FROM t)', 'extract(second FROM t)', 'extract(milliseconds FROM t)',
	'extract(microseconds FROM t)', 'extract(dow FROM t)', 'extract(isodow FROM t)', 'extract(doy FROM t)',
	'extract(epoch FROM t)', 'extract(year FROM d)', 'extract(quarter FROM d)', 'extract(month FROM d)',
	'extract(day FROM d)', 'extract(dow FROM d)', 'extract(isodow FROM d)', 'extract(doy FROM d)',
	'extract(epoch FROM d)', 'extract(year FROM d) * 100 + extract(month FROM d)',
	-- comparisons
	'i < s', 'i <= b', 'i = s', 'i <> s', 'i >= s * 2', 'b > i', 'r < i', 'n < c', 'n = 0.5', 'n >= i', 'c <> i',
	'c <= -n', 'f < e', 'f <= w', 'w < f', 'w = w', 'w <> f', 'w >= f', 'w > e', 'w = ''NaN''', 'w < ''NaN''',
	'w <= ''Infinity''', 'w > ''-Infinity''', 'w = 0', 'd < t::date', 'd = d + 0', 't <> d::timestamp',
	't >= date_trunc(''day'', t)', 'h < time ''12:00''', 'z > timestamptz ''2000-01-01 UTC''', 'o = (i > 0)',
	'o < (i > 0)', 'i IN (1, 2, 3, NULL)', 'i + 1 NOT IN (1, 2, 3)', 'i % 5 = ANY (ARRAY[1, 2])',
	'i % 5 < ALL (ARRAY[3, 4])', 'i IN (1::int8, 2)', 'i IS DISTINCT FROM s', 'f IS NOT DISTINCT FROM e',
	'i BETWEEN s - 10 AND s + 10',
	-- truth values
	'o AND i > 0', 'o OR i > s', 'NOT o', 'NOT (o AND i > s)', 'i > 0 AND s > 0 AND b > 0 AND o',
	'i > 500 OR s > 50 OR NOT o', 'o IS TRUE', 'o IS NOT TRUE', 'o IS FALSE', 'o IS NOT FALSE', 'o IS UNKNOWN',
	'o IS NOT UNKNOWN', '(i > s) IS NULL', '(i > s) IS NOT TRUE', 'i + s IS NULL', 'i + s IS NOT NULL',
	'i > s OR nullif(o, o)', 'i > s AND nullif(o, o)',
	-- choices
	'CASE WHEN i > s THEN i ELSE s END', 'CASE WHEN o THEN i END',
	'CASE WHEN i > 500 THEN 1 WHEN i > 0 THEN 2 WHEN i IS NULL THEN 3 END',
	'CASE i % 3 WHEN 0 THEN b WHEN 1 THEN i WHEN -1 THEN NULL ELSE -1 END', 'CASE WHEN o THEN n ELSE 0.000 END',
	'CASE WHEN o THEN f ELSE e END', 'CASE WHEN i > s THEN i > 0 ELSE o END', 'CASE WHEN o THEN n END',
	'CASE i WHEN s THEN 1 ELSE CASE s WHEN 3 THEN 2 ELSE 0 END END', 'coalesce(i, s, -1)', 'coalesce(n, 7.125)',
	'coalesce(f, 0)', 'coalesce(d, date ''2020-01-01'')', 'coalesce(o, i > 0)', 'nullif(i % 3, 0)', 'nullif(s, i)',
	'nullif(f, e)', 'greatest(i, s, 3)', 'least(i, s)', 'greatest(f, w, 0)', 'least(w, e)', 'greatest(n, 0.500)',
	'least(d, d + i)', 'greatest(w, 0, 1e-5)']);
SELECT differs_everywhere(e) FROM expressions;
-- values of rows, where a scan chooses among them: from pages, in an order, and again for each row of another table
CREATE FUNCTION differs_scanned(query text) RETURNS SETOF text LANGUAGE plpgsql
SET max_parallel_workers_per_gather = 0 SET enable_bitmapscan = off SET enable_sort = off AS $$
DECLARE
	expected text[];
	found text[];
BEGIN
	SET LOCAL rtscan.enable_scan = off;
	SET LOCAL rtscan.enable_aggregate = off;
	expected := rows_of(query);
	SET LOCAL rtscan.enable_scan = on;
	SET LOCAL enable_seqscan = off;
	found := rows_of(query);
	IF found IS DISTINCT FROM expected OR singly(query) <> 'none' THEN
		RETURN NEXT format('%s: %s instead of %s, %s', query, left(found::text, 500), left(expected::text, 500),
			singly(query));
	END IF;
END
$$;
SELECT differs_scanned(format(query, e))
FROM (SELECT e FROM expressions WHERE e ~ '[<>=]|IN |IS |AND|OR' AND e !~ 'CASE') v (e),
	unnest(ARRAY['SELECT i, b FROM many WHERE %s',
		'SELECT i, b FROM many WHERE b > 0 AND (%s) ORDER BY b LIMIT 50']) query;

--
-- Errors are raised for the same rows as by PostgreSQL; guarded expressions do not fail
--
SELECT differs(format(query, e), NULL)
FROM unnest(ARRAY['SELECT count(%s) FROM many', 'SELECT count(*) FROM many WHERE (%s) IS NOT NULL',
		'SELECT count(*) FILTER (WHERE (%s) IS NULL) FROM many',
		'SELECT k, count(*) FROM many GROUP BY k, %s']) query,
	unnest(ARRAY['i + r', 'r - 5', 'r * 2', '-r', 'abs(r)', 'r / -1', 'r % -1', 'r / 0', 'i % 0', 'b / s', 'i % s',
		's * 1000::int2', 's * s', '-s * s', 's + 32700::int2', 'b::int', 'b::int2', 'r::int2', 'b * b * b', 'n * 1e18',
		'n * 1e300', 'n::int2', '(c * 100000)::int', '(n * 1e15)::int8', 'w::int', 'w::int8', 'f::int2 * 1000::int2',
		'f / w', 'w / f', 'w / w', 'w * w', 'w * 1e-300', 'w - w', 'w + f', 'w * 1e300 * 1e300', 'sqrt(w)', 'sqrt(f)',
		'1 / w', 'd + r', 'd - r', '(d + 2000000000)::timestamp', 't::date + r',
		'CASE WHEN s <> 0 THEN b / s END', 'CASE WHEN r BETWEEN -2 AND 2 THEN i + r END',
		'CASE WHEN s = 0 THEN 0 ELSE i % s END', 'CASE WHEN w > 0 AND w < 1e10 THEN f / w END', 'coalesce(s, b / s)',
		'coalesce(b / nullif(s, 0), 0)', 's <> 0 AND b / s > 1', 's = 0 OR b / s > 1', 'NOT (s <> 0 AND b / s > 1)',
		'f >= 0 AND sqrt(f) > 3', 'CASE WHEN f > 0 THEN sqrt(f) END', 'greatest(b / s, 1)',
		'CASE r WHEN 0 THEN 1 ELSE 10 / r END']) e;
-- conditions of one WHERE are evaluated in an order
SELECT differs('SELECT count(*), sum(i) FROM many WHERE s <> 0 AND b / s > 1 AND i + 0 > s');
SELECT differs('SELECT count(*), sum(b / s) FROM many WHERE s <> 0');
SELECT differs('SELECT sum(b / s) FILTER (WHERE s <> 0), sum(b % s) FROM many WHERE s + 0 > 0');
SELECT differs('SELECT sum(i + r) FROM many WHERE r < 3 AND r > -3 AND o');

--
-- Sums are made of those of an expression's parts where nothing is NULL; if they may not fit, or fail, of values
--
CREATE TABLE filled WITH (autovacuum_enabled = off) AS
SELECT k, i, s, b, n, c, r, (abs(i) % 2 * 2 - 1) * 4611686018427387904 + i AS q
FROM many WHERE num_nulls(i, s, b, n, c, r) = 0;
CREATE INDEX filled_idx ON filled USING rtscan (k, i, b) INCLUDE (s, n, c, r, q);
VACUUM ANALYZE filled;
INSERT INTO filled SELECT * FROM filled WHERE k = 3;
SELECT count(*) > 1024 AS "more than a batch" FROM filled;
CREATE FUNCTION differs_in_sums(e text) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT differs(format(query, e))
	FROM unnest(ARRAY['SELECT sum(%s), avg(%1$s), count(*) FROM filled WHERE i BETWEEN 100 AND 700 AND b > 0',
		'SELECT sum(%s) FILTER (WHERE i > s), avg(%1$s + 1), count(%1$s) FROM filled',
		'SELECT avg(%s), max(%1$s) FROM filled WHERE k <> 2', 'SELECT sum(%s) FROM filled WHERE i < 0']) query
$$;
SELECT differs_in_sums(e)
FROM unnest(ARRAY['i', 'i + 1', 'i - s', '1 - i', '3 * i - 2 * s + 7', 'i * s + 1', '(i - s) * (i + s)', 'i * (i * s)',
	'-i * s', 'i * i * i', 's * 3::int2', '-(i - 5)', 'i::int8 * r', 'b * b', 'b * 2 - (i + 1) * s', 'n', 'n * i',
	'n - c', 'n * 2.50 - c', 'n * n + i', '(n - 1.5) * (c + 0.25)', '7', 'i * 0', '(i + 1) * 0 + 3', 'i * NULL::int',
	'i + NULL::int', 'i * s - i * s', 'q', 'q - i', 'q - 1', '0 - q', 'i % 7 + s', 'abs(i) * s + abs(s)',
	'CASE WHEN i > s THEN i * s END + 1', 'CASE WHEN i > s THEN i ELSE s END * 2 + i', '(i * s + 1) - (i * s + 1)',
	'3 * (i - s) + 3 * (i - s)', '2 * (i - s) * 3 + (i - s) * 2', '((i - s) * 5 + i) * 7 - 5 * (i - s)']) e;
-- with errors
SELECT differs_in_sums(e)
FROM unnest(ARRAY['r * 2', 'r + i', '(r + 1) * 0', 'r - s - 5', 's * s * s', 's * 1000::int2', 'b * b * b * b', 'q * 2',
	'q + q', 'q - 5000000000000000000', '(q + q) * 0', 'i * (q + q)']) e;
SELECT singly('SELECT sum(i * s + 1), avg(i - s), sum(n * i), sum(q - 1) FROM filled');
SELECT singly('SELECT sum(i * s + 1) FROM filled WHERE (i + 1) * 2 > s');
-- some batches have NULLs, others none
INSERT INTO filled (k, i, s) SELECT k, i, nullif(s, 5) FROM filled;
SELECT differs('SELECT sum(i * s + 1), avg(i - s), sum(b + 1), sum(b - i) FROM filled');
VACUUM filled;
SELECT differs('SELECT sum(i * s + 1), avg(i - s), sum(b + 1), sum(b - i) FROM filled');

--
-- Values that do not fit
--
-- numerics of several scales show as many digits as they should
SELECT differs(format(query, e))
FROM unnest(ARRAY['SELECT sum(%s), avg(%1$s), count(%1$s) FROM many', 'SELECT k, sum(%s) FROM many GROUP BY k']) query,
	unnest(ARRAY['m', 'm + n', 'm * i', 'CASE WHEN o THEN n ELSE 0 END', 'CASE WHEN o THEN m ELSE n END',
		'coalesce(m, 0)', 'coalesce(n, 0)', 'greatest(n, 0)', 'least(n, m)', 'nullif(m, 0)', 'abs(m)', 'm::int',
		'CASE WHEN o THEN m ELSE 0.00 END', 'n / 3', 'round(n, 1)']) e;
SELECT differs('SELECT m > n, count(*), sum(m) FROM many GROUP BY 1');
SELECT differs('SELECT m + n, count(*) FROM many WHERE m <= c OR m > n GROUP BY 1');
SELECT differs('SELECT m::float8 > f, count(*) FROM many GROUP BY 1');
-- dates and timestamps that are infinite, before Christ, or the last ones
CREATE TABLE ends (k int, d date, t timestamp, z timestamptz) WITH (autovacuum_enabled = off);
INSERT INTO ends SELECT i, v::date, v::timestamp, v::timestamptz
FROM unnest('{infinity,-infinity,4713-01-01 BC,0001-12-31 BC,0001-01-01,1900-02-28,2000-02-29,2100-12-31,
294276-01-01}'::text[]) WITH ORDINALITY v (v, i);
INSERT INTO ends VALUES
	(10, '5874897-12-31', '294276-12-31 23:59:59.999999', '294276-12-31 12:00'), (11, NULL, NULL, NULL);
CREATE INDEX ends_idx ON ends USING rtscan (k) INCLUDE (d, t, z);
VACUUM ANALYZE ends;
CREATE FUNCTION differs_by_k(e text) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT differs(format(query, e, k), NULL)
	FROM unnest(ARRAY['SELECT (%s)::text, count(*), count(%1$s) FROM ends WHERE k %s GROUP BY %1$s',
			CASE WHEN e ~ '^extract' THEN 'SELECT sum(%s) FROM ends WHERE k %s'
				WHEN e ~ '[<>=]' THEN 'SELECT count(*) FILTER (WHERE %s) FROM ends WHERE k %s'
				ELSE 'SELECT min(%s)::text, max(%1$s)::text FROM ends WHERE k %s' END]) query,
		(SELECT '= ' || i FROM generate_series(1, 11) i UNION ALL VALUES ('> 4'), ('BETWEEN 5 AND 8')) v (k)
$$;
SELECT differs_by_k(e) FROM unnest(ARRAY['d + 1', 'd - 1', 'd - d', 'd - date ''2000-01-01''', 'd::timestamp',
	't::date', 'd = t', 'd < t::date', 'd::timestamp = t', 't > d', 'z > t', 'd - 100000000', 'least(d, t::date)']) e;
SELECT differs_by_k(format('date_trunc(%L, %s)', unit, c)) FROM unnest('{t,z,d}'::text[]) c,
	unnest('{second,minute,hour,day,week,month,quarter,year,decade,century,nonsense}'::text[]) unit;
SELECT differs_by_k(format('extract(%s FROM %s)', unit, c)) FROM unnest('{t,z,d}'::text[]) c,
	unnest('{second,minute,hour,day,week,month,quarter,year,decade,dow,isodow,doy,epoch,isoyear}'::text[]) unit;
-- with a time zone only where that is UTC
SELECT differs(format(query, e))
FROM unnest(ARRAY['SELECT %s, count(*) FROM many GROUP BY 1']) query,
	unnest(ARRAY['date_trunc(''hour'', z)', 'date_trunc(''month'', z)', 'extract(hour FROM z)',
		'extract(day FROM z)']) e;
SELECT singly('SELECT count(date_trunc(''day'', z)) FROM many');
SET TimeZone = 'UTC';
SELECT differs(format(query, e))
FROM unnest(ARRAY['SELECT %s, count(*) FROM many GROUP BY 1']) query,
	unnest(ARRAY['date_trunc(''hour'', z)', 'date_trunc(''month'', z)', 'extract(hour FROM z)', 'extract(day FROM z)',
		'extract(epoch FROM z)']) e;
SELECT singly('SELECT count(date_trunc(''day'', z)) FROM many');
RESET TimeZone;

--
-- Only batches that have to are evaluated row by row: pending rows are a batch of their own
--
SELECT singly('SELECT sum(i + 1) FROM many');
INSERT INTO many (k, i) VALUES (1, 2147483647);
SELECT singly('SELECT sum(i + 1) FROM many WHERE i < 5000');
SELECT singly('SELECT sum(CASE WHEN i < 5000 THEN i + 1 END) FROM many');
SELECT differs('SELECT sum(CASE WHEN i < 5000 THEN i + 1 END) FROM many');
SELECT differs('SELECT sum(i + 1) FROM many');
DELETE FROM many WHERE i > 5000;
-- not calculated: PostgreSQL's own functions with arguments that are no constants, and users' ones
SELECT singly(format('SELECT count(%s) FROM many', e)), e
FROM unnest(ARRAY['i / nullif(s, 0)', 'power(f, 2)', 'd + h', 't - t', 'i::text', 'i & 3']) e;
-- groups by the values of expressions, whose columns have too many combinations; they come again, and have other ranges
SELECT differs('SELECT b % 10, count(*), sum(i) FROM many GROUP BY 1');
SELECT singly('SELECT b % 10, count(*) FROM many GROUP BY 1') AS "not rows, but values";
SELECT differs('SELECT b % 10, i / 500, o, count(*), sum(i) FROM many GROUP BY 1, 2, 3');
SELECT differs('SELECT b * 1000000 + i, count(*) FROM many GROUP BY 1');
SELECT differs('SELECT b - i, n * c, count(*) FROM many GROUP BY 1, 2');
SELECT differs('SELECT CASE WHEN o THEN b * 4000000 ELSE -b * 4000000 END, t, count(*) FROM many GROUP BY 1, 2');
-- keys of few values fit, as the planner knows
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT differs(format('SELECT %s, count(*), sum(i) FROM many GROUP BY 1', e))
FROM unnest(ARRAY['b % 10', 'mod(b, -7)', 'extract(month FROM t)', 'extract(dow FROM t)', 'b < i * 1000',
	'CASE WHEN b > 1000000 THEN 1 WHEN b > i THEN b % 3 END', 'coalesce(b % 3, -1)', 'nullif(b % 3, 1)']) e;
SELECT differs('SELECT b % 3, extract(month FROM t), o, count(*) FROM many GROUP BY 1, 2, 3');
RESET work_mem;
RESET hash_mem_multiplier;

--
-- Minima and maxima of numerics: of integers of one scale, of several, and of what is no such integer
--
CREATE TABLE digits (k int, i int, n numeric(12, 3), m numeric, u numeric, w numeric) WITH (autovacuum_enabled = off);
INSERT INTO digits
SELECT x % 5, x / 7 % 500, n, CASE WHEN x % 3 > 0 THEN round(n, x % 4) END, n,
	CASE x % 700 WHEN 3 THEN 'NaN' WHEN 10 THEN 'Infinity' WHEN 24 THEN '-Infinity' WHEN 31 THEN 1e40 ELSE n END
FROM (SELECT i, CASE WHEN i % 11 > 0 THEN round(hashint4(i) / 1000.0, 3) END FROM generate_series(1, 9000) i) v (x, n);
CREATE INDEX digits_idx ON digits USING rtscan (k) INCLUDE (i, n, m, u, w);
VACUUM ANALYZE digits;
INSERT INTO digits
VALUES (1, 1, 7000000.5, 7000000.50, 7000000.5000, 7000000.5), (2, 2, -7000000, -7000000.0, -7000000.00, NULL);
CREATE FUNCTION extremes() RETURNS SETOF text LANGUAGE sql AS $$
	SELECT differs(format(query, c, condition))
	FROM unnest('{n,n * 2,n * 1.50,-u,trim_scale(m),w,k::numeric,n - k,NULL::numeric}'::text[]) c,
		unnest('{k < 4,k = 3,k IN (0\, 2) AND n > 0,k > 9}'::text[]) condition,
		unnest(ARRAY['SELECT min(%1$s), max(%1$s), count(%1$s) FROM digits WHERE %2$s',
			'SELECT k, min(%1$s), max(%1$s), max(%1$s) FILTER (WHERE n < 100) FROM digits WHERE %2$s GROUP BY k',
			'SELECT i, max(%1$s), min(%1$s) FROM digits WHERE %2$s GROUP BY 1',
			'SELECT k, i, min(%1$s), max(%1$s) FROM digits WHERE %2$s GROUP BY GROUPING SETS ((k), (1, 2), ())']) query
$$;
SELECT extremes();
SELECT singly('SELECT min(n), max(u * 2) FROM digits WHERE k < 4');
-- segments that have other scales, or no integers: what is beyond all of a chunk's is beyond them in its scale
CREATE TABLE scales (k int, n numeric) WITH (autovacuum_enabled = off);
CREATE TABLE strange (LIKE scales) WITH (autovacuum_enabled = off);
INSERT INTO scales SELECT i % 5, round(10 + i / 1000.0, 2) FROM generate_series(1, 3000) i;
INSERT INTO strange VALUES (1, 'NaN');
CREATE INDEX scales_idx ON scales USING rtscan (k) INCLUDE (n);
CREATE INDEX strange_idx ON strange USING rtscan (k) INCLUDE (n);
INSERT INTO scales SELECT i % 5, 5 + i % 40 FROM generate_series(1, 3000) i;
INSERT INTO strange SELECT i % 5, round(i / 100.0, 2) FROM generate_series(100, 3000) i;
VACUUM ANALYZE scales, strange;
INSERT INTO scales SELECT i % 5, round(-5 - i / 1000.0, 3) FROM generate_series(1, 3000) i;
INSERT INTO strange SELECT 1, 1e40 + i FROM generate_series(1, 100) i;
VACUUM ANALYZE scales, strange;
INSERT INTO scales SELECT i % 5, -100 - i FROM generate_series(1, 3000) i;
INSERT INTO strange SELECT i % 5, -i FROM generate_series(100, 3000) i;
VACUUM ANALYZE scales, strange;
SELECT differs(format('SELECT %s FROM %s WHERE %s', aggregates, tab, condition))
FROM unnest('{min(n),max(n),min(n)\, max(n)\, count(n)\, sum(n)}'::text[]) aggregates,
	unnest('{scales,strange}'::text[]) tab, unnest('{k < 4,k = 1}'::text[]) condition;
-- they may follow one another in any order
SELECT differs('SELECT trim_scale(min(m)), trim_scale(max(m)) FROM digits WHERE k < 4');
SELECT differs('SELECT i, trim_scale(min(m)), trim_scale(max(m)) FROM digits GROUP BY 1');
-- groups that do not fit into memory
ALTER TABLE digits ALTER i SET (n_distinct = 5);
ANALYZE digits;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT differs('SELECT i, min(u), max(n), min(w), trim_scale(max(m)) FROM digits GROUP BY i');
RESET work_mem;
RESET hash_mem_multiplier;
-- processes that share them
SET min_parallel_index_scan_size = 0;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SELECT extremes();
DROP SCHEMA vectors CASCADE;
