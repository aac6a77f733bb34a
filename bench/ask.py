#!/usr/bin/python3
"""Measure how long rtscan, DuckDB, and for joins PostgreSQL without rtscan, take to answer queries.

Times end when a client has read the answer. They are those of one backend with a prepared statement, and of DuckDB
with one thread, through its C API. The client in ask/ runs both and compares their answers. Writes results/NAME.md,
.csv and .svg. See README.md.
"""
import os
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import report
from cluster import cluster, connect, parser
from generate import copy_lines, table_statements
from peers import HERE, duckdb_library, scans
from questions import SETS
from report import Record
from run import note

SLOWER = 1.1  # than another plan of PostgreSQL's, to be marked


def command_line():
    command = parser(__doc__, data_sets=None, rows=None)
    command.add_argument("--questions", choices=SETS, default=next(iter(SETS)))
    command.add_argument("--sessions", type=int, default=1, help="that load a large table, each with rows of its own")
    command.add_argument("--client", help="ask/, built before, where there is no compiler")
    command.add_argument("--threads", type=int, default=1, help="of DuckDB; and processes of PostgreSQL")
    command.set_defaults(repetitions=9)
    options = command.parse_args()
    options.data = options.questions
    options.rows = options.rows or SETS[options.questions].rows
    threads = f"-threads-{options.threads}" if options.threads > 1 else ""
    options.name = options.name or f"ask-{options.questions}-{options.rows}{threads}"
    if options.threads > 1:
        options.set += [f"max_parallel_workers_per_gather={options.threads - 1}", f"max_parallel_workers={options.threads}",
                        f"max_worker_processes={options.threads + 8}"]
    return options


def build_client(options):
    """Build the client in ask/, and put it beside the results."""
    if options.client:
        return options.client
    report.RESULTS.mkdir(exist_ok=True)
    includes = subprocess.check_output([options.pg_config, "--includedir"], text=True).strip()
    program = report.RESULTS / "ask"
    subprocess.run(["cc", "-O2", "-Wall", "-Wextra", f"-I{includes}", "-o", program, *(HERE / "ask").glob("*.c"),
                    "-lpq", "-ldl", "-lm"], check=True)
    return program


def load_part(directory, table, options, number):
    """Load one session's part of a large table's rows."""
    cursor = connect(directory).cursor()
    cursor.execute(f"SELECT setseed({(number + 1) / 1000})")
    cursor.execute(f"INSERT INTO {table.name} {table.some_rows(options.rows // options.sessions)}")


def load_table(cursor, table, options, directory):
    """Load a table by SQL, or from the file of the same name in the folder of the flights' file."""
    note(f"loading {table.name}")
    if table.some_rows and options.sessions > 1:
        cursor.execute(f"CREATE TABLE {table.name} ({table.definition})")
        with ThreadPoolExecutor(options.sessions) as sessions:
            list(sessions.map(lambda number: load_part(directory, table, options, number), range(options.sessions)))
    elif table.rows:
        for statement in table_statements(table, 1):
            cursor.execute(statement)
    else:
        cursor.execute(f"CREATE TABLE {table.name} ({table.definition})")
        copy_lines(cursor, table.name, 1, options.rows, Path(options.file).with_name(f"{table.name}.csv"))


def load_tables(cursor, chosen, options, directory):
    """Load the tables and build their indexes. Returns DuckDB's statements that load the same rows."""
    tables = list(chosen.tables(options.rows))
    cursor.execute("CREATE EXTENSION rtscan")
    for table in tables:
        load_table(cursor, table, options, directory)
    note("building the indexes")
    for statement in chosen.indexes:
        cursor.execute(statement)
    setup = [f"SET threads = {options.threads}"]
    for table in tables:
        cursor.execute(f"VACUUM ANALYZE {table.name}")
        file = f"{directory}/{table.name}.csv"
        cursor.execute(f"COPY (SELECT * FROM {table.name}) TO '{file}' (FORMAT csv)")
        setup += [f"CREATE TABLE {table.name} ({table.definition})", f"COPY {table.name} FROM '{file}' (FORMAT csv, HEADER false)"]
    return "; ".join(setup)


def duckdb_name(options):
    return "DuckDB, one thread" if options.threads == 1 else f"DuckDB, {options.threads} threads"


