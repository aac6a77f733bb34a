-- The first rows of each group: DISTINCT ON, and small row numbers.  The answers are those of sequential scans.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA first_of_each;
SET search_path = first_of_each, public;
SET rtscan.merge_worker = off;
SET max_parallel_workers_per_gather = 0;
SET enable_sort = off;
SET enable_incremental_sort = off;
SET rtscan.enable_aggregate = off;
SET rtscan.pending_list_limit = 64;

CREATE TABLE visits (id int, person int, at timestamptz, place text COLLATE "C", amount numeric, weight float8,
	day date, note text);
INSERT INTO visits
SELECT i, CASE WHEN i % 97 > 0 THEN i * 7919 % 1500 END,
	timestamptz '2025-01-01 00:00+00' + make_interval(secs => i * 37 % 50000),
	CASE WHEN i % 89 > 0 THEN 'place ' || i * 31 % 40 END, CASE WHEN i % 53 > 0 THEN (i * 17 % 1000) / 8.0 END,
	CASE i % 40 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' WHEN 2 THEN '-Infinity' ELSE (i * 11 % 300)::float8 END,
	date '2024-02-28' + i % 3, repeat('n', i % 7)
FROM generate_series(1, 30000) i;
CREATE INDEX visits_idx ON visits USING rtscan (person, at, place, amount, weight) INCLUDE (id,
	day);
VACUUM ANALYZE visits;
SELECT segments, pending FROM rtscan_stats('visits_idx');

-- Rows in order, by the index or by a sequential scan, and whether they differ.  Rows must be the same.
CREATE FUNCTION rows_of(query text, by_index bool) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	PERFORM set_config('rtscan.enable_scan', by_index::text, true), set_config('enable_seqscan',
	(NOT by_index)::text, true),
		set_config('enable_bitmapscan', 'off', true);
	EXECUTE format('SELECT array_agg(q::text) FROM (%s) q', query) INTO answer;
	RETURN answer;
END
$$;
CREATE FUNCTION shown(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	shown text := '';
BEGIN
	PERFORM set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true);
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		shown := shown || coalesce(substring(line from 'First Rows: .*'), '');
	END LOOP;
	RETURN shown;
