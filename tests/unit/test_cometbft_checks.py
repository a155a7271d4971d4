"""Only what the sender waits for is kept of what CheckTx says."""

from pathlib import Path

from contracts.ledger.cometbft.checks import Check, Checks
from contracts.ledger.cometbft.decisions import Code
from contracts.proto.abci_pb2 import RequestCheckTx
from support.ledgers.heights import VALIDATOR, first_batches, heights

TAKEN = Check(Code.TAKEN)
EARLY = Check(Code.EARLY, "it depends on another")


def test_what_was_said_is_kept_until_it_is_taken() -> None:
    checks = Checks()
    checks.expect([b"asked", b"never asked", b"asked twice"])
    for tx, check in ((b"asked", TAKEN), (b"asked twice", EARLY), (b"asked twice", TAKEN)):
        checks.note(tx, check)
    assert checks.take([b"asked", b"never asked", b"asked twice"]) == [TAKEN, None, TAKEN]
    assert checks.take([b"asked"]) == [None]


def test_nothing_is_kept_of_what_nobody_waits_for() -> None:
    checks = Checks()
    checks.note(b"from another validator", TAKEN)
    assert checks.take([b"from another validator"]) == [None]


def test_the_application_judges_the_empty_transaction_behind_an_offer(tmp_path: Path) -> None:
    with heights(tmp_path / "data") as ledger:
        ledger.begin(first_batches(), {VALIDATOR.public_key: 1})
        assert ledger.application.check_tx(RequestCheckTx()).code == Code.MALFORMED
