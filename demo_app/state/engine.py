"""The chat engine: threads at work, at module level, so that no page and no websocket owns a run.

A `Chat` is one thread of one visitor while somebody looks at it or something runs in it. It reads runs, puts their
calls before the SDK's gate, keeps everything in the store as it is finished, and wakes the pages that follow it. A
page that goes away changes nothing; one that comes back catches up from the same `Chat`, and after a restart from the
store and the journal.
"""

import asyncio
import logging
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from ag_ui.core import ContentPart, Context, Interrupt, ResumeEntry, TextPart, UserMessage

from client_sdk import (
    CallOutcome,
    CallStanding,
    Cancel,
    ClientError,
    ClosedRun,
    Diagnostic,
    InterruptError,
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
    Update,
    build_resume,
)
from demo_app.frontend_tools import TOOLS
from demo_app.state.agent_link import RECORDERS, agent
from demo_app.state.cards_model import Card, Fact, FormInput
from demo_app.state.consent_facts import consent_facts
from demo_app.state.forms import PREFIX, draw_form, errors_by_field, read_form, typed_texts, verdict_of
from demo_app.state.media import MediaShelf
from demo_app.state.places import journal, store
from demo_app.state.run_book import Ended, RunBook
from demo_app.state.view import CallState, Surroundings, Transcript

_log = logging.getLogger(__name__)

TITLE_LENGTH: Final = 60


CHATS: Final[dict[str, "Chat"]] = {}
"""The threads that somebody follows or that run, by id."""


def open_chat(thread_id: str) -> "Chat | None":
    """The thread as it stands, taken up from the store if nobody holds it; None when there is no such thread."""
    chat = CHATS.get(thread_id)
    if chat is None and (chat := Chat.restore(thread_id)) is not None:
        CHATS[thread_id] = chat
        RECORDERS[thread_id] = chat.book.record
    return chat


async def break_off() -> None:
    """End what is read and run, because the app ends: answers are written down as cut off, decisions stay open."""
    tasks = [chat._task for chat in CHATS.values() if chat._task is not None and not chat._task.done()]
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)


