"""The network file, which every validator of a network has, and the cards that it is made of.

Neither holds anything secret.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from contracts.errors import RejectedError
from contracts.keys import is_point
from contracts.runtime.files import disk_errors, write_file
from contracts.runtime.ports import is_loopback
from contracts.validators import POWER_MAX, Powers

FILE: Final = "network.json"
"""In the data directory of each validator."""
VERSION: Final = 1
_PEER: Final = re.compile(r"[0-9a-f]{40}@[^@,\s]+:\d{1,5}")


@dataclass(frozen=True, slots=True)
class Card:
    """The facts that the other validators must know about a validator.

    Attributes:
        public_key: With which it votes, 66 hexadecimal digits.
        peer: Where the others find it, `ID@HOST:PORT`.
        power: Its voting power.
    """

    public_key: str
    peer: str
    power: int = 1

    def __post_init__(self) -> None:
        if not is_point(self.public_key):
            raise RejectedError(f"card: expected a public key, got {self.public_key!r}")
        if not _PEER.fullmatch(self.peer):
            raise RejectedError(f"card: expected peer as ID@HOST:PORT, got {self.peer!r}")
        if type(self.power) is not int or not 1 <= self.power <= POWER_MAX:
            raise RejectedError(f"card: expected a power from 1 to {POWER_MAX}, got {self.power!r}")

    @property
    def host(self) -> str:
        """Where the others find it, without the port."""
        return self.peer.partition("@")[2].rpartition(":")[0].strip("[]").lower()

    def document(self) -> dict[str, Any]:
        """Return it as it stands in JSON."""
        return {"public_key": self.public_key, "peer": self.peer, "power": self.power}


@dataclass(frozen=True, slots=True)
class Network:
    """A network as every validator knows it.

    Attributes:
        cards: The validators with which it begins.
        genesis: The engine's genesis.
        many_on_one_host: Whether validators share an address: then their engines let several in
            from one address.
    """

    cards: Sequence[Card]
    genesis: dict[str, Any]
    many_on_one_host: bool = False

    def document(self) -> dict[str, Any]:
        """Return it as it stands in JSON."""
        return {
            "version": VERSION,
            "cards": [card.document() for card in self.cards],
            "many_on_one_host": self.many_on_one_host,
            "genesis": self.genesis,
        }


def network_time_s(network: Network) -> int:
    """Return when a network begins, seconds since 1970, UTC.

    Raises:
        RejectedError: Its genesis does not say.
    """
    said = network.genesis.get("genesis_time")
    try:
        at = datetime.fromisoformat(str(said))
    except ValueError:
        at = None
    if at is None or at.tzinfo is None:
        raise RejectedError(
            f"genesis: expected genesis_time as 2026-01-31T08:00:00Z, got {str(said)[:80]!r}"
        )
    return int(at.timestamp())


def read_network(path: Path) -> Network:
    """Read a network file.

    Raises:
        RejectedError: It is missing or malformed.
    """
    document = read_json(path, "a network file, as `wayseal-node found` writes it")
    try:
        if document["version"] != VERSION:
            raise RejectedError(f"{path}: expected version {VERSION}, got {document['version']!r}")
        cards = tuple(card_of(each) for each in document["cards"])
        genesis, many = document["genesis"], document["many_on_one_host"]
    except (LookupError, TypeError) as error:
        raise RejectedError(f"{path} is not a network file: {error} is missing") from error
    if not isinstance(genesis, dict) or type(many) is not bool:
        raise RejectedError(f"{path} is not a network file: its genesis is not an object")
    if not isinstance(genesis.get("chain_id"), str):
        raise RejectedError(f"{path} is not a network file: its genesis has no chain_id")
    network = Network(cards, genesis, many)
    try:
        network_time_s(network)
    except RejectedError as error:
        raise RejectedError(f"{path} is not a network file: {error}") from error
    return network


def read_card(path: Path) -> Card:
    """Read a validator's card.

    Raises:
        RejectedError: It is missing or malformed.
    """
    return card_of(read_json(path, "a card, as `wayseal-node validator` prints it"))


def card_of(document: object) -> Card:
    """Return the card that a JSON object says.

    Raises:
        RejectedError: It has another form.
    """
    if not isinstance(document, dict) or set(document) != {"public_key", "peer", "power"}:
        raise RejectedError(
            f"card: expected an object with public_key, peer and power, got {str(document)[:80]}"
        )
    return Card(str(document["public_key"]), str(document["peer"]), document["power"])


def share_a_host(cards: Sequence[Card]) -> bool:
    """Say whether validators share an address: one machine, or one line to the internet."""
    hosts = [card.host for card in cards]
    return len(set(hosts)) < len(hosts) or any(map(is_loopback, hosts))


def validators_of(network: Network) -> Powers:
    """Return the validators with which a network begins."""
    return {card.public_key: card.power for card in network.cards}


def write_network(path: Path, network: Network) -> None:
    """Write a network file.

    Raises:
        UnavailableError: The disk refuses.
    """
    write_json(path, network.document())


def read_json(path: Path, what: str) -> dict[str, Any]:
    """Return the JSON object in a file.

    Args:
        path: The file.
        what: The expected kind of file, for people.

    Raises:
        RejectedError: It is missing, or is something else.
    """
    try:
        document = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise RejectedError(f"{path}: {error.strerror}: expected {what}") from error
    except (ValueError, RecursionError) as error:
        raise RejectedError(f"{path} is not JSON ({error}): expected {what}") from error
    if not isinstance(document, dict):
        raise RejectedError(f"{path}: expected {what}, got {str(document)[:80]}")
    return document


def write_json(path: Path, document: dict[str, Any]) -> None:
    """Write a JSON object, all of it or nothing.

    Raises:
        UnavailableError: The disk refuses.
    """
    with disk_errors("write", path):
        wire = json.dumps(document, indent=1).encode()
        write_file(path, wire, temporary=path.with_name(path.name + ".new"), mode=0o644)
