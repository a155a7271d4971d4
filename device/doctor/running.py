"""The agent: whether it runs, where it thinks the truck is, and its certificate."""

from collections.abc import Iterator
from datetime import UTC, datetime

from contracts.errors import WaysealError
from contracts.runtime.checks import Finding, error, ok, warning
from contracts.runtime.files import holder_of
from device.certificate import lifetime
from device.doctor.machine import Machine
from device.journey.file import JourneyFile
from device.settings import Settings
from device.station import AGENT_LOCK


def findings(settings: Settings, machine: Machine) -> Iterator[Finding]:
    """Yield what was found of the agent."""
    process = holder_of(settings.data / AGENT_LOCK, machine.proc)
    if process is None:
        words = "it does not run: nothing is recorded, and nothing offloaded"
        yield warning("agent", words, "systemctl start wayseal-device")
    else:
        yield ok("agent", f"it runs, process {process}")
    if settings.presence:
        yield _journey(settings)
    if settings.tls_files.certificate.exists():
        yield _certificate(settings, machine)


def _journey(settings: Settings) -> Finding:
    try:
        return ok("journey", f"the truck is {JourneyFile(settings.data).load().state}")
    except WaysealError as problem:
        return error("journey", problem, "wayseal-device depart or arrive says where the truck is")


def _certificate(settings: Settings, machine: Machine) -> Finding:
    now = datetime.fromtimestamp(machine.now_ms() / 1000, UTC)
    try:
        life = lifetime(settings.tls_files.certificate)
    except WaysealError as problem:
        return error("certificate", problem, "enrol this device again: wayseal-device enrol")
    ends = f"{life.ends:%Y-%m-%d %H:%M} UTC"
    if now < life.begins:
        words = f"it begins on {life.begins:%Y-%m-%d %H:%M} UTC, after now: the clock is wrong"
        return error("certificate", words, "mend the clock first, see there")
    if now >= life.ends:
        words = f"it ended on {ends}: no gateway lets this device in"
        return error("certificate", words, "enrol this device again: wayseal-device enrol")
    if now >= life.renewed_from:
        words = f"it ends on {ends}, and should have been renewed at a site"
        return warning("certificate", words, "wayseal-device offload, near a gateway")
    return ok("certificate", f"it ends on {ends}, and renews itself at a site before")
