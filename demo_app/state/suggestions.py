"""What to ask next: the tour, in order, without what was asked already. Only for the agent that knows the tour."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from demo_app.agent.models.scripted import TOUR
from demo_app.state.places import is_own_agent

if TYPE_CHECKING:
    from demo_app.state.engine import Chat

AT_FIRST: Final = 5
LATER: Final = 2


@dataclass(frozen=True)
class Suggestion:
    """A question in both languages."""

    en: str
    ko: str


def next_suggestions(chat: "Chat") -> list[Suggestion]:
    """The next questions of the tour; none while a run is on or a decision is open, nor with a foreign agent."""
    if chat.active or chat.awaits_decision or not is_own_agent():
        return []
    views = chat.thread.conversation.views
    asked = {view.message.content for view in views if view.role == "user" and isinstance(view.message.content, str)}
    left = [Suggestion(en, ko) for en, ko in TOUR if not {en, ko} & asked]
    return left[: LATER if asked else AT_FIRST]
