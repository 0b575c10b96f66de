"""Questions at the terminal: consent to a call, and a form made from an interrupt's JSON Schema."""

from __future__ import annotations

import asyncio
import json
import locale
import os
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from client_sdk.cli.terminal import Terminal, one_line
from client_sdk.forms import FieldError, FormField, as_text, form_answer, form_fields
from client_sdk.interrupts import Cancel, InterruptAnswer, OpenInterrupt, Resolve
from client_sdk.jsontext import parse_json

ReadLine = Callable[[], str | None]
"""Blocks for one line, without its end; None when no more can come."""


def terminal_reader() -> ReadLine | None:
    """Lines typed at the terminal, or None when there is nobody to type them.

    Somebody must be able to read the question as well: it goes to standard error.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    descriptor = sys.stdin.fileno()
    # Not `sys.stdin.readline`: a thread blocked inside a Python file object at exit is a fatal error.
    return lambda: _read_line(descriptor)


def _read_line(descriptor: int) -> str | None:
    line = b""
    while not line.endswith(b"\n"):
        piece = os.read(descriptor, 4096)
        if not piece:
            break
        line += piece
    if not line:
        return None
    return line.decode(locale.getpreferredencoding(False), "replace").rstrip("\r\n")


def discard_type_ahead() -> None:
    """Forget what was typed before a question was asked: it cannot have been the answer to it."""
    try:
        import termios
    except ImportError:  # no POSIX terminal
        return
    with suppress(termios.error):  # the terminal went away; reading from it will tell
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


class Prompter:
    """Asks one question after the other, without holding up the event loop."""

    def __init__(
        self, terminal: Terminal, read_line: ReadLine, *, discard: Callable[[], None] = discard_type_ahead
    ) -> None:
        """Ask on `terminal`, take answers from `read_line`."""
        self.terminal = terminal
        self.dialogue = asyncio.Lock()
        """Held for the length of one dialogue: parallel calls are asked about one by one."""
        self._read_line = read_line
        self._discard = discard
        self._reading: Future[str | None] | None = None

    async def ask(self, question: str) -> str | None:
        """The line typed in answer to `question`; None when no more can come."""
        if self._reading is None:
            self._discard()
            self._reading = Future()
            threading.Thread(target=self._read_into, args=(self._reading,), daemon=True).start()
        self.terminal.prompt(question)
        # A question that is cancelled leaves its thread reading; the next question takes it over.
        line = await asyncio.shield(asyncio.wrap_future(self._reading))
        self._reading = None
        if line is not None:
            self.terminal.answered()
        return line

    def _read_into(self, future: Future[str | None]) -> None:
        try:
            future.set_result(self._read_line())
        except OSError:  # the terminal went away
            future.set_result(None)

    async def choose(self, question: str, choices: Mapping[str, str]) -> str | None:
        """One of `choices` (word by what may be typed for it), asked for until it is one; None at the end."""
        while True:
            line = await self.ask(question)
            if line is None:
                return None
            choice = choices.get(line.strip().lower())
            if choice is not None:
                return choice


_CONSENT: Final = {"y": "yes", "yes": "yes", "n": "no", "no": "no", "e": "edit", "edit": "edit"}
_ANSWER: Final = {"a": "answer", "answer": "answer", "c": "cancel", "cancel": "cancel"}


@dataclass(frozen=True, slots=True)
class Consent:
    """What the user said to a call.

    Attributes:
        granted: whether it may run.
        arguments: the arguments the user put in the place of the agent's, None when there are none.
    """

    granted: bool
    arguments: dict[str, Any] | None = None


async def ask_consent(
    prompter: Prompter,
    name: str,
    arguments: Mapping[str, Any],
    problems: Callable[[dict[str, Any]], list[str]],
) -> Consent:
    """Show a call with its arguments and ask: yes, no or edit (FT-6). No answer at all is a no.

    Parameters:
        name: the tool's name; arguments: the agent's arguments, parsed and valid.
        problems: what is wrong with edited arguments; they are asked for again until nothing is.
    """
    async with prompter.dialogue:
        shown = json.dumps(arguments, ensure_ascii=False, indent=2)
        prompter.terminal.line(f"the agent wants to run {name} with {shown}", "bold")
        edited: dict[str, Any] | None = None
        while True:
            choice = await prompter.choose("run it? [y]es, [n]o, [e]dit: ", _CONSENT)
            if choice != "edit":
                return Consent(choice == "yes", edited if choice == "yes" else None)
            entered = await _edited(prompter, problems)
            if entered is not None:
                edited = entered
                shown = json.dumps(edited, ensure_ascii=False, indent=2)
                prompter.terminal.line(f"{name} would run with {shown}", "bold")


async def _edited(prompter: Prompter, problems: Callable[[dict[str, Any]], list[str]]) -> dict[str, Any] | None:
    """New arguments as one line of JSON; None when the user leaves it at what was."""
    while True:
        line = await prompter.ask("arguments, as one line of JSON (empty: as they were): ")
        if not line:
            return None
        try:
            value = parse_json(line)
        except ValueError as error:
            prompter.terminal.line(f"not JSON: {error}", "yellow")
            continue
        wrong = problems(value) if isinstance(value, dict) else ["expected a JSON object"]
        if not wrong:
            return value  # type: ignore[no-any-return]
        for problem in wrong:
            prompter.terminal.line(problem, "yellow")


async def ask_interrupt(prompter: Prompter, interrupt: OpenInterrupt, *, expired: bool) -> InterruptAnswer | None:
    """Show what the agent asks and answer it by a form made from its response schema (IR-2).

    Returns:
        The answer; a cancellation where the user wants one or it has expired (IR-3);
        None when the user can say no more.
    """
    async with prompter.dialogue:
        question = interrupt.message or "the agent needs an answer"
        prompter.terminal.line(f"the agent asks ({interrupt.reason}): {question}", "bold")
        if expired:
            prompter.terminal.line(f"it expired at {interrupt.expires}; it can only be cancelled", "yellow")
            return Cancel()
        choice = await prompter.choose("[a]nswer or [c]ancel: ", _ANSWER)
        if choice == "cancel":
            return Cancel()
        return None if choice is None else await _fill_in(prompter, interrupt)


async def _fill_in(prompter: Prompter, interrupt: OpenInterrupt) -> Resolve | None:
    fields = form_fields(interrupt.response_schema)
    while True:
        values = {}
        for field in fields:
            value = await _ask_field(prompter, field)
            if value is _NO_MORE:
                return None
            if value is not _LEFT_OUT:
                values[field.name] = value
        payload = form_answer(fields, values)
        problems = interrupt.problems(payload)
        if not problems:
            return Resolve(payload)
        for problem in problems:
            prompter.terminal.line(f"the answer does not fit {problem}", "yellow")


async def _ask_field(prompter: Prompter, field: FormField) -> Any:
    """One value, asked for until it can be read."""
    if field.description:
        prompter.terminal.line(f"  {one_line(field.description)}", "dim")
    question = f"  {one_line(field.title or 'answer')} ({one_line(_hint(field))}): "
    while True:
        line = await prompter.ask(question)
        if line is None:
            return _NO_MORE
        if not line and field.has_default:
            return field.default
        if not line and not field.required:
            return _LEFT_OUT
        try:
            return field.read(line)
        except FieldError as error:
            prompter.terminal.line(f"  {error if field.choices else _misread(field, line)}", "yellow")


_LEFT_OUT: Final = object()
_NO_MORE: Final = object()


def _hint(field: FormField) -> str:
    """What may be typed into a field."""
    hint = " or ".join(map(as_text, field.choices)) or _HINTS.get(field.kind, "JSON, or else it is text")
    if field.kind == "json" and "string" not in field.types:
        hint = f"JSON {' or '.join(field.types)}"
    if field.has_default:
        return f"{hint}; empty: {as_text(field.default)}"
    return hint if field.required else f"{hint}; empty: left out"


def _misread(field: FormField, line: str) -> str:
    """Why `line` is no value of a field, in the words of its question and not in JSON Schema's."""
    types = [name for name in field.types if not (name == "integer" and "number" in field.types)]
    # Beside other types only JSON's own words are read as a boolean.
    plain = set(types) <= {"boolean", "null"}
    words = [_HINTS["boolean"] if plain and name == "boolean" else _TYPE_WORDS[name] for name in types]
    return f"{field.title or 'this'} takes {' or '.join(words)}, not {line!r}"


_TYPE_WORDS: Final = {
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "string": "text",
    "object": "a JSON object",
    "array": "a JSON list",
    "null": "null",
}

_HINTS: Final = {"boolean": "yes or no", "integer": "a whole number", "number": "a number", "text": "text"}
