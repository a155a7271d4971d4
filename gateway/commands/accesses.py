"""`wayseal-gateway accesses`: reads and checks the record of who took evidence and video."""

import argparse
import base64
import json
from collections.abc import Iterator
from pathlib import Path

from contracts.accesses import open_head, problems
from contracts.encoding import parse
from contracts.errors import RejectedError
from contracts.proto.access_pb2 import Access, AccessHead, AccessHeadBody
from contracts.records.clock import rfc3339
from gateway.ownkey import kept_public_key
from gateway.people.accesslog import SCHEMA
from gateway.settings import Settings
from storage.checked.look import LookedAt, looking_at


def run(options: argparse.Namespace, settings: Settings) -> None:
    """Print the accesses, or check that they hold.

    Raises:
        RejectedError: They do not hold, or are damaged.
        UnavailableError: There is no such file, or it cannot be read.
    """
    with looking_at(settings.accesses_file, SCHEMA) as db:
        if options.check:
            _check(db, settings, options.head)
            return
        for number, wire in _wires(db):
            print(json.dumps(_document(number, wire)))


def _check(db: LookedAt, settings: Settings, kept: list[Path] | None) -> None:
    """Check numbers, hashes, and every head that was signed.

    Raises:
        RejectedError: Something does not hold.
    """
    key = kept_public_key(settings)
    heads = [AccessHead.FromString(wire) for (wire,) in db.query("SELECT wire FROM heads")]
    bodies = [open_head(each, [key] if key else []) for each in heads]
    bodies += [_kept_head(path, [key] if key else []) for path in kept or ()]
    found = list(problems(_wires(db), bodies))
    if found:
        raise RejectedError("the record of accesses does not hold: " + "; ".join(found[:20]))
    ((count,),) = db.query("SELECT count(*) FROM accesses")
    print(json.dumps({"accesses": count, "heads": len(bodies), "holds": True}))


def _kept_head(path: Path, keys: list[str]) -> AccessHeadBody:
    """Return a head that somebody kept: the answer of `GET /v1/accesses/head`."""
    try:
        document = json.loads(path.read_text("utf-8"))
        head = parse(AccessHead, base64.b64decode(document["signed"], validate=True))
    except (OSError, ValueError, LookupError, TypeError, RejectedError) as error:
        raise RejectedError(f"{path}: expected an answer of /v1/accesses/head: {error}") from error
    return open_head(head, keys)


def _wires(db: LookedAt) -> Iterator[tuple[int, bytes]]:
    after = 0
    while rows := db.query(
        "SELECT number, wire FROM accesses WHERE number > ? ORDER BY number LIMIT 1000", after
    ):
        yield from rows
        after = rows[-1][0]


def _document(number: int, wire: bytes) -> dict[str, object]:
    try:
        access = parse(Access, wire)
    except RejectedError as error:
        return {"number": number, "damaged": str(error)}
    return {
        "number": access.number,
        "at": rfc3339(access.at_ms),
        "who": access.who,
        "role": access.role,
        "address": access.address,
        "what": access.what,
        "subjects": list(access.subjects),
    }
