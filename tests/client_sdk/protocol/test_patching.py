"""JSON Patch: all or nothing, on a copy, and no deeper than a frame could carry (SN-2)."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from ag_ui.core import StateDeltaEvent
from hypothesis import given
from hypothesis import strategies as st
from jsonpatch import JsonPatch, JsonPatchException
from jsonpointer import JsonPointerException

from client_sdk.protocol.patching import MAX_DEPTH, PatchFailed, apply_patch
from client_sdk.protocol.pipeline import Pipeline
from client_sdk.replay import replay
from tests.client_sdk.protocol.driving import drive
from tests.client_sdk.protocol.test_conversation import FINISH, START, codes


def patched(document: Any, *operations: dict[str, Any]) -> Any:
    return apply_patch(document, StateDeltaEvent.model_validate({"delta": list(operations)}).delta)


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    ("document", "operations", "result"),
    [
        ({}, [], {}),
        ({"a": 1}, [{"op": "add", "path": "", "value": [1]}], [1]),
        (None, [{"op": "replace", "path": "", "value": {"a": None}}], {"a": None}),
        ({"a": [1]}, [{"op": "add", "path": "/a/-", "value": 2}, {"op": "remove", "path": "/a/0"}], {"a": [2]}),
        ({"a/b": 1, "m~n": 2}, [{"op": "replace", "path": "/a~1b", "value": 3}], {"a/b": 3, "m~n": 2}),
        ({"a": {"b": 1}}, [{"op": "move", "from": "/a/b", "path": "/c"}], {"a": {}, "c": 1}),
        ({"a": [1]}, [{"op": "copy", "from": "/a", "path": "/b"}], {"a": [1], "b": [1]}),
        ({"a": 1}, [{"op": "test", "path": "/a", "value": 1.0}], {"a": 1}),
        ({"": 1}, [{"op": "replace", "path": "/", "value": 2}], {"": 2}),
    ],
)
def test_a_patch_applies_to_a_copy(document: Any, operations: list[dict[str, Any]], result: Any) -> None:
    before = json.dumps(document)
    assert patched(document, *operations) == result
    assert json.dumps(document) == before


@pytest.mark.parametrize(
    "operations",
    [
        [{"op": "test", "path": "/a", "value": True}],
        [{"op": "test", "path": "/b", "value": "1"}],
        [{"op": "add", "path": "/x/y", "value": 1}],
        [{"op": "remove", "path": "/b/9"}],
        [{"op": "add", "path": "/b/01", "value": 1}],
        [{"op": "replace", "path": "/nothing", "value": 1}],
        [{"op": "move", "from": "/c", "path": "/c/inside"}],
        [{"op": "add", "path": "/a/b", "value": 1}],
    ],
)
def test_a_patch_that_fails_in_the_middle_changes_nothing(operations: list[dict[str, Any]]) -> None:
    document = {"a": 1, "b": [1], "c": {}}
    first = {"op": "add", "path": "/b/-", "value": 2}
    with pytest.raises(PatchFailed, match="operation 1 "):
        patched(document, first, *operations)
    assert document == {"a": 1, "b": [1], "c": {}}


def test_what_a_failing_patch_quotes_is_bounded() -> None:
    with pytest.raises(PatchFailed) as caught:
        patched({"a": "x" * 100_000}, {"op": "test", "path": "/a", "value": "y" * 100_000})
    assert len(str(caught.value)) < 1_000


def test_a_result_may_be_as_deep_as_a_frame_can_carry_and_no_deeper() -> None:
    add = {"op": "add", "path": "/a", "value": nested(MAX_DEPTH - 1)}
    deepest = patched({}, add)
    pipeline, _ = drive(START, {"type": "STATE_SNAPSHOT", "snapshot": deepest})
    assert pipeline.error is None
    with pytest.raises(PatchFailed, match="levels deep"):
        patched({}, {**add, "value": nested(MAX_DEPTH)})


@pytest.mark.parametrize("kind", ["state", "activity"])
def test_patches_cannot_pile_up_what_nothing_could_write(kind: str) -> None:
    """Each frame alone is fine; what they add up to could neither be reported nor sent."""
    pipeline = Pipeline()
    pipeline.feed_raw(dict(START))
    pipeline.feed_raw({"type": "ACTIVITY_SNAPSHOT", "messageId": "v", "activityType": "t", "content": {}})
    events = []
    for step in range(6):
        patch = [{"op": "add", "path": "/a" * (150 * step + 1), "value": nested(149)}]
        state = {"type": "STATE_DELTA", "delta": patch}
        activity = {"type": "ACTIVITY_DELTA", "messageId": "v", "activityType": "t", "patch": patch}
        events.append(state if kind == "state" else activity)
        pipeline.feed_raw(events[-1])
    assert {code for code, _ in codes(pipeline)} == {"patch_failed"}
    snapshot = {"type": "ACTIVITY_SNAPSHOT", "messageId": "v", "activityType": "t", "content": {}}
    report = replay([json.dumps(event) for event in (START, snapshot, *events, FINISH)])
    assert report["status"] == "completed"
    assert json.loads(json.dumps(report)) == report


# Against the library alone, on a copy of the whole document.

_KEYS = st.sampled_from(["a", "b", "0", "1", "-", "01", ""])
_DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=8,
)
_PATHS = st.lists(_KEYS, max_size=3).map(lambda keys: "".join(f"/{key}" for key in keys))
_OPERATIONS = st.one_of(
    st.fixed_dictionaries(
        {"op": st.sampled_from(["add", "replace", "test"]), "path": _PATHS, "value": _DOCUMENTS},
    ),
    st.fixed_dictionaries({"op": st.just("remove"), "path": _PATHS}),
    st.fixed_dictionaries({"op": st.sampled_from(["move", "copy"]), "path": _PATHS, "from": _PATHS}),
)


@given(_DOCUMENTS, st.lists(_OPERATIONS, min_size=1, max_size=4), st.lists(_OPERATIONS, min_size=1, max_size=2))
def test_patches_do_what_the_library_does_and_leave_every_earlier_value_alone(
    document: Any, first: list[dict[str, Any]], second: list[dict[str, Any]]
) -> None:
    """SN-2: values handed out before stay as they were, those inside the patches included."""
    history = [document]
    for operations in (first, second):
        before = json.dumps([history, operations])
        try:
            expected = JsonPatch(copy.deepcopy(operations)).apply(copy.deepcopy(history[-1]))
        except (JsonPatchException, JsonPointerException):
            with pytest.raises(PatchFailed):
                patched(history[-1], *operations)
        else:
            result = patched(history[-1], *operations)
            assert json.dumps(result) == json.dumps(expected)
            history.append(result)
        assert json.dumps([history[: len(json.loads(before)[0])], operations]) == before


def test_a_small_patch_cannot_make_a_huge_document() -> None:
    """SN-2: copying a list into itself doubles it each time."""
    double = {"op": "copy", "from": "/a", "path": "/a/-"}
    with pytest.raises(PatchFailed, match="more than 1,000,000 values"):
        patched({"a": [1, 2, 3]}, *[double] * 60)
