"""The node as a process: start, stop, a second one, kill -9, a full disk, hostile bodies."""

import resource
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import lmdb
import pytest

from contracts import address
from contracts.address import ADMIN_KEYS_SETTING
from contracts.keys import Signer
from contracts.ledger.state.state import NODE
from contracts.proto.sawtooth_pb2 import Batch, BatchList, Setting
from contracts.sawtooth.batches import Family, build_batch, build_transaction
from support.ledgers.damage import change_all, flipped
from support.ledgers.intkey_node import address_of
from support.ledgers.nodes import (
    OCTETS,
    READY,
    WAIT_S,
    Node,
    intkey,
    intkey_batch,
    naive_root,
    recorded_options,
    running,
    whole_state,
)
from support.machine.waiting import wait_until

pytestmark = pytest.mark.integration


def start(*options: str) -> "subprocess.CompletedProcess[str]":
    command = [str(Path(sys.executable).with_name("wayseal-node")), *options]
    return subprocess.run(  # noqa: S603 - our own command
        command, capture_output=True, text=True, timeout=60, check=False
    )


def test_own_genesis_names_the_admins(tmp_path: Path) -> None:
    admins = [Signer.generate().public_key, Signer.generate().public_key]
    options = [part for admin in admins for part in ("--admin", admin)]
    with running(tmp_path / "data", *options) as node:
        answer = node.client.get(f"/state/{address.setting(ADMIN_KEYS_SETTING)}").json()
        root, state = whole_state(node.client)
        assert node.stop() == 0
        assert node.process.stdout is not None
        assert node.process.stdout.read() == ""
    setting = Setting.FromString(state[address.setting(ADMIN_KEYS_SETTING)])
    assert answer["head"]
    assert [entry.value for entry in setting.entries] == [",".join(admins)]
    assert naive_root(state) == root


def test_restart_goes_on_and_ignores_genesis(tmp_path: Path) -> None:
    options = recorded_options(tmp_path)
    signer = Signer.generate()
    with running(tmp_path / "data", *options) as node:
        node.commit(intkey_batch(signer, 0))
        before = node.client.get("/blocks").json()["data"]
        assert node.stop() == 0
    with running(tmp_path / "data", *options) as node:
        assert node.client.get("/blocks").json()["data"] == before
        node.commit(intkey_batch(signer, 1))
    assert "ignored" in (tmp_path / "data.stderr").read_text()


