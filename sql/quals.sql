-- Conditions on one to four columns, however they are put.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA quals;
SET search_path = quals, public;

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/differences.psql
\i :directory/sql/include/plans.psql
\set ECHO all
-- a: many values and NULLs; b: few; c: mostly one value; d: with the heap's order
CREATE FUNCTION rows(start int, n int) RETURNS TABLE (id int, a int, b int2, c float8, d int8) LANGUAGE sql AS $$
	SELECT i,
		   CASE WHEN x % 19 > 0 THEN x % 10007 END,
		   CASE WHEN x % 23 > 0 THEN x % 37 END,
		   CASE WHEN x % 29 = 0 THEN NULL WHEN x % 10 > 0 THEN 0 ELSE x % 8009 / 4.0 END,
		   i / 7
	FROM (SELECT i, abs(hashint4(i)) FROM generate_series(start, start + n - 1) i) r (i, x)
$$;
-- a few rows; without a sieve
CREATE TABLE few AS SELECT * FROM rows(1, 700);
CREATE INDEX few_abcd ON few USING rtscan (a, b, c, d);
-- more rows than a chunk; some are dead, some are pending
CREATE TABLE many AS SELECT * FROM rows(1, 66000);
CREATE INDEX many_abcd ON many USING rtscan (a, b, c, d);
DELETE FROM many WHERE id % 13 = 0;
VACUUM many;
INSERT INTO few SELECT * FROM rows(701, 100);
INSERT INTO many SELECT * FROM rows(66001, 300);
DELETE FROM few WHERE id % 13 = 0;
SELECT rtscan_check('few_abcd', true), rtscan_check('many_abcd', true);

--
-- All mixes of operators on three columns; nothing, one side, both sides of each
--
CREATE FUNCTION choices(col text, low text, high text) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT format(f, col, low, high)
	FROM unnest('{NULL,%1$s < %3$s,%1$s <= %3$s,%1$s = %2$s,%1$s >= %2$s,%1$s > %2$s,
		%1$s BETWEEN %2$s AND %3$s}'::text[]) f
$$;
CREATE FUNCTION mixes(a_low text, a_high text, b_low text, b_high text, c_low text, c_high text) RETURNS text[]
LANGUAGE sql AS $$
	SELECT array_agg(concat_ws(' AND ', a, b, c))
	FROM choices('a', a_low, a_high) a, choices('b', b_low, b_high) b, choices('c', c_low, c_high) c
	WHERE num_nonnulls(a, b, c) > 0
$$;
SELECT cardinality(mixes('1', '2', '1', '2', '1', '2'));
SELECT differences('few', 'few_abcd', mixes('3000', '8000', '7', '30', '-1', '0'));
SELECT differences('few', 'few_abcd', mixes('9000', '100000', '36', '36', '0', '500.5'));
SELECT differences('few', 'few_abcd', mixes('8000', '3000', '-5', '70', '1e9', '-1e9'));
-- in a sieve: one-sided and two-sided, and others in between
SELECT differences('many', 'many_abcd', (
	SELECT array_agg(m)
	FROM unnest(mixes('3000', '8000', '7', '30', '0', '700')) m
	WHERE m !~ '=' OR m ~ 'c <=.*b' OR m ~ 'a = .* b >='));
SELECT differences('many', 'many_abcd', (
	SELECT array_agg(format('d %s AND %s', d, m))
	FROM unnest(mixes('10', '9990', '3', '35', '1', '2000')) WITH ORDINALITY m (m, i),
		unnest('{< 9216,>= 9215,BETWEEN 9200 AND 9230,= 100,> 9400}'::text[]) WITH ORDINALITY d (d, j)
	WHERE (i * 5 + j) % 29 = 0));
