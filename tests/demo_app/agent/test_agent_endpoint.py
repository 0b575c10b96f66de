"""AL-8: what is wrong with a request is an HTTP error before any stream; what is merely unknown is tolerated."""

import asyncio
import json
import logging
from typing import Any

import pytest
from ag_ui.core import AgentCapabilities
from agent_testing import HEADERS, ActsModel, Client, Connect, WaitingModel
from pydantic import TypeAdapter

from demo_app.agent.blocks import TextDelta
from demo_app.agent.endpoint import MAX_BODY_BYTES, create_app
from demo_app.agent.intake import InputRejectedError, read_input
from demo_app.agent.models.mischief import MischiefModel
from demo_app.agent.models.script.scene import Say
from demo_app.agent.models.scripted import ScriptedModel
from demo_app.agent.settings import Settings, SettingsError

INPUT: dict[str, Any] = {"threadId": "t", "runId": "r", "messages": [{"id": "1", "role": "user", "content": "hi"}]}


def changed(**more: Any) -> bytes:
    return json.dumps({**INPUT, **more}).encode()


def message(**more: Any) -> bytes:
    return changed(messages=[{"id": "1", "role": "user", "content": "hi", **more}])


def without(name: str) -> bytes:
    return json.dumps({key: value for key, value in INPUT.items() if key != name}).encode()


BAD_BODIES = [
    (b"", 400, "not_json", ""),
    (b"{", 400, "not_json", ""),
    (b'{"a": NaN}', 400, "not_json", ""),
    (b'{"a": 1e999}', 400, "not_json", ""),
    (b'\xff\xfe{"', 400, "not_json", ""),
    (b"[" * 100_000, 400, "not_json", ""),
    (b"[]", 422, "invalid_input", ""),
    (b'"text"', 422, "invalid_input", ""),
    (b"null", 422, "invalid_input", ""),
    (b"{}", 422, "invalid_input", "/threadId"),
    (without("runId"), 422, "invalid_input", "/runId"),
    (without("messages"), 422, "invalid_input", "/messages"),
    (changed(threadId=5), 422, "invalid_input", "/threadId"),
    (changed(threadId=None), 422, "invalid_input", "/threadId"),
    (changed(messages="hi"), 422, "invalid_input", "/messages"),
    (changed(messages=["hi"]), 422, "invalid_input", "/messages/0"),
    (changed(messages=[{"id": "1", "content": "hi"}]), 422, "invalid_input", "/messages/0"),
    (message(id=1), 422, "invalid_input", "/messages/0/id"),
    (message(content=5), 422, "invalid_input", "/messages/0/content"),
    (message(content=[{"type": "text"}]), 422, "invalid_input", "/messages/0/content"),
    (message(content=[{"type": "image", "source": {"type": "data"}}]), 422, "invalid_input", "/messages/0/content"),
    (
        changed(messages=[{"id": "1", "role": "assistant", "content": ["a"]}]),
        422,
        "invalid_input",
        "/messages/0/content",
    ),
    (changed(messages=[{"id": "1", "role": "tool", "content": "x"}]), 422, "invalid_input", "/messages/0/toolCallId"),
    (changed(tools="navigate"), 422, "invalid_input", "/tools"),
    (changed(tools=[{"name": "navigate"}]), 422, "invalid_input", "/tools/0/description"),
    (changed(tools=None), 422, "invalid_input", "/tools"),
    (changed(protocolVersion=1.0), 422, "invalid_input", "/protocolVersion"),
    (changed(protocolVersion=None), 422, "invalid_input", "/protocolVersion"),
    (message(name=None), 422, "invalid_input", "/messages/0/name"),
    (changed(forwardedProps=None), 422, "invalid_input", "/forwardedProps"),
    (changed(resume=[{"interruptId": "a", "status": "perhaps"}]), 422, "invalid_input", "/resume/0/status"),
    (changed(resume=[{"interrupt_id": "a", "status": "resolved"}]), 422, "invalid_input", "/resume/0/interruptId"),
    (changed(resume=[{"interruptId": "a", "status": "resolved"}] * 2), 422, "invalid_input", "/resume/0/interruptId"),
    (b'{"thread_id": "t", "run_id": "r", "messages": []}', 422, "invalid_input", "/threadId"),
]


