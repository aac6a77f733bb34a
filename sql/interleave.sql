-- Several searches in one session at the same time: their bits do not get into each other's way.
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
RESET client_min_messages;
SET jit = off;
SET max_parallel_workers_per_gather = 0;
\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/plans.psql
\set ECHO all

-- Several segments of each table, and pending rows.
SET rtscan.debug_segment_rows = 18000;
CREATE TABLE inter_a (a int, b int, id int);
CREATE TABLE inter_b (a int, b int, id int);
INSERT INTO inter_a SELECT i * 7 % 1000, i * 13 % 100, i FROM generate_series(1, 40000) i;
INSERT INTO inter_b SELECT i * 11 % 1000, i * 17 % 100, i FROM generate_series(1, 40000) i;
CREATE INDEX inter_a_idx ON inter_a USING rtscan (a, b) INCLUDE (id);
CREATE INDEX inter_b_idx ON inter_b USING rtscan (a, b) INCLUDE (id);
INSERT INTO inter_a SELECT i * 7 % 1000, i * 13 % 100, i FROM generate_series(40001, 42500) i;
INSERT INTO inter_b SELECT i * 11 % 1000, i * 17 % 100, i FROM generate_series(40001, 42500) i;
DELETE FROM inter_a WHERE id % 10 = 3;
VACUUM (INDEX_CLEANUP on) inter_a;
INSERT INTO inter_a SELECT i * 7 % 1000, i * 13 % 100, i FROM generate_series(42501, 43500) i;
SELECT segments > 1 FROM rtscan_stats('inter_a_idx');
SELECT segments > 1 FROM rtscan_stats('inter_b_idx');

-- Two cursors, fetched from in turns of some rows, give what each gives alone.
CREATE FUNCTION in_turns(query_a text, query_b text, turn int, OUT ids_a int[],
	OUT ids_b int[]) LANGUAGE plpgsql AS $$
DECLARE
	cursor_a refcursor;
	cursor_b refcursor;
	row_a int;
	row_b int;
BEGIN
	ids_a := '{}';
	ids_b := '{}';
	OPEN cursor_a FOR EXECUTE query_a;
	OPEN cursor_b FOR EXECUTE query_b;
	LOOP
		FOR i IN 1 .. turn LOOP
			FETCH cursor_a INTO row_a;
			EXIT WHEN NOT FOUND;
			ids_a := ids_a || row_a;
		END LOOP;
		FOR i IN 1 .. turn LOOP
			FETCH cursor_b INTO row_b;
			EXIT WHEN NOT FOUND;
			ids_b := ids_b || row_b;
		END LOOP;
		-- a search from begin to end between two of theirs
		PERFORM count(*) FROM inter_b WHERE a < turn AND b < 50;
		EXIT WHEN row_a IS NULL AND row_b IS NULL;
	END LOOP;
END
$$;
CREATE FUNCTION sorted(int[]) RETURNS int[] LANGUAGE sql AS 'SELECT array_agg(i ORDER BY i) FROM unnest($1) i';
CREATE FUNCTION all_of(query text) RETURNS int[] LANGUAGE plpgsql
SET enable_indexscan = off SET enable_indexonlyscan = off SET enable_bitmapscan = off SET
	rtscan.enable_aggregate = off AS $$
DECLARE ids int[];
BEGIN
	SET LOCAL enable_seqscan = on;
	EXECUTE 'SELECT array_agg(id ORDER BY id) FROM (' || query || ') q' INTO ids;
	RETURN ids;
END
$$;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
CREATE TABLE inter_queries (query_a text, query_b text);
INSERT INTO inter_queries VALUES
	('SELECT id FROM inter_a WHERE a < 300 AND b < 50', 'SELECT id FROM inter_b WHERE a > 800 AND b > 20'),
	('SELECT id FROM inter_a WHERE b = 17', 'SELECT id FROM inter_a WHERE b = 18'),
	('SELECT id FROM inter_b WHERE a IN (1, 2, 3, 500) AND b >= 0', 'SELECT id FROM inter_b WHERE a < 40');
