"""The wording of findings is part of the state, so it never changes within family version 1.0.

Another wording changes state roots: nodes of two versions would disagree, and earlier evidence
would no longer verify. A better text needs a new version of the family.
"""

import ast
from collections.abc import Iterator

import pytest

from contracts.rules.ids import Rule
from support.project.pages import ROOT

GOLDEN = ROOT / "tests" / "golden" / "findings.txt"
BLANK = ast.Name("_")


class Anonymous(ast.NodeTransformer):
    """Blanks out what a value is called, and keeps how it is written: `{_.hex()[:16]}`."""

    def visit_Name(self, _: ast.Name) -> ast.Name:
        return BLANK

    def visit_Attribute(self, _: ast.Attribute) -> ast.Name:
        return BLANK

    def visit_Call(self, node: ast.Call) -> ast.AST:
        function = node.func
        if isinstance(function, ast.Attribute):  # a method, such as hex()
            node.func = ast.Attribute(self.visit(function.value), function.attr)
        else:
            node.func = self.visit(function)
        node.args = [self.visit(each) for each in node.args]
        return node


def texts(source: str) -> Iterator[str]:
    """Yield each rule with the text beside it, without the names of the code's variables."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Attribute(attr="add"), args=[rule, text, *_]):
                pass
            case ast.Tuple(elts=[rule, (ast.JoinedStr() | ast.Constant()) as text]):
                pass
            case _:
                continue
        if isinstance(rule, ast.Attribute) and ast.unparse(rule.value) == "Rule":
            words = ast.unparse(Anonymous().visit(text))
            yield f"{Rule[rule.attr]}: {words.removeprefix('f')}"


def test_findings_are_worded_as_they_always_were() -> None:
    rules = sorted((ROOT / "contracts" / "rules").glob("*.py"))
    found = [text for path in rules for text in texts(path.read_text("utf-8"))]
    assert sorted(found) == GOLDEN.read_text("utf-8").splitlines()


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ('f"{party.id} closed it"', "'{_} closed it'"),
        ('f"{p} closed it"', "'{_} closed it'"),
        ('"nobody closed it"', "'nobody closed it'"),
        ('f"key {made.key.hex()[:16]}"', "'key {_.hex()[:16]}'"),
        ("f\"{name(made.by or 'nobody')}\"", "\"{_(_ or 'nobody')}\""),
    ],
)
def test_a_text_does_not_depend_on_the_names_of_variables(written: str, text: str) -> None:
    (found,) = texts(f"notes.add(Rule.AFTER_CLOSE, {written}, 3)")
    assert found == f"after-close: {text}"
