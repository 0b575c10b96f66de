"""Which version this is, installed or straight from a checkout."""

from __future__ import annotations

import tomllib
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Final

PACKAGE: Final = "ag-ui-consumer"
_PROJECT: Final = Path(__file__).resolve().parents[2] / "pyproject.toml"


def package_version() -> str:
    """The version of the installed package, else that of the checkout this file lies in, else ``unknown``."""
    try:
        return installed_version(PACKAGE)
    except PackageNotFoundError:
        return _checkout_version(_PROJECT) or "unknown"


def _checkout_version(file: Path) -> str | None:
    try:
        project = tomllib.loads(file.read_text(encoding="utf-8")).get("project", {})
    except (OSError, ValueError):  # no such file, or somebody else's of that name that is no TOML
        return None
    version = project.get("version") if project.get("name") == PACKAGE else None
    return version if isinstance(version, str) else None
