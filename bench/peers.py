"""The peers that are compared: ways in which PostgreSQL answers a query, DuckDB and ClickHouse.

Every PostgreSQL peer uses only its own indexes: the others are marked as not valid in pg_index, which hides them
from the planner. Call a peer's prepare(sql) first, then execute() as often as needed.
"""
import json
import subprocess
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
NO_SEQUENTIAL = {"enable_seqscan": "off"}
ONLY_BITMAPS = {**NO_SEQUENTIAL, "enable_indexscan": "off"}
LEADER_AND_TWO = {"max_parallel_workers_per_gather": 2, "parallel_setup_cost": 0, "parallel_tuple_cost": 0,
                  "min_parallel_table_scan_size": 0}


@dataclass
class Peer:
    """Indexes by name, with {0} {1} {2} for the three columns, and settings that force the plan."""
    name: str
    indexes: dict = field(default_factory=dict)
    settings: dict = field(default_factory=dict)
    cursor: object = None

    def create_indexes(self, columns=()):
        for name, definition in self.indexes.items():
            self.cursor.execute(f"CREATE INDEX IF NOT EXISTS {name} ON t USING {definition.format(*columns)}")

    def drop_indexes(self):
        for name in self.indexes:
            self.cursor.execute(f"DROP INDEX {name}")

    def activate(self):
        """Hide the other peers' indexes, and force this peer's plan."""
        self.cursor.execute("""
            UPDATE pg_index SET indisvalid = NOT indisvalid FROM pg_class
            WHERE pg_class.oid = indexrelid AND indrelid = 't'::regclass AND indisvalid <> (relname = ANY (%s))""",
                            [list(self.indexes)])
        self.cursor.execute("RESET ALL")
        for name, value in self.settings.items():
            self.cursor.execute(f"SET {name} = {value}")

    def prepare(self, sql):
        self.activate()
        self.cursor.execute("DEALLOCATE ALL")
        self.cursor.execute(f"PREPARE query AS {sql}")

    def execute(self):
        """Run the query once. Returns the client's milliseconds, and the rows."""
        start = time.perf_counter()
        self.cursor.execute("EXECUTE query")
        milliseconds = 1000 * (time.perf_counter() - start)
        return milliseconds, self.cursor.fetchall()

    def explain(self):
        """Return the scan nodes of the prepared query's plan, with their indexes."""
        self.cursor.execute("EXPLAIN (FORMAT json) EXECUTE query")
        return " + ".join(sorted(scans(self.cursor.fetchone()[0][0]["Plan"])))

    def sizes(self):
        self.cursor.execute("SELECT sum(pg_relation_size(name::regclass)) FROM unnest(%s) AS name",
                            [list(self.indexes)])
        return float(self.cursor.fetchone()[0])

    def scan_time(self, sql):
        """Return the milliseconds of this query's index scans alone, up to row bits, repeated 100 times."""
        self.cursor.execute("SELECT sum(bits_time) FROM rtscan_benchmark(%s, 100)", [sql])
        return self.cursor.fetchone()[0]

    def scan_times(self):
        """Return this session's scans so far, and their times: (scans, bits, TIDs); None without an rtscan index."""
        if not any(definition.startswith("rtscan") for definition in self.indexes.values()):
            return None
        self.cursor.execute("SELECT sum(scans)::int, sum(bits_time), sum(tids_time) FROM pg_stat_rtscan")
        return self.cursor.fetchone()


def planning_time(cursor, sql):
    """Return the planning time that the server reports, in milliseconds."""
    cursor.execute(f"EXPLAIN (SUMMARY, FORMAT json) {sql}")
    return cursor.fetchone()[0][0]["Planning Time"]


def scans(node):
    """Yield names of the nodes that read: 'Seq Scan', 't_rtscan', ..."""
    if "Index Name" in node:
        yield f"{node.get('Custom Plan Provider', node['Node Type'])} {node['Index Name']}"
    elif node["Node Type"] == "Seq Scan":
        yield node["Node Type"]
    for child in node.get("Plans", []):
        yield from scans(child)


