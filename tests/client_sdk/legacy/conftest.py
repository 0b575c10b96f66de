"""A thread with one of everything a string-only sink may meet."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from ag_ui.core import (
    ActivityMessage,
    AssistantMessage,
    DataSource,
    DeveloperMessage,
    DocumentPart,
    FileSource,
    FunctionCall,
    ImagePart,
    Message,
    ReasoningMessage,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)


@dataclass
class PlainThread:
    """The part of a thread that sinks look at."""

    id: str = "t-1"
    messages: list[Any] = field(default_factory=list)


def image(value: str = "aGk=") -> ImagePart:
    """An inline image."""
    return ImagePart(source=DataSource(value=value, mime_type="image/png"))


def everything() -> list[Message]:
    """One message of each role, with the texts that stores like to change."""
    call = ToolCall(id="c-1", function=FunctionCall(name="lookup", arguments='{"order": "4\\u00e9'), metadata={"n": 1})
    return [
        DeveloperMessage(id="m-0", content="be brief"),
        SystemMessage(id="m-1", content="line one\nline two\n\n", name="policy"),
        UserMessage(id="m-2", content=[TextPart(text="look "), image(), TextPart(text="here")], name="Ada"),
        ReasoningMessage(id="m-3", content="e\u0301 is not \u00e9", encrypted_value="opaque=="),
        AssistantMessage(id="m-4", tool_calls=[call], metadata={"null": None, "deep": {"a": [1, 2.5, True]}}),
        ToolMessage(
            id="m-5",
            tool_call_id="c-1",
            content=[DocumentPart(source=FileSource(value="file-9", provider="anthropic"))],
            error="the printer is on fire\x1b[31m",
        ),
        ActivityMessage(id="m-6", activity_type="PLAN", content={"steps": ["a"]}),
        AssistantMessage(id="m-7", content="", subagent_run_id="s-1"),
        AssistantMessage(id="m-8", content="| > ~ --- === \\ \" \t\x00\r\n\u2028\x85\x1b[2J 👩‍👩‍👧 𝔸"),
        UserMessage(id="m 9\n--- user", content="--- user {}"),
    ]  # fmt: skip


@pytest.fixture
def thread() -> PlainThread:
    return PlainThread(messages=everything())
