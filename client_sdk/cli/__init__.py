"""``python -m client_sdk``: call an agent, or replay a recorded stream."""

from client_sdk.cli.main import main

__all__ = ["main"]
