"""Where the stages write down what they tolerated."""

from __future__ import annotations

from ag_ui.core import EventType

from client_sdk.diagnostics import Diagnostic
from client_sdk.errors import ProtocolError


def _plain(event_type: str | None) -> str | None:
    # Made plain only here, because it is read for every event and told for few.
    return event_type.value if isinstance(event_type, EventType) else event_type


def pointer(path: str, token: str | int) -> str:
    """Append one token to a JSON Pointer (RFC 6901)."""
    text = str(token)
    if "~" in text or "/" in text:
        text = text.replace("~", "~0").replace("/", "~1")
    return f"{path}/{text}"


class Notes:
    """Collects diagnostics and builds errors, stamped with the event being processed.

    The pipeline sets `event_type` and `index` before each event; the stages
    only say what is wrong.
    """

    __slots__ = ("event_type", "index", "pending")

    def __init__(self) -> None:
        self.event_type: str | None = None
        self.index: int | None = None
        self.pending: list[Diagnostic] = []

    def warn(self, code: str, path: str, message: str) -> None:
        """Record a deviation the rules tolerate."""
        self.pending.append(Diagnostic(code, path, message, _plain(self.event_type), self.index))

    def fatal(self, code: str, message: str, *, path: str = "", ids: tuple[str, ...] = ()) -> ProtocolError:
        """Build the error for a deviation the rules do not tolerate."""
        return ProtocolError(
            message, code=code, event_type=_plain(self.event_type), index=self.index, path=path, ids=ids
        )

    def take(self) -> tuple[Diagnostic, ...]:
        """Hand over what was recorded since the last call."""
        if not self.pending:
            return ()
        taken = tuple(self.pending)
        self.pending.clear()
        return taken
