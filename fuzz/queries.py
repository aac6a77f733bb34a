"""Random conditions on the key columns, evaluated in several forms by the index and compared with a sequential scan."""
import psycopg2

from catalog import PLAIN_TYPES, STANDARD, TYPES
from joins import Starred
from plans import AGGREGATE, BITMAP, HEAP_ROWS, INDEX_ROWS, SEQUENTIAL
from scans import Scans, alike
from session import Finding
from sums import FLOATS, NUMBERS, Sums

COMMUTED = {"<": ">", "<=": ">=", "=": "=", ">=": "<=", ">": "<"}
# Errors of a sum, with or without the node: out of range, division by zero, NaN as an integer, no operator for the
# types.
SUM_ERRORS = {"22003", "2201F", "0A000", "22012", "42883", "42725", "22008", "22023"}
MOMENTS = ("date", "timestamp", "timestamptz")
MEMORY = ("64kB", "64kB", "4MB", "16MB")


class Slot:
    """A place for a constant in a qual; draw() returns a new literal each time."""

    def __init__(self, sql_type, draw):
        self.sql_type, self.draw = sql_type, draw


class Qual:
    """A template with {0}, {1}.. for its slots."""

    def __init__(self, template, *slots):
        self.template, self.slots = template, slots


class Constants:
    """Literals of each key's type and of types comparable with it, mostly from the data, some beyond it."""

    def __init__(self, rng, session, schema):
        self.rng, self.pools = rng, {}
        rows = [rng.randint(1, max(schema.rows, 1)) for _ in range(25)] + [rng.randint(-1000, 300000) for _ in range(5)]
        for key in schema.keys + schema.included:
            for kind in [key.column.type] + [TYPES[name] for name in key.column.type.cross]:
                self.pools[key.column.name, kind.name] = self.load(session, key.column, kind, rows)

    @staticmethod
    def load(session, column, kind, rows):
        number = column.numbers.replace("{i}", "i")
        text = kind.text.replace("{v}", f"{kind.make.replace('{x}', number)}::{kind.sql}")
        found = session.query(f"SELECT {text} FROM unnest(ARRAY{rows}) i")
        return [kind.literal(value) for value, in found], [kind.literal(value) for value in kind.extremes]

    def knows(self, key):
        return (key.column.name, key.column.type.name) in self.pools

    def draw(self, key, kind):
        near, extremes = self.pools[key.column.name, kind.name]
        roll = self.rng.random()
        if roll < 0.04:
            return f"(NULL::{kind.constant})"
        share = 0.5 if kind.zone else 0.15
        return self.rng.choice(extremes if roll < share and extremes else near)

    def slot(self, key, kind):
        return Slot(kind.constant, lambda: self.draw(key, kind))

    def array_slot(self, key, kind):
        return Slot(kind.constant + "[]", lambda: self.draw_array(key, kind))

    def draw_array(self, key, kind):
        roll = self.rng.random()
        if roll < 0.05:
            return f"(NULL::{kind.constant}[])"
        # PostgreSQL hashes longer arrays, and its hash of a name ignores the collation: the sequential scan would be
        # wrong
        count = self.rng.choice((0, 1, 2, 3, 3, 5) if kind.sql == "name" else (0, 1, 2, 3, 3, 5, 10, 150))
        elements = [self.draw(key, kind) for _ in range(count)]
        if elements and roll < 0.3:
            elements += self.rng.choices(elements, k=3)
        return f"(ARRAY[{', '.join(elements)}]::{kind.constant}[])"


