#!/usr/bin/python3
"""Data sets, generated inside PostgreSQL.

As a command it prints the SQL:  generate.py lineitem --rows 1000000 | psql mydb
"""
import argparse
import io
from dataclasses import dataclass
from itertools import islice
from typing import Callable

LARGEST = 2**31 - 1
THREE_INTEGERS = "a int4, b int4, c int4"
LINEITEM = """l_orderkey int8, l_partkey int4, l_suppkey int4, l_linenumber int4, l_quantity numeric(15,2),
    l_extendedprice numeric(15,2), l_discount numeric(15,2), l_tax numeric(15,2), l_returnflag char(1),
    l_linestatus char(1), l_shipdate date, l_commitdate date, l_receiptdate date"""
Q6 = ("l_shipdate >= '1994-01-01' AND l_shipdate < '1995-01-01'"
      " AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24")

LINEORDER_FLAT = """lo_quantity int4, lo_discount int4, lo_extendedprice int4, lo_revenue int4, lo_supplycost int4,
    d_year int4, d_yearmonthnum int4, d_weeknuminyear int4, p_mfgr text, p_category text, p_brand text,
    s_region text, s_nation text, s_city text, c_region text, c_nation text, c_city text"""
NATIONS = {
    "AFRICA": ("ALGERIA", "ETHIOPIA", "KENYA", "MOROCCO", "MOZAMBIQUE"),
    "AMERICA": ("ARGENTINA", "BRAZIL", "CANADA", "PERU", "UNITED STATES"),
    "ASIA": ("CHINA", "INDIA", "INDONESIA", "JAPAN", "VIETNAM"),
    "EUROPE": ("FRANCE", "GERMANY", "ROMANIA", "RUSSIA", "UNITED KINGDOM"),
    "MIDDLE EAST": ("EGYPT", "IRAN", "IRAQ", "JORDAN", "SAUDI ARABIA"),
}

FLIGHT_QUESTIONS = (
    ("late, medium, evening", "distance BETWEEN 500 AND 1000 AND delay > 60 AND minute BETWEEN 1020 AND 1200"),
    ("far, early, morning", "distance > 2000 AND delay < -20 AND minute < 480"),
    ("very late", "delay > 300"),
    ("three distances", "distance IN (337, 867, 1744) AND delay BETWEEN 15 AND 30 AND minute >= 1080"),
    ("far and late", "distance > 1000 AND delay > 0"),
)


@dataclass(frozen=True)
class DataSet:
    """What a table looks like, the three columns that are indexed, and the SELECT that makes rows first..last."""
    definition: str
    columns: tuple
    rows_between: Callable
    extra_queries: tuple = ()  # (name, predicate)


def independent(expression):
    """Three columns drawn independently from one distribution."""
    return lambda first, last: f"SELECT {expression}, {expression}, {expression} FROM generate_series({first}, {last})"


def zipf(exponent):
    """p(k) = k^-exponent / zeta(exponent) for 1 <= k < 2^31: a table of the first values, the integral for the tail."""
    head, terms = 64, 100_000

    def remainder(k):
        """The sum of j^-exponent over j >= k, by the midpoint rule."""
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
    """Columns that follow the heap order: closely, within 10,000 values, within 100,000 values."""
    columns = ", ".join(f"(row / 10 + {noise} * random())::int4" for noise in (100, 10_000, 100_000))
    return f"SELECT {columns} FROM generate_series({first}, {last}) AS row"


def wide(first, last):
    """Three uniform columns, and others that queries want: of 10,000 values, of 100, and text."""
    columns = ", ".join([f"random() * {LARGEST}"] * 3)
    return (f"SELECT {columns}, floor(random() * 10000), floor(random() * 100), 'text ' || floor(random() * 100000)"
            f" FROM generate_series({first}, {last})")


def lineitem(first, last):
    """TPC-H's lineitem with dbgen's distributions, one to seven lines an order."""
    scale = last / 6_001_215
    parts, suppliers = max(1, round(200_000 * scale)), max(4, round(10_000 * scale))
    first_order, orders = 1 + first * 26 // 100, (last - first + 1) * 26 // 100 + 100
    return f"""
SELECT orderkey, partkey, (partkey + nth_supplier * ({suppliers} / 4 + (partkey - 1) / {suppliers})) % {suppliers} + 1,
       linenumber, quantity, quantity * (90000 + partkey / 10 % 20001 + 100 * (partkey % 1000)) / 100.0,
       discount / 100.0, tax / 100.0,
       CASE WHEN shipdate + in_transit > '1995-06-17' THEN 'N' WHEN coin < 0.5 THEN 'R' ELSE 'A' END,
       CASE WHEN shipdate > '1995-06-17' THEN 'O' ELSE 'F' END, shipdate, commitdate, shipdate + in_transit
FROM (SELECT orderkey, linenumber, 1 + floor(random() * {parts})::int4 AS partkey,
             floor(random() * 4)::int4 AS nth_supplier, 1 + floor(random() * 50)::int4 AS quantity,
             floor(random() * 11)::int4 AS discount, floor(random() * 9)::int4 AS tax,
             orderdate + 1 + floor(random() * 121)::int4 AS shipdate,
             orderdate + 30 + floor(random() * 61)::int4 AS commitdate,
             1 + floor(random() * 30)::int4 AS in_transit, random() AS coin
      FROM (SELECT number / 8 * 32 + number % 8 AS orderkey, 1 + floor(random() * 7)::int4 AS lines,
                   date '1992-01-01' + floor(random() * 2406)::int4 AS orderdate
            FROM generate_series({first_order}::int8, {first_order + orders}) AS number) AS orders,
           generate_series(1, lines) AS linenumber
      LIMIT {last - first + 1}) AS line"""


