"""The aggregate queries: for each data set an index with all their columns, and the queries themselves."""
from dataclasses import dataclass

from generate import Q6


@dataclass(frozen=True)
class Aggregate:
    family: str
    case: str
    sql: str

    def rows(self, answer):
        """Return the number of rows in an answer."""
        return len(answer)


@dataclass(frozen=True)
class Workload:
    """Columns to search or group by, those most useful to a btree first; columns to aggregate; and queries."""
    keys: tuple
    payload: tuple
    queries: tuple


def family(name, *queries):
    return tuple(Aggregate(name, case, sql.strip()) for case, sql in queries)


LINEITEM = family(
    "lineitem",
    ("Q6", f"SELECT sum(l_extendedprice * l_discount) FROM t WHERE {Q6}"),
    ("Q3, lineitem", """
SELECT count(*), sum(l_extendedprice * (1 - l_discount)) FROM t
WHERE l_shipdate > date '1995-03-15'"""),
    ("like Q17", """
SELECT sum(l_extendedprice), avg(l_quantity) FROM t
WHERE l_quantity < 5 AND l_partkey BETWEEN 1000 AND 3000"""),
    ("Q1", """
SELECT l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice), sum(l_extendedprice * (1 - l_discount)),
       sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)), avg(l_quantity), avg(l_extendedprice), avg(l_discount),
       count(*)
FROM t WHERE l_shipdate <= date '1998-09-02'
GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus"""),
)

SSB = (
    *family(
        "Q1",
        ("Q1.1", """
SELECT sum(lo_extendedprice * lo_discount) AS revenue FROM t
WHERE d_year = 1993 AND lo_discount BETWEEN 1 AND 3 AND lo_quantity < 25"""),
        ("Q1.2", """
SELECT sum(lo_extendedprice * lo_discount) AS revenue FROM t
WHERE d_yearmonthnum = 199401 AND lo_discount BETWEEN 4 AND 6 AND lo_quantity BETWEEN 26 AND 35"""),
        ("Q1.3", """
SELECT sum(lo_extendedprice * lo_discount) AS revenue FROM t
WHERE d_weeknuminyear = 6 AND d_year = 1994 AND lo_discount BETWEEN 5 AND 7 AND lo_quantity BETWEEN 26 AND 35""")),
    *family(
        "Q2",
        ("Q2.1", """
SELECT sum(lo_revenue), d_year, p_brand FROM t
WHERE p_category = 'MFGR#12' AND s_region = 'AMERICA'
GROUP BY d_year, p_brand ORDER BY d_year, p_brand"""),
        ("Q2.2", """
SELECT sum(lo_revenue), d_year, p_brand FROM t
WHERE p_brand BETWEEN 'MFGR#2221' AND 'MFGR#2228' AND s_region = 'ASIA'
GROUP BY d_year, p_brand ORDER BY d_year, p_brand"""),
        ("Q2.3", """
SELECT sum(lo_revenue), d_year, p_brand FROM t
WHERE p_brand = 'MFGR#2239' AND s_region = 'EUROPE'
GROUP BY d_year, p_brand ORDER BY d_year, p_brand""")),
    *family(
        "Q3",
        ("Q3.1", """
SELECT c_nation, s_nation, d_year, sum(lo_revenue) AS revenue FROM t
WHERE c_region = 'ASIA' AND s_region = 'ASIA' AND d_year BETWEEN 1992 AND 1997
GROUP BY c_nation, s_nation, d_year ORDER BY d_year, revenue DESC"""),
        ("Q3.2", """
SELECT c_city, s_city, d_year, sum(lo_revenue) AS revenue FROM t
WHERE c_nation = 'UNITED STATES' AND s_nation = 'UNITED STATES' AND d_year BETWEEN 1992 AND 1997
GROUP BY c_city, s_city, d_year ORDER BY d_year, revenue DESC"""),
        ("Q3.3", """
SELECT c_city, s_city, d_year, sum(lo_revenue) AS revenue FROM t
WHERE (c_city = 'UNITED KI1' OR c_city = 'UNITED KI5') AND (s_city = 'UNITED KI1' OR s_city = 'UNITED KI5')
  AND d_year BETWEEN 1992 AND 1997
GROUP BY c_city, s_city, d_year ORDER BY d_year, revenue DESC"""),
        ("Q3.4", """
SELECT c_city, s_city, d_year, sum(lo_revenue) AS revenue FROM t
WHERE (c_city = 'UNITED KI1' OR c_city = 'UNITED KI5') AND (s_city = 'UNITED KI1' OR s_city = 'UNITED KI5')
  AND d_yearmonthnum = 199712
GROUP BY c_city, s_city, d_year ORDER BY d_year, revenue DESC""")),
    *family(
        "Q4",
        ("Q4.1", """
SELECT d_year, c_nation, sum(lo_revenue - lo_supplycost) AS profit FROM t
WHERE c_region = 'AMERICA' AND s_region = 'AMERICA' AND (p_mfgr = 'MFGR#1' OR p_mfgr = 'MFGR#2')
GROUP BY d_year, c_nation ORDER BY d_year, c_nation"""),
        ("Q4.2", """
SELECT d_year, s_nation, p_category, sum(lo_revenue - lo_supplycost) AS profit FROM t
WHERE c_region = 'AMERICA' AND s_region = 'AMERICA' AND (d_year = 1997 OR d_year = 1998)
  AND (p_mfgr = 'MFGR#1' OR p_mfgr = 'MFGR#2')
GROUP BY d_year, s_nation, p_category ORDER BY d_year, s_nation, p_category"""),
        ("Q4.3", """
SELECT d_year, s_city, p_brand, sum(lo_revenue - lo_supplycost) AS profit FROM t
WHERE s_nation = 'UNITED STATES' AND (d_year = 1997 OR d_year = 1998) AND p_category = 'MFGR#14'
GROUP BY d_year, s_city, p_brand ORDER BY d_year, s_city, p_brand""")),
)

