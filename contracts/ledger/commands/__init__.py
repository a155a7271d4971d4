"""The commands of `wayseal-node` besides serving, one module each, imported only when they run."""
