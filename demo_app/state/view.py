"""The view: a conversation as cards. Pure: what it is given decides what it gives.

`Transcript` follows one thread. What is finished is built once and kept in `settled`; what is still moving, from the
first unfinished message on, is built anew for each look in `moving`. A look costs what is moving, not what the
conversation is long.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol

from ag_ui.core import ContentPart, Message

from client_sdk import CallPhase, CallView
from demo_app.cards.table import ACTIVITY_BODIES, TOOL_BODIES
from demo_app.state.cards_model import Card, Fact, FormInput, Lane, LaneLine, Media, Step

MAX_SHOWN: Final = 20_000
"""Characters of a raw argument or result text that a card shows; the inspector has all of it."""


class View(Protocol):
    """What is asked of a message: the SDK's live view of it, or anything like it."""

    id: str
    role: str
    streaming: bool

    @property
    def calls(self) -> Sequence[CallView]:
        """Its tool calls."""
        ...

    @property
    def message(self) -> Message:
        """It, as it is now."""
        ...


@dataclass(frozen=True)
class CallState:
    """What the application knows of a call beyond the conversation: where it stands in the user's hands.

    Attributes: `phase`, a word of `demo_app.state.phases`; `note`, a stable reason; `fields`, the form in which its
    arguments can be edited, and `facts`, what is known of what they name, while the user is asked.
    """

    phase: str
    note: str = ""
    fields: tuple[FormInput, ...] = ()
    facts: tuple[Fact, ...] = ()


@dataclass
class Surroundings:
    """Everything beside the messages that the transcript shows.

    Attributes:
        active: whether a run is being read.
        first: where its first message is; one before it streams no more, even if it never was closed.
        calls: what is known of calls, by id.
        lanes: announced subagents by id (`lines` empty), with the call that started each in `parents`.
        parents: the tool call that started each subagent.
        after: cards that stand behind a message, by its id; those of "" stand first.
        media: makes the address of a media part.
    """

    media: Callable[[ContentPart], Media]
    active: bool = False
    first: int = 0
    calls: Mapping[str, CallState] = field(default_factory=dict)
    lanes: Mapping[str, Lane] = field(default_factory=dict)
    parents: Mapping[str, str] = field(default_factory=dict)
    after: Mapping[str, Sequence[Card]] = field(default_factory=dict)


class Transcript:
    """The cards of one thread, followed while it grows.

    Attributes: `settled`, the cards of finished messages, in order; `moving`, the cards after them; `live`, the key
    of the card whose text streams right now ("" for none), and `live_text`, that text; `version`, which changes when
    a settled card was replaced rather than added.
    """

    def __init__(self) -> None:
        self.settled: list[Card] = []
        self.moving: list[Card] = []
        self.live = ""
        self.live_text = ""
        self.version = 0
        self._done = 0
        self._touched: set[str] = set()
        self._behind: set[str] = set()
        self._shown_behind = 0

    def stand_behind(self, message_id: str) -> None:
        """Note that a card was put behind a message; behind the last finished one it joins, elsewhere all is anew."""
        self._behind.add(message_id)

    def touch(self, message_id: str) -> None:
        """Note that a message changed, so that it is built anew even if it was finished."""
        self._touched.add(message_id)

    def reset(self) -> None:
        """Build everything anew at the next look: messages came or went as a whole."""
        self.settled, self._done, self._shown_behind = [], 0, 0
        self.version += 1

    def look(self, views: Sequence[View], around: Surroundings) -> None:
        """Bring `settled`, `moving` and the live text up to date."""
        if self._done > len(views) or self._is_rewritten(views):
            self.reset()
        self._touched.clear()
        self._behind.clear()
        builder = _Builder(views, around)
        self._join_behind(views, around)
        while self._done < len(views) and builder.is_settled(self._done):
            self.settled.extend(builder.cards(self._done))
            self._done += 1
            self._shown_behind = len(around.after.get(views[self._done - 1].id, ()))
        self.moving = [card for index in range(self._done, len(views)) for card in builder.cards(index)]
        self._find_live(views[self._done :])

    def _is_rewritten(self, views: Sequence[View]) -> bool:
        done = views[: self._done]
        return any(view.id in self._touched for view in done) or any(view.id in self._behind for view in done[:-1])

    def _join_behind(self, views: Sequence[View], around: Surroundings) -> None:
        """Cards put behind the last finished message since; while none is finished, those that stand first."""
        anchor = views[self._done - 1].id if self._done else ""
        behind = around.after.get(anchor, ())
        self.settled.extend(behind[self._shown_behind :])
        self._shown_behind = len(behind)

    def _find_live(self, views: Sequence[View]) -> None:
        self.live, self.live_text = "", ""
        for position in range(len(self.moving) - 1, -1, -1):
            card = self.moving[position]
            if card.kind in ("text", "reasoning") and card.phase == "streaming":
                self.live, self.live_text = card.key, card.text
                self.moving[position] = replace(card, text="", live=True)
                return


