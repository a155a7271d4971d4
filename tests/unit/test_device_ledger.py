"""A truck follows its ledger to a successor on an administrator's signature alone."""

import base64
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from msgspec.structs import replace

from contracts.errors import RejectedError
from contracts.keys import Signer
from contracts.proto.sawtooth_pb2 import Transaction
from contracts.proto.wire_pb2 import ReceiptBody
from contracts.receipt import sign_receipt
from contracts.sawtooth.settings import propose
from contracts.successor import SETTING, Succession, followed, is_succession, succession_of
from device.offload.ledger import SUCCESSIONS_NAME, PinnedLedger, pinned
from device.settings import GatewaySettings
from support.network.world import key

OLD, NEW, NEWEST = ("a" * 128, "b" * 128, "c" * 128)
ADMIN, STRANGER, GATEWAY = key("admin"), key("truck-2"), key("gateway-buyer")


def wire(transaction: Transaction) -> bytes:
    return transaction.SerializeToString()


def signed(predecessor: str, successor: str, by: Signer = ADMIN) -> bytes:
    return wire(Succession(predecessor, successor).sign(by))


@dataclass
class Site:
    """A gateway that says what it has of administrators' words."""

    rest: str = ""
    said: list[bytes] = field(default_factory=list)
    status: int = 200
    body: bytes | None = None
    asked: int = 0

    def settings(self, **changes: object) -> GatewaySettings:
        made = GatewaySettings(
            mqtt="127.0.0.1:1883",
            rest=self.rest,
            public_keys=(GATEWAY.public_key,),
            genesis_block_id=OLD,
            admin_keys=(ADMIN.public_key,),
        )
        return replace(made, **changes)


@pytest.fixture
def site() -> Iterator[Site]:
    made = Site()

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            made.asked += 1
            listed = [base64.b64encode(each).decode() for each in made.said]
            body = made.body or json.dumps({"successions": listed}).encode()
            self.send_response(made.status if self.path == "/successions" else 404)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    made.rest = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield made
    server.shutdown()
    server.server_close()


def receipt(genesis: str, by: Signer = GATEWAY) -> bytes:
    return sign_receipt(by, ReceiptBody(trip_id="0" * 32, genesis_id=genesis)).SerializeToString()


def test_a_signed_successor_is_followed_and_kept(site: Site, tmp_path: Path) -> None:
    site.said = [signed(OLD, NEW), signed(NEW, NEWEST)]
    ledger = PinnedLedger(site.settings(), tmp_path)
    assert ledger.genesis_block_id == OLD
    ledger.follow(receipt(NEWEST))
    assert ledger.genesis_block_id == NEWEST
    site.said = []
    again = PinnedLedger(site.settings(), tmp_path)
    again.follow(receipt(NEWEST))
    assert (again.genesis_block_id, site.asked) == (NEWEST, 1)
    assert (tmp_path / SUCCESSIONS_NAME).stat().st_mode & 0o777 == 0o600


def test_what_was_followed_before_is_not_forgotten(site: Site, tmp_path: Path) -> None:
    for said, named in ((signed(OLD, NEW), NEW), (signed(NEW, NEWEST), NEWEST)):
        site.said = [said]
        ledger = PinnedLedger(site.settings(), tmp_path)
        ledger.follow(receipt(named))
        assert ledger.genesis_block_id == named
    assert pinned(site.settings(), tmp_path) == NEWEST
    # The settings' own pin, changed by hand later, is a step on the same way.
    assert pinned(site.settings(genesis_block_id=NEW), tmp_path) == NEWEST


@pytest.mark.parametrize(
    "said",
    [
        [],
        [signed(OLD, NEW, STRANGER)],
        [signed(OLD, NEWEST)],
        [signed(NEWEST, NEW)],
        [b"x" * 20_000],
        [b"\xff"],
        [wire(propose(ADMIN, "another.setting", "{}"))],
        [wire(propose(ADMIN, SETTING, '{"predecessor": 1, "genesis_block_id": 2}'))],
        [wire(propose(ADMIN, SETTING, "[" * 10_000))],
    ],
)
def test_without_that_signature_nothing_is_followed(
    site: Site, tmp_path: Path, said: list[bytes], caplog: pytest.LogCaptureFixture
) -> None:
    site.said = said
    ledger = PinnedLedger(site.settings(), tmp_path)
    for _ in range(3):
        ledger.follow(receipt(NEW))
    assert (ledger.genesis_block_id, site.asked) == (OLD, 1)
    assert not (tmp_path / SUCCESSIONS_NAME).exists()
    assert "no key of gateway.admin_keys has signed" in caplog.text


def test_changed_words_are_not_the_administrators(site: Site, tmp_path: Path) -> None:
    whole = signed(OLD, NEW)
    for place in range(0, len(whole), 7):
        changed = bytearray(whole)
        changed[place] ^= 1
        with pytest.raises(RejectedError):
            succession_of(bytes(changed), [ADMIN.public_key])
    site.said = [whole]
    # Who takes the key out of the settings takes back what it has signed.
    PinnedLedger(site.settings(), tmp_path).follow(receipt(NEW))
    assert pinned(site.settings(admin_keys=(STRANGER.public_key,)), tmp_path) == OLD


def test_only_a_trusted_gateways_receipt_makes_a_truck_ask(site: Site, tmp_path: Path) -> None:
    site.said = [signed(OLD, NEW)]
    ledger = PinnedLedger(site.settings(), tmp_path)
    for odd in (receipt(NEW, STRANGER), b"", b"\xff\xff", receipt(OLD)):
        ledger.follow(odd)
    for settings in (site.settings(admin_keys=()), site.settings(genesis_block_id=None)):
        PinnedLedger(settings, tmp_path).follow(receipt(NEW))
    assert (ledger.genesis_block_id, site.asked) == (OLD, 0)


def test_a_gateway_that_does_not_answer_is_asked_again(site: Site, tmp_path: Path) -> None:
    site.said = [signed(OLD, NEW)]
    ledger = PinnedLedger(site.settings(), tmp_path)
    for status, body in ((503, None), (404, None), (200, b"{}"), (200, b"[" * 10_000)):
        site.status, site.body = status, body
        ledger.follow(receipt(NEW))
        assert ledger.genesis_block_id == OLD
    site.status, site.body = 200, None
    ledger.follow(receipt(NEW))
    assert ledger.genesis_block_id == NEW


@pytest.mark.parametrize("kept", [b"", b"{", b'{"successions": ["!"]}', b"\xff"])
def test_a_damaged_file_is_made_again(site: Site, tmp_path: Path, kept: bytes) -> None:
    (tmp_path / SUCCESSIONS_NAME).write_bytes(kept)
    site.said = [signed(OLD, NEW)]
    ledger = PinnedLedger(site.settings(), tmp_path)
    assert ledger.genesis_block_id == OLD
    ledger.follow(receipt(NEW))
    assert pinned(site.settings(), tmp_path) == NEW


def test_a_circle_ends() -> None:
    circle = [Succession(OLD, NEW), Succession(NEW, OLD)]
    assert followed(OLD, circle) == OLD
    assert followed(NEWEST, circle) == NEWEST


def test_the_ledgers_other_words_are_told_apart() -> None:
    assert is_succession(Succession(OLD, NEW).sign(ADMIN))
    assert not is_succession(propose(ADMIN, "another.setting", "{}"))
