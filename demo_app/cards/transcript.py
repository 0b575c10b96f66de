"""The transcript: from a card's kind to its component. Cards sit behind a memo, so that only changed ones are drawn."""

from typing import Any

import reflex as rx

from demo_app.cards.activity import activity_card
from demo_app.cards.end import end_card
from demo_app.cards.interrupt import decision_card, interrupt_card
from demo_app.cards.lanes import lanes_card
from demo_app.cards.reasoning import live_reasoning, reasoning_card
from demo_app.cards.text import live_text, text_card
from demo_app.cards.tool import tool_card
from demo_app.cards.user import user_card
from demo_app.components.ui import icon
from demo_app.i18n import t
from demo_app.state.cards_model import Card

KINDS = {
    "user": user_card,
    "text": text_card,
    "reasoning": reasoning_card,
    "tool": tool_card,
    "activity": activity_card,
    "lanes": lanes_card,
    "interrupt": interrupt_card,
    "decision": decision_card,
    "end": end_card,
}


@rx.memo
def card_view(card: rx.Var[Card]) -> rx.Component:
    """One card."""
    shown: Any = card
    drawn: rx.Component = rx.match(
        shown.kind, *[(kind, draw(shown)) for kind, draw in KINDS.items()], _instruction(shown)
    )
    return drawn


def _instruction(card: Any) -> rx.Component:
    """A system or developer message of the agent's: shown as what it is, never obeyed by this app."""
    return rx.el.div(
        icon("info", 15), rx.el.div(rx.el.strong(card.title), rx.el.p(card.text)), class_name="notice tone-mute"
    )


def cards(shown: Any) -> rx.Component:
    """A list of cards."""
    return rx.foreach(shown, lambda card: rx.fragment(card_view(card=card), key=card.key))


@rx.memo
def streaming_text() -> rx.Component:
    """The text that streams, in a component of its own: nothing else is drawn when a token arrives."""
    return rx.el.article(
        rx.el.h3(t("card.assistant"), class_name="sr-only"),
        live_text(),
        class_name="said is-live",
        custom_attrs={"data-card": "text", "data-live": "true"},
    )


@rx.memo
def streaming_reasoning() -> rx.Component:
    """The same for thoughts."""
    return live_reasoning()


def moving_card(card: Any) -> rx.Component:
    """A card that is not finished."""
    return rx.cond(
        card.live,
        rx.cond(card.kind == "reasoning", streaming_reasoning(), streaming_text()),
        rx.fragment(card_view(card=card), key=card.key),
    )
