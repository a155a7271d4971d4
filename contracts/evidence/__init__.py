"""Evidence files: a trip's whole story in one file, and the verdict on it without us."""
