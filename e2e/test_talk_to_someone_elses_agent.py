"""`AGENT_URL`: an agent that nobody here wrote, pydantic-ai's, uses this app's tools and asks for approval."""

from collections.abc import Callable

from playwright.sync_api import expect
from pydantic_ai.ui import StateDeps
from pydantic_ai.ui.ag_ui import AGUIAdapter
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from e2e.conftest import Visitor
from e2e.pages.assistant import Assistant
from e2e.server import DemoServer
from tests.client_sdk.interop_pydantic_ai import SCENARIOS, Call, Shared, _agent, _delete, answers, scripted
from tests.client_sdk.interop_pydantic_ai import serve as serve_app

Visit = Callable[..., Visitor]

# What the visitor says ▸ what pydantic-ai's scripted model does.
MODELS = {
    "Say something": SCENARIOS["text"],
    "Look at the weather": SCENARIOS["backend-tool"],
    "Think first": SCENARIOS["reasoning"],
    "Show me the orders": lambda: scripted([Call("call-1", "navigate", ('{"page": ', '"orders"}'))], [answers]),
    "Order a tamper": lambda: scripted(
        [Call("call-2", "place_order", ('{"customer_id": 2, "sku": "TOOL-01", ', '"quantity": 1}'))], [answers]
    ),
    "Delete the record": lambda: scripted([_delete("call-3", 7)], [answers]),
    "Break down": SCENARIOS["error-mid"],
}


def foreign_agent() -> Starlette:
    """All of them at one address, chosen by the visitor's last words."""
    agents = {said: _agent(model()) for said, model in MODELS.items()}

    async def endpoint(request: Request) -> Response:
        said = [one["content"] for one in (await request.json())["messages"] if one["role"] == "user"]
        response: Response = await AGUIAdapter.dispatch_request(
            request, agent=agents[said[-1]], deps=StateDeps(Shared())
        )
        return response

    return Starlette(routes=[Route("/agent", endpoint, methods=["POST"])])


def test_pydantic_ai_uses_this_app(serve: Callable[..., DemoServer], visit: Visit) -> None:
    with serve_app(foreign_agent()) as port:
        server = serve(AGENT_URL=f"http://127.0.0.1:{port}/agent")
        before = len(server.shop.orders(customer_id=2))
        visitor = visit(server)
        chat = Assistant(visitor.app).open()
        expect(chat.model).to_contain_text(f"127.0.0.1:{port}")
        chat.ask("Say something")
        expect(chat.answers.last).not_to_be_empty()
        chat.ask("Look at the weather")
        expect(chat.tool("get_weather")).to_have_count(1)
        chat.ask("Think first")
        expect(chat.page.locator("[data-card=reasoning]")).to_have_count(1)
        chat.ask("Show me the orders")
        assert chat.app.address == "/orders"
        expect(chat.answers.last).to_contain_text("navigate said")
        chat.ask("Order a tamper")
        chat.tool("place_order", "asking").get_by_role("button", name="Approve").click()
        expect(chat.tool("place_order", "done")).to_have_count(1)
        chat.wait_rest()
        assert len(server.shop.orders(customer_id=2)) == before + 1
        chat.ask("Delete the record")
        expect(chat.interrupt).to_have_count(1)
        expect(chat.tool("delete_record", "interrupted")).to_have_count(1)
        chat.interrupt.get_by_role("button", name="Approve").click()
        expect(chat.decisions).to_have_count(1)
        chat.wait_rest()
        expect(chat.tool("delete_record", "done")).to_have_count(1)
        chat.ask("Break down")
        expect(chat.end("failed")).to_have_count(1)
        shape = chat.transcript_shape()
        chat.reload()
        assert chat.transcript_shape() == shape
