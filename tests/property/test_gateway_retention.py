"""Nothing is deleted that must be kept, whatever commits, holds, quotas, kills and clocks do."""

import tempfile
from pathlib import Path

from hypothesis import event, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from contracts.copies import Copy, Place
from contracts.errors import RejectedError
from contracts.proto.payload_pb2 import Remark
from gateway.intake.held import State
from gateway.records.records import Records
from gateway.retention.autoholds import AutomaticHolds, Ender
from gateway.retention.deletions import DeletionState
from gateway.storagesettings import RetentionSettings
from storage.recordings.manifest import Progress
from support.gateways.grounds import START_MS, named, remarked
from support.gateways.retention import BLOBS, DAY_S, VOLUME, Desk, KilledError, recording, trip

RECORDINGS = st.integers(0, 2).map(recording)
TRIPS = st.integers(0, 2).map(trip)
LISTED_MAX = 1000
FILMED_S = -START_MS // 1000
"""When the recordings of this test were filmed: 1970."""
VOLUME_DAYS, BLOBS_DAYS, PARTIAL_DAYS = 10, 40, 5


class RetentionMachine(RuleBasedStateMachine):
    """What is true is kept beside the gateway; the store asks it at every deletion."""

    def __init__(self) -> None:
        super().__init__()
        self.directory = tempfile.TemporaryDirectory()
        days = RetentionSettings(
            make_room=True,
            volume_days=VOLUME_DAYS,
            blobs_days=BLOBS_DAYS,
            partial_days=PARTIAL_DAYS,
        )
        self.desk = Desk(Path(self.directory.name), days)
        self.desk.store.witness = self.check
        self.offered: dict[tuple[bytes, str], State] = {}
        self.final: set[tuple[bytes, str]] = set()
        self.final_since_s: dict[bytes, float] = {}
        self.stood_since_s: dict[bytes, float] = {}
        self.holds: set[tuple[str, str]] = set()
        self.grounds: list[tuple[str, int]] = []
        self.digests: dict[tuple[bytes, str], int] = {}
        self.let_go: dict[str, int] = {}

    def teardown(self) -> None:
        self.desk.close()
        self.directory.cleanup()

    def check(self, name: bytes, copy: Copy | None) -> None:
        """Judge one deletion by what is true."""
        desk, held = self.desk, {on for on, _ in self.holds}
        trips = {on for what, on in self.offered if what == name}
        assert not trips & held, "deleted under hold"
        for on, known in self.grounds:
            if on in trips:
                shown = self.digests.get((name, on))
                assert shown is not None, "deleted under automatic hold of an announced trip"
                assert self.let_go.get(on, -1) >= max(known, shown), "deleted under automatic hold"
        (begun,) = [each for each in desk.deletions.of(name) if each.state is DeletionState.BEGUN]
        if copy is None:
            assert desk.monotonic_s - self.stood_since_s[name] >= PARTIAL_DAYS * DAY_S
            return
        states = {on: state for (what, on), state in self.offered.items() if what == name}
        waiting = {on for on, state in states.items() if state is not State.QUARANTINED}
        assert waiting <= {on for _, on in self.final}, "deleted while a visit goes on"
        assert waiting & {on for what, on in self.final if what == name}, "never receipted"
        assert State.COMMITTED in states.values(), "deleted without a committed digest"
        assert str(copy) in begun.body.copies
        if begun.body.remaining:
            assert copy.place is Place.VOLUME
            assert BLOBS in desk.store.copies[name], "the last copy that the policy asks for"
            assert name not in desk.store.rotten, "the last copy that the policy asks for"
        else:
            assert desk.monotonic_s - self.final_since_s[name] >= BLOBS_DAYS * DAY_S

    @initialize()
    def begin(self) -> None:
        for number in range(3):
            self.desk.block(named(trip(number)))

    @rule(name=RECORDINGS, on=TRIPS)
    def offer(self, name: bytes, on: str) -> None:
        if (name, on) not in self.offered:
            self.desk.offer(name, on)
            self.offered[name, on] = State.HELD

    @rule(name=RECORDINGS, on=TRIPS)
    def refuse(self, name: bytes, on: str) -> None:
        if self.offered.get((name, on)) is State.HELD:
            self.desk.inbox.mark([f"{name.hex()} {on}"], State.QUARANTINED)
            self.offered[name, on] = State.QUARANTINED

    @rule(name=RECORDINGS, offset=st.integers(0, 3))
    def upload_some(self, name: bytes, offset: int) -> None:
        before = self.desk.store.uploads.get(name)
        if name in self.desk.store.copies or (before and before.offset >= offset):
            return
        self.desk.store.uploads[name] = Progress(name, 4, offset)
        self.stood_since_s[name] = self.desk.monotonic_s

    @rule(name=RECORDINGS, copies=st.sampled_from([(VOLUME, BLOBS), (VOLUME,), (BLOBS,)]))
    def upload_all(self, name: bytes, copies: tuple[Copy, ...]) -> None:
        if name not in self.desk.store.copies:
            self.desk.upload(name, *copies)

    @rule(name=RECORDINGS)
    def fill(self, name: bytes) -> None:
        if name in self.desk.store.copies:
            self.desk.store.copies[name] = [VOLUME, BLOBS]
            self.desk.store.rotten.discard(name)

    @rule(name=RECORDINGS)
    def lose_a_blob(self, name: bytes) -> None:
        self.desk.store.rotten.add(name)

    @rule(name=RECORDINGS, on=TRIPS)
    def commit(self, name: bytes, on: str) -> None:
        whole = name in self.desk.store.copies
        if whole and self.offered.get((name, on)) is State.HELD and self.in_step():
            self.desk.commit(name, on)
            self.offered[name, on] = State.COMMITTED
            self.digests[name, on] = self.newest()

    @rule(on=TRIPS, final=st.booleans())
    def receipt(self, on: str, final: bool) -> None:  # noqa: FBT001
        mine = [(name, state) for (name, at), state in self.offered.items() if at == on]
        names = [name for name, state in mine if state is not State.QUARANTINED]
        committed = all(state is not State.HELD for _, state in mine)
        if not names or not committed or not all(name in self.desk.store.copies for name in names):
            return
        if any(at == on for _, at in self.final):
            return  # the visit is over
        self.desk.receipt(on, *names, lacking="" if final else "blobs")
        if final:
            self.final |= {(name, on) for name in names}
            for name in names:
                self.final_since_s.setdefault(name, self.desk.monotonic_s)

    @rule(on=TRIPS, name=st.sampled_from("ab"), seen=st.booleans())
    def hold(self, on: str, name: str, seen: bool) -> None:  # noqa: FBT001
        if self.in_step():
            self.desk.hold(on, name, seen=seen)
            self.holds.add((on, name))

    @rule(on=TRIPS, name=st.sampled_from("ab"))
    def release(self, on: str, name: str) -> None:
        if self.in_step() and (on, name) in self.holds:
            self.desk.hold(on, name, released=True)
            self.holds.discard((on, name))

    @rule(on=TRIPS)
    def go_wrong(self, on: str) -> None:
        if self.in_step():
            sequence = len(self.grounds)
            self.desk.block(remarked(on, Remark.REBOOTED, FILMED_S, sequence=sequence))
            self.grounds.append((on, self.newest()))

    @rule(on=TRIPS)
    def end_the_holds(self, on: str) -> None:
        ends, inbox = self.desk.deletions.hold_ends, self.desk.inbox
        holds = AutomaticHolds(Records(self.desk.index), ends, inbox)
        by = Ender("ada", "operator", "over")
        known = [at for which, at in self.grounds if which == on]
        shown = [at for (_, which), at in self.digests.items() if which == on]
        last = self.let_go.get(on, -1)
        in_force = any(max(a, b) > last for a in known for b in shown)
        try:
            holds.end(ends, on, None, by, site_id="site-b", at_ms=0)
        except RejectedError:
            assert not in_force
            return
        assert in_force
        head = self.desk.index.head()
        assert head is not None
        self.let_go[on] = head.block_num

    @rule()
    def catch_up(self) -> None:
        self.desk.catch_up()

    @rule(name=RECORDINGS, on=TRIPS)
    def settle(self, name: bytes, on: str) -> None:
        self.catch_up()
        self.upload_all(name, (VOLUME, BLOBS))
        self.offer(name, on)
        for what, at in list(self.offered):
            if at == on:
                self.upload_all(what, (VOLUME, BLOBS))
                self.commit(what, on)
        self.receipt(on, final=True)
        self.ledger(down=False)
        self.work(-1, name, on, "")

    @rule(down=st.booleans())
    def ledger(self, down: bool) -> None:  # noqa: FBT001
        self.desk.ledger.down = down

    @rule(quota=st.integers(0, 3), needed=st.integers(0, 3))
    def crowd(self, quota: int, needed: int) -> None:
        self.desk.quota_bytes, self.desk.needed_bytes = quota << 20, needed << 20

    @rule(days=st.integers(-20_000, 20_000))
    def set_the_clock(self, days: int) -> None:
        self.desk.now_ms = max(0, self.desk.now_ms + days * DAY_S * 1000)

    @rule(days=st.sampled_from([0.1, 3, 6, 11, 41]))
    def time_goes_by(self, days: float) -> None:
        self.desk.days(days)

    @rule(kills=st.integers(-1, 3), name=RECORDINGS, on=TRIPS, late=st.sampled_from(["", "h", "o"]))
    def work(self, kills: int, name: bytes, on: str, late: str) -> None:
        def in_the_last_moment() -> None:
            if late == "h":
                self.hold(on, "a", True)  # noqa: FBT003
            elif late == "o":
                self.offer(name, on)

        self.desk.after_record = in_the_last_moment
        self.desk.store.kills = kills
        try:
            self.desk.step()
        except KilledError:
            self.desk.restart()
        self.desk.store.kills = -1
        self.desk.after_record = lambda: None
        event(f"{len(self.desk.deletions.listed(0, LISTED_MAX))} deletions")

    @rule()
    def restart(self) -> None:
        self.desk.restart()

    @invariant()
    def what_is_gone_is_on_record(self) -> None:
        for name in {what for what, _ in self.final} - self.desk.store.copies.keys():
            assert self.desk.deletions.took_everything(name)

    def newest(self) -> int:
        """Return the number of the ledger's newest block."""
        return len(self.desk.ledger.block_ids) - 1

    def in_step(self) -> bool:
        """Say whether the index has all that the ledger has."""
        head = self.desk.index.head()
        return head is not None and head.block_id == self.desk.ledger.block_ids[-1]


TestRetention = RetentionMachine.TestCase
TestRetention.settings = settings(stateful_step_count=40)
