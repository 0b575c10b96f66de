"""What the scripted model says about the answers to its calls, in the user's language."""

import json
import re
from collections.abc import Callable
from typing import Any

from ag_ui.core import DataSource, TextPart

from demo_app.agent.blocks import MediaPart
from demo_app.agent.models.script.scene import Done, Say, Scene

_Teller = Callable[[Any, Done], tuple[str, str]]


def tell(scene: Scene) -> Say:
    """A sentence or two for each answer of the latest turn, in call order."""
    return Say("\n\n".join(tell_one(scene, done) for done in scene.last))


def tell_one(scene: Scene, done: Done) -> str:
    """What one answer says."""
    english, korean = _tell_error(done) if done.failed else _tell_result(done)
    media = [part for part in done.result.content if not isinstance(part, TextPart)]
    if media:
        listed = ", ".join(describe_part(part) for part in media)
        english += f" It came with {listed}. I am a scripted model and do not look inside."
        korean += f" 함께 받은 것: {listed}. 저는 대본 모델이라 내용을 들여다보지는 않습니다."
    if "user edited the arguments" in done.result.text:
        english += " You changed the arguments before it ran; what counts is what you approved."
        korean += " 실행 전에 값을 바꾸셨으므로, 승인하신 값대로 처리되었습니다."
    return (korean if scene.korean else english).strip()


def describe_part(part: MediaPart) -> str:
    """Kind, type and size of a media part: `image (image/png, 12,345 bytes)`."""
    source = part.source
    kind = source.mime_type or "type unknown"
    size = f", {len(source.value) * 3 // 4:,} bytes" if isinstance(source, DataSource) else ""
    return f"{part.type} ({kind}{size})"


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
    text = done.result.text
    if done.failure in _FAILURES:
        return _FAILURES[done.failure]
    said = f"`{done.call.name}`"
    quoted = _quote(text)
    return (
        f"{said} answered with an error, and I leave it at that: {quoted}",
        f"{said}에서 오류가 돌아왔습니다: {quoted}",
    )


def _quote(text: str) -> str:
    """A tool's words as inline code: they are data and shall not become markup (TC-7)."""
    short = re.sub(r"\s+", " ", text.replace("`", "'")).strip()
    return f"`{short[:300] + ('…' if len(short) > 300 else '')}`" if short else "`(empty)`"


def _tell_result(done: Done) -> tuple[str, str]:
    data = done.data
    teller = _TELLERS.get(done.call.name)
    if teller is not None and isinstance(data, dict):
        try:
            return teller(data, done)
        except (KeyError, TypeError, IndexError, ValueError):
            pass  # another application's tool of the same name answers in another shape: told as any answer is
    if not done.result.content:
        return f"`{done.call.name}` answered with nothing.", f"`{done.call.name}`의 답이 비어 있습니다."
    if not done.result.text:
        return f"`{done.call.name}` answered.", f"`{done.call.name}`의 답을 받았습니다."
    quoted = _quote(done.result.text)
    return f"`{done.call.name}` answered: {quoted}", f"`{done.call.name}`의 답: {quoted}"


def won(amount: int) -> str:
    """An amount as a person reads it."""
    return f"₩{amount:,}"


_STATUS_KO = {
    "pending": "대기 중",
    "paid": "결제 완료",
    "shipped": "배송 중",
    "delivered": "배송 완료",
    "cancelled": "취소됨",
    "open": "미납",
    "overdue": "연체",
}


def _order(data: Any, done: Done) -> tuple[str, str]:
    order = data["order"]
    count = sum(line["quantity"] for line in order["lines"])
    total = won(order["total_krw"])
    return (
        f"Order {order['id']} of {order['customer_name']} is **{order['status']}**: placed on {order['placed_on']},"
        f" {count} pieces, {total}.",
        f"주문 {order['id']}({order['customer_name']})은 **{_STATUS_KO[order['status']]}** 상태입니다."
        f" 주문일 {order['placed_on']}, {count}개, {total}.",
    )


def _orders(data: Any, done: Done) -> tuple[str, str]:
    first = ", ".join(f"{order['id']} ({won(order['total_krw'])})" for order in data["orders"][:5])
    if not data["count"]:
        return "No order matches.", "조건에 맞는 주문이 없습니다."
    return (
        f"{data['count']} orders match. The newest: {first}.",
        f"조건에 맞는 주문은 {data['count']}건입니다. 최근 주문: {first}.",
    )


def _stock(data: Any, done: Done) -> tuple[str, str]:
    products, query = data["products"], data["query"]
    if not products:
        return f"I found no article for {_quote(query)}.", f"{_quote(query)}에 맞는 품목이 없습니다."
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
        f"{invoice['id']}({invoice['customer_name']}): {total}, {_STATUS_KO[invoice['status']]},"
        f" 납부 기한 {invoice['due_on']}.",
    )


def _quote_shipping(data: Any, done: Done) -> tuple[str, str]:
    price, weight = won(data["price_krw"]), f"{data['weight_kg']:g} kg"
    return (
        f"Sending {weight} to {data['city']} costs {price} and takes {data['days']} day(s).",
        f"{data['city']}까지 {weight} 배송비는 {price}이고 {data['days']}일 걸립니다.",
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


def _navigate(data: Any, done: Done) -> tuple[str, str]:
    shown = _quote(str(data["shown"]))
    return f"You are on {shown} now.", f"지금 {shown} 페이지에 있습니다."


def _highlight(data: Any, done: Done) -> tuple[str, str]:
    name = _quote(str(data["element"]))
    if data["found"] is True:
        return f"{name} is outlined on the page now.", f"{name}을(를) 화면에 강조했습니다."
    return f"{name} is not on this page.", f"이 페이지에는 {name}이(가) 없습니다."


def _filter(data: Any, done: Done) -> tuple[str, str]:
    given = {name: value for name, value in data["applied"].items() if value}
    if not given:
        return f"The list shows all of its {data['rows']} rows.", f"목록의 {data['rows']}건을 모두 보여 드립니다."
    applied = _quote(json.dumps(given, ensure_ascii=False))
    return f"The list shows {data['rows']} rows for {applied}.", f"{applied} 조건으로 {data['rows']}건을 보여 드립니다."


def _form(data: Any, done: Done) -> tuple[str, str]:
    fields = _quote(", ".join(data["filled"]))
    return (
        f"I filled in {fields}. Nothing was sent: please look it over and submit it yourself.",
        f"{fields} 항목을 채웠습니다. 보내지는 않았으니 확인하고 직접 제출해 주세요.",
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
