"""The own corpus is well made: names, rules and codes fit together."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conformance import corpora
from tests.conformance.test_rules_cited import known_rules

CASES = corpora.read(corpora.OWN)
CODES: dict[str, dict[str, Any]] = json.loads((corpora.OWN.parent / "codes.json").read_text(encoding="utf-8"))

FATAL = {
    "not_an_event", "malformed_event", "already_open", "not_open", "still_open", "chunk_identity", "chunk_conflict",
    "chunk_ambiguous", "first_event", "nested_run", "event_after_close", "subagent_lifecycle", "attribution_mismatch",
    "duplicate_interrupt",
}  # fmt: skip
WARN = {
    "unknown_event", "unknown_property", "unknown_member", "retired_shape", "parts_dropped", "pending_calls_mismatch",
    "run_identity", "patch_failed", "activity_target_missing", "encrypted_value_unclaimed", "outgoing_stripped",
    "newer_protocol", "uninterpretable_protocol", "subagent_event_dropped",
}  # fmt: skip
OURS = {"message_id_conflict", "message_gone"}
"""Deviations the rules leave open and this client tells (nothing is lost in silence)."""
REFUSED = {"malformed_input"}
"""RI-1: the client's own refusal, before there is a stream to reject."""

KEYS = ["name", "area", "rules", "description", "specPage", "kill", "client", "input", "stream", "expect"]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_fixture_is_well_formed(case: corpora.Case) -> None:
    fixture = case.fixture
    assert (case.folder / f"{fixture['name']}.json").is_file()
    assert list(fixture) == [key for key in KEYS if key in fixture]
    assert fixture["rules"]
    assert set(fixture["rules"]) <= known_rules()
    assert fixture["specPage"].startswith("/spec/1.0/")
    assert fixture["description"].strip()
    assert fixture["kill"].strip()
    rejected = fixture["expect"]["status"] == "rejected"
    assert (fixture["expect"]["outcome"] == "failed") is rejected
    assert ("errorCode" in case.codes) is rejected


def test_every_code_occurs() -> None:
    errors = {codes["errorCode"] for codes in CODES.values() if "errorCode" in codes}
    warnings = {code for codes in CODES.values() for code in codes.get("warningCodes", ())}
    assert errors == FATAL | REFUSED
    assert warnings == WARN | OURS


def test_codes_name_fixtures() -> None:
    assert set(CODES) <= {case.fixture["name"] for case in CASES}


def test_descriptions_of_what_must_turn_red_are_the_fixture_s_own() -> None:
    names = [case.fixture["name"] for case in CASES]
    assert len(names) == len(set(names))
