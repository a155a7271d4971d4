"""Only what the sender waits for is kept of what CheckTx says."""

from contracts.ledger.cometbft.checks import Check, Checks
from contracts.ledger.cometbft.decisions import Code

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
