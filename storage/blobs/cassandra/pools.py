"""Connects again to nodes that the driver has given up.

The driver loses a node for good in several ways (seen with 3.30.1). A reconnect succeeds and the
connections after it fail: the failure starts no other reconnect, since one seems to be under way,
and that one ends. A node refuses the login because it cannot read the roles just now. A node is
not listed by its neighbours yet when the driver reads their lists, and the event that would tell of
it is lost. A node is removed and added again, and the map of tokens keeps its old object.
"""

import threading
import time
from typing import Final

from cassandra.cluster import Cluster, Session
from cassandra.pool import Host

from storage.blobs.cassandra.driver import CONNECT_TIMEOUT_S, RECONNECT_S

LIST_AGAIN_S: Final = 10.0
"""Between two readings of the list of nodes: two small reads of one node's own tables."""
STUCK_S: Final = 60.0
"""A reconnect that takes longer may have ended long ago: see `Pools`."""


class Pools:
    """The driver's connections to each node; safe to use from many threads.

    A node without connections is left to the driver for `CONNECT_TIMEOUT_S`, in which it may be
    connecting, and for `STUCK_S` while the driver says that it reconnects.

    Args:
        cluster: The driver's.
        session: Its only one.
    """

    def __init__(self, cluster: Cluster, session: Session) -> None:
        self._cluster = cluster
        self._session = session
        self._lock = threading.Lock()
        self._lost_s: dict[object, float] = {}
        self._look_s = 0.0
        self._list_s = time.monotonic() + LIST_AGAIN_S

    def tend(self) -> None:
        """Look for lost nodes, every `RECONNECT_S` at most; the driver's threads do the work."""
        now_s = time.monotonic()
        if now_s < self._look_s:
            return
        with self._lock:
            if now_s < self._look_s:
                return
            self._look_s = now_s + RECONNECT_S
            lost = self._given_up(now_s)
            listing = now_s >= self._list_s
            if listing:
                self._list_s = now_s + LIST_AGAIN_S
        for host in lost:
            self._connect(host)
        if listing:
            listed = self._cluster.control_connection.refresh_node_list_and_token_map
            self._session.submit(listed, force_token_rebuild=self._has_stale_owners())

    def _given_up(self, now_s: float) -> list[Host]:
        """Return the nodes to connect to; each of them then has its time again."""
        states = self._session.get_pool_state().items()
        connected = {host for host, state in states if not state["shutdown"]}
        hosts = [host for host in self._cluster.metadata.all_hosts() if host not in connected]
        since_s = {host.endpoint: self._lost_s.get(host.endpoint, now_s) for host in hosts}
        given_up = []
        for host in hosts:
            patience_s = STUCK_S if host.is_currently_reconnecting() else CONNECT_TIMEOUT_S
            if now_s - since_s[host.endpoint] >= patience_s:
                since_s[host.endpoint] = now_s
                given_up.append(host)
        self._lost_s = since_s
        return given_up

    def _connect(self, host: Host) -> None:
        if host.is_up:
            self._session.update_created_pools()
        else:  # it prepares all statements there first, which blocks
            self._session.submit(self._cluster.on_up, host)

    def _has_stale_owners(self) -> bool:
        """Say whether the map of tokens has a node's old object, which stays down.

        A node that is removed and added again gets another object; the driver sends no request to
        a node whose object in the map is down.
        """
        metadata = self._cluster.metadata
        tokens = metadata.token_map
        owners = {id(each): each for each in tokens.token_to_host_owner.values()} if tokens else {}
        return any(metadata.get_host(each.endpoint) is not each for each in owners.values())
