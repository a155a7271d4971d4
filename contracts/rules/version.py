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

    @property
    def family_version(self) -> str:
        """Return the version as a transaction's header names it, such as `1.1`."""
        return f"1.{self.value}"


LATEST = max(RulesVersion)
"""The version under which clients write."""
