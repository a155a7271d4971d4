"""Whether kernel and nvme-cli here can do what a connection asks for; says clearly when not."""

import platform
import re
from pathlib import Path
from typing import Final

from contracts.errors import UnavailableError
from storage.drives.kernel import Kernel, text
from storage.drives.nvme import Controller
from storage.drives.targets import ConnectOptions
from storage.drives.tools import Run

HELP_TIMEOUT_S: Final = 5.0
_OPTION: Final = re.compile(r"--([A-Za-z0-9_-]+)")
_NO_KEY: Final = "Required key not available"
_REJECTED: Final = "Key was rejected by service"
_NO_SECRET: Final = ("", "none")


def require_abilities(options: ConnectOptions, run: Run, gate: Path) -> None:
    """Check before connecting that TLS is possible, if it is wanted.

    Args:
        options: Of the connection.
        run: Runs nvme-cli.
        gate: `/dev/nvme-fabrics`, which lists what the kernel knows since Linux 5.17.

    Raises:
        UnavailableError: Kernel or nvme-cli lack it.
    """
    if not options.tls:
        return
    if "tls" not in text(gate).split(","):
        raise UnavailableError(
            f"this kernel ({platform.release()}) has no TLS for NVMe over TCP: expected Linux 6.7 "
            "or newer with CONFIG_NVME_TCP_TLS"
        )
    said = run(("nvme", "connect", "--help"), HELP_TIMEOUT_S)
    known = set(_OPTION.findall(said.out + said.errors))
    wanted = {"tls"} | ({"keyring"} if options.tls_keyring else set())
    wanted |= {"tls-key"} if options.tls_key_file else set()
    missing = sorted(wanted - known)
    if missing:
        raise UnavailableError(
            f"this nvme-cli has no --{missing[0]}: TLS needs version 2.6 or newer, a key in a file "
            "2.11 or newer"
        )


def explained(error: UnavailableError, options: ConnectOptions) -> UnavailableError:
    """Return a failed connection's error, with its meaning if it is about keys.

    Linux answers ENOKEY if a target asks for a proof or a key that this host does not have. It
    answers EKEYREJECTED if a proof does not match. nvme-cli prints strerror's words.
    """
    words = str(error)
    if _NO_KEY in words and options.tls:
        return UnavailableError(f"{words}: no keyring has a key for TLS with this target")
    if _NO_KEY in words:
        return UnavailableError(
            f"{words}: the target asks for a DH-CHAP secret, and this connection has none"
        )
    if _REJECTED in words:
        return UnavailableError(
            f"{words}: DH-CHAP failed, this host and the target have different secrets"
        )
    return error


def require_authenticated(controller: Controller, kernel: Kernel) -> None:
    """Check that the kernel took the DH-CHAP secret of a new connection.

    A kernel without in-band authentication accepts the option and ignores it: then it connects, but
    nobody proved anything.

    Raises:
        UnavailableError: It did not.
    """
    place = kernel.sys / "class" / "nvme" / controller.name / "dhchap_secret"
    if text(place) in _NO_SECRET:
        raise UnavailableError(
            f"this kernel ({platform.release()}) is built without NVMe in-band authentication: "
            "expected CONFIG_NVME_HOST_AUTH, which Debian 13 and the backports of Debian 12 have"
        )
