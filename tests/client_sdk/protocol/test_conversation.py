"""The conversation: views, models, costs (what the corpus of streams cannot show)."""

from __future__ import annotations

from typing import Any

import pytest
from ag_ui.core import ActivityMessage, AssistantMessage, Message, ReasoningMessage, ToolMessage, UserMessage
from pydantic import BaseModel

from client_sdk.protocol.conversation import CallPhase, Conversation
from client_sdk.protocol.outgoing import wire
from client_sdk.protocol.pipeline import Pipeline
from tests.client_sdk.protocol.driving import drive

START = {"type": "RUN_STARTED", "threadId": "t", "runId": "r"}
FINISH = {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}


def text_start(identity: str, **members: Any) -> dict[str, Any]:
    return {"type": "TEXT_MESSAGE_START", "messageId": identity, **members}


def text(identity: str, delta: str, **members: Any) -> dict[str, Any]:
    return {"type": "TEXT_MESSAGE_CONTENT", "messageId": identity, "delta": delta, **members}


def text_end(identity: str) -> dict[str, Any]:
    return {"type": "TEXT_MESSAGE_END", "messageId": identity}


def call_start(identity: str, parent: str | None = None, name: str = "look") -> dict[str, Any]:
    named = {"parentMessageId": parent} if parent is not None else {}
    return {"type": "TOOL_CALL_START", "toolCallId": identity, "toolCallName": name, **named}


def call_args(identity: str, delta: str, **members: Any) -> dict[str, Any]:
    return {"type": "TOOL_CALL_ARGS", "toolCallId": identity, "delta": delta, **members}


def call_end(identity: str) -> dict[str, Any]:
    return {"type": "TOOL_CALL_END", "toolCallId": identity}


def call_result(identity: str, content: Any = "done", message: str | None = None) -> dict[str, Any]:
    return {
        "type": "TOOL_CALL_RESULT",
        "messageId": message or f"result-of-{identity}",
        "toolCallId": identity,
        "content": content,
    }


def snapshot(*messages: dict[str, Any]) -> dict[str, Any]:
    return {"type": "MESSAGES_SNAPSHOT", "messages": list(messages)}


def codes(pipeline: Pipeline) -> list[tuple[str, str]]:
    return [(diagnostic.code, diagnostic.path) for diagnostic in pipeline.diagnostics]


# Updates.


def test_an_update_says_what_it_concerns() -> None:
    _, updates = drive(START, text_start("a"), text("a", "He"), text("a", "llo"), text_end("a"))
    start, opened, first, second, closed = updates
    assert (start.message, start.message_id, start.tool_call, start.delta) == (None, None, None, None)
    assert (opened.message_id, opened.delta, opened.tool_call) == ("a", None, None)
    assert [first.delta, second.delta, closed.delta] == ["He", "llo", None]
    assert second.message is not None
    assert second.message.content == "Hello"
    assert repr(second) == f"Update({second.event!r})"


def test_an_update_of_a_call_holds_the_live_call_and_its_message() -> None:
    pipeline, updates = drive(START, call_start("c"), call_args("c", '{"q":'))
    call = updates[-1].tool_call
    assert call is not None
    assert (call.id, call.name, call.arguments, call.phase) == ("c", "look", '{"q":', CallPhase.STREAMING)
    assert updates[-1].delta == '{"q":'
    pipeline.feed('{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"1}"}')
    assert call.arguments == '{"q":1}'
    pipeline.feed('{"type":"TOOL_CALL_END","toolCallId":"c"}')
    assert call.phase is CallPhase.COMPLETE
    pipeline.feed('{"type":"TOOL_CALL_RESULT","toolCallId":"c","messageId":"m","content":"x"}')
    assert call.phase is CallPhase.ANSWERED
    assert call.result is not None
    assert call.result.message.content == "x"
    assert pipeline.conversation.call("c") is call
    assert call.holder is pipeline.conversation.view("c")
    assert call.tool_call.function.arguments == '{"q":1}'


