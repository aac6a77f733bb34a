#!/usr/bin/python3
"""Compare rtscan with its peers, in one run: queries, index sizes, builds, inserts, planning.

Writes results/NAME.md, results/NAME.csv and results/NAME-*.svg. See README.md.
"""
import statistics
import sys
import time
from collections import defaultdict
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from math import isclose

import report
from cluster import cluster, connect, parser
from generate import DATA_SETS, load
from peers import NAMES, POSTGRES_PEERS, planner_choice, planning_time, start_duckdb
from queries import all_queries
from report import Record

INSERTED_ROWS = 200_000
PLANNED = 100
BUDGET = 0.1  # seconds for the repetitions of one peer in one round


def note(text):
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def measured(options, measure, relation="t"):
    """Return the result of measure(cursor, options) in a new server with the extension, and what the figures depend
    on.
    """
    with cluster(options) as directory:
        cursor = connect(directory).cursor()
        cursor.execute("CREATE EXTENSION rtscan")
        records = list(measure(cursor, options))
        return records, report.environment(cursor, options, relation)


def command_line():
    result = parser(__doc__)
    result.add_argument("--peers", default=",".join(NAMES), help="comma-separated, of: " + ", ".join(NAMES))
    result.add_argument("--builds", type=int, default=3, help="rounds of building and inserting; 0 to leave out")
    result.add_argument("--planner", action="store_true", help="also let the planner choose among a peer's and rtscan")
    options = result.parse_args()
    options.peers = options.peers.split(",")
    options.name = options.name or f"{options.data}-{options.rows}"
    return options


def load_tables(cursor, options, directory):
    """Load t, the rows to insert as table and file, and a copy of t for DuckDB."""
    note(f"loading {options.data}, {options.rows} rows")
    load(cursor, options.data, "t", 1, options.rows, options.file)
    load(cursor, options.data, "staging", options.rows + 1, options.rows + INSERTED_ROWS, options.file)
    cursor.execute(f"COPY staging TO '{directory}/staging.csv' (FORMAT csv)")
    cursor.execute(f"COPY t TO '{directory}/t.csv' (FORMAT csv)")


def timed(cursor, statement):
    start = time.perf_counter()
    cursor.execute(statement)
    return 1000 * (time.perf_counter() - start)


def build_and_insert(peer, columns, directory):
    """Build only this peer's indexes, insert, and restore the table: {figure: value}."""
    cursor = peer.cursor
    cursor.execute("SELECT max(ctid) FROM t")
    last_row = cursor.fetchone()[0]
    cursor.execute("CHECKPOINT")
    start = time.perf_counter()
    peer.create_indexes(columns)
    figures = {"build": 1000 * (time.perf_counter() - start), "size": peer.sizes() / 2**20 if peer.indexes else 0.0}
    figures["insert"] = timed(cursor, "INSERT INTO t SELECT * FROM staging")
    figures["copy"] = timed(cursor, f"COPY t FROM '{directory}/staging.csv' (FORMAT csv)")
    peer.drop_indexes()
    cursor.execute("DELETE FROM t WHERE ctid > %s", [last_row])
    cursor.execute("VACUUM t")
    return figures


def change_records(peers, options, directory):
    """Return size, build and insert figures, medians of rounds over the peers."""
    columns = DATA_SETS[options.data].columns
    samples = defaultdict(list)
    for number in range(options.builds):
        for peer in peers:
            note(f"builds and inserts, round {number + 1}: {peer.name}")
            for figure, value in build_and_insert(peer, columns, directory).items():
                samples[figure, peer.name].append(value)
    return [Record.of(figure, "", name, values) for (figure, name), values in samples.items()
            if values[0] > 0 and not (name == "seq scan" and figure == "build")]


def run_repeatedly(peer, query):
    """Prepare, run once to warm up, then as often as the budget allows: ({figure: milliseconds}, rows)."""
    peer.prepare(query.sql)
    warm_up, rows = peer.execute()
    times = max(1, min(20, int(1000 * BUDGET / warm_up)))
    before = peer.scan_times()
    milliseconds = statistics.median(peer.execute()[0] for _ in range(times))
    figures = {"query": milliseconds}
    if before:
        scans, bits, tids = (after - start for after, start in zip(peer.scan_times(), before))
        if scans:
            figures |= {"bits": bits / scans, "tids": tids / scans}
            scan = peer.scan_time(query.sql)
            if scan is not None:  # bitmap scans are planned for it, perhaps with another index
                figures["scan"] = scan
    return figures, rows


