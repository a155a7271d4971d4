"""Has `st`, the command of schemathesis, ask a node also for blocks that it has."""

import re
from typing import Final

import schemathesis
from hypothesis import strategies as st

from support.ledgers.nodes import GOLDEN

_ID: Final = re.compile(r'"([0-9a-f]{128})"')
_KNOWN: Final = sorted(set(_ID.findall((GOLDEN / "devmode" / "060-blocks-all.json").read_text())))
schemathesis.openapi.format(
    "sawtooth-id", st.one_of(st.sampled_from(_KNOWN), st.from_regex(r"\A[0-9a-f]{128}\Z"))
)
