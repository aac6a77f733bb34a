"""The queries of bench/ask.py, in sets on some tables with their indexes."""
from dataclasses import dataclass, field
from typing import Callable

import aggregates
import joins
from generate import DATA_SETS, KEY_TABLES, LARGEST, PACKETS, PRIME, SCHEMAS
from tpc import Table


@dataclass(frozen=True)
class Question:
    """A query for both systems, or one for each. rtscan may take at most a fraction, most, of DuckDB's time; or of
    its own time for another query, beside.
    """
    name: str
    sql: str
    most: float = None
    duckdb: str = ""
    beside: str = ""

    def line(self):
        """Return the query as a line of the client's input."""
        return "\t".join(" ".join(text.split()) for text in (self.name, self.sql, self.duckdb)) + "\n"


@dataclass(frozen=True)
class Questions:
    """A set of queries: number of rows in the largest table; tables, and statements that create their indexes; the
    queries; and by name the SQL that further connections to PostgreSQL execute first.
    """
    rows: int
    tables: Callable
    indexes: tuple
    questions: Callable
    others: dict = field(default_factory=dict)


def alone(data, name):
    """A data set in a table of this name; flights are read from a file."""
    chosen = DATA_SETS[data]
    return lambda rows: [Table(name, chosen.definition, chosen.rows_between(1, rows) if chosen.rows_between else "")]


# Hides rtscan's indexes in this connection only, since no other one sees the changes of its transaction.
WITHOUT_RTSCAN = """
BEGIN;
UPDATE pg_index SET indisvalid = false
FROM pg_class c JOIN pg_am a ON a.oid = c.relam WHERE c.oid = indexrelid AND amname = 'rtscan'"""
# The same for queries that no bitmap scan answers, in any number of connections.
SWITCHED_OFF = "SET rtscan.enable_scan = off; SET rtscan.enable_aggregate = off; SET enable_bitmapscan = off"


def at(share):
    return int(share * LARGEST)


def below(share, columns="abc"):
    return " AND ".join(f"{column} <= {at(share)}" for column in columns)


def ask(name, what, where, most=None, then="", duckdb="", beside="", table="w"):
    """Return a query on a table. duckdb is what DuckDB selects instead."""
    sql, other = (f"SELECT {columns} FROM {table} WHERE {where} {then}" for columns in (what, duckdb))
    return Question(name, sql, most, other if duckdb else "", beside)


def of_rows():
    for share, most in ((.1, .25), (.2, .6), (.5, 3.5)):
        yield ask(f"`SELECT v, g`, {share}", "v, g", below(share), most)
    yield ask("`SELECT a, b, c, v, g`, 0.2", "a, b, c, v, g", below(.2), 1.2)
    for share, most in ((.1, .25), (.2, .7)):
        yield ask(f"`SELECT *`, {share}", "*", below(share), most)
    for share in (.5, .01):
        yield ask(f"`ORDER BY a DESC LIMIT 10`, b and c {share}", "a, v", below(share, "bc"), 1 / 12, "ORDER BY a DESC LIMIT 10")
    yield ask("`ORDER BY a, v DESC LIMIT 10`, 0.2", "a, v", below(.2), 1 / 8, "ORDER BY a, v DESC LIMIT 10")
    yield ask("`ORDER BY v DESC, g LIMIT 100`, 0.2", "v, g", below(.2), 1 / 3, "ORDER BY v DESC, g LIMIT 100")
    yield ask("`ORDER BY b OFFSET 500 LIMIT 10`, 0.2", "b", below(.2), 1 / 6, "ORDER BY b OFFSET 500 LIMIT 10")
    yield ask("`SELECT v`: OR, NOT, BETWEEN, `<>`, 0.1", "v",
              f"(a < {at(.05)} OR a BETWEEN {at(.5)} AND {at(.55)}) AND NOT b > {at(.1)} "
              f"AND c BETWEEN {at(.4)} AND {at(.5)} AND c <> {at(.45)}", 1 / 10)
    yield ask("count, (a, b 0.2) OR c of 2 %", "count(*)", f"({below(.2, 'ab')}) OR c BETWEEN {at(.5)} AND {at(.52)}", 1 / 8)
    yield ask("count, (a, b 0.2) OR (b, c 0.1) OR g of 3", "count(*)",
              f"({below(.2, 'ab')}) OR ({below(.1, 'bc')}) OR g IN (3, 5, 8)", 1 / 4)
    yield ask("count, a < 0.5, v of 1,000", "count(*)",
              f"a < {at(.5)} AND v IN ({', '.join(str(7 * n) for n in range(1000))})", 1 / 3)


