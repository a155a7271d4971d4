"""What mosquitto is told: who speaks and hears on which topics, and within which limits.

Every client connects by its user name, which also becomes its client id, so that nobody can take
over another's session. A truck's user name is its device id; its password is its token.

Source: mosquitto.conf(5) and mosquitto_ctrl_dynsec(1), version 2.0.11.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError
from contracts.wire import (
    FOR_GATEWAYS,
    FROM_DEVICES,
    MESSAGE_BYTES_MAX,
    TO_DEVICES,
    Topic,
    topic,
)
from gateway.brokersettings import MqttSettings
from gateway.settings import Settings

PACKET_BYTES_MAX: Final = MESSAGE_BYTES_MAX + 4096
"""The largest payload of our protocol, with its topic."""
IN_FLIGHT_MAX: Final = 20
QUEUE_MESSAGES_MAX: Final = 1000
QUEUE_BYTES_MAX: Final = 32 << 20
KEEPALIVE_MAX_S: Final = 120
OWN_CONNECTIONS_MAX: Final = 16
"""At the gateway's own listener; more than one, as a lost connection may linger."""
CONFIGURATION: Final = "mosquitto.conf"
INCLUDED: Final = "included.conf"
"""The same for Debian's `conf.d/`."""
_OF_DEBIAN: Final = ("pid_file ", "persistence_location ")
"""What Debian's own file says; mosquitto does not start when another file says it again."""
PASSWORDS: Final = "passwords"
ACCESS: Final = "acl"
ROLES: Final = "roles.json"
AUTHORITY: Final = "ca.crt"
REVOKED: Final = "crl.pem"
ENDING: Final = "ending"
"""Names whose sessions have yet to be ended, a line each."""


def access_rules() -> str:
    """Return the ACL file: each device speaks and hears on its own topics.

    It has no section of a user, since mosquitto 2.0.11 crashes when it reads such a file again.
    """
    return "".join(
        [
            *(f"pattern write {topic('%u', kind)}\n" for kind in FROM_DEVICES),
            *(f"pattern read {topic('%u', kind)}\n" for kind in TO_DEVICES),
        ]
    )


def roles(gateway: str, devices: Iterable[str], operators: Iterable[str] = ()) -> str:
    """Return the file of the dynamic security plugin.

    The gateway speaks and hears on the topics of all devices. A device may subscribe to its own
    two topics only. An operator hears how all trucks stand, and says nothing. The ACL file alone
    decides only what is delivered: a client could subscribe to anything, and 40 packets of deep
    topics took 4 GB of the broker's memory.
    """
    rules = {name: _watching() for name in operators}
    rules |= {name: _subscribing(name) for name in devices} | {gateway: _governing()}
    refuse = {
        "publishClientSend": False,
        "publishClientReceive": False,
        "subscribe": False,
        "unsubscribe": True,
    }
    return json.dumps(
        {
            # False leaves to the ACL file what no role decides.
            "defaultACLAccess": refuse,
            "clients": [{"username": name, "roles": [{"rolename": name}]} for name in rules],
            "groups": [],
            "roles": [{"rolename": name, "acls": list(acls)} for name, acls in rules.items()],
        },
        indent=1,
    )


def _governing() -> Iterator[dict[str, object]]:
    for kind in FOR_GATEWAYS:
        for acl in ("subscribeLiteral", "publishClientReceive"):
            yield _rule(acl, topic("+", kind), priority=1, allow=True)
    for kind in TO_DEVICES:
        yield _rule("publishClientSend", topic("+", kind), priority=1, allow=True)
    yield _rule("subscribePattern", "#", priority=0, allow=False)


def _watching() -> Iterator[dict[str, object]]:
    every = topic("+", Topic.STATUS)
    for acl in ("subscribeLiteral", "publishClientReceive"):
        yield _rule(acl, every, priority=1, allow=True)
    for acl in ("subscribePattern", "publishClientSend"):
        yield _rule(acl, "#", priority=0, allow=False)