def lineorder_flat(first, last):
    """The Star Schema Benchmark's lineorder joined with its dimensions, with dbgen's distributions: a customer and a
    date an order, and one to seven lines."""
    regions, nations = list(NATIONS), [nation for region in NATIONS.values() for nation in region]
    rows = last - first + 1

    def place(city):
        """Region, nation and city of a number below 250: five nations a region, ten cities a nation."""
        nation = f"(ARRAY{nations})[1 + {city} / 10]"
        return f"(ARRAY{regions})[1 + {city} / 50], {nation}, rpad({nation}, 9) || {city} % 10"

    return f"""
SELECT quantity, discount, quantity * price, quantity * price * (100 - discount) / 100, 6 * price / 10,
       extract(year FROM orderdate)::int4, to_char(orderdate, 'YYYYMM')::int4,
       1 + (extract(doy FROM orderdate)::int4 - 1) / 7, mfgr, category,
       category || lpad((1 + brand % 40)::text, 2, '0'),
       {place("s_city")}, {place("c_city")}
FROM (SELECT *, 90000 + part / 10 % 20001 + 100 * (part % 1000) AS price, 'MFGR#' || 1 + brand / 200 AS mfgr,
             'MFGR#' || 1 + brand / 200 || 1 + brand / 40 % 5 AS category
      FROM (SELECT orderdate, c_city, floor(random() * 250)::int4 AS s_city, floor(random() * 1000)::int4 AS brand,
                   1 + floor(random() * 200000)::int4 AS part, 1 + floor(random() * 50)::int4 AS quantity,
                   floor(random() * 11)::int4 AS discount
            FROM (SELECT date '1992-01-01' + floor(random() * 2406)::int4 AS orderdate,
                         floor(random() * 250)::int4 AS c_city, 1 + floor(random() * 7)::int4 AS lines
                  FROM generate_series(1, {rows * 26 // 100 + 100})) AS orders, generate_series(1, lines)
            LIMIT {rows}) AS line) AS priced_line"""


DATA_SETS = {
    "uniform": DataSet(THREE_INTEGERS, ("a", "b", "c"), independent(f"floor(random() * {LARGEST})::int4")),
    "zipf1.1": DataSet(THREE_INTEGERS, ("a", "b", "c"), zipf(1.1)),
    "zipf1.3": DataSet(THREE_INTEGERS, ("a", "b", "c"), zipf(1.3)),
    "zipf1.5": DataSet(THREE_INTEGERS, ("a", "b", "c"), zipf(1.5)),
    "normal": DataSet(THREE_INTEGERS, ("a", "b", "c"), independent(
        "(2 ^ 30 + 2 ^ 24 * sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()))::int4")),
    "correlated": DataSet(THREE_INTEGERS, ("a", "b", "c"), correlated),
    "wide": DataSet("a int4, b int4, c int4, v int4, g int4, t text", ("a", "b", "c"), wide),
    "lineitem": DataSet(LINEITEM, ("l_shipdate", "l_discount", "l_quantity"), lineitem, (("Q6", Q6),)),
    "ssb": DataSet(LINEORDER_FLAT, ("d_yearmonthnum", "lo_discount", "lo_quantity"), lineorder_flat),
    "flights": DataSet("date timestamp, delay int2, distance int2, minute int2, origin char(3), destination char(3)",
                       ("distance", "delay", "minute"), None, FLIGHT_QUESTIONS),
}


def statements(name, table, first, last):
    """The SQL that creates the table and fills it, the same rows every time."""
    data_set = DATA_SETS[name]
    return [f"CREATE TABLE {table} ({data_set.definition})", f"SELECT setseed({first % 1000 / 1000})",
            f"INSERT INTO {table} {data_set.rows_between(first, last)}"]


def load(cursor, name, table, first, last, file=None):
    """Fill the table: by SQL, or for flights from rows first..last of the file of tools/flights."""
    if DATA_SETS[name].rows_between:
        for statement in statements(name, table, first, last):
            cursor.execute(statement)
    else:
        cursor.execute(f"CREATE TABLE {table} ({DATA_SETS[name].definition})")
        copy_flights(cursor, table, first, last, file)
    cursor.execute(f"VACUUM (ANALYZE, FREEZE) {table}")


def copy_flights(cursor, table, first, last, file):
    """Copy these lines of the file, not counting its header."""
    with open(file, encoding="utf-8") as source:
        lines = io.StringIO("".join(islice(source, first, last + 1)))
    cursor.copy_expert(f"COPY {table} FROM STDIN (FORMAT csv)", lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", choices=[name for name in DATA_SETS if DATA_SETS[name].rows_between])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--table", default="t")
    options = parser.parse_args()
    print(";\n".join(statements(options.data, options.table, 1, options.rows)) + ";")


if __name__ == "__main__":
    main()
