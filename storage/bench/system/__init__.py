"""The limits of the machine itself: CPU, signatures, digests, memory, network, storage."""
