"""Debian packages of the roles: the same commit gives the same bytes.

Made with Debian's own `dpkg-deb` from a tree of files; debhelper would bring nothing that the few
scripts in `release/debian/` lack, and would want a Debian source package.
"""

import gzip
import os
import re
import shutil
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from release.environment import PYTHON, place_of
from release.failure import run
from release.roles import Role
from release.source import Source

ROLES: Final = ("gateway", "node", "device", "verify")
ARCHITECTURES: Final = ("amd64", "arm64")
_SCRIPTS: Final = Path(__file__).parent / "debian"
_LIBRARIES: Final = {
    b"libstdc++.so.6": "libstdc++6",
    b"libgcc_s.so.1": "libgcc-s1",
    b"libz.so.1": "zlib1g",
}
"""What compiled modules of our wheels load from the system, and its package."""
_RECOMMENDED: Final = {"gateway": "mosquitto, nvme-cli, smartmontools"}
_PRIORITIES: Final = {"gateway": 50, "verify": 100}
"""Of a command that several packages have: the higher one is in /usr/bin."""
_COMPRESSION: Final = ("-Zzstd", "-z9", "--threads-max=1")
_CONTROL: Final = """\
Package: wayseal-{role}
Version: {version}
Architecture: {architecture}
Maintainer: The Wayseal authors <authors@wayseal.invalid>
Installed-Size: {size_kib}
Depends: {depends}
{recommends}Section: net
Priority: optional
Description: Wayseal for {user}
{description}
"""


@dataclass(frozen=True, slots=True)
class Package:
    """One package to make."""

    source: Source
    role: Role
    architecture: str
    commands: tuple[str, ...]
    """Those that no other package has."""
    shared: tuple[str, ...]
    """Those that another package has, too."""

    @property
    def file_name(self) -> str:
        """The package's file, named as apt does."""
        version = self.source.debian_version
        return f"wayseal-{self.role.name}_{version}_{self.architecture}.deb"

    @property
    def units(self) -> list[Path]:
        """The units that start something of this role, with their timers."""
        started = f"ExecStart=/{place_of(self.role)}/"
        found = []
        for unit in sorted((self.source.root / "deploy" / "systemd").glob("*.service")):
            if started in unit.read_text("utf-8"):
                found += [unit, *unit.parent.glob(f"{unit.stem}.timer")]
        return found

    @property
    def examples(self) -> list[Path]:
        """The examples of settings for this role."""
        return sorted(
            (self.source.root / "deploy" / "settings").glob(f"{self.role.name}.*.example")
        )


def packages(source: Source, roles: dict[str, Role], architecture: str) -> list[Package]:
    """Return the packages to make for an architecture."""
    chosen = [roles[name] for name in ROLES]
    all_commands = [command for role in chosen for command in role.commands]
    return [
        Package(
            source,
            role,
            architecture,
            tuple(each for each in role.commands if all_commands.count(each) == 1),
            tuple(each for each in role.commands if all_commands.count(each) > 1),
        )
        for role in chosen
    ]


def build(package: Package, tree: Path, out: Path) -> Path:
    """Make a package from `tree`, which has the role's environment, and return its path.

    Raises:
        ReleaseError: dpkg-deb is missing or fails.
    """
    _add_system_files(package, tree)
    _normalize(tree, package.source.epoch_s)
    _add_control(package, tree)
    _normalize(tree, package.source.epoch_s)
    made = out / package.file_name
    run(
        ["dpkg-deb", *_COMPRESSION, "--root-owner-group", "--build", tree, made],
        env=os.environ | {"SOURCE_DATE_EPOCH": str(package.source.epoch_s)},
    )
    return made


def _add_system_files(package: Package, tree: Path) -> None:
    name, root = f"wayseal-{package.role.name}", package.source.root
    binaries = _folder(tree / "usr/bin")
    for command in package.commands:
        (binaries / command).symlink_to(f"/{place_of(package.role)}/bin/{command}")
    for unit in package.units:
        shutil.copy(unit, _folder(tree / "usr/lib/systemd/system"))
    for example in package.examples:
        shutil.copy(example, _folder(tree / "etc/wayseal"))
    users = (root / "deploy/sysusers.d/wayseal.conf").read_text("utf-8")
    if own := re.findall(rf"(?m)^u {name} .*\n", users):
        (_folder(tree / "usr/lib/sysusers.d") / f"{name}.conf").write_text("".join(own), "utf-8")
    documents = _folder(tree / "usr/share/doc" / name)
    shutil.copy(root / "LICENSE", documents / "copyright")
    changes = (root / "CHANGELOG.md").read_bytes()
    (documents / "changelog.gz").write_bytes(gzip.compress(changes, mtime=0))


