"""The scripted model over the wire: every scenario of the tour in both languages, each event judged."""

import base64
import io
import json
import sqlite3

import pytest
from agent_testing import Answer, Client
from PIL import Image

from client_sdk.tools import answers as SDK
from demo_app.agent.language import is_korean
from demo_app.agent.models.script import tell
from demo_app.agent.models.scripted import TOUR
from demo_app.i18n import TEXTS
from demo_app.shop import InvoiceStatus, OrderStatus, Shop

LOOKUPS = [
    ("Where is order 42?", [("lookup_order", {"order_id": 42})], "shipped"),
    ("where's my order #7", [("lookup_order", {"order_id": 7})], "pending"),
    ("주문 42 어디 있어?", [("lookup_order", {"order_id": 42})], "**출고됨**"),
    ("42번 주문 상태 알려줘", [("lookup_order", {"order_id": 42})], "**출고됨**"),
    ("Orders 42 and 7", [("lookup_order", {"order_id": 42}), ("lookup_order", {"order_id": 7})], "pending"),
    ("Where is order 99999?", [("lookup_order", {"order_id": 99999})], "no order number 99999"),
    ("How many orders are pending?", [("search_orders", {"status": "pending"})], "12 orders"),
    ("Find orders from Harbor Beans", [("search_orders", {"customer": "Harbor Beans"})], "orders match"),
    ("하버 빈스 주문 찾아줘", [("search_orders", {"customer": "하버 빈스"})], "조건에 맞는 주문은"),
    ("How many latte cups do we have?", [("check_stock", {"query": "latte cups"})], "**320**"),
    ("그라인더 재고", [("check_stock", {"query": "그라인더"})], "핸드 그라인더"),
    ("stock of unicorns", [("check_stock", {"query": "unicorns"})], "no article"),
    ("What is running low?", [("check_stock", {"query": "", "low_only": True})], "Decaf"),
    (
        "Weather in Seoul, Busan and Jeju",
        [("get_weather", {"city": "Seoul"}), ("get_weather", {"city": "Busan"}), ("get_weather", {"city": "Jeju"})],
        "made up",
    ),
    ("서울이랑 부산 날씨 어때?", [("get_weather", {"city": "Seoul"}), ("get_weather", {"city": "Busan"})], "부산: 7°C"),
    ("weather in Paris", [("get_weather", {"city": "Paris"})], "nothing of the weather in Paris"),
    ("파리 날씨", [("get_weather", {"city": "파리"})], "알 수 있는 도시: 서울, 부산"),
    ("주문 99999 어디 있어?", [("lookup_order", {"order_id": 99999})], "하지 못했습니다. 주문 99999번은 없습니다."),
    ("청구서 9999 보여줘", [("get_invoice", {"invoice_id": "INV-9999"})], "청구서 INV-9999은(는) 없습니다."),
    ("송장 42 보여줘", [("get_invoice", {"invoice_id": "INV-0042"})], "INV-0042(하버 빈스)"),
    (
        "서울 날씨와 그라인더 재고",
        [("get_weather", {"city": "Seoul"}), ("check_stock", {"query": "그라인더"})],
        "맑음",
    ),
    ("Show invoice 42", [("get_invoice", {"invoice_id": "INV-0042"})], "INV-0042 for Harbor Beans"),
    ("주문 42 청구서 보여줘", [("get_invoice", {"invoice_id": "INV-0042"})], "납부 기한"),
    ("Find orders from Nobody", [("search_orders", {"customer": "Nobody"})], "No order matches"),
    ("look up the weather in Seoul and show it", [("get_weather", {"city": "Seoul"})], "sunny"),
    ("Is it raining in Jeju?", [("get_weather", {"city": "Jeju"})], "rain"),
    ("stock of kettles please", [("check_stock", {"query": "kettles"})], "Gooseneck"),
    ("What is our revenue?", [("revenue_by_month", {})], "₩217,101,000"),
]


