"""Moving money: never without a person's answer, and never twice."""

import asyncio
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from demo_app.agent.tools import Approval, Arguments, BackendTool, Content, ToolContext, as_json


class TransferFunds(Arguments):
    """What to send to whom."""

    to: Annotated[str, Field(min_length=1, max_length=100, description="The recipient")]
    amount_krw: Annotated[int, Field(ge=1, description="Whole won")]
    memo: Annotated[str, Field(max_length=200, description="A line for the statement")] = ""


class TransferAnswer(BaseModel):
    """A person's answer; amount and memo may be changed."""

    model_config = ConfigDict(extra="forbid", strict=True)

    approved: bool
    amount_krw: Annotated[int | None, Field(ge=1)] = None
    memo: Annotated[str | None, Field(max_length=200)] = None


def _prompt(arguments: TransferFunds, korean: bool) -> str:
    if korean:
        return f"{arguments.to} 앞으로 {arguments.amount_krw:,}원을 송금할까요?"
    return f"Transfer {arguments.amount_krw:,} won to {arguments.to}?"


_TITLES = {
    "approved": ("Approve this transfer?", "이 송금을 승인하시겠습니까?"),
    "amount_krw": ("Amount in won", "금액(원)"),
    "memo": ("Memo", "메모"),
}
"""What the answer's fields are called, in English and Korean."""


def _schema(arguments: TransferFunds, korean: bool) -> dict[str, Any]:
    title = {name: titles[korean] for name, titles in _TITLES.items()}
    return {
        "type": "object",
        "properties": {
            "approved": {"type": "boolean", "title": title["approved"]},
            "amount_krw": {
                "type": "integer",
                "title": title["amount_krw"],
                "minimum": 1,
                "default": arguments.amount_krw,
            },
            "memo": {"type": "string", "title": title["memo"], "maxLength": 200, "default": arguments.memo},
        },
        "required": ["approved"],
        "additionalProperties": False,
    }


def _apply(arguments: TransferFunds, answer: TransferAnswer) -> TransferFunds | None:
    if not answer.approved:
        return None
    changes = answer.model_dump(include={"amount_krw", "memo"}, exclude_none=True)
    return arguments.model_copy(update=changes)


async def _transfer(arguments: TransferFunds, context: ToolContext) -> Content:
    row = await asyncio.to_thread(
        context.shop.transfer,
        arguments.to,
        arguments.amount_krw,
        arguments.memo,
        request_key=context.request_key,
    )
    balance = await asyncio.to_thread(context.shop.balance_krw)
    made = row.model_dump(mode="json", exclude={"request_key", "id"})
    return as_json({"transfer_id": row.id, **made, "balance_krw": balance})


TRANSFER_FUNDS = BackendTool(
    "transfer_funds",
    TransferFunds,
    "Transfer money from the shop's account. A person is asked first and may change amount and memo.",
    {"to": "Harbor Beans", "amount_krw": 50000, "memo": "Refund of order 42"},
    _transfer,
    Approval(TransferAnswer, _prompt, _schema, _apply),
)
