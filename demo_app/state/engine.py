"""The chat engine: threads at work, at module level, so that no page and no websocket owns a run.

A `Chat` is one thread of one visitor while somebody looks at it or something runs in it. It reads runs, puts their
calls before the SDK's gate, keeps everything in the store as it is finished, and wakes the pages that follow it. A
page that goes away changes nothing; one that comes back catches up from the same `Chat`, and after a restart from the
store and the journal.
"""

import asyncio
import json
import logging
import uuid
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final

from ag_ui.core import ContentPart, Context, Interrupt, ResumeEntry, TextPart, UserMessage

from client_sdk import (
    CallOutcome,
    CallStanding,
    Cancel,
    ClientError,
    ClosedRun,
    Diagnostic,
    HttpAgent,
    HttpTransport,
    JournalEvent,
    OpenCall,
    OpenInterrupt,
    RefusalReason,
    Resolve,
    Run,
    RunResult,
    RunStatus,
    Thread,
    ToolError,
    ToolRunner,
    Transport,
    Update,
    build_resume,
)
from demo_app.frontend_tools import TOOLS
from demo_app.state.cards_model import Card, FormInput, Lane
from demo_app.state.forms import draw_form, errors_by_field, read_form
from demo_app.state.media import MediaShelf
from demo_app.state.places import agent_url, journal, store
from demo_app.state.store import RUNNING, StoredRun
from demo_app.state.view import CallState, Surroundings, Transcript

_log = logging.getLogger(__name__)

EVENTS_KEPT: Final = 400
"""Events of the running and the last runs that the inspector shows."""
TITLE_LENGTH: Final = 60


