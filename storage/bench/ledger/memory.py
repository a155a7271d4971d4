"""A group of processes that gets so much memory at most, its page cache included.

Source: the kernel's Documentation/admin-guide/cgroup-v2.rst, `memory.max` and `memory.events`, and
Documentation/admin-guide/cgroup-v1/memory.rst for version 1.
"""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

from contracts.errors import UnavailableError
from storage.bench.servers.groups import OPTIONAL, ROOT, control_group

_EVENTS: Final = ("memory.events", "memory.oom_control")
_KILLS: Final = "oom_kill"
_TRIED_BYTES: Final = 64 << 20


def memory_group(limit: int | None = None, root: Path = ROOT) -> AbstractContextManager[Path]:
    """Yield a group whose processes together get so many bytes at most, and no swap.

    Args:
        limit: None for no limit.
        root: Where the kernel shows its groups.

    Raises:
        UnavailableError: This machine lets us set no limit.
    """
    if limit is None:
        return control_group("memory", {}, {}, root)
    return control_group(
        "memory",
        {"memory.limit_in_bytes": str(limit), f"{OPTIONAL}memory.swappiness": "0"},
        {"memory.max": str(limit), f"{OPTIONAL}memory.swap.max": "0"},
        root,
    )


def why_unlimited(root: Path = ROOT) -> str:
    """Return why no memory can be limited here, or "" if it can."""
    try:
        with memory_group(_TRIED_BYTES, root):
            return ""
    except UnavailableError as error:
        return str(error)


def oom_kills(group: Path) -> int:
    """Return how many of the group's processes the kernel ended for want of memory."""
    for name in _EVENTS:
        if (group / name).exists():
            found = dict(line.split() for line in (group / name).read_text().splitlines())
            return int(found.get(_KILLS, 0))
    return 0
