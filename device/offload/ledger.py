"""Which ledger receipts must name: the one of the settings, or the one that it has gone on as.

A receipt of another ledger makes the device ask the gateway for an administrator's signed statement
about that ledger. Only the signature counts, never the gateway's word. A statement that the device
followed is kept.
"""

import base64
import binascii
import json
import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import httpx

from contracts.encoding import parse
from contracts.errors import RejectedError, UnavailableError, WaysealError
from contracts.proto.wire_pb2 import Receipt, ReceiptBody
from contracts.receipt import open_receipt
from contracts.runtime.files import OWNER_ONLY, write_file
from contracts.successor import Succession, followed, succession_of
from device.offload.upload import bounded
from device.settings import GatewaySettings

SUCCESSIONS_NAME: Final = "successions.json"
SUCCESSIONS_BYTES_MAX: Final = 256 << 10
_OK: Final = 200
_log: Final = logging.getLogger(__name__)


@dataclass(slots=True)
class PinnedLedger:
    """The ledger that receipts of a gateway must name; for one thread.

    Attributes:
        gateway: Its settings have the first ledger, and the administrators' keys.
        data: This device's folder, which keeps what was followed.
        genesis_block_id: The ledger that counts now; None if nobody has said.
    """

    gateway: GatewaySettings
    data: Path
    genesis_block_id: str | None = field(init=False)
    _kept: dict[bytes, None] = field(default_factory=dict, init=False)
    _strangers: set[str] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        """Follow what was followed before."""
        self._kept = dict.fromkeys(_kept(self.data))
        self.genesis_block_id = pinned(self.gateway, self.data)

    def follow(self, wire: bytes) -> None:
        """Go on with the ledger that a receipt names, if an administrator has signed that.

        Args:
            wire: The receipt, as it arrived; its faults are found when it is accepted.
        """
        named = self._named(wire)
        if named is None or named in self._strangers:
            return
        try:
            wires = _asked(self.gateway)
            if self._reached(wires) != named:
                self._strangers.add(named)
                _log.warning(
                    "receipts name the ledger that begins with block %s…, and no key of "
                    "gateway.admin_keys has signed that the ledger %s… goes on as that one",
                    named[:16],
                    (self.genesis_block_id or "")[:16],
                )
                return
            self._keep(wires)
        except UnavailableError as error:
            _log.warning("the ledger of a receipt is not followed yet: %s", error)
            return
        _log.info("the ledger goes on as the one that begins with block %s…", named[:16])
        self.genesis_block_id = named

    def _named(self, wire: bytes) -> str | None:
        """Return the other ledger that a trusted gateway's receipt names, if we can follow any."""
        if self.genesis_block_id is None or not self.gateway.admin_keys:
            return None
        try:
            receipt = parse(Receipt, wire)
            if parse(ReceiptBody, receipt.body).genesis_id == self.genesis_block_id:
                return None
            return open_receipt(receipt, self.gateway.public_keys).genesis_id
        except RejectedError:
            return None

    def _reached(self, wires: Iterable[bytes]) -> str:
        return followed(self.genesis_block_id or "", _signed(wires, self.gateway))

    def _keep(self, wires: Iterable[bytes]) -> None:
        """Keep what was followed, with what was followed before.

        Raises:
            UnavailableError: It cannot be written.
        """
        self._kept |= dict.fromkeys(wires)
        path = self.data / SUCCESSIONS_NAME
        listed = [base64.b64encode(each).decode("ascii") for each in self._kept]
        text = json.dumps({"successions": listed})
        write_file(path, text.encode(), temporary=path.with_suffix(".new"), mode=OWNER_ONLY)


def pinned(gateway: GatewaySettings, data: Path) -> str | None:
    """Return the ledger that a gateway's receipts must name, after what was followed before."""
    pin = gateway.genesis_block_id
    if pin is None or not gateway.admin_keys:
        return pin
    return followed(pin, _signed(_kept(data), gateway))


def _kept(data: Path) -> list[bytes]:
    path = data / SUCCESSIONS_NAME
    try:
        return list(_listed(path.read_bytes()))
    except FileNotFoundError:
        return []
    except (OSError, UnavailableError) as error:
        _log.warning("%s is left out, and made again when it is needed: %s", path, error)
        return []


def _asked(gateway: GatewaySettings) -> list[bytes]:
    """Return what a gateway has of administrators' signed words.

    Raises:
        UnavailableError: It does not answer, or answers something else.
    """
    url = f"{gateway.rest}/successions"
    try:
        status, body = bounded(url, gateway, SUCCESSIONS_BYTES_MAX)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise UnavailableError(f"{url}: {error}") from error
    if status != _OK:
        raise UnavailableError(f"{url} answered {status}")
    return list(_listed(body))


def _listed(body: bytes) -> Iterator[bytes]:
    try:
        for each in json.loads(body)["successions"]:
            yield base64.b64decode(each, validate=True)
    except (ValueError, LookupError, TypeError, RecursionError, binascii.Error) as error:
        raise UnavailableError(f"expected successions in base64, got {error}") from error


def _signed(wires: Iterable[bytes], gateway: GatewaySettings) -> Iterator[Succession]:
    """Yield what trusted administrators have signed; anything else is left out."""
    for wire in wires:
        try:
            yield succession_of(wire, gateway.admin_keys)
        except WaysealError as error:
            _log.info("a succession does not count: %s", error)
