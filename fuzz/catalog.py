"""The types of key columns in the fuzzer: how a value is made from a number, and which constants are special.

A type's `make` is an SQL expression that turns the bigint {x} into a value, for every x. Mostly it preserves order,
so that a column can be sorted with the heap. Several x can give values that are equal but not identical ('a' and 'A'
in a case-insensitive collation, 1.0 and 1.00): these are the interesting ones.
"""
from dataclasses import dataclass
from datetime import datetime, timedelta

STANDARD = ("<", "<=", "=", ">=", ">")
PATTERN = ("~<~", "~<=~", "=", "~>=~", "~>~")
IMAGE = ("*<", "*<=", "*=", "*>=", "*>")

NO_COLLATION = ("",)
COLLATIONS = ("", '"C"', '"und-x-icu"', "ci", "blank", "naturally")


@dataclass(frozen=True)
class Type:
    name: str                               # name of the entry; several entries can have the same SQL type
    sql: str
    make: str
    extremes: tuple = ()                    # values, in their text form
    opclasses: tuple = (("", STANDARD),)     # the first one is the default
    collations: tuple = NO_COLLATION
    cross: tuple = ()                       # entries with whose values the column can be compared
    arrays: bool = True                     # whether "op ANY (array of it)" exists
    text: str = "({v})::text"               # value -> text, from which literal() makes the same value
    literal_cast: str = ""                  # for types whose input function does not accept that text
    constant_type: str = ""                 # for types that have no operators of their own
    zone: str = ""                          # time zone with a clock change near the values
    big: bool = False                       # values have up to about 2 kB

    @property
    def constant(self):
        """Return the type of the constants that a column is compared with."""
        return self.constant_type or self.sql

    def literal(self, text):
        quoted = "'" + text.replace("'", "''") + "'"
        return f"({quoted}{self.literal_cast or '::' + self.constant})"


def wrapped(bits):
    """Return {x} as a signed integer of that many bits."""
    half = 1 << (bits - 1)
    return f"(((({{x}}) + {half}) & {2 * half - 1}) - {half})"


def modulo(n):
    return f"((({{x}}) % {n})::int)"


def variants(*choices):
    """Return one of the choices, selected by the two low bits of {x}."""
    return "(ARRAY[" + ", ".join(choices) + "])[1 + (({x}) & 3)]"


# Texts that differ only in trailing blanks, case and accents, four for each number.
TEXT_VARIANTS = "((({x}) >> 2)::text || " + variants("'ab'", "'aB'", "'ab '", "'áb'") + ")"
LONG_COMPRESSIBLE = "(repeat('x', 1900) || ({x}))"
LONG_RANDOM = "(SELECT string_agg(md5((({x}) * 100 + j)::text), '' ORDER BY j) FROM generate_series(1, 60) j)"
TEXT_EXTREMES = ("", " ", "  ", "ab", "AB", "zz", "~", "ÿ", "\U0010ffff", "it's")

INTEGERS = ("int2", "int4", "int8")
FLOATS = ("float4", "float8")
FLOAT_EXTREMES = ("NaN", "Infinity", "-Infinity", "-0", "0", "1e-30", "-1e30")


def numbers():
    yield Type("bool", "bool", "(({x}) % 2 = 0)", ("true", "false"))
    yield Type('"char"', '"char"', f'(({wrapped(8)})::int::"char")', ("-128", "127", "0", "65"),
               text="({v})::int::text", literal_cast='::int::"char"')
    for name, bits in zip(INTEGERS, (16, 32, 64)):
        limits = (str(-(1 << (bits - 1))), str((1 << (bits - 1)) - 1), "0")
        make = "(({x})::int8)" if bits == 64 else f"({wrapped(bits)}::{name})"
        yield Type(name, name, make, limits, cross=tuple(n for n in INTEGERS if n != name))
    yield Type("oid", "oid", "((({x}) & 4294967295)::oid)", ("0", "4294967295", "2147483648"))
    yield Type("xid8", "xid8", "((({x}) & 9223372036854775807)::text::xid8)", ("0", "18446744073709551615"))
    yield Type("pg_lsn", "pg_lsn", "('0/0'::pg_lsn + (({x}) & 9223372036854775807)::numeric)", ("0/0", "FFFFFFFF/FFFFFFFF"))
    yield Type("float4", "float4", "((({x}) / 7.0)::float4)", FLOAT_EXTREMES + ("1e-45", "3.4028235e38"), cross=("float8",))
    yield Type("float8", "float8", "((({x}) / 7.0)::float8)", FLOAT_EXTREMES + ("5e-324", "1.7976931348623157e308", "0.1"),
               cross=("float4",))
    for name in FLOATS:
        yield Type(f"{name} zeros", name, variants(f"'-0'::{name}", "0", "(({x}) % 50) / 8.0", "'NaN'"), FLOAT_EXTREMES, cross=FLOATS)
    yield Type("numeric", "numeric", "(round((({x}) / 4)::numeric, (({x}) & 3)::int))",
               ("NaN", "Infinity", "-Infinity", "0", "0.000", "1" + "0" * 300, "-1" + "0" * 300, "0." + "0" * 200 + "1"))
    yield Type("numeric(12,2)", "numeric(12,2)", "(((({x}) % 100000000) / 100.0)::numeric(12,2))", ("9999999999.99", "NaN"))
    yield Type("numeric cents", "numeric", "(round(({x})::numeric / 100, 2))", ("0.00", "92233720368547758.07", "-92233720368547758.08"))
    yield Type("numeric(30,12)", "numeric(30,12)", "((({x}) % 1000000 / 7.0)::numeric(30,12))", ("9223372.036854775807", "-0.000000000001", "123456789012345678.5"))
    yield Type("money", "money", "((({x}) % 1000000000000)::int8::money)", ("-92233720368547758.08", "92233720368547758.07"))
    yield Type("tid", "tid", "(format('(%s,%s)', (({x}) >> 4) & 65535, 1 + (({x}) & 15))::tid)", ("(0,1)", "(4294967295,65535)"))


