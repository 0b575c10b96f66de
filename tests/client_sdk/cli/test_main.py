"""The frame around the commands: how the process ends, and what colours are for."""

from __future__ import annotations

import io
import os
import runpy
import sys

import pytest

from client_sdk.cli import main
from client_sdk.cli.terminal import Terminal, one_line, printable, wants_colour

from .conftest import Cli


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [
        ({}, True),
        ({"TERM": "xterm"}, True),
        ({"NO_COLOR": ""}, True),
        ({"NO_COLOR": "1"}, False),
        ({"TERM": "dumb"}, False),
    ],
)
def test_colour_is_for_terminals_that_want_it(environment: dict[str, str], wanted: bool) -> None:
    assert wants_colour(Screen(), environment) is wanted
    assert wants_colour(io.StringIO(), environment) is False


def test_reasoning_is_dim_and_labels_are_bold() -> None:
    screen = Screen()
    terminal = Terminal(screen, colour=True)
    terminal.block(("a",), "reasoning", "hm\n", "dim")
    terminal.block(("b",), "assistant", "yes")
    terminal.prompt("sure? ")
    assert screen.getvalue() == (
        "\x1b[2mreasoning: \x1b[0m\x1b[2mhm\n  \x1b[0m\n\x1b[1massistant: \x1b[0myes\n\x1b[1msure? \x1b[0m"
    )


def test_without_colour_no_escape_is_written() -> None:
    screen = io.StringIO()
    terminal = Terminal(screen)
    terminal.block(("a",), "reasoning", "hm", "dim")
    terminal.line("done", "red")
    assert screen.getvalue() == "reasoning: hm\ndone\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\nmore", "plain\ttext\nmore"),
        ("\x1b[1m\x00\x7f\x9b\r", "\\x1b[1m\\x00\\x7f\\x9b\\r"),
        ("\u2028\u202e\u2066", "\\u2028\\u202e\\u2066"),
        ("\ud83d", "\\ud83d"),
        ("👩‍👩‍👧 é e\u0301 שלום", "👩‍👩‍👧 é e\u0301 שלום"),
    ],
)
def test_printable(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_one_line_is_cut_where_it_gets_long() -> None:
    assert one_line("a\nb") == "a\\nb"
    assert one_line("abcdef", 4) == "abc…"
    assert one_line("abcd", 4) == "abcd"


def test_python_dash_m(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["client_sdk", "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("client_sdk", run_name="__main__")
    assert ended.value.code == 0
    assert "run" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("raised", "status", "said"),
    [
        (KeyboardInterrupt(), 4, "error: stopped\n"),
        (OSError(28, "No space left on device"), 2, "error: [Errno 28] No space left on device\n"),
    ],
)
def test_how_a_command_may_end(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, raised: BaseException, status: int, said: str
) -> None:
    def fail(name: str) -> bytes:
        raise raised

    monkeypatch.setattr("client_sdk.cli.replaying.read_bytes", fail)
    ran = cli("replay", "x")
    assert (ran.status, ran.err) == (status, said)


def test_a_reader_that_went_away(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    for_reading, for_writing = os.pipe()
    os.close(for_reading)
    with os.fdopen(for_writing, "w") as broken:
        monkeypatch.setattr(sys, "stdout", broken)
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b": empty\n\n")))
        assert main(["replay", "-", "--quiet"]) == 4
        broken.write("nobody reads this, and nothing fails")
