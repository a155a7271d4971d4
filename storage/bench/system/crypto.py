"""Signatures and digests: libsecp256k1 as we use it, the rest as `openssl speed` measures it."""

import re
import time
from collections.abc import Callable
from typing import Final

from contracts.errors import UnavailableError
from contracts.keys import Signer, verify
from storage.bench.run.outcome import Metric, Observation, Outcome, Work
from storage.bench.run.plan import Place
from storage.bench.system.tools import said
from storage.drives.tools import Run

SIGN: Final = Metric("sign", "1/s")
VERIFY: Final = Metric("verify", "1/s")
DIGEST: Final = Metric("digest", "B/s")
MESSAGE: Final = bytes(64)
"""As long as the paper's. Source: papers/000, section 4.2."""
DIGEST_BLOCK: Final = 1 << 20
"""The size of a blob."""
_AT_ONCE: Final = 100
"""Operations between two readings of the clock."""
_SIGNED: Final = re.compile(r"^\+F4:\d+:256:([\d.]+):([\d.]+)$", re.MULTILINE)
_DIGESTED: Final = re.compile(r"^\+F:\d+:sha256:([\d.]+)$", re.MULTILINE)


def secp256k1(seconds: float, place: Place) -> Outcome:
    """Sign and verify on one core with the library of gateways and devices.

    Raises:
        UnavailableError: A signature does not verify.
    """
    signer = Signer.generate()
    signature = signer.sign(MESSAGE)
    if not verify(signer.public_key, signature, MESSAGE):
        raise UnavailableError("expected a signature that verifies, got one that does not")
    with place.counted():
        observations = [
            Observation(SIGN, _per_s(lambda: signer.sign(MESSAGE), seconds)),
            Observation(
                VERIFY, _per_s(lambda: verify(signer.public_key, signature, MESSAGE), seconds)
            ),
        ]
    return Outcome(observations)


def p256(run: Run, seconds: int, place: Place) -> Outcome:
    """Sign and verify on one core with openssl.

    Raises:
        UnavailableError: openssl failed.
    """
    command = ("openssl", "speed", "-elapsed", "-mr", "-seconds", str(seconds), "ecdsap256")
    with place.counted():
        out = said(run, command, 2 * seconds).out
    signed, verified = _found(_SIGNED, out)
    return Outcome(
        [Observation(SIGN, float(signed)), Observation(VERIFY, float(verified))],
        attachments={"openssl.txt": out.encode()},
    )


def sha256(run: Run, seconds: int, place: Place) -> Outcome:
    """Digest blocks on one core with openssl.

    Raises:
        UnavailableError: openssl failed.
    """
    command = (
        *("openssl", "speed", "-elapsed", "-mr", "-seconds", str(seconds)),
        *("-bytes", str(DIGEST_BLOCK), "-evp", "sha256"),
    )
    with place.counted():
        out = said(run, command, seconds).out
    rate = float(_found(_DIGESTED, out)[0])
    return Outcome(
        [Observation(DIGEST, rate)],
        attachments={"openssl.txt": out.encode()},
        work=Work(bytes_moved=int(rate * seconds)),
    )


def _per_s(operation: Callable[[], object], seconds: float) -> float:
    start_s, count = time.monotonic(), 0
    while (elapsed_s := time.monotonic() - start_s) < seconds or not count:
        for _ in range(_AT_ONCE):
            operation()
        count += _AT_ONCE
    return count / elapsed_s


def _found(pattern: re.Pattern[str], out: str) -> tuple[str, ...]:
    match = pattern.search(out)
    if match is None:
        raise UnavailableError(f"openssl answered in an unknown form: {out[-300:]!r}")
    return match.groups()
