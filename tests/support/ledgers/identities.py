"""Transactions that set on-chain roles and policies, as the `sawtooth` command makes them."""

from collections.abc import Sequence

from contracts import address
from contracts.encoding import canonical
from contracts.keys import Signer
from contracts.proto.identity_pb2 import IdentityPayload, Policy, Role
from contracts.proto.sawtooth_pb2 import Transaction
from contracts.sawtooth.batches import build_transaction
from contracts.sawtooth.identity import ALLOWED_KEYS, FAMILY


def set_policy(signer: Signer, name: str, entries: Sequence[Policy.Entry]) -> Transaction:
    """Return a transaction that sets a policy, as `sawtooth identity policy create` makes it."""
    policy = Policy(name=name, entries=entries)
    place = address.policy(name)
    return _transaction(signer, IdentityPayload.POLICY, canonical(policy), [place], place)


def set_role(signer: Signer, name: str, policy_name: str) -> Transaction:
    """Return a transaction that sets a role, as `sawtooth identity role create` makes it."""
    role = Role(name=name, policy_name=policy_name)
    place = address.role(name)
    inputs = [place, address.policy(policy_name)]
    return _transaction(signer, IdentityPayload.ROLE, canonical(role), inputs, place)


def _transaction(
    signer: Signer,
    kind: IdentityPayload.IdentityType,
    data: bytes,
    inputs: Sequence[str],
    output: str,
) -> Transaction:
    return build_transaction(
        signer,
        FAMILY,
        canonical(IdentityPayload(type=kind, data=data)),
        batcher_public_key=signer.public_key,
        inputs=[address.setting(ALLOWED_KEYS), *inputs],
        outputs=[output],
    )
