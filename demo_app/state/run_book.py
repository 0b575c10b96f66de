"""What is known of a thread's runs beside their messages: how they ended, what was decided, who worked for them.

Everything here is shown in the transcript behind some message, and kept in the store with the run's recording.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from client_sdk import Diagnostic, RunResult
from demo_app.state.cards_model import Card, Lane, Usage
from demo_app.state.event_log import EventLog
from demo_app.state.store import RUNNING, Store, StoredRun

_FLUSH: Final = 200
"""Payloads that are held before they are written down together."""
_QUIET: Final = frozenset({"completed", "interrupted"})
"""Ends of a run that need no word of their own."""


@dataclass(frozen=True)
class Ended:
    """How a run ended. `status` is an SDK status, or "stopped", "restarted", "unreachable"; `code` is stable."""

    status: str
    text: str = ""
    code: str = ""


@dataclass
class OpenRun:
    """The run that is being read. `first` is where its first message is."""

    seq: int
    first: int
    decisions: Sequence[Mapping[str, Any]]
    recorded: int = 0
    unsaved: list[str] = field(default_factory=list)
    lanes: dict[str, Lane] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)


class RunBook:
    """The runs of one thread.

    Parameters: `touched` is called with the id of a message behind which a card was put.

    Attributes: `after`, the cards behind each message; `lanes` and `parents`, its subagents; `open`, the run that is
    being read; `events`, the latest ones as the inspector shows them; `event_count`, how many there were.
    """

    def __init__(self, store: Store, thread_id: str, touched: Callable[[str], None]) -> None:
        self._store = store
        self._thread_id = thread_id
        self._touched = touched
        self.after: dict[str, list[Card]] = {}
        self.lanes: dict[str, Lane] = {}
        self.parents: dict[str, str] = {}
        self.open: OpenRun | None = None
        self.events = EventLog()
        self._began: list[tuple[int, str]] = []
        self._quiet: tuple[int, Ended, dict[str, Any]] | None = None

    def take_up(self, run: StoredRun, last_message: str) -> None:
        """A run from the store. One that was never closed was cut off by a restart, and is closed as that."""
        detail, anchor = run.detail, run.anchor
        self._began.append((run.seq, detail.get("began", anchor)))
        for lane in detail.get("lanes", ()):
            self.lanes[lane["id"]] = Lane(**lane)
        self.parents.update(detail.get("parents", {}))
        for decision in detail.get("decisions", ()):
            self._put_behind(decision["anchor"], _decision_card(run.seq, decision))
        ended = Ended(run.status, detail.get("error", ""), detail.get("errorCode", ""))
        if run.status == RUNNING:
            ended, anchor = Ended("restarted"), last_message
            self._store.end_run(run.seq, ended.status, anchor, detail | {"began": run.anchor})
        if ended.status not in _QUIET or detail.get("last"):
            self._show_end(run.seq, anchor, ended, detail)

    def begin(self, run_id: str, anchor: str, first: int, decisions: Sequence[Mapping[str, Any]]) -> None:
        """A run is about to be read. `anchor` is the message it answers; `decisions` answer earlier interrupts."""
        seq = self._store.begin_run(self._thread_id, run_id, anchor)
        self._began.append((seq, anchor))
        self.open = OpenRun(seq, first, decisions)
        for decision in decisions:
            self._put_behind(decision["anchor"], _decision_card(seq, decision))

    def record(self, payload: str) -> None:
        """Take note of one payload as it came over the wire."""
        self.events.note(payload)
        if self.open is not None:
            self.open.unsaved.append(payload)
            if len(self.open.unsaved) >= _FLUSH:
                self._save_recording(self.open)

    def _save_recording(self, run: OpenRun) -> None:
        self._store.record(run.seq, run.recorded, run.unsaved)
        run.recorded += len(run.unsaved)
        run.unsaved = []

    @property
    def event_count(self) -> int:
        """How many payloads there were since the thread was taken up."""
        return self.events.count

    # Subagents.

    def subagent_started(self, event: Any) -> None:
        """SUBAGENT_STARTED."""
        self._put_lane(Lane(event.subagent_run_id, event.name, event.description or "", "running"))
        if event.parent_tool_call_id is not None:
            self.parents[event.subagent_run_id] = event.parent_tool_call_id
            if self.open is not None:
                self.open.parents[event.subagent_run_id] = event.parent_tool_call_id

    def subagent_finished(self, event: Any) -> None:
        """SUBAGENT_FINISHED."""
        suspended = event.outcome is not None and event.outcome.type == "suspended"
        lane = self.lanes[event.subagent_run_id]
        self._put_lane(replace(lane, status="suspended" if suspended else "finished"))

    def subagent_error(self, event: Any) -> None:
        """SUBAGENT_ERROR."""
        self._put_lane(replace(self.lanes[event.subagent_run_id], status="failed", error=event.message))

    def _put_lane(self, lane: Lane) -> None:
        self.lanes[lane.id] = lane
        if self.open is not None:
            self.open.lanes[lane.id] = lane

    # The end.

    def end(self, ended: Ended, result: RunResult | None, anchor: str, interrupts: Sequence[Mapping[str, Any]]) -> None:
        """The open run is over. `anchor` is the last message; `interrupts` are open now, in wire spelling."""
        run = self.open
        if run is None:
            return
        for lane in list(run.lanes.values()):
            if lane.status == "running":
                self._put_lane(replace(lane, status="abandoned"))
        self.open = None
        detail = {
            "began": self._began[-1][1],
            "error": ended.text,
            "errorCode": ended.code,
            "usage": [] if result is None else [one.model_dump(mode="json", by_alias=True) for one in result.usage],
            "lanes": [asdict(lane) for lane in run.lanes.values()],
            "parents": run.parents,
            "decisions": list(run.decisions),
            "request": {} if result is None else result.request,
            "diagnostics": [] if result is None else [plain(one) for one in result.diagnostics],
            "interrupts": list(interrupts),
        }
        self._save_recording(run)
        self._store.end_run(run.seq, ended.status, anchor, detail)
        self._quiet = (run.seq, ended, detail)
        if ended.status not in _QUIET:
            self._show_end(run.seq, anchor, ended, detail)

    def rest(self, anchor: str) -> None:
        """The turn is over: its last run gets a line with what it cost, if it ended well."""
        if self._quiet is None:
            return
        (seq, ended, detail), self._quiet = self._quiet, None
        if ended.status == "completed":
            self._store.end_run(seq, ended.status, anchor, detail | {"last": True})
            self._show_end(seq, anchor, ended, detail)

    def take_back(self, kept: Sequence[str]) -> None:
        """Only the messages `kept` are left: forget the runs that began behind the last of them, and later ones."""
        known = set(kept)
        dropped = {seq for seq, began in self._began if began not in known or (kept and began == kept[-1])}
        self._store.forget_runs(self._thread_id, dropped)
        self._began = [run for run in self._began if run[0] not in dropped]
        left = {
            anchor: [card for card in cards if int(card.message_id) not in dropped]
            for anchor, cards in self.after.items()
        }
        self.after = {anchor: cards for anchor, cards in left.items() if cards}

    def _show_end(self, seq: int, anchor: str, ended: Ended, detail: Mapping[str, Any]) -> None:
        usage = [_usage(entry) for entry in detail.get("usage", ())]
        run = str(seq)
        self._put_behind(
            anchor,
            Card(
                f"end:{seq}", "end", message_id=run, phase=ended.status, text=ended.text, note=ended.code, usage=usage
            ),
        )

    def _put_behind(self, anchor: str, card: Card) -> None:
        if any(card.key == other.key for held in self.after.values() for other in held):
            return
        self.after.setdefault(anchor, []).append(card)
        self._touched(anchor)


def plain(diagnostic: Diagnostic) -> dict[str, str]:
    """A diagnostic as plain data."""
    return {"code": diagnostic.code, "path": diagnostic.path, "message": diagnostic.message}


def _decision_card(seq: int, decision: Mapping[str, Any]) -> Card:
    payload = decision.get("payload")
    return Card(
        f"decision:{decision['id']}:{decision['status']}",
        "decision",
        message_id=str(seq),
        title=str(decision.get("reason", "")),
        text=str(decision.get("message", "")),
        phase=str(decision.get("verdict") or decision["status"]),
        arguments="" if payload is None else json.dumps(payload, ensure_ascii=False, indent=2),
    )


def _usage(entry: Mapping[str, Any]) -> Usage:
    read, written = (f"{entry[key]:,}" if key in entry else "" for key in ("inputTokens", "outputTokens"))
    return Usage(str(entry.get("model") or entry.get("provider") or ""), read, written)
