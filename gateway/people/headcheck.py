"""A record of accesses beside the heads on the ledger: what does not hold, what is missing."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Protocol

from contracts import address
from contracts.accesses import access_hash
from contracts.encoding import parse
from contracts.proto.access_pb2 import Access, AccessHead, AccessHeadBody
from contracts.proto.state_pb2 import CommittedAccesses
from contracts.records.clock import rfc3339
from storage.checked.look import LookedAt

DAY_MS: Final = 86_400_000
"""A head is made once a day; one that is a day late is missing."""
NAMED_MAX: Final = 5
"""Days, records and signers that are named, each; of more than that the number is told."""


class Entries(Protocol):
    """What is asked of the ledger; `LedgerClient` answers."""

    def head_id(self) -> str:
        """Return the id of the newest block."""
        ...

    def entries(self, head_id: str, prefix: str = "") -> Iterator[tuple[str, bytes]]:
        """Yield the addresses under a prefix and their values after a block, in order."""
        ...


@dataclass(frozen=True, slots=True)
class OnLedger:
    """The heads on the ledger that concern one record.

    Attributes:
        own: Of this record, by keys of its gateway's site.
        strange: Of this record, by other sites.
        others: The newest head of each other record of the site, by key.
    """

    own: tuple[CommittedAccesses, ...]
    strange: tuple[CommittedAccesses, ...]
    others: tuple[CommittedAccesses, ...]


def heads_on_ledger(ledger: Entries, site_id: str, record_sha256: bytes) -> OnLedger:
    """Ask the ledger for the heads of a record, and for the other records of its site.

    Args:
        ledger: The ledger.
        site_id: The gateway's site.
        record_sha256: The hash of the first access; empty if there is none.

    Raises:
        RejectedError: An entry is malformed.
        UnavailableError: The ledger does not answer.
    """
    head_id = ledger.head_id()

    def found(prefix: str) -> list[CommittedAccesses]:
        return [parse(CommittedAccesses, wire) for _, wire in ledger.entries(head_id, prefix)]

    heads = found(address.accesses_prefix(record_sha256)) if record_sha256 else []
    newest = found(address.records_prefix(site_id))
    return OnLedger(
        tuple(each for each in heads if each.head.site_id == site_id),
        tuple(each for each in heads if each.head.site_id != site_id),
        tuple(each for each in newest if each.head.record_sha256 != record_sha256),
    )


class LookedRecord:
    """A record of accesses that is only read.

    Args:
        db: Its file.
    """

    def __init__(self, db: LookedAt) -> None:
        self._db = db

    @property
    def sha256(self) -> bytes:
        """What names the record, the hash of its first access; empty before that."""
        return self.hash_of(1) or b""

    @property
    def newest(self) -> int:
        """The number of the newest access; 0 before the first."""
        ((number,),) = self._db.query("SELECT ifnull(max(number), 0) FROM accesses")
        return int(number)

    @property
    def is_sending(self) -> bool:
        """Whether a batch with heads was sent that the ledger has not decided."""
        return bool(self._db.query("SELECT number FROM sending"))

    def hash_of(self, number: int) -> bytes | None:
        """Return the hash of an access; None if there is none of that number."""
        wire = self._wire(number)
        return None if wire is None else access_hash(wire)

    def at_ms(self, number: int) -> int:
        """Return the time of an access, UTC ms; 0 if there is none of that number."""
        wire = self._wire(number)
        return 0 if wire is None else parse(Access, wire).at_ms

    def heads(self) -> list[AccessHead]:
        """Return the heads that were signed here, oldest first."""
        rows = self._db.query("SELECT wire FROM heads ORDER BY number")
        return [AccessHead.FromString(wire) for (wire,) in rows]

    @property
    def signers(self) -> set[str]:
        """The keys that signed heads here."""
        return {each.gateway_public_key for each in self.heads()}

    def _wire(self, number: int) -> bytes | None:
        rows = self._db.query("SELECT wire FROM accesses WHERE number = ?", number)
        return rows[0][0] if rows else None


@dataclass(frozen=True, slots=True)
class Beside:
    """What a look at the ledger says of a record.

    Attributes:
        state: How far the ledger has it, in one sentence.
        problems: What does not hold.
        notes: What a person should know, and what explains it may be harmless.
    """

    state: str
    problems: tuple[str, ...]
    notes: tuple[str, ...]


def judge(
    record: LookedRecord, on_ledger: OnLedger, own_keys: Collection[str], now_ms: int
) -> Beside:
    """Say what the heads on the ledger show of a record.

    Args:
        record: The record.
        on_ledger: The heads.
        own_keys: Public keys of this gateway, now and earlier.
        now_ms: The time, UTC ms.
    """
    own = sorted(on_ledger.own, key=lambda each: (each.head.at_ms, each.head.number))
    led_to = [each for each in own if record.hash_of(each.head.number) == each.head.sha256]
    problems = [*_differing(record, own), *_begun_again(on_ledger.others, own_keys)]
    notes = [
        *_overdue(record, led_to, now_ms),
        *_days_missing(record, led_to),
        *_heads_missing(record, own),
        *_late(own),
        *_by_other_keys(on_ledger, own_keys),
        *_by_other_sites(record, on_ledger.strange),
    ]
    return Beside(_state(record, led_to, now_ms), tuple(problems), tuple(notes))


def _state(record: LookedRecord, led_to: Sequence[CommittedAccesses], now_ms: int) -> str:
    if led_to:
        head = led_to[-1].head
        return (
            f"the ledger has {_count(len(led_to), 'head')} of this record, the last of access "
            f"{head.number} on {_day(head.at_ms)}, {_ago(head.at_ms, now_ms)}"
        )
    if not record.newest:
        return "there is no access yet, and no head of this record on the ledger"
    first_ms = record.at_ms(1)
    return (
        f"the ledger has no head of this record yet, whose first access is of {_day(first_ms)}, "
        f"{_ago(first_ms, now_ms)}"
    )


def _overdue(
    record: LookedRecord, led_to: Sequence[CommittedAccesses], now_ms: int
) -> Iterator[str]:
    """Yield what should be on the ledger by now: a head follows within a day, or is late."""
    number, at_ms = (led_to[-1].head.number, led_to[-1].head.at_ms) if led_to else (0, 0)
    if record.newest <= number:
        return
    since_ms = max(record.at_ms(number + 1), at_ms + DAY_MS if led_to else 0)
    if now_ms - since_ms > DAY_MS:
        sent = "; heads were sent, and the ledger has not decided" if record.is_sending else ""
        yield (
            f"the ledger has no head of {_accesses(number + 1, record.newest)}, written from "
            f"{_day(record.at_ms(number + 1))} on{sent}"
        )


def _differing(record: LookedRecord, own: Sequence[CommittedAccesses]) -> Iterator[str]:
    """Yield that the record does not lead to heads on the ledger."""
    newest = record.newest
    if cut := [each.head for each in own if each.head.number > newest]:
        last = max(cut, key=lambda head: head.number)
        yield (
            f"the ledger has the head of access {last.number} of {_day(last.at_ms)}, and the "
            f"record ends with access {newest}: it was cut, or an older copy was restored"
        )
    changed = [
        each
        for each in own
        if each.head.number <= newest and record.hash_of(each.head.number) != each.head.sha256
    ]
    if changed:
        first = min(changed, key=lambda each: each.head.number)
        yield (
            f"access {first.head.number} is another one than the ledger's head of "
            f"{_day(first.head.at_ms)} says: the record was written again from there or before, or "
            f"an older copy was restored and went on{_and_more(len(changed) - 1, 'head')}"
        )


def _begun_again(others: Sequence[CommittedAccesses], own_keys: Collection[str]) -> Iterator[str]:
    """Yield the earlier records of this gateway."""
    said = [
        f"the record began again: the ledger has record {_short(each)} of this gateway with "
        f"{_count(each.head.number, 'access')} until {_day(each.head.at_ms)}, not here"
        for each in _newest_first(others)
        if each.public_key in own_keys
    ]
    yield from _listed(said, "such record")


def _days_missing(record: LookedRecord, led_to: Sequence[CommittedAccesses]) -> Iterator[str]:
    """Yield the times in which there were accesses and no head was made."""
    growing = [CommittedAccesses()]
    for each in led_to:
        if each.head.number > growing[-1].head.number:
            growing.append(each)
    holes = []
    for before, after in pairwise(each.head for each in growing):
        first_ms = record.at_ms(before.number + 1)
        due_ms = max(first_ms, before.at_ms + DAY_MS if before.number else 0)
        if after.at_ms - due_ms > DAY_MS:
            holes.append(
                f"no head was made from {_day(first_ms)} to {_day(after.at_ms)} of "
                f"{_accesses(before.number + 1, after.number)}"
            )
    yield from _listed(holes, "such time")


def _heads_missing(record: LookedRecord, own: Sequence[CommittedAccesses]) -> Iterator[str]:
    """Yield the heads that were signed here and that the ledger lacks, though it has later ones."""
    there = {each.head.number for each in own}
    last = max(there, default=0)
    signed = [parse(AccessHeadBody, each.body) for each in record.heads()]
    gone = [each for each in signed if each.number not in there and each.number < last]
    if gone:
        yield (
            f"the head of access {gone[0].number}, signed here on {_day(gone[0].at_ms)}, is not on "
            f"the ledger, which has later ones{_and_more(len(gone) - 1, 'head')}"
        )


def _late(own: Sequence[CommittedAccesses]) -> Iterator[str]:
    """Yield the heads that came to the ledger long after they were made."""
    late = [
        each
        for each in own
        if each.committed_at_s and each.committed_at_s * 1000 - each.head.at_ms > 2 * DAY_MS
    ]
    if late:
        yield (
            f"{_count(len(late), 'head')} of {_day(late[0].head.at_ms)} to "
            f"{_day(late[-1].head.at_ms)} came to the ledger on "
            f"{_day(late[-1].committed_at_s * 1000)} only: until then the gateway alone had them"
        )


def _by_other_keys(on_ledger: OnLedger, own_keys: Collection[str]) -> Iterator[str]:
    """Yield heads by keys of the site that this gateway is not known to have had."""
    counts = Counter(each.public_key for each in on_ledger.own if each.public_key not in own_keys)
    said = [
        f"key {public_key} of the site, which is not this gateway's, committed "
        f"{_count(count, 'head')} of this record"
        for public_key, count in counts.items()
    ]
    yield from _listed(said, "such key")
    said = [
        f"the site has record {_short(each)} by key {each.public_key} with "
        f"{_count(each.head.number, 'access')} until {_day(each.head.at_ms)}: another "
        "gateway's, or this one's before its key was changed"
        for each in _newest_first(on_ledger.others)
        if each.public_key not in own_keys
    ]
    yield from _listed(said, "such record")


def _by_other_sites(record: LookedRecord, strange: Sequence[CommittedAccesses]) -> Iterator[str]:
    """Yield heads of this record by other sites, whose word it is not."""
    counts = Counter((each.head.site_id, each.public_key) for each in strange)
    wrong = Counter(
        (each.head.site_id, each.public_key)
        for each in strange
        if record.hash_of(each.head.number) != each.head.sha256
    )
    said = [
        f"site {site_id} committed {_count(count, 'head')} of this record by key {public_key}; the "
        f"record does not lead to {wrong[who]} of them"
        for who, count in counts.items()
        for site_id, public_key in [who]
    ]
    yield from _listed(said, "such key")


def _newest_first(entries: Sequence[CommittedAccesses]) -> list[CommittedAccesses]:
    return sorted(entries, key=lambda each: each.head.at_ms, reverse=True)


def _listed(said: Sequence[str], what: str) -> Iterator[str]:
    yield from said[:NAMED_MAX]
    if len(said) > NAMED_MAX:
        yield f"{len(said) - NAMED_MAX} more {what}s"


def _and_more(count: int, what: str) -> str:
    return f"; {count} more {what}{'s' if count > 1 else ''} likewise" if count else ""


def _count(count: int, what: str) -> str:
    plural = {"access": "accesses"}.get(what, f"{what}s")
    return f"{count} {what if count == 1 else plural}"


def _accesses(first: int, last: int) -> str:
    return f"access {first}" if first == last else f"accesses {first} to {last}"


def _short(entry: CommittedAccesses) -> str:
    return f"{entry.head.record_sha256.hex()[:16]}…"


def _day(at_ms: int) -> str:
    return rfc3339(at_ms)[:10]


def _ago(at_ms: int, now_ms: int) -> str:
    days = max(0, now_ms - at_ms) // DAY_MS
    return {0: "less than a day ago", 1: "a day ago"}.get(days, f"{days} days ago")
