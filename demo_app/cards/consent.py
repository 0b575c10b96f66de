"""The visitor's word on a call: what is to happen, with which arguments; yes, yes with changes, or no."""

from typing import Any

import reflex as rx

from demo_app.cards.facts import facts_body
from demo_app.cards.form import form_inputs
from demo_app.cards.frame import explained
from demo_app.components.ui import icon
from demo_app.i18n import t
from demo_app.state.chat import ChatState


def consent_form(card: Any) -> rx.Component:
    """The call's arguments as a form. Nothing has happened yet, and it says so."""
    approve: Any = ChatState.approve
    decline: Any = ChatState.decline
    return rx.el.form(
        rx.el.p(icon("hand", 16), t("consent.ask"), class_name="consent-line"),
        rx.cond(
            card.facts.length() > 0,
            rx.el.div(
                facts_body(card),
                rx.el.p(t("consent.edited"), class_name="card-note edited-note", role="status"),
                class_name="asked",
            ),
        ),
        form_inputs(card),
        rx.el.div(
            rx.el.button(t("consent.approve"), type="submit", class_name="button primary small"),
            rx.el.button(
                t("consent.decline"), type="button", class_name="button small", on_click=decline(card.call_id)
            ),
            class_name="form-actions",
        ),
        on_submit=lambda form: approve(card.call_id, form),
        no_validate=True,
        class_name="consent",
        aria_label=t("consent.ask"),
    )


def held_choice(card: Any) -> rx.Component:
    """A call that nothing runs by itself: the run broke off, or it was started and not heard of again."""
    run: Any = ChatState.run_anyway
    decline: Any = ChatState.decline
    give_up: Any = ChatState.give_up
    return rx.el.div(
        rx.el.p(icon("circle-help", 16), explained("reason.", card.note), class_name="consent-line"),
        rx.el.div(
            rx.cond(
                card.note == "may_have_happened",
                rx.el.button(
                    t("consent.unknown"), type="button", class_name="button small", on_click=give_up(card.call_id)
                ),
                rx.fragment(
                    rx.el.button(
                        t("consent.run"),
                        type="button",
                        class_name="button primary small",
                        on_click=run(card.call_id),
                    ),
                    rx.el.button(
                        t("consent.decline"), type="button", class_name="button small", on_click=decline(card.call_id)
                    ),
                ),
            ),
            class_name="form-actions",
        ),
        class_name="consent",
        role="group",
        aria_label=t("consent.ask"),
    )
