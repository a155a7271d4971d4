"""What docs/administrators.md tells to type, typed on one node and on a network of validators."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from contracts.keys import Signer
from contracts.runtime.ports import free_port
from support.ledgers.cometbft import need_cometbft
from support.project.pages import ROOT
from support.project.typed import carry_out, put

pytestmark = pytest.mark.field

PAGE: Final = (ROOT / "docs" / "administrators.md").read_text("utf-8")
DEADLINE_S: Final = 300
BEFORE: Final = """
trap 'kill $(jobs -p); wait' EXIT
wayseal-node {options} --rest "$LEDGER" > node.out &
until grep -q ready node.out; do kill -0 $!; sleep 0.1; done
"""
FOUNDED: Final = {
    "solo": "KEY=$(wayseal-party --key admin.key make-key | jq -r .public_key)"
    + BEFORE.format(options='--data node --admin "$KEY"'),
    "cometbft": "wayseal-node init --chain-id try --out net --validators 1; cp net/admin.key .\n"
    + BEFORE.format(options="--data net/node0 --engine cometbft"),
}
THEFT: Final = """
DOOMED=$(wayseal-party --key doomed.key make-key | jq -r .public_key)
wayseal-party --key emil.key admit-administrator "$DOOMED"
"""


def typed() -> Iterator[str]:
    """Yield the lines that are told to type; before a key counts as stolen, a thief uses it."""
    for line in PAGE.splitlines():
        if line == "## A stolen key":
            yield THEFT
        if line.startswith("    ") and line.strip():
            yield line.strip()


@pytest.mark.parametrize("engine", FOUNDED)
def test_the_page_s_lines_work_as_typed(tmp_path: Path, engine: str) -> None:
    assert shutil.which("jq"), "scripts/packages jq"
    if engine == "cometbft":
        need_cometbft()
    ledger = f"127.0.0.1:{free_port()}"
    last = "wayseal-party proposals; wayseal-party administrators"
    put({"script": "\n".join([FOUNDED[engine], *typed(), last])}, {}, tmp_path)
    variables = {"LEDGER": ledger, "WAYSEAL_LEDGER__URL": f"http://{ledger}"}
    said = carry_out("script", tmp_path, variables, DEADLINE_S).splitlines()
    told = [json.loads(line) for line in said if line.startswith("{")]
    waiting, left = told[-2:]
    assert waiting == {"waiting": []}
    keys = [public(tmp_path, name) for name in ("anna", "dora")]
    assert left == {"administrators": keys, "change_settings": keys, "have_to_agree": 2}
    changed = [each["changed"] for each in told if "changed" in each]
    assert changed, said
    assert all(changed), said
    proposed = [each for each in told if each.get("in_force") is False]
    assert len(proposed) == 6, said
    assert sum(each.get("rejected", False) for each in told) == 2


def public(folder: Path, name: str) -> str:
    """Return the public half of a key file."""
    return Signer.load(folder / f"{name}.key").public_key