-- narrow and wide, near the ends, around values that there are not
SELECT differences('many', 'many_abcd', (
	SELECT array_agg(format('a >= %s AND a < %s', x, x + width) || CASE WHEN x % 3 = 0 THEN ' AND b < 20' ELSE '' END)
	FROM unnest('{-5,0,38,5000,9999,10007}'::int[]) x, unnest('{0,1,2,40,3000,20000}'::int[]) width));

--
-- Arrays
--
CREATE FUNCTION array_conditions(col text, low text, high text) RETURNS text[] LANGUAGE sql AS $$
	SELECT array_agg(condition) FROM (
		SELECT format('%s %s ANY (%L)', col, o, array_literal)
		FROM unnest('{<,<=,=,>=,>}'::text[]) o,
			unnest(ARRAY[
				'{}', '{NULL}', format('{%s}', low), format('{%s,%s}', high, low),
				format('{%s,%s,NULL,%s}', low, low, high), format('{{%s,NULL},{%s,%s}}', low, high, low),
				format('[5:6]={%s,%s}', high, low)]) array_literal
		UNION ALL
		SELECT format('%s %s ANY (%L) AND %s %s ANY (%L)', col, o, format('{%s,%s}', low, high), col, p,
			format('{NULL,%s}', low))
		FROM unnest('{<,=,>=}'::text[]) o, unnest('{<=,=,>}'::text[]) p) c (condition)
$$;
SELECT differences('few', 'few_abcd', array_conditions('a', '3000', '8000') || array_conditions('b', '-1', '9')
	|| array_conditions('c', '0', '12.25') || array_conditions('d', '5', '99'));
SELECT differences('many', 'many_abcd', array_conditions('a', '3000', '8000'));
-- elements of another type, outside of the column's range; many elements; several columns
CREATE FUNCTION multiples(k int, n int) RETURNS text LANGUAGE sql AS $$
	SELECT array_agg(i * k)::text FROM generate_series(1, n) i
$$;
SELECT differences(tab, tab || '_abcd', ARRAY[
	'a = ANY (''{1,2,5000000000,-5000000000,5,NULL}''::int8[])', 'a < ANY (''{-5000000000,77}''::int8[])',
	'a > ANY (''{5000000000}''::int8[])',
	'b = ANY (''{1,2,70000}''::int4[])', 'b <= ANY (''{-70000,3}''::int8[])', 'd = ANY (''{1,2,3}''::int2[])',
	'c = ANY (''{0,0.25,0.1}''::float4[])',
	format('a = ANY (%L)', multiples(3, 900)), format('a = ANY (%L)', multiples(7, 1500)),
	format('a >= ANY (%L)', multiples(7, 1500)),
	format('a = ANY (%L) AND a = ANY (%L)', multiples(4, 300), multiples(6, 300)),
	format('d = ANY (%L)', multiples(64, 200)),
	'a IN (1, 2, 3, NULL)'])
	FROM unnest('{few,many}'::text[]) tab;
-- the planner may leave some of several arrays to a filter
SELECT differences(tab, tab || '_abcd', ARRAY[
	'a IN (5) AND b IN (1, 2)', format('d = ANY (%L) AND a < 5000', multiples(1, 9500)),
	format('a = ANY (%L) AND b = ANY (%L) AND d = ANY (%L)', multiples(2, 5000), multiples(5, 9), multiples(11, 1000)),
	format('a = ANY (%L) AND b = ANY (%L) AND c = 0', multiples(2, 5000), multiples(5, 9)),
	'a < ANY (''{5000,6000}'') AND b = ANY (''{1,2,3,NULL}'') AND c = ANY (''{0,1,12.25}'') AND d > ANY (''{10,20}'')'],
	false)
	FROM unnest('{few,many}'::text[]) tab;
-- in a sieve, where it does not
SET enable_seqscan = off;
PREPARE arrays AS
	SELECT count(*), sum(id)
	FROM many
	WHERE a = ANY (ARRAY(SELECT generate_series(1, 9999, 2)))
		AND b = ANY (ARRAY(SELECT generate_series(5, 45, 5)))
		AND c = ANY ('{0,1,12.25}');
