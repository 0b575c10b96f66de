"""The check before each input: every call has its one answer, behind it (FT-3)."""

from __future__ import annotations

import pytest
from ag_ui.core import (
    AssistantMessage,
    FunctionCall,
    Message,
    ReasoningMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from hypothesis import given
from hypothesis import strategies as st

from client_sdk.tools.history import repair_history


def user(identifier: str) -> UserMessage:
    return UserMessage(id=identifier, content="hello")


def says(identifier: str, *calls: str) -> AssistantMessage:
    made = [ToolCall(id=call, function=FunctionCall(name="nav", arguments="{}")) for call in calls]
    return AssistantMessage(id=identifier, content=None if calls else "text", tool_calls=made or None)


def answers(identifier: str, call: str, content: str = "ok", error: str | None = None) -> ToolMessage:
    return ToolMessage(id=identifier, content=content, tool_call_id=call, error=error)


def give_up(call: str) -> ToolMessage:
    return answers(f"gave-up-{call}", call, "abandoned", "abandoned")


def ids(messages: list[Message]) -> list[str]:
    return [message.id for message in messages]


IN_ORDER: list[list[Message]] = [
    [],
    [user("u1"), says("a1")],
    [user("u1"), says("a1", "c1", "c2"), answers("t1", "c1"), answers("t2", "c2"), says("a2"), user("u2")],
    # One assistant message a call, then all answers (Strands, AG2, ADK).
    [user("u1"), says("a1", "c1"), says("a2", "c2"), answers("t1", "c1"), answers("t2", "c2"), says("a3")],
    # Text after a call of the same run: answers that are new close the history.
    [user("u1"), says("a1", "c1"), says("a2"), answers("t1", "c1")],
    [says("a1", "c1"), ReasoningMessage(id="r1", content="hm"), answers("t1", "c1"), says("a2")],
]


@pytest.mark.parametrize("history", IN_ORDER, ids=lambda history: " ".join(ids(history)))
def test_a_history_in_order_goes_out_as_it_is(history: list[Message]) -> None:
    repair = repair_history(history, {}, give_up)
    assert (repair.messages, repair.notes, repair.added) == (history, (), ())


def test_an_answer_that_a_snapshot_omitted_goes_out_again() -> None:
    """The very message that was given, behind its call; CopilotKit PR 6294."""
    given = answers("t1", "c1", "the result")
    repair = repair_history(
        [user("u1"), says("a1", "c1", "c2"), answers("t2", "c2"), user("u2")], {"c1": given}, give_up
    )
    assert ids(repair.messages) == ["u1", "a1", "t1", "t2", "u2"]
    assert repair.added == (given,)
    assert [(note.code, note.path) for note in repair.notes] == [("answer_resent", "c1")]


def test_a_call_nobody_answered_is_answered_as_abandoned() -> None:
    repair = repair_history([says("a1", "c1"), user("u2")], {}, give_up)
    assert ids(repair.messages) == ["a1", "gave-up-c1", "u2"]
    assert [note.code for note in repair.notes] == ["call_abandoned"]
    assert repair.added == (give_up("c1"),)


def test_a_call_whose_interrupt_is_answered_stays_open() -> None:
    """IR-2: the resume entry speaks for it."""
    history: list[Message] = [says("a1", "c1", "c2"), answers("t2", "c2")]
    repair = repair_history(history, {}, give_up, left_open={"c1"})
    assert (repair.messages, repair.notes) == (history, ())


def test_an_answer_without_its_call_is_not_sent() -> None:
    """None is invented: ADK sends a result whose call was never announced."""
    repair = repair_history([user("u1"), answers("t1", "c1"), says("a1")], {}, give_up)
    assert ids(repair.messages) == ["u1", "a1"]
    assert [(note.code, note.path) for note in repair.notes] == [("answer_orphaned", "c1")]


@pytest.mark.parametrize(
    ("history", "order"),
    [
        # LangGraph: the snapshot renumbers the tool message, so it ends up behind the answer.
        ([user("u1"), says("a1", "c1"), says("a2"), answers("t1", "c1"), user("u2")], ["u1", "a1", "t1", "a2", "u2"]),
        ([answers("t1", "c1"), says("a1", "c1"), says("a2")], ["a1", "t1", "a2"]),
        ([answers("t1", "c1"), says("a1", "c1")], ["a1", "t1"]),
    ],
)
def test_an_answer_elsewhere_moves_behind_its_call(history: list[Message], order: list[str]) -> None:
    repair = repair_history(history, {}, give_up)
    assert ids(repair.messages) == order
    assert [note.code for note in repair.notes] == ["answer_moved"]
    assert repair.added == ()


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (answers("t1", "c1", "our result"), "t1"),
        (answers("t1", "c1", "refused", "unknown_tool: refused"), "t2"),
        (None, "t1"),
    ],
    ids=["a result of ours stands", "a refusal of ours gives way", "of two foreign ones the first"],
)
def test_of_two_answers_one_is_sent(given: ToolMessage | None, kept: str) -> None:
    """Agent Framework runs what we refused and answers again; others send placeholders beside our results."""
    history: list[Message] = [says("a1", "c1"), given or answers("t1", "c1"), answers("t2", "c1", "theirs"), says("a2")]
    repair = repair_history(history, {} if given is None else {"c1": given}, give_up)
    assert ids(repair.messages) == ["a1", kept, "a2"]
    assert [note.code for note in repair.notes] == ["answer_duplicate"]


