"""The measurements of `make bench-device`: a truck's agent on a card of its own."""
