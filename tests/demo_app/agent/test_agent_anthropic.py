"""The Anthropic model against a local server that speaks the Messages API's streaming wire format."""

import json
import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest
from agent_testing import Client, Connect, serve
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from demo_app.agent.models.anthropic import AnthropicModel
from demo_app.agent.models.choose import choose_model
from demo_app.agent.settings import Settings

Block = dict[str, Any]


def text_block(*pieces: str) -> tuple[Block, list[Block]]:
    return {"type": "text", "text": ""}, [{"type": "text_delta", "text": piece} for piece in pieces]


def tool_block(call_id: str, name: str, *pieces: str) -> tuple[Block, list[Block]]:
    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in ("", *pieces)]
    return {"type": "tool_use", "id": call_id, "name": name, "input": {}}, deltas


def thinking_block(text: str, signature: str) -> tuple[Block, list[Block]]:
    deltas = [{"type": "thinking_delta", "thinking": piece} for piece in text.split("|")]
    return {"type": "thinking", "thinking": "", "signature": ""}, [
        *deltas,
        {"type": "signature_delta", "signature": signature},
    ]


def turn(*blocks: tuple[Block, list[Block]], stop: str | None = "end_turn", usage: Block | None = None) -> str:
    """A turn as the wire has it."""
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "test-model",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 1, **(usage or {})},
    }
    events: list[Block] = [{"type": "message_start", "message": message}, {"type": "ping"}]
    for index, (start, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    if stop is not None:
        delta = {"stop_reason": stop, "stop_sequence": None}
        events.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 7}})
        events.append({"type": "message_stop"})
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)


class MessagesApi:
    """Answers from a list; keeps what was asked."""

    def __init__(self) -> None:
        self.answers: list[str | tuple[int, Block]] = []
        self.requests: list[Block] = []
        self.url = ""

    async def answer(self, request: Request) -> Response:
        sent = [request.headers.get(name, "") for name in ("authorization", "x-api-key")]
        assert any("test-key" in value for value in sent), "which header carries it is the SDK's business"
        self.requests.append(await request.json())
        answer = self.answers.pop(0)
        if isinstance(answer, tuple):
            return JSONResponse(answer[1], status_code=answer[0])
        return Response(answer, media_type="text/event-stream")


@pytest.fixture
async def api() -> AsyncIterator[MessagesApi]:
    api = MessagesApi()
    async with serve(Starlette(routes=[Route("/v1/messages", api.answer, methods=["POST"])])) as url:
        api.url = url.removesuffix("/agent")
        yield api


@pytest.fixture
async def client(api: MessagesApi, connect: Connect) -> AsyncIterator[Client]:
    model = AnthropicModel(api_key="test-key", name="test-model", base_url=api.url, max_retries=0)
    yield await connect(model)
    await model.close()


async def test_text_streams_and_the_request_says_all(api: MessagesApi, client: Client) -> None:
    """AL-1, AL-2"""
    api.answers = [turn(text_block("Hel", "lo."))]
    answer = await client.say("hi", context=[{"description": "page", "value": "/orders"}])
    assert [event["delta"] for event in answer.of("TEXT_MESSAGE_CONTENT")] == ["Hel", "lo."]
    (request,) = api.requests
    assert request["model"] == "test-model"
    assert request["stream"] is True
    assert request["system"].endswith("page: /orders")
    assert request["messages"] == [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]
    tools = {tool["name"]: tool for tool in request["tools"]}
    assert "Example input:" in tools["lookup_order"]["description"]
    assert tools["navigate"]["input_schema"]["type"] == "object"
    assert "Halla Supply" in request["system"]


async def test_text_that_a_block_starts_with_is_not_lost(api: MessagesApi, client: Client) -> None:
    api.answers = [turn(({"type": "text", "text": "Hello, "}, [{"type": "text_delta", "text": "you."}]))]
    assert (await client.say("hi")).text == "Hello, you."


