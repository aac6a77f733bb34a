-- Aggregates that collect their values, by the node RtscanAggregate: percentiles, modes, and DISTINCT within
-- aggregates: the same as PostgreSQL's own.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA quantiles;
SET search_path = quantiles, public;
SET rtscan.pending_list_limit = '64kB';
SET rtscan.merge_worker = off;

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/outcomes.psql
\i :directory/sql/include/plans.psql
\set ECHO all
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
-- Keys: k few, l many, o in heap order.  z has -0, 0 and NaNs of both signs; one is the same in all rows, none NULL.
CREATE FUNCTION rows(start int, n int)
RETURNS TABLE (
	o int, k int, l bigint, i2 int2, i4 int, i8 bigint, f4 float4, f8 float8, z float8, a numeric(12, 2), m numeric,
	d date, t time, ts timestamp, tz timestamptz, b bool, c "char", oi oid, mo money, ls pg_lsn, x8 xid8, e mood,
	x text, one int, nul int)
LANGUAGE sql AS $$
	SELECT i, CASE WHEN h % 11 > 0 THEN h % 7 END,
		   CASE WHEN h % 17 > 0 THEN (h % 5003)::bigint * 10000000019 END,
		   CASE WHEN h % 13 > 0 THEN h % 301 - 150 END,
		   CASE WHEN h % 13 > 0 THEN (h % 1000003 - 500000) * 4000 END,
		   CASE WHEN h % 19 > 0 THEN (h % 1000 - 500) * 9223372036854775 END,
		   CASE WHEN h % 31 = 0 THEN 'NaN' WHEN h % 6 > 0 THEN h % 101 / 4.0 - 12 END,
		   CASE WHEN h % 43 = 0 THEN 'NaN' WHEN h % 41 = 0 THEN 'infinity' WHEN h % 37 = 0 THEN '-infinity'
				WHEN h % 8 < 7 THEN (h % 809 - 400.5) / 7.0 END,
		   CASE WHEN h % 8 = 0 THEN '-0' WHEN h % 8 = 1 THEN 0 WHEN h % 8 = 2 THEN 'NaN'
				WHEN h % 8 = 3 THEN float8 'infinity' - float8 'infinity' WHEN h % 8 < 7 THEN h % 5 / 2.0 - 1 END,
		   CASE WHEN h % 43 = 0 THEN 'NaN' WHEN h % 47 > 0 THEN (h % 1000003 - 500000) / 100.0 END,
		   CASE WHEN h % 53 > 0 THEN round((h % 997 - 500) / 7.0, h % 6) END,
		   CASE WHEN h % 37 = 0 THEN 'infinity' WHEN h % 41 > 0 THEN '2023-01-01'::date + h % 50 END,
		   CASE WHEN h % 37 > 0 THEN '01:00'::time + h % 997 * interval '1 minute' END,
		   CASE WHEN h % 37 = 0 THEN '-infinity'
				WHEN h % 41 > 0 THEN '2023-01-01'::timestamp + h % 1999 * interval '37 s' END,
		   CASE WHEN h % 41 > 0 THEN '2023-01-01 UTC'::timestamptz + h % 1999 * interval '37 s' END,
		   CASE WHEN h % 5 > 0 THEN h % 3 = 0 END, CASE WHEN h % 9 > 0 THEN chr(33 + h % 90)::"char" END,
		   CASE WHEN h % 9 > 0 THEN (h % 99 * 43000000::bigint)::oid END,
		   CASE WHEN h % 9 > 0 THEN (h % 991 - 400)::money END,
		   CASE WHEN h % 9 > 0 THEN ('F' || (h % 99) || '/0')::pg_lsn END,
		   CASE WHEN h % 9 > 0 THEN (h % 99)::text::xid8 END,
		   CASE WHEN h % 7 > 0 THEN (ARRAY['sad', 'ok', 'happy'])[1 + h % 3]::mood END,
		   CASE WHEN h % 9 > 0 THEN chr(97 + h % 20) END, 7, NULL::int
	FROM (SELECT i, abs(hashint4(i)) FROM generate_series(start, start + n - 1) i) r (i, h)
