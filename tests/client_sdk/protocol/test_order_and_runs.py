"""Order verification and the record of runs: what errors say, and what the application can hold."""

from __future__ import annotations

from typing import Any

import pytest

from client_sdk.errors import ProtocolError
from client_sdk.protocol.pipeline import Pipeline
from client_sdk.protocol.runs import RunStatus, SubagentStatus, total_usage
from tests.client_sdk.protocol.driving import drive
from tests.client_sdk.protocol.test_conversation import (
    FINISH,
    START,
    call_args,
    call_end,
    call_result,
    call_start,
    codes,
    text,
    text_end,
    text_start,
)


def step(kind: str, name: str, owner: str | None = None) -> dict[str, Any]:
    return {"type": f"STEP_{kind}", "stepName": name, **({} if owner is None else {"subagentRunId": owner})}


def subagent(identity: str, **members: Any) -> dict[str, Any]:
    return {"type": "SUBAGENT_STARTED", "subagentRunId": identity, "name": identity, **members}


def rejection(*events: Any) -> ProtocolError:
    pipeline, _ = drive(*events)
    assert pipeline.error is not None
    return pipeline.error


BOTH = (subagent("s1"), subagent("s2"))


@pytest.mark.parametrize(
    ("events", "code", "path", "ids", "words"),
    [
        ([text_start("a")], "first_event", "", (), ["RUN_STARTED or RUN_ERROR", "TEXT_MESSAGE_START"]),
        ([START, START], "nested_run", "", (), ["RUN_STARTED", "'r'", "still active"]),
        ([START, FINISH, text_start("a")], "event_after_close", "", (), ["TEXT_MESSAGE_START", "'r'", "finished"]),
        ([START, FINISH, FINISH], "event_after_close", "", (), ["RUN_FINISHED", "'r'", "finished"]),
        ([START, {"type": "RUN_ERROR", "message": "m"}, FINISH], "event_after_close", "", (), ["'r'", "failed"]),
        ([START, text_start("a"), text_start("a")], "already_open", "/messageId", ("a",), ["text message 'a'"]),
        ([START, call_start("c"), call_start("c")], "already_open", "/toolCallId", ("c",), ["tool call 'c'"]),
        ([START, text("a", "x")], "not_open", "/messageId", ("a",), ["text message 'a'", "nothing opened it"]),
        ([START, call_args("c", "x")], "not_open", "/toolCallId", ("c",), ["tool call 'c'"]),
        ([START, step("STARTED", "n"), step("STARTED", "n")], "already_open", "/stepName", ("n",), ["step 'n'"]),
        ([START, step("FINISHED", "n")], "not_open", "/stepName", ("n",), ["nothing opened it"]),
        (
            [START, subagent("s"), step("STARTED", "n", "s"), step("FINISHED", "n")],
            "not_open", "/stepName", ("n",), ["subagent 's' has it open"],
        ),
        (
            [START, step("STARTED", "n"), subagent("s"), step("FINISHED", "n", "s")],
            "not_open", "/stepName", ("n",), ["the parent agent has it open"],
        ),
        (
            [START, text_start("a"), call_start("c"), step("STARTED", "n"), subagent("s"), FINISH],
            "still_open", "", ("a", "c", "n", "s"),
            ["'r'", "text message 'a'", "tool call 'c'", "step 'n'", "subagent 's'"],
        ),
        (
            [START, *BOTH, text_start("a", subagentRunId="s1"), text("a", "x", subagentRunId="s2")],
            "attribution_mismatch", "/subagentRunId", ("a",), ["subagent 's2'", "text message 'a'", "subagent 's1'"],
        ),
        (
            [START, subagent("s"), text_start("a"), text("a", "x", subagentRunId="s")],
            "attribution_mismatch", "/subagentRunId", ("a",), ["the parent agent"],
        ),
        ([START, subagent("s"), subagent("s")], "subagent_lifecycle", "/subagentRunId", ("s",), ["already active"]),
        (
            [START, subagent("s", parentSubagentRunId="x")],
            "subagent_lifecycle", "/parentSubagentRunId", ("s",), ["'x' was never started"],
        ),
        (
            [START, {**FINISH, "outcome": {"type": "interrupt", "interrupts": [{"id": "i", "reason": "x"}] * 2}}],
            "duplicate_interrupt", "/outcome/interrupts/1/id", ("i",), ["'i'", "'r'"],
        ),
        (
            [START, {"type": "TEXT_MESSAGE_CHUNK", "delta": "x"}],
            "chunk_identity", "/messageId", (), ["first chunk", "messageId"],
        ),
        (
            [START, {"type": "TEXT_MESSAGE_CHUNK", "messageId": "a"}, {"type": "TEXT_MESSAGE_CHUNK", "role": "user"}],
            "chunk_conflict", "/role", ("a",), ["'user'", "'assistant'"],
        ),
        (
            [
                START, *BOTH,
                {"type": "TEXT_MESSAGE_CHUNK", "messageId": "a", "subagentRunId": "s1"},
                {"type": "TEXT_MESSAGE_CHUNK", "messageId": "b", "subagentRunId": "s2"},
                {"type": "TEXT_MESSAGE_CHUNK", "delta": "x"},
            ],
            "chunk_ambiguous", "", ("a", "b"), ["2 subagents", "a, b"],
        ),
        (
            [
                START, *BOTH,
                {"type": "TEXT_MESSAGE_CHUNK", "messageId": "a", "subagentRunId": "s1"},
                {"type": "TEXT_MESSAGE_CHUNK", "messageId": "a", "subagentRunId": "s2"},
            ],
            "attribution_mismatch", "/subagentRunId", ("a",), ["subagent 's2'", "belongs to subagent 's1'"],
        ),
    ],
)  # fmt: skip
def test_an_error_names_event_position_place_ids_and_expectation(
    events: list[Any], code: str, path: str, ids: tuple[str, ...], words: list[str]
) -> None:
    """ST-2 to ST-4, ST-8, ST-9, ST-12, LC-1 to LC-3, LC-8, SA-1, SA-2, IR-1."""
    error = rejection(*events)
    assert (error.code, error.path, error.ids) == (code, path, ids)
    assert error.index == len(events) - 1
    assert error.event_type == events[-1]["type"]
    assert [word for word in words if word not in str(error)] == []
    assert error.message == str(error)


