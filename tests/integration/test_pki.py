"""`wayseal-gateway pki`: what it makes is what OpenSSL accepts, and what it refuses."""

import json
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509

from contracts.errors import RejectedError
from gateway.pki import authority as authority_module
from gateway.pki.authority import Authority
from gateway.pki.register import Entry, Kind
from gateway.wayseal_gateway import main
from support.machine.private import write_private

pytestmark = pytest.mark.integration


class Commands:
    """`wayseal-gateway pki`, with one folder."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capsys = capsys

    def run(self, *words: str) -> list[dict[str, object]]:
        with pytest.raises(SystemExit) as ended:
            main(["pki", *words, "--folder", str(self.folder)])
        said = self._capsys.readouterr()
        assert ended.value.code == 0, said.err
        return [json.loads(line) for line in said.out.splitlines()]

    def refused(self, *words: str) -> str:
        with pytest.raises(SystemExit) as ended:
            main(["pki", *words, "--folder", str(self.folder)])
        assert ended.value.code == 1
        return self._capsys.readouterr().err


@pytest.fixture
def pki(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Commands:
    commands = Commands(tmp_path / "pki", capsys)
    commands.run("init")
    return commands


def openssl(*words: str | Path) -> str:
    done = subprocess.run(  # noqa: S603  # our own words
        ["openssl", *map(str, words)],  # noqa: S607  # where the system has it
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def verified(pki: Commands, certificate: Path, purpose: str) -> str:
    trusted: list[str | Path] = [
        "-CAfile",
        pki.folder / "ca.crt",
        "-CRLfile",
        pki.folder / "crl.pem",
    ]
    return openssl(
        "verify", "-x509_strict", "-crl_check", *trusted, "-purpose", purpose, certificate
    )


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_openssl_takes_a_server_s_certificate_for_both_ends(pki: Commands, tmp_path: Path) -> None:
    words = ["gw.example", "--san", "10.0.0.5", "*.gw.example", "--out", str(tmp_path / "out")]
    (made,) = pki.run("server", *words)
    path = tmp_path / "out" / "gw.example.crt"
    assert made["files"] == str(path)
    for purpose in ("sslserver", "sslclient"):
        assert verified(pki, path, purpose).endswith("OK\n")
    text = openssl("x509", "-in", path, "-noout", "-text")
    assert "DNS:gw.example, IP Address:10.0.0.5, DNS:*.gw.example" in text
    pem = path.with_name("gw.example.pem").read_text("utf-8")
    assert pem == path.with_name("gw.example.key").read_text("utf-8") + path.read_text("utf-8")
    for name in ("gw.example.key", "gw.example.pem"):
        assert mode(path.with_name(name)) == 0o600
    assert mode(pki.folder / "ca.key") == mode(pki.folder / "register.json") == 0o600


def test_openssl_takes_a_device_s_certificate_for_a_client_alone(pki: Commands) -> None:
    (made,) = pki.run("device", "truck-7")
    path = Path(str(made["files"]))
    assert verified(pki, path, "sslclient").endswith("OK\n")
    assert "unsuitable certificate purpose" in verified(pki, path, "sslserver")
    text = openssl("x509", "-in", path, "-noout", "-text")
    assert "URI:urn:wayseal:device:truck-7" in text
    assert "CN = truck-7" in text
    assert made["days_left"] in (89, 90)


def test_the_fingerprint_is_the_one_that_openssl_prints(pki: Commands) -> None:
    said = openssl("x509", "-in", pki.folder / "ca.crt", "-noout", "-fingerprint", "-sha256")
    expected = said.partition("=")[2].strip().replace(":", "").lower()
    assert pki.run("fingerprint")[0]["fingerprint"] == expected


def test_what_is_revoked_is_on_the_list_at_once_and_may_be_made_again(pki: Commands) -> None:
    (made,) = pki.run("device", "truck-7")
    assert "has a certificate that holds" in pki.refused("device", "truck-7")
    first, path = made["serial"], Path(str(made["files"]))
    assert [each["serial"] for each in pki.run("revoke", "truck-7")] == [first]
    assert "certificate revoked" in verified(pki, path, "sslclient")
    assert pki.run("list") == []
    assert pki.run("list", "--all")[0]["revoked"]
    assert "is not overwritten" in pki.refused("device", "truck-7")
    again = pki.folder / "again"
    pki.run("device", "truck-7", "--out", str(again))
    assert verified(pki, again / "truck-7.crt", "sslclient").endswith("OK\n")


def test_a_repeated_revocation_says_so_and_writes_the_list_that_a_cut_kept_back(
    pki: Commands,
) -> None:
    pki.run("device", "truck-7")
    before = (pki.folder / "crl.pem").read_bytes()
    (first,) = pki.run("revoke", "truck-7")
    assert not first["already"]
    # A cut comes between the register and the list.
    (pki.folder / "crl.pem").write_bytes(before)
    assert pki.run("revoke", "truck-7") == [first | {"already": True}]
    assert len(x509.load_pem_x509_crl((pki.folder / "crl.pem").read_bytes())) == 1
    register = (pki.folder / "register.json").read_bytes()
    for strangers in (["truck-8"], ["truck-7", "truck-8"]):
        assert "no certificate of truck-8 holds" in pki.refused("revoke", *strangers)
    assert (pki.folder / "register.json").read_bytes() == register


def test_of_a_name_with_a_new_certificate_that_one_is_revoked(pki: Commands) -> None:
    pki.run("device", "truck-7")
    pki.run("revoke", "truck-7")
    (made,) = pki.run("device", "truck-7", "--out", str(pki.folder / "again"))
    (gone,) = pki.run("revoke", "truck-7")
    assert (gone["serial"], gone["already"]) == (made["serial"], False)


def test_each_list_is_later_than_the_one_before_and_keeps_what_is_revoked(pki: Commands) -> None:
    pki.run("device", "truck-7")
    pki.run("revoke", "truck-7")
    lists = []
    for _ in range(3):
        assert pki.run("crl")[0]["revoked"] == 1
        lists.append(x509.load_pem_x509_crl((pki.folder / "crl.pem").read_bytes()))
    numbers = [
        each.extensions.get_extension_for_class(x509.CRLNumber).value.crl_number for each in lists
    ]
    assert numbers == sorted(set(numbers))
    times = [each.last_update_utc for each in lists]
    assert times == sorted(set(times))
    assert times[-1] < datetime.now(UTC)


def test_a_renewed_certificate_has_the_same_key_and_names(pki: Commands) -> None:
    (made,) = pki.run("server", "gw.example", "--san", "10.0.0.5")
    path = Path(str(made["files"]))
    key = path.with_suffix(".key").read_bytes()
    (renewed,) = pki.run("renew", "gw.example")
    assert renewed["serial"] != made["serial"]
    assert renewed["sans"] == made["sans"]
    assert path.with_suffix(".key").read_bytes() == key
    assert verified(pki, path, "sslserver").endswith("OK\n")
    assert len(pki.run("list")) == 2
    assert pki.run("renew") == []
    assert len(pki.run("revoke", "gw.example")) == 2


def test_what_is_past_two_thirds_of_its_time_is_renewed(
    pki: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = datetime.now(UTC).replace(microsecond=0) - timedelta(days=61)
    monkeypatch.setattr(authority_module, "utc_now", lambda: begun)
    pki.run("server", "old.example")
    monkeypatch.undo()
    pki.run("server", "new.example")
    assert [each["name"] for each in pki.run("renew")] == ["old.example"]
    assert pki.run("renew") == []


def test_no_device_takes_a_server_s_name_nor_a_server_a_device_s(pki: Commands) -> None:
    pki.run("server", "gateway")
    pki.run("device", "truck-7")
    assert "gateway is the name of a server" in pki.refused("device", "gateway")
    assert "truck-7 is the name of a device" in pki.refused("server", "truck-7")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["server", "a b"], "server id must be"),
        (["server", "a", "--san", "b/c"], "expected a host name or an IP address, got 'b/c'"),
        (["device", "../x"], "device id must be"),
        (["init", "--name", "x" * 65], "expected 1..64 characters, got 65"),
        (["renew", "nobody"], "nobody: expected a certificate whose key was made here"),
    ],
)
def test_wrong_words_are_one_clear_error(pki: Commands, words: list[str], said: str) -> None:
    before = (pki.folder / "register.json").read_bytes()
    assert said in pki.refused(*words)
    assert (pki.folder / "register.json").read_bytes() == before


def test_no_device_gets_the_gateway_s_name_at_the_broker(pki: Commands, tmp_path: Path) -> None:
    """Where mosquitto goes by certificates, it would hear and speak for all trucks."""
    text = f'data = "{tmp_path}/data"\nsite_id = "b"\n[mqtt]\nusername = "dock"\n'
    config = write_private(tmp_path / "gateway.toml", text)
    said = pki.refused("device", "truck-7", "dock", "--config", str(config))
    assert "device dock would have the gateway's own name at the broker" in said
    assert pki.run("list") == []
    assert pki.run("device", "truck-7", "--config", str(config))


def test_an_authority_is_never_overwritten(pki: Commands) -> None:
    before = {path.name: path.read_bytes() for path in pki.folder.iterdir()}
    assert "exists and is not overwritten" in pki.refused("init")
    assert {path.name: path.read_bytes() for path in pki.folder.iterdir()} == before


def test_a_stopped_init_is_made_again(pki: Commands) -> None:
    (pki.folder / "ca.key").unlink()  # the last file that init writes
    assert "`wayseal-gateway pki init` makes one" in pki.refused("list")
    pki.run("init")
    assert pki.run("list") == []


def test_a_lost_register_admits_nobody_again(pki: Commands) -> None:
    pki.run("device", "truck-7")
    pki.run("revoke", "truck-7")
    crl = (pki.folder / "crl.pem").read_bytes()
    for damage in (lambda path: path.write_text("[{}]"), Path.unlink):
        damage(pki.folder / "register.json")
        for words in (["crl"], ["device", "truck-8"], ["list"]):
            assert "restore it from the backup" in pki.refused(*words)
    assert (pki.folder / "crl.pem").read_bytes() == crl


def test_a_key_that_others_may_read_is_refused(pki: Commands) -> None:
    (pki.folder / "ca.key").chmod(0o640)
    assert "expected a file for its owner alone, got mode 0640" in pki.refused("list")


def test_an_authority_of_one_s_own_is_taken_over(pki: Commands, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    key, certificate = own / "own.key", own / "own.crt"
    openssl(
        *("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=Own", "-days", "9"),
        *("-addext", "keyUsage=critical,keyCertSign,cRLSign", "-keyout", key, "-out", certificate),
    )
    key.chmod(0o600)
    pki.folder = tmp_path / "taken"
    words = ["init", "--certificate", str(certificate), "--key"]
    assert "is not the key of" in pki.refused(*words, str(tmp_path / "pki" / "ca.key"))
    pki.run(*words, str(key))
    (made,) = pki.run("device", "truck-7")
    assert verified(pki, Path(str(made["files"])), "sslclient").endswith("OK\n")


def test_two_processes_issue_in_turn(pki: Commands) -> None:
    first, second = Authority(pki.folder), Authority(pki.folder)
    first.device("truck-1", pki.folder / "out")
    second.device("truck-2", pki.folder / "out")
    assert [each.name for each in first.entries()] == ["truck-1", "truck-2"]


def test_without_settings_or_folder_the_error_says_what_to_give(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["pki", "list"])
    assert "expected --folder DIR, or settings" in capsys.readouterr().err


def test_a_device_s_own_key_is_not_renewed_here(pki: Commands) -> None:
    at = datetime.now(UTC)
    entry = Entry("1", "truck-7", Kind.DEVICE, at, at)
    with pytest.raises(RejectedError, match="its key is on the device"):
        Authority(pki.folder).renew(entry)
