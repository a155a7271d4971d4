"""`docker compose` 2.29.7, built from its module once: no package registry has the plugin."""

import os
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from contracts.runtime.files import in_turn
from support.project.pages import ROOT

VERSION: Final = "v2.29.7"
_MODULE: Final = "github.com/docker/compose/v2"
_KEPT: Final = ROOT / "build" / "field" / "tools" / f"docker-compose-{VERSION}"
_BUILD_TIMEOUT_S: Final = 1800
_IMPORTS: Final = f'//go:build tools\n\npackage tools\n\nimport _ "{_MODULE}/cmd"\n'


def docker_compose() -> Path:
    """Return the plugin's path; the first call builds it, which takes minutes."""
    _KEPT.parent.mkdir(parents=True, exist_ok=True)
    with in_turn(_KEPT.with_name("docker-compose.lock")):
        if not _KEPT.exists():
            _build()
    return _KEPT


def _build() -> None:
    go = shutil.which("go")
    assert go, "expected go on the PATH: it builds docker compose for the tests"
    with TemporaryDirectory() as name:
        module = Path(name)
        # `go install` refuses a module that excludes others, so a module of our own imports it.
        (module / "tools.go").write_text(_IMPORTS, "utf-8")
        for words in (
            ("mod", "init", "wayseal.example/tools"),
            ("get", f"{_MODULE}@{VERSION}"),
            ("mod", "tidy"),
            ("build", "-trimpath", "-ldflags", _linked(), "-o", "docker-compose", f"{_MODULE}/cmd"),
        ):
            subprocess.run(  # noqa: S603 - arguments of ours
                [go, *words],
                check=True,
                cwd=module,
                env=os.environ | {"GOFLAGS": "-mod=mod"},
                timeout=_BUILD_TIMEOUT_S,
            )
        shutil.copy2(module / "docker-compose", _KEPT.with_suffix(".new"))
        _KEPT.with_suffix(".new").replace(_KEPT)


def _linked() -> str:
    return f"-s -w -X {_MODULE}/internal.Version={VERSION}"
