-- An expression that the index stores is matched in every place of a query: conditions, GROUP BY, DISTINCT,
-- arguments of
-- aggregates, ORDER BY, join keys, windows.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA expressions;
SET search_path = expressions, public;
SET rtscan.merge_worker = off;
SET max_parallel_workers_per_gather = 0;
SET TimeZone = 'America/New_York';

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/outcomes.psql
\i :directory/sql/include/plans.psql
\set ECHO all
CREATE TABLE orders (id int, at timestamptz, country text, amount numeric(10, 2), attributes jsonb);
INSERT INTO orders
SELECT i, timestamptz '2025-03-28 12:00+00' + i * interval '97 s', (ARRAY['DE', 'AT', NULL, 'FR'])[1 + i % 4],
		i % 700 / 8.0,
	jsonb_build_object('channel', (ARRAY['app', 'web', 'shop', NULL])[1 + i * 7 % 4], 'campaign', i % 60)
FROM generate_series(1, 5000) i;
CREATE TABLE channels (name text PRIMARY KEY, kind text);
INSERT INTO channels VALUES ('app', 'online'), ('web', 'online'), ('shop', 'offline'), ('phone', 'offline');
CREATE INDEX orders_scan ON orders
	USING rtscan ((attributes->>'channel'), date_trunc('day', at AT TIME ZONE 'Europe/Berlin'), country)
	INCLUDE (id, amount);
VACUUM ANALYZE orders, channels;

-- RtscanAggregate has all that these need: neither the time nor the attributes themselves are in the index.
SELECT differs(q) FROM (VALUES
	('SELECT count(*) FROM orders WHERE attributes->>''channel'' = ''app'''),
	('SELECT sum(amount) FROM orders WHERE attributes->>''channel'' IS NULL OR attributes->>''channel'' LIKE ''s%'''),
	('SELECT attributes->>''channel'', count(*), sum(amount) FROM orders GROUP BY 1'),
	('SELECT date_trunc(''day'', at AT TIME ZONE ''Europe/Berlin''), country, sum(amount) FROM orders GROUP BY 1, 2'),
	('SELECT date_trunc(''day'', at AT TIME ZONE ''Europe/Berlin'') AS d, count(*) FROM orders
		WHERE date_trunc(''day'', at AT TIME ZONE ''Europe/Berlin'')
		BETWEEN ''2025-03-29'' AND ''2025-03-31'' GROUP BY 1'),
	('SELECT DISTINCT attributes->>''channel'', country FROM orders'),
	('SELECT country, count(DISTINCT attributes->>''channel'') FROM orders GROUP BY 1'),
	('SELECT max(attributes->>''channel''), min(date_trunc(''day'', at AT TIME ZONE ''Europe/Berlin'')) FROM orders'),
	('SELECT upper(attributes->>''channel''), count(*) FROM orders GROUP BY 1
		HAVING max(attributes->>''channel'') > ''b'''),
	('SELECT sum(amount) FILTER (WHERE attributes->>''channel'' = ''web'') FROM orders'),
	('SELECT kind, sum(amount) FROM orders JOIN channels ON name = attributes->>''channel'' GROUP BY 1'),
	('SELECT count(*) FROM orders WHERE attributes->>''channel'' IN (SELECT name FROM channels
		WHERE kind = ''online'')'),
	('SELECT extract(month FROM date_trunc(''day'', at AT TIME ZONE ''Europe/Berlin'')), count(*) FROM orders
		GROUP BY 1'))
	q (q);

-- RtscanScan orders rows by expressions.  It fetches the rows that are returned, since plans of PostgreSQL carry
-- columns
-- between nodes, not expressions.
CREATE FUNCTION fetched(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	shown text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		shown := shown || coalesce(
			substring(line from 'Sort |RtscanScan|Order: .*|First Rows: .*|Heap Fetches: \d+') || '; ',
			'');
	END LOOP;
	RETURN shown;
END
$$;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_sort = off;
SELECT fetched(q) FROM (VALUES
	('SELECT id, attributes->>''channel'' FROM orders WHERE country = ''DE''
		ORDER BY attributes->>''channel'' LIMIT 5'),
	('SELECT id FROM orders ORDER BY date_trunc(''day'', at AT TIME ZONE ''Europe/Berlin'') DESC, id LIMIT 5'),
	('SELECT DISTINCT ON (attributes->>''channel'') attributes->>''channel'', id FROM orders
		ORDER BY attributes->>''channel'', date_trunc(''day'', at AT TIME ZONE ''Europe/Berlin'') DESC, id')) q (q);
SELECT DISTINCT ON (attributes->>'channel') attributes->>'channel', id FROM orders
ORDER BY attributes->>'channel', date_trunc('day', at AT TIME ZONE 'Europe/Berlin') DESC, id;

-- PostgreSQL has no expressions in INCLUDE.
\set VERBOSITY sqlstate
CREATE INDEX ON orders USING rtscan (id) INCLUDE ((attributes->>'channel'));
\set VERBOSITY default
DROP SCHEMA expressions CASCADE;
