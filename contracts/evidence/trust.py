"""Trusted keys: every chain of signatures must end in one of them.

A small JSON file that does not reach the auditor together with the evidence:

    {"genesis_block_id": "128 hex digits",
     "block_signers": ["66 hex digits", ...],
     "admin_keys": ["66 hex digits", ...]}

Where a network of validators makes the blocks, `network` stands in place of `block_signers`:

     "network": {"chain_id": "name", "validators": {"66 hex digits": voting power, ...}}

If the ledger goes on from others, `predecessors` lists these, see `contracts.succession`.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from contracts.errors import RejectedError
from contracts.keys import is_public_key, is_signature
from contracts.succession import Predecessor, predecessor_of
from contracts.validators import CHAIN_ID_MAX, Powers, powers_of

_SIGNERS: Final = "block_signers"
_NETWORK: Final = "network"
_KEYS: Final = {"genesis_block_id", "admin_keys"}
_PREDECESSORS: Final = "predecessors"
_SOURCE: Final = (
    "expected the file that `wayseal-gateway trust` prints, from a gateway that you trust"
)


@dataclass(frozen=True, slots=True)
class TrustedNetwork:
    """A network of validators as it began.

    Attributes:
        chain_id: Its name.
        validators: Their voting power, by public key.
    """

    chain_id: str
    validators: Powers


@dataclass(frozen=True, slots=True)
class Trust:
    """The keys that an auditor trusts.

    Attributes:
        genesis_block_id: Id of the ledger's first block, 128 hexadecimal digits.
        block_signers: Public keys that may sign its blocks; none if a network makes them.
        admin_keys: Public keys that may register parties.
        predecessors: Ledgers before that one, whose evidence is trusted too.
        network: The network that makes its blocks; None if one of `block_signers` does.
    """

    genesis_block_id: str
    block_signers: frozenset[str]
    admin_keys: frozenset[str]
    predecessors: tuple[Predecessor, ...] = ()
    network: TrustedNetwork | None = None

    def ledger(self, genesis_block_id: str) -> tuple[frozenset[str], Predecessor | None]:
        """Return the keys that may sign a ledger's blocks, and where an earlier ledger ended.

        Raises:
            RejectedError: It is not trusted.
        """
        if genesis_block_id == self.genesis_block_id:
            return self.block_signers, None
        for each in self.predecessors:
            if each.genesis_block_id == genesis_block_id:
                return frozenset(each.block_signers), each
        raise RejectedError(
            f"the file is about the ledger that begins with block {genesis_block_id[:16]!r}…, "
            f"which is not the trusted {self.genesis_block_id[:16]!r}…"
        )

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read the trust file at `path`.

        Raises:
            RejectedError: Missing, not JSON, or with other keys or values than documented.
        """
        try:
            document = json.loads(path.read_text("utf-8-sig"), object_pairs_hook=_once)
        except OSError as error:
            raise RejectedError(f"trust file {path}: {error.strerror}: {_SOURCE}") from error
        except (ValueError, RecursionError) as error:
            raise RejectedError(f"trust file {path}: not JSON ({error}): {_SOURCE}") from error
        makers = {_SIGNERS, _NETWORK}
        members = set(document) - {_PREDECESSORS} if isinstance(document, dict) else set()
        if members - makers != _KEYS or len(members & makers) != 1:
            raise RejectedError(
                f"trust file {path}: expected an object with {sorted(_KEYS | {_SIGNERS})}, or with "
                f"{_NETWORK} in place of {_SIGNERS}"
            )
        genesis = document["genesis_block_id"]
        if not isinstance(genesis, str) or not is_signature(genesis):
            raise RejectedError(
                f"trust file {path}: genesis_block_id must be 128 lower-case hexadecimal digits"
            )
        return cls(
            genesis,
            _public_keys(path, _SIGNERS, document[_SIGNERS])
            if _SIGNERS in document
            else frozenset(),
            _public_keys(path, "admin_keys", document["admin_keys"]),
            _predecessors(path, document.get(_PREDECESSORS, [])),
            _network(path, document[_NETWORK]) if _NETWORK in document else None,
        )

    def to_json(self) -> str:
        """Return the trust file's text."""
        document: dict[str, object] = {
            "genesis_block_id": self.genesis_block_id,
            **self._makers(),
            "admin_keys": sorted(self.admin_keys),
        }
        if self.predecessors:
            document[_PREDECESSORS] = [each.document() for each in self.predecessors]
        return json.dumps(document, indent=2) + "\n"

    def _makers(self) -> dict[str, object]:
        if self.network is None:
            return {_SIGNERS: sorted(self.block_signers)}
        network = self.network
        validators = dict(sorted(network.validators.items()))
        return {_NETWORK: {"chain_id": network.chain_id, "validators": validators}}


def _once(members: list[tuple[str, object]]) -> dict[str, object]:
    """Return a JSON object; of two members with one name readers would take different ones."""
    found = dict(members)
    if len(found) < len(members):
        raise ValueError(f"a member of {sorted(found)} comes twice")
    return found


def _network(path: Path, value: object) -> TrustedNetwork:
    if not isinstance(value, dict) or set(value) != {"chain_id", "validators"}:
        raise RejectedError(
            f"trust file {path}: {_NETWORK} must be an object with chain_id and validators"
        )
    chain_id = value["chain_id"]
    if not isinstance(chain_id, str) or not 1 <= len(chain_id) <= CHAIN_ID_MAX:
        raise RejectedError(
            f"trust file {path}: {_NETWORK}: chain_id must have 1 to {CHAIN_ID_MAX} characters"
        )
    try:
        return TrustedNetwork(chain_id, powers_of(value["validators"]))
    except RejectedError as error:
        raise RejectedError(f"trust file {path}: {_NETWORK}: {error}") from error


def _predecessors(path: Path, value: object) -> tuple[Predecessor, ...]:
    if not isinstance(value, list):
        raise RejectedError(f"trust file {path}: {_PREDECESSORS} must be a list")
    try:
        return tuple(map(predecessor_of, value))
    except RejectedError as error:
        raise RejectedError(f"trust file {path}: {error}") from error


def _public_keys(path: Path, name: str, value: object) -> frozenset[str]:
    if not isinstance(value, list) or not value:
        raise RejectedError(f"trust file {path}: {name} must be a list of public keys")
    for key in value:
        if not isinstance(key, str) or not is_public_key(key):
            raise RejectedError(
                f"trust file {path}: {name} must hold 66 lower-case hexadecimal digits, "
                f"got {str(key)[:80]!r}"
            )
    return frozenset(value)
