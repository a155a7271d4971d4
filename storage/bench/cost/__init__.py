"""What a node costs: its price, its energy, and the people who look after it."""
