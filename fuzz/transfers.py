"""A round with an invariant: all counts, and the sum of all amounts, stay the same in every snapshot.

Each transaction of the writers leaves as many rows, and as many rows with a = 1, as it found.
"""
import random
import time

from crowd import PAUSES, TOLERATED, Threads
from plans import AGGREGATE, INDEX_ROWS
from session import Finding

ROWS = 3000
MEMORY = ("64kB", "64kB", "4MB")
COUNTS = (  # {n} is the number of rows, {ones} that of rows with a = 1, {total} the sum of amounts
    ("SELECT count(*), count(a), count(*) FILTER (WHERE a = 1) FROM t", "[({n}, {n}, {ones})]"),
    ("SELECT count(*) FROM t WHERE a = 1", "[({ones},)]"),
    ("SELECT count(*), count(*) FILTER (WHERE NOT a <> 1) FROM t WHERE a < 1 OR a >= 1 AND a IS NOT NULL", "[({n}, {ones})]"),
    ("SELECT count(*) FROM t WHERE a IN (0, 1, 2) AND a <> 1", "[({n} - {ones},)]"),
    ("SELECT count(*) - (SELECT count(*) FROM t WHERE a <> 1) FROM t", "[({ones},)]"),
    ("SELECT count(*) FROM t WHERE b IS NULL OR b < 50 OR b >= 50 AND a = a", "[({n},)]"),
    ("SELECT sum(amount), count(amount), sum(a) FROM t", "[({total}, {n}, {n})]"),
    ("SELECT sum(amount * 2 - 1), round(avg(amount) * {n}) FROM t WHERE a < 100", "[(2 * {total} - {n}, {total})]"),
    ("SELECT a, count(*), sum(a * 10) FROM t GROUP BY a ORDER BY a", "[(a, {ones}, 10 * a * {ones}) for a in range(3)]"),
    ("SELECT a % 2, count(*) FILTER (WHERE id * 0 = 0) FROM t GROUP BY a % 2 ORDER BY 1", "[(0, 2 * {ones}), (1, {ones})]"),
    ("SELECT sum(n), sum(s) FROM (SELECT b, count(*) AS n, sum(amount) AS s FROM t GROUP BY b) q", "[({n}, {total})]"),
    ("SELECT sum(n), sum(s), max(n) FROM (SELECT id, count(*) AS n, sum(amount) AS s FROM t GROUP BY id) q", "[({n}, {total}, 1)]"),
    ("SELECT min(id) >= 0, max(a), sum(id * 0) FROM t WHERE amount > -1000000", "[(True, 2, 0)]"))
TRANSFERS = (("replace", 8), ("replace_many", 3), ("swap", 6), ("touch", 3), ("move", 3), ("savepoint", 3), ("in_vain", 4),
             ("copy_in_vain", 2), ("conflict", 3), ("pay", 6), ("share", 3))


class Writer:
    def __init__(self, session, rng, first_id):
        self.session, self.rng, self.next_id = session, rng, first_id

    def ids(self, count):
        self.next_id += count
        return self.next_id - count

    def run(self, *statements):
        """Run all statements of a transaction. Returns False if it failed."""
        return all(self.session.run(statement, TOLERATED) for statement in statements)

    def finish(self):
        self.run(self.rng.choice(("COMMIT", "COMMIT", "COMMIT", "ROLLBACK")))

    def step(self):
        names, weights = zip(*TRANSFERS)
        getattr(self, self.rng.choices(names, weights)[0])()

    def some(self, count, a):
        """Return some rows with this a that no other session has locked."""
        return (f"SELECT id FROM t WHERE id >= (SELECT {self.rng.random()} * max(id) FROM t) AND a = {a} ORDER BY id LIMIT {count} "
                "FOR UPDATE SKIP LOCKED")

    def replacing(self, count, a):
        """Delete rows, and insert as many with the same a."""
        return (f"WITH gone AS (DELETE FROM t WHERE id IN ({self.some(count, a)}) RETURNING a, amount) "
                f"INSERT INTO t SELECT {self.ids(count)} + row_number() OVER (), a, {self.rng.randrange(100)}, amount FROM gone")

    def replace(self):
        self.run(self.replacing(1, self.rng.choice((0, 1, 2))))

    def replace_many(self):
        if self.run("BEGIN", *[self.replacing(self.rng.choice((1, 20, 300)), a) for a in self.rng.sample((0, 1, 2), 2)]):
            self.finish()

    def swap(self):
        """Exchange a row with a = 1 for one with a = 2."""
        self.run(f"WITH one AS ({self.some(1, 1)}), two AS ({self.some(1, 2)}), pair AS (SELECT one.id AS one, two.id AS two FROM one, two) "
                 "UPDATE t SET a = 3 - a FROM pair WHERE id IN (one, two)")

    def pay(self):
        """Transfer an amount from one row to another."""
        amount = self.rng.choice((1, "0.01", "99.99", -5))
        self.run(f"WITH one AS ({self.some(1, 0)}), two AS ({self.some(1, self.rng.choice((1, 2)))}), "
                 "pair AS (SELECT one.id AS one, two.id AS two FROM one, two) "
                 f"UPDATE t SET amount = amount + CASE id WHEN one THEN - {amount} ELSE {amount} END FROM pair WHERE id IN (one, two)")

    def share(self):
        """Set some rows to the same amount, or leave them unchanged."""
        if self.run("BEGIN", f"UPDATE t SET amount = amount + 1 WHERE id IN ({self.some(40, 2)}) AND id % 2 = 0", "ROLLBACK", "BEGIN",
                    f"WITH gone AS (DELETE FROM t WHERE id IN ({self.some(10, 1)}) RETURNING *) "
                    f"INSERT INTO t SELECT {self.ids(20)} + row_number() OVER (), a, b, "
                    "CASE row_number() OVER () WHEN 1 THEN sum(amount) OVER () ELSE 0 END FROM gone"):
            self.finish()

    def touch(self):
        """Update a row; the update is HOT if there is space."""
        self.run(f"UPDATE t SET filler = 'x' WHERE id IN ({self.some(self.rng.choice((1, 50)), 1)})")

    def move(self):
        self.run(f"UPDATE t SET b = nullif((b + 7) % 100, 0) WHERE id IN ({self.some(self.rng.choice((1, 50)), self.rng.choice((0, 1, 2)))})")

    def savepoint(self):
        if self.run("BEGIN", "SAVEPOINT s", f"DELETE FROM t WHERE id IN ({self.some(5, 1)})",
                    f"INSERT INTO t SELECT {self.ids(100)} + i, 1 FROM generate_series(1, 100) i", "ROLLBACK TO s", self.replacing(3, 1)):
            self.finish()

    def in_vain(self):
        count = self.rng.choice((1, 30, 1000))
        if self.run("BEGIN", f"INSERT INTO t SELECT {self.ids(count)} + i, i % 3, i % 100 FROM generate_series(1, {count}) i"):
            self.run(self.rng.choice(("ROLLBACK", f"DELETE FROM t WHERE id IN ({self.some(20, 1)}); ROLLBACK")))

    def copy_in_vain(self):
        first = self.ids(500)
        self.session.copy_in("t", "id, a, b", f"SELECT CASE WHEN i < 500 THEN {first} + i END, 1, 5 FROM generate_series(1, 500) i",
                             TOLERATED | {"23502"})

    def conflict(self):
        """Insert rows that exist, and rows that others insert at the same time, some of them only to roll back."""
        self.run(f"WITH ids AS ({self.some(5, 1)}) INSERT INTO t SELECT id, 1, 3 FROM ids ON CONFLICT (id) DO UPDATE SET b = t.b + 1")
        if self.run("BEGIN", "INSERT INTO t SELECT -i, 1, i FROM generate_series(1, 20) i ON CONFLICT (id) DO NOTHING"):
            self.run("ROLLBACK")