@pytest.mark.parametrize(("text", "calls", "said"), LOOKUPS, ids=[text for text, _, _ in LOOKUPS])
async def test_lookups_are_answered_in_the_stream(
    scripted: Client, text: str, calls: list[tuple[str, object]], said: str
) -> None:
    """AL-1, AL-4: tool use runs the tools, appends the results and calls the model again."""
    answer = await scripted.say(text)
    assert [(name, json.loads(arguments)) for name, arguments in answer.calls] == calls
    assert [result["toolCallId"] for result in answer.results] == [
        start["toolCallId"] for start in answer.of("TOOL_CALL_START")
    ]
    assert said in answer.text
    assert answer.outcome == {"type": "success"}


async def test_an_invoice_comes_as_text_document_and_picture(scripted: Client) -> None:
    answer = await scripted.say("Show invoice 42")
    (result,) = answer.results
    text, document, picture = result["content"]
    assert json.loads(text["text"])["invoice"]["id"] == "INV-0042"
    assert document["source"]["mimeType"] == "application/pdf"
    assert base64.b64decode(document["source"]["value"]).startswith(b"%PDF-")
    assert document["metadata"]["filename"] == "INV-0042.pdf"
    with Image.open(io.BytesIO(base64.b64decode(picture["source"]["value"]))) as image:
        assert image.format == "PNG"
        assert image.width == 640
    assert "a PDF document “INV-0042.pdf” and a picture “INV-0042.png”" in answer.text


@pytest.mark.parametrize("text", ["Shipping quote to Busan for 5 kg", "부산까지 5kg 배송비"])
async def test_a_wrong_argument_is_corrected_by_a_second_try(scripted: Client, text: str) -> None:
    """AL-3: the validation error goes back to the model as text, and the run goes on."""
    answer = await scripted.say(text)
    first, second = answer.calls
    assert first == ("shipping_quote", '{"city": "Busan", "weight_kg": "5 kg"}')
    assert second == ("shipping_quote", '{"city": "Busan", "weight_kg": 5}')
    failed, worked = answer.results
    assert failed["metadata"] == {"isError": True, "code": "bad_arguments"}
    assert 'weight_kg: Input should be a valid number, not "5 kg"' in failed["content"]
    assert "metadata" not in worked
    assert json.loads(worked["content"])["price_krw"] == 6500
    assert "₩6,500" in answer.text
    assert "takes 1 day." in answer.text or "부산까지 5 kg 배송비는" in answer.text


async def test_the_report_is_built_by_two_subagents_with_progress(scripted: Client) -> None:
    answer = await scripted.say("Build the report")
    started = answer.of("SUBAGENT_STARTED")
    assert [event["name"] for event in started] == ["sales analyst", "stock analyst"]
    (call,) = [event for event in answer.of("TOOL_CALL_START") if event["toolCallName"] == "build_report"]
    assert {event["parentToolCallId"] for event in started} == {call["toolCallId"]}
    assert {event["subagentRunId"] for event in answer.of("SUBAGENT_FINISHED")} == {
        event["subagentRunId"] for event in started
    }
    first_end = answer.types.index("SUBAGENT_FINISHED")
    assert answer.types[:first_end].count("SUBAGENT_STARTED") == 2, "they work side by side"
    (snapshot,) = answer.of("ACTIVITY_SNAPSHOT")
    assert snapshot["activityType"] == "report_progress"
    assert {step["status"] for step in snapshot["content"]["steps"]} == {"pending"}
    last = answer.of("ACTIVITY_DELTA")[-1]
    assert {operation["value"] for operation in last["patch"]} == {"done", 100}
    assert "sales analyst" in answer.text
    assert "2026-06" in answer.text


