"""The scripted model: deterministic, no AI, no key, no network; the default, and always labelled as what it is.

It understands these and their variations, in English and Korean, and says what it can do to anything else.
Several lookups in one sentence become parallel calls.

==========================  =============================================  ==========================================
asked for                   phrases                                        what follows
==========================  =============================================  ==========================================
an order                    Where is order 42? · Orders 42 and 7           lookup_order (one call each, parallel)
                            주문 42 어디 있어? · 42번 주문
orders                      How many orders are pending? · Find orders     search_orders
                            from Harbor Beans · 하버 빈스 주문 찾아줘
stock                       Stock of grinders and kettles · How many       check_stock (one call each, parallel)
                            latte cups do we have? · 그라인더 재고
low stock                   What is running low? · 재고 부족한 것          check_stock, low_only
weather                     Weather in Seoul, Busan and Jeju               get_weather (one call each, parallel)
                            서울, 부산, 제주 날씨
a mixture                   Weather in Seoul and stock of grinders         all in one turn, parallel
an invoice                  Show invoice 42 · Invoice for order 42         get_invoice: text, PDF and PNG parts
                            청구서 42 보여줘 · 송장 42 보여줘
a shipping quote            Shipping quote to Busan for 5 kg               shipping_quote with "5 kg", an error, then
                            부산까지 5kg 배송비                            with 5 (AL-3)
a report                    Build the report · 보고서 만들어줘             build_report: two subagents, an activity
what to reorder             What should we reorder? · 무엇을 재주문해야    reasoning, check_stock, reasoning, answer
                            할까?
a transfer                  Transfer 50,000 won to Harbor Beans for the    transfer_funds: the run ends with an
                            refund · 하버 빈스에 5만원 송금해줘 메모 환불  interrupt (approval_required)
revenue                     What is our revenue? · 매출 알려줘             revenue_by_month
a chart                     Show a chart of revenue · a line chart ·       revenue_by_month or check_stock, then
                            chart of the stock · 매출 차트 보여줘          show_chart (terminal)
a picture of the chart      Capture the chart · 차트 캡처해줘              capture_chart; if it is not on the page:
                                                                           navigate, then capture_chart again
a page                      Go to the orders · Open the dashboard ·        navigate; an unknown page is passed on as
                            Open order 42 · 주문 페이지로 가줘             named ("go to the moon")
an order and its page       Look up order 42 and open its page             lookup_order and navigate in one turn:
                            주문 42 조회하고 열어줘                        the first answered, the second pending
pointing                    Highlight the revenue chart · Point at order   highlight; an unknown element is passed on
                            42 · 매출 차트 강조해줘                        as named ("highlight the moon")
a filter                    Show pending orders · Filter products: kettle  set_filter
                            · Show overdue invoices · 대기 중인 주문만
                            보여줘 · Clear the filter
the form                    Fill the form with 5 latte cups for customer   check_stock (unless a SKU is named),
                            3 note fragile · 주문서에 라떼 컵 5개 채워줘   navigate, fill_form (three runs)
an order to place           Order 3 hand grinders for customer 5 · Buy 2   check_stock (unless a SKU is named),
                            GRND-01 · 고객 5에게 핸드 그라인더 3개         place_order
                            주문해줘
formatting                  Show me markdown · 마크다운 보여줘             table, list, code, quotation
slowness                    Count slowly to 30 · 30까지 천천히 세줘        one number at a time, at the slow pace
length                      A very long answer · of 200 paragraphs ·       60 paragraphs, or as many as named (400)
                            아주 긴 답변 100 문단
thanks                      Thank you · 고마워                             a polite word
an attachment               any picture or document without a question     says what arrived: kind, type, size
anything else               Who won the match?                             says that it is scripted and what it can do
==========================  =============================================  ==========================================

To answers it reacts as they are: results and errors are told in plain words, and a decline, a deadline, an unknown
effect, an abandoned call, edited arguments and media parts each get their own sentence.
"""

import re
from collections.abc import AsyncGenerator, Iterable, Sequence
from typing import assert_never

from ag_ui.core import AudioPart, TextPart, TokenUsage, VideoPart

