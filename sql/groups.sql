-- Aggregates of values of rows, with GROUP BY and without, by the node RtscanAggregate: the same as PostgreSQL's own,
-- to the last digit.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA groups;
SET search_path = groups, public;
SET rtscan.pending_list_limit = '64kB';
SET rtscan.merge_worker = off;

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/outcomes.psql
\i :directory/sql/include/plans.psql
\set ECHO all
CREATE COLLATION caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE pair AS (x int, y text);
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE DOMAIN price AS numeric(10, 2);
-- Keys that can be returned: k few values, l many, o in heap order; those that cannot: z.  Numerics: a of one scale, m
-- of many.
CREATE FUNCTION rows(start int, n int)
RETURNS TABLE (
	id int, o int, k int, s int2, l bigint, w text, b bool, d timestamp, e mood, p positive, y date, z float8,
	a numeric(12, 2), f float8, f4 float4, m numeric, bp bpchar(5), bq bpchar, vc varchar(10), x text, j jsonb,
	ai int[], iv interval, ip inet, pa pair, pr price)
LANGUAGE sql AS $$
	SELECT i, nullif(i, start + n - 1),
		   CASE WHEN h % 11 > 0 THEN h % 23 END,
		   CASE WHEN h % 13 > 0 THEN h % 7 - 3 END,
		   CASE WHEN h % 17 > 0 THEN (h % 5003)::bigint * 10000000019 END,
		   CASE WHEN h % 19 > 0 THEN (ARRAY['k', 'K', 'ä', 'a '])[1 + h % 4] || h % 3 END,
		   CASE WHEN h % 5 > 0 THEN h % 2 = 0 END,
		   CASE WHEN h % 29 > 0 THEN '2023-03-25'::timestamp + h % 1999 * interval '37 minutes' END,
		   CASE WHEN h % 7 > 0 THEN (ARRAY['sad', 'ok', 'happy'])[1 + h % 3]::mood END,
		   CASE WHEN h % 31 > 0 THEN 1 + h % 5 END,
		   CASE WHEN h % 37 = 0 THEN 'infinity' WHEN h % 41 > 0 THEN '2023-01-01'::date + h % 50 END,
		   CASE WHEN h % 8 = 0 THEN '-0' WHEN h % 8 = 1 THEN 0 WHEN h % 8 = 2 THEN 'NaN'
				WHEN h % 8 < 7 THEN h % 5 / 2.0 END,
		   CASE WHEN h % 43 = 0 THEN 'NaN' WHEN h % 47 > 0 THEN (h % 1000003 - 500000) / 100.0 END,
		   CASE WHEN h % 8 = 0 THEN '-0' WHEN h % 8 = 1 THEN 0 WHEN h % 8 < 7 THEN h % 809 / 8.0 END,
		   CASE WHEN h % 6 > 0 THEN h % 101 / 4.0 END,
		   CASE WHEN h % 53 > 0 THEN round((h % 997 - 500) / 7.0, h % 6) END,
		   CASE WHEN h % 9 > 0 THEN chr(97 + h % 5) || repeat(' ', h % 3) END,
		   CASE WHEN h % 9 > 0 THEN chr(97 + h % 5) || repeat(' ', h % 3) END,
		   CASE WHEN h % 9 > 0 THEN chr(97 + h % 6) || repeat(' ', h % 2) END,
		   CASE WHEN h % 9 > 0 THEN (ARRAY['a', 'A', 'b', 'B', 'ä'])[1 + h % 5] END,
		   CASE WHEN h % 9 > 0 THEN jsonb_build_object('k', h % 4 / CASE WHEN h % 5 = 0 THEN 1.0 ELSE 1.00 END) END,
		   CASE WHEN h % 9 > 0 THEN ARRAY[h % 3, nullif(h % 2, 0)] END,
		   CASE WHEN h % 9 > 0 THEN (ARRAY['1 day', '24 hours', '1 month', '30 days'])[1 + h % 4]::interval END,
		   CASE WHEN h % 9 > 0 THEN ('10.0.0.' || h % 7)::inet END,
		   CASE WHEN h % 9 > 0 THEN ROW(h % 3, CASE WHEN h % 2 = 0 THEN 'x' END)::pair END,
		   CASE WHEN h % 9 > 0 THEN h % 77 / 4.0 END
	FROM (SELECT i, abs(hashint4(i)) FROM generate_series(start, start + n - 1) i) r (i, h)
$$;
CREATE TABLE few AS SELECT * FROM rows(1, 0);
ALTER TABLE few ALTER x TYPE text COLLATE caseless, ALTER bp TYPE char(5), ALTER a TYPE numeric(12, 2),
	ALTER vc TYPE varchar(10), ALTER w TYPE text COLLATE "C", ADD filler text,
	SET (autovacuum_enabled = off, fillfactor = 80);
CREATE TABLE many (LIKE few) WITH (autovacuum_enabled = off, fillfactor = 80);
INSERT INTO few SELECT * FROM rows(1, 1500);
INSERT INTO many SELECT * FROM rows(1, 66000);
CREATE INDEX few_all ON few USING rtscan (o, k, s, l, w, b, d, e, p, y, z)
INCLUDE (id, a, f, f4, m, bp, bq, vc, x, j, ai, iv, ip, pa, pr);
CREATE INDEX many_all ON many USING rtscan (o, k, s, l, w, b, d, e, p, y, z) INCLUDE (id, a, f, f4, m, bp);
DELETE FROM few WHERE id % 13 = 0;
DELETE FROM many WHERE id % 13 = 0;
VACUUM ANALYZE few;
VACUUM ANALYZE many;
-- segments of what was pending, pending rows, dead ones, rows that are not all-visible
INSERT INTO few SELECT * FROM rows(10001, 1000);
INSERT INTO many SELECT * FROM rows(100001, 3000);
DELETE FROM few WHERE id % 17 = 0;
DELETE FROM many WHERE id BETWEEN 20000 AND 21000;
UPDATE few SET filler = 'HOT' WHERE id % 11 = 0;
UPDATE many SET filler = 'HOT' WHERE id % 1001 = 0;
UPDATE many SET k = k + 1, f = f + 1 WHERE id % 997 = 0;
SELECT segments > 1 AS segments, pending > 0 AS pending, tab
FROM unnest('{few,many}'::text[]) tab, rtscan_stats((tab || '_all')::regclass);

--
-- Groups: keys of all kinds
--
SELECT differs(format('SELECT %1$s, count(*), sum(s), avg(l), min(id), max(d), sum(a) FROM few GROUP BY %1$s', keys))
FROM unnest(ARRAY['k', 's', 'l', 'o', 'w', 'b', 'd', 'e', 'p', 'y', 'id', 'a', 'f4', 'bp', 'vc', 'ai', 'ip', 'pa', 'pr',
	'k, b', 's, k, w, e', 'b, bp', 'pa, k, ai', 'k, k', 'b, b, s',
	'date_trunc(''day'', d)', 'extract(hour FROM d)', 'date_trunc(''month'', d), b', 'lower(w)', 'lower(w), k % 10',
	'CASE WHEN k < 10 THEN ''low'' WHEN k < 20 THEN ''high'' END', 'k % 10', 'coalesce(k, -1), coalesce(w, ''none'')',
	'k IS NULL', 'k > 5 AND b', 'k + s', 'k + id % 3',
	'k::text', 'w || s', 'f = 0', 'f::int', 'f + 0', 'round(m)', 'bp::text', 'vc || ''x''', 'upper(vc)', 'length(x)',
	'x COLLATE "C"', 'lower(x COLLATE "C")', 'j -> ''k''', 'j ->> ''k''', 'ai[1]', 'ai || 5', 'cardinality(ai)',
	'host(ip)', '(pa).x', '(pa).y, (pa).x', 'ARRAY[k, s]', 'e::text', 'e > ''sad''', 'p + 1', 'p::int', 'pr * 2',
	'y - ''2023-01-01''::date, y', 'nullif(k, 5)', 'greatest(k, s)', 'k IN (1, 2, 3)', 'k BETWEEN 3 AND 9, s',
	'd::date', 'd::time', 'd AT TIME ZONE ''Europe/Berlin''', 'd > now()', 'a > 0', 'a::int', 'trunc(a, 1)', 'l / 1000',
	'to_char(d, ''YYYY-MM'')', 'width_bucket(k, 0, 20, 4)']) keys;
-- equal values that do not look alike: which of them is shown depends on the order of rows
SELECT differs(format('SELECT %s, count(*), sum(s), min(id) FROM few GROUP BY %s', shown, key))
FROM (VALUES
	('f', 'f + 0'), ('m', 'trim_scale(m)'), ('bq', 'rtrim(bq::text)'), ('x', 'lower(x COLLATE "C")'),
	('j', '(j ->> ''k'')::float8'), ('iv', 'extract(epoch FROM iv)'), ('-f', '-f + 0'),
	('m * 1.0', 'trim_scale(m * 1.0)'), ('f, x, m', 'lower(x COLLATE "C"), trim_scale(m), f + 0'),
	('x || ''''', 'lower((x || '''') COLLATE "C")'), ('iv * 2', 'extract(epoch FROM iv * 2)')) q (key, shown);
SELECT differs(q, 1) FROM (VALUES
	('SELECT z, count(*) FROM few GROUP BY z'),
	('SELECT k, sum(z) FROM few GROUP BY k'),
	('SELECT z > 0, count(*) FROM few GROUP BY 1'),
	('SELECT count(*) FROM few WHERE z + 1 > 2')) q (q);
-- values that the index does not have
SELECT differs(q, 0) FROM (VALUES
	('SELECT k, filler, count(*) FROM few GROUP BY 1, 2'),
	('SELECT few, count(*) FROM few GROUP BY 1'),
	('SELECT ctid, count(*) FROM few GROUP BY 1'),
	('SELECT tableoid, count(*) FROM few GROUP BY 1')) q (q);
