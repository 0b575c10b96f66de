"""What the agent is told: results as content, every other end in words (FT-4, TC-4)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from ag_ui.core import DataSource, ImagePart, TextPart
from pydantic import BaseModel, Field

from client_sdk.schema import Problem
from client_sdk.tools import answers
from client_sdk.tools.answers import PART_TYPES, NotAnswerable, Said, edited, refused, to_content
from client_sdk.tools.calls import CallOutcome
from client_sdk.tools.gate import RULES, RefusalReason, Verdict

IMAGE = ImagePart(source=DataSource(value="aGk=", mime_type="image/png"))


class Found(BaseModel):
    order_id: int = Field(alias="orderId")


@dataclass
class Point:
    x: int


@pytest.mark.parametrize(
    ("result", "content"),
    [
        ("text", "text"),
        ("", ""),
        (None, ""),
        (3, "3"),
        (True, "true"),
        ({"a": [1, None]}, '{"a":[1,null]}'),
        ([], "[]"),
        (["a", "b"], '["a","b"]'),
        (Found(orderId=4), '{"orderId":4}'),
        ([Found(orderId=4)], '[{"orderId":4}]'),
        (Point(1), '{"x":1}'),
        (date(2026, 11, 30), '"2026-11-30"'),
        (Decimal("1.50"), '"1.50"'),
        (float("nan"), '"NaN"'),
        ("😀", "😀"),
        ({"ö": "ü"}, '{"ö":"ü"}'),
        (TextPart(text="x"), [TextPart(text="x")]),
        (IMAGE, [IMAGE]),
        ([TextPart(text="x"), IMAGE], [TextPart(text="x"), IMAGE]),
        ((IMAGE,), [IMAGE]),
    ],
    ids=repr,
)
def test_what_a_handler_may_return(result: Any, content: Any) -> None:
    """A screenshot is an image part, not a description of one."""
    assert to_content(result) == content


def test_half_a_character_in_a_part_is_mended_as_in_text() -> None:
    part = ImagePart(source=DataSource(value="AA==", mime_type="image/png"), metadata={"alt\ud83d": ["\ude00 x"]})
    assert to_content([TextPart(text="caf\ud83d"), part]) == [
        TextPart(text="caf\ufffd"),
        ImagePart(source=part.source, metadata={"alt\ufffd": ["\ufffd x"]}),
    ]


MALFORMED_PARTS = [
    TextPart.model_construct(type="text", text=5),
    TextPart.model_construct(type="text"),
    ImagePart.model_construct(type="image", source=None),
    ImagePart.model_construct(type="image", source={"type": "data", "value": "AA=="}),
    TextPart(text="x", metadata={"n": float("nan")}),
    TextPart(text="x", metadata={"o": object()}),
]


@pytest.mark.parametrize(
    "result",
    [
        object(),
        b"\xff",
        bytearray(b"x"),
        [IMAGE, "text"],
        {1: object()},
        lambda: None,
        *MALFORMED_PARTS,
        [IMAGE, MALFORMED_PARTS[0]],
    ],
    ids=lambda result: type(result).__name__,
)
def test_what_no_tool_message_can_hold(result: Any) -> None:
    with pytest.raises(NotAnswerable):
        to_content(result)
    said = answers.succeeded(result)
    assert said.outcome is CallOutcome.FAILED
    assert isinstance(said.content, str)
    assert said.content.startswith("The tool ran, but its result cannot be sent")
    assert said.error == f"failed: {said.content}"


def test_a_result_that_refers_to_itself_is_not_answerable() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(NotAnswerable):
        to_content(endless)


def test_the_parts_are_those_of_the_installed_types() -> None:
    assert {kind.__name__ for kind in PART_TYPES} == {
        "TextPart",
        "ImagePart",
        "AudioPart",
        "VideoPart",
        "DocumentPart",
    }


@pytest.mark.parametrize(
    ("said", "outcome", "words"),
    [
        (answers.failed("boom"), CallOutcome.FAILED, "The tool failed: boom"),
        (answers.declined(), CallOutcome.DECLINED, "The call was declined; it was not run."),
        (answers.declined("too dear"), CallOutcome.DECLINED, "Reason given: too dear"),
        (answers.timed_out(1.5), CallOutcome.TIMED_OUT, "Timed out: no result within 1.5 seconds"),
        (answers.no_decision(9), CallOutcome.TIMED_OUT, "did not decide within 9 seconds. The tool was not run"),
        (answers.cancelled(), CallOutcome.CANCELLED, "Cancelled: the call was stopped before it changed anything"),
        (answers.effect_unknown("and x"), CallOutcome.EFFECT_UNKNOWN, "Effect unknown: the tool was started, and x"),
        (answers.abandoned(), CallOutcome.ABANDONED, "Abandoned: the call was not run"),
    ],
)
def test_every_end_is_said_honestly(said: Said, outcome: CallOutcome, words: str) -> None:
    """FT-4: `error` is set, and opens with the outcome's stable name."""
    assert said.outcome is outcome
    assert words in str(said.content)
    assert said.error is not None
    assert said.error.startswith(f"{outcome.value}: ")


@pytest.mark.parametrize("reason", [r.decision.reason for r in RULES if r.decision.verdict is Verdict.REFUSE], ids=str)
def test_every_refusal_has_words(reason: RefusalReason) -> None:
    if reason is RefusalReason.ALREADY_ANSWERED:
        return  # its recorded answer goes out again
    said = refused(reason, tool="nav", offered=["b", "a"], problems=[Problem("/x", "expected y")])
    assert said.outcome is CallOutcome.REFUSED
    assert said.error == f"{reason.value}: {said.content}"
    assert "run" in str(said.content)


def test_a_refusal_says_what_to_mend() -> None:
    """AL-3 from the other side: a model corrects itself by what it is told."""
    said = refused(RefusalReason.ARGUMENTS_INVALID, tool="nav", problems=[Problem("/x", "expected y")])
    assert "at /x: expected y" in str(said.content)
    said = refused(RefusalReason.UNKNOWN_TOOL, tool="{nav}", offered=["b", "a"])
    assert said.content == (
        "This application has no tool of the name '{nav}', so nothing was run. Tools offered: a, b."
    )
    assert len(str(refused(RefusalReason.UNKNOWN_TOOL, tool="x" * 10_000).content)) < 500
    assert "Tools offered: none." in str(refused(RefusalReason.TOOL_NOT_OFFERED, tool="x").content)


def test_edited_arguments_are_said_before_the_result() -> None:
    """The answer says that the user edited, and carries what was run."""
    note = 'The user edited the arguments before approving. Run with: {"n": "ü"}'
    assert edited(answers.succeeded("ok"), {"n": "ü"}).content == f"{note}\nok"
    assert edited(answers.succeeded(None), {"n": "ü"}).content == note
    assert edited(answers.succeeded(IMAGE), {"n": "ü"}).content == [TextPart(text=note), IMAGE]