def of_sums_and_groups():
    yield ask("`count(*)`, 0.01", "count(*)", below(.01))
    yield ask("`sum(v)`, 0.01", "sum(v)", below(.01), 1.3, beside="`count(*)`, 0.01")
    yield ask("`sum(v)`, 0.9", "sum(v)", below(.9), 1 / 5)
    for share, most in ((.2, 1 / 6), (.5, 1 / 4), (.9, 1 / 2.5)):
        yield ask(f"`count(*), sum(v) GROUP BY g`, {share}", "g, count(*), sum(v)", below(share), most, "GROUP BY g")
    yield ask("`count(*), sum(v) GROUP BY v`, 0.9", "v, count(*), sum(v)", below(.9), 1 / 1.5, "GROUP BY v")
    yield ask("`count(*) GROUP BY v % 10`, 0.5", "v % 10, count(*)", below(.5), 1 / 2.5, "GROUP BY v % 10")
    yield ask("`min`, `max` of a and of v, b and c 0.5", "min(a), max(a), min(v), max(v)", below(.5, "bc"), 1 / 5)
    yield ask("`stddev(v), corr(v, g)`, 0.5", "stddev(v), corr(v, g)", below(.5), 1 / 3)
    yield ask("`sum(v * g + 1), avg(v - g)`, 0.9", "sum(v * g + 1), avg(v - g)", below(.9), 1 / 4)


def of_quantiles_and_distinct_values():
    for column, share in (("v", .2), ("a", .5)):
        yield ask(f"median of {column}, {share}", f"percentile_disc(0.5) WITHIN GROUP (ORDER BY {column})", below(share), 1 / 6,
                  duckdb=f"quantile_disc({column}, 0.5)")
    yield ask("quartiles of v `GROUP BY g`, 0.2", "g, percentile_disc(array[0.25, 0.5, 0.75]) WITHIN GROUP (ORDER BY v)",
              below(.2), 1 / 2, "GROUP BY g", duckdb="g, quantile_disc(v, [0.25, 0.5, 0.75])")
    for column, share, most in (("v", .2, 1 / 5), ("g", .5, 1 / 5), ("a", .5, 1 / 2)):
        yield ask(f"`count(DISTINCT {column})`, {share}", f"count(DISTINCT {column})", below(share), most)


def within(kind, radius):
    """Points around the middle, computed in a type."""
    a, b = (f"({column}::{kind} - {at(.5)})" for column in "ab")
    return f"{a} * {a} + {b} * {b} < {at(radius)}::{kind} * {at(radius)}"


def of_expressions():
    yield ask("count, a < b, c < 0.5", "count(*)", f"a < b AND c < {at(.5)}", 1 / 2)
    yield ask("count, 2a + 3b - c < k (bigint, 19 %)", "count(*)", f"2 * a::bigint + 3 * b::bigint - c < {LARGEST}", 1 / 2)
    for kind in ("bigint", "float8"):
        yield ask(f"count, radius ({kind}, a box of 1 %)", "count(*)", within(kind, .05), 1 / 20)


