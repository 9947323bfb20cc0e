"""JSON-RPC 2.0 as MCP uses it: bytes to lines, a line to messages, messages to a line.

Pure. Lines end with a line feed alone (a carriage return is white space), are UTF-8, and hold one
message, or in revision 2025-03-26 a batch. Stricter than JSON-RPC as MCP is: ids are strings or
integers, parameters are objects. What is wrong is told without repeating what was sent.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NoReturn

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
MOST_BYTES: Final = 4 * 1024 * 1024
MOST_DEPTH: Final = 128

Id = str | int
Params = dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Request:
    """What asks for an answer."""

    id: Id
    method: str
    params: Params


@dataclass(frozen=True, slots=True)
class Notification:
    """What asks for none."""

    method: str
    params: Params


@dataclass(frozen=True, slots=True)
class Response:
    """An answer of the client's. Nothing was asked, so it means nothing."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """What is no message; *id* if it can be told whose."""

    id: Id | None
    code: int
    message: str


Message = Request | Notification | Response | Wrong


@dataclass(frozen=True, slots=True)
class Batch:
    """Several messages in one line."""

    messages: tuple[Message, ...]


class Lines:
    """Bytes as they come, cut into lines. A line that is too long is forgotten as it comes."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most = most
        self._pieces: list[bytes] = []
        self._length = 0

    def feed(self, data: bytes) -> Iterator[bytes | None]:
        """Yield each line that ends in *data*, without its end; None for one that was too long."""
        *ends, rest = data.split(b"\n")
        for piece in ends:
            self._keep(piece)
            yield self._taken()
        self._keep(rest)

    def last(self) -> bytes | None:
        """Return what came after the last line's end."""
        return self._taken()

    def _keep(self, piece: bytes) -> None:
        self._length += len(piece)
        if self._length <= self._most:
            self._pieces.append(piece)
        else:
            self._pieces.clear()

    def _taken(self) -> bytes | None:
        line = b"".join(self._pieces) if self._length <= self._most else None
        self._pieces, self._length = [], 0
        return line


def parse(line: bytes | None) -> Message | Batch | None:
    """Return what *line* holds; None if it is blank. *line* None: it was too long."""
    if line is None:
        return _wrong(None, f"a line of over {MOST_BYTES} bytes")
    if not line.strip():
        return None
    try:
        document = _document(line)
    except UnicodeError:
        return Wrong(None, PARSE_ERROR, "Parse error: not UTF-8")
    except (ValueError, RecursionError):
        return Wrong(None, PARSE_ERROR, "Parse error: not JSON")
    if isinstance(document, list):
        return Batch(tuple(map(_message, document)))
    return _message(document)


def answer(id: Id, result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer to request *id*."""
    return {"jsonrpc": "2.0", "id": id, "result": result}


def error(id: Id | None, code: int, message: str, data: Any = None) -> dict[str, Any]:
    """Return the answer that there is none; *id* None: it cannot be told to what."""
    told = {"code": code, "message": message}
    return {"jsonrpc": "2.0", "id": id, "error": told if data is None else {**told, "data": data}}


def notification(method: str, params: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the notification *method*."""
    message = {"jsonrpc": "2.0", "method": method}
    return message if params is None else {**message, "params": params}


def line(message: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> bytes:
    """Return *message* as a line. Text that is no Unicode (a file's name, say) is marked by ?."""
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace") + b"\n"


def _document(line: bytes) -> Any:
    document = json.loads(line.decode("utf-8"), parse_constant=_no_constant)
    if b"\\u" in line and _SURROGATE.search(line):  # half a character, escaped
        json.dumps(document, ensure_ascii=False).encode("utf-8")
    if line.count(b"[") + line.count(b"{") > MOST_DEPTH and _depth(document) > MOST_DEPTH:
        raise RecursionError
    return document


_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)  # NaN and Infinity are Python's, not JSON's


def _depth(document: Any) -> int:
    """Return how deep lists and objects lie in each other; whatever the depth, no recursion."""
    depth, level = 0, [document]
    while level := [value for value in level if isinstance(value, dict | list)]:
        depth += 1
        level = [
            inner
            for value in level
            for inner in (value.values() if isinstance(value, dict) else value)
        ]
    return depth


def _message(document: Any) -> Message:
    if not isinstance(document, dict):
        return _wrong(None, "no object")
    id, method, params = document.get("id"), document.get("method"), document.get("params")
    known = id if _is_id(id) else None
    if document.get("jsonrpc") != "2.0":
        return _wrong(known, 'jsonrpc must be "2.0"')
    answers = "result" in document or "error" in document
    if "method" not in document:
        return Response() if answers else _wrong(known, "no method")
    if not isinstance(method, str) or answers:
        return _wrong(known, "neither request nor response")
    if not isinstance(params, dict | None):
        return _wrong(known, "params must be an object")
    if "id" not in document:
        return Notification(method, params)
    if known is None:
        return _wrong(None, "id must be a string or an integer")
    return Request(known, method, params)


def _wrong(id: Id | None, what: str) -> Wrong:
    return Wrong(id, INVALID_REQUEST, f"Invalid Request: {what}")


def _is_id(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)
