"""The machine around a run: what it is, and what it went through meanwhile."""
