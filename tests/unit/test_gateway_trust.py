"""The keys that a gateway says a ledger has: of its administrators, and of who signs its blocks."""

from contextlib import closing

import pytest

from contracts import address
from contracts.address import ADMIN_KEYS_SETTING
from contracts.errors import UnavailableError
from contracts.ledger.client import LedgerClient
from contracts.proto.sawtooth_pb2 import Setting
from contracts.sawtooth.settings import PBFT_MEMBERS
from gateway.records.evidence import trust_of
from support.ledgers.fake import FakeLedger
from support.network.world import key

ADMIN, OTHER, NODE, SECOND = (
    key(name).public_key for name in ("admin", "other", "node", "second node")
)


def trust(admins: str, members: str | None = None) -> tuple[set[str], set[str]]:
    """Return the keys of a ledger with these settings: of blocks, and of administrators."""
    with FakeLedger() as fake:
        fake.extend([[]])
        fake.state[address.setting(ADMIN_KEYS_SETTING)] = entry(ADMIN_KEYS_SETTING, admins)
        fake.state[address.setting(PBFT_MEMBERS)] = (
            b"" if members is None else entry(PBFT_MEMBERS, members)
        )
        with closing(LedgerClient(fake.url)) as ledger:
            found = trust_of(ledger)
    return set(found.block_signers), set(found.admin_keys)


def entry(name: str, value: str) -> bytes:
    return Setting(entries=[Setting.Entry(key=name, value=value)]).SerializeToString()


def test_the_node_that_signed_the_first_block_signs_the_others() -> None:
    assert trust(ADMIN) == ({NODE}, {ADMIN})


def test_spaces_between_administrators_are_no_part_of_their_keys() -> None:
    """The rules read the setting so, too."""
    assert trust(f"{ADMIN}, {OTHER}") == ({NODE}, {ADMIN, OTHER})


def test_members_of_pbft_sign_blocks() -> None:
    assert trust(ADMIN, f'["{NODE}", "{SECOND}"]') == ({NODE, SECOND}, {ADMIN})


@pytest.mark.parametrize("members", ["{}", "[1]", "no JSON", "[" * 100_000])
def test_a_malformed_list_of_members_is_an_error(members: str) -> None:
    with pytest.raises(UnavailableError, match="expected a JSON list of public keys"):
        trust(ADMIN, members)
