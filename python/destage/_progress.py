"""Progress of long work: a bar in a notebook, a line on a terminal, and nothing elsewhere."""

from __future__ import annotations

import html
import importlib
import sys
import time
from types import TracebackType
from typing import Any

#: Work runs for this number of seconds before its progress is shown.
_PATIENCE = 2.0
#: The shortest time between two updates, in seconds: on a terminal, and in a notebook. It is longer in a notebook,
#: because a notebook stores every update.
_INTERVAL = 0.1
_NOTEBOOK_INTERVAL = 0.5
_WIDTH = 30


class Progress:
    """A line on a terminal or in a notebook that is updated, and removed at the end."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._drawn = 0.0
        self._shown = ""
        self._display: Any = None
        errors = sys.stderr
        is_terminal = errors is not None and hasattr(errors, "isatty") and errors.isatty()
        self._in_notebook = _in_notebook()
        self._interval = _NOTEBOOK_INTERVAL if self._in_notebook else _INTERVAL
        self.tell = self._tell if is_terminal or self._in_notebook else None

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            self._draw("", 0.0)

    def _tell(self, stage: str, done: int, expected: int | None) -> None:
        now = time.monotonic()
        if now - self._started < _PATIENCE or now - self._drawn < self._interval:
            return
        self._drawn = now
        share = min(done / expected, 1.0) if expected else 0.0
        self._draw(line(stage, done, expected, now - self._started, bar=not self._in_notebook), share)

    def _draw(self, text: str, share: float) -> None:
        # An interrupt may happen between any two statements, so the state is updated first.
        before, self._shown = self._shown, text or self._shown
        if self._in_notebook:
            # The notebook has one output, which is replaced. An unchanged text is not sent.
            if text != before:
                self._replace(_bar(text, share) if text else "")
            return
        # Blanks overwrite the rest of the previous text if that was longer.
        sys.stderr.write("\r" + text.ljust(len(before)) + ("" if text else "\r"))
        sys.stderr.flush()

    def _replace(self, content: str) -> None:
        shown = importlib.import_module("IPython.display")
        if self._display is None:
            self._display = shown.display(shown.HTML(content), display_id=True)
        else:
            self._display.update(shown.HTML(content))


def _bar(text: str, share: float) -> str:
    """A bar that is filled to its `share`, with `text` next to it."""
    return (
        '<div style="font:13px system-ui,sans-serif;display:flex;align-items:center;gap:.8em">'
        f'<progress value="{share:.4f}" max="1" style="width:16em"></progress><span>{html.escape(text)}</span></div>'
    )


def _in_notebook() -> bool:
    # A program that starts kernels has loaded this module too, but is not a kernel.
    kernel = sys.modules.get("ipykernel.kernelapp")
    return kernel is not None and bool(kernel.IPKernelApp.initialized())


def line(stage: str, done: int, expected: int | None, seconds: float, *, bar: bool = True) -> str:
    """The progress after `seconds`: how much is done, and how long the rest will take at this rate."""
    unit = {"runs": "runs", "preparation": "page writes"}.get(stage, "requests")
    what = {"first pass": "first pass: ", "preparation": "filling the device: "}.get(stage, "")
    if not expected:
        return f"{what}{seconds:.0f} s, {done:,} {unit}, {done / seconds:,.0f}/s"
    share = min(done / expected, 1.0)
    drawn = f" [{'=' * int(share * _WIDTH):<{_WIDTH}}]" if bar else ","
    # Before 1 % is done, the rate is not known well enough.
    left = f", {_duration(seconds / share - seconds)} left" if share >= 0.01 else ""
    return f"{what}{_duration(seconds)}{drawn} {done:,} of {expected:,} {unit}{left}"


def _duration(seconds: float) -> str:
    whole = round(seconds)
    if whole < 120:
        return f"{whole} s"
    return f"{whole // 60} min" if whole < 7200 else f"{whole // 3600} h {whole % 3600 // 60} min"
