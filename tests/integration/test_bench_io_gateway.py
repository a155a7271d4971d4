"""Videos through a real gateway on a volume: in, out, both at once, and what a kill leaves."""

import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from contracts.errors import RejectedError
from storage.bench.io.gateway import add_gateway_options, prepare_gateway
from storage.bench.run.directories import WORKPLACE, workplace
from storage.bench.trucks.payload import PIECE_BYTES
from support.bench.stages import execute, flags, parsed, setup_on, steps_of, values
from support.project.checkout import running
from support.trucks.rogue import until

pytestmark = pytest.mark.integration

STACK = ExitStack()
PIECES = 20
TINY = ("--gateway-video-gb", str(PIECES * PIECE_BYTES / 1e9), "--auditors", "2")
SECONDS = {"write-mean", "write-max", "read-mean", "read-max"}
BEGUN = """
import sys
from contextlib import ExitStack
from pathlib import Path
from storage.bench.io.gateway import add_gateway_options, prepare_gateway
from support.bench.stages import parsed, setup_on, steps_of
with setup_on(Path(sys.argv[1]), "a") as setup:
    options = parsed(add_gateway_options, "--gateway-video-gb", "0.001")
    with steps_of(prepare_gateway(options, setup, ExitStack())):
        print("begun", flush=True)
        sys.stdin.read()
"""


def test_a_gateway_takes_a_video_and_gives_it_back_alone_and_while_auditors_read(
    tmp_path: Path,
) -> None:
    with setup_on(tmp_path, "a") as setup:
        (volume,) = setup.volumes
        with steps_of(prepare_gateway(parsed(add_gateway_options, *TINY), setup, STACK)) as steps:
            assert [(step.workload, step.target) for step in steps] == [
                ("gateway", "a"),
                ("gateway-mixed", "a"),
            ]
            alone = execute(steps[0], tmp_path / "one")
            assert list(volume.work.rglob("gateway/gateway/volume"))
            mixed = execute(steps[1], tmp_path / "two")
        left = [path.name for path in volume.work.iterdir()]
    assert left == ["made-by-wayseal-bench"]
    assert running(tmp_path) == []
    counted = SECONDS if volume.drives else set()
    amplified = {"write-amplification"} if volume.drives else set()
    cpu = {"upload-client-cpu", "upload-server-cpu", "stream-client-cpu", "stream-server-cpu"}
    rates = {"upload-rate", "stream-rate"}
    assert values(alone).keys() == rates | counted | amplified | cpu | {"peak-memory"}
    assert values(mixed).keys() == (
        {"upload-rate", "audit-rate", "mixed-client-cpu", "mixed-server-cpu", "peak-memory"}
        | counted
    )
    assert alone.work.bytes_moved % (2 * PIECE_BYTES) == 0
    for outcome in (alone, mixed):
        assert outcome.work.bytes_moved > 0
        assert all(values(outcome)[name] > 0 for name in values(outcome) if "rate" in name)
        assert values(outcome)["peak-memory"] > PIECE_BYTES
        assert not any("INVALID" in each for each in flags(outcome).values())
        assert [each.name for each in outcome.latencies] == ["range-response"]
    if volume.drives:
        assert values(alone)["write-amplification"] >= 2


def test_no_room_is_said_first_and_no_size_leaves_it_out(tmp_path: Path) -> None:
    with setup_on(tmp_path, "a") as setup:
        with pytest.raises(RejectedError, match="GiB free"):
            prepare_gateway(parsed(add_gateway_options, "--gateway-video-gb", "1000"), setup, STACK)
        none = parsed(add_gateway_options, "--gateway-video-gb", "0")
        assert prepare_gateway(none, setup, STACK).groups == ()


def test_a_killed_run_s_servers_end_with_it_and_its_files_go_when_the_next_begins(
    tmp_path: Path,
) -> None:
    home = tmp_path / "killed"
    home.mkdir()
    process = subprocess.Popen(  # noqa: S603 - our own
        [sys.executable, "-c", BEGUN, home],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"PYTHONPATH": ":".join(sys.path), "PATH": "/usr/bin:/bin"},
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    assert len(running(home)) >= 2
    process.kill()
    process.communicate()
    until("the end of the killed run's servers", lambda: running(home) == [])
    with workplace(home / "a") as work:
        assert [path.name for path in work.iterdir()] == ["made-by-wayseal-bench"]
    assert not (home / "a" / WORKPLACE).exists()
