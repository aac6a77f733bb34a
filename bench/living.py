#!/usr/bin/python3
"""What do questions take on a table that lives: vacuumed, after some of its rows were updated, and beside writers?

The tables are of rows with seven columns that hold 2, 20, 200, 20,000 and 1,000,000 values, skewed ones, and NULLs.
Writes results/NAME.md and .csv: milliseconds, and the geometric mean of each situation's times over the vacuumed table's.
See README.md.
"""
import shutil
import statistics
import time
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import report
from cluster import Server, cluster, connect, parser, timed
from peers import start_duckdb
from pgbench import Load
from report import Record
from run import note

SETTINGS = ("shared_preload_libraries=rtscan", "work_mem=4MB", "max_connections=100", "synchronous_commit=off")
COLUMNS = {"a": "(random() * 2)::int % 2", "b": "(random() * 20)::int % 20", "c": "(random() * 200)::int % 200",
           "d": "(random() * 20000)::int", "e": "(random() * 1000000)::int",
           "f": "(random() * random() * random() * 1000)::int",
           "g": "CASE WHEN random() < 0.9 THEN (random() * 1000)::int END"}
TYPES = "id int, a int, b int, c int, d int, e int, f int, g int"
INDEXES = {"rtscan": ["rtscan (a, b, c, d, e, f, g) INCLUDE (id)"], "three btrees": ["btree (e)", "btree (c)", "btree (d)"],
           "BRIN": ["brin (a, b, c, d, e, f, g)"], "no index": []}
QUESTIONS = {
    "count of half": "SELECT count(*) FROM t WHERE e < 500000",
    "count of 90 %": "SELECT count(*) FROM t WHERE e < 900000",
    "count of two columns ORed": "SELECT count(*) FROM t WHERE c < 20 OR d < 2000",
    "count of NULLs": "SELECT count(*) FROM t WHERE g IS NULL",
    "count of a range of 0.5 %": "SELECT count(*) FROM t WHERE e BETWEEN 300000 AND 305000",
    "count of three ranges": "SELECT count(*) FROM t WHERE c < 100 AND d < 10000 AND e < 500000",
    "count of one value of 20": "SELECT count(*) FROM t WHERE b = 7",
    "count of a list": "SELECT count(*) FROM t WHERE c IN (3, 30, 80, 150)",
    "20 groups": "SELECT b, count(*) FROM t GROUP BY b",
    "200 groups": "SELECT c, count(*), sum(e) FROM t WHERE e < 500000 GROUP BY c",
    "two columns' groups": "SELECT a, b, count(*), avg(f) FROM t WHERE d < 10000 GROUP BY a, b",
    "sum of half": "SELECT sum(d) FROM t WHERE e < 500000",
    "minimum and maximum": "SELECT min(e), max(e) FROM t WHERE b = 7",
    "median of half": "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY d) FROM t WHERE e < 500000",
    "distinct values of a twentieth": "SELECT count(DISTINCT d) FROM t WHERE b = 7",
    "rows of 0.1 %": "SELECT id, a, b FROM t WHERE e BETWEEN 300000 AND 301000",
    "ten newest": "SELECT id, e FROM t WHERE b = 7 ORDER BY e DESC LIMIT 10",
    "star of 200 rows": "SELECT n.k % 5, count(*) FROM t JOIN names n ON n.k = t.c WHERE e < 500000 AND n.v < 50 GROUP BY 1",
}


@dataclass(frozen=True)
class Situation:
    """A state of the table: statements that bring it about, and clients that write meanwhile. It is asked on the primary, or
    on a standby that replays all of it.
    """
    name: str
    statements: tuple = ()
    writers: int = 0
    timed_first: bool = False
    on_standby: bool = False


