"""Gateway and node are copied while they work, destroyed, restored: no final receipt is lost."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.backup.manifest import Manifest
from contracts.records.clock import now_ms
from contracts.runtime.checks import Finding, Severity
from gateway.doctor import backups
from gateway.settings_file import load_settings
from support.evidence.chain import digest_of
from support.gateways.yard import Yard, command, done, refused, running_yard
from support.machine.private import write_private
from support.network.world import Trip, reading
from support.trucks.rogue import nonce
from support.trucks.uploads import announce, offer_of, send

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def yard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Yard]:
    """Return a site that every test leaves as it was: working."""
    with running_yard(tmp_path_factory.mktemp("yard")) as made:
        yield made


def test_doctor_and_metrics_tell_of_the_newest_backup(yard: Yard) -> None:
    def found() -> list[dict[str, str]]:
        said = command("wayseal-gateway", "doctor", "--offline", "--json", *yard.options).stdout
        return [each for each in json.loads(said) if each["subject"] == "backup"]

    def shown() -> list[str]:
        text = yard.site.operator.get("/metrics").text
        return [line for line in text.splitlines() if line.startswith("wayseal_backup_timestamp")]

    assert [(each["severity"], each["words"]) for each in found()] == [
        ("error", f"{yard.backups} has no whole backup")
    ]
    assert shown() == []
    path = Path(done("wayseal-gateway", "backup", *yard.options)["backup"])
    (one,) = found()
    assert one["severity"] == "ok"
    assert one["words"].startswith(f"{path.name} was made at ")
    assert float(shown()[0].split()[1]) == Manifest.read(path).made_ms / 1000


def test_doctor_tells_of_the_newest_backup_of_the_node(yard: Yard) -> None:
    nodes = yard.folder / "node-copies"
    plain = load_settings(yard.settings)

    def looked(directory: Path | None, now: int) -> list[Finding]:
        kept = plain.backup.model_copy(update={"node_directory": directory})
        settings = plain.model_copy(update={"backup": kept})
        told = backups.findings(settings, now or now_ms(), yard.node_data)
        return [each for each in told if each.subject == "node's backup"]

    def found(directory: Path | None, now: int = 0) -> list[tuple[Severity, str]]:
        return [(each.severity, each.words) for each in looked(directory, now)]

    ((severity, words),) = found(None)
    assert severity is Severity.WARNING
    assert "backup.node_directory is not set" in words
    assert found(nodes) == [(Severity.ERROR, f"{nodes} has no whole backup")]
    ((remedy, _),) = [each.remedy.split("; ") for each in looked(nodes, 0)]
    path = Path(done(*remedy.split())["backup"])
    ((severity, words),) = found(nodes)
    assert severity is Severity.OK
    assert words.startswith(f"{path.name} was made at ")
    ((severity, words),) = found(nodes, now_ms() + 48 * 3_600_000)
    assert severity is Severity.ERROR
    assert "the newest is overdue, 48 hours old" in words


def test_a_key_in_use_is_restored_only_if_told(yard: Yard) -> None:
    nodes, copy = yard.folder / "node-backups", yard.folder / "copy"
    done("wayseal-node", "backup", nodes, *yard.node)
    done("wayseal-gateway", "backup", *yard.options)
    again = ("wayseal-node", "restore", nodes, "--data", copy)
    assert f"in use: {yard.node_data / 'node.key'}" in refused(*again)
    assert not copy.exists()
    assert done(*again, "--although-in-use")["restored"] == str(copy)
    settings = yard.folder / "copy.toml"
    text = yard.settings.read_text().replace(str(yard.appliance.gateway_data), str(copy / "b"))
    write_private(settings, text)
    said = refused("wayseal-gateway", "restore", yard.backups, "--config", settings)
    assert f"a gateway of site site-b answers at {yard.appliance.rest}" in said


def test_a_backup_is_checked_whole_and_a_damaged_one_is_not_restored(yard: Yard) -> None:
    yard.visit(1)
    nodes = yard.folder / "node-backups"
    ours = Path(done("wayseal-gateway", "backup", *yard.options)["backup"])
    chain = Path(done("wayseal-node", "backup", nodes, *yard.node)["backup"])
    for program, backup, file in (
        ("wayseal-gateway", ours, "data/inbox.db"),
        ("wayseal-node", chain, "data/chain.log.000000"),
    ):
        assert command(program, "check-backup", backup.parent, "--within", "1").returncode == 0
        path = backup / file
        wire = bytearray(path.read_bytes())
        wire[len(wire) // 2] ^= 1
        path.write_bytes(wire)
        assert f"error    {file}: expected SHA-256" in refused(program, "check-backup", backup)
    empty = yard.folder / "empty"
    assert "is damaged" in refused(
        "wayseal-node", "restore", chain, "--data", empty, "--although-in-use"
    )
    assert not empty.exists()
    shutil.rmtree(ours)
    shutil.rmtree(chain)


def test_a_gateway_that_is_destroyed_in_the_middle_of_work_is_restored(yard: Yard) -> None:
    first = yard.visit(11)
    made = done("wayseal-gateway", "backup", *yard.options)
    assert made["left_out"] == {}
    second = yard.visit(12)  # after the backup: on the ledger and on the volume alone
    third, content = Trip(nonce=nonce(13)), b"film 3 " * 300_000
    *batches, video = third.whole([reading(0)], [digest_of(content)])
    data = yard.appliance.gateway_data
    with yard.site.device() as truck:
        truck.send(*batches)
        truck.ask(recordings=[offer_of(third, content, video)])
        assert announce(yard.site.client("truck-1", "device"), content).is_success
        yard.kill_gateway()
    assert f"{data} has" in refused("wayseal-gateway", "restore", yard.backups, *yard.options)
    shutil.rmtree(data)
    restored = command("wayseal-gateway", "restore", yard.backups, *yard.options)
    assert restored.returncode == 0, restored.stderr
    assert "never runs again" in restored.stderr
    document = json.loads(restored.stdout)
    assert document["elsewhere"] == {str(yard.settings): "as it was"}
    yard.appliance.start_gateway()
    for trip, film in (first, second):
        yard.readable(trip, film)
    with yard.site.device() as truck:  # the truck offers again what has no final receipt
        truck.send(*batches)
        truck.ask(recordings=[offer_of(third, content, video)])
        send(yard.site.client("truck-1", "device"), content)
        yard.receipted(third)
    yard.readable(third, content)


def test_a_node_that_is_destroyed_in_the_middle_of_work_is_restored(yard: Yard) -> None:
    backups = yard.folder / "node-backups-2"
    first = yard.visit(21)
    done("wayseal-node", "backup", backups, *yard.node)
    second = yard.visit(22)
    later = done("wayseal-node", "backup", backups, *yard.node)
    third = yard.visit(23)  # after the backup: the gateway submits it again
    yard.kill_node()
    assert "chain.log" in refused("wayseal-node", "restore", backups, *yard.node)
    shutil.rmtree(yard.node_data)
    restored = done("wayseal-node", "restore", backups, *yard.node)
    assert restored["ledger"]["block_id"] == later["ledger"]["block_id"]
    yard.appliance.start_node()
    yard.commit_again(third[0])
    for trip, content in (first, second, third, yard.visit(24)):
        yard.readable(trip, content)
