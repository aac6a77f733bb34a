"""A random table and index: columns of random types, each with a random distribution of values."""
from dataclasses import dataclass

import dimensions
from catalog import TYPES, palette

ROW_COUNTS = ((0, 1), (1, 1), (2, 1), (30, 4), (300, 12), (1500, 8), (6000, 2))      # (rows, weight)
LARGE_ROW_COUNTS = (64511, 64512, 64513, 129024, 130000, 150000)       # around one chunk and two
BINS = (2, 3, 4, 5, 16, 17, 64, 100, 255, 256, 257, 1000, 1024)


def distribution(rng):
    """Return an SQL expression for the number {x} of a row's value, from the row's number {i}."""
    h = f"hash({{i}}, {rng.randrange(1 << 30)})"
    spread = rng.choice((3, 20, 1000, 100000, 1 << 31, 1 << 40))
    return rng.choice((
        f"({h} % {spread})", f"({h} % {spread})", f"({h} % {2 * spread} - {spread})",
        f"({h} % {rng.randint(2, 5)})",                         # few distinct
        f"({rng.randrange(1000)})",                             # all equal
        f"(power({spread}, ({h} % 1000000) / 1000000.0)::int8)",    # Zipf-like
        "({i})", "(-{i})",                                    # sorted with the heap, reversed
        "({i} / 50)", f"({{i}} + {h} % 20)", "({i} % 100)",     # clustered
        f"(CASE WHEN {h} % 2 = 0 THEN 7 ELSE {{i}} END)",       # one frequent value, and different ones
    ))


@dataclass
class Column:
    name: str
    type: object
    collation: str
    numbers: str                            # the distribution
    nulls: int                              # per cent
    extremes: int                           # per cent
    salt: int

    def definition(self):
        return f"{self.name} {self.type.sql}" + (f" COLLATE {self.collation}" if self.collation else "")

    def plain_value(self, row):
        return self.type.make.replace("{x}", self.numbers.replace("{i}", row))

    def value(self, row):
        """Return an SQL expression for the column's value in a row: from the distribution, or NULL, or an extreme."""
        arms = [f"WHEN hash({row}, {self.salt}) % 100 < {self.nulls} THEN NULL"] if self.nulls else []
        if self.extremes and self.type.extremes:
            choice = " ".join(f"WHEN {n} THEN {self.type.literal(text)}" for n, text in enumerate(self.type.extremes))
            arms.append(f"WHEN hash({row}, {self.salt + 1}) % 100 < {self.extremes} "
                        f"THEN CASE hash({row}, {self.salt + 2}) % {len(self.type.extremes)} {choice} END")
        plain = f"{self.plain_value(row)}::{self.type.sql}"
        return f"CASE {' '.join(arms)} ELSE {plain} END" if arms else plain


@dataclass
class Key:
    """A key column of the index, with the operators of its opclass."""
    column: Column
    expression: str                         # the form that queries must use
    indexed: str                            # the form that CREATE INDEX uses
    collation: str
    opclass: str
    operators: tuple

    @property
    def template(self):
        """Return the expression for str.format()."""
        return self.expression.replace("{", "{{").replace("}", "}}")

    def definition(self):
        return " ".join(filter(None, (self.indexed, self.opclass)))


def random_type(rng, kinds):
    """Return a type. All SQL types are equally likely, however many entries they have."""
    sql = rng.choice(sorted({kind.sql for kind in kinds}))
    return rng.choice([kind for kind in kinds if kind.sql == sql])


def random_column(rng, number, kinds):
    kind = random_type(rng, kinds)
    return Column(f"c{number}", kind, rng.choice(kind.collations), distribution(rng), rng.choice((0, 0, 5, 30, 95, 100)),
                  rng.choice((0, 0, 3, 30) if not kind.zone else (3, 30)), rng.randrange(1 << 30))


def random_key(rng, column):
    opclass, operators = rng.choice(column.type.opclasses)
    expression = indexed = column.name
    collation = column.collation
    if len(column.type.collations) > 1 and rng.random() < 0.2:
        collation = rng.choice(column.type.collations[1:])
        expression = indexed = f"({column.name} COLLATE {collation})"
    elif column.type.extremes and column.type.sql != "name" and rng.random() < 0.05:
        expression = indexed = f"(COALESCE({column.name}, {column.type.literal(column.type.extremes[0])}))"
    if column.type.constant_type:
        expression = f"{expression}::{column.type.constant}"
    return Key(column, expression, indexed, collation, opclass, operators)


