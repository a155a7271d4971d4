"""docs/contract.md names every rule, in order, with its effect, and no other."""

import re
from pathlib import Path

from contracts.rules.ids import Rule

PAGE = Path(__file__).parent.parent.parent / "docs" / "contract.md"
ROW = re.compile(r"^\| `([a-z-]+)` \| (invalid|finding) \| .+ \|$", re.MULTILINE)
FIRST_FINDING = list(Rule).index(Rule.KEY_REVOKED)


def test_the_table_of_rules_is_the_code_s() -> None:
    rows = ROW.findall(PAGE.read_text("utf-8").split("## Rules", 1)[1])
    assert [rule for rule, _ in rows] == [str(rule) for rule in Rule]
    for place, (_, effect) in enumerate(rows):
        assert effect == ("invalid" if place < FIRST_FINDING else "finding")


def test_the_page_names_no_rule_that_does_not_exist() -> None:
    named = set(
        re.findall(r"\(`([a-z]+(?:-[a-z]+)+)`(?:, `([a-z-]+)`)?\)", PAGE.read_text("utf-8"))
    )
    assert {rule for pair in named for rule in pair if rule} <= {str(rule) for rule in Rule}
