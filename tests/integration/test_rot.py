"""One flipped bit or one cut in any file of a gateway's data: right, mended or named, never wrong.

The data are those of a real gateway after a visit with a video, a deletion and a round of the
scrub. Each kind of file is damaged many times, by a seeded choice, and what the gateway's parts
then answer is compared with what they answered before.
"""

import hashlib
import random
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Final

import pytest

from contracts.copies import Place
from contracts.errors import WaysealError
from contracts.ledger.client import LedgerClient
from gateway.access import Role, Tokens
from gateway.jobs.job import JobKind
from gateway.jobs.work import Work
from gateway.people.accesslog import Taken
from gateway.people.sessions import SessionKind
from gateway.uploads.claims import Claims
from storage.checked.damage import DamageNotes
from storage.recordings.store import RecordingStore
from storage.volumes.volume import VolumePlace
from storage.volumes.volumes import Volumes
from support.gateways.dock import CONTENT, Dock
from support.gateways.rotting import (
    AUDITOR,
    PARTIAL,
    Ask,
    Kept,
    accesses_in,
    blobs_in,
    jobs_in,
    sessions_in,
)
from support.trucks.rogue import until

pytestmark = pytest.mark.integration

SEED: Final = 18
EACH: Final = 24
"""Mutations of each kind of file in `make test`, over 500 in all; the long form has many more."""
EACH_LONG: Final = 120

DATABASES: Final[Mapping[str, tuple[str, Ask]]] = {
    "index": ("index.db", Kept.in_index),
    "inbox": ("inbox.db", Kept.in_inbox),
    "deletions": ("deletions.db", Kept.in_deletions),
    "scrub": ("scrub.db", Kept.in_scrub),
    "retention": ("retention.db", Kept.in_retention),
    "uploads": ("uploads.db", Kept.in_uploads),
    "accesses": ("accesses.db", Kept.in_accesses),
    "sessions": ("sessions.db", Kept.in_sessions),
    "jobs": ("jobs.db", Kept.in_jobs),
}
LOG: Final = "-[ws]*"
"""What SQLite keeps beside a database that is open: the write-ahead log and the log's index."""
KINDS: Final[Mapping[str, tuple[str, Ask]]] = {
    **DATABASES,
    **{f"log of {kind}": (f"{name}{LOG}", ask) for kind, (name, ask) in DATABASES.items()},
    "result of a job": ("jobs/*", Kept.in_jobs),
    "tokens": ("tokens.json", Kept.in_tokens),
    "key": ("gateway.key", Kept.in_key),
    "public half": ("gateway.pub", Kept.in_key),
    "entry": ("recordings/whole/*/*", Kept.in_store),
    "progress": ("recordings/partial/*", Kept.in_part),
    "blobs": ("blobs/*/*/*/0*", Kept.in_store),
    "manifest of the blobs": ("blobs/*/*/*/manifest", Kept.in_store),
    "whole file": ("volume/??/*", Kept.in_store),
    "partial file": ("volume/parts/*", Kept.in_part),
    "mark of the volume": ("volume/.wayseal-*", Kept.in_store),
    "mark of the blobs": ("blobs/.wayseal-*", Kept.in_store),
    "remembered volume": ("volume-ids/*", Kept.in_store),
}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    dock = Dock(tmp_path_factory.mktemp("rot"))
    try:
        names = {f"truck-{number}": Role.DEVICE for number in range(2, 6)}
        tokens = Tokens(dock.data / "tokens.json")
        made = {name: tokens.add(name, role) for name, role in names.items()}
        dock.scrubbed()
        dock.restart(dock.crowded())
        until("the deletion", lambda: [each["state"] for each in dock.deletions()] == ["done"])
        dock.restart({})
        gateway, node = dock.site.appliance.gateway, dock.site.appliance.node
        assert gateway is not None
        assert node is not None
        gateway.kill()
        killed = dock.data.with_name("killed")
        part(dock.data, killed)
        with closing(LedgerClient(node.addresses["rest"])) as ledger:
            kept = Kept(dock.data, killed, ledger, made)
            for _, ask in DATABASES.values():
                ask(kept, dock.data, DamageNotes())  # empties its log
            yield kept
    finally:
        dock.site.stop()


