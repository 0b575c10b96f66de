"""The generated streams: what producers send, in the sizes they send it in.

Each stream is a list of SSE payloads (JSON texts, compact, camelCase, absent
where there is no value) of one whole run, legal from RUN_STARTED to
RUN_FINISHED. The same size gives the same stream every time.
"""

from __future__ import annotations

import json
import random
import re
import uuid
from collections.abc import Callable, Iterator
from typing import Any, Final

THREAD_ID: Final = "thread-benchmark"
RUN_ID: Final = "run-benchmark"
TOKENS_PER_MESSAGE: Final = 1_000
DELTAS_PER_CALL: Final = 40

_WORDS: Final = tuple(
    re.findall(
        r"\S+",
        "the order is on its way and should reach you by Thursday ; if it does not , please write to us "
        "again with its number so that we can look into it – größere Lieferungen brauchen länger 配送 状況 を 確認",
    )
)

Raw = dict[str, Any]


def _payload(event: Raw) -> str:
    return json.dumps(event, separators=(",", ":"), ensure_ascii=False)


class _Author:
    """Writes the events of one stream; ids and words come from a seeded source."""

    def __init__(self) -> None:
        self._random = random.Random(10)
        self._made = 0

    def id(self, kind: str) -> str:
        self._made += 1
        return f"{kind}-{uuid.UUID(int=self._random.getrandbits(128), version=4)}"

    def token(self) -> str:
        return f" {self._random.choice(_WORDS)}"

    def framed(self, events: Iterator[Raw]) -> Iterator[Raw]:
        yield {"type": "RUN_STARTED", "threadId": THREAD_ID, "runId": RUN_ID, "protocolVersion": "1.0"}
        yield from events
        yield {"type": "RUN_FINISHED", "threadId": THREAD_ID, "runId": RUN_ID, "outcome": {"type": "success"}}

    def message(self, tokens: int, **tag: str) -> Iterator[Raw]:
        identity = self.id("msg")
        yield {"type": "TEXT_MESSAGE_START", "messageId": identity, "role": "assistant", **tag}
        for _ in range(tokens):
            yield {"type": "TEXT_MESSAGE_CONTENT", "messageId": identity, "delta": self.token(), **tag}
        yield {"type": "TEXT_MESSAGE_END", "messageId": identity, **tag}

    def call(self, deltas: int = DELTAS_PER_CALL) -> Iterator[Raw]:
        identity = self.id("call")
        yield {
            "type": "TOOL_CALL_START",
            "toolCallId": identity,
            "toolCallName": "search_orders",
            "parentMessageId": self.id("msg"),
        }
        for piece in self._arguments(deltas):
            yield {"type": "TOOL_CALL_ARGS", "toolCallId": identity, "delta": piece}
        yield {"type": "TOOL_CALL_END", "toolCallId": identity}
        found = json.dumps({"orders": [{"id": number, "status": "shipped"} for number in range(3)]})
        yield {
            "type": "TOOL_CALL_RESULT",
            "messageId": self.id("msg"),
            "toolCallId": identity,
            "content": found,
            "role": "tool",
        }

    def _arguments(self, deltas: int) -> Iterator[str]:
        """A JSON object's text in `deltas` pieces of the size models stream."""
        yield '{"query": "'
        for _ in range(deltas - 2):
            yield self.token()
        yield '", "limit": 20}'

    def reasoning(self, tokens: int) -> Iterator[Raw]:
        span, identity = self.id("span"), self.id("msg")
        yield {"type": "REASONING_START", "messageId": span}
        yield {"type": "REASONING_MESSAGE_START", "messageId": identity, "role": "reasoning"}
        for _ in range(tokens):
            yield {"type": "REASONING_MESSAGE_CONTENT", "messageId": identity, "delta": self.token()}
        yield {"type": "REASONING_MESSAGE_END", "messageId": identity}
        yield {"type": "REASONING_END", "messageId": span}

    def state(self, patches: int) -> Iterator[Raw]:
        yield {
            "type": "STATE_SNAPSHOT",
            "snapshot": {"progress": 0, "filter": {"status": "open"}, "rows": list(range(20))},
        }
        for number in range(patches):
            yield {
                "type": "STATE_DELTA",
                "delta": [
                    {"op": "replace", "path": "/progress", "value": number},
                    {"op": "replace", "path": f"/rows/{number % 20}", "value": -number},
                ],
            }

    def activity(self, patches: int) -> Iterator[Raw]:
        identity = self.id("act")
        content = {"title": "Searching", "steps": [{"label": "orders", "done": False}]}
        yield {"type": "ACTIVITY_SNAPSHOT", "messageId": identity, "activityType": "PLAN", "content": content}
        for _ in range(patches):
            yield {
                "type": "ACTIVITY_DELTA",
                "messageId": identity,
                "activityType": "PLAN",
                "patch": [{"op": "add", "path": "/steps/0/done", "value": True}],
            }

    def subagent(self, tokens: int) -> Iterator[Raw]:
        identity = self.id("sub")
        yield {"type": "SUBAGENT_STARTED", "subagentRunId": identity, "name": "researcher"}
        yield from self.message(tokens, subagentRunId=identity)
        yield {"type": "SUBAGENT_FINISHED", "subagentRunId": identity, "result": {"found": 3}}

    def turn(self) -> Iterator[Raw]:
        """A bit of everything, in about the proportions of an agent at work."""
        step = self.id("step")
        yield {"type": "STEP_STARTED", "stepName": step}
        yield from self.reasoning(30)
        yield from self.message(40)
        yield from self.call()
        yield from self.state(4)
        yield from self.activity(3)
        yield from self.subagent(30)
        yield {"type": "CUSTOM", "name": "usage_hint", "value": {"left": 12}}
        yield {"type": "STEP_FINISHED", "stepName": step}


