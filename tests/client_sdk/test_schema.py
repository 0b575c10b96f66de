"""JSON Schema: wording a model can mend from, and schemas nobody can use (FT-5, IR-2)."""

from __future__ import annotations

import socket
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from client_sdk.schema import MAX_PROBLEMS, Problem, Schema, SchemaUnusable, json_type, pointer, quote

WORDINGS: list[tuple[dict[str, Any], Any, str]] = [
    ({"type": "integer"}, "x", 'at /: expected integer, found string "x"'),
    ({"type": ["string", "boolean"]}, None, "at /: expected string or boolean, found null"),
    ({"type": "integer"}, True, "at /: expected integer, found boolean true"),
    (
        {"properties": {"a": {"properties": {"b/c": {"type": "number"}}}}},
        {"a": {"b/c": []}},
        "at /a/b~1c: expected number, found array []",
    ),
    ({"required": ["a", "b"]}, {"b": 1}, 'at /: required property "a" is missing'),
    (
        {"properties": {"a": {}}, "additionalProperties": False},
        {"a": 1, "z": 2},
        'at /: unknown property "z"; known are "a"',
    ),
    ({"additionalProperties": False}, {"z": 2}, 'at /: unknown property "z"; known are none'),
    (
        {"patternProperties": {"^x": {}}, "additionalProperties": False},
        {"x1": 1, "y": 2},
        'at /: unknown property "y"; known are none',
    ),
    ({"enum": ["a", 1]}, "b", 'at /: expected one of "a", 1, found "b"'),
    ({"const": 3}, 4, "at /: expected 3, found 4"),
    ({"minimum": 1}, 0, "at /: expected at least 1, found 0"),
    ({"maximum": 1}, 2, "at /: expected at most 1, found 2"),
    ({"exclusiveMinimum": 1}, 1, "at /: expected more than 1, found 1"),
    ({"exclusiveMaximum": 1}, 1, "at /: expected less than 1, found 1"),
    ({"multipleOf": 2}, 3, "at /: expected a multiple of 2, found 3"),
    ({"minLength": 2}, "a", 'at /: expected at least 2 characters, found "a"'),
    ({"maxLength": 1}, "ab", 'at /: expected at most 1 characters, found "ab"'),
    ({"pattern": "^a$"}, "b", 'at /: expected text matching ^a$, found "b"'),
    ({"minItems": 1}, [], "at /: expected at least 1 items, found 0"),
    ({"maxItems": 1}, [1, 2], "at /: expected at most 1 items, found 2"),
    (
        {"anyOf": [{"type": "string"}, {"properties": {"x": {"type": "integer"}}}]},
        {"x": "y"},
        'at /: found {"x": "y"}, which fits none of the alternatives: expected string, found object {"x": "y"};'
        ' or expected integer, found string "y" (at /x)',
    ),
    (
        {"oneOf": [{"type": "string"}]},
        1,
        "at /: found 1, which fits none of the alternatives: expected string, found integer 1",
    ),
    ({"oneOf": [{}, {}]}, 1, "at /: found 1, which fits more than one alternative"),
    ({"uniqueItems": True}, [1, 1], "at /: [1, 1] does not satisfy uniqueItems: true"),
]


@pytest.mark.parametrize(("schema", "value", "said"), WORDINGS, ids=lambda x: str(x)[:40])
def test_a_problem_names_the_path_and_what_was_expected(schema: dict[str, Any], value: Any, said: str) -> None:
    assert [str(problem) for problem in Schema(schema).problems(value)] == [said]


def test_a_value_that_fits_has_no_problem() -> None:
    assert Schema({"type": "object"}).problems({}) == []
    assert Schema(True).problems(1) == []


