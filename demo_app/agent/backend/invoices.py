"""An invoice as data, as a PDF to keep and as a picture to look at."""

import asyncio
import base64
import io
import re
from typing import Annotated

from ag_ui.core import DataSource, DocumentPart, ImagePart, TextPart
from PIL import Image, ImageDraw, ImageFont
from pydantic import Field
from reportlab.lib.pagesizes import A5
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

from demo_app.agent.tools import Arguments, BackendTool, Content, ToolContext, ToolFailure, as_json
from demo_app.shop import Invoice, Order, Shop

_NUMBER = re.compile(r"(?:inv-?)?0*(\d{1,6})", re.IGNORECASE)
_WIDTH, _ROW, _MARGIN = 640, 30, 32
_INK, _SOFT, _ACCENT, _PAPER = "#1c1917", "#78716c", "#9a3412", "#fffdf9"


class GetInvoice(Arguments):
    """Which invoice."""

    invoice_id: Annotated[str, Field(min_length=1, description="The invoice's number, as in INV-0042")]


def _find(shop: Shop, invoice_id: str) -> tuple[Invoice, Order]:
    match = _NUMBER.fullmatch(invoice_id.strip())
    invoice = shop.invoice(f"INV-{int(match[1]):04d}") if match else None
    order = shop.order(invoice.order_id) if invoice else None
    if invoice is None or order is None:
        raise ToolFailure("unknown_invoice", f"there is no invoice {invoice_id!r}.")
    return invoice, order


def _won(amount: int) -> str:
    return f"KRW {amount:,}"


def _facts(invoice: Invoice) -> list[tuple[str, str]]:
    return [
        ("Customer", invoice.customer_name),
        ("Order", str(invoice.order_id)),
        ("Issued", invoice.issued_on),
        ("Due", invoice.due_on),
        ("Status", invoice.status.value),
    ]


def _rows(order: Order) -> list[tuple[str, str]]:
    lines = [
        (f"{line.quantity} x {line.product_name}", _won(line.quantity * line.unit_price_krw)) for line in order.lines
    ]
    return [*lines, ("Total", _won(order.total_krw))]


def invoice_pdf(invoice: Invoice, order: Order) -> bytes:
    """One A5 page; the same invoice gives the same bytes."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A5, invariant=1)
    canvas.setTitle(f"Invoice {invoice.id}")
    width, height = A5
    left, right, y = 15 * mm, width - 15 * mm, height - 20 * mm
    canvas.setFont("Helvetica-Bold", 16)
    canvas.drawString(left, y, f"Halla Supply  Invoice {invoice.id}")
    for font, pairs in (("Helvetica", _facts(invoice)), ("Helvetica", _rows(order))):
        y -= 6 * mm
        canvas.setFont(font, 10)
        for name, value in pairs:
            y -= 6 * mm
            canvas.drawString(left, y, name)
            canvas.drawRightString(right, y, value)
    canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def invoice_png(invoice: Invoice, order: Order) -> bytes:
    """A picture 640 pixels wide."""
    facts, rows = _facts(invoice), _rows(order)
    height = _MARGIN * 2 + 70 + _ROW * (len(facts) + len(rows) + 1)
    image = Image.new("RGB", (_WIDTH, height), _PAPER)
    draw = ImageDraw.Draw(image)
    draw.text((_MARGIN, _MARGIN), "Halla Supply", _ACCENT, ImageFont.load_default(16))
    draw.text((_MARGIN, _MARGIN + 22), f"Invoice {invoice.id}", _INK, ImageFont.load_default(28))
    font, y = ImageFont.load_default(17), _MARGIN + 74
    for name, value in facts:
        draw.text((_MARGIN, y), name, _SOFT, font)
        draw.text((_MARGIN + 120, y), value, _INK, font)
        y += _ROW
    for name, value in rows:
        draw.line((_MARGIN, y + 4, _WIDTH - _MARGIN, y + 4), "#e7e5e4")
        draw.text((_MARGIN, y + 10), name, _INK, font)
        draw.text((_WIDTH - _MARGIN, y + 10), value, _INK, font, anchor="ra")
        y += _ROW
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def _source(data: bytes, mime_type: str) -> DataSource:
    return DataSource(value=base64.b64encode(data).decode(), mime_type=mime_type)


def _build(shop: Shop, invoice_id: str) -> Content:
    invoice, order = _find(shop, invoice_id)
    title = f"Invoice {invoice.id}"
    return [
        TextPart(text=as_json({"invoice": invoice, "lines": order.lines})),
        DocumentPart(
            source=_source(invoice_pdf(invoice, order), "application/pdf"),
            metadata={"title": title, "filename": f"{invoice.id}.pdf"},
        ),
        ImagePart(
            source=_source(invoice_png(invoice, order), "image/png"),
            metadata={"title": title, "filename": f"{invoice.id}.png", "alt": f"{title}, as a picture"},
        ),
    ]


async def _get(arguments: GetInvoice, context: ToolContext) -> Content:
    return await asyncio.to_thread(_build, context.shop, arguments.invoice_id)


GET_INVOICE = BackendTool(
    "get_invoice",
    GetInvoice,
    "An invoice: its data as text, the PDF as a document and a picture of it.",
    {"invoice_id": "INV-0042"},
    _get,
)
