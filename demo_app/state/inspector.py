"""The inspector: a look at the wire and at the books, refreshed while it is open."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, Final

import reflex as rx
from reflex.event import EventSpec

from client_sdk import flatten_message
from demo_app.state.chat import ChatState
from demo_app.state.engine import Chat
from demo_app.state.followers import is_connected
from demo_app.state.places import journal, store

EVENTS_SHOWN: Final = 120
REFRESH_SECONDS: Final = 0.5
SUMMARY: Final = 400
TABS: Final = ("events", "diagnostics", "state", "calls", "journal", "legacy")


@dataclass(frozen=True)
class Row:
    """A line of any of the inspector's lists; which columns it has is its tab's matter.

    Attributes: `events` and `characters`, of an event's line: how many it stands for, and the characters they brought.
    """

    key: str
    first: str
    second: str = ""
    third: str = ""
    fourth: str = ""
    events: int = 1
    characters: int = 0


@dataclass(frozen=True)
class RunRow:
    """A run whose recording can be exported."""

    seq: str
    label: str


def event_rows(chat: Chat) -> list[Row]:
    """The latest events, as they came over the wire, the latest first."""
    return [
        Row(str(line.number), line.type, line.last, events=line.count, characters=line.length)
        for line in chat.book.events.latest(EVENTS_SHOWN)
    ]


def diagnostic_rows(chat: Chat) -> list[Row]:
    """What was tolerated: stored runs first, then what came in since."""
    stored = [one for run in store().runs(chat.id) for one in run.detail.get("diagnostics", ())]
    known = {(one["code"], one["path"], one["message"]) for one in stored}
    fresh = [one for one in chat.diagnostics if (one.code, one.path, one.message) not in known]
    rows = [Row("", one["code"], one["path"], one["message"]) for one in stored]
    rows += [Row("", one.code, one.path, one.message) for one in fresh]
    return [Row(str(index), row.first, row.second, row.third) for index, row in enumerate(rows)]


def call_rows(chat: Chat) -> list[Row]:
    """Calls without an answer, and what they wait for; then open interrupts."""
    calls = [
        Row(
            call.id,
            call.name,
            call.standing.value,
            call.reason.value if call.reason else "",
            call.call.arguments[:SUMMARY],
        )
        for call in chat.runner.board.calls
        if call.message is None
    ]
    asked = [Row(one.id, one.reason, "interrupt", one.tool_call_id or "", one.message or "") for one in chat.interrupts]
    return calls + asked


def journal_rows(chat: Chat) -> list[Row]:
    """The journal of the thread's calls, the latest first."""
    entries = journal().entries(chat.id)
    return [
        Row(
            str(index),
            entry.at.strftime("%H:%M:%S"),
            entry.event.value,
            entry.tool,
            " ".join(word for word in (entry.outcome.value if entry.outcome else "", entry.reason or "") if word),
        )
        for index, entry in reversed(list(enumerate(entries)))
    ]


def legacy_rows(chat: Chat) -> list[Row]:
    """The thread as a store of strings holds it, by the SDK's own flattening, and what each message lost."""
    flat = [flatten_message(message) for message in chat.thread.messages]
    return [Row(one.id, one.role, one.body or "", ", ".join(str(part) for part in one.dropped)) for one in flat]


_ROWS: Final[dict[str, Callable[[Chat], list[Row]]]] = {
    "events": event_rows,
    "diagnostics": diagnostic_rows,
    "calls": call_rows,
    "journal": journal_rows,
    "legacy": legacy_rows,
}


class InspectorState(rx.State):
    """Which tab is open, and its rows. `newest` is the first one where it still grows: the others need not be sent."""

    open: bool = False
    tab: str = "events"
    newest: rx.Field[list[Row]] = rx.field(default_factory=list)
    rows: rx.Field[list[Row]] = rx.field(default_factory=list)
    text: str = ""
    runs: rx.Field[list[RunRow]] = rx.field(default_factory=list)
    _watching: int = 0

    @rx.event
    def show(self) -> Any:
        """Open the drawer."""
        self.open = True
        self._watching += 1
        return [rx.call_script("window.hallaChat.openInspector()"), InspectorState.watch]

    @rx.event
    def hide(self) -> None:
        """The drawer was closed."""
        self.open = False
        self._watching += 1

    @rx.event
    async def choose(self, tab: str) -> None:
        """Show another tab."""
        if tab in TABS:
            self.tab = tab
            await self._read()

    async def _read(self) -> None:
        chat = (await self.get_state(ChatState))._chat()
        if chat is None:
            return
        text = json.dumps(chat.thread.state, ensure_ascii=False, indent=2) if self.tab == "state" else ""
        rows = _ROWS[self.tab](chat) if self.tab in _ROWS else []
        growing = 1 if self.tab == "events" else 0
        runs = [RunRow(str(run.seq), f"{run.started[11:19]} · {run.status}") for run in reversed(store().runs(chat.id))]
        wanted = {"text": text, "newest": rows[:growing], "rows": rows[growing:], "runs": runs}
        for name, value in wanted.items():
            if getattr(self, name) != value:
                setattr(self, name, value)

    @rx.event(background=True)
    async def watch(self) -> AsyncIterator[None]:
        """Keep the open tab up to date while the drawer is open."""
        async with self:
            number, token = self._watching, self.router.session.client_token
        while is_connected(token):
            async with self:
                if not self.open or self._watching != number:
                    return
                await self._read()
            yield
            await asyncio.sleep(REFRESH_SECONDS)

    @rx.event
    async def export(self, form: dict[str, Any]) -> EventSpec | None:
        """Download a run's recording: the stream as it came over the wire, as SSE, which the CLI replays."""
        chat = (await self.get_state(ChatState))._chat()
        wanted = str(form.get("run", ""))
        known = {} if chat is None else {str(run.seq): run for run in store().runs(chat.id)}
        run = known.get(wanted)
        if run is None:
            return None
        frames = "".join(f"data: {line}\n\n" for line in map(_one_line, store().recording(run.seq)))
        return rx.download(data=frames, filename=f"run-{run.run_id[:8]}.sse")


def _one_line(payload: str) -> str:
    return payload.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\ndata: ")
