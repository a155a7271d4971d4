"""What `wayseal-gateway mosquitto` writes, and what it says to its operator."""

import json
import stat
from pathlib import Path

import pytest

from contracts.errors import RejectedError
from gateway.access import Role, Tokens
from gateway.mosquitto.folder import closed_to, write
from gateway.mosquitto.text import ACCESS, CONFIGURATION, INCLUDED, PASSWORDS, ROLES
from gateway.settings import Settings
from gateway.settings_file import load_settings
from gateway.wayseal_gateway import main
from support.machine.mosquitto import tables
from support.machine.private import write_private


@pytest.fixture(autouse=True)
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAYSEAL_MOSQUITTO__PLUGIN", str(tmp_path / "plugin.so"))


def settings(folder: Path, more: str = "") -> Settings:
    text = f'data = "{folder}/data"\nsite_id = "b"\n{tables(folder, 1883, 8883)}{more}'
    return load_settings(write_private(folder / "gateway.toml", text))


def folder_of(made: Settings) -> Path:
    assert made.mosquitto.folder is not None
    return made.mosquitto.folder


def test_each_device_has_a_password_and_nobody_a_token(tmp_path: Path) -> None:
    made = settings(tmp_path)
    tokens = Tokens(made.tokens_file)
    given = [tokens.add(name, Role.DEVICE) for name in ("truck-1", "truck-2")]
    given.append(tokens.add("operator", Role.OPERATOR))
    written = write(made)
    assert written.devices == ["truck-1", "truck-2"]
    lines = (folder_of(made) / PASSWORDS).read_text("utf-8").splitlines()
    names = [line.partition(":")[0] for line in lines]
    assert names == ["gateway", "operator", "truck-1", "truck-2"]
    assert all(line.partition(":")[2].startswith("$7$") for line in lines)
    for path in folder_of(made).iterdir():
        assert not any(token in path.read_text("utf-8") for token in given)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_files_are_whole_and_say_the_same_again(tmp_path: Path) -> None:
    made = settings(tmp_path)
    Tokens(made.tokens_file).add("truck-1", Role.DEVICE)
    write(made)
    before = {
        name: (folder_of(made) / name).read_text("utf-8")
        for name in (CONFIGURATION, INCLUDED, ACCESS, ROLES)
    }
    write(made)
    assert {name: (folder_of(made) / name).read_text("utf-8") for name in before} == before
    assert sorted(path.name for path in folder_of(made).iterdir()) == sorted([*before, PASSWORDS])


def test_without_a_running_mosquitto_it_says_so(tmp_path: Path) -> None:
    written = write(settings(tmp_path))
    assert not written.reloaded
    assert any("no mosquitto runs by" in warning for warning in written.warnings)


def test_the_command_says_which_directories_mosquitto_needs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data, run = tmp_path / "mq", tmp_path / "run"
    monkeypatch.setenv("WAYSEAL_MOSQUITTO__DATA", str(data))
    monkeypatch.setenv("WAYSEAL_MOSQUITTO__PID_FILE", str(run / "mosquitto.pid"))
    settings(tmp_path)

    def said() -> str:
        with pytest.raises(SystemExit) as ended:
            main(["mosquitto", "--config", str(tmp_path / "gateway.toml")])
        assert ended.value.code in (0, None)
        return capsys.readouterr().err

    found = said()
    for name, path in (("data", data), ("pid_file", run)):
        assert f"wayseal-gateway: mosquitto.{name}: mosquitto needs {path}" in found
        assert f": install -d -o root -m 755 {path}\n" in found
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("WAYSEAL_MOSQUITTO__RELOADS_ITSELF", "true")
        assert "install -d" not in said()
    data.mkdir()
    run.mkdir()
    assert "install -d" not in said()


def test_a_mosquitto_that_is_reloaded_by_what_runs_it_is_not_missed(tmp_path: Path) -> None:
    written = write(settings(tmp_path, "reloads_itself = true"))
    assert written.reloaded
    assert not any("no mosquitto runs by" in warning for warning in written.warnings)


def test_the_gateways_own_listener_is_a_socket_if_it_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = settings(tmp_path)
    assert any("take the places at 127.0.0.1:1883" in each for each in write(made).warnings)
    assert "\nlistener 1883 127.0.0.1\n" in (folder_of(made) / CONFIGURATION).read_text("utf-8")
    monkeypatch.setenv("WAYSEAL_MQTT__SOCKET", f"{tmp_path}/own")
    made = settings(tmp_path)
    assert not any("take the places" in each for each in write(made).warnings)
    text = (folder_of(made) / CONFIGURATION).read_text("utf-8")
    assert f"\nlistener 0 {tmp_path}/own\n" in text
    assert text.count("\nlistener ") == 2


