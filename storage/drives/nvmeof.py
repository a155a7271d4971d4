"""NVMe over Fabrics: connecting with our settings, beside others who connect, and disconnecting.

nvme-cli makes the connections; their state is read from sysfs, which also tells which connections
exist, made by any program. docs/adr/0019-nvmeof-reconnect.md gives the reasons for the timeouts,
docs/adr/0035-nvmeof-shared-hosts.md those for secrets, side by side, and other programs.
"""

import socket
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contracts.errors import UnavailableError, WaysealError
from storage.drives.abilities import explained, require_abilities, require_authenticated
from storage.drives.devices import Device, devices
from storage.drives.discovery import as_root, place_of
from storage.drives.kernel import Kernel, names, text
from storage.drives.nvme import LIVE, Controller, controllers
from storage.drives.owned import claim, owned
from storage.drives.secrets import nvme_config
from storage.drives.targets import ConnectOptions, Reconnect, Target, WantedConnection
from storage.drives.tools import Run, run_tool

ANSWER_TIMEOUT_S: Final = 3.0
"""Time for a target to accept a TCP connection, before the kernel is asked to connect."""
CONNECT_TIMEOUT_S: Final = 30.0
DISCONNECT_TIMEOUT_S: Final = 20.0
NAMESPACE_TIMEOUT_S: Final = 10.0
"""From the connection to its first block device."""
_POLL_S: Final = 0.1
_ALREADY: Final = "already connected"


@dataclass(frozen=True, slots=True)
class Made:
    """A connection that exists.

    Attributes:
        controller: It.
        devices: Block devices of its subsystem; empty if it has no namespace for this host.
        own: Whether this program made it, now or earlier.
    """

    controller: Controller
    devices: tuple[Device, ...]
    own: bool


@dataclass(frozen=True, slots=True)
class Ended:
    """Connections to a subsystem, after a disconnection.

    Attributes:
        ended: Those that were ended.
        left: Those that other programs made, which stay.
    """

    ended: tuple[Controller, ...]
    left: tuple[Controller, ...]


def answers(target: Target) -> None:
    """Check that a target accepts TCP connections; targets of other transports are not asked.

    The kernel makes one connection after the other: one that does not answer would keep all others
    waiting, so it is not handed to the kernel.

    Raises:
        UnavailableError: It does not.
    """
    if target.transport != "tcp":
        return
    family = socket.AF_INET6 if ":" in target.address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as line:
            line.settimeout(ANSWER_TIMEOUT_S)
            if target.host_iface:
                line.setsockopt(
                    socket.SOL_SOCKET, socket.SO_BINDTODEVICE, target.host_iface.encode() + b"\0"
                )
            if target.host_traddr:
                line.bind((target.host_traddr, 0))
            line.connect((target.address, int(target.port)))
    except TimeoutError as error:
        raise UnavailableError(f"no answer within {ANSWER_TIMEOUT_S:g} s") from error
    except (OSError, ValueError, OverflowError) as error:
        raise UnavailableError(f"no TCP connection: {error}") from error


@dataclass(frozen=True, slots=True)
class Fabric:
    """Connects this machine to subsystems, and disconnects it.

    Attributes:
        kernel: Of the machine.
        root: Of its files, `/`.
        run: Runs nvme-cli.
        answers: Checks that a target answers.
        clock: Seconds.
    """

    kernel: Kernel
    root: Path = Path("/")
    run: Run = run_tool
    answers: Callable[[Target], None] = answers
    clock: Callable[[], float] = time.monotonic

    def connect(self, wanted: WantedConnection) -> Made:
        """Connect to a subsystem, unless it is connected, and set our timeouts.

        A connection that another program made is used as it is.

        Raises:
            RejectedError: A secret is invalid.
            UnavailableError: The target does not answer, refuses, or connecting is not possible
                here.
        """
        target = wanted.target
        there = connection(target, self.kernel)
        if there is None:
            self.answers(target)
            made = self._create(wanted)
            there = self._live(target, made=made)
            if made and wanted.options.dhchap_secret_file:
                self._require_authenticated(there)
        ours, _ = owned(self.kernel, (there,))
        if ours:
            apply(there, wanted.settings, wanted.options, self.kernel)
        limit = self.clock() + NAMESPACE_TIMEOUT_S
        while not (found := self._disks(target.nqn)) and self.clock() < limit:
            if there.state != LIVE:
                break
            time.sleep(_POLL_S)
        return Made(there, found, bool(ours))

    def connect_all(self, wanted: Sequence[WantedConnection]) -> list[Made | WaysealError]:
        """Make several connections side by side; return each, or its error, in the same order."""
        done: dict[int, Made | WaysealError] = {}

        def make(at: int) -> None:
            try:
                done[at] = self.connect(wanted[at])
            except WaysealError as error:
                done[at] = error
            except Exception as error:  # noqa: BLE001 - a thread has nobody else to tell
                done[at] = UnavailableError(f"connecting failed: {error!r}")

        threads = [threading.Thread(target=make, args=(at,)) for at in range(len(wanted))]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        return [done[at] for at in range(len(wanted))]

    def disconnect(self, nqn: str, *, everyone: bool = False) -> Ended:
        """Disconnect a subsystem.

        Args:
            nqn: Its name.
            everyone: Whether to end connections of other programs too.

        Raises:
            UnavailableError: nvme-cli failed.
        """
        there = [each for each in controllers(self.kernel) if each.nqn == nqn and each.fabric]
        ours, others = owned(self.kernel, there)
        ended = there if everyone else ours
        if ended:
            names_ = ",".join(each.name for each in ended)
            as_root(self.run, ["nvme", "disconnect", f"--device={names_}"], DISCONNECT_TIMEOUT_S)
        return Ended(tuple(ended), () if everyone else tuple(others))

    def adopt(self, target: Target) -> None:
        """Take over a connection, even another program's; a missing connection is not an error.

        Raises:
            UnavailableError: It cannot be recorded.
        """
        there = connection(target, self.kernel)
        if there is not None:
            claim(self.kernel, there)

    def _create(self, wanted: WantedConnection) -> bool:
        """Have nvme-cli connect; return whether the connection is ours."""
        require_abilities(wanted.options, self.run, self.root / "dev/nvme-fabrics")
        with nvme_config(wanted, self.root) as config:
            command = ["nvme", "connect", *_words(wanted)]
            command += [f"--config={config}"] if config else []
            try:
                as_root(self.run, command, CONNECT_TIMEOUT_S)
            except UnavailableError as error:
                if _ALREADY in str(error):
                    return False
                # Beside other connections, 2.3 may fail to look up the one that it has just made.
                if connection(wanted.target, self.kernel) is None:
                    raise explained(error, wanted.options) from error
        return True

    def _live(self, target: Target, *, made: bool) -> Controller:
        """Wait until a connection is live, and claim it if it is ours."""
        limit = self.clock() + CONNECT_TIMEOUT_S
        claimed = not made
        while (there := connection(target, self.kernel)) is None or there.state != LIVE:
            if there and not claimed:
                claim(self.kernel, there)
                claimed = True
            if self.clock() > limit:
                state = f"is {there.state}" if there else "is not there"
                raise UnavailableError(f"connected to {target.nqn}, but the controller {state}")
            time.sleep(_POLL_S)
        if not claimed:
            claim(self.kernel, there)
        return there

    def _require_authenticated(self, controller: Controller) -> None:
        """Check that a new connection is authenticated; end it if it is not."""
        try:
            require_authenticated(controller, self.kernel)
        except UnavailableError:
            with suppress(UnavailableError):
                as_root(
                    self.run,
                    ["nvme", "disconnect", f"--device={controller.name}"],
                    DISCONNECT_TIMEOUT_S,
                )
            raise

    def _disks(self, nqn: str) -> tuple[Device, ...]:
        return tuple(each for each in devices(self.kernel, ()) if each.nqn == nqn)


