"""A stand-in of a Fabric peer's Gateway: a real gRPC server with TLS, and a ledger of its own.

It checks what a peer, an ordering node and a committing peer check of a client: signatures with the
identity's certificate and a low s, the organisation that issued it, the transaction's id, channel
and chaincode, an id that comes twice, endorsements as they were given, and read versions (MVCC). It
executes the benchmark's chaincode and cuts blocks by number and time. Its words are those of Fabric
3.1.5, as a real peer said them. It is no network: one process endorses, orders and commits.
"""

import hashlib
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import grpc

from contracts.proto import fabric_pb2 as pb
from support.bench.fabric.chaincode import Broken
from support.bench.fabric.committing import Ledger
from support.bench.fabric.members import ECDSA, Organisation, settings_file

CHANNEL = "trucks"
CHAINCODE = "bench"
WINDOW_S = 15 * 60
WORKERS = 300
"""Threads: a request for a status waits in one."""


class Refused(Exception):  # noqa: N818 - what a peer says
    """An error of gRPC, with what the peers said that were asked."""

    def __init__(self, code: grpc.StatusCode, words: str, *details: str) -> None:
        super().__init__(words)
        self.code = code
        self.details = details


class Denied(Exception):  # noqa: N818 - what a peer says
    """A proposal is not that of a member who may make it."""


