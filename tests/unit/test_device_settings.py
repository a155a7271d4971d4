"""Every key is checked, and the message names it."""

from pathlib import Path

import pytest

from device import settings_file
from device.settings import SettingsError
from device.settings_file import load
from device.wayseal_device import main
from support.machine.private import write_private
from support.network.world import key
from support.trucks.truck import Truck

GATEWAY = (
    '[gateway]\nmqtt = "[::1]:1883"\nrest = "http://g:1/"\ntoken = "secret-word"\n'
    f'public_keys = ["{key("g").public_key}"]\n'
)


def write(folder: Path, text: str) -> Path:
    return write_private(folder / "device.toml", text)


def test_file_and_defaults(tmp_path: Path) -> None:
    settings = load(write(tmp_path, 'device_id = "t"\ndata = "d"\n' + GATEWAY), {})
    assert settings.data == tmp_path / "d"
    assert settings.key_file == tmp_path / "d" / "device.key"
    assert (settings.batch.max_readings, settings.batch.max_seconds) == (100, 60)
    (gateway,) = settings.need_sites()
    assert (gateway.mqtt_host, gateway.mqtt_port) == ("::1", 1883)
    assert gateway.rest == "http://g:1"
    with pytest.raises(SettingsError, match=r"\[trip\]"):
        settings.need_trip()


def test_environment_wins_and_foreign_variables_are_left_alone(tmp_path: Path) -> None:
    environment = {
        "WAYSEAL_DEVICE_ID": "other",
        "WAYSEAL_BATCH__MAX_READINGS": "7",
        "WAYSEAL_TRIP__ORIGIN_SITE": "a",
        "WAYSEAL_TRIP__DESTINATION_SITE": "b",
        "WAYSEAL_TRIP__DELIVERIES": "one, two",
        "WAYSEAL_TRUST": "/elsewhere",
        "WAYSEAL_LEDGER__URL": "http://elsewhere",
        "WAYSEAL_DEVICE_CONFIG": str(write(tmp_path, 'device_id = "t"\ndata = "d"\n')),
    }
    settings = load(None, environment)
    assert settings.device_id == "other"
    assert settings.batch.max_readings == 7
    assert settings.need_trip().deliveries == ("one", "two")


def test_an_error_names_where_the_value_came_from(tmp_path: Path) -> None:
    path = write(tmp_path, 'device_id = "t"\ndata = "d"\n[batch]\nmax_seconds = 0\n')
    with pytest.raises(SettingsError, match=rf"within 1\.\.86400, got 0 in {path}"):
        load(path, {})
    environment = {"WAYSEAL_BATCH__MAX_SECONDS": "soon"}
    with pytest.raises(SettingsError, match=r"got 'soon' in \$WAYSEAL_BATCH__MAX_SECONDS"):
        load(path, environment)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('data = "d"', "key device_id: expected a value, it is missing"),
        ('device_id = "a/b"\ndata = "d"', "key device_id"),
        ('device_id = 3\ndata = "d"', "key device_id: expected an id of 1 to 64 ASCII letters"),
        ('device_id = "t"\ndata = ["d"]', "key data: expected a path, got ['d'] in"),
        ('device_id = "t"\ndata = "d"\nextra = 1', "key extra: unknown"),
        ('device_id = "t"\ndata = "d"\n[batch]\nmax_readings = 0', "key batch.max_readings"),
        (
            'device_id = "t"\ndata = "d"\n[batch]\nreadings_per_transaction = 301',
            "key batch.readings_per_transaction: expected a whole number within 1..300",
        ),
        (
            'device_id = "t"\ndata = "d"\n[batch]\nreadings_per_transaction = 101',
            "expected at most batch.max_readings = 100, got 101",
        ),
        ('device_id = "t"\ndata = "d"\n[batch]\nmax_readings = true', "key batch.max_readings"),
        ('device_id = "t"\ndata = "d"\nbatch = 4', "key batch: expected a section"),
        ('device_id = "t"\ndata = "d"\n[trip]\norigin_site = "a"', "key trip.destination_site"),
        ('device_id = "t"\ndata = "d"\n' + GATEWAY.replace("1883", "x"), "key gateway.mqtt"),
        ('device_id = "t"\ndata = "d"\n' + GATEWAY.replace("http:", "ftp:"), "key gateway.rest"),
        ('device_id = "t"\ndata = "d"\n' + GATEWAY.replace('"02', '"2'), "gateway.public_keys"),
        (
            'device_id = "t"\ndata = "d"\n' + GATEWAY + "receipt_requires = []\n",
            "key gateway.receipt_requires: expected a list of 1 to 4 copies, each once, got []",
        ),
        (
            'device_id = "t"\ndata = "d"\n' + GATEWAY + 'receipt_requires = ["tape"]\n',
            "key gateway.receipt_requires: expected copies, as `volume`, `blobs` or `blobs:QUORUM`",
        ),
        ('device_id = "t"\ndata = "d"\n[source]\ndriver = "replay"', "key source.readings"),
        ('device_id = "t"\ndata = "d"\n[source]\ndriver = "magic"', "key source.driver"),
        ("device_id = ", "settings "),
    ],
)
def test_wrong_settings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, named: str
) -> None:
    text = text.replace('"03', '"3')
    assert main(["--config", str(write(tmp_path, text)), "status"]) == 2
    assert named in capsys.readouterr().err


