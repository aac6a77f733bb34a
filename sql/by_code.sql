-- Expressions of a column that has codes are evaluated once for each code, if they raise no errors; groups by integers
-- need no memory for their keys.  The answers are those of sequential scans.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA by_code;
SET search_path = by_code, public;
SET rtscan.merge_worker = off;
SET max_parallel_workers_per_gather = 0;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET rtscan.enable_scan = off;

CREATE TABLE coded (id int, status text, country text COLLATE "C", amount numeric(10,2), n int, note text,
	attributes jsonb);
INSERT INTO coded
SELECT i, (ARRAY['paid', 'Paid', 'shipped', 'cancelled', 'returned', 'refunded', '', 'a_b%c\d'])[1 + i * 7919 % 8],
	CASE WHEN i % 11 = 0 THEN NULL ELSE (ARRAY['DE', 'AT', 'CH', 'FR', 'Österreich'])[1 + i * 31 % 5] END,
		i * 37 % 1000 / 7.0,
	CASE WHEN i % 13 > 0 THEN i * 17 % 50 END, 'note ' || i, jsonb_build_object('channel', (ARRAY['app',
		'web'])[1 + i % 2], 'k', i % 30)
FROM generate_series(1, 6000) i;
CREATE INDEX coded_idx ON coded USING rtscan (status, country, amount, n) INCLUDE (id, note, attributes);
VACUUM ANALYZE coded;

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/answers.psql
\set ECHO all
CREATE FUNCTION shown(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	shown text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'Custom Scan|Evaluated Singly|Spilled' THEN
			shown := shown || regexp_replace(line, ' \(actual.*| *Custom Scan ', '', 'g');
		END IF;
	END LOOP;
	RETURN shown;
END
$$;

CREATE TABLE conditions (c text);
INSERT INTO conditions VALUES ($$status ILIKE 'PA%'$$), ($$status LIKE '%ed'$$),
	($$status NOT LIKE '%e%' AND n > 10$$), ($$lower(status) = 'paid'$$),
	($$status ~ '^re'$$), ($$status ~* 'PAID$'$$), ($$status !~ 'a.*d'$$), ($$status ~ '(ab)+'$$),
		($$length(country) > 2$$),
	($$coalesce(country, '') <> ''$$),
		($$CASE WHEN country IN ('DE', 'AT', 'CH') THEN 'DACH' ELSE 'else' END = 'DACH'$$),
	($$left(status, 1) || 'x' = 'px'$$), ($$substr(status, 2, 2) = 'ai' OR country = 'FR'$$),
		($$substr(status, n) = 'id'$$), ($$upper(country) = 'ÖSTERREICH'$$),
	($$status LIKE 'a\_b%'$$), ($$starts_with(status, 're') IS NOT TRUE$$), ($$nullif(country, 'DE') IS NULL$$),
		($$country IS DISTINCT FROM 'DE'$$),
	($$status || country LIKE 'p%T'$$), ($$attributes->>'channel' = 'app'$$),
		($$attributes @> '{"k": 3}' AND status <> 'paid'$$),
	($$attributes ? 'channel'$$), ($$note LIKE '%7'$$), ($$length(note) = 6 AND status ILIKE 'p%'$$),
		($$country < status COLLATE "C"$$),
	($$NOT (status ILIKE '%a%' AND amount > 50)$$), ($$replace(status, 'a', '') = 'pid'$$),
		($$position('ai' in status) = 2$$), ($$amount::text LIKE '%.00'$$);
CREATE FUNCTION all_differences() RETURNS SETOF text LANGUAGE sql AS $$
	SELECT q FROM conditions, unnest(ARRAY['SELECT count(*), sum(id) FROM coded WHERE %1$s',
		'SELECT n, count(*) FILTER (WHERE %1$s) FROM coded GROUP BY n',
		'SELECT sum(CASE WHEN %1$s THEN amount ELSE -1 END) FROM coded',
			'SELECT %1$s, count(*), sum(amount) FROM coded GROUP BY 1',
			'SELECT n, id %% 7, count(*) FILTER (WHERE %1$s) FROM coded GROUP BY GROUPING SETS ((n), (id %% 7))']) t,
		format(t, c) q
	WHERE differs(q)
$$;
SELECT all_differences();
SELECT c, shown(format('SELECT count(*) FROM coded WHERE %s', c)) FROM conditions;

-- Patterns that are errors are errors only where PostgreSQL evaluates them.
SELECT count(*) FROM coded WHERE status LIKE 'a\';
SELECT count(*) FROM coded WHERE status ~ '(';
SELECT count(*) FROM coded WHERE n < 0 AND status LIKE 'a\';
SELECT sum(CASE WHEN n < 0 AND substr(status, 1, n) = 'a' THEN 1 ELSE 2 END) FROM coded;
SELECT count(*) FROM coded WHERE status::int = 1;

-- CASE that compares a column with another one: its conditions are not expressions of the other column alone.
CREATE TABLE cased AS
	SELECT i AS id, 'k' || i % 700 AS a, 'k' || (i * 7 % 700 + i % 3) AS b FROM generate_series(1, 10000) i;
CREATE INDEX cased_idx ON cased USING rtscan (a, b, id);
VACUUM ANALYZE cased;
SELECT q, differs(q)
FROM (VALUES ($$SELECT CASE a WHEN b THEN 'same' ELSE 'other' END, count(*) FROM cased GROUP BY 1$$),
	($$SELECT CASE lower(a) WHEN upper(b) THEN '1' WHEN b THEN '2' ELSE '3' END, count(*) FROM cased GROUP BY 1$$),
	($$SELECT sum(CASE a WHEN b THEN id ELSE -1 END) FROM cased$$),
	($$SELECT count(*) FROM cased WHERE CASE a WHEN b THEN 'x' ELSE 'y' END = 'x'$$),
	($$SELECT CASE b WHEN 'k1' THEN 'one' WHEN 'k2' THEN a END, count(*) FROM cased GROUP BY 1$$)) v (q);

-- Segments with different dictionaries, scanned again and again by a nested loop.
CREATE TABLE scanned (id int, k int, a text, x int);
CREATE INDEX scanned_idx ON scanned USING rtscan (k, a, id) INCLUDE (x);
\set rows 'SELECT i * :k, :k, repeat(chr(96 + :k), i * :k % 40), i FROM generate_series(1, 3000) i'
\set k 1
INSERT INTO scanned :rows;
VACUUM scanned;
\set k 2
INSERT INTO scanned :rows;
VACUUM scanned;
\set k 3
INSERT INTO scanned :rows;
VACUUM ANALYZE scanned;
CREATE VIEW looped AS
	SELECT i, q.*
	FROM (VALUES (1, 1), (2, 2), (3, 3), (4, 2), (5, 1)) v (i, k),
		LATERAL (SELECT count(*), sum(x)
			FROM (SELECT x FROM scanned s WHERE s.k = v.k AND length(a) > 20 OFFSET 0) r) q;
SET rtscan.enable_scan = on;
CREATE TABLE by_index AS TABLE looped;
SET rtscan.enable_scan = off;
SET rtscan.enable_aggregate = off;
SET enable_seqscan = on;
SELECT * FROM ((TABLE looped EXCEPT TABLE by_index) UNION ALL (TABLE by_index EXCEPT TABLE looped)) d;
RESET rtscan.enable_aggregate;
SET enable_seqscan = off;

-- Rows that are pending, deleted and updated.
SET rtscan.pending_list_limit = '64kB';
INSERT INTO coded SELECT 6000 + i, (ARRAY['open', 'PAID', NULL])[1 + i % 3], 'IT', i, i, 'new', NULL
	FROM generate_series(1, 200) i;
UPDATE coded SET status = 'reopened' WHERE id % 100 = 5;
DELETE FROM coded WHERE id % 90 = 7;
SELECT all_differences();
VACUUM coded;
SELECT all_differences();

-- A function that an index stores, and one of a user, which may do anything.
CREATE FUNCTION own(t text) RETURNS text IMMUTABLE LANGUAGE sql AS 'SELECT t';
SELECT differs('SELECT count(*) FROM coded WHERE own(status) = ''paid'''),
	shown('SELECT count(*) FROM coded WHERE own(status) = ''paid''') !~ 'Singly' AS inlined;

-- Groups by integers, from ranges that fit into segments and others, that are extended, with NULLs, and negative.
CREATE TABLE numbered (k int, b bigint, d date, s smallint, v int, w numeric(8,2), l pg_lsn, o oid, t timestamptz);
INSERT INTO numbered
SELECT hashint8(i) & 4095, (hashint8(i) & 4095) * 1000000007::bigint, date '2020-01-01' + (hashint8(i * 3) & 8191),
	hashint8(i) % 3000,
	i, CASE WHEN i % 3 > 0 THEN i % 1000 / 10.0 END, ('0/' || to_hex(i % 3000))::pg_lsn, i % 2500 + 4294960000,
	timestamptz '2000-01-01 00:00+00' + i % 2000 * interval '1 microsecond'
FROM generate_series(1, 12000) i;
CREATE INDEX numbered_idx ON numbered USING rtscan (k, b, d, s, l, o, t) INCLUDE (v, w);
VACUUM ANALYZE numbered;
CREATE TABLE groupings AS
	SELECT format('SELECT %s, %s FROM numbered %s GROUP BY %s', k, a, w, k) AS q
	FROM unnest(ARRAY['k', 'b', 'd', 's', 'k, s', 'd, s', 's, k % 4', 'l', 'o', 't', 'l, s']) k,
		unnest(ARRAY['count(*)', 'count(*), sum(v), min(v), max(w)', 'sum(w), count(w)', 'avg(w), stddev(v)',
			'count(DISTINCT v)', 'sum(v) FILTER (WHERE v % 2 = 0)']) a,
		unnest(ARRAY['', 'WHERE v > 100 AND k < 2000']) w;
SELECT q FROM groupings WHERE differs(q);
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT q FROM groupings WHERE differs(q);
SET work_mem = '512kB';
SELECT shown('SELECT k, count(*), sum(v) FROM numbered GROUP BY k');
SELECT shown('SELECT k, s, count(*) FROM numbered GROUP BY k, s') ~ 'Spilled' AS spilled;
RESET work_mem;
INSERT INTO numbered SELECT CASE WHEN i % 5 > 0 THEN i * 100 - 200000 END, NULL, NULL, -i, i, i
	FROM generate_series(1, 5000) i;
VACUUM numbered;
SELECT q FROM groupings WHERE differs(q);
INSERT INTO numbered SELECT 100000000 + i, i, 'infinity', 32767, i, i FROM generate_series(1, 50) i;	-- pending
SELECT q FROM groupings WHERE differs(q);
BEGIN;
DECLARE c CURSOR WITH HOLD FOR SELECT k, sum(v) FROM numbered GROUP BY k;
MOVE FORWARD 100 IN c;
COMMIT;
MOVE FORWARD ALL IN c;
CLOSE c;
SELECT sum(t) = (SELECT count(*) FROM numbered) AS all_rows
FROM (VALUES (1), (2)) v (i), LATERAL (SELECT sum(c) / 2 AS t FROM (SELECT k, count(*) AS c FROM numbered
	WHERE v > i - 2 GROUP BY k) g) l;
DROP SCHEMA by_code CASCADE;
