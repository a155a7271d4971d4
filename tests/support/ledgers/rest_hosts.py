"""Ledgers that host the rules in processes of their own: the node, or a processor beside it."""

import json
import signal
import subprocess
import sys
import uuid
from base64 import b64decode
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final, Self

import httpx

from contracts import address
from contracts.actions.payload import FAMILIES
from contracts.encoding import canonical, parse
from contracts.errors import RejectedError
from contracts.keys import Signer
from contracts.proto.sawtooth_pb2 import Batch, BatchHeader, BatchList, Event, Transaction
from contracts.runtime.clienttls import usual_trust
from contracts.runtime.ports import free_port
from contracts.runtime.processes import tied
from contracts.sawtooth.batches import build_batch, parse_header
from support.ledgers.cometbft import ENGINE, lay_out
from support.ledgers.founding import untimed_genesis
from support.ledgers.nodes import OCTETS, WAIT_S
from support.ledgers.processors import wayseal_processor
from support.machine.waiting import wait_until
from support.network.world import KEYS, key

SCRIPT: Final = Path(__file__).with_name("rules_node.py")
STDERR: Final = "node.stderr"


class RestHost:
    """A host of the rules behind Sawtooth's REST API; see `support.ledgers.hosts.Host`."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client
        self._seen: set[str] = set()

    @property
    def url(self) -> str:
        """Return where the ledger's REST API is."""
        return str(self._client.base_url)

    @classmethod
    @contextmanager
    def at(cls, rest: str) -> Iterator[Self]:
        """Talk to the ledger at a URL."""
        with httpx.Client(base_url=rest, timeout=WAIT_S + 10, verify=usual_trust(rest)) as client:
            yield cls(client)

    def apply(self, batch: Batch) -> list[Event]:
        return self.apply_all([batch])

    def apply_all(self, batches: Sequence[Batch]) -> list[Event]:
        if not batches:
            return []
        fresh = [self._fresh(batch) for batch in batches]
        body = BatchList(batches=fresh).SerializeToString()
        taken = self._client.post("/batches", content=body, headers=OCTETS)
        if taken.status_code != 202:
            raise RejectedError(taken.json()["error"]["message"])
        for entry in self._outcomes([batch.header_signature for batch in fresh]):
            if entry["status"] == "INVALID":
                raise RejectedError(entry["invalid_transactions"][0]["message"])
        names = [each.header_signature for batch in fresh for each in batch.transactions]
        receipts = self._client.post("/receipts", json=names).json()["data"]
        return [_event(event) for receipt in receipts for event in receipt["events"]]

    def _outcomes(self, ids: list[str]) -> list[dict[str, Any]]:
        """Return the outcomes of batches; Sawtooth may not know one for a moment."""
        found: list[dict[str, Any]] = []

        def settled() -> bool:
            found[:] = self._client.post(f"/batch_statuses?wait={WAIT_S}", json=ids).json()["data"]
            return {entry["status"] for entry in found} <= {"COMMITTED", "INVALID"}

        wait_until(settled)
        return found

    def _fresh(self, batch: Batch) -> Batch:
        """Return `batch`, or when it was here before the same in other transactions.

        To a ledger, the very same is no second attempt but the first one told again.
        """
        if batch.header_signature not in self._seen:
            self._seen.add(batch.header_signature)
            return batch
        signer = KEYS[parse(BatchHeader, batch.header).signer_public_key]
        return build_batch(signer, [_again(each, signer) for each in batch.transactions])

    def state(self, place: str) -> bytes | None:
        answer = self._client.get(f"/state/{place}")
        return b64decode(answer.json()["data"]) if answer.status_code == 200 else None

    def dump(self) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        path = f"/state?address={address.NAMESPACE}&limit=1000"
        while path:
            page = self._client.get(path).json()
            found |= {entry["address"]: b64decode(entry["data"]) for entry in page["data"]}
            path = page["paging"].get("next", "")
        return found


def _again(transaction: Transaction, signer: Signer) -> Transaction:
    header = parse_header(transaction)
    header.nonce = uuid.uuid4().hex
    wire = canonical(header)
    return Transaction(header=wire, header_signature=signer.sign(wire), payload=transaction.payload)


def _event(view: dict[str, object]) -> Event:
    attributes = view["attributes"]
    assert isinstance(attributes, list)
    pairs = [Event.Attribute(key=each["key"], value=each["value"]) for each in attributes]
    return Event(
        event_type=str(view["event_type"]), attributes=pairs, data=b64decode(str(view["data"]))
    )


class Ledgers:
    """Makes fresh ledgers one by one, in one running process.

    Attributes:
        component: The component port of all of them; empty without one.
    """

    def __init__(
        self,
        process: subprocess.Popen[str],
        directory: Path,
        options: list[str],
        component: str,
        *,
        by_network: bool = False,
    ) -> None:
        self.component = component
        self._by_network = by_network
        self._process = process
        self._directory = directory
        self._options = options
        self._count = 0

    def _has_processors(self) -> bool:
        """Say whether the processor has come to this ledger with each version of the family.

        Of two batches the first one waits for its version, and the second one does not: it would
        be executed before, and refused.
        """
        said = (self._directory / STDERR).read_text("utf-8")
        return said.count("registered a processor for") >= self._count * len(FAMILIES)

    @contextmanager
    def fresh(self) -> Iterator[RestHost]:
        """Run a ledger on which the key `admin` registers parties."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._count += 1
        data = self._directory / str(self._count)
        if self._by_network:
            founder = key("founder")
            first = [untimed_genesis(founder, [key("admin").public_key, founder.public_key])]
            (data,) = lay_out(data, 1, first, founder)
        arguments = ["--data", str(data), "--rest", "127.0.0.1:0", *self._options]
        self._process.stdin.write(json.dumps(arguments) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line.startswith("ready rest="), line + (self._directory / STDERR).read_text()[-2000:]
        rest = line.split()[1].removeprefix("rest=")
        if self.component:
            wait_until(self._has_processors)
        try:
            with RestHost.at(rest) as ledger:
                yield ledger
        finally:
            self._process.send_signal(signal.SIGTERM)
            assert self._process.stdout.readline() == "ended 0\n"


@contextmanager
def ledgers(directory: Path, *, elsewhere: bool, by_network: bool = False) -> Iterator[Ledgers]:
    """Run a process that makes ledgers.

    Args:
        directory: Gets their data.
        elsewhere: Whether the rules are in `wayseal-tp` beside it.
        by_network: Whether CometBFT makes the blocks.
    """
    command = [sys.executable, str(SCRIPT), *(["--elsewhere"] if elsewhere else [])]
    # Tests drive at times of their own, so that blocks must have none.
    first = BatchList(batches=[untimed_genesis(key("founder"), [key("admin").public_key])])
    genesis = directory / "genesis.batch"
    genesis.write_bytes(first.SerializeToString())
    options = [*ENGINE] if by_network else ["--genesis", str(genesis)]
    component = ""
    with ExitStack() as stack:
        stderr = stack.enter_context((directory / STDERR).open("ab"))
        process = stack.enter_context(
            subprocess.Popen(  # noqa: S603 - our own script
                tied(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
            )
        )
        stack.callback(process.kill)
        if elsewhere:
            # All ledgers take it in turn, so that the processor stays.
            component = f"tcp://127.0.0.1:{free_port()}"
            options += ["--component", component]
            stack.enter_context(wayseal_processor(component, directory))
        yield Ledgers(process, directory, options, component, by_network=by_network)
