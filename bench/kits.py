"""Tables and queries of TPC-DS and TPC-H, from the folders in which their public kits were built.

Nothing of a kit is part of this repository: its programs make the rows and the queries, and its files define the tables.
"""
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

# A btree on each foreign key, as PostgreSQL's users have them, is part of the schema.
INDEX_COLUMNS = 32  # an index has no more


@dataclass(frozen=True)
class Statement:
    name: str
    sql: str
    duckdb: str


def with_aliases(sql):
    """Give an alias to each subquery in FROM that has none, which PostgreSQL demands up to 15."""
    ends = []
    for start in re.finditer(r"(\bfrom|,)\s*\((?=\s*\(*\s*select\b)", sql, re.I):
        depth, end = 1, start.end()
        while depth > 0:
            depth += {"(": 1, ")": -1}.get(sql[end], 0)
            end += 1
        if re.match(r"\s*(\)|,|$|(order|group|where|having|limit|union)\b)", sql[end:], re.I):
            ends.append(end)
    for number, end in enumerate(sorted(ends, reverse=True)):
        sql = f"{sql[:end]} as part_{number}{sql[end:]}"
    return sql


class Kit:
    """A kit in a folder: `tables` by name, each with its definition, and `statements`."""
    facts = ()       # the tables that get an rtscan index with keys and other columns
    dimensions = ()  # the tables that get one of all columns
    encoding = "UTF8"

    def __init__(self, folder, scale):
        self.folder, self.scale = Path(folder), scale
        text = self.schema.read_text(encoding="latin-1")
        text = re.sub(r"--.*", "", text)
        self.tables = {name.lower(): columns for name, columns in re.findall(r"create\s+table\s+(\w+)\s*\((.*?)\)\s*;", text, re.S | re.I)}

    def columns(self, table):
        """Return the names of a table's columns."""
        lines = re.split(r",(?![^(]*\))", self.tables[table])
        return [line.split()[0].lower() for line in lines if line.strip() and not line.strip().lower().startswith("primary")]

    def mentioned(self, table):
        """Return a table's columns that queries mention."""
        words = set(re.findall(r"\w+", " ".join(statement.sql for statement in self.statements).lower()))
        return [column for column in self.columns(table) if column in words]

    def indexes(self):
        """Yield statements that create primary keys, btrees on foreign keys and rtscan's indexes."""
        for table in self.tables:
            if self.primary_key(table):
                yield f"ALTER TABLE {table} ADD PRIMARY KEY ({self.primary_key(table)})"
            for column in self.foreign_keys(table):
                yield f"CREATE INDEX ON {table} ({column})"
        for table in self.facts:
            keys = [column for column in self.mentioned(table) if self.is_key(table, column)]
            others = [column for column in self.mentioned(table) if column not in keys][:INDEX_COLUMNS - len(keys)]
            yield f"CREATE INDEX {table}_rtscan ON {table} USING rtscan ({', '.join(keys)}) INCLUDE ({', '.join(others)})"
        for table in self.dimensions:
            yield f"CREATE INDEX {table}_rtscan ON {table} USING rtscan ({', '.join(self.columns(table))})"

    def make(self, directory):
        """Write a file of rows for each table, TABLE.csv in UTF-8, with \"|\" between values, which are not quoted."""
        self.generate(directory)
        for table in self.tables:
            with open(f"{directory}/{self.data_file(table)}", encoding=self.encoding) as rows, \
                 open(f"{directory}/{table}.csv", "w", encoding="UTF8") as file:
                file.writelines(row.rstrip("\n").removesuffix("|") + "\n" for row in rows)
            os.chmod(f"{directory}/{table}.csv", 0o644)