class Recorder:
    """A transport that shows every payload to the thread it belongs to, exactly as it came over the wire."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner

    def open(self, body: bytes, headers: Mapping[str, str]) -> AbstractAsyncContextManager[AsyncIterator[str]]:
        """See `Transport.open`."""
        return self._recorded(body, headers)

    @asynccontextmanager
    async def _recorded(self, body: bytes, headers: Mapping[str, str]) -> AsyncIterator[AsyncIterator[str]]:
        chat = CHATS.get(str(json.loads(body)["threadId"]))
        async with self._inner.open(body, headers) as payloads:
            yield payloads if chat is None else _shown_to(chat, payloads)

    async def aclose(self) -> None:
        """See `Transport.aclose`."""
        await self._inner.aclose()


async def _shown_to(chat: "Chat", payloads: AsyncIterator[str]) -> AsyncIterator[str]:
    async for payload in payloads:
        chat.record(payload)
        yield payload


@cache
def agent() -> HttpAgent:
    """The one agent of this process; its connections are shared by all threads."""
    url = agent_url()
    return HttpAgent(url, transport=Recorder(HttpTransport(url)))


CHATS: Final[dict[str, "Chat"]] = {}
"""The threads that somebody follows or that run, by id."""


def open_chat(thread_id: str) -> "Chat | None":
    """The thread as it stands, taken up from the store if nobody holds it; None when there is no such thread."""
    chat = CHATS.get(thread_id)
    if chat is None and (chat := Chat.restore(thread_id)) is not None:
        CHATS[thread_id] = chat
    return chat


@dataclass
class _Exchange:
    """One run being read."""

    seq: int
    run_id: str
    anchor: str
    first: int
    recorded: int = 0
    unsaved: list[str] = field(default_factory=list)
    lanes: dict[str, Lane] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Ended:
    """How an exchange ended, for the transcript and the store."""

    status: str
    text: str = ""
    code: str = ""


class Chat:
    """One thread at work.

    Attributes: `thread`, the SDK's; `runner`, the disposal of its calls; `transcript`, its view; `events`, payloads
    for the inspector, numbered by `event_count`; `diagnostics`, what was tolerated in its runs; `notice`, a stable
    code of what could not be done last ("" for nothing).
    """

    def __init__(
        self, thread_id: str, title: str, messages: Sequence[Mapping[str, Any]] = (), state: Any = None
    ) -> None:
        self.id = thread_id
        self.title = title
        self.transcript = Transcript()
        self.events: deque[tuple[int, str]] = deque(maxlen=EVENTS_KEPT)
        self.event_count = 0
        self.diagnostics: list[Diagnostic] = []
        self.notice = ""
        self.listeners: set[Callable[[], None]] = set()
        self.page = "/"
        self._media = MediaShelf(store(), thread_id)
        self._saved: dict[str, tuple[int, Any]] = {}
        self._after: dict[str, list[Card]] = {}
        self._lanes: dict[str, Lane] = {}
        self._parents: dict[str, str] = {}
        self._settled_calls: dict[str, CallState] = {}
        self._form_errors: dict[str, dict[str, str]] = {}
        self._form_values: dict[str, dict[str, Any]] = {}
        self._answers: dict[str, Resolve | Cancel] = {}
        self._runs: list[tuple[int, str]] = []
        self._exchange: _Exchange | None = None
        self._last_run: tuple[int, _Ended, dict[str, Any]] | None = None
        self._task: asyncio.Task[None] | None = None
        self._stopping = False
        self._make(messages, state)

    def _make(self, messages: Iterable[Any], state: Any) -> None:
        kept = {} if state is None else {"state": state}
        self.thread: Thread = agent().thread(self.id, messages=messages, tools=TOOLS.to_tools(), **kept)
        self.runner = ToolRunner(self.id, TOOLS, journal=journal())
        self._saved = {view.id: (index, view.message) for index, view in enumerate(self.thread.conversation.views)}

    # Taking up and letting go.

    @classmethod
    def restore(cls, thread_id: str) -> "Chat | None":
        """The thread from the store: what was finished is there, what was running is told as cut off."""
        stored = store().load(thread_id)
        if stored is None:
            return None
        chat = cls(thread_id, stored.info.title, stored.messages, stored.state)
        for entry in journal().entries(thread_id):
            if entry.event is JournalEvent.ANSWERED and entry.outcome is not None:
                chat._settled_calls[entry.call_id] = CallState(_PHASE_OF[entry.outcome], entry.reason or "")
        for run in stored.runs:
            chat._take_up_run(run)
        interrupts = [Interrupt.model_validate(one) for one in stored.interrupts]
        chat.thread.interrupts = interrupts
        chat.runner.restore(chat.thread.messages, interrupts)
        chat._adopt_answers()
        chat._save()
        return chat

    def _take_up_run(self, run: StoredRun) -> None:
        detail = run.detail
        self._runs.append((run.seq, run.anchor))
        for lane in detail.get("lanes", ()):
            self._lanes[lane["id"]] = Lane(**lane)
        self._parents.update(detail.get("parents", {}))
        for decision in detail.get("decisions", ()):
            self._put_behind(decision["anchor"], _decision_card(run.seq, decision))
        ended = _Ended(run.status, detail.get("error", ""), detail.get("errorCode", ""))
        anchor = run.anchor
        if run.status == RUNNING:
            # The anchor was the last message when it began; what it said since was saved as it was finished.
            views = self.thread.conversation.views
            anchor = views[-1].id if views else ""
            ended = _Ended("restarted")
            store().end_run(run.seq, ended.status, anchor, detail)
        if ended.status not in _QUIET or detail.get("last"):
            self._show_end(run.seq, anchor, ended, detail)

    def follow(self, listener: Callable[[], None]) -> None:
        """Call `listener` whenever something changed."""
        self.listeners.add(listener)

    def leave(self, listener: Callable[[], None]) -> None:
        """Call it no more; a thread that nobody follows and that rests is let go."""
        self.listeners.discard(listener)
        self._let_go()

    def _let_go(self) -> None:
        if not self.listeners and not self.active and CHATS.get(self.id) is self:
            del CHATS[self.id]

    def _changed(self) -> None:
        for listener in tuple(self.listeners):
            listener()

    # What is seen.

    @property
    def active(self) -> bool:
        """Whether a run is read or a tool runs."""
        return self._task is not None and not self._task.done()

    def look(self) -> Transcript:
        """The transcript, up to date."""
        conversation = self.thread.conversation
        self.transcript.look(conversation.views, self._surroundings())
        for interrupt in self.interrupts:
            self.transcript.moving.append(self._interrupt_card(interrupt))
        return self.transcript

    @property
    def interrupts(self) -> list[OpenInterrupt]:
        """What the agent waits for; nothing while a run is read."""
        return [] if self.active else list(self.runner.board.interrupts)

    def _surroundings(self) -> Surroundings:
        return Surroundings(
            media=self._media,
            active=self._exchange is not None,
            first=0 if self._exchange is None else self._exchange.first,
            calls={**self._settled_calls, **self._open_calls()},
            lanes=self._lanes,
            parents=self._parents,
            after=self._after,
        )

    def _open_calls(self) -> dict[str, CallState]:
        states = {}
        for call in self.runner.board.calls:
            if call.standing is not CallStanding.ANSWERED:
                states[call.id] = self._state_of(call)
            elif call.said is not None:
                reason = "" if call.said.reason is None else call.said.reason.value
                states[call.id] = CallState(_PHASE_OF[call.said.outcome], reason)
        return states

    def _state_of(self, call: OpenCall) -> CallState:
        if call.standing in (CallStanding.APPROVED, CallStanding.RUNNING):
            return CallState("running")
        if call.reason is None:
            return CallState("asking", fields=tuple(self._call_form(call)))
        if call.reason is RefusalReason.OPEN_INTERRUPT:
            return CallState("interrupted")
        return CallState("open", call.reason.value)

    def _call_form(self, call: OpenCall) -> list[FormInput]:
        if call.tool is None or call.arguments is None:
            return []
        values = self._form_values.get(call.id, call.arguments)
        return draw_form(call.tool.parameters, values, self._form_errors.get(call.id))

    def _interrupt_card(self, interrupt: OpenInterrupt) -> Card:
        expired = interrupt.expired(datetime.now(UTC))
        fields = draw_form(
            interrupt.response_schema, self._form_values.get(interrupt.id), self._form_errors.get(interrupt.id)
        )
        return Card(
            f"interrupt:{interrupt.id}",
            "interrupt",
            call_id=interrupt.id,
            title=interrupt.reason,
            text=interrupt.message or "",
            phase="expired" if expired else "open",
            note=self._form_errors.get(interrupt.id, {}).get("", ""),
            fields=[] if expired else fields,
        )

    # What the user does.

    def send(self, text: str, parts: Sequence[ContentPart] = ()) -> None:
        """Say something. Open calls are declined first, open interrupts cancelled (FT-3, IR-2)."""
        if self.active:
            return
        content: Any = text if not parts else [*([TextPart(text=text)] if text else []), *parts]
        message = UserMessage(id=str(uuid.uuid4()), content=content)
        if not self.title:
            self.title = " ".join(text.split())[:TITLE_LENGTH] or "…"
            store().rename(self.id, self.title)
        self.runner.dismiss_open()
        cancelled = {interrupt.id: Cancel() for interrupt in self.runner.board.interrupts}
        self._answer(cancelled, message)

    def _answer(self, answers: Mapping[str, Any], message: UserMessage | None = None) -> None:
        interrupts = list(self.runner.board.interrupts)
        resume = build_resume(interrupts, answers, now=datetime.now(UTC)).entries if interrupts else None
        anchor = self._last_id()
        decisions = [
            {
                "anchor": anchor,
                "id": interrupt.id,
                "reason": interrupt.reason,
                "message": interrupt.message or "",
                "status": "cancelled" if isinstance(answers[interrupt.id], Cancel) else "resolved",
                "payload": getattr(answers[interrupt.id], "payload", None),
            }
            for interrupt in interrupts
        ]
        self._form_errors.clear()
        self._form_values.clear()
        self._start(message, resume, decisions)

    def answer_interrupt(self, interrupt_id: str, data: Mapping[str, Any] | None) -> None:
        """Answer an interrupt with a filled-in form, or cancel it (`data` is None).

        Where several are open, answers are held until each has one: a run continues with all of them (IR-2).
        """
        interrupt = next((one for one in self.interrupts if one.id == interrupt_id), None)
        if interrupt is None:
            return
        if data is None:
            self._answers[interrupt_id] = Cancel()
        else:
            payload, errors = read_form(interrupt.response_schema, data)
            errors = errors or errors_by_field(interrupt.problems(payload))
            if errors:
                self._reject_form(interrupt_id, payload, errors)
                return
            self._answers[interrupt_id] = Resolve(payload)
        if all(one.id in self._answers for one in self.runner.board.interrupts):
            answers, self._answers = self._answers, {}
            self._answer(answers)
        self._changed()

    def _reject_form(self, key: str, values: Any, errors: dict[str, str]) -> None:
        self._form_errors[key] = errors
        self._form_values[key] = values if isinstance(values, dict) else {"": values}
        self._changed()

    def approve(self, call_id: str, data: Mapping[str, Any] | None) -> None:
        """Let a call run, with the arguments of a filled-in form, or as it is (`data` is None)."""
        call = self._open_call(call_id)
        if call is None:
            return
        arguments: dict[str, Any] | None = None
        if data is not None and call.tool is not None:
            arguments, errors = read_form(call.tool.parameters, data)
            if not errors:
                errors = errors_by_field(call.tool.judge(arguments or {}).problems)
            if errors:
                self._reject_form(call_id, arguments, errors)
                return
        self._decide(call_id, lambda: call.approve(None if arguments == call.arguments else arguments))

    def decline(self, call_id: str, reason: str) -> None:
        """Say no to a call."""
        call = self._open_call(call_id)
        if call is not None:
            self._decide(call_id, lambda: call.decline(reason.strip()[:500]))

    def give_up(self, call_id: str) -> None:
        """Say of a call that was started and never heard of again that nobody knows what became of it."""
        call = self._open_call(call_id)
        if call is not None:
            self._decide(call_id, call.abandon)

    def _open_call(self, call_id: str) -> OpenCall | None:
        return next((call for call in self.runner.open_calls if call.id == call_id), None)

    def _decide(self, call_id: str, decision: Callable[[], None]) -> None:
        try:
            decision()
        except ToolError as error:
            self.notice = error.code
        self._form_errors.pop(call_id, None)
        self._form_values.pop(call_id, None)
        self._start()

    def retitle(self, title: str) -> None:
        """The thread has another title now."""
        self.title = title
        self._changed()

    async def end(self) -> None:
        """Stop, and wait until it is over: the thread is about to be deleted."""
        task = self._task
        self.stop()
        if task is not None:
            await asyncio.wait({task})
        CHATS.pop(self.id, None)

    def stop(self) -> None:
        """Stop reading the run, or the tools that run for it."""
        if self._task is not None and self.active:
            self._stopping = True
            self._task.cancel()

    def regenerate(self) -> None:
        """Take back the last answer and ask for another."""
        if self.active:
            return
        views = self.thread.conversation.views
        last = next((index for index in range(len(views) - 1, -1, -1) if views[index].role == "user"), None)
        if last is not None:
            self._take_back(last + 1)
            self._start(None, ask=True)

    def edit(self, message_id: str, text: str) -> None:
        """Take back a message of the user's and all after it, and say `text` instead; its attachments stay."""
        views = self.thread.conversation.views
        index = next((i for i, view in enumerate(views) if view.id == message_id and view.role == "user"), None)
        if self.active or index is None:
            return
        content: Any = views[index].message.content
        parts = [part for part in content if part.type != "text"] if isinstance(content, list) else []
        self._take_back(index)
        self.send(text, parts)

    def _take_back(self, count: int) -> None:
        """Keep the first `count` messages only, with the runs that led to them."""
        views = self.thread.conversation.views
        kept = [view.message for view in views[:count]]
        gone = [view.id for view in views[count:]]
        state = self.thread.state
        ids = {message.id for message in kept}
        dropped = [seq for seq, began in self._runs if began not in ids or (kept and began == kept[-1].id)]
        store().save(self.id, gone=gone)
        store().forget_runs(self.id, dropped)
        self._runs = [run for run in self._runs if run[0] not in dropped]
        self._after = {
            anchor: cards
            for anchor, held in self._after.items()
            if (cards := [card for card in held if int(card.message_id or 0) not in dropped])
        }
        self._make(kept, state)
        self.transcript.reset()

    # The work.

    def _start(
        self,
        message: UserMessage | None = None,
        resume: Sequence[ResumeEntry] | None = None,
        decisions: Sequence[dict[str, Any]] = (),
        *,
        ask: bool = False,
    ) -> None:
        """Go on, in a task of its own: with a run when there is something to say, else with what was decided."""
        speaks = ask or message is not None or resume is not None
        if speaks:
            self.runner.user_speaks()
            self.notice = ""
        if not self.active:
            self._task = asyncio.create_task(self._work(message, resume, decisions, speaks), name=f"chat {self.id}")
            self._task.add_done_callback(self._ended)
        self._changed()

    def _ended(self, task: "asyncio.Task[None]") -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self.notice = "internal"
            _log.error("Thread %s came to a stop", self.id, exc_info=error)
        self._changed()
        self._let_go()

    async def _work(
        self,
        message: UserMessage | None,
        resume: Sequence[ResumeEntry] | None,
        decisions: Sequence[dict[str, Any]],
        speaks: bool,
    ) -> None:
        self._stopping = False
        try:
            while True:
                if speaks:
                    await self._exchange_once(message, resume, decisions)
                await self._settle()
                following = self.runner.next_input()
                for note in self.runner.take_diagnostics():
                    self.diagnostics.append(note)
                    self.notice = note.code if note.code == "follow_up_limit" else self.notice
                if following is None:
                    break
                message, resume, decisions, speaks = None, following.resume, (), True
        except asyncio.CancelledError:
            if not self._stopping:
                raise
        finally:
            self._adopt_answers()
            self._rest()
            self._save()

    async def _settle(self) -> None:
        """Run what may run. What is decided meanwhile runs too."""
        while True:
            async for _ in self.runner.settle():
                self._adopt_answers()
                self._changed()
            self._adopt_answers()
            if not any(call.standing is CallStanding.APPROVED for call in self.runner.board.calls):
                break
        for call in self.runner.open_calls:
            if call.reason is None and journal().record(self.id, call.id).granted is None:
                self.runner.board.asked(call)
        self._save()

    def _adopt_answers(self) -> None:
        """Put answers into the conversation as soon as they are given; they go out with the next input."""
        conversation = self.thread.conversation
        for call in self.runner.board.calls:
            held = conversation.call(call.id)
            if call.message is not None and held is not None and held.result is None:
                conversation.add_answer(call.message)
                self.transcript.touch(held.holder.id)
                if call.said is not None:
                    reason = "" if call.said.reason is None else call.said.reason.value
                    self._settled_calls[call.id] = CallState(_PHASE_OF[call.said.outcome], reason)

    async def _exchange_once(
        self, message: UserMessage | None, resume: Sequence[ResumeEntry] | None, decisions: Sequence[dict[str, Any]]
    ) -> None:
        for answer in self.runner.take_answers():
            self.thread.conversation.add_answer(answer)
        if message is not None:
            self.thread.add_message(message)
            self._save()
        _, added = self.runner.check_history(self.thread.messages)
        for answer in added:
            self.thread.conversation.add_answer(answer)
        run = self.thread.run(resume=resume, context=[Context(description="The page the user sees", value=self.page)])
        anchor = self._last_id()
        seq = store().begin_run(self.id, run.id, anchor)
        self._runs.append((seq, anchor))
        self._exchange = exchange = _Exchange(seq, run.id, anchor, len(self.thread.conversation.views))
        for decision in decisions:
            self._put_behind(decision["anchor"], _decision_card(seq, decision))
        ended = _Ended("unreachable")
        try:
            ended = await self._read(run)
        except asyncio.CancelledError:
            ended = _Ended("stopped") if self._stopping else _Ended("restarted")
            raise
        finally:
            self._exchange = None
            self._close(exchange, run, ended, resume or (), decisions)

    async def _read(self, run: Run) -> _Ended:
        try:
            async with run:
                async for update in run:
                    # A thread without a registry of its own yields nothing else: its calls are disposed of here.
                    if isinstance(update, Update):
                        self._take_in(update)
        except ClientError as error:
            return _Ended(_status_of(run, error), str(error), error.code)
        result = run.result
        if result.status is RunStatus.FAILED:
            said = result.run_errors[-1]
            return _Ended("failed", said.message, said.code or "")
        if result.error is not None:
            return _Ended(result.status.value, str(result.error), result.error.code)
        return _Ended(result.status.value)

    def _take_in(self, update: Update) -> None:
        self.diagnostics.extend(update.diagnostics)
        if update.message_id is not None:
            self.transcript.touch(update.message_id)
        handler = _HANDLERS.get(update.event.type.value)
        if handler is not None:
            handler(self, update.event)
        self._changed()

    def _subagent_started(self, event: Any) -> None:
        lane = Lane(event.subagent_run_id, event.name, event.description or "", "running")
        self._put_lane(lane, event.parent_tool_call_id)

    def _put_lane(self, lane: Lane, parent: str | None = None) -> None:
        exchange = self._exchange
        self._lanes[lane.id] = lane
        if exchange is not None:
            exchange.lanes[lane.id] = lane
        if parent is not None:
            self._parents[lane.id] = parent
            if exchange is not None:
                exchange.parents[lane.id] = parent

    def _subagent_finished(self, event: Any) -> None:
        suspended = event.outcome is not None and event.outcome.type == "suspended"
        self._change_lane(event.subagent_run_id, status="suspended" if suspended else "finished")

    def _subagent_error(self, event: Any) -> None:
        self._change_lane(event.subagent_run_id, status="failed", error=event.message)

    def _change_lane(self, lane_id: str, **changes: Any) -> None:
        self._put_lane(replace(self._lanes[lane_id], **changes))

    def _finished_something(self, event: Any) -> None:
        self._save()

    def _replaced_messages(self, event: Any) -> None:
        self.transcript.reset()
        self._save()

    def record(self, payload: str) -> None:
        """Take note of one payload as it came over the wire."""
        self.event_count += 1
        self.events.append((self.event_count, payload))
        if self._exchange is not None:
            self._exchange.unsaved.append(payload)
            if len(self._exchange.unsaved) >= 200:
                self._save_recording(self._exchange)

    def _save_recording(self, exchange: _Exchange) -> None:
        store().record(exchange.seq, exchange.recorded, exchange.unsaved)
        exchange.recorded += len(exchange.unsaved)
        exchange.unsaved = []

    def _close(
        self,
        exchange: _Exchange,
        run: Run,
        ended: _Ended,
        resumed: Sequence[ResumeEntry],
        decisions: Sequence[dict[str, Any]],
    ) -> None:
        """Write down how an exchange ended, and put its calls before the gate."""
        result = _result_of(run)
        for lane in exchange.lanes.values():
            if lane.status == "running":
                self._change_lane(lane.id, status="abandoned")
                exchange.lanes[lane.id] = self._lanes[lane.id]
        anchor = self._last_id()
        detail = {
            "error": ended.text,
            "errorCode": ended.code,
            "usage": [] if result is None else [one.model_dump(mode="json", by_alias=True) for one in result.usage],
            "lanes": [vars(lane) | {"lines": []} for lane in exchange.lanes.values()],
            "parents": exchange.parents,
            "decisions": list(decisions),
            "request": {} if result is None else result.request,
            "diagnostics": [] if result is None else [vars_of(one) for one in result.diagnostics],
        }
        if result is not None:
            self.runner.offer(self._closed(result, resumed))
            self._adopt_answers()
        detail["interrupts"] = [one.model_dump(mode="json", by_alias=True) for one in self.thread.interrupts]
        self._save_recording(exchange)
        store().end_run(exchange.seq, ended.status, anchor, detail)
        self._save()
        self._last_run = (exchange.seq, ended, detail)
        if ended.status not in _QUIET:
            self._show_end(exchange.seq, anchor, ended, detail)
        self._changed()

    def _rest(self) -> None:
        """The turn is over: its last run gets a line with what it cost, if it ended well."""
        if self._last_run is None or self.runner.open_calls or self.runner.board.interrupts:
            return
        (seq, ended, detail), self._last_run = self._last_run, None
        if ended.status == "completed":
            anchor = self._last_id()
            store().end_run(seq, ended.status, anchor, detail | {"last": True})
            self._show_end(seq, anchor, ended, detail)

    def _closed(self, result: RunResult, resumed: Sequence[ResumeEntry]) -> ClosedRun:
        unanswered = frozenset(call.id for call in self.thread.tool_calls if call.result is None)
        return ClosedRun(
            result.status,
            tuple(result.pending_tool_calls),
            TOOLS.offered(),
            tuple(self.thread.interrupts),
            tuple(resumed),
            unanswered,
        )

    # What is kept, and what stands behind messages.

    def _last_id(self) -> str:
        views = self.thread.conversation.views
        return views[-1].id if views else ""

    def _save(self) -> None:
        """Write down every message that is finished and not yet written as it is."""
        changed: dict[str, tuple[int, dict[str, Any]]] = {}
        seen = set()
        for index, view in enumerate(self.thread.conversation.views):
            seen.add(view.id)
            if view.streaming and self._exchange is not None and index >= self._exchange.first:
                continue
            message = view.message
            held = self._saved.get(view.id)
            if held is None or held[0] != index or held[1] is not message:
                changed[view.id] = (index, message.model_dump(mode="json", by_alias=True))
                self._saved[view.id] = (index, message)
        gone = [identity for identity in self._saved if identity not in seen]
        for identity in gone:
            del self._saved[identity]
        if changed or gone:
            store().save(self.id, changed=changed, gone=gone, state=self.thread.state)

    def _show_end(self, seq: int, anchor: str, ended: _Ended, detail: Mapping[str, Any]) -> None:
        usage = " · ".join(_usage_words(entry) for entry in detail.get("usage", ()))
        card = Card(
            f"end:{seq}",
            "end",
            message_id=str(seq),
            phase=ended.status,
            text=ended.text,
            note=ended.code,
            title=usage,
        )
        self._put_behind(anchor, card)

    def _put_behind(self, anchor: str, card: Card) -> None:
        if any(card.key == other.key for held in self._after.values() for other in held):
            return
        self._after.setdefault(anchor, []).append(card)
        self.transcript.touch(anchor)


