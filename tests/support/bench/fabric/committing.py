"""The ledger of the stand-in of a Fabric peer: orders, validates, commits, and shows its blocks."""

import hashlib
import json
import threading
import time
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature

from contracts.proto import fabric_pb2 as pb
from support.bench.fabric.chaincode import Simulation, Version, invoke
from support.bench.fabric.members import ECDSA, Organisation


@dataclass(frozen=True)
class Committed:
    """A transaction in a block."""

    envelope: bytes
    code: pb.TxValidationCode
    block: int


class Ledger:
    """Blocks, and the state that they lead to.

    Args:
        organisation: Whose members may use it, and whose peer endorses.
        per_block: Transactions of a block, at most.
        timeout_s: After which a block that is not full is cut.
        ordering: Kind and number of the ordering nodes that it names.
    """

    def __init__(
        self,
        organisation: Organisation,
        per_block: int,
        timeout_s: float,
        ordering: tuple[str, int],
    ) -> None:
        self.per_block = per_block
        self.blocks: list[list[Committed]] = [[]]
        self.by_id: dict[str, Committed] = {}
        self._organisation = organisation
        self._timeout_s = timeout_s
        self.ordering = ordering
        self._state: dict[str, tuple[bytes, Version]] = {}
        self._pending: list[tuple[str, pb.Envelope]] = []
        self._changed = threading.Condition()
        self._ended = False
        self._orderer = threading.Thread(target=self._order)

    def start(self) -> None:
        self._orderer.start()

    def end(self) -> None:
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        self._orderer.join()

    def simulated(self, arguments: list[bytes]) -> tuple[bytes, bytes]:
        """Carry out a call without writing; return its result, and what it read and would write."""
        with self._changed:
            simulation = Simulation(self._state)
            result = invoke(simulation, arguments)
        written = {key: value.hex() for key, value in simulation.written.items()}
        return result, json.dumps({"read": simulation.read, "written": written}).encode()

    def order(self, transaction_id: str, envelope: pb.Envelope) -> None:
        with self._changed:
            self._pending.append((transaction_id, envelope))
            self._changed.notify_all()

    def waited(self, transaction_id: str) -> Committed | None:
        """Return a transaction once it is in a block; None if the ledger ends before."""
        with self._changed:
            while not self._ended and transaction_id not in self.by_id:
                self._changed.wait(1.0)
            return self.by_id.get(transaction_id)

    def block(self, number: int) -> bytes | None:
        """Return a block; None if no block has that number."""
        with self._changed:
            if number >= len(self.blocks):
                return None
            block = self.blocks[number]
        return pb.Block(
            header=pb.BlockHeader(number=number),
            data=pb.BlockData(data=[each.envelope for each in block]),
            metadata=pb.BlockMetadata(metadata=[b"", b"", bytes(each.code for each in block)]),
        ).SerializeToString()

    def settings(self) -> bytes:
        """Return the block with the channel's settings."""
        kind, count = self.ordering
        metadata = b""
        if kind == "etcdraft":
            consenters = [pb.Consenter(host=f"orderer{number}") for number in range(count)]
            metadata = pb.RaftMetadata(consenters=consenters).SerializeToString()
        nodes = [pb.BftConsenter(id=number) for number in range(count)]
        values = {
            "ConsensusType": pb.ConsensusType(type=kind, metadata=metadata),
            "BatchSize": pb.BatchSize(max_message_count=self.per_block),
            "BatchTimeout": pb.BatchTimeout(timeout=f"{self._timeout_s * 1_000:.0f}ms"),
            "Orderers": pb.Orderers(consenter_mapping=nodes),
        }
        found = pb.ConfigEnvelope()
        orderer = found.config.channel_group.groups["Orderer"]
        for name, value in values.items():
            orderer.values[name].value = value.SerializeToString()
        payload = pb.Payload(data=found.SerializeToString()).SerializeToString()
        envelope = pb.Envelope(payload=payload).SerializeToString()
        return pb.Block(data=pb.BlockData(data=[envelope])).SerializeToString()

    def _order(self) -> None:
        """Cut blocks until the end."""
        with self._changed:
            while not self._ended:
                if not self._pending:
                    self._changed.wait(1.0)
                    continue
                end_s = time.monotonic() + self._timeout_s
                while len(self._pending) < self.per_block and not self._ended:
                    left_s = end_s - time.monotonic()
                    if left_s <= 0:
                        break
                    self._changed.wait(left_s)
                some = self._pending[: self.per_block]
                del self._pending[: self.per_block]
                self._commit(some)
                self._changed.notify_all()

    def _commit(self, some: list[tuple[str, pb.Envelope]]) -> None:
        number, block = len(self.blocks), []
        for at, (transaction_id, envelope) in enumerate(some):
            code = self._validated(transaction_id, envelope, (number, at))
            made = Committed(envelope.SerializeToString(), code, number)
            self.by_id.setdefault(transaction_id, made)
            block.append(made)
        self.blocks.append(block)

    def _validated(
        self, transaction_id: str, envelope: pb.Envelope, version: Version
    ) -> pb.TxValidationCode:
        """Return the validation code of a transaction; write what it writes if it is valid."""
        payload = pb.Payload.FromString(envelope.payload)
        channel = pb.ChannelHeader.FromString(payload.header.channel_header)
        signature = pb.SignatureHeader.FromString(payload.header.signature_header)
        digest = hashlib.sha256(signature.nonce + signature.creator).hexdigest()
        (action,) = pb.Transaction.FromString(payload.data).actions
        endorsed = pb.ChaincodeActionPayload.FromString(action.payload).action
        said = endorsed.proposal_response_payload
        if not self._organisation.signed(signature.creator, envelope.payload, envelope.signature):
            return pb.BAD_CREATOR_SIGNATURE
        if {digest} != {transaction_id, channel.tx_id}:
            return pb.BAD_PROPOSAL_TXID
        if transaction_id in self.by_id:
            return pb.DUPLICATE_TXID
        if not any(self._endorses(said, each) for each in endorsed.endorsements):
            return pb.ENDORSEMENT_POLICY_FAILURE
        extension = pb.ProposalResponsePayload.FromString(said).extension
        moved = json.loads(pb.ChaincodeAction.FromString(extension).results)
        for key, read in moved["read"].items():
            found = self._state.get(key)
            if (None if found is None else list(found[1])) != read:
                return pb.MVCC_READ_CONFLICT
        for key, value in moved["written"].items():
            self._state[key] = bytes.fromhex(value), version
        return pb.VALID

    def _endorses(self, said: bytes, endorsement: pb.Endorsement) -> bool:
        """Say whether the peer endorsed exactly this."""
        public = self._organisation.peer.key.public_key()
        try:
            public.verify(endorsement.signature, said + endorsement.endorser, ECDSA)
        except InvalidSignature:
            return False
        return True
