"""Random worlds in which anything is said, under each version of the rules.

Parties and devices sign actions that were changed here and there. What the rules refuse is kept
beside what the ledger took, so that two verifiers can be asked about both.
"""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from contracts.actions.payload import build
from contracts.actions.table import Action
from contracts.errors import RejectedError
from contracts.proto.payload_pb2 import RegisterDevice, RegisterParty, RegisterSite, StartTrip
from contracts.proto.sawtooth_pb2 import Batch, Transaction
from contracts.rules.version import RulesVersion
from contracts.sawtooth.batches import build_batch
from support.evidence.chain import Evidence, evidence_of
from support.evidence.talk import DAY_MS, ROLES
from support.evidence.worlds import World
from support.network.world import START_MS, Trip, key
from support.verifier.mutation import mutate

CHANGED: Final = 0.25
"""How often an action is changed."""
_VERSIONS: Final = (
    RulesVersion.V1_0,
    *[RulesVersion.V1_1] * 3,
    RulesVersion.V1_2,
    RulesVersion.V1_3,
)
_STARTED_MS: Final = (0, 0, DAY_MS, -1, 50 * DAY_MS)
_NO_TRIP: Final = "ab" * 16
_TAKEN: Final = (0, 2, 7)
"""Seeds of worlds of which the published table has a file that the rules allow."""
REFUSED: Final = {
    "certificate-unknown": (34, 9),
    "form": (19, 0),
    "key-taken": (5, 27),
    "key-was-revoked": (39, 23),
    "lot-taken": (3, 5),
    "not-admin": (10, 0),
    "not-announced": (27, 11),
    "not-sealed": (25, 9),
    "not-the-party": (30, 2),
    "others-revoked": (36, 4),
    "readings-missing": (13, 5),
    "role-missing": (28, 9),
    "rules-behind": (12, 6),
    "seal-not-named": (38, 8),
    "terms-differ": (9, 19),
    "trip-id": (12, 8),
    "unknown-delivery": (4, 5),
    "unknown-device": (32, 3),
    "unknown-hold": (30, 21),
    "unknown-key": (17, 0),
    "unknown-lot": (32, 4),
    "unknown-party": (30, 8),
    "unknown-site": (30, 5),
    "wrong-state": (4, 13),
}
"""By the rule that is broken, the seed of a world and which of the refused batches breaks it."""


class Refused(NamedTuple):
    """A batch that the rules refused.

    Attributes:
        before: What the ledger had taken, by block.
        batch: The batch.
        trip_ids: Trips that had started.
    """

    before: Sequence[Sequence[Batch]]
    batch: Batch
    trip_ids: Sequence[str]

    @property
    def evidence(self) -> Evidence:
        """Return a file that has the batch, as if the ledger had taken it."""
        return evidence_of([*self.before, [self.batch]], self.trip_ids or [_NO_TRIP])


@dataclass
class Lively(World):
    """One such world, made from its seed."""

    no: list[Refused] = field(default_factory=list)

    def _trip(self, *args: Any, **options: Any) -> Trip:  # noqa: ANN401 - of a Trip
        return _LivelyTrip(*args, world=self, **options)

    def _say(self, signer: str, action: Action) -> bool:
        random = self.random
        is_first = isinstance(action, RegisterParty | RegisterSite | RegisterDevice)
        if random.random() < CHANGED and not (is_first and random.random() < 0.8):
            action = self.changed(action)
        if random.random() < 0.05:
            signer = random.choice([*ROLES, "farm's second", "truck-1"])
        version = random.choice(_VERSIONS) if random.random() < 0.25 else RulesVersion.V1_1
        try:
            made = build(key(signer), action, version=version)
        except RejectedError:  # not even to be said
            return False
        return self._commit(build_batch(key(signer), [made]))

    def changed(self, action: Action) -> Action:
        """Return an action with one or two changes."""
        made = deepcopy(action)
        for _ in range(self.random.choice([1, 1, 2])):
            mutate(self.random, made)
        return made

    def _commit(self, batch: Batch) -> bool:
        is_taken = super()._commit(batch)
        if not is_taken and self._seen.isdisjoint(
            each.header_signature for each in batch.transactions
        ):
            before = [*self.groups, *([list(self._pending)] if self._pending else [])]
            self.no.append(Refused(before, batch, [each.trip_id for each in self._trips]))
        return is_taken


@dataclass
class _LivelyTrip(Trip):
    """A trip whose device signs what was changed, now and then."""

    world: Lively = field(kw_only=True)

    @property
    def start(self) -> StartTrip:
        random, start = self.world.random, super().start
        start.started_at_ms = START_MS + random.choice(_STARTED_MS)
        if random.random() < 0.2:
            start.delivery_ids.append(f"delivery-{random.randint(1, 5)}")
        if random.random() < 0.1:
            start.derived_from.add(role="source", name="log", sha256=bytes(32))
        if random.random() < 0.2:
            start.clock.utc_ms, start.clock.boot_id = start.started_at_ms, bytes(16)
        return start

    def sign(self, action: Action, dependencies: Sequence[str] = ()) -> Transaction:
        random = self.world.random
        choices = [(action, RulesVersion.V1_1)]
        if random.random() < 0.3:
            choices.append((action, random.choice(_VERSIONS)))
        if random.random() < CHANGED / 2:
            choices.append((self.world.changed(action), self.version))
        for said, version in reversed(choices):
            self.version = version
            try:
                return super().sign(said, dependencies)
            except RejectedError:  # such as a field that this version does not know
                continue
        return super().sign(action, dependencies)


def lively() -> Iterator[tuple[str, Evidence]]:
    """Yield evidence by name: of worlds in which much was said, and with what no ledger takes."""
    worlds = {seed: Lively(seed) for seed in {*_TAKEN, *(seed for seed, _ in REFUSED.values())}}
    for seed in _TAKEN:
        yield f"lively-{seed}", worlds[seed].evidence[-1]
    for rule, (seed, number) in REFUSED.items():
        yield f"refused-{rule}", worlds[seed].no[number].evidence
