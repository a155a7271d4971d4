"""Evidence of a network of validators for the published table: honest, forged, and malformed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from contracts.address import setting
from contracts.encoding import canonical
from contracts.evidence.trust import Trust, TrustedNetwork
from contracts.keys import Signer
from contracts.proto.cometbft_pb2 import PublicKey, SealedHeader, SimpleValidator
from contracts.proto.sawtooth_pb2 import BlockHeader, Setting
from contracts.records.clock import UTC_MS_MAX
from contracts.sawtooth.blocks import NETWORK_MARK
from contracts.succession import SETTING, Predecessor, encode
from support.evidence.chain import Evidence, trust_in
from support.evidence.networked import networked
from support.ledgers.sealing import Member, members, seal
from support.verifier.small import small

CHAIN: Final = "test"
FOUR: Final = members(4)
CHANGED: Final = [*FOUR[1:], Member(Signer.from_hex("77" * 32))]
STRANGERS: Final = [Member(Signer.from_hex(f"{0x60 + number:02x}" * 32)) for number in range(4)]
LAST_S: Final = UTC_MS_MAX // 1000
HEAVY: Final = [Member(FOUR[0].signer, 9), *FOUR[1:]]


@dataclass(frozen=True, slots=True)
class Networked:
    """A file and what its reader trusts."""

    name: str
    wire: bytes
    trust: Trust | None


def networks() -> Iterator[Networked]:
    """Yield every case."""
    honest = networked(small())
    trust, last = trust_of(honest), honest.heads[-1].header_signature
    sealed = [seal(last, FOUR, absent=[0])]
    wire = wire_of(honest, sealed)
    yield Networked("sealed", wire, trust)
    yield Networked("sealed", wire, None)
    yield Networked(
        "sealed", wire, replace(trust, admin_keys=frozenset({FOUR[0].signer.public_key}))
    )
    yield Networked("sealed", wire, trust_in(honest.heads))
    yield Networked("sealed", wire, replace(trust, network=network(FOUR, "other")))
    yield Networked("sealed", wire, replace(trust, network=network(HEAVY)))
    yield Networked("sealed", wire, replace(trust, network=network(FOUR[1:])))
    yield Networked("sealed", wire, replace(trust, genesis_block_id="ab" * 64))
    odd = [*FOUR, NoPoint(FOUR[0].signer)]
    yield Networked("key-of-no-point", wire_of(honest, [seal(last, odd, absent=[4])]), None)
    for name, seals in _seals(honest, last):
        yield Networked(name, wire_of(honest, seals), trust)
    for name, change in MALFORMED.items():
        yield Networked(name, wire_of(honest, [malformed(seal(last, FOUR), change)]), trust)
    yield from _of_two_kinds()
    yield from _gone_on()


class NoPoint(Member):
    """A validator whose key begins with 4, where a compressed point begins with 2 or 3."""

    def message(self) -> SimpleValidator:
        return SimpleValidator(pub_key=PublicKey(secp256k1=b"\4" * 33), voting_power=self.power)


def network(validators: list[Member], chain_id: str = CHAIN) -> TrustedNetwork:
    """Return a network as a trust file names it."""
    return TrustedNetwork(chain_id, {each.signer.public_key: each.power for each in validators})


def trust_of(evidence: Evidence) -> Trust:
    """Return trust in the four validators."""
    return replace(trust_in(evidence.heads), block_signers=frozenset(), network=network(list(FOUR)))


def wire_of(evidence: Evidence, seals: list[SealedHeader]) -> bytes:
    """Return the file with these sealed headers."""
    return replace(evidence, seals=[canonical(each) for each in seals]).wire()


def _seals(honest: Evidence, last: str) -> Iterator[tuple[str, list[SealedHeader]]]:
    """Yield sealed headers that validators could have signed, and which do not all lead to it."""
    before = honest.heads[-2].header_signature
    change = seal("00" * 64, FOUR, height=5, next_validators=CHANGED)
    end = seal(last, CHANGED, height=9)
    yield "all-signed", [seal(last, FOUR)]
    yield "unsealed", []
    yield "another-block", [seal(before, FOUR)]
    yield "too-few", [seal(last, FOUR, absent=[0, 1])]
    yield "strangers", [seal(last, STRANGERS)]
    yield "power-of-one", [seal(last, HEAVY, absent=[1, 2, 3])]
    yield "changed", [change, end]
    yield "change-left-out", [end]
    yield "change-not-named", [seal("00" * 64, FOUR, height=5), end]
    yield (
        "change-too-few",
        [
            seal("00" * 64, FOUR, height=5, absent=[0, 1], next_validators=CHANGED),
            end,
        ],
    )
    yield (
        "change-not-before",
        [
            seal("00" * 64, FOUR, height=9, next_validators=CHANGED),
            end,
        ],
    )
    yield (
        "change-of-another",
        [
            seal("00" * 64, FOUR, height=5, next_validators=CHANGED, chain_id="other"),
            end,
        ],
    )
    yield "not-the-last", [seal(last, FOUR, height=3), seal(before, FOUR, height=4)]
    yield "of-1970", [seal(last, FOUR, seconds=0)]
    yield "before-1970", [seal(last, FOUR, seconds=-1)]
    yield "of-9999", [seal(last, FOUR, seconds=LAST_S)]
    yield "after-9999", [seal(last, FOUR, seconds=LAST_S + 1)]
    yield "after-all-time", [seal(last, FOUR, seconds=(1 << 63) - 1)]


def malformed(sealed: SealedHeader, change: Callable[[SealedHeader], None]) -> SealedHeader:
    """Return a sealed header with a change that its signatures do not cover."""
    change(sealed)
    return sealed


def _set(path: str, value: object) -> Callable[[SealedHeader], None]:
    """Return what sets a field."""
    *parents, name = path.split(".")

    def change(sealed: SealedHeader) -> None:
        message: object = sealed
        for each in parents:
            message = message[int(each)] if each.isdigit() else getattr(message, each)  # type: ignore[index]  # a repeated field
        setattr(message, name, value)

    return change


def _more_power(sealed: SealedHeader) -> None:
    sealed.validators[0].voting_power = 1_000_001


def _twice(sealed: SealedHeader) -> None:
    sealed.validators[1].CopyFrom(sealed.validators[0])


def _no_validators(sealed: SealedHeader) -> None:
    del sealed.validators[:]
    del sealed.commit.signatures[:]


def _fewer_signatures(sealed: SealedHeader) -> None:
    del sealed.commit.signatures[-1]


def _swapped(sealed: SealedHeader) -> None:
    first, second = sealed.commit.signatures[0], sealed.commit.signatures[1]
    first.signature, second.signature = second.signature, first.signature


def _without_header(sealed: SealedHeader) -> None:
    sealed.ClearField("header")


def _without_commit(sealed: SealedHeader) -> None:
    sealed.ClearField("commit")


def _other_curve(sealed: SealedHeader) -> None:
    sealed.validators[0].pub_key.ed25519 = b"\1" * 32


MALFORMED: Final[dict[str, Callable[[SealedHeader], None]]] = {
    "height-altered": _set("header.height", 3),
    "height-negative": _set("header.height", -1),
    "chain-altered": _set("header.chain_id", "other"),
    "app-hash-altered": _set("header.app_hash", b"\0" * 64),
    "time-altered": _set("header.time.nanos", 1),
    "version-altered": _set("header.version.block", 12),
    "last-block-altered": _set("header.last_block_id.part_set_header.total", 2),
    "commit-height-altered": _set("commit.height", 3),
    "round-altered": _set("commit.round", 1),
    "round-negative": _set("commit.round", -1),
    "parts-altered": _set("commit.block_id.part_set_header.total", 2),
    "vote-time-altered": _set("commit.signatures.0.timestamp.seconds", 1),
    "vote-short": _set("commit.signatures.2.signature", b"\1" * 63),
    "vote-for-nothing": _set("commit.signatures.3.block_id_flag", 3),
    "vote-unknown": _set("commit.signatures.3.block_id_flag", 0),
    "absent-with-signature": _set("commit.signatures.3.block_id_flag", 1),
    "power-altered": _set("validators.1.voting_power", 2),
    "power-none": _set("validators.1.voting_power", 0),
    "power-negative": _set("validators.1.voting_power", -1),
    "power-too-much": _more_power,
    "validator-twice": _twice,
    "validators-none": _no_validators,
    "signature-missing": _fewer_signatures,
    "signatures-swapped": _swapped,
    "header-missing": _without_header,
    "commit-missing": _without_commit,
    "key-of-another-curve": _other_curve,
    "key-short": _set("validators.0.pub_key.secp256k1", b"\2" * 32),
}
"""Changes of an honest sealed header, by their names."""


def _of_two_kinds() -> Iterator[Networked]:
    """Yield files in which a block is not what the others are, or not what its id says."""
    honest = networked(small())
    trust, last = trust_of(honest), honest.heads[-1].header_signature
    seals = [seal(last, FOUR)]
    heads = list(honest.heads)
    solo = small().heads
    yield Networked(
        "one-signer-first", wire_of(replace(honest, heads=[solo[0], *heads[1:]]), seals), trust
    )
    for name, number in (("id-altered", 1), ("genesis-id-altered", 0)):
        changed = type(heads[number]).FromString(canonical(heads[number]))
        changed.header_signature = "ab" * 64
        made = [*heads[:number], changed, *heads[number + 1 :]]
        yield Networked(name, wire_of(replace(honest, heads=made), seals), trust)
    header = BlockHeader.FromString(heads[-1].header)
    header.consensus = NETWORK_MARK + b"\0" * 7
    short = type(heads[-1])(header=canonical(header), header_signature=last)
    yield Networked(
        "height-short", wire_of(replace(honest, heads=[*heads[:-1], short]), seals), trust
    )
    one = small()
    yield Networked(
        "one-signer-sealed",
        wire_of(one, [seal(one.heads[-1].header_signature, FOUR)]),
        trust_in(one.heads),
    )
    bad = seal(one.heads[-1].header_signature, FOUR, absent=[0, 1])
    yield Networked("one-signer-ill-sealed", wire_of(one, [bad]), trust_in(one.heads))


def _gone_on() -> Iterator[Networked]:
    """Yield a file of a network's ledger that goes on from one signer's, under several trusts."""
    before = Predecessor("cd" * 64, 3, "ef" * 64, (FOUR[0].signer.public_key,))
    evidence = small_after(before)
    trust = replace(trust_of(evidence), predecessors=(before,))
    wire = wire_of(evidence, [seal(evidence.heads[-1].header_signature, FOUR, absent=[3])])
    yield Networked("gone-on", wire, trust)
    yield Networked("gone-on", wire, replace(trust, predecessors=(replace(before, block_num=4),)))
    yield Networked("gone-on", wire, replace(trust, predecessors=()))
    old = small()
    ended = Predecessor(
        old.heads[0].header_signature,
        len(old.heads) - 1,
        old.heads[-1].header_signature,
        tuple(sorted(trust_in(old.heads).block_signers)),
    )
    yield Networked("one-signer-before", old.wire(), replace(trust, predecessors=(ended,)))
    later = replace(ended, block_id="ab" * 64)
    yield Networked("one-signer-before", old.wire(), replace(trust, predecessors=(later,)))


def small_after(before: Predecessor) -> Evidence:
    """Return the small file on a network's ledger that has another one on record."""
    evidence = small()
    entry = Setting(entries=[Setting.Entry(key=SETTING, value=encode([before]))])
    evidence.enter(setting(SETTING), canonical(entry))
    return networked(evidence)
