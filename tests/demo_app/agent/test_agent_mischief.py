"""Each mischief does what its table says, and none of it can be reached unless it was switched on."""

import json
import re
from typing import Any

import pytest
from agent_testing import HEADERS, Client, Connect

from client_sdk.protocol.conversation import Conversation
from client_sdk.protocol.pipeline import Pipeline
from demo_app.agent.models import mischief
from demo_app.agent.models.choose import choose_model
from demo_app.agent.models.mischief import MischiefModel
from demo_app.agent.models.scripted import ScriptedModel
from demo_app.agent.settings import Settings

PHRASES = re.findall(r"^mischief: ([a-z ]+?)  ", mischief.__doc__ or "", re.MULTILINE)


def test_the_table_lists_every_phrase() -> None:
    assert len(PHRASES) > 30
    assert sorted(PHRASES) == sorted({*mischief._ACTS, *mischief._WIRE, "http error"})


@pytest.mark.parametrize("phrase", PHRASES)
async def test_without_the_switch_it_is_only_a_sentence_not_understood(scripted: Client, phrase: str) -> None:
    answer = await scripted.say(f"mischief: {phrase}")
    assert answer.events[-1]["type"] == "RUN_FINISHED"
    assert answer.outcome["type"] == "success"
    assert "launch_rocket" not in [name for name, _ in answer.calls]


def test_only_the_switch_chooses_it() -> None:
    assert isinstance(choose_model(Settings(mischief=True)), MischiefModel)
    assert isinstance(choose_model(Settings()), ScriptedModel)


async def test_the_misbehaving_agent_answers_everything_else_as_ever(mischievous: Client) -> None:
    assert "shipped" in (await mischievous.say("Where is order 42?")).text
    assert "I know no such mischief" in (await mischievous.say("mischief: world peace")).text


CALLS = [
    ("malformed arguments", [("highlight", '{"element": "revenue-')]),
    ("wrong argument types", [("place_order", '{"customer_id": "five", "sku": 1, "quantity": "many"}')]),
    ("huge quantity", [("place_order", '{"customer_id": 1, "sku": "GRND-01", "quantity": 100000}')]),
    ("negative quantity", [("place_order", '{"customer_id": 1, "sku": "GRND-01", "quantity": -3}')]),
    ("extra argument", [("navigate", '{"page": "orders", "then": "delete everything"}')]),
    ("unknown element", [("highlight", '{"element": "secret-panel"}')]),
    ("unknown page", [("navigate", '{"page": "admin"}')]),
    ("foreign url", [("navigate", '{"page": "https://evil.example/"}')]),
    ("good and bad calls", [("highlight", '{"element": "navigation"}'), ("highlight", '{"element": ')]),
    ("same order twice", [("place_order", '{"customer_id": 1, "sku": "GRND-01", "quantity": 1}')] * 2),
]


@pytest.mark.parametrize(("phrase", "calls"), CALLS)
async def test_bad_calls_are_passed_on_for_the_client_to_refuse(
    mischievous: Client, phrase: str, calls: list[tuple[str, str]]
) -> None:
    """AL-5, FT-5: frontend arguments are the client's to judge; its refusal is told."""
    answer = await mischievous.say(f"mischief: {phrase}")
    assert answer.calls == calls
    assert len(set(answer.outcome["pendingToolCallIds"])) == len(calls)
    told = await mischievous.reply(answer, *["not valid"] * len(calls), error="invalid_arguments")
    assert "That did not work" in told.text
    assert told.calls == []


@pytest.mark.parametrize(
    ("phrase", "name", "argument", "within"),
    [
        ("selector", "highlight", "element", "[data-agent-id]"),
        ("markup element", "highlight", "element", "<script>"),
        ("javascript url", "navigate", "page", "javascript:"),
        ("markup form", "fill_form", "note", "<script>"),
        ("markup chart", "show_chart", "title", "<script>"),
    ],
)
async def test_hostile_arguments_are_valid_json_with_something_ugly_inside(
    mischievous: Client, phrase: str, name: str, argument: str, within: str
) -> None:
    ((called, arguments),) = (await mischievous.say(f"Mischief:  {phrase} ")).calls
    assert called == name
    assert within in json.loads(arguments)[argument]


async def test_an_unknown_tool_is_answered_by_the_loop(mischievous: Client) -> None:
    """AL-3"""
    answer = await mischievous.say("mischief: unknown tool")
    assert answer.results[0]["metadata"]["code"] == "unknown_tool"
    assert "That did not work" in answer.text
    assert answer.outcome == {"type": "success"}


