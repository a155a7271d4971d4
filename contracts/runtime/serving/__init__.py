"""HTTP servers whose every connection is bounded, in time and in number."""
