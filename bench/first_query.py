#!/usr/bin/python3
"""Measure how long a session's first query takes, compared with the second.

The figures are processor time and page faults of the session's own process, which other work on the machine hardly
affects. The queries are a star, counts and sums, by rtscan and by PostgreSQL's own plans, with servers of different
settings. Writes results/NAME.md and .csv. See README.md.
"""
from dataclasses import dataclass
from pathlib import Path

import report
from cluster import Server, cluster, connect, parser, server_settings
from report import Record
from run import note

# rows of TPC-DS' date_dim and item
DATES, ITEMS = 73_049, 18_000
KEYS = ["date_sk", "item_sk", "customer", "store", "ticket", "quantity", *(f"k{i}" for i in range(4))]
NUMBERS = [f"v{i}" for i in range(10)]
TABLES = f"""
    CREATE TABLE dates AS
        SELECT i AS d_sk, i / 365 AS d_year, i % 365 / 31 AS d_moy, i % 31 AS d_dom FROM generate_series(0, {DATES - 1}) i;
    CREATE TABLE items AS
        SELECT i AS i_sk, i % 10 AS i_category_id, 'category ' || i % 10 AS i_category, i * 7919 % 100 AS i_manager
        FROM generate_series(1, {ITEMS}) i;
    CREATE TABLE fact AS
        SELECT 36500 + (random() * 1823)::int AS date_sk, 1 + (random() * {ITEMS - 1})::int AS item_sk,
            (random() * 100000)::int AS customer, (random() * 12)::int AS store, i / 10 AS ticket, (random() * 100)::int AS quantity,
            {", ".join(f"(random() * 10 ^ {i + 3})::int AS k{i}" for i in range(4))},
            {", ".join(f"(random() * 10000)::numeric(7, 2) AS {number}" for number in NUMBERS)}
        FROM generate_series(1, {{rows}}) i;
    CREATE INDEX ON fact USING rtscan ({", ".join(KEYS)}) INCLUDE ({", ".join(NUMBERS)});
    CREATE INDEX ON dates USING rtscan (d_sk, d_year, d_moy) INCLUDE (d_dom);
    CREATE INDEX ON items USING rtscan (i_sk, i_category_id, i_manager) INCLUDE (i_category);
    CREATE INDEX ON fact (date_sk);
    CREATE INDEX ON dates (d_sk);
    CREATE INDEX ON items (i_sk)"""
STAR = """
    SELECT d_year, i_category_id, i_category, sum(v0) FROM fact JOIN dates ON d_sk = date_sk JOIN items ON i_sk = item_sk
    WHERE i_manager = 1 AND d_moy = 11 AND d_year = 102 GROUP BY 1, 2, 3 ORDER BY 4 DESC"""
QUERIES = {
    "a star": STAR,
    "count(*)": "SELECT count(*) FROM fact",
    "a count": "SELECT count(*) FROM fact WHERE quantity < 50 AND store = 3",
    "a sum by group": "SELECT store, sum(v1) FROM fact WHERE quantity < 50 GROUP BY store",
    "a customer's rows": "SELECT date_sk, v1 FROM fact WHERE customer = 77",
    "fifty days": "SELECT sum(k0) FROM fact WHERE date_sk BETWEEN 36600 AND 36649",
    "one day of dates": "SELECT d_dom FROM dates WHERE d_sk = 36600",
}
# the latter loads the library as well, but its planner sees no rtscan index
PEERS = ["rtscan", "PostgreSQL"]
PRELOADED = {"shared_preload_libraries": "rtscan"}
SERVERS = {
    "default": {},
    "preloaded": PRELOADED,
    "preloaded, huge pages": {**PRELOADED, "huge_pages": "on"},
    "JIT": {"jit": "on", "jit_above_cost": "0"},
}
EXECUTIONS = ["first", "second"]