def texts():
    text_opclasses = (("", STANDARD), ("text_pattern_ops", PATTERN))
    for name, make, big in (("text", TEXT_VARIANTS, False), ("text number", "('k' || ({x}))", False),
                            ("text long", LONG_COMPRESSIBLE, True), ("text toasted", LONG_RANDOM, True)):
        yield Type(name, "text", make, TEXT_EXTREMES, text_opclasses, COLLATIONS, ("name",), big=big)
    yield Type("varchar", "varchar(40)", TEXT_VARIANTS + "::varchar(40)", TEXT_EXTREMES,
               text_opclasses + (("varchar_ops", STANDARD), ("varchar_pattern_ops", PATTERN)), COLLATIONS)
    yield Type("bpchar", "char(24)", TEXT_VARIANTS + "::char(24)", TEXT_EXTREMES,
               (("", STANDARD), ("bpchar_pattern_ops", PATTERN)), COLLATIONS)
    yield Type("bpchar of any length", "bpchar", TEXT_VARIANTS + "::bpchar", TEXT_EXTREMES,
               (("", STANDARD), ("bpchar_pattern_ops", PATTERN)), COLLATIONS)
    yield Type("name", "name", TEXT_VARIANTS + "::name", TEXT_EXTREMES, cross=("text",),
               collations=("", '"und-x-icu"', "ci"))
    yield Type("bytea", "bytea", "(int8send({x}))", ("", "\\x00", "\\xff", "\\xffffffffffffffffff"))
    yield Type("bytea long", "bytea", "(decode(repeat(md5(({x})::text), 100), 'hex'))", ("",), big=True)
    yield Type("domain text", "fz_text", TEXT_VARIANTS + "::fz_text", TEXT_EXTREMES, text_opclasses, COLLATIONS)


# Clocks change shortly after these times, in these time zones.
CLOCK_CHANGES = {"2021-03-14 01:30": "America/New_York", "2021-11-07 00:30": "America/New_York", "2021-03-28 01:30": "Europe/Berlin",
                 "2021-10-31 01:30": "Europe/Berlin", "2011-12-29 23:30": "Pacific/Apia", "2018-11-03 23:30": "America/Sao_Paulo",
                 "2021-04-04 01:15": "Australia/Lord_Howe", "1847-11-30 23:30": "Europe/London"}
DATE_EXTREMES = ("infinity", "-infinity", "4713-01-01 BC", "5874897-12-31")
TIMESTAMP_EXTREMES = ("infinity", "-infinity", "4713-01-02 BC", "294276-12-30 23:59:59.999999", "294276-12-31 23:59:59.999999")
TIMESTAMPTZ_EXTREMES = ("infinity", "-infinity", "4713-01-02 BC", "294276-12-30 23:59:59.999999+00", "294276-12-31 23:59:59.999999+00")


def around(day, suffix=""):
    """Texts of the next two hours, and of midnight before and after. Some of these times do not exist, some exist
    twice.
    """
    start = datetime.fromisoformat(day)
    minutes = list(range(0, 125, 11)) + [-1440, 1440, 2880]
    return tuple(f"{start + timedelta(minutes=m)}{suffix}" for m in minutes)


