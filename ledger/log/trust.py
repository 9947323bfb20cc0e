"""Trust: which key speaks for which log, kept outside the log.

A trust file has one line per origin and ``#`` comments; unknown words refuse the file::

    origin key [from N] [until N ROOT]

*key* is a vkey. ``from N``: it signs heads whose last event is number N or later, as the key of a
later epoch, or that of an origin that began there. ``until N ROOT``: the origin ended at N events,
under ROOT (base64, as in a head), and is believed up to there. One's own ledger is verified against
``<config dir>/trust``, which ``init`` writes.
"""

from collections.abc import Collection, Mapping
from itertools import takewhile
from pathlib import Path

from memprove.ledger.log import state_files
from memprove.ledger.log.epochs import RESTORED, Pin, began_log, began_origin
from memprove.ledger.problems import (
    CONFIG_UNREADABLE,
    LEDGER_DAMAGED,
    LEDGER_RESTORED,
    TRUST_INVALID,
    TRUST_MISSING,
)
from memprove.ledger.storage.interface import Reader
from memprove.ledger.tlog import Invalid
from memprove.ledger.tlog.head import Head, check_origin
from memprove.ledger.tlog.note import decode_base64, encode_base64, format_vkey, parse_vkey

FILE_NAME = "trust"
MOST = 64 * 1024
"""Bytes of the largest trust file that is read."""


def parse_trust(text: str) -> dict[str, Pin]:
    """Return what is pinned for each origin in *text*."""
    pins: dict[str, Pin] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        try:
            origin, pin = words[0], _pin(*words)
        except (ValueError, TypeError, IndexError, Invalid):
            raise TRUST_INVALID(f"line {number}") from None
        if origin in pins:
            raise TRUST_INVALID(f"line {number}")
        pins[origin] = pin
    return pins


def format_pin(pin: Pin) -> str:
    """Return the line that pins *pin*."""
    words = [pin.verifier.name, format_vkey(pin.verifier)]
    if pin.first > 1:
        words += ["from", str(pin.first)]
    if pin.until is not None:
        size, root = pin.until
        words += ["until", str(size), encode_base64(root)]
    return " ".join(words) + "\n"


def format_trust(origin: str, vkey: str) -> str:
    """Return the trust file that pins *vkey* for *origin*."""
    return f"# Which key speaks for which log. See docs/threat-model.md.\n{origin} {vkey}\n"


def pinned(config_dir: Path, origin: str, earlier: Collection[str] = ()) -> Pin:
    """Return what is pinned for *origin* in the configuration directory.

    Raises ``restored`` if only one of its *earlier* origins is pinned.
    """
    pins = read_pins(config_dir)
    if origin not in pins:
        if known := [one for one in earlier if one in pins]:
            raise LEDGER_RESTORED(f"{origin} after {known[-1]}")
        raise TRUST_MISSING(f"{config_dir / FILE_NAME} has no line for {origin}")
    return pins[origin]


def read_pins(config_dir: Path) -> dict[str, Pin]:
    """Return what is pinned for each origin in the configuration directory's trust file."""
    file = config_dir / FILE_NAME
    try:
        with open(file, "rb", opener=state_files.opener) as opened:
            data = opened.read(MOST + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise TRUST_MISSING(file) from None
    except OSError as error:
        raise CONFIG_UNREADABLE(f"{file}: {error.strerror}") from None
    if len(data) > MOST:
        raise TRUST_INVALID(f"{file} is larger than {MOST} bytes")
    try:
        return parse_trust(data.decode())
    except UnicodeDecodeError:
        raise TRUST_INVALID(file) from None


def _pin(origin: str, key: str, *words: str) -> Pin:
    """Return the pin of one line. Raises for any other."""
    check_origin(origin)
    verifier = parse_vkey(key)
    if verifier.name != origin:
        raise ValueError
    first, until, rest = 1, None, list(words)
    if rest[:1] == ["from"]:
        first, rest = _number(rest[1]), rest[2:]
    if rest[:1] == ["until"]:
        size, root = _number(rest[1]), decode_base64(rest[2])
        until, rest = (size, Head(origin, size, root or b"").root), rest[3:]
    if rest or (until is not None and until[0] < first):
        raise ValueError
    return Pin(verifier, first, until)


def _number(text: str) -> int:
    """Return an event's number, of which there is one spelling."""
    if not (text.isascii() and text.isdigit() and not text.startswith("0") and len(text) < 19):
        raise ValueError
    return int(text)


def pins_of(reader: Reader, pins: Mapping[str, Pin]) -> tuple[Pin, tuple[Pin, ...]]:
    """Return the pin of the log's newest origin, and those of earlier ones that lead up to it.

    Of a log none of whose origins is pinned, the newest pin: whether it begins with that is for
    others to check. Raises ``restored`` where only an earlier origin is pinned, ``trust_missing``
    where nothing is.
    """
    first = reader.event(1)
    created = began_log(first) if first is not None else None
    origins = [created.origin] if created is not None else []
    restored = (began_origin(event) for event in reader.of_kind(RESTORED))
    origins += [one.origin for one in restored if one is not None]
    if len(origins) < 2 and len(pins) == 1:
        return next(iter(pins.values())), ()
    if first is not None and created is None:
        raise LEDGER_DAMAGED("event 1 is not as it was written")
    newest = origins[-1] if origins else ""
    if newest not in pins:
        known = [one for one in origins if one in pins]
        if known:
            raise LEDGER_RESTORED(f"{newest} after {known[-1]}")
        if not pins:
            raise TRUST_MISSING(newest)
        return list(pins.values())[-1], ()  # another log in its place: no key of it will do
    led = list(takewhile(pins.__contains__, reversed(origins[:-1])))
    return pins[newest], tuple(pins[one] for one in reversed(led))
