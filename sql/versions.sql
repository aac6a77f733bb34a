-- Versions of the library and of the SQL, which need not be the same.
SET client_min_messages = warning;
DROP EXTENSION IF EXISTS rtscan CASCADE;
CREATE SCHEMA versions;
SET search_path = versions, public;
CREATE TABLE t AS SELECT i AS a, 'text ' || i % 7 AS b FROM generate_series(1, 1000) i;

--
-- An extension of version 1.0 works with the library
--
CREATE EXTENSION rtscan VERSION '1.0';
CREATE INDEX t_all ON t USING rtscan (a, b);
SELECT rtscan_check('t_all', true);
SELECT segments, rows FROM rtscan_stats('t_all');
ANALYZE t;
SELECT segments FROM rtscan_estimate('t', '{a, b}');
SELECT count(*) FROM pg_stat_rtscan;
SELECT count(*) <= 1 AS ok FROM rtscan_device();
SELECT count(*) FROM rtscan_benchmark('SELECT * FROM t WHERE a < 5');
SELECT to_regprocedure('rtscan_version()') IS NULL AS absent;

--
-- A library that has not what the script declares, as one that was loaded before has not: plpgsql stands in for it
--
\set SHOW_CONTEXT never
\set ECHO none
SELECT replace(replace(substring(pg_read_file(setting || '/extension/rtscan--1.0--1.1.sql') from 'DO \$\$.*\$\$;'),
					   'MODULE_PATHNAME', '$libdir/plpgsql'), '@extschema@', 'versions')
FROM pg_config WHERE name = 'SHAREDIR' \gexec
\set ECHO all

--
-- and is updated; what there is then is what a new one has
--
CREATE FUNCTION members() RETURNS SETOF text LANGUAGE sql AS $$
	SELECT concat_ws(' ', pg_describe_object(classid, objid, 0), obj_description(objid, classid::regclass::name), (
		SELECT concat_ws(' ', prosrc, probin, prorettype::regtype, proargnames, proallargtypes, proacl,
			provolatile, proparallel, proisstrict)
		FROM pg_proc p WHERE p.oid = objid AND classid = 'pg_proc'::regclass))
	FROM pg_depend WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
		AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'rtscan')
$$;
CREATE TABLE members_1_0 AS SELECT * FROM members() member;
-- a class of a type that PostgreSQL has had since is added
ALTER EXTENSION rtscan DROP OPERATOR CLASS bool_ops USING rtscan;
ALTER EXTENSION rtscan DROP OPERATOR FAMILY bool_ops USING rtscan;
DROP OPERATOR FAMILY bool_ops USING rtscan CASCADE;
ALTER EXTENSION rtscan UPDATE;
SELECT extversion = default_version AS updated
FROM pg_extension, pg_available_extensions a WHERE extname = 'rtscan' AND a.name = 'rtscan';
CREATE TABLE members_updated AS SELECT * FROM members() member;
CREATE FUNCTION name_of(member text) RETURNS text LANGUAGE sql AS $$ SELECT regexp_replace(member, '\).*', ')') $$;
SELECT name_of(m) AS gone FROM members_1_0 m (m) EXCEPT SELECT name_of(m) FROM members_updated m (m);
SELECT name_of(m) AS changed FROM (SELECT * FROM members_1_0 EXCEPT SELECT * FROM members_updated) m (m) ORDER BY 1;
SELECT name_of(m) AS added FROM members_updated m (m) EXCEPT SELECT name_of(m) FROM members_1_0 m (m) ORDER BY 1;
SELECT rtscan_check('t_all', true);
DROP EXTENSION rtscan CASCADE;
CREATE EXTENSION rtscan;
SELECT * FROM members() EXCEPT SELECT * FROM members_updated;
SELECT * FROM members_updated EXCEPT SELECT * FROM members();

--
-- Versions
--
SELECT library = sql AS agree, oldest_format <= format AS reads_what_it_writes FROM rtscan_version();
CREATE INDEX t_all ON t USING rtscan (a, b);
SELECT rtscan_format('t_all') = format AS newest FROM rtscan_version();
SELECT rtscan_format('pg_class_oid_index');
CREATE ROLE versions_role;
GRANT USAGE ON SCHEMA versions TO versions_role;
SET ROLE versions_role;
SELECT rtscan_format('t_all');
SELECT library = sql AS agree FROM rtscan_version();
RESET ROLE;
-- SQL of another version
BEGIN;
UPDATE pg_extension SET extversion = '0.9' WHERE extname = 'rtscan';
\pset tuples_only
SELECT sql FROM rtscan_version();
\pset tuples_only
ROLLBACK;

--
-- Functions that another version has declared are refused, not misread
--
CREATE FUNCTION short(index regclass, OUT segments bigint, OUT rows bigint)
	AS '$libdir/rtscan', 'rtscan_stats' LANGUAGE C STRICT;
CREATE FUNCTION wide(OUT executor text, OUT scans bigint, OUT segments bigint, OUT a bigint, OUT b bigint, OUT c bigint,
	OUT d bigint, OUT e bigint, OUT f bigint, OUT g bigint, OUT h float8, OUT i float8, OUT j float8, OUT k text,
	OUT l text)
	RETURNS SETOF record AS '$libdir/rtscan', 'rtscan_stat_scans' LANGUAGE C STRICT;
CREATE FUNCTION device(OUT name text, OUT software boolean) RETURNS SETOF record
	AS '$libdir/rtscan', 'rtscan_device_status' LANGUAGE C;
CREATE FUNCTION estimate(regclass, text[], int, int, OUT rows bigint, OUT segments bigint)
	AS '$libdir/rtscan', 'rtscan_estimate' LANGUAGE C;
CREATE FUNCTION benchmark(text, int, bool, OUT index text, OUT rows bigint) RETURNS SETOF record
	AS '$libdir/rtscan', 'rtscan_benchmark' LANGUAGE C STRICT;
\pset null null
\set VERBOSITY terse
SELECT * FROM wide();
SELECT * FROM device();
SELECT * FROM estimate('t', '{a}', 256, 2);
SELECT * FROM benchmark('SELECT * FROM t WHERE a < 5', 1, false);
\set VERBOSITY default
\set SHOW_CONTEXT never
SELECT segments FROM short('t_all');

SET client_min_messages = error;
DROP SCHEMA versions CASCADE;
DROP ROLE versions_role;
