#!/usr/bin/python3
"""Data sets, generated inside PostgreSQL.

As a command it prints the SQL: generate.py lineitem --rows 1000000 | psql mydb
"""
import argparse
import io
import sys
from dataclasses import dataclass
from itertools import islice
from typing import Callable

import tpc
from tpc import LINEITEM, LINEORDER_FLAT, Table, lineitem, lineorder_flat

LARGEST = 2**31 - 1
THREE_INTEGERS = "a int4, b int4, c int4"
Q6 = ("l_shipdate >= '1994-01-01' AND l_shipdate < '1995-01-01'"
      " AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24")

FLIGHT_QUESTIONS = (
    ("late, medium, evening", "distance BETWEEN 500 AND 1000 AND delay > 60 AND minute BETWEEN 1020 AND 1200"),
    ("far, early, morning", "distance > 2000 AND delay < -20 AND minute < 480"),
    ("very late", "delay > 300"),
    ("three distances", "distance IN (337, 867, 1744) AND delay BETWEEN 15 AND 30 AND minute >= 1080"),
    ("far and late", "distance > 1000 AND delay > 0"),
)


@dataclass(frozen=True)
class DataSet:
    """A table's definition, the three columns that are indexed, and the SELECT that makes rows first..last."""
    definition: str
    columns: tuple
    rows_between: Callable
    extra_queries: tuple = ()  # (name, predicate)


def independent(expression):
    """Return three columns drawn independently from one distribution."""
    return lambda first, last: f"SELECT {expression}, {expression}, {expression} FROM generate_series({first}, {last})"


def zipf(exponent):
    """p(k) = k^-exponent / zeta(exponent) for 1 <= k < 2^31: a table of the first values, the integral for the tail."""
    head, terms = 64, 100_000

    def remainder(k):
        """Return the sum of j^-exponent over j >= k, by the midpoint rule."""
        return (k - 0.5) ** (1 - exponent) / (exponent - 1)

    zeta = sum(k ** -exponent for k in range(1, terms)) + remainder(terms)
    cumulative, total = [], 0.0
    for k in range(1, head + 1):
        total += k ** -exponent / zeta
        cumulative.append(total)
    largest = 1 - remainder(LARGEST) / zeta
    value = (f"CASE WHEN {{u}} < {total!r} THEN 1 + width_bucket({{u}}, ARRAY{cumulative}::float8[])"
             f" ELSE floor(((1 - {{u}}) * {(exponent - 1) * zeta!r}) ^ {-1 / (exponent - 1)!r} + 0.5)::int4 END")
    columns = ", ".join(value.format(u=u) for u in ("u1", "u2", "u3"))
    uniform = f"random() * {largest!r}"
    return lambda first, last: (
        f"SELECT {columns} FROM (SELECT {uniform} AS u1, {uniform} AS u2, {uniform} AS u3"
        f" FROM generate_series({first}, {last})) AS uniform")


def correlated(first, last):
    """Return columns that follow the heap order: closely, within 10,000 values, within 100,000 values."""
    columns = ", ".join(f"(row / 10 + {noise} * random())::int4" for noise in (100, 10_000, 100_000))
    return f"SELECT {columns} FROM generate_series({first}, {last}) AS row"


def crowded(first, last):
    """Return columns that are within 1 % and 10 % of each other, in random order."""
    near, far = LARGEST // 100, LARGEST // 10
    return (f"SELECT x::int4, (0.99 * x + random() * {near})::int4, (0.9 * x + random() * {far})::int4"
            f" FROM (SELECT random() * {LARGEST} AS x FROM generate_series({first}, {last}) OFFSET 0) AS r")


def wide(first, last):
    """Return three uniform columns, and others for output: of 10,000 values, of 100, and text."""
    columns = ", ".join([f"random() * {LARGEST}"] * 3)
    return (f"SELECT {columns}, floor(random() * 10000), floor(random() * 100), 'text ' || floor(random() * 100000)"
            f" FROM generate_series({first}, {last})")


# Network packets, with bits of each column: similar to the data of the paper of 2004, with high variances.
PACKETS = {"data_count": 19, "data_loss": 12, "flow_rate": 19, "retransmissions": 8}


def packets(first, last):
    """Return columns with as many values in 2^n .. 2^(n+1) for each n."""
    columns = ", ".join(f"floor(2 ^ ({bits} * random()))" for bits in PACKETS.values())
    return f"SELECT {columns} FROM generate_series({first}, {last})"


