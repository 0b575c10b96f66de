"""What the scripted model says about the answers to its calls, in the user's language."""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from ag_ui.core import TextPart

from demo_app.agent.blocks import MediaPart
from demo_app.agent.language import is_korean, plain_trouble
from demo_app.agent.models.script.scene import Done, Say, Scene

_Teller = Callable[[Any, Done], tuple[str, str]]


def tell(scene: Scene) -> Say:
    """A sentence or two for each answer of the latest turn, in call order."""
    return Say("\n\n".join(tell_one(scene, done) for done in scene.last))


def tell_one(scene: Scene, done: Done) -> str:
    """What one answer says."""
    english, korean = _tell_error(done) if done.failed else _tell_result(done)
    if "user edited the arguments" in done.result.text:
        english += " You changed the details before it ran; what counts is what you approved."
        korean += " 실행 전에 값을 바꾸셨으므로, 승인하신 값대로 처리되었습니다."
    media = [part for part in done.result.content if not isinstance(part, TextPart)]
    if media:
        them = "it" if len(media) == 1 else "them"
        # A picture of a tool that is known for it is told of as the result itself.
        if done.failed or done.call.name != _CAPTURE:
            english += f" I have {list_parts(media, korean=False)} with it."
            korean += f" 함께 받은 것은 {list_parts(media, korean=True)}입니다."
        english += f" (I am a scripted model and cannot look at {them}.)"
        korean += " (저는 대본 모델이라 내용은 볼 수 없습니다.)"
    return (korean if scene.korean else english).strip()


_KINDS = {
    "image": ("a picture", "그림"),
    "document": ("a document", "문서"),
    "audio": ("a sound", "소리"),
    "video": ("a film", "영상"),
}
_PDF = ("a PDF document", "PDF 문서")


def list_parts(parts: Sequence[MediaPart], *, korean: bool) -> str:
    """Media parts in words: `a picture “a dot.png” and a PDF document`."""
    described = [_describe(part, korean) for part in parts]
    if len(described) == 1:
        return described[0]
    return ", ".join(described[:-1]) + (", " if korean else " and ") + described[-1]


def _describe(part: MediaPart, korean: bool) -> str:
    kind = _PDF if part.source.mime_type == "application/pdf" else _KINDS[part.type]
    name = part.metadata.get("filename") if isinstance(part.metadata, dict) else None
    return kind[korean] + (f" {named(name)}" if isinstance(name, str) and name else "")


_CALLED_OFF = ("It was called off, so nothing was done.", "취소되어 아무것도 실행하지 않았습니다.")
_FAILURES = {
    "declined": ("You declined, so nothing was done.", "거절하셔서 아무것도 실행하지 않았습니다."),
    "effect_unknown": (
        "It was started, but no word came back: it may or may not have happened. Please check before trying again.",
        "시작은 했지만 결과를 받지 못했습니다. 실행되었을 수도 있으니 다시 시도하기 전에 확인해 주세요.",
    ),
    "timed_out": ("It timed out: no answer came in time.", "시간이 초과되어 답을 받지 못했습니다."),
    "cancelled": _CALLED_OFF,
    "abandoned": _CALLED_OFF,
    "interrupt_cancelled": _CALLED_OFF,
    "run_cancelled": _CALLED_OFF,
}


def _tell_error(done: Done) -> tuple[str, str]:
    if done.failure in _FAILURES:
        return _FAILURES[done.failure]
    english, korean = (plain_trouble(done.result.text, korean=korean) for korean in (False, True))
    if english is not None and korean is not None:
        return f"That did not work. {english}", f"하지 못했습니다. {korean}"
    text = _EDITED.sub("", done.result.text)
    said = _ERROR_HEAD.sub("", text).strip()
    if not said or _is_data(said):
        return "That did not work, and no reason was given.", "하지 못했습니다. 이유는 알 수 없습니다."
    if _ERROR_HEAD.match(text) and is_korean(said):  # the agent's own tools say it in the user's language
        return f"That did not work. {named(said)}", f"하지 못했습니다. {_plain(said)}"
    return f"That did not work. The reason given: {named(said)}", f"하지 못했습니다. 받은 이유: {named(said)}"


