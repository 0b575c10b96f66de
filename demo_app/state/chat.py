"""The assistant's state: what one page shows, and what its visitor does. The work is done elsewhere.

Handlers check whose thread it is, hand the deed to the `Chat` and return; a background task, one per page, carries
what changed to the page (`followers`). Nothing here holds a run: a page may come and go in the middle of one.
"""

import base64
import json
import secrets
import uuid
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import reflex as rx
from ag_ui.core import ContentPart, DataSource, DocumentPart, ImagePart
from reflex.event import EventSpec

from demo_app.agent.models.choose import choose_model
from demo_app.agent.settings import Settings
from demo_app.state.browser import BRIDGE
from demo_app.state.cards_model import Card
from demo_app.state.engine import CHATS, Chat, open_chat
from demo_app.state.followers import FOLLOWERS, Follower
from demo_app.state.media import IMAGES, PDF
from demo_app.state.places import agent_url, is_own_agent, store
from demo_app.state.shop_state import NEWS, reload_page
from demo_app.state.suggestions import Suggestion

MAX_TEXT: Final = 20_000
MAX_FILES: Final = 4
MAX_FILE_BYTES: Final = 5 * 1024 * 1024
DOCUMENTS: Final[dict[str, list[str]]] = {
    PDF: [".pdf"],
    "text/plain": [".txt"],
    "text/csv": [".csv"],
    "text/markdown": [".md"],
    "application/json": [".json"],
}
"""Kinds of documents that can be attached, with their endings: not every system tells a file's kind."""
NAMES_SHOWN: Final = 3
UPLOAD: Final = "chat-files"
INPUT: Final = "chat-input"
_KEEP_FOCUS: Final = rx.call_script("window.hallaChat.keepFocus()")


@dataclass(frozen=True)
class ThreadRow:
    """A line of the thread list."""

    id: str
    title: str
    updated: str
    current: bool


@dataclass(frozen=True)
class Attachment:
    """A file that goes out with the next message."""

    id: str
    name: str
    kind: str
    size: str


@dataclass(frozen=True)
class Refusal:
    """Files that were not attached: their names, and the code of the reason they share (`notice.<code>`)."""

    code: str
    names: str


