"""`wayseal-device enrol --claim` on a new truck: keys, certificate and settings in one go."""

import json
import os
import pwd
import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from contracts.errors import RejectedError
from contracts.runtime.files import OWNER_ONLY, make_parents, remove_file, write_file
from device import service
from device.commands.claims import claim_of
from device.offload.beginning import Beginning, begin
from device.settings import GatewaySettings, Settings, SettingsError
from device.settings_file import load, settings_path
from device.station import make


def run(arguments: Namespace) -> int:
    """Begin: everything or nothing, but for the key, which a second try goes on with.

    Raises:
        SettingsError: The claim does not say whose it is and where the gateway is.
        RejectedError: The gateway refuses the claim, or its settings are not valid here.
        UnavailableError: It does not answer, or a file cannot be written.
    """
    path, data = (
        settings_path(arguments.config).absolute(),
        (arguments.data or service.DATA).absolute(),
    )
    claim = claim_of(arguments)
    if claim.device_id is None or claim.address is None:
        raise SettingsError(
            f"no settings at {path}: expected a claim with a device and an address, which "
            f"`wayseal-gateway enrol --claim` prints if its setting pki.address is there"
        )
    make_parents(path)
    draft = path.with_suffix(".draft")
    first = Settings(claim.device_id, data)
    signer = make(first)
    gateway = GatewaySettings("unknown:1", f"https://{claim.address}", ())
    _write(draft, "")  # or a code would be spent for settings that cannot be kept
    begun = begin(gateway, first.tls_files, claim, claim.device_id, signer)
    text = "\n".join(
        (
            f"# Written by `wayseal-device enrol` with what site {begun.site_id} gave.",
            f"device_id = {json.dumps(claim.device_id)}",
            f"data = {json.dumps(str(data))}",
            "",
            begun.settings,
        )
    )
    _write(draft, text)
    try:
        load(draft, {})
    except SettingsError as error:
        raise RejectedError(
            f"the certificate is kept, but the settings of site {begun.site_id} are not valid "
            f"here: {error}; mend {draft} and rename it to {path}, and tell the site"
        ) from error
    _write(path, text)
    remove_file(draft)
    _give_to_service(path, data)
    sys.stdout.write(_told(begun, path, signer.public_key, claim.device_id))
    return 0


def _write(path: Path, text: str) -> None:
    write_file(path, text.encode(), temporary=path.with_suffix(".new"), mode=OWNER_ONLY)


def _told(begun: Beginning, path: Path, public_key: str, device_id: str) -> str:
    lines = [f"device {device_id} has its certificate, and settings in {path}"]
    if begun.admitted:
        lines.append(f"site {begun.site_id} admits it")
    else:
        lines.append(
            f"site {begun.site_id} admits it once its owner has registered its key {public_key}: "
            f"wayseal-party register-device {device_id}; nothing more is to be done here"
        )
    lines.append("next: wayseal-device check-config, then systemctl enable --now wayseal-device")
    return "\n".join([*lines, ""])


def _give_to_service(path: Path, data: Path) -> None:
    """Give what root has made to the service's user, if there is one."""
    if os.geteuid() != 0:
        return
    try:
        user = pwd.getpwnam(service.USER)
    except KeyError:
        return
    for each in (path, *_below(data)):
        os.chown(each, user.pw_uid, user.pw_gid, follow_symlinks=False)


def _below(folder: Path) -> Iterator[Path]:
    yield folder
    yield from folder.rglob("*")