@dataclass
class Embedded:
    """DuckDB or ClickHouse in a process of its own, where times are measured."""
    process: subprocess.Popen
    name: str = "DuckDB"
    threads: int = 1

    def request(self, **message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def prepare(self, sql):
        self.request(prepare=sql, threads=self.threads)

    def execute(self):
        answer = self.request(execute=True)
        # JSON writes a float without a fraction like an integer
        for row in answer["rows"]:
            for column in answer["floats"]:
                row[column] = row[column] if row[column] is None else float(row[column])
        return answer["milliseconds"], answer["rows"]

    def explain(self):
        return f"{self.name}, {'one thread' if self.threads == 1 else f'{self.threads} threads'}"

    def scan_times(self):
        return None


def start_node(script):
    """Install what a script needs, and start it."""
    fetch_packages(script.parent)
    return subprocess.Popen(["node", script], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def fetch_packages(folder):
    if not (folder / "node_modules").exists():
        subprocess.run(["npm", "install", "--no-package-lock", "--silent"], cwd=folder, check=True)


def duckdb_library():
    """Return the path of DuckDB's library, which is in its package."""
    fetch_packages(HERE)
    return next(HERE.glob("node_modules/@duckdb/*/libduckdb.so"))


def start_duckdb(definition, file, name="t"):
    """Start DuckDB with the file's rows in a table."""
    duckdb = Embedded(start_node(HERE / "duckdb.mjs"))
    for statement in (f"CREATE TABLE {name} ({definition})", f"COPY {name} FROM '{file}' (FORMAT csv, HEADER false)"):
        duckdb.prepare(statement)
        duckdb.execute()
    return duckdb


def start_clickhouse(definition, order, values, columns, file, name):
    """Start ClickHouse with a table that is sorted by "order"; its "values" are made of the "columns" of a file."""
    clickhouse = Embedded(start_node(HERE / "clickhouse" / "clickhouse.mjs"), "ClickHouse")
    for statement in (f"CREATE TABLE {name} ({definition}) ENGINE = MergeTree ORDER BY ({order})",
                      f"INSERT INTO {name} SELECT {values} FROM file('{file}', CSV, '{columns}')"):
        clickhouse.prepare(statement)
        clickhouse.execute()
    return clickhouse


RTSCAN = {"t_rtscan": "rtscan ({0}, {1}, {2})"}
POSTGRES_PEERS = {
    "seqscan": Peer("seq scan"),
    "parallel": Peer("parallel seq scan", settings=LEADER_AND_TWO),
    "btrees": Peer("three btrees", {"t_btree_0": "btree ({0})", "t_btree_1": "btree ({1})", "t_btree_2": "btree ({2})"},
                   ONLY_BITMAPS),
    "btree": Peer("btree of all", {"t_btree_all": "btree ({0}, {1}, {2})"}, NO_SEQUENTIAL),
    "brin": Peer("BRIN", {"t_brin": "brin ({0}, {1}, {2})"}, NO_SEQUENTIAL),
    "rtscan": Peer("rtscan", RTSCAN, NO_SEQUENTIAL),
    "bitmap": Peer("rtscan, bitmap", RTSCAN, {**ONLY_BITMAPS, "rtscan.enable_scan": "off", "rtscan.enable_aggregate": "off"}),
}
NAMES = [*POSTGRES_PEERS, "duckdb"]


def planner_choice(peer):
    """Return a peer with the indexes of another peer and rtscan's, and no forced plan."""
    return Peer(f"free: {peer.name} or rtscan", {**peer.indexes, **RTSCAN}, cursor=peer.cursor)


def covering_peers(cursor, keys, payload):
    """Return the peers for aggregates: btree and rtscan with the same columns, so that neither needs the heap."""
    def including(columns):
        return f" INCLUDE ({', '.join(columns)})" if columns else ""

    columns = f"({', '.join(keys)})"
    others = [column for column in payload if column not in keys]
    return [
        *(replace(POSTGRES_PEERS[name], cursor=cursor) for name in ("seqscan", "parallel")),
        Peer("btree", {"t_btree": f"btree {columns}{including(others)}"}, NO_SEQUENTIAL, cursor),
        Peer("BRIN", {"t_brin": f"brin {columns}"}, NO_SEQUENTIAL, cursor),
        Peer("rtscan", {"t_rtscan": f"rtscan {columns}{including(payload)}"}, NO_SEQUENTIAL, cursor),
    ]
