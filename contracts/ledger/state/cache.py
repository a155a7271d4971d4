"""A bounded cache that forgets values not used lately."""

from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Cache(Generic[Key, Value]):
    """Keeps the last `limit` to twice `limit` values; as fast as a dictionary.

    It has two generations. A hit moves a value to the young one. When the young
    one is full, it replaces the old one. Threads may share a cache.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._young: dict[Key, Value] = {}
        self._old: dict[Key, Value] = {}

    def get(self, key: Key) -> Value | None:
        """Return the value at `key`, if it is still kept."""
        found = self._young.get(key)
        if found is None:
            found = self._old.get(key)
            if found is not None:
                self.put(key, found)
        return found

    def put(self, key: Key, value: Value) -> None:
        """Keep `value`."""
        if len(self._young) >= self._limit:
            self._old, self._young = self._young, {}
        self._young[key] = value

    def discard(self, key: Key) -> None:
        """Forget the value at `key`."""
        self._young.pop(key, None)
        self._old.pop(key, None)
