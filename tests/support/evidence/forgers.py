"""Forgers: files about a world's ledger that tell another story, or hide a part of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Final

from google.protobuf.message import DecodeError

from contracts.actions.payload import build, decode
from contracts.encoding import canonical
from contracts.evidence.report import as_json
from contracts.evidence.trust import Trust
from contracts.evidence.verify import Verdict
from contracts.proto.evidence_pb2 import StateNode
from contracts.proto.sawtooth_pb2 import Batch
from contracts.sawtooth.batches import build_batch, parse_header
from support.evidence.chain import Evidence, evidence_of, seal, unseal
from support.evidence.forgery import verdict_on
from support.evidence.worlds import World
from support.network.world import KEYS

_CLAIMS: Final = ("verdict", "trips", "transformations", "recordings", "keys", "format")


@dataclass(frozen=True, slots=True)
class Forgery:
    """One forged file.

    Attributes:
        kind: What the forger did.
        wire: The file.
    """

    kind: str
    wire: bytes


@dataclass
class Forger:
    """Forges one world's files.

    Attributes:
        world: The world.
        told: An honest file about it.
        other: An honest file about another world.
        random: Chooses what to forge.
    """

    world: World
    told: Evidence
    other: Evidence
    random: Random

    def forge(self) -> Forgery:
        """Return a forged file."""
        kind = self.random.choice(list(_KINDS))
        changed = _KINDS[kind](self)
        return Forgery(kind, changed if isinstance(changed, bytes) else changed.wire())

    def leave_out(self) -> Evidence:
        """Leave out some batches, and show whatever of the true state suits the rest."""
        gone = set(self.random.sample(range(len(self.told.batches)), self._some()))
        kept = [each for at, each in enumerate(self.told.batches) if at not in gone]
        forged = replace(self.told, batches=kept)
        forged.prove()
        return forged

    def _some(self) -> int:
        return self.random.choice([1, 1, 2, 3])

    def leave_out_a_story(self) -> Evidence:
        """Leave out everything that one key signed."""
        signer = parse_header(self.random.choice(self.told.batches).transactions[0])
        kept = [
            each
            for each in self.told.batches
            if parse_header(each.transactions[0]).signer_public_key != signer.signer_public_key
        ]
        forged = replace(self.told, batches=kept)
        forged.prove()
        return forged

    def swap(self) -> Evidence:
        batches = list(self.told.batches)
        one, other = (self.random.randrange(len(batches)) for _ in range(2))
        batches[one], batches[other] = batches[other], batches[one]
        return replace(self.told, batches=batches)

    def sign_another(self) -> Evidence:
        """Put another action of the same signer in a batch's place."""
        batches = list(self.told.batches)
        at = self.random.randrange(len(batches))
        batches[at] = self._another(batches[at])
        forged = replace(self.told, batches=batches)
        forged.prove()
        return forged

    def _another(self, batch: Batch) -> Batch:
        """Return a batch of the same signer that says something else, with a valid signature."""
        transaction = self.random.choice(batch.transactions)
        signer = KEYS[parse_header(transaction).signer_public_key]
        action = decode(transaction.payload)
        for name in ("product", "reason", "quantity", "at_ms", "payment", "reading_count"):
            if name in action.DESCRIPTOR.fields_by_name:
                value = getattr(action, name)
                setattr(action, name, value + 1 if isinstance(value, int) else f"{value}!")
                break
        return build_batch(signer, [build(signer, action)])

    def another_under_the_old_id(self) -> Evidence:
        batches = list(self.told.batches)
        at = self.random.randrange(len(batches))
        forged = self._another(batches[at])
        forged.header_signature = batches[at].header_signature
        batches[at] = forged
        return replace(self.told, batches=batches)

    def graft(self) -> Evidence:
        """Add a batch of another ledger."""
        batches = list(self.told.batches)
        batches.insert(self.random.randrange(len(batches)), self.random.choice(self.other.batches))
        return replace(self.told, batches=batches)

    def another_ledger(self) -> Evidence:
        return replace(self.told, heads=self.other.heads)

    def cut_the_end(self) -> Evidence:
        """Hide the last blocks, but show the state of the end."""
        kept = self.random.randint(1, len(self.told.heads) - 1)
        return replace(self.told, heads=self.told.heads[:kept])

    def older_state(self) -> Evidence:
        """Show the last blocks, but the state of an earlier one, and only batches up to it."""
        count = self.random.randint(1, len(self.world.groups))
        older = evidence_of(self.world.groups[:count], self.told.header.trip_ids)
        return replace(older, heads=self.told.heads)

    def without_nodes(self) -> Evidence:
        nodes = list(self.told.nodes)
        for _ in range(min(self._some(), len(nodes))):
            nodes.pop(self.random.randrange(len(nodes)))
        return replace(self.told, nodes=nodes)

    def another_node(self) -> Evidence:
        nodes = list(self.told.nodes)
        at = self.random.randrange(len(nodes))
        wire = bytearray(canonical(nodes[at]))
        wire[self.random.randrange(len(wire))] ^= 1 << self.random.randrange(8)
        try:
            nodes[at] = StateNode.FromString(bytes(wire))
        except DecodeError:  # no message any more
            del nodes[at]
        return replace(self.told, nodes=nodes)

    def nodes_of_another(self) -> Evidence:
        return replace(self.told, nodes=self.other.nodes)

    def change_a_byte(self) -> bytes:
        wire = bytearray(unseal(self.told.wire()))
        wire[self.random.randrange(len(wire))] ^= 1 << self.random.randrange(8)
        return seal(bytes(wire))

    def as_format_1(self) -> bytes:
        """Show a file of the format that proves no state, with batches left out."""
        return self.leave_out().wire_of_format_1()