class ChatState(rx.State):
    """The conversation of this page."""

    visitor: str = rx.LocalStorage("", name="halla-visitor", sync=True)
    thread_id: str = rx.SessionStorage("", name="halla-thread")

    ready: bool = False
    active: bool = False
    title: str = ""
    notice: str = ""
    agent_label: str = ""
    scripted: bool = False

    archive: rx.Field[list[Card]] = rx.field(default_factory=list)
    recent: rx.Field[list[Card]] = rx.field(default_factory=list)
    live: rx.Field[list[Card]] = rx.field(default_factory=list)
    earlier: int = 0
    blocks: rx.Field[list[str]] = rx.field(default_factory=list)
    head: str = ""
    middle: str = ""
    tail: str = ""

    suggestions: rx.Field[list[Suggestion]] = rx.field(default_factory=list)
    attachments: rx.Field[list[Attachment]] = rx.field(default_factory=list)
    # Three, because files come on two ways, and neither waits for the other's word to arrive.
    kept_back: rx.Field[list[Refusal]] = rx.field(default_factory=list)
    not_taken: rx.Field[list[Refusal]] = rx.field(default_factory=list)
    not_arrived: rx.Field[list[Refusal]] = rx.field(default_factory=list)
    _parts: rx.Field[dict[str, dict[str, Any]]] = rx.field(default_factory=dict)

    # Coming and going.

    @rx.event
    def attach(self) -> Any:
        """The page is there (anew): find its visitor and thread, and follow. Called with every page that is shown."""
        if not self.visitor:
            self.visitor = secrets.token_urlsafe(24)
        if not store().owns(self.visitor, self.thread_id):
            known = store().threads(self.visitor)
            self.thread_id = known[0].id if known else self._new_thread()
        follower = FOLLOWERS.get(self.router.session.client_token)
        chat = self._chat()
        if chat is not None:
            chat.page = self.router.url.path
        same = follower is not None and not follower.stopped and follower.chat is chat
        if same and follower is not None and follower.session == self.router.session.session_id:
            return None
        self._describe_agent()
        # What a page load starts is cancelled by the next one; so the page itself asks to be followed.
        return rx.call_script("''", callback=ChatState.begin)

    @rx.event
    def begin(self, _answer: str) -> Any:
        """The page asks to be followed."""
        return ChatState.follow

    def _new_thread(self) -> str:
        return store().create(self.visitor, str(uuid.uuid4())).id

    def _describe_agent(self) -> None:
        model = choose_model(Settings.from_environment()) if is_own_agent() else None
        self.scripted = model is not None and model.scripted
        self.agent_label = agent_url() if model is None else model.label

    def _chat(self) -> Chat | None:
        """The page's thread, if it is this visitor's."""
        return open_chat(self.thread_id) if store().owns(self.visitor, self.thread_id) else None

    def _acting(self) -> Chat | None:
        """The page's thread, now that its visitor does something: this page is the one that was used last."""
        chat = self._chat()
        follower = FOLLOWERS.get(self.router.session.client_token)
        if follower is not None:
            BRIDGE.used(follower.tab)
        if chat is not None:
            chat.page = self.router.url.path
        return chat

    @rx.event(background=True)
    async def follow(self) -> AsyncIterator[Any]:
        """Carry to this page what happens in its thread, until it is gone or follows another."""
        async with self:
            token, session, chat = self.router.session.client_token, self.router.session.session_id, self._chat()
            if chat is None:
                return
            # First the new, then the end of the old: a thread that nobody follows in between would be let go.
            before, follower = FOLLOWERS.get(token), Follower(chat, session)
            FOLLOWERS[token] = follower
        if before is not None:
            before.stop()
        known = NEWS.count
        try:
            async for scripts, changes in follower.steps(token):
                for code in scripts:
                    yield rx.call_script(code, callback=ChatState.browser_said)
                if changes:
                    async with self:
                        if follower.stopped:
                            break
                        self._set(changes)
                if NEWS.count != known:
                    known = NEWS.count
                    async with self:
                        path = self.router.url.path
                    yield reload_page(path)
            if chat.over and not follower.stopped:
                # The thread was deleted, here or in another window: show another one.
                yield ChatState.attach
        finally:
            follower.stop()
            if FOLLOWERS.get(token) is follower:
                del FOLLOWERS[token]

    def _set(self, changes: Mapping[str, Any]) -> None:
        for name, value in changes.items():
            setattr(self, name, value)
        if changes.get("active") is False and self.notice == "busy":
            self.notice = ""
        if not self.ready:
            self.ready = True

    @rx.event
    def browser_said(self, word: list[str]) -> None:
        """The page's answer to a browser tool's call: the call's id and the answer, as `browser.script` put them."""
        follower = FOLLOWERS.get(self.router.session.client_token)
        if follower is not None and len(word) == 2:
            BRIDGE.answered(word[0], word[1], follower.tab)

    # Speaking.

    @rx.event
    def send(self, form: dict[str, Any]) -> Any:
        """Send what is in the composer, with its attachments."""
        return self._say(str(form.get("text", "")))

    @rx.event
    def suggest(self, text: str) -> Any:
        """Send a suggested question; a second click while it is answered has nothing to add."""
        chat = self._acting()
        return None if chat is not None and chat.active else self._say(text)

    def _say(self, text: str) -> Any:
        chat = self._acting()
        text = text.strip()[:MAX_TEXT]
        if chat is None:
            # The thread is gone; what was typed is not.
            return [ChatState.attach, rx.set_value(INPUT, text)]
        if not (text or self.attachments):
            return None
        if chat.active:
            self.notice = "busy"
            return rx.set_value(INPUT, text)
        parts = [_part(self._parts[file.id]) for file in self.attachments]
        self.attachments, self._parts, self.notice = [], {}, ""
        self._forget_refusals()
        self._to_the_end()
        chat.send(text, parts)
        return rx.call_script("window.hallaChat.toTheEnd()")

    def _to_the_end(self) -> None:
        follower = FOLLOWERS.get(self.router.session.client_token)
        if follower is not None:
            follower.feed.to_the_end()

    @rx.event
    def stop(self) -> None:
        """Stop the run, or the tools that run for it."""
        if (chat := self._acting()) is not None:
            chat.stop()

    @rx.event
    def regenerate(self) -> None:
        """Ask for another answer instead of the last one."""
        if (chat := self._acting()) is not None:
            chat.regenerate()

    @rx.event
    def show_earlier(self) -> None:
        """Show more of a long conversation."""
        follower = FOLLOWERS.get(self.router.session.client_token)
        if follower is not None:
            follower.feed.show_earlier()
            follower.wake()

    # Attachments.

    @rx.event
    async def add_files(self, files: list[rx.UploadFile]) -> None:
        """Take files that were chosen or dropped; what cannot be taken is said."""
        refused: list[tuple[str, str]] = []
        for file in files:
            name, body = file.name or "file", await file.read()
            mime = _kind_of(name, (file.content_type or "").split(";")[0])
            if len(self.attachments) >= MAX_FILES:
                refused.append(("too_many_files", name))
            elif len(body) > MAX_FILE_BYTES:
                refused.append(("file_too_large", name))
            elif not body:
                refused.append(("file_empty", name))
            elif not mime:
                refused.append(("file_type", name))
            else:
                self._hold(name, mime, body)
        self.not_taken = _told(refused)

    @rx.event
    def refuse_files(self, refused: list[dict[str, str]]) -> None:
        """Say why files that were chosen or dropped are not taken; the page itself kept them back."""
        self.kept_back = _told(
            (_KEPT_BACK.get(one.get("code", ""), "file_type"), one.get("name", "?")) for one in refused
        )

    @rx.event
    def upload_failed(self, names: list[str]) -> None:
        """Say that files did not reach this app."""
        self.not_arrived = _told(("upload_failed", str(name)) for name in names)

    @rx.event
    def forget_refusals(self) -> None:
        """Files are chosen anew: what was said of the last ones is over."""
        self._forget_refusals()

    def _forget_refusals(self) -> None:
        self.kept_back, self.not_taken, self.not_arrived = [], [], []

    @rx.event
    def dismiss(self) -> EventSpec:
        """The notice was read."""
        self.notice = ""
        self._forget_refusals()
        if (chat := self._chat()) is not None:
            chat.notice = ""
        return rx.call_script(f"window.hallaShell.focus('{INPUT}')")

    def _hold(self, name: str, mime: str, body: bytes) -> None:
        identity = uuid.uuid4().hex
        kind = "image" if mime in IMAGES else "document"
        self._parts[identity] = {"kind": kind, "mime": mime, "name": name, "data": base64.b64encode(body).decode()}
        self.attachments = [*self.attachments, Attachment(identity, name, kind, f"{max(1, len(body) // 1024):,} KB")]

    @rx.event
    def drop_file(self, identity: str) -> None:
        """Take an attachment back."""
        self.attachments = [file for file in self.attachments if file.id != identity]
        self.not_taken = []
        self._parts.pop(identity, None)

    # Calls and interrupts.

    @rx.event
    def approve(self, call_id: str, form: dict[str, Any]) -> EventSpec:
        """Let a call run with the arguments in its form."""
        chat = self._acting()
        taken = chat is None or chat.approve(call_id, form)
        return _KEEP_FOCUS if taken else _to_mistake(call_id)

    @rx.event
    def run_anyway(self, call_id: str) -> EventSpec:
        """Let a call run that nothing but the visitor's word may run, as it is."""
        if (chat := self._acting()) is not None:
            chat.approve(call_id, None)
        return _KEEP_FOCUS

    @rx.event
    def decline(self, call_id: str) -> EventSpec:
        """Say no to a call."""
        if (chat := self._acting()) is not None:
            chat.decline(call_id, "")
        return _KEEP_FOCUS

    @rx.event
    def give_up(self, call_id: str) -> EventSpec:
        """Leave a call that was started at "nobody knows"."""
        if (chat := self._acting()) is not None:
            chat.give_up(call_id)
        return _KEEP_FOCUS

    @rx.event
    def answer(self, interrupt_id: str, form: dict[str, Any]) -> EventSpec:
        """Answer an interrupt with the values in its form."""
        chat = self._acting()
        taken = chat is None or chat.answer_interrupt(interrupt_id, form)
        return _KEEP_FOCUS if taken else _to_mistake(interrupt_id)

    @rx.event
    def cancel(self, interrupt_id: str) -> EventSpec:
        """Cancel an interrupt."""
        if (chat := self._acting()) is not None:
            chat.answer_interrupt(interrupt_id, None)
        return _KEEP_FOCUS


