"""docs/upgrade.md names the version of each format, as the code has it."""

from contracts.evidence.container import VERSION as EVIDENCE
from contracts.ledger.blocks.log import FILE_MAGIC
from contracts.rules.version import RulesVersion
from device.journal.database import JOURNAL
from gateway.index.schema import VERSION as INDEX
from gateway.intake.schema import INBOX
from gateway.jobs.register import SCHEMA as JOBS
from gateway.people.accesslog import SCHEMA as ACCESSES
from gateway.retention.deletions import SCHEMA as DELETIONS
from gateway.uploads.claims import SCHEMA as UPLOADS
from storage.blobs.cassandra.schema import MIGRATIONS
from storage.retention.ages import SCHEMA as AGES
from storage.scrub.report import SCHEMA as SCRUB
from support.project.pages import ROOT, rows


def test_the_page_names_each_format_with_its_version() -> None:
    listed = {
        row[0].strip("` |"): row[1].strip("` ")
        for row in rows(ROOT / "docs" / "upgrade.md", "## What fits what")
    }
    assert listed == {
        "rules": max(RulesVersion).family_version,
        "evidence": str(EVIDENCE),
        "inbox.db": str(INBOX.version),
        "uploads.db": str(UPLOADS.version),
        "deletions.db": str(DELETIONS.version),
        "retention.db": str(AGES.version),
        "accesses.db": str(ACCESSES.version),
        "scrub.db": str(SCRUB.version),
        "jobs.db": str(JOBS.version),
        "index.db": str(INDEX),
        "cassandra": str(len(MIGRATIONS)),
        "journal.sqlite": str(JOURNAL.version),
        "chain.log": FILE_MAGIC.split()[-1].decode(),
    }
