"""Random changes of the table, one statement or transaction at a time."""
from session import TOO_LONG

LOCKS = ("UPDATE", "NO KEY UPDATE", "SHARE", "KEY SHARE")

STEPS = (("insert", 6), ("copy", 2), ("update_unindexed", 3), ("update_key", 4), ("delete", 4), ("vacuum", 5),
         ("aborted", 3), ("savepoints", 3), ("on_conflict", 3), ("prepared_transaction", 1), ("reindex", 1),
         ("truncate", 0.3), ("rewrite", 0.5), ("drop_and_create", 0.5), ("change_options", 0.5), ("broken_copy", 1), ("change_dimension", 4))


class Workload:
    def __init__(self, rng, session, schema, query):
        """query() runs a query, in the middle of transactions."""
        self.rng, self.session, self.schema, self.query = rng, session, schema, query
        self.next_id = schema.rows + 1
        possible = int(session.query("SHOW max_prepared_transactions")[0][0]) > 0
        self.two_phase = session.query("SELECT current_schema")[0][0] if possible else ""

    def step(self):
        names, weights = zip(*STEPS)
        getattr(self, self.rng.choices(names, weights)[0])()

    def run(self, sql):
        return self.session.run(sql, TOO_LONG)

    def new_rows(self):
        """Return a SELECT of new rows, mostly few."""
        count = self.rng.choice((1, 1, 3, 20, 100, 500))
        first, self.next_id = self.next_id, self.next_id + count
        return self.schema.row_source(first, first + count - 1)

    def some(self):
        """Return a condition that some rows meet."""
        rng = self.rng
        low = rng.randint(0, self.next_id)
        return rng.choice((f"id % {rng.randint(2, 20)} = 0", f"id BETWEEN {low} AND {low + rng.choice((1, 50, 1000))}",
                           f"u = {rng.randrange(10)}", f"id > {low}"))

    def insert_text(self):
        return f"INSERT INTO t ({self.schema.column_list()}) {self.new_rows()}"

    def update_text(self):
        """Give some rows the key values of others."""
        columns = self.rng.sample(self.schema.columns, self.rng.randint(1, min(2, len(self.schema.columns))))
        values = ", ".join(f"{c.name} = {c.value(f'(id + {self.rng.randrange(1000)})')}" for c in columns)
        return f"UPDATE t SET {values} WHERE {self.some()}"

    def change_text(self):
        return self.rng.choice((self.insert_text, self.update_text, lambda: f"DELETE FROM t WHERE {self.some()}"))()

    def insert(self):
        self.run(self.insert_text())

    def copy(self):
        self.session.copy_in("t", self.schema.column_list(), self.new_rows(), TOO_LONG)

    def broken_copy(self):
        """A COPY that fails at its end, when its rows are already in the index."""
        source = f"SELECT * FROM ({self.new_rows()}) s UNION ALL SELECT 0, NULL{', NULL' * (len(self.schema.columns) + 1)}"
        self.session.run("ALTER TABLE t ADD CONSTRAINT no_zero CHECK (id <> 0) NOT VALID")
        self.session.copy_in("t", self.schema.column_list(), source, TOO_LONG | {"23514"})
        self.session.run("ALTER TABLE t DROP CONSTRAINT no_zero")

    def update_unindexed(self):
        self.run(f"UPDATE t SET u = u + 1 WHERE {self.some()}")

    def update_key(self):
        self.run(self.update_text())

    def delete(self):
        self.run(f"DELETE FROM t WHERE {self.some()}")

    def vacuum(self):
        options = self.rng.choice(("", "", "(FREEZE)", "(INDEX_CLEANUP ON)", "(INDEX_CLEANUP OFF)", "(ANALYZE)", "(FULL)"))
        self.run(f"VACUUM {options} t")

    def aborted(self):
        self.run("BEGIN")
        if all(self.run(self.change_text()) for _ in range(self.rng.randint(1, 3))):
            self.query()
            self.run("ROLLBACK")

    def savepoints(self):
        self.run("BEGIN")
        for _ in range(self.rng.randint(1, 3)):
            end = self.rng.choice(("ROLLBACK TO s", "RELEASE s"))
            if not all(map(self.run, ("SAVEPOINT s", self.change_text(), end))):
                return
        if self.run(self.change_text()):
            self.query()
            self.run(self.rng.choice(("COMMIT", "COMMIT", "ROLLBACK")))

    def lock(self):
        """Lock some rows, some of them in subtransactions; then change some or none."""
        self.run("BEGIN")
        for _ in range(self.rng.randint(1, 2)):
            lock = f"SELECT FROM t WHERE {self.some()} FOR {self.rng.choice(LOCKS)}"
            end = self.rng.choice(("ROLLBACK TO s", "RELEASE s"))
            if not all(map(self.run, (lock,) if self.rng.random() < 0.5 else ("SAVEPOINT s", lock, end))):
                return
        if self.rng.random() < 0.5 or self.run(self.change_text()):
            self.query()
            self.run(self.rng.choice(("COMMIT", "COMMIT", "ROLLBACK")))

    def on_conflict(self):
        if not self.schema.unique:
            return
        low = self.rng.randint(1, self.next_id)
        action = self.rng.choice(("DO NOTHING", "DO UPDATE SET u = t.u + 1",
                                  f"DO UPDATE SET {self.schema.columns[0].name} = EXCLUDED.{self.schema.columns[0].name}"))
        self.run(f"INSERT INTO t ({self.schema.column_list()}) {self.schema.row_source(low, low + 40)} ON CONFLICT (id) {action}")
        self.next_id = max(self.next_id, low + 41)

    def prepared_transaction(self):
        if not self.two_phase or self.schema.kind == "TEMP":
            return
        self.run("BEGIN")
        if self.run(self.change_text()) and self.run(f"PREPARE TRANSACTION '{self.two_phase}'"):
            self.query()
            self.run(f"{self.rng.choice(('COMMIT', 'ROLLBACK'))} PREPARED '{self.two_phase}'")

    def change_dimension(self):
        if self.schema.dimensions:
            self.run(self.rng.choice(self.schema.dimensions).change())

    def reindex(self):
        self.run(self.rng.choice(("REINDEX INDEX t_idx", "REINDEX INDEX CONCURRENTLY t_idx", "REINDEX TABLE t")))

    def truncate(self):
        self.run("TRUNCATE t")

    def rewrite(self):
        choices = ["ALTER TABLE t ALTER COLUMN u TYPE bigint", "ALTER TABLE t ALTER COLUMN u TYPE int"]
        if self.schema.kind in ("", "UNLOGGED"):
            choices += ["ALTER TABLE t SET UNLOGGED", "ALTER TABLE t SET LOGGED"]
        # a type modifier may be added or removed; the index's file may stay
        modified = [c.name for c in self.schema.columns if c.type.sql == "numeric(12,2)"]
        choices += [f"ALTER TABLE t ALTER COLUMN {name} TYPE {sql}" for name in modified for sql in ("numeric", "numeric(14,2)", "numeric(16,4)")]
        self.run(self.rng.choice(choices))

    def drop_and_create(self):
        self.run("DROP INDEX t_idx")
        concurrently = self.schema.kind != "PARTITIONED" and self.rng.random() < 0.5
        self.run(self.schema.create_index(concurrently=concurrently))

    def change_options(self):
        if self.schema.access_method == "rtscan" and self.schema.kind != "PARTITIONED":
            self.run(f"ALTER INDEX t_idx SET (sieve_bins = {self.rng.choice((2, 16, 64, 1024))})")
            self.run("REINDEX INDEX t_idx")