SELECT differs('SELECT k, count(*), sum(f) FROM few WHERE z = 0 GROUP BY k');
-- constants, nothing
SELECT differs(q, n) FROM (VALUES
	('SELECT 5, count(*), sum(k) FROM few GROUP BY 1', 1),
	('SELECT ''a'' || k, 1, count(*) FROM few GROUP BY 1, 2', 1),
	('SELECT NULL::text, max(w) FROM few GROUP BY 1', 1),
	('SELECT count(*) FROM few GROUP BY 1 + 1', 1),
	('SELECT sum(k) FROM few GROUP BY ()', NULL),
	('SELECT now(), count(*), sum(f) FROM few GROUP BY now()', NULL),
	('SELECT current_date - ''2000-01-01''::date > 5, count(id) FROM few GROUP BY 1', NULL),
	('SELECT k FROM few GROUP BY k', NULL),
	('SELECT DISTINCT k, b FROM few', NULL),
	('SELECT DISTINCT k, count(*) > 50 FROM few GROUP BY k, b', 1),
	('SELECT DISTINCT sum(s) FROM few GROUP BY k', 1),
	('SELECT 1 FROM few GROUP BY k HAVING true', NULL),
	('SELECT k FROM few GROUP BY k HAVING k > 5', NULL),
	('SELECT 1 FROM few GROUP BY b, k', NULL)) q (q, n);
SELECT differs(format('SELECT %s count(*), count(k), sum(k), avg(a), min(w), max(f), sum(m) FROM few WHERE %s %s', keys,
	qual, coalesce('GROUP BY ' || rtrim(nullif(keys, ''), ', '), '')), NULL)
FROM unnest('{"","k, ","id % 3, "}'::text[]) keys,
	unnest('{o < 0,k = 1000,k > 5 AND k < 3,false,k = NULL,id < 0,b IS NULL AND k = 22 AND f = 5}'::text[]) qual;

--
-- Aggregates of all kinds
--
CREATE VIEW aggregates AS
	SELECT unnest(ARRAY[
		'count(*)', 'count(k)', 'count(f)', 'count(id)', 'count(k + s)', 'count(nullif(b, true))', 'count((pa).x)',
		'count(pa)', 'count(1)', 'count(NULL)', 'count(w || s)', 'count((k, b))',
		'sum(k)', 'sum(s)', 'sum(l)', 'sum(p)', 'sum(id)', 'sum(a)', 'sum(m)', 'sum(pr)', 'sum(f)', 'sum(f4)', 'avg(k)',
		'avg(s)', 'avg(l)', 'avg(a)', 'avg(m)', 'avg(f)', 'avg(f4)', 'avg(pr)', 'avg(p)',
		'sum(k + s)', 'sum(k * s - id)', 'sum(-k)', 'sum(l * s)', 'sum(l + k * 3)', 'sum(a * (1 - a))', 'sum(a * m)',
		'sum(m * m * m)', 'sum(a + k)', 'sum(a - 0.001)', 'sum(a * 1.000)', 'sum(-a)', 'sum(k / 3)', 'sum(k % 5)',
		'sum(a / 3)', 'sum(k::numeric)', 'sum(s::int)', 'sum(k::bigint * l)', 'sum(l::numeric * l * l)',
		'sum(a * a * a * a)', 'avg(a * (1 + m))', 'avg(k * 1.5)', 'avg(k + s)', 'sum(s * s)', 'sum(s + s)',
		'sum(abs(k))', 'sum(length(w))', 'sum(f * 2)', 'sum(f4 + f4)', 'sum(f4 * f)', 'sum(k * f)', 'avg(f + 1)',
		'avg(f4::float8)', 'sum(f::numeric)', 'sum(CASE WHEN b THEN k ELSE -k END)', 'sum(CASE WHEN b THEN a END)',
		'sum(coalesce(k, 0))', 'sum(b::int)', 'sum(k) / count(*)', 'sum(extract(epoch FROM d))',
		'sum(y - ''2023-01-01''::date) FILTER (WHERE y < ''infinity'')', 'sum(5)', 'sum(NULL::int)', 'sum(1.50)',
		'sum(2.5::float4)', 'avg(NULL::numeric)', 'sum(k + NULL::int)', 'avg(0.000 * k)', 'sum(0 * a)',
		'sum((j ->> ''k'')::numeric)', 'sum(ai[1] + ai[2])', 'avg((pa).x)',
		'min(k)', 'max(s)', 'min(l)', 'max(w)', 'min(d)', 'max(d)', 'min(y)', 'max(y)', 'min(id)', 'max(a)', 'min(a)',
		'max(f)', 'min(f) + 0', 'max(f4)', 'trim_scale(min(m))', 'trim_scale(max(m))', 'min(bp)',
		'rtrim(max(bq)::text)', 'min(vc)', 'max(vc)', 'lower(min(x) COLLATE "C")', 'lower(max(x) COLLATE "C")',
		'min(x COLLATE "C")', 'max(w COLLATE "und-x-icu")', 'lower(min(w COLLATE caseless) COLLATE "C")', 'max(ai)',
		'extract(epoch FROM min(iv))', 'extract(epoch FROM max(iv))', 'min(ip)', 'max(ip)', 'max(e)', 'min(e)',
		'max(p)', 'min(pr)', 'max(k + s)', 'min(w || k)', 'max(lower(w))', 'min(d - interval ''1 day'')', 'max(age(d))',
		'min(d::time)', 'max(d::timestamptz)', 'lower(min(coalesce(x, ''q'')) COLLATE "C")', 'max(k::oid)',
		'min(k::money)', 'trim_scale(max(a * m))', 'min(-f) + 0', 'max(length(w) + 0.5)', 'max(pg_lsn(k))',
		'max(d) - min(d)', 'max(ARRAY[w])', 'min(k::text::"char")',
		'count(*) FILTER (WHERE k < 5)', 'sum(a) FILTER (WHERE b)', 'sum(k) FILTER (WHERE NOT b OR m > 0)',
		'min(w) FILTER (WHERE k IS NULL)', 'avg(m) FILTER (WHERE k > 1000)', 'count(*) FILTER (WHERE false)',
		'sum(a) FILTER (WHERE w LIKE ''k%'')', 'max(id) FILTER (WHERE x = ''A'')',
		'sum(f) FILTER (WHERE f > 5 AND f4 < 20)', 'count(*) FILTER (WHERE NULL)']) AS aggregate;
SELECT differs(format('SELECT %s FROM few', aggregate), NULL) FROM aggregates;
SELECT differs(format('SELECT k, %s FROM few GROUP BY k', aggregate), NULL) FROM aggregates;
SELECT differs(
	format('SELECT b, lower(x COLLATE "C"), %s FROM few WHERE s < 3 AND m IS NOT NULL GROUP BY b, x', aggregate), NULL)
FROM aggregates;
SELECT differs(format('SELECT %s FROM few GROUP BY s', string_agg(aggregate, ', ')))
FROM aggregates
WHERE aggregate NOT IN ('max(ai)', 'min(e)', 'max(e)', 'max(ARRAY[w])', 'min(k::text::"char")', 'max(pg_lsn(k))');

