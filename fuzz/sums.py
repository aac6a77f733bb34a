"""Random queries with aggregates of columns and expressions, with or without GROUP BY.

The aggregates are sums, averages, variances, minima, percentiles and others. Their results do not depend on the
order of rows: there are no sums of floats, and nothing depends on which of several equal values represents them.
Variances of floats and regressions are of constants, or of values whose sums are exact.
"""
from dataclasses import dataclass

INTEGERS = ("int2", "int4", "int8")
NUMBERS = INTEGERS + ("numeric", "numeric(12,2)")
FLOATS = ("float4", "float8")
ORDERED = ("oid", "pg_lsn", "money", "text", "varchar(40)", "char(24)", "name", "date", "timestamp", "timestamptz", "time", "timetz",
           "inet", "cidr", "fz_enum", "fz_text", "int4[]", "bytea")
NO_MINIMUM = ("bytea",)
EXACT = NUMBERS[:3] + tuple(t for t in ORDERED if t != "int4[]") + (
    "bool", '"char"', "tid", "xid8", "uuid", "macaddr", "macaddr8", "int4range", "int4multirange", "fz_int", "fz_color", "int4[]",
    "fz_ints", "fz_pair")
VARIANCES = ("variance", "var_samp", "var_pop", "stddev", "stddev_samp", "stddev_pop")
REGRESSIONS = ("covar_pop", "covar_samp", "corr", "regr_avgx", "regr_avgy", "regr_count", "regr_intercept", "regr_r2", "regr_slope",
               "regr_sxx", "regr_sxy", "regr_syy")
BITS = ("bit_and", "bit_or", "bit_xor")
BOOLEANS = ("bool_and", "bool_or", "every")
ZONES = ("Europe/Berlin", "UTC", "America/New_York", "Asia/Kathmandu", "Pacific/Apia", "CET", "+03:30", "Australia/Lord_Howe")
BLIND = ("ci", "blank")                     # collations in which different texts are equal


@dataclass
class Operand:
    """A column of the index, as queries write it."""
    text: str
    sql: str
    exact: bool                             # whether equal values look alike

    @property
    def looks(self):
        """Return an expression for what the values look like, which differs even between some equal values."""
        return f"concat('.', {self.text}, '.') COLLATE \"C\""

    @property
    def whole(self):
        return self.sql in INTEGERS


def operands(schema):
    found = [Operand(key.column.name, key.column.type.sql, key.column.type.sql in EXACT and key.column.collation not in BLIND)
             for key in schema.keys]
    columns = {column.name: column for column in schema.columns}
    for name in schema.include:
        kind = columns[name].type.sql if name in columns else {"id": "int8", "u": "int4"}[name]
        found.append(Operand(name, kind, kind in EXACT and (name not in columns or columns[name].collation not in BLIND)))
    return found


