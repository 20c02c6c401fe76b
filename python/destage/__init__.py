"""Write buffering for flash devices: which pages should wait in RAM, and which should leave next?

    import destage

    result = destage.simulate("my.trace", buffer="bplru", size="16MiB")
    result.metrics["response.p99_ms"]

Names are those of the command line everywhere: `destage list buffers`, `destage show`. docs/PYTHON.md begins at the beginning.
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
from destage._results import DestageWarning, Result
from destage._scheme import Scheme
from destage._work import simulate

__all__ = [
    "Access",
    "ConfigError",
    "DestageWarning",
    "DeviceFull",
    "Error",
    "InputError",
    "Need",
    "Result",
    "Scheme",
    "Trace",
    "TraceError",
    "Workload",
    "__version__",
    "simulate",
]
