"""The agent over HTTP: `POST /agent` runs it (SSE), `GET /agent` says what it is, `POST /agent/stop` ends a run."""

import json
import logging
from collections.abc import AsyncIterator
from typing import Any

from ag_ui.core import (
    PROTOCOL_VERSION,
    AgentCapabilities,
    ExecutionCapabilities,
    HumanInTheLoopCapabilities,
    IdentityCapabilities,
    MultiAgentCapabilities,
    MultimodalCapabilities,
    MultimodalInputCapabilities,
    OutputCapabilities,
    ReasoningCapabilities,
    RunAgentInput,
    StateCapabilities,
    Tool,
    ToolsCapabilities,
    TransportCapabilities,
)
from ag_ui.core.capabilities import SubagentInfo
from ag_ui.encoder import EventEncoder
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from demo_app.agent.backend.report import ANALYSTS
from demo_app.agent.intake import InputRejectedError, read_input
from demo_app.agent.loop import Agent, AgentRun
from demo_app.agent.models import mischief
from demo_app.agent.models.choose import choose_model
from demo_app.agent.settings import Settings
from demo_app.shop import Shop

_log = logging.getLogger(__name__)

MAX_BODY_BYTES = 32 * 1024 * 1024
_SSE = "text/event-stream"
_HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}


def create_app(agent: Agent | None = None, *, settings: Settings | None = None, path: str = "/agent") -> Starlette:
    """The agent as an ASGI app, to be run alone or beside the pages.

    Parameters: `agent`, the parts to serve, by default the seeded shop with the model that the environment chooses;
    `settings`, by default read from the environment; `path`, where it answers.
    """
    settings = settings or Settings.from_environment()
    endpoint = AgentEndpoint(agent or default_agent(settings), settings)
    return Starlette(
        routes=[
            Route(path, endpoint.info, methods=["GET"]),
            Route(path, endpoint.run, methods=["POST"]),
            Route(f"{path}/stop", endpoint.stop, methods=["POST"]),
        ],
        exception_handlers={HTTPException: _http_error, InputRejectedError: _input_error},
    )


def default_agent(settings: Settings) -> Agent:
    """The shop of `DEMO_DATA_DIR` behind the model that the environment chooses."""
    return Agent(model=choose_model(settings), shop=Shop(), pace=settings.delay_seconds)


class AgentEndpoint:
    """Handlers, and the runs that are under way (they can be stopped by thread and run id)."""

    def __init__(self, agent: Agent, settings: Settings) -> None:
        self._agent = agent
        self._settings = settings
        self._running: dict[tuple[str, str], AgentRun] = {}

    async def info(self, request: Request) -> Response:
        """Who answers here, whether it is scripted, and what it can do (AgentCapabilities)."""
        model = self._agent.model
        return JSONResponse(
            {
                "status": "ok",
                "protocolVersion": PROTOCOL_VERSION,
                "model": {
                    "provider": model.provider,
                    "name": model.name,
                    "label": model.label,
                    "scripted": model.scripted,
                },
                "capabilities": capabilities(self._agent).model_dump(mode="json", by_alias=True),
            }
        )

    async def run(self, request: Request) -> Response:
        """Start a run. Whatever is wrong with the request is said here, before a stream exists (AL-8)."""
        _check_media_types(request)
        run_input = read_input(await _body(request))
        if self._settings.mischief and mischief.refuses(run_input):
            raise InputRejectedError(503, "mischief", "The agent is out of order, as it was asked to be.")
        key = (run_input.thread_id, run_input.run_id)
        if key in self._running:
            raise InputRejectedError(409, "run_exists", f"The run {run_input.run_id!r} is already under way.")
        frames = self._frames(run_input)
        return StreamingResponse(frames, media_type=_SSE, headers=_HEADERS)

    async def stop(self, request: Request) -> Response:
        """Stop a run on purpose: its stream ends with the cancelled outcome (AL-7). 204, or 404 when none runs."""
        _check_content_type(request)
        key = _stop_key(await _body(request))
        run = self._running.get(key)
        if run is None or not run.stop():
            raise InputRejectedError(404, "no_such_run", f"No run {key[1]!r} of thread {key[0]!r} is under way.")
        return Response(status_code=204)

    async def _frames(self, run_input: RunAgentInput) -> AsyncIterator[str]:
        wire = mischief.wire_script(run_input, self._settings) if self._settings.mischief else None
        if wire is not None:
            async for frame in wire:
                yield frame
            return
        encoder = EventEncoder()
        run = self._agent.run(run_input)
        key = (run_input.thread_id, run_input.run_id)
        self._running[key] = run
        events = run.events()
        try:
            async for event in events:
                yield encoder.encode(event)
        finally:
            self._running.pop(key, None)
            run.abandon()


