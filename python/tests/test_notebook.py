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
        while "of 1,000,000,000 requests" not in shown and time.monotonic() - begin < 60:
            message = client.get_iopub_msg(timeout=60)
            if message["msg_type"] == "stream":
                assert message["content"]["name"] == "stderr"
                shown += message["content"]["text"]
        assert "\r" in shown and "of 1,000,000,000 requests" in shown
        manager.interrupt_kernel()
        # The run would take many minutes, and says every now and then how far it is.
        begin = time.monotonic()
        while time.monotonic() - begin < 60:
            message = client.get_iopub_msg(timeout=60)
            if message["msg_type"] == "error":
                break
        assert message["content"].get("ename") == "KeyboardInterrupt"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
