#!/usr/bin/python3
"""Measure how much faster two nodes of a Citus cluster answer than one, and the time of Citus itself.

PostgreSQL must have Citus. Coordinator and nodes are on this machine. Each node has cores of its own, and no
processes besides those to which Citus connects. One table has all of its shards on one node, another half of them on
a second node; with rtscan and without an index. Writes results/NAME.md and .csv. See README.md.
"""
import os
import shutil
import statistics
import tempfile
import time

import report
from cluster import Server, parser, server_settings, timed
from report import Record
from run import note

KEYS = 20_000                                   # distinct values of the distribution column
SELECTED = 0.79                                 # fraction of each column, so that half of the rows match on all three
WHERE = " AND ".join(f"{column} < {SELECTED * 1e6:.0f}" for column in "abc")
QUERIES = {
    "count": "SELECT count(*) FROM {t} WHERE " + WHERE,
    "sum": "SELECT sum(v), max(c) FROM {t} WHERE " + WHERE,
    "100 groups": "SELECT g, count(*), sum(v) FROM {t} WHERE " + WHERE + " GROUP BY g",
    "20,000 groups, of the distribution column": "SELECT key, count(*), sum(v) FROM {t} WHERE " + WHERE + " GROUP BY key",
    "an expression": "SELECT sum(v * (a - b)) FROM {t} WHERE abs(a - c) > b / 2",
    "the first ten": "SELECT * FROM {t} WHERE " + WHERE + " ORDER BY c DESC, a LIMIT 10",
}
ONE_KEY = "SELECT count(*), sum(v) FROM {t} WHERE key = 7 AND " + WHERE
PEERS = {"rtscan": "CREATE INDEX ON {t} USING rtscan (a, b, c) INCLUDE (key, g, v)", "no index": None}
NODES = {"one": "one node", "two": "two nodes"}
PORTS = {"coordinator": 5432, "first": 5433, "second": 5434}