def times():
    makes = {"date": "(timestamp '{day}'::date + " + modulo(40000) + ")",
             "timestamp": "(timestamp '{day}' + (({x}) % 100000000) * interval '7 minutes')",
             "timestamptz": "(timestamp '{day}' AT TIME ZONE '{zone}' + (({x}) % 100000000) * interval '7 minutes')"}
    for day, zone in CLOCK_CHANGES.items():
        extremes = {"date": DATE_EXTREMES + tuple(text[:10] for text in around(day)[-4:]),
                    "timestamp": TIMESTAMP_EXTREMES + around(day),
                    "timestamptz": TIMESTAMPTZ_EXTREMES + around(day, " " + zone)}
        for name, make in makes.items():
            yield Type(f"{name} {day}", name, make.replace("{day}", day).replace("{zone}", zone), extremes[name],
                       cross=tuple(f"{n} {day}" for n in makes if n != name), zone=zone)
    yield Type("time", "time", "(time '00:00' + (({x}) % 86400) * interval '1 second')", ("00:00", "24:00"))
    yield Type("timetz", "timetz", "((time '00:00' + (({x}) % 1440) * interval '1 minute')::text || "
               + variants("'+00'", "'+01'", "'-11:30'", "'+14'") + ")::timetz", ("00:00+14", "24:00-12"))
    yield Type("interval", "interval", "(CASE WHEN ({x}) & 1 = 0 THEN make_interval(months => ((({x}) >> 1) % 1000000)::int) "
               "ELSE make_interval(days => 30 * ((({x}) >> 1) % 1000000)::int) END)",
               ("0", "178000000 years", "-178000000 years", "1 mon -30 days"))


def networks():
    address = "set_masklen('10.0.0.0'::inet + (({x}) & 16777215), 8 + (({x}) & 7)::int)"
    yield Type("uuid", "uuid", "(lpad(to_hex(({x}) & 9223372036854775807), 32, '0')::uuid)",
               ("00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"))
    yield Type("uuid random", "uuid", "(md5(({x})::text)::uuid)")
    yield Type("inet", "inet", f"({address})", ("0.0.0.0/0", "255.255.255.255", "::", "ffff::/16", "10.0.0.0/8"),
               (("", STANDARD), ("inet_ops", STANDARD)))
    yield Type("cidr", "cidr", f"(network({address}))", ("0.0.0.0/0", "::/0", "10.0.0.0/8"),
               (("", STANDARD), ("cidr_ops", STANDARD)))
    yield Type("macaddr", "macaddr", "(lpad(to_hex(({x}) & 281474976710655), 12, '0')::macaddr)", ("ff:ff:ff:ff:ff:ff",))
    yield Type("macaddr8", "macaddr8", "(lpad(to_hex(({x}) & 9223372036854775807), 16, '0')::macaddr8)",
               ("ff:ff:ff:ff:ff:ff:ff:ff",))


def composites():
    yield Type("enum", "fz_enum", "((enum_range(NULL::fz_enum))[1 + (({x}) & 7)::int])", ("first", "last"))
    yield Type("domain int", "fz_int", f"({wrapped(32)}::int4::fz_int)", ("-2147483648", "2147483647"))
    yield Type("domain enum", "fz_color", "((enum_range(NULL::fz_enum))[1 + (({x}) & 7)::int]::fz_color)", ("first", "last"),
               constant_type="fz_enum")
    yield Type("domain array", "fz_ints", "(ARRAY[" + modulo(9) + ", " + modulo(1000) + "]::fz_ints)", ("{}", "{NULL}"),
               arrays=False)
    yield Type("int4[]", "int4[]", "(ARRAY[" + modulo(1000) + ", (({x}) & 3)::int])",
               ("{}", "{NULL}", "{NULL,1}", "{1,NULL}", "[0:1]={1,2}", "{1,2}", "{{1,2},{3,4}}"), arrays=False)
    yield Type("text[]", "text[]", "(ARRAY['a', " + TEXT_VARIANTS + "])", ("{}", "{NULL}", "{a}", "{\"\"}"),
               collations=COLLATIONS, arrays=False)
    yield Type("numeric[]", "numeric[]", "(ARRAY[round((({x}) / 4)::numeric, (({x}) & 3)::int)])", ("{}", "{NaN}"), arrays=False)
    yield Type("oidvector", "oidvector", "(format('%s %s', ({x}) & 7, (({x}) >> 3) & 1023)::oidvector)", ("", "1", "1 2 3"))
    yield Type("bit", "bit(12)", "((({x}) & 4095)::int::bit(12))", ("000000000000", "111111111111"))
    yield Type("varbit", "varbit", "(substring((({x}) & 65535)::int::bit(16)::varbit from 1 for 1 + (({x}) & 15)::int))",
               ("", "0", "00", "1"))
    yield Type("record", "fz_pair", "(ROW(" + modulo(50) + ", 'r' || (({x}) & 3))::fz_pair)", ("(,)", "(1,)", "(,r1)"),
               (("", STANDARD), ("record_image_ops", IMAGE)))
    yield Type("record of numeric", "fz_amount", "(ROW(round((({x}) / 4)::numeric, (({x}) & 3)::int))::fz_amount)", ("()", "(NaN)"),
               (("", STANDARD), ("record_image_ops", IMAGE)))


