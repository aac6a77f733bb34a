-- Aggregates of many rows at once, by masks: of integers, floats and expressions, with NULLs, NaNs,
-- infinities and overflow.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtscan;
CREATE SCHEMA reals;
SET search_path = reals, public;
SET rtscan.merge_worker = off;
SET jit = off;

\getenv directory PG_ABS_SRCDIR
\set ECHO none
\i :directory/sql/include/outcomes.psql
\i :directory/sql/include/singly.psql
\set ECHO all
\pset format unaligned
\pset tuples_only on
-- two chunks and a part of a word. Each column but k has NULLs, s as good as no others. u, l: integers of
-- which one in the second chunk
-- is at the end of its type; w: floats some of which are not numbers
CREATE TABLE many (k int, v int2, g int, s int, u int4, l int8, n numeric(10, 2), f float8, e float4, w float8)
	WITH (autovacuum_enabled = off);
INSERT INTO many
SELECT h % 1000, nullif(h % 201, 7) - 100, nullif(h % 200, 3), CASE WHEN h % 5000 = 0 THEN h % 3 END,
	CASE i WHEN 66000 THEN 2147483647 ELSE nullif(h % 40000, 4) - 20000 END,
	CASE i WHEN 66000 THEN -9223372036854775807 ELSE nullif(h, 9)::int8 * 4 END,
	CASE WHEN h % 29 > 0 THEN (h % 100000 - 50000) / 100.0 END,
	CASE WHEN h % 31 > 0 THEN (h % 4096 - 2048) / 16.0 END,
	CASE WHEN h % 37 > 0 THEN (h % 512) / 8.0 END,
	CASE WHEN i BETWEEN 5000 AND 5100 THEN ('{NaN,Infinity,-Infinity,1e300,-1e300,1e-300,-0}'::float8[])[i % 7 + 1]
		ELSE h % 9 END
FROM (SELECT i, abs(hashint4(i)) FROM generate_series(1, 70001) i) v (i, h);
CREATE INDEX many_idx ON many USING rtscan (k, v, u) INCLUDE (g, s, l, n, f, e, w);
VACUUM ANALYZE many;
INSERT INTO many SELECT 5, 1, 2, 3, 4, 5, 6.5, 7.5, 8.5, 9.5 FROM generate_series(1, 100);
DELETE FROM many WHERE k = 17;

-- rows in stretches and in lists, all that the index finds and those that a condition leaves, of all groups
-- and of one
CREATE TABLE tails (tail text);
INSERT INTO tails VALUES ('FROM many'), ('FROM many WHERE k < 600'), ('FROM many WHERE k < 30 AND v > 0'),
	('FROM many WHERE k = 17'),
	('FROM many WHERE v + 0 > g'), ('FROM many WHERE k < 600 AND v < u AND NOT g > 50'),
	('FROM many WHERE s + 0 = 1 OR v > n'),
	('FROM many WHERE k > 100 AND v * 2::int8 + g * 3 - u < 100'), ('FROM many WHERE f > e'),
	('FROM many WHERE g + 0 < 0'),
	('FROM many WHERE k < 50 GROUP BY g % 3');
SELECT differs(format('SELECT %s %s', a, tail)) FROM tails, unnest(ARRAY[
	'count(*), count(v), count(s), sum(v), sum(g), avg(s), sum(n), avg(l)', 'min(v), max(g), min(s), max(l),
	min(f), max(n)',
	'stddev(v), variance(g), var_pop(s), var_samp(u), stddev_pop(l), variance(n)', 'sum(v * g + 1), avg(v - g),
	variance(v * g)',
	'stddev(v - g), var_pop(2 * v::int8 - 3 * g)', 'sum(f), avg(f), sum(e), avg(e), sum(f - e), avg(v::float8)',
	'count(*) FILTER (WHERE v > g), sum(v) FILTER (WHERE f > e), max(g) FILTER (WHERE v % 2 = 0)',
	'var_pop(0.5::float8), corr(0.5::float8, g), regr_sxx(g, 0.5), regr_count(f, s)']) a;
