"""What a sentence in English or Korean asks for: cities, amounts, articles, order numbers, page and element names."""

import re
from typing import Any

from demo_app.agent.backend.weather import WEATHER, known_city

_SPLIT = re.compile(r"\s*,\s*|\s+and\s+|\s*&\s*|\s+or\s+|(?<=[가-힣])(?:이랑|하고|와|과|랑)\s+|\s+그리고\s+|\s+및\s+")
_OTHER_SUBJECT = re.compile(r"weather|forecast|stock|inventor|order|invoice|날씨|재고|주문|송장|인보이스|청구서")
_POLITE = re.compile(r"\s+(?:please|today|right now|now|tomorrow)$", re.IGNORECASE)
WEATHER_WORDS = r"weather|forecast|temperature|\brain|\bsnow|sunny|날씨|기온|비 (?:와|오)|눈 (?:와|오)"
_CLAUSE = re.compile(r"(?:show|tell|open|please|how|what|where|which|then|give|go|can|could|build|also|is|are)\b")
_ARTICLE = re.compile(r"^(?:(?:is|are)\s+)?(?:(?:the|any|some|our|more|a|an)\s+)?")
_LIST = r"((?:#?\d+(?:\s*(?:,|and|&|or|와|과|랑|하고)\s*)?(?:(?:order|주문)\s*(?=#?\d))?)+)"

_INVOICE = re.compile(
    r"(?:invoices?|inv)\b[\s#-]*(?:no\.?\s*|number\s*)?(?:(?:for|of)\s+(?:the\s+)?order\s*)?#?\s*(?:inv-)?0*(\d+)"
    r"|주문\s*(?:번호\s*)?#?(\d+)\s*번?\s*의?\s*(?:송장|인보이스|청구서)"
    r"|(?:송장|인보이스|청구서)\s*#?(?:inv-)?0*(\d+)"
    r"|(\d+)\s*번\s*(?:주문\s*)?(?:의\s*)?(?:송장|인보이스|청구서)"
)
_ORDER = re.compile(rf"\borders?\s*(?:no\.?\s*|number\s*|#)?{_LIST}|주문\s*(?:번호\s*)?#?{_LIST}|(\d+)\s*번\s*주문")
_SKU = re.compile(r"(?<![a-z])(?!inv-)([a-z]{3,4}-\d{2})(?!\d)", re.IGNORECASE)
_CUSTOMER = re.compile(r"(?:customer|고객)\s*(?:no\.?|number|번호|#)?\s*#?(\d+)|(\d+)\s*번\s*고객")
_WEIGHT = re.compile(r"(\d+(?:\.\d+)?)\s*(?:kg|kilos?|kilograms?|킬로(?:그램)?|㎏)")
_AMOUNT = re.compile(
    r"(?:₩|krw\s*)?(\d[\d,]*(?:\.\d+)?)\s*((?:thousand|million|k|m)(?![a-z])|억|백만|만|천)?\s*(?:won|krw|원|₩)?"
)
_UNITS = {
    "thousand": 1_000,
    "k": 1_000,
    "천": 1_000,
    "만": 10_000,
    "million": 1_000_000,
    "m": 1_000_000,
    "백만": 1_000_000,
    "억": 100_000_000,
}


def split_list(text: str) -> list[str]:
    """`"a, b and c"` or `"가와 나"` as its members."""
    members = [_POLITE.sub("", _ARTICLE.sub("", member.strip(" ?.!\"'"))) for member in _SPLIT.split(text)]
    return [member for member in members if member]


def cities(text: str) -> list[str]:
    """Cities in the order they are named: known ones anywhere; in a weather question also unknown ones."""
    places = {
        match.start(): city
        for city, weather in WEATHER.items()
        for match in re.finditer(rf"\b{city.casefold()}\b|{weather.city_ko}", text.casefold())
    }
    named = list(dict.fromkeys(places[start] for start in sorted(places)))
    return named + [name for name in _unknown_cities(text) if name not in named]


def _unknown_cities(text: str) -> list[str]:
    korean = {weather.city_ko for weather in WEATHER.values()}
    match = re.search(r"(?:weather|forecast)(?:\s+like)?(?:\s+today)?\s+(?:in|for|of|at)\s+([^?.!]+)", text, re.I)
    members = split_list(match[1]) if match else []
    match = re.search(r"([가-힣A-Za-z]+)(?:의|은|는)?\s*날씨", text)
    members += [match[1]] if match else []
    known = {city.casefold() for city in WEATHER} | korean
    return [
        word
        for word in members
        if word.casefold() not in known and not any(name in word for name in korean) and not _other(word)
    ]