_KINDS: Final[Mapping[str, Callable[[Forger], Evidence | bytes]]] = {
    "batches left out": Forger.leave_out,
    "a signer left out": Forger.leave_out_a_story,
    "batches swapped": Forger.swap,
    "another action signed": Forger.sign_another,
    "another action under the old id": Forger.another_under_the_old_id,
    "a batch of another ledger": Forger.graft,
    "blocks of another ledger": Forger.another_ledger,
    "the last blocks cut off": Forger.cut_the_end,
    "an older state": Forger.older_state,
    "state nodes left out": Forger.without_nodes,
    "a state node changed": Forger.another_node,
    "state nodes of another ledger": Forger.nodes_of_another,
    "a byte changed": Forger.change_a_byte,
    "the earlier format": Forger.as_format_1,
}


def passes(forged: Forgery, honest: Verdict, trust: Trust) -> bool:
    """Say whether a forgery is believed although it tells another story than the honest file.

    A file that says the same, or that names what it does not show, deceives nobody.
    """
    verdict = verdict_on(forged.wire, trust)
    if not verdict.holds:
        return False
    lie, truth = as_json(verdict), as_json(honest)
    if lie["ledger"]["blocks"] < truth["ledger"]["blocks"]:
        return False  # it names an earlier last block
    # A video that is missing is no excuse for another story.
    admitted = {each for each in lie["not_shown"] if not each.startswith("the video of ")}
    if not admitted <= set(truth["not_shown"]):
        return False
    return _claims(lie) != _claims(truth)


def _claims(told: Mapping[str, Any]) -> dict[str, Any]:
    claims = {name: told[name] for name in _CLAIMS}
    # How much of a recording the file has is told, and no lie.
    claims["recordings"] = [
        {name: value for name, value in each.items() if not name.endswith("checked")}
        for each in told["recordings"]
    ]
    claims["transformations"] = _sources(told)
    return claims


def _sources(told: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the transformations behind the delivered lots; a file may tell of others too."""
    trips = told["trips"]
    lots = {_lot(lot) for trip in trips for each in trip["deliveries"] for lot in each["lots"]}
    found: dict[str, dict[str, Any]] = {}
    while new := [
        each
        for each in told["transformations"]
        if each["transformation_id"] not in found and lots & set(map(_lot, each["outputs"]))
    ]:
        for each in new:
            found[each["transformation_id"]] = each
            lots |= set(map(_lot, each["inputs"]))
    return [found[name] for name in sorted(found)]


def _lot(named: Mapping[str, Any]) -> tuple[str, str]:
    return named["gtin"], named["lot"]
