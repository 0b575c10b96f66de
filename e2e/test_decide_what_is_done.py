"""Nothing with an effect happens without a word: approve, change or decline an order, answer what the agent asks."""

from collections.abc import Callable

from playwright.sync_api import Locator, expect

from e2e.conftest import Visitor
from e2e.pages.assistant import Assistant
from e2e.server import DemoServer

Visit = Callable[..., Visitor]
ORDER = "Order 3 hand grinders for customer 5"
TRANSFER = "Transfer 50,000 won to Harbor Beans for the refund"


def order_card(chat: Assistant, phase: str = "asking") -> Locator:
    """The card of an order to be placed."""
    return chat.tool("place_order", phase)


def test_approve_an_order(demo: DemoServer, visit: Visit) -> None:
    before = len(demo.shop.orders(customer_id=5))
    chat = Assistant(visit(demo).app).open("/orders").ask(ORDER)
    card = order_card(chat)
    expect(card).to_contain_text("Nothing has happened yet")
    expect(card.get_by_label("Quantity")).to_have_value("3")
    expect(card.get_by_label("SKU")).to_have_value("GRND-01")
    expect(card.get_by_label("Customer number")).to_have_value("5")
    customer, grinder = demo.shop.customer(5), demo.shop.product("GRND-01")
    assert customer is not None
    assert grinder is not None
    for words in (customer.name, grinder.name, f"₩{grinder.price_krw:,}", f"₩{3 * grinder.price_krw:,}"):
        expect(card.locator(".facts")).to_contain_text(words)
    assert len(demo.shop.orders(customer_id=5)) == before
    card.get_by_role("button", name="Approve").click()
    expect(order_card(chat, "done")).to_have_count(1)
    chat.wait_rest()
    placed = demo.shop.orders(customer_id=5)
    assert len(placed) == before + 1
    newest = max(placed, key=lambda order: order.id)
    assert [(line.sku, line.quantity) for line in newest.lines] == [("GRND-01", 3)]
    expect(chat.answers.last).to_contain_text(f"order {newest.id}")
    # The list that is open shows the new order without a reload.
    expect(chat.app.element(f"order:{newest.id}")).to_be_visible()


