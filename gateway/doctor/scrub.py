"""The scrub's report: whether a round is overdue, and what no copy could mend."""

from collections.abc import Iterator
from typing import Final

from contracts.errors import WaysealError
from contracts.records.clock import rfc3339
from contracts.runtime.checks import Finding, error, ok, warning
from gateway.settings import Settings
from storage.checked.look import looking_at
from storage.scrub.report import SCHEMA, FindingOutcome, Round, ScrubRecord

OVERDUE: Final = 2
"""A round is overdue once the last one began so many times `scrub.every_days` ago."""
_DAY_MS: Final = 86_400_000
_BEGIN: Final = "as an operator, POST /v1/scrub begins a round"


def findings(settings: Settings, now_ms: int) -> Iterator[Finding]:
    """Yield what was found in the report; a gateway that was never started has none."""
    path = settings.data / "scrub.db"
    if not path.exists():
        return
    try:
        with looking_at(path, SCHEMA) as looked:
            record = ScrubRecord(looked)
            rounds = record.rounds(2)
            yield _when(settings, rounds, now_ms)
            yield from _found(record, rounds)
            if settings.storage.blob_store != "files" and settings.scrub.every_days:
                yield from _asked_of_deletions(settings, record, rounds, now_ms)
    except WaysealError as problem:
        yield error("scrub", problem, "check the disk; a start of the gateway mends the report")


def _when(settings: Settings, rounds: list[Round], now_ms: int) -> Finding:
    days = settings.scrub.every_days
    if not days:
        why = "scrub.every_days is 0: nothing looks for rot by itself"
        return warning("scrub", why, f"set scrub.every_days = 7, or {_BEGIN} now and then")
    if not rounds:
        return ok("scrub", "no round yet: the first begins while the gateway runs")
    last = rounds[0]
    words = f"round {last.number} began at {rfc3339(last.begun_ms)}"
    if now_ms - last.begun_ms <= OVERDUE * days * _DAY_MS:
        under_way = " and is under way" if last.ended_ms is None else ""
        return ok("scrub", f"{words}{under_way}")
    if last.ended_ms is None:
        remedy = "let the gateway run, and raise scrub.bytes_per_s if it did"
        return warning("scrub", f"{words} and has not ended; scrub.every_days is {days}", remedy)
    why = f"{words}, and none since; scrub.every_days is {days}"
    return warning("scrub", why, f"let the gateway run; {_BEGIN}")


def _found(record: ScrubRecord, rounds: list[Round]) -> Iterator[Finding]:
    """Judge the last round that ended, and the one under way."""
    for each in rounds[: 2 if rounds and rounds[0].ended_ms is None else 1]:
        about = f"round {each.number}"
        for outcome, tell in ((FindingOutcome.NOT_MENDED, error), (FindingOutcome.NAMED, warning)):
            listed = record.listed(0, 1, number=each.number, outcome=outcome)
            if listed:
                found = listed[0][1].found
                yield tell(
                    "scrub",
                    f"{about} found damage with outcome {outcome}; the first: recording "
                    f"{found.recording_id.hex()}, {found.copy} {found.kind}: {found.detail}",
                    f"as an operator, GET /v1/scrub/findings?outcome={outcome} lists all; restore "
                    f"these recordings from another site or a backup; {_BEGIN}",
                )
        if each.not_read:
            yield warning(
                "scrub",
                f"{about} could not read {each.not_read} copies of blobs: a disk, node or volume "
                "was silent",
                f"wayseal-gateway volumes shows which is away; then {_BEGIN}",
            )


def _asked_of_deletions(
    settings: Settings, record: ScrubRecord, rounds: list[Round], now_ms: int
) -> Iterator[Finding]:
    """Judge how long ago every replica was asked for deleted recordings, as a repair would do.

    See docs/adr/0030-deletions-at-every-replica.md.
    """
    at_ms = record.deletions_checked_ms()
    overdue_ms = OVERDUE * settings.scrub.every_days * _DAY_MS
    if at_ms is not None and now_ms - at_ms <= overdue_ms:
        yield ok("deletions", f"every replica was last asked for them at {rfc3339(at_ms)}")
    elif at_ms is not None or (rounds and now_ms - rounds[-1].begun_ms > overdue_ms):
        last = "never" if at_ms is None else rfc3339(at_ms)
        why = f"the replicas were last asked for deleted recordings: {last}"
        yield warning("deletions", why, f"bring back the nodes that are down; then {_BEGIN}")
