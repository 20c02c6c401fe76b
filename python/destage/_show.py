"""The display of results in notebooks: conclusions in sentences, a table with units and small charts, and a link to
the report page."""

from __future__ import annotations

import base64
import functools
import gzip
import html
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from destage import _core, _registries

#: The metrics that distinguish buffers, in the order of the columns. A table has a column for each of these metrics
#: that the results contain.
_USUAL = (
    "response.mean_ms",
    "response.p99_ms",
    "buffer.write_hits_percent",
    "buffer.evictions",
    "buffer.destaged_pages",
    "buffer.mean_destage_pages",
    "flash.erases",
    "waf.host",
)
#: The largest number of rows of a table. If there are more rows, the table gives the number of the remaining rows.
_ROWS = 20
#: The largest compressed page that is put into a notebook, in bytes.
_PAGE_BYTES = 1_500_000

_STYLE = (
    "<style>.destage{font:13px/1.45 system-ui,sans-serif;max-width:72em}.destage h4{margin:0 0 .3em;font-size:15px}.destage p{margin:.2em 0}"
    ".destage .note{opacity:.75}.destage table{border-collapse:collapse;margin:.6em 0;font-variant-numeric:tabular-nums}"
    ".destage th,.destage td{padding:.2em .7em;text-align:right;border-bottom:1px solid #8884;white-space:nowrap}"
    ".destage th{font-weight:600;vertical-align:bottom}.destage th small{display:block;font-weight:400;opacity:.75}"
    ".destage .name{text-align:left}.destage svg{vertical-align:middle;margin-left:.5em}.destage summary{cursor:pointer}</style>"
)


def card(
    title: str,
    sentences: Iterable[str] = (),
    notes: Iterable[str] = (),
    body: str = "",
    page: Callable[[], str] | None = None,
) -> str:
    """The display in a notebook: `sentences`, then `body`, which is HTML, then `notes`, and a link to the `page`."""
    parts = [_STYLE, '<div class="destage">', f"<h4>{html.escape(title).replace(chr(10), '<br>')}</h4>"]
    parts += [f"<p>{html.escape(sentence)}</p>" for sentence in sentences]
    parts.append(body)
    noted = [f'<p class="note">{html.escape(note)}</p>' for note in notes]
    parts += noted if len(noted) <= 3 else [f"<details><summary>{len(noted)} notes</summary>", *noted, "</details>"]
    if page is not None:
        parts.append(_link(page()))
    parts.append("</div>")
    return "".join(parts)


def _link(page: str) -> str:
    """A link that opens `page`. The link contains the compressed page, so that the page is a part of the notebook."""
    packed = base64.b64encode(gzip.compress(page.encode(), 9, mtime=0)).decode()
    if len(packed) > _PAGE_BYTES:
        return '<p class="note">The page is too large to be kept in a notebook: <code>.report("report.html")</code> writes it.</p>'
    # The tab must be opened during the click, because the browser would block a tab that is opened later. In an event
    # handler `URL` means `document.URL`, so `window.URL` is needed.
    script = (
        "event.preventDefault();const tab=window.open('','_blank');"
        "const bytes=Uint8Array.from(atob(this.dataset.page),letter=&gt;letter.charCodeAt(0));"
        "new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).blob()"
        ".then(page=&gt;{tab.location=window.URL.createObjectURL(new Blob([page],{type:'text/html'}))})"
    )
    return f'<p><a href="#" data-page="{packed}" onclick="{script}">Open the page to explore</a></p>'


def outline(text: str) -> dict[str, Any]:
    """The head and the table of the report page. `text` is the JSON that a command prints."""
    return json.loads(_core.outline(text))


def number(value: Any) -> str:
    """A value for people: with its significant digits, and with separators of thousands."""
    if value is None:
        return "\N{EN DASH}"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    digits = 3 - math.floor(math.log10(abs(value)))
    return f"{value:,.{min(max(digits, 0), 9)}f}" if abs(value) < 1e15 else f"{value:.3e}"


