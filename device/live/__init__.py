"""Live sensors: each measures at its own pace in a thread of its own; one stream comes of them."""
