"""The backend tools by themselves: what they find, and a report whose data cannot be read."""

import base64
import json
import sqlite3
from typing import Any

import pytest
from ag_ui.core import (
    DataSource,
    DocumentPart,
    StepStartedEvent,
    SubagentStartedEvent,
    TextMessageStartEvent,
    TextPart,
)
from agent_testing import ActsModel, Call, Connect

from demo_app.agent.backend import BACKEND_TOOLS
from demo_app.agent.models.script.scene import Say
from demo_app.agent.tools import Arguments, BackendTool, Content, Outcome, ToolContext
from demo_app.agent.writer import EventWriter
from demo_app.shop import Shop

TOOLS: dict[str, BackendTool[Any]] = {tool.name: tool for tool in BACKEND_TOOLS}


async def use(shop: Shop, name: str, **arguments: Any) -> Outcome:
    tool = TOOLS[name]
    parsed = tool.parse(json.dumps(arguments))
    assert not isinstance(parsed, Outcome), parsed
    return await tool.execute(parsed, ToolContext(shop, "call-1", "msg-1", "t/call-1", EventWriter()))


def data(outcome: Outcome) -> Any:
    assert outcome.error_code == ""
    assert isinstance(outcome.content, str)
    return json.loads(outcome.content)


async def test_orders(shop: Shop) -> None:
    assert data(await use(shop, "lookup_order", order_id=42))["order"]["customer_name"] == "Harbor Beans"
    pending = data(await use(shop, "search_orders", status="pending"))
    assert pending["count"] == 12
    everything = data(await use(shop, "search_orders"))
    assert (everything["count"], everything["shown"], len(everything["orders"])) == (120, 20, 20)
    both = data(await use(shop, "search_orders", customer="하버", query="kettle"))
    assert both["count"] == len(shop.orders(query="하버 kettle"))
    months = data(await use(shop, "revenue_by_month"))["months"]
    assert sum(month["revenue_krw"] for month in months) == shop.kpis().revenue_krw


@pytest.mark.parametrize(("query", "count"), [("kettle", 2), ("kettles", 2), ("hand grinders", 1), ("", 24), ("x", 1)])
async def test_stock_in_singular_and_plural(shop: Shop, query: str, count: int) -> None:
    found = data(await use(shop, "check_stock", query=query))
    assert found["count"] == len(found["products"])
    assert (found["count"] == count) or query == "x"


async def test_low_stock(shop: Shop) -> None:
    low = data(await use(shop, "check_stock", low_only=True))
    assert low["count"] == shop.kpis().low_stock_count


@pytest.mark.parametrize("city", ["Busan", "busan", " 부산 "])
async def test_weather_says_that_it_is_made_up(shop: Shop, city: str) -> None:
    weather = data(await use(shop, "get_weather", city=city))
    assert weather["city"] == "Busan"
    assert weather["made_up"] is True


@pytest.mark.parametrize(("city", "weight", "price"), [("Busan", 5, 6_500), ("Busan", 4.2, 6_500), ("제주", 1, 8_100)])
async def test_shipping(shop: Shop, city: str, weight: float, price: int) -> None:
    assert data(await use(shop, "shipping_quote", city=city, weight_kg=weight))["price_krw"] == price


@pytest.mark.parametrize("number", ["INV-0042", "inv-42", "42", " INV0042 "])
async def test_an_invoice_by_any_spelling_of_its_number(shop: Shop, number: str) -> None:
    outcome = await use(shop, "get_invoice", invoice_id=number)
    text, document, _ = outcome.parts
    assert isinstance(text, TextPart)
    assert json.loads(text.text)["invoice"]["id"] == "INV-0042"
    assert isinstance(document, DocumentPart)
    assert isinstance(document.source, DataSource)
    assert base64.b64decode(document.source.value, validate=True).endswith(b"%%EOF\n")
    assert await use(shop, "get_invoice", invoice_id=number) == outcome, "the same bytes each time"


async def test_every_invoice_can_be_drawn(shop: Shop) -> None:
    for invoice in shop.invoices()[::10]:
        assert len((await use(shop, "get_invoice", invoice_id=invoice.id)).parts) == 3


async def test_a_report_with_data_that_cannot_be_read_says_so(
    connect: Connect, shop: Shop, caplog: pytest.LogCaptureFixture
) -> None:
    """SA-4: a subagent's failure ends it and neither the other one nor the run."""
    db = sqlite3.connect(shop.path)
    db.execute("ALTER TABLE products RENAME COLUMN stock TO amount")
    db.close()
    client = await connect(ActsModel([Call("build_report", {})], [Say("So it is.")]))
    answer = await client.say("hm")
    (error,) = answer.of("SUBAGENT_ERROR")
    assert error["code"] == "data_unreadable"
    (finished,) = answer.of("SUBAGENT_FINISHED")
    assert finished["subagentRunId"] != error["subagentRunId"]
    sales, stock = json.loads(answer.results[0]["content"])["findings"]
    assert "best month" in sales["finding"]
    assert "could not be read" in stock["finding"]
    statuses = [operation["value"] for event in answer.of("ACTIVITY_DELTA") for operation in event["patch"]]
    assert statuses.count("failed") == 2
    assert statuses[-1] == 100
    assert answer.text == "So it is."
    assert "stock analyst" in caplog.text


async def test_a_report_of_a_shop_that_lacks_nothing(connect: Connect, shop: Shop) -> None:
    db = sqlite3.connect(shop.path)
    with db:
        db.execute("UPDATE products SET stock = reorder_at + 1")
    db.close()
    answer = await (await connect(ActsModel([Call("build_report", {})], [Say("Good.")]))).say("hm")
    assert "Nothing is at or below" in answer.results[0]["content"]


async def test_what_a_failing_tool_left_open_is_closed_before_the_run_ends(connect: Connect) -> None:
    """ST-4, AL-3: a fault of a tool never makes the stream ill-formed."""

    async def careless(arguments: Arguments, context: ToolContext) -> Content:
        await context.out.send(StepStartedEvent(step_name="half a step"))
        await context.out.send(SubagentStartedEvent(subagent_run_id="s", name="lost"))
        await context.out.send(TextMessageStartEvent(message_id="m", subagent_run_id="s"))
        raise RuntimeError("in the middle")

    tool = BackendTool("careless", Arguments, "Fails in the middle.", {}, careless)
    client = await connect(ActsModel([Call("careless", {})], [Say("Pity.")]), tools=(tool,))
    answer = await client.say("hm")
    assert answer.types[-4:] == ["TEXT_MESSAGE_END", "SUBAGENT_ERROR", "STEP_FINISHED", "RUN_FINISHED"]
    assert answer.text == "Pity."