class Schema:
    def __init__(self, rng, access_method, large=False, shared=False, only_joins=False):
        self.rng, self.access_method, self.large, self.only_joins = rng, access_method, large, only_joins
        self.rows = rng.choice(LARGE_ROW_COUNTS) if large else rng.choices(*zip(*ROW_COUNTS))[0]
        self.columns = self.random_columns()
        self.amounts = self.random_amounts()
        self.kind = rng.choices(("", "UNLOGGED", "TEMP", "PARTITIONED"), (8, 1, 1, 0 if large else 2))[0]
        if shared and self.kind == "TEMP":
            self.kind = ""
        self.sparse_heap = not large and rng.random() < 0.05    # one row a page: enough pages for a lossy bitmap
        if self.sparse_heap:
            self.rows = 2500
        self.unique = rng.random() < 0.4
        self.build_first = not large and rng.random() < 0.3
        self.draw_index()
        self.dimensions = dimensions.draw(rng, self)

    def random_columns(self):
        rng = self.rng
        wide = not self.large and rng.random() < 0.05
        count = 32 if wide else rng.randint(1, 5) if self.large else rng.randint(1, 6)
        kinds, columns = palette(rng), []
        for number in range(count):         # at most one column is big: a row's values must fit on an index page
            if wide or self.large or any(c.type.big for c in columns):
                kinds = [kind for kind in kinds if not kind.big]
            columns.append(random_column(rng, number, kinds))
        return columns

    def random_amounts(self):
        """Return columns of numerics, for INCLUDE only: with or without a type modifier, of one scale or of several."""
        if self.rng.random() > 0.4 or len(self.columns) > 30:
            return []
        first = len(self.columns)
        names = [name for name in TYPES if name.startswith("numeric") and not name.endswith("[]")]
        amounts = [random_column(self.rng, first + n, [TYPES[self.rng.choice(names)]]) for n in range(self.rng.randint(1, 2))]
        self.columns += amounts
        return amounts

    def draw_index(self):
        """Draw key columns, INCLUDE columns, predicate and options of the index."""
        rng = self.rng
        columns = [c for c in self.columns if c not in self.amounts]
        keyed = rng.sample(columns, len(columns) if rng.random() < 0.7 else rng.randint(1, len(columns)))
        self.keys = [random_key(rng, c) for c in keyed]
        others = [c.name for c in self.columns if c not in keyed] + ["id", "u"]
        room = min(2, 32 - len(keyed) - len(self.amounts))
        self.include = rng.sample(others, rng.randint(0, min(room, len(others)))) if rng.random() < 0.4 else []
        self.include += [c.name for c in self.amounts if c.name not in self.include]
        self.predicate = rng.choice((f"id % {rng.randint(2, 5)} <> 0", f"{keyed[0].name} IS NOT NULL",
                                     "u < 7")) if rng.random() < 0.15 else ""

    @property
    def included(self):
        """Return the INCLUDE columns as keys, with the default operators of their types."""
        return [Key(c, c.name, c.name, c.collation, "", c.type.opclasses[0][1]) for c in self.columns
                if c.name in self.include and c not in [k.column for k in self.keys] and not c.type.constant_type]

    def without_include(self):
        self.include = []

    def create_table(self):
        columns = ", ".join(["id bigint" + self.rng.choice(("", " NOT NULL")), "u int"] + [c.definition() for c in self.columns] + ["pad text"])
        prefix = self.kind if self.kind != "PARTITIONED" else ""
        fillfactor = self.rng.choice((10, 50, 90, 100))
        # if the table has parallel_workers, several processes build its indexes, even if it is small
        workers = self.rng.choice(("", "", ", parallel_workers = 1", ", parallel_workers = 3"))
        storage = f" WITH (autovacuum_enabled = off, fillfactor = {fillfactor}{workers})"
        if self.kind != "PARTITIONED":
            yield f"CREATE {prefix} TABLE t ({columns}){storage}"
        else:
            yield f"CREATE TABLE t ({columns}) PARTITION BY HASH (id)"
            for n in range(3):
                yield f"CREATE TABLE t{n} PARTITION OF t FOR VALUES WITH (MODULUS 3, REMAINDER {n}){storage}"
        if self.sparse_heap:
            yield "ALTER TABLE t ALTER COLUMN pad SET STORAGE PLAIN"
        if self.unique:
            yield "CREATE UNIQUE INDEX t_id ON t (id)"

    def create_index(self, name="t_idx", concurrently=False):
        keys = ", ".join(k.definition() for k in self.keys)
        text = f"CREATE INDEX {'CONCURRENTLY ' if concurrently else ''}{name} ON t USING {self.access_method} ({keys})"
        if self.include:
            text += f" INCLUDE ({', '.join(self.include)})"
        if self.access_method == "rtscan" and self.rng.random() < 0.6:
            text += f" WITH (sieve_bins = {self.rng.choice(BINS)}, sieve_components = {self.rng.randint(1, 2)})"
        return text + (f" WHERE {self.predicate}" if self.predicate else "")

    def row_source(self, first, last):
        """Return a SELECT of the rows with these numbers."""
        pad = "repeat('p', 3000)" if self.sparse_heap else "NULL"
        values = ", ".join(c.value("i") for c in self.columns)
        return f"SELECT i, (i % 10)::int, {values}, {pad} FROM generate_series({first}::int8, {last}) i"

    def column_list(self):
        return ", ".join(["id", "u"] + [c.name for c in self.columns] + ["pad"])
