"""The gateway's key in a file and in a PKCS#11 token: one suite for both, then what tokens do."""

import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from contracts.backup.manifest import Manifest
from contracts.errors import RejectedError, UnavailableError
from contracts.keys import Signer, SigningKey, is_point, low_s, verify
from contracts.proto.wire_pb2 import ReceiptBody
from contracts.receipt import open_receipt, sign_receipt
from contracts.runtime.checks import Severity
from demo.processes import run
from gateway.commands import check
from gateway.hsm import TokenKey
from gateway.ownkey import accept_key, own_key, public_file
from gateway.settings import Settings
from gateway.settings_file import load_settings
from gateway.tlssettings import HsmSettings
from gateway.wayseal_gateway import main
from support.machine.private import write_private
from support.machine.softhsm import KEY, SoftHsm
from support.network.world import Trip, reading
from support.trucks.rogue import Site, nonce

pytestmark = pytest.mark.integration

ORDER = 0xFFFFFFFF_FFFFFFFF_FFFFFFFF_FFFFFFFE_BAAEDCE6_AF48A03B_BFD25E8C_D0364141
SIGNATURES = 40
"""Half of a token's own have a high s: that none of so many does is no luck."""


@pytest.fixture(scope="module")
def softhsm(tmp_path_factory: pytest.TempPathFactory) -> SoftHsm:
    return SoftHsm(tmp_path_factory.mktemp("softhsm"))


@pytest.fixture(params=["file", "token"])
def key(request: pytest.FixtureRequest, softhsm: SoftHsm, tmp_path: Path) -> SigningKey:
    if request.param == "token":
        return TokenKey(softhsm.settings())
    return Signer.load_or_create(tmp_path / "gateway.key")


def test_its_signatures_are_sawtooth_s(key: SigningKey) -> None:
    assert is_point(key.public_key)
    for number in range(SIGNATURES):
        message = b"m" * number
        signature = key.sign(message)
        assert int(signature[64:], 16) <= ORDER // 2
        assert verify(key.public_key, signature, message)
        assert not verify(key.public_key, signature, message + b"!")


def test_threads_may_share_it(key: SigningKey) -> None:
    messages = [b"%d" % number for number in range(SIGNATURES)]
    with ThreadPoolExecutor(4) as threads:
        signatures = list(threads.map(key.sign, messages))
    assert all(
        verify(key.public_key, signature, message)
        for signature, message in zip(signatures, messages, strict=True)
    )


def test_receipts_open_by_its_public_half(key: SigningKey) -> None:
    body = ReceiptBody(trip_id="0" * 32)
    assert open_receipt(sign_receipt(key, body), [key.public_key]) == body


def test_low_s_takes_both_values_and_nothing_else() -> None:
    low = Signer.generate().sign(b"x")
    high = low[:64] + f"{ORDER - int(low[64:], 16):064x}"
    assert low_s(bytes.fromhex(low)) == low_s(bytes.fromhex(high)) == low
    for wrong in (b"", b"\xff" * 64, bytes.fromhex(low)[:63]):
        with pytest.raises(RejectedError, match="expected a signature, r and s"):
            low_s(wrong)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"module": "/nowhere/p11.so"}, "hsm.module /nowhere/p11.so"),
        ({"key": "nobody"}, "expected one private key with label 'nobody'"),
        ({"key": "p256"}, "expected a key on secp256k1"),
    ],
)
def test_what_is_not_there_is_one_clear_error(
    softhsm: SoftHsm, other: dict[str, object], said: str
) -> None:
    if other == {"key": "p256"}:
        softhsm.make_key("p256", "secp256r1")
    with pytest.raises(RejectedError, match=said):
        TokenKey(softhsm.settings(**other))


def test_a_missing_token_may_come_later(softhsm: SoftHsm) -> None:
    with pytest.raises(UnavailableError, match="token elsewhere is not there"):
        TokenKey(softhsm.settings(token="elsewhere"))  # noqa: S106 - a label


def test_a_pin_for_others_to_read_is_refused(softhsm: SoftHsm, tmp_path: Path) -> None:
    pin = tmp_path / "pin"
    pin.write_text("123456\n")
    pin.chmod(0o644)
    with pytest.raises(RejectedError, match="PIN file"):
        TokenKey(softhsm.settings(pin_file=pin))
    with pytest.raises(RejectedError, match="got an empty file"):
        TokenKey(softhsm.settings(pin_file=write_private(tmp_path / "empty", "\n")))


def test_a_lost_session_is_opened_again(softhsm: SoftHsm) -> None:
    key = TokenKey(softhsm.settings())
    softhsm.make_key("another")  # ends all sessions of this process
    assert verify(key.public_key, key.sign(b"after"), b"after")


