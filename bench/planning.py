#!/usr/bin/python3
"""Measure how long it takes to plan a query of many partitions, beside a btree of the same columns on each. Take the least of many times.

Each peer has a table of its own. Writes results/NAME.md and .csv. See README.md.
"""
import partitions
import report
from cluster import connect, parser
from peers import planning_time
from report import Record
from run import note

PEERS = {"rtscan": ["rtscan (a, b, c) INCLUDE (g, v)"], "btree": ["btree (a, b, c) INCLUDE (g, v)"]}
QUERIES = {
    **{case: partitions.QUERIES[case] for case in ["count of a tenth", "100 groups", "0.1 % of the rows"]},
    "rows of one value": "SELECT * FROM {t} WHERE a = 4711",
    "count of all rows": "SELECT count(*) FROM {t}",
}


def command_line():
    result = parser(__doc__, None, rows=300_000)
    result.add_argument("--partitions", type=int, default=300)
    result.set_defaults(repetitions=40)
    options = result.parse_args()
    options.data, options.name = "uniform", options.name or f"planning-{options.partitions}"
    return options


def measure_query(directory, options, case, query):
    """In a session of each peer's, by turns; in each the first time does not count."""
    cursors = {peer: connect(directory).cursor() for peer in PEERS}
    times = {peer: [] for peer in PEERS}
    for _ in range(options.repetitions + 1):
        for peer, cursor in cursors.items():
            times[peer].append(planning_time(cursor, query.format(t=peer)))
    for peer, values in times.items():
        yield Record.of("planning, ms", case, peer, values[1:])
        cursors[peer].connection.close()


def measure(directory, options):
    list(partitions.prepare(connect(directory).cursor(), options, PEERS))
    for case, query in QUERIES.items():
        for record in measure_query(directory, options, case, query):
            note(f"{case}, {record.peer}: {report.number(record.smallest)} ms")
            yield record


def write(options, records, environment):
    """A line for each query: the least of each peer's times, and how many times that of the btree rtscan's is."""
    lines = []
    for case in QUERIES:
        least = [report.select(records, case=case, peer=peer)[0].smallest for peer in PEERS]
        lines.append([case, *map(report.number, least), report.number(least[0] / least[1])])
    report.write_text(options, f"# {options.name}\n\n{environment}- {options.partitions:,} partitions; ms, the least of "
                      f"{options.repetitions}\n\n" + report.table(["", *PEERS, "ratio"], lines), records)


def main():
    partitions.run(command_line(), measure, write)


if __name__ == "__main__":
    main()
