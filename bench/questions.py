"""What bench/ask.py asks: sets of questions, each about one table with one index."""
from dataclasses import dataclass

import aggregates
from generate import LARGEST


@dataclass(frozen=True)
class Question:
    """A query for both systems, or one for each; rtscan may take at most this part of DuckDB's time, or of its own for another
    question."""
    name: str
    sql: str
    most: float = None
    duckdb: str = ""
    beside: str = ""

    def line(self):
        """As the client reads it."""
        return "\t".join(" ".join(text.split()) for text in (self.name, self.sql, self.duckdb)) + "\n"


@dataclass(frozen=True)
class Questions:
    """A data set of generate.py in a table, and its index."""
    data: str
    table: str
    rows: int
    index: str
    questions: tuple


def at(share):
    return int(share * LARGEST)


def below(share, columns="abc"):
    return " AND ".join(f"{column} <= {at(share)}" for column in columns)


def ask(name, what, where, most=None, then="", duckdb="", beside=""):
    """A question about w; duckdb is what DuckDB is asked for instead."""
    sql, other = (f"SELECT {columns} FROM w WHERE {where} {then}" for columns in (what, duckdb))
    return Question(name, sql, most, other if duckdb else "", beside)


def of_rows():
    for share, most in ((.1, .25), (.2, .6), (.5, 3.5)):
        yield ask(f"`SELECT v, g`, {share}", "v, g", below(share), most)
    yield ask("`SELECT a, b, c, v, g`, 0.2", "a, b, c, v, g", below(.2), 1.2)
    for share, most in ((.1, .25), (.2, .7)):
        yield ask(f"`SELECT *`, {share}", "*", below(share), most)
    for share in (.5, .01):
        yield ask(f"`ORDER BY a DESC LIMIT 10`, b and c {share}", "a, v", below(share, "bc"), 1 / 12, "ORDER BY a DESC LIMIT 10")
    yield ask("`ORDER BY a, v DESC LIMIT 10`, 0.2", "a, v", below(.2), 1 / 8, "ORDER BY a, v DESC LIMIT 10")
    yield ask("`ORDER BY v DESC, g LIMIT 100`, 0.2", "v, g", below(.2), 1 / 3, "ORDER BY v DESC, g LIMIT 100")
    yield ask("`ORDER BY b OFFSET 500 LIMIT 10`, 0.2", "b", below(.2), 1 / 6, "ORDER BY b OFFSET 500 LIMIT 10")
    yield ask("`SELECT v`: OR, NOT, BETWEEN, `<>`, 0.1", "v",
              f"(a < {at(.05)} OR a BETWEEN {at(.5)} AND {at(.55)}) AND NOT b > {at(.1)} "
              f"AND c BETWEEN {at(.4)} AND {at(.5)} AND c <> {at(.45)}", 1 / 10)
    yield ask("count, (a, b 0.2) OR c of 2 %", "count(*)", f"({below(.2, 'ab')}) OR c BETWEEN {at(.5)} AND {at(.52)}", 1 / 8)
    yield ask("count, (a, b 0.2) OR (b, c 0.1) OR g of 3", "count(*)",
              f"({below(.2, 'ab')}) OR ({below(.1, 'bc')}) OR g IN (3, 5, 8)", 1 / 4)
    yield ask("count, a < 0.5, v of 1,000", "count(*)",
              f"a < {at(.5)} AND v IN ({', '.join(str(7 * n) for n in range(1000))})", 1 / 3)


def of_sums_and_groups():
    yield ask("`count(*)`, 0.01", "count(*)", below(.01))
    yield ask("`sum(v)`, 0.01", "sum(v)", below(.01), 1.3, beside="`count(*)`, 0.01")
    yield ask("`sum(v)`, 0.9", "sum(v)", below(.9), 1 / 5)
    for share, most in ((.2, 1 / 6), (.5, 1 / 4), (.9, 1 / 2.5)):
        yield ask(f"`count(*), sum(v) GROUP BY g`, {share}", "g, count(*), sum(v)", below(share), most, "GROUP BY g")
    yield ask("`count(*), sum(v) GROUP BY v`, 0.9", "v, count(*), sum(v)", below(.9), 1 / 1.5, "GROUP BY v")
    yield ask("`count(*) GROUP BY v % 10`, 0.5", "v % 10, count(*)", below(.5), 1 / 2.5, "GROUP BY v % 10")
    yield ask("`min`, `max` of a and of v, b and c 0.5", "min(a), max(a), min(v), max(v)", below(.5, "bc"), 1 / 5)
    yield ask("`stddev(v), corr(v, g)`, 0.5", "stddev(v), corr(v, g)", below(.5), 1 / 3)
    yield ask("`sum(v * g + 1), avg(v - g)`, 0.9", "sum(v * g + 1), avg(v - g)", below(.9), 1 / 4)


def of_quantiles_and_distinct_values():
    for column, share in (("v", .2), ("a", .5)):
        yield ask(f"median of {column}, {share}", f"percentile_disc(0.5) WITHIN GROUP (ORDER BY {column})", below(share), 1 / 6,
                  duckdb=f"quantile_disc({column}, 0.5)")
    yield ask("quartiles of v `GROUP BY g`, 0.2", "g, percentile_disc(array[0.25, 0.5, 0.75]) WITHIN GROUP (ORDER BY v)",
              below(.2), 1 / 2, "GROUP BY g", duckdb="g, quantile_disc(v, [0.25, 0.5, 0.75])")
    for column, share, most in (("v", .2, 1 / 5), ("g", .5, 1 / 5), ("a", .5, 1 / 2)):
        yield ask(f"`count(DISTINCT {column})`, {share}", f"count(DISTINCT {column})", below(share), most)


def within(kind, radius):
    """Points around the middle, by arithmetic in a type."""
    a, b = (f"({column}::{kind} - {at(.5)})" for column in "ab")
    return f"{a} * {a} + {b} * {b} < {at(radius)}::{kind} * {at(radius)}"


def of_expressions():
    yield ask("count, a < b, c < 0.5", "count(*)", f"a < b AND c < {at(.5)}", 1 / 2)
    yield ask("count, 2a + 3b - c < k (bigint, 19 %)", "count(*)", f"2 * a::bigint + 3 * b::bigint - c < {LARGEST}", 1 / 2)
    for kind in ("bigint", "float8"):
        yield ask(f"count, radius ({kind}, a box of 1 %)", "count(*)", within(kind, .05), 1 / 20)


def of_lineitem():
    sql = {query.case: query.sql for query in aggregates.LINEITEM}
    yield Question("TPC-H Q6", sql["Q6"], 1 / 12)
    yield Question("TPC-H Q1", sql["Q1"], 1 / 1.5)


W = "wide", "w", 10_000_000, "(a, b, c) INCLUDE (v, g)"
LINEITEM = ("lineitem", "t", 6_001_215,
            "(l_shipdate, l_discount, l_quantity) INCLUDE (l_extendedprice, l_tax, l_returnflag, l_linestatus)")
SETS = {
    "rows": Questions(*W, tuple(of_rows())),
    "aggregates": Questions(*W, (*of_sums_and_groups(), *of_quantiles_and_distinct_values(), *of_expressions())),
    "lineitem": Questions(*LINEITEM, tuple(of_lineitem())),
}
