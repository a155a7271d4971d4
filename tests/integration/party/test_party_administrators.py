"""`wayseal-party` against a node: who administers, settings, and validators of a network."""

import json

import pytest

from contracts.address import ADMIN_KEYS_SETTING
from contracts.runtime.commands import FAILED, WORKED, WRONG_USAGE
from contracts.sawtooth.batches import build_batch
from contracts.sawtooth.settings import APPROVAL_THRESHOLD, AUTHORIZED_KEYS, propose
from contracts.validators import SETTING, encode
from support.ledgers.party_desk import Desk
from support.network.world import key

pytestmark = pytest.mark.integration


def test_an_administrator_admits_and_dismisses_validators(desk: Desk) -> None:
    first, second = key("validator-1").public_key, key("validator-2").public_key
    status, said = desk.run("admin", "admit-validator", second)
    assert status == FAILED
    assert "no setting wayseal.validators: expected a network of validators" in said
    desk.commit(build_batch(key("admin"), [propose(key("admin"), SETTING, encode({first: 1}))]))

    def done(*words: str) -> dict[str, object]:
        status, said = desk.run("admin", *words)
        assert status == WORKED, said
        told = json.loads(said)
        assert told.pop("in_force")
        assert told.pop("waiting") == []
        told.pop("transaction_id", None)
        return dict(told)

    both = {first: 1, second: 3}
    assert done("admit-validator", second, "--power", "3") == {"changed": True, "validators": both}
    again = done("admit-validator", second, "--power", "3")
    assert again == {"changed": False, "validators": both}
    assert json.loads(desk.ledger.setting(SETTING)) == both
    left = {"changed": True, "validators": {second: 3}}
    assert done("dismiss-validator", first) == left
    for words, expected in (
        (("dismiss-validator", second), "expected an object of 1 to 100"),
        (("admit-validator", "02ab"), "expected a compressed public key"),
        (("admit-validator", first, "--power", "0"), "expected a power from 1"),
    ):
        status, said = desk.run("admin", *words)
        assert (status, expected in said) == (WRONG_USAGE, True), said
    status, said = desk.run("seller", "admit-validator", first)
    assert (status, "is not authorized to change settings" in said) == (FAILED, True), said
    assert json.loads(desk.ledger.setting(SETTING)) == {second: 3}


def test_a_change_of_validators_waits_for_the_other_administrators(desk: Desk) -> None:
    """It is proposed; nobody is admitted before they have signed it too."""
    first, second = key("validator-1").public_key, key("validator-2").public_key
    desk.commit(build_batch(key("admin"), [propose(key("admin"), SETTING, encode({first: 1}))]))
    desk.said("admin", "admit-administrator", key("admin-2").public_key)
    desk.said("admin", "change-setting", APPROVAL_THRESHOLD, "--value", "2")
    told = desk.said("admin", "admit-validator", second)
    assert (told["changed"], told["in_force"], told["validators"]) == (True, False, {first: 1})
    (waits,) = desk.said("admin", "proposals")["waiting"]
    assert told["waiting"] == [waits["proposal_id"]]
    assert (waits["setting"], waits["value"]) == (SETTING, encode({first: 1, second: 1}))
    assert waits["accepted_by"] == [key("admin").public_key]
    again = desk.said("admin", "admit-validator", second)
    assert (again["changed"], again["in_force"]) == (False, False)
    told = desk.said("admin-2", "admit-validator", second)
    assert (told["in_force"], told["validators"]) == (True, {first: 1, second: 1})
    assert desk.said("admin", "proposals") == {"waiting": []}


