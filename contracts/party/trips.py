"""Commands for a trip: handovers, its end, legal holds on its evidence."""

from argparse import Namespace
from typing import Final

from contracts.actions.table import Action
from contracts.party.cli import AT, AT_BOTH, NEEDED, SOME, Command, signing, time_of
from contracts.proto.payload_pb2 import CloseTrip, HandOver, PlaceHold, ReleaseHold

_HOLD: Final = NEEDED | {"metavar": "HOLD", "help": "the hold's id on that trip"}


def _hand_over(options: Namespace) -> Action:
    return HandOver(
        trip_id=options.trip,
        delivery_id=options.id,
        site_id=options.site,
        from_party_id=options.giver,
        to_party_id=options.taker,
        at_ms=time_of(options),
        quantity=options.quantity,
        seal_numbers=options.seal_number,
        returned=options.returned,
    )


def _close_trip(options: Namespace) -> Action:
    return CloseTrip(trip_id=options.id, party_id=options.party, at_ms=time_of(options))


def _hold(options: Namespace) -> Action:
    return PlaceHold(
        trip_id=options.id,
        hold_id=options.hold,
        party_id=options.party,
        reason=options.reason,
        at_ms=time_of(options),
    )


def _release_hold(options: Namespace) -> Action:
    return ReleaseHold(
        trip_id=options.id, hold_id=options.hold, party_id=options.party, at_ms=time_of(options)
    )


COMMANDS: Final = [
    Command(
        "hand-over",
        "DELIVERY",
        "sign that a delivery changed hands; both parties sign the same action",
        {
            "--trip": NEEDED,
            "--site": NEEDED,
            "--giver": NEEDED,
            "--taker": NEEDED,
            "--quantity": {
                "type": int,
                "default": 0,
                "help": "how much of the delivery, in the unit of the terms (default: all of it)",
            },
            "--seal-number": SOME
            | {"metavar": "NUMBER", "help": "of a mechanical seal on the goods; may be repeated"},
            "--returned": {"action": "store_true", "help": "the goods go back to the seller"},
            "--at": AT_BOTH,
        },
        signing(_hand_over),
        "hand-over D1 --trip 5f2c… --site dock-2 --giver haulier --taker shop \\\n"
        "      --quantity 60 --seal-number A17 --at 2026-03-02T08:00:00Z",
    ),
    Command(
        "close-trip",
        "TRIP",
        "close a trip, so that missing seals and recordings are found; a party of the trip signs",
        {"--party": NEEDED, "--at": AT},
        signing(_close_trip),
        "close-trip 5f2c… --party shop",
    ),
    Command(
        "hold",
        "TRIP",
        "place a legal hold on a trip's evidence; a party of the trip or an authority signs",
        {"--hold": _HOLD, "--party": NEEDED, "--reason": NEEDED, "--at": AT},
        signing(_hold),
        'hold 5f2c… --hold case-17 --party customs --reason "inquiry 17"',
    ),
    Command(
        "release-hold",
        "TRIP",
        "release a legal hold; the party that placed it signs",
        {"--hold": _HOLD, "--party": NEEDED, "--at": AT},
        signing(_release_hold),
        "release-hold 5f2c… --hold case-17 --party customs",
    ),
]
