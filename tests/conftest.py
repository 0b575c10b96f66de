"""Hypothesis profiles for every test: the same examples every time, unless fresh ones are asked for."""

import os

from hypothesis import HealthCheck, settings

# No deadline: no test judges by the clock, and some examples are slow to generate on a busy machine.
_COMMON = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])

settings.register_profile("same", _COMMON, derandomize=True, max_examples=150)
settings.register_profile("fresh", _COMMON, max_examples=150)
settings.register_profile("long", _COMMON, max_examples=5000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))
