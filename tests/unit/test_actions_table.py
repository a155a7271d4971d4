"""The table of actions is whole: against payload.proto, its own union, and docs/contract.md."""

import re
from pathlib import Path
from typing import get_args

from contracts.actions.kind import SignedBy
from contracts.actions.table import ACTIONS, Action
from contracts.proto.payload_pb2 import Payload

PAGE = (Path(__file__).parent.parent.parent / "docs" / "contract.md").read_text("utf-8")
ACTIONS_PART = PAGE.split("## Actions", 1)[1].split("###", 1)[0]
ROW = re.compile(
    r"^\| `([A-Za-z]+)`(?: \(\*1\.[13]\*\))? \| ([^|]+) \| ([^|]+) \| [^|]+ \|$", re.MULTILINE
)
NAMES = [kind.message.__name__ for kind in ACTIONS]


def test_every_action_of_the_payload_has_one_row() -> None:
    fields = Payload.DESCRIPTOR.oneofs_by_name["action"].fields
    assert sorted(NAMES) == sorted(each.message_type.name for each in fields if each.message_type)
    assert [kind.message for kind in ACTIONS] == list(get_args(Action))


def test_the_page_has_a_row_and_a_section_for_every_action_in_the_table_s_order() -> None:
    assert [name for name, _, _ in ROW.findall(ACTIONS_PART)] == NAMES
    sections = re.findall(r"^### ([A-Za-z]+)(?: \(\*1\.[13]\*\))?:", PAGE, re.MULTILINE)
    assert {name for name in sections if name in NAMES} == set(NAMES)


def test_the_page_says_who_signs_and_whose_key_is_read() -> None:
    kinds = {kind.message.__name__: kind for kind in ACTIONS}
    for name, signer, inputs in ROW.findall(ACTIONS_PART):
        signed_by = kinds[name].signed_by
        assert (signed_by is SignedBy.DEVICE) == (signer == "the device")
        assert (signed_by is SignedBy.SITE) == signer.startswith("a gateway of the site")
        assert (signed_by is SignedBy.ADMINISTRATOR) == signer.startswith("an administrator")
        assert (signed_by is SignedBy.TWO_PARTIES) == (", and " in signer or "both" in signer)
        assert (signed_by is SignedBy.ADMINISTRATOR) != inputs.startswith("signer's key")
