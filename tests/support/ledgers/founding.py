"""Genesis batches of networks whose blocks hold what clients submit, and nothing else."""

from collections.abc import Sequence

from contracts.address import ADMIN_KEYS_SETTING
from contracts.keys import Signer
from contracts.proto.sawtooth_pb2 import Batch
from contracts.sawtooth.batches import build_batch
from contracts.sawtooth.settings import AUTHORIZED_KEYS, propose


def untimed_genesis(signer: Signer, admins: Sequence[str]) -> Batch:
    """Return a batch that founds a network as `wayseal-node` does, without block times.

    A Sawtooth network needs a processor of family block_info for them.
    """
    keys = ",".join(admins)
    return build_batch(
        signer,
        [
            propose(signer, AUTHORIZED_KEYS, signer.public_key),
            propose(signer, "sawtooth.consensus.algorithm.name", "Devmode"),
            propose(signer, "sawtooth.consensus.algorithm.version", "0.1"),
            propose(signer, ADMIN_KEYS_SETTING, keys),
            propose(signer, AUTHORIZED_KEYS, keys),
        ],
    )
