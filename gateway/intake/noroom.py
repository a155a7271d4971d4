"""Answers about batches for which the inbox has no room."""

import logging

from contracts.proto.wire_pb2 import Held
from contracts.runtime.seldom import Seldom

_log = logging.getLogger(__name__)
_log.addFilter(Seldom(arguments=1))  # a line for each device, however much it sends


def take_back(device_id: str, answer: Held, unfit: dict[str, str]) -> None:
    """Say of batches that did not fit that the same may succeed later."""
    kept = [name for name in answer.batch_ids if name not in unfit]
    gone = [name for name in answer.batch_ids if name in unfit]
    for refusal in answer.refused:
        if refusal.id in unfit:
            refusal.reason, refusal.retry = f"{unfit[refusal.id]}; {refusal.reason}", True
    if gone:
        _log.warning(
            "%s: no room for %d batches: %s",
            device_id,
            len(gone),
            unfit[gone[0]],
            extra={"device_id": device_id},
        )
        del answer.batch_ids[:]
        answer.batch_ids.extend(kept)
        for name in gone:
            answer.refused.add(id=name, reason=unfit[name], retry=True)
