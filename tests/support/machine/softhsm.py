"""A PKCS#11 token in software, SoftHSM 2, in a folder of its own."""

import os
import subprocess
from pathlib import Path
from typing import Any, Final

import pkcs11
import pytest
from pkcs11.util.ec import encode_named_curve_parameters

from gateway.tlssettings import HsmSettings
from support.machine.private import write_private

MODULE: Final = Path("/usr/lib/softhsm/libsofthsm2.so")
TOKEN: Final = "wayseal"  # noqa: S105 - a label
PIN: Final = "123456"
KEY: Final = "receipts"


class SoftHsm:
    """The tokens of this process: the library reads where they are when it is loaded."""

    def __init__(self, folder: Path) -> None:
        if not MODULE.exists():
            pytest.fail(f"{MODULE} is not installed; `make test` installs it")
        self.folder = folder
        self.tokens = folder / "tokens"
        self.tokens.mkdir()
        self.configuration = folder / "softhsm2.conf"
        self.configuration.write_text(f"directories.tokendir = {self.tokens}\nlog.level = ERROR\n")
        os.environ["SOFTHSM2_CONF"] = str(self.configuration)
        self.pin_file = write_private(folder / "pin", f"{PIN}\n")
        self.initialise(TOKEN)
        self.make_key(KEY)

    def initialise(self, label: str) -> None:
        words = ("--init-token", "--free", "--label", label, "--so-pin", "87654321", "--pin", PIN)
        subprocess.run(["softhsm2-util", *words], check=True, capture_output=True)  # noqa: S603, S607

    def reload(self) -> None:
        """Have this process see the tokens as they are; all its sessions end."""
        library: Any = pkcs11.lib(str(MODULE))
        library.reinitialize()

    def make_key(self, label: str, curve: str = "secp256k1") -> None:
        """Make a key pair on a curve."""
        self.reload()
        library: Any = pkcs11.lib(str(MODULE))
        with library.get_token(token_label=TOKEN).open(user_pin=PIN, rw=True) as session:
            parameters = session.create_domain_parameters(
                pkcs11.KeyType.EC,
                {pkcs11.Attribute.EC_PARAMS: encode_named_curve_parameters(curve)},
                local=True,
            )
            parameters.generate_keypair(store=True, label=label)

    def settings(self, **other: object) -> HsmSettings:
        given = {"module": MODULE, "token": TOKEN, "key": KEY, "pin_file": self.pin_file}
        return HsmSettings.model_validate(given | other)

    def variables(self) -> dict[str, str]:
        """Return the environment of a gateway whose key is in the token."""
        ours = self.settings()
        return {
            "SOFTHSM2_CONF": str(self.configuration),
            "WAYSEAL_HSM__MODULE": str(ours.module),
            "WAYSEAL_HSM__TOKEN": ours.token,
            "WAYSEAL_HSM__KEY": ours.key,
            "WAYSEAL_HSM__PIN_FILE": str(ours.pin_file),
        }
