"""What the machine can do without us: CPU, signatures, digests, memory, network, storage."""