async def test_hostile_markdown_comes_as_text(mischievous: Client) -> None:
    text = (await mischievous.say("mischief: hostile markdown")).text
    assert text == mischief.HOSTILE_MARKDOWN


@pytest.mark.parametrize(("phrase", "said"), [("run error", "in the middle of the"), ("run error at once", "")])
async def test_a_run_error_comes_after_what_was_said(mischievous: Client, phrase: str, said: str) -> None:
    """LC-6"""
    answer = await mischievous.say(f"mischief: {phrase}")
    assert answer.text.endswith(said)
    assert answer.events[-1]["type"] == "RUN_ERROR"
    assert answer.events[-1]["code"] == "model_failed"


async def test_endless_calls(mischievous: Client) -> None:
    """AL-1"""
    assert (await mischievous.say("mischief: endless backend calls")).outcome == {"type": "cancelled"}
    answer = await mischievous.say("mischief: endless frontend calls")
    for _ in range(3):
        answer = await mischievous.reply(answer, {"found": True, "element": "navigation"})
        assert len(answer.outcome["pendingToolCallIds"]) == 1


# What the SDK's own judge makes of the wire's mischief: the code of a rejection or "", and the diagnostics' codes.
WIRE: dict[str, tuple[str, str, list[str]]] = {
    "cut": ("truncated", "", []),
    "cut in arguments": ("truncated", "", []),
    "cut after call": ("truncated", "", []),
    "run error after call": ("failed", "", []),
    "cancelled after call": ("cancelled", "", []),
    "interrupt on call": ("interrupted", "", []),
    "unadvertised tool": ("completed", "", []),
    "cancelled": ("cancelled", "", []),
    "broken rule": ("rejected", "not_open", []),
    "still open": ("rejected", "still_open", []),
    "event after the end": ("rejected", "event_after_close", []),
    "not json": ("rejected", "not_an_event", []),
    "unknown event": ("completed", "", ["unknown_event"]),
    "wrong run id": ("completed", "", ["run_identity"]),
    "failing patch": ("completed", "", ["patch_failed"]),
    "chunks": ("completed", "", []),
    "hostile result": ("completed", "", []),
}


def test_every_wire_mischief_is_expected_to_do_something() -> None:
    assert set(WIRE) == set(mischief._WIRE)


@pytest.mark.parametrize("phrase", sorted(WIRE))
async def test_mischief_on_the_wire(mischievous: Client, phrase: str) -> None:
    status, code, notes = WIRE[phrase]
    mischievous.messages = [{"id": "1", "role": "user", "content": f"mischief: {phrase}"}]
    answer = _frames(await mischievous.http.post(mischievous.url, json=mischievous.run_input(), headers=HEADERS))
    pipeline = Pipeline(thread_id="thread-1", conversation=Conversation())
    for frame in answer:
        pipeline.feed(frame)
    pipeline.end()
    assert (pipeline.error.code if pipeline.error else "") == code
    assert [note.code for note in pipeline.diagnostics] == notes
    assert pipeline.ledger.runs[-1].status.value == status


def _frames(response: Any) -> list[str]:
    return [frame.removeprefix("data: ") for frame in response.text.split("\n\n") if frame]


async def test_an_http_error_comes_before_any_stream(mischievous: Client) -> None:
    """TR-3"""
    mischievous.messages = [{"id": "1", "role": "user", "content": [{"type": "text", "text": "mischief: http error"}]}]
    response = await mischievous.http.post(mischievous.url, json=mischievous.run_input(), headers=HEADERS)
    assert response.status_code == 503
    assert response.json()["error"]["code"] == "mischief"


async def test_mischief_is_done_once_and_not_again_in_the_follow_up(mischievous: Client) -> None:
    """Only the newest message counts."""
    mischievous.messages = [
        {"id": "1", "role": "user", "content": "mischief: unadvertised tool"},
        {
            "id": "2",
            "role": "assistant",
            "toolCalls": [{"id": "c", "type": "function", "function": {"name": "launch_rocket", "arguments": "{}"}}],
        },
        {"id": "3", "role": "tool", "toolCallId": "c", "content": "no such tool here", "error": "unknown_tool"},
    ]
    answer = await mischievous.go()
    assert "That did not work" in answer.text
    assert answer.calls == []


async def test_the_whole_conversation_survives_a_mischief(connect: Connect) -> None:
    client = await connect(MischiefModel(ScriptedModel(delay_seconds=0, slow_seconds=0)), mischief=True)
    await client.say("mischief: run error")
    assert "shipped" in (await client.say("Where is order 42?")).text
