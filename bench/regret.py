#!/usr/bin/python3
"""How often does the planner take a way that is not the fastest, and what does that cost?

Random queries of every shape, on tables that have an rtscan index beside the btrees that a user would have. Each is run
as planned, with ways switched off, with one kind of index hidden, and without rtscan. Writes results/NAME.md and .json;
--times takes the times of plans from an earlier run's .json, so that other prices can be tried in seconds.
"""
import json
import random
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import psycopg2

from cluster import cluster, connect, parser
from generate import DATA_SETS, copy_lines
from report import RESULTS, table

NEAR, NEAR_MS = 1.2, 0.3  # as fast as the fastest
SLOWER, SLOWER_MS = 1.3, 1.0  # slower for having rtscan
RUNS, BUDGET = 5, 0.4  # runs of a plan; seconds, after which fewer will do
GIVE_UP = 30  # a way that takes so many times as long as the fastest is not waited for
NEVER = 1e6  # milliseconds that stand for that
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


# ---------------------------------------------------------------- tables and queries

@dataclass(frozen=True)
class Table:
    """A table: how it is filled, its indexes, and the columns by what a query does with them."""
    name: str
    source: object  # rows first..last as a SELECT
    indexes: tuple
    searched: tuple
    summed: tuple
    grouped: tuple
    joined: tuple


def uniform(first, last):
    integer = "floor(random() * 2147483647)::int4"
    return f"""
SELECT i AS id, {integer} AS a, {integer} AS b, {integer} AS c, floor(random() * 11)::int4 AS e,
       floor(random() * 100)::int4 AS g, floor(random() * 10000)::int4 AS v, random() AS x, md5(i::text) AS filler
FROM generate_series({first}, {last}) AS i"""


def named(data_set):
    return lambda first, last: f"SELECT * FROM ({DATA_SETS[data_set].rows_between(first, last)}) AS r (a, b, c)"


def lineitem(first, last):
    columns = DATA_SETS["lineitem"].definition.replace("(15,2)", "").split(",")
    cast = ", ".join(f"{name}::{kind.replace('numeric', 'numeric(15,2)')} AS {name}"
                     for name, kind in (column.split() for column in columns))
    names = ", ".join(column.split()[0] for column in columns)
    return f"SELECT {cast} FROM ({DATA_SETS['lineitem'].rows_between(first, last)}) AS r ({names})"


TABLES = (
    Table("uniform", uniform, ("btree (id)", "btree (a)", "btree (e)", "rtscan (a, b, c, e, x) INCLUDE (v, g)"),
          ("a", "b", "c", "e", "x", "id"), ("v", "a", "b"), ("g", "e"), ("a", "b")),
    Table("zipf", named("zipf1.3"), ("btree (a)", "btree (b, c)", "rtscan (a, b, c)"),
          ("a", "b", "c"), ("a", "b"), ("a",), ("b",)),
    Table("lineitem", lineitem, ("btree (l_orderkey, l_linenumber)", "btree (l_shipdate)", "btree (l_partkey)",
                                 "rtscan (l_shipdate, l_discount, l_quantity, l_partkey, l_returnflag, l_suppkey)"
                                 " INCLUDE (l_extendedprice, l_discount, l_quantity, l_tax)"),
          ("l_shipdate", "l_discount", "l_quantity", "l_partkey", "l_returnflag", "l_suppkey", "l_orderkey"),
          ("l_extendedprice", "l_quantity", "l_suppkey"), ("l_returnflag", "l_discount"), ("l_partkey", "l_suppkey")),
    Table("flights", None, ("btree (date)", "btree (origin, destination)", "rtscan (distance, delay, minute, origin, date)"
                            " INCLUDE (destination)"),
          ("distance", "delay", "minute", "origin", "date", "destination"), ("delay", "distance", "minute"),
          ("origin", "destination", "distance"), ("distance", "origin")),
)


def fill(cursor, each, rows, file):
    if each.source:
        cursor.execute("SELECT setseed(0.5)")
        cursor.execute(f"CREATE TABLE {each.name} AS {each.source(1, rows)}")
    else:
        cursor.execute(f"CREATE TABLE {each.name} ({DATA_SETS[each.name].definition})")
        copy_lines(cursor, each.name, 1, rows, file)


def load(cursor, rows, file):
    for each in TABLES:
        note(f"loading {each.name}")
        fill(cursor, each, rows, file)
        for index in each.indexes:
            cursor.execute(f"CREATE INDEX ON {each.name} USING {index}")
        for column in each.joined:
            cursor.execute(f"CREATE TABLE {each.name}_{column} AS SELECT row_number() OVER ()::int4 AS n, {column} AS k"
                           f" FROM (SELECT {column} FROM {each.name} ORDER BY md5({column}::text), ctid LIMIT 2000) AS s")
            cursor.execute(f"VACUUM (ANALYZE) {each.name}_{column}")
        cursor.execute(f"VACUUM (ANALYZE, FREEZE) {each.name}")


def sample_values(cursor):
    """Sorted values of each searched column, as literals: what predicates are made of."""
    samples = {}
    for each in TABLES:
        for column in each.searched:
            cursor.execute(f"SELECT {column}::text FROM (SELECT {column} FROM {each.name} TABLESAMPLE BERNOULLI (0.5)"
                           f" REPEATABLE (1)) AS s ORDER BY s.{column}")
            samples[each.name, column] = [value for (value,) in cursor.fetchall()]
    return samples


