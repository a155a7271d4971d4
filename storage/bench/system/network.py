"""The network: throughput by iperf3, round trips by ping."""

import json
import re
import subprocess
from argparse import ArgumentTypeError
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Final

from contracts.errors import UnavailableError
from contracts.runtime.ports import LOOPBACK, free_port
from storage.bench.run.outcome import Better, Metric, Observation, Outcome, Work
from storage.bench.run.plan import Place
from storage.bench.system.tools import said, said_json
from storage.drives.tools import Run

IDLE_TIMEOUT_S: Final = 30
"""For the benchmark's own server to wait for a client."""
PING_EVERY_S: Final = 0.005
"""The least that ping allows without root is 0.002."""
RECEIVED: Final = Metric("received", "B/s")
LOST: Final = Metric("lost", "1", Better.LOWER)
ROUND_TRIP: Final = Metric("round-trip", "s", Better.LOWER)
UDP_AS_FAST_AS_IT_GOES: Final = ("--udp", "--bitrate", "0")
_PORT: Final = 5201
"""iperf3's own."""
_PORTS: Final = 1 << 16
_PEER: Final = re.compile(r"(?P<host>\[[0-9a-fA-F:.]+\]|\w[\w.-]*)(:(?P<port>\d+))?")
_BITS: Final = 8
_LISTENS: Final = "Server listening"
_PINGED: Final = re.compile(r"= [\d.]+/([\d.]+)/[\d.]+/[\d.]+ ms")


@dataclass(frozen=True, slots=True)
class IperfPeer:
    """A host with an iperf3 server."""

    host: str
    port: int = _PORT


def peer(text: str) -> IperfPeer:
    """Read HOST, HOST:PORT or [ADDRESS]:PORT, for argparse."""
    found = _PEER.fullmatch(text)
    if found is None or not 0 < (port := int(found["port"] or _PORT)) < _PORTS:
        raise ArgumentTypeError(f"expected HOST or HOST:PORT, got {text!r}")
    return IperfPeer(found["host"].strip("[]"), port)


def tcp(run: Run, link: IperfPeer | None, seconds: int, place: Place) -> Outcome:
    """Send over one TCP connection.

    Args:
        run: Runs iperf3.
        link: The receiver; None is the loopback, with a server of the benchmark.
        seconds: Duration.
        place: Of the execution.

    Raises:
        UnavailableError: iperf3 failed, or there is no server.
    """
    told = _sent(run, link, seconds, place)
    received = told["end"]["sum_received"]
    return Outcome(
        [Observation(RECEIVED, received["bits_per_second"] / _BITS)],
        attachments=_attached(told),
        work=Work(bytes_moved=received["bytes"]),
    )


def udp(run: Run, link: IperfPeer | None, seconds: int, place: Place) -> Outcome:
    """Send UDP packets at full speed; count those that arrive. Arguments as for `tcp`.

    Raises:
        UnavailableError: iperf3 failed, or there is no server.
    """
    told = _sent(run, link, seconds, place, *UDP_AS_FAST_AS_IT_GOES)
    received = told["end"]["sum_received"]
    return Outcome(
        [
            Observation(RECEIVED, received["bits_per_second"] / _BITS),
            Observation(LOST, received["lost_percent"] / 100),
        ],
        attachments=_attached(told),
        work=Work(bytes_moved=received["bytes"]),
    )


def round_trips(run: Run, link: IperfPeer | None, seconds: int, place: Place) -> Outcome:
    """Wait for the echo of each packet; return the mean time. Arguments as for `tcp`.

    Raises:
        UnavailableError: ping failed, or no echo came back.
    """
    host = LOOPBACK if link is None else link.host
    count = int(seconds / 2 / PING_EVERY_S)  # on a busy machine it falls behind
    command = ("ping", "-q", "-n", "-c", str(count), "-i", str(PING_EVERY_S), host)
    with place.counted():
        out = said(run, command, seconds).out
    match = _PINGED.search(out)
    if match is None:
        raise UnavailableError(f"ping answered in an unknown form: {out[-300:]!r}")
    return Outcome(
        [Observation(ROUND_TRIP, float(match[1]) / 1000)], attachments={"ping.txt": out.encode()}
    )


def _sent(
    run: Run, link: IperfPeer | None, seconds: int, place: Place, *options: str
) -> dict[str, Any]:
    with nullcontext(link) if link is not None else _own_server() as server, place.counted():
        command = ("iperf3", "--client", server.host, "--port", str(server.port))
        return said_json(
            run, (*command, "--time", str(seconds), "--json", *options), measures_s=seconds
        )


@contextmanager
def _own_server() -> Iterator[IperfPeer]:
    """Run an iperf3 server on the loopback, for one test.

    Raises:
        UnavailableError: It does not listen.
    """
    port = free_port()
    # It ends by itself, even if this process is killed.
    ends = ("--one-off", "--idle-timeout", str(IDLE_TIMEOUT_S))
    command = ("iperf3", "--server", "--bind", LOOPBACK, "--port", str(port), "--forceflush", *ends)
    with subprocess.Popen(  # noqa: S603 - a tool from the PATH, as everywhere
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            said_so_far = ""
            for line in process.stdout or ():
                said_so_far += line
                if _LISTENS in line:
                    break
            else:
                raise UnavailableError(f"iperf3 --server does not listen: {said_so_far[-300:]!r}")
            yield IperfPeer(LOOPBACK, port)
        finally:
            process.kill()


def _attached(told: dict[str, Any]) -> dict[str, bytes]:
    return {"iperf3.json": json.dumps(told, indent=1).encode() + b"\n"}
