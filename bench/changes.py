#!/usr/bin/python3
"""Measure what changes to a table cost with rtscan and with its peers, and how they affect scans, in one run.

COPY, single-row transactions of several clients (latencies), VACUUM after a deletion, scans during insertions, and
after as many single insertions as the table had rows. Writes results/NAME.md and .csv. See README.md.
"""
import statistics
import time
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import report
from cluster import cluster, connect, parser
from generate import LARGEST, load
from peers import POSTGRES_PEERS, Peer
from pgbench import Load
from report import Record
from run import note, timed

COPIED_ROWS = 200_000
DELETED = 0.1
INSERT = "".join(f"\\set {column} random(0, {LARGEST - 1})\n" for column in "abc") + "INSERT INTO t VALUES (:a, :b, :c);\n"
QUERIES = {f"s = {s}": s for s in (0.01, 0.1, 0.5)}


def command_line():
    result = parser(__doc__, ("uniform",))
    result.add_argument("--clients", type=int, default=8)
    result.add_argument("--seconds", type=int, default=20, help="of single-row transactions, for each peer")
    result.add_argument("--single-inserts", type=int, help="by default as many as --rows")
    options = result.parse_args()
    options.name = options.name or f"changes-{options.rows}"
    options.single_inserts = options.rows if options.single_inserts is None else options.single_inserts
    return options


def peers_of(cursor):
    """Return the peers: no index, and those that could replace each other."""
    return [replace(peer, cursor=cursor) for peer in
            [Peer("no index")] + [POSTGRES_PEERS[name] for name in ("btrees", "btree", "brin", "rtscan")]]


def insertions(options, directory, seconds, clients):
    """Start clients that insert single rows."""
    Path(directory, "insert.sql").write_text(INSERT, encoding="utf-8")
    return Load(options, directory, "insertions", clients, seconds, {"insert": 1})


def fill(cursor):
    cursor.execute("DROP TABLE IF EXISTS t")
    cursor.execute("CREATE TABLE t AS TABLE source")
    cursor.execute("VACUUM ANALYZE t")


def copy_and_delete(peer, directory):
    cursor = peer.cursor
    figures = {"copy": timed(cursor, f"COPY t FROM '{directory}/staging.csv' (FORMAT csv)")}
    cursor.execute(f"DELETE FROM t WHERE a % 1000 < {1000 * DELETED:.0f}")
    cursor.execute("CHECKPOINT")
    figures["vacuum"] = timed(cursor, "VACUUM t")
    return figures


def insert_singly(options, directory):
    times = insertions(options, directory, options.seconds, options.clients).latencies()
    return {"rows a second": len(times) / options.seconds, "median": statistics.median(times),
            "p99": times[int(0.99 * len(times))], "p99.9": times[int(0.999 * len(times))], "longest": times[-1]}


def scan_times(cursor, edges, seconds=3):
    """Return {query: median milliseconds of the scan, up to row bits}."""
    result = {}
    for name, s in QUERIES.items():
        times, end = [], time.monotonic() + seconds
        while time.monotonic() < end:
            cursor.execute("SELECT sum(bits_time) FROM rtscan_benchmark(%s, 5)",
                           [f"SELECT 1 FROM t WHERE a <= {edges[s]} AND b <= {edges[s]} AND c <= {edges[s]}"])
            times.append(cursor.fetchone()[0])
        result[name] = statistics.median(times)
    return result


def segments(cursor):
    cursor.execute("SELECT segments, pending FROM rtscan_stats('t_rtscan')")
    return "{} segments, {} pending rows".format(*cursor.fetchone())


def scan_records(cursor, options, directory):
    """Yield times of scans of an idle index, during insertions, and after many of them."""
    edges = {s: int(s * LARGEST) for s in QUERIES.values()}
    cursor.execute("CREATE INDEX t_rtscan ON t USING rtscan (a, b, c)")
    cursor.execute("VACUUM ANALYZE t")
    found = {"quiet": scan_times(cursor, edges)}
    running = insertions(options, directory, 4 * len(QUERIES), 1)
    time.sleep(1)
    found["beside insertions"] = scan_times(cursor, edges)
    running.stop()
    note(segments(cursor))
    cursor.execute(f"DO $$ BEGIN FOR i IN 1 .. {options.single_inserts} LOOP "
                   f"INSERT INTO t VALUES (floor(random() * {LARGEST}), floor(random() * {LARGEST}), floor(random() * {LARGEST})); "
                   "IF i % 1000 = 0 THEN COMMIT; END IF; END LOOP; END $$")
    time.sleep(5)
    note(segments(cursor))
    found["after insertions"] = scan_times(cursor, edges)
    cursor.execute("VACUUM t")
    note(segments(cursor))
    found["after vacuum"] = scan_times(cursor, edges)
    cursor.execute("REINDEX INDEX t_rtscan")
    note(segments(cursor))
    found["rebuilt"] = scan_times(cursor, edges)
    return [Record(figure="scan", case=name, peer=state, value=value, smallest=value)
            for state, times in found.items() for name, value in times.items()]


def change_records(cursor, options, directory):
    """Yield figures of a new table with only one peer's indexes."""
    samples = defaultdict(list)
    for number in range(options.repetitions):
        for peer in peers_of(cursor):
            note(f"round {number + 1}: {peer.name}")
            fill(cursor)
            peer.create_indexes(("a", "b", "c"))
            cursor.execute("CHECKPOINT")
            for figure, value in {**copy_and_delete(peer, directory), **insert_singly(options, directory)}.items():
                samples[figure, peer.name].append(value)
    return [Record.of(figure, "", name, values) for (figure, name), values in samples.items()]


def compare(options, directory):
    cursor = connect(directory).cursor()
    cursor.execute("CREATE EXTENSION rtscan")
    note(f"loading {options.rows} rows")
    load(cursor, options.data, "source", 1, options.rows)
    load(cursor, options.data, "staging", options.rows + 1, options.rows + COPIED_ROWS)
    cursor.execute(f"COPY staging TO '{directory}/staging.csv' (FORMAT csv)")
    records = change_records(cursor, options, directory)
    fill(cursor)
    return records + scan_records(cursor, options, directory), report.environment(cursor, options)


def write(options, records, environment):
    """Write Markdown: a table of the peers' figures, and one of the scans' times."""
    peers = report.unique(record.peer for record in records if record.figure != "scan")
    states = report.unique(record.peer for record in records if record.figure == "scan")
    figures = report.unique(record.figure for record in records if record.figure != "scan")
    lines = [[figure] + report.ratios(report.select(records, figure=figure), peers) for figure in figures]
    scans = [[name] + [report.number(report.select(records, figure="scan", case=name, peer=state)[0].value) for state in states]
             for name in QUERIES]
    text = f"# {options.name}\n\n{environment}\n\n{report.table(['ms, or rows a second'] + peers, lines)}\n{report.table(['scan, ms'] + states, scans)}"
    report.write_text(options, text, records)


def main():
    options = command_line()
    with cluster(options) as directory:
        records, environment = compare(options, directory)
    write(options, records, environment)


if __name__ == "__main__":
    main()
