#!/usr/bin/python3
"""What do the questions of an office's dashboards take, at default settings and in a time zone?

They ask orders (orders.py) of timestamps, texts and numerics, or a time series (series.py): PostgreSQL with rtscan,
without it, with three btrees, DuckDB and ClickHouse with one thread. PostgreSQL's answers must be alike. Writes results/NAME.md and
.csv. See README.md.
"""
import statistics
import sys
from collections import Counter

import orders
import report
import series
from cluster import cluster, connect, parser, timed
from peers import scans, start_clickhouse, start_duckdb
from report import Record
from run import note

# PostgreSQL's defaults where the other benchmarks have settings of their own; no parallel queries, for DuckDB has one thread.
DEFAULTS = ("shared_buffers=128MB", "work_mem=4MB", "autovacuum=off", "jit=on", "maintenance_work_mem=64MB", "max_parallel_workers_per_gather=0")
WITHOUT_RTSCAN = """
UPDATE pg_index SET indisvalid = {valid} FROM pg_class c JOIN pg_am a ON a.oid = c.relam WHERE c.oid = indexrelid AND amname = 'rtscan'"""
RTSCAN, NONE, BTREES, DUCKDB, CLICKHOUSE = "rtscan", "no index", "three btrees", "DuckDB, one thread", "ClickHouse, one thread"
EMBEDDED = (DUCKDB, CLICKHOUSE)
PEERS = (RTSCAN, NONE, BTREES, *EMBEDDED)
DATA = {"office": orders, "series": series}


def command_line():
    command = parser(__doc__, DATA, rows=2_000_000)
    command.add_argument("--time-zone", default="Europe/Berlin")
    command.add_argument("--peers", default="; ".join(PEERS), help="separated by '; '")
    command.add_argument("--questions", default="", help="only those whose names contain this")
    command.add_argument("--limit", type=float, default=2000, help="milliseconds; slower answers are timed once")
    options = command.parse_args()
    options.name = options.name or f"{options.data}-{options.rows}"
    options.asked = DATA[options.data]
    options.set = [*DEFAULTS, f"TimeZone={options.time_zone}", "shared_preload_libraries=rtscan", *options.set]
    return options


def load(cursor, options, directory):
    """Create the table and rtscan's index; returns the file of its rows, which only other databases need."""
    asked = options.asked
    note(f"loading {asked.TABLE}")
    cursor.execute("CREATE EXTENSION rtscan")
    cursor.execute(f"CREATE TABLE {asked.TABLE} ({asked.DEFINITION})")
    cursor.execute(f"INSERT INTO {asked.TABLE} {asked.rows(options.rows)}")
    if asked.KEY:
        cursor.execute(f"ALTER TABLE {asked.TABLE} ADD PRIMARY KEY ({asked.KEY})")
    note("building the index")
    cursor.execute(asked.INDEX)
    cursor.execute(f"VACUUM ANALYZE {asked.TABLE}")
    cursor.execute("CHECKPOINT")
    file = f"{directory}/{asked.TABLE}.csv"
    if any(peer in options.peers for peer in EMBEDDED):
        cursor.execute(f"COPY (SELECT {asked.COPIED} FROM {asked.TABLE}) TO '{file}' (FORMAT csv)")
    return file


def statement(cursor, question):
    """Return what executes a question, after it was prepared if it has parameters."""
    if not question.parameters:
        return question.sql
    cursor.execute("DEALLOCATE ALL; SET plan_cache_mode = force_generic_plan")
    cursor.execute(f"PREPARE question AS {question.sql}")
    return f"EXECUTE question ({question.parameters})"


def repeat(options, execute):
    """Return the times of repeated executions, in milliseconds, without the first one; and the answer."""
    first, rows = execute()
    if first > options.limit:
        return [first], rows
    return [execute()[0] for _ in range(options.repetitions)], rows


def ask_postgres(cursor, options, questions, peer):
    """Yield a record for each question, with its answer."""
    for question in questions:
        sql = statement(cursor, question)
        cursor.execute(f"EXPLAIN (FORMAT json) {sql}")
        nodes = " + ".join(sorted(scans(cursor.fetchone()[0][0]["Plan"])))
        times, rows = repeat(options, lambda: timed(cursor, sql))
        note(f"{peer}: {question.name}, {statistics.median(times):.2f} ms")
        yield Record.of("query", question.name, peer, times), nodes, rows


