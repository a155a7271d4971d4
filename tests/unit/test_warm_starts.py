"""A fork of a warm command is what a fresh process of it is, as far as a test can see."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.evidence import wayseal_verify
from contracts.runtime.processes import tied
from support.ledgers.nodes import PLAIN_NODE, running
from support.machine.waiting import wait_until
from support.network.world import key
from support.project import warm

pytestmark = pytest.mark.integration

BIN = Path(sys.executable).parent
VERIFY, NODE = BIN / "wayseal-verify", BIN / "wayseal-node"

OPTIONS = ["--data", "node", "--rest", "127.0.0.1:0", "--admin", key("admin").public_key]


@pytest.fixture(params=[True, pytest.param(False, marks=pytest.mark.cold)], ids=["warm", "cold"])
def is_warm(request: pytest.FixtureRequest) -> bool:
    """Say which way; each test holds both."""
    return bool(request.param)


def is_fork(pid: int) -> bool:
    """Say whether a process was made by `fork` alone: no exec gave it an environment of its own."""
    return b"WARM_TEST=" not in Path(f"/proc/{pid}/environ").read_bytes()


def has_ended(pid: int) -> bool:
    """Say whether a process is gone, but for its entry in the table."""
    try:
        return not Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return True


@pytest.fixture
def node(tmp_path: Path, is_warm: bool) -> Iterator["subprocess.Popen[str]"]:  # noqa: FBT001
    """Run a node, tied, in a session and a folder of its own."""
    umask = os.umask(0o027)
    with (
        (tmp_path / "said").open("w") as said,
        subprocess.Popen(  # noqa: S603 - our own command
            tied([NODE, *OPTIONS]),
            cwd=tmp_path,
            env=os.environ | {"WARM_TEST": "1"},
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
            start_new_session=True,
        ) as process,
    ):
        os.umask(umask)
        assert process.stdout is not None
        assert process.stdout.readline().startswith("ready ")
        assert is_fork(process.pid) == is_warm
        yield process
        process.kill()


def test_a_process_of_the_system(node: "subprocess.Popen[str]", tmp_path: Path) -> None:
    place = Path("/proc") / str(node.pid)
    words = place.joinpath("cmdline").read_bytes().rstrip(b"\0").split(b"\0")
    assert words[1:4] == [bytes(NODE), b"--data", b"node"]
    assert place.joinpath("comm").read_text() == "wayseal-node\n"
    status = dict(line.split(":\t") for line in place.joinpath("status").read_text().splitlines())
    assert status["PPid"] == str(os.getpid())
    assert os.getsid(node.pid) == node.pid
    assert place.joinpath("cwd").readlink() == tmp_path
    files = {each.name: str(each.readlink()) for each in place.joinpath("fd").iterdir()}
    assert files["2"] == str(tmp_path / "said")
    assert not any("socketpair" in target for target in files.values())
    node.send_signal(signal.SIGTERM)
    assert node.wait(20) == 0


def test_a_kill_is_real(node: "subprocess.Popen[str]") -> None:
    node.kill()
    assert node.wait(20) == -signal.SIGKILL


def test_words_streams_and_status(tmp_path: Path, is_warm: bool) -> None:  # noqa: FBT001
    assert warm.STARTS.on == is_warm
    done = subprocess.run([VERIFY, "none"], cwd=tmp_path, capture_output=True, check=False)  # noqa: S603
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.startswith(b"wayseal-verify: ")
    done = subprocess.run([VERIFY, "--version"], capture_output=True, check=True)  # noqa: S603
    assert done.stdout.startswith(b"wayseal-verify ")
    with pytest.raises(FileNotFoundError):
        subprocess.run([VERIFY], cwd=tmp_path / "missing", check=False)  # noqa: S603


@pytest.mark.parametrize(
    "program",
    [["-m", "contracts.evidence.wayseal_verify"], [wayseal_verify.__file__]],
    ids=["module", "script"],
)
def test_scripts_and_modules(program: list[str], tmp_path: Path, is_warm: bool) -> None:  # noqa: FBT001
    assert warm.STARTS.on == is_warm
    done = subprocess.run(  # noqa: S603
        [sys.executable, *program, "none"], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith(b"wayseal-verify: ")


def test_a_script_is_a_process_of_python(tmp_path: Path, is_warm: bool) -> None:  # noqa: FBT001
    assert warm.STARTS.on == is_warm
    with running(tmp_path / "data", *OPTIONS[-2:], script=PLAIN_NODE) as node:
        place = Path("/proc") / str(node.process.pid)
        words = place.joinpath("cmdline").read_bytes().rstrip(b"\0").split(b"\0")
        assert words[1:3] == [bytes(PLAIN_NODE), b"--data"]
        assert place.joinpath("comm").read_text().startswith("python")
        assert Path(os.fsdecode(words[0])).name.startswith("python")
        assert node.stop() == 0


def test_a_module_of_the_folder_comes_first(tmp_path: Path) -> None:
    folder = tmp_path / "contracts" / "evidence"
    folder.mkdir(parents=True)
    for package in (folder, folder.parent):
        (package / "__init__.py").touch()
    (folder / "wayseal_verify.py").write_text("print('of this folder')")
    command = [sys.executable, "-m", "contracts.evidence.wayseal_verify"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)  # noqa: S603
    assert done.stdout == b"of this folder\n"


def test_what_python_reads_at_its_start_needs_a_new_process() -> None:
    environment = os.environ | {"PYTHONVERBOSE": "1"}
    done = subprocess.run([VERIFY, "--version"], env=environment, capture_output=True, check=True)  # noqa: S603
    assert b"import 'site'" in done.stderr


def test_the_tie_holds(tmp_path: Path) -> None:
    """The process of a worker that is killed takes its forks with it."""
    script = (
        "import sys; from support.project import warm; import subprocess\n"
        "from contracts.runtime.processes import tied\n"
        "with warm.installed():\n"
        "    warm.STARTS.on = True\n"
        f"    node = [{str(NODE)!r}, *{OPTIONS}]\n"
        "    process = subprocess.Popen(tied(node), stdout=subprocess.PIPE)\n"
        "    process.stdout.readline()\n"
        "    print(process.pid, flush=True)\n"
        "    process.wait()\n"
    )
    with subprocess.Popen(  # noqa: S603 - our own
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
    ) as worker:
        assert worker.stdout is not None
        pid = int(worker.stdout.readline())
        assert Path(f"/proc/{pid}/comm").read_text() == "wayseal-node\n"
        worker.kill()
    wait_until(lambda: has_ended(pid))
