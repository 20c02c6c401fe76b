#!/usr/bin/env python3
"""Tables of fitted drives: each measured drive is fitted by `destage drive fit`, and judged by the other rows.

    drives.py PROGRAM TABLES KEPT [OPTION ...]

PROGRAM is destage, TABLES a folder with latency.csv, and options go to `destage drive fit`. The number of dies is not fitted, because latencies hardly determine
it. It is the power of two of dies of 512 Gbit that holds the capacity in the drive's name; this is a common size of TLC dies in drives of these years. Each
profile is judged by `destage drive check`, on the loads below saturation that it was not fitted on. What a command says is kept in the folder KEPT, and made
again only if it is not there. The second unit of a drive (its name ends in ", second") is judged by the numbers of the first.
"""

import csv
import json
import math
import re
import statistics
import subprocess
import sys
from pathlib import Path

program, tables, kept, options = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4:]
kept.mkdir(parents=True, exist_ok=True)

# What is judged: the figure, and between which errors half and nine tenths of the rows are to lie, in percent.
GOALS = {
    "read p50": (3, 15),
    "read p90": (12, 30),
    "read p99": (6, 20),
    "read p99.9": (12, None),
    "write p50": (None, 5),
    "write p99": (15, 50),
    "write p99, stalls": (10, 45),
    "saturated writes_per_s": (4, 4),
}
# How a profile is judged.
JUDGED = ["--requests", "200000"]


def drives(file: str) -> list[str]:
    with (tables / file).open() as lines:
        return list(dict.fromkeys(row["drive"] for row in csv.DictReader(lines)))


def run(words: list[str], name: str) -> dict:
    result = kept / f"{name}.json"
    if not result.exists():
        done = subprocess.run([program, *words, "--json"], check=True, stdout=subprocess.PIPE, text=True)
        result.write_text(done.stdout)
    return json.loads(result.read_text())


def short(drive: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", drive).strip("-").lower()


def dies(drive: str) -> int:
    """The number of dies of a drive: see above. The name of the drive contains its capacity, such as "1.92 TB"."""
    size, unit = re.search(r"([\d.]+) (GB|TB)", drive).groups()
    least = float(size) * {"GB": 1, "TB": 1000}[unit] / 64
    return 1 << math.ceil(math.log2(least))


def rank(errors: list[float], share: float) -> float:
    errors = sorted(errors)
    return errors[max(0, -(-int(share * 1000) * len(errors) // 1000) - 1)]


def off(row: dict) -> float:
    """The size of an error in percent; none where it is less than what the figure may be off by in its own unit."""
    error = abs(row["error"])
    least = {"write p50": 1, "write p99": 20}.get(row["what"], 0)
    return 0 if error * row["measured"] <= least else 100 * error


def table(judged: dict[str, dict[str, list[float]]], names: list[str]) -> None:
    print("| figure | goal, % | " + " | ".join(names) + " |")
    print("| --- " * (2 + len(names)) + "|")
    for what, (median, most) in GOALS.items():
        goal = " / ".join("-" if of is None else str(of) for of in (median, most))
        cells = []
        for name in names:
            errors = judged[name].get(what, [])
            cells.append(f"{statistics.median(errors):.1f} / {rank(errors, 0.9):.1f} ({len(errors)})" if errors else "-")
        print(f"| {what} | {goal} | " + " | ".join(cells) + " |")


judged: dict[str, dict[str, list[float]]] = {}
worst: list[tuple[float, str]] = []
numbers: dict[str, dict] = {}
fitted_on: dict[str, set[str]] = {}
for drive in drives("latency.csv"):
    first = drive.removesuffix(", second")
    profile = str(kept / f"{short(first)}.toml")
    file = str(tables / "latency.csv")
    if drive == first:
        said = run(["drive", "fit", file, "--drive", drive, "-k", f"flash.dies={dies(drive)}", "-o", profile, *options], f"{short(drive)}-fit")
        numbers[drive] = said["parameters"]
        fitted_on[drive] = {row["offered_writes_per_s"] for row in said["rows"] if row["use"] == "fit"}
    # More requests than a trial has, so that errors are those of the model and not of chance.
    said = run(["drive", "check", profile, "--against", file, "--drive", drive, *JUDGED], f"{short(drive)}-check")
    rows = [row for row in said["rows"] if row["error"] is not None]
    for row in rows:
        row["counts"] &= row["offered_writes_per_s"] not in fitted_on[first]
    saturation = max(float(row["writes_per_s"]) for row in rows)

    def below(row: dict, share: float, all: float = saturation) -> bool:
        return float(row["writes_per_s"]) < share * all

    stalls = any(row["what"] == "write p99" and row["measured"] > 200 and below(row, 0.75) for row in rows)
    found = judged.setdefault(drive, {})
    for row in rows:
        what = row["what"]
        is_rate = what == "saturated writes_per_s"
        if what not in GOALS or not (row["counts"] or is_rate) or (what == "write p50" and not below(row, 0.75)):
            continue
        name = f"{what}, stalls" if what == "write p99" and stalls else what
        found.setdefault(name, []).append(off(row))
        most = GOALS[name][1] or 2 * GOALS[name][0]
        if off(row) > most:
            worst.append((off(row) / most, f"| {drive} | {row['offered_writes_per_s']} | {what} | {row['measured']:.4g} | {row['modelled']:.4g} |"))
pooled: dict[str, list[float]] = {}
for found in judged.values():
    for what, errors in found.items():
        pooled.setdefault(what, []).extend(errors)
table({"all": pooled, **judged}, ["all", *judged])
print()
keys = list(dict.fromkeys(key for of in numbers.values() for key in of))
print("| number | " + " | ".join(numbers) + " |")
print("| --- " * (1 + len(numbers)) + "|")
for key in keys:
    cells = (numbers[drive].get(key) for drive in numbers)
    texts = ("-" if of is None else f"{of['value']:.4g} ({of['low']:.3g} to {of['high']:.3g})" for of in cells)
    print(f"| `{key}` | " + " | ".join(texts) + " |")
print()
print("| drive | writes a second | figure | measured, us | modelled |")
print("| --- | --- | --- | --- | --- |")
for _, line in sorted(worst, reverse=True)[:20]:
    print(line)
