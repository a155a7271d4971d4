"""The option of `wayseal-bench ledger` for Fabric networks, and the settings file that it names."""

import argparse
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, cast

import grpc
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from contracts.errors import RejectedError, UnavailableError
from storage.bench.commands.ledger import LEDGER
from storage.bench.ledger.fabric.options import add_options, fabrics
from storage.bench.ledger.fabric.settings import FabricPlace
from storage.bench.ledger.fabric.targets import FabricNetwork
from storage.bench.ledger.modes import Measurement
from support.bench.fabric.committing import Ledger
from support.bench.fabric.members import Member, Organisation, settings_file
from support.bench.fabric.peer import Peer, Refused, a_network
from support.bench.stages import setup_on

if TYPE_CHECKING:
    from types import MethodType

ORGANISATION = Organisation("Org1MSP")
MEMBER = ORGANISATION.member("bench")
NOBODY = "127.0.0.1:1"


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Peer, Path]]:
    """Serve one peer for all tests of this file."""
    with a_network(tmp_path_factory.mktemp("fabric")) as made:
        yield made


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_options(parser.add_argument_group("ledger"))
    return parser.parse_args(words)


def test_a_setting_that_is_wrong_is_one_clear_error(tmp_path: Path) -> None:
    others: list[tuple[dict[str, str | None], str]] = [
        ({"url": None}, "url: expected a value, got none"),
        ({"url": " "}, "url: expected words, got none"),
        ({"url": "grpcs://h:1"}, "url: expected HOST:PORT of a peer's Gateway, got 'grpcs://h:1'"),
        ({"url": "peer0"}, "url: expected HOST:PORT of a peer's Gateway, got 'peer0'"),
        ({"url": "peer0:0"}, "url: expected HOST:PORT"),
        ({"url": "peer0:70510"}, "url: expected HOST:PORT"),
        ({"url": "me@peer0:7051"}, "url: expected HOST:PORT"),
        ({"url": "peer0:7051/x"}, "url: expected HOST:PORT"),
        ({"tls_ca": None}, "tls_ca: expected a value, got none"),
        ({"tls_ca": "missing.crt"}, "tls_ca: .*No such file"),
        ({"tls_ca": "member.key"}, "tls_ca: expected certificates in PEM, got none"),
        ({"certificate": "member.key"}, "certificate: expected a certificate in PEM, got none"),
        ({"key": "ca.crt"}, "key: expected a private key in PEM without a password, got none"),
        ({"channel": None}, "channel: expected a value, got none"),
        ({"msp": "Org1MSP"}, "expected only url, channel, .*, got 'msp'"),
        ({"key": "-----BEGIN PRIVATE KEY----- MIG"}, "key: expected the path of a file, got other"),
        ({"certificate": "a\tb"}, "certificate: expected the path of a file, got other text"),
    ]
    for change, words in others:
        path = settings_file(tmp_path, NOBODY, ORGANISATION, MEMBER, **change)
        with pytest.raises(RejectedError, match=words) as told:
            FabricPlace.read(path)
        assert f"--fabric {path}: " in str(told.value)
        assert "PRIVATE KEY" not in str(told.value)
    given = settings_file(tmp_path, NOBODY, ORGANISATION, MEMBER).read_text()
    for secret, got in (
        (f"'''{MEMBER.key_pem.decode()}'''", "the path of a file, got other text"),
        (r'"SECRET\u0000"', "the path of a file, got other text"),
        ("['SECRET']", "words, got a value of type list"),
    ):
        path.write_text(given.replace("'member.key'", secret))
        with pytest.raises(RejectedError) as told:
            FabricPlace.read(path)
        assert str(told.value) == f"--fabric {path}: key: expected {got}"
    path.write_text("url = ")
    with pytest.raises(RejectedError, match="expected a settings file with url, channel"):
        FabricPlace.read(path)
    with pytest.raises(RejectedError, match=r"expected a settings file with url, .*No such file"):
        FabricPlace.read(tmp_path / "missing.toml")


def test_an_identity_that_cannot_sign_is_one_clear_error(tmp_path: Path) -> None:
    other = ORGANISATION.member("other")
    apart = Member(other.key, MEMBER.certificate)
    longer = ORGANISATION.member("longer", curve=ec.SECP384R1())
    for member, words in (
        (apart, "key: expected the key of the certificate of CN=bench, got another key"),
        (longer, "key: expected a key on the curve P-256, got another one"),
        (Member(other.key, longer.certificate), "certificate: expected one of a key on the curve"),
        (ORGANISATION.member("old", days=(-9, -2)), "certificate: expected one that is valid now"),
        (ORGANISATION.member("new", days=(2, 9)), "certificate: expected one that is valid now"),
    ):
        path = settings_file(tmp_path, NOBODY, ORGANISATION, member)
        with pytest.raises(RejectedError, match=words):
            FabricPlace.read(path)


