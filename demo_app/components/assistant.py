"""The assistant's panel: header, transcript, composer; on a narrow screen a sheet (`assets/shell.js`)."""

import reflex as rx

from demo_app.components.ui import icon, state_panel
from demo_app.i18n import t


def assistant_panel() -> rx.Component:
    """The panel beside every page; it stays mounted while the pages change."""
    return rx.el.aside(
        panel_head(),
        rx.el.div(
            state_panel("messages-square", t("assistant.empty"), heading=rx.el.p),
            id="assistant-transcript",
            class_name="panel-body",
            role="log",
            aria_label=t("assistant.transcript"),
            tab_index=0,
        ),
        rx.el.div(id="assistant-composer", class_name="panel-foot"),
        id="assistant-panel",
        class_name="panel",
        aria_labelledby="assistant-title",
        custom_attrs={"data-agent-id": "assistant-panel"},
    )


def panel_head(*actions: rx.Component) -> rx.Component:
    """The panel's header: its title, `actions`, and the button that closes the sheet."""
    return rx.el.div(
        rx.el.h2(t("assistant.title"), id="assistant-title", tab_index=-1),
        *actions,
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
