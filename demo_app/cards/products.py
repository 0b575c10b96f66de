"""Products in a card: tiles with price and stock, the stock drawn against the reorder level."""

from typing import Any

import reflex as rx

from demo_app.cards.reading import Lenient, fitting
from demo_app.i18n import either, krw, t
from demo_app.state.cards_model import ProductItem

_MOST_TILES = 12


class _Product(Lenient):
    sku: str
    name: str
    name_ko: str
    price_krw: int
    stock: int
    reorder_at: int


class _Found(Lenient):
    products: list[_Product]


def read(arguments: Any, result: Any) -> dict[str, Any] | None:
    """The result of `check_stock`; `percent` counts what was found."""
    found = fitting(_Found, result)
    if found is None or not found.products:
        return None
    return {"products": [_item(product) for product in found.products[:_MOST_TILES]], "percent": len(found.products)}


def _item(product: _Product) -> ProductItem:
    return ProductItem(
        product.sku,
        product.name,
        product.name_ko,
        krw(product.price_krw),
        product.stock,
        product.reorder_at,
        "low" if product.stock <= product.reorder_at else "ok",
        min(100, product.stock * 50 // max(product.reorder_at, 1)),
    )


def products_body(card: Any) -> rx.Component:
    """The tiles."""
    return rx.el.div(
        rx.el.ul(rx.foreach(card.products, _tile), class_name="mini-tiles"),
        rx.cond(
            card.percent > card.products.length(),
            rx.el.p(t("card.more_products", shown=card.products.length(), count=card.percent), class_name="card-note"),
        ),
    )


def _tile(product: Any) -> rx.Component:
    return rx.el.li(
        rx.el.div(
            rx.el.span(either(product.name, product.name_ko), class_name="mini-name"),
            rx.el.span(product.sku, class_name="tile-sku"),
        ),
        rx.el.div(
            rx.el.span(product.price, class_name="num"),
            rx.el.span(
                t("products.left", n=product.stock),
                class_name=["stock-word", rx.cond(product.level == "low", "is-low", "is-ok")],
            ),
            class_name="mini-line",
        ),
        rx.el.div(
            rx.el.span(class_name="meter-fill", style={"width": f"{product.share}%"}),
            rx.el.span(class_name="meter-mark"),
            class_name=["meter", rx.cond(product.level == "low", "is-low", "is-ok")],
            custom_attrs={"aria-hidden": "true"},
        ),
        class_name="mini-tile",
    )