def ask(chosen, questions, setup, options, environment):
    """Run the queries with the client, in the server of libpq's environment."""
    note(f"asking {len(questions)} questions")
    command = [build_client(options), duckdb_library(), setup, str(options.repetitions), *chosen.others.values()]
    peers, records = ["rtscan", *chosen.others, duckdb_name(options)], []
    with tempfile.TemporaryFile("w+", encoding="utf-8") as lines:
        lines.writelines(question.line() for question in questions)
        lines.seek(0)
        with subprocess.Popen(command, stdin=lines, stdout=subprocess.PIPE, env={**os.environ, **environment}, text=True) as client:
            for line in client.stdout:
                note(line.split("\t")[0])
                records += records_of(line, peers)
    if client.returncode != 0:
        sys.exit("the client has failed")
    return records


def records_of(line, peers):
    """Return the records of a line of the client's output."""
    name, rows, *times = line.split("\t")
    for peer, milliseconds in zip(peers, times):
        yield replace(Record.of("query", name, peer, [float(time) for time in milliseconds.split()]), rows=int(rows))


def planning_records(cursor, questions):
    """Return planning times, and which of rtscan's nodes the plans have."""
    for question in questions:
        plans = []
        for _ in range(5):
            cursor.execute(f"EXPLAIN (SUMMARY, FORMAT json) {question.sql}")
            plans.append(cursor.fetchone()[0][0])
        nodes = " + ".join(sorted({name for name in scans(plans[0]["Plan"]) if name.startswith("Rtscan")}))
        record = Record.of("planning", question.name, "rtscan", [1000 * plan["Planning Time"] for plan in plans])
        yield replace(record, plan=nodes)


def asked(question, times, duckdb):
    """Return the required ratio; and the measured one, if it is not relative to DuckDB."""
    if not question.most:
        return ""
    if not question.beside:
        return f"{question.most:.3f}"
    ratio = times[question.name, "rtscan"] / times[question.beside, "rtscan"]
    return f"{question.most} of {question.beside} ({ratio:.2f})"


def of_others(times, others):
    """Yield times of PostgreSQL without rtscan, and the ratio of rtscan's times to them; in bold if rtscan is
    slower.
    """
    for other in others:
        ratio = times["rtscan"] / times[other]
        yield report.number(times[other])
        yield f"**{ratio:.2f}**" if ratio > SLOWER else f"{ratio:.2f}"


def table(records, chosen, questions, duckdb):
    """Return a table with a line for each query."""
    times = {(record.case, record.peer): record.value for record in report.select(records, figure="query")}
    planning = {record.case: record for record in report.select(records, figure="planning")}
    rows = {record.case: record.rows for record in report.select(records, figure="query")}
    lines = []
    for question in questions:
        own = {peer: time for (case, peer), time in times.items() if case == question.name}
        lines.append([question.name, f"{rows[question.name]:,}", f"{own['rtscan']:.2f}", f"{own[duckdb]:.2f}",
                      f"{own['rtscan'] / own[duckdb]:.3f}", asked(question, times, duckdb), *of_others(own, chosen.others),
                      f"{planning[question.name].value / 1000:.2f}", planning[question.name].plan])
    peers = ["rtscan", duckdb, *chosen.others]
    means = {peer: statistics.geometric_mean(times[question.name, peer] for question in questions) for peer in peers}
    lines.append(["**geometric mean**", "", f"{means['rtscan']:.2f}", f"{means[duckdb]:.2f}", f"{means['rtscan'] / means[duckdb]:.3f}", "",
                  *of_others(means, chosen.others), "", ""])
    heads = [text for other in chosen.others for text in (f"{other}, ms", "rtscan's part")]
    return report.table(["query", "rows", "rtscan, ms", f"{duckdb}, ms", "of DuckDB's", "asked", *heads, "planning, ms", "rtscan's nodes"], lines)


def description(cursor, options, tables):
    largest = tables[0].name
    for other in tables[1:]:
        cursor.execute("SELECT pg_relation_size(%s) > pg_relation_size(%s)", [other.name, largest])
        largest = other.name if cursor.fetchone()[0] else largest
    return report.environment(cursor, options, largest)


def main():
    options = command_line()
    chosen = SETS[options.questions]
    questions, duckdb = list(chosen.questions(options.rows)), duckdb_name(options)
    with cluster(options) as directory:
        cursor = connect(directory).cursor()
        setup = load_tables(cursor, chosen, options, directory)
        records = list(planning_records(cursor, questions))
        records += ask(chosen, questions, setup, options, {"PGHOST": directory, "PGUSER": "bench", "PGDATABASE": "postgres"})
        text = description(cursor, options, list(chosen.tables(options.rows)))
    report.write_text(options, f"# {options.name}\n\n{text}\n{table(records, chosen, questions, duckdb)}", records)
    report.draw(report.RESULTS / f"{options.name}.svg", report.grouped_bar_plot(records), "1300,520")


if __name__ == "__main__":
    main()
