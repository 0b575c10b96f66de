"""Flattening to text (TC-5), never repairing (VE-4), and its list of losses."""

from __future__ import annotations

import pytest
from ag_ui.core import (
    ActivityMessage,
    AssistantMessage,
    AudioPart,
    DataSource,
    DocumentPart,
    FileSource,
    FunctionCall,
    ImagePart,
    ReasoningMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    UrlSource,
    UserMessage,
    VideoPart,
)
from hypothesis import given
from hypothesis import strategies as st

from client_sdk.errors import InputError
from client_sdk.legacy import DroppedPart, FlatMessage, FlatText, flatten, flatten_message, parts_dropped

IMAGE = ImagePart(source=DataSource(value="aGk=", mime_type="image/png"))


@pytest.mark.parametrize("text", ["", "plain", "  spaced \n", "e\u0301 \u00e9 👩‍👩‍👧", "\x00", "[image]", "\ud800"])
def test_a_string_passes_untouched_and_quietly(text: str) -> None:
    assert flatten(text) == FlatText(text, ())


def test_nothing_is_empty_text() -> None:
    assert flatten(None) == FlatText("", ())


@pytest.mark.parametrize("empty", [[], ()])
def test_no_parts_is_empty_text(empty: list[TextPart]) -> None:
    assert flatten(empty) == FlatText("", ())


def test_text_parts_join_in_order_with_nothing_between_and_nothing_in_a_gap() -> None:
    parts = [TextPart(text="a"), IMAGE, TextPart(text=""), TextPart(text=" b"), TextPart(text="c\n")]
    flat = flatten(parts)
    assert flat.text == "a bc\n"
    assert flat.dropped == (DroppedPart("image", "image/png", "data", "/content/1"),)


def test_combining_marks_split_over_parts_are_not_normalised() -> None:
    assert flatten([TextPart(text="e"), TextPart(text="\u0301")]).text == "e\u0301"


def test_all_media_is_empty_text_and_every_part_is_named() -> None:
    parts = [
        IMAGE,
        AudioPart(source=UrlSource(value="https://example.org/a", mime_type="audio/ogg")),
        VideoPart(source=UrlSource(value="https://example.org/v")),
        DocumentPart(source=FileSource(value="file-1", provider="openai")),
    ]
    assert flatten(parts, where="/messages/3/content") == FlatText(
        "",
        (
            DroppedPart("image", "image/png", "data", "/messages/3/content/0"),
            DroppedPart("audio", "audio/ogg", "url", "/messages/3/content/1"),
            DroppedPart("video", None, "url", "/messages/3/content/2"),
            DroppedPart("document", None, "file", "/messages/3/content/3"),
        ),
    )


def test_models_and_wire_objects_flatten_alike() -> None:
    models = [
        TextPart(text="see "),
        IMAGE,
        DocumentPart(source=FileSource(value="f", mime_type="application/pdf")),
    ]
    wire = [part.model_dump(mode="json", by_alias=True) for part in models]
    assert flatten(models) == flatten(wire) == flatten([models[0], *wire[1:]])


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"type": "hologram", "beam": 1}, DroppedPart("hologram", None, None, "/content/0")),
        (
            {"type": "hologram", "source": {"type": "crystal", "mimeType": "x/y"}},
            DroppedPart("hologram", "x/y", "crystal", "/content/0"),
        ),
        (
            {"type": "binary", "mimeType": "image/gif", "data": "R0k="},
            DroppedPart("binary", "image/gif", None, "/content/0"),
        ),
        (
            {"type": "image", "source": {"type": "crystal", "mimeType": 5}},
            DroppedPart("image", None, "crystal", "/content/0"),
        ),
        (
            {"type": "image", "source": {"type": "url", "value": "u", "mimeType": None}},
            DroppedPart("image", None, "url", "/content/0"),
        ),
    ],
)
def test_kinds_this_version_does_not_know_are_dropped_and_named(part: dict[str, object], expected: DroppedPart) -> None:
    assert flatten([part]) == FlatText("", (expected,))