class TpcDs(Kit):
    """The kit gregrahn/tpcds-kit, after `make` in its folder tools."""
    facts = ("store_sales", "store_returns", "catalog_sales", "catalog_returns", "web_sales", "web_returns", "inventory")
    dimensions = ("customer", "customer_address", "customer_demographics", "item", "date_dim")
    encoding = "LATIN1"

    def __init__(self, folder, scale):
        self.schema = Path(folder) / "tools" / "tpcds.sql"
        super().__init__(folder, scale)
        del self.tables["dbgen_version"]
        self.statements = [statement for number in range(1, 100) for statement in self.of_query(number)]

    def run(self, program, *arguments):
        subprocess.run([f"./{program}", *map(str, arguments)], cwd=self.folder / "tools", check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    def generate(self, directory):
        self.run("dsdgen", "-SCALE", self.scale, "-DIR", directory, "-FORCE", "Y", "-QUIET", "Y")

    @staticmethod
    def data_file(table):
        return f"{table}.dat"

    def of_query(self, number):
        """Return a query's statements: most have one, some two."""
        output = self.folder / "tools" / "query_0.sql"
        self.run("dsqgen", "-DIRECTORY", "../query_templates", "-TEMPLATE", f"query{number}.tpl", "-DIALECT", "netezza", "-SCALE",
                 self.scale, "-QUIET", "Y", "-RNGSEED", 19620718)
        text = re.sub(r"--.*", "", output.read_text(encoding="latin-1"))
        output.unlink()
        parts = [part.strip() for part in text.split(";") if part.strip()]
        return [Statement(f"q{number}{chr(97 + i) if len(parts) > 1 else ''}", self.in_dialect(part), self.in_dialect(part))
                for i, part in enumerate(parts)]

    @staticmethod
    def in_dialect(sql):
        """Return a statement as PostgreSQL and DuckDB take it."""
        sql = re.sub(r"([+-])\s*(\d+)\s+days", r"\1 interval '\2 days'", sql)
        sql = re.sub(r"\) returns\b", ") as returns", sql)
        sql = with_aliases(re.sub(r"\) at,", ") as morning,", sql))
        sql = re.sub(r"\bc_last_review_date\b", "c_last_review_date_sk", sql)
        if re.search(r"order by[^;]*case when lochierarchy", sql, re.S):
            # an alias may not be part of an expression in ORDER BY
            body, order = re.split(r"\border by\b(?=\s+lochierarchy desc)", sql)
            sql = f"select * from ({body}) as grouped order by {order}"
        return sql

    @staticmethod
    def is_key(_, column):
        return column.endswith("_sk") or column.endswith("_number")

    def primary_key(self, table):
        found = re.search(r"primary\s+key\s*\(([^)]*)\)", self.tables[table])
        return found and found[1].strip()

    def foreign_keys(self, table):
        return [column for column in self.columns(table) if column.endswith("_sk") and not (self.primary_key(table) or "").startswith(column)]

    def definition(self, table):
        return re.sub(r",\s*primary\s+key\s*\([^)]*\)", "", self.tables[table])


class TpcH(Kit):
    """The kit gregrahn/tpch-kit, after `make MACHINE=LINUX DATABASE=POSTGRESQL` in its folder dbgen."""
    facts = ("lineitem", "orders", "partsupp")
    dimensions = ("customer", "part", "supplier")
    keys = {"part": "p_partkey", "region": "r_regionkey", "nation": "n_nationkey", "supplier": "s_suppkey", "customer": "c_custkey",
            "partsupp": "ps_partkey, ps_suppkey", "orders": "o_orderkey", "lineitem": "l_orderkey, l_linenumber"}

    def __init__(self, folder, scale):
        self.schema = Path(folder) / "dbgen" / "dss.ddl"
        super().__init__(folder, scale)
        self.statements = [self.of_query(number) for number in range(1, 23)]

    def run(self, program, *arguments, **environment):
        return subprocess.run([f"./{program}", *map(str, arguments)], cwd=self.folder / "dbgen", check=True, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, **environment}).stdout

    def generate(self, directory):
        self.run("dbgen", "-s", self.scale, "-f", DSS_PATH=str(directory))

    @staticmethod
    def data_file(table):
        return f"{table}.tbl"

    def of_query(self, number):
        text = self.run("qgen", "-d", "-s", self.scale, number, DSS_QUERY="queries")
        text = re.sub(r"--.*", "", text)
        limit = re.search(r"set rowcount (-?\d+)|limit (-?\d+)", text)
        if number == 15:  # a view, its query, and the view's end
            view, query = re.search(r"create view \w+ \((.*?)\) as(.*?);(.*?);", text, re.S).group(2, 3)
            text = f"with revenue0 (supplier_no, total_revenue) as ({view}) {query}"
        text = re.split(r";", text)[0].replace("interval '90' day (3)", "interval '90' day").replace("(3)", "")
        rows = limit and (limit[1] or limit[2])
        text = re.sub(r"\s+limit\s+-?\d+\s*$", "", text.strip())
        sql = f"{text} limit {rows}" if rows and int(rows) > 0 else text
        return Statement(f"q{number}", sql, sql)

    def is_key(self, table, column):
        return column in self.keys[table] or column in self.foreign_keys(table) or column.endswith("date")

    def primary_key(self, table):
        return self.keys[table]

    def foreign_keys(self, table):
        return [column for column in self.columns(table)
                if column.endswith("key") and not self.keys[table].startswith(column)]

    def definition(self, table):
        return self.tables[table]


KITS = {"tpcds": TpcDs, "tpch": TpcH}