class Transfers(Threads):
    def __init__(self, rng, connect, log, session, access_method, counts):
        super().__init__(rng, connect, log, counts)
        fillfactor = rng.choice((50, 90, 100))
        kind = rng.choice(("numeric", "numeric(12, 2)"))
        session.run(f"CREATE TABLE t (id int PRIMARY KEY, a int, b int, amount {kind}, filler text) WITH (autovacuum_enabled = off, fillfactor = {fillfactor})")
        session.run(f"INSERT INTO t SELECT i, i % 3, i % 100, i % 7 FROM generate_series(1, {ROWS}) i")
        session.run(f"CREATE INDEX t_idx ON t USING {access_method} (a, b) INCLUDE (amount, id)")
        if rng.random() < 0.7:
            session.run("VACUUM t")
        self.expected = {"n": ROWS, "ones": ROWS // 3, "total": sum(i % 7 for i in range(1, ROWS + 1))}

    def write(self, number, session, rng):
        writer = Writer(session, rng, number * 10_000_000)
        session.run("SET rtscan.pending_list_limit = '64kB'; SET enable_seqscan = on")
        while self.busy():
            writer.step()
            time.sleep(rng.choice((0, 0, rng.random() / 50)))

    def count(self, session, rng):
        self.repeat(lambda: self.count_in_one_transaction(session, rng), session)

    def count_in_one_transaction(self, session, rng):
        level = rng.choice(("READ COMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"))
        session.query(f"SET rtscan.debug_pause = '{rng.choice(PAUSES)}'; SET work_mem = '{rng.choice(MEMORY)}'; SET hash_mem_multiplier = 1; "
                      f"BEGIN ISOLATION LEVEL {level}")
        for _ in range(rng.randint(1, 5)):
            query, answer = rng.choice(COUNTS)
            settings = rng.choice((AGGREGATE, AGGREGATE, INDEX_ROWS))
            session.query(settings)
            if rng.random() < 0.05:
                plan = str(session.query(f"EXPLAIN {query.format(**self.expected)}"))
                by = "the node" if "RtscanAggregate" in plan else "rows of the index" if "RtscanScan" in plan else "others"
                self.counts[f"invariants by {by}"] += 1
            query = query.format(**self.expected)
            found, expected = session.query(query), eval(answer.format(**self.expected))
            self.counts["invariants checked"] += 1
            if found != expected:
                snapshot = session.query("SELECT pg_current_snapshot()")[0][0]
                again = session.query(query)
                session.query("SET rtscan.enable_aggregate = off; SET rtscan.enable_scan = off; SET enable_seqscan = on")
                raise Finding(f"{settings}; {level}, snapshot {snapshot}: {query}\n{found} instead of {expected}; again {again}, "
                              f"in the heap {session.query(query)}")
            time.sleep(rng.choice((0, 0, 0.01)))
        session.query("COMMIT")

    def run(self):
        threads = [self.spawn(f"writer {n}", lambda s, r, n=n: self.write(n, s, r)) for n in range(1, self.rng.randint(3, 5))]
        threads += [self.spawn("vacuum", self.maintain), self.spawn("holder", self.hold)]
        threads += [self.spawn(f"counter {n}", self.count) for n in range(3)]
        self.join(threads)


def run(rng, connect, log, session, access_method, counts):
    Transfers(rng, connect, log, session, access_method, counts).run()
