"""What was tolerated, as objects: the *warn* verdict of the rules."""

from __future__ import annotations

import logging
from dataclasses import dataclass

logger = logging.getLogger("client_sdk")
"""The one logger of this package."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """Something the rules tolerate and oblige us to tell.

    Attributes:
        code: stable name of the kind of deviation (``unknown_property``, …).
        path: JSON Pointer to what it concerns, or the id it concerns ("" for the whole event).
        message: a sentence for a developer.
        event_type: the ``type`` of the event it came from, None outside a stream.
        index: 0-based position of that event on the wire, None outside a stream.
    """

    code: str
    path: str
    message: str
    event_type: str | None = None
    index: int | None = None


def log(diagnostic: Diagnostic) -> None:
    """Write `diagnostic` to the package's logger as a warning; the record carries it as `diagnostic`."""
    logger.warning(
        "%s at %s: %s",
        diagnostic.code,
        printable(diagnostic.path or "/"),
        printable(diagnostic.message),
        extra={"diagnostic": diagnostic},
    )


def printable(text: str) -> str:
    """`text` with everything that could forge a line of a log, or drive a terminal, as escapes.

    An agent chooses ids, names and values, and diagnostics quote them.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
