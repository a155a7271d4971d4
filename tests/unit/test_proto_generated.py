"""The committed protobuf code is what the .proto files beside it generate."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_generated_code_is_current(tmp_path: Path) -> None:
    protos = sorted(path.relative_to(ROOT) for path in (ROOT / "contracts/proto").glob("*.proto"))
    command = [sys.executable, "-m", "grpc_tools.protoc", "-I.", f"--python_out={tmp_path}"]
    subprocess.run(  # noqa: S603  # our own files
        [*command, f"--pyi_out={tmp_path}", *map(str, protos)], cwd=ROOT, check=True
    )
    made = {path.relative_to(tmp_path): path.read_text() for path in tmp_path.rglob("*.py*")}
    assert len(made) == 2 * len(protos)
    for name, text in made.items():
        assert (ROOT / name).read_text() == text, f"{name} is stale: run `make proto`"