def test_two_foreign_answers_beside_a_lost_one_of_ours() -> None:
    history: list[Message] = [says("a1", "c1"), answers("x", "c1"), answers("y", "c1"), says("a2")]
    repair = repair_history(history, {"c1": answers("t1", "c1")}, give_up)
    assert ids(repair.messages) == ["a1", "x", "a2"]


def test_an_answer_rewritten_by_a_snapshot_is_told_and_left() -> None:
    """LangGraph, Strands, LlamaIndex put other content under our message: theirs is what they hold."""
    history: list[Message] = [says("a1", "c1"), answers("t1", "c1", "<state>..."), says("a2")]
    repair = repair_history(history, {"c1": answers("t1", "c1", "ok")}, give_up)
    assert repair.messages == history
    assert [(note.code, note.path) for note in repair.notes] == [("answer_rewritten", "c1")]


histories = st.lists(
    st.one_of(
        st.just("user"),
        st.lists(st.sampled_from("abcd"), max_size=3, unique=True).map(lambda calls: ("assistant", *calls)),
        st.sampled_from("abcde").map(lambda call: ("tool", call)),
    ),
    max_size=12,
)


def built(shape: list[object]) -> list[Message]:
    made: list[Message] = []
    for index, item in enumerate(shape):
        if isinstance(item, tuple) and item[0] == "assistant":
            made.append(says(f"m{index}", *item[1:]))
        elif isinstance(item, tuple):
            made.append(answers(f"m{index}", item[1]))
        else:
            made.append(user(f"m{index}"))
    return made


@given(histories, st.sets(st.sampled_from("abcd")), st.sets(st.sampled_from("abcd")))
def test_whatever_a_producer_made_of_it_the_history_pairs_up(
    shape: list[object], given_calls: set[str], left_open: set[str]
) -> None:
    """FT-3, over arbitrary histories: one answer a call, behind it; nothing else changes, the second time neither."""
    history = built(shape)
    given_answers = {call: answers(f"given-{call}", call, "given") for call in given_calls}
    sent = repair_history(history, given_answers, give_up, left_open=left_open).messages
    holders: dict[str, int] = {}
    for index, message in enumerate(sent):
        for call in getattr(message, "tool_calls", None) or ():
            holders.setdefault(call.id, index)
    found = [m.tool_call_id for m in sent if isinstance(m, ToolMessage)]
    assert len(found) == len(set(found))
    assert set(holders) - left_open <= set(found) <= set(holders)
    for index, message in enumerate(sent):
        if isinstance(message, ToolMessage):
            assert index > holders[message.tool_call_id]
    others = [m for m in history if not isinstance(m, ToolMessage)]
    assert [m for m in sent if not isinstance(m, ToolMessage)] == others
    again = repair_history(sent, given_answers, give_up, left_open=left_open)
    assert again.messages == sent
    assert again.added == ()
