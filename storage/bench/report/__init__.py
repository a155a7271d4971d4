"""What people read of a run: a page and charts, and what differs between two."""
