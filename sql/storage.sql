-- How INCLUDE columns are stored: in frames of reference, as codes, or as they are; and that each value comes back to
-- the bit.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA storage;
SET search_path = storage, public;
SET max_parallel_workers_per_gather = 0;
-- RtscanScan, without the table, reads the fewest pages
SET seq_page_cost = 1000;
SET random_page_cost = 1000;

CREATE FUNCTION hash(i int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT abs(hashint4($1))';
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');

CREATE TABLE t AS SELECT i AS id,
	-- integers
	42 AS same, CASE WHEN i % 10 > 0 THEN 42 END AS same_null, NULL::int AS nothing,
	i % 2 AS bit1, i % 4 AS bit2, i % 16 AS bit4, 1000000 + i % 100 AS bit8, hash(i) % 10000 - 5000 AS bit16,
		hash(i) % 10000000 AS bit24, hash(i) - 2147483648 * (i % 2) AS bit32,
	hash(i)::bigint * 65536 + i AS bit48, (hash(i)::bigint << 24) + i AS bit56,
		((hash(i)::bigint << 32) + hash(-i)) * (1 - i % 2 * 2) AS bit64,
	CASE WHEN i % 7 > 0 THEN hash(i) % 255 END AS bit8_null, CASE WHEN i % 7 > 0 THEN hash(i) % 256 END AS bit9_null,
	CASE i % 10000 WHEN 0 THEN -9223372036854775808 WHEN 1 THEN 9223372036854775807
		ELSE hash(i)::bigint * hash(-i) END AS extreme,
	CASE i % 10000 WHEN 0 THEN -9223372036854775808 WHEN 1 THEN 9223372036854775807 WHEN 2 THEN NULL
		ELSE hash(i)::bigint * hash(-i) END AS extreme_null,
	CASE i % 3 WHEN 0 THEN -9223372036854775808 WHEN 1 THEN 9223372036854775807 END AS extreme_codes,
	CASE WHEN i < 64600 THEN i % 5 ELSE i END AS by_chunk,
	-- other types passed by value
	i % 3 = 0 AS b, CASE WHEN i % 3 > 0 THEN i % 2 = 0 END AS b_null, chr(1 + i % 127)::"char" AS ch,
		(i % 30000)::smallint AS small,
	CASE WHEN i % 5000 = 0 THEN '-infinity' WHEN i % 5000 = 1 THEN 'infinity'
		ELSE '2000-01-01'::date + i % 1000 END AS d,
	'2020-01-01'::timestamptz + i * interval '1 s' AS tz, '2020-01-01'::timestamp + hash(i) * interval '1 us' AS ts,
		'00:00'::time + i * interval '1 us' AS tm,
	(4294967295 - i % 100)::oid AS o, (4294967295 - hash(i))::oid AS o_many,
		'0/0'::pg_lsn + hash(i) + 17000000000000000000 AS lsn, (ARRAY['sad', 'ok', 'happy'])[1 + i % 3]::mood AS m,
	(i % 100)::text::money AS cash, (CASE WHEN i % 2 = 0 THEN '0' ELSE '18446744073709551615' END)::xid8 AS x,
	-- floats: -0, NaNs, infinite, many
	(ARRAY['0', '-0', 'NaN', 'Infinity', '-Infinity', '1.5', '-1e300', '5e-324'])[1 + i % 8]::float8 AS f8,
		(ARRAY['0', '-0', 'NaN', 'Infinity', '-Infinity', '1.5', '-1e30', '1e-45'])[1 + i % 8]::float4 AS f4,
	CASE WHEN i % 1000 = 0 THEN '-0' WHEN i % 1000 = 1 THEN 'NaN' WHEN i % 1000 = 2 THEN NULL
		ELSE hash(i)::float8 / hash(-i) END AS f8_many, hash(i)::float4 AS f4_many,
	-- numerics: of one scale, of several, NaN
	(hash(i) % 100000 / 100.0)::numeric(12, 2) AS price, CASE WHEN i % 4 > 0 THEN (i % 10 - 5)::numeric(12, 2)
		END AS price_few,
	(ARRAY['1', '1.0', '1.00', 'NaN', '-0.00', '99999999999999999999.99'])[1 + i % 6]::numeric AS n,
		CASE WHEN i % 9 > 0 THEN round(hash(i) / 1000.0, i % 4) END AS n_many,
	-- values of any width
	'name ' || i % 7 AS few, CASE WHEN i % 5 > 0 THEN 'k' || i % 1000 END AS few_null, 'text ' || hash(i) AS many,
		repeat('wide ' || i % 10, 300) AS wide,
	(ARRAY['a', 'a ', 'a  ', ''])[1 + i % 4]::bpchar AS bp, NULL::text AS no_text, ''::text AS empty,
	md5((i % 50)::text)::uuid AS u_few, md5(i::text)::uuid AS u,
		CASE WHEN i % 5 > 0 THEN md5(i::text)::uuid END AS u_null, ('n' || i % 9)::name AS nm,
		(i % 30) * interval '1 day' AS iv,
	ARRAY[i % 3, i % 2] AS arr, ('10.0.0.' || i % 200)::inet AS ip
FROM generate_series(1, 66000) i;

VACUUM ANALYZE t;

-- Bits a row that a column takes, and whether RtscanScan gives its values as they are in the table, to the bit.
CREATE FUNCTION try(source text, name text, OUT bits numeric, OUT plan boolean, OUT same boolean) LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	SET LOCAL enable_seqscan = off;
	SET LOCAL enable_bitmapscan = off;
	EXECUTE format('CREATE INDEX try ON %s USING rtscan (id) INCLUDE (%I)', source, name);
	EXECUTE format('SELECT round(include_bytes * 8.0 / rows, 1) FROM rtscan_stats(''try'')') INTO bits;
	PERFORM rtscan_check('try', true);
	plan := false;
	FOR line IN EXECUTE format('EXPLAIN (COSTS OFF) SELECT id, %I AS v FROM %s WHERE id > 0', name, source) LOOP
		plan := plan OR line LIKE '%(RtscanScan)%';
	END LOOP;
	EXECUTE format('CREATE TEMP TABLE found AS SELECT id, %I AS v FROM %s WHERE id > 0', name, source);
	DROP INDEX try;
	SET LOCAL enable_seqscan = on;
	EXECUTE format('SELECT count(*) = (SELECT count(*) FROM %s) FROM found JOIN %1$s t USING (id)
		WHERE record_image_eq(ROW(found.v), ROW(t.%I))', source, name) INTO same;
	DROP TABLE found;
END $$;
SELECT attname, tried.* FROM pg_attribute, try('t', attname) AS tried WHERE attrelid = 't'::regclass AND attnum > 1
	ORDER BY attnum;

-- The greatest number of codes, one more, and the code of NULL.
CREATE TABLE codes AS SELECT i AS id, (i % 65536)::bigint * 99991000000007 AS most,
	(i % 65537)::bigint * 99991000000007 AS too_many,
	CASE WHEN i % 65536 > 0 THEN (i % 65536)::bigint * 99991000000007 END AS most_null,
		CASE WHEN i % 65537 > 0 THEN (i % 65537)::bigint * 99991000000007 END AS too_many_null,
	'text ' || i % 65536 AS text, repeat('x', 300) AS pad
FROM generate_series(1, 150000) i;
VACUUM ANALYZE codes;
SELECT attname, tried.* FROM pg_attribute, try('codes', attname) AS tried WHERE attrelid = 'codes'::regclass
	AND attnum > 1 AND attname <> 'pad' ORDER BY attnum;
-- a dictionary that does not fit is not read as a whole
SET work_mem = '64kB';
SELECT attname, tried.* FROM pg_attribute, try('codes', attname) AS tried WHERE attrelid = 'codes'::regclass
	AND attname IN ('most', 'text') ORDER BY attnum;
RESET work_mem;

-- Edges of chunks.
SELECT format('CREATE TABLE edge_%s AS SELECT i AS id, CASE WHEN i %% 3 > 0 THEN i END AS v,
	CASE WHEN i %% 1000 > 0 THEN ''g'' || i %% 100 END AS g, i + 0.5 AS n,
	repeat(''x'', 300) AS pad FROM generate_series(1, %1$s) i', n) FROM
	unnest(ARRAY[1, 2, 63, 64, 65, 64511, 64512, 64513]) n \gexec
VACUUM ANALYZE;
SELECT n, name, tried.* FROM unnest(ARRAY[1, 2, 63, 64, 65, 64511, 64512, 64513]) n,
	unnest(ARRAY['v', 'g', 'n']) name, try('edge_' || n, name) AS tried;

-- Rows that come one after another: pending, flushed, merged; segments of different storage side by side.
CREATE TABLE changing (id int, k int, v int, g text, n numeric, f float8);
CREATE INDEX changing_idx ON changing USING rtscan (k) INCLUDE (id, v, g, n, f);
CREATE FUNCTION differences(OUT node text, OUT differences bigint) LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	PERFORM rtscan_check('changing_idx', true);
	SET LOCAL enable_seqscan = off;
	SET LOCAL enable_bitmapscan = off;
	EXECUTE 'EXPLAIN (FORMAT JSON) SELECT id, k, v, g, n, f FROM changing WHERE k >= 0' INTO plan;
	node := plan #>> '{0,Plan,Custom Plan Provider}';
	CREATE TEMP TABLE by_index AS SELECT id, k, v, g, n, f FROM changing WHERE k >= 0;
	SET LOCAL enable_seqscan = on;
	SET LOCAL rtscan.enable_scan = off;
	SELECT count(*) INTO differences FROM by_index i FULL JOIN changing c ON c.id = i.id AND record_image_eq(ROW(i.*),
		ROW(c.*)) WHERE c.id IS NULL OR i.id IS NULL;
	DROP TABLE by_index;
END $$;
INSERT INTO changing SELECT i, hash(i) % 1000, i % 100, 'few ' || i % 3, i % 50 / 10.0, CASE WHEN i % 2 = 0 THEN '-0'
	ELSE '0' END::float8 FROM generate_series(1, 20000) i;
SELECT rtscan_merge('changing_idx') > 0 AS merged;
INSERT INTO changing SELECT i, hash(i) % 1000, hash(i), md5(i::text), CASE WHEN i % 9 > 0 THEN round(i / 7.0, i % 3)
	ELSE 'NaN' END, 1.0 / i FROM generate_series(20001, 50000) i;
SELECT rtscan_merge('changing_idx') > 0 AS merged;
INSERT INTO changing SELECT i, hash(i) % 1000, NULL, NULL, NULL, NULL FROM generate_series(50001, 53000) i;
VACUUM changing;
SELECT * FROM differences();
DELETE FROM changing WHERE id % 3 = 0;
INSERT INTO changing SELECT i, hash(i) % 1000, -i, repeat('x', i % 2000), i, 'NaN' FROM generate_series(53001, 54000) i;
VACUUM changing;
SELECT rtscan_merge('changing_idx') > 0 AS merged;
SELECT * FROM differences();
INSERT INTO changing SELECT i, 5, i, 'pending', 1.50, '-0' FROM generate_series(54001, 54010) i;
SELECT * FROM differences();

-- Conditions on INCLUDE columns: rows of which a chunk's bounds do not decide are asked.
CREATE TABLE bounded AS SELECT i % 7 AS g, i / 10 AS v, CASE WHEN i % 3 > 0 THEN i::bigint END AS n,
	CASE WHEN i > 60000 THEN i END AS late, i % 50 AS few, (i + 10000)::oid AS o, i / 8::float8 AS f
FROM generate_series(-10000, 139999) i;
CREATE INDEX bounded_idx ON bounded USING rtscan (g) INCLUDE (v, n, late, few, o, f);
VACUUM ANALYZE bounded;
CREATE FUNCTION ask(condition text, tab text, OUT asked bigint, OUT count bigint, OUT same boolean)
LANGUAGE plpgsql AS $$
DECLARE
	query text := format('SELECT count(*) FROM %I WHERE %s', tab, condition);
	by_heap bigint;
BEGIN
	SET LOCAL enable_seqscan = off;
	SET LOCAL enable_bitmapscan = off;
	SET LOCAL rtscan.executor = cpu;
	SELECT -sum(refined_rows) INTO asked FROM pg_stat_rtscan;
	EXECUTE query INTO count;
	SELECT asked + sum(refined_rows) INTO asked FROM pg_stat_rtscan;
	SET LOCAL enable_seqscan = on;
	SET LOCAL rtscan.enable_scan = off;
	SET LOCAL rtscan.enable_aggregate = off;
	EXECUTE query INTO by_heap;
	same := count = by_heap;
	RESET rtscan.enable_scan;
	RESET rtscan.enable_aggregate;
END $$;
SELECT condition, ask.* FROM unnest(ARRAY['v < 100', 'v >= 100', 'v < -1000', 'v <= 13999', 'v = 7000', 'v <> 7000',
	'v <> 1000000', 'v IN (5, 13000)', 'v NOT IN (5, 13000)', 'v < 100 OR v > 13000', 'NOT (v BETWEEN 100 AND 7000)',
	'n > 54511::int8', 'n <= 54511::int8', 'n <> 5::int8', 'n IS DISTINCT FROM 5::int8', 'n IS NULL', 'n > 54511',
	'n IS NOT DISTINCT FROM 100000::int8', 'n > ALL (ARRAY[5, 130000]::int8[])',
	'late > 0', 'late < 0', 'late IS DISTINCT FROM 70000', 'late IS NULL',
	'few < 50', 'few > 49', 'few = 7', 'o < 100', 'o::int4 < 100', 'f < 0', 'v < 100 AND n > 54511::int8',
	'v < 9223372036854775807', 'g = 3 AND v > 12000']) condition, ask(condition, 'bounded');
-- In no order: integers of all widths, and what is compared as integers, by codes, or by the values themselves.
CREATE TABLE unordered AS SELECT i % 1000 AS g, (hash(i) % 100)::int2 AS i2, hash(i)::int4 AS i4,
	CASE WHEN i % 4 > 0 THEN hash(i)::int8 * hash(-i) END AS i8, (hash(i) % 100000) / 100.0 AS q,
	round((hash(i) % 900) / 7.0, i % 3) AS scales,
	(hash(i) % 2000 - 1000) / 8::float8 * CASE i % 9 WHEN 0 THEN -1 ELSE 1 END AS f,
	CASE hash(i) % 5 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' WHEN 2 THEN 0 ELSE 2.5 END::float4 AS nan,
	CASE WHEN i % 50 > 0 THEN 'text ' || hash(i) % 1000 END AS t,
	(ARRAY['sad', 'ok', 'happy'])[hash(i) % 3 + 1]::mood AS m,
	CASE hash(i) % 20 WHEN 0 THEN (-9223372036854775808)::int8 WHEN 1 THEN 9223372036854775807 WHEN 2 THEN NULL
		ELSE hash(i)::int8 * i END AS ends,
	hash(i) % 3 = 0 AS b, (hash(i) % 600)::oid AS o, pg_lsn '0/0' + hash(i) % 600 AS l,
	date '2020-01-01' + (hash(i) % 500)::int AS d,
	CASE hash(i) % 30 WHEN 0 THEN date '-infinity' WHEN 1 THEN '9999-12-31'
		WHEN 2 THEN '4713-01-01 BC' WHEN 3 THEN '5874897-12-31'
		ELSE date '2020-01-01' + (hash(i) % 500)::int END AS far,
	timestamp '2021-03-28' + hash(i) % 600 * interval '1 minute' AS ts
FROM generate_series(1, 70000) i;
CREATE INDEX unordered_idx ON unordered USING rtscan (g) INCLUDE (i2, i4, i8, q, scales, f, nan, t, m, d, ts, ends,
	b, o, l, far);
VACUUM ANALYZE unordered;
SET timezone = 'Europe/Berlin';
SELECT condition, ask.same FROM unnest(ARRAY['i2 IN (3, 50, 99)', 'i2 NOT IN (0, 1, 2, 50, 99, 1000)',
	'i2 < 5::int8', 'i2 IS NULL',
	'i2 > ALL (ARRAY[5, 70]::int2[])', 'i2 = ALL (ARRAY[5, 6]::int2[])', 'i2 <= ANY (ARRAY[5, 70]::int2[])',
	'g < 10 AND i2 IN (3, 50, 99)',
	'i4 < 100000', 'i4 = ANY (ARRAY(SELECT i4 FROM unordered WHERE g < 5))',
	'i4 <> ALL (ARRAY(SELECT i4 FROM unordered WHERE g < 5))',
	'i4 = ANY (ARRAY(SELECT i4::int8 FROM unordered WHERE g < 3))',
	'g = 5 AND i4 = ANY (ARRAY(SELECT i4 FROM unordered WHERE g < 5))',
	'i4 BETWEEN -5 AND 1000000000', 'i4::oid < 3000000000', 'i8 IS NULL', 'i8 IS NOT NULL', 'i8 > 1000000000000',
	'i8 = ANY (ARRAY(SELECT i8 FROM unordered WHERE g < 5))', 'i8 IS DISTINCT FROM (SELECT min(i8) FROM unordered)',
	'i8 <> ALL (ARRAY(SELECT i8 FROM unordered WHERE g = 999))', 'i8 = 0 OR i8 = 9223372036854775807',
	'i8 >= (-9223372036854775808)',
	'ends = (-9223372036854775808)::int8', 'ends <= (-9223372036854775808)::int8', 'ends <> 9223372036854775807',
	'ends IN ((-9223372036854775808)::int8, 9223372036854775807, 5)', 'ends > 0::int8',
	'ends NOT IN ((-9223372036854775808)::int8, 7)',
	'ends IS DISTINCT FROM 9223372036854775807', 'ends < (-9223372036854775808)::int8',
	'q < 50', 'q >= 500.005', 'q = 5.1', 'q IN (5.1, 7, 8.125, 999.99)', 'q <> 5.10', 'q > ''NaN''',
	'q < ''Infinity''',
	'scales < 5.5', 'scales IN (1, 2.0, 55.14)', 'f < 0', 'f <= 0', 'f = 0', 'f IN (-0.0, 2.5)', 'f > ''NaN''',
	'f < ''NaN''', 'f <> 0',
	'nan = ''NaN''', 'nan > 0', 'nan IN (0, 3)', 'nan <= 2.5', 't < ''text 5''', 't IN (''text 3'', ''text 77'',
	''none'')', 't <> ''text 3''',
	't IS NULL', 't IS DISTINCT FROM ''text 3''', 'g = 7 AND t >= ''text 5''', 'm = ''ok''', 'm > ''sad''',
	'm IN (''ok'', ''happy'') AND g < 3',
	'b IN (true, false)', 'b NOT IN (true, false, true)', 'b <= ALL (ARRAY[true, false])', 'o IN (77, 5, 599, 5, 0)',
	'o > ALL (ARRAY[77, 5, 59]::oid[])', 'o < ANY (ARRAY[77, 5, 59]::oid[])',
	'l IN (''0/4D'', ''0/5'', ''0/9D1'', ''0/0'')', 'l NOT IN (''0/4D'', ''0/5'', ''0/9D1'', ''0/0'')',
	'f IN (77.125, -0.0, -100, 2.5)', 'f <= ALL (ARRAY[30, 7, 110]::float8[])',
	'f >= ANY (ARRAY[30, 7, 110]::float8[])', 'nan NOT IN (3, 0, 2.5)',
	'far >= timestamp ''2020-03-01 02:36''', 'far < timestamp ''2020-03-01''', 'far = timestamp ''infinity''',
	'far > timestamp ''-infinity''', 'far IN (date ''infinity'', date ''2020-03-01'', date ''-infinity'')',
	'd < date ''2020-03-01''', 'd = timestamp ''2020-03-01''', 'd < timestamptz ''2020-03-29 01:30+00''',
	'ts < timestamptz ''2021-03-28 01:30+00''',
	'ts = timestamptz ''2021-03-28 01:30+00''']) condition, ask(condition, 'unordered')
WHERE NOT same OR condition ~ '^m|^q|^ends';
RESET timezone;
