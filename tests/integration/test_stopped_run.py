"""A test run that is stopped leaves no server behind."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.project.checkout import ROOT, make_checkout, running
from support.trucks.rogue import until

pytestmark = pytest.mark.integration

PATIENCE_S = 200
STOP_S = 60
SAID_CHARS = 5000
SITE = """
import signal
from pathlib import Path

from support.machine.mosquitto import MosquittoAppliance


def test_a_site(tmp_path: Path) -> None:
    site = MosquittoAppliance(tmp_path / "site")
    site.start()
    try:
        (tmp_path / "waits").touch()
        signal.pause()
    finally:
        site.stop()
"""
CASSANDRA = """
import signal
import subprocess
import sys
from pathlib import Path

from support.storage.cassandras import make_cassandra


def test_cassandra(tmp_path: Path) -> None:
    with make_cassandra(tmp_path / "cassandra"):
        # Nothing ties this process to its parent, and it heeds no signal but SIGKILL.
        deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
        subprocess.Popen([sys.executable, "-c", deaf, str(tmp_path)], start_new_session=True)
        (tmp_path / "waits").touch()
        signal.pause()
"""
AT_THE_SITE = ("wayseal-node", "wayseal-gateway", "mosquitto")


@contextmanager
def stopping(
    folder: Path, command: Sequence[str | Path], servers: Sequence[str], cwd: Path
) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a command until its tests wait beside their servers; the caller stops it."""
    with (
        (folder / "said").open("wb") as said,
        subprocess.Popen(  # noqa: S603 - our own tests
            command,
            cwd=cwd,
            env=os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"},
            stdout=said,
            stderr=said,
        ) as process,
    ):
        try:
            tests = len(list((folder / "tests").glob("test_*")))
            try:
                until(
                    "all tests wait",
                    lambda: (
                        len(list(folder.glob("base/*/*0/waits"))) == tests
                        or process.poll() is not None
                    ),
                    PATIENCE_S,
                )
            except AssertionError as error:
                raise AssertionError((folder / "said").read_text()[-SAID_CHARS:]) from error
            lines = running(folder)
            assert [name for name in servers if not any(name in line for line in lines)] == []
            yield process
            process.wait(STOP_S)
        finally:
            process.kill()


def pytest_words(folder: Path, **files: str) -> list[str | Path]:
    """Write test files that start servers and wait; return the words to run each on a worker."""
    tests = folder / "tests"
    tests.mkdir()
    (tests / "conftest.py").symlink_to(ROOT / "tests/conftest.py")
    for name, text in files.items():
        (tests / f"test_{name}.py").write_text(text)
    return [
        tests,
        "-c",
        ROOT / "pyproject.toml",
        "--rootdir",
        folder,
        "--basetemp",
        folder / "base",
    ]


def test_make_test_stopped_by_sigterm_leaves_no_process(tmp_path: Path) -> None:
    checkout = make_checkout(tmp_path / "checkout")
    (checkout / "tests").symlink_to(ROOT / "tests")  # which knows what else to install
    (checkout / "build").symlink_to(ROOT / "build")  # where that is installed
    words = " ".join(map(str, pytest_words(tmp_path, site=SITE, cassandra=CASSANDRA)))
    settings = (f"VENV={sys.prefix}", "MAKE=true", "JAVA=true", f"LONG_FIRST={words}")
    command = ["make", "-o", f"{sys.prefix}/.ready", "test", *settings]
    with stopping(tmp_path, command, [*AT_THE_SITE, "CassandraDaemon"], checkout) as make:
        make.terminate()
    assert running(tmp_path) == []


@pytest.mark.long
def test_pytest_that_is_killed_leaves_no_server(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-n", "2", *pytest_words(tmp_path, site=SITE)]
    with stopping(tmp_path, command, AT_THE_SITE, ROOT) as process:
        process.kill()
    # The workers hear of it at once; execnet ends them within 15 s.
    until("all processes end", lambda: running(tmp_path) == [])