def vars_of(diagnostic: Diagnostic) -> dict[str, str]:
    """A diagnostic as plain data."""
    return {"code": diagnostic.code, "path": diagnostic.path, "message": diagnostic.message}


def _decision_card(seq: int, decision: Mapping[str, Any]) -> Card:
    payload = decision.get("payload")
    return Card(
        f"decision:{decision['id']}:{decision['status']}",
        "decision",
        message_id=str(seq),
        title=str(decision.get("reason", "")),
        text=str(decision.get("message", "")),
        phase=str(decision["status"]),
        arguments="" if payload is None else json.dumps(payload, ensure_ascii=False, indent=2),
    )


def _status_of(run: Run, error: ClientError) -> str:
    result = _result_of(run)
    started = result is not None and any(record.run_id or record.error for record in result.runs)
    return result.status.value if result is not None and started else "unreachable"


def _result_of(run: Run) -> RunResult | None:
    try:
        return run.result
    except RuntimeError:
        return None


def _usage_words(entry: Mapping[str, Any]) -> str:
    name = entry.get("model") or entry.get("provider") or ""
    counts = [f"{entry[key]:,} {arrow}" for key, arrow in (("inputTokens", "↑"), ("outputTokens", "↓")) if key in entry]
    return " ".join([str(name), *counts]).strip()


