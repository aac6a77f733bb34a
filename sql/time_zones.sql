-- Functions of time in all time zones, over 250 years and around changes of the clock: those that rtscan calculates for
-- many rows at a time give what PostgreSQL's functions give.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA time_zones;
SET search_path = time_zones, public;
SET rtscan.merge_worker = off;
SET max_parallel_workers_per_gather = 0;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET rtscan.enable_scan = off;

CREATE TABLE times (id int, t timestamptz, l timestamp, d date, s text);
CREATE INDEX times_idx ON times USING rtscan (t, l, d, id, s);
INSERT INTO times
SELECT row_number() OVER (ORDER BY t), t, t AT TIME ZONE 'UTC', (t AT TIME ZONE 'UTC')::date, (ARRAY['a', 'b',
	'c'])[1 + extract(day FROM t)::int % 3]
FROM (SELECT timestamptz '1850-01-01 00:00+00' + i * interval '131 days 7 hours 11 minutes 13.000007 seconds'
	FROM generate_series(0, 695) i
	UNION ALL SELECT generate_series(timestamptz '2025-03-28 00:00+00', '2025-04-07', '53 minutes')
	UNION ALL SELECT generate_series(timestamptz '2025-10-24 00:00+00', '2025-11-04', '59 minutes')
	UNION ALL SELECT generate_series(timestamptz '2011-12-28 00:00+00', '2012-01-01', '1 hour')) u (t)
ORDER BY t;
VACUUM ANALYZE times;

-- A query whose answer depends on all values of an expression, and on their rows.
CREATE FUNCTION weighed(VARIADIC expressions text[]) RETURNS text LANGUAGE sql AS $$
	SELECT 'SELECT ' || string_agg(format('sum((%s) * (id %% 97 + 1))', e), ', ') || ' FROM times WHERE id > 0'
		FROM unnest(expressions) e
$$;
CREATE FUNCTION of_times() RETURNS text[] LANGUAGE sql AS $$
	SELECT array_agg(format('extract(epoch FROM date_trunc(%L, t))', u))
		|| ARRAY['extract(epoch FROM t::timestamp)', 'extract(epoch FROM l::timestamptz)',
			'extract(epoch FROM d::timestamptz)', 't::date - d',
			'extract(epoch FROM date_bin(''17 minutes'', t, ''1800-01-01''))', 'extract(epoch FROM t)']
	FROM unnest(ARRAY['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year', 'decade', 'century',
		'millennium']) u
$$;
CREATE FUNCTION of_units() RETURNS text[] LANGUAGE sql AS $$
	SELECT array_agg(format('extract(%s FROM t)', u) ORDER BY u)
	FROM unnest(ARRAY['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year', 'decade', 'century',
		'millennium', 'isoyear', 'dow', 'isodow', 'doy']) u
$$;
CREATE FUNCTION of_zone(zone text) RETURNS text[] LANGUAGE sql AS $$
	SELECT array_agg(format(e, zone))
	FROM unnest(ARRAY['extract(epoch FROM t AT TIME ZONE %L)', 'extract(epoch FROM l AT TIME ZONE %L)',
		'(t AT TIME ZONE %L)::date - d',
		'extract(hour FROM t AT TIME ZONE %L)', 'extract(epoch FROM date_trunc(''month'', t, %L))',
			'extract(epoch FROM date_trunc(''hour'', t, %L))']) e
