"""On-chain settings: their names, and how one is proposed.

Source: Sawtooth 1.2, Settings transaction family specification.
"""

import os
from typing import Final

from contracts import address
from contracts.keys import Signer
from contracts.proto.sawtooth_pb2 import SettingProposal, SettingsPayload, Transaction
from contracts.sawtooth.transactions import Family, build_transaction

FAMILY: Final = Family("sawtooth_settings", "1.0")
AUTHORIZED_KEYS: Final = "sawtooth.settings.vote.authorized_keys"
APPROVAL_THRESHOLD: Final = "sawtooth.settings.vote.approval_threshold"
PROPOSALS: Final = "sawtooth.settings.vote.proposals"
MAX_BATCHES_PER_BLOCK: Final = "sawtooth.publisher.max_batches_per_block"
TRANSACTION_FAMILIES: Final = "sawtooth.validator.transaction_families"


def propose(signer: Signer, name: str, value: str) -> Transaction:
    """Return a transaction that proposes a setting, as `sawset proposal create` makes it."""
    proposal = SettingProposal(setting=name, value=value, nonce=os.urandom(8).hex())
    payload = SettingsPayload(
        action=SettingsPayload.PROPOSE, data=proposal.SerializeToString(deterministic=True)
    )
    ballot = [address.setting(PROPOSALS), address.setting(AUTHORIZED_KEYS)]
    return build_transaction(
        signer,
        FAMILY,
        payload.SerializeToString(deterministic=True),
        batcher_public_key=signer.public_key,
        inputs=[*ballot, address.setting(APPROVAL_THRESHOLD), address.setting(name)],
        outputs=[address.setting(PROPOSALS), address.setting(name)],
    )
