"""``--tools``, ``--yes``, ``--no-tools``: whose word counts when the agent wants something done."""

from __future__ import annotations

import argparse
import importlib
import operator
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from client_sdk.cli.outcome import UsageError
from client_sdk.cli.prompts import Prompter, ask_consent, ask_interrupt, terminal_reader
from client_sdk.cli.terminal import Terminal
from client_sdk.interrupts import InterruptAnswer, OpenInterrupt
from client_sdk.tools import Approve, ConsentHandler, ConsentRequest, Decline, ToolRegistry

NOBODY_TO_ASK = "no user was asked, because there is no terminal to ask at"
"""Told to the agent whose call was declined for want of a terminal."""


def load_registry(name: str) -> ToolRegistry:
    """The tool registry that ``MODULE:REGISTRY`` names.

    Raises:
        UsageError: there is no such thing, or the module cannot be imported.
    """
    module_name, colon, attribute = name.partition(":")
    if not (module_name and colon and attribute):
        raise UsageError(f"{name!r} is not MODULE:REGISTRY")
    try:
        module = importlib.import_module(module_name)
    except Exception as error:  # whatever a module raises while it is imported
        raise UsageError(f"{module_name} cannot be imported: {type(error).__name__}: {error}") from error
    try:
        registry = operator.attrgetter(attribute)(module)
    except AttributeError as error:
        raise UsageError(f"{module_name} has no {attribute}") from error
    if not isinstance(registry, ToolRegistry):
        raise UsageError(f"{name} is not a ToolRegistry; its type is {type(registry).__name__}")
    return registry


AskInterrupts = Callable[[Sequence[OpenInterrupt]], Awaitable[Mapping[str, InterruptAnswer] | None]]
"""Answers to all of these, or None where they stay open."""


@dataclass(frozen=True, slots=True)
class Deciders:
    """Who decides: None where calls stay pending and interrupts stay open."""

    consent: ConsentHandler | None = None
    interrupts: AskInterrupts | None = None


def deciders(arguments: argparse.Namespace, err: Terminal) -> Deciders:
    """Who decides under `arguments`; questions go to `err`, which is not what other programs read."""
    if arguments.no_tools:
        return Deciders()
    read_line = terminal_reader()
    if read_line is None:
        return Deciders(_approve if arguments.yes else _decline)
    desk = _Desk(Prompter(err, read_line))
    return Deciders(_approve if arguments.yes else desk.consent, desk.interrupts)


def _approve(request: ConsentRequest) -> Approve:
    return Approve()


def _decline(request: ConsentRequest) -> Decline:
    return Decline(NOBODY_TO_ASK)


class _Desk:
    """Somebody at a terminal."""

    def __init__(self, prompter: Prompter) -> None:
        self._prompter = prompter

    async def consent(self, request: ConsentRequest) -> Approve | Decline:
        def problems(arguments: dict[str, Any]) -> list[str]:
            return [str(problem) for problem in request.tool.judge(arguments).problems]

        answer = await ask_consent(self._prompter, request.tool.name, request.arguments, problems)
        return Approve(answer.arguments) if answer.granted else Decline()

    async def interrupts(self, waiting: Sequence[OpenInterrupt]) -> Mapping[str, InterruptAnswer] | None:
        answers: dict[str, InterruptAnswer] = {}
        for interrupt in waiting:
            answer = await ask_interrupt(self._prompter, interrupt, expired=interrupt.expired(datetime.now(UTC)))
            if answer is None:
                return None
            answers[interrupt.id] = answer
        return answers
