"""Tests of the report in a browser. The report must not request other files, must show all data, and all its controls must work.

One test looks at every kind of page: light, dark, on a telephone and on paper. It and the test of odd results save
screenshots of the pages in target/report. The tests need the Chromium of Debian (`make tools`).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import destage
import pytest
from conftest import FAINT, command, kept, needs_browser, requests
from destage import _core

MIXED = destage.Workload("mixed", requests=2000)
SMALL = {"flash.blocks_per_plane": 40}
PARTS = ["queue", "bus", "slot", "slot_gc", "die", "die_gc", "flash"]


def data(page: str) -> dict[str, Any]:
    """The JSON data in the HTML text `page`."""
    return json.loads(page.split('<script type="application/json" id="data">')[1].split("</script>")[0])


@pytest.fixture(scope="session")
def results() -> destage.Results:
    return destage.compare(MIXED, buffers=["nocache", "fifo", "lru", "bplru"], sizes=["1MiB", "4MiB", "16MiB"], settings=SMALL)


@pytest.fixture(scope="session")
def crossed() -> destage.Results:
    """Runs of every scheme at eight sizes."""
    sizes = [f"{256 << power}KiB" for power in range(8)]
    return destage.compare(destage.Workload("mixed", requests=1000), buffers="all", sizes=sizes, settings=SMALL)


def explained(text: str) -> str:
    """The document `text` of a run, with a made-up member `explained` in the form that docs/EXPLAIN.md describes."""
    document = json.loads(text)
    spread = {"from_ms": [0.1, 1.0, 9.0], "to_ms": [0.1, 1.1, 9.5], "requests": [90, 9, 1]}
    spread |= {f"{part}_ms": [1.0 * place, 2.0, 3.0] for place, part in enumerate(PARTS)}
    split = {part: 0.5 for part in PARTS}
    tail = {"from_percentile": 99, "requests": 1, "mean_ms": 9.2, "split_ms": split}
    of = {"requests": 100, "mean_ms": 0.3, "percentiles_ms": {"50": 0.1, "max": 9.5}, "split_ms": split, "tail": tail, "histogram": spread}
    count = 1000
    names = ["requests", "read.mean_ms", "write.p99_ms", "queue.mean", "buffer.dirty_pages", "gc.time_ms", "flash.erases", "utilization.mean"]
    columns: dict[str, list[Any]] = {name: [None if row % 7 == 3 else row % 13 for row in range(count)] for name in names}
    columns |= {f"utilization.{die}": [(row + die) % 10 / 10 for row in range(count)] for die in range(8)}
    worst = {"index": [7, 8], "operation": ["write", "read"], "response_ms": [9.5, 9.2], "waited_for": ["slot", None]}
    document["explained"] = {
        "words": ["The slowest 1 % wait for <slots>."],
        "parts": PARTS,
        "response": {"read": of, "write": of},
        "series": {"start_ms": 0.0, "interval_ms": 4.0, "columns": {"time_ms": [4.0 * row for row in range(count)], **columns}},
        "destages": {"pages": [1, 2, 64], "records": [10, 20, 3], "pad_reads": [0, 0, 0], "pad_fills": [0, 0, 0]},
        "wear": {"erases": [0, 1, 2], "blocks": [100, 20, 3]},
        "worst": worst,
    }
    return json.dumps(document)


def written(text: str, path: Path) -> Path:
    path.write_text(_core.report(text, None), encoding="utf-8")
    return path


def test_a_page_says_what_the_command_line_says(tmp_path: Path, results: destage.Results) -> None:
    ours, again, typed = tmp_path / "ours.html", tmp_path / "again.html", tmp_path / "typed.html"
    results.report(ours)
    results.report(str(again))
    assert ours.read_bytes() == again.read_bytes()
    command("compare", "--workload", "mixed:requests=2000", "--buffers", "nocache,fifo,lru,bplru", "--sizes", "1MiB,4MiB,16MiB",
            "--set", "flash.blocks_per_plane=40", "-o", typed)
    one, other = (data(page.read_text()) for page in (ours, typed))
    del one["manifest"], other["manifest"]
    assert one == other
    said = command("compare", "--workload", "mixed:requests=2000", "--buffers", "nocache,fifo,lru,bplru", "--sizes", "1MiB,4MiB,16MiB",
                   "--set", "flash.blocks_per_plane=40")
    sentence = next(line for line in said.splitlines() if line.startswith("With 16 MiB"))
    assert sentence in ours.read_text()


def test_every_kind_of_result_has_a_page(tmp_path: Path) -> None:
    zipf = destage.Workload("zipf", requests=300)
    run = destage.simulate(zipf, size="1MiB")
    curves = destage.curve(zipf, buffers=["lru", "fifo"])
    answers = destage.size(zipf, goals="buffer.evictions<100000", buffers=["lru"], sizes=["1MiB"])
    made = destage.reproduce("bplru/examples", results=tmp_path / "kept")
    for name, document, kind in [("r", run, "run"), ("c", curves, "curve"), ("s", answers, "size"), ("p", made, "reproduce")]:
        path = tmp_path / f"{name}.html"
        document.report(path, title="A <title>")
        page = path.read_text()
        assert "<title>A &lt;title&gt;</title>" in page and data(page)["kind"] == kind
    assert sorted(path.name for path in tmp_path.glob("*.*")) == ["c.html", "p.html", "r.html", "s.html"]


def test_what_cannot_be_written_is_said(tmp_path: Path, results: destage.Results) -> None:
    with pytest.raises(destage.InputError, match="nowhere.x.html: cannot be written: .*; expected a path in"):
        results.report(tmp_path / "nowhere" / "x.html")
    with pytest.raises(destage.InputError, match="no results; expected what destage run"):
        _core.report("{}", None)
    assert list(tmp_path.iterdir()) == []


def test_a_report_of_all_schemes_stays_small(tmp_path: Path, crossed: destage.Results) -> None:
    path = tmp_path / "all.html"
    crossed.report(path)
    assert len(crossed) > 200
    assert path.stat().st_size < 3_000_000


class Opened:
    """A page in the browser, with the errors that occurred in it."""

    def __init__(self, context: Any, path: Path) -> None:
        self.page = context.new_page()
        self.wrong: list[str] = []
        self.page.on("console", lambda message: self.wrong.append(message.text) if message.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("request", lambda request: self.asked(request.url))
        self.page.goto(path.as_uri())
        # A page of `--watch`, which has the element `recording`, is ready when it is loaded.
        self.page.wait_for_selector("html[data-ready], #recording", state="attached")

    def asked(self, url: str) -> None:
        if not url.startswith(("file:", "data:", "blob:")):
            self.wrong.append(f"asks for {url}")

    def see_all(self) -> None:
        """Scrolls through the whole page, because the page draws a chart only when the chart is in view."""
        height = self.page.evaluate("document.documentElement.scrollHeight")
        for place in range(0, height, 500):
            self.page.evaluate(f"scrollTo(0, {place})")
            self.settle()
        self.page.evaluate("scrollTo(0, 0)")
        self.settle()

    def settle(self) -> None:
        """Waits for three frames. The page draws changes with the next frame, and on a busy machine this frame may be late."""
        self.page.evaluate("new Promise((done) => { let frames = 3; const next = () => (frames-- ? requestAnimationFrame(next) : setTimeout(done)); next(); })")

    def charts(self) -> list[tuple[float, float, int]]:
        """The width, the height and the number of drawn elements of each chart."""
        found = self.page.locator(".plot").evaluate_all(
            "all => all.map((plot) => { const svg = plot.querySelector('svg'); const box = svg ? svg.getBoundingClientRect() : { width: 0, height: 0 };"
            " return [box.width, box.height, plot.querySelectorAll('svg path, svg rect').length]; })"
        )
        return [tuple(each) for each in found]

    def drawn(self) -> str:
        """The SVG code of the first chart, after all changes are drawn."""
        self.settle()
        return self.page.locator(".plot svg").first.inner_html()

    def column(self, index: int) -> list[str]:
        return self.page.locator(f"#runs tbody tr td:nth-child({index})").all_inner_texts()

    def unnamed(self) -> list[str]:
        """The controls and pictures for which the browser has no name to tell those who cannot see them."""
        nodes = self.page.context.new_cdp_session(self.page).send("Accessibility.getFullAXTree")["nodes"]
        known = {node["nodeId"]: node for node in nodes}

        def role(node: dict[str, Any]) -> str:
            return node.get("role", {}).get("value", "")

        def is_in_picture(node: dict[str, Any]) -> bool:
            above = known.get(node.get("parentId", ""))
            return above is not None and (role(above) == "image" or is_in_picture(above))

        def needs_name(node: dict[str, Any]) -> bool:
            is_control = any(each["name"] == "focusable" and each["value"]["value"] for each in node.get("properties", []))
            is_picture = role(node) in ("image", "Canvas", "SvgRoot") and not is_in_picture(node)
            return not node["ignored"] and (is_control or is_picture)

        return [role(node) for node in nodes if needs_name(node) and not node["name"]["value"].strip()]

    def lost_to_tab(self) -> list[str]:
        """The controls that the Tab key does not reach, or not in their order on the page."""
        for _ in range(self.page.evaluate(CONTROLS)):
            self.page.keyboard.press("Tab")
        return self.page.evaluate(REACHED)


Open = Callable[..., Opened]

# A script that returns the elements because of which a page has to be scrolled sideways. With the layout of a telephone,
# `innerWidth` grows with the content, so `clientWidth` is the width of the screen.
TOO_WIDE = """() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    const found = [...document.querySelectorAll("body *")].filter((each) => each.checkVisibility() && each.getBoundingClientRect().right > clientWidth + 0.5);
    return [`${scrollWidth} for ${clientWidth}`, ...found.map((each) => `${each.tagName} ${each.id} ${each.getAttribute("class")}`).slice(0, 8)];
}"""
# A script that returns what is wrong with the charts of a page. The rectangle of a label is a little larger than its
# text, and that of a turned label much larger, so turned labels are not compared with others.
CHARTS = """() => [...document.querySelectorAll(".plot")].filter((plot) => plot.checkVisibility()).flatMap((plot) => {
    const title = plot.closest("figure").querySelector("figcaption").textContent;
    const svg = plot.querySelector("svg");
    if (!svg) return [`${title}: not drawn`];
    const box = svg.getBoundingClientRect();
    const wrong = box.width < 200 || box.left < 0 || box.right > document.documentElement.clientWidth ? [`${title}: from ${box.left} to ${box.right}`] : [];
    const labels = [...svg.querySelectorAll("text")].filter((text) => text.textContent.trim()).map((text) => {
        const { left, right, top, bottom } = text.getBoundingClientRect();
        return { said: text.textContent, left: left + 1, right: right - 1, top: top + 3, bottom: bottom - 3, isTurned: text.getCTM().b !== 0 };
    });
    for (const one of labels) {
        if (one.left < box.left || one.right > box.right || one.top < box.top || one.bottom > box.bottom) wrong.push(`${title}: ${one.said} is cut off`);
        const others = labels.slice(labels.indexOf(one) + 1).filter((other) => !one.isTurned && !other.isTurned);
        const under = others.filter((other) => one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom);
        wrong.push(...under.map((other) => `${title}: ${one.said} lies on ${other.said}`));
    }
    return wrong;
})"""
# Two scripts for the Tab key. The first one begins a list of the elements that get the focus, and returns how often the
# key has to be pressed: once for each control, and for each box with a scroll bar. The second one returns the controls
# that are missing in the list, or the first one that is out of order.
CONTROLS = """() => {
    window.controls = [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex]")].filter((each) => each.checkVisibility({ visibilityProperty: true }));
    window.focused = [];
    document.addEventListener("focusin", ({ target }) => focused.push(target));
    const boxes = [...document.querySelectorAll("body *")].filter((each) => ["auto", "scroll"].includes(getComputedStyle(each).overflowY));
    return controls.length + boxes.length;
}"""
REACHED = """() => {
    const name = (element) => `${element.tagName} ${element.getAttribute("aria-label") || element.textContent || element.id}`.slice(0, 80);
    const reached = [...new Set(focused)].filter((each) => controls.includes(each));
    const missing = controls.filter((each) => !reached.includes(each));
    return (missing.length ? missing : controls.filter((each, index) => each !== reached[index]).slice(0, 1)).map(name);
}"""


@pytest.fixture
def opened(browser: Any) -> Iterator[Open]:
    """A function that opens pages. The test fails if there is an error in one of the pages."""
    pages: list[Opened] = []
    contexts = []

    def open_one(path: Path, picture: str | None = None, media: str | None = None, **how: Any) -> Opened:
        # The tests evaluate scripts in the page. The content security policy of the page would forbid this, so the
        # browser ignores the policy.
        contexts.append(browser.new_context(**{"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce", "bypass_csp": True, **how}))
        page = Opened(contexts[-1], path)
        pages.append(page)
        page.see_all()
        if media:
            page.page.emulate_media(media=media)
            page.settle()
        if picture:
            page.page.screenshot(path=kept(f"report/{picture}.png"), full_page=True)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert [wrong for page in pages for wrong in page.wrong] == []


@needs_browser
def test_charts_are_there_and_legend_metric_and_axis_change_them(tmp_path: Path, results: destage.Results, opened: Open) -> None:
    path = tmp_path / "r.html"
    results.report(path)
    page = opened(path)
    assert all(width > 300 and height > 100 and count > 5 for width, height, count in page.charts())
    whole = page.drawn()
    key = page.page.locator("#explore .legend button[data-series=lru]")
    key.click()
    assert key.get_attribute("aria-pressed") == "false"
    without = page.drawn()
    assert without.count("<path") < whole.count("<path")
    key.press("Enter")
    assert key.get_attribute("aria-pressed") == "true" and page.drawn().count("<path") == whole.count("<path")
    # While the mouse is over a series in the legend, the page dims the other series.
    page.page.locator("#explore .legend button[data-series=fifo]").hover()
    page.page.wait_for_function("""document.querySelector(".plot svg").innerHTML.includes('stroke-opacity="0.12"')""")
    choose = page.page.locator("#explore select")
    choose.nth(0).select_option(label="flash.erases")
    assert page.page.locator("#explore figcaption").inner_text() == "flash.erases over size"
    assert page.drawn() != whole
    choose.nth(1).select_option(label="buffer")
    assert page.page.locator("#explore figcaption").inner_text() == "flash.erases over buffer"
    for metric in choose.nth(0).locator("option").all()[::9]:
        choose.nth(0).select_option(value=metric.get_attribute("value"))
    for axis in choose.nth(1).locator("option").all()[::9]:
        page.page.locator("#explore select").nth(1).select_option(value=axis.get_attribute("value"))
    assert page.page.locator("#explore .plot svg").count() == 1


@needs_browser
def test_bounds_are_spoken_of_where_one_was_run(tmp_path: Path, results: destage.Results, opened: Open) -> None:
    path = tmp_path / "r.html"
    results.report(path)
    page = opened(path)
    assert "stands first" in page.page.inner_text("#explore") and "no rank" not in page.page.inner_text("#explore")
    destage.compare(MIXED, buffers=["fifo", "lru", "belady"], sizes=["1MiB", "4MiB"], settings=SMALL).report(path)
    assert "belady is a bound and has no rank." in opened(path).page.inner_text("#explore")


@needs_browser
def test_a_legend_leaves_out_what_the_input_says(tmp_path: Path, opened: Open) -> None:
    study = tmp_path / "s.toml"
    study.write_text("""title = "Two inputs"
