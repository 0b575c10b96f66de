"""A shipping quote, and a report's findings, as facts."""

from typing import Any

import reflex as rx

from demo_app.cards.reading import Lenient, fitting
from demo_app.i18n import krw
from demo_app.state.cards_model import Fact


class _Quote(Lenient):
    city: str
    city_ko: str = ""
    weight_kg: float
    price_krw: int
    days: int


class _Finding(Lenient):
    analyst: str
    finding: str


class _Report(Lenient):
    findings: list[_Finding]


def read(arguments: Any, result: Any) -> dict[str, Any] | None:
    """The result of `shipping_quote`."""
    found = fitting(_Quote, result)
    if found is None:
        return None
    return {
        "facts": [
            Fact("city", found.city, found.city_ko),
            Fact("weight", f"{found.weight_kg:g} kg"),
            Fact("price", krw(found.price_krw)),
            Fact("days", str(found.days)),
        ]
    }


def read_report(arguments: Any, result: Any) -> dict[str, Any] | None:
    """The result of `build_report`."""
    found = fitting(_Report, result)
    return None if found is None else {"facts": [Fact(one.analyst, one.finding) for one in found.findings]}


def findings_body(card: Any) -> rx.Component:
    """Each analyst's finding as a paragraph."""
    return rx.el.dl(rx.foreach(card.facts, _finding), class_name="findings")


def _finding(fact: Any) -> rx.Component:
    return rx.el.div(rx.el.dt(fact.label), rx.el.dd(fact.value))
