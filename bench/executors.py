#!/usr/bin/python3
"""Measure how often "auto" chooses an executor that is not the fastest, and what that costs.

Random queries run on tables with only an rtscan index. Each query runs by "auto" and by each executor by name, in
turns, after what they need has been put on the device. Each has a plan of its own, so that "cpu" may have several
processes. Writes results/NAME.md.

In four turns each executor follows each other one once, because a device's clocks and caches differ after a long
query of the CPU. The fastest executor is determined by every second group of four turns, and how much longer "auto"
takes by the other groups. Otherwise, if executors are equally fast, "auto" would be compared with the one that was
faster by chance, and would seem slower however it chose.

If "auto" has the same plan and executor as the fastest way, in a query that takes far longer than the choice, it has
chosen well: a longer time is noise, of processes and of rows from all over a table. That is also counted, and listed.
"""
import statistics
import time
from collections import Counter
from dataclasses import dataclass

from cluster import cluster, connect, parser
from random_queries import TABLES, Writer, load, note, sample_values
from report import RESULTS, table

LOADED = ("uniform", "zipf", "lineitem", "crowded")
CHOICES = ("cpu", "compute", "rt")
NEAR = 1.15
ORDERS = ((0, 1, 3, 2), (1, 2, 0, 3), (2, 3, 1, 0), (3, 0, 2, 1))  # in which each executor follows each other one once
SHORT = 0.3  # seconds: short queries have more turns, up to MOST_EIGHTS times eight, for a better median
MOST_EIGHTS = 8
SLOW = 20  # milliseconds from which a turn has two runs instead of three
CHOSEN = 1.0  # milliseconds: a choice takes far less than this


@dataclass
class Result:
    shape: str
    sql: str
    times: dict  # milliseconds by executor: the medians of the turns that count
    best: str  # according to the other turns
    ways: dict  # how each requested executor answers
    expected: str

    @property
    def ratio(self):
        return self.times["auto"] / self.times[self.best]

    @property
    def chosen(self):
        """Return true if "auto" answers in the same way as the fastest executor."""
        return self.times[self.best] > CHOSEN and self.ways["auto"] == self.ways[self.best]


def execution_time(cursor, sql):
    cursor.execute(f"EXPLAIN (ANALYZE, TIMING off, SUMMARY on, FORMAT json) {sql}")
    return cursor.fetchone()[0][0]["Execution Time"]


def scans(cursor):
    cursor.execute("SELECT executor, scans FROM pg_stat_rtscan")
    return dict(cursor.fetchall())


def way(cursor, executor, sql):
    """Return the plan for a requested executor, and the executors that answer."""
    cursor.execute(f"SET rtscan.executor = {executor}")
    cursor.execute(f"EXPLAIN (COSTS off) {sql}")
    plan = cursor.fetchall()
    before = scans(cursor)
    cursor.execute(sql)
    return plan, ", ".join(each for each, count in scans(cursor).items() if count > before[each])


def medians(times):
    return {executor: statistics.median(taken) for executor, taken in times.items()}


def take_turn(cursor, sql, executor):
    """Return the times of a turn's runs, without the first one, which finds the caches of other executors."""
    cursor.execute(f"SET rtscan.executor = {executor}")
    first = execution_time(cursor, sql)
    return [execution_time(cursor, sql) for _ in range(1 if first > SLOW else 2)]


def measure(cursor, sql, repetitions):
    """Return medians by executor: of every second group of four turns, and of the other groups."""
    executors = (*CHOICES, "auto")
    halves = [{executor: [] for executor in executors} for _ in range(2)]
    for executor in executors:
        take_turn(cursor, sql, executor)
    start = time.perf_counter()
    for eight in range(MOST_EIGHTS):
        for half in halves:
            for executor in (executors[number] for order in ORDERS for number in order):
                half[executor] += take_turn(cursor, sql, executor)
        if eight + 1 >= repetitions and time.perf_counter() - start > SHORT:
            break
    return [medians(half) for half in halves]


def expectations(cursor, sql):
    """Return what "auto" expects of each executor, each time that it chooses, from the server's messages at DEBUG2."""
    cursor.execute("SET rtscan.executor = auto; SET client_min_messages = debug2")
    cursor.connection.notices.clear()
    cursor.execute(sql)
    cursor.execute("RESET client_min_messages")
    said = [line.split("rtscan expects: ")[1].strip() for line in cursor.connection.notices if "rtscan expects: " in line]
    return "; ".join(dict.fromkeys(said))


