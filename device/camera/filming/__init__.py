"""Live cameras: each films in its own thread, in segments that a power cut cannot spoil."""
