"""Builds the optional extension `storage.hashing._native` while the project is installed.

It is built where a C compiler and Python's headers are; a wheel is then for this platform alone.
WAYSEAL_NATIVE=1 ends the installation if it cannot be built, WAYSEAL_NATIVE=0 leaves it out.
"""

import os
import platform
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any, Final

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCE: Final = Path("storage/hashing/_native.c")
BUILT: Final = SOURCE.with_suffix(".abi3.so")
WANTED: Final = "WAYSEAL_NATIVE"


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]  # hatchling's own
    """Compiles the extension before hatchling collects its files."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """See hatchling's `BuildHookInterface.initialize`."""
        wanted = os.environ.get(WANTED)
        trouble = f"{WANTED}=0" if wanted == "0" else self._compile()
        if trouble and wanted == "1":
            self.app.abort(f"{WANTED}=1 asks for {BUILT}, which cannot be built: {trouble}")
        if trouble:
            self.app.display_warning(f"{BUILT} is not built: {trouble}")
        elif version != "editable":
            build_data["artifacts"].append(f"/{BUILT}")
            build_data["pure_python"] = False
            build_data["tag"] = f"cp311-abi3-{sysconfig.get_platform().replace('-', '_')}"

    def _compile(self) -> str:
        """Compile the extension; return why that is not possible, or nothing."""
        compiler = shutil.which(os.environ.get("CC", "cc"))
        headers = Path(sysconfig.get_paths()["include"])
        if platform.machine() not in {"x86_64", "AMD64"}:
            return f"it is for x86-64, and this is {platform.machine()}"
        if compiler is None:
            return "no C compiler"
        if not (headers / "Python.h").exists():
            return f"no Python.h in {headers}"
        root = Path(self.root)
        making = root / BUILT.with_suffix(f".{os.getpid()}")
        done = subprocess.run(  # noqa: S603 - our own words
            [compiler, "-O2", "-shared", "-fPIC", f"-I{headers}", "-o", making, root / SOURCE],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            making.unlink(missing_ok=True)
            return f"{compiler} ends with {done.returncode}: {done.stderr.strip()}"
        making.replace(root / BUILT)
        return ""
