"""Which batch is executed when and where, and by whose rules."""
