"""Several paths to one drive: digests on the wire, paths that change, other programs' paths."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

from rig.guest import fabric
from rig.guest.commands import CommandError, run, until
from rig.guest.product import running, wayseal
from rig.guest.recordings import Recording, Sender
from rig.guest.scenario import Scenario
from rig.guest.scenarios.fabric import connected, link, shown
from rig.guest.site import Site, kept, site
from storage.drives.saved import remember
from storage.drives.targets import Reconnect, Target, WantedConnection

BOTH: Final = f"{fabric.ADDRESS},{fabric.SECOND}"
STATES: Final = {
    "change": "live",
    "non-optimized": "live",
    "inaccessible": "live",
    "persistent-loss": "degraded",
    "optimized": "live",
}
"""What the target calls the second path, and what the link then counts as."""
WELL: Final = ("live", "degraded", "changing")
PIECES: Final = 4
ICRESP: Final = b"\x01\x00\x80\x00\x80\x00\x00\x00"
"""Header of the answer to a new connection. Source: NVMe TCP transport 1.0, 3.6.2.3."""
DIGESTS_AT: Final = 11
ETHERNET_ALL: Final = 0x0003
FRAME_BYTES: Final = 65536
OTHERS_TIMEOUT_S: Final = 17


def _digests() -> str:
    options = ("--hdr-digest", "--data-digest", "--nr-io-queues", 1)
    recording = Recording(seed=21, pieces=16)
    with _overheard() as answers, connected(*options) as device:
        (path,) = shown()["paths"]
        with kept(device, "xfs"), site() as here, Sender(here.store, recording) as sender:
            stored = sender.until_whole()
            here.require_sound(stored)
            recording.require_same(here.store.read(stored.sha256))
            assert not sender.errors, sender.errors
    assert path["io_queues"] == 1, path
    assert answers, "no answer to a new connection was overheard"
    assert set(answers) == {3}, answers
    return (
        f"{recording.pieces} MiB written and read back with CRC-32C over headers and data, as the "
        f"target agreed to on each of {len(answers)} queues; {path['io_queues']} I/O queue"
    )


@contextmanager
def _overheard() -> Iterator[list[int]]:
    """Listen to the cable; yield the digests that the target agreed to, bits of each answer."""
    agreed: list[int] = []
    over = threading.Event()

    def listen() -> None:
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETHERNET_ALL)) as line:
            line.settimeout(0.2)
            while not over.is_set():
                try:
                    frame, (card, *_) = line.recvfrom(FRAME_BYTES)
                except TimeoutError:
                    continue
                at = frame.find(ICRESP)
                if card == "rig0" and at >= 0:
                    agreed.append(frame[at + DIGESTS_AT])

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    try:
        yield agreed
    finally:
        over.set()
        listener.join()


def _path_changes() -> str:
    with (
        connected("--iopolicy", "round-robin", address=BOTH) as device,
        kept(device, "xfs"),
        site() as here,
        running("watch", "volumes", "watch", "--json") as watched,
    ):
        assert shown()["iopolicy"] == "round-robin"
        for seed, (state, expected) in enumerate(STATES.items(), start=30):
            fabric.ana(2, state)
            until(f"the path is {state}", partial(_is_called, state))
            _upload(here, seed)
            told = link()
            assert told["state"] == expected, (state, told)
        words = _both_change(here)
    kinds = set(_links(watched))
    assert kinds <= set(WELL), kinds
    assert here.volume.usable, here.volume.reason
    return (
        f"one of two paths {', '.join(STATES)}: reads and writes went on over the other; then both "
        f"in change ({words[:120]}…): reads and writes waited and went on, nothing was lost"
    )


def _both_change(here: Site) -> str:
    """Let the target change both paths during an upload; return what is said of it."""
    for port in (1, 2):
        fabric.ana(port, "change")
    until("the link is changing", lambda: link()["state"] == "changing")
    recording = Recording(seed=40, pieces=PIECES)
    with Sender(here.store, recording) as sender:
        told = link()
        assert told["state"] == "changing", told
        assert told["fails_in_s"] is None, told
        assert sender.is_alive(), "an upload ended although no path served it"
        for port in (1, 2):
            fabric.ana(port, "optimized")
        here.require_sound(sender.until_whole())
        assert not sender.errors, sender.errors
    return str(told["words"])


def _upload(here: Site, seed: int) -> None:
    with Sender(here.store, Recording(seed, PIECES)) as sender:
        here.require_sound(sender.until_whole())
        assert not sender.errors, sender.errors


def _is_called(state: str) -> bool:
    return any(path["ana_state"] == state for path in shown()["paths"])


def _links(watched: Path) -> Iterator[str]:
    """Yield the states of links that were reported."""
    for line in watched.read_text("utf-8").splitlines():
        fact: dict[str, Any] = json.loads(line)
        if fact["kind"] == "link":
            yield fact["state"].partition(" ")[0]


def _beside_others() -> str:
    """Another program has one path, one target is silent: the keeper adds what is missing."""
    with fabric.target():
        place = ("--transport", "tcp", "--trsvcid", fabric.SERVICE, "--nqn", fabric.NQN)
        run("nvme", "connect", "--traddr", fabric.ADDRESS, *place)
        (theirs,) = shown()["paths"]
        attribute = Path("/sys/class/nvme") / theirs["controller"] / "fast_io_fail_tmo"
        attribute.write_text(str(OTHERS_TIMEOUT_S))
        for address in (fabric.SILENT, fabric.ADDRESS, fabric.SECOND):
            target = Target("tcp", address, fabric.SERVICE, fabric.NQN)
            remember(Path("/"), WantedConnection(target, Reconnect()))
        said = wayseal("volumes", "keep", "--once")
        paths = {path["address"]: path for path in shown()["paths"]}
        assert len(paths) == 2, paths
        assert f"{fabric.SILENT}: no answer within" in said, said
        assert f"connected to {fabric.NQN} at {fabric.SECOND}:{fabric.SERVICE}" in said, said
        assert attribute.read_text().strip() == str(OTHERS_TIMEOUT_S), "another program's was set"
        ended = json.loads(wayseal("volumes", "disconnect", fabric.NQN, "--forget", "--json"))
        assert (ended["ended"], ended["forgotten"]) == (1, 3), ended
        (left,) = shown()["paths"]
        assert left["controller"] == theirs["controller"], left
        refused = ""
        try:
            wayseal("volumes", "disconnect", fabric.NQN)
        except CommandError as error:
            refused = str(error).strip()
        assert "another program connected" in refused, refused
        wayseal("volumes", "disconnect", fabric.NQN, "--all")
    return (
        f"a path of nvme-cli was used and left as it is, the missing one connected while a third "
        f"address was silent, and only our own was disconnected: {refused[-160:]}"
    )


DIGESTS: Final = Scenario("digests", _digests)
PATH_CHANGES: Final = Scenario("path-changes", _path_changes, limit_s=600)
BESIDE_OTHERS: Final = Scenario("beside-others", _beside_others)
