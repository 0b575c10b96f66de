"""``replay``: recorded streams judged, in every form they are kept in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from client_sdk.legacy import read_transcript

from .conftest import Cli, finished, frames, said, started

EVENTS = [started(), *said("hello"), finished()]
FAILED = [started(), {"type": "RUN_ERROR", "message": "out of order", "code": "E1"}]
FORMS = {
    "sse": b"".join(frames(*EVENTS)),
    "crlf": b"".join(frames(*EVENTS)).replace(b"\n", b"\r\n"),
    "lines": "\n".join(map(json.dumps, EVENTS)).encode(),
    "list": json.dumps(EVENTS).encode(),
    "fixture": json.dumps({"name": "x", "stream": EVENTS}, indent=1).encode(),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("source", ["file", "-"])
def test_every_form_of_source_reads_alike(cli: Cli, tmp_path: Path, form: str, source: str) -> None:
    (tmp_path / "file").write_bytes(FORMS[form])
    ran = cli("replay", source, stdin=FORMS[form])
    assert (ran.out, ran.err, ran.status) == ("assistant: hello\n[completed]\n", "", 0)


def test_the_document_is_the_contract(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps(EVENTS))
    document = cli("replay", "run.json", "--json").document
    request = document.pop("request")
    assert document == {
        "status": "completed",
        "error": None,
        "runErrors": [],
        "diagnostics": [],
        "events": EVENTS,
        "messages": [{"id": "m-1", "role": "assistant", "content": "hello"}],
        "state": {},
        "pendingToolCalls": [],
        "interrupts": [],
        "usage": [],
    }
    assert (request["threadId"], request["runId"]) == ("t-1", "r-1")


def outcome(name: str, tmp_path: Path) -> str:
    streams: dict[str, list[Any]] = {
        "fine": EVENTS,
        "cancelled": [started(), finished(outcome={"type": "cancelled"})],
        "failed": FAILED,
        "rejected": [started(), started()],
        "truncated": EVENTS[:-1],
        "warned": [started(), {"type": "FUTURE"}, finished()],
    }
    (tmp_path / name).write_text(json.dumps(streams[name]))
    return name


@pytest.mark.parametrize(
    ("name", "status", "exit_status", "error"),
    [
        ("fine", "completed", 0, ""),
        ("cancelled", "cancelled", 0, ""),
        ("failed", "failed", 1, "error: failed: the run failed: out of order (E1)\n"),
        ("truncated", "truncated", 4, "error: truncated: the stream ended before the run did\n"),
    ],
)
def test_outcomes(cli: Cli, tmp_path: Path, name: str, status: str, exit_status: int, error: str) -> None:
    ran = cli("replay", outcome(name, tmp_path), "--quiet")
    assert (ran.out, ran.status, ran.err) == (f"{status}\n", exit_status, error)


def test_a_cancelled_run_is_shown_as_stopped(cli: Cli, tmp_path: Path) -> None:
    assert cli("replay", outcome("cancelled", tmp_path)).out == "[cancelled] the agent was stopped\n"


def test_a_rejection_names_the_rule_the_event_and_the_place(cli: Cli, tmp_path: Path) -> None:
    ran = cli("replay", outcome("rejected", tmp_path), "--json")
    error = ran.document["error"]
    assert (error["code"], error["eventType"], error["index"]) == ("nested_run", "RUN_STARTED", 1)
    assert sorted(error) == ["code", "eventType", "ids", "index", "message", "path"]
    assert ran.err.startswith("error: rejected: the stream is rejected: nested_run: ")
    assert "event 1" in ran.err
    assert ran.status == 3


def test_what_is_tolerated_is_told_once(cli: Cli, tmp_path: Path) -> None:
    ran = cli("replay", outcome("warned", tmp_path))
    assert ran.err.startswith("warning: unknown_event")
    assert ran.err.count("\n") == 1
    assert (ran.out, ran.status) == ("[completed]\n", 0)


@pytest.mark.parametrize(
    ("names", "status"),
    [
        (("fine", "cancelled"), 0),
        (("failed", "fine"), 1),
        (("missing", "failed", "fine"), 2),
        (("rejected", "failed", "missing"), 3),
        (("truncated", "rejected", "fine"), 4),
        (("huge", "truncated", "fine"), 5),
    ],
)
def test_of_several_sources_the_worst_counts(cli: Cli, tmp_path: Path, names: tuple[str, ...], status: int) -> None:
    (tmp_path / "huge").write_bytes(b"data: " + b"x" * 11_000_000 + b"\n\n")
    for name in set(names) - {"missing", "huge"}:
        outcome(name, tmp_path)
    ran = cli("replay", *names, "--json")
    assert ran.status == status
    documents = [json.loads(line) for line in ran.out.splitlines()]
    assert [document["error"] and document["error"]["code"] for document in documents].count("unreadable_source") == (
        names.count("missing")
    )
    assert len(documents) == len(names)


def test_several_sources_are_told_apart(cli: Cli, tmp_path: Path) -> None:
    ran = cli("replay", outcome("fine", tmp_path), outcome("failed", tmp_path))
    assert ran.out == "== fine\nassistant: hello\n[completed]\n== failed\n[failed]\n"


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"just words", "neither SSE text"),
        (b"\x1f\x8b\x08", "gzip"),
    ],
)
def test_what_is_no_recording_is_wrong_use(cli: Cli, tmp_path: Path, content: bytes, error: str) -> None:
    (tmp_path / "odd").write_bytes(content)
    ran = cli("replay", "odd")
    assert ran.status == 2
    assert ran.err.startswith("error: odd: ")
    assert error in ran.err
    assert ran.err.count("\n") == 1


START = '{"type":"RUN_STARTED","threadId":"t","runId":"r"}'
HUGE = b"data: " + b"x" * 11_000_000 + b"\n\n"


@pytest.mark.parametrize(
    ("terminal", "status", "left"),
    [
        ('{"type":"RUN_FINISHED","threadId":"t","runId":"r"}', "completed", 0),
        ('{"type":"RUN_ERROR","message":"no"}', "failed", 1),
        ("", "truncated", 5),
    ],
)
def test_a_recording_that_breaks_is_judged_as_a_connection_that_breaks(
    cli: Cli, tmp_path: Path, terminal: str, status: str, left: int
) -> None:
    """TR-5, TR-7: after the terminal event a break changes nothing; before it, one line says what broke."""
    frames = "".join(f"data: {frame}\n\n" for frame in (START, terminal) if frame)
    (tmp_path / "broken").write_bytes(frames.encode() + HUGE)
    ran = cli("replay", "broken", "--json")
    (document,) = [json.loads(line) for line in ran.out.splitlines()]
    assert (document["status"], ran.status) == (status, left)
    assert (document["error"] or {}).get("code") == ("frame_too_large" if left == 5 else None)
    assert ran.err.count("\n") == (0 if left == 0 else 1)


def test_an_empty_source_is_a_stream_that_ended_before_it_began(cli: Cli, tmp_path: Path) -> None:
    """TR-1."""
    (tmp_path / "empty").write_bytes(b"")
    ran = cli("replay", "empty", "--quiet")
    assert (ran.status, ran.out, ran.err.count("\n")) == (4, "truncated\n", 1)


def test_a_recording_cut_anywhere_is_truncated(cli: Cli, tmp_path: Path) -> None:
    """TR-1: from its first byte on."""
    whole = f"data: {START}\n\n".encode()
    names = [f"cut-{length}" for length in range(len(whole) + 1)]
    for length, name in enumerate(names):
        (tmp_path / name).write_bytes(whole[:length])
    ran = cli("replay", *names, "--quiet")
    assert (ran.status, set(ran.out.splitlines())) == (4, {"truncated"})


def test_a_fixtures_input_and_peer_are_honoured(cli: Cli, tmp_path: Path) -> None:
    content = [{"type": "text", "text": "look"}, {"type": "image", "source": {"type": "url", "value": "u"}}]
    fixture = {
        "name": "old",
        "client": {"maxProtocolVersion": "0.0.39"},
        "input": {"messages": [{"id": "u", "role": "user", "content": content}], "state": {"n": 1}},
        "stream": EVENTS,
    }
    (tmp_path / "old.json").write_text(json.dumps(fixture))
    document = cli("replay", "old.json", "--json").document
    assert document["request"]["messages"] == [{"id": "u", "role": "user", "content": "look"}]
    assert "protocolVersion" not in document["request"]
    assert document["messages"][0]["content"] == content
    assert document["state"] == {"n": 1}
    assert [told["code"] for told in document["diagnostics"]] == ["parts_dropped"]
    newer = cli("replay", "old.json", "--json", "--peer", "1.0").document
    assert newer["request"]["messages"][0]["content"] == content
    assert newer["diagnostics"] == []


def test_an_input_file_goes_over_the_fixtures(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(json.dumps({"stream": EVENTS, "input": {"state": {"from": "fixture"}}}))
    (tmp_path / "input.json").write_text(json.dumps({"threadId": "other", "state": {"from": "file"}}))
    document = cli("replay", "x.json", "--input", "input.json", "--json").document
    assert document["state"] == {"from": "file"}
    assert document["request"]["threadId"] == "other"
    assert [told["code"] for told in document["diagnostics"]] == ["run_identity", "run_identity"]


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("[]", "error: input.json is not a run input: expected a JSON object\n"),
        ("{", "error: input.json is not JSON: "),
    ],
)
def test_an_input_that_is_none_is_wrong_use(cli: Cli, tmp_path: Path, content: str, error: str) -> None:
    (tmp_path / "input.json").write_text(content)
    ran = cli("replay", outcome("fine", tmp_path), "--input", "input.json", "--quiet")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith(error)
    assert ran.err.count("\n") == 1


def test_standard_input_is_one_source_and_not_two(cli: Cli) -> None:
    ran = cli("replay", "-", "-", "--quiet", stdin=FORMS["sse"])
    assert (ran.status, ran.out) == (2, "completed\nrejected\n")
    said = "standard input can be read only once: it was read for SOURCE, so there is nothing left for SOURCE"
    assert ran.err == f"error: {said}\n"


def test_an_input_on_standard_input_leaves_none_for_a_source(cli: Cli) -> None:
    ran = cli("replay", "-", "--input", "-", "--json", stdin=b"{}")
    assert ran.status == 2
    assert "it was read for --input, so there is nothing left for SOURCE" in ran.err
    assert ran.document["error"]["code"] == "unreadable_source"


def test_an_input_on_standard_input_serves_every_source(cli: Cli, tmp_path: Path) -> None:
    fine, warned = outcome("fine", tmp_path), outcome("warned", tmp_path)
    ran = cli("replay", fine, warned, "--input", "-", "--json", stdin=b'{"state": {"n": 1}}')
    assert [json.loads(line)["state"] for line in ran.out.splitlines()] == [{"n": 1}, {"n": 1}]
    assert ran.err == ""


@pytest.mark.parametrize("name", ["--input", "SOURCE"])
def test_what_is_wrong_with_standard_input_is_said_of_it(cli: Cli, tmp_path: Path, name: str) -> None:
    sources = ["-"] if name == "SOURCE" else [outcome("fine", tmp_path), "--input", "-"]
    ran = cli("replay", *sources, stdin=b"{")
    assert ran.status == (3 if name == "SOURCE" else 2)
    assert ran.err.startswith("error: standard input")


@pytest.mark.parametrize("content", ['{"messages": [{"id": 7, "role": "user", "content": "x"}]}', '{"tools": "none"}'])
def test_an_input_that_may_not_be_sent_is_rejected_with_a_report(cli: Cli, tmp_path: Path, content: str) -> None:
    """RI-1: refused before a byte would leave, so the run never was."""
    (tmp_path / "input.json").write_text(content)
    ran = cli("replay", outcome("fine", tmp_path), "--input", "input.json", "--quiet")
    assert (ran.status, ran.out) == (3, "rejected\n")
    assert ran.err.startswith("error: fine: ")
    assert ran.err.count("\n") == 1
    document = cli("replay", outcome("fine", tmp_path), "--input", "input.json", "--json").document
    assert (document["status"], document["error"]["code"], document["events"]) == ("rejected", "malformed_input", [])


@pytest.mark.parametrize("content", ['{"messages": [{"id": 7, "role": "user", "content": "x"}]}', '{"tools": "none"}'])
@pytest.mark.parametrize("flag", ["--quiet", "--json", "--legacy"])
def test_an_input_that_may_not_be_sent_is_rejected(cli: Cli, tmp_path: Path, content: str, flag: str) -> None:
    (tmp_path / "input.json").write_text(content)
    ran = cli("replay", outcome("fine", tmp_path), "--input", "input.json", flag)
    assert ran.status == 3
    assert ran.err.startswith("error: fine: ")
    assert ran.err.count("\n") == 1
    if flag == "--json":
        assert ran.document["status"] == "rejected"
    else:
        assert ran.out == ("rejected\n" if flag == "--quiet" else "")


PARTS = [
    started(),
    {"type": "ACTIVITY_SNAPSHOT", "messageId": "a", "activityType": "PLAN", "content": {"x": 1}},
    {
        "type": "TOOL_CALL_RESULT",
        "messageId": "r",
        "toolCallId": "c",
        "content": [{"type": "document", "source": {"type": "file", "value": "f-1"}}],
    },
    finished(),
]


def test_legacy_keeps_text_and_warns_of_what_is_lost(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "parts.json").write_text(json.dumps(PARTS))
    ran = cli("replay", "parts.json", "--legacy")
    held = read_transcript(ran.out.splitlines()[:-1])["t-1"]
    assert [(message.id, message.body) for message in held] == [("a", None), ("r", "")]
    assert [line.split(":")[1] for line in ran.err.splitlines()] == [
        " parts_dropped at /messages/0/content",
        " parts_dropped at /messages/1/content/0",
    ]
    document = cli("replay", "parts.json", "--legacy", "--json").document
    assert document["messages"] == [
        {"id": "a", "role": "activity", "activityType": "PLAN"},
        {"id": "r", "role": "tool", "content": "", "toolCallId": "c"},
    ]
    assert [told["code"] for told in document["diagnostics"]] == ["parts_dropped", "parts_dropped"]


def lines_of(cli: Cli, tmp_path: Path, *events: dict[str, Any], given: dict[str, Any] | None = None) -> list[str]:
    """What a person sees of these events."""
    (tmp_path / "x.json").write_text(json.dumps({"stream": [*events], "input": given or {}}))
    ran = cli("replay", "x.json")
    assert ran.status in (0, 1), ran.err
    return ran.out.splitlines()


def test_items_that_stream_side_by_side_take_turns(cli: Cli, tmp_path: Path) -> None:
    def piece(id_: str, delta: str) -> dict[str, Any]:
        return {"type": "TEXT_MESSAGE_CONTENT", "messageId": id_, "delta": delta}

    def edge(kind: str, id_: str) -> dict[str, Any]:
        return {"type": f"TEXT_MESSAGE_{kind}", "messageId": id_}

    assert lines_of(
        *(cli, tmp_path, started(), edge("START", "a"), edge("START", "b"), piece("a", "one "), piece("b", "two")),
        *(piece("a", "three\nfour"), edge("END", "a"), edge("END", "b"), finished()),
    ) == ["assistant: one ", "assistant: two", "assistant (continued): three", "  four", "[completed]"]


def test_a_character_cut_in_two_is_shown_whole(cli: Cli, tmp_path: Path) -> None:
    content = {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m-1"}
    opened, _, closed = said("")
    pieces = ["a\ud83d", "\udc4b b", "\ud83d", "\udc4b", "\ud83d"]
    deltas = [{**content, "delta": piece} for piece in pieces]
    assert lines_of(cli, tmp_path, started(), opened, *deltas, closed, finished()) == [
        "assistant: a\U0001f44b b\U0001f44b\ufffd",
        "[completed]",
    ]


def test_everything_else_that_shows(cli: Cli, tmp_path: Path) -> None:
    usage = [{"model": "m", "inputTokens": 3}]
    ask = {"id": "i-1", "reason": "tool_call", "message": "Sure?"}
    plain = {"id": "i-2", "reason": "input"}
    shown = lines_of(
        *(cli, tmp_path, started()),
        {"type": "STATE_DELTA", "delta": [{"op": "add", "path": "/n", "value": "x" * 300}]},
        {"type": "ACTIVITY_SNAPSHOT", "messageId": "a", "activityType": "PLAN", "content": {"n": 1}},
        {"type": "ACTIVITY_DELTA", "messageId": "a", "activityType": "PLAN", "patch": []},
        {"type": "CUSTOM", "name": "ping", "value": None},
        {"type": "RAW", "event": {"any": "thing"}},
        {"type": "STEP_STARTED", "stepName": "look"},
        {"type": "STEP_FINISHED", "stepName": "look"},
        {"type": "SUBAGENT_STARTED", "subagentRunId": "s-1", "name": "helper"},
        *said("hi", subagentRunId="s-1"),
        {"type": "SUBAGENT_FINISHED", "subagentRunId": "s-1", "result": {"n": 1}},
        {"type": "SUBAGENT_STARTED", "subagentRunId": "s-2", "name": "other", "description": "looks"},
        {"type": "SUBAGENT_ERROR", "subagentRunId": "s-2", "message": "no ink"},
        finished(result={"sum": 4}, usage=usage),
        started(runId="r-2"),
        {"type": "TOOL_CALL_START", "toolCallId": "c-1", "toolCallName": "look", "parentMessageId": "p"},
        {"type": "TOOL_CALL_END", "toolCallId": "c-1"},
        finished(runId="r-2", outcome={"type": "interrupt", "interrupts": [ask, plain]}),
    )
    assert shown[0].startswith('state: [{"op": "add", "path": "/n", "value": "xxx')
    assert shown[0].endswith("x…")
    assert len(shown[0]) == len("state: ") + 200
    assert shown[1:] == [
        'activity PLAN: {"n": 1}',
        "activity PLAN: []",
        "custom ping: null",
        "step look",
        "subagent helper started",
        "[helper] assistant: hi",
        'subagent helper finished: {"n": 1}',
        "subagent other started: looks",
        "subagent other failed: no ink",
        'run result: {"sum": 4}',
        "-- next run r-2",
        "call look: ",
        "pending call look [c-1]: ",
        "waiting for an answer to i-1 (tool_call): Sure?",
        "waiting for an answer to i-2 (input)",
        'usage: {"model": "m", "inputTokens": 3}',
        "[interrupted]",
    ]


def test_what_only_a_snapshot_brings_is_shown_and_what_it_repeats_is_not(cli: Cli, tmp_path: Path) -> None:
    call = {"id": "c-1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    known = {"id": "c-0", "type": "function", "function": {"name": "old", "arguments": "{}"}}
    before = [
        {"id": "u", "role": "user", "content": "go"},
        {"id": "k", "role": "assistant", "content": "earlier", "toolCalls": [known]},
        {"id": "t", "role": "tool", "content": "done", "toolCallId": "c-0"},
    ]
    snapshot = [
        *before,
        {"id": "x", "role": "assistant", "content": "said live"},
        {"id": "y", "role": "assistant", "toolCalls": [call]},
        {"id": "z", "role": "tool", "content": "seen", "toolCallId": "c-1", "error": "half"},
        {"id": "w", "role": "assistant", "content": "at the end", "name": "Bo"},
    ]
    shown = lines_of(
        *(cli, tmp_path, started(), *said("said live"), {"type": "MESSAGES_SNAPSHOT", "messages": snapshot}),
        *({"type": "MESSAGES_SNAPSHOT", "messages": snapshot}, finished()),
        given={"messages": before},
    )
    assert shown == [
        "assistant: said live",
        "call look: {}",
        "result of look: seen [failed: half]",
        "Bo: at the end",
        "[completed]",
    ]


def test_a_call_cut_off_in_its_arguments_is_shown_as_such(cli: Cli, tmp_path: Path) -> None:
    shown = lines_of(
        *(cli, tmp_path, started(), {"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "f"}),
        {"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": '{"a":'},
        {"type": "RUN_ERROR", "message": "x"},
    )
    assert shown == ['call f: {"a":', 'pending call f [c]: {"a": (its arguments never ended)', "[failed]"]


def test_a_recording_that_breaks_inside_a_frame_says_so(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "cut.sse").write_bytes(b"".join(frames(*EVENTS)) + b'data: {"type":')
    ran = cli("replay", "cut.sse", "--quiet")
    assert ran.out == "completed\n"
    assert ran.err.startswith("warning: ")
    assert "ends inside a frame" in ran.err
