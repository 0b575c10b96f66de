"""What the model thought before it spoke, folded away."""

from typing import Any

import reflex as rx

from demo_app.components.ui import icon
from demo_app.i18n import t
from demo_app.state.chat import ChatState


def reasoning_card(card: Any) -> rx.Component:
    """Finished thoughts."""
    return _fold(t("card.thought"), rx.el.p(card.text, class_name="thought"))


def live_reasoning() -> rx.Component:
    """Thoughts as they stream."""
    text = ChatState.head + ChatState.middle + ChatState.tail
    return _fold(
        t("card.thinking"),
        rx.el.p(rx.foreach(ChatState.blocks, rx.text.span), text, class_name="thought"),
        busy=True,
    )


def _fold(title: rx.Var[str], *children: rx.Component, busy: bool = False) -> rx.Component:
    return rx.el.details(
        rx.el.summary(icon("brain", 15), title, icon("chevron-down", 14), class_name="is-busy" if busy else ""),
        *children,
        class_name="fold reasoning",
        custom_attrs={"data-card": "reasoning"},
    )
