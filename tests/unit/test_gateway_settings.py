"""Every mistake in the settings gives one clear error, which shows no secret."""

from pathlib import Path

import pytest

from contracts.errors import RejectedError
from gateway.settings import load_settings
from support.machine.private import write_private

GOOD = 'data = "/tmp/gateway"\nsite_id = "site-b"\n'


def load(tmp_path: Path, text: str) -> None:
    load_settings(write_private(tmp_path / "gateway.toml", text))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('site_id = "b"\n', "setting data: Field required"),
        (GOOD + "colour = 1\n", "setting colour: Extra inputs are not permitted, got 1"),
        (GOOD + "[ledger]\nurls = 1\n", "setting ledger.urls: Extra"),
        (GOOD + '[rest]\nport = "x"\n', "setting rest.port: Input should be a valid integer"),
        (GOOD + "[rest]\nport = 65536\n", "less than or equal to 65535, got 65536"),
        (GOOD + "[limits]\ninbox_bytes = 1\n", "setting limits.inbox_bytes"),
        (GOOD + "rest = 5\n", "setting rest"),
        (GOOD + '[ledger]\nurl = "no url"\n', "setting ledger.url"),
        (GOOD + '[ledger]\nurl = "http://["\n', "setting ledger.url"),
        (GOOD + "data = 2\n", "settings file"),
        ("data = ", "settings file"),
        ("\0", "settings file"),
    ],
)
def test_a_wrong_file_is_one_clear_error(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(RejectedError) as caught:
        load(tmp_path, text)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(RejectedError, match=r"nowhere\.toml"):
        load_settings(tmp_path / "nowhere.toml")


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "", "dock", "127.0.0.1.example"])  # noqa: S104  # refused
def test_an_embedded_broker_listens_on_no_other_address(tmp_path: Path, host: str) -> None:
    """A stranger's connect or a rogue token stops it, so only its own machine may reach it."""
    with pytest.raises(RejectedError) as caught:
        load(tmp_path, GOOD + f'[mqtt]\nhost = "{host}"\nembedded = true\npassword = "987654"\n')
    said = str(caught.value)
    assert f"got {host!r}" in said
    assert "`wayseal-gateway mosquitto`" in said
    assert "987654" not in said


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "localhost"])
def test_an_embedded_broker_may_serve_its_own_machine(tmp_path: Path, host: str) -> None:
    load(tmp_path, GOOD + f'[mqtt]\nhost = "{host}"\nembedded = true\n')


@pytest.mark.parametrize("text", ["[mqtt]\npassword = 987654\n", '[mqtt]\npassword = "987654"\n'])
def test_no_error_tells_the_password(tmp_path: Path, text: str) -> None:
    with pytest.raises(RejectedError) as caught:
        load(tmp_path, text)
    assert "987654" not in str(caught.value)


def test_the_environment_wins_over_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "gateway.toml"
    path.write_text(GOOD + '[ledger]\nurl = "http://file:1"\n[rest]\nport = 1\n')
    monkeypatch.setenv("WAYSEAL_LEDGER__URL", "http://environment:2")
    settings = load_settings(path)
    assert settings.ledger.url == "http://environment:2"
    assert settings.rest.port == 1


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("WAYSEAL_LEDGER", "no table", "ledger"),
        ("WAYSEAL_REST__PORT", "x", "setting rest.port"),
        ("WAYSEAL_REST__PORTS", "1", "setting rest.ports"),
    ],
)
def test_a_wrong_variable_is_one_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, words: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(RejectedError, match=words):
        load(tmp_path, GOOD)
