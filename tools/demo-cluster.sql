-- Run by tools/demo --cluster on the coordinator: distributes ../flights.csv over the workers by the hash of the origin, and
-- compares ways to ask for them. A host is the directory of a server's socket.
--
--   citus                            whether Citus distributes the flights, or postgres_fdw
--   coordinator, worker_1, worker_2  the hosts

\pset footer off
SET client_min_messages = warning;

CREATE TABLE here (date timestamp, delay int, distance int, minute int, origin text, destination text);
\copy here FROM PROGRAM 'head -n 1000001 ../flights.csv' (FORMAT csv, HEADER)

-- What is asked of all flights at once: SELECT wanted FROM flights rest. What is asked of each worker's is the same; these parts
-- are combined by SELECT combined FROM (parts) parts_rest.
CREATE TABLE questions (id serial, wanted text, rest text, combined text, parts_rest text);
INSERT INTO questions (wanted, rest, combined, parts_rest) VALUES
  ('count(*) AS flights',
   'WHERE distance > 1000 AND delay > 0',
   'sum(flights)', ''),
  ('sum(delay) AS delay, max(distance) AS distance',
   'WHERE minute BETWEEN 1020 AND 1200 AND delay > 15',
   'sum(delay), max(distance)', ''),
  ('origin, count(*) AS flights, sum(delay) AS delay',
   'WHERE minute > 1200 GROUP BY origin',
   'origin, flights, delay', ''),
  ('minute / 60 AS hour, count(*) AS flights, sum(delay) AS delay',
   'WHERE distance < 500 GROUP BY minute / 60',
   'hour, sum(flights), sum(delay)', 'GROUP BY hour'),
  ('delay, date, distance',
   'WHERE distance > 500 AND minute < 720 ORDER BY delay DESC, date, distance LIMIT 10',
   '*', 'ORDER BY delay DESC, date, distance LIMIT 10');

CREATE TABLE ways (id serial, name text, source text, partitionwise bool DEFAULT false, in_parts bool DEFAULT false);
CREATE TABLE answers (question int, way int, indexed bool, answer text, plan text, fetched bigint, milliseconds float8);

-- The nodes of a plan that read something, as EXPLAIN writes them, also those of Citus' tasks.
CREATE FUNCTION readers(plan jsonb) RETURNS text LANGUAGE sql AS $$
  SELECT string_agg(DISTINCT name, ', ')
  FROM jsonb_path_query(plan, 'strict $.**?(exists(@."Node Type"))') AS node,
       coalesce(node->>'Custom Plan Provider', node->>'Node Type') AS name
  WHERE name ~ 'Scan|Rtscan' AND name !~ 'Foreign'
$$;

-- The whole query that asks a question in a way.
CREATE FUNCTION query_of(q questions, w ways) RETURNS text LANGUAGE sql AS $$
  SELECT CASE
    WHEN w.in_parts THEN format('SELECT %s FROM (%s) AS parts %s', q.combined,
      (SELECT string_agg(format('(SELECT %s FROM flights_%s %s)', q.wanted, n, q.rest), ' UNION ALL ')
       FROM generate_series(1, 2) n),
      q.parts_rest)
    ELSE format('SELECT %s FROM %s %s', q.wanted, w.source, q.rest)
  END
$$;

\if :citus
  \ir demo-citus.sql
\else
  \ir demo-fdw.sql
\endif

-- Asks every question in every way: once for the answer and the plan, then five times, of which the median counts.
CREATE PROCEDURE ask(indexed bool) LANGUAGE plpgsql AS $$
DECLARE
  r record;
  answer text;
  plan jsonb;
  start timestamptz;
  times float8[];
BEGIN
  FOR r IN SELECT q, w, query_of(q, w) AS query FROM questions q, ways w ORDER BY q.id, w.id LOOP
    PERFORM set_config('enable_partitionwise_aggregate', (r.w).partitionwise::text, true);
    EXECUTE format('SELECT md5(string_agg(r::text, '','' ORDER BY r::text)) FROM (%s) r', r.query) INTO answer;
    EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, TIMING off, FORMAT json) ' || r.query INTO plan;
    times := '{}';
    FOR i IN 1..5 LOOP
      start := clock_timestamp();
      EXECUTE r.query;
      times := times || extract(epoch FROM clock_timestamp() - start) * 1000;
    END LOOP;
    INSERT INTO answers VALUES ((r.q).id, (r.w).id, indexed, answer, readers_of_workers(plan), rows_of_workers(plan),
      (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY t) FROM unnest(times) AS t));
  END LOOP;
END $$;

CALL ask(false);
CALL build();
CALL ask(true);

-- Different answers would make the times worthless.
SELECT count(*) > 0 AS wrong FROM (SELECT FROM answers GROUP BY question HAVING count(DISTINCT answer) > 1) AS differing \gset
\if :wrong
  SELECT * FROM answers ORDER BY question, way;
  DO $$ BEGIN RAISE 'the answers differ'; END $$;
\endif

\echo
\echo 'Questions: SELECT wanted FROM flights rest'
SELECT id AS "#", wanted, rest FROM questions ORDER BY id;

\echo 'Plans of one worker, how many rows came from both, and times; rtscan: with an index on each table'
SELECT question AS "#", name AS way, a.plan AS "plan with rtscan", a.fetched AS "rows from both", round(a.milliseconds::numeric, 1) AS ms,
       round(b.milliseconds::numeric, 1) AS "ms, no index"
FROM answers a JOIN answers b USING (question, way) JOIN ways ON way = id
WHERE a.indexed AND NOT b.indexed ORDER BY question, ways.id;

SELECT query_of(q, w) AS query FROM questions q, ways w WHERE q.id = 4 ORDER BY w.id DESC LIMIT 1 \gset
\echo 'Question 4 in the last way'
\echo :query
EXPLAIN (ANALYZE, VERBOSE, COSTS off, TIMING off) :query;
