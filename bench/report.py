#!/usr/bin/python3
"""Markdown, CSV and SVG from the records of one run.

    report.py figures/NAME.md    draws figures/NAME-summary.svg, README.md's figure, from the tables that run.py wrote
"""
import csv
import platform
import re
import statistics
import subprocess
import sys
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from cluster import server_settings

RESULTS = Path(__file__).resolve().parent / "results"
UNITS = {"query": "ms", "mean": "ms", "scan": "ms", "bits": "ms", "tids": "ms", "build": "ms", "insert": "ms",
         "copy": "ms", "planning": "us", "size": "MiB"}
CHANGES = {"size": "index size, MiB", "bytes": "bytes a row and column", "build": "build, ms",
           "insert": "INSERT ... SELECT of 200,000 rows, ms", "copy": "COPY of 200,000 more rows, ms",
           "planning": "planning, µs"}
FAMILIES = {"one-sided": "`a <= x AND b <= y AND c <= z`", "two-sided": "`BETWEEN` on all three columns",
            "last two columns": "`b <= y AND c <= z`", "other": "others"}
# README.md's figure: a peer's name there, its colour, which suits light and dark pages, and how far its name is raised.
SUMMARY = {"seq scan": ("sequential scan", "#868686", -0.4), "btree of all": ("btree on (a, b, c)", "#c9731f", 0.4),
           "DuckDB": ("DuckDB, one thread", "#3f9b57", 0), "rtscan": ("{/:Bold rtscan}", "#2f7fe0", 0)}
GREY = "#808080"


@dataclass(frozen=True)
class Record:
    """One figure of one peer: the median and the smallest of its rounds."""
    figure: str
    case: str
    peer: str
    value: float
    smallest: float
    family: str = ""
    rows: int = None
    plan: str = ""

    @staticmethod
    def of(figure, case, peer, values):
        return Record(figure, case, peer, statistics.median(values), min(values))


def number(value):
    """Return three significant digits, without an exponent."""
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3
    return f"{value:,.{digits}f}"


def select(records, **wanted):
    return [record for record in records if all(getattr(record, name) == value for name, value in wanted.items())]


def unique(values):
    return list(dict.fromkeys(values))


def table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def cell(record, baseline):
    """Return '12.3 (4.1x)': the figure and its ratio to rtscan's."""
    if record is None:
        return ""
    if baseline is None or record is baseline:
        return number(record.value)
    return f"{number(record.value)} ({number(record.value / baseline.value)}x)"


def ratios(records, peers):
    """Return one cell for each peer, for records that differ only in the peer."""
    by_peer = {record.peer: record for record in records}
    return [cell(by_peer.get(peer), by_peer.get("rtscan")) for peer in peers]


def query_table(records, family):
    """Return times of one family of queries: a line for each case, a column for each peer, and the time of rtscan's
    scan itself.
    """
    records = select(records, family=family)
    times = [record for record in select(records, figure="query") if not record.peer.startswith("free: ")]
    peers, inside = unique(record.peer for record in times), []
    if "rtscan" in peers:
        inside = ["scan", "bits", "tids"]
    lines = []
    for case in unique(record.case for record in times):
        same = select(times, case=case)
        parts = [number(record.value) for figure in inside
                 for record in select(records, figure=figure, case=case, peer="rtscan")]
        lines.append([case, f"{same[0].rows:,}", *ratios(same, peers), *parts])
    header = ["query" if family == "other" else "selectivity", "rows", *peers]
    return table(header + [f"rtscan: {figure}" for figure in inside], lines)


def change_table(records, options):
    """Return sizes, builds, inserts and planning: a line for each figure, a column for each peer."""
    chosen = [record for record in records if record.figure in CHANGES]
    peers = unique(record.peer for record in chosen)
    lines = [[title, *ratios(select(chosen, figure=figure), peers)]
             for figure, title in CHANGES.items() if select(chosen, figure=figure)]
    return table(["", *peers], lines)