def test_a_peer_that_is_away_or_another_is_told(tmp_path: Path, network: tuple[Peer, Path]) -> None:
    peer, settings = network
    target = FabricPlace.read(settings).target
    ours = peer.organisation
    member = ours.member("bench")
    away = settings_file(tmp_path / "away", NOBODY, ours, member)
    with pytest.raises(UnavailableError, match=r"127\.0\.0\.1:1: .*[Cc]onnection refused"):
        FabricNetwork.found("lab", away)
    stranger = settings_file(tmp_path / "ca", target, ORGANISATION, member)
    words = (
        "expected TLS with a certificate of the authorities in tls_ca, for peer0.example.com, got"
    )
    with pytest.raises(RejectedError, match=words):
        FabricNetwork.found("lab", stranger)
    named = settings_file(tmp_path / "name", target, ours, member, tls_name="peer1.example.com")
    with pytest.raises(RejectedError, match=r"for peer1\.example\.com, got"):
        FabricNetwork.found("lab", named)
    plain = grpc.server(ThreadPoolExecutor(1))
    at = f"127.0.0.1:{plain.add_insecure_port('127.0.0.1:0')}"
    plain.start()
    try:
        with pytest.raises(RejectedError, match=r"expected TLS with .*WRONG_VERSION_NUMBER"):
            FabricNetwork.found("lab", settings_file(tmp_path / "plain", at, ours, member))
    finally:
        plain.stop(None).wait()


