-- Groups by several columns of dimensions, which are numbered together: the same as PostgreSQL's own, whatever their
-- types, with rows that have no match or several, with changed rows, in little memory, and over partitions.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA star_composites;
SET search_path = star_composites, public;
SET rtscan.merge_worker = off;
SET rtscan.pending_list_limit = '64kB';
SET max_parallel_workers_per_gather = 0;
SET jit = off;
-- wherever a star and the node can be, they are
SET enable_hashagg = off;
SET enable_sort = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_nestloop = off;

CREATE COLLATION caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
-- values that are equal but look different: n, f, ci, and bp, which has no length
CREATE TABLE items (id int PRIMARY KEY, name text, ci text COLLATE caseless, c char(8), bp bpchar, n numeric, d date,
	m mood, f float8, a int[], k int) WITH (autovacuum_enabled = off);
INSERT INTO items SELECT i, CASE WHEN i % 9 > 0 THEN 'item ' || i % 500 END, (ARRAY['a', 'A', 'b'])[i % 3 + 1],
	'c' || i % 40,
	(ARRAY['x', 'x ', 'y', NULL])[i % 4 + 1]::bpchar, (ARRAY[1.0, 1.00, 2])[i % 3 + 1],
	'2020-01-01'::date + i % 300,
	(ARRAY['sad', 'ok', 'happy'])[i % 3 + 1]::mood, (ARRAY[0, -0.0, 'NaN'])[i % 3 + 1]::float8, ARRAY[i % 5], i % 7
FROM generate_series(1, 4000) i;
CREATE TABLE days (day date PRIMARY KEY, year int, month int, name text) WITH (autovacuum_enabled = off);
INSERT INTO days SELECT d, extract(year FROM d), extract(month FROM d), to_char(d, 'YYYY-MM')
FROM (SELECT '2020-01-01'::date + i FROM generate_series(0, 800) i) q (d);
CREATE TABLE tags (item int, tag text) WITH (autovacuum_enabled = off);
INSERT INTO tags SELECT i % 4000, 'tag ' || i % 11 FROM generate_series(1, 9000) i;
CREATE TABLE sales (id int, item int, day date, o int, v int, w numeric(10, 2)) WITH (autovacuum_enabled = off);
CREATE FUNCTION make_sales(start int, n int) RETURNS SETOF sales LANGUAGE sql AS $$
	SELECT i, CASE WHEN h % 31 > 0 THEN h % 4300 END, '2020-01-01'::date + h % 900, h % 200, h % 1000 - 300,
		(h % 7777) / 100.0
	FROM (SELECT i, abs(hashint4(i)) FROM generate_series(start, start + n - 1) i) q (i, h)
$$;
INSERT INTO sales SELECT * FROM make_sales(1, 60000);
CREATE INDEX sales_idx ON sales USING rtscan (item, day, o) INCLUDE (v, w);
VACUUM ANALYZE items, days, tags, sales;
INSERT INTO sales SELECT * FROM make_sales(60001, 300);
UPDATE sales SET v = v + 1 WHERE id % 500 = 3;

