"""``python -m demo_app``: what it says before it serves anything."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from demo_app import __main__ as program
from demo_app import serving
from demo_app.serving import BuildError

ROOT = Path(__file__).resolve().parents[2]


def start(*arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "demo_app", *arguments],
        cwd=ROOT,
        env={**os.environ, **changes},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("port", ["99999", "65536", "0", "-1", "http", "8_0", "9" * 5000, ""])
def test_a_port_that_is_none(port: str) -> None:
    """From the option and from the environment."""
    for done in (start(f"--port={port}"), start(DEMO_PORT=port)):
        assert done.returncode == 2
        assert "error: argument --port: a port is a number from 1 to 65535, not " in done.stderr
        assert "in use" not in done.stderr
        assert done.stdout == ""


def test_a_port_that_is_in_use() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = start("--port", str(port))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"Port {port} at 127.0.0.1 is in use. Try another --port.\n"


@pytest.mark.parametrize(
    ("host", "why"), [("a..b", "'a..b' is not known as an address"), ("192.0.2.1", "Port 8000 at ")]
)
def test_a_host_that_cannot_be_listened_at(host: str, why: str) -> None:
    done = start("--host", host, "--port", "8000")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(why)
    assert "in use" not in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("built", "said"),
    [(True, "Preparing the pages …\n"), (False, "Preparing the pages (building them takes a minute) …\n")],
)
def test_a_build_is_announced_only_where_there_is_one(
    built: bool, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop() -> bool:
        raise BuildError("stopped here")

    stamp = tmp_path / "built.sha256"
    stamp.write_text(serving.fingerprint() if built else "of other sources")
    monkeypatch.setattr(serving, "BUILD", tmp_path)
    monkeypatch.setattr(serving, "STAMP", stamp)
    monkeypatch.setattr(program, "build", stop)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    monkeypatch.setattr(sys, "argv", ["demo_app", "--port", str(port)])
    assert program.main() == 1
    out, err = capsys.readouterr()
    assert (out, err) == (said, "stopped here\n")
