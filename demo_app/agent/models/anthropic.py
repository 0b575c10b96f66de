"""Anthropic's models, through their own SDK (the extra `anthropic`)."""

import base64
import json
from collections.abc import AsyncGenerator, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal, assert_never, cast, get_args

from ag_ui.core import (
    AudioPart,
    DataSource,
    DocumentPart,
    FileSource,
    ImagePart,
    TextPart,
    TokenUsage,
    UrlSource,
    VideoPart,
)

from demo_app.agent.blocks import (
    Block,
    ModelMessage,
    ModelRequest,
    Part,
    Reasoning,
    ReasoningDelta,
    ReasoningDone,
    Stop,
    StopReason,
    StreamItem,
    TextDelta,
    ToolInputDelta,
    ToolResult,
    ToolUse,
    ToolUseStart,
)
from demo_app.agent.models.base import ModelError

if TYPE_CHECKING:
    from anthropic.types import RawMessageStreamEvent

try:
    import anthropic
except ImportError as error:  # pragma: no cover  the extra is installed wherever the tests run
    raise ModelError(
        "anthropic_missing", "ANTHROPIC_API_KEY is set, but the package 'anthropic' is not installed."
    ) from error

_IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_PDF = "application/pdf"
_TEXT = "text/plain"


class AnthropicModel:
    """A model behind the Messages API.

    Parameters: `api_key`; `name`, the model; `base_url`, for a proxy or a test server; `max_tokens` of one turn;
    `max_retries`, the SDK's own.
    """

    provider = "anthropic"
    scripted = False

    def __init__(
        self,
        *,
        api_key: str,
        name: str,
        base_url: str | None = None,
        max_tokens: int = 4096,
        max_retries: int = 2,
    ) -> None:
        self.name = name
        self.label = f"Anthropic {name}"
        self._max_tokens = max_tokens
        self._client = anthropic.AsyncAnthropic(api_key=api_key, base_url=base_url, max_retries=max_retries)

    async def close(self) -> None:
        """Close the connections to the service."""
        await self._client.close()

    def accepts(self, part: Part) -> bool:
        """Text, common pictures, PDF and plain text; a file handle only if it is Anthropic's (AL-6, TC-6)."""
        return _part(part) is not None

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamItem, None]:
        """One turn. Raises `ModelError`: `model_unreachable`, `model_http_<status>` or `model_failed`."""
        try:
            async with await self._client.messages.create(
                model=self.name,
                max_tokens=self._max_tokens,
                system=request.system,
                messages=cast(Any, _messages(request.messages)),
                tools=cast(Any, _tools(request)),
                stream=True,
            ) as events:
                reader = _Reader(self.provider, self.name)
                async for event in events:
                    for item in reader.read(event):
                        yield item
        except anthropic.APIConnectionError as error:
            raise ModelError("model_unreachable", "The model's service cannot be reached.") from error
        except anthropic.APIStatusError as error:
            raise ModelError(
                f"model_http_{error.status_code}", f"The model's service refused: {_reason(error)}"
            ) from error
        except anthropic.APIError as error:
            raise ModelError("model_failed", f"The model's service failed: {error.message}") from error


def _reason(error: "anthropic.APIStatusError") -> str:
    body = error.body if isinstance(error.body, dict) else {}
    inner = body.get("error")
    return str(inner.get("message", error.message)) if isinstance(inner, dict) else error.message


class _Reader:
    """From the wire's events to stream items. Blocks come one after the other."""

    def __init__(self, provider: str, model: str) -> None:
        self._usage = TokenUsage(provider=provider, model=model)
        self._thought: Reasoning | None = None
        self._stop: str | None = None

    def read(self, event: "RawMessageStreamEvent") -> Iterator[StreamItem]:
        match event.type:
            case "message_start":
                self._count_input(event.message.usage)
            case "content_block_start":
                yield from self._start(event.content_block)
            case "content_block_delta":
                yield from self._delta(event.delta)
            case "content_block_stop":
                if self._thought is not None:
                    yield ReasoningDone(self._thought)
                self._thought = None
            case "message_delta":
                self._stop = event.delta.stop_reason
                self._count_output(event.usage)
            case "message_stop":
                yield Stop(_stop_reason(self._stop), self._usage)
            case _:
                assert_never(event.type)

    def _start(self, block: Any) -> Iterator[StreamItem]:
        match block.type:
            case "tool_use":
                yield ToolUseStart(block.id, block.name)
            case "thinking":
                self._thought = Reasoning("")
            case "redacted_thinking":
                self._thought = Reasoning("", redacted=block.data)
            case "text" if block.text:
                yield TextDelta(block.text)

    def _delta(self, delta: Any) -> Iterator[StreamItem]:
        thought = self._thought or Reasoning("")
        match delta.type:
            case "text_delta":
                yield TextDelta(delta.text)
            case "input_json_delta":
                if delta.partial_json:
                    yield ToolInputDelta(delta.partial_json)
            case "thinking_delta":
                self._thought = Reasoning(thought.text + delta.thinking, thought.signature)
                yield ReasoningDelta(delta.thinking)
            case "signature_delta":
                self._thought = Reasoning(thought.text, thought.signature + delta.signature)

    def _count_input(self, usage: Any) -> None:
        """The provider reports cached tokens beside the input; here they are parts of it (LC-9)."""
        read, written = usage.cache_read_input_tokens, usage.cache_creation_input_tokens
        total = usage.input_tokens + (read or 0) + (written or 0)
        self._usage = self._usage.model_copy(
            update={
                "input_tokens": total,
                "cached_input_tokens": read,
                "cache_write_input_tokens": written,
                "output_tokens": usage.output_tokens,
                "total_tokens": total + usage.output_tokens,
            }
        )

    def _count_output(self, usage: Any) -> None:
        total = (self._usage.input_tokens or 0) + usage.output_tokens
        self._usage = self._usage.model_copy(update={"output_tokens": usage.output_tokens, "total_tokens": total})


