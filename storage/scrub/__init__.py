"""The scrub: reads everything that is stored, reports rotten copies, and has them mended."""
