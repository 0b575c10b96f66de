"""A run as a person reads it: the conversation on standard output, what went wrong on standard error."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from ag_ui.core import EventType

from client_sdk.cli.terminal import Terminal, one_line
from client_sdk.diagnostics import Diagnostic
from client_sdk.legacy import flatten
from client_sdk.protocol.pipeline import Update
from client_sdk.tools import JournalEvent, ToolUpdate

_MAX_DATA = 200
"""Characters of open data shown of one event; all of it is in ``--json`` and ``--record``."""


class Renderer:
    """Shows updates as they come.

    Text and arguments appear piece by piece; items that stream side by side take turns.
    What only a snapshot brings (answers of tools, say) is shown when it brings it.
    """

    def __init__(self, out: Terminal, err: Terminal) -> None:
        """Write the conversation to `out` and warnings to `err`."""
        self._out = out
        self._err = err
        self._subagents: dict[str, str] = {}
        self._labels: dict[tuple[str, str], str] = {}
        self._call_names: dict[str, str] = {}
        self._answered: set[str] = set()
        self._texts: set[str] = set()
        self._runs = 0
        self.warned: list[Diagnostic] = []
        """The diagnostics shown so far."""

    def known(self, messages: Iterable[Mapping[str, Any]]) -> None:
        """What was said before, as wire objects: a snapshot that repeats it has nothing new to show."""
        for message in messages:
            if message["role"] == "assistant":
                self._texts.add(message.get("content") or "")
                calls = message.get("toolCalls") or ()
                self._call_names.update((call["id"], call["function"]["name"]) for call in calls)
            elif message["role"] == "tool":
                self._answered.add(message["toolCallId"])

    def show(self, update: Update | ToolUpdate) -> None:
        """Show one update."""
        if isinstance(update, ToolUpdate):
            self._tool(update)
            return
        shower = _SHOWERS.get(update.event.type)
        if shower is not None:
            shower(self, update.event, update)
        for diagnostic in update.diagnostics:
            self.warn(diagnostic)

    def warn(self, diagnostic: Diagnostic) -> None:
        """Show one diagnostic on standard error."""
        self.warned.append(diagnostic)
        where = f" at {diagnostic.path}" if diagnostic.path else ""
        self._err.line(one_line(f"warning: {diagnostic.code}{where}: {diagnostic.message}"), "yellow")

    def close(self) -> None:
        """End what is open."""
        self._out.close()

    def _tool(self, update: ToolUpdate) -> None:
        """What became of a call on this side: decided, started, answered."""
        call = update.call
        if update.message is not None:
            self._call_names.setdefault(call.id, call.name)
            self._answer(call.id, update.message.content, update.message.error, "result")
            return
        word = _TOOL_WORDS.get(update.happened)
        if word is not None:
            changed = f" with {json.dumps(call.consented, ensure_ascii=False)}" if call.edited else ""
            self._out.line(one_line(f"{word} {call.name}{changed}"), "dim")

    # One method for each kind of event that shows.

    def _run_started(self, event: Any, update: Update) -> None:
        self._runs += 1
        if self._runs > 1:
            self._out.line(f"-- next run {event.run_id}", "dim")

    # Labels are kept from an item's start: asking for its message at each delta would join it each time.

    def _text_start(self, event: Any, update: Update) -> None:
        role = event.name or event.role or "assistant"
        self._labels.setdefault(("text", event.message_id), self._label(event.subagent_run_id, role))

    def _text(self, event: Any, update: Update) -> None:
        key = ("text", event.message_id)
        self._out.block(key, self._labels[key], event.delta)

    def _text_end(self, event: Any, update: Update) -> None:
        content = None if update.message is None else update.message.content
        self._texts.add(content if isinstance(content, str) else "")

    def _reasoning_start(self, event: Any, update: Update) -> None:
        label = self._label(event.subagent_run_id, "reasoning")
        self._labels.setdefault(("reasoning", event.message_id), label)

    def _reasoning(self, event: Any, update: Update) -> None:
        key = ("reasoning", event.message_id)
        self._out.block(key, self._labels[key], event.delta, "dim")

    def _call_start(self, event: Any, update: Update) -> None:
        self._call_names.setdefault(event.tool_call_id, event.tool_call_name)
        owner = None if update.tool_call is None else update.tool_call.subagent_run_id
        key = ("call", event.tool_call_id)
        label = self._labels.setdefault(key, self._label(owner, f"call {event.tool_call_name}"))
        self._out.block(key, label, "")

    def _call_args(self, event: Any, update: Update) -> None:
        key = ("call", event.tool_call_id)
        self._out.block(key, self._labels[key], event.delta)

    def _call_result(self, event: Any, update: Update) -> None:
        self._answer(event.tool_call_id, event.content, None, self._label(event.subagent_run_id, "result"))

    def _answer(self, call_id: str, content: Any, error: str | None, label: str) -> None:
        self._answered.add(call_id)
        flat = flatten(content)
        media = "".join(f" [{part}]" for part in flat.dropped)
        failed = "" if error is None else f" [{_failure(flat.text, error)}]"
        name = self._call_names.get(call_id, call_id)
        self._out.line(f"{one_line(label)} of {one_line(name)}: {flat.text}{media}{failed}")

    def _messages(self, event: Any, update: Update) -> None:
        for message in event.messages:
            if message.role == "tool" and message.tool_call_id not in self._answered:
                self._answer(message.tool_call_id, message.content, message.error, "result")
            elif message.role == "assistant":
                self._restated(message)

    def _restated(self, message: Any) -> None:
        for call in message.tool_calls or ():
            if call.id not in self._call_names:
                self._call_names[call.id] = call.function.name
                self._out.line(f"call {one_line(call.function.name)}: {call.function.arguments}")
        if message.content and message.content not in self._texts:
            self._texts.add(message.content)
            self._out.line(f"{one_line(message.name or message.role)}: {message.content}")

    def _state(self, event: Any, update: Update) -> None:
        value = event.snapshot if event.type == EventType.STATE_SNAPSHOT else _wire(event)["delta"]
        self._out.line(f"{self._label(event.subagent_run_id, 'state')}: {data(value)}", "dim")

    def _activity(self, event: Any, update: Update) -> None:
        value = event.content if event.type == EventType.ACTIVITY_SNAPSHOT else _wire(event)["patch"]
        label = self._label(event.subagent_run_id, f"activity {event.activity_type}")
        self._out.line(f"{one_line(label)}: {data(value)}", "dim")

    def _step(self, event: Any, update: Update) -> None:
        self._out.line(one_line(self._label(event.subagent_run_id, f"step {event.step_name}")), "dim")

    def _custom(self, event: Any, update: Update) -> None:
        self._out.line(f"{one_line(f'custom {event.name}')}: {data(event.value)}", "dim")

    def _subagent_started(self, event: Any, update: Update) -> None:
        self._subagents[event.subagent_run_id] = event.name
        about = f": {event.description}" if event.description else ""
        self._out.line(one_line(f"subagent {event.name} started{about}"), "dim")

    def _subagent_finished(self, event: Any, update: Update) -> None:
        name = self._subagents.get(event.subagent_run_id, event.subagent_run_id)
        result = "" if event.result is None else f": {data(event.result)}"
        self._out.line(f"{one_line(f'subagent {name} finished')}{result}", "dim")

    def _subagent_error(self, event: Any, update: Update) -> None:
        name = self._subagents.get(event.subagent_run_id, event.subagent_run_id)
        self._out.line(one_line(f"subagent {name} failed: {event.message}"))

    def _run_finished(self, event: Any, update: Update) -> None:
        if event.result is not None:
            self._out.line(f"run result: {data(event.result)}")

    def _label(self, owner: str | None, what: str) -> str:
        """`what`, told apart by the subagent it belongs to."""
        return what if owner is None else f"[{self._subagents.get(owner, owner)}] {what}"


_TOOL_WORDS: Final = {
    JournalEvent.GRANTED: "approved",
    JournalEvent.DECLINED: "declined",
    JournalEvent.STARTED: "running",
    JournalEvent.ABANDONED: "gave up",
}


def _failure(shown: str, error: str) -> str:
    """What `error` adds to `shown`, an answer's text: it mostly says the same after the name of what happened."""
    name, _, words = error.partition(": ")
    if _ends_with(shown, error):
        return "failed"
    if _ends_with(shown, words):
        return "failed" if name == "failed" else f"failed: {name}"
    return f"failed: {error}"