async def test_a_korean_conversation_has_a_korean_report(scripted: Client) -> None:
    answer = await scripted.say("보고서 만들어줘")
    assert [event["name"] for event in answer.of("SUBAGENT_STARTED")] == ["매출 분석가", "재고 분석가"]
    (snapshot,) = answer.of("ACTIVITY_SNAPSHOT")
    shown = [snapshot["content"]["title"], *(step["label"] for step in snapshot["content"]["steps"])]
    assert all(is_korean(words) for words in shown), shown
    assert "2026년 6월" in answer.text
    assert "디카페인" in answer.text


def test_statuses_are_called_as_the_pages_call_them() -> None:
    for status in OrderStatus:
        assert tell._STATUS_KO[status] == TEXTS[f"status.{status}"][1]
    for invoice_status in InvoiceStatus:
        assert tell._INVOICE_STATUS_KO[invoice_status] == TEXTS[f"invoice.{invoice_status}"][1]


async def test_a_report_in_the_history_is_no_puzzle_for_the_next_question(scripted: Client) -> None:
    await scripted.say("보고서 만들어줘")
    answer = await scripted.say("Where is order 42?")
    assert "shipped" in answer.text


async def test_reasoning_is_shown_before_call_and_answer(scripted: Client) -> None:
    answer = await scripted.say("What should we reorder?")
    assert answer.types.count("REASONING_START") == 2
    assert answer.types.index("REASONING_END") < answer.types.index("TOOL_CALL_START")
    assert "Decaf Beans" in answer.text
    korean = await scripted.say("무엇을 재주문해야 할까?")
    assert "디카페인" in korean.text


FRONTEND_CALLS = [
    ("Go to the orders", "navigate", {"page": "orders"}),
    ("주문 페이지로 가줘", "navigate", {"page": "orders"}),
    ("Open order 42", "navigate", {"page": "order", "order_id": 42}),
    ("go to the new order form", "navigate", {"page": "new_order"}),
    ("go to the moon", "navigate", {"page": "moon"}),
    ("Highlight the revenue chart", "highlight", {"element": "revenue-chart"}),
    ("매출 차트 강조해줘", "highlight", {"element": "revenue-chart"}),
    ("point at order 42", "highlight", {"element": "order:42"}),
    ("highlight product GRND-01", "highlight", {"element": "product:GRND-01"}),
    ("highlight the moon", "highlight", {"element": "moon"}),
    ("Show pending orders", "set_filter", {"page": "orders", "status": "pending", "query": ""}),
    ("대기 중인 주문만 보여줘", "set_filter", {"page": "orders", "status": "pending", "query": ""}),
    ("Show overdue invoices", "set_filter", {"page": "invoices", "status": "overdue", "query": ""}),
    ("Filter products: kettle", "set_filter", {"page": "products", "status": "", "query": "kettle"}),
    ("Clear the filter", "set_filter", {"page": "orders", "status": "", "query": ""}),
    ("filter orders from Harbor Beans", "set_filter", {"page": "orders", "status": "", "query": "Harbor Beans"}),
    ("show the open orders", "set_filter", {"page": "orders", "status": "pending", "query": ""}),
    ("Capture the chart", "capture_chart", {"element": "revenue-chart"}),
    ("차트 캡처해줘", "capture_chart", {"element": "revenue-chart"}),
    ("Buy 2 GRND-01", "place_order", {"customer_id": 1, "sku": "GRND-01", "quantity": 2}),
    ("Fill the form", "navigate", {"page": "new_order"}),
]


@pytest.mark.parametrize(("text", "name", "arguments"), FRONTEND_CALLS, ids=[text for text, _, _ in FRONTEND_CALLS])
async def test_frontend_calls_end_the_run_unanswered(scripted: Client, text: str, name: str, arguments: object) -> None:
    """AL-5: no result of ours, success with the pending ids."""
    answer = await scripted.say(text)
    assert [(called, json.loads(given)) for called, given in answer.calls] == [(name, arguments)]
    assert answer.results == []
    ids = [start["toolCallId"] for start in answer.of("TOOL_CALL_START")]
    assert answer.outcome == {"type": "success", "pendingToolCallIds": ids}


