"""What the assistant said, in Markdown: finished, or as it streams."""

from typing import Any

import reflex as rx

from demo_app.cards.markdown import markdown
from demo_app.cards.media import media_list
from demo_app.components.ui import icon
from demo_app.i18n import t
from demo_app.state.chat import ChatState


def text_card(card: Any) -> rx.Component:
    """A finished text."""
    return rx.el.article(
        rx.el.h3(t("card.assistant"), class_name="sr-only"),
        markdown(card.text),
        media_list(card.media),
        rx.el.div(
            rx.el.button(
                icon("copy", 14),
                rx.el.span(t("card.copy"), class_name="sr-only"),
                type="button",
                class_name="mini-button",
                title=t("card.copy"),
                on_click=[rx.set_clipboard(card.text), rx.call_script("window.hallaChat.copied()")],
            ),
            class_name="card-actions",
        ),
        class_name="said",
        custom_attrs={"data-card": "text"},
    )


@rx.memo
def settled_block(text: rx.Var[str]) -> rx.Component:
    """Finished paragraphs of a text that still streams: drawn once."""
    return markdown(text)


def live_text() -> rx.Component:
    """The text that streams right now; the browser joins its pieces."""
    return rx.fragment(
        rx.foreach(ChatState.blocks, lambda block: settled_block(text=block)),
        markdown(ChatState.head + ChatState.middle + ChatState.tail),
    )
