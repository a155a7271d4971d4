"""The document that `/v1/volumes` and `wayseal-gateway volumes --json` return."""

from collections.abc import Iterable
from dataclasses import asdict

from pydantic import BaseModel, Field

from contracts.records.clock import moment
from gateway.moments import Moment
from storage.drives.devices import Device
from storage.drives.health import Condition
from storage.drives.inventory import Inventory
from storage.drives.kernel import Kernel
from storage.drives.links import Word
from storage.drives.nvme import NvmePath
from storage.volumes.volume import VolumeState


class MountedAt(BaseModel):
    """Where a device is mounted."""

    point: str
    filesystem: str
    read_only: bool


class DriveHealth(BaseModel):
    """A drive's health, as the drive reports it."""

    verdict: Condition
    why: list[str] = Field(description="reasons for the verdict; empty only if it is ok")
    temperature_c: int | None
    used_percent: int | None = Field(description="part of its rated endurance that is used")
    power_on_hours: int | None = Field(description="hours under power since manufacture")
    unsafe_shutdowns: int | None = Field(description="how often it lost power without warning")
    endurance_warnings: list[str] | None = Field(
        description="what its endurance groups warn of; null if it does not report them"
    )


class DrivePath(BaseModel):
    """One path to an NVMe drive."""

    controller: str
    transport: str
    address: str
    state: str = Field(description="as the kernel calls it: live, connecting, resetting, …")
    ana_state: str = Field(
        description="as the target wants it: optimized, non-optimized, inaccessible, "
        "persistent-loss, change; empty if it does not say"
    )
    usable: bool
    host_address: str = Field(description="address of this host that it uses, if it is known")
    host_card: str = Field(description="network card that it is bound to")
    io_queues: int | None
    dhchap: bool | None = Field(description="whether it has a DH-CHAP secret; null if unknown")
    tls: bool = Field(description="whether it is encrypted")
    keep_alive_s: int | None
    reconnect_delay_s: int | None
    fast_io_fail_s: int | None = Field(description="null: reads and writes wait for ever")
    ctrl_loss_s: int | None = Field(description="null: the drive is never removed")


class DriveLink(BaseModel):
    """The state of a drive's connection, and what it means for reads and writes."""

    state: Word
    words: str
    for_s: float | None = Field(description="time without a working path, if it is known")
    fails_in_s: float | None = Field(description="time until reads and writes fail")
    given_up_in_s: float | None = Field(description="time until the kernel removes the drive")


class BlockDevice(BaseModel):
    """A disk, a partition, or a device built from them. Unknown texts are empty."""

    name: str
    interface: str = Field(description="how it is attached: nvme-tcp, nvme-pcie, sata-ssd, …")
    disk: str = Field(description="the disk that this is a partition of")
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
    volumes: list[str] = Field(description="the gateway's volumes on it")
    health: DriveHealth | None = Field(description="null if the drive was not asked")
    nqn: str
    iopolicy: str = Field(description="how the kernel chooses among paths; empty without several")
    paths: list[DrivePath]
    link: DriveLink | None = Field(description="only NVMe disks have one")


class VolumeUse(BaseModel):
    """Whether the running gateway uses a volume."""

    usable: bool
    reason: str = Field(description="why it is not in use; empty while it is in use")
    since: Moment = Field(description="time of the last change of `usable`")
    free_bytes: int | None = Field(description="free on its file system; null if unknown")
    used_bytes: int | None = Field(description="used by recordings; null if unknown")
    quota_bytes: int = Field(description="most that recordings may use; 0: no limit")


class GatewayVolume(BaseModel):
    """A volume from the gateway's settings, and the device under it."""

    name: str
    path: str
    device: str = Field(description="block device of its mount; empty if it has none")
    mount_point: str
    filesystem: str
    note: str
    problem: str = Field(description="why it cannot hold recordings now; empty if it can")
    use: VolumeUse | None = Field(description="null if no running gateway was asked")


class Volumes(BaseModel):
    """The machine's block devices and the gateway's volumes."""

    devices: list[BlockDevice]
    volumes: list[GatewayVolume]


def volumes_of(inventory: Inventory, kernel: Kernel, states: Iterable[VolumeState] = ()) -> Volumes:
    """Return the document of an inventory; `states` are the volumes of a running gateway."""
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
        iopolicy=device.iopolicy,
        paths=[_path(each) for each in device.paths],
        link=_link(device, inventory),
    )


def _health(device: Device, inventory: Inventory) -> DriveHealth | None:
    told = inventory.health.get(device.name)
    return DriveHealth.model_validate(told, from_attributes=True) if told else None


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
        host_address=own.address.get("host_traddr") or own.address.get("src_addr", ""),
        host_card=own.address.get("host_iface", ""),
        io_queues=own.io_queues,
        dhchap=own.dhchap,
        tls=own.tls,
        **asdict(own.timeouts),
    )
