"""The bar of filters above a list, and the notice for an address that asks for what is not there."""

from typing import Any

import reflex as rx

from demo_app.components.ui import notice
from demo_app.i18n import t
from demo_app.theme import Tone


def filter_bar(label: Any, state: Any, *fields: rx.Component, agent_id: str) -> rx.Component:
    """A search landmark with its fields and the count of what is found."""
    return rx.el.div(
        rx.el.div(
            *fields,
            rx.el.p(
                rx.cond(state.load == "ready", t("count.rows", n=state.total), ""),
                class_name="count num",
                role="status",
            ),
            class_name="filters",
        ),
        role="search",
        aria_label=label,
        id=agent_id,
        custom_attrs={"data-agent-id": agent_id},
    )


def filter_notice(state: Any) -> rx.Component:
    """Says which part of the address was not understood; nothing when all was."""
    return rx.cond(
        state.notice != "",
        notice(
            Tone.WARN,
            rx.match(
                state.notice,
                ("page", t("notice.page", value=state.notice_value)),
                t("notice.status", value=state.notice_value),
            ),
            role="status",
        ),
    )


def mirrored(state: Any, *extra: str) -> dict[str, Any]:
    """The filters in force as page attributes: `status`, `query`, `total`, and those named."""
    return {name: getattr(state, name) for name in ("status", "query", "total", *extra)}
