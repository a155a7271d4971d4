"""Fibre Channel without a cable: the kernel's own loop from a host's port to a target's."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from rig.guest import fabric
from rig.guest.commands import CommandError
from rig.guest.drives import drive
from rig.guest.product import wayseal
from rig.guest.recordings import Recording, Sender
from rig.guest.scenario import Kernel, Scenario
from rig.guest.scenarios.fabric import shown
from rig.guest.site import kept, site

LOOP: Final = Path("/sys/class/fcloop/ctl")
PORT: Final = fabric.NVMET / "ports/9"
HERE: Final = ("0x10001100aa000002", "0x20001100aa000002")
THERE: Final = ("0x10001100aa000001", "0x20001100aa000001")
"""World wide names of node and port."""


def _fibre_channel() -> str:
    here, there = (f"nn-{node}:pn-{port}" for node, port in (HERE, THERE))
    where = (there, fabric.NQN, "--transport", "fc")
    with fabric.target(), _looped(there):
        refused = ""
        try:
            wayseal("volumes", "connect", *where)
        except CommandError as error:
            refused = str(error).strip()
        assert "host-traddr: fc needs a port's names" in refused, refused
        own = ("--host-traddr", here)
        said = json.loads(wayseal("volumes", "connect", *where, *own, "--persist", "--json"))
        try:
            (path,) = shown()["paths"]
            assert (path["transport"], path["host_address"]) == ("fc", here), path
            _used()
            wayseal("volumes", "disconnect", fabric.NQN)
            again = wayseal("volumes", "keep", "--once")
            assert "connected to" in again, again
        finally:
            wayseal("volumes", "disconnect", fabric.NQN, "--forget", "--force")
    return (
        f"{said['controller']} over fc from {here}, 8 MiB kept and read back, connected again by "
        f"the keeper; without the host's port: {refused[-110:]}"
    )


def _used() -> None:
    device = drive(fabric.FABRIC_SERIAL)
    recording = Recording(seed=60, pieces=8)
    with kept(device, "xfs"), site() as here, Sender(here.store, recording) as sender:
        here.require_sound(sender.until_whole())
        assert not sender.errors, sender.errors


@contextmanager
def _looped(address: str) -> Iterator[None]:
    """Join a port of this host to one of the target, which offers the subsystem there."""
    host, target = (f"wwnn={node},wwpn={port}" for node, port in (HERE, THERE))
    remote = f"{target},lpwwnn={HERE[0]},lpwwpn={HERE[1]},roles=0x60"
    for name, made in (("local_port", host), ("target_port", target), ("remote_port", remote)):
        fabric.set_attribute(LOOP / f"add_{name}", made)
    try:
        PORT.mkdir()
        for name, value in (("trtype", "fc"), ("adrfam", "fc"), ("traddr", address)):
            fabric.set_attribute(PORT / f"addr_{name}", value)
        (PORT / "subsystems" / fabric.NQN).symlink_to(fabric.NVMET / "subsystems" / fabric.NQN)
        yield
    finally:
        with suppress(FileNotFoundError):
            (PORT / "subsystems" / fabric.NQN).unlink()
            PORT.rmdir()
        for name, gone in (("target_port", target), ("local_port", host), ("remote_port", target)):
            with suppress(
                FileNotFoundError
            ):  # the kernel drops a port with the one it is joined to
                fabric.set_attribute(LOOP / f"del_{name}", gone)


FIBRE_CHANNEL: Final = Scenario("fibre-channel", _fibre_channel, kernel=Kernel.BACKPORTS)