def ask_duckdb(options, questions, file):
    duckdb = start_duckdb(options.asked.DUCKDB_DEFINITION, file, options.asked.TABLE)
    duckdb.prepare(f"SET TimeZone = '{options.time_zone}'")
    duckdb.execute()
    for question in questions:
        duckdb.prepare(question.duckdb or question.sql)
        times, rows = repeat(options, duckdb.execute)
        note(f"{DUCKDB}: {question.name}, {statistics.median(times):.2f} ms")
        yield Record.of("query", question.name, DUCKDB, times), "", rows


def ask_clickhouse(options, questions, file):
    asked = options.asked
    clickhouse = start_clickhouse(asked.CLICKHOUSE_DEFINITION.format(zone=options.time_zone), asked.CLICKHOUSE_ORDER, asked.CLICKHOUSE_VALUES,
                                  asked.CLICKHOUSE_FILE, file, asked.TABLE)
    for question in questions:
        clickhouse.prepare(question.clickhouse or question.sql)
        times, rows = repeat(options, clickhouse.execute)
        note(f"{CLICKHOUSE}: {question.name}, {statistics.median(times):.2f} ms")
        yield Record.of("query", question.name, CLICKHOUSE, times), "", rows


def ask_all(options, cursor, questions, file):
    """Return records, plans by question and peer, and answers."""
    records, plans, answers = [], {}, {}
    for peer in options.peers.split("; "):
        if peer in EMBEDDED:
            asked = (ask_duckdb if peer == DUCKDB else ask_clickhouse)(options, questions, file)
        else:
            cursor.execute(WITHOUT_RTSCAN.format(valid=peer == RTSCAN))
            for statement_ in options.asked.BTREES if peer == BTREES else ():
                cursor.execute(statement_)
            asked = ask_postgres(cursor, options, questions, peer)
        for question, (record, nodes, rows) in zip(questions, asked):
            records.append(record)
            plans[question.name, peer] = nodes
            answers[question.name, peer] = rows
    return records, plans, answers


def disagreements(questions, answers):
    """Return the names of questions to which PostgreSQL's answers differ, or the number of rows of the others."""
    names = []
    for question in questions:
        own = {peer: answers.get((question.name, peer)) for peer in PEERS}
        alike = [list(rows) if question.is_ordered else Counter(map(str, rows)) for peer, rows in own.items() if rows is not None and peer not in EMBEDDED]
        counts = {len(rows) for rows in own.values() if rows is not None}
        if any(rows != alike[0] for rows in alike) or len(counts) > 1:
            names.append(question.name)
    return names


def table(questions, records, plans, peers):
    """Return a table with a line for each question, and a summary."""
    times = {(record.case, record.peer): record.value for record in records}
    lines = []
    for question in questions:
        own = times[question.name, RTSCAN]
        lines.append([question.name, *(report.number(times[question.name, peer]) for peer in peers),
                      *(f"{times[question.name, peer] / own:.1f}" for peer in peers if peer != RTSCAN), plans[question.name, RTSCAN]])
    others = [peer for peer in peers if peer != RTSCAN]
    means = [f"{statistics.geometric_mean(times[q.name, peer] / times[q.name, RTSCAN] for q in questions):.2f}" for peer in others]
    lines.append(["**geometric mean**", *("" for _ in peers), *means, ""])
    text = report.table(["question", *(f"{peer}, ms" for peer in peers), *(f"{peer} / rtscan" for peer in others), "plan"], lines)
    for other in others:
        ratios = [times[q.name, other] / times[q.name, RTSCAN] for q in questions]
        text += (f"\nAgainst {other}: {sum(r >= 10 for r in ratios)} of {len(ratios)} at least 10 times as fast, "
                 f"{sum(r < 2 for r in ratios)} less than twice, {sum(r < 1 for r in ratios)} slower.\n")
    return text


def main():
    options = command_line()
    questions = [question for question in options.asked.questions() if options.questions in question.name]
    peers = options.peers.split("; ")
    with cluster(options) as directory:
        cursor = connect(directory).cursor()
        file = load(cursor, options, directory)
        text = report.environment(cursor, options, options.asked.TABLE)
        records, plans, answers = ask_all(options, cursor, questions, file)
    report.write_text(options, f"# {options.name}\n\n{text}\n{table(questions, records, plans, peers)}", records)
    wrong = disagreements(questions, answers)
    if wrong:
        sys.exit(f"answers differ: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