def of_operations(rows):
    """The queries of Govindaraju et al., "Fast Computation of Database Operations using Graphics Processors" (SIGMOD
    2004).
    """
    first, second, third, last = PACKETS

    def quantile(column, share):
        return int(2 ** (PACKETS[column] * share))

    def packets(name, what, where="true", then="", duckdb=""):
        return ask(name, what, where, 1 / 4, then, duckdb, table="t")

    low = [f"{column} <= {quantile(column, .6)}" for column in PACKETS]
    yield packets("predicate, 60 % (figure 3)", "count(*)", low[0])
    yield packets("range, 60 % (figure 4)", "count(*)", f"{first} BETWEEN {quantile(first, .2)} AND {quantile(first, .8)}")
    for columns in (2, 3, 4):
        yield packets(f"{columns} columns, 60 % each (figure 5)", "count(*)", " AND ".join(low[:columns]))
    yield packets("conjunction of disjunctions (section 4.2)", "count(*)",
                  f"({low[0]} OR {second} <= {quantile(second, .2)}) AND ({low[2]} OR {last} >= {quantile(last, .8)})")
    yield packets("two columns compared (section 4.1)", "count(*)", f"{first} < {third}")
    yield packets("semi-linear, four columns (figure 6)", "count(*)",
                  f"0.7::float8 * {first} + 0.2::float8 * {second} - 0.4::float8 * {third} + 1.9::float8 * {last} < 1000")
    yield packets("polynomial (section 4.1)", "count(*)", f"{second}::float8 * {second} + {last}::float8 * {last} < 10000")
    for k in (1, 1000, rows // 4):
        yield packets(f"{k:,}th largest (figure 7)", first, then=f"ORDER BY {first} DESC OFFSET {k - 1} LIMIT 1")
    median, quantile_of = f"percentile_disc(0.5) WITHIN GROUP (ORDER BY {first})", f"quantile_disc({first}, 0.5)"
    yield packets("median (figure 8)", median, duckdb=quantile_of)
    yield packets("median of 80 % (figure 9)", median, f"{second} <= {quantile(second, .8)}", duckdb=quantile_of)
    yield packets("sum (figure 10)", f"sum({first})")
    yield packets("sum of 60 % (section 5.11)", f"sum({first})", f"{second} <= {quantile(second, .6)}")


def of_lineitem():
    sql = {query.case: query.sql for query in aggregates.LINEITEM}
    yield Question("TPC-H Q6", sql["Q6"], 1 / 12)
    yield Question("TPC-H Q1", sql["Q1"], 1 / 1.5)


def of_keys(rows):
    """Lists of keys, compared with DuckDB's joins; and keys of another table's rows, looked up one by one."""
    others = f"b < {at(.5)} AND c < {at(.5)}"
    for name, most in (("few", 1 / 8), ("many", 1 / 3)):
        keys = [n * PRIME % rows for n in range(1, max(1, rows // KEY_TABLES[name]) + 1)]
        number = f"{len(keys):,}"
        selected = f"SELECT count(*), sum(v) FROM t WHERE k IN (SELECT k FROM {name}) AND {others}"
        listed = f"SELECT count(*), sum(v) FROM t WHERE k = ANY ('{{{','.join(map(str, keys))}}}'::int4[]) AND {others}"
        yield Question(f"`= ANY` of {number}, b and c 0.5", listed, most, selected)
        yield Question(f"`IN (SELECT ...)` of {number}, b and c 0.5", selected, most)
    yield Question(f"`sum(v)` of {max(1, rows // KEY_TABLES['many']):,} keys of another table", "SELECT count(*), sum(v) FROM many JOIN t USING (k)")
    number = f"{max(1, rows // KEY_TABLES['most']):,}"
    yield Question(f"`sum(v)` of {number} keys of another table", "SELECT count(*), sum(v) FROM most JOIN t USING (k)")
    yield Question(f"`sum(v * n)` of {number} keys, `unnest` with their places",
                   "SELECT count(*), sum(v * n) FROM unnest(ARRAY(SELECT k FROM most ORDER BY n)) WITH ORDINALITY AS u (k, n) JOIN t USING (k)",
                   duckdb="SELECT count(*), sum(v::int8 * n) FROM most JOIN t USING (k)")
    yield Question(f"v of {number} keys, `unnest` with their places",
                   "SELECT n, v FROM unnest(ARRAY(SELECT k FROM most ORDER BY n)) WITH ORDINALITY AS u (k, n) JOIN t USING (k)",
                   duckdb="SELECT n, v FROM most JOIN t USING (k)")


def asked_alike(queries, most=None):
    """Return queries that are the same for both systems."""
    return [Question(name, sql, most) for name, sql in queries]


def flights_and_airports(rows):
    yield Table("flights", DATA_SETS["flights"].definition.replace("char(3)", "text"), "")
    yield Table("airports", "iata text, name text, city text, state text, country text, latitude float8, longitude float8", "")


def named(indexes):
    """Return (suffix of its name, index) for an index, or for each of several."""
    return [("", indexes)] if isinstance(indexes, str) else [(f"_{number}", index) for number, index in enumerate(indexes)]


def create_indexes(method, **columns):
    """Yield statements that create an index, or several, on each table, by its name."""
    return tuple(f"CREATE INDEX {table}_{method}{number} ON {table} USING {method} {index}" for table, indexes in columns.items()
                 for number, index in named(indexes))


def primary_keys(**columns):
    return tuple(f"ALTER TABLE {table} ADD PRIMARY KEY ({key})" for table, key in columns.items())


def partition(table, column, bounds):
    """Move a table's rows to partitions by ranges of a column."""
    yield f"ALTER TABLE {table} RENAME TO whole"
    yield f"CREATE TABLE {table} (LIKE whole) PARTITION BY RANGE ({column})"
    for low, high in zip(bounds, bounds[1:]):
        yield f"CREATE TABLE {table}_{low} PARTITION OF {table} FOR VALUES FROM ({low}) TO ({high})"
    yield f"INSERT INTO {table} SELECT * FROM whole"
    yield "DROP TABLE whole"


STAR_INDEXES = (
    *primary_keys(date="d_datekey", customer="c_custkey", supplier="s_suppkey", part="p_partkey"),
    *create_indexes("btree", lineorder=("(lo_orderdate)", "(lo_custkey)", "(lo_partkey)", "(lo_suppkey)")),
    *create_indexes("rtscan",
                    lineorder="(lo_orderdate, lo_custkey, lo_partkey, lo_suppkey, lo_quantity, lo_discount)"
                              " INCLUDE (lo_extendedprice, lo_revenue, lo_supplycost, lo_discount)",
                    customer="(c_region, c_nation, c_city) INCLUDE (c_custkey)",
                    supplier="(s_region, s_nation, s_city) INCLUDE (s_suppkey)",
                    part="(p_category, p_mfgr, p_brand1) INCLUDE (p_partkey)"))
STAR_ON_DEVICE_INDEXES = tuple(statement for statement in STAR_INDEXES if "lineorder_btree" not in statement)
YEARS = tuple(partition("lineorder", "lo_orderdate", [year * 10000 for year in range(1992, 2000)]))
TPCH_INDEXES = (
    *primary_keys(region="r_regionkey", nation="n_nationkey", supplier="s_suppkey", customer="c_custkey", part="p_partkey",
                  orders="o_orderkey", lineitem="l_orderkey, l_linenumber"),
    *create_indexes("btree", lineitem=("(l_partkey)", "(l_suppkey)", "(l_shipdate)", "(l_receiptdate)"),
                    orders=("(o_custkey)", "(o_orderdate)"), customer="(c_nationkey)", supplier="(s_nationkey)"),
    *create_indexes("rtscan",
                    lineitem="(l_orderkey, l_partkey, l_suppkey, l_shipdate, l_commitdate, l_receiptdate, l_quantity, l_discount,"
                             " l_returnflag, l_shipmode, l_shipinstruct) INCLUDE (l_extendedprice, l_discount, l_quantity)",
                    orders="(o_orderkey, o_custkey, o_orderdate, o_orderpriority) INCLUDE (o_shippriority)",
                    customer="(c_custkey, c_nationkey, c_mktsegment)", supplier="(s_suppkey, s_nationkey)",
                    part="(p_partkey, p_brand, p_container, p_size, p_type)"))

W = {"rows": 10_000_000, "tables": alone("wide", "w"), "indexes": ("CREATE INDEX ON w USING rtscan (a, b, c) INCLUDE (v, g)",)}
LINEITEM = {"rows": 6_001_215, "tables": alone("lineitem", "t"),
            "indexes": ("CREATE INDEX ON t USING rtscan (l_shipdate, l_discount, l_quantity)"
                        " INCLUDE (l_extendedprice, l_tax, l_returnflag, l_linestatus)",)}
POSTGRES = {"PostgreSQL without rtscan": WITHOUT_RTSCAN}
# by name, a device has all columns from the first query on, while "auto" puts them there when that pays
EXECUTORS = {"rtscan, cpu": "SET rtscan.executor = cpu", "rtscan, compute": "SET rtscan.executor = compute"}
LOOKUPS = {"nested loop, btree": f"{SWITCHED_OFF}; SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_seqscan = off",
           "nested loop, RtscanScan": "SET rtscan.enable_star = off; SET rtscan.enable_aggregate = off; SET enable_hashjoin = off;"
                                      " SET enable_mergejoin = off; SET enable_bitmapscan = off; SET enable_indexscan = off;"
                                      " SET enable_indexonlyscan = off",
           "hash join": f"{SWITCHED_OFF}; SET enable_nestloop = off; SET enable_mergejoin = off"}
SETS = {
    "rows": Questions(**W, questions=lambda rows: of_rows()),
    "aggregates": Questions(**W, questions=lambda rows: (*of_sums_and_groups(), *of_quantiles_and_distinct_values(), *of_expressions())),
    "lineitem": Questions(**LINEITEM, questions=lambda rows: of_lineitem()),
    "operations": Questions(10_000_000, alone("packets", "t"), (f"CREATE INDEX ON t USING rtscan ({', '.join(PACKETS)})",), of_operations),
    "star": Questions(6_001_215, SCHEMAS["star"], STAR_INDEXES, lambda rows: asked_alike(joins.STAR, 1 / 3), POSTGRES),
    "star-on-device": Questions(60_012_150, SCHEMAS["star"], STAR_ON_DEVICE_INDEXES, lambda rows: asked_alike(joins.STAR, 1 / 10), EXECUTORS),
    "partitions": Questions(6_001_215, SCHEMAS["star"], (*YEARS, *STAR_INDEXES), lambda rows: asked_alike(joins.STAR, 1 / 3), POSTGRES),
    "tpch": Questions(6_001_215, SCHEMAS["tpch"], TPCH_INDEXES, lambda rows: asked_alike(joins.TPCH), POSTGRES),
    "keys": Questions(10_000_000, SCHEMAS["keyed"],
                      (*create_indexes("btree", t="(k) INCLUDE (v)"), *create_indexes("rtscan", t="(k, b, c) INCLUDE (v)")), of_keys, LOOKUPS),
    "flights": Questions(2_800_000, flights_and_airports,
                         (*primary_keys(airports="iata"), *create_indexes("btree", flights=("(origin)", "(destination)")),
                          *create_indexes("rtscan", flights="(origin, destination, distance, delay, minute) INCLUDE (date)")),
                         lambda rows: asked_alike(joins.FLIGHTS), POSTGRES),
}