def documents():
    low = modulo(100000)
    yield Type("int4range", "int4range", f"(int4range({low}, {low} + abs({modulo(16)}), '[)'))",
               ("empty", "(,)", "[1,)", "(,1)", "[2147483646,2147483647)"))
    yield Type("numrange", "numrange", f"(numrange(({low})::numeric / 4, ({low})::numeric / 4 + 1.50, '[]'))", ("empty", "(,)", "[1.0,2)"))
    yield Type("tstzrange", "tstzrange", "(tstzrange('2021-03-14 00:00+00'::timestamptz + (({x}) % 10000) * interval '1 minute', NULL))",
               ("empty", "(,)", "[infinity,)"))
    yield Type("int4multirange", "int4multirange",
               f"(int4multirange(int4range({low}, {low} + 2), int4range({low} + 5, {low} + 5 + abs({modulo(4)}))))", ("{}", "{(,)}"))
    yield Type("nummultirange", "nummultirange", f"(nummultirange(numrange(({low} / 4)::numeric, NULL)))", ("{}", "{(,)}"))
    yield Type("jsonb", "jsonb", variants("to_jsonb(({x}) >> 2)", "jsonb_build_object('k', ({x}) >> 2)",
                                          "jsonb_build_array(({x}) >> 2, 1.0)", "to_jsonb(" + TEXT_VARIANTS + ")"),
               ("null", "true", "[]", "{}", "1.0", "1.00", '""'))
    yield Type("tsvector", "tsvector", "(array_to_tsvector(ARRAY['w' || ({x}), 'v' || (({x}) & 3)]))", ("", "'a':1 'b':2A"))
    yield Type("tsquery", "tsquery", "(('w' || (({x}) & 1023) || ' & v')::tsquery)", ("", "a & b", "!a"))


FAMILIES = (numbers, texts, times, networks, composites, documents)
TYPES = {t.name: t for family in FAMILIES for t in family()}


def palette(rng):
    """Return the types that a round chooses from: mostly all; or those around one clock change; or one family."""
    roll = rng.random()
    if roll < 0.8:
        return list(TYPES.values())
    if roll < 0.9:
        zone = rng.choice(sorted(set(CLOCK_CHANGES)))
        return [t for t in TYPES.values() if t.name.endswith(zone)]
    return list(rng.choice(FAMILIES)())


# Returns a query's rows, sorted, as planned with some settings. It is STABLE, so it sees the snapshot of the query that
# calls it.
ANSWER = """
CREATE FUNCTION fz_answer(settings text, query text) RETURNS text STABLE LANGUAGE plpgsql AS $$
DECLARE
  setting text[];
  answer text;
BEGIN
  FOR setting IN SELECT regexp_matches(settings, 'SET ([a-z_.]+) = ''?([^;'' ]+)', 'g') LOOP
    PERFORM set_config(setting[1], setting[2], false);
  END LOOP;
  EXECUTE format('SELECT array_agg(q::text ORDER BY q::text COLLATE "C") FROM (%s) q', query) INTO answer;
  RETURN answer;
END $$
"""

# hash() is non-negative. It makes rows reproducible without listing their values.
SETUP = """
CREATE FUNCTION hash(i int8, salt int8) RETURNS int8 IMMUTABLE LANGUAGE sql
  AS $$ SELECT hashint8extended(i, salt) & 9223372036854775807 $$;
CREATE FUNCTION fz_steady(anyelement) RETURNS anyelement STABLE PARALLEL SAFE SECURITY DEFINER LANGUAGE sql AS 'SELECT $1';
CREATE TYPE fz_enum AS ENUM ('red', 'green', 'blue', 'cyan', 'pink', 'last');
ALTER TYPE fz_enum ADD VALUE 'first' BEFORE 'red';
ALTER TYPE fz_enum ADD VALUE 'grey' BEFORE 'blue';
CREATE TYPE fz_pair AS (n int, s text);
CREATE TYPE fz_amount AS (amount numeric);
CREATE DOMAIN fz_int AS int4;
CREATE DOMAIN fz_text AS text;
CREATE DOMAIN fz_color AS fz_enum;
CREATE DOMAIN fz_ints AS int4[];
CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE COLLATION blank (provider = icu, locale = 'und-u-ka-shifted-ks-level1', deterministic = false);
CREATE COLLATION naturally (provider = icu, locale = 'und-u-kn-true');
"""

# Types for whose values the parser finds the operators by name.
PLAIN_TYPES = {"bool", "int2", "int4", "int8", "oid", "float4", "float8", "numeric", "money", "text", "varchar", "bytea", "date", "time", "timestamp",
               "timestamptz", "interval", "uuid"}
