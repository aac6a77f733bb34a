"""A round whose queries a device adds up.

Most rows of the chunks are all-visible; columns have few values and many, and wide ranges. There are sums, counts,
minima and maxima of columns, also of distinct values and of some rows, in groups or not, and percentiles, also of
stars. Between two answers the device evaluates other queries; groups have no memory; and segments have no codes in
common.
"""
import re
from collections import namedtuple

import psycopg2
import psycopg2.errors
from plans import AGGREGATE, JOINS_OFF, SEQUENTIAL_JOINS
from session import Finding

ROWS = (64511, 64513, 130000, 200000)                   # around one chunk, about two and three
DISTINCT = (1, 10, 300, 5000, 60000, 1000000, 1000000)
# rows that are appended; the last are a segment that a device evaluates
LATER = (1, 1, 1000, 65000)
# most rows of a segment: small segments, which are not given to a device, some segments, or a single one
SEGMENT_ROWS = (20000, 64512, 129024) + 20 * (1000000,)
# groups are spilled, or not
GROUPS = ("SET work_mem = '64kB'; SET hash_mem_multiplier = 1", "SET work_mem = '16MB'; SET hash_mem_multiplier = 2")
TYPES = {   # an expression of {x}, an integer from 0 on, and the extremes
    "int2": ("({x} % 60000 - 30000)::int2", ("-32768", "32767")),
    "int4": ("({x} * 3 - 1000)::int4", ("-2147483648", "2147483647")),
    "int8": ("({x} * 1003 - 5000000000)", ("-9223372036854775808", "9223372036854775807")),
    "numeric(12,2)": ("({x} / 100.0)", ("-9999999999.99", "9999999999.99")),
    "numeric": ("round({x} * 0.5, (1 + i / 70000)::int)",     # with another scale in later rows
                ("NaN", "-Infinity", "1e30", "0.00001")),
    "date": ("(date '2020-01-01' + {x}::int % 5000)", ("-infinity", "infinity")),
    "timestamp": ("(timestamp '2020-01-01' + {x} * interval '7 microseconds')", ("-infinity", "infinity")),
    "text": ("lpad(({x} % 30011)::text, 5, '0')", ("", "zz")),
    "float8": ("({x} / 8.0)::float8", ("NaN", "-Infinity", "-0"))}
SELDOM = ("numeric", "float8")                          # mostly not integers, which only a CPU adds up
NUMBERS = ("int2", "int4", "int8", "numeric(12,2)", "numeric")
KEYS = ("int2", "int4", "int8", "date", "timestamp", "text", "numeric(12,2)")
Column = namedtuple("Column", "name type source distinct")
Dimension = namedtuple("Dimension", "name column")
Far = namedtuple("Far", "many appended")
# Groups of values far apart. Data that is kept for one segment may not be valid for the next. Device aggregates have
# no room for all groups, nor has work_mem for a bit of each.
FAR = (Far(300, 65000), Far(1000, 65000), Far(300000, 600000))


def far_column(rng, name, rows, many):
    """Return a column of values so far apart that each segment has a dictionary: many values in the first one, and
    few in appended ones.
    """
    few = rng.choice((10, 500, 1100, 1100))
    return Column(name, "int8", f"i % (CASE WHEN i > {rows} THEN {few} ELSE {many} END) * 10000000019", few)


def column(rng, name, rows):
    distinct = rng.choice(DISTINCT)
    later = rng.choice(DISTINCT) if rng.random() < 0.3 else distinct
    number = rng.choice((f"hash(i, {rng.getrandbits(30)}) % {distinct}", f"i % {distinct}", f"i * {distinct} / {rows}"))
    if later != distinct:
        number = f"CASE WHEN i > {rows} THEN i % {later} ELSE {number} END"
    kind = rng.choices(list(TYPES), [1 if t in SELDOM else 5 for t in TYPES])[0]
    value, extremes = TYPES[kind]
    source = f"{value.format(x='(' + number + ')')}::{kind}"
    if rng.random() < 0.05:
        source = f"CASE WHEN i % {rng.choice((3, 1000))} = 1 THEN '{rng.choice(extremes)}'::{kind} ELSE {source} END"
        distinct = 1
    if rng.random() < 0.3:
        source = f"CASE WHEN {rng.choice(('i % 7 = 3', 'i % 7 = 3', 'i % 1000 = 7', 'i > 50000', 'i < 66000'))} THEN NULL ELSE {source} END"
    return Column(name, kind, source, min(distinct, later))


def some_of(rng, items, n):
    return rng.sample(items, min(len(items), n))


