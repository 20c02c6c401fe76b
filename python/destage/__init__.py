"""Write buffering for flash devices: which pages should wait in RAM, and which should leave next?

    import destage

    result = destage.simulate("my.trace", buffer="bplru", size="16MiB")
    result.metrics["response.p99_ms"]

Schemes, settings and metrics have the same names as on the command line: `destage list buffers`, `destage show`.
docs/PYTHON.md is an introduction.
"""

from destage._core import (
    Access,
    ConfigError,
    DeviceFull,
    Error,
    InputError,
    Need,
    TraceError,
    __version__,
)
from destage._inputs import Trace, Workload
from destage._registries import (
    Explanations,
    Registry,
    Row,
    buffers,
    experiments,
    formats,
    ftls,
    metrics,
    parameters,
    profiles,
    workloads,
)
from destage._results import Answers, Curves, DestageWarning, Fleet, Reproduction, Result, Results, Run, Series, TraceInfo
from destage._scheme import Scheme
from destage._work import compare, curve, explain, fleet, info, reproduce, set_memory_limit, simulate, size, study
from destage import drive

__all__ = [
    "Access",
    "Answers",
    "ConfigError",
    "Curves",
    "DestageWarning",
    "DeviceFull",
    "Error",
    "Explanations",
    "Fleet",
    "InputError",
    "Need",
    "Registry",
    "Reproduction",
    "Result",
    "Results",
    "Row",
    "Run",
    "Series",
    "Scheme",
    "Trace",
    "TraceError",
    "TraceInfo",
    "Workload",
    "__version__",
    "buffers",
    "compare",
    "curve",
    "drive",
    "experiments",
    "explain",
    "fleet",
    "formats",
    "ftls",
    "info",
    "metrics",
    "parameters",
    "plot",
    "profiles",
    "reproduce",
    "set_memory_limit",
    "simulate",
    "size",
    "study",
    "workloads",
]


def __getattr__(name: str) -> object:
    # The module of figures is imported when it is first used. So `import destage` is enough for `destage.plot`.
    if name == "plot":
        import destage.plot

        return destage.plot
    raise AttributeError(f"module 'destage' has no attribute {name!r}")
