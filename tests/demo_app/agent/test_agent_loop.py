"""The loop's rules, AL-1 to AL-9, each with a model that writes exactly what the rule is about."""

import asyncio
import json
import logging
from typing import Any

import httpx
import pytest
from ag_ui.core import AudioPart, DataSource, ImagePart, RunAgentInput, TextPart, TokenUsage
from agent_testing import HEADERS, ActsModel, Call, Client, Connect, ItemsModel, WaitingModel

from demo_app.agent.backend import BACKEND_TOOLS
from demo_app.agent.blocks import (
    Reasoning,
    ReasoningDelta,
    ReasoningDone,
    Stop,
    StopReason,
    TextDelta,
    ToolInputDelta,
    ToolResult,
    ToolUse,
    ToolUseStart,
)
from demo_app.agent.loop import Agent
from demo_app.agent.models.script.scene import Say
from demo_app.agent.tools import Arguments, BackendTool, Content, Outcome, ToolContext
from demo_app.shop import Shop

LOOKUP = Call("lookup_order", {"order_id": 42})
TRANSFER = {"to": "Harbor Beans", "amount_krw": 50_000, "memo": "refund"}


class Nothing(Arguments):
    """No arguments."""


def tool(name: str, run: Any) -> BackendTool[Any]:
    return BackendTool(name, Nothing, "A tool for a test.", {}, run)


def seen_results(model: ActsModel | ItemsModel, turn: int = 1) -> list[ToolResult]:
    """The tool results the model was given in a turn."""
    blocks = model.requests[turn].messages[-1].blocks
    return [block for block in blocks if isinstance(block, ToolResult)]


# AL-1


async def test_tool_use_runs_the_tool_and_asks_the_model_again(connect: Connect) -> None:
    """AL-1"""
    model = ActsModel([LOOKUP], [Say("It is on its way.")])
    client = await connect(model)
    answer = await client.say("hm")
    assert answer.text == "It is on its way."
    (result,) = seen_results(model)
    assert json.loads(result.text)["order"]["id"] == 42
    assert not result.is_error
    assert answer.outcome == {"type": "success"}


async def test_a_loop_without_end_is_bounded_and_no_success(connect: Connect) -> None:
    """AL-1: a limit that the producer enforces ends the run as cancelled."""
    client = await connect(ActsModel(*[[LOOKUP]] * 3), max_rounds=3)
    answer = await client.say("hm")
    assert len(answer.results) == 3
    assert "3 rounds" in answer.text
    assert answer.outcome == {"type": "cancelled"}


@pytest.mark.parametrize(
    ("reason", "outcome"),
    [("end_turn", "success"), ("stop_sequence", "success"), ("refusal", "success"), ("max_tokens", "cancelled")],
)
async def test_each_stop_reason_has_its_ending(connect: Connect, reason: StopReason, outcome: str) -> None:
    """AL-1"""
    client = await connect(ItemsModel([TextDelta("Half a"), Stop(reason)]))
    answer = await client.say("hm")
    assert answer.outcome == {"type": outcome}
    assert ("declined" in answer.text) == (reason == "refusal")


async def test_a_paused_turn_goes_on(connect: Connect) -> None:
    """AL-1"""
    client = await connect(ItemsModel([TextDelta("One, "), Stop("pause_turn")], [TextDelta("two."), Stop("end_turn")]))
    assert (await client.say("hm")).text == "One, two."


async def test_a_full_context_window_is_an_error(connect: Connect) -> None:
    """AL-1, LC-6"""
    client = await connect(ItemsModel([Stop("model_context_window_exceeded")]))
    answer = await client.say("hm")
    assert answer.events[-1]["code"] == "context_window_exceeded"


async def test_a_call_cut_off_by_the_limit_does_not_run(connect: Connect, shop: Shop) -> None:
    """AL-1: only tool use runs tools; the cut call is answered so that nothing dangles."""
    items = [
        ToolUseStart("call-1", "transfer_funds"),
        ToolInputDelta(json.dumps(TRANSFER)),
        ToolUseStart("call-2", "lookup_order"),
        ToolInputDelta('{"order'),
        Stop("max_tokens"),
    ]
    client = await connect(ItemsModel(items))
    answer = await client.say("hm")
    assert [result["metadata"]["code"] for result in answer.results] == ["cut_off", "cut_off"]
    assert answer.outcome == {"type": "cancelled"}
    assert shop.transfers() == []


