"""`make release`: builds everything that operators install, from one commit."""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

from release import debian, environment, images, sbom, source, sums, wheels
from release.failure import ReleaseError
from release.roles import read_roles

_CHECKOUT: Final = Path(__file__).parents[1]
_SBOM_TOOL: Final = _CHECKOUT / "build/tools/release/bin/cyclonedx-py"


def main() -> int:
    """Make a release; return the exit status: 0 made, 1 failed, 2 wrong usage."""
    options = _parse()
    try:
        if options.out.exists():
            _check_ours(options.out)
        with tempfile.TemporaryDirectory(prefix="wayseal-release-") as work:
            _make(options, Path(work))
    except ReleaseError as error:
        print(f"release: failed: {error}", file=sys.stderr)
        return 1
    return 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make release", description=__doc__)
    parser.add_argument("--checkout", type=Path, default=_CHECKOUT, help="whose newest commit")
    parser.add_argument("--out", type=Path, default=Path("dist"), help="replaced; default: dist")
    parser.add_argument("--key", type=Path, help="OpenSSH private key, Ed25519, to sign with")
    parser.add_argument(
        "--arch",
        nargs="+",
        choices=debian.ARCHITECTURES,
        default=debian.ARCHITECTURES,
        help="of the Debian packages; default: all",
    )
    parser.add_argument(
        "--roles", nargs="+", choices=debian.ROLES, default=debian.ROLES, help="default: all"
    )
    parser.add_argument("--no-images", action="store_true", help="leave containers' images out")
    parser.add_argument("--no-sbom", action="store_true", help="leave the SBOMs out")
    return parser.parse_args()


def _say(text: str) -> None:
    print(f"release: {text}", flush=True)


def _make(options: argparse.Namespace, work: Path) -> None:
    environment.check_python()
    made_from = source.export(options.checkout, work / "source")
    _say(f"{made_from.debian_version} from commit {made_from.commit}")
    if left := source.changed(options.checkout):
        _say(f"NOT IN IT: {len(left)} uncommitted changes, such as {left[0]}")
    out = work / "out"
    out.mkdir()
    wheels.build(made_from, out, native=True)
    for architecture in options.arch:
        _make_packages(options, made_from, architecture, out, work)
    _make_images(options, made_from, out)
    names = sums.write(out)
    if options.key:
        sums.sign(names, options.key)
    _replace(options.out, out)
    _tell(options)


def _make_packages(
    options: argparse.Namespace,
    made_from: source.Source,
    architecture: str,
    out: Path,
    work: Path,
) -> None:
    """Make the Debian packages and, once, what they consist of."""
    wheel = wheels.wheel_for(out, architecture)
    for package in debian.packages(made_from, read_roles(made_from.root), architecture):
        if package.role.name not in options.roles:
            continue
        tree = work / f"{package.role.name}-{architecture}"
        environment.make(made_from, package.role, architecture, wheel, tree)
        if architecture == options.arch[0] and not options.no_sbom:
            sbom.write(made_from, package.role, tree, _SBOM_TOOL, out)
        debian.build(package, tree, out)
        shutil.rmtree(tree)
        _say(f"made {package.file_name}")


def _make_images(options: argparse.Namespace, made_from: source.Source, out: Path) -> None:
    engine, why_not = ("", "--no-images") if options.no_images else images.engine(made_from)
    if not engine:
        _say(f"NOT IN IT: containers' images: {why_not}")
        return
    for file in images.build(made_from, engine, out):
        _say(f"made {file.name}")


def _replace(folder: Path, made: Path) -> None:
    """Put what was made into its folder, whole: a failure before this leaves the old one."""
    if folder.exists():
        _check_ours(folder)
        shutil.rmtree(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(made, folder)


def _check_ours(folder: Path) -> None:
    """Refuse to replace a folder that holds something else than a release."""
    if any(folder.iterdir()) and not (folder / sums.SUMS).is_file():
        raise ReleaseError(f"{folder} holds other files than a release: name another --out")


def _tell(options: argparse.Namespace) -> None:
    if options.no_sbom:
        _say("NOT IN IT: SBOMs: --no-sbom")
    if options.key:
        _say(f"signed; operators need this line: {sums.signer_of(options.key)}")
    else:
        _say("NOT SIGNED: make release KEY=file signs with an OpenSSH key")
    _say(f"{len(list(options.out.iterdir()))} files in {options.out}")


if __name__ == "__main__":
    sys.exit(main())
