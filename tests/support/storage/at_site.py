"""A program: stores as one site does, from settings and steps; prints the outcomes as JSON."""

import json
import sys

from contracts.errors import WaysealError
from storage.blobs.cassandra.config import CassandraConfig
from storage.blobs.cassandra.store import CassandraBlobs
from support.storage.blobsuite import blob, recording


def step(store: CassandraBlobs, what: str, seed: str) -> str:
    """Take one step; return what came of it, in a word."""
    one, whole = recording(seed), blob(0, seed.encode())
    try:
        if what == "put":
            store.put(one, whole)
            return "put"
        if what == "get":
            found = store.get(one, 0)
            return "right" if found == whole else "wrong" if found else "missing"
        if what == "manifest":
            return (store.manifest(one) or b"missing").decode()
        held = [replica.blob == whole for replica in store.replicas(one, 0)]
        return f"{held.count(True)} of {len(held)}"
    except WaysealError as error:
        return f"{type(error).__name__}: {error}"


def main() -> None:
    """Run."""
    config, steps = json.loads(sys.argv[1])
    store = CassandraBlobs(CassandraConfig(**config))
    print(json.dumps([step(store, *words) for words in steps]))  # noqa: T201
    store.close()


if __name__ == "__main__":
    main()
