"""Orders, as an office has them, and the questions of its dashboards."""
from dataclasses import dataclass

CUSTOMERS = 100_000
TABLE = "orders"
KEY = "id"

DEFINITION = ("id bigint NOT NULL, customer_id int NOT NULL, ts timestamptz NOT NULL, status text NOT NULL, amount numeric(10,2) NOT NULL, "
              "country text, attributes jsonb")
# DuckDB has no jsonb.
DUCKDB_DEFINITION = DEFINITION.replace("jsonb", "json")
INDEX = "CREATE INDEX orders_rtscan ON orders USING rtscan (customer_id, ts, status, amount, country) INCLUDE (id)"
BTREES = ("CREATE INDEX orders_ts ON orders (ts)", "CREATE INDEX orders_customer ON orders (customer_id, ts)",
          "CREATE INDEX orders_status ON orders (status, ts)")
CLICKHOUSE_DEFINITION = ("id Int64, customer_id Int32, ts DateTime64(6, '{zone}'), status LowCardinality(String), amount Decimal(10, 2), "
                         "country LowCardinality(Nullable(String)), attributes String")
CLICKHOUSE_ORDER = "ts"
CLICKHOUSE_FILE = "c1 Int64, c2 Int32, c3 String, c4 String, c5 Decimal(10, 2), c6 Nullable(String), c7 String"
CLICKHOUSE_VALUES = "c1, c2, parseDateTime64BestEffort(c3, 6), c4, c5, c6, c7"
# What is copied to the other databases.
COPIED = "id, customer_id, ts AT TIME ZONE 'UTC' || '+00', status, amount, country, attributes"


def rows(count):
    """Return a SELECT of orders of two years, in the order of their times; 2 % of the countries are NULL."""
    return f"""
    SELECT i, (hashint8(i) & 2147483647) % {CUSTOMERS}, timestamptz '2024-01-01 00:00+00' + make_interval(secs => i * 63072000.0 / {count}),
        (ARRAY['paid', 'paid', 'paid', 'shipped', 'shipped', 'shipped', 'shipped', 'open', 'cancelled', 'returned', 'refunded'])
            [1 + (hashint8(i * 7 + 1) & 2147483647) % 11],
        (5 + (hashint8(i * 3 + 2) & 2147483647) % 30000 / 7.0)::numeric(10,2),
        (ARRAY['DE', 'DE', 'DE', 'AT', 'CH', 'FR', 'NL', 'PL', 'IT', 'ES', 'GB', 'US', 'CZ', 'DK', 'SE'])
            [1 + (hashint8(i * 5 + 3) & 2147483647) % 15] || CASE WHEN i % 50 = 0 THEN NULL ELSE '' END,
        jsonb_build_object('channel', (ARRAY['app', 'web', 'shop', 'phone'])[1 + i % 4], 'campaign', (hashint8(i) & 2147483647) % 600)
    FROM generate_series(1, {count}) i"""


@dataclass(frozen=True)
class Question:
    """A query, and the words of DuckDB and ClickHouse for it if they are others. One with parameters is prepared, and its plan is generic."""
    name: str
    sql: str
    duckdb: str = ""
    clickhouse: str = ""
    is_ordered: bool = False
    parameters: str = ""


def ask(*arguments, **named):
    return Question(*arguments, **named)


MONTH = "ts >= '2025-11-01' AND ts < '2025-12-01'"
YEAR = "ts >= '2025-01-01' AND ts < '2026-01-01'"
BERLIN = "ts AT TIME ZONE 'Europe/Berlin'"