_ERROR_HEAD = re.compile(r"^Error(?: \([^)]*\))?[:.]?\s*(?:The tool failed:\s*)?|^The tool failed:\s*")
_EDITED = re.compile(r"The user edited the arguments before approving\. Run with: [^\n]*\n?")
_HARMLESS = re.compile(r"[\w\s.,:;'#&%₩()+·…×°’-]*")


def _is_data(text: str) -> bool:
    return text.lstrip().startswith(("{", "["))


def _plain(text: str) -> str:
    """Somebody else's words in one line: they are data and shall not become markup (TC-7)."""
    short = re.sub(r"\s+", " ", text.replace("`", "'")).strip()
    short = short[:300] + ("…" if len(short) > 300 else "")
    return short if _HARMLESS.fullmatch(short) else f"`{short}`"


def named(text: str) -> str:
    """Somebody else's words as a quotation; inline code where they could be taken for markup."""
    plain = _plain(text)
    return plain if plain.startswith("`") else f"“{plain}”"


def _tell_result(done: Done) -> tuple[str, str]:
    data = done.data
    teller = _TELLERS.get(done.call.name)
    if teller is not None and isinstance(data, dict):
        try:
            return teller(data, done)
        except (KeyError, TypeError, IndexError, ValueError):
            pass  # another application's tool of the same name answers in another shape: told as any answer is
    if done.call.name == _CAPTURE and any(part.type == "image" for part in done.result.content):
        return "I have the picture of the revenue chart.", "매출 차트의 그림을 받았습니다."
    text = _EDITED.sub("", done.result.text)
    if not done.result.content:
        return "I got an empty answer.", "빈 답을 받았습니다."
    if not text:
        return "I have the answer.", "답을 받았습니다."
    if _is_data(text):
        return (
            "I have an answer, but it is made for programs and I cannot put it into words.",
            "답을 받았지만 프로그램용 데이터라서 말로 옮길 수 없습니다.",
        )
    return f"The answer: {named(text)}", f"받은 답: {named(text)}"


_CAPTURE = "capture_chart"


def won(amount: int) -> str:
    """An amount as a person reads it."""
    return f"₩{amount:,}"


_STATUS_KO = {
    "pending": "대기",
    "paid": "결제됨",
    "shipped": "출고됨",
    "delivered": "배송 완료",
    "cancelled": "취소됨",
}
_INVOICE_STATUS_KO = {"open": "미납", "paid": "완납", "overdue": "연체"}


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _order(data: Any, done: Done) -> tuple[str, str]:
    order = data["order"]
    count = sum(line["quantity"] for line in order["lines"])
    total = won(order["total_krw"])
    return (
        f"Order {order['id']} of {order['customer_name']} is **{order['status']}**: placed on {order['placed_on']},"
        f" {_count(count, 'piece', 'pieces')}, {total}.",
        f"주문 {order['id']}({order['customer_name_ko']})의 상태는 **{_STATUS_KO[order['status']]}**입니다."
        f" 주문일 {order['placed_on']}, {count}개, {total}.",
    )


def _orders(data: Any, done: Done) -> tuple[str, str]:
    first = ", ".join(f"{order['id']} ({won(order['total_krw'])})" for order in data["orders"][:5])
    if not data["count"]:
        return "No order matches.", "조건에 맞는 주문이 없습니다."
    return (
        f"{_count(data['count'], 'order matches', 'orders match')}. The newest: {first}.",
        f"조건에 맞는 주문은 {data['count']}건입니다. 최근 주문: {first}.",
    )


