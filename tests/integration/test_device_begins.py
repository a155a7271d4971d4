"""A new truck begins with a claim alone: typed or shown as a QR code; replaced and shut out."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
import segno
from PIL import Image

from contracts.keys import Signer
from device.commands.qr import read_claim
from device.offload.est import Claim
from gateway.access import Role, Tokens
from gateway.settings_file import load_settings
from support.gateways.appliance import SecuredAppliance
from support.machine.pki import Pki
from support.trucks.rogue import DEADLINE_S, until
from support.trucks.truck import write_log

pytestmark = pytest.mark.integration

TRIP = """\
[trip]
origin_site = "site-a"
destination_site = "site-b"

[source]
driver = "simulated"
minutes = 20
speed = "max"
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, pki: Pki) -> Iterator[SecuredAppliance]:
    directory = tmp_path_factory.mktemp("site")
    given = directory / "trucks.toml"
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SSL_CERT_FILE", str(pki.ca))  # for what the test itself asks
        variables = pki.variables() | {"WAYSEAL_PKI__TRUCK_SETTINGS": str(given)}
        appliance = SecuredAppliance(directory, variables=variables)
        given.write_text(TRIP)
        appliance.start()
        try:
            appliance.register_network()
            given.write_text(
                TRIP + f'\n[[gateways]]\nsite_id = "site-b"\nmqtt = "{appliance.mqtt}"\n'
                f'rest = "{appliance.rest}"\npublic_keys = ["{appliance.gateway_key()}"]\n'
                f'genesis_block_id = "{appliance.genesis_block_id()}"\n'
            )
            yield appliance
        finally:
            appliance.stop()


