"""`wayseal-gateway accesses`: reads and checks the record of accesses."""

import argparse
import base64
import json
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

from contracts.accesses import open_head, problems
from contracts.encoding import parse
from contracts.errors import RejectedError, UnavailableError
from contracts.ledger.client import LedgerClient
from contracts.proto.access_pb2 import Access, AccessHead, AccessHeadBody
from contracts.records.clock import now_ms, rfc3339
from contracts.rules.blocktimes import TOLERANCE_MS
from gateway.coldplace import cold_files
from gateway.index.looked import looking_at_index
from gateway.ownkey import kept_public_key
from gateway.people.accesslog import SCHEMA
from gateway.people.accessrecord import AccessRecord
from gateway.people.headcheck import heads_on_ledger, judge
from gateway.records.gatewaykeys import gateway_keys
from gateway.settings import Settings
from storage.checked.look import LookedAt, looking_at

_NAMED_MAX: Final = 20
"""Faults that an error names; of more it tells the number."""


def run(options: argparse.Namespace, settings: Settings) -> None:
    """Print the accesses, or check that they hold.

    Raises:
        RejectedError: They do not hold, or are damaged.
        UnavailableError: There is no such file, it cannot be read, or the ledger does not answer.
    """
    with looking_at(settings.accesses_file, SCHEMA) as db:
        if options.check:
            _check(db, settings, options.head, offline=options.offline)
            return
        for number, wire in AccessRecord(db).all_wires():
            print(json.dumps(_document(number, wire)))


def _check(db: LookedAt, settings: Settings, kept: list[Path] | None, *, offline: bool) -> None:
    """Check numbers, hashes, every head that was signed or kept, and the heads on the ledger.

    Raises:
        RejectedError: Something does not hold.
        UnavailableError: The ledger does not answer.
    """
    record = AccessRecord(db)
    on_ledger = None
    if not offline:
        with closing(LedgerClient(settings.ledger.place)) as ledger:
            on_ledger = heads_on_ledger(ledger, settings.site_id, record.sha256)
    keys, notes = _trusted_keys(settings)
    found: list[str] = []
    said: dict[str, object] = {}
    if on_ledger is not None:
        own_keys = record.own_keys(kept_public_key(settings))
        judged = judge(record, on_ledger, own_keys, now_ms())
        found += judged.problems
        notes += judged.notes
        said = {"ledger": judged.state, "others": judged.others}
    bodies = []
    for head in [*record.heads(), *map(_kept_head, kept or ())]:
        body = open_head(head, keys)
        bodies.append(body)
        late = _after_removal(head, body, keys)
        if late and on_ledger is not None:  # the ledger tells whether that is a fault
            on_it = on_ledger.has(body.number, body.sha256)
            (notes if on_it else found).append(late)
    found += problems(record.all_wires(), bodies)
    if found:
        more = f"; and {len(found) - _NAMED_MAX} more" if len(found) > _NAMED_MAX else ""
        told = "; ".join(found[:_NAMED_MAX])
        raise RejectedError(f"the record of accesses does not hold: {told}{more}")
    counts = {"accesses": record.newest, "heads": len(bodies)}
    print(json.dumps(counts | said | {"notes": notes, "holds": True}, ensure_ascii=False))


def _trusted_keys(settings: Settings) -> tuple[dict[str, int | None], list[str]]:
    """Return the keys whose heads count, each with when it was removed, UTC ms, and what is amiss.

    They are the gateway's own key, and those that its site had registered for its gateways.
    """
    known = kept_public_key(settings)
    own: dict[str, int | None] = {known: None} if known else {}
    try:
        with looking_at_index(settings.index_file, cold_files(settings)) as index:
            return gateway_keys(index, settings.site_id) | own, []
    except (RejectedError, UnavailableError) as error:
        return own, [f"earlier keys of the gateway are not known: {error}"]


def _after_removal(head: AccessHead, body: AccessHeadBody, keys: Mapping[str, int | None]) -> str:
    """Say that a head was signed after the site had removed its key; empty if it was not."""
    removed_ms = keys[head.gateway_public_key]
    if removed_ms is None or body.at_ms <= removed_ms + TOLERANCE_MS:
        return ""
    return (
        f"the head of access {body.number} says {rfc3339(body.at_ms)}, and site {body.site_id} had "
        f"removed key {head.gateway_public_key} by {rfc3339(removed_ms)}"
    )


def _kept_head(path: Path) -> AccessHead:
    """Return a head that somebody kept: the answer of `GET /v1/accesses/head`."""
    try:
        document = json.loads(path.read_text("utf-8"))
        return parse(AccessHead, base64.b64decode(document["signed"], validate=True))
    except (OSError, ValueError, LookupError, TypeError, RejectedError) as error:
        raise RejectedError(f"{path}: expected an answer of /v1/accesses/head: {error}") from error


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
