"""The sinks behind real runs: pydantic-ai over HTTP, tools on this side, a run that fails, one that is stopped."""

from __future__ import annotations

import io
from contextlib import aclosing
from dataclasses import replace

import pytest
from ag_ui.core import DataSource, ImagePart, TextPart

from client_sdk.agent import HttpAgent, Thread
from client_sdk.errors import InputError
from client_sdk.legacy import FlatMessage, SqliteTextSink, TranscriptSink, flatten_message, read_transcript
from client_sdk.tools import ToolRegistry
from tests.client_sdk.interop_pydantic_ai import Server, pydantic_ai

__all__ = ["pydantic_ai"]


def stored(thread: Thread) -> list[FlatMessage]:
    return [replace(flatten_message(message), dropped=()) for message in thread.messages]


def registry() -> ToolRegistry:
    tools = ToolRegistry()

    @tools.tool(side_effects=False)
    def screenshot() -> list[TextPart | ImagePart]:
        """Take a picture."""
        return [
            TextPart(text="the page"),
            ImagePart(source=DataSource(value="iVBORw0KGgo=", mime_type="image/png")),
        ]

    return tools


@pytest.mark.parametrize("scenario", ["text", "reasoning", "backend-tool", "two-backend", "error-mid", "approval"])
async def test_both_sinks_hold_what_the_thread_holds(pydantic_ai: Server, scenario: str) -> None:
    file = io.StringIO()
    transcript = TranscriptSink(file)
    with SqliteTextSink(":memory:") as table:
        async with HttpAgent(pydantic_ai.url(scenario)) as agent:
            thread = agent.thread()
            async with thread.run("hi") as run:
                async for _ in transcript.follow(thread, table.follow(thread, run)):
                    pass
        assert table.read(thread.id) == stored(thread)
        assert read_transcript(io.StringIO(file.getvalue()))[thread.id] == stored(thread)
        assert table.diagnostics == transcript.diagnostics == []


async def test_a_round_trip_with_a_picture_loses_it_once(pydantic_ai: Server) -> None:
    file = io.StringIO()
    transcript = TranscriptSink(file)
    with SqliteTextSink(":memory:") as table:
        async with HttpAgent(pydantic_ai.url("screenshot")) as agent:
            thread = agent.thread(tools=registry())
            async with thread.run("look") as run:
                async for _ in transcript.follow(thread, table.follow(thread, run)):
                    pass
            assert run.result.status == "completed"
        for sink in (transcript, table):
            sink.write_thread(thread)
            assert [note.code for note in sink.diagnostics] == ["parts_dropped"]
        assert table.read(thread.id) == stored(thread)
        assert read_transcript(io.StringIO(file.getvalue()))[thread.id] == stored(thread)
        assert [m.body for m in table.read(thread.id) if m.role == "tool"] == ["the page"]
    assert "iVBORw0KGgo" not in file.getvalue()


async def test_a_run_left_early_is_written_as_far_as_it_came(pydantic_ai: Server) -> None:
    with SqliteTextSink(":memory:") as table:
        async with HttpAgent(pydantic_ai.url("long-text")) as agent:
            thread = agent.thread()
            async with thread.run("hi") as run, aclosing(table.follow(thread, run)) as followed:
                async for update in followed:
                    if update.delta is not None:
                        break
            assert run.result.status == "truncated"
        assert [m.body for m in table.read(thread.id)] == ["hi", "more "]


async def test_an_input_that_is_refused_leaves_the_sink_as_it_was(pydantic_ai: Server) -> None:
    with SqliteTextSink(":memory:") as table:
        async with HttpAgent(pydantic_ai.url("text")) as agent:
            thread = agent.thread()
            async with thread.run("hi", run_id=5) as run:  # type: ignore[arg-type]
                with pytest.raises(InputError):
                    async for _ in table.follow(thread, run):
                        pass
        assert table.read(thread.id) == stored(thread)