@pytest.mark.parametrize("text", ["Look up order 42 and open its page", "주문 42 조회하고 열어줘"])
async def test_backend_and_frontend_calls_of_one_turn(scripted: Client, text: str) -> None:
    """AL-5: the backend call is answered in the stream, the frontend call is left for the application."""
    answer = await scripted.say(text)
    lookup, navigate = [start["toolCallId"] for start in answer.of("TOOL_CALL_START")]
    assert [result["toolCallId"] for result in answer.results] == [lookup]
    assert answer.outcome["pendingToolCallIds"] == [navigate]
    followed = await scripted.reply(answer, {"shown": "/orders/42", "title": "Order 42"})
    assert "page of order 42" in followed.text or "주문 42 페이지" in followed.text


async def test_without_the_tool_it_says_that_it_cannot(scripted: Client) -> None:
    scripted.tools = ()
    for text, ability in (
        ("Go to the orders", "open other pages"),
        ("Show a chart of revenue", "draw charts"),
        ("Order 3 hand grinders for customer 5", "place orders"),
        ("Fill the form", "open other pages"),
    ):
        answer = await scripted.say(text)
        assert answer.calls == []
        assert ability in answer.text


PLACED = {"order_id": 121, "total_krw": 178000}
EDITED = {"customer_id": 1, "sku": "GRND-01", "quantity": 2}
REACTIONS = [
    ("Go to the orders", {"shown": "/orders", "title": "Orders"}, "", "on the orders page"),
    ("Highlight the revenue chart", {"found": True, "element": "revenue-chart"}, "", "outlined"),
    ("Highlight the revenue chart", {"found": False, "element": "revenue-chart"}, "", "not on this page"),
    ("highlight the moon", "element: unknown name 'moon'", "invalid_arguments", "unknown name 'moon'"),
    (
        "Show pending orders",
        {"applied": {"status": "pending", "query": ""}, "rows": 12},
        "",
        "now shows 12 pending orders.",
    ),
    ("Clear the filter", {"applied": {"status": "", "query": ""}, "rows": 120}, "", "all 120 orders"),
    ("Buy 2 GRND-01", {"order_id": 121, "total_krw": 178000}, "", "order 121 for ₩178,000"),
    ("Buy 2 GRND-01", "The call was declined.", "declined", "You declined"),
    ("GRND-01 2개 주문해줘", "The call was declined.", "declined", "거절하셔서"),
    ("Buy 2 GRND-01", "Timed out after 10 s.", "timed_out", "timed out"),
    ("Buy 2 GRND-01", "No word came back.", "effect_unknown", "may or may not have happened"),
    ("Buy 2 GRND-01", "The run was abandoned.", "abandoned", "called off"),
    ("Buy 2 GRND-01", SDK.declined(), "", "You declined"),
    ("GRND-01 2개 주문해줘", SDK.declined("too dear"), "", "거절하셔서"),
    ("Buy 2 GRND-01", SDK.timed_out(10), "", "timed out"),
    ("Buy 2 GRND-01", SDK.no_decision(10), "", "timed out"),
    ("Buy 2 GRND-01", SDK.cancelled(), "", "called off"),
    ("Buy 2 GRND-01", SDK.abandoned(), "", "called off"),
    ("Buy 2 GRND-01", SDK.effect_unknown("and the page was closed"), "", "may or may not have happened"),
    ("Buy 2 GRND-01", SDK.failed("not_enough_stock: only 1 is left, 2 cancelled"), "", "only 1 is left"),
    ("Buy 2 GRND-01", SDK.edited(SDK.succeeded(PLACED), EDITED), "", "order 121 for ₩178,000"),
    ("Buy 2 GRND-01", SDK.edited(SDK.succeeded(PLACED), EDITED), "", "You changed the details"),
    ("Buy 2 GRND-01", "", "", "empty answer"),
    ("Buy 2 GRND-01", {"another": "shape"}, "", "cannot put it into words"),
    ("Go to the orders", '{"shown": ', "", "cannot put it into words"),
    ("Show pending orders", {"applied": {"status": "pending"}, "rows": 1}, "", "shows 1 pending order."),
    ("Filter products: kettle", {"applied": {"query": "kettle"}, "rows": 2}, "", "2 products that match “kettle”."),
    ("대기 중인 주문만 보여줘", {"applied": {"status": "pending"}, "rows": 12}, "", "대기 주문 12건을"),
    ("매출 차트 강조해줘", {"found": True, "element": "revenue-chart"}, "", "강조했습니다: 매출 차트."),
    ("Buy 2 GRND-01", SDK.failed("There is no customer number 99."), "", "There is no customer number 99."),
    ("GRND-01 2개 주문해줘", SDK.failed("There is no customer number 99."), "", "고객 99번은 없습니다."),
    (
        "GRND-01 2개 주문해줘",
        SDK.failed("Only 58 of GRND-01 are in stock; 60 were asked for."),
        "",
        "GRND-01의 재고는 58개인데 60개를",
    ),
    ("Buy 2 GRND-01", SDK.failed('{"detail": 1}'), "", "no reason was given"),
    (
        "Buy 2 GRND-01",
        SDK.refused(SDK.RefusalReason.ARGUMENTS_INVALID, tool="place_order"),
        "",
        "I wrote the request wrongly",
    ),
    (
        "Buy 2 GRND-01",
        SDK.edited(SDK.failed("There is no customer number 99."), EDITED),
        "",
        "There is no customer number 99. You changed the details",
    ),
    ("Buy 2 GRND-01", SDK.failed("<b>no</b>"), "", "`<b>no</b>`"),
    (
        "Highlight the revenue chart",
        [{"type": "image", "source": {"type": "url", "value": "https://x.example/a.png"}}],
        "",
        "a picture",
    ),
]


