"""A network namespace with one cable to this machine, which a test can pull out."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import pytest


@dataclass(frozen=True, slots=True)
class Cable:
    """What runs behind the cable is started with a prefix of its command.

    Attributes:
        name: Of the namespace.
        near: Address of this machine on the cable.
        far: Address in the namespace.
    """

    name: str
    near: str
    far: str

    @property
    def prefix(self) -> tuple[str, ...]:
        """Begin a command with this to run it behind the cable."""
        return ("ip", "netns", "exec", self.name)

    def pull(self) -> None:
        """Cut it: nothing gets through, and nobody is told."""
        _ip("-n", self.name, "link", "set", "eth0", "down")

    def plug(self) -> None:
        """Put it in again."""
        _ip("-n", self.name, "link", "set", "eth0", "up")


@contextmanager
def cable() -> Iterator[Cable]:
    """Lay a cable; skip the test where that is not allowed."""
    number = os.getpid() % (1 << 14)
    net = f"10.{77 + (number >> 12)}.{number >> 4 & 255}"
    first = (number & 15) * 16
    made = Cable(f"wsnet{number}", f"{net}.{first + 1}", f"{net}.{first + 2}")
    near = f"wsc{number}"
    with ExitStack() as undo:
        if os.geteuid() != 0:
            pytest.skip("network namespaces need root")
        if _tried("netns", "add", made.name):
            pytest.skip("this machine does not let a container make network namespaces")
        undo.callback(_ip, "netns", "del", made.name)
        _ip("link", "add", near, "type", "veth", "peer", "name", "eth0", "netns", made.name)
        undo.callback(_ip, "link", "del", near)  # with its namespace it would go some time later
        _ip("addr", "add", f"{made.near}/28", "dev", near)
        _ip("link", "set", near, "up")
        _ip("-n", made.name, "addr", "add", f"{made.far}/28", "dev", "eth0")
        _ip("-n", made.name, "link", "set", "lo", "up")
        made.plug()
        yield made


def _tried(*words: str) -> int:
    return subprocess.run(["ip", *words], capture_output=True, check=False).returncode  # noqa: S603, S607


def _ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)  # noqa: S603, S607
    assert done.returncode == 0, f"ip {' '.join(words)}: {done.stderr}"
