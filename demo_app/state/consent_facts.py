"""What the shop knows of a call that asks for consent: whose order it is, of what, at which price."""

from typing import Any

from demo_app.cards.reading import Lenient, fitting
from demo_app.i18n import krw
from demo_app.state.cards_model import Fact
from demo_app.state.shop_state import shop

_UNKNOWN = ("Not known in the shop", "상점에 없음")


class _Asked(Lenient):
    customer_id: int
    sku: str
    quantity: int


def consent_facts(tool: str, arguments: Any) -> tuple[Fact, ...]:
    """The facts shown beside a call's form; none for tools other than `place_order`."""
    asked = fitting(_Asked, arguments) if tool == "place_order" else None
    if asked is None:
        return ()
    customer, product = shop().customer(asked.customer_id), shop().product(asked.sku)
    facts = [
        Fact("customer", *((customer.name, customer.name_ko) if customer else _UNKNOWN)),
        Fact("product", *((product.name, product.name_ko) if product else _UNKNOWN)),
    ]
    if product is not None:
        total = f"{asked.quantity} × {krw(product.price_krw)} = {krw(asked.quantity * product.price_krw)}"
        facts += [Fact("unit_price", krw(product.price_krw)), Fact("total", total)]
    return tuple(facts)
