"""Everything that is known of the machine's block devices at one moment."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from storage.drives.devices import Device, below, devices
from storage.drives.filesystems import FileSystem, filesystems
from storage.drives.health import Health
from storage.drives.kernel import Kernel
from storage.drives.links import LinkState, LinkWatch, link_state
from storage.drives.mounts import Mount, mounts
from storage.drives.reported import known
from storage.drives.standing import Standing, standing
from storage.drives.tools import Run
from storage.volumes.volume import VolumePlace


@dataclass(frozen=True, slots=True)
class Inventory:
    """The machine's block devices and their contents.

    Attributes:
        filesystems: By device name.
        mounted: Everything that is mounted.
        volumes: Of the gateway.
        links: By name of an NVMe disk.
        health: By name of a drive that was asked.
    """

    devices: tuple[Device, ...]
    mounted: tuple[Mount, ...]
    volumes: tuple[Standing, ...] = ()
    links: Mapping[str, LinkState] = field(default_factory=dict)
    filesystems: Mapping[str, FileSystem] = field(default_factory=dict)
    health: Mapping[str, Health] = field(default_factory=dict)

    def mounts_of(self, kernel: Kernel, name: str) -> tuple[Mount, ...]:
        """Return the mounts of a device; bind mounts of its directories only if there is no other.

        Several mounts at one place count once.
        """
        here = [each for each in self.mounted if each.device(kernel) == name]
        whole = [each for each in here if each.root == "/"] or here
        return tuple({each.point: each for each in whole}.values())

    def holds(self, name: str) -> tuple[str, ...]:
        """Return the names of the gateway's volumes on a device, directly or not."""
        return tuple(
            volume.name
            for volume in self.volumes
            if any(device.name == name for device in below(self.devices, volume.device))
        )

    def users(self, kernel: Kernel, disks: tuple[str, ...]) -> tuple[str, ...]:
        """Return the mount points on any of these disks, directly or not, in words."""
        by_point = {str(each.mount.point): each.name for each in self.volumes if each.mount}
        found = []
        for mount in self.mounted:
            device = mount.device(kernel)
            if device and any(one.name in disks for one in below(self.devices, device)):
                name = by_point.get(str(mount.point))
                found.append(f"{mount.point}" + (f" (volume {name})" if name else ""))
        return tuple(dict.fromkeys(found))


def observe(kernel: Kernel, places: Mapping[str, VolumePlace], watch: LinkWatch) -> Inventory:
    """Return what the kernel knows; this never waits for a drive.

    Raises:
        UnavailableError: The mounts cannot be read.
    """
    mounted = mounts(kernel)
    found = devices(kernel, mounted)
    down_s = watch.look(found)
    links = {each.name: link_state(each, down_s) for each in found if each.paths}
    volumes = (_standing(name, place, kernel, mounted, None) for name, place in places.items())
    return Inventory(found, mounted, tuple(_linked(each, found, links) for each in volumes), links)


def take(
    kernel: Kernel,
    places: Mapping[str, VolumePlace],
    run: Run,
    watch: LinkWatch,
    *,
    ask_drives: bool = True,
) -> Inventory:
    """Return everything that is known; this runs tools, each for a limited time.

    Args:
        kernel: Of the machine.
        places: The gateway's volumes by name.
        run: Runs lsblk, stat, nvme-cli and smartctl.
        watch: Remembers since when links are down.
        ask_drives: Whether to ask each drive for its health.

    Raises:
        UnavailableError: The mounts cannot be read.
    """
    seen = observe(kernel, places, watch)
    kinds = filesystems(kernel, seen.devices, run)
    verdicts = known(seen.devices, kernel, run) if ask_drives else {}
    volumes = (_again(each, places[each.name], seen, kernel, run) for each in seen.volumes)
    return replace(seen, volumes=tuple(volumes), filesystems=kinds, health=verdicts)


def _again(
    known: Standing, place: VolumePlace, seen: Inventory, kernel: Kernel, run: Run
) -> Standing:
    """Return what is below a volume; ask its file system unless its drive is lost."""
    if any(device.lost for device in below(seen.devices, known.device)):
        return known
    return _standing(known.name, place, kernel, seen.mounted, run)


def _linked(
    volume: Standing, found: tuple[Device, ...], links: Mapping[str, LinkState]
) -> Standing:
    """Return the volume with the state of a lost link as its problem."""
    away = (each for each in below(found, volume.device) if each.lost and not each.changing)
    lost = [links[each.name].words for each in away]
    return replace(volume, problem=volume.problem or lost[0]) if lost else volume


def _standing(
    name: str, place: VolumePlace, kernel: Kernel, mounted: tuple[Mount, ...], run: Run | None
) -> Standing:
    return standing(name, place.path, kernel, mounted, run, must_be_mount=place.mount)
