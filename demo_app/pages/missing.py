"""The page for an address that is none."""

import reflex as rx

from demo_app.components.ui import card, link, page, state_panel
from demo_app.i18n import t


def missing() -> rx.Component:
    """What an unknown address shows."""
    return page(
        "missing",
        card(
            state_panel(
                "map-pin-off",
                t("missing.title"),
                rx.el.p(t("missing.hint")),
                link(t("missing.home"), to="/", class_name="button"),
                heading=rx.el.h1,
            )
        ),
        load="ready",
        shown="",
    )
