"""Measures how a new validator gets a chain: height by height, and by a snapshot.

    PYTHONPATH=tests python -m support.ledgers.joining --blocks 2000

One validator of this machine makes the chain, one batch in each block, and gives it to newcomers.
CPU is that of a newcomer's node and its CometBFT together.
"""

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from contracts.ledger.cometbft.network import join, make_validator
from contracts.ledger.cometbft.networkfile import read_network
from contracts.ledger.cometbft.process import find_program
from contracts.ledger.cometbft.snapshots.wish import Wish, write_wish
from contracts.runtime.ports import free_port
from support.ledgers.cometbft import ENGINE, Validators, head, lay_out
from support.ledgers.founding import untimed_genesis
from support.ledgers.heights import FOUNDER
from support.ledgers.nodes import INTKEY_NODE, Node, intkey_batch, running
from support.machine.waiting import wait_until

TICKS = os.sysconf("SC_CLK_TCK")
PATIENCE_S = 3_600


def cpu_s(pid: int) -> float:
    """Return the CPU of a process and its children, seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    own = sum(map(int, fields[11:15])) / TICKS
    return own + sum(cpu_s(int(child)) for child in children)


def disk_mb(place: Path) -> float:
    """Return what a directory takes, MB."""
    files = (path for path in place.rglob("*") if path.is_file())
    return round(sum(path.stat().st_blocks * 512 for path in files) / 1e6, 1)


def measure(validators: Validators, place: Path, *, snapshot: bool) -> dict[str, object]:
    """Have a newcomer get the chain; return what it took."""
    at = f"127.0.0.1:{free_port()}"
    make_validator(find_program(None), place, at, at)
    giver = validators.nodes[0]
    join(place, read_network(validators.places[0] / "network.json"))
    if snapshot:
        port = giver.light.rpartition(":")[2]
        write_wish(place, Wish([f"http://{host}:{port}" for host in ("127.0.0.1", "localhost")]))
    given_s, ended = cpu_s(giver.process.pid), resource.getrusage(resource.RUSAGE_CHILDREN)
    began_s = time.monotonic()
    with running(place, *ENGINE, script=INTKEY_NODE) as node:
        newest = head(giver)
        wait_until(lambda: head(node) == newest, deadline_s=PATIENCE_S, pause_s=0.5)
        took_s = time.monotonic() - began_s
        given_s = cpu_s(giver.process.pid) - given_s
        node.stop()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    own_s = used.ru_utime + used.ru_stime - ended.ru_utime - ended.ru_stime
    return {
        "snapshot": snapshot,
        "wall_s": round(took_s, 1),
        "cpu_s": round(own_s, 1),
        "cpu_of_giver_s": round(given_s, 1),
        "disk_mb": disk_mb(place),
        "engine_mb": disk_mb(place / "cometbft"),
        "load": round(os.getloadavg()[0], 1),
    }


def fill(node: Node, blocks: int, transactions: int) -> None:
    """Make a chain, one batch a block."""
    for number in range(blocks):
        node.commit(intkey_batch(FOUNDER, number * transactions, transactions))


def main() -> None:
    """Measure both ways in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blocks", type=int, default=2_000)
    parser.add_argument("--transactions", type=int, default=20, help="of each block")
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, ExitStack() as undo:
        out = Path(name)
        first = [untimed_genesis(FOUNDER, [FOUNDER.public_key])]
        validators = Validators(lay_out(out, 1, first, FOUNDER))
        undo.callback(validators.close)
        validators.start(0, "--light", "127.0.0.1:0")
        fill(validators.nodes[0], options.blocks, options.transactions)
        for number in range(options.rounds):
            for snapshot in (False, True):
                place = out / f"new{number}{snapshot}"
                print(json.dumps(measure(validators, place, snapshot=snapshot)))  # noqa: T201
                sys.stdout.flush()


if __name__ == "__main__":
    main()