class EditState(rx.State):
    """The user's message that is being edited; apart, so that cards do not follow the streaming state."""

    editing: str = ""

    @rx.event
    def begin(self, message_id: str) -> EventSpec:
        """Open a message for editing."""
        self.editing = message_id
        return rx.call_script("window.hallaShell.focus('edit-text')")

    @rx.event
    def leave(self) -> EventSpec:
        """Leave it as it is."""
        self.editing = ""
        return rx.call_script(f"window.hallaShell.focus('{INPUT}')")

    @rx.event
    async def resend(self, message_id: str, form: dict[str, Any]) -> Any:
        """Send the edited message in the place of the old one; what followed the old one is taken back."""
        chat_state = await self.get_state(ChatState)
        text = str(form.get("text", "")).strip()[:MAX_TEXT]
        chat = chat_state._acting()
        if chat is None or not text:
            return None
        self.editing = ""
        chat.edit(message_id, text)
        return rx.call_script(f"window.hallaShell.focus('{INPUT}')")


class ThreadsState(rx.State):
    """The visitor's threads, and whether their list is shown in the place of the transcript."""

    open: bool = False
    threads: rx.Field[list[ThreadRow]] = rx.field(default_factory=list)
    renaming: str = ""
    deleting: str = ""

    FOCUS: ClassVar[str] = "window.hallaShell.focus('thread-new')"

    @rx.event
    async def toggle(self) -> EventSpec:
        """Show the list, or the conversation again."""
        self.open = not self.open
        self.renaming = self.deleting = ""
        await self._read()
        return rx.call_script(self.FOCUS if self.open else f"window.hallaShell.focus('{INPUT}')")

    async def _read(self) -> None:
        chat = await self.get_state(ChatState)
        self.threads = [
            ThreadRow(info.id, info.title, info.updated[:16].replace("T", " "), info.id == chat.thread_id)
            for info in store().threads(chat.visitor)
        ]

    @rx.event
    async def new(self) -> Any:
        """Start another thread; an empty one is taken as it is."""
        chat = await self.get_state(ChatState)
        known = store().threads(chat.visitor)
        empty = next((info.id for info in known if not info.title), None)
        return await self._show(empty or chat._new_thread())

    @rx.event
    async def choose(self, thread_id: str) -> Any:
        """Open a thread of the list."""
        return await self._show(thread_id)

    async def _show(self, thread_id: str) -> Any:
        chat = await self.get_state(ChatState)
        if not store().owns(chat.visitor, thread_id):
            return None
        self.open = False
        if thread_id != chat.thread_id:
            chat.thread_id = thread_id
            chat.ready = False
            chat.attachments, chat._parts = [], {}
            chat._forget_refusals()
        return [ChatState.attach, rx.call_script(f"window.hallaShell.focus('{INPUT}')")]

    @rx.event
    def rename(self, thread_id: str) -> EventSpec:
        """Open a thread's title for editing."""
        self.renaming, self.deleting = thread_id, ""
        return rx.call_script("window.hallaShell.focus('thread-title')")

    @rx.event
    async def set_title(self, form: dict[str, Any]) -> EventSpec:
        """Give the thread that is being renamed the title in the form; an empty one changes nothing."""
        chat, thread_id = await self.get_state(ChatState), self.renaming
        title = " ".join(str(form.get("title", "")).split())[:80]
        if title and store().owns(chat.visitor, thread_id):
            store().rename(thread_id, title)
            if (running := CHATS.get(thread_id)) is not None:
                running.retitle(title)
        self.renaming = ""
        await self._read()
        return rx.call_script(self.FOCUS)

    @rx.event
    def ask_delete(self, thread_id: str) -> EventSpec:
        """Ask before a thread is deleted."""
        self.deleting, self.renaming = thread_id, ""
        return rx.call_script("window.hallaShell.focus('thread-delete')")

    @rx.event
    def leave(self) -> EventSpec:
        """Neither rename nor delete."""
        self.renaming = self.deleting = ""
        return rx.call_script(self.FOCUS)

    @rx.event
    async def delete(self, thread_id: str) -> Any:
        """Delete a thread and all that belongs to it; a run of it is stopped first."""
        chat = await self.get_state(ChatState)
        self.deleting = ""
        if store().owns(chat.visitor, thread_id):
            running = CHATS.get(thread_id)
            if running is not None:
                await running.end()
            store().delete(thread_id)
        await self._read()
        if thread_id == chat.thread_id:
            return [ChatState.attach, rx.call_script(self.FOCUS)]
        return rx.call_script(self.FOCUS)


