"""What `wayseal-device doctor` looks at beside the settings: machine and journal of the truck."""
