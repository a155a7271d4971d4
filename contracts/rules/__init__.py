"""The rule book: what a transaction of family `wayseal` must obey, and what it changes."""
