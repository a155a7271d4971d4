"""`wayseal-device fleet`: simulated trucks, as fast as a gateway takes them."""

import sys
from argparse import Namespace

from contracts.keys import Signer
from contracts.records.reading import RUN_READINGS_MAX
from contracts.runtime.commands import FAILED, WORKED
from device.commands.output import say
from device.fleet.sending import AT_ONCE_MAX, TRUCKS_MAX, Fleet, read_tokens, send
from device.fleet.truck import READINGS_MAX, Gateway, Load
from device.settings import SettingsError
from device.stop import stop_on_signals


def run(arguments: Namespace) -> int:
    """Send the fleet; print a table, then a JSON line. 0 if every truck got its receipt."""
    fleet = _fleet(arguments)
    with stop_on_signals() as stop:
        report = send(fleet, stop)
    if not arguments.json:
        sys.stdout.write(report.text() + "\n")
    say(Namespace(json=True), report.document(), "")
    return WORKED if report.complete else FAILED


def _fleet(arguments: Namespace) -> Fleet:
    at_once = arguments.at_once or min(arguments.trucks, AT_ONCE_MAX)
    for name, value, most in (
        ("--trucks", arguments.trucks, TRUCKS_MAX),
        ("--readings", arguments.readings, READINGS_MAX),
        ("--per-transaction", arguments.per_transaction, RUN_READINGS_MAX),
        ("--at-once", at_once, min(arguments.trucks, AT_ONCE_MAX)),
    ):
        if value > most:
            raise SettingsError(f"{name}: expected at most {most}, got {value}")
    return Fleet(
        tokens=read_tokens(arguments.tokens, arguments.trucks),
        load=Load(
            arguments.readings,
            arguments.per_transaction,
            arguments.video_bytes,
            arguments.seed,
        ),
        gateway=Gateway(arguments.mqtt, arguments.rest, tuple(arguments.gateway_key)),
        ledger=arguments.ledger,
        admin=Signer.load(arguments.admin),
        work=arguments.work.absolute(),
        at_once=at_once,
        patience_s=arguments.wait_s,
    )
