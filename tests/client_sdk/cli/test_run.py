"""``run`` against pydantic-ai and against producers that misbehave."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from client_sdk.legacy import read_transcript
from tests.client_sdk.interop_pydantic_ai import Server

from .conftest import SECONDS, Cli, Producer, command, environment, finished, frames, said, started

Produce = Callable[..., Producer]


def test_the_main_job_a_real_agents_answer(shell: Cli, pydantic_ai: Server) -> None:
    ran = shell("run", pydantic_ai.url("test-model"), "-m", "hello")
    assert ran.out == (
        'call get_weather: {"city":"a"}\n'
        "result of get_weather: 4 degrees in a\n"
        'assistant: {"get_weather":"4 degrees in a"}\n'
        "[completed]\n"
    )
    assert (ran.status, ran.err) == (0, "")
    assert pydantic_ai.requests["test-model"][-1]["messages"][0]["content"] == "hello"


@pytest.mark.parametrize(
    ("scenario", "shown"),
    [
        ("text", "assistant: Hello, wörld 👋\n[completed]\n"),
        ("reasoning", "reasoning: let me \nassistant: It is 4.\n[completed]\n"),
        (
            "approval",
            'call delete_record: {"record":7}\npending call delete_record [call_1]: {"record":7}\n'
            'waiting for an answer to int-call_1 (tool_call): Approve delete_record({"record":7})?\n'
            "[interrupted]\n",
        ),
        (
            "state",
            'call count: {}\nresult of count: counted\nstate: {"n": 7}\nassistant: count said counted\n[completed]\n',
        ),
    ],
)
def test_scenarios_read_as_conversations(cli: Cli, pydantic_ai: Server, scenario: str, shown: str) -> None:
    ran = cli("run", pydantic_ai.url(scenario), "-m", "hi")
    assert (ran.out, ran.err, ran.status) == (shown, "", 0)


def test_a_failed_run_keeps_its_words_and_says_why(cli: Cli, pydantic_ai: Server) -> None:
    ran = cli("run", pydantic_ai.url("error-mid"), "-m", "hi")
    assert ran.out == "assistant: a few words\n[failed]\n"
    assert ran.err == "error: the run failed: the model is out\n"
    assert ran.status == 1


def test_text_appears_while_the_run_goes_on(produce: Produce, tmp_path: Path) -> None:
    seen = threading.Event()
    first, second, *rest = said("Hel")
    more = {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m-1", "delta": "lo"}
    producer = produce(*frames(started(), first, second), seen, *frames(more, *rest, finished()))
    with subprocess.Popen(
        command("run", producer.url, "-m", "hi"),
        stdout=subprocess.PIPE,
        cwd=tmp_path,
        env=environment(),
    ) as process:
        assert process.stdout is not None
        assert process.stdout.read(len("assistant: Hel")) == b"assistant: Hel"
        seen.set()
        assert process.stdout.read() == b"lo\n[completed]\n"
        assert process.wait(SECONDS) == 0


def test_what_is_sent(cli: Cli, produce: Produce, tmp_path: Path) -> None:
    producer = produce(*frames(started(threadId="mine"), finished(threadId="mine")))
    (tmp_path / "state.json").write_text('{"n": [1, null]}')
    (tmp_path / "messages.json").write_text('[{"id": "m-0", "role": "assistant", "content": "earlier"}]')
    ran = cli(
        *("run", producer.url, "-m", "now", "--thread", "mine", "--state", "state.json"),
        *("--messages", "messages.json", "--header", "X-Key: a:b", "--header", "X-Other:c"),
    )
    assert (ran.status, ran.err) == (0, "")
    headers, body = producer.requests[0]
    assert (headers["x-key"], headers["x-other"]) == ("a:b", "c")
    assert headers["accept"] == "text/event-stream"
    assert (body["threadId"], body["state"], body["protocolVersion"]) == ("mine", {"n": [1, None]}, "1.0")
    assert [message["content"] for message in body["messages"]] == ["earlier", "now"]


def test_messages_from_standard_input_go_on_without_a_new_one(cli: Cli, produce: Produce) -> None:
    producer = produce(*frames(started(), finished()))
    ran = cli(
        *("run", producer.url, "--messages", "-", "--thread", "t-1"),
        stdin=b'\xef\xbb\xbf[{"id": "m-0", "role": "user", "content": "hi"}]',
    )
    assert ran.status == 0
    assert producer.requests[0][1]["messages"] == [{"id": "m-0", "role": "user", "content": "hi"}]


@pytest.mark.parametrize(
    ("flags", "error"),
    [
        (("--messages", "-", "--state", "-"), "it was read for --messages, so there is nothing left for --state"),
        (("--state", "-", "--messages", "-"), "it was read for --messages, so there is nothing left for --state"),
    ],
)
def test_standard_input_is_read_once(cli: Cli, flags: tuple[str, ...], error: str) -> None:
    ran = cli("run", "http://127.0.0.1:9/", "-m", "hi", *flags, stdin=b"[]")
    assert ran.err == f"error: standard input can be read only once: {error}\n"
    assert (ran.status, ran.out) == (2, "")


ROBOT = {"id": "m-0", "role": "robot", "content": "beep"}
ACTIVITY = {"id": "m-1", "role": "activity", "activityType": "PLAN", "content": {}}


@pytest.mark.parametrize(
    ("messages", "why"),
    [
        ([ROBOT], "m.json holds no message that is sent to an agent, only such of role 'robot'"),
        ([ACTIVITY, ROBOT], "m.json holds no message that is sent to an agent, only such of role 'activity', 'robot'"),
        ([], "m.json holds no messages"),
    ],
)
def test_with_no_message_left_there_is_nothing_to_say(
    cli: Cli, produce: Produce, tmp_path: Path, messages: list[dict[str, Any]], why: str
) -> None:
    producer = produce(*frames(started(), finished()))
    (tmp_path / "m.json").write_text(json.dumps(messages))
    flags = (producer.url, "--messages", "m.json", "--thread", "t-1")
    ran = cli("run", *flags)
    assert (ran.status, ran.out, ran.err) == (2, "", f"error: nothing to say: {why}; give -m TEXT\n")
    assert producer.requests == []
    assert cli("run", *flags, "-m", "hi").status == 0
    assert [message["content"] for message in producer.requests[0][1]["messages"]] == ["hi"]


def test_a_recording_replays_to_the_same_document(shell: Cli, pydantic_ai: Server, tmp_path: Path) -> None:
    live = shell("run", pydantic_ai.url("backend-tool"), "-m", "hi", "--record", "run.sse", "--json").document
    (tmp_path / "input.json").write_text(json.dumps(live["request"]))
    replayed = shell("replay", "run.sse", "--input", "input.json", "--json").document
    assert replayed == live
    assert live["status"] == "completed"
    assert [message["role"] for message in live["messages"]] == ["user", "assistant", "tool", "assistant"]


def test_a_recording_of_a_run_that_never_came_still_replays(cli: Cli, produce: Produce) -> None:
    producer = produce()
    assert cli("run", producer.url, "-m", "hi", "--record", "run.sse").status == 4
    assert cli("replay", "run.sse", "--quiet").out == "truncated\n"


def test_json_is_one_line_with_the_contracts_keys(cli: Cli, pydantic_ai: Server) -> None:
    ran = cli("run", pydantic_ai.url("approval"), "-m", "hi", "--json")
    document = ran.document
    assert list(document) == [
        *("status", "error", "runErrors", "diagnostics", "events", "messages", "state"),
        *("pendingToolCalls", "interrupts", "usage", "request"),
    ]
    assert document["status"] == "interrupted"
    assert document["pendingToolCalls"] == [{"id": "call_1", "name": "delete_record", "arguments": '{"record":7}'}]
    assert document["interrupts"][0]["toolCallId"] == "call_1"
    assert document["request"]["messages"][0]["content"] == "hi"
    assert document["events"][0]["type"] == "RUN_STARTED"
    assert (ran.status, ran.err) == (0, "")


def test_quiet_prints_the_status_alone(cli: Cli, pydantic_ai: Server) -> None:
    ran = cli("run", pydantic_ai.url("error"), "-m", "hi", "--quiet")
    assert (ran.out, ran.status) == ("failed\n", 1)
    assert ran.err == "error: the run failed: the model is out\n"


IMAGE = {"type": "image", "source": {"type": "url", "value": "https://example.org/x", "mimeType": "image/png"}}


def result_with_parts() -> list[bytes]:
    return frames(
        started(),
        {"type": "TOOL_CALL_START", "toolCallId": "c-1", "toolCallName": "look"},
        {"type": "TOOL_CALL_END", "toolCallId": "c-1"},
        {
            "type": "TOOL_CALL_RESULT",
            "messageId": "m-9",
            "toolCallId": "c-1",
            "content": [{"type": "text", "text": "seen"}, IMAGE],
        },
        finished(),
    )


@pytest.mark.parametrize(
    ("content", "error", "shown"),
    [
        ("boom", "boom", "boom [failed]"),
        ("it went boom", "boom", "it went boom [failed]"),
        ("kaboom", "boom", "kaboom [failed: boom]"),
        ("The tool failed: boom", "failed: boom", "The tool failed: boom [failed]"),
        ("a note\nTimed out.", "timed_out: Timed out.", "a note\n  Timed out. [failed: timed_out]"),
        ("partly done", "boom: at 7", "partly done [failed: boom: at 7]"),
        ("partly done", "boom: ", "partly done [failed: boom: ]"),
        ("", "boom", " [failed: boom]"),
    ],
)
def test_an_error_adds_to_a_result_what_its_text_does_not_say(
    cli: Cli, produce: Produce, content: str, error: str, shown: str
) -> None:
    called = {"id": "c-1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    messages = [
        {"id": "m-1", "role": "assistant", "toolCalls": [called]},
        {"id": "m-2", "role": "tool", "toolCallId": "c-1", "content": content, "error": error},
    ]
    snapshot = {"type": "MESSAGES_SNAPSHOT", "messages": messages}
    ran = cli("run", produce(*frames(started(), snapshot, finished())).url, "-m", "hi", "--thread", "t-1")
    assert f"result of look: {shown}\n" in ran.out


def test_parts_of_a_result_are_named_to_people(cli: Cli, produce: Produce) -> None:
    ran = cli("run", produce(*result_with_parts()).url, "-m", "hi", "--thread", "t-1")
    assert "result of look: seen [image (image/png, url source)]\n" in ran.out
    assert ran.err == ""


def test_legacy_prints_a_transcript_and_warns_of_each_loss_once(shell: Cli, produce: Produce) -> None:
    ran = shell("run", produce(*result_with_parts()).url, "-m", "hi", "--thread", "t-1", "--legacy")
    held = read_transcript(ran.out.splitlines()[:-1])["t-1"]
    assert [(message.role, message.body) for message in held] == [
        ("user", "hi"),
        ("assistant", None),
        ("tool", "seen"),
    ]
    assert ran.err == (
        "warning: parts_dropped at /messages/2/content/1:"
        " message 'm-9' lost its image (image/png, url source): the receiver can only hold text\n"
    )
    assert ran.status == 0


def test_legacy_documents_hold_text_and_list_the_losses(cli: Cli, produce: Produce) -> None:
    document = cli(
        "run", produce(*result_with_parts()).url, "-m", "hi", "--thread", "t-1", "--legacy", "--json"
    ).document
    assert document["messages"][1:] == [
        {
            "id": "c-1",
            "role": "assistant",
            "toolCalls": [{"id": "c-1", "type": "function", "function": {"name": "look", "arguments": ""}}],
        },
        {"id": "m-9", "role": "tool", "content": "seen", "toolCallId": "c-1"},
    ]
    assert [(told["code"], told["path"]) for told in document["diagnostics"]] == [
        ("parts_dropped", "/messages/2/content/1")
    ]


def test_an_old_peer_is_sent_strings(cli: Cli, produce: Produce, tmp_path: Path) -> None:
    producer = produce(*frames(started(), finished()))
    content = [{"type": "text", "text": "look"}, IMAGE]
    (tmp_path / "m.json").write_text(json.dumps([{"id": "u", "role": "user", "content": content}]))
    ran = cli("run", producer.url, "--messages", "m.json", "--thread", "t-1", "--peer", "0.0.39")
    assert producer.requests[0][1]["messages"][0]["content"] == "look"
    assert "protocolVersion" not in producer.requests[0][1]
    assert "warning: parts_dropped at /messages/0/content" in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize(
    ("body", "status", "error"),
    [
        (frames(started()), 4, "error: the stream ended before the run did"),
        (frames(started(), *said("x")[1:]), 3, "error: the stream is rejected: not_open: "),
        ([b"data: nonsense\n\n"], 3, "error: the stream is rejected: not_an_event: "),
        ([*frames(started()), b"data: " + b"x" * 11_000_000 + b"\n\n"], 5, "error: "),
    ],
)
def test_streams_that_end_badly(cli: Cli, produce: Produce, body: list[bytes], status: int, error: str) -> None:
    ran = cli("run", produce(*body).url, "-m", "hi", "--thread", "t-1")
    assert ran.status == status
    assert ran.err.startswith(error)
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"status": 503}, "503"),
        ({"status": 302}, "302"),
        ({"content_type": "text/html"}, "text/html"),
    ],
)
def test_answers_that_are_no_stream(cli: Cli, produce: Produce, options: dict[str, Any], error: str) -> None:
    producer = produce(b"<p>busy \x1b[31m</p>", **options)
    ran = cli("run", producer.url, "-m", "hi", "--json")
    assert ran.status == 5
    assert ran.err.startswith("error: ")
    assert error in ran.err
    assert ran.err.count("\n") == 1
    assert "\x1b" not in ran.err
    assert ran.document["status"] == "truncated"


def test_nobody_there(cli: Cli) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        ran = cli("run", f"http://127.0.0.1:{unused.getsockname()[1]}/", "-m", "hi")
    assert ran.status == 5
    assert ran.err.startswith("error: no connection could be made")
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize("url", ["nonsense", "http://[::1", "ftp://127.0.0.1/", "http://127.0.0.1:99999/"])
def test_an_address_that_is_none(cli: Cli, url: str) -> None:
    ran = cli("run", url, "-m", "hi", "--quiet")
    assert (ran.status, ran.out) == (5, "truncated\n")
    assert ran.err.startswith("error: ")
    assert ran.err.count("\n") == 1


def test_silence_beyond_the_timeout(cli: Cli, produce: Produce) -> None:
    release = threading.Event()
    producer = produce(*frames(started()), release)
    try:
        ran = cli("run", producer.url, "-m", "hi", "--thread", "t-1", "--timeout", "0.5")
    finally:
        release.set()
    assert ran.status == 5
    assert "timeout" in ran.err


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((), "the following arguments are required: COMMAND"),
        (("run", "http://x/"), "nothing to say"),
        (("run", "http://x/", "-m", "hi", "--header", "nonsense"), "'nonsense' is not 'NAME: VALUE'"),
        (("run", "http://x/", "-m", "hi", "--header", ": v"), "': v' is not 'NAME: VALUE'"),
        (("run", "http://x/", "-m", "hi", "--timeout", "soon"), "'soon' is not a number of seconds"),
        (("run", "http://x/", "-m", "hi", "--timeout", "-1"), "'-1' is not a number of seconds"),
        (("run", "http://x/", "-m", "hi", "--peer", "newest"), "newest"),
        (("run", "http://x/", "-m", "hi", "--json", "--quiet"), "not allowed with"),
        (("run", "http://x/", "-m", "hi", "--state", "none.json"), "none.json cannot be read: No such file"),
        (("run", "http://x/", "-m", "hi", "--messages", "bad.json"), "bad.json is not JSON: "),
        (("run", "http://x/", "-m", "hi", "--messages", "{}.json"), "{}.json is not a list of messages"),
        (("run", "http://x/", "-m", "hi", "--messages", "odd.json"), "/messages/0"),
        (("run", "http://x/", "-m", "hi", "--record", "no/where.sse"), "no/where.sse cannot be written"),
    ],
)
def test_wrong_use_is_one_line_and_nothing_is_sent(
    cli: Cli, tmp_path: Path, arguments: tuple[str, ...], error: str
) -> None:
    (tmp_path / "bad.json").write_text("{")
    (tmp_path / "{}.json").write_text("{}")
    (tmp_path / "odd.json").write_text('[{"id": 7, "role": "user"}]')
    ran = cli(*arguments)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("error: ")
    assert error in ran.err
    assert ran.err.count("\n") == 1


def test_ctrl_c_closes_the_connection_and_keeps_what_came(pydantic_ai: Server, tmp_path: Path) -> None:
    gone = pydantic_ai.gone["long-text"]
    gone.clear()
    with subprocess.Popen(
        command("run", pydantic_ai.url("long-text"), "-m", "hi"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=environment(),
    ) as process:
        assert process.stdout is not None
        assert process.stdout.read(16) == b"assistant: more "
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 4
    assert out.endswith(b"\n[truncated]\n")
    assert err == b"error: stopped\n"
    assert gone.wait(SECONDS)


def test_a_reader_that_goes_away_ends_the_run_quietly(pydantic_ai: Server, tmp_path: Path) -> None:
    with subprocess.Popen(
        command("run", pydantic_ai.url("long-text"), "-m", "hi"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=environment(),
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read(16) == b"assistant: more "
        process.stdout.close()
        assert process.wait(SECONDS) == 4
        assert process.stderr.read() == b""


def controls(text: str) -> set[str]:
    """The characters in `text` that a terminal might obey, but for the newline."""
    return {c for c in text if ord(c) < 32 or 127 <= ord(c) < 160 or c in "\u2028\u202e\u2066"} - {"\n"}


HOSTILE = "\x1b[2J\x1b]0;owned\x07\r\x9b1m\x7f\u202e\u2066\u2028\nassistant: fake"


def hostile_events() -> list[dict[str, Any]]:
    return [
        started(),
        {"type": "SUBAGENT_STARTED", "subagentRunId": HOSTILE, "name": HOSTILE, "description": HOSTILE},
        {"type": "SUBAGENT_ERROR", "subagentRunId": HOSTILE, "message": HOSTILE},
        {"type": "STEP_STARTED", "stepName": HOSTILE},
        {"type": "STEP_FINISHED", "stepName": HOSTILE},
        *said(HOSTILE, HOSTILE, name=HOSTILE),
        {"type": "TOOL_CALL_START", "toolCallId": HOSTILE, "toolCallName": HOSTILE},
        {"type": "TOOL_CALL_ARGS", "toolCallId": HOSTILE, "delta": HOSTILE},
        {"type": "TOOL_CALL_END", "toolCallId": HOSTILE},
        {"type": "TOOL_CALL_RESULT", "messageId": "m-5", "toolCallId": HOSTILE, "content": HOSTILE},
        {"type": "STATE_SNAPSHOT", "snapshot": {HOSTILE: HOSTILE}},
        {"type": "ACTIVITY_SNAPSHOT", "messageId": "a", "activityType": HOSTILE, "content": {HOSTILE: 1}},
        {"type": "CUSTOM", "name": HOSTILE, "value": HOSTILE},
        {"type": HOSTILE},
        {"type": "RUN_ERROR", "message": HOSTILE, "code": HOSTILE},
    ]


@pytest.mark.parametrize("flags", [(), ("--legacy",), ("--json",), ("--quiet",)])
def test_nothing_an_agent_says_reaches_the_terminal_raw(cli: Cli, produce: Produce, flags: tuple[str, ...]) -> None:
    ran = cli("run", produce(*frames(*hostile_events())).url, "-m", "hi", "--thread", "t-1", *flags)
    assert ran.status == 1
    assert controls(ran.out) == controls(ran.err) == set()
    # What an agent says never stands where our own labels do.
    assert not any(line.startswith("assistant: fake") for line in (ran.out + ran.err).splitlines())


def test_a_rejection_cannot_smuggle_either(shell: Cli, produce: Produce) -> None:
    bad = {"type": "TEXT_MESSAGE_END", "messageId": HOSTILE}
    ran = shell("run", produce(*frames(started(), bad)).url, "-m", "hi", "--thread", "t-1")
    assert (ran.status, controls(ran.err), ran.err.count("\n")) == (3, set(), 1)


def test_a_terminal_without_the_letters_gets_escapes_not_a_traceback(shell: Cli, pydantic_ai: Server) -> None:
    ran = shell("run", pydantic_ai.url("text"), "-m", "hi", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert ran.out == "assistant: Hello, w\\xf6rld \\U0001f44b\n[completed]\n"
    assert ran.status == 0
