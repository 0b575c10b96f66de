"""What the command line names: files and ``-``, read with errors that say which and why."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from client_sdk.cli.outcome import UsageError


def read_bytes(name: str) -> bytes:
    """The content of file `name`, or of standard input for ``-``.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {error.strerror or error}") from error


def read_json(name: str) -> Any:
    """The JSON document in file `name`, or on standard input for ``-``.

    Raises:
        UsageError: it cannot be read, or is no JSON.
    """
    try:
        return json.loads(read_bytes(name).decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{name} is not JSON: {error}") from error
