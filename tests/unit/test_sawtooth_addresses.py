"""Addresses and entries of Sawtooth's own families, as its code and its SDK make them."""

from contracts import address
from contracts.proto.block_info_pb2 import BlockInfo, BlockInfoConfig
from contracts.sawtooth.block_info import latest_block_info


def test_addresses_of_the_identity_family() -> None:
    """Expected values: validator/src/state/identity_view.rs of Sawtooth 1.2.6."""
    assert address.role("MY_ROLE") == (
        "00001d01e0d7826133ad07e3b0c44298fc1c14e3b0c44298fc1c14e3b0c44298fc1c14"
    )
    assert address.policy("MY_POLICY") == (
        "00001d00237e86847d59b61cd902a533a1c9701327ed992dfe7ec1996ffc84bc8f0b4e"
    )


def test_a_role_has_four_parts() -> None:
    first = address.role("a.b.c.d")
    assert len(first) == address.ADDRESS_HEX
    assert first != address.role("a.b.c.d.e")
    assert first[:54] == address.role("a.b.c.d.e")[:54]


def test_addresses_of_block_times() -> None:
    """Expected values: the family's specification, "Addressing"."""
    assert address.block_info_config() == "00b10c01" + "0" * 62
    assert address.block_info(0) == "00b10c00" + "0" * 62
    assert address.block_info(0x1AB) == "00b10c00" + "0" * 59 + "1ab"


def test_the_latest_time_is_of_the_block_that_the_configuration_names() -> None:
    state: dict[str, bytes] = {}
    assert latest_block_info(state.get) is None
    for number in (6, 7):
        entry = BlockInfo(block_num=number, timestamp=1_700_000_000 + number)
        state[address.block_info(number)] = entry.SerializeToString()
    state[address.block_info_config()] = BlockInfoConfig(latest_block=7).SerializeToString()
    latest = latest_block_info(state.get)
    assert latest is not None
    assert latest.timestamp == 1_700_000_007