def is_answered_by_rtscan(cursor, sql):
    cursor.execute("SET rtscan.executor = auto")
    cursor.execute(f"EXPLAIN {sql}")
    return any("rtscan" in line.lower() for (line,) in cursor.fetchall())


def measure_queries(cursor, tables, options):
    samples = sample_values(cursor, tables)
    results, number = [], 0
    while len(results) < options.queries:
        shape, sql = Writer(tables, samples, f"{options.seed} {number}").query()
        number += 1
        if is_answered_by_rtscan(cursor, sql):
            known, times = measure(cursor, sql, options.repetitions)
            ways = {executor: way(cursor, executor, sql) for executor in times}
            results.append(Result(shape, sql, times, min(CHOICES, key=known.get), ways, expectations(cursor, sql)))
            if len(results) % 20 == 0:
                note(f"{len(results)} queries")
    return results


def share(results, allowed=0, chosen=False):
    """Return the percentage of results within 15 % of the fastest, or within some milliseconds, or as fast by
    choice.
    """
    near = sum(each.ratio <= NEAR or each.times["auto"] <= each.times[each.best] + allowed or (chosen and each.chosen) for each in results)
    return f"{100 * near / len(results):.1f} %"


def summary(results):
    means = {executor: statistics.geometric_mean(each.times[executor] for each in results) for executor in (*CHOICES, "auto")}
    fastest = Counter(each.best for each in results)
    lines = [f"{len(results)} queries: by auto {share(results)} take no more than {NEAR} times as long as by the fastest executor, and "
             f"{share(results, 0.1)} with an allowance of 0.1 ms. With those of more than {CHOSEN:.0f} ms that the same executor answers as the fastest "
             f"way, whatever the noise: {share(results, chosen=True)} and {share(results, 0.1, True)}.\n"]
    lines.append(table(["", *CHOICES, "auto"], [
        ["fastest of", *(str(fastest[executor]) for executor in CHOICES), ""],
        ["geometric mean, ms", *(f"{means[executor]:.2f}" for executor in (*CHOICES, "auto"))]]))
    worst = sorted((each for each in results if each.ratio > NEAR), key=lambda each: -each.ratio)
    lines.append(table(["shape", "auto, ms", "by", *(f"{executor}, ms" for executor in CHOICES), "fastest", "auto expects", "query"],
                       [[each.shape, f"{each.times['auto']:.2f}", each.ways["auto"][1],
                         *(f"{each.times[executor]:.2f}" for executor in CHOICES), each.ways[each.best][1], each.expected,
                         f"`{each.sql[:300]}`"] for each in worst]))
    return "\n".join(lines)


def wait_for_device(cursor):
    for _ in range(300):
        cursor.execute("SELECT name FROM rtscan_device()")
        found = cursor.fetchall()
        if found:
            return found[0][0]
        time.sleep(0.1)
    raise SystemExit("there is no device: set rtscan.device with --set, and see what the server's log says")


def run(options, cursor):
    tables = [TABLES[name] for name in LOADED]
    cursor.execute("CREATE EXTENSION rtscan")
    device = wait_for_device(cursor)
    load(cursor, tables, options.rows, options.file, "rtscan")
    text = f"# The choice of auto\n\n{options.rows:,} rows a table, {device}.\n\n{summary(measure_queries(cursor, tables, options))}"
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{options.name}.md").write_text(text, encoding="utf-8")
    print(text.split("\n\n")[2])


def main():
    command = parser(__doc__, data_sets=(), rows=2_000_000)
    command.add_argument("--queries", type=int, default=200)
    command.add_argument("--seed", type=int, default=1)
    command.set_defaults(repetitions=1)
    options = command.parse_args()
    options.name = options.name or f"executors-{options.rows}"
    options.set = ["work_mem=4MB", "max_parallel_workers_per_gather=2", "shared_preload_libraries=rtscan", *options.set]
    with cluster(options) as directory:
        run(options, connect(directory).cursor())


if __name__ == "__main__":
    main()
