"""Media on their way to the page: only what is held here is shown, and nothing of it can run."""

import base64
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest
from ag_ui.core import DataSource, DocumentPart, FileSource, ImagePart, UrlSource
from starlette.applications import Starlette

from demo_app.state.media import MediaShelf, media_route
from demo_app.state.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "chats.db")
    store.create("one", "t")
    yield store
    store.close()


@pytest.fixture
async def client(store: Store) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(Starlette(routes=[media_route(lambda: store)]))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        yield client


def data(body: bytes, mime: str) -> DataSource:
    return DataSource(value=base64.b64encode(body).decode(), mime_type=mime)


async def test_a_picture_of_a_known_kind_is_shown(store: Store, client: httpx.AsyncClient) -> None:
    shown = MediaShelf(store, "t")(ImagePart(source=data(b"png", "image/png"), metadata={"alt": "A bill"}))
    assert (shown.kind, shown.alt) == ("image", "A bill")
    answer = await client.get(shown.src)
    assert (answer.content, answer.headers["content-type"]) == (b"png", "image/png")
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("mime", ["image/svg+xml", "text/html", "application/xhtml+xml", "image/png; x=1", ""])
async def test_what_could_run_is_a_download(store: Store, client: httpx.AsyncClient, mime: str) -> None:
    shown = MediaShelf(store, "t")(ImagePart(source=data(b"<svg onload=alert(1)>", mime)))
    assert shown.kind == "data"
    answer = await client.get(shown.src)
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith("attachment")
    assert "sandbox" in answer.headers["content-security-policy"]


async def test_a_pdf_opens_in_the_browser(store: Store, client: httpx.AsyncClient) -> None:
    part = DocumentPart(source=data(b"%PDF", "application/pdf"), metadata={"filename": 'a"\r\nb.pdf'})
    shown = MediaShelf(store, "t")(part)
    answer = await client.get(shown.src)
    assert (shown.kind, answer.headers["content-disposition"]) == ("pdf", "inline; filename*=UTF-8''a___b.pdf")


@pytest.mark.parametrize(
    ("address", "kind"),
    [("https://elsewhere.example/x.png", "link"), ("javascript:alert(1)", "opaque"), ("data:text/html,x", "opaque")],
)
def test_an_address_elsewhere_is_a_link_and_a_script_is_nothing(store: Store, address: str, kind: str) -> None:
    shown = MediaShelf(store, "t")(ImagePart(source=UrlSource(value=address)))
    assert shown.kind == kind


def test_a_file_of_the_agents_is_named_and_nothing_else(store: Store) -> None:
    shown = MediaShelf(store, "t")(DocumentPart(source=FileSource(value="file-7")))
    assert (shown.kind, shown.src) == ("opaque", "")


def test_broken_base64_is_no_media(store: Store) -> None:
    shown = MediaShelf(store, "t")(ImagePart(source=DataSource(value="%%%", mime_type="image/png")))
    assert shown.kind == "opaque"


async def test_an_address_nobody_gave_out_is_not_found(client: httpx.AsyncClient) -> None:
    assert (await client.get("/media/guess")).status_code == 404
