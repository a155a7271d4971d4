"""Settings of the gateway's limits: inbox, quarantine, and uploads."""

from typing import Final

from pydantic import Field

from gateway.intake.quotas import DeviceLimits
from gateway.storagesettings import Table
from gateway.uploads.limits import DEVICE_PARTIAL_BYTES_MAX, Places

_SHARE: Final = DeviceLimits()
_PLACES: Final = Places()


class LimitSettings(Table):
    """Limits beyond which the gateway refuses more."""

    inbox_bytes: int = Field(
        8 << 30, ge=1 << 20, description="signed batches kept; beyond that nothing more is taken in"
    )
    quarantine_bytes: int = Field(
        256 << 20, ge=1 << 20, description="part of that for batches that no rule would accept"
    )
    upload_bytes: int = Field(64 << 30, ge=1, description="longest recording")
    device_inbox_bytes: int = Field(
        _SHARE.bytes_max, ge=1 << 20, description="one device's share of the inbox"
    )
    device_inbox_batches: int = Field(
        _SHARE.batches_max, ge=1, description="batches of one device that are not committed"
    )
    device_quarantine_bytes: int = Field(
        _SHARE.quarantine_bytes_max, ge=1, description="one device's share of the quarantine"
    )
    device_visits: int = Field(
        _SHARE.visits_max, ge=1, description="trips of one device without a final receipt"
    )
    uploads: int = Field(_PLACES.open_max, ge=1, le=256, description="uploads open at once")
    device_uploads: int = Field(
        _PLACES.of_device, ge=1, description="uploads of one device that are open at once"
    )
    device_partial_bytes: int = Field(
        DEVICE_PARTIAL_BYTES_MAX, ge=1, description="sizes of one device's partial uploads"
    )
    device_bytes_per_s: int = Field(
        0, ge=0, description="bandwidth of one device's uploads; 0: without limit"
    )
    upload_turn_s: float = Field(
        _PLACES.turn_s,
        gt=0,
        description="time after which an upload makes way, if all places are taken",
    )
    waiting_days: int = Field(
        30,
        ge=0,
        le=36_500,
        description="days that the gateway runs until a waiting batch is dropped; 0: never",
    )

    @property
    def places(self) -> Places:
        """Return how many uploads may be open."""
        return Places(self.uploads, self.device_uploads, turn_s=self.upload_turn_s)

    @property
    def of_device(self) -> DeviceLimits:
        """Return each device's share of the inbox."""
        return DeviceLimits(
            self.device_inbox_bytes,
            self.device_inbox_batches,
            self.device_quarantine_bytes,
            self.device_visits,
        )
