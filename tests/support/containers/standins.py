"""Images that stand in for the official ones, made of Debian's packages: no registry is needed.

Their root file systems are cached in build/field/base, the images in the engine's own cache.
"""

import hashlib
import io
import json
import shutil
import subprocess
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from storage.bench.servers.cassandra.artifacts import installed
from storage.bench.servers.cassandra.config import MODULE_FLAGS
from support.containers.engine import CACHE, Engine
from support.project.pages import ROOT

VARIABLES: Final = {
    "PYTHON_IMAGE": "wayseal-test/debian-python:12",
    "MOSQUITTO_IMAGE": "wayseal-test/mosquitto",
    "CASSANDRA_IMAGE": "wayseal-test/cassandra",
    "CASSANDRA_HEAP": "512M",
    "COMETBFT_IMAGE": "wayseal-test/cometbft",
    "PROMETHEUS_IMAGE": "wayseal-test/prometheus",
    "ALERTMANAGER_IMAGE": "wayseal-test/alertmanager",
    "SAWTOOTH_VALIDATOR_IMAGE": "wayseal-test/validator",
}
"""What docker-compose.yml is told instead of the official names."""
PACKAGES: Final = {
    "python": "python3,python3-venv",
    # wget as in the official images of Prometheus, whose health is asked with it.
    "servers": "mosquitto,openjdk-17-jre-headless,prometheus,prometheus-alertmanager,wget",
}
"""By root file system: ours runs on the first one, which has no more than the official image."""
BASE: Final = (
    "base-files,base-passwd,bash,coreutils,dash,findutils,grep,gzip,libc-bin,libstdc++6,login,passwd,"
    "sed,tar"
)
USERS: Final = """\
--customize-hook=set -e
for each in passwd group; do cp "$1/usr/share/base-passwd/$each.master" "$1/etc/$each"; done"""
"""For another processor, packages are unpacked and not configured: QEMU took minutes for that."""
_SERVERS: Final = ("mosquitto", "cassandra", "prometheus", "alertmanager")
_MIRROR: Final = "http://deb.debian.org/debian"
_IMAGES: Final = Path(__file__).with_name("images")


def provide(engine: Engine, *names: str) -> None:
    """Make sure that the engine has these images: python, mosquitto, cassandra..."""
    for name in names:
        if name == "python":
            _import(engine, "python")
            continue
        if name in _SERVERS:
            _import(engine, "servers")
        _build(engine, name)


def provide_python(engine: Engine, architecture: str) -> str:
    """Return the image of Python for another processor, whose programs this machine can run."""
    return _import(engine, "python", architecture)


def _import(engine: Engine, name: str, architecture: str = "") -> str:
    image = f"wayseal-test/debian-{name}:12" + (f"-for-{architecture}" if architecture else "")
    if not engine.run("docker", "images", "--quiet", image):
        root = _root(name, architecture)
        if architecture:
            _load(engine, root, image, architecture)
        else:
            engine.run("docker", "import", root, image)
    return image


def _load(engine: Engine, root: Path, image: str, architecture: str) -> None:
    """Load an image for another processor: `docker import` always names this machine's.

    Source: the image specification of Docker, 1.2, "Combined Image JSON + Filesystem".
    """
    with root.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    about = {
        "architecture": architecture,
        "os": "linux",
        "config": {},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
    }
    listed = [{"Config": "image.json", "RepoTags": [image], "Layers": ["layer.tar"]}]
    with TemporaryDirectory(dir=CACHE) as made:
        archive = Path(made, "image.tar")
        with tarfile.open(archive, "w") as files:
            for member, content in (("image.json", about), ("manifest.json", listed)):
                wire = json.dumps(content).encode()
                header = tarfile.TarInfo(member)
                header.size = len(wire)
                files.addfile(header, io.BytesIO(wire))
            files.add(root, "layer.tar")
        engine.run("docker", "load", "--quiet", "--input", archive)


def _root(name: str, architecture: str) -> Path:
    """Return a root file system; the first call makes it from Debian's packages.

    Args:
        name: In `PACKAGES`.
        architecture: Debian's word for it; empty for that of this machine.
    """
    other = f"-{architecture}" if architecture else ""
    kept = CACHE / "base" / f"{name}{other}.tar"
    if kept.exists():
        return kept
    kept.parent.mkdir(parents=True, exist_ok=True)
    made = kept.with_suffix(".new")
    words = ["--variant=minbase", f"--include={PACKAGES[name]}"]
    if architecture:
        included = f"--include={BASE},{PACKAGES[name]}"
        words = ["--variant=extract", included, USERS, f"--architectures={architecture}"]
    program = shutil.which("mmdebstrap")
    assert program, "scripts/packages mmdebstrap"
    subprocess.run(  # noqa: S603 - arguments of ours
        [program, "--format=tar", *words, "bookworm", made, _MIRROR],
        check=True,
        capture_output=True,
    )
    return made.replace(kept)


def _build(engine: Engine, name: str) -> None:
    with TemporaryDirectory(dir=CACHE) as made:
        context = Path(made)
        shutil.copytree(_IMAGES, context, dirs_exist_ok=True)
        (context / "jvm17-server.options").write_text("\n".join(MODULE_FLAGS) + "\n", "utf-8")
        if name == "validator":
            shutil.copytree(ROOT / "tests" / "support", context / "support")
        if name == "cometbft":
            shutil.copy(_cometbft(), context / "cometbft")
        if name == "cassandra":
            shutil.copytree(installed(ROOT / "build" / "cassandra"), context / "lib")
        file = context / f"{name}.Dockerfile"
        words = (
            "build",
            "--quiet",
            "--network=none",
            f"--tag=wayseal-test/{name}",
            f"--file={file}",
        )
        engine.run("docker", *words, context, DOCKER_BUILDKIT="0")


def _cometbft() -> Path:
    """Return the program, which `scripts/cometbft` provides."""
    subprocess.run([ROOT / "scripts" / "cometbft"], check=True)  # noqa: S603 - our own script
    built = ROOT / "build" / "cometbft" / "bin" / "cometbft"
    found = built if built.exists() else shutil.which("cometbft")
    assert found, "scripts/cometbft"
    return Path(found)
