"""`wayseal-device doctor`: what `check-config` looks at, and how truck and journal stand today."""

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from contracts.errors import WaysealError
from contracts.keys import Signer
from contracts.runtime.checks import Finding, error, guarded, report, report_json
from contracts.runtime.commands import FAILED, WORKED
from device.commands import check_config
from device.doctor import clock, room, running, waiting
from device.doctor.machine import Machine
from device.journal.logbook import Logbook
from device.journal.status import Status, status_of
from device.settings import Settings
from device.station import JOURNAL_NAME, open_journal


def run(arguments: Namespace, settings: Settings) -> int:
    """Look at everything, change nothing, and print a remedy for each finding."""
    found = findings(settings, Machine(), offline=arguments.offline, config=arguments.config)
    well = report_json(found) if arguments.json else report(found)
    return WORKED if well else FAILED


def findings(
    settings: Settings, machine: Machine, *, offline: bool, config: Path | None = None
) -> Iterator[Finding]:
    """Yield what `check-config` finds, then what is not well today.

    Args:
        settings: Of this device.
        machine: The truck's.
        offline: Whether nobody is to be asked.
        config: The settings' file as `--config` names it; None: as usual.
    """
    yield from check_config.findings(settings, offline=offline, config=config)
    yield from guarded(running.findings(settings, machine))
    status, latest_ms = None, None
    if (settings.data / JOURNAL_NAME).exists():  # opening it would make it
        try:
            status, latest_ms = _journal(settings)
        except WaysealError as problem:
            remedy = "stop the agent and keep the file as it is: what it has is not elsewhere"
            yield error("journal", problem, remedy)
    yield from guarded(clock.findings(machine, latest_ms, settings), "clock")
    if settings.data.is_dir():
        yield room.card(settings.data, _may_grow(settings, status))
    if status is not None:
        yield from room.buffers(status.journal_bytes, status.video_bytes)
        yield from waiting.findings(status)


def _journal(settings: Settings) -> tuple[Status, int | None]:
    """Return what the journal says, and the time of its latest reading that was taken live."""
    signer = Signer.load(settings.key_file)
    with open_journal(settings, signer) as database:
        status = status_of(database, settings.device_id, signer.public_key, settings.buffer)
        trips = Logbook(database, journal_bytes_max=0, video_bytes_max=0).trips()
    live = [trip.clock.utc_ms for trip in trips if not trip.start.derived_from]
    return status, max(live, default=None)


def _may_grow(settings: Settings, status: Status | None) -> int:
    """Return how many bytes the buffers may still take; that of video only if there is a camera."""
    source, buffer = settings.source, settings.buffer
    replayed = source is not None and (bool(source.videos) or source.driver == "simulated")
    has_video = replayed or bool(settings.cameras)
    used = (status.journal_bytes.used, status.video_bytes.used) if status else (0, 0)
    video = buffer.video_bytes_max - used[1] if has_video else 0
    return max(0, buffer.journal_bytes_max - used[0]) + max(0, video)