def of_conditions():
    yield ask("count of all", "SELECT count(*) FROM orders")
    yield ask("count of three conditions", f"SELECT count(*) FROM orders WHERE {MONTH} AND status = 'paid' AND country = 'DE'")
    yield ask("sum of a month", f"SELECT sum(amount), count(*) FROM orders WHERE {MONTH}")
    yield ask("average of a customer", "SELECT avg(amount), count(*) FROM orders WHERE customer_id = 4711")
    yield ask("large amounts of two states", "SELECT count(*), max(amount) FROM orders WHERE amount > 4000 AND status IN ('open', 'returned')")
    yield ask("country is not known", "SELECT count(*) FROM orders WHERE country IS NULL AND amount < 100")
    yield ask("a day", "SELECT count(*) FROM orders WHERE ts::date = '2025-11-03'")
    yield ask("hours of work", "SELECT count(*) FROM orders WHERE extract(hour FROM ts) BETWEEN 9 AND 16")
    yield ask("weekends", f"SELECT sum(amount) FROM orders WHERE extract(isodow FROM ts) >= 6 AND {YEAR}")
    yield ask("`ILIKE` on a status", "SELECT count(*) FROM orders WHERE status ILIKE 'cancel%'")
    yield ask("`lower` of a status", "SELECT sum(amount) FROM orders WHERE lower(status) = 'open'")
    yield ask("a regular expression", "SELECT count(*) FROM orders WHERE status ~ '^re'", "SELECT count(*) FROM orders WHERE regexp_matches(status, '^re')",
              "SELECT count(*) FROM orders WHERE match(status, '^re')")
    yield ask("length of a text", "SELECT count(*) FROM orders WHERE length(status) > 5")
    yield ask("`coalesce` of a text", "SELECT count(*) FROM orders WHERE coalesce(country, '') <> ''")
    yield ask("`CASE` as a condition", "SELECT count(*) FROM orders WHERE CASE WHEN country IN ('DE', 'AT', 'CH') THEN 'DACH' ELSE 'else' END = 'DACH'")
    yield ask("not like", "SELECT count(*) FROM orders WHERE status NOT LIKE '%ed' AND amount > 100")
    yield ask("count(id)", f"SELECT count(id) FROM orders WHERE {YEAR} AND status = 'open'")
    yield ask("the last 30 days of a state", "SELECT count(*), sum(amount) FROM orders WHERE ts >= timestamptz '2025-12-31' - interval '30 days' AND status = 'returned'",
              clickhouse="SELECT count(*), sum(amount) FROM orders WHERE ts >= toDateTime('2025-12-31') - interval '30 days' AND status = 'returned'")


def of_times():
    yield ask("days of all", "SELECT date_trunc('day', ts) AS d, count(*), sum(amount) FROM orders GROUP BY 1 ORDER BY 1")
    yield ask("days of a month", f"SELECT date_trunc('day', ts) AS d, count(*), sum(amount) FROM orders WHERE {MONTH} GROUP BY 1 ORDER BY 1")
    yield ask("hours of a month", f"SELECT date_trunc('hour', ts) AS h, count(*) FROM orders WHERE {MONTH} GROUP BY 1 ORDER BY 1")
    yield ask("months of all", "SELECT date_trunc('month', ts) AS m, sum(amount) FROM orders GROUP BY 1 ORDER BY 1")
    yield ask("weeks of a state", "SELECT date_trunc('week', ts) AS w, count(*) FROM orders WHERE status = 'returned' GROUP BY 1 ORDER BY 1")
    yield ask("quarters and states", "SELECT date_trunc('quarter', ts) AS q, status, sum(amount) FROM orders GROUP BY 1, 2 ORDER BY 1, 2")
    yield ask("dates of a year", f"SELECT ts::date AS d, count(*) FROM orders WHERE {YEAR} GROUP BY 1 ORDER BY 1")
    yield ask("hours of the day", "SELECT extract(hour FROM ts) AS h, count(*), avg(amount) FROM orders GROUP BY 1 ORDER BY 1")
    yield ask("days of the week and hours", "SELECT extract(isodow FROM ts) AS d, extract(hour FROM ts) AS h, count(*) FROM orders GROUP BY 1, 2 ORDER BY 1, 2")
    yield ask("`to_char` months", "SELECT to_char(ts, 'YYYY-MM') AS m, count(*), sum(amount) FROM orders GROUP BY 1 ORDER BY 1",
              "SELECT strftime(ts, '%Y-%m') AS m, count(*), sum(amount) FROM orders GROUP BY 1 ORDER BY 1",
              "SELECT formatDateTime(ts, '%Y-%m') AS m, count(*), sum(amount) FROM orders GROUP BY 1 ORDER BY 1")
    yield ask("days in Berlin", f"SELECT date_trunc('day', {BERLIN}) AS d, sum(amount) FROM orders GROUP BY 1 ORDER BY 1")
    yield ask("dates in Berlin", f"SELECT ({BERLIN})::date AS d, count(*) FROM orders WHERE {YEAR} GROUP BY 1 ORDER BY 1")
    yield ask("hours in Berlin", f"SELECT extract(hour FROM {BERLIN}) AS h, count(*) FROM orders GROUP BY 1 ORDER BY 1")
    yield ask("quarters of an hour", f"SELECT date_bin('15 minutes', ts, timestamptz '2024-01-01') AS b, count(*) FROM orders WHERE {MONTH} GROUP BY 1 ORDER BY 1",
              f"SELECT time_bucket(INTERVAL '15 minutes', ts, timestamptz '2024-01-01') AS b, count(*) FROM orders WHERE {MONTH} GROUP BY 1 ORDER BY 1",
              f"SELECT toStartOfInterval(ts, interval 15 minute) AS b, count(*) FROM orders WHERE {MONTH} GROUP BY 1 ORDER BY 1")
    yield ask("days with much revenue", "SELECT date_trunc('day', ts) AS d, sum(amount) FROM orders GROUP BY 1 HAVING sum(amount) > 5000000 ORDER BY 2 DESC")
    yield ask("a running sum by days", f"SELECT d, sum(s) OVER (ORDER BY d) FROM (SELECT date_trunc('day', ts) AS d, sum(amount) AS s FROM orders WHERE {YEAR} GROUP BY 1) q ORDER BY 1")
    yield ask("months of years", "SELECT extract(year FROM ts) AS y, extract(month FROM ts) AS m, count(*) FROM orders GROUP BY 1, 2 ORDER BY 1, 2")


