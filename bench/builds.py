#!/usr/bin/python3
"""Measure how long CREATE INDEX takes with an increasing number of processes.

The peers are one btree on the same columns, and one on each. Writes results/NAME.md and .csv. --maintenance-work-mem
is the total of all processes of a build. See README.md.
"""
import os
import time

import report
from cluster import parser
from generate import load
from report import Record
from run import measured, note

COLUMNS = "abc"
PEERS = {
    "rtscan": ["CREATE INDEX t_rtscan ON t USING rtscan (a, b, c)"],
    "btree (a, b, c)": ["CREATE INDEX t_all ON t (a, b, c)"],
    "three btrees": [f"CREATE INDEX t_{column} ON t ({column})" for column in COLUMNS],
}


def command_line():
    result = parser(__doc__, ("uniform",))
    result.add_argument("--processes", type=int, nargs="+", default=[1, os.cpu_count()])
    options = result.parse_args()
    options.name = options.name or f"builds-{options.rows}"
    return options


def duration(cursor, statements):
    """Return milliseconds. The indexes are dropped, and everything is written to disk, before the next ones are
    built.
    """
    start = time.monotonic()
    for statement in statements:
        cursor.execute(statement)
    took = (time.monotonic() - start) * 1000
    cursor.execute("SELECT indexrelid::regclass::text FROM pg_index WHERE indrelid = 't'::regclass")
    for (index,) in cursor.fetchall():
        cursor.execute(f"DROP INDEX {index}")
    cursor.execute("CHECKPOINT")
    return took


def measure(cursor, options):
    load(cursor, options.data, "t", 1, options.rows)
    cursor.execute("VACUUM ANALYZE t")
    cursor.execute(f"ALTER TABLE t SET (parallel_workers = {max(options.processes)})")
    times = {}
    for repetition in range(options.repetitions + 1):
        for processes in options.processes:
            cursor.execute(f"SET max_parallel_maintenance_workers = {processes - 1}")
            for peer, statements in PEERS.items():
                took = duration(cursor, statements)
                note(f"{peer}, {processes} processes: {took:.0f} ms{' (to warm up)' if repetition == 0 else ''}")
                if repetition > 0:
                    times.setdefault((processes, peer), []).append(took)
    return [Record.of("build", str(processes), peer, values) for (processes, peer), values in times.items()]


def main():
    options = command_line()
    options.set.append(f"max_worker_processes={max(options.processes) + 8}")
    options.set.append(f"max_parallel_workers={max(options.processes)}")
    records, environment = measured(options, measure)
    report.write_times(options, records, environment, "processes")


if __name__ == "__main__":
    main()
