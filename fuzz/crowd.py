"""A round with several sessions: writers and a vacuum run while readers compare, each in one REPEATABLE READ
transaction, what the index and what a sequential scan finds."""
import random
import threading
import time

import psycopg2

from queries import BITMAP, SEQUENTIAL, Comparer, render
from session import CONFLICTS, TOO_LONG, Finding
from workload import Workload

TOLERATED = CONFLICTS | TOO_LONG
WRITES = (("insert", 6), ("copy", 2), ("update_unindexed", 2), ("update_key", 4), ("delete", 4), ("aborted", 3),
          ("savepoints", 3), ("on_conflict", 4))
MAINTENANCE = (("VACUUM t", 10), ("VACUUM (INDEX_CLEANUP ON) t", 5), ("VACUUM (FREEZE) t", 2), ("ANALYZE t", 1),
               ("REINDEX INDEX CONCURRENTLY t_idx", 1), ("REINDEX INDEX t_idx", 1))

class Writer(Workload):
    """The same steps as in a single session; conflicts with the others are part of the game."""

    def run(self, sql):
        return self.session.run(sql, TOLERATED)

    def copy(self):
        self.session.copy_in("t", self.schema.column_list(), self.new_rows(), TOLERATED)

    def step(self):
        names, weights = zip(*WRITES)
        getattr(self, self.rng.choices(names, weights)[0])()


class Crowd:
    def __init__(self, rng, connect, log, session, schema, counts):
        self.rng, self.connect, self.log, self.schema, self.counts = rng, connect, log, schema, counts
        self.comparer = Comparer(rng, session, schema, counts)
        self.stop = time.monotonic() + rng.uniform(1, 3)
        self.findings = []
        self.limit = next((text for _, text in log if text.startswith("SET rtscan.pending_list_limit")), "")

    def spawn(self, label, work):
        """A thread with its own session and its own randomness."""
        def body(seed):
            try:
                session = self.connect(label, self.log)
                try:
                    work(session, random.Random(seed))
                finally:
                    session.close()
            except Exception as e:          # whatever ends a session early
                self.findings.append(f"{label}: {e}")
                self.stop = 0
        thread = threading.Thread(target=body, args=(self.rng.random(),))
        thread.start()
        return thread

    def busy(self):
        return time.monotonic() < self.stop

    def write(self, number, session, rng):
        writer = Writer(rng, session, self.schema, lambda: time.sleep(rng.random() / 50))
        writer.next_id += number * 100_000
        if self.limit:
            session.run(self.limit)
        while self.busy():
            writer.step()

    def maintain(self, session, rng):
        statements, weights = zip(*MAINTENANCE)
        while self.busy():
            session.run(rng.choices(statements, weights)[0], TOLERATED)
            time.sleep(rng.random() / 10)

    def read(self, session, rng):
        while self.busy():
            try:
                self.compare_in_one_snapshot(session, rng)
            except psycopg2.Error as e:
                if e.pgcode not in CONFLICTS:
                    raise Finding(f"{session.last}\n{e.pgcode}: {e}") from e
                session.query("ROLLBACK")

    def compare_in_one_snapshot(self, session, rng):
        session.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM t LIMIT 1")
        for _ in range(rng.randint(1, 4)):
            where = render(self.comparer.generator.conjunction(), lambda slot: slot.draw())
            query = f"SELECT tableoid, ctid FROM t WHERE {where}"
            answers = {}
            for settings in rng.sample((BITMAP, SEQUENTIAL), 2):
                session.query(settings)
                answers[settings] = set(session.query(query))
                time.sleep(rng.choice((0, 0, 0.02)))
            self.judge(session, query, answers[SEQUENTIAL], answers[BITMAP])
        session.query("COMMIT")

    def judge(self, session, query, expected, found):
        self.counts["answers compared while others write"] += 1
        if found == expected:
            return
        snapshot = session.query("SELECT pg_current_snapshot()")[0][0]
        details = [session.query(f"SELECT ctid, xmin, xmax, t::text FROM t WHERE ctid = '{ctid}' AND tableoid = {table}")
                   for table, ctid in sorted(found ^ expected)[:5]]
        raise Finding(f"in snapshot {snapshot}: {query}\nmissing {sorted(expected - found)[:10]}, "
                      f"too many {sorted(found - expected)[:10]}\nthese rows: {details}")

    def run(self):
        threads = [self.spawn(f"writer {n}", lambda s, r, n=n: self.write(n, s, r)) for n in range(self.rng.randint(2, 4))]
        threads += [self.spawn("vacuum", self.maintain)]
        threads += [self.spawn(f"reader {n}", self.read) for n in range(2)]
        for thread in threads:
            thread.join()
        if self.findings:
            raise Finding("\n".join(self.findings))
        for _ in range(10):
            self.comparer.one_query()


def run(rng, connect, log, session, schema, counts):
    Crowd(rng, connect, log, session, schema, counts).run()