class Writer:
    """Writes random queries."""

    def __init__(self, samples, seed):
        self.samples = samples
        self.random = random.Random(seed)

    def one_of(self, *choices):
        return self.random.choice(choices)

    def range_of(self, each, column):
        values = self.samples[each.name, column]
        n = len(values)
        width = min(n - 1, int(n * 10 ** self.random.uniform(-4, 0)))
        low = self.random.randrange(n - width)
        return f"{column} BETWEEN '{values[low]}' AND '{values[low + width]}'"

    def predicate(self, each, column):
        values = self.samples[each.name, column]
        kind = self.random.random()
        if kind < 0.2:
            return f"{column} = '{self.random.choice(values)}'"
        if kind < 0.35:
            chosen = self.random.choices(values, k=self.one_of(2, 5, 20, 100))
            return f"{column} IN ({', '.join(repr(value) for value in chosen)})"
        if kind < 0.5:
            cut = values[int(len(values) * self.random.random() ** 3)]
            return f"{column} {self.one_of('<', '<=')} '{cut}'"
        return self.range_of(each, column)

    def where(self, each, least=1):
        columns = self.random.sample(each.searched, self.random.randint(least, min(3, len(each.searched))))
        predicates = [self.predicate(each, column) for column in columns]
        if len(predicates) > 1 and self.random.random() < 0.1:
            return f"({' OR '.join(predicates[:2])})" + "".join(f" AND {predicate}" for predicate in predicates[2:])
        return " AND ".join(predicates)

    def aggregates(self, each):
        calls = ["count(*)"] + [f"{function}({column})" for column in each.summed
                                for function in ("sum", "avg", "min", "max")]
        return ", ".join(self.random.sample(calls, self.random.randint(1, 3)))

    def columns(self, each):
        return self.one_of("*", ", ".join(each.summed[:2]), each.summed[0], f"{each.searched[0]}, {each.summed[0]}")

    def query(self):
        each = self.one_of(*TABLES)
        shape = self.one_of("count", "count", "aggregate", "aggregate", "group", "rows", "rows", "limit", "top", "exists",
                            "join", "join", "semijoin")
        where = self.where(each)
        if shape == "count":
            return shape, f"SELECT count(*) FROM {each.name} WHERE {where}"
        if shape == "aggregate" or (shape == "group" and not each.grouped):
            return "aggregate", f"SELECT {self.aggregates(each)} FROM {each.name} WHERE {where}"
        if shape == "group":
            key = self.one_of(*each.grouped)
            return shape, f"SELECT {key}, {self.aggregates(each)} FROM {each.name} WHERE {where} GROUP BY {key}"
        if shape == "rows":
            return shape, f"SELECT {self.columns(each)} FROM {each.name} WHERE {where}"
        if shape == "limit":
            return shape, f"SELECT {self.columns(each)} FROM {each.name} WHERE {where} LIMIT {self.one_of(1, 10, 100)}"
        if shape == "top":
            order = self.one_of(*each.searched)
            return shape, f"SELECT {self.columns(each)} FROM {each.name} WHERE {where} ORDER BY {order} LIMIT 10"
        column = self.one_of(*each.joined)
        other = f"{each.name}_{column}"
        if shape == "exists":
            return shape, (f"SELECT count(*) FROM {other} AS o WHERE o.n <= {self.one_of(5, 50)} AND EXISTS"
                           f" (SELECT FROM {each.name} WHERE {column} = o.k AND {where})")
        few = self.one_of(1, 10, 100, 2000)
        if shape == "semijoin":
            return shape, (f"SELECT {self.aggregates(each)} FROM {each.name} WHERE {where} AND {column} IN"
                           f" (SELECT k FROM {other} WHERE n <= {few})")
        return shape, (f"SELECT {self.aggregates(each)} FROM {each.name} JOIN {other} AS o ON {column} = o.k"
                       f" WHERE {where} AND o.n <= {few}")


# ---------------------------------------------------------------- running

def note(text):
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


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
    """What distinguishes one plan from another, as text."""
    keys = ("Node Type", "Custom Plan Provider", "Relation Name", "Relation", "Index Name", "Index", "Join Type", "Strategy",
            "Partial Mode", "Workers Planned", "Order", "Order Method", "Scan Direction")
    kept = [str(node[key]) for key in keys if key in node]
    return f"{' '.join(kept)}({', '.join(shape_of(child) for child in node.get('Plans', []))})"


def explain(cursor, sql):
    """(shape of the plan, its cost)"""
    cursor.execute(f"EXPLAIN (FORMAT json) {sql}")
    plan = cursor.fetchone()[0][0]["Plan"]
    return shape_of(plan), plan["Total Cost"]


def measure(cursor, sql, limit):
    """Milliseconds in the server, the least of some runs; None if it takes longer than the limit."""
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
    """For each query {(way, hidden): (shape, cost)}."""
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
    """(cost, milliseconds) of each plan that is one node of rtscan's, with the way to it."""
    for (_, sql), plans in zip(queries, found):
        own = {shape: cost for shape, cost in sorted(plans.values(), reverse=True)
               if shape.startswith("Custom Scan Rtscan") and cost < DISABLED and times[sql][shape]}
        for shape, cost in own.items():
            yield cost, times[sql][shape], shape, sql


def accuracy(predicted):
    """How many of rtscan's nodes take what they were priced at, the median being the price's unit?"""
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
    samples = sample_values(cursor)
    queries = [Writer(samples, f"{options.seed} {number}").query() for number in range(options.queries)]
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
        load(cursor, options.rows, options.file)
        run(options, cursor)


if __name__ == "__main__":
    main()