def _other(text: str) -> bool:
    """Whether a member of a list is not one of its things but the next clause, or a time."""
    lowered = text.casefold()
    return bool(_OTHER_SUBJECT.search(lowered) or _CLAUSE.match(lowered)) or text in ("오늘", "지금", "현재")


_STOCK = (
    re.compile(r"(?:stock|inventory)(?:\s+levels?)?\s+(?:of|for)\s+([^?.!]+)"),
    re.compile(r"how many\s+([^?.!]+?)\s+(?:do we have|are (?:there|left|in stock)|have we got|are in stock)"),
    re.compile(r"do we (?:still )?have\s+([^?.!]+?)(?:\s+in stock)?(?:[?.!]|$)"),
    re.compile(r"(?:^|are there |any |is the |is )([\w\s-]+?)\s+in stock"),
    re.compile(r"check\s+(?:the\s+)?(?:stock\s+of\s+)?([^?.!]+?)\s+stock"),
    re.compile(r"([가-힣a-z0-9\s,-]+?)(?:의|은|는)?\s*재고"),
)


def stock_queries(text: str) -> list[str]:
    """The articles that a question about stock names."""
    lowered = text.casefold()
    for pattern in _STOCK:
        if match := pattern.search(lowered):
            return [member for member in split_list(match[1]) if not _other(member) and not known_city(member)]
    return []


def invoice_ids(text: str) -> list[str]:
    """Invoice numbers, also where the order's number is given."""
    numbers = [next(group for group in match.groups() if group) for match in _INVOICE.finditer(text.casefold())]
    return list(dict.fromkeys(f"INV-{int(number):04d}" for number in numbers))


def order_ids(text: str) -> list[int]:
    """Order numbers; those that stand in for an invoice's number are not meant."""
    numbers: list[int] = []
    for match in _ORDER.finditer(_INVOICE.sub(" ", text.casefold())):
        listed = next(group for group in match.groups() if group)
        numbers += [int(number) for number in re.findall(r"\d+", listed)]
    return list(dict.fromkeys(numbers))


def sku(text: str) -> str | None:
    """An article number such as GRND-01."""
    match = _SKU.search(text)
    return match[1].upper() if match else None


def customer_id(text: str) -> int | None:
    """The number of a customer."""
    match = _CUSTOMER.search(text.casefold())
    return int(next(group for group in match.groups() if group)) if match else None


def weight_kg(text: str) -> float | None:
    """A weight in kilograms."""
    match = _WEIGHT.search(text.casefold())
    return float(match[1]) if match else None


def amount_krw(text: str) -> int | None:
    """An amount of money: `50,000 won`, `50k`, `5만원`."""
    matches = list(_AMOUNT.finditer(text.casefold()))
    priced = [match for match in matches if re.search(r"won|krw|원|₩", match[0]) or match[2]]
    match = next(iter(priced or matches), None)
    if match is None:
        return None
    return round(float(match[1].replace(",", "")) * _UNITS.get(match[2] or "", 1))


_BUY = re.compile(
    r"(?:^|please\s+|you\s+|want to\s+|like to\s+|let's\s+|i'll\s+|and\s+)"
    r"(?:order|buy|purchase|place an order (?:of|for)|fill\b.*?\b(?:with|for)|fill\b.*?:)\s+(\d+)\s*"
    r"(?:x\s+|×\s*|units? of\s+|pieces? of\s+)?(?!and\b|or\b|is\b|please\b|now\b|to\b|in\b|on\b|from\b|page\b)"
    r"([a-z][a-z0-9\s-]*?)(?=\s+for\b|\s+to\b|\s+note\b|[,.!?]|$)"
)
_BUY_KO = re.compile(r"([가-힣a-z0-9\s-]+?)(?:을|를)?\s*(\d+)\s*(?:개|대|봉|봉지|박스|세트|장)")
_NOTE = re.compile(r"(?:note|메모)\s*[:：]?\s*[\"'“]?(.+?)[\"'”]?\s*$", re.I)


