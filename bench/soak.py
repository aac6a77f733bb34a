#!/usr/bin/python3
"""Check for a chosen time that the index of a table that changes all the time is right, and stays small and fast.

Clients insert, update and delete, autovacuum runs, and from time to time a process is killed or a server is stopped
immediately. Meanwhile a checker runs the same queries by the index and by a sequential scan in one snapshot. With
--standby another checker does so on a standby, which is promoted at the end. A wrong answer or a damaged index ends
the run. Writes results/NAME.md, .csv and .svg. See README.md.
"""
import csv
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import psycopg2

import report
from cluster import Server, cluster, parser
from run import note

KEYS = 1_000_000                                # ids of rows, which limit the table's size
PATIENCE = 180                                  # seconds that a restart may take
CHECKED = 100                                   # queries after all changes have ended
STANDBY_PORT = 5433
# so that replay conflicts with queries
STANDBY_SETTINGS = {"max_standby_streaming_delay": "5s", "hot_standby_feedback": "off"}
CONFLICT = ("conflict with recovery", "could not serialize access")
CHANGES = {
    "insert": ("\\set id random(1, {keys})\n\\set v random(0, 1000000)\n"
               "INSERT INTO t VALUES (:id, :v, :v % 1000, now(), 'x') ON CONFLICT DO NOTHING;\n", 4),
    "update": ("\\set id random(1, {keys})\n\\set v random(0, 1000000)\nUPDATE t SET a = :v, c = now() WHERE id = :id;\n", 3),
    "touch": ("\\set id random(1, {keys})\nUPDATE t SET filler = filler || 'y' WHERE id = :id AND length(filler) < 40;\n", 2),
    "delete": ("\\set id random(1, {keys})\nDELETE FROM t WHERE id = :id;\n", 2),
    "in vain": ("\\set id random(1, {keys})\nBEGIN;\nDELETE FROM t WHERE id = :id;\n"
                "INSERT INTO t SELECT -i, i, i, now() FROM generate_series(1, 20) i ON CONFLICT DO NOTHING;\nROLLBACK;\n", 1),
}
LOGGED = 0.02                                   # fraction of changes whose latencies are kept


def only(wanted):
    ways = ("enable_seqscan", "enable_bitmapscan", "rtscan.enable_scan", "rtscan.enable_aggregate")
    return {"enable_indexscan": "off", **{way: "on" if way == wanted else "off" for way in ways}}


SEQUENTIAL = only("enable_seqscan")
BY_INDEX = {"bitmap": only("enable_bitmapscan"), "rows": only("rtscan.enable_scan"), "aggregate": only("rtscan.enable_aggregate")}


@dataclass
class Sample:
    """The state at one time of the run."""
    seconds: float
    transactions: int                           # per second, since the previous sample
    segments: int
    pending: int
    index_mib: float
    table_mib: float
    # median of the checker's queries by the index, since the previous sample
    query_ms: float
    kills: int
    lag_mib: float                              # MiB of WAL that the standby has not replayed


