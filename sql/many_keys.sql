-- Many keys at once, as lists and as rows of others: looked up or tested, the same as without an index.

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA many_keys;
SET search_path = many_keys, public;
SET rtscan.pending_list_limit = '64kB';
SET rtscan.merge_worker = off;
SET max_parallel_workers_per_gather = 0;

-- p, l, d and s are plain, for their values differ; a, n and t are coded; i, e, x and m are INCLUDEd
CREATE TABLE facts (id int, p int, l bigint, d date, s timestamp, q float8, a int, n numeric, t text, i int, e bigint,
	x float8, m numeric(12, 2), filler text) WITH (autovacuum_enabled = off);
INSERT INTO facts SELECT g, CASE WHEN h % 97 > 0 THEN h END, h * 4000000000, date '0001-01-01' + h % 700000,
	timestamp '2000-01-01' + h * interval '1 second', h / 2.0, h % 5000, round(h % 3000 / 4.0, h % 3),
		'text ' || h % 4000,
	h % 90000, CASE WHEN h % 11 > 0 THEN h::bigint END, h % 7000 / 8.0, h % 9000 / 100.0, 'row ' || g
	FROM (SELECT g, abs(hashint4(g)) % 1000000 FROM generate_series(1, 90000) g) r (g, h);
CREATE INDEX facts_index ON facts USING rtscan (p, l, d, s, q, a, n, t) INCLUDE (id, i, e, x, m);
DELETE FROM facts WHERE id % 50 = 0;
VACUUM ANALYZE facts;
INSERT INTO facts SELECT id + 200000, p + 1, l, d, s, q, a, n, t, i, e, x, m, filler FROM facts WHERE id % 100 = 1;
DELETE FROM facts WHERE id % 70 = 0;
SELECT pending > 0 AS pending FROM rtscan_stats('facts_index');

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/plans.psql
\set ECHO all
CREATE FUNCTION outcome(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE 'SELECT count(*) || '' '' || coalesce(sum(hashtextextended(r::text, 0)), 0)
		FROM (' || query || ') r' INTO result;
	RETURN result;
EXCEPTION WHEN others THEN
	RETURN SQLERRM;
END $$;
-- Rows that differ from those that the same query has without the index, or a plan that has not what it should have.
CREATE FUNCTION differs(query text, wanted text DEFAULT 'facts_index',
	same text DEFAULT NULL) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	plan text := plan_text(query);
	found text := outcome(query);
	truth text;
BEGIN
	SET LOCAL rtscan.enable_star = off;
	SET LOCAL rtscan.enable_scan = off;
	SET LOCAL rtscan.enable_aggregate = off;
	SET LOCAL enable_bitmapscan = off;
	SET LOCAL enable_indexscan = off;
	SET LOCAL enable_indexonlyscan = off;
	truth := outcome(coalesce(same, query));
	SET LOCAL rtscan.enable_star = on;
	SET LOCAL rtscan.enable_scan = on;
	SET LOCAL rtscan.enable_aggregate = on;
	RESET enable_bitmapscan;
	RESET enable_indexscan;
	RESET enable_indexonlyscan;
	IF position(wanted IN plan) = 0 THEN
		RETURN NEXT format('%s: no %s:%s%s', left(query, 200), wanted, E'\n', left(plan, 1000));
	END IF;
	IF found IS DISTINCT FROM truth THEN
		RETURN NEXT format('%s: %s, not %s', left(query, 200), found, truth);
	END IF;
END $$;

--
-- Lists: of keys that are there, and of some that are not; with NULLs, duplicates, dense ones, none; of other types
--
CREATE TABLE lists (name text, list text);
INSERT INTO lists VALUES
	('many', (SELECT array_agg(p)::text FROM (SELECT p FROM facts WHERE id % 17 = 0 UNION ALL SELECT -id
		FROM facts WHERE id < 100) r)),
	('twice', (SELECT array_agg(p)::text FROM (SELECT p FROM facts, generate_series(1, 2) WHERE id % 23 = 0) r)),
	('few', (SELECT array_agg(p)::text FROM (SELECT p FROM facts WHERE id % 4000 = 3) r)),
	('dense', (SELECT array_agg(g)::text FROM generate_series(100000, 110000) g WHERE g % 100 > 0)),
	('every other', (SELECT array_agg(g * 2)::text FROM generate_series(0, 6000) g)),
	('spans', (SELECT array_agg(g)::text FROM generate_series(0, 12000) g WHERE g % 7 > 0)),
	('ends', (SELECT array_agg(g)::text FROM (SELECT p FROM facts WHERE id % 20 = 7
		UNION ALL VALUES (-2147483648), (2147483647)) r (g))),
	('one', (SELECT array_agg(7)::text FROM generate_series(1, 5000))), ('none', '{}'), ('null', '{NULL}');
SELECT differs('SELECT id, p, i FROM facts WHERE ' || replace(qual, 'LIST', quote_literal(list)) || others, wanted,
	'SELECT id, p, i FROM facts WHERE ' || replace(same, 'LIST', quote_literal(list)) || others)
FROM lists, unnest(ARRAY[CASE WHEN name IN ('none', 'null') THEN '' ELSE 'facts_index' END]) wanted,
	(VALUES ('p = ANY (LIST)', 'p = ANY (LIST)'), ('p = ANY (LIST::bigint[])', 'p::bigint = ANY (LIST::bigint[])'),
	('i = ANY (LIST::bigint[])', 'i::bigint = ANY (LIST::bigint[])'), ('p <> ALL (LIST)', 'p <> ALL (LIST)'),
	('e = ANY (LIST::int[])', 'e = ANY (LIST::bigint[])')) quals (qual, same),
	unnest(ARRAY['', ' AND a < 50', ' AND a < 2500 AND x < 600']) others;
SELECT differs('SELECT count(*), sum(id) FROM facts WHERE ' || replace(qual, 'LIST', quote_literal(list)), same =>
	'SELECT count(*), sum(id) FROM facts WHERE ' ||
	replace(replace(qual, 'LIST', quote_literal(list)), 'float4', 'float8'))
FROM lists, unnest(ARRAY['(p = ANY (LIST) OR a = 3)', 'p = ANY (LIST) AND i = ANY (LIST)',
	'(p = ANY (LIST) OR i = ANY (LIST)) AND id < 70000', 'a = ANY (LIST) AND p > 1000', 'q = ANY (LIST::float8[])',
	'q = ANY (LIST::float4[])', 'n = ANY (LIST::numeric[])', 'x = ANY (LIST::float8[])',
		'm = ANY (LIST::numeric[])']) qual
WHERE name NOT IN ('none', 'null');
-- values that no int has, and of each kind of column
SELECT differs('SELECT count(*), sum(id) FROM facts WHERE ' || qual, same => 'SELECT count(*), sum(id)
	FROM facts WHERE ' || same)
FROM (SELECT array_agg(l)::text AS ls, array_agg(l / 4)::text AS big, array_agg(d)::text AS ds,
	array_agg(s)::text AS ss,
		array_agg(s::date)::text AS sd, array_agg(t)::text AS ts
	FROM facts WHERE id % 31 = 0) lists,
	LATERAL (VALUES (format('l = ANY (%L)', ls), format('l = ANY (%L)', ls)),
	(format('p = ANY (%L::bigint[])', big), format('p::bigint = ANY (%L::bigint[])', big)),
	(format('d = ANY (%L)', ds), format('d = ANY (%L)', ds)), (format('s = ANY (%L)', ss),
		format('s = ANY (%L)', ss)),
	(format('d = ANY (%L::timestamp[])', ss), format('d::timestamp = ANY (%L::timestamp[])', ss)),
	(format('s = ANY (%L::date[])', sd), format('s = ANY (%L::date[]::timestamp[])', sd)),
	(format('t = ANY (%L)', ts), format('t = ANY (%L)', ts)),
	(format('l = ANY (%L) AND a < 700', ls), format('l = ANY (%L) AND a < 700', ls))) quals (qual, same);
-- parameters
PREPARE counted(int[]) AS SELECT count(*), sum(id) FROM facts WHERE p = ANY ($1) AND a < 2500;
SET plan_cache_mode = force_generic_plan;
SELECT list AS many FROM lists WHERE name = 'many' \gset
EXECUTE counted(:'many');
EXECUTE counted('{}');
EXECUTE counted(NULL);
SET plan_cache_mode = force_custom_plan;
EXECUTE counted(:'many');
RESET plan_cache_mode;

--
-- Rows of the heap with those of others, of which a row may meet several: joined by PostgreSQL, of rows that meet any
--
CREATE TABLE keys (k int, k8 bigint, name text, ord int);
INSERT INTO keys SELECT CASE WHEN id % 12 > 0 THEN p END, i, t, id FROM facts, generate_series(1, 2)
	WHERE id % 60 < 2;
ANALYZE keys;
SET enable_nestloop = off;
SET enable_mergejoin = off;
SELECT explained('SELECT ord, facts.id, name, filler FROM keys JOIN facts ON p = k');
SELECT differs('SELECT ' || query, 'Dimensions: ')
FROM unnest(ARRAY['ord, facts.id, name FROM keys JOIN facts ON p = k', 'ord, facts.id, name FROM keys
	JOIN facts ON p = k8 AND a >= 0',
	'ord, facts.*, name FROM keys JOIN facts ON p = k8 AND a < 900 AND ord < id', 'ord, facts.id, name
		FROM keys JOIN facts ON p = k AND i = k8',
	'ord, facts.id, filler FROM facts JOIN keys ON p = k', 'ord, facts.id FROM keys LEFT JOIN facts ON p = k',
	'ord, facts.id FROM keys LEFT JOIN facts ON p = k AND a < 4000', 'ord, facts.id FROM facts RIGHT
		JOIN keys ON p = k AND name < t',
	'count(*), sum(ord) FROM keys JOIN facts ON p = k',
	'ord, id FROM (VALUES (1, 1), (17, 2), (17, 3), (NULL, 4)) v (k, ord) JOIN facts ON a = k',
	'ord, id, filler FROM (VALUES (1, 1), (17, 2), (17, 3), (NULL, 4)) v (k, ord) LEFT
		JOIN facts ON a = k AND d > ''1000-01-01''']) query;
SELECT differs(format('SELECT ord, facts.id, filler FROM unnest(%L::int[]) WITH ORDINALITY x (k,
	ord) %s facts ON p = k', list, kind), 'Dimensions: semi')
FROM lists, unnest('{JOIN,"LEFT JOIN"}'::text[]) kind WHERE name NOT IN ('none', 'null');
SELECT differs(format('SELECT ord, facts.id, filler FROM unnest(%L::int[]) WITH ORDINALITY x (k,
	ord) %s facts ON p = k', list, kind), '')
FROM lists, unnest('{JOIN,"LEFT JOIN"}'::text[]) kind WHERE name IN ('none', 'null');
SELECT differs(format('SELECT %s FROM keys WHERE %s EXISTS (SELECT FROM facts WHERE p = k AND a < 3000)',
	output, kind), '')
FROM unnest('{ord,count(*)}'::text[]) output, unnest('{"",NOT}'::text[]) kind;
-- not if the other table may return other rows the second time
SELECT query FROM unnest(ARRAY['SELECT k, id FROM (SELECT k, random() r FROM keys) y
	JOIN facts ON p = k AND r > 0 WHERE a < 9',
	'SELECT k, id FROM keys TABLESAMPLE bernoulli (20) JOIN facts ON p = k WHERE a < 9',
	'SELECT k, id FROM (SELECT k FROM keys LIMIT 100) y JOIN facts ON p = k WHERE a < 9',
	'SELECT k, id FROM (SELECT k FROM keys WHERE random() < 0.5) y JOIN facts ON p = k WHERE a < 9',
	'SELECT * FROM keys JOIN facts ON p = k WHERE a < 9 FOR UPDATE OF facts']) query
WHERE position('Dimensions: semi' IN plan_text(query)) > 0;
-- rows that have been changed and deleted
BEGIN;
UPDATE facts SET p = p + 3 WHERE id % 60 = 1;
DELETE FROM keys WHERE ord % 5 = 0;
SELECT differs('SELECT ord, facts.id, filler FROM keys JOIN facts ON p = k', 'Dimensions: semi');
SELECT differs('SELECT count(*), sum(id) FROM facts WHERE p = ANY (''' || list || ''')')
FROM lists WHERE name = 'many';
ROLLBACK;

--
-- Coded columns: of many keys all of the dictionary is asked, then the rows that are left, by code; of few rows the
-- values
--
CREATE TABLE coded (id int, c int, s smallint, l bigint, d date, h int, g int) WITH (autovacuum_enabled = off);
INSERT INTO coded SELECT g, CASE WHEN h % 53 > 0 THEN h % 40000 - 15000 END,
	CASE h % 900 WHEN 7 THEN -32768 WHEN 8 THEN 32767 ELSE h % 6000 - 2500 END,
	CASE h % 800 WHEN 5 THEN -9223372036854775808 WHEN 6 THEN 9223372036854775807
		ELSE (h % 20000) * 1000000000000 END,
	CASE h % 700 WHEN 3 THEN 'infinity' WHEN 4 THEN '-infinity' WHEN 5 THEN NULL
		ELSE date '1990-01-01' + h % 12000 END, g / 20, h % 10
	FROM (SELECT g, abs(hashint4(g)) FROM generate_series(1, 150000) g) r (g, h);
CREATE INDEX coded_index ON coded USING rtscan (c, s, l, d, h, g) INCLUDE (id);
DELETE FROM coded WHERE id % 41 = 0;
VACUUM ANALYZE coded;
INSERT INTO coded SELECT id + 200000, c, s, l, d, h, g FROM coded WHERE id % 90 = 1;
CREATE TABLE labels (k int, s int, l bigint, d date, h int, name text);
INSERT INTO labels SELECT DISTINCT ON (c) c, s, l, d, h, 'label ' || id % 20
	FROM coded WHERE c % 3 > 0 ORDER BY c, id;
ALTER TABLE labels ADD PRIMARY KEY (k);
ANALYZE labels;
-- Return the ways in which segments were evaluated, as EXPLAIN shows them for dimensions
CREATE FUNCTION ways(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	result text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		result := result || coalesce(substring(line FROM 'ways=(\w+)') || ' ', '');
	END LOOP;
	RETURN rtrim(result);
END $$;
SET rtscan.executor = cpu;
SET enable_hashjoin = off;
SELECT ways('SELECT name, count(*) FROM coded JOIN labels ON k = c WHERE g = 3 GROUP BY 1');
SELECT ways('SELECT name, id FROM coded JOIN labels ON k = c WHERE coded.h = 700');
SELECT ways('SELECT count(*) FROM coded WHERE c IN (SELECT k FROM labels) AND g = 3');
RESET rtscan.executor;
RESET enable_hashjoin;
SELECT differs('SELECT ' || replace(query, 'IF', condition), 'coded_index')
FROM unnest(ARRAY['name, count(*), sum(id) FROM coded JOIN labels ON k = c WHERE IF GROUP BY 1',
	'id, name FROM coded JOIN labels ON k = c WHERE IF', 'id, name FROM coded LEFT JOIN labels ON k = c WHERE IF',
	'count(*) FROM coded WHERE c IN (SELECT k FROM labels) AND IF',
	'count(*), sum(id) FROM coded WHERE NOT EXISTS (SELECT FROM labels WHERE k = c) AND IF',
	'sum(id) FROM coded WHERE c NOT IN (SELECT k FROM labels) AND IF',
	'count(*), sum(id) FROM coded WHERE coded.s IN (SELECT s FROM labels) AND IF',
	'sum(id) FROM coded WHERE coded.s NOT IN (SELECT s FROM labels WHERE s IS NOT NULL) AND IF',
	'count(*), sum(id) FROM coded WHERE coded.l IN (SELECT l FROM labels) AND IF',
	'count(*) FROM coded WHERE coded.l NOT IN (SELECT l FROM labels WHERE k < 1000) AND IF',
	'count(*), sum(id) FROM coded WHERE coded.d IN (SELECT d FROM labels) AND IF',
	'count(*) FROM coded WHERE coded.d NOT IN (SELECT d FROM labels WHERE d IS NOT NULL) AND IF']) query,
	unnest('{coded.g = 3,coded.h = 700,coded.h BETWEEN 1000 AND 1020,coded.g < 8}'::text[]) condition;
-- lists, negated and among alternatives; contiguous ones, of values that there are not, of the ends
SELECT differs(format('SELECT count(*), sum(id) FROM coded WHERE ' || qual, list), 'coded_index')
FROM (VALUES ((SELECT array_agg(x)::text FROM generate_series(-2000, 3000) x)),
	((SELECT array_agg(x)::text FROM generate_series(-3000, 4000, 2) x)),
	((SELECT array_agg(x)::text FROM generate_series(10000, 14000) x)),
	((SELECT array_agg(x)::text FROM (SELECT k FROM labels
		UNION ALL VALUES (-32768), (32767), (NULL)) v (x)))) v (list),
	unnest(ARRAY['c = ANY (%1$L::int[]) AND g = 3', 'c <> ALL (%1$L::int[]) AND g = 3',
	's = ANY (%1$L::int[]) AND g = 3',
	'c = ANY (%1$L::bigint[]) AND g = 3', '(c = ANY (%1$L::int[]) OR s = ANY (%1$L::int[])) AND g = 3',
	'(c = ANY (%1$L::int[]) AND h < 5000 OR g = 1) AND s <> ALL (%1$L::int[])', 'l = ANY (%1$L::bigint[]) AND h < 900',
	'c = ANY (%1$L::int[]) AND h = 700']) qual;

DROP SCHEMA many_keys CASCADE;
