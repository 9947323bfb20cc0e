"""Hooks as clients call them: the real command, a document on stdin, and what they may answer."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from support.command_line import Desk, Done
from support.hook_samples import data

LIMIT = 9_500


def hook(
    desk: Desk,
    sample: dict[str, Any] | bytes,
    event: str | None = None,
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> Done:
    """Call the hook of *event* (of the sample's own) with *sample*, which is about *cwd*."""
    if event is None:
        assert isinstance(sample, dict)
        event = str(sample["hook_event_name"])
    about = str(cwd or desk.folder)
    patient = {"MEMPROVE_HOOK_SECONDS": "10", **(env or {})}  # however slow this machine is
    return desk.memprove("hook", event, stdin=data(sample, about), cwd=desk.base, env=patient)


def told(done: Done) -> str:
    """Return the context that the client was given, empty if nothing; check all that it minds."""
    assert (done.code, done.stderr) == (0, b"")
    if not done.stdout:
        return ""
    document = json.loads(done.stdout)
    assert done.stdout.count(b"\n") == 1, "one document, one line"
    if set(document) == {"additional_context"}:
        text = document["additional_context"]
    else:
        assert set(document) == {"hookSpecificOutput"}
        assert set(document["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
        text = document["hookSpecificOutput"]["additionalContext"]
    assert isinstance(text, str)
    assert 0 < len(text.encode()) <= LIMIT
    assert len(text.encode("utf-16-le")) // 2 <= LIMIT
    assert text.endswith("\n")
    return text
