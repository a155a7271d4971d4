"""Proofs of state, gathered from a ledger: from its nodes, or from a list of all its state.

The embedded node gives the nodes on the way to an address. Sawtooth's REST API does not: there the
tree is computed from all state after the block, page by page, without keeping it.
"""

from collections.abc import Iterable, Iterator, Mapping

from contracts.errors import UnavailableError
from contracts.ledger.client import LedgerClient
from contracts.sawtooth.nodes import PATH_BYTES, StateTreeNode, chain_hash, leaf_hash
from contracts.sawtooth.pruned import Pruning, Wanted


class StateProofs:
    """Gathers the nodes that prove the state after one block.

    Args:
        ledger: The ledger.
        head_id: Id of the block.
        root_hash: State root that its header names.
    """

    def __init__(self, ledger: LedgerClient, head_id: str, root_hash: str) -> None:
        self._ledger = ledger
        self._head_id = head_id
        self._root_hash = root_hash

    def gather(
        self, places: Iterable[str], prefixes: Iterable[str], known: Mapping[str, bytes]
    ) -> list[StateTreeNode]:
        """Return the nodes that prove some addresses and whole subtrees, in order of paths.

        Args:
            places: Addresses, set or not.
            prefixes: Beginnings of addresses; everything below them is proved.
            known: Values by address that the reader has too; other values are in the nodes.

        Raises:
            RejectedError: The state after the block is no longer kept.
            UnavailableError: The ledger did not answer, or not with the state of that block.
        """
        named, whole = sorted(set(places)), sorted(set(prefixes))
        nodes: dict[bytes, StateTreeNode] = {}
        for target in (*named, *whole):
            way = self._ledger.state_nodes(self._head_id, target)
            if way is None:
                return self._from_list(named, whole, known)
            _merge(nodes, way)
        self._check_root(nodes[b""].digest().decode() if nodes else "")
        for prefix in whole:
            below = (place for place in named if place.startswith(prefix))
            _merge(nodes, self._below(prefix, below, known))
        _merge(nodes, self._differing(named, whole, nodes, known))
        return [node for _, node in sorted(nodes.items())]

    def _from_list(
        self, named: Iterable[str], whole: Iterable[str], known: Mapping[str, bytes]
    ) -> list[StateTreeNode]:
        wanted = Wanted(map(bytes.fromhex, named), map(bytes.fromhex, whole))
        pruning = self._pruned(wanted, "", known)
        nodes = list(pruning.finish())
        self._check_root(pruning.root_hash)
        return nodes

    def _below(
        self, prefix: str, places: Iterable[str], known: Mapping[str, bytes]
    ) -> Iterator[StateTreeNode]:
        """Yield the nodes of a whole subtree. Above it, its tree is not the ledger's."""
        wanted = Wanted(map(bytes.fromhex, places), [bytes.fromhex(prefix)])
        depth = len(prefix) // 2
        nodes = self._pruned(wanted, prefix, known).finish()
        return (node for node in nodes if len(node.path) >= depth)

    def _pruned(self, wanted: Wanted, prefix: str, known: Mapping[str, bytes]) -> Pruning:
        pruning = Pruning(wanted, known)
        try:
            for place, value in self._ledger.entries(self._head_id, prefix):
                pruning.add(bytes.fromhex(place), value)
        except (ValueError, LookupError) as error:
            raise UnavailableError(f"the ledger listed an invalid address: {error}") from error
        return pruning

    def _differing(
        self,
        named: Iterable[str],
        whole: Iterable[str],
        nodes: Mapping[bytes, StateTreeNode],
        known: Mapping[str, bytes],
    ) -> Iterator[StateTreeNode]:
        """Yield the leaves of named addresses whose values the reader does not know."""
        prefixes = tuple(whole)
        for place in named:
            path = bytes.fromhex(place)
            if place.startswith(prefixes) or _is_known(path, nodes, known.get(place)):
                continue
            value = self._ledger.value_after(self._head_id, place)
            if value is not None:
                yield StateTreeNode(path, value=value)

    def _check_root(self, found: str) -> None:
        if found != self._root_hash:
            raise UnavailableError(
                f"the ledger's state after block {self._head_id[:16]}… has root {found[:16]!r}…, "
                f"the block's header says {self._root_hash[:16]!r}…"
            )


def _merge(nodes: dict[bytes, StateTreeNode], more: Iterable[StateTreeNode]) -> None:
    """Add nodes; of two at one path, the one that is not only a hash stays."""
    for node in more:
        if node.path not in nodes or nodes[node.path].end:
            nodes[node.path] = node


def _is_known(path: bytes, nodes: Mapping[bytes, StateTreeNode], value: bytes | None) -> bool:
    """Say whether the nodes prove a value at a path, or nothing at all where none is known."""
    above = next(
        node
        for depth in range(PATH_BYTES - 1, -1, -1)
        if (node := nodes.get(path[:depth])) is not None and not node.end
    )
    child = above.children.get(path[len(above.path)])
    if value is None or child is None:
        return child is None
    return child == chain_hash(path[len(above.path) :], leaf_hash(value))
