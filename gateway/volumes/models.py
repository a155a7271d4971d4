"""What `/v1/volumes` and `wayseal-gateway volumes --json` say: one document, documented once."""

from collections.abc import Iterable
from datetime import datetime

from pydantic import BaseModel, Field

from contracts.records.clock import moment
from storage.drives.devices import Device
from storage.drives.inventory import Inventory
from storage.drives.kernel import Kernel
from storage.drives.nvme import NvmePath
from storage.volumes.volume import VolumeState


class MountedAt(BaseModel):
    """Where a device is mounted."""

    point: str
    filesystem: str
    read_only: bool


class DriveHealth(BaseModel):
    """How well a drive is, by its own word."""

    verdict: str = Field(description="ok, worn, failing or unknown")
    why: list[str] = Field(description="what speaks for it; never empty unless it is ok")
    temperature_c: int | None
    used_percent: int | None = Field(description="of its promised endurance")


class DrivePath(BaseModel):
    """One way to an NVMe drive."""

    controller: str
    transport: str
    address: str
    state: str = Field(description="the kernel's word: live, connecting, resetting, …")
    ana_state: str
    usable: bool
    keep_alive_s: int | None
    reconnect_delay_s: int | None
    fast_io_fail_s: int | None = Field(description="null: reads and writes wait without end")
    ctrl_loss_s: int | None = Field(description="null: the drive is never given up")


class DriveLink(BaseModel):
    """What the state of the paths means for reads and writes now."""

    state: str = Field(description="live, degraded, waiting, lost, failing or gone")
    words: str
    for_s: float | None = Field(description="since when no path works, if that was seen")
    fails_in_s: float | None = Field(description="until reads and writes fail")
    given_up_in_s: float | None = Field(description="until the kernel removes the drive")


class BlockDevice(BaseModel):
    """A disk, a partition, or what the kernel makes of them. Texts are empty if not known."""

    name: str
    interface: str = Field(description="how it is attached: nvme-tcp, nvme-pcie, sata-ssd, …")
    disk: str = Field(description="of which this is a partition")
    stands_on: list[str] = Field(description="devices directly below")
    detail: str
    size_bytes: int
    model: str
    firmware: str
    serial: str
    link_speed: str
    read_only: bool
    removable: bool
    rotational: bool
    filesystem: str
    uuid: str
    mounts: list[MountedAt]
    volumes: list[str] = Field(description="volumes of the gateway that stand on it")
    health: DriveHealth | None = Field(description="null if it was not asked")
    nqn: str
    paths: list[DrivePath]
    link: DriveLink | None = Field(description="of NVMe disks")


class VolumeUse(BaseModel):
    """Whether the running gateway uses a volume."""

    usable: bool
    reason: str = Field(description="why it is out; empty while it is in use")
    since: datetime = Field(description="since when it is in or out")
    free_bytes: int | None = Field(description="left on its file system; null: it does not say")
    used_bytes: int | None = Field(description="taken by recordings; null: it does not say")
    quota_bytes: int = Field(description="most that they may take; 0 is all of it")


class GatewayVolume(BaseModel):
    """A volume of the gateway's settings and what it stands on."""

    name: str
    path: str
    device: str = Field(description="block device of its mount; empty if there is none")
    mount_point: str
    filesystem: str
    note: str
    problem: str = Field(description="why it cannot hold recordings now; empty if all is well")
    use: VolumeUse | None = Field(description="null where no running gateway was asked")


class Volumes(BaseModel):
    """The machine's block devices and the gateway's volumes."""

    devices: list[BlockDevice]
    volumes: list[GatewayVolume]


def volumes_of(inventory: Inventory, kernel: Kernel, states: Iterable[VolumeState] = ()) -> Volumes:
    """Return an inventory as it is answered; `states` are a running gateway's."""
    used = {state.name: _use(state) for state in states}
    return Volumes(
        devices=[_device(each, inventory, kernel) for each in inventory.devices],
        volumes=[
            GatewayVolume(
                name=each.name,
                path=str(each.path),
                device=each.device,
                mount_point=str(each.mount.point) if each.mount else "",
                filesystem=each.mount.filesystem if each.mount else "",
                note=each.note,
                problem=each.problem,
                use=used.get(each.name),
            )
            for each in inventory.volumes
        ],
    )


def _use(state: VolumeState) -> VolumeUse:
    return VolumeUse(
        usable=state.usable,
        reason=state.reason,
        since=moment(state.since_ms),
        free_bytes=state.free_bytes,
        used_bytes=state.used_bytes,
        quota_bytes=state.quota_bytes,
    )


def _device(device: Device, inventory: Inventory, kernel: Kernel) -> BlockDevice:
    mounted = inventory.mounts_of(kernel, device.name)
    known = inventory.filesystems.get(device.name)
    return BlockDevice(
        name=device.name,
        interface=device.interface,
        disk=device.disk,
        stands_on=list(device.stands_on),
        detail=device.detail,
        size_bytes=device.size_bytes,
        model=device.model,
        firmware=device.firmware,
        serial=device.serial,
        link_speed=device.link,
        read_only=device.read_only,
        removable=device.removable,
        rotational=device.rotational,
        filesystem=known.kind if known else next((each.filesystem for each in mounted), ""),
        uuid=known.uuid if known else "",
        mounts=[
            MountedAt(point=str(each.point), filesystem=each.filesystem, read_only=each.read_only)
            for each in mounted
        ],
        volumes=list(inventory.holds(device.name)),
        health=_health(device, inventory),
        nqn=device.nqn,
        paths=[_path(each) for each in device.paths],
        link=_link(device, inventory),
    )


def _health(device: Device, inventory: Inventory) -> DriveHealth | None:
    told = inventory.health.get(device.name)
    if told is None:
        return None
    return DriveHealth(
        verdict=told.verdict,
        why=list(told.why),
        temperature_c=told.temperature_c,
        used_percent=told.used_percent,
    )


def _link(device: Device, inventory: Inventory) -> DriveLink | None:
    told = inventory.links.get(device.name)
    if told is None:
        return None
    return DriveLink(
        state=told.word,
        words=told.words,
        for_s=told.for_s,
        fails_in_s=told.fails_in_s,
        given_up_in_s=told.given_up_in_s,
    )


def _path(path: NvmePath) -> DrivePath:
    own = path.controller
    return DrivePath(
        controller=own.name,
        transport=own.transport,
        address=own.peer,
        state=own.state,
        ana_state=path.ana_state,
        usable=path.usable,
        keep_alive_s=own.timeouts.keep_alive_s,
        reconnect_delay_s=own.timeouts.reconnect_delay_s,
        fast_io_fail_s=own.timeouts.fast_io_fail_s,
        ctrl_loss_s=own.timeouts.ctrl_loss_s,
    )
