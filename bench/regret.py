#!/usr/bin/python3
"""Measure how often the planner chooses a plan that is not the fastest, and what that costs.

Random queries of all shapes run on tables with an rtscan index and the btrees that a user would have. Each runs as
planned, with parts of the planner switched off, with one kind of index hidden, and without rtscan. Writes
results/NAME.md and .json. --times uses the times of plans from an earlier run's .json, so that other costs can be
tried in seconds.
"""
import json
import time
from dataclasses import dataclass
from pathlib import Path

import psycopg2

from cluster import cluster, connect, parser
from random_queries import TABLES, Writer, load, note, sample_values
from report import RESULTS, table

LOADED = ("uniform", "zipf", "lineitem", "flights")

NEAR, NEAR_MS = 1.2, 0.3  # plans within this count as fast as the fastest
SLOWER, SLOWER_MS = 1.3, 1.0  # slower because of rtscan
RUNS, BUDGET = 5, 0.4  # runs of a plan; seconds after which there are no further runs
GIVE_UP = 30  # a plan that takes that many times as long as the fastest is cancelled
NEVER = 1e6  # milliseconds that stand for a cancelled plan
DISABLED = 1e9  # costs of plans with parts that are switched off

SCANS = ("enable_seqscan", "enable_indexscan", "enable_bitmapscan", "rtscan.enable_scan")
JOINS = ("enable_nestloop", "enable_hashjoin", "enable_mergejoin")


def only(kinds, wanted):
    return {kind: "on" if kind in wanted else "off" for kind in kinds}


NODE_OFF = {"rtscan.enable_aggregate": "off"}
SERIAL = {"max_parallel_workers_per_gather": "0"}
NO_STAR = {"rtscan.enable_star": "off"}
WAYS = {
    "planned": {},
    "serial": SERIAL,
    "no node": NODE_OFF,
    "seq scan": only(SCANS, ["enable_seqscan"]) | NODE_OFF | SERIAL,
    "bitmap": only(SCANS, ["enable_bitmapscan"]) | NODE_OFF | SERIAL,
    "btree": only(SCANS, ["enable_indexscan"]) | NODE_OFF | SERIAL,
    "rtscan scan": only(SCANS, ["rtscan.enable_scan"]) | NODE_OFF | SERIAL,
    "node": only(SCANS, []) | SERIAL,
    "star": only(JOINS, []) | SERIAL,
    "no star": NO_STAR,
    "nested loop": only(JOINS, ["enable_nestloop"]) | NO_STAR | SERIAL,
    "nested loop, bitmap": only(JOINS, ["enable_nestloop"]) | only(SCANS, ["enable_bitmapscan"]) | NO_STAR | SERIAL,
    "nested loop, btree": only(JOINS, ["enable_nestloop"]) | only(SCANS, ["enable_indexscan"]) | NO_STAR | SERIAL,
    "nested loop, rtscan scan": only(JOINS, ["enable_nestloop"]) | only(SCANS, ["rtscan.enable_scan"]) | NO_STAR | SERIAL,
    "hash join": only(JOINS, ["enable_hashjoin"]) | NO_STAR | SERIAL,
}
SETTINGS = sorted({name for settings in WAYS.values() for name in settings})
HIDDEN = {"": [], "without btree": ["btree"], "without rtscan": ["rtscan"]}


# ---------------------------------------------------------------- running

def hide(cursor, methods):
    """Hide indexes of these access methods from the planner."""
    cursor.execute("""
        UPDATE pg_index SET indisvalid = NOT indisvalid
        FROM pg_class AS i JOIN pg_am ON pg_am.oid = i.relam, pg_class AS t
        WHERE i.oid = indexrelid AND t.oid = indrelid AND t.relnamespace = 'public'::regnamespace
          AND indisvalid = (amname = ANY (%s))""", [methods])


def set_way(cursor, settings):
    for name in SETTINGS:
        cursor.execute(f"SET {name} = {settings[name]}" if name in settings else f"RESET {name}")


