"""From the user's words to acts: a table of intents, the first that fits is played, turn after turn.

An intent's `play` is called again after each round of answers, and looks at what has been done so far.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from demo_app.agent.models.script import phrases
from demo_app.agent.models.script.scene import Act, Call, Say, Scene, Think
from demo_app.agent.models.script.tell import list_parts, tell, won

_MOST_PARAGRAPHS = 400


@dataclass(frozen=True)
class Intent:
    """Something that can be asked for: `fits` is tried on the words in lower case, `play` gives the next acts."""

    name: str
    fits: re.Pattern[str]
    play: Callable[[Scene], list[Act] | None]


def play(scene: Scene) -> list[Act]:
    """The acts for this turn; never none."""
    lowered = scene.text.casefold()
    for intent in INTENTS:
        if intent.fits.search(lowered) and (acts := intent.play(scene)):
            return acts
    if scene.started:
        return [tell(scene)]
    return _media(scene) if scene.media else _help(scene)


def _once(scene: Scene, *acts: Act) -> list[Act]:
    """Calls on the first turn, afterwards what came of them; calls that this page does not offer are not made."""
    if scene.started:
        return [tell(scene)]
    missing = [act.name for act in acts if isinstance(act, Call) and act.name not in scene.tools]
    return [_missing(scene, missing[0])] if missing else list(acts)


def _missing(scene: Scene, tool: str) -> Say:
    english, korean = _ABILITIES.get(tool, ("do that", "그 일을 할"))
    return scene.say(
        f"This page does not let me {english}.",
        f"이 페이지에서는 제가 {korean} 수 없습니다.",
    )


_ABILITIES = {
    "navigate": ("open other pages", "다른 페이지를 열"),
    "highlight": ("point at things", "화면의 요소를 가리킬"),
    "set_filter": ("filter lists", "목록을 거를"),
    "fill_form": ("fill in forms", "양식을 채울"),
    "show_chart": ("draw charts", "차트를 그릴"),
    "capture_chart": ("take pictures of charts", "차트를 캡처할"),
    "place_order": ("place orders", "주문을 넣을"),
}


def _failed(scene: Scene, tool: str) -> bool:
    done = scene.found(tool)
    return done is not None and done.failed


# Slow, long and formatted answers.


def _count(scene: Scene) -> list[Act] | None:
    number = phrases.count_to(scene.text)
    return [Say(" ".join(str(n) for n in range(1, number + 1)), slow=True)] if number else None


_PARAGRAPHS = (
    "**{n}.** A good cup begins with a grinder that cuts evenly, for dust turns bitter and coarse bits stay sour.",
    "**{n}.** Water at ninety-three degrees, poured in a slow spiral, wakes the aroma without scalding it.",
    "**{n}.** Rinse the paper first: it warms the dripper, and the taste of paper stays out of the cup.",
    "**{n}.** Beans rest for a week after roasting, then keep for a month if air and light stay away from them.",
)


def _long(scene: Scene) -> list[Act]:
    match = re.search(r"(\d+)\s*(?:paragraphs?|문단|단락)", scene.text.casefold())
    number = min(int(match[1]), _MOST_PARAGRAPHS) if match else 60
    return [Say("\n\n".join(_PARAGRAPHS[n % len(_PARAGRAPHS)].format(n=n + 1) for n in range(number)))]


_MARKDOWN = '''## Brewing ratios

| Method | Coffee | Water |
| --- | ---: | ---: |
| Pour over | 20 g | 320 g |
| French press | 30 g | 450 g |

1. Weigh the beans.
2. Grind them *just before* brewing.
   - fine for espresso
   - coarse for the press

```python
def water(coffee_g: float, ratio: float = 16.0) -> float:
    """Grams of water for an amount of coffee."""
    return coffee_g * ratio
```

> Taste decides: `water(20)` gives **320** grams, and it is only a start.
'''


def _markdown(scene: Scene) -> list[Act]:
    return [Say(_MARKDOWN)]


# What the browser does.


def _capture(scene: Scene) -> list[Act]:
    """Capture; where the chart is not on the page, go to the dashboard and try once more."""
    capture = Call("capture_chart", {"element": "revenue-chart"})
    if not scene.started:
        return _once(scene, capture)
    tries = sum(done.call.name == "capture_chart" for done in scene.done)
    if scene.last[-1].call.name == "navigate" and tries == 1 and not _failed(scene, "navigate"):
        return [capture]
    not_shown = _failed(scene, "capture_chart") and not _refused(scene)
    if not_shown and tries == 1 and "navigate" in scene.tools and scene.found("navigate") is None:
        words = scene.say(
            "It is not on this page. I go to the dashboard first.",
            "이 페이지에 없어서 대시보드로 먼저 이동합니다.",
        )
        return [words, Call("navigate", {"page": "dashboard"})]
    return [tell(scene)]


def _refused(scene: Scene) -> bool:
    """Whether a person or a deadline stood in the way: then nothing is tried again."""
    return any(done.failure in _FINAL for done in scene.last)


_FINAL = frozenset({"declined", "timed_out", "cancelled", "abandoned", "effect_unknown"})


def _highlight(scene: Scene) -> list[Act]:
    return _once(scene, Call("highlight", {"element": phrases.element(scene.text)}))


def _navigate(scene: Scene) -> list[Act]:
    also = [call for call in _lookups(scene) if call.name != "lookup_order"]
    return _once(scene, *also, Call("navigate", phrases.page(scene.text)))


def _open_found(scene: Scene) -> list[Act] | None:
    """`look up order 42 and open it`: a backend and a frontend call in one turn (AL-5)."""
    numbers = phrases.order_ids(scene.text)
    if not numbers:
        return None
    return _once(scene, *_lookups(scene), Call("navigate", {"page": "order", "order_id": numbers[0]}))


def _filter(scene: Scene) -> list[Act]:
    return _once(scene, Call("set_filter", phrases.filter_arguments(scene.text)))


def _chart(scene: Scene) -> list[Act]:
    """Read the figures, then have them drawn; the chart is an end in itself (FT-7)."""
    if scene.found("show_chart"):
        return (
            [tell(scene)] if _failed(scene, "show_chart") else [scene.say("The chart is there.", "차트를 그렸습니다.")]
        )
    stock = re.search(r"stock|inventory|재고", scene.text.casefold()) is not None
    source = Call("check_stock", {"query": ""}) if stock else Call("revenue_by_month", {})
    if not scene.started:
        return [_missing(scene, "show_chart")] if "show_chart" not in scene.tools else [source]
    data = scene.last[0].data
    if _failed(scene, source.name) or data is None:
        return [tell(scene)]
    arguments = _stock_chart(scene, data) if stock else _revenue_chart(scene, data)
    return [scene.say("Here it is.", "여기 있습니다."), Call("show_chart", arguments)]


def _revenue_chart(scene: Scene, data: Any) -> dict[str, Any]:
    return {
        "title": scene.say("Revenue by month", "월별 매출").text,
        "kind": phrases.chart_kind(scene.text),
        "labels": [month["month"] for month in data["months"]],
        "values": [month["revenue_krw"] for month in data["months"]],
        "unit": "KRW",
    }


def _stock_chart(scene: Scene, data: Any) -> dict[str, Any]:
    products = sorted(data["products"], key=lambda product: product["stock"])[:12]
    return {
        "title": scene.say("The lowest stocks", "재고가 적은 품목").text,
        "kind": phrases.chart_kind(scene.text),
        "labels": [product["name_ko" if scene.korean else "name"] for product in products],
        "values": [product["stock"] for product in products],
        "unit": scene.say("pieces", "개").text,
    }


# What costs something.


def _place(scene: Scene) -> list[Act]:
    wanted = phrases.purchase(scene.text)
    if wanted is None:
        return [
            scene.say(
                "Tell me how many of what, for instance: order 3 hand grinders for customer 5.",
                "무엇을 몇 개 주문할지 알려 주세요. 예: 고객 5에게 핸드 그라인더 3개 주문해줘.",
            )
        ]
    return _find_then(scene, wanted, [("place_order", {})])


def _fill(scene: Scene) -> list[Act]:
    wanted = phrases.purchase(scene.text) or {
        "customer_id": phrases.customer_id(scene.text) or 1,
        "sku": phrases.sku(scene.text) or "GRND-01",
        "quantity": 1,
        "note": "",
    }
    calls = [("navigate", {"page": "new_order"}), ("fill_form", {"form": "new_order"})]
    return _find_then(scene, wanted, calls)


def _find_then(scene: Scene, wanted: dict[str, Any], calls: list[tuple[str, dict[str, str]]]) -> list[Act]:
    """Find the article if only its name was said, then make the calls one after the other, as far as they go well.

    The last call gets the purchase beside its own arguments.
    """
    missing = [name for name, _ in calls if name not in scene.tools]
    if missing:
        return [_missing(scene, missing[0])]
    article = wanted["sku"] or _found_sku(scene)
    if article is None:
        return [tell(scene)] if scene.started else [Call("check_stock", {"query": wanted["article"]})]
    order = {"customer_id": wanted["customer_id"], "sku": article, "quantity": wanted["quantity"]}
    note = {"note": wanted["note"]} if wanted["note"] else {}
    last = calls[-1][0]
    for name, arguments in calls:
        if scene.found(name) is None:
            return [Call(name, {**arguments, **order, **note} if name == last else arguments)]
        if _failed(scene, name):
            break
    return [tell(scene)]


def _found_sku(scene: Scene) -> str | None:
    found = scene.found("check_stock")
    products = found.data.get("products") if found and isinstance(found.data, dict) else None
    return products[0]["sku"] if products else None


def _transfer(scene: Scene) -> list[Act]:
    arguments = phrases.transfer(scene.text)
    if arguments is None:
        return [
            scene.say(
                "Tell me the amount and the recipient, for instance: transfer 50,000 won to Harbor Beans.",
                "금액과 받는 사람을 알려 주세요. 예: 하버 빈스에 5만원 송금해줘.",
            )
        ]
    return _once(scene, Call("transfer_funds", arguments))


# What the agent's own tools know.


def _shipping(scene: Scene) -> list[Act]:
    """The first try has the unit in the number; the error text leads to the second (AL-3)."""
    named = phrases.cities(scene.text)
    city, weight = (named[0] if named else "Seoul"), phrases.weight_kg(scene.text) or 5.0
    if not scene.started:
        return _once(scene, Call("shipping_quote", {"city": city, "weight_kg": f"{weight:g} kg"}))
    tries = sum(done.call.name == "shipping_quote" for done in scene.done)
    if _failed(scene, "shipping_quote") and tries == 1:
        words = scene.say(
            "The weight has to be a plain number. I correct that.",
            "무게는 숫자만 써야 하네요. 고쳐서 다시 물어보겠습니다.",
        )
        return [
            words,
            Call("shipping_quote", {"city": city, "weight_kg": int(weight) if weight % 1 == 0 else weight}),
        ]
    return [tell(scene)]


def _report(scene: Scene) -> list[Act]:
    words = scene.say("Two analysts are on it.", "두 분석가에게 맡겼습니다.")
    return _once(scene, words, Call("build_report", {}))


def _reorder(scene: Scene) -> list[Act]:
    """With reasoning shown: before the call and before the answer (RE-1)."""
    if not scene.started:
        thought = scene.say(
            "The user wants to know what to buy. What counts is the stock against the reorder level, so I read what is"
            " at or below it.",
            "무엇을 다시 주문해야 하는지 묻고 있다. 재고와 재주문 기준을 비교해야 하니 기준 이하인 품목을 읽어 본다.",
        )
        return [Think(thought.text), Call("check_stock", {"query": "", "low_only": True})]
    data = scene.last[0].data
    if _failed(scene, "check_stock") or not isinstance(data, dict):
        return [tell(scene)]
    products = data["products"]
    lines = [
        f"- {p['name_ko' if scene.korean else 'name']} ({p['sku']}): {p['stock']} / {p['reorder_at']}" for p in products
    ]
    cost = won(sum((2 * p["reorder_at"] - p["stock"]) * p["price_krw"] for p in products))
    thought = scene.say(
        "Filling each up to twice its reorder level is a simple rule. Let me add up what that costs.",
        "각 품목을 재주문 기준의 두 배까지 채우는 것이 간단한 규칙이다. 비용을 더해 보자.",
    )
    head = scene.say(
        "These are at or below their reorder level (stock / level):",
        "재주문 기준 이하인 품목입니다 (재고 / 기준):",
    )
    tail = scene.say(
        f"Filling them up to twice the level costs {cost} at list price.",
        f"기준의 두 배까지 채우면 정가로 {cost}입니다.",
    )
    return [Think(thought.text), Say("\n".join([head.text, "", *lines, "", tail.text]))]


def _low_stock(scene: Scene) -> list[Act]:
    return _once(scene, Call("check_stock", {"query": "", "low_only": True}))


def _revenue(scene: Scene) -> list[Act]:
    return _once(scene, Call("revenue_by_month", {}))


def _lookups(scene: Scene) -> list[Call]:
    """Every independent question in one sentence, asked at once (AL-4)."""
    text, lowered = scene.text, scene.text.casefold()
    calls = [Call("lookup_order", {"order_id": number}) for number in phrases.order_ids(text)]
    calls += [Call("get_invoice", {"invoice_id": number}) for number in phrases.invoice_ids(text)]
    if re.search(phrases.WEATHER_WORDS, lowered):
        calls += [Call("get_weather", {"city": city}) for city in phrases.cities(text) or ["Seoul", "Busan", "Jeju"]]
    return calls + [Call("check_stock", {"query": query}) for query in phrases.stock_queries(text)]


def _look(scene: Scene) -> list[Act] | None:
    calls = _lookups(scene)
    return _once(scene, *calls) if calls or scene.started else None


def _search(scene: Scene) -> list[Act] | None:
    named, customer = phrases.order_status(scene.text), phrases.customer_words(scene.text)
    arguments = {"status": named} if named else {}
    return _once(scene, Call("search_orders", {**arguments, **({"customer": customer} if customer else {})}))


# What is left.


def _media(scene: Scene) -> list[Act]:
    them = "it is there, and cannot look at it" if len(scene.media) == 1 else "they are there, and cannot look at them"
    return [
        scene.say(
            f"I received {list_parts(scene.media, korean=False)}. I am a scripted model: I see that {them}.",
            f"받은 파일: {list_parts(scene.media, korean=True)}."
            " 저는 대본 모델이라 받은 사실만 알고, 내용은 볼 수 없습니다.",
        )
    ]


_HELP_EN = """I am a **scripted model**: no AI, the same answer each time. I did not understand that. \
This is what you can ask me:

