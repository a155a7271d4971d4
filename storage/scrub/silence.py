"""Copies that do not answer: after a few blobs they are passed over, until they answer again.

Otherwise a node that is down would cost a finding, a repair and a log line for each of a million
blobs, and none would say more than the first.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from storage.recordings.blobcopies import Finding, Flaw, Survey

SILENT_AFTER: Final = 3
"""A copy is passed over after it failed to give this many blobs in a row."""


class Silence:
    """Counts how many blobs in a row each copy failed to give."""

    def __init__(self) -> None:
        self._in_vain: Counter[str] = Counter()
        self._new: dict[str, str] = {}

    def without_silent(self, survey: Survey, out: Mapping[str, str]) -> list[Finding]:
        """Return the findings of a survey without the ones of copies that are passed over.

        Args:
            survey: Of the next blob.
            out: Copies that are known to be out, each with the reason.
        """
        unread = {each.copy: each.detail for each in survey.findings if each.kind is Flaw.UNREAD}
        for copy in survey.copies:
            if copy not in unread:
                del self._in_vain[copy]
                continue
            self._in_vain[copy] += 1
            if self._in_vain[copy] == (1 if copy in out else SILENT_AFTER + 1):
                self._new[copy] = out.get(copy, unread[copy])
        return [
            each
            for each in survey.findings
            if each.kind is not Flaw.UNREAD
            or (each.copy not in out and self._in_vain[each.copy] <= SILENT_AFTER)
        ]

    def new(self) -> Iterator[tuple[str, str]]:
        """Yield each copy that is newly passed over, and why."""
        while self._new:
            yield self._new.popitem()
