#!/usr/bin/env python3
"""Set up this project and run it: ``python3 dev.py demo`` or ``python3 dev.py test``.

Needs Python 3.11 or newer and nothing else. What it installs goes into ``.venv``
(exactly what ``requirements.lock`` names, checked by hash) and, for the browser
tests, a Chromium: Debian's package where this runs as root on Debian, otherwise
Playwright's own.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import venv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
LOCK = ROOT / "requirements.lock"
STAMP = VENV / "installed.sha256"
DEBIAN_PACKAGES = ("chromium", "fonts-noto-cjk", "fonts-noto-color-emoji")


class SetupError(Exception):
    """Something outside the project stands in the way; the message says what to do."""


def say(text: str) -> None:
    """Tell what is being done."""
    print(f"── {text}", flush=True)


def run(command: Sequence[str], *, env: Mapping[str, str] | None = None) -> None:
    """Run `command` in the project folder.

    Raises:
        SetupError: it failed; its own output stands above.
    """
    with subprocess.Popen(command, cwd=ROOT, env=None if env is None else {**os.environ, **env}) as process:
        try:
            status = process.wait()
        except BaseException:
            # Ctrl-C reaches the child by itself, a signal to this process alone does not.
            process.terminate()
            raise
    if status:
        raise SetupError(f"this failed with status {status}: {' '.join(command)}")


def is_debian_root() -> bool:
    """True where Debian packages may be installed."""
    return shutil.which("apt-get") is not None and hasattr(os, "geteuid") and os.geteuid() == 0


def apt_install(*packages: str) -> None:
    """Install Debian packages."""
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    run(["apt-get", "update", "-qq"], env=quiet)
    run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages], env=quiet)


def create_venv() -> None:
    """Make ``.venv``; Debian keeps what that needs in a package of its own."""
    try:
        import ensurepip  # noqa: F401
    except ImportError:
        version = f"python3.{sys.version_info.minor}-venv"
        if not is_debian_root():
            raise SetupError(f"this Python cannot make virtual environments; install {version} and try again") from None
        apt_install(version)
    venv.create(VENV, with_pip=True, clear=True)


def ensure_python() -> None:
    """Install what the lock names, unless that was done for this very lock and this very Python."""
    wanted = f"{sys.version}\n{hashlib.sha256(LOCK.read_bytes()).hexdigest()}\n"
    found = STAMP.read_text() if PYTHON.exists() and STAMP.exists() else ""
    if found == wanted:
        return
    say("Installing Python packages into .venv (once, a minute or two)")
    if not found.startswith(sys.version):
        create_venv()
    run(
        [
            str(PYTHON),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--require-hashes",
            "-r",
            LOCK.name,
        ]
    )
    STAMP.write_text(wanted)


def chromium() -> str | None:
    """The path of a Chromium on this machine, None where Playwright's own is to be used."""
    return os.environ.get("E2E_CHROMIUM") or shutil.which("chromium")


def ensure_chromium() -> None:
    """See to it that there is a Chromium for the browser tests."""
    if chromium():
        return
    if is_debian_root():
        say("Installing Chromium from Debian's packages (once)")
        apt_install(*DEBIAN_PACKAGES)
        return
    say("Installing Playwright's Chromium (once; needs its libraries: see playwright install-deps)")
    run([str(PYTHON), "-m", "playwright", "install", "chromium"])


def demo(args: argparse.Namespace) -> None:
    """Set up and serve the demo."""
    ensure_python()
    say("Starting the demo: the first start builds its pages, which takes a while. Stop with Ctrl-C.")
    run([str(PYTHON), "-m", "demo_app", "--port", str(args.port)])


CHECKS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Lint", ("ruff", "check", ".")),
    ("Format", ("ruff", "format", "--check", ".")),
    ("Types", ("mypy",)),
    (
        "Tests of the SDK and the app's parts",
        ("pytest", "tests", "-n", "auto", "--maxprocesses", "4", "--cov", "--cov-report=term"),
    ),
    ("Tests in the browser", ("pytest", "e2e")),
)


def test(args: argparse.Namespace) -> None:
    """Set up and run every check."""
    ensure_python()
    ensure_chromium()
    for title, command in CHECKS:
        say(title)
        run([str(PYTHON), "-m", *command])
    say("Everything passed.")


COMMANDS: dict[str, Callable[[argparse.Namespace], None]] = {"demo": demo, "test": test}


def main() -> int:
    """Parse the command line and run the command; returns the exit status."""
    if sys.version_info < (3, 11):  # noqa: UP036 - this file is what tells users of older Pythons
        print(f"Python 3.11 or newer is needed; this is {sys.version.split()[0]}", file=sys.stderr)
        return 2
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    serve = commands.add_parser("demo", help="set up and serve the demo")
    serve.add_argument("--port", type=int, default=8000, help="where to listen (default 8000)")
    commands.add_parser("test", help="set up and run every check")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        COMMANDS[args.command](args)
    except SetupError as error:
        print(f"dev.py: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print()
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
