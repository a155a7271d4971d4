"""SQLite files with a checksum in each page: damage is noticed when a page is read."""
