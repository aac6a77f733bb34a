#!/usr/bin/python3
"""Measure how long VACUUM takes after few rows have died, and after many.

The peers are one btree on the same columns, and one on each. Each peer has a table of its own, with similar rows.
Writes results/NAME.md and .csv. See README.md.
"""
import time

import report
from cluster import parser
from generate import load
from report import Record
from run import measured, note

PEERS = {  # a table and its indexes
    "rtscan": ("t", ["USING rtscan (a, b, c)"]),
    "btree (a, b, c)": ("t_btree", ["(a, b, c)"]),
    "three btrees": ("t_btrees", ["(a)", "(b)", "(c)"]),
}
BLOCKS = 6  # approximately 1,000 rows


def command_line():
    options = parser(__doc__, ("uniform",)).parse_args()
    options.name = options.name or f"vacuum-{options.rows}"
    return options


def deletions(blocks, repetition):
    """Return conditions on the rows to delete, by name: each repetition deletes other rows."""
    def some_blocks(first):
        return f"ctid >= '({first},0)' AND ctid < '({first + BLOCKS},0)'"
    return {
        f"the last {BLOCKS} blocks": some_blocks(blocks - BLOCKS * (repetition + 1)),
        f"{BLOCKS} blocks in the middle": some_blocks(blocks // 2 + BLOCKS * repetition),
        "one of 10,000 rows": f"a % 10000 = {repetition}",
        "one of 50 rows": f"a % 50 = {repetition}",
        "none": "false",
    }


def prepare(cursor, options):
    """Create the tables. Returns how many blocks each has."""
    for table, indexes in PEERS.values():
        load(cursor, options.data, table, 1, options.rows)
        for index in indexes:
            cursor.execute(f"CREATE INDEX ON {table} {index}")
    cursor.execute("SELECT pg_relation_size('t') / current_setting('block_size')::int")
    return cursor.fetchone()[0]


def duration(cursor, table, condition):
    """Return the milliseconds of a VACUUM."""
    cursor.execute(f"DELETE FROM {table} WHERE {condition}")
    start = time.monotonic()
    cursor.execute(f"VACUUM (INDEX_CLEANUP ON, TRUNCATE OFF) {table}")
    return (time.monotonic() - start) * 1000


def measure(cursor, options):
    blocks = prepare(cursor, options)
    times = {}
    for repetition in range(options.repetitions):
        for case, condition in deletions(blocks, repetition).items():
            for peer, (table, _) in PEERS.items():
                took = duration(cursor, table, condition)
                note(f"{case}, {peer}: {took:.1f} ms")
                times.setdefault((case, peer), []).append(took)
    return [Record.of("vacuum", case, peer, values) for (case, peer), values in times.items()]


def main():
    options = command_line()
    records, environment = measured(options, measure)
    report.write_times(options, records, environment, "what has died")


if __name__ == "__main__":
    main()
