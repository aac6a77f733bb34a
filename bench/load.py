#!/usr/bin/python3
"""Measure what it costs to load a table that has an index already, and whether merges keep up.

Many clients insert rows approximately in the order of time, like those of last_hour.py. Writes results/NAME.md and
.csv. See README.md.
"""
import threading
import time

import report
from cluster import parser
from last_hour import fill
from report import Record
from run import measured, note

PEERS = {
    "no index": None,
    "btree": "btree (at, sensor)",
    "rtscan": "rtscan (at, sensor) INCLUDE (value)",
}
QUIET = 3                                       # seconds without any change, after which merges are complete


def command_line():
    result = parser(__doc__, data_sets=None)
    result.add_argument("--writers", type=int, default=4)
    result.add_argument("--peers", default=",".join(PEERS), help="comma-separated, of: " + ", ".join(PEERS))
    options = result.parse_args()
    options.data, options.peers = "rows in the order of time", options.peers.split(",")
    options.name = options.name or f"load-{options.rows}"
    return options


def state(cursor):
    cursor.execute("SELECT segments, pending FROM rtscan_stats('t_index')")
    return cursor.fetchone()


def watch(cursor, loading):
    """Watch an index until its load is complete and nothing changes any more: {figure: value}."""
    most, at_end, ended, changed, last = (0, 0), None, 0, time.monotonic(), None
    while loading.is_alive() or time.monotonic() - changed < QUIET:
        time.sleep(0.2)
        now = state(cursor)
        most = tuple(map(max, most, now))
        if now != last or loading.is_alive():
            changed = time.monotonic()
        if at_end is None and not loading.is_alive():
            at_end, ended = now, time.monotonic()
        last = now
    return {"segments, most": most[0], "segments at the end": at_end[0], "segments, when merged": last[0], "pending rows, most": most[1],
            "s until merged": max(changed - ended, 0)}


def load(cursor, options, peer):
    """Return the figures of loading with a peer's index."""
    directory = cursor.connection.info.host
    cursor.execute("DROP TABLE IF EXISTS t")
    cursor.execute("CREATE TABLE t (at timestamp, sensor int, value int)")
    if PEERS[peer]:
        cursor.execute(f"CREATE INDEX t_index ON t USING {PEERS[peer]}")
    cursor.execute("CHECKPOINT")
    cursor.execute("SELECT pg_current_wal_insert_lsn()")
    before, start = cursor.fetchone()[0], time.monotonic()
    loading = threading.Thread(target=fill, args=(options, directory, "t", options.rows))
    loading.start()
    figures = watch(cursor, loading) if peer == "rtscan" else {}
    loading.join()
    seconds = time.monotonic() - start - (QUIET + figures["s until merged"] if figures else 0)
    cursor.execute("SELECT pg_current_wal_insert_lsn() - %s", [before])
    logged = float(cursor.fetchone()[0])
    if peer == "rtscan":
        cursor.execute("SELECT rtscan_check('t_index')")
    return {"s": seconds, "rows a second": options.rows / seconds, "WAL, bytes a row": logged / options.rows, **figures}


def measure(cursor, options):
    for peer in options.peers:
        figures = load(cursor, options, peer)
        note(f"{peer}: " + ", ".join(f"{name} {value:,.1f}" for name, value in figures.items()))
        for figure, value in figures.items():
            yield Record(figure=figure, case="", peer=peer, value=value, smallest=value)


def write(options, records, environment):
    figures = report.unique(record.figure for record in records)
    lines = []
    for figure in figures:
        found = {record.peer: report.number(record.value) for record in report.select(records, figure=figure)}
        lines.append([figure] + [found.get(peer, "") for peer in options.peers])
    report.write_text(options, f"# {options.name}\n\n{environment}\n\n{report.table([f'{options.writers} writers'] + options.peers, lines)}", records)


def main():
    options = command_line()
    records, environment = measured(options, measure)
    write(options, records, environment)


if __name__ == "__main__":
    main()
