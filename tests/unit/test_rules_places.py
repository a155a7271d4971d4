"""Places of sites: arrival elsewhere is found."""

from dataclasses import replace

import pytest

from contracts.proto.payload_pb2 import (
    Position,
    RegisterSite,
)
from contracts.records.reading import Position as Place
from contracts.rules.ids import Rule
from contracts.rules.places import distance_m
from support.ledgers.hosts import Host, apply_all, findings, refused, rules_found
from support.network.world import Trip, key, one, reading, registrations


def site(latitude_e7: int, radius_m: int = 500) -> RegisterSite:
    return RegisterSite(
        site_id="site-buyer",
        party_id="buyer",
        name="Buyer",
        position=Position(latitude_e7=latitude_e7, longitude_e7=-86_617_460),
        radius_m=radius_m,
    )


def arrival(host: Host, trip: Trip, latitude_e7: int) -> list[str]:
    apply_all(host, [*registrations(), one(key("buyer"), site(latitude_e7))])
    events = apply_all(host, trip.whole([reading(0), reading(1)]))
    return [
        each.detail
        for each in findings(events)
        if each.rule in (Rule.ARRIVED_ELSEWHERE, Rule.POSITION_MISSING)
    ]


def test_arrival_elsewhere_is_found(host: Host) -> None:
    last = reading(1).position
    assert last is not None
    assert arrival(host, Trip(), last.latitude_e7 + 100_000) == [
        "1111 m from site-buyer, which reaches 500 m"
    ]


def test_arrival_within_the_site_s_reach_is_fine(host: Host) -> None:
    last = reading(1).position
    assert last is not None
    assert arrival(host, Trip(), last.latitude_e7 + 44_000) == []


def test_a_position_that_could_be_anywhere_is_none(host: Host) -> None:
    anywhere = replace(reading(1), position=Place(526_291_510, -86_617_460, 4_000_000_000))
    apply_all(host, [*registrations(), one(key("buyer"), site(0))])
    events = apply_all(host, Trip().whole([anywhere]))
    assert Rule.POSITION_MISSING in rules_found(events)


@pytest.mark.parametrize(
    ("radius_m", "latitude_e7"), [(0, 1), (100_001, 1), (5, 900_000_001), (5, -900_000_001)]
)
def test_the_form_of_a_place(host: Host, radius_m: int, latitude_e7: int) -> None:
    apply_all(host, registrations())
    assert refused(host, one(key("buyer"), site(latitude_e7, radius_m))) is Rule.FORM


@pytest.mark.parametrize(
    ("one_e7", "other_e7", "expected_m"),
    [
        ((0, 0), (0, 0), 0),
        ((0, 0), (10_000_000, 0), 111_195),
        ((0, 1_799_999_000), (0, -1_799_999_000), 22),
        ((600_000_000, 0), (600_000_000, 10_000_000), 55_597),
        ((900_000_000, 0), (900_000_000, 1_800_000_000), 0),
    ],
    ids=["same", "a degree north", "over the date line", "a degree east at 60 north", "at a pole"],
)
def test_distances(one_e7: tuple[int, int], other_e7: tuple[int, int], expected_m: int) -> None:
    first, second = (
        Position(latitude_e7=latitude, longitude_e7=longitude)
        for latitude, longitude in (one_e7, other_e7)
    )
    assert distance_m(first, second) == distance_m(second, first) == expected_m
