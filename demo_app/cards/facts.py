"""A few figures and words with their labels."""

from typing import Any

import reflex as rx

from demo_app.i18n import TEXTS, either, t


def facts_body(card: Any) -> rx.Component:
    """The list."""
    return rx.el.dl(rx.foreach(card.facts, _fact), class_name="facts tight")


def _fact(fact: Any) -> rx.Component:
    known = [(key.removeprefix("fact."), t(key)) for key in TEXTS if key.startswith("fact.")]
    value = rx.cond(fact.value_ko != "", either(fact.value, fact.value_ko), fact.value)
    return rx.el.div(rx.el.dt(rx.match(fact.label, *known, fact.label)), rx.el.dd(value))
