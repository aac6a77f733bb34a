-- Privileges to call functions, what these tell about hidden rows, and the search_path with which they call others.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA privileges;
CREATE SCHEMA privileges_other;
SET search_path = privileges, public;
CREATE ROLE regress_rtscan_owner;
CREATE ROLE regress_rtscan_granted;	-- an owner that may execute rtscan_check()
CREATE ROLE regress_rtscan_reader;
CREATE ROLE regress_rtscan_inspector IN ROLE pg_stat_scan_tables;
CREATE ROLE regress_rtscan_monitor IN ROLE pg_monitor;
CREATE ROLE regress_rtscan_bypasses BYPASSRLS;
GRANT USAGE ON SCHEMA privileges, privileges_other
	TO regress_rtscan_owner, regress_rtscan_granted, regress_rtscan_reader, regress_rtscan_inspector,
	regress_rtscan_monitor, regress_rtscan_bypasses;
GRANT CREATE ON SCHEMA privileges TO regress_rtscan_owner, regress_rtscan_granted;
GRANT regress_rtscan_owner TO regress_rtscan_granted;
GRANT EXECUTE ON FUNCTION rtscan_check(regclass, boolean) TO regress_rtscan_granted;

-- The error of a call, without its line and context.
CREATE FUNCTION error_of(call text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE 'SELECT ' || call;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ': ' || SQLERRM;
END
$$;
-- Return the error of a call by a role.
CREATE FUNCTION error_for(role text, call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	error text;
BEGIN
	EXECUTE format('SET LOCAL ROLE %I', role);
	error := privileges.error_of(call);
	RESET ROLE;
	RETURN error;
END
$$;

--
-- Each function and view, by each role
--
SET ROLE regress_rtscan_owner;
CREATE TABLE t AS SELECT i AS a, i % 10 AS b FROM generate_series(1, 1000) i;
CREATE INDEX t_ab ON t USING rtscan (a, b);
RESET ROLE;
GRANT SELECT ON t TO regress_rtscan_reader;
ANALYZE t;
CREATE VIEW calls AS
	SELECT * FROM (VALUES
		(1, 'rtscan_stats(''t_ab'')'),
		(2, 'rtscan_format(''t_ab'')'),
		(3, 'rtscan_prewarm(''t_ab'')'),
		(4, 'rtscan_check(''t_ab'')'),
		(5, 'rtscan_check(''t_ab'', true)'),
		(6, 'rtscan_merge(''t_ab'')'),
		(7, 'rtscan_estimate(''t'', ''{a,b}'')'),
		(8, 'rtscan_benchmark(''SELECT a FROM t'')'),
		(9, 'rtscan_stat_reset()'),
		(10, 'rtscan_version()'),
		(11, 'rtscan_device()'),
		(12, 'rtscan_stat_scans()'),
		(13, 'count(*) FROM pg_stat_rtscan')) v (number, call);
-- without a device rtscan_prewarm() fails of that
SELECT call, array_agg(replace(role, 'regress_rtscan_', '') ORDER BY role COLLATE "C") AS allowed
FROM calls,
	unnest('{regress_rtscan_owner,regress_rtscan_granted,regress_rtscan_reader,regress_rtscan_inspector,
		regress_rtscan_monitor}'::text[]) role
WHERE error_for(role, call) NOT LIKE '42501%'
GROUP BY number, call
ORDER BY number;
SELECT call, error_for('regress_rtscan_reader', call) AS error
FROM calls
WHERE number < 10 AND number <> 7
ORDER BY number;
SELECT error_for('regress_rtscan_owner', 'rtscan_check(''t_ab'')');
SELECT error_for('regress_rtscan_inspector', 'rtscan_merge(''t_ab'')'),
	error_for('regress_rtscan_inspector', 'rtscan_estimate(''t'', ''{a}'')');
-- a role that was granted it may still check only indexes that it owns or may inspect
GRANT EXECUTE ON FUNCTION rtscan_check(regclass, boolean) TO regress_rtscan_reader;
SELECT error_for('regress_rtscan_reader', 'rtscan_check(''t_ab'', true)');
REVOKE EXECUTE ON FUNCTION rtscan_check(regclass, boolean) FROM regress_rtscan_reader;
-- since PostgreSQL 17 there is a privilege to maintain, which allows as much as a vacuum
CREATE FUNCTION since_17(command text) RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
	IF current_setting('server_version_num')::int >= 170000 THEN
		EXECUTE command;
	END IF;
	RETURN current_setting('server_version_num')::int >= 170000;
END
$$;
SELECT (error_for('regress_rtscan_reader', 'rtscan_merge(''t_ab'')') = 'no error') = maintains AS right
FROM since_17('GRANT MAINTAIN ON t TO regress_rtscan_reader') maintains;
SELECT error_for('regress_rtscan_reader', 'rtscan_stats(''t_ab'')');
SELECT since_17('REVOKE MAINTAIN ON t FROM regress_rtscan_reader') IS NOT NULL AS revoked;
SELECT (error_for('regress_rtscan_reader', 'rtscan_merge(''t_ab'')') = 'no error') = maintains AS right
FROM since_17('GRANT pg_maintain TO regress_rtscan_reader') maintains;
SELECT since_17('REVOKE pg_maintain FROM regress_rtscan_reader') IS NOT NULL AS revoked;
SELECT error_for('regress_rtscan_reader', 'rtscan_merge(''t_ab'')');

--
-- rtscan_estimate(): as pg_stats, nothing of columns that may not be read, or of rows that a policy hides
--
CREATE FUNCTION estimates(role text) RETURNS TABLE (keys text, error text) LANGUAGE sql AS $$
	SELECT keys, error_for(role, format('rtscan_estimate(''t'', %L)', keys))
	FROM unnest('{"{a}","{b}","{a,b}"}'::text[]) keys
	UNION ALL
	SELECT '{a} {b}', error_for(role, 'rtscan_estimate(''t'', ''{a}'', include => ''{b}'')')
$$;
REVOKE SELECT ON t FROM regress_rtscan_reader;
GRANT SELECT (a) ON t TO regress_rtscan_reader;
SELECT * FROM estimates('regress_rtscan_reader');
GRANT SELECT (b) ON t TO regress_rtscan_reader;
SELECT * FROM estimates('regress_rtscan_reader');
GRANT SELECT ON t TO regress_rtscan_reader, regress_rtscan_bypasses;
CREATE POLICY few_rows ON t USING (a < 10);
SELECT error_for('regress_rtscan_reader', 'rtscan_estimate(''t'', ''{a}'')');
ALTER TABLE t ENABLE ROW LEVEL SECURITY;
SELECT * FROM estimates('regress_rtscan_reader');
SELECT role, error_for(role, 'rtscan_estimate(''t'', ''{a}'')'),
	error_for(role, $$count(*) FROM t WHERE NOT row_security_active('t')$$)
FROM unnest('{regress_rtscan_bypasses,regress_rtscan_owner}'::text[]) role;
SELECT rows FROM rtscan_estimate('t', '{a}');
-- pg_stats, for comparison
SET ROLE regress_rtscan_reader;
SELECT count(*) FROM pg_stats WHERE tablename = 't' AND schemaname = 'privileges';
SET row_security = off;
SELECT rtscan_estimate('t', '{a}');
RESET row_security;
RESET ROLE;
ALTER TABLE t FORCE ROW LEVEL SECURITY;
SELECT error_for('regress_rtscan_owner', 'rtscan_estimate(''t'', ''{a}'')');
-- a view has no statistics of its own, and gives none of what is behind it
CREATE VIEW barrier WITH (security_barrier) AS SELECT a, b FROM t WHERE b = 3;
GRANT SELECT ON barrier TO regress_rtscan_reader;
REVOKE SELECT ON t FROM regress_rtscan_reader;
SET ROLE regress_rtscan_reader;
SELECT count(*) FROM barrier;
\set VERBOSITY terse
SELECT rtscan_estimate('barrier', '{a}');
SELECT rtscan_estimate('t', '{a}');
SELECT rtscan_benchmark('SELECT a FROM barrier WHERE a < 10');
SELECT rtscan_stats('t_ab');
\set VERBOSITY default
RESET ROLE;
-- every other role's way to these rows is its own
SELECT role, error_for(role, 'rtscan_check(''t_ab'', true)')
FROM unnest('{regress_rtscan_granted,regress_rtscan_inspector}'::text[]) role;

--
-- Functions of users run with the owner's rights, and not with the caller's search_path
--
CREATE FUNCTION privileges_other.abs(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	RAISE 'another abs() is called, by %', current_user;
END
$$;
CREATE FUNCTION privileges_other.btint4cmp(int, int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	RAISE 'another btint4cmp() is called, by %', current_user;
END
$$;
SET ROLE regress_rtscan_owner;
CREATE FUNCTION distance(a int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	IF current_user <> 'regress_rtscan_owner' THEN
		RAISE 'evaluated by %', current_user;
	END IF;
	RETURN abs(a);
END
$$;
CREATE FUNCTION compare(int, int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	RETURN btint4cmp($1, $2);
END
$$;
RESET ROLE;
CREATE OPERATOR CLASS compared FOR TYPE int USING rtscan AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 compare(int, int);
SET ROLE regress_rtscan_owner;
CREATE TABLE evaluated AS SELECT i % 20 - 10 AS a FROM generate_series(1, 300) i;
CREATE INDEX evaluated_expression ON evaluated USING rtscan (distance(a));
CREATE INDEX evaluated_part ON evaluated USING rtscan (a) WHERE distance(a) > 3;
CREATE INDEX evaluated_compared ON evaluated USING rtscan (a compared);
INSERT INTO evaluated SELECT i % 30 - 10 FROM generate_series(1, 300) i;
RESET ROLE;
SET search_path = privileges_other, pg_catalog, privileges, public;
SELECT abs(1);
SELECT role, index, error_for(role, format('rtscan_check(%L, true)', index)) AS all_rows,
	error_for(role, format('rtscan_check(%L)', index)) AS structure
FROM unnest('{regress_rtscan_granted,regress_rtscan_inspector,regress_rtscan_monitor}'::text[]) role,
	unnest('{evaluated_expression,evaluated_part,evaluated_compared}'::text[]) index;
SELECT rtscan_merge('evaluated_compared'), rtscan_check('evaluated_compared', true);
SELECT rtscan_check('evaluated_expression', true), rtscan_check('evaluated_part', true);
-- the path is the caller's again
SHOW search_path;
SELECT segments, pending FROM rtscan_stats('evaluated_compared');
-- also where a function fails
SET search_path = privileges, public;
SET ROLE regress_rtscan_owner;
INSERT INTO evaluated SELECT i % 30 FROM generate_series(1, 100) i;
CREATE OR REPLACE FUNCTION compare(int, int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	RAISE 'compared by %, path %', current_user, current_setting('search_path');
END
$$;
RESET ROLE;
SELECT error_of('rtscan_merge(''evaluated_compared'')'), error_of('rtscan_check(''evaluated_compared'')');
SELECT current_user = session_user AS same, current_setting('search_path');

DROP VIEW barrier;
SET client_min_messages = error;
DROP SCHEMA privileges, privileges_other CASCADE;
DROP OWNED BY regress_rtscan_granted, regress_rtscan_reader;
DROP ROLE regress_rtscan_owner, regress_rtscan_granted, regress_rtscan_reader, regress_rtscan_inspector,
	regress_rtscan_monitor, regress_rtscan_bypasses;
