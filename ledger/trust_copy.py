"""``.memprove/trust`` of a Workspace: a copy of pins for others; compared here, never believed."""

from pathlib import Path

from memprove.ledger.log.epochs import Pin
from memprove.ledger.log.trust import FILE_NAME, parse_trust
from memprove.ledger.problems import Problem
from memprove.ledger.workspace import files, resolve


def differences(cwd: Path, pins: dict[str, Pin]) -> list[str]:
    """Return what the nearest copy at or above *cwd* says otherwise than *pins*."""
    name = f"{files.FOLDER}/{FILE_NAME}"
    try:
        for place in resolve.locate(cwd):
            data = files.read_local(place.worktree, FILE_NAME)
            if data is not None:
                copied = parse_trust(data.decode())
                return [
                    f"{name} pins {_what(pin, pins[origin])} than yours for {origin}"
                    for origin, pin in copied.items()
                    if pins.get(origin, pin) != pin
                ]
            if place.kind == "git":
                break
    except UnicodeDecodeError:
        return [f"{name} is not UTF-8"]
    except Problem as problem:
        return [f"{name} was not compared: {problem}"]
    return []


def _what(copied: Pin, pin: Pin) -> str:
    return "another range" if copied.verifier == pin.verifier else "another key"
