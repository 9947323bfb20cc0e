"""Bundles with erased payloads, or of a log with two origins, and ways to lie about these."""

from typing import Any, Final

from support.bundles import Edit, bundle_of, document, two_tasks
from support.forgeries import MORE, drop, put
from support.logs import TASKS, Log

from memprove.ledger.log.epochs import Pin
from memprove.ledger.log.trust import format_pin


def erased() -> tuple[bytes, bytes]:
    """Return a bundle from before two erasures of one claim's texts, and one from after them."""
    log = two_tasks()
    log.append([MORE], task=TASKS[0])
    before = bundle_of(log)
    log.erase(5, reason="first")  # the first checkpoint of the Task
    return before, bundle_of(log)


WHOLE_DATA, ERASED_DATA = erased()


def put_back(said: dict[str, Any]) -> None:
    said["events"][1] = document(WHOLE_DATA)["events"][1]


def gone(place: int) -> Edit:
    def edit(said: dict[str, Any]) -> None:
        said["events"][place].pop("payload")
        said["events"][place].pop("salt")

    return edit


def half(said: dict[str, Any]) -> None:
    said["events"][1]["salt"] = "0" * 32


ERASED_FORGED: Final[dict[str, Edit]] = {
    "the tombstone left out": drop("events", -1),
    "the tombstone erased": gone(-1),
    "the payload put back": put_back,
    "another payload gone": gone(2),
    "half of it": half,
    "the tombstone edited": lambda said: said["events"][-1].update(
        payload=said["events"][-1]["payload"].replace("first", "worst")
    ),
}


def two_origins() -> tuple[bytes, bytes, bytes, tuple[Pin, Pin], Log]:
    """Return the last bundle of an origin, one of the next at once, and one of three epochs later.

    With the pins of both origins.
    """
    log = two_tasks(rotating=True)
    ended = bundle_of(log)
    pins = log.adopt()
    at_once = bundle_of(log)
    for _ in range(2):
        log.append([MORE], task=TASKS[0])
        log.rotate()
    log.append([MORE], task=TASKS[0])
    return ended, at_once, bundle_of(log), pins, log


ENDED_DATA, AT_ONCE_DATA, ORIGIN_DATA, ORIGIN_PINS, ORIGIN_LOG = two_origins()
OLD, NEW = ORIGIN_PINS
_UNTIL = OLD.until or (0, b"")

ORIGIN_FORGED: Final[dict[str, tuple[Edit, str]]] = {
    "no beginning": (lambda said: said.pop("origins"), "does not show that the trusted key begins"),
    "no proof of the beginning": (put([], "origins", 0, "inclusion"), "not in the signed tree"),
    "no proof of the end before": (put([], "origins", 0, "consistency"), "does not continue"),
    "another event": (
        lambda said: said["origins"][0].update(event=said["events"][0]),
        "the beginning of an origin is none",
    ),
    "the beginning twice": (
        lambda said: said["origins"].append(said["origins"][0]),
        "does not follow",
    ),
}
WRONG_TRUST: Final = tuple(
    "".join(map(format_pin, pins))
    for pins in (
        (Pin(OLD.verifier, 1, (_UNTIL[0], b"\1" * 32)), NEW),
        (Pin(OLD.verifier, 1, (_UNTIL[0] - 1, _UNTIL[1])), NEW),
        (OLD, Pin(NEW.verifier, NEW.first + 1)),
        (OLD, Pin(NEW.verifier, NEW.first - 1)),
        (OLD,),
    )
)
"""Trust files under which the bundle of two origins must not hold."""
