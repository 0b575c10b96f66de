"""Every numbered rule is cited by a test or pinned by a fixture, and every citation names a rule."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tests.conformance import corpora

RULES = corpora.SHARED / "protocol" / "RULES.md"
LISTED = Path(__file__).with_name("rules.txt")
_ID = re.compile(r"\b(?:PL|PR|ST|TM|TC|FT|LC|TR|SN|AC|RE|SA|MD|IR|RI|VE|PT|AL)-\d+\b")


@cache
def known_rules() -> frozenset[str]:
    """Return the rule ids: those of the digest when it is here, else of the committed list."""
    return frozenset(_in_digest() if RULES.is_file() else _in_list())


def _in_digest() -> list[str]:
    return re.findall(r"^- ([A-Z]{2}-\d+) ", RULES.read_text(encoding="utf-8"), re.MULTILINE)


def _in_list() -> list[str]:
    return LISTED.read_text(encoding="utf-8").split()


def cited() -> dict[str, set[str]]:
    """Return the rule ids the tests cite, each with the files that do."""
    found: dict[str, set[str]] = {}
    here = Path(__file__).resolve()
    for folder in ("tests", "e2e"):
        for path in sorted((corpora.ROOT / folder).rglob("*.py")):
            if path.resolve() != here:
                for rule in _ID.findall(path.read_text(encoding="utf-8")):
                    found.setdefault(rule, set()).add(str(path.relative_to(corpora.ROOT)))
    for case in corpora.read(corpora.OWN):
        for rule in case.fixture["rules"]:
            found.setdefault(rule, set()).add(f"corpus/{case}")
    return found


def test_no_rule_is_without_a_test() -> None:
    missing = sorted(known_rules() - cited().keys())
    assert not missing, f"no test cites {', '.join(missing)}"


def test_citations_name_rules() -> None:
    strangers = {rule: files for rule, files in cited().items() if rule not in known_rules()}
    assert not strangers


@pytest.mark.parametrize("source", [p for p in [RULES, LISTED] if p.is_file()], ids=lambda path: path.name)
def test_the_committed_list_is_the_digest_s(source: Path) -> None:
    ids = _in_digest() if source == RULES else _in_list()
    assert len(ids) == len(set(ids))
    assert ids == _in_list()
