#!/usr/bin/python3
"""Measure whether the last hour of a large table is found as fast as that of a small one.

Rows are in the order of time, ten for each second. The peers are BRIN and a btree on the time. Writes
results/NAME.md and .csv. See README.md.
"""
import statistics
import time
from concurrent.futures import ThreadPoolExecutor

import report
from cluster import connect, parser, timed
from report import Record
from run import measured, note

PEERS = {
    "rtscan": "USING rtscan (at, sensor) INCLUDE (value)",
    "BRIN": "USING brin (at)",
    "btree": "USING btree (at)",
}
QUERIES = {
    "rows": "SELECT count(*) FROM {table} WHERE at > {hour}",
    "one sensor's sum": "SELECT sum(value) FROM {table} WHERE at > {hour} AND sensor = 77",
    "sensors, in groups": "SELECT sensor, avg(value) FROM {table} WHERE at > {hour} AND sensor < 10 GROUP BY sensor",
    "one row": "SELECT value FROM {table} WHERE at = {hour} AND sensor < 1000",
}
HOUR_ROWS = 36_000
BATCH = 10_000_000                              # rows of a transaction, of a single writer
SHARED_BATCH = 2_000                            # rows of a transaction, of one of several writers


def command_line():
    result = parser(__doc__, data_sets=None)
    result.add_argument("--sizes", type=int, nargs="+", default=[10_000_000, 200_000_000])
    result.add_argument("--peers", default=",".join(PEERS), help="comma-separated, of: " + ", ".join(PEERS))
    result.add_argument("--writers", type=int, default=1, help="who load at once; of several, rows come about in the order of time")
    result.add_argument("--unlogged", action="store_true", help="tables without WAL, where there is no room for it")
    options = result.parse_args()
    options.peers = options.peers.split(",")
    options.data, options.rows = "rows in the order of time", max(options.sizes)
    options.name = options.name or f"last-hour-{options.rows}"
    return options


def table_of(size):
    return f"t_{size}"


def insert_by_turns(directory, table, batches):
    """Run a writer, which inserts the next batch until there is none."""
    cursor = connect(directory).cursor()
    for first, last in batches:
        cursor.execute(f"INSERT INTO {table} SELECT timestamp '2000-01-01' + i * interval '0.1 s', hashint4(i) & 1023, i % 1000 "
                       f"FROM generate_series({first}, {last}) i")


def fill(options, directory, table, size):
    """Insert rows in the order of time, one transaction for each batch."""
    step = BATCH if options.writers == 1 else SHARED_BATCH
    batches = iter([(first, min(first + step, size) - 1) for first in range(0, size, step)])
    with ThreadPoolExecutor(options.writers) as writers:
        for writer in [writers.submit(insert_by_turns, directory, table, batches) for _ in range(options.writers)]:
            writer.result()


def load(cursor, options, size):
    table = table_of(size)
    cursor.execute(f"CREATE {'UNLOGGED' if options.unlogged else ''} TABLE {table} (at timestamp, sensor int, value int)")
    took(f"{size:,} rows", lambda: fill(options, cursor.connection.info.host, table, size))
    for peer in options.peers:
        took(peer, lambda: cursor.execute(f"CREATE INDEX {table}_{peer} ON {table} {PEERS[peer]}"))
        cursor.execute("SELECT pg_relation_size(%s) / 2^20", [f"{table}_{peer}".lower()])
        note(f"{cursor.fetchone()[0]:,.0f} MiB")
    took("VACUUM", lambda: cursor.execute(f"VACUUM (FREEZE, ANALYZE) {table}"))
    cursor.execute("CHECKPOINT")


def took(what, work):
    start = time.monotonic()
    work()
    note(f"{what}: {time.monotonic() - start:.1f} s")


def choose(cursor, peer):
    """Hide the other peers' indexes."""
    cursor.execute("UPDATE pg_index SET indisvalid = indexrelid::regclass::text LIKE %s "
                   "WHERE indrelid::regclass::text LIKE 't\\_%%'", [f"%\\_{peer.lower()}"])
    cursor.execute("SET enable_seqscan = off")


def median(cursor, query):
    """Return the median milliseconds of 20 runs, after one to warm up, and the rows of the last run."""
    runs = [timed(cursor, query) for _ in range(21)]
    return statistics.median(took for took, _ in runs[1:]), runs[-1][1]


def ask(cursor, options, hours, times):
    for peer in options.peers:
        choose(cursor, peer)
        for name, query in QUERIES.items():
            for size in options.sizes:
                took, answer = median(cursor, query.format(table=table_of(size), hour=f"timestamp '{hours[size]}'"))
                if name == "rows" and answer != [(HOUR_ROWS,)]:
                    raise SystemExit(f"{peer} answers {answer}")
                times.setdefault((name, size, peer), []).append(took)


def measure(cursor, options):
    hours, times = {}, {}
    for size in options.sizes:
        load(cursor, options, size)
        cursor.execute(f"SELECT max(at) - interval '1 hour' FROM {table_of(size)}")
        hours[size], = cursor.fetchone()
    for repetition in range(options.repetitions):
        note(f"round {repetition + 1}")
        ask(cursor, options, hours, times)
    return [Record.of("query", f"{name}, {size:,}", peer, values) for (name, size, peer), values in times.items()]


def write(options, records, environment):
    def of(name, size, peer):
        return report.select(records, case=f"{name}, {size:,}", peer=peer)[0].value
    header = ["the last hour's", "peer"] + [f"of {size:,} rows, ms" for size in options.sizes] + ["ratio"]
    lines = [[name, peer] + [report.number(of(name, size, peer)) for size in options.sizes] +
             [report.number(of(name, options.sizes[-1], peer) / of(name, options.sizes[0], peer))]
             for name in QUERIES for peer in options.peers]
    report.write_text(options, f"# {options.name}\n\n{environment}\n\n{report.table(header, lines)}", records)


def main():
    options = command_line()
    options.set.append("allow_system_table_mods=on")
    records, environment = measured(options, measure, table_of(options.rows))
    write(options, records, environment)


if __name__ == "__main__":
    main()