def test_a_token_that_is_gone_signs_nothing_until_it_is_back(softhsm: SoftHsm) -> None:
    key = TokenKey(softhsm.settings())
    away = softhsm.folder / "away"
    shutil.move(softhsm.tokens, away)
    softhsm.tokens.mkdir()
    try:
        softhsm.reload()
        with pytest.raises(UnavailableError, match="is not there"):
            key.sign(b"x")
    finally:
        softhsm.tokens.rmdir()
        shutil.move(away, softhsm.tokens)
        softhsm.reload()
    assert verify(key.public_key, key.sign(b"back"), b"back")


def gateway(folder: Path, hsm: HsmSettings) -> Settings:
    return Settings(data=folder, site_id="site-b", hsm=hsm)


def test_a_gateway_changes_to_a_token_only_when_told(softhsm: SoftHsm, tmp_path: Path) -> None:
    settings = gateway(tmp_path, softhsm.settings())
    accepted = accept_key(settings)
    assert public_file(settings).read_text().strip() == accepted.public_key
    assert own_key(settings).public_key == accepted.public_key
    assert not settings.key_file.exists()


def test_half_of_the_settings_is_refused(softhsm: SoftHsm) -> None:
    with pytest.raises(ValueError, match="expected module, token, key and pin_file together"):
        softhsm.settings(key="")


def test_a_truck_gets_a_receipt_by_the_token_s_key(
    softhsm: SoftHsm,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    public_key = TokenKey(softhsm.settings()).public_key
    site = Site(tmp_path)
    site.appliance.variables.update(softhsm.variables())
    try:
        site.start()
        trip = Trip(nonce=nonce(1))
        with site.device() as truck:
            assert not truck.send(*trip.whole([reading(at) for at in range(3)])).refused
            receipt = truck.receipt()
        assert open_receipt(receipt, [public_key]).trip_id == trip.trip_id
    finally:
        site.stop()
    assert not (site.appliance.gateway_data / "gateway.key").exists()
    for name, value in softhsm.variables().items():
        monkeypatch.setenv(name, value)
    settings = load_settings(site.appliance.settings_file)
    (told,) = (each for each in check.findings(settings, offline=True) if each.subject == "key")
    assert (told.severity, told.words) == (Severity.OK, f"{public_key}, in token wayseal")
    with pytest.raises(SystemExit, match="0"):
        main(["backup", str(tmp_path / "b"), "--config", str(site.appliance.settings_file)])
    said = json.loads(capsys.readouterr().out)
    manifest = Manifest.read(Path(said["backup"]))
    assert not manifest.keys
    assert "in token wayseal" in manifest.left_out["the key of receipts"]


ONCE = """
import sys
from pathlib import Path
from contracts.errors import RejectedError
from gateway.hsm import TokenKey
from gateway.tlssettings import HsmSettings
pin = Path(sys.argv[3])
pin.write_text("123456")
key = TokenKey(HsmSettings(module=sys.argv[1], token=sys.argv[2], key="receipts", pin_file=pin))
key._close()
for each in ("000000", "123456"):  # the second one would be right
    pin.write_text(each)
    try:
        key.sign(b"x")
    except RejectedError as error:
        print(error)
"""


def test_a_wrong_pin_is_sent_once(softhsm: SoftHsm, tmp_path: Path) -> None:
    """In a process of its own: in this one somebody is logged in, and no PIN counts."""
    pin, ours = write_private(tmp_path / "pin", ""), softhsm.settings()
    words = [sys.executable, "-c", ONCE, str(ours.module), ours.token, str(pin)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)  # noqa: S603 - ours
    assert done.stdout.count("PinIncorrect") == 2


def test_the_command_tells_the_key_or_what_is_wrong(softhsm: SoftHsm, tmp_path: Path) -> None:
    pin = write_private(tmp_path / "wrong", "000000\n")
    ours = softhsm.settings(pin_file=pin)
    config = write_private(
        tmp_path / "gateway.toml",
        f'data = "{tmp_path}/data"\nsite_id = "site-b"\n[hsm]\nmodule = "{ours.module}"\n'
        f'token = "{ours.token}"\nkey = "{KEY}"\npin_file = "{pin}"\n',
    )
    done = run(["wayseal-gateway", "key", "--config", str(config)])
    assert done.returncode == 1
    assert f"refuses the PIN of {pin}" in done.stderr
    assert "Traceback" not in done.stderr
    write_private(pin, "123456\n")
    done = run(["wayseal-gateway", "key", "--config", str(config)])
    assert json.loads(done.stdout)["public_key"] == TokenKey(softhsm.settings()).public_key
