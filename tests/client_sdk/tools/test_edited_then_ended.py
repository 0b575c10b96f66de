"""A decision that was made and not carried out when the process ended."""

from __future__ import annotations

from pathlib import Path

from client_sdk.tools import SqliteJournal, ToolRegistry, ToolRunner, Verdict
from tests.client_sdk.tools.support import closed, pending


async def test_edited_arguments_are_asked_about_again_when_the_process_ended_before_they_ran(tmp_path: Path) -> None:
    """FT-6, FT-8: the agent's own arguments do not run in their place, whatever the tool's policy says."""
    ran: list[str] = []
    registry = ToolRegistry()

    @registry.tool(side_effects=False)
    def look(place: str) -> str:
        """Look."""
        ran.append(place)
        return place

    call = pending("c1", "look", '{"place": "the agent\'s"}')
    with SqliteJournal(tmp_path / "calls.db") as journal:
        runner = ToolRunner("t1", registry, journal=journal)
        runner.offer(closed(call))
        runner.open_calls[0].approve({"place": "the user's"})
    with SqliteJournal(tmp_path / "calls.db") as journal:
        again = ToolRunner("t1", registry, journal=journal)
        again.offer(closed(call))
        async for _ in again.settle():
            pass
        assert ran == []
        assert [held.decision.verdict for held in again.open_calls] == [Verdict.ASK]
        again.open_calls[0].approve()
        async for _ in again.settle():
            pass
    assert ran == ["the agent's"]
