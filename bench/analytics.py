#!/usr/bin/python3
"""Compare rtscan with its peers on aggregate queries, in one run.

The data sets are TPC-H's lineitem, the Star Schema Benchmark, and flights.

Writes results/NAME.md, results/NAME.csv and results/NAME.svg. See README.md.
"""
import time
from dataclasses import replace

import report
from aggregates import WORKLOADS
from cluster import cluster, connect, parser
from generate import DATA_SETS, load
from peers import covering_peers, start_duckdb
from report import Record
from run import note, query_records

SCALE_FACTOR_1 = 6_001_215


def command_line():
    options = parser(__doc__, WORKLOADS, SCALE_FACTOR_1).parse_args()
    options.name = options.name or f"analytics-{options.data}-{options.rows}"
    return options


def build_records(peer):
    """Build this peer's indexes, and yield the time and their size."""
    note(f"building: {peer.name}")
    start = time.perf_counter()
    peer.create_indexes()
    return [Record.of("build", "", peer.name, [1000 * (time.perf_counter() - start)]),
            Record.of("size", "", peer.name, [peer.sizes() / 2**20])]


def compare(options, directory):
    """Return all figures of one run, and what they depend on."""
    cursor = connect(directory).cursor()
    cursor.execute("CREATE EXTENSION rtscan")
    workload = WORKLOADS[options.data]
    note(f"loading {options.data}, {options.rows} rows")
    load(cursor, options.data, "t", 1, options.rows, options.file)
    cursor.execute(f"COPY t TO '{directory}/t.csv' (FORMAT csv)")
    peers = covering_peers(cursor, workload.keys, workload.payload)
    records = [record for peer in peers if peer.indexes for record in build_records(peer)]
    cursor.execute("VACUUM ANALYZE t")
    duckdb = start_duckdb(DATA_SETS[options.data].definition, f"{directory}/t.csv")
    peers += [replace(duckdb, name="DuckDB, one thread"), replace(duckdb, name="DuckDB, two threads", threads=2)]
    records += query_records(peers, workload.queries, options.repetitions)
    return records, report.environment(cursor, options)


def main():
    options = command_line()
    with cluster(options) as directory:
        records, environment = compare(options, directory)
    report.write_aggregates(options, records, environment, WORKLOADS[options.data].queries)


if __name__ == "__main__":
    main()
