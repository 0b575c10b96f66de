"""A tool call: its name, its arguments while they fill in, how far it has come, what came of it."""

from typing import Any

import reflex as rx

from demo_app.cards.chart import chart_body
from demo_app.cards.consent import consent_form, held_choice
from demo_app.cards.facts import facts_body
from demo_app.cards.frame import code_text, explained, fold, tool_frame
from demo_app.cards.invoice import invoice_body
from demo_app.cards.media import media_list
from demo_app.cards.orders import orders_body
from demo_app.cards.page_tools import picture_body
from demo_app.cards.products import products_body
from demo_app.cards.quote import findings_body
from demo_app.cards.table import TOOL_BODIES
from demo_app.cards.weather import weather_body
from demo_app.components.ui import icon
from demo_app.i18n import t

BODIES: dict[str, Any] = {
    "orders": orders_body,
    "products": products_body,
    "weather": weather_body,
    "chart": chart_body,
    "invoice": invoice_body,
    "facts": facts_body,
    "findings": findings_body,
    "picture": picture_body,
}


def tool_card(card: Any) -> rx.Component:
    """The card of one call."""
    return tool_frame(
        rx.match(card.title, *[(name, icon(body.glyph, 17)) for name, body in TOOL_BODIES.items()], icon("wrench", 17)),
        _title(card),
        card.phase,
        rx.match(
            card.phase,
            ("streaming", code_text(card.arguments, t("card.arguments"))),
            ("asking", consent_form(card)),
            ("open", held_choice(card)),
            ("interrupted", rx.el.p(t("card.interrupted"), class_name="card-note")),
            _outcome(card),
        ),
        _details(card),
        custom_attrs={
            "data-card": "tool",
            "data-tool": card.title,
            "data-phase": card.phase,
            "data-call": card.call_id,
        },
    )


def _title(card: Any) -> Any:
    known = [(name, rx.fragment(t(f"tool.{name}"))) for name in TOOL_BODIES]
    return rx.match(card.title, *known, rx.el.code(card.title))


def _outcome(card: Any) -> rx.Component:
    return rx.fragment(
        rx.cond(card.note != "", rx.el.p(explained("reason.", card.note), class_name="card-note")),
        rx.match(card.body, *[(name, body(card)) for name, body in BODIES.items()], _generic(card)),
    )


def _generic(card: Any) -> rx.Component:
    """What is shown of a tool that nobody drew a card for, and of a result that is no success."""
    return rx.fragment(
        # What the agent was told of these is in the details; the visitor reads the note.
        rx.cond(
            (card.result != "") & (card.note != "declined") & (card.note != "bad_arguments"),
            rx.el.p(card.result, class_name="tool-result"),
        ),
        media_list(card.media),
    )


def _details(card: Any) -> rx.Component:
    """What was sent and what came back, word for word."""
    return rx.cond(
        (card.phase != "streaming") & (card.phase != "asking"),
        fold(
            t("card.details"),
            rx.cond(
                card.arguments != "",
                rx.el.div(
                    rx.el.p(t("card.arguments"), class_name="raw-label"), code_text(card.arguments, t("card.arguments"))
                ),
            ),
            rx.cond(
                card.result != "",
                rx.el.div(rx.el.p(t("card.result"), class_name="raw-label"), code_text(card.result, t("card.result"))),
            ),
        ),
    )
