"""Copies that do not answer: after a few blobs they are passed over, until they answer again.

Else a node that is down would cost a finding, an attempt to mend and a line in the
log for each of a million blobs, of which none says more than the first.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from storage.recordings.examining import Finding, Flaw, Survey

SILENT_AFTER: Final = 3
"""Blobs in a row that a copy did not give, after which it is passed over."""


class Silence:
    """Remembers how often each copy was asked in vain."""

    def __init__(self) -> None:
        self._in_vain: Counter[str] = Counter()
        self._new: dict[str, str] = {}

    def without_silent(self, survey: Survey, out: Mapping[str, str]) -> list[Finding]:
        """Return the findings of a survey, but what only says that a copy does not answer.

        Args:
            survey: Of the next blob.
            out: By copy, why it is known not to answer.
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
        """Yield each copy that has come to be passed over, and why; each time once."""
        while self._new:
            yield self._new.popitem()
