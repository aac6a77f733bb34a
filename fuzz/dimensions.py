"""Tables that t is joined with.

The keys of each are like those of one or two of t's columns, of the same type or of one that can be compared with
it. Mostly they are unique. Each table has some more columns.
"""
from dataclasses import replace

from catalog import TYPES

NAMES = ("d0", "d1", "d2")
PLACES = "places"                           # the dimension of the dimensions
OWN = ("g", "s", "m")
ROW_COUNTS = (0, 1, 20, 20, 300, 300, 2000)
DROP = f"DROP TABLE IF EXISTS {', '.join(NAMES)}, {PLACES} CASCADE"


def joinable(key):
    """Return true if the key has an equality that the parser and btree know. (The type name has a collation of its
    own.)
    """
    return key.operators[2] == "=" and key.column.type.sql != "name" and not key.column.type.constant_type


def across_zones(key, kind):
    """Return true if only one of the two types has a time zone. Such times have no order around a clock change, and
    merge joins fail.
    """
    return (key.column.type.sql == "timestamptz") != (kind.sql == "timestamptz")


def asserts_in_btree(column):
    """Return true if equal values have several images. btree assumes that they have one, and fails an assertion when
    it splits a page.
    """
    return column.type.sql == "bpchar"


class Dimension:
    def __init__(self, rng, schema, name):
        keys = [key for key in schema.keys if joinable(key)]
        self.rng, self.name, self.rows = rng, name, rng.choice(ROW_COUNTS)
        self.keys = rng.sample(keys, min(len(keys), rng.choice((1, 1, 1, 2))))
        self.columns = [self.like(key, f"k{n}") for n, key in enumerate(self.keys)]
        self.unique = rng.random() < 0.75 and not any(map(asserts_in_btree, self.columns))
        self.next_row = self.rows + 1
        if not self.unique:
            self.rows = min(self.rows, 20)

    def like(self, key, name):
        kinds = [TYPES[other] for other in key.column.type.cross if TYPES[other].sql != "name" and not across_zones(key, TYPES[other])]
        kind = self.rng.choice(kinds) if kinds and self.rng.random() < 0.4 else key.column.type
        return replace(key.column, name=name, type=kind, collation=key.collation, nulls=self.rng.choice((0, 5)), salt=self.rng.randrange(1 << 30))

    def key_list(self):
        return ", ".join(column.name for column in self.columns)

    def create(self, access_method):
        columns = ", ".join(column.definition() for column in self.columns)
        yield f"CREATE TABLE {self.name} (id int, {columns}, g int, s text, m numeric(12,2)) WITH (autovacuum_enabled = off)"
        if self.unique:
            yield f"CREATE UNIQUE INDEX ON {self.name} ({self.key_list()})"
        yield self.insert(1, self.rows)
        if self.rng.random() < 0.3 and not any(column.type.big for column in self.columns):
            yield f"CREATE INDEX ON {self.name} USING {access_method} (g, s, {self.key_list()})"
        if self.rng.random() < 0.7:
            yield f"VACUUM ANALYZE {self.name}"

    def insert(self, first, last):
        keys = ", ".join(column.value("i") for column in self.columns)
        own = "nullif(hash(i, 1) % 7, 3)::int, CASE WHEN i % 9 > 0 THEN 's' || hash(i, 2) % 5 END, (hash(i, 3) % 400) / 4.0"
        return (f"INSERT INTO {self.name} SELECT i, {keys}, {own} FROM generate_series({first}::int8, {last}) i"
                + (" ON CONFLICT DO NOTHING" if self.unique else ""))

    def change(self):
        """Return a statement that changes some rows."""
        rng = self.rng
        some = f"id % {rng.randint(2, 20)} = {rng.randint(0, 5)}"
        first, self.next_row = self.next_row, self.next_row + rng.choice((1, 20, 200) if self.unique else (1, 2))
        return rng.choice((self.insert(first, self.next_row - 1), self.insert(first, self.next_row - 1), f"DELETE FROM {self.name} WHERE {some}",
                           f"UPDATE {self.name} SET g = nullif(g + 1, 7), s = 's' || g WHERE {some}", f"UPDATE {self.name} SET k0 = NULL WHERE {some}",
                           f"UPDATE {self.name} SET m = m + 1 WHERE {some}", f"VACUUM {rng.choice(('', 'ANALYZE'))} {self.name}"))


def draw(rng, schema):
    """Return some dimensions, if a column can be a key and this round has joins."""
    if not any(map(joinable, schema.keys)) or (rng.random() < 0.3 and not schema.only_joins):
        return []
    return [Dimension(rng, schema, name) for name in NAMES[:rng.randint(1, len(NAMES))]]


def create(dimensions, access_method):
    if dimensions:
        yield f"CREATE TABLE {PLACES} (g int PRIMARY KEY, place text, size int)"
        yield f"INSERT INTO {PLACES} SELECT i, 'place ' || i % 4, nullif(i % 5, 2) FROM generate_series(0, 5) i"
    for dimension in dimensions:
        yield from dimension.create(access_method)
