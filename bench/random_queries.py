"""Random queries of all shapes on a few tables, and the tables."""
import random
import sys
import time
from dataclasses import dataclass

from generate import DATA_SETS, copy_lines


def note(text):
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


# ---------------------------------------------------------------- tables

@dataclass(frozen=True)
class Table:
    """A table: how it is filled, its indexes, and its columns by their use in queries."""
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


TABLES = {each.name: each for each in (
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
    Table("crowded", named("crowded"), ("btree (a)", "rtscan (a, b, c)"), ("a", "b", "c"), ("a", "b"), (), ("b",)),
)}


def fill(cursor, each, rows, file):
    if each.source:
        cursor.execute("SELECT setseed(0.5)")
        cursor.execute(f"CREATE TABLE {each.name} AS {each.source(1, rows)}")
    else:
        cursor.execute(f"CREATE TABLE {each.name} ({DATA_SETS[each.name].definition})")
        copy_lines(cursor, each.name, 1, rows, file)


def load(cursor, tables, rows, file, method=""):
    """Create the tables, with all of their indexes or those of an access method."""
    for each in tables:
        note(f"loading {each.name}")
        fill(cursor, each, rows, file)
        for index in each.indexes:
            if index.startswith(method):
                cursor.execute(f"CREATE INDEX ON {each.name} USING {index}")
        for column in each.joined:
            cursor.execute(f"CREATE TABLE {each.name}_{column} AS SELECT row_number() OVER ()::int4 AS n, {column} AS k"
                           f" FROM (SELECT {column} FROM {each.name} ORDER BY md5({column}::text), ctid LIMIT 2000) AS s")
            cursor.execute(f"VACUUM (ANALYZE) {each.name}_{column}")
        cursor.execute(f"VACUUM (ANALYZE, FREEZE) {each.name}")


def sample_values(cursor, tables):
    """Return sorted values of each searched column as literals, for predicates."""
    samples = {}
    for each in tables:
        for column in each.searched:
            cursor.execute(f"SELECT {column}::text FROM (SELECT {column} FROM {each.name} TABLESAMPLE BERNOULLI (0.5)"
                           f" REPEATABLE (1)) AS s ORDER BY s.{column}")
            samples[each.name, column] = [value for (value,) in cursor.fetchall()]
    return samples


# ---------------------------------------------------------------- queries

class Writer:
    """Generates random queries."""

    def __init__(self, tables, samples, seed):
        self.tables = tables
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
        if self.random.random() < 0.1:  # the other condition on it may exclude all rows
            columns.append(columns[0])
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
        each = self.one_of(*self.tables)
        shape = self.one_of("count", "count", "aggregate", "aggregate", "group", "rows", "rows", "limit", "top", "any", "exists",
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
        if shape == "any":
            return shape, f"SELECT EXISTS (SELECT FROM {each.name} WHERE {where})"
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