def _stop_reason(reason: str | None) -> StopReason:
    if reason in get_args(StopReason):
        return cast(StopReason, reason)
    raise ModelError("model_failed", f"The model stopped for an unknown reason: {reason!r}.")


def _tools(request: ModelRequest) -> list[dict[str, Any]]:
    return [
        {"name": tool.name, "description": tool.description, "input_schema": {"type": "object", **tool.parameters}}
        for tool in request.tools
    ]


def _messages(messages: Iterable[ModelMessage]) -> list[dict[str, Any]]:
    """Turns as the API wants them: the user's first and last, each with something in it."""
    turns = [
        {"role": message.role, "content": [block for block in map(_block, message.blocks) if block is not None]}
        for message in messages
    ]
    turns = [turn for turn in turns if turn["content"]]
    if not turns or turns[0]["role"] == "assistant":
        turns.insert(0, _words("(The conversation begins here.)"))
    if turns[-1]["role"] == "assistant":
        turns.append(_words("(Please go on.)"))
    return turns


def _words(text: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def _block(block: Block) -> dict[str, Any] | None:
    match block:
        case ToolUse():
            return {"type": "tool_use", "id": block.id, "name": block.name, "input": _arguments(block.input_json)}
        case ToolResult():
            content = [part for part in map(_part, block.content) if part is not None]
            body: dict[str, Any] = {"type": "tool_result", "tool_use_id": block.tool_use_id}
            return {**body, "content": content or "", **({"is_error": True} if block.is_error else {})}
        case Reasoning():
            return _thinking(block)
        case TextPart() | ImagePart() | DocumentPart() | AudioPart() | VideoPart():
            return _part(block)
        case _:
            assert_never(block)


def _thinking(block: Reasoning) -> dict[str, Any] | None:
    if block.redacted:
        return {"type": "redacted_thinking", "data": block.redacted}
    if block.signature:
        return {"type": "thinking", "thinking": block.text, "signature": block.signature}
    return None


def _arguments(text: str) -> dict[str, Any]:
    """The API takes objects only; what is none is shown to the model as the text it was."""
    try:
        value = json.loads(text or "{}")
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {"not_a_json_object": text}


def _part(part: Part) -> dict[str, Any] | None:
    """A part in the API's spelling; None when it cannot be taken."""
    match part:
        case TextPart():
            return {"type": "text", "text": part.text} if part.text.strip() else None
        case ImagePart():
            return _media("image", part.source, part.source.mime_type in _IMAGES)
        case DocumentPart():
            return _media("document", part.source, part.source.mime_type in (_PDF, _TEXT))
        case AudioPart() | VideoPart():
            return None
        case _:
            assert_never(part)


def _media(
    kind: Literal["image", "document"], source: DataSource | UrlSource | FileSource, known_type: bool
) -> dict[str, Any] | None:
    """Inline data of a known type, an https address, or a handle that Anthropic issued."""
    match source:
        case DataSource() if source.mime_type == _TEXT and kind == "document":
            return _plain_text(source)
        case DataSource() if known_type:
            body = {"type": "base64", "media_type": source.mime_type, "data": source.value}
        case UrlSource() if source.value.startswith("https://"):
            body = {"type": "url", "url": source.value}
        case FileSource() if source.provider == "anthropic":
            body = {"type": "file", "file_id": source.value}
        case _:
            return None
    return {"type": kind, "source": body}


def _plain_text(source: DataSource) -> dict[str, Any] | None:
    try:
        text = base64.b64decode(source.value, validate=True).decode("utf-8")
    except ValueError:
        return None
    return {"type": "document", "source": {"type": "text", "media_type": _TEXT, "data": text}}
