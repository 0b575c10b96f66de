"""The backend tools, one subject a file, and the table of all of them."""

from typing import Any

from demo_app.agent.backend.invoices import GET_INVOICE
from demo_app.agent.backend.orders import LOOKUP_ORDER, REVENUE_BY_MONTH, SEARCH_ORDERS
from demo_app.agent.backend.report import BUILD_REPORT
from demo_app.agent.backend.shipping import SHIPPING_QUOTE
from demo_app.agent.backend.stock import CHECK_STOCK
from demo_app.agent.backend.transfer import TRANSFER_FUNDS
from demo_app.agent.backend.weather import GET_WEATHER
from demo_app.agent.tools import BackendTool

BACKEND_TOOLS: tuple[BackendTool[Any], ...] = (
    LOOKUP_ORDER,
    SEARCH_ORDERS,
    REVENUE_BY_MONTH,
    CHECK_STOCK,
    GET_WEATHER,
    GET_INVOICE,
    SHIPPING_QUOTE,
    BUILD_REPORT,
    TRANSFER_FUNDS,
)
