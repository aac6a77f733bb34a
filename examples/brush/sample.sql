-- Invented flights, for the test: written as tools/flights writes real ones.
COPY (
  SELECT date, delay, distance, extract(hour FROM date)::int * 60 + extract(minute FROM date)::int AS minute, 'AAA' AS origin, 'ZZZ' AS destination
  FROM (
    SELECT timestamp '2001-01-01' + i / 200000.0 * interval '181 days' AS date,
           (-20 - 25 * ln(1 - random()))::int AS delay,
           (50 + 3000 * random() ^ 2)::int AS distance
    FROM generate_series(0, 199999) AS i
  ) AS flights
) TO STDOUT (FORMAT csv, HEADER);
