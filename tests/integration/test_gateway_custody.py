"""What an auditor sees of a delivery that two carriers had, in parts, and that a court ended."""

from collections.abc import Iterator

import pytest

from contracts.actions.table import Action
from contracts.proto.payload_pb2 import (
    WITHHELD,
    AnnounceSettlement,
    CancelDelivery,
    HandOver,
    OpenDelivery,
    SettleDelivery,
)
from contracts.proto.sawtooth_pb2 import Batch
from contracts.records.clock import now_ms, rfc3339
from contracts.rules.settling import NOTICE_MS
from support.network.chains import chain_registrations, chain_terms, hands
from support.network.world import START_MS, Trip, key, one, reading
from support.trucks.rogue import Site, nonce, running_site, until

pytestmark = pytest.mark.integration

DELIVERY = "chain-1"
FIRST = Trip(nonce=nonce(1), deliveries=[DELIVERY], via=["site-hub"])
SECOND = Trip("truck-2", nonce(2), [DELIVERY], key("truck-2"), via=["site-hub"])


def terms(delivery_id: str = DELIVERY) -> OpenDelivery:
    made = chain_terms(deadline_ms=START_MS)
    made.delivery_id = delivery_id
    return made


def signed(action: Action, *names: str) -> list[Batch]:
    return [one(key(name), action) for name in names]


def handed(action: HandOver) -> list[Batch]:
    action.delivery_id = DELIVERY
    return signed(action, action.from_party_id, action.to_party_id)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with running_site(tmp_path_factory.mktemp("custody")) as made:
        made.commit(chain_registrations(terms())[6:])
        # The first truck offloads before the goods are handed on, the second one after it.
        made.commit(handed(hands(FIRST, "seller", "carrier", "site-seller", 60, ("A1",))))
        made.commit(FIRST.whole([reading(at) for at in range(4)]))
        made.commit(handed(hands(FIRST, "carrier", "store", quantity=60, seals=("B1",))))
        made.commit(handed(hands(SECOND, "store", "haulier", quantity=60, seals=("B1",))))
        made.commit(handed(hands(SECOND, "haulier", "buyer", "site-buyer", 50, ("B1",))))
        yield made


def status(site: Site, wanted: str) -> dict[str, object]:
    """Return the delivery once the index has followed to a status."""

    def told() -> bool:
        answer = site.operator.get(f"/v1/deliveries/{DELIVERY}")
        return bool(answer.is_success and answer.json()["status"] == wanted)

    until(f"{DELIVERY} is {wanted}", told)
    found: dict[str, object] = site.ask(f"/v1/deliveries/{DELIVERY}")
    return found


def test_parts_and_hands_are_shown_before_the_second_truck_has_offloaded(site: Site) -> None:
    found = status(site, "part-delivered")
    assert (found["custodian_id"], found["payment"]) == (None, "none")
    assert found["holdings"] == [
        {"party_id": "seller", "quantity": 40},
        {"party_id": "haulier", "quantity": 10},
        {"party_id": "buyer", "quantity": 50},
    ]
    assert [found[f"{each}_quantity"] for each in ("sent", "received", "returned")] == [60, 50, 0]
    assert found["awaited_trip_ids"] == [SECOND.trip_id]
    assert found["other_carrier_ids"] == ["haulier", "store"]
    items = site.ask(f"/v1/deliveries/{DELIVERY}/handovers")["items"]
    assert [each["trip_on_ledger"] for each in items] == [True, True, False, False]
    assert items[1] == {
        "trip_id": FIRST.trip_id,
        "trip_on_ledger": True,
        "site_id": "site-hub",
        "from_party_id": "carrier",
        "to_party_id": "store",
        "at": "2025-06-15T15:06:40.000Z",
        "quantity": 60,
        "seal_numbers": ["B1"],
        "returned": False,
        "signed_by": ["carrier", "store"],
    }
    page = site.ask(f"/v1/deliveries/{DELIVERY}/handovers?limit=3")
    rest = site.ask(f"/v1/deliveries/{DELIVERY}/handovers?cursor={page['next_cursor']}")
    assert page["items"] + rest["items"] == items
    assert site.operator.get("/v1/deliveries/none/handovers").status_code == 404
    findings = site.ask(f"/v1/trips/{FIRST.trip_id}/findings")["items"]
    assert "seal-number-differs" in [each["rule"] for each in findings]


def test_each_trip_is_proved_with_what_happened_on_the_other(site: Site) -> None:
    site.commit(SECOND.whole([reading(at) for at in range(4)]))
    at_ms = now_ms() // 1000 * 1000
    notice = AnnounceSettlement(
        delivery_id=DELIVERY, authority_id="court", reason="40 are missing", at_ms=at_ms
    )
    settle = SettleDelivery(
        delivery_id=DELIVERY,
        authority_id="court",
        payment=WITHHELD,
        reason="the seller is gone",
        at_ms=at_ms,
    )
    site.commit([*signed(notice, "court"), *signed(settle, "court")])
    found = status(site, "settled")
    assert found["awaited_trip_ids"] == []
    when = rfc3339(at_ms)
    assert found["notices"] == [{"authority_id": "court", "reason": "40 are missing", "at": when}]
    assert found["settlement"] == {
        "authority_id": "court",
        "payment": "withheld",
        "reason": "the seller is gone",
        "at": when,
    }
    for trip in (FIRST, SECOND):
        answer = site.operator.post(f"/v1/trips/{trip.trip_id}/verify").json()
        assert answer["problems"] == []
        (told,) = answer["trips"][0]["deliveries"]
        assert (told["status"], told["payment"]) == ("settled", "withheld")
        assert (told["sent_quantity"], told["received_quantity"]) == (60, 50)


def test_on_a_ledger_with_block_times_nobody_settles_ahead_of_time(site: Site) -> None:
    """The authority's own word is not enough: the block must be of that time too."""
    without = terms("chain-3")
    without.deadline_ms = 0
    site.commit(signed(without, "seller", "buyer"))
    at_ms = now_ms() // 1000 * 1000
    notice = AnnounceSettlement(
        delivery_id="chain-3", authority_id="court", reason="no end", at_ms=at_ms
    )
    site.commit(signed(notice, "court"))
    early = SettleDelivery(
        delivery_id="chain-3",
        authority_id="court",
        payment=WITHHELD,
        reason="no end",
        at_ms=at_ms + NOTICE_MS,
    )
    with pytest.raises(AssertionError, match=r"too-early: .* the block is of"):
        site.commit(signed(early, "court"))


def test_a_cancellation_is_shown_from_its_first_signature_on(site: Site) -> None:
    other = terms("chain-2")
    cancel = CancelDelivery(delivery_id="chain-2", reason="ordered twice", at_ms=START_MS)
    site.commit([*signed(other, "seller", "buyer"), *signed(cancel, "seller")])

    def cancelling() -> object:
        answer = site.operator.get("/v1/deliveries/chain-2")
        return answer.json()["cancelling"] if answer.is_success else None

    until("the cancellation is shown", lambda: bool(cancelling()))
    assert cancelling() == {
        "reason": "ordered twice",
        "at": "2025-06-15T15:06:40.000Z",
        "signed_by": ["seller"],
    }
