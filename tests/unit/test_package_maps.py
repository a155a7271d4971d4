"""The packages with many modules say which module is about what."""

import re

import pytest

from support.project.pages import ROOT


@pytest.mark.parametrize("package", ["contracts/evidence", "contracts/rules"])
def test_a_package_s_map_names_each_of_its_modules(package: str) -> None:
    folder = ROOT / package
    text = (folder / "__init__.py").read_text("utf-8")
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    assert modules - set(re.findall(r"`(\w+)`", text)) == set()
