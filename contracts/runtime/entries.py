"""Where every command starts: before anything is imported that its role may lack."""

import gc
import importlib
import sys
from typing import Final, NoReturn

from contracts.runtime.commands import FAILED, INTERRUPTED, complain

_COLLECT_AFTER: Final = 10_000
"""Objects more than went, until Python looks for cycles. Its own 700 is for programs that make few:
a gateway's modules are 200,000 objects that stay, and each search among them costs its start."""
_OURS: Final = ("contracts", "demo", "device", "gateway", "storage")


def bench() -> NoReturn:
    """Run `wayseal-bench`."""
    start("wayseal-bench", "storage.bench.wayseal_bench", "bench")


def device() -> NoReturn:
    """Run `wayseal-device`."""
    start("wayseal-device", "device.wayseal_device", "device")


def gateway() -> NoReturn:
    """Run `wayseal-gateway`."""
    start("wayseal-gateway", "gateway.wayseal_gateway", "gateway")


def node() -> NoReturn:
    """Run `wayseal-node`."""
    start("wayseal-node", "contracts.ledger.wayseal_node", "node")


def party() -> NoReturn:
    """Run `wayseal-party`, which devices and gateways can, too."""
    start("wayseal-party", "contracts.party.wayseal_party", "party")


def processor() -> NoReturn:
    """Run `wayseal-tp`."""
    start("wayseal-tp", "contracts.ledger.processor.wayseal_tp", "processor")


def verify() -> NoReturn:
    """Run `wayseal-verify`, which needs no extra."""
    start("wayseal-verify", "contracts.evidence.wayseal_verify", "")


def start(command: str, module: str, extra: str) -> NoReturn:
    """Import and run the `main` of a command, and exit as it says.

    Args:
        command: Its name, for messages.
        module: The module that has its `main`.
        extra: The extra of the distribution that it needs, which also names the role of
            `scripts/install`; empty if it needs none.
    """
    gc.set_threshold(_COLLECT_AFTER)
    try:
        status = importlib.import_module(module).main()
    except KeyboardInterrupt:
        complain(command, "stopped by Ctrl-C")
        sys.exit(INTERRUPTED)
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing in _OURS or not extra:
            raise
        complain(command, not_installed(missing, command, extra, extra))
        sys.exit(FAILED)
    sys.exit(status)


def not_installed(library: str, needing: str, extra: str, role: str) -> str:
    """Return the error about a library that an extra brings.

    Args:
        library: Its name.
        needing: Name of the command, or of the part of it, that needs the extra.
        extra: Of the distribution.
        role: Of `scripts/install`, which installs the extra in a checkout.
    """
    return (
        f"{library} is not installed: {needing} needs the extra {extra}; in a checkout, "
        f"scripts/install {role} installs it"
    )
