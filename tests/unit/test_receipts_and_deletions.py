"""No receipt is signed over a copy that is about to go."""

from pathlib import Path

import pytest

from contracts.errors import UnavailableError
from contracts.proto.deletion_pb2 import DeletionBody
from gateway.offload.copies import CopiesAtHand
from gateway.retention.deletions import DeletionState
from gateway.services import Services
from gateway.settings import Settings
from support.storage.stores import put


def test_a_recording_that_is_being_deleted_gets_no_receipt(tmp_path: Path) -> None:
    services = Services(Settings(data=tmp_path, site_id="site"))
    try:
        one = put(services.recordings, b"video")
        copies = CopiesAtHand(services.recordings, services.deletions, services.volumes)
        said = copies.manifest
        assert said(one) == services.recordings.manifest(one)
        begun = services.deletions.begin(DeletionBody(recording_sha256=one, rule="quota"))
        with pytest.raises(UnavailableError, match="is being deleted"):
            said(one)
        services.deletions.end(begun.number, DeletionState.WITHDRAWN, 0, "held")
        assert said(one) == services.recordings.manifest(one)
    finally:
        services.close()
