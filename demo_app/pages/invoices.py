"""The invoices, with their filters in the address."""

from typing import Any

import reflex as rx

from demo_app.components.listing import list_page, table_card
from demo_app.components.ui import badge, link, page_head, select_field
from demo_app.i18n import either, t
from demo_app.state.shop_state import InvoicesState
from demo_app.state.shop_view import InvoiceRow
from demo_app.theme import INVOICE_STATUS, INVOICE_TONES


def invoices() -> rx.Component:
    """The page at `/invoices`."""
    state = InvoicesState
    return list_page(
        "invoices",
        state,
        page_head(t("invoices.title"), t("invoices.lead")),
        [select_field(t("status"), "invoices-status", state.status, INVOICE_STATUS, state.set_status)],
        table_card("invoices", state, _rows()),
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
