"""What the subcommands of `wayseal-gateway volumes` do."""

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
from gateway.settings import Settings
from gateway.volumes.changes import Told, news, told_of
from gateway.volumes.models import volumes_of
from gateway.volumes.places import places_of
from gateway.volumes.table import page, size
from storage.drives import saved as keep
from storage.drives.devices import Device, devices
from storage.drives.filesystems import filesystems
from storage.drives.inventory import observe, take
from storage.drives.keeper import KEEP_EVERY_S, Keeper
from storage.drives.kernel import Kernel
from storage.drives.links import LinkWatch
from storage.drives.nvme import Controller
from storage.drives.nvmeof import (
    Reconnect,
    Target,
    connect,
    disconnect,
    discover,
    of_subsystem,
    require_fabrics,
    resolve,
)
from storage.drives.tools import run_tool

LOOK_EVERY_S: Final = 1.0
_KERNEL: Final = Kernel()
_ROOT: Final = Path("/")


def show(options: Namespace, settings: Settings | None) -> None:
    """Print every block device, and what the gateway's volumes stand on."""
    seen = take(
        _KERNEL,
        places_of(settings) if settings else {},
        run_tool,
        LinkWatch(),
        ask_drives=not options.no_health,
    )
    document = volumes_of(seen, _KERNEL)
    if options.json:
        _say(document.model_dump_json())
        return
    wide = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    _say(page(document, wide))
    if settings is None:
        _say(f"\nThe gateway's volumes are not shown: {options.without_settings}")
    if os.geteuid():
        _say("\nNot root: drives may refuse to tell their health.")


def find(options: Namespace, _: Settings | None) -> None:
    """Print the subsystems that a target offers to this host."""
    host = resolve(options.transport, options.address, options.port)
    require_fabrics(run_tool)
    keep.name_host(_ROOT)
    port = "" if options.transport == "fc" else str(options.port)
    offered = discover(options.transport, host, port, run_tool)
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
    """Connect to a subsystem with our reconnect settings; done already, it gets the settings."""
    fc = options.transport == "fc"
    target = Target(
        options.transport,
        resolve(options.transport, options.address, options.port),
        "" if fc else str(options.port),
        options.nqn,
    )
    wanted = Reconnect(
        keep_alive_s=options.keep_alive,
        reconnect_delay_s=options.reconnect_delay,
        fast_io_fail_s=options.fast_io_fail,
        ctrl_loss_s=options.ctrl_loss,
    )
    require_fabrics(run_tool)
    keep.name_host(_ROOT)
    controller, found = connect(target, wanted, _KERNEL, run_tool)
    if options.persist:
        keep.remember(_ROOT, keep.Saved(target, wanted))
        _enable()
    _say_connected(options, controller, found)


def tend(options: Namespace, _: Settings | None) -> None:
    """Connect and mount what is remembered, and again what was lost, until stopped."""
    stop, keeper = _stopping(), Keeper(_KERNEL, _ROOT, run_tool)
    before: list[str] = []
    while not stop.is_set():
        said = keeper.step()
        for words in said:
            if words not in before:
                _say(f"{rfc3339(now_ms())}  {words}")
        before = said
        if options.once:
            return
        stop.wait(KEEP_EVERY_S)


def leave(options: Namespace, settings: Settings | None) -> None:
    """End the connections to a subsystem that nothing is mounted from."""
    seen = observe(_KERNEL, places_of(settings) if settings else {}, LinkWatch())
    users = seen.users(_KERNEL, of_subsystem(options.nqn, seen.devices))
    if users and not options.force:
        raise RejectedError(
            f"{options.nqn} is in use: mounted on {', '.join(users)}; unmount it first, or lose "
            "what is not written yet with --force"
        )
    forgotten = keep.forget(_ROOT, options.nqn) if options.forget else 0
    ended = disconnect(options.nqn, _KERNEL, run_tool)
    if not ended and not forgotten:
        raise UnavailableError(f"not connected to {options.nqn}")
    if options.json:
        _say(json.dumps({"nqn": options.nqn, "ended": ended, "forgotten": forgotten}))
        return
    _say(f"{options.nqn}: {ended} connections ended, {forgotten} forgotten")
    if any(each.target.nqn == options.nqn for each in keep.saved(_ROOT)):
        _say("It is still connected at every start: --forget ends that too")


def mount_line(options: Namespace, _: Settings | None) -> None:
    """Print the line of /etc/fstab that mounts a device by the UUID of its file system."""
    known = devices(_KERNEL, ())
    device = next((each for each in known if each.name == options.device.name), None)
    if device is None:
        raise RejectedError(f"no block device {options.device}")
    told = filesystems(_KERNEL, known, run_tool).get(device.name)
    if told is None or not told.uuid:
        raise RejectedError(f"{device.name} has no file system with a UUID that can be read")
    away = any(path.controller.fabric for path in device.paths)
    line = keep.fstab_line(told.kind, told.uuid, options.point, network=away)
    if options.write:
        keep.add_to_fstab(_ROOT, line)
        _enable()
    _say(json.dumps({"line": line}) if options.json else line)


def watch(options: Namespace, settings: Settings | None) -> None:
    """Print what changes about drives, links and volumes, until stopped."""
    stop = _stopping()
    until = time.monotonic() + options.seconds if options.seconds else None
    memory = LinkWatch()
    before: dict[str, Told] = {}
    while not stop.is_set():
        now = told_of(observe(_KERNEL, places_of(settings) if settings else {}, memory))
        for told in news(before, now):
            _tell(options, told)
        before = now
        if until is not None and time.monotonic() >= until:
            return
        stop.wait(LOOK_EVERY_S)


def _enable() -> None:
    """Have our keeper run from the next start of the machine."""
    installed = Path(sys.executable).with_name("wayseal-gateway")
    program = installed if installed.exists() else Path(sys.argv[0]).resolve()
    if keep.enable(_ROOT, (str(program), "volumes", "keep")):
        sys.stderr.write(
            "From the next start on wayseal-volumes.service keeps it so; for now: "
            "systemctl daemon-reload && systemctl start wayseal-volumes.service\n"
        )


def _stopping() -> Event:
    """Return what is set when this process is asked to end."""
    stop = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    return stop


def _say_connected(options: Namespace, own: Controller, found: tuple[Device, ...]) -> None:
    known = filesystems(_KERNEL, found, run_tool)
    if options.json:
        told = [
            {
                "name": each.name,
                "size_bytes": each.size_bytes,
                "filesystem": known[each.name].kind if each.name in known else "",
                "uuid": known[each.name].uuid if each.name in known else "",
            }
            for each in found
        ]
        _say(
            json.dumps(
                {"controller": own.name, "nqn": own.nqn, "address": own.peer, "devices": told}
            )
        )
        return
    _say(f"{own.name}: connected to {own.nqn} at {own.peer}, {own.transport}")
    for each in found:
        has = f"{known[each.name].kind}, UUID={known[each.name].uuid}" if each.name in known else ""
        _say(f"  /dev/{each.name}  {size(each.size_bytes)}  {has or 'no file system'}")
    if not found:
        _say("  it offers no namespace to this host")
    else:
        _say(f"  to mount it: wayseal-gateway volumes fstab {found[0].name} DIRECTORY --write")


def _tell(options: Namespace, told: Told) -> None:
    at = rfc3339(now_ms())
    if options.json:
        _say(json.dumps({"at": at, **told.document()}))
    else:
        _say(f"{at}  {told.subject}: {told.words}")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
