"""`wayseal-party`: what a party signs, one module for each group of commands."""
