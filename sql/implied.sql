-- Ranges of columns that comparisons of expressions imply: the same rows and errors as of a sequential scan,
-- and fewer rows asked.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA implied;
SET search_path = implied, public;
SET rtscan.merge_worker = off;
SET jit = off;
SET max_parallel_workers_per_gather = 0;
SET extra_float_digits = 1;

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/plans.psql
\set ECHO all
\pset format unaligned
\pset tuples_only on
CREATE FUNCTION rows(start int, n int) RETURNS TABLE (id int, i int, s int2, b int8, f float8, e float4, n numeric(8,
	2), d date, v int,
	w float8, m numeric, u int2, o bool) LANGUAGE sql AS $$
	SELECT x,
		   CASE WHEN h1 % 17 > 0 THEN h1 % 2001 - 1000 END,
		   CASE WHEN h2 % 19 > 0 THEN (h2 % 180 - 90)::int2 END,
		   CASE WHEN h3 % 23 > 0 THEN (h3 % 5000)::int8 - 2500 END,
		   CASE WHEN h1 % 29 > 0 THEN (h2 % 4096 - 2048) / 16.0 + 0.1 END,
		   CASE WHEN h2 % 31 > 0 THEN (h3 % 1000 - 500) / 10.0 END,
		   CASE WHEN h3 % 37 > 0 THEN (h1 % 20000 - 10000) / 100.0 END,
		   CASE WHEN h1 % 41 > 0 THEN date '2020-01-01' + h2 % 3000 - 1500 END,
		   CASE WHEN h2 % 43 > 0 THEN h3 % 500 END,
		   CASE WHEN h3 % 47 > 0 THEN (h1 % 777) * 0.3 + 1 END,
		   CASE WHEN h1 % 53 > 0 THEN round(h2 % 1000 / 7.0, h1 % 5) END,
		   (h2 % 100)::int2,
		   h3 % 2 = 0
	FROM (SELECT x, abs(hashint4(x)), abs(hashint4(x + 1000003)), abs(hashint4(x - 1000003))
		FROM generate_series(start, start + n - 1) x) v (x, h1, h2, h3)
$$;
CREATE TABLE many AS SELECT * FROM rows(1, 2000);
CREATE INDEX many_idx ON many USING rtscan (i, s, b, f, e, n, d) INCLUDE (v, w, m, u, id);
INSERT INTO many SELECT * FROM rows(2001, 700);
VACUUM ANALYZE many;
INSERT INTO many SELECT * FROM rows(3001, 150);
DELETE FROM many WHERE id % 29 = 0;
UPDATE many SET s = s + 1 WHERE id % 31 = 0;

-- Return a query's result, or the error that it raises: by a sequential scan, by our nodes with the table's rows,
-- or with the index's
CREATE FUNCTION outcome(query text, how text) RETURNS text LANGUAGE plpgsql SET enable_bitmapscan = off AS $$
DECLARE
	found text;
BEGIN
	PERFORM set_config('enable_seqscan', (how = 'sequential')::text, true),
		set_config('rtscan.enable_scan', (how <> 'sequential')::text, true),
		set_config('rtscan.enable_aggregate', (how = 'index')::text, true);
	EXECUTE query INTO found;
	RETURN found;
EXCEPTION WHEN data_exception OR feature_not_supported THEN
	RETURN sqlerrm;
END
$$;
-- and whether there is a difference
CREATE FUNCTION differs(condition text, tab text DEFAULT 'many') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	query text;
	expected text;
	found text;
	how text;
BEGIN
	FOREACH how IN ARRAY ARRAY['heap', 'index'] LOOP
		query := format(CASE how WHEN 'heap'
		THEN 'SELECT concat(count(*), '' '', sum(id), '' '', count(o)) FROM %s WHERE %s'
								 ELSE 'SELECT concat(count(*), '' '', sum(id)) FROM %s WHERE %s' END, tab, condition);
		expected := outcome(query, 'sequential');
		found := outcome(query, how);
		IF found IS DISTINCT FROM expected THEN
			RETURN NEXT format('%s: %s instead of %s', query, found, expected);
		END IF;
	END LOOP;
END
$$;
-- Return the columns whose ranges are implied, and the number of rows that are tested
CREATE FUNCTION asked(condition text, tab text DEFAULT 'many') RETURNS text LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
	line text;
	implied text := 'nothing';
	asked int := 0;