def shape_of(node):
    """Return what distinguishes one plan from another, as text."""
    keys = ("Node Type", "Custom Plan Provider", "Relation Name", "Relation", "Index Name", "Index", "Join Type", "Strategy",
            "Partial Mode", "Workers Planned", "Order", "Order Method", "Scan Direction")
    kept = [str(node[key]) for key in keys if key in node]
    return f"{' '.join(kept)}({', '.join(shape_of(child) for child in node.get('Plans', []))})"


def explain(cursor, sql):
    """Return (shape of the plan, its cost)."""
    cursor.execute(f"EXPLAIN (FORMAT json) {sql}")
    plan = cursor.fetchone()[0][0]["Plan"]
    return shape_of(plan), plan["Total Cost"]


def measure(cursor, sql, limit):
    """Return the least milliseconds of some runs in the server; None if they exceed the limit."""
    best, start = None, time.perf_counter()
    cursor.execute(f"SET statement_timeout = {int(limit)}")
    try:
        for _ in range(RUNS):
            cursor.execute(f"EXPLAIN (ANALYZE, TIMING off, SUMMARY on, FORMAT json) {sql}")
            taken = cursor.fetchone()[0][0]["Execution Time"]
            best = taken if best is None else min(best, taken)
            if time.perf_counter() - start > BUDGET:
                break
    except psycopg2.errors.QueryCanceled:
        best = None
    cursor.execute("RESET statement_timeout")
    return best


def plans_of(cursor, queries):
    """Return for each query {(way, hidden): (shape, cost)}."""
    found = [{} for _ in queries]
    for hidden, methods in HIDDEN.items():
        hide(cursor, methods)
        for way, settings in WAYS.items():
            set_way(cursor, settings)
            for (_, sql), plans in zip(queries, found):
                plans[way, hidden] = explain(cursor, sql)
    return found


def measure_plans(cursor, queries, found, times):
    """Run each plan that has no time yet."""
    for hidden, methods in HIDDEN.items():
        hide(cursor, methods)
        for number, ((_, sql), plans) in enumerate(zip(queries, found)):
            known = times.setdefault(sql, {})
            for way, settings in WAYS.items():
                shape, _ = plans[way, hidden]
                if shape in known:
                    continue
                set_way(cursor, settings)
                best = min((taken for taken in known.values() if taken), default=None)
                known[shape] = measure(cursor, sql, max(2000, GIVE_UP * best) if best else 60_000)
            if number % 50 == 49:
                note(f"{hidden or 'all indexes'}: {number + 1} queries")
    hide(cursor, [])
    set_way(cursor, {})


# ---------------------------------------------------------------- results

@dataclass
class Result:
    shape: str
    sql: str
    plan: str
    taken: float
    best_plan: str
    best: float
    without: float  # rtscan

    @property
    def ratio(self):
        return self.taken / self.best

    @property
    def near(self):
        return self.taken <= NEAR * self.best + NEAR_MS

    @property
    def slower(self):
        return self.taken > SLOWER * self.without + SLOWER_MS


def results_of(queries, found, times):
    for (shape, sql), plans in zip(queries, found):
        known = times[sql]
        plan = plans["planned", ""][0]
        reachable = {plan: known[plan] or NEVER for plan, _ in plans.values()}
        best_plan = min(reachable, key=reachable.get)
        yield Result(shape, sql, plan, reachable[plan], best_plan, reachable[best_plan],
                     reachable[plans["planned", "without rtscan"][0]])


def predictions(found, queries, times):
    """Yield (cost, milliseconds, shape, query) of each plan that is a single node of rtscan's."""
    for (_, sql), plans in zip(queries, found):
        own = {shape: cost for shape, cost in sorted(plans.values(), reverse=True)
               if shape.startswith("Custom Scan Rtscan") and cost < DISABLED and times[sql][shape]}
        for shape, cost in own.items():
            yield cost, times[sql][shape], shape, sql


