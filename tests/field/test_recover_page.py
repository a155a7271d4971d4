"""What docs/recover.md tells to type, typed: backups, a gateway and a node lost and restored."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from contracts.runtime.ports import free_port
from support.project.pages import ROOT
from support.project.typed import carry_out, put

pytestmark = pytest.mark.field

PAGE: Final = (ROOT / "docs" / "recover.md").read_text("utf-8")
DEADLINE_S: Final = 600
BEFORE: Final = """
trap 'kill $(jobs -p); wait' EXIT
until_ready() { until grep -q ready "$1"; do kill -0 $!; sleep 0.1; done; }
ADMIN=$(wayseal-party --key admin.key make-key | jq -r .public_key)
start_node() {
  wayseal-node --data "${1-lib/node}" --rest "$LEDGER" --admin "$ADMIN" >node.out & NODE=$!
  until_ready node.out
}
start_gateway() {
  wayseal-gateway serve >gateway.out & GATEWAY=$!
  until_ready gateway.out
}
systemctl() {
  case "$1 ${2-}" in
    "start wayseal-node") start_node ;;
    "start wayseal-gateway") start_gateway ;;
    "stop wayseal-node") kill -9 $NODE; wait $NODE || true; rm -rf lib/node ;;
    "stop wayseal-gateway") kill -9 $GATEWAY; wait $GATEWAY || true; rm -rf lib/gateway ;;
    *) echo "systemctl $*" >>systemctl.out ;;
  esac
}
start_node
start_gateway
wayseal-gateway token auditor --role auditor >/dev/null
"""
AFTER: Final = """
wayseal-gateway token --list | jq -e 'select(.name == "auditor")'
curl -fsS "http://$LEDGER/blocks" | jq -e '.data | length == 1'
"""
NO_AGE: Final = "age() { cat; }"
"""Where it is not installed, its line is tried without it."""
RECIPIENT: Final = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"
"""The public key in the README of age."""
STOP: Final = "kill $GATEWAY; wait $GATEWAY; kill $NODE; wait $NODE"
SUCCESSOR: Final = "start_node lib/node-2"
GROWN: Final = """
start_gateway
wayseal-gateway trust | jq -e '.predecessors | length == 1'
"""
SETTINGS: Final = """\
data = "{folder}/lib/gateway"
site_id = "dock-b"
volume = "{folder}/srv/video"
blobs = "{folder}/srv/blobs"
"""


def typed() -> Iterator[str]:
    """Yield the lines that are told to type, in the page's order."""
    for line in PAGE.splitlines():
        if line == "## Growing to a successor ledger":
            yield AFTER + STOP
        if " adopt " in line:
            yield SUCCESSOR
        if line.startswith("    ") and line.strip():
            yield re.sub(r" -o wayseal-\w+", "", line.strip())


def test_the_page_s_lines_work_as_typed(tmp_path: Path) -> None:
    for tool in ("jq", "curl", "openssl"):
        assert shutil.which(tool), f"scripts/packages {tool}"
    for name in ("backup", "systemd"):
        (tmp_path / name).mkdir()
    (tmp_path / "backup.pass").write_text("long and random\n")
    ledger = f"127.0.0.1:{free_port()}"
    backup = PAGE.split("```toml\n", 1)[1].split("```", 1)[0]
    lines = [BEFORE, *([] if shutil.which("age") else [NO_AGE]), *typed(), GROWN]
    files = {"script": "\n".join(lines), "gateway.toml": SETTINGS + backup}
    moved = {
        "/var/lib/wayseal": f"{tmp_path}/lib",
        "/srv/backup": f"{tmp_path}/backup",
        "/etc/wayseal": str(tmp_path),
        "/etc/systemd/system": f"{tmp_path}/systemd",
        "deploy/": f"{ROOT}/deploy/",
        "{folder}": str(tmp_path),
        "127.0.0.1:8008": ledger,
    }
    put(files, moved, tmp_path)
    (tmp_path / "gateway.toml").chmod(0o600)
    variables = {
        "LEDGER": ledger,
        "RECIPIENT": RECIPIENT,
        "WAYSEAL_GATEWAY_CONFIG": f"{tmp_path}/gateway.toml",
        "WAYSEAL_LEDGER__URL": f"http://{ledger}",
        "WAYSEAL_MQTT__EMBEDDED": "true",
        "WAYSEAL_MQTT__PORT": str(free_port()),
        "WAYSEAL_REST__PORT": str(free_port()),
    }
    printed = carry_out("script", tmp_path, variables, DEADLINE_S)
    assert printed.count('"restored": ') == 2
    assert len(list((tmp_path / "systemd").iterdir())) == 4