def connection(target: Target, kernel: Kernel) -> Controller | None:
    """Return the connection to a target in any state, or None."""
    return next((each for each in controllers(kernel) if target.is_of(each)), None)


def apply(
    controller: Controller, settings: Reconnect, options: ConnectOptions, kernel: Kernel
) -> None:
    """Set what sysfs lets be changed: the timeouts of a connection, its subsystem's iopolicy.

    nvme-cli 2.3 cannot set fast_io_fail_tmo when it connects, so all are written afterwards. The
    reconnect delay comes first, since the kernel counts ctrl_loss_tmo in such delays.

    Raises:
        UnavailableError: The kernel refuses a value.
    """
    place = kernel.sys / "class" / "nvme" / controller.name
    for name, seconds in (
        ("reconnect_delay", settings.reconnect_delay_s),
        ("ctrl_loss_tmo", settings.ctrl_loss_s),
        ("fast_io_fail_tmo", settings.fast_io_fail_s),
    ):
        _set(place / name, str(seconds), controller.name)
    _hide_secrets(place)
    if options.iopolicy:
        for subsystem in subsystems(kernel, controller.nqn):
            _set(subsystem / "iopolicy", options.iopolicy, controller.nqn)


def _hide_secrets(place: Path) -> None:
    """Let root alone read a connection's secrets: the kernel shows them to everybody."""
    for name in ("dhchap_secret", "dhchap_ctrl_secret"):
        with suppress(OSError):  # a kernel without them
            (place / name).chmod(0o600)


def subsystems(kernel: Kernel, nqn: str) -> list[Path]:
    """Return the directories of a subsystem in sysfs; hosts of several names have one each."""
    top = kernel.sys / "class" / "nvme-subsystem"
    return [top / name for name in names(top) if text(top / name / "subsysnqn") == nqn]


def of_subsystem(nqn: str, known: Iterable[Device]) -> tuple[str, ...]:
    """Return the names of the disks of a subsystem."""
    return tuple(each.name for each in known if each.nqn == nqn and not each.disk)


def _words(wanted: WantedConnection) -> list[str]:
    settings, options = wanted.settings, wanted.options
    flags = (("hdr-digest", options.hdr_digest), ("data-digest", options.data_digest))
    return [
        *place_of(wanted.target),
        f"--nqn={wanted.target.nqn}",
        f"--keep-alive-tmo={settings.keep_alive_s}",
        f"--reconnect-delay={settings.reconnect_delay_s}",
        f"--ctrl-loss-tmo={settings.ctrl_loss_s}",
        *([f"--nr-io-queues={options.io_queues}"] if options.io_queues else []),
        *(f"--{name}" for name, on in (*flags, ("tls", options.tls)) if on),
        *([f"--keyring={options.tls_keyring}"] if options.tls_keyring else []),
    ]


def _set(attribute: Path, value: str, of: str) -> None:
    try:
        attribute.write_text(f"{value}\n", "ascii")
    except OSError as error:
        needs = " (needs root)" if isinstance(error, PermissionError) else ""
        raise UnavailableError(
            f"cannot set {attribute.name} of {of} to {value}: {error.strerror}{needs}"
        ) from error
