"""The table: on the terminal, as JSON, and in RESULTS.md."""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks.measure import Row

HEAD = ("What", "On", "Ratio", "Range", "Goal", "Met", "Figures")
RESULTS = Path(__file__).with_name("RESULTS.md")
_START, _END = "<!-- table -->", "<!-- /table -->"


def machine() -> str:
    """The machine in one line: cores, processor, system, Python."""
    return (
        f"{os.cpu_count()} cores, {_processor()}, {platform.system()}, "
        f"{platform.python_implementation()} {platform.python_version()}"
    )


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    found = re.search(r"^model name\s*: (.*)$", info.read_text(), re.M) if info.exists() else None
    return found[1] if found else platform.processor() or platform.machine()


def cells(row: Row) -> tuple[str, ...]:
    """A row as text."""
    goal = "" if row.goal is None else str(row.goal)
    if row.ratio is None:
        return row.group, row.name, "not measured", "", goal, "", row.reason
    met = {None: "", True: "yes", False: "no"}[row.met]
    spread = f"{_figure(min(row.ratios))}–{_figure(max(row.ratios))}" if len(row.ratios) > 1 else ""
    return row.group, row.name, _figure(row.ratio), spread, goal, met, row.figures


def _figure(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"


def markdown(rows: Iterable[Row]) -> str:
    """The table in Markdown, padded so that it reads as plain text too."""
    lines = [HEAD, *map(cells, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
    rule = tuple("-" * width for width in widths)
    padded = [
        "| " + " | ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)) + " |"
        for line in (lines[0], rule, *lines[1:])
    ]
    return "\n".join(padded)


def document(rows: Sequence[Row], command: str) -> dict[str, Any]:
    """The run as a JSON object."""
    return {
        "machine": machine(),
        "date": date.today().isoformat(),
        "command": command,
        "rows": [row.document() for row in rows],
    }


def write_json(path: Path, rows: Sequence[Row], command: str) -> None:
    """Write the run as JSON."""
    path.write_text(json.dumps(document(rows, command), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def write_results(rows: Sequence[Row], command: str, path: Path = RESULTS) -> None:
    """Put the table into RESULTS.md, in the place of the one that is there.

    Raises:
        ValueError: the file has no place for a table.
    """
    text = path.read_text(encoding="utf-8")
    before, start, rest = text.partition(_START)
    _, end, after = rest.partition(_END)
    if not start or not end:
        raise ValueError(f"{path} has no {_START} … {_END} to put the table between")
    told = f"Measured on {date.today().isoformat()} with `{command}` on {machine()}."
    path.write_text(f"{before}{start}\n\n{told}\n\n{markdown(rows)}\n\n{end}{after}", encoding="utf-8")