class DeviceAggregates:
    def __init__(self, rng, session, access_method, counts, large):
        self.rng, self.session, self.counts = rng, session, counts
        self.rows = rng.choice(ROWS)
        self.columns = [column(rng, f"c{n}", self.rows) for n in range(rng.randint(2, 6))]
        self.keys = self.columns[:rng.randint(1, min(3, len(self.columns)))]
        self.far = rng.choices((None, *FAR), (16, 2, 2, 3 * large))[0]
        if self.far == FAR[-1]:
            self.columns = self.keys = [Column("c0", "int4", "i::int4", self.rows), far_column(rng, "c1", self.rows, self.far.many)]
        elif self.far:
            self.columns.append(far_column(rng, f"c{len(self.columns)}", self.rows, self.far.many))
        self.create(access_method)

    def create(self, access_method):
        again = self.keys[:1] if self.rng.random() < 0.3 else []        # a column may be there twice
        included = ", ".join(c.name for c in self.columns[len(self.keys):] + again)
        self.session.run(f"CREATE TABLE t (id int, {', '.join(f'{c.name} {c.type}' for c in self.columns)}) WITH (autovacuum_enabled = off)")
        self.insert(1, self.rows)
        self.next = self.rows + 1
        self.session.run(f"SET rtscan.debug_segment_rows = {SEGMENT_ROWS[-1] if self.far else self.rng.choice(SEGMENT_ROWS)}; SET max_parallel_maintenance_workers = 0; "
                         "SET max_parallel_workers_per_gather = 0")
        self.session.run(f"CREATE INDEX t_idx ON t USING {access_method} ({', '.join(c.name for c in self.keys)})" +
                         (f" INCLUDE ({included})" if included else ""))
        self.dimensions = [self.dimension(f"d{n}", c) for n, c in enumerate(some_of(self.rng, [c for c in self.columns if c.type in KEYS], 2))]
        self.session.run("SET rtscan.pending_list_limit = '100MB'")     # appended rows become one segment
        if self.far or self.rng.random() < 0.3:
            self.append(self.far.appended if self.far else 65000)
        for c in self.columns:          # if there are more values than expected, a device aggregate has no room
            if self.rng.random() < (0.9 if self.far and c == self.columns[-1] else 0.1):
                self.session.run(f"ALTER TABLE t ALTER {c.name} SET (n_distinct = {self.rng.choice((3, 50, 50, 1000))})")
        self.session.run("VACUUM ANALYZE")
        of = self.keys[-1]
        self.session.run(f"CREATE OR REPLACE FUNCTION asked() RETURNS int8 STABLE LANGUAGE sql AS "
                         f"$$SELECT count(DISTINCT {of.name}) FROM t WHERE {of.name} >= {self.value(of)}$$")

    def append(self, n):
        self.insert(self.next, self.next + n - 1)
        self.next += n

    def dimension(self, name, of):
        """Create a dimension of distinct values, some of a column, with few labels, some of them NULL."""
        part, labels = self.rng.choice((1, 2, 10, 1000)), self.rng.choice((1, 3, 50, 5000))
        self.session.run(f"CREATE TABLE {name} AS SELECT k, nullif('label ' || h % {labels}, 'label 2') AS label, h % 100 AS n FROM "
                         f"(SELECT k, abs(hashtext(k::text)::int8) AS h FROM (SELECT DISTINCT {of.name} AS k FROM t) AS keys) AS hashed WHERE h % {part} = 0")
        self.session.run(f"CREATE UNIQUE INDEX ON {name} (k)")
        return Dimension(name, of)

    def insert(self, first, last):
        self.session.run(f"INSERT INTO t SELECT i, {', '.join(c.source for c in self.columns)} FROM generate_series({first}::int8, {last}) i")

    def change(self):
        """Make rows that are dead, not all-visible, or in the pending list."""
        rng = self.rng
        first = rng.randrange(self.rows)
        self.session.run(rng.choice((f"DELETE FROM t WHERE id BETWEEN {first} AND {first + rng.choice((0, 1, 100, 70000))}",
                                     f"DELETE FROM t WHERE id % {rng.choice((3, 64, 1009, 30011))} = 0",
                                     f"UPDATE t SET id = id WHERE id = {first}", f"UPDATE t SET id = id WHERE id % 10007 = 1",
                                     f"UPDATE t SET {self.keys[0].name} = NULL WHERE id = {first}")))
        if rng.random() < 0.3:
            self.append(rng.choice(LATER))
        if rng.random() < 0.7:
            self.session.run("VACUUM t")

    def value(self, key):
        """Return a value of a row as a literal, mostly near the least or the greatest value."""
        place = self.rng.choice((0, 0.01, 0.1, 0.5, 0.9, 0.99))
        found = self.session.query(f"SELECT {key.name}::text FROM (SELECT {key.name} FROM t WHERE {key.name} IS NOT NULL ORDER BY 1 "
                                   f"OFFSET (SELECT {place} * count({key.name}) FROM t)::int LIMIT 1) q")
        return f"'{found[0][0]}'" if found else "NULL"

    def condition(self):
        rng, key = self.rng, self.rng.choice(self.keys if self.rng.random() < 0.6 else self.columns)
        if key.type != "float8" and rng.random() < 0.2:
            return rng.choice(("{c} = ANY ({l})", "{c} <> ALL ({l})")).format(c=key.name, l=self.list_of(key))
        form = rng.choice(("{c} >= {v}", "{c} <= {v}", "{c} <> {v}", "NOT ({c} BETWEEN {v} AND {v})", "({c} < {v} OR {c} > {v})",
                           "({c} <= {v} OR {c} IS NULL)", "{c} = {v}"))
        return form.format(c=key.name, v=self.value(key))

    def list_of(self, key):
        """Return values of some rows, as an array."""
        step = self.rng.choice((500, 500, 5000, 30000))     # a sequential scan compares each row with all of them
        return f"ARRAY(SELECT {key.name} FROM t WHERE id % {step} = 1 AND {key.name} IS NOT NULL)"

    def joined(self):
        """Return dimensions in FROM, conditions with others, and columns of dimensions to group by."""
        joins, where, labels = "", [], []
        for d in some_of(self.rng, self.dimensions, self.rng.choice((0, 0, 1, 1, 2))):
            some = f"{d.name}.n {self.rng.choices(('< 1000', '< 50', '> 90', '= 1000'), (5, 5, 5, 1))[0]}"
            form = self.rng.choice(("JOIN", "JOIN", "LEFT JOIN", "IN", "NOT"))
            on = f"t.{d.column.name} = {d.name}.k"
            if form.endswith("JOIN"):
                joins += f" {form} {d.name} ON {on} AND {some}"
                labels += [f"{d.name}.label", f"{d.name}.n"]
            else:
                where.append(f"{'NOT ' if form == 'NOT' else ''}EXISTS (SELECT FROM {d.name} WHERE {on} AND {some})")
        return joins, where, some_of(self.rng, labels, self.rng.choice((0, 1, 1, 2)))

    def conditions(self, depth=2):
        """Return a condition, or alternatives of one or two conditions, some with alternatives themselves."""
        def part():
            return f"({self.conditions(depth - 1)})" if depth > 0 and self.rng.random() < 0.1 else self.condition()

        alternatives = [" AND ".join(part() for _ in range(self.rng.choice((1, 1, 2)))) for _ in range(self.rng.choice((1, 1, 2, 3)))]
        return " OR ".join(f"({a})" for a in alternatives)

    def simple(self, column):
        """Return a comparison with a constant on either side, or a condition that no index looks up."""
        rng, value = self.rng, self.value(column)
        written = f"{value}::{column.type}"
        forms = ["{c} {o} {v}", "{c} {o} {v}", "{v} {o} {c}", "{c} IS NULL", "coalesce({c} {o} {v}, true)", "{c}::text > '3'"]
        if rng.random() < 0.3:          # evaluated with the first rows, and for some of them
            key = self.keys[0]
            forms = [f"{{c}} {{o}} (SELECT min({column.name}) FROM t WHERE {key.name} >= {self.value(key)})", "({c} {o} {v}) = ((SELECT asked()) > 100)"]
            forms += ["CASE WHEN {c} = {v} THEN asked() > 100 ELSE {c} {o} {v} END"] if column.distinct > 5000 and column.type != "date" else []
        if column.type in ("int2", "int4", "int8"):
            forms += ["{c} {o} " + rng.choice(("7", "100000::int8", "-3::int2")), "{c} % 3 = 1"]
        return rng.choice(forms).format(c=column.name, o=rng.choice(("<", "<=", "=", "<>", ">=", ">")), v=written)

    def filtered(self):
        """Return a FILTER, in some cases."""
        rng = self.rng
        if rng.random() < 0.75:
            return ""
        parts = [f"{'NOT ' if rng.random() < 0.2 else ''}({self.simple(rng.choice(self.columns))})" for _ in range(rng.choice((1, 1, 2, 3)))]
        return f" FILTER (WHERE {rng.choice((' AND ', ' OR ')).join(parts)})"

    def percentile(self):
        """Return a percentile of a column, in either order. The kind depends on the column's type."""
        rng, of = self.rng, self.rng.choice([c for c in self.columns if c.type not in ("text", "numeric", "float8")] or self.columns)
        fraction = rng.choice(("0.5", "0.5", "0", "1", "0.999", "ARRAY[0.1, 0.5, 0.9]", "ARRAY[0.25, 0.26]"))
        form = rng.choice(("disc", "cont")) if of.type in ("int2", "int4", "int8") else "disc"
        return f"percentile_{form}({fraction}) WITHIN GROUP (ORDER BY {of.name}{rng.choice(('', ' DESC'))})"

    def aggregate(self, column):
        forms = ["count({})", "count({})", "count(DISTINCT {})"]
        if column.type in NUMBERS:      # equal numerics may look different
            forms += ["sum({})", "sum({})", "avg({})", "trim_scale(min({})::numeric)", "trim_scale(max({})::numeric)"]
            forms += ["sum(DISTINCT {})"] if column.type != "numeric" else []
        elif column.type == "float8":   # equal zeros may look different
            forms += ["min({}) + 0", "max({}) + 0"]
        else:
            forms += ["min({})", "max({})"]
        form = self.rng.choice(forms).format(column.name)
        return form.replace(f"({column.name})", f"({column.name}){self.filtered()}") if " + 0" not in form else form

    def sum_of_expression(self, numbers):
        """Return a sum of a polynomial. NULLs, and overflows, which are errors, depend on the columns."""
        rng = self.rng

        def part(depth):
            if depth == 0 or rng.random() < 0.3:
                return rng.choice(numbers) if rng.random() < 0.7 else rng.choice(("1", "2", "-3", "1000", "0.25", "1.5"))
            return f"({part(depth - 1)} {rng.choice('**+-')} {part(depth - 1)})"

        return f"{rng.choice(('sum', 'sum', 'avg'))}({rng.choice(numbers)} {rng.choice('*+-')} {part(rng.choice((0, 0, 1, 2)))})"

    def aggregate_of_expression(self, numbers):
        """Return an aggregate of an expression that has few values, or compares a column with constants; or also of
        a number.
        """
        rng, when = self.rng, self.simple(self.rng.choice(self.columns))
        forms = ["count(CASE WHEN {w} THEN 1 END)", "sum(CASE WHEN {w} THEN 1 ELSE 0 END)", "sum(CASE WHEN {w} THEN 0.5 WHEN random() > 2 THEN 1 END)",
                 "avg(CASE WHEN {w} THEN 1.50 ELSE 3 END)", "max(CASE WHEN {w} THEN 2 ELSE -7 END)", "min(CASE WHEN {w} THEN date '2021-02-03' END)",
                 "max(CASE WHEN {w} THEN 'a' ELSE 'b' END)", "sum(CASE WHEN {w} THEN 'NaN'::numeric ELSE 1 END)"]
        if numbers:
            forms += ["sum(CASE WHEN {w} THEN {n} ELSE 0 END)", "avg(CASE WHEN {w} THEN {n} END)", "sum(CASE WHEN {w} THEN {n} * 1.5 WHEN {v} THEN {m} ELSE -0.125 END)",
                      "sum(CASE {w} WHEN true THEN {n} ELSE {m} END)", "sum({n} % 7)", "trim_scale(max({n} % 11)::numeric)", "count(nullif({n} % 5, 3))"]
        return rng.choice(forms).format(w=when, v=self.simple(rng.choice(self.columns)), n=rng.choice(numbers or [""]), m=rng.choice(numbers or [""]))

    def plain_groups(self):
        """Return groups by the values far apart, or by others: read from a device aggregate as they are, or with rows that
        evaluate other queries in between.
        """
        rng, key = self.rng, self.keys[0]
        of = self.columns[-1] if rng.random() < 0.8 else rng.choice([c for c in self.columns if c.type not in SELDOM])
        forms = ["count(*)", "sum({n})", "count({c})"] + 2 * ["count(*) FILTER (WHERE {c} >= (SELECT min({c}) FROM t WHERE {w}))"]
        numbers = [c.name for c in self.columns if c.type in NUMBERS and c.type not in SELDOM]
        shown = [rng.choice(forms).format(n=rng.choice(numbers), c=of.name, w=f"{key.name} >= {self.value(key)}") for _ in range(rng.choice((0, 1, 1, 2)))]
        where = rng.choice(("", " WHERE {k} >= {v}", " WHERE {k} <> {v}", " WHERE {k} <= {v}")).format(k=key.name, v=self.value(key))
        return f"SELECT {', '.join([f'{of.name}::text', 'count(*)'] + shown)} FROM t{where} GROUP BY {of.name}"

    def query(self):
        rng = self.rng
        exact = [c.name for c in self.columns if c.type not in SELDOM]
        asked = self.columns if rng.random() < 0.3 else [c for c in self.columns if c.name in exact] or self.columns
        keys = [c for c in self.columns if c.type != "float8"]
        keys = rng.sample(keys, min(len(keys), rng.choice((0, 1, 1, 2, 3))))
        groups = [c.name for c in keys]
        shown = [f"trim_scale({c.name})" if c.type == "numeric" else c.name for c in keys] + ["count(*)"] + [self.aggregate(rng.choice(asked)) for _ in range(rng.choice((0, 1, 2, 5)))]
        numbers = [c.name for c in asked if c.type in NUMBERS]
        if numbers and rng.random() < 0.4:
            shown += [self.sum_of_expression(numbers) for _ in range(rng.choice((1, 2)))]
        if rng.random() < 0.3:
            shown += [self.aggregate_of_expression(numbers) for _ in range(rng.choice((1, 2)))]
        joins, where, labels = self.joined()
        if rng.random() < 0.3:
            shown += [rng.choice(("sum({}.n)", "min({}.n % 9)", "count({}.label)", "avg({}.n)", "count({}.n + 1)")).format(d.name)
                      for d in self.dimensions if f"JOIN {d.name} " in joins]
        where = " AND ".join(where + [f"({self.conditions()})" for _ in range(rng.choice((0, 1, 1, 1, 2, 2)))])
        if rng.random() < 0.15:
            where += (" AND " if where else "") + f"{self.columns[-1].name}::text <> {self.value(self.columns[-1])}"
        groups, shown = groups + labels, shown + labels
        if rng.random() < 0.12:
            groups, shown = [], [self.percentile()]
        return f"SELECT {', '.join(shown)} FROM t{joins}" + (f" WHERE {where}" if where else "") + (f" GROUP BY {', '.join(groups)}" if groups else "")

    def rows_of(self, settings, query):
        """Return the rows of a query, or that an expression is out of range."""
        self.session.query(settings)
        try:
            return sorted(text for text, in self.session.query(f"SELECT q::text FROM ({query}) q"))
        except psycopg2.errors.NumericValueOutOfRange:
            return ["out of range"]

    def settings(self):
        """Return settings. Only stars may join (PostgreSQL's own joins are enabled for the expected answer). If
        executors are compared, bits are not returned.
        """
        groups, compared = self.rng.choices(GROUPS, (1, 1 if self.far else 4))[0], self.rng.choice(("RESET {}", "SET {} = off"))
        return f"{AGGREGATE}; {JOINS_OFF}; SET enable_sort = off; SET enable_hashagg = off; {groups}; {compared.format('rtscan.debug_compare_executors')}"

    def loops(self, settings, query):
        """Return true if PostgreSQL would join by nested loops although that is disabled: it takes minutes."""
        self.session.query(settings)
        return any("Nested Loop" in line for line, in self.session.query(f"EXPLAIN {query}"))

    def compare(self):
        query = self.plain_groups() if self.far else self.query()
        settings = self.settings()
        if self.loops(settings, query):
            self.counts["stars of too many groups, which PostgreSQL would join by loops"] += 1
            return
        expected, found = self.rows_of(SEQUENTIAL_JOINS, query), self.rows_of(settings, query)
        if found != expected:
            missing, many = sorted(set(expected) - set(found)), sorted(set(found) - set(expected))
            raise Finding(f"{settings};\n{query};\nexpected {len(expected)} rows, got {len(found)}; missing {missing[:5]}, too many {many[:5]}")
        if found == ["out of range"]:
            self.counts["sums beyond a type"] += 1
            return
        plan = dict(line.strip().split(": ", 1) for line, in self.session.query(f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) {query}") if ": " in line)
        star = " of a star" if re.search(" d[01] ", query) else ""
        by = "aggregated by a device" if "Rows Aggregated by Device" in plan else f"aggregated by a CPU ({plan.get('Not Aggregated by Device', 'small segments')})"
        self.counts[f"sums of many rows{star}, {by}"] += 1

    def run(self):
        if self.far and self.rng.random() < 0.5:
            self.change()
        for _ in range(3):
            for _ in range(8):
                self.compare()
            self.change()


def run(rng, session, access_method, counts, large):
    """Run a round, with some 800,000 rows if large."""
    DeviceAggregates(rng, session, access_method, counts, large).run()
