"""What the visitor said: text as it was written, attachments, and the way to say it otherwise."""

from typing import Any

import reflex as rx

from demo_app.cards.media import media_list
from demo_app.components.ui import icon
from demo_app.i18n import t
from demo_app.state.chat import EditState


def user_card(card: Any) -> rx.Component:
    """The message, or a form that sends it anew."""
    begin: Any = EditState.begin
    return rx.el.article(
        rx.el.h3(t("card.you"), class_name="sr-only"),
        rx.cond(
            EditState.editing == card.message_id,
            _edit_form(card),
            rx.fragment(
                rx.cond(card.text != "", rx.el.p(card.text, class_name="bubble-text")),
                media_list(card.media),
                rx.el.div(
                    rx.el.button(
                        icon("pencil", 14),
                        rx.el.span(t("card.edit"), class_name="sr-only"),
                        type="button",
                        class_name="mini-button",
                        title=t("card.edit"),
                        on_click=begin(card.message_id),
                    ),
                    class_name="card-actions needs-rest",
                ),
            ),
        ),
        class_name="bubble",
        custom_attrs={"data-card": "user"},
    )


def _edit_form(card: Any) -> rx.Component:
    resend: Any = EditState.resend
    leave: Any = EditState.leave
    return rx.el.form(
        rx.el.label(t("card.edit"), html_for="edit-text", class_name="sr-only"),
        rx.el.textarea(id="edit-text", name="text", default_value=card.text, rows="3", class_name="input"),
        rx.el.div(
            rx.el.button(t("card.resend"), type="submit", class_name="button primary small"),
            rx.el.button(t("cancel"), type="button", class_name="button small", on_click=leave),
            class_name="form-actions",
        ),
        on_submit=lambda form: resend(card.message_id, form),
        class_name="form tight",
    )
