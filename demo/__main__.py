"""`python -m demo`: the demo, whose last line is promised from here on, its imports included."""

from importlib import import_module

from demo.ending import conclude

conclude("demo", lambda: str(import_module("demo.main").run()))
