"""The documentation tells the truth: its table is the gate's own, its examples run, its files and names exist."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import client_sdk
from client_sdk.tools.gate import as_markdown
from tests.serving import serve_app

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
GUIDE = (ROOT / "docs/guide.md").read_text(encoding="utf-8")
REFERENCE = (ROOT / "docs/api.md").read_text(encoding="utf-8")
ADDRESS = "http://127.0.0.1:8000/agent"
EXAMPLES = dict(re.findall(r"<!-- example: (\w+) -->\n```python\n(.*?)```", README + GUIDE + REFERENCE, re.DOTALL))
OUTPUTS = {
    "first": ["[completed]"],
    "blocking": ["get_weather", "completed"],
    "tool": ["place_order with", "completed"],
    "middleware": [],
    "store": [],
    "restore": ["place_order with", "held: None", "completed", "placed: 3 of CUP-01"],
    "failure": ["only 2 of CUP-01 in stock"],
    "unanswered": ["still open: place_order", "Order 42"],
    "interrupts": ["approved", "completed"],
    "waiting": ["truncated True", "Order 42"],
    "replay": ["recorded[completed]"],
    "pipeline": ["RUN_FINISHED", "Shipped. completed", "unknown_property at /colour"],
}
"""What each example prints, among other things."""
NEEDS_FIRST = {"restore": ["store"]}
RECORDED = """\
data: {"type":"RUN_STARTED","threadId":"t-1","runId":"r-1"}

data: {"type":"TEXT_MESSAGE_CHUNK","messageId":"m-1","delta":"recorded"}

data: {"type":"RUN_FINISHED","threadId":"t-1","runId":"r-1"}

"""


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


def _run(name: str, folder: Path, agent_url: str) -> str:
    source = EXAMPLES[name].replace(ADDRESS, agent_url)
    assert ":8000" not in source
    script = folder / f"{name}.py"
    script.write_text(source, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_example_is_run() -> None:
    assert EXAMPLES.keys() == OUTPUTS.keys()


@pytest.mark.parametrize("name", OUTPUTS)
def test_the_examples_run(agent_url: str, tmp_path: Path, name: str) -> None:
    (tmp_path / "run.sse").write_text(RECORDED, encoding="utf-8")
    for earlier in NEEDS_FIRST.get(name, []):
        _run(earlier, tmp_path, agent_url)
    printed = _run(name, tmp_path, agent_url)
    assert [expected for expected in OUTPUTS[name] if expected not in printed] == [], printed


def test_the_reference_has_every_public_name() -> None:
    named = set(re.findall(r"\w+", REFERENCE))
    assert sorted(set(client_sdk.__all__) - named) == []


@pytest.mark.parametrize("page", sorted(path.name for path in (ROOT / "docs").glob("*.md")))
def test_every_file_the_pages_name_exists(page: str) -> None:
    named = re.findall(r"\]\(((?!http)[^)#]+)\)", (ROOT / "docs" / page).read_text(encoding="utf-8"))
    assert [name for name in named if not (ROOT / "docs" / name).exists()] == []


def test_every_file_the_readme_names_exists() -> None:
    named = re.findall(r"\]\(((?!http)[^)#]+)\)", README)
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []
