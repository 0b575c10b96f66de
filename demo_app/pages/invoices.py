"""The invoices, with their filters in the address."""

from typing import Any

import reflex as rx

from demo_app.components.filters import filter_bar, filter_notice, mirrored
from demo_app.components.ui import (
    badge,
    bones,
    card,
    empty_state,
    error_state,
    link,
    page,
    page_head,
    pager,
    search_field,
    select_field,
)
from demo_app.i18n import either, t
from demo_app.state.shop_state import InvoicesState
from demo_app.state.shop_view import InvoiceRow
from demo_app.theme import INVOICE_STATUS, INVOICE_TONES


def invoices() -> rx.Component:
    """The page at `/invoices`."""
    state = InvoicesState
    return page(
        "invoices",
        page_head(t("invoices.title"), t("invoices.lead")),
        filter_bar(
            t("invoices.filter"),
            state,
            search_field(t("invoices.search"), "invoices-query", state.query, state.set_query),
            select_field(t("status"), "invoices-status", state.status, INVOICE_STATUS, state.set_status),
            agent_id="invoices-filter",
        ),
        filter_notice(state),
        card(
            rx.match(
                state.load,
                ("ready", rx.cond(state.total > 0, _table(), empty_state("/invoices"))),
                ("error", error_state(state.fault, state.show)),
                bones(8),
            ),
            id="invoices-table",
            class_name="clip",
            custom_attrs={"data-agent-id": "invoices-table"},
        ),
        load=state.load,
        shown=state.shown,
        **mirrored(state),
    )


def _table() -> rx.Component:
    state = InvoicesState
    return rx.fragment(
        _rows(),
        pager(t("pager.label"), state.page_no, state.pages, state.previous_to, state.next_to),
    )


def _rows() -> rx.Component:
    return rx.el.div(
        rx.el.table(
            rx.el.caption(t("invoices.title"), class_name="sr-only"),
            rx.el.thead(
                rx.el.tr(
                    rx.el.th(t("invoices.number"), scope="col"),
                    rx.el.th(t("order"), scope="col", class_name="wide-only"),
                    rx.el.th(t("customer"), scope="col"),
                    rx.el.th(t("invoices.issued"), scope="col", class_name="roomy-only"),
                    rx.el.th(t("invoices.due"), scope="col", class_name="wide-only"),
                    rx.el.th(t("status"), scope="col"),
                    rx.el.th(t("total"), scope="col", class_name="end"),
                )
            ),
            rx.el.tbody(rx.foreach(InvoicesState.rows, _row)),
            class_name="table",
        ),
        class_name="table-wrap",
        role="region",
        tab_index=0,
        aria_label=t("invoices.title"),
    )


def _row(invoice: rx.Var[InvoiceRow]) -> rx.Component:
    row: Any = invoice
    return rx.el.tr(
        rx.el.th(row.number, scope="row", class_name="num nowrap"),
        rx.el.td(link("#", row.order_number, to=row.order_href), class_name="num wide-only"),
        rx.el.td(
            either(row.customer, row.customer_ko),
            rx.el.span(t("invoices.due"), " ", row.due_on, class_name="cell-sub num"),
        ),
        rx.el.td(row.issued_on, class_name="date roomy-only"),
        rx.el.td(row.due_on, class_name="date wide-only"),
        rx.el.td(badge(row.status, INVOICE_STATUS, INVOICE_TONES)),
        rx.el.td(row.total, class_name="end"),
        custom_attrs={"data-agent-id": f"invoice:{row.number}"},
    )
