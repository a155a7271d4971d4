"""Live sensors: each measures at its own pace in its own thread; one stream comes of them."""