BEGIN
	FOR line IN EXECUTE format('EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT id FROM %s WHERE %s',
	tab, condition) LOOP
		implied := coalesce(substring(line, 'Implied Ranges: (.*)'), implied);
		asked := asked + coalesce(substring(line, 'rows=(\d+)'), substring(line,
		'Rows Removed by Row Filter: (\d+)'), '0')::int;
	END LOOP;
	RETURN concat(implied, ': ', asked);
END
$$;

--
-- Expressions compared with some of their own values: a bound that is one too narrow loses these
--
CREATE TABLE expressions (e text);
INSERT INTO expressions SELECT unnest(ARRAY[
	-- integers
	'i + s', 'i - b', '3 * i - 2 * b', '-i', '+b', 'abs(i - 100)', '@ s::int4', 'i / 7', 'i / -7', 'b / 100',
	'-5000 / (b - 3000)', 'i * s',
	'i * i', '(i - 5) * (i - 5) + s * s', 'i::int8 * b', 's * 2::int2', '(i * 10)::int8', '0 * i + s', 'i - i',
	'b * b - i',
	'abs(i) + abs(s)', 'i * -3', '(s + 1) * (i + 2000)', '(s - 200) * (i + 2000)', 'i::int2 + s',
	-- floats
	'f + e', 'f * 2 - 1', 'f * f', '(f - 3) ^ 2', '(f - 3) ^ 3', '(i - 50)::float8 ^ 2 + s::float8 ^ 2',
	'power(f, 4)', 'pow(e, 1)',
	'f / 4', '100 / (f + 1000)', '100 / (f - 1000)', 'sqrt(f + 1000)', '|/ (e + 1000)', '-f', 'abs(f)', '@ e',
	'f::float4', 'e::float8 * 0.1',
	'e * 2::float4', 'e - 0.5::float4', '0.1 * f + 0.7 * e', 'f * -0.3', 'i * 0.1::float8', 'f::int', 'e::int8',
	'(f * 100)::int2', 'f - i',
	-- numerics
	'n * 2 - 1', 'n - i', 'n * n', 'n / 3', '100 / (n - 200)', 'n::float8 * 2', 'n::int', 'n::int8', 'abs(n)', '-n',
	'i * 1.5', 'n * -0.01',
	'n::float4', 'n + 0.005',
	-- dates
	'd - date ''2020-01-01''', 'd + 5', 'd - 7', '3 + d', 'd - i', '(d + s) - date ''2019-05-05''',
	-- INCLUDEd columns, alone and with others
	'v * 2', 'v * 2 + i', 'w - f', 'w * w', 'm * 3 - 1', 'm * m', 'u + v', 'u * 10', '(v - 20) * (v - 20) + u * u',
	'v / 3', 'w::int',
	'id * 2', 'm::float8 + w', 'u - s']);
