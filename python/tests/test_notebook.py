"""In a notebook: progress is shown, and an interrupt is heard."""

from __future__ import annotations

import time

from jupyter_client.manager import start_new_kernel

LONG = "import destage\ndestage.simulate(destage.Workload('zipf', requests=10**9))"


def test_a_notebook_shows_progress_and_can_interrupt() -> None:
    manager, client = start_new_kernel(kernel_name="python3")
    try:
        client.execute(LONG)
        shown = ""
        begin = time.monotonic()
        while "of 1,000,000,000 requests" not in shown and time.monotonic() - begin < 30:
            message = client.get_iopub_msg(timeout=30)
            if message["msg_type"] == "stream":
                assert message["content"]["name"] == "stderr"
                shown += message["content"]["text"]
        assert "\r" in shown and "of 1,000,000,000 requests" in shown
        begin = time.monotonic()
        manager.interrupt_kernel()
        while True:
            message = client.get_iopub_msg(timeout=10)
            if message["msg_type"] == "error":
                break
        assert message["content"]["ename"] == "KeyboardInterrupt"
        assert time.monotonic() - begin < 2.0
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
