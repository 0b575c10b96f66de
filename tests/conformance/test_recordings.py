"""What real producers sent replays to the verdict the rules give, and to the conversation they meant.

The table beside this file says for each recording: status, roles of the messages in order, the last words of the
assistant, pending calls, interrupts, failures. It was drawn up from the streams by the rules (FT-2, SN-4, ST-2, LC-6,
TC-1), not from what this package makes of them. A recording that is not here leaves its row untested; each kind of
oddity the recordings show has a fixture ``field-*`` of our own.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conformance import corpora
from tests.conformance.adapter import Json, replay_recording

FOLDER = corpora.SHARED / "recordings"
TABLE: dict[str, Json] = json.loads(Path(__file__).with_name("recordings.json").read_text(encoding="utf-8"))
PRESENT = sorted(path.stem for path in FOLDER.glob("*.sse"))

STATUSES = {"completed", "interrupted", "cancelled", "failed", "rejected"}


def replayed(name: str) -> Json:
    request = json.loads((FOLDER / f"{name}.request.json").read_text(encoding="utf-8"))
    return replay_recording((FOLDER / f"{name}.sse").read_bytes(), request)


def summary(document: Json) -> Json:
    """Return of a replay what the table records."""
    said = [m["content"] for m in document["messages"] if m["role"] == "assistant" and m.get("content")]
    found: Json = {"status": document["status"], "roles": [message["role"] for message in document["messages"]]}
    if said:
        found["answer"] = said[-1]
    if document["status"] not in {"failed", "rejected"}:
        found["pending"] = document["pendingToolCalls"]
    if document["interrupts"]:
        found["interrupts"] = [interrupt["id"] for interrupt in document["interrupts"]]
    if document["runErrors"]:
        found["runError"] = document["runErrors"][-1]["message"]
    if document["error"]:
        found["error"] = {key: document["error"][key] for key in ("code", "index", "ids")}
    return found


def test_every_recording_has_its_row() -> None:
    assert set(PRESENT) <= set(TABLE)


def test_the_table_is_well_formed() -> None:
    for name, row in TABLE.items():
        assert row["status"] in STATUSES, name
        assert (row["status"] == "rejected") is ("error" in row), name
        assert (row["status"] == "failed") is ("runError" in row), name
        assert (row["status"] == "interrupted") is ("interrupts" in row), name
        assert ("pending" in row) is (row["status"] not in {"failed", "rejected"}), name
    assert {row["status"] for row in TABLE.values()} == STATUSES


if PRESENT:  # an empty parametrisation would be a skipped test

    @pytest.mark.parametrize("name", PRESENT)
    def test_recording(name: str) -> None:
        document = replayed(name)
        assert summary(document) == TABLE[name]
        assert document["diagnostics"] == []

    @pytest.mark.parametrize("name", PRESENT)
    def test_calls_and_answers_of_a_recording_fit_together(name: str) -> None:
        """FT-2: a pending call is held by the conversation, and no tool message answers it."""
        document = replayed(name)
        held: dict[str, Any] = {c["id"]: c for m in document["messages"] for c in m.get("toolCalls", ())}
        answered = {message["toolCallId"] for message in document["messages"] if message["role"] == "tool"}
        for call in document["pendingToolCalls"]:
            assert call["id"] not in answered
            assert held[call["id"]]["function"] == {"name": call["name"], "arguments": call["arguments"]}

    @pytest.mark.parametrize("name", PRESENT)
    def test_the_input_of_a_recording_would_be_sent_again_unchanged(name: str) -> None:
        """RI-1: what real clients sent is conformant input: nothing is stripped from it and nothing refused."""
        request = json.loads((FOLDER / f"{name}.request.json").read_text(encoding="utf-8"))
        sent = dict(replayed(name)["request"])
        if "protocolVersion" not in request:
            sent.pop("protocolVersion")
        assert sent == request
