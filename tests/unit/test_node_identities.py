"""Family sawtooth_identity, and whom its roles and policies permit to sign."""

from collections.abc import Sequence

import pytest

from contracts import address
from contracts.keys import Signer
from contracts.ledger.execution.executor import Execution, InvalidTransaction, execute
from contracts.ledger.execution.families import BUILT_IN
from contracts.ledger.execution.permissions import Permissions, permissions_after
from contracts.ledger.execution.verify import verify_batch
from contracts.proto.identity_pb2 import IdentityPayload, Policy, Role, RoleList
from contracts.proto.sawtooth_pb2 import Batch, Setting, Transaction
from contracts.rules.context import InvalidTransactionError
from contracts.sawtooth.batches import Family, build_batch, build_transaction
from contracts.sawtooth.identity import ALLOWED_KEYS, FAMILY
from support.ledgers.identities import set_policy, set_role
from support.ledgers.memory_engine import Snapshot

ADMIN = Signer.from_hex("11" * 32)
ONE = Signer.from_hex("22" * 32)
TWO = Signer.from_hex("33" * 32)


def permit(key: str) -> Policy.Entry:
    return Policy.Entry(type=Policy.PERMIT_KEY, key=key)


def deny(key: str) -> Policy.Entry:
    return Policy.Entry(type=Policy.DENY_KEY, key=key)


def allowed_keys(*keys: str) -> dict[str, bytes]:
    entry = Setting.Entry(key=ALLOWED_KEYS, value=",".join(keys))
    return {address.setting(ALLOWED_KEYS): Setting(entries=[entry]).SerializeToString()}


class Ledger:
    """State to which transactions are applied."""

    def __init__(self, state: dict[str, bytes] | None = None) -> None:
        self.state = allowed_keys(ADMIN.public_key) if state is None else state

    def apply(self, *transactions: Transaction, signer: Signer = ADMIN) -> Execution:
        result = self.attempt(*transactions, signer=signer)
        assert isinstance(result, Execution), result
        for place, value in result.changes.items():
            assert value is not None
            self.state[place] = value
        return result

    def attempt(
        self, *transactions: Transaction, signer: Signer = ADMIN
    ) -> Execution | InvalidTransaction:
        batch = verify_batch(build_batch(signer, transactions))
        return execute(batch, BUILT_IN, self.state.get)

    @property
    def permissions(self) -> Permissions:
        return permissions_after(Snapshot(self.state))


def refusal(result: Execution | InvalidTransaction) -> str:
    assert isinstance(result, InvalidTransaction)
    return result.message


def some_batch(signer: Signer, *families: str) -> Batch:
    """Return a batch with a transaction of each family."""
    transactions = [
        build_transaction(
            signer,
            Family(name, "1.0"),
            b"",
            batcher_public_key=signer.public_key,
            inputs=[],
            outputs=[],
        )
        for name in families
    ]
    return build_batch(signer, transactions)


def permitted(ledger: Ledger, signer: Signer, *families: str) -> bool:
    try:
        ledger.permissions.check(verify_batch(some_batch(signer, *(families or ("any",)))))
    except InvalidTransactionError:
        return False
    return True


def test_bytes_in_state_are_sawtooths() -> None:
    """Expected bytes: encoded by hand from identity.proto, lists sorted by name."""
    ledger = Ledger()
    ledger.apply(set_policy(ADMIN, "p", [permit("*"), deny("k")]))
    ledger.apply(set_role(ADMIN, "transactor", "p"))
    policy = bytes.fromhex("0a01701205080112012a1205080212016b")
    assert ledger.state[address.policy("p")] == b"\x0a" + bytes([len(policy)]) + policy
    role = b"\x0a\x0atransactor\x12\x01p"
    assert ledger.state[address.role("transactor")] == b"\x0a" + bytes([len(role)]) + role


def test_a_policy_is_replaced_and_told() -> None:
    ledger = Ledger()
    ledger.apply(set_policy(ADMIN, "p", [permit("a")]))
    done = ledger.apply(set_policy(ADMIN, "p", [permit("b")]))
    (event,) = done.receipts[0].events
    assert event.event_type == "identity/update"
    assert [(pair.key, pair.value) for pair in event.attributes] == [("updated", "p")]
    assert ledger.permissions.policies["p"].keys == {"b": True}


