"""Whether the copies that this site can make are those that a final receipt requires."""

from collections.abc import Iterator

from contracts.copies import FSYNC, Copy, Place, Policy
from contracts.runtime.checks import Finding, ok, warning
from gateway.settings import Settings


def findings(settings: Settings) -> Iterator[Finding]:
    """Yield whether a recording that comes here can ever get a final receipt here."""
    missing = Policy.parse(settings.receipts.requires).missing(_copies(settings))
    if missing:
        yield warning(
            "receipts.requires",
            f"this site does not make the copy {', '.join(map(str, missing))}: its receipts stay "
            f"provisional until another site makes it",
            "change receipts.requires in the whole network, or storage.blob_store and "
            "cassandra.write_consistency here",
        )
    else:
        yield ok("receipts.requires", ", ".join(settings.receipts.requires))


def _copies(settings: Settings) -> Iterator[Copy]:
    """Yield the copies that a recording has here once all is well."""
    for name in settings.all_volumes:
        yield Copy(Place.VOLUME, name, FSYNC)
    level = settings.cassandra.write_consistency
    match settings.storage.blob_store:
        case "files":
            yield Copy(Place.BLOBS, "files", FSYNC)
        case "cassandra":
            yield Copy(Place.BLOBS, "cassandra", level)
        case "both":
            yield Copy(Place.BLOBS, "both", f"{FSYNC}+{level}")
