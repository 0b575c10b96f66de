"""Answering interrupts: coverage, unknown ids, expiry, schemas (IR-1 to IR-4)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from ag_ui.core import Interrupt, ResumeEntry
from hypothesis import given
from hypothesis import strategies as st

from client_sdk.errors import InterruptError
from client_sdk.interrupts import Cancel, OpenInterrupt, Resolve, build_resume, check_resume, parse_expiry

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
APPROVED = {"type": "object", "properties": {"approved": {"type": "boolean"}}, "required": ["approved"]}


def interrupt(identifier: str, **fields: Any) -> OpenInterrupt:
    return OpenInterrupt(Interrupt(id=identifier, reason="tool_call", **fields))


def test_everything_an_interrupt_carries_is_at_hand() -> None:
    held = interrupt(
        "i1",
        message="Sure?",
        response_schema=APPROVED,
        expires_at="2099-01-01T00:00:00Z",
        tool_call_id="c1",
        subagent_run_id="s1",
        metadata={"risk": "high"},
    )
    assert (held.id, held.reason, held.message, held.tool_call_id) == ("i1", "tool_call", "Sure?", "c1")
    assert (held.response_schema, held.subagent_run_id, held.metadata) == (APPROVED, "s1", {"risk": "high"})
    assert held.expires == datetime(2099, 1, 1, tzinfo=UTC)
    assert [asked.name for asked in held.fields()] == ["approved"]
    assert repr(held) == "OpenInterrupt(id='i1', reason='tool_call')"
    bare = interrupt("i2")
    assert (bare.message, bare.expires, bare.metadata) == (None, None, {})


def test_answers_become_one_resume_entry_each_in_the_interrupts_order() -> None:
    """IR-2."""
    resume = build_resume(
        [interrupt("i1", response_schema=APPROVED), interrupt("i2"), interrupt("i3")],
        {"i3": Resolve(None), "i2": Cancel({"why": "late"}), "i1": Resolve({"approved": True}, {"proof": "x"})},
        now=NOW,
    )
    assert [entry.model_dump(by_alias=True) for entry in resume.entries] == [
        {"interruptId": "i1", "status": "resolved", "payload": {"approved": True}, "metadata": {"proof": "x"}},
        {"interruptId": "i2", "status": "cancelled", "metadata": {"why": "late"}},
        {"interruptId": "i3", "status": "resolved"},
    ]
    assert resume.diagnostics == ()


@pytest.mark.parametrize(
    ("answers", "code", "ids", "said"),
    [
        ({"i1": Resolve(1)}, "interrupt_uncovered", ("i2",), "interrupt 'i2' has no answer"),
        ({}, "interrupt_uncovered", ("i1", "i2"), "interrupts 'i1', 'i2' has no answer"),
        (
            {"i1": Cancel(), "i2": Cancel(), "i9": Cancel()},
            "interrupt_unknown",
            ("i9",),
            "'i9' is not open on this thread; open are 'i1', 'i2'",
        ),
    ],
)
def test_a_resume_that_does_not_fit_what_is_open_is_refused(
    answers: dict[str, Any], code: str, ids: tuple[str, ...], said: str
) -> None:
    """IR-2: coverage is complete and names nothing else; the error says which ids."""
    with pytest.raises(InterruptError, match=said) as caught:
        build_resume([interrupt("i1"), interrupt("i2")], answers, now=NOW)
    assert (caught.value.code, caught.value.ids) == (code, ids)


def test_a_resume_without_anything_open_is_refused() -> None:
    """IR-2."""
    with pytest.raises(InterruptError, match="none is open") as caught:
        build_resume([], {"i1": Cancel()}, now=NOW)
    assert caught.value.code == "interrupt_unknown"


def test_an_interrupt_is_answered_once() -> None:
    """IR-1: one approval does not answer two questions, nor two approvals one."""
    entry = ResumeEntry(interrupt_id="i1", status="resolved", payload=1)
    with pytest.raises(InterruptError) as caught:
        check_resume([interrupt("i1")], [entry, entry], now=NOW)
    assert (caught.value.code, caught.value.ids) == ("interrupt_answered_twice", ("i1",))


@pytest.mark.parametrize("early", [timedelta(0), timedelta(microseconds=1), timedelta(days=9000)])
def test_an_expired_interrupt_can_only_be_cancelled(early: timedelta) -> None:
    """IR-3: now or earlier is expired."""
    held = [interrupt("i1", expires_at=(NOW - early).isoformat())]
    with pytest.raises(InterruptError, match="expired and can only be cancelled") as caught:
        build_resume(held, {"i1": Resolve(True)}, now=NOW)
    assert (caught.value.code, caught.value.ids) == ("interrupt_expired", ("i1",))
    assert build_resume(held, {"i1": Cancel()}, now=NOW).entries[0].status == "cancelled"


@pytest.mark.parametrize("text", ["2026-11-30T12:00:00.000001Z", "2099-01-01", "soon", "", "1764500000", "32 Oct"])
def test_what_is_later_or_no_date_is_not_expired(text: str) -> None:
    """IR-3: the protocol constrains no format, so what is unreadable never expires."""
    held = [interrupt("i1", expires_at=text)]
    assert build_resume(held, {"i1": Resolve(True)}, now=NOW).entries[0].status == "resolved"


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-30T08:46:44.570014+00:00", datetime(2026, 11, 30, 8, 46, 44, 570014, UTC)),
        ("2026-11-30T09:00:00+01:00", datetime(2026, 11, 30, 8, tzinfo=UTC)),
        ("2026-11-30t08:00:00z", datetime(2026, 11, 30, 8, tzinfo=UTC)),
        (" 2026-11-30 ", datetime(2026, 11, 30, tzinfo=UTC)),
        ("20261130T080000Z", datetime(2026, 11, 30, 8, tzinfo=UTC)),
        ("2026-11-30T08:00:00", datetime(2026, 11, 30, 8, tzinfo=UTC)),
        ("Mon, 30 Nov 2026 08:00:00 GMT", datetime(2026, 11, 30, 8, tzinfo=UTC)),
    ],
)
def test_dates_in_the_spellings_producers_use(text: str, moment: datetime) -> None:
    assert parse_expiry(text) == moment


@given(st.text())
def test_no_expiry_whatever_raises(text: str) -> None:
    moment = parse_expiry(text)
    assert moment is None or moment.tzinfo is not None


def test_an_answer_that_misses_the_schema_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(
        InterruptError, match="'i1' does not fit its response schema: at /approved: expected boolean"
    ) as e:
        build_resume([interrupt("i1", response_schema=APPROVED)], {"i1": Resolve({"approved": "yes"})}, now=NOW)
    assert (e.value.code, e.value.ids, e.value.path) == ("interrupt_answer_invalid", ("i1",), "/approved")


def test_a_type_that_is_a_list_is_a_schema_like_any_other() -> None:
    held = [interrupt("i1", response_schema={"type": ["string", "boolean"]})]
    for payload in (True, "Always"):
        assert build_resume(held, {"i1": Resolve(payload)}, now=NOW).diagnostics == ()
    with pytest.raises(InterruptError, match="expected string or boolean, found integer 1"):
        build_resume(held, {"i1": Resolve(1)}, now=NOW)


@pytest.mark.parametrize(
    "schema", [{"type": "nonsense"}, {"$ref": "#"}, {"$ref": "http://127.0.0.1:1/"}, {"properties": 5}], ids=str
)
def test_a_schema_that_cannot_judge_lets_the_answer_pass_and_says_so(schema: dict[str, Any]) -> None:
    held = interrupt("i1", response_schema=schema)
    resume = build_resume([held], {"i1": Resolve({"any": "thing"})}, now=NOW)
    (note,) = resume.diagnostics
    assert (note.code, note.path) == ("response_schema_unusable", "i1")
    assert "cannot judge answers" in note.message
    assert held.problems("x") == []


def test_a_cancelled_interrupt_is_not_judged_by_its_schema() -> None:
    held = [interrupt("i1", response_schema=APPROVED)]
    assert build_resume(held, {"i1": Cancel()}, now=NOW).entries[0].status == "cancelled"