-- others have as many digits as these sums have in any order
SET extra_float_digits = -5;
SELECT differs(format('SELECT %s %s', a, tail)) FROM tails, unnest(ARRAY[
	'stddev(f), var_pop(e), variance(f * 2 + 1), stddev(v::float8)', 'corr(v, g), corr(f, v), covar_pop(f, e),
	covar_samp(g, u)',
	'regr_slope(f, e), regr_intercept(v, g), regr_r2(f, e), regr_avgx(f, e), regr_avgy(f, e), regr_sxy(v, g),
	regr_syy(g, 0.5)',
	'corr(v, g) FILTER (WHERE f > e), stddev(v) FILTER (WHERE g IS NULL), stddev(f) FILTER (WHERE s = 1)']) a;
SELECT singly(format('SELECT %s %s', a, tail)) FROM tails, unnest(ARRAY['sum(v * g + 1), stddev(v), corr(v, g)']) a
WHERE tail !~ 'GROUP';

-- infinities and NaNs, and where squares overflow, are PostgreSQL's
SELECT differs(format('SELECT %s FROM many WHERE k < %s', a, k), NULL)
FROM unnest(ARRAY['sum(w)', 'avg(w)', 'variance(w)', 'corr(w, v)', 'corr(v, w)', 'regr_sxx(v, w)',
	'covar_pop(w, w)', 'sum(w) FILTER (WHERE w < 10)',
	'sum(w) FILTER (WHERE w > -10)', 'sum(w) FILTER (WHERE w >= 1e300)', 'variance(w) FILTER (WHERE w >= 1e300)',
	'covar_pop(v, w) FILTER (WHERE abs(w) < 10)', 'sum(f * 1e300)', 'variance(f * 1e200)', 'corr(v, f * 1e200)',
	'sum(w * 1e300)',
	'sum(f * 1e308) FILTER (WHERE f > 0)', 'avg(CASE WHEN f > 0 THEN 1.7e308 ELSE -1.7e308 END)']) a,
	unnest('{30,1000}'::int[]) k;
RESET extra_float_digits;
-- 0 has a sign
SELECT differs('SELECT sum(-0.0::float8), sum(f * 0) FILTER (WHERE f < 0),
	sum(w * 0) FILTER (WHERE w = 0) FROM many');

-- integers, of a chunk, of a batch and of no row that may be too large
SELECT differs(format('SELECT %s FROM many WHERE %s', a, condition), NULL)
FROM unnest(ARRAY['sum(u + 1)', 'sum(u + v)', 'sum(u - g)', 'sum(u * 100000)', 'sum(l * 1000)', 'sum(l - 2)',
	'sum(-l)', 'sum(abs(u) + v)',
	'variance(u * v::int8)', 'count(*) FILTER (WHERE u + 1 > v)', 'sum(v * v)', 'sum(v * 400::int2)',
	'sum((u + 5) - 5)', 'sum(u::int2)',
	'sum(l * l)', 'sum(u::numeric * l)', 'sum(2 * u + 3 * v - g)', 'sum(g - 3 * u)', 'sum(2 * u - u)',
	'sum(-2 * l - 5 * v)', 'sum(2 * (3 * g) + u * 70000 - u * 70000)', 'sum(2 * u::int8 - u * -1::int8)']) a,
	unnest(ARRAY['true', 'u < 30000', 'k < 100', 'k < 100 AND u + 0 < 30000']) condition;
-- none, as rows that the index leaves out are no reason; and none but some of the batch that has the ends
SELECT singly('SELECT sum(u + 1), sum(l * 1000000) FROM many WHERE u < 30000 AND k >= 0');
SELECT singly('SELECT sum(l * 1000000) FROM many WHERE k >= 0 AND (u + 0 < 30000) IS TRUE')::int BETWEEN 1 AND 1024;
SELECT differs('SELECT count(*) FROM many WHERE 2 * u::int8 + 3 * v - g < 1000');
SELECT differs('SELECT count(*) FROM many WHERE v < g AND k < 500');
DROP SCHEMA reals CASCADE;
