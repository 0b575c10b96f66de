"""The table from tool or activity to card: title, picture, and the body that draws its data.

A new card is a file in this folder with `read` (data to a card's fields, or None when the data has another shape) and
a component, and a line here. A tool that is not in the table gets the generic card: name, arguments, result.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from demo_app.cards import chart, invoice, orders, page_tools, products, quote, transfer, weather

Reader = Callable[[Any, Any], dict[str, Any] | None]
"""Arguments and result, parsed (None when they are no JSON), to fields of `Card`; None for the generic body."""


@dataclass(frozen=True)
class ToolBody:
    """How a known tool is shown.

    Attributes: `body`, the name of its component in `transcript.BODIES`; `read`, its reader; `glyph`, its picture;
    `draws_arguments`, whether there is something to draw before there is a result.
    """

    body: str
    read: Reader
    glyph: str
    draws_arguments: bool = False


TOOL_BODIES: Final[dict[str, ToolBody]] = {
    "lookup_order": ToolBody("orders", orders.read_one, "package"),
    "search_orders": ToolBody("orders", orders.read_many, "search"),
    "check_stock": ToolBody("products", products.read, "boxes"),
    "get_weather": ToolBody("weather", weather.read, "cloud-sun"),
    "get_invoice": ToolBody("invoice", invoice.read, "receipt-text"),
    "shipping_quote": ToolBody("facts", quote.read, "truck"),
    "revenue_by_month": ToolBody("chart", chart.read_revenue, "trending-up"),
    "transfer_funds": ToolBody("facts", transfer.read, "banknote"),
    "build_report": ToolBody("findings", quote.read_report, "file-text"),
    "show_chart": ToolBody("chart", chart.read_shown, "chart-column", draws_arguments=True),
    "navigate": ToolBody("facts", page_tools.read_navigate, "compass"),
    "highlight": ToolBody("facts", page_tools.read_highlight, "highlighter"),
    "set_filter": ToolBody("facts", page_tools.read_filter, "list-filter"),
    "fill_form": ToolBody("facts", page_tools.read_form, "pencil-line"),
    "capture_chart": ToolBody("picture", page_tools.read_capture, "camera"),
    "place_order": ToolBody("facts", page_tools.read_placed, "shopping-cart"),
}

ACTIVITY_BODIES: Final[dict[str, str]] = {"report_progress": "progress"}
