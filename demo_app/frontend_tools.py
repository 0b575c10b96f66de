"""What the agent may ask of this app. Each function is a tool: its signature is the schema, its docstring the prompt.

Most run in the visitor's browser (`assets/agent_tools.js` does the work, `demo_app.state.browser` carries it there and
back). `place_order` changes the shop, so nobody but the visitor can let it happen: it always asks.
"""

import asyncio
from typing import Annotated, Any, Literal

from ag_ui.core import ContentPart, DataSource, ImagePart, TextPart
from pydantic import BaseModel, Field

from client_sdk import ToolContext, ToolFailure, ToolRegistry
from demo_app.shop import MAX_ORDER_QUANTITY, ShopError
from demo_app.state.browser import BRIDGE, BrowserError
from demo_app.state.shop_state import NEWS, shop

TOOLS = ToolRegistry()

PAGE_DEADLINE = 15.0
"""Seconds a page may take; its own patience with itself is shorter, so that its word comes first."""

Text = Annotated[str, Field(max_length=200)]


async def _on_page(context: ToolContext, name: str, arguments: dict[str, Any]) -> Any:
    """Have the visitor's page do it. Raises `ToolFailure` with the page's words if it did not."""
    try:
        return await BRIDGE.run(context.thread_id, context.call_id, name, arguments)
    except BrowserError as error:
        raise ToolFailure(str(error)) from error


@TOOLS.tool(side_effects=False, deadline=PAGE_DEADLINE, exclusive=True, example={"page": "order", "order_id": 42})
async def navigate(
    context: ToolContext,
    page: Literal["dashboard", "orders", "order", "new_order", "products", "invoices"],
    order_id: Annotated[int | None, Field(ge=1)] = None,
) -> Any:
    """Show a page of this app to the user. Answers once the page is shown.

    Args:
        page: which page; "order" is one order's page.
        order_id: the order's number, for page "order" only.
    """
    return await _on_page(context, "navigate", {"page": page, "order_id": order_id})


@TOOLS.tool(side_effects=False, deadline=PAGE_DEADLINE, example={"element": "revenue-chart"})
async def highlight(context: ToolContext, element: Text) -> Any:
    """Point at an element of the page that is shown: scroll to it, outline it, announce it. Says whether it was there.

    Args:
        element: its name: kpi-revenue, kpi-orders, kpi-customers, kpi-low-stock, revenue-chart, recent-orders,
            orders-table, orders-filter, order-summary, order-lines, new-order-form, products-grid, invoices-table,
            assistant-panel, navigation, or order:<number>, product:<SKU>, invoice:<number> for a row.
    """
    return await _on_page(context, "highlight", {"element": element})


@TOOLS.tool(side_effects=False, deadline=PAGE_DEADLINE, exclusive=True, example={"page": "orders", "status": "pending"})
async def set_filter(
    context: ToolContext,
    page: Literal["orders", "products", "invoices"],
    status: Text | None = None,
    query: Text | None = None,
) -> Any:
    """Show a list with a filter set. Says how many rows it shows.

    Args:
        page: which list.
        status: only rows with this status; "" for all. Products know "low" and "ok" and their categories.
        query: only rows with these words; "" for all.
    """
    arguments = {"page": page, "status": status, "query": query}
    return await _on_page(context, "set_filter", arguments)


@TOOLS.tool(
    side_effects=False,
    deadline=PAGE_DEADLINE,
    exclusive=True,
    example={"form": "new_order", "customer_id": 3, "sku": "CUP-01", "quantity": 5},
)
async def fill_form(
    context: ToolContext,
    form: Literal["new_order"],
    customer_id: Annotated[int | None, Field(ge=1)] = None,
    sku: Text | None = None,
    quantity: Annotated[int | None, Field(ge=1, le=MAX_ORDER_QUANTITY)] = None,
    note: Text | None = None,
) -> Any:
    """Fill in the order form for the user to look at. It is never submitted: that is the user's to do.

    Args:
        form: which form.
        customer_id: the customer's number.
        sku: the article's SKU.
        quantity: how many.
        note: a note for the order.
    """
    arguments = {"form": form, "customer_id": customer_id, "sku": sku, "quantity": quantity, "note": note}
    return await _on_page(context, "fill_form", arguments)


@TOOLS.tool(
    side_effects=False,
    follow_up=False,
    example={"title": "Revenue", "kind": "bar", "labels": ["Jan", "Feb"], "values": [1200, 1500], "unit": "KRW"},
)
def show_chart(
    title: Text,
    kind: Literal["bar", "line"],
    labels: Annotated[list[Text], Field(min_length=1, max_length=60)],
    values: Annotated[list[float], Field(min_length=1, max_length=60)],
    unit: Text = "",
) -> dict[str, Any]:
    """Draw a chart in the conversation. Nothing needs to be said after it.

    Args:
        title: the chart's title.
        kind: bars, or one line.
        labels: a label per value.
        values: the values.
        unit: what the values are measured in.
    """
    if len(labels) != len(values):
        raise ToolFailure(f"there are {len(labels)} labels for {len(values)} values; give one label per value")
    return {"shown": True, "values": len(values)}


class _Captured(BaseModel):
    text: str = Field(max_length=2_000)
    title: str = Field(max_length=300)
    mimeType: Literal["image/png"]
    data: str = Field(max_length=8_000_000)
    width: int
    height: int


@TOOLS.tool(side_effects=False, deadline=PAGE_DEADLINE, example={"element": "revenue-chart"})
async def capture_chart(context: ToolContext, element: Literal["revenue-chart"] = "revenue-chart") -> list[ContentPart]:
    """Take a picture of the chart as the user sees it.

    Args:
        element: which chart.
    """
    said = await _on_page(context, "capture_chart", {"element": element})
    picture = _Captured.model_validate(said)
    return [
        TextPart(text=f"{picture.text} ({picture.width} × {picture.height} px)"),
        ImagePart(
            source=DataSource(value=picture.data, mime_type=picture.mimeType),
            metadata={"title": picture.title, "filename": f"{element}.png", "alt": picture.text},
        ),
    ]


@TOOLS.tool(
    side_effects=True,
    consent="always",
    exclusive=True,
    example={"customer_id": 5, "sku": "GRND-01", "quantity": 3},
)
async def place_order(
    context: ToolContext,
    customer_id: Annotated[int, Field(ge=1, title="Customer number")],
    sku: Annotated[str, Field(min_length=1, max_length=40, title="SKU")],
    quantity: Annotated[int, Field(ge=1, le=MAX_ORDER_QUANTITY, title="Quantity")],
    note: Annotated[str, Field(max_length=200, title="Note")] = "",
) -> dict[str, Any]:
    """Place an order in the shop. The user is asked first and may change it.

    Args:
        customer_id: who orders.
        sku: the article's SKU.
        quantity: how many.
        note: a note for the order.
    """
    key = f"{context.thread_id}/{context.call_id}"
    try:
        order = await asyncio.to_thread(shop().place_order, sku, quantity, customer_id, note, request_key=key)
    except ShopError as error:
        raise ToolFailure(error.message) from error
    NEWS.count += 1
    return {"order_id": order.id, "total_krw": order.total_krw}