FLIGHTS = family(
    "flights",
    ("far and late, by origin", """
SELECT origin, count(*), avg(delay) FROM t
WHERE distance > 1000 AND delay > 60
GROUP BY origin ORDER BY origin"""),
    ("evening, by destination", """
SELECT destination, count(*), avg(delay) FROM t
WHERE minute BETWEEN 1020 AND 1200
GROUP BY destination ORDER BY destination"""),
    ("worst early and far", """
SELECT min(delay), max(delay) FROM t
WHERE distance > 2000 AND minute < 480"""),
    ("miles of three ranges", """
SELECT sum(distance) FROM t
WHERE distance BETWEEN 500 AND 1000 AND delay > 60 AND minute BETWEEN 1020 AND 1200"""),
    ("very late, by distance", """
SELECT distance, count(*) FROM t
WHERE delay > 300
GROUP BY distance ORDER BY distance"""),
    ("a week, by origin", """
SELECT origin, count(*), sum(distance), max(delay) FROM t
WHERE date >= timestamp '2001-01-05' AND date < timestamp '2001-01-12'
GROUP BY origin ORDER BY origin"""),
)

WORKLOADS = {
    "lineitem": Workload(("l_shipdate", "l_discount", "l_quantity", "l_partkey", "l_returnflag", "l_linestatus"),
                         ("l_extendedprice", "l_discount", "l_quantity", "l_tax"), LINEITEM),
    "ssb": Workload(("d_year", "s_region", "c_region", "p_mfgr", "p_category", "p_brand", "s_nation", "c_nation",
                     "s_city", "c_city", "d_yearmonthnum", "d_weeknuminyear", "lo_discount", "lo_quantity"),
                    ("lo_extendedprice", "lo_revenue", "lo_supplycost", "lo_discount"), SSB),
    "flights": Workload(("distance", "delay", "minute", "origin", "destination", "date"), ("delay", "distance"),
                        FLIGHTS),
}