@pytest.mark.parametrize("keys", [(), ("",), (ONE.public_key,), (f" {ADMIN.public_key}",)])
def test_only_allowed_keys_set_anything(keys: Sequence[str]) -> None:
    ledger = Ledger(allowed_keys(*keys) if keys else {})
    said = refusal(ledger.attempt(set_policy(ADMIN, "p", [permit("*")])))
    assert said == (
        f'The transaction signer is not authorized to submit transactions: "{ADMIN.public_key}"'
    )


def payload(kind: IdentityPayload.IdentityType, data: bytes) -> Transaction:
    return build_transaction(
        ADMIN,
        FAMILY,
        IdentityPayload(type=kind, data=data).SerializeToString(),
        batcher_public_key=ADMIN.public_key,
        inputs=["00"],
        outputs=["00001d"],
    )


@pytest.mark.parametrize(
    ("transaction", "expected"),
    [
        (set_policy(ADMIN, "p", []), "At least one entry must be in a policy."),
        (set_policy(ADMIN, "", [permit("*")]), "The name must be set in a policy."),
        (set_policy(ADMIN, "p", [permit("")]), "Every policy entry must have a key."),
        (set_role(ADMIN, "r", ""), "A role must contain a policy name."),
        (set_role(ADMIN, "", "p"), "The name must be set in a role."),
        (set_role(ADMIN, "r", "p"), "Cannot set Role: r, the Policy: p is not set."),
        (
            payload(IdentityPayload.IDENTITY_TYPE_UNSET, b""),
            "The IdentityType must be either a ROLE or a POLICY",
        ),
        (
            payload(IdentityPayload.POLICY, b"\xff"),
            "Failed to unmarshal IdentityTransaction: 1 bytes that are not a valid Policy",
        ),
    ],
)
def test_what_is_malformed_is_invalid(transaction: Transaction, expected: str) -> None:
    assert refusal(Ledger().attempt(transaction)) == expected


def test_without_policies_every_key_may_sign() -> None:
    assert permitted(Ledger(), ONE)


def test_the_default_policy_holds_for_roles_that_are_not_set() -> None:
    ledger = Ledger()
    ledger.apply(set_policy(ADMIN, "default", [permit(ONE.public_key)]))
    assert permitted(ledger, ONE)
    assert not permitted(ledger, TWO)


def test_the_first_entry_that_fits_decides() -> None:
    ledger = Ledger()
    ledger.apply(set_policy(ADMIN, "default", [deny(ONE.public_key), permit("*")]))
    assert not permitted(ledger, ONE)
    assert permitted(ledger, TWO)
    ledger.apply(set_policy(ADMIN, "default", [permit("*"), deny(ONE.public_key)]))
    assert permitted(ledger, ONE)
    ledger.apply(set_policy(ADMIN, "default", [Policy.Entry(key="*"), permit(ONE.public_key)]))
    assert permitted(ledger, ONE)
    assert not permitted(ledger, TWO)


def test_a_more_special_role_decides() -> None:
    ledger = Ledger()
    ledger.apply(set_policy(ADMIN, "nobody", [deny("*")]), set_policy(ADMIN, "all", [permit("*")]))
    ledger.apply(set_role(ADMIN, "transactor", "nobody"))
    assert not permitted(ledger, ONE)
    ledger.apply(set_role(ADMIN, "transactor.batch_signer", "all"))
    assert not permitted(ledger, ONE)
    ledger.apply(set_role(ADMIN, "transactor.transaction_signer.intkey", "all"))
    assert permitted(ledger, ONE, "intkey")
    assert not permitted(ledger, ONE, "intkey", "other")
    ledger.apply(set_role(ADMIN, "transactor.transaction_signer", "all"))
    assert permitted(ledger, ONE, "intkey", "other")
    ledger.apply(set_role(ADMIN, "transactor.transaction_signer.other", "nobody"))
    assert not permitted(ledger, ONE, "intkey", "other")
    ledger.apply(set_role(ADMIN, "transactor.batch_signer", "nobody"))
    assert not permitted(ledger, ONE, "intkey")


def test_names_whose_addresses_collide_are_kept_apart() -> None:
    ledger = Ledger()
    ledger.apply(set_policy(ADMIN, "p", [permit("*")]))
    other = RoleList(roles=[Role(name="z", policy_name="p")]).SerializeToString()
    ledger.state[address.role("a")] = other
    ledger.apply(set_role(ADMIN, "a", "p"))
    listed = RoleList.FromString(ledger.state[address.role("a")])
    assert [role.name for role in listed.roles] == ["a", "z"]
    assert set(ledger.permissions.roles) == {"a", "z"}