def gateway(site: SecuredAppliance, *words: str | Path) -> list[dict[str, Any]]:
    """Run a command of the gateway; return what it printed."""
    address = site.rest.removeprefix("https://")
    done = subprocess.run(  # noqa: S603 - our own command
        [
            Path(sys.executable).with_name("wayseal-gateway"),
            *words,
            *("--config", site.settings_file),
        ],
        capture_output=True,
        check=False,
        env=site.variables | {"WAYSEAL_PKI__ADDRESS": address},
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


class Pi:
    """A Raspberry Pi with nothing on it."""

    def __init__(self, folder: Path) -> None:
        self.config, self.data = folder / "etc" / "device.toml", folder / "data"

    def run(self, *words: str | Path) -> tuple[int, str, str]:
        done = subprocess.run(  # noqa: S603 - our own command
            [
                sys.executable,
                *("-m", "device.wayseal_device", "--config", self.config),
                *words,
            ],
            capture_output=True,
            check=False,
            text=True,
            timeout=120,
        )
        return done.returncode, done.stdout, done.stderr

    def must(self, *words: str | Path) -> str:
        code, out, err = self.run(*words)
        assert code == 0, out + err
        return out

    def record(self, rows: int) -> None:
        """Record a trip, which another number of readings makes another one."""
        self.must("record", "--readings", write_log(self.data.parent / "log.csv", rows))

    def begin(self, claim: str) -> str:
        return self.must("enrol", "--claim", claim, "--data", self.data)

    @property
    def public_key(self) -> str:
        return Signer.load(self.data / "device.key").public_key


def tokens(site: SecuredAppliance) -> list[str]:
    entries = Tokens(load_settings(site.settings_file).tokens_file).entries()
    return [each.name for each in entries if each.role is Role.DEVICE]


def claim(site: SecuredAppliance, name: str, how: str = "--claim") -> str:
    return str(gateway(site, "enrol", how, name)[-1]["claim"])


def test_a_claim_is_all_that_a_new_truck_is_told(site: SecuredAppliance, tmp_path: Path) -> None:
    pi = Pi(tmp_path)
    tmp_path.chmod(0o755)  # as / is: the service's user passes
    said = pi.begin(claim(site, "truck-21"))
    if os.geteuid() == 0:
        assert pi.config.parent.stat().st_mode & 0o777 == 0o755  # else the service has no settings
    assert "has its certificate, and settings in" in said
    assert pi.public_key in said  # its owner registers it
    (waiting,) = gateway(site, "enrol", "--waiting")
    assert (waiting["name"], waiting["public_key"]) == ("truck-21", pi.public_key)
    assert "truck-21" not in tokens(site)
    for path in (pi.config, pi.data / "tls" / "device.crt", pi.data / "tls" / "ca.crt"):
        assert path.stat().st_mode & 0o777 == 0o600
    pi.record(10)
    site.register_device("truck-21", str(waiting["public_key"]))
    pi.must("offload")  # by its certificate the truck asks in, and is admitted now
    assert "truck-21" in tokens(site)
    assert gateway(site, "enrol", "--waiting") == []
    assert json.loads(pi.must("status", "--json"))["may_leave"] is True


def film_of(picture: Path, film: Path) -> None:
    """Write a film in which somebody holds a picture before the camera after a while."""
    with Image.open(picture) as opened:
        code = np.asarray(opened.convert("RGB"))
    with av.open(str(film), "w") as output:
        stream: Any = output.add_stream("libx264", rate=Fraction(10))
        stream.width, stream.height, stream.pix_fmt = 960, 960, "yuv420p"
        for number in range(20):
            pixels = np.full((960, 960, 3), 90, np.uint8)
            if number >= 10:
                pixels[40 : 40 + code.shape[0], 60 : 60 + code.shape[1]] = code
            for packet in stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")):
                output.mux(packet)
        for packet in stream.encode(None):
            output.mux(packet)


def test_a_camera_reads_the_claim_from_a_qr_code(site: SecuredAppliance, tmp_path: Path) -> None:
    pictures = tmp_path / "pictures"
    gateway(site, "enrol", "--claim", "truck-22", "--qr-folder", pictures)
    assert (pictures / "truck-22.svg").read_text().startswith("<?xml")
    assert (pictures / "truck-22.png").stat().st_mode & 0o777 == 0o600
    film_of(pictures / "truck-22.png", tmp_path / "film.mp4")
    pi = Pi(tmp_path)
    said = pi.must("enrol", "--camera", tmp_path / "film.mp4", "--data", pi.data)
    assert "device truck-22 has its certificate" in said


def test_a_claim_whose_pattern_one_detector_does_not_read(tmp_path: Path) -> None:
    code, trust = "T7DRPKV53YCQ", "9ca5a18ac4c564eb7cd44372122a6a311b64c452ce693f5d98fdc0bc795ba1e5"
    claim = f"{code}.{trust}/truck-22/127.0.0.1:14131"
    segno.make(claim, error="m", micro=False).save(str(tmp_path / "claim.png"), scale=8, border=4)
    film_of(tmp_path / "claim.png", tmp_path / "film.mp4")
    assert read_claim(str(tmp_path / "film.mp4"), DEADLINE_S) == Claim.parse(claim)


def test_a_camera_that_sees_no_claim_says_so_in_time(tmp_path: Path) -> None:
    Image.new("RGB", (200, 200), "white").save(tmp_path / "blank.png")
    film_of(tmp_path / "blank.png", tmp_path / "film.mp4")
    pi = Pi(tmp_path)
    code, _, err = pi.run(
        *("enrol", "--camera", tmp_path / "film.mp4", "--wait-s", "1", "--data", pi.data)
    )
    assert code == 1
    assert "the camera showed no QR code in time" in err
    assert not pi.config.exists()


def test_a_wrong_claim_writes_no_settings_and_a_second_try_goes_on(
    site: SecuredAppliance, tmp_path: Path
) -> None:
    pi, told = Pi(tmp_path), claim(site, "truck-23")
    code, _, err = pi.run("enrol", "--claim", told.partition("/")[0])
    assert code == 2
    assert "pki.address" in err
    code, _, err = pi.run(
        "enrol", "--claim", f"{'1' if told[0] == '0' else '0'}{told[1:]}", "--data", pi.data
    )
    assert code == 1, err
    assert "expected the claim code of this device" in err
    assert not pi.config.exists()
    key = pi.public_key
    pi.begin(told)
    assert pi.public_key == key


def test_settings_that_a_truck_cannot_read_are_told_and_kept_aside(
    site: SecuredAppliance, tmp_path: Path
) -> None:
    given = Path(site.variables["WAYSEAL_PKI__TRUCK_SETTINGS"])
    kept = given.read_text()
    given.write_text(f"{kept}\n[nonsense]\nx = 1\n")
    try:
        pi = Pi(tmp_path)
        code, _, err = pi.run("enrol", "--claim", claim(site, "truck-24"), "--data", pi.data)
    finally:
        given.write_text(kept)
    assert code == 1
    assert "are not valid here" in err
    assert "nonsense" in pi.config.with_suffix(".draft").read_text()
    assert not pi.config.exists()


def test_one_command_replaces_a_broken_pi_and_one_shuts_a_stolen_one_out(
    site: SecuredAppliance, tmp_path: Path
) -> None:
    old, new = Pi(tmp_path / "old"), Pi(tmp_path / "new")
    old.begin(claim(site, "truck-25"))
    site.register_device("truck-25", old.public_key)
    old.record(10)
    old.must("offload")
    told = claim(site, "truck-25", "--replace")
    assert "truck-25" not in tokens(site)
    new.begin(told)
    site.register_device("truck-25", new.public_key)
    new.record(11)
    until("the replacement offloads", lambda: new.run("offload")[0] == 0)
    old.record(12)
    code, _, err = old.run("offload", "--wait-s", "2")
    assert code == 1, err
    said = gateway(site, "enrol", "--revoke", "truck-25")
    assert said == [{"name": "truck-25", "certificate_revoked": True, "token_revoked": True}]
    new.record(13)
    code, _, err = new.run("offload", "--wait-s", "2")
    assert code == 1, err
    assert "truck-25" not in tokens(site)