-- a few rows' values
CREATE FUNCTION constants(e text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format('SELECT quote_literal(k) || ''::'' || pg_typeof(k)
		FROM (SELECT %s, id FROM many) t (k, id)
		WHERE id IN (5, 500, 2600) AND k IS NOT NULL', e);
END
$$;
SELECT differs(format('%s %s %s', e, op, k)) FROM expressions, constants(e) k, unnest(ARRAY['<', '<=', '=', '>=',
	'>']) op
	WHERE hashtext(concat(e, k, op)) % 2 = 0;
-- all of them imply something
SELECT e FROM expressions WHERE asked(format('%s < (%s)', e, (SELECT min(k) FROM constants(e) k))) LIKE 'nothing%';

-- other forms
SELECT differs(c) FROM unnest(ARRAY[
	'i + s BETWEEN 10 AND 20', 'i < b', 'i < s', 'i = s + 1', 'f < e', 'i + s > b - v', 'n > m', 'd > d - i',
	'5 < i + s', '70 >= abs(s)',
	'i + s < 10 AND i - s < 10', 'i + s < 10 OR i - s > 1500', '(i + s < -900 AND b > 5) OR b - i > 3000',
	'i > 900 AND i + s < 950',
	'i > 900 AND i + s < 700',
	'NOT i BETWEEN -900 AND 900 AND i + s < -900', 'i <> 5 AND i + s > 900',
	'i * s < 10 AND s > 3', 's > 0 AND i / s > 100', 'i IN (3, 4, 5) AND i + b > 0',
	'v * 2 < 10 OR i + s < -1000',
	'NOT i + s < 1000', 'i + s IS NOT NULL', 'i + s < NULL', 'i + NULL::int < 5', 'v + u < 10 AND w * 2 < 100',
	'i + s < 10 AND o',
	'u + 0 > 5 AND v < 3', 'i + length(o::text) < 100', 'i + s <> 5', 'coalesce(i, 0) + s < 5',
	'(i + s, b) < (5, 7)', 'i + s = ANY (''{1,2,3}'')',
	'i * 0 = 0', 'i * 0 = 1', 'i + s < -100000', 'i + s > -100000', 's::float8 * 1e300 > 1e301', 'f ^ 0.5 > 3',
	'f ^ 2.5 > 3', 'f ^ -1 > 3',
	'f ^ 17 > 3', 'i ^ 2 < 1000', '2 ^ s < 100', 'f ^ e > 1', 'n ^ 2 < 9', 'i % 10 = 3', 'i + s % 10 < 3',
	'i & 3 < 2']) c;

--
-- Fewer rows are asked
--
SELECT c, asked(c) FROM unnest(ARRAY['i + s < -900', '(i - 500) * (i - 500) + s * s < 100',
	'(f - 10) ^ 2 + (e - 10) ^ 2 < 4', 'abs(s - 7) < 2',
	'i / 100 = 5', 'd - date ''2020-01-01'' BETWEEN 100 AND 110', 'n * 2 + 1 > 190', 'i > 900 AND i + b < -1500',
	'i + s < -950 OR i - s > 1050',
	'v * 2 < 10', '(v - 20) * (v - 20) + u * u < 100', 'w + f > 340', 'i < b', 'i % 10 = 3', 'i > 0 AND 100 / i > 30',
	'f * 1e-300 > 2e-299', 'i * i + s * s < 0']) c;

-- The planner knows how many rows are left
CREATE FUNCTION estimate(query text) RETURNS text LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
		RETURN substring(line, 'rows=\d+');
	END LOOP;
END
$$;
SELECT estimate('SELECT v, count(*) FROM many WHERE i + s < -1050 GROUP BY v') =
	estimate('SELECT v, count(*) FROM many WHERE i <= -962 AND s <= -51 GROUP BY v');

--
-- Parameters: known when the search begins, of each answer
--
SET plan_cache_mode = force_generic_plan;
PREPARE generic(int, float8) AS SELECT count(*), sum(id) FROM many WHERE i + s < $1 AND f * 2 > $2;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) EXECUTE generic(-900, 10);
EXECUTE generic(-900, 10);
EXECUTE generic(NULL, 10);
EXECUTE generic(900, 'NaN');
EXECUTE generic(900, '-Infinity');
SET enable_seqscan = on;
SET rtscan.enable_aggregate = off;
SET rtscan.enable_scan = off;
SELECT count(*), sum(id) FROM many WHERE i + s < -900 AND f * 2 > 10;
SELECT count(*), sum(id) FROM many WHERE i + s < 900 AND f * 2 > '-Infinity';
SELECT k, (SELECT count(*) FROM many WHERE i + s = k),
	(SELECT count(*) FROM many WHERE i * 2 - k < -1990 AND i + s < k) FROM generate_series(-3, 3) k;
RESET rtscan.enable_scan;
RESET rtscan.enable_aggregate;
SET enable_seqscan = off;
SELECT k, (SELECT count(*) FROM many WHERE i + s = k),
	(SELECT count(*) FROM many WHERE i * 2 - k < -1990 AND i + s < k) FROM generate_series(-3, 3) k;
SELECT explained('SELECT k, (SELECT count(*) FROM many WHERE i + s = k) FROM generate_series(-3, 3) k');
EXPLAIN (COSTS OFF) SELECT o, i FROM many WHERE i + s < -1050;
SELECT count(o), sum(i) FROM many WHERE i + s < -1050;
RESET enable_seqscan;
RESET enable_bitmapscan;
RESET plan_cache_mode;

--
-- Numbers that are not ordinary
--
CREATE TABLE rare (id int, i int, b int8, f float8, e float4, n numeric, d date, s int2, w float8, o bool);
CREATE INDEX rare_idx ON rare USING rtscan (i, b, f, e, n, d) INCLUDE (s, w, id);
INSERT INTO rare SELECT x, i[x % 9 + 1], b[x % 11 + 1], f[x % 13 + 1], e[x % 10 + 1], n[x % 12 + 1], d[x % 7 + 1],
	s[x % 5 + 1], f[x % 8 + 1], true
	FROM generate_series(1, 700) x, (VALUES (
		'{-2147483648,-2147483647,-2,-1,0,1,2,2147483647,NULL}'::int[],
		'{-9223372036854775808,-9223372036854775807,-1,0,1,9007199254740993,9007199254740992,9007199254740994,
			9223372036854775806,9223372036854775807,NULL}'::int8[],
		'{NaN,Infinity,-Infinity,0,-0,1,-1,2.5,1e308,-1e308,1e-308,9007199254740993,NULL}'::float8[],
		'{NaN,Infinity,-Infinity,0,1,-1,3e38,1e-45,16777217,NULL}'::float4[],
		'{NaN,Infinity,-Infinity,0,0.1,-0.1,1e400,-1e-400,12345678901234567890,
			9007199254740993,1.000000000000000000001,NULL}'::numeric[],
		'{infinity,-infinity,2020-01-01,5874897-12-31,4713-01-01 BC,1999-12-31,NULL}'::date[],
		'{-32768,32767,0,1,NULL}'::int2[])) v (i, b, f, e, n, d, s);
