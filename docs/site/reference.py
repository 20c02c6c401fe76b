"""The reference: what there is to choose from, out of the registries of the program itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import destage

ROOT = Path(__file__).resolve().parents[2]


def plain(text: str) -> str:
    """`text` as Markdown that shows it as it is; code in backticks stays code."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([\\*_<>\[\]{}|#$~])", r"\\\1", part) for part in parts)


def shown(value: Any) -> str:
    """A value as it is typed."""
    return {True: "true", False: "false"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def parameter(row: destage.Row) -> str:
    """A parameter with its default, unit, range, meaning and source."""
    of = row.fields
    unit = f" {of['unit']}" if of["unit"] else ""
    value = f"`{row.name}` = `{shown(of.get('value', of['default']))}{unit}`"
    default = f" The default elsewhere is `{shown(of['default'])}{unit}`." if "value" in of and of["default"] is not None else ""
    source = f" Source: {plain(of['source'].rstrip('.'))}." if of["source"] else ""
    expected = plain(of["expected"])
    needs = "".join(f": Needs {plain(need)}.\n" for need in of["needs"])
    excludes = "".join(f": Excludes {plain(one['with'])}: {plain(one['because'])}.\n" for one in of["excludes"])
    return f"{value}\n: {plain(row.about)}\n: Expected: {expected}.{default}{source}\n{needs}{excludes}"


def parameters(rows: Iterable[destage.Row]) -> str:
    """A list of parameters."""
    return "\n".join(parameter(row) for row in rows) or "No parameters of its own.\n"


def page_of(row: destage.Row, folder: str, known: set[Path]) -> str:
    """A link to the page on a scheme or layer."""
    path = Path("docs") / folder / f"{row.name}.md"
    return f" [More](../{path})." if path in known else ""


def section(row: destage.Row, more: str = "") -> str:
    """A row with its parameters."""
    source = f"\n\nSource: {plain(row.fields['source'].rstrip('.'))}." if row.fields.get("source") else ""
    return f"## {row.name}\n\n{plain(row.about)}{more}{source}\n\n{parameters(row.parameters.values())}\n"


def overview(rows: Iterable[destage.Row], column: str | None = None) -> str:
    """A table of names and meanings."""
    head = ["name", *([column] if column else []), "is"]
    lines = [head, ["---"] * len(head)]
    for row in rows:
        middle = [plain(str(row.fields[column]))] if column else []
        lines.append([f"[{row.name}](#{row.name})", *middle, plain(row.about)])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n\n"


def buffers(known: set[Path]) -> str:
    """The schemes."""
    rows = list(destage.buffers().values())
    common = [row for row in destage.parameters().values() if row.name.startswith("buffer.")]
    return (
        "# Schemes\n\nWhat `destage list buffers` and `destage show buffer NAME` say. `--buffer NAME:key=value` sets a parameter without its `buffer.`. "
        "Where a rule was rebuilt from a summary of its paper, the page of the scheme says so.\n\n"
        + overview(rows, "family")
        + "## All of them have\n\n"
        + parameters(common)
        + "\n"
        + "".join(section(row, page_of(row, "schemes", known)) for row in rows)
    )


def ftls(known: set[Path]) -> str:
    """The translation layers."""
    rows = list(destage.ftls().values())
    return (
        "# Translation layers\n\nWhat `destage list ftls` and `destage show ftl NAME` say. `--ftl NAME:key=value` sets a parameter without its `ftl.`.\n\n"
        + overview(rows)
        + "".join(section(row, page_of(row, "ftls", known)) for row in rows)
    )


def profiles(_: set[Path]) -> str:
    """The device profiles."""
    rows = list(destage.profiles().values())
    return (
        "# Device profiles\n\nWhat `destage list profiles` and `destage show profile NAME` say. `--profile NAME` takes one; a file of your own has the same form as those in `profiles/`.\n\n"
        + overview(rows)
        + "".join(section(row) for row in rows)
    )


def workloads(_: set[Path]) -> str:
    """The synthetic workloads."""
    rows = list(destage.workloads().values())
    return (
        "# Workloads\n\nWhat `destage list workloads` and `destage show workload NAME` say. `--workload NAME:key=value` sets a parameter without its `workload.`. "
        "[What they stand for](../docs/workloads.md), and how well.\n\n"
        + overview(rows)
        + "".join(section(row) for row in rows)
    )


def formats(_: set[Path]) -> str:
    """The formats of traces."""

    def one(row: destage.Row) -> str:
        of = row.fields
        facts = {
            "Columns": plain(of.get("columns") or ""),
            "Unit of time": plain(of.get("time_unit") or ""),
            "Endings": ", ".join(f"`.{ending}`" for ending in of.get("extensions") or []),
            "Example": f"`{of['example']}`" if of.get("example") else "",
        }
        lines = "".join(f"* {name}: {fact}\n" for name, fact in facts.items() if fact)
        return f"## {row.name}\n\n{plain(row.about)}\n\n{lines}\n"

    rows = list(destage.formats().values())
    return (
        "# Formats of traces\n\nWhat `destage list formats` says. A format is found from the content; `--format NAME` names it. [More on traces](../docs/TRACES.md).\n\n"
        + overview(rows)
        + "".join(one(row) for row in rows)
    )


def all_parameters(_: set[Path]) -> str:
    """The parameters of device, host, trace and run."""
    titles = {
        "flash": "The flash",
        "ftl": "The translation layer",
        "buffer": "The buffer",
        "device": "Order and power",
        "host": "The host",
        "trace": "How a trace is read",
        "sim": "The run",
    }
    groups: dict[str, list[destage.Row]] = {name: [] for name in titles}
    for row in destage.parameters().values():
        groups.setdefault(row.name.split(".")[0], []).append(row)
    return (
        "# Parameters\n\nWhat `destage show` says. Each is set with `--set KEY=VALUE`, in a TOML file, or in Python. Schemes and layers have more: [schemes](buffers.md), [translation layers](ftls.md).\n\n"
        + "".join(f"## {titles.get(name, name)}\n\n{parameters(rows)}\n" for name, rows in groups.items() if rows)
    )


def formulas() -> Mapping[str, str]:
    """What the glossary says of each metric, by the names in the first column of its table."""
    text = (ROOT / "docs/GLOSSARY.md").read_text()
    rows = re.findall(r"^\| ((?:`[^`|]+`[ ,]*)+)\| (.+) \|$", text.split("\n## Metrics\n")[1], flags=re.M)
    return {name: formula for names, formula in rows for name in re.findall("`([^`]+)`", names)}


def formula(name: str, known: Mapping[str, str]) -> str | None:
    """The formula of metric `name`; `N` in the glossary stands for a number."""
    return known.get(name, known.get(re.sub(r"_\d+$", "_N", name)))


def metrics(_: set[Path]) -> str:
    """The metrics, with their formulas."""
    titles = {
        "host": "What was asked for",
        "response": "Response times",
        "throughput": "Throughput",
        "buffer": "The buffer",
        "device": "What is at risk",
        "flash": "The flash",
        "ftl": "The translation layer",
        "waf": "Write amplification",
        "wear": "Wear",
        "scheme": "Of a scheme",
        "sim": "The run",
        "trace": "Of a trace",
    }
    known = formulas()
    groups: dict[str, list[str]] = {}
    for row in destage.metrics().values():
        unit = f" ({row.fields['unit']})" if row.fields["unit"] else ""
        of = formula(row.name, known)
        text = f"`{row.name}`{unit}\n: {plain(row.about)}\n" + (f": = {of}\n" if of else "")
        # Responses of the device and of destages stand with those of the host.
        group = row.name.split(".")[0].removeprefix("destage_").removeprefix("device_")
        groups.setdefault(group, []).append(text)
    return (
        "# Metrics\n\nWhat `destage list metrics` says, with the formulas of the [glossary](../docs/GLOSSARY.md#metrics). "
        "A `*` stands for `mean`, `std`, `p50`, `p95`, `p99`, `p999` and `max`. A metric that has no meaning in a run is absent.\n\n"
        + "".join(f"## {titles.get(name, name.capitalize())}\n\n" + "\n".join(rows) + "\n" for name, rows in groups.items())
    )


def experiments(_: set[Path]) -> str:
    """The papers' experiments."""
    rows = destage.experiments().values()
    lines = "\n".join(f"| `{row.name}` | {plain(row.about)} |" for row in rows)
    return f"# Experiments\n\nWhat `destage list experiments` says; `destage reproduce NAME` runs one. [What came of them](../experiments/README.md).\n\n| name | is |\n| --- | --- |\n{lines}\n"


def pages(known: set[Path]) -> dict[str, str]:
    """Every page, by its name. `known` are the other pages of the site."""
    makers = {
        "buffers": buffers,
        "ftls": ftls,
        "profiles": profiles,
        "workloads": workloads,
        "formats": formats,
        "parameters": all_parameters,
        "metrics": metrics,
        "experiments": experiments,
    }
    return {name: make(known) for name, make in makers.items()}
