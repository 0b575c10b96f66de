"""Where things are: the data folder with its store and journal, and the agent's address."""

import os
from functools import cache
from pathlib import Path

import reflex as rx

from client_sdk import SqliteJournal
from demo_app.state.store import Store


def data_folder() -> Path:
    """Where the demo keeps what outlives it (`DEMO_DATA_DIR`)."""
    folder = Path(os.environ.get("DEMO_DATA_DIR") or ".demo-data")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@cache
def store() -> Store:
    """The one store of this process."""
    return Store(data_folder() / "chats.db")


@cache
def journal() -> SqliteJournal:
    """The one call journal of this process."""
    return SqliteJournal(data_folder() / "journal.db")


def agent_url() -> str:
    """The agent to talk to: `AGENT_URL`, else this app's own, over HTTP like any other."""
    port = os.environ.get("DEMO_PORT") or str(rx.config.get_config().backend_port or 8000)
    return os.environ.get("AGENT_URL") or f"http://127.0.0.1:{port}/agent"


def is_own_agent() -> bool:
    """Whether the agent is this app's own."""
    return not os.environ.get("AGENT_URL")