@pytest.mark.parametrize(("text", "content", "error", "said"), REACTIONS)
async def test_it_reacts_to_what_the_browser_answers(
    scripted: Client, text: str, content: object, error: str, said: str
) -> None:
    """In the words that the SDK puts answers in, and in those of a client without codes."""
    if isinstance(content, SDK.Said):
        content, error = content.content, content.error or ""
    answer = await scripted.reply(await scripted.say(text), content, error=error)
    assert said in answer.text
    assert answer.calls == []
    assert answer.outcome == {"type": "success"}


@pytest.mark.parametrize(
    "text",
    [
        "Order 3 hand grinders for customer 5",
        "고객 5에게 핸드 그라인더 3개 주문해줘",
        "please order 3 hand grinders for customer 5",
    ],
)
async def test_an_order_by_name_finds_the_article_first(scripted: Client, text: str) -> None:
    answer = await scripted.say(text)
    assert [name for name, _ in answer.calls] == ["check_stock", "place_order"]
    assert json.loads(answer.calls[1][1]) == {"customer_id": 5, "sku": "GRND-01", "quantity": 3}
    assert len(answer.outcome["pendingToolCallIds"]) == 1


async def test_an_order_of_nothing_known_or_nothing_named_is_not_placed(scripted: Client) -> None:
    unknown = await scripted.say("Order 3 unicorns for customer 5")
    assert [name for name, _ in unknown.calls] == ["check_stock"]
    assert "no article" in unknown.text
    assert (await scripted.say("place an order")).calls == []
    assert (await scripted.say("transfer money")).calls == []
    assert (await scripted.say("돈을 송금해줘")).calls == []


