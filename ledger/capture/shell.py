"""The text of ``sh -c`` as a small tree: enough to see whose failure reaches the exit code.

This is the grammar of POSIX.1-2024, XCU 2.10, as far as lists, and-or lists, pipelines and groups;
quoted text, comments, substitutions and here-documents are not code. What branches or loops
(``if``, ``for``, a function) becomes one Unclear node.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Simple:
    """A command and its arguments, without redirections; substitutions stay as written."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """A sequence in parentheses (``in_subshell``) or braces."""

    body: Sequence
    in_subshell: bool


@dataclass(frozen=True, slots=True)
class Unclear:
    """A compound command: its exit code depends on more than its parts. Begins with *word*."""

    word: str


Command = Simple | Group | Unclear


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Commands joined by ``|``."""

    commands: tuple[Command, ...]
    inverted: bool


@dataclass(frozen=True, slots=True)
class AndOr:
    """Pipelines joined by ``&&`` and ``||``: ``operators[i]`` stands after ``pipelines[i]``."""

    pipelines: tuple[Pipeline, ...]
    operators: tuple[str, ...]
    in_background: bool


@dataclass(frozen=True, slots=True)
class Sequence:
    """And-or lists, one after the other."""

    items: tuple[AndOr, ...]


class Unreadable(Exception):
    """The text is no shell text that this parser reads."""


DEEPEST = 40
COMPOUND = frozenset(("if", "for", "while", "until", "case", "select", "function", "[["))
REDIRECTIONS = ("<<<", "<<-", "&>>", "<<", ">>", "&>", ">&", "<&", "<>", ">|", "<", ">")
CONTROL = ("&&", "||", "|&", ";;", "\n", ";", "&", "|", "(", ")")
OPERATORS = sorted((*REDIRECTIONS, *CONTROL), key=len, reverse=True)
BLANKS = " \t"
NESTING = (("'", "'"), ('"', '"'), ("`", "`"), ("$(", ")"), ("<(", ")"), (">(", ")"), ("${", "}"))


def parse(text: str) -> Sequence:
    """Return the tree of *text*. Raises Unreadable."""
    parser = _Parser(list(_tokens(text)))
    tree = parser.sequence(())
    if parser.left():
        raise Unreadable(parser.left()[0].text)
    return tree


def commands(tree: Sequence) -> Iterator[tuple[str, ...]]:
    """Yield the words of every simple command in *tree*."""
    for item in tree.items:
        for pipeline in item.pipelines:
            for command in pipeline.commands:
                if isinstance(command, Group):
                    yield from commands(command.body)
                elif isinstance(command, Simple):
                    yield command.words


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    is_operator: bool = False
    is_plain: bool = False  # nothing in it was quoted, so it can be a reserved word


