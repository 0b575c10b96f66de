"""A page that is a list: heading, filters, and what they find, in each of its states."""

from typing import Any

import reflex as rx

from demo_app.components.filters import filter_bar, filter_notice, mirrored
from demo_app.components.ui import bones, card, empty_state, error_state, page, pager, search_field
from demo_app.i18n import t


def list_page(name: str, state: Any, head: rx.Component, choices: list[rx.Component], listing: rx.Component) -> Any:
    """The page `name` of a filtered list.

    Parameters: `state`, its state (a `FilteredPage`); `choices`, its filters beside the search; `listing`, the list,
    `table_card` or one of the page's own.
    """
    search = search_field(t(f"{name}.search"), f"{name}-query", state.query, state.set_query)
    categories = ["category"] if hasattr(state, "category") else []
    return page(
        name,
        head,
        filter_bar(t(f"{name}.filter"), state, search, *choices, agent_id=f"{name}-filter"),
        filter_notice(state),
        listing,
        load=state.load,
        shown=state.shown,
        **mirrored(state, *categories),
    )


def table_card(name: str, state: Any, table: rx.Component) -> rx.Component:
    """A list of rows, a page at a time, in one card."""
    pages = pager(t("pager.label"), state.page_no, state.pages, state.previous_to, state.next_to)
    return card(
        rx.match(
            state.load,
            ("ready", rx.cond(state.total > 0, rx.fragment(table, pages), empty_state(f"/{name}"))),
            ("error", error_state(state.fault, state.show)),
            bones(8),
        ),
        id=f"{name}-table",
        class_name="clip",
        custom_attrs={"data-agent-id": f"{name}-table"},
    )