async def test_a_tool_round_trip_with_an_error_corrected(api: MessagesApi, client: Client) -> None:
    """AL-1, AL-3: is_error goes to the provider; the second try works."""
    api.answers = [
        turn(
            text_block("One moment."), tool_block("toolu_1", "lookup_order", '{"order_', 'id": "42"}'), stop="tool_use"
        ),
        turn(tool_block("toolu_2", "lookup_order", '{"order_id": 42}'), stop="tool_use"),
        turn(text_block("Shipped.")),
    ]
    answer = await client.say("where is order 42?")
    assert answer.calls == [("lookup_order", '{"order_id": "42"}'), ("lookup_order", '{"order_id": 42}')]
    assert answer.text == "One moment.Shipped."
    *_, call, result = api.requests[1]["messages"]
    assert call["content"][1] == {
        "type": "tool_use",
        "id": "toolu_1",
        "name": "lookup_order",
        "input": {"order_id": "42"},
    }
    assert result["role"] == "user"
    assert result["content"][0]["is_error"] is True
    assert "valid integer" in result["content"][0]["content"][0]["text"]
    (worked,) = api.requests[2]["messages"][-1]["content"]
    assert "is_error" not in worked


async def test_an_invoice_goes_to_the_model_with_its_media(api: MessagesApi, client: Client) -> None:
    """AL-6: what it can take it gets."""
    call = tool_block("toolu_1", "get_invoice", '{"invoice_id": "INV-0042"}')
    api.answers = [turn(call, stop="tool_use"), turn(text_block("Here."))]
    await client.say("invoice")
    (result,) = api.requests[1]["messages"][-1]["content"]
    text, document, picture = result["content"]
    assert text["type"] == "text"
    assert document["type"] == "document"
    assert document["source"]["media_type"] == "application/pdf"
    assert picture["source"] == {"type": "base64", "media_type": "image/png", "data": picture["source"]["data"]}


async def test_what_the_model_cannot_take_is_dropped_and_the_rest_arrives(
    api: MessagesApi, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    """AL-6, TC-6: a handle of another provider, sound, an unknown picture type, an address without TLS."""

    def part(kind: str, **source: str) -> Block:
        return {"type": kind, "source": source}

    good = [
        part("image", type="data", value="AAAA", mimeType="image/webp"),
        part("image", type="url", value="https://example.com/a.png"),
        part("image", type="file", value="file_1", provider="anthropic"),
        part("document", type="data", value="aGFsbG8=", mimeType="text/plain"),
        part("document", type="url", value="https://example.com/a.pdf", mimeType="application/pdf"),
    ]
    bad = [
        part("image", type="data", value="AAAA", mimeType="image/tiff"),
        part("image", type="url", value="http://example.com/a.png"),
        part("image", type="file", value="file_1", provider="openai"),
        part("image", type="file", value="file_1"),
        part("document", type="data", value="AAAA", mimeType="application/zip"),
        part("document", type="data", value="!!", mimeType="text/plain"),
        part("audio", type="data", value="AAAA", mimeType="audio/wav"),
        part("video", type="data", value="AAAA", mimeType="video/mp4"),
        {"type": "text", "text": " "},
    ]
    api.answers = [turn(text_block("I see."))]
    with caplog.at_level(logging.WARNING):
        await client.say([*bad, {"type": "text", "text": "look"}, *good])
    content = api.requests[0]["messages"][0]["content"]
    assert [block["type"] for block in content] == ["text", "image", "image", "image", "document", "document"]
    assert [block["source"]["type"] for block in content[1:]] == ["base64", "url", "file", "text", "url"]
    assert content[4]["source"]["data"] == "hallo"
    assert caplog.text.count("AL-6") == len(bad)


async def test_an_answer_without_anything_left_is_the_empty_answer(api: MessagesApi, client: Client) -> None:
    """AL-6"""
    api.answers = [
        turn(tool_block("toolu_1", "navigate", '{"page": "orders"}'), stop="tool_use"),
        turn(text_block("Good.")),
    ]
    answer = await client.say("go")
    sound = {"type": "audio", "source": {"type": "data", "value": "AAAA", "mimeType": "audio/wav"}}
    await client.reply(answer, [sound])
    assert api.requests[1]["messages"][-1]["content"] == [
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": ""}
    ]


async def test_thinking_is_shown_kept_and_returned(api: MessagesApi, client: Client) -> None:
    """RE-1, RE-2"""
    thought = {"type": "thinking", "thinking": "Let me see.", "signature": "c2ln"}
    redacted = ({"type": "redacted_thinking", "data": "aGlkZGVu"}, [])
    api.answers = [
        turn(
            thinking_block("Let |me see.", "c2ln"),
            redacted,
            tool_block("toolu_1", "revenue_by_month"),
            stop="tool_use",
        ),
        turn(text_block("Much.")),
        turn(text_block("Still much.")),
    ]
    answer = await client.say("revenue?")
    assert "".join(event["delta"] for event in answer.of("REASONING_MESSAGE_CONTENT")) == "Let me see."
    assistant = api.requests[1]["messages"][1]["content"]
    assert assistant[:2] == [thought, {"type": "redacted_thinking", "data": "aGlkZGVu"}]
    assert assistant[2]["input"] == {}
    await client.say("and now?")
    assert api.requests[2]["messages"][1]["content"][0] == thought


async def test_cached_tokens_are_parts_of_the_input(api: MessagesApi, client: Client) -> None:
    """LC-9: the provider reports them beside a smaller total."""
    usage = {"input_tokens": 10, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 5}
    api.answers = [turn(text_block("Hi."), usage=usage)]
    assert (await client.say("hi")).events[-1]["usage"] == [
        {
            "provider": "anthropic",
            "model": "test-model",
            "inputTokens": 115,
            "outputTokens": 7,
            "totalTokens": 122,
            "cachedInputTokens": 100,
            "cacheWriteInputTokens": 5,
        }
    ]


@pytest.mark.parametrize(
    ("answer", "code", "said"),
    [
        (
            (401, {"type": "error", "error": {"type": "authentication_error", "message": "bad key"}}),
            "model_http_401",
            "bad key",
        ),
        (
            (429, {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}}),
            "model_http_429",
            "slow",
        ),
        ((500, {"oops": True}), "model_http_500", "refused"),
        (turn(text_block("Half"), stop=None), "model_stream_cut", "broke off"),
        (turn(text_block("Hi."), stop="sunset"), "model_failed", "sunset"),
        (
            turn(text_block("Half"), stop=None)
            + 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
            "model_",
            "Overloaded",
        ),
    ],
)
async def test_the_services_failures_end_the_run_with_an_error(
    api: MessagesApi, client: Client, answer: Any, code: str, said: str
) -> None:
    """LC-6: in the stream, with a stable code; the key is never shown."""
    api.answers = [answer]
    result = await client.say("hi")
    assert result.events[-1]["type"] == "RUN_ERROR"
    assert result.events[-1]["code"].startswith(code)
    assert said in result.events[-1]["message"]
    assert "test-key" not in json.dumps(result.events)