def _ends_with(text: str, words: str) -> bool:
    """Whether the last words of `text` are `words`, whole ones."""
    return bool(words) and (text == words or text.endswith((f" {words}", f"\n{words}")))


def _wire(event: Any) -> dict[str, Any]:
    return event.model_dump(mode="json", by_alias=True)  # type: ignore[no-any-return]


def data(value: Any) -> str:
    """Open data as one line of JSON, cut where it gets long."""
    return one_line(json.dumps(value, ensure_ascii=False), _MAX_DATA)


_SHOWERS: Final[Mapping[EventType, Callable[[Renderer, Any, Update], None]]] = {
    EventType.RUN_STARTED: Renderer._run_started,
    EventType.TEXT_MESSAGE_START: Renderer._text_start,
    EventType.TEXT_MESSAGE_CONTENT: Renderer._text,
    EventType.TEXT_MESSAGE_END: Renderer._text_end,
    EventType.REASONING_MESSAGE_START: Renderer._reasoning_start,
    EventType.REASONING_MESSAGE_CONTENT: Renderer._reasoning,
    EventType.TOOL_CALL_START: Renderer._call_start,
    EventType.TOOL_CALL_ARGS: Renderer._call_args,
    EventType.TOOL_CALL_RESULT: Renderer._call_result,
    EventType.MESSAGES_SNAPSHOT: Renderer._messages,
    EventType.STATE_SNAPSHOT: Renderer._state,
    EventType.STATE_DELTA: Renderer._state,
    EventType.ACTIVITY_SNAPSHOT: Renderer._activity,
    EventType.ACTIVITY_DELTA: Renderer._activity,
    EventType.STEP_STARTED: Renderer._step,
    EventType.CUSTOM: Renderer._custom,
    EventType.SUBAGENT_STARTED: Renderer._subagent_started,
    EventType.SUBAGENT_FINISHED: Renderer._subagent_finished,
    EventType.SUBAGENT_ERROR: Renderer._subagent_error,
    EventType.RUN_FINISHED: Renderer._run_finished,
}
"""What shows of an event; the others (ends, spans, RAW) change nothing a reader would see."""
