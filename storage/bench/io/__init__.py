"""The part `io`: what a gateway's storage does on each of the volumes that are compared."""
