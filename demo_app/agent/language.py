"""Which language the user speaks, and what goes wrong, in plain words of that language."""

import re
from collections.abc import Sequence

from ag_ui.core import Message, TextPart, UserMessage

_HANGUL = re.compile(r"[가-힣]")


def is_korean(text: str) -> bool:
    """Whether a text is written in Korean."""
    return bool(_HANGUL.search(text))


def speaks_korean(messages: Sequence[Message]) -> bool:
    """Whether the user's last message is written in Korean; False without one."""
    last = next((message for message in reversed(messages) if isinstance(message, UserMessage)), None)
    if last is None:
        return False
    if isinstance(last.content, str):
        return is_korean(last.content)
    return any(is_korean(part.text) for part in last.content if isinstance(part, TextPart))


_TROUBLES = tuple(
    (re.compile(pattern), english, korean)
    for pattern, english, korean in (
        (r"no customer number (\d+)", "There is no customer number {0}.", "고객 {0}번은 없습니다."),
        (
            r"Only (\d+) of (\S+) are in stock; (\d+) were asked for",
            "Only {0} of {1} are in stock; {2} were asked for.",
            "{1}의 재고는 {0}개인데 {2}개를 요청하셨습니다.",
        ),
        (r"no product with the SKU '([\w-]+)'", "There is no product {0}.", "{0} 상품은 없습니다."),
        (
            r"quantity must be from 1 to (\d+), not (-?\d+)",
            "The quantity must be from 1 to {0}, not {1}.",
            "수량은 1개부터 {0}개까지이며, {1}개는 주문할 수 없습니다.",
        ),
        (
            r"account holds (-?\d+) won; (\d+) were asked for",
            "The account holds ₩{0:,}; ₩{1:,} were asked for.",
            "잔액은 ₩{0:,}인데 ₩{1:,}을 요청하셨습니다.",
        ),
        (r"no order number (\d+)", "There is no order number {0}.", "주문 {0}번은 없습니다."),
        (r"no invoice '([\w-]+)'", "There is no invoice {0}.", "청구서 {0}은(는) 없습니다."),
        (
            r"nothing is known of '([\w\s'-]+)'\. Known: ([\w, ]+)",
            "I know nothing of the weather in {0}. I know: {1}.",
            "{0}의 날씨는 알 수 없습니다. 알 수 있는 도시: {1}.",
        ),
        (
            r"no parcels go to '([\w\s'-]+)'\. Known: ([\w, ]+)",
            "No parcels go to {0}. They go to: {1}.",
            "{0}에는 배송하지 않습니다. 배송하는 도시: {1}.",
        ),
        (r"\S+ failed \(\w+\); nothing is known of it", "The data could not be read.", "데이터를 읽지 못했습니다."),
        (
            r"arguments (?:of \S+ )?are not valid",
            "I wrote the request wrongly, so nothing was done.",
            "요청을 잘못 작성해서 아무것도 실행하지 않았습니다.",
        ),
        (
            r"there is no tool named|has no tool of the name|was not offered in this run",
            "I asked for something that does not exist here, so nothing was done.",
            "여기에 없는 기능을 요청해서 아무것도 실행하지 않았습니다.",
        ),
        (
            r"user declined: nothing was done",
            "You declined, so nothing was done.",
            "거절하셔서 아무것도 실행하지 않았습니다.",
        ),
        (
            r"user closed the question without an answer",
            "The question was closed without an answer, so nothing was done.",
            "답 없이 질문을 닫으셔서 아무것도 실행하지 않았습니다.",
        ),
        (
            r"\(page_closed\)",
            "The page was closed or reloaded before it answered; what it still did is not known.",
            "답하기 전에 페이지가 닫히거나 새로고침되어 결과를 알 수 없습니다.",
        ),
        (r"\(not_found\)", "There is no such page.", "그런 페이지는 없습니다."),
        (r"\(unknown_page\)", "There is no such page.", "그런 페이지는 없습니다."),
    )
)


def plain_trouble(text: str, *, korean: bool) -> str | None:
    """What an error text of this demo says, in plain words; None for words of somebody else's."""
    for pattern, english, in_korean in _TROUBLES:
        if match := pattern.search(text):
            values = [int(value) if re.fullmatch(r"-?\d+", value) else value for value in match.groups()]
            return (in_korean if korean else english).format(*values)
    return None
