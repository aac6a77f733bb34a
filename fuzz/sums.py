"""Random queries for sums, averages, minima and maxima of columns and expressions, in groups or not.

What depends on the order of rows is not asked: sums of floats, and which one of equal values stands for them.
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
BLIND = ("ci", "blank")                     # collations that take different texts for equal


@dataclass
class Operand:
    """A column of the index, as queries write it."""
    text: str
    sql: str
    exact: bool                             # do equal values look alike?

    @property
    def looks(self):
        """What the values look like, also those that are equal to others."""
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
        """condition() gives a literal condition over the key columns."""
        self.rng, self.schema, self.condition = rng, schema, condition

    def number(self, depth=2):
        """An expression that is a number and may be out of range."""
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
            return f"trim_scale({choose}({self.number()})::numeric)"
        if one.sql in ("text", "varchar(40)", "fz_text"):
            return self.rng.choice((f"{choose}({one.text})", f"{choose}({one.text} || 'x')", f"{choose}(length({one.text}))"))
        return f"{choose}({one.text})"

    def aggregate(self):
        rng = self.rng
        one = rng.choice(operands(self.schema))
        number = self.number()
        forms = ["count(*)", f"count({one.text})", "minimum"]
        if number:
            forms += [f"sum({number})", f"avg({number})", f"sum({number})", f"count({number})", f"sum(CASE WHEN {self.condition()} THEN {number} END)"]
        if one.sql in FLOATS:
            forms += [f"sum({one.text}::numeric)", f"avg({one.text}::numeric)"]
        forms.append(f"sum(hashtextextended({one.looks}, 0)::numeric)")
        text = rng.choice(forms)
        if text != "minimum":
            return text + (f" FILTER (WHERE {self.condition()})" if rng.random() < 0.3 else "")
        return self.minimum()

    def keys(self):
        """GROUP BY's keys, and whether they can be shown."""
        rng = self.rng
        for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3))):
            # core's hash of a name ignores its collation
            one = rng.choice([o for o in operands(self.schema) if o.sql != "name" or o.exact] or [Operand("1 + 1", "", True)])
            number = self.number(1)
            forms = [(one.text, one.exact)] * 3 + [(f"{one.text} IS NULL", True), (one.looks, True)]
            if one.whole:
                forms += [(f"{one.text} % {rng.choice((2, 7, 100))}", True), (f"{one.text} / {rng.choice((3, 1000))}", True)]
            if number:
                forms.append((number, False))
            if one.sql in ("text", "varchar(40)"):
                forms += [(f"lower({one.text})", one.exact), (f"length({one.text})", True)]
            if one.sql in ("date", "timestamp"):
                forms += [(f"date_trunc('month', {one.text})", True), (f"extract(dow FROM {one.text})", True)]
            yield rng.choice(forms)

    def query(self):
        rng = self.rng
        keys = list(self.keys())
        shown = [text for text, exact in keys if exact] + [self.aggregate() for _ in range(rng.randint(1, 4))]
        where = [self.condition() for _ in range(rng.choice((0, 1, 1, 2)))]
        where += [f"({self.schema.predicate})"] if self.schema.predicate else []
        names = {o.text for o in operands(self.schema)}
        where += [text for text in ("id % 3 <> 1", "u < 6") if text.split()[0] in names and rng.random() < 0.3]
        return (f"SELECT {', '.join(shown)} FROM t" + (f" WHERE {' AND '.join(where)}" if where else "")
                + (f" GROUP BY {', '.join(text for text, _ in keys)}" if keys else "")
                + (f" HAVING count(*) > {rng.choice((0, 1, 20))}" if rng.random() < 0.15 else ""))
