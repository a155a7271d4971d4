"""A Fabric channel, as the peer's own chaincodes tell: its blocks and its ordering nodes."""

from dataclasses import dataclass
from typing import Final, Self

from google.protobuf.message import DecodeError

from contracts.errors import RejectedError
from contracts.proto.fabric_pb2 import (
    TRANSACTIONS_FILTER,
    BatchSize,
    BatchTimeout,
    Block,
    BlockchainInfo,
    ChannelHeader,
    ConfigEnvelope,
    ConsensusType,
    Envelope,
    Orderers,
    Payload,
    RaftMetadata,
)
from storage.bench.ledger.fabric.gateway import Gateway

ABOUT: Final = b"wayseal_bench 1"
"""The answer of our chaincode."""
RAFT: Final = "etcdraft"
BFT: Final = "BFT"


@dataclass(frozen=True, slots=True)
class Ordering:
    """The ordering service of a channel.

    Attributes:
        kind: As the channel's settings have it: RAFT, BFT, or an older one.
        nodes: Number of the ordering nodes that agree; 0 if it is not known.
        per_block: Transactions of a block, at most.
        timeout: After which a block that is not full is cut, as in `2s`.
    """

    kind: str
    nodes: int
    per_block: int
    timeout: str

    @classmethod
    def of_block(cls, block: bytes) -> Self:
        """Read the block with the channel's settings.

        Raises:
            RejectedError: It is no such block.
        """
        try:
            envelope = Envelope.FromString(Block.FromString(block).data.data[0])
            settings = ConfigEnvelope.FromString(Payload.FromString(envelope.payload).data)
            values = settings.config.channel_group.groups["Orderer"].values
            kind = ConsensusType.FromString(values["ConsensusType"].value)
            size = BatchSize.FromString(values["BatchSize"].value)
            timeout = BatchTimeout.FromString(values["BatchTimeout"].value).timeout
            nodes = 0
            if kind.type == RAFT:
                nodes = len(RaftMetadata.FromString(kind.metadata).consenters)
            elif kind.type == BFT:
                nodes = len(Orderers.FromString(values["Orderers"].value).consenter_mapping)
        except (DecodeError, IndexError) as error:
            raise RejectedError(
                f"expected a block with the channel's settings, got {len(block)} octets"
            ) from error
        return cls(kind.type, nodes, size.max_message_count, timeout)


async def ordering_of(gateway: Gateway) -> Ordering:
    """Ask a peer for the ordering service of the channel.

    Raises:
        RejectedError: The peer does not tell.
        UnavailableError: The peer does not answer.
    """
    channel = gateway.place.channel.encode()
    return Ordering.of_block(await gateway.evaluate([b"GetConfigBlock", channel], "cscc"))


async def check_chaincode(gateway: Gateway) -> None:
    """Check that our chaincode is committed under its name.

    Raises:
        RejectedError: It is not, or another one is, or the identity may not ask it.
        UnavailableError: The peer does not answer.
    """
    place = gateway.place
    wanted = (
        f"{place.target}: expected the benchmark's chaincode ({ABOUT.decode()}) as "
        f"{place.chaincode!r} in channel {place.channel!r} to answer a member of "
        f"{place.identity.msp_id}, got"
    )
    try:
        found = await gateway.evaluate([b"about"])
    except RejectedError as error:
        raise RejectedError(f"{wanted}: {error}") from error
    if found != ABOUT:
        raise RejectedError(f"{wanted} {found[:80]!r}")


async def head_of(gateway: Gateway) -> int:
    """Return the number of the newest block that the peer has; errors as `ordering_of`."""
    channel = gateway.place.channel
    wire = await gateway.evaluate([b"GetChainInfo", channel.encode()], "qscc")
    try:
        return BlockchainInfo.FromString(wire).height - 1
    except DecodeError as error:
        raise RejectedError(
            f"expected the height of channel {channel!r}, got {len(wire)} other octets"
        ) from error


async def codes_of(gateway: Gateway, number: int) -> dict[str, int]:
    """Return the validation codes of the transactions in a block, by their ids.

    An id that comes twice keeps the code of its first transaction: the second is a duplicate.

    Raises:
        RejectedError: The peer has no such block, or it is malformed.
        UnavailableError: The peer does not answer.
    """
    channel = gateway.place.channel.encode()
    wire = await gateway.evaluate([b"GetBlockByNumber", channel, str(number).encode()], "qscc")
    found: dict[str, int] = {}
    try:
        block = Block.FromString(wire)
        codes = block.metadata.metadata[TRANSACTIONS_FILTER]
        for code, envelope in zip(codes, block.data.data, strict=True):
            payload = Payload.FromString(Envelope.FromString(envelope).payload)
            header = ChannelHeader.FromString(payload.header.channel_header)
            found.setdefault(header.tx_id, code)
    except (DecodeError, IndexError, ValueError) as error:
        raise RejectedError(f"expected block {number}, got {len(wire)} other octets") from error
    return found
