"""The subcommands of `wayseal-gateway volumes`."""

import json
import os
import shutil
import signal
import sys
import time
from argparse import Namespace
from pathlib import Path
from threading import Event
from typing import Final

from contracts.errors import RejectedError, UnavailableError
from contracts.records.clock import now_ms, rfc3339
from contracts.runtime.sizes import size
from gateway.settings import Settings
from gateway.volumes.document import volumes_of
from gateway.volumes.follow import Fact, changes, facts_of, places_of
from gateway.volumes.markers import with_markers
from gateway.volumes.table import page
from storage.drives import saved as keep
from storage.drives.devices import devices
from storage.drives.discovery import discover, require_fabrics, resolve, service
from storage.drives.filesystems import FileSystem, filesystems
from storage.drives.inventory import observe, take
from storage.drives.keeper import KEEP_EVERY_S, Keeper
from storage.drives.kernel import Kernel
from storage.drives.links import LinkWatch
from storage.drives.nvmeof import Fabric, Made, of_subsystem
from storage.drives.targets import ConnectOptions, Reconnect, Target, WantedConnection
from storage.drives.tools import run_tool

LOOK_EVERY_S: Final = 1.0
_KERNEL: Final = Kernel()
_ROOT: Final = Path("/")
_UNFORMATTED: Final = FileSystem("", "")
_FABRIC: Final = Fabric(_KERNEL, _ROOT)


def show(options: Namespace, settings: Settings | None) -> None:
    """Print every block device, and the devices under the gateway's volumes."""
    seen = take(
        _KERNEL,
        places_of(settings),
        run_tool,
        LinkWatch(),
        ask_drives=not options.no_health,
    )
    document = volumes_of(with_markers(seen, settings), _KERNEL)
    if options.json:
        _say(document.model_dump_json())
        return
    wide = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    _say(page(document, wide))
    if settings is None:
        _say(f"\nThe gateway's volumes are not shown: {options.without_settings}")
    if os.geteuid():
        _say("\nNot root: drives may refuse to report their health.")


def find(options: Namespace, _: Settings | None) -> None:
    """Print the subsystems that a target offers to this host."""
    at = service(*_place(options, options.address))
    require_fabrics(run_tool)
    keep.name_host(_ROOT)
    offered = discover(at, run_tool)
    if options.json:
        _say(
            json.dumps(
                [
                    {
                        "nqn": each.nqn,
                        "transport": each.transport,
                        "address": each.address,
                        "port": each.port,
                    }
                    for each in offered
                ]
            )
        )
        return
    for each in offered:
        _say(f"{each.nqn}  {each.transport} {each.address} {each.port}".rstrip())
    if not offered:
        _say(f"{options.address} offers nothing to {keep.name_host(_ROOT)}")


def join(options: Namespace, _: Settings | None) -> None:
    """Connect to a subsystem at one or more addresses; our connections get the settings."""
    wanted = _wanted(options)
    require_fabrics(run_tool)
    keep.name_host(_ROOT)
    if options.adopt:
        for each in wanted:
            _FABRIC.adopt(each.target)
    problems = []
    for each, done in zip(wanted, _FABRIC.connect_all(wanted), strict=True):
        if not isinstance(done, Made):
            problems.append(done)
            continue
        if options.persist:
            keep.remember(_ROOT, each)
            _enable()
        _say_connected(options, done)
    if problems and len(wanted) == 1:
        raise problems[0]
    if problems:
        told = "; ".join(str(each) for each in problems)
        raise UnavailableError(f"{len(problems)} of {len(wanted)} connections failed: {told}")


def tend(options: Namespace, _: Settings | None) -> None:
    """Connect and mount the remembered volumes, again after a loss, until stopped."""
    stop, keeper = _stopping(), Keeper(_KERNEL, _ROOT, run_tool)
    before: list[str] = []
    while not stop.is_set():
        said = [*keeper.step(), *keeper.ask()]
        for words in said:
            if words not in before:
                _say(f"{rfc3339(now_ms())}  {words}")
        # A connection that is still being made may fail with the same words as before.
        before = [*before, *said] if keeper.connecting else said
        if options.once and not keeper.connecting:
            return
        if not keeper.connecting:
            stop.wait(KEEP_EVERY_S)


def leave(options: Namespace, settings: Settings | None) -> None:
    """End the connections to a subsystem that is not mounted."""
    seen = observe(_KERNEL, places_of(settings), LinkWatch())
    users = seen.users(_KERNEL, of_subsystem(options.nqn, seen.devices))
    if users and not options.force:
        raise RejectedError(
            f"{options.nqn} is in use, mounted on {', '.join(users)}: unmount it first; --force "
            "disconnects it, and loses unwritten data"
        )
    forgotten = keep.forget(_ROOT, options.nqn) if options.forget else 0
    told = _FABRIC.disconnect(options.nqn, everyone=options.all)
    ended = len(told.ended)
    left = [f"{each.name} to {each.peer}" for each in told.left]
    if not ended and not forgotten:
        if left:
            raise RejectedError(
                f"another program connected {', '.join(left)}: expected a connection of "
                "wayseal-gateway; --all ends the others too"
            )
        raise UnavailableError(f"not connected to {options.nqn}")
    if options.json:
        _say(json.dumps({"nqn": options.nqn, "ended": ended, "forgotten": forgotten, "left": left}))
        return
    _say(f"{options.nqn}: {ended} connections ended, {forgotten} forgotten")
    if left:
        _say(f"Another program connected {', '.join(left)}: left as it is; --all ends it too")
    if any(each.target.nqn == options.nqn for each in keep.saved(_ROOT)):
        _say("It will be connected again at the next start; --forget prevents that")


