"""EPCIS documents, held to GS1's own schema, and ids of events by a program of others."""

import copy
import json
import warnings
from collections.abc import Sequence
from typing import Any, Final

from epcis_event_hash_generator.hash_generator import (
    calculate_hashes_from_pre_hashes,
    derive_prehashes_from_events,
)
from epcis_event_hash_generator.json_to_py import event_list_from_epcis_document_json
from jsonschema import Draft7Validator, FormatChecker
from jsonschema.exceptions import ValidationError

from support.project.pages import ROOT

SCHEMA: Final = ROOT / "tests/golden/epcis/EPCIS-JSON-Schema.json"
_VALIDATOR: Final = Draft7Validator(
    json.loads(SCHEMA.read_text("utf-8")), format_checker=FormatChecker()
)
# The generator puts these three after the sensors, against the standard's order; see the notes of
# EPCIS 2.0 CBV, 8.9. Without them it agrees with the standard.
DISPUTED: Final = ("bizTransactionList", "sourceList", "destinationList")


def check_document(document: Any) -> None:  # noqa: ANN401 - JSON
    """Fail with the innermost thing that GS1's schema refuses."""
    errors = list(_VALIDATOR.iter_errors(document))
    inner = [each for error in errors for each in _leaves(error)]
    assert not errors, sorted({f"{each.json_path}: {each.message[:300]}" for each in inner})[:8]


def _leaves(error: ValidationError) -> list[ValidationError]:
    if not error.context:
        return [error]
    return [leaf for each in error.context for leaf in _leaves(each)]


def without_disputed(event: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in event.items() if name not in DISPUTED}


def others_ids(events: Sequence[dict[str, Any]]) -> list[str]:
    """Return the ids that the generator of others gives to events."""
    document = {
        "@context": ["https://ref.gs1.org/standards/epcis/2.0.0/epcis-context.jsonld"],
        "type": "EPCISDocument",
        "schemaVersion": "2.0",
        "creationDate": "2026-11-22T12:00:00.000Z",
        "epcisBody": {"eventList": copy.deepcopy(list(events))},  # it changes what it is given
    }
    with warnings.catch_warnings():  # it opens its files as Python 3.11 advises against
        warnings.simplefilter("ignore", DeprecationWarning)
        read = event_list_from_epcis_document_json(document)
    hashes = calculate_hashes_from_pre_hashes(derive_prehashes_from_events(read))
    return list(hashes)
