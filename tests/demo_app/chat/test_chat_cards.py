"""What cards draw of data that may have any shape."""

from typing import Any

import pytest

from demo_app.cards import chart
from demo_app.cards.chart import HEIGHT, WIDTH, draw
from demo_app.cards.table import TOOL_BODIES
from demo_app.frontend_tools import TOOLS
from demo_app.i18n import TEXTS
from demo_app.state.phases import PHASES

ODD: tuple[Any, ...] = (None, 0, "", [], {}, [1], {"orders": 7}, {"products": [{}]}, {"months": []}, {"found": "?"})


@pytest.mark.parametrize("name", list(TOOL_BODIES))
def test_no_reader_fails_on_odd_data(name: str) -> None:
    for arguments in ODD:
        for result in ODD:
            drawn = TOOL_BODIES[name].read(arguments, result)
            assert drawn is None or isinstance(drawn, dict)


@pytest.mark.parametrize("values", [[1.0, 2.0, 3.0], [-5.0, 5.0], [0.0, 0.0], [-1.0, -2.0], [1e9]])
@pytest.mark.parametrize("shape", ["bar", "line"])
def test_every_mark_lies_inside_the_drawing(values: list[float], shape: str) -> None:
    drawn = draw("t", shape, [f"label {n}" for n in range(len(values))], values, "")
    for mark in drawn.marks:
        assert 0 <= float(mark.x) <= WIDTH
        assert 0 <= float(mark.y) <= HEIGHT
        assert float(mark.y) + float(mark.height) <= HEIGHT
    assert len(drawn.marks) == len(values)


def test_labels_that_would_run_into_each_other_are_thinned_out() -> None:
    months = [f"2026-{month:02}" for month in range(1, 13)]
    ticks = [mark.tick for mark in draw("t", "bar", months, [1.0] * 12, "").marks]
    assert ticks[0] == "2026-01"
    assert 3 <= sum(map(bool, ticks)) <= 6


def test_a_chart_with_more_labels_than_values_is_not_drawn() -> None:
    assert chart.read_shown({"title": "t", "kind": "bar", "labels": ["a", "b"], "values": [1]}, None) is None


ALL = ("status", "All", "전체")


@pytest.mark.parametrize(
    ("page", "applied", "facts"),
    [
        ("orders", {"status": "pending", "query": ""}, [("status", "Pending", "대기"), ("rows", "3", "")]),
        ("invoices", {"status": "open"}, [("status", "Open", "미납"), ("rows", "3", "")]),
        ("products", {"status": "grinders"}, [("status", "Grinders", "그라인더"), ("rows", "3", "")]),
        ("orders", {"query": "jeju"}, [("query", "jeju", ""), ("rows", "3", "")]),
        (
            "orders",
            {"status": "", "query": "jeju"},
            [ALL, ("query", "jeju", ""), ("rows", "3", "")],
        ),
        ("orders", {"query": ""}, [ALL, ("rows", "3", "")]),
        ("orders", {"status": "eaten"}, [("status", "eaten", ""), ("rows", "3", "")]),
    ],
)
def test_a_filter_is_told_in_the_words_of_its_page(
    page: str, applied: dict[str, str], facts: list[tuple[str, str, str]]
) -> None:
    drawn = TOOL_BODIES["set_filter"].read({"page": page}, {"applied": applied, "rows": 3})
    assert drawn is not None
    assert [(fact.label, fact.value, fact.value_ko) for fact in drawn["facts"]] == facts


def test_what_was_filled_in_is_told_by_the_names_of_the_fields() -> None:
    drawn = TOOL_BODIES["fill_form"].read({}, {"filled": ["customer_id", "sku"]})
    assert drawn is not None
    assert [(fact.value, fact.value_ko) for fact in drawn["facts"]] == [("Customer, Product", "고객, 상품")]


def test_each_known_tool_has_a_title_in_both_languages() -> None:
    assert [name for name in {*TOOL_BODIES, *TOOLS.offered()} if f"tool.{name}" not in TEXTS] == []


def test_each_phase_has_a_word() -> None:
    assert [phase for phase in PHASES if phase and f"phase.{phase}" not in TEXTS] == []
