"""Questions at the terminal: consent and interrupt forms, with a scripted person at the keyboard."""

from __future__ import annotations

import asyncio
import io
import json
import os
import pty
import select
import sys
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import pytest
from ag_ui.core import Interrupt

from client_sdk.cli.prompts import Consent, Prompter, ask_consent, ask_interrupt, discard_type_ahead, terminal_reader
from client_sdk.cli.prompts import _read_line as read_line
from client_sdk.cli.terminal import Terminal
from client_sdk.interrupts import Cancel, OpenInterrupt, Resolve


class Person:
    """Types these lines, one for each question; then nothing more."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.lines = list(lines)
        self.screen = io.StringIO()
        self.discarded = 0
        self.prompter = Prompter(Terminal(self.screen), self.type, discard=self.discard)

    def type(self) -> str | None:
        return self.lines.pop(0) if self.lines else None

    def discard(self) -> None:
        self.discarded += 1

    @property
    def saw(self) -> str:
        return self.screen.getvalue()


def no_problems(arguments: dict[str, Any]) -> list[str]:
    return []


def needs_place(arguments: dict[str, Any]) -> list[str]:
    return [] if "place" in arguments else ["at /: required property place is missing"]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["y"], Consent(True)),
        (["YES "], Consent(True)),
        (["n"], Consent(False)),
        ([], Consent(False)),
        (["", "maybe", "no"], Consent(False)),
        (["e", '{"place": "home"}', "y"], Consent(True, {"place": "home"})),
        (["e", '{"place": "home"}', "n"], Consent(False)),
        (["e", "", "y"], Consent(True)),
        (["e", '{"place": "a"}', "e", "", "y"], Consent(True, {"place": "a"})),
        (["e", '{"place": "a"}', "e", '{"place": "b"}', "y"], Consent(True, {"place": "b"})),
        (["e", "{", '{"place": NaN}', "[]", "{}", '{"place": 1}', "y"], Consent(True, {"place": 1})),
        (["e"], Consent(False)),
        (["e", '{"place": "home"}'], Consent(False)),
    ],
)
async def test_consent(lines: list[str], expected: Consent) -> None:
    person = Person(lines)
    assert await ask_consent(person.prompter, "navigate", {"place": "orders"}, needs_place) == expected
    assert person.lines == []
    assert person.saw.startswith('the agent wants to run navigate with {\n    "place": "orders"\n  }\n')


async def test_an_edit_to_no_arguments_is_an_edit() -> None:
    person = Person(["e", "{}", "y"])
    assert await ask_consent(person.prompter, "f", {"a": 1}, no_problems) == Consent(True, {})


async def test_what_is_wrong_with_an_edit_is_said() -> None:
    person = Person(["e", "{", "5", "{}", '{"place": "x"}', "y"])
    await ask_consent(person.prompter, "navigate", {"place": "orders"}, needs_place)
    assert "not JSON: " in person.saw
    assert "expected a JSON object" in person.saw
    assert "required property place is missing" in person.saw
    assert 'navigate would run with {\n    "place": "x"\n  }\n' in person.saw


async def test_hostile_arguments_are_shown_escaped() -> None:
    person = Person(["n"])
    await ask_consent(person.prompter, "f\x1b[2K\rsafe", {"a\x1b[1A": "\x9b2J\u202e"}, no_problems)
    assert not set(person.saw) & set("\x1b\r\x9b\u202e")
    assert "f\\x1b[2K\\rsafe" in person.saw


async def test_what_was_typed_before_the_question_is_no_answer() -> None:
    person = Person(["what", "y"])
    await ask_consent(person.prompter, "f", {}, no_problems)
    assert person.discarded == 2


async def test_parallel_dialogues_take_turns() -> None:
    person = Person(["e", '{"n": 1}', "y", "n"])
    answers = await asyncio.gather(
        ask_consent(person.prompter, "first", {}, no_problems),
        ask_consent(person.prompter, "second", {}, no_problems),
    )
    assert answers == [Consent(True, {"n": 1}), Consent(False)]
    assert person.saw.index("second") > person.saw.index("first would run")


async def test_a_cancelled_question_leaves_the_next_one_its_line() -> None:
    typed = threading.Event()
    entered = threading.Event()

    def slow() -> str | None:
        entered.set()
        typed.wait(30)
        return "y"

    prompter = Prompter(Terminal(io.StringIO()), slow, discard=lambda: None)
    first = asyncio.ensure_future(prompter.ask("first? "))
    await asyncio.to_thread(entered.wait, 30)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    second = asyncio.ensure_future(prompter.ask("second? "))
    typed.set()
    assert await second == "y"


async def test_a_terminal_that_goes_away_answers_nothing() -> None:
    def gone() -> str | None:
        raise OSError(5, "Input/output error")

    assert await Prompter(Terminal(io.StringIO()), gone, discard=lambda: None).ask("? ") is None


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        (b"one\n", "one"),
        (b"half", "half"),
        ("w\u00f6rld\r\n".encode(), "w\u00f6rld"),
        (b"x" * 5000 + b"\n", "x" * 5000),
        (b"\n", ""),
        (b"", None),
    ],
)
def test_a_line_is_read_whole(typed: bytes, line: str | None) -> None:
    for_reading, for_writing = os.pipe()
    try:
        with os.fdopen(for_writing, "wb") as file:
            file.write(typed)
        assert read_line(for_reading) == line
    finally:
        os.close(for_reading)


APPROVAL = {
    "type": "object",
    "properties": {
        "approved": {"type": "boolean", "description": "May it happen?"},
        "mode": {"enum": ["soft", "hard", 3], "default": "soft"},
        "count": {"type": "integer"},
        "note": {"type": "string"},
        "extra": {"type": ["object", "array"]},
    },
    "required": ["approved", "count"],
}


def interrupt(schema: dict[str, Any] | None, **fields: Any) -> OpenInterrupt:
    return OpenInterrupt(Interrupt(id="i-1", reason="tool_call", response_schema=schema, **fields))


@pytest.mark.parametrize(
    ("schema", "lines", "expected"),
    [
        (APPROVAL, ["a", "yes", "", "4", "", ""], Resolve({"approved": True, "mode": "soft", "count": 4})),
        (
            APPROVAL,
            ["answer", "perhaps", "n", "hard", "four", "4", "hi", "nonsense", '{"k": [1]}'],
            Resolve({"approved": False, "mode": "hard", "count": 4, "note": "hi", "extra": {"k": [1]}}),
        ),
        (APPROVAL, ["what", "c"], Cancel()),
        (APPROVAL, [], None),
        (APPROVAL, ["a", "y"], None),
        ({"type": "string", "minLength": 3}, ["a", "no", "long enough"], Resolve("long enough")),
        ({"type": "boolean"}, ["a", "y"], Resolve(True)),
        (None, ["a", '{"confirmed": true}'], Resolve({"confirmed": True})),
        (None, ["a", "just words"], Resolve("just words")),
    ],
)
async def test_interrupts_are_answered_by_a_form(
    schema: dict[str, Any] | None, lines: list[str], expected: Resolve | Cancel | None
) -> None:
    person = Person(lines)
    assert await ask_interrupt(person.prompter, interrupt(schema), expired=False) == expected
    assert person.lines == []


async def test_a_form_says_what_it_takes() -> None:
    person = Person(["a", "y", "", "4", "", ""])
    await ask_interrupt(person.prompter, interrupt(APPROVAL, message="Delete 7?"), expired=False)
    assert person.saw == (
        "the agent asks (tool_call): Delete 7?\n"
        "[a]nswer or [c]ancel:   May it happen?\n"
        "  approved (yes or no):   mode (soft or hard or 3; empty: soft): "
        "  count (a whole number):   note (text; empty: left out): "
        "  extra (JSON array or object; empty: left out): "
    )


@pytest.mark.parametrize(
    ("schema", "typed", "said"),
    [
        ({"type": "boolean"}, "maybe", "this takes yes or no, not 'maybe'"),
        ({"type": "boolean", "title": "Sure"}, "", "Sure takes yes or no, not ''"),
        ({"type": ["boolean", "null"]}, "maybe", "this takes yes or no or null, not 'maybe'"),
        ({"type": ["boolean", "integer"]}, "yes", "this takes true or false or a whole number, not 'yes'"),
        ({"type": "integer"}, "1.5", "this takes a whole number, not '1.5'"),
        ({"type": ["integer", "number"]}, "a lot", "this takes a number, not 'a lot'"),
        ({"type": ["object", "array"]}, "{", "this takes a JSON list or a JSON object, not '{'"),
        ({"enum": ["a", 1]}, "b", "this is one of a, 1, not 'b'"),
    ],
)
async def test_what_cannot_be_read_is_refused_in_the_words_of_the_question(
    schema: dict[str, Any], typed: str, said: str
) -> None:
    person = Person(["a", typed])
    await ask_interrupt(person.prompter, interrupt(schema), expired=False)
    assert f"  {said}\n" in person.saw


async def test_an_end_of_input_leaves_the_next_line_its_own() -> None:
    person = Person(["a"])
    await ask_interrupt(person.prompter, interrupt({"type": "integer"}), expired=False)
    person.prompter.terminal.line("[interrupted]")
    assert person.saw.endswith("  answer (a whole number): \n[interrupted]\n")


async def test_an_answer_that_does_not_fit_is_asked_for_again() -> None:
    person = Person(["a", "no", "long enough"])
    await ask_interrupt(person.prompter, interrupt({"type": "string", "minLength": 3}), expired=False)
    assert "the answer does not fit at /: expected at least 3 characters" in person.saw


async def test_an_expired_interrupt_is_only_cancelled() -> None:
    person = Person([])
    late = interrupt(APPROVAL, expires_at="2020-01-01T00:00:00Z")
    assert await ask_interrupt(person.prompter, late, expired=True) == Cancel()
    assert "it expired at 2020-01-01 00:00:00+00:00; it can only be cancelled" in person.saw
    assert "the agent needs an answer" in person.saw


async def test_a_hostile_schema_cannot_reach_the_terminal() -> None:
    person = Person(["a", "x"])
    hostile = {"type": "object", "properties": {"\x1b[2J": {"type": "string", "description": "\r\x9b1m"}}}
    await ask_interrupt(person.prompter, interrupt(hostile, message="\x1b[31m"), expired=False)
    assert not set(person.saw) & set("\x1b\r\x9b")


def test_without_a_terminal_there_is_nobody_to_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps("y")))
    assert terminal_reader() is None


class Asked(io.StringIO):
    """A screen that tells when something was written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = asyncio.Event()

    def write(self, text: str) -> int:
        self.asked.set()
        return super().write(text)


