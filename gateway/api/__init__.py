"""REST under /v1: one router per resource."""
