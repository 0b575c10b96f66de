"""The README tells the truth: its table is the gate's own, its examples run, its files exist."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from client_sdk.tools.gate import as_markdown
from tests.serving import serve_app

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
ADDRESS = "http://127.0.0.1:8000/agent"
EXAMPLES = dict(re.findall(r"<!-- example: (\w+) -->\n```python\n(.*?)```", README, re.DOTALL))


@pytest.fixture(scope="module")
def agent_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DEMO_DATA_DIR", str(tmp_path_factory.mktemp("shop")))
        from demo_app.agent.endpoint import create_app

        with serve_app(create_app()) as address:
            yield f"{address}/agent"


def test_the_table_of_what_runs_when_is_the_gates_own() -> None:
    """FT-4, FT-6, FT-8"""
    table = re.search(r"<!-- gate: begin -->\n(.*?)<!-- gate: end -->", README, re.DOTALL)
    assert table is not None
    assert table[1] == as_markdown()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("first", "[completed]"),
        ("blocking", "get_weather"),
        ("tool", "completed"),
        ("middleware", ""),
    ],
)
def test_the_examples_run(agent_url: str, tmp_path: Path, name: str, expected: str) -> None:
    source = EXAMPLES[name]
    assert ADDRESS in source
    script = tmp_path / "example.py"
    script.write_text(source.replace(ADDRESS, agent_url), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert expected in done.stdout
    if name == "tool":
        assert "place_order with" in done.stdout


def test_every_file_the_readme_names_exists() -> None:
    named = re.findall(r"\]\(((?!http)[^)#]+)\)", README)
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []
