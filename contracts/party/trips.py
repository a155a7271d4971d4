"""Commands about a trip: goods change hands, its end, legal holds on its evidence."""

from argparse import Namespace
from typing import Final

from contracts.party.command import AT, AT_BOTH, NEEDED, Command, signing, time_of
from contracts.payload import Action
from contracts.proto.payload_pb2 import CloseTrip, HandOver, PlaceHold, ReleaseHold

_HOLD: Final = NEEDED | {"metavar": "HOLD", "help": "what the hold is called on that trip"}


def _hand_over(options: Namespace) -> Action:
    return HandOver(
        trip_id=options.trip,
        delivery_id=options.id,
        site_id=options.site,
        from_party_id=options.giver,
        to_party_id=options.taker,
        at_ms=time_of(options),
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
        "sign that a delivery changed hands; both parties sign the same words",
        {
            "--trip": NEEDED,
            "--site": NEEDED,
            "--giver": NEEDED,
            "--taker": NEEDED,
            "--at": AT_BOTH,
        },
        signing(_hand_over),
        "hand-over D1 --trip 5f2c… --site dock-2 --giver haulier --taker shop \\\n"
        "      --at 2026-03-02T08:00:00Z",
    ),
    Command(
        "close-trip",
        "TRIP",
        "say that nothing more is to come, so that what is missing is found; a party to it signs",
        {"--party": NEEDED, "--at": AT},
        signing(_close_trip),
        "close-trip 5f2c… --party shop",
    ),
    Command(
        "hold",
        "TRIP",
        "place a legal hold on a trip's evidence; a party to it or an authority signs",
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
