-- Variances, regressions, bits and booleans, by the node RtscanAggregate: the same as PostgreSQL's own, to the
-- last digit.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA statistics;
SET search_path = statistics, public;
SET rtscan.pending_list_limit = '64kB';

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/outcomes.psql
\i :directory/sql/include/singly.psql
\i :directory/sql/include/plans.psql
\set ECHO all
-- Return calls of functions with one or two columns as arguments, each put into a format.
CREATE FUNCTION applied(functions text[], arguments text, shown text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(format(shown, f || '(' || arguments || ')'), ', ') FROM unnest(functions) f
$$;
CREATE FUNCTION variances(argument text, shown text DEFAULT '%s') RETURNS text LANGUAGE sql AS $$
	SELECT applied('{variance,var_samp,var_pop,stddev,stddev_samp,stddev_pop}', argument, shown)
$$;
CREATE FUNCTION regressions(y text, x text, shown text DEFAULT '%s') RETURNS text LANGUAGE sql AS $$
	SELECT applied(
		'{covar_pop,covar_samp,corr,regr_avgx,regr_avgy,regr_count,regr_intercept,regr_r2,regr_slope}'::text[] ||
			'{regr_sxx,regr_sxy,regr_syy}'::text[],
		y || ', ' || x, shown)
$$;
CREATE FUNCTION bits(argument text) RETURNS text LANGUAGE sql AS $$
	SELECT applied('{bit_and,bit_or,bit_xor}', argument, '%s')
$$;
CREATE FUNCTION booleans(argument text) RETURNS text LANGUAGE sql AS $$
	SELECT applied('{bool_and,bool_or,every}', argument, '%s')
$$;
-- 16 has any_value()
CREATE FUNCTION any_values(argument text) RETURNS text LANGUAGE sql AS $$
	SELECT format('%s(%s)',
		CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'any_value' ELSE 'min' END, argument)
$$;
-- Results of floats that are added in another order
\set rounded '(%s)::float4'

-- Groups: 0 to 9 of many values, 10 of constants, 11 of one row, 12 of NULLs, 13 to 15 with special values, 16 of
-- extreme ones, 17 of numerics with many digits.
CREATE FUNCTION rows(start int, n int)
RETURNS TABLE (
	id int, g int, a int2, b int4, c int8, d numeric(12, 2), e numeric, f float4, h float8, i float8, q bit(8), t bool,
	p money)
LANGUAGE sql AS $$
	SELECT i, k,
		   CASE WHEN k = 10 THEN 7 WHEN k = 16 THEN (ARRAY[-32768, 32767])[1 + h % 2]
				WHEN k <> 12 AND h % 7 > 0 THEN h % 100 - 50 END,
		   CASE WHEN k = 10 THEN -7 WHEN k = 16 THEN (ARRAY[-2147483648, 2147483647])[1 + h % 2]
				WHEN k <> 12 AND h % 11 > 0 THEN h % 100003 END,
		   CASE WHEN k = 10 THEN 7000000000
				WHEN k = 16 THEN (ARRAY[-9223372036854775808, 9223372036854775807])[1 + h % 2]
				WHEN k <> 12 AND h % 13 > 0
				THEN (h % 1000003 - 500000) * (CASE h % 3 WHEN 0 THEN 1 ELSE 1000000007 END)::bigint END,
		   CASE WHEN k = 10 THEN 1.25 WHEN k = 13 AND h % 2 = 0 THEN 'NaN' WHEN k = 16 THEN -9999999999.99
				WHEN k <> 12 AND h % 17 > 0 THEN (h % 1000003 - 500000) / 100.0 END,
		   CASE WHEN k = 10 THEN 1.2500 WHEN k = 13 AND h % 2 = 0 THEN 'NaN' WHEN k = 14 AND h % 2 = 0 THEN 'Infinity'
				WHEN k = 15 THEN (ARRAY['-Infinity', 'Infinity'])[1 + h % 2]::numeric
				WHEN k = 16 THEN (h % 1003 * 1e18 + 0.123456789012345678) * (h % 3 - 1)
				WHEN k = 17 THEN round((h % 997)::numeric ^ 7 / 7, (h % 23)::int)
				WHEN k <> 12 AND h % 19 > 0 THEN round((h % 997 - 500) / 7.0, (h % 6)::int) END,
		   CASE WHEN k = 10 THEN 0.1 WHEN k = 13 AND h % 2 = 0 THEN 'NaN' WHEN k = 14 AND h % 2 = 0 THEN 'Infinity'
				WHEN k = 15 THEN (ARRAY['-Infinity', 'Infinity'])[1 + h % 2]::float4
				WHEN k = 16 THEN 1e30 WHEN k <> 12 AND h % 23 > 0 THEN (h % 10007) / 9.0 END,
		   CASE WHEN k = 10 THEN 0.1 WHEN k = 13 AND h % 3 = 0 THEN 'NaN' WHEN k = 14 AND h % 3 = 0 THEN 'Infinity'
				WHEN k = 15 THEN (ARRAY['-Infinity', 'Infinity'])[1 + h % 2]::float8
				WHEN k = 16 THEN (h % 103) * 1e150 WHEN k <> 12 AND h % 29 > 0 THEN (h % 100003 - 50000) / 7.0 END,
		   CASE WHEN k = 10 THEN (h % 5) / 4.0 WHEN k = 13 AND h % 2 = 0 THEN 'NaN'
				WHEN k = 14 AND h % 2 = 0 THEN '-Infinity'
				WHEN k = 16 THEN 1e-150 * (h % 7) WHEN k <> 12 AND h % 31 > 0 THEN (h % 10009) / 3.0 END,
		   CASE WHEN k <> 12 AND h % 5 > 0 THEN (h % 256)::int::bit(8) END,
		   CASE WHEN k = 10 THEN k = 10 WHEN k <> 12 AND h % 3 > 0 THEN h % 2 = 0 END,
		   CASE WHEN k <> 12 AND h % 3 > 0 THEN (h % 10000)::int::money END
	FROM (SELECT i, CASE WHEN i % 1000 = 1 THEN 11 WHEN i % 10 > 0 THEN i % 10 ELSE 10 + i / 10 % 8 END,
				 abs(hashint4(i))::bigint
		  FROM generate_series(start, start + n - 1) i) r (i, k, h)
	WHERE k <> 11 OR i = 1001
$$;
CREATE TABLE few AS SELECT * FROM rows(1, 0);
ALTER TABLE few ALTER d TYPE numeric(12, 2), ALTER q TYPE bit(8), SET (autovacuum_enabled = off);
INSERT INTO few SELECT * FROM rows(1, 6000);
CREATE INDEX few_all ON few USING rtscan (id, g, t) INCLUDE (a, b, c, d, e, f, h, i, q, p);
VACUUM ANALYZE few;

--
-- One segment: rows come in the order of the heap
--
CREATE FUNCTION all_of_few(rest text, floats text DEFAULT '%s') RETURNS SETOF text LANGUAGE sql AS $$
	SELECT differs(format(query, rest))
	FROM (
		SELECT format('SELECT g, %s, count(%s) FROM few %%s', variances(c), c) FROM unnest('{a,b,c,d,e}'::text[]) c
		UNION ALL SELECT format('SELECT g, %s FROM few %%s', variances(c, floats)) FROM unnest('{f,h,i}'::text[]) c
		UNION ALL SELECT format('SELECT g, %s FROM few %%s', bits(c)) FROM unnest('{a,b,c,q}'::text[]) c
		UNION ALL SELECT format('SELECT g, %s FROM few %%s', regressions(y, x, floats))
			FROM (VALUES ('h', 'i'), ('i', 'h'), ('f', 'h'), ('a', 'i'), ('h', 'b')) c (y, x)
		UNION ALL SELECT format('SELECT g, %s, %s FROM few %%s', booleans('t'), booleans('a > 0'))
		UNION ALL SELECT format('SELECT g, sum(p), %s, %s, %s, %s FROM few %%s', any_values('g'), any_values('g::text'),
								format(floats, 'min(f)'), format(floats, 'max(h)'))) q (query)
$$;
SELECT all_of_few('GROUP BY g');
SELECT differs(format('SELECT g, %s FROM few GROUP BY g', regressions('h', 'h')));
SELECT all_of_few('WHERE g = 12 GROUP BY g');
SELECT all_of_few(format('WHERE g = %s GROUP BY g', g)) FROM generate_series(10, 17) g;
SELECT all_of_few('WHERE id = 1001 GROUP BY g');
SELECT all_of_few('WHERE g < 10 GROUP BY g HAVING count(*) > 5 AND stddev(b) > 10');
-- without groups
CREATE FUNCTION ungrouped(rest text, floats text DEFAULT '%s') RETURNS SETOF text LANGUAGE sql AS $$
	SELECT differs(replace(format(query, rest), 'SELECT g,', 'SELECT'))
	FROM (
		SELECT format('SELECT %s, count(%s) FROM few %%s', variances(c), c)
		FROM unnest('{a,b,c,d,e,b::int8,-c/2,d*d,d+b,abs(c),e*a}'::text[]) c
		UNION ALL SELECT format('SELECT %s FROM few %%s', variances(c, floats))
			FROM unnest('{f,h,i,b::float8,h/3,abs(i)}'::text[]) c
		UNION ALL SELECT format('SELECT %s FROM few %%s', bits(c)) FROM unnest('{a,b,c,q,b+1,~c}'::text[]) c
		UNION ALL SELECT format('SELECT %s FROM few %%s', regressions(y, x, floats))
			FROM (VALUES ('h', 'i'), ('f', 'h'), ('a', 'i'), ('h * 2', 'i'), ('1', 'b'), ('sqrt(i)', 'h')) c (y, x)
		UNION ALL SELECT format('SELECT %s, sum(p) FROM few %%s', booleans('t'))
		UNION ALL SELECT format('SELECT %s, %s FROM few %%s', booleans('a > 3'), any_values('1'))) q (query)
$$;
SELECT ungrouped('WHERE g < 10', :'rounded');
SELECT ungrouped('WHERE g < 11 AND id % 3 = 0', :'rounded');
SELECT ungrouped('WHERE id < 0');
SELECT ungrouped('WHERE id = 17');
SELECT ungrouped('WHERE id IN (17, 27)');
SELECT ungrouped('WHERE g = 12');
-- equal ones: whether a regression of floats has a slope hangs on the last digit
SELECT differs('SELECT ' || variances(c, 'round((%s)::numeric, 12)') || ' FROM few WHERE g = 10')
FROM unnest('{a,b,c,d,e,f,h,i}'::text[]) c;
SELECT differs('SELECT ' || variances('d') || ', ' || variances('e') || ' FROM few WHERE g = 13');
SELECT differs('SELECT ' || variances('e') || ', ' || variances('f') || ' FROM few WHERE g IN (14, 15)');
SELECT differs('SELECT ' || regressions('h', 'i') || ' FROM few WHERE g = ' || g)
FROM unnest('{13,14,15,16}'::int[]) g;
SELECT differs(format('SELECT %s, %s, %s FROM few WHERE g = 16', variances('c'), variances('b'), variances('a')));
-- digits of several scales, and those that do not fit into an integer
SELECT differs('SELECT ' || variances('e') || ' FROM few WHERE g = 17');
SELECT differs(format('SELECT g, %s FROM few GROUP BY g',
					  variances('CASE WHEN id % 2 = 0 THEN d ELSE 12345678901234567.890 END')));
SELECT differs(format('SELECT %s, %s FROM few',
					  variances('c * 0.0000000000000000000001'), variances('b * 0.001::numeric * d')));
-- FILTER
SELECT differs('
	SELECT g, var_pop(b) FILTER (WHERE a > 0), stddev(h) FILTER (WHERE t), corr(h, i) FILTER (WHERE id % 7 <> 0),
		bit_xor(c) FILTER (WHERE g < 5), regr_count(h, i) FILTER (WHERE a IS NULL), variance(e) FILTER (WHERE false)
	FROM few GROUP BY g');
SELECT differs('
	SELECT var_pop(b) FILTER (WHERE a > 0), (stddev(h) FILTER (WHERE t))::float4,
		(corr(h, i) FILTER (WHERE id % 7 <> 0))::float4, bit_xor(c) FILTER (WHERE g < 5),
		regr_count(h, i) FILTER (WHERE a IS NULL), regr_slope(h, i) FILTER (WHERE id < 0)
	FROM few WHERE g < 10');
-- booleans that are a key column, from bits; and sums beside
SELECT differs('SELECT bool_and(t), bool_or(t), every(t), count(t) FROM few WHERE g < 4');
SELECT differs('
	SELECT sum(b), avg(b), variance(b), sum(h)::float4, avg(h)::float4, variance(h)::float4, min(h), max(f), count(h)
	FROM few WHERE g < 10');
-- columns' values, and what is calculated of them, are added without a call a row
SET rtscan.enable_scan = off;
SELECT singly(format('SELECT %s FROM few WHERE g < 10', list), 'RtscanAggregate') FROM (VALUES
	(variances('b + 1')), (variances('c')), (variances('d * 2')), (variances('h * 2')), (regressions('h / 2', 'i')),
	(bits('b + 1')), (booleans('a > 3')), ('min(h * 2), max(f), sum(h * 2), avg(h * 2)'),
	(variances('log(id)')), (regressions('log(id)', 'h'))) lists (list);
RESET rtscan.enable_scan;
-- errors of floats
CREATE TABLE huge AS
	SELECT i AS id, i % 4 AS g, CASE i % 2 WHEN 0 THEN 1e308 ELSE -1e308 END AS h, 1e200 * i AS m, 3e38::float4 AS f,
		   1e154 * (i % 2) AS s
	FROM generate_series(1, 100) i;
CREATE INDEX ON huge USING rtscan (id, g) INCLUDE (h, m, f, s);
VACUUM ANALYZE huge;
SELECT differs(format('SELECT %s FROM huge %s', f, rest))
FROM unnest('{avg(h),variance(h),stddev_pop(m),sum(h),sum(f),avg(f),var_samp(s),min(h),max(m)}'::text[] ||
			'{"corr(h, m)","regr_sxy(m, s)","regr_syy(s, s)","regr_avgx(h, h)","regr_count(h, m)"}'::text[]) f,
	unnest('{"",WHERE g = 1,GROUP BY g,WHERE id < 3,WHERE id = 5,"WHERE id > 90 GROUP BY id"}'::text[]) rest;
SELECT differs('SELECT variance(DISTINCT b) FROM few');
-- the same aggregate of other arguments is not the same; ORDER BY and a user's aggregate are PostgreSQL's
CREATE AGGREGATE my_and (int) (sfunc = int4and, stype = int, sortop = <);
SELECT differs(q, 0) FROM (VALUES
	('SELECT corr(h, i ORDER BY h) FROM few'),
	('SELECT my_and(b) FROM few'),
	('SELECT range_agg(int4range(a, 200)) FROM few'),
	('SELECT range_intersect_agg(int4range(a, 200)) FROM few')) q (q);

--
-- Several segments, pending and dead rows, rows that are not all-visible: floats come in some order
--
DELETE FROM few WHERE id % 13 = 0;
VACUUM few;
INSERT INTO few SELECT * FROM rows(10001, 3000);
DELETE FROM few WHERE id % 17 = 0;
UPDATE few SET a = a + 1, b = b - 1, h = h + 0.5 WHERE id % 101 = 0 AND g < 10;
SELECT segments > 1 AS segments, pending > 0 AS pending FROM rtscan_stats('few_all');
-- (what errors of rounding make of constants is not alike)
SELECT all_of_few('WHERE g < 10 OR g BETWEEN 12 AND 15 GROUP BY g', :'rounded');
SELECT ungrouped('WHERE g < 10', :'rounded');
SELECT ungrouped('WHERE id > 12900', :'rounded');
SELECT differs(format('SELECT g, %s, %s FROM few GROUP BY g', variances(c), bits('c')))
FROM unnest('{c,e}'::text[]) c;

--
-- Spilled groups
--
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
ALTER TABLE few ALTER id SET (n_distinct = 1);
ANALYZE few;
CREATE FUNCTION spilled(query text) RETURNS boolean LANGUAGE plpgsql SET enable_seqscan = off
SET enable_bitmapscan = off SET rtscan.enable_scan = off SET max_parallel_workers_per_gather = 0 AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) ' || query LOOP
		IF line LIKE '%Spilled Groups: %' THEN
			RETURN true;
		END IF;
	END LOOP;
	RETURN false;
END
$$;
SELECT name, spilled(query), d
FROM (
	SELECT c, format('SELECT id %% 1500, %s FROM few GROUP BY 1', variances(c)) FROM unnest('{b,c,d,e}'::text[]) c
	UNION ALL SELECT c, format('SELECT id %% 1500, %s FROM few WHERE g < 10 GROUP BY 1', variances(c, :'rounded'))
		FROM unnest('{f,h}'::text[]) c
	UNION ALL SELECT 'h, i', format('SELECT id %% 1500, %s FROM few WHERE g < 10 GROUP BY 1',
									regressions('h', 'i', 'round((%s)::numeric, 3)'))
	UNION ALL SELECT 'bits', format('SELECT id %% 1500, %s, %s, %s, sum(p) FROM few GROUP BY 1',
									bits('c'), bits('q'), booleans('t'))
) q (name, query)
	LEFT JOIN LATERAL differs(query) d ON true;
RESET work_mem;
RESET hash_mem_multiplier;

SET client_min_messages = error;
DROP SCHEMA statistics CASCADE;
