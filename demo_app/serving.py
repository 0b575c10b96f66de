"""Building the pages once, and serving them with the agent on one port.

Nothing here imports Reflex: the build and the server are programs of their own, so that the
same build can be served many times over (the browser tests do).
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
BUILD: Final = ROOT / ".web" / "build" / "client"
STAMP: Final = ROOT / ".web" / "built.sha256"

_MANIFEST: Final = ROOT / "reflex.lock" / "package.json"
_SOURCES: Final = ("rxconfig.py", "requirements.lock", "demo_app", "client_sdk", "assets", "reflex.lock")
_QUIET: Final = {"REFLEX_CHECK_LATEST_VERSION": "false", "REFLEX_TELEMETRY_ENABLED": "false"}
_SERVE_BUILT: Final = {
    **_QUIET,
    "REFLEX_ENV_MODE": "prod",
    "__REFLEX_SKIP_COMPILE": "true",
    "__REFLEX_MOUNT_FRONTEND_COMPILED_APP": "true",
}


class BuildError(Exception):
    """The pages could not be built; the message ends with what the build said."""


def _files() -> Iterator[Path]:
    for name in _SOURCES:
        place = ROOT / name
        yield from [place] if place.is_file() else sorted(p for p in place.rglob("*") if _counts(p))


def _counts(path: Path) -> bool:
    return path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc"


def fingerprint() -> str:
    """A hash of everything the build is made from."""
    digest = hashlib.sha256()
    for path in _files():
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def is_built() -> bool:
    """Whether the build at hand was made from these very sources."""
    return BUILD.is_dir() and STAMP.exists() and STAMP.read_text() == fingerprint()


def build() -> bool:
    """Build the pages, unless the build at hand was made from these very sources.

    Returns:
        Whether anything had to be built.

    Raises:
        BuildError: the build failed.
    """
    if is_built():
        return False
    manifest = _MANIFEST.read_text(encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "reflex", "export", "--frontend-only", "--no-zip"],
        cwd=ROOT,
        env={**os.environ, **_QUIET},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode or not BUILD.is_dir():
        raise BuildError(f"building the pages failed (status {done.returncode}):\n{done.stdout[-4000:]}")
    if json.loads(_MANIFEST.read_text(encoding="utf-8")) == json.loads(manifest):
        # Reflex writes the same content in another layout, which would show as a change of the checkout.
        _MANIFEST.write_text(manifest, encoding="utf-8")
    # The lock may have been completed by the build, so what was built is fingerprinted afterwards.
    STAMP.write_text(fingerprint())
    return True


def server_command(port: int, host: str = "127.0.0.1") -> list[str]:
    """The command that serves pages, backend and agent of an existing build.

    Args:
        port: the TCP port.
        host: the address to listen on.
    """
    return [
        sys.executable,
        *("-m", "demo_app.server", "--host", host, "--port", str(port)),
    ]


def server_environment(**changes: str) -> dict[str, str]:
    """The environment of a server process.

    Args:
        changes: variables of the demo, such as ``DEMO_DATA_DIR``.
    """
    return {**os.environ, **_SERVE_BUILT, **changes}