def test_what_fails_behind_the_peer_is_not_taken_for_its_own_certificate(
    network: tuple[Peer, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The peer itself asks other peers by TLS, and tells how that went."""
    said = "rpc error: desc = transport: authentication handshake failed: x509: unknown authority"

    def refuse(_: bytes) -> bytes:
        raise Refused(grpc.StatusCode.UNAVAILABLE, "failed to evaluate transaction", said)

    peer, settings = network
    monkeypatch.setitem(peer.answers, "Evaluate", refuse)
    with pytest.raises(UnavailableError, match=r"Evaluate: failed to evaluate .*handshake failed"):
        FabricNetwork.found("lab", settings)


def test_a_client_s_certificate_is_shown_to_a_peer_that_demands_one(tmp_path: Path) -> None:
    peer = Peer(ORGANISATION, Ledger(ORGANISATION, 10, 0.05, ("etcdraft", 3)))
    peer.demands_clients = True
    shown = {"tls_certificate": "member.crt", "tls_key": "member.key"}
    with peer.serving() as target:
        path = settings_file(tmp_path, target, ORGANISATION, MEMBER, **shown)
        assert FabricNetwork.found("lab", path).ordering.nodes == 3
        path = settings_file(tmp_path, target, ORGANISATION, MEMBER)
        words = r"Socket closed; does the peer demand tls_certificate and tls_key\?"
        with pytest.raises(UnavailableError, match=words):
            FabricNetwork.found("lab", path)
    path = settings_file(tmp_path, target, ORGANISATION, MEMBER, tls_key="member.key")
    with pytest.raises(RejectedError, match="tls_key: expected tls_key and tls_certificate, got o"):
        FabricPlace.read(path)
    (tmp_path / "other.key").write_bytes(ORGANISATION.member("other").key_pem)
    for key in ("other.key", "ca.crt"):
        others = {**shown, "tls_key": key}
        path = settings_file(tmp_path, target, ORGANISATION, MEMBER, **others)
        with pytest.raises(RejectedError, match="tls_key: expected the key of tls_certificate"):
            FabricPlace.read(path)


def test_a_peer_that_does_not_take_our_transactions_is_told(
    tmp_path: Path, network: tuple[Peer, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    peer, settings = network
    target = FabricPlace.read(settings).target
    ours = peer.organisation
    member = ours.member("bench")
    strangers = settings_file(tmp_path / "stranger", target, ours, MEMBER)
    others: list[tuple[Path, str]] = [
        (strangers, r"got: evaluate call .*: access denied: channel .trucks. creator org unknown"),
        (settings_file(tmp_path / "msp", target, ours, member, msp_id="Org2MSP"), "access denied"),
        (
            settings_file(tmp_path / "channel", target, ours, member, channel="ships"),
            "a member of Org1MSP, got: failed to get config for channel .ships.: could not",
        ),
        (
            settings_file(tmp_path / "chaincode", target, ours, member, chaincode="basic"),
            "no peers available to evaluate chaincode basic in channel trucks",
        ),
    ]
    for path, words in others:
        with pytest.raises(RejectedError, match=words):
            FabricNetwork.found("lab", path)
    monkeypatch.setattr(peer.ledger, "simulated", lambda _: (b"asset-transfer", b""))
    with pytest.raises(RejectedError, match=r"expected the benchmark's chaincode .*'bench' in"):
        FabricNetwork.found("lab", settings)

    def unreadable() -> bytes:
        return b"\xff"

    monkeypatch.undo()
    monkeypatch.setattr(peer.ledger, "settings", unreadable)
    with pytest.raises(RejectedError, match="expected a block with the channel's settings, got 1"):
        FabricNetwork.found("lab", settings)
    monkeypatch.undo()

    def refuse(_: bytes) -> bytes:
        raise Refused(grpc.StatusCode.UNIMPLEMENTED, "unknown service gateway.Gateway")

    monkeypatch.setitem(peer.answers, "Evaluate", refuse)
    with pytest.raises(RejectedError, match=r"unknown service gateway\.Gateway"):
        FabricNetwork.found("lab", settings)


@pytest.mark.parametrize(
    ("ordering", "faults"),
    [
        (("etcdraft", 3), "1 of 3 ordering nodes may stop; none may lie (crash faults alone)."),
        (("etcdraft", 4), "1 of 4 ordering nodes may stop; none may lie (crash faults alone)."),
        (("etcdraft", 1), "None: no ordering node may stop or lie."),
        (("BFT", 4), "1 of 4 ordering nodes may stop or lie."),
        (("BFT", 3), "None: with fewer than four ordering nodes no one may fail."),
        (("solo", 1), "Not known here: as its operator says."),
    ],
)
def test_a_network_says_what_it_guarantees(
    network: tuple[Peer, Path],
    ordering: tuple[str, int],
    faults: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    peer, settings = network
    monkeypatch.setattr(peer.ledger, "ordering", ordering)
    found = FabricNetwork.found("lab", settings)
    assert found.guarantee.faults.startswith(faults)
    assert "endorsement policy" in found.guarantee.faults
    assert "synced its block" in found.guarantee.durable
    assert found.described["consensus"] == ordering[0]
    assert found.described["transactions_per_block"] == 10
    assert found.described["block_timeout"] == "50ms"
    assert " private=" not in repr(found.place)


def test_an_option_that_makes_no_sense_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for word in ("fabric.toml", "=fabric.toml", "lab="):
        with pytest.raises(SystemExit):
            parsed("--fabric", word)
        assert f"expected NAME=FILE, got '{word}'" in capsys.readouterr().err
    assert parsed("--fabric", "lab=a.toml").fabric == [("lab", "a.toml")]
    assert list(fabrics(parsed().fabric)) == []


def test_without_its_library_fabric_is_refused_with_the_way_to_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("targets", "driver", "gateway"):  # as if they had not been imported before
        monkeypatch.delitem(sys.modules, f"storage.bench.ledger.fabric.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "grpc", None)
    with pytest.raises(RejectedError, match=r"scripts/install bench-ledgers installs it"):
        list(fabrics([("lab", "a.toml")]))


def test_the_command_measures_every_workload_there(
    tmp_path: Path, network: tuple[Peer, Path]
) -> None:
    _, settings = network
    parser = argparse.ArgumentParser()
    LEDGER.add_options(parser)
    chosen = ["--pacing", "none", "--fabric", f"lab={settings}"]
    with setup_on(tmp_path / "s", "a") as setup, ExitStack() as stack:
        made = LEDGER.prepare(parser.parse_args(chosen), setup, stack)
        with made.groups[0].opened() as steps:
            theirs = [step for step in steps if step.target == "lab"]
            measured = [cast("MethodType", step.execute).__self__ for step in theirs]
            ones = {each.workload.per_batch for each in measured if isinstance(each, Measurement)}
            assert ones == {1}  # Fabric has no batches
            own = [step.workload for step in theirs]
            assert own == [step.workload for step in steps if step.target == "a"]
        twice = [*chosen, "--fabric", f"a={settings}"]
        with pytest.raises(RejectedError, match="expected targets with a name each, got 'a' twice"):
            LEDGER.prepare(parser.parse_args(twice), setup, stack)
    assert {"readings-flat-out", "dependent-payments-flat-out", "bep-23-flat-out"} <= set(own)
    assert [each["kind"] for each in made.targets] == ["fabric"]
    assert [each["target"] for each in made.guarantees] == ["a", "lab"]
    assert made.settings["fabric"] == {"lab": str(settings)}
    assert any("never as committed" in note for note in made.notes)
