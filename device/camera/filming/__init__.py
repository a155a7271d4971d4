"""Live cameras: each films in a thread of its own, in segments that a power cut cannot spoil."""