def test_change_the_quantity_and_approve(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open().ask("Order 4 tampers for customer 6")
    card = order_card(chat)
    card.get_by_label("Quantity").fill("2")
    card.get_by_label("Note").fill("by the back door")
    card.get_by_role("button", name="Approve").click()
    expect(order_card(chat, "done")).to_have_count(1)
    chat.wait_rest()
    newest = max(demo.shop.orders(customer_id=6), key=lambda order: order.id)
    assert [(line.sku, line.quantity) for line in newest.lines] == [("TOOL-01", 2)]
    assert newest.note == "by the back door"
    expect(chat.answers.last).to_contain_text("You changed the details")


def test_decline_an_order(demo: DemoServer, visit: Visit) -> None:
    before = len(demo.shop.orders())
    chat = Assistant(visit(demo).app).open().ask(ORDER)
    order_card(chat).get_by_role("button", name="Decline").click()
    expect(order_card(chat, "declined")).to_contain_text("You said no")
    chat.wait_rest()
    expect(chat.answers.last).to_contain_text("You declined")
    assert len(demo.shop.orders()) == before


def test_no_change_to_what_cannot_be(demo: DemoServer, visit: Visit) -> None:
    before = len(demo.shop.orders())
    chat = Assistant(visit(demo).app).open().ask(ORDER)
    card = order_card(chat)
    field, approve = card.get_by_label("Quantity"), card.get_by_role("button", name="Approve")
    card.get_by_label("Note").fill("for the second floor")
    for quantity, complaint in (
        ("0", "from 1 to 500"),
        ("2.5", "a whole number"),
        ("three", "a whole number"),
        ("", "This is needed"),
        ("501", "from 1 to 500"),
    ):
        field.fill(quantity)
        approve.click()
        expect(card.get_by_role("alert")).to_contain_text(complaint)
        expect(field).to_be_focused()
        expect(field).to_have_attribute("aria-invalid", "true")
        expect(field).to_have_accessible_description(card.get_by_role("alert").inner_text())
    # Whoever comes back finds what they typed, and what is wrong with it.
    chat.reload()
    expect(field).to_have_value("501")
    expect(card.get_by_label("Note")).to_have_value("for the second floor")
    expect(card.get_by_role("alert")).to_have_count(1)
    chat.app.language("ko")
    expect(card.get_by_role("alert")).to_have_text("1부터 500까지의 숫자를 입력하세요.")
    expect(order_card(chat)).to_have_count(1)
    assert len(demo.shop.orders()) == before


def test_nothing_is_approved_by_the_way(demo: DemoServer, visit: Visit) -> None:
    before = len(demo.shop.orders())
    chat = Assistant(visit(demo).app).open().ask(ORDER)
    card = order_card(chat)
    for label in ("Customer number", "SKU", "Quantity", "Note"):
        card.get_by_label(label).press("Enter")
    card.get_by_label("Quantity").fill("0")
    card.get_by_label("Quantity").press("Enter")
    # The form was not even looked at: it would have an objection.
    approve = card.get_by_role("button", name="Approve")
    approve.focus()
    expect(card.get_by_role("alert")).to_have_count(0)
    expect(card).to_contain_text("As it was asked for, before your changes.")
    expect(approve).to_be_in_viewport(ratio=1)
    card.get_by_label("Quantity").fill("2")
    approve.press("Enter")
    expect(order_card(chat, "done")).to_have_count(1)
    chat.wait_rest()
    assert len(demo.shop.orders()) == before + 1


def test_say_something_else_instead(demo: DemoServer, visit: Visit) -> None:
    before = len(demo.shop.orders())
    chat = Assistant(visit(demo).app).open().ask(ORDER, "Where is order 42?")
    expect(order_card(chat)).to_have_count(0)
    expect(order_card(chat, "declined").or_(order_card(chat, "abandoned"))).to_have_count(1)
    expect(chat.answers.last).to_contain_text("is shipped")
    assert len(demo.shop.orders()) == before


def test_decide_each_of_two_orders(demo: DemoServer, visit: Visit) -> None:
    before = len(demo.shop.orders(customer_id=1))
    chat = Assistant(visit(demo).app).open().ask("mischief: same order twice")
    expect(order_card(chat)).to_have_count(2)
    order_card(chat).first.get_by_role("button", name="Approve").click()
    expect(order_card(chat, "done")).to_have_count(1)
    order_card(chat).get_by_role("button", name="Decline").click()
    expect(order_card(chat, "declined")).to_have_count(1)
    chat.wait_rest()
    assert len(demo.shop.orders(customer_id=1)) == before + 1


def test_approve_a_transfer(demo: DemoServer, visit: Visit) -> None:
    before = len(demo.shop.transfers())
    chat = Assistant(visit(demo).app).open().ask(TRANSFER)
    question = chat.interrupt
    expect(question).to_contain_text("Approval")
    expect(chat.tool("transfer_funds", "interrupted")).to_have_count(1)
    assert len(demo.shop.transfers()) == before
    expect(question).to_contain_text("Approve this transfer?")
    expect(question.get_by_role("checkbox")).to_have_count(0)
    expect(chat.suggestions).to_have_count(0)
    question.get_by_label("Amount in won").fill("40000")
    question.get_by_label("Memo").fill("a part of the refund")
    # A yes is a button, not something that Enter says by the way.
    question.get_by_label("Memo").press("Enter")
    question.get_by_role("button", name="Approve").click()
    expect(chat.decisions).to_contain_text("Approved")
    chat.wait_rest()
    made = demo.shop.transfers()
    assert len(made) == before + 1
    assert (made[-1].amount_krw, made[-1].memo) == (40_000, "a part of the refund")
    expect(chat.tool("transfer_funds", "done")).to_have_count(1)
    expect(chat.answers.last).to_contain_text("₩40,000")


def test_be_asked_in_ones_own_language(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo, language="ko").app).open().ask("하버 빈스에 환불금 50,000원 송금해줘")
    expect(chat.interrupt).to_contain_text("이 송금을 승인하시겠습니까?")
    expect(chat.interrupt.get_by_label("금액(원)")).to_have_value("50000")
    expect(chat.interrupt.get_by_label("메모")).to_be_visible()
    chat.interrupt.get_by_role("button", name="거절").click()
    expect(chat.decisions).to_have_count(1)
    chat.wait_rest()


def test_refuse_or_cancel_a_transfer(demo: DemoServer, visit: Visit) -> None:
    before = len(demo.shop.transfers())
    chat = Assistant(visit(demo).app).open().ask(TRANSFER)
    # A no needs no sound form.
    chat.interrupt.get_by_label("Amount in won").fill("0")
    chat.interrupt.get_by_role("button", name="Decline").click()
    expect(chat.decisions).to_contain_text("Declined")
    chat.wait_rest()
    expect(chat.tool("transfer_funds", "declined").locator(".badge")).to_have_class("badge small tone-mute ")
    chat.ask(TRANSFER)
    chat.interrupt.get_by_role("button", name="Cancel the question").click()
    expect(chat.decisions).to_have_count(2)
    chat.wait_rest()
    assert [card.get_attribute("data-phase") for card in chat.decisions.all()] == ["declined", "cancelled"]
    assert len(demo.shop.transfers()) == before


def test_no_answer_that_does_not_fit_the_question(demo: DemoServer, visit: Visit) -> None:
    before = len(demo.shop.transfers())
    chat = Assistant(visit(demo).app).open().ask(TRANSFER)
    chat.interrupt.get_by_label("Amount in won").fill("0")
    chat.interrupt.get_by_role("button", name="Approve").click()
    expect(chat.interrupt.get_by_role("alert")).to_have_text("Enter 1 or more.")
    expect(chat.interrupt.get_by_label("Amount in won")).to_be_focused()
    expect(chat.decisions).to_have_count(0)
    assert len(demo.shop.transfers()) == before