async def test_a_service_that_is_not_there(connect: Connect) -> None:
    async with serve(Starlette()) as url:
        pass
    model = AnthropicModel(api_key="k", name="m", base_url=url.removesuffix("/agent"), max_retries=0)
    answer = await (await connect(model)).say("hi")
    assert answer.events[-1]["code"] == "model_unreachable"
    await model.close()


async def test_a_limit_of_tokens_is_no_success(api: MessagesApi, client: Client) -> None:
    """AL-1"""
    api.answers = [turn(text_block("Half an"), stop="max_tokens")]
    assert (await client.say("hi")).outcome == {"type": "cancelled"}


async def test_turns_are_the_users_first_and_last_and_bad_arguments_stay_readable(
    api: MessagesApi, client: Client
) -> None:
    calls = [
        {"id": each, "type": "function", "function": {"name": "navigate", "arguments": text}}
        for each, text in (("a", '{"page'), ("b", "[1]"), ("c", ""))
    ]
    client.messages = [
        {"id": "1", "role": "assistant", "content": "Welcome."},
        {"id": "2", "role": "assistant", "toolCalls": calls},
        {"id": "3", "role": "assistant", "content": "Well."},
    ]
    api.answers = [turn(text_block("Yes.")), turn(text_block("Yes."))]
    await client.go()
    messages = api.requests[0]["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "user", "assistant", "user"]
    uses = [block["input"] for block in messages[1]["content"] if block["type"] == "tool_use"]
    assert uses == [{"not_a_json_object": '{"page'}, {"not_a_json_object": "[1]"}, {}]
    assert [block["tool_use_id"] for block in messages[2]["content"]] == ["a", "b", "c"]
    client.messages = []
    await client.go()
    assert [message["role"] for message in api.requests[1]["messages"]] == ["user"]


async def test_a_key_in_the_environment_chooses_it() -> None:
    model = choose_model(Settings.from_environment({"ANTHROPIC_API_KEY": "k", "ANTHROPIC_MODEL": "m"}))
    assert isinstance(model, AnthropicModel)
    assert (model.name, model.provider, model.scripted) == ("m", "anthropic", False)
    await model.close()
