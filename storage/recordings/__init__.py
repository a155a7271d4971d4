"""Recordings over one blob store and one volume: written once, read near first, verified."""
