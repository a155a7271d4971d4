"""The record of accesses beside its heads on the ledger, at a real gateway and a real ledger."""

import argparse
import base64
import json
import shutil
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from contracts.actions.payload import build
from contracts.encoding import canonical
from contracts.errors import RejectedError
from contracts.keys import Signer, SigningKey
from contracts.ledger.client import LedgerClient
from contracts.proto.payload_pb2 import CommitAccesses, RegisterSite
from contracts.records.clock import now_ms
from contracts.rules.version import RulesVersion
from contracts.sawtooth.batches import build_batch
from gateway.access import Caller, Role
from gateway.commands import accesses
from gateway.doctor import accesses as doctor
from gateway.index.looked import looking_at_index
from gateway.ownkey import own_key
from gateway.people.accesslog import SCHEMA, AccessLog, Taken
from gateway.people.accessrecord import AccessRecord
from gateway.people.committedheads import CommittedHeads
from gateway.records.gatewaykeys import gateway_keys
from gateway.settings import Settings
from gateway.settings_file import load_settings
from storage.checked.look import looking_at
from support.network.world import Trip, key, one, reading
from support.trucks.rogue import Rogue, Site, nonce, until

pytestmark = pytest.mark.integration


def register(site: Site, site_id: str, *public_keys: str) -> None:
    """Let a site of the buyer register these keys of its gateways, and no others."""
    name = f"Dock B, {time.monotonic()}"  # equal words would be one transaction
    place = RegisterSite(
        site_id=site_id, party_id="buyer", name=name, gateway_public_keys=public_keys
    )
    site.commit([one(key("buyer"), place)])


def copy_of(site: Site, name: str, directory: Path) -> None:
    """Copy a database of the gateway, which is idle, with its log."""
    file = load_settings(site.appliance.settings_file).data / name
    for suffix in ("", "-wal"):
        shutil.copyfile(f"{file}{suffix}", directory / f"{name}{suffix}")


def copied(site: Site, directory: Path) -> Settings:
    """Return settings of a gateway with a copy of the record, and of all that a check reads."""
    settings = load_settings(site.appliance.settings_file)
    copy_of(site, "accesses.db", directory)
    copy_of(site, "index.db", directory)
    shutil.copy(settings.data / "gateway.pub", directory)
    return settings.model_copy(update={"data": directory})


def checked(
    settings: Settings, capsys: pytest.CaptureFixture[str], *kept: Path, offline: bool = False
) -> dict[str, Any]:
    """Return what `accesses --check` says, with these heads that somebody kept."""
    accesses.run(argparse.Namespace(check=True, head=kept, offline=offline), settings)
    said: dict[str, Any] = json.loads(capsys.readouterr().out)
    return said