@dataclass(slots=True)
class _Parser:
    tokens: list[_Token]
    at: int = 0
    depth: int = 0

    def left(self) -> list[_Token]:
        return self.tokens[self.at :]

    def sequence(self, until: tuple[str, ...]) -> Sequence:
        items: list[AndOr] = []
        while True:
            self._skip(";", "\n")
            if self._peek() is None or self._is(*until):
                return Sequence(tuple(items))
            items.append(self._and_or())
            if not (self._peek() is None or self._is(*until, ";", "\n") or self._was("&")):
                raise Unreadable(self.left()[0].text)

    def _and_or(self) -> AndOr:
        pipelines, operators = [self._pipeline()], []
        while self._is("&&", "||"):
            operators.append(self._take().text)
            self._skip("\n")
            pipelines.append(self._pipeline())
        in_background = self._is("&")
        if in_background:
            self._take()
        return AndOr(tuple(pipelines), tuple(operators), in_background)

    def _pipeline(self) -> Pipeline:
        inverted = False
        while self._is_word("!"):
            self._take()
            inverted = True
        commands = [self._command()]
        while self._is("|", "|&"):
            self._take()
            self._skip("\n")
            commands.append(self._command())
        return Pipeline(tuple(commands), inverted)

    def _command(self) -> Command:
        if self._is("("):
            return self._group(")")
        if self._is_word("{"):
            return self._group("}")
        first = self._peek()
        if first is not None and first.is_plain and first.text in COMPOUND:
            self.at = len(self.tokens)  # what follows it is not looked at
            return Unclear(first.text)
        start = self.at
        words = tuple(self._words())
        if self.at == start:
            raise Unreadable(first.text if first else "end")
        if self._is("("):
            self.at = len(self.tokens)
            return Unclear("function")
        return Simple(words)

    def _group(self, closing: str) -> Group:
        self.depth += 1
        if self.depth > DEEPEST:
            raise Unreadable("nested too deeply")
        self._take()
        body = self.sequence((closing,))
        if self._peek() is None:
            raise Unreadable(closing)
        self._take()
        self.depth -= 1
        if list(self._words()):
            raise Unreadable(closing)
        return Group(body, closing == ")")

    def _words(self) -> Iterator[str]:
        """Yield words up to the next control operator; redirections are passed over."""
        while (token := self._peek()) is not None:
            if not token.is_operator:
                yield self._take().text
            elif token.text in REDIRECTIONS:
                self._take()
                if self._peek() is None or self._is(*CONTROL):
                    raise Unreadable(token.text)
                self._take()
            else:
                break

    def _peek(self) -> _Token | None:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def _take(self) -> _Token:
        self.at += 1
        return self.tokens[self.at - 1]

    def _is(self, *texts: str) -> bool:
        token = self._peek()
        return token is not None and (
            (token.is_operator and token.text in texts)
            or (token.is_plain and token.text == "}" and "}" in texts)
        )

    def _is_word(self, text: str) -> bool:
        token = self._peek()
        return token is not None and token.is_plain and token.text == text

    def _was(self, *texts: str) -> bool:
        return self.at > 0 and self.tokens[self.at - 1].text in texts

    def _skip(self, *texts: str) -> None:
        while self._is(*texts):
            self.at += 1


def _tokens(text: str) -> Iterator[_Token]:
    at = 0
    awaiting: list[str] = []  # ends of here-documents that begin after this line
    operator: str | None = None
    while at < len(text):
        before, operator = operator, None
        if text[at] in BLANKS or text.startswith("\\\n", at):
            at += 1 if text[at] in BLANKS else 2
            operator = before
        elif text[at] == "#":
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        elif (operator := _operator_at(text, at)) is not None:
            at += len(operator)
            yield _Token(operator, is_operator=True)
            if operator == "\n":
                at = _after_documents(text, at, awaiting)
                awaiting = []
        else:
            start, (word, at) = at, _word(text, at)
            if before in ("<<", "<<-"):
                awaiting.append(word)
            if not (word.isdigit() and text[at : at + 1] in ("<", ">")):  # as in 2>file
                yield _Token(word, is_plain=text[start:at] == word)


def _operator_at(text: str, at: int) -> str | None:
    if text.startswith(("<(", ">("), at):
        return None  # a process substitution is a word
    return next((operator for operator in OPERATORS if text.startswith(operator, at)), None)


def _after_documents(text: str, at: int, ends: list[str]) -> int:
    for end in ends:
        for line in text[at:].splitlines(keepends=True):
            at += len(line)
            if line.strip() == end:
                break
    return at


def _word(text: str, at: int) -> tuple[str, int]:
    """Return the word at *at* without its quotes, and where it ends."""
    parts = []
    while at < len(text) and not _ends_a_word(text, at):
        end = _end_of_part(text, at, 0)
        parts.append(_unquoted(text[at:end]))
        at = end
    return "".join(parts), at


def _ends_a_word(text: str, at: int) -> bool:
    return text[at] in BLANKS or (text[at] in "\n;&|()<>" and _operator_at(text, at) is not None)


def _unquoted(part: str) -> str:
    if part.startswith("\\"):
        return part[1:].replace("\n", "")
    if part.startswith('"'):
        return re.sub(r'\\(["\\$`\n])', r"\1", part[1:-1])
    return part[1:-1] if part.startswith("'") else part


def _end_of_part(text: str, at: int, depth: int) -> int:
    """Return where the quoted part, substitution or single character at *at* ends."""
    for opening, closing in NESTING:
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
        if closing == "'" or (closing == '"' and text[at] == "'"):
            at += 1  # a backslash or a quote of the other sort is text here
        elif closing == ")" and text[at] == "(":
            at = _after(text, at + 1, ")", depth + 1)
        else:
            at = _end_of_part(text, at, depth)
    raise Unreadable(f"no closing {closing}")
