"""The text of ``sh -c`` as a small tree: enough to see whose failure reaches the exit code.

This is the grammar of POSIX.1-2024, XCU 2.10, as far as lists, and-or lists, pipelines and groups;
quoted text, comments, substitutions and here-documents are not code. What branches or loops
(``if``, ``for``, a function) becomes one Unclear node. What shells read in different ways is
Unreadable.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from memprove.ledger.capture.shell_tokens import (
    CONTROL,
    DEEPEST,
    REDIRECTIONS,
    Token,
    Unreadable,
    tokens,
)


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


COMPOUND = frozenset(("if", "for", "while", "until", "case", "select", "function", "[["))


def parse(text: str) -> Sequence:
    """Return the tree of *text*. Raises Unreadable."""
    parser = _Parser(list(tokens(text)))
    tree = parser.sequence(())
    if parser.left():
        raise Unreadable(parser.left()[0].text)
    return tree


def commands(tree: Sequence) -> Iterator[tuple[str, ...]]:
    """Yield the words of every simple command in *tree*, of others the word that they begin with.

    A command of redirections alone has no words.
    """
    for item in tree.items:
        for pipeline in item.pipelines:
            for command in pipeline.commands:
                match command:
                    case Group(body=body):
                        yield from commands(body)
                    case Simple(words=words):
                        yield words
                    case Unclear(word=word):
                        yield (word,)


@dataclass(slots=True)
class _Parser:
    tokens: list[Token]
    at: int = 0
    depth: int = 0

    def left(self) -> list[Token]:
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
            if [token.text for token in self.left()[1:2] if token.is_operator] == ["("]:
                return self._unclear("((")
            return self._group(")")
        if self._is_word("{"):
            return self._group("}")
        first = self._peek()
        if first is not None and first.is_plain and first.text in COMPOUND:
            return self._unclear(first.text)
        start = self.at
        words = tuple(self._words())
        if self.at == start:
            raise Unreadable(first.text if first else "end")
        if self._is("("):
            return self._unclear("function")
        return Simple(words)

    def _unclear(self, word: str) -> Unclear:
        self.at = len(self.tokens)  # what follows it is not looked at
        return Unclear(word)

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

    def _peek(self) -> Token | None:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def _take(self) -> Token:
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
