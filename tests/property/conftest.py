"""Hypothesis: no time limit per example, since a busy machine is no defect."""

from hypothesis import settings

settings.register_profile("wayseal", deadline=None)
settings.load_profile("wayseal")
