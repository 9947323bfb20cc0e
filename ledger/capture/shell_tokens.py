"""The words and operators of a shell text: POSIX.1-2024, XCU 2.2 to 2.4 and 2.7.

Quotes are taken off; substitutions stay as written. Where shells differ, or where only a whole
shell could tell what is quoted, the text is Unreadable.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass


class Unreadable(Exception):
    """The text is no shell text that this parser reads."""


@dataclass(frozen=True, slots=True)
class Token:
    """An operator, or a word without its quotes; *raw* is what was written."""

    text: str
    raw: str
    is_operator: bool = False

    @property
    def is_plain(self) -> bool:
        """Return whether nothing in a word was quoted, so that it can be a reserved word."""
        return not self.is_operator and self.raw == self.text


@dataclass(frozen=True, slots=True)
class _Document:
    """What ends a here-document, and how its text is read."""

    end: str
    is_indented: bool
    is_quoted: bool


DEEPEST = 40
REDIRECTIONS = ("<<<", "<<-", "&>>", "<<", ">>", "&>", ">&", "<&", "<>", ">|", "<", ">")
CONTROL = ("&&", "||", "|&", ";;", "\n", ";", "&", "|", "(", ")")

_OPERATORS = sorted((*REDIRECTIONS, *CONTROL), key=len, reverse=True)
_BLANKS = " \t"
_IN_WORDS = (("'", "'"), ('"', '"'), ("`", "`"), ("$(", ")"), ("<(", ")"), (">(", ")"), ("${", "}"))
_IN_QUOTES = (("`", "`"), ("$(", ")"), ("${", "}"))
_JOINED = re.compile(r"[$&|<>]\\\n[&|<>('\"{]")
"""An operator over the end of a line."""


def tokens(text: str) -> Iterator[Token]:
    """Yield the words and operators of *text*. Raises Unreadable."""
    if _JOINED.search(text):
        raise Unreadable("an operator over the end of a line")
    at = 0
    awaiting: list[_Document] = []  # here-documents that begin after this line
    operator: str | None = None
    while at < len(text):
        before, operator = operator, None
        if text[at] in _BLANKS or text.startswith("\\\n", at):
            at += 1 if text[at] in _BLANKS else 2
            operator = before
        elif text[at] == "#":
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        elif (operator := _operator_at(text, at)) is not None:
            at += len(operator)
            yield Token(operator, operator, is_operator=True)
            if operator == "\n":
                at = _after_documents(text, at, awaiting)
                awaiting = []
        else:
            start, (word, at) = at, _word(text, at)
            token = Token(word, text[start:at])
            if awaiting and "\n" in token.raw:
                raise Unreadable("<<")
            if before in ("<<", "<<-"):
                awaiting.append(_document(token, before))
            if not (_is_number(word) and text[at : at + 1] in ("<", ">")):  # as in 2>file
                yield token


def substitutions(raw: str, *, quoted: bool = False) -> Iterator[str]:
    """Yield the commands that the word *raw*, as written, substitutes: ``$(…)``, backquotes."""
    at = 0
    while at < len(raw):
        end = _end_of_part(raw, at, 0, _IN_QUOTES if quoted else _IN_WORDS)
        part, at = raw[at:end], end
        if part.startswith("`"):
            yield re.sub(r"\\([$`\\])", r"\1", part[1:-1])
        elif part.startswith("$((") and part.endswith("))") and _is_balanced(part[3:-2]):
            yield from substitutions(part[3:-2], quoted=True)
        elif part.startswith(("$(", "<(", ">(")):
            yield part[2:-1]
        elif part.startswith("${"):
            yield from substitutions(part[2:-1], quoted=True)
        elif part.startswith('"') and not quoted:
            yield from substitutions(part[1:-1], quoted=True)


def _is_balanced(text: str) -> bool:
    depth = 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if depth < 0:
            return False
    return depth == 0


def _operator_at(text: str, at: int) -> str | None:
    if text.startswith(("<(", ">("), at):
        return None  # a process substitution is a word
    return next((operator for operator in _OPERATORS if text.startswith(operator, at)), None)


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdecimal()


def _document(token: Token, operator: str) -> _Document:
    if "$" in token.raw or "`" in token.raw:
        raise Unreadable(token.raw)
    return _Document(token.text, operator == "<<-", not token.is_plain)


def _after_documents(text: str, at: int, documents: list[_Document]) -> int:
    for document in documents:
        while at < len(text):
            end = text.find("\n", at)
            line = text[at:] if end < 0 else text[at:end]
            at += len(line) + 1
            if (line.lstrip("\t") if document.is_indented else line) == document.end:
                break
            if not document.is_quoted and ("$(" in line or "`" in line or line.endswith("\\")):
                raise Unreadable("<<")  # what it substitutes; or a line that goes on
    return min(at, len(text))


def _word(text: str, at: int) -> tuple[str, int]:
    """Return the word at *at* without its quotes, and where it ends."""
    parts = []
    while at < len(text) and not _ends_a_word(text, at):
        end = _end_of_part(text, at, 0)
        parts.append(_unquoted(text[at:end]))
        if text[at:end] == "$" and text[end : end + 1] == "'":
            end = _after_dollar_quote(text, end)
            parts[-1] = text[at + 2 : end - 1]
        at = end
    return "".join(parts), at


def _after_dollar_quote(text: str, at: int) -> int:
    r"""Return where the ``$'…'`` has ended whose quote is at *at*.

    With a backslash it ends at one place for shells that know it, and at another for the others.
    """
    end = _after(text, at + 1, "'", 1)
    if "\\" in text[at:end]:
        raise Unreadable("$'")
    return end


def _ends_a_word(text: str, at: int) -> bool:
    return text[at] in _BLANKS or (text[at] in "\n;&|()<>" and _operator_at(text, at) is not None)


def _unquoted(part: str) -> str:
    if part.startswith("\\"):
        return part[1:].replace("\n", "")
    if part.startswith('"'):
        return re.sub(r'\\(["\\$`\n])', _escaped, part[1:-1])
    return part[1:-1] if part.startswith("'") else part


def _escaped(match: re.Match[str]) -> str:
    return "" if match[1] == "\n" else match[1]


def _end_of_part(
    text: str, at: int, depth: int, nesting: tuple[tuple[str, str], ...] = _IN_WORDS
) -> int:
    """Return where the quoted part, substitution or single character at *at* ends."""
    for opening, closing in nesting:
        if text.startswith(opening, at):
            return _after(text, at + len(opening), closing, depth + 1)
    return at + 1 if text[at] != "\\" else min(at + 2, len(text))


def _after(text: str, at: int, closing: str, depth: int) -> int:
    """Return where the part that *closing* closes has ended; *at* is in it."""
    if depth > DEEPEST:
        raise Unreadable("nested too deeply")
    while at < len(text):
        if text[at] == closing:
            return at + 1
        if closing == "'":
            at += 1  # a backslash is text here
        elif closing == "`":
            at += 2 if text[at] == "\\" else 1  # the first one ends it, whatever is quoted
        elif closing == '"':
            at = _end_of_part(text, at, depth, _IN_QUOTES)
        elif closing == ")" and text[at] == "(":
            at = _after(text, at + 1, ")", depth + 1)
        else:
            _require_plain(text, at, closing)
            at = _end_of_part(text, at, depth)
    raise Unreadable(f"no closing {closing}")


def _require_plain(text: str, at: int, closing: str) -> None:
    """Refuse what would need a whole shell to tell where a substitution ends."""
    if closing == "}":
        unclear = text[at] in "'\"\\<>"
    else:
        unclear = text.startswith("<<", at) or text.startswith("$'", at)
        unclear = unclear or (text[at] == "#" and text[at - 1] in " \t\n;&|(")
    if unclear:
        raise Unreadable(text[at])
