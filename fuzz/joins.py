"""Random joins of t with any number of dimensions, and dimensions of dimensions.

Joins are inner, left, semi and anti joins and NOT IN, by unique keys and others, on one column or two. Their results
do not depend on which of several equal rows comes first.
"""
from dataclasses import dataclass, field

from dimensions import OWN, PLACES
from plans import AGGREGATE, HEAP_ROWS, INDEX_ROWS, JOINS_OFF, SEQUENTIAL_JOINS
from sums import INTEGERS, NO_MINIMUM, ORDERED, operands


@dataclass
class Parts:
    """The parts of a query that is being put together."""
    tables: str = "t"
    quals: list = field(default_factory=list)
    columns: list = field(default_factory=list)     # columns of dimensions: (text, whether it is a number)
    outer: str = ""                                 # a number from an outer query, for conditions
    multiplied: bool = False                        # whether a row of t may match several rows


def as_text(query):
    return f"SELECT q::text FROM ({query}) AS q"


class Joins:
    def __init__(self, comparer):
        self.rng, self.comparer, self.schema = comparer.rng, comparer, comparer.schema

    # ---- dimensions

    def filter(self, alias, parts, places=False):
        """Return a condition on a dimension's rows."""
        rng = self.rng
        forms = ["true", "true", f"{alias}.g = {rng.randrange(8)}", f"{alias}.g IS NULL", f"{alias}.s < 's3'", f"{alias}.m BETWEEN 20 AND 80.5",
                 f"{alias}.g IN (1, 2, 5)", f"({alias}.s = 's1' OR {alias}.g > 4)", "false" if rng.random() < 0.1 else "true"]
        if places:
            forms += ["p.place <> 'place 2'", "p.size > 0"]
        if parts.outer:
            forms = [f"{alias}.g >= {parts.outer}", f"coalesce({alias}.g, 3) <> {parts.outer}"]
        return rng.choice(forms)

    def source(self, dimension, alias, parts):
        """Return what is joined, with columns named after the alias; its columns besides the keys; and whether its
        keys are unique.
        """
        rng, keys = self.rng, [column.name for column in dimension.columns]
        listed, roll = ", ".join(f"d.{key}" for key in keys), rng.random()
        own, unique = [(name, name != "s") for name in OWN], dimension.unique
        if roll < 0.5:
            text = f"SELECT {listed}, d.g, d.s, d.m FROM {dimension.name} d WHERE {self.filter('d', parts)}"
        elif roll < 0.75:
            kind, own = rng.choice(("JOIN", "LEFT JOIN")), own + [("place", False), ("size", True), ("known", True)]
            # the constant known is NULL if there is no place
            places = f"(SELECT g, place, size, 1 AS known FROM {PLACES})"
            text = (f"SELECT {listed}, d.g, d.s, d.m, p.place, p.size, p.known FROM {dimension.name} d {kind} {places} p ON p.g = d.g "
                    f"WHERE {self.filter('d', parts, True)}")
        else:
            text = (f"SELECT {listed}, sum(d.g) AS g, max(d.s) AS s, min(d.m) AS m FROM {dimension.name} d WHERE {self.filter('d', parts)} "
                    f"GROUP BY {listed}")
            unique = True
        if rng.random() < 0.2:
            # a column that is NULL for rows without a match
            text, own = f"SELECT *, {rng.choice(('7', 'NULL::int', 'g + 0', 'coalesce(g, 0)'))} FROM ({text}) c", own + [("c", True)]
        names = [f"{alias}_{name}" for name in keys + [name for name, _ in own]]
        return f"({text}) AS {alias} ({', '.join(names)})", [(f"{alias}_{name}", number) for name, number in own], unique

    def on(self, dimension, names):
        """Return the condition that its keys equal those of t."""
        sides = [(key.expression, name) for key, name in zip(dimension.keys, names)]
        return " AND ".join(f"{a} = {b}" if self.rng.random() < 0.7 else f"{b} = {a}" for a, b in sides)

    # ---- kinds of joins

    def inner_or_left(self, dimension, alias, parts):
        rng = self.rng
        source, own, unique = self.source(dimension, alias, parts)
        if not unique and (parts.multiplied or self.schema.rows > 10000):
            return self.semi(dimension, alias, parts)
        parts.multiplied |= not unique
        condition = self.on(dimension, [f"{alias}_{column.name}" for column in dimension.columns])
        kind = rng.choices(("", "LEFT ", "RIGHT "), (13, 7, 1))[0]
        if rng.random() < (0.5 if kind else 0.1):
            condition += f" AND {rng.choice((f'{alias}_g < 4', f'{alias}_g = u', f'u - {alias}_g > 2', 'u > 3', 'c0 IS NOT NULL'))}"
        # if several rows have equal keys, it is undefined from which of them a group's key is taken
        exact = [column for column in dimension.columns if unique and dimension.unique and not column.type.big]
        parts.columns += own + [(f'{alias}_{column.name}::text COLLATE "C"', False) for column in exact]
        parts.tables += f" {kind}JOIN {source} ON {condition}"

    def semi(self, dimension, alias, parts):
        self.exists(dimension, alias, parts, self.rng.choice(("", "", "NOT ")))

    def exists(self, dimension, alias, parts, negation):
        rng, (key, column) = self.rng, (dimension.keys[0], dimension.columns[0])
        filtered, roll = self.filter(alias, parts), rng.random()
        # partitions share a hashed subplan, and PostgreSQL does not refill the hash tables of some of them
        if negation and roll < 0.5 and not (parts.outer and self.schema.kind == "PARTITIONED"):
            known = f" AND {alias}.{column.name} IS NOT NULL" if rng.random() < 0.6 else ""
            parts.quals.append(f"{key.expression} NOT IN (SELECT {column.name} FROM {dimension.name} {alias} WHERE {filtered}{known})")
        elif roll < 0.5 and not negation:
            in_rows = ", ".join(f"{alias}.{column.name}" for column in dimension.columns)
            of_t = ", ".join(key.expression for key in dimension.keys)
            parts.quals.append(f"({of_t}) IN (SELECT {in_rows} FROM {dimension.name} {alias} WHERE {filtered})")
        else:
            condition = self.on(dimension, [f"{alias}.{column.name}" for column in dimension.columns])
            parts.quals.append(f"{negation}EXISTS (SELECT FROM {dimension.name} {alias} WHERE {condition} AND {filtered})")

    def draw(self, outer=""):
        parts = Parts(outer=outer)
        for number in range(self.rng.choice((1, 1, 2, 2, 3))):
            join = self.rng.choice((self.inner_or_left, self.inner_or_left, self.semi))
            join(self.rng.choice(self.schema.dimensions), f"a{number}", parts)
        parts.quals += self.conditions(parts)
        return parts

    def conditions(self, parts):
        """Add conditions on t and on the dimensions' columns."""
        rng, numbers = self.rng, [name for name, number in parts.columns if number]
        quals = [self.comparer.filled(self.comparer.generator.tree(rng.choice((0, 1))))] if rng.random() < 0.6 else []
        quals += [f"({self.schema.predicate})"] if self.schema.predicate else []
        if numbers and rng.random() < 0.35:
            quals.append(f"{rng.choice(numbers)} {rng.choice(('<', '<=', '<>', '='))} {rng.choice(numbers + ['u', 'id % 5', '2'])}")
        if numbers and rng.random() < 0.2:
            one, other = rng.choice(numbers), rng.choice(numbers)
            quals.append(rng.choice((f"coalesce({one}, 3) + {other} > 9", f"{one} + u = {other} + 2", f"{one} - u = {other}", f"u = {one} + {other}",
                                     f"{one} IS NULL OR u = {other}", f"coalesce({one}, u) = {other}")))
        return quals

    # ---- queries

    def aggregates(self, parts):
        rng, forms = self.rng, ["count(*)"]
        for one in operands(self.schema):
            forms.append(f"count({one.text})")
            forms += [f"sum({one.text}::numeric)", f"avg({one.text}::numeric)"] if one.sql in INTEGERS else []
            forms += [f"max({one.text})"] if one.sql in ORDERED and one.exact and one.sql not in NO_MINIMUM else []
        for name, number in parts.columns:
            forms += [f"count({name})", f"max({name})", f"count(DISTINCT {name})"]
            forms += [f"sum({name})", f"sum({name} + 1) FILTER (WHERE {name} > 2)"] if number else []
        return rng.sample(forms, min(len(forms), rng.randint(1, 4)))

    def group_keys(self, parts):
        rng, exact = self.rng, [one.text for one in operands(self.schema) if one.exact]
        keys = [name for name, _ in parts.columns] * 2 + exact
        return rng.sample(keys, min(len(keys), rng.choice((0, 1, 1, 2)))) if keys else []

    def shown(self, parts):
        """Return what is selected, GROUP BY, and the settings for the query."""
        rng, returned = self.rng, self.comparer.returned
        if rng.random() < 0.55:
            keys = self.group_keys(parts)
            if keys and rng.random() < 0.2:
                return "DISTINCT " + ", ".join(f"{text} AS o{n}" for n, text in enumerate(keys)), "", AGGREGATE
            columns = [f"{text} AS o{n}" for n, text in enumerate(keys + self.aggregates(parts))]
            return ", ".join(columns), ", ".join(str(n + 1) for n in range(len(keys))), AGGREGATE
        own = [name for name, _ in parts.columns]
        own = rng.sample(own, min(len(own), rng.randint(0, 3)))
        if returned and rng.random() < 0.8:
            some = rng.sample(returned, rng.randint(1, len(returned)))
            return ", ".join([f"ROW({', '.join(some)})::text"] + own), "", INDEX_ROWS
        return ", ".join(["t.ctid, id"] + (own if rng.random() < 0.3 else [])), "", HEAP_ROWS

    def settings(self, settings):
        """Return the settings, which mostly disable PostgreSQL's own joins."""
        settings = settings.replace("enable_scan = off", "enable_scan = on")
        if self.rng.random() < 0.85:
            settings += f"; {JOINS_OFF}"
        if self.rng.random() < 0.1:
            # a Gather that costs nothing would be started again for each row of a nested loop
            settings += "; SET parallel_setup_cost = 1; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0"
        return settings + f"; SET work_mem = '{self.rng.choice(('64kB', '4MB', '16MB'))}'"

    def query(self):
        """Return a query whose rows are text, and settings with which the index should answer it."""
        query, settings = self.columns_query()
        return as_text(query), settings

    def columns_query(self, outer=""):
        parts = self.draw(outer)
        columns, groups, settings = self.shown(parts)
        where = f" WHERE {' AND '.join(f'({qual})' for qual in parts.quals)}" if parts.quals else ""
        query = f"SELECT {columns} FROM {parts.tables}{where}" + (f" GROUP BY {groups}" if groups else "")
        return query, self.settings(settings)

    def query_again(self):
        """Return a query that is repeated for several numbers from an outer query."""
        query, settings = self.columns_query(outer="v.n")
        return as_text(f"SELECT v.n, l.* FROM (VALUES (0), (2), (5), (NULL)) AS v (n), LATERAL ({query} OFFSET 0) AS l"), settings


class Starred:
    """Forms of queries with joins, for a Comparer."""

    def joins(self):
        return Joins(self)

    def starred(self):
        """Compare a join, or a join that is repeated."""
        joins = self.joins()
        query, self.settings = joins.query() if self.rng.random() < 0.85 else joins.query_again()
        expected = self.rows_of(SEQUENTIAL_JOINS, query, "SET enable_nestloop = on")
        self.count_plan(query)
        self.check(query, expected, self.session.query(query))
        self.count_joins(self.plan)

    def count_joins(self, plan):
        self.counts[f"joins {'' if 'Dimensions' in plan else 'not '}as stars"] += 1
        for kind in ("inner", "left", "semi", "anti"):
            self.counts[f"stars with {kind} joins"] += f"Dimensions: {kind}" in plan or f", {kind} " in plan.partition("Dimensions: ")[2]