def capabilities(agent: Agent) -> AgentCapabilities:
    """What this agent declares of itself; only what holds."""
    schemas = [tool.schema() for tool in agent.tools]
    items = [Tool(name=tool.name, description=tool.description, parameters=tool.parameters) for tool in schemas]
    return AgentCapabilities(
        identity=IdentityCapabilities(
            name="Halla Supply assistant",
            description=agent.model.label,
            metadata={"model": agent.model.name, "scripted": agent.model.scripted},
        ),
        transport=TransportCapabilities(streaming=True, resumable=False),
        tools=ToolsCapabilities(supported=True, items=items, parallel_calls=True, client_provided=True),
        output=OutputCapabilities(supported_mime_types=["text/plain", "application/pdf", "image/png"]),
        state=StateCapabilities(snapshots=True, persistent_state=False, memory=False),
        multi_agent=MultiAgentCapabilities(
            supported=True,
            delegation=True,
            subagents=[SubagentInfo(name=analyst.name, description=analyst.description) for analyst in ANALYSTS],
        ),
        reasoning=ReasoningCapabilities(supported=True, streaming=True),
        multimodal=MultimodalCapabilities(
            input=MultimodalInputCapabilities(image=True, pdf=True, audio=False, video=False)
        ),
        execution=ExecutionCapabilities(code_execution=False, max_iterations=agent.max_rounds),
        human_in_the_loop=HumanInTheLoopCapabilities(supported=True, approvals=True, interrupts=True),
    )


def _check_media_types(request: Request) -> None:
    _check_content_type(request)
    accepted = request.headers.get("accept", _SSE)
    if not any(_admits(item) for item in accepted.split(",")):
        raise InputRejectedError(406, "not_acceptable", f"This endpoint answers {_SSE}, not {accepted!r}.")


def _check_content_type(request: Request) -> None:
    given = request.headers.get("content-type", "")
    kind, _, parameters = given.partition(";")
    charset = parameters.partition("charset=")[2].split(";")[0].strip().strip('"').casefold()
    if kind.strip().casefold() != "application/json" or charset not in ("", "utf-8", "utf8"):
        raise InputRejectedError(
            415,
            "unsupported_media_type",
            f"The body must be application/json in UTF-8, not {given or 'untyped'!r}.",
        )


def _admits(item: str) -> bool:
    kind, *parameters = [part.strip().casefold() for part in item.split(";")]
    refused = any(parameter.replace(" ", "") in ("q=0", "q=0.0") for parameter in parameters)
    return kind in (_SSE, "text/*", "*/*") and not refused


async def _body(request: Request) -> bytes:
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BODY_BYTES:
                raise InputRejectedError(
                    413, "too_large", f"The body is larger than {MAX_BODY_BYTES // 1024 // 1024} MiB."
                )
    except ClientDisconnect as error:
        raise InputRejectedError(400, "incomplete", "The request ended before its body was complete.") from error
    return bytes(body)


def _stop_key(body: bytes) -> tuple[str, str]:
    try:
        data: Any = json.loads(body)
    except ValueError as error:
        raise InputRejectedError(400, "not_json", f"The body is not JSON: {error}.") from error
    ids = (data.get("threadId"), data.get("runId")) if isinstance(data, dict) else (None, None)
    if not all(isinstance(value, str) for value in ids):
        raise InputRejectedError(422, "invalid_input", 'Expected {"threadId": "...", "runId": "..."}.')
    return str(ids[0]), str(ids[1])


async def _input_error(request: Request, error: Exception) -> Response:
    if not isinstance(error, InputRejectedError):
        raise error
    details = [{"path": fault.path, "message": fault.message} for fault in error.faults]
    body = {"error": {"code": error.code, "message": error.message, "details": details}}
    return JSONResponse(body, status_code=error.status)


async def _http_error(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    body = {"error": {"code": f"http_{error.status_code}", "message": error.detail, "details": []}}
    return JSONResponse(body, status_code=error.status_code, headers=error.headers)
