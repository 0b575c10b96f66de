"""Imports point one way, the protocol core is pure, and applications use public names only."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import client_sdk

ROOT = Path(client_sdk.__file__).parent
REPOSITORY = ROOT.parent

RANKS: tuple[tuple[str, ...], ...] = (
    ("errors", "diagnostics"),
    ("bounded", "options"),
    ("schema",),
    ("jsontext",),
    ("forms",),
    ("legacy.flatten",),
    ("protocol",),
    ("transport", "legacy", "interrupts", "results", "middleware"),
    ("replay", "tools"),
    ("exchange",),
    ("agent",),
    ("blocking",),
    ("cli",),
    ("__main__", "__init__"),
)
"""Each part may import the parts above it, and none beside it or below it."""

STAGES = {"compat", "enforce", "chunks", "surrogates", "order", "conversation", "runs"}
SUPPORT = {"notes", "vocabulary", "patching"}
COMPOSERS = {"pipeline", "outgoing"}
STAGE_IMPORTS = {("runs", "conversation")}
"""A run's record looks its calls up in the conversation; no other stage knows another."""

PURE = {
    "__future__", "ag_ui", "client_sdk", "collections", "dataclasses", "enum", "functools", "json", "jsonpatch",
    "jsonpointer", "pydantic", "pydantic_core", "re", "textwrap", "types", "typing",
}  # fmt: skip
"""All that the protocol core may use: nothing that waits, reads a clock, makes an id, logs or reaches out."""


def _module(path: Path) -> str:
    """`path` as a dotted name inside the package: ``protocol.order``, ``cli``, ``__init__``."""
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    if len(parts) > 1 and parts[-1] == "__init__":
        parts.pop()
    return ".".join(parts)


MODULES = {_module(path): path for path in sorted(ROOT.rglob("*.py"))}


def _part(module: str) -> str:
    """The part of the package that `module` belongs to, as `RANKS` names it."""
    named = {name for rank in RANKS for name in rank}
    return module if module in named else module.partition(".")[0]


def _is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _statements(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports that are carried out, wherever they stand; those for types alone are none."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield node
    for child in [] if _is_type_checking(node) else ast.iter_child_nodes(node):
        yield from _statements(child)


def imported(path: Path) -> set[str]:
    """Dotted names of the modules that the file at `path` imports."""
    found: set[str] = set()
    for statement in _statements(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(statement, ast.Import):
            found |= {alias.name for alias in statement.names}
            continue
        assert statement.level == 0, f"{path}: a relative import"
        assert statement.module is not None
        # `from package import module` imports the module.
        submodules = {f"{statement.module}.{alias.name}" for alias in statement.names}
        found |= {name for name in submodules if name.removeprefix("client_sdk.") in MODULES} or {statement.module}
    return found


def own(path: Path) -> set[str]:
    """The package's own modules that the file at `path` imports."""
    return {name.removeprefix("client_sdk.") for name in imported(path) if name.startswith("client_sdk.")}


def test_every_part_has_a_rank() -> None:
    ranked = [name for rank in RANKS for name in rank]
    assert len(ranked) == len(set(ranked))
    assert {_part(module) for module in MODULES} == set(ranked)


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_one_way(module: str) -> None:
    rank = {name: position for position, names in enumerate(RANKS) for name in names}
    part = _part(module)
    wrong = [
        name
        for name in own(MODULES[module])
        if _part(name) != part
        and not (part == "legacy" and name == "legacy.flatten")
        and rank[_part(name)] >= rank[part]
    ]
    assert wrong == []


def test_stages_do_not_know_each_other() -> None:
    core = {module.partition(".")[2]: path for module, path in MODULES.items() if module.startswith("protocol.")}
    assert set(core) == STAGES | SUPPORT | COMPOSERS
    for module, path in core.items():
        known = {name.removeprefix("protocol.") for name in own(path) if name.startswith("protocol.")}
        allowed = {target for source, target in STAGE_IMPORTS if source == module}
        if module in COMPOSERS:
            allowed |= STAGES | SUPPORT
        if module in STAGES:
            allowed |= SUPPORT
        assert known - allowed == set(), module


@pytest.mark.parametrize("module", [module for module in MODULES if module.startswith("protocol")])
def test_the_protocol_core_is_pure(module: str) -> None:
    """It does not wait, and it imports nothing that could reach the world outside."""
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    waits = [node for node in ast.walk(tree) if isinstance(node, ast.AsyncFunctionDef | ast.Await | ast.AsyncFor)]
    assert waits == []
    assert {name.partition(".")[0] for name in imported(MODULES[module])} <= PURE
    used = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert used & {"open", "print", "input", "__import__", "eval", "exec"} == set()


APPLICATIONS = [
    path for folder in ("demo_app", "examples", "e2e", "benchmarks") for path in (REPOSITORY / folder).rglob("*.py")
]


def test_applications_import_public_names_only() -> None:
    """The demo and the examples are written with what users have."""
    private = []
    for path in (path for path in APPLICATIONS if path.relative_to(REPOSITORY).parts[0] in ("demo_app", "examples")):
        for statement in _statements(ast.parse(path.read_text(encoding="utf-8"))):
            names = (
                [(alias.name, "") for alias in statement.names]
                if isinstance(statement, ast.Import)
                else [(statement.module or "", alias.name) for alias in statement.names]
            )
            private += [
                f"{path.name}: {module} {name}"
                for module, name in names
                if module.partition(".")[0] == "client_sdk"
                and (module != "client_sdk" or name not in client_sdk.__all__)
            ]
    assert private == []


def test_the_sdk_installs_without_the_demo_and_its_browser() -> None:
    """Importing it brings in no web framework, no server, no browser."""
    unwanted = ["reflex", "playwright", "uvicorn", "starlette", "fastapi", "anthropic", "pydantic_ai", "demo_app"]
    code = f"import sys, client_sdk, client_sdk.cli; print([name for name in {unwanted} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