def test_after_a_rejection_nothing_more_is_taken_in() -> None:
    """PL-4."""
    pipeline, updates = drive(START, text_start("a"), text("a", "kept"), text_start("a"))
    held = pipeline.conversation.messages
    assert pipeline.feed_raw(text("a", "late")) == []
    assert pipeline.feed('{"type":"RUN_FINISHED","threadId":"t","runId":"r"}') == []
    pipeline.end()
    assert pipeline.conversation.messages == held
    assert len(updates) == 3
    assert pipeline.ledger.runs[-1].status is RunStatus.REJECTED


def test_a_rejection_by_the_outside_counts_as_one() -> None:
    pipeline, _ = drive(START)
    pipeline.reject(ProtocolError("no", code="not_an_event"))
    pipeline.end()
    assert pipeline.ledger.runs[-1].status is RunStatus.REJECTED


def test_a_stream_rejected_before_its_first_run_has_a_record_all_the_same() -> None:
    pipeline, _ = drive("nonsense")
    pipeline.end()
    (record,) = pipeline.ledger.runs
    assert (record.status, record.thread_id, record.run_id, record.result) == (RunStatus.REJECTED, "", "", None)


def test_a_finished_run_is_rejected_by_what_follows_it() -> None:
    """LC-3: the verdict is on the stream, and what the run said stays on record."""
    pipeline, _ = drive(START, {**FINISH, "result": {"n": 1}}, FINISH)
    pipeline.end()
    (record,) = pipeline.ledger.runs
    assert (record.status, record.result) == (RunStatus.REJECTED, {"n": 1})


# Steps, subagents.


def test_steps_are_views_that_say_whether_they_finished() -> None:
    """LC-8: owners may have steps of one name open beside each other."""
    pipeline, _ = drive(
        START, subagent("s"), step("STARTED", "n"), step("STARTED", "n", "s"), step("FINISHED", "n"),
        step("STARTED", "n"), step("STARTED", "m"), step("FINISHED", "n"),
    )  # fmt: skip
    steps = [(view.name, view.subagent_run_id, view.finished) for view in pipeline.ledger.runs[0].steps]
    assert steps == [("n", None, True), ("n", "s", False), ("n", None, True), ("m", None, False)]


def test_subagents_make_a_tree() -> None:
    """SA-1, SA-3, SA-4."""
    suspended = {"type": "suspended", "interruptIds": ["i1"]}
    pipeline, _ = drive(
        START,
        subagent("a", description="d", parentToolCallId="c", parentMessageId="m"),
        subagent("b", parentSubagentRunId="a"),
        subagent("c", parentSubagentRunId="b"),
        subagent("d"),
        {"type": "SUBAGENT_FINISHED", "subagentRunId": "b", "result": [1]},
        {"type": "SUBAGENT_ERROR", "subagentRunId": "c", "message": "broke", "code": "E1"},
        {"type": "SUBAGENT_FINISHED", "subagentRunId": "d", "outcome": suspended},
        {"type": "RUN_ERROR", "message": "m"},
    )
    run = pipeline.ledger.runs[0]
    first, last = run.subagent_tree
    assert (first.id, first.name, first.description) == ("a", "a", "d")
    assert (first.parent_tool_call_id, first.parent_message_id) == ("c", "m")
    assert first.status is SubagentStatus.ABANDONED
    (child,) = first.children
    assert (child.status, child.result) == (SubagentStatus.FINISHED, [1])
    (grandchild,) = child.children
    assert (grandchild.status, grandchild.error, grandchild.error_code) == (SubagentStatus.FAILED, "broke", "E1")
    assert (last.status, last.interrupt_ids) == (SubagentStatus.SUSPENDED, ("i1",))