def command_line():
    result = parser(__doc__, data_sets=None)
    result.add_argument("--cores", type=int, default=max((os.cpu_count() - 1) // 2, 1), help="of each node")
    options = result.parse_args()
    options.data, options.rows = "uniform", options.rows // KEYS * KEYS
    options.name = options.name or f"nodes-{options.rows}"
    options.set = ["shared_preload_libraries='citus,rtscan'", "wal_level=logical", "max_worker_processes=32"] + options.set
    return options


def start(options, directory, name, cores):
    """Start a server that can use only these cores, and create the extensions."""
    server = Server(options, directory, name, PORTS[name])
    server.create(server_settings(options))
    server.prefix = ["taskset", "--cpu-list", ",".join(map(str, cores)), *server.prefix]
    server.start()
    cursor = server.connect().cursor()
    cursor.execute("CREATE EXTENSION citus")
    return server, cursor


def load(cursor, options, table):
    """Load a table. Rows are generated on the nodes where they are stored."""
    shards = 2 * options.cores
    cursor.execute(f"CREATE TABLE {table} (key int, a int, b int, c int, g int, v float8)")
    cursor.execute(f"SELECT create_distributed_table('{table}', 'key', shard_count => {shards}, colocate_with => 'none')")
    cursor.execute(f"CREATE TABLE keys_of_{table} (key int)")
    cursor.execute(f"SELECT create_distributed_table('keys_of_{table}', 'key', colocate_with => '{table}')")
    cursor.execute(f"INSERT INTO keys_of_{table} SELECT generate_series(1, {KEYS})")
    cursor.execute(f"""
        INSERT INTO {table}
        SELECT key, random() * 1e6, random() * 1e6, random() * 1e6, random() * 100, random()
        FROM keys_of_{table}, generate_series(1, {options.rows // KEYS})""")
    cursor.execute(f"VACUUM ANALYZE {table}")


def query_records(cursor, options, peer):
    for case, query in QUERIES.items():
        times = {nodes: [] for nodes in NODES}
        for repetition in range(options.repetitions + 1):
            for nodes in NODES:
                took, _ = timed(cursor, query.format(t=nodes))
                if repetition > 0:
                    times[nodes].append(took)
        for nodes, values in times.items():
            yield Record.of(NODES[nodes], case, peer, values)
        note(f"{peer}, {case}: " + ", ".join(f"{NODES[nodes]} {statistics.median(values):.1f} ms" for nodes, values in times.items()))


def overhead_records(cursor, node, options):
    """Yield the times of a query of one shard, by the coordinator and directly by its node."""
    cursor.execute("SELECT 'one_' || get_shard_id_for_distribution_column('one', 7)")
    (shard,) = cursor.fetchone()
    ways = {"by the coordinator": (cursor, ONE_KEY.format(t="one")), "of the node": (node, ONE_KEY.format(t=shard))}
    times = {way: [timed(*asked)[0] for _ in range(20 * options.repetitions)] for way, asked in ways.items()}
    return [Record.of("one shard", way, "rtscan", values) for way, values in times.items()]


def measure(cursor, node, options):
    for peer, index in PEERS.items():
        for table in NODES:
            if index:
                begin = time.monotonic()
                cursor.execute(index.format(t=table))
                took = 1000 * (time.monotonic() - begin)
                note(f"{index.format(t=table)}: {took:.0f} ms")
                yield Record.of(NODES[table], "CREATE INDEX", peer, [took])
            else:
                cursor.execute(f"SELECT indexrelid::regclass::text FROM pg_index WHERE indrelid = '{table}'::regclass")
                for (name,) in cursor.fetchall():
                    cursor.execute(f"DROP INDEX {name}")
        yield from query_records(cursor, options, peer)
        if index:
            yield from overhead_records(cursor, node, options)


def run(options, directory):
    cores = range(os.cpu_count())
    first, second = cores[:options.cores], cores[options.cores:2 * options.cores]
    servers = []
    try:
        for name, of_node in (("first", first), ("second", second), ("coordinator", cores[2 * options.cores:] or cores)):
            server, cursor = start(options, directory, name, of_node)
            servers.append((server, cursor))
        node = servers[0][1]
        cursor.execute("SELECT citus_set_coordinator_host(%s, %s)", [directory, PORTS["coordinator"]])
        cursor.execute("CREATE EXTENSION rtscan")
        for table, name in zip(NODES, ("first", "second")):
            cursor.execute("SELECT citus_add_node(%s, %s)", [directory, PORTS[name]])
            load(cursor, options, table)
            note(f"{options.rows:,} rows on {NODES[table]}")
        return list(measure(cursor, node, options)), report.environment(cursor, options, "one", "citus_relation_size")
    finally:
        for server, _ in servers:
            server.stop()


def write(options, records, environment):
    lines = []
    for record in report.select(records, figure="one node"):
        two = report.select(records, figure="two nodes", peer=record.peer, case=record.case)[0]
        lines.append([record.case, record.peer, report.number(record.value), report.number(two.value),
                      f"{record.value / two.value:.2f}"])
    shard = [[record.case, report.number(record.value)] for record in report.select(records, figure="one shard")]
    report.write_text(options, f"# {options.name}\n\n{environment}- {options.cores} cores and half of the shards for each of two nodes\n\n" +
                      report.table(["", "", "one node, ms", "two nodes, ms", "times as fast"], lines) + "\n" +
                      report.table(["one key's rows", "ms"], shard), records)


def main():
    options = command_line()
    directory = tempfile.mkdtemp(prefix="rtscan-bench-", dir=options.directory)
    try:
        if os.geteuid() == 0:
            shutil.chown(directory, options.server_user)
        records, environment = run(options, directory)
    finally:
        shutil.rmtree(directory)
    write(options, records, environment)


if __name__ == "__main__":
    main()