def part(data: Path, killed: Path) -> None:
    """Leave a partial upload, an access and a session, and give the recording its whole file again.

    All so far is copied.
    """
    recording_id = hashlib.sha256(PARTIAL).digest()
    with ExitStack() as stack:
        volumes = stack.enter_context(
            Volumes({"volume": VolumePlace(data / "volume")}, data / "volume-ids")
        )
        store = stack.enter_context(RecordingStore(data / "recordings", blobs_in(data), volumes))
        claims = stack.enter_context(Claims(data / "uploads.db", lambda _: True))
        claims.claim(recording_id, "truck-2", len(PARTIAL))
        with store.begin(recording_id, len(PARTIAL)) as writer:
            writer.write(PARTIAL[:1000])
            writer.sync()
        ours = hashlib.sha256(CONTENT).digest()
        store.want(ours, Place.VOLUME)
        assert store.fill(ours)
        log = stack.enter_context(closing(accesses_in(data, DamageNotes())))
        sessions = stack.enter_context(closing(sessions_in(data, DamageNotes())))
        jobs = stack.enter_context(closing(jobs_in(data, DamageNotes())))
        jobs.start()
        verdict = Work(
            JobKind.VERIFY_LOT, ("lot",), lambda _: [b"{}"], "application/json", "lot.json"
        )
        jobs.wait(jobs.add(AUDITOR, verdict), 30)
        jobs.stop()
        for number in range(3):
            log.note(AUDITOR, "192.0.2.7", Taken.EVIDENCE, [f"trip-{number}"])
            sessions.begin(SessionKind.PERSON, "ann", f"mark-{number}", AUDITOR)
        assert log.step()
        shutil.copytree(data, killed)  # with the logs of what is open


def damaged(path: Path, chance: random.Random) -> str:
    """Flip one bit of a file, or cut it; return what was done."""
    wire = bytearray(path.read_bytes())
    if chance.random() < 0.2 or not wire:
        length = chance.randrange(len(wire)) if wire else 0
        path.write_bytes(wire[:length])
        return f"cut to {length}"
    place, bit = chance.randrange(len(wire)), chance.randrange(8)
    wire[place] ^= 1 << bit
    path.write_bytes(wire)
    return f"bit {bit} of byte {place}"


def mutate(kept: Kept, kind: str, count: int, work: Path, caplog: pytest.LogCaptureFixture) -> None:
    pattern, ask = KINDS[kind]
    data = kept.killed if pattern.endswith(LOG) else kept.data
    chance = random.Random(f"{SEED} {kind}")
    shutil.copytree(data, work)
    right = ask(kept, work, DamageNotes())
    assert any(right.values()), "nothing to lose"
    for _ in range(count):
        shutil.rmtree(work)
        shutil.copytree(data, work)
        path = chance.choice(sorted(each for each in work.glob(pattern) if each.is_file()))
        done = damaged(path, chance)
        told = f"{kind}: {path.relative_to(work)}: {done}"
        caplog.clear()
        damage = DamageNotes()
        try:
            found = ask(kept, work, damage)
        except WaysealError as error:
            if path.stem not in str(error):
                raise AssertionError(f"{told}: an error that does not name it") from error
            continue
        for what, rows in found.items():
            assert all(row in right[what] for row in rows), f"{told}: wrong {what}"
        if path.name.endswith("-wal") and done.startswith("cut"):
            continue  # a power cut leaves the same; nothing in the files tells one from the other
        lost = any(len(found.get(what, [])) < len(rows) for what, rows in right.items())
        assert not lost or damage.told() or caplog.messages, f"{told}: silently lost"


def test_every_file_is_of_a_kind_that_is_damaged(kept: Kept) -> None:
    """All but the reserve, whose bytes nobody reads."""
    for data in (kept.data, kept.killed):
        files = {each for each in data.rglob("*") if each.is_file() and each.stat().st_size}
        kinds = {each for pattern, _ in KINDS.values() for each in data.glob(pattern)}
        assert files - kinds == {data / "reserve"}


@pytest.mark.parametrize("kind", KINDS)
def test_rot_is_mended_or_named(
    kept: Kept, kind: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    mutate(kept, kind, EACH, tmp_path / "data", caplog)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_much_rot_is_mended_or_named(
    kept: Kept, kind: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    mutate(kept, kind, EACH_LONG, tmp_path / "data", caplog)