async def test_tool_use_without_a_call_is_an_end(connect: Connect) -> None:
    """AL-1"""
    client = await connect(ItemsModel([TextDelta("Well."), Stop("tool_use")]))
    assert (await client.say("hm")).outcome == {"type": "success"}


@pytest.mark.parametrize("items", [[TextDelta("Half")], [ToolInputDelta("{}"), Stop("tool_use")], []])
async def test_a_model_stream_that_breaks_off_is_a_failed_run(connect: Connect, items: list[Any]) -> None:
    """LC-6: a failure after the stream opened travels in it."""
    client = await connect(ItemsModel(items))
    answer = await client.say("hm")
    assert answer.types[-1] == "RUN_ERROR"
    assert answer.events[-1]["code"].startswith("model_stream")


async def test_a_fault_inside_the_agent_is_a_failed_run_and_the_next_one_works(
    connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    """LC-6: never a bare traceback for the user."""
    model = ActsModel()
    client = await connect(model)
    with caplog.at_level(logging.ERROR):
        answer = await client.say("hm")
    assert answer.events[-1]["code"] == "internal_error"
    assert "IndexError" not in json.dumps(answer.events)
    assert "IndexError" in caplog.text
    model._turns.append([Say("Fine now.")])
    assert (await client.say("hm")).text == "Fine now."


# AL-2


@pytest.mark.parametrize("backend_tool", BACKEND_TOOLS, ids=[each.name for each in BACKEND_TOOLS])
def test_every_tool_has_a_description_with_a_valid_example(backend_tool: BackendTool[Any]) -> None:
    """AL-2"""
    schema = backend_tool.schema()
    example = json.dumps(dict(backend_tool.example), ensure_ascii=False)
    assert schema.description.endswith(f"Example input: {example}")
    assert len(schema.description) > len(example) + 40
    assert not isinstance(backend_tool.parse(example), Outcome)
    assert schema.parameters["type"] == "object"
    for name, property_schema in schema.parameters.get("properties", {}).items():
        assert property_schema.get("description"), name


async def test_the_model_is_told_of_the_tools_of_both_sides(connect: Connect, caplog: pytest.LogCaptureFixture) -> None:
    """AL-2, FT-1: the agent's own and the application's; a name that is taken is not offered twice."""
    model = ActsModel([Say("Yes.")])
    client = await connect(model)
    client.tools = ("navigate", "lookup_order", "navigate")
    await client.say("hm")
    names = [schema.name for schema in model.requests[0].tools]
    assert names == [each.name for each in BACKEND_TOOLS] + ["navigate"]
    assert caplog.text.count("left aside") == 2


async def test_context_and_system_messages_reach_the_model(connect: Connect) -> None:
    model = ActsModel([Say("Yes.")])
    client = await connect(model)
    client.messages = [{"id": "s", "role": "system", "content": "Be kind."}]
    await client.say("hm", context=[{"description": "The page", "value": "/orders"}])
    assert model.requests[0].system.endswith("Be kind.\n\nThe page: /orders")


# AL-3


@pytest.mark.parametrize(
    ("call", "code", "said"),
    [
        (Call("lookup_order", {}), "bad_arguments", "order_id: Field required"),
        (Call("lookup_order", {"order_id": "42"}), "bad_arguments", 'valid integer, not "42"'),
        (Call("lookup_order", {"order_id": 42, "more": 1}), "bad_arguments", "more: Extra inputs"),
        (Call("lookup_order", '{"order_id": 4'), "bad_arguments", "Invalid JSON"),
        (Call("lookup_order", "[]"), "bad_arguments", "should be an object, not []"),
        (Call("transfer_funds", {"to": "X", "amount_krw": -1}), "bad_arguments", "amount_krw"),
        (Call("lookup_order", {"order_id": 9999}), "unknown_order", "9999"),
        (Call("get_invoice", {"invoice_id": "../../etc/passwd"}), "unknown_invoice", "no invoice"),
        (Call("get_weather", {"city": "Atlantis"}), "unknown_city", "Known: Seoul"),
        (Call("shipping_quote", {"city": "Atlantis", "weight_kg": 1}), "unknown_city", "no parcels"),
        (Call("launch_rocket", {}), "unknown_tool", "The tools are: build_report, capture_chart"),
    ],
)
async def test_what_is_wrong_comes_back_to_the_model_as_text(
    connect: Connect, call: Call, code: str, said: str
) -> None:
    """AL-3"""
    model = ActsModel([call], [Say("I see.")])
    client = await connect(model)
    answer = await client.say("hm")
    (result,) = answer.results
    assert result["metadata"] == {"isError": True, "code": code}
    assert said in result["content"]
    (given,) = seen_results(model)
    assert given.is_error
    assert given.text == result["content"]
    assert answer.outcome == {"type": "success"}


async def test_an_exception_in_a_tool_comes_back_without_its_inside(
    connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    """AL-3"""

    async def broken(arguments: Nothing, context: ToolContext) -> Content:
        raise RuntimeError("the password is hunter2")

    client = await connect(ActsModel([Call("broken", {})], [Say("Pity.")]), tools=(tool("broken", broken),))
    answer = await client.say("hm")
    (result,) = answer.results
    assert result["metadata"]["code"] == "tool_failed"
    assert "RuntimeError" in result["content"]
    assert "hunter2" not in result["content"]
    assert "hunter2" in caplog.text
    assert answer.text == "Pity."


async def test_no_argument_text_means_no_arguments(connect: Connect) -> None:
    """AL-3: a provider that streams nothing for an empty object has made no mistake."""
    client = await connect(ActsModel([Call("revenue_by_month", "")], [Say("Good.")]))
    (result,) = (await client.say("hm")).results
    assert "metadata" not in result


# AL-4


async def test_backend_calls_run_in_parallel_and_their_results_keep_the_order(connect: Connect) -> None:
    """AL-4: the first can only end after the second has; its result comes first all the same."""
    second_done = asyncio.Event()

    async def first(arguments: Nothing, context: ToolContext) -> Content:
        await second_done.wait()
        return "first"

    async def second(arguments: Nothing, context: ToolContext) -> Content:
        second_done.set()
        return "second"

    model = ActsModel([Call("first", {}), Call("second", {}), Call("third", {})], [Say("Done.")])
    client = await connect(model, tools=(tool("first", first), tool("second", second)))
    answer = await client.say("hm")
    assert [result["content"].split(":")[0] for result in answer.results] == ["first", "second", "Error (unknown_tool)"]
    ids = [start["toolCallId"] for start in answer.of("TOOL_CALL_START")]
    assert [result["toolCallId"] for result in answer.results] == ids
    assert [result.tool_use_id for result in seen_results(model)] == ids


# AL-5


async def test_frontend_calls_stay_open_in_call_order_while_backend_calls_are_answered(connect: Connect) -> None:
    """AL-5"""
    turn = [
        Call("navigate", {"page": "orders"}),
        LOOKUP,
        Call("highlight", '{"element": '),
        Call("nonsense", {}),
    ]
    model = ActsModel(turn, [Say("All done.")])
    client = await connect(model)
    answer = await client.say("hm")
    navigate, lookup, highlight, nonsense = [start["toolCallId"] for start in answer.of("TOOL_CALL_START")]
    assert [result["toolCallId"] for result in answer.results] == [lookup, nonsense]
    assert answer.outcome == {"type": "success", "pendingToolCallIds": [navigate, highlight]}
    assert len(model.requests) == 1, "the model is not asked before the application has answered"
    followed = await client.reply(answer, {"shown": "/orders"}, "broken JSON", error="")
    assert followed.text == "All done."
    given = seen_results(model)
    assert [result.tool_use_id for result in given] == [navigate, lookup, highlight, nonsense]


async def test_no_answer_is_made_up_for_a_call_that_has_none(
    connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    """AL-5: the model is told that nothing is known; the stream carries no result."""
    model = ActsModel([Call("navigate", {"page": "orders"})], [Say("Never mind.")])
    client = await connect(model)
    await client.say("hm")
    answer = await client.say("something else")
    assert answer.results == []
    assert "never answered" in caplog.text
    blocks = model.requests[1].messages[-1].blocks
    assert isinstance(blocks[0], ToolResult)
    assert blocks[0].is_error
    assert "no answer" in blocks[0].text


# AL-6


async def test_parts_the_model_cannot_take_are_dropped_and_the_call_is_answered(
    connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    """AL-6: with the empty answer if nothing is left; the stream still carries the parts."""
    sound = AudioPart(source=DataSource(value="AAAA", mime_type="audio/wav"))

    async def record(arguments: Nothing, context: ToolContext) -> Content:
        return [sound]

    async def both(arguments: Nothing, context: ToolContext) -> Content:
        return [TextPart(text="a sound"), sound]

    model = ActsModel([Call("record", {}), Call("both", {})], [Say("I heard nothing.")])
    client = await connect(model, tools=(tool("record", record), tool("both", both)))
    answer = await client.say("hm")
    assert [part["type"] for part in answer.results[0]["content"]] == ["audio"]
    empty, text = seen_results(model)
    assert empty.content == ()
    assert not empty.is_error
    assert text.content == (TextPart(text="a sound"),)
    assert caplog.text.count("AL-6") == 2


async def test_parts_from_the_application_are_dropped_in_the_same_way(
    connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    """AL-6: in the user's message and in the answer to a frontend call."""
    sound = {"type": "audio", "source": {"type": "data", "value": "AAAA", "mimeType": "audio/wav"}}
    model = ActsModel([Call("navigate", {"page": "orders"})], [Say("Yes.")])
    client = await connect(model)
    answer = await client.say([{"type": "text", "text": "listen"}, sound])
    assert model.requests[0].messages[0].blocks == (TextPart(text="listen"),)
    await client.reply(answer, [sound])
    assert seen_results(model) == [ToolResult(answer.outcome["pendingToolCallIds"][0], ())]
    assert caplog.text.count("AL-6") >= 2


# AL-7


async def read_until(response: httpx.Response, wanted: str) -> tuple[list[dict[str, Any]], Any]:
    lines = response.aiter_lines()
    events: list[dict[str, Any]] = []
    async for line in lines:
        if line:
            events.append(json.loads(line.removeprefix("data: ")))
            if events[-1]["type"] == wanted:
                return events, lines
    raise AssertionError(f"no {wanted}")


OPEN_THINGS = [
    ([TextDelta("One")], ["TEXT_MESSAGE_END"]),
    ([ReasoningDelta("Hm")], ["REASONING_MESSAGE_END", "REASONING_END"]),
    ([TextDelta("One"), ToolUseStart("call-1", "navigate"), ToolInputDelta('{"pa')], ["TOOL_CALL_END"]),
]


@pytest.mark.parametrize(("items", "closing"), OPEN_THINGS)
async def test_stopped_on_purpose_everything_open_is_closed_and_the_run_is_cancelled(
    connect: Connect, items: list[Any], closing: list[str]
) -> None:
    """AL-7"""
    model = WaitingModel(*items)
    client = await connect(model)
    client.messages = [{"id": "u", "role": "user", "content": "hm"}]
    run_input = client.run_input()
    run = asyncio.create_task(client.raw(run_input))
    await model.waiting.wait()
    ids = {"threadId": run_input["threadId"], "runId": run_input["runId"]}
    stopped = await client.http.post(f"{client.url}/stop", json=ids)
    assert stopped.status_code == 204
    answer = (await run).judge(run_input)
    assert answer.outcome == {"type": "cancelled"}
    assert answer.types[-1 - len(closing) : -1] == closing
    assert model.ended.is_set()
    again = await client.http.post(f"{client.url}/stop", json=ids)
    assert again.status_code == 404


async def test_stopping_a_report_closes_both_subagents(shop: Shop) -> None:
    """AL-7, SA-4: the subagents' own items first, then they, then the call's run."""
    model = ActsModel([Call("build_report", {})])
    agent = Agent(model=model, shop=shop, pace=3600)
    run = agent.run(RunAgentInput(thread_id="t", run_id="r", protocol_version="1.0", messages=[]))
    assert not run.stop(), "it has not begun"
    types: list[str] = []
    errors: list[str] = []
    async for event in run.events():
        types.append(event.type.value)
        errors += [event.code] if event.type.value == "SUBAGENT_ERROR" else []
        if types.count("TEXT_MESSAGE_CONTENT") == 2 and "RUN_FINISHED" not in types:
            run.stop()
    assert errors == ["stopped", "stopped"]
    assert types.count("TEXT_MESSAGE_START") == types.count("TEXT_MESSAGE_END") == 2
    assert types[-1] == "RUN_FINISHED"
    assert not run.stop(), "it has ended"


async def test_a_client_that_leaves_stops_the_model(connect: Connect) -> None:
    """AL-7, TR-2: nobody is left to tell; the work ends."""
    model = WaitingModel(TextDelta("One"))
    client = await connect(model)
    client.messages = [{"id": "u", "role": "user", "content": "hm"}]
    body = json.dumps(client.run_input()).encode()
    async with client.http.stream("POST", client.url, content=body, headers=HEADERS) as response:
        await read_until(response, "TEXT_MESSAGE_CONTENT")
    await asyncio.wait_for(model.ended.wait(), 30)


async def test_a_slow_reader_holds_the_loop_back(shop: Shop) -> None:
    """AL-7: what nobody reads is not produced without bound."""
    model = ActsModel([Say("word " * 5_000)])
    run = Agent(model=model, shop=shop).run(RunAgentInput(thread_id="t", run_id="r", messages=[]))
    events = run.events()
    first = await anext(events)
    assert first.type.value == "RUN_STARTED"
    for _ in range(2_000):
        await asyncio.sleep(0)
    assert run._out._queue.full()
    await events.aclose()


# AL-8 is test_agent_endpoint.py


# AL-9


async def test_results_are_flattened_for_a_client_that_declares_no_version(
    connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    """AL-9, TC-5: text parts joined as they are, nothing in place of the rest, a warning that names it."""

    async def mixed(arguments: Nothing, context: ToolContext) -> Content:
        picture = ImagePart(source=DataSource(value="AAAA", mime_type="image/png"))
        return [TextPart(text=" a"), picture, TextPart(text="b ")]

    async def media(arguments: Nothing, context: ToolContext) -> Content:
        return [ImagePart(source=DataSource(value="AAAA", mime_type="image/png"))]

    async def texts(arguments: Nothing, context: ToolContext) -> Content:
        return [TextPart(text="x"), TextPart(text="y")]

    tools = (tool("mixed", mixed), tool("media", media), tool("texts", texts))
    model = ActsModel([Call(each.name, {}) for each in tools], [Say("There.")])
    client = await connect(model, tools=tools)
    answer = await client.say("hm", protocolVersion=None)
    assert [result["content"] for result in answer.results] == [" ab ", "", "xy"]
    assert caplog.text.count("AL-9") == 2
    assert "['image'] dropped" in caplog.text
    assert len(seen_results(model)[0].content) == 3, "the model gets what it can take"


# Interrupts


async def ask_for_transfer(connect: Connect, *turns: list[Any]) -> tuple[Client, dict[str, Any], Any]:
    client = await connect(ActsModel([Call("transfer_funds", TRANSFER)], *turns))
    answer = await client.say("hm")
    (interrupt,) = answer.outcome["interrupts"]
    return client, interrupt, answer


async def test_a_transfer_interrupts_and_says_what_it_wants_to_know(connect: Connect, shop: Shop) -> None:
    """IR-1: an interrupted run is no success, and nothing has happened."""
    _, interrupt, answer = await ask_for_transfer(connect)
    (start,) = answer.of("TOOL_CALL_START")
    assert answer.outcome["type"] == "interrupt"
    assert answer.results == []
    assert interrupt["reason"] == "approval_required"
    assert interrupt["toolCallId"] == start["toolCallId"]
    assert interrupt["message"] == "Transfer 50,000 won to Harbor Beans?"
    schema = interrupt["responseSchema"]
    assert schema["required"] == ["approved"]
    assert {name: each["type"] for name, each in schema["properties"].items()} == {
        "approved": "boolean",
        "amount_krw": "integer",
        "memo": "string",
    }
    assert shop.transfers() == []


@pytest.mark.parametrize(
    ("payload", "amount", "memo"),
    [
        ({"approved": True}, 50_000, "refund"),
        ({"approved": True, "amount_krw": 20_000}, 20_000, "refund"),
        ({"approved": True, "amount_krw": 1, "memo": ""}, 1, ""),
    ],
)
async def test_an_approval_is_carried_out_as_it_was_given(
    connect: Connect, shop: Shop, payload: dict[str, Any], amount: int, memo: str
) -> None:
    """IR-4: everything needed is in the input."""
    client, interrupt, _ = await ask_for_transfer(connect, [Say("Sent.")])
    entry = {"interruptId": interrupt["id"], "status": "resolved", "payload": payload}
    answer = await client.go(resume=[entry])
    (result,) = answer.results
    assert result["toolCallId"] == interrupt["toolCallId"]
    assert json.loads(result["content"])["amount_krw"] == amount
    assert answer.text == "Sent."
    (row,) = shop.transfers()
    assert (row.to, row.amount_krw, row.memo) == ("Harbor Beans", amount, memo)


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ({"status": "resolved", "payload": {"approved": False}}, "declined"),
        ({"status": "cancelled"}, "abandoned"),
        ({"status": "cancelled", "payload": {"approved": True}}, "abandoned"),
    ],
)
async def test_a_no_is_told_to_the_model_and_nothing_moves(
    connect: Connect, shop: Shop, entry: dict[str, Any], code: str
) -> None:
    """IR-2"""
    client, interrupt, _ = await ask_for_transfer(connect, [Say("As you wish.")])
    answer = await client.go(resume=[{"interruptId": interrupt["id"], **entry}])
    (result,) = answer.results
    assert result["metadata"] == {"isError": True, "code": code}
    assert answer.text == "As you wish."
    assert shop.transfers() == []


@pytest.mark.parametrize(
    "payload",
    [
        None,
        "yes",
        {},
        {"approved": "true"},
        {"approved": 1},
        {"approved": True, "amount_krw": "20000"},
        {"approved": True, "amount_krw": 0},
        {"approved": True, "amount_krw": 10.5},
        {"approved": True, "to": "Mallory"},
    ],
)
async def test_an_answer_of_the_wrong_shape_keeps_the_question_open(connect: Connect, shop: Shop, payload: Any) -> None:
    """IR-2, AL-3: never a guess where money moves."""
    client, interrupt, _ = await ask_for_transfer(connect)
    answer = await client.go(resume=[{"interruptId": interrupt["id"], "status": "resolved", "payload": payload}])
    (again,) = answer.outcome["interrupts"]
    assert again["id"] == interrupt["id"]
    assert "could not be used" in again["message"]
    assert answer.results == []
    assert shop.transfers() == []


async def test_an_unanswered_question_is_asked_again_and_an_unknown_answer_is_left_aside(
    connect: Connect, shop: Shop, caplog: pytest.LogCaptureFixture
) -> None:
    """IR-2: omission is neither consent nor abandonment."""
    client, interrupt, _ = await ask_for_transfer(connect)
    entry = {"interruptId": "approve:call-of-nobody", "status": "resolved", "payload": {"approved": True}}
    answer = await client.say("and the weather?", resume=[entry])
    assert [each["id"] for each in answer.outcome["interrupts"]] == [interrupt["id"]]
    assert "approve:call-of-nobody" in caplog.text
    assert shop.transfers() == []


async def test_the_same_answer_sent_twice_moves_money_once(connect: Connect, shop: Shop) -> None:
    """FT-8: the ledger's key comes from the thread and the call."""
    client, interrupt, _ = await ask_for_transfer(connect, [Say("Sent.")], [Say("Sent.")])
    before = list(client.messages)
    entry = {"interruptId": interrupt["id"], "status": "resolved", "payload": {"approved": True}}
    first = await client.go(resume=[entry])
    client.messages = before
    second = await client.go(resume=[entry])
    assert [result["content"] for result in first.results] == [result["content"] for result in second.results]
    assert len(shop.transfers()) == 1
    client.messages = before
    changed = {**entry, "payload": {"approved": True, "amount_krw": 7}}
    client_model_turn = await client.go(resume=[changed])
    assert client_model_turn.results[0]["metadata"]["code"] == "request_key_reused"
    assert len(shop.transfers()) == 1


async def test_two_questions_at_once_one_answered(connect: Connect, shop: Shop) -> None:
    """IR-1, IR-2: ids are unique in the run; the one left open is asked again."""
    calls = [Call("transfer_funds", {**TRANSFER, "to": name}) for name in ("Harbor Beans", "Olle Coffee")]
    client = await connect(ActsModel([*calls, LOOKUP], [Say("Both are done.")]))
    answer = await client.say("hm")
    first, second = answer.outcome["interrupts"]
    assert first["id"] != second["id"]
    assert len(answer.results) == 1, "the backend call of the same turn is answered"
    again = await client.go(resume=[{"interruptId": second["id"], "status": "resolved", "payload": {"approved": True}}])
    assert [each["id"] for each in again.outcome["interrupts"]] == [first["id"]]
    assert [row.to for row in shop.transfers()] == ["Olle Coffee"]
    done = await client.go(resume=[{"interruptId": first["id"], "status": "cancelled"}])
    assert done.text == "Both are done."
    assert len(shop.transfers()) == 1


async def test_a_question_beside_a_frontend_call(connect: Connect, shop: Shop) -> None:
    """FT-2, IR-4: the outcome is the interrupt; the open frontend call shows in the stream alone."""
    turn = [Call("navigate", {"page": "orders"}), Call("transfer_funds", TRANSFER)]
    client = await connect(ActsModel(turn, [Say("Done.")]))
    answer = await client.say("hm")
    navigate, _ = [start["toolCallId"] for start in answer.of("TOOL_CALL_START")]
    assert set(answer.outcome) == {"type", "interrupts"}
    await client.answer(navigate, {"shown": "/orders"}, go=False)
    (interrupt,) = answer.outcome["interrupts"]
    entry = {"interruptId": interrupt["id"], "status": "resolved", "payload": {"approved": True}}
    assert (await client.go(resume=[entry])).text == "Done."
    assert len(shop.transfers()) == 1


async def test_a_refused_transfer_is_an_error_text(connect: Connect, shop: Shop) -> None:
    """AL-3: the shop's refusal, after the approval."""
    client, interrupt, _ = await ask_for_transfer(connect, [Say("Too much.")])
    payload = {"approved": True, "amount_krw": 10**12}
    answer = await client.go(resume=[{"interruptId": interrupt["id"], "status": "resolved", "payload": payload}])
    assert answer.results[0]["metadata"]["code"] == "insufficient_funds"
    assert shop.transfers() == []


# Reasoning, usage, state


async def test_signed_reasoning_goes_out_and_comes_back_unread(connect: Connect) -> None:
    """RE-2"""
    thought = [ReasoningDelta("Let me "), ReasoningDelta("see."), ReasoningDone(Reasoning("Let me see.", "c2lnbmVk"))]
    hidden = [ReasoningDone(Reasoning("", "aGlkZGVu"))]
    model = ItemsModel(
        [*thought, ToolUseStart("call-1", "revenue_by_month"), Stop("tool_use")],
        [*hidden, TextDelta("So."), Stop("end_turn")],
        [TextDelta("And so."), Stop("end_turn")],
    )
    client = await connect(model)
    answer = await client.say("hm")
    assert [event["encryptedValue"] for event in answer.of("REASONING_ENCRYPTED_VALUE")] == ["c2lnbmVk", "aGlkZGVu"]
    assert model.requests[1].messages[1].blocks[0] == Reasoning("Let me see.", "c2lnbmVk")
    await client.say("and?")
    _, assistant, _, second, _ = model.requests[2].messages
    assert assistant.blocks[0] == Reasoning("Let me see.", "c2lnbmVk")
    assert second.blocks[0] == Reasoning("", "aGlkZGVu")


async def test_usage_is_summed_per_model_and_an_absent_count_stays_absent(connect: Connect) -> None:
    """LC-9"""
    first = TokenUsage(provider="p", model="m", input_tokens=3, output_tokens=4)
    second = TokenUsage(provider="p", model="m", input_tokens=5, output_tokens=0, cached_input_tokens=2)
    model = ItemsModel(
        [ToolUseStart("call-1", "revenue_by_month"), Stop("tool_use", first)],
        [TextDelta("So."), Stop("end_turn", second)],
    )
    client = await connect(model)
    assert (await client.say("hm")).events[-1]["usage"] == [
        {"provider": "p", "model": "m", "inputTokens": 8, "outputTokens": 4, "cachedInputTokens": 2}
    ]


async def test_text_around_a_call_stays_in_one_message(connect: Connect) -> None:
    """ST-6, TC-1: the call belongs to the message; text after it reopens that message."""
    model = ItemsModel(
        [TextDelta(""), TextDelta("Before. "), ToolUseStart("c", "navigate"), TextDelta("After."), Stop("tool_use")]
    )
    client = await connect(model)
    answer = await client.say("hm")
    (message,) = [each for each in answer.messages if each["role"] == "assistant"]
    assert message["content"] == "Before. After."
    assert [each["id"] for each in message["toolCalls"]] == ["c"]


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (None, {}),
        ({"cart": [1]}, {"cart": [1]}),
    ],
)
async def test_the_state_says_who_answers_and_keeps_what_was_there(
    connect: Connect, state: Any, expected: dict[str, Any]
) -> None:
    """SN-1, SN-3: a snapshot replaces, so it carries the rest along."""
    client = await connect(ActsModel([Say("Hi.")], [Say("Hi.")]))
    answer = await client.say("hm", **({} if state is None else {"state": state}))
    (snapshot,) = answer.of("STATE_SNAPSHOT")
    agent = snapshot["snapshot"].pop("agent")
    assert agent["scripted"] is True
    assert snapshot["snapshot"] == expected
    again = await client.go(state={**expected, "agent": agent})
    assert again.of("STATE_SNAPSHOT") == []


@pytest.mark.parametrize("state", [0, "", False, [1]])
async def test_a_state_that_is_no_object_is_left_alone(connect: Connect, state: Any) -> None:
    """SN-1"""
    client = await connect(ActsModel([Say("Hi.")]))
    assert (await client.say("hm", state=state)).of("STATE_SNAPSHOT") == []


# History


async def test_the_model_gets_one_answer_for_each_call_in_call_order(
    connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    """FT-3: whatever the order and number of tool messages in the input."""
    calls = [
        {"id": name, "type": "function", "function": {"name": "navigate", "arguments": "{}"}} for name in ("a", "b")
    ]
    model = ActsModel([Say("Good.")])
    client = await connect(model)
    client.messages = [
        {"id": "1", "role": "user", "content": "hm"},
        {"id": "2", "role": "assistant", "toolCalls": calls},
        {"id": "3", "role": "tool", "toolCallId": "b", "content": "second", "error": "failed"},
        {"id": "4", "role": "tool", "toolCallId": "a", "content": "first"},
        {"id": "5", "role": "tool", "toolCallId": "a", "content": "first again"},
        {"id": "6", "role": "tool", "toolCallId": "z", "content": "of nobody"},
        {"id": "7", "role": "assistant", "content": ""},
    ]
    await client.say("next")
    roles = [message.role for message in model.requests[0].messages]
    assert roles == ["user", "assistant", "user"]
    uses = [block.id for block in model.requests[0].messages[1].blocks if isinstance(block, ToolUse)]
    results = [block for block in model.requests[0].messages[2].blocks if isinstance(block, ToolResult)]
    assert uses == [result.tool_use_id for result in results] == ["a", "b"]
    assert [result.text for result in results] == ["first", "Error (failed): second"]
    assert [result.is_error for result in results] == [False, True]
    assert "answered twice" in caplog.text