VACUUM ANALYZE rare;
CREATE TABLE rare_expressions (e text, k text);
INSERT INTO rare_expressions SELECT e, k FROM (VALUES
	('{i + 1,i::int8 + 1,i::int8 * i,-i::int8,abs(i::int8),
			i / 2,i - 5::int8,s + 1,s::int4 * s,s / -1,-s,i::numeric * 2}'::text[],
		'{-1,0,1,2147483647,-2147483648,4611686018427387904}'::text[]),
	('{b,b + 1,b - 1,b / 2,-b,b::numeric + 1,b::numeric * 2,b::float8,b::float8 * 2,abs(b),b / -1,b::float4}',
		'{0,1,-1,9007199254740993,9007199254740994,9223372036854775807,-9223372036854775808,9223372036854775808}'),
	('{f + 1,f - 1,f * 2,f * 0.5,f * 0,f / 2,-f,abs(f),f - f,f * f,f ^ 2,f ^ 3,
			1 / f,f / f,f + e,w + 1,w - w,w * 2,-w,f::float4,f::int,f + w,sqrt(f)}',
		'{0::float8,1::float8,''NaN''::float8,''Infinity''::float8,''-Infinity''::float8,
			9007199254740994::float8,1e308::float8,-5e307::float8}'),
	('{e + 1::float4,e * 2::float4,e - e,e::float8 * 2,e * 0.1,e * e,e / 2::float4,e::int8,-e,e::float8 - 1}',
		'{0::float4,1::float8,''NaN''::float8,''Infinity''::float8,''-Infinity''::float4,
			16777216::float4,0.1::float8}'),
	('{n + 1,n * 2,n - n,n * n,n * 0,n / 3,-n,abs(n),n::float8,n::int,n - 0.1,n * 1e-30,n::float4}',
		'{0,1.1,''NaN'',''Infinity'',''-Infinity'',1e400,9007199254740994,12345678901234567891}')) v (es, ks),
		unnest(es) e, unnest(ks) k
	UNION ALL SELECT e, k FROM unnest(ARRAY['d + 1', 'd - 1', '1 + d']) e,
		unnest(ARRAY['date ''infinity''', 'date ''-infinity''', 'date ''2020-01-02''', 'date ''2020-01-01''']) k
	UNION ALL SELECT 'd - date ''2020-01-01''', k FROM unnest(ARRAY['0', '1', '-7305']) k;
SELECT differs(format('%s %s %s', e, op, k), tab)
	FROM rare_expressions, unnest(ARRAY['<', '<=', '=', '>=', '>']) op,
		unnest(ARRAY['rare', 'rare',
			'(SELECT * FROM rare WHERE i BETWEEN -2 AND 2 AND b BETWEEN -1 AND 9007199254740994) r',
			'(SELECT * FROM rare WHERE f BETWEEN -1 AND 3 AND n BETWEEN -1 AND 2) r',
			'(SELECT * FROM rare WHERE f >= 1 AND e > 0.5 AND d > ''2000-01-01'') r',
			'(SELECT * FROM rare WHERE f <= 2.5 AND n < 1 AND d < ''2021-01-01'') r'])
			WITH ORDINALITY tab (tab, number)
	WHERE number = abs(hashtext(concat(e, op, k))) % 18 + 1;
-- NaN is above all, also where something is implied
SELECT c, asked(c, 'rare') FROM unnest(ARRAY['f + 1 > 5', 'f + 1 < 5', 'f = ''NaN'' AND f - 1 > 5', '-f > 1',
	'n + 1 > 5', 'n + 1 <= -5']) c;

