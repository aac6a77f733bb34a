-- Conditions on what is calculated of rows: comparisons with constants, and conjunctions of them.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA conditions;
SET search_path = conditions, public;
SET rtscan.merge_worker = off;
SET max_parallel_workers_per_gather = 0;

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/counts.psql
\i :directory/sql/include/outcomes.psql
\i :directory/sql/include/singly.psql
\set ECHO all
CREATE TABLE t WITH (autovacuum_enabled = off) AS
SELECT i AS id, CASE WHEN i % 7 > 0 THEN i % 100 END AS k,
	   CASE i % 5 WHEN 0 THEN 9223372036854775807 WHEN 1 THEN -9223372036854775808 WHEN 2 THEN NULL ELSE i END AS l,
	   (i % 50 / 4.0)::numeric(6, 2) AS a, CASE WHEN i % 6 > 0 THEN i % 4 END AS z
FROM generate_series(1, 3000) i;
CREATE INDEX t_all ON t USING rtscan (id) INCLUDE (k, l, a, z);
VACUUM ANALYZE t;
CREATE TABLE asked AS
SELECT format('%s %s %s', e, o, c) AS condition
FROM unnest('{<,<=,=,>=,>,<>}'::text[]) o,
	(VALUES
		('k + 0', '50'), ('50 + 0 * k', '50'), ('k - 1', 'nullif(z, 2)'), ('abs(k)', '-2147483648'),
		('k * 2', '2147483647'), ('k + 1', 'z'), ('7', 'k % 10'), ('coalesce(l, 5)', '9223372036854775807'),
		('coalesce(l, 5)', '(-9223372036854775808)'), ('coalesce(l, 5)', '5'),
		('a + 1', '4.5'), ('a * 2', '4.505'), ('a - 1.25', '2')) q (e, c);
SELECT miscounted('t', array_agg(condition), 'k, a') FROM asked;
SELECT singly('SELECT count(*) FROM t WHERE ' || condition, 'RtscanAggregate') AS singly, count(*)
FROM asked
GROUP BY 1;
SELECT unequal(format('SELECT count(*), count(k) FROM t WHERE %s AND %s AND (id > 100 OR k IS NULL)',
	a.condition, b.condition), NULL)
FROM asked a, asked b
WHERE a.condition > b.condition AND hashtext(a.condition || b.condition) % 40 = 0;
-- by group, and for rows that are listed
SELECT u
FROM asked, unequal(format(
	'SELECT z, count(*) FILTER (WHERE %s AND id %% 3 = 0), sum(k) FROM t WHERE %s GROUP BY z ORDER BY z',
	condition, condition)) u;
-- errors, which other conditions keep away, or not
SELECT differs(q) FROM (VALUES
	('SELECT count(*) FROM t WHERE l + 1 > 5'),
	('SELECT count(*) FROM t WHERE k < 50 AND l + 1 > 5'),
	('SELECT count(*) FROM t WHERE k + 0 < 0 AND l + 1 > 5'),
	('SELECT count(*) FROM t WHERE z + 0 > 0 AND 10 / z > 3'),
	('SELECT count(*) FROM t WHERE 10 / z > 3 AND k + 0 <> 5'),
	('SELECT count(*) FROM t WHERE l + 0 < 9000000000 AND l + 0 > -9000000000 AND l * 1000000 > 5'),
	('SELECT count(*) FROM t WHERE l * 1000000 > 5 AND l + 0 < 9000000000 AND l + 0 > -9000000000'),
	('SELECT k, count(*) FILTER (WHERE z + 0 > 0 AND 10 / z > 3) FROM t GROUP BY k')) q (q);

-- Parameters that turn conditions off are evaluated once, and the other conditions are looked up.
CREATE INDEX t_keys ON t USING rtscan (k, z, id) INCLUDE (a);
CREATE FUNCTION optional_counts(settings text) RETURNS TABLE (k int, z int, flag bool, n bigint)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
DECLARE
	by_index bool := settings = 'index';
BEGIN
	PERFORM set_config('enable_seqscan', (NOT by_index)::text, true), set_config('rtscan.enable_scan',
		by_index::text, true), set_config('rtscan.enable_aggregate', by_index::text, true),
		set_config('enable_bitmapscan', by_index::text, true);
	FOR k, z, flag IN
		SELECT * FROM unnest(ARRAY[NULL, 7, 200]) k, unnest(ARRAY[NULL, 2]) z, unnest(ARRAY[NULL, true, false]) f
	LOOP
		SELECT count(*) INTO n FROM t
		WHERE (optional_counts.k IS NULL OR t.k = optional_counts.k)
			AND (optional_counts.z IS NULL OR t.z = ANY (ARRAY[optional_counts.z, 3]))
			AND (flag OR t.id > 1000 OR t.a IS NULL AND NOT flag);
		RETURN NEXT;
	END LOOP;
END
$$;
SELECT * FROM optional_counts('index') EXCEPT ALL SELECT * FROM optional_counts('none');
SELECT count(*), sum(n) FROM optional_counts('index');
PREPARE optional (int, bool, int) AS SELECT count(*) FROM t
WHERE ($1 IS NULL OR k = $1) AND ($2 OR z < 3) AND (NOT $2 OR 10 / $3 > 2 OR id < 5);
SET plan_cache_mode = force_generic_plan;
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) EXECUTE optional (7, true, 1);
PREPARE simple (int, bool) AS SELECT count(*) FROM t WHERE ($1 IS NULL OR k = $1) AND ($2 OR z < 3);
EXPLAIN (COSTS OFF) EXECUTE simple (7, true);
EXECUTE simple (7, true);
EXECUTE simple (NULL, NULL);
EXECUTE simple (NULL, true);
EXECUTE optional (7, true, 1);
EXECUTE optional (7, false, 0);
EXECUTE optional (7, true, 0);
DEALLOCATE ALL;
-- A subquery is not executed early, since PostgreSQL might not execute it at all.
SELECT count(*) FROM t WHERE k = 5 AND (z >= 0 OR z IS NULL OR (SELECT k > 5 FROM t));

SET client_min_messages = error;
DROP SCHEMA conditions CASCADE;
