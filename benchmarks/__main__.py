"""``python -m benchmarks``: measure everything, print one table."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks import loopback, memory, pipeline, table, tools, typescript
from benchmarks.measure import Row
from benchmarks.sizes import FULL, QUICK, Sizes


def _rows(sizes: Sizes) -> Iterator[Row]:
    yield from pipeline.rows(sizes)
    yield from loopback.rows(sizes)
    yield from typescript.rows(sizes)
    yield from memory.rows(sizes)
    yield from tools.rows(sizes)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="seconds instead of minutes: shows that it runs, no more")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure as JSON, too")
    parser.add_argument("--write", action="store_true", help="put the table into benchmarks/RESULTS.md")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; returns the exit status: 0, also when a goal is missed."""
    arguments = _parser().parse_args(argv)
    command = "python -m benchmarks" + (" --quick" if arguments.quick else "")
    rows = []
    for row in _rows(QUICK if arguments.quick else FULL):
        rows.append(row)
        # One line a row while it is measured; the table comes at the end.
        print(" · ".join(filter(None, table.cells(row))), file=sys.stderr, flush=True)
    print(f"{table.machine()}\n\n{table.markdown(rows)}")
    if arguments.json is not None:
        table.write_json(arguments.json, rows, command)
    if arguments.write:
        table.write_results(rows, command)
    return 0


if __name__ == "__main__":
    sys.exit(main())
