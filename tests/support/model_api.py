"""A stand-in for the model behind a client: the Messages API on the loopback, by a script.

Which turn comes next is read from the conversation that each request carries, so a request that is
repeated gets the same answer. A request without tools is one that the client makes for itself.
While a tool is not offered yet, because its server is being started, an idle command is called.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Final

Block = Mapping[str, Any]
_USAGE: Final = {"input_tokens": 1, "output_tokens": 1}


def call(name: str, **given: Any) -> Block:
    """Return a turn that calls the tool *name*."""
    return {"type": "tool_use", "name": name, "input": given}


def say(text: str) -> Block:
    """Return a turn that ends the conversation."""
    return {"type": "text", "text": text}


_SCRIPTED: Final = "toolu_script_"
_IDLE: Final = call("Bash", command="true", description="Wait for the tools")


@dataclass
class Model:
    """What was asked of the stand-in at *url*: the bodies of requests with tools, in order."""

    script: Sequence[Block]
    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)

    def turn(self, body: dict[str, Any]) -> Block:
        """Return the block that answers *body*."""
        if not body.get("tools"):
            return say("nothing")
        self.asked.append(body)
        ids = [block["id"] for block in _blocks(body, "tool_use")]
        number = sum(id.startswith(_SCRIPTED) for id in ids)
        if number >= len(self.script):
            return say("done")
        block = self.script[number]
        if block["name"] in {tool["name"] for tool in body["tools"]}:
            return {**block, "id": f"{_SCRIPTED}{number}"}
        return {**_IDLE, "id": f"toolu_idle_{len(ids)}"}

    def results(self) -> list[str]:
        """Return what the tools of the script answered, as the last request has it."""
        return [
            json.dumps(block["content"], ensure_ascii=False)
            for block in _blocks(self.asked[-1], "tool_result")
            if block["tool_use_id"].startswith(_SCRIPTED)
        ]


@contextmanager
def stand_in(*script: Block) -> Iterator[Model]:
    """Answer as *script* says while the context lasts."""
    model = Model(script)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self.answer(b"", "application/json")

        do_GET = do_HEAD

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if "count_tokens" in self.path:
                self.answer(b'{"input_tokens":1}', "application/json")
                return
            block = model.turn(body)
            if body.get("stream"):
                self.answer(b"".join(_events(block, body["model"])), "text/event-stream")
            else:
                whole = _message(block, body["model"])
                self.answer(json.dumps(whole).encode(), "application/json")

        def answer(self, data: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    model.url = f"http://127.0.0.1:{server.server_address[1]}"
    serving = Thread(target=server.serve_forever, daemon=True)
    serving.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()


def _blocks(body: Mapping[str, Any], kind: str) -> Iterator[dict[str, Any]]:
    for message in body["messages"]:
        for block in message["content"] if isinstance(message["content"], list) else ():
            if block.get("type") == kind:
                yield block


def _stop(block: Block) -> str:
    return "tool_use" if block["type"] == "tool_use" else "end_turn"


def _message(block: Block, model: str) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [block],
        "stop_reason": _stop(block),
        "stop_sequence": None,
        "usage": _USAGE,
    }


def _events(block: Block, model: str) -> Iterator[bytes]:
    """Yield the events of a stream that says *block*."""
    empty = {**_message(block, model), "content": [], "stop_reason": None}
    yield _event("message_start", message=empty)
    if block["type"] == "tool_use":
        start, text = {**block, "input": {}}, json.dumps(block["input"])
        delta = {"type": "input_json_delta", "partial_json": text}
    else:
        start, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
    yield _event("content_block_start", index=0, content_block=start)
    yield _event("content_block_delta", index=0, delta=delta)
    yield _event("content_block_stop", index=0)
    end = {"stop_reason": _stop(block), "stop_sequence": None}
    yield _event("message_delta", delta=end, usage=_USAGE)
    yield _event("message_stop")


def _event(kind: str, **more: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **more})}\n\n".encode()