- Where is order 42?
- Stock of grinders
- Weather in Seoul, Busan and Jeju
- Show invoice 42
- Shipping quote to Busan for 5 kg
- Build the report
- What should we reorder?
- Show a chart of revenue
- Capture the chart
- Go to the orders
- Show pending orders
- Highlight the revenue chart
- Fill the form with 5 latte cups for customer 3
- Order 3 hand grinders for customer 5
- Transfer 50,000 won to Harbor Beans for the refund
- Count slowly to 30"""

_HELP_KO = """저는 **대본 모델**입니다. AI가 아니며 늘 같은 답을 합니다. 방금 하신 말씀은 제가 아는 표현이 아닙니다. \
이렇게 물어보실 수 있습니다:

- 주문 42 어디 있어?
- 그라인더 재고
- 서울, 부산, 제주 날씨
- 청구서 42 보여줘
- 부산까지 5kg 배송비
- 보고서 만들어줘
- 무엇을 재주문해야 할까?
- 매출 차트 보여줘
- 차트 캡처해줘
- 주문 페이지로 가줘
- 대기 중인 주문만 보여줘
- 매출 차트 강조해줘
- 주문서에 라떼 컵 5개 채워줘
- 고객 5에게 핸드 그라인더 3개 주문해줘
- 하버 빈스에 5만원 송금해줘
- 30까지 천천히 세줘"""


def _help(scene: Scene) -> list[Act]:
    return [scene.say(_HELP_EN, _HELP_KO)]


_THANKS_EN = "You are welcome. I am a scripted model, but a polite one."
_THANKS_KO = "천만에요. 대본 모델이지만 예의는 있습니다."


def _thanks(scene: Scene) -> list[Act]:
    return [scene.say(_THANKS_EN, _THANKS_KO)]


_LISTS = r"orders|invoices?|products|주문|송장|인보이스|청구서|제품|상품"
_STATUS = (
    r"pending|\bpaid\b|shipped|delivered|cancel?led|overdue|\bopen\b|unpaid|대기|결제|배송|발송|완료|취소|연체|미납"
)

INTENTS = tuple(
    Intent(name, re.compile("|".join(patterns)), do)
    for name, do, *patterns in (
        ("count", _count, r"count\s+(?:slowly\s+)?(?:up\s+)?to\s+\d", r"까지\s*(?:천천히\s*)?세"),
        ("long", _long, r"very long|long answer|long story", r"(?:아주|매우)\s*긴|긴\s*(?:답|글)"),
        ("markdown", _markdown, r"markdown|code example|formatted", r"마크다운|코드 예"),
        (
            "transfer",
            _transfer,
            r"\btransfer\b|\b(?:send|pay|wire)\b.*(?:\bwon\b|krw|₩)",
            r"송금|이체|원.*(?:보내|입금)",
        ),
        (
            "shipping",
            _shipping,
            r"shipping|\bship\b|\bparcel\b|delivery (?:cost|price|quote|fee)",
            r"배송비|배송료|택배",
        ),
        (
            "capture",
            _capture,
            r"(?:captur|screenshot|snapshot|picture).*chart|chart.*(?:captur|screenshot|picture)",
            r"(?:차트|그래프).*(?:캡처|캡쳐|찍|사진)",
        ),
        (
            "highlight",
            _highlight,
            r"highlight|point\s+(?:at|to|out)\b|outline",
            r"강조|하이라이트|가리켜|짚어",
        ),
        ("fill", _fill, r"\bfill\b", r"채워|양식.*작성|주문서.*작성"),
        (
            "reorder",
            _reorder,
            r"\bre-?order\b|what should (?:we|i) (?:buy|order)",
            r"재주문|무엇을 주문해야|뭘 주문해야",
        ),
        (
            "open found",
            _open_found,
            r"(?:look up|check|find|where|status).*\band\b.*\b(?:open|show|go to)\b.*\b(?:it|page)",
            r"(?:조회|확인|찾).*(?:고|서).*(?:열어|이동|페이지)",
        ),
        (
            "place",
            _place,
            r"(?:^|please |you |want to |like to |let's |i'll )(?:order|buy|purchase) \d+\s*"
            r"(?:x\s+|×\s*|units? of |pieces? of )?"
            r"(?!and\b|or\b|is\b|please\b|now\b|to\b|in\b|on\b|from\b|page\b)[a-z]",
            r"place (?:an |the )?order",
            r"(?:개|대|봉지?|박스|세트|장)(?:를|을)?\s*주문|주문 넣어|주문을? (?:하고|해)",
        ),
        ("report", _report, r"\breport\b", r"보고서|리포트"),
        ("chart", _chart, r"\bcharts?\b|\bgraph\b|\bplot\b", r"차트|그래프"),
        (
            "filter",
            _filter,
            r"\bfilters?\b|필터",
            rf"(?:show|only|display|see)\b.*(?:{_STATUS}).*(?:{_LISTS})",
            rf"(?:{_STATUS}).*(?:{_LISTS}).*(?:만|보여|표시)",
        ),
        (
            "navigate",
            _navigate,
            r"\b(?:go|take me|bring me|navigate|switch|move) (?:to|back)\b|\b(?:open|visit)\b|show me the .*page",
            r"(?:페이지|화면).*(?:가|열|이동|보여)|(?:으로|로)\s*(?:가|이동)|열어",
        ),
        (
            "low stock",
            _low_stock,
            r"low (?:on|in) stock|running low|low stock|out of stock",
            r"재고.*(?:부족|모자)|부족한",
        ),
        (
            "look",
            _look,
            phrases.WEATHER_WORDS,
            r"order|stock|inventory|do we (?:still )?have|how many|invoice|\binv\b",
            r"주문|재고|송장|인보이스|청구서",
        ),
        ("search", _search, r"orders|주문"),
        ("revenue", _revenue, r"revenue|sales|매출"),
        ("thanks", _thanks, r"\bthank|고마|감사"),
    )
)
"""The table, in order: the more specific first."""
