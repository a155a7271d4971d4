"""A new truck's beginning: certificate, settings and admission in one answer of a gateway.

And its admission at the other sites of the network, by that certificate.
"""

import base64
import binascii
import json
import logging
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from contracts.enrolment import Enrolment
from contracts.errors import RejectedError, UnavailableError, WaysealError
from contracts.keys import Signer
from device import certificate
from device.offload.est import Claim, authority, exchange
from device.offload.tls import context_of
from device.settings import GatewaySettings, TlsFiles

_PATH: Final = "/v1/enrolment"
_JSON: Final = {"Content-Type": "application/json"}
_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Beginning:
    """The certificate and settings that a new truck got.

    Attributes:
        site_id: Of the gateway that answered.
        settings: The network's settings for trucks, TOML.
        admitted: Whether the truck is admitted; else the ledger does not have its key yet.
    """

    site_id: str
    settings: str
    admitted: bool


def begin(
    gateway: GatewaySettings, files: TlsFiles, claim: Claim, device_id: str, signer: Signer
) -> Beginning:
    """Get this device's first certificate and the settings; the certificate is kept.

    The code goes only to a gateway whose certificate the authority of the claim has signed.

    Raises:
        RejectedError: The gateway refuses it, is of another authority, or answers nonsense.
        UnavailableError: It does not answer, or a file cannot be written.
    """
    asked = certificate.request(files, device_id)
    pem = authority(gateway, claim)
    trusted = ssl.create_default_context(cadata=pem.decode("ascii"))
    site_id = _text(_parsed(exchange(gateway, trusted, "GET", "/health", {})), "site_id")
    body = {
        "enrolment": json.loads(Enrolment.sign(signer, device_id, site_id).to_json()),
        "request": base64.b64encode(asked).decode("ascii"),
    }
    headers = {"Authorization": claim.login(device_id)} | _JSON
    said = exchange(gateway, trusted, "POST", _PATH, headers, json.dumps(body).encode())
    found = _parsed(said)
    try:
        signed = base64.b64decode(_text(found, "certificate"), validate=True)
    except (binascii.Error, ValueError) as error:
        raise RejectedError(f"{gateway.rest}: expected a certificate in base64") from error
    certificate.write(files.ca, pem)
    certificate.keep(files, signed, device_id)
    return Beginning(site_id, _text(found, "settings"), found.get("admitted") is True)


def ask_in(gateway: GatewaySettings, site_id: str, device_id: str, signer: Signer) -> bool | None:
    """Ask a site's gateway to admit this device by its certificate; say whether it does.

    None: it does not answer that; an older one, or one without certificates. It is logged.
    """
    line = json.loads(Enrolment.sign(signer, device_id, site_id).to_json())
    body = json.dumps({"enrolment": line}).encode()
    try:
        said = exchange(gateway, context_of(gateway), "POST", _PATH, dict(_JSON), body)
        admitted = _parsed(said).get("admitted") is True
    except WaysealError as error:
        _log.info("site %s does not admit this device by itself: %s", site_id, error)
        return None
    if admitted:
        _log.info("site %s admits this device by its certificate", site_id)
    else:
        _log.warning(
            "site %s admits this device once its key %s is on the ledger: `wayseal-party "
            "register-device`",
            site_id,
            signer.public_key,
        )
    return admitted


def _parsed(said: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(said)
    except (ValueError, RecursionError) as error:
        raise UnavailableError(f"expected JSON from the gateway, got {said[:80]!r}") from error
    if not isinstance(found, dict):
        raise UnavailableError(f"expected an object from the gateway, got {said[:80]!r}")
    return found


def _text(found: Mapping[str, Any], name: str) -> str:
    text = found.get(name)
    if not isinstance(text, str):
        raise RejectedError(
            f"expected {name} from the gateway, got {text!r:.80}; it may be older than this truck"
        )
    return text
