"""Every stream at hand, shown to a person: nothing breaks, and nothing reaches the terminal raw."""

from __future__ import annotations

import re

from tests.conformance import corpora

from .conftest import Cli

# Tab and newline are the only control characters that may be written.
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def test_every_stream_can_be_shown(cli: Cli) -> None:
    sources = [path for folder in corpora.folders() for path in folder.glob("*.json") if path.name != "codes.json"]
    sources += (corpora.SHARED / "recordings").glob("*.sse")
    assert len(sources) > 100
    for flags in ((), ("--legacy",), ("--quiet",)):
        ran = cli("replay", *flags, *sources)
        assert ran.status in range(6)
        assert not CONTROLS.search(ran.out + ran.err)
        assert "Traceback" not in ran.err
        # Every line of standard error is one of ours.
        assert all(line.startswith(("error: ", "warning: ", "  ")) for line in ran.err.splitlines())
