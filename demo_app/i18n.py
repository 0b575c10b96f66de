"""The interface in English and Korean: one table, read in components (`t`) and in Python (`text`).

In a component `t("orders.title")` is a Var that follows the visitor's language without a round trip; it takes
Vars for the text's named places: `t("pager.page", page=State.page, pages=State.pages)`. In handlers, where
the language is known, `text("orders.title", language)` gives a plain string. `either(en, ko)` chooses between
two values that are not in the table, such as a product's two names.
"""

from typing import Any, cast

import reflex as rx

from demo_app.i18n_chat import CHAT_TEXTS
from demo_app.state.settings import SettingsState

TEXTS: dict[str, tuple[str, str]] = {
    # the frame
    "app.name": ("Halla Supply", "한라 서플라이"),
    "app.line": ("Coffee gear, wholesale", "커피 장비 도매"),
    "app.offline": (
        "Connection lost. Reconnecting… What you typed is kept.",
        "연결이 끊겼습니다. 다시 연결하는 중… 입력한 내용은 남아 있습니다.",
    ),
    "skip": ("Skip to content", "본문으로 건너뛰기"),
    "nav.label": ("Main", "주 메뉴"),
    "nav.dashboard": ("Dashboard", "대시보드"),
    "nav.orders": ("Orders", "주문"),
    "nav.new_order": ("New order", "새 주문"),
    "nav.products": ("Products", "상품"),
    "nav.invoices": ("Invoices", "청구서"),
    "prefs.label": ("Display settings", "화면 설정"),
    "prefs.language": ("Language", "언어"),
    "prefs.to_dark": ("Switch to dark", "어두운 화면으로"),
    "prefs.to_light": ("Switch to light", "밝은 화면으로"),
    # the assistant's frame
    "assistant.title": ("Assistant", "어시스턴트"),
    "assistant.open": ("Ask the assistant", "어시스턴트에게 묻기"),
    "assistant.close": ("Close the assistant", "어시스턴트 닫기"),
    "assistant.transcript": ("Conversation", "대화"),
    "assistant.empty": (
        "Ask about orders, stock or invoices. What the assistant does on these pages, you see here.",
        "주문, 재고, 청구서를 물어보세요. 어시스턴트가 이 화면에서 하는 일을 여기에서 볼 수 있습니다.",
    ),
    "assistant.message": ("Message", "메시지"),
    "assistant.send": ("Send", "보내기"),
    # shared words
    "all": ("All", "전체"),
    "status": ("Status", "상태"),
    "search": ("Search", "검색"),
    "customer": ("Customer", "고객"),
    "product": ("Product", "상품"),
    "quantity": ("Quantity", "수량"),
    "total": ("Total", "합계"),
    "date": ("Date", "날짜"),
    "note": ("Note", "메모"),
    "order": ("Order", "주문"),
    "count.rows": ("{n} found", "{n}건"),
    "pager.label": ("Pages", "페이지"),
    "pager.page": ("Page {page} of {pages}", "{page} / {pages} 페이지"),
    "pager.previous": ("Previous", "이전"),
    "pager.next": ("Next", "다음"),
    # states
    "loading": ("Loading", "불러오는 중"),
    "empty.title": ("Nothing matches", "일치하는 항목이 없습니다"),
    "empty.hint": ("Try another word, or clear the filters.", "다른 단어로 찾거나 필터를 지워 보세요."),
    "empty.clear": ("Clear the filters", "필터 지우기"),
    "error.title": ("This could not be loaded", "불러오지 못했습니다"),
    "error.hint": (
        "The shop's database did not answer. Nothing was changed.",
        "상점 데이터베이스가 응답하지 않았습니다. 변경된 것은 없습니다.",
    ),
    "error.retry": ("Try again", "다시 시도"),
    "missing.title": ("This page does not exist", "없는 페이지입니다"),
    "missing.hint": (
        "The address may be mistyped, or the page was moved.",
        "주소가 잘못되었거나 페이지가 옮겨졌습니다.",
    ),
    "missing.home": ("Go to the dashboard", "대시보드로 가기"),
    "notice.status": (
        "“{value}” is not a status here; the filter is off.",
        "“{value}”은(는) 이 화면의 상태가 아니어서 필터를 껐습니다.",
    ),
    "notice.page": (
        "There is no page “{value}”; this is page 1.",
        "“{value}” 페이지는 없어서 1페이지를 보여 줍니다.",
    ),
    # dashboard
    "dashboard.title": ("Dashboard", "대시보드"),
    "dashboard.lead": (
        "The year 2026 at a glance, up to 31 December.",
        "2026년 한 해를 12월 31일까지 한눈에 봅니다.",
    ),
    "kpi.label": ("Key figures", "주요 지표"),
    "kpi.revenue": ("Revenue", "매출"),
    "kpi.revenue.note": ("Paid, shipped and delivered orders", "결제·출고·배송 완료 주문"),
    "kpi.orders": ("Orders", "주문"),
    "kpi.orders.note": ("{n} invoices unpaid", "미납 청구서 {n}건"),
    "kpi.customers": ("Customers", "고객"),
    "kpi.customers.note": ("Cafés, roasters and offices", "카페, 로스터리, 사무실"),
    "kpi.low_stock": ("Low stock", "재고 부족"),
    "kpi.low_stock.note": ("Products at their reorder level", "재주문 기준 이하 상품"),
    "chart.title": ("Revenue by month", "월별 매출"),
    "chart.best": ("Best month: {month}, {value}", "최고 매출: {month}, {value}"),
    "chart.table": ("Show as a table", "표로 보기"),
    "chart.month": ("Month", "월"),
    "recent.title": ("Recent orders", "최근 주문"),
    "recent.all": ("All orders", "전체 주문"),
    # orders
    "orders.title": ("Orders", "주문"),
    "orders.lead": ("Every order of the year, newest first.", "올해의 모든 주문, 최신순."),
    "orders.search": ("Number, customer, product or note", "번호, 고객, 상품, 메모"),
    "orders.filter": ("Filter orders", "주문 필터"),
    "orders.number": ("Order", "주문"),
    "orders.placed": ("Placed", "주문일"),
    "orders.lines": ("Products", "상품"),
    "orders.lines.n": ("{n} products", "상품 {n}종"),
    "status.pending": ("Pending", "대기"),
    "status.paid": ("Paid", "결제됨"),
    "status.shipped": ("Shipped", "출고됨"),
    "status.delivered": ("Delivered", "배송 완료"),
    "status.cancelled": ("Cancelled", "취소됨"),
    # one order
    "order.title": ("Order {n}", "주문 {n}"),
    "order.loading": ("Order", "주문"),
    "order.back": ("Orders", "주문 목록"),
    "order.summary": ("Summary", "요약"),
    "order.lines": ("Lines", "주문 내역"),
    "order.unit": ("Unit price", "단가"),
    "order.sum": ("Amount", "금액"),
    "order.invoice": ("Invoice", "청구서"),
    "order.none": ("None", "없음"),
    "order.placed": ("Order {n} is placed.", "{n}번 주문을 접수했습니다."),
    "order.missing.title": ("There is no order {n}", "{n}번 주문이 없습니다"),
    "order.missing.hint": (
        "Order numbers are whole numbers, such as 42.",
        "주문 번호는 42처럼 정수입니다.",
    ),
    # new order
    "new.title": ("New order", "새 주문"),
    "new.lead": (
        "One product an order. It is taken from stock at once.",
        "주문 하나에 상품 한 가지. 접수하면 재고에서 바로 빠집니다.",
    ),
    "new.choose_customer": ("Choose a customer", "고객 선택"),
    "new.choose_product": ("Choose a product", "상품 선택"),
    "new.quantity.hint": ("1 to {max}", "1~{max}개"),
    "new.note.hint": ("Optional, up to {max} characters", "선택 사항, {max}자까지"),
    "new.place": ("Place the order", "주문하기"),
    "new.clear": ("Clear", "지우기"),
    "new.summary": ("What it comes to", "주문 금액"),
    "new.stock": ("In stock", "재고"),
    "new.unfinished": (
        "Choose a product and a quantity to see the amount.",
        "상품과 수량을 고르면 금액이 보입니다.",
    ),
    "new.refused": ("The order was not placed", "주문이 접수되지 않았습니다"),
    "invalid.customer": ("Choose a customer from the list.", "목록에서 고객을 선택하세요."),
    "invalid.product": ("Choose a product from the list.", "목록에서 상품을 선택하세요."),
    "invalid.quantity": (
        "Enter a whole number from 1 to {max}.",
        "1부터 {max}까지의 정수를 입력하세요.",
    ),
    "invalid.stock": ("Only {n} are in stock.", "재고가 {n}개뿐입니다."),
    "invalid.note": ("Keep the note to {max} characters.", "메모는 {max}자까지 쓸 수 있습니다."),
    # products
    "products.title": ("Products", "상품"),
    "products.lead": ("What we sell, and how much of it is left.", "판매 상품과 남은 재고입니다."),
    "products.filter": ("Filter products", "상품 필터"),
    "products.search": ("Name or SKU", "이름 또는 SKU"),
    "products.category": ("Category", "분류"),
    "products.stock": ("Stock", "재고"),
    "products.left": ("{n} in stock", "재고 {n}"),
    "products.order": ("Order", "주문하기"),
    "stock.low": ("Low", "부족"),
    "stock.ok": ("Plenty", "충분"),
    "category.beans": ("Beans", "원두"),
    "category.cups": ("Cups", "컵"),
    "category.drippers": ("Drippers", "드리퍼"),
    "category.filters": ("Filters", "필터"),
    "category.grinders": ("Grinders", "그라인더"),
    "category.kettles": ("Kettles", "주전자"),
    "category.machines": ("Machines", "머신"),
    "category.tools": ("Tools", "도구"),
    # invoices
    "invoices.title": ("Invoices", "청구서"),
    "invoices.lead": ("What customers owe, and what they have paid.", "받을 금액과 받은 금액입니다."),
    "invoices.filter": ("Filter invoices", "청구서 필터"),
    "invoices.search": ("Number or customer", "번호 또는 고객"),
    "invoices.number": ("Invoice", "청구서"),
    "invoices.issued": ("Issued", "발행일"),
    "invoices.due": ("Due", "납부 기한"),
    "invoice.open": ("Open", "미납"),
    "invoice.paid": ("Paid", "완납"),
    "invoice.overdue": ("Overdue", "연체"),
    **CHAT_TEXTS,
}


