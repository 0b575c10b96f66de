"""What the browser tools did, in a line or two."""

from collections.abc import Mapping
from typing import Any

import reflex as rx

from demo_app.cards.media import media_list
from demo_app.cards.reading import Lenient, fitting
from demo_app.i18n import TEXTS, krw
from demo_app.state.cards_model import Fact
from demo_app.theme import CATEGORIES, INVOICE_STATUS, ORDER_STATUS, STOCK_LEVELS

_STATUS_WORDS = {"orders": ORDER_STATUS, "invoices": INVOICE_STATUS, "products": STOCK_LEVELS | CATEGORIES}
"""The text keys of what a list can be filtered by, by the page's name."""

_FIELD_WORDS = {"customer_id": "customer", "sku": "product", "quantity": "quantity", "note": "note"}
"""The text keys of the form's fields, by the argument that fills them."""


class _Shown(Lenient):
    shown: str
    title: str


class _Pointed(Lenient):
    found: bool
    element: str


class _Filtered(Lenient):
    applied: dict[str, str]
    rows: int


class _Filled(Lenient):
    filled: list[str]


class _Placed(Lenient):
    order_id: int
    total_krw: int


def read_navigate(arguments: Any, result: Any) -> dict[str, Any] | None:
    """The result of `navigate`."""
    done = fitting(_Shown, result)
    return None if done is None else {"facts": [Fact("page", done.title), Fact("address", done.shown)]}


def read_highlight(arguments: Any, result: Any) -> dict[str, Any] | None:
    """The result of `highlight`."""
    done = fitting(_Pointed, result)
    if done is None:
        return None
    return {"facts": [Fact("element", done.element), Fact("found", "✓" if done.found else "–")]}


def read_filter(arguments: Any, result: Any) -> dict[str, Any] | None:
    """The result of `set_filter`."""
    done = fitting(_Filtered, result)
    if done is None:
        return None
    page = arguments.get("page") if isinstance(arguments, dict) else None
    words = _STATUS_WORDS.get(str(page), {})
    facts = []
    if "status" in done.applied:
        facts.append(_named("status", words, done.applied["status"]))
    if done.applied.get("query"):
        facts.append(Fact("query", done.applied["query"]))
    return {"facts": [*(facts or [Fact("status", *TEXTS["all"])]), Fact("rows", str(done.rows))]}


def _named(label: str, keys: Mapping[str, str], value: str) -> Fact:
    """A value in the words that the pages have for it; "" is all of them."""
    key = keys.get(value) if value else "all"
    return Fact(label, value) if key is None else Fact(label, *TEXTS[key])


def read_form(arguments: Any, result: Any) -> dict[str, Any] | None:
    """The result of `fill_form`."""
    done = fitting(_Filled, result)
    if done is None:
        return None
    names = [TEXTS[_FIELD_WORDS[name]] if name in _FIELD_WORDS else (name, name) for name in done.filled]
    return {"facts": [Fact("filled", *(", ".join(words) for words in zip(*names, strict=True)))] if names else []}


def read_placed(arguments: Any, result: Any) -> dict[str, Any] | None:
    """The result of `place_order`."""
    done = fitting(_Placed, result)
    if done is None:
        return None
    return {"facts": [Fact("order", str(done.order_id)), Fact("total", krw(done.total_krw))]}


def read_capture(arguments: Any, result: Any) -> dict[str, Any] | None:
    """The result of `capture_chart` is its picture."""
    return {}


def picture_body(card: Any) -> rx.Component:
    """The captured picture, with the words that came with it."""
    return rx.el.div(rx.el.p(card.result, class_name="card-note"), media_list(card.media), class_name="stack tight")
