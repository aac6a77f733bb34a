#!/usr/bin/python3
"""What do whole queries of TPC-DS take, all 99, or of TPC-H, all 22?

The kit's programs make tables and queries (kits.py). PostgreSQL has primary keys, btrees on foreign keys, and an index of rtscan on each
fact and large dimension; it is asked with rtscan and without, DuckDB with one thread. Answers are compared; where a limit may cut
equal rows, without the limit. Writes results/NAME.md and .csv. See README.md.
"""
import re
import statistics
import sys

import psycopg2

import report
from cluster import cluster, connect, parser, timed
from kits import KITS
from peers import planning_time, scans, start_node, Embedded, HERE
from report import Record
from run import agree, note

DEFAULTS = ("shared_buffers=128MB", "work_mem=4MB", "autovacuum=off", "maintenance_work_mem=64MB", "max_parallel_workers_per_gather=0",
            "shared_preload_libraries=rtscan")
RTSCAN, NONE, DUCKDB = "rtscan", "no rtscan", "DuckDB, one thread"
PEERS = (RTSCAN, NONE, DUCKDB)
SWITCHES = "SELECT string_agg(format('SET %s = off;', name), ' ') FROM pg_settings WHERE name LIKE 'rtscan.enable\\_%' AND vartype = 'bool'"
WITHOUT_NESTED_LOOPS = 600_000  # milliseconds for an answer that is only compared


def command_line():
    command = parser(__doc__, KITS)
    command.add_argument("--kit", required=True, help="the folder in which the kit was built")
    command.add_argument("--scale", type=int, default=1)
    command.add_argument("--queries", default="", help="only these, separated by commas")
    command.add_argument("--timeout", type=int, default=60, help="seconds for each statement; without rtscan, the answer is then"
                                                                 " computed without nested loops")
    command.add_argument("--limit", type=float, default=2000, help="milliseconds; slower answers are timed once")
    options = command.parse_args()
    options.name = options.name or f"{options.data}-{options.scale}"
    options.set = [*DEFAULTS, *options.set]
    return options


def load(cursor, kit, directory):
    cursor.execute("CREATE EXTENSION rtscan")
    for table in kit.tables:
        cursor.execute(f"CREATE TABLE {table} ({kit.definition(table)})")
        cursor.execute(f"COPY {table} FROM '{directory}/{table}.csv' (DELIMITER '|', NULL '')")
    for statement in kit.indexes():
        note(statement[:100])
        cursor.execute(statement)
    cursor.execute("VACUUM ANALYZE")
    cursor.execute("CHECKPOINT")


def repeat(options, execute):
    """Return the times of repeated executions, in milliseconds, without the first one; that one's time; and the answer."""
    first, rows = execute()
    times = [first] if first > options.limit else [execute()[0] for _ in range(options.repetitions)]
    return times, first, rows


def answer_without_nested_loops(cursor, sql):
    """Return a statement's answer as PostgreSQL gets it by hash and merge joins alone."""
    cursor.execute(f"SET enable_nestloop = off; SET statement_timeout = {WITHOUT_NESTED_LOOPS}")
    try:
        return timed(cursor, sql)[1]
    except psycopg2.errors.QueryCanceled:
        return None
    finally:
        cursor.execute("RESET enable_nestloop; RESET statement_timeout")


def ask_postgres(cursor, options, statements, peer):
    """Yield the times of each statement, its first time, its planning time, its plan's scans and its answer."""
    cursor.execute("RESET ALL")
    if peer == NONE:
        cursor.execute(SWITCHES)
        cursor.execute(cursor.fetchone()[0])
    for statement in statements:
        planning = statistics.median(planning_time(cursor, statement.sql) for _ in range(3))
        cursor.execute(f"EXPLAIN (FORMAT json) {statement.sql}")
        nodes = sum(scan.startswith("Rtscan") for scan in scans(cursor.fetchone()[0][0]["Plan"]))
        cursor.execute(f"SET statement_timeout = '{options.timeout}s'")
        try:
            times, first, rows = repeat(options, lambda: timed(cursor, statement.sql))
        except psycopg2.errors.QueryCanceled:
            times, first, rows = [1000 * options.timeout], 1000 * options.timeout, None
        cursor.execute("SET statement_timeout = 0")
        if rows is None and peer == NONE:
            rows = answer_without_nested_loops(cursor, statement.sql)
        yield times, first, planning, nodes, rows