$$;
CREATE TABLE q AS SELECT * FROM rows(1, 0);
ALTER TABLE q ALTER a TYPE numeric(12, 2), ADD filler text, SET (autovacuum_enabled = off, fillfactor = 80);
INSERT INTO q SELECT * FROM rows(1, 6000);
CREATE INDEX q_all ON q USING rtscan (o, k, l, i4, d)
INCLUDE (i2, i8, f4, f8, z, a, m, t, ts, tz, b, c, oi, mo, ls, x8, e, x, one, nul);
DELETE FROM q WHERE o % 13 = 0;
VACUUM ANALYZE q;
-- segments of what was pending, pending rows, dead ones, rows that are not all-visible
INSERT INTO q SELECT * FROM rows(10001, 1500);
DELETE FROM q WHERE o % 17 = 0;
UPDATE q SET filler = 'HOT' WHERE o % 11 = 0;
SELECT segments > 1 AS segments, pending > 0 AS pending FROM rtscan_stats('q_all');

--
-- All of them, of all types; z's equal values look different
--
CREATE VIEW typed AS
SELECT unnest('{i2,i4,i8,f4,f8,a,d,t,ts,tz,b,c,oi,mo,ls,x8,one,nul,o,k,l}'::text[]) AS col;
CREATE VIEW numbers AS SELECT unnest('{i2,i4,i8,f4,f8,a,one,nul,o,k,l}'::text[]) AS col;
CREATE VIEW conditions AS SELECT unnest(ARRAY['true', 'o < 2000 AND k <> 3', 'o = 12', 'o < 0']) AS condition;
SELECT differs(format('SELECT percentile_disc(%s) WITHIN GROUP (ORDER BY %I %s) FROM q WHERE %s', p, col, d, condition))
FROM typed, conditions, (VALUES ('0.5', ''), ('0', 'DESC'), ('1', 'NULLS FIRST'), ('0.25', 'DESC')) v (p, d);
SELECT differs(format('SELECT percentile_disc(%s) WITHIN GROUP (ORDER BY %I %s) FROM q WHERE %s', p, col, d, condition))
FROM typed, conditions,
	(VALUES ('ARRAY[0.9, 0.1, NULL, 0.5, 0.9, 0, 1]::float8[]', ''), ('''{{0.25,0.5},{0.75,0.99}}''::float8[]', 'DESC'),
		('''[2:3]={0.3,0.3}''::float8[]', ''), ('''{}''::float8[]', ''), ('''{NULL,NULL}''::float8[]', ''),
		('NULL::float8[]', '')) v (p, d);
SELECT differs(format('SELECT percentile_disc((SELECT array_agg(i / 500.0::float8) FROM generate_series(0, 500) i))
	WITHIN GROUP (ORDER BY %I %s) FROM q WHERE %s', col, d, condition))
FROM typed, conditions, (VALUES (''), ('DESC')) v (d);
SELECT differs(format('SELECT percentile_cont(%s) WITHIN GROUP (ORDER BY %I %s) FROM q WHERE %s', p, col, d, condition))
FROM numbers, conditions, (VALUES ('0.5', ''), ('0', 'DESC'), ('1', ''), ('0.2501', 'DESC'), ('0.999', '')) v (p, d);
SELECT differs(format('SELECT percentile_cont(%s) WITHIN GROUP (ORDER BY %I %s) FROM q WHERE %s', p, col, d, condition))
FROM numbers, conditions,
	(VALUES ('ARRAY[0.9, 0.1, NULL, 0.5, 0.9, 0, 1]::float8[]', ''),
		('''{{0.25,0.51},{0.75,0.99}}''::float8[]', 'DESC'),
		('''{}''::float8[]', ''), ('''{NULL,NULL}''::float8[]', ''), ('NULL::float8[]', '')) v (p, d);
SELECT differs(format('SELECT mode() WITHIN GROUP (ORDER BY %I %s) FROM q WHERE %s', col, d, condition))
FROM typed, conditions, (VALUES (''), ('DESC')) v (d);
SELECT differs(format('SELECT count(DISTINCT %1$I), min(DISTINCT %1$I::text), count(%1$I) FROM q WHERE %2$s',
		col, condition))
FROM typed, conditions;
SELECT differs(format('SELECT sum(DISTINCT %1$I), avg(DISTINCT %1$I), max(DISTINCT %1$I), sum(DISTINCT o %% 10)
	FROM q WHERE %2$s', col, condition))
FROM (TABLE numbers UNION SELECT 'a' UNION SELECT 'z') n, conditions;
SELECT differs(format('SELECT sum(DISTINCT mo), count(DISTINCT z), count(DISTINCT mode) FROM q,
	LATERAL (SELECT mode() WITHIN GROUP (ORDER BY z) + 0 FROM q r WHERE r.o < q.o %% 100 AND %s) m (mode)
	WHERE q.o < 50', condition), NULL)
FROM conditions;
SELECT differs(format('SELECT percentile_disc(%s) WITHIN GROUP (ORDER BY z %s) + 0,
	percentile_cont(%1$s) WITHIN GROUP (ORDER BY z %2$s) + 0, mode() WITHIN GROUP (ORDER BY z %2$s) + 0,
	count(DISTINCT z)
	FROM q WHERE %3$s', p, d, condition))
FROM conditions, (VALUES ('0.5', ''), ('0.01', ''), ('0.9', 'DESC'), ('0.3', 'DESC')) v (p, d);

--
-- With GROUP BY, with FILTER, of expressions
--
CREATE FUNCTION twice(x float8) RETURNS float8 LANGUAGE sql STABLE AS 'SELECT x * 2';
SELECT differs(q) FROM (VALUES
	('SELECT k, percentile_disc(0.5) WITHIN GROUP (ORDER BY i4), count(*), count(DISTINCT i2) FROM q GROUP BY k'),
	('SELECT k, percentile_disc(''{0.25,0.5,0.75}''::float8[]) WITHIN GROUP (ORDER BY f8 DESC), sum(DISTINCT a)
		FROM q WHERE o < 5000 GROUP BY k'),
	('SELECT k, percentile_cont(''{0.25,0.5,0.75}''::float8[]) WITHIN GROUP (ORDER BY i4), sum(i8) FROM q GROUP BY k'),
	('SELECT l, mode() WITHIN GROUP (ORDER BY d), avg(DISTINCT a), percentile_cont(0.3) WITHIN GROUP (ORDER BY f4)
		FROM q WHERE o > 500 GROUP BY l'),
	('SELECT b, d, percentile_disc(0.9) WITHIN GROUP (ORDER BY a DESC) FROM q GROUP BY b, d
		HAVING count(DISTINCT i4) > 2'),
	('SELECT o % 10, count(DISTINCT c), count(DISTINCT i4 + i2), sum(DISTINCT abs(i2)) FROM q GROUP BY 1'),
	('SELECT k, count(DISTINCT i4) FILTER (WHERE f8 > 0), mode() WITHIN GROUP (ORDER BY one) FILTER (WHERE nul = 1)
		FROM q GROUP BY k'),
	('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY i4) FILTER (WHERE i2 > 0),
		percentile_disc(0.5) WITHIN GROUP (ORDER BY i4 % 1000), percentile_cont(0.5) WITHIN GROUP (ORDER BY i4 * 1.5),
		percentile_disc(0.5) WITHIN GROUP (ORDER BY a::numeric(9, 1)), mode() WITHIN GROUP (ORDER BY d - 3) FROM q'),
	('SELECT mode() WITHIN GROUP (ORDER BY k), k FROM q GROUP BY k, l % 3'),
	('SELECT count(DISTINCT k), count(DISTINCT k), count(k), sum(DISTINCT k), sum(k) FROM q'),
	('SELECT percentile_disc(twice(0.2)) WITHIN GROUP (ORDER BY k),
		percentile_cont(twice(NULL)) WITHIN GROUP (ORDER BY k)
		FROM q'),
	('SELECT min(DISTINCT i4), max(DISTINCT k) FROM q WHERE l > 0'),
	('SELECT min(DISTINCT x), max(DISTINCT m), k FROM q GROUP BY k'),
	-- errors as of PostgreSQL, and only where it has them
	('SELECT percentile_disc(1.5) WITHIN GROUP (ORDER BY i4) FROM q WHERE o < 0'),
	('SELECT percentile_disc(-0.1) WITHIN GROUP (ORDER BY i4) FROM q'),
	('SELECT percentile_disc(-0.1) WITHIN GROUP (ORDER BY i4) FROM q WHERE o < 0 GROUP BY k'),
	('SELECT percentile_cont(''NaN'') WITHIN GROUP (ORDER BY i4) FROM q WHERE o < 100 GROUP BY k'),
	('SELECT percentile_cont(''{0.5,2,3}''::float8[]) WITHIN GROUP (ORDER BY i4) FROM q WHERE o < 0'),
	('SELECT percentile_cont(''{0.5,2,3}''::float8[]) WITHIN GROUP (ORDER BY i4) FROM q'),
	('SELECT percentile_disc(1e9) WITHIN GROUP (ORDER BY nul), k FROM q GROUP BY k'),
	('SELECT sum(DISTINCT f8 * 1e308) FROM q WHERE f8 <> ''NaN'' AND f8 < 1e9 AND f8 > -1e9'),
	('SELECT sum(DISTINCT i8) FROM q')) v (q);
-- fractions from outside: parameters, subqueries, outer queries
SELECT differs('SELECT percentile_disc((SELECT 0.1 + count(*) / 1e9 FROM q r)) WITHIN GROUP (ORDER BY q.i4) FROM q', 2);
SELECT differs('SELECT p, (SELECT percentile_cont(p) WITHIN GROUP (ORDER BY i4) FROM q WHERE o < p * 10000)
	FROM (VALUES (0.1::float8), (0.5), (NULL), (1)) v (p)');
SELECT differs_prepared(mode, 'float8, float8[]',
	'SELECT percentile_disc($1) WITHIN GROUP (ORDER BY i4), percentile_cont($2) WITHIN GROUP (ORDER BY f8),
		count(DISTINCT l)
		FROM q WHERE o < 3000',
	'0.3, ''{0.1,0.2}''', 'NULL, NULL', '1, ''{{0.7},{NULL}}''', '1.1, NULL', '0, ''{2}''')
FROM unnest('{force_generic_plan,force_custom_plan}'::text[]) mode;
-- not these: fractions of columns, of every call, orders of their own, ordered DISTINCT; values that are no integers
SELECT differs(q, n) FROM (VALUES
	('SELECT percentile_disc(k / 10.0) WITHIN GROUP (ORDER BY i4) FROM q GROUP BY k', 0),
	('SELECT percentile_disc(random() * 0) WITHIN GROUP (ORDER BY i4) FROM q', 0),
	('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY x) FROM q', 0),
	('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY x USING ~>~) FROM q', 0),
	('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY m) FROM q', 0),
	('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY a * 2) FROM q', 0),
	('SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY t - time ''01:00'') FROM q', 0),
	('SELECT rank(3) WITHIN GROUP (ORDER BY i4) FROM q', 0),
	('SELECT array_agg(DISTINCT i4) FROM q', 0),
	('SELECT sum(DISTINCT k ORDER BY k DESC), sum(l ORDER BY k) FROM q', 0),
	('SELECT count(DISTINCT x), count(DISTINCT m), count(DISTINCT e) FROM q', 0),
	('SELECT mode() WITHIN GROUP (ORDER BY e) FROM q', 0)) v (q, n);
-- several processes do not share them
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET enable_seqscan = off;
SELECT explained('SELECT count(DISTINCT i4), percentile_disc(0.5) WITHIN GROUP (ORDER BY i4) FROM q WHERE k < 3');
SET max_parallel_workers_per_gather = 0;

--
-- Within memory
--
CREATE FUNCTION shown(query text, keep text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN SELECT explained(query, 'ANALYZE, BUFFERS OFF, COSTS OFF, TIMING OFF, SUMMARY OFF') LOOP
		IF line ~ keep THEN
			RETURN NEXT regexp_replace(line, '(Spilled \w+: )\d+', '\1some');
		END IF;
	END LOOP;
END
$$;
CREATE TABLE large AS
SELECT i AS o, i % 3 AS k, abs(hashint4(i)) AS r, abs(hashint4(i)) % 50000 AS v, (i % 1000)::float8 AS f
FROM generate_series(1, 70000) i;
CREATE INDEX large_all ON large USING rtscan (o, k, r) INCLUDE (v, f);
VACUUM ANALYZE large;
SELECT shown('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY r), count(DISTINCT r) FROM large', 'Spilled|Custom');
SET enable_bitmapscan = off;
SET rtscan.enable_scan = off;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT shown('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY f) FROM large', 'Spilled|Custom');
SELECT shown('SELECT count(DISTINCT v) FROM large WHERE v < 10000', 'Spilled|Custom');
SELECT shown('SELECT count(DISTINCT r) FROM large', 'Spilled|Custom');
SELECT differs(q) FROM (VALUES
	('SELECT percentile_disc(0.37) WITHIN GROUP (ORDER BY r), percentile_cont(0.37) WITHIN GROUP (ORDER BY v DESC),
		count(DISTINCT r), count(DISTINCT v), sum(DISTINCT v), sum(DISTINCT r), mode() WITHIN GROUP (ORDER BY v),
		mode() WITHIN GROUP (ORDER BY r DESC), avg(DISTINCT f), count(DISTINCT f) FROM large'),
	('SELECT percentile_disc(''{{0.9,NULL},{0.1,0.9}}''::float8[]) WITHIN GROUP (ORDER BY r),
		percentile_cont(''{0,0.1,0.1000001,1}''::float8[]) WITHIN GROUP (ORDER BY r) FROM large')) v (q);
-- groups that do not fit are spilled, whether the planner knows it or not
SELECT shown('SELECT k, percentile_disc(0.5) WITHIN GROUP (ORDER BY r) FROM large GROUP BY k', 'Spilled|Custom');
ALTER TABLE large ALTER r SET (n_distinct = 1), ALTER o SET (n_distinct = 1), ALTER v SET (n_distinct = 1);
ANALYZE large;
SELECT shown('SELECT k, count(DISTINCT r), count(DISTINCT v) FROM large GROUP BY k', 'Spilled|Custom');
SELECT shown('SELECT v, count(DISTINCT r) FROM large GROUP BY v', 'Spilled|Custom');
SELECT differs(q) FROM (VALUES
	('SELECT k, count(DISTINCT r), count(DISTINCT v), sum(DISTINCT v) FROM large GROUP BY k'),
	('SELECT v, count(DISTINCT r), avg(DISTINCT r) FROM large GROUP BY v'),
	('SELECT o % 2, count(DISTINCT v), sum(DISTINCT r), count(DISTINCT r) FILTER (WHERE v < 100)
		FROM large GROUP BY 1'),
	('SELECT r % 7, count(DISTINCT v) FROM large GROUP BY 1')) v (q);
-- dense values here and there: each part is bits before it is spilled
CREATE TABLE parts AS
SELECT i / 20000 * 1000000000 + i % 20000 AS v, i % 2 AS k, 7 AS c FROM generate_series(0, 39999) i
ORDER BY i / 20000, hashint4(i);
CREATE INDEX parts_all ON parts USING rtscan (v, k) INCLUDE (c);
ALTER TABLE parts ALTER v SET (n_distinct = 1);
VACUUM ANALYZE parts;
SELECT shown('SELECT k, count(DISTINCT v), max(repeat((v + c)::text, 100)) IS NULL FROM parts GROUP BY k',
	'Spilled|Custom');
SELECT differs('SELECT k, count(DISTINCT v), sum(DISTINCT v), count(DISTINCT v::bigint * v) FROM parts GROUP BY k');
-- rows that turn out to be more than was expected
SELECT shown('SELECT k, percentile_disc(0.5) WITHIN GROUP (ORDER BY r) FROM large WHERE k + 0 = k GROUP BY k',
	'Spilled|Custom');
SELECT shown('SELECT r % 1000, mode() WITHIN GROUP (ORDER BY v) FROM large WHERE k + 0 = k GROUP BY 1',
	'Spilled|Custom');
SELECT differs(q) FROM (VALUES
	('SELECT k, percentile_disc(0.5) WITHIN GROUP (ORDER BY r), mode() WITHIN GROUP (ORDER BY v DESC), count(*)
		FROM large WHERE k + 0 = k GROUP BY k'),
	('SELECT k, percentile_cont(''{0.1,0.5,NULL,0.1}''::float8[]) WITHIN GROUP (ORDER BY r DESC),
		percentile_disc(''{{0},{1}}''::float8[]) WITHIN GROUP (ORDER BY f) FROM large WHERE k + 0 = k GROUP BY k'),
	('SELECT r % 1000, percentile_disc(0.9) WITHIN GROUP (ORDER BY o), mode() WITHIN GROUP (ORDER BY v),
		percentile_cont(0.3) WITHIN GROUP (ORDER BY f DESC) FROM large WHERE k + 0 = k GROUP BY 1')) v (q);
-- a cursor that is closed before all groups have been fetched, with values on disk
BEGIN;
DECLARE c CURSOR FOR SELECT count(DISTINCT r) > 20000 AS most FROM large GROUP BY k;
FETCH 1 FROM c;
COMMIT;
RESET work_mem;
RESET hash_mem_multiplier;

--
-- Children, partitions, a security policy's rows
--
CREATE TABLE part (o int, k int) PARTITION BY RANGE (o);
CREATE TABLE part1 PARTITION OF part FOR VALUES FROM (0) TO (100);
CREATE TABLE part2 PARTITION OF part FOR VALUES FROM (100) TO (200);
INSERT INTO part SELECT i, i % 7 FROM generate_series(0, 199) i;
CREATE INDEX part_idx ON part USING rtscan (o, k);
VACUUM ANALYZE part;
SELECT differs('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY k), count(DISTINCT k) FROM part', 0);
SELECT differs('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY k), count(DISTINCT k) FROM part1');
SELECT explained('SELECT k, percentile_disc(0.5) WITHIN GROUP (ORDER BY o), count(DISTINCT o) FROM part1 GROUP BY k',
	'VERBOSE, COSTS OFF');

-- Unsigned columns that take the whole width of their type, and have NULLs, are stored as they are, not in frames.
CREATE TABLE whole_width (k int, o oid, l pg_lsn, x xid8) WITH (autovacuum_enabled = off);
INSERT INTO whole_width
SELECT i, CASE i WHEN 1 THEN 0 WHEN 2 THEN 4294967295 ELSE n & 4294967295 END::oid,
	CASE WHEN i % 5 < 4 THEN pg_lsn(m) END, CASE WHEN i % 5 < 4 THEN m::text::xid8 END
FROM generate_series(1, 300) i, hashint8extended(i, 5) n,
	LATERAL (
		SELECT CASE i WHEN 1 THEN 0 WHEN 2 THEN 18446744073709551615 ELSE n::numeric + 9223372036854775808 END) q (m);
UPDATE whole_width SET o = NULL WHERE k % 5 = 4;
CREATE INDEX whole_width_idx ON whole_width USING rtscan (k) INCLUDE (o, l, x);
VACUUM ANALYZE whole_width;
SELECT differs('SELECT max(o), min(o), max(l), min(l) FROM whole_width WHERE k > 0');
SELECT differs('SELECT k % 3, max(o), min(o), max(l), min(l) FROM whole_width GROUP BY k % 3');
SELECT differs(format('SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY %1$s),
	mode() WITHIN GROUP (ORDER BY %1$s DESC), count(DISTINCT %1$s) FROM whole_width WHERE k > 0', c))
FROM unnest(ARRAY['o', 'l', 'x']) c;

-- percentile_cont() of numerics: those whose digits fit into a float8 are not cast one by one.
CREATE TABLE prices (k int, p numeric(15, 7), tiny numeric(15, 15), wide numeric(16, 2), any_scale numeric);
INSERT INTO prices SELECT i % 3, (n % 1000000000000000 / 1e7)::numeric(15, 7),
	(n % 999999999999999 / 1e15)::numeric(15, 15), (n % 1000000000000000 / 1e5)::numeric(16, 2), n / 1e3
FROM generate_series(1, 3000) i, hashint8extended(i, 5) n;
INSERT INTO prices VALUES (0, 'NaN', 'NaN', 'NaN', 'NaN'), (1, NULL, NULL, NULL, NULL), (2, 'NaN', -0.5, 0, 'Infinity');
CREATE INDEX prices_idx ON prices USING rtscan (k, p, tiny) INCLUDE (wide, any_scale);
VACUUM ANALYZE prices;
SELECT differs(format('SELECT k, percentile_cont(''{0,0.1,0.25,0.5,0.77,0.999,1}''::float8[])
	WITHIN GROUP (ORDER BY %s %s) FROM prices GROUP BY k', c, d))
FROM unnest(ARRAY['p', 'tiny', 'wide', 'any_scale']) c, unnest(ARRAY['', 'DESC']) d;

SET client_min_messages = error;
DROP SCHEMA quantiles CASCADE;