def plain(value):
    """Return floats unchanged, exact numbers as Decimal, everything else as text."""
    if isinstance(value, float):
        return value
    try:
        return Decimal(str(value))
    except InvalidOperation:
        return str(value)


def same(value, other):
    """Return whether values are equal. Floats, and values compared with them, may differ in the last digits, since
    they are added up in any order.
    """
    if value == other or float not in (type(value), type(other)):
        return value == other
    return str not in (type(value), type(other)) and isclose(value, other, rel_tol=1e-12)


def sort_key(row):
    """Return a key that sorts rows although some values of a column are numbers and others text, as NULL is."""
    return [(isinstance(value, str), value) for value in row]


def agree(answer, other):
    """Return whether two peers returned the same rows, in any order."""
    rows, others = (sorted(([plain(value) for value in row] for row in rows), key=sort_key) for rows in (answer, other))
    return len(rows) == len(others) and all(
        len(row) == len(match) and all(map(same, row, match)) for row, match in zip(rows, others))


def query_records(peers, queries, repetitions):
    """Measure each query in rounds over the peers, so that disturbances of the machine affect all of them."""
    for query in queries:
        note(f"{query.family} {query.case}")
        samples, answers = defaultdict(list), {}
        for _ in range(repetitions):
            for peer in peers:
                figures, answers[peer.name] = run_repeatedly(peer, query)
                for figure, milliseconds in figures.items():
                    samples[figure, peer.name].append(milliseconds)
        if not all(agree(answer, answers[peers[0].name]) for answer in answers.values()):
            sys.exit(f"wrong answer: {query.sql}: {answers}")
        plans = {peer.name: plan_of(peer, query) for peer in peers}
        for (figure, name), values in samples.items():
            record = Record.of(figure, query.case, name, values)
            yield replace(record, family=query.family, rows=query.rows(answers[name]), plan=plans[name])


def plan_of(peer, query):
    peer.prepare(query.sql)
    return peer.explain()


def planning_records(peers, query, repetitions):
    """Return planning times with only each peer's indexes, after a warm-up in the same session."""
    samples = defaultdict(list)
    for _ in range(repetitions):
        for peer in peers:
            peer.activate()
            planning_time(peer.cursor, query.sql)
            samples[peer.name].append(1000 * statistics.median(planning_time(peer.cursor, query.sql) for _ in range(PLANNED)))
    return [Record.of("planning", "", name, values) for name, values in samples.items()]


def compare(options, directory):
    """Return all figures of one run."""
    cursor = connect(directory).cursor()
    data_set = DATA_SETS[options.data]
    if {"rtscan", "bitmap"} & set(options.peers):
        cursor.execute("CREATE EXTENSION rtscan")
    load_tables(cursor, options, directory)
    peers = [replace(POSTGRES_PEERS[name], cursor=cursor) for name in options.peers if name != "duckdb"]
    by_indexes = {tuple(peer.indexes): peer for peer in reversed(peers)}
    changing = [peer for peer in peers if (peer.indexes or peer.name == "seq scan")
                and peer is by_indexes[tuple(peer.indexes)]]
    records = change_records(changing, options, directory)
    note("building all indexes, choosing the queries")
    for peer in peers:
        peer.create_indexes(data_set.columns)
    cursor.execute("VACUUM ANALYZE t")
    queries = all_queries(cursor, data_set)
    records += planning_records(changing, queries[1], options.repetitions)
    if options.planner:
        peers += [planner_choice(peer) for peer in changing if peer.indexes and peer.name != "rtscan"]
    if "duckdb" in options.peers:
        peers.append(start_duckdb(data_set.definition, f"{directory}/t.csv"))
    return records + list(query_records(peers, queries, options.repetitions)), report.environment(cursor, options)


def main():
    options = command_line()
    with cluster(options) as directory:
        records, environment = compare(options, directory)
    report.write(options, records, environment)


if __name__ == "__main__":
    main()