def size(value: Any) -> str:
    """A size in bytes with a binary unit, as it can be typed on the command line."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return number(value)
    for unit, name in ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if value >= unit:
            return f"{value / unit:.4g} {name}"
    return f"{value} B"


def sparkline(values: Sequence[Any], label: str = "") -> str:
    """A small line chart of `values`, with a gap at each missing value. Empty if there are fewer than two values."""
    known = [float(value) for value in values if _is_number(value)]
    if len(known) < 2:
        return ""
    low, high = min(known), max(known)
    scale = 16 / (high - low) if high > low else 0
    across = 70 / max(len(values) - 1, 1)
    lines: list[list[str]] = [[]]
    for place, value in enumerate(values):
        if _is_number(value):
            height = 18 - (float(value) - low) * scale if scale else 10
            lines[-1].append(f"{1 + place * across:.1f},{height:.1f}")
        elif lines[-1]:
            lines.append([])
    drawn = "".join(
        f'<polyline points="{" ".join(line)}" fill="none" stroke="#3b7dd8" stroke-width="1.4"/>' for line in lines if line
    )
    told = html.escape(f"{label}: from {number(values[0])} to {number(values[-1])}".lstrip(": "))
    return f'<svg width="72" height="20" viewBox="0 0 72 20" role="img" aria-label="{told}"><title>{told}</title>{drawn}</svg>'


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def table(heads: Sequence[tuple[str, str]], rows: Sequence[Sequence[str]], names: int, most: int = _ROWS) -> str:
    """A table whose first `names` columns are words. A head consists of a name and a unit. Cells contain HTML. Only
    the first `most` rows are shown."""

    def cell(tag: str, place: int, text: str) -> str:
        return f'<{tag}{" class=name" if place < names else ""}>{text}</{tag}>'

    head = "".join(
        cell("th", place, html.escape(name) + (f"<small>{html.escape(unit)}</small>" if unit else ""))
        for place, (name, unit) in enumerate(heads)
    )
    body = "".join(f"<tr>{''.join(cell('td', place, text) for place, text in enumerate(row))}</tr>" for row in rows[:most])
    more = f'<p class="note">{len(rows) - most} more rows</p>' if len(rows) > most else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def of_table(of: Mapping[str, Any], first: Iterable[str] = ()) -> str:
    """The table of an outline. Rows that differ only in the size of the buffer are joined to one row with a small chart
    over the size.

    The metrics are those in `first` and those in `_USUAL`.
    """
    columns, rows = of["columns"], of["rows"]
    places = {column["name"]: place for place, column in enumerate(columns)}
    named = [column["name"] for column in columns if column["kind"] == "name"]
    # A column with a single value is left out, except the buffer, which is the subject of the table.
    told = [
        name for name in named
        if name != "size" and (name == "buffer" or len({json.dumps(row[places[name]]) for row in rows}) > 1)
    ]
    has_sizes = "size" in places
    metrics = [name for name in dict.fromkeys([*first, *_USUAL]) if name in places and any(row[places[name]] is not None for row in rows)]
    groups: dict[str, list[list[Any]]] = {}
    for row in rows:
        groups.setdefault(json.dumps([row[places[name]] for name in told]), []).append(row)
    if has_sizes:
        for group in groups.values():
            group.sort(key=lambda row: row[places["size"]] or 0)
    heads = [(name, "") for name in told] + ([("size", "")] if has_sizes else [])
    heads += [(_words(name), columns[places[name]]["unit"]) for name in metrics]
    error = places.get("error")
    if error is not None:
        heads.append(("failed", ""))

    def span(values: Sequence[Any], show: Callable[[Any], str]) -> str:
        shown = [html.escape(show(value)) for value in (values[0], values[-1])]
        return shown[0] if len(values) == 1 or shown[0] == shown[1] else f"{shown[0]} \N{RIGHTWARDS ARROW} {shown[1]}"

    cells = []
    for group in groups.values():
        line = [html.escape(str(group[0][places[name]])) for name in told]
        if has_sizes:
            line.append(span([row[places["size"]] for row in group], size))
        for name in metrics:
            values = [row[places[name]] for row in group]
            line.append(span(values, number) + sparkline(values, _words(name)))
        if error is not None:
            failed = [row[error] for row in group if row[error]]
            line.append(html.escape("; ".join(dict.fromkeys(failed))))
        cells.append(line)
    return table(heads, cells, len(told))


def _words(metric: str) -> str:
    unit = _unit(metric)
    for ending, of in (("_ms", "ms"), ("_percent", "%"), ("_us", "us")):
        if unit == of and metric.endswith(ending):
            metric = metric.removesuffix(ending)
    return metric.replace("_", " ").replace(".", " ")


@functools.cache
def _units() -> dict[str, str]:
    return {name: str(row.fields["unit"]) for name, row in _registries.metrics().items()}


def _unit(metric: str) -> str:
    # A row of the registry with a star in its name describes several metrics.
    return _units().get(metric, "ms" if metric.endswith("_ms") else "")


def of_metrics(metrics: Mapping[str, Any]) -> str:
    """A table of the usual metrics of a run, and the number of further metrics."""
    there = [name for name in _USUAL if name in metrics]
    rows = [[html.escape(name), html.escape(number(metrics[name])), html.escape(_unit(name))] for name in there]
    rest = len(metrics) - len(there)
    more = f'<p class="note">{rest} more in <code>.metrics</code></p>' if rest else ""
    return table([("metric", ""), ("value", ""), ("unit", "")], rows, 1) + more
