"""A validator's wish to begin with a snapshot, which stays until it has begun.

It is a file in the data directory. While it is there, a chain beside it is half of one: the next
start removes that and begins again. So a power cut, a kill or a full disk leaves nothing or a whole
validator.
"""

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address
from pathlib import Path
from typing import Final

from contracts.commits import check_commit, header_hash, validators_of
from contracts.errors import RejectedError
from contracts.ledger.cometbft.home import StateSync
from contracts.ledger.cometbft.networkfile import Network, read_json, write_json
from contracts.ledger.cometbft.networkfile import validators_of as first_of
from contracts.ledger.cometbft.rpc import PAGE, Rpc
from contracts.ledger.cometbft.seals import sealed_header
from contracts.proto.cometbft_pb2 import SealedHeader
from contracts.runtime.files import remove_file

_LOG = logging.getLogger(__name__)

FILE: Final = "snapshot.json"
SERVERS_MIN: Final = 2
"""The engine's light client compares what two light ports say."""
_SERVER: Final = re.compile(r"http://(?:\[([0-9a-fA-F:.]+)\]|[A-Za-z0-9._-]+):(\d{1,5})")
_PORTS: Final = 1 << 16
_TRUST: Final = re.compile(r"([1-9]\d{0,17}):([0-9A-Fa-f]{64})")


@dataclass(frozen=True, slots=True)
class Wish:
    """How a validator begins.

    Attributes:
        servers: Light ports of validators, `http://HOST:PORT`.
        trust: A header of the engine that the operator trusts, `HEIGHT:HASH`; empty trusts the
            validators of the network file, who signed the first one.
    """

    servers: Sequence[str]
    trust: str = ""

    def __post_init__(self) -> None:
        wrong = [each for each in self.servers if not _is_port(each)]
        if wrong:
            raise RejectedError(
                f"--snapshot: expected the light port of a validator as http://HOST:PORT, got "
                f"{wrong[0][:200]!r}"
            )
        if len(set(self.servers)) < SERVERS_MIN:
            raise RejectedError(
                f"--snapshot: expected the light ports of at least {SERVERS_MIN} validators, each "
                f"with a --snapshot of its own, got {len(set(self.servers))}"
            )
        if self.trust and not _TRUST.fullmatch(self.trust):
            raise RejectedError(
                f"--trust: expected HEIGHT:HASH, a hash of 64 hexadecimal digits, got "
                f"{self.trust[:200]!r}"
            )


def write_wish(data: Path, wish: Wish) -> None:
    """Keep a wish.

    Raises:
        UnavailableError: The disk refuses.
    """
    write_json(data / FILE, {"servers": list(wish.servers), "trust": wish.trust})


def read_wish(data: Path) -> Wish | None:
    """Return the wish that is not fulfilled yet, if there is one.

    Raises:
        RejectedError: The file is damaged.
    """
    path = data / FILE
    if not path.exists():
        return None
    document = read_json(path, "what `wayseal-node join --snapshot` wrote")
    servers, trust = document.get("servers"), document.get("trust")
    if not isinstance(servers, list) or not isinstance(trust, str):
        raise RejectedError(f"{path}: expected servers and trust, got {str(document)[:200]}")
    return Wish(list(map(str, servers)), trust)


def fulfil_wish(data: Path) -> None:
    """Forget the wish: the validator has begun.

    Raises:
        UnavailableError: The disk failed.
    """
    remove_file(data / FILE)


def state_sync(wish: Wish, network: Network) -> StateSync:
    """Ask the light ports for the header that the engine's light client begins with.

    Raises:
        RejectedError: One of them has another network's, or not that height.
        UnavailableError: One of them does not answer.
    """
    found = _TRUST.fullmatch(wish.trust)
    height = int(found[1]) if found else 1
    expected = found[2].lower() if found else None
    for server in wish.servers:
        sealed = _header(server, height)
        name = header_hash(sealed.header).hex()
        if expected is None and not _is_first(sealed, network):
            raise RejectedError(
                f"{server}: expected the first header of {network.genesis['chain_id']!r}, signed "
                "by the validators of the network file, got another one"
            )
        if expected not in (None, name):
            raise RejectedError(
                f"{server}: expected header {height} with hash {expected}, got {name}"
            )
        expected = name
    return StateSync(wish.servers, height, expected or "")


def _is_port(url: str) -> bool:
    """Say whether a URL is one of a light port, of which a client can be made."""
    found = _SERVER.fullmatch(url)
    if found is None or int(found[2]) >= _PORTS:
        return False
    try:
        return found[1] is None or bool(IPv6Address(found[1]))
    except ValueError:
        return False


def _is_first(sealed: SealedHeader, network: Network) -> bool:
    """Say whether the validators of a network file signed a header of their network."""
    return sealed.header.chain_id == network.genesis["chain_id"] and validators_of(
        sealed
    ) == first_of(network)


def _header(server: str, height: int) -> SealedHeader:
    """Return a header that two thirds of the validators that it names signed."""
    _LOG.info("asking the light port %s for header %d", server, height)
    rpc = Rpc(server)
    try:
        signed, found = rpc.ask_each(
            [
                ("commit", {"height": str(height)}),
                ("validators", {"height": str(height), "per_page": str(PAGE)}),
            ]
        )
        sealed = sealed_header(signed["signed_header"], found["validators"])
        check_commit(sealed)
    except (LookupError, TypeError, ValueError, OverflowError, RejectedError) as error:
        raise RejectedError(
            f"{server}: no header at height {height}: {error}. A validator that began with a "
            "snapshot itself lacks the first ones: name others, or give --trust HEIGHT:HASH"
        ) from error
    finally:
        rpc.close()
    if sealed.header.height != height:
        raise RejectedError(f"{server}: expected header {height}, got {sealed.header.height}")
    return sealed