def _to_mistake(call_id: str) -> EventSpec:
    return rx.call_script(f"window.hallaChat.showMistake({json.dumps(call_id)})")


# What the page says of files that it keeps back, in our codes.
_KEPT_BACK: Final = {
    "file-invalid-type": "file_type",
    "file-too-large": "file_too_large",
    "file-too-small": "file_empty",
    "too-many-files": "too_many_files",
}


def _kind_of(name: str, mime: str) -> str:
    """A file's kind, told by its ending where the system of its sender did not know; "" for one that is not taken."""
    if mime in IMAGES or mime in DOCUMENTS:
        return mime
    return next((kind for kind, endings in DOCUMENTS.items() if name.lower().endswith(tuple(endings))), "")


def _told(refused: Iterable[tuple[str, str]]) -> list[Refusal]:
    """What is said of files, by code and name: a line for each reason."""
    by_code: dict[str, list[str]] = {}
    for code, name in refused:
        by_code.setdefault(code, []).append(name)
    return [Refusal(code, _listed(names)) for code, names in by_code.items()]


def _listed(names: Sequence[str]) -> str:
    more = len(names) - NAMES_SHOWN
    return ", ".join(names[:NAMES_SHOWN]) + (f" +{more}" if more > 0 else "")


def _part(file: Mapping[str, Any]) -> ContentPart:
    source = DataSource(value=file["data"], mime_type=file["mime"])
    kind = ImagePart if file["kind"] == "image" else DocumentPart
    return kind(source=source, metadata={"filename": file["name"]})
