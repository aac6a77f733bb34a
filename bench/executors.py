#!/usr/bin/python3
"""How often does "auto" take an executor that is not the fastest, and what does that cost?

Random queries on tables that have an rtscan index only. Each is run by "auto" and by each executor by name, in turns, when what they
need is on the device. A plan is chosen for each of them, so that "cpu" may have several processes. Writes results/NAME.md.

In four turns each of them follows each other once: after a long query of the CPU's a device's clocks and caches are not what they are after
one of its own. Which one is the fastest is known from every second four, and how much longer "auto" takes from the others: of executors that
take the same time the one that happened to take less would else be compared with, and "auto" take longer than that, however it chose.

Where "auto" takes the plan and the executor that the fastest way takes, in a query that takes far longer than a choice, it has chosen well:
that it takes longer is noise, of processes and of rows from all over a table.  That is counted, too, and listed.
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
ORDERS = ((0, 1, 3, 2), (1, 2, 0, 3), (2, 3, 1, 0), (3, 0, 2, 1))  # in which each follows each other once
SHORT = 0.3  # seconds: of queries that take little there are more turns, so that the median is known better, up to so many times eight
MOST_EIGHTS = 8
SLOW = 20  # milliseconds, from which on two runs make a turn in place of three
CHOSEN = 1.0  # milliseconds: a choice takes far less than this


@dataclass
class Result:
    shape: str
    sql: str
    times: dict  # by executor, milliseconds: the medians of the turns that count
    best: str  # as the other turns say
    ways: dict  # how they answer, by the executor that is asked for
    expected: str

    @property
    def ratio(self):
        return self.times["auto"] / self.times[self.best]

    @property
    def chosen(self):
        """Is it by choice the same as the fastest?"""
        return self.times[self.best] > CHOSEN and self.ways["auto"] == self.ways[self.best]


def execution_time(cursor, sql):
    cursor.execute(f"EXPLAIN (ANALYZE, TIMING off, SUMMARY on, FORMAT json) {sql}")
    return cursor.fetchone()[0][0]["Execution Time"]


def scans(cursor):
    cursor.execute("SELECT executor, scans FROM pg_stat_rtscan")
    return dict(cursor.fetchall())


def way(cursor, executor, sql):
    """The plan, if an executor is asked for, and the executors that answer."""
    cursor.execute(f"SET rtscan.executor = {executor}")
    cursor.execute(f"EXPLAIN (COSTS off) {sql}")
    plan = cursor.fetchall()
    before = scans(cursor)
    cursor.execute(sql)
    return plan, ", ".join(each for each, count in scans(cursor).items() if count > before[each])


def medians(times):
    return {executor: statistics.median(taken) for executor, taken in times.items()}


def take_turn(cursor, sql, executor):
    """What runs take, but for the first, which finds others' caches."""
    cursor.execute(f"SET rtscan.executor = {executor}")
    first = execution_time(cursor, sql)
    return [execution_time(cursor, sql) for _ in range(1 if first > SLOW else 2)]


def measure(cursor, sql, repetitions):
    """Medians by executor of every second four turns, and of the others."""
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
    """What auto expects of whom, each time that it chooses, as the server says at DEBUG2."""
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
    """In a hundred, how many are within 15 % of the fastest, or within so many milliseconds, or as fast by choice?"""
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
