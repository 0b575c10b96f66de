"""The chat over a real agent on loopback, with its store, journal and shop in a folder of the test's own."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from demo_app.agent.endpoint import create_app, default_agent
from demo_app.agent.settings import Settings
from demo_app.state import agent_link, engine, places, shop_state
from demo_app.state.cards_model import Card
from demo_app.state.engine import Chat

VISITOR = "a visitor's secret"


class Room:
    """What a test holds: threads of one visitor, and the means to wait for them."""

    def open(self, thread_id: str = "thread-1") -> Chat:
        """The thread, made if it is not there, and followed so that it stays."""
        if not places.store().owns(VISITOR, thread_id):
            places.store().create(VISITOR, thread_id)
        chat = engine.open_chat(thread_id)
        assert chat is not None
        chat.follow(_nothing)
        return chat

    async def rest(self, chat: Chat) -> list[Card]:
        """The cards once nothing runs any more."""
        async with asyncio.timeout(20):
            while chat.active:  # noqa: ASYNC110  whatever ends it, this waits for it
                await asyncio.sleep(0.005)
        return self.cards(chat)

    async def ask(self, chat: Chat, text: str) -> list[Card]:
        """Say something and wait for rest."""
        chat.send(text)
        return await self.rest(chat)

    async def until(self, condition: Callable[[], Any]) -> None:
        """Wait until something holds."""
        async with asyncio.timeout(20):
            while not condition():  # noqa: ASYNC110  any condition can be waited for
                await asyncio.sleep(0.005)

    @staticmethod
    def cards(chat: Chat) -> list[Card]:
        """What the transcript shows now."""
        shown = chat.look()
        return [*shown.settled, *shown.moving]

    @staticmethod
    def forget() -> None:
        """What a killed process leaves: nothing in memory, nothing said good-bye to."""
        for chat in engine.CHATS.values():
            if chat._task is not None:
                chat._task.cancel()
        engine.CHATS.clear()
        agent_link.RECORDERS.clear()
        places.store().close()
        places.journal().close()
        for cached in (places.store, places.journal):
            cached.cache_clear()


def _nothing() -> None:
    pass


@pytest.fixture
async def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Room]:
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    monkeypatch.setenv("DEMO_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("AGENT_URL", f"http://127.0.0.1:{listening.getsockname()[1]}/agent")
    settings = Settings(delay_seconds=0.0, slow_seconds=0.01, mischief=True)
    config = uvicorn.Config(
        create_app(default_agent(settings), settings=settings), log_level="error", lifespan="off", ws="none"
    )
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve([listening]))
    while not server.started:  # noqa: ASYNC110  uvicorn tells it in no other way
        await asyncio.sleep(0.005)
    room = Room()
    yield room
    for chat in list(engine.CHATS.values()):
        await chat.end()
    await agent_link.agent().aclose()
    server.should_exit = True
    await serving
    room.forget()
    agent_link.agent.cache_clear()
    shop_state.shop.cache_clear()


@pytest.fixture
def cards_of() -> Callable[[list[Card], str], list[Card]]:
    """The cards of one kind."""
    return lambda cards, kind: [card for card in cards if card.kind == kind]


Asking = Callable[[Chat, str], Awaitable[list[Card]]]
