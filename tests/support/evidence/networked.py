"""Evidence whose blocks a network of validators made, of evidence whose blocks one signer made."""

import hashlib
from itertools import count

from contracts.encoding import canonical, parse
from contracts.proto.evidence_pb2 import BlockHead
from contracts.proto.sawtooth_pb2 import BlockHeader
from contracts.sawtooth.blocks import NETWORK_MARK, NULL_BLOCK_ID
from support.evidence.chain import Evidence, story


def networked(evidence: Evidence | None = None) -> Evidence:
    """Return evidence, of an honest trip if none is given, as a network made it; not sealed yet."""
    evidence = evidence or story([b"video"]).evidence
    evidence.heads = _by_network(evidence.heads)
    evidence.header.genesis_id = evidence.heads[0].header_signature
    return evidence


def _by_network(heads: list[BlockHead]) -> list[BlockHead]:
    made: list[BlockHead] = []
    previous = NULL_BLOCK_ID
    for height, head in zip(count(), heads, strict=False):
        header = parse(BlockHeader, head.header)
        header.signer_public_key = ""
        header.previous_block_id = previous
        header.consensus = NETWORK_MARK + height.to_bytes(8, "big")
        wire = canonical(header)
        previous = hashlib.sha512(wire).hexdigest()
        made.append(BlockHead(header=wire, header_signature=previous))
    return made
