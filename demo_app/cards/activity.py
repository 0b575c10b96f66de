"""An activity of the agent's: steps and progress where it tells them, its data where it does not."""

from typing import Any

import reflex as rx

from demo_app.cards.frame import code_text, fold, tool_frame
from demo_app.components.ui import icon
from demo_app.i18n import t


def activity_card(card: Any) -> rx.Component:
    """The card."""
    return tool_frame(
        icon("activity", 17),
        card.title,
        card.phase,
        rx.cond(card.percent >= 0, _progress(card)),
        rx.cond(card.steps.length() > 0, rx.el.ol(rx.foreach(card.steps, _step), class_name="steps")),
        rx.cond(card.arguments != "", fold(t("card.details"), code_text(card.arguments, t("card.details")))),
        custom_attrs={"data-card": "activity", "data-phase": card.phase},
    )


def _progress(card: Any) -> rx.Component:
    return rx.el.div(
        rx.el.span(class_name="meter-fill", style={"width": f"{card.percent}%"}),
        class_name="meter is-info",
        role="progressbar",
        aria_label=card.title,
        custom_attrs={"aria-valuenow": card.percent, "aria-valuemin": "0", "aria-valuemax": "100"},
    )


def _step(step: Any) -> rx.Component:
    return rx.el.li(
        rx.match(
            step.status,
            ("done", icon("circle-check", 16)),
            ("failed", icon("circle-x", 16)),
            ("running", icon("loader-circle", 16)),
            icon("circle", 16),
        ),
        rx.el.span(step.label),
        rx.el.span(
            rx.match(
                step.status,
                *[(word, t(f"step.{word}")) for word in ("pending", "running", "done", "failed")],
                step.status,
            ),
            class_name="sr-only",
        ),
        class_name=[
            "step",
            rx.match(step.status, ("done", "is-done"), ("running", "is-running"), ("failed", "is-failed"), ""),
        ],
    )
