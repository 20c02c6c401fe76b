"""Progress on standard error, for work that lasts."""

from __future__ import annotations

import sys
import time
from types import TracebackType

#: Work done within this many seconds is done before anybody wonders.
_PATIENCE = 2.0
#: How often the line is drawn anew, in seconds.
_INTERVAL = 0.1
_WIDTH = 30


class Progress:
    """One line that is drawn again and again, on a terminal or in a notebook, and gone at the end."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._drawn = 0.0
        self._shown = ""
        errors = sys.stderr
        is_terminal = errors is not None and hasattr(errors, "isatty") and errors.isatty()
        self.tell = self._tell if is_terminal or _in_notebook() else None

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            self._draw("")

    def _tell(self, stage: str, done: int, expected: int | None) -> None:
        now = time.monotonic()
        if now - self._started < _PATIENCE or now - self._drawn < _INTERVAL:
            return
        self._drawn = now
        self._draw(line(stage, done, expected, now - self._started))

    def _draw(self, text: str) -> None:
        # What was longer before is overwritten. An interrupt may come between any two steps.
        before, self._shown = self._shown, text or self._shown
        sys.stderr.write("\r" + text.ljust(len(before)) + ("" if text else "\r"))
        sys.stderr.flush()


def _in_notebook() -> bool:
    # Who starts kernels has the module, too, and is none.
    kernel = sys.modules.get("ipykernel.kernelapp")
    return kernel is not None and bool(kernel.IPKernelApp.initialized())


def line(stage: str, done: int, expected: int | None, seconds: float) -> str:
    """What is shown after `seconds`."""
    unit = {"runs": "runs", "preparation": "page writes"}.get(stage, "requests")
    what = {"first pass": "first pass: ", "preparation": "filling the device: "}.get(stage, "")
    if not expected:
        return f"{what}{seconds:.0f} s, {done:,} {unit}, {done / seconds:,.0f}/s"
    share = min(done / expected, 1.0)
    bar = "=" * int(share * _WIDTH)
    return f"{what}{seconds:.0f} s [{bar:<{_WIDTH}}] {done:,} of {expected:,} {unit}"