def test_state_deltas_are_no_text() -> None:
    _, updates = drive(START, {"type": "STATE_DELTA", "delta": [{"op": "add", "path": "/a", "value": 1}]})
    assert updates[-1].delta is None


# Models that were handed out stay as they were.


def test_later_events_do_not_change_a_model_that_was_handed_out() -> None:
    pipeline, updates = drive(START, text_start("a"), text("a", "one"))
    first = updates[-1].message
    listed = pipeline.conversation.messages
    assert first is not None
    before = wire(first)
    for event in (text("a", " two", metadata={"k": 1}), call_start("c", "a"), call_args("c", "{}"), text_end("a")):
        pipeline.feed_raw(event)
    pipeline.feed_raw(
        {"type": "REASONING_ENCRYPTED_VALUE", "subtype": "message", "entityId": "a", "encryptedValue": "e"}
    )
    assert wire(first) == before
    assert listed == [first]
    (now,) = pipeline.conversation.messages
    assert wire(now) == {
        "id": "a",
        "role": "assistant",
        "content": "one two",
        "metadata": {"k": 1},
        "encryptedValue": "e",
        "toolCalls": [{"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
    }


def test_later_events_do_not_change_an_activity_or_a_state_that_was_handed_out() -> None:
    """SN-2, AC-3: a patch works on a copy."""
    activity = {"type": "ACTIVITY_SNAPSHOT", "messageId": "v", "activityType": "plan", "content": {"steps": [1]}}
    state = {"type": "STATE_SNAPSHOT", "snapshot": {"list": [1]}}
    pipeline, updates = drive(START, activity, state)
    held_state = pipeline.conversation.state
    held = updates[-2].message
    pipeline.feed_raw({"type": "STATE_DELTA", "delta": [{"op": "add", "path": "/list/-", "value": 2}]})
    patch = [{"op": "add", "path": "/steps/-", "value": 2}]
    pipeline.feed_raw({"type": "ACTIVITY_DELTA", "messageId": "v", "activityType": "plan", "patch": patch})
    assert held_state == {"list": [1]}
    assert isinstance(held, ActivityMessage)
    assert held.content == {"steps": [1]}
    assert pipeline.conversation.state == {"list": [1, 2]}
    (now,) = pipeline.conversation.messages
    assert now.content == {"steps": [1, 2]}


def test_messages_of_the_application_are_never_changed() -> None:
    mine = AssistantMessage(id="a", content="one")
    pipeline, _ = drive(START, text_start("a"), text("a", " two"), conversation=Conversation([mine]))
    assert mine.content == "one"
    assert pipeline.conversation.messages[0].content == "one two"


def test_an_unchanged_message_is_the_same_object_every_time() -> None:
    mine = UserMessage(id="u", content="hi")
    pipeline, _ = drive(START, text_start("a"), text("a", "x"), conversation=Conversation([mine]))
    first = pipeline.conversation.messages
    second = pipeline.conversation.messages
    assert first[0] is mine
    assert [a is b for a, b in zip(first, second, strict=True)] == [True, True]


# What an event costs, counted: not how long it takes.


@pytest.fixture
def copies(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of the messages that were built or rebuilt."""
    made: list[str] = []
    copy, build = BaseModel.model_copy, BaseModel.__init__

    def counted_copy(self: Any, **options: Any) -> Any:
        made.append(self.id)
        return copy(self, **options)

    def counted_build(self: Any, **fields: Any) -> None:
        if type(self).__name__.endswith("Message"):
            made.append(fields["id"])
        build(self, **fields)

    monkeypatch.setattr(BaseModel, "model_copy", counted_copy)
    monkeypatch.setattr(BaseModel, "__init__", counted_build)
    return made


@pytest.mark.parametrize("length", [0, 1_000])
def test_an_event_rebuilds_nothing_until_somebody_reads(copies: list[str], length: int) -> None:
    history: list[Message] = [UserMessage(id=f"u{n}", content="x") for n in range(length)]
    pipeline, _ = drive(START, text_start("a"), conversation=Conversation(history))
    copies.clear()  # the history
    for n in range(100):
        pipeline.feed_raw(text("a", f"{n} "))
    pipeline.feed_raw(call_start("c", "a"))
    for _ in range(100):
        pipeline.feed_raw(call_args("c", "1"))
    assert copies == []
    assert len(pipeline.conversation.messages) == length + 1
    assert copies == ["a"]
    assert len(pipeline.conversation.messages) == length + 1
    assert copies == ["a"]


def test_reading_the_message_at_every_token_rebuilds_that_message_only(copies: list[str]) -> None:
    history: list[Message] = [UserMessage(id=f"u{n}", content="x") for n in range(50)]
    pipeline, _ = drive(START, text_start("a"), conversation=Conversation(history))
    copies.clear()  # the history
    for n in range(10):
        (update,) = pipeline.feed_raw(text("a", "x"))
        assert update.message is not None
        assert update.message.content == "x" * (n + 1)
    assert copies == ["a"] * 10


class _Untouchable(list):  # type: ignore[type-arg]
    """A list that may not be walked through."""

    def __iter__(self) -> Any:
        raise AssertionError("an event walked through the history")


def test_no_event_of_a_running_message_walks_through_the_history() -> None:
    history: list[Message] = [UserMessage(id=f"u{n}", content="x") for n in range(20)]
    pipeline, _ = drive(START, conversation=Conversation(history))
    pipeline.conversation._views = _Untouchable(pipeline.conversation._views)
    for event in (
        text_start("a"), text("a", "x"), call_start("c", "a"), call_args("c", "{}"), call_end("c"), call_result("c"),
        text_end("a"), {"type": "STATE_SNAPSHOT", "snapshot": 1},
        {"type": "ACTIVITY_SNAPSHOT", "messageId": "v", "activityType": "t", "content": {}},
        {"type": "REASONING_MESSAGE_START", "messageId": "q", "role": "reasoning"},
        {"type": "REASONING_MESSAGE_CONTENT", "messageId": "q", "delta": "x"},
        {"type": "REASONING_MESSAGE_END", "messageId": "q"}, FINISH,
    ):  # fmt: skip
        pipeline.feed_raw(event)
    assert pipeline.error is None


def test_arguments_are_joined_once_however_often_they_are_read() -> None:
    pipeline, _ = drive(START, call_start("c"), call_args("c", "1"), call_args("c", "2"))
    call = pipeline.conversation.call("c")
    assert call is not None
    assert call.arguments is call.arguments
    assert call.arguments == "12"


def test_a_call_without_arguments_has_empty_ones() -> None:
    pipeline, _ = drive(START, call_start("c"), call_end("c"))
    call = pipeline.conversation.call("c")
    assert call is not None
    assert call.arguments == ""
    assert wire(pipeline.conversation.messages[0])["toolCalls"][0]["function"]["arguments"] == ""


# Metadata, owners, encrypted values.


def test_metadata_of_a_call_stays_apart_from_that_of_its_message() -> None:
    """MD-1."""
    pipeline, _ = drive(
        START,
        {**call_start("c"), "metadata": {"a": {"x": 1}}},
        call_args("c", "{}", metadata={"a": {"y": 2}, "b": 1}),
        {**call_end("c"), "metadata": {"b": 2}},
        {**call_result("c"), "metadata": {"m": 1}},
    )
    holder, answer = (wire(message) for message in pipeline.conversation.messages)
    assert "metadata" not in holder
    assert holder["toolCalls"][0]["metadata"] == {"a": {"y": 2}, "b": 2}
    assert answer["metadata"] == {"m": 1}


def test_a_call_belongs_to_the_owner_of_its_message() -> None:
    """SA-5."""
    pipeline, _ = drive(
        START,
        {"type": "SUBAGENT_STARTED", "subagentRunId": "s", "name": "n"},
        text_start("a", subagentRunId="s"),
        call_start("c", "a"),
        call_start("d"),
    )
    owners = {call.id: call.subagent_run_id for call in pipeline.conversation.tool_calls}
    assert owners == {"c": "s", "d": None}


def test_encrypted_values_are_kept_on_what_they_name() -> None:
    """RE-2."""
    value = {"type": "REASONING_ENCRYPTED_VALUE", "encryptedValue": "opaque"}
    pipeline, updates = drive(
        START,
        call_start("c"),
        {"type": "REASONING_MESSAGE_START", "messageId": "q", "role": "reasoning"},
        {**value, "subtype": "tool-call", "entityId": "c"},
        {**value, "subtype": "message", "entityId": "q"},
        {**value, "subtype": "tool-call", "entityId": "q"},
        {**value, "subtype": "message", "entityId": "nobody"},
    )
    assert updates[3].tool_call is pipeline.conversation.call("c")
    assert updates[4].message_id == "q"
    holder, thought = (wire(message) for message in pipeline.conversation.messages)
    assert holder["toolCalls"][0]["encryptedValue"] == "opaque"
    assert thought["encryptedValue"] == "opaque"
    assert codes(pipeline) == [("encrypted_value_unclaimed", "/entityId")] * 2


# Ids that mean something else than the event supposes.


def test_text_for_an_activity_has_no_effect() -> None:
    activity = {"type": "ACTIVITY_SNAPSHOT", "messageId": "v", "activityType": "t", "content": {"k": 1}}
    reasoning = {"type": "REASONING_MESSAGE_START", "messageId": "v", "role": "reasoning"}
    pipeline, updates = drive(START, activity, text_start("v"), text("v", "lost"), text_end("v"), reasoning)
    assert [update.message for update in updates[2:]] == [None] * 4
    assert [wire(message)["content"] for message in pipeline.conversation.messages] == [{"k": 1}]
    assert codes(pipeline) == [
        ("message_id_conflict", "/messageId"),
        ("message_gone", "/messageId"),
        ("message_gone", "/messageId"),
        ("message_id_conflict", "/messageId"),
    ]


def test_a_call_whose_parent_is_no_assistant_message_gets_a_message_of_its_own() -> None:
    """TC-1."""
    pipeline, _ = drive(START, text_start("u", role="user"), call_start("c", "u"))
    user, holder = (wire(message) for message in pipeline.conversation.messages)
    assert (user["id"], holder["id"], holder["role"]) == ("u", "c", "assistant")
    assert "content" not in holder
    assert codes(pipeline) == [("message_id_conflict", "/parentMessageId")]


def test_what_a_snapshot_took_away_while_open_goes_on_without_effect() -> None:
    pipeline, _ = drive(
        START, text_start("a"), call_start("c"), snapshot(), text("a", "x"), text_end("a"), call_args("c", "{}"),
        call_end("c"), FINISH,
    )  # fmt: skip
    assert pipeline.error is None
    assert pipeline.conversation.messages == []
    assert codes(pipeline) == [("message_gone", "/messageId")] * 2 + [("message_gone", "/toolCallId")] * 2


def test_a_call_a_snapshot_restates_while_it_streams_goes_on_streaming() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": '{"q":'}}
    pipeline, _ = drive(
        START,
        call_start("c"),
        call_args("c", '{"q":'),
        snapshot({"id": "c", "role": "assistant", "toolCalls": [call]}),
    )
    view = pipeline.conversation.call("c")
    assert view is not None
    assert view.phase is CallPhase.STREAMING
    pipeline.feed_raw(call_args("c", "1}"))
    pipeline.feed_raw(call_end("c"))
    assert (view.arguments, view.phase) == ('{"q":1}', CallPhase.COMPLETE)


def test_reopened_items_go_on_where_they_were() -> None:
    """ST-6: what is established stands."""
    pipeline, _ = drive(
        START,
        text_start("a", role="user", name="n"), text("a", "one"), text_end("a"),
        text_start("a", role="system", name="other"), text("a", " two"), text_end("a"),
        call_start("c", "h"), call_args("c", "1"), call_end("c"), call_result("c"),
        call_start("c", "elsewhere", "other"), call_args("c", "2"),
    )  # fmt: skip
    message = wire(pipeline.conversation.messages[0])
    assert (message["role"], message["name"], message["content"]) == ("user", "n", "one two")
    call = pipeline.conversation.call("c")
    assert call is not None
    assert (call.name, call.arguments, call.holder.id) == ("look", "12", "h")
    assert call.phase is CallPhase.STREAMING
    pipeline.feed_raw(call_end("c"))
    assert call.phase is CallPhase.ANSWERED


def test_text_for_a_message_of_parts_becomes_a_part() -> None:
    parts = [{"type": "image", "source": {"type": "url", "value": "u"}}]
    pipeline, _ = drive(
        START, snapshot({"id": "u", "role": "user", "content": parts}), text_start("u"), text("u", ""), text_end("u")
    )
    assert wire(pipeline.conversation.messages[0])["content"] == parts
    pipeline.feed_raw(text_start("u"))
    pipeline.feed_raw(text("u", "x"))
    assert wire(pipeline.conversation.messages[0])["content"] == [*parts, {"type": "text", "text": "x"}]


# Results.


def test_results_stand_behind_the_message_that_made_the_call() -> None:
    """TC-4: in the order of the answers, whatever came in between."""
    pipeline, _ = drive(
        START, call_start("c", "m"), call_end("c"), call_start("d", "m"), call_end("d"), text_start("later"),
        text_end("later"), call_result("d"), call_result("c"),
    )  # fmt: skip
    assert [m.id for m in pipeline.conversation.messages] == ["m", "result-of-d", "result-of-c", "later"]


@pytest.mark.parametrize("content", ["", "text", [], [{"type": "text", "text": "t"}]])
def test_the_content_of_a_result_is_unchanged(content: Any) -> None:
    pipeline, _ = drive(START, call_result("nobody", content))
    assert wire(pipeline.conversation.messages[0])["content"] == content


def test_history_brings_its_calls_and_their_answers() -> None:
    """FT-8: an answer in the history is an answer."""
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}, "metadata": {"k": 1}}
    history = Conversation(
        [
            AssistantMessage.model_validate({"id": "a", "toolCalls": [call], "encryptedValue": "e"}),
            ToolMessage(id="r", tool_call_id="c", content="done"),
            ReasoningMessage(id="q", content="hm"),
        ]
    )
    (view,) = history.tool_calls
    assert (view.phase, view.arguments, view.metadata) == (CallPhase.ANSWERED, "{}", {"k": 1})
    assert view.result is history.view("r")
    assert [held.id for held in history.views] == ["a", "r", "q"]


def test_adding_a_message_with_a_known_id_replaces_it_and_its_calls() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    history = Conversation([AssistantMessage.model_validate({"id": "a", "toolCalls": [call]})])
    view = history.add(AssistantMessage(id="a", content="instead"))
    assert history.messages == [AssistantMessage(id="a", content="instead")]
    assert history.tool_calls == []
    assert history.call("c") is None
    assert view is history.view("a")


def test_an_activity_whose_patch_makes_no_object_stays_as_it_was() -> None:
    """AC-3: but its metadata is merged, which does not depend on the patch."""
    pipeline, _ = drive(
        START,
        {"type": "ACTIVITY_SNAPSHOT", "messageId": "v", "activityType": "t", "content": {"k": 1}},
        {
            "type": "ACTIVITY_DELTA",
            "messageId": "v",
            "activityType": "u",
            "patch": [{"op": "replace", "path": "", "value": 7}],
            "metadata": {"m": 1},
        },
    )
    (activity,) = (wire(message) for message in pipeline.conversation.messages)
    assert (activity["activityType"], activity["content"], activity["metadata"]) == ("t", {"k": 1}, {"m": 1})
    assert codes(pipeline) == [("patch_failed", "/patch")]


def test_the_state_of_a_fresh_conversation_is_the_empty_object() -> None:
    """SN-3."""
    assert Conversation().state == {}
    assert Conversation(state=None).state is None
    assert Conversation(state=0).state == 0
