"""The inspector drawer: events, diagnostics, state, pending calls, journal, and the legacy view."""

from typing import Any

import reflex as rx

from demo_app.cards.frame import code_text
from demo_app.components.ui import icon
from demo_app.i18n import t
from demo_app.state.inspector import TABS, InspectorState

# The headings of each tab's columns, in the order of a row's fields.
_COLUMNS: dict[str, tuple[str, ...]] = {
    "events": ("inspect.event", "inspect.message"),
    "diagnostics": ("inspect.code", "inspect.path", "inspect.message"),
    "calls": ("inspect.tool", "inspect.event", "inspect.waits", "inspect.message"),
    "journal": ("inspect.time", "inspect.event", "inspect.tool", "inspect.outcome"),
    "legacy": ("inspect.role", "inspect.text", "inspect.lost"),
}


def inspector() -> rx.Component:
    """The drawer: a modal dialog, which the browser keeps the focus in and closes with Escape."""
    return Dialog.create(
        rx.el.div(
            rx.el.div(
                rx.el.h2(t("chat.inspector"), id="inspector-title"),
                rx.el.p(t("inspect.lead"), class_name="card-note"),
                class_name="chat-heading",
            ),
            rx.el.button(
                icon("x"),
                type="button",
                class_name="icon-button",
                aria_label=t("inspect.close"),
                on_click=rx.call_script("window.hallaChat.closeInspector()"),
                id="inspector-close",
            ),
            class_name="panel-head",
        ),
        rx.el.div(*[_tab(name) for name in TABS], role="tablist", aria_label=t("chat.inspector"), class_name="tabs"),
        rx.el.div(
            rx.match(
                InspectorState.tab,
                ("state", code_text(InspectorState.text, t("inspect.state"))),
                *[(name, _table(name)) for name in _COLUMNS],
                rx.fragment(),
            ),
            id="inspector-content",
            role="tabpanel",
            class_name="inspector-body",
            tab_index=0,
            custom_attrs={"aria-labelledby": f"tab-{InspectorState.tab}"},
        ),
        _export(),
        id="inspector",
        class_name="drawer",
        aria_labelledby="inspector-title",
        on_close=InspectorState.hide,
    )


class Dialog(rx.el.Dialog):
    """The browser's own dialog with its `close` event."""

    on_close: rx.EventHandler[rx.event.no_args_event_spec]  # type: ignore[type-arg, valid-type]


def _tab(name: str) -> rx.Component:
    chosen = InspectorState.tab == name
    choose: Any = InspectorState.choose
    return rx.el.button(
        t(f"inspect.{name}"),
        type="button",
        role="tab",
        id=f"tab-{name}",
        class_name="tab",
        on_click=choose(name),
        custom_attrs={"aria-selected": chosen, "aria-controls": "inspector-content"},
    )


def _table(name: str) -> rx.Component:
    columns = _COLUMNS[name]
    hint = rx.el.p(t("inspect.legacy_hint"), class_name="card-note") if name == "legacy" else rx.fragment()
    return rx.fragment(
        hint,
        rx.cond(
            InspectorState.rows.length() + InspectorState.newest.length() > 0,
            rx.el.table(
                rx.el.caption(t(f"inspect.{name}"), class_name="sr-only"),
                rx.el.thead(rx.el.tr(*[rx.el.th(t(column), scope="col") for column in columns])),
                rx.el.tbody(
                    rx.foreach(InspectorState.newest, lambda row: _row(row, name, len(columns))),
                    rx.foreach(InspectorState.rows, lambda row: _row(row, name, len(columns))),
                ),
                class_name=f"table mini inspect-{name}",
            ),
            rx.el.p(t("inspect.none"), class_name="card-note"),
        ),
    )


def _row(row: Any, name: str, columns: int) -> rx.Component:
    fields = (row.first, row.second, row.third, row.fourth)[:columns]
    if name == "legacy":
        text = rx.cond(row.second != "", rx.fragment(row.second), rx.el.em(t("inspect.no_text")))
        lost = rx.cond(
            row.third != "", rx.el.span(row.third, class_name="lost"), rx.fragment(t("inspect.nothing_lost"))
        )
        return rx.el.tr(rx.el.td(rx.el.code(row.first)), rx.el.td(text), rx.el.td(lost), key=row.key)
    if name == "events":
        return _event(row)
    return rx.el.tr(*[rx.el.td(rx.el.code(field)) for field in fields], key=row.key)


def _event(row: Any) -> rx.Component:
    """One event, or how many in a row brought a message's pieces, with the last of them."""
    folded = rx.el.p(t("inspect.folded", n=row.events, length=row.characters), class_name="folded num")
    return rx.el.tr(
        rx.el.td(rx.el.code(row.first)),
        rx.el.td(rx.cond(row.events > 1, folded), rx.el.code(row.second)),
        key=row.key,
        custom_attrs={"data-count": row.events},
    )


def _export() -> rx.Component:
    export: Any = InspectorState.export
    return rx.cond(
        InspectorState.runs.length() > 0,
        rx.el.form(
            rx.el.label(t("inspect.run"), html_for="export-run"),
            rx.el.select(rx.foreach(InspectorState.runs, _run), id="export-run", name="run", class_name="input"),
            rx.el.button(
                icon("download", 16), t("inspect.export"), type="submit", id="export", class_name="button small"
            ),
            rx.el.p(t("inspect.export_hint"), class_name="card-note"),
            on_submit=export,
            class_name="export",
        ),
    )


def _run(run: Any) -> rx.Component:
    return rx.el.option(run.label, value=run.seq)
