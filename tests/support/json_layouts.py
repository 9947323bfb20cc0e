"""JSON documents with a layout of their own: somebody's blanks, line ends, escapes and numbers."""

from typing import Any

from hypothesis import strategies as st

BLANKS = st.text(" \t\n\r", max_size=4)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
NUMBERS = st.sampled_from(["0", "-0", "1e5", "1.0", "12345678901234567890", "-0.5E-3"])
ESCAPES = {"\\": "\\\\", '"': '\\"'}


@st.composite
def strings(draw: st.DrawFn, text: str) -> str:
    """Spell *text*, with more escapes than needed."""
    parts = []
    for char in text:
        if char in ESCAPES:
            parts.append(ESCAPES[char])
        elif ord(char) < 32 or (ord(char) < 0x10000 and draw(st.integers(0, 9)) == 0):
            parts.append(f"\\u{ord(char):04x}")
        else:
            parts.append(char)
    return '"' + "".join(parts) + '"'


@st.composite
def values(draw: st.DrawFn, depth: int = 3) -> str:
    """Spell any value."""
    kinds = ["string", "number", "word"] + (["object", "array"] if depth else [])
    match draw(st.sampled_from(kinds)):
        case "string":
            return draw(strings(draw(NAMES)))
        case "number":
            return draw(NUMBERS)
        case "word":
            return draw(st.sampled_from(["true", "false", "null"]))
        case "object":
            return draw(objects(depth=depth - 1))
        case _:
            items = draw(st.lists(values(depth=depth - 1), max_size=3))
            return draw(enclosed("[", items, "]"))


@st.composite
def objects(draw: st.DrawFn, depth: int = 3, least: int = 0) -> str:
    """Spell an object whose members do not have the name ``ours``."""
    names = draw(
        st.lists(NAMES.filter(lambda n: n != "ours"), unique=True, min_size=least, max_size=4)
    )
    members = [
        draw(strings(name)) + draw(BLANKS) + ":" + draw(BLANKS) + draw(values(depth=depth))
        for name in names
    ]
    return draw(enclosed("{", members, "}"))


@st.composite
def enclosed(draw: st.DrawFn, start: str, elements: list[str], end: str) -> str:
    """Put blanks around *elements*; nothing between the brackets if there are none."""
    if not elements:
        return start + end
    return start + ",".join(draw(BLANKS) + one + draw(BLANKS) for one in elements) + end


@st.composite
def documents(draw: st.DrawFn, least: int = 0) -> str:
    """Spell a document whose root is an object, perhaps behind a byte order mark."""
    mark = draw(st.sampled_from(["", "\ufeff"]))
    return mark + draw(BLANKS) + draw(objects(least=least)) + draw(BLANKS)


PLAIN: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
"""Values to put in."""
