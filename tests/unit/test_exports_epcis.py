"""Ids of events are the hash of what they say in the standard's order; names are GS1 keys."""

import hashlib
from typing import Any, Final

import pytest

from contracts.errors import RejectedError
from gateway.exports.epcis.eventhash import canonical, with_id
from gateway.exports.epcis.goods import quantity_element
from gateway.exports.epcis.ids import lot_uri, lots_of
from gateway.exports.epcis.query import EventPlace, QueryError
from gateway.records.tracing import LotId
from support.project.epcis import others_ids, without_disputed

EVENT: Final[dict[str, Any]] = {
    "type": "ObjectEvent",
    "eventTime": "2026-11-20T10:40:00.000Z",
    "eventTimeZoneOffset": "+00:00",
    "action": "OBSERVE",
    "bizStep": "transporting",
    "persistentDisposition": {"set": ["non_conformant"]},
    "readPoint": {"id": "geo:47.3769,8.5417"},
    "quantityList": [
        {"epcClass": "https://id.gs1.org/01/00012345678905/10/L42", "quantity": 120, "uom": "KGM"},
        {"epcClass": "https://id.gs1.org/01/00012345678905/10/L%2F41"},
    ],
    "sensorElementList": [
        {
            "sensorMetadata": {"startTime": "2026-11-20T10:10:00.000Z"},
            "sensorReport": [
                {"type": "Temperature", "minValue": 8.0, "maxValue": 11.4, "uom": "CEL"},
                {"type": "Pressure", "exception": "ALARM_CONDITION", "value": 968.25, "uom": "A97"},
            ],
        }
    ],
    "bizTransactionList": [
        {"type": "po", "bizTransaction": "urn:wayseal:order:2"},
        {"type": "desadv", "bizTransaction": "urn:wayseal:delivery:1"},
    ],
    "sourceList": [{"type": "owning_party", "source": "urn:wayseal:party:a"}],
    "destinationList": [{"type": "owning_party", "destination": "urn:wayseal:party:b"}],
}
TOLD: Final = (
    "eventType=ObjectEventeventTime=2026-11-20T10:40:00.000ZeventTimeZoneOffset=+00:00"
    "quantityListquantityElementepcClass=https://id.gs1.org/01/00012345678905/10/L%2F41"
    "quantityElementepcClass=https://id.gs1.org/01/00012345678905/10/L42quantity=120uom=KGM"
    "action=OBSERVEbizStep=https://ref.gs1.org/cbv/BizStep-transporting"
    "persistentDispositionset=https://ref.gs1.org/cbv/Disp-non_conformant"
    "readPointid=geo:47.3769,8.5417"
    "bizTransactionListtype=https://ref.gs1.org/cbv/BTT-desadvbizTransaction=urn:wayseal:delivery:1"
    "type=https://ref.gs1.org/cbv/BTT-pobizTransaction=urn:wayseal:order:2"
    "sourceListtype=https://ref.gs1.org/cbv/SDT-owning_partysource=urn:wayseal:party:a"
    "destinationListtype=https://ref.gs1.org/cbv/SDT-owning_partydestination=urn:wayseal:party:b"
    "sensorElementListsensorElementsensorMetadatastartTime=2026-11-20T10:10:00.000Z"
    "sensorReporttype=https://gs1.org/voc/Pressureexception=https://gs1.org/voc/ALARM_CONDITION"
    "value=968.25uom=A97"
    "sensorReporttype=https://gs1.org/voc/TemperatureminValue=8maxValue=11.4uom=CEL"
)


def test_an_event_is_told_in_the_standard_s_order() -> None:
    assert canonical(EVENT) == TOLD
    digest = hashlib.sha256(TOLD.encode()).hexdigest()
    assert with_id(EVENT)["eventID"] == f"ni:///sha-256;{digest}?ver=CBV2.0"


def test_an_id_depends_on_no_order_and_not_on_itself() -> None:
    turned = dict(reversed(EVENT.items()))
    turned["bizTransactionList"] = EVENT["bizTransactionList"][::-1]
    turned["quantityList"] = EVENT["quantityList"][::-1]
    assert with_id(turned)["eventID"] == with_id(EVENT)["eventID"]
    assert with_id(with_id(EVENT)) == with_id(EVENT)
    other = EVENT | {"eventTime": "2026-11-20T10:40:00.001Z"}
    assert with_id(other)["eventID"] != with_id(EVENT)["eventID"]


def test_programs_of_others_give_the_same_id() -> None:
    event = with_id(without_disputed(EVENT))
    assert others_ids([event]) == [event["eventID"]]


def test_a_field_that_the_hash_does_not_know_is_refused() -> None:
    with pytest.raises(ValueError, match="'parentID'"):
        canonical(EVENT | {"parentID": "urn:x:y"})


@pytest.mark.parametrize(
    ("gtin", "lot", "uri"),
    [
        ("00012345678905", "L42", "https://id.gs1.org/01/00012345678905/10/L42"),
        ("12345670", "a/b#?", "urn:wayseal:lot:12345670:a%2Fb%23%3F"),
        ("12345670", "a/b?", "https://id.gs1.org/01/00000012345670/10/a%2Fb%3F"),
        ("12345670", "x" * 21, "urn:wayseal:lot:12345670:" + "x" * 21),
        ("12345670", "Käse", "urn:wayseal:lot:12345670:K%C3%A4se"),
    ],
)
def test_a_lot_has_a_link_of_gs1_or_else_one_of_our_own(gtin: str, lot: str, uri: str) -> None:
    assert lot_uri(gtin, lot) == uri
    assert LotId(gtin, lot) in lots_of(uri)


@pytest.mark.parametrize("uri", ["", "urn:x", "https://id.gs1.org/01/1/10/L", "urn:wayseal:lot:1"])
def test_what_is_no_class_of_a_lot_is_refused(uri: str) -> None:
    with pytest.raises(RejectedError, match="expected the class of a lot"):
        lots_of(uri)


def test_a_unit_without_a_code_leaves_the_quantity_out() -> None:
    assert "quantity" not in quantity_element("12345670", "L", 5, "Kisten")
    assert quantity_element("12345670", "L", 5, "KGM")["quantity"] == 5


def test_a_page_s_token_is_read_again_and_any_other_refused() -> None:
    for token in ("trips.17.3", "transformations.0.0"):
        assert str(EventPlace.parse(token)) == token
    for token in ("", "trips", "trips.1", "trips.-1.0", "lots.1.0", "trips.².0", "trips.1.0.0"):
        with pytest.raises(QueryError):
            EventPlace.parse(token)
