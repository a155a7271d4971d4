"""The commands of `wayseal-gateway`, one module each, imported only when they run."""