class Peer:
    """The stand-in.

    Args:
        organisation: Whose members may use the channel.
        ledger: Of the channel.
    """

    def __init__(self, organisation: Organisation, ledger: Ledger) -> None:
        self.organisation = organisation
        self.ledger = ledger
        self.demands_clients = False
        """Whether a client needs a TLS certificate of the organisation."""
        self.asked: list[str] = []
        self.answers: dict[str, Callable[[bytes], bytes]] = {
            "Endorse": self.endorse,
            "Submit": self.submit,
            "CommitStatus": self.commit_status,
            "Evaluate": self.evaluate,
        }
        """A test may put its own in their place."""

    def endorse(self, request: bytes) -> bytes:
        asked = pb.EndorseRequest.FromString(request)
        words = "failed to endorse transaction, see attached details for more info"
        try:
            header, name, arguments = self._proposal(
                asked.proposed_transaction, asked.transaction_id
            )
            if name != CHAINCODE:
                none = f"failed to find any endorsing peers for org(s): {self.organisation.msp_id}"
                raise Refused(grpc.StatusCode.FAILED_PRECONDITION, none)
            result, moved = self.ledger.simulated(arguments)
        except Denied as error:
            raise Refused(grpc.StatusCode.ABORTED, words, str(error)) from error
        except Broken as error:
            said = f"chaincode response 500, {error}"
            raise Refused(grpc.StatusCode.ABORTED, words, said) from error
        proposal = pb.Proposal.FromString(asked.proposed_transaction.proposal_bytes)
        action = pb.ChaincodeAction(
            results=moved,
            response=pb.Response(status=200, payload=result),
            chaincode_id=pb.ChaincodeID(name=name),
        )
        response = pb.ProposalResponsePayload(
            proposal_hash=hashlib.sha256(proposal.header + proposal.payload).digest(),
            extension=action.SerializeToString(),
        ).SerializeToString()
        peer = self.organisation.peer
        endorser = self.organisation.serialised(peer)
        endorsement = pb.Endorsement(
            endorser=endorser, signature=peer.key.sign(response + endorser, ECDSA)
        )
        inner = pb.ChaincodeActionPayload(
            chaincode_proposal_payload=proposal.payload,
            action=pb.ChaincodeEndorsedAction(
                proposal_response_payload=response, endorsements=[endorsement]
            ),
        )
        actions = [
            pb.TransactionAction(header=header.signature_header, payload=inner.SerializeToString())
        ]
        payload = pb.Payload(
            header=header, data=pb.Transaction(actions=actions).SerializeToString()
        ).SerializeToString()
        return pb.EndorseResponse(
            prepared_transaction=pb.Envelope(payload=payload)
        ).SerializeToString()

    def submit(self, request: bytes) -> bytes:
        asked = pb.SubmitRequest.FromString(request)
        envelope = asked.prepared_transaction
        if not envelope.signature:
            words = "prepared transaction must be signed"
            raise Refused(grpc.StatusCode.INVALID_ARGUMENT, words)
        _check_channel(asked.channel_id)
        payload = pb.Payload.FromString(envelope.payload)
        creator = pb.SignatureHeader.FromString(payload.header.signature_header).creator
        if not self.organisation.signed(creator, envelope.payload, envelope.signature):
            words = "received unsuccessful response from orderer: status=FORBIDDEN"
            raise Refused(grpc.StatusCode.ABORTED, words)
        self.ledger.order(asked.transaction_id, envelope)
        return b""

    def commit_status(self, request: bytes) -> bytes:
        signed = pb.SignedCommitStatusRequest.FromString(request)
        asked = pb.CommitStatusRequest.FromString(signed.request)
        _check_channel(asked.channel_id)
        if not self.organisation.signed(asked.identity, signed.request, signed.signature):
            words = f"failed evaluating policy on signed data on channel [{asked.channel_id}]"
            raise Refused(grpc.StatusCode.PERMISSION_DENIED, words)
        found = self.ledger.waited(asked.transaction_id)
        if found is None:
            raise Refused(grpc.StatusCode.UNAVAILABLE, "the peer stops")
        return pb.CommitStatusResponse(
            result=found.code, block_number=found.block
        ).SerializeToString()

    def evaluate(self, request: bytes) -> bytes:
        asked = pb.EvaluateRequest.FromString(request)
        try:
            _, name, arguments = self._proposal(asked.proposed_transaction, asked.transaction_id)
        except Denied as error:
            words = f"evaluate call to endorser returned error: {error}"
            raise Refused(grpc.StatusCode.FAILED_PRECONDITION, words, str(error)) from error
        said: bytes | None = None
        match name, arguments[0]:
            case "qscc", b"GetChainInfo":
                height = len(self.ledger.blocks)
                said = pb.BlockchainInfo(height=height).SerializeToString()
            case "qscc", b"GetBlockByNumber":
                said = self.ledger.block(int(arguments[2]))
            case "cscc", b"GetConfigBlock":
                said = self.ledger.settings()
            case other, _ if other == CHAINCODE:
                said, _ = self.ledger.simulated(arguments)
            case _:
                words = f"no peers available to evaluate chaincode {name} in channel {CHANNEL}"
                raise Refused(grpc.StatusCode.FAILED_PRECONDITION, words)
        if said is None:
            words = "evaluate call to endorser returned error: chaincode response 500"
            raise Refused(grpc.StatusCode.UNKNOWN, words, "Failed to get block number")
        answer = pb.Response(status=200, payload=said)
        return pb.EvaluateResponse(result=answer).SerializeToString()

    def _proposal(
        self, signed: pb.SignedProposal, transaction_id: str
    ) -> tuple[pb.Header, str, list[bytes]]:
        """Check a proposal; return its header, the chaincode's name and the arguments."""
        if not signed.proposal_bytes:
            words = "failed to unpack transaction proposal: a signed proposal is required"
            raise Refused(grpc.StatusCode.INVALID_ARGUMENT, words)
        proposal = pb.Proposal.FromString(signed.proposal_bytes)
        header = pb.Header.FromString(proposal.header)
        channel = pb.ChannelHeader.FromString(header.channel_header)
        signature = pb.SignatureHeader.FromString(header.signature_header)
        _check_channel(channel.channel_id)
        if not self.organisation.signed(signature.creator, signed.proposal_bytes, signed.signature):
            raise Denied(
                f"error validating proposal: access denied: channel [{CHANNEL}] creator org "
                "unknown, creator is malformed"
            )
        if abs(channel.timestamp.seconds - time.time()) > WINDOW_S:
            raise Denied("request unauthorized due to incorrect timestamp")
        digest = hashlib.sha256(signature.nonce + signature.creator).hexdigest()
        spec = pb.ChaincodeInvocationSpec.FromString(
            pb.ChaincodeProposalPayload.FromString(proposal.payload).input
        ).chaincode_spec
        extension = pb.ChaincodeHeaderExtension.FromString(channel.extension)
        if (
            {digest} != {transaction_id, channel.tx_id}
            or channel.type != pb.ENDORSER_TRANSACTION
            or channel.epoch
            or not signature.nonce
            or extension.chaincode_id != spec.chaincode_id
        ):
            raise Denied(f"invalid txid or header of the proposal: {channel!r:.200}")
        if digest in self.ledger.by_id:
            raise Denied(f"duplicate transaction found [{digest}]")
        return header, spec.chaincode_id.name, list(spec.input.args)

    @contextmanager
    def serving(self) -> Iterator[str]:
        """Serve on a free port; return host and port."""
        handlers: dict[str, grpc.RpcMethodHandler[bytes, bytes]] = {
            name: grpc.unary_unary_rpc_method_handler(self._handler(name)) for name in self.answers
        }
        server = grpc.server(ThreadPoolExecutor(WORKERS))
        server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler("gateway.Gateway", handlers),)
        )
        peer, ours = self.organisation.peer, self.organisation.pem
        demands = (ours, True) if self.demands_clients else (None, False)
        tls = grpc.ssl_server_credentials([(peer.key_pem, peer.pem)], *demands)
        port = server.add_secure_port("127.0.0.1:0", tls)
        self.ledger.start()
        server.start()
        try:
            yield f"127.0.0.1:{port}"
        finally:
            self.ledger.end()
            server.stop(None).wait()

    def _handler(self, name: str) -> Callable[[bytes, grpc.ServicerContext], bytes]:
        def handle(request: bytes, context: grpc.ServicerContext) -> bytes:
            self.asked.append(name)
            try:
                return self.answers[name](request)
            except Refused as error:
                self._end(context, error)

        return handle

    def _end(self, context: grpc.ServicerContext, error: Refused) -> NoReturn:
        status = pb.RpcStatus(message=str(error))
        for said in error.details:
            detail = pb.ErrorDetail(
                address="peer0:7051", msp_id=self.organisation.msp_id, message=said
            )
            status.details.add(
                type_url="type.googleapis.com/gateway.ErrorDetail", value=detail.SerializeToString()
            )
        if error.details:
            binary = status.SerializeToString()
            context.set_trailing_metadata((("grpc-status-details-bin", binary),))
        context.abort(error.code, str(error))


def _check_channel(name: str) -> None:
    if name != CHANNEL:
        words = f"failed to get config for channel [{name}]: could not get last config for channel"
        raise Refused(grpc.StatusCode.UNAVAILABLE, f"{words} {name}")


@contextmanager
def a_network(
    folder: Path,
    per_block: int = 10,
    timeout_s: float = 0.05,
    ordering: tuple[str, int] = ("etcdraft", 3),
) -> Iterator[tuple[Peer, Path]]:
    """Serve a peer; return it with a settings file of one of its organisation's members."""
    organisation = Organisation("Org1MSP")
    peer = Peer(organisation, Ledger(organisation, per_block, timeout_s, ordering))
    with peer.serving() as target:
        yield peer, settings_file(folder, target, organisation, organisation.member("bench"))