def _subscribing(device_id: str) -> Iterator[dict[str, object]]:
    for kind in TO_DEVICES:
        yield _rule("subscribeLiteral", topic(device_id, kind), priority=1, allow=True)
    yield _rule("subscribePattern", "#", priority=0, allow=False)


def _rule(kind: str, name: str, *, priority: int, allow: bool) -> dict[str, object]:
    return {"acltype": kind, "topic": name, "priority": priority, "allow": allow}


def configuration(settings: Settings, folder: Path, plugin: Path) -> str:
    """Return mosquitto.conf."""
    ours, mqtt = settings.mosquitto, settings.mqtt
    lines = [
        "# Written by `wayseal-gateway mosquitto`, and again with each token of a device.",
        "# Change the gateway's settings instead, and run it again.",
        f"user {ours.user}",
        f"pid_file {_path('pid_file', ours.pid_file)}",
        "log_dest stderr",
        *(f"log_type {kind}" for kind in ("error", "warning", "notice")),
        "",
        "allow_anonymous false",
        f"password_file {_path('folder', folder / PASSWORDS)}",
        f"acl_file {_path('folder', folder / ACCESS)}",
        f"plugin {_path('plugin', plugin)}",
        f"plugin_opt_config_file {_path('folder', folder / ROLES)}",
        "",
        "# Each change is written at once: a killed broker loses its last moment only.",
        "persistence true",
        f"persistence_location {_path('data', ours.data)}/",
        "autosave_interval 1",
        "autosave_on_changes true",
        "persistent_client_expiration 1d",
        "",
        "# How a truck stands is retained, for programs that ask later. Wayseal reads no $SYS.",
        "retain_available true",
        "sys_interval 0",
        "",
        f"max_packet_size {PACKET_BYTES_MAX}",
        f"max_inflight_messages {IN_FLIGHT_MAX}",
        f"max_queued_messages {QUEUE_MESSAGES_MAX}",
        f"max_queued_bytes {QUEUE_BYTES_MAX}",
        f"max_keepalive {KEEPALIVE_MAX_S}",
        "",
        "# The gateway's own listener: whatever strangers do at the other one, it connects.",
        *_listener("mqtt.host", *_own_place(mqtt), OWN_CONNECTIONS_MAX),
        "",
        "# The listener for trucks.",
        *_listener("mosquitto.host", ours.port, ours.host, ours.connections),
    ]
    if ours.certificate is not None and ours.key is not None:
        lines.append(f"certfile {_path('certificate', ours.certificate)}")
        lines.append(f"keyfile {_path('key', ours.key)}")
        lines.append("tls_version tlsv1.2")
    if ours.ca is not None:
        # The common name of the certificate is the user name, whatever the client calls itself.
        lines.append(f"cafile {_path('folder', folder / AUTHORITY)}")
        lines += ["require_certificate true", "use_identity_as_username true"]
    if ours.crl is not None:
        lines.append(f"crlfile {_path('folder', folder / REVOKED)}")
    return "\n".join([*lines, ""])


def included(text: str) -> str:
    """Return a whole configuration without what Debian's mosquitto.conf says already."""
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith(_OF_DEBIAN))


def _own_place(mqtt: MqttSettings) -> tuple[int, str]:
    """Return port and address of the gateway's own listener; 0 stands for a Unix socket.

    mosquitto makes the socket with mode 0770, so only its own user and group connect.
    """
    return (0, str(mqtt.socket)) if mqtt.socket else (mqtt.port, mqtt.host)


def _listener(key: str, port: int, place: str, connections: int) -> Iterator[str]:
    yield f"listener {port} {_in_a_line(key, place)}"
    yield f"max_connections {connections}"
    yield "use_username_as_clientid true"
    yield "max_qos 1"
    yield "max_topic_alias 0"


def _path(key: str, path: Path) -> str:
    return _in_a_line(f"mosquitto.{key}", str(path.absolute()))


def _in_a_line(key: str, text: str) -> str:
    """Return a value that a line of mosquitto.conf can hold.

    Raises:
        RejectedError: A character would begin another line.
    """
    if not text.isprintable():
        raise RejectedError(f"setting {key}: expected printable characters, got {text!r}")
    return text
