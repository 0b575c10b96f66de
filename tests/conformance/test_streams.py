"""Every fixture of every corpus holds, and the runner itself can fail."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.conformance import corpora
from tests.conformance.adapter import replay_fixture, replay_jsonl, replay_sse
from tests.conformance.corpora import Case
from tests.conformance.judge import CHECKS, disagreements, report

CASES = [case for folder in corpora.folders() for case in corpora.read(folder)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.folder.parent.name}/{case}")
def test_fixture(case: Case) -> None:
    document = replay_fixture(case.fixture)
    lines = disagreements(case.fixture, case.codes, document)
    assert not lines, report(case.fixture, lines, document)


ON_THE_WIRE = [case for case in CASES if "client" not in case.fixture and "input" not in case.fixture]


@pytest.mark.parametrize("spelling", [replay_sse, replay_jsonl])
def test_every_spelling_of_a_stream_gets_the_same_verdict(spelling: Any) -> None:
    """PR-8: what a stream is written as decides nothing (a stream without events has no SSE text)."""
    for case in ON_THE_WIRE:
        stream = case.fixture["stream"]
        if stream:
            expected, got = replay_fixture(case.fixture), spelling(stream)
            assert _without_made_up_ids(got) == _without_made_up_ids(expected), case.fixture["name"]


def test_the_command_line_prints_one_document_for_each_fixture() -> None:
    """PR-8: ``replay --json`` tells what the library tells, a line a source, refused inputs included."""
    own = [case for case in CASES if case.folder == corpora.OWN]
    files = [str(case.folder / f"{case}.json") for case in own]
    command = [sys.executable, "-m", "client_sdk", "replay", "--json", *files]
    done = subprocess.run(command, capture_output=True, cwd=corpora.ROOT, timeout=300, check=False)
    lines = done.stdout.decode().rstrip("\n").split("\n")
    assert len(lines) == len(own), done.stderr.decode()[-2000:]
    for case, line in zip(own, lines, strict=True):
        assert _without_made_up_ids(json.loads(line)) == _without_made_up_ids(replay_fixture(case.fixture)), case


def _without_made_up_ids(document: dict[str, Any]) -> dict[str, Any]:
    """Blank what a client has to invent: ids of translated THINKING_* items, and run identity without a start."""
    copy = dict(document)
    if any(one["code"] == "retired_shape" for one in copy["diagnostics"]):
        copy.update(events=[e["type"] for e in copy["events"]], messages=[_no_id(m) for m in copy["messages"]])
        copy.update(error=copy["error"] and copy["error"]["code"], diagnostics=[d["code"] for d in copy["diagnostics"]])
    copy.pop("request")
    return copy


def _no_id(message: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in message.items() if key != "id"}


# ------------------------------------------------- the runner can turn red

DOCUMENT: dict[str, Any] = {
    "status": "rejected",
    "error": {
        "code": "not_open",
        "message": "m",
        "eventType": "TEXT_MESSAGE_END",
        "index": 3,
        "path": "/messageId",
        "ids": ["m-1"],
    },
    "runErrors": [{"message": "the kettle boiled over", "code": "K"}],
    "diagnostics": [{"code": "unknown_event", "path": "/type", "message": "KETTLE is unknown"}],
    "events": [{"type": "RUN_STARTED", "runId": "r"}, {"type": "RAW", "event": {"n": 1}}],
    "messages": [{"id": "m-1", "role": "assistant", "content": "x", "metadata": {"a": 1, "b": 2}}],
    "state": {"n": 1, "k": None},
    "pendingToolCalls": [{"id": "c-1", "name": "look", "arguments": "{}"}],
    "interrupts": [{"id": "i-1", "reason": "approval"}],
    "usage": [{"model": "tiny", "inputTokens": 1}],
    "request": {"threadId": "t", "messages": [{"id": "u-1", "content": "hi"}]},
}
QUIET = {**DOCUMENT, "diagnostics": [], "runErrors": [], "status": "completed", "error": None}

RIGHT_AND_WRONG: list[tuple[str, Any, list[Any]]] = [
    ("outcome", "failed", ["completed", "truncated", "nonsense"]),
    ("status", "rejected", ["completed", "failed"]),
    ("runError", "kettle", ["teapot"]),
    ("warningContains", ["KETTLE"], [["TEAPOT"]]),
    ("eventTypes", ["RUN_STARTED", "RAW"], [["RUN_STARTED"], ["RAW", "RUN_STARTED"], ["RUN_STARTED", "RAW", "RAW"]]),
    ("eventTypesAbsent", ["CUSTOM"], [["RAW"]]),
    (
        "eventPaths",
        {"1.event": {"n": 1}},
        [{"1.event": {"n": True}}, {"1.event": {}}, {"2.event": 1}, {"1.source": None}],
    ),
    ("eventAbsentPaths", ["1.source"], [["1.event.n"], ["0.runId"]]),
    ("messageCount", 1, [0, 2]),
    (
        "messages",
        [{"content": "x", "metadata": {"a": 1}}],
        [[], [{"content": "y"}], [{"name": "n"}], [{}, {}], [{"metadata": {"a": True}}]],
    ),
    ("messagesExact", {"0.metadata": {"a": 1, "b": 2}}, [{"0.metadata": {"a": 1}}, {"0.name": None}]),
    ("messageAbsentPaths", ["0.name", "1.id"], [["0.metadata.a"]]),
    ("state", {"n": 1}, [{"n": 2}, {"n": True}, {"k": 0}, {"z": None}, [1], None]),
    ("request", {"messages": [{"id": "u-1"}]}, [{"messages": []}, {"messages": [{"id": "u-2"}]}, {"runId": "r"}]),
    ("requestAbsentPaths", ["protocolVersion"], [["messages.0.content"]]),
    (
        "pendingToolCalls",
        [{"id": "c-1", "name": "look", "arguments": "{}"}],
        [[], [{"id": "c-1", "name": "look", "arguments": ""}], [{"id": "c-1"}]],
    ),
    ("usage", [{"model": "tiny", "inputTokens": 1}], [[], [{"model": "tiny"}], [{"model": "tiny", "inputTokens": 2}]]),
    ("interrupts", [{"id": "i-1"}], [[], [{"id": "i-2"}]]),
    ("interruptAbsentPaths", ["0.message"], [["0.reason"]]),
    ("errorIndex", 3, [2, None]),
    ("errorEventType", "TEXT_MESSAGE_END", ["RAW"]),
    ("errorPath", "/messageId", ["/delta", ""]),
    ("errorIds", ["m-1"], [["m-2"], ["m-1", "m-2"]]),
    ("noWarnings", False, [True]),
    ("runErrorAbsent", None, [True]),
]


@pytest.mark.parametrize(("key", "right", "wrongs"), RIGHT_AND_WRONG, ids=[key for key, _, _ in RIGHT_AND_WRONG])
def test_each_key_can_fail(key: str, right: Any, wrongs: list[Any]) -> None:
    if right is not None:
        assert disagreements({"expect": {key: right}}, {}, DOCUMENT) == []
    for wrong in wrongs:
        assert disagreements({"expect": {key: wrong}}, {}, DOCUMENT), wrong


def test_absence_keys_hold_on_a_quiet_replay() -> None:
    assert (
        disagreements({"expect": {"noWarnings": True, "runErrorAbsent": True, "outcome": "completed"}}, {}, QUIET) == []
    )
    assert disagreements({"expect": {"runError": True}}, {}, QUIET)
    assert disagreements({"expect": {"errorIndex": 3}}, {}, QUIET)
    assert disagreements({"expect": {"errorIds": ["m-1"]}}, {}, QUIET)


def test_every_key_has_a_test_of_its_own() -> None:
    assert {key for key, _, _ in RIGHT_AND_WRONG} == set(CHECKS)


@pytest.mark.parametrize(
    "codes",
    [
        {"errorCode": "already_open"},
        {"warningCodes": ["patch_failed"]},
        {"warningPaths": ["/delta"]},
        {"outcome": "truncated"},
    ],
)
def test_each_code_can_fail(codes: dict[str, Any]) -> None:
    assert disagreements({"expect": {}}, codes, DOCUMENT)
    assert disagreements({"expect": {}}, codes, QUIET)


def test_codes_that_hold() -> None:
    codes = {"errorCode": "not_open", "warningCodes": ["unknown_event"], "warningPaths": ["/type"]}
    assert disagreements({"expect": {}}, codes, DOCUMENT) == []


def test_own_fixtures_tolerate_no_unlisted_warning() -> None:
    own = {"rules": ["PR-2"], "expect": {}}
    assert disagreements(own, {}, DOCUMENT)
    assert disagreements(own, {"warningCodes": ["unknown_event"]}, DOCUMENT) == []
    assert disagreements(own, {"allowedWarnings": ["unknown_event"]}, DOCUMENT) == []
    assert disagreements(own, {"otherWarnings": True}, DOCUMENT) == []


def test_an_unknown_key_is_an_error() -> None:
    assert disagreements({"expect": {"eventTypez": []}}, {}, DOCUMENT)


def test_overrides_replace_keys_and_wording_is_ignored() -> None:
    fixture = {
        "expect": {"outcome": "completed", "errorContains": "x", "warnings": ["y"]},
        "expectOverrides": {
            "typescript": {"intentional": "z", "outcome": "failed"},
            "dotnet": {"outcome": "completed"},
        },
    }
    assert disagreements(fixture, {}, DOCUMENT) == []


def test_a_failure_is_readable() -> None:
    text = report({"name": "n", "description": "d"}, ["expect.status: off"], DOCUMENT)
    for piece in ("n: d", "expect.status: off", "not_open", "RUN_STARTED RAW", "m-1"):
        assert piece in text


def test_folders_come_from_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    (tmp_path / "kit" / "streams").mkdir(parents=True)
    (tmp_path / "flat").mkdir()
    monkeypatch.setenv(corpora.VARIABLE, f"{tmp_path / 'kit'}{os.pathsep}{tmp_path / 'flat'}")
    found = corpora.folders()
    assert found[0] == corpora.OWN
    assert found[-2:] == [tmp_path / "kit" / "streams", tmp_path / "flat"]
    with pytest.raises(FileNotFoundError):
        corpora.read(tmp_path / "flat")