SITUATIONS = (
    Situation("vacuumed"),
    Situation("after 0.01 %", ("UPDATE t SET id = id WHERE id % 10000 = 3",)),
    Situation("after 1 %", ("UPDATE t SET id = id WHERE id % 100 = 3",), timed_first=True),
    Situation("after 1 % in one place", ("UPDATE t SET id = id WHERE id <= {rows} / 100",)),
    Situation("after 10 %", ("UPDATE t SET id = id WHERE id % 10 = 4",)),
    Situation("beside 2 writers", writers=2),
    Situation("beside 64 writers", writers=64),
    Situation("after 1 %, on a standby", ("UPDATE t SET id = id WHERE id % 100 = 3",), on_standby=True),
    Situation("beside 2 writers, on a standby", writers=2, on_standby=True),
)
PAUSE = 5
TAIL, TAIL_ASKED = "count of half", 400             # the question whose 99th percentile is found beside writers
STANDBY_PORT = 5433
A_DAY = 24 * 3600
DUCKDB = "DuckDB"
WRITE = "\\set id random(1, {rows})\nUPDATE t SET f = f + 1 WHERE id = :id;\n"


def command_line():
    result = parser(__doc__, None, rows=5_000_000)
    result.add_argument("--peers", default="rtscan", help="comma-separated, of: " + ", ".join((*INDEXES, DUCKDB)))
    result.add_argument("--partitions", type=int, default=0, help="of the table, by hash of id")
    result.add_argument("--situations", default="all", help="separated by '; '; all of: " + "; ".join(s.name for s in SITUATIONS))
    options = result.parse_args()
    options.data, options.name = "living", options.name or f"living-{options.rows}"
    options.set = [*SETTINGS, *options.set]
    return options


def fill(cursor, options):
    cursor.execute("SELECT setseed(0.5)")
    columns = ", ".join(f"{expression} AS {name}" for name, expression in COLUMNS.items())
    cursor.execute(f"CREATE TABLE source AS SELECT id::int AS id, {columns} FROM generate_series(1, {options.rows}) AS id")
    cursor.execute("CREATE TABLE names AS SELECT k, k % 100 AS v FROM generate_series(0, 199) AS k")
    cursor.execute("VACUUM ANALYZE names")


def renew(cursor, definitions, partitions):
    cursor.execute("DROP TABLE IF EXISTS t")
    cursor.execute("CREATE TABLE t (LIKE source)" + (" PARTITION BY HASH (id)" if partitions else ""))
    for i in range(partitions):
        cursor.execute(f"CREATE TABLE t_{i} PARTITION OF t FOR VALUES WITH (MODULUS {partitions}, REMAINDER {i})")
    cursor.execute("INSERT INTO t TABLE source")
    cursor.execute("ALTER TABLE t ADD PRIMARY KEY (id)")
    for definition in definitions:
        cursor.execute(f"CREATE INDEX ON t USING {definition}")
    cursor.execute("VACUUM ANALYZE t")
    cursor.execute("CHECKPOINT")


def ask(cursor, question, repetitions):
    """Return the milliseconds of each time."""
    return [timed(cursor, QUESTIONS[question])[0] for _ in range(repetitions)]


def measure_first(options, directory, situation, peer):
    """Yield records of the first query after the change: at once, and after a pause in which rtscan's page worker has
    worked. The session has touched all pages before, in the change.
    """
    cursor = connect(directory).cursor()
    for pause in (0, PAUSE):
        renew(cursor, INDEXES[peer], options.partitions)
        ask(cursor, "count of half", 2)
        for statement in situation.statements:
            cursor.execute(statement.format(rows=options.rows))
        time.sleep(pause)
        record = Record.of(f"first query, {pause} s later", situation.name, peer, ask(cursor, "count of half", 1))
        note(f"{peer}, {situation.name}: {record.figure} {report.number(record.value)} ms")
        yield record


@contextmanager
def standby_of(options, directory):
    """Start a standby of the server, and yield a cursor on it."""
    standby = Server(options, directory, "standby", STANDBY_PORT)
    standby.run("pg_basebackup", "-h", directory, "-U", "bench", "-c", "fast", "-R")
    standby.start()
    try:
        yield standby.connect().cursor()
    finally:
        standby.stop()
        shutil.rmtree(standby.data)


def wait_for_replay(primary, standby):
    primary.execute("SELECT pg_current_wal_lsn()")
    written = primary.fetchone()
    replayed = False
    while not replayed:
        standby.execute("SELECT pg_last_wal_replay_lsn() >= %s", written)
        replayed = standby.fetchone()[0]


