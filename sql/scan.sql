-- RtscanScan: what it returns, to the last character, of columns in the index and of rows in the heap, and wherever a
-- plan may have it.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
SET rtscan.enable_aggregate = off;
CREATE SCHEMA scan;
SET search_path = scan, public;
SET max_parallel_workers_per_gather = 0;
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
SET intervalstyle = 'postgres';

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/differences.psql
\i :directory/sql/include/plans.psql
\set ECHO all
CREATE FUNCTION hash(i int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT abs(hashint4($1))';
-- A query of a table, with a condition that is always true, and which the table's rows have to be asked for.
CREATE FUNCTION from_heap(tab text, query text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE WHEN query ~ '\mctid\M|tableoid' THEN query
		ELSE regexp_replace(
			regexp_replace(query, format('\m(FROM|JOIN) %s (?=[ab]\M)', tab), heap, 'g'),
			format('\m(FROM|JOIN) %s\M', tab), heap || tab, 'g') END
	FROM format('\1 (SELECT * FROM ONLY %s WHERE tableoid <> 0) ', tab) heap
$$;
-- The rows of a query as text, sorted, by one kind of scan of a table; the last line is the plan's node, where it is
-- another.
CREATE FUNCTION texts(kind text, tab text, index_name text, query text) RETURNS text[] LANGUAGE plpgsql
SET jit = off SET enable_seqscan = on SET enable_bitmapscan = on SET enable_indexscan = on SET rtscan.enable_scan = on
AS $$
DECLARE
	found text[];
	line text;
	plan text := '';
BEGIN
	PERFORM allow_scan(kind);
	IF kind = 'heap' THEN
		query := from_heap(tab, query);
	END IF;
	EXECUTE format('SELECT coalesce(array_agg(q::text ORDER BY q::text COLLATE "C"), ''{}'') FROM (%s OFFSET 0) q',
		query) INTO found;
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		plan := plan || line || E'\n';
	END LOOP;
	IF kind <> 'sequential' AND plan !~ scan_node(kind, index_name) THEN
		found := found || plan;
	END IF;
	RETURN found;
END
$$;
-- List rows that a query returns by a kind of scan, but not by a sequential scan, or the reverse; there should be none.
CREATE FUNCTION unlike(tab text, index_name text, query text, kinds text[] DEFAULT '{heap,columns}') RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
	expected text[] := texts('sequential', tab, index_name, query);
	kind text;
	found text[];
BEGIN
	FOREACH kind IN ARRAY kinds LOOP
		found := texts(kind, tab, index_name, query);
		IF found <> expected THEN
			RETURN NEXT format('%s scan, %s: %s rows of %s', kind, query, cardinality(found), cardinality(expected));
			RETURN QUERY
				SELECT 'found ' || x FROM (SELECT unnest(found) EXCEPT ALL SELECT unnest(expected)) d (x) LIMIT 5;
			RETURN QUERY
				SELECT 'missed ' || x FROM (SELECT unnest(expected) EXCEPT ALL SELECT unnest(found)) d (x) LIMIT 5;
		END IF;
	END LOOP;
END
$$;

--
-- Types: keys and INCLUDEd values of all are returned, also equal ones that do not look alike
--
CREATE COLLATION plain (provider = icu, locale = 'und');
CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TYPE mood AS ENUM ('bad', 'good');
ALTER TYPE mood ADD VALUE 'best' BEFORE 'bad';
CREATE TYPE pair AS (a int, b text);
CREATE TYPE amount AS (a numeric, f float8);
CREATE DOMAIN small AS int CHECK (VALUE > -100000);
CREATE DOMAIN price AS numeric(10,2);
CREATE DOMAIN folded AS text COLLATE blind;
CREATE TABLE types (id serial, type text, vals text[]);
INSERT INTO types (type, vals) VALUES
	('bool', '{t,f}'), ('"char"', '{"",a,\\200,\\377}'), ('int2', '{-32768,32767,0,-1}'),
	('int4', '{-2147483648,2147483647,0,-1}'),
	('int8', '{-9223372036854775808,9223372036854775807,0,-1}'), ('small', '{-99999,2147483647}'),
	('oid', '{0,2147483648,4294967295}'),
	('money', '{0,-1.5,92233720368547758.07}'), ('tid', '{"(0,0)","(4294967295,65535)"}'),
	('pg_lsn', '{0/0,FFFFFFFF/FFFFFFFF}'),
	('float4', '{NaN,Infinity,-Infinity,-0,0,1e-45,0.1}'), ('float8', '{NaN,Infinity,-Infinity,-0,0,5e-324,0.1}'),
	('numeric', '{NaN,Infinity,-Infinity,0,0.000,-0.0,1,1.0,1.00,1.5,1.50,-1.50,1e300,-1e-300,
		123456789012345678901234567890.5}'),
	('numeric', '{0.00,-1.50,1.50,99999999.99,NULL}'), ('numeric', '{1.0,2.5,1e40}'), ('numeric', '{NULL}'),
	('numeric(10,2)', '{NaN,99999999.99,-99999999.99,0,1.5,-0.01}'),
	('numeric(30,2)', '{92233720368547758.07,-92233720368547758.08,92233720368547758.08,0}'),
	('numeric(40,20)', '{1.5,-0.00000000000000000001,0,12345678901234567890}'), ('numeric(5,-2)', '{1200,-99900,0,49}'),
	('numeric(3,5)', '{0.00999,-0.00001,0}'),
	('price', '{1,1.5,-99999999.99}'), ('date', '{infinity,-infinity,"4713-01-01 BC",5874897-12-31,2000-02-29}'),
	('time', '{00:00,24:00,23:59:59.999999}'),
	('timetz', '{00:00+14,24:00-12,12:00+00,13:00+01}'),
	('timestamp', '{infinity,-infinity,"4713-01-01 00:00:00 BC","294276-12-31 23:59:59.999999"}'),
	('timestamptz', '{infinity,-infinity,"4713-01-01 00:00:00+00 BC","294276-12-31 23:59:59.999999+00"}'),
	('interval', '{0,1 month,30 days,720:00:00,1 month -30 days,-178000000 years}'),
	('uuid', '{00000000-0000-0000-0000-000000000000,ffffffff-ffff-ffff-ffff-ffffffffffff}'),
	('inet', '{0.0.0.0/0,10.0.0.0/8,10.0.0.0,::,ffff::/16,::ffff:10.0.0.1}'),
	('cidr', '{0.0.0.0/0,10.0.0.0/8,10.0.0.0/9,::/0}'),
	('macaddr', '{00:00:00:00:00:00,ff:ff:ff:ff:ff:ff}'),
	('bytea', '{"",\\x00,\\x0000,\\xff}'), ('bit(10)', '{0000000000,1111111111}'),
	('varbit', '{"",0,00,1,111111111100000}'), ('mood', '{bad,good,best}'),
	('text', '{""," ",a,A,"a ",á,''}'), ('text COLLATE "C"', '{""," ",a,A,"a "}'),
	('text COLLATE plain', '{a,A,"a ",á}'), ('text COLLATE blind', '{a,A,"a ",á,Á}'),
	('folded', '{a,A}'), ('varchar(5)', '{"",k,"k ",K1}'), ('varchar COLLATE blind', '{k,K}'),
	('bpchar', '{"",k,"k ","k  "}'), ('char(6)', '{"",k,"k ","k1  "}'), ('name', '{"",a,A,"k "}'),
	('int4[]', '{"{}","{NULL}","{1}","{{1,2},{3,4}}","[0:1]={1,2}"}'), ('text[]', '{"{}","{NULL,\"\"}","{a,A}"}'),
	('numeric[]', '{"{1.0}","{1.00}","{NaN}"}'),
	('jsonb', '{null,1,1.0,1.00,"{}","[1, 2]","\"\"","{\"a\": 1.50}"}'), ('tsvector', '{"",a:1,"a b"}'),
	('int4range', '{empty,"(,)","[5,9]"}'), ('numrange', '{"[1.0,2)","[1.00,2.0)"}'),
	('int4multirange', '{"{}","{(,)}","{[1,2),[5,9)}"}'), ('pair', '{"(,)","(0,)","(,x)","(1,\"a b\")"}'),
	('amount', '{"(1.0,0)","(1.00,-0)"}');

CREATE FUNCTION fill(t types, start int, n int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	-- in turn, NULLs among them; every value stands beside every other
	EXECUTE format('
		INSERT INTO x%s
		SELECT i, $1[i %% cardinality($1) + 1]::%s, $1[(i + i / cardinality($1)) %% (cardinality($1) + 1) + 1]::%2$s
		FROM generate_series(%s, %s) i',
		t.id, regexp_replace(t.type, ' COLLATE.*', ''), start, start + n - 1) USING t.vals;
END
$$;
CREATE FUNCTION check_type(t types) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT u
	FROM unnest(CASE
		WHEN pg_index_column_has_property(format('x%s_all', t.id)::regclass, 2, 'returnable')
			THEN '{"n, k, v","k, v","k","count(v), min(n), max(k::text)"}'
		ELSE '{"n, v","v","count(v), min(n)"}' END::text[]) columns,
		unnest('{n % 2 = 0 AND n > 4,n >= 0,n < 30 AND k IS NOT NULL,n > 10 AND k IS NULL}'::text[]) condition,
		LATERAL unlike('x' || t.id, 'x' || t.id || '_all',
			format('SELECT %s FROM x%s WHERE %s', columns, t.id, condition)) u
$$;
CREATE FUNCTION check_types() RETURNS TABLE (id int, type text, problem text) LANGUAGE sql AS $$
	SELECT t.id, t.type, check_type(t) FROM types t ORDER BY t.id
$$;
CREATE FUNCTION create_types() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	t types;
BEGIN
	FOR t IN SELECT * FROM types LOOP
		EXECUTE format('CREATE TABLE x%s (n int, k %s, v %2$s) WITH (autovacuum_enabled = off)', t.id, t.type);
		EXECUTE format('CREATE INDEX x%s_all ON x%1$s USING rtscan (n, k) INCLUDE (v)', t.id);
		PERFORM fill(t, 0, 30);
	END LOOP;
END
$$;
SELECT create_types();
SELECT returned, string_agg(type, ', ' ORDER BY id) AS types
FROM types t, pg_index_column_has_property(format('x%s_all', id)::regclass, 2, 'returnable') returned
GROUP BY returned;
SELECT bool_and(pg_index_column_has_property(format('x%s_all', id)::regclass, 1, 'returnable')
	AND pg_index_column_has_property(format('x%s_all', id)::regclass, 3, 'returnable')) AS others
FROM types;
SELECT * FROM check_types(); -- pending rows
\set ECHO none
SELECT string_agg('x' || id, ', ') AS tables FROM types \gset
VACUUM :tables;
\set ECHO all
SELECT * FROM check_types(); -- a segment, all-visible
SELECT fill(t, 30, 25) IS NULL AS filled, count(*) FROM types t GROUP BY 1;
SELECT * FROM check_types(); -- and pending rows
\set ECHO none
SELECT format('DELETE FROM x%s WHERE n %% 7 = 3', id) FROM types \gexec
\set ECHO all
SELECT * FROM check_types(); -- rows that vacuum has not seen
\set ECHO none
VACUUM :tables;
\set ECHO all
SELECT * FROM check_types(); -- dead rows, or merged
SELECT id, type, rtscan_check(format('x%s_all', id)::regclass, true)
FROM types
WHERE rtscan_check(format('x%s_all', id)::regclass, true) IS NULL;

--
-- Operator classes other than the default ones; expressions, partial indexes
--
CREATE TABLE t (a int, b text, c numeric(10,2), d varchar(10)) WITH (autovacuum_enabled = off);
INSERT INTO t SELECT i, 'text ' || i % 7, i / 8.0, 'd' || i % 5 FROM generate_series(1, 1000) i;
CREATE INDEX t_pattern ON t USING rtscan (a, b text_pattern_ops, d varchar_ops, (c * 2), (c::numeric(8,1)),
	(b COLLATE blind), b COLLATE "C");
SELECT n, pg_index_column_has_property('t_pattern', n, 'returnable') FROM generate_series(1, 7) n;
VACUUM t;
SELECT unlike('t', 't_pattern', 'SELECT a, b, d FROM t WHERE a < 300 AND b ~>~ ''text 3''');
SELECT unlike('t', 't_pattern', 'SELECT a, c * 2 FROM t WHERE c * 2 < 8.5');
SELECT unlike('t', 't_pattern', 'SELECT a, b FROM t WHERE b COLLATE blind = ''TEXT 5''');
-- a column that is there several times: the one whose collation and operators are meant
SELECT unlike('t', 't_pattern', 'SELECT a, b FROM t WHERE b COLLATE blind ' || c)
FROM unnest(ARRAY['> ''TEXT 5''', '<> ''TEXT 5''', 'IN (''TEXT 5'', ''Text 6'')']) c;
SELECT unlike('t', 't_pattern', 'SELECT a, b FROM t WHERE b COLLATE "C" > ''text 5''');
SELECT explained('SELECT count(*) FROM t WHERE b COLLATE blind = ''TEXT 5'' AND b COLLATE "C" <> ''text 6''');
DROP INDEX t_pattern;
CREATE INDEX t_partial ON t USING rtscan (a) INCLUDE (c) WHERE a % 3 = 0;
SELECT unlike('t', 't_partial', 'SELECT a, c FROM t WHERE a % 3 = 0 AND a > 700');
SELECT unlike('t', 't_partial', 'SELECT count(*), sum(c) FROM t WHERE a % 3 = 0');
DROP INDEX t_partial;
-- the same column twice, as a key and INCLUDEd; the whole row; no column at all; system columns
CREATE INDEX t_twice ON t USING rtscan (a, b, a) INCLUDE (a, b, c, d);
SELECT unlike('t', 't_twice', q)
FROM unnest('{SELECT * FROM t WHERE b = ''text 3'' AND a > 900,SELECT FROM t WHERE a < 30}'::text[]) q;
SELECT unlike('t', 't_twice', 'SELECT 1 FROM t', '{columns}');
SELECT unlike('t', 't_twice', 'SELECT ' || columns || ' FROM t WHERE a < 30')
FROM unnest('{t,"ctid, *","tableoid::regclass, *"}'::text[]) columns;
DROP TABLE t;

-- keys whose equal values do not look alike, and the same INCLUDEd
CREATE TABLE t (i int, f float8, n numeric, c char(4), v text COLLATE blind) WITH (autovacuum_enabled = off);
INSERT INTO t
SELECT i, ('{0,-0,NaN,1}'::float8[])[1 + i % 4], round(i % 5, i % 3), 'c' || i % 4, (ARRAY['a', 'A', 'b'])[1 + i % 3]
FROM generate_series(1, 500) i;
CREATE INDEX t_twice ON t USING rtscan (f, n, c, v, i) INCLUDE (v, c, n, f);
VACUUM t;
INSERT INTO t VALUES (501, 0, 1.000, 'c1', 'a'), (502, '-0', 1, 'c1', 'A');
SELECT unlike('t', 't_twice', q)
FROM unnest(ARRAY[
	'SELECT i, f FROM t WHERE f = 0', 'SELECT n, c, v FROM t WHERE f > -5 AND n = 1.0',
	'SELECT * FROM t WHERE v = ''a'' AND c = ''c1'' AND i > 5',
	'SELECT count(*), max(c), sum(n) FROM t WHERE v = ''A'' AND f = ''-0''']) q;
SELECT f, count(*) FROM (SELECT f::text FROM t WHERE f = 0 OFFSET 0) x GROUP BY f ORDER BY f COLLATE "C";
DROP TABLE t;

--
-- Numerics as integers: of each scale, around what fits, in segments of several scales that are merged
--
CREATE FUNCTION check_scale(s int) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	CREATE TABLE x (i int, v numeric);
	INSERT INTO x
	SELECT i,
		CASE WHEN i % 9 > 0 THEN (1 - i % 2 * 2) * round(hash(i)::numeric ^ (i % 4) / 10::numeric ^ (i % 23), s) END
	FROM generate_series(1, 200) i;
	INSERT INTO x SELECT 1000 + o, round((v + o) / 10::numeric ^ s, s)
	FROM unnest('{9223372036854775807,-9223372036854775808,-9223372036854775807,0,9999,10000,99999999}'::numeric[]) v,
		generate_series(-1, 1) o;
	CREATE INDEX x_all ON x USING rtscan (i) INCLUDE (v);
	RETURN QUERY SELECT unlike('x', 'x_all', 'SELECT i, v FROM x WHERE i > 0');
	-- the same without values that do not fit, so that the rest does
	DELETE FROM x WHERE (v * 10::numeric ^ s) NOT BETWEEN -9223372036854775808 AND 9223372036854775807;
	REINDEX INDEX x_all;
	RETURN QUERY SELECT unlike('x', 'x_all', 'SELECT i, v, scale(v), numeric_send(v) FROM x WHERE i > 0');
	DROP TABLE x;
END
$$;
SELECT s, check_scale(s) FROM generate_series(0, 20) s;
SET rtscan.pending_list_limit = '64kB';
SET rtscan.merge_worker = off;
CREATE TABLE t (i int, v numeric, w numeric(12,3), x numeric) WITH (autovacuum_enabled = off);
CREATE INDEX t_all ON t USING rtscan (i, w) INCLUDE (v, x);
INSERT INTO t SELECT i, round(i / 7.0, 2), i / 7.0, round(i / 7.0, i % 5) FROM generate_series(1, 9000) i;
INSERT INTO t SELECT i, round(i / 7.0, 3), NULL, NULL FROM generate_series(9001, 18000) i;
INSERT INTO t SELECT i, CASE WHEN i < 26999 THEN round(i / 7.0, 2) ELSE 'NaN' END, 'NaN', 1e30
FROM generate_series(18001, 27000) i;
SELECT segments > 1 AS segments FROM rtscan_stats('t_all');
SELECT unlike('t', 't_all', q)
FROM unnest('{SELECT * FROM t WHERE i > 0 AND i % 5 = 0,SELECT v FROM t WHERE i BETWEEN 8900 AND 9100,
	SELECT v FROM t WHERE i > 26900,"SELECT i, w FROM t WHERE w > 400"}'::text[]) q;
SELECT segments AS before FROM rtscan_stats('t_all') \gset
VACUUM t;
SELECT segments < :before AS merged FROM rtscan_stats('t_all');
SELECT unlike('t', 't_all', q)
FROM unnest('{SELECT * FROM t WHERE i > 0 AND i % 5 = 0,SELECT v FROM t WHERE i BETWEEN 8900 AND 9100,
	SELECT v FROM t WHERE i > 26900,"SELECT i, w FROM t WHERE w > 400"}'::text[]) q;
DELETE FROM t WHERE i % 3 = 0;
VACUUM t;
SELECT unlike('t', 't_all', q)
FROM unnest('{SELECT * FROM t WHERE i > 0 AND i % 5 = 0,SELECT v FROM t WHERE i BETWEEN 8900 AND 9100,
	SELECT v FROM t WHERE i > 26900,"SELECT i, w FROM t WHERE w > 400"}'::text[]) q;
RESET rtscan.pending_list_limit;
RESET rtscan.merge_worker;
DROP TABLE t;

-- a type modifier that changes below an index; some changes keep its file
CREATE TABLE t (i int, k numeric(10,2), v numeric(10,2), s varchar(10)) WITH (autovacuum_enabled = off);
INSERT INTO t SELECT i, i / 8.0, i / 16.0, 'v' || i % 3 FROM generate_series(1, 100) i;
CREATE INDEX t_all ON t USING rtscan (i, k, s) INCLUDE (v);
CREATE FUNCTION alter_type(step int, type text) RETURNS TABLE (typmod text, returned bool, kept bool, problem text)
LANGUAGE plpgsql AS $$
DECLARE
	file oid := pg_relation_filenode('t_all');
BEGIN
	EXECUTE format('ALTER TABLE t ALTER k TYPE %s, ALTER v TYPE %1$s, ALTER s TYPE %s', type,
		CASE step WHEN 1 THEN 'varchar(20)' ELSE 'text' END);
	INSERT INTO t SELECT step * 1000 + i, x, x, 'w'
	FROM unnest('{1,1.5,1.50,1.500,0,0.0000,-2.50}'::numeric[]) WITH ORDINALITY u (x, i);
	RETURN QUERY
		SELECT format_type(atttypid, atttypmod), pg_index_column_has_property('t_all', 2, 'returnable'),
			pg_relation_filenode('t_all') = file, p
		FROM pg_attribute LEFT JOIN unlike('t', 't_all', 'SELECT i, s, v FROM t WHERE i > 50') p ON true
		WHERE attrelid = 't_all'::regclass AND attnum = 2;
	RETURN QUERY
		SELECT 'keys', NULL::bool, NULL::bool, p
		FROM unlike('t', 't_all', 'SELECT i, k FROM t WHERE i > 50') p;
END
$$;
SELECT a.*
FROM unnest('{"numeric(12,2)",numeric,"numeric(10,4)","numeric(12,4)",numeric,"numeric(12,2)"}'::text[])
	WITH ORDINALITY u (type, step), alter_type(step::int, type) a;
VACUUM t;
SELECT unlike('t', 't_all', 'SELECT * FROM t WHERE i > 50');
SELECT rtscan_check('t_all', true);
-- a plan that was made before
PREPARE p AS SELECT i, k::text FROM t WHERE i BETWEEN 1001 AND 1003;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT explained('EXECUTE p');
EXECUTE p;
ALTER TABLE t ALTER k TYPE numeric, ALTER v TYPE numeric;
INSERT INTO t VALUES (1002, 1.5, 1.5), (1002, 1.500, 1.500);
SELECT explained('EXECUTE p');
EXECUTE p;
DEALLOCATE p;
RESET enable_seqscan;
RESET enable_bitmapscan;
DROP TABLE t;

--
-- Many rows: chunks of 64512, columns in heap order, few and many values, long ones
--
CREATE TABLE t (ordered int, steps int, few int2, many int, word text COLLATE "C", price numeric(10,2), nulls int,
	last_nulls int, long text, amount numeric)
WITH (autovacuum_enabled = off);
INSERT INTO t
SELECT i, i / 300, CASE WHEN i % 11 > 0 THEN hash(i) % 5 END, hash(i), 'w' || hash(i) % 20000,
	hash(i) % 1000000 / 100.0, CASE WHEN i % 64512 < 3 THEN i END, CASE WHEN i <= 129000 THEN i / 7 END,
	CASE WHEN i % 100 = 0 THEN repeat('x', 500) || i WHEN i % 1000 = 1 THEN NULL ELSE 's' || i END,
	CASE WHEN i % 17 > 0 THEN hash(i) % 1000 / 10.0 END
FROM generate_series(1, 129030) i;
CREATE INDEX t_all ON t USING rtscan (ordered, steps, few, many, word, price, nulls, last_nulls) INCLUDE (long, amount);
CREATE FUNCTION check_many() RETURNS SETOF text LANGUAGE sql AS $$
	SELECT unlike('t', 't_all', 'SELECT ' || q)
	FROM unnest(ARRAY[
		'* FROM t WHERE ordered BETWEEN 64505 AND 64520', '* FROM t WHERE ordered >= 129020',
		'* FROM t WHERE ordered IN (1, 64512, 64513, 64514, 129024, 129025, 129030)',
		'ordered, steps, long FROM t WHERE steps IN (0, 215, 430)',
		'ordered, few, many FROM t WHERE many < 20000000',
		'* FROM t WHERE few IS NULL AND many < 100000000',
		'word, price, amount FROM t WHERE word BETWEEN ''w555'' AND ''w559''',
		'nulls, last_nulls, ordered FROM t WHERE nulls IS NOT NULL',
		'last_nulls, nulls, ordered FROM t WHERE last_nulls > 18420',
		'last_nulls, nulls, ordered FROM t WHERE last_nulls IS NULL',
		'count(*), sum(few), sum(steps), max(word), sum(price), sum(length(long)), sum(amount), count(nulls),
			sum(last_nulls) FROM t WHERE ordered > 3',
		'few, count(*), min(word), avg(amount) FROM t WHERE few >= 0 GROUP BY few',
		'ordered, last_nulls FROM t WHERE last_nulls IS NULL OR last_nulls > 18420 OR nulls = 5',
		-- few rows of a column, of which those in heap order have some, the first, the last, or none
		'ordered, many FROM t WHERE many < 10000000 AND ordered BETWEEN 60000 AND 70000',
		'ordered, word FROM t WHERE word = ''w555'' AND ordered > 64512',
		'ordered, price FROM t WHERE price < 40 AND steps IN (3, 215, 216, 400)',
		'ordered, price FROM t WHERE price < 40 AND steps > 99 AND (ordered < 40000 OR ordered >= 64513)',
		'ordered, many FROM t WHERE many = hash(64499) AND steps <= 214',
		'ordered, many FROM t WHERE many = hash(64499) AND steps BETWEEN 214 AND 220 AND ordered > 1000',
		'ordered, many FROM t WHERE many IN (hash(64499), hash(64500)) AND steps >= 215',
		'ordered, many FROM t WHERE many < 10000000 AND ordered > 70000 AND steps < 230',
		-- all of them, which is more than one would expect
		'ordered, many FROM t WHERE ordered BETWEEN 63900 AND 64500 AND steps BETWEEN 200 AND 216',
		'ordered, many FROM t WHERE many < 10000000 AND last_nulls IS NULL AND ordered > 128000',
		'ordered, many FROM t WHERE many < 10000000 AND last_nulls > 18000']) q
	UNION ALL SELECT unlike('t', 't_all', 'SELECT ' || q, '{columns}')
	FROM unnest(ARRAY[
		'count(DISTINCT many), count(DISTINCT word) FROM t WHERE ordered % 2 = 0',
		'few, sum(price) FROM t GROUP BY few']) q
$$;
SELECT check_many(); -- no block is all-visible
VACUUM t;
SELECT check_many();
DELETE FROM t WHERE ordered % 1000 < 20 OR ordered BETWEEN 64500 AND 64515 OR ordered > 129025;
UPDATE t SET long = 'updated' WHERE ordered % 5000 = 77;
INSERT INTO t (ordered, few, word, price, long, amount) SELECT i, i % 7, 'p' || i % 9, i, repeat('y', i - 200000), i
FROM generate_series(200001, 201100) i;
SELECT check_many();
VACUUM t;
SELECT check_many();
-- an order that the scan does not have, and one that it has
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT explained('SELECT ordered FROM t WHERE few = 3 ORDER BY ordered DESC LIMIT 3');
SELECT ordered FROM t WHERE few = 3 ORDER BY ordered DESC LIMIT 3;
SELECT many = hash(ordered) AS right, count(*) FROM t WHERE ordered < 100000 GROUP BY 1;

--
-- Parts of what is found: LIMIT, EXISTS, cursors
--
SELECT ordered FROM t WHERE ordered >= 64490 LIMIT 5;
SELECT ordered, long FROM t WHERE ordered > 63000 OFFSET 1500 LIMIT 3;
SELECT ordered FROM t WHERE ordered > 70000 LIMIT 0;
SELECT EXISTS (SELECT FROM t WHERE ordered > 90000 AND few = 2) AS there,
	EXISTS (SELECT FROM t WHERE ordered > 300000) AS not_there;
SELECT g, (SELECT left(long, 9) FROM t WHERE ordered > g * 10000 AND few = 1 LIMIT 1),
	(SELECT count(*) FROM (SELECT FROM t WHERE ordered > g * 10000 LIMIT 1030) l)
FROM generate_series(0, 21, 7) g;
BEGIN;
DECLARE c CURSOR FOR SELECT ordered, few, amount FROM t WHERE ordered > 61000 AND few = 4;
FETCH 2 FROM c;
MOVE 1020 IN c;
FETCH 3 FROM c;
MOVE FORWARD ALL IN c;
FETCH 1 FROM c;
FETCH BACKWARD 1 FROM c;
ROLLBACK;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT ordered, few, amount FROM t WHERE ordered > 61000 AND few = 4;
FETCH ABSOLUTE 1025 FROM c;
FETCH BACKWARD 2 FROM c;
FETCH LAST FROM c;
FETCH FIRST FROM c;
FETCH RELATIVE 0 FROM c;
FETCH PRIOR FROM c;
FETCH NEXT FROM c;
COMMIT;
SELECT explained('DECLARE c SCROLL CURSOR FOR SELECT ordered, few, amount FROM t WHERE ordered > 61000 AND few = 4');
SELECT explained('DECLARE c CURSOR FOR SELECT ordered, few, amount FROM t WHERE ordered > 61000 AND few = 4');
BEGIN;
DECLARE c CURSOR WITH HOLD FOR SELECT ordered, long FROM t WHERE ordered BETWEEN 64490 AND 64600 AND few = 2;
FETCH 1 FROM c;
COMMIT;
FETCH 2 FROM c;
CLOSE c;
-- a cursor does not see later changes of its own transaction
BEGIN;
DECLARE c CURSOR FOR SELECT ordered, length(long) FROM t WHERE ordered > 200000;
DECLARE d CURSOR FOR SELECT ordered, length(long) FROM t WHERE ordered > 60000;
FETCH 1 FROM c;
FETCH 1 FROM d;
SAVEPOINT s;
DELETE FROM t WHERE ordered > 100;
INSERT INTO t (ordered, few, long) SELECT i, 2, repeat('z', 1000) FROM generate_series(60001, 63000) i; -- flushed
SELECT segments > 1 AS flushed FROM rtscan_stats('t_all');
FETCH 1 FROM c;
MOVE ALL IN c;
ROLLBACK TO s;
FETCH 1 FROM d;
MOVE ALL IN d;
ROLLBACK;
-- an error in the middle of a scan
SELECT ordered, 1 / (ordered - 64600) FROM t WHERE ordered BETWEEN 64590 AND 64700;
SELECT count(*) FROM (SELECT ordered FROM t WHERE ordered BETWEEN 64590 AND 64700 OFFSET 0) x;

--
-- Joins, scans again
--
CREATE TABLE o (id int, low int, high int, w text COLLATE "C");
INSERT INTO o SELECT i, hash(i) % 130000, hash(i) % 130000 + hash(i) % 90, 'w' || hash(i * 7) % 20000
FROM generate_series(1, 60) i;
INSERT INTO o VALUES (61, NULL, 5, NULL), (62, 1, 129030, 'w1'), (63, 500, 400, 'x');
ANALYZE o;
CREATE FUNCTION joins(method text) RETURNS TABLE (problem text) LANGUAGE plpgsql
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_nestloop = off SET enable_memoize = off AS $$
BEGIN
	PERFORM set_config('enable_' || method, 'on', true);
	RETURN QUERY
		SELECT unlike('t', 't_all', 'SELECT ' || q,
			CASE method WHEN 'nestloop' THEN '{heap,columns}' ELSE '{columns}' END::text[])
		FROM unnest(ARRAY[
			'o.id, t.ordered, t.long FROM o JOIN t ON t.ordered = o.low',
			'o.id, t.word, t.price FROM o LEFT JOIN t ON t.word = o.w',
			'o.id FROM o WHERE NOT EXISTS (SELECT FROM t WHERE t.ordered = o.high)',
			'count(*), sum(a.ordered) FROM t a JOIN t b ON a.ordered = b.many % 1000
				WHERE a.ordered < 500 AND b.ordered BETWEEN 64000 AND 66000']
			|| CASE method WHEN 'nestloop' THEN ARRAY[
				'o.id, s.* FROM o, LATERAL (
					SELECT count(*), sum(many), min(long)
					FROM t
					WHERE ordered BETWEEN o.low AND o.high AND few >= o.id % 4) s',
				'o.id, s.* FROM o, LATERAL (
					SELECT ordered, amount FROM t WHERE ordered >= o.low AND few = 1 LIMIT 2) s',
				'o.id, (
					SELECT string_agg(long, '','' ORDER BY ordered)
					FROM t
					WHERE ordered IN (o.low, o.high, o.id)) FROM o'] END) q;
END
$$;
SET rtscan.enable_star = off;
SELECT method, joins(method) FROM unnest('{nestloop,hashjoin,mergejoin}'::text[]) method;
SET enable_memoize = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT explained('SELECT o.id, t.ordered, t.long FROM o JOIN t ON t.ordered = o.low');
RESET enable_memoize;
RESET enable_mergejoin;
SET enable_nestloop = off;
SELECT explained('SELECT count(*) FROM t a JOIN t b ON a.steps = b.steps WHERE a.ordered < 1000 AND b.ordered < 2000');
SELECT count(*) FROM t a JOIN t b ON a.steps = b.steps WHERE a.ordered < 1000 AND b.ordered < 2000;
RESET enable_hashjoin;
RESET enable_nestloop;
-- thousands of scans
SELECT count(*), sum(x)
FROM generate_series(1, 3000) g, LATERAL (SELECT many % 10 AS x FROM t WHERE ordered = g * 40 OFFSET 0) s;

--
-- Scans in scans, and changes of what is scanned
--
CREATE FUNCTION neighbours(n int) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
	RETURN (SELECT sum(ordered) FROM t WHERE ordered BETWEEN n - 1 AND n + 1);
END
$$;
SELECT count(*), sum(neighbours(ordered) - 3 * ordered) FROM t WHERE ordered BETWEEN 65000 AND 66500 AND few = 1;
SELECT ordered, neighbours(ordered)
FROM t
WHERE neighbours(ordered) > 195000 AND ordered BETWEEN 65000 AND 65030 AND few = 2;
CREATE FUNCTION add_row(n int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO t (ordered, long) VALUES (n, repeat('a', 3000) || n);
	RETURN n;
END
$$;
BEGIN;
SET LOCAL rtscan.pending_list_limit = '64kB';
SELECT count(add_row(ordered + 300000)), max(ordered) FROM t WHERE ordered > 128000;
SELECT count(*), min(ordered), sum(length(long)) FROM t WHERE ordered > 300000;
ROLLBACK;
BEGIN;
SELECT explained('UPDATE t SET ordered = ordered + 10 WHERE ordered > 128000');
UPDATE t SET ordered = ordered + 10 WHERE ordered > 128000;
SELECT count(*), min(ordered), max(ordered) FROM t WHERE ordered > 128010;
DELETE FROM t USING o WHERE t.ordered > o.low AND t.ordered <= o.high AND o.id < 61;
SELECT unlike('t', 't_all', 'SELECT * FROM t WHERE ordered > 120000');
DELETE FROM t WHERE ordered > 1000;
SELECT count(*), max(ordered) FROM t;
ROLLBACK;
WITH changed AS (UPDATE t SET long = 'changed' WHERE ordered = 70030 RETURNING ordered)
SELECT t.ordered, long FROM t, changed WHERE t.ordered = changed.ordered;
SELECT ordered, long FROM t WHERE ordered = 70030;
BEGIN;
SELECT ordered, long FROM t WHERE ordered = 70030 FOR UPDATE;
ROLLBACK;
CREATE UNIQUE INDEX t_unique ON t (ordered);
INSERT INTO t (ordered, long) VALUES (70030, 'inserted')
ON CONFLICT (ordered)
	DO UPDATE SET long = excluded.long || ' ' || (SELECT count(*) FROM t WHERE steps = 233 AND few >= 0);
DROP INDEX t_unique;
SELECT ordered, long FROM t WHERE ordered = 70030;
-- rows of a savepoint that is rolled back are not found
BEGIN;
SAVEPOINT s;
INSERT INTO t (ordered, long) SELECT 400000 + i, 'in vain' FROM generate_series(1, 10) i;
SELECT count(*) FROM (SELECT ordered, long FROM t WHERE ordered > 400000 OFFSET 0) x;
ROLLBACK TO s;
SELECT count(*) FROM (SELECT ordered, long FROM t WHERE ordered > 400000 OFFSET 0) x;
COMMIT;
VACUUM t;
SELECT count(*) FROM (SELECT ordered, long FROM t WHERE ordered > 400000 OFFSET 0) x;
RESET enable_seqscan;
RESET enable_bitmapscan;
DROP TABLE t, o;

--
-- All-visible pages are not visited in the heap, others are
--
CREATE TABLE t (a int, b numeric(8,2)) WITH (autovacuum_enabled = off);
INSERT INTO t SELECT i, i / 4.0 FROM generate_series(1, 5000) i;
CREATE INDEX t_ab ON t USING rtscan (a, b);
CREATE FUNCTION fetches(query text) RETURNS text LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, FORMAT json) ' || query INTO plan;
	RETURN format('%s rows, %s heap fetches', (plan #>> '{0,Plan,Actual Rows}')::numeric::int,
		plan #>> '{0,Plan,Heap Fetches}');
END
$$;
SELECT fetches('SELECT a, b FROM t WHERE a > 100');
VACUUM t;
SELECT fetches('SELECT a, b FROM t WHERE a > 100');
DELETE FROM t WHERE a = 200;
SELECT fetches('SELECT a, b FROM t WHERE a > 1000');
SELECT fetches('SELECT a, b FROM t WHERE a = 200');
SELECT fetches('SELECT a, b FROM t WHERE a = 201');
DROP TABLE t;

--
-- Features that rtscan indexes do not have
--
CREATE TABLE t (a int, b int);
ALTER TABLE t ADD EXCLUDE USING rtscan (a WITH =);
CREATE TABLE x (a int, EXCLUDE USING rtscan (a WITH =) DEFERRABLE INITIALLY DEFERRED);
CREATE UNIQUE INDEX ON t USING rtscan (a);
CREATE INDEX t_a ON t USING rtscan (a) INCLUDE (b);
CLUSTER t USING t_a;
ALTER TABLE t ALTER a SET NOT NULL;
ALTER TABLE t REPLICA IDENTITY USING INDEX t_a;
SELECT name, pg_index_has_property('t_a', name)
FROM unnest('{clusterable,index_scan,bitmap_scan,backward_scan}'::text[]) name;
DROP TABLE t;

SET client_min_messages = error;
DROP SCHEMA scan CASCADE;
