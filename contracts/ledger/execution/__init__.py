"""Executing transactions: signatures, the rules of each family, the addresses allowed."""