def test_a_schema_of_an_older_draft_is_judged_by_that_draft() -> None:
    draft4 = {"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 1, "exclusiveMinimum": True}
    assert Schema(draft4).problems(1) != []
    assert Schema(draft4).problems(2) == []


def test_what_several_misses_have_in_common_is_said_once() -> None:
    (problem,) = Schema({"required": ["a", "b"]}).problems({})
    assert problem.message == 'required property "a", "b" is missing'


def test_problems_are_bounded_and_sorted_by_path() -> None:
    problems = Schema({"items": {"type": "string"}}).problems(list(range(100)))
    assert len(problems) == MAX_PROBLEMS
    assert problems == sorted(problems, key=lambda problem: problem.path)


UNUSABLE: list[Any] = [
    [],
    "object",
    {"type": "text"},
    {"type": 5},
    {"properties": []},
    {"pattern": "("},
    {"$schema": 5},
    {"required": "a"},
    {"$ref": 5},
]


@pytest.mark.parametrize("schema", UNUSABLE, ids=str)
def test_what_is_no_schema_says_so_at_once(schema: Any) -> None:
    with pytest.raises(SchemaUnusable, match="JSON Schema"):
        Schema(schema)


UNDECIDABLE: list[tuple[Any, Any]] = [
    ({"$ref": "#"}, 1),
    ({"$ref": "#/$defs/x"}, 1),
    ({"$dynamicRef": "#x"}, 1),
    ({"$ref": "urn:example:other"}, 1),
    ({"multipleOf": 0.1}, 10**400),
]


@pytest.mark.parametrize(("schema", "value"), UNDECIDABLE, ids=str)
def test_what_cannot_judge_a_value_says_so_when_asked(schema: Any, value: Any) -> None:
    usable = Schema(schema)
    with pytest.raises(SchemaUnusable, match="not a usable JSON Schema"):
        usable.problems(value)


def _doubling(keyword: str) -> dict[str, Any]:
    """A schema of 40 levels that asks each twice for the next: 2 ** 40 steps."""
    twice = {f"a{n}": {keyword: [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(40)}
    return {"$defs": {**twice, "a40": True}, "$ref": "#/$defs/a0"}


BACKTRACKING = "^(a|aa)+$"
SLOW = "a" * 60 + "!"
ENDLESS: list[tuple[Any, Any]] = [
    ({"pattern": BACKTRACKING}, SLOW),
    ({"items": {"pattern": BACKTRACKING}}, [SLOW] * 1_000),
    ({"patternProperties": {BACKTRACKING: {}}}, {SLOW: 1}),
    ({"additionalProperties": False, "patternProperties": {BACKTRACKING: {}}}, {SLOW: 1}),
    ({"propertyNames": {"pattern": BACKTRACKING}}, {SLOW: 1}),
    ({"$schema": "http://json-schema.org/draft-04/schema#", "pattern": BACKTRACKING}, SLOW),
    (_doubling("allOf"), 1),
    (_doubling("oneOf"), 1),
]


@pytest.mark.parametrize(("schema", "value"), ENDLESS, ids=lambda x: str(x)[:40])
def test_a_schema_cannot_ask_for_endless_work(schema: Any, value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent's schema must not stop the event loop (IR-2)."""
    monkeypatch.setattr("client_sdk.bounded.PATTERN_SECONDS", 0.05)
    usable = Schema(schema)
    for _ in range(2):  # the allowance is each judgement's own
        with pytest.raises(SchemaUnusable, match=r"too long to match|too many steps"):
            usable.problems(value)


def test_names_that_no_limit_reaches_make_a_schema_unusable() -> None:
    with pytest.raises(SchemaUnusable, match="unevaluatedProperties beside patternProperties"):
        Schema({"allOf": [{"patternProperties": {BACKTRACKING: {}}}], "unevaluatedProperties": False})
    assert Schema({"properties": {"a": {}}, "unevaluatedProperties": False}).problems({"b": 1}) != []


def test_a_large_value_may_take_the_work_it_needs() -> None:
    rows = [{"id": n, "name": f"row {n}", "tags": ["a", "b"]} for n in range(5_000)]
    row = {
        "type": "object",
        "properties": {
            "id": {"type": "integer", "minimum": 0},
            "name": {"type": "string", "pattern": "^row [0-9]+$", "maxLength": 20},
            "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "uniqueItems": True},
        },
        "required": ["id", "name"],
        "additionalProperties": False,
    }
    schema = Schema({"type": "array", "items": row})
    assert schema.problems(rows) == []
    assert [p.path for p in schema.problems([*rows, {"id": -1, "name": "x"}])] == ["/5000/id", "/5000/name"]


@pytest.mark.parametrize(
    ("schema", "value", "paths"),
    [
        ({"patternProperties": {"^n": {"type": "integer"}}}, {"n1": "x", "n2": 2, "m": "y"}, ["/n1"]),
        ({"additionalProperties": {"type": "integer"}, "properties": {"a": {}}}, {"a": "x", "b": "y"}, ["/b"]),
        ({"additionalProperties": False, "patternProperties": {"^x": {}}}, {"x1": 1, "y": 2}, [""]),
        ({"patternProperties": {"^n": False}}, ["n"], []),
        ({"additionalProperties": False}, ["n"], []),
        ({"pattern": "^a"}, 5, []),
        ({"pattern": "b$"}, "ab", []),
    ],
)
def test_keywords_with_patterns_mean_what_they_mean_everywhere(schema: Any, value: Any, paths: list[str]) -> None:
    assert [p.path for p in Schema(schema).problems(value)] == paths
    assert bool(paths) is not Draft202012Validator(schema).is_valid(value)


def test_a_remote_reference_is_never_fetched() -> None:
    """An agent's schema must not make this process call an address of the agent's choice."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        schema = Schema({"$ref": f"http://127.0.0.1:{listener.getsockname()[1]}/schema.json"})
        with pytest.raises(SchemaUnusable):
            schema.problems(1)
        with pytest.raises(BlockingIOError):
            listener.accept()


def test_quoting_is_bounded_however_deep_or_long_the_value() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert quote(deep) == "a deeply nested array"
    assert len(quote("x" * 10_000)) == 120
    assert quote({"a": 1}) == '{"a": 1}'
    while deep:  # taken apart from the outside: freeing it at once would recurse
        deep = deep[0]


def test_names_of_json_types_and_pointers() -> None:
    assert [json_type(v) for v in (None, True, 1, 1.5, "", [], {})] == [
        "null",
        "boolean",
        "integer",
        "number",
        "string",
        "array",
        "object",
    ]
    assert pointer(["a~b", "c/d", 0]) == "/a~0b/c~1d/0"
    assert str(Problem("", "x")) == "at /: x"