def measure_questions(options, cursor, situation, peer):
    for question in QUESTIONS:
        times = ask(cursor, question, 1 + options.repetitions)[1:]
        record = Record.of(question, situation.name, peer, times)
        note(f"{peer}, {situation.name}: {question} {report.number(record.value)} ms, {report.number(max(times))} at most")
        yield record
    if situation.writers:
        times = sorted(ask(cursor, TAIL, TAIL_ASKED))
        note(f"{peer}, {situation.name}: {TAIL}, median {report.number(times[len(times) // 2])}, p99 {report.number(times[len(times) * 99 // 100])} ms")
        yield Record.of(f"{TAIL}, 99th percentile", situation.name, peer, [times[len(times) * 99 // 100]])


def measure_situation(options, directory, situation, peer):
    primary = connect(directory).cursor()
    if situation.timed_first:
        yield from measure_first(options, directory, situation, peer)
    renew(primary, INDEXES[peer], options.partitions)
    with standby_of(options, directory) if situation.on_standby else nullcontext(connect(directory).cursor()) as cursor:
        for statement in situation.statements:
            primary.execute(statement.format(rows=options.rows))
        if situation.on_standby:
            wait_for_replay(primary, cursor)
        begun = time.monotonic()
        load = Load(options, directory, "writers", situation.writers, A_DAY, {"write": 1}, threads=4) if situation.writers else None
        time.sleep(PAUSE if situation.writers or situation.statements else 0)
        yield from measure_questions(options, cursor, situation, peer)
        if load:
            transactions = load.stop()
            yield Record.of("writers' transactions a second", situation.name, peer, [transactions / (time.monotonic() - begun)])


def measure_duckdb(options, directory):
    """Yield records of DuckDB's copy of the table, which does not change, by one thread."""
    connect(directory).cursor().execute(f"COPY source TO '{directory}/t.csv' (FORMAT csv)")
    connect(directory).cursor().execute(f"COPY names TO '{directory}/names.csv' (FORMAT csv)")
    duckdb = start_duckdb(TYPES, f"{directory}/t.csv")
    for statement in ("CREATE TABLE names (k int, v int)", f"COPY names FROM '{directory}/names.csv' (FORMAT csv, HEADER false)"):
        duckdb.prepare(statement)
        duckdb.execute()
    for question, sql in QUESTIONS.items():
        duckdb.prepare(sql)
        times = [duckdb.execute()[0] for _ in range(1 + options.repetitions)][1:]
        yield Record.of(question, "vacuumed", DUCKDB, times)


def measure(options, directory):
    Path(directory, "write.sql").write_text(WRITE.format(rows=options.rows), encoding="utf-8")
    cursor = connect(directory).cursor()
    cursor.execute("CREATE EXTENSION rtscan")
    fill(cursor, options)
    wanted = [s for s in SITUATIONS if options.situations == "all" or s.name in options.situations.split("; ")]
    for peer in options.peers.split(","):
        if peer == DUCKDB:
            yield from measure_duckdb(options, directory)
            continue
        for situation in wanted:
            yield from measure_situation(options, directory, situation, peer)


def write(options, records, environment):
    """A table for each peer: a line for each question, a column for each situation, and the means of ratios."""
    text = f"# {options.name}\n\n{environment}- ms, medians of {options.repetitions}\n"
    for peer in report.unique(record.peer for record in records):
        of_peer = report.select(records, peer=peer)
        situations = report.unique(record.case for record in of_peer)
        lines, ratios = [], {situation: [] for situation in situations}
        for figure in report.unique(record.figure for record in of_peer):
            values = {r.case: r.value for r in report.select(of_peer, figure=figure)}
            lines.append([figure, *(report.number(values[s]) if s in values else "" for s in situations)])
            for situation in situations:
                if "vacuumed" in values and situation in values:
                    ratios[situation].append(values[situation] / values["vacuumed"])
        lines.append(["over vacuumed, geometric mean", *(report.number(statistics.geometric_mean(r)) if r else "" for r in ratios.values())])
        text += f"\n## {peer}\n\n{report.table(['', *situations], lines)}"
    report.write_text(options, text, records)


def main():
    options = command_line()
    with cluster(options) as directory:
        records = list(measure(options, directory))
        environment = report.environment(connect(directory).cursor(), options, "source")
    write(options, records, environment)


if __name__ == "__main__":
    main()
