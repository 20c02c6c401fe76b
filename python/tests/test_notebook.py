"""Tests in a notebook: results are displayed, progress is a single bar, and an interrupt ends a run."""

from __future__ import annotations

import base64
import gzip
import html
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import destage
import pytest
from conftest import ROOT, kept, needs_browser
from jupyter_client.manager import start_new_kernel

LONG = "import destage\ndestage.simulate(destage.Workload('zipf', requests=10**9))"
NOTEBOOKS = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))


@pytest.fixture
def kernel() -> Iterator[tuple[Any, Any]]:
    manager, client = start_new_kernel(kernel_name="python3")
    try:
        yield manager, client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_a_notebook_shows_one_bar_and_can_interrupt(kernel: tuple[Any, Any]) -> None:
    manager, client = kernel
    client.execute(LONG)
    shown: list[dict[str, Any]] = []
    begin = time.monotonic()
    while len(shown) < 3 and time.monotonic() - begin < 60:
        message = client.get_iopub_msg(timeout=60)
        # The package must not write to standard error, because the notebook would display every line permanently.
        assert message["msg_type"] != "stream", message["content"]
        if message["msg_type"] in ("display_data", "update_display_data"):
            shown.append(message)
    # The three messages are for one output: the first displays it, and the others replace its contents.
    assert [message["msg_type"] for message in shown] == ["display_data", "update_display_data", "update_display_data"]
    assert len({message["content"]["transient"]["display_id"] for message in shown}) == 1
    text = shown[-1]["content"]["data"]["text/html"]
    assert "<progress" in text and "of 1,000,000,000 requests" in text
    manager.interrupt_kernel()
    # Without the interrupt the run would take many minutes. It reports its progress regularly.
    begin = time.monotonic()
    while time.monotonic() - begin < 60:
        message = client.get_iopub_msg(timeout=60)
        if message["msg_type"] == "error":
            break
    assert message["content"].get("ename") == "KeyboardInterrupt"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_example_notebooks_run(path: Path, kernel: tuple[Any, Any]) -> None:
    _, client = kernel
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    kinds: set[str] = set()
    for cell in cells:
        # The files of the notebooks contain no outputs.
        assert cell["outputs"] == [] and cell["execution_count"] is None
        shown: list[dict[str, Any]] = []
        reply = client.execute_interactive("".join(cell["source"]), output_hook=shown.append, timeout=300)
        assert reply["content"]["status"] == "ok", shown
        for message in shown:
            data = message["content"].get("data", {})
            kinds |= set(data)
            # A notebook displays a result without an HTML form only as text.
            assert "text/plain" not in data or len(data) > 1, (cell["source"], data)
    assert {"text/html", "image/png"} <= kinds


def test_each_result_shows_its_conclusion_a_table_with_units_and_its_page() -> None:
    work = destage.Workload("zipf", requests=2000, footprint_pages=2000)
    results = destage.compare(work, buffers=["lru", "fab"], sizes="256KiB..1MiB")
    shown = results._repr_html_()
    assert "response mean<small>ms</small>" in shown and "waf host" in shown
    # The table has a heading and one row for each buffer. The row has the values of the buffer over the sizes.
    assert len(re.findall("<tr>", shown)) == 3 and "<svg" in shown and "256 KiB \N{RIGHTWARDS ARROW} 1 MiB" in shown
    for sentence in results.conclusions:
        assert html.escape(sentence) in shown
    packed = re.search('data-page="([^"]*)"', shown)
    assert packed is not None
    page = gzip.decompress(base64.b64decode(packed[1])).decode()
    assert page.startswith("<!doctype html>") or page.startswith("<!DOCTYPE html>")
    assert repr(results) == "<destage.Results 6 runs of lru, fab, 256 KiB to 1 MiB>"

    curves = destage.curve(work, buffers=["lru"], sizes="256KiB..1MiB")
    answers = destage.size(work, goals="waf.host<0.99", buffers=["lru"], sizes="256KiB..4MiB")
    run = destage.simulate(work, buffer="lru", size="256KiB", series=True)
    for result in (curves, answers, run):
        shown = result._repr_html_()
        assert "<table>" in shown and "data-page" in shown, shown
        assert not repr(result).endswith("object>") and "0x" not in repr(result)
    assert answers.conclusions[0] in html.unescape(answers._repr_html_())
    assert "waf.host" in run._repr_html_() and "<svg" in run._repr_html_()
    assert "requests" in work._repr_html_() and "<svg" in work._repr_html_()
    assert "ms" in destage.metrics()._repr_html_()


def test_names_from_outside_are_text() -> None:
    rows = {"time_ns": [0, 1], "op": ["w", "w"], "offset": [0, 4096], "bytes": [4096, 4096]}
    trace = destage.Trace.from_table(rows)
    trace._name = "<script>alert(1)</script>"
    assert "<script>alert" not in trace._repr_html_()


def test_what_is_missing_is_told_in_place_of_statistics() -> None:
    shown = destage.Trace.open("nowhere.csv")._repr_html_()
    assert "nowhere.csv" in shown and "No such file" in shown


def test_errors_name_calls_of_python() -> None:
    work = destage.Workload("zipf", requests=10)
    for call, expected in (
        (lambda: destage.simulate(work, settings={"flash.zzz": 4}), "destage.parameters()"),
        (lambda: destage.simulate(work, buffer="zzz"), "destage.buffers()"),
        (lambda: destage.size(work, goals="zzz<1"), "destage.metrics()"),
        (lambda: destage.simulate(work, ftl="zzz"), "destage.ftls()"),
    ):
        with pytest.raises(destage.Error) as caught:
            call()
        text = str(caught.value)
        assert expected in text and "--" not in text and "`destage " not in text, text


@needs_browser
def test_a_click_opens_the_page(browser: Any) -> None:
    work = destage.Workload("zipf", requests=2000, footprint_pages=2000)
    results = destage.compare(work, buffers=["lru", "fab"], sizes="256KiB..1MiB")
    cell = f"<!doctype html><meta charset=utf-8><title>cell</title>{results._repr_html_()}"
    context = browser.new_context()
    try:
        # The browser receives the page from a web address, as in a notebook. The test answers the request itself,
        # without a network.
        context.route("http://notebook.example/", lambda route: route.fulfill(body=cell, content_type="text/html"))
        page = context.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto("http://notebook.example/")
        page.screenshot(path=kept("report/notebook.png"), full_page=True)
        with context.expect_page() as opened:
            page.click("text=Open the page")
        report = opened.value
        report.wait_for_selector("h1", timeout=60_000)
        assert errors == []
        assert "Comparison" in report.title()
        report.screenshot(path=kept("report/notebook-page.png"))
    finally:
        context.close()