def _repeated(events: int, part: Callable[[_Author], Iterator[Raw]]) -> list[str]:
    """A run of whole parts, as many as make at least `events` events."""
    author = _Author()

    def parts() -> Iterator[Raw]:
        made = 0
        while made < events:
            for event in part(author):
                made += 1
                yield event

    return [_payload(event) for event in author.framed(parts())]


def text(events: int, *, per_message: int = TOKENS_PER_MESSAGE) -> list[str]:
    """Text tokens, one event a token, in messages of `per_message` tokens."""
    return _repeated(events, lambda author: author.message(min(per_message, events)))


def tool_calls(events: int) -> list[str]:
    """Backend tool calls: a START, 40 pieces of arguments, an END and a RESULT each."""
    return _repeated(events, _Author.call)


def mixed(events: int) -> list[str]:
    """Text, tool calls, reasoning, steps, state and activity patches, subagents, custom events."""
    return _repeated(events, _Author.turn)


def one_call(deltas: int, *, size: int = 50) -> list[str]:
    """One tool call whose arguments come in `deltas` pieces of `size` characters."""
    author = _Author()
    identity = author.id("call")

    def events() -> Iterator[Raw]:
        yield {"type": "TOOL_CALL_START", "toolCallId": identity, "toolCallName": "write_file"}
        for number in range(deltas):
            yield {"type": "TOOL_CALL_ARGS", "toolCallId": identity, "delta": f"{number:<{size}}"}
        yield {"type": "TOOL_CALL_END", "toolCallId": identity}

    return [_payload(event) for event in author.framed(events())]


def endless_text(events: int) -> Iterator[str]:
    """The payloads of `text`, written one by one, for streams too long to hold."""
    author = _Author()
    messages = max(1, events // TOKENS_PER_MESSAGE)
    tokens = min(TOKENS_PER_MESSAGE, events)
    return map(_payload, author.framed(event for _ in range(messages) for event in author.message(tokens)))


def history(messages: int) -> list[Raw]:
    """A conversation of that many messages: questions, answers, and every tenth time a call with its result."""
    author = _Author()
    told: list[Raw] = []
    while len(told) < messages:
        told += _exchange(author, with_call=len(told) % 20 == 0)
    return told[:messages]


def _exchange(author: _Author, *, with_call: bool) -> list[Raw]:
    def sentence(words: int) -> str:
        return "".join(author.token() for _ in range(words)).strip()

    question: Raw = {"id": author.id("msg"), "role": "user", "content": sentence(15)}
    answer: Raw = {"id": author.id("msg"), "role": "assistant", "content": sentence(60)}
    if not with_call:
        return [question, answer]
    call = author.id("call")
    function = {"name": "search_orders", "arguments": json.dumps({"query": sentence(5)})}
    asks: Raw = {
        "id": author.id("msg"),
        "role": "assistant",
        "toolCalls": [{"id": call, "type": "function", "function": function}],
    }
    told: Raw = {"id": author.id("msg"), "role": "tool", "toolCallId": call, "content": sentence(20)}
    return [question, asks, told, answer]


KINDS: Final[dict[str, Callable[[int], list[str]]]] = {
    "text tokens": text,
    "tool calls": tool_calls,
    "mixed": mixed,
}
"""The kinds of stream that most rows are measured on."""
