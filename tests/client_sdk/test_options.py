"""Values of the wrong kind are named where they are passed, and nothing was done with them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from client_sdk import (
    Approve,
    ClientError,
    Decline,
    HttpAgent,
    HttpTransport,
    InputError,
    OptionError,
    RequestUnusable,
    SyncHttpAgent,
    ToolError,
    ToolRegistry,
    ToolRunner,
    TranscriptSink,
    build_resume,
    read_transcript,
)
from tests.client_sdk.scripts import hello
from tests.client_sdk.servers import serve

URL = "http://127.0.0.1:1/"
SECRET = "Authorization: Bearer s3cret"


def _agent(**options: Any) -> object:
    return HttpAgent(**{"url": URL, **options})


def _blocking(**options: Any) -> object:
    return SyncHttpAgent(**{"url": URL, **options})


def _transport(**options: Any) -> object:
    return HttpTransport(**{"url": URL, **options})


def _thread(**options: Any) -> object:
    return HttpAgent(URL).thread(**{"tools": ToolRegistry(), **options})


def _runner(**options: Any) -> object:
    return ToolRunner("t1", **options)


def _run(**options: Any) -> object:
    run = HttpAgent(URL).thread().run("hi", **options)
    asyncio.run(run.aclose())
    return run


WRONG: list[tuple[Callable[..., object], str, Any]] = [
    *((make, "url", None) for make in (_agent, _blocking, _transport)),
    *((make, "headers", value) for make in (_agent, _blocking, _transport) for value in (SECRET, {"a": 5}, {5: "a"})),
    *((make, "client", httpx.Client) for make in (_agent, _blocking, _transport)),
    *((make, "timeout", value) for make in (_agent, _blocking, _transport) for value in ("5", 0, -1, True, [5])),
    *((_agent, "peer_version", value) for value in ("latest", "", 1.0)),
    *((_agent, "middleware", value) for value in (print, "log", [None])),
    *((_agent, "max_frame_bytes", value) for value in (0, 1.5, True, "1")),
    *((_agent, "transport", value) for value in ("http", httpx.AsyncHTTPTransport())),
    *((_agent, "silence", value) for value in ("chunk_expanded", [5], 5)),
    (_agent, "id_factory", "id"),
    (_thread, "id", 5),
    *((_thread, "messages", value) for value in ("hi", {"id": "m1"}, 5)),
    *((_thread, "interrupts", value) for value in ("i1", {"i1": 1})),
    *((_thread, "tools", value) for value in ("look", print, {"name": "look"})),
    *((_thread, "context", value) for value in ("here", {"description": "d", "value": "v"})),
    *((_run, "tools", value) for value in ("look", print)),
    *((_run, "resume", value) for value in ("i1", {"i1": True})),
    *((make, "journal", value) for make in (_thread, _runner) for value in ("calls.sqlite", [])),
    *((make, "consent", value) for make in (_thread, _runner) for value in (True, "always")),
    *((make, "consent_deadline", value) for make in (_thread, _runner) for value in (0, "60")),
    *((make, "answer_interrupts", {"i1": 1}) for make in (_thread, _runner)),
    *((make, "unanswered", "decline") for make in (_thread, _runner)),
    *((make, "max_follow_ups", value) for make in (_thread, _runner) for value in (-1, 2.5, None, True)),
]


@pytest.mark.parametrize(("make", "option", "value"), WRONG)
def test_a_value_of_the_wrong_kind_is_named(make: Callable[..., object], option: str, value: Any) -> None:
    with pytest.raises(OptionError, match=rf": {option} is .*, not ") as caught:
        make(**{option: value})
    assert (caught.value.code, caught.value.option) == ("bad_option", option)
    assert isinstance(caught.value, ValueError | ClientError)
    assert "s3cret" not in str(caught.value)


RIGHT: list[tuple[Callable[..., object], str, Any]] = [
    (_agent, "url", httpx.URL(URL)),
    *((_agent, "timeout", value) for value in (0.5, 5, float("inf"), httpx.Timeout(None), None)),
    *((_agent, "peer_version", value) for value in ("0.0.39", "1", None)),
    *((_agent, "middleware", value) for value in ((print,), [])),
    *((_agent, "silence", value) for value in ({"a"}, ["a"], ())),
    (_agent, "headers", httpx.Headers({"a": "b"})),
    *((_thread, "messages", value) for value in ((), iter([{"id": "m1", "role": "user", "content": "hi"}]))),
    *((_thread, "max_follow_ups", value) for value in (0, 1)),
    (_thread, "consent_deadline", 0.1),
    (_run, "tools", iter(())),
]


@pytest.mark.parametrize(("make", "option", "value"), RIGHT)
def test_a_value_of_the_right_kind_is_taken(make: Callable[..., object], option: str, value: Any) -> None:
    assert make(**{option: value}) is not None


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        ({"deadline": "5"}, "deadline is a number of seconds above 0, or None"),
        ({"deadline": True}, "deadline is a number"),
        ({"deadline": float("nan")}, "deadline is a number"),
        ({"side_effects": "no"}, "side_effects is True or False"),
        ({"follow_up": None}, "follow_up is True or False"),
        ({"exclusive": 1}, "exclusive is True or False"),
        ({"consent": ["never"]}, "consent is one of never, once_per_thread, always or a function of the arguments"),
        ({"name": 5}, "a tool needs a name"),
        ({"description": 5}, "has no description"),
        ({"example": "{}"}, "its example is an input"),
    ],
)
def test_a_tools_terms_are_judged_where_it_is_declared(terms: dict[str, Any], said: str) -> None:
    registry = ToolRegistry()
    with pytest.raises(ToolError, match=said):

        @registry.tool(**terms)
        def look(place: str) -> str:
            """Look at a place."""
            return place

    assert list(registry) == []


@pytest.mark.parametrize(
    ("call", "option"),
    [
        (lambda: Approve(5), "arguments"),  # type: ignore[arg-type]
        (lambda: Approve([("a", 1)]), "arguments"),  # type: ignore[arg-type]
        (lambda: Decline(None), "reason"),  # type: ignore[arg-type]
        (lambda: build_resume("i1", {}), "interrupts"),  # type: ignore[arg-type]
        (lambda: build_resume([], ["i1"]), "answers"),  # type: ignore[arg-type]
        (lambda: TranscriptSink("chat.txt"), "file"),  # type: ignore[arg-type]
        (lambda: read_transcript("chat.txt"), "lines"),
    ],
)
def test_so_is_one_handed_to_anything_else(call: Callable[[], object], option: str) -> None:
    with pytest.raises(OptionError) as caught:
        call()
    assert caught.value.option == option


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: HttpAgent(URL).thread(mesages=[]), "HttpAgent.thread() got an unexpected keyword argument 'mesages'"),  # type: ignore[call-arg]
        (lambda: _thread(concent=print), "HttpAgent.thread() got an unexpected keyword argument 'concent'"),
        (lambda: ToolRegistry().tool(dedline=3), "ToolRegistry.tool() got an unexpected keyword argument 'dedline'"),  # type: ignore[call-overload]
        (lambda: ToolRegistry().handle_unadvertised("x", y=3), "ToolRegistry.handle_unadvertised() got an"),  # type: ignore[call-arg]
    ],
)
def test_an_option_that_does_not_exist_is_named_where_it_was_written(call: Callable[[], object], said: str) -> None:
    with pytest.raises(TypeError) as caught:
        call()
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize("content", [5, None, {"type": "text", "text": "x"}, b"x"])
def test_what_is_said_or_answered_is_text_or_parts(content: Any) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    thread = HttpAgent(URL).thread(messages=[{"id": "m1", "role": "assistant", "toolCalls": [call]}])
    with pytest.raises(InputError, match="text or a list of content parts"):
        thread.answer("c1", content)
    assert thread.tool_calls[0].result is None


@pytest.mark.parametrize("url", ["127.0.0.1:8000/", "/agent", "ftp://127.0.0.1/", "http://127.0.0.1:99999/", ""])
async def test_an_address_that_is_none_is_not_worth_another_try(url: str) -> None:
    async with HttpAgent(url) as agent:
        with pytest.raises(RequestUnusable, match="URL cannot be used"):
            await agent.thread().run("hi")


async def test_what_is_held_shows_itself_shortly() -> None:
    async with serve(hello()) as server, HttpAgent(server.url) as agent:
        thread = agent.thread("t1")
        run = thread.run("hi", run_id="r1")
        assert (repr(thread), repr(run)) == ("<Thread 't1' of 0 messages>", "<Run 'r1' not started>")
        async for _ in run:
            assert repr(run) == "<Run 'r1' running>"
            assert repr(thread).endswith(" messages, running>")
        assert (repr(thread), repr(run)) == ("<Thread 't1' of 2 messages>", "<Run 'r1' completed>")
        assert ", messages=" not in repr(run.result)
