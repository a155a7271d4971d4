"""`wayseal-gateway doctor`: what `check` looks at, and how all of it stands today."""

import argparse
from collections.abc import Iterator

from contracts.errors import RejectedError
from contracts.runtime.checks import Finding, guarded, report, report_json
from gateway.commands import check
from gateway.doctor import (
    access,
    accesses,
    backups,
    certificates,
    clock,
    cluster,
    cold,
    drives,
    issuer,
    journal,
    kept,
    policy,
    process,
    room,
    scrub,
    served,
)
from gateway.doctor.machine import Machine
from gateway.settings import Settings


def run(options: argparse.Namespace, settings: Settings) -> None:
    """Look at everything, change nothing, and print a remedy for each finding.

    Raises:
        RejectedError: There is an error; the lines before say what and how to mend it.
    """
    found = findings(settings, Machine(), offline=options.offline)
    if not (report_json(found) if options.json else report(found)):
        raise RejectedError("the lines with `error` have to be mended")


def findings(settings: Settings, machine: Machine, *, offline: bool) -> Iterator[Finding]:
    """Yield what `check` finds, then what is not well today; `offline` asks nobody."""
    now_ms = machine.now_ms()
    holder = process.holder(settings, machine)
    yield from check.findings(settings, offline=offline)
    for part in (
        process.findings(settings, machine, holder, offline=offline),
        clock.findings(settings, machine, offline=offline),
        policy.findings(settings),
        certificates.findings(settings, now_ms),
        access.findings(settings, now_ms),
        issuer.findings(settings, offline=offline),
        kept.findings(settings, runs=holder is not None),
        backups.findings(settings, now_ms),
        room.findings(settings),
        cold.findings(settings),
        drives.findings(settings, machine),
        journal.findings(machine),
        scrub.findings(settings, now_ms),
    ):
        yield from guarded(part)
    if not offline:
        yield from guarded(served.findings(settings, now_ms))
        yield from guarded(accesses.findings(settings, now_ms))
        yield from cluster.findings(settings, now_ms)