def accuracy(predicted):
    """Report how many of rtscan's nodes take the predicted time, with the median as the unit of cost."""
    units = sorted(taken / cost for cost, taken, _, _ in predicted)
    unit = units[len(units) // 2]
    close = sum(0.5 <= taken / cost / unit <= 2 or abs(taken - cost * unit) <= NEAR_MS for cost, taken, _, _ in predicted)
    return (f"Of {len(units)} plans of one node, {100 * close / len(units):.0f} % took what was predicted within a factor of 2 "
            f"(+-{NEAR_MS} ms), at {1000 * unit:.2f} microseconds a unit of cost.\n")


def summary(results):
    ratios = sorted((result for result in results if not result.near), key=lambda result: -result.ratio)
    share = 100 * sum(result.near for result in results) / len(results)
    slower = [result for result in results if result.slower]
    lines = [f"{len(results)} queries: {share:.0f} % within {NEAR} (+{NEAR_MS} ms) of the fastest way, the worst "
             f"{max((r.ratio for r in ratios), default=1):.1f} times as long; {len(slower)} slower for having rtscan by more "
             f"than {SLOWER} (+{SLOWER_MS:g} ms).\n"]
    rows = [[result.shape, f"{result.taken:.2f}", f"{result.best:.2f}", f"{result.without:.2f}", f"`{result.plan}`",
             f"`{result.best_plan}`", f"`{result.sql[:300]}`"] for result in ratios]
    rows += [["slower", f"{r.taken:.2f}", f"{r.best:.2f}", f"{r.without:.2f}", f"`{r.plan}`", f"`{r.best_plan}`",
              f"`{r.sql[:300]}`"] for r in slower if r.near]
    return lines[0] + "\n" + table(["shape", "ms", "fastest", "without rtscan", "plan", "fastest plan", "query"], rows)


def command_line():
    result = parser(__doc__, rows=2_000_000)
    result.add_argument("--queries", type=int, default=500)
    result.add_argument("--seed", type=int, default=1)
    result.add_argument("--times", help="the .json of an earlier run")
    result.add_argument("--dsn", help="a server that has the tables already")
    options = result.parse_args()
    options.name = options.name or f"regret-{options.rows}"
    return options


def run(options, cursor):
    tables = [TABLES[name] for name in LOADED]
    samples = sample_values(cursor, tables)
    queries = [Writer(tables, samples, f"{options.seed} {number}").query() for number in range(options.queries)]
    times = json.loads(Path(options.times).read_text(encoding="utf-8")) if options.times else {}
    text = "# The planner's choice\n"
    for random_page_cost in (4, 1.1):
        cursor.execute(f"SET random_page_cost = {random_page_cost}")
        found = plans_of(cursor, queries)
        measure_plans(cursor, queries, found, times)
        text += f"\n## random_page_cost = {random_page_cost}\n\n{summary(list(results_of(queries, found, times)))}"
    cursor.execute("SET random_page_cost = 0.1; SET seq_page_cost = 0.1")  # all pages are in memory
    found = plans_of(cursor, queries)
    measure_plans(cursor, queries, found, times)
    prices = list(predictions(found, queries, times))
    text += f"\n## Prices of pages in memory\n\n{accuracy(prices)}"
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{options.name}.json").write_text(json.dumps(times), encoding="utf-8")
    (RESULTS / f"{options.name}-prices.json").write_text(json.dumps(prices), encoding="utf-8")
    (RESULTS / f"{options.name}.md").write_text(text, encoding="utf-8")
    print("\n".join(line for line in text.splitlines() if "queries:" in line or "plans of" in line or line.startswith("##")))


def main():
    options = command_line()
    options.set = ["work_mem=4MB", "max_parallel_workers_per_gather=2", *options.set]
    if options.dsn:
        connection = psycopg2.connect(options.dsn)
        connection.autocommit = True
        run(options, connection.cursor())
        return
    with cluster(options) as directory:
        cursor = connect(directory).cursor()
        cursor.execute("CREATE EXTENSION rtscan")
        load(cursor, [TABLES[name] for name in LOADED], options.rows, options.file)
        run(options, cursor)


if __name__ == "__main__":
    main()
