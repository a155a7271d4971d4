"""What storage does beside the limits of its machine, measured in the same run."""
