"""Ends the open sessions of clients that are revoked.

Mosquitto looks at its revocation list in handshakes only. A session ends when its client id
connects again. So each of these names gets a password that nobody else knows, and the gateway takes
the session over with it at its own listener. mosquitto reads passwords and revocation list
together: once it takes such a password, the list is in force, and the client cannot come back. Then
the passwords are written again as they were.

Source: MQTT 3.1.1, 3.1.4-2; mosquitto 2.0.11, mosquitto.c, on SIGHUP.
"""

import logging
import secrets
import time
from typing import Final

from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode
from paho.mqtt.reasoncodes import ReasonCode

from contracts.errors import RejectedError, UnavailableError
from contracts.ids import check_id
from contracts.passwords import mosquitto_hash
from contracts.runtime.files import in_turn, make_directory
from gateway.access import Tokens
from gateway.mosquitto.folder import Written, is_behind, keep_pending, pending, write
from gateway.mosquitto.text import REVOKED
from gateway.pki.revoked import revoked_names
from gateway.settings import Settings

RELOAD_S: Final = 20.0
"""How long mosquitto may take to read its files again."""
_PAUSE_S: Final = 0.1
_LOOP_S: Final = 1.0
_ANSWER_S: Final = 5.0

_log = logging.getLogger(__name__)


def refresh(settings: Settings) -> Written:
    """Write mosquitto's files, and end the sessions of clients that are revoked since.

    Safe to repeat, and by several processes: names stay noted until their sessions have ended.

    Raises:
        RejectedError: Settings or a file are invalid.
        UnavailableError: A file cannot be written, or mosquitto does not read its files again.
    """
    make_directory(settings.data)
    with in_turn(settings.data / "mosquitto-sessions.lock"):
        names = pending(settings) | _newly_revoked(settings)
        if not names:
            return write(settings)
        keep_pending(settings, names)
        passwords = {name: secrets.token_urlsafe() for name in names}
        write(settings, {name: mosquitto_hash(text) for name, text in passwords.items()})
        try:
            end_s = time.monotonic() + RELOAD_S
            for name, password in passwords.items():
                _take_over(settings, name, password, end_s)
        finally:
            written = write(settings)
        keep_pending(settings, set())
    _log.info("open sessions at mosquitto are ended: %s", ", ".join(sorted(names)))
    return written


def is_due(settings: Settings) -> bool:
    """Say whether mosquitto lacks files of the authority, or sessions have yet to be ended.

    Raises:
        RejectedError: A file cannot be read.
    """
    ours = settings.mosquitto
    if ours.folder is None or ours.ca is None:
        return False
    return is_behind(settings) or bool(pending(settings))


def _newly_revoked(settings: Settings) -> set[str]:
    """Return whose sessions a new list concerns: all devices if it does not tell names."""
    folder, path = settings.mosquitto.folder, settings.mosquitto.crl
    if folder is None or path is None or settings.mosquitto.ca is None:
        return set()
    now, copy = revoked_names(path), folder / REVOKED
    known = revoked_names(copy) if copy.exists() else {}
    found = {name for serial, name in now.items() if serial not in known}
    if "" in found:
        found |= set(Tokens(settings.tokens_file).of_devices())
    return {name for name in found - {settings.mqtt.username} if _is_id(name)}


def _is_id(name: str) -> bool:
    """Say whether a name fits a line of the passwords."""
    try:
        check_id("client", name)
    except RejectedError:
        return False
    return True


def _take_over(settings: Settings, name: str, password: str, end_s: float) -> None:
    """Connect under a name until mosquitto lets us in, and leave.

    Raises:
        UnavailableError: It does not in time. If nobody listens, no session is open.
    """
    while not _connects(settings, name, password):
        if time.monotonic() > end_s:
            raise UnavailableError(
                f"the session of {name} at mosquitto goes on, since mosquitto has not read its "
                f"files again within {RELOAD_S:.0f} s: restart it (systemctl restart mosquitto)"
            )
        time.sleep(_PAUSE_S)


def _connects(settings: Settings, name: str, password: str) -> bool:
    """Say whether mosquitto takes a password; also True if nobody listens."""
    mqtt, answers = settings.mqtt, list[bool]()

    def connected(
        _client: Client, _userdata: object, _flags: object, reason: ReasonCode, _properties: object
    ) -> None:
        answers.append(not reason.is_failure)

    client = Client(
        CallbackAPIVersion.VERSION2,
        client_id=name,
        transport="unix" if mqtt.socket else "tcp",
        reconnect_on_failure=False,
    )
    client.username_pw_set(name, password)
    client.on_connect = connected
    client.connect_timeout = _ANSWER_S
    try:
        client.connect(str(mqtt.socket or mqtt.host), mqtt.port)
    except (ConnectionRefusedError, FileNotFoundError):
        return True
    except OSError:
        return False
    until_s = time.monotonic() + _ANSWER_S
    while not answers and time.monotonic() < until_s:
        if client.loop(_LOOP_S) is not MQTTErrorCode.MQTT_ERR_SUCCESS:
            break
    client.disconnect()
    return answers == [True]
