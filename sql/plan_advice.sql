-- Advice of pg_plan_advice, which PostgreSQL has since 19, holds where rtscan answers; generated from its plans, it
-- gives them again.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
SELECT current_setting('server_version_num')::int < 190000 AS has_no_advice \gset
\if :has_no_advice
\quit
\endif
LOAD 'pg_plan_advice';
CREATE SCHEMA plan_advice;
SET search_path = plan_advice, public;

CREATE TABLE t AS
SELECT i AS a, i % 1000 AS b
FROM generate_series(1, 100000) i;
CREATE INDEX t_one ON t USING rtscan (a, b);
CREATE INDEX t_other ON t USING rtscan (b, a);
CREATE INDEX t_btree ON t (b);
VACUUM ANALYZE t;
\set explain 'EXPLAIN (COSTS OFF, PLAN_ADVICE)'
\set counted 'SELECT count(*) FROM t WHERE b < 100 AND a < 90000;'
\set rows 'SELECT a FROM t WHERE b < 100 AND a < 90000;'

-- scans: PostgreSQL's methods are others than ours, an index scan by an index of ours is ours
SET pg_plan_advice.advice = 'SEQ_SCAN(t)';
:explain :counted
:explain :rows
SET pg_plan_advice.advice = 'BITMAP_HEAP_SCAN(t)';
EXPLAIN (COSTS OFF) SELECT count(*) FROM t WHERE b = 7;
SET pg_plan_advice.advice = 'INDEX_SCAN(t t_btree)';
EXPLAIN (COSTS OFF) SELECT count(*) FROM t WHERE b = 7;
SET pg_plan_advice.advice = 'INDEX_SCAN(t t_one)';
EXPLAIN (COSTS OFF) :counted
EXPLAIN (COSTS OFF) :rows
SET pg_plan_advice.advice = 'INDEX_ONLY_SCAN(t t_other)';
EXPLAIN (COSTS OFF) :counted
EXPLAIN (COSTS OFF) :rows

-- settings are about PostgreSQL's methods; advice holds beside them
SET pg_plan_advice.advice = '';
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_bitmapscan = off;
:explain SELECT b, count(*) FROM t WHERE a < 90000 GROUP BY b;
SET pg_plan_advice.advice = 'SEQ_SCAN(t)';
:explain SELECT b, count(*) FROM t WHERE a < 90000 GROUP BY b;
RESET enable_indexscan;
RESET enable_indexonlyscan;
RESET enable_bitmapscan;

-- workers
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET min_parallel_index_scan_size = 0;
SET pg_plan_advice.advice = 'GATHER(t)';
EXPLAIN (COSTS OFF) :counted
:explain :rows
SET pg_plan_advice.advice = 'NO_GATHER(t)';
EXPLAIN (COSTS OFF) :counted
:explain :rows
SET max_parallel_workers_per_gather = 0;

-- joins: a star is none of PostgreSQL's methods; in generated advice it is an Append of what it joins
SET pg_plan_advice.advice = '';
CREATE TABLE fact AS
SELECT i % 1000 AS k, i % 7 AS m, i AS x
FROM generate_series(1, 100000) i;
CREATE INDEX fact_idx ON fact USING rtscan (k, m, x);
CREATE TABLE d AS
SELECT i AS k, i % 10 AS v
FROM generate_series(1, 1000) i;
ALTER TABLE d ADD PRIMARY KEY (k);
CREATE TABLE e AS
SELECT i AS m, i * i AS mm
FROM generate_series(0, 6) i;
ALTER TABLE e ADD PRIMARY KEY (m);
VACUUM ANALYZE fact, d, e;
\set star 'SELECT x, v, mm FROM fact JOIN d USING (k) JOIN e USING (m) WHERE v = 3 AND mm > 10;'
\set groups 'SELECT v, count(*) FROM fact JOIN d USING (k) WHERE m = 2 GROUP BY v;'
:explain :star
SET pg_plan_advice.advice = 'SEQ_SCAN(d e) PARTITIONWISE((fact d e)) NO_GATHER(fact d e)';
:explain :star
SET pg_plan_advice.advice = '';
:explain :groups
SET pg_plan_advice.advice = 'SEQ_SCAN(d) NO_GATHER(d)';
:explain :groups
SET pg_plan_advice.advice = '';
:explain
SELECT x, v, more
FROM fact
	 JOIN d USING (k)
	 LEFT JOIN LATERAL (SELECT mm AS more FROM e WHERE e.m > fact.m LIMIT 1) AS first ON true
WHERE v = 3 AND fact.m = 2;
SET pg_plan_advice.advice = 'HASH_JOIN(d)';
:explain :star
:explain :groups
SET pg_plan_advice.advice =
	'JOIN_ORDER(fact d e) HASH_JOIN(d e) SEQ_SCAN(d e) PARTITIONWISE(fact) NO_GATHER(fact d e)';
EXPLAIN (COSTS OFF) :star
SET pg_plan_advice.advice = 'NESTED_LOOP_PLAIN(d) JOIN_ORDER(fact d e)';
EXPLAIN (COSTS OFF) :star
SET pg_plan_advice.advice = 'JOIN_ORDER(e fact d)';
EXPLAIN (COSTS OFF) :star

-- any order of dimensions that the advice allows is the star's
SET pg_plan_advice.advice = 'JOIN_ORDER(fact d e)';
EXPLAIN (COSTS OFF) :star
SET pg_plan_advice.advice = 'JOIN_ORDER(fact e d)';
EXPLAIN (COSTS OFF) :star
SET pg_plan_advice.advice = 'SEQ_SCAN(fact)';
EXPLAIN (COSTS OFF) :star

-- a partition
SET pg_plan_advice.advice = '';
CREATE TABLE parts (a int, b int) PARTITION BY RANGE (a);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (50000);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (50000) TO (200000);
INSERT INTO parts SELECT a, b FROM t;
CREATE INDEX parts_idx ON parts USING rtscan (a, b);
VACUUM ANALYZE parts;
EXPLAIN (COSTS OFF) SELECT a FROM parts WHERE b < 100;
SET pg_plan_advice.advice = 'SEQ_SCAN(parts/plan_advice.parts_2)';
:explain SELECT a FROM parts WHERE b < 100;
:explain SELECT count(*) FROM parts WHERE b < 100;

DROP SCHEMA plan_advice CASCADE;
