"""What a monitor has to know of a gateway: numbers for `/metrics`, without Prometheus' client."""
