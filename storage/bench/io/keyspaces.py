"""Keyspaces of the benchmark in existing clusters; their names show those of killed runs.

A name has the machine, the process and the start of the process. A keyspace of this machine without
a living process is a leftover; those of other machines are left alone.
"""

import hashlib
import re
import socket
import uuid
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from storage.bench.run.directories import began_ticks

_PREFIX: Final = "wayseal_bench"
_NAME: Final = re.compile(_PREFIX + r"_([0-9a-f]{8})_([0-9]+)_([0-9]+)_[0-9a-f]{4}")
_MACHINE_ID: Final = Path("/etc/machine-id")


def new_name(pid: int) -> str:
    """Return a new name: the id of a dropped table cannot be used again.

    Args:
        pid: Of the process that makes the keyspace.
    """
    return f"{_PREFIX}_{_machine()}_{pid}_{began_ticks(pid)}_{uuid.uuid4().hex[:4]}"


def left_over(names: Iterable[str]) -> list[str]:
    """Return the keyspaces that ended runs of this machine left."""
    return sorted(name for name in names if _is_left_over(name))


def _is_left_over(name: str) -> bool:
    found = _NAME.fullmatch(name)
    if found is None or found[1] != _machine():
        return False
    return began_ticks(int(found[2])) != int(found[3])


def _machine() -> str:
    """Return a name for this machine, different for each container on it."""
    known = socket.gethostname()
    with suppress(OSError):
        known += _MACHINE_ID.read_text("utf-8")
    return hashlib.sha256(known.encode()).hexdigest()[:8]
