-- Builds with less memory than all columns of a segment take: the rows are collected in temporary files.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA spool;
SET search_path = spool, public;
\set VERBOSITY sqlstate

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/differences.psql
\set ECHO all
SET max_parallel_maintenance_workers = 0;

-- all ways in which values are passed, with NULLs, images that differ, HOT chains, and rows that are dead
CREATE TABLE t (id int, small int2, big int8, real8 float8, amount numeric, price numeric(9, 2), word text,
	fixed char(5), named name,
	length interval, key uuid, time timestamptz, bytes bytea, numbers int[],
	long text) WITH (autovacuum_enabled = off, fillfactor = 70);
CREATE FUNCTION part(n int, divisor int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT abs(hashint4(n) % divisor)';
INSERT INTO t
	SELECT i, part(i, 300), part(i, 1000) * 10::int8 ^ 12, CASE WHEN i % 7 > 0 THEN part(i, 9) * -0.0 END,
		CASE i % 4 WHEN 0 THEN 1.0 WHEN 1 THEN 1.00 WHEN 2 THEN part(i, 50) END, part(i + 1, 30000) / 7.0,
		CASE WHEN i % 50 > 0 THEN 'word ' || part(i, 13) END, part(i, 90)::text, 'name' || part(i, 21),
		make_interval(days => part(i, 31), hours => i % 3), md5(i::text)::uuid,
		timestamptz '2025-03-30 00:00+00' + make_interval(mins => i), decode(md5(part(i, 2000)::text), 'hex'),
		ARRAY[i % 3, part(i, 5)],
		CASE WHEN i % 3000 = 0 THEN repeat(md5(i::text), 20) ELSE '' END
	FROM generate_series(1, 30000) i;
UPDATE t SET amount = amount + 1 WHERE id % 5 = 0;
DELETE FROM t WHERE id % 11 = 0;
\set columns 'id, small, big, real8, amount, price, word, fixed, named, length, key, time, bytes, numbers'

-- the files are used by the build with little memory only
CREATE FUNCTION files() RETURNS bigint LANGUAGE sql VOLATILE AS $$
	SELECT count(*) FROM pg_ls_tmpdir()
$$;
SET maintenance_work_mem = '1MB';
CREATE INDEX t_few ON t USING rtscan (key);
CREATE INDEX t_all ON t USING rtscan (:columns) INCLUDE (long, word, key, amount);
SELECT files() AS files_left;
SELECT rtscan_check('t_all', true);
SELECT few.segments > 2 AS several, many.segments - few.segments <= 1 AS many_are_not_more, many.rows
FROM rtscan_stats('t_few') few, rtscan_stats('t_all') many;
DROP INDEX t_few;

SELECT differences('t', 't_all', ARRAY['small < 20 AND word = ''word 3''', 'word IS NULL',
	'real8 IS NULL AND id < 300', 'real8 = 0',
	'amount = 1', 'amount IS NULL AND price < 100', 'price BETWEEN 1000 AND 1010', 'fixed = ''17''',
	'named = ''name20'' AND small > 250',
	'length > interval ''30 days'' AND small < 30', format('key = %L', md5('77')), 'bytes < ''\x0102''',
	'numbers = ''{1,3}''',
	'time >= ''2025-04-18 00:00+00'' AND big > 900000000000000']);

-- values return as they were stored: from the index, and from an index that was built in memory
CREATE FUNCTION images() RETURNS text LANGUAGE sql VOLATILE AS $$
	SELECT md5(string_agg(concat_ws('|', id, real8, amount, price, word, fixed, named, length, key, bytes, numbers,
	long), ';' ORDER BY id))
	FROM t WHERE id >= 0
$$;
SET rtscan.enable_scan = off;
SELECT images() AS expected \gset
RESET rtscan.enable_scan;
SET enable_seqscan = off;
SELECT images() = :'expected' AS as_stored;
SET maintenance_work_mem = '64MB';
REINDEX INDEX t_all;
SELECT segments FROM rtscan_stats('t_all');
SELECT images() = :'expected' AS as_stored;

-- merges load a column at a time, too
SET maintenance_work_mem = '1MB';
REINDEX INDEX t_all;
SELECT segments > 1 AS several FROM rtscan_stats('t_all');
SET maintenance_work_mem = '64MB';
DELETE FROM t WHERE id % 3 = 0;
VACUUM t;
SELECT rtscan_merge('t_all') > 0 AS merged;
SELECT rtscan_check('t_all', true);
RESET enable_seqscan;
SET rtscan.enable_scan = off;
SELECT images() AS expected \gset
RESET rtscan.enable_scan;
SET enable_seqscan = off;
SELECT images() = :'expected' AS as_stored;
RESET enable_seqscan;

-- a limit of temporary files ends the build, which leaves nothing behind
SET maintenance_work_mem = '1MB';
SET temp_file_limit = '100kB';
REINDEX INDEX t_all;
SELECT files() AS files_left;
RESET temp_file_limit;
SELECT rtscan_check('t_all', true);

-- memory suffices again if the rows to come are larger, or differ more, than those before
CREATE TABLE grows WITH (autovacuum_enabled = off) AS
	SELECT i, CASE WHEN i < 20000 THEN 'same' ELSE repeat(md5(i::text), 4) END AS word FROM generate_series(1,
	40000) i;
CREATE INDEX grows_word ON grows USING rtscan (word) INCLUDE (i);
SELECT segments BETWEEN 4 AND 16 AS some, rows FROM rtscan_stats('grows_word');
SELECT rtscan_check('grows_word', true);
SELECT differences('grows', 'grows_word', ARRAY['word = ''same''', 'word < ''08''']);

-- no rows, and one
CREATE TABLE empty (i int, word text);
CREATE INDEX empty_all ON empty USING rtscan (i, word);
INSERT INTO empty VALUES (NULL, NULL);
REINDEX TABLE empty;
SELECT rows, segments FROM rtscan_stats('empty_all');

\set ECHO none
SET client_min_messages = warning;
DROP SCHEMA spool CASCADE;
