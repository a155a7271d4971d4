"""Enrolments: a device proves to a site's gateway which token it will come with.

A device has one credential for the whole network, its key. The token for a site follows from the
key and the site's id, so a gateway that receives it learns nothing about the token for another
site. The gateway needs only hashes of the token. They come in an enrolment, which the device signs
with the key that the ledger has of it: it is not secret, and may take any way.
"""

import hashlib
import json
import re
from base64 import urlsafe_b64encode
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

from contracts.errors import RejectedError
from contracts.ids import check_id
from contracts.keys import Signer, verify
from contracts.passwords import is_mosquitto_hash, mosquitto_hash

_TOKEN: Final = "wayseal token 1"  # noqa: S105 - says what the key is used for
_ENROLMENT: Final = "wayseal enrolment 1"
_SHA256: Final = re.compile(r"[0-9a-f]{64}")


def token_for(signer: Signer, device_id: str, site_id: str) -> str:
    """Return the token that a device presents at one site's gateway, 43 characters.

    Only the owner of the device's key can compute it.
    """
    # An id has no line feed, so no two pairs of ids make the same text.
    secret = signer.secret(f"{_TOKEN}\n{device_id}\n{site_id}".encode())
    return urlsafe_b64encode(secret).decode("ascii").rstrip("=")


@dataclass(frozen=True, slots=True)
class Enrolment:
    """What a site's gateway keeps of a device's token, under the device's signature.

    Attributes:
        device_id: The device.
        site_id: The only site where the token counts.
        sha256: Of the token, hexadecimal.
        mosquitto: The token's hash in mosquitto's form.
        public_key: The device's key; the caller asks the ledger whose it is.
        signature: By that key, over all the rest.
    """

    device_id: str
    site_id: str
    sha256: str
    mosquitto: str
    public_key: str
    signature: str

    def __post_init__(self) -> None:
        """Check each part's form, for they go into files that other programs read; then who signed.

        Raises:
            RejectedError: A part is malformed, or the signature does not match.
        """
        for name, value in asdict(self).items():
            if not isinstance(value, str):
                raise RejectedError(f"enrolment: expected {name} to be a text, got {value!r:.40}")
        check_id("device", self.device_id)
        check_id("site", self.site_id)
        if not _SHA256.fullmatch(self.sha256) or not is_mosquitto_hash(self.mosquitto):
            raise RejectedError(
                f"enrolment of {self.device_id}: expected the hashes of a token, got others"
            )
        message = _message(self.device_id, self.site_id, self.sha256, self.mosquitto)
        if not verify(self.public_key, self.signature, message):
            raise RejectedError(
                f"enrolment of {self.device_id}: its signature does not match; let the truck "
                f"print it again"
            )

    @classmethod
    def sign(cls, signer: Signer, device_id: str, site_id: str) -> Self:
        """Return a device's enrolment for one site."""
        token = token_for(signer, device_id, site_id)
        sha256, mosquitto = hashlib.sha256(token.encode()).hexdigest(), mosquitto_hash(token)
        message = _message(device_id, site_id, sha256, mosquitto)
        signature = signer.sign(message)
        return cls(device_id, site_id, sha256, mosquitto, signer.public_key, signature)

    @classmethod
    def parse(cls, line: str) -> Self:
        """Read what `to_json` wrote.

        Raises:
            RejectedError: It is not an enrolment, is malformed, or its signature does not match.
        """
        try:
            document: dict[str, Any] = json.loads(line)
            return cls(**document)
        except (ValueError, TypeError, RecursionError) as error:
            raise RejectedError(
                "expected an enrolment as `wayseal-device enrol` prints it, got something else"
            ) from error

    def to_json(self) -> str:
        """Return the enrolment as one line of JSON, without a line feed."""
        return json.dumps(asdict(self))


def _message(*parts: str) -> bytes:
    """Return what is signed. It begins with a byte that begins no protobuf message of a ledger."""
    return "\n".join((_ENROLMENT, *parts)).encode()