CREATE FUNCTION outcome(query text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	rows text[];
BEGIN
	EXECUTE 'SELECT array_agg(r::text ORDER BY r::text COLLATE "C") FROM (' || query || ') r' INTO rows;
	RETURN rows;
END $$;
-- Queries whose results differ from PostgreSQL's own, or that the node does not answer.
CREATE FUNCTION differs(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	plan text;
	hashagg text := current_setting('enable_hashagg');
	own text[] := outcome(query);
	expected text[];
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	PERFORM set_config(name, 'off', true) FROM pg_settings WHERE name LIKE 'rtscan.enable\_%' AND vartype = 'bool';
	SET LOCAL enable_hashagg = on;
	SET LOCAL enable_hashjoin = on;
	SET LOCAL work_mem = '64MB';
	expected := outcome(query);
	PERFORM set_config(name, 'on', true) FROM pg_settings WHERE name LIKE 'rtscan.enable\_%' AND vartype = 'bool';
	PERFORM set_config('enable_hashagg', hashagg, true);
	SET LOCAL enable_hashjoin = off;
	SET LOCAL work_mem TO DEFAULT;
	IF plan !~ 'RtscanAggregate' THEN
		RETURN NEXT format('%s: not by the node', query);
	END IF;
	IF own IS DISTINCT FROM expected THEN
		RETURN NEXT format('%s: %s rows, %s; not %s rows, %s', query, cardinality(own), left(own::text, 200),
			cardinality(expected), left(expected::text, 200));
	END IF;
END $$;

CREATE TABLE keys (keys text);
INSERT INTO keys VALUES ('i.id'), ('i.name, c'), ('i.id, i.name, c, d, m'), ('i.name, k, year, month'),
	('c, year, month, o'), ('i.name, o'), ('k, d'), ('m, year, k, i.name'), ('year, c, i.k'), ('i.id, year, month'),
	('sales.item, i.name, year'), ('i.name, c, d, m, k, year, month, x.name'),
	('upper(i.name), c'), ('i.id % 100, year'), ('i.name, sales.day'), ('day, x.name, i.id'), ('c, k + year, i.name');
-- what looks different may be equal: one group, and the same one by a hash or not
CREATE TABLE equal_keys (keys text);
INSERT INTO equal_keys VALUES ('n::int, k'), ('lower(ci COLLATE "C"), name'), ('length(bp), c'), ('abs(f), k'),
	('a, c');
SELECT differs(format('SELECT %s, count(*), sum(v), min(v), max(w), avg(v), sum(w) FROM sales
	%s JOIN items i ON i.id = sales.item %s JOIN days x USING (day) %s GROUP BY %s', keys, kind, kind, condition, keys))
FROM keys, unnest('{"",LEFT}'::text[]) kind,
	unnest('{"","WHERE o < 20","WHERE v % 3 = 0"}'::text[]) condition;
SELECT differs(format('SELECT count(*), sum(v), %s FROM sales JOIN items i ON i.id = sales.item GROUP BY %s',
	keys, keys))
FROM equal_keys;
SELECT differs(format('SELECT count(*), sum(v) FROM sales JOIN items i ON i.id = sales.item GROUP BY %s', keys))
FROM unnest('{"n, c","ci, name","bp, k","f, k","n, ci, bp, f, name","ci","bp","n","f","a, m"}'::text[]) keys;
-- aggregates that cells take, and others, with FILTER and HAVING
SELECT differs(format('SELECT %s, %s FROM sales JOIN items i ON i.id = sales.item JOIN days USING (day)
	GROUP BY %s %s', keys, aggregates, keys, more))
FROM unnest('{"i.id, i.name, month","c, k, year"}'::text[]) keys,
	unnest('{count(*),"sum(v) FILTER (WHERE o < 50), count(w)","stddev(v), max(v)",
		"percentile_disc(0.5) WITHIN GROUP (ORDER BY v), sum(v)",
		"count(DISTINCT o), sum(w)","max(o + v), sum(v * o)"}'::text[]) aggregates,
	unnest('{"","HAVING sum(v) > 2000"}'::text[]) more;
-- rows that have several matches, or must have one or none
SELECT differs(format('SELECT %s, count(*), sum(v) FROM sales JOIN tags t USING (item) JOIN items i ON i.id = sales.item
	WHERE o < 40 GROUP BY %s', keys, keys))
FROM unnest('{"tag, name","tag, i.id, c","tag, o"}'::text[]) keys;
SELECT differs('SELECT name, c, count(*), sum(v) FROM sales JOIN items i ON i.id = sales.item
	WHERE EXISTS (SELECT FROM tags t WHERE t.item = sales.item) GROUP BY name, c');
SELECT differs('SELECT name, c, count(*), sum(v) FROM sales LEFT JOIN items i ON i.id = sales.item
	WHERE NOT EXISTS (SELECT FROM tags t WHERE t.item = sales.item AND t.tag = ''tag 3'') GROUP BY name, c');
-- dimensions without rows, so that others are not loaded
SELECT differs(format('SELECT i.id, c, x.name, count(*), sum(v) FROM sales
	%s JOIN (SELECT * FROM items WHERE k = %s) i ON i.id = sales.item
	%s JOIN (SELECT * FROM days WHERE year = %s) x USING (day) GROUP BY i.id, c, x.name', a, k, b, year))
FROM unnest('{"",LEFT}'::text[]) a, unnest('{-1,1}'::int[]) k, unnest('{"",LEFT}'::text[]) b,
	unnest('{1,2020}'::int[]) year;
-- grouping sets
SELECT differs(format('SELECT i.name, c, year, month, count(*), sum(v), grouping(c, month) FROM sales
	JOIN items i ON i.id = sales.item JOIN days x USING (day) GROUP BY %s', sets))
FROM (VALUES ('ROLLUP (i.name, c, year, month)'), ('CUBE (c, year), i.name, month'),
	('GROUPING SETS ((i.name, c, year, month), (month, year), (i.name), ())')) q (sets);
-- columns that the primary key determines, of partitions, too
CREATE TABLE parts (LIKE sales) PARTITION BY RANGE (o);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (120);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (120) TO (200);
INSERT INTO parts SELECT * FROM sales;
CREATE INDEX ON parts USING rtscan (item, day, o) INCLUDE (v, w);
VACUUM ANALYZE parts;
SET enable_hashagg = on;
SELECT differs(format('SELECT i.id, name, c, n, a, sum(v), count(*) FROM %s s JOIN items i ON i.id = s.item
	GROUP BY i.id %s', fact, more))
FROM unnest('{"","HAVING name > ''item 3''"}'::text[]) more, unnest('{sales,parts}'::text[]) fact;
SELECT differs('SELECT i.name, c, year, month, count(*), sum(v) FROM parts s JOIN items i ON i.id = s.item
	JOIN days USING (day) GROUP BY i.name, c, year, month');
SET enable_hashagg = off;
-- in little memory: dimensions come in ranges, groups are spilled
CREATE FUNCTION in_little(query text) RETURNS SETOF text LANGUAGE sql SET work_mem = '64kB' AS $$
	SELECT differs(query)
$$;
SELECT in_little(format('SELECT %s, count(*), sum(v), min(v), max(w) FROM sales LEFT JOIN items i ON i.id = sales.item
	LEFT JOIN days x USING (day) GROUP BY %s', keys, keys))
FROM keys;
-- expressions of a dimension's column, once for each of its values
CREATE TABLE conditions (condition text);
INSERT INTO conditions VALUES ('i.name = ''item 7'''), ('c = ''c3'''), ('bp = ''x'''), ('ci = ''A'''), ('n = 1'),
	('x.name LIKE ''2020%'''), ('m > ''sad'''), ('a = ''{1}'''), ('f = 0'), ('i.name IS NULL'),
	('upper(i.name) < ''ITEM 3'''), ('coalesce(i.name, ''x'') <> ''x'''), ('length(i.name) > 6 AND x.year = 2021'),
	('d > ''2020-05-01''');
SELECT differs(query), in_little(query)
FROM conditions, unnest('{"",LEFT}'::text[]) kind,
	format('SELECT o %% 5, sum(CASE WHEN %1$s THEN v END), count(*) FILTER (WHERE %1$s),
		max(CASE WHEN %1$s THEN w END)
		FROM sales %2$s JOIN items i ON i.id = sales.item %2$s JOIN days x USING (day)
		GROUP BY 1', condition, kind) query;
SELECT differs(format('SELECT count(*), sum(v) FROM sales JOIN tags t USING (item) JOIN items i ON i.id = sales.item
	WHERE (CASE WHEN tag = ''tag 3'' THEN %1$s ELSE o < 9 END)', condition))
FROM conditions WHERE condition !~ 'x\.';
-- groups that do not fit in memory, though the dimensions do, are made in windows; rollups from all of them
CREATE FUNCTION in_windows(query text) RETURNS SETOF text LANGUAGE plpgsql SET work_mem = '256kB' AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, FORMAT json) ' || query INTO plan;
	IF coalesce((jsonb_path_query_first(plan, '$.**."Group Windows"'))::int, 0) < 2 THEN
		RETURN NEXT format('%s: no windows', query);
	END IF;
	RETURN QUERY SELECT differs(query);
END $$;
SELECT in_windows(format('SELECT %1$s, count(*), sum(v), min(v), max(w), avg(v) FILTER (WHERE o < 99) FROM sales
	%2$s JOIN items i ON i.id = sales.item %2$s JOIN days x USING (day) GROUP BY %1$s %3$s', keys, kind, more))
FROM unnest('{"i.id, month","i.id, c, year, month","k, i.id, x.name","i.id, i.name, x.name, year"}'::text[]) keys,
	unnest('{"",LEFT}'::text[]) kind,
	unnest('{"","HAVING count(*) > 1","ORDER BY sum(v), 1, 2 LIMIT 20"}'::text[]) more;
SELECT in_windows(format('SELECT i.id, i.name, year, month, count(*), sum(v), grouping(i.name, month) FROM sales
	JOIN items i ON i.id = sales.item JOIN days x USING (day) GROUP BY %s', sets))
FROM (VALUES ('ROLLUP (i.id, i.name, year, month)'),
	('GROUPING SETS ((i.id, i.name, year, month), (month, year), (i.name), ())')) q (sets);
-- a node that is executed again, with other parameters
SELECT differs('SELECT z, (SELECT string_agg(r::text, '' '' ORDER BY r::text) FROM (
	SELECT i.name, year, sum(v) FROM sales JOIN items i ON i.id = sales.item JOIN days USING (day)
	WHERE o < z * 5 AND i.k <> z GROUP BY i.name, year OFFSET 0) r) FROM generate_series(1, 3) z');

DROP SCHEMA star_composites CASCADE;
