#!/usr/bin/python3
"""A differential fuzzer: on random tables, index scans must return what sequential scans return.

Each round has its own seed, so --seed S --round N repeats it. If a round fails, the program prints the round's
schema and statements as a psql script, then the query, and exits with status 1.
"""
import argparse
import random
import sys
import time
from collections import Counter

import psycopg2

import catalog
import crowd
import device_aggregates
import dimensions
import queries
import schema
import transfers
import workload
from session import TOO_LONG, Finding, Session, script


# The kinds of rounds in modes that mix them.
KINDS = ("concurrent", "transfers", "device_aggregates", "single")
SHARES = {"mixed": (4, 2, 4, 90), "joins": (20, 0, 0, 80)}


def options():
    p = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    p.add_argument("--dsn", required=True)
    p.add_argument("--standby", metavar="DSN", help="a standby of the server, to be asked while others write")
    p.add_argument("--seconds", type=float, default=30)
    p.add_argument("--least-rounds", type=int, default=1, metavar="N", help="so many rounds at least, however long they take")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--access-method", default="rtscan")
    p.add_argument("--round", type=int, help="run this round only")
    p.add_argument("--mode", choices=("mixed", "single", "concurrent", "transfers", "device_aggregates", "joins"), default="mixed")
    p.add_argument("--large", type=float, default=0.01, metavar="SHARE",
                   help="the share of single rounds with more rows than a chunk has, which a device can evaluate")
    p.add_argument("--verbose", action="store_true", help="a line for each round")
    return p.parse_args()


