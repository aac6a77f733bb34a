"""Random conjunctions over the key columns, run in several forms through the index and compared with a sequential scan."""
import psycopg2

from catalog import TYPES
from session import Finding

SEQUENTIAL = ("SET enable_seqscan = on; SET enable_bitmapscan = off; SET enable_indexscan = off; "
              "SET enable_indexonlyscan = off; SET plan_cache_mode = auto; SET work_mem = '16MB'")
BITMAP = "SET enable_seqscan = off; SET enable_bitmapscan = on; SET enable_indexscan = off; SET enable_indexonlyscan = off"
PLAIN_INDEX = "SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_indexscan = on; SET enable_indexonlyscan = on"
COMMUTED = {"<": ">", "<=": ">=", "=": "=", ">=": "<=", ">": "<"}
MEMORY = ("64kB", "64kB", "4MB", "16MB")


class Slot:
    """A place for a constant in a qual: draw() gives a literal, a new one every time."""

    def __init__(self, sql_type, draw):
        self.sql_type, self.draw = sql_type, draw


class Qual:
    """A template with {0}, {1}.. for its slots."""

    def __init__(self, template, *slots):
        self.template, self.slots = template, slots


class Constants:
    """Literals of each key's type and of those that it can be compared with: mostly from the data, some beyond."""

    def __init__(self, rng, session, schema):
        self.rng, self.pools = rng, {}
        rows = [rng.randint(1, max(schema.rows, 1)) for _ in range(25)] + [rng.randint(-1000, 300000) for _ in range(5)]
        for key in schema.keys:
            for kind in [key.column.type] + [TYPES[name] for name in key.column.type.cross]:
                self.pools[key.column.name, kind.name] = self.load(session, key.column, kind, rows)

    @staticmethod
    def load(session, column, kind, rows):
        number = column.numbers.replace("{i}", "i")
        text = kind.text.replace("{v}", f"{kind.make.replace('{x}', number)}::{kind.sql}")
        found = session.query(f"SELECT {text} FROM unnest(ARRAY{rows}) i")
        return [kind.literal(value) for value, in found], [kind.literal(value) for value in kind.extremes]

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
        # core hashes longer arrays, and the hash of a name ignores its collation: the sequential scan would be wrong
        count = self.rng.choice((0, 1, 2, 3, 3, 5) if kind.sql == "name" else (0, 1, 2, 3, 3, 5, 10, 150))
        elements = [self.draw(key, kind) for _ in range(count)]
        if elements and roll < 0.3:
            elements += self.rng.choices(elements, k=3)
        return f"(ARRAY[{', '.join(elements)}]::{kind.constant}[])"


class Generator:
    def __init__(self, rng, schema, constants):
        self.rng, self.schema, self.constants = rng, schema, constants

    def constant_type(self, key):
        """The type to compare a key with, and how its constants have to be written."""
        kind = key.column.type
        if kind.cross and self.rng.random() < 0.4:
            kind = TYPES[self.rng.choice(kind.cross)]
        return kind, self.written(key, kind)

    @staticmethod
    def written(key, kind):
        if "name" not in (kind.sql, key.column.type.sql):
            return "{%d}"
        # the type name has a collation of its own, which would be in conflict with the column's
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
        """Only of the column's own type: the parser would convert others, and that can fail."""
        kind = key.column.type
        written = self.written(key, kind)
        if key.operators[2] != "=":
            return self.any_array(key)
        count = self.rng.randint(1, 6)
        return Qual(f"{key.template} IN ({', '.join(written % n for n in range(count))})",
                    *[self.constants.slot(key, kind) for _ in range(count)])

    def null_test(self, key):
        return Qual(f"{key.template} IS {self.rng.choice(('', 'NOT '))}NULL")

    def boolean(self, key):
        return Qual(self.rng.choice(("{0}", "NOT {0}", "{0} IS TRUE", "{0} IS FALSE")).replace("{0}", key.template))

    def conjunction(self):
        quals = [self.qual(self.rng.choice(self.schema.keys)) for _ in range(self.rng.choice((1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 8)))]
        if self.rng.random() < 0.05:
            quals.append(self.rng.choice(quals))
        if self.schema.predicate:
            quals.append(Qual(f"({self.schema.predicate})"))
        return quals


def render(quals, fill):
    """The conjunction's text; fill(slot) gives the text of each constant."""
    return " AND ".join(q.template.format(*[fill(slot) for slot in q.slots]) for q in quals)