class Generator:
    def __init__(self, rng, schema, constants):
        self.rng, self.schema, self.constants = rng, schema, constants

    def constant_type(self, key):
        """Return the type to compare a key with, and the format of its constants."""
        kind = key.column.type
        if kind.cross and self.rng.random() < 0.4:
            kind = TYPES[self.rng.choice(kind.cross)]
        return kind, self.written(key, kind)

    @staticmethod
    def written(key, kind):
        if "name" not in (kind.sql, key.column.type.sql):
            return "{%d}"
        # the type name has a collation of its own, which would conflict with the column's
        collation = key.collation or ('"C"' if key.column.type.sql == "name" else '"default"')
        return f"({{%d}} COLLATE {collation})"

    def qual(self, key):
        kinds = [self.comparison] * 6 + [self.between] * 2 + [self.null_test]
        if key.column.type.arrays:
            kinds += [self.any_array] * 2 + [self.in_list]
        if key.column.type.name == "bool":
            kinds.append(self.boolean)
        return self.rng.choice(kinds)(key)

    def comparison(self, key):
        kind, written = self.constant_type(key)
        operator = self.rng.choice(key.operators)
        if operator in COMMUTED and self.rng.random() < 0.15:
            return Qual(f"{written % 0} {COMMUTED[operator]} {key.template}", self.constants.slot(key, kind))
        return Qual(f"{key.template} {operator} {written % 0}", self.constants.slot(key, kind))

    def between(self, key):
        kind, written = self.constant_type(key)
        low, high = self.rng.choice(key.operators[3:]), self.rng.choice(key.operators[:2])
        slots = self.constants.slot(key, kind), self.constants.slot(key, kind)
        if (low, high) == (">=", "<="):
            return Qual(f"{key.template} BETWEEN {written % 0} AND {written % 1}", *slots)
        return Qual(f"{key.template} {low} {written % 0} AND {key.template} {high} {written % 1}", *slots)

    def any_array(self, key):
        kind, written = self.constant_type(key)
        operator = self.rng.choice(key.operators)
        return Qual(f"{key.template} {operator} ANY ({written % 0})", self.constants.array_slot(key, kind))

    def in_list(self, key):
        """Return an IN list of the column's own type; the parser would convert other types, which can fail."""
        kind = key.column.type
        written = self.written(key, kind)
        if key.operators[2] != "=":
            return self.any_array(key)
        count = self.rng.randint(1, 6)
        return Qual(f"{key.template} IN ({', '.join(written % n for n in range(count))})",
                    *[self.constants.slot(key, kind) for _ in range(count)])

    def wider_qual(self, key):
        """Return a qual that only the nodes support: negations, differences, whole arrays, rows, prefixes."""
        if not self.is_plain(key):
            return self.qual(key)
        kinds = [self.different, self.distinct, self.row_comparison]
        if key.column.type.arrays:
            kinds += [self.all_array, self.not_in]
        if key.column.type.sql in ("text", "varchar(40)") and key.collation in ("", '"C"', '"und-x-icu"'):
            kinds += [self.prefix] * 3
        return self.rng.choice(kinds)(key)

    @staticmethod
    def is_plain(key):
        """Return true if the key has the operators that the parser looks for."""
        return key.operators == STANDARD and key.column.type.sql.split("(")[0] in PLAIN_TYPES

    def different(self, key):
        kind, written = self.constant_type(key)
        return Qual(f"{key.template} <> {written % 0}", self.constants.slot(key, kind))

    def distinct(self, key):
        kind, written = self.constant_type(key)
        return Qual(f"({key.template} IS {self.rng.choice(('', 'NOT '))}DISTINCT FROM {written % 0})", self.constants.slot(key, kind))

    def all_array(self, key):
        kind, written = self.constant_type(key)
        operator = self.rng.choice(("<>", "<>", "<>") + STANDARD)
        return Qual(f"{key.template} {operator} ALL ({written % 0})", self.constants.array_slot(key, kind))

    def not_in(self, key):
        kind = key.column.type
        count = self.rng.randint(2, 6)
        return Qual(f"{key.template} NOT IN ({', '.join(self.written(key, kind) % n for n in range(count))})",
                    *[self.constants.slot(key, kind) for _ in range(count)])

    def row_comparison(self, key):
        keys = [key] + [k for k in self.rng.sample(self.schema.keys, len(self.schema.keys)) if self.is_plain(k)][:2]
        sides = [self.constant_type(k) for k in keys]
        columns = ", ".join(k.template for k in keys)
        values = ", ".join(written % n for n, (_, written) in enumerate(sides))
        if len(keys) == 1 or self.rng.random() < 0.1:
            columns, values = values, columns
        return Qual(f"(ROW({columns}) {self.rng.choice(STANDARD + ('<>',))} ROW({values}))",
                    *[self.constants.slot(k, kind) for k, (kind, _) in zip(keys, sides)])

    def prefix(self, key):
        start = self.rng.choice(("k", "k1", "ab", "1", "12", "2a", "", "x", "1a\\_", "\\k"))
        return Qual(f"{key.template} {self.rng.choice(('', 'NOT '))}LIKE '{start}{self.rng.choice(('%', '%', '%', '', '%%', '_', '%b'))}'")

    def null_test(self, key):
        return Qual(f"{key.template} IS {self.rng.choice(('', 'NOT '))}NULL")

    def boolean(self, key):
        return Qual(self.rng.choice(("{0}", "NOT {0}", "{0} IS TRUE", "{0} IS FALSE")).replace("{0}", key.template))

    def pair(self, keys):
        """Return a comparison of columns with each other."""
        one = self.rng.choice(keys)
        alike = NUMBERS + FLOATS if one.column.type.sql in NUMBERS + FLOATS else MOMENTS if one.column.type.sql in MOMENTS else ()
        others = [key for key in keys if key.column.type.sql in alike and self.is_plain(key)]
        if not others or not self.is_plain(one):
            return self.qual(one)
        return Qual(f"{one.template} {self.rng.choice(STANDARD + ('<>',))} {self.rng.choice(others).template}")

    def conjunction(self, keys=None):
        quals = [self.qual(self.rng.choice(keys or self.schema.keys)) for _ in range(self.rng.choice((1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 8)))]
        if self.rng.random() < 0.05:
            quals.append(self.rng.choice(quals))
        if self.rng.random() < 0.15:
            quals.append(self.pair(keys or self.schema.keys + self.schema.included))
        if self.schema.predicate:
            quals.append(Qual(f"({self.schema.predicate})"))
        return quals

    def tree(self, depth):
        """Return a qual that is made of others with AND, OR and NOT."""
        if depth == 0 or self.rng.random() < 0.25:
            included = [key for key in self.schema.included if self.constants.knows(key)]
            key = self.rng.choice(included if included and self.rng.random() < 0.3 else self.schema.keys)
            return self.wider_qual(key) if self.rng.random() < 0.4 else self.qual(key)
        if self.rng.random() < 0.2:
            return combined("NOT ({})", [self.tree(depth - 1)])
        quals = [self.tree(depth - 1) for _ in range(self.rng.choice((2, 2, 2, 3, 5)))]
        return combined(self.rng.choice((" AND ", " OR ", " OR ")).join(["({})"] * len(quals)), quals)

    def counts(self):
        """Return counts of the rows that meet a condition, those not NULL, and those that meet another one, with
        slots.
        """
        keys = self.rng.sample(self.schema.keys, self.rng.randint(0, min(2, len(self.schema.keys))))
        counted = ["count(*)"] + [f"count({key.template})" for key in keys] + self.rng.sample(("count(id)", "count(t)", "count(ctid)"), self.rng.choice((0, 0, 1)))
        quals, having = [Qual(", ".join(counted))], ""
        quals += [combined("count(*) FILTER (WHERE {})", [self.tree(self.rng.choice((0, 1, 2)))]) for _ in range(self.rng.choice((0, 1, 1, 2)))]
        query = combined(", ".join(["{}"] * len(quals)) + " FROM t", quals)
        where = [self.tree(self.rng.choice((0, 1, 2, 3)))] if self.rng.random() < 0.9 else []
        where += [Qual(f"({self.schema.predicate})")] if self.schema.predicate else []
        if where:
            query = combined("{} WHERE " + " AND ".join(["({})"] * len(where)), [query] + where)
        if self.rng.random() < 0.1:
            having = f" HAVING count(*) > {self.rng.choice((0, 5, 100))}"
        return combined("SELECT {}" + having, [query])

    def keyed_counts(self):
        """Return counts grouped by constants, which conditions use as well: the slot {0} occurs several times."""
        rng, key = self.rng, self.rng.choice(self.schema.keys)
        kind, written = self.constant_type(key)
        value = rng.choice(("{}", "{}", "fz_steady({})")).format(written % 0)
        slot = self.constants.slot(key, kind)
        asked = [f"{key.template} {rng.choice(key.operators)} {value}" for _ in range(4)]
        groups = [value, f"{key.template} IS NULL", asked[0]]
        # (an aggregate of only an outer query's columns would belong to that query)
        number = f"count(CASE WHEN {key.template} IS NOT NULL THEN {value} END)"
        largest = f"max(({value})::text || ({key.template} IS NULL)::text)"
        shown = [f"coalesce(({value})::text, '')", number, "count(*)", f"count(*) FILTER (WHERE {asked[0]})",
                 f"count({key.template}) FILTER (WHERE {asked[1]} OR {asked[2]})", f"coalesce({largest}, '')"]
        query = Qual(f"SELECT {', '.join(rng.sample(shown, rng.randint(1, 4)))} FROM t WHERE {rng.choice(asked[1:])}", slot)
        others = [self.tree(rng.choice((0, 1)))] if rng.random() < 0.4 else []
        others += [Qual(f"({self.schema.predicate})")] if self.schema.predicate else []
        query = combined("{}" + " AND ({})" * len(others), [query] + others)
        having = rng.choice(("", "", f" HAVING {largest} IS NOT NULL OR count(*) > 3", f" HAVING count(*) FILTER (WHERE {asked[3]}) > 2 OR {number} > 3"))
        return Qual(f"{query.template} GROUP BY {', '.join([value] + rng.sample(groups[1:], rng.choice((0, 0, 1, 2))))}{having}", *query.slots)

    def any_counts(self):
        return self.keyed_counts() if self.rng.random() < 0.3 else self.counts()