def test_second_node_is_refused(tmp_path: Path) -> None:
    with running(tmp_path / "data"):
        second = start("--data", str(tmp_path / "data"), "--rest", "127.0.0.1:0")
    assert second.returncode == 2
    assert second.stdout == ""
    assert "in use by another node" in second.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "--data"),
        (("--rest", "8008"), "expected HOST:PORT"),
        (("--rest", "127.0.0.1:70000"), "expected HOST:PORT"),
        (("--rest", "127.0.0.1:0", "--block-interval", "-1"), "expected a number of seconds"),
        (("--rest", "127.0.0.1:0", "--block-interval", "nan"), "expected a number of seconds"),
        (("--rest", "127.0.0.1:0", "--block-interval", "86401"), "expected a number of seconds"),
        (("--rest", "127.0.0.1:0", "--admin", "zz"), "compressed public key"),
        (("--rest", "127.0.0.1:0", "--admin", "02" + "0" * 64), "a point of secp256k1"),
        (("--rest", "127.0.0.1:0", "--data", ""), "expected a directory"),
        (("--rest", "127.0.0.1:0", "--key", "/nonexistent/key"), "key file /nonexistent/key"),
        (("--rest", "127.0.0.1:0", "--genesis", "/nonexistent"), "genesis file /nonexistent"),
        (("--rest", "192.0.2.1:1", "--plain-text"), "cannot listen on 192.0.2.1:1"),
    ],
)
def test_bad_arguments_exit_2_with_one_line(
    tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    data = ("--data", str(tmp_path / "data")) if options else ()
    ended = start(*data, *options)
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert message in ended.stderr.splitlines()[-1]
    assert "Traceback" not in ended.stderr


def test_a_key_without_a_chain_founds_a_network_and_says_so(tmp_path: Path) -> None:
    data = tmp_path / "data"
    log = tmp_path / "data.stderr"
    with running(data) as node:
        assert node.stop() == 0
    assert "founding" not in log.read_text()
    (data / "chain.log").unlink()
    shutil.rmtree(data / "index")
    with running(data) as node:
        assert node.stop() == 0
    assert f"{data} holds a key and no block: founding a new network" in log.read_text()


def test_help_teaches() -> None:
    shown = start("--help")
    assert shown.returncode == 0
    assert READY in shown.stdout


def probe(node: Node, name: str) -> tuple[int, object]:
    answer = node.client.get(f"/{name}")
    return answer.status_code, answer.json()


def test_full_disk_is_said_and_survived(tmp_path: Path) -> None:
    signer = Signer.generate()
    with running(tmp_path / "data") as node:
        node.commit(intkey_batch(signer, 0))
        assert probe(node, "readyz") == (200, {"live": True, "ready": True, "out": []})
        size = (tmp_path / "data" / "chain.log").stat().st_size
        resource.prlimit(
            node.process.pid, resource.RLIMIT_FSIZE, (size + 100, resource.RLIM_INFINITY)
        )
        waiting = intkey_batch(signer, 1)
        assert node.post(waiting).status_code == 202
        wait_until(lambda: node.post(intkey_batch(signer, 2)).status_code == 503)
        refused = node.post(intkey_batch(signer, 2)).json()["error"]
        assert refused["code"] == 202
        assert "chain.log" in refused["message"]
        assert probe(node, "readyz") == (503, {"live": True, "ready": False, "out": ["blocks"]})
        assert probe(node, "healthz") == (200, {"live": True})
        assert node.statuses(waiting, wait_s=1) == ["PENDING"]
        assert node.client.get("/blocks").status_code == 200
        assert (tmp_path / "data" / "chain.log").stat().st_size == size
        resource.prlimit(
            node.process.pid,
            resource.RLIMIT_FSIZE,
            (resource.RLIM_INFINITY, resource.RLIM_INFINITY),
        )
        assert node.statuses(waiting) == ["COMMITTED"]
        wait_until(lambda: node.post(intkey_batch(signer, 3)).status_code == 202)
        assert probe(node, "readyz")[0] == 200
        assert node.stop() == 0
    with running(tmp_path / "data") as node:
        root, state = whole_state(node.client)
        assert node.statuses(waiting) == ["COMMITTED"]
    assert naive_root(state) == root


def test_a_small_file_system_fills_and_empties(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)]
    if subprocess.run(mount, check=False, capture_output=True).returncode != 0:  # noqa: S603
        pytest.skip("mounting a small file system needs root")
    try:
        fill_and_empty(disk)
    finally:
        subprocess.run(["umount", str(disk)], check=True)  # noqa: S603, S607


def fill_and_empty(disk: Path) -> None:
    signer = Signer.generate()
    with running(disk / "data") as node:
        filler = disk / "filler"
        filler.write_bytes(bytes(3 << 20))
        sent: list[Batch] = []
        while (answer := node.post(intkey_batch(signer, 50 * len(sent), 50))).status_code == 202:
            sent.append(intkey_batch(signer, 50 * len(sent), 50))
            node.statuses(sent[-1], wait_s=1)
        assert answer.json()["error"]["code"] == 202
        assert "No space left" in answer.json()["error"]["message"]
        filler.unlink()
        assert set(node.statuses(*sent)) == {"COMMITTED"}
        assert node.stop() == 0
    with running(disk / "data") as node:
        root, state = whole_state(node.client)
        assert set(node.statuses(*sent)) == {"COMMITTED"}
    assert naive_root(state) == root


