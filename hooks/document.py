"""What the client says: the first complete JSON document on stdin, of which little is read.

Clients differ in what they send and send more with every version; only the fields below are looked
at. Stdin may be empty, closed, never closed, or hold more than one document.
"""

import os
import re
import select
import time
from typing import Final

import msgspec

MOST: Final = 32 * 1024 * 1024
"""Bytes that are read; no client sends as much."""
_CHUNK: Final = 1024 * 1024
_BOM: Final = b"\xef\xbb\xbf"
# Possessive, so that no text makes it slow. A quote that nothing closes is the last alternative.
_TOKEN: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\]]|"', re.DOTALL)


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What is read of the document. Every field may be missing, none may be of another type."""

    hook_event_name: str | None = None
    session_id: str | None = None
    cwd: str | None = None
    source: str | None = None
    reason: str | None = None
    agent_id: str | None = None
    agent_type: str | None = None
    tool_name: str | None = None
    tool_input: msgspec.Raw = msgspec.Raw(b"null")
    cursor_version: str | None = None
    workspace_roots: tuple[str, ...] | None = None


_DECODER: Final = msgspec.json.Decoder(Told)


def read(descriptor: int, until: float) -> Told | None:
    """Return the first document on *descriptor*, None if there is none before *until*.

    It is looked for at the end of input and whenever a brace is the last that came.
    """
    data = bytearray()
    try:
        while len(data) <= MOST and _is_ready(descriptor, until - time.monotonic()):
            chunk = os.read(descriptor, _CHUNK)
            data += chunk
            if not chunk:
                return first(bytes(data))
            pauses = chunk.rstrip().endswith(b"}") and not _is_ready(descriptor, 0)
            if pauses and (told := first(bytes(data))) is not None:
                return told
    except OSError:  # closed, or a folder
        pass
    return None


def first(data: bytes) -> Told | None:
    """Return the first document in *data*; None unless it is complete and an object of ours."""
    data = data.removeprefix(_BOM)
    told = _decoded(data)
    if told is None and (end := _end(data)) not in (0, len(data)):
        told = _decoded(data[:end])
    return told


def _decoded(data: bytes) -> Told | None:
    try:
        return _DECODER.decode(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


def _end(data: bytes) -> int:
    """Return where the first object or array in *data* ends; 0 if it does not."""
    depth = 0
    for token in _TOKEN.finditer(data):
        match token[0]:
            case b"{" | b"[":
                depth += 1
            case b"}" | b"]":
                depth -= 1
                if depth <= 0:
                    return token.end()
            case b'"':
                return 0
    return 0


def _is_ready(descriptor: int, seconds: float) -> bool:
    if os.name != "posix":  # select knows only sockets there: the read itself waits
        return seconds != 0
    return bool(select.select([descriptor], [], [], max(seconds, 0.0))[0])
