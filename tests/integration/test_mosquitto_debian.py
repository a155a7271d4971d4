"""The file for Debian's `conf.d/` works beside Debian's own mosquitto.conf, as it is."""

import subprocess
from pathlib import Path

import pytest

from contracts.runtime.ports import free_port
from contracts.runtime.processes import tied
from gateway.access import Role, Tokens
from gateway.mosquitto.folder import write
from gateway.mosquitto.text import CONFIGURATION, INCLUDED
from gateway.settings_file import load_settings
from support.machine.mosquitto import PASSWORD, SERVER, admits, tables
from support.machine.private import write_private
from support.trucks.rogue import until

pytestmark = pytest.mark.integration
DEBIAN = """\
pid_file {folder}/pid

persistence true
persistence_location {folder}/

log_dest file {folder}/log

include_dir {folder}/conf.d
"""
"""As in the package mosquitto 2.0.11-1.2, but for the places."""


@pytest.mark.parametrize(("name", "works"), [(INCLUDED, True), (CONFIGURATION, False)])
def test_one_file_is_for_conf_d(tmp_path: Path, name: str, *, works: bool) -> None:
    own_port, port = free_port(), free_port()
    text = f'data = "{tmp_path}/data"\nsite_id = "b"\n{tables(tmp_path, own_port, port)}'
    settings = load_settings(write_private(tmp_path / "gateway.toml", text))
    token = Tokens(settings.tokens_file).add("truck-1", Role.DEVICE)
    folder = write(settings).folder
    (tmp_path / "conf.d").mkdir()
    (tmp_path / "conf.d" / "wayseal.conf").symlink_to(folder / name)
    (tmp_path / "main.conf").write_text(DEBIAN.format(folder=tmp_path))
    command = tied([SERVER, "-c", tmp_path / "main.conf"])
    with (
        (tmp_path / "said").open("wb") as said,
        subprocess.Popen(command, stderr=said) as broker,  # noqa: S603 - a broker of ours
    ):
        try:
            if not works:
                assert broker.wait(30) != 0
                words = (tmp_path / "said").read_text("utf-8")
                assert "Duplicate pid_file value in configuration" in words
                return
            until("mosquitto", lambda: (tmp_path / "pid").exists() and broker.poll() is None)
            until("the truck", lambda: entered(port, token))
            assert admits(f"127.0.0.1:{own_port}", "gateway", PASSWORD)
            assert not admits(f"127.0.0.1:{port}", "truck-1", "guessed")
            assert write(settings).reloaded
        finally:
            broker.terminate()


def entered(port: int, token: str) -> bool:
    try:
        return admits(f"127.0.0.1:{port}", "truck-1", token)
    except OSError:
        return False