def test_full_disk_lets_the_node_end(tmp_path: Path) -> None:
    with running(tmp_path / "data") as node:
        size = (tmp_path / "data" / "chain.log").stat().st_size
        resource.prlimit(node.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        node.post(intkey_batch(Signer.generate(), 1))
        assert node.stop() == 0


def test_damage_at_every_byte_is_one_clear_error(tmp_path: Path) -> None:
    signer = Signer.generate()
    batch = intkey_batch(signer, 1)
    whole = BatchList(batches=[batch]).SerializeToString()
    with running(tmp_path / "data") as node:
        for place in range(len(whole)):
            damaged = bytearray(whole)
            damaged[place] ^= 1 + place % 255
            answer = node.client.post("/batches", content=bytes(damaged), headers=OCTETS)
            assert answer.status_code in (202, 400), (place, answer.text)
        for cut in range(0, len(whole), 7):
            answer = node.client.post("/batches", content=whole[:cut], headers=OCTETS)
            assert answer.status_code == 400
        assert node.statuses(batch) in (["COMMITTED"], ["UNKNOWN"])
        node.commit(batch)
        blocks = node.client.get("/blocks").json()["data"]
    held = [one["header_signature"] for block in blocks[:-1] for one in block["batches"][1:]]
    assert held == [batch.header_signature]


def test_a_changed_state_is_one_clear_error(tmp_path: Path) -> None:
    data, signer = tmp_path / "data", Signer.generate()
    with running(data) as node:
        node.commit(intkey_batch(signer, 1))
        assert node.stop() == 0

    def change(view: lmdb.Transaction, key: bytes, value: bytes) -> None:
        if b"k1" in value:  # the first thing that a node reads is not it, but a setting
            flipped(view, key, value)

    change_all(data / "index", NODE, change)
    remedy = f"Stop the node, delete {data / 'index'} and start it again"
    with running(data) as node:
        answer = node.client.get(f"/state/{address_of('k1')}")
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, 203)
        assert remedy in answer.json()["error"]["message"]
        node.post(build_batch(signer, [intkey(signer, "inc", "k1", 1)]))
        assert node.process.wait(WAIT_S) == 1
    assert remedy in data.with_name("data.stderr").read_text()
    change_all(data / "index", NODE, flipped)
    done = start("--data", str(data), "--rest", "127.0.0.1:0")
    assert (done.returncode, done.stdout) == (2, "")
    assert remedy in done.stderr.splitlines()[-1]
    shutil.rmtree(data / "index")
    with running(data) as node:
        assert node.client.get(f"/state/{address_of('k1')}").status_code == 200
        node.commit(intkey_batch(signer, 2))


def test_oversized_bodies_are_refused(tmp_path: Path) -> None:
    with running(tmp_path / "data") as node:
        announced = node.client.post("/batches", content=bytes((16 << 20) + 1), headers=OCTETS)
        assert (announced.status_code, announced.json()["error"]["code"]) == (413, 200)
        ids = {"Content-Type": "application/json"}
        posted = node.client.post("/batch_statuses", content=bytes((1 << 20) + 1), headers=ids)
        assert (posted.status_code, posted.json()["error"]["code"]) == (413, 200)
        node.commit(intkey_batch(Signer.generate(), 1))


def test_an_endless_head_ends_the_connection(tmp_path: Path) -> None:
    with running(tmp_path / "data") as node:
        url = node.client.base_url
        with socket.create_connection((url.host, url.port or 0), timeout=WAIT_S) as connection:
            connection.sendall(b"GET /blocks?id=")
            with pytest.raises(ConnectionError):
                connection.sendall(b"0" * (64 << 20))
        assert node.client.get("/blocks").status_code == 200


def test_dependencies_across_submissions(tmp_path: Path) -> None:
    signer = Signer.generate()
    first = intkey(signer, "set", "a", 1)
    parent = build_batch(signer, [first])
    child = build_batch(
        signer, [intkey(signer, "inc", "a", 1, dependencies=[first.header_signature])]
    )
    with running(tmp_path / "data") as node:
        assert node.post(child).status_code == 202
        wait_until(lambda: node.statuses(child) == ["UNKNOWN"])
        node.commit(parent)
        assert node.statuses(child) == ["COMMITTED"]


def test_unknown_family_waits_and_holds_nothing_up(tmp_path: Path) -> None:
    signer = Signer.generate()
    stranger = build_transaction(
        signer,
        Family("nobody", "9"),
        b"",
        batcher_public_key=signer.public_key,
        inputs=[],
        outputs=[],
    )
    with running(tmp_path / "data") as node:
        batch = build_batch(signer, [stranger])
        assert node.post(batch).status_code == 202
        node.commit(intkey_batch(signer, 0))
        assert node.statuses(batch, wait_s=1) == ["PENDING"]


@pytest.mark.parametrize(
    "endpoint",
    ["nonsense", "tcp://127.0.0.1", "tcp://:4004", "ipc://x:1", "tcp://127.0.0.1:0;127.0.0.1:0"],
)
def test_component_endpoint_of_no_known_form(tmp_path: Path, endpoint: str) -> None:
    ended = start(
        "--data", str(tmp_path / "data"), "--rest", "127.0.0.1:0", "--component", endpoint
    )
    assert ended.returncode == 2
    assert "expected" in ended.stderr.splitlines()[-1]


def test_component_endpoint_that_is_taken(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:
        endpoint = f"tcp://127.0.0.1:{held.getsockname()[1]}"
        ended = start(
            "--data", str(tmp_path / "data"), "--rest", "127.0.0.1:0", "--component", endpoint
        )
    assert ended.returncode == 2
    assert ended.stderr.splitlines()[-1] == (
        f"wayseal-node: cannot listen on {endpoint}: Address already in use"
    )