-- An error is raised where some number between the bounds may raise it; not where the rest of the filter
-- leaves none such
CREATE TABLE failing AS SELECT x AS id, x AS i, x::int8 AS b, x::float8 AS f, true AS o
	FROM generate_series(0, 100) x;
CREATE INDEX failing_idx ON failing USING rtscan (i, b, f) INCLUDE (id);
VACUUM ANALYZE failing;
SELECT c, differs(c, 'failing') FROM unnest(ARRAY['100 / i > 50', '1 / f > 5', '2147483600 + i < 0',
	'i * 30000000 < 0', '(b + 9223372036854775800) < 0',
	'f * 1e307 < 0', 'f * 1e-323 * 0.1 > 7', 'sqrt(f - 1) > 100', '(f - 1) ^ 2 > 1e5',
	'i::int2 * 400::int2 > 5 AND i < 0']) c;
SELECT c, outcome('SELECT count(*) FROM failing WHERE ' || c, 'index') FROM unnest(ARRAY['100 / i > 50',
	'2147483600 + i < 0', 'f * 1e307 < 0',
	'i > 0 AND 100 / i > 50', 'f * 1e-320 * 0.1 > 7', 'i < 40 AND 2147483600 + i < 2147483605']) c;
INSERT INTO failing VALUES (101, -1, 0, 0, true);
SELECT outcome('SELECT count(*) FROM failing WHERE 100 / (i + 1) > 50', 'index');

-- Without rows, and without values
CREATE TABLE empty (id int, i int, f float8, o bool);
CREATE INDEX ON empty USING rtscan (i, f) INCLUDE (id);
SELECT differs(c, 'empty') FROM unnest(ARRAY['i + 1 < 5', 'f * 2 > 1', '1 / i > 0']) c;
INSERT INTO empty SELECT x, NULL, NULL, true FROM generate_series(1, 100) x;
VACUUM empty;
SELECT differs(c, 'empty') FROM unnest(ARRAY['i + 1 < 5', 'f * 2 > 1', '1 / i > 0', 'id - i < 5', '1 / (id - 5) > 0',
	'1 / (id - 5) > i']) c;

-- Several chunks: an INCLUDEd column whose chunks' bounds exclude most of them, and a plain key column
CREATE TABLE chunks AS SELECT x AS id, abs(hashint4(x)) AS i, x / 1000 AS v, x * 0.5::float8 AS w,
	true AS o FROM generate_series(1, 200000) x;
CREATE INDEX chunks_idx ON chunks USING rtscan (i) INCLUDE (v, w, id);
VACUUM ANALYZE chunks;
SELECT differs(c, 'chunks') FROM unnest(ARRAY['v * 2 - 1 > 395', 'w - 1 < 100', 'i::int8 * 2 < 1000000',
	'(i::int8 - 1000000000) ^ 2 < 1e12', 'v * 2 < 10 AND i::int8 * 3 < 1000000000']) c;
SELECT c, asked(c, 'chunks') FROM unnest(ARRAY['v * 2 - 1 > 395', 'w - 1 < 100', 'i::int8 * 2 < 1000000',
	'v * 2 < 10 AND i::int8 * 3 < 1000000000']) c;

-- An operator class with another order, and columns that are expressions
CREATE FUNCTION backwards(int, int) RETURNS int LANGUAGE sql IMMUTABLE STRICT AS 'SELECT btint4cmp($2, $1)';
CREATE OPERATOR CLASS backwards_ops FOR TYPE int USING rtscan AS OPERATOR 1 >, OPERATOR 2 >=, OPERATOR 3 =,
	OPERATOR 4 <=, OPERATOR 5 <, FUNCTION 1 backwards(int, int);
CREATE TABLE odd AS SELECT * FROM rows(1, 500);
CREATE INDEX ON odd USING rtscan (i backwards_ops, (s * 2), n) INCLUDE (id);
VACUUM ANALYZE odd;
SELECT differs(c, 'odd') FROM unnest(ARRAY['i + 5 < 7', 's * 2 + n < 7', '(s * 2) * (s * 2) < 100',
	'i * 2 + n < 8']) c;
SELECT c, asked(c, 'odd') FROM unnest(ARRAY['i + 5 < 7', 's * 2 + n < -200']) c;

