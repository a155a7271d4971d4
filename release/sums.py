"""Checksums of all files of a release, and the signature over them.

The signature is ssh-keygen's: Debian's openssh-client checks it, on any release, with one line and
without a keyring. An Ed25519 key signs the same bytes the same way, so a signed release is
reproducible too.
"""

from hashlib import sha256
from pathlib import Path
from typing import Final

from release.failure import ReleaseError, run

SUMS: Final = "SHA256SUMS"
IDENTITY: Final = "release@wayseal"
"""Who signs, in an operator's file of allowed signers."""
NAMESPACE: Final = "wayseal"
"""What the signature is for: ssh-keygen takes it for nothing else."""


def write(folder: Path) -> Path:
    """Write `SHA256SUMS` over the files in a folder, in the form of `sha256sum`."""
    lines = []
    for path in sorted(folder.iterdir()):
        if path.name not in (SUMS, f"{SUMS}.sig"):
            with path.open("rb") as file:
                digest = sha256()
                while piece := file.read(1 << 20):
                    digest.update(piece)
            lines.append(f"{digest.hexdigest()}  {path.name}\n")
    made = folder / SUMS
    made.write_text("".join(lines), "utf-8")
    return made


def sign(sums: Path, key: Path) -> Path:
    """Sign the checksums with an OpenSSH private key.

    Raises:
        ReleaseError: The key is missing, is not Ed25519, or ssh-keygen refuses it.
    """
    if not key.is_file():
        raise ReleaseError(f"{key} is not a file: `ssh-keygen -t ed25519 -f {key}` makes a key")
    public = run(["ssh-keygen", "-y", "-f", key]).decode().split()
    if public[0] != "ssh-ed25519":
        raise ReleaseError(f"expected an ssh-ed25519 key in {key}, got {public[0]}")
    made = sums.with_name(f"{sums.name}.sig")
    made.unlink(missing_ok=True)  # ssh-keygen would ask
    run(["ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", NAMESPACE, sums])
    return made


def signer_of(key: Path) -> str:
    """Return the line that an operator puts into a file of allowed signers."""
    kind, public = run(["ssh-keygen", "-y", "-f", key]).decode().split()[:2]
    return f'{IDENTITY} namespaces="{NAMESPACE}" {kind} {public}'
