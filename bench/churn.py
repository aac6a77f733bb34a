#!/usr/bin/python3
"""Measure how the index grows if every row is rewritten repeatedly, with a VACUUM after each time.

Writes results/NAME.md and .csv: after each round the size of the index's live pages and of its file, relative to a
newly built index. See README.md.
"""
import time

import report
from cluster import parser
from generate import LARGEST, load
from report import Record
from run import measured, note


def command_line():
    result = parser(__doc__, ("uniform",), rows=1_000_000)
    result.add_argument("--rounds", type=int, default=20)
    result.add_argument("--pause", type=float, default=1, help="seconds after each vacuum, for the merge worker to free what vacuum retired")
    options = result.parse_args()
    options.name = options.name or f"churn-{options.rows}"
    return options


def sizes(cursor):
    """Return the bytes of the index's live pages and of its file, and the number of its segments."""
    cursor.execute("SELECT total_bytes - other_bytes, total_bytes, segments FROM rtscan_stats('t_rtscan')")
    return cursor.fetchone()


def rounds(cursor, options):
    load(cursor, options.data, "t", 1, options.rows)
    cursor.execute("CREATE INDEX t_rtscan ON t USING rtscan (a, b, c)")
    _, fresh, _ = sizes(cursor)
    for number in range(1, options.rounds + 1):
        cursor.execute(f"UPDATE t SET {'abc'[number % 3]} = floor(random() * {LARGEST})")
        cursor.execute("VACUUM t")
        time.sleep(options.pause)
        live, file, segments = sizes(cursor)
        live, file = live / fresh, file / fresh
        note(f"round {number}: live {live:.2f}, file {file:.2f}, {segments} segments")
        for figure, value in (("live pages", live), ("file", file), ("segments", segments)):
            yield Record(figure=figure, case=str(number), peer="rtscan", value=value, smallest=value)
    cursor.execute("SELECT rtscan_check('t_rtscan', true)")


def write(options, records, environment):
    figures = report.unique(record.figure for record in records)
    lines = [[case] + [report.number(report.select(records, figure=figure, case=case)[0].value) for figure in figures]
             for case in report.unique(record.case for record in records)]
    text = f"# {options.name}\n\n{environment}\n\n{report.table(['round'] + figures, lines)}"
    report.write_text(options, text, records)


def main():
    options = command_line()
    records, environment = measured(options, rounds)
    write(options, records, environment)


if __name__ == "__main__":
    main()
