"""Paper 001's comparison: PBFT's messages with MACs and with signatures, batching on and off.

The normal case alone, between real processes: no view change, no checkpoints, nothing on a disk. It
compares what messages cost, and is not a ledger. `messages`: their form; `authentication`: MACs and
signatures; `protocol`: the three phases; `replica` and `client`: the processes; `steps`: the plan.
"""
