#!/usr/bin/python3
"""RTCUDB's experiment: the Star Schema Benchmark's queries on one flat table, or TPC-H's lineitem, by executor.

Times are those of whole prepared statements, as seen by a client, and the device's part of each. Every executor's
answer is compared with the CPU's. --changes also measures when some blocks are not all-visible, and when some rows
are dead. Writes results/NAME.md. The server needs a device: --set rtscan.device='0' chooses one.
"""
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count
from statistics import geometric_mean, median

from aggregates import WORKLOADS
from cluster import cluster, connect, parser
from generate import statements
from report import RESULTS, number, table
from run import note

EXECUTORS = ("cpu", "compute", "rt", "rtcudb")
TITLES = {"ssb": "The Star Schema Benchmark on one flat table", "lineitem": "TPC-H's lineitem"}
START = 60  # seconds within which a device must be ready


# One row in every {}-th block.
SOME = "ctid = ANY (ARRAY(SELECT format('(%s,1)', block)::tid FROM generate_series(0, (SELECT relpages FROM pg_class WHERE relname = 't') - 1, {}) AS block))"
CHANGES = {
    "every hundredth block has an updated row": [f"UPDATE t SET {{column}} = {{column}} WHERE {SOME.format(100)}"],
    "every twentieth block has had a row that is dead": [f"DELETE FROM t WHERE {SOME.format(20)}", "VACUUM (INDEX_CLEANUP ON) t"]}


def command_line():
    options = parser(__doc__, TITLES, 6_001_215)
    options.add_argument("--changes", action="store_true", help="ask again after changes")
    options = options.parse_args()
    options.name = options.name or f"jobs-{options.data}-{options.rows}"
    options.set = ["shared_preload_libraries=rtscan", "rtscan.device_timeout=2min", "max_parallel_maintenance_workers=8",
                   *options.set]
    return options


def one(cursor, query):
    cursor.execute(query)
    return cursor.fetchone()


def wait_for_device(cursor):
    end = time.monotonic() + START
    while one(cursor, "SELECT count(*) FROM rtscan_device()") == (0,):
        if time.monotonic() > end:
            sys.exit("there is no device: --set rtscan.device='0' chooses one, and the server's log says why not")
        time.sleep(0.1)


def load(directory, cursor, options):
    """Load the table with all processors: each fills a part of it."""
    parts = cpu_count()
    limits = [1 + options.rows * part // parts for part in range(parts + 1)]
    cursor.execute(statements(options.data, "t", 1, options.rows)[0])

    def fill(part):
        with connect(directory).cursor() as own:
            for statement in statements(options.data, "t", limits[part], limits[part + 1] - 1)[1:]:
                own.execute(statement)

    with ThreadPoolExecutor(parts) as pool:
        list(pool.map(fill, range(parts)))
    cursor.execute("VACUUM (ANALYZE, FREEZE) t")


def build(cursor, workload):
    start = time.perf_counter()
    cursor.execute(f"CREATE INDEX t_index ON t USING rtscan ({', '.join(workload.keys)}) INCLUDE ({', '.join(workload.payload)})")
    return time.perf_counter() - start


def device_time(cursor):
    return one(cursor, "SELECT sum(device_time) FROM pg_stat_rtscan")[0]


class Measure:
    """A query by one executor: its answer, milliseconds of the first and later executions, and the device's part of
    the latter.
    """

    def __init__(self, cursor, query, executor, repetitions):
        cursor.execute(f"SET rtscan.executor = '{executor}'")
        cursor.execute(f"PREPARE q AS {query}")
        self.first = self.run(cursor)
        self.answer = sorted(cursor.fetchall())
        before = device_time(cursor)
        self.time = median(self.run(cursor) for _ in range(repetitions))
        self.device = float(device_time(cursor) - before) / repetitions
        cursor.execute("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) EXECUTE q")
        self.plan = {name.strip(): value for (line,) in cursor.fetchall() if ": " in line
                     for name, value in [line.split(": ", 1)]}
        cursor.execute("DEALLOCATE q")

    @staticmethod
    def run(cursor):
        start = time.perf_counter()
        cursor.execute("EXECUTE q")
        return 1000 * (time.perf_counter() - start)

    def cell(self):
        return f"{number(self.time)} ({number(self.device)})" if self.device else number(self.time)


def measure(cursor, queries, repetitions):
    """Measure the executors on each query by name, and check that their answers are the same."""
    measures = {}
    for query in queries:
        note(query.case)
        measures[query.case] = {executor: Measure(cursor, query.sql, executor, 5 if executor == "cpu" else repetitions)
                                for executor in EXECUTORS}
        for executor, each in measures[query.case].items():
            if each.answer != measures[query.case]["cpu"].answer:
                sys.exit(f"{query.case}: the answer by {executor} differs")
    return measures


def lines(measures):
    for name, of in measures.items():
        plan = of["compute"].plan
        yield [name, *(of[executor].cell() for executor in EXECUTORS), of["rtcudb"].plan.get("Rays", "0"),
               plan.get("Rows Aggregated by Device", plan.get("Not Aggregated by Device", "")), number(of["rtcudb"].first)]


def table_of(measures):
    header = ["query, ms (of that the device)", *EXECUTORS, "rays", "rows that compute adds up, or why none", "first time, ms"]
    means = [number(geometric_mean(of[executor].time for of in measures.values())) for executor in EXECUTORS]
    return table(header, [*lines(measures), ["geometric mean", *means, "", "", ""]])


def report(cursor, options, measures, seconds):
    name, memory, bvhs, build_time = one(cursor, "SELECT name, pg_size_pretty(memory_used), bvhs, build_time FROM rtscan_device()")
    return (f"# {TITLES[options.data]}, {options.rows:,} rows, by each executor\n\n"
            f"- {one(cursor, 'SELECT version()')[0].split(' on ')[0]}; {name}\n"
            f"- CREATE INDEX {number(seconds)} s; on the device then {memory} with {bvhs} BVHs, which it has built in"
            f" {number(float(build_time))} ms\n"
            f"- medians of {options.repetitions} executions (5 by cpu), prepared; the first time rtcudb builds its BVHs\n\n"
            + table_of(measures))


def after_changes(cursor, workload, repetitions):
    for what, changes in CHANGES.items():
        note(what)
        for statement in changes:
            cursor.execute(statement.format(column=workload.payload[0]))
        yield f"\n## {what[0].upper()}{what[1:]}\n\n{table_of(measure(cursor, workload.queries, repetitions))}"


def main():
    options = command_line()
    workload = WORKLOADS[options.data]
    with cluster(options) as directory:
        cursor = connect(directory).cursor()
        cursor.execute("CREATE EXTENSION rtscan")
        wait_for_device(cursor)
        note(f"loading {options.data}, {options.rows} rows")
        load(directory, cursor, options)
        seconds = build(cursor, workload)
        cursor.execute("SET enable_seqscan = off")
        text = report(cursor, options, measure(cursor, workload.queries, options.repetitions), seconds)
        if options.changes:
            text += "".join(after_changes(cursor, workload, options.repetitions))
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{options.name}.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