class Comparer:
    """Runs queries in a session, twice each, and counts how many of them went through the index."""

    def __init__(self, rng, session, schema, counts):
        self.rng, self.session, self.schema, self.counts = rng, session, schema, counts
        self.generator = Generator(rng, schema, Constants(rng, session, schema))
        self.settings = BITMAP
        self.plain_index = session.query("SELECT pg_index_has_property('t_idx'::regclass, 'index_scan')")[0][0]
        self.zones = ["UTC", "Asia/Kolkata"] + [k.column.type.zone for k in schema.keys if k.column.type.zone] * 4
        self.refresh_names()

    def refresh_names(self):
        found = self.session.query("SELECT 't_idx' UNION SELECT relid::regclass::text FROM pg_partition_tree('t_idx')")
        self.index_names = [name for name, in found]

    def one_query(self, changing=True):
        """Ask something; what changes rows (and rolls that back) needs a transaction of its own, and no locks of others."""
        rng = self.rng
        self.settings = (PLAIN_INDEX if self.plain_index and rng.random() < 0.3 else BITMAP) + \
            f"; SET work_mem = '{rng.choice(MEMORY)}'"
        if rng.random() < 0.1:
            self.settings += "; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0"
        self.session.query(f"SET TimeZone = '{rng.choice(self.zones)}'")
        forms = [self.plain] * 5 + [self.prepared] * 2 + [self.nested_loop] * 2 + [self.run_time_key, self.disjunction, self.grouped]
        if changing:
            forms += [self.held_cursor, self.deleting]
        try:
            rng.choice(forms)()
        except psycopg2.Error as e:
            raise Finding(f"{self.settings};\n{self.session.last};\n{e.pgcode}: {e}") from e
        self.session.query("RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET min_parallel_table_scan_size")

    def literals(self):
        return render(self.generator.conjunction(), lambda slot: slot.draw())

    def plain(self):
        where = self.literals()
        self.compare(f"SELECT tableoid, ctid FROM t WHERE {where}")

    def disjunction(self):
        self.compare(f"SELECT tableoid, ctid FROM t WHERE ({self.literals()}) OR ({self.literals()})")

    def run_time_key(self):
        """Keys that are known only when the scan starts, once."""
        where = render(self.generator.conjunction(), lambda slot: f"((SELECT {slot.draw()})::{slot.sql_type})")
        self.compare(f"SELECT tableoid, ctid FROM t WHERE {where}")

    def grouped(self):
        """Answers that a scan could give without the heap; only of columns where equal is identical."""
        self.compare(f"SELECT count(*), sum(id), min(u), max(u) FROM t WHERE {self.literals()}")
        self.compare(f"SELECT u, count(*) FROM t WHERE {self.literals()} GROUP BY u")

    def prepared(self):
        """A generic plan; executed twice with other parameters."""
        quals = self.generator.conjunction()
        slots = [slot for q in quals for slot in q.slots]
        numbers = iter(range(1, len(slots) + 1))
        where = render(quals, lambda slot: f"${next(numbers)}")
        types = f" ({', '.join(s.sql_type for s in slots)})" if slots else ""
        statement = f"PREPARE q{types} AS SELECT tableoid, ctid FROM t WHERE {where}"
        for _ in range(2):
            values = [slot.draw() for slot in slots]
            left = iter(values)
            oracle = f"SELECT tableoid, ctid FROM t WHERE {render(quals, lambda slot: next(left))}"
            execute = "EXECUTE q" + (f" ({', '.join(values)})" if values else "")
            self.compare(execute, oracle, before=f"SET plan_cache_mode = force_generic_plan; {statement}", after="DEALLOCATE q")

    def nested_loop(self):
        """The index on the inner side: run-time keys and rescans."""
        quals = self.generator.conjunction()
        slots = [slot for q in quals for slot in q.slots]
        rows = ", ".join("(" + ", ".join([str(n)] + [s.draw() for s in slots]) + ")" for n in range(self.rng.randint(2, 4)))
        columns = [f"p{n}" for n in range(len(slots))]
        names = iter(columns)
        where = render(quals, lambda slot: f"k.{next(names)}")
        self.compare(f"SELECT k.n, s.* FROM (VALUES {rows}) k ({', '.join(['n'] + columns)}), "
                     f"LATERAL (SELECT tableoid, ctid FROM t WHERE {where} OFFSET 0) s")

    def held_cursor(self):
        """A cursor is not disturbed by what happens after it was declared, be it in its own transaction."""
        select = f"SELECT tableoid, ctid FROM t WHERE {self.literals()}"
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
        """The index under a DELETE; the index must also find what the transaction itself did before."""
        where = self.literals()
        self.count_plan(f"DELETE FROM t WHERE {where}")
        returning = f"BEGIN; UPDATE t SET u = u + 1 WHERE id % 5 = 0; DELETE FROM t WHERE {where} RETURNING id"
        expected = self.rows_of(SEQUENTIAL, returning, "ROLLBACK")
        self.check(returning, expected, self.rows_of(self.settings, returning, "ROLLBACK"))


    def rows_of(self, settings, query, after=None):
        self.session.query(settings)
        try:
            return self.session.query(query)
        finally:
            if after:
                self.session.query(after)

    def count_plan(self, query, before=""):
        """Whether the plan under test uses the index."""
        plan = "\n".join(line for line, in self.session.query(f"{self.settings}; {before}; EXPLAIN (COSTS OFF) {query}"))
        words = plan.replace('"', "").split()
        self.plan = plan
        if any(name.replace('"', "") in words for name in self.index_names):
            self.counts["through the index"] += 1
        elif " on t" not in plan:
            self.counts["answered by the planner"] += 1
        else:
            self.counts["not through the index"] += 1

    def compare(self, query, oracle=None, before="", after=None):
        expected = self.rows_of(SEQUENTIAL, oracle or query)
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