@pytest.mark.parametrize(
    "text",
    ["Fill the form with 5 latte cups for customer 3 note fragile", "고객 3 주문서에 라떼 컵 5개 채워줘 메모: fragile"],
)
async def test_the_form_is_opened_and_then_filled(scripted: Client, text: str) -> None:
    opened = await scripted.say(text)
    assert [name for name, _ in opened.calls] == ["check_stock", "navigate"]
    filled = await scripted.reply(opened, {"shown": "/orders/new", "title": "New order"})
    ((name, arguments),) = filled.calls
    assert name == "fill_form"
    assert json.loads(arguments) == {
        "form": "new_order",
        "customer_id": 3,
        "sku": "CUP-01",
        "quantity": 5,
        "note": "fragile",
    }
    told = await scripted.reply(filled, {"filled": ["customer_id", "sku", "quantity", "note"]})
    assert "submit it yourself" in told.text or "제출해 주세요" in told.text


async def test_the_form_is_not_filled_when_its_page_could_not_be_shown(scripted: Client) -> None:
    answer = await scripted.reply(await scripted.say("Fill the form"), "Timed out.", error="timed_out")
    assert answer.calls == []
    assert "timed out" in answer.text


@pytest.mark.parametrize(
    ("text", "source", "kind"),
    [
        ("Show a chart of revenue", "revenue_by_month", "bar"),
        ("line chart of the revenue", "revenue_by_month", "line"),
        ("매출 추이 그래프", "revenue_by_month", "line"),
        ("chart of the stock", "check_stock", "bar"),
    ],
)
async def test_a_chart_is_drawn_from_figures_that_were_read(
    scripted: Client, text: str, source: str, kind: str
) -> None:
    answer = await scripted.say(text)
    assert [name for name, _ in answer.calls] == [source, "show_chart"]
    arguments = json.loads(answer.calls[1][1])
    assert arguments["kind"] == kind
    assert len(arguments["labels"]) == len(arguments["values"]) == 12
    followed = await scripted.reply(answer, {"shown": True})
    assert followed.calls == []


async def test_a_chart_that_is_not_on_the_page_is_looked_for_on_the_dashboard(scripted: Client) -> None:
    picture = {"type": "image", "source": {"type": "data", "value": "aGVsbG8=", "mimeType": "image/png"}}
    first = await scripted.reply(await scripted.say("Capture the chart"), "revenue-chart is not here", error="failed")
    assert first.calls == [("navigate", '{"page": "dashboard"}')]
    again = await scripted.reply(first, {"shown": "/", "title": "Dashboard"})
    assert again.calls == [("capture_chart", '{"element": "revenue-chart"}')]
    told = await scripted.reply(again, [{"type": "text", "text": "The chart."}, picture])
    assert "I have the picture of the revenue chart." in told.text
    declined = await scripted.reply(await scripted.say("Capture the chart"), "Declined.", error="declined")
    assert declined.calls == []


async def test_an_attachment_is_confirmed_and_not_made_up(scripted: Client) -> None:
    picture = {"type": "image", "source": {"type": "data", "value": "aGVsbG8=", "mimeType": "image/png"}}
    answer = await scripted.say([{"type": "text", "text": ""}, picture])
    assert "I received a picture." in answer.text
    assert "cannot look at it" in answer.text


@pytest.mark.parametrize("text", ["Who won the match?", "안녕", "", "🙂", "¿Dónde está mi pedido?"])
async def test_it_is_honest_about_anything_else(scripted: Client, text: str) -> None:
    answer = await scripted.say(text)
    assert "scripted model" in answer.text or "대본 모델" in answer.text


async def test_no_messages_at_all_are_answered_too(scripted: Client) -> None:
    assert "scripted model" in (await scripted.go()).text


async def test_slow_and_long_answers_have_the_length_asked_for(scripted: Client) -> None:
    assert (await scripted.say("count slowly to 12")).text == "1 2 3 4 5 6 7 8 9 10 11 12"
    assert (await scripted.say("5까지 천천히 세줘")).text == "1 2 3 4 5"
    assert (await scripted.say("a very long answer of 90 paragraphs")).text.count("\n\n") == 89
    assert (await scripted.say("아주 긴 답변 30 문단")).text.count("\n\n") == 29
    markdown = await scripted.say("show me markdown")
    assert "```python" in markdown.text
    assert len(markdown.of("TEXT_MESSAGE_CONTENT")) > 50, "it streams in small pieces"
    assert "polite" in (await scripted.say("thank you")).text


