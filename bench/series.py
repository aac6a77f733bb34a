"""A time series of 4,000 hosts, each measured every ten seconds, and what is asked of it."""
from orders import ask

HOSTS = 4_000
TABLE = "readings"
KEY = None

DEFINITION = "host int NOT NULL, ts timestamptz NOT NULL, cpu real NOT NULL, memory real NOT NULL, disk int NOT NULL"
DUCKDB_DEFINITION = DEFINITION
INDEX = "CREATE INDEX readings_rtscan ON readings USING rtscan (host, ts, cpu) INCLUDE (memory)"
BTREES = ("CREATE INDEX readings_host ON readings (host, ts)", "CREATE INDEX readings_ts ON readings (ts)",
          "CREATE INDEX readings_cpu ON readings (cpu, ts)")
CLICKHOUSE_DEFINITION = "host Int32, ts DateTime64(6, '{zone}'), cpu Float32, memory Float32, disk Int32"
CLICKHOUSE_ORDER = "host, ts"
CLICKHOUSE_FILE = "c1 Int32, c2 String, c3 Float32, c4 Float32, c5 Int32"
CLICKHOUSE_VALUES = "c1, parseDateTime64BestEffort(c2, 6), c3, c4, c5"
COPIED = "host, ts AT TIME ZONE 'UTC' || '+00', cpu, memory, disk"


def rows(count):
    """Return a SELECT of readings, in the order of their times; the last one is at 2025-11-30 12:00 UTC."""
    return f"""
    SELECT (i % {HOSTS})::int, timestamptz '2025-11-30 12:00+00' - make_interval(secs => ({count} - i) / {HOSTS} * 10),
        ((hashint8(i) & 2147483647) % 10000 / 100.0)::real, ((hashint8(i / {HOSTS} / 100 * {HOSTS} + i % {HOSTS}) & 2147483647) % 1000)::real,
        ((hashint8(i / 7) & 2147483647) % 500)
    FROM generate_series(1::int8, {count}) i"""


LAST_HOUR = "ts > '2025-11-30 11:00:00+00'"
HALF_A_DAY = "ts >= '2025-11-30 00:00:00+00' AND ts < '2025-11-30 12:00:00+00'"


def questions():
    """Yield all questions."""
    yield ask("last reading of each host", "SELECT DISTINCT ON (host) host, ts, cpu FROM readings ORDER BY host, ts DESC", is_ordered=True)
    yield ask("last reading by `row_number`", "SELECT host, ts, cpu FROM (SELECT host, ts, cpu, row_number() OVER (PARTITION BY host ORDER BY ts DESC) AS n FROM readings) q WHERE n = 1")
    yield ask("last three readings of each host", f"SELECT host, ts, cpu FROM (SELECT host, ts, cpu, row_number() OVER (PARTITION BY host ORDER BY ts DESC) AS n FROM readings WHERE {LAST_HOUR}) q WHERE n <= 3")
    yield ask("last reading of 5 hosts", "SELECT DISTINCT ON (host) host, ts, cpu FROM readings WHERE host IN (3, 99, 711, 815, 3777) ORDER BY host, ts DESC", is_ordered=True)
    yield ask("last time of each host", "SELECT host, max(ts) FROM readings GROUP BY 1")
    yield ask("the last 10 readings of a host", "SELECT ts, cpu, memory FROM readings WHERE host = 1234 ORDER BY ts DESC LIMIT 10", is_ordered=True)
    yield ask("minutes of a host", f"SELECT date_trunc('minute', ts) AS m, avg(memory), max(memory) FROM readings WHERE host = 17 AND {LAST_HOUR} GROUP BY 1 ORDER BY 1")
    yield ask("maxima of 8 hosts by hours", f"SELECT date_trunc('hour', ts) AS h, host, max(cpu) FROM readings WHERE host IN (1, 17, 99, 312, 815, 2222, 3001, 3999) AND {HALF_A_DAY} GROUP BY 1, 2 ORDER BY 1, 2")
    yield ask("maxima of all hosts of an hour", f"SELECT host, max(cpu), max(memory) FROM readings WHERE {LAST_HOUR} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10")
    yield ask("readings above a threshold", f"SELECT count(*) FROM readings WHERE cpu > 90 AND {HALF_A_DAY}")
    yield ask("busy hosts of an hour", f"SELECT host, count(*) FROM readings WHERE cpu > 90 AND {LAST_HOUR} GROUP BY 1 HAVING count(*) > 50 ORDER BY 2 DESC, 1")
    yield ask("hours of all", "SELECT date_trunc('hour', ts) AS h, max(cpu), count(*) FROM readings GROUP BY 1 ORDER BY 1")
    yield ask("the highest readings", f"SELECT host, ts, cpu FROM readings WHERE {HALF_A_DAY} ORDER BY cpu DESC, ts, host LIMIT 10", is_ordered=True)