-- Any clause of one key column that has few values in a segment: each value is tested once
CREATE TYPE colour AS ENUM ('red', 'green', 'blue');
CREATE TABLE coded AS
SELECT x AS id,
	CASE WHEN x % 11 > 0 THEN (ARRAY['paid', 'Paid', 'open', 'cancelled', '', 'returned'])[x % 6 + 1] END AS status,
	(ARRAY['red', 'green', 'blue'])[x % 3 + 1]::colour AS colour,
	CASE WHEN x % 13 > 0 THEN (x % 40)::bpchar(5) END AS fixed,
	x % 30 AS small, timestamptz '2025-03-29 22:00+00' + x % 50 * interval '1 hour' AS ts, x % 7 = 0 AS yes,
	jsonb_build_object('channel', (ARRAY['app', 'web', NULL])[x % 3 + 1]) AS attributes,
	CASE WHEN x % 2 = 0 THEN 1.0 ELSE 1.00 END + x % 5 AS shown, 'text ' || x AS different, true AS o
FROM generate_series(1, 40000) x;
CREATE INDEX coded_idx ON coded USING rtscan (status, colour, fixed, small, ts, yes, (attributes->>'channel'), shown,
	different) INCLUDE (id);
VACUUM ANALYZE coded;
SET timezone = 'Europe/Berlin';
CREATE TABLE tests (number serial, test text);
INSERT INTO tests (test) SELECT unnest(ARRAY['status ILIKE ''p%''', 'lower(status) = ''paid''', 'status ~ ''^(re|op)''',
	'length(status) > 5', 'coalesce(status, '''') = ''''', 'coalesce(status, '''') <> ''''',
	'status || ''x'' = ''openx''',
	'NOT (status LIKE ''%a%'')', '(status = ''paid'') IS NOT TRUE',
	'CASE WHEN status = ''open'' THEN true ELSE status IS NULL END', 'CASE status WHEN ''open'' THEN true END',
	'colour::text LIKE ''%e%''', 'length(fixed) = 1', 'small % 7 = 3', 'small % 7 = 3 AND status ILIKE ''paid''',
	'small % 7 = 3 OR status ILIKE ''paid''', 'extract(hour FROM ts) BETWEEN 1 AND 3',
	'(ts AT TIME ZONE ''Europe/Berlin'')::date = ''2025-03-30''', 'yes IS NOT TRUE AND length(status) < 5',
	'upper(attributes->>''channel'') = ''APP''', '(attributes->>''channel'') IS NULL AND length(status) = 4',
	'shown::text = ''1.00''', 'length(different) < 8', 'status ILIKE different', 'status ILIKE ''none''',
	'nullif(status, ''open'') IS NULL', 'status ILIKE ANY (ARRAY[''P%'', ''o%''])', 'starts_with(status, ''pa'')',
	'1 / (small - 5) = 1', '1 / (small - 50) = 0 AND length(status) = 4']);
SELECT differs(test, 'coded') FROM tests;
SELECT test, asked(test, 'coded') FROM tests WHERE test NOT LIKE '1 /%' ORDER BY number;
-- the same with rows of pending lists, which have other values, and with segments that do and do not have these
INSERT INTO coded SELECT id + 100000, 'Pax', colour, 'ab', small + 100, ts, NOT yes, '{}', shown, different, true
	FROM coded LIMIT 700;
SELECT differs(test, 'coded') FROM tests;
SELECT rtscan_merge('coded_idx') > 0 AS merged;
DELETE FROM coded WHERE id % 17 = 0;
SELECT differs(test, 'coded') FROM tests;
-- prepared, with values that are known only later, and for each row of another table
CREATE FUNCTION filtered(query text) RETURNS SETOF text LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'Filter|Singly' THEN
			RETURN NEXT ltrim(line);
		END IF;
	END LOOP;
END
$$;
PREPARE by_status(text) AS SELECT count(*) FROM coded WHERE status ILIKE $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE by_status('p%');
SELECT filtered('EXECUTE by_status(''p%'')');
SET plan_cache_mode = force_custom_plan;
EXECUTE by_status('p%');
RESET plan_cache_mode;
SELECT pattern, n
FROM (VALUES ('p%'), ('o%')) v (pattern), LATERAL (SELECT count(*) AS n FROM coded WHERE status ILIKE pattern) s;
SELECT id, n
FROM (VALUES (3), (5)) v (id),
	LATERAL (SELECT count(*) AS n FROM coded c WHERE c.small = v.id AND length(status) > 4) s;

DROP SCHEMA implied CASCADE;
