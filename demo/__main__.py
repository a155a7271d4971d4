"""`python -m demo`: runs the demo; prints its last line even if an import fails."""

from importlib import import_module

from demo.ending import conclude

conclude("demo", lambda: str(import_module("demo.main").run()))
