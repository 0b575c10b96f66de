"""What is in stock."""

import asyncio
from typing import Annotated

from pydantic import Field

from demo_app.agent.tools import Arguments, BackendTool, Content, ToolContext, as_json
from demo_app.shop import Product, Shop


class CheckStock(Arguments):
    """Which articles."""

    query: Annotated[str, Field(description="Words of the name, category or SKU; empty for everything")] = ""
    low_only: Annotated[bool, Field(description="Only articles that are at or below their reorder level")] = False


def _find(shop: Shop, arguments: CheckStock) -> list[Product]:
    products = shop.products(arguments.query)
    if not products:
        # "kettles" for "kettle": the names are in the singular, the categories in the plural.
        products = shop.products(" ".join(word.removesuffix("s") for word in arguments.query.split()))
    if arguments.low_only:
        return [product for product in products if product.stock <= product.reorder_at]
    return products


async def _check(arguments: CheckStock, context: ToolContext) -> Content:
    products = await asyncio.to_thread(_find, context.shop, arguments)
    return as_json({"query": arguments.query, "count": len(products), "products": products})


CHECK_STOCK = BackendTool(
    "check_stock",
    CheckStock,
    "Stock, price and reorder level of the articles that match.",
    {"query": "hand grinder"},
    _check,
)
