"""Tables of TPC-H and of the Star Schema Benchmark, generated in PostgreSQL.

They have dbgen's distributions, but not its random numbers, and only the columns that queries use. A comment is as
long as everything that is left out, so that rows have the usual width.
"""
import math
from dataclasses import dataclass
from typing import Callable

SCALE_FACTOR_1 = 6_001_215
NATIONS = {
    "AFRICA": ("ALGERIA", "ETHIOPIA", "KENYA", "MOROCCO", "MOZAMBIQUE"),
    "AMERICA": ("ARGENTINA", "BRAZIL", "CANADA", "PERU", "UNITED STATES"),
    "ASIA": ("CHINA", "INDIA", "INDONESIA", "JAPAN", "VIETNAM"),
    "EUROPE": ("FRANCE", "GERMANY", "ROMANIA", "RUSSIA", "UNITED KINGDOM"),
    "MIDDLE EAST": ("EGYPT", "IRAN", "IRAQ", "JORDAN", "SAUDI ARABIA"),
}
FIRST_DAY, ORDER_DAYS = "date '1992-01-01'", 2406

LINEITEM = """l_orderkey int8, l_partkey int4, l_suppkey int4, l_linenumber int4, l_quantity numeric(15,2),
    l_extendedprice numeric(15,2), l_discount numeric(15,2), l_tax numeric(15,2), l_returnflag char(1),
    l_linestatus char(1), l_shipdate date, l_commitdate date, l_receiptdate date"""
LINEORDER_FLAT = """lo_quantity int4, lo_discount int4, lo_extendedprice int4, lo_revenue int4, lo_supplycost int4,
    d_year int4, d_yearmonthnum int4, d_weeknuminyear int4, p_mfgr text, p_category text, p_brand text,
    s_region text, s_nation text, s_city text, c_region text, c_nation text, c_city text"""


@dataclass(frozen=True)
class Table:
    """A table's definition, and the SELECT that makes its rows, which may read the tables before it."""
    name: str
    definition: str
    rows: str
    some_rows: Callable = None  # for large tables: the SELECT that makes that many rows, for one of several sessions


def up_to(number):
    """Return a random number from 0, below this one."""
    return f"floor(random() * {number})::int4"


def one_of(texts):
    return f"(ARRAY{list(texts)})[1 + {up_to(len(texts))}]"


def region_of(nation):
    """Return a nation's region, by the nation's number from 0: five for each region."""
    return f"(ARRAY{list(NATIONS)})[1 + {nation} / 5]"


def nation_name(nation):
    return f"(ARRAY{[name for nations in NATIONS.values() for name in nations]})[1 + {nation}]"


def comment(length):
    return f"repeat('.', {length})"


def scaled(rows, at_scale_1, least=1):
    """Return the number of rows of another table for that many rows in lineitem or lineorder."""
    return max(least, round(at_scale_1 * rows / SCALE_FACTOR_1))


# ---- TPC-H

def lines(orders, rows, more=""):
    """Yield lines of orders, each of which has a key, a date and a number of lines; more are further columns of a
    line.
    """
    parts, suppliers = scaled(rows, 200_000), scaled(rows, 10_000, 4)
    return f"""
SELECT orderkey, partkey, (partkey + nth_supplier * ({suppliers} / 4 + (partkey - 1) / {suppliers})) % {suppliers} + 1,
       linenumber, quantity, quantity * (90000 + partkey / 10 % 20001 + 100 * (partkey % 1000)) / 100.0,
       discount / 100.0, tax / 100.0,
       CASE WHEN shipdate + in_transit > '1995-06-17' THEN 'N' WHEN coin < 0.5 THEN 'R' ELSE 'A' END,
       CASE WHEN shipdate > '1995-06-17' THEN 'O' ELSE 'F' END, shipdate, commitdate, shipdate + in_transit{more}
FROM (SELECT orderkey, linenumber, 1 + {up_to(parts)} AS partkey, {up_to(4)} AS nth_supplier, 1 + {up_to(50)} AS quantity,
             {up_to(11)} AS discount, {up_to(9)} AS tax, orderdate + 1 + {up_to(121)} AS shipdate,
             orderdate + 30 + {up_to(61)} AS commitdate, 1 + {up_to(30)} AS in_transit, random() AS coin
      FROM ({orders}) AS orders, generate_series(1, lines) AS linenumber) AS line"""


def order_key(number):
    """Return the key of an order: eight of 32 numbers are used."""
    return f"{number} / 8 * 32 + {number} % 8"


