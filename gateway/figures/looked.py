"""Figures that take a look at databases, disks and the ledger; never read while a scrape waits."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from contracts.errors import UnavailableError, WaysealError
from contracts.ledger.client import LedgerClient
from contracts.runtime.files import disk_errors
from contracts.runtime.kernelclock import KernelClock
from contracts.sawtooth.block_info import latest_block_info
from gateway.access import Role, Tokens
from gateway.budgets import budgets
from gateway.doctor import certificates
from gateway.gauges import Family, by_label, gauge, timestamp
from gateway.intake.held import State
from gateway.pki.revoked import next_update
from gateway.services import Services
from storage.volumes.volume import READ_LIMIT_S, Volume

_ANSWER_S: Final = 5.0
_DAY_S: Final = 86_400
Group = Callable[[Services], Iterator[Family]]


def inbox(services: Services) -> Iterator[Family]:
    """Yield what waits in the inbox, and since when."""
    kept = services.inbox.in_numbers()
    yield by_label(
        "wayseal_inbox_batches",
        "Signed batches in the inbox, by state.",
        "state",
        {state: kept.batches.get(state, 0) for state in State},
    )
    yield by_label(
        "wayseal_inbox_oldest_timestamp_seconds",
        "When the oldest batch of a state came in; of those held, digests of recordings are left "
        "out, since they wait for their upload.",
        "state",
        {state: since_ms / 1000 for state, since_ms in kept.oldest_ms.items()},
    )
    yield gauge(
        "wayseal_visits_open",
        "Visits of trucks that have no final receipt.",
        len(kept.open_visits_ms),
    )
    yield timestamp(
        "wayseal_visits_open_oldest",
        "When the oldest visit without a final receipt began.",
        min(kept.open_visits_ms, default=None),
    )


def devices(services: Services) -> Iterator[Family]:
    """Yield when each device with a token came last."""
    entries = Tokens(services.settings.tokens_file).entries()
    names = {each.name for each in entries if each.role is Role.DEVICE}
    visits = services.inbox.visits.last()
    yield by_label(
        "wayseal_device_last_visit_timestamp_seconds",
        "When the last visit of a device with a token began; one that never came has no value.",
        "device_id",
        {name: at_ms / 1000 for name, at_ms in visits.items() if name in names},
    )
    yield gauge("wayseal_devices", "Devices with a token.", len(names))


def backlog(services: Services) -> Iterator[Family]:
    """Yield how many recordings lack a copy, and which deletions are open."""
    items = [each.item for each in services.filling.waiting()]
    yield gauge("wayseal_backlog_recordings", "Whole recordings that lack a copy.", len(items))
    yield gauge("wayseal_backlog_bytes", "Their bytes.", sum(each.size for each in items))
    since_ms = min((each.since_ms for each in items), default=None)
    yield timestamp("wayseal_backlog_oldest", "Since when the oldest of them lacks one.", since_ms)
    yield timestamp(
        "wayseal_open_deletions_oldest",
        "When the oldest deletion that not every replica has confirmed was made.",
        services.settling.open.since_ms,
    )
    partial = list(services.recordings.partial())
    yield gauge("wayseal_uploads_partial", "Uploads that are not whole yet.", len(partial))


def ledger(services: Services) -> Iterator[Family]:
    """Yield where the index stands, and the ledger's newest block's own time."""
    head = services.records.blocks.head()
    yield gauge(
        "wayseal_index_block_num",
        "Number of the newest block that the index has taken in.",
        head.block_num if head else None,
    )
    made_s = None
    # That the ledger is out has its own metric.
    with suppress(WaysealError), closing(_ledger(services)) as asked:
        entry = latest_block_info(asked.state)
        made_s = None if entry is None else entry.timestamp
    yield gauge(
        "wayseal_ledger_block_timestamp_seconds",
        "Time of the ledger's newest block, as its maker's clock had it.",
        made_s,
    )


def cold(services: Services) -> Iterator[Family]:
    """Yield how much of old trips lies in cold files, and the number of faults there."""
    keeper = services.cold
    files, trips, readings = keeper.amounts()
    yield gauge("wayseal_cold_files", "Cold files of old trips.", files)
    yield gauge("wayseal_cold_trips", "Trips whose readings lie in a cold file.", trips)
    yield gauge("wayseal_cold_readings", "Readings in cold files.", readings)
    yield gauge(
        "wayseal_cold_files_bad",
        "Cold files that were missing, damaged or others when they were last checked.",
        len(keeper.bad),
    )
    yield gauge(
        "wayseal_cold_move_failed",
        "1 while old trips wait in the index because moving them failed, else 0.",
        bool(keeper.failure),
    )


def scrub(services: Services) -> Iterator[Family]:
    """Yield when the scrub last read everything, and what it found then."""
    journal, days = services.scrubbing.journal, services.settings.scrub.every_days
    rounds = journal.rounds(2)
    ended = next((each for each in rounds if each.ended_ms is not None), None)
    yield gauge("wayseal_scrub_every_seconds", "Set time between two rounds.", days * _DAY_S)
    yield timestamp(
        "wayseal_scrub_begun",
        "When the newest round began.",
        rounds[0].begun_ms if rounds else None,
    )
    yield timestamp(
        "wayseal_scrub_ended", "When a round ended last.", ended.ended_ms if ended else None
    )
    # A round under way and the last whole one: what the latter found may not be mended yet.
    shown = rounds if rounds and rounds[0].ended_ms is None else rounds[:1]
    yield by_label(
        "wayseal_scrub_findings",
        "Findings of the last whole round and of the one under way, by outcome.",
        "outcome",
        {str(name): of for name, of in journal.counted([each.number for each in shown]).items()},
    )
    yield gauge(
        "wayseal_scrub_not_read",
        "Copies of blobs that these rounds could not read.",
        sum(each.not_read for each in shown),
    )
    # Files have no replicas to ask.
    has_replicas = services.settings.storage.blob_store != "files"
    yield timestamp(
        "wayseal_deletions_checked",
        "When every replica was last asked for all that was ever deleted, as a repair would.",
        journal.deletions_checked_ms() if has_replicas else None,
    )


def disks(services: Services) -> Iterator[Family]:
    """Yield room on each disk, and how much of each budget is used."""
    settings = services.settings
    room: dict[str, tuple[int, int] | None] = {"data": _room(settings.data)}
    if settings.storage.blob_store != "cassandra":
        room["blobs"] = _room(settings.blobs_dir)
    if settings.index.cold is not None:
        with suppress(UnavailableError):  # its disk is away: old trips wait, which `cold` tells
            room["cold"] = _room(settings.cold_dir)
    for volume in services.volumes:
        room[f"volume {volume.name}"] = _room_of(volume)
    known = {place: each for place, each in room.items() if each is not None}
    yield by_label(
        "wayseal_disk_size_bytes",
        "Size of the file system of a place.",
        "place",
        {place: size for place, (size, _) in known.items()},
    )
    yield by_label(
        "wayseal_disk_free_bytes",
        "Free bytes of it.",
        "place",
        {place: free for place, (_, free) in known.items()},
    )
    found = list(budgets(settings, services.inbox, services.volumes))
    yield by_label(
        "wayseal_budget_used_bytes",
        "What is used of a budget of the settings.",
        "budget",
        {each.name: each.used for each in found},
    )
    yield by_label(
        "wayseal_budget_limit_bytes",
        "The budget.",
        "budget",
        {each.name: each.limit for each in found},
    )


def machine(services: Services, clock: KernelClock | None) -> Iterator[Family]:
    """Yield how the clock is kept, and until when certificates hold."""
    yield gauge(
        "wayseal_clock_synchronised",
        "1 if something keeps the kernel's clock right, else 0.",
        None if clock is None else clock.synchronised,
    )
    yield gauge(
        "wayseal_clock_offset_seconds",
        "By how much the kernel still corrects its clock.",
        None if clock is None else clock.offset_s,
    )
    yield gauge(
        "wayseal_clock_max_error_seconds",
        "By how much the clock may be wrong at most, as the kernel sees it.",
        None if clock is None else clock.max_error_s,
    )
    yield by_label(
        "wayseal_certificate_expiry_timestamp_seconds",
        "Until when a certificate of the settings holds; 0 if it cannot be read.",
        "certificate",
        _expiries(services),
    )
    yield by_label(
        "wayseal_crl_expiry_timestamp_seconds",
        "Until when a list of revoked certificates may be used; 0 if it cannot be read.",
        "crl",
        _list_expiries(services.settings.tls.crl),
    )


def _expiries(services: Services) -> Mapping[str, float]:
    found: dict[str, float] = {}
    for each in certificates.named(services.settings):
        try:
            _, ends_ms = certificates.validity(each)
        except (OSError, WaysealError):
            ends_ms = 0  # no value would look as if there were no certificate
        found[each.subject] = ends_ms / 1000
    return found


def _list_expiries(path: Path | None) -> Mapping[str, float]:
    if path is None:
        return {}
    try:
        until = next_update(path)
    except WaysealError:
        return {"tls.crl": 0}
    return {} if until is None else {"tls.crl": until.timestamp()}


def _ledger(services: Services) -> LedgerClient:
    return LedgerClient(services.settings.ledger.place, timeout_s=_ANSWER_S)


def _room(path: Path) -> tuple[int, int]:
    """Return size and free bytes of a file system.

    Raises:
        UnavailableError: It does not say.
    """
    with disk_errors("ask for free space of", path):
        state = os.statvfs(path)
    return state.f_blocks * state.f_frsize, state.f_bavail * state.f_frsize


def _room_of(volume: Volume) -> tuple[int, int] | None:
    """Return the same of a volume; None while it is out."""
    with suppress(UnavailableError):
        asked = volume.begin(lambda _: _room(volume.place.path), reading=True)
        return volume.wait(asked, READ_LIMIT_S)
    return None


GROUPS: Final[Mapping[str, Group]] = {
    "inbox": inbox,
    "devices": devices,
    "backlog": backlog,
    "ledger": ledger,
    "cold": cold,
    "scrub": scrub,
    "disks": disks,
}
