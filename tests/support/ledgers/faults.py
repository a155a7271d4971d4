"""A network under faults by a seeded schedule, with clients at all validators, and the checks.

`PYTHONPATH=tests python -m support.ledgers.faults --seed N --seconds S` runs one and prints a JSON
line. A seed gives the same faults, with the same pauses, again; how they meet the messages is up to
the machine. Only root can pull a cable and fill a disk: for others these faults are pauses.
"""

import argparse
import json
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random
from typing import Final

import cbor2
import httpx
import pytest

from contracts.keys import Signer
from contracts.ledger.cometbft.network import forget_chain
from contracts.proto.sawtooth_pb2 import Batch, BatchList
from contracts.sawtooth.batches import build_batch
from support.ledgers.cables import Cable, cable
from support.ledgers.cometbft import Validators, agree, lay_out
from support.ledgers.founding import untimed_genesis
from support.ledgers.history import History, Sent, check
from support.ledgers.intkey_node import address_of
from support.ledgers.nodes import OCTETS, Node, intkey, whole_state
from support.machine.mounts import fill, tmpfs
from support.machine.waiting import wait_until

FOUNDER: Final = Signer.from_hex("11" * 32)
VALIDATORS: Final = 4
CLIENTS_MAX: Final = 100
TIMEOUT_S: Final = 5.0
LOOK_S: Final = 2
END_S: Final = 180.0
"""Once all validators are back, clients have so many seconds to finish what they have begun."""
COMMITTED: Final = "COMMITTED"
SMALL: Final = 2
"""The validator whose disk can be full."""
FAR: Final = 3
"""The validator behind a cable."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens to whom.

    Attributes:
        kind: One of `KINDS`.
        validators: Their numbers.
        gap_s: Pause, seconds, before it.
        lasts_s: How long, seconds, it lasts.
    """

    kind: str
    validators: tuple[int, ...]
    gap_s: float
    lasts_s: float


KINDS: Final = ("kill", "stop", "wipe", "two", "upgrade", "cut", "full")
_HITS: Final = {"cut": (FAR,), "full": (SMALL,)}


def schedule(seed: int) -> Iterator[Fault]:
    """Yield the faults of a seed, without end."""
    random = Random(seed)
    while True:
        kind = random.choice(KINDS)
        every = {"two": 2, "upgrade": VALIDATORS}.get(kind, 1)
        chosen = _HITS.get(kind) or tuple(random.sample(range(VALIDATORS), every))
        yield Fault(kind, chosen, random.uniform(0.2, 3), random.uniform(0.2, 5))


class Client(threading.Thread):
    """Sends one batch after the other; each until it sees it committed, to whoever answers.

    Each batch adds to a counter that all clients share, and depends on the client's last one. None
    adds what another adds, or both would hold one transaction.
    """

    def __init__(self, number: int, four: Validators, seed: int, stop: threading.Event) -> None:
        super().__init__(name=f"client {number}", daemon=True)
        self._number, self._four, self._stop_now = number, four, stop
        self._random = Random(seed * 1000 + number)
        self._http = httpx.Client(timeout=TIMEOUT_S)
        self.sent: list[Sent] = []
        self.until_s = float("inf")

    def run(self) -> None:
        with self._http:
            self._send()

    def _send(self) -> None:
        before: list[str] = []
        for step in count():
            if self._stop_now.is_set():
                return
            own = intkey(FOUNDER, "set", f"c{self._number}-{step}", step, dependencies=before)
            adds = step * CLIENTS_MAX + self._number + 1
            batch = build_batch(FOUNDER, [own, intkey(FOUNDER, "inc", "all", adds)])
            before = [batch.transactions[0].header_signature]
            sent = Sent(batch.header_signature, self._number, time.monotonic(), adds)
            self.sent.append(sent)
            while sent.committed_s is None:
                if time.monotonic() > self.until_s:
                    return
                self._try(batch, sent)

    def _try(self, batch: Batch, sent: Sent) -> None:
        """Send it to a validator, and ask one whether it is committed."""
        body = BatchList(batches=[batch]).SerializeToString()
        sent.times += 1
        self._asked(lambda url: self._http.post(f"{url}/batches", content=body, headers=OCTETS))
        path = f"batch_statuses?id={batch.header_signature}&wait={LOOK_S}"
        answer = self._asked(lambda url: self._http.get(f"{url}/{path}"))
        if answer is None or not answer.is_success:
            return
        if answer.json()["data"][0]["status"] == COMMITTED:
            sent.committed_s = time.monotonic()

    def _asked(self, ask: Callable[[str], httpx.Response]) -> httpx.Response | None:
        nodes = list(self._four.nodes.values())
        if not nodes:
            return None
        node = self._random.choice(nodes)
        try:
            return ask(str(node.client.base_url))
        except httpx.TransportError:
            return None  # it may have taken it


