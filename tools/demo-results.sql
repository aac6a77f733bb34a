-- Run by tools/demo at its end: the results, and the plan of a query with rtscan's index.

\pset footer off

SELECT pg_size_pretty(pg_table_size('flights')) AS table_size \gset
\echo
\echo 'Indexes: each was built and used without the others; the table has' :table_size
SELECT name, replace(array_to_string(ddl, E'\n'), 'CREATE INDEX ON flights ', '') AS "CREATE INDEX ON flights",
       round(extract(epoch FROM build), 1) AS "build, s", pg_size_pretty(size) AS size
FROM indexes WHERE ddl <> '{}' ORDER BY id;

\echo 'rtscan beside no index and the best of the other indexes: milliseconds, and how many times faster it is'
SELECT question AS "#", flights, round(none::numeric, 2) AS "no index", round(best::numeric, 2) AS "best other index",
       best_name AS "which is", ms AS rtscan, "x no index", "x best other"
FROM results
JOIN indexes ON index = id AND name = 'rtscan'
JOIN others ON question = "#"
JOIN answers USING (question, index)
ORDER BY question;

SELECT format('SELECT %s FROM flights WHERE %s', wanted, condition) AS query FROM questions WHERE id = 7 \gset
\echo 'Question 7 with rtscan:' :query
EXPLAIN (ANALYZE, BUFFERS) :query;
