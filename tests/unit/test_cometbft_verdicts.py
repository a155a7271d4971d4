"""Only what the sender waits for is kept of what CheckTx says."""

from pathlib import Path

from contracts.ledger.cometbft.decisions import Code
from contracts.ledger.cometbft.verdicts import Verdict, Verdicts
from contracts.proto.abci_pb2 import RequestCheckTx
from support.ledgers.heights import VALIDATOR, first_batches, heights

TAKEN = Verdict(Code.TAKEN)
EARLY = Verdict(Code.EARLY, "it depends on another")


def test_a_verdict_is_kept_until_it_is_taken() -> None:
    verdicts = Verdicts()
    verdicts.expect([b"asked", b"never asked", b"asked twice"])
    for tx, verdict in ((b"asked", TAKEN), (b"asked twice", EARLY), (b"asked twice", TAKEN)):
        verdicts.give(tx, verdict)
    assert verdicts.take([b"asked", b"never asked", b"asked twice"]) == [TAKEN, None, TAKEN]
    assert verdicts.take([b"asked"]) == [None]


def test_nothing_is_kept_of_what_nobody_waits_for() -> None:
    verdicts = Verdicts()
    verdicts.give(b"from another validator", TAKEN)
    assert verdicts.take([b"from another validator"]) == [None]


def test_the_application_judges_the_empty_transaction_behind_an_offer(tmp_path: Path) -> None:
    with heights(tmp_path / "data") as ledger:
        ledger.begin(first_batches(), {VALIDATOR.public_key: 1})
        assert ledger.application.check_tx(RequestCheckTx()).code == Code.MALFORMED