def _folder(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    return path


def _add_control(package: Package, tree: Path) -> None:
    folder = _folder(tree / "DEBIAN")
    recommended = _RECOMMENDED.get(package.role.name)
    text = _CONTROL.format(
        role=package.role.name,
        version=package.source.debian_version,
        architecture=package.architecture,
        size_kib=sum(path.lstat().st_size for path in tree.rglob("*") if path.is_file()) // 1024,
        depends=", ".join(_needed(package, tree)),
        recommends=f"Recommends: {recommended}\n" if recommended else "",
        user=package.role.user,
        description=_description(package),
    )
    (folder / "control").write_text(text, "utf-8")
    kept = [f"/etc/wayseal/{example.name}\n" for example in package.examples]
    if kept:
        (folder / "conffiles").write_text("".join(kept), "utf-8")
    for script in ("preinst", "postinst", "prerm", "postrm"):
        path = folder / script
        path.write_text(_script(package, script), "utf-8")
        path.chmod(0o755)


def _needed(package: Package, tree: Path) -> list[str]:
    """Return what the package depends on."""
    major, minor = PYTHON
    needed = [
        f"python3 (>= {major}.{minor})",
        f"python3 (<< {major}.{minor + 1})",
        "libc6 (>= 2.36)",
    ]
    modules = [path.read_bytes() for path in sorted(tree.rglob("*.so*")) if path.is_file()]
    needed += [
        name for soname, name in _LIBRARIES.items() if any(soname in each for each in modules)
    ]
    if package.units:
        needed += ["systemd | systemd-standalone-sysusers", "init-system-helpers (>= 1.54)"]
    return needed


def _description(package: Package) -> str:
    text = (
        "Records what happens to goods on the way, so that any later change shows. "
        f"This package has {', '.join(package.role.commands)} in an environment of its own in "
        f"/{place_of(package.role)}. Made from commit {package.source.commit}."
    )
    return textwrap.indent(textwrap.fill(text, 78, break_on_hyphens=False), " ")


def _script(package: Package, name: str) -> str:
    """Return a script that dpkg runs."""
    settings = [f"/etc/wayseal/{each.name.removesuffix('.example')}" for each in package.examples]
    read = [word for unit in package.units for word in _reads(unit)]
    values = {
        "ROLE": package.role.name,
        "COMMANDS": " ".join(package.role.commands),
        "SHARED": " ".join(package.shared),
        "UNITS": " ".join(unit.name for unit in package.units),
        "NEEDED": " ".join(settings),
        "SETTINGS": " ".join(dict.fromkeys([*settings, *read])),
        "PRIORITY": str(_PRIORITIES.get(package.role.name, 10)),
    }
    text = "".join((_SCRIPTS / part).read_text("utf-8") for part in ("functions.sh", f"{name}.sh"))
    for key, value in values.items():
        text = text.replace(f"@{key}@", value)
    return f"#!/bin/sh\n# {name} of wayseal-{package.role.name}, made from release/debian/\n{text}"


def _reads(unit: Path) -> list[str]:
    """Return the files in /etc/wayseal that a unit reads."""
    lines = [
        line
        for line in unit.read_text("utf-8").splitlines()
        if line.startswith(("ExecStart=", "EnvironmentFile="))
    ]
    return re.findall(r"/etc/wayseal/[\w.-]+", " ".join(lines))


def _normalize(tree: Path, epoch_s: int) -> None:
    """Give every file the commit's time and one of two modes, whatever umask made it."""
    for path in [tree, *tree.rglob("*")]:
        if not path.is_symlink():
            kept = path.parent.name in ("bin", "DEBIAN") and path.stat().st_mode & 1
            runs = path.is_dir() or kept
            path.chmod(0o755 if runs else 0o644)
        os.utime(path, (epoch_s, epoch_s), follow_symlinks=False)
