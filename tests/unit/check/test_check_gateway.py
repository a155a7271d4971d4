"""`wayseal-gateway check` names what is wrong, and changes nothing."""

import os
import shutil
from pathlib import Path

import pytest

from contracts.runtime.ports import free_port
from gateway.blobstore import blob_store
from gateway.commands.check import findings as at_the_gateway
from gateway.settings_file import load_settings
from gateway.wayseal_gateway import main as gateway
from storage.volumes.marker import MARKER, Identity
from support.ledgers.fake import FakeLedger
from support.machine.listing import listed
from support.machine.private import write_private


def gateway_file(folder: Path, ledger: str, broker: int, more: str = "") -> Path:
    text = f'data = "{folder}/data"\nsite_id = "dock-1"\n{more}'
    peers = f'[ledger]\nurl = "{ledger}"\n[mqtt]\nport = {broker}\n'
    return write_private(folder / "gateway.toml", text + peers)


def test_a_gateway_s_peers_are_asked(tmp_path: Path) -> None:
    with FakeLedger() as ledger:
        ledger.extend([[]])
        broker = int(ledger.url.rpartition(":")[2])
        path = gateway_file(tmp_path, ledger.url, broker)
        before = listed(tmp_path)
        found = {each.subject: each for each in at_the_gateway(load_settings(path), offline=False)}
        assert found[f"ledger {ledger.url}"].severity == "ok"
        assert found["site_id"].severity == "ok"
        assert found[f"broker 127.0.0.1:{broker}"].severity == "ok"
        assert found["key"].severity == found["tokens"].severity == "warning"
    assert listed(tmp_path) == before


def test_a_gateway_without_its_peers_is_an_error_unless_offline(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    port = free_port()
    path = gateway_file(tmp_path, f"http://127.0.0.1:{port}", port)
    for more, status in ((["--offline"], 0), ([], 1)):
        with pytest.raises(SystemExit) as ended:
            gateway(["check", "--config", str(path), *more])
        assert ended.value.code == status
    said = capsys.readouterr().out
    assert said.count(f"error    ledger http://127.0.0.1:{port}: ") == 1
    assert said.count(f"error    broker 127.0.0.1:{port}: no connection: ") == 1
    assert "\nwarning  tokens: there are none" in said


def test_what_is_wrong_on_a_gateway_s_machine_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    more = (
        f'blobs = "{tmp_path}/file/blobs"\n[volumes.near]\npath = "{tmp_path}/near"\nmount = true\n'
        f'[mosquitto]\nfolder = "{tmp_path}/m"\ncertificate = "/no"\nkey = "{tmp_path}/file"\n'
    )
    path = gateway_file(tmp_path, "http://127.0.0.1:1", 1, more)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "inbox.db").write_text("")
    write_private(tmp_path / "data" / "tokens.json", "{")
    found = at_the_gateway(load_settings(path), offline=True)
    wrong = {each.subject: each.words for each in found if each.severity == "error"}
    assert wrong.keys() == {"key", "tokens", "volume near", "blobs", "mosquitto.certificate"}
    assert "this gateway has worked before" in wrong["key"]
    assert "nothing is mounted at" in wrong["volume near"]
    assert wrong["blobs"] == f"expected a directory, but {tmp_path}/file is a file"


@pytest.mark.parametrize(
    ("text", "words"),
    [(None, "No such file"), ('device_id = "t"', "expected no key device_id"), ("[trip]", "")],
)
def test_the_settings_for_new_trucks_are_looked_at(
    tmp_path: Path, text: str | None, words: str
) -> None:
    trucks = tmp_path / "trucks.toml"
    if text is not None:
        trucks.write_text(text)
    path = gateway_file(tmp_path, "http://127.0.0.1:1", 1)
    path.write_text(path.read_text() + f'[pki]\ntruck_settings = "{trucks}"\n')
    found = at_the_gateway(load_settings(path), offline=True)
    (said,) = [each for each in found if each.subject == "pki.truck_settings"]
    assert said.severity == ("error" if words else "ok")
    assert words in said.words


@pytest.mark.parametrize("emptied", [False, True])
def test_a_volume_that_the_gateway_remembers_and_that_is_lost_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], *, emptied: bool
) -> None:
    path = gateway_file(tmp_path, "http://127.0.0.1:1", 1)
    ((name, volume),) = load_settings(path).all_volumes.items()
    memory = tmp_path / "data" / "volume-ids" / name
    memory.parent.mkdir(parents=True)
    volume.path.mkdir(parents=True)
    Identity(volume.path, memory).check()
    shutil.rmtree(volume.path)
    if emptied:
        volume.path.mkdir()
    with pytest.raises(SystemExit) as ended:
        gateway(["check", "--config", str(path), "--offline"])
    assert ended.value.code == 1
    said = capsys.readouterr().out
    missing = f"its marker {volume.path / MARKER} is missing: it is not mounted, or was wiped"
    assert f"error    volume {name}: {missing}" in said
    assert f"stop the gateway and rm {memory}\n" in said


def test_blobs_that_the_gateway_remembers_and_that_are_lost_are_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = gateway_file(tmp_path, "http://127.0.0.1:1", 1)
    settings = load_settings(path)
    blob_store(settings).close()
    shutil.rmtree(settings.blobs_dir)
    with pytest.raises(SystemExit) as ended:
        gateway(["check", "--config", str(path), "--offline"])
    assert ended.value.code == 1
    marker = settings.blobs_dir / MARKER
    assert f"error    blobs: its marker {marker} is missing" in capsys.readouterr().out


@pytest.mark.skipif(os.geteuid() != 0, reason="giving a file away needs root")
def test_root_is_told_what_the_service_s_user_cannot_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = gateway_file(tmp_path, "http://127.0.0.1:1", 1)
    settings = load_settings(path)
    ((name, volume),) = settings.all_volumes.items()
    for each in (settings.data, volume.path, settings.blobs_dir):
        each.mkdir(parents=True, exist_ok=True)
    (settings.data / "inbox.db").write_text("")
    for each in (settings.data, settings.blobs_dir):
        os.chown(each, 4321, 4321)
    with pytest.raises(SystemExit) as ended:
        gateway(["check", "--config", str(path), "--offline"])
    assert ended.value.code == 1
    said = capsys.readouterr().out
    for subject, there in (
        ("inbox.db", settings.data / "inbox.db"),
        (f"volume {name}", volume.path),
    ):
        assert f"error    {subject}: {there} belongs to user 0: user 4321" in said
        assert f"remedy: chown -R 4321 {there}\n" in said
    assert f"ok       volume {name}" not in said
    assert f"ok       blobs: {settings.blobs_dir}" in said


def test_directories_that_mosquitto_needs_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = {name: tmp_path / "mosquitto" / name for name in ("data", "pid", "socket")}
    more = (
        f'[mosquitto]\nfolder = "{tmp_path}/folder"\ndata = "{wanted["data"]}"\n'
        f'pid_file = "{wanted["pid"]}/mosquitto.pid"\n'
    )
    path = gateway_file(tmp_path, "http://127.0.0.1:1", 1, more)
    socket = f'[mqtt]\nsocket = "{wanted["socket"]}/broker.sock"\n'
    write_private(path, path.read_text().replace("[mqtt]\n", socket))
    words = ["check", "--config", str(path), "--offline"]
    with pytest.raises(SystemExit):
        gateway(words)
    said = capsys.readouterr().out
    for each in wanted.values():
        assert f"install -d -o mosquitto -m 755 {each}" in said
        each.mkdir(parents=True)
    with pytest.raises(SystemExit):
        gateway(words)
    assert "install -d" not in capsys.readouterr().out
