# The interface of the Rust module (crates/python). Names that are not in `destage.__all__` are for the package only.
import os
from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

_Path = str | os.PathLike[str]
_Tell = Callable[[str, int, int | None], object] | None

__all__ = [
    "Access",
    "ConfigError",
    "DeviceFull",
    "Error",
    "Input",
    "InputError",
    "Need",
    "Settings",
    "Study",
    "TraceError",
    "__version__",
    "compare",
    "curve",
    "drive_check",
    "drive_fit",
    "drive_measure",
    "explain",
    "fleet",
    "inspect",
    "main",
    "outline",
    "page",
    "report",
    "reproduce",
    "require_metric",
    "rows",
    "set_memory_limit",
    "simulate",
    "size",
    "study",
    "write_file",
]

__version__: str

class Error(Exception):
    """The error of a failed call. The text names the place, the offending text, and what was expected."""

class InputError(Error):
    """The arguments make no sense: an unknown name, an empty list, inputs that cannot be combined."""

class TraceError(Error):
    """The trace cannot be read."""

class ConfigError(Error):
    """A parameter is unknown, out of range, or contradicts another."""

class DeviceFull(Error):
    """The device is too small for the trace."""

@final
class Access:
    """A page request, as a scheme sees it."""

    @property
    def write(self) -> bool:
        """True if the host writes the page, false if the host reads the page."""
    @property
    def virtual_time(self) -> int:
        """The number of page writes so far, including this one."""
    @property
    def now_ms(self) -> float:
        """The simulated time in ms."""
    @property
    def request(self) -> int:
        """The number of the host request. All page requests of one host request have the same number."""
    @property
    def request_pages(self) -> int:
        """The number of pages of the host request."""

@final
class Need:
    """The reason why pages have to leave the buffer."""

    @property
    def kind(self) -> str:
        """`evict` (room for a page is needed), `flush` (all pages have to be written to flash) or `flush_page` (`page`
        has to be written to flash)."""
    @property
    def page(self) -> int | None:
        """The page that needs room, or that has to be written to flash. None for `flush`."""

@final
class Input:
    @staticmethod
    def trace(path: _Path) -> Input: ...
    @staticmethod
    def workload(text: str, pairs: Sequence[str]) -> Input: ...
    @staticmethod
    def columns(
        name: str,
        time_ns: NDArray[np.int64],
        op: NDArray[np.uint8],
        offset: NDArray[np.uint64],
        bytes: NDArray[np.uint64],
        volume: NDArray[np.uint32] | None,
    ) -> Input: ...
    def read(
        self, format: str | None, limit: int | None, skip: int, writes_only: bool, skip_bad_lines: bool
    ) -> Input: ...

@final
class Settings:
    def __new__(cls) -> Settings: ...
    def load_profile(self, name: str) -> None: ...
    def load_file(self, path: _Path) -> None: ...
    def set_kind(self, section: str, text: str) -> None: ...
    def set_by(self, name: str, key: str, text: str) -> None: ...
    def set_pair(self, pair: str) -> None: ...
    def explain(self) -> None: ...
    def add_scheme(self, name: str, object: Any, version: str | None) -> None: ...

@final
class Study:
    @staticmethod
    def prepare(path: _Path, results: _Path, pairs: Sequence[str], folder: _Path | None, is_full: bool) -> Study: ...
    @property
    def runs(self) -> int: ...
    def keep_plan(self) -> None: ...
    def missing(self, index: int, of: int) -> int: ...
    def part(self, index: int, of: int, threads: int) -> tuple[int, int]: ...
    def report(self) -> str: ...

def main(arguments: Sequence[str]) -> int: ...
def set_memory_limit(text: str | None) -> None: ...
def simulate(
    input: Input,
    settings: Settings,
    responses: bool,
    watch: tuple[_Path, bool] | None,
    cut: str | None,
    tell: _Tell,
) -> tuple[str, list[str], tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.uint8]] | None]: ...
def compare(
    inputs: Sequence[Input],
    settings: Settings,
    buffers: Sequence[str] | None,
    sizes: Sequence[str] | None,
    ftls: Sequence[str] | None,
    threads: int,
    tell: _Tell,
) -> tuple[str, list[str], list[str]]: ...
def curve(
    input: Input,
    settings: Settings,
    buffers: Sequence[str] | None,
    sizes: Sequence[str] | None,
    sample: float | None,
    error: tuple[float, str] | None,
    salts: int | None,
    threads: int,
    tell: _Tell,
) -> tuple[str, list[str]]: ...
def drive_check(
    settings: Settings,
    against: _Path,
    drive: str | None,
    requests: int,
    superblocks: int,
    threads: int,
    tell: _Tell,
) -> tuple[str, list[str]]: ...
def drive_fit(
    settings: Settings,
    start: str,
    files: Sequence[_Path],
    drive: str | None,
    all_rows: bool,
    output: _Path | None,
    requests: int,
    superblocks: int,
    threads: int,
    tell: _Tell,
) -> tuple[str, str, list[str]]: ...
def drive_measure(
    settings: Settings,
    drive: str,
    output: _Path,
    what: Sequence[str] | None,
    name: str | None,
    bytes: str | None,
    passes: int,
    seconds: float,
    requests: int | None,
    seed: int,
    overwrite: bool,
    is_dry: bool,
    control: _Path | None,
    tell: _Tell,
) -> tuple[str, str, list[str]]: ...
def fleet(
    folder: _Path,
    settings: Settings,
    buffers: Sequence[str] | None,
    sizes: Sequence[str] | None,
    results: _Path,
    threads: int,
    tell: _Tell,
) -> tuple[str, list[str]]: ...
def size(
    input: Input,
    settings: Settings,
    goals: Sequence[str],
    buffers: Sequence[str] | None,
    sizes: Sequence[str] | None,
    threads: int,
    tell: _Tell,
) -> tuple[str, list[str]]: ...
def study(
    path: _Path, results: _Path, pairs: Sequence[str], folder: _Path | None, is_full: bool, threads: int, tell: _Tell
) -> tuple[str, list[str]]: ...
def reproduce(
    what: str | None,
    results: _Path,
    pairs: Sequence[str],
    folder: _Path | None,
    is_full: bool,
    threads: int,
    tell: _Tell,
) -> tuple[str, list[str]]: ...
def inspect(input: Input, settings: Settings, tell: _Tell) -> tuple[str, list[str]]: ...
def outline(text: str) -> str: ...
def report(text: str, title: str | None) -> str: ...
def explain(text: str) -> str: ...
def require_metric(name: str) -> None: ...
def write_file(path: _Path, content: bytes) -> None: ...
def rows(registry: str) -> str: ...
def page(what: str, name: str) -> str: ...
