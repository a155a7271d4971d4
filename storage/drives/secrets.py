"""Secrets of NVMe-oF connections: read from private files, given to nvme-cli outside its arguments.

A process's arguments are shown to every user of the machine. So nvme-cli reads the secrets from a
configuration file that exists in memory only, as long as nvme-cli runs.
"""

import base64
import binascii
import json
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError, UnavailableError
from contracts.runtime.files import check_private, disk_errors
from storage.disk import read_file
from storage.drives.targets import WantedConnection

SECRET_BYTES_MAX: Final = 256
"""Of a file with one secret."""
_KINDS: Final = {
    "DHHC-1": (re.compile(r"DHHC-1:0[0-3]:([A-Za-z0-9+/=]+):"), (32, 48, 64)),
    "NVMeTLSkey-1": (re.compile(r"NVMeTLSkey-1:0[0-2]:([A-Za-z0-9+/=]+):"), (32, 48)),
}
"""Form and lengths of a DH-CHAP secret and of a pre-shared key for TLS, before their CRC-32.
Source: NVMe base specification 2.0, 8.13.5.8; NVMe TCP transport 1.0, 3.6.1.5."""
_CRC_BYTES: Final = 4
_ANY: Final = re.compile(rf"({'|'.join(_KINDS)}):[^\s,'\"]*")


def hidden(text: str) -> str:
    """Return a text with every secret replaced: tools and kernels may repeat what they got."""
    return _ANY.sub(r"\1:…", text)


def read_secret(path: Path, kind: str) -> str:
    """Return the secret in a file, checked.

    Args:
        path: The file; its owner alone may use it.
        kind: `DHHC-1` or `NVMeTLSkey-1`.

    Raises:
        RejectedError: Others may read it, or it has no valid secret; its content is not named.
        UnavailableError: It is missing or cannot be read.
    """
    if not path.is_file():
        raise UnavailableError(f"secret {path}: expected a file, it is missing")
    with disk_errors("read", path):
        check_private("secret", path)
        with path.open("rb") as file:
            said = file.read(SECRET_BYTES_MAX + 1).decode("ascii", "replace").strip()
    form, lengths = _KINDS[kind]
    found = form.fullmatch(said)
    if not found:
        raise RejectedError(f"secret {path}: expected one line, {kind}:…:…:, got another form")
    try:
        decoded = base64.b64decode(found[1], validate=True)
    except binascii.Error:
        decoded = b""
    key, check = decoded[:-_CRC_BYTES], decoded[-_CRC_BYTES:]
    if len(key) not in lengths or zlib.crc32(key).to_bytes(_CRC_BYTES, "little") != check:
        raise RejectedError(f"secret {path}: its CRC does not match, it was cut or mistyped")
    return said


@contextmanager
def nvme_config(wanted: WantedConnection, root: Path) -> Iterator[str]:
    """Yield the path of a configuration for nvme-cli with a connection's secrets; empty if none.

    Args:
        wanted: The connection.
        root: Of the machine; has the names of this host.

    Raises:
        RejectedError: A secret is invalid.
        UnavailableError: A file is missing.
    """
    keys = _keys(wanted)
    if not keys:
        yield ""
        return
    target = wanted.target
    port = {
        "transport": target.transport,
        "traddr": target.address,
        "trsvcid": target.port,
        "host_traddr": target.host_traddr,
        "host_iface": target.host_iface,
        **keys,
    }
    ports = [{name: value for name, value in port.items() if value}]
    own = {name: read_file(root / "etc/nvme" / name) for name in ("hostnqn", "hostid")}
    host = {name: said.decode("ascii", "replace").strip() for name, said in own.items() if said}
    document = [{**host, "subsystems": [{"nqn": target.nqn, "ports": ports}]}]
    memory = os.memfd_create("nvme-config")
    try:
        os.write(memory, json.dumps(document).encode())
        yield f"/proc/{os.getpid()}/fd/{memory}"
    finally:
        os.close(memory)


def _keys(wanted: WantedConnection) -> dict[str, str]:
    """Return the secrets by nvme-cli's names. Source: config-schema.json of libnvme."""
    files = wanted.options
    named = (
        ("dhchap_key", files.dhchap_secret_file, "DHHC-1"),
        ("dhchap_ctrl_key", files.dhchap_ctrl_secret_file, "DHHC-1"),
        ("tls_key", files.tls_key_file, "NVMeTLSkey-1"),
    )
    return {name: read_secret(Path(file), kind) for name, file, kind in named if file}