def of_groups():
    yield ask("states", "SELECT status, count(*), sum(amount) FROM orders GROUP BY 1 ORDER BY 1")
    yield ask("countries and states", f"SELECT country, status, count(*), avg(amount) FROM orders WHERE {YEAR} GROUP BY 1, 2 ORDER BY 1, 2")
    yield ask("customers", "SELECT customer_id, count(*), sum(amount) FROM orders GROUP BY 1")
    yield ask("top 10 customers by revenue", "SELECT customer_id, sum(amount) FROM orders GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10", is_ordered=True)
    yield ask("top 10 customers of a month", f"SELECT customer_id, sum(amount), count(*) FROM orders WHERE {MONTH} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10", is_ordered=True)
    yield ask("customers with many orders", "SELECT customer_id, count(*) FROM orders GROUP BY 1 HAVING count(*) > 36 ORDER BY 2 DESC, 1", is_ordered=True)
    yield ask("classes of amounts", "SELECT width_bucket(amount, 0, 5000, 10) AS b, count(*) FROM orders GROUP BY 1 ORDER BY 1",
              *2 * ["SELECT floor(amount / 500)::int + 1 AS b, count(*) FROM orders GROUP BY 1 ORDER BY 1"])
    yield ask("hundreds", "SELECT floor(amount / 100) * 100 AS b, count(*) FROM orders GROUP BY 1 ORDER BY 1")
    yield ask("regions by `CASE`", "SELECT CASE WHEN country IN ('DE', 'AT', 'CH') THEN 'DACH' WHEN country IS NULL THEN '?' ELSE 'else' END AS r, sum(amount) FROM orders GROUP BY 1 ORDER BY 1")
    yield ask("initials", "SELECT left(status, 1) AS i, count(*) FROM orders GROUP BY 1 ORDER BY 1")
    yield ask("pivot by `FILTER`", f"SELECT country, count(*) FILTER (WHERE status = 'open'), count(*) FILTER (WHERE status = 'returned'), sum(amount) FILTER (WHERE status = 'paid') FROM orders WHERE {YEAR} GROUP BY 1 ORDER BY 1")
    yield ask("rollup", f"SELECT country, status, count(*) FROM orders WHERE {MONTH} GROUP BY ROLLUP (country, status) ORDER BY 1, 2")


