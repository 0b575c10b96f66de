"""A report by two subagents that work side by side, their progress shown as an activity (SA-1, SA-3, AC-3)."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ag_ui.core import (
    ActivityDeltaEvent,
    ActivitySnapshotEvent,
    SubagentErrorEvent,
    SubagentFinishedEvent,
    SubagentFinishedSuccessOutcome,
    SubagentStartedEvent,
    TextMessageContentEvent,
    TextMessageEndEvent,
    TextMessageStartEvent,
    ToolCallArgsEvent,
    ToolCallEndEvent,
    ToolCallResultEvent,
    ToolCallStartEvent,
)

from demo_app.agent.pacing import new_id, pause, text_pieces
from demo_app.agent.tools import Arguments, BackendTool, Content, ToolContext, as_json
from demo_app.shop import Shop

_log = logging.getLogger(__name__)

ACTIVITY_TYPE = "report_progress"
_TITLE = ("Sales and stock report 2026", "2026년 매출·재고 보고서")
_CLOSING_STEP = ("Put the report together", "보고서 정리")


class BuildReport(Arguments):
    """Nothing to say."""


@dataclass(frozen=True)
class Analyst:
    """One subagent: its name, what it says it does, the tool it calls, and what it finds."""

    name: str
    description: str
    steps: tuple[str, str]
    tool: str
    tool_arguments: dict[str, Any]
    read: Callable[[Shop], Any]
    find: Callable[[Any], str]
    unreadable: str


def _read_sales(shop: Shop) -> Any:
    months = shop.revenue_by_month()
    return {"months": [{"month": month, "revenue_krw": revenue} for month, revenue in months]}


def _find_sales(data: Any) -> str:
    months = data["months"]
    best = max(months, key=lambda month: month["revenue_krw"])
    total = sum(month["revenue_krw"] for month in months)
    return (
        f"Revenue of the year is {total:,} won. The best month was {best['month']} with"
        f" {best['revenue_krw']:,} won, {best['revenue_krw'] * 100 // max(total, 1)} % of the year."
    )


def _find_sales_ko(data: Any) -> str:
    months = data["months"]
    best = max(months, key=lambda month: month["revenue_krw"])
    total = sum(month["revenue_krw"] for month in months)
    year, month = best["month"].split("-")
    return (
        f"올해 매출은 {total:,}원입니다. 매출이 가장 높은 달은 {year}년 {int(month)}월로 {best['revenue_krw']:,}원,"
        f" 연 매출의 {best['revenue_krw'] * 100 // max(total, 1)}%입니다."
    )


def _read_stock(shop: Shop) -> Any:
    low = [product for product in shop.products() if product.stock <= product.reorder_at]
    return {"count": len(low), "products": [product.model_dump(mode="json") for product in low]}


def _find_stock(data: Any) -> str:
    names = ", ".join(f"{product['name']} ({product['stock']} left)" for product in data["products"])
    if not names:
        return "Nothing is at or below its reorder level."
    return f"{data['count']} articles are at or below their reorder level: {names}."


def _find_stock_ko(data: Any) -> str:
    names = ", ".join(f"{product['name_ko']}({product['stock']}개)" for product in data["products"])
    if not names:
        return "재주문 기준 이하인 품목이 없습니다."
    return f"재주문 기준 이하인 품목은 {data['count']}종입니다: {names}."


_UNREADABLE = "The shop's data could not be read ({error})."
_UNREADABLE_KO = "가게 데이터를 읽지 못했습니다({error})."

ANALYSTS = (
    Analyst(
        "sales analyst",
        "Reads the year's sales and names the best month.",
        ("Read the year's sales", "Find the best month"),
        "revenue_by_month",
        {},
        _read_sales,
        _find_sales,
        _UNREADABLE,
    ),
    Analyst(
        "stock analyst",
        "Reads the stock and names what has to be reordered.",
        ("Read the stock", "Find what runs low"),
        "check_stock",
        {"query": "", "low_only": True},
        _read_stock,
        _find_stock,
        _UNREADABLE,
    ),
)

ANALYSTS_KO = (
    Analyst(
        "매출 분석가",
        "올해 매출을 읽고 매출이 가장 높은 달을 찾습니다.",
        ("올해 매출 읽기", "매출이 가장 높은 달 찾기"),
        "revenue_by_month",
        {},
        _read_sales,
        _find_sales_ko,
        _UNREADABLE_KO,
    ),
    Analyst(
        "재고 분석가",
        "재고를 읽고 다시 주문할 품목을 찾습니다.",
        ("재고 읽기", "부족한 품목 찾기"),
        "check_stock",
        {"query": "", "low_only": True},
        _read_stock,
        _find_stock_ko,
        _UNREADABLE_KO,
    ),
)


def _analysts(context: ToolContext) -> tuple[Analyst, ...]:
    return ANALYSTS_KO if context.korean else ANALYSTS


class _Progress:
    """The activity that everyone watches: the parent's own, changed by patches."""

    def __init__(self, context: ToolContext) -> None:
        self._out = context.out
        self._id = f"activity-{context.call_id}"
        self._title = _TITLE[context.korean]
        labels = [step for analyst in _analysts(context) for step in analyst.steps] + [_CLOSING_STEP[context.korean]]
        self._statuses = dict.fromkeys(labels, "pending")

    async def begin(self) -> None:
        steps = [{"label": label, "status": status} for label, status in self._statuses.items()]
        content = {"title": self._title, "steps": steps, "percent": 0}
        await self._out.send(ActivitySnapshotEvent(message_id=self._id, activity_type=ACTIVITY_TYPE, content=content))

    async def mark(self, label: str, status: str) -> None:
        self._statuses[label] = status
        settled = sum(status in ("done", "failed") for status in self._statuses.values())
        patch = [
            {"op": "replace", "path": f"/steps/{list(self._statuses).index(label)}/status", "value": status},
            {"op": "replace", "path": "/percent", "value": settled * 100 // len(self._statuses)},
        ]
        event = {"messageId": self._id, "activityType": ACTIVITY_TYPE, "patch": patch}
        await self._out.send(ActivityDeltaEvent.model_validate(event))


class _Invocation:
    """One analyst at work, everything it says attributed to it."""

    def __init__(self, analyst: Analyst, context: ToolContext, progress: _Progress) -> None:
        self._analyst, self._context, self._progress = analyst, context, progress
        self._id = new_id("subagent")

    async def run(self) -> str:
        """What was found; a failure ends this invocation and neither the other one nor the run (SA-4)."""
        await self._context.out.send(
            SubagentStartedEvent(
                subagent_run_id=self._id,
                name=self._analyst.name,
                description=self._analyst.description,
                parent_tool_call_id=self._context.call_id,
                parent_message_id=self._context.message_id,
            )
        )
        try:
            finding = await self._work()
        except Exception as error:  # noqa: BLE001  SA-4: any exception is this invocation's; the log keeps it
            _log.exception("The %s failed in call %s", self._analyst.name, self._context.call_id)
            return await self._failed(self._analyst.unreadable.format(error=type(error).__name__))
        await self._context.out.send(
            SubagentFinishedEvent(
                subagent_run_id=self._id,
                result={"finding": finding},
                outcome=SubagentFinishedSuccessOutcome(),
            )
        )
        return finding

    async def _work(self) -> str:
        reading, finding = self._analyst.steps
        await self._progress.mark(reading, "running")
        data = await self._call(await self._say(f"{reading}."))
        await self._progress.mark(reading, "done")
        await self._progress.mark(finding, "running")
        found = self._analyst.find(data)
        await self._say(found)
        await self._progress.mark(finding, "done")
        return found

    async def _failed(self, message: str) -> str:
        await self._context.out.close_owned(self._id)
        for label in self._analyst.steps:
            await self._progress.mark(label, "failed")
        await self._context.out.send(
            SubagentErrorEvent(subagent_run_id=self._id, message=message, code="data_unreadable")
        )
        return message

    async def _say(self, text: str) -> str:
        message_id, out, owner = new_id("msg"), self._context.out, self._id
        await out.send(TextMessageStartEvent(message_id=message_id, role="assistant", subagent_run_id=owner))
        for piece in text_pieces(text):
            await out.send(TextMessageContentEvent(message_id=message_id, delta=piece, subagent_run_id=owner))
            await pause(self._context.pace)
        await out.send(TextMessageEndEvent(message_id=message_id, subagent_run_id=owner))
        return message_id

    async def _call(self, message_id: str) -> Any:
        """Read the data and show it as the call it is; read first, so that no call is left open."""
        data = await asyncio.to_thread(self._analyst.read, self._context.shop)
        call_id, out, owner = new_id("call"), self._context.out, self._id
        await out.send(
            ToolCallStartEvent(
                tool_call_id=call_id,
                tool_call_name=self._analyst.tool,
                parent_message_id=message_id,
                subagent_run_id=owner,
            )
        )
        arguments = as_json(self._analyst.tool_arguments)
        await out.send(ToolCallArgsEvent(tool_call_id=call_id, delta=arguments, subagent_run_id=owner))
        await out.send(ToolCallEndEvent(tool_call_id=call_id, subagent_run_id=owner))
        await out.send(
            ToolCallResultEvent(
                message_id=new_id("msg"),
                tool_call_id=call_id,
                content=as_json(data),
                role="tool",
                subagent_run_id=owner,
            )
        )
        return data


async def _build(arguments: BuildReport, context: ToolContext) -> Content:
    progress = _Progress(context)
    await progress.begin()
    analysts, closing = _analysts(context), _CLOSING_STEP[context.korean]
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_Invocation(analyst, context, progress).run()) for analyst in analysts]
    await progress.mark(closing, "running")
    await pause(context.pace)
    findings = [
        {"analyst": analyst.name, "finding": task.result()} for analyst, task in zip(analysts, tasks, strict=True)
    ]
    await progress.mark(closing, "done")
    return as_json({"title": _TITLE[context.korean], "findings": findings})


BUILD_REPORT = BackendTool(
    "build_report",
    BuildReport,
    "Have two subagents, a sales analyst and a stock analyst, build the report of the year.",
    {},
    _build,
)
