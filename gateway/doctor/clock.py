"""The clock: whether something keeps it right, and whether the ledger's last block agrees."""

from collections.abc import Iterator
from contextlib import closing
from typing import Final

from contracts.errors import RejectedError, UnavailableError
from contracts.ledger.client import LedgerClient
from contracts.records.clock import rfc3339
from contracts.runtime.checks import Finding, error, ok, warning
from contracts.sawtooth.block_info import SYNC_TOLERANCE_S, latest_block_info
from gateway.doctor.machine import Machine
from gateway.settings import Settings

_ANSWER_S: Final = 5.0
_SYNCHRONISE: Final = "apt install chrony (or timedatectl set-ntp true), and wait a minute"


def findings(settings: Settings, machine: Machine, *, offline: bool) -> Iterator[Finding]:
    """Yield what was found of the clock."""
    synchronised = machine.clock_is_synchronised()
    if synchronised:
        yield ok("clock", f"{rfc3339(machine.now_ms())}, synchronised")
    elif synchronised is None:
        yield warning("clock", "the kernel does not tell whether it is synchronised", _SYNCHRONISE)
    else:
        yield warning("clock", "it is not synchronised, so times may be wrong", _SYNCHRONISE)
    if not offline:
        yield from _beside_the_ledger(settings, machine)


def _beside_the_ledger(settings: Settings, machine: Machine) -> Iterator[Finding]:
    """Compare with the last block's time. A ledger that is out has its own line."""
    try:
        with closing(LedgerClient(settings.ledger.place, timeout_s=_ANSWER_S)) as ledger:
            entry = latest_block_info(ledger.state)
    except UnavailableError:
        return
    except RejectedError as problem:
        older = "upgrade the older one of gateway and node, then run wayseal-gateway doctor again"
        yield warning("clock", f"the ledger's block times cannot be read: {problem}", older)
        return
    if entry is None:
        yield ok("clock", "the ledger records no block times to compare with")
        return
    ahead_s = entry.timestamp - machine.now_ms() // 1000
    if ahead_s > SYNC_TOLERANCE_S:
        yield error(
            "clock",
            f"it is at {rfc3339(machine.now_ms())}, {ahead_s} s behind the ledger's last block of "
            f"{rfc3339(entry.timestamp * 1000)}",
            f"{_SYNCHRONISE}; if this clock is right, set that of the ledger's nodes",
        )
    else:
        yield ok("clock", f"not behind the ledger's last block ({rfc3339(entry.timestamp * 1000)})")
