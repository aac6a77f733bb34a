"""A round with several sessions: readers compare index scans with sequential scans while others write.

Some readers run both scans in one REPEATABLE READ transaction, others in one statement at READ COMMITTED, and one on a
standby, if there is one.
"""
import random
import threading
import time
from collections import Counter

import psycopg2

from plans import AGGREGATE, BITMAP, HEAP_ROWS, INDEX_ROWS, SEQUENTIAL, SEQUENTIAL_JOINS
from queries import Comparer, render
from session import CONFLICTS, TOO_LONG, Finding
from workload import Workload

TOLERATED = CONFLICTS | TOO_LONG
WRITES = (("insert", 6), ("copy", 2), ("update_unindexed", 2), ("update_key", 4), ("delete", 4), ("aborted", 3),
          ("savepoints", 3), ("lock", 3), ("prepared_transaction", 1), ("on_conflict", 4), ("change_dimension", 6))
PAUSES = ("", "", "snapshot", "list", "map", "map", "image")
MAINTENANCE = (("VACUUM t", 10), ("VACUUM (INDEX_CLEANUP ON) t", 5), ("VACUUM (FREEZE) t", 2), ("ANALYZE t", 1),
               ("REINDEX INDEX CONCURRENTLY t_idx", 1), ("REINDEX INDEX t_idx", 1))

class Writer(Workload):
    """Writes with the same steps as in a single session; conflicts with other sessions are expected."""

    def run(self, sql):
        return self.session.run(sql, TOLERATED)

    def copy(self):
        self.session.copy_in("t", self.schema.column_list(), self.new_rows(), TOLERATED)

    def step(self):
        names, weights = zip(*WRITES)
        getattr(self, self.rng.choices(names, weights)[0])()



class Threads:
    """Sessions that run concurrently, for a while or until one of them finds something."""

    def __init__(self, rng, connect, log, counts):
        self.rng, self.connect, self.log, self.counts = rng, connect, log, counts
        self.stop = time.monotonic() + rng.uniform(1, 3)
        self.findings = []
        self.limit = next((text for _, text in log if text.startswith("SET rtscan.pending_list_limit")), "")

    def spawn(self, label, work):
        """Start a thread with its own session and its own random numbers."""
        def body(seed):
            try:
                session = self.connect(label, self.log)
                try:
                    work(session, random.Random(seed))
                finally:
                    session.close()
            except Exception as e:          # anything that ends a session early
                self.findings.append(f"{label}: {e}")
                self.stop = 0
        thread = threading.Thread(target=body, args=(self.rng.random(),))
        thread.start()
        return thread

    def busy(self):
        return time.monotonic() < self.stop

    def join(self, threads):
        for thread in threads:
            thread.join()
        if self.findings:
            raise Finding("\n".join(self.findings))

    def repeat(self, step, session):
        """Repeat a step, a transaction each time. Other sessions may make it fail."""
        while self.busy():
            try:
                step()
            except psycopg2.Error as e:
                if e.pgcode not in CONFLICTS:
                    raise Finding(f"{session.last}\n{e.pgcode}: {e}") from e
                session.query("ROLLBACK")

    def hold(self, session, rng):
        """From time to time hold the lock that counts wait for after the step that rtscan.debug_pause names."""
        while self.busy():
            try:
                session.query("SELECT pg_advisory_lock(1920234339)")
                time.sleep(rng.random() / 10)
            except psycopg2.Error as e:
                if e.pgcode not in CONFLICTS:
                    raise
            session.query("SELECT pg_advisory_unlock_all()")
            time.sleep(rng.random() / 50)

    def maintain(self, session, rng):
        statements, weights = zip(*MAINTENANCE)
        while self.busy():
            session.run(rng.choices(statements, weights)[0], TOLERATED)
            time.sleep(rng.random() / 10)


