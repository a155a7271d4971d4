"""What validators signed, in an evidence file: which of them seal its last block.

A sealed header names its validators, and those of the next height. So the file leads from the
validators with which the network began, which the trust file names, over each change to those that
sealed the last block.
"""

from dataclasses import dataclass, field

from contracts.commits import check_commit, validators_hash, validators_of
from contracts.errors import RejectedError
from contracts.evidence.container import parse_part
from contracts.proto.cometbft_pb2 import Header, SealedHeader
from contracts.records.clock import check_utc_ms
from contracts.validators import Powers

_NS_PER_MS = 1_000_000


@dataclass(frozen=True, slots=True)
class Sealed:
    """The validators' word on a file's last block.

    Attributes:
        chain_id: Name of the network.
        began_with: The first validators in the file, which the trust file has to name.
        height: The engine's height whose header names the last block.
        utc_ms: The time in that header, milliseconds since the Unix epoch.
        signers: Public keys that signed that header.
        power: Their voting power.
        power_of_all: The voting power of all validators at that height.
    """

    chain_id: str
    began_with: Powers
    height: int
    utc_ms: int
    signers: frozenset[str]
    power: int
    power_of_all: int


@dataclass(slots=True)
class SealedHeaders:
    """The sealed headers of a file, checked as they arrive."""

    _first: Powers = field(default_factory=dict)
    _last: SealedHeader | None = None
    _signers: frozenset[str] = frozenset()

    def add(self, payload: bytes) -> None:
        """Check the next sealed header.

        Raises:
            RejectedError: Not signed by two thirds of its validators, or these do not follow from
                the header before, or its time is before 1970 or after the year 9999.
        """
        sealed = parse_part(SealedHeader, payload)
        self._signers = check_commit(sealed)
        before, header = self._last, sealed.header
        check_utc_ms(f"sealed header {header.height}: time", _utc_ms(header))
        if before is None:
            self._first = validators_of(sealed)
        elif header.height <= before.header.height or header.chain_id != before.header.chain_id:
            raise RejectedError(
                f"sealed header {header.height} of {header.chain_id!r} does not follow header "
                f"{before.header.height} of {before.header.chain_id!r}"
            )
        elif validators_hash(sealed) not in _named(before):
            raise RejectedError(
                f"sealed header {header.height}: its validators are neither those of header "
                f"{before.header.height} nor those that it names for the next one"
            )
        self._last = sealed

    def of(self, block_id: str) -> Sealed:
        """Return what the validators signed about the last block.

        Raises:
            RejectedError: They did not seal that block.
        """
        if self._last is None:
            raise RejectedError(
                "a network of validators made the blocks, and the file has no sealed header: "
                "nothing shows that they did"
            )
        header = self._last.header
        if header.app_hash.hex() != block_id:
            raise RejectedError(
                f"sealed header {header.height} is about block {header.app_hash.hex()[:16]}…, the "
                f"last block is {block_id[:16]}…"
            )
        powers = validators_of(self._last)
        return Sealed(
            chain_id=header.chain_id,
            began_with=self._first,
            height=header.height,
            utc_ms=_utc_ms(header),
            signers=self._signers,
            power=sum(powers[key] for key in self._signers),
            power_of_all=sum(powers.values()),
        )


def _utc_ms(header: Header) -> int:
    return header.time.seconds * 1000 + header.time.nanos // _NS_PER_MS


def _named(sealed: SealedHeader) -> set[bytes]:
    return {sealed.header.validators_hash, sealed.header.next_validators_hash}
