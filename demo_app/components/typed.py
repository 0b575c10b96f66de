"""Text fields that keep what is typed.

A field whose value is a state variable shows what the server last said. While someone types, that is a few letters
ago: React would take the newer letters back. These fields hold their text themselves and tell the server. What
comes back of it is an echo and changes nothing; anything else, such as a cleared filter or the back button, is news
and is shown.
"""

from typing import Any, Final

import reflex as rx

_TAG: Final = "HallaTyped"
_COMPONENT: Final = f"""
const {_TAG} = ({{ control, value, onChange, ...rest }}) => {{
  const [text, setText] = useState(value);
  const told = useRef([]);
  useEffect(() => {{
    const echo = told.current.findIndex((one) => one.trim() === value.trim());
    if (echo >= 0) {{
      told.current.splice(0, echo + 1);
    }} else {{
      told.current = [];
      setText(value);
    }}
  }}, [value]);
  const tell = (event) => {{
    told.current.push(event.target.value);
    setText(event.target.value);
    onChange?.(event);
  }};
  return createElement(control, {{ ...rest, value: text, onChange: tell }});
}};
"""


class _Typed:
    """What both kinds of field share: the component that is drawn in their place."""

    tag = _TAG
    _is_tag_in_global_scope = False

    def add_imports(self) -> dict[str, list[str]]:
        """What the component is made of."""
        return {"react": ["createElement", "useEffect", "useRef", "useState"]}

    def add_custom_code(self) -> list[str]:
        """The component, once a page."""
        return [_COMPONENT]


class TypedInput(_Typed, rx.el.Input):
    """`rx.el.input` that keeps what is typed."""


class TypedTextarea(_Typed, rx.el.Textarea):
    """`rx.el.textarea` that keeps what is typed."""


def typed_input(*, value: Any, on_change: Any, **props: Any) -> rx.Component:
    """A one-line field. Parameters: `value`, the Var that the server knows; `on_change`, which is told each text."""
    return _typed(TypedInput, "input", value, on_change, props)


def typed_textarea(*, value: Any, on_change: Any, **props: Any) -> rx.Component:
    """A field of several lines; see `typed_input`."""
    return _typed(TypedTextarea, "textarea", value, on_change, props)


def _typed(kind: Any, control: str, value: Any, on_change: Any, props: dict[str, Any]) -> rx.Component:
    attributes = {**props.pop("custom_attrs", {}), "control": control}
    return kind.create(value=value, on_change=on_change, custom_attrs=attributes, **props)
