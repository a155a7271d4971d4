"""The list of files that backups are made by is the table that operators read."""

import re

from contracts.backup.kept import KEPT, row_of
from support.project.pages import ROOT, rows

TABLE = list(rows(ROOT / "docs" / "operator.md", "## Backups"))


def test_the_page_has_each_row_of_the_list_and_says_who_copies_it() -> None:
    told = {name: row[1].strip() for row in TABLE for name in re.findall(r"`([^`]+)`", row[0])}
    assert told == {each.path: str(each.by) for each in KEPT}


def test_the_files_of_a_database_belong_to_its_row() -> None:
    for name in ("inbox.db", "inbox.db-wal", "inbox.db-shm"):
        row = row_of("GATEWAY", name)
        assert row is not None
        assert row.path == "GATEWAY/inbox.db"
    assert row_of("GATEWAY", "somebody.else") is None