def is_korean() -> rx.Var[bool]:
    """Whether the visitor reads Korean, as a Var."""
    return cast("rx.Var[bool]", SettingsState.language == "ko")


def either(en: Any, ko: Any) -> rx.Var[Any]:
    """`en` or `ko`, whichever is the visitor's language; both may be values or Vars."""
    return cast("rx.Var[Any]", rx.cond(is_korean(), ko, en))


def t(key: str, **places: Any) -> rx.Var[Any]:
    """The text of `key` in the visitor's language, its named places filled with values or Vars.

    Raises KeyError for a key that is not in `TEXTS`, when the page is built.
    """
    en, ko = TEXTS[key]
    return either(en.format(**places), ko.format(**places)) if places else either(en, ko)


def text(key: str, language: str, **places: object) -> str:
    """The text of `key` in `language` ("en" or "ko") as a string. Raises KeyError for an unknown key."""
    en, ko = TEXTS[key]
    return (ko if language == "ko" else en).format(**places)


def krw(amount: int) -> str:
    """A whole amount of won for people: 1234000 is `₩1,234,000`."""
    return f"₩{amount:,}"


def krw_short(amount: int) -> tuple[str, str]:
    """An amount for an axis or a label, in English and Korean: 32,100,000 is `₩32.1M` and `3,210만`."""
    if amount == 0:
        return "0", "0"
    return f"₩{amount / 1_000_000:.3g}M", f"{amount // 10_000:,}만"
