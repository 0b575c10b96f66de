"""Media parts on their way to the page: data sources get an address of this app, the others are named.

Only kinds that a browser draws without running anything are served as what they are; all else is a download. A
`url` source is never fetched, a `file` source never read (TC-6).
"""

import re
from typing import Any, Final
from urllib.parse import quote, urlsplit

from ag_ui.core import ContentPart
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from demo_app.state.cards_model import Media
from demo_app.state.store import Store, decoded

PATH: Final = "/media"
IMAGES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
PDF: Final = "application/pdf"
_SUFFIXES: Final = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp", PDF: "pdf"}
_UNFIT: Final = re.compile(r"[^\w.()+ -]")
_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "Cache-Control": "private, max-age=31536000, immutable",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class MediaShelf:
    """Makes the media of one thread showable. Parameters: `store`, where bytes are kept; `thread_id`, whose."""

    def __init__(self, store: Store, thread_id: str) -> None:
        self._store = store
        self._thread_id = thread_id
        self._known: dict[int, tuple[Any, Media]] = {}

    def __call__(self, part: ContentPart) -> Media:
        """How `part` is shown; worked out once."""
        held = self._known.get(id(part))
        if held is None or held[0] is not part:
            held = self._known[id(part)] = (part, self._shown(part))
        return held[1]

    def _shown(self, part: Any) -> Media:
        source = part.source
        mime = str(source.mime_type or "")
        name, alt = _names(part, mime)
        if source.type == "url":
            return Media("link" if _is_web(source.value) else "opaque", src=source.value, name=name, mime=mime)
        body = decoded(source.value) if source.type == "data" else None
        if body is None:
            return Media("opaque", name=name, mime=mime)
        address = f"{PATH}/{self._store.keep_media(self._thread_id, mime, name, body)}"
        kind = "image" if part.type == "image" and mime in IMAGES else "pdf" if mime == PDF else "data"
        return Media(kind, src=address, name=name, mime=mime, alt=alt)


def _is_web(address: str) -> bool:
    return urlsplit(address).scheme in ("http", "https")


def _names(part: Any, mime: str) -> tuple[str, str]:
    """What to call a part, and its alternative text: what its metadata says, as plain text of bounded length."""
    said = part.metadata if isinstance(part.metadata, dict) else {}
    words = {key: value for key, value in said.items() if isinstance(value, str)}
    suffix = _SUFFIXES.get(mime, "bin")
    name = words.get("filename") or words.get("title") or f"{part.type}.{suffix}"
    return name[:120], (words.get("alt") or words.get("title") or name)[:300]


def media_route(store: Any) -> Route:
    """Serves kept media. Parameters: `store`, a function that gives the store."""

    async def serve(request: Request) -> Response:
        found = store().media(request.path_params["media_id"])
        if found is None:
            return Response("Not found", status_code=404, media_type="text/plain")
        shown = found.mime in IMAGES or found.mime == PDF
        name = quote(_UNFIT.sub("_", found.name))
        headers = {
            **_HEADERS,
            "Content-Disposition": f"{'inline' if shown else 'attachment'}; filename*=UTF-8''{name}",
        }
        if found.mime == PDF:
            del headers["Content-Security-Policy"]  # a sandboxed page may not start the browser's PDF viewer
        return Response(found.body, media_type=found.mime if shown else "application/octet-stream", headers=headers)

    return Route(f"{PATH}/{{media_id}}", serve, methods=["GET"])
