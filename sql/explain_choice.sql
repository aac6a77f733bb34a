-- Why a plan does not use an index: what is offered, what is not, and for which reason.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA explain_choice;
SET search_path = explain_choice, public;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE t (id int PRIMARY KEY, a int, b int, s text, other text);
INSERT INTO t SELECT i, i % 100, i % 7, 's' || i % 5, 'other' FROM generate_series(1, 5000) i;
CREATE INDEX t_scan ON t USING rtscan (a, b, s);
CREATE INDEX t_part ON t USING rtscan (b) WHERE a > 90;
VACUUM ANALYZE t;

-- The lines of EXPLAIN, without costs
CREATE FUNCTION choices(query text, options text DEFAULT 'COSTS OFF') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE format('EXPLAIN (%s) %s', options, query) LOOP
		IF line ~ 'Rtscan Choice' THEN
			RETURN NEXT regexp_replace(line, '\d+\.\d\d', 'N', 'g');
		END IF;
	END LOOP;
END
$$;
SELECT choices('SELECT * FROM t WHERE id = 5');
SET rtscan.explain_choice = on;
SELECT choices('SELECT * FROM t WHERE id = 5');
SELECT choices('SELECT count(*) FROM t WHERE a < 5');
SELECT choices('SELECT other, count(*) FROM t GROUP BY 1');
SELECT choices('SELECT sum(id) FROM t WHERE a > 95 AND length(other) > b');
SELECT choices('SELECT string_agg(s, '''' ORDER BY a) FROM t WHERE a < 10');
SELECT choices('SELECT count(*) FROM t JOIN t u ON t.b < u.b');
SELECT choices('SELECT a, max(id), id FROM t GROUP BY id');
SELECT choices('SELECT DISTINCT left(other, 2), a FROM t');
SELECT choices('SELECT * FROM t WHERE a > 95 AND id < 3');
SELECT choices('SELECT * FROM t WHERE a > 95 AND id < 3', 'COSTS ON');
SELECT choices('SELECT * FROM t u JOIN t ON t.b = u.id WHERE u.id < 3');
SELECT choices('SELECT 1');
SET rtscan.enable_aggregate = off;
SET rtscan.enable_scan = off;
SELECT choices('SELECT sum(a) FROM t');
RESET rtscan.enable_aggregate;
RESET rtscan.enable_scan;

-- Other formats have a list, which is part of a valid document
CREATE FUNCTION document(query text) RETURNS json LANGUAGE plpgsql AS $$
DECLARE
	document json;
BEGIN
	EXECUTE 'EXPLAIN (COSTS OFF, FORMAT json) ' || query INTO document;
	RETURN document;
END
$$;
SELECT jsonb_path_query_first(document('SELECT other, count(*) FROM t GROUP BY 1')::jsonb,
	'$[*]."Rtscan Choice"[last]');
EXPLAIN (COSTS OFF) CREATE TABLE copy AS SELECT a FROM t WHERE id = 1;

-- An error ends the recording
\set SHOW_CONTEXT never
SELECT choices('SELECT * FROM nowhere');
SELECT choices('SELECT 1 / 0 FROM t WHERE a = 3');
RESET rtscan.explain_choice;
SELECT choices('SELECT * FROM t WHERE id = 5');

-- The function plans several queries, without the setting
SELECT query, relation, index, node, taken, cost > 0 AS costs, plan_cost > 0 AS plan_costs, reason
FROM rtscan_explain_choice('SELECT count(*) FROM t WHERE a < 5; SELECT sum(id), a FROM t WHERE b = 3 GROUP BY 2');
SELECT * FROM rtscan_explain_choice('SELECT 1');
SELECT * FROM rtscan_explain_choice('VACUUM');
SELECT * FROM rtscan_explain_choice('SELECT');
SELECT * FROM rtscan_explain_choice('neither nor');

-- Queries of functions that are called while the query is planned, or executed, are not shown: others may own them.
CREATE FUNCTION hidden() RETURNS bigint STABLE LANGUAGE plpgsql AS $$
BEGIN
	RETURN (SELECT count(*) FROM t WHERE other = 'hidden');
END
$$;
CREATE TABLE shown (a int, other text);
CREATE INDEX shown_scan ON shown USING rtscan (a);
SET rtscan.explain_choice = on;
SELECT choices('SELECT other FROM shown WHERE a > hidden() OR other = ''r''');
SELECT choices('SELECT other, hidden() FROM shown WHERE a > hidden() OR other = ''r''', 'ANALYZE, COSTS OFF');
RESET rtscan.explain_choice;
SELECT query, index, node, reason
FROM rtscan_explain_choice('SELECT other FROM shown WHERE a > hidden() OR other = ''r''');

CREATE ROLE explain_choice_reader;
GRANT USAGE ON SCHEMA explain_choice TO explain_choice_reader;
SET ROLE explain_choice_reader;
SELECT * FROM rtscan_explain_choice('SELECT count(*) FROM t');
RESET ROLE;
GRANT SELECT ON t TO explain_choice_reader;
SET ROLE explain_choice_reader;
SELECT node, taken FROM rtscan_explain_choice('SELECT count(*) FROM t') WHERE index = 't_scan'::regclass;
RESET ROLE;
DROP SCHEMA explain_choice CASCADE;
DROP ROLE explain_choice_reader;
