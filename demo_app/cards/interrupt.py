"""What the agent waits for: its question, and a form from its response schema."""

from typing import Any

import reflex as rx

from demo_app.cards.form import form_inputs, verdict_input
from demo_app.cards.frame import code_text, fold, tool_frame
from demo_app.components.ui import icon
from demo_app.i18n import t
from demo_app.state.chat import ChatState


def interrupt_card(card: Any) -> rx.Component:
    """The open question; an expired one can only be cancelled (IR-3)."""
    answer: Any = ChatState.answer
    cancel: Any = ChatState.cancel
    cancel_button = rx.el.button(
        t("interrupt.cancel"), type="button", class_name="button small", on_click=cancel(card.call_id)
    )
    return tool_frame(
        icon("hand", 17),
        _reason(card),
        card.phase,
        rx.el.p(rx.cond(card.text != "", card.text, t("interrupt.no_message")), class_name="interrupt-text"),
        rx.cond(
            card.phase == "expired",
            rx.el.div(rx.el.p(t("interrupt.expired"), class_name="card-note"), cancel_button, class_name="consent"),
            rx.el.form(
                rx.cond(card.note != "", rx.el.p(card.note, class_name="error", role="alert")),
                form_inputs(card),
                verdict_input(card),
                rx.el.div(
                    rx.cond(
                        card.verdict != "",
                        rx.fragment(_verdict("approve", "true"), _verdict("decline", "false")),
                        rx.el.button(t("interrupt.answer"), type="submit", class_name="button primary small"),
                    ),
                    cancel_button,
                    class_name="form-actions",
                ),
                on_submit=lambda form: answer(card.call_id, form),
                no_validate=True,
                class_name="consent",
                aria_label=rx.cond(card.text != "", card.text, t("interrupt.no_message")),
            ),
        ),
        custom_attrs={"data-card": "interrupt", "data-phase": card.phase, "data-call": card.call_id},
    )


def _verdict(word: str, value: str) -> rx.Component:
    """One of the two buttons."""
    says_yes = value == "true"
    return rx.el.button(
        t(f"consent.{word}"),
        type="submit",
        class_name="button primary small" if says_yes else "button small",
        custom_attrs={"data-verdict": value},
    )


def decision_card(card: Any) -> rx.Component:
    """What the visitor answered."""
    return tool_frame(
        rx.match(
            card.phase,
            ("declined", icon("circle-slash", 17)),
            ("cancelled", icon("circle-slash", 17)),
            icon("check-check", 17),
        ),
        _reason(card),
        card.phase,
        rx.el.p(card.text, class_name="interrupt-text"),
        rx.cond(
            card.arguments != "",
            fold(t("interrupt.your_answer"), code_text(card.arguments, t("interrupt.your_answer"))),
        ),
        class_name="quiet",
        custom_attrs={"data-card": "decision", "data-phase": card.phase},
    )


def _reason(card: Any) -> Any:
    return rx.match(card.title, ("approval_required", t("interrupt.approval")), card.title)
