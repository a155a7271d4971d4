"""Which recordings a truck should send first: film that this site holds, for what no truck knows.

A truck marks film of its own signs and remarks. The limits of deliveries and legal holds are on the
ledger alone.
"""

from collections.abc import Sequence

from gateway.intake.held import Offer
from gateway.intake.inbox import Inbox
from gateway.records.records import Records
from gateway.retention.autoholds import announced


def sent_first(records: Records, inbox: Inbox, recording_ids: Sequence[bytes]) -> list[bytes]:
    """Return those of some announced recordings that show an excursion or are under a legal hold.

    A person may have ended the hold of an excursion: its film goes first all the same.

    Args:
        records: What the ledger says by now; it may not know the readings yet.
        inbox: Has the digests.
        recording_ids: The recordings.
    """
    return [each for each in recording_ids if _is_first(records, inbox, inbox.offers_of(each))]


def _is_first(records: Records, inbox: Inbox, offers: Sequence[Offer]) -> bool:
    for offer in offers:
        if records.trips.holds_in_force(offer.trip_id):
            return True
        excursions = records.trips.excursions(offer.trip_id)
        if excursions and any(each.holds(announced(inbox, offer)) for each in excursions):
            return True
    return False
