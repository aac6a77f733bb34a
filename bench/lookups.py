#!/usr/bin/env python3
"""Compare lookups by rays (RTIndeX, cgRX) with a binary search and a hash table, on a device.

    lookups.py [--paper] [--device NAME] [--seconds N]
    lookups.py --tables FILE [--device NAME]

Runs lookups/lookups (`make bench/lookups/lookups` builds it), which compares every answer with the host's, and writes
results/lookups.csv and lookups.md. --paper measures everything that the papers vary; otherwise there is one small column.
--tables makes the tables of an earlier CSV again.
"""
import argparse
import csv
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
USUAL = {"keys": 1 << 26, "dense": 0, "key_bits": 32, "duplicates": 1, "places": "x 22, y 21", "batch": 1 << 24, "hit_rate": 1,
         "range": 0, "sorted": 0}
NOTES = """Millions of lookups a second, if nothing else is said; of ranges, millions of rows found a second. Times are the device's:
builds once, from keys in no order on the device; lookups medians. Every answer (how many rows, and the sum of their numbers) is
the host's. *sparse*: one key drawn from each of as many equal parts of all numbers; *dense*: 0, 1, ... All lookups find rows, if
no hit rate is said.
"""


def number(value):
    """Return three significant digits, without an exponent."""
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3
    return f"{value:,.{digits}f}"


def power(value):
    return f"2^{int(value).bit_length() - 1}"


def plain(value):
    return f"{value:g}" if isinstance(value, float) else value


def rate(row):
    return number(row["lookups_per_second"] / 1e6)


def rate_with_sort(row):
    return number(row["batch"] / (row["lookup_ms"] + row["sort_ms"]) / 1e3)


def found_rate(row):
    return number(row["lookups_per_second"] * max(row["range"], 1) / 1e6)


def build(row):
    return number(row["build_ms"])


def bytes_a_row(row):
    return number(row["bytes"] / row["keys"])


def read_rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        rows = [{name: value if name == "way" else float(value) for name, value in row.items()} for row in csv.DictReader(file)]
    return [{**row, "places": f"x {row['x_bits']:2g}, y {row['y_bits']:2g}"} for row in rows]


def unique(values):
    return list(dict.fromkeys(values))


def table(header, lines):
    return "\n".join("| " + " | ".join(line) + " |" for line in [header, ["---"] * len(header), *lines]) + "\n"


def figure(rows, title, column, name, cell, **changes):
    """Yield a table with a line for each way, and a column for each value of one parameter. All other parameters
    have their usual values, except for changes.
    """
    wanted = {**USUAL, **changes}
    chosen = [row for row in rows if all(row[key] == value for key, value in wanted.items() if key != column)]
    values = unique(sorted(row[column] for row in chosen))
    lines = []
    for way in unique(row["way"] for row in chosen):
        cells = {row[column]: cell(row) for row in chosen if row["way"] == way}
        lines.append([way, *(cells.get(value, "") for value in values)])
    return f"## {title}\n\n" + table(["", *map(name, values)], lines) if lines else ""


def figures(rows):
    sorted_title = "The same, sorted lookups, without their sort"
    return [
        figure(rows, "Batches: 2^26 sparse keys of 32 bits, unsorted lookups", "batch", power, rate),
        figure(rows, sorted_title, "batch", power, rate, sorted=1),
        figure(rows, "The same, with their sort", "batch", power, rate_with_sort, sorted=1),
        figure(rows, "Keys: sparse, of 32 bits, 2^24 unsorted lookups", "keys", power, rate),
        figure(rows, sorted_title, "keys", power, rate, sorted=1),
        figure(rows, "Building that, ms", "keys", power, build),
        figure(rows, "Its memory, bytes a key", "keys", power, bytes_a_row),
        figure(rows, "Keys: sparse, of 64 bits, 2^24 unsorted lookups", "keys", power, rate, key_bits=64),
        figure(rows, sorted_title, "keys", power, rate, key_bits=64, sorted=1),
        figure(rows, "The same, unsorted, half of them found", "keys", power, rate, key_bits=64, hit_rate=0.5),
        figure(rows, "Building that, ms", "keys", power, build, key_bits=64),
        figure(rows, "Its memory, bytes a key", "keys", power, bytes_a_row, key_bits=64),
        figure(rows, "Hit rate: 2^26 sparse keys of 32 bits, 2^24 unsorted lookups", "hit_rate", plain, rate),
        figure(rows, sorted_title, "hit_rate", plain, rate, sorted=1),
        figure(rows, "Rows of each key: 2^26 rows, sparse keys of 32 bits, 2^20 unsorted lookups", "duplicates", plain, rate,
               batch=1 << 20),
        figure(rows, sorted_title, "duplicates", plain, rate, batch=1 << 20, sorted=1),
        figure(rows, "Building that, ms", "duplicates", plain, build, batch=1 << 20),
        figure(rows, "Its memory, bytes a row", "duplicates", plain, bytes_a_row, batch=1 << 20),
        figure(rows, "Keys of a range (0: lookups of keys): 2^18 unsorted lookups in 2^26 dense keys", "range", plain, found_rate,
               batch=1 << 18, dense=1),
        figure(rows, "Bits of x and y: 2^24 unsorted lookups in 2^26 dense keys", "places", plain, rate, dense=1),
        figure(rows, "The same, 2^18 ranges of 64 keys", "places", plain, found_rate, dense=1, batch=1 << 18, range=64),
    ]


def all_lines(rows):
    """Yield a line for each measurement that is in no table."""
    names = [name for name in rows[0] if name != "places"]
    return "## All\n\n" + table(names, [[plain(row[name]) for name in names] for row in rows])


def write_tables(path, device, paper):
    rows = read_rows(path)
    parts = figures(rows) if paper else [all_lines(rows)]
    text = "\n".join([f"# Lookups by rays{device}\n", NOTES, *filter(None, parts)])
    path.with_suffix(".md").write_text(text, encoding="utf-8")


def measure(options, path):
    """Run the program. Returns its output, the device's name, and whether all answers were right."""
    command = [str(HERE / "lookups" / "lookups"), "--csv", str(path), "--device", options.device, "--seconds", str(options.seconds)]
    device = ""
    with subprocess.Popen(command + ["--paper"] * options.paper, stdout=subprocess.PIPE, text=True) as program:
        for line in program.stdout:
            print(line, end="", flush=True)
            if line.startswith("device: "):
                device = f": {line[8:].strip()}"
    return device, program.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--paper", action="store_true")
    parser.add_argument("--device", default="", help="as rtscan.device; by default the first that is not software")
    parser.add_argument("--seconds", type=int, default=240, help="after so many no other structure is built")
    parser.add_argument("--tables", type=Path, metavar="FILE")
    options = parser.parse_args()
    if options.tables:
        write_tables(options.tables, f": {options.device}" * bool(options.device), True)
        return 0
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / "lookups.csv"
    device, right = measure(options, path)
    if path.exists() and read_rows(path):
        write_tables(path, device, options.paper)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
