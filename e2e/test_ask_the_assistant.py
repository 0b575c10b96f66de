"""A clerk asks, and sees what was looked up as cards: each of the shop's tools, several at once, and honest limits."""

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from e2e.conftest import Visitor
from e2e.pages.assistant import Assistant
from e2e.server import DemoServer

Visit = Callable[..., Visitor]


def test_where_an_order_is(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open()
    expect(chat.model).to_contain_text("Scripted model, no AI")
    chat.ask("Where is order 42?")
    order = demo.shop.order(42)
    assert order is not None
    card = chat.tool("lookup_order", "done")
    for words in ("42", order.customer_name, "Shipped", f"₩{order.total_krw:,}"):
        expect(card).to_contain_text(words)
    expect(chat.answers).to_contain_text("is shipped")
    expect(chat.answers.locator("strong")).to_have_text("shipped")
    expect(chat.end("completed").locator(".usage")).to_contain_text("scripted-tour-1")
    expect(chat.title).to_have_text("Where is order 42?")
    card.get_by_text("Details").click()
    expect(card.locator("pre").first).to_contain_text('"order_id": 42')
    card.locator("tbody").get_by_role("link").click()
    chat.app.wait_shown("/orders/42")
    expect(chat.answers).to_contain_text("is shipped")


def test_several_things_at_once(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open().ask("Weather in Seoul, Busan and Jeju, and stock of grinders")
    weather = chat.tool("get_weather", "done")
    expect(weather).to_have_count(3)
    for card, city in zip(weather.all(), ("Seoul", "Busan", "Jeju"), strict=True):
        expect(card).to_contain_text(city)
        expect(card).to_contain_text("Made up for this demo")
    stock = chat.tool("check_stock", "done")
    for product in demo.shop.products(category="grinders"):
        expect(stock).to_contain_text(product.name)
        expect(stock).to_contain_text(f"{product.stock} in stock")
    assert chat.transcript_shape() == [
        "user",
        *["tool:get_weather:done"] * 3,
        "tool:check_stock:done",
        "text",
        "end:completed",
    ]


def test_an_invoice_with_picture_and_document(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open().ask("Show invoice 42")
    card = chat.tool("get_invoice", "done")
    expect(card).to_contain_text("INV-0042")
    picture = card.locator("img")
    picture.scroll_into_view_if_needed()
    chat.page.wait_for_function("(image) => image.complete && image.naturalWidth > 100", arg=picture.element_handle())
    assert picture.get_attribute("alt")
    link = card.get_by_role("link", name="Open PDF")
    document = chat.page.request.get(demo.url + str(link.get_attribute("href")))
    assert document.headers["content-type"] == "application/pdf"
    assert document.headers["x-content-type-options"] == "nosniff"
    assert document.body().startswith(b"%PDF")


def test_a_mistake_that_the_agent_corrects(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open().ask("Shipping quote to Busan for 5 kg")
    assert chat.transcript_shape() == [
        "user",
        "tool:shipping_quote:failed",
        "text",
        "tool:shipping_quote:done",
        "text",
        "end:completed",
    ]
    failed = chat.tool("shipping_quote", "failed")
    expect(failed).to_contain_text("The agent wrote this request wrongly")
    failed.get_by_text("Details").click()
    expect(failed.get_by_role("group", name="Result")).to_contain_text("weight_kg")
    expect(chat.answers.last).to_contain_text("5 kg to Busan costs ₩")


def test_a_report_by_two_analysts(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open().ask("Build the report")
    lanes = chat.page.locator("[data-card=lanes] [data-lane]")
    expect(lanes).to_have_count(2)
    for lane, name in zip(lanes.all(), ("sales analyst", "stock analyst"), strict=True):
        expect(lane).to_contain_text(name)
        expect(lane).to_contain_text("Finished")
    activity = chat.page.locator("[data-card=activity]")
    expect(activity.get_by_role("progressbar")).to_have_attribute("aria-valuenow", "100")
    for step in activity.locator(".step").all():
        expect(step).to_contain_text("done")
    expect(chat.tool("build_report", "done")).to_be_visible()
    expect(chat.answers.get_by_role("heading", name="Sales and stock report 2026")).to_be_visible()


def test_why_it_says_so(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open().ask("What should we reorder?")
    thoughts = chat.page.locator("[data-card=reasoning]")
    expect(thoughts).to_have_count(2)
    first = thoughts.first
    expect(first.locator(".thought")).to_be_hidden()
    first.get_by_text("Thoughts").click()
    expect(first.locator(".thought")).to_be_visible()
    expect(first.locator(".thought")).not_to_be_empty()


def test_a_chart_in_the_conversation(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open().ask("Show a chart of revenue")
    card = chat.tool("show_chart", "done")
    expect(card.locator("svg .mark")).to_have_count(12)
    card.get_by_text("Show as a table").click()
    _, revenue = demo.shop.revenue_by_month()[0]
    expect(card.locator("tbody tr").first).to_contain_text(f"{revenue:,}")
    # It ends the turn: nothing is said after it.
    shape = chat.transcript_shape()
    assert shape.index("tool:show_chart:done") == len(shape) - 2, shape


CODE_COLOURS = """(pre) => [getComputedStyle(pre).backgroundColor,
  ...[...pre.querySelectorAll('.token')].map((token) => getComputedStyle(token).color)]"""


def brightness(colour: str) -> float:
    """The mean of an `rgb(…)` colour's parts, 0 to 255."""
    parts = [int(part) for part in re.findall(r"\d+", colour)[:3]]
    return sum(parts) / len(parts)


def test_words_with_structure(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open().ask("Show me markdown")
    answer = chat.answers
    expect(answer.get_by_role("table")).to_be_visible()
    expect(answer.locator("li").first).to_be_visible()
    expect(answer.locator("blockquote")).to_be_visible()
    light: list[str] = []
    dark: list[str] = []
    for theme, colours in (("light", light), ("dark", dark)):
        chat.page.emulate_media(color_scheme=theme)
        expect(chat.page.locator("html")).to_have_class(re.compile(theme))
        colours += answer.locator("pre").evaluate(CODE_COLOURS)
        assert len(set(colours[1:])) > 3, "not highlighted"
    assert brightness(light[0]) > 200 > 60 > brightness(dark[0]), "the block does not follow the theme"
    assert not set(light[1:]) & set(dark[1:])


def test_copy_an_answer(demo: DemoServer, visit: Visit) -> None:
    visitor = visit(demo, permissions=["clipboard-read", "clipboard-write"])
    chat = Assistant(visitor.app).open().ask("Where is order 42?")
    chat.answers.get_by_role("button", name="Copy").click()
    expect(chat.app.announcer).to_have_text("Copied")
    assert "is **shipped**" in chat.page.evaluate("navigator.clipboard.readText()")


def test_what_it_cannot_do_it_says(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open().ask("Who won the match?")
    expect(chat.answers).to_contain_text("script")
    assert chat.transcript_shape() == ["user", "text", "end:completed"]


def test_show_it_a_picture(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open()
    dot = bytes.fromhex(
        "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c63f8cf"
        "c0f01f0005000201a5f645440000000049454e44ae426082"
    )
    chat.attach({"name": "a dot.png", "mimeType": "image/png", "buffer": dot})
    chips = chat.page.get_by_role("list", name="Attachments").get_by_role("listitem")
    expect(chips).to_contain_text("a dot.png")
    chat.attach({"name": "notes.txt", "mimeType": "text/plain", "buffer": b"some words"})
    expect(chips).to_have_count(2)
    chat.page.get_by_role("button", name="Remove notes.txt").click()
    expect(chips).to_have_count(1)
    chat.input.fill("What is this?")
    chat.send_button.click()
    chat.wait_rest(0)
    shown = chat.questions.locator("img")
    chat.page.wait_for_function("(image) => image.complete && image.naturalWidth === 1", arg=shown.element_handle())
    expect(chips).to_have_count(0)
    expect(chat.answers).to_contain_text("I received a picture")
    chat.reload()
    expect(chat.questions.locator("img")).to_be_visible()


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ({"name": "run.exe", "mimeType": "application/x-msdownload", "buffer": b"MZ"}, "can be attached"),
        ({"name": "big.png", "mimeType": "image/png", "buffer": b"\x89PNG" + b"0" * 5 * 1024 * 1024}, "5 MB"),
    ],
)
def test_no_file_that_cannot_be_taken(demo: DemoServer, visit: Visit, file: dict[str, object], said: str) -> None:
    chat = Assistant(visit(demo).app).open()
    chat.attach(file)
    expect(chat.notice).to_contain_text(said)
    expect(chat.notice).to_contain_text(str(file["name"]))
    expect(chat.page.get_by_role("list", name="Attachments")).to_have_count(0)
    chat.page.get_by_role("button", name="Close this notice").click()
    expect(chat.notice).to_have_count(0)
    expect(chat.input).to_be_focused()


def test_of_several_files_those_that_can_be_taken(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo, language="ko").app).open()
    # Not every system knows what a Markdown file is.
    notes = [{"name": f"{name}.md", "mimeType": "", "buffer": b"# notes"} for name in "abcde"]
    chat.attach(*notes, {"name": "empty.txt", "mimeType": "text/plain", "buffer": b""})
    expect(chat.page.get_by_role("list", name="첨부 파일").get_by_role("listitem")).to_have_count(4)
    expect(chat.notice).to_contain_text("첨부하지 않음: e.md. 메시지 하나에 파일은 4개까지입니다.")
    expect(chat.notice).to_contain_text("첨부하지 않음: empty.txt. 빈 파일입니다.")


def test_a_file_that_gets_lost_on_its_way(demo: DemoServer, visit: Visit) -> None:
    visitor = visit(demo)
    visitor.guard.allow("/_upload", "ERR_FAILED")
    chat = Assistant(visitor.app).open()
    chat.page.route("**/_upload", lambda route: route.abort("failed"))
    chat.attach({"name": "plans.txt", "mimeType": "text/plain", "buffer": b"words"})
    expect(chat.notice).to_contain_text("Not attached: plans.txt. It did not reach this app.")
    chat.page.unroute("**/_upload")
    chat.attach({"name": "plans.txt", "mimeType": "text/plain", "buffer": b"words"})
    expect(chat.page.get_by_role("list", name="Attachments")).to_contain_text("plans.txt")


def test_see_what_an_answer_cost(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open().ask("Where is order 42?")
    expect(chat.ends.get_by_role("list", name="Token usage")).to_have_count(1)
    usage = chat.ends.locator(".usage li")
    expect(usage).to_have_text(re.compile(r"^scripted-tour-1 [\d,]+ input tokens [\d,]+ output$"))
    expect(usage).to_have_attribute("title", re.compile("Input tokens are what the model read"))
    chat.app.language("ko")
    expect(usage).to_have_text(re.compile(r"입력 [\d,]+토큰 출력 [\d,]+토큰$"))


def test_in_korean(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo, language="ko").app).open()
    expect(chat.model).to_contain_text("대본 모델")
    chat.ask("서울, 부산, 제주 날씨와 그라인더 재고", "주문 42 어디 있어?")
    expect(chat.tool("get_weather", "done")).to_have_count(3)
    expect(chat.tool("check_stock", "done")).to_contain_text("핸드 그라인더")
    expect(chat.tool("lookup_order", "done")).to_contain_text("완료")
    expect(chat.answers.last).to_contain_text("출고됨")
    cards = " ".join(chat.tools.locator(".tool-head").all_inner_texts())
    assert not [word for word in ("Weather", "Done", "Check", "Look up") if word in cards], cards


def test_follow_the_suggestions(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open()
    expect(chat.suggestions).to_have_count(5)
    first = chat.suggestions.first.inner_text()
    chat.suggestions.first.click()
    chat.wait_rest(0)
    expect(chat.questions).to_contain_text(first)
    expect(chat.suggestions).to_have_count(2)
    assert first not in chat.suggestions.all_inner_texts()


def test_a_suggestion_that_is_clicked_in_a_hurry_is_asked_once(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open()
    chat.suggestions.first.evaluate("(one) => { for (let times = 0; times < 25; times += 1) one.click(); }")
    chat.wait_rest(0)
    expect(chat.answers).to_contain_text("is shipped")
    expect(chat.questions).to_have_count(1)
    expect(chat.input).to_have_value("")
    expect(chat.notice).to_have_count(0)


def test_what_nobody_drew_a_card_for(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open().ask("mischief: unknown tool")
    card = chat.tool("launch_rocket")
    expect(card).to_contain_text("launch_rocket")
    card.get_by_text("Details").click()
    assert json.loads(card.locator("pre").first.inner_text()) == {"target": "moon"}
