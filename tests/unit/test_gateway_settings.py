"""Every mistake in the settings gives one clear error, which shows no secret."""

from pathlib import Path

import pytest

from contracts.errors import RejectedError
from contracts.runtime.keynames import misspelt_variables, variable_of
from device.settings_keys import KEYS as DEVICE_KEYS
from gateway.settings_file import known_keys, load_settings
from support.machine.private import write_private

GOOD = 'data = "/tmp/gateway"\nsite_id = "site-b"\n'


def load(tmp_path: Path, text: str) -> None:
    load_settings(write_private(tmp_path / "gateway.toml", text))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('site_id = "b"\n', "setting data: expected a value, it is missing; set it in"),
        (GOOD + "colour = 1\n", "setting colour: unknown in "),
        (GOOD + "[ledger]\nurls = 1\n", "gateway.toml, did you mean ledger.url?"),
        (GOOD + "[mqt]\nport = 1\n", "setting mqt: unknown in "),
        (GOOD + "[mqt]\nport = 1\n", "did you mean mqtt?"),
        (GOOD + '[mqtt]\nkeyspace = "x"\n', "did you mean cassandra.keyspace?"),
        (GOOD + '[scrub]\ncolour = "x"\n', "expected one of scrub.every_days, scrub.bytes_per_s"),
        (GOOD + '[volumes.near]\npth = "x"\n', "did you mean volumes.near.path?"),
        (
            GOOD + "[mqtt]\nprt = 1\n[rest]\nhots = 1\n",
            "did you mean mqtt.port?; setting rest.hots",
        ),
        (GOOD.replace("site-b", "site b"), "setting site_id: expected 1 to 64 ASCII letters"),
        ('data = "/d"\nsite_id = ""\n', "beginning with a letter or digit, got ''"),
        (GOOD + '[rest]\nport = "x"\n', "setting rest.port: Input should be a valid integer"),
        (GOOD + "[rest]\nport = 65536\n", "less than or equal to 65535, got 65536"),
        (GOOD + "[limits]\ninbox_bytes = 1\n", "setting limits.inbox_bytes"),
        (GOOD + "rest = 5\n", "setting rest: expected a section"),
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


def test_without_a_file_the_error_says_how_to_name_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WAYSEAL_DATA", raising=False)
    with pytest.raises(RejectedError, match=r"a file given with --config, or \$WAYSEAL_DATA"):
        load_settings(None)


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


def test_an_embedded_broker_may_listen_in_a_container_that_is_published_at_loopback(
    tmp_path: Path,
) -> None:
    load(tmp_path, GOOD + '[mqtt]\nhost = "0.0.0.0"\nembedded = true\npublished = true\n')


@pytest.mark.parametrize(
    "text",
    [
        "[mqtt]\npassword = 987654\n",
        '[mqtt]\npassword = "987654"\n',
        '[mqtt]\npasswrod = "987654"\n',
        '[mqtt]\nsecret = "987654"\n',
        '[mqt]\npassword = "987654"\n',
        '[cassandra]\npasword = "987654"\n',
        '[volumes.near]\npassword = "987654"\n',
        'password = "987654"\n',
        'mqtt = "987654"\n',
        '[[mqtt]]\npassword = "987654"\n',
        'volumes = "987654"\n',
    ],
)
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
        ("WAYSEAL_REST__PORTS", "1", r"setting rest.ports: unknown in \$WAYSEAL_REST__PORTS, did"),
        ("WAYSEAL_REST__PORT", "x", r"got 'x' in \$WAYSEAL_REST__PORT$"),
        ("WAYSEAL_MQTT__PASSWROD", "987654", "did you mean mqtt.password"),
        ("WAYSEAL_MQTT", '{"passwrod": "987654"}', r"passwrod: unknown in \$WAYSEAL_MQTT, did"),
        ("WAYSEAL_MQTT", "987654", "mqtt"),
        ("WAYSEAL_LEDGER_URL", "http://987654", r"did you mean \$WAYSEAL_LEDGER__URL\?"),
        ("WAYSEAL_LEGDER__URL", "http://987654", r"did you mean \$WAYSEAL_LEDGER__URL\?"),
        ("wayseal_mqt__password", "987654", r"did you mean \$WAYSEAL_MQTT__PASSWORD\?"),
    ],
)
def test_a_wrong_variable_is_one_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, words: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(RejectedError, match=words) as caught:
        load(tmp_path, GOOD)
    assert "987654" not in str(caught.value)


def test_variables_of_others_are_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A truck's variables, those of tests and benchmarks, and volumes that anyone names."""
    for name in (*DEVICE_KEYS, "trust", "kills", "bench_cassandra_password", "gateway_config"):
        if name not in ("data", "log.format", "volumes"):  # both have these
            monkeypatch.setenv(variable_of(name), "x")
    monkeypatch.setenv("WAYSEAL_VOLUMES__NEAR__PATH", "/srv/near")
    monkeypatch.setenv("WAYSEAL_CASSANDRA__REPLICATION__A", "3")
    path = write_private(tmp_path / "gateway.toml", GOOD)
    assert load_settings(path).volumes["near"].path == Path("/srv/near")
    assert misspelt_variables({variable_of(name): "x" for name in known_keys()}, DEVICE_KEYS) == {}
