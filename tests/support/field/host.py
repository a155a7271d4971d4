"""The host of test machines: it passes on their packets, and shares its processor with them."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from contracts.runtime.files import in_turn

SWITCH: Final = Path("/proc/sys/net/ipv4/ip_forward")
STATE: Final = Path("/run/wayseal-field-forwarding")
SHARES: Final = Path("/sys/fs/cgroup/cpu/libpod_parent/cpu.shares")
"""How much of the processor all containers of podman together get. Version 2 has no such file."""
SHARE: Final = 1024
"""Of one process."""


def name_servers() -> list[str]:
    lines = Path("/etc/resolv.conf").read_text().splitlines()
    return [line.split()[1] for line in lines if line.startswith("nameserver")]


def share_fairly(shares: Path = SHARES) -> None:
    """Let each machine count as one process of this host, where all of them together would.

    Beside a busy host's processes, four machines got a seventh of a processor otherwise.
    """
    if shares.exists():
        machines = sum(each.is_dir() for each in shares.parent.iterdir())
        shares.write_text(str(SHARE * max(machines, 1)))


@contextmanager
def forwarding(state: Path = STATE, switch: Path = SWITCH) -> Iterator[None]:
    """Let this host pass on packets; the last one of several fleets puts back what was before.

    Args:
        state: What was before, and the processes that need it; those that were killed do not count.
        switch: The kernel's.
    """
    lock, own = state.with_suffix(".lock"), str(os.getpid())
    with in_turn(lock):
        before, *users = state.read_text().split() if state.exists() else [switch.read_text()]
        users = [each for each in users if Path("/proc", each).exists()]
        state.write_text(" ".join([before, *users, own]))
        switch.write_text("1")
    try:
        yield
    finally:
        with in_turn(lock):
            before, *users = state.read_text().split()
            users.remove(own)
            others = [each for each in users if Path("/proc", each).exists()]
            if others:
                state.write_text(" ".join([before, *others]))
            else:
                switch.write_text(before)
                state.unlink()
