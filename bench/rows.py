#!/usr/bin/python3
"""What takes a query that wants rows, in order or not, from rtscan and from DuckDB, until a client has read them all?

Table w: a, b, c uniform int4, v of 10,000 values, g of 100, text; index (a, b, c) INCLUDE (v, g). One backend through a prepared
statement, and DuckDB with one thread through its C API, both in rows.c, which compares their answers. Predicates are
one-sided, of a selectivity s a column. Writes results/NAME.md.
"""
import io
import subprocess
import sys
from pathlib import Path

import report
from cluster import cluster, connect, parser
from peers import duckdb_library
from run import note

HERE = Path(__file__).resolve().parent
LARGEST = 2**31 - 1
COLUMNS = "a int, b int, c int, v int, g int, t varchar"
TABLE = f"""SELECT setseed(0.5);
CREATE TABLE w ({COLUMNS});
INSERT INTO w SELECT random() * {LARGEST}, random() * {LARGEST}, random() * {LARGEST}, floor(random() * 10000),
    floor(random() * 100), 'text ' || floor(random() * 100000) FROM generate_series(1, {{rows}});
CREATE INDEX w_idx ON w USING rtscan (a, b, c) INCLUDE (v, g)"""


def at(share):
    return int(share * LARGEST)


def below(share, columns="abc"):
    return " AND ".join(f"{column} <= {at(share)}" for column in columns)


def queries():
    """(name, query, at most this part of DuckDB's time)"""
    for share, most in ((.1, .25), (.2, .6), (.5, 3.5)):
        yield f"`SELECT v, g`, {share}", f"SELECT v, g FROM w WHERE {below(share)}", most
    yield "`SELECT a, b, c, v, g`, 0.2", f"SELECT a, b, c, v, g FROM w WHERE {below(.2)}", 1.2
    for share, most in ((.1, .25), (.2, .7)):
        yield f"`SELECT *`, {share}", f"SELECT * FROM w WHERE {below(share)}", most
    for share in (.5, .01):
        yield (f"`ORDER BY a DESC LIMIT 10`, b and c {share}",
               f"SELECT a, v FROM w WHERE {below(share, 'bc')} ORDER BY a DESC LIMIT 10", 1 / 12)
    yield "`ORDER BY a, v DESC LIMIT 10`, 0.2", f"SELECT a, v FROM w WHERE {below(.2)} ORDER BY a, v DESC LIMIT 10", 1 / 8
    yield "`ORDER BY v DESC, g LIMIT 100`, 0.2", f"SELECT v, g FROM w WHERE {below(.2)} ORDER BY v DESC, g LIMIT 100", 1 / 3
    yield "`ORDER BY b OFFSET 500 LIMIT 10`, 0.2", f"SELECT b FROM w WHERE {below(.2)} ORDER BY b OFFSET 500 LIMIT 10", 1 / 6
    yield ("`SELECT v`: OR, NOT, BETWEEN, `<>`, 0.1",
           f"SELECT v FROM w WHERE (a < {at(.05)} OR a BETWEEN {at(.5)} AND {at(.55)}) AND NOT b > {at(.1)} "
           f"AND c BETWEEN {at(.4)} AND {at(.5)} AND c <> {at(.45)}", 1 / 10)
    yield ("count, (a, b 0.2) OR c of 2 %",
           f"SELECT count(*) FROM w WHERE ({below(.2, 'ab')}) OR c BETWEEN {at(.5)} AND {at(.52)}", 1 / 8)
    yield ("count, (a, b 0.2) OR (b, c 0.1) OR g of 3",
           f"SELECT count(*) FROM w WHERE ({below(.2, 'ab')}) OR ({below(.1, 'bc')}) OR g IN (3, 5, 8)", 1 / 4)
    yield ("count, a < 0.5, v of 1,000",
           f"SELECT count(*) FROM w WHERE a < {at(.5)} AND v IN ({', '.join(str(7 * n) for n in range(1000))})", 1 / 3)


def build_client():
    """rows.c, beside the results."""
    report.RESULTS.mkdir(exist_ok=True)
    includes = subprocess.check_output(["pg_config", "--includedir"], text=True).strip()
    program = report.RESULTS / "rows"
    subprocess.run(["cc", "-O2", "-Wall", "-Wextra", f"-I{includes}", "-o", program, HERE / "rows.c", "-lpq", "-ldl"], check=True)
    return program


def measure(options, directory):
    cursor = connect(directory).cursor()
    cursor.execute("CREATE EXTENSION rtscan")
    note(f"loading {options.rows} rows")
    for statement in TABLE.format(rows=options.rows).split(";"):
        cursor.execute(statement)
    cursor.execute("VACUUM (FREEZE, ANALYZE) w")
    cursor.execute(f"COPY w TO '{directory}/w.csv' (FORMAT csv)")
    lines = io.StringIO()
    for name, query, _ in queries():
        lines.write(f"{name}\t{query}\n")
    command = [build_client(), duckdb_library(), f"{directory}/w.csv", COLUMNS, str(options.repetitions)]
    done = subprocess.run(command, input=lines.getvalue(), stdout=subprocess.PIPE, text=True, check=True,
                          env={"PGHOST": directory, "PGUSER": "bench", "PGDATABASE": "postgres"})
    return [line.split("\t") for line in done.stdout.splitlines()]


def main():
    command = parser(__doc__, ["w"])
    command.set_defaults(repetitions=9)
    options = command.parse_args()
    options.name = options.name or f"rows-{options.rows}"
    with cluster(options) as directory:
        measured = measure(options, directory)
    rows = [[name, f"{int(found):,}", f"{float(server):.2f}", f"{float(duckdb):.2f}", f"{float(server) / float(duckdb):.3f}",
             f"{most:.3f}"] for (name, found, server, duckdb), (_, _, most) in zip(measured, queries())]
    text = f"# {options.name}\n\n" + report.table(["query", "rows", "rtscan, ms", "DuckDB, ms", "of DuckDB's", "asked"], rows)
    (report.RESULTS / f"{options.name}.md").write_text(text, encoding="utf-8")
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
