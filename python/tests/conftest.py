"""Functions that several tests use: they run the command line of the package, make requests for traces, start a browser, and judge the colours of a page."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
# The names of the programs with which systems install Chromium or Chrome.
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
QUIET = ("no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking", "disable-component-update", "disable-sync")
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason=f"needs one of {', '.join(BROWSERS)}; make tools installs the first")


def kept(name: str) -> Path:
    """The path of the file `name` below target/, where tests leave what people look at. The function makes its folder."""
    path = ROOT / "target" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One browser for all tests. A second browser would fail, because the event loop of the first browser is still running."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=[f"--{word}" for word in QUIET])
        yield chromium
        chromium.close()


# Two functions for scripts in a page: `rgba` gives the parts of any CSS colour, and `contrast` is the contrast of two
# colours as WCAG 2 defines it.
COLOURS = """
    const pixel = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    const known = new Map();
    const rgba = (colour) => {
        if (!known.has(colour)) {
            pixel.clearRect(0, 0, 1, 1);
            pixel.fillStyle = colour;
            pixel.fillRect(0, 0, 1, 1);
            const [red, green, blue, alpha] = pixel.getImageData(0, 0, 1, 1).data;
            known.set(colour, [red, green, blue, alpha / 255]);
        }
        return known.get(colour);
    };
    const linear = (part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4);
    const lightness = ([red, green, blue]) => 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
    const contrast = (one, other) => {
        const [dark, light] = [lightness(one), lightness(other)].sort((a, b) => a - b);
        return (light + 0.05) / (dark + 0.05);
    };
"""
# A script that returns each kind of text whose contrast with its background is below 4.5, or below 3 if it is large. On
# a background of several colours, the worst one counts. Paper has the backgrounds alone that the style sheet asks for
# by `print-color-adjust`, because a browser leaves out the others.
FAINT = (
    "() => {"
    + COLOURS
    + """
    const isPaper = matchMedia("print").matches;
    const over = ([red, green, blue, alpha], under) => [red, green, blue].map((part, index) => alpha * part + (1 - alpha) * under[index]);
    const behind = new Map([[null, [[255, 255, 255]]]]);
    const backgrounds = (element) => {
        if (!behind.has(element)) {
            const style = getComputedStyle(element);
            let all = backgrounds(element.parentElement);
            if (!isPaper || style.webkitPrintColorAdjust === "exact") {
                all = all.map((under) => over(rgba(style.backgroundColor), under));
                const stops = style.backgroundImage.match(/(?:rgba?|color)\\([^)]*\\)/g);
                if (stops) all = stops.flatMap((stop) => all.map((under) => over(rgba(stop), under)));
            }
            behind.set(element, all);
        }
        return behind.get(element);
    };
    const opacity = (element) => (element ? getComputedStyle(element).opacity * opacity(element.parentElement) : 1);
    const found = new Map();
    const judge = (element, text, style = getComputedStyle(element)) => {
        const size = parseFloat(style.fontSize);
        const isLarge = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
        const isDrawn = element instanceof SVGElement;
        const [red, green, blue, alpha] = rgba(isDrawn ? style.fill : style.color);
        const ink = [red, green, blue, alpha * opacity(element) * (isDrawn ? style.fillOpacity : 1)];
        const least = Math.min(...backgrounds(element).map((under) => contrast(over(ink, under), under)));
        if (least >= (isLarge ? 3 : 4.5)) return;
        const kind = `${element.tagName} ${element.getAttribute("class") || ""} in ${element.parentElement.className.baseVal ?? element.parentElement.className}`;
        if (!found.has(kind)) found.set(kind, `${kind}: ${least.toFixed(2)}, ${text.trim().slice(0, 40)}`);
    };
    const isSeen = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
    for (const element of document.querySelectorAll("body, body *")) {
        if (["SCRIPT", "NOSCRIPT", "OPTION", "OPTGROUP"].includes(element.tagName) || !isSeen(element)) continue;
        const text = [...element.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE).map(({ data }) => data).join("");
        if (text.trim() || element.tagName === "SELECT") judge(element, text);
        for (const part of ["::before", "::after", "::placeholder"]) {
            const style = getComputedStyle(element, part);
            const said = part === "::placeholder" ? element.placeholder : style.content;
            if (said && !["none", "normal", '""'].includes(said) && style.visibility === "visible") judge(element, `${part} ${said}`, style);
        }
    }
    return [...found.values()];
}"""
)


def command(*arguments: object, code: int = 0) -> str:
    """Runs the command `destage`, which must exit with `code`. Returns standard output, or standard error if `code` is not 0."""
    script = Path(sys.executable).parent / "destage"
    done = subprocess.run([script, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done.stderr if code else done.stdout


def body(text: str) -> str:
    """The text of a JSON document without its manifest; all other bytes are unchanged."""
    begin = text.index('\n  "manifest"')
    end = text.index("\n  }", begin)
    return text[:begin] + text[end:]


Rows = list[tuple[int, int, int, int, int]]


def requests(count: int, *, seed: int = 1, pages: int = 3000) -> Rows:
    """Random requests of all kinds. Each has the time in ns, the operation, the offset, the number of bytes and the volume."""
    chosen = random.Random(seed)
    rows, time = [], 0
    for _ in range(count):
        time += chosen.randrange(0, 2_000_000)
        op = chosen.choices([0, 1, 2, 3], [25, 70, 2, 3])[0]
        page = int(pages * chosen.random() ** 3)
        size = 0 if op == 2 else 512 * chosen.randrange(1, 40)
        rows.append((time, op, 0 if op == 2 else 4096 * page, size, chosen.randrange(2)))
    return rows


WORDS = ["read", "write", "flush", "trim"]


@pytest.fixture
def table(tmp_path: Path) -> Callable[[Rows], Path]:
    """A function that writes requests to a CSV trace and returns the path of the trace."""

    def write(rows: Rows) -> Path:
        path = tmp_path / "trace.csv"
        lines = [f"{time},{WORDS[op]},{offset},{size},{volume}" for time, op, offset, size, volume in rows]
        path.write_text("time,op,offset,bytes,volume\n" + "\n".join(lines) + "\n")
        return path

    return write
