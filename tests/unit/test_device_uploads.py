"""The upload thread: it ends when it is told to, whatever it is about to do."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from device.journal.trip import Recording
from device.offload.progress import Progress
from device.offload.upload import TusClient
from device.offload.uploads import Uploads
from device.settings import GatewaySettings

TRIES = 200
GATEWAY = GatewaySettings("127.0.0.1:1", "http://127.0.0.1:1", (), None, "token", timeout_s=1)


def nothing_after(go: threading.Event) -> Iterator[Recording]:
    go.wait()
    yield from ()


def test_leaving_while_the_thread_begins_never_waits_for_ever(tmp_path: Path) -> None:
    def enter_and_leave(client: TusClient) -> None:
        for _ in range(TRIES):
            uploads, go = Uploads([client], tmp_path, Progress()), threading.Event()
            adding = threading.Thread(target=uploads.add, args=(nothing_after(go),))
            adding.start()  # holds up the thread between its look at the stop and its wait
            with uploads:
                go.set()
            adding.join()

    with TusClient(GATEWAY, "truck-7") as client:
        visitor = threading.Thread(target=enter_and_leave, args=(client,), daemon=True)
        visitor.start()
        visitor.join(30)
        assert not visitor.is_alive()


def test_an_offload_without_recordings_loads_no_http() -> None:
    code = """
import sys
from device.offload.upload import TusClient
from device.settings import GatewaySettings
gateway = GatewaySettings("127.0.0.1:1", "http://127.0.0.1:1", (), None, "token", timeout_s=1)
with TusClient(gateway, "truck-7"):
    print(*sys.modules)
"""
    done = subprocess.run(  # noqa: S603 - our own module
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    )
    found = set(done.stdout.split())
    assert "device.offload.upload" in found
    assert "httpcore" not in found
