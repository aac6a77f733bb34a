"""The queries: counts with conjunctions of ranges, with a known selectivity for each column."""
from dataclasses import dataclass

SELECTIVITIES = (0.01, 0.1, 0.2, 0.5, 0.9)
FACTORS = (0.985, 1.005, 1.01)  # so that a column's selectivity is not exactly 1/2, where equi-depth bins meet


@dataclass(frozen=True)
class Query:
    family: str
    case: str
    predicate: str

    @property
    def sql(self):
        return f"SELECT count(*) FROM t WHERE {self.predicate}"

    def rows(self, answer):
        """Return the number of matching rows."""
        return int(answer[0][0])


def quantiles(cursor, columns):
    """Return {(column, selectivity): (upper edge of a one-sided range, lower and upper edge of one around the
    median)}.
    """
    parts = [[selectivity * factor for selectivity in SELECTIVITIES] for factor in FACTORS]
    edges = [[edge for part in of_column for edge in (part, 0.5 - part / 2, 0.5 + part / 2)] for of_column in parts]
    cursor.execute("SET work_mem = '1GB'")
    found = ", ".join(f"percentile_disc(%s::float8[]) WITHIN GROUP (ORDER BY {column})::text[]" for column in columns)
    cursor.execute(f"SELECT {found} FROM t", edges)
    found = cursor.fetchone()
    cursor.execute("RESET work_mem")
    return {(column, selectivity): values[3 * i:3 * i + 3]
            for column, values in zip(columns, found) for i, selectivity in enumerate(SELECTIVITIES)}


def below(columns, values, selectivity):
    return " AND ".join(f"{column} <= '{values[column, selectivity][0]}'" for column in columns)


def between(columns, values, selectivity):
    edges = {column: values[column, selectivity][1:] for column in columns}
    return " AND ".join(f"{column} BETWEEN '{low}' AND '{high}'" for column, (low, high) in edges.items())


def range_queries(columns, values):
    """Yield one-sided and two-sided ranges on all columns, and one-sided ranges on the last two."""
    families = (("one-sided", below, columns), ("two-sided", between, columns),
                ("last two columns", below, columns[1:]))
    return [Query(family, f"{selectivity:g}", predicate(used, values, selectivity))
            for family, predicate, used in families for selectivity in SELECTIVITIES]


def point_query(cursor, column):
    """Return a query for the rarest of some sampled values of the column: a single row if values are unique."""
    cursor.execute(f"SELECT {column}::text FROM (SELECT {column} FROM t TABLESAMPLE BERNOULLI (1) REPEATABLE (1)"
                   f" WHERE {column} IS NOT NULL LIMIT 1000) AS sample GROUP BY {column}"
                   f" ORDER BY count(*), md5({column}::text) LIMIT 1")
    return Query("other", "point lookup", f"{column} = '{cursor.fetchone()[0]}'")


def all_queries(cursor, data_set):
    queries = range_queries(data_set.columns, quantiles(cursor, data_set.columns))
    queries.append(point_query(cursor, data_set.columns[0]))
    return queries + [Query("other", name, predicate) for name, predicate in data_set.extra_queries]
