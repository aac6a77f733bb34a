#!/usr/bin/python3
"""What takes a question from rtscan and from DuckDB, until a client has read the answer?

One backend through a prepared statement, and DuckDB with one thread through its C API, both in ask/, which compares their
answers. Writes results/NAME.md, .csv and .svg. See README.md.
"""
import subprocess
from dataclasses import replace

import report
from cluster import cluster, connect, parser
from generate import DATA_SETS, load
from peers import HERE, duckdb_library
from questions import SETS
from report import Record
from run import note

DUCKDB = "DuckDB, one thread"


def command_line():
    command = parser(__doc__, data_sets=None, rows=None)
    command.add_argument("--questions", choices=SETS, default=next(iter(SETS)))
    command.set_defaults(repetitions=9)
    options = command.parse_args()
    options.data = SETS[options.questions].data
    options.rows = options.rows or SETS[options.questions].rows
    options.name = options.name or f"ask-{options.questions}-{options.rows}"
    return options


def build_client():
    """ask/, beside the results."""
    report.RESULTS.mkdir(exist_ok=True)
    includes = subprocess.check_output(["pg_config", "--includedir"], text=True).strip()
    program = report.RESULTS / "ask"
    subprocess.run(["cc", "-O2", "-Wall", "-Wextra", f"-I{includes}", "-o", program, *(HERE / "ask").glob("*.c"),
                    "-lpq", "-ldl", "-lm"], check=True)
    return program


def load_table(cursor, chosen, options, file):
    cursor.execute("CREATE EXTENSION rtscan")
    note(f"loading {chosen.data}, {options.rows} rows")
    load(cursor, chosen.data, chosen.table, 1, options.rows)
    cursor.execute(f"CREATE INDEX ON {chosen.table} USING rtscan {chosen.index}")
    cursor.execute(f"VACUUM ANALYZE {chosen.table}")
    cursor.execute(f"COPY {chosen.table} TO '{file}' (FORMAT csv)")


def records_of(line):
    """From a line of the client's."""
    name, rows, *times = line.split("\t")
    for peer, milliseconds in zip(("rtscan", DUCKDB), times):
        yield replace(Record.of("query", name, peer, [float(time) for time in milliseconds.split()]), rows=int(rows))


def ask(chosen, file, repetitions, environment):
    """Have the client ask the questions where libpq's environment says."""
    note(f"asking {len(chosen.questions)} questions")
    command = [build_client(), duckdb_library(), chosen.table, DATA_SETS[chosen.data].definition, file, str(repetitions)]
    done = subprocess.run(command, input="".join(question.line() for question in chosen.questions), env=environment,
                          stdout=subprocess.PIPE, text=True, check=True)
    return [record for line in done.stdout.splitlines() for record in records_of(line)]


def asked(question, times):
    """What was asked of rtscan; and what came of it, where that is not of DuckDB's time."""
    if not question.most:
        return ""
    if not question.beside:
        return f"{question.most:.3f}"
    ratio = times[question.name, "rtscan"] / times[question.beside, "rtscan"]
    return f"{question.most} of {question.beside} ({ratio:.2f})"


def table(records, questions):
    """A line a question."""
    times = {(record.case, record.peer): record.value for record in records}
    rows = {record.case: record.rows for record in records}
    lines = []
    for question in questions:
        rtscan, duckdb = times[question.name, "rtscan"], times[question.name, DUCKDB]
        lines.append([question.name, f"{rows[question.name]:,}", f"{rtscan:.2f}", f"{duckdb:.2f}", f"{rtscan / duckdb:.3f}",
                      asked(question, times)])
    return report.table(["query", "rows", "rtscan, ms", "DuckDB, ms", "of DuckDB's", "asked"], lines)


def main():
    options = command_line()
    chosen = SETS[options.questions]
    with cluster(options) as directory:
        cursor = connect(directory).cursor()
        load_table(cursor, chosen, options, f"{directory}/table.csv")
        records = ask(chosen, f"{directory}/table.csv", options.repetitions,
                      {"PGHOST": directory, "PGUSER": "bench", "PGDATABASE": "postgres"})
        description = report.environment(cursor, options, chosen.table)
    report.write_text(options, f"# {options.name}\n\n{description}\n{table(records, chosen.questions)}", records)
    report.draw(report.RESULTS / f"{options.name}.svg", report.grouped_bar_plot(records), "1300,520")


if __name__ == "__main__":
    main()
