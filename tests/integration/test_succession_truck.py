"""A truck whose ledger goes on as another in the middle of an offload follows by itself."""

import json
from collections.abc import Iterator
from subprocess import Popen

import pytest

from device.journal.offloading import offloading
from device.offload.ledger import SUCCESSIONS_NAME
from device.station import OFFLOAD_LOCK
from support.gateways.yard import Yard, command, done, running_yard
from support.network.world import key
from support.trucks.rogue import until
from support.trucks.truck import Truck
from support.trucks.visits import loaded, meet

pytestmark = pytest.mark.integration

VIDEO_BYTES = 6 << 20
BYTES_PER_S = 1 << 20


@pytest.fixture
def yard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Yard]:
    with running_yard(tmp_path_factory.mktemp("yard")) as made:
        yield made


def trusting(truck: Truck, administrator: str) -> None:
    truck.environment |= {
        "WAYSEAL_GATEWAY__ADMIN_KEYS": key(administrator).public_key,
        "WAYSEAL_OFFLOAD__BYTES_PER_S": str(BYTES_PER_S),
    }


def half_sent(truck: Truck, wait_s: str) -> Popen[str]:
    """Start an offload; return once a part of the video has arrived."""
    running = truck.start("offload", "--wait-s", wait_s, "--json")

    def arrives() -> bool:
        assert running.poll() is None, running.communicate()
        told = offloading(truck.data, truck.data / OFFLOAD_LOCK)
        return told is not None and 0 < told.video_bytes_sent < told.video_bytes

    until("a part of the video", arrives)
    return running


def grow(yard: Yard) -> str:
    """Let a successor take the ledger's place under the same address; return its first block."""
    appliance = yard.appliance
    assert appliance.node is not None
    yard.kill_gateway()
    appliance.node.stop()
    done("wayseal-node", "export", yard.folder / "chain", *yard.node)
    yard.node_data.rename(yard.folder / "old-node")
    admin = ("--admin-key", appliance.key_file("admin"))
    done("wayseal-node", "replay", yard.folder / "chain", *yard.node, *admin)
    appliance.start_node()
    adopted = done("wayseal-gateway", "adopt", appliance.ledger, *yard.options)
    appliance.start_gateway()
    return str(adopted["genesis_block_id"])


def test_an_offload_ends_on_the_successor(yard: Yard) -> None:
    truck, trip = loaded(yard.folder, more_bytes=VIDEO_BYTES)
    meet(truck, yard.site)
    trusting(truck, "admin")
    before = truck.environment["WAYSEAL_GATEWAY__GENESIS_BLOCK_ID"]
    with half_sent(truck, "120") as running:
        after = grow(yard)
        out, err = running.communicate(timeout=120)
    assert running.returncode == 0, err
    assert json.loads(out)["receipted"] == [trip]
    assert before != after
    assert "goes on as the one that begins with block " + after[:16] in err
    assert (truck.data / SUCCESSIONS_NAME).exists()
    code, said, err = truck.run("check-config")
    assert code == 0, said + err
    assert "has the key and the ledger that the settings trust" in said
    evidence = yard.folder / "evidence"
    evidence.write_bytes(yard.auditor.get("/v1/evidence", params={"trip": trip}).content)
    told = command("wayseal-verify", evidence, "--trust", yard.appliance.trust_file())
    assert told.returncode == 0, told.stdout + told.stderr


def test_another_administrators_word_leaves_all_where_it_is(yard: Yard) -> None:
    truck, trip = loaded(yard.folder, more_bytes=VIDEO_BYTES)
    meet(truck, yard.site)
    trusting(truck, "truck-2")
    with half_sent(truck, "20") as running:
        grow(yard)
        _, err = running.communicate(timeout=120)
    assert running.returncode != 0, err
    assert "no key of gateway.admin_keys has signed" in err
    assert "receipt ledger: expected" in err
    assert [each["state"] for each in truck.must("status")["trips"]] == ["sealed"]
    # Its operator looks at who has signed, and trusts that key.
    trusting(truck, "admin")
    assert truck.must("offload", "--wait-s", "60")["receipted"] == [trip]
