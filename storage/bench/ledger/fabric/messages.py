"""Messages to Fabric's Gateway: to endorse, to submit and to follow a transaction.

Source: Hyperledger Fabric, "Transaction flow" and its fabric-protos.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from contracts.errors import RejectedError
from contracts.proto.fabric_pb2 import (
    ENDORSER_TRANSACTION,
    ChaincodeHeaderExtension,
    ChaincodeID,
    ChaincodeInput,
    ChaincodeInvocationSpec,
    ChaincodeProposalPayload,
    ChaincodeSpec,
    ChannelHeader,
    CommitStatusRequest,
    EndorseRequest,
    EndorseResponse,
    Envelope,
    EvaluateRequest,
    Header,
    Payload,
    Proposal,
    SignatureHeader,
    SignedCommitStatusRequest,
    SignedProposal,
    SubmitRequest,
)
from storage.bench.ledger.fabric.identity import FabricIdentity, transaction_id

NONCE_BYTES: Final = 24
"""Source: Hyperledger Fabric, protoutil: as its own clients draw it."""
ID_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class Proposed:
    """One proposal that is signed.

    Attributes:
        digest: The transaction's id, 32 octets.
        channel: Of the transaction.
        signed: The proposal with its signature.
    """

    digest: bytes
    channel: str
    signed: SignedProposal

    @property
    def to_endorse(self) -> bytes:
        """Return the request to endorse it."""
        return EndorseRequest(
            transaction_id=self.digest.hex(),
            channel_id=self.channel,
            proposed_transaction=self.signed,
        ).SerializeToString()

    @property
    def to_evaluate(self) -> bytes:
        """Return the request to evaluate it: nothing is ordered."""
        return EvaluateRequest(
            transaction_id=self.digest.hex(),
            channel_id=self.channel,
            proposed_transaction=self.signed,
        ).SerializeToString()


def propose(
    identity: FabricIdentity,
    channel: str,
    chaincode: str,
    arguments: Sequence[bytes],
    *,
    nonce: bytes,
    made_s: int,
) -> Proposed:
    """Return a signed proposal.

    Args:
        identity: Of the client.
        channel: Its name.
        chaincode: Its name.
        arguments: Name of the function, and its arguments.
        nonce: NONCE_BYTES octets that the identity uses once.
        made_s: When it was made, seconds since 1970.
    """
    creator = identity.creator
    digest = transaction_id(nonce, creator)
    name = ChaincodeID(name=chaincode)
    channel_header = ChannelHeader(
        type=ENDORSER_TRANSACTION,
        channel_id=channel,
        tx_id=digest.hex(),
        extension=ChaincodeHeaderExtension(chaincode_id=name).SerializeToString(),
    )
    channel_header.timestamp.seconds = made_s
    header = Header(
        channel_header=channel_header.SerializeToString(),
        signature_header=SignatureHeader(creator=creator, nonce=nonce).SerializeToString(),
    )
    spec = ChaincodeSpec(chaincode_id=name, input=ChaincodeInput(args=arguments))
    payload = ChaincodeProposalPayload(
        input=ChaincodeInvocationSpec(chaincode_spec=spec).SerializeToString()
    )
    proposal = Proposal(
        header=header.SerializeToString(), payload=payload.SerializeToString()
    ).SerializeToString()
    signed = SignedProposal(proposal_bytes=proposal, signature=identity.sign(proposal))
    return Proposed(digest, channel, signed)


def to_submit(identity: FabricIdentity, request: bytes, answer: bytes) -> bytes:
    """Return the request to submit an endorsed transaction, signed.

    Args:
        identity: Of the client.
        request: The request to endorse it.
        answer: The peer's answer.

    Raises:
        RejectedError: The answer is not about this request: it is not signed.
    """
    asked = EndorseRequest.FromString(request)
    proposal = Proposal.FromString(asked.proposed_transaction.proposal_bytes)
    envelope = EndorseResponse.FromString(answer).prepared_transaction
    got = Payload.FromString(envelope.payload).header
    if got != Header.FromString(proposal.header):
        found = ChannelHeader.FromString(got.channel_header).tx_id or "none"
        raise RejectedError(
            f"expected transaction {asked.transaction_id} endorsed, got another one ({found})"
        )
    # The octets that came go on as they are: endorsements sign them.
    signed = Envelope(payload=envelope.payload, signature=identity.sign(envelope.payload))
    return SubmitRequest(
        transaction_id=asked.transaction_id,
        channel_id=asked.channel_id,
        prepared_transaction=signed,
    ).SerializeToString()


def to_follow(identity: FabricIdentity, digest: bytes, channel: str) -> bytes:
    """Return the signed request for the status of a transaction."""
    request = CommitStatusRequest(
        transaction_id=digest.hex(), channel_id=channel, identity=identity.creator
    ).SerializeToString()
    return SignedCommitStatusRequest(
        request=request, signature=identity.sign(request)
    ).SerializeToString()
