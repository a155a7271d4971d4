"""What a command makes is its owner's alone; it refuses a key or token that others can read."""

import json
import os
import stat
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from contracts.errors import RejectedError
from contracts.keys import Signer
from contracts.runtime.files import check_private, write_file
from storage.blobs.files import FileBlobs
from storage.recordings.catalogue import Catalogue

COMMANDS = {
    "wayseal-device": "device.wayseal_device",
    "wayseal-gateway": "gateway.wayseal_gateway",
    "wayseal-node": "contracts.ledger.wayseal_node",
    "wayseal-party": "contracts.party.wayseal_party",
    "wayseal-tp": "contracts.ledger.processor.wayseal_tp",
    "wayseal-verify": "contracts.evidence.wayseal_verify",
    "demo": "demo.down",
}
UMASK = """
import contextlib, importlib, os, sys
main = importlib.import_module(sys.argv[1]).main
sys.argv = ["command", "--help"]
os.umask(0)
with contextlib.suppress(SystemExit):
    main()
print(f"{os.umask(0):03o}")
"""
EVERYONE = 0o644
"""What a file has that was made under the usual umask."""


def said(
    command: str,
    *arguments: str | Path,
    also: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> tuple[int, str]:
    """Run a command that must end by itself; return its status and what it wrote to stderr."""
    done = subprocess.run(  # noqa: S603 - our own command
        [Path(sys.executable).parent / command, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        cwd=cwd,
        env={**os.environ, **(also or {})},
    )
    return done.returncode, done.stderr


def key_file(folder: Path, name: str = "a.key", mode: int = EVERYONE) -> Path:
    path = folder / name
    Signer.generate().save(path)
    path.chmod(mode)
    return path


def device_settings(folder: Path, mode: int, also: str = "") -> Path:
    path = folder / "device.toml"
    path.write_text(f'device_id = "truck-1"\ndata = "{folder}"\n{also}', "utf-8")
    path.chmod(mode)
    return path


def gateway_settings(folder: Path, mode: int, also: str = "") -> Path:
    path = folder / "gateway.toml"
    path.write_text(f'data = "{folder}"\nsite_id = "site-b"\n{also}', "utf-8")
    path.chmod(mode)
    return path


@pytest.mark.parametrize("module", COMMANDS.values(), ids=COMMANDS)
def test_a_command_makes_files_for_its_owner_alone(module: str, tmp_path: Path) -> None:
    done = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-c", UMASK, module],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert done.stdout.splitlines()[-1] == "077"


@pytest.mark.skipif(os.geteuid() != 0, reason="root alone makes directories for others")
@pytest.mark.parametrize(
    "command",
    [
        ("wayseal-device", "init", "--config", "device.toml"),
        ("wayseal-gateway", "key", "--config", "gateway.toml"),
        ("wayseal-gateway", "token", "crew", "--role", "operator", "--config", "gateway.toml"),
        (
            "wayseal-node",
            "--data",
            "var/lib/wayseal/data",
            "--rest",
            "127.0.0.1:0",
            "--key",
            "none",
        ),
    ],
    ids=" ".join,
)
def test_what_root_makes_above_a_data_directory_lets_services_pass(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    tmp_path.chmod(0o755)
    data = tmp_path / "var/lib/wayseal/data"
    for name, other in (("device.toml", 'device_id = "t"'), ("gateway.toml", 'site_id = "s"')):
        (tmp_path / name).write_text(f'data = "{data}"\n{other}\n')
    said(*command, cwd=tmp_path)
    above = [stat.S_IMODE(each.stat().st_mode) for each in (data.parent, data.parent.parent)]
    assert above == [0o755, 0o755]
    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    for path in data.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path


@pytest.mark.skipif(os.geteuid() != 0, reason="root alone makes directories for others")
def test_blobs_and_catalogue_stay_private(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    os.umask(0o077)
    FileBlobs(tmp_path / "srv/blobs")
    Catalogue(tmp_path / "data/recordings")
    for folder in ("srv/blobs", "data/recordings"):
        assert stat.S_IMODE((tmp_path / folder).stat().st_mode) == 0o700


def test_a_device_makes_only_private_files(tmp_path: Path) -> None:
    settings = device_settings(
        tmp_path,
        0o600,
        '[trip]\norigin_site = "a"\ndestination_site = "b"\n',
    )
    config = ("--config", settings)
    assert said("wayseal-device", "init", *config)[0] == 0
    assert said("wayseal-device", "record", "--simulate", "--minutes", "20", *config)[0] == 0
    made = [path for path in tmp_path.rglob("*") if path != settings]
    assert {"device.key", "journal.sqlite"} < {path.name for path in made}
    assert [path for path in made if path.stat().st_mode & 0o077] == []


def expect_refusal(found: tuple[int, str], path: Path, status: int) -> None:
    assert found[0] == status, found
    (line,) = found[1].splitlines()
    assert f"got mode 0{EVERYONE:o}" in line
    assert line.endswith(f"chmod 600 {path}")


@pytest.mark.parametrize("command", ["init", "status", "record --simulate", "close", "offload"])
def test_a_device_refuses_its_key_if_others_can_read_it(command: str, tmp_path: Path) -> None:
    path = key_file(tmp_path, "device.key")
    settings = device_settings(
        tmp_path,
        0o600,
        '[trip]\norigin_site = "a"\ndestination_site = "b"\n'
        '[gateway]\nmqtt = "h:1"\nrest = "http://h:1"\ntoken = "t"\n'
        f'public_keys = ["02{"a" * 64}"]\n',
    )
    expect_refusal(said("wayseal-device", *command.split(), "--config", settings), path, 1)


def test_a_device_refuses_settings_with_a_token_that_others_can_read(tmp_path: Path) -> None:
    gateway = '[gateway]\nmqtt = "h:1"\nrest = "http://h:1"\ntoken = "secret"\npublic_keys = []\n'
    settings = device_settings(tmp_path, EVERYONE, gateway)
    found = said("wayseal-device", "status", "--config", settings)
    expect_refusal(found, settings, 2)
    assert "gateway.token" in found[1]
    assert "secret" not in found[1]


def test_settings_without_a_secret_may_be_read_by_all(tmp_path: Path) -> None:
    settings = device_settings(tmp_path, EVERYONE)
    assert said("wayseal-device", "init", "--config", settings)[0] == 0
    settings = gateway_settings(tmp_path, EVERYONE, '[mqtt]\nhost = "127.0.0.1"\n')
    assert said("wayseal-gateway", "key", "--config", settings)[0] == 0


@pytest.mark.parametrize("flag", ["--admin", "--tokens"])
def test_a_fleet_refuses_secrets_that_others_can_read(flag: str, tmp_path: Path) -> None:
    admin = key_file(tmp_path, mode=0o600)
    tokens = tmp_path / "tokens.jsonl"
    tokens.write_text(json.dumps({"name": "truck-1", "token": "t"}) + "\n", "utf-8")
    tokens.chmod(0o600)
    open_to_all = {"--admin": admin, "--tokens": tokens}[flag]
    open_to_all.chmod(EVERYONE)
    found = said(
        "wayseal-device",
        *("fleet", "--trucks", "1", "--mqtt", "h:1", "--rest", "http://h:1"),
        *("--gateway-key", "02" + "a" * 64, "--ledger", "http://h:1"),
        *("--tokens", tokens, "--admin", admin, "--work", tmp_path),
    )
    expect_refusal(found, open_to_all, 1)


@pytest.mark.parametrize("command", ["key", "serve"])
def test_a_gateway_refuses_its_key_if_others_can_read_it(command: str, tmp_path: Path) -> None:
    path = key_file(tmp_path, "gateway.key")
    settings = gateway_settings(
        tmp_path, 0o600, "[mqtt]\nembedded = true\nport = 0\n[rest]\nport = 0\n"
    )
    status, errors = said("wayseal-gateway", command, "--config", settings)
    expect_refusal((status, errors.splitlines()[-1]), path, 1)


@pytest.mark.parametrize("command", ["token truck-1 --role device", "serve"])
def test_a_gateway_refuses_tokens_that_others_can_read(command: str, tmp_path: Path) -> None:
    settings = gateway_settings(
        tmp_path, 0o600, "[mqtt]\nembedded = true\nport = 0\n[rest]\nport = 0\n"
    )
    assert said("wayseal-gateway", "token", "a", "--role", "operator", "--config", settings)[0] == 0
    path = tmp_path / "tokens.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(EVERYONE)
    status, errors = said("wayseal-gateway", *command.split(), "--config", settings)
    expect_refusal((status, errors.splitlines()[-1]), path, 1)


@pytest.mark.parametrize("table", ["mqtt", "cassandra"])
def test_a_gateway_refuses_a_password_that_others_can_read(table: str, tmp_path: Path) -> None:
    settings = gateway_settings(tmp_path, EVERYONE, f'[{table}]\npassword = "secret"\n')
    found = said("wayseal-gateway", "key", "--config", settings)
    expect_refusal(found, settings, 2)
    assert "secret" not in found[1]


@pytest.mark.parametrize("named", [True, False])
def test_a_node_refuses_its_key_if_others_can_read_it(named: bool, tmp_path: Path) -> None:  # noqa: FBT001
    path = key_file(tmp_path, "node.key")
    options: list[str | Path] = ["--key", path] if named else []
    found = said("wayseal-node", "--data", tmp_path, "--rest", "127.0.0.1:0", *options)
    expect_refusal(found, path, 2)


CURVE_KEY = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
"""Of RFC 26's examples."""


def curve_key(folder: Path) -> Path:
    path = folder / "port.key"
    path.write_text(CURVE_KEY + "\n", "utf-8")
    path.chmod(EVERYONE)
    return path


def test_a_node_refuses_its_port_s_key_if_others_can_read_it(tmp_path: Path) -> None:
    path = curve_key(tmp_path)
    found = said(
        "wayseal-node",
        *("--data", tmp_path / "data", "--rest", "127.0.0.1:0", "--component", "tcp://127.0.0.1:0"),
        *("--component-key", path, "--component-client", CURVE_KEY),
    )
    expect_refusal((found[0], found[1].splitlines()[-1]), path, 2)


def test_a_processor_refuses_its_key_if_others_can_read_it(tmp_path: Path) -> None:
    path = curve_key(tmp_path)
    server = ("--server-key", CURVE_KEY)
    found = said("wayseal-tp", "--connect", "tcp://127.0.0.1:1", "--key", path, *server)
    expect_refusal((found[0], found[1].splitlines()[-1]), path, 2)


@pytest.mark.parametrize("command", ["make-key", "accept order-1"])
def test_a_party_refuses_its_key_if_others_can_read_it(command: str, tmp_path: Path) -> None:
    path = key_file(tmp_path)
    found = said("wayseal-party", "--key", path, *command.split())
    expect_refusal(found, path, 2)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o610])
def test_any_right_of_others_counts(mode: int, tmp_path: Path) -> None:
    path = key_file(tmp_path, mode=mode)
    with pytest.raises(RejectedError, match=f"got mode 0{mode:o}"):
        check_private("key file", path)


@pytest.mark.parametrize("mode", [0o600, 0o400, 0o700])
def test_rights_of_the_owner_do_not(mode: int, tmp_path: Path) -> None:
    check_private("key file", key_file(tmp_path, mode=mode))


def test_a_file_gets_the_mode_that_was_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "report"
    os.umask(0o077)
    write_file(path, b"for all", temporary=tmp_path / "part", mode=EVERYONE)
    assert stat.S_IMODE(path.stat().st_mode) == EVERYONE
