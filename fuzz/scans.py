"""Queries of the forms that RtscanScan supports: any quals, orders, repetition, cursors, locks, changes, joins."""
import re

from catalog import PLAIN_TYPES
from plans import HEAP_ROWS, INDEX_ROWS, LOOPS_ONLY, SEQUENTIAL
from sums import BLIND, EXACT

DIRECTIONS = ("", " DESC", " NULLS FIRST", " DESC NULLS LAST")
LOCKS = ("UPDATE", "NO KEY UPDATE", "SHARE", "KEY SHARE", "UPDATE SKIP LOCKED", "SHARE NOWAIT")


def identical(name, key):
    """Return a column as text that is the same for equal values, or None."""
    sql = key.column.type.sql.split("(")[0] if key else "int8"
    if sql in ("float4", "float8"):
        return f"({name} + 0)::text"
    if sql == "numeric":
        return f"trim_scale({name})::text"
    if sql in PLAIN_TYPES - {"interval"} and (key is None or key.collation in ("", '"C"')):
        return f"{name}::text"
    return None


def alike(name, key):
    """Return a column of more types as such text. Rows with equal keys may come in any order."""
    return identical(name, key) or (f"{name}::text" if key.column.type.sql in EXACT and key.collation not in BLIND else None)


def rng_sample(rng, keys):
    return rng.sample(keys, rng.randint(1, min(2, len(keys))))


