"""Rows of the table of actions: what gateways of sites say."""

from typing import Final

from contracts import address
from contracts.actions import form
from contracts.actions.kind import ActionKind, SignedBy
from contracts.proto.payload_pb2 import CommitAccesses
from contracts.rules import accesses

ROWS: Final = (
    ActionKind(
        CommitAccesses,
        SignedBy.SITE,
        check=form.check_accesses,
        reads=lambda said: [address.site(said.site_id)],
        writes=lambda said: [
            address.accesses(said.site_id),
            address.accesses(said.site_id, said.number),
        ],
        rule=accesses.commit_accesses,
        subjects=lambda said: [f"accesses {said.site_id}"],
    ),
)
