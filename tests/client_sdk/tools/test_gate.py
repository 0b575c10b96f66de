"""The one execution gate, row by row and over every combination of facts (FT-3 to FT-8, TC-2, TC-3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from itertools import product
from typing import get_type_hints

import pytest

from client_sdk.tools.arguments import ArgumentState
from client_sdk.tools.calls import RunStatus
from client_sdk.tools.gate import (
    RULES,
    CallFacts,
    CallText,
    ConsentNeed,
    InterruptState,
    JournalState,
    RefusalReason,
    ToolState,
    Verdict,
    as_markdown,
    decide,
    rules_as_markdown,
)


def every_combination() -> Iterator[CallFacts]:
    kinds = get_type_hints(CallFacts)
    for values in product(*(kinds[field.name] for field in fields(CallFacts))):
        yield CallFacts(*values)


def test_nothing_runs_unless_everything_speaks_for_it() -> None:
    """FT-4, FT-5, FT-6, FT-8: the promise of the gate, over all combinations of facts."""
    for facts in every_combination():
        if decide(facts).verdict is not Verdict.EXECUTE:
            continue
        assert facts.text is CallText.COMPLETE
        assert facts.arguments is ArgumentState.VALID
        assert facts.interrupt is InterruptState.NONE
        assert facts.tool in (ToolState.OFFERED, ToolState.HANDLED)
        assert facts.journal in (JournalState.NEW, JournalState.GRANTED)
        assert facts.journal is JournalState.GRANTED or facts.consent is ConsentNeed.NOT_NEEDED
        well = facts.run in (RunStatus.COMPLETED, RunStatus.INTERRUPTED)
        assert well or (facts.run is RunStatus.TRUNCATED and facts.journal is JournalState.GRANTED)


@pytest.mark.parametrize("run", [RunStatus.FAILED, RunStatus.CANCELLED, RunStatus.REJECTED])
def test_runs_that_did_not_end_well_execute_nothing(run: RunStatus) -> None:
    for facts in every_combination():
        if facts.run is run:
            assert decide(facts).verdict not in (Verdict.EXECUTE, Verdict.ASK)


def test_a_truncated_run_executes_nothing_by_itself() -> None:
    """TR-1: the user may still run the call, and only by a word on this very call."""
    for facts in every_combination():
        if facts.run is RunStatus.TRUNCATED and facts.journal is not JournalState.GRANTED:
            assert decide(facts).verdict in (Verdict.HOLD, Verdict.REFUSE)
    held = decide(CallFacts(run=RunStatus.TRUNCATED, consent=ConsentNeed.NOT_NEEDED))
    assert (held.verdict, held.reason) == (Verdict.HOLD, RefusalReason.RUN_TRUNCATED)


def test_every_verdict_but_execute_and_ask_has_its_reason() -> None:
    for rule in RULES:
        explained = rule.decision.verdict in (Verdict.HOLD, Verdict.REFUSE)
        assert (rule.decision.reason is not None) is explained
        assert rule.because.endswith(".")


def test_every_row_decides_something_and_every_reason_is_used() -> None:
    """A row that never decides, or a reason nobody gives, would be dead code."""
    deciding = set()
    for facts in every_combination():
        deciding.add(
            next(
                index
                for index, rule in enumerate(RULES)
                if all(getattr(facts, name) == value for name, value in rule.when.items())
            )
        )
    assert deciding == set(range(len(RULES)))
    assert {rule.decision.reason for rule in RULES} - {None} == set(RefusalReason)


@pytest.mark.parametrize(
    ("facts", "verdict", "reason"),
    [
        (CallFacts(), Verdict.ASK, None),
        (CallFacts(consent=ConsentNeed.NOT_NEEDED), Verdict.EXECUTE, None),
        (CallFacts(journal=JournalState.GRANTED), Verdict.EXECUTE, None),
        (CallFacts(tool=ToolState.HANDLED), Verdict.ASK, None),
        (CallFacts(run=RunStatus.INTERRUPTED), Verdict.ASK, None),
        (CallFacts(tool=ToolState.UNKNOWN), Verdict.REFUSE, RefusalReason.UNKNOWN_TOOL),
        (CallFacts(tool=ToolState.NOT_OFFERED), Verdict.REFUSE, RefusalReason.TOOL_NOT_OFFERED),
        (CallFacts(tool=ToolState.BY_HAND), Verdict.HOLD, RefusalReason.NO_HANDLER),
        (
            CallFacts(run=RunStatus.INTERRUPTED, tool=ToolState.HELD_BY_AGENT),
            Verdict.HOLD,
            RefusalReason.OPEN_INTERRUPT,
        ),
        (CallFacts(interrupt=InterruptState.OPEN), Verdict.HOLD, RefusalReason.OPEN_INTERRUPT),
        (CallFacts(interrupt=InterruptState.CANCELLED), Verdict.REFUSE, RefusalReason.INTERRUPT_CANCELLED),
        (CallFacts(text=CallText.INCOMPLETE), Verdict.REFUSE, RefusalReason.INCOMPLETE_CALL),
        (CallFacts(text=CallText.RESTATED), Verdict.REFUSE, RefusalReason.RESTATED_CALL),
        (CallFacts(arguments=ArgumentState.NOT_JSON), Verdict.REFUSE, RefusalReason.ARGUMENTS_NOT_JSON),
        (CallFacts(arguments=ArgumentState.NOT_AN_OBJECT), Verdict.REFUSE, RefusalReason.ARGUMENTS_NOT_AN_OBJECT),
        (CallFacts(arguments=ArgumentState.AGAINST_SCHEMA), Verdict.REFUSE, RefusalReason.ARGUMENTS_INVALID),
        (CallFacts(journal=JournalState.STARTED), Verdict.HOLD, RefusalReason.MAY_HAVE_HAPPENED),
        (CallFacts(journal=JournalState.ANSWERED), Verdict.REFUSE, RefusalReason.ALREADY_ANSWERED),
        (CallFacts(journal=JournalState.DECLINED), Verdict.REFUSE, RefusalReason.DECLINED),
        (CallFacts(journal=JournalState.ABANDONED), Verdict.REFUSE, RefusalReason.ABANDONED),
    ],
    ids=str,
)
def test_what_the_table_says(facts: CallFacts, verdict: Verdict, reason: RefusalReason | None) -> None:
    decision = decide(facts)
    assert (decision.verdict, decision.reason) == (verdict, reason)


def test_the_tables_for_the_readme() -> None:
    table = as_markdown().splitlines()
    assert table[0] == "| the call | " + " | ".join(f"run {status}" for status in RunStatus) + " |"
    assert "| consent needed | **ask** | **ask** | refuse: `run_cancelled` | refuse: `run_failed` |" in table[3]
    assert len(rules_as_markdown().splitlines()) == len(RULES) + 2
    assert "| otherwise | ask | The user is asked first (FT-6). |" in rules_as_markdown()