SELECT explained('EXECUTE arrays');
EXECUTE arrays;
SELECT count(*), sum(id) FROM many WHERE a % 2 = 1 AND a < 10000 AND b % 5 = 0 AND b > 0 AND c IN (0, 1, 12.25);
RESET enable_seqscan;

--
-- NULLs, contradictions, repetitions
--
SELECT differences(tab, tab || '_abcd', '{a IS NULL,a IS NOT NULL,a IS NULL AND b IS NULL,
	a IS NULL AND b IS NOT NULL AND c > 1,a IS NULL AND c IS NULL AND d < 5000,
	a IS NULL AND a IS NOT NULL,a IS NULL AND a = 5,a IS NOT NULL AND a < 50,a < 50 AND a IS NULL AND b = 3,d IS NULL,
	d IS NOT NULL,d IS NOT NULL AND b IS NULL,
	a > 50 AND a < 40,a = 40 AND a = ANY (ARRAY[41]),a >= 40 AND a = ANY (ARRAY[39]),a > 40 AND a < 41,
	a >= 40 AND a <= 40,a > 40 AND a <= 40,b > 36,b < 0,b <= -1 AND a < 5000,c > 0 AND c < 0.25,
	a < 60 AND a < 50 AND a <= 55 AND a < 70::int8,a > 60 AND a >= 61 AND a > 50,
	a = 77 AND a < 78 AND a > 76 AND a >= 77 AND a <= 77,
	a < 500 AND a < 500 AND b < 30 AND b < 30,a < 5000 AND b >= 0 AND c >= -1 AND d >= 0,a >= 0 AND b >= 0,d >= 0,d < 0,
	d >= 0 AND d < 100000 AND a = 3}')
	FROM unnest('{few,many}'::text[]) tab;
-- more conditions than an index may have columns, and more than the planner looks up
SELECT differences('few', 'few_abcd', (
	SELECT ARRAY[
		string_agg(format('a < %s', 5000 + i), ' AND '), string_agg(format('a >= %s AND b <= %s', i, 40 + i), ' AND ')]
	FROM generate_series(1, 70) i));

--
-- Parameters: custom and generic plans, NULL for any of them
--
-- Runs a prepared condition with arguments, some sets of them; compares with the condition where they have been put in.
CREATE FUNCTION prepared_differences(tab text, mode text, types text, condition text, VARIADIC arguments text[])
RETURNS SETOF text LANGUAGE plpgsql
SET rtscan.enable_aggregate = off SET jit = off SET enable_seqscan = on SET enable_bitmapscan = on
SET enable_indexscan = on SET rtscan.enable_scan = on AS $$
DECLARE
	query text;
	kind text;
	argument text;
	line text;
	plan text;
	found text;
	expected text;
BEGIN
	PERFORM set_config('plan_cache_mode', mode, true);
	FOREACH kind IN ARRAY '{bitmap,heap,columns}'::text[] LOOP
		query := format('SELECT (count(*), sum(%s))::text FROM %s WHERE ',
			CASE kind WHEN 'columns' THEN 'a * 7::int8 + b + d' ELSE 'hashtid(' || tab || '.ctid)' END, tab);
		EXECUTE format('PREPARE p (%s) AS %s', types, query || condition);
		FOREACH argument IN ARRAY arguments LOOP
			PERFORM allow_scan(kind);
			EXECUTE format('EXECUTE p (%s)', argument) INTO found;
			PERFORM allow_scan('sequential');
			EXECUTE format('WITH arguments (%s) AS (VALUES (%s)) %s',
				(SELECT string_agg('a' || i, ', ') FROM generate_series(1, cardinality(string_to_array(types, ','))) i),
				argument,
				replace(query, ' WHERE ', ', arguments WHERE ')
					|| regexp_replace(condition, '\$(\d)', 'arguments.a\1', 'g'))
				INTO expected;
			IF found <> expected THEN
				RETURN NEXT format('%s (%s), %s, %s: %s instead of %s', condition, argument, mode, kind, found,
					expected);
			END IF;
		END LOOP;
		IF mode = 'force_generic_plan' THEN
			plan := '';
			FOR line IN EXECUTE format('EXPLAIN (COSTS OFF) EXECUTE p (%s)', argument) LOOP
				plan := plan || line || E'\n';
			END LOOP;
			IF plan !~ (scan_node(kind, tab || '_abcd') || '[^\n]*\n *Index Cond: .*\$1') OR plan ~ 'Filter: ' THEN
				RETURN NEXT plan;
			END IF;
		END IF;
		DEALLOCATE p;
	END LOOP;