def test_a_closed_directory_above_the_folder_is_named(tmp_path: Path) -> None:
    shut = tmp_path / "shut"
    (shut / "conf").mkdir(parents=True)
    for mode, named in ((0o700, True), (0o711, False)):
        shut.chmod(mode)
        said = "".join(closed_to("mosquitto", shut / "conf"))
        assert (str(shut) in said.partition("pass through ")[2].split(", ")) is named
        assert closed_to("root", shut / "conf") == []


def test_no_other_process_gets_the_signal(tmp_path: Path) -> None:
    made = settings(tmp_path)
    made.mosquitto.pid_file.write_text("1\n")
    assert not write(made).reloaded


def test_a_token_of_an_earlier_version_is_named(tmp_path: Path) -> None:
    made = settings(tmp_path)
    Tokens(made.tokens_file).add("truck-1", Role.DEVICE)
    entries = json.loads(made.tokens_file.read_text("utf-8"))
    entries["truck-1"] = {key: entries["truck-1"][key] for key in ("role", "sha256")}
    write_private(made.tokens_file, json.dumps(entries))
    written = write(made)
    assert written.devices == []
    assert any("device truck-1 cannot connect" in warning for warning in written.warnings)


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("WAYSEAL_MQTT__PASSWORD", "", "setting mqtt.password: expected"),
        ("WAYSEAL_MQTT__PORT", "8883", "setting mqtt.port: expected"),
        ("WAYSEAL_MQTT__PORT", "0", "setting mqtt.port: expected"),
        ("WAYSEAL_MQTT__USERNAME", "a:b", "gateway's user id must be"),
        ("WAYSEAL_MQTT__USERNAME", "truck-1", "device truck-1 has the gateway's own name"),
        ("WAYSEAL_MQTT__HOST", "a\nallow_anonymous true", "setting mqtt.host: expected printable"),
        ("WAYSEAL_MOSQUITTO__DATA", "/a\nb", "setting mosquitto.data: expected printable"),
    ],
)
def test_a_wrong_setting_is_one_clear_error_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, words: str
) -> None:
    Tokens(settings(tmp_path).tokens_file).add("truck-1", Role.DEVICE)
    monkeypatch.setenv(variable, value)
    made = settings(tmp_path)
    with pytest.raises(RejectedError, match=words):
        write(made)
    assert not list(tmp_path.glob("conf/*"))


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ('[mosquitto]\ncertificate = "/a"\n', "both certificate and key"),
        ("[mosquitto]\nport = 0\n", "setting mosquitto.port"),
        ('[mosquitto]\nuser = "Root"\n', "setting mosquitto.user"),
        ('[mqtt]\nembedded = true\n[mosquitto]\nfolder = "/a"\n', "either mqtt.embedded or"),
        ('[mqtt]\nembedded = true\nsocket = "/a"\n', "either mqtt.embedded or mqtt.socket"),
        ('[mqtt]\nsocket = "a"\n', "setting mqtt.socket: .* absolute path without spaces"),
        ('[mqtt]\nsocket = "/a b"\n', "setting mqtt.socket: .* absolute path without spaces"),
        ('[mqtt]\nsocket = "/a\\nuser root"\n', "setting mqtt.socket"),
        (f'[mqtt]\nsocket = "/{"a" * 107}"\n', "setting mqtt.socket: .* at most 107 bytes"),
    ],
)
def test_settings_that_exclude_each_other_are_refused(
    tmp_path: Path, more: str, words: str
) -> None:
    text = f'data = "{tmp_path}"\nsite_id = "b"\n{more}'
    with pytest.raises(RejectedError, match=words):
        load_settings(write_private(tmp_path / "gateway.toml", text))


def test_without_a_folder_the_command_says_what_it_needs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_private(tmp_path / "gateway.toml", f'data = "{tmp_path}"\nsite_id = "b"\n')
    with pytest.raises(SystemExit) as ended:
        main(["mosquitto", "--config", str(path)])
    assert ended.value.code == 1
    assert "setting mosquitto.folder: expected a directory" in capsys.readouterr().err


def test_a_new_token_reaches_the_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = settings(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["token", "truck-9", "--role", "device", "--config", str(tmp_path / "gateway.toml")])
    assert ended.value.code == 0
    assert json.loads(capsys.readouterr().out)["name"] == "truck-9"
    assert "\ntruck-9:" in (folder_of(made) / PASSWORDS).read_text("utf-8")


def test_no_device_gets_the_gateways_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = settings(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["token", "gateway", "--role", "device", "--config", str(tmp_path / "gateway.toml")])
    assert ended.value.code == 1
    assert "the gateway's own name at the broker" in capsys.readouterr().err
    assert not made.tokens_file.exists()