EXPLAIN (COSTS OFF) SELECT id FROM inter_a WHERE a < 300 AND b < 50;
SELECT turn, sorted(ids_a) = all_of(query_a), sorted(ids_b) = all_of(query_b)
FROM inter_queries, (VALUES (1), (700), (1500)) turns (turn), in_turns(query_a, query_b, turn) ORDER BY query_a,
	turn;

-- Joins: a scan inside of another's loop, begun anew for each of its rows; and two side by side.
SET rtscan.enable_star = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SET enable_memoize = off;
SELECT explained('
	SELECT count(*), sum(x.id::bigint * y.id)
	FROM inter_a x JOIN inter_b y ON y.a = x.a AND y.b < x.b
	WHERE x.a < 30 AND x.b < 40');
SELECT count(*),
	sum(x.id::bigint * y.id) FROM inter_a x JOIN inter_b y ON y.a = x.a AND y.b < x.b WHERE x.a < 30 AND x.b <
	40;
SET enable_hashjoin = on;
SET enable_nestloop = off;
SELECT count(*),
	sum(x.id::bigint * y.id) FROM inter_a x JOIN inter_b y ON y.a = x.a AND y.b < x.b WHERE x.a < 30 AND x.b <
	40;
SET enable_hashjoin = off;
SET enable_mergejoin = on;
SELECT count(*),
	sum(x.id::bigint * y.id) FROM inter_a x JOIN inter_b y ON y.a = x.a AND y.b < x.b WHERE x.a < 30 AND x.b <
	40;
RESET enable_nestloop;
RESET enable_hashjoin;
RESET enable_material;
RESET enable_memoize;

-- A comparison function that searches an index itself, while pending rows are compared and quals are looked up.
CREATE TYPE inter_number AS (n int);
CREATE FUNCTION inter_compare(inter_number, inter_number) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	PERFORM count(*) FROM public.inter_a WHERE a < 10 AND b < 10;
	RETURN btint4cmp($1.n, $2.n);
END
$$;
CREATE FUNCTION inter_less(inter_number,
	inter_number) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT public.inter_compare($1, $2) < 0';
CREATE FUNCTION inter_equal(inter_number,
	inter_number) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT public.inter_compare($1, $2) = 0';
CREATE OPERATOR <<< (LEFTARG = inter_number, RIGHTARG = inter_number, FUNCTION = inter_less, COMMUTATOR = >>>);
CREATE OPERATOR === (LEFTARG = inter_number, RIGHTARG = inter_number, FUNCTION = inter_equal, COMMUTATOR = ===);
CREATE OPERATOR CLASS inter_number_ops FOR TYPE inter_number USING rtscan AS
	OPERATOR 1 <<<, OPERATOR 3 ===, FUNCTION 1 inter_compare (inter_number, inter_number);
CREATE TABLE inter_c (n inter_number, m int);
INSERT INTO inter_c SELECT ROW(i % 20)::inter_number, i FROM generate_series(1, 200) i;
CREATE INDEX inter_c_idx ON inter_c USING rtscan (n inter_number_ops, m);
INSERT INTO inter_c SELECT ROW(i % 20)::inter_number, i FROM generate_series(201, 300) i;
SELECT count(*) FROM inter_c WHERE n <<< ROW(5)::inter_number AND m > 100;
SELECT count(*) FROM inter_c WHERE n === ROW(5)::inter_number AND m > 100;
SET enable_bitmapscan = on;
SELECT array_agg(m ORDER BY m) FROM inter_c WHERE n === ROW(5)::inter_number AND m > 100;
DROP TABLE inter_a, inter_b, inter_c, inter_queries;
DROP OPERATOR CLASS inter_number_ops USING rtscan;
DROP OPERATOR FAMILY inter_number_ops USING rtscan;
DROP FUNCTION in_turns, all_of, sorted;
SET client_min_messages = warning;
DROP TYPE inter_number CASCADE;
