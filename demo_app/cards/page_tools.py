"""What the browser tools did, in a line or two."""

from typing import Any

import reflex as rx

from demo_app.cards.media import media_list
from demo_app.cards.reading import Lenient, fitting
from demo_app.i18n import krw
from demo_app.state.cards_model import Fact


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
    return {"facts": [*[Fact(name, value) for name, value in done.applied.items()], Fact("rows", str(done.rows))]}


def read_form(arguments: Any, result: Any) -> dict[str, Any] | None:
    """The result of `fill_form`."""
    done = fitting(_Filled, result)
    return None if done is None else {"facts": [Fact("filled", ", ".join(done.filled))]}


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
