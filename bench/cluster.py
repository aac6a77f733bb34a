"""A private PostgreSQL server in a temporary directory, and the options that all benchmarks share."""
import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import psycopg2

from generate import DATA_SETS

REPOSITORY = Path(__file__).resolve().parent.parent
SETTINGS = {
    "listen_addresses": "''",
    "shared_buffers": "2GB",
    "work_mem": "64MB",
    "max_parallel_workers_per_gather": "0",
    "max_parallel_maintenance_workers": "0",
    "jit": "off",
    "autovacuum": "off",
    "max_wal_size": "32GB",
    "checkpoint_timeout": "1d",
}


def parser(description, data_sets=DATA_SETS, rows=10_000_000):
    """Return a parser of the options that all benchmarks share. Without data sets there is no option --data."""
    result = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    if data_sets:
        result.add_argument("--data", choices=data_sets, default=next(iter(data_sets)))
    result.add_argument("--file", help="the file that tools/flights writes, for --data flights")
    result.add_argument("--rows", type=int, default=rows)
    result.add_argument("--repetitions", type=int, default=5, help="rounds over all peers; figures are medians")
    result.add_argument("--name", help="results/NAME.md, .csv, -*.svg; by default made of data set and rows")
    result.add_argument("--pg-config", default="pg_config")
    result.add_argument("--build", action="store_true", help="make and make install the extension first")
    result.add_argument("--maintenance-work-mem", default="256MB")
    result.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="more server settings")
    result.add_argument("--server-user", default="postgres", help="who runs the server when started by root")
    result.add_argument("--directory", help="where the temporary directory of the server is made")
    return result


def server_settings(options):
    more = dict(pair.split("=", 1) for pair in options.set)
    return {**SETTINGS, "maintenance_work_mem": options.maintenance_work_mem, **more}


def build_extension(pg_config):
    for target in ("all", "install"):
        subprocess.run(["make", "-s", "-C", REPOSITORY, f"PG_CONFIG={pg_config}", target], check=True,
                       stdout=sys.stderr)


class Server:
    """A server whose data and socket are below a directory. Several may share one, each with a port of its own."""

    def __init__(self, options, directory, data="data", port=5432):
        self.directory, self.data, self.port = directory, f"{directory}/{data}", port
        self.log = f"{directory}/log" if data == "data" else f"{directory}/{data}.log"
        self.programs = subprocess.check_output([options.pg_config, "--bindir"], text=True).strip()
        self.prefix = ["runuser", "-u", options.server_user, "--"] if os.geteuid() == 0 else []

    def run(self, program, *arguments):
        """Run one of PostgreSQL's programs on the server's data, as the server's user."""
        subprocess.run([*self.prefix, f"{self.programs}/{program}", "-D", self.data, *arguments], check=True,
                       stdout=subprocess.DEVNULL, cwd=self.directory)

    def create(self, settings):
        self.run("initdb", "--username=bench", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C")
        self.configure(settings)

    def configure(self, settings):
        with open(f"{self.data}/postgresql.conf", "a", encoding="utf-8") as configuration:
            configuration.writelines(f"{name} = {value}\n" for name, value in settings.items())

    def start(self):
        self.run("pg_ctl", "start", "-w", "-l", self.log, "-o", f"-k {self.directory} -p {self.port}")

    def stop(self):
        self.run("pg_ctl", "stop", "-m", "immediate")

    def is_running(self):
        command = [*self.prefix, f"{self.programs}/pg_ctl", "-D", self.data, "status"]
        return subprocess.run(command, check=False, stdout=subprocess.DEVNULL, cwd=self.directory).returncode == 0

    def connect(self):
        return connect(self.directory, self.port)


@contextmanager
def cluster(options):
    """Start a server. Yields its directory, in which the server may write files."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    if options.build:
        build_extension(options.pg_config)
    directory = tempfile.mkdtemp(prefix="rtscan-bench-", dir=options.directory)
    if os.geteuid() == 0:
        shutil.chown(directory, options.server_user)
    server = Server(options, directory)
    try:
        server.create(server_settings(options))
        server.start()
        try:
            yield directory
        finally:
            server.stop()
    finally:
        shutil.rmtree(directory)


def connect(directory, port=5432):
    connection = psycopg2.connect(host=directory, port=port, user="bench", dbname="postgres")
    connection.autocommit = True
    return connection


def timed(cursor, query):
    """Return the milliseconds until the client has a query's rows, and the rows."""
    start = time.monotonic()
    cursor.execute(query)
    rows = cursor.fetchall()
    return 1000 * (time.monotonic() - start), rows
