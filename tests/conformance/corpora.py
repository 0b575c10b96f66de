"""Finds fixture folders and reads them: the own corpus, the shared one, and any the environment names."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
OWN = ROOT / "tests" / "corpus" / "streams"
SHARED = ROOT.parent / "shared"
VARIABLE = "AGUI_CONFORMANCE_DIRS"


@dataclass(frozen=True)
class Case:
    """One fixture and the codes expected of it."""

    folder: Path
    fixture: dict[str, Any]
    codes: dict[str, Any]

    def __str__(self) -> str:
        return str(self.fixture["name"])


def folders() -> list[Path]:
    """Return every folder to run, the own corpus first, each once."""
    named = [Path(part) for part in os.environ.get(VARIABLE, "").split(os.pathsep) if part]
    shared = [path for path in [SHARED / "conformance" / "streams"] if path.is_dir()]
    return list(dict.fromkeys(path.resolve() for path in [OWN, *shared, *map(_streams_of, named)]))


def _streams_of(folder: Path) -> Path:
    """Return the folder that holds the fixtures: `folder` itself, or its ``streams``."""
    inner = folder / "streams"
    return inner if inner.is_dir() else folder


def read(folder: Path) -> list[Case]:
    """Read the fixtures of `folder`; a folder without any is an error, not an empty success."""
    codes = _codes(folder)
    files = sorted(path for path in folder.glob("*.json") if path.name != "codes.json")
    if not files:
        raise FileNotFoundError(f"no fixtures in {folder}")
    cases = []
    for path in files:
        fixture = json.loads(path.read_text(encoding="utf-8"))
        cases.append(Case(folder, fixture, codes.get(fixture["name"], {})))
    return cases


def _codes(folder: Path) -> dict[str, Any]:
    for path in (folder / "codes.json", folder.parent / "codes.json"):
        if path.is_file():
            loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            return loaded
    return {}