def _stock(data: Any, done: Done) -> tuple[str, str]:
    products, query = data["products"], data["query"]
    if not products:
        return f"I found no article for {named(query)}.", f"{named(query)}에 맞는 품목이 없습니다."
    english = "; ".join(f"{p['name']} ({p['sku']}): **{p['stock']}**" for p in products)
    korean = "; ".join(f"{p['name_ko']}({p['sku']}): **{p['stock']}**개" for p in products)
    return f"In stock: {english}.", f"재고: {korean}."


def _weather(data: Any, done: Done) -> tuple[str, str]:
    return (
        f"{data['city']}: {data['temperature_c']} °C, {data['condition']} (made up).",
        f"{data['city_ko']}: {data['temperature_c']}°C, {data['condition_ko']} (지어낸 값입니다).",
    )


def _invoice(data: Any, done: Done) -> tuple[str, str]:
    invoice = data["invoice"]
    total = won(invoice["total_krw"])
    return (
        f"{invoice['id']} for {invoice['customer_name']}: {total}, {invoice['status']}, due on {invoice['due_on']}.",
        f"{invoice['id']}({invoice['customer_name_ko']}): {total}, {_INVOICE_STATUS_KO[invoice['status']]},"
        f" 납부 기한 {invoice['due_on']}.",
    )


def _quote_shipping(data: Any, done: Done) -> tuple[str, str]:
    price, weight = won(data["price_krw"]), f"{data['weight_kg']:g} kg"
    return (
        f"Sending {weight} to {data['city']} costs {price} and takes {_count(data['days'], 'day', 'days')}.",
        f"{data['city_ko']}까지 {weight} 배송비는 {price}이고 {data['days']}일 걸립니다.",
    )


def _report(data: Any, done: Done) -> tuple[str, str]:
    findings = "\n".join(f"- **{item['analyst']}**: {item['finding']}" for item in data["findings"])
    return (
        f"### {data['title']}\n\n{findings}",
        f"### {data['title']}\n\n{findings}\n\n두 분석가의 보고입니다.",
    )


def _transfer(data: Any, done: Done) -> tuple[str, str]:
    amount, left = won(data["amount_krw"]), won(data["balance_krw"])
    return (
        f"{amount} went to {data['to']}. The account holds {left} now.",
        f"{data['to']} 앞으로 {amount}을 보냈습니다. 잔액은 {left}입니다.",
    )


def _revenue(data: Any, done: Done) -> tuple[str, str]:
    total = won(sum(month["revenue_krw"] for month in data["months"]))
    return f"The year's revenue is {total}.", f"올해 매출은 {total}입니다."


_PAGES = {
    "/": ("the dashboard", "대시보드"),
    "/orders": ("the orders page", "주문"),
    "/orders/new": ("the new order page", "새 주문"),
    "/products": ("the products page", "상품"),
    "/invoices": ("the invoices page", "청구서"),
}


def _navigate(data: Any, done: Done) -> tuple[str, str]:
    path = str(data["shown"])
    number = re.fullmatch(r"/orders/(\d+)", path)
    if number:
        return f"You are on the page of order {number[1]} now.", f"지금 주문 {number[1]} 페이지에 있습니다."
    english, korean = _PAGES.get(path) or (named(str(data["title"])),) * 2
    return f"You are on {english} now.", f"지금 {korean} 페이지에 있습니다."


_ELEMENTS = {
    "kpi-revenue": ("the revenue figure", "매출 지표"),
    "kpi-orders": ("the order count", "주문 수 지표"),
    "kpi-customers": ("the customer count", "고객 수 지표"),
    "kpi-low-stock": ("the low-stock figure", "재고 부족 지표"),
    "revenue-chart": ("the revenue chart", "매출 차트"),
    "recent-orders": ("the list of recent orders", "최근 주문 목록"),
    "orders-table": ("the table of orders", "주문 표"),
    "orders-filter": ("the orders' filter", "주문 필터"),
    "order-summary": ("the order's summary", "주문 요약"),
    "order-lines": ("the order's lines", "주문 내역"),
    "new-order-form": ("the order form", "주문 양식"),
    "products-grid": ("the products", "상품 목록"),
    "invoices-table": ("the table of invoices", "청구서 표"),
    "assistant-panel": ("the assistant", "어시스턴트"),
    "navigation": ("the menu", "메뉴"),
}
_ROW = re.compile(r"(order|product|invoice):([\w-]+)")
_ROWS_KO = {"order": "주문", "product": "상품", "invoice": "청구서"}