$$;
\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/answers.psql
\set ECHO all
-- How many rows were evaluated one by one?
CREATE FUNCTION evaluated_singly(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'Custom Scan|Evaluated Singly' THEN
			RETURN NEXT regexp_replace(line, ' \(actual.*', '');
		END IF;
	END LOOP;
END
$$;

-- All zones; of those that have the same times, one.
CREATE FUNCTION zones_that_differ() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	zone text;
BEGIN
	FOR zone IN
		SELECT min(name)
		FROM (SELECT name, (SELECT md5(string_agg((t AT TIME ZONE name)::text, ',' ORDER BY id)) FROM times)
			AS all_times FROM pg_timezone_names) z
		GROUP BY all_times ORDER BY 1
	LOOP
		PERFORM set_config('timezone', zone, true);
		IF differs(weighed(VARIADIC of_times())) OR differs(weighed(VARIADIC of_units()))
			OR differs(weighed(VARIADIC of_zone(zone))) THEN
			RETURN NEXT zone;
		END IF;
	END LOOP;
END
$$;
SELECT zones_that_differ();
SET timezone = 'Europe/Berlin';
SELECT evaluated_singly(weighed(VARIADIC of_times()));
SELECT evaluated_singly(weighed(VARIADIC of_units()));
SELECT evaluated_singly(weighed(VARIADIC of_zone('America/New_York')));

-- Abbreviations, offsets and names that are none; an abbreviation whose meaning has changed is left to PostgreSQL.
SELECT z, differs(weighed(VARIADIC of_zone(z))) FROM unnest(ARRAY['UTC', 'cet', 'EST', 'PDT', '+05:30', 'UTC-3',
	'<X>+7:45', 'MSK', 'europe/berlin']) z;
SET timezone = 'Europe/Berlin';
SELECT sum(extract(hour FROM t AT TIME ZONE 'Nowhere/Land')) FROM times;
SELECT count(*) FROM times WHERE extract(hour FROM t AT TIME ZONE 'Nowhere/Land') = 1 AND id < 0;	-- no row, no error

-- The session's zone changes between executions of a prepared query.
SET plan_cache_mode = force_generic_plan;
PREPARE hours AS SELECT sum(extract(hour FROM t) * id) FROM times;
SET timezone = 'Asia/Kathmandu';
EXECUTE hours;
SET timezone = 'America/St_Johns';
EXECUTE hours;
SET rtscan.enable_aggregate = off;
SET enable_seqscan = on;
EXECUTE hours;
SET timezone = 'Asia/Kathmandu';
EXECUTE hours;
RESET rtscan.enable_aggregate;
RESET plan_cache_mode;
SET enable_seqscan = off;

-- Groups: a key is evaluated once for each unit of time that determines it, with columns beside it.
CREATE FUNCTION groups_differ(keys text) RETURNS bool LANGUAGE sql AS $$
	SELECT differs(format('SELECT array_agg(r ORDER BY r)
		FROM (SELECT ROW(%s, count(*), sum(id), min(t))::text AS r FROM times GROUP BY %s) g', keys, keys))
$$;
SET timezone = 'Europe/Berlin';
SELECT k, groups_differ(k)
FROM unnest(ARRAY['date_trunc(''day'', t)', 'date_trunc(''month'', t), s', 'date_trunc(''hour'', t)', 't::date, s',
	'to_char(t, ''YYYY-MM'')',
	'to_char(t, ''Day HH24'')', 'to_char(l, ''IYYY-IW''), s', 'to_char(t, ''HH:MI am TZ'')',
		'extract(isodow FROM t), extract(hour FROM t)',
	'date_part(''month'', t), date_part(''second'', t)', 'date_bin(''15 minutes'', t, ''1700-01-01'')',
		'(t AT TIME ZONE ''Asia/Tokyo'')::date::text, upper(s)',
	'date_trunc(''day'', t, ''Australia/Lord_Howe'')', '''Q'' || extract(quarter FROM t), left(s, 1)', 't::time',
		'CASE WHEN s = ''a'' THEN date_trunc(''year'', t) END',
	'coalesce(nullif(s, ''b''), to_char(t, ''MM''))', 'extract(year FROM t) * 100 + extract(month FROM t)', 'd',
		'date_trunc(''week'', d)']) k;

-- Conditions: comparisons with constants, and with values near now(), imply ranges of the column.
CREATE FUNCTION counts_differ(condition text) RETURNS bool LANGUAGE sql AS $$
	SELECT differs(format('SELECT count(*), sum(id) FROM times WHERE %s', condition))
$$;
CREATE FUNCTION implied(condition text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN SELECT count(*) FROM times WHERE ' || condition LOOP
		IF line ~ 'Implied Ranges: ' THEN
			RETURN true;
		END IF;
	END LOOP;
	RETURN false;
END
$$;
CREATE TABLE conditions AS
	SELECT format(c, o) AS c
	FROM unnest(ARRAY['t::date %s ''2025-03-30''', 'date_trunc(''day'', t) %s ''2025-10-26 00:00 Europe/Berlin''',
			'(t AT TIME ZONE ''Pacific/Apia'')::date %s ''2011-12-29''',
			'date_trunc(''month'', t) %s ''2025-04-01 00:00 Europe/Berlin''',
			'date_trunc(''hour'', t, ''Asia/Kolkata'') %s ''2025-03-30 00:30+00''',
			't AT TIME ZONE ''America/New_York'' %s ''2025-10-26 12:00''', 'l::date %s ''2025-03-30''',
			'date_trunc(''week'', l) %s ''2025-10-27''', 'l::timestamptz %s ''2025-10-26 02:30 Europe/Berlin''',
			'''2025-03-31''::date %s t::date',
			'date_trunc(''quarter'', t) %s date_trunc(''quarter'', now() - interval ''1 month'')',
			't::date %s ''infinity''', 't::date %s ''-infinity''', 'date_trunc(''year'', l) %s ''1893-01-01''',
			't::date %s current_date']) c,
		unnest(ARRAY['=', '<', '<=', '>', '>=', '<>']) o;
SELECT z, c FROM conditions, unnest(ARRAY['Europe/Berlin', 'Pacific/Kiritimati', 'UTC', 'America/Anchorage']) z
WHERE set_config('timezone', z, false) = z AND counts_differ(c);
SET timezone = 'Europe/Berlin';
SELECT c, implied(c) FROM conditions WHERE c !~ '[<>]';
SELECT c, counts_differ(c)
FROM unnest(ARRAY['extract(hour FROM t) BETWEEN 9 AND 16', 'extract(isodow FROM t) >= 6 AND t::date > ''2025-04-01''',
	'extract(year FROM t AT TIME ZONE ''Asia/Tokyo'') = 2025', 'NOT t::date = ''2025-03-30'' OR s = ''a''',
	't::date = ''2025-03-30'' AND 100 / nullif(id % 7, 0) > 20', 'to_char(t, ''YYYY-MM'') = ''2025-03''']) c;

-- Zones written as rules may have offsets of 167 hours.
SET timezone = 'FOO-150BAR-160';
SELECT differs(weighed(VARIADIC of_times())), differs(weighed(VARIADIC of_units())),
	differs(weighed(VARIADIC of_zone('FOO+150')));
SELECT c
FROM conditions, unnest(ARRAY['FOO+150', 'FOO-150BAR-160']) z
WHERE set_config('timezone', z, false) = z AND counts_differ(c);
SET timezone = 'Europe/Berlin';
SELECT counts_differ('(t AT TIME ZONE ''FOO+150'')::date = ''2025-03-30''');

-- Values that are far from now are errors only where PostgreSQL evaluates them.
SELECT count(*) > 1000 FROM times WHERE t::date < current_date + 200000000;
SELECT count(*) > 1000 FROM times WHERE date_trunc('month', t)::date <= current_date + 150000000;
SELECT sum(CASE WHEN id < 0 THEN extract(epoch FROM now() + interval '290000 years')::numeric ELSE 0 END) FROM times;
SELECT count(*) FILTER (WHERE id < 0 AND t < now() + interval '290000 years') FROM times;

-- Infinite times, times before the year 1, and NULLs.
INSERT INTO times VALUES (100001, 'infinity', '-infinity', 'infinity', 'z'), (100002, '-infinity', 'infinity',
	'-infinity', 'z'), (100003, NULL, NULL, NULL, NULL),
	(100004, '0044-03-15 12:00+00 BC', '0044-03-15 BC', '0044-03-15 BC', 'a'), (100005, '200000-01-01',
		'200000-01-01', '200000-01-01', 'a');
VACUUM times;
SELECT k, groups_differ(k)
FROM unnest(ARRAY['date_trunc(''day'', t)', 'date_trunc(''decade'', t), s',
	'date_trunc(''hour'', t, ''Asia/Kolkata'')', 't::date', 'to_char(t, ''YYYY-MM BC'')',
	'extract(week FROM t)', 'date_bin(''1 day'', t, ''1999-01-01'')', 'l::timestamptz', 'd::timestamptz',
		't AT TIME ZONE ''Europe/Berlin''']) k;

SELECT c FROM conditions WHERE counts_differ(c);

-- The planner knows how many groups there are.
CREATE FUNCTION estimated(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	RETURN (plan -> 0 -> 'Plan' ->> 'Plan Rows')::int;
END
$$;
CREATE TABLE orders AS
	SELECT i AS id, timestamptz '2024-01-01 00:00+00' + i * interval '30 minutes' AS ts,
		(i * 7919 % 100000 / 100.0)::numeric(10,2) AS amount, (ARRAY['x', 'y'])[1 + i % 2] AS s
	FROM generate_series(1, 35000) i;
CREATE INDEX orders_idx ON orders USING rtscan (ts, amount, s, id);
VACUUM ANALYZE orders;
SELECT k, estimated(format('SELECT %s, count(*) FROM orders GROUP BY 1', k)) BETWEEN least AND most AS is_right
FROM (VALUES ('date_trunc(''day'', ts)', 725, 735), ('date_trunc(''month'', ts)', 22, 28), ('ts::date', 725, 735),
	('to_char(ts, ''YYYY-MM'')', 725, 735),
	('extract(hour FROM ts)', 24, 25), ('extract(year FROM ts)', 2, 5), ('date_bin(''1 hour'', ts, ''2020-01-01'')',
		17000, 18000),
	('floor(amount / 100)', 10, 12), ('width_bucket(amount, 0, 1000, 20)', 20, 23), ('round(amount, -2)', 10, 12),
		('amount > 5', 2, 3),
	('CASE WHEN amount < 10 THEN ''a'' WHEN amount < 20 THEN ''b'' ELSE ''c'' END', 2, 4), ('id % 10', 10, 20),
		('id / 1000', 35, 37)) v (k, least, most);
SELECT estimated('SELECT date_trunc(''day'', ts), count(*) FROM orders
	WHERE ts >= ''2024-03-01'' AND ts < ''2024-04-01'' GROUP BY 1') BETWEEN 28 AND 36 AS is_right;
DROP SCHEMA time_zones CASCADE;