class _Builder:
    """Cards of single messages."""

    def __init__(self, views: Sequence[View], around: Surroundings) -> None:
        self._views = views
        self._around = around
        self._owned: dict[str, list[View]] | None = None

    def is_settled(self, index: int) -> bool:
        """Whether nothing about the message will change by itself any more."""
        view, around = self._views[index], self._around
        if self._streams(index) or (around.active and view.role == "activity"):
            return False
        if any(not self._is_call_settled(call) for call in view.calls):
            return False
        # A finished message may still get calls, and a subagent's belongs to a lane, while its run goes on.
        return not around.active or (index + 1 < len(self._views) and _owner(view) is None)

    def _streams(self, index: int) -> bool:
        return self._around.active and index >= self._around.first and self._views[index].streaming

    def _is_call_settled(self, call: CallView) -> bool:
        state = self._around.calls.get(call.id)
        return call.result is not None or (state is not None and state.phase in _FINAL)

    def cards(self, index: int) -> Iterator[Card]:
        """The cards of one message, then what stands behind it."""
        view = self._views[index]
        if _owner(view) is None:
            yield from _KINDS.get(view.role, _Builder._nothing)(self, view, self._streams(index))
        elif self._starts_stray_lane(index):
            yield self._lanes(f"lane:{_owner(view)}", [str(_owner(view))])
        yield from self._around.after.get(view.id, ())

    def _nothing(self, view: View, streaming: bool) -> Iterator[Card]:
        yield from ()

    # By role.

    def _user(self, view: View, streaming: bool) -> Iterator[Card]:
        text, media = self._content(view.message.content)
        yield Card(view.id, "user", message_id=view.id, text=text, media=media)

    def _assistant(self, view: View, streaming: bool) -> Iterator[Card]:
        text, media = self._content(view.message.content)
        if text or media or (streaming and not view.calls):
            phase = "streaming" if streaming else "done"
            yield Card(view.id, "text", message_id=view.id, text=text, media=media, phase=phase)
        for call in view.calls:
            yield self._call(call, view)
            started = [identity for identity, parent in self._around.parents.items() if parent == call.id]
            if started:
                yield self._lanes(f"lanes:{call.id}", started)

    def _reasoning(self, view: View, streaming: bool) -> Iterator[Card]:
        text = str(view.message.content)
        if text or streaming:
            phase = "streaming" if streaming else "done"
            yield Card(view.id, "reasoning", message_id=view.id, text=text, phase=phase)

    def _activity(self, view: View, streaming: bool) -> Iterator[Card]:
        message: Any = view.message
        content: dict[str, Any] = message.content
        kind = str(message.activity_type)
        steps, percent = _steps(content.get("steps")), _percent(content.get("percent"))
        plain = ACTIVITY_BODIES.get(kind) is None
        phase = "running" if self._around.active and percent != 100 else "done" if percent in (-1, 100) else "stopped"
        yield Card(
            view.id,
            "activity",
            message_id=view.id,
            title=str(content.get("title") or kind),
            body=ACTIVITY_BODIES.get(kind, ""),
            phase=phase,
            steps=steps,
            percent=percent,
            arguments=_pretty(content) if plain else "",
        )

    def _instruction(self, view: View, streaming: bool) -> Iterator[Card]:
        text, _ = self._content(view.message.content)
        yield Card(view.id, "notice", message_id=view.id, title=view.role, text=text)

    def _stray_result(self, view: View, streaming: bool) -> Iterator[Card]:
        """A result whose call nobody knows; a known call shows its result itself."""
        message: Any = view.message
        known = any(call.result is not None and call.result.id == view.id for v in self._views for call in v.calls)
        if not known:
            text, media = self._content(message.content)
            yield Card(
                view.id, "tool", message_id=view.id, title="?", phase="stray", result=text[:MAX_SHOWN], media=media
            )

    # Parts of them.

    def _content(self, content: Any) -> tuple[str, list[Media]]:
        if not isinstance(content, list):
            return content or "", []
        text = "\n\n".join(part.text for part in content if part.type == "text")
        return text, [self._around.media(part) for part in content if part.type != "text"]

    def _call(self, call: CallView, view: View) -> Card:
        state = self._around.calls.get(call.id)
        phase, note = self._phase(call, state)
        base = Card(
            f"call:{call.id}",
            "tool",
            message_id=view.id,
            call_id=call.id,
            title=call.name,
            phase=phase,
            note=note,
            arguments=_laid_out(call.arguments)[:MAX_SHOWN],
            fields=list(state.fields) if state is not None and phase in _ASKING else [],
            facts=list(state.facts) if state is not None and phase in _ASKING else [],
        )
        if call.result is None:
            return _with_body(base, call, None)
        message: Any = call.result.message
        text, media = self._content(message.content)
        answered = replace(base, result=_laid_out(text)[:MAX_SHOWN], media=media)
        return _with_body(answered, call, text) if phase == "done" else answered

    def _phase(self, call: CallView, state: CallState | None) -> tuple[str, str]:
        if call.result is not None:
            return _answered(call, state)
        if state is not None:
            return state.phase, state.note
        if call.phase is CallPhase.STREAMING:
            return ("streaming", "") if self._around.active else ("unfinished", "")
        return ("running", "") if self._around.active else ("unanswered", "")

    # Lanes.

    def _starts_stray_lane(self, index: int) -> bool:
        """Whether the message is the first of a subagent that no call of this conversation started."""
        owner = _owner(self._views[index])
        parent = self._around.parents.get(str(owner))
        if parent is not None and any(call.id == parent for view in self._views for call in view.calls):
            return False
        return all(_owner(view) != owner for view in self._views[:index])

    def _lanes(self, key: str, owners: Iterable[str]) -> Card:
        return Card(key, "lanes", lanes=[self._lane(owner) for owner in owners])

    def _lane(self, owner: str) -> Lane:
        if self._owned is None:
            self._owned = {}
            for view in self._views:
                if (subagent := _owner(view)) is not None:
                    self._owned.setdefault(subagent, []).append(view)
        lane = self._around.lanes.get(owner) or Lane(owner, owner)
        lines = [line for view in self._owned.get(owner, ()) for line in self._lines(view)]
        return replace(lane, lines=lines)

    def _lines(self, view: View) -> Iterator[LaneLine]:
        if view.role == "tool":
            return
        message: Any = view.message
        text = message.content if isinstance(message.content, str) else ""
        if text:
            kind = "reasoning" if view.role == "reasoning" else "text"
            yield LaneLine(kind, text, "streaming" if view.streaming and self._around.active else "done")
        for call in view.calls:
            yield LaneLine("call", call.name, self._phase(call, self._around.calls.get(call.id))[0])


