"""The measurements of `make bench-device`: a truck's agent on its own card."""
