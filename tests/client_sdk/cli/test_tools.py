"""``run --tools``: frontend tools, consent and interrupts from the terminal, with pydantic-ai at the other end."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from client_sdk.cli.tooling import NOBODY_TO_ASK
from tests.client_sdk.interop_pydantic_ai import Server

from .conftest import SECONDS, Cli, command, environment

DESK = "tests.client_sdk.cli.desk:registry"


def answers(server: Server, scenario: str, exchange: int = -1) -> list[dict[str, Any]]:
    """The tool messages that an input to `scenario` carried."""
    return [m for m in server.requests[scenario][exchange]["messages"] if m["role"] == "tool"]


def test_with_yes_the_tool_runs_and_the_conversation_goes_on(cli: Cli, pydantic_ai: Server) -> None:
    before = len(pydantic_ai.requests.get("frontend-tool", []))
    ran = cli("run", pydantic_ai.url("frontend-tool"), "-m", "go", "--tools", DESK, "--yes")
    assert ran.err == ""
    lines = ran.out.splitlines()
    assert lines[:5] == [
        "assistant: One moment. ",
        'call navigate: {"place":"orders"}',
        "approved navigate",
        "running navigate",
        "result of navigate: now at orders",
    ]
    assert lines[5].startswith("-- next run ")
    assert lines[6:] == ["assistant: navigate said now at orders", "[completed]"]
    assert len(pydantic_ai.requests["frontend-tool"]) == before + 2
    assert [m["content"] for m in answers(pydantic_ai, "frontend-tool")] == ["now at orders"]
    offered = pydantic_ai.requests["frontend-tool"][-1]["tools"]
    assert [tool["name"] for tool in offered] == ["navigate", "paint", "screenshot"]


def test_without_a_terminal_what_needs_consent_is_declined(cli: Cli, pydantic_ai: Server) -> None:
    ran = cli("run", pydantic_ai.url("two-frontend"), "-m", "go", "--tools", DESK)
    assert ran.status == 0
    declined, painted = answers(pydantic_ai, "two-frontend")
    assert declined["content"].endswith(f"Reason given: {NOBODY_TO_ASK}")
    assert NOBODY_TO_ASK.startswith("no user was asked")
    assert painted["content"] == '{"painted":"red"}'
    assert "declined navigate\n" in ran.out
    assert "running navigate" not in ran.out
    assert ran.out.endswith("[completed]\n")


def test_what_a_failed_call_was_told_is_shown_once(cli: Cli, pydantic_ai: Server) -> None:
    ran = cli("run", pydantic_ai.url("frontend-tool"), "-m", "go", "--tools", DESK)
    (line,) = [line for line in ran.out.splitlines() if line.startswith("result of navigate: ")]
    (message,) = answers(pydantic_ai, "frontend-tool")
    assert line == f"result of navigate: {message['content']} [failed: declined]"
    wrong = cli("run", pydantic_ai.url("bad-arguments"), "-m", "go", "--tools", DESK, "--yes").out
    assert wrong.count("expected string, found integer 5") == 1
    assert "[failed: arguments_invalid]\n" in wrong


def test_no_tools_runs_nothing_and_lists_what_is_open(cli: Cli, pydantic_ai: Server) -> None:
    before = len(pydantic_ai.requests.get("two-frontend", []))
    ran = cli("run", pydantic_ai.url("two-frontend"), "-m", "go", "--tools", DESK, "--no-tools")
    assert len(pydantic_ai.requests["two-frontend"]) == before + 1
    assert ran.out.splitlines()[2:] == [
        'pending call navigate [call_1]: {"place":"orders"}',
        'pending call paint [call_2]: {"colour":"red"}',
        "[completed]",
    ]


def test_arguments_that_miss_the_schema_are_mended_by_a_second_try(cli: Cli, pydantic_ai: Server) -> None:
    ran = cli("run", pydantic_ai.url("bad-arguments"), "-m", "go", "--tools", DESK, "--yes")
    wrong, right = answers(pydantic_ai, "bad-arguments")
    assert "/place" in wrong["content"]
    assert wrong["error"]
    assert right["content"] == "now at orders"
    assert ran.out.count("running navigate") == 1
    assert ran.out.endswith("assistant: navigate said now at orders\n[completed]\n")


def test_a_picture_arrives_as_a_picture(cli: Cli, pydantic_ai: Server) -> None:
    ran = cli("run", pydantic_ai.url("screenshot"), "-m", "go", "--tools", DESK)
    assert answers(pydantic_ai, "screenshot")[0]["content"][0]["type"] == "image"
    assert "result of screenshot:  [image (image/png, data source)]\n" in ran.out
    assert "image/png" in ran.out.splitlines()[-2]


def test_the_document_holds_every_run_of_the_round_trip(cli: Cli, pydantic_ai: Server) -> None:
    document = cli("run", pydantic_ai.url("parallel"), "-m", "go", "--tools", DESK, "--yes", "--json").document
    assert document["status"] == "completed"
    kinds = [event["type"] for event in document["events"]]
    assert kinds.count("RUN_STARTED") == kinds.count("RUN_FINISHED") == 2
    assert [m["role"] for m in document["messages"]] == ["user", "assistant", "tool", "tool", "assistant"]
    assert document["pendingToolCalls"] == []


def test_a_recorded_round_trip_replays_without_running_anything(cli: Cli, pydantic_ai: Server, tmp_path: Path) -> None:
    flags = ("-m", "go", "--tools", DESK, "--yes", "--thread", "t-1", "--record", "run.sse")
    assert cli("run", pydantic_ai.url("frontend-tool"), *flags).status == 0
    before = len(pydantic_ai.requests["frontend-tool"])
    document = cli("replay", "run.sse", "--json").document
    assert len(pydantic_ai.requests["frontend-tool"]) == before
    assert document["status"] == "completed"
    assert [event["type"] for event in document["events"]].count("RUN_FINISHED") == 2
    assert document["request"]["threadId"] == "t-1"
    assert [m["role"] for m in document["messages"]] == ["assistant", "assistant"]


@pytest.mark.parametrize(
    ("tools", "error"),
    [
        ("desk", "'desk' is not MODULE:REGISTRY"),
        (":registry", "':registry' is not MODULE:REGISTRY"),
        ("no.such.module:registry", "no.such.module cannot be imported: ModuleNotFoundError: "),
        ("broken:registry", "broken cannot be imported: RuntimeError: not today"),
        ("tests.client_sdk.cli.desk:nothing", "tests.client_sdk.cli.desk has no nothing"),
        (
            "tests.client_sdk.cli.desk:not_a_registry",
            "tests.client_sdk.cli.desk:not_a_registry is not a ToolRegistry; its type is str\n",
        ),
    ],
)
def test_a_registry_that_cannot_be_had_is_wrong_use(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tools: str, error: str
) -> None:
    (tmp_path / "broken.py").write_text('raise RuntimeError("not today")')
    monkeypatch.syspath_prepend(tmp_path)
    ran = cli("run", "http://127.0.0.1:9/", "-m", "go", "--tools", tools)
    assert ran.status == 2
    assert ran.err.startswith(f"error: {error}")
    assert ran.err.count("\n") == 1


class Person:
    """Somebody at a terminal in front of the command line: reads until a question, then types."""

    def __init__(self, process: subprocess.Popen[bytes], controller: int) -> None:
        self.process = process
        self.screen = ""
        self._controller = controller
        self._read = 0

    def sees(self, text: str) -> None:
        """Wait until `text` has appeared after what was seen before."""
        while text not in self.screen[self._read :]:
            assert self._more(), f"{text!r} never appeared in:\n{self.screen}"
        self._read = self.screen.index(text, self._read) + len(text)

    def types(self, line: str) -> None:
        os.write(self._controller, line.encode() + b"\n")

    def answers(self, question: str, line: str) -> None:
        self.sees(question)
        self.types(line)

    def leaves(self) -> int:
        """Wait for the end; the exit status."""
        while self._more():
            pass
        return self.process.wait(SECONDS)

    def _more(self) -> bool:
        ready, _, _ = select.select([self._controller], [], [], SECONDS)
        assert ready, f"nothing more appeared after:\n{self.screen}"
        try:
            piece = os.read(self._controller, 65536)
        except OSError:  # the last process at the terminal has gone
            return False
        self.screen += piece.decode().replace("\r\n", "\n")
        return bool(piece)


@contextmanager
def at_the_terminal(folder: Path, *arguments: str, **changes: str) -> Iterator[Person]:
    """The command line on a terminal of its own."""
    controller, terminal = pty.openpty()
    settings = termios.tcgetattr(terminal)
    settings[3] &= ~termios.ECHO
    termios.tcsetattr(terminal, termios.TCSANOW, settings)
    process = subprocess.Popen(
        command("run", *arguments),
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        cwd=folder,
        env=environment(**{"NO_COLOR": "1", "TERM": "xterm", **changes}),
        start_new_session=True,
    )
    os.close(terminal)
    try:
        yield Person(process, controller)
    finally:
        process.kill()
        process.wait(SECONDS)
        os.close(controller)


@pytest.fixture
def frontend(pydantic_ai: Server) -> tuple[str, ...]:
    return (pydantic_ai.url("frontend-tool"), "-m", "go", "--tools", DESK)


def test_a_person_says_yes(frontend: tuple[str, ...], pydantic_ai: Server, tmp_path: Path) -> None:
    with at_the_terminal(tmp_path, *frontend) as person:
        person.sees('the agent wants to run navigate with {\n    "place": "orders"\n  }\n')
        person.answers("run it? [y]es, [n]o, [e]dit: ", "y")
        assert person.leaves() == 0
    assert "assistant: navigate said now at orders\n[completed]\n" in person.screen


def test_a_question_starts_on_a_line_of_its_own(frontend: tuple[str, ...], tmp_path: Path) -> None:
    with at_the_terminal(tmp_path, *frontend) as person:
        person.sees('call navigate: {"place":"orders"}\nthe agent wants to run navigate with {\n')
        person.answers("[e]dit: ", "n")
        assert person.leaves() == 0


def test_with_tools_an_interrupts_question_starts_on_a_line_of_its_own(pydantic_ai: Server, tmp_path: Path) -> None:
    with at_the_terminal(tmp_path, pydantic_ai.url("approval"), "-m", "go", "--tools", DESK) as person:
        person.sees('call delete_record: {"record":7}\nthe agent asks (tool_call): ')
        person.answers("[c]ancel: ", "c")
        assert person.leaves() == 0


def test_a_person_says_no(frontend: tuple[str, ...], pydantic_ai: Server, tmp_path: Path) -> None:
    with at_the_terminal(tmp_path, *frontend) as person:
        person.answers("[e]dit: ", "n")
        assert person.leaves() == 0
    assert "running navigate" not in person.screen
    assert "declined" in answers(pydantic_ai, "frontend-tool")[0]["error"]


def test_a_person_changes_the_arguments(frontend: tuple[str, ...], pydantic_ai: Server, tmp_path: Path) -> None:
    with at_the_terminal(tmp_path, *frontend) as person:
        person.answers("[e]dit: ", "e")
        person.answers("(empty: as they were): ", '{"place": 7}')
        person.answers("(empty: as they were): ", '{"place": "home"}')
        person.answers("[e]dit: ", "y")
        assert person.leaves() == 0
    assert "at /place: expected string" in person.screen
    assert 'approved navigate with {"place": "home"}' in person.screen
    said = answers(pydantic_ai, "frontend-tool")[0]["content"]
    assert "now at home" in said
    assert '"place"' in said


def test_an_end_of_input_is_a_no(frontend: tuple[str, ...], pydantic_ai: Server, tmp_path: Path) -> None:
    with at_the_terminal(tmp_path, *frontend) as person:
        person.sees("[e]dit: ")
        os.write(person._controller, b"\x04")
        assert person.leaves() == 0
    assert "[e]dit: \ndeclined navigate\n" in person.screen
    assert "running navigate" not in person.screen


def test_ctrl_c_at_the_question_runs_nothing(frontend: tuple[str, ...], pydantic_ai: Server, tmp_path: Path) -> None:
    before = len(pydantic_ai.requests.get("frontend-tool", []))
    with at_the_terminal(tmp_path, *frontend) as person:
        person.sees("[e]dit: ")
        person.process.send_signal(signal.SIGINT)
        assert person.leaves() == 4
    # The terminal shows ^C behind the question.
    assert (
        '[e]dit: \npending call navigate [call_1]: {"place":"orders"}\n[completed]\nerror: stopped\n' in person.screen
    )
    assert "running navigate" not in person.screen
    assert len(pydantic_ai.requests["frontend-tool"]) == before + 1


@pytest.mark.parametrize(
    ("flag", "shown"), [("--json", '{"status":"completed"'), ("--quiet", "completed\n"), ("--legacy", "=== thread ")]
)
def test_after_ctrl_c_at_a_question_whatever_is_printed_has_its_own_line(
    frontend: tuple[str, ...], tmp_path: Path, flag: str, shown: str
) -> None:
    with at_the_terminal(tmp_path, *frontend, flag) as person:
        person.sees("[e]dit: ")
        person.process.send_signal(signal.SIGINT)
        assert person.leaves() == 4
    assert f"[e]dit: \n{shown}" in person.screen


def test_an_interrupt_is_answered_by_a_form(pydantic_ai: Server, tmp_path: Path) -> None:
    with at_the_terminal(tmp_path, pydantic_ai.url("approval"), "-m", "go") as person:
        person.sees('the agent asks (tool_call): Approve delete_record({"record":7})?')
        person.answers("[a]nswer or [c]ancel: ", "a")
        person.answers("approved (yes or no): ", "yes")
        person.answers("editedArgs (JSON object; empty: left out): ", "")
        person.answers("reason (text; empty: left out): ", "")
        assert person.leaves() == 0
    assert "assistant: delete_record said deleted 7\n[completed]\n" in person.screen
    assert pydantic_ai.requests["approval"][-1]["resume"] == [
        {"interruptId": "int-call_1", "status": "resolved", "payload": {"approved": True}}
    ]


def test_an_interrupt_is_cancelled(pydantic_ai: Server, tmp_path: Path) -> None:
    with at_the_terminal(tmp_path, pydantic_ai.url("approval"), "-m", "go") as person:
        person.answers("[a]nswer or [c]ancel: ", "c")
        assert person.leaves() == 0
    assert pydantic_ai.requests["approval"][-1]["resume"][0]["status"] == "cancelled"


def test_after_ctrl_c_at_a_form_what_is_open_is_listed_on_lines_of_its_own(pydantic_ai: Server, tmp_path: Path) -> None:
    with at_the_terminal(tmp_path, pydantic_ai.url("approval"), "-m", "go") as person:
        person.sees("[a]nswer or [c]ancel: ")
        person.process.send_signal(signal.SIGINT)
        assert person.leaves() == 4
    assert "[c]ancel: \npending call delete_record [call_1]: " in person.screen


def test_several_interrupts_and_a_resume_that_ends_in_another(pydantic_ai: Server, tmp_path: Path) -> None:
    def approve(person: Person) -> None:
        for question, line in (("[c]ancel: ", "a"), ("approved (", "yes"), ("editedArgs (", ""), ("reason (", "")):
            person.answers(question, line)

    with at_the_terminal(tmp_path, pydantic_ai.url("two-approvals"), "-m", "go") as person:
        approve(person)
        approve(person)
        assert person.leaves() == 0
    assert "delete_record said deleted 7; delete_record said deleted 8\n[completed]\n" in person.screen
    with at_the_terminal(tmp_path, pydantic_ai.url("approval-again"), "-m", "go") as person:
        approve(person)
        approve(person)
        assert person.leaves() == 0
    assert person.screen.endswith("assistant: delete_record said deleted 8\n[completed]\n")


def test_with_no_tools_nobody_is_asked(pydantic_ai: Server, tmp_path: Path) -> None:
    with at_the_terminal(tmp_path, pydantic_ai.url("approval"), "-m", "go", "--no-tools") as person:
        assert person.leaves() == 0
    assert person.screen.endswith(
        'waiting for an answer to int-call_1 (tool_call): Approve delete_record({"record":7})?\n[interrupted]\n'
    )


def test_on_a_terminal_reasoning_is_dim_unless_colour_is_unwanted(pydantic_ai: Server, tmp_path: Path) -> None:
    with at_the_terminal(tmp_path, pydantic_ai.url("reasoning"), "-m", "go") as person:
        assert person.leaves() == 0
    assert "\x1b" not in person.screen
    with at_the_terminal(tmp_path, pydantic_ai.url("reasoning"), "-m", "go", NO_COLOR="") as person:
        assert person.leaves() == 0
    assert "\x1b[2mreasoning: \x1b[0m\x1b[2mlet me \x1b[0m\n" in person.screen
