"""The network's own small certificate authority: `certificates`, `register` and `authority`."""
