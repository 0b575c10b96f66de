"""A seeded shop, and a client of an agent with any model."""

import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from agent_testing import Client, Connect, serve

from demo_app.agent.endpoint import create_app
from demo_app.agent.loop import Agent
from demo_app.agent.models.base import Model
from demo_app.agent.models.mischief import MischiefModel
from demo_app.agent.models.scripted import ScriptedModel
from demo_app.agent.settings import Settings
from demo_app.shop import Shop


@pytest.fixture(scope="session")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A seeded database to copy: seeding takes longer than copying."""
    return Shop(tmp_path_factory.mktemp("seed") / "shop.db").path


@pytest.fixture
def shop(seeded: Path, tmp_path: Path) -> Shop:
    return Shop(shutil.copy(seeded, tmp_path / "shop.db"))


@pytest.fixture
async def connect(shop: Shop) -> AsyncIterator[Connect]:
    """`await connect(model, **agent_options)`: the agent served, and a client for it."""
    async with AsyncExitStack() as stack:

        async def connect(model: Model, *, mischief: bool = False, **options: Any) -> Client:
            settings = Settings(delay_seconds=0, slow_seconds=0, mischief=mischief)
            app = create_app(Agent(model=model, shop=shop, **options), settings=settings)
            url = await stack.enter_async_context(serve(app))
            http = await stack.enter_async_context(httpx.AsyncClient(timeout=30, verify=False))
            return Client(http, url)

        yield connect


@pytest.fixture
async def scripted(connect: Connect) -> Client:
    """The default agent: scripted, at full speed."""
    return await connect(ScriptedModel(delay_seconds=0, slow_seconds=0))


@pytest.fixture
async def mischievous(connect: Connect) -> Client:
    """The misbehaving agent."""
    model = MischiefModel(ScriptedModel(delay_seconds=0, slow_seconds=0))
    return await connect(model, mischief=True)