--
-- In queries of any kind
--
CREATE TABLE other (id int PRIMARY KEY, x int, w text);
INSERT INTO other SELECT i, i * 3, (ARRAY['k', 'K', 'ä', 'a '])[1 + i % 4] || i % 3 FROM generate_series(1, 12) i;
ANALYZE other;
CREATE TABLE keyed (id int PRIMARY KEY, k int, w text) WITH (autovacuum_enabled = off);
INSERT INTO keyed SELECT i, i % 7, 'w' || i % 3 FROM generate_series(1, 500) i;
CREATE INDEX keyed_all ON keyed USING rtscan (id, k) INCLUDE (w);
VACUUM ANALYZE keyed;
SELECT differs(query, nodes) FROM (VALUES
	-- HAVING, ORDER BY, LIMIT, DISTINCT
	('SELECT k, count(*) FROM few GROUP BY k HAVING count(*) > 90', 1),
	('SELECT k FROM few GROUP BY k HAVING sum(a) > 0 AND max(w) > ''k'' OR k IS NULL', 1),
	('SELECT count(*), k FROM few GROUP BY k HAVING k > 5 AND count(*) > 10', 1),
	('SELECT sum(k) FROM few HAVING sum(k) > 5', 1),
	('SELECT sum(k) FROM few HAVING sum(k) < 5', 1),
	('SELECT 1 FROM few HAVING sum(s) IS NOT NULL', 1),
	('SELECT sum(k) FROM few WHERE o < 0 HAVING sum(k) IS NULL', 1),
	('SELECT sum(k) FROM few HAVING random() > 2', 1),
	('SELECT k, sum(s) FROM few GROUP BY k HAVING count(*) > (SELECT max(id) FROM other)', 1),
	('SELECT k, sum(s) FROM few GROUP BY k HAVING k IN (SELECT x FROM other WHERE id < sum(few.s) + 100)', 1),
	('SELECT row_number() OVER (), *
		FROM (SELECT k, b, sum(a), count(*) FROM few GROUP BY k, b ORDER BY k, b DESC NULLS LAST) q', 1),
	('SELECT k, sum(s) FROM few GROUP BY k ORDER BY sum(s), k LIMIT 5', 1),
	('SELECT k FROM few GROUP BY k ORDER BY avg(a) DESC, k OFFSET 3 LIMIT 4', 1),
	('SELECT w, max(id) FROM few GROUP BY w ORDER BY w COLLATE "und-x-icu" DESC LIMIT 3', 1),
	('SELECT k % 3, min(id) FROM few GROUP BY 1 ORDER BY 1 FETCH FIRST 1 ROW WITH TIES', 1),
	('SELECT DISTINCT ON (b) b, k, sum(s) FROM few GROUP BY b, k ORDER BY b, sum(s), k', 1),
	('SELECT max(k) FROM few GROUP BY b LIMIT 0', NULL),
	-- expressions of keys and aggregates
	('SELECT k + 1, k * sum(s), sum(s) + sum(s), sum(s), -sum(s) FROM few GROUP BY k', 1),
	('SELECT (k % 10) * 2, k % 10 || ''x'', count(*) FROM few GROUP BY k % 10', 1),
	('SELECT lower(w), upper(lower(w)), count(w) / nullif(count(*), 0) FROM few GROUP BY lower(w)', 1),
	('SELECT CASE WHEN count(*) > 100 THEN max(w) ELSE min(w) || k END, ARRAY[k, s, count(*)], ROW(k, sum(a))
		FROM few
		GROUP BY s, k', 1),
	('SELECT coalesce(sum(a) FILTER (WHERE b), 0) - coalesce(sum(a) FILTER (WHERE NOT b), 0) FROM few GROUP BY k', 1),
	('SELECT k, (SELECT w FROM other WHERE id = k), sum(s) FROM few GROUP BY k', 1),
	('SELECT k, (SELECT sum(x) FROM other WHERE id < max(few.k)) FROM few GROUP BY k', 1),
	('SELECT k, EXISTS (SELECT FROM other WHERE x = k AND id < count(few.s)) FROM few GROUP BY k', 1),
	('SELECT (SELECT sum(few.k + other.id) FROM other) FROM few GROUP BY k', NULL),
	('SELECT k, generate_series(1, 2), sum(s) FROM few GROUP BY k', 1),
	('SELECT k, unnest(ARRAY[min(id), max(id)]) FROM few GROUP BY k', 1),
	('SELECT generate_series(1, s), count(*) FROM few GROUP BY 1', 0),
	('SELECT k, sum(sum(s)) OVER (), rank() OVER (ORDER BY count(*), k), lag(k) OVER (ORDER BY k),
			avg(sum(a)) OVER (PARTITION BY k % 3)
		FROM few
		GROUP BY k', 1),
	('SELECT max(sum) FROM (SELECT sum(s) FROM few GROUP BY k) q', 1),
	('SELECT count(*), sum(n) FROM (SELECT k, count(*) AS n FROM few GROUP BY k) q WHERE k > 5', 1),
	('SELECT k, random() < 2, count(*) FROM few GROUP BY k', 1),
	('SELECT k + random() * 0 < 5, count(*) FROM few GROUP BY 1', 0),
	('SELECT sum(k + (random() * 0)::int) FROM few', 0),
	('SELECT count(*) FILTER (WHERE random() < 2) FROM few GROUP BY k', 0),
	-- joins, CTEs, sets
	('SELECT o.id, q.* FROM other o LEFT JOIN (SELECT k, sum(a), count(*) FROM few GROUP BY k) q ON q.k = o.x', 1),
	('SELECT few.k, sum(few.s) FROM few JOIN other ON other.id = few.k GROUP BY few.k', 1),
	('SELECT few.k, sum(few.s) FROM few LEFT JOIN other ON other.id = few.k GROUP BY few.k', 1),
	('SELECT o.w, q.sum FROM other o JOIN (SELECT w, sum(s) FROM few GROUP BY w) q USING (w)', 1),
	('WITH c AS MATERIALIZED (SELECT k, sum(a) AS t FROM few GROUP BY k)
		SELECT * FROM c UNION ALL SELECT k + 1000, t FROM c WHERE k < 5', 1),
	('WITH c AS (SELECT * FROM few WHERE b) SELECT k, sum(a) FROM c WHERE s > 0 GROUP BY k', 1),
	('SELECT k, sum(s) FROM few GROUP BY k UNION ALL SELECT k, sum(s) FROM few WHERE b GROUP BY k', 2),
	('SELECT k, sum(s) FROM few GROUP BY k
		EXCEPT SELECT k, sum(s) FROM few WHERE b IS NOT NULL OR b IS NULL GROUP BY k', 2),
	('SELECT k, sum(s) FROM (SELECT k, s FROM few WHERE b UNION ALL SELECT k, s FROM few WHERE NOT b) q GROUP BY k', 0),
	('WITH RECURSIVE r AS (
			SELECT 0::bigint AS i
			UNION ALL
			SELECT i + (SELECT count(*) + 1 FROM few WHERE k = r.i % 5 GROUP BY s HAVING s = 2) FROM r WHERE i < 60)
		SELECT * FROM r', NULL),
	-- once for each row of another table
	('SELECT o.id, (SELECT sum(s) FROM few WHERE k < o.x) FROM other o', 1),
	('SELECT o.id, q.*
		FROM other o, LATERAL (SELECT k, count(*), sum(a), max(w) FROM few WHERE s < o.id - 6 GROUP BY k) q', 1),
	('SELECT o.id, q.*
		FROM other o,
			LATERAL (
				SELECT k % o.id, sum(a * o.x), count(*) FILTER (WHERE w = o.w) FROM few GROUP BY k % o.id) q', 1),
	('SELECT o.id, (SELECT sum(k + o.x) FROM few WHERE id % o.id = 0) FROM other o', 1),
	('SELECT o.id, (SELECT max(w || o.w) FROM few WHERE w < o.w) FROM other o', 1),
	('SELECT o.id, ARRAY(SELECT sum(s) + o.id FROM few WHERE k = o.x GROUP BY b ORDER BY 1) FROM other o', 1),
	('SELECT o.id FROM other o WHERE EXISTS (SELECT s FROM few WHERE k = o.id GROUP BY s HAVING count(*) > o.x)', 1),
	('SELECT o.id, (SELECT sum(k) FROM few HAVING count(*) > o.id * 150) FROM other o', 1),
	('SELECT o.id, q.*
		FROM other o LEFT JOIN LATERAL (SELECT o.w AS c, sum(id) FROM few WHERE k = o.id GROUP BY 1) q ON true', 1),
	('SELECT o.id, q.n
		FROM other o, LATERAL (
			SELECT count(*) AS n FROM (SELECT k FROM few GROUP BY k HAVING sum(id) > o.id * 10000) r) q', 1),
	('SELECT o.id, (SELECT (SELECT sum(s * o.id) FROM few WHERE k < p.id) FROM other p WHERE p.id = o.id)
		FROM other o', 1),
	('SELECT k, sum(s) FROM few WHERE id < (SELECT max(id) * 50 FROM other) GROUP BY k', 1),
	('SELECT sum(k + (SELECT max(x) FROM other)) FILTER (WHERE id > (SELECT 100)) FROM few GROUP BY k % (SELECT 3)', 1),
	('SELECT k, sum(s) FROM few WHERE id % (SELECT 3) = (SELECT NULL::int) GROUP BY k', 1),
	('SELECT sum(k + (SELECT x FROM other WHERE other.id = few.k)) FROM few', 0),
	-- a primary key that the other columns are functions of
	('SELECT id, k, w, count(*) FROM keyed GROUP BY id', 1),
	('SELECT max(k), w, id % 3 FROM keyed GROUP BY id HAVING k < 12', 1),
	('SELECT id, count(*), sum(k) FROM keyed GROUP BY id', 1),
	('SELECT id, k, w, count(*) FROM keyed GROUP BY id, k, w', NULL),
	('SELECT id, k + 1, max(w) FROM keyed GROUP BY id, k', NULL),
	-- not for the node
	('SELECT k, count(DISTINCT s), sum(DISTINCT s), array_agg(DISTINCT s) FROM few GROUP BY k', 0),
	('SELECT array_agg(s ORDER BY s) FROM few GROUP BY k', 0),
	('SELECT string_agg(w, '','' ORDER BY id) FROM few', 0),
	('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY w) FROM few', 0),
	('SELECT mode() WITHIN GROUP (ORDER BY k), rank(5) WITHIN GROUP (ORDER BY k) FROM few GROUP BY b', 0),
	('SELECT array_agg(k ORDER BY id), string_agg(w, '''' ORDER BY id) FROM few GROUP BY s', 0),
	('SELECT sum(iv), avg(iv), sum(k::money) FROM few', 0),
	('SELECT k, b, grouping(k), sum(s) FROM few GROUP BY CUBE (k, b)', 1),
	('SELECT k, sum(s) FROM few GROUP BY GROUPING SETS ((k), ())', 1),
	('SELECT grouping(k), k, sum(s) FROM few GROUP BY k', 1),
	('SELECT k, sum(s) FROM few TABLESAMPLE BERNOULLI (100) GROUP BY k', 0),
	('SELECT sum(sum) FROM (SELECT sum(s) FROM few GROUP BY k OFFSET 0) q', 1)
	) q (query, nodes);
CREATE AGGREGATE total (int) (SFUNC = int4_sum, STYPE = bigint);
CREATE AGGREGATE first_max (int) (SFUNC = int4larger, STYPE = int, SORTOP = >);
CREATE FUNCTION loose(text, text) RETURNS text LANGUAGE sql AS 'SELECT coalesce($1, '''') || coalesce($2, ''-'')';
CREATE AGGREGATE strung (text) (SFUNC = loose, STYPE = text);
SELECT differs(q, 0) FROM (VALUES
	('SELECT total(k), count(*) FROM few'),
	('SELECT s, first_max(k) FROM few GROUP BY s'),
	('SELECT length(strung(w)), sum(k) FROM few GROUP BY s')) q (q);

--
-- Errors: where PostgreSQL's own aggregation has one, and nowhere else
--
CREATE TABLE edge (id int, i2 int2, i4 int4, i8 int8, g int, n numeric, r float8, q float4)
WITH (autovacuum_enabled = off);
CREATE INDEX edge_all ON edge USING rtscan (id, i2, i4, i8, g) INCLUDE (n, r, q);
INSERT INTO edge SELECT i, i % 100, i, i, i % 3, i, i, i FROM generate_series(1, 3000) i;
INSERT INTO edge VALUES
	(4001, 32767, 2147483647, 9223372036854775807, 7, 1e30, 1e308, 3e38),
	(4002, -32768, -2147483648, -9223372036854775808, 8, -1e30, -1e308, -3e38),
	(4003, NULL, NULL, NULL, 9, NULL, NULL, NULL);
VACUUM ANALYZE edge;
SELECT differs(format('SELECT %s FROM edge %s', arguments, tail), NULL)
FROM unnest(ARRAY[
	'sum(i2 + 1::int2)', 'sum(i2 + i4)', 'sum(i4 + 1)', 'sum(i4 * 2)', 'sum(i8 - 10)', 'sum(i8 + i4)', 'sum(-i2)',
	'sum(-i4)', 'sum(-i8)', 'avg(i8 * 2)', 'sum(i2 * i2)', 'sum(i4 * i4)', 'sum(i8 * i8)', 'sum(i2::int * i2)',
	'sum(i4::int8 * i4)', 'sum(i4::int8 * i4 * i4)', 'sum(i8::numeric * i8)',
	'sum(i8::numeric * i8::numeric * i8::numeric)', 'sum(i8::numeric + 1)', 'sum(i8::numeric * 1.5)',
	'sum(i8 + 0.000001)', 'sum(-(i8::numeric))', 'sum(i8 * 0.0000000000001 * 0.000000000001 * 0.00000000001)',
	'sum(i4 - 5 + 4)', 'sum((i4 + 5) - 5)', 'sum(i2 - 32767::int2)', 'sum(i8 + 1) FILTER (WHERE g <> 7)',
	'sum(i8::int4)', 'sum(i4::int2)', 'sum(i4 / (g - 7))', 'avg(i4 / (g - 7)) FILTER (WHERE g <> 7)',
	'count(*) FILTER (WHERE 1 / (g - 7) > 0)', 'count(*) FILTER (WHERE g <> 7 AND 1 / (g - 7) = 0)', 'min(1 / (g - 7))',
	'count(1 / (g - 7))',
	'sum(i8), avg(i8), sum(i4), avg(i2)', 'sum(r)', 'avg(r)', 'sum(q)', 'avg(q) FILTER (WHERE g <> 8)',
	'sum(r * 10)', 'sum(r + r)',
	'avg(r * 1.5)', 'sum(q * 2::float4)', 'sum(r) FILTER (WHERE g = 7)', 'avg(r) FILTER (WHERE g <> 8)', 'sum(n)',
	'avg(n)', 'sum(n * n)', 'sum(sqrt(n))', 'max(ln(r))', 'max(i4 + 1)', 'min(-i2)', 'count(i4 + 1)', 'sum(1/0)',
	'sum(1/0) FILTER (WHERE false)', 'count(*) FILTER (WHERE 1/0 > 0)', 'max(1/0), count(*)']) arguments,
	unnest(ARRAY[
		'', 'WHERE g < 7', 'WHERE g <> 7', 'WHERE g <> 8', 'WHERE g < 0', 'WHERE id + 0 < 4000', 'WHERE id + 0 < 0',
		'GROUP BY g', 'WHERE g < 7 GROUP BY g', 'GROUP BY g HAVING g < 7', 'GROUP BY g % 3',
		'GROUP BY i8', 'GROUP BY i8, i4, i2', 'GROUP BY i4, n', 'GROUP BY r, q', 'WHERE g = 9 GROUP BY i8, n',
		'WHERE i4 + 0 < 100 AND i4 < 1000 GROUP BY g']) tail;
SELECT differs(q, NULL) FROM (VALUES
	('SELECT 1 / (g - 7), count(*) FROM edge GROUP BY 1'),
	('SELECT 1 / (g - 7), count(*) FROM edge WHERE g <> 7 GROUP BY 1'),
	('SELECT i4 + 1, sum(i2) FROM edge GROUP BY 1'),
	('SELECT i4 + 1, sum(i2) FROM edge WHERE i4 < 50 GROUP BY 1'),
	('SELECT g, sum(i4) FROM edge GROUP BY g HAVING 1 / (sum(i4) - 2147483647) = 0'),
	('SELECT g, sum(i4) / (g - 7) FROM edge GROUP BY g'),
	('SELECT sum(i4) FROM edge WHERE 1 / (g - 7) = 0'),
	('SELECT sum(i4) FROM edge WHERE g <> 7 AND CASE WHEN g <> 7 THEN 1 / (g - 7) = 0 END'),
	('SELECT i4::int2, count(*) FROM edge GROUP BY 1'),
	('SELECT sum(i4) FROM edge GROUP BY 1 / (g - 7) HAVING false')) q (q);
-- pending, and then dead
INSERT INTO edge VALUES
	(5001, 32767, 2147483647, 9223372036854775807, 7, 'NaN', 'Infinity', 'NaN'),
	(5002, 0, 0, 0, 8, 0, '-Infinity', 0);
SELECT differs(format('SELECT %s FROM edge %s', arguments, tail), NULL)
FROM unnest('{sum(i4 + 1),sum(i8),avg(i8),sum(n),avg(n),sum(r),avg(r),sum(q),avg(q),max(r),min(q),max(n),sum(-r),
	sum(r - r)}'::text[]) arguments,
	unnest('{"",GROUP BY g,WHERE id > 4000,WHERE id > 4000 GROUP BY g}'::text[]) tail;
DELETE FROM edge WHERE id > 4000;
SELECT differs(format('SELECT %s FROM edge GROUP BY g', arguments))
FROM unnest('{sum(i4 + 1),sum(i2 + 1::int2),sum(i8 + 1),sum(q),sum(n)}'::text[]) arguments;

--
-- Numerics: scales, NaN, infinities, sizes
--
CREATE TABLE numerics (id int, g int, fixed numeric(10, 2), k numeric(6, 3), free numeric)
WITH (autovacuum_enabled = off);
CREATE INDEX numerics_all ON numerics USING rtscan (id, g, k) INCLUDE (fixed, free);
CREATE FUNCTION numerics_differ() RETURNS SETOF text LANGUAGE sql AS $$
	SELECT differs(format('SELECT %s FROM numerics %s', arguments, tail), NULL)
	FROM unnest(ARRAY[
		'sum(fixed), avg(fixed), sum(k), avg(k), count(fixed)', 'sum(free)', 'avg(free)', 'sum(free * fixed)',
		'sum(free + 1), sum(k * k), sum(k + free)', 'sum(fixed * (1 - k) * (1 + k))', 'sum(-free), avg(free - free)',
		'trim_scale(min(free)), trim_scale(max(free)), min(fixed), max(k)', 'sum(free) FILTER (WHERE id % 2 = 0)',
		'sum(free * 0.00)', 'sum(free * free * free)', 'sum(k - 0.0000000001), sum(0.5 * id)',
		'sum(free) FILTER (WHERE free < ''Infinity'' AND free > ''-Infinity'')']) arguments,
		unnest(ARRAY[
			'', 'GROUP BY g', 'WHERE id % 7 < 3', 'WHERE id % 3 = 0 GROUP BY g % 2', 'GROUP BY k',
			'GROUP BY fixed']) tail
$$;
INSERT INTO numerics SELECT i, i % 5, i / 8.0, i % 50 / 8.0, round(i / 7.0, i % 4) FROM generate_series(1, 400) i;
SELECT numerics_differ(); -- pending
VACUUM ANALYZE numerics;
SELECT numerics_differ();
-- one scale in a segment, another in the next, a third pending; large ones
INSERT INTO numerics SELECT i, 0, 5, 1.5, 10.0 FROM generate_series(1001, 1002) i;
SELECT numerics_differ();
DELETE FROM numerics;
VACUUM numerics;
INSERT INTO numerics SELECT i, i % 5, i / 8.0, i % 50 / 8.0, i FROM generate_series(1, 200) i;
VACUUM numerics;
SELECT numerics_differ();
INSERT INTO numerics SELECT i, 3 + i % 4, i / 8.0, i % 50 / 8.0, i * 1.000 FROM generate_series(201, 4000) i;
SELECT numerics_differ();
INSERT INTO numerics VALUES
	(5000, 0, 0.00, 0.000, 0.00000000000000000000), (5001, 1, -0.01, NULL, 12345678901234567890123456789.5),
	(5002, 2, 99999999.99, 999.999, -0.123456789012345678901234567890), (5003, 3, NULL, NULL, 1e-30),
	(5004, 4, NULL, NULL, 9223372036854775807), (5005, 4, NULL, NULL, -9223372036854775809),
	(5006, 4, NULL, NULL, 99999999999.9999999);
SELECT numerics_differ();
VACUUM numerics;
SELECT numerics_differ();
INSERT INTO numerics VALUES
	(6000, 0, 'NaN', NULL, 'Infinity'), (6001, 1, NULL, 'NaN', '-Infinity'), (6002, 2, NULL, NULL, 'NaN'),
	(6003, 7, NULL, NULL, 'Infinity'), (6004, 7, NULL, NULL, '-Infinity'), (6005, 8, NULL, NULL, '-Infinity'),
	(6006, 8, NULL, NULL, 1);
SELECT numerics_differ();
VACUUM numerics;
SELECT numerics_differ();
DELETE FROM numerics WHERE id < 6000;
SELECT numerics_differ();
-- a sum may be too large on the way, if it is not in the end
TRUNCATE numerics;
INSERT INTO numerics (id, g, free) VALUES
	(1, 1, 9e131071), (2, 1, 9e131071), (3, 1, -9e131071), (4, 1, -9e131071), (5, 2, 9e131071), (6, 2, 1e131071),
	(7, 3, -9e131071), (8, 3, 0.00000000000000000001);
SELECT differs(format('SELECT g, md5(%s::text) FROM numerics WHERE %s GROUP BY g', arguments, qual))
FROM unnest('{sum(free),avg(free),sum(-free),sum(free * 1.0),max(free)}'::text[]) arguments,
	unnest('{g = 1,g = 2,g = 3,g <> 2}'::text[]) qual;

--
-- Prepared: parameters in WHERE, FILTER, arguments and keys
--
SELECT p FROM unnest('{force_custom_plan,force_generic_plan,auto}'::text[]) mode, LATERAL (
	SELECT differs_prepared(mode, 'int',
		'SELECT k, sum(s + $1), count(*) FILTER (WHERE id > $1) FROM few WHERE k < $1 GROUP BY k', '5', 'NULL', '-5',
		'20', '3', '4', '2147483647')
	UNION ALL
	SELECT differs_prepared(mode, 'int', 'SELECT k % $1, sum(a) FROM few GROUP BY k % $1', '5', 'NULL', '0', '1')
	UNION ALL
	SELECT differs_prepared(mode, 'text',
		'SELECT w || $1 || ''x'', max(bp || $1), min($1) FROM few WHERE w LIKE $1 GROUP BY 1', '''k%''', 'NULL',
		'''%''', '''''')
	UNION ALL
	SELECT differs_prepared(mode, 'int, numeric',
		'SELECT sum(id / $1), sum(a * $2), avg(m + $2), count($1), sum($2) FROM few WHERE id % 5 <> $1', '1, 1.50',
		'0, NULL', 'NULL, 1', '2, ''NaN''', '3, 0.000')
	UNION ALL SELECT differs_prepared(mode, 'int', 'SELECT $1, sum(s) FROM few GROUP BY $1', '1', 'NULL')
	UNION ALL
	SELECT differs_prepared(mode, 'int[]', 'SELECT s, count(*) FROM few WHERE k = ANY ($1) OR id = ANY ($1) GROUP BY s',
		'''{1,2,100}''', '''{}''', 'NULL', '''{NULL}''')
	UNION ALL
	SELECT differs_prepared(mode, 'bool, int',
		'SELECT b, sum(s) FILTER (WHERE b = $1) FROM few GROUP BY b HAVING sum(s) > $2', 'true, -1000', 'NULL, -1000',
		'false, NULL')
	) p (p);
CREATE FUNCTION sum_below(int) RETURNS bigint LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
DECLARE
	r bigint;
BEGIN
	SELECT sum(k + $1) INTO r FROM few WHERE id % 3 <> $1 AND s < $1;
	RETURN r;
END
$$;
SELECT differs('SELECT id, sum_below(id), sum_below(NULL) FROM other', 0);

--
-- Functions that do as they like: they ask the same index, and fail
--
CREATE FUNCTION nested(which int) RETURNS bigint LANGUAGE plpgsql STABLE SET enable_seqscan = off
SET enable_bitmapscan = off AS $$
BEGIN
	RETURN (SELECT sum(n) + which FROM (SELECT count(*) AS n FROM few WHERE k = which GROUP BY s) q);
END
$$;
CREATE FUNCTION fails_at(x int, at int) RETURNS int LANGUAGE plpgsql STABLE AS $$
BEGIN
	IF x = at THEN
		RAISE 'fails at %', at;
	END IF;
	RETURN x;
END
$$;
CREATE FUNCTION recovers(query text) RETURNS text LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off
SET rtscan.enable_scan = off SET enable_indexscan = off AS $$
DECLARE
	message text;
BEGIN
	FOR i IN 1..3 LOOP
		BEGIN
			EXECUTE query;
			RETURN 'none';
		EXCEPTION WHEN OTHERS THEN
			message := SQLERRM;
		END;
	END LOOP;
	RETURN message;
END
$$;
CREATE FUNCTION relearns(x int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	IF x = 5 THEN
		ANALYZE few;
	END IF;
	RETURN x;
END
$$;
CREATE FUNCTION relearns_quietly(x int) RETURNS int LANGUAGE sql STABLE AS 'SELECT relearns(x)';
SELECT differs('SELECT sum(nested(k)) FROM few WHERE id < 60');
SELECT differs('SELECT nested(k), count(*), sum(s) FROM few WHERE id < 60 GROUP BY nested(k)');
SELECT differs('
	SELECT k, count(*) FILTER (WHERE nested(s) > 5)
	FROM few
	WHERE id < 40 AND nested(k) > 10
	GROUP BY k
	HAVING nested(k) IS NOT NULL');
SELECT differs(q) FROM (VALUES
	('SELECT sum(fails_at(id, 700)) FROM few'),
	('SELECT sum(fails_at(id, 10900)) FROM few GROUP BY k'),
	('SELECT fails_at(k, 7), sum(s) FROM few GROUP BY 1'),
	('SELECT count(*) FILTER (WHERE fails_at(id, 10900) > 0) FROM few'),
	('SELECT count(*) FROM few WHERE fails_at(id, 10900) > 0'),
	('SELECT k FROM few GROUP BY k HAVING fails_at(sum(s)::int, -5) = 0'),
	('SELECT fails_at(k, 20), sum(s) FROM few WHERE k <> 20 GROUP BY 1'),
	('SELECT max(fails_at(k, 20)) FILTER (WHERE k <> 20) FROM few')) q (q);
SELECT recovers(q) FROM (VALUES
	('SELECT sum(fails_at(id, 700)) FROM few'),
	('SELECT fails_at(k, 7), sum(s) FROM few GROUP BY 1'),
	('SELECT sum(fails_at((nested(k) > 0)::int, 1)) FROM few WHERE id < 30')) q (q);
SELECT differs('
	SELECT sum(relearns_quietly(s)), sum(relearns_quietly(k)) FROM few WHERE id < 60 GROUP BY relearns_quietly(k) % 3');
-- an index whose description is made anew meanwhile
SELECT differs('SELECT k, sum(s), max(w) FROM few WHERE id < 60 AND relearns_quietly(k) >= 0 GROUP BY k');

--
-- More groups than memory: they are spilled
--
CREATE FUNCTION shown(query text, keep text DEFAULT '.') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN SELECT explained(query, 'ANALYZE, BUFFERS OFF, COSTS OFF, TIMING OFF, SUMMARY OFF') LOOP
		IF line ~ keep AND line !~ '(Rays|Segments on CPU|Rows Aggregated by Device|Not Aggregated by Device): ' THEN
			RETURN NEXT regexp_replace(
				regexp_replace(regexp_replace(line, '(Executor: )\w+', '\1...'), '(Heap [\w ]+: )[1-9]\d*', '\1some'),
				'(Spilled Groups: )\d+', '\1some');
		END IF;
	END LOOP;
END
$$;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET rtscan.enable_scan = off;
SET max_parallel_workers_per_gather = 0;
SELECT shown('SELECT k, sum(s) FROM few WHERE l > 0 AND id % 2 = 0 GROUP BY k HAVING sum(s) > 0');
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
ALTER TABLE many ALTER o SET (n_distinct = 1), ALTER l SET (n_distinct = 1), ALTER id SET (n_distinct = 1),
	ALTER a SET (n_distinct = 1);
ALTER TABLE few ALTER id SET (n_distinct = 1), ALTER vc SET (n_distinct = 1);
ANALYZE many, few;
SELECT shown('SELECT l, sum(s) FROM many GROUP BY l', 'Spilled|rows=');
SELECT differs(q) FROM (VALUES
	('SELECT l, count(*), sum(s), max(w), sum(a) FROM many WHERE o < 15000 GROUP BY l'),
	('SELECT o, count(*), sum(f) FROM many WHERE o > 62000 GROUP BY o'),
	('SELECT id % 5000, sum(m), min(d) FROM many WHERE id % 3 > 0 AND o < 15000 GROUP BY 1'),
	('SELECT a, k, count(b) FROM many WHERE k < 2 GROUP BY a, k HAVING count(*) > 1'),
	('SELECT id, sum(m), max(ai::text) FROM few GROUP BY id'),
	('SELECT s, b, avg(a) FROM many GROUP BY s, b'),
	('SELECT count(*), sum(n), max(x)
		FROM (SELECT l, count(*) AS n, max(repeat(w, 50)) AS x FROM many WHERE k = 3 GROUP BY l) q'),
	('SELECT lower(w) || l, sum(k) FROM many WHERE l < 2000000000000 GROUP BY 1'),
	('SELECT o.id, q.*
		FROM other o,
			LATERAL (
				SELECT count(*), sum(n) FROM (SELECT l, count(*) AS n FROM many WHERE o < o.x * 300 GROUP BY l) r) q
		WHERE o.id < 4'),
	('SELECT id, sum(fails_at(k, 1000)) FROM few GROUP BY id')) q (q);
-- few groups of much are not spilled
SELECT shown('SELECT s, max(repeat(w || id, 1000)) FROM many WHERE k = 3 GROUP BY s', 'Spilled');
SELECT differs('SELECT s, md5(max(repeat(w || id, 1000))) FROM few GROUP BY s');
-- a row that is spilled has been evaluated once
CREATE FUNCTION fetched(c refcursor, n int) RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
	r record;
BEGIN
	FOR i IN 1..n LOOP
		FETCH c INTO r;
		EXIT WHEN NOT FOUND;
		RETURN NEXT r;
	END LOOP;
END
$$;
BEGIN;
CREATE TEMP TABLE seen AS SELECT l, count(*), sum(s), sum(a) AS a FROM many WHERE k < 5 GROUP BY l;
DECLARE c CURSOR FOR SELECT l, count(*), sum(s), sum(a) FROM many WHERE k < 5 GROUP BY l;
DECLARE d CURSOR FOR SELECT l, count(*), sum(s), sum(a) FROM many WHERE k < 5 GROUP BY l;
CREATE TEMP TABLE kept AS SELECT * FROM fetched('c', 10) q (l bigint, count bigint, sum bigint, a numeric);
INSERT INTO many SELECT * FROM rows(200001, 3000);
UPDATE many SET s = 0, l = l + 1 WHERE id % 7 = 0;
DELETE FROM many WHERE id % 5 = 0;
SAVEPOINT one;
INSERT INTO kept SELECT * FROM fetched('c', 500) q (l bigint, count bigint, sum bigint, a numeric);
INSERT INTO many SELECT * FROM rows(300001, 3000);
ROLLBACK TO one;
-- (the cursor is where it was when the savepoint was left, not where it was when it was made)
SELECT count(*) FROM kept;
INSERT INTO kept SELECT * FROM fetched('c', 10000) q (l bigint, count bigint, sum bigint, a numeric);
SELECT count(*) + 500 = (SELECT count(*) FROM seen) AS same
FROM (SELECT k.*::text FROM kept k INTERSECT ALL SELECT s.*::text FROM seen s) q;
SELECT count(*) AS others
FROM (
	SELECT q.*::text FROM fetched('d', 10000) q (l bigint, count bigint, sum bigint, a numeric)
	EXCEPT ALL SELECT s.*::text FROM seen s) q;
ROLLBACK;
BEGIN;
DECLARE c SCROLL CURSOR WITH HOLD FOR SELECT l FROM many WHERE k < 5 GROUP BY l;
DELETE FROM many WHERE id % 2 = 0;
COMMIT;
MOVE FORWARD ALL IN c;
MOVE BACKWARD ALL IN c;
CLOSE c;
VACUUM many;
SELECT differs('SELECT l, count(*), sum(s), max(w), sum(a) FROM many WHERE k < 5 GROUP BY l');
-- the planner knows that groups have to be spilled, and that other plans are no better
ALTER TABLE many ALTER l RESET (n_distinct);
ANALYZE many;
SELECT shown('SELECT l, sum(s) FROM many GROUP BY l', 'Custom|HashA|GroupA');
RESET work_mem;
RESET hash_mem_multiplier;
RESET enable_seqscan;
RESET enable_bitmapscan;
RESET rtscan.enable_scan;
RESET max_parallel_workers_per_gather;

--
-- Indexes on expressions, with predicates, opclasses and collations of their own
--
CREATE TABLE special (id int, a int, s text, v varchar(20), t text COLLATE caseless, j jsonb, n numeric, d date)
WITH (autovacuum_enabled = off);
INSERT INTO special SELECT id, nullif(k, 5), w, w, x, jsonb_build_object('k', k, 'w', w), m, y FROM rows(1, 2000);
CREATE INDEX special_e ON special USING rtscan (lower(s), (a % 10), (v::text), ((j ->> 'k')::int)) INCLUDE (id, n);
VACUUM ANALYZE special;
INSERT INTO special SELECT id, k, w, w, x, jsonb_build_object('k', k, 'w', w), m, y FROM rows(3001, 100);
SELECT differs(q, n) FROM (VALUES
	('SELECT lower(s), count(*), sum(a % 10) FROM special GROUP BY lower(s)', 1),
	('SELECT lower(s) || ''x'', max(lower(s)), sum((a % 10) * 2) FROM special WHERE lower(s) > ''k'' GROUP BY 1', 1),
	('SELECT (j ->> ''k'')::int, avg(n), max(id) FROM special WHERE (j ->> ''k'')::int < 10 GROUP BY 1', 1),
	('SELECT (j ->> ''k'')::int + a % 10, sum(n) FILTER (WHERE lower(s) LIKE ''k%'') FROM special GROUP BY 1', 1),
	('SELECT a % 10, count(a) FROM special GROUP BY 1', 0),
	('SELECT upper(s), count(*) FROM special GROUP BY 1', 0),
	('SELECT lower(s), (j ->> ''w''), count(*) FROM special GROUP BY 1, 2', 0),
	('SELECT v, count(*) FROM special GROUP BY v', NULL),
	('SELECT v::text, max(v), min(v::text) FROM special GROUP BY v::text', NULL),
	('SELECT v || ''x'', max(length(v)) FROM special WHERE v > ''k'' GROUP BY 1', NULL),
	('SELECT min(v), max(v), count(v) FROM special', NULL),
	('SELECT sum(n) FROM special WHERE v::text = ''k1''', NULL),
	('SELECT v, count(*) FROM special WHERE v LIKE ''k%'' GROUP BY v', NULL)) q (q, n);
DROP INDEX special_e;
CREATE INDEX special_p ON special USING rtscan (a, s) INCLUDE (n) WHERE a > 3 AND s IS NOT NULL;
SELECT differs(q, n) FROM (VALUES
	('SELECT a, sum(n) FROM special WHERE a > 3 AND s IS NOT NULL GROUP BY a', 1),
	('SELECT s, sum(a) FROM special WHERE a > 5 AND s LIKE ''k%'' GROUP BY s', 1),
	('SELECT a, sum(n) FROM special GROUP BY a', 0),
	('SELECT a, sum(n) FROM special GROUP BY a HAVING a > 3', 0),
	('SELECT a, sum(n) FROM special WHERE s IS NOT NULL GROUP BY a HAVING a > 4', 1),
	('SELECT sum(n) FILTER (WHERE a > 3 AND s IS NOT NULL) FROM special', 0)) q (q, n);
DROP INDEX special_p;
CREATE INDEX special_c ON special USING rtscan (s COLLATE "C", t, (v COLLATE caseless), a) INCLUDE (d, id, j);
SELECT differs(q, NULL) FROM (VALUES
	('SELECT s COLLATE "C", count(*) FROM special GROUP BY 1'),
	('SELECT s, sum(a) FROM special GROUP BY s'),
	('SELECT lower(t COLLATE "C"), count(*) FROM special GROUP BY 1'),
	('SELECT length(t), count(*) FROM special GROUP BY t'),
	('SELECT count(*), sum(a) FROM special GROUP BY s COLLATE caseless'),
	('SELECT count(*), min(a) FROM special GROUP BY v COLLATE caseless'),
	('SELECT v, count(*), min(a) FROM special GROUP BY v'),
	('SELECT max(s), min(s COLLATE "C"), max(s COLLATE "und-x-icu"), max(v), lower(min(t) COLLATE "C") FROM special'),
	('SELECT sum(a) FROM special WHERE t = ''A'' GROUP BY d'),
	('SELECT sum(a) FROM special WHERE s COLLATE caseless = ''K1'' GROUP BY d')) q (q);
-- equal to the column, but not to look at
CREATE TABLE looks (id int, s text, n numeric(8, 2), m numeric, i interval, z timetz, c char(4), f float8, nm name)
WITH (autovacuum_enabled = off);
INSERT INTO looks
SELECT i, CASE i % 3 WHEN 0 THEN 'a' WHEN 1 THEN 'A' END, i % 4, round(i % 4, i % 3), (i % 4) * interval '1 day',
	'10:00+00', i % 4, i % 4, 'n' || i % 5
FROM generate_series(1, 300) i;
CREATE INDEX looks_all ON looks USING rtscan (id, (s COLLATE caseless), (n::numeric), (n * 1.000), m, i, z, c, f, nm);
VACUUM ANALYZE looks;
SELECT differs(format('SELECT %s, count(*), sum(id) FROM looks GROUP BY 1', key), NULL)
FROM unnest(ARRAY[
	's', 's COLLATE caseless = ''a''', 'n', 'n::numeric', 'n * 1.000', 'n * 1.0', 'trim_scale(m)',
	'extract(epoch FROM i)', 'z', 'c', 'c::text', 'f', 'nm', 'nm::text', 'upper(nm)']) key;
SELECT differs(
	'SELECT min(s), max(n), min(n::numeric), sum(n), sum(n::numeric), avg(n * 1.000), max(c), max(nm::text) FROM looks',
	NULL);

--
-- Partitions, parents and other kinds of tables
--
CREATE TABLE parts (id int, k int, s int2, w text, a numeric(10, 2)) PARTITION BY RANGE (k);
CREATE TABLE part_1 PARTITION OF parts FOR VALUES FROM (0) TO (10);
CREATE TABLE part_2 (w text, gone int, a numeric(10, 2), s int2, k int, id int);
ALTER TABLE part_2 DROP COLUMN gone;
ALTER TABLE parts ATTACH PARTITION part_2 FOR VALUES FROM (10) TO (18);
CREATE TABLE part_d PARTITION OF parts DEFAULT;
CREATE INDEX parts_all ON parts USING rtscan (k, s) INCLUDE (w, a);
INSERT INTO parts SELECT id, k, s, w, a FROM rows(1, 3000);
VACUUM ANALYZE parts;
SELECT differs(q, n)
FROM unnest('{off,on}'::text[]) partitionwise,
	set_config('enable_partitionwise_aggregate', partitionwise, false),
	LATERAL (VALUES
		('SELECT k, sum(a), max(w) FROM parts GROUP BY k', 3),
		('SELECT k, s + 1, avg(a) FILTER (WHERE w LIKE ''k%'')
			FROM parts
			WHERE s > 0
			GROUP BY k, s + 1
			HAVING count(*) > 5', 3),
		('SELECT s, sum(a) FROM parts GROUP BY s', 3),
		('SELECT sum(a) FROM parts', 3),
		('SELECT k, sum(s) FROM parts WHERE k < 12 AND k > 3 GROUP BY k', 2),
		('SELECT w, sum(s) FROM parts WHERE k = 3 GROUP BY w', NULL),
		('SELECT w, sum(s), sum(k) FROM part_2 GROUP BY w', 1),
		('SELECT k, count(*) FROM parts WHERE k = (SELECT 12) GROUP BY k', NULL),
		('SELECT o.id, (SELECT sum(a) FROM parts WHERE k = o.id GROUP BY k) FROM other o', NULL)) q (q, n);
RESET enable_partitionwise_aggregate;
CREATE TABLE parent (a int, b int) WITH (autovacuum_enabled = off);
CREATE TABLE child (c int) INHERITS (parent) WITH (autovacuum_enabled = off);
CREATE INDEX ON parent USING rtscan (a, b);
CREATE INDEX ON child USING rtscan (b, a) INCLUDE (c);
INSERT INTO parent SELECT i % 10, i FROM generate_series(1, 500) i;
INSERT INTO child SELECT i % 12, i, i FROM generate_series(1, 700) i;
VACUUM ANALYZE parent, child;
SELECT differs(q, n) FROM (VALUES
	('SELECT a, sum(b) FROM parent GROUP BY a', 2),
	('SELECT a, sum(b) FROM ONLY parent GROUP BY a', 1),
	('SELECT a, sum(b), max(c) FROM child GROUP BY a', 1)) q (q, n);
CREATE TEMP TABLE temporary AS SELECT * FROM few;
CREATE INDEX ON temporary USING rtscan (k, s) INCLUDE (w, m);
CREATE UNLOGGED TABLE unlogged AS SELECT * FROM few;
CREATE INDEX ON unlogged USING rtscan (k, s) INCLUDE (w, m);
INSERT INTO unlogged SELECT * FROM few WHERE id < 200;
DELETE FROM temporary WHERE id % 2 = 0;
CREATE MATERIALIZED VIEW mat AS SELECT * FROM few;
CREATE INDEX ON mat USING rtscan (k, s) INCLUDE (w, m);
CREATE TABLE none (LIKE few);
CREATE INDEX ON none USING rtscan (k, s) INCLUDE (w, m);
SELECT differs(format(q, tab), CASE WHEN tab <> 'none' THEN 1 END)
FROM unnest('{temporary,unlogged,mat,none}'::text[]) tab,
	unnest(ARRAY[
		'SELECT k, sum(s * s), avg(m), min(w) FROM %s GROUP BY k',
		'SELECT sum(s), sum(m), count(w) FROM %s WHERE w > ''k'' OR k < 5']) q;

--
-- Rows and columns that not everybody may see
--
CREATE ROLE rtscan_reader;
CREATE TABLE secrets (owner name, a int, b int, c text) WITH (autovacuum_enabled = off);
INSERT INTO secrets SELECT CASE WHEN i % 2 = 0 THEN 'rtscan_reader' ELSE 'other' END, i, i % 4, 'c' || i % 3
FROM generate_series(1, 800) i;
CREATE INDEX secrets_all ON secrets USING rtscan (a, b) INCLUDE (owner, c);
VACUUM ANALYZE secrets;
ALTER TABLE secrets ENABLE ROW LEVEL SECURITY;
CREATE POLICY mine ON secrets USING (owner = current_user);
CREATE VIEW barrier WITH (security_barrier) AS SELECT * FROM secrets WHERE b < 2;
CREATE VIEW open_view AS SELECT * FROM secrets WHERE b < 2;
CREATE FUNCTION leak(x int) RETURNS int LANGUAGE plpgsql IMMUTABLE COST 0.0000001 AS $$
BEGIN
	IF x % 2 = 1 THEN
		RAISE NOTICE 'leaked %', x;
	END IF;
	RETURN x;
END
$$;
CREATE FUNCTION secretive(x int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT x';
GRANT USAGE ON SCHEMA groups TO rtscan_reader;
GRANT SELECT ON secrets, barrier, open_view TO rtscan_reader;
SET client_min_messages = notice;
SET ROLE rtscan_reader;
SELECT differs(q, n) FROM (VALUES
	('SELECT b, sum(a), max(c) FROM secrets GROUP BY b', 1),
	('SELECT sum(leak(a)), count(*) FILTER (WHERE leak(a) > 0) FROM secrets', 1),
	('SELECT leak(a) % 10, max(leak(a)) FROM secrets WHERE a < 300 GROUP BY leak(a) % 10', 1),
	('SELECT sum(a) FROM secrets WHERE leak(a) > 10', 0),
	('SELECT sum(a) FROM secrets WHERE a < 100 AND leak(a) > 10', 0),
	('SELECT b, sum(a) FROM secrets GROUP BY b HAVING leak(b) >= 0', NULL),
	('SELECT sum(a) FROM secrets GROUP BY b HAVING sum(leak(a)) > 0', 1),
	('SELECT sum(1 / (a % 2 - 1)) FROM secrets', 1)) q (q, n);
RESET ROLE;
CREATE POLICY low ON secrets AS RESTRICTIVE USING (b < 3);
SET ROLE rtscan_reader;
SELECT differs(q, n) FROM (VALUES
	('SELECT c, sum(leak(a)), sum(a) FILTER (WHERE b < 2 AND leak(a) > 0)
		FROM secrets
		WHERE a BETWEEN 100 AND 200
		GROUP BY c', 1)) q (q, n);
RESET ROLE;
-- (a condition that is not leakproof, and not the index's, is no guard for others)
DROP POLICY mine ON secrets;
CREATE POLICY mine ON secrets USING (a % 2 = 0);
SET ROLE rtscan_reader;
SELECT differs(q, n) FROM (VALUES
	('SELECT c, sum(leak(a)) FROM secrets GROUP BY c', 0),
	('SELECT c, sum(a) FROM secrets WHERE leak(a) > 0 GROUP BY c', 0),
	('SELECT leak(a), count(*) FROM secrets WHERE a < 50 AND b < 1 GROUP BY 1', 0)) q (q, n);
RESET ROLE;
ALTER TABLE secrets DISABLE ROW LEVEL SECURITY;
DROP VIEW barrier;
CREATE VIEW barrier WITH (security_barrier) AS SELECT * FROM secrets WHERE a % 2 = 0 AND b < 2;
SELECT differs(q, n) FROM (VALUES
	('SELECT c, sum(leak(a)) FILTER (WHERE leak(a) > 5) FROM barrier GROUP BY c', 0),
	('SELECT c, sum(a) FROM barrier WHERE leak(a) > 0 GROUP BY c', 0),
	('SELECT leak(a), count(*) FROM barrier WHERE a < 50 AND b < 1 GROUP BY 1', 0)) q (q, n);
-- columns, aggregates, functions
REVOKE SELECT ON secrets FROM rtscan_reader;
GRANT SELECT (a, b) ON secrets TO rtscan_reader;
SET ROLE rtscan_reader;
SELECT differs('SELECT b, sum(a) FROM secrets GROUP BY b');
SELECT differs(q, NULL) FROM (VALUES
	('SELECT c, sum(a) FROM secrets GROUP BY c'),
	('SELECT b, max(c) FROM secrets GROUP BY b'),
	('SELECT sum(a) FROM secrets WHERE owner = ''other'''),
	('SELECT sum(a) FILTER (WHERE c > ''c1'') FROM secrets'),
	('SELECT b, sum(a) FROM secrets GROUP BY b HAVING max(c) > ''c1'''),
	('SELECT count(*) FROM secrets GROUP BY length(c)')) q (q);
SELECT sum(a), max(c) FROM secrets;
RESET ROLE;
GRANT SELECT ON secrets TO rtscan_reader;
-- (if it were inlined, no privilege would be needed)
CREATE FUNCTION own(x int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN x; END';
REVOKE EXECUTE ON FUNCTION own, sum(int), int4mul, int4larger FROM public;
SET ROLE rtscan_reader;
SELECT q, r
FROM unnest(ARRAY[
	'SELECT sum(a) FROM secrets', 'SELECT max(a) FROM secrets', 'SELECT sum(a::bigint), max(b) FROM secrets',
	'SELECT avg(a * 2) FROM secrets', 'SELECT own(a), count(*) FROM secrets GROUP BY 1',
	'SELECT max(own(b)) FROM secrets', 'SELECT count(*) FILTER (WHERE own(b) > 1) FROM secrets',
	'SELECT sum(a::bigint) FROM secrets WHERE own(b) > 1',
	'SELECT b, count(*) FROM secrets GROUP BY b HAVING sum(a) > 5', 'SELECT b * 2, count(*) FROM secrets GROUP BY 1',
	'SELECT min(a) FROM secrets WHERE a * 2 > 0 AND own(a) = 0']) q,
	rows_of(q) r;
SELECT differs(q, NULL)
FROM unnest(ARRAY[
	'SELECT sum(a) FROM secrets', 'SELECT max(a) FROM secrets', 'SELECT sum(a::bigint), max(b) FROM secrets',
	'SELECT avg(a * 2) FROM secrets', 'SELECT own(a), count(*) FROM secrets GROUP BY 1',
	'SELECT max(own(b)) FROM secrets', 'SELECT count(*) FILTER (WHERE own(b) > 1) FROM secrets',
	'SELECT sum(a::bigint) FROM secrets WHERE own(b) > 1',
	'SELECT b, count(*) FROM secrets GROUP BY b HAVING sum(a) > 5', 'SELECT b * 2, count(*) FROM secrets GROUP BY 1',
	'SELECT min(a) FROM secrets WHERE a * 2 > 0 AND own(a) = 0',
	'SELECT own(a), count(*) FROM secrets WHERE a < 0 GROUP BY 1']) q;
RESET ROLE;
CREATE INDEX secrets_own ON secrets USING rtscan (own(b), a);
VACUUM ANALYZE secrets;
SET ROLE rtscan_reader;
SELECT differs(q, NULL)
FROM unnest(ARRAY[
	'SELECT own(b), count(*) FROM secrets GROUP BY own(b)', 'SELECT avg(own(b)) FROM secrets',
	'SELECT count(own(b)) FROM secrets', 'SELECT count(*) FROM secrets WHERE own(b) = 1',
	'SELECT own(b), count(*) FROM secrets WHERE own(b) = 1 GROUP BY own(b)',
	'SELECT count(*) FILTER (WHERE own(b) = 1) FROM secrets', 'SELECT min(a) FROM secrets WHERE own(b) + 1 = 2',
	'SELECT min(own(b)) FROM secrets']) q;
RESET ROLE;
-- as if PostgreSQL found the groups by hashing or sorting
REVOKE EXECUTE ON FUNCTION int4eq FROM public;
SET ROLE rtscan_reader;
SELECT b, count(*) FROM secrets GROUP BY b;
RESET ROLE;
GRANT EXECUTE ON FUNCTION int4eq TO public;
GRANT EXECUTE ON FUNCTION sum(int), int4mul, int4larger TO public;
SET client_min_messages = warning;

--
-- Tables that change
--
CREATE TABLE t (id int, k int, n numeric(10, 2), s text, filler text) WITH (autovacuum_enabled = off, fillfactor = 70);
CREATE INDEX t_all ON t USING rtscan (id, k, s) INCLUDE (n);
CREATE FUNCTION problems() RETURNS SETOF text LANGUAGE sql AS $$
	SELECT differs(q, NULL) FROM (VALUES
		('SELECT count(*), sum(n), avg(k), min(s), max(id), sum(id + k) FROM t'),
		('SELECT k, count(*), sum(n), min(id), max(id), count(*) FILTER (WHERE s > ''m'') FROM t GROUP BY k'),
		('SELECT s, k % 3, sum(n), sum(id) FROM t WHERE id < 64600 AND id > 64400 OR k = 3 GROUP BY 1, 2'),
		('SELECT id / 64512, sum(n), count(*) FROM t GROUP BY 1')) q (q)
$$;
CREATE FUNCTION fill(start int, n int) RETURNS void LANGUAGE sql AS $$
	INSERT INTO t
	SELECT i, CASE WHEN i % 19 > 0 THEN i * 7 % 31 END, i / 4.0, CASE WHEN i % 23 > 0 THEN chr(97 + i * 11 % 26) END
	FROM generate_series(start, start + n - 1) i
$$;
SELECT problems();
-- chunks' edges
SELECT fill(1, 64511);
VACUUM t;
REINDEX INDEX t_all;
SELECT problems();
SELECT fill(64512, 1);
REINDEX INDEX t_all;
SELECT problems();
SELECT fill(64513, 1);
REINDEX INDEX t_all;
SELECT problems();
SELECT fill(64514, 3000);
SELECT problems();
DELETE FROM t WHERE id % 1000 < 30 OR id BETWEEN 64500 AND 64520 OR k = 5;
SELECT problems();
VACUUM t;
SELECT problems();
UPDATE t SET filler = 'x' WHERE id % 50 = 0;
UPDATE t SET n = -n, k = k + 40 WHERE id % 51 = 0;
SELECT problems();
BEGIN;
SELECT fill(70000, 3000);
UPDATE t SET s = 'zz' WHERE k = 7;
SAVEPOINT one;
DELETE FROM t WHERE id % 3 = 0;
UPDATE t SET k = NULL WHERE id % 100 = 1;
SELECT problems();
ROLLBACK TO one;
SELECT problems();
ROLLBACK;
SELECT problems();
WITH gone AS (DELETE FROM t WHERE id < 500 RETURNING *),
	new AS (INSERT INTO t SELECT id + 200000, k FROM gone)
SELECT sum(id) AS sum, (SELECT sum(id) FROM t WHERE id >= 200000) AS new
FROM t
WHERE id < 1000
GROUP BY k % 2
ORDER BY 1;
VACUUM t;
SELECT problems();
-- columns that were not there when the rows came
ALTER TABLE t ADD extra int DEFAULT 7;
CREATE INDEX t_extra ON t USING rtscan (id) INCLUDE (extra);
UPDATE t SET extra = 8 WHERE id % 11 = 0;
SELECT differs('SELECT extra, count(*), sum(extra) FROM t WHERE id > 100 GROUP BY extra');
DELETE FROM t;
SELECT problems();
VACUUM t;
SELECT problems();
SELECT fill(1, 10);
SELECT problems();

--
-- Numerics of another scale in each segment
--
CREATE TABLE scales (id int, n numeric);
INSERT INTO scales SELECT i, (i % 11 / 100.0)::numeric(6, 2) FROM generate_series(1, 3000) i;
CREATE INDEX scales_idx ON scales USING rtscan (id) INCLUDE (n);
VACUUM scales;
INSERT INTO scales SELECT i, 0.1 FROM generate_series(3001, 3100) i;
VACUUM ANALYZE scales;
SELECT segments FROM rtscan_stats('scales_idx');
SELECT differs('SELECT n, count(*), sum(id) FROM scales WHERE id > 10 GROUP BY n');
SELECT differs('SELECT n * 2, count(*) FROM scales WHERE id > 10 GROUP BY 1');
SELECT differs('SELECT n, id % 2, count(*) FROM scales GROUP BY GROUPING SETS ((1), (2), (1, 2))');

--
-- Groups that a device has aggregated, alone, and before rows that it has not
--
CREATE TABLE aggregated (k int, s int2, b bool, d date, v int, a numeric(8, 2), t timestamp)
WITH (autovacuum_enabled = off, fillfactor = 90);
CREATE FUNCTION aggregated_rows(start int, n int, keys int) RETURNS SETOF aggregated LANGUAGE sql AS $$
	SELECT nullif(i % keys, 3), i % 5, nullif(i % 3, 2) = 1, '2024-01-01'::date + i % 40, nullif(i % 1009, 7),
		   i % 507 / 100.0, '2024-01-01'::timestamp + i % 300 * interval '1 hour'
	FROM generate_series(start, start + n - 1) i
$$;
CREATE FUNCTION aggregated_differ() RETURNS SETOF text LANGUAGE sql AS $$
	SELECT differs(format(q, condition))
	FROM (VALUES ('k >= 0'), ('v = 8'), ('true')) c (condition), (VALUES
		('SELECT k, count(*), sum(v) FROM aggregated WHERE %s GROUP BY k'),
		('SELECT b, s, count(*), count(v), min(v), max(d), avg(v), sum(a), min(t), max(a)
		  FROM aggregated WHERE %s GROUP BY s, b'),
		('SELECT d FROM aggregated WHERE %s GROUP BY d'),
		('SELECT sum(v * 2 + 1), k, count(*), sum(a * v) FROM aggregated WHERE %s GROUP BY k'),
		('SELECT k, sum(v) FROM aggregated WHERE %s GROUP BY k HAVING sum(v) > 5000 AND count(*) <> 60'),
		('SELECT d, count(*) FILTER (WHERE s > 2), stddev(v) FROM aggregated WHERE %s GROUP BY d')) q (q)
$$;
INSERT INTO aggregated SELECT * FROM aggregated_rows(1, 70000, 1000);
CREATE INDEX aggregated_idx ON aggregated USING rtscan (k, s, v) INCLUDE (b, d, a, t);
VACUUM ANALYZE aggregated;
SELECT aggregated_differ();
DELETE FROM aggregated WHERE v % 101 = 5; -- not all-visible, and some dead
SELECT aggregated_differ();
VACUUM aggregated;
SELECT aggregated_differ();
INSERT INTO aggregated SELECT * FROM aggregated_rows(100001, 50, 1500); -- pending, some in new groups
SELECT aggregated_differ();
INSERT INTO aggregated SELECT * FROM aggregated_rows(200001, 67000, 1100); -- another segment
VACUUM aggregated;
SELECT segments > 1 AS several FROM rtscan_stats('aggregated_idx');
SELECT aggregated_differ();
-- more than there is memory for, which the planner does not know
ALTER TABLE aggregated ALTER k SET (n_distinct = 50);
ANALYZE aggregated;
SET work_mem = 64;
SET hash_mem_multiplier = 1;
SELECT aggregated_differ();
INSERT INTO aggregated SELECT * FROM aggregated_rows(300001, 50, 1500);
SELECT aggregated_differ();
RESET work_mem;
RESET hash_mem_multiplier;
-- some are asked for, and then no more
CREATE TABLE seen_of_aggregated AS SELECT k, count(*), sum(a), avg(v), max(t) FROM aggregated GROUP BY k;
SELECT count(*) FROM (
	SELECT q.*::text FROM (SELECT k, count(*), sum(a), avg(v), max(t) FROM aggregated GROUP BY k LIMIT 70) q
	INTERSECT ALL SELECT s.*::text FROM seen_of_aggregated s) i;
BEGIN;
DECLARE c CURSOR FOR SELECT k, count(*), sum(a), avg(v), max(t) FROM aggregated GROUP BY k;
CREATE TABLE fetched_of_aggregated AS
SELECT * FROM fetched('c', 100) q (k int, count bigint, sum numeric, avg numeric, max timestamp);
DELETE FROM aggregated WHERE k % 2 = 0;
INSERT INTO fetched_of_aggregated
SELECT * FROM fetched('c', 10000) q (k int, count bigint, sum numeric, avg numeric, max timestamp);
SELECT count(*) = (SELECT count(*) FROM seen_of_aggregated) AS same
FROM (SELECT f.*::text FROM fetched_of_aggregated f INTERSECT ALL SELECT s.*::text FROM seen_of_aggregated s) q;
SELECT count(*) FROM (SELECT k FROM aggregated GROUP BY k) q;
ROLLBACK;

-- For values that are far apart, each segment has its own codes and so its own device aggregates. Between two of these
-- come rows, with which groups that have been kept are spilled
CREATE TABLE far_apart (l bigint, v int) WITH (autovacuum_enabled = off);
INSERT INTO far_apart SELECT i % 1000 * 10000000019, i FROM generate_series(1, 70000) i;
CREATE INDEX far_apart_idx ON far_apart USING rtscan (v) INCLUDE (l);
SET rtscan.pending_list_limit = '100MB';
INSERT INTO far_apart SELECT i % 1100 * 10000000019, i FROM generate_series(100001, 167000) i;
VACUUM far_apart;
RESET rtscan.pending_list_limit;
SELECT segments FROM rtscan_stats('far_apart_idx');
ALTER TABLE far_apart ALTER l SET (n_distinct = 50);
ANALYZE far_apart;
SELECT differs('SELECT l, count(*), sum(v) FROM far_apart WHERE v > 0 GROUP BY l');
DELETE FROM far_apart WHERE v = 1000;
SELECT differs('SELECT l, count(*), sum(v) FROM far_apart WHERE v > 0 GROUP BY l');
SET work_mem = 64;
SET hash_mem_multiplier = 1;
SELECT differs('SELECT l, count(*), sum(v) FROM far_apart WHERE v > 0 GROUP BY l');
RESET work_mem;
RESET hash_mem_multiplier;

--
-- EXPLAIN
--
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET rtscan.enable_scan = off;
SELECT explained($$
	SELECT k % 5 AS m, lower(w), sum(s) + 1, avg(a) FILTER (WHERE b), count(*)
	FROM few f
	WHERE l > 5 AND id % 2 = 0 AND w LIKE 'k%'
	GROUP BY k % 5, lower(w)
	HAVING sum(s) > 0 AND k % 5 < 4
	ORDER BY 1, 2$$, 'VERBOSE, COSTS OFF');
SELECT explained('SELECT sum(a * (1 - a)), sum(f) FROM many WHERE k = 5');
SELECT explained('SELECT o.id, (SELECT sum(f.k + o.x) FROM few f WHERE f.id % o.id = 0 AND f.w < o.w) FROM other o',
	'VERBOSE, COSTS OFF');
SELECT explained('SELECT k, sum(s + (SELECT max(x) FROM other)) FROM few WHERE id < (SELECT 100) GROUP BY k',
	'VERBOSE, COSTS OFF');
SELECT explained('SELECT k, b, sum(s) FROM few WHERE id < 100 GROUP BY k, b', 'COSTS OFF, FORMAT JSON');
SELECT explained('SELECT k, (k + 1) * 2, CASE WHEN k > 5 THEN sum(s) END FROM few WHERE k < 10 GROUP BY k',
	'VERBOSE, COSTS OFF');

SET client_min_messages = error;
DROP SCHEMA groups CASCADE;
DROP ROLE rtscan_reader;
