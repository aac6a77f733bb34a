-- The page's table and index; psql's standard input has the flights, as tools/flights writes them.

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;

-- Flights that are inserted are to become all-visible soon: the index then answers alone.
CREATE TABLE flights (
  date timestamp, delay int, distance int, minute int, origin text, destination text,
  day int GENERATED ALWAYS AS (date::date - date '2001-01-01') STORED
) WITH (autovacuum_vacuum_insert_threshold = 20000, autovacuum_vacuum_insert_scale_factor = 0);
\copy flights (date, delay, distance, minute, origin, destination) FROM pstdin (FORMAT csv, HEADER)

-- Keys are what brushes filter. Histograms group by expressions of keys; what is only shown is INCLUDEd.
CREATE INDEX flights_brush ON flights USING rtscan (delay, distance, minute, day) INCLUDE (origin, destination);
VACUUM ANALYZE flights;
