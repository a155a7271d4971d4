"""What an EVM's blocks say of transactions, and why one was reverted."""

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any, Final

from contracts.errors import RejectedError
from storage.bench.ledger.evm.jsonrpc import CALLS_MAX, Call, JsonRpc, NodeError, number_of

_NO_METHOD: Final = -32601
"""Source: JSON-RPC 2.0, 5.1."""
_SUCCESS: Final = 1
"""Source: EIP-658."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """The receipt of one transaction.

    Attributes:
        digest: The transaction's hash, 32 octets.
        succeeded: It did what it was to do; a reverted one is in a block too.
        gas_used: Units of gas.
        block: Number of its block.
    """

    digest: bytes
    succeeded: bool
    gas_used: int
    block: int

    @property
    def name(self) -> str:
        """Return the hash as JSON has it."""
        return "0x" + self.digest.hex()


async def receipts_of(
    rpc: JsonRpc, numbers: Sequence[int], wanted: Container[bytes]
) -> list[list[Receipt]]:
    """Return the receipts of blocks; fewer if the node has a block's receipts a moment later.

    Nodes without `eth_getBlockReceipts`, such as GoQuorum, are asked for each receipt by itself.

    Args:
        rpc: To the node.
        numbers: Of the blocks.
        wanted: Transactions whose receipts matter.

    Raises:
        RejectedError: The node refuses a question, or answers it with something else.
        UnavailableError: The node does not answer.
    """
    calls: list[Call] = [("eth_getBlockReceipts", [hex(number)]) for number in numbers]
    answers = await rpc.many(calls)
    found = []
    for number, answer in zip(numbers, answers, strict=True):
        if isinstance(answer, NodeError) and answer.code == _NO_METHOD:
            receipts = await _one_by_one(rpc, number, wanted)
            if receipts is None:
                break
            found.append(receipts)
        elif isinstance(answer, list):
            found.append(list(map(_receipt, answer)))
        elif isinstance(answer, NodeError):
            raise answer
        else:
            break
    return found


async def why_reverted(rpc: JsonRpc, receipt: Receipt) -> str:
    """Return why a transaction was reverted, as far as the node tells.

    A receipt has no reason: the same call is made again on the state after its block.
    """
    sent = await rpc.call("eth_getTransactionByHash", receipt.name)
    if not isinstance(sent, dict):
        return "reverted"
    if receipt.gas_used >= number_of(sent.get("gas")):
        return f"out of gas: {receipt.gas_used} units were allowed"
    call = {name: sent.get(name) for name in ("from", "to", "input", "gas")}
    call["data"] = call.pop("input")
    try:
        await rpc.call("eth_call", call, hex(receipt.block))
    except NodeError as error:
        return f"reverted: {error.words}"
    return "reverted; the same call on the state after its block is not"


async def _one_by_one(rpc: JsonRpc, number: int, wanted: Container[bytes]) -> list[Receipt] | None:
    """Return the receipts of one block; None if the node does not have all of them yet."""
    block: Any = await rpc.call("eth_getBlockByNumber", hex(number), False)  # noqa: FBT003 - JSON
    if block is None:
        return None
    try:
        names = [each for each in block["transactions"] if bytes.fromhex(each[2:]) in wanted]
    except (KeyError, TypeError, ValueError) as error:
        raise RejectedError(
            f"expected block {number} with the names of its transactions, got {block!r:.200}"
        ) from error
    found: list[Receipt] = []
    for at in range(0, len(names), CALLS_MAX):
        some = names[at : at + CALLS_MAX]
        for answer in await rpc.many([("eth_getTransactionReceipt", [name]) for name in some]):
            if answer is None:
                return None
            if isinstance(answer, NodeError):
                raise answer
            found.append(_receipt(answer))
    return found


def _receipt(answer: Any) -> Receipt:  # noqa: ANN401 - JSON
    try:
        digest = bytes.fromhex(answer["transactionHash"][2:])
        numbers = (answer.get("status", "0x0"), answer["gasUsed"], answer["blockNumber"])
    except (KeyError, TypeError, ValueError) as error:
        raise RejectedError(f"expected a receipt, got {answer!r:.200}") from error
    status, gas_used, block = map(number_of, numbers)
    return Receipt(digest, status == _SUCCESS, gas_used, block)
