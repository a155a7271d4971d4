"""Follows the validators of a network from its network file over the seals of all blocks."""

from contracts.commits import check_commit, validators_of
from contracts.encoding import parse
from contracts.errors import RejectedError
from contracts.proto.cometbft_pb2 import SealedHeader
from contracts.validators import Powers


class Trusting:
    """Takes the seals of all blocks, by rising height.

    A block that changes the validators is named by the header that names the new ones. So no header
    between two blocks is needed.

    Args:
        first: The validators with which the network begins.
    """

    def __init__(self, first: Powers) -> None:
        self._first = first
        self._next = b""

    def add(self, wire: bytes) -> None:
        """Check the next seal.

        Raises:
            RejectedError: Two thirds of the validators that are in office then did not sign it.
        """
        sealed = parse(SealedHeader, wire)
        header = sealed.header
        check_commit(sealed)
        if not self._next:
            known = validators_of(sealed) == self._first
        else:
            known = header.validators_hash == self._next
        if not known:
            raise RejectedError(
                f"sealed header {header.height}: its validators are not those that the network had"
            )
        self._next = header.next_validators_hash
