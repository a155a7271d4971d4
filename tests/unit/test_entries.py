"""Every command starts the same way: its version, a missing role, Ctrl-C, and its progress."""

import io
import os
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

from contracts.errors import UnavailableError
from contracts.evidence.wayseal_verify import main as verify
from contracts.runtime import entries, progress
from contracts.runtime.commands import INTERRUPTED
from contracts.runtime.progress import ProgressLine, WatchedFile
from device.stop import InterruptedByUserError, stop_on_signals
from gateway.wayseal_gateway import main as gateway
from support.machine.private import write_private
from support.project.pages import ROOT

SCRIPTS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def signals() -> Iterator[None]:
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("signals")
@pytest.mark.parametrize("command", SCRIPTS)
def test_each_command_tells_its_version(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module, _, function = SCRIPTS[command].partition(":")
    assert module == "contracts.runtime.entries"
    monkeypatch.setattr(sys, "argv", [command, "--version"])
    with pytest.raises(SystemExit) as ended:
        getattr(entries, function)()
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"{command} {version('wayseal')}\n"


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("gateway.wayseal_gateway", ["amqtt", "cassandra", "fastapi", "httpx"]),
        ("gateway.commands.serve", ["amqtt", "cassandra"]),
        ("gateway.commands.token", ["amqtt", "cassandra", "fastapi", "httpx"]),
    ],
)
def test_a_command_imports_only_what_it_needs(module: str, heavy: list[str]) -> None:
    code = f"import sys, {module}; print([each for each in {heavy} if each in sys.modules])"
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", code], capture_output=True, check=True, text=True, cwd=ROOT
    )
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("name", "package", "words"),
    [
        (
            "gateway",
            "pydantic",
            "pydantic is not installed: wayseal-gateway needs the extra gateway",
        ),
        ("device", "msgspec", "msgspec is not installed: wayseal-device needs the extra device"),
        ("party", "httpx", "httpx is not installed: wayseal-party needs the extra party"),
    ],
)
def test_a_missing_role_names_its_extra(name: str, package: str, words: str) -> None:
    code = (
        f"import sys; sys.modules[{package!r}] = None; sys.argv = ['x', '--help']; "
        f"from contracts.runtime.entries import {name}; {name}()"
    )
    done = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-c", code], capture_output=True, check=False, text=True, cwd=ROOT
    )
    assert done.returncode == 1
    assert words in done.stderr
    assert f"scripts/install {name} installs it" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_module_of_ours_that_is_missing_is_no_missing_role() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"gateway\.nothing"):
        entries.start("wayseal-gateway", "gateway.nothing", "gateway")


def test_ctrl_c_ends_without_a_traceback(tmp_path: Path) -> None:
    pipe = tmp_path / "evidence"
    os.mkfifo(pipe)
    code = "from contracts.runtime.entries import verify; verify()"
    with subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, "-c", code, str(pipe)], stderr=subprocess.PIPE, text=True, cwd=ROOT
    ) as command:
        with pipe.open("wb"):  # once it is open, the command reads
            command.send_signal(signal.SIGINT)
        # A signal just before the read does not wake it; the end of the pipe does.
        _, said = command.communicate(timeout=60)
    assert command.returncode == INTERRUPTED
    assert said == "wayseal-verify: stopped by Ctrl-C\n"


@pytest.mark.parametrize("place", ["before", "after"])
def test_the_gateway_takes_config_before_and_after_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setenv("WAYSEAL_GATEWAY_CONFIG", str(tmp_path / "another.toml"))
    path = write_private(tmp_path / "g.toml", f'data = "{tmp_path}/data"\nsite_id = "dock-1"\n')
    config = ["--config", str(path)]
    with pytest.raises(SystemExit) as ended:
        gateway([*config, "key"] if place == "before" else ["key", *config])
    assert ended.value.code == 0
    assert '"site_id": "dock-1"' in capsys.readouterr().out


def test_progress_is_for_terminals_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "EVERY_S", 0)
    file = tmp_path / "file"
    file.write_bytes(bytes(4000))
    for stream in (io.StringIO(), Terminal()):
        with (
            ProgressLine("at {percent} %", 4000, stream) as line,
            WatchedFile(file, line) as watched,
        ):
            assert [len(watched.read(1000)) for _ in range(5)] == [1000, 1000, 1000, 1000, 0]
        said = stream.getvalue().split("\r\x1b[K")[1:]
        shown = ["at 25 %", "at 50 %", "at 75 %", "at 100 %", "at 100 %", ""]
        assert said == (shown if stream.isatty() else [])
    terminal = Terminal()
    with ProgressLine("{done} of {total} readings", 24_604, terminal) as line:
        line.at(1000)
    assert terminal.getvalue() == "\r\x1b[K1,000 of 24,604 readings\r\x1b[K"


def test_progress_of_a_verification_counts_the_videos_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "EVERY_S", 0)
    evidence, video = tmp_path / "evidence", tmp_path / "camera.avi"
    evidence.write_bytes(b"no evidence " * 50)
    video.write_bytes(bytes(1400))
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with pytest.raises(SystemExit) as ended:
        verify([str(evidence), "--video", str(video)])
    assert ended.value.code == 2
    assert "verifying: 70 %" in terminal.getvalue()


@pytest.mark.usefixtures("signals")
@pytest.mark.parametrize(
    ("number", "raised"),
    [(signal.SIGINT, InterruptedByUserError), (signal.SIGTERM, UnavailableError)],
)
def test_work_that_a_signal_ended_says_which(number: int, raised: type[UnavailableError]) -> None:
    with pytest.raises(UnavailableError, match="stopped after 7 readings") as caught:
        work_that_ends_by(number)
    assert type(caught.value) is raised


def work_that_ends_by(number: int) -> None:
    with stop_on_signals() as stop:
        os.kill(os.getpid(), number)
        assert stop.wait(60)
        raise UnavailableError("stopped after 7 readings")
