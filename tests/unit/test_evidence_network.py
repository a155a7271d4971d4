"""Evidence of a ledger that a network of validators makes: what their signatures prove."""

import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from contracts.encoding import canonical
from contracts.errors import RejectedError
from contracts.evidence.report import as_json
from contracts.evidence.trust import Trust, TrustedNetwork
from contracts.evidence.verify import Verdict, verify_evidence
from contracts.evidence.words import as_text
from contracts.keys import Signer
from contracts.proto.cometbft_pb2 import SealedHeader
from support.evidence.chain import Evidence, story, trust_in
from support.evidence.networked import networked
from support.ledgers.sealing import Member, members, seal

FOUR = members(4)
POWERS = {each.signer.public_key: each.power for each in FOUR}
CHANGED = [*FOUR[1:], Member(Signer.from_hex("77" * 32))]


@dataclass
class Told:
    """An honest file, and the trust file for it."""

    evidence: Evidence
    trust: Trust

    def verdict(self, seals: Sequence[SealedHeader], trust: Trust | None = None) -> Verdict:
        self.evidence.seals = [canonical(each) for each in seals]
        return verify_evidence(io.BytesIO(self.evidence.wire()), trust or self.trust, [])

    @property
    def last_id(self) -> str:
        return self.evidence.heads[-1].header_signature


@pytest.fixture
def told() -> Told:
    evidence = networked()
    trust = replace(
        trust_in(evidence.heads), block_signers=frozenset(), network=TrustedNetwork("test", POWERS)
    )
    return Told(evidence, trust)


def test_a_file_that_validators_sealed_holds(told: Told) -> None:
    verdict = told.verdict([seal(told.last_id, FOUR, absent=[0])])
    assert verdict.problems == []
    assert verdict.holds
    assert verdict.sealed is not None
    assert (verdict.sealed.power, verdict.sealed.power_of_all) == (3, 4)
    document = as_json(verdict)
    assert document["keys"]["block_signers"] == []
    assert document["keys"]["network"] == {"chain_id": "test", "validators": POWERS}
    assert document["ledger"]["sealed"]["by"] == sorted(each.signer.public_key for each in FOUR[1:])
    text = as_text(verdict)
    assert "sealed by 3 validators of network test with 3 of 4 of the voting power" in text


def test_without_a_seal_nothing_shows_who_made_the_blocks(told: Told) -> None:
    verdict = told.verdict([])
    assert not verdict.holds
    assert "the file has no sealed header" in verdict.problems[0]


def test_a_seal_of_another_block_does_not_count(told: Told) -> None:
    before = told.evidence.heads[-2].header_signature
    verdict = told.verdict([seal(before, FOUR)])
    assert not verdict.holds
    assert "the last block is" in verdict.problems[0]


def test_too_few_validators_do_not_seal(told: Told) -> None:
    verdict = told.verdict([seal(told.last_id, FOUR, absent=[0, 1])])
    assert not verdict.holds
    assert "more than two thirds" in verdict.problems[0]


def test_other_validators_than_trusted_do_not_count(told: Told) -> None:
    strangers = [Member(Signer.generate()) for _ in range(4)]
    verdict = told.verdict([seal(told.last_id, strangers)])
    assert not verdict.holds
    assert not verdict.anchored
    assert "not the trusted one" in verdict.problems[0]


def test_another_power_or_name_is_another_network(told: Told) -> None:
    heavy = [Member(FOUR[0].signer, 9), *FOUR[1:]]
    assert not told.verdict([seal(told.last_id, heavy)]).holds
    assert not told.verdict([seal(told.last_id, FOUR, chain_id="other")]).holds


def test_validators_change_by_headers_that_name_the_next_ones(told: Told) -> None:
    change = seal("00" * 64, FOUR, height=5, next_validators=CHANGED)
    verdict = told.verdict([change, seal(told.last_id, CHANGED, height=9)])
    assert verdict.problems == []
    assert verdict.holds


@pytest.mark.parametrize(
    "seals",
    [
        lambda last: [seal("00" * 64, FOUR, height=5), seal(last, CHANGED, height=9)],
        lambda last: [seal(last, CHANGED, height=9)],
        lambda last: [
            seal("00" * 64, FOUR, height=9, next_validators=CHANGED),
            seal(last, CHANGED, height=9),
        ],
        lambda last: [
            seal("00" * 64, FOUR, height=5, absent=[0, 1], next_validators=CHANGED),
            seal(last, CHANGED, height=9),
        ],
        lambda last: [
            seal("00" * 64, FOUR, height=5, next_validators=CHANGED, chain_id="other"),
            seal(last, CHANGED, height=9),
        ],
    ],
)
def test_a_gap_between_validators_is_found(
    told: Told, seals: Callable[[str], list[SealedHeader]]
) -> None:
    verdict = told.verdict(seals(told.last_id))
    assert not verdict.holds
    assert verdict.problems


def test_trust_in_one_signer_does_not_cover_a_network(told: Told) -> None:
    one = trust_in(told.evidence.heads)
    verdict = told.verdict([seal(told.last_id, FOUR)], one)
    assert not verdict.holds
    assert "expected its member network" in verdict.problems[0]


def test_trust_in_a_network_does_not_cover_one_signer(told: Told) -> None:
    alone = story([]).evidence
    trust = replace(told.trust, genesis_block_id=alone.heads[0].header_signature)
    verdict = verify_evidence(io.BytesIO(alone.wire()), trust, [])
    assert not verdict.holds
    assert "which is not trusted" in verdict.problems[0]


def test_one_signer_cannot_go_on_with_a_networks_ledger(told: Told) -> None:
    mixed = story([]).evidence
    told.evidence.heads[-1] = mixed.heads[-1]
    verdict = told.verdict([seal(told.last_id, FOUR)])
    assert not verdict.holds


def test_without_a_trust_file_the_validators_are_named(told: Told) -> None:
    told.evidence.seals = [canonical(seal(told.last_id, FOUR))]
    verdict = verify_evidence(io.BytesIO(told.evidence.wire()), None, [])
    assert not verdict.holds
    text = as_text(verdict)
    assert "network test, which began with the validators" in text
    assert all(key in text for key in POWERS)


def test_each_byte_of_a_sealed_header_matters(told: Told) -> None:
    honest_seal = seal(told.last_id, FOUR, absent=[2])  # one more, and too few are left
    wire = honest_seal.SerializeToString(deterministic=True)
    for place in range(0, len(wire), 3):
        changed = bytearray(wire)
        changed[place] ^= 1
        told.evidence.seals = [bytes(changed)]
        file = io.BytesIO(told.evidence.wire())
        assert not verify_evidence(file, told.trust, []).holds, place


def test_a_trust_file_names_a_network(told: Told, tmp_path: Path) -> None:
    path = tmp_path / "trust.json"
    path.write_text(told.trust.to_json())
    assert Trust.load(path) == told.trust


@pytest.mark.parametrize(
    "change",
    [
        {"network": None},
        {"network": {"chain_id": "x"}},
        {"network": {"chain_id": 1, "validators": POWERS}},
        {"network": {"chain_id": "x", "validators": {}}},
        {"network": {"chain_id": "x", "validators": {"02": 1}}},
        {"block_signers": [FOUR[0].signer.public_key]},
    ],
)
def test_a_trust_file_in_another_form_is_refused(
    told: Told, tmp_path: Path, change: dict[str, object]
) -> None:
    path = tmp_path / "trust.json"
    path.write_text(json.dumps(json.loads(told.trust.to_json()) | change))
    with pytest.raises(RejectedError, match="trust file"):
        Trust.load(path)
