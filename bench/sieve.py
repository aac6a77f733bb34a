#!/usr/bin/python3
"""Measure the reloptions sieve_bins and sieve_components: bytes of a row and column, and the scan's time.

The scan includes quals, dictionaries, vectors and refining, but neither TIDs nor the heap. Writes results/NAME.md.
See README.md.
"""
import statistics
from collections import defaultdict

import report
from cluster import cluster, connect, parser
from generate import DATA_SETS, load
from peers import NO_SEQUENTIAL, Peer
from queries import SELECTIVITIES, quantiles, range_queries
from report import number, table
from run import note, run_repeatedly

BINS = (32, 64, 128, 256, 1024)
FAMILIES = ("one-sided", "two-sided")


def candidates(cursor):
    """Return one peer for each setting of the two options."""
    return [Peer(f"{bins} bins, {components} component{'s' * (components - 1)}",
                 {f"t_{bins}_{components}": "rtscan ({0}, {1}, {2})"
                  f" WITH (sieve_bins = {bins}, sieve_components = {components})"}, NO_SEQUENTIAL, cursor)
            for components in (1, 2) for bins in BINS]


def scan_times(peers, queries, repetitions):
    """Return {(peer, family, selectivity): median of the time of the scan}."""
    samples = defaultdict(list)
    for query in queries:
        note(f"{query.family} {query.case}")
        for _ in range(repetitions):
            for peer in peers:
                samples[peer.name, query.family, query.case].append(run_repeatedly(peer, query)[0]["scan"])
    return {key: statistics.median(values) for key, values in samples.items()}


def sweep(options, directory):
    """Return the table, and what it depends on."""
    cursor = connect(directory).cursor()
    cursor.execute("CREATE EXTENSION rtscan")
    columns = DATA_SETS[options.data].columns
    note(f"loading {options.data}, {options.rows} rows")
    load(cursor, options.data, "t", 1, options.rows, options.file)
    peers = candidates(cursor)
    for peer in peers:
        note(f"building {peer.name}")
        peer.create_indexes(columns)
    queries = [query for query in range_queries(columns, quantiles(cursor, columns)) if query.family in FAMILIES]
    times = scan_times(peers, queries, options.repetitions)
    cases = [(family, f"{selectivity:g}") for family in FAMILIES for selectivity in SELECTIVITIES]
    rows = [[peer.name, number(peer.sizes() / options.rows / 3), *(number(times[peer.name, *case]) for case in cases)]
            for peer in peers]
    header = ["sieve", "bytes a row and column", *(f"{family} {selectivity}, ms" for family, selectivity in cases)]
    return table(header, rows), report.environment(cursor, options)


def main():
    options = parser(__doc__).parse_args()
    name = options.name or f"sieve-{options.data}-{options.rows}"
    with cluster(options) as directory:
        found, environment = sweep(options, directory)
    report.RESULTS.mkdir(exist_ok=True)
    (report.RESULTS / f"{name}.md").write_text(f"# {name}\n\n{environment}\n{found}", encoding="utf-8")


if __name__ == "__main__":
    main()