def test_the_token_is_never_shown(tmp_path: Path) -> None:
    text = 'device_id = "t"\ndata = "d"\n' + GATEWAY.replace('"secret-word"', "[1, 2, 77777]")
    with pytest.raises(SettingsError) as caught:
        load(write(tmp_path, text), {})
    assert "77777" not in str(caught.value)
    settings = load(write(tmp_path, 'device_id = "t"\ndata = "d"\n' + GATEWAY), {})
    assert "secret-word" not in repr(settings)


def test_no_settings_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings_file, "USUAL", tmp_path / "device.toml")
    with pytest.raises(SettingsError, match=r"device\.toml is missing; give --config"):
        load(None, {})


def test_without_a_name_the_settings_are_those_of_the_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings_file, "USUAL", write(tmp_path, 'device_id = "t"\ndata = "d"\n'))
    assert load(None, {}).data == tmp_path / "d"
    assert load(None, {"WAYSEAL_BATCH__MAX_READINGS": "7"}).batch.max_readings == 7

    variables = {"WAYSEAL_DEVICE_ID": "u", "WAYSEAL_DATA": str(tmp_path / "other")}
    assert load(None, variables).data == tmp_path / "other"
    other = tmp_path / "named.toml"
    other.write_text('device_id = "v"\ndata = "d"\n')
    assert load(other, {}).device_id == "v"
    assert load(None, {"WAYSEAL_DEVICE_CONFIG": str(other)}).device_id == "v"


def test_variables_alone_are_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings_file, "USUAL", tmp_path / "missing.toml")
    monkeypatch.chdir(tmp_path)
    own = {"WAYSEAL_DEVICE_ID": "t", "WAYSEAL_DATA": "d"}
    trip = {"WAYSEAL_TRIP__ORIGIN_SITE": "a", "WAYSEAL_TRIP__DESTINATION_SITE": "b"}
    settings = load(None, own | trip)
    assert (settings.device_id, settings.data) == ("t", tmp_path / "d")
    assert settings.trip is not None
    assert settings.trip.origin_site == "a"
    with pytest.raises(
        SettingsError,
        match=r"data: .* set it in a file given with --config or \$WAYSEAL_DATA",
    ):
        load(None, {"WAYSEAL_DEVICE_ID": "t"})
    with pytest.raises(SettingsError, match=r"or set \$WAYSEAL_DEVICE_ID, \$WAYSEAL_DATA and"):
        load(None, {"WAYSEAL_DATA": "of a gateway"})


def test_unknown_variable_of_our_section(tmp_path: Path) -> None:
    path = write(tmp_path, 'device_id = "t"\ndata = "d"\n')
    with pytest.raises(SettingsError, match=r"batch\.max_reading: unknown"):
        load(path, {"WAYSEAL_BATCH__MAX_READING": "7"})


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (
            '[gateway]\ntokn = "987654"',
            "gateway.tokn: unknown in {path}, did you mean gateway.token?",
        ),
        ('[gatway]\ntoken = "987654"', "key gatway: unknown in {path}, did you mean gateway?"),
        ('token = "987654"', "key token: unknown in {path}, did you mean gateway.token?"),
        (
            'gateway = "987654"',
            "expected a section [gateway], or 1 to 100 tables [[gateways]], got something else in",
        ),
    ],
)
def test_the_value_of_an_unknown_key_is_never_shown(tmp_path: Path, text: str, named: str) -> None:
    lines = ['device_id = "t"\ndata = "d"', text]
    path = write(tmp_path, "\n".join(lines if "[" in text else lines[::-1]))
    with pytest.raises(SettingsError) as caught:
        load(path, {})
    assert named.format(path=path) in str(caught.value)
    assert "987654" not in str(caught.value)


@pytest.mark.parametrize("given", ["WAYSEAL_GATEWAY_TOKEN", "WAYSEAL_GATWAY__TOKEN"])
def test_a_misspelt_variable_is_refused(tmp_path: Path, given: str) -> None:
    path = write(tmp_path, 'device_id = "t"\ndata = "d"\n')
    with pytest.raises(SettingsError) as caught:
        load(path, {given: "987654"})
    assert str(caught.value) == f"variable ${given}: unknown, did you mean $WAYSEAL_GATEWAY__TOKEN?"


def test_init_is_safe_to_repeat_and_guards_the_journal(tmp_path: Path) -> None:
    truck = Truck(tmp_path)
    assert truck.must("init") == truck.must("init")
    (truck.data / "device.key").unlink()
    code, _, err = truck.run("init")
    assert code == 1
    assert "belongs to device truck-1" in err


def test_a_simulated_trip_takes_no_files(tmp_path: Path) -> None:
    code, _, err = Truck(tmp_path).run("record", "--simulate", "--video", tmp_path / "film.avi")
    assert code == 2
    assert "--simulate" in err


def test_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["fly"], ["record"], ["record", "--simulate", "--speed", "-1"]):
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        assert caught.value.code == 2
    with pytest.raises(SystemExit) as caught:
        main(["--help"])
    assert caught.value.code == 0
    said = capsys.readouterr().out
    assert "examples:" in said
    assert "exit " in said
