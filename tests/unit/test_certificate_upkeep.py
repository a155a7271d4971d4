"""The authority renews its list and certificates by itself; doctor names what is near its end."""

import logging
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from contracts.records.clock import now_ms
from contracts.runtime.checks import Severity
from gateway.doctor import certificates
from gateway.pki import authority as authority_module
from gateway.pki.revoked import next_update, revoked_serials
from gateway.settings import Settings
from gateway.settings_file import load_settings
from gateway.upkeep.certificates import CertificateUpkeep
from support.machine.pki import Pki

DAY_MS = 86_400_000


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pki:
    """An authority that did its last work 61 days ago, with one device revoked."""
    then = datetime.now(UTC).replace(microsecond=0) - timedelta(days=61)
    monkeypatch.setattr(authority_module, "utc_now", lambda: then)
    pki = Pki(tmp_path / "pki")
    pki.device("truck-9")
    pki.authority.revoke(["truck-9"])
    monkeypatch.undo()
    return pki


def settings_of(pki: Pki, folder: Path, *, authority: bool = True) -> Settings:
    path = folder / "gateway.toml"
    where = f'[pki]\nfolder = "{pki.folder}"\n' if authority else ""
    path.write_text(
        f'data = "{folder}/data"\nsite_id = "b"\n[tls]\ncertificate = "{pki.certificate}"\n'
        f'key = "{pki.key}"\nca = "{pki.ca}"\ncrl = "{pki.crl}"\n{where}'
    )
    return load_settings(path)


def found(settings: Settings, at_ms: int) -> dict[Severity, list[str]]:
    said: dict[Severity, list[str]] = {}
    for each in certificates.findings(settings, at_ms):
        assert each.remedy or each.severity is Severity.OK
        said.setdefault(each.severity, []).append(f"{each.subject}: {each.words}")
    return said


def test_what_is_due_is_renewed_and_told_once(
    old: Pki, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = settings_of(old, tmp_path)
    before = found(settings, now_ms())
    assert any(
        "every client with a certificate is refused" in each for each in before[Severity.ERROR]
    )
    assert any("two thirds of their time: gateway-b" in each for each in before[Severity.WARNING])
    caplog.set_level(logging.INFO)
    upkeep = CertificateUpkeep(settings)
    for _ in range(2):
        assert not upkeep.step()
    lines = [each.getMessage() for each in caplog.records]
    assert sum("is made again: 1 revoked" in line for line in lines) == 1
    assert sum("certificate of gateway-b is renewed" in line for line in lines) == 1
    assert len(lines) == 2
    assert len(revoked_serials(old.crl)) == 1
    assert found(settings, now_ms()).keys() == {Severity.OK}


def test_a_list_of_another_site_s_authority_is_watched(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    then = datetime.now(UTC).replace(microsecond=0) - timedelta(days=20)
    monkeypatch.setattr(authority_module, "utc_now", lambda: then)
    pki = Pki(tmp_path / "pki")
    monkeypatch.undo()
    settings = settings_of(pki, tmp_path, authority=False)
    upkeep = CertificateUpkeep(settings)
    for _ in range(2):
        upkeep.step()
    assert [each.levelno for each in caplog.records] == [logging.WARNING]
    assert "copy a newer one" in caplog.text
    said = found(settings, now_ms())[Severity.WARNING]
    assert any("ends in 9 days" in each for each in said)


@pytest.mark.parametrize("damage", ["register.json", "crl.pem"])
def test_a_damaged_authority_is_an_error_with_a_remedy(tmp_path: Path, damage: str) -> None:
    pki = Pki(tmp_path / "pki")
    (pki.folder / damage).write_text("?")
    assert any(
        damage in each for each in found(settings_of(pki, tmp_path), now_ms())[Severity.ERROR]
    )


def test_a_list_holds_for_a_month(tmp_path: Path) -> None:
    pki = Pki(tmp_path / "pki")
    ends = next_update(pki.crl)
    assert ends is not None
    assert timedelta(days=29) < ends - datetime.now(UTC) <= timedelta(days=30)
