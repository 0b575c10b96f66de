"""Generators of event streams: valid ones, with what they must come to, and mutated ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

Raw = dict[str, Any]
Draw = Callable[[st.SearchStrategy[Any]], Any]

short_text = st.text(max_size=6)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**40), 2**40)
    | st.floats(allow_nan=False, allow_infinity=False)
    | short_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(short_text, inner, max_size=3),
    max_leaves=5,
)
objects = st.dictionaries(short_text, json_values, max_size=3)

_FAMILIES = {
    "text": ("TEXT_MESSAGE", "messageId", "CONTENT"),
    "call": ("TOOL_CALL", "toolCallId", "ARGS"),
    "reasoning": ("REASONING_MESSAGE", "messageId", "CONTENT"),
    "span": ("REASONING", "messageId", None),
}

parts = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, short_text),
    st.builds(
        lambda kind, value: {"type": kind, "source": {"type": "url", "value": value}},
        st.sampled_from(["image", "audio", "video", "document"]),
        short_text,
    ),
    st.builds(
        lambda value: {"type": "image", "source": {"type": "data", "value": value, "mimeType": "image/png"}}, short_text
    ),
)
contents = short_text | st.lists(parts, max_size=3)


@dataclass
class Stream:
    """A valid stream and what it must come to.

    Attributes:
        events: the raw events in order.
        texts: text of every text and reasoning message, argument text of every call, by id.
        results: content of every tool message, by id.
        status: how its last run ends.
    """

    events: list[Raw] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    results: dict[str, Any] = field(default_factory=dict)
    status: str = "truncated"

    @property
    def payloads(self) -> list[str]:
        """The events as frames."""
        return [encode(event) for event in self.events]


def encode(event: Any) -> str:
    """An event as the JSON text of a frame."""
    return json.dumps(event, ensure_ascii=False)


class _Maker:
    """Writes one valid stream, an action at a time, and keeps what is open."""

    def __init__(self, draw: Draw, snapshots: bool) -> None:
        self.draw = draw
        self.snapshots = snapshots
        self.stream = Stream()
        self.count = 0
        self.run = 0
        self.open: dict[tuple[str, str], str | None] = {}
        self.steps: list[tuple[str | None, str]] = []
        self.subagents: list[str] = []
        self.activities: list[str] = []
        self.calls: list[str] = []

    def emit(self, kind: str, **members: Any) -> None:
        event = {"type": kind, **{key: value for key, value in members.items() if value is not None}}
        decoration = self.draw(st.integers(0, 11))
        if decoration == 0:
            event["timestamp"] = self.draw(st.integers(0, 2**53 - 1))
        if decoration == 1:
            event["rawEvent"] = self.draw(objects)
        if decoration == 2:
            event["metadata"] = self.draw(objects)
        self.stream.events.append(event)

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def owner(self) -> str | None:
        return self.draw(st.sampled_from([None, None, *self.subagents]))

    # Actions; each is legal whenever it is offered.

    def start_item(self) -> None:
        kind = self.draw(st.sampled_from(sorted(_FAMILIES)))
        family, field_name, _ = _FAMILIES[kind]
        identity, owner = self.fresh(kind), self.owner()
        own: Raw = {"role": "reasoning"} if kind == "reasoning" else {}
        if kind == "call":
            own = {"toolCallName": self.draw(short_text)}
            self.calls.append(identity)
        if kind == "text":
            own = {"role": self.draw(st.sampled_from([None, "assistant", "user", "system", "developer"]))}
        self.open[kind, identity] = owner
        if kind != "span":
            self.stream.texts[identity] = ""
        self.emit(f"{family}_START", **{field_name: identity}, subagentRunId=owner, **own)

    def continue_item(self) -> None:
        kind, identity = self.draw(st.sampled_from([key for key in self.open if key[0] != "span"]))
        family, field_name, content = _FAMILIES[kind]
        delta = self.draw(short_text)
        self.stream.texts[identity] += delta
        tag = self.draw(st.sampled_from([None, self.open[kind, identity]]))
        self.emit(f"{family}_{content}", **{field_name: identity}, delta=delta, subagentRunId=tag)

    def end_item(self, key: tuple[str, str] | None = None) -> None:
        kind, identity = key or self.draw(st.sampled_from(list(self.open)))
        family, field_name, _ = _FAMILIES[kind]
        del self.open[kind, identity]
        self.emit(f"{family}_END", **{field_name: identity})

    def chunk(self) -> None:
        family, field_name = self.draw(
            st.sampled_from(
                [("TEXT_MESSAGE", "messageId"), ("REASONING_MESSAGE", "messageId"), ("TOOL_CALL", "toolCallId")]
            )
        )
        identity, owner = self.fresh("chunked"), self.owner()
        members: Raw = {field_name: identity}
        if family == "TOOL_CALL":
            members["toolCallName"] = self.draw(short_text)
        self.stream.texts[identity] = ""
        for delta in self.draw(st.lists(st.none() | short_text, min_size=1, max_size=3)):
            self.stream.texts[identity] += delta or ""
            self.emit(f"{family}_CHUNK", **members, delta=delta, subagentRunId=owner)
            members = self.draw(st.sampled_from([{}, {field_name: identity}]))

    def result(self) -> None:
        identity, content = self.fresh("result"), self.draw(contents)
        self.stream.results[identity] = content
        self.emit(
            "TOOL_CALL_RESULT",
            messageId=identity,
            toolCallId=self.draw(st.sampled_from([*self.calls, "unheard-of"])),
            content=content,
        )

    def start_step(self) -> None:
        step = (self.owner(), self.draw(short_text))
        if step not in self.steps:
            self.steps.append(step)
            self.emit("STEP_STARTED", stepName=step[1], subagentRunId=step[0])

    def end_step(self, step: tuple[str | None, str] | None = None) -> None:
        step = step or self.draw(st.sampled_from(self.steps))
        self.steps.remove(step)
        self.emit("STEP_FINISHED", stepName=step[1], subagentRunId=step[0])

    def start_subagent(self) -> None:
        identity = self.fresh("sub")
        parent = self.draw(st.sampled_from([None, *self.subagents]))
        self.subagents.append(identity)
        self.emit("SUBAGENT_STARTED", subagentRunId=identity, name=self.draw(short_text), parentSubagentRunId=parent)

    def end_subagent(self, identity: str | None = None) -> None:
        identity = identity or self.draw(st.sampled_from(self.subagents))
        self.subagents.remove(identity)
        if self.draw(st.booleans()):
            self.emit("SUBAGENT_FINISHED", subagentRunId=identity, result=self.draw(json_values))
        else:
            self.emit("SUBAGENT_ERROR", subagentRunId=identity, message=self.draw(short_text))

    def activity(self) -> None:
        identity = self.draw(st.sampled_from([*self.activities, self.fresh("activity")]))
        if identity not in self.activities:
            self.activities.append(identity)
        self.emit(
            "ACTIVITY_SNAPSHOT",
            messageId=identity,
            activityType=self.draw(short_text),
            content=self.draw(objects),
            replace=self.draw(st.sampled_from([None, True, False])),
        )

    def patch_activity(self) -> None:
        self.emit(
            "ACTIVITY_DELTA",
            messageId=self.draw(st.sampled_from(self.activities)),
            activityType=self.draw(short_text),
            patch=[self.operation()],
        )

    def operation(self) -> Raw:
        path = self.draw(st.sampled_from(["/a", "/a/b", "/b", "", "/a/0", "/a/-"]))
        kind = self.draw(st.sampled_from(["add", "replace", "test", "remove", "move", "copy"]))
        if kind in ("add", "replace", "test"):
            return {"op": kind, "path": path, "value": self.draw(json_values)}
        return {"op": kind, "path": path} if kind == "remove" else {"op": kind, "path": path, "from": "/b"}

    def state(self) -> None:
        if self.draw(st.booleans()):
            self.emit_state("STATE_SNAPSHOT", "snapshot", self.draw(json_values))
        else:
            self.emit("STATE_DELTA", delta=[self.operation() for _ in range(self.draw(st.integers(0, 3)))])

    def emit_state(self, kind: str, name: str, value: Any) -> None:
        self.emit(kind)
        self.stream.events[-1][name] = value  # null is a state, too

    def passthrough(self) -> None:
        if self.draw(st.booleans()):
            self.emit_state("CUSTOM", "value", self.draw(json_values))
            self.stream.events[-1]["name"] = self.draw(short_text)
        else:
            self.emit_state("RAW", "event", self.draw(json_values))

    def encrypted(self) -> None:
        subtype, entities = self.draw(
            st.sampled_from([("message", list(self.stream.texts)), ("tool-call", list(self.calls))])
        )
        entity = self.draw(st.sampled_from([*entities, "unheard-of"]))
        self.emit("REASONING_ENCRYPTED_VALUE", subtype=subtype, entityId=entity, encryptedValue=self.draw(short_text))

    def snapshot(self) -> None:
        ids = [*self.stream.texts, "new1", "new2"]
        self.emit(
            "MESSAGES_SNAPSHOT",
            messages=[self.message(identity) for identity in self.draw(st.lists(st.sampled_from(ids), max_size=4))],
        )

    def message(self, identity: str) -> Raw:
        role = self.draw(st.sampled_from(["user", "assistant", "tool", "activity", "reasoning", "system"]))
        message: Raw = {"id": identity, "role": role, "content": self.draw(short_text)}
        if role == "user":
            message["content"] = self.draw(contents)
        if role == "tool":
            message |= {
                "toolCallId": self.draw(st.sampled_from([*self.calls, "unheard-of"])),
                "content": self.draw(contents),
            }
        if role == "activity":
            message |= {"activityType": self.draw(short_text), "content": self.draw(objects)}
        if role == "assistant" and self.draw(st.booleans()):
            function = {"name": self.draw(short_text), "arguments": self.draw(short_text)}
            call = self.draw(st.sampled_from([*self.calls, f"{identity}-call"]))
            message["toolCalls"] = [{"id": call, "type": "function", "function": function}]
        return message

    def legal(self) -> list[Callable[[], None]]:
        actions = [
            self.start_item, self.start_item, self.chunk, self.result, self.start_step, self.start_subagent,
            self.activity, self.state, self.passthrough, self.encrypted,
        ]  # fmt: skip
        if any(kind != "span" for kind, _ in self.open):
            actions += [self.continue_item] * 4
        if self.open:
            actions.append(self.end_item)
        if self.steps:
            actions.append(self.end_step)
        if self.subagents:
            actions.append(self.end_subagent)
        if self.activities:
            actions.append(self.patch_activity)
        if self.snapshots:
            actions.append(self.snapshot)
        return actions

    def begin(self) -> None:
        self.run += 1
        self.calls = []
        echoed = None
        if self.snapshots and self.draw(st.booleans()):
            echoed = {"threadId": "thread", "runId": f"run{self.run}", "messages": [self.message("echoed")]}
        self.emit("RUN_STARTED", threadId="thread", runId=f"run{self.run}", protocolVersion="1.0", input=echoed)

    def finish(self) -> None:
        ending = self.draw(st.sampled_from(["completed", "interrupted", "cancelled", "failed", "truncated"]))
        self.stream.status = ending
        if ending in ("failed", "truncated"):
            self.open.clear()
            self.steps.clear()
            self.subagents.clear()
            if ending == "failed":
                self.emit("RUN_ERROR", message=self.draw(short_text))
            return
        for key in self.draw(st.permutations(list(self.open))):
            self.end_item(key)
        for step in list(self.steps):
            self.end_step(step)
        for identity in list(self.subagents):
            self.end_subagent(identity)
        outcome = {
            "completed": self.draw(st.sampled_from([None, {"type": "success"}])),
            "interrupted": {"type": "interrupt", "interrupts": [{"id": "i1", "reason": "tool_call"}]},
            "cancelled": {"type": "cancelled"},
        }[ending]
        usage = [{"provider": "p", "model": "m", "inputTokens": self.draw(st.integers(0, 99))}]
        self.emit("RUN_FINISHED", threadId="thread", runId=f"run{self.run}", outcome=outcome, usage=usage)


@st.composite
def valid_streams(draw: Draw, runs: int = 3, actions: int = 12, snapshots: bool = False) -> Stream:
    """One to `runs` runs of up to `actions` actions each, with everything the protocol has in them.

    With `snapshots` they restate messages too, and then `texts` and `results` do not foretell the end.
    """
    maker = _Maker(draw, snapshots)
    for _ in range(draw(st.integers(1, runs))):
        maker.begin()
        for _ in range(draw(st.integers(0, actions))):
            draw(st.sampled_from(maker.legal()))()
        maker.finish()
        if maker.stream.status == "truncated":
            break
    return maker.stream


@dataclass
class _Item:
    """An item to be spelt both ways."""

    family: str
    members: Raw
    pieces: list[tuple[str, Raw | None]]
    owner: str | None

    @property
    def id_field(self) -> str:
        return "toolCallId" if self.family == "TOOL_CALL" else "messageId"


@st.composite
def two_spellings(draw: Draw) -> tuple[list[Raw], list[Raw]]:
    """One run twice: its items as chunks, and as start, content and end."""
    lanes: dict[str | None, list[_Item]] = {None: [], "sub1": [], "sub2": []}
    for number in range(draw(st.integers(0, 6))):
        owner = draw(st.sampled_from([None, "sub1", "sub2"]))
        lanes[owner].append(_item(draw, f"item{number}", owner))
    chunked: list[Raw] = [{"type": "RUN_STARTED", "threadId": "t", "runId": "r"}]
    explicit = list(chunked)
    todo = {
        owner: [(item, index) for item in items for index in range(len(item.pieces))] for owner, items in lanes.items()
    }
    while pending := [owner for owner, pieces in todo.items() if pieces]:
        owner = draw(st.sampled_from(pending))
        item, index = todo[owner].pop(0)
        chunked.append(_chunk(draw, item, index))
        explicit += _triad(item, index)
        if draw(st.integers(0, 4)) == 0:
            between = {"type": "RAW", "event": draw(json_values)}
            chunked.append(between)
            explicit.append(between)
    end = {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}
    return [*chunked, end], [*explicit, end]


def _item(draw: Draw, identity: str, owner: str | None) -> _Item:
    family = draw(st.sampled_from(["TEXT_MESSAGE", "TOOL_CALL", "REASONING_MESSAGE"]))
    members: Raw = {"toolCallId" if family == "TOOL_CALL" else "messageId": identity}
    if family == "TOOL_CALL":
        members["toolCallName"] = draw(short_text)
        if draw(st.booleans()):
            members["parentMessageId"] = f"parent-of-{identity}"
    if family == "TEXT_MESSAGE":
        members |= draw(st.sampled_from([{}, {"role": "user"}, {"role": "assistant"}, {"role": "system", "name": "n"}]))
    pieces = draw(st.lists(st.tuples(short_text, st.none() | objects), min_size=1, max_size=4))
    return _Item(family, members, pieces, owner)


def _chunk(draw: Draw, item: _Item, index: int) -> Raw:
    delta, metadata = item.pieces[index]
    members = (
        dict(item.members)
        if index == 0
        else draw(st.sampled_from([{}, {item.id_field: item.members[item.id_field]}, item.members]))
    )
    tag = item.owner if index == 0 or item.id_field not in members else draw(st.sampled_from([None, item.owner]))
    return _without_none(
        {"type": f"{item.family}_CHUNK", **members, "delta": delta, "metadata": metadata, "subagentRunId": tag}
    )


def _triad(item: _Item, index: int) -> list[Raw]:
    delta, metadata = item.pieces[index]
    identity = {item.id_field: item.members[item.id_field]}
    content = "ARGS" if item.family == "TOOL_CALL" else "CONTENT"
    events = []
    if index == 0:
        own = {"role": "reasoning"} if item.family == "REASONING_MESSAGE" else {}
        events.append({"type": f"{item.family}_START", **item.members, **own, "subagentRunId": item.owner})
    events.append({"type": f"{item.family}_{content}", **identity, "delta": delta, "metadata": metadata})
    if index == len(item.pieces) - 1:
        events.append({"type": f"{item.family}_END", **identity})
    return [_without_none(event) for event in events]


def _without_none(event: Raw) -> Raw:
    return {key: value for key, value in event.items() if value is not None}


# Mutations.

HOSTILE_VALUES: list[Any] = [
    None, True, False, 0, -1, 1.5, 1.0, 10**30, "", "5", "x" * 5000, [], {}, [None], {"type": None},
    {"type": "nobody-knows"}, {"role": 7}, [[]], "\ud83d", "\ude00x", "null",
]  # fmt: skip
RAW_TEXTS: list[str] = [
    "", " ", "null", "7", '"RUN_STARTED"', "[]", "{}", '{"type":null}', '{"type":7}', "{", "[1,", "nul", "NaN",
    '{"type":"RAW","event":NaN}', '{"type":"RAW","event":-Infinity}', '{"type":"RAW","event":1e999}',
    '{"type":"RAW","event":' + "9" * 5000 + "}", '{"type":"RAW","event":' + "[" * 150 + "]" * 150 + "}",
    '{"type":"RAW","event":' + "[" * 5000 + "]" * 5000 + "}", '{"type":"RAW","event":' + '{"a":' * 90000,
    '{"type":"RAW","event":"\\ud83d"}', '{"type":"RAW","event":"\ud83d"}', '{"type":"RAW","event":"\\ud83d",}',
    '{"type":"RAW","event":["\\ud83d",NaN]}', '{"type":"RAW","event":"\x00"}', '{"type":"RAW","event":1,"event":2}',
    '{"type":"RAW","type":"RUN_ERROR","event":1,"message":"m"}', "\ufeff{}", '{"type":"RAW","event":"\\q"}',
    '{"type":"TEXT_MESSAGE_START","messageId":"a","messageId":7}',
    '{"type":"TEXT_MESSAGE_START","messageId":7,"messageId":"a"}',
]  # fmt: skip
_TYPES = [
    "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "TEXT_MESSAGE_CHUNK", "TOOL_CALL_START",
    "TOOL_CALL_ARGS", "TOOL_CALL_END", "TOOL_CALL_CHUNK", "TOOL_CALL_RESULT", "STATE_SNAPSHOT", "STATE_DELTA",
    "MESSAGES_SNAPSHOT", "ACTIVITY_SNAPSHOT", "ACTIVITY_DELTA", "RAW", "CUSTOM", "RUN_STARTED", "RUN_FINISHED",
    "RUN_ERROR", "STEP_STARTED", "STEP_FINISHED", "SUBAGENT_STARTED", "SUBAGENT_FINISHED", "SUBAGENT_ERROR",
    "REASONING_START", "REASONING_MESSAGE_START", "REASONING_MESSAGE_CONTENT", "REASONING_MESSAGE_END",
    "REASONING_MESSAGE_CHUNK", "REASONING_END", "REASONING_ENCRYPTED_VALUE", "THINKING_START", "THINKING_END",
    "THINKING_TEXT_MESSAGE_START", "THINKING_TEXT_MESSAGE_CONTENT", "THINKING_TEXT_MESSAGE_END", "FUTURE_EVENT",
]  # fmt: skip


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every place inside a JSON value, as its holder and the key or index."""
    found: list[tuple[Any, Any]] = []
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in entries:
        found.append((value, key))
        found += _places(inner)
    return found


