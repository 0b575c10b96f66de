"""The visitor's conversations: open, rename, delete."""

from typing import Any

import reflex as rx

from demo_app.components.ui import icon
from demo_app.i18n import t
from demo_app.state.chat import ThreadsState


def thread_list() -> rx.Component:
    """The list, in the place of the transcript."""
    return rx.el.nav(
        rx.el.div(
            rx.el.button(
                icon("plus", 16),
                t("chat.new"),
                type="button",
                id="thread-new",
                class_name="button small",
                on_click=ThreadsState.new,
            ),
            rx.el.button(
                t("threads.back"), type="button", class_name="button small quiet", on_click=ThreadsState.toggle
            ),
            class_name="form-actions",
        ),
        rx.el.ul(rx.foreach(ThreadsState.threads, _row), class_name="threads"),
        rx.cond(ThreadsState.threads.length() == 0, rx.el.p(t("threads.none"), class_name="card-note")),
        id="thread-list",
        class_name="panel-body",
        aria_label=t("chat.threads"),
    )


def _row(thread: Any) -> rx.Component:
    return rx.el.li(
        rx.cond(
            ThreadsState.renaming == thread.id,
            _rename_form(thread),
            rx.cond(ThreadsState.deleting == thread.id, _delete_question(thread), _line(thread)),
        ),
        class_name=["thread", rx.cond(thread.current, "is-current", "")],
    )


def _line(thread: Any) -> rx.Component:
    choose: Any = ThreadsState.choose
    rename: Any = ThreadsState.rename
    ask_delete: Any = ThreadsState.ask_delete
    return rx.fragment(
        rx.el.button(
            rx.el.span(rx.cond(thread.title != "", thread.title, t("chat.untitled")), class_name="thread-title"),
            rx.el.span(thread.updated, class_name="card-note num"),
            type="button",
            class_name="thread-open",
            on_click=choose(thread.id),
            custom_attrs={"aria-current": rx.cond(thread.current, "true", "false")},
        ),
        _action("pencil", t("threads.rename"), thread, rename(thread.id)),
        _action("trash-2", t("threads.delete"), thread, ask_delete(thread.id)),
    )


def _action(glyph: str, words: Any, thread: Any, on_click: Any) -> rx.Component:
    return rx.el.button(
        icon(glyph, 16),
        rx.el.span(words, " ", thread.title, class_name="sr-only"),
        type="button",
        class_name="icon-button",
        title=words,
        on_click=on_click,
    )


def _rename_form(thread: Any) -> rx.Component:
    return rx.el.form(
        rx.el.label(t("threads.title"), html_for="thread-title", class_name="sr-only"),
        rx.el.input(
            id="thread-title",
            name="title",
            default_value=thread.title,
            max_length=80,
            auto_complete="off",
            class_name="input",
        ),
        rx.el.button(t("threads.save"), type="submit", class_name="button primary small"),
        rx.el.button(t("cancel"), type="button", class_name="button small", on_click=ThreadsState.leave),
        on_submit=ThreadsState.set_title,
        class_name="thread-form",
    )


def _delete_question(thread: Any) -> rx.Component:
    delete: Any = ThreadsState.delete
    return rx.el.div(
        rx.el.p(t("threads.sure")),
        rx.el.button(
            t("threads.delete"),
            type="button",
            id="thread-delete",
            class_name="button danger small",
            on_click=delete(thread.id),
        ),
        rx.el.button(t("cancel"), type="button", class_name="button small", on_click=ThreadsState.leave),
        class_name="thread-form",
        role="alertdialog",
        aria_label=t("threads.sure"),
    )
