"""Sawtooth networks at URLs: their settings, and whether they take the benchmark's batches."""

import argparse
import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Final

from contracts.address import ADMIN_KEYS_SETTING
from contracts.errors import RejectedError
from contracts.ledger.client import LedgerClient
from contracts.ledger.place import LedgerPlace
from contracts.sawtooth.batches import Family, Status
from contracts.sawtooth.settings import TRANSACTION_FAMILIES
from storage.bench.ledger.consensus import read_consensus
from storage.bench.ledger.family import FAMILY
from storage.bench.ledger.ledgers import Sawtooth, has_fleet, processing
from storage.bench.ledger.papers import PaperLoad
from storage.bench.trucks.fleet import key

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
        work: For the notes of the processors.
        seed: Of this run.
        stack: Ends the processors.

    Raises:
        RejectedError: A component port has no network, or a network refuses the family.
        UnavailableError: A network does not answer.
    """
    endpoints = dict(components)
    strangers = endpoints.keys() - dict(urls)
    if strangers:
        raise RejectedError(f"--component: expected a name of --sawtooth, got {min(strangers)!r}")
    for name, url in urls:
        with closing(LedgerClient(LedgerPlace.here(url))) as ledger:
            consensus = read_consensus(ledger.setting)
            _check_listed(name, ledger.setting(TRANSACTION_FAMILIES))
        noted = None
        # A transaction of a family without a processor would hold up the network for everyone.
        if name in endpoints:
            noted = work / f"{name}.executions"
            stack.enter_context(processing(endpoints[name], noted))
            _check_taken(name, url, seed)
        yield Sawtooth(name, url, consensus, noted)


def takes_readings(network: Sawtooth) -> str:
    """Return why a network does not take the fleet's readings; empty when it does.

    Only the administrator of the network can allow the registration of the fleet's parties.
    """
    if has_fleet(network.url):
        return ""
    with closing(LedgerClient(LedgerPlace.here(network.url))) as ledger:
        admins = ledger.setting(ADMIN_KEYS_SETTING)
    own = key("admin").public_key
    listed = own in admins.split(",")
    return "" if listed else f"{ADMIN_KEYS_SETTING} does not list the benchmark's key {own}"


def _check_listed(name: str, value: str) -> None:
    """Check the setting that lists the families, if there is one."""
    try:
        listed = [Family(entry["family"], entry["version"]) for entry in json.loads(value or "[]")]
    except (ValueError, TypeError, KeyError):
        return  # a malformed list permits everything, as in the validator
    if listed and FAMILY not in listed:
        raise RejectedError(
            f"{name}: {TRANSACTION_FAMILIES} does not list family {FAMILY.name} {FAMILY.version}"
        )


def _check_taken(name: str, url: str, seed: int) -> None:
    """Commit one transaction: the settings do not show all permissions of a network."""
    load = PaperLoad(f"probe-{seed:08x}", 1, 1, 1, 0, 1.0, pays=False, seed=seed)
    (batch,) = load.batches(0)
    told = f"{name}: one transaction of family {FAMILY.name}"
    with closing(LedgerClient(LedgerPlace.here(url))) as ledger:
        try:
            ledger.submit([batch])
        except RejectedError as error:
            raise RejectedError(f"{told}: {error}; may anyone submit to it?") from error
        names = [batch.header_signature]
        found = ledger.statuses(names, wait_s=PROBE_S)[batch.header_signature]
    if found.status is not Status.COMMITTED:
        raise RejectedError(
            f"{told}: expected COMMITTED in {PROBE_S} s, got {found.status} {found.reason}"
        )
