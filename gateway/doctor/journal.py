"""journald, which keeps the log lines of the services: whether it keeps them, and how many."""

from collections.abc import Iterator
from typing import Final

from contracts.runtime.checks import Finding, ok, warning
from contracts.runtime.sizes import size
from gateway.doctor.machine import Machine

_KEEP: Final = "install -d /var/log/journal && systemctl restart systemd-journald"


def findings(machine: Machine) -> Iterator[Finding]:
    """Yield what was found; nothing where no journald runs, as in a container."""
    if not machine.journald.exists():
        return
    if not machine.journal.is_dir():
        why = "it is kept in memory: log lines are lost when this machine starts again"
        yield warning("journal", why, _KEEP)
        return
    used = sum(file.stat().st_size for file in machine.journal.rglob("*.journal"))
    limit = "journald deletes its oldest lines beyond SystemMaxUse"
    yield ok("journal", f"{size(used)}; {limit}, by default a tenth of the disk, at most 4 GiB")
