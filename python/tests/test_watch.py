"""Tests of the page that shows a device at work, in a browser. The page must show the recorded events.

The tests save screenshots of the pages in target/watch. They need the Chromium of Debian (`make tools`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import destage
import pytest
from conftest import COLOURS, FAINT, command, kept, needs_browser

pytestmark = needs_browser

SETTINGS = {"flash.pages_per_block": 16, "flash.summary_page": False}
MIXED = {"requests": 500, "footprint_pages": 2048, "random_pages": 256, "max_pages": 4}
BURSTS = {"requests": 400, "footprint_pages": 256, "burst_requests": 40, "mean_pause_ms": 30, "mean_interarrival_ms": 0.3}
# For each scene: the scheme, the layer, the number of dies, the workload, the parameters of the workload, and the
# button that leads to the event on the screenshot.
SCENES: dict[str, tuple[str, str, int, str, dict[str, Any], str]] = {
    "lru": ("lru", "page", 4, "mixed", MIXED, "worst"),
    "bplru": ("bplru", "bast", 2, "mixed", MIXED, "merge"),
    "bpac": ("bpac:bpac_period=200", "bast", 2, "mixed", MIXED, "eviction"),
    "epo": ("epo", "page", 8, "mixed", MIXED, "eviction"),
    "apu-lru": ("apu-lru:ways=4", "page", 4, "bursts", BURSTS, "idle"),
    "lar": ("lar", "page", 2, "mixed", MIXED, "eviction"),
}


class Opened:
    """A page in the browser, with functions that read its contents."""

    def __init__(self, page: Any) -> None:
        self.page = page

    def index(self) -> int:
        return self.page.evaluate("player.index")

    def squares(self) -> int:
        return self.page.locator("#lists .page").count()

    def resident(self) -> int:
        return self.page.evaluate("events[player.index].resident")

    def shown(self) -> list[str]:
        """The parts of the page that show the buffer, the leaving records and the texts. The marks of the latest event are removed."""
        pieces = [self.page.inner_html(f"#{name}") for name in ["lists", "records", "story", "request", "counts", "fill"]]
        return [piece.replace(" about", "") for piece in pieces]

    def press(self, key: str, times: int) -> None:
        """Presses a key: once on the keyboard, which takes a tenth of a second, and then by events in the page."""
        self.page.keyboard.press(key)
        self.page.evaluate(
            "([key, times]) => { for (let time = 0; time < times; time++) document.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true })); }",
            [key, times - 1],
        )

    def click(self, name: str) -> None:
        self.page.click(f"#{name}")


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Opened]]:
    """A function that opens the page of a scene. The test fails if there is an error in the page."""
    contexts, wrong = [], []

    def open_one(scene: str, **how: Any) -> Opened:
        buffer, ftl, dies, workload, parameters, _ = SCENES[scene]
        file = tmp_path / f"{scene}.html"
        destage.simulate(
            destage.Workload(workload, **parameters), buffer=buffer, size="256KiB", ftl=ftl,
            settings={**SETTINGS, "flash.dies": dies}, watch=file,
        )  # fmt: skip
        # The tests evaluate scripts in the page. The content security policy of the page would forbid this, so the
        # browser ignores the policy.
        contexts.append(browser.new_context(**{"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce", "bypass_csp": True, **how}))
        page = contexts[-1].new_page()
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda request: request.url.startswith(("file:", "data:")) or wrong.append(request.url))
        page.goto(file.as_uri())
        return Opened(page)

    yield open_one
    for context in contexts:
        context.close()
    assert not wrong


@pytest.mark.parametrize("scene", SCENES)
def test_every_square_is_a_resident_page_and_going_back_restores_all(scene: str, opened: Callable[..., Opened]) -> None:
    shows = opened(scene)
    last = shows.page.evaluate("last")
    for index in [0, 1, last // 3, last // 2, last]:
        shows.page.evaluate(f"go({index})")
        assert shows.squares() == shows.resident() == len(set(shows.page.evaluate("[...document.querySelectorAll('#lists .page')].map((page) => page.dataset.page)")))
    shows.page.evaluate(f"go({last // 2})")
    before = shows.shown()
    shows.press("ArrowRight", 130)
    assert shows.index() == last // 2 + 130
    assert shows.shown() != before
    shows.press("ArrowLeft", 130)
    assert shows.shown() == before


@pytest.mark.parametrize("scene", SCENES)
def test_pictures(scene: str, opened: Callable[..., Opened]) -> None:
    shows = opened(scene)
    shows.page.evaluate("go(Math.floor(last / 3))")
    shows.click(SCENES[scene][-1])
    shows.page.wait_for_timeout(500)
    shows.page.screenshot(path=kept(f"watch/{scene}.png"), full_page=True)
    assert shows.page.inner_text("#story")
    for scheme in ("light", "dark"):
        shows.page.emulate_media(color_scheme=scheme)
        assert shows.page.evaluate(FAINT) == [], scheme


def test_it_opens_where_the_first_pages_leave_and_plays(opened: Callable[..., Opened]) -> None:
    still = opened("bplru")
    first = still.page.evaluate("events.findIndex((event) => event.kind === 'destage')")
    assert still.index() == first > 0 and still.page.inner_text("#play") == "Play"
    moving = opened("bplru", reduced_motion="no-preference")
    assert moving.page.inner_text("#play") == "Pause"
    moving.page.wait_for_function(f"player.index > {first}")


def test_play_advances_and_stops(opened: Callable[..., Opened]) -> None:
    shows = opened("lru")
    shows.page.keyboard.press("Home")
    shows.page.select_option("#speed", "60")
    shows.page.keyboard.press("Space")
    shows.page.wait_for_function("player.index >= 10")
    shows.page.keyboard.press("Space")
    stopped = shows.index()
    shows.page.wait_for_timeout(200)
    assert shows.index() == stopped
    assert shows.page.inner_text("#position").startswith(f"event {stopped} of ")


def test_jumps_go_where_they_say(opened: Callable[..., Opened]) -> None:
    shows = opened("bplru")
    shows.click("worst")
    longest = shows.page.evaluate("Math.max(...recording.requests.map((request) => request[4] ?? 0))")
    event = shows.page.evaluate("events[player.index].kind")
    response = shows.page.evaluate("requests[events[player.index].request].response")
    assert (event, response) == ("arrival", longest)
    shows.page.keyboard.press("Home")
    shows.click("eviction")
    assert shows.page.evaluate("[events[player.index].kind, events[player.index].of.cause]") == ["destage", "evict"]
    assert shows.page.locator(".record.new .out.leaving").count() == shows.page.evaluate("events[player.index].of.pages.length")
    shows.click("merge")
    assert "merge of block" in shows.page.inner_text("#story")
    here = shows.index()
    shows.click("collection")
    assert shows.index() == here
    assert "no garbage collection" in shows.page.inner_text("#story")
    shows.page.keyboard.press("Shift+ArrowRight")
    assert shows.page.evaluate("events[player.index].kind") == "arrival"
    shows.page.fill("#slider", "40")
    assert shows.index() == 40


def test_counters_end_at_the_metrics(opened: Callable[..., Opened]) -> None:
    shows = opened("bplru")
    _, ftl, dies, workload, parameters, _ = SCENES["bplru"]
    result = destage.simulate(destage.Workload(workload, **parameters), buffer="bplru", size="256KiB", ftl=ftl, settings={**SETTINGS, "flash.dies": dies})
    counts = shows.page.evaluate("counts.at(-1)")
    for name, metric in [
        ("writeHits", "buffer.write_hits"), ("readHits", "buffer.read_hits"), ("pages", "buffer.destaged_pages"),
        ("padReads", "buffer.pad_reads"), ("padFills", "buffer.pad_fills"), ("erases", "flash.erases"), ("switch", "ftl.merges.switch"),
    ]:  # fmt: skip
        assert counts[name] == result.metrics[metric], name


def test_a_phone_in_the_dark(opened: Callable[..., Opened]) -> None:
    shows = opened("bplru", viewport={"width": 390, "height": 844}, color_scheme="dark", device_scale_factor=2)
    shows.click("eviction")
    assert shows.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    # The controls need less than a fifth of the height, so there is enough room for the device.
    assert shows.page.evaluate("document.querySelector('nav').offsetHeight / innerHeight") < 0.2
    # All controls are in view. The dies are above the lists, because the lists may be long.
    for width in (375, 390, 640):
        shows.page.set_viewport_size({"width": width, "height": 844})
        outside = """[...document.querySelectorAll("nav button, nav select, nav output")].filter((of) => {
            const { left, right, bottom } = of.getBoundingClientRect();
            return left < 0 || right > innerWidth || bottom > innerHeight;
        }).map((of) => of.id)"""
        assert shows.page.evaluate(outside) == []
        tops = [shows.page.locator(f"#{name}").bounding_box()["y"] for name in ("dies", "records", "lists")]
        assert tops == sorted(tops)
    shows.page.wait_for_timeout(500)
    shows.page.screenshot(path=kept("watch/phone.png"), full_page=True)


# A script that returns each text on the dies: its colour, its opacity, the position of its left end, and its contrast with
# what is left of it.
WORDS = (
    "() => {"
    + COLOURS
    + """
    const told = [];
    const { fillText } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
        told.push([text, this.fillStyle, this.globalAlpha, x, y]);
        return fillText.call(this, text, x, y);
    };
    drawDies(player.index);
    CanvasRenderingContext2D.prototype.fillText = fillText;
    const { width, height } = byId("dies");
    const { data } = byId("dies").getContext("2d").getImageData(0, 0, width, height);
    return told.map(([text, colour, alpha, x, y]) => {
        const at = 4 * (Math.round(y) * width + Math.floor(x) - 1);
        // Nothing is drawn below the axis, where the panel shines through.
        const behind = data[at + 3] ? data.slice(at, at + 3) : rgba(getComputedStyle(byId("dies")).getPropertyValue("--panel"));
        return [text, colour, alpha, x, contrast(rgba(colour), behind)];
    });
}"""
)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_of_dies_can_be_read_on_work_that_has_begun_and_on_pale(scheme: str, opened: Callable[..., Opened]) -> None:
    shows = opened("bplru", color_scheme=scheme)
    shows.page.evaluate("go(Math.floor(last / 3))")
    shows.click("merge")
    told = shows.page.evaluate(WORDS)
    assert {alpha for _, _, alpha, _, _ in told} == {1}
    assert [word for word in told if word[-1] < 4.5] == []
    now = shows.page.evaluate("LABEL + 0.4 * (byId('dies').parentElement.clientWidth - LABEL)")
    on_work = shows.page.evaluate("getComputedStyle(document.body).getPropertyValue('--page-text')")
    begun = [x for text, colour, _, x, _ in told if text.isdigit() and colour == on_work]
    later = [x for text, colour, _, x, _ in told if text.isdigit() and colour != on_work]
    assert begun and later and max(begun) <= now + 4 and min(later) >= now
    # No text begins left of the drawn time span, where the text would be cut off.
    assert min(begun) >= shows.page.evaluate("LABEL")


# A number that is cut off looks like another number, so each number must be completely inside its square. This script
# returns the squares with numbers that are not.
CLIPPED = """[...document.querySelectorAll(".cells i")].filter((square) => {
    if (!square.textContent) return false;
    const range = document.createRange();
    range.selectNodeContents(square);
    const [text, box] = [range.getBoundingClientRect(), square.getBoundingClientRect()];
    return text.left < box.left || text.right > box.right;
}).map((square) => square.title)"""


@pytest.mark.parametrize("far", [0, 786_752])
@pytest.mark.parametrize("width", [1280, 375])
def test_numbers_of_pages_are_whole_or_not_there(width: int, far: int, browser: Any, tmp_path: Path) -> None:
    rows = [f"{time * 100_000},write,{4096 * (far + page)},4096" for time, page in enumerate((place * 37) % 1500 for place in range(300))]
    trace = tmp_path / "far.csv"
    trace.write_text("time,op,offset,bytes\n" + "\n".join(rows) + "\n")
    file = tmp_path / "far.html"
    destage.simulate(trace, buffer="lru", size="256KiB", settings={"flash.dies": 4, **SETTINGS}, watch=file)
    context = browser.new_context(viewport={"width": width, "height": 900}, reduced_motion="reduce", bypass_csp=True)
    page = context.new_page()
    page.goto(file.as_uri())
    page.click("#eviction")
    squares = page.locator("#lists .page").all_text_contents()
    out = page.locator("#records .out").all_text_contents()
    assert squares and out
    # A square has room for four digits, but not for six. With six digits, the page shows the numbers of evicted pages
    # next to their squares.
    assert all(bool(text) == (far == 0) for text in [*squares, *out])
    assert page.evaluate(CLIPPED) == []
    named = page.locator("#records .record.new em").all_text_contents()
    assert named == ([] if far == 0 else [str(page.evaluate("events[player.index].of.pages[0]"))])
    page.screenshot(path=kept(f"watch/far-{far}-{width}.png"), full_page=True)
    context.close()


def test_the_command_line_writes_the_same_page(tmp_path: Path) -> None:
    one, other = tmp_path / "one.html", tmp_path / "other.html"
    command("run", "--workload", "mixed:requests=200", "--buffer", "bplru", "--size", "256KiB", "--ftl", "page", "--watch", one)
    destage.simulate(destage.Workload("mixed", requests=200), buffer="bplru", size="256KiB", ftl="page", watch=other)
    assert one.read_text() == other.read_text()


def test_a_page_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    # The run would take many minutes. The file is opened before the run, so the call fails at once.
    work = destage.Workload("mixed", requests=10**9)
    for ending in ("html", "json"):
        with pytest.raises(destage.InputError, match="cannot be written"):
            destage.simulate(work, size="256KiB", watch=tmp_path / "no" / f"page.{ending}")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_run_leaves_no_page(tmp_path: Path) -> None:
    with pytest.raises(destage.Error):
        destage.simulate(tmp_path / "missing.csv", size="256KiB", watch=tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []


def test_an_ending_that_names_no_form_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(destage.InputError, match=r"watch: '.*page.svg': the ending names no form of a run to watch; expected .html or .json"):
        destage.simulate(destage.Workload("mixed", requests=20), size="256KiB", watch=tmp_path / "page.svg")
    assert list(tmp_path.iterdir()) == []
