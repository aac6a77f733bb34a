-- Operator classes that btree has and rtscan has not yet: of other extensions, of a newer PostgreSQL.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
SET rtscan.enable_aggregate = off; -- this is about scans
CREATE SCHEMA classes;
-- operator classes of other extensions are created before
CREATE TEMP TABLE others AS SELECT rtscan_mirror_classes();
CREATE SCHEMA "%s's classes";
SET search_path = "%s's classes", classes, public;

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/differences.psql
\i :directory/sql/include/words.psql
\set ECHO all
CREATE TABLE words AS
	SELECT ((ARRAY['Ab', 'aB', 'x', 'X', 'Zz'])[1 + i % 5] || i % 20)::"%I word" AS word, i AS n, i::text::varchar AS v
	FROM generate_series(1, 1000) i;
CREATE VIEW mirrored AS
	SELECT n.nspname, opcname, opcdefault, opcintype::regtype, amvalidate(c.oid)
	FROM pg_opclass c JOIN pg_am a ON opcmethod = a.oid JOIN pg_namespace n ON n.oid = opcnamespace
	WHERE amname = 'rtscan' AND opcintype = '"%I word"'::regtype;
-- Return the operators of each pair of types
CREATE FUNCTION operators(method name) RETURNS TABLE ("left" regtype, "right" regtype, operators text)
LANGUAGE sql AS $$
	SELECT amoplefttype, amoprighttype,
		string_agg(format('%s %s', amopstrategy, amopopr::regoper), ' ' ORDER BY amopstrategy)
	FROM pg_amop JOIN pg_opfamily f ON f.oid = amopfamily JOIN pg_am a ON a.oid = opfmethod
	WHERE opfname = 'word''s' AND amname = method
	GROUP BY 1, 2
$$;

--
-- CREATE INDEX tells of a class that is not the type's own
--
RESET client_min_messages;
CREATE INDEX words_as_text ON words USING rtscan (word, n, v) INCLUDE (word);
-- the type of a domain, and of an expression
CREATE DOMAIN short AS "%I word" CHECK (length(value) < 10);
CREATE INDEX words_short ON words USING rtscan ((word::short), (word::text), (n::text::"%I word"));
DROP INDEX words_short;
-- not of what has been chosen, nor when an index is built again
CREATE INDEX words_pattern ON words USING rtscan (word text_pattern_ops);
DROP INDEX words_pattern;
REINDEX INDEX words_as_text;
-- once of all partitions
CREATE TABLE parts (word "%I word", n int) PARTITION BY RANGE (n);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (10) PARTITION BY RANGE (n);
CREATE TABLE parts_1_1 PARTITION OF parts_1 FOR VALUES FROM (0) TO (5);
CREATE TABLE parts_1_2 PARTITION OF parts_1 FOR VALUES FROM (5) TO (10);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (10) TO (20);
CREATE INDEX parts_all ON parts USING rtscan (word, n);
CREATE TABLE parts_3 PARTITION OF parts FOR VALUES FROM (20) TO (30);
DROP TABLE parts;
-- it has the rows all the same
SELECT differences('words', 'words_as_text', '{word::text >= ''X'', word::text = ''aB1'' AND n < 500}');

--
-- The classes of an extension; plpgsql stands for any
--
SELECT rtscan_mirror_classes('plpgsql');
ALTER EXTENSION plpgsql ADD TYPE "%I word";
ALTER EXTENSION plpgsql ADD OPERATOR CLASS "word's" USING btree;
ALTER EXTENSION plpgsql ADD OPERATOR CLASS word_ops USING btree;
CREATE INDEX words_fallback ON words USING rtscan (word);
DROP INDEX words_fallback;
-- functions in the caller's search_path are not used
CREATE FUNCTION classes.format(text, VARIADIC text[]) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RAISE 'a function of the caller''s path has been called';
END
$$;
BEGIN;
SET LOCAL search_path = classes, "%s's classes", public, pg_catalog;
SELECT rtscan_mirror_classes('plpgsql');
COMMIT;
DROP FUNCTION classes.format(text, VARIADIC text[]);
SELECT * FROM mirrored ORDER BY opcname;
SELECT * FROM operators('rtscan') EXCEPT SELECT * FROM operators('btree');
SELECT * FROM operators('btree') EXCEPT SELECT * FROM operators('rtscan');
SELECT * FROM operators('rtscan') ORDER BY 1, 2;
-- there is nothing left to do
SELECT rtscan_mirror_classes('plpgsql');
SELECT rtscan_mirror_classes();
-- an index answers by the type's own operators
CREATE INDEX words_all ON words USING rtscan (word, n);
DROP INDEX words_as_text;
SELECT rtscan_check('words_all', true);
SELECT differences('words', 'words_all', array_agg(format('word %s %L%s', o, c, t)))
FROM unnest('{<,<=,=,>=,>}'::text[]) o, unnest('{ab10,AB10,X2,zz,""}'::text[]) c, unnest('{"",::text}'::text[]) t;

