"""Ledgers at URLs: what they are, and whether they take what the benchmark submits."""

import argparse
import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError
from contracts.ledger import LedgerClient
from contracts.proto.sawtooth_pb2 import Batch
from contracts.sawtooth.batches import Status
from contracts.sawtooth.settings import TRANSACTION_FAMILIES
from contracts.sawtooth.transactions import Family
from storage.bench.ledger.consensus import read_consensus
from storage.bench.ledger.family import FAMILY
from storage.bench.ledger.fleet import network
from storage.bench.ledger.ledgers import Sawtooth, has_fleet, processing
from storage.bench.ledger.papers import PaperLoad

PROBE_S: Final = 60
"""How long, seconds, a network may take for one transaction before the benchmark begins."""


def named_url(text: str) -> tuple[str, str]:
    """Read NAME=URL, for argparse."""
    name, _, url = text.partition("=")
    if not name or "://" not in url:
        raise argparse.ArgumentTypeError(f"expected NAME=URL, got {text!r}")
    return name, url.rstrip("/")


def sawtooths(
    urls: Sequence[tuple[str, str]],
    components: Sequence[tuple[str, str]],
    work: Path,
    seed: int,
    stack: ExitStack,
) -> Iterator[Sawtooth]:
    """Yield the networks, each with our processor at its component port if one is given.

    Args:
        urls: By name.
        components: Component ports by name.
        work: For what the processors note.
        seed: Of this run.
        stack: Ends the processors.

    Raises:
        RejectedError: A component port of no network, or a network that refuses the family.
        UnavailableError: A network does not answer.
    """
    endpoints = dict(components)
    strangers = endpoints.keys() - dict(urls)
    if strangers:
        raise RejectedError(f"--component: expected a name of --sawtooth, got {min(strangers)!r}")
    for name, url in urls:
        with closing(LedgerClient(url)) as ledger:
            consensus = read_consensus(ledger.setting)
            _check_listed(name, ledger.setting(TRANSACTION_FAMILIES))
        noted = None
        if name in endpoints:
            noted = work / f"{name}.executions"
            stack.enter_context(processing(endpoints[name], noted))
        _check_taken(name, url, seed)
        yield Sawtooth(name, url, consensus, noted)


def takes_readings(network_at: Sawtooth) -> str:
    """Return why a network does not take the fleet's readings; empty when it does.

    Registering the fleet's parties asks for a right that only its administrator can give.
    """
    if has_fleet(network_at.url):
        return ""
    with closing(LedgerClient(network_at.url)) as ledger:
        return _refusal(ledger, network()[:1])


def _check_listed(name: str, value: str) -> None:
    """Check the setting that lists the families, if there is one."""
    try:
        listed = [Family(entry["family"], entry["version"]) for entry in json.loads(value or "[]")]
    except (ValueError, TypeError, KeyError):
        return  # what is no list permits everything, as the validator reads it
    if listed and FAMILY not in listed:
        raise RejectedError(
            f"{name}: {TRANSACTION_FAMILIES} does not list family {FAMILY.name} {FAMILY.version}"
        )


def _check_taken(name: str, url: str, seed: int) -> None:
    """Have one transaction committed: what the network permits is nowhere else to be read."""
    load = PaperLoad(f"probe-{seed:08x}", 1, 1, 1, 0, 1.0, pays=False, seed=seed)
    with closing(LedgerClient(url)) as ledger:
        why = _refusal(ledger, list(load.batches(0)))
    if why:
        raise RejectedError(f"{name}: one transaction of family {FAMILY.name}: {why}")


def _refusal(ledger: LedgerClient, batches: Sequence[Batch]) -> str:
    try:
        ledger.submit(batches)
    except RejectedError as error:
        return f"{error} (do the network's transactor permissions let anyone submit?)"
    (name,) = [batch.header_signature for batch in batches]
    found = ledger.statuses([name], wait_s=PROBE_S)[name]
    match found.status:
        case Status.COMMITTED:
            return ""
        case Status.INVALID:
            return found.reason
        case _:
            return (
                f"{found.status} after {PROBE_S} s: no transaction processor has registered for "
                "it? --component runs one, or run storage.bench.ledger.processor at its validator"
            )
