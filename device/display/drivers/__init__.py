"""Adapters of the port `Display`: LEDs on GPIO pins, and a small OLED."""