class Sums:
    def __init__(self, rng, schema, condition):
        """condition() returns a literal condition on the key columns."""
        self.rng, self.schema, self.condition = rng, schema, condition

    def number(self, depth=2):
        """Return an expression that is a number and may be out of range."""
        rng = self.rng
        columns = [o for o in operands(self.schema) if o.sql in NUMBERS]
        if not columns:
            return None
        one = rng.choice(columns)
        if depth == 0 or rng.random() < 0.35:
            return one.text
        other = self.number(depth - 1)
        forms = [f"({one.text} + {other})", f"({one.text} - {other})", f"({one.text} * {other})", f"(- {other})",
                 f"({other} * {rng.choice((2, 3, 1000, 1.5, '0.000', 100000))})",
                 f"({other} + {rng.choice((1, -1, '0.25', 30000))})", f"({one.text}::numeric * {other})",
                 f"({other} / {rng.choice((2, 7, 3.0))})", f"(abs({other}))"]
        if one.whole:
            forms += [f"({one.text}::int8 * {other})", f"({one.text} % {rng.choice((2, 10, 0) if rng.random() < 0.1 else (2, 10))})"]
        return rng.choice(forms)

    def of(self, kinds):
        """Return a column of one of some types, or None."""
        columns = [o for o in operands(self.schema) if o.sql in kinds]
        return self.rng.choice(columns).text if columns else None

    def real(self, depth=2):
        """Return an expression that is a float and may be out of range, and does not depend on the order of rows."""
        rng = self.rng
        column = self.of(FLOATS)
        if column is None or (depth > 0 and rng.random() < 0.2):
            column = f"{self.number(0) or 1}::float8"
        if depth == 0:
            return column
        other = self.real(depth - 1)
        return rng.choice((f"({column} + {other})", f"({column} - {other})", f"({column} * {other})", f"({column}::float8 / {other})",
                           f"(- {other})", f"abs({other})", f"({other} * 0.1::float8)", f"sqrt({other})", f"nullif({other}, {column})",
                           f"CASE WHEN {other} > 0 THEN sqrt({other}) END", f"greatest({other}, {column})", f"coalesce({other}, 1)"))

    def moment(self):
        """Return an expression that is a date or a timestamp, or a number computed from one; or None."""
        rng = self.rng
        day, time = self.of(("date",)), self.of(("timestamp", "timestamptz"))
        forms = []
        if day:
            forms += [f"({day} + {rng.choice((1, -700000))})", f"({day} - date '2021-03-28')", f"{day}::timestamp", f"coalesce({day}, '1999-12-31')",
                      f"extract({rng.choice(('year', 'month', 'day', 'dow', 'isodow', 'doy', 'quarter', 'epoch'))} FROM {day})"]
        if time:
            unit = rng.choice(("year", "month", "quarter", "week", "day", "hour", "minute", "second", "milliseconds"))
            field = rng.choice(("year", "month", "day", "hour", "minute", "second", "dow", "isodow", "doy", "epoch", "milliseconds"))
            forms += [f"date_trunc('{unit}', {time})", f"extract({field} FROM {time})", f"{time}::date", f"greatest({time}, '2021-01-01')"]
            zone = rng.choice(ZONES)
            forms += [f"({time} AT TIME ZONE '{zone}')", f"({time} AT TIME ZONE '{zone}')::date", f"{time}::timestamp", f"{time}::timestamptz", f"{time}::time",
                      f"extract({rng.choice(('week', 'isoyear', 'decade', 'hour'))} FROM {time} AT TIME ZONE '{zone}')",
                      f"date_bin('{rng.choice(('15 minutes', '1 day', '7 hours'))}', {time}, '2001-01-01')",
                      f"date_trunc('{unit}', {time}::timestamptz, '{zone}')", f"date_part('{rng.choice(('hour', 'month', 'week'))}', {time})"]
        return rng.choice(forms) if forms else None

    def moment_compared(self):
        """Return a comparison of a function of times with a constant or a value near now, or None."""
        rng = self.rng
        time = self.of(("timestamp", "timestamptz"))
        if time is None:
            return None
        function = rng.choice((f"{time}::date", f"date_trunc('{rng.choice(('month', 'day', 'hour', 'quarter'))}', {time})",
                               f"({time} AT TIME ZONE '{rng.choice(ZONES)}')", f"({time} AT TIME ZONE '{rng.choice(ZONES)}')::date"))
        constant = rng.choice(("'2021-03-28'", "'2000-01-01'", "current_date", "date_trunc('year', now())", "'infinity'", "'1999-12-31 23:30'"))
        operator = rng.choice(("=", "<", "<=", ">=", ">", "<>"))
        return f"({function} {operator} {constant})"

    def text_compared(self):
        """Return a condition on a text that is evaluated once for each value, or None."""
        rng = self.rng
        texts = [key.column.name for key in self.schema.keys
                 if key.column.type.sql in ("text", "varchar(40)") and key.column.collation not in BLIND]
        if not texts:
            return None
        text = rng.choice(texts)
        pattern = rng.choice(("a%", "%e", "%1%", "_a%", "", "A%"))
        return rng.choice((f"({text} ILIKE '{pattern}')", f"({text} LIKE '{pattern}')", f"({text} NOT LIKE '{pattern}')", f"(lower({text}) = 'a')",
                           f"(length({text}) > {rng.randint(0, 9)})", f"({text} ~ '^{rng.choice(('a', 'x', '1'))}')", f"(coalesce({text}, '') <> '')",
                           f"(CASE WHEN {text} > 'm' THEN 'late' WHEN {text} IS NULL THEN '?' ELSE 'early' END = 'late')",
                           f"(left({text}, 2) || 'x' = 'ax')", f"(substr({text}, 2, 1) IN ('a', '1'))"))

    def comparison(self):
        """Return a comparison of columns and expressions with each other."""
        rng = self.rng
        operator = rng.choice(("<", "<=", "=", "<>", ">=", ">", "IS DISTINCT FROM"))
        special = [one for one in (self.moment_compared(), self.text_compared()) if one]
        if special and rng.random() < 0.4:
            return rng.choice(special)
        sides = [(self.number(1), self.number(1))] if self.number(0) else []
        sides += [(self.real(1), self.real(rng.choice((0, 1))))] if self.of(FLOATS) or sides else []
        for kinds in (("date",), ("timestamp",), ("timestamptz",), ("money",), ("oid",), ("time",), ("bool",)):
            sides += [(self.of(kinds), self.of(kinds))] if self.of(kinds) else []
        if not sides:
            return f"({self.condition()})"
        one, other = rng.choice(sides)
        return f"({one} {operator} {other})"

    def bound(self):
        """Return an expression compared with a constant, from which ranges of its columns follow."""
        rng = self.rng
        constants = [0, 1, -1, 7, 100, -1000, 12345, 1000003, -2147483648, 9007199254740993, "0.1", "-12.75", "1e15"]
        forms = [(self.number(), "")] * 3 if self.number(0) else []
        forms += [(f"({self.number(1)})::float8 ^ {rng.choice((1, 2, 3))}", "::float8")] if forms else []
        if self.of(FLOATS):
            constants += ["'NaN'::float8", "'Infinity'::float8", "'-Infinity'::float8", "1e-3", "-1e308"]
            forms += [(self.real(), "::float8")] * 3 + [(f"({self.real(1)}) ^ {rng.choice((2, 3))}", "::float8")]
        constant = rng.choice(constants)
        day = self.of(("date",))
        if day and rng.random() < 0.2:
            return rng.choice((f"({day} - date '2021-03-28' < {rng.randint(-3000, 3000)})", f"({day} + {rng.randint(-9, 9)} >= date '2021-03-28')",
                               f"({day} - {rng.randint(-9, 9)} = date '2021-01-28')"))
        if not forms:
            return self.comparison()
        expression, cast = rng.choice(forms)
        if isinstance(constant, str) and "float8" in constant:
            cast, expression = "", f"({expression})::float8"
        return f"({expression} {rng.choice(('<', '<=', '=', '>=', '>'))} {constant}{cast})"

    def bounds(self):
        """Return some such conditions, combined with others."""
        one = self.bound()
        return self.rng.choice((one, one, f"({one} AND {self.bound()})", f"({one} OR {self.bound()})", f"({one} OR {self.condition()})",
                                f"({one} AND {self.comparison()})", f"NOT {one}"))

    def truth(self, depth=2):
        """Return a condition, made of others, that the index does not look up."""
        rng = self.rng
        if depth == 0 or rng.random() < 0.4:
            return self.comparison() if rng.random() < 0.8 else f"({self.condition()})"
        one, other = self.truth(depth - 1), self.truth(depth - 1)
        return rng.choice((f"({one} AND {other})", f"({one} OR {other})", f"(NOT {one})", f"({one} IS {rng.choice(('', 'NOT '))}TRUE)",
                           f"({one} IS UNKNOWN)", f"(CASE WHEN {one} THEN {other} END)", f"coalesce({one}, {other})", f"({one} = {other})"))

    def chosen(self):
        """Return a number that conditions choose; some conditions prevent errors of others."""
        one, other, number = self.number(1), self.number(1), self.number(0)
        return self.rng.choice((f"CASE WHEN {self.truth(1)} THEN {one} ELSE {other} END", f"CASE WHEN {self.truth(1)} THEN {one} END",
                                f"CASE WHEN {number} <> 0 THEN {one} / {number} END", f"coalesce({one}, {other})", f"nullif({one}, {other})",
                                f"greatest({one}, {other})", f"least({one}, {other})", f"CASE {number} WHEN {one} THEN 1 WHEN 2 THEN {other} END",
                                f"CASE WHEN {number} BETWEEN -1000 AND 1000 THEN {number} * {one} END", f"({one})::int4", f"({one})::float8::int8"))

    def minimum(self):
        choose = self.rng.choice(("min", "max"))
        columns = [o for o in operands(self.schema) if o.sql in NUMBERS + FLOATS or o.sql in ORDERED and o.exact
                   and o.sql not in NO_MINIMUM]
        if not columns:
            return "count(*)"
        one = self.rng.choice(columns)
        if one.sql in FLOATS:
            return f"{choose}({one.text}) + 0"
        if one.sql in NUMBERS:
            return f"trim_scale({choose}({one.text if self.rng.random() < 0.5 else self.number()})::numeric)"
        if one.sql in ("text", "varchar(40)", "fz_text"):
            return self.rng.choice((f"{choose}({one.text})", f"{choose}({one.text} || 'x')", f"{choose}(length({one.text}))"))
        return f"{choose}({one.text})"

    def fraction(self):
        return self.rng.choice(("0.5", "0", "1", "0.25", "0.999", "NULL", "1.5" if self.rng.random() < 0.1 else "0.1"))

    def fractions(self):
        rng = self.rng
        if rng.random() < 0.6:
            return f"{self.fraction()}::float8"
        if rng.random() < 0.2:
            return f"'{{{{{self.fraction()},{self.fraction()}}},{{{self.fraction()},0.3}}}}'::float8[]"
        return f"'{{{','.join(self.fraction() for _ in range(rng.choice((0, 1, 2, 3, 20))))}}}'::float8[]"

    def collected(self):
        """Return an aggregate that needs all of a group's values, or all distinct ones."""
        rng, number, fractions = self.rng, self.number(1), self.fractions()
        columns = [o for o in operands(self.schema) if o.sql in NUMBERS + FLOATS or o.sql in ORDERED and o.exact]
        one = rng.choice(columns) if columns else Operand("(1 + 1)", "int4", True)
        order = f"WITHIN GROUP (ORDER BY {one.text} {rng.choice(('', 'DESC', 'NULLS FIRST'))})"
        filtered = f" FILTER (WHERE {self.condition()})" if rng.random() < 0.3 else ""
        forms = [f"count(DISTINCT {one.text}){filtered}"] * 2
        # equal floats and numerics may look different
        looks = "{}" if one.sql not in FLOATS + NUMBERS else "({} + 0)" if one.sql in FLOATS else "trim_scale({}::numeric)"
        forms += [looks.format(f"mode() {order}{filtered}")]
        if "[]" not in fractions:
            forms += [looks.format(f"percentile_disc({fractions}) {order}{filtered}")] * 2
        elif one.sql in INTEGERS or one.exact and one.sql != "int4[]":     # there are no arrays of arrays
            forms += [f"percentile_disc({fractions}) {order}{filtered}"] * 2
        if one.sql in INTEGERS + FLOATS + ("numeric(12,2)",):
            choose = f"percentile_cont({fractions}) {order}{filtered}"
            forms += [f"{choose}" if "[]" in fractions and one.sql not in FLOATS else f"({choose} + 0)" if "[]" not in fractions else forms[0]] * 2
            forms += [looks.format(f"{rng.choice(('sum', 'avg'))}(DISTINCT {one.text}){filtered}")]
        if number:
            forms += [f"count(DISTINCT {number}){filtered}", f"trim_scale(sum(DISTINCT {number}){filtered}::numeric)"]
        return rng.choice(forms)

    def constant(self):
        """Return a float that is a constant or NULL."""
        return f"(CASE WHEN {self.condition()} THEN {self.rng.choice(('0.5', '2', '-3', '1e10'))}::float8 END)"

    def statistic(self):
        """Return an aggregate that is neither a sum nor a minimum."""
        rng = self.rng
        number = self.number()
        whole = [o.text for o in operands(self.schema) if o.whole]
        short = [o.text for o in operands(self.schema) if o.sql in ("int2", "int4")]
        reals = [o.text for o in operands(self.schema) if o.sql in FLOATS]
        forms = [f"{rng.choice(VARIANCES)}({self.constant()})", f"{rng.choice(REGRESSIONS)}({self.constant()}, {self.constant()})",
                 f"{rng.choice(BOOLEANS)}({self.condition()})", f"{rng.choice(BOOLEANS)}({self.truth()})"]
        if number:
            forms += [f"{rng.choice(VARIANCES)}({number})"] * 3
        if whole:
            forms += [f"{rng.choice(BITS)}({rng.choice(whole)})"] * 2
        if short:
            forms += [f"regr_avg{rng.choice('xy')}({rng.choice(short)}, {rng.choice(short)})",
                      f"regr_avgx({self.constant()}, {rng.choice(short)})"]
        if reals:
            forms += [f"regr_count({rng.choice(reals)}, {rng.choice(reals)})"]
        return rng.choice(forms)

    def aggregate(self):
        rng = self.rng
        if rng.random() < 0.3:
            return self.collected()
        one = rng.choice(operands(self.schema))
        number = self.number()
        forms = ["count(*)", f"count({one.text})", "minimum", self.statistic(), self.statistic()]
        if number:
            forms += [f"sum({number})", f"avg({number})", f"sum({number})", f"count({number})", f"sum(CASE WHEN {self.condition()} THEN {number} END)"]
            chosen = self.chosen()
            forms += [f"sum({chosen})", f"count({chosen})", f"trim_scale(max({chosen})::numeric)"]
        if one.sql in FLOATS:
            forms += [f"sum({one.text}::numeric)", f"avg({one.text}::numeric)"]
        forms.append(f"sum(hashtextextended({one.looks}, 0)::numeric)")
        if one.sql in FLOATS or rng.random() < 0.15:
            forms += [f"count({self.real()})", f"max({self.real()}) + 0", f"min({self.real()}) + 0"]
        moment = self.moment()
        if moment:
            forms += [f"max({moment})", f"min({moment})", f"count({moment})"]
        forms += [f"count(*) FILTER (WHERE {self.truth()})", f"count({self.truth()})"]
        text = rng.choice(forms)
        if text != "minimum":
            return text + (f" FILTER (WHERE {rng.choice((self.condition, self.truth))()})" if rng.random() < 0.3 and text.startswith(("sum", "avg", "count")) and "FILTER" not in text else "")
        return self.minimum()

    def keys(self):
        """Return keys for GROUP BY, and whether they can be shown."""
        rng = self.rng
        for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3))):
            # PostgreSQL's hash of a name ignores its collation
            one = rng.choice([o for o in operands(self.schema) if o.sql != "name" or o.exact] or [Operand("1 + 1", "", True)])
            number = self.number(1)
            forms = [(one.text, one.exact)] * 3 + [(f"{one.text} IS NULL", True), (one.looks, True)]
            if one.whole:
                forms += [(f"{one.text} % {rng.choice((2, 7, 100))}", True), (f"{one.text} / {rng.choice((3, 1000))}", True)]
            if number:
                forms.append((number, False))
            if one.sql in ("text", "varchar(40)"):
                forms += [(f"lower({one.text})", one.exact), (f"length({one.text})", True)]
            if one.sql in ("timestamp", "timestamptz"):
                form = rng.choice(("YYYY-MM", "Day", "HH24", "IYYY-IW", "HH:MI am"))
                forms += [(f"to_char({one.text}, '{form}')", True), (f"({one.text} AT TIME ZONE '{rng.choice(ZONES)}')::date::text", True)]
            if one.sql in ("date", "timestamp"):
                forms += [(f"date_trunc('month', {one.text})", True), (f"extract(dow FROM {one.text})", True)]
            moment = self.moment()
            forms += [(moment, True)] if moment else []
            forms += [(self.truth(1), True)]
            forms += [(f"trim_scale(({self.chosen()})::numeric)", False)] if number else []
            yield rng.choice(forms)

    def sets(self, keys):
        """Return grouping sets of the keys; each key is in at least one set."""
        rng = self.rng

        def some():
            return f"({', '.join(rng.sample(keys, rng.randint(0, len(keys))))})"

        def part():
            return rng.choice((f"ROLLUP ({', '.join(keys)})", f"CUBE ({', '.join(keys)})",
                               f"GROUPING SETS ({', '.join([f'({one})' for one in keys] + [some() for _ in range(rng.randint(0, 3))])})",
                               f"GROUPING SETS (({', '.join(keys)}), {some()}, ROLLUP ({rng.choice(keys)}))"))

        return rng.choice(("", "", "DISTINCT ")) + ", ".join(part() for _ in range(rng.choice((1, 1, 1, 2))))

    def plain(self):
        """Return aggregates of plain columns, often over many rows, which a device may add up."""
        rng = self.rng
        keys = [o.text for o in operands(self.schema) if o.exact]
        keys = rng.sample(keys, min(len(keys), rng.choice((0, 1, 1, 2))))
        numbers = [o.text for o in operands(self.schema) if o.sql in NUMBERS]
        # trim_scale: equal numerics may look different
        of_numbers = ("sum({})", "count({})", "avg({})", "trim_scale(min({})::numeric)", "trim_scale(max({})::numeric)")
        shown = keys + ["count(*)"] + [rng.choice(of_numbers).format(rng.choice(numbers)) for _ in range(rng.randint(0, 4)) if numbers]
        where = [self.condition() if rng.random() < 0.4 else f"(NOT ({self.condition()}))"]
        where += [f"({self.schema.predicate})"] if self.schema.predicate else []
        rows = f"FROM t WHERE {' AND '.join(where)}"
        return f"SELECT {', '.join(shown)} {rows}" + (f" GROUP BY {', '.join(keys)}" if keys else ""), f"SELECT 1 {rows}"

    def query(self):
        """Return the query, and one that evaluates only its conditions."""
        rng = self.rng
        if rng.random() < (0.6 if self.schema.large else 0.25):
            return self.plain()
        keys = list(self.keys())
        shown_keys = [text for text, exact in keys if exact]
        distinct = bool(shown_keys) and rng.random() < 0.2
        texts = [text for text, _ in keys]
        grouped = ", ".join(texts)
        shown = shown_keys + [self.aggregate() for _ in range(rng.randint(1, 4))]
        if keys and not distinct and rng.random() < 0.4:
            shown += [f"GROUPING({grouped})", f"GROUPING({rng.choice(texts)})"]
            grouped = self.sets(texts)
        where = [self.condition() for _ in range(rng.choice((0, 1, 1, 2)))]
        where += [f"({self.schema.predicate})"] if self.schema.predicate else []
        where += [self.truth()] if rng.random() < 0.35 else []
        where += [self.bounds()] if rng.random() < 0.35 else []
        names = {o.text for o in operands(self.schema)}
        where += [text for text in ("id % 3 <> 1", "u < 6") if text.split()[0] in names and rng.random() < 0.3]
        rows = "FROM t" + (f" WHERE {' AND '.join(where)}" if where else "")
        if distinct:
            return f"SELECT DISTINCT {', '.join(shown_keys)} {rows}", f"SELECT 1 {rows}"
        return (f"SELECT {', '.join(shown)} {rows}" + (f" GROUP BY {grouped}" if keys else "")
                + (f" HAVING count(*) > {rng.choice((0, 1, 20))}" if rng.random() < 0.15 else "")), f"SELECT 1 {rows}"