from demo_app.agent.blocks import (
    ModelRequest,
    Part,
    Reasoning,
    ReasoningDelta,
    ReasoningDone,
    Stop,
    StreamItem,
    TextDelta,
    ToolInputDelta,
    ToolResult,
    ToolUse,
    ToolUseStart,
)
from demo_app.agent.models.base import ModelError
from demo_app.agent.models.script.intents import play
from demo_app.agent.models.script.scene import Act, Call, Fail, Say, Think, read_scene
from demo_app.agent.pacing import json_pieces, new_id, pause, text_pieces

TOUR: tuple[tuple[str, str], ...] = (
    ("Where is order 42?", "주문 42 어디 있어?"),
    ("Weather in Seoul, Busan and Jeju, and stock of grinders", "서울, 부산, 제주 날씨와 그라인더 재고"),
    ("Show invoice 42", "청구서 42 보여줘"),
    ("Shipping quote to Busan for 5 kg", "부산까지 5kg 배송비"),
    ("What should we reorder?", "무엇을 재주문해야 할까?"),
    ("Build the report", "보고서 만들어줘"),
    ("Highlight the revenue chart", "매출 차트 강조해줘"),
    ("Capture the chart", "차트 캡처해줘"),
    ("Show pending orders", "대기 중인 주문만 보여줘"),
    ("Show a chart of revenue", "매출 차트 보여줘"),
    ("Order 3 hand grinders for customer 5", "고객 5에게 핸드 그라인더 3개 주문해줘"),
    ("Transfer 50,000 won to Harbor Beans for the refund", "하버 빈스에 5만원 송금해줘 메모: 환불"),
)
"""The tour's questions in both languages, in a good order: what a chat can suggest."""

_WORD = re.compile(r"\w+|[^\w\s]")


class ScriptedModel:
    """See the module's table.

    Parameters: `delay_seconds`, the pause between two pieces of text; `slow_seconds`, that of the slow answers.
    Usage counts words and signs, since a script has no tokens.
    """

    provider = "scripted"
    name = "scripted-tour-1"
    label = "Scripted model (no AI): understands the tour's questions, always answers alike"
    scripted = True

    def __init__(self, *, delay_seconds: float = 0.02, slow_seconds: float = 0.4) -> None:
        self._delay = delay_seconds
        self._slow = slow_seconds

    def accepts(self, part: Part) -> bool:
        """Pictures and documents are confirmed as received; sound and film are not for it (AL-6)."""
        return not isinstance(part, AudioPart | VideoPart)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamItem, None]:
        """One turn of the script."""
        async for item in self.perform(request, play(read_scene(request))):
            yield item

    async def perform(self, request: ModelRequest, acts: Sequence[Act]) -> AsyncGenerator[StreamItem, None]:
        """Stream these acts as a turn. Raises `ModelError` where an act says so."""
        for act in acts:
            async for item in self._act(act):
                yield item
        reason = "tool_use" if any(isinstance(act, Call) for act in acts) else "end_turn"
        yield Stop("tool_use" if reason == "tool_use" else "end_turn", self._usage(request, acts))

    async def _act(self, act: Act) -> AsyncGenerator[StreamItem, None]:
        match act:
            case Say():
                for piece in text_pieces(act.text):
                    yield TextDelta(piece)
                    await pause(self._slow if act.slow else self._delay)
            case Think():
                for piece in text_pieces(act.text):
                    yield ReasoningDelta(piece)
                    await pause(self._delay)
                yield ReasoningDone(Reasoning(act.text))
            case Call():
                yield ToolUseStart(new_id("call"), act.name)
                for piece in json_pieces(act.json):
                    yield ToolInputDelta(piece)
                    await pause(self._delay)
            case Fail():
                raise ModelError(act.code, act.message)
            case _:
                assert_never(act)

    def _usage(self, request: ModelRequest, acts: Iterable[Act]) -> TokenUsage:
        read = sum(_count(_text_of(block)) for message in request.messages for block in message.blocks)
        thought = sum(_count(act.text) for act in acts if isinstance(act, Think))
        said = sum(
            _count(act.text if isinstance(act, Say) else act.json) for act in acts if isinstance(act, Say | Call)
        )
        return TokenUsage(
            provider=self.provider,
            model=self.name,
            input_tokens=read,
            output_tokens=said + thought,
            reasoning_tokens=thought,
            total_tokens=read + said + thought,
        )


def _text_of(block: object) -> str:
    match block:
        case TextPart() | ToolResult():
            return block.text
        case ToolUse():
            return block.input_json
        case _:
            return ""


def _count(text: str) -> int:
    return len(_WORD.findall(text))
