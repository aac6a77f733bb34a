-- Run by tools/demo: loads ../flights.csv.

SET client_min_messages = warning;
CREATE EXTENSION rtscan;
CREATE TABLE flights (date timestamp, delay int, distance int, minute int, origin text, destination text);
\copy flights FROM '../flights.csv' (FORMAT csv, HEADER)
VACUUM ANALYZE flights;