def combined(frame, quals):
    """Combine quals into one; each {} in the frame stands for one of them."""
    slots, templates = [], []
    for qual in quals:
        text = qual.template.format(*[f"\0{len(slots) + n}\1" for n in range(len(qual.slots))])
        templates.append(text.replace("{", "{{").replace("}", "}}").replace("\0", "{").replace("\1", "}"))
        slots += qual.slots
    return Qual(frame.format(*templates), *slots)


def render(quals, fill):
    """Return the conjunction of the quals as text; fill(slot) returns the text of each constant."""
    return " AND ".join(q.template.format(*[fill(slot) for slot in q.slots]) for q in quals)


class Comparer(Scans, Starred):
    """Runs each query twice in a session, and counts how many of them used the index."""

    def __init__(self, rng, session, schema, counts):
        self.rng, self.session, self.schema, self.counts = rng, session, schema, counts
        self.generator = Generator(rng, schema, Constants(rng, session, schema))
        self.settings, self.keys, self.selected = BITMAP, schema.keys, "tableoid, ctid"
        self.leg = ""  # the settings of a query whose error does not come from the plan under test
        self.zones = ["UTC", "Asia/Kolkata"] + [k.column.type.zone for k in schema.keys if k.column.type.zone] * 4
        self.refresh_names()

    @classmethod
    def of(cls, session, rng, other):
        """Return a copy for another session."""
        comparer = cls.__new__(cls)
        comparer.__dict__.update(other.__dict__, session=session, rng=rng)
        return comparer

    def refresh_names(self):
        found = self.session.query("SELECT 't_idx' UNION SELECT relid::regclass::text FROM pg_partition_tree('t_idx')")
        self.index_names = [name for name, in found]
        self.bare_names = [name.replace('"', "") for name in self.index_names]
        returned = self.session.query("SELECT attname FROM pg_index, unnest(indkey) WITH ORDINALITY k (attnum, n) JOIN pg_attribute a ON a.attnum = k.attnum "
                                      "WHERE indexrelid = 't_idx'::regclass AND k.attnum > 0 AND attrelid = 't'::regclass "
                                      "AND pg_index_column_has_property(indexrelid, n::int, 'returnable')")
        self.returned = sorted({name for name, in returned})
        self.returned_keys = [key for key in self.schema.keys if key.column.name in self.returned]
        self.ordered_keys = [key for key in self.returned_keys if alike(key.column.name, key)]

    def choose_scan(self, rng):
        """Return settings, what to select, and the keys to use in conditions. Columns must look as they did, to the
        last blank.
        """
        roll = rng.random()
        if roll < 0.3 and self.returned_keys:
            columns = rng.sample(self.returned, rng.randint(1, len(self.returned)))
            return INDEX_ROWS, f"ROW({', '.join(columns)})::text", self.returned_keys
        return HEAP_ROWS if roll < 0.55 else BITMAP, "tableoid, ctid", self.schema.keys

    def one_query(self, changing=True):
        """Run a random query. Queries that change rows, and roll that back, need a transaction of their own without
        locks of others.
        """
        rng = self.rng
        self.settings, self.selected, self.keys = self.choose_scan(rng)
        self.settings += f"; SET work_mem = '{rng.choice(MEMORY)}'"
        if rng.random() < 0.1:
            self.settings += "; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0"
        self.session.query(f"SET TimeZone = '{rng.choice(self.zones)}'; SET constraint_exclusion = {rng.choice(('off', 'partition'))}")
        forms = [self.plain] * 5 + [self.prepared] * 2 + [self.optional] * 2 + [self.nested_loop] * 2 + [self.run_time_key, self.disjunction]
        forms += [self.grouped, self.limited, self.page_and_total]
        forms += [self.ordered] * 2 + [self.first_rows] * 3 + [self.first_of_groups] * 4 + self.scan_forms(changing)
        forms += [self.starred] * 9 if self.schema.dimensions else []
        if changing:
            forms += [self.held_cursor, self.deleting]
        if self.schema.dimensions and self.schema.only_joins:
            forms = [self.starred]
        elif rng.random() < 0.4:
            self.settings = AGGREGATE
            forms = [self.counted] * 4 + [self.summed] * 5 + [self.counted_prepared, self.counted_again, self.counted_run_time]
            if changing:
                forms += [self.counted_held, self.counted_changing, self.summed_changing]
        try:
            rng.choice(forms)()
        except psycopg2.Error as e:
            raise Finding(f"{self.leg or self.settings};\n{self.session.last};\n{e.pgcode}: {e}") from e
        self.session.query("RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET min_parallel_table_scan_size")

    def literals(self):
        return render(self.generator.conjunction(self.keys), lambda slot: slot.draw())

    def plain(self):
        where = self.literals()
        self.compare(f"SELECT {self.selected} FROM t WHERE {where}")

    def disjunction(self):
        self.compare(f"SELECT {self.selected} FROM t WHERE ({self.literals()}) OR ({self.literals()})")

    def run_time_key(self):
        """Compare a scan whose keys are known only when it starts."""
        where = render(self.generator.conjunction(self.keys), lambda slot: f"((SELECT {slot.draw()})::{slot.sql_type})")
        self.compare(f"SELECT {self.selected} FROM t WHERE {where}")

    def grouped(self):
        """Compare groups, which need no heap; only of columns whose equal values are identical."""
        self.compare(f"SELECT count(*), sum(id), min(u), max(u) FROM t WHERE {self.literals()}")
        self.compare(f"SELECT u, count(*) FROM t WHERE {self.literals()} GROUP BY u")
        self.compare(f"SELECT DISTINCT u, id % 7 FROM t WHERE {self.literals()}")
        number = self.rng.choice(("count(*)", "count(u)", "sum(id)", "sum(u)", "sum(id / 4.0)", "sum(nullif(id % 9, 4) * 0.25)"))
        order = self.rng.choice(("", "DESC", "NULLS FIRST", "DESC NULLS LAST"))
        limit = f"LIMIT {self.rng.choice((1, 3, 10, 100))} OFFSET {self.rng.choice((0, 0, 1, 20))}"
        key = self.rng.choice(("u", "id % 100", "id"))
        self.compare(f"SELECT {key}, {number} FROM t WHERE {self.literals()} GROUP BY 1 ORDER BY {number} {order}, 1 {limit}")

    def page_and_total(self):
        """Compare a page of rows, each with the number of all rows."""
        limit = f"LIMIT {self.rng.choice((1, 3, 10))} OFFSET {self.rng.choice((0, 0, 5, 100))}"
        order = self.rng.choice(("id", "u, id", "u DESC, id", "count(*) OVER (), id"))
        self.compare(f"SELECT id, u, count(*) OVER () FROM t WHERE {self.literals()} ORDER BY {order} {limit}")

    def prepared(self):
        """Compare a generic plan, which is executed twice with different parameters."""
        self.prepare_and_compare(self.generator.conjunction(self.keys), f"SELECT {self.selected} FROM t WHERE ")

    def prepare_and_compare(self, quals, start):
        slots = [slot for q in quals for slot in q.slots]
        numbers = iter(range(1, len(slots) + 1))
        where = render(quals, lambda slot: f"${next(numbers)}")
        types = f" ({', '.join(s.sql_type for s in slots)})" if slots else ""
        statement = f"PREPARE q{types} AS {start}{where}"
        for _ in range(2):
            values = [slot.draw() for slot in slots]
            left = iter(values)
            oracle = start + render(quals, lambda slot: next(left))
            execute = "EXECUTE q" + (f" ({', '.join(values)})" if values else "")
            self.compare(execute, oracle, before=f"SET plan_cache_mode = force_generic_plan; {statement}", after="DEALLOCATE q")

    def optional(self):
        """Compare a generic plan with conditions that its parameters turn off: optional ones of a form."""
        quals = self.generator.conjunction(self.keys)
        slots = [slot for q in quals for slot in q.slots]
        form = self.rng.choice(("({0} OR {1})", "({0} IS NULL OR {1})", "({1} OR {0} AND {0} IS NOT NULL)", "(NOT {0} AND {1} OR {0})"))
        types = ", ".join(["bool"] * len(quals) + [slot.sql_type for slot in slots])

        def where(switches, values):
            left = iter(values)
            return " AND ".join(form.format(switch, f"({render([q], lambda slot: next(left))})") for q, switch in zip(quals, switches))

        numbers = [f"${n + 1}" for n in range(len(quals) + len(slots))]
        start = f"SELECT {self.selected} FROM t WHERE "
        statement = f"PREPARE q ({types}) AS {start}{where(numbers[:len(quals)], numbers[len(quals):])}"
        for _ in range(3):
            switches = [self.rng.choice(("true", "false", "NULL::bool")) for _ in quals]
            values = [slot.draw() for slot in slots]
            self.compare(f"EXECUTE q ({', '.join(switches + values)})", start + where(switches, values),
                         before=f"SET plan_cache_mode = force_generic_plan; {statement}", after="DEALLOCATE q")

    def nested_loop(self):
        """Compare a nested loop with the index on the inner side: run-time keys and rescans."""
        quals = self.generator.conjunction(self.keys)
        slots = [slot for q in quals for slot in q.slots]
        rows = ", ".join("(" + ", ".join([str(n)] + [s.draw() for s in slots]) + ")" for n in range(self.rng.randint(2, 4)))
        columns = [f"p{n}" for n in range(len(slots))]
        names = iter(columns)
        where = render(quals, lambda slot: f"k.{next(names)}")
        self.compare(f"SELECT k.n, s.* FROM (VALUES {rows}) k ({', '.join(['n'] + columns)}), "
                     f"LATERAL (SELECT {self.selected} FROM t WHERE {where} OFFSET 0) s")

    def limited(self):
        """Compare the number of rows with a limit, and whether there is a row."""
        where, count = self.literals(), self.rng.choice((1, 2, 100))
        self.compare(f"SELECT count(*) FROM (SELECT {self.selected} FROM t WHERE {where} LIMIT {count}) l")
        self.compare(f"SELECT EXISTS (SELECT FROM t WHERE {where})")

    def held_cursor(self):
        """Check that a cursor does not see later changes, even of its own transaction."""
        select = f"SELECT {self.selected} FROM t WHERE {self.literals()}"
        self.count_plan(select)
        expected = self.rows_of(SEQUENTIAL, select)
        self.session.query("BEGIN ISOLATION LEVEL REPEATABLE READ")
        self.session.query(f"{self.settings}; DECLARE held CURSOR FOR {select}")
        rows = self.session.query(f"FETCH {self.rng.choice((0, 3))} FROM held")
        changes = ["DELETE FROM t WHERE id % 3 = 0", "UPDATE t SET u = u + 1 WHERE id % 7 = 1"]
        if not self.schema.unique:
            changes.append(f"INSERT INTO t ({self.schema.column_list()}) {self.schema.row_source(1, 20)}")
        self.session.query("; ".join(changes))
        rows += self.session.query("FETCH ALL FROM held")
        self.session.query("ROLLBACK")
        self.check(select, expected, rows)

    def deleting(self):
        """Delete rows by the index, which must also find earlier changes of the transaction."""
        where = self.literals()
        self.count_plan(f"DELETE FROM t WHERE {where}")
        returning = f"BEGIN; UPDATE t SET u = u + 1 WHERE id % 5 = 0; DELETE FROM t WHERE {where} RETURNING id"
        expected = self.rows_of(SEQUENTIAL, returning, "ROLLBACK")
        self.check(returning, expected, self.rows_of(self.settings, returning, "ROLLBACK"))


    def filled(self, qual, fill=lambda slot: slot.draw()):
        return render([qual], fill)

    def counted(self):
        self.compare(self.filled(self.generator.any_counts()))

    def counted_run_time(self):
        self.compare(self.filled(self.generator.any_counts(), lambda slot: f"((SELECT {slot.draw()})::{slot.sql_type})"))

    def counted_prepared(self):
        """Compare counts by a generic plan, which is executed twice with different parameters."""
        self.prepare_and_compare([self.generator.any_counts()], "")

    def counted_again(self):
        """Compare counts that are repeated for each row of another table."""
        query = self.generator.any_counts()
        rows = ", ".join("(" + ", ".join([str(n)] + [s.draw() for s in query.slots]) + ")" for n in range(self.rng.randint(2, 4)))
        columns = [f"p{n}" for n in range(len(query.slots))]
        names = iter(columns)
        self.compare(f"SELECT k.n, s.* FROM (VALUES {rows}) k ({', '.join(['n'] + columns)}), "
                     f"LATERAL ({self.filled(query, lambda slot: f'k.{next(names)}')}) s")

    def counted_held(self):
        """Compare counts by a cursor that is declared before its own transaction changes the table."""
        query = self.filled(self.generator.any_counts())
        self.count_plan(query)
        expected = self.rows_of(SEQUENTIAL, query)
        self.session.query(f"BEGIN; {self.settings}; DECLARE held CURSOR FOR {query}")
        self.session.query("DELETE FROM t WHERE id % 3 = 0; UPDATE t SET u = u + 1 WHERE id % 7 = 1")
        rows = self.session.query("FETCH ALL FROM held")
        self.session.query("ROLLBACK")
        self.check(query, expected, rows)

    def counted_changing(self):
        """Compare counts after changes of the own transaction."""
        query = self.filled(self.generator.any_counts())
        self.count_plan(query)
        self.session.query("BEGIN; DELETE FROM t WHERE id % 5 = 0; SAVEPOINT s; UPDATE t SET u = u + 1 WHERE id % 7 = 1; "
                           "DELETE FROM t WHERE id % 4 = 0; ROLLBACK TO s; UPDATE t SET u = u + 1 WHERE id % 3 = 1")
        expected, rows = self.rows_of(SEQUENTIAL, query), self.rows_of(self.settings, query)
        self.session.query("ROLLBACK")
        self.check(query, expected, rows)

    def sums(self):
        return Sums(self.rng, self.schema, lambda: f"({self.filled(self.generator.tree(self.rng.choice((0, 1, 2))))})").query()

    def outcome(self, settings, query):
        """Return the rows as text, which shows the scales of numerics, or the error of a sum."""
        self.session.query(settings)
        try:
            return sorted(text for text, in self.session.query(f"SELECT q::text FROM ({query}) q"))
        except psycopg2.Error as e:
            if e.pgcode not in SUM_ERRORS:
                raise
            # if several rows, keys or aggregates fail, any of their errors may be raised
            return ["22..." if e.pgcode.startswith(("22", "0A")) else e.pgcode]

    def summed(self):
        self.settings += f"; SET work_mem = '{self.rng.choice(MEMORY)}'; SET hash_mem_multiplier = 1"
        self.compare_sums(*self.sums())

    def compare_sums(self, query, rows):
        """Compare sums. In a transaction a savepoint is restored after errors."""
        idle = self.session.connection.info.transaction_status == psycopg2.extensions.TRANSACTION_STATUS_IDLE
        savepoint = "SELECT 1" if idle else "ROLLBACK TO sums"
        if not idle:
            self.session.query("SAVEPOINT sums")
        expected = self.outcome(SEQUENTIAL, query)
        self.session.query(savepoint)
        if len(expected) == 1 and expected[0] in ("42883", "42725"):
            self.counts["sums that there are not"] += 1
            return
        plan = ""
        try:
            plan = str(self.session.query(f"{self.settings}; EXPLAIN (COSTS OFF) {query}"))
        except psycopg2.Error:              # the planner raises the error as well
            self.session.query(savepoint)
        by_node = "RtscanAggregate" in plan
        found = self.outcome(self.settings, query)
        self.session.query(savepoint)
        if expected == ["22..."] and found != expected:
            fails = self.outcome(SEQUENTIAL, rows) == expected
            self.session.query(savepoint)
            if fails:       # a condition fails for rows that the index excludes before it is evaluated
                self.counts["sums by the node, without what would fail"] += 1
                return
        self.counts[f"sums {'' if by_node else 'not '}by the node"] += 1
        if by_node and ("(DISTINCT " in query or " WITHIN GROUP " in query):
            self.counts["sums by the node, of collected values"] += 1
        if "Implied Ranges" in plan:
            self.counts["sums of implied ranges"] += 1
        if by_node and " GROUP BY " in query:
            self.counts["sums by the node, in groups"] += 1
            self.counts["groups compared"] += len(found)
        if by_node and query.startswith("SELECT DISTINCT "):
            self.counts["sums by the node, of DISTINCT"] += 1
        if by_node and "GROUPING(" in query:
            self.counts["sums by the node, in grouping sets"] += 1
        if by_node and len(expected) == 1 and expected[0] == "22...":
            self.counts["sums by the node, out of range"] += 1
        if found != expected:
            missing, extra = sorted(set(expected) - set(found)), sorted(set(found) - set(expected))
            raise Finding(f"{self.story(query)}\nexpected {len(expected)} rows, got {len(found)}; missing {missing[:5]}, too many {extra[:5]}")

    def summed_changing(self):
        """Compare sums after changes of the own transaction."""
        query, rows = self.sums()
        self.session.query("BEGIN; DELETE FROM t WHERE id % 5 = 0; SAVEPOINT s; UPDATE t SET u = u + 1 WHERE id % 7 = 1; "
                           "DELETE FROM t WHERE id % 4 = 0; ROLLBACK TO s; UPDATE t SET u = u + 1 WHERE id % 3 = 1")
        try:
            self.compare_sums(query, rows)
        finally:
            self.session.query("ROLLBACK")

    def rows_of(self, settings, query, after=None):
        self.leg = settings
        self.session.query(settings)
        try:
            rows = self.session.query(query)
        finally:
            if after:
                self.session.query(after)
        self.leg = ""
        return rows

    def count_plan(self, query, before=""):
        """Count whether the plan under test uses the index."""
        plan = "\n".join(line for line, in self.session.query(f"{self.settings}; {before}; EXPLAIN (COSTS OFF) {query}"))
        words = plan.replace('"', "").split()
        for node, shown in (("Bitmap Index Scan", "Bitmap Index Scan on"), ("RtscanScan", "Index:")):
            if any(f"{shown} {name}" in plan.replace('"', "") for name in self.bare_names) and node in plan:
                self.counts[f"plans with {node}"] += 1
        self.plan = plan
        if self.settings == AGGREGATE:
            kind = "by the node" if "RtscanAggregate" in plan else "not by the node"
            self.counts[f"counts {kind}"] += 1
        if any(name.replace('"', "") in words for name in self.index_names):
            self.counts["through the index"] += 1
        elif " on t" not in plan:
            self.counts["answered by the planner"] += 1
        else:
            self.counts["not through the index"] += 1

    def compare(self, query, oracle=None, before="", after=None, sequential=SEQUENTIAL):
        expected = self.rows_of(sequential, oracle or query)
        self.count_plan(query, before)
        rows = self.session.query(query)
        if after:
            self.session.query(after)
        self.check(query, expected, rows, before)

    def story(self, query, before=""):
        zone = self.session.query("SHOW TimeZone")[0][0]
        return f"SET TimeZone = '{zone}'; {self.settings}; {before}\n{query};"

    def check(self, query, expected, rows, before=""):
        if sorted(expected) == sorted(rows):
            self.counts["answers compared"] += 1
            self.counts["rows compared"] += len(rows)
            return
        missing, extra = sorted(set(expected) - set(rows)), sorted(set(rows) - set(expected))
        raise Finding(f"{self.story(query, before)}\nexpected {len(expected)} rows, got {len(rows)}; "
                      f"missing {missing[:10]}, too many {extra[:10]}\n{self.plan}")