@contextmanager
def place(out: Path) -> Iterator[tuple[Validators, Cable | None]]:
    """Run four validators, one behind a cable and one on a small disk where that is allowed."""
    first = [untimed_genesis(FOUNDER, [FOUNDER.public_key])]
    with ExitStack() as stack:
        line = _cable_and_disk(stack, out)
        hosts = [line.near] * FAR + [line.far] if line else ()
        four = Validators(lay_out(out, VALIDATORS, first, FOUNDER, hosts))
        if line:
            four.prefixes[FAR] = line.prefix
            four.more[FAR] = ("--rest", f"{line.far}:0", "--plain-text")
        stack.callback(four.close)
        for number in range(VALIDATORS):
            four.start(number)
        yield four, line


def _cable_and_disk(stack: ExitStack, out: Path) -> Cable | None:
    try:
        line = stack.enter_context(cable())
        stack.enter_context(tmpfs(out / f"node{SMALL}", "256m"))
    except pytest.skip.Exception as why:
        sys.stderr.write(f"no cable is pulled, no disk filled: {why}\n")
        return None
    return line


def inflict(four: Validators, fault: Fault, line: Cable | None) -> None:
    """Let a fault happen, and pass."""
    time.sleep(fault.gap_s)
    if fault.kind in _HITS:
        if line is None:
            time.sleep(fault.lasts_s)
        elif fault.kind == "cut":
            line.pull()
            time.sleep(fault.lasts_s)
            line.plug()
        else:
            _fill(four, fault.lasts_s)
        return
    if fault.kind == "upgrade":  # one after another, as an operator does
        for number in fault.validators:
            assert four.stop(number) == 0
            four.start(number)
        return
    if fault.kind == "stop":
        (number,) = fault.validators
        process = four.nodes[number].process
        process.send_signal(signal.SIGSTOP)
        time.sleep(fault.lasts_s)
        process.send_signal(signal.SIGCONT)
        return
    for number in fault.validators:
        four.kill(number)
    if fault.kind == "wipe":
        forget_chain(four.places[fault.validators[0]])
    time.sleep(fault.lasts_s)
    for number in fault.validators:
        four.start(number)


def _fill(four: Validators, lasts_s: float) -> None:
    """Fill a validator's disk; one that ends of it is started again, as systemd does."""
    node, filler = four.nodes[SMALL], four.places[SMALL] / "filler"
    fill(filler)
    time.sleep(lasts_s)
    filler.unlink()

    def decided() -> bool:
        return node.process.poll() is not None or _is_ready(node)

    wait_until(decided)
    if node.process.poll() is not None:
        four.kill(SMALL)
        four.start(SMALL)


def _is_ready(node: Node) -> bool:
    try:
        return node.client.get("/readyz").is_success
    except httpx.TransportError:  # it is ending
        return False


def batches_of(node: Node) -> list[str]:
    """Return the ids of all batches on a validator's chain, in order."""
    blocks: list[list[str]] = []
    path = "/blocks?limit=1000"
    while path:
        page = node.client.get(path).json()
        blocks += [block["header"]["batch_ids"] for block in page["data"]]
        path = page["paging"].get("next", "")
    return [name for block in reversed(blocks) for name in block]


def run(seed: int, seconds: float, out: Path, clients: int = VALIDATORS) -> dict[str, object]:
    """Run a network under the faults of a seed; return what was found.

    Args:
        seed: Of faults and clients.
        seconds: No fault begins later.
        out: Gets the data directories and logs.
        clients: How many.
    """
    zero = build_batch(FOUNDER, [intkey(FOUNDER, "set", "all", 0)])
    stop, done = threading.Event(), Counter[str]()
    with place(out) as (four, line):
        four.nodes[0].commit(zero)
        running = [Client(number, four, seed, stop) for number in range(clients)]
        for client in running:
            client.start()
        until_s = time.monotonic() + seconds
        for fault in schedule(seed):
            if time.monotonic() > until_s:
                break
            inflict(four, fault, line)
            done[fault.kind] += 1
        stop.set()
        end_s = time.monotonic() + END_S
        for client in running:
            client.until_s = end_s
        for client in running:
            client.join()
        history = History({client_number: each.sent for client_number, each in enumerate(running)})
        agree(four)
        chains = {number: batches_of(node) for number, node in four.nodes.items()}
        problems = check(history, chains)
        problems += _counted(four.nodes[0], history, chains[0])
    unknown = len(history.all) - len(history.committed)
    if unknown:
        problems.append(f"{unknown} batches were not committed within {END_S:.0f} s")
    return {
        "seed": seed,
        "faults": dict(sorted(done.items())),
        "batches": len(history.committed),
        "sent": sum(each.times for each in history.all),
        "problems": problems,
    }


def _counted(node: Node, history: History, chain: list[str]) -> list[str]:
    """Compare the counter in state with the batches on the chain that add to it."""

    value = cbor2.loads(whole_state(node.client)[1][address_of("all")])["all"]
    there = set(chain)
    added = sum(each.adds for each in history.all if each.batch_id in there)
    return [] if value == added else [f"the counter says {value}, the batches add {added}"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--seconds", type=float, default=120)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as out:
        told = run(options.seed, options.seconds, Path(out))
    sys.stdout.write(json.dumps(told) + "\n")
    return 1 if told["problems"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