class Crowd(Threads):
    def __init__(self, rng, connect, log, session, schema, counts, standby):
        """standby() connects to a standby; None: there is none that has the table."""
        super().__init__(rng, connect, log, counts)
        self.standby = standby
        self.schema, self.comparer = schema, Comparer(rng, session, schema, counts)

    def write(self, number, session, rng):
        writer = Writer(rng, session, self.schema, lambda: time.sleep(rng.random() / 50))
        writer.next_id += number * 100_000
        if writer.two_phase:
            writer.two_phase += f" {number}"
        if self.limit:
            session.run(self.limit)
        while self.busy():
            writer.step()

    def read(self, session, rng):
        self.repeat(lambda: self.compare_in_one_snapshot(session, rng), session)

    def read_committed(self, session, rng, label="READ COMMITTED"):
        self.repeat(lambda: self.compare_in_one_statement(session, rng, label), session)

    def read_standby(self, _, rng):
        """Compare on the standby, as soon as it has the table."""
        session = self.standby()
        try:
            self.read_committed(session, rng, "a standby")
        finally:
            session.close()

    def compare_in_one_statement(self, session, rng, label):
        """Compare two answers in one statement, and so in one snapshot."""
        scan, selected, keys = AGGREGATE, None, None
        if rng.random() < 0.3:
            scan, selected, keys = self.comparer.choose_scan(rng)
            where = render(self.comparer.generator.conjunction(keys), lambda slot: slot.draw())
            query = f"SELECT {selected} FROM t WHERE {where}"
        else:
            query = render([self.comparer.generator.counts()], lambda slot: slot.draw())
        session.query("SET rtscan.debug_pause = ''")
        answers = ", ".join(f"fz_answer($s${settings}$s$, $q${query}$q$)" for settings in rng.sample((scan, SEQUENTIAL), 2))
        (first, second), = session.query(f"SELECT {answers}")
        self.counts[f"compared in one statement, {label}"] += 1
        if first != second:
            raise Finding(f"{scan}; {query}\nthe answers, in one statement, {label}:\n{first}\n{second}")

    def compare_in_one_snapshot(self, session, rng):
        session.query(f"SET rtscan.debug_pause = '{rng.choice(PAUSES)}'")
        session.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM t LIMIT 1")
        for _ in range(rng.randint(1, 4)):
            if self.schema.dimensions and (self.schema.only_joins or rng.random() < 0.4):
                self.compare_joins(session, rng)
                continue
            roll = rng.random()
            if roll < 0.5:
                (self.compare_counts if roll < 0.25 else self.compare_sums)(session, rng)
                continue
            scan, selected, keys = self.comparer.choose_scan(rng)
            where = render(self.comparer.generator.conjunction(keys), lambda slot: slot.draw())
            query = f"SELECT {selected} FROM t WHERE {where}"
            answers = {}
            for settings in rng.sample((scan, SEQUENTIAL), 2):
                session.query(settings)
                answers[settings] = self.fetch(session, rng, query)
                time.sleep(rng.choice((0, 0, 0.02)))
            self.judge(session, query, answers[SEQUENTIAL], answers[scan], scan)
        session.query("COMMIT")

    def compare_counts(self, session, rng):
        query, answers = render([self.comparer.generator.counts()], lambda slot: slot.draw()), {}
        for settings in rng.sample((AGGREGATE, SEQUENTIAL), 2):
            session.query(settings)
            if settings == AGGREGATE:
                by_node = "RtscanAggregate" in str(session.query(f"EXPLAIN {query}"))
            answers[settings] = session.query(query)
            time.sleep(rng.choice((0, 0, 0.02)))
        self.counts[f"counts {'' if by_node else 'not '}by the node"] += 1
        self.counts["counts compared while others write"] += 1
        if answers[AGGREGATE] != answers[SEQUENTIAL]:
            snapshot = session.query("SELECT pg_current_snapshot()")[0][0]
            raise Finding(f"in snapshot {snapshot}: {query}\n{answers[AGGREGATE]} instead of {answers[SEQUENTIAL]}")

    def compare_joins(self, session, rng):
        comparer, answers = Comparer.of(session, rng, self.comparer), {}
        query, scan = comparer.joins().query()
        for settings in rng.sample((scan, SEQUENTIAL_JOINS), 2):
            session.query(f"SET enable_nestloop = on; {settings}")
            if settings == scan:
                plan = "\n".join(line for line, in session.query(f"EXPLAIN (COSTS OFF) {query}"))
            answers[settings] = Counter(self.fetch(session, rng, query))
        session.query("SET enable_nestloop = on")
        comparer.count_joins(plan)
        self.counts["joins compared while others write"] += 1
        if answers[scan] != answers[SEQUENTIAL_JOINS]:
            snapshot = session.query("SELECT pg_current_snapshot()")[0][0]
            missing, extra = answers[SEQUENTIAL_JOINS] - answers[scan], answers[scan] - answers[SEQUENTIAL_JOINS]
            raise Finding(f"in snapshot {snapshot}: {scan};\n{query};\nmissing {list(missing.elements())[:10]}, "
                          f"too many {list(extra.elements())[:10]}\n{plan}")

    @staticmethod
    def fetch(session, rng, query):
        """Return the sorted rows of a query, sometimes through a cursor that stays open for a while."""
        if rng.random() < 0.6:
            return sorted(session.query(query))
        session.query(f"DECLARE held CURSOR FOR {query}")
        rows = session.query(f"FETCH {rng.choice((1, 100, 1500))} FROM held")
        time.sleep(rng.random() / 10)
        rows += session.query("FETCH ALL FROM held")
        session.query("CLOSE held")
        return sorted(rows)

    def compare_sums(self, session, rng):
        comparer = Comparer.of(session, rng, self.comparer)
        comparer.settings = f"{AGGREGATE}; SET work_mem = '{rng.choice(('64kB', '4MB'))}'; SET hash_mem_multiplier = 1"
        comparer.compare_sums(*comparer.sums())
        self.counts["sums compared while others write"] += 1

    def judge(self, session, query, expected, found, scan):
        kind = {HEAP_ROWS: "rows of the heap", INDEX_ROWS: "columns of the index", BITMAP: "bitmap scans"}[scan]
        self.counts[f"{kind} compared while others write"] += 1
        if found == expected:
            return
        snapshot = session.query("SELECT pg_current_snapshot()")[0][0]
        if scan == INDEX_ROWS:
            raise Finding(f"in snapshot {snapshot}: {scan}; {query}\nmissing {sorted((Counter(expected) - Counter(found)).elements())[:10]}, "
                          f"too many {sorted((Counter(found) - Counter(expected)).elements())[:10]}")
        expected, found = set(expected), set(found)
        details = [session.query(f"SELECT ctid, xmin, xmax, t::text FROM t WHERE ctid = '{ctid}' AND tableoid = {table}")
                   for table, ctid in sorted(found ^ expected)[:5]]
        raise Finding(f"in snapshot {snapshot}: {scan}; {query}\nmissing {sorted(expected - found)[:10]}, "
                      f"too many {sorted(found - expected)[:10]}\nthese rows: {details}")

    def run(self):
        threads = [self.spawn(f"writer {n}", lambda s, r, n=n: self.write(n, s, r)) for n in range(self.rng.randint(2, 4))]
        threads += [self.spawn("vacuum", self.maintain), self.spawn("holder", self.hold)]
        threads += [self.spawn("reader", self.read), self.spawn("reader of one statement", self.read_committed)]
        if self.standby:
            threads.append(self.spawn("reader of the standby", self.read_standby))
        self.join(threads)
        for _ in range(10):
            self.comparer.one_query()


def run(rng, connect, log, session, schema, counts, standby=None):
    Crowd(rng, connect, log, session, schema, counts, standby).run()
