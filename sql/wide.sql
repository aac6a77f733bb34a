-- Wide values: all that btree takes, and an error, not more, for what is too large. (In a file of its own, the last,
-- because a server that crashes here takes all tests behind with it.)
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA wide;
SET search_path = wide, public;

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/differences.psql
\set ECHO all
CREATE FUNCTION hash(i int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT abs(hashint4($1))';
-- Incompressible text.
CREATE FUNCTION noise(seed int, n int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT left(string_agg(md5(seed || ' ' || i), ''), n) FROM generate_series(1, n / 32 + 1) i
$$;
-- Run some SQL, and return its error, or NULL.
CREATE FUNCTION attempt(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	hint text;
BEGIN
	EXECUTE query;
	RETURN NULL;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
	RETURN SQLSTATE || CASE WHEN hint <> '' THEN ' with a hint' ELSE '' END;
END
$$;

-- compressed in the index, and their order is that of the text
CREATE TABLE t (id int, v text);
INSERT INTO t SELECT i, repeat(chr(97 + hash(i) % 26), 100 + hash(i) % 3000) || hash(i) % 100
FROM generate_series(1, 2000) i;
INSERT INTO t VALUES (0, repeat('x', 100000)), (0, repeat('xy', 50000));
CREATE INDEX t_v ON t USING rtscan (v COLLATE "C", id);
INSERT INTO t SELECT i, repeat(chr(97 + hash(i) % 26), 100 + hash(i) % 3000) || hash(i) % 100
FROM generate_series(2001, 2200) i;
SELECT rtscan_check('t_v', true);
SELECT differences('t', 't_v', ARRAY[
	'v COLLATE "C" < repeat(''b'', 1500)', 'v COLLATE "C" >= repeat(''x'', 3000)',
	'v COLLATE "C" = repeat(''x'', 100000)',
	'v COLLATE "C" > repeat(''xy'', 49999)',
	format('v COLLATE "C" BETWEEN repeat(''c'', 50) AND repeat(''c'', 50000) AND id < 1000')]);
VACUUM t;
SELECT rtscan_check('t_v', true);
SELECT differences('t', 't_v', ARRAY['v COLLATE "C" < repeat(''b'', 1500)', 'v COLLATE "C" = repeat(''x'', 100000)']);
DROP TABLE t;

-- 32 wide columns
DO $$
BEGIN
	EXECUTE format('CREATE TABLE t (%s)',
		(SELECT string_agg(format('c%s text', i), ', ') FROM generate_series(1, 32) i));
	EXECUTE format('INSERT INTO t SELECT %s FROM generate_series(1, 20) r',
		(SELECT string_agg(format('noise(r * 40 + %s, 240)', i), ', ') FROM generate_series(1, 32) i));
	EXECUTE format('CREATE INDEX t_all ON t USING rtscan (%s)',
		(SELECT string_agg('c' || i, ', ') FROM generate_series(1, 32) i));
	EXECUTE format('INSERT INTO t SELECT %s FROM generate_series(1, 20) r',
		(SELECT string_agg(format('noise(r * 40 + %s, 240)', i), ', ') FROM generate_series(1, 32) i));
END
$$;
SELECT rtscan_check('t_all', true);
SELECT differences('t', 't_all', '{c1 < ''8'',c32 >= ''8'' AND c17 < ''c'',c5 IS NULL}');
SELECT attempt(format('INSERT INTO t VALUES (%s)',
	(SELECT string_agg(format('noise(%s, 280)', i), ', ') FROM generate_series(1, 32) i)));
SELECT rtscan_check('t_all', true);
DROP TABLE t;

-- a value of each size: all that btree takes, and nothing that does not fit; what happens in between is not important,
-- but that it works
CREATE FUNCTION check_size(size int, n int, index_columns text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	SET LOCAL rtscan.pending_list_limit = '64kB';
	CREATE TABLE x (id int, v text COLLATE "C");
	ALTER TABLE x ALTER v SET STORAGE EXTERNAL;
	INSERT INTO x SELECT i, noise(i, size) FROM generate_series(1, n) i;
	result := attempt('CREATE INDEX x_v ON x USING rtscan ' || index_columns);
	IF result IS NULL THEN
		INSERT INTO x SELECT i, noise(-i, size) FROM generate_series(1, 40) i;		-- flushed
		PERFORM rtscan_check('x_v', true);
		RETURN QUERY
			SELECT format('%s bytes: %s', size, d)
			FROM differences('x', 'x_v', ARRAY['id <= 3']
				|| CASE WHEN index_columns !~ 'INCLUDE'
					THEN ARRAY['v < ''5''', 'v = noise(1, ' || size || ')', 'v > ''f'' OR id < 2'] END) d;
		IF size > 8200 THEN
			RETURN NEXT size || ' bytes have been accepted';
		END IF;
	ELSIF result !~ '^54000' OR size <= 2690 THEN
		RETURN NEXT format('%s bytes: %s', size, result);
	ELSE
		-- an insertion refuses the values that a build refuses
		TRUNCATE x;
		EXECUTE 'CREATE INDEX x_v ON x USING rtscan ' || index_columns;
		result := attempt(format('INSERT INTO x SELECT i, noise(-i, %s) FROM generate_series(1, 40) i', size));
		IF result IS NULL OR result !~ '^54000' THEN
			RETURN NEXT format('%s bytes inserted: %s', size, result);
		END IF;
	END IF;
	DROP TABLE x;
END
$$;
SELECT check_size(size, 600, '(id, v)') FROM unnest('{1000,2000,2690}'::int[]) size;
SELECT check_size(size, 20, '(id) INCLUDE (v)')
FROM unnest('{2000,2690,4000,5000,8000,8020,8030,8038,8040,8042,8044,8046,8048,8050,8100,8180,8200,9000}'::int[]) size;
SELECT check_size(size, n, '(id, v)')
FROM unnest('{2690,2740,4000,4020,4040,5000,8000,8010,8020,8025,8030,8040,8050,8100,8180,8200,9000}'::int[]) size,
	unnest('{1,20}'::int[]) n;
-- in segments and pending lists
CREATE TABLE t (v text);
ALTER TABLE t ALTER v SET STORAGE EXTERNAL;
INSERT INTO t SELECT noise(i, 2600) FROM generate_series(1, 3000) i;
CREATE INDEX t_v ON t USING rtscan (v COLLATE "C");
SELECT rtscan_check('t_v', true);
SELECT differences('t', 't_v',
	ARRAY['v COLLATE "C" < ''1''', 'v COLLATE "C" = noise(77, 2600)', 'v COLLATE "C" > ''ff''']);
DROP TABLE t;

-- merges of wide rows, with little memory
SET rtscan.pending_list_limit = '64kB';
SET rtscan.merge_worker = off;
SET rtscan.debug_segment_rows = 18000;
CREATE TABLE t (id int, v text COLLATE "C", w text) WITH (autovacuum_enabled = off);
ALTER TABLE t ALTER v SET STORAGE EXTERNAL, ALTER w SET STORAGE EXTERNAL;
CREATE INDEX t_v ON t USING rtscan (v, id) INCLUDE (w);
INSERT INTO t SELECT i, noise(i % 700, 2000), CASE WHEN i % 3 > 0 THEN repeat(md5(i::text), i % 150) END
FROM generate_series(1, 900) i;
VACUUM t;
SELECT rtscan_check('t_v', true);
DELETE FROM t WHERE id % 2 = 0;
INSERT INTO t SELECT -i, noise(i, 2000), repeat(md5(i::text), i % 150) FROM generate_series(500, 800) i;
VACUUM t;
VACUUM t;
SELECT rtscan_check('t_v', true);
SELECT segments < 30 AS few, rows - dead + pending = (SELECT count(*) FROM t) AS all_rows FROM rtscan_stats('t_v');
SELECT differences('t', 't_v',
	ARRAY['v < ''3''', 'v = noise(77, 2000)', 'v >= noise(600, 2000) AND id < 0', 'id > 890']);
RESET rtscan.pending_list_limit;
RESET rtscan.merge_worker;
RESET rtscan.debug_segment_rows;
DROP TABLE t;

SET client_min_messages = error;
DROP SCHEMA wide CASCADE;
