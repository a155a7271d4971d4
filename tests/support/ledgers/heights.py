"""Heights of an application without CometBFT: the calls that the engine makes, one by one."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from google.protobuf.timestamp_pb2 import Timestamp

from contracts.encoding import canonical
from contracts.keys import Signer
from contracts.ledger.blocks.chain import Chain
from contracts.ledger.cometbft.application import Application
from contracts.ledger.cometbft.decisions import Decision
from contracts.ledger.cometbft.executing import Executing
from contracts.ledger.cometbft.founding import Founding
from contracts.ledger.cometbft.home import genesis
from contracts.ledger.execution.families import Families
from contracts.ledger.execution.jobs import NoProcessors
from contracts.proto.abci_pb2 import (
    RequestCheckTx,
    RequestFinalizeBlock,
    RequestInitChain,
    RequestPrepareProposal,
    RequestProcessProposal,
    ResponseFinalizeBlock,
    ResponseProcessProposal,
    ValidatorUpdate,
)
from contracts.proto.cometbft_pb2 import PublicKey
from contracts.proto.sawtooth_pb2 import Batch
from contracts.sawtooth.batches import build_batch
from contracts.sawtooth.settings import CHAIN_ID, propose
from contracts.validators import SETTING, encode
from support.ledgers.founding import untimed_genesis
from support.ledgers.intkey_node import FAMILIES

CHAIN = "test"
FOUNDER = Signer.from_hex("11" * 32)
VALIDATOR = Signer.from_hex("22" * 32)
POWERS = {VALIDATOR.public_key: 1}
ACCEPT = ResponseProcessProposal.ACCEPT


def named(powers: dict[str, int], chain_id: str = CHAIN) -> Batch:
    """Return a batch that names the validators of a new network."""
    return build_batch(
        FOUNDER,
        [propose(FOUNDER, SETTING, encode(powers)), propose(FOUNDER, CHAIN_ID, chain_id)],
    )


def first_batches() -> list[Batch]:
    """Return the genesis batches of a network without block times."""
    return [
        untimed_genesis(FOUNDER, [FOUNDER.public_key]),
        named({VALIDATOR.public_key: 1}),
    ]


@dataclass
class Heights:
    """An application and where its engine is.

    Attributes:
        application: Answers.
        chain: Its chain.
        decisions: What the newest height decided.
        height: The newest height.
        time_s: Its time.
    """

    application: Application
    chain: Chain
    decisions: list[Decision] = field(default_factory=list)
    height: int = 0
    time_s: int = 1_800_000_000

    def begin(self, batches: Sequence[Batch], powers: dict[str, int]) -> bytes:
        """Found the chain; return the application's hash."""
        return self.begin_as(Founding(batches), powers)

    def begin_as(self, founding: Founding, powers: dict[str, int]) -> bytes:
        """Begin as the engine's genesis file says; return the application's hash."""
        document = genesis(CHAIN, powers, founding, at="")
        request = RequestInitChain(
            time=self._time(),
            chain_id=CHAIN,
            app_state_bytes=json.dumps(document["app_state"]).encode(),
            validators=[
                ValidatorUpdate(pub_key=PublicKey(secp256k1=bytes.fromhex(key)), power=power)
                for key, power in powers.items()
            ],
        )
        return self.application.init_chain(request).app_hash

    def check(self, tx: bytes) -> int:
        return self.application.check_tx(RequestCheckTx(tx=tx)).code

    def propose(self, txs: Sequence[bytes], bytes_max: int = 1 << 24) -> list[bytes]:
        request = RequestPrepareProposal(
            max_tx_bytes=bytes_max, txs=txs, height=self.height + 1, time=self._time()
        )
        return list(self.application.prepare_proposal(request).txs)

    def accepts(self, txs: Sequence[bytes]) -> bool:
        request = RequestProcessProposal(txs=txs, height=self.height + 1, time=self._time())
        return self.application.process_proposal(request).status == ACCEPT

    def decide(self, txs: Sequence[bytes]) -> ResponseFinalizeBlock:
        """Execute a height and commit it."""
        answer = self.execute(txs)
        self.application.commit(None)
        self.height += 1
        self.time_s += 1
        return answer

    def execute(self, txs: Sequence[bytes]) -> ResponseFinalizeBlock:
        request = RequestFinalizeBlock(txs=txs, height=self.height + 1, time=self._time())
        return self.application.finalize_block(request)

    def _time(self) -> Timestamp:
        return Timestamp(seconds=self.time_s)


@contextmanager
def heights(directory: Path, families: Families = FAMILIES) -> Iterator[Heights]:
    """Open an application on the chain in a directory."""
    chain = Chain.open(directory)
    decisions: list[Decision] = []

    def decided(found: Sequence[Decision]) -> None:
        decisions[:] = found

    stopping = threading.Event()
    executing = Executing(families, NoProcessors(), stopping)
    application = Application(chain, FOUNDER, families, executing, decided, stopping)
    try:
        yield Heights(application, chain, decisions)
    finally:
        chain.close()


@contextmanager
def founded(directory: Path) -> Iterator[Heights]:
    """Yield the heights of a network that has its first block."""
    with heights(directory) as made:
        made.begin(first_batches(), POWERS)
        yield made


def tx(batch: Batch) -> bytes:
    """Return a batch as the engine carries it."""
    return canonical(batch)
