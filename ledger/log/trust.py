"""Trust: which key speaks for which log, kept outside the log.

A trust file has one line per origin, ``origin key``, and ``#`` comments; unknown words refuse the
file. One's own ledger is verified against ``<config dir>/trust``, which ``init`` writes.
"""

from pathlib import Path

from memprove.ledger.problems import CONFIG_UNREADABLE, TRUST_INVALID, TRUST_MISSING
from memprove.ledger.tlog import Invalid
from memprove.ledger.tlog.head import check_origin
from memprove.ledger.tlog.note import Verifier, parse_vkey

FILE_NAME = "trust"
_MOST = 64 * 1024


def parse_trust(text: str) -> dict[str, Verifier]:
    """Return the pinned key of each origin in *text*."""
    pins: dict[str, Verifier] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        try:
            origin, key = words
            check_origin(origin)
            verifier = parse_vkey(key)
        except (ValueError, Invalid):
            raise TRUST_INVALID(f"line {number}") from None
        if verifier.name != origin or origin in pins:
            raise TRUST_INVALID(f"line {number}")
        pins[origin] = verifier
    return pins


def format_trust(origin: str, vkey: str) -> str:
    """Return the trust file that pins *vkey* for *origin*."""
    return f"# Which key speaks for which log. See docs/threat-model.md.\n{origin} {vkey}\n"


def pinned(config_dir: Path, origin: str) -> Verifier:
    """Return the key that is pinned for *origin* in the configuration directory."""
    pins = read_pins(config_dir)
    if origin not in pins:
        raise TRUST_MISSING(f"{config_dir / FILE_NAME} has no line for {origin}")
    return pins[origin]


def read_pins(config_dir: Path) -> dict[str, Verifier]:
    """Return the pinned key of each origin in the configuration directory's trust file."""
    file = config_dir / FILE_NAME
    try:
        with file.open("rb") as opened:
            data = opened.read(_MOST + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise TRUST_MISSING(file) from None
    except OSError as error:
        raise CONFIG_UNREADABLE(f"{file}: {error.strerror}") from None
    if len(data) > _MOST:
        raise TRUST_INVALID(f"{file} is larger than {_MOST} bytes")
    try:
        return parse_trust(data.decode())
    except UnicodeDecodeError:
        raise TRUST_INVALID(file) from None
