"""Records: readings and recordings of a truck, as plain values that cannot be invalid."""
