"""`make bench-storage`: storage beside the limits of its machine, measured in the same run."""
