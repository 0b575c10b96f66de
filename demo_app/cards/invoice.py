"""An invoice in a card: its facts, the picture of it, the PDF to open."""

from typing import Any

import reflex as rx

from demo_app.cards.facts import facts_body
from demo_app.cards.media import media_list
from demo_app.cards.reading import Lenient, fitting
from demo_app.i18n import TEXTS, krw
from demo_app.state.cards_model import Fact
from demo_app.theme import INVOICE_STATUS


class _Invoice(Lenient):
    id: str
    customer_name: str
    customer_name_ko: str = ""
    issued_on: str
    due_on: str
    total_krw: int
    status: str


class _Result(Lenient):
    invoice: _Invoice


def read(arguments: Any, result: Any) -> dict[str, Any] | None:
    """The text part of the result of `get_invoice`."""
    found = fitting(_Result, result)
    if found is None:
        return None
    invoice = found.invoice
    return {
        "facts": [
            Fact("invoice", invoice.id),
            Fact("customer", invoice.customer_name, invoice.customer_name_ko),
            Fact("due", invoice.due_on),
            Fact("total", krw(invoice.total_krw)),
            Fact("status", *TEXTS[INVOICE_STATUS[invoice.status]])
            if invoice.status in INVOICE_STATUS
            else Fact("status", invoice.status),
        ]
    }


def invoice_body(card: Any) -> rx.Component:
    """Facts, then media."""
    return rx.el.div(facts_body(card), media_list(card.media), class_name="stack tight")
