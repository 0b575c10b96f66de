"""`place_order` as the application runs it: what the shop refuses is told, and is no fault in the log."""

import logging
from typing import Any

import pytest

from client_sdk import ToolContext
from client_sdk.tools.execution import run_handler
from demo_app import frontend_tools
from demo_app.shop import Shop


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"customer_id": 99}, "There is no customer number 99."),
        ({"quantity": 500}, "Only 58 of GRND-01 are in stock; 500 were asked for."),
        ({"sku": "NONE-01"}, "There is no product with the SKU 'NONE-01'."),
    ],
)
async def test_what_the_shop_refuses_is_told_without_a_traceback(
    shop: Shop,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    arguments: dict[str, Any],
    said: str,
) -> None:
    monkeypatch.setattr(frontend_tools, "shop", lambda: shop)
    orders = len(shop.orders())
    order = {"customer_id": 5, "sku": "GRND-01", "quantity": 1, "note": "", **arguments}
    with caplog.at_level(logging.INFO):
        result = await run_handler(
            frontend_tools.TOOLS["place_order"], order, ToolContext("call-1", "place_order", "thread-1", "run-1")
        )
    assert result.content == f"The tool failed: {said}"
    assert [record for record in caplog.records if record.exc_info] == []
    assert len(shop.orders()) == orders
