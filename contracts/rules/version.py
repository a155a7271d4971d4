"""Versions of the rules: each transaction names the one that it obeys.

A version stays as it is for ever, since chains and evidence files hold its
transactions. Rules that change the meaning of a transaction get a new version,
and stand beside the old ones.
"""

from enum import IntEnum


class RulesVersion(IntEnum):
    """A version of family `wayseal`; its value is the number after `1.`."""

    V1_0 = 0
    V1_1 = 1
    V1_2 = 2
    V1_3 = 3

    @property
    def family_version(self) -> str:
        """Return the version as a transaction's header names it, such as `1.1`."""
        return f"1.{self.value}"

    @property
    def mark(self) -> int:
        """Return what an entry that the version wrote says of it.

        Version 1.2 adds what a device tells, 1.3 what a gateway says of its record of accesses.
        Neither changes an entry of 1.1. So all may go on with what the others wrote: a truck of
        1.1, and parties, work on with one of 1.2.
        """
        return min(self.value, RulesVersion.V1_1)


USUAL = RulesVersion.V1_1
"""The version under which clients write; a truck that measures writes under 1.2, since it alone has
something to say of itself, and a gateway's head of accesses is of 1.3."""
