"""Subagents at work, a lane each."""

from typing import Any

import reflex as rx

from demo_app.cards.frame import phase_badge
from demo_app.components.ui import icon
from demo_app.i18n import t


def lanes_card(card: Any) -> rx.Component:
    """The lanes, side by side where there is room."""
    return rx.el.section(
        rx.el.h3(t("card.subagents"), class_name="sr-only"),
        rx.foreach(card.lanes, _lane),
        class_name="lanes",
        custom_attrs={"data-card": "lanes"},
    )


def _lane(lane: Any) -> rx.Component:
    return rx.el.div(
        rx.el.div(
            icon("bot", 16),
            rx.el.h4(lane.name, class_name="lane-name"),
            rx.cond(lane.status != "", phase_badge(lane.status)),
            class_name="lane-head",
        ),
        rx.cond(lane.description != "", rx.el.p(lane.description, class_name="card-note")),
        rx.el.ul(rx.foreach(lane.lines, _line), class_name="lane-lines"),
        rx.cond(lane.error != "", rx.el.p(lane.error, class_name="error-text")),
        class_name="lane",
        custom_attrs={"data-lane": lane.name},
    )


def _line(line: Any) -> rx.Component:
    return rx.el.li(
        rx.match(
            line.kind,
            (
                "call",
                rx.el.span(icon("wrench", 13), rx.el.code(line.text), phase_badge(line.phase), class_name="lane-call"),
            ),
            ("reasoning", rx.el.span(line.text, class_name="thought")),
            rx.el.span(line.text),
        )
    )
