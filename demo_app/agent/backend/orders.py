"""Orders and sales."""

import asyncio
from typing import Annotated

from pydantic import Field

from demo_app.agent.tools import Arguments, BackendTool, Content, ToolContext, ToolFailure, as_json
from demo_app.shop import OrderStatus

_MOST_SHOWN = 20


class LookupOrder(Arguments):
    """Which order."""

    order_id: Annotated[int, Field(ge=1, description="The order's number")]


class SearchOrders(Arguments):
    """Conditions; all that are given must hold."""

    status: Annotated[OrderStatus | None, Field(strict=False, description="Only orders with this status")] = None
    customer: Annotated[str, Field(description="Words of the customer's name")] = ""
    query: Annotated[str, Field(description="Words in the note or the articles")] = ""


class RevenueByMonth(Arguments):
    """Nothing to say."""


async def _lookup(arguments: LookupOrder, context: ToolContext) -> Content:
    order = await asyncio.to_thread(context.shop.order, arguments.order_id)
    if order is None:
        raise ToolFailure("unknown_order", f"there is no order number {arguments.order_id}.")
    return as_json({"order": order})


async def _search(arguments: SearchOrders, context: ToolContext) -> Content:
    query = f"{arguments.customer} {arguments.query}".strip()
    orders = await asyncio.to_thread(context.shop.orders, arguments.status, query)
    shown = [order.model_dump(mode="json", exclude={"lines", "note"}) for order in orders[:_MOST_SHOWN]]
    return as_json({"count": len(orders), "shown": len(shown), "orders": shown})


async def _revenue(arguments: RevenueByMonth, context: ToolContext) -> Content:
    months = await asyncio.to_thread(context.shop.revenue_by_month)
    return as_json({"months": [{"month": month, "revenue_krw": revenue} for month, revenue in months]})


LOOKUP_ORDER = BackendTool(
    "lookup_order",
    LookupOrder,
    "Look up one order by its number: status, customer, lines, total in won.",
    {"order_id": 42},
    _lookup,
)
SEARCH_ORDERS = BackendTool(
    "search_orders",
    SearchOrders,
    f"Find orders by status, customer or article; at most {_MOST_SHOWN} are listed, newest first.",
    {"status": "pending", "customer": "Harbor Beans"},
    _search,
)
REVENUE_BY_MONTH = BackendTool(
    "revenue_by_month",
    RevenueByMonth,
    "The year's revenue in won, month by month.",
    {},
    _revenue,
)
