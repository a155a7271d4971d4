"""Changes of the validators by a height, in the form in which the engine takes them."""

from collections.abc import Callable, Mapping
from typing import Final

from contracts import address, validators
from contracts.proto.abci_pb2 import ValidatorUpdate
from contracts.proto.cometbft_pb2 import PublicKey

_PLACE: Final = address.setting(validators.SETTING)


def validator_updates(
    before: Callable[[str], bytes | None], changes: Mapping[str, bytes | None]
) -> list[ValidatorUpdate]:
    """Return the validators whose power a height changes; a power of 0 takes one away.

    Args:
        before: Returns the value at an address before the height.
        changes: Values by address that the height writes; None deletes.
    """
    if _PLACE not in changes:
        return []
    was = validators.validators_in(before) or {}
    now = validators.validators_in(changes.get) or {}
    gone = dict.fromkeys(was.keys() - now.keys(), 0)
    new = {key: power for key, power in now.items() if was.get(key) != power}
    return [
        ValidatorUpdate(pub_key=PublicKey(secp256k1=bytes.fromhex(key)), power=power)
        for key, power in sorted((gone | new).items())
    ]