def start_duckdb(kit, directory):
    duckdb = Embedded(start_node(HERE / "duckdb.mjs"))
    for table in kit.tables:
        for statement in (f"CREATE TABLE {table} ({kit.definition(table)})",
                          f"COPY {table} FROM '{directory}/{table}.csv' (FORMAT csv, HEADER false, DELIMITER '|', NULLSTR '', QUOTE '')"):
            duckdb.prepare(statement)
            duckdb.execute()
    return duckdb


def ask_duckdb(options, kit, statements, directory):
    duckdb = start_duckdb(kit, directory)
    for statement in statements:
        duckdb.prepare(statement.duckdb)
        times, first, rows = repeat(options, duckdb.execute)
        yield times, first, 0, 0, rows


def ask_all(options, kit, cursor, directory):
    """Return what was measured, by statement and peer."""
    wanted = options.queries.split(",")
    statements = [statement for statement in kit.statements if not options.queries or statement.name in wanted]
    asked = {RTSCAN: lambda: ask_postgres(cursor, options, statements, RTSCAN), NONE: lambda: ask_postgres(cursor, options, statements, NONE),
             DUCKDB: lambda: ask_duckdb(options, kit, statements, directory)}
    figures = {}
    for peer in PEERS:
        for statement, figure in zip(statements, asked[peer]()):
            note(f"{peer}: {statement.name}, {statistics.median(figure[0]):.1f} ms")
            figures[statement.name, peer] = figure
    return statements, figures


def without_limit(sql):
    return re.sub(r"\blimit\s+\d+\s*$", "", sql.strip(), flags=re.I)


def disagreements(cursor, statements, figures):
    """Yield the names of statements to which answers with rtscan and without it differ."""
    for statement in statements:
        own, other = (figures[statement.name, peer][4] for peer in (RTSCAN, NONE))
        if own is None or other is None or agree(own, other):
            continue
        cursor.execute("RESET ALL")
        own = timed(cursor, without_limit(statement.sql))[1]
        cursor.execute(SWITCHES)
        cursor.execute(cursor.fetchone()[0])
        if not agree(own, answer_without_nested_loops(cursor, without_limit(statement.sql)) or []):
            yield statement.name


def table(statements, figures):
    def median(statement, peer):
        return statistics.median(figures[statement.name, peer][0])

    lines, ratios = [], []
    for statement in statements:
        own, none, duckdb = (median(statement, peer) for peer in PEERS)
        ratios.append(own / duckdb)
        lines.append([statement.name, *map(report.number, (own, none, duckdb)), f"{own / duckdb:.2f}", f"{none / own:.1f}",
                      report.number(figures[statement.name, RTSCAN][1]), report.number(figures[statement.name, RTSCAN][2]),
                      str(figures[statement.name, RTSCAN][3])])
    text = report.table(["statement", "rtscan, ms", "without, ms", "DuckDB, ms", "of DuckDB's time", "times as fast as without",
                         "first execution, ms", "planning, ms", "scans of rtscan"], lines)
    plannings = [sum(figures[statement.name, peer][2] for statement in statements) for peer in (RTSCAN, NONE)]
    slower = [statement.name for statement in statements if figures[statement.name, RTSCAN][1] > 1.1 * figures[statement.name, NONE][1]]
    return (f"{text}\nOf DuckDB's time: {statistics.geometric_mean(ratios):.2f} in the geometric mean; {sum(r > 2 for r in ratios)} of {len(ratios)}"
            f" take more than twice DuckDB's time, {sum(r < 1 for r in ratios)} less. First executions slower than without rtscan: "
            f"{', '.join(slower) or 'none'}. Planning: {plannings[0] / plannings[1]:.2f} of that without rtscan.\n")


def main():
    options = command_line()
    kit = KITS[options.data](options.kit, options.scale)
    with cluster(options) as directory:
        cursor = connect(directory).cursor()
        kit.make(directory)
        load(cursor, kit, directory)
        cursor.execute(f"SELECT count(*) FROM {kit.facts[0]}")
        options.rows = cursor.fetchone()[0]
        text = report.environment(cursor, options, kit.facts[0])
        statements, figures = ask_all(options, kit, cursor, directory)
        wrong = list(disagreements(cursor, statements, figures))
    records = [Record.of("query", name, peer, figure[0]) for (name, peer), figure in figures.items()]
    report.write_text(options, f"# {options.name}\n\n{text}\n{table(statements, figures)}", records)
    if wrong:
        sys.exit(f"answers differ: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