class Fuzzer:
    def __init__(self, args):
        self.args, self.counts = args, Counter()
        self.home = f"fuzz_{args.seed}_{args.mode}"
        self.prepare()

    def connect(self, label, log, dsn=None):
        session = Session(dsn or self.args.dsn, label, log)
        session.query(f"SET search_path = {self.home}, public; SET jit = off; "
                      "SET client_min_messages = error; SET statement_timeout = '120s'; SET extra_float_digits = 1")
        return session

    def connect_standby(self, primary, log):
        """Connect to the standby when it has replayed what the primary has done."""
        end = primary.query("SELECT pg_current_wal_insert_lsn()")[0][0]
        session = self.connect("standby", log, self.args.standby)
        while not session.query(f"SELECT pg_last_wal_replay_lsn() >= '{end}'")[0][0]:
            time.sleep(0.01)
        return session

    def prepare(self):
        """Create the schema with the types that all rounds share."""
        session = Session(self.args.dsn, "setup", [])
        if self.args.access_method == "rtscan":
            session.query("CREATE EXTENSION IF NOT EXISTS rtscan")
        for gid, in session.query(f"SELECT gid FROM pg_prepared_xacts WHERE gid LIKE '{self.home}%'"):
            session.query(f"ROLLBACK PREPARED '{gid}'")
        session.query(f"SET client_min_messages = error; DROP SCHEMA IF EXISTS {self.home} CASCADE; CREATE SCHEMA {self.home}; "
                      f"SET search_path = {self.home}")
        for statement in filter(str.strip, catalog.SETUP.split(";")):
            session.query(statement)
        session.query(catalog.ANSWER)
        session.close()

    def round(self, number):
        """Run a round. Its log is printed if it finds something."""
        rng = random.Random(self.args.seed * 1_000_003 + number)
        log, started = [], time.monotonic()
        kind = self.args.mode
        if kind in SHARES:
            kind = rng.choices(KINDS, SHARES[kind])[0]
        try:
            session = self.connect("main", log)
            try:
                self.tell(session, rng, kind, log)
            finally:
                session.close()
        except (Finding, psycopg2.Error) as e:
            self.report(number, log, e)
            return False
        self.counts[f"{kind} rounds"] += 1
        if self.args.verbose:
            print(f"round {number}: {kind}, {len(log)} statements, {time.monotonic() - started:.2f} s", flush=True)
        return True

    def tell(self, session, rng, kind, log):
        session.query(f"DROP TABLE IF EXISTS t CASCADE; {dimensions.DROP}")
        if kind == "transfers":
            transfers.run(rng, self.connect, log, session, self.args.access_method, self.counts)
            self.verify(session)
            return
        if kind == "device_aggregates":
            device_aggregates.run(rng, session, self.args.access_method, self.counts, large=self.args.mode == "device_aggregates")
            self.verify(session)
            return
        table = schema.Schema(rng, self.args.access_method, kind == "single" and rng.random() < self.args.large, kind == "concurrent",
                              self.args.mode == "joins")
        self.limit_segments(session, rng, table)
        if not self.create(session, table):
            self.counts["rounds whose index was refused"] += 1
            return
        if kind == "concurrent":
            has_standby = self.args.standby and table.kind != "UNLOGGED"
            crowd.run(rng, self.connect, log, session, table, self.counts,
                      (lambda: self.connect_standby(session, log)) if has_standby else None)
        else:
            self.single(rng, session, table)
        self.verify(session)

    def limit_segments(self, session, rng, table):
        """Set the memory of builds, and the rows of segments, mostly to few; but a large table must have whole chunks."""
        session.run(f"SET maintenance_work_mem = '{rng.choice(('1MB', '4MB', '64MB'))}'")
        if self.args.access_method == "rtscan":
            choices = (64512,) + 9 * (1000000,) if table.large else (2000, 5000, 18000, 70000, 1000000)
            session.run(f"SET rtscan.debug_segment_rows = {rng.choice(choices)}")
            session.run(f"SET rtscan.pending_list_limit = '{rng.choice((64, 64, 128, 1024))}kB'")

    def create(self, session, table):
        """Create the table, its index and its rows; the index before or after the rows. Returns False if the index
        was refused.
        """
        if not session.query(f"SELECT pg_indexam_has_property(oid, 'can_include') FROM pg_am "
                             f"WHERE amname = '{self.args.access_method}'")[0][0]:
            table.without_include()
        for statement in table.create_table():
            session.run(statement)
        load = f"INSERT INTO t ({table.column_list()}) {table.row_source(1, table.rows)}"
        build = table.create_index(concurrently=table.kind != "PARTITIONED" and table.rng.random() < 0.2)
        statements = (build, load) if table.build_first else (load, build)
        # 0A000: pattern operator classes with a nondeterministic collation
        statements += tuple(dimensions.create(table.dimensions, self.args.access_method))
        return all(session.run(statement, TOO_LONG | {"0A000"}) for statement in statements)

    def single(self, rng, session, table):
        comparer = queries.Comparer(rng, session, table, self.counts)
        changes = workload.Workload(rng, session, table, lambda: comparer.one_query(changing=False))
        for _ in range(rng.randint(2, 10) if not table.large else 3):
            for _ in range(rng.randint(2, 8)):
                comparer.one_query()
            changes.step()
            if not session.query("SELECT to_regclass('t_idx')")[0][0]:
                return                      # a step has recreated the index, and rows are too long for it
            comparer.refresh_names()
        comparer.one_query()

    def verify(self, session):
        if self.args.access_method != "rtscan":
            return
        found = session.query("SELECT c.oid::regclass FROM pg_index JOIN pg_class c ON c.oid = indexrelid JOIN pg_am a ON a.oid = relam "
                              "WHERE amname = 'rtscan' AND relkind = 'i' AND indrelid IN "
                              "(SELECT 't'::regclass UNION SELECT relid FROM pg_partition_tree('t'))")
        for name, in found:
            session.run(f"SELECT rtscan_check('{name}', true)")
            self.counts["indexes checked"] += 1

    def report(self, number, log, error):
        print(f"-- FAILED: --seed {self.args.seed} --mode {self.args.mode} --round {number}")
        print(f"CREATE SCHEMA fz; SET search_path = fz;{catalog.SETUP}")
        print(script(log))
        print(f"-- then:\n{error}")

    def summary(self, rounds, seconds):
        through, beside = self.counts["through the index"], self.counts["not through the index"]
        print(f"{rounds} rounds in {seconds:.0f} s; {100 * through / max(through + beside, 1):.1f} % of the plans use the index")
        print(", ".join(f"{name}: {n}" for name, n in sorted(self.counts.items())))


def main():
    args = options()
    fuzzer, started, number = Fuzzer(args), time.monotonic(), 0
    while args.round is None and (number < args.least_rounds or time.monotonic() - started < args.seconds):
        if not fuzzer.round(number):
            return 1
        number += 1
    if args.round is not None and not fuzzer.round(args.round):
        return 1
    fuzzer.summary(number or 1, time.monotonic() - started)
    return 0


if __name__ == "__main__":
    sys.exit(main())
