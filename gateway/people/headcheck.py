"""A record of accesses beside the heads on the ledger: what does not hold, what is missing."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple, Protocol

from contracts import address
from contracts.encoding import parse
from contracts.proto.state_pb2 import CommittedAccesses, Site
from contracts.records.clock import rfc3339
from contracts.rules.blocktimes import TOLERANCE_MS
from gateway.people.accesslog import HEAD_EVERY_MS
from gateway.people.accessrecord import AccessRecord

NAMED_MAX: Final = 5
"""Days, records and signers that are named, each; of more than that the number is told."""
_UNKNOWN: Final = "at a time that nobody can tell"
_LATE_MS: Final = HEAD_EVERY_MS + 3_600_000
"""A head is made once a day, and the gateway looks every ten minutes whether one is due. Then one
that is a day late is missing. The hour is for the looks, the ledger, and blocks' times."""


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
        others: The newest head of each other record of the site, by key.
        site_keys: Keys that the site has registered for its gateways now.
    """

    own: tuple[CommittedAccesses, ...]
    others: tuple[CommittedAccesses, ...]
    site_keys: frozenset[str]

    def has(self, number: int, sha256: bytes) -> bool:
        """Say whether a head of this record names that access with that hash."""
        return any(each.head.number == number and each.head.sha256 == sha256 for each in self.own)


def heads_on_ledger(ledger: Entries, site_id: str, record_sha256: bytes) -> OnLedger:
    """Ask the ledger for the heads of a site's record, and for the other records of the site.

    Args:
        ledger: The ledger.
        site_id: The gateway's site.
        record_sha256: The hash of the first access; empty before the first access.

    Raises:
        RejectedError: An entry is malformed, or newer blocks displaced the state that was asked.
        UnavailableError: The ledger does not answer.
    """
    head_id = ledger.head_id()

    def found(prefix: str) -> list[CommittedAccesses]:
        return [parse(CommittedAccesses, wire) for _, wire in ledger.entries(head_id, prefix)]

    heads = found(address.accesses_prefix(site_id, record_sha256)) if record_sha256 else []
    newest = found(address.records_prefix(site_id))
    sites = [parse(Site, wire) for _, wire in ledger.entries(head_id, address.site(site_id))]
    return OnLedger(
        tuple(heads),
        tuple(each for each in newest if each.head.record_sha256 != record_sha256),
        frozenset(key for each in sites for key in each.site.gateway_public_keys),
    )


@dataclass(frozen=True, slots=True)
class Beside:
    """What a look at the ledger says of a record.

    Attributes:
        state: How far the ledger has it, in one sentence.
        problems: What does not hold.
        notes: What a person should know, and what explains it may be harmless.
        others: Records of other gateways of the site, whose keys it has registered.
    """

    state: str
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    others: tuple[str, ...]


class _Reached(NamedTuple):
    """Up to which access the ledger has the record, and from when on."""

    number: int
    at_ms: int


def judge(
    record: AccessRecord, on_ledger: OnLedger, own_keys: Collection[str], now_ms: int
) -> Beside:
    """Say what the heads on the ledger show of a record.

    Args:
        record: The record.
        on_ledger: The heads.
        own_keys: Public keys of this gateway, now and earlier.
        now_ms: The time, UTC ms.
    """
    own = sorted(on_ledger.own, key=lambda each: (each.head.number, _time_ms(each, now_ms)))
    led_to = [each for each in own if record.hash_of(each.head.number) == each.head.sha256]
    reached = _reached(led_to, now_ms)
    others = [each for each in on_ledger.others if each.public_key not in own_keys]
    registered = {
        each.head.record_sha256 for each in others if each.public_key in on_ledger.site_keys
    }
    return Beside(
        _state(record, led_to, now_ms),
        (*_differing(record, own), *begun_again(on_ledger.others, own_keys, now_ms)),
        (
            *_overdue(record, reached, now_ms),
            *_days_missing(record, reached),
            *_late(own),
            *_ahead(own, now_ms),
            *_by_other_keys(on_ledger.own, own_keys),
            *_of_others(
                [each for each in others if each.head.record_sha256 not in registered],
                "another gateway's, or this one's before its key was changed",
                now_ms,
            ),
        ),
        tuple(
            _of_others(
                [each for each in others if each.head.record_sha256 in registered],
                "another gateway's",
                now_ms,
            )
        ),
    )


def _time_ms(each: CommittedAccesses, now_ms: int) -> int:
    """Return from when on the ledger has a head, UTC ms; 0 if nobody knows.

    A head names any time that its signer likes. It was made before its block, where blocks have
    times, and before now.
    """
    at_ms = int(each.head.at_ms)
    if each.committed_at_s:
        at_ms = min(at_ms, each.committed_at_s * 1000)
    return at_ms if at_ms <= now_ms + TOLERANCE_MS else 0


def _told_ms(each: CommittedAccesses, now_ms: int) -> int:
    """Return the time that a head names if that has come, else from when on the ledger has it."""
    at_ms = int(each.head.at_ms)
    return at_ms if at_ms <= now_ms + TOLERANCE_MS else _time_ms(each, now_ms)


def _reached(led_to: Sequence[CommittedAccesses], now_ms: int) -> list[_Reached]:
    """Return how far the ledger had the record over time; both numbers and times grow.

    A head of a later access covers all before, so an earlier one that came after it tells nothing.

    Args:
        led_to: Heads that the record leads to, by number.
        now_ms: The time, UTC ms.
    """
    found: list[_Reached] = []
    earliest_ms = now_ms + TOLERANCE_MS + 1
    for each in reversed(led_to):
        at_ms = _time_ms(each, now_ms)
        if found and not 0 < at_ms < earliest_ms:
            continue
        if found and found[-1].number == each.head.number:
            found.pop()
        found.append(_Reached(each.head.number, at_ms))
        earliest_ms = at_ms or earliest_ms
    return found[::-1]


def _state(record: AccessRecord, led_to: Sequence[CommittedAccesses], now_ms: int) -> str:
    if led_to:
        number = led_to[-1].head.number
        last = [each for each in led_to if each.head.number == number]
        times_ms = [_told_ms(each, now_ms) for each in last if _time_ms(each, now_ms)]
        when = f"on {_day(min(times_ms))}, {_ago(min(times_ms), now_ms)}" if times_ms else _UNKNOWN
        return (
            f"the ledger has {_count(len(led_to), 'head')} of this record, the last of access "
            f"{number} {when}"
        )
    if not record.newest:
        return "there is no access yet, and no head of this record on the ledger"
    first_ms = record.at_ms(1)
    return (
        f"the ledger has no head of this record yet, whose first access is of {_day(first_ms)}, "
        f"{_ago(first_ms, now_ms)}"
    )


def _overdue(record: AccessRecord, reached: Sequence[_Reached], now_ms: int) -> Iterator[str]:
    """Yield what should be on the ledger by now: a head follows within a day, or is late."""
    number, at_ms = reached[-1] if reached else _Reached(0, 0)
    if record.newest <= number:
        return
    first_ms = record.first_ms(number)
    if now_ms - max(first_ms, at_ms + HEAD_EVERY_MS if at_ms else 0) > _LATE_MS:
        sent = "; heads were sent, and the ledger has not decided" if record.sending() else ""
        yield (
            f"the ledger has no head of {_accesses(number + 1, record.newest)}, written from "
            f"{_day(first_ms)} on{sent}"
        )


def _differing(record: AccessRecord, own: Sequence[CommittedAccesses]) -> Iterator[str]:
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


def begun_again(
    others: Sequence[CommittedAccesses], own_keys: Collection[str], now_ms: int
) -> Iterator[str]:
    """Yield the earlier records of this gateway."""
    said = [
        f"the record began again: the ledger has record {_short(each)} of this gateway with "
        f"{_count(each.head.number, 'access')} until {_day(each.head.at_ms)}, not here"
        for each in _newest_first(others, now_ms)
        if each.public_key in own_keys
    ]
    yield from _listed(said, "such record")


def _days_missing(record: AccessRecord, reached: Sequence[_Reached]) -> Iterator[str]:
    """Yield the times in which there were accesses and no head was made."""
    holes = []
    for before, after in pairwise([_Reached(0, 0), *reached]):
        first_ms = record.first_ms(before.number, after.number)
        due_ms = max(first_ms, before.at_ms + HEAD_EVERY_MS if before.at_ms else 0)
        if after.at_ms - due_ms > _LATE_MS:
            holes.append(
                f"no head was made from {_day(first_ms)} to {_day(after.at_ms)} of "
                f"{_accesses(before.number + 1, after.number)}"
            )
    yield from _listed(holes, "such time")


def _late(own: Sequence[CommittedAccesses]) -> Iterator[str]:
    """Yield the heads that came to the ledger long after they were made."""
    late = [
        each
        for each in own
        if each.committed_at_s and each.committed_at_s * 1000 - each.head.at_ms > 2 * HEAD_EVERY_MS
    ]
    if late:
        yield (
            f"{_count(len(late), 'head')} of {_day(late[0].head.at_ms)} to "
            f"{_day(late[-1].head.at_ms)} came to the ledger on "
            f"{_day(late[-1].committed_at_s * 1000)} only: until then the gateway alone had them"
        )


def _ahead(own: Sequence[CommittedAccesses], now_ms: int) -> Iterator[str]:
    """Yield the heads that name a time later than what came after them.

    A block may carry an earlier time than it was made at: in a network that had nothing to do, that
    of the block before. So a head is held against the time of the next block with a head.
    """
    times_s = sorted({each.committed_at_s for each in own if each.committed_at_s})
    ahead = []
    for each in own:
        later = bisect_right(times_s, each.committed_at_s)
        limit_ms = times_s[later] * 1000 if later < len(times_s) else now_ms
        if each.head.at_ms > min(limit_ms, now_ms) + TOLERANCE_MS:
            ahead.append(each)
    if ahead:
        yield (
            f"the head of access {ahead[0].head.number} by key {ahead[0].public_key} says "
            f"{_day(ahead[0].head.at_ms)}, which had not come when it was made: the clock was "
            f"ahead, or somebody chose that time{_and_more(len(ahead) - 1, 'head')}"
        )


def _by_other_keys(own: Sequence[CommittedAccesses], own_keys: Collection[str]) -> Iterator[str]:
    """Yield heads by keys of the site that this gateway is not known to have had."""
    counts = Counter(each.public_key for each in own if each.public_key not in own_keys)
    said = [
        f"key {public_key} of the site, which is not this gateway's, committed "
        f"{_count(count, 'head')} of this record"
        for public_key, count in counts.items()
    ]
    yield from _listed(said, "such key")


def _of_others(others: Sequence[CommittedAccesses], whose: str, now_ms: int) -> Iterator[str]:
    """Yield other records of the site."""
    said = [
        f"the site has record {_short(each)} by key {each.public_key} with "
        f"{_count(each.head.number, 'access')} until {_day(each.head.at_ms)}: {whose}"
        for each in _newest_first(others, now_ms)
    ]
    yield from _listed(said, "such record")


def _newest_first(entries: Sequence[CommittedAccesses], now_ms: int) -> list[CommittedAccesses]:
    return sorted(entries, key=lambda each: _time_ms(each, now_ms), reverse=True)


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
    days = max(0, now_ms - at_ms) // HEAD_EVERY_MS
    return {0: "less than a day ago", 1: "a day ago"}.get(days, f"{days} days ago")
