"""The assistant's panel: header, transcript, composer; on a narrow screen a sheet (`assets/shell.js`)."""

from typing import Any

import reflex as rx
from reflex_components_core.core.banner import has_connection_errors  # type: ignore[import-untyped]

from demo_app.cards.transcript import cards, moving_card
from demo_app.components.assistant_composer import composer
from demo_app.components.assistant_inspector import inspector
from demo_app.components.assistant_threads import thread_list
from demo_app.components.ui import icon
from demo_app.i18n import either, t
from demo_app.state.cards_model import Card
from demo_app.state.chat import INPUT, ChatState, ThreadsState
from demo_app.state.inspector import InspectorState


def assistant_panel() -> rx.Component:
    """The panel beside every page; it stays mounted while the pages change."""
    return rx.el.aside(
        rx.el.button(
            t("chat.skip"),
            type="button",
            class_name="skip-chat button small",
            on_click=rx.call_script(f"window.hallaShell.focus('{INPUT}')"),
        ),
        panel_head(),
        rx.cond(ThreadsState.open, thread_list()),
        rx.el.div(_transcript(), _suggestions(), composer(), class_name="chat", hidden=ThreadsState.open),
        inspector(),
        id="assistant-panel",
        class_name="panel",
        aria_labelledby="assistant-title",
        custom_attrs={
            "data-agent-id": "assistant-panel",
            "data-chat-active": ChatState.active,
            "data-chat-ready": ChatState.ready,
        },
    )


def panel_head() -> rx.Component:
    """The panel's header: what it is, the conversation's title, and what can be opened."""
    toggle: Any = ThreadsState.toggle
    return rx.el.div(
        rx.el.div(
            rx.el.h2(t("assistant.title"), id="assistant-title", tab_index=-1),
            rx.el.p(
                rx.cond(ChatState.title != "", ChatState.title, t("chat.untitled")),
                class_name="chat-title",
                id="chat-title",
            ),
            class_name="chat-heading",
        ),
        _head_button("square-pen", t("chat.new"), ThreadsState.new, id="chat-new"),
        _head_button(
            "history",
            t("chat.threads"),
            toggle,
            id="chat-threads",
            custom_attrs={"aria-expanded": ThreadsState.open, "aria-controls": "thread-list"},
        ),
        _head_button("scan-search", t("chat.inspector"), InspectorState.show, id="chat-inspector"),
        _head_button(
            "maximize-2",
            t("chat.expand"),
            rx.call_script("window.hallaShell.expand()"),
            id="assistant-expand",
        ),
        rx.el.button(
            icon("x"),
            type="button",
            class_name="icon-button only-sheet",
            aria_label=t("assistant.close"),
            on_click=rx.call_script("window.hallaShell.setAssistant('closed')"),
            id="assistant-close",
        ),
        class_name="panel-head",
    )


def _head_button(glyph: str, label: Any, on_click: Any, **props: Any) -> rx.Component:
    return rx.el.button(
        icon(glyph),
        type="button",
        class_name="icon-button",
        aria_label=label,
        title=label,
        on_click=on_click,
        **props,
    )


@rx.memo
def archived(shown: rx.Var[list[Card]]) -> rx.Component:
    """Cards that were read out before: nothing in here is announced again."""
    return rx.el.div(cards(shown), class_name="cards is-archive", aria_live="off")


@rx.memo
def finished(shown: rx.Var[list[Card]]) -> rx.Component:
    """The latest finished cards: each is announced once, when it joins."""
    return rx.el.div(cards(shown), class_name="cards")


def _transcript() -> rx.Component:
    return rx.el.div(
        rx.cond(
            ChatState.earlier > 0,
            rx.el.button(
                icon("chevron-up", 15),
                t("chat.earlier", n=ChatState.earlier),
                type="button",
                id="chat-earlier",
                class_name="button small quiet",
                on_click=ChatState.show_earlier,
            ),
        ),
        rx.cond(ChatState.ready, rx.cond(_is_empty(), _welcome()), _opening()),
        archived(shown=ChatState.archive),
        finished(shown=ChatState.recent),
        # While something moves it is shown, not read out; it is announced when it is finished.
        rx.el.div(
            rx.foreach(ChatState.live, moving_card), _working(), class_name="cards", aria_live="off", id="chat-live"
        ),
        id="assistant-transcript",
        class_name="panel-body transcript",
        role="log",
        aria_label=t("assistant.transcript"),
        aria_live="polite",
        tab_index=0,
    )


def _is_empty() -> Any:
    return (
        (ChatState.archive.length() == 0)
        & (ChatState.recent.length() == 0)
        & (ChatState.live.length() == 0)
        & ~ChatState.active
    )


def _opening() -> rx.Component:
    return rx.el.div(rx.el.span(t("chat.loading"), class_name="sr-only"), rx.el.span(class_name="bone chat-bone"))


def _welcome() -> rx.Component:
    return rx.el.div(
        rx.el.p(t("chat.welcome"), class_name="welcome-title"),
        rx.el.p(t("chat.hint"), class_name="card-note"),
        class_name="welcome",
    )


def _working() -> rx.Component:
    return rx.cond(
        ChatState.active,
        rx.el.div(
            rx.el.span(class_name="dot"),
            rx.el.span(class_name="dot"),
            rx.el.span(class_name="dot"),
            rx.el.span(t("chat.working"), class_name="sr-only"),
            class_name="dots",
        ),
    )


def _suggestions() -> rx.Component:
    return rx.cond(
        ChatState.suggestions.length() > 0,
        rx.el.ul(
            rx.foreach(ChatState.suggestions, _suggestion),
            class_name=["suggestions", rx.cond(_is_empty(), "is-first", "")],
            aria_label=t("chat.suggestions"),
        ),
    )


def _suggestion(one: Any) -> rx.Component:
    words = either(one.en, one.ko)
    suggest: Any = ChatState.suggest
    return rx.el.li(
        rx.el.button(
            words, type="button", class_name="suggestion", disabled=has_connection_errors, on_click=suggest(words)
        )
    )
