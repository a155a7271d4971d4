"""Three sites, each with a node of its own; where it may be, each on a network of its own.

With the rights for it (root), every site is a network namespace behind a cable that
can be pulled. Without, they are loopback addresses, and no site can be cut off.
"""

import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from storage.bench.servers.cassandra.cluster import Cluster
from storage.bench.servers.cassandra.config import NodePlace
from storage.blobs.cassandra.config import CassandraConfig
from support.project.pages import ROOT
from support.storage.cassandras import make_cassandra

COUNT: Final = 3
STEPS_S: Final = 120
NETNS: Final = Path("/var/run/netns")
_CLONE_NEWNET: Final = 0x40000000
"""setns(2); os.setns comes with Python 3.12."""
_SCRIPT: Final = Path(__file__).with_name("at_site.py")


@dataclass(frozen=True, slots=True)
class Network:
    """Cables between this process and the sites.

    Attributes:
        places: Where the nodes stand.
        cables: Our ends; empty where no network can be made.
        hub: The address of this process on it.
    """

    places: tuple[NodePlace, ...]
    cables: tuple[str, ...] = ()
    hub: str = "127.0.0.1"

    @contextmanager
    def inside(self, index: int) -> Iterator[None]:
        """Put this thread, its connections and the processes that it starts at a site."""
        if not self.cables:
            yield
            return
        name = self.places[index].prefix[-1]
        with Path("/proc/thread-self/ns/net").open() as here, (NETNS / name).open() as there:
            _enter(there.fileno())
            try:
                yield
            finally:
                _enter(here.fileno())

    @contextmanager
    def cut(self, index: int) -> Iterator[None]:
        """Pull the cable of a site: nothing goes in or out, and nobody is told."""
        _ip("link", "set", self.cables[index], "down")
        try:
            yield
        finally:
            _ip("link", "set", self.cables[index], "up")


@contextmanager
def network(count: int = COUNT + 1) -> Iterator[Network]:
    """Make a network of sites, or loopback addresses where that is not allowed."""
    with ExitStack() as undo:
        try:
            made = _namespaces(undo, count)
        except (OSError, subprocess.CalledProcessError):
            undo.close()
            made = Network(
                tuple(NodePlace(f"127.0.0.{n}", f"site{n}") for n in range(1, count + 1))
            )
        yield made


@contextmanager
def three_sites(directory: Path, made: Network) -> Iterator[Cluster]:
    """Run a node at each of the first three sites."""
    with make_cassandra(directory, *made.places[:COUNT]) as cluster:
        yield cluster


def at_site(place: NodePlace, config: CassandraConfig, steps: Sequence[Sequence[str]]) -> list[str]:
    """Run a store in a process at a site, as its gateway would; return what each step gave."""
    done = subprocess.run(  # noqa: S603
        [*place.prefix, sys.executable, str(_SCRIPT), json.dumps([asdict(config), steps])],
        env=os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"},
        capture_output=True,
        text=True,
        check=True,
        timeout=STEPS_S,
    )
    answers: list[str] = json.loads(done.stdout)
    return answers


def _namespaces(undo: ExitStack, count: int) -> Network:
    tag, subnet = f"ws{os.getpid()}", f"198.18.{os.getpid() % 256}"  # RFC 2544: for tests
    places, cables = [], []
    _ip("link", "add", tag, "type", "bridge")
    undo.callback(_ip, "link", "del", tag)
    _ip("addr", "add", f"{subnet}.254/24", "dev", tag)
    _ip("link", "set", tag, "up")
    for number in range(1, count + 1):
        name, cable = f"{tag}-{number}", f"{tag}c{number}"
        _ip("netns", "add", name)
        undo.callback(_ip, "netns", "del", name)
        _ip("link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", name)
        _ip("link", "set", cable, "master", tag, "up")
        for words in (
            ("addr", "add", f"{subnet}.{number}/24", "dev", "eth0"),
            ("link", "set", "eth0", "up"),
            ("link", "set", "lo", "up"),
        ):
            _ip("-n", name, *words)
        prefix = ("ip", "netns", "exec", name)
        places.append(NodePlace(f"{subnet}.{number}", f"site{number}", prefix=prefix))
        cables.append(cable)
    return Network(tuple(places), tuple(cables), f"{subnet}.254")


def _enter(namespace: int) -> None:
    if ctypes.CDLL(None, use_errno=True).setns(namespace, _CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)  # noqa: S603, S607