def command_line():
    result = parser(__doc__, ("changing",), rows=KEYS // 2)
    result.add_argument("--minutes", type=float, default=60)
    result.add_argument("--clients", type=int, default=4)
    result.add_argument("--kill-every", type=float, default=60, metavar="SECONDS", help="about; 0: never")
    result.add_argument("--standby", action="store_true", help="a standby, too: asked, killed, and promoted in the end")
    result.add_argument("--keep", metavar="DIRECTORY", help="where the servers' files go when something is found")
    result.add_argument("--seed", type=int, default=int(time.time()))
    options = result.parse_args()
    options.name = options.name or f"soak-{options.minutes:g}-minutes"
    options.set = ["autovacuum=on", "autovacuum_naptime=5s", "autovacuum_vacuum_cost_delay=0", "checkpoint_timeout=30s",
                   "max_wal_size=1GB", "restart_after_crash=on", "shared_buffers=256MB", *options.set]
    return options


def is_lost(connection):
    """Return true if the server has ended a connection."""
    try:
        connection.cursor().execute("ROLLBACK")
        return False
    except psycopg2.Error:
        return True


def wait_for(cursor, query):
    """Wait until a query returns true."""
    until = time.monotonic() + 10 * PATIENCE
    while time.monotonic() < until:
        cursor.execute(query)
        if cursor.fetchone()[0]:
            return
        time.sleep(1)
    raise TimeoutError(f"never true: {query}")


def is_conflict(error):
    """Return true if a query on a standby was cancelled because it conflicted with replay."""
    return isinstance(error, psycopg2.Error) and any(text in str(error) for text in CONFLICT)


class Soak:
    def __init__(self, options, directory):
        self.options, self.directory = options, directory
        self.primary = Server(options, directory)
        self.standby = Server(options, directory, "standby", STANDBY_PORT) if options.standby else None
        self.servers = [self.primary] + ([self.standby] if options.standby else [])
        self.rng = random.Random(options.seed)
        self.end = time.monotonic() + 60 * options.minutes
        self.started = time.monotonic()
        self.finding, self.kills, self.times, self.samples = None, 0, [], []
        self.compared, self.conflicts = {server: 0 for server in self.servers}, 0

    def busy(self):
        return self.finding is None and time.monotonic() < self.end

    def connect(self, server):
        """Connect, as soon as there is a server."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                return server.connect()
            except psycopg2.OperationalError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.2)

    def keep_trying(self, server, work):
        """Run work with a connection; if the connection is lost because a server was killed, run it again with
        another one.
        """
        while self.busy():
            try:
                connection = self.connect(server)
            except psycopg2.OperationalError as e:
                self.finding = self.finding or f"no server after {PATIENCE} s: {e}"
                return
            try:
                while self.busy():
                    work(server, connection.cursor())
            except Exception as e:              # every error but the loss of a killed server is a finding
                lost = isinstance(e, psycopg2.Error) and is_lost(connection)
                if server is self.standby and is_conflict(e):
                    self.conflicts += 1
                elif not lost:
                    self.finding = self.finding or f"{type(e).__name__}: {e}"

    # ---- changes of the table

    def create(self):
        cursor = self.primary.connect().cursor()
        cursor.execute("CREATE EXTENSION rtscan")
        cursor.execute("CREATE TABLE t (id int PRIMARY KEY, a int, b int, c timestamptz, filler text) WITH (fillfactor = 90)")
        cursor.execute(f"INSERT INTO t SELECT i, random() * 1000000, random() * 1000, now(), 'x' FROM generate_series(1, {KEYS}, "
                       f"{KEYS // self.options.rows}) i")
        cursor.execute("CREATE INDEX t_rtscan ON t USING rtscan (a, b, c) INCLUDE (id)")
        cursor.execute("VACUUM ANALYZE t")

    def create_standby(self):
        """Create a standby of the table as it is, with a slot, so that WAL is kept while the standby is down."""
        self.standby.run("pg_basebackup", "-h", self.directory, "-U", "bench", "-c", "fast", "-R", "-C", "-S", "standby")
        self.standby.configure(STANDBY_SETTINGS)
        self.standby.start()

    def write(self):
        """Run pgbench repeatedly: it ends when a client loses its server."""
        scripts, runs = [], 0
        for name, (text, weight) in CHANGES.items():
            file = f"{self.directory}/{name.replace(' ', '-')}.sql"
            with open(file, "w", encoding="utf-8") as target:
                target.write(text.format(keys=KEYS))
            scripts += ["-f", f"{file}@{weight}"]
        while self.busy():
            with subprocess.Popen([f"{self.primary.programs}/pgbench", "-h", self.directory, "-U", "bench", "-n", "-c", str(self.options.clients), "-T", "3600",
                                   "-l", f"--log-prefix={self.directory}/latency.{runs}", "--sampling-rate", str(LOGGED), *scripts,
                                   "postgres"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                while self.busy() and process.poll() is None:
                    time.sleep(0.2)
                process.terminate()
            runs += 1
            time.sleep(0.2)

    def latencies(self):
        """Return latencies of changes in milliseconds, ascending."""
        logs = Path(self.directory).glob("latency.*")
        return sorted(int(line.split()[2]) / 1000 for log in logs for line in log.read_text().splitlines() if line.count(" ") >= 5)

    def deadlocks(self):
        """Return the deadlocks in the server's log, since its counters are lost with each kill."""
        return Path(self.primary.log).read_text(encoding="utf-8").count("deadlock detected")

    def kill(self):
        """From time to time kill -9 a process, or stop a server immediately."""
        while self.busy() and self.options.kill_every > 0:
            time.sleep(self.rng.uniform(0.5, 1.5) * self.options.kill_every)
            if not self.busy():
                return
            server = self.rng.choice(self.servers)
            try:
                # without the process that replays WAL, a server does not restart by itself
                for other in self.servers:
                    if not other.is_running():
                        other.start()
                with self.connect(server) as connection:
                    cursor = connection.cursor()
                    cursor.execute("SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
                    victim = self.rng.choice(cursor.fetchall())[0]
                if self.rng.random() < 0.3:
                    server.stop()
                    server.start()
                else:
                    os.kill(victim, signal.SIGKILL)
                self.kills += 1
            except (psycopg2.Error, ProcessLookupError):
                continue
            except subprocess.CalledProcessError as e:
                self.finding = self.finding or str(e)

    # ---- checks

    def question(self):
        a, b = self.rng.randint(0, 1000000), self.rng.randint(0, 1000)
        where = self.rng.choice((f"a < {a}", f"a BETWEEN {a} AND {a + 20000} AND b > {b}", f"a > {a} AND b = {b}",
                                 f"c > now() - interval '{self.rng.randint(1, 120)} s' AND a < {a}", f"b < {b} AND a > {a} AND c IS NOT NULL"))
        return f"SELECT count(*), sum(id), min(b), max(a) FROM t WHERE {where}"

    def answer(self, cursor, settings, query):
        for name, value in settings.items():
            cursor.execute(f"SET {name} = {value}")
        start = time.perf_counter()
        cursor.execute(query)
        return cursor.fetchone(), 1000 * (time.perf_counter() - start)

    def compare(self, server, cursor):
        query, (kind, settings) = self.question(), self.rng.choice(list(BY_INDEX.items()))
        cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        found, milliseconds = self.answer(cursor, settings, query)
        expected, _ = self.answer(cursor, SEQUENTIAL, query)
        cursor.execute("COMMIT")
        if server is self.primary:
            self.times.append(milliseconds)
        self.compared[server] += 1
        if found != expected:
            self.finding = f"{query}, port {server.port}: by {kind} {found}, by a sequential scan {expected}"

    def sample(self, server, cursor):
        cursor.execute("SELECT segments, pending, pg_relation_size('t_rtscan') / 2^20, pg_relation_size('t') / 2^20, "
                       "(SELECT n_tup_ins + n_tup_upd + n_tup_del FROM pg_stat_user_tables WHERE relname = 't'), "
                       "(SELECT coalesce(max(pg_current_wal_insert_lsn() - coalesce(replay_lsn, restart_lsn)), 0) / 2^20 "
                       "FROM pg_replication_slots LEFT JOIN pg_stat_replication ON pid = active_pid) "
                       "FROM rtscan_stats('t_rtscan')")
        segments, pending, index_mib, table_mib, changes, lag_mib = cursor.fetchone()
        now, times, self.times = time.monotonic() - self.started, self.times, []
        seconds = now - self.samples[-1].seconds if self.samples else now
        before, self.changes = getattr(self, "changes", 0), changes
        self.samples.append(Sample(round(now, 1), round(max(changes - before, 0) / seconds), segments, pending, round(index_mib, 1),
                                   round(table_mib, 1), round(statistics.median(times), 2) if times else 0, self.kills,
                                   round(lag_mib, 1)))
        time.sleep(1)

    def check(self, server):
        """Check that the index agrees with the table. Returns its size relative to a new one."""
        cursor = self.connect(server).cursor()
        for _ in range(CHECKED):
            self.compare(server, cursor)
        cursor.execute("SELECT rtscan_check('t_rtscan', true)")
        cursor.execute("SELECT pg_relation_size('t_rtscan')")
        used = cursor.fetchone()[0]
        cursor.execute("REINDEX INDEX t_rtscan")
        cursor.execute("SELECT pg_relation_size('t_rtscan')")
        return used / cursor.fetchone()[0]

    def promote(self):
        """Wait until everything is replayed, promote the standby, and check that it has the primary's rows."""
        total = "SELECT count(*), sum(id), sum(a), sum(b), max(c) FROM t"
        primary, standby = (self.connect(server).cursor() for server in self.servers)
        wait_for(primary, "SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'pgbench'")
        expected, _ = self.answer(primary, SEQUENTIAL, total)
        primary.execute("SELECT pg_current_wal_insert_lsn()")
        wait_for(standby, f"SELECT pg_last_wal_replay_lsn() >= '{primary.fetchone()[0]}'")
        self.standby.run("pg_ctl", "promote", "-w")
        found, _ = self.answer(self.connect(self.standby).cursor(), SEQUENTIAL, total)
        if found != expected:
            self.finding = f"the standby has {found}, the primary had {expected}"

    def run(self):
        """Run, and return the size of the index at the end, relative to a new one."""
        self.create()
        if self.standby:
            self.create_standby()
        self.started = time.monotonic()
        self.end = self.started + 60 * self.options.minutes
        work = [self.write, self.kill, lambda: self.keep_trying(self.primary, self.sample)]
        work += [lambda server=server: self.keep_trying(server, self.compare) for server in self.servers]
        threads = [threading.Thread(target=target) for target in work]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.expect_nothing_found()
        if self.standby:
            self.promote()
        ratio = self.check(self.servers[-1])
        self.expect_nothing_found()
        return ratio

    def expect_nothing_found(self):
        if self.finding:
            if self.options.keep:
                shutil.copytree(self.directory, self.options.keep, ignore=shutil.ignore_patterns(".s.*"))
            sys.exit(f"seed {self.options.seed}, after {time.monotonic() - self.started:.0f} s and {self.kills} kills: {self.finding}")


def standby_rows(soak):
    if not soak.standby:
        return []
    lags = [s.lag_mib for s in soak.samples]
    return [["on the standby: answers compared, of which wrong, and in the way of replay", f"{soak.compared[soak.standby]:,}, 0, {soak.conflicts:,}"],
            ["WAL that it had yet to replay, median and most, MiB", f"{report.number(statistics.median(lags))}, {report.number(max(lags))}"]]


def summary(soak, ratio):
    samples, latencies = soak.samples, soak.latencies()
    rows = [["changes a second, median", f"{statistics.median(s.transactions for s in samples):,.0f}"],
            ["latency of a change, median, p99, p99.9, longest, ms",
             ", ".join(report.number(latencies[min(int(share * len(latencies)), len(latencies) - 1)]) for share in (0.5, 0.99, 0.999, 1))],
            ["deadlocks", str(soak.deadlocks())],
            ["answers compared, of which wrong", f"{soak.compared[soak.primary]:,}, 0"],
            ["kills", str(soak.kills)],
            ["query by index, median and worst of the seconds, ms",
             f"{report.number(statistics.median(s.query_ms for s in samples))}, {report.number(max(s.query_ms for s in samples))}"],
            *standby_rows(soak),
            ["segments, median and most", f"{statistics.median(s.segments for s in samples):.0f}, {max(s.segments for s in samples)}"],
            ["pending rows, most", f"{max(s.pending for s in samples):,}"],
            ["index, MiB: first, most, last", f"{samples[0].index_mib}, {max(s.index_mib for s in samples)}, {samples[-1].index_mib}"],
            ["the last, and built anew", f"{ratio:.2f} times"]]
    return report.table(["", ""], rows)


def plot(samples):
    panels = (("transactions", "changes a second"), ("segments", "segments"), ("index_mib", "index, MiB"), ("query_ms", "query by index, ms"))
    script = "".join(report.data_block(name, [(s.seconds, getattr(s, name)) for s in samples]) for name, _ in panels)
    script += f"set multiplot layout {len(panels)},1\nunset key\nset yrange [0:]\n"
    return script + "".join(f"set title '{title}'\nplot ${name} using (real(strcol(1))):2 with lines\n" for name, title in panels)


def main():
    options = command_line()
    with cluster(options) as directory:
        note(f"seed {options.seed}")
        soak = Soak(options, directory)
        try:
            ratio = soak.run()
        finally:
            if soak.standby:
                soak.standby.stop()
        environment = report.environment(soak.primary.connect().cursor(), options)
        figures = summary(soak, ratio)
    text = f"# {options.name}\n\n{environment}\n\n{figures}"
    report.RESULTS.mkdir(exist_ok=True)
    (report.RESULTS / f"{options.name}.md").write_text(text, encoding="utf-8")
    with open(report.RESULTS / f"{options.name}.csv", "w", newline="", encoding="utf-8") as target:
        writer = csv.DictWriter(target, [field.name for field in fields(Sample)])
        writer.writeheader()
        writer.writerows(map(asdict, soak.samples))
    report.draw(report.RESULTS / f"{options.name}.svg", plot(soak.samples), "900,900")
    print(text)


if __name__ == "__main__":
    main()