def test_subagents_of_a_truncated_run_are_abandoned() -> None:
    """TR-1, SA-4."""
    pipeline, _ = drive(START, subagent("a"))
    pipeline.end()
    assert pipeline.ledger.runs[0].subagents["a"].status is SubagentStatus.ABANDONED


# Usage (LC-9).


def test_usage_is_summed_per_provider_and_model_over_runs() -> None:
    def usage(**counts: int) -> dict[str, Any]:
        return {"provider": "p", "model": "m", **counts}

    pipeline, _ = drive(
        START,
        {**FINISH, "usage": [usage(inputTokens=5, cachedInputTokens=2), {"provider": "q", "totalTokens": 1}]},
        START,
        {"type": "RUN_ERROR", "message": "m", "usage": [usage(inputTokens=1, outputTokens=4)]},
        START,
        FINISH,
    )
    totals = {entry.provider: entry for entry in total_usage(pipeline.ledger.runs)}
    assert (totals["p"].input_tokens, totals["p"].output_tokens, totals["p"].cached_input_tokens) == (6, 4, 2)
    assert totals["p"].reasoning_tokens is None
    assert (totals["q"].total_tokens, totals["q"].input_tokens) == (1, None)
    assert [len(run.usage) for run in pipeline.ledger.runs] == [2, 1, 0]


def test_a_late_error_keeps_the_usage_the_run_reported() -> None:
    """LC-3, LC-9."""
    pipeline, _ = drive(START, {**FINISH, "usage": [{"provider": "p"}]}, {"type": "RUN_ERROR", "message": "m"})
    (run,) = pipeline.ledger.runs
    assert run.status is RunStatus.FAILED
    assert len(run.usage) == 1
    assert run.error is not None


# Pending calls (FT-2).


def pending(pipeline: Pipeline) -> list[tuple[str, bool]]:
    return [(call.id, call.complete) for call in pipeline.ledger.runs[-1].pending]


def test_pending_calls_are_what_the_run_started_and_nothing_answered() -> None:
    pipeline, _ = drive(
        START, call_start("c", "m", "one"), call_args("c", '{"a":1}'), call_end("c"), call_start("d"), call_end("d"),
        call_result("d"), call_start("e"), call_end("e"), FINISH,
    )  # fmt: skip
    assert pending(pipeline) == [("c", True), ("e", True)]
    first = pipeline.ledger.runs[0].pending[0]
    assert (first.name, first.arguments, first.message_id) == ("one", '{"a":1}', "m")
    assert (first.thread_id, first.run_id, first.subagent_run_id) == ("t", "r", None)


def test_calls_of_a_cut_off_run_say_whether_their_arguments_are_complete() -> None:
    """TC-2, TR-1."""
    pipeline, _ = drive(START, call_start("c"), call_end("c"), call_start("d"), call_args("d", '{"pa'))
    pipeline.end()
    assert pending(pipeline) == [("c", True), ("d", False)]
    assert pipeline.ledger.runs[0].pending[1].arguments == '{"pa'


def test_an_answer_among_the_messages_is_an_answer() -> None:
    snapshot = {
        "type": "MESSAGES_SNAPSHOT",
        "messages": [
            {
                "id": "c",
                "role": "assistant",
                "toolCalls": [{"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
            },
            {"id": "x", "role": "tool", "toolCallId": "c", "content": "done"},
        ],
    }
    pipeline, _ = drive(START, call_start("c"), call_end("c"), snapshot, FINISH)
    assert pending(pipeline) == []


@pytest.mark.parametrize(
    ("named", "told"),
    [(None, []), ([], []), (["c"], []), (["c", "x"], ["pending_calls_mismatch"]), (["x"], ["pending_calls_mismatch"])],
)
def test_the_stream_decides_what_is_pending(named: list[str] | None, told: list[str]) -> None:
    outcome = {} if named is None else {"outcome": {"type": "success", "pendingToolCallIds": named}}
    pipeline, _ = drive(START, call_start("c"), call_end("c"), {**FINISH, **outcome})
    assert pending(pipeline) == [("c", True)]
    assert [code for code, _ in codes(pipeline)] == told


def test_open_items_do_not_outlive_their_run() -> None:
    """LC-7."""
    pipeline, _ = drive(
        START, text_start("a"), {"type": "RUN_ERROR", "message": "m"}, START, text_start("a"), text_end("a")
    )
    assert pipeline.error is None


def test_of_an_id_used_twice_in_echoed_history_the_first_owner_stands() -> None:
    """SA-2, SA-5: an echoed input adds what is not known, and changes nothing."""
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    first = {"id": "m", "role": "assistant", "subagentRunId": "s1", "toolCalls": [call]}
    second = {**first, "subagentRunId": "s2"}
    echoed = {"threadId": "t", "runId": "r", "messages": [first, second]}
    for owner, code in (("s1", None), ("s2", "attribution_mismatch")):
        pipeline, _ = drive({**START, "input": echoed}, {**call_start("c", "m"), "subagentRunId": owner})
        assert (pipeline.error and pipeline.error.code) == code