def mount_line(options: Namespace, _: Settings | None) -> None:
    """Print the line of /etc/fstab that mounts a device by the UUID of its file system."""
    known = devices(_KERNEL, ())
    device = next((each for each in known if each.name == options.device.name), None)
    if device is None:
        raise RejectedError(f"no block device {options.device}")
    told = filesystems(_KERNEL, known, run_tool).get(device.name)
    if told is None or not told.uuid:
        raise RejectedError(f"{device.name} has no file system with a readable UUID")
    away = any(path.controller.fabric for path in device.paths)
    line = keep.fstab_line(told.kind, told.uuid, options.point, network=away)
    if options.write:
        keep.add_to_fstab(_ROOT, line)
        _enable()
    _say(json.dumps({"line": line}) if options.json else line)


def watch(options: Namespace, settings: Settings | None) -> None:
    """Print changes of drives, links and volumes, until stopped."""
    stop = _stopping()
    until = time.monotonic() + options.seconds if options.seconds else None
    memory = LinkWatch()
    before: dict[str, Fact] = {}
    while not stop.is_set():
        now = facts_of(observe(_KERNEL, places_of(settings), memory))
        for fact in changes(before, now):
            _tell(options, fact)
        before = now
        if until is not None and time.monotonic() >= until:
            return
        stop.wait(LOOK_EVERY_S)


def _place(options: Namespace, address: str) -> tuple[str, str, str, str, str]:
    """Return the way to a target: transport, resolved address, port, and the way out of here."""
    host = resolve(options.transport, address, options.port)
    port = "" if options.transport == "fc" else str(options.port)
    return options.transport, host, port, options.host_traddr, options.host_iface


def _wanted(options: Namespace) -> list[WantedConnection]:
    """Return the connections that the command line asks for: one for each address."""
    settings = Reconnect(
        keep_alive_s=options.keep_alive,
        reconnect_delay_s=options.reconnect_delay,
        fast_io_fail_s=options.fast_io_fail,
        ctrl_loss_s=options.ctrl_loss,
    )
    files = (options.dhchap_secret_file, options.dhchap_ctrl_secret_file, options.tls_key_file)
    secret, ctrl_secret, tls_key = (str(each.absolute()) if each else "" for each in files)
    more = ConnectOptions(
        io_queues=options.nr_io_queues,
        hdr_digest=options.hdr_digest,
        data_digest=options.data_digest,
        iopolicy=options.iopolicy,
        dhchap_secret_file=secret,
        dhchap_ctrl_secret_file=ctrl_secret,
        tls=options.tls,
        tls_keyring=options.tls_keyring,
        tls_key_file=tls_key,
    )
    found = []
    for address in options.address.split(","):
        transport, host, port, *own = _place(options, address)
        found.append(
            WantedConnection(Target(transport, host, port, options.nqn, *own), settings, more)
        )
    return found


def _enable() -> None:
    """Have wayseal-volumes.service run from the next start of the machine."""
    if keep.enable(_ROOT, (str(own_program()), "volumes", "keep")):
        sys.stderr.write(
            "wayseal-volumes.service will keep it from the next start of the machine. To start it "
            "now: systemctl daemon-reload && systemctl start wayseal-volumes.service\n"
        )


def own_program() -> Path:
    """Return the absolute path of this command: of the link, if an installation has set one."""
    installed = Path(sys.executable).with_name("wayseal-gateway")
    program = installed if installed.exists() else Path(sys.argv[0]).resolve()
    link = shutil.which("wayseal-gateway")
    if link and Path(link).resolve() == program.resolve():
        return Path(link).absolute()
    return program


def _stopping() -> Event:
    """Return an event that is set when this process is asked to end."""
    stop = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    return stop


def _say_connected(options: Namespace, made: Made) -> None:
    own, found = made.controller, made.devices
    known = filesystems(_KERNEL, found, run_tool)
    if options.json:
        told = [
            {
                "name": each.name,
                "size_bytes": each.size_bytes,
                "filesystem": known.get(each.name, _UNFORMATTED).kind,
                "uuid": known.get(each.name, _UNFORMATTED).uuid,
            }
            for each in found
        ]
        _say(
            json.dumps(
                {
                    "controller": own.name,
                    "nqn": own.nqn,
                    "address": own.peer,
                    "own": made.own,
                    "devices": told,
                }
            )
        )
        return
    _say(f"{own.name}: connected to {own.nqn} at {own.peer}, {own.transport}")
    if not made.own:
        _say("  by another program: its settings are left as they are; --adopt takes it over")
    for each in found:
        has = f"{known[each.name].kind}, UUID={known[each.name].uuid}" if each.name in known else ""
        _say(f"  /dev/{each.name}  {size(each.size_bytes)}  {has or 'no file system'}")
    if not found:
        _say("  the subsystem offers no namespace to this host")
    else:
        _say(f"  to mount it: wayseal-gateway volumes fstab {found[0].name} DIRECTORY --write")


def _tell(options: Namespace, fact: Fact) -> None:
    at = rfc3339(now_ms())
    if options.json:
        _say(json.dumps({"at": at, **fact.document()}))
    else:
        _say(f"{at}  {fact.subject}: {fact.words}")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
