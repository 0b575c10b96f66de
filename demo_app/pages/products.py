"""The products, as tiles."""

from typing import Any

import reflex as rx

from demo_app.components.listing import list_page
from demo_app.components.ui import bones, card, empty_state, error_state, icon, link, page_head, select_field
from demo_app.i18n import either, t
from demo_app.state.shop_state import ProductsState
from demo_app.state.shop_view import ProductTile
from demo_app.theme import CATEGORIES, STOCK_LEVELS, Tone

_GLYPHS = {
    "beans": "bean",
    "cups": "coffee",
    "drippers": "cone",
    "filters": "funnel",
    "grinders": "cog",
    "kettles": "cooking-pot",
    "machines": "gauge",
    "tools": "wrench",
}


def products() -> rx.Component:
    """The page at `/products`."""
    state = ProductsState
    return list_page(
        "products",
        state,
        page_head(t("products.title"), t("products.lead")),
        [
            select_field(t("products.category"), "products-category", state.category, CATEGORIES, state.set_category),
            select_field(t("products.stock"), "products-status", state.status, STOCK_LEVELS, state.set_status),
        ],
        rx.el.div(
            rx.match(
                state.load,
                ("ready", rx.cond(state.total > 0, _grid(), card(empty_state("/products")))),
                ("error", card(error_state(state.fault, state.show))),
                card(bones(5, "5rem")),
            ),
            id="products-grid",
            custom_attrs={"data-agent-id": "products-grid"},
        ),
    )


def _grid() -> rx.Component:
    return rx.el.ul(rx.foreach(ProductsState.tiles, _tile), class_name="tiles", role="list")


def _tile(tile: rx.Var[ProductTile]) -> rx.Component:
    row: Any = tile
    name = either(row.name, row.name_ko)
    return rx.el.li(
        rx.el.div(
            rx.match(row.category, *[(key, icon(glyph, 34)) for key, glyph in _GLYPHS.items()], icon("package", 34)),
            class_name="tile-art",
        ),
        rx.el.div(
            rx.el.span(row.sku, class_name="tile-sku"),
            rx.el.h2(name),
            rx.el.span(row.price, class_name="tile-price"),
            rx.el.div(
                rx.el.span(
                    t("products.left", n=row.stock),
                    class_name=rx.cond(row.low, f"badge num {Tone.WARN}", "badge num tone-mute"),
                ),
                link(
                    t("products.order"),
                    rx.el.span(" ", name, class_name="sr-only"),
                    to=f"/orders/new?sku={row.sku}",
                    class_name="button quiet small",
                ),
                class_name="tile-foot",
            ),
            class_name="tile-body",
        ),
        class_name="card tile",
        custom_attrs={"data-agent-id": f"product:{row.sku}"},
    )