def of_distinct_values():
    yield ask("customers of a month", f"SELECT count(DISTINCT customer_id) FROM orders WHERE {MONTH}")
    yield ask("active customers by months", "SELECT date_trunc('month', ts) AS m, count(DISTINCT customer_id) FROM orders GROUP BY 1 ORDER BY 1")
    yield ask("number of countries", "SELECT count(DISTINCT country) FROM orders WHERE amount > 3000")
    yield ask("the countries", "SELECT DISTINCT country FROM orders ORDER BY 1")
    yield ask("countries and states that are", f"SELECT DISTINCT country, status FROM orders WHERE {MONTH} ORDER BY 1, 2")
    yield ask("days that are", f"SELECT DISTINCT ts::date FROM orders WHERE status = 'returned' AND {YEAR} ORDER BY 1")
    yield ask("`string_agg` of countries", f"SELECT string_agg(DISTINCT country, ',' ORDER BY country) FROM orders WHERE {MONTH}",
              clickhouse=f"SELECT arrayStringConcat(arraySort(groupUniqArray(country)), ',') FROM orders WHERE {MONTH}")
    yield ask("first and last", f"SELECT status, min(ts), max(ts), min(country), max(country) FROM orders WHERE {YEAR} GROUP BY 1 ORDER BY 1")
    yield ask("most frequent country", f"SELECT mode() WITHIN GROUP (ORDER BY country) FROM orders WHERE {MONTH}", f"SELECT mode(country) FROM orders WHERE {MONTH}",
              f"SELECT country FROM orders WHERE {MONTH} AND country IS NOT NULL GROUP BY country ORDER BY count(*) DESC, country LIMIT 1")


def of_statistics():
    yield ask("median amount", "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY amount) FROM orders",
              "SELECT quantile_disc(amount, 0.5) FROM orders", "SELECT quantileExactLow(0.5)(amount) FROM orders")
    yield ask("percentiles by states", f"SELECT status, percentile_cont(0.95) WITHIN GROUP (ORDER BY amount) FROM orders WHERE {YEAR} GROUP BY 1 ORDER BY 1",
              f"SELECT status, quantile_cont(amount::double, 0.95) FROM orders WHERE {YEAR} GROUP BY 1 ORDER BY 1",
              f"SELECT status, quantileExactInclusive(0.95)(amount::double) FROM orders WHERE {YEAR} GROUP BY 1 ORDER BY 1")
    yield ask("deviation", "SELECT stddev(amount), avg(amount) FROM orders", "SELECT stddev(amount::double), avg(amount) FROM orders")
    yield ask("share of returns by months", "SELECT date_trunc('month', ts) AS m, 100.0 * count(*) FILTER (WHERE status = 'returned') / count(*) FROM orders GROUP BY 1 ORDER BY 1")


def of_rows():
    yield ask("the last 20 orders", "SELECT id, ts, amount FROM orders ORDER BY ts DESC LIMIT 20", is_ordered=True)
    yield ask("page and total", f"SELECT id, ts, amount, count(*) OVER () FROM orders WHERE {MONTH} AND status = 'open' ORDER BY ts DESC LIMIT 20", is_ordered=True)
    yield ask("the largest orders", f"SELECT id, amount, country FROM orders WHERE {YEAR} ORDER BY amount DESC, id LIMIT 10", is_ordered=True)
    yield ask("orders of a customer", "SELECT id, ts, status, amount FROM orders WHERE customer_id = 815 ORDER BY ts DESC", is_ordered=True)
    yield ask("latest order of each customer", "SELECT DISTINCT ON (customer_id) customer_id, ts, amount FROM orders ORDER BY customer_id, ts DESC", is_ordered=True)
    yield ask("latest order of 5 customers", "SELECT DISTINCT ON (customer_id) customer_id, ts, amount FROM orders WHERE customer_id IN (3, 99, 4711, 815, 77777) ORDER BY customer_id, ts DESC", is_ordered=True)
    yield ask("latest order by `row_number`", f"SELECT customer_id, ts, status FROM (SELECT customer_id, ts, status, row_number() OVER (PARTITION BY customer_id ORDER BY ts DESC) AS n FROM orders WHERE {MONTH}) q WHERE n = 1")
    yield ask("latest time of each customer", "SELECT customer_id, max(ts) FROM orders GROUP BY 1")
    yield ask("optional parameters", "SELECT count(*), sum(amount) FROM orders WHERE ($1::text IS NULL OR country = $1) AND ($2::text IS NULL OR status = $2)",
              *2 * ["SELECT count(*), sum(amount) FROM orders WHERE country = 'DE'"], parameters="'DE', NULL")


def questions():
    """Yield all questions."""
    for part in (of_conditions, of_times, of_groups, of_distinct_values, of_statistics, of_rows):
        yield from part()