END
$$;
SELECT p
FROM unnest('{few,many}'::text[]) tab, unnest('{force_custom_plan,force_generic_plan,auto}'::text[]) mode, LATERAL (
	SELECT prepared_differences(tab, mode, 'int4', 'a < $1', '5000', 'NULL::int4', '-5', '100000', '9', '10006',
		'10007')
	UNION ALL
	SELECT prepared_differences(tab, mode, 'int4,int4,int2', 'a >= $1 AND a < $2 AND b = $3', '100, 9000, 5::int2',
		'9000, 100, 5::int2', 'NULL::int4, 100, 5::int2', '100, 9000, NULL::int2', '0, 10007, 99::int2')
	UNION ALL
	SELECT prepared_differences(tab, mode, 'int4[],float8', 'a = ANY ($1) AND c <= $2',
		'''{1,2,3,NULL,4000}''::int4[], 0::float8', '''{}''::int4[], 0::float8', 'NULL::int4[], 0::float8',
		'''{NULL}''::int4[], 0::float8', '''{1,2}''::int4[], NULL::float8')
	UNION ALL
	SELECT prepared_differences(tab, mode, 'int8[],int8', 'a > ANY ($1) AND d <= $2',
		'''{9000,NULL,5000000000}''::int8[], 9223372036854775807', '''{-5000000000}''::int8[], 70::int8',
		'''{{1,2},{3,9999}}''::int8[], 50::int8')
	UNION ALL
	SELECT prepared_differences(tab, mode, 'int4', 'a IS NULL AND b > $1', '5', 'NULL::int4', '-100000')
	UNION ALL
	SELECT prepared_differences(tab, mode, 'int4,int4', 'a < $1 + $2 AND b >= abs($1)', '5, 4000', '-5, 5000',
		'NULL::int4, 5', '5, NULL::int4')
	) p (p);

--
-- The inner side of a nested loop: scanned again and again, with values of the outer row
--
CREATE TABLE bounds (id int, low int, high int8, bs int2[], c float8);
INSERT INTO bounds SELECT i, x % 10007, x % 10007 + x % 600, ARRAY[x % 37, NULL, x % 5], x % 8009 / 4.0
FROM (SELECT i, abs(hashint4(-i)) FROM generate_series(1, 40) i) r (i, x);
INSERT INTO bounds VALUES
	(41, NULL, 5, '{1}', 0), (42, 5, NULL, '{1}', 0), (43, 5, 500, NULL, NULL), (44, 5, 500, '{}', 'NaN'),
	(45, 500, 5, '{NULL}', 'Infinity'), (46, 0, 10007, '{0,1,2}', 0);
ANALYZE bounds;
ANALYZE few;
ANALYZE many;
CREATE FUNCTION join_differences(tab text, condition text) RETURNS SETOF text LANGUAGE plpgsql
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_material = off SET enable_memoize = off SET jit = off
SET max_parallel_workers_per_gather = 0 SET rtscan.enable_star = off
SET enable_seqscan = on SET enable_bitmapscan = on SET enable_indexscan = on SET rtscan.enable_scan = on AS $$
DECLARE
	query text;
	kind text;
	found text;
	expected text;
	line text;
	plan text;
BEGIN
	FOREACH kind IN ARRAY '{bitmap,heap,columns}'::text[] LOOP
		CONTINUE WHEN kind = 'columns' AND condition ~ 'LATERAL';
		query := format('SELECT (count(*), sum(%s * o.id::int8))::text FROM bounds o %s',
			CASE kind WHEN 'columns' THEN format('(%1$s.a * 7::int8 + %1$s.b + %1$s.d)', tab)
				ELSE format('hashtid(%s.ctid)', tab) END,
			replace(condition, 'TABLE', tab));
		PERFORM allow_scan(kind);
		plan := '';
		FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
			plan := plan || line || E'\n';
		END LOOP;
		IF plan !~ (scan_node(kind, tab || '_abcd') || '[^\n]*\n *Index Cond: .*o\.') THEN
			RETURN NEXT plan;
		END IF;
		EXECUTE query INTO found;
		PERFORM allow_scan('sequential');
		EXECUTE query INTO expected;
		IF found <> expected THEN
			RETURN NEXT format('%s, %s: %s instead of %s', condition, kind, found, expected);
		END IF;
	END LOOP;
END
$$;
SELECT j FROM unnest('{few,many}'::text[]) tab, LATERAL (
	SELECT join_differences(tab, 'JOIN TABLE ON TABLE.a = o.low')
	UNION ALL SELECT join_differences(tab, 'LEFT JOIN TABLE ON TABLE.a >= o.low AND TABLE.a < o.high')
	UNION ALL SELECT join_differences(tab, 'JOIN TABLE ON TABLE.a BETWEEN o.low AND o.high AND TABLE.b = ANY (o.bs)')
	UNION ALL SELECT join_differences(tab, 'LEFT JOIN TABLE ON TABLE.b < ANY (o.bs) AND TABLE.c >= o.c AND TABLE.d > 3')
	UNION ALL SELECT join_differences(tab, 'LEFT JOIN TABLE ON TABLE.a IS NULL AND TABLE.d = o.id')
	UNION ALL
	SELECT join_differences(tab, 'LEFT JOIN LATERAL (
		SELECT x.ctid
		FROM TABLE x
		WHERE x.a > o.low
			AND x.b = (SELECT max(id) - 20 FROM bounds)
			AND x.d >= (SELECT min(id) FROM bounds)) TABLE ON true')
	) j (j);

--
-- Several indexes
--
CREATE INDEX many_id ON many USING rtscan (id);
CREATE INDEX many_a ON many USING rtscan (a);
CREATE INDEX many_hundreds ON many USING btree ((id % 100));
CREATE FUNCTION plan_differences(expected_plan text, condition text) RETURNS SETOF text LANGUAGE plpgsql SET jit = off
SET max_parallel_workers_per_gather = 0 AS $$
DECLARE
	query text := 'SELECT (count(*), sum(hashtid(ctid)))::text FROM many WHERE ' || condition;
	found text;
	expected text;
	line text;
	plan text := '';
BEGIN
	SET LOCAL enable_seqscan = off;
	SET LOCAL enable_indexscan = off;
	SET LOCAL rtscan.enable_scan = off;
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		plan := plan || line || E'\n';
	END LOOP;
	IF plan !~ expected_plan THEN
		RETURN NEXT plan;
	END IF;
	EXECUTE query INTO found;
	SET LOCAL enable_bitmapscan = off;
	SET LOCAL enable_seqscan = on;
	EXECUTE query INTO expected;
	SET LOCAL enable_bitmapscan = on;
	IF found <> expected THEN
		RETURN NEXT format('%s: %s instead of %s', condition, found, expected);
	END IF;
END
$$;
SELECT plan_differences('BitmapOr.*many_a.*many_a', 'a < 30 OR a > 9990');
SELECT plan_differences('BitmapOr.*many_a.*many_id', 'a < 30 OR id BETWEEN 64500 AND 64520');
SELECT plan_differences('BitmapOr.*many_id.*many_hundreds', 'id < 300 OR id % 100 = 7');
SELECT plan_differences('BitmapOr.*many_a', 'a IS NULL AND d < 50 OR c = 12.25 OR id = 7 OR id = 66100');
SELECT plan_differences('BitmapAnd.*many_id|BitmapAnd.*many_a', 'a < 500 AND id < 3000');
SELECT plan_differences('BitmapAnd.*BitmapOr|BitmapOr.*BitmapAnd', '(a < 200 OR a > 9800) AND id > 63000');

--
-- Bitmaps that do not fit in memory, and that several processes read
--
CREATE TABLE wide AS SELECT r.*, repeat('x', 500) AS filler FROM rows(1, 30000) r;
CREATE INDEX wide_abcd ON wide USING rtscan (a, b, c, d);
SET work_mem = '64kB';
CREATE FUNCTION lossy(condition text) RETURNS bool LANGUAGE plpgsql
SET enable_seqscan = off SET rtscan.enable_scan = off AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE '
		EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT ctid FROM wide WHERE ' || condition LOOP
		IF line ~ 'lossy=[1-9]' THEN
			RETURN true;
		END IF;
	END LOOP;
	RETURN false;
END
$$;
SELECT lossy('a < 5000');
SELECT differences('wide', 'wide_abcd', ARRAY[
	'a < 5000', 'a >= 3000 AND b < 20', 'b = ANY (''{1,2,3,NULL}'')', 'a IS NULL OR b IS NULL', 'd > 5 AND c = 0',
	'c IS NULL']);
RESET work_mem;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET min_parallel_index_scan_size = 0;
SET enable_seqscan = off;
SET rtscan.enable_scan = off;
SELECT explained('SELECT count(*), sum(id) FROM wide WHERE a BETWEEN 1000 AND 5000 AND b < 20');
SELECT count(*), sum(id) FROM wide WHERE a BETWEEN 1000 AND 5000 AND b < 20;
SET enable_bitmapscan = off;
SET enable_seqscan = on;
SET max_parallel_workers_per_gather = 0;
SELECT count(*), sum(id) FROM wide WHERE a BETWEEN 1000 AND 5000 AND b < 20;
RESET enable_bitmapscan;
RESET enable_seqscan;
RESET rtscan.enable_scan;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET min_parallel_index_scan_size;
RESET max_parallel_workers_per_gather;

--
-- Other sieves
--
DROP INDEX many_abcd, many_a, many_hundreds, many_id;
CREATE FUNCTION sieve_differences(options text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE INDEX many_abcd ON many USING rtscan (a, b, c, d) WITH (%s)', options);
	PERFORM rtscan_check('many_abcd', true);
	RETURN QUERY
		SELECT differences('many', 'many_abcd', (
			SELECT array_agg(m)
			FROM unnest(mixes('3000', '8000', '7', '30', '0', '700')) m
			WHERE m !~ '=' AND m ~ '[<>].*[<>]')
			|| ARRAY[
				'a < 5003', 'a >= 17 AND a < 9000', 'a IS NULL', 'a IS NOT NULL AND b IS NULL', 'b = 5', 'c = 0',
				'c > 0', 'a = ANY (''{1,2,4000,4001,9999}'')', 'b = ANY (''{1,2,5,6,36}'')', 'd > 9400']);
	DROP INDEX many_abcd;
END
$$;
SELECT options, sieve_differences(options)
FROM unnest('{"sieve_bins = 2","sieve_bins = 2, sieve_components = 1","sieve_bins = 37, sieve_components = 1",
	"sieve_bins = 38","sieve_bins = 1024, sieve_components = 1","sieve_bins = 1000"}'::text[]) options;

SET client_min_messages = error;
DROP SCHEMA quals CASCADE;
