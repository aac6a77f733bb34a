-- Functions about an index, and the privileges that they need.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
SET rtscan.enable_aggregate = off; -- this is about scans
CREATE SCHEMA functions;
SET search_path = functions, public;

CREATE FUNCTION hash(i int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT abs(hashint4($1))';
--
-- rtscan_stats(): its parts are the whole
--
CREATE FUNCTION problems(index_name regclass) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	s record;
	n bigint;
	reported bigint;
BEGIN
	SELECT * INTO s FROM rtscan_stats(index_name);
	SELECT sum(value::bigint) FILTER (WHERE key LIKE '%\_bytes' AND key <> 'total_bytes') INTO n
	FROM jsonb_each_text(to_jsonb(s));
	IF n <> s.total_bytes OR n <> pg_relation_size(index_name) THEN
		RETURN NEXT format('parts %s, total %s, file %s', n, s.total_bytes, pg_relation_size(index_name));
	END IF;
	SELECT string_agg(key, ', ') INTO reported
	FROM jsonb_each_text(to_jsonb(s))
	WHERE value::bigint < 0 OR key LIKE '%\_bytes' AND value::bigint % 8192 <> 0;
	IF reported IS NOT NULL THEN
		RETURN NEXT reported || ' cannot be';
	END IF;
	EXECUTE format('SELECT count(*) FROM %s',
		(SELECT indrelid::regclass FROM pg_index WHERE indexrelid = index_name)) INTO n;
	IF s.rows - s.dead + s.pending <> n THEN
		RETURN NEXT format('%s rows, %s dead, %s pending of %s', s.rows, s.dead, s.pending, n);
	END IF;
	PERFORM rtscan_check(index_name), rtscan_check(index_name, false), rtscan_check(index_name, true);
END
$$;
-- Return the names of the parts that rtscan_stats() shows
CREATE FUNCTION parts(index_name regclass) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(replace(key, '_bytes', ''), ' ' ORDER BY key COLLATE "C")
	FROM jsonb_each_text((SELECT to_jsonb(s) FROM rtscan_stats(index_name) s))
	WHERE value <> '0' AND key <> 'total_bytes'
$$;
CREATE TABLE t (a int, b int, c text) WITH (autovacuum_enabled = off);
CREATE INDEX t_all ON t USING rtscan (a, b, c);
CREATE INDEX t_include ON t USING rtscan (b) INCLUDE (a, c);
CREATE FUNCTION all_problems() RETURNS TABLE (index regclass, problem text) LANGUAGE sql AS $$
	SELECT i, problems(i) FROM unnest('{t_all,t_include}'::regclass[]) i
$$;
SELECT * FROM all_problems();
SELECT parts('t_all'), parts('t_include');
INSERT INTO t SELECT i, hash(i) % 1000, CASE WHEN i % 3 > 0 THEN 'text ' || i % 9 END FROM generate_series(1, 500) i;
SELECT * FROM all_problems();
SELECT parts('t_all'), parts('t_include');
VACUUM t;
SELECT * FROM all_problems();
SELECT parts('t_all'), parts('t_include');
INSERT INTO t SELECT i, hash(i) % 1000, CASE WHEN i % 3 > 0 THEN 'text ' || i % 9 END
FROM generate_series(501, 65000) i;
SELECT * FROM all_problems();
VACUUM t;
SELECT * FROM all_problems();
REINDEX TABLE t;
SELECT * FROM all_problems();
SELECT parts('t_all'), parts('t_include');
-- a is in the heap's order, b has more values than bins, c has fewer
SELECT segments, rows, dead, pending, vectors, dead_bytes FROM rtscan_stats('t_all');
--
-- rtscan_estimate(): about as much as there will be
--
ANALYZE t;
SELECT e.rows, segments, index_bytes BETWEEN total_bytes / 2 AND total_bytes * 2 AS bytes,
	build_memory_bytes BETWEEN 5e5 AND 64e6 AS memory
	FROM rtscan_estimate('t', '{a,b,c}') e, LATERAL (SELECT pg_relation_size('t_all') AS total_bytes) s;
SELECT a.index_bytes > b.index_bytes AS more_bins_more_bytes
FROM rtscan_estimate('t', '{b}', 1024, 1) a, rtscan_estimate('t', '{b}', 16) b;
CREATE TABLE nothing (a int, p point);
-- columns of all kinds, as keys and INCLUDEd: within a quarter of what they take
CREATE TABLE sizes AS SELECT i AS ascending, -i AS descending, h AS uniq, h % 50000 AS repeated, h % 100 AS few,
	i / 100 AS steps,
	h / 7.0::float8 AS f8, (h / 7.0)::float4 AS f4, h::int8 * hashint4(-i) AS i8,
	timestamptz '2020-01-01' + i * interval '13.7 s' AS ts, 'text ' || h % 1000 AS words, md5(i::text) AS hashes,
	(h % 30000) / 100.0 AS price, CASE WHEN i % 3 > 0 THEN h END AS holes, date '2020-01-01' + h % 900 AS d,
	h % 3 = 0 AS bo
FROM generate_series(1, 140000) i, LATERAL (SELECT hashint4(i) & 2147483647) x (h);
VACUUM ANALYZE sizes;
CREATE FUNCTION ratio(keys text, included text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	of_all float8;
BEGIN
	EXECUTE format('CREATE INDEX sizes_idx ON sizes USING rtscan (%s) %s', keys, 'INCLUDE (' || included || ')');
	SELECT index_bytes / pg_relation_size('sizes_idx')::float8 INTO of_all
	FROM rtscan_estimate('sizes', string_to_array(keys, ','),
		include => coalesce(string_to_array(included, ','), '{}'));
	DROP INDEX sizes_idx;
	RETURN of_all;
END
$$;
SET maintenance_work_mem = '64MB';
SELECT keys, included, ratio
FROM (SELECT attname::text, NULL FROM pg_attribute WHERE attrelid = 'sizes'::regclass AND attnum > 0
	  UNION ALL SELECT 'ascending', attname FROM pg_attribute WHERE attrelid = 'sizes'::regclass AND attnum > 0
	  UNION ALL VALUES ('uniq,f8,repeated', NULL), ('uniq', 'few,words,price,f8')) columns (keys, included),
	ratio(keys, included)
WHERE ratio NOT BETWEEN 0.8 AND 1.25;
RESET maintenance_work_mem;
SELECT rtscan_estimate('sizes', '{uniq}', include => '{few,none}');
SELECT rtscan_estimate('sizes', '{uniq}', include => '{few,NULL}');
SELECT rtscan_estimate('sizes', '{uniq}', include => array_fill('few'::text, '{32}'));
SELECT rtscan_estimate('sizes', '{}', include => '{few}');
DROP TABLE sizes;
SELECT rtscan_estimate('nothing', '{a}');
ANALYZE nothing;
SELECT rows, segments FROM rtscan_estimate('nothing', '{a}');
SELECT rows, segments FROM rtscan_estimate('nothing', '{a,a}', include => '{p}');
SELECT rtscan_estimate('nothing', '{a,p}');
SELECT rtscan_estimate('t', '{a,d}');
SELECT rtscan_estimate('t', '{ctid}');
SELECT rtscan_estimate('t', '{a,NULL}');
SELECT rtscan_estimate('t', '{}');
SELECT rtscan_estimate('t', array_fill('a'::text, '{33}'));
SELECT rtscan_estimate('t', '{a}', 1);
SELECT rtscan_estimate('t', '{a}', 1025);
SELECT rtscan_estimate('t', '{a}', 256, 3);
\set VERBOSITY sqlstate
SELECT rtscan_estimate('t_all', '{a}');
\set VERBOSITY default
SELECT rtscan_estimate('t', NULL), rtscan_estimate(NULL, '{a}');

DELETE FROM t WHERE a % 7 = 0;
INSERT INTO t SELECT i, i, NULL FROM generate_series(1, 100) i;
VACUUM t;
SELECT * FROM all_problems();
SELECT dead > 9000 AS dead, dead_bytes > 0 AS dead_bytes, pending FROM rtscan_stats('t_include');
SELECT parts('t_include');

--
-- pg_stat_rtscan
--
SELECT rtscan_stat_reset();
SELECT * FROM pg_stat_rtscan;
SET enable_seqscan = off;
SET rtscan.enable_scan = off;
SET max_parallel_workers_per_gather = 0;
SET rtscan.executor = 'cpu';
CREATE FUNCTION scans()
RETURNS TABLE (
	executor text, scans bigint, segments bigint, pending_rows bigint, rows bigint, chunks bool, refined bool,
	pages bool, times bool) LANGUAGE sql AS $$
	SELECT executor, scans, segments, pending_rows, rows, chunks_read > 0, refined_rows > 0, pages_read > 0,
		bits_time > 0 AND tids_time >= 0
	FROM pg_stat_rtscan
	WHERE executor = 'cpu'
$$;
DROP INDEX t_include;
REINDEX INDEX t_all;
SELECT count(*) FROM t WHERE b < 500 AND a < 60000;
SELECT * FROM scans();
INSERT INTO t VALUES (-1, -1, NULL), (-2, -2, NULL);
SELECT count(*) FROM t WHERE b < 0;
SELECT * FROM scans();
-- each outer row is a scan
SELECT count(*) FROM generate_series(1, 5) i CROSS JOIN LATERAL (SELECT FROM t WHERE b = -i OFFSET 0) x;
SELECT * FROM scans();
-- without rows, without a scan, only planned
SELECT count(*) FROM t WHERE b > 5000;
SELECT count(*) FROM t WHERE b > 5 AND false;
EXPLAIN (COSTS OFF) SELECT count(*) FROM t WHERE b > 5000;
SELECT * FROM scans();
SELECT chunks_skipped > 0 AS skipped FROM pg_stat_rtscan WHERE executor = 'cpu';
SELECT rtscan_stat_reset();
-- rows of the index and of the heap, to their end or not
RESET rtscan.enable_scan;
SET enable_bitmapscan = off;
SELECT count(*), min(c) FROM (SELECT a, c FROM t WHERE b < 500 AND a < 60000 OFFSET 0) x;
SELECT * FROM scans();
SELECT count(*), count(b) FROM (SELECT a, b FROM t WHERE b < 0 OFFSET 0) x;
SELECT * FROM scans();
SELECT a, b FROM t WHERE b >= 0 LIMIT 2;
SELECT * FROM scans();
RESET enable_bitmapscan;
SET rtscan.enable_scan = off;
SELECT rtscan_stat_reset();
SELECT * FROM scans();
-- the server's own statistics
SELECT pg_stat_force_next_flush();
SELECT pg_stat_reset_single_table_counters('t_all'::regclass);
SELECT count(*) FROM t WHERE b = -1 OR a = -2;
SELECT pg_stat_force_next_flush();
SELECT idx_scan, idx_tup_read, idx_tup_fetch FROM pg_stat_user_indexes WHERE indexrelid = 't_all'::regclass;
SELECT idx_blks_read + idx_blks_hit > 0 AS counts_blocks
FROM pg_statio_user_indexes
WHERE indexrelid = 't_all'::regclass;
SET rtscan.enable_scan = on;
SET enable_bitmapscan = off;
SELECT a, c FROM t WHERE b = -1 OR a = -2;
SELECT pg_stat_force_next_flush();
SELECT idx_scan, idx_tup_read, idx_tup_fetch FROM pg_stat_user_indexes WHERE indexrelid = 't_all'::regclass;
SET enable_seqscan = off;
SELECT count(*), sum(b) < 0 FROM t WHERE b = -1 OR a = -2;	-- from rows
SELECT count(*) FROM t WHERE b = -1 OR a = -2;	-- from bits
SELECT pg_stat_force_next_flush();
SELECT idx_scan, idx_tup_read, idx_tup_fetch FROM pg_stat_user_indexes WHERE indexrelid = 't_all'::regclass;
RESET enable_seqscan;
SET rtscan.enable_scan = off;
RESET enable_bitmapscan;
RESET enable_seqscan;
RESET max_parallel_workers_per_gather;

--
-- Relations that are no rtscan index, or only a part of one
--
CREATE INDEX t_btree ON t (a);
CREATE TABLE p (a int) PARTITION BY RANGE (a);
CREATE INDEX p_a ON p USING rtscan (a);
CREATE VIEW v AS SELECT 1 AS a;
CREATE SEQUENCE s;
-- The error of a call, without its line and context.
CREATE FUNCTION error_of(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	hint text;
BEGIN
	EXECUTE 'SELECT ' || call;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
	RETURN SQLSTATE || ': ' || SQLERRM || CASE WHEN hint <> '' THEN ' (' || hint || ')' ELSE '' END;
END
$$;
SELECT format(call, relation) AS call, error_of(format(call, relation))
	FROM unnest(ARRAY['rtscan_stats(%L)', 'rtscan_check(%L)', 'rtscan_check(%L, true)']) call,
		unnest('{t,t_btree,p_a,p,v,s,pg_class,pg_class_oid_index}'::text[]) relation;
-- the partitions of a partitioned index
CREATE TABLE p_low PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE TABLE p_high PARTITION OF p FOR VALUES FROM (10) TO (100);
INSERT INTO p SELECT generate_series(5, 50);
SELECT relid, rows + pending AS rows
	FROM pg_partition_tree('p_a'), rtscan_stats(relid)
	WHERE isleaf
	ORDER BY relid;
SELECT error_of('rtscan_stats(0)'), error_of('rtscan_check(0)'), error_of('rtscan_check(4294967295, true)');
SELECT rtscan_stats(NULL), rtscan_check(NULL), rtscan_check('t_all', NULL);
-- an index whose build failed, and one that is not valid
CREATE INDEX CONCURRENTLY t_failed ON t USING rtscan ((1 / (a + 1)));
SELECT indisvalid, indisready FROM pg_index WHERE indexrelid = 't_failed'::regclass;
SELECT error_of('rtscan_stats(''t_failed'')'), error_of('rtscan_check(''t_failed'')'),
	error_of('rtscan_check(''t_failed'', true)');
DROP INDEX t_failed;
UPDATE pg_index SET indisvalid = false WHERE indexrelid = 't_all'::regclass;
SELECT rows > 0 AS rows, rtscan_check('t_all'), error_of('rtscan_check(''t_all'', true)') FROM rtscan_stats('t_all');
UPDATE pg_index SET indisvalid = true WHERE indexrelid = 't_all'::regclass;
-- reading is enough
BEGIN TRANSACTION ISOLATION LEVEL SERIALIZABLE READ ONLY;
SELECT rows > 0 AS rows, rtscan_check('t_all'), rtscan_check('t_all', true) FROM rtscan_stats('t_all');
COMMIT;

--
-- Privileges
--
CREATE ROLE regress_rtscan_user;
CREATE ROLE regress_rtscan_owner;
GRANT CREATE, USAGE ON SCHEMA functions TO regress_rtscan_owner, regress_rtscan_user;
GRANT EXECUTE ON FUNCTION rtscan_check(regclass, boolean) TO regress_rtscan_owner, regress_rtscan_user;
SET ROLE regress_rtscan_user;
SELECT error_of('rtscan_stats(''t_all'')'), error_of('rtscan_check(''t_all'')'),
	error_of('rtscan_check(''t_all'', true)'), error_of('rtscan_merge(''t_all'')');
SELECT error_of('rtscan_estimate(''t'', ''{a}'')'), error_of('rtscan_stat_reset()'),
	error_of('rtscan_merge(''t_btree'')');
SELECT count(*) > 0 AS visible FROM pg_stat_rtscan;
-- wrong relations tell no more than that they are
SELECT error_of('rtscan_stats(''t_btree'')'), error_of('rtscan_stats(''pg_authid'')');
RESET ROLE;
GRANT SELECT ON t TO regress_rtscan_user;
SET ROLE regress_rtscan_user;
SELECT error_of('rtscan_stats(''t_all'')'), error_of('rtscan_check(''t_all'')'),
	error_of('rtscan_estimate(''t'', ''{a}'')');
RESET ROLE;
REVOKE SELECT ON t FROM regress_rtscan_user;
GRANT pg_stat_scan_tables TO regress_rtscan_user;
SET ROLE regress_rtscan_user;
SELECT error_of('rtscan_stats(''t_all'')'), error_of('rtscan_check(''t_all'')'),
	error_of('rtscan_check(''t_all'', true)'), error_of('rtscan_merge(''t_all'')');
RESET ROLE;
-- an owner may; the index's expressions and conditions run with the rights of the owner, not of the role that checks
SET ROLE regress_rtscan_owner;
CREATE FUNCTION who(a int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	IF current_user <> 'regress_rtscan_owner' THEN
		RAISE 'index expression evaluated by %',
			CASE WHEN current_user = 'regress_rtscan_user' THEN current_user ELSE 'another user' END;
	END IF;
	RETURN a;
END
$$;
CREATE TABLE owned AS SELECT i AS a FROM generate_series(1, 10) i;
CREATE INDEX owned_a ON owned USING rtscan (who(a));
CREATE INDEX owned_part ON owned USING rtscan (a) WHERE who(a) > 3;
SELECT error_of('rtscan_stats(''owned_a'')'), error_of('rtscan_check(''owned_a'', true)'),
	error_of('rtscan_merge(''owned_a'')');
RESET ROLE;
SELECT error_of('rtscan_check(''owned_a'')'), error_of('rtscan_check(''owned_a'', true)'),
	error_of('rtscan_check(''owned_part'', true)');
SET ROLE regress_rtscan_user;
SELECT error_of('rtscan_check(''owned_a'')'), error_of('rtscan_check(''owned_a'', true)'),
	error_of('rtscan_check(''owned_part'', true)');
RESET ROLE;
VACUUM owned;
REINDEX INDEX owned_a;
DROP TABLE owned;
DROP FUNCTION who;
REVOKE CREATE, USAGE ON SCHEMA functions FROM regress_rtscan_owner, regress_rtscan_user;
REVOKE EXECUTE ON FUNCTION rtscan_check(regclass, boolean) FROM regress_rtscan_owner, regress_rtscan_user;
DROP ROLE regress_rtscan_owner, regress_rtscan_user;

--
-- Settings
--
SHOW rtscan.pending_list_limit;
\set VERBOSITY sqlstate
SET rtscan.pending_list_limit = 63;
\set VERBOSITY default
SET rtscan.pending_list_limit = '1MB';
SET rtscan.no_such_setting = 1;
RESET rtscan.pending_list_limit;
SELECT name, vartype, unit, context, min_val, boot_val FROM pg_settings WHERE name = 'rtscan.pending_list_limit';

--
-- The extension: in another schema, dropped with and without indexes
--
\set VERBOSITY terse
DROP EXTENSION rtscan;
\set VERBOSITY default
DROP TABLE t, nothing, p;
DROP EXTENSION rtscan;
CREATE SCHEMA "other schema";
CREATE EXTENSION rtscan SCHEMA "other schema";
SELECT DISTINCT opcnamespace::regnamespace FROM pg_opclass JOIN pg_am a ON a.oid = opcmethod WHERE amname = 'rtscan';
CREATE TABLE t AS SELECT i AS a, 'text ' || i % 7 AS b FROM generate_series(1, 100) i;
CREATE INDEX t_all ON t USING rtscan (a, b);
SELECT "other schema".rtscan_check('t_all', true);
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT * FROM t WHERE a < 5::int8 AND b = 'text 3';
SELECT * FROM t WHERE a < 15::int8 AND b = 'text 3';
SET rtscan.enable_scan = off;
EXPLAIN (COSTS OFF) SELECT * FROM t WHERE a < 5::int8 AND b = 'text 3';
SELECT * FROM t WHERE a < 15::int8 AND b = 'text 3';
RESET rtscan.enable_scan;
RESET enable_seqscan;
CREATE INDEX ON t USING rtscan (b text_pattern_ops);
CREATE INDEX ON t USING rtscan (b "other schema".text_pattern_ops);
DROP EXTENSION rtscan CASCADE;
SELECT * FROM t WHERE a < 15 AND b = 'text 3';
SELECT count(*) FROM pg_class WHERE relname = 't_all';

SET client_min_messages = error;
DROP SCHEMA functions, "other schema" CASCADE;
