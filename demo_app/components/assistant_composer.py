"""The composer: text, attachments, send or stop. It is disabled until the page is alive."""

from typing import Any

import reflex as rx
from reflex_components_core.core.banner import has_connection_errors  # type: ignore[import-untyped]

from demo_app.cards.frame import explained
from demo_app.components.ui import icon
from demo_app.i18n import t
from demo_app.state.chat import DOCUMENTS, INPUT, MAX_FILE_BYTES, UPLOAD, ChatState
from demo_app.state.media import IMAGES


def composer() -> rx.Component:
    """The form at the panel's foot."""
    return rx.el.div(
        _notice(),
        _attachments(),
        rx.el.form(
            rx.el.label(t("assistant.message"), html_for=INPUT, class_name="sr-only"),
            rx.el.textarea(
                id=INPUT,
                name="text",
                rows="1",
                max_length=20_000,
                placeholder=t("chat.placeholder"),
                auto_complete="off",
                enter_key_hint="send",
                class_name="composer-text",
            ),
            rx.el.div(
                _attach(),
                _model(),
                rx.cond(
                    ChatState.active,
                    rx.el.button(
                        icon("square", 15),
                        t("chat.stop"),
                        type="button",
                        id="chat-stop",
                        class_name="button small",
                        on_click=ChatState.stop,
                    ),
                    rx.el.button(
                        icon("arrow-up", 17),
                        t("assistant.send"),
                        type="submit",
                        id="chat-send",
                        class_name="button primary small",
                        disabled=~_can_send(),
                    ),
                ),
                class_name="composer-foot",
            ),
            on_submit=ChatState.send,
            reset_on_submit=True,
            id="chat-composer",
            class_name="composer",
            custom_attrs={"data-ready": _can_send(), "data-active": ChatState.active},
        ),
        id="assistant-composer",
        class_name="panel-foot",
    )


def _notice() -> rx.Component:
    """What could not be done, in a place that is there before there is anything to read out."""
    refusals: tuple[Any, ...] = (ChatState.kept_back, ChatState.not_taken, ChatState.not_arrived)
    anything: Any = ChatState.notice != ""
    for some in refusals:
        anything = anything | (some.length() > 0)
    return rx.el.div(
        rx.cond(
            anything,
            rx.el.div(
                icon("circle-alert", 15),
                rx.el.div(
                    rx.cond(ChatState.notice != "", rx.el.p(explained("notice.", ChatState.notice))),
                    *[rx.foreach(some, _refusal) for some in refusals],
                    class_name="chat-notice-words",
                ),
                rx.el.button(
                    icon("x", 14),
                    type="button",
                    class_name="mini-button",
                    aria_label=t("chat.dismiss"),
                    title=t("chat.dismiss"),
                    on_click=ChatState.dismiss,
                ),
                class_name="chat-notice",
            ),
        ),
        role="status",
    )


def _refusal(one: Any) -> rx.Component:
    return rx.el.p(rx.el.strong(t("notice.not_attached", names=one.names)), " ", explained("notice.", one.code))


def _can_send() -> Any:
    """Whether a message would reach the server. If not, the text stays in the composer, and the frame says why."""
    return ChatState.ready & ~has_connection_errors


def _attach() -> rx.Component:
    accepted: dict[str, list[str]] = {mime: [] for mime in sorted(IMAGES)} | DOCUMENTS
    add: Any = ChatState.add_files
    return rx.fragment(_upload(accepted, add), _upload_failed())


def _upload_failed() -> rx.Component:
    """Nobody sees it: `assets/assistant.js` presses it when files did not arrive, and then tells their names."""
    failed: Any = ChatState.upload_failed
    return rx.el.button(
        type="button",
        hidden=True,
        id="chat-upload-failed",
        on_click=rx.call_script("window.hallaChat.lostFiles()", callback=failed),
    )


def _upload(accepted: dict[str, list[str]], add: Any) -> rx.Component:
    return rx.upload.root(
        rx.el.button(
            icon("paperclip", 17),
            type="button",
            class_name="icon-button",
            aria_label=t("chat.attach"),
            title=t("chat.attach"),
            id="chat-attach",
            on_click=ChatState.forget_refusals,
        ),
        id=UPLOAD,
        accept=accepted,
        multiple=True,
        min_size=1,
        max_size=MAX_FILE_BYTES,
        no_keyboard=True,
        on_drop=add(rx.upload_files(upload_id=UPLOAD)),
        on_drop_rejected=_refuse,
        class_name="attach",
    )


def _refuse(refused: Any) -> Any:
    """Names and reasons go to the server: the files themselves, which the event holds, must not."""
    refuse: Any = ChatState.refuse_files
    plain: rx.Var[Any] = rx.Var(f"{refused}.map((one) => ({{name: one.file.name, code: one.errors[0].code}}))")
    return refuse(plain.to(list[dict[str, str]]))


def _model() -> rx.Component:
    """Who answers; the script is always labelled as one."""
    return rx.el.span(
        rx.cond(
            ChatState.scripted,
            rx.fragment(icon("scroll-text", 14), rx.el.span(t("chat.scripted"))),
            rx.el.span(ChatState.agent_label),
        ),
        class_name="model-label",
        title=rx.cond(ChatState.scripted, t("chat.scripted.hint"), ChatState.agent_label),
        id="chat-model",
    )


def _attachments() -> rx.Component:
    return rx.cond(
        ChatState.attachments.length() > 0,
        rx.el.ul(rx.foreach(ChatState.attachments, _attachment), class_name="chips", aria_label=t("chat.attachments")),
    )


def _attachment(file: Any) -> rx.Component:
    drop: Any = ChatState.drop_file
    return rx.el.li(
        rx.match(file.kind, ("image", icon("image", 15)), icon("file-text", 15)),
        rx.el.span(file.name, class_name="media-name"),
        rx.el.span(file.size, class_name="card-note"),
        rx.el.button(
            icon("x", 14),
            type="button",
            class_name="mini-button",
            aria_label=t("chat.detach", name=file.name),
            on_click=drop(file.id),
        ),
        class_name="chip",
    )
