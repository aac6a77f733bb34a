#!/usr/bin/python3
"""Measure a query of very many partitions: planning time, total time, and the memory of its session.

The peers are three btrees; each peer has a table of its own. Writes results/NAME.md and .csv. See README.md.
"""
import time
from pathlib import Path

import report
from cluster import cluster, connect, parser, timed
from peers import planning_time
from report import Record
from run import note

PEERS = {"rtscan": ["rtscan (a, b, c) INCLUDE (g, v)"], "btrees": ["btree (a)", "btree (b)", "btree (c)"]}
TENTH = "a < 460000 AND b < 460000 AND c < 460000"
QUERIES = {
    "count of a tenth": f"SELECT count(*) FROM {{t}} WHERE {TENTH}",
    "100 groups": f"SELECT g, count(*), sum(v) FROM {{t}} WHERE {TENTH} GROUP BY g",
    "0.1 % of the rows": "SELECT * FROM {t} WHERE a < 10000 AND b < 100000",
    "the first ten in an order": "SELECT * FROM {t} WHERE b < 100000 ORDER BY a LIMIT 10",
    "a count in one partition": f"SELECT count(*) FROM {{t}} WHERE p = 77 AND {TENTH}",
    "in ten": f"SELECT count(*) FROM {{t}} WHERE p < 10 AND {TENTH}",
    "two tables": "SELECT count(*) FROM {t} x JOIN {t} y USING (p, g) JOIN small ON small.k = x.a JOIN small other ON other.k = y.b",
}
ONLY_PLANNED = {"two tables"}


def command_line():
    result = parser(__doc__, None, rows=2_000_000)
    result.add_argument("--partitions", type=int, default=1000)
    options = result.parse_args()
    options.data, options.name = "uniform", options.name or f"partitions-{options.partitions}"
    return options


def prepare(cursor, options, peers):
    cursor.execute("""
        CREATE FUNCTION size_of_partitions(regclass) RETURNS numeric LANGUAGE sql
        AS 'SELECT sum(pg_relation_size(relid)) FROM pg_partition_tree($1)'""")
    cursor.execute("CREATE TABLE small AS SELECT i AS k FROM generate_series(1, 100) i")
    for peer, indexes in peers.items():
        cursor.execute(f"CREATE TABLE {peer} (p int, a int, b int, c int, g int, v float8) PARTITION BY LIST (p)")
        for number in range(options.partitions):
            cursor.execute(f"CREATE TABLE {peer}_{number} PARTITION OF {peer} FOR VALUES IN ({number})")
        cursor.execute(f"""
            INSERT INTO {peer} SELECT i % {options.partitions}, random() * 1e6, random() * 1e6, random() * 1e6, random() * 100, random()
            FROM generate_series(1, {options.rows}) i""")
        begin = time.monotonic()
        for index in indexes:
            cursor.execute(f"CREATE INDEX ON {peer} USING {index}")
        yield Record.of("CREATE INDEX, ms", "", peer, [1000 * (time.monotonic() - begin)])
        cursor.execute(f"VACUUM ANALYZE {peer}")
    cursor.execute("VACUUM ANALYZE small")


def executed(cursor, query):
    return timed(cursor, query)[0]


def own_memory(cursor):
    """Return the MB that a session's process does not share."""
    cursor.execute("SELECT pg_backend_pid()")
    status = Path(f"/proc/{cursor.fetchone()[0]}/status").read_text(encoding="utf-8")
    return int(status.split("RssAnon:")[1].split()[0]) / 1024


def measure_query(directory, options, case, query):
    """Measure a query in a session of each peer, in turns; the first execution in each session does not count."""
    cursors = {peer: connect(directory).cursor() for peer in PEERS}
    ways = {"planning, ms": planning_time} if case in ONLY_PLANNED else {"planning, ms": planning_time, "statement, ms": executed}
    for figure, way in ways.items():
        times = {peer: [] for peer in PEERS}
        for repetition in range(options.repetitions + 1):
            for peer, cursor in cursors.items():
                took = way(cursor, query.format(t=peer))
                if repetition > 0:
                    times[peer].append(took)
        for peer, values in times.items():
            yield Record.of(figure, case, peer, values)
    for peer, cursor in cursors.items():
        yield Record.of("memory, MB", case, peer, [own_memory(cursor)])
        cursor.connection.close()


def measure(directory, options):
    yield from prepare(connect(directory).cursor(), options, PEERS)
    for case, query in QUERIES.items():
        for record in measure_query(directory, options, case, query):
            note(f"{case}, {record.peer}: {record.figure} {report.number(record.value)}")
            yield record


def write(options, records, environment):
    """Write a line for each query, with a column for each figure and peer."""
    figures = [figure for figure in report.unique(record.figure for record in records) if figure != "CREATE INDEX, ms"]
    columns = [(figure, peer) for figure in figures for peer in PEERS]
    lines = []
    for case in QUERIES:
        found = [report.select(records, figure=figure, peer=peer, case=case) for figure, peer in columns]
        lines.append([case] + [report.number(records_of[0].value) if records_of else "" for records_of in found])
    builds = ", ".join(f"{record.peer} {report.number(record.value)} ms" for record in report.select(records, figure="CREATE INDEX, ms"))
    report.write_text(options, f"# {options.name}\n\n{environment}- {options.partitions:,} partitions; CREATE INDEX: {builds}\n\n" +
                      report.table([""] + [f"{peer}: {figure}" for figure, peer in columns], lines), records)


def run(options, measure, write):
    """Measure in a new cluster that can lock many partitions, and write what was found."""
    options.set = ["max_locks_per_transaction=1000", *options.set]
    with cluster(options) as directory:
        connect(directory).cursor().execute("CREATE EXTENSION rtscan")
        records = list(measure(directory, options))
        environment = report.environment(connect(directory).cursor(), options, "rtscan", "size_of_partitions")
    write(options, records, environment)


def main():
    run(command_line(), measure, write)


if __name__ == "__main__":
    main()