@pytest.mark.parametrize(("body", "status", "code", "path"), BAD_BODIES)
async def test_bad_input_is_refused_before_any_stream(
    scripted: Client, body: bytes, status: int, code: str, path: str
) -> None:
    """AL-8: JSON that says which place and what was expected."""
    response = await scripted.http.post(scripted.url, content=body, headers=HEADERS)
    assert response.status_code == status
    assert response.headers["content-type"] == "application/json"
    error = response.json()["error"]
    assert error["code"] == code
    assert error["message"]
    assert "Traceback" not in response.text
    if path:
        assert path in [detail["path"] for detail in error["details"]] or error["details"][0]["path"].startswith(path)
        assert all(detail["message"] for detail in error["details"])


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({"Content-Type": "text/plain"}, 415, "unsupported_media_type"),
        ({"Content-Type": ""}, 415, "unsupported_media_type"),
        ({"Content-Type": "application/json-patch+json"}, 415, "unsupported_media_type"),
        ({"Content-Type": "application/json; charset=latin-1"}, 415, "unsupported_media_type"),
        ({"Accept": "application/json"}, 406, "not_acceptable"),
        ({"Accept": "text/event-stream;q=0"}, 406, "not_acceptable"),
        ({"Accept": "text/html, image/png"}, 406, "not_acceptable"),
    ],
)
async def test_wrong_media_types_are_refused(scripted: Client, headers: dict[str, str], status: int, code: str) -> None:
    """AL-8"""
    response = await scripted.http.post(scripted.url, content=changed(), headers={**HEADERS, **headers})
    assert response.status_code == status
    assert response.json()["error"]["code"] == code


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "application/json; charset=UTF-8"},
        {"Content-Type": 'Application/JSON;charset="utf-8"'},
        {"Accept": "*/*"},
        {"Accept": "text/html, text/event-stream;q=0.5"},
        {"Accept": "text/event-stream, application/vnd.ag-ui.event+proto"},
    ],
)
async def test_fitting_media_types_are_served(scripted: Client, headers: dict[str, str]) -> None:
    response = await scripted.http.post(scripted.url, content=changed(), headers={**HEADERS, **headers})
    assert response.status_code == 200
    assert response.headers["cache-control"] == "no-cache"


async def test_other_methods_and_addresses_answer_in_json(scripted: Client) -> None:
    wrong = await scripted.http.delete(scripted.url)
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (405, "http_405")
    nowhere = await scripted.http.get(scripted.url + "/nowhere")
    assert (nowhere.status_code, nowhere.json()["error"]["code"]) == (404, "http_404")


async def test_a_body_too_large_is_refused(scripted: Client) -> None:
    """AL-8: memory stays bounded."""
    body = changed(state="x" * MAX_BODY_BYTES)
    response = await scripted.http.post(scripted.url, content=body, headers=HEADERS)
    assert response.status_code == 413


async def test_a_request_that_breaks_off_harms_nothing(scripted: Client) -> None:
    host, port = scripted.url.split("//")[1].split("/")[0].split(":")
    _, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"POST /agent HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{")
    await writer.drain()
    writer.close()
    await writer.wait_closed()
    assert "scripted" in (await scripted.say("hello")).text


UNKNOWN = [
    (changed(future={"a": None}), 0),
    (message(future=1), 0),
    (changed(messages=[*INPUT["messages"], {"id": "2", "role": "narrator", "content": 5}]), 1),
    (message(content=[{"type": "hologram", "x": 1}, {"type": "text", "text": "hi"}, {"type": "smell"}]), 2),
    (
        message(content=[{"type": "image", "source": {"type": "orbit", "value": "x"}}, {"type": "text", "text": "hi"}]),
        1,
    ),
]


@pytest.mark.parametrize(("body", "warnings"), UNKNOWN)
async def test_unknown_material_is_left_aside_with_a_warning_and_the_run_goes_on(
    scripted: Client, body: bytes, warnings: int, caplog: pytest.LogCaptureFixture
) -> None:
    """PR-3, PR-4 in the other direction: a newer client's input does not bounce."""
    with caplog.at_level(logging.WARNING, "demo_app"):
        response = await scripted.http.post(scripted.url, content=body, headers=HEADERS)
    assert response.status_code == 200
    assert "RUN_FINISHED" in response.text
    assert caplog.text.count("left aside") == warnings


def test_the_known_neighbours_of_unknown_members_are_kept() -> None:
    """PR-4"""
    content = [{"type": "hologram"}, {"type": "text", "text": "a"}, {"type": "smell"}, {"type": "text", "text": "b"}]
    run_input = read_input(message(content=content))
    (kept,) = run_input.messages
    assert [part.text for part in kept.content] == ["a", "b"]  # type: ignore[union-attr]


def test_null_is_a_value_where_any_value_may_stand() -> None:
    """PR-6, PR-7"""
    entry = {"interruptId": "a", "status": "resolved", "payload": None}
    run_input = read_input(changed(state=None, forwardedProps={"a": None}, resume=[entry]))
    assert run_input.state is None
    assert run_input.forwarded_props == {"a": None}