def test_an_administrator_s_key_is_replaced(desk: Desk) -> None:
    """Whoever is dismissed administers nothing more, settings included."""
    old, new = key("admin").public_key, key("admin-2").public_key
    told = desk.said("admin", "admit-administrator", new)
    assert told["administrators"] == told["change_settings"] == [old, new]
    assert not desk.said("admin", "admit-administrator", new)["changed"]
    told = desk.said("admin", "dismiss-administrator", old)
    assert told["administrators"] == told["change_settings"] == [new]
    party = ("register-party", "P", "--name", "P", "--public-key", key("p").public_key)
    assert desk.refused("admin", *party) == "not-admin"
    desk.must("admin-2", *party)
    status, said = desk.run("admin", "admit-administrator", old)
    assert (status, "is not authorized to change settings" in said) == (FAILED, True), said
    for words, expected in (
        (("dismiss-administrator", new), "expected 1 administrators or more to stay"),
        (("admit-administrator", "02ab"), "expected a compressed public key of secp256k1"),
    ):
        status, said = desk.run("admin-2", *words)
        assert (status, expected in said) == (WRONG_USAGE, True), said
    assert not desk.said("admin-2", "dismiss-administrator", old)["changed"]


def test_two_of_three_administrators_dismiss_a_stolen_key(desk: Desk) -> None:
    """Alone, the thief changes nothing: what it proposes is rejected."""
    keys = [key(name).public_key for name in ("admin", "admin-2", "admin-3")]
    for each in keys[1:]:
        desk.said("admin", "admit-administrator", each)
    desk.said("admin", "change-setting", APPROVAL_THRESHOLD, "--value", "2")
    for each in keys[:2]:
        told = desk.said("admin-3", "dismiss-administrator", each)
        assert (told["in_force"], told["administrators"]) == (False, keys)
    for name in ("admin", "admin-2"):
        told = desk.said(name, "dismiss-administrator", keys[2])
    assert (told["in_force"], told["administrators"]) == (True, keys[:2])
    assert told["change_settings"] == keys[:2]
    left = [each["proposal_id"] for each in desk.said("admin", "proposals")["waiting"]]
    assert len(left) == 4
    for each in left:
        # Its own vote for them still counts: one more, and they would be in force.
        assert desk.said("admin", "reject-proposal", each)["rejected"]
    assert desk.said("admin", "proposals") == {"waiting": []}
    status, said = desk.run("admin", "reject-proposal", left[0])
    assert (status, "expected a proposal that waits, one of none" in said) == (FAILED, True), said
    status, said = desk.run("admin", "dismiss-administrator", keys[1])
    assert (status, "expected 2 administrators or more to stay" in said) == (WRONG_USAGE, True)


def test_who_changes_settings_may_be_somebody_else_than_the_administrators(desk: Desk) -> None:
    """As on a network of Sawtooth, whose founder's key does that."""
    founder, new = key("founder"), key("admin-2").public_key
    desk.commit(
        build_batch(key("admin"), [propose(key("admin"), AUTHORIZED_KEYS, founder.public_key)])
    )
    told = desk.said("founder", "admit-administrator", new)
    assert told["administrators"] == [key("admin").public_key, new]
    assert told["change_settings"] == [founder.public_key]
    desk.said("founder", "dismiss-administrator", new)
    status, said = desk.run("founder", "dismiss-administrator", key("admin").public_key)
    assert (status, "expected another administrator than" in said) == (WRONG_USAGE, True), said


def test_a_dismissed_key_goes_from_each_list_that_has_it(desk: Desk) -> None:
    """The lists differ after a `change-setting`, or where one of two proposals was rejected."""
    admin, thief = key("admin").public_key, key("admin-2").public_key
    for name, left in (
        (ADMIN_KEYS_SETTING, "change_settings"),
        (AUTHORIZED_KEYS, "administrators"),
    ):
        desk.said("admin", "admit-administrator", thief)
        desk.said("admin", "change-setting", name, "--value", admin)
        assert desk.said("admin", "administrators")[left] == [admin, thief]
        told = desk.said("admin", "dismiss-administrator", thief)
        assert (told["changed"], told["in_force"]) == (True, True)
        assert told["administrators"] == told["change_settings"] == [admin]
    third = key("admin-3").public_key
    desk.said("admin", "admit-administrator", thief)
    desk.said("admin", "change-setting", ADMIN_KEYS_SETTING, "--value", f"{admin},{third},{thief}")
    told = desk.said("admin", "dismiss-administrator", thief)
    assert (told["administrators"], told["change_settings"]) == ([admin, third], [admin])
