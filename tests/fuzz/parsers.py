"""Fuzz what reads bytes of strangers: parsers.py PARSER [libFuzzer's options]; needs atheris.

Each parser returns a value or refuses in the one way that it has. All else is a crash.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import atheris  # type: ignore[import-not-found, import-untyped, unused-ignore]

with atheris.instrument_imports(include=["memprove"]):
    from support.forgeries import LOG, ROTATED_DATA
    from support.logs import ORIGIN

    from memprove.ledger.domain import canonical
    from memprove.ledger.domain.record import decode_leaf
    from memprove.ledger.log import bundle as form
    from memprove.ledger.log.remembered import _parse
    from memprove.ledger.log.trust import format_pin, parse_trust
    from memprove.ledger.log.unbundling import open_bundle
    from memprove.ledger.problems import BUNDLE_INVALID, TRUST_INVALID, Problem
    from memprove.ledger.tlog import Invalid
    from memprove.ledger.tlog.head import format_head, open_head, parse_head
    from memprove.ledger.tlog.note import open_note, parse_vkey

VERIFIER = LOG.signer.verifier
PLAIN = form._expand(ROTATED_DATA)


def text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def note(data: bytes) -> None:
    open_note(data, [VERIFIER])


def head(data: bytes) -> None:
    found = parse_head(text(data))
    assert format_head(found) == text(data)


def signed_head(data: bytes) -> None:
    open_head(data, VERIFIER)


def vkey(data: bytes) -> None:
    parse_vkey(text(data))


def trust(data: bytes) -> None:
    pins = parse_trust(text(data))
    assert parse_trust("".join(map(format_pin, pins.values()))) == pins


def remembered(data: bytes) -> None:
    _parse(data)


def json(data: bytes) -> None:
    canonical.check(data)


def leaf(data: bytes) -> None:
    decode_leaf(data)


def packed_bundle(data: bytes) -> None:
    open_bundle(data, {ORIGIN: LOG.pin})


def bundle(data: bytes) -> None:
    """Open a bundle of which *data* is the document, not compressed."""
    setattr(form, "_expand", bytes)  # noqa: B010
    open_bundle(data, {ORIGIN: LOG.pin})


PARSERS: dict[str, tuple[Callable[[bytes], None], bytes]] = {
    "note": (note, LOG.head().note),
    "head": (head, LOG.head().note.partition(b"\n\n")[0] + b"\n"),
    "signed_head": (signed_head, LOG.head().note),
    "vkey": (vkey, format_pin(LOG.pin).split()[1].encode()),
    "trust": (trust, format_pin(LOG.pin).encode()),
    "remembered": (remembered, b"memprove remembered v1 "),
    "json": (json, b'{"a":[1,"\xc3\xbc",null,true,{"b":-5}]}'),
    "leaf": (leaf, b"{}"),
    "packed_bundle": (packed_bundle, ROTATED_DATA),
    "bundle": (bundle, PLAIN),
}


def main() -> None:
    parser, seed = PARSERS[sys.argv.pop(1)]
    refused = (Invalid, canonical.NotCanonical)

    def one(data: bytes) -> None:
        try:
            parser(data)
        except refused:
            pass
        except ValueError:
            if parser is not remembered:
                raise
        except Problem as problem:
            if problem.kind not in (BUNDLE_INVALID, TRUST_INVALID):
                raise

    with TemporaryDirectory() as corpus:
        Path(corpus, "seed").write_bytes(seed)
        atheris.Setup([*sys.argv, corpus], one)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