@pytest.mark.parametrize("language", [0, 1])
async def test_the_whole_tour_in_one_conversation(scripted: Client, shop: Shop, language: int) -> None:
    for question in TOUR:
        answer: Answer = await scripted.say(question[language])
        assert "**대본 모델**" not in answer.text, question
        assert "**scripted model**" not in answer.text, question
        if answer.outcome["type"] == "interrupt":
            (interrupt,) = answer.outcome["interrupts"]
            answer = await scripted.go(
                resume=[{"interruptId": interrupt["id"], "status": "resolved", "payload": {"approved": True}}]
            )
        while pending := answer.outcome.get("pendingToolCallIds"):
            answer = await scripted.reply(answer, *[{"found": True, "element": "x"} for _ in pending])
        assert answer.outcome == {"type": "success"}
    (row,) = shop.transfers()
    assert row.amount_krw == 50_000


async def test_usage_has_one_entry_for_the_model(scripted: Client) -> None:
    """LC-9: one entry per provider and model, summed over the run's turns."""
    (usage,) = (await scripted.say("What should we reorder?")).events[-1]["usage"]
    assert (usage["provider"], usage["model"]) == ("scripted", "scripted-tour-1")
    assert usage["totalTokens"] == usage["inputTokens"] + usage["outputTokens"]
    assert 0 < usage["reasoningTokens"] < usage["outputTokens"]


async def test_a_source_that_fails_is_told_and_nothing_is_drawn_from_it(scripted: Client, shop: Shop) -> None:
    """AL-3: figures that could not be read are not made up."""
    db = sqlite3.connect(shop.path)
    for table in ("products", "orders"):
        db.execute(f"ALTER TABLE {table} RENAME TO gone_{table}")
    db.close()
    for text in ("Show a chart of revenue", "What should we reorder?", "Order 3 hand grinders"):
        answer = await scripted.say(text)
        assert "could not be read" in answer.text
        assert answer.outcome == {"type": "success"}


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("Transfer 50,000 won to Harbor Beans for the refund", ("Harbor Beans", 50_000, "the refund")),
        ("Please transfer 10,000 KRW to Olle Coffee with memo March rent", ("Olle Coffee", 10_000, "March rent")),
        ("transfer 50k to Harbor Beans", ("Harbor Beans", 50_000, "")),
        ('send ₩1,200,000 to Olle Coffee memo "March"', ("Olle Coffee", 1_200_000, "March")),
        ("pay 1.5 million won to Kim & Sons", ("Kim & Sons", 1_500_000, "")),
        ("하버 빈스에 5만원 송금해줘 메모: 환불", ("하버 빈스", 50_000, "환불")),
        ("5만 원을 하버 빈스에게 이체해줘", ("하버 빈스", 50_000, "")),
        ("하버 빈스로 100,000원 보내줘", ("하버 빈스", 100_000, "")),
    ],
)
async def test_a_transfer_asks_for_just_what_was_said(
    scripted: Client, text: str, arguments: tuple[str, int, str]
) -> None:
    answer = await scripted.say(text)
    ((name, given),) = answer.calls
    assert name == "transfer_funds"
    assert tuple(json.loads(given).values()) == arguments
    assert answer.outcome["type"] == "interrupt"
    (interrupt,) = answer.outcome["interrupts"]
    assert is_korean(interrupt["message"].replace(arguments[0], "")) == is_korean(text)
    titles = [field["title"] for field in interrupt["responseSchema"]["properties"].values()]
    assert [is_korean(title) for title in titles] == [is_korean(text)] * 3
