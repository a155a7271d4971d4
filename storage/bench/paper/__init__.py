"""The papers' figures, and how they stand beside measured ones."""
