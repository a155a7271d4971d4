"""The machine of a run: its fingerprint, CPU, heat, power and wear during the run."""