class Chat:
    """One thread at work.

    Attributes: `thread`, the SDK's; `runner`, the disposal of its calls; `transcript`, its view; `book`, its runs;
    `diagnostics`, what was tolerated in them; `notice`, a stable code of what could not be done last ("" for nothing);
    `over`, whether it was ended to be deleted.
    """

    def __init__(
        self, thread_id: str, title: str, messages: Sequence[Mapping[str, Any]] = (), state: Any = None
    ) -> None:
        self.id = thread_id
        self.title = title
        self.transcript = Transcript()
        self.book = RunBook(store(), thread_id, self.transcript.stand_behind)
        self.diagnostics: list[Diagnostic] = []
        self.notice = ""
        self.over = False
        self.listeners: set[Callable[[], None]] = set()
        self.page = "/"
        self._media = MediaShelf(store(), thread_id)
        self._saved: dict[str, tuple[int, Any]] = {}
        self._settled_calls: dict[str, CallState] = {}
        self._form_errors: dict[str, dict[str, str]] = {}
        self._form_texts: dict[str, dict[str, str]] = {}
        self._facts: dict[str, tuple[Fact, ...]] = {}
        self._answers: dict[str, Resolve | Cancel] = {}
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
            chat.book.take_up(run, chat._last_id())
        interrupts = [Interrupt.model_validate(one) for one in stored.interrupts]
        chat.thread.interrupts = interrupts
        chat.runner.restore(chat.thread.messages, interrupts)
        chat._adopt_answers()
        chat._save()
        return chat

    def follow(self, listener: Callable[[], None]) -> None:
        """Call `listener` whenever something changed."""
        self.listeners.add(listener)

    def leave(self, listener: Callable[[], None]) -> None:
        """Call it no more; a thread that nobody follows and that rests is let go."""
        self.listeners.discard(listener)
        self._let_go()

    def _let_go(self) -> None:
        if not self.listeners and not self.active and CHATS.get(self.id) is self:
            del CHATS[self.id], RECORDERS[self.id]

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
            active=self.book.open is not None,
            first=0 if self.book.open is None else self.book.open.first,
            calls={**self._settled_calls, **self._open_calls()},
            lanes=self.book.lanes,
            parents=self.book.parents,
            after=self.book.after,
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
            return CallState("asking", fields=tuple(self._call_form(call)), facts=self._call_facts(call))
        if call.reason is RefusalReason.OPEN_INTERRUPT:
            return CallState("interrupted")
        return CallState("open", call.reason.value)

    def _call_form(self, call: OpenCall) -> list[FormInput]:
        if call.tool is None or call.arguments is None:
            return []
        errors, typed = self._form_errors.get(call.id), self._form_texts.get(call.id)
        return draw_form(call.tool.parameters, call.arguments, errors, typed=typed, hints=False)

    def _call_facts(self, call: OpenCall) -> tuple[Fact, ...]:
        """What the shop knows of what a call asks for, looked up once."""
        asked = f"{call.id} {call.arguments}"
        if asked not in self._facts:
            self._facts[asked] = consent_facts(call.name, call.arguments)
        return self._facts[asked]

    @property
    def awaits_decision(self) -> bool:
        """Whether a call or a question waits for the user's word."""
        return not self.active and bool(self.runner.open_calls or self.interrupts)

    def _interrupt_card(self, interrupt: OpenInterrupt) -> Card:
        expired = interrupt.expired(datetime.now(UTC))
        verdict = verdict_of(interrupt.response_schema)
        errors, typed = self._form_errors.get(interrupt.id), self._form_texts.get(interrupt.id)
        fields = draw_form(interrupt.response_schema, None, errors, typed=typed)
        return Card(
            f"interrupt:{interrupt.id}",
            "interrupt",
            call_id=interrupt.id,
            title=interrupt.reason,
            text=interrupt.message or "",
            phase="expired" if expired else "open",
            note=self._form_errors.get(interrupt.id, {}).get("", ""),
            fields=[] if expired else fields,
            verdict=PREFIX + verdict if verdict and not expired else "",
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
        try:
            resume = build_resume(interrupts, answers, now=datetime.now(UTC)).entries if interrupts else None
        except InterruptError as error:
            # One of them expired while it was answered (IR-3).
            self.notice = error.code
            self._changed()
            return
        anchor = self._last_id()
        decisions = [
            {
                "anchor": anchor,
                "id": interrupt.id,
                "reason": interrupt.reason,
                "message": interrupt.message or "",
                "status": "cancelled" if isinstance(answers[interrupt.id], Cancel) else "resolved",
                "verdict": _verdict(interrupt, answers[interrupt.id]),
                "payload": getattr(answers[interrupt.id], "payload", None),
            }
            for interrupt in interrupts
        ]
        self._form_errors.clear()
        self._form_texts.clear()
        self._start(message, resume, decisions)

    def answer_interrupt(self, interrupt_id: str, data: Mapping[str, Any] | None) -> bool:
        """Answer an interrupt with a filled-in form, or cancel it (`data` is None). Says whether the form was taken.

        Where several are open, answers are held until each has one: a run continues with all of them (IR-2).
        """
        interrupt = next((one for one in self.interrupts if one.id == interrupt_id), None)
        if interrupt is None:
            return True
        if data is None:
            self._answers[interrupt_id] = Cancel()
        else:
            payload, errors = read_form(interrupt.response_schema, data)
            verdict = verdict_of(interrupt.response_schema)
            if verdict and payload.get(verdict) is False and not interrupt.problems({verdict: False}):
                # A no carries nothing else, unless the schema wants it to.
                payload, errors = {verdict: False}, {}
            errors = errors or errors_by_field(interrupt.problems(payload))
            if errors:
                self._reject_form(interrupt_id, data, errors)
                return False
            self._answers[interrupt_id] = Resolve(payload)
        if all(one.id in self._answers for one in self.runner.board.interrupts):
            answers, self._answers = self._answers, {}
            self._answer(answers)
        self._changed()
        return True

    def _reject_form(self, key: str, data: Mapping[str, Any], errors: dict[str, str]) -> None:
        self._form_errors[key], self._form_texts[key] = errors, typed_texts(data)
        self._changed()

    def approve(self, call_id: str, data: Mapping[str, Any] | None) -> bool:
        """Let a call run, with the arguments of a filled-in form, or as it is (`data` is None).

        Says whether the form was taken; one of a call that is decided already has nothing left to say.
        """
        call = self._open_call(call_id)
        if call is None:
            return True
        arguments: dict[str, Any] | None = None
        if data is not None and call.tool is not None:
            arguments, errors = read_form(call.tool.parameters, data)
            if not errors:
                errors = errors_by_field(call.tool.judge(arguments or {}).problems)
            if errors:
                self._reject_form(call_id, data, errors)
                return False
        # An empty field is left out: that is no change of an argument that was empty before.
        asked = {name: value for name, value in (call.arguments or {}).items() if value != ""}
        self._decide(call_id, lambda: call.approve(None if arguments == asked else arguments))
        return True

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
        self._form_texts.pop(call_id, None)
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
        self.over = True
        self._changed()
        CHATS.pop(self.id, None)
        RECORDERS.pop(self.id, None)

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
        state = self.thread.state
        store().save(self.id, gone=[view.id for view in views[count:]])
        self.book.take_back([message.id for message in kept])
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
            if not (self.runner.open_calls or self.runner.board.interrupts):
                self.book.rest(self._last_id())
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
        self.book.begin(run.id, self._last_id(), len(self.thread.conversation.views), decisions)
        ended = Ended("unreachable")
        try:
            ended = await self._read(run)
        except asyncio.CancelledError:
            ended = Ended("stopped" if self._stopping else "restarted")
            raise
        finally:
            self._close(run, ended, resume or ())

    async def _read(self, run: Run) -> Ended:
        try:
            async with run:
                async for update in run:
                    # A thread without a registry of its own yields nothing else: its calls are disposed of here.
                    if isinstance(update, Update):
                        self._take_in(update)
        except ClientError as error:
            return Ended(_status_of(run, error), str(error), error.code)
        result = run.result
        if result.status is RunStatus.FAILED:
            said = result.run_errors[-1]
            return Ended("failed", said.message, said.code or "")
        if result.error is not None:
            return Ended(result.status.value, str(result.error), result.error.code)
        return Ended(result.status.value)

    def _take_in(self, update: Update) -> None:
        self.diagnostics.extend(update.diagnostics)
        if update.message_id is not None:
            self.transcript.touch(update.message_id)
        handler = _HANDLERS.get(update.event.type.value)
        if handler is not None:
            handler(self, update.event)
        self._changed()

    def _finished_something(self, event: Any) -> None:
        self._save()

    def _replaced_messages(self, event: Any) -> None:
        self.transcript.reset()
        self._save()

    def _close(self, run: Run, ended: Ended, resumed: Sequence[ResumeEntry]) -> None:
        """Write down how an exchange ended, and put its calls before the gate."""
        result = _result_of(run)
        anchor = self._last_id()
        if result is not None:
            self.runner.offer(self._closed(result, resumed))
            self._adopt_answers()
        interrupts = [one.model_dump(mode="json", by_alias=True) for one in self.thread.interrupts]
        self.book.end(ended, result, anchor, interrupts)
        self._save()
        self._changed()

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
            if view.streaming and self.book.open is not None and index >= self.book.open.first:
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


def _verdict(interrupt: OpenInterrupt, answer: Any) -> str:
    """What an answer says where its schema asks for a yes or no; "" elsewhere."""
    payload, name = getattr(answer, "payload", None), verdict_of(interrupt.response_schema)
    if not name or not isinstance(payload, Mapping) or name not in payload:
        return ""
    return "approved" if payload[name] is True else "declined"


def _status_of(run: Run, error: ClientError) -> str:
    result = _result_of(run)
    started = result is not None and any(record.run_id or record.error for record in result.runs)
    return result.status.value if result is not None and started else "unreachable"


def _result_of(run: Run) -> RunResult | None:
    try:
        return run.result
    except RuntimeError:
        return None


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
    "SUBAGENT_STARTED": lambda chat, event: chat.book.subagent_started(event),
    "SUBAGENT_FINISHED": lambda chat, event: chat.book.subagent_finished(event),
    "SUBAGENT_ERROR": lambda chat, event: chat.book.subagent_error(event),
    "TEXT_MESSAGE_END": Chat._finished_something,
    "REASONING_MESSAGE_END": Chat._finished_something,
    "TOOL_CALL_END": Chat._finished_something,
    "TOOL_CALL_RESULT": Chat._finished_something,
    "ACTIVITY_SNAPSHOT": Chat._finished_something,
    "MESSAGES_SNAPSHOT": Chat._replaced_messages,
}
