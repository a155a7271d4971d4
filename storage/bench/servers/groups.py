"""Control groups of the kernel: processes that together get a share of a core, or of the memory.

Both versions of the kernel's interface are known. In version 2, the group lies right below the
root, and the controller must be passed on there, as systemd does it for CPU and memory.

Source: the kernel's Documentation/admin-guide/cgroup-v2.rst, and for version 1
Documentation/admin-guide/cgroup-v1/cgroups.rst.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

import psutil

from contracts.errors import UnavailableError

ROOT: Final = Path("/sys/fs/cgroup")
PROCESSES: Final = "cgroup.procs"
"""The file of a group into which a process writes its id to join."""
OPTIONAL: Final = "?"
_NAME: Final = "wayseal-bench-"
_JOIN: Final = 'echo $$ > "$0" && exec "$@"'


@contextmanager
def control_group(
    controller: str, first: Mapping[str, str], second: Mapping[str, str], root: Path = ROOT
) -> Iterator[Path]:
    """Yield the directory of a new group; it is removed afterwards.

    Its name is a new one: the kernel keeps a group whose last process is still ending, so the one
    before may be there.

    Args:
        controller: As in `cpu` or `memory`.
        first: Text by the name of the group's file, for version 1; a file whose name begins with
            `OPTIONAL` may be missing.
        second: The same for version 2.
        root: Where the kernel shows its groups.

    Raises:
        UnavailableError: This machine lets us make no such group.
    """
    is_v2 = (root / "cgroup.controllers").exists()
    above = root if is_v2 else root / controller
    _remove_left(above)
    with ExitStack() as stack:
        try:
            group = Path(mkdtemp(prefix=f"{_NAME}{os.getpid()}-", dir=above))
            stack.callback(_remove, group)
            for name, text in (second if is_v2 else first).items():
                _write(group / name, text)
        except OSError as error:
            raise UnavailableError(f"no control group for {controller} here: {error}") from error
        yield group


def joining(group: Path | None, command: Sequence[str | Path]) -> list[str | Path]:
    """Return a command that joins a control group before it begins; its process id stays.

    Args:
        group: The group's directory; None joins none.
        command: Name and arguments.
    """
    if group is None:
        return list(command)
    return ["sh", "-c", _JOIN, group / PROCESSES, *command]


def _write(file: Path, text: str) -> None:
    optional = file.name.startswith(OPTIONAL)
    file = file.with_name(file.name.lstrip(OPTIONAL))
    if not optional or file.exists():
        file.write_text(text)


def _remove_left(above: Path) -> None:
    """Remove the groups of runs that were killed."""
    for each in above.glob(f"{_NAME}*"):
        pid, _, _ = each.name.removeprefix(_NAME).partition("-")
        if pid.isdecimal() and not psutil.pid_exists(int(pid)):
            _remove(each)


def _remove(group: Path) -> None:
    """Remove a group, unless a process that is still ending keeps it."""
    with suppress(OSError):
        group.rmdir()