_KINDS: Final[dict[str, Callable[[_Builder, View, bool], Iterator[Card]]]] = {
    "user": _Builder._user,
    "assistant": _Builder._assistant,
    "reasoning": _Builder._reasoning,
    "activity": _Builder._activity,
    "system": _Builder._instruction,
    "developer": _Builder._instruction,
    "tool": _Builder._stray_result,
}
_ASKING: Final = frozenset({"asking", "open"})
_FINAL: Final = frozenset(
    {"declined", "refused", "failed", "timed_out", "cancelled", "effect_unknown", "abandoned", "done"}
)
_BAD: Final = _FINAL - {"done"}
_TOLD: Final = frozenset({"bad_arguments"})
"""Failures whose text is written for the agent: a person reads the reason's own words, and the text in the details."""
_CODED: Final = re.compile(r"Error \((\w+)\)")
"""How an answer's text opens that says in words what its `error` would say: a failure with its code."""


def _owner(view: View) -> str | None:
    return view.message.subagent_run_id


def _answered(call: CallView, state: CallState | None) -> tuple[str, str]:
    """An answered call's phase: what the application knows, else what the answer says of itself."""
    if state is not None and state.phase in _FINAL:
        return state.phase, state.note
    assert call.result is not None  # asked for answered calls alone
    message: Any = call.result.message
    if message.error:
        word = str(message.error).split(":")[0].strip()
        return (word, "") if word in _BAD else ("failed", word if len(word) <= 60 else "")
    text = message.content if isinstance(message.content, str) else ""
    coded = _CODED.match(text)
    if coded is not None and coded[1] in _BAD:
        return coded[1], "declined" if coded[1] == "declined" else ""
    if coded is not None and coded[1] in _TOLD:
        return "failed", coded[1]
    return ("failed", "") if text.startswith(("Error (", "Error:")) else ("done", "")


def _with_body(card: Card, call: CallView, result: str | None) -> Card:
    """The card with its tool's own body, when the tool is known and its data has the shape that it draws."""
    known = TOOL_BODIES.get(call.name)
    if known is None or call.phase is CallPhase.STREAMING or (result is None and not known.draws_arguments):
        return card
    # An answer to an edited call says so in words, and then gives the result in a line of its own.
    data = _parsed(result) if result is None else _parsed(result) or _parsed(result.rpartition("\n")[2])
    drawn = known.read(_parsed(call.arguments), data)
    return card if drawn is None else replace(card, body=known.body, **drawn)


def _parsed(text: str | None) -> Any:
    try:
        return None if text is None else json.loads(text or "{}")
    except (ValueError, RecursionError):
        return None


def _laid_out(text: str) -> str:
    """JSON over several lines; what is no JSON, or not yet, as it is."""
    value = _parsed(text) if text[:1] in ("{", "[") else None
    return text if value is None else _pretty(value)


def _pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _steps(value: Any) -> list[Step]:
    listed = value if isinstance(value, list) else []
    return [
        Step(str(step.get("label", "")), str(step.get("status", ""))) for step in listed if isinstance(step, Mapping)
    ]


def _percent(value: Any) -> int:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return round(min(max(value, 0), 100)) if is_number else -1
