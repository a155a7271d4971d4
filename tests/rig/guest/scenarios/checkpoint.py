"""A whole checkpoint: ledger, gateway and truck, while the gateway's volume is cut off."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from contracts.chunktree import BLOB_BYTES
from contracts.runtime.commands import PROVISIONAL
from demo.appliance import Appliance
from rig.guest import fabric
from rig.guest.commands import until
from rig.guest.product import RESULTS, wayseal
from rig.guest.scenario import Scenario
from rig.guest.scenarios.fabric import FAILS_FAST, connected
from rig.guest.site import NAME, VOLUME, data, kept
from rig.loaded import FOLDER, VIDEO_BLOBS, trip_of
from storage.drives.counters import counters
from storage.drives.kernel import Kernel
from support.trucks.rogue import Site
from support.trucks.truck import Truck

CUT_AFTER_BLOBS: Final = 6
PATIENCE_S: Final = 30
"""Of the truck, without any progress."""
STEP_LIMIT_S: Final = 150
ASK_EVERY_S: Final = 1
BOTH: Final = ["blobs:files:fsync", f"volume:{NAME}:fsync"]


def _checkpoint() -> str:
    with connected(*FAILS_FAST) as device, kept(device, "xfs"), _gateway() as site:
        truck = _arriving(site)
        trip_id = trip_of(truck)
        before = _written(device)
        with truck.start("offload", "--wait-s", str(PATIENCE_S)) as offload:
            until(
                f"{CUT_AFTER_BLOBS} MiB written to the volume",
                lambda: _written(device) - before >= CUT_AFTER_BLOBS * BLOB_BYTES,
                STEP_LIMIT_S,
            )
            fabric.cut()
            _, errors = offload.communicate(timeout=STEP_LIMIT_S)
        assert offload.returncode == PROVISIONAL, (offload.returncode, errors)
        visit = site.offload(trip_id)
        assert visit["provisional"], visit
        out = _use(site)["reason"]
        fabric.mend()
        back_s = until(
            "a final receipt", lambda: _is_final(site, trip_id), STEP_LIMIT_S, look_s=ASK_EVERY_S
        )
        assert truck.must("offload")["receipted"] == [trip_id]
        (recording,) = site.ask(f"/v1/trips/{trip_id}/recordings")["items"]
        assert sorted(recording["copies"]) == BOTH, recording
        report = site.operator.post(f"/v1/recordings/{recording['recording_id']}/verify").json()
        assert report["intact"], report
    return (
        f"gateway and truck: cut in the middle of {VIDEO_BLOBS} MiB, volume out ({out}); all in "
        f"the blob store, the receipt provisional ({', '.join(visit['lacking'])}); after the cable "
        f"was mended the copy was made, the receipt final in {back_s:.0f} s"
    )


class Copied(Appliance):
    """An appliance whose short commands are copies of this process."""

    def token(self, name: str, role: str) -> str:
        return str(self._said("token", name, "--role", role)["token"])

    def gateway_key(self) -> str:
        return str(self._said("key")["public_key"])

    def _said(self, *words: str) -> dict[str, Any]:
        said: dict[str, Any] = json.loads(wayseal(*words, "--config", self.settings_file))
        return said


@contextmanager
def _gateway() -> Iterator[Site]:
    """Run a ledger node and a gateway, which has the one volume."""
    with data() as own:
        site = Site(own, Copied(own / "site"))
        site.appliance.variables |= {
            f"WAYSEAL_VOLUMES__{NAME.upper()}": json.dumps({"path": str(VOLUME), "mount": True})
        }
        try:
            site.start()
            site.operator.timeout = STEP_LIMIT_S
            yield site
        finally:
            site.stop()


def _arriving(site: Site) -> Truck:
    """Return the truck that waits at the door, and knows this gateway."""
    folder = site.appliance.directory.parent / FOLDER
    shutil.copytree(RESULTS / FOLDER, folder)
    truck = Truck(folder)
    truck.environment |= {
        "WAYSEAL_GATEWAY__MQTT": site.appliance.mqtt,
        "WAYSEAL_GATEWAY__REST": site.appliance.rest,
        "WAYSEAL_GATEWAY__TOKEN": site.appliance.token("truck-1", "device"),
        "WAYSEAL_GATEWAY__PUBLIC_KEYS": site.appliance.gateway_key(),
        "WAYSEAL_GATEWAY__GENESIS_BLOCK_ID": site.appliance.genesis_block_id(),
    }
    return truck


def _written(device: Path) -> int:
    return counters(Kernel(), device.name).written_bytes


def _use(site: Site) -> dict[str, Any]:
    """Return how the running gateway sees its volume."""
    (volume,) = site.ask("/v1/volumes")["volumes"]
    use: dict[str, Any] = volume["use"]
    return use


def _is_final(site: Site, trip_id: str) -> bool:
    return bool(site.offload(trip_id)["receipted"])


CHECKPOINT: Final = Scenario("checkpoint", _checkpoint, limit_s=600)
