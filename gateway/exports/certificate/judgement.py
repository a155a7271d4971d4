"""What a gateway found when it checked the evidence of a trip, as a certificate shows it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from contracts.evidence import report
from contracts.evidence.verify import Verdict
from contracts.records.clock import moment, now_ms
from gateway.settings import Settings


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a gateway found when it checked the evidence of a trip.

    Attributes:
        word: The verdict in one word, such as `holds`.
        problems: What does not hold; empty when everything does.
        not_shown: What the evidence does not show.
        blocks: How many blocks of the ledger it has.
        last_block_id: Of the last of them.
        genesis_id: Of the first.
        site_id: Of the gateway.
        at: When, UTC.
        address: Where the verification is, for people: of the trip's page.
    """

    word: str
    problems: Sequence[str]
    not_shown: Sequence[str]
    blocks: int
    last_block_id: str
    genesis_id: str
    site_id: str
    at: datetime
    address: str

    @classmethod
    def of(cls, verdict: Verdict, settings: Settings, trip_id: str) -> Self:
        """Return what the gateway with these settings says now of a trip."""
        return cls(
            report.summary(verdict),
            verdict.problems,
            report.not_shown(verdict, "export the evidence with video"),
            verdict.blocks,
            verdict.last_block_id,
            verdict.genesis_id,
            settings.site_id,
            moment(now_ms()),
            f"{settings.pages_address}/trips/{trip_id}?block={verdict.last_block_id[:16]}",
        )

    @property
    def holds(self) -> bool:
        """Say whether everything was proved."""
        return self.word == "holds"