def lineitem(first, last):
    """Return that many rows of TPC-H's lineitem alone."""
    first_order, orders = 1 + first * 26 // 100, (last - first + 1) * 26 // 100 + 100
    return lines(f"""SELECT {order_key("number")} AS orderkey, 1 + {up_to(7)} AS lines,
                    {FIRST_DAY} + {up_to(ORDER_DAYS)} AS orderdate
             FROM generate_series({first_order}::int8, {first_order + orders}) AS number""", last) + f" LIMIT {last - first + 1}"


SEGMENTS = "AUTOMOBILE", "BUILDING", "FURNITURE", "MACHINERY", "HOUSEHOLD"
PRIORITIES = "1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"
MODES = "REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"
INSTRUCTIONS = "DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"
TYPES = (("STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO"), ("ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED"),
         ("TIN", "NICKEL", "BRASS", "STEEL", "COPPER"))
CONTAINERS = (("SM", "LG", "MED", "JUMBO", "WRAP"), ("CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM"))


def words(lists):
    return " || ' ' || ".join(one_of(texts) for texts in lists)


def tpch(rows):
    """Yield all tables except partsupp, for approximately that many rows in lineitem."""
    orders, customers = scaled(rows, 1_500_000), scaled(rows, 150_000, 3)
    yield Table("region", "r_regionkey int4, r_name text, r_comment text",
                f"SELECT n, {region_of('5 * n')}, {comment(66)} FROM generate_series(0, 4) AS n")
    yield Table("nation", "n_nationkey int4, n_name text, n_regionkey int4, n_comment text",
                f"SELECT n, {nation_name('n')}, n / 5, {comment(75)} FROM generate_series(0, 24) AS n")
    yield Table("supplier", "s_suppkey int4, s_nationkey int4, s_acctbal numeric(15,2), s_comment text",
                f"SELECT n, {up_to(25)}, random() * 10998.99 - 999.99, {comment(120)}"
                f" FROM generate_series(1, {scaled(rows, 10_000, 4)}) AS n")
    yield Table("customer", "c_custkey int4, c_name text, c_address text, c_nationkey int4, c_phone text, c_acctbal numeric(15,2),"
                            " c_mktsegment text, c_comment text",
                f"SELECT n, 'Customer#' || lpad(n::text, 9, '0'), substr(md5(n::text), 1, 25), {up_to(25)},"
                f" 10 + {up_to(25)} || '-' || n, random() * 10998.99 - 999.99, {one_of(SEGMENTS)}, {comment(73)}"
                f" FROM generate_series(1, {customers}) AS n")
    yield Table("part", "p_partkey int4, p_brand text, p_type text, p_size int4, p_container text, p_comment text",
                f"SELECT n, 'Brand#' || 1 + {up_to(5)} || 1 + {up_to(5)}, {words(TYPES)}, 1 + {up_to(50)}, {words(CONTAINERS)},"
                f" {comment(80)} FROM generate_series(1, {scaled(rows, 200_000)}) AS n")
    yield Table("orders", "o_orderkey int8, o_custkey int4, o_orderdate date, o_orderpriority text, o_shippriority int4, o_comment text",
                # a third of the customers never orders
                f"SELECT {order_key('n')}, 1 + 3 * {up_to(customers // 3)} + {up_to(2)}, {FIRST_DAY} + {up_to(ORDER_DAYS)},"
                f" {one_of(PRIORITIES)}, 0, {comment(73)} FROM generate_series(1::int8, {orders}) AS n")
    yield Table("lineitem", f"{LINEITEM}, l_shipinstruct text, l_shipmode text, l_comment text",
                lines(f"SELECT o_orderkey AS orderkey, 1 + {up_to(7)} AS lines, o_orderdate AS orderdate FROM orders", rows,
                      f", {one_of(INSTRUCTIONS)}, {one_of(MODES)}, {comment(27)}"))


# ---- the Star Schema Benchmark

def city_name(city):
    """Return a city's name by its number from 0: ten for each nation."""
    return f"rpad({nation_name(f'{city} / 10')}, 9) || {city} % 10"


def category(brand):
    """Return a category by the brand's number from 0: forty for each category, five of which are a manufacturer's."""
    return f"'MFGR#' || 1 + {brand} / 200 || 1 + {brand} / 40 % 5"


def brand_name(brand):
    return f"{category(brand)} || lpad((1 + {brand} % 40)::text, 2, '0')"


