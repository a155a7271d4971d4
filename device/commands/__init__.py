"""The commands of `wayseal-device`, one module each, imported only when they run."""
