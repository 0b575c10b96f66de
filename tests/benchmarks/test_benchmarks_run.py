"""The benchmarks run, and print the table they promise. What they measure is not judged here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from benchmarks.measure import Goal, Row
from benchmarks.table import HEAD, write_results

ROOT = Path(__file__).parents[2]
SECONDS = 120
GROUPS = {
    "pipeline ÷ strict validation alone": 7,
    "time per token, 1,000 messages ÷ none": 1,
    "time per piece of arguments, one call twice as long ÷ once": 2,
    "HttpAgent ÷ httpx + httpx-sse + validation": 6,
    "pipeline ÷ @ag-ui/client 1.0.0 on Node": 3,
    "peak memory of a replay, 2,000 events ÷ 20": 1,
    "20 threads with a tool each, at once": 3,
}
"""What is compared, and on how many rows."""
NEEDS_NODE = "pipeline ÷ @ag-ui/client 1.0.0 on Node"


@dataclass(frozen=True)
class Finished:
    printed: str
    document: dict[str, Any]


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """The benchmarks, run once, where the TypeScript client is not installed."""
    scratch = tmp_path_factory.mktemp("benchmarks")
    file = scratch / "figures.json"
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--quick", "--json", str(file)],
        cwd=ROOT,
        env={**os.environ, "AGUI_TS_CLIENT": str(scratch)},
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        timeout=SECONDS,
        check=True,
    )
    return Finished(done.stdout, json.loads(file.read_text(encoding="utf-8")))


def test_prints_one_table_of_all_rows(quick: Finished) -> None:
    table = [line for line in quick.printed.splitlines() if line.startswith("|")]
    assert [cell.strip() for cell in table[0].strip("|").split("|")] == list(HEAD)
    assert len(table) == 2 + sum(GROUPS.values())
    assert len({len(line) for line in table}) == 1


def test_every_group_has_its_rows(quick: Finished) -> None:
    counted: dict[str, int] = {}
    for row in quick.document["rows"]:
        counted[row["group"]] = counted.get(row["group"], 0) + 1
    assert counted == GROUPS


def test_every_row_is_a_ratio_with_its_range_and_figures(quick: Finished) -> None:
    for row in quick.document["rows"]:
        if row["group"] != NEEDS_NODE:
            assert 0 < row["min"] <= row["ratio"] <= row["max"], row
            assert len(row["ratios"]) >= 2, row
            assert " against " in row["figures"], row


def test_the_typescript_client_is_not_guessed_at(quick: Finished) -> None:
    rows = [row for row in quick.document["rows"] if row["group"] == NEEDS_NODE]
    assert [(row["ratio"], row["met"]) for row in rows] == [(None, None)] * 3
    assert all("npm install @ag-ui/client@1.0.0" in row["notMeasured"] for row in rows)
    assert quick.printed.count("not measured") == 3


def test_nothing_is_left_after_the_threads(quick: Finished) -> None:
    (row,) = (row for row in quick.document["rows"] if row["name"].startswith("memory after a round"))
    assert "tasks 0 → 0" in row["figures"]
    sockets = row["figures"].rpartition("sockets ")[2].split(" → ")
    assert sockets[0] == sockets[1]


def test_goals_are_judged_by_the_median() -> None:
    row = Row("a ÷ b", "c", (0.1, 0.5, 0.9), Goal(least=0.4))
    assert (row.ratio, row.met) == (0.5, True)
    assert Row("a ÷ b", "c", (1.0, 1.2, 1.3), Goal(most=1.1)).met is False
    assert Row("a ÷ b", "c", (), Goal(most=1.1), reason="not here").met is None


def test_the_results_file_takes_a_new_table_in_place_of_the_old(tmp_path: Path) -> None:
    file = tmp_path / "RESULTS.md"
    file.write_text("before\n<!-- table -->\nold\n<!-- /table -->\nafter\n", encoding="utf-8")
    for ratio in (2.0, 3.0):
        write_results([Row("a ÷ b", "c", (ratio,))], "python -m benchmarks", file)
    text = file.read_text(encoding="utf-8")
    assert text.startswith("before\n<!-- table -->\n")
    assert text.endswith("<!-- /table -->\nafter\n")
    assert "3.00" in text
    assert "2.00" not in text
    assert "old" not in text


def test_a_results_file_without_a_place_for_the_table_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "RESULTS.md"
    file.write_text("no place\n", encoding="utf-8")
    with pytest.raises(ValueError, match="<!-- table -->"):
        write_results([], "python -m benchmarks", file)
    assert file.read_text(encoding="utf-8") == "no place\n"
