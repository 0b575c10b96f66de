"""JSON read strictly and written canonically (FT-5)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client_sdk.jsontext import MAX_DEPTH, canonical_json, parse_json

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "Expecting value"),
        ('{"a":', "Expecting value"),
        ("{'a': 1}", "property name"),
        ('{"a": 1} {"a": 1}', "Extra data"),
        ("[NaN]", "NaN is not a JSON number"),
        ("[Infinity]", "Infinity is not"),
        ("-Infinity", "-Infinity is not"),
        ("1e999", "too large"),
        ('{"a": 1, "b": 2, "a": 1}', 'property "a" occurs twice'),
        ('{"x": {"a": 1, "a": 2}}', 'property "a" occurs twice'),
        ("[" * 101 + "]" * 101, "nested more than 100"),
        ("[" * 200_000, "nested more than 100"),
        ('["\\ud83d"]', "half of a UTF-16 surrogate pair"),
        ('{"\\udc00": 1}', "half of a UTF-16 surrogate pair"),
        ("9" * 5000, "integer string conversion"),
    ],
    ids=lambda text: text[:20],
)
def test_what_is_no_strict_json_says_why(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_json(text)


def test_a_pair_that_is_whole_is_a_character() -> None:
    assert parse_json('"\\ud83d\\ude00"') == "😀"


def test_the_deepest_text_that_is_read() -> None:
    parse_json("[" * (MAX_DEPTH - 1) + "{}" + "]" * (MAX_DEPTH - 1))


@given(json_values)
def test_canonical_json_reads_back_equal(value: Any) -> None:
    assert parse_json(canonical_json(value)) == value


@given(st.dictionaries(st.text(), st.integers()))
def test_canonical_json_forgets_order(value: dict[str, int]) -> None:
    assert canonical_json(dict(reversed(value.items()))) == canonical_json(value)


def test_many_doubled_properties_do_not_take_long() -> None:
    """One pass, not one per property: a hostile text of 200,000 names is judged all the same."""
    names = ",".join(f'"{n}":0' for n in range(200_000))
    with pytest.raises(ValueError, match="occurs twice"):
        parse_json("{" + names + ',"7":0}')
