"""The check before each input: every call has exactly one answer, behind its call (FT-3).

Producers rewrite history: a MESSAGES_SNAPSHOT may omit an answer, give it another
place, or bring a second one, and a provider refuses the next turn for it. What
goes out is put in order here, and every change is told.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from ag_ui.core import AssistantMessage, Message, ToolMessage

from client_sdk.diagnostics import Diagnostic


@dataclass(frozen=True, slots=True)
class Repair:
    """A history fit to be sent.

    Attributes:
        messages: the history.
        notes: what was changed, and what was noticed.
        added: the answers put in: those given before and omitted since, and those for abandoned calls.
    """

    messages: list[Message]
    notes: tuple[Diagnostic, ...] = ()
    added: tuple[ToolMessage, ...] = ()


def repair_history(
    messages: Sequence[Message],
    given: Mapping[str, ToolMessage],
    give_up: Callable[[str], ToolMessage],
    *,
    left_open: Collection[str] = (),
) -> Repair:
    """Pair the calls of a history with their answers.

    Args:
        messages: the conversation, the answers that are due included.
        given: the answers this application gave, by call id.
        give_up: makes the answer for a call that nobody answered.
        left_open: calls that stay unanswered in this input: an interrupt is answered in their stead.

    Returns:
        The history to send; the same messages, in the same order, when nothing was wrong.
    """
    pairing = _Pairing(messages, given)
    chosen = pairing.choose()
    settled = pairing.in_place(chosen)
    added: list[ToolMessage] = []
    behind: dict[int, list[Message]] = {}
    for call_id, holder in pairing.holders.items():
        if call_id in settled:
            continue
        if call_id in chosen:
            behind.setdefault(holder, []).append(messages[chosen[call_id]])
        elif call_id not in left_open:
            added.append(pairing.missing(call_id, give_up))
            behind.setdefault(holder, []).append(added[-1])
    kept = set(settled.values())
    out: list[Message] = []
    for index, message in enumerate(messages):
        if index in kept or not isinstance(message, ToolMessage):
            out.append(message)
        out.extend(behind.get(index, ()))
    return Repair(out, tuple(pairing.notes), tuple(added))


class _Pairing:
    """Which message of a history answers which call; what is noticed on the way is noted."""

    def __init__(self, messages: Sequence[Message], given: Mapping[str, ToolMessage]) -> None:
        self.notes: list[Diagnostic] = []
        self.holders: dict[str, int] = {}
        self._messages = messages
        self._given = given
        self._answers: dict[str, list[int]] = {}
        for index, message in enumerate(messages):
            if isinstance(message, AssistantMessage):
                for call in message.tool_calls or ():
                    self.holders.setdefault(call.id, index)
            elif isinstance(message, ToolMessage):
                self._answers.setdefault(message.tool_call_id, []).append(index)

    def choose(self) -> dict[str, int]:
        """The one message that answers each call, for the calls that have any."""
        chosen: dict[str, int] = {}
        for call_id, indices in self._answers.items():
            if call_id not in self.holders:
                self._note("answer_orphaned", call_id, "is answered, but the history does not hold it; not sent")
                continue
            chosen[call_id] = self._one_of(call_id, indices)
        return chosen

    def _one_of(self, call_id: str, indices: list[int]) -> int:
        """Ours if it is a result; a refusal of ours gives way to what somebody else found out."""
        given = self._given.get(call_id)
        if len(indices) == 1:
            held = self._messages[indices[0]]
            if given is not None and isinstance(held, ToolMessage) and held.content != given.content:
                self._note("answer_rewritten", call_id, "no longer has the answer that this application gave")
            return indices[0]
        self._note("answer_duplicate", call_id, f"has {len(indices)} answers; one is sent")
        ours = [index for index in indices if given is not None and self._messages[index].id == given.id]
        if ours and given is not None and given.error is None:
            return ours[0]
        return next((index for index in indices if index not in ours), indices[0])

    def in_place(self, chosen: Mapping[str, int]) -> dict[str, int]:
        """The chosen answers that may stay where they are."""
        tail = self._start_of_tail()
        settled: dict[str, int] = {}
        for call_id, index in chosen.items():
            holder = self.holders[call_id]
            if index > holder and (index >= tail or self._close(holder, index)):
                settled[call_id] = index
            else:
                self._note("answer_moved", call_id, "has its answer elsewhere; sent right behind the call")
        return settled

    def missing(self, call_id: str, give_up: Callable[[str], ToolMessage]) -> ToolMessage:
        """The answer to put in for a call that has none: the one given before, or that it was abandoned."""
        given = self._given.get(call_id)
        if given is not None:
            self._note("answer_resent", call_id, "lost the answer it was given; that answer is sent again")
            return given
        self._note("call_abandoned", call_id, "was never answered; sent as abandoned")
        return give_up(call_id)

    def _start_of_tail(self) -> int:
        """Where the answers begin that close the history: those are on their way for the first time."""
        start = len(self._messages)
        while start and isinstance(self._messages[start - 1], ToolMessage):
            start -= 1
        return start

    def _close(self, holder: int, index: int) -> bool:
        """Whether nothing that is a turn of its own stands between a call and its answer."""
        return all(
            message.role in ("tool", "reasoning", "activity")
            or (isinstance(message, AssistantMessage) and bool(message.tool_calls))
            for message in self._messages[holder + 1 : index]
        )

    def _note(self, code: str, call_id: str, what: str) -> None:
        self.notes.append(Diagnostic(code, call_id, f"the call {call_id!r} {what}"))