def _element(name: str) -> tuple[str, str]:
    if row := _ROW.fullmatch(name):
        return f"{row[1]} {row[2]}", f"{_ROWS_KO[row[1]]} {row[2]}"
    return _ELEMENTS.get(name) or (named(name),) * 2


def _highlight(data: Any, done: Done) -> tuple[str, str]:
    english, korean = _element(str(data["element"]))
    english = english[:1].upper() + english[1:]
    if data["found"] is True:
        return f"{english} is outlined on the page now.", f"화면에 강조했습니다: {korean}."
    return f"{english} is not on this page.", f"이 페이지에 없습니다: {korean}."


_LISTED = {
    "orders": ("order", "orders", "주문", "건"),
    "products": ("product", "products", "상품", "종"),
    "invoices": ("invoice", "invoices", "청구서", "건"),
}
_PRODUCT_STATUS = {"low": ("low-stock", "재고 부족"), "ok": ("well-stocked", "재고 충분")}


def _status_words(page: str, status: str) -> tuple[str, str]:
    """The filter's status before the things it filters: `pending `, `대기 `."""
    if not status:
        return "", ""
    known = {"orders": _STATUS_KO, "invoices": _INVOICE_STATUS_KO}.get(page, {})
    english, korean = _PRODUCT_STATUS.get(status) or (status, known.get(status, status))
    return f"{_plain(english)} ", f"{_plain(korean)} "


def _filter(data: Any, done: Done) -> tuple[str, str]:
    page = json.loads(done.call.input_json)["page"]
    one, many, korean, counter = _LISTED[page]
    rows, applied = data["rows"], data["applied"]
    status, query = applied.get("status") or "", applied.get("query") or ""
    if not status and not query:
        return f"The list now shows all {_count(rows, one, many)}.", f"{korean} {rows}{counter}을 모두 보여 드립니다."
    before, before_ko = _status_words(page, status)
    after, after_ko = (f" that match {named(query)}", f"{named(query)} 검색: ") if query else ("", "")
    return (
        f"The list now shows {_count(rows, before + one, before + many)}{after}.",
        f"{after_ko}{before_ko}{korean} {rows}{counter}을 보여 드립니다.",
    )


_FIELDS = {
    "customer_id": ("the customer", "고객"),
    "sku": ("the product", "상품"),
    "quantity": ("the quantity", "수량"),
    "note": ("the note", "메모"),
}


def _form(data: Any, done: Done) -> tuple[str, str]:
    *first, last = (_FIELDS[name] for name in data["filled"])
    english = f"{', '.join(name for name, _ in first)} and {last[0]}" if first else last[0]
    korean = ", ".join(name for _, name in [*first, last])
    return (
        f"I filled in {english}. Nothing was sent: please look it over and submit it yourself.",
        f"{korean} 항목을 채웠습니다. 보내지는 않았으니 확인하고 직접 제출해 주세요.",
    )


def _placed(data: Any, done: Done) -> tuple[str, str]:
    total = won(data["total_krw"])
    return (
        f"Done: order {data['order_id']} for {total}.",
        f"주문 {data['order_id']}번이 접수되었습니다. 금액은 {total}입니다.",
    )


_TELLERS: dict[str, _Teller] = {
    "lookup_order": _order,
    "search_orders": _orders,
    "check_stock": _stock,
    "get_weather": _weather,
    "get_invoice": _invoice,
    "shipping_quote": _quote_shipping,
    "build_report": _report,
    "transfer_funds": _transfer,
    "revenue_by_month": _revenue,
    "navigate": _navigate,
    "highlight": _highlight,
    "set_filter": _filter,
    "fill_form": _form,
    "place_order": _placed,
}
