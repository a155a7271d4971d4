"""Keys: Sawtooth's signatures byte for byte, and no other form of them."""

import subprocess
import sys
from pathlib import Path

import pytest

from contracts.errors import RejectedError
from contracts.keys import Signer, is_public_key, is_signature, point, verify

ORDER = 0xFFFFFFFF_FFFFFFFF_FFFFFFFF_FFFFFFFE_BAAEDCE6_AF48A03B_BFD25E8C_D0364141
SIGNER = Signer.from_hex("11" * 32)
MESSAGE = b"what happened on the way"


def high_s_twin(signature: str) -> str:
    """Return the other signature that the mathematics, but not Sawtooth, accepts."""
    return signature[:64] + f"{ORDER - int(signature[64:], 16):064x}"


def names(directory: Path) -> list[str]:
    return [path.name for path in directory.iterdir()]


def test_what_a_key_signs_verifies() -> None:
    signature = SIGNER.sign(MESSAGE)
    assert is_public_key(SIGNER.public_key)
    assert is_signature(signature)
    assert verify(SIGNER.public_key, signature, MESSAGE)
    assert SIGNER.sign(MESSAGE) == signature


def test_another_message_or_key_does_not() -> None:
    signature = SIGNER.sign(MESSAGE)
    assert not verify(SIGNER.public_key, signature, MESSAGE + b"!")
    assert not verify(Signer.generate().public_key, signature, MESSAGE)


def test_the_high_s_twin_is_refused() -> None:
    signature = SIGNER.sign(MESSAGE)
    assert int(signature[64:], 16) <= ORDER // 2
    assert not verify(SIGNER.public_key, high_s_twin(signature), MESSAGE)


@pytest.mark.parametrize(
    "signature",
    [
        "",
        "00" * 64,
        "ff" * 64,
        "00" * 32 + "01" * 32,
        "01" * 32 + "00" * 32,
        "ff" * 32 + "01" * 32,
        SIGNER.sign(MESSAGE).upper(),
        SIGNER.sign(MESSAGE) + "00",
        SIGNER.sign(MESSAGE) + "\n",
        SIGNER.sign(MESSAGE)[:-2],
    ],
)
def test_a_malformed_signature_is_simply_not_valid(signature: str) -> None:
    assert not verify(SIGNER.public_key, signature, MESSAGE)


@pytest.mark.parametrize(
    "public_key",
    [
        "",
        "02" + "00" * 32,
        "02" + "ff" * 32,
        "04" + SIGNER.public_key[2:],
        SIGNER.public_key.upper(),
        SIGNER.public_key + "\n",
        SIGNER.public_key[:-1],
        "é" * 66,
    ],
)
def test_a_malformed_public_key_signs_nothing(public_key: str) -> None:
    assert not verify(public_key, SIGNER.sign(MESSAGE), MESSAGE)


@pytest.mark.parametrize(
    "text",
    ["", "1" * 63, "1" * 65, "z" * 64, "0" * 64, f"{ORDER:064x}", "11 " * 20 + "1111"],
)
def test_a_private_key_of_wrong_form_is_refused_and_not_echoed(text: str) -> None:
    with pytest.raises(RejectedError, match="64 hexadecimal digits") as caught:
        Signer.from_hex(text)
    assert not text or text not in str(caught.value)


def test_a_private_key_is_in_no_repr() -> None:
    assert "11" * 8 not in repr(SIGNER)


def test_a_saved_key_loads_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "device.key"
    SIGNER.save(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert Signer.load(path).public_key == SIGNER.public_key
    assert names(tmp_path) == ["device.key"]


def test_a_key_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "device.key"
    SIGNER.save(path)
    with pytest.raises(RejectedError, match="not overwritten"):
        Signer.generate().save(path)
    assert Signer.load(path).public_key == SIGNER.public_key
    assert names(tmp_path) == ["device.key"]


SAVE_WITHOUT_ROOM = """
import resource, signal, sys
from pathlib import Path
from contracts.errors import UnavailableError
from contracts.keys import Signer
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
try:
    Signer.generate().save(Path(sys.argv[1]))
except UnavailableError as error:
    print(error)
"""


def test_a_full_disk_leaves_no_half_key(tmp_path: Path) -> None:
    path = tmp_path / "device.key"
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", SAVE_WITHOUT_ROOM, str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith(f"key file {path}: ")
    assert names(tmp_path) == []


def test_a_key_is_made_once(tmp_path: Path) -> None:
    path = tmp_path / "new" / "device.key"
    made = Signer.load_or_create(path)
    assert Signer.load_or_create(path).public_key == made.public_key


@pytest.mark.parametrize("content", [b"", b"no key", b"\xff" * 64, b"1" * 64 + b" " + b"1" * 64])
def test_a_damaged_key_file_is_one_clear_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "device.key"
    path.write_bytes(content)
    with pytest.raises(RejectedError, match=r"device\.key"):
        Signer.load(path)


def test_a_missing_key_file_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(RejectedError, match="No such file"):
        Signer.load(tmp_path / "none")


def test_parsed_keys_are_kept_up_to_a_limit() -> None:
    texts = [Signer.from_hex(f"{number:064x}").public_key for number in range(1, 10)]
    assert all(point(text) is not None for text in texts)
    assert point(texts[0]) is point(texts[0])
    assert point.cache_info().maxsize is not None
