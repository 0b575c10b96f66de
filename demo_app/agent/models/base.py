"""The one interface a model has to fulfil."""

from collections.abc import AsyncGenerator
from typing import Protocol

from demo_app.agent.blocks import ModelRequest, Part, StreamItem


class ModelError(Exception):
    """The model could not go on. The run ends as RUN_ERROR with this message and `code`; the service does not."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Model(Protocol):
    """A model: it only writes requests, code executes them.

    Attributes: `provider` and `name` label the usage; `label` is shown to people; `scripted` says that no language
    model is behind it.
    """

    provider: str
    name: str
    label: str
    scripted: bool

    def accepts(self, part: Part) -> bool:
        """Whether the model can take this part; the loop drops those it cannot (AL-6)."""
        ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[StreamItem, None]:
        """One turn, item by item, ending with `Stop`. Raises `ModelError`. Closing the iterator stops the model."""
        ...