@dataclass(frozen=True)
class Usage:
    """Resources that a process has used so far."""
    cpu: float                                  # ms
    faults: int

    @staticmethod
    def of(pid):
        schedule = Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii")
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
        return Usage(int(schedule.split()[0]) / 1e6, int(status.rsplit(") ")[-1].split()[7]))


def command_line():
    result = parser(__doc__, None, rows=2_000_000)
    result.add_argument("--servers", default=";".join(name for name in SERVERS if "huge" not in name),
                        help="separated by semicolons, of: " + "; ".join(SERVERS) + " (these need vm.nr_hugepages)")
    options = result.parse_args()
    options.data, options.servers = "uniform", options.servers.split(";")
    options.name = options.name or f"first-query-{options.rows}"
    return options


def prepare(cursor, options):
    cursor.execute(TABLES.format(rows=options.rows))
    for table in ("fact", "dates", "items"):
        cursor.execute(f"VACUUM ANALYZE {table}")


def hide_from(cursor, peer):
    cursor.execute("""
        UPDATE pg_index SET indisvalid = %s FROM pg_class JOIN pg_am ON pg_am.oid = relam
        WHERE pg_class.oid = indexrelid AND amname = 'rtscan'""", [peer == "rtscan"])


def ask_in_new_session(directory, query):
    """Return the resources of a query's first executions in a new session."""
    cursor = connect(directory).cursor()
    pid = cursor.connection.get_backend_pid()
    used = []
    for _ in EXECUTIONS:
        before = Usage.of(pid)
        cursor.execute(query)
        cursor.fetchall()
        after = Usage.of(pid)
        used.append(Usage(after.cpu - before.cpu, after.faults - before.faults))
    cursor.connection.close()
    return used


def measure_server(directory, options, server):
    """Measure a server. Its first round does not count, since it reads pages into memory."""
    for peer in PEERS:
        hide_from(connect(directory).cursor(), peer)
        for case, query in QUERIES.items():
            rounds = [ask_in_new_session(directory, query) for _ in range(options.repetitions + 1)][1:]
            for execution, used in zip(EXECUTIONS, zip(*rounds)):
                for figure, values in (("CPU, ms", [one.cpu for one in used]), ("page faults", [one.faults for one in used])):
                    yield Record.of(f"{server}: {execution}, {figure}", case, peer, values)


def measure(directory, options):
    server = Server(options, directory)
    for name in options.servers:
        server.stop()
        server.configure({"shared_preload_libraries": "''", "huge_pages": "off", **server_settings(options), **SERVERS[name]})
        server.start()
        for record in measure_server(directory, options, name):
            note(f"{record.case}, {record.peer}, {record.figure} {report.number(record.value)}")
            yield record


def cell(records, server, execution, case, peer):
    """Return '3.21 (742)': milliseconds, and page faults."""
    cpu, faults = (report.select(records, figure=f"{server}: {execution}, {figure}", case=case, peer=peer)[0].value
                   for figure in ("CPU, ms", "page faults"))
    return f"{report.number(cpu)} ({faults:,.0f})"


def write(options, records, environment):
    """Write a line for each query and peer, with two columns for each server."""
    columns = [(server, execution) for server in options.servers for execution in EXECUTIONS]
    lines = [[case, peer, *(cell(records, server, execution, case, peer) for server, execution in columns)]
             for case in QUERIES for peer in PEERS]
    report.write_text(options, f"# {options.name}\n\n{environment}- ms of the session's processor time (page faults)\n\n" +
                      report.table(["", ""] + [f"{server}: {execution}" for server, execution in columns], lines), records)


def main():
    options = command_line()
    with cluster(options) as directory:
        cursor = connect(directory).cursor()
        cursor.execute("CREATE EXTENSION rtscan")
        prepare(cursor, options)
        environment = report.environment(cursor, options, "fact")
        records = list(measure(directory, options))
    write(options, records, environment)


if __name__ == "__main__":
    main()