def test_the_record_holds_against_the_heads_on_the_ledger_until_it_is_cut(
    site: Site, truck: Rogue, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = load_settings(site.appliance.settings_file)
    signer = own_key(own)
    register(site, own.site_id, signer.public_key)
    trip = Trip(nonce=nonce(1))
    truck.send(*trip.whole([reading(0)]))
    until("the receipt", lambda: bool(site.offload(trip.trip_id).get("receipted")))
    assert site.operator.get(f"/v1/evidence?trip={trip.trip_id}").status_code == 200
    settings = copied(site, tmp_path)
    before = checked(settings, capsys)
    assert (before["holds"], before["notes"]) == (True, [])
    assert "the ledger has no head of this record yet" in before["ledger"]
    with (
        closing(AccessLog(settings.accesses_file, signer, settings.site_id)) as log,
        closing(LedgerClient(settings.ledger.place)) as ledger,
    ):
        log.note(Caller("x", Role.AUDITOR), "192.0.2.1", Taken.EVIDENCE, ["a"])
        log.step()
        heads = CommittedHeads(log, ledger, signer, settings.site_id)
        until("the head on the ledger", heads.step)
        kept = tmp_path / "head.json"
        kept.write_text(json.dumps({"signed": base64.b64encode(canonical(log.head())).decode()}))
    after = checked(settings, capsys, kept)
    assert after["heads"] == 2
    assert after["ledger"].startswith("the ledger has 1 head of this record, the last of access ")
    (found,) = doctor.findings(settings, now_ms())
    assert (found.severity, found.words) == ("ok", after["ledger"])
    with (
        closing(AccessLog(settings.accesses_file, signer, settings.site_id)) as log,
        log._db.transaction() as db,  # noqa: SLF001 - as the gateway's operator may
    ):
        db.execute("DELETE FROM accesses WHERE number = ?", (after["accesses"],))
        db.execute("DELETE FROM heads")
    (found,) = doctor.findings(settings, now_ms())
    assert found.severity == "error"
    assert f"the head of access {after['accesses']} of " in found.words
    with pytest.raises(RejectedError, match="it was cut, or an older copy was restored"):
        checked(settings, capsys)
    lost = f"the head of access {after['accesses']} was signed, and that access is missing"
    with pytest.raises(RejectedError, match=lost):
        checked(settings, capsys, kept, offline=True)
    assert checked(settings, capsys, offline=True)["holds"]  # without that head nobody can tell


def test_heads_by_an_earlier_key_count_if_the_site_had_it_then(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = copied(site, tmp_path).model_copy(update={"site_id": "site-buyer"})
    earlier, now = Signer.generate(), own_key(load_settings(site.appliance.settings_file))

    def begin(ms: int) -> None:
        """Begin a record with one access and a head by the earlier key."""
        for file in tmp_path.glob("accesses.db*"):
            file.unlink()
        with closing(
            AccessLog(settings.accesses_file, earlier, settings.site_id, now=lambda: ms)
        ) as log:
            log.note(Caller("x", Role.AUDITOR), "192.0.2.1", Taken.EVIDENCE, ["a"])
            log.step()

    begin(now_ms())
    with pytest.raises(RejectedError, match="a gateway whose key is not trusted"):
        checked(settings, capsys)
    for key_then in (earlier, now):
        register(site, settings.site_id, key_then.public_key)
    until("the removal", lambda: earlier.public_key in removed(site, settings.site_id))
    copy_of(site, "index.db", tmp_path)
    assert checked(settings, capsys)["heads"] == 1
    begin(now_ms() + 86_400_000)
    with pytest.raises(RejectedError, match=f"had removed key {earlier.public_key} by "):
        checked(settings, capsys)


def removed(site: Site, site_id: str) -> set[str]:
    """Return the keys of a site that it has removed, in a block with a time, as the index knows."""
    return {each for each, at_ms in known(site, site_id).items() if at_ms is not None}


def known(site: Site, site_id: str) -> dict[str, int | None]:
    """Return the keys that a site had registered, as the index knows."""
    settings = load_settings(site.appliance.settings_file)
    with looking_at_index(settings.data / "index.db") as index:
        return gateway_keys(index, site_id)


def test_two_gateways_of_a_site_have_a_record_each_and_neither_accuses_the_other(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A key that a site has registered is not for that this gateway's: a thief's may be there."""
    other, site_id = Signer.generate(), "site-buyer"
    settings = copied(site, tmp_path).model_copy(update={"site_id": site_id})
    signer = own_key(load_settings(site.appliance.settings_file))
    register(site, site_id, signer.public_key, other.public_key)
    until("the keys in the index", lambda: other.public_key in known(site, site_id))
    copy_of(site, "index.db", tmp_path)
    settings.accesses_file.unlink()
    settings.accesses_file.with_name("accesses.db-wal").unlink()
    begun = now_ms()
    for file, by in ((settings.accesses_file, signer), (tmp_path / "other.db", other)):
        commit_head(settings, file, by, begun)
    said = checked(settings, capsys)
    assert (said["holds"], said["notes"]) == (True, [])
    assert f"by key {other.public_key} with 1 access until" in said["others"][0]
    (found,) = doctor.findings(settings, now_ms())
    assert (found.severity, found.words) == ("ok", said["ledger"])
    with looking_at(settings.accesses_file, SCHEMA) as db:
        sha256 = AccessRecord(db).sha256
    theirs = CommitAccesses(
        site_id=site_id, record_sha256=sha256, sequence=1, number=1, sha256=sha256, at_ms=begun
    )
    made = build(other, theirs, version=RulesVersion.V1_3)
    site.commit([build_batch(other, [made])])
    (said_of_thief,) = checked(settings, capsys)["notes"]
    assert said_of_thief == (
        f"key {other.public_key} of the site, which is not this gateway's, committed 1 head of "
        "this record"
    )


def test_the_doctor_reads_the_whole_record_and_says_what_is_wrong_with_it(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What lies between heads counts too; and only a lost file is to be restored."""
    signer = own_key(load_settings(site.appliance.settings_file))
    settings = copied(site, tmp_path).model_copy(update={"site_id": "site-looked-at"})
    register(site, settings.site_id, signer.public_key)
    for file in tmp_path.glob("accesses.db*"):
        file.unlink()
    commit_head(settings, settings.accesses_file, signer, now_ms())
    with closing(AccessLog(settings.accesses_file, signer, settings.site_id)) as log:
        for each in "ab":
            log.note(Caller("x", Role.AUDITOR), "192.0.2.1", Taken.EVIDENCE, [each])

    def told() -> list[tuple[str, str]]:
        return [(each.severity, each.words) for each in doctor.findings(settings, now_ms())]

    ((severity, words),) = told()
    assert (severity, words[:40]) == ("ok", "the ledger has 1 head of this record, th")
    with (
        closing(AccessLog(settings.accesses_file, signer, settings.site_id)) as log,
        log._db.transaction() as db,  # noqa: SLF001 - as the gateway's operator may
    ):
        db.execute("DELETE FROM accesses WHERE number = 2")
    gap = "expected access 2, got 3: entries are missing"
    assert ("error", gap) in told()
    with pytest.raises(RejectedError, match=gap):
        checked(settings, capsys)
    with (
        closing(AccessLog(settings.accesses_file, signer, settings.site_id)) as log,
        log._db.transaction() as db,  # noqa: SLF001 - as an earlier gateway left it
    ):
        db.execute("PRAGMA user_version = 1")
    (found,) = doctor.findings(settings, now_ms())
    assert "expected version 2, got 1" in found.words
    assert found.remedy.startswith("check the disk; a start of the gateway brings up a file of an ")
    for file in tmp_path.glob("accesses.db*"):
        file.unlink()
    found, *_ = doctor.findings(settings, now_ms())
    assert found.severity == "error"
    assert f"{settings.accesses_file} is missing: the record began again: the ledger" in found.words


def test_a_head_by_a_key_that_was_removed_is_a_note_where_the_ledger_has_it(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The site removed the old key, the gateway signed, and then it got its new key."""
    earlier, now = Signer.generate(), own_key(load_settings(site.appliance.settings_file))
    settings = copied(site, tmp_path).model_copy(update={"site_id": "site-of-two-keys"})
    for file in tmp_path.glob("accesses.db*"):
        file.unlink()
    for key_then in (earlier, now):
        register(site, settings.site_id, key_then.public_key)
    until("the removal", lambda: earlier.public_key in removed(site, settings.site_id))
    copy_of(site, "index.db", tmp_path)
    later = now_ms() + 600_000
    with closing(
        AccessLog(settings.accesses_file, earlier, settings.site_id, now=lambda: later)
    ) as log:
        log.note(Caller("x", Role.AUDITOR), "192.0.2.1", Taken.EVIDENCE, ["a"])
        log.step()
    with pytest.raises(RejectedError, match=f"had removed key {earlier.public_key} by "):
        checked(settings, capsys)
    commit_head(settings, settings.accesses_file, now, later)
    notes = checked(settings, capsys)["notes"]
    assert any(f"removed key {earlier.public_key} by " in each for each in notes)


def commit_head(settings: Settings, file: Path, signer: SigningKey, ms: int) -> None:
    """Commit the head of a record, which begins with this if it has no access."""
    with (
        closing(AccessLog(file, signer, settings.site_id, now=lambda: ms)) as log,
        closing(LedgerClient(settings.ledger.place)) as ledger,
    ):
        log.note(Caller("x", Role.AUDITOR), "192.0.2.1", Taken.EVIDENCE, [file.name])
        log.step()
        heads = CommittedHeads(log, ledger, signer, settings.site_id)
        until("the head on the ledger", heads.step)