def bytes_records(records, rows):
    """Return the sizes as bytes of a row and column."""
    return [Record("bytes", "", record.peer, *(size * 2**20 / rows / 3 for size in (record.value, record.smallest)))
            for record in select(records, figure="size")]


def planner_table(records):
    """Return what the planner chose by itself, and how that compares with the fastest forced plan."""
    times, lines = select(records, figure="query"), []
    for free in (record for record in times if record.peer.startswith("free: ")):
        other = free.peer.removeprefix("free: ").removesuffix(" or rtscan")
        forced = [record for record in select(times, family=free.family, case=free.case)
                  if record.peer in ("seq scan", other, "rtscan")]
        best = min(forced, key=lambda record: record.value)
        right = free.plan == best.plan or free.value <= 1.15 * best.value
        verdict = "yes" if right else f"no, {best.peer}: {number(best.value)} ms"
        lines.append([free.family, free.case, other, free.plan, number(free.value), verdict])
    return table(["query", "selectivity", "indexes beside rtscan's", "plan chosen", "ms", "the fastest?"], lines)


def environment(cursor, options, relation="t", size="pg_relation_size"):
    """Return what the figures depend on, as lines of Markdown. size is a function that returns the bytes of the
    relation.
    """
    cursor.execute("SELECT version()")
    version = cursor.fetchone()[0].split(" on ")[0]
    processors = [line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")]
    cursor.execute(f"SELECT {size}(%s) / 2^20", [relation])
    settings = ", ".join(f"{name} = {value}" for name, value in server_settings(options).items())
    return (f"- {options.data}, {options.rows:,} rows, heap of {cursor.fetchone()[0]:,.0f} MiB; "
            f"medians of {options.repetitions} rounds over the peers, warm\n"
            f"- {version}; {settings}\n- {processors[0]}, {len(processors)} cores, {platform.system()}\n")


def markdown(options, records, description):
    parts = [f"# {options.name}\n", description,
             "Times are milliseconds; in brackets the ratio to rtscan's figure in the same line.\n"]
    for family in unique(record.family for record in records if record.family):
        parts += [f"## {family}: {FAMILIES[family]}\n", query_table(records, family)]
    if any(record.figure in CHANGES for record in records):
        parts += ["## Space, changes, planning\n", change_table(records, options)]
    if any(record.peer.startswith("free: ") for record in records):
        parts += ["## The planner's choice\n", planner_table(records)]
    return "\n".join(parts)


def write_csv(file, records):
    with open(file, "w", newline="", encoding="utf-8") as target:
        writer = csv.DictWriter(target, [field.name for field in fields(Record)] + ["unit"])
        writer.writeheader()
        writer.writerows({**asdict(record), "unit": UNITS.get(record.figure, "bytes")} for record in records)


def write_text(options, text, records):
    """Write results/NAME.md and .csv, and print the text."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{options.name}.md").write_text(text, encoding="utf-8")
    write_csv(RESULTS / f"{options.name}.csv", records)
    print(text)


def write_times(options, records, environment, what):
    """Write Markdown and CSV: a line for each case of the parameter, a column for each peer, in milliseconds."""
    peers = unique(record.peer for record in records)
    lines = [[case] + [number(select(records, case=case, peer=peer)[0].value) for peer in peers]
             for case in unique(record.case for record in records)]
    write_text(options, f"# {options.name}\n\n{environment}\n\n{table([what] + [f'{peer}, ms' for peer in peers], lines)}", records)


def data_block(name, rows):
    """Return named data for gnuplot: a label and a value in each line."""
    lines = [f'"{str(label).replace("`", "")}" {value}\n' for label, value in rows]
    return f"${name} << END\n" + "".join(lines) + "END\n"


def line_plot(records, family):
    """Plot time against selectivity, with a line for each peer, and one for the scan itself."""
    chosen = [record for record in select(records, family=family) if not record.peer.startswith("free: ")
              and record.figure in ("query", "scan")]
    lines, blocks = [], ""
    for index, (figure, peer) in enumerate(unique((record.figure, record.peer) for record in chosen)):
        rows = [(r.case, r.value) for r in select(chosen, figure=figure, peer=peer)]
        blocks += data_block(f"line{index}", rows)
        title = f"{peer}: the scan alone" if figure == "scan" else peer
        lines.append(f"$line{index} using 0:2:xtic(1) with linespoints linewidth 2 title '{title}'")
    return (blocks + "set logscale y\nset xrange [-0.2:]\nset xlabel 'selectivity of each predicate'\nset ylabel 'ms'\n"
            f"set key outside\nset title '{family}'\nplot " + ", ".join(lines) + "\n")


def bar_plot(records):
    """Plot index size, build and insert: a bar for each peer."""
    figures = [figure for figure in ("size", "build", "insert") if select(records, figure=figure)]
    script = f"set multiplot layout 1,{len(figures)}\nset style fill solid 0.6\nset boxwidth 0.7\nunset key\n"
    script += "set yrange [0:]\nset bmargin 4\n"
    for figure in figures:
        bars = [(record.peer.replace(" ", r"\n", 1), record.value) for record in select(records, figure=figure)]
        script += data_block(figure, bars)
        script += f"set title '{CHANGES[figure]}'\nplot ${figure} using 0:2:xtic(1) with boxes\n"
    return script


def summary_plot(times, rows):
    """The one-sided counts of the peers in SUMMARY, each line with its name at its end."""
    lines, script = [], ""
    for index, (peer, (title, colour, raised)) in enumerate(SUMMARY.items()):
        points = [(f"{float(record.case):.0%}", record.value) for record in select(times, peer=peer)]
        width, dots = (5, 0.9) if peer == "rtscan" else (2, 0.6)
        script += data_block(f"line{index}", points).replace("%", " %")
        script += f"set label '{title}' at {len(points) - 1},{points[-1][1]} offset 1.5,{raised} textcolor '{colour}'\n"
        lines.append(f"$line{index} using 0:2:xtic(1) with linespoints linecolor '{colour}' linewidth {width} "
                     f"pointtype 7 pointsize {dots}")
    title = f"count(*) of {rows / 10**6:g} million rows, three range conditions: milliseconds, log scale"
    return (f"{script}set title '{title}'\n"
            "set xlabel 'how many of the rows each condition matches'\nset logscale y\nset format y '%g'\n"
            "set xrange [-0.2:]\nset rmargin 20\nset border 3\nset tics nomirror\nunset key\nplot " + ", ".join(lines) + "\n")


def gnuplot(file, terminal, script):
    script = f"set terminal svg {terminal}\nset output '{file}'\n{script}"
    subprocess.run(["gnuplot"], input=script, text=True, check=True)


def draw(file, script, size="900,420"):
    gnuplot(file, f"size {size} noenhanced background '#ffffff'",
            f"set grid ytics\nset linetype 5 linecolor '#777777'\n{script}")


def draw_summary(file, records, rows):
    """Without a background, for light and dark pages; nothing if a peer was not measured."""
    times = select(records, figure="query", family="one-sided")
    if not set(SUMMARY) <= {record.peer for record in times}:
        return
    style = "".join(f"set {part} textcolor '{GREY}'\n" for part in ("title", "xlabel", "tics"))
    style += f"set border linecolor '{GREY}'\nset grid ytics linetype 1 linecolor '{GREY}' linewidth 0.3\n"
    gnuplot(file, "size 860,400 enhanced font 'Helvetica,Arial,sans-serif,15'", style + summary_plot(times, rows))


def recorded_times(text):
    """The one-sided queries' times in what markdown() wrote, and the number of rows in the table."""
    header, _, *lines = re.search(r"^## one-sided.*?\n\n((?:\|.*\n)*)", text, re.MULTILINE).group(1).splitlines()
    names, *cases = [[cell.strip() for cell in line.strip("|").split("|")] for line in (header, *lines)]
    records = [Record("query", case[0], name, float(value.split(" ")[0].replace(",", "")), 0, "one-sided")
               for case in cases for name, value in zip(names, case) if name in SUMMARY]
    return records, int(re.search(r"([\d,]+) rows", text).group(1).replace(",", ""))


def write(options, records, description):
    RESULTS.mkdir(exist_ok=True)
    records = records + bytes_records(records, options.rows)
    (RESULTS / f"{options.name}.md").write_text(markdown(options, records, description), encoding="utf-8")
    write_csv(RESULTS / f"{options.name}.csv", records)
    for family in unique(record.family for record in records if record.family not in ("", "other")):
        draw(RESULTS / f"{options.name}-{family.replace(' ', '-')}.svg", line_plot(records, family))
    if select(records, figure="size"):
        draw(RESULTS / f"{options.name}-changes.svg", bar_plot(records), "1100,380")
    draw_summary(RESULTS / f"{options.name}-summary.svg", records, options.rows)


def mean_record(family, peer, times):
    return Record("mean", "", peer, statistics.geometric_mean(record.value for record in times),
                  statistics.geometric_mean(record.smallest for record in times), family)


def mean_records(records):
    """Return each peer's geometric means over the queries of a family, and over all families if there are several."""
    times = select(records, figure="query")
    families = {family: select(times, family=family) for family in unique(record.family for record in times)}
    if len(families) > 1:
        families["all queries"] = times
    return [mean_record(family, peer, select(chosen, peer=peer)) for family, chosen in families.items()
            for peer in unique(record.peer for record in chosen)]


def aggregate_table(records, family):
    """Return times of one family of aggregates: a line for each query, a column for each peer, their mean, and
    rtscan's plan.
    """
    times, means = (select(records, figure=figure, family=family) for figure in ("query", "mean"))
    peers, lines = unique(record.peer for record in means), []
    for case in unique(record.case for record in times):
        same = select(times, case=case)
        scan = "".join(number(record.value) for record in
                       select(records, figure="scan", family=family, case=case, peer="rtscan"))
        plan = "".join(record.plan for record in select(same, peer="rtscan"))
        lines.append([case, f"{same[0].rows:,}", *ratios(same, peers), scan, plan])
    lines.append(["**geometric mean**", "", *ratios(means, peers), "", ""])
    return table(["query", "rows returned", *peers, "rtscan: scan", "rtscan's plan"], lines)


def aggregate_markdown(options, records, description, queries):
    parts = [f"# {options.name}\n", description,
             "Times are milliseconds; in brackets the ratio to rtscan's figure in the same line.\n"]
    for family in unique(record.family for record in records if record.family):
        parts += [f"## {family}\n", aggregate_table(records, family)]
    parts += ["## Space and builds\n", change_table(records, options), "## Queries\n"]
    parts += [f"**{query.case}**\n\n```sql\n{query.sql}\n```\n" for query in queries]
    return "\n".join(parts)


def grouped_bar_plot(records):
    """Plot a group of bars for each query and each mean, with a bar for each peer."""
    blocks, bars = "", []
    chosen = select(records, figure="query") + select(records, figure="mean")
    for index, peer in enumerate(unique(record.peer for record in chosen)):
        rows = [(record.case or f"mean, {record.family}", record.value) for record in select(chosen, peer=peer)]
        blocks += data_block(f"bars{index}", rows)
        bars.append(f"$bars{index} using 2:xtic(1) title '{peer}'")
    return (blocks + "set style data histograms\nset style histogram clustered gap 1\nset style fill solid 0.6\n"
            "set logscale y\nset xtics rotate by -30\nset ylabel 'ms'\nset key outside\nplot " + ", ".join(bars) + "\n")


def write_aggregates(options, records, description, queries):
    RESULTS.mkdir(exist_ok=True)
    records = records + mean_records(records)
    (RESULTS / f"{options.name}.md").write_text(aggregate_markdown(options, records, description, queries),
                                                encoding="utf-8")
    write_csv(RESULTS / f"{options.name}.csv", records)
    draw(RESULTS / f"{options.name}.svg", grouped_bar_plot(records), "1300,480")


if __name__ == "__main__":
    recorded = Path(sys.argv[1])
    draw_summary(recorded.with_name(f"{recorded.stem}-summary.svg"), *recorded_times(recorded.read_text(encoding="utf-8")))
