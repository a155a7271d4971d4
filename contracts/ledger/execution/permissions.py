"""The keys that may sign batches and transactions, by the roles and policies on the chain.

Source: Sawtooth 1.2 administration guide, "Configuring Validator and Transactor
Permissions"; order of the roles as in its permission verifier.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Self

from contracts import address
from contracts.encoding import parse
from contracts.errors import RejectedError
from contracts.ledger.execution.verify import VerifiedBatch
from contracts.ledger.state.reader import StateReader
from contracts.proto.identity_pb2 import Policy, PolicyList, RoleList
from contracts.proto.sawtooth_pb2 import TransactionHeader
from contracts.rules.context import InvalidTransactionError
from contracts.sawtooth.identity import (
    BATCH_SIGNER,
    DEFAULT_POLICY,
    EVERY_KEY,
    TRANSACTION_SIGNER,
    TRANSACTOR,
)

_POLICIES: Final = address.IDENTITY_NAMESPACE + "00"


@dataclass(frozen=True, slots=True)
class KeyPolicy:
    """One policy, with its entries in a form that one look-up decides: fleets have many keys.

    Attributes:
        name: Its name.
        keys: Whether a key is permitted, by the first entry that names it.
        others: Whether all other keys are.
    """

    name: str
    keys: Mapping[str, bool]
    others: bool

    @classmethod
    def of(cls, policy: Policy) -> Self:
        """Return a policy's meaning: the first entry that fits a key decides, none denies it."""
        keys: dict[str, bool] = {}
        for entry in policy.entries:
            if entry.type in {Policy.PERMIT_KEY, Policy.DENY_KEY}:
                permits = entry.type == Policy.PERMIT_KEY
                if entry.key == EVERY_KEY:
                    return cls(policy.name, keys, permits)
                keys.setdefault(entry.key, permits)
        return cls(policy.name, keys, others=False)


@dataclass(frozen=True, slots=True)
class Permissions:
    """The roles and policies after one block.

    Attributes:
        roles: Names of their policies, by the name of the role.
        policies: The policies, by name. A missing one permits every key.
    """

    roles: Mapping[str, str] = field(default_factory=dict)
    policies: Mapping[str, KeyPolicy] = field(default_factory=dict)

    def check(self, batch: VerifiedBatch) -> None:
        """Check the signers of a batch and of its transactions.

        Raises:
            InvalidTransactionError: A policy does not permit one of them.
        """
        if not self.policies:
            return
        _check("batch signer", batch.headers[0].batcher_public_key, self._of_role(BATCH_SIGNER))
        others = self._of_role(TRANSACTION_SIGNER)
        for header in batch.headers:
            policy = self._of_family(header) or others
            _check("transaction signer", header.signer_public_key, policy)

    def _of_role(self, name: str) -> KeyPolicy | None:
        """Return the policy of a role, or of the next more general one that is set."""
        named = self.roles.get(name) or self.roles.get(TRANSACTOR) or DEFAULT_POLICY
        return self.policies.get(named)

    def _of_family(self, header: TransactionHeader) -> KeyPolicy | None:
        named = self.roles.get(f"{TRANSACTION_SIGNER}.{header.family_name}")
        return None if named is None else self.policies.get(named)


def permissions_after(state: StateReader) -> Permissions:
    """Return the permissions in a state.

    Raises:
        RejectedError: A value in the namespace is not of family sawtooth_identity.
    """
    return _parse(tuple(state.leaves(address.IDENTITY_NAMESPACE)))


@lru_cache(maxsize=4)  # of successive blocks, which seldom differ in it
def _parse(entries: tuple[tuple[str, bytes], ...]) -> Permissions:
    roles: dict[str, str] = {}
    policies: dict[str, KeyPolicy] = {}
    for place, value in entries:
        try:
            if place.startswith(_POLICIES):
                listed = parse(PolicyList, value).policies
                policies |= {each.name: KeyPolicy.of(each) for each in listed}
            else:
                roles |= {each.name: each.policy_name for each in parse(RoleList, value).roles}
        except RejectedError as error:
            raise RejectedError(f"state at {place}: {error}") from error
    return Permissions(roles, policies)


def _check(what: str, key: str, policy: KeyPolicy | None) -> None:
    if policy is not None and not policy.keys.get(key, policy.others):
        raise InvalidTransactionError(f"{what} {key} is not permitted by policy {policy.name!r}")
