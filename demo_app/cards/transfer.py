"""A transfer that was made: to whom, how much, what is left."""

from typing import Any

from demo_app.cards.reading import Lenient, fitting
from demo_app.i18n import krw
from demo_app.state.cards_model import Fact


class _Made(Lenient):
    transfer_id: int
    amount_krw: int
    balance_krw: int
    memo: str = ""
    to: str = ""


def read(arguments: Any, result: Any) -> dict[str, Any] | None:
    """The result of `transfer_funds`."""
    made = fitting(_Made, result)
    if made is None:
        return None
    facts = [
        Fact("transfer", str(made.transfer_id)),
        Fact("to", made.to),
        Fact("amount", krw(made.amount_krw)),
        Fact("memo", made.memo),
        Fact("balance", krw(made.balance_krw)),
    ]
    return {"facts": [fact for fact in facts if fact.value]}
