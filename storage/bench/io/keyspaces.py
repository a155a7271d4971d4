"""Keyspaces of the benchmark in clusters of others: named so that a killed run's are found.

A name tells machine, process and when that began: whatever no living process of this machine
made is a leftover, and what another machine made is nobody's business here.
"""

import hashlib
import re
import socket
import uuid
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from storage.bench.procfs import began_ticks

_PREFIX: Final = "wayseal_bench"
_NAME: Final = re.compile(_PREFIX + r"_([0-9a-f]{8})_([0-9]+)_([0-9]+)_[0-9a-f]{4}")
_MACHINE_ID: Final = Path("/etc/machine-id")


def new_name(pid: int) -> str:
    """Return a name that no keyspace had before: a dropped table's id never comes back.

    Args:
        pid: The process that makes it.
    """
    return f"{_PREFIX}_{_machine()}_{pid}_{began_ticks(pid)}_{uuid.uuid4().hex[:4]}"


def left_over(names: Iterable[str]) -> list[str]:
    """Return those of these keyspaces that a run of this machine made which no longer runs."""
    return sorted(name for name in names if _is_left_over(name))


def _is_left_over(name: str) -> bool:
    found = _NAME.fullmatch(name)
    if found is None or found[1] != _machine():
        return False
    return began_ticks(int(found[2])) != int(found[3])


def _machine() -> str:
    """Return what tells this machine from others, containers on it too."""
    known = socket.gethostname()
    with suppress(OSError):
        known += _MACHINE_ID.read_text("utf-8")
    return hashlib.sha256(known.encode()).hexdigest()[:8]