_QUIET: Final = frozenset({"completed", "interrupted"})
"""Ends of a run that need no word of their own."""

_PHASE_OF: Final[dict[CallOutcome, str]] = {
    CallOutcome.SUCCEEDED: "done",
    CallOutcome.FAILED: "failed",
    CallOutcome.DECLINED: "declined",
    CallOutcome.REFUSED: "refused",
    CallOutcome.TIMED_OUT: "timed_out",
    CallOutcome.CANCELLED: "cancelled",
    CallOutcome.EFFECT_UNKNOWN: "effect_unknown",
    CallOutcome.ABANDONED: "abandoned",
}

_HANDLERS: Final[dict[str, Callable[[Chat, Any], None]]] = {
    "SUBAGENT_STARTED": Chat._subagent_started,
    "SUBAGENT_FINISHED": Chat._subagent_finished,
    "SUBAGENT_ERROR": Chat._subagent_error,
    "TEXT_MESSAGE_END": Chat._finished_something,
    "REASONING_MESSAGE_END": Chat._finished_something,
    "TOOL_CALL_END": Chat._finished_something,
    "TOOL_CALL_RESULT": Chat._finished_something,
    "ACTIVITY_SNAPSHOT": Chat._finished_something,
    "MESSAGES_SNAPSHOT": Chat._replaced_messages,
}
