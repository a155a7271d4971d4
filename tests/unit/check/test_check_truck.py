"""`wayseal-device check-config` names what is wrong, and changes nothing."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from contracts.errors import UnavailableError
from contracts.keys import Signer
from contracts.runtime.files import make_directory
from contracts.runtime.ports import free_port
from device.commands.check_config import findings as on_the_truck
from device.offload.upload import check_site
from device.settings_file import load
from device.station import offload_lock
from device.wayseal_device import main as device
from support.machine.listing import listed
from support.machine.private import write_private
from support.network.world import key
from support.trucks.truck import write_log

PIN = "ab" * 64


@contextmanager
def gateway_that_answers(
    status: int, headers: dict[str, str], health: bytes = b""
) -> Iterator[int]:
    class Answer(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()

        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            with suppress(OSError):  # the truck hangs up
                self.wfile.write(health)

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def device_file(folder: Path, mqtt: int, rest: int, more: str = "") -> Path:
    return write_private(
        folder / "device.toml",
        f'device_id = "t"\ndata = "data"\n[gateway]\nmqtt = "127.0.0.1:{mqtt}"\n'
        f'rest = "http://127.0.0.1:{rest}"\ntoken = "secret"\n'
        f'public_keys = ["{key("g").public_key}"]\n{more}',
    )


@pytest.mark.parametrize(
    ("status", "headers", "severity", "words"),
    [
        (404, {"Tus-Resumable": "1.0.0"}, "ok", "knows the token"),
        (401, {"Tus-Resumable": "1.0.0"}, "error", "refuses the token with 401"),
        (404, {}, "error", "expected a gateway, got an answer of 404"),
    ],
)
def test_the_gateway_is_asked_whether_it_knows_the_token(
    tmp_path: Path, status: int, headers: dict[str, str], severity: str, words: str
) -> None:
    with gateway_that_answers(status, headers) as port:
        settings = load(device_file(tmp_path, free_port(), port), {})
        *_, broker, rest = on_the_truck(settings, offline=False)
    assert (broker.severity, rest.severity) == ("error", severity)
    assert broker.words.endswith("Connection refused")
    assert not broker.words.startswith("broker")  # which the subject says
    assert "systemctl start mosquitto" in broker.remedy
    assert words in rest.words


def test_a_truck_s_settings_are_looked_at_without_a_network(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = 'mqtt_ca = "ca.crt"\n[source]\ndriver = "replay"\nreadings = "r.csv"\n'
    path = device_file(tmp_path, 1, 1, more)
    before = listed(tmp_path)
    assert device(["check-config", "--offline", "--config", str(path)]) == 1
    said = capsys.readouterr().out
    for subject in ("key", "gateway.mqtt_ca", "source.readings"):
        assert f"error    {subject}: " in said
    assert "warning  gateway.genesis_block_id: missing" in said
    assert "ok       gateway 127.0.0.1:1, http://127.0.0.1:1: token of the settings" in said
    assert "connection" not in said
    assert listed(tmp_path) == before
    write_log(tmp_path / "r.csv", 2)
    (tmp_path / "ca.crt").write_text("")
    (tmp_path / "data").mkdir()
    Signer.load_or_create(tmp_path / "data" / "device.key")
    assert device(["check-config", "--offline", "--config", str(path)]) == 0
    assert device(["check-config", "--config", str(path)]) == 1


@pytest.mark.parametrize(
    ("columns", "limited", "severity", "words"),
    [
        ("Temperature", True, "ok", "values from 4.000 to 4.100 Cel"),
        ("Temperature", False, "error", "line 3, column 'Temperature': expected a decimal number"),
        ("Wetness", True, "error", "gives no temperature, which the trip's deliveries limit"),
    ],
)
def test_a_truck_s_source_is_read_as_run_reads_it(
    tmp_path: Path, columns: str, severity: str, words: str, *, limited: bool
) -> None:
    log = write_log(tmp_path / "r.csv", 2)
    text = log.read_text().replace("Temperature", columns)
    log.write_text(text if limited else text.replace("4.1,", "wet,"))
    (tmp_path / "v.avi").write_bytes(b"")
    more = (
        '[source]\ndriver = "replay"\nreadings = "r.csv"\nvideos = ["v.avi"]\n'
        '[trip]\norigin_site = "a"\ndestination_site = "b"\ndeliveries = ["d"]\n'
    )
    path = device_file(tmp_path, 1, 1, more)
    found = [
        each for each in on_the_truck(load(path, {}), offline=True) if each.subject == "source"
    ]
    assert [each for each in found if each.severity == severity and words in each.words]
    empty = [each for each in found if "v.avi: left out of the trip" in each.words]
    assert [each.severity for each in empty] == (["warning"] if severity == "ok" else [])


def test_a_truck_without_a_source_is_told_that_its_service_does_not_start(tmp_path: Path) -> None:
    found = {
        each.subject: each
        for each in on_the_truck(load(device_file(tmp_path, 1, 1), {}), offline=True)
    }
    assert found["[source]"].severity == "warning"
    assert "does not start" in found["[source]"].words
    assert "[[sensors]]" in found["[source]"].remedy


def test_a_truck_with_a_certificate_is_told_that_it_asks_in_by_itself(tmp_path: Path) -> None:
    health = b'{"site_id": "dock-a"}'
    with gateway_that_answers(401, {"Tus-Resumable": "1.0.0"}, health) as port:
        path = sites_file(
            tmp_path, {"dock-a": port}, 'tls_certificate = "t.crt"\ntls_key = "t.key"\n'
        )
        settings = load(path, {})
        make_directory(settings.data)
        Signer.load_or_create(settings.key_file)
        *_, rest = on_the_truck(settings, offline=False)
    assert rest.severity == "warning"
    assert "asks in by its certificate" in rest.words
    assert "401" in rest.words
    assert "wayseal-party register-device t" in rest.remedy


def _hang_up(server: socket.socket) -> None:
    server.accept()[0].close()


def test_a_gateway_that_hangs_up_may_not_take_the_certificate(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=_hang_up, args=(server,), daemon=True)
        thread.start()
        port = server.getsockname()[1]
        path = sites_file(
            tmp_path, {"dock-a": port}, 'tls_certificate = "t.crt"\ntls_key = "t.key"\n'
        )
        with pytest.raises(UnavailableError, match=r"this device's certificate was revoked"):
            check_site(load(path, {}).sites[0])
        thread.join()


def sites_file(folder: Path, ports: dict[str, int], more: str = "") -> Path:
    tables = "".join(
        f'[[gateways]]\nsite_id = "{site}"\nmqtt = "127.0.1.{number}:1"\n'
        f'rest = "http://127.0.0.1:{port}"\npublic_keys = ["{key("g").public_key}"]\n{more}'
        for number, (site, port) in enumerate(ports.items(), start=1)
    )
    return write_private(folder / "device.toml", f'device_id = "t"\ndata = "data"\n{tables}')


def test_each_gateway_has_its_line_also_without_a_network(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = sites_file(tmp_path, {"dock-a": 1, "dock-b": 2}, 'mqtt_ca = "ca.crt"\n')
    assert device(["check-config", "--offline", "--config", str(path)]) == 1
    said = capsys.readouterr().out
    for site, port in (("dock-a", 1), ("dock-b", 2)):
        place = f"{site} (127.0.1.{port}:1, http://127.0.0.1:{port})"
        assert f"ok       {place}: token given by the device's key, public keys: 1" in said
        assert f"warning  {site}: gateways.genesis_block_id: missing" in said
        assert f"error    {site}: gateways.mqtt_ca: expected a file" in said
        assert f"warning  {place}: not looked at: whether its broker lets this device in" in said
    assert "connection" not in said


@pytest.mark.parametrize(
    ("health", "words"),
    [
        (b'{"live": true, "site_id": "dock-a"}', "is that of site dock-a"),
        (b'{"site_id": "dock-b"}', "expected the gateway of site dock-a, as the settings say, got"),
        (b'{"site_id": ["dock-a"]}', "got that of site ['dock-a']"),
        (b'{"live": true}', "expected a gateway that says its site_id"),
        (b"<html>", "expected a gateway that says its site_id"),
        (b"[" * 60_000, "expected a gateway that says its site_id"),
        (b" " * 10_000_000 + b'{"site_id": "dock-a"}', "expected a gateway that says its site_id"),
    ],
)
def test_a_gateway_has_to_say_the_site_of_its_table(
    tmp_path: Path, health: bytes, words: str
) -> None:
    with gateway_that_answers(404, {"Tus-Resumable": "1.0.0"}, health) as port:
        path = sites_file(tmp_path, {"dock-a": port})
        (tmp_path / "data").mkdir()
        key("t").save(tmp_path / "data" / "device.key")
        found = list(on_the_truck(load(path, {}), offline=False))
    said = [each.words for each in found if each.subject == f"gateway http://127.0.0.1:{port}"]
    assert words in said[0]
    assert ("knows the token" in said) == words.startswith("is that")


@pytest.mark.parametrize(
    ("told", "severity", "subject", "words"),
    [
        ({}, "warning", "gateway {rest}", "does not say its key and ledger"),
        ({"public_key": "other"}, "error", "gateway.public_keys", "none of its receipts counts"),
        ({"genesis_block_id": None}, "warning", "gateway {rest}", "has not reached its ledger"),
        ({"genesis_block_id": "00"}, "error", "gateway.genesis_block_id", "of another ledger"),
        ({"genesis_block_id": PIN}, "ok", "gateway {rest}", "that the settings trust"),
    ],
)
def test_what_a_truck_trusts_is_compared_with_what_the_gateway_says(
    tmp_path: Path, told: dict[str, str | None], severity: str, subject: str, words: str
) -> None:
    said: dict[str, str | None] = {"site_id": "dock-a"}
    if told:
        said |= {"public_key": key("g").public_key} | told
    with gateway_that_answers(404, {"Tus-Resumable": "1.0.0"}, json.dumps(said).encode()) as port:
        path = device_file(tmp_path, free_port(), port, f'genesis_block_id = "{PIN}"\n')
        found = list(on_the_truck(load(path, {}), offline=False))
    wanted = subject.format(rest=f"http://127.0.0.1:{port}")
    assert [
        each
        for each in found
        if (each.severity, each.subject) == (severity, wanted) and words in each.words
    ]


def test_no_login_ends_the_session_of_an_offload(tmp_path: Path) -> None:
    with gateway_that_answers(404, {"Tus-Resumable": "1.0.0"}) as port:
        settings = load(device_file(tmp_path, port, port), {})
        make_directory(settings.data)
        with offload_lock(settings):
            found = on_the_truck(settings, offline=False)
            (broker,) = [each for each in found if each.subject.startswith("broker")]
    assert broker.severity == "warning"
    assert "no login, which would end the session of the offload" in broker.words
