"""The frame around the commands: how the process ends, and what colours are for."""

from __future__ import annotations

import io
import os
import runpy
import sys
import tomllib
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from client_sdk.cli import main
from client_sdk.cli import version as version_module
from client_sdk.cli.files import Files
from client_sdk.cli.terminal import Terminal, one_line, printable, wants_colour

from .conftest import ROOT, Cli


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


def side_by_side() -> tuple[io.StringIO, Terminal, Terminal]:
    """Standard output and standard error on one screen."""
    screen = io.StringIO()
    out = Terminal(screen)
    return screen, out, Terminal(screen, beside=out)


def test_a_line_on_one_stream_ends_what_is_open_on_the_other() -> None:
    screen, out, err = side_by_side()
    out.block(("a",), "assistant", "wait")
    err.line("warning: x")
    out.block(("a",), "assistant", " for it")
    err.prompt("sure? ")
    err.answered()
    out.block(("b",), "reasoning", "hm")
    out.line("done")
    assert screen.getvalue() == (
        "assistant: wait\nwarning: x\nassistant (continued):  for it\nsure? reasoning: hm\ndone\n"
    )


def test_a_question_left_without_an_answer_keeps_its_line_to_itself() -> None:
    screen, out, err = side_by_side()
    err.prompt("sure? ")
    out.line("pending")
    err.prompt("really? ")
    err.prompt("and now? ")
    out.block(("a",), "assistant", "no")
    err.answered()
    out.close()
    assert screen.getvalue() == "sure? \npending\nreally? \nand now? \nassistant: no\n"


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


@pytest.fixture
def not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package lies in a checkout and was never installed."""

    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(version_module, "installed_version", missing)


def test_the_version_of_an_installed_package(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    versions = {"ag-ui-consumer": "7.8.9"}
    monkeypatch.setattr(version_module, "installed_version", versions.__getitem__)
    ran = cli("--version")
    assert (ran.status, ran.out, ran.err) == (0, "ag-ui-consumer 7.8.9\n", "")


def test_the_version_of_a_checkout(cli: Cli, not_installed: None) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert cli("--version").out == f"ag-ui-consumer {project['version']}\n"


@pytest.mark.parametrize(
    "content",
    [
        None,
        "not TOML",
        "[tool.x]",
        '[project]\nname = "another"\nversion = "1"',
        '[project]\nname = "ag-ui-consumer"\ndynamic = ["version"]',
    ],
)
def test_a_version_nobody_knows(
    cli: Cli, not_installed: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str | None
) -> None:
    if content is not None:
        (tmp_path / "pyproject.toml").write_text(content)
    monkeypatch.setattr(version_module, "_PROJECT", tmp_path / "pyproject.toml")
    ran = cli("--version")
    assert (ran.status, ran.out) == (0, "ag-ui-consumer unknown\n")


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
    def fail(files: Files, name: str, option: str) -> bytes:
        raise raised

    monkeypatch.setattr(Files, "read_bytes", fail)
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
