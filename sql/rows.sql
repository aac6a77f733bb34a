-- RtscanScan in queries of all sorts: what it selects, computes, locks and changes, and with whom it shares the work.
-- (What columns look like is in scan.sql.)
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
SET rtscan.enable_aggregate = off;
SET rtscan.merge_worker = off;
CREATE SCHEMA rows;
SET search_path = rows, public;
SET max_parallel_maintenance_workers = 0;
SET max_parallel_workers_per_gather = 0;
SET enable_tidscan = off;
SET constraint_exclusion = off;
SET jit = off;

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/differences.psql
\i :directory/sql/include/plans.psql
\set ECHO all
CREATE FUNCTION hash(i int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT abs(hashint4($1))';
-- Return a query's rows by a kind of scan, as text, sorted, or its error; and its plan.
CREATE FUNCTION outcome(kind text, query text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	found text[];
BEGIN
	PERFORM allow_scan(kind);
	EXECUTE format('SELECT array_agg(q::text ORDER BY q::text COLLATE "C") FROM (%s) q', query) INTO found;
	RETURN found;
EXCEPTION WHEN OTHERS THEN
	RETURN ARRAY[SQLSTATE, SQLERRM];
END
$$;
CREATE FUNCTION plan(query text, options text DEFAULT 'COSTS OFF') RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM allow_scan('columns');
	RETURN (SELECT string_agg(line, E'\n') FROM explained(query, options) line);
END
$$;
-- A query returns the same by RtscanScan as by sequential scans: a line if not, or if its plan is not what it should
-- be.
CREATE FUNCTION unlike(query text, node text DEFAULT 'RtscanScan') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	expected text[] := outcome('sequential', query);
	found text[] := outcome('columns', query);
BEGIN
	IF found IS DISTINCT FROM expected THEN
		RETURN NEXT format('%s: %s instead of %s', query, left(found::text, 1000), left(expected::text, 1000));
	END IF;
	IF plan(query) !~ node THEN
		RETURN NEXT format(E'%s: not %s:\n%s', query, node, plan(query));
	END IF;
END
$$;
-- Return a table's rows after a statement that has scanned in some way, and undo the statement.
CREATE FUNCTION after(kind text, statement text, tab text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	found text[];
BEGIN
	PERFORM allow_scan(kind);
	BEGIN
		EXECUTE statement;
		found := outcome('sequential', 'SELECT * FROM ' || tab);
		RAISE 'undo' USING ERRCODE = 'RT000';
	EXCEPTION WHEN SQLSTATE 'RT000' THEN
		NULL;
	END;
	RETURN found;
END
$$;
CREATE FUNCTION undone(statement text, tab text DEFAULT 't') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	before text[] := outcome('sequential', 'SELECT * FROM ' || tab);
	expected text[] := after('sequential', statement, tab);
	found text[] := after('columns', statement, tab);
BEGIN
	IF found IS DISTINCT FROM expected OR found = before THEN
		RETURN QUERY
			SELECT format('%s: %s rows instead of %s', statement, cardinality(found), cardinality(expected))
			UNION ALL (SELECT 'found ' || f FROM unnest(found) f EXCEPT SELECT 'found ' || e FROM unnest(expected) e)
			UNION ALL (SELECT 'missed ' || e FROM unnest(expected) e EXCEPT SELECT 'missed ' || f FROM unnest(found) f)
			LIMIT 9;
	END IF;
	IF plan(statement) !~ 'RtscanScan' THEN
		RETURN NEXT format(E'%s:\n%s', statement, plan(statement));
	END IF;
END
$$;

CREATE TABLE t (id int, a int, b int, w text COLLATE "C", c numeric(10,2), filler text)
WITH (autovacuum_enabled = off, parallel_workers = 2);
INSERT INTO t
SELECT i, CASE WHEN i % 23 > 0 THEN hash(i) % 100 END, hash(i + 10000) % 50, 'k' || hash(i + 20000) % 30, i / 4.0,
	'f' || i % 10
FROM generate_series(1, 3000) i;
CREATE INDEX t_all ON t USING rtscan (a, b, w) INCLUDE (id, c);
DELETE FROM t WHERE id % 13 = 0;
VACUUM ANALYZE t;
UPDATE t SET b = b + 1 WHERE id % 17 = 0;
UPDATE t SET filler = 'hot' WHERE id % 29 = 0;
DELETE FROM t WHERE id = 5 OR id % 101 = 0;
INSERT INTO t SELECT i, i % 100, i % 50, 'k' || i % 30, i / 4.0, 'pending' FROM generate_series(3001, 3100) i;
BEGIN;
INSERT INTO t SELECT -i, i % 100, i % 50, 'k' || i % 30, i / 4.0, 'aborted' FROM generate_series(1, 100) i;
ROLLBACK;

--
-- Any quals: those that the index looks up, those on its rows, those on the table's; and anything selected
--
CREATE TABLE quals (n serial, qual text);
INSERT INTO quals (qual) VALUES
	('a > 80'), ('a > 90 OR b < 3'), ('NOT a BETWEEN 3 AND 90'), ('a <> 7 AND b = 7'), ('c > 700 AND a < 50'),
	('c = id / 4.0 AND a < 9'), ('a % 7 = 3 AND b < 9'), ('w LIKE ''k%5'''), ('a < b'),
	('a > 90 AND (b = 3 OR id < 777)'), ('a IS DISTINCT FROM 5 AND b = 5'),
	('CASE WHEN a > 50 THEN b < 3 ELSE c IS NULL END'), ('coalesce(a, -1) < 5'), ('a = ANY (ARRAY[b, id])'),
	('filler LIKE ''%7'' AND a < 30'), ('(filler = ''hot'' OR a = 3) AND b < 25'),
	('c > 10 AND filler <> ''f1'' AND b = 7'),
	('(a, b) < (5, 7)'), ('a > 5 AND b <> ALL (ARRAY[1, 2, 7]) AND id < 300'), ('c IS NULL'), ('NOT (a > 5)'),
	('ctid < ''(3,1)'' AND a > 50'), ('tableoid > 0 AND b = 7'), ('t IS NOT NULL AND a = 9'),
	('random() >= 0 AND a = 9'), ('a = 9 AND filler::text IS NOT NULL AND id > 77 AND b + id > 0'), ('a IS NULL'),
	('w > ''k28'' AND lower(w) <> ''k29'''), ('id % 2 = 0'), ('a < 5 AND a > 7'), ('id > 100000');
CREATE TABLE lists (list text);
INSERT INTO lists VALUES
	('*'), ('id, a'), ('c, w, b'), ('a + b, upper(w) || c'), (''), ('1'), ('t'), ('ctid, a'), ('tableoid::regclass, b'),
	('xmin::text::bigint > 0, cmax, a'), ('a, filler'), ('DISTINCT w'), ('count(*), sum(c)'), ('b, b, b'),
	('row_number() OVER (ORDER BY id), w'), ('CASE WHEN a > 50 THEN w END, c::int'), ('generate_series(1, 2), id'),
	('w, count(*) FILTER (WHERE a > 50)');
SELECT unlike(
	format('SELECT %s FROM t WHERE %s %s', list, qual, CASE WHEN list LIKE 'w, count%' THEN 'GROUP BY w' END))
FROM quals, lists;
SELECT unlike(format('SELECT %s FROM t %s', list, CASE WHEN list LIKE 'w, count%' THEN 'GROUP BY w' END), 'Scan')
FROM lists;
-- in what order they are evaluated
SELECT n, qual, string_agg(trim(line), ', ') AS shown
FROM quals, LATERAL (SELECT string_to_table(plan('SELECT id FROM t WHERE ' || qual), E'\n')) p (line)
WHERE line ~ '(Filter|Cond): '
GROUP BY n, qual
ORDER BY n;

--
-- How it is shown
--
CREATE FUNCTION shown(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	PERFORM allow_scan('columns');
	FOR line IN SELECT explained(query, 'ANALYZE, BUFFERS OFF, COSTS OFF, TIMING OFF, SUMMARY OFF') LOOP
		CONTINUE WHEN line ~ '(Rays|Segments on CPU|Rows Aggregated by Device|Not Aggregated by Device): ';
		RETURN NEXT regexp_replace(line, '(Executor: )\w+', '\1...');
	END LOOP;
END
$$;
SELECT shown('SELECT id FROM t WHERE a < 10');
SELECT shown('SELECT id FROM t WHERE a < 10 AND c > 200');
SELECT shown('SELECT id, filler FROM t WHERE a < 10 AND c > 200');
SELECT shown('SELECT id FROM t WHERE a < 10 AND c > 200 AND filler > ''f3'' || w');
SELECT shown('SELECT FROM t WHERE a < 0');
SELECT shown('SELECT FROM t WHERE a < 10 LIMIT 3');
SELECT plan('SELECT id + 1, upper(w) AS word FROM t x WHERE a < 10 AND c > 200', 'VERBOSE, COSTS OFF');
SELECT plan('SELECT FROM t x WHERE a < 10 AND filler > w', 'VERBOSE, COSTS OFF');
SELECT plan('SELECT x.ctid, x FROM t x WHERE a < 10 AND c > 200', 'VERBOSE, COSTS OFF');
SELECT plan('SELECT id FROM t WHERE a < 10 AND c > 200 AND filler <> ''f3''', 'FORMAT json, COSTS OFF');

--
-- Errors: those of PostgreSQL's order of quals; and none for rows that the snapshot does not see
--
SELECT unlike('SELECT id FROM t WHERE ' || qual)
FROM unnest(ARRAY[
	'10 / (id - 7) > -100', '10 / (id - 7) > -100 AND id <> 7', 'id <> 7 AND 10 / (id - 7) > -100',
	'10 / (id - 7) > -100 AND length(filler || filler || ''x'') / (id - 8) > -100',
	'length(filler || filler || ''x'') / (id - 8) > -100 AND 10 / (id - 7) > -100',
	'w::int > 5 AND 10 / (id - 7) > -100', '10 / (id - 7) > -100 AND w::int > 5',
	'a >= 0 AND filler <> ''f7'' AND 10 / (id - 7) > -100',
	-- deleted; deleted and vacuumed; never committed
	'10 / (id - 5) > -100', '10 / (id - 13) > -100', '10 / (id + 5) > -100',
	'10 / (id - 5) > -100 AND 10 / (id - 13) > -100 AND 10 / (id + 5) > -100 AND length(filler) / (id - 101) > -100'])
	qual;
SELECT unlike('SELECT 10 / (id - ' || id || ') FROM t WHERE a >= 0') FROM unnest('{5,7,13,-5}'::int[]) id;
BEGIN;
DELETE FROM t WHERE id = 7;
INSERT INTO t (id) VALUES (8888);
SAVEPOINT s;
INSERT INTO t (id) VALUES (9999);
ROLLBACK TO s;
SELECT unlike('SELECT * FROM t WHERE 10 / (id - ' || id || ') > -100') FROM unnest('{7,8,8888,9999}'::int[]) id;
ROLLBACK;

--
-- Expressions, other collations, parts of a table
--
CREATE INDEX t_expressions ON t USING rtscan ((a + b), lower(filler), (w COLLATE "POSIX"), (c::int)) INCLUDE (id);
CREATE INDEX t_part ON t USING rtscan (b) INCLUDE (id, a) WHERE a > 90;
ANALYZE t;
SELECT unlike(q, 'Index: ' || index)
FROM (VALUES
	('t_expressions', 'SELECT ctid, a + b FROM t WHERE a + b < 9'),
	('t_expressions', 'SELECT id FROM t WHERE a + b < 9'),
	('t_expressions', 'SELECT id FROM t WHERE a + b < 90 AND lower(filler) = ''f7'' AND c::int > id / 5'),
	('t_expressions', 'SELECT * FROM t WHERE a + b < 60 AND (a + b) % 50 = 7 AND lower(filler) LIKE ''p%'''),
	('t_expressions', 'SELECT id FROM t WHERE c::int = 77'),
	('t_expressions', 'SELECT lower(filler), c::int FROM t WHERE lower(filler) >= ''hot'' AND a > 5'),
	('t_expressions', 'SELECT id FROM t WHERE w COLLATE "POSIX" = ''k7'' AND a + b = 50'),
	('t_part', 'SELECT id, a FROM t WHERE a > 90 AND b < 5'), ('t_part', 'SELECT id FROM t WHERE a > 90 AND b <> 5'),
	('t_part', 'SELECT id, a FROM t WHERE a > 90 AND a % 2 = 1'),
	('t_part', 'SELECT ctid FROM t WHERE a > 90 AND b = 1'),
	('t_all', 'SELECT id, a FROM t WHERE a > 80 AND b < 5')) q (index, q);
BEGIN;
UPDATE t SET a = 20 WHERE a > 90 AND b < 9;
SELECT unlike('SELECT id, a, b FROM t WHERE a > 90 AND b < 20');
ROLLBACK;
SELECT plan('UPDATE t SET b = 0 WHERE a > 90 AND b < 5');
DROP INDEX t_expressions, t_part;

--
-- Changes of what is found
--
CREATE TABLE o (x int, y int, z text);
INSERT INTO o VALUES (1, 5, 'k1'), (2, 7, 'k2'), (3, NULL, 'k3'), (NULL, 9, NULL), (50, 9, 'k9'), (97, 3, 'k7');
ANALYZE o;
SELECT undone(s)
FROM unnest(ARRAY[
	'UPDATE t SET filler = ''new'' WHERE a = 9', 'UPDATE t SET a = a + 1 WHERE a > 50 AND c > 100',
	'UPDATE t SET w = ''k'' || b, b = a WHERE (a = 9 OR b = 9) AND id % 2 = 0',
	'DELETE FROM t WHERE a > 90 AND b < 25', 'DELETE FROM t WHERE a > 90 AND filler = ''f7''',
	'UPDATE t SET b = o.y, filler = o.z FROM o WHERE t.a = o.x AND t.id > 100',
	'DELETE FROM t USING o WHERE t.a = o.x AND t.b > o.y AND t.w <> o.z',
	'UPDATE t SET b = (SELECT count(*) FROM t u WHERE u.a = t.a) WHERE a < 5',
	'WITH gone AS (DELETE FROM t WHERE a = 9 RETURNING *) INSERT INTO t SELECT id, 1000, b, w, c, filler FROM gone',
	'MERGE INTO t USING o ON t.a = o.x
		WHEN MATCHED AND t.b = o.y THEN DELETE
		WHEN MATCHED AND t.c > 300 THEN UPDATE SET filler = z
		WHEN NOT MATCHED THEN INSERT (id, a, filler) VALUES (-1, o.x, ''merged'')',
	'INSERT INTO t SELECT -id, a, b, w, c, filler FROM t WHERE a > 95',
	'INSERT INTO t (w, c) SELECT w, c FROM t WHERE a > 95']) s;
SELECT plan('UPDATE t SET filler = ''new'' WHERE a = 9 AND c > 5');
-- insertions into another table from columns of the index: into partitions, past triggers
CREATE TABLE copies (w text, c numeric, id int) PARTITION BY RANGE (id);
CREATE TABLE copies_1 PARTITION OF copies FOR VALUES FROM (MINVALUE) TO (1500);
CREATE TABLE copies_2 (id int, w text, c numeric);
ALTER TABLE copies ATTACH PARTITION copies_2 FOR VALUES FROM (1500) TO (MAXVALUE);
CREATE FUNCTION change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.w := NEW.w || CASE WHEN NEW.id % 3 > 0 THEN ' changed' ELSE '' END;
	RETURN CASE WHEN NEW.id % 7 > 0 THEN NEW END;
END
$$;
SELECT undone('INSERT INTO copies SELECT w, c, id FROM t WHERE a < 50', 'copies');
CREATE TRIGGER change BEFORE INSERT ON copies FOR EACH ROW EXECUTE FUNCTION change();
SELECT undone('INSERT INTO copies SELECT w, c, id FROM t WHERE a < 50', 'copies');
SELECT undone('INSERT INTO copies_1 SELECT w, c, id FROM t WHERE a < 50 AND id < 1500', 'copies_1');
CREATE UNIQUE INDEX ON copies_1 (id);
INSERT INTO copies_1 SELECT 'old', 0, i FROM generate_series(1, 900, 2) i;
SELECT undone('INSERT INTO copies_1 SELECT w, c, id FROM t WHERE a < 50 AND id < 999 ' || action, 'copies_1')
FROM unnest(ARRAY[
	'ON CONFLICT DO NOTHING', 'ON CONFLICT (id) DO UPDATE SET w = copies_1.w || excluded.w, c = excluded.c']) action;
DROP TABLE copies;

--
-- Locks on rows
--
SELECT unlike(format('SELECT id, a, b FROM t WHERE a = 9 FOR %s', lock))
FROM unnest('{UPDATE,NO KEY UPDATE,SHARE,KEY SHARE,UPDATE SKIP LOCKED,SHARE NOWAIT}'::text[]) lock;
SELECT unlike(q)
FROM unnest(ARRAY[
	'SELECT id, c FROM t WHERE a = 9 AND c > 300 AND filler <> ''f1'' FOR UPDATE',
	'SELECT t.id, o.z FROM o JOIN t ON t.a = o.x AND t.c > o.y FOR UPDATE OF t',
	'SELECT t.id, o.z FROM o JOIN t ON t.a = o.x AND t.c > o.y FOR UPDATE OF o',
	'SELECT * FROM (SELECT id FROM t WHERE a = 9 ORDER BY id LIMIT 5 FOR UPDATE SKIP LOCKED) x',
	'SELECT o.z, (SELECT min(id) FROM t WHERE a = o.x) FROM o WHERE x > 0 FOR SHARE']) q;
SELECT plan('SELECT id FROM t WHERE a = 9 AND c > 300 FOR UPDATE', 'VERBOSE, COSTS OFF');

--
-- Cursors
--
SET enable_seqscan = off;
SET enable_bitmapscan = off;
BEGIN;
DECLARE c CURSOR FOR SELECT id, a, b FROM t WHERE a = 9;
SELECT explained('DECLARE c CURSOR FOR SELECT id, a, b FROM t WHERE a = 9');
FETCH 2 FROM c;
UPDATE t SET filler = 'current' WHERE CURRENT OF c;
FETCH 1 FROM c;
DELETE FROM t WHERE CURRENT OF c RETURNING id;
MOVE FORWARD ALL IN c;
UPDATE t SET filler = 'none' WHERE CURRENT OF c;
ROLLBACK;
-- columns that are computed, none, and another order
BEGIN;
DECLARE c CURSOR FOR SELECT b, upper(w) FROM t WHERE a = 9 AND c > 100;
MOVE 3 IN c;
UPDATE t SET filler = 'current' WHERE CURRENT OF c RETURNING id, b, w, filler;
DECLARE d CURSOR FOR SELECT FROM t WHERE a = 9 AND c > 100;
MOVE 2 IN d;
UPDATE t SET filler = 'current' WHERE CURRENT OF d RETURNING id, filler;
SELECT id, b, upper(w) FROM t WHERE filler = 'current' ORDER BY id;
DECLARE e CURSOR FOR SELECT filler FROM t WHERE a = 9 AND c > 100;
MOVE 4 IN e;
DELETE FROM t WHERE CURRENT OF e RETURNING id;
DECLARE f CURSOR FOR SELECT id FROM t WHERE a = 9 FOR UPDATE;
MOVE 1 IN f;
UPDATE t SET a = 10 WHERE CURRENT OF f RETURNING id, a;
DECLARE g CURSOR FOR SELECT 1 FROM t;
MOVE 1 IN g;
DELETE FROM t WHERE CURRENT OF g RETURNING id;
ROLLBACK;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id, filler FROM t WHERE a = 9;
FETCH LAST FROM c;
FETCH FIRST FROM c;
FETCH RELATIVE 2 FROM c;
FETCH PRIOR FROM c;
DECLARE h CURSOR WITH HOLD FOR SELECT id, w FROM t WHERE a = 9 AND id > 2000;
FETCH 1 FROM h;
COMMIT;
FETCH 2 FROM h;
CLOSE h;
RESET enable_seqscan;
RESET enable_bitmapscan;

--
-- Prepared statements
--
CREATE FUNCTION prepared(mode text, types text, query text, VARIADIC arguments text[]) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
	kind text;
	argument text;
	found text[];
	expected text[];
BEGIN
	PERFORM set_config('plan_cache_mode', mode, true);
	FOREACH kind IN ARRAY '{sequential,columns}'::text[] LOOP
		PERFORM allow_scan(kind);
		EXECUTE format('PREPARE p (%s) AS SELECT array_agg(q::text ORDER BY q::text COLLATE "C") FROM (%s) q', types,
			query);
		found := '{}';
		FOREACH argument IN ARRAY arguments LOOP
			EXECUTE format('EXECUTE p (%s)', argument) INTO expected;
			found := found || expected::text;
		END LOOP;
		IF kind = 'columns' THEN
			IF found <> ARRAY(SELECT unnest(result) FROM results) THEN
				RETURN NEXT format('%s, %s: %s', mode, query, found);
			END IF;
			IF mode = 'force_generic_plan' AND plan(format('EXECUTE p (%s)', argument)) !~ 'RtscanScan' THEN
				RETURN NEXT plan(format('EXECUTE p (%s)', argument));
			END IF;
		ELSE
			DELETE FROM results;
			INSERT INTO results VALUES (found);
		END IF;
		DEALLOCATE p;
	END LOOP;
END
$$;
CREATE TABLE results (result text[]);
SELECT p
FROM unnest('{force_custom_plan,force_generic_plan,auto}'::text[]) mode, LATERAL (
	SELECT prepared(mode, 'int, numeric', 'SELECT id, w FROM t WHERE a < $1 AND c > $2', '9, 300', 'NULL, 5', '9, NULL',
		'-1, 0', '100, 700.25', '9, ''NaN''')
	UNION ALL
	SELECT prepared(mode, 'int, text', 'SELECT id, a + $1 FROM t WHERE (a = $1 OR b = $1) AND filler <> $2',
		'9, ''f1''', 'NULL, ''f1''', '9, NULL', '7, ''''')
	UNION ALL
	SELECT prepared(mode, 'int[], text', 'SELECT id FROM t WHERE a = ANY ($1) AND w LIKE $2 || ''%''',
		'''{1,2,NULL}'', ''k1''', '''{}'', ''k''', 'NULL, ''k''', '''{99}'', NULL')
	UNION ALL
	SELECT prepared(mode, 'int', 'SELECT $1, ctid FROM t WHERE NOT (a > $1 OR b > $1)', '5', 'NULL', '200')) p (p);

--
-- Nested loops: parameters of one outer table, and of several; scanned again, and remembered
--
CREATE TABLE q (x int, n int);
INSERT INTO q VALUES (1, 3), (2, NULL), (NULL, 5), (50, 4), (97, 1), (97, 40);
ANALYZE q;
CREATE FUNCTION loops(query text, node text DEFAULT 'RtscanScan') RETURNS SETOF text LANGUAGE sql
SET enable_hashjoin = off SET enable_mergejoin = off SET join_collapse_limit = 1 AS $$ SELECT unlike(query, node) $$;
CREATE TABLE joins (query text);
INSERT INTO joins VALUES
	('SELECT o.z, t.id FROM o JOIN t ON t.a = o.x'),
	('SELECT o.z, t.filler FROM o LEFT JOIN t ON t.a = o.x AND t.b < o.y'),
	('SELECT o.z, t.id FROM o LEFT JOIN t ON t.a = o.x AND t.c > o.y * 50 AND t.w <> o.z'),
	('SELECT o.z, q.n, t.id FROM o CROSS JOIN q JOIN t ON t.a = o.x AND t.b = q.n'),
	('SELECT o.z, q.n, t.id, t.filler
		FROM o JOIN q ON o.x = q.x LEFT JOIN t ON t.a = o.x AND t.c > q.n * 100 AND t.b > o.y + q.n'),
	('SELECT o.z, q.n, t.w FROM o CROSS JOIN q JOIN t ON t.a BETWEEN o.x AND q.x AND t.b = o.y + q.n'),
	('SELECT o.z FROM o WHERE EXISTS (SELECT FROM t WHERE t.a = o.x AND t.c > 700)'),
	('SELECT o.z FROM o WHERE NOT EXISTS (SELECT FROM t WHERE t.a = o.x AND t.b > o.y)'),
	('SELECT o.z, s.* FROM o LEFT JOIN LATERAL (SELECT count(*), sum(c) FROM t WHERE a = o.x OR b = o.y) s ON true'),
	('SELECT o.z, s.* FROM o CROSS JOIN LATERAL (SELECT id, o.y + a FROM t WHERE a = o.x ORDER BY id LIMIT 2) s'),
	('SELECT o.z, q.n, s.* FROM o CROSS JOIN q CROSS JOIN LATERAL (
		SELECT max(c) FROM t WHERE a > o.x AND b = q.n AND filler <> o.z AND id > o.y * q.n) s'),
	('SELECT o.z, (SELECT min(id) FROM t WHERE a = o.x AND b >= (SELECT min(n) FROM q WHERE q.x = o.x)) FROM o'),
	('SELECT o.z, t.id FROM o JOIN t ON t.a = o.x + 1 AND t.a + t.b > o.y AND (t.b = 3 OR o.y = 7)'),
	('SELECT a.id, b.id FROM t a JOIN t b ON b.a = a.a AND b.b = a.b + 1 AND b.id > a.id
		WHERE a.a > 90 AND a.id < 900'),
	('SELECT o.z, t.id FROM o FULL JOIN t ON t.a = o.x AND t.a = 50'),
	('WITH RECURSIVE steps (id, n) AS (
			SELECT 0, 1
			UNION ALL SELECT t.id, n + 1 FROM steps JOIN t ON t.a = n AND t.b < 9 AND t.id > steps.id AND n < 7)
		SELECT * FROM steps');
SELECT loops(query) FROM joins;
SET enable_memoize = off;
SET enable_material = off;
SELECT loops(query) FROM joins;
RESET enable_memoize;
RESET enable_material;
SELECT unlike(query, 'Scan') FROM joins;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET join_collapse_limit = 1;
SELECT plan(query, 'VERBOSE, COSTS OFF') FROM joins WHERE query ~ 'LEFT JOIN t.*q.n';
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET join_collapse_limit;

--
-- Subqueries in quals
--
SELECT unlike(format('SELECT %s FROM t WHERE %s', list, qual))
FROM unnest('{id,"ctid, filler"}'::text[]) list, unnest(ARRAY[
	'a < (SELECT max(y) FROM o)', 'a < (SELECT max(y) FROM o) AND c > (SELECT 70 * max(n) FROM q)',
	'a > 50 AND filler > (SELECT ''f'' || min(x) FROM o)', 'a = ANY (ARRAY(SELECT x FROM o))',
	'a = (SELECT 5 WHERE false)',
	'a IN (SELECT x FROM o) AND b < 20', 'a > 90 AND b NOT IN (SELECT n FROM q WHERE n > 0)',
	'a > 90 AND b NOT IN (SELECT n FROM q)', 'a > 80 AND EXISTS (SELECT FROM q WHERE q.x = t.a)',
	'a > 80 AND (SELECT count(*) FROM q WHERE q.n < t.b) = 2', 'a > 80 AND (b < 3 OR id IN (SELECT n FROM q))',
	'a < 5 AND (a < 3 OR c > (SELECT 1 / min(n - 3) FROM q WHERE n = 3))']) qual;
SELECT plan('SELECT id FROM t WHERE a < (SELECT max(y) FROM o) AND c > (SELECT 70 * max(n) FROM q)');

--
-- Rows and columns that not everybody may see
--
CREATE TABLE secrets (id int, a int, b int, owner name) WITH (autovacuum_enabled = off);
INSERT INTO secrets SELECT i, i % 50, i % 7, CASE WHEN i % 2 = 0 THEN 'rtscan_reader' ELSE 'nobody' END
FROM generate_series(1, 1000) i;
CREATE INDEX secrets_all ON secrets USING rtscan (a, b) INCLUDE (id, owner);
VACUUM ANALYZE secrets;
-- costs as much as an operator, and does not tell that it leaks
CREATE FUNCTION leak(int) RETURNS bool LANGUAGE plpgsql IMMUTABLE COST 0.01 AS $$
BEGIN
	RAISE NOTICE 'seen %', $1;
	RETURN true;
END
$$;
CREATE ROLE rtscan_reader;
GRANT USAGE ON SCHEMA rows TO rtscan_reader;
GRANT SELECT ON secrets TO rtscan_reader;
ALTER TABLE secrets ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON secrets USING (owner = current_user);
CREATE VIEW barrier WITH (security_barrier) AS SELECT * FROM secrets WHERE b < 5;
GRANT SELECT ON barrier TO rtscan_reader;
SET client_min_messages = notice;
SET ROLE rtscan_reader;
SELECT unlike(format('SELECT %s FROM secrets WHERE %s', list, qual))
FROM unnest('{id,"id, b, owner","ctid, id",count(*)}'::text[]) list, unnest(ARRAY[
	'a = 4', 'a < 10 OR b = 3', 'a = 4 AND b + 0 = 3', 'NOT (a > 3)', 'id < 100 AND a > 5', 'a = 4 AND id % 4 = 0',
	'a = 4 AND 100 / (id - 53) > -100']) qual;
SELECT plan('SELECT id FROM secrets WHERE a = 4 AND leak(id) AND id < 200');
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT id FROM secrets WHERE a IN (3, 4) AND leak(id) AND id < 110;
SELECT ctid, id FROM secrets WHERE leak(id) AND a IN (3, 4) AND id < 110;
RESET enable_seqscan;
RESET enable_bitmapscan;
RESET ROLE;
ALTER TABLE secrets DISABLE ROW LEVEL SECURITY;
SELECT plan('SELECT id FROM barrier WHERE a = 4 AND leak(id)');
SELECT plan('SELECT id, ctid FROM (SELECT *, ctid FROM secrets WHERE a % 5 = 4) s WHERE a = 4 AND leak(id)');
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT id FROM barrier WHERE leak(id) AND a = 4 AND id < 400;
SELECT unlike('SELECT id FROM barrier WHERE b + 0 = 3 AND a = 4');
-- columns that are not granted
REVOKE SELECT ON secrets FROM rtscan_reader;
GRANT SELECT (id, a) ON secrets TO rtscan_reader;
SET ROLE rtscan_reader;
SELECT unlike('SELECT id FROM secrets WHERE ' || qual) FROM unnest('{a = 4,"a = 4 AND id % 3 = 0"}'::text[]) qual;
SELECT id, b FROM secrets WHERE a = 4;
SELECT id FROM secrets WHERE a = 4 AND b = 3;
SELECT id FROM secrets WHERE a = 4 AND b + 0 = 3;
SELECT ctid FROM secrets WHERE a = 4 AND id < 10;
SELECT secrets FROM secrets WHERE a = 4 AND id < 10;
RESET ROLE;
RESET enable_seqscan;
RESET enable_bitmapscan;
SET client_min_messages = warning;
DROP OWNED BY rtscan_reader;
DROP TABLE secrets CASCADE;
DROP ROLE rtscan_reader;

--
-- Partitions: those that are left out when the query runs, joined one by one, with columns in another order; children
--
CREATE TABLE p (k int, a int, w text) PARTITION BY RANGE (k);
CREATE TABLE p_1 PARTITION OF p FOR VALUES FROM (0) TO (1000) WITH (parallel_workers = 2);
CREATE TABLE p_2 (w text, gone int, a int, k int);
ALTER TABLE p_2 DROP gone;
ALTER TABLE p ATTACH PARTITION p_2 FOR VALUES FROM (1000) TO (2000);
CREATE TABLE p_3 PARTITION OF p FOR VALUES FROM (2000) TO (3000) PARTITION BY LIST (a);
CREATE TABLE p_3_some PARTITION OF p_3 FOR VALUES IN (0, 1, 2, 3, 4);
CREATE TABLE p_3_rest PARTITION OF p_3 DEFAULT;
CREATE TABLE r (LIKE p) PARTITION BY RANGE (k);
CREATE TABLE r_1 PARTITION OF r FOR VALUES FROM (0) TO (1000);
CREATE TABLE r_2 PARTITION OF r FOR VALUES FROM (1000) TO (2000);
CREATE TABLE r_3 PARTITION OF r FOR VALUES FROM (2000) TO (3000) PARTITION BY LIST (a);
CREATE TABLE r_3_some PARTITION OF r_3 FOR VALUES IN (0, 1, 2, 3, 4);
CREATE TABLE r_3_rest PARTITION OF r_3 DEFAULT;
INSERT INTO p SELECT i, i % 20, 'w' || i % 11 FROM generate_series(0, 2999) i;
INSERT INTO r SELECT i, i % 20, 'w' || i % 7 FROM generate_series(0, 2999) i;
CREATE INDEX ON p USING rtscan (k, a);
CREATE INDEX ON r USING rtscan (k, a) INCLUDE (w);
VACUUM ANALYZE p, r;
SELECT unlike(q)
FROM unnest(ARRAY[
	'SELECT * FROM p WHERE a = 3', 'SELECT k, a FROM p WHERE a = 3 AND k % 2 = 1',
	'SELECT w, k FROM r WHERE k > 900 AND a = 7',
	'SELECT p FROM p WHERE k BETWEEN 990 AND 1010', 'SELECT tableoid::regclass, k FROM p WHERE a = 3 AND k > 1500',
	'SELECT k FROM p WHERE k = (SELECT max(x) FROM o)',
	'SELECT k, w FROM p WHERE k < (SELECT max(y) FROM o) AND a <> 3',
	'SELECT o.z, p.k FROM o JOIN p ON p.k = o.x', 'SELECT k FROM p WHERE a = 3 UNION ALL SELECT k FROM r WHERE a = 4',
	'SELECT k FROM p WHERE a = 3 FOR UPDATE']) q;
SELECT undone(s, 'p')
FROM unnest(ARRAY['UPDATE p SET w = ''new'' WHERE a = 3 AND k > 900', 'UPDATE p SET k = 2999 - k WHERE a = 3',
	'DELETE FROM p WHERE a = 3 AND w = ''w3''', 'UPDATE p SET w = r.w FROM r WHERE r.k = p.k AND r.a = 5']) s;
PREPARE pruned (int, int) AS SELECT k, w FROM p WHERE k BETWEEN $1 AND $2 AND a = 3;
SET plan_cache_mode = force_generic_plan;
SELECT shown('EXECUTE pruned (980, 999)');
DEALLOCATE pruned;
RESET plan_cache_mode;
-- the planner makes paths of partitions of paths of their parents
SET enable_partitionwise_join = on;
SET rtscan.enable_star = off;
SELECT loops(q, 'Append.*Nested Loop.*RtscanScan.*RtscanScan.*Nested Loop')
FROM unnest(ARRAY[
	'SELECT p.k, r.w FROM p JOIN r ON p.k = r.k AND r.a < p.a + 5 WHERE p.a = 3',
	'SELECT p.k, p.w, r.k, r.a FROM p JOIN r ON p.k = r.k AND r.a < p.a + 5 AND r.a % 2 <> p.a WHERE p.a = 3',
	'SELECT p.w, r.ctid FROM p JOIN r ON p.k = r.k AND r.w <> p.w WHERE p.a = 3',
	'SELECT p.w, r.k FROM p LEFT JOIN r ON p.k = r.k AND r.w = p.w WHERE p.a = 3',
	'SELECT p.w, r.w FROM p JOIN r ON p.k = r.k AND r.a < p.a + 5 AND r.tableoid > 0
		WHERE p.a = 3 AND r.ctid < ''(0,9)''',
	'SELECT p.w, (SELECT max(y) FROM o WHERE x = r.a) FROM p JOIN r ON p.k = r.k AND r.a + 1 > p.a WHERE p.a = 3']) q;
SELECT loops('SELECT p, r.w FROM p JOIN r ON p.k = r.k AND (r.a = p.a OR r.a = 7) WHERE p.a = 3');
RESET rtscan.enable_star;
SELECT unlike('
	SELECT p.k, s.* FROM p CROSS JOIN LATERAL (
		SELECT r.a, r.w, p.a + r.k FROM r WHERE r.k = p.k AND r.a >= p.a) s WHERE p.a = 3');
RESET enable_partitionwise_join;
CREATE TABLE parent (a int, w text);
CREATE TABLE child (more int) INHERITS (parent);
INSERT INTO parent SELECT i % 100, 'p' || i FROM generate_series(1, 1000) i;
INSERT INTO child SELECT i % 100, 'c' || i, i FROM generate_series(1, 1000) i;
CREATE INDEX ON parent USING rtscan (a);
CREATE INDEX ON child USING rtscan (a) INCLUDE (w);
VACUUM ANALYZE parent, child;
SELECT unlike(q, 'RtscanScan')
FROM unnest(ARRAY[
	'SELECT * FROM parent WHERE a = 5', 'SELECT * FROM ONLY parent WHERE a = 5', 'SELECT w FROM child WHERE a = 5',
	'SELECT tableoid::regclass, w FROM parent WHERE a = 5 OR a % 50 = 7']) q;
SELECT undone('UPDATE parent SET w = ''new'' WHERE a = 5', 'parent');

--
-- By several processes
--
SET rtscan.debug_segment_rows = 18000;
CREATE TABLE big (id int, a int, b int, w text COLLATE "C", filler text)
WITH (autovacuum_enabled = off, parallel_workers = 2);
INSERT INTO big SELECT i, hash(i) % 1000, hash(i + 7) % 100, 'k' || hash(i) % 500, 'f' || i
FROM generate_series(1, 60000) i;
CREATE INDEX big_all ON big USING rtscan (a, b) INCLUDE (id, w);
DELETE FROM big WHERE id % 11 = 0;
VACUUM ANALYZE big; -- without merging the segments that the build has made
RESET rtscan.debug_segment_rows;
UPDATE big SET b = b + 1 WHERE id % 1000 = 0;
INSERT INTO big SELECT -i, i, 5, 'pending', 'pending' FROM generate_series(1, 900) i;
SELECT segments > 1 AS segments FROM rtscan_stats('big_all');
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
CREATE TABLE parallel_queries (query text);
INSERT INTO parallel_queries VALUES
	('SELECT id, w FROM big WHERE a < 300'), ('SELECT id, filler FROM big WHERE a < 300'),
	('SELECT big FROM big WHERE b < 70'),
	('SELECT id FROM big WHERE a < 300 AND id % 7 = 3 AND w > ''k3'''),
	('SELECT id FROM big WHERE a < 300 AND id % 7 = 3 AND filler > ''f3'''),
	('SELECT FROM big WHERE NOT (a > 300 OR b = 5)'),
	('SELECT b, count(*), sum(id), min(w) FROM big WHERE a < 700 GROUP BY b'),
	('SELECT id, w FROM big WHERE a < (SELECT max(x) FROM o)'),
	('SELECT a.id, b.w FROM big a JOIN big b ON b.id = a.id WHERE b.a < 90 AND a.b = 7'),
	('SELECT id FROM big WHERE a < 300 UNION ALL SELECT k FROM p WHERE a = 3');
SELECT unlike(query, 'Gather.*Parallel (Custom Scan|Append).*RtscanScan') FROM parallel_queries;
SELECT loops(query) FROM parallel_queries;
SELECT unlike('SELECT o.z, big.id FROM big JOIN o ON big.a = o.x');
SET parallel_leader_participation = off;
SELECT unlike(query, 'Gather') FROM parallel_queries;
RESET parallel_leader_participation;
-- no worker is to be had
SET max_parallel_workers = 0;
SELECT unlike(query, 'Gather') FROM parallel_queries;
RESET max_parallel_workers;
-- an order; some rows only, again and again; a cursor, whose plan runs without workers
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SELECT plan('SELECT id FROM big WHERE a < 300 ORDER BY -id LIMIT 5');
SELECT unlike('SELECT id FROM big WHERE a < 300 ORDER BY -id LIMIT 5');
SELECT unlike('
	SELECT x, (SELECT count(*) FROM (SELECT FROM big WHERE b < 50 AND x > 0 LIMIT 900) s)
	FROM generate_series(1, 4) x');
SELECT unlike('
	SELECT x, n
	FROM generate_series(1, 4) x
		LEFT JOIN (SELECT count(*) AS n FROM (SELECT id FROM big WHERE b < 50 LIMIT 900) l) s ON x < n',
	'Parallel Custom Scan');
SELECT unlike('
	SELECT x, s.*
	FROM (VALUES (1), (2)) v (x) LEFT JOIN (SELECT a, count(*) AS n FROM big WHERE b < 50 GROUP BY a) s
		ON x < n AND a < 5', 'Parallel Custom Scan');
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM big WHERE a < 300 AND w > 'k3';
MOVE 5000 IN c;
MOVE ALL IN c;
ROLLBACK;
SELECT * FROM shown('SELECT id, w FROM big WHERE a < 300 AND id % 7 = 3') s WHERE s ~ 'Parallel|Cond|Filter';
-- a process with which a whole plan is shared
SELECT name AS debug_parallel FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query') \gset
SET :debug_parallel = on;
SELECT unlike('SELECT id, w FROM t WHERE a < 30 AND c > 100', 'Gather');
SELECT unlike('SELECT id, filler FROM t WHERE a < 30 AND c > 100', 'Gather');
RESET :debug_parallel;
RESET enable_seqscan;
RESET enable_bitmapscan;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
SET max_parallel_workers_per_gather = 0;

--
-- Other tables: temporary and unlogged ones, matviews; and segments whose rows stand between those of others
--
CREATE TEMP TABLE temporary AS SELECT * FROM t;
CREATE INDEX ON temporary USING rtscan (a, b) INCLUDE (id);
CREATE UNLOGGED TABLE unlogged AS SELECT * FROM t;
CREATE INDEX ON unlogged USING rtscan (a, b) INCLUDE (id);
CREATE MATERIALIZED VIEW mat AS SELECT * FROM t;
CREATE INDEX ON mat USING rtscan (a, b) INCLUDE (id);
INSERT INTO temporary SELECT * FROM t WHERE id < 100;
INSERT INTO unlogged SELECT * FROM t WHERE id < 100;
SELECT unlike(format('SELECT %s FROM %s WHERE a < 40 AND b <> 7 AND id %% 3 > 0', list, tab))
FROM unnest('{"id, a","id, filler"}'::text[]) list, unnest('{temporary,unlogged,mat}'::text[]) tab;
SELECT undone('UPDATE temporary SET b = 0 WHERE a = 9 AND id > 50', 'temporary');
SELECT undone('DELETE FROM unlogged WHERE a = 9 AND filler > ''f3''', 'unlogged');
SET rtscan.pending_list_limit = '64kB';
CREATE TABLE mixed (id int, a int, filler text) WITH (autovacuum_enabled = off, fillfactor = 50);
CREATE INDEX mixed_a ON mixed USING rtscan (a) INCLUDE (id);
INSERT INTO mixed SELECT i, i % 100, 'first' FROM generate_series(1, 6000) i;
DELETE FROM mixed WHERE id % 3 = 0;
VACUUM mixed;
INSERT INTO mixed SELECT -i, i % 100, 'second' FROM generate_series(1, 6000) i;
UPDATE mixed SET a = a + 1 WHERE id % 5 = 0;
VACUUM ANALYZE mixed;
DELETE FROM mixed WHERE id % 7 = 0;
INSERT INTO mixed SELECT 10000 + i, i % 100, 'third' FROM generate_series(1, 2000) i;
SELECT segments > 1 AS segments FROM rtscan_stats('mixed_a');
SELECT unlike(format('SELECT %s FROM mixed WHERE %s', list, qual))
FROM unnest('{"id, a","id, filler"}'::text[]) list,
	unnest('{a < 50,a = 7,"a < 50 AND id % 2 = 0",a <> 7}'::text[]) qual;
SELECT undone('UPDATE mixed SET a = 0, filler = filler || ''!'' WHERE a < 50', 'mixed');
-- nothing in it; no index of ours; another access method's sample
TRUNCATE mixed;
SELECT unlike('SELECT id, filler FROM mixed WHERE a < 50');
SELECT unlike('SELECT count(*) FROM t TABLESAMPLE BERNOULLI (50) REPEATABLE (1) WHERE a < 50', 'Sample Scan');
SELECT unlike('SELECT relname FROM pg_class WHERE relname = ''t''', 'Seq Scan|Index');

SET client_min_messages = error;
DROP SCHEMA rows CASCADE;
