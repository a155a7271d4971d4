"""Many simulated trucks at once, each with its own trip: measures what a checkpoint takes."""
