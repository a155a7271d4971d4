"""The scrub: walks everything that is stored, names what rotted, and has it mended."""
