"""`wayseal-gateway token`: what it prints, and what reaches the site's mosquitto."""

import json
import logging
from pathlib import Path

import pytest

from contracts.records.clock import now_ms, parse_rfc3339
from gateway.access import Role, Tokens
from gateway.mosquitto.ending import Ending
from gateway.mosquitto.folder import write
from gateway.mosquitto.text import PASSWORDS
from gateway.settings import Settings
from gateway.settings_file import load_settings
from gateway.wayseal_gateway import main
from support.machine.mosquitto import tables
from support.machine.private import write_private

DAY_MS = 86_400_000


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("WAYSEAL_MOSQUITTO__PLUGIN", str(tmp_path / "plugin.so"))
    text = f'data = "{tmp_path}/data"\nsite_id = "b"\n{tables(tmp_path, 1883, 8883)}'
    path = write_private(tmp_path / "gateway.toml", text)
    monkeypatch.setenv("WAYSEAL_GATEWAY_CONFIG", str(path))
    return load_settings(path)


def known_to_mosquitto(settings: Settings) -> list[str]:
    assert settings.mosquitto.folder is not None
    lines = (settings.mosquitto.folder / PASSWORDS).read_text("utf-8").splitlines()
    return [line.partition(":")[0] for line in lines]


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[dict[str, object]]]:
    with pytest.raises(SystemExit) as ended:
        main(["token", *words])
    out = capsys.readouterr().out
    return int(ended.value.code or 0), [json.loads(line) for line in out.splitlines()]


def revoked(device_id: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Return what is said when a device's token is made and revoked."""
    run(capsys, device_id, "--role", "device")
    with pytest.raises(SystemExit) as ended:
        main(["token", device_id, "--revoke"])
    assert not ended.value.code
    return capsys.readouterr().err


def test_a_token_is_made_listed_ended_and_revoked(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    begun_ms = now_ms()
    made = run(capsys, "truck-7", "truck-8", "--role", "device")[1]
    lent = run(capsys, "inspector", "--role", "auditor", "--expires-days", "30")[1][0]
    ends_ms = parse_rfc3339(str(lent["expires"]))
    assert begun_ms + 30 * DAY_MS <= ends_ms <= now_ms() + 30 * DAY_MS
    listed = run(capsys, "--list")[1]
    assert [each["name"] for each in listed] == ["inspector", "truck-7", "truck-8"]
    assert all(
        each.keys() == {"name", "role", "made", "expires", "expired", "grants"} for each in listed
    )
    assert listed[0]["expires"] == lent["expires"]
    assert listed[1]["expires"] is None
    assert run(capsys, "truck-8", "--expires-days", "1")[1][0].keys() == {"name", "expires"}
    assert known_to_mosquitto(settings) == ["gateway", "truck-7", "truck-8"]
    assert run(capsys, "truck-7", "--revoke") == (0, [{"name": "truck-7", "revoked": True}])
    assert known_to_mosquitto(settings) == ["gateway", "truck-8"]
    tokens = Tokens(settings.tokens_file)
    assert [tokens.caller(str(each["token"])) is None for each in made] == [True, False]
    assert run(capsys, "truck-7", "--revoke") == (1, [])


def test_a_revoked_token_is_not_all_where_mosquitto_goes_by_certificates(
    settings: Settings,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert settings.mosquitto.folder is not None
    told = revoked("truck-7", capsys)
    assert "pki revoke" not in told
    for name in ("ca", "certificate", "key"):
        file = write_private(settings.mosquitto.folder.parent / f"any.{name}", "PEM")
        monkeypatch.setenv(f"WAYSEAL_MOSQUITTO__{name.upper()}", str(file))
    told = revoked("truck-7", capsys)
    assert "it still lets truck-7 in until `wayseal-gateway pki revoke`" in told


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["truck-7"],
        ["--list", "truck-7"],
        ["--list", "--revoke"],
        ["--revoke"],
        ["truck-7", "--revoke", "--expires-days", "3"],
        ["truck-7", "--role", "device", "--expires-days", "0"],
        ["truck-7", "--role", "device", "--expires-days", "soon"],
        ["truck-7", "--role", "king"],
    ],
)
def test_options_that_do_not_belong_together_are_wrong_usage(
    settings: Settings, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    assert run(capsys, *words) == (2, [])
    assert not settings.tokens_file.exists()


def test_mosquitto_forgets_a_device_whose_token_has_expired(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    tokens = Tokens(settings.tokens_file)
    tokens.add("truck-7", Role.DEVICE)
    tokens.add("truck-8", Role.DEVICE)
    write(settings)
    ending = Ending(settings)
    ending.step()
    tokens.expire(["truck-7"], now_ms())
    assert known_to_mosquitto(settings) == ["gateway", "truck-7", "truck-8"]
    ending.step()
    assert known_to_mosquitto(settings) == ["gateway", "truck-8"]
    ending.step()
    assert [each.getMessage() for each in caplog.records if each.levelno >= logging.WARNING] == [
        "mosquitto still admits truck-7 until it is reloaded"
    ]


def test_an_expired_device_that_cannot_be_kept_out_is_said_once(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    tokens = Tokens(settings.tokens_file)
    tokens.add("truck-7", Role.DEVICE)
    write(settings)
    tokens.expire(["truck-7"], now_ms())
    nameless = settings.mqtt.model_copy(update={"password": ""})
    ending = Ending(settings.model_copy(update={"mqtt": nameless}))
    ending.step()
    ending.step()
    (said,) = [each.getMessage() for each in caplog.records]
    assert "the tokens of truck-7 have expired, but mosquitto still admits them" in said


@pytest.mark.usefixtures("settings")
def test_an_unknown_role_is_answered_with_the_roles(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["token", "dock-crew", "--role", "devcie"])
    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert "invalid choice: 'devcie'" in said
    assert all(role.value in said for role in Role)
    assert "<Role." not in said