--
-- Members that are missing are added, whatever else is there
--
-- operators between types
ALTER OPERATOR FAMILY "word's" USING rtscan DROP OPERATOR 1 ("%I word", text), OPERATOR 5 ("%I word", text),
	FUNCTION 1 ("%I word", text);
SELECT rtscan_mirror_classes('plpgsql');
SELECT * FROM operators('btree') EXCEPT SELECT * FROM operators('rtscan');
-- a class of a family that is there, or an empty family
DROP INDEX words_all;
BEGIN;
DROP OPERATOR CLASS word_ops USING rtscan;
SELECT rtscan_mirror_classes('plpgsql');
DROP OPERATOR CLASS word_ops USING rtscan;
DROP OPERATOR CLASS "word's" USING rtscan;
ALTER OPERATOR FAMILY "word's" USING rtscan DROP OPERATOR 1 ("%I word", text), OPERATOR 2 ("%I word", text),
	OPERATOR 3 ("%I word", text), OPERATOR 4 ("%I word", text), OPERATOR 5 ("%I word", text),
	FUNCTION 1 ("%I word", text);
SELECT rtscan_mirror_classes('plpgsql');
SELECT * FROM mirrored ORDER BY opcname;
SELECT * FROM operators('btree') EXCEPT SELECT * FROM operators('rtscan');
ROLLBACK;
-- a class of one's own that is the default stays it, and is in the same family
BEGIN;
DROP OPERATOR FAMILY "word's" USING rtscan CASCADE;
CREATE OPERATOR CLASS classes.own DEFAULT FOR TYPE "%I word" USING rtscan AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
	FUNCTION 1 "word's ""order"""("%I word", "%I word");
SELECT rtscan_mirror_classes('plpgsql');
SELECT * FROM mirrored ORDER BY opcname;
SELECT rtscan_mirror_classes('plpgsql');
ROLLBACK;
-- classes that have been moved
BEGIN;
ALTER OPERATOR CLASS "word's" USING rtscan SET SCHEMA classes;
ALTER OPERATOR FAMILY "word's" USING rtscan RENAME TO renamed;
SELECT rtscan_mirror_classes('plpgsql');
ROLLBACK;

--
-- PostgreSQL's own, as of types of a newer one
--
CREATE FUNCTION drop_bool() RETURNS void LANGUAGE sql AS $$
	ALTER EXTENSION rtscan DROP OPERATOR CLASS bool_ops USING rtscan;
	ALTER EXTENSION rtscan DROP OPERATOR FAMILY bool_ops USING rtscan;
	DROP OPERATOR FAMILY bool_ops USING rtscan CASCADE;
$$;
CREATE VIEW members AS
	SELECT pg_describe_object(classid, objid, 0) AS member
	FROM pg_depend JOIN pg_extension e ON e.oid = refobjid
	WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e' AND extname = 'rtscan';
CREATE TABLE members_before AS TABLE members;
BEGIN;
SET LOCAL client_min_messages = warning;
SELECT drop_bool();
SELECT member FROM members_before EXCEPT SELECT member FROM members ORDER BY 1;
SELECT rtscan_mirror_classes('plpgsql');
SELECT regexp_replace(rtscan_mirror_classes('pg_catalog'), '.*\.', '') AS class;
SELECT member FROM members_before EXCEPT SELECT member FROM members;
SELECT rtscan_mirror_classes();
ROLLBACK;
BEGIN;
SET LOCAL client_min_messages = warning;
SELECT drop_bool();
DROP OPERATOR FAMILY "word's" USING rtscan CASCADE;
SELECT regexp_replace(rtscan_mirror_classes(), '.*\.', '') AS class ORDER BY 1;
SELECT member FROM members_before EXCEPT SELECT member FROM members;
ROLLBACK;

--
-- Privileges, and wrong arguments
--
\set SHOW_CONTEXT never
SELECT rtscan_mirror_classes('no such extension');
CREATE ROLE classes_role;
GRANT USAGE ON SCHEMA "%s's classes" TO classes_role;
SET ROLE classes_role;
SELECT rtscan_mirror_classes();
RESET ROLE;
GRANT EXECUTE ON FUNCTION rtscan_mirror_classes(text) TO classes_role;
SET ROLE classes_role;
SELECT rtscan_mirror_classes();
RESET ROLE;
REVOKE EXECUTE ON FUNCTION rtscan_mirror_classes(text) FROM classes_role;

SET client_min_messages = error;
ALTER EXTENSION plpgsql DROP OPERATOR CLASS "word's" USING btree;
ALTER EXTENSION plpgsql DROP OPERATOR CLASS word_ops USING btree;
ALTER EXTENSION plpgsql DROP TYPE "%I word";
DROP SCHEMA classes CASCADE;
DROP SCHEMA "%s's classes" CASCADE;
DROP ROLE classes_role;
