"""What a sentence of `wayseal-verify` says, by fields: which check failed, by which rule, where.

The two verifiers word their problems on their own. These fields are what both must say, in the
same order.
"""

import re
from typing import Final

_ID: Final = "[0-9a-f]"
_CHECKS: Final[tuple[tuple[int, str], ...]] = (
    (1, r"file was altered"),
    (6, r"^(?P<rule>form): "),
    (16, r"^sealed header|has no sealed header"),
    (12, r"the trust file names one signer"),
    (0, r"file ends early|bytes follow|^a \w+ frame|^a frame|header frame|the header must name"),
    (0, r"the header says version|a field ends at|a field of wire type"),
    (0, r"bytes are not a valid|bytes hold fields|not in canonical encoding"),
    (12, r"is not the trusted|is not trusted|a ledger that ended|goes on from"),
    (12, r"no block that the trusted keys"),
    (2, r"^block (?P<about>\d+)[ ,(:]|the header names ledger|^block .* where block"),
    (3, r"signature does not match|payload SHA-512|made for batcher|transactions, the batch"),
    (3, r"holds no transactions|more than \d+ transactions"),
    (3, r"`trace` set|stand in another order|signature must be|header names"),
    (4, r"is in no block|not in the ledger's order"),
    (5, r"comes twice|knows the rules of|depends on"),
    (7, rf"^trip (?P<about>{_ID}{{32}}), .*: (?P<rule>[a-z]+-[a-z-]+): "),
    (7, rf"^trip (?P<about>{_ID}{{32}}).*(start is missing|no seal|its digest is missing)"),
    (14, r"another entry than the batches|nodes that prove its entry are missing"),
    (15, r"to which no batch in the file leads|so a batch is missing"),
    (17, r"was asked for"),
    (6, r"^(?P<rule>[a-z]+(-[a-z]+)+): "),
    (8, r"signed different sizes or trees"),
    (10, r", blob \d+: no leaf hashes"),
    (9, r"leaf hashes|no committed digest"),
    (10, r"blob|not the video|whole file hashes"),
    (11, r"^video .* is no recording"),
    (13, r"state node|^a node at"),
)


def fields(problem: str) -> list[int | str]:
    """Return the check that failed, and the rule and the subject where the check has one.

    Check 0 is the form of the file and its messages, 17 what the reader asked for.
    """
    for check, pattern in _CHECKS:
        if found := re.search(pattern, problem):
            named = found.groupdict()
            return [check, *(named[each] for each in ("rule", "about") if named.get(each))]
    raise AssertionError(f"no check is known for {problem!r}")
