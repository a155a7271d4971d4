"""Hyperledger Sawtooth's transactions, batches and blocks: build, sign, parse, verify."""
