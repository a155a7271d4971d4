"""The part `io`: the gateway's storage on each of the compared volumes."""
