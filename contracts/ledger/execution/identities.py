"""The on-chain identities: family `sawtooth_identity` 1.0.

Keys listed in `sawtooth.identity.allowed_keys` set policies, and roles that
name a policy. `permissions.py` says how the ledger uses them.

Source: Sawtooth 1.2.6, Identity transaction family; messages as its processor's.
"""

from typing import TypeVar

from google.protobuf.message import DecodeError, Message

from contracts import address
from contracts.encoding import canonical
from contracts.ledger.execution.settings import get_setting
from contracts.proto.identity_pb2 import IdentityPayload, Policy, PolicyList, Role, RoleList
from contracts.proto.sawtooth_pb2 import TransactionHeader
from contracts.rules.context import Context, InvalidTransactionError
from contracts.sawtooth.identity import ALLOWED_KEYS

_ParsedT = TypeVar("_ParsedT", bound=Message)


def apply(header: TransactionHeader, payload: bytes, _: str, context: Context) -> None:
    """Set one policy or role.

    Raises:
        InvalidTransactionError: The signer is not authorized, or the payload is invalid.
    """
    signer = header.signer_public_key
    if signer not in (get_setting(context, ALLOWED_KEYS) or "").split(","):
        raise InvalidTransactionError(
            f'The transaction signer is not authorized to submit transactions: "{signer}"'
        )
    wanted = _parse(IdentityPayload, payload)
    if wanted.type == IdentityPayload.POLICY:
        _set_policy(context, _parse(Policy, wanted.data))
    elif wanted.type == IdentityPayload.ROLE:
        _set_role(context, _parse(Role, wanted.data))
    else:
        raise InvalidTransactionError("The IdentityType must be either a ROLE or a POLICY")


def _set_policy(context: Context, policy: Policy) -> None:
    if not policy.entries:
        raise InvalidTransactionError("At least one entry must be in a policy.")
    if not policy.name:
        raise InvalidTransactionError("The name must be set in a policy.")
    if not all(entry.key for entry in policy.entries):
        raise InvalidTransactionError("Every policy entry must have a key.")
    place = address.policy(policy.name)
    others = [each for each in _policies(context, place) if each.name != policy.name]
    listed = sorted([*others, policy], key=lambda each: each.name)
    _put(context, place, PolicyList(policies=listed), policy.name)


def _set_role(context: Context, role: Role) -> None:
    if not role.policy_name:
        raise InvalidTransactionError("A role must contain a policy name.")
    if not role.name:
        raise InvalidTransactionError("The name must be set in a role.")
    policies = _policies(context, address.policy(role.policy_name))
    if all(policy.name != role.policy_name for policy in policies):
        raise InvalidTransactionError(
            f"Cannot set Role: {role.name}, the Policy: {role.policy_name} is not set."
        )
    place = address.role(role.name)
    wire = context.get(place)
    before = [] if wire is None else _parse(RoleList, wire).roles
    others = [each for each in before if each.name != role.name]
    listed = sorted([*others, role], key=lambda each: each.name)
    _put(context, place, RoleList(roles=listed), role.name)


def _policies(context: Context, place: str) -> list[Policy]:
    wire = context.get(place)
    return [] if wire is None else list(_parse(PolicyList, wire).policies)


def _put(context: Context, place: str, value: Message, name: str) -> None:
    context.set(place, canonical(value))
    context.add_event("identity/update", {"updated": name})


def _parse(kind: type[_ParsedT], wire: bytes) -> _ParsedT:
    try:
        return kind.FromString(wire)
    except DecodeError as error:
        raise InvalidTransactionError(
            f"Failed to unmarshal IdentityTransaction: {len(wire)} bytes that are not a valid "
            f"{kind.__name__}"
        ) from error
