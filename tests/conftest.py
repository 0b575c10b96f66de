"""What holds for every test."""

import os
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

# The same examples every time, unless fresh ones are asked for. No deadline: no test judges by the clock, and some
# examples are slow to generate on a busy machine.
_COMMON = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])

settings.register_profile("same", _COMMON, derandomize=True, max_examples=150)
settings.register_profile("fresh", _COMMON, max_examples=150)
settings.register_profile("long", _COMMON, max_examples=5000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let reports travel between processes: what tests of half characters print or log would stop them."""
    report = yield
    report.sections = [(title, _whole(text)) for title, text in report.sections]
    if isinstance(report.longrepr, str):
        report.longrepr = _whole(report.longrepr)
    return report


def _whole(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
