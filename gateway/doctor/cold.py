"""Cold files of old trips: whether each is there and is the one that the index expects."""

from collections.abc import Iterator
from pathlib import Path

from contracts.errors import UnavailableError, WaysealError
from contracts.runtime.checks import Finding, error, ok, warning
from contracts.runtime.sizes import size
from gateway.coldplace import cold_files
from gateway.index.coldcheck import states
from gateway.index.looked import looking_at_index
from gateway.settings import Settings


def findings(settings: Settings) -> Iterator[Finding]:
    """Yield what was found; a gateway that moved nothing and shall move nothing has none."""
    days, folder = settings.index.cold_after_days, settings.cold_dir
    if not settings.index_file.exists():
        return
    try:
        with looking_at_index(settings.index_file, cold_files(settings)) as index:
            found = list(states(index))
    except WaysealError as problem:
        if days:
            yield warning("cold files", problem, "let the gateway run, and look again")
        return
    if days and settings.index.cold is not None:
        yield from _on_a_disk_of_its_own(settings.index.cold, settings)
    bad = [each for each in found if each.fault]
    for each in bad:
        yield error(
            "cold files",
            each.fault,
            f"mount the disk of {folder} or put the file back; otherwise wayseal-gateway reindex "
            "makes all again, and wayseal-gateway reindex --trip ID the file of one trip",
        )
    if found and not bad:
        trips, readings = sum(e.trips for e in found), sum(e.readings for e in found)
        words = f"{len(found)} in {folder}, {size(sum(e.size for e in found))}: {trips} trips"
        moves = "" if days else "; index.cold_after_days is 0: no further trip moves"
        yield ok("cold files", f"{words} with {readings} readings{moves}")
    elif days and not found:
        yield ok("cold files", f"none yet: no trip has been old for {days} days")


def _on_a_disk_of_its_own(folder: Path, settings: Settings) -> Iterator[Finding]:
    if not folder.is_dir():
        yield error(
            "cold files",
            f"index.cold {folder} is missing",
            "mount its disk, or make the directory; old trips wait in the index until then",
        )
        return
    try:
        cold_files(settings).look()
    except UnavailableError as problem:
        yield error("cold files", problem, "old trips wait in the index until then")
        return
    if folder.stat().st_dev == settings.data.stat().st_dev:
        yield warning(
            "cold files",
            f"index.cold {folder} is on the disk of {settings.data}",
            "mount the disk that is meant for it, or leave index.cold out",
        )
