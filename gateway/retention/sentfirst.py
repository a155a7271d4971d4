"""Recordings that a truck should send first: film of excursions and of trips under a legal hold.

A truck marks film of its own signs and remarks. The limits of deliveries and legal holds are on the
ledger alone.
"""

from collections.abc import Sequence
from functools import cache

from contracts.errors import UnavailableError
from gateway.intake.held import Offer
from gateway.intake.inbox import Inbox
from gateway.records.records import Records
from gateway.retention.autoholds import announced


def sent_first(records: Records, inbox: Inbox, recording_ids: Sequence[bytes]) -> list[bytes]:
    """Return those of some announced recordings that show an excursion or are under a legal hold.

    A person may have ended the hold of an excursion: its film goes first anyway. While the
    index does not answer, no recording is named: an offload needs no order.

    Args:
        records: The ledger's records as they stand; they may lack the readings yet.
        inbox: Has the digests.
        recording_ids: The recordings.
    """
    holds, excursions = cache(records.trips.holds_in_force), cache(records.trips.excursions)

    def is_first(offer: Offer) -> bool:
        if holds(offer.trip_id):
            return True
        found = excursions(offer.trip_id)
        digest = announced(inbox, offer) if found else None
        return digest is not None and any(each.holds(digest) for each in found)

    try:
        return [each for each in recording_ids if any(map(is_first, inbox.offers_of(each)))]
    except UnavailableError:
        return []
