"""What the reader of a verdict asked for: a genuine file about something else is no answer."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Self

from contracts.errors import RejectedError
from contracts.evidence.story import TripStory


@dataclass(frozen=True, slots=True)
class LotName:
    """A lot: `GTIN:LOT` on the command line. A lot's name may itself hold a colon."""

    gtin: str
    lot: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the lot that `text` names.

        Raises:
            RejectedError: There is no colon in it.
        """
        gtin, colon, lot = text.partition(":")
        if not colon:
            raise RejectedError(f"a lot is GTIN:LOT, got {text!r}")
        return cls(gtin, lot)

    def __str__(self) -> str:
        return f"{self.gtin}:{self.lot}"


@dataclass(frozen=True, slots=True)
class Expected:
    """What the file must be about; without any of it, a file may be about anything.

    Attributes:
        trip_ids: Trips that it must be about.
        delivery_ids: Deliveries that one of its trips must carry. Anyone's device may start a trip
            that names any delivery; only those of the delivery's carriers count.
        lots: Lots that such a delivery must hold, by terms that both sides have signed.
        block_num: A block up to which it must reach, at least.
        format_1: A file of format 1 is enough, which cannot show that nothing was left out.
    """

    trip_ids: tuple[str, ...] = ()
    delivery_ids: tuple[str, ...] = ()
    lots: tuple[LotName, ...] = ()
    block_num: int = 0
    format_1: bool = False

    def unmet(self, stories: Mapping[str, TripStory], last_block_num: int) -> Iterator[str]:
        """Yield, in words, what the file is not about.

        Args:
            stories: The trips of the file, by id.
            last_block_num: Number of its last block.
        """
        deliveries = [
            delivery
            for story in stories.values()
            for delivery in story.deliveries
            if story.carries(delivery)
        ]
        carried = {delivery.terms.delivery_id for delivery in deliveries}
        held = {
            LotName(lot.gtin, lot.lot)
            for delivery in deliveries
            if len(delivery.signed_by) > 1
            for lot in delivery.terms.lots
        }
        for trip_id in self.trip_ids:
            if trip_id not in stories:
                yield f"trip {trip_id} was asked for; {_told('trips', stories)}"
        for delivery_id in self.delivery_ids:
            if delivery_id not in carried:
                yield f"delivery {delivery_id} was asked for; {_told('deliveries', carried)}"
        for lot in self.lots:
            if lot not in held:
                yield f"lot {lot} was asked for; {_told('lots', map(str, held))}"
        if last_block_num < self.block_num:
            yield (
                f"block {self.block_num} was asked for; the file ends with block {last_block_num}"
            )


ANYTHING: Final = Expected()


def _told(kind: str, names: Iterable[str]) -> str:
    return f"the file is about the {kind} {', '.join(sorted(names)) or '(none)'}"
