"""What the transcript shows: one plain `Card` per thing, with the parts that its component draws. Data only.

Cards travel to the browser, so they hold no more than is drawn, and no bytes of media (only addresses of them).
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Media:
    """One media part. `kind` decides how it is shown.

    Attributes: `kind`, "image" and "pdf" (held here, shown and linked), "link" (an address elsewhere: never loaded by
    itself), "data" (held here, offered as a download), "opaque" (a file of the agent's, TC-6: named, nothing else);
    `src`, where it is, "" for opaque ones; `name`, what to call it; `mime`, its declared type; `alt`, for an image.
    """

    kind: str
    src: str = ""
    name: str = ""
    mime: str = ""
    alt: str = ""


@dataclass(frozen=True)
class Option:
    """One choice of a form field: the JSON of its value, and its words."""

    value: str
    label: str


@dataclass(frozen=True)
class FormInput:
    """One question of a form drawn from a JSON Schema.

    Attributes: `name`, the property ("" for an answer that is no object); `control`, "boolean", "choice", "integer",
    "number", "text" or "json"; `value`, what stands in it; `checked`, for a boolean; `low`, `high`, `shortest` and
    `length`, the schema's bounds ("" for none); `error`, what is wrong with it: a code that has a text (`form.<code>`),
    or words of the schema's judge.
    """

    name: str
    label: str
    control: str
    value: str = ""
    checked: bool = False
    required: bool = False
    hint: str = ""
    low: str = ""
    high: str = ""
    shortest: str = ""
    length: str = ""
    error: str = ""
    options: list[Option] = field(default_factory=list)


@dataclass(frozen=True)
class Step:
    """One step of an activity: `status` is "pending", "running", "done" or "failed", or a word of the agent's."""

    label: str
    status: str


@dataclass(frozen=True)
class LaneLine:
    """Something a subagent said or did: `kind` is "text", "reasoning" or "call"."""

    kind: str
    text: str
    phase: str = ""


@dataclass(frozen=True)
class Lane:
    """One subagent's work. `status` is one of the SDK's `SubagentStatus`, or "" when it was never announced."""

    id: str
    name: str
    description: str = ""
    status: str = ""
    error: str = ""
    lines: list[LaneLine] = field(default_factory=list)


@dataclass(frozen=True)
class OrderItem:
    """An order in a card."""

    number: int
    customer: str
    customer_ko: str
    status: str
    placed_on: str
    total: str
    href: str


@dataclass(frozen=True)
class ProductItem:
    """A product in a card. `level` is "low" or "ok"; `share` is the stock against twice the reorder level, percent."""

    sku: str
    name: str
    name_ko: str
    price: str
    stock: int
    reorder_at: int
    level: str
    share: int


@dataclass(frozen=True)
class Fact:
    """A figure or word with the text key of its label; `value_ko` is it in Korean where that is another."""

    label: str
    value: str
    value_ko: str = ""


@dataclass(frozen=True)
class Weather:
    """The weather in one city; `condition` is a word of the table that has a picture, or the agent's own."""

    city: str = ""
    city_ko: str = ""
    temperature: str = ""
    condition: str = ""
    condition_ko: str = ""
    wind: str = ""
    made_up: bool = False


@dataclass(frozen=True)
class Mark:
    """One value of a drawn chart: its label, its value as text, and where it is drawn (SVG units).

    `tick` is the label where there is room for it, else "".
    """

    label: str
    value: str
    x: str
    y: str
    width: str
    height: str
    middle: str
    tick: str


@dataclass(frozen=True)
class Chart:
    """A chart drawn in a card: `shape` is "bar" or "line"; `points` is the line's path; `base`, where zero is."""

    title: str = ""
    shape: str = "bar"
    unit: str = ""
    points: str = ""
    base: str = "0"
    marks: list[Mark] = field(default_factory=list)


@dataclass(frozen=True)
class Usage:
    """What a run cost: the tokens that a model read and wrote, as text ("" where it was not told)."""

    model: str
    read: str = ""
    written: str = ""


@dataclass(frozen=True)
class Card:
    """One thing in the transcript.

    Attributes:
        key: unique in its thread, and stable while the card changes.
        kind: which component draws it: "user", "text", "reasoning", "tool", "activity", "lanes", "interrupt",
            "decision", "end", "notice".
        message_id: the message it belongs to, "" for none.
        call_id: the tool call it shows, "" for none.
        title: a tool's or an activity's name, a subagent's, an interrupt's reason.
        body: which of the tool bodies or activity bodies draws it; "" is the generic one.
        text: its words: Markdown for "text", plain elsewhere.
        phase: how far it has come; see `demo_app.state.phases`.
        note: a stable code that explains the phase (a refusal, an error code).
        arguments: a call's argument text, as it came or laid out.
        result: a call's result as text.
        verdict: the form input that two buttons answer, yes or no; "" for none.
        live: whether its text is the one that is streaming right now, and is drawn from the live variables.
    """

    key: str
    kind: str
    message_id: str = ""
    call_id: str = ""
    title: str = ""
    body: str = ""
    text: str = ""
    phase: str = ""
    note: str = ""
    arguments: str = ""
    result: str = ""
    verdict: str = ""
    live: bool = False
    percent: int = -1
    steps: list[Step] = field(default_factory=list)
    lanes: list[Lane] = field(default_factory=list)
    media: list[Media] = field(default_factory=list)
    fields: list[FormInput] = field(default_factory=list)
    orders: list[OrderItem] = field(default_factory=list)
    products: list[ProductItem] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    weather: Weather = Weather()
    chart: Chart = Chart()
    usage: list[Usage] = field(default_factory=list)

    @property
    def size(self) -> int:
        """About how many bytes it weighs on its way to the browser."""
        texts = len(self.text) + len(self.arguments) + len(self.result)
        parts = len(self.steps) + len(self.media) + len(self.fields) + len(self.orders) + len(self.products)
        lines = sum(len(line.text) for lane in self.lanes for line in lane.lines)
        return 600 + texts + lines + 150 * (parts + len(self.lanes) + len(self.chart.marks))
