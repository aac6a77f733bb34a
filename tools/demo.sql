-- Run by tools/demo: defines the queries, the indexes, and how they are compared. The script calls try_out() for one
-- index after the other.

\pset footer off

-- SELECT * needs all columns. Only the covering btree has them; with other indexes rows are read from the heap.
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
  ('no index', '{}'),
  ('four btrees', '{CREATE INDEX ON flights (distance),
                    CREATE INDEX ON flights (delay),
                    CREATE INDEX ON flights (minute),
                    CREATE INDEX ON flights (date)}'),
  ('one btree', '{"CREATE INDEX ON flights (distance, delay, minute, date)"}'),
  ('covering btree', '{"CREATE INDEX ON flights (distance, delay, minute, date) INCLUDE (origin, destination)"}'),
  ('brin', '{"CREATE INDEX ON flights USING brin (distance, delay, minute, date)"}'),
  ('rtscan', '{"CREATE INDEX ON flights USING rtscan (distance, delay, minute, date)"}');

CREATE TABLE answers (question int, index int, flights bigint, plan text, milliseconds float8);

-- The nodes of a plan that read something, as EXPLAIN writes them.
CREATE FUNCTION readers(plan json) RETURNS text LANGUAGE sql AS $$
  SELECT string_agg(name || CASE WHEN n > 1 THEN ' x ' || n ELSE '' END, ', ' ORDER BY first)
  FROM (SELECT name, count(*) AS n, min(i) AS first
        FROM jsonb_path_query(plan::jsonb, 'strict $.**?(exists(@."Node Type"))') WITH ORDINALITY AS node (it, i),
             concat_ws(' ', CASE WHEN (it->>'Parallel Aware')::bool THEN 'Parallel' END,
                       coalesce(it->>'Custom Plan Provider', it->>'Node Type')) AS name
        WHERE name ~ '[Ss]can|Bitmap'
        GROUP BY name) AS names
$$;

-- Answers each question with the indexes that exist: once to warm up, then five times, or three times if that is slow.
-- The median counts.
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
      EXECUTE format('EXPLAIN (ANALYZE, TIMING off, FORMAT json) SELECT %s FROM flights WHERE %s',
                     q.wanted, q.condition)
        INTO plan;
      times := times || (plan->0->>'Execution Time')::float8;
      EXIT WHEN i = 3 AND times[i] > 100;
    END LOOP;
    INSERT INTO answers VALUES
      (q.id, index, flights, readers(plan),
       (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY t) FROM unnest(times) AS t));
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

-- Fails if the answers differ from those without an index: the times would be worthless.
CREATE PROCEDURE try_out(index int) LANGUAGE plpgsql AS $$
BEGIN
  CALL drop_indexes();
  CALL build(index);
  CALL ask(index);
  IF EXISTS (SELECT FROM answers GROUP BY question HAVING count(DISTINCT flights) > 1) THEN
    RAISE 'the answers differ: %', (SELECT jsonb_agg(answers) FROM answers);
  END IF;
END $$;

-- The times to compare an index with: those of no index, and of the fastest of PostgreSQL's own.
CREATE VIEW others AS
SELECT question, max(milliseconds) FILTER (WHERE name = 'no index') AS none,
       min(milliseconds) FILTER (WHERE name <> 'no index') AS best,
       (array_agg(name ORDER BY milliseconds) FILTER (WHERE name <> 'no index'))[1] AS best_name
FROM answers JOIN indexes ON index = id
WHERE name <> 'rtscan'
GROUP BY question;

CREATE VIEW results AS
SELECT index, question AS "#", plan, round(milliseconds::numeric, 2) AS ms,
       round((none / milliseconds)::numeric, 1) AS "x no index",
       round((best / milliseconds)::numeric, 1) AS "x best other"
FROM answers JOIN others USING (question);

\echo
\echo 'Questions: SELECT wanted FROM flights WHERE condition'
SELECT id AS "#", wanted, condition FROM questions ORDER BY id;
