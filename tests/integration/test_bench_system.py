"""`wayseal-bench system` with the real tools."""

import json
import socket
import subprocess
from argparse import ArgumentTypeError
from collections.abc import Sequence
from pathlib import Path

import pytest

from contracts.errors import UnavailableError
from storage.bench.run.flags import Flag
from storage.bench.run.plan import Place
from storage.bench.run.savedrun import opened
from storage.bench.servers.processes import environment, executable
from storage.bench.system import crypto, network, sysbench
from storage.bench.system.tools import PACKAGES, versions
from storage.bench.wayseal_bench import main
from storage.drives.tools import Said, run_tool
from support.bench import papers

pytestmark = pytest.mark.integration

ON_THE_MACHINE = {
    "at-rest": [],
    "cpu-one-core": ["events"],
    "cpu-all-cores": ["events"],
    "memory": ["read", "write"],
    "ecdsa-secp256k1": ["sign", "verify"],
    "ecdsa-p256": ["sign", "verify"],
    "sha256": ["digest"],
}
ON_A_VOLUME = {
    "sequential-1m-qd8-read0": ["write-rate"],
    "sequential-1m-qd8-read100": ["read-rate"],
    "random-4k-qd1-read0": ["write-operations", "write-latency-p50"],
    "random-4k-qd1-read100": ["read-operations", "read-latency-p50"],
}
ON_THE_LOOPBACK = {"tcp": ["received"], "udp": ["received", "lost"], "ping": ["round-trip"]}


@pytest.mark.long
def test_each_figure_of_the_paper_by_a_known_tool(tmp_path: Path) -> None:
    """To a host without iperf3 the link fails in words, and all else is measured."""
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        port = nobody.getsockname()[1]
        done = subprocess.run(  # noqa: S603 - our own command
            [
                *(executable("wayseal-bench"), "system", "--quick", "--repetitions", "1"),
                *("--out", tmp_path, "--iperf", f"127.0.0.1:{port}"),
                *("--wall-watts", "30", "--idle-watts", "12"),
            ],
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 1, done.stderr
    path = Path(json.loads(done.stdout.splitlines()[-1])["result"])
    result = opened(path).result
    found = {(e["workload"], e["target"], e["metric"]): e["median"] for e in result["figures"]}
    for target, workloads in (
        *(("machine", ON_THE_MACHINE), ("here", ON_A_VOLUME)),
        ("loopback", ON_THE_LOOPBACK),
    ):
        for workload, metrics in workloads.items():
            assert found[workload, target, "cpu-busy"] > 0
            assert all((workload, target, metric) in found for metric in metrics)
    assert found["at-rest", "machine", "power-wall"] == pytest.approx(12, rel=0.05)
    assert found["sha256", "machine", "digest-per-joule-wall"] > 0
    assert {(e["workload"], e["target"]) for e in result["failures"]} == {
        ("tcp", "link"),
        ("udp", "link"),
    }
    assert papers.unwritten(opened(path), "system") == set()
    assert "unable to connect" in result["failures"][0]["why"]
    assert found["ping", "link", "round-trip"] > 0
    assert set(result["settings"]["system"]["tools"]) == set(PACKAGES)
    assert result["machine"]["power"].startswith("wall: the whole machine, typed in")
    for each in result["executions"]:
        assert (tmp_path / result["run"] / each["folder"] / "machine.json").exists()


def test_a_volume_may_not_have_the_name_of_a_part_of_the_machine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["system", "--target", f"loopback={tmp_path}", "--out", str(tmp_path / "runs")])
    assert "['loopback'] are targets of wayseal-bench system" in capsys.readouterr().err


def test_missing_tools_are_told_with_their_packages() -> None:
    def run(command: Sequence[str], limit_s: float) -> Said:
        if command[0] in ("ping", "sysbench"):
            raise UnavailableError(f"{command[0]} is not installed")
        return run_tool(command, limit_s)

    with pytest.raises(UnavailableError, match="needs the packages sysbench iputils-ping: apt-get"):
        versions(run)


def test_a_tool_that_answers_otherwise_is_a_failure_and_no_figure(tmp_path: Path) -> None:
    place = Place(tmp_path, 1)

    def nothing(_command: Sequence[str], _limit_s: float) -> Said:
        return Said(0, "nothing\n")

    def fails(_command: Sequence[str], _limit_s: float) -> Said:
        return Said(1, "", "no room")

    small = sysbench.sizes(0, 1, quick=True)
    with pytest.raises(UnavailableError, match="sysbench answered in an unknown form"):
        sysbench.cpu(nothing, 1, 1, place)
    with pytest.raises(UnavailableError, match=r"sysbench memory .* failed: no room"):
        sysbench.memory(fails, small, 1, place)
    with pytest.raises(UnavailableError, match="openssl answered in an unknown form"):
        crypto.sha256(nothing, 1, place)
    with pytest.raises(UnavailableError, match="ping answered in an unknown form"):
        network.round_trips(nothing, None, 1, place)
    with pytest.raises(UnavailableError, match=r"iperf3 .* failed: nothing"):
        network.tcp(nothing, network.IperfPeer("::1"), 1, place)


def test_memory_that_fits_into_a_cache_is_flagged() -> None:
    whole = sysbench.sizes(32 << 20, 3, quick=False)
    assert (whole.block_bytes, whole.flags) == (32 << 20, ())
    (raised,) = sysbench.sizes(260 << 20, 2, quick=True).flags
    assert raised.flag is Flag.CACHED


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("node-2.lan", network.IperfPeer("node-2.lan", 5201)),
        ("10.0.0.7:99", network.IperfPeer("10.0.0.7", 99)),
        ("[fe80::1]:99", network.IperfPeer("fe80::1", 99)),
        ("[fe80::1]", network.IperfPeer("fe80::1", 5201)),
    ],
)
def test_a_peer_is_a_host_and_perhaps_a_port(text: str, expected: network.IperfPeer) -> None:
    assert network.peer(text) == expected


@pytest.mark.parametrize("text", ["", ":99", "host:0", "host:65536", "host:x", "-x", "a b"])
def test_a_peer_is_nothing_else(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="expected HOST or HOST:PORT"):
        network.peer(text)