def _snake(key: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key)


def _mutate_event(draw: Draw, event: Raw) -> Raw:
    event = json.loads(json.dumps(event))
    holder, key = draw(st.sampled_from(_places(event)))
    match draw(st.sampled_from(["value", "value", "retype", "extra", "snake", "delete", "deep"])):
        case "value":
            holder[key] = draw(st.sampled_from(HOSTILE_VALUES))
        case "retype":
            event["type"] = draw(st.sampled_from(_TYPES))
        case "extra" if isinstance(holder, dict):
            holder[draw(st.sampled_from(["futureField", "raw_event", "a/b~c", ""]))] = draw(json_values)
        case "snake" if isinstance(holder, dict):
            holder[_snake(key)] = holder.pop(key)
        case "deep":
            deep: Any = 1
            for _ in range(draw(st.sampled_from([50, 195, 400]))):
                deep = [deep]
            holder[key] = deep
        case _:
            del holder[key]
    return event


@st.composite
def mutated_payloads(draw: Draw) -> list[str]:
    """The frames of a valid stream with one to three things wrong."""
    events: list[Any] = list(draw(valid_streams(runs=2, actions=8, snapshots=True)).events)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(events) - 1))
        match draw(
            st.sampled_from(["drop", "double", "swap", "truncate", "mutate", "mutate", "mutate", "text", "cut"])
        ):
            case "drop" if len(events) > 1:
                del events[at]
            case "double":
                events.insert(at, events[at])
            case "swap":
                other = draw(st.integers(0, len(events) - 1))
                events[at], events[other] = events[other], events[at]
            case "truncate" if at:
                del events[at:]
            case "mutate" if isinstance(events[at], dict):
                events[at] = _mutate_event(draw, events[at])
            case "cut" if isinstance(events[at], dict):
                text = json.dumps(events[at], ensure_ascii=draw(st.booleans()))
                events[at] = text[: draw(st.integers(0, len(text) - 1))]
            case _:
                events[at] = draw(st.sampled_from(RAW_TEXTS))
    return [
        event if isinstance(event, str) else json.dumps(event, ensure_ascii=draw(st.booleans())) for event in events
    ]