END
$$;
CREATE TABLE queries (n serial, q text);
INSERT INTO queries (q) VALUES
	('SELECT DISTINCT ON (person) person, at FROM visits ORDER BY person, at DESC'),
	('SELECT DISTINCT ON (person) person, at, id, place, amount FROM visits ORDER BY person DESC, at, id'),
	('SELECT DISTINCT ON (person) person, at, id FROM visits ORDER BY person NULLS FIRST, at DESC NULLS LAST,
	id DESC'),
	('SELECT DISTINCT ON (place) place, amount, id FROM visits ORDER BY place, amount DESC, id'),
	('SELECT DISTINCT ON (place) place, amount, id FROM visits ORDER BY place DESC NULLS LAST,
	amount DESC NULLS LAST, id'),
	('SELECT DISTINCT ON (place, day) place, day, weight + 0 AS w, id FROM visits ORDER BY place, day DESC,
	weight DESC, id'),
	('SELECT DISTINCT ON (weight) weight + 0 AS w, id FROM visits ORDER BY weight, id DESC'),
	('SELECT DISTINCT ON (amount, person) trim_scale(amount), person, id FROM visits ORDER BY amount, person,
	id DESC'),
	('SELECT DISTINCT ON (day) day, id FROM visits ORDER BY day, id DESC LIMIT 2'),
	('SELECT DISTINCT ON (day) day FROM visits'),
	('SELECT DISTINCT ON (at) at FROM visits ORDER BY at DESC LIMIT 100'),
	('SELECT DISTINCT ON (id) id, person FROM visits ORDER BY id'),
	('SELECT DISTINCT ON (person) person, at, id FROM visits WHERE place = ''place 7'' AND amount > 20
	ORDER BY person, at DESC, id'),
	('SELECT DISTINCT ON (place) place, id FROM visits WHERE person IN (3, 5, 77, 1200) OR person IS NULL
	ORDER BY place, id'),
	('SELECT DISTINCT ON (person) visits.* FROM visits WHERE at < ''2025-01-01 05:00+00'' ORDER BY person, at DESC,
	id'),
	('SELECT person, at, id, r FROM (SELECT *, row_number() OVER (PARTITION BY person ORDER BY at DESC, id) r
	FROM visits) s WHERE r = 1'),
	('SELECT person, at, id, r FROM (SELECT *, row_number() OVER (PARTITION BY person ORDER BY at DESC, id) r
	FROM visits) s WHERE r <= 3'),
	('SELECT place, day, id, r FROM (SELECT *, row_number() OVER (PARTITION BY place, day ORDER BY amount,
	id DESC) r FROM visits) s WHERE r < 6 AND r <= 40'),
	('SELECT place, id FROM (SELECT *, row_number() OVER (PARTITION BY place ORDER BY id) r FROM visits
	WHERE weight > 100) s WHERE 2::int2 >= r'),
	('SELECT day, r, id FROM (SELECT *, row_number() OVER (PARTITION BY day ORDER BY person, id) r
	FROM visits) s WHERE r <= 64'),
	('SELECT count(*), sum(id) FROM (SELECT DISTINCT ON (place) id FROM visits ORDER BY place, id) s'),
	('SELECT person, max(at) FROM visits GROUP BY person ORDER BY person'),
	('SELECT person, place, min(at) > ''2025-01-01 05:00+00'', min(at) IS NULL FROM visits GROUP BY person, place
	HAVING min(at) > ''2025-01-01 04:00+00'' OR min(at) IS NULL ORDER BY person, place'),
	('SELECT day, max(id), 2 * max(id) FROM visits WHERE person IS NOT NULL GROUP BY day ORDER BY max(id)'),
	('SELECT count(*) FROM (SELECT place, min(day) FROM visits GROUP BY place) s'),
	('SELECT v.id, l.id FROM visits v, LATERAL (SELECT DISTINCT ON (place) id FROM visits w
	WHERE w.person = v.person ORDER BY place, id) l WHERE v.id < 8'),
	('SELECT DISTINCT ON (v.place) v.place, v.id FROM ((TABLE visits) UNION ALL (SELECT * FROM visits
	WHERE id < 100)) v ORDER BY v.place, v.id');
CREATE FUNCTION all_differences() RETURNS SETOF int LANGUAGE sql AS $$
	SELECT n FROM queries WHERE rows_of(q, true) IS DISTINCT FROM rows_of(q, false) ORDER BY n
$$;
CREATE FUNCTION not_by_node() RETURNS SETOF int LANGUAGE sql AS $$
	SELECT n FROM queries WHERE shown(q) = '' ORDER BY n
$$;
SELECT all_differences();
SELECT n, shown(q) FROM queries ORDER BY n;

-- Memory has no room for all groups: several passes.
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT all_differences();
SELECT not_by_node();
RESET work_mem;
RESET hash_mem_multiplier;

-- Several segments, rows that are pending, deleted or updated, and others' that are not to be seen.
INSERT INTO visits SELECT id + 100000, person * 2, at + interval '1 hour', 'new ' || place, amount * 2, weight,
	day + 1, note FROM visits WHERE id % 3 = 0;
INSERT INTO visits SELECT id + 200000, person + 3, at + interval '2 hours', place, amount, weight, day, note
	FROM visits WHERE id % 100 = 0;
INSERT INTO visits VALUES (-1, -1000000, 'infinity', NULL, 'NaN', '-0', '-infinity', NULL), (-2, NULL, NULL, NULL,
	NULL, NULL, NULL, NULL);
DELETE FROM visits WHERE id % 7 = 0;
UPDATE visits SET at = at + interval '1 day' WHERE id % 11 = 0;
UPDATE visits SET note = 'changed' WHERE id % 13 = 0;
SELECT segments > 1 AS several, pending > 0 AS and_pending FROM rtscan_stats('visits_idx');
SELECT all_differences();
SET work_mem = '64kB';
SELECT all_differences();
RESET work_mem;
BEGIN;
DELETE FROM visits WHERE id % 2 = 0;
SELECT all_differences();
ROLLBACK;
SELECT all_differences();
SELECT rtscan_check('visits_idx');

-- All rows of a chunk are read, also those that are not wanted, and the groups' range does not begin at 0.
CREATE TABLE few (kind int, n int, s text);
INSERT INTO few SELECT 910, i, 's' || i % 5 FROM generate_series(1, 94) i;
CREATE INDEX ON few USING rtscan (kind, n, s);
VACUUM ANALYZE few;
SET enable_seqscan = off;
SELECT DISTINCT ON (kind) kind, s, n FROM few WHERE n > 30 ORDER BY kind, s, n;
RESET enable_seqscan;

-- Long texts: as many groups are kept as fit into memory.
CREATE TABLE long (g int, k text, o text);
INSERT INTO long SELECT i % 200, repeat(md5((i % 300)::text), 30), repeat(md5(i::text), 20)
FROM generate_series(1, 4000) i;
CREATE INDEX long_idx ON long USING rtscan (g) INCLUDE (k, o);
VACUUM ANALYZE long;
SET work_mem = '64kB';
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT DISTINCT ON (g) g, o FROM long ORDER BY g, o DESC;
SELECT count(*), sum(g), md5(string_agg(o, '')) FROM (SELECT DISTINCT ON (g) g, o FROM long ORDER BY g, o DESC) q;
SELECT count(*), md5(string_agg(k || o, '')) FROM (SELECT DISTINCT ON (k) k, o FROM long ORDER BY k, o) q;
SELECT count(*), md5(string_agg(o || r, '' ORDER BY g, r)) FROM (SELECT g, o, r FROM (SELECT g, o,
	row_number() OVER (PARTITION BY g ORDER BY o) r FROM long) s WHERE r <= 3) q;
SET rtscan.enable_scan = off;
RESET enable_sort;
SELECT count(*), sum(g), md5(string_agg(o, '')) FROM (SELECT DISTINCT ON (g) g, o FROM long ORDER BY g, o DESC) q;
SELECT count(*), md5(string_agg(k || o, '')) FROM (SELECT DISTINCT ON (k) k, o FROM long ORDER BY k, o) q;
SELECT count(*), md5(string_agg(o || r, '' ORDER BY g, r)) FROM (SELECT g, o, r FROM (SELECT g, o,
	row_number() OVER (PARTITION BY g ORDER BY o) r FROM long) s WHERE r <= 3) q;
SET enable_sort = off;
RESET rtscan.enable_scan;
RESET work_mem;
RESET enable_seqscan;

-- A cursor, a rescan, and a prepared statement.
BEGIN;
DECLARE c CURSOR FOR SELECT DISTINCT ON (place) place, id FROM visits ORDER BY place, id;
FETCH 3 FROM c;
DELETE FROM visits WHERE place < 'place 3';
FETCH 2 FROM c;
ROLLBACK;
PREPARE latest (int) AS SELECT DISTINCT ON (person) person, at AT TIME ZONE 'UTC', id FROM visits
	WHERE person < $1 ORDER BY person, at DESC, id;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE latest (0);
EXECUTE latest (0);
EXECUTE latest (2);
RESET plan_cache_mode;

-- No first rows: the query needs the others as well, or the index does not have what decides.
SELECT n, shown(q) FROM (VALUES
	(1, 'SELECT DISTINCT ON (person) person, random() FROM visits ORDER BY person, at'),
	(2, 'SELECT DISTINCT ON (person) person, count(*) OVER () FROM visits ORDER BY person, at'),
	(3, 'SELECT DISTINCT ON (person) person, count(*) FROM visits GROUP BY person, at ORDER BY person, at'),
	(4, 'SELECT DISTINCT ON (person) person, at FROM visits WHERE note = ''n'' ORDER BY person, at'),
	(5, 'SELECT DISTINCT ON (person) person, at FROM visits ORDER BY person, note'),
	(6, 'SELECT DISTINCT ON (person) person, at FROM visits JOIN queries ON queries.n = visits.id ORDER BY person,
	at'),
	(7, 'SELECT DISTINCT ON (person + 1) person, at FROM visits ORDER BY person + 1, at'),
	(8, 'SELECT DISTINCT ON (person) person, generate_series(1, id) FROM visits ORDER BY person, at'),
	(9, 'SELECT * FROM (SELECT id, rank() OVER (PARTITION BY person ORDER BY at) r FROM visits) s WHERE r = 1'),
	(10, 'SELECT * FROM (SELECT id, row_number() OVER (PARTITION BY person ORDER BY at) r FROM visits) s
	WHERE r = 2 OR id = 1'),
	(11, 'SELECT * FROM (SELECT id, row_number() OVER (PARTITION BY person ORDER BY at) r,
	sum(id) OVER (PARTITION BY person ORDER BY at) FROM visits) s WHERE r = 1'),
	(12, 'SELECT * FROM (SELECT id, row_number() OVER (PARTITION BY person ORDER BY at) r,
	row_number() OVER (ORDER BY at) a FROM visits) s WHERE r = 1'),
	(13, 'SELECT * FROM (SELECT id, row_number() OVER (PARTITION BY person ORDER BY at) r FROM visits) s
	WHERE r <= 65'),
	(14, 'SELECT * FROM (SELECT id, row_number() OVER (ORDER BY at) r FROM visits) s WHERE r <= 5'),
	(15, 'SELECT * FROM (SELECT id, row_number() OVER (PARTITION BY person ORDER BY at) r FROM visits) s
	WHERE r > 5'),
	(16, 'SELECT * FROM (SELECT id, row_number() OVER (PARTITION BY person ORDER BY at) r FROM visits) s
	WHERE r <= 0'),
	(17, 'SELECT person, max(at), min(at) FROM visits GROUP BY person'),
	(18, 'SELECT person, max(at), count(*) FROM visits GROUP BY person'),
	(19, 'SELECT person, max(at) FILTER (WHERE id > 5) FROM visits GROUP BY person'),
	(20, 'SELECT person, max(amount) FROM visits GROUP BY person'),
	(21, 'SELECT max(at) FROM visits'),
	(22, 'SELECT person, max(person) FROM visits GROUP BY person'),
	(23, 'SELECT person, max(at) FROM visits GROUP BY GROUPING SETS ((person), ())')) q (n, q);

-- Partitions, and a row-level security policy.
CREATE TABLE parts (id int, person int, at int) PARTITION BY RANGE (at);
CREATE TABLE parts1 PARTITION OF parts FOR VALUES FROM (0) TO (500);
CREATE TABLE parts2 PARTITION OF parts FOR VALUES FROM (500) TO (1000);
INSERT INTO parts SELECT i, i % 30, i * 7919 % 1000 FROM generate_series(1, 5000) i;
CREATE INDEX ON parts USING rtscan (person, at) INCLUDE (id);
VACUUM ANALYZE parts;
SELECT shown('SELECT DISTINCT ON (person) person, at, id FROM parts ORDER BY person, at DESC, id');
DELETE FROM queries;
INSERT INTO queries VALUES (1, 'SELECT DISTINCT ON (person) person, at, id FROM parts ORDER BY person, at DESC, id');
SELECT all_differences();
-- Children, not all of which have an index
CREATE TABLE parent (k int, v int);
CREATE TABLE child () INHERITS (parent);
INSERT INTO child SELECT i % 100, i FROM generate_series(1, 10000) i;
INSERT INTO parent SELECT 1, 20000;
CREATE INDEX ON child USING rtscan (k, v);
VACUUM ANALYZE parent, child;
DELETE FROM queries;
INSERT INTO queries VALUES (1, 'SELECT k, max(v) FROM parent GROUP BY k ORDER BY k LIMIT 3'),
	(2, 'SELECT k, min(v) FROM parent GROUP BY k ORDER BY k'),
	(3, 'SELECT DISTINCT ON (k) k, v FROM parent ORDER BY k, v DESC'),
	(4, 'SELECT person, max(at) FROM parts GROUP BY person ORDER BY person');
SELECT all_differences();
SELECT n, shown(q) FROM queries ORDER BY n;

-- groups of equal values that look different: of a type whose hash function does not know the collation, and of others
CREATE COLLATION caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE looks (id int, n name COLLATE caseless, w text COLLATE caseless, c char(9) COLLATE caseless)
	WITH (autovacuum_enabled = off);
INSERT INTO looks SELECT i, v, v, v
	FROM generate_series(1, 3000) i, LATERAL (SELECT (ARRAY['ab', 'aB', 'AB'])[1 + i % 3] || i / 4) x (v);
CREATE INDEX looks_idx ON looks USING rtscan (id, n, w, c);
VACUUM ANALYZE looks;
DELETE FROM queries;
INSERT INTO queries
SELECT row_number() OVER (), format('SELECT DISTINCT ON (%s) id, %1$s FROM looks ORDER BY %1$s, id DESC', k)
FROM unnest('{n,w,c}'::text[]) k;
SELECT all_differences();
SELECT n, shown(q) FROM queries ORDER BY n;

CREATE ROLE first_of_each_reader;
GRANT USAGE ON SCHEMA first_of_each TO first_of_each_reader;
GRANT SELECT ON visits TO first_of_each_reader;
ALTER TABLE visits ENABLE ROW LEVEL SECURITY;
CREATE POLICY some_rows ON visits USING (id % 2 = 1);
SET ROLE first_of_each_reader;
SELECT bool_and(id % 2 = 1), count(*) > 1000 FROM (SELECT DISTINCT ON (person) id FROM visits ORDER BY person, at) s;
RESET ROLE;
DROP SCHEMA first_of_each CASCADE;
DROP ROLE first_of_each_reader;
