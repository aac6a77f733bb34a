"""What bench/ask.py asks: sets of questions, each about one table with one index."""
from dataclasses import dataclass

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


W = "wide", "w", 10_000_000, "(a, b, c) INCLUDE (v, g)"
SETS = {
    "rows": Questions(*W, tuple(of_rows())),
}
