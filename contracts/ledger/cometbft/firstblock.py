"""The first block of a network, known from its file before any validator runs.

An organisation that joins compares it with what the others told: the one that wrote the file could
have chosen other administrators.
"""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from contracts.address import ADMIN_KEYS_SETTING
from contracts.errors import UnavailableError
from contracts.ledger.blocks.chain import Chain
from contracts.ledger.cometbft.founding import BEFORE, begun, founding_of, network_block
from contracts.ledger.cometbft.networkfile import Network, network_time_s
from contracts.ledger.execution.families import Families
from contracts.sawtooth.settings import split_keys
from contracts.validators import setting_in


@dataclass(frozen=True, slots=True)
class FirstBlock:
    """The facts that the first block of a network states.

    Attributes:
        id: Of the block: `genesis_block_id` of a trust file.
        administrators: Public keys.
    """

    id: str
    administrators: list[str]


def beginning_of(network: Network, families: Families) -> FirstBlock | None:
    """Return what the first block of a network says; it is executed in a temporary directory.

    Args:
        network: The network.
        families: The rules.

    Returns:
        None if the network goes on from a ledger, whose first block and administrators stay.

    Raises:
        RejectedError: Its first block is invalid.
        UnavailableError: There is no room for temporary files.
    """
    founding = founding_of(network.genesis.get("app_state"))
    if founding.predecessor is not None:
        return None
    try:
        temporary = TemporaryDirectory()
    except OSError as error:
        raise UnavailableError(f"expected a directory for temporary files: {error}") from error
    with temporary as place, closing(Chain.open(Path(place))) as chain:
        candidate = begun(chain, founding, families, network_time_s(network))
        block, _ = network_block(chain, candidate, BEFORE)
        keys = split_keys(setting_in(candidate.read, ADMIN_KEYS_SETTING))
    return FirstBlock(block.header_signature, keys)