def lineorder_flat(first, last):
    """Return the Star Schema Benchmark's lineorder joined with its dimensions. An order has one customer and date,
    and one to seven lines.
    """
    rows = last - first + 1

    def place(city):
        return f"{region_of(f'{city} / 10')}, {nation_name(f'{city} / 10')}, {city_name(city)}"

    return f"""
SELECT quantity, discount, quantity * price, quantity * price * (100 - discount) / 100, 6 * price / 10,
       extract(year FROM orderdate)::int4, to_char(orderdate, 'YYYYMM')::int4,
       1 + (extract(doy FROM orderdate)::int4 - 1) / 7, 'MFGR#' || 1 + brand / 200, {category("brand")}, {brand_name("brand")},
       {place("s_city")}, {place("c_city")}
FROM (SELECT *, 90000 + part / 10 % 20001 + 100 * (part % 1000) AS price
      FROM (SELECT orderdate, c_city, {up_to(250)} AS s_city, {up_to(1000)} AS brand, 1 + {up_to(200000)} AS part,
                   1 + {up_to(50)} AS quantity, {up_to(11)} AS discount
            FROM (SELECT {FIRST_DAY} + {up_to(ORDER_DAYS)} AS orderdate, {up_to(250)} AS c_city, 1 + {up_to(7)} AS lines
                  FROM generate_series(1, {rows * 26 // 100 + 100})) AS orders, generate_series(1, lines)
            LIMIT {rows}) AS line) AS priced_line"""


def place(prefix, count):
    """Return customers or suppliers."""
    return (f"{prefix}_city text, {prefix}_nation text, {prefix}_region text",
            f"SELECT n, {city_name('city')}, {nation_name('city / 10')}, {region_of('city / 10')}"
            f" FROM (SELECT n, {up_to(250)} AS city FROM generate_series(1, {count}) AS n) AS placed")


def star(rows):
    """Yield lineorder with that many rows, and its dimensions."""
    scale = rows / SCALE_FACTOR_1
    customers, suppliers = scaled(rows, 30_000, 250), scaled(rows, 2_000, 250)
    parts = round(200_000 * (1 + math.log2(scale))) if scale > 1 else scaled(rows, 200_000, 1000)
    yield Table("date", "d_datekey int4, d_year int4, d_yearmonthnum int4, d_yearmonth text, d_weeknuminyear int4",
                "SELECT to_char(day, 'YYYYMMDD')::int4, extract(year FROM day)::int4, to_char(day, 'YYYYMM')::int4,"
                " to_char(day, 'MonYYYY'), 1 + (extract(doy FROM day)::int4 - 1) / 7"
                f" FROM (SELECT {FIRST_DAY} + n AS day FROM generate_series(0, 2556) AS n) AS days")
    for name, prefix, count in (("customer", "c", customers), ("supplier", "s", suppliers)):
        columns, places = place(prefix, count)
        yield Table(name, f"{prefix}_{name[:4]}key int4, {columns}", places)
    yield Table("part", "p_partkey int4, p_mfgr text, p_category text, p_brand1 text",
                f"SELECT n, 'MFGR#' || 1 + brand / 200, {category('brand')}, {brand_name('brand')}"
                f" FROM (SELECT n, {up_to(1000)} AS brand FROM generate_series(1, {parts}) AS n) AS branded")

    def lines(some):
        return f"""
SELECT customer, part, supplier, day, quantity, quantity * price, discount, quantity * price * (100 - discount) / 100, 6 * price / 10
FROM (SELECT *, 90000 + part / 10 % 20001 + 100 * (part % 1000) AS price
      FROM (SELECT customer, day, 1 + {up_to(parts)} AS part, 1 + {up_to(suppliers)} AS supplier, 1 + {up_to(50)} AS quantity,
                   {up_to(11)} AS discount
            FROM (SELECT 1 + {up_to(customers)} AS customer, to_char({FIRST_DAY} + {up_to(ORDER_DAYS)}, 'YYYYMMDD')::int4 AS day,
                         1 + {up_to(7)} AS lines
                  FROM generate_series(1, {some * 26 // 100 + 100})) AS orders, generate_series(1, lines)
            LIMIT {some}) AS line) AS priced_line"""

    yield Table("lineorder", "lo_custkey int4, lo_partkey int4, lo_suppkey int4, lo_orderdate int4, lo_quantity int4,"
                             " lo_extendedprice int4, lo_discount int4, lo_revenue int4, lo_supplycost int4",
                lines(rows), lines)


SCHEMAS = {"star": star, "tpch": tpch}
