"""Transaction processors for tests: real processes, with the real sawtooth-sdk."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contracts.runtime.processes import tied

ROOT: Final = Path(__file__).parents[2]
WAIT_S: Final = 30


@dataclass(frozen=True, slots=True)
class ProcessorProcess:
    """A running transaction processor."""

    process: subprocess.Popen[str]

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.kill()
        self.process.wait(WAIT_S)

    def stop(self) -> int:
        """Ask it to end; return its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(WAIT_S)

    def ready(self) -> None:
        """Return once it has registered."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith(("ready connect=tcp://", "ready connect=ipc://")), line


@contextmanager
def processing(command: list[str], log: Path) -> Iterator[ProcessorProcess]:
    """Run a transaction processor, registered or not."""
    # As wayseal-tp sets it for itself.
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python",
    }
    with (
        log.open("ab") as stderr,
        subprocess.Popen(  # noqa: S603 - our own script
            tied(command), stdout=subprocess.PIPE, stderr=stderr, text=True, env=environment
        ) as process,
    ):
        try:
            yield ProcessorProcess(process)
        finally:
            if process.poll() is None:
                process.kill()


@contextmanager
def intkey_processor(component: str, directory: Path, *curve: str) -> Iterator[ProcessorProcess]:
    """Run a registered processor of the intkey family, which obeys files in `directory`."""
    with scripted_processor("intkey_tp.py", component, directory, *curve) as processor:
        yield processor


@contextmanager
def scripted_processor(
    name: str, component: str, directory: Path, *more: str
) -> Iterator[ProcessorProcess]:
    """Run a registered processor of a script in this directory."""
    script = str(Path(__file__).with_name(name))
    command = [sys.executable, script, component, str(directory), *more]
    with processing(command, directory / f"{name}.stderr") as processor:
        processor.ready()
        yield processor


@contextmanager
def wayseal_processor(component: str, directory: Path, *options: str) -> Iterator[ProcessorProcess]:
    """Run `wayseal-tp`, registered or not."""
    command = [
        sys.executable,
        "-m",
        "contracts.ledger.processor.wayseal_tp",
        "--connect",
        component,
        *options,
    ]
    with processing(command, directory / "wayseal-tp.stderr") as processor:
        yield processor
