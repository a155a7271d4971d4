"""Rows of the table of actions: what gateways of sites say."""

from typing import Final

from contracts import address
from contracts.actions import form
from contracts.actions.kind import ActionKind, SignedBy, blocks
from contracts.proto.payload_pb2 import CommitAccesses
from contracts.rules import accesses

ROWS: Final = (
    ActionKind(
        CommitAccesses,
        SignedBy.SITE,
        check=form.check_accesses,
        reads=lambda said: [address.site(said.site_id), *blocks(said)],
        writes=lambda _: [],
        writes_of_key=lambda said, key: [
            address.newest_accesses(said.site_id, said.record_sha256, key),
            address.accesses(said.site_id, said.record_sha256, key, said.sequence),
        ],
        rule=accesses.commit_accesses,
        subjects=lambda said: [f"accesses {said.site_id}"],
    ),
)
