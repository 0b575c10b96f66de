"""Asking the user: what is asked, and what may be answered (FT-6)."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from client_sdk.errors import ToolError
from client_sdk.options import MAPPING, TEXT, Wanted, check_options, optional

if TYPE_CHECKING:
    from client_sdk.tools.board import OpenCall
    from client_sdk.tools.registry import ToolDefinition


@dataclass(frozen=True, slots=True)
class ConsentRequest:
    """One call that needs the user's word.

    Attributes:
        call: the call.
        tool: the tool it would run.
        arguments: what it would run with; consent is bound to exactly these.
    """

    call: OpenCall
    tool: ToolDefinition
    arguments: dict[str, Any] = field(hash=False)


_ARGUMENTS: Final[dict[str, Wanted]] = {"arguments": optional(MAPPING)}
_REASON: Final[dict[str, Wanted]] = {"reason": TEXT}


@dataclass(frozen=True, slots=True)
class Approve:
    """Yes.

    Attributes:
        arguments: run with these instead, all of them; the answer then tells the agent so.

    Raises:
        OptionError: ``bad_option`` — `arguments` is no mapping.
    """

    arguments: Mapping[str, Any] | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        check_options("Approve", _ARGUMENTS, {"arguments": self.arguments})


@dataclass(frozen=True, slots=True)
class Decline:
    """No.

    Attributes:
        reason: told to the agent ("" when there is none to tell).

    Raises:
        OptionError: ``bad_option`` — `reason` is no text.
    """

    reason: str = ""

    def __post_init__(self) -> None:
        check_options("Decline", _REASON, {"reason": self.reason})


@dataclass(frozen=True, slots=True)
class Defer:
    """Not now: the call stays open and the thread rests until somebody decides."""


ConsentAnswer = Approve | Decline | Defer
ConsentHandler = Callable[[ConsentRequest], ConsentAnswer | bool | Awaitable[ConsentAnswer | bool]]
"""Asks the user; True approves and False declines. Calls are asked about one at a time, in call order.

A coroutine function may wait for the user; a plain function decides at once, as it holds up the event loop.
"""


async def ask(handler: ConsentHandler, request: ConsentRequest) -> ConsentAnswer:
    """Put `request` to the application's handler.

    Raises:
        ToolError: ``consent_answer`` — the handler returned something that is no answer.
    """
    answer = handler(request)
    if inspect.isawaitable(answer):
        answer = await answer
    if isinstance(answer, bool):
        return Approve() if answer else Decline()
    if isinstance(answer, Approve | Decline | Defer):
        return answer
    raise ToolError(
        f"the consent handler returned {answer!r}; it returns Approve, Decline, Defer or a bool",
        code="consent_answer",
    )