DATA_SETS = {
    "uniform": DataSet(THREE_INTEGERS, ("a", "b", "c"), independent(f"floor(random() * {LARGEST})::int4")),
    "zipf1.1": DataSet(THREE_INTEGERS, ("a", "b", "c"), zipf(1.1)),
    "zipf1.3": DataSet(THREE_INTEGERS, ("a", "b", "c"), zipf(1.3)),
    "zipf1.5": DataSet(THREE_INTEGERS, ("a", "b", "c"), zipf(1.5)),
    "normal": DataSet(THREE_INTEGERS, ("a", "b", "c"), independent(
        "(2 ^ 30 + 2 ^ 24 * sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()))::int4")),
    "correlated": DataSet(THREE_INTEGERS, ("a", "b", "c"), correlated),
    "crowded": DataSet(THREE_INTEGERS, ("a", "b", "c"), crowded),
    "wide": DataSet("a int4, b int4, c int4, v int4, g int4, t text", ("a", "b", "c"), wide),
    "packets": DataSet(", ".join(f"{column} int4" for column in PACKETS), tuple(PACKETS)[:3], packets),
    "lineitem": DataSet(LINEITEM, ("l_shipdate", "l_discount", "l_quantity"), lineitem, (("Q6", Q6),)),
    "ssb": DataSet(LINEORDER_FLAT, ("d_yearmonthnum", "lo_discount", "lo_quantity"), lineorder_flat),
    "flights": DataSet("date timestamp, delay int2, distance int2, minute int2, origin char(3), destination char(3)",
                       ("distance", "delay", "minute"), None, FLIGHT_QUESTIONS),
}


# Distinct keys in an order that looks random: the n-th row has n * PRIME modulo the number of rows.
PRIME = 2_654_435_761


def scattered(n, rows):
    return f"({n} * {PRIME} % {rows})::int4"


def keyed(rows):
    """Yield a table with a unique key, two columns as in "uniform" and a value; and tables of few, many and most
    keys.
    """
    yield Table("t", "k int4, b int4, c int4, v int4",
                f"SELECT {scattered('n', rows)}, random() * {LARGEST}, random() * {LARGEST}, floor(random() * 10000)"
                f" FROM generate_series(1::int8, {rows}) AS n")
    for name, part in KEY_TABLES.items():
        yield Table(name, "n int4, k int4", f"SELECT n, {scattered('n', rows)} FROM generate_series(1::int8, {max(1, rows // part)}) AS n")


# The tables have one of this many keys.
KEY_TABLES = {"few": 10_000, "many": 100, "most": 10}
# Several tables each; the largest one has the given number of rows.
SCHEMAS = {**tpc.SCHEMAS, "keyed": keyed}


def table_statements(table, seed):
    """Return the SQL that creates a table and fills it with the same rows every time."""
    return [f"CREATE TABLE {table.name} ({table.definition})", f"SELECT setseed({seed % 1000 / 1000})", f"INSERT INTO {table.name} {table.rows}"]


def statements(name, table, first, last):
    data_set = DATA_SETS[name]
    return table_statements(Table(table, data_set.definition, data_set.rows_between(first, last)), first)


def schema_statements(name, rows):
    return [statement for table in SCHEMAS[name](rows) for statement in table_statements(table, 1)]


def load(cursor, name, table, first, last, file=None):
    """Fill the table: by SQL, or for flights with rows first..last of the file that tools/flights writes."""
    if DATA_SETS[name].rows_between:
        for statement in statements(name, table, first, last):
            cursor.execute(statement)
    else:
        cursor.execute(f"CREATE TABLE {table} ({DATA_SETS[name].definition})")
        copy_lines(cursor, table, first, last, file)
    cursor.execute(f"VACUUM (ANALYZE, FREEZE) {table}")


def copy_lines(cursor, table, first, last, file):
    """Copy these lines of the file, not counting its header."""
    if file is None:
        sys.exit("flights come from a file, that tools/flights writes: name it with --file")
    with open(file, encoding="utf-8") as source:
        lines = io.StringIO("".join(islice(source, first, last + 1)))
    cursor.copy_expert(f"COPY {table} FROM STDIN (FORMAT csv)", lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", choices=[name for name in DATA_SETS if DATA_SETS[name].rows_between] + list(SCHEMAS))
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--table", default="t", help="its name, for data of a single one")
    options = parser.parse_args()
    if options.data in SCHEMAS:
        chosen = schema_statements(options.data, options.rows)
    else:
        chosen = statements(options.data, options.table, 1, options.rows)
    print(";\n".join(chosen) + ";")


if __name__ == "__main__":
    main()
