"""`wayseal-party`: signs a party's actions; one module for each group of commands."""
