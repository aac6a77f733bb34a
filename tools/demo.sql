-- Run by tools/demo: loads ../flights.csv and compares indexes on it.

\pset footer off
SET client_min_messages = warning;
CREATE EXTENSION rtscan;

CREATE TABLE flights (date timestamp, delay int, distance int, minute int, origin text, destination text);
\copy flights FROM '../flights.csv' (FORMAT csv, HEADER)
VACUUM ANALYZE flights;

-- Where rows are asked for, no index has them all: the heap must be read. Where they are counted, an index may do.
CREATE TABLE questions (id serial, wanted text, condition text);
INSERT INTO questions (wanted, condition) VALUES
  ('*', 'distance BETWEEN 500 AND 1000 AND delay > 60 AND minute BETWEEN 1020 AND 1200'),
  ('*', 'distance > 2000 AND delay < -20 AND minute < 480'),
  ('*', 'delay > 120 AND date BETWEEN ''2001-02-01'' AND ''2001-02-15'''),
  ('*', 'distance IN (337, 867, 1744) AND delay BETWEEN 15 AND 30 AND minute >= 1080'),
  ('count(*)', 'delay = 0 AND minute BETWEEN 715 AND 725'),
  ('count(*)', 'distance > 1000 AND delay > 0'),
  ('avg(delay), max(distance)', 'minute BETWEEN 1020 AND 1200 AND delay > 15');

CREATE TABLE indexes (id serial, name text, ddl text[], build interval, size bigint);
INSERT INTO indexes (name, ddl) VALUES
  ('none', '{}'),
  ('four btrees', '{CREATE INDEX ON flights (distance),
                    CREATE INDEX ON flights (delay),
                    CREATE INDEX ON flights (minute),
                    CREATE INDEX ON flights (date)}'),
  ('one btree', '{"CREATE INDEX ON flights (distance, delay, minute, date)"}'),
  ('brin', '{"CREATE INDEX ON flights USING brin (distance, delay, minute, date)"}'),
  ('rtscan', '{"CREATE INDEX ON flights USING rtscan (distance, delay, minute, date)"}');

CREATE TABLE answers (question int, index int, flights bigint, plan text, milliseconds float8);

-- The nodes of a plan that read something, as EXPLAIN writes them.
CREATE FUNCTION readers(plan json) RETURNS text LANGUAGE sql AS $$
  SELECT string_agg(name || CASE WHEN n > 1 THEN ' x ' || n ELSE '' END, ', ' ORDER BY first)
  FROM (SELECT name, count(*) AS n, min(i) AS first
        FROM jsonb_path_query(plan::jsonb, 'strict $.**?(exists(@."Node Type"))') WITH ORDINALITY AS node (it, i),
             concat_ws(' ', CASE WHEN (it->>'Parallel Aware')::bool THEN 'Parallel' END, coalesce(it->>'Custom Plan Provider', it->>'Node Type')) AS name
        WHERE name ~ '[Ss]can|Bitmap'
        GROUP BY name) AS names
$$;

-- Answers each question with the indexes that exist: once to warm up, then five times, of which the median counts.
CREATE PROCEDURE ask(index int) LANGUAGE plpgsql AS $$
DECLARE
  q record;
  plan json;
  flights bigint;
  times float8[];
BEGIN
  FOR q IN SELECT * FROM questions ORDER BY id LOOP
    EXECUTE 'SELECT count(*) FROM flights WHERE ' || q.condition INTO flights;
    times := '{}';
    FOR i IN 1..5 LOOP
      EXECUTE format('EXPLAIN (ANALYZE, TIMING off, FORMAT json) SELECT %s FROM flights WHERE %s', q.wanted, q.condition)
        INTO plan;
      times := times || (plan->0->>'Execution Time')::float8;
    END LOOP;
    INSERT INTO answers VALUES
      (q.id, index, flights, readers(plan), (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY t) FROM unnest(times) AS t));
  END LOOP;
END $$;

CREATE PROCEDURE build(index int) LANGUAGE plpgsql AS $$
DECLARE
  command text;
  start timestamptz := clock_timestamp();
BEGIN
  FOREACH command IN ARRAY (SELECT ddl FROM indexes WHERE id = index) LOOP
    EXECUTE command;
  END LOOP;
  UPDATE indexes SET build = clock_timestamp() - start, size = pg_indexes_size('flights') WHERE id = index;
END $$;

CREATE PROCEDURE drop_indexes() LANGUAGE plpgsql AS $$
DECLARE
  index regclass;
BEGIN
  FOR index IN SELECT indexrelid FROM pg_index WHERE indrelid = 'flights'::regclass LOOP
    EXECUTE format('DROP INDEX %s', index);
  END LOOP;
END $$;

-- One kind of index after the other; rtscan's stays.
SELECT format('CALL drop_indexes(); CALL build(%s); CALL ask(%1$s)', id) FROM indexes ORDER BY id \gexec

-- Different answers would make the times worthless.
SELECT count(*) > 0 AS wrong FROM (SELECT FROM answers GROUP BY question HAVING count(DISTINCT flights) > 1) AS differing \gset
\if :wrong
  SELECT * FROM answers ORDER BY question, index;
  DO $$ BEGIN RAISE 'the answers differ'; END $$;
\endif

\echo
\echo 'Questions: SELECT wanted FROM flights WHERE condition'
SELECT id AS "#", wanted, condition, flights
FROM questions JOIN (SELECT DISTINCT question, flights FROM answers) AS a ON question = id ORDER BY id;

SELECT pg_size_pretty(pg_table_size('flights')) AS table_size \gset
\echo 'Indexes: each built and asked without the others; the table has' :table_size
SELECT name, array_to_string(ddl, E'\n') AS definition, round(extract(epoch FROM build), 1) AS "build, s", pg_size_pretty(size) AS size
FROM indexes WHERE ddl <> '{}' ORDER BY id;

\echo 'Plans that the planner chose, and times'
SELECT question AS "#", name AS indexes, plan, round(milliseconds::numeric, 2) AS ms,
       round((max(milliseconds) FILTER (WHERE name = 'none') OVER (PARTITION BY question) / milliseconds)::numeric, 1) AS "times faster"
FROM answers JOIN indexes ON index = id ORDER BY question, index;

SELECT format('SELECT %s FROM flights WHERE %s', wanted, condition) AS query FROM questions WHERE id = 1 \gset
\echo 'Question 1 with rtscan'
EXPLAIN (ANALYZE, BUFFERS) :query;