@dataclass
class TypingAt:
    """A terminal, and the hands in front of it."""

    controller: int
    terminal: TextIO

    def type(self, text: bytes) -> None:
        os.write(self.controller, text)


@pytest.fixture
def keyboard() -> Iterator[TypingAt]:
    """A terminal with somebody at it."""
    controller, descriptor = pty.openpty()
    with open(descriptor, encoding="utf-8") as terminal:
        yield TypingAt(controller, terminal)
    os.close(controller)


async def test_at_a_terminal_somebody_is_asked_and_typing_ahead_does_not_count(
    keyboard: TypingAt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", keyboard.terminal)
    monkeypatch.setattr("sys.stderr", keyboard.terminal)
    reader = terminal_reader()
    assert reader is not None
    keyboard.type(b"typed ahead\n")
    select.select([keyboard.terminal], [], [], 30)
    screen = Asked()
    answer = asyncio.ensure_future(Prompter(Terminal(screen), reader).ask("sure? "))
    await screen.asked.wait()
    keyboard.type(b"yes\n")
    assert await answer == "yes"


def test_a_terminal_that_went_away_has_nothing_to_discard(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with (tmp_path / "file").open("w") as no_terminal:
        monkeypatch.setattr("sys.stdin", no_terminal)
        discard_type_ahead()


def test_without_posix_terminals_nothing_is_discarded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "termios", None)
    monkeypatch.setattr("sys.stdin", None)
    discard_type_ahead()