@pytest.mark.parametrize(
    ("content", "path"),
    [
        (42, "/content"),
        (b"bytes", "/content"),
        ({"type": "text", "text": "x"}, "/content"),
        (["bare"], "/content/0"),
        ([None], "/content/0"),
        ([{"text": "x"}], "/content/0/type"),
        ([{"type": 7}], "/content/0/type"),
        ([{"type": "text"}], "/content/0/text"),
        ([{"type": "text", "text": None}], "/content/0/text"),
        ([{"type": "text", "text": "ok"}, {"type": "text", "text": 42}], "/content/1/text"),
        ([TextPart.model_construct(type="text", text=42)], "/content/0/text"),
        ([{"type": "image"}], "/content/0/source"),
        ([{"type": "image", "source": "http://x"}], "/content/0/source"),
        ([{"type": "image", "source": {}}], "/content/0/source/type"),
        ([{"type": "image", "source": {"type": "url"}}], "/content/0/source/value"),
        ([{"type": "image", "source": {"type": "data", "value": "a"}}], "/content/0/source/mimeType"),
        ([{"type": "image", "source": {"type": "url", "value": "", "mimeType": 3}}],
         "/content/0/source/mimeType"),
        ([{"type": "image", "source": {"type": "data", "value": "a", "mime_type": "x/y"}}],
         "/content/0/source/mimeType"),
    ],
)  # fmt: skip
def test_what_is_malformed_is_refused_never_repaired(content: object, path: str) -> None:
    with pytest.raises(InputError) as caught:
        flatten(content)  # type: ignore[arg-type]
    assert caught.value.path == path
    assert caught.value.code == "malformed_input"
    assert path in caught.value.message


@given(st.lists(st.text()))
def test_any_text_parts_give_exactly_their_concatenation(texts: list[str]) -> None:
    assert flatten([{"type": "text", "text": text} for text in texts]) == FlatText("".join(texts), ())


def test_a_message_keeps_every_field_but_its_parts() -> None:
    message = ToolMessage(
        id="m-1",
        tool_call_id="c-1",
        content=[TextPart(text="half"), IMAGE],
        error="",
        metadata={"k": None},
        encrypted_value="xyz",
        subagent_run_id="s-1",
    )
    flat = flatten_message(message, where="/messages/0")
    assert flat == FlatMessage(
        "m-1",
        "tool",
        "half",
        {
            "toolCallId": "c-1",
            "error": "",
            "metadata": {"k": None},
            "encryptedValue": "xyz",
            "subagentRunId": "s-1",
        },
        (DroppedPart("image", "image/png", "data", "/messages/0/content/1"),),
    )


def test_no_content_beside_tool_calls_stays_apart_from_empty_content() -> None:
    call = ToolCall(id="c-1", function=FunctionCall(name="f", arguments='{"a":'))
    silent = flatten_message(AssistantMessage(id="m", tool_calls=[call]))
    empty = flatten_message(AssistantMessage(id="m", content="", tool_calls=[call]))
    assert silent.body is None
    assert empty.body == ""
    assert silent.fields["toolCalls"] == [
        {"id": "c-1", "type": "function", "function": {"name": "f", "arguments": '{"a":'}}
    ]


def test_reasoning_is_text() -> None:
    assert flatten_message(ReasoningMessage(id="r", content="hm")).body == "hm"


def test_an_activity_has_no_text_and_its_object_is_a_loss() -> None:
    flat = flatten_message(ActivityMessage(id="a", activity_type="PLAN", content={"steps": []}))
    assert flat.body is None
    assert flat.fields == {"activityType": "PLAN"}
    assert flat.dropped == (DroppedPart("activity", None, None, "/content"),)


@pytest.mark.parametrize(
    ("message", "path"),
    [
        ("text", "/messages/2"),
        ({"role": "user", "content": "x"}, "/messages/2/id"),
        ({"id": 5, "role": "user", "content": "x"}, "/messages/2/id"),
        ({"id": "m", "content": "x"}, "/messages/2/role"),
        ({"id": "m", "role": "critic", "content": "x"}, "/messages/2/role"),
        ({"id": "m", "role": "user", "content": [1]}, "/messages/2/content/0"),
    ],
)
def test_a_message_that_is_none_is_refused(message: object, path: str) -> None:
    with pytest.raises(InputError) as caught:
        flatten_message(message, where="/messages/2")  # type: ignore[arg-type]
    assert caught.value.path == path


def test_a_wire_message_flattens_like_its_model() -> None:
    model = UserMessage(id="m", name="Ada", content=[TextPart(text="x"), IMAGE])
    assert flatten_message(model.model_dump(mode="json", by_alias=True)) == flatten_message(model)


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (DroppedPart("image", "image/png", "data", "/content/1"), "image (image/png, data source)"),
        (DroppedPart("video", None, "url", "/content/1"), "video (url source)"),
        (DroppedPart("hologram", None, None, "/content/1"), "hologram"),
        (DroppedPart("image", "x\nERROR", "data", "/content/1"), "image ('x\\nERROR', data source)"),
    ],
)
def test_the_announcement_names_what_was_lost_and_where(part: DroppedPart, words: str) -> None:
    diagnostic = parts_dropped(part, message_id="m-1")
    assert (diagnostic.code, diagnostic.path) == ("parts_dropped", "/content/1")
    assert diagnostic.message == f"message 'm-1' lost its {words}: the receiver can only hold text"