class Scans:
    """Forms of queries, for a Comparer."""

    def scan_forms(self, changing):
        forms = [self.any_quals] * 3 + [self.joined] * 2 + [self.ordered_again, self.windowed]
        return forms + ([self.ordered_cursor, self.locked, self.changed, self.changed_at_cursor] if changing else [])

    # ---- parts of queries

    def any_where(self):
        """Return a tree of quals, with some that no index looks up."""
        rng = self.rng
        quals = [self.filled(self.generator.tree(rng.choice((0, 1, 2))))]
        if rng.random() < 0.4:
            key = rng.choice(self.schema.keys)
            quals.append(rng.choice((f"id % {rng.randint(2, 9)} <> 1", f"u + id > {rng.randint(0, 500)}",
                                     f"({key.expression} IS NULL) = (u < 5)", f"(id % 3 = 1 OR {key.expression} IS NULL)",
                                     f"length({key.expression}::text) % 2 = 1", "random() >= 0")))
        if self.schema.predicate:
            quals.append(self.schema.predicate)
        return " AND ".join(f"({qual})" for qual in quals)

    def scan_of(self, share):
        """Return settings for columns of the index or for rows of the heap, and a select list for these."""
        if self.returned and self.rng.random() < share:
            return INDEX_ROWS, f"ROW({', '.join(self.rng.sample(self.returned, self.rng.randint(1, len(self.returned))))})::text"
        return HEAP_ROWS, self.rng.choice(("ctid, tableoid", "t::text", "ctid, id, u"))

    def an_order(self):
        key = self.rng.choice(self.ordered_keys)
        return key, f"{key.expression}{self.rng.choice(DIRECTIONS)}"

    @staticmethod
    def of_table(key, alias):
        return re.sub(rf"\b{key.column.name}\b", f"{alias}.{key.column.name}", key.expression)

    # ---- orders

    def ordered(self):
        """Compare the order of keys, in either direction. Rows with equal keys may be in any order."""
        if not self.ordered_keys:
            return self.plain()
        rng, keys = self.rng, rng_sample(self.rng, self.ordered_keys)
        order = ", ".join(f"{key.template}{rng.choice(('', ' DESC'))}{rng.choice(('', '', ' NULLS FIRST', ' NULLS LAST'))}" for key in keys)
        limit = rng.choice(("", " LIMIT 1", " LIMIT 10", " OFFSET 20 LIMIT 100", " LIMIT 3000", " OFFSET 100 LIMIT 3", " OFFSET 2500 LIMIT 5",
                            " OFFSET 30000 LIMIT 2", " OFFSET (SELECT 70) FETCH FIRST 2 ROWS WITH TIES"))
        self.settings = INDEX_ROWS if rng.random() < 0.7 else HEAP_ROWS
        self.settings += rng.choice(("", "; SET enable_sort = off; SET enable_incremental_sort = off"))
        columns = ", ".join(f"{alike(key.column.name, key)} AS o{n}" for n, key in enumerate(keys))
        if self.settings.startswith(HEAP_ROWS):
            columns += ", ctid IS NOT NULL"
        query = f"SELECT {columns} FROM t WHERE {self.literals()} ORDER BY {order}{limit}"
        expected = self.rows_of(SEQUENTIAL, query)
        self.count_plan(query)
        rows = self.session.query(query)
        self.check(query, list(enumerate(expected)), list(enumerate(rows)))
        self.session.query("RESET enable_sort; RESET enable_incremental_sort")
        self.counts["orders compared"] += 1
        self.counts["orders by the node"] += "Order:" in self.plan
        self.counts["offsets skipped"] += "Offset:" in self.plan

    def first_rows(self):
        """Compare the first rows in an order of any columns of the index, also more rows than expected. The plan has
        no sort, if there is such a plan.
        """
        rng = self.rng
        columns = [(key.template, key) for key in self.returned_keys + self.schema.included] + [(name, None) for name in ("id", "u") if name in self.returned]
        if not columns:
            return self.plain()
        columns = rng.sample(columns, rng.randint(1, min(4, len(columns))))
        order = ", ".join(f"{name}{rng.choice(('', ' DESC'))}{rng.choice(('', '', ' NULLS FIRST', ' NULLS LAST'))}" for name, _ in columns)
        shown = [identical(name, key) for name, key in columns] + ["1"]
        limit = rng.choice(("LIMIT 1", "LIMIT 10", "LIMIT 100 OFFSET 20", "LIMIT 3000", "FETCH FIRST 5 ROWS WITH TIES", "FETCH FIRST 200 ROWS WITH TIES",
                            "OFFSET 500 LIMIT 7"))
        self.settings = f"{INDEX_ROWS if rng.random() < 0.7 else HEAP_ROWS}; SET enable_sort = {rng.choice(('on', 'off', 'off', 'off'))}"
        if self.settings.startswith(HEAP_ROWS):
            shown.append("ctid IS NOT NULL")
        query = f"SELECT {', '.join(f'{text} AS o{n}' for n, text in enumerate(filter(None, shown)))} FROM t WHERE {self.literals()} ORDER BY {order} {limit}"
        expected = self.rows_of(SEQUENTIAL, query)
        self.count_plan(query)
        rows = self.session.query(query)
        self.check(query, list(enumerate(expected)), list(enumerate(rows)))
        self.session.query("RESET enable_sort")
        self.counts["first rows compared"] += 1
        self.counts["first rows by a heap"] += "bounded heap" in self.plan

    def first_of_groups(self):
        """Compare the first rows of each group, also if memory is short: DISTINCT ON, and small row numbers."""
        rng = self.rng
        columns = [(key.template, key) for key in self.returned_keys + self.schema.included] + [(name, None) for name in ("id", "u") if name in self.returned]
        if not columns:
            return self.plain()
        columns = rng.sample(columns, rng.randint(1, min(5, len(columns))))
        group = columns[:rng.randint(1, min(3, len(columns)))]
        terms = [f"{name}{rng.choice(('', ' DESC'))}{rng.choice(('', '', ' NULLS FIRST', ' NULLS LAST'))}" for name, _ in columns]
        keys, more = ", ".join(name for name, _ in group), ", ".join(terms[len(group):])
        shown = ", ".join(f"coalesce({text}, '') AS o{n}" for n, text in enumerate(filter(None, [identical(name, key) for name, key in columns] + ["''"])))
        self.settings = f"{INDEX_ROWS if rng.random() < 0.7 else HEAP_ROWS}; SET enable_sort = {rng.choice(('on', 'off', 'off', 'off'))}"
        self.settings += "; SET work_mem = '64kB'" if rng.random() < 0.3 else ""
        if rng.random() < 0.5:
            query = f"SELECT DISTINCT ON ({keys}) {shown} FROM t WHERE {self.literals()} ORDER BY {', '.join(terms)}{rng.choice(('', '', ' LIMIT 5'))}"
            expected = self.rows_of(SEQUENTIAL, query)
            self.count_plan(query)
            self.check(query, list(enumerate(expected)), list(enumerate(self.session.query(query))))
        else:
            number = f"row_number() OVER (PARTITION BY {keys}{f' ORDER BY {more}' if more else ''})"
            query = f"SELECT * FROM (SELECT {shown}, {number} AS r FROM t WHERE {self.literals()}) s WHERE r {rng.choice(('= 1', '<= 3', '< 10', '<= 60'))}"
            self.compare(query)
        self.session.query("RESET enable_sort")
        self.counts["first rows of groups compared"] += 1
        self.counts["first rows of groups by the node"] += "First Rows:" in self.plan

    # ---- reading

    def any_quals(self):
        self.settings, selected = self.scan_of(0.5)
        self.settings += "; SET work_mem = '64kB'" if self.rng.random() < 0.3 else ""
        self.compare(f"SELECT {selected} FROM t WHERE {self.any_where()}")

    def joined(self):
        """Compare a join of some rows with rows that compare with them in some way: parameters of every type.

        Sequential scans are joined by nested loops, too, because names with some collations are not hashed as they
        are compared.
        """
        rng, key = self.rng, self.rng.choice(self.schema.keys)
        if self.schema.rows > 10000:
            return self.any_quals()
        first = rng.randint(0, self.schema.rows)
        self.settings, selected = rng.choice(((INDEX_ROWS, "count(*)"), (HEAP_ROWS, "a.id, b.ctid, b.tableoid")))
        if selected == "count(*)":
            selected = f"a.id, (SELECT count(*) FROM t b WHERE {self.of_table(key, 'b')} {rng.choice(key.operators)} {self.of_table(key, 'a')})"
            query = f"SELECT {selected} FROM t a WHERE a.id BETWEEN {first} AND {first + 5}"
        else:
            kind = rng.choice(("JOIN", "LEFT JOIN"))
            query = (f"SELECT {selected} FROM (SELECT * FROM t WHERE id BETWEEN {first} AND {first + 5}) a {kind} t b ON "
                     f"{self.of_table(key, 'b')} {rng.choice(key.operators)} {self.of_table(key, 'a')} AND b.u % {rng.randint(1, 3)} = 0")
        self.settings += f"; {LOOPS_ONLY}"
        self.compare(query, after="RESET enable_hashjoin; RESET enable_mergejoin; RESET enable_material", sequential=f"{SEQUENTIAL}; {LOOPS_ONLY}")

    def ordered_again(self):
        """Compare the first rows of an order, repeated for several parameters. Any of several equal rows may be
        returned.
        """
        if not self.ordered_keys:
            return self.any_quals()
        rng, (key, order) = self.rng, self.an_order()
        self.settings = HEAP_ROWS if rng.random() < 0.5 else INDEX_ROWS
        selected = "" if self.settings == INDEX_ROWS else ", tableoid > 0 AS there"
        parameter = self.generator.written(key, key.column.type) % 0
        where = f"{self.any_where()} AND {key.expression} {rng.choice(key.operators)} {parameter.replace('{0}', 'k.p')}"
        slot = self.generator.constants.slot(key, key.column.type)
        rows = ", ".join(f"({n}, {slot.draw()}::{slot.sql_type})" for n in range(rng.randint(2, 5)))
        query = (f"SELECT k.n, coalesce(s.o::text, '') FROM (VALUES {rows}) k (n, p), "
                 f"LATERAL (SELECT {alike(key.expression, key)} AS o{selected} FROM t WHERE {where} ORDER BY {order} LIMIT {rng.choice((1, 3, 50))}) s")
        self.settings += "; SET enable_sort = off"
        self.compare(query)
        self.session.query("RESET enable_sort")
        self.counts["orders by the node"] += "Order:" in self.plan

    def windowed(self):
        """Compare windows whose results do not depend on the order of equal rows."""
        if not self.ordered_keys:
            return self.any_quals()
        rng, (key, order) = self.rng, self.an_order()
        self.settings, part = rng.choice((HEAP_ROWS, INDEX_ROWS)), rng.choice(("", " LIMIT 20"))
        shown = f"coalesce({alike(key.expression, key)}, '') AS o"
        heap = ", max(u) OVER w" if self.settings == HEAP_ROWS and not part else ""
        ties = rng.choice((f"SELECT DISTINCT ON ({key.expression}) {shown} FROM t WHERE {self.any_where()} ORDER BY {order}{part}",
                           f"SELECT {shown} FROM t WHERE {self.any_where()} ORDER BY {order} FETCH FIRST 5 ROWS WITH TIES",
                           f"SELECT {shown}, rank() OVER w{heap} FROM t WHERE {self.any_where()} WINDOW w AS (ORDER BY {order}) "
                           f"ORDER BY {order}{part}"))
        self.settings += "; SET enable_sort = off"
        self.compare(ties)
        self.session.query("RESET enable_sort")
        self.counts["orders by the node"] += "Order:" in self.plan

    # ---- in transactions of their own, which are rolled back

    def ordered_cursor(self):
        """Compare a cursor in an order that moves back and forth while its own transaction changes the table."""
        if not self.ordered_keys:
            return self.held_cursor()
        rng, (key, order) = self.rng, self.an_order()
        heap = rng.random() < 0.5
        self.settings = f"{HEAP_ROWS if heap else INDEX_ROWS}; SET enable_sort = off"
        query = f"SELECT {alike(key.expression, key)} AS o{', tableoid > 0 AS there' if heap else ''} FROM t WHERE {self.any_where()} ORDER BY {order}"
        self.count_plan(query)
        expected = self.rows_of(SEQUENTIAL, query)
        scroll = rng.random() < 0.5
        self.session.query(f"BEGIN; {self.settings}; DECLARE held {'SCROLL' if scroll else 'NO SCROLL'} CURSOR FOR {query}")
        rows = self.session.query(f"FETCH {rng.choice((0, 1, 7, 40))} FROM held")
        self.session.query("SAVEPOINT s; DELETE FROM t WHERE id % 3 = 0; UPDATE t SET u = u + 1 WHERE id % 7 = 1")
        rows += self.session.query("FETCH 20 FROM held")
        self.session.query(rng.choice(("ROLLBACK TO s", "RELEASE s")))
        rows += self.session.query("FETCH ALL FROM held")
        if scroll:
            self.check(query, list(enumerate(expected)), list(enumerate(reversed(self.session.query("FETCH BACKWARD ALL FROM held")))))
        self.session.query("ROLLBACK; RESET enable_sort")
        self.check(query, list(enumerate(expected)), list(enumerate(rows)))
        self.counts["orders by the node"] += "Order:" in self.plan

    def locked(self):
        """Lock rows, also in an order."""
        rng = self.rng
        self.settings, selected = HEAP_ROWS, rng.choice(("ctid, tableoid", "id, u"))
        order = f" ORDER BY {self.an_order()[1]}" if self.ordered_keys and rng.random() < 0.5 else ""
        query = f"SELECT {selected} FROM t WHERE {self.any_where()}{order}"
        expected = self.rows_of(SEQUENTIAL, query)
        query += f" FOR {rng.choice(LOCKS)}"
        self.session.query("BEGIN; UPDATE t SET u = u WHERE false")
        self.count_plan(query)
        rows = self.session.query(query)
        self.session.query("ROLLBACK")
        self.check(query, expected, rows)

    def changed(self):
        """Change rows: alone, by joins, and by values from the index."""
        rng, where = self.rng, self.any_where()
        low = rng.randint(0, self.schema.rows)
        some = f"generate_series({low}, {low + 30}) g"
        statement = rng.choice((
            f"UPDATE t SET u = u + 1 WHERE {where} RETURNING id, u",
            f"DELETE FROM t WHERE {where} RETURNING id, u",
            f"UPDATE t SET u = g FROM {some} WHERE t.id = g AND {where} RETURNING id, u",
            f"DELETE FROM t USING {some} WHERE t.id = g AND {where} RETURNING id, u, g",
            f"WITH gone AS (DELETE FROM t WHERE {where} RETURNING id) SELECT count(*), sum(id) FROM gone",
            f"UPDATE t SET u = -1 WHERE ctid IN (SELECT ctid FROM t WHERE {where}) RETURNING id",
            f"UPDATE t SET {self.schema.columns[0].name} = NULL WHERE {where} RETURNING id"))
        if "ctid IN" in statement and self.schema.kind == "PARTITIONED":
            return self.locked()
        self.settings = HEAP_ROWS
        self.count_plan(statement)
        before = "BEGIN; UPDATE t SET u = u + 3 WHERE id % 5 = 0; "
        expected = self.rows_of(SEQUENTIAL, before + statement, "ROLLBACK")
        self.check(before + statement, expected, self.rows_of(self.settings, before + statement, "ROLLBACK"))
        if rng.random() < 0.3:
            self.merged(where, some)

    def merged(self, where, some):
        merge = (f"MERGE INTO t USING {some} ON t.id = g AND ({where}) WHEN MATCHED AND u % 2 = 0 THEN DELETE "
                 f"WHEN MATCHED THEN UPDATE SET u = -g WHEN NOT MATCHED THEN DO NOTHING")
        left = "SELECT count(*), sum(id), sum(u) FROM t"
        answers = []
        for settings in (SEQUENTIAL, self.settings):
            self.session.query(f"{settings}; BEGIN; {merge}")
            answers.append(self.rows_of(SEQUENTIAL, left))
            self.session.query("ROLLBACK")
        self.count_plan(merge)
        self.check(merge, *answers)

    def changed_at_cursor(self):
        """Change the row fetched last: WHERE CURRENT OF."""
        rng = self.rng
        self.settings, selected = self.scan_of(0.5)
        order = ""
        if self.ordered_keys and self.schema.kind != "PARTITIONED" and rng.random() < 0.4:
            order, self.settings = f" ORDER BY {self.an_order()[1]}", f"{self.settings}; SET enable_sort = off; SET enable_incremental_sort = off"
        query = f"SELECT {selected} FROM t WHERE {self.any_where()}{order}"
        self.count_plan(query)
        if order and "Order:" not in self.plan or "Gather" in self.plan:
            self.session.query("RESET enable_sort; RESET enable_incremental_sort")
            return
        self.session.query(f"BEGIN; {self.settings}; DECLARE held NO SCROLL CURSOR FOR {query}")
        for _ in range(3):
            asked = rng.choice((1, 1, 5))
            found = self.session.query(f"FETCH {asked} FROM held")
            if len(found) < asked:          # the cursor is after the last row
                break
            self.session.query("SAVEPOINT s")
            self.check(f"{query}; ... CURRENT OF", found[-1:],
                       self.session.query(f"DELETE FROM t WHERE CURRENT OF held RETURNING {selected}"))
            self.session.query(rng.choice(("ROLLBACK TO s", "RELEASE s")))
            self.counts["rows changed at a cursor"] += 1
        self.session.query("ROLLBACK; RESET enable_sort; RESET enable_incremental_sort")