[[input]]
name = "near"
workload = "uniform:requests=300"
[[input]]
name = "far"
workload = "uniform:requests=300"
set = { "trace.lba_shift" = 63 }
[[grid]]
buffers = ["lru", "fifo"]
sizes = ["256KiB", "1MiB"]
vary = { "host.queue_depth" = [1, 8] }
""")
    destage.study(study, results=tmp_path / "kept")
    page = opened(tmp_path / "kept" / "s" / "report.html")
    names = page.page.locator("#explore .legend button[data-series]").all_inner_texts()
    assert sorted(names) == sorted(f"{name}, {buffer}, host.queue_depth={depth}" for name in ("near", "far") for buffer in ("lru", "fifo") for depth in (1, 8))
    # The user can still choose a parameter as the axis if the legend does not show this parameter.
    assert "trace.lba_shift" in page.page.locator("#explore select").nth(1).inner_text()


@needs_browser
def test_zoom_and_logarithm(tmp_path: Path, results: destage.Results, opened: Open) -> None:
    path = tmp_path / "r.html"
    results.report(path)
    page = opened(path)
    whole = page.drawn()
    page.page.locator("#explore .plot").focus()
    page.page.keyboard.press("+")
    assert page.drawn() != whole
    back = page.page.get_by_role("button", name="Reset zoom").first
    back.wait_for(state="visible")
    back.click()
    assert page.drawn() == whole and not back.is_visible()
    box = page.page.locator("#explore .plot").bounding_box()
    page.page.mouse.move(box["x"] + 600, box["y"] + 150)
    tip = page.page.locator(".tip").filter(has_text="size: 4 MiB").first
    tip.wait_for(state="visible")
    told = tip.inner_text()
    assert told.startswith("size: 4 MiB") and "bplru" in told and " ms" in told
    page.page.mouse.move(box["x"] + 300, box["y"] + 100)
    page.page.mouse.down()
    page.page.mouse.move(box["x"] + 700, box["y"] + 300, steps=5)
    page.page.mouse.up()
    back.wait_for(state="visible")
    back.click()
    page.page.get_by_label("log y").click()
    assert page.drawn() != whole


@needs_browser
def test_tables_sort_filter_and_show_other_columns(tmp_path: Path, results: destage.Results, opened: Open) -> None:
    path = tmp_path / "r.html"
    results.report(path)
    page = opened(path)
    rows = page.page.locator("#runs tbody tr")
    assert rows.count() == len(results) == 10
    page.page.locator("#runs thead button", has_text="evictions").click()
    heads = page.page.locator("#runs thead th")
    place = next(index for index in range(heads.count()) if heads.nth(index).get_attribute("aria-sort") == "ascending") + 1
    numbers = [float(text.replace(",", "")) for text in page.column(place) if text != "-"]
    assert numbers == sorted(numbers) and len(set(numbers)) > 3
    page.page.locator("#runs thead button", has_text="evictions").click()
    numbers = [float(text.replace(",", "")) for text in page.column(place) if text != "-"]
    assert numbers == sorted(numbers, reverse=True)
    # Rows without a value are the last rows, whether the table is sorted upwards or downwards.
    page.page.locator("#runs thead button", has_text="size").click()
    page.page.locator("#runs thead button", has_text="size").click()
    assert page.column(2) == ["16 MiB"] * 3 + ["4 MiB"] * 3 + ["1 MiB"] * 3 + ["-"]
    page.page.get_by_label("Filter rows of").first.fill('"4 mib" LRU')
    assert page.column(1) == ["lru", "bplru"] and "2 of 10 rows" in page.page.locator("#runs").inner_text()
    assert page.page.locator("#runs thead th", has_text="waf").count() == 1
    page.page.locator("#runs summary").click()
    page.page.get_by_label("waf.ftl", exact=True).check()
    assert page.page.locator("#runs thead th", has_text="waf").count() == 2


@needs_browser
def test_a_search_shows_what_was_asked_for(tmp_path: Path, opened: Open) -> None:
    buffers = ["lru", "fifo", "block-lru"]
    answers = destage.size(MIXED, goals=["waf.bytes<9", "buffer.evictions>-1"], buffers=buffers, sizes=["1280KiB"], settings=SMALL)
    path = tmp_path / "s.html"
    answers.report(path)
    page = opened(path)
    heads = [head.replace("\n", "").split("\u2195")[0].strip() for head in page.page.locator("#runs thead th").all_inner_texts()]
    assert heads[:3] == ["buffer", "size", "reached"] and heads[3].startswith("waf.bytes") and heads[4].startswith("buffer.evictions"), heads
    assert "goal: &lt;9" in page.drawn()
    # For two of the answers there is a full run. The third answer is known only from a run without a clock.
    assert page.column(3) == ["yes", "yes", "yes, without a clock"]
    assert set(page.column(2)) == {"1.25 MiB"}


@needs_browser
def test_data_and_pictures_can_be_taken_away(tmp_path: Path, results: destage.Results, opened: Open) -> None:
    path = tmp_path / "r.html"
    results.report(path)
    page = opened(path)

    def taken(press: Any) -> bytes:
        with page.page.expect_download() as download:
            press.click()
        return Path(download.value.path()).read_bytes()

    def of(part: str, name: str) -> bytes:
        return taken(page.page.locator(f"#{part}").get_by_role("button", name=name))

    assert of("explore", "as PNG")[:8] == b"\x89PNG\r\n\x1a\n"
    svg = of("explore", "as SVG").decode()
    assert svg.startswith("<svg") and "bplru" in svg and "response.mean_ms" in svg
    lines = of("explore", "as CSV").decode().splitlines()
    assert lines[0] == "size (bytes),nocache,fifo,lru,bplru" and len(lines) == 4
    wanted = [run.metrics["flash.erases"] for run in results]
    assert [row["flash.erases"] for row in json.loads(of("runs", "as JSON"))] == wanted
    assert len(of("runs", "as CSV").decode().splitlines()) == 11


@needs_browser
def test_all_schemes_at_eight_sizes_open(tmp_path: Path, crossed: destage.Results, opened: Open) -> None:
    path = tmp_path / "all.html"
    crossed.report(path)
    page = opened(path)
    assert page.page.locator("#explore .legend button[data-series]").count() > 30
    assert page.page.locator("#runs tbody tr").count() == len(crossed)
    # The ranking has one row for each scheme. The best scheme is in the first row, and the chart names it. After
    # three columns there is one column for each size.
    ranking = page.page.locator(".ranking tbody tr")
    schemes = {run.parameters["buffer.kind"] for run in crossed}
    assert ranking.count() == len(schemes) and page.page.locator(".ranking thead th").count() == 3 + 8
    means = {}
    for run in crossed:
        means.setdefault(run.parameters.get("buffer.capacity_bytes"), {})[run.parameters["buffer.kind"]] = run.metrics["response.mean_ms"]
    least = min(value for name, value in means[256 << 10].items() if name not in ("belady", "infinite"))
    bold = page.page.locator(".ranking tbody tr td:nth-child(4).best").all_inner_texts()
    assert bold and all(abs(float(text.replace(",", "")) - least) < 0.001 * least for text in bold)
    leader = ranking.first.locator("th").inner_text()
    assert leader in page.page.locator("#explore .plot svg").inner_html()
    assert page.page.locator("#explore").inner_text().count("belady and infinite are bounds and have no rank.") == 1
    # Below its table, the command names the first five schemes of the same ranking.
    sizes = ",".join(f"{256 << power}KiB" for power in range(8))
    said = command("compare", "--workload", "mixed:requests=1000", "--buffers", "all", "--sizes", sizes, "--set", "flash.blocks_per_plane=40")
    told = " ".join(said.split()).split("Nearest to the best response.mean_ms over all sizes, with the mean factor to it: ")[1].split(". ")[0]
    ranks = zip(ranking.locator("th").all_inner_texts()[:5], ranking.locator("td:nth-child(3)").all_inner_texts()[:5], strict=True)
    for one, (name, behind) in zip(told.split(", "), ranks, strict=True):
        scheme, factor = one.split(" ")
        assert scheme == name and float(factor) == pytest.approx(float(behind.removesuffix(" x")), rel=0.01)
    whole = page.drawn()
    page.page.get_by_label("best 5 in colour").click()
    assert page.drawn() != whole
    assert page.page.locator(".wide thead th").first.evaluate("head => getComputedStyle(head).position") == "sticky"
    assert page.page.title() == "mixed:requests=1000: Comparison of write buffers"
    # The test records the time to open the page but does not check it, because the machine may be busy.
    seconds = page.page.evaluate("performance.getEntriesByName('ready')[0].startTime") / 1000
    kept("report/opening.txt").write_text(f"{len(crossed)} runs: {path.stat().st_size / 1e6:.2f} MB, open after {seconds:.2f} s\n")


@needs_browser
def test_light_and_dark(tmp_path: Path, results: destage.Results, opened: Open) -> None:
    path = tmp_path / "r.html"
    results.report(path)
    background = "getComputedStyle(document.body).backgroundColor"
    light = opened(path)
    dark = opened(path, color_scheme="dark")
    assert light.page.evaluate(background) == "rgb(255, 255, 255)" != dark.page.evaluate(background)
    drawn = dark.drawn()
    assert light.drawn() != drawn
    dark.page.locator("#theme").click()
    assert dark.page.evaluate(background) == "rgb(255, 255, 255)" and dark.drawn() != drawn


def trace(folder: Path, name: str = "t.csv") -> Path:
    path = folder / name
    words = ["read", "write", "flush", "trim"]
    lines = [f"{time},{words[op]},{offset},{size},0" for time, op, offset, size, _ in requests(1500)]
    path.write_text("time,op,offset,bytes,volume\n" + "\n".join(lines) + "\n")
    return path


STUDY = """title = "Two schemes over the size of the buffer"
about = "Lines, bars and a table, with published values."
[[input]]
name = "random"
workload = "uniform:requests=600"
[[input]]
name = "mixed"
workload = "mixed:requests=600"
[[grid]]
buffers = ["lru", "fab", "bplru"]
sizes = ["256KiB..4MiB"]
seeds = [1, 2]
[[figure]]
id = "response"
place = "Fig. 7"
title = "Response over the size of the buffer"
x = "size"
x_title = "buffer"
series = "buffer"
y = 'm("response.mean_ms")'
y_title = "mean response (ms)"
log = "x"
where = { input = "mixed" }
published = { bplru = { "1MiB" = 1.5 } }
[[figure]]
id = "programs"
title = "Pages that are programmed"
x = "input"
x_title = "input"
series = "buffer"
y = 'm("flash.programs")'
y_title = "pages"
kind = "bar"
where = { size = "1MiB" }
[[figure]]
id = "evictions"
title = "Evictions"
x = "size"
x_title = "buffer"
series = "buffer"
y = 'm("buffer.evictions")'
y_title = "evictions"
kind = "table"
where = { input = "mixed" }
"""
PAGES = ["run", "explained", "compare", "all", "curve", "size", "study", "papers", "trace", "watch"]
# A sheet of A4 without the margins in print.css, in pixels of CSS.
SHEET = {"width": 703, "height": 1017}
# The ways in which people look at a page. It is printed from a dark screen, because paper must be light then, too.
KINDS: dict[str, dict[str, Any]] = {
    "light": {},
    "dark": {"color_scheme": "dark"},
    "phone": {"viewport": {"width": 375, "height": 800}, "has_touch": True, "is_mobile": True},
    "print": {"viewport": SHEET, "color_scheme": "dark", "media": "print"},
}


def write_page(name: str, path: Path, request: pytest.FixtureRequest) -> None:
    """Writes the page of `PAGES` with this name."""
    match name:
        case "run":
            destage.simulate(MIXED, size="1MiB", settings=SMALL).report(path)
        case "explained":
            full = {**SMALL, "sim.precondition": "random_fill:1"}
            destage.simulate(destage.Workload("mixed", requests=4000, mean_interarrival_ms=2), size="1MiB", settings=full, series=True).report(path)
        case "compare":
            request.getfixturevalue("results").report(path)
        case "all":
            request.getfixturevalue("crossed").report(path)
        case "curve":
            destage.curve(destage.Workload("zipf", requests=3000), buffers=["lru", "fifo"]).report(path)
        case "size":
            destage.size(MIXED, goals=["waf.bytes<9", "buffer.evictions>-1"], buffers=["lru", "fifo", "block-lru"], sizes=["1280KiB"], settings=SMALL).report(path)
        case "study":
            (path.parent / "study.toml").write_text(STUDY)
            destage.study(path.parent / "study.toml", results=path.parent / "kept").report(path)
        case "papers":
            destage.reproduce("bplru/examples", results=path.parent / "kept").report(path)
        case "trace":
            command("trace", "info", trace(path.parent), "-o", path)
        case "watch":
            few = destage.Workload("mixed", requests=500, footprint_pages=2048, random_pages=256, max_pages=4)
            settings = {"flash.dies": 2, "flash.pages_per_block": 16, "flash.summary_page": False}
            destage.simulate(few, buffer="bplru", size="256KiB", ftl="bast", settings=settings, watch=path)


@needs_browser
@pytest.mark.parametrize("name", PAGES)
def test_every_page_can_be_read_and_used_by_all(name: str, tmp_path: Path, request: pytest.FixtureRequest, opened: Open) -> None:
    path = tmp_path / f"{name}.html"
    write_page(name, path, request)
    wrong: dict[str, dict[str, list[str]]] = {}
    # `make report-test` takes all pictures. Other runs take two of each page, and each kind of several pages.
    others = [kind for kind in KINDS if kind != "light"]
    sample = {"light", others[PAGES.index(name) % len(others)]}
    kinds = KINDS if "DESTAGE_PICTURES" in os.environ else {kind: how for kind, how in KINDS.items() if kind in sample}
    for kind, how in kinds.items():
        page = opened(path, f"{name}-{kind}", **how)
        # The picture shows the page as it opens. What is folded has to be as good. A page on paper has unfolded itself.
        if kind != "print":
            page.page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
            page.settle()
        found = {"wide": page.page.evaluate(TOO_WIDE), "faint": page.page.evaluate(FAINT), "charts": page.page.evaluate(CHARTS)}
        if kind == "light":
            found |= {"no name": page.unnamed(), "no Tab": page.lost_to_tab()}
        wrong[kind] = {what: all for what, all in found.items() if all}
    assert wrong == {kind: {} for kind in kinds}


@needs_browser
def test_a_trace_has_its_charts(tmp_path: Path, opened: Open) -> None:
    command("trace", "info", trace(tmp_path), "-o", tmp_path / "t.html")
    page = opened(tmp_path / "t.html")
    assert len(page.charts()) == 14
    assert all(width > 300 and height > 100 and count > 3 for width, height, count in page.charts())
    (tmp_path / "f.csv").write_text("time,op,sector,sectors\n0,flush,0,0\n")
    command("trace", "info", tmp_path / "f.csv", "-o", tmp_path / "f.html")
    empty = opened(tmp_path / "f.html")
    text = empty.page.locator("#charts").inner_text()
    assert "no reads or writes" in text and "fewer than two requests" in text and "no page is written twice" in text


@needs_browser
def test_a_run_is_explained(tmp_path: Path, opened: Open) -> None:
    path = written(explained(destage.simulate(MIXED, size="1MiB", settings=SMALL).to_json()), tmp_path / "run.html")
    page = opened(path)
    assert "wait for <slots>" in page.page.locator("#words").inner_text()
    titles = page.page.locator("#explained figcaption").all_inner_texts()
    for title in ["What a write waits for, by percentile", "Share of requests that take at least this long", "Response of reads", "Erases of a block", "Share of time that each die is busy"]:
        assert title in titles
    assert all(width > 300 and count > 2 for width, _, count in page.charts())
    assert page.page.locator("#metrics tbody tr").count() > 60


@needs_browser
def test_each_run_of_a_comparison_is_explained(tmp_path: Path, results: destage.Results, opened: Open) -> None:
    one = json.loads(explained(destage.simulate(MIXED, size="1MiB", settings=SMALL).to_json()))["explained"]
    document = json.loads(results.to_json())
    for index, run in enumerate(document["runs"]):
        # A failed run has no explanation.
        if index != 1:
            run["explained"] = json.loads(json.dumps(one))
    page = opened(written(json.dumps(document), tmp_path / "explained.html"))
    titles = page.page.locator("#explained figcaption")
    assert titles.all_inner_texts()[:2] == ["What a read waits for, by percentile", "What a write waits for, by percentile"]
    choose = page.page.locator("#explained select")
    assert choose.locator("option").all_inner_texts()[:3] == ["nocache, -", "fifo, 4 MiB", "fifo, 16 MiB"]
    choose.select_option(label="bplru, 16 MiB")
    page.see_all()
    assert titles.count() == 4 and all(width > 300 and count > 2 for width, _, count in page.charts())


@needs_browser
def test_odd_results_have_a_page(tmp_path: Path, opened: Open) -> None:
    hostile = trace(tmp_path, "<!--<script>é中 & \"x\".csv")
    one = destage.compare(hostile, buffers=["lru"], sizes=["1MiB"])
    flat = destage.compare(hostile, buffers=["lru", "fifo", "nocache"], sizes=["1MiB"])
    bare = destage.compare(hostile, buffers=["lru", "fifo"], sizes=["1MiB", "2MiB"], ftls=["none", "page", "bast"])
    with pytest.warns(destage.DestageWarning, match="less than one block"):
        failed = destage.compare(hostile, buffers=["lru"], sizes=["1MiB"], ftls=["none", "page"], settings={"flash.blocks_per_plane": 4, "flash.dies": 1, "flash.planes_per_die": 1})
    for name, document in [("one", one), ("flat", flat), ("bare", bare), ("failed", failed)]:
        document.report(tmp_path / f"{name}.html")
        page = opened(tmp_path / f"{name}.html", name)
        assert "é中 & \"x\".csv" in page.page.locator("#heading").inner_text()
        assert page.page.locator("#runs tbody tr").count() == len(document)
        assert all(width > 300 and height > 100 for width, height, _ in page.charts())
    # The document contains names with `</script>`. In a page without escapes, such a name would end the script
    # element with the data.
    document = json.loads(flat.to_json())
    for run in document["runs"]:
        run["trace"] = "</script><img src=x onerror=alert(1)>"
        run["buffer"] += "<b>"
    page = opened(written(json.dumps(document), tmp_path / "hostile.html"))
    assert page.page.locator("img").count() == 0
    assert page.column(1) == ["lru<b>", "fifo<b>", "nocache<b>"]


@needs_browser
def test_no_id_stands_twice(tmp_path: Path, results: destage.Results, opened: Open) -> None:
    results.report(tmp_path / "compare.html")
    papers = ["bplru", "bpac", "epo"]
    for paper in papers:
        destage.reproduce(f"{paper}/examples", results=tmp_path / "kept").report(tmp_path / f"{paper}.html")
    command("trace", "info", trace(tmp_path), "-o", tmp_path / "trace.html")
    for name in ["compare", "trace", *papers]:
        ids = opened(tmp_path / f"{name}.html").page.evaluate("[...document.querySelectorAll('[id]')].map((each) => each.id)")
        assert len(ids) > 5 and sorted(set(ids)) == sorted(ids), (name, sorted(ids))


@needs_browser
def test_verdicts_can_be_chosen_by_kind(tmp_path: Path, opened: Open) -> None:
    destage.reproduce("bplru/examples", results=tmp_path / "kept").report(tmp_path / "p.html")
    document = data((tmp_path / "p.html").read_text())
    page = opened(tmp_path / "p.html")
    rows = page.page.locator("#verdicts table.claims > tbody > tr")
    assert rows.count() == len(document["claims"]) > 3
    chip = page.page.locator("#verdicts button[data-verdict=reproduced]")
    count = sum(claim["verdict"] == "reproduced" for claim in document["claims"])
    chip.click()
    assert rows.count() == len(document["claims"]) - count
    chip.click()
    assert rows.count() == len(document["claims"])


@needs_browser
@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="needs pdftotext, which make tools installs")
def test_paper_has_all_of_it(tmp_path: Path, results: destage.Results, crossed: destage.Results, opened: Open) -> None:
    def printed(path: Path) -> str:
        page = opened(path, color_scheme="dark")
        paper = kept(f"report/{path.stem}.pdf")
        page.page.pdf(path=paper, format="A4")
        return subprocess.run(["pdftotext", "-layout", paper, "-"], capture_output=True, text=True, check=True).stdout

    results.report(tmp_path / "compare.html")
    text = printed(tmp_path / "compare.html")
    for part in ["Comparison of write buffers", "With 16 MiB", "Explore", "bplru", "4 MiB", "All runs", "evictions", "Parameters of all runs", "flash.program_us", "Provenance", "wall_time_s"]:
        assert part in text, part
    crossed.report(tmp_path / "all.html")
    text = printed(tmp_path / "all.html")
    for run in crossed:
        # If the print were too narrow, the last column of each row would be cut off first.
        assert f"{run.metrics['waf.host']:.3g}"[:3] in text
    run = written(explained(destage.simulate(MIXED, size="1MiB", settings=SMALL).to_json()), tmp_path / "run.html")
    text = printed(run)
    for part in ["What a write waits for", "die_gc", "Share of time that each die is busy", "Erases of a block", "The slowest requests", "Metrics", "response.mean_ms", "Provenance"]:
        assert part in text, part
    destage.reproduce("bplru/examples", results=tmp_path / "kept").report(tmp_path / "papers.html")
    papers = opened(tmp_path / "papers.html")
    papers.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert papers.page.locator("details[open]").count() == papers.page.locator("details").count() > 10