def purchase(text: str) -> dict[str, Any] | None:
    """`order 3 hand grinders for customer 5`: article, quantity, customer (1 unless said) and note."""
    lowered = text.casefold()
    note = _NOTE.search(text)
    found = {"customer_id": customer_id(text) or 1, "sku": sku(text), "note": note[1] if note else ""}
    if match := _BUY.search(lowered):
        return {**found, "quantity": int(match[1]), "article": match[2].strip()}
    rest = re.sub(
        r"(?:고객\s*\d+\s*번?|\d+\s*번\s*고객)\s*(?:에게|한테|앞으로|님)?|주문서에?|양식에?|을 위해",
        " ",
        lowered,
    )
    if match := _BUY_KO.search(rest):
        return {**found, "quantity": int(match[2]), "article": match[1].strip()}
    return None


_TO = re.compile(r"\bto\s+([A-Za-z][\w\s&'.-]*?)(?=\s+(?:for|memo|as|with|because)\b|[,!?]|\.?\s*$)", re.I)
_TO_KO = re.compile(r"^\s*(?:\d[\d,]*\s*(?:만|천|백만)?\s*원을?\s*)?(.+?)(?:에게|한테|께|에|으로|로)\s")
_MEMO = re.compile(
    r"(?:\bmemo|메모)\s*[:：]?\s*[\"'“]?(.+?)[\"'”]?\s*[.!]?\s*$|\bfor\s+[\"'“]?(.+?)[\"'”]?\s*[.!]?\s*$",
    re.I,
)


def transfer(text: str) -> dict[str, Any] | None:
    """`transfer 50,000 won to Harbor Beans for the refund`; None when the amount or the recipient is missing."""
    match = _TO.search(text) or _TO_KO.search(text)
    amount = amount_krw(text)
    if match is None or amount is None:
        return None
    memo = _MEMO.search(text)
    said = next((group for group in memo.groups() if group), "") if memo else ""
    return {"to": match[1].strip(), "amount_krw": amount, "memo": said}


_STATUSES = (
    ("cancelled", r"cancel?led|취소"),
    ("delivered", r"delivered|배송\s*완료|배달\s*완료|도착"),
    ("shipped", r"shipped|배송\s*중|배송된|발송|출고"),
    ("pending", r"pending|대기|보류"),
    ("overdue", r"overdue|연체|기한\s*지난"),
    ("open", r"\bopen\b|unpaid|미납|미결제|미결"),
    ("paid", r"\bpaid\b|결제|지불|납부"),
)
_ORDER_STATUSES = {"open": "pending", "overdue": ""}
_INVOICES = r"invoice|송장|인보이스|청구서"
_PRODUCTS = r"product|catalog|articles?\b|제품|상품|품목"


def status(text: str) -> str | None:
    """The status that is named, of an order or an invoice."""
    lowered = text.casefold()
    return next((name for name, pattern in _STATUSES if re.search(pattern, lowered)), None)


def order_status(text: str) -> str:
    """The status that is named, of an order: an open one is pending, and none is overdue; "" for none."""
    named = status(text) or ""
    return _ORDER_STATUSES.get(named, named)


def filter_arguments(text: str) -> dict[str, Any]:
    """Which list, and what shall be shown of it. What is not said is cleared: an empty word stands for all."""
    lowered = text.casefold()
    page = "invoices" if re.search(_INVOICES, lowered) else "products" if re.search(_PRODUCTS, lowered) else "orders"
    return {"page": page, "status": _status_of(page, lowered), "query": _query(text)}


def _status_of(page: str, lowered: str) -> str:
    if page == "products":
        return "low" if re.search(r"\blow\b|부족", lowered) else ""
    return (status(lowered) or "") if page == "invoices" else order_status(lowered)


def _query(text: str) -> str:
    match = re.search(r"(?:from|of|by|for|with|:)\s+(?:the\s+)?([\w\s&'-]+?)\s*[?.!]?$", text, re.I)
    match = match or re.search(r"필터\S*\s+([가-힣\w\s]+)$|([가-힣\s]+?)(?:의|으로|로)\s*(?:주문|제품|상품|송장)", text)
    query = next((group for group in match.groups() if group), "").strip() if match else ""
    return "" if re.search(r"status|상태", query.casefold()) or status(query) else query


_PAGES = (
    ("new_order", r"new[\s-]order|order form|새\s*주문|주문서|주문\s*양식"),
    ("dashboard", r"dashboard|home|overview|start page|대시보드|홈|첫\s*화면"),
    ("products", _PRODUCTS),
    ("invoices", _INVOICES),
    ("orders", r"orders|주문\s*(?:목록|페이지|화면|내역)|주문(?:으로|들)?"),
)


