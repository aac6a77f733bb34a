#!/usr/bin/python3
"""Measure many clients that insert and update single rows, besides one that queries, with rtscan and with its peers.

The figures are transactions per second, and the time of a query while they run. Writes results/NAME.md and .csv. See
README.md.
"""
from dataclasses import replace
from pathlib import Path

import report
from cluster import cluster, connect, parser
from generate import LARGEST, load
from peers import POSTGRES_PEERS, Peer
from pgbench import Load
from report import Record
from run import note

RANDOM = "".join(f"\\set {column} random(0, {LARGEST - 1})\n" for column in "abc")
SCRIPTS = {
    "insert": RANDOM + "INSERT INTO t (a, b, c) VALUES (:a, :b, :c);\n",
    "update": RANDOM + "\\set id random(1, {rows})\nUPDATE t SET b = :b WHERE id = :id;\n",
    "query": "SELECT count(*) FROM t WHERE a < {edge} AND b < {edge} AND c < {edge};\n",
}
INSERTS, UPDATES = 8, 2  # out of ten transactions
SELECTIVITY = 0.1  # selectivity of each of a query's three conditions
SETTINGS = ("autovacuum=on", "synchronous_commit=off", "shared_preload_libraries=rtscan", "max_connections=100", "checkpoint_timeout=1h")
IDLE = "idle"


def command_line():
    result = parser(__doc__, ("uniform",), rows=1_000_000)
    result.add_argument("--clients", type=int, nargs="+", default=[1, 8, 32, 64])
    result.add_argument("--peers", help="comma-separated names of peers as in the results; by default all")
    result.add_argument("--seconds", type=int, default=20, help="for each peer and number of clients")
    options = result.parse_args()
    options.name = options.name or f"writers-{options.rows}"
    options.set = [*SETTINGS, *options.set]
    return options


def peers_of(cursor, wanted):
    """Return the wanted peers, each with its indexes besides the primary key."""
    gin = Peer("GIN, fastupdate", {"t_gin": "gin ({0}, {1}, {2})"})
    peers = [Peer("no index"), *(POSTGRES_PEERS[name] for name in ("btrees", "btree", "brin")), gin, POSTGRES_PEERS["rtscan"]]
    return [replace(peer, cursor=cursor) for peer in peers if wanted is None or peer.name in wanted.split(",")]


def fill(cursor):
    cursor.execute("DROP TABLE IF EXISTS t")
    cursor.execute("CREATE TABLE t (id serial, a int4, b int4, c int4)")
    cursor.execute("INSERT INTO t (a, b, c) TABLE source")
    cursor.execute("ALTER TABLE t ADD PRIMARY KEY (id)")


def share(times, part):
    return times[min(int(part * len(times)), len(times) - 1)]


def measure(options, directory, clients):
    """Return the time of a query, and the transactions per second meanwhile."""
    writers = Load(options, directory, "writers", clients, options.seconds, {"insert": INSERTS, "update": UPDATES}, threads=4) if clients else None
    queries = Load(options, directory, "queries", 1, options.seconds, {"query": 1}).latencies()
    yield "query, median, ms", share(queries, 0.5)
    yield "query, p99, ms", share(queries, 0.99)
    if writers:
        written = writers.latencies()
        yield "transactions a second", len(written) / options.seconds
        yield "transaction, p99, ms", share(written, 0.99)


def compare(options, directory):
    cursor = connect(directory).cursor()
    for extension in ("rtscan", "btree_gin"):
        cursor.execute(f"CREATE EXTENSION {extension}")
    load(cursor, options.data, "source", 1, options.rows)
    for name, script in SCRIPTS.items():
        Path(directory, f"{name}.sql").write_text(script.format(rows=options.rows, edge=int(SELECTIVITY * LARGEST)), encoding="utf-8")
    for peer in peers_of(cursor, options.peers):
        fill(cursor)
        peer.create_indexes("abc")
        cursor.execute("VACUUM ANALYZE t")
        cursor.execute("CHECKPOINT")
        for clients in (0, *options.clients):
            for figure, value in measure(options, directory, clients):
                note(f"{peer.name}, {clients} clients: {figure} {report.number(value)}")
                yield Record(figure, str(clients) if clients else IDLE, peer.name, value, value)


def write(options, records, environment):
    """Write Markdown: a table for each figure, a line for each number of clients."""
    peers, text = report.unique(record.peer for record in records), f"# {options.name}\n\n{environment}\n"
    for figure in report.unique(record.figure for record in records):
        of_figure = report.select(records, figure=figure)
        lines = [[case] + report.ratios(report.select(of_figure, case=case), peers) for case in report.unique(record.case for record in of_figure)]
        text += f"\n## {figure.capitalize()}\n\n{report.table(['clients'] + peers, lines)}"
    report.write_text(options, text, records)


def main():
    options = command_line()
    with cluster(options) as directory:
        records = list(compare(options, directory))
        environment = report.environment(connect(directory).cursor(), options)
    write(options, records, environment)


if __name__ == "__main__":
    main()