@pytest.mark.parametrize(
    ("version", "warned"), [("1.0", False), ("0.9", False), ("1.10", True), ("2.0", True), ("next", True), ("", True)]
)
async def test_every_version_is_served_and_a_newer_one_is_noted(
    scripted: Client, version: str, warned: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """AL-8, VE-1: our own version is declared, never an echo (judged in `say`)."""
    await scripted.say("hello", protocolVersion=version)
    assert ("protocolVersion" in caplog.text) == warned


async def test_two_runs_of_one_name_at_once_are_refused(connect: Connect) -> None:
    """RI-3: a run id is new for each run."""
    model = WaitingModel(TextDelta("One"))
    client = await connect(model)
    first = asyncio.create_task(client.raw(INPUT))
    await model.waiting.wait()
    second = await client.http.post(client.url, content=changed(), headers=HEADERS)
    assert (second.status_code, second.json()["error"]["code"]) == (409, "run_exists")
    await client.http.post(client.url + "/stop", json={"threadId": "t", "runId": "r"})
    assert (await first).outcome == {"type": "cancelled"}


async def test_many_threads_at_once_do_not_mix(scripted: Client) -> None:
    async def ask(number: int) -> str:
        text = f"Where is order {number}?"
        run_input = {**INPUT, "threadId": f"t{number}", "messages": [{"id": "1", "role": "user", "content": text}]}
        return (await scripted.raw(run_input)).text

    answers = await asyncio.gather(*(ask(number) for number in range(1, 31)))
    assert all(f"Order {number} of" in answer for number, answer in enumerate(answers, 1))


@pytest.mark.parametrize(
    ("body", "status"), [(b"{", 400), (b"[]", 422), (b'{"threadId": "t"}', 422), (b'{"threadId":"t","runId":"x"}', 404)]
)
async def test_a_stop_that_cannot_be_is_refused(scripted: Client, body: bytes, status: int) -> None:
    response = await scripted.http.post(scripted.url + "/stop", content=body, headers=HEADERS)
    assert response.status_code == status
    assert response.json()["error"]["message"]


async def test_the_agent_says_what_it_is_and_that_it_is_scripted(scripted: Client) -> None:
    response = await scripted.http.get(scripted.url)
    info = response.json()
    assert info["status"] == "ok"
    assert info["protocolVersion"] == "1.0"
    assert info["model"]["scripted"] is True
    assert "no AI" in info["model"]["label"]
    capabilities = TypeAdapter(AgentCapabilities).validate_python(info["capabilities"], strict=True)
    assert capabilities.tools is not None
    assert capabilities.tools.items is not None
    assert [tool.name for tool in capabilities.tools.items][:2] == ["lookup_order", "search_orders"]
    info["capabilities"]["tools"].pop("items")  # JSON Schemas: a null in them is data
    assert None not in _flat(info)


def _flat(value: Any) -> list[Any]:
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [value, *(each for member in members for each in _flat(member))]


async def test_the_first_event_leaves_before_the_model_has_spoken(connect: Connect) -> None:
    """AL-8: events are sent one by one, not when the run is over."""
    model = WaitingModel()
    client = await connect(model)
    async with client.http.stream("POST", client.url, content=changed(), headers=HEADERS) as response:
        line = await anext(response.aiter_lines())
        assert json.loads(line.removeprefix("data: "))["type"] == "RUN_STARTED"
        assert not model.ended.is_set()


async def test_text_of_every_script_survives_the_wire(connect: Connect) -> None:
    """ST-5: deltas join exactly; line separators and control characters do not break a frame."""
    text = "한글\u2028line\u2029sep\x00\x1f \r\n\t 🙂 \u0085 end  "
    client = await connect(ActsModel([Say(text)]))
    assert (await client.say("hm")).text == text


def test_settings_come_from_the_environment() -> None:
    settings = Settings.from_environment(
        {"DEMO_DELAY": "0", "DEMO_SLOW_DELAY": "1.5", "DEMO_MISCHIEF": "1", "ANTHROPIC_API_KEY": "k"}
    )
    assert settings == Settings(0.0, 1.5, True, "k")
    assert Settings.from_environment({}) == Settings()


@pytest.mark.parametrize("value", ["fast", "-1", "61", "nan"])
def test_a_setting_that_is_no_number_is_refused_by_name(value: str) -> None:
    with pytest.raises(SettingsError, match="DEMO_DELAY"):
        Settings.from_environment({"DEMO_DELAY": value})


def test_the_default_app_serves_the_scripted_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("DEMO_DATA_DIR", str(tmp_path))
    for variable in ("ANTHROPIC_API_KEY", "DEMO_MISCHIEF", "DEMO_DELAY", "DEMO_SLOW_DELAY"):
        monkeypatch.delenv(variable, raising=False)
    app = create_app()
    assert [getattr(route, "path", "") for route in app.routes] == ["/agent", "/agent", "/agent/stop"]
    assert (tmp_path / "shop.db").exists()


def test_a_refusal_carries_its_faults() -> None:
    with pytest.raises(InputRejectedError) as refused:
        read_input(b"{}")
    assert refused.value.status == 422
    assert {fault.path for fault in refused.value.faults} == {"/threadId", "/runId", "/messages"}


def test_mischief_has_its_own_label() -> None:
    assert "mischief" in MischiefModel(ScriptedModel()).label