def page(text: str) -> dict[str, Any]:
    """The page that is named; an unknown one as it is named, for the browser to refuse."""
    lowered = text.casefold()
    numbers = order_ids(text)
    if numbers:
        return {"page": "order", "order_id": numbers[0]}
    for name, pattern in _PAGES:
        if re.search(pattern, lowered):
            return {"page": name}
    match = re.search(r"(?:to|open|visit)\s+(?:the\s+|my\s+)?([\w\s-]+?)(?:\s+page)?\s*[?.!]?$", lowered)
    match = match or re.search(r"([가-힣\w]+?)\s*(?:페이지|화면)?(?:으로|로|를|을)?\s*(?:가|이동|열|보)", lowered)
    return {"page": match[1].strip().replace(" ", "_") if match else "unknown"}


_ELEMENTS = (
    ("kpi-revenue", r"revenue (?:figure|kpi|number|card|tile)|kpi[\s-]revenue|매출 (?:지표|수치|카드)"),
    (
        "kpi-orders",
        r"(?:order count|orders? (?:figure|kpi|number|card|tile))|kpi[\s-]orders|주문 (?:수|지표)",
    ),
    ("kpi-customers", r"customers? (?:figure|count|kpi|card|tile)|kpi[\s-]customers|고객 (?:수|지표)"),
    ("kpi-low-stock", r"low[\s-]stock|kpi[\s-]low|재고 (?:부족|지표)"),
    ("revenue-chart", r"revenue[\s-]chart|\bchart\b|매출 차트|차트|그래프"),
    ("recent-orders", r"recent[\s-]orders|최근 주문"),
    ("orders-filter", r"orders?[\s-]filter|\bfilters?\b|필터"),
    ("orders-table", r"orders?[\s-](?:table|list)|주문 (?:표|목록)"),
    ("order-summary", r"order[\s-]summary|주문 요약"),
    ("order-lines", r"order[\s-]lines|주문 (?:항목|품목)"),
    ("new-order-form", r"(?:new[\s-])?order[\s-]form|주문서|양식"),
    ("products-grid", r"products?[\s-](?:grid|list)|제품 (?:목록|그리드)|상품 목록"),
    ("invoices-table", r"invoices?[\s-](?:table|list)|(?:송장|인보이스|청구서) (?:표|목록)"),
    ("assistant-panel", r"assistant|chat panel|도우미|채팅"),
    ("navigation", r"navigation|menu|내비게이션|메뉴"),
)
_POINT = re.compile(r"(?:highlight|point\s+(?:at|to|out)|outline)\s+(?:the\s+|me\s+)?([^?.!]+)", re.I)
_POINT_KO = re.compile(r"(.+?)(?:을|를)?\s*(?:강조|하이라이트|가리켜|짚어)")


def element(text: str) -> str:
    """The element's known name; an unknown one as it is named, for the browser to say that it is not there."""
    lowered = text.casefold()
    for kind, found in (("invoice", invoice_ids(text)), ("order", order_ids(text))):
        if found:
            return f"{kind}:{found[0]}"
    if article := sku(text):
        return f"product:{article}"
    for name, pattern in _ELEMENTS:
        if re.search(pattern, lowered):
            return name
    match = _POINT.search(text) or _POINT_KO.search(text)
    return re.sub(r"[^0-9a-z가-힣]+", "-", match[1].strip().casefold()).strip("-") if match else "unknown"


def chart_kind(text: str) -> str:
    """`line` where a line or a trend is asked for, else `bar`."""
    return "line" if re.search(r"\bline\b|trend|선|추이|꺾은", text.casefold()) else "bar"


def count_to(text: str) -> int | None:
    """`count slowly to 30`, `30까지 천천히 세줘`; at most 1,000."""
    match = re.search(r"count\s+(?:slowly\s+)?(?:up\s+)?to\s+(\d+)|(\d+)\s*까지\s*(?:천천히\s*)?세", text.casefold())
    return min(int(next(group for group in match.groups() if group)), 1_000) if match else None


def customer_words(text: str) -> str:
    """The customer's name in a question about orders."""
    match = re.search(r"orders?\s+(?:from|of|by|for)\s+(?:the\s+)?([A-Za-z][\w\s&'-]*?)\s*[?.!]?$", text, re.I)
    match = match or re.search(r"([가-힣][가-힣\s]*?)(?:의)?\s*주문", text)
    words = match[1].strip() if match else ""
    return "" if status(words) or words in ("모든", "전체", "최근") else words
