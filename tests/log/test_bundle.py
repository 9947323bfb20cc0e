"""The form of a bundle: one spelling, and a Problem for everything else."""

import gzip
import json
import random
import zlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.expected import problem

from memprove.ledger.log import bundle as form
from memprove.ledger.problems import Problem

hashes = st.binary(min_size=32, max_size=32).map(bytes.hex)
proofs = st.lists(hashes, max_size=3).map(tuple)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
event_texts = st.builds(
    form.EventText,
    leaf=texts,
    payload=st.none() | texts,
    salt=st.none() | st.binary(min_size=16, max_size=16).map(bytes.hex),
)
bundles = st.builds(
    form.Bundle,
    bundle=st.just(form.VERSION),
    events=st.lists(event_texts, min_size=1, max_size=3).map(tuple),
    inclusion=proofs,
    head=texts,
    tip=st.builds(form.Tip, leaf=texts, inclusion=proofs),
    epochs=st.lists(
        st.builds(
            form.Handover, event=event_texts, head=texts, inclusion=proofs, consistency=proofs
        ),
        max_size=2,
    ).map(tuple),
    since=st.lists(
        st.builds(form.Since, size=st.integers(0, 2**53), consistency=proofs), max_size=2
    ).map(tuple),
    blobs=st.dictionaries(hashes, texts, max_size=2),
)
SMALL = form.Bundle(
    bundle=form.VERSION,
    events=(form.EventText(leaf="{}", payload="{}", salt="0" * 32),),
    inclusion=("a" * 64,),
    head="h",
    tip=form.Tip(leaf="{}", inclusion=()),
)


def plain(bundle: form.Bundle) -> bytes:
    return gzip.decompress(form.encode(bundle))


def decoded_if_any(data: bytes) -> form.Bundle | None:
    """Return the bundle in *data*; None if it is refused, in the one way that there is."""
    try:
        return form.decode(data)
    except Problem as refused:
        if refused.code != "bundle_invalid":
            raise
        return None


def canonical(document: object) -> bytes:
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode()


def packed(document: object) -> bytes:
    return gzip.compress(canonical(document))


def edited(old: bytes, new: bytes) -> bytes:
    """Return SMALL with *new* in the place of *old* in its JSON."""
    assert old in plain(SMALL)
    return gzip.compress(plain(SMALL).replace(old, new))


def reordered() -> bytes:
    document = json.loads(plain(SMALL))
    pairs = sorted(document.items(), reverse=True)
    return gzip.compress(json.dumps(dict(pairs), separators=(",", ":")).encode())


def changed(**changes: object) -> bytes:
    return packed({**json.loads(plain(SMALL)), **changes})


@settings(deadline=None)
@given(bundles)
def test_what_is_encoded_is_decoded(bundle: form.Bundle) -> None:
    assert form.decode(form.encode(bundle)) == bundle


@settings(deadline=None)
@given(bundles)
def test_the_same_bundle_gives_the_same_bytes_in_canonical_json(bundle: form.Bundle) -> None:
    assert form.encode(bundle) == form.encode(bundle)
    assert canonical(json.loads(plain(bundle))) == plain(bundle)


@settings(deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_are_a_bundle_or_a_problem(data: bytes) -> None:
    for given_ in (data, gzip.compress(data)):
        with problem("bundle_invalid"):
            form.decode(given_)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts | hashes,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)
@given(bundles, st.sampled_from(sorted(form.Bundle.__struct_fields__)), json_values)
def test_a_field_that_is_something_else_is_a_problem_or_well_formed(
    bundle: form.Bundle, name: str, value: Any
) -> None:
    document = {**json.loads(plain(bundle)), name: value}
    decoded_if_any(gzip.compress(json.dumps(document, sort_keys=True).encode()))


def test_every_byte_that_is_changed_is_found_or_changes_nothing() -> None:
    data = form.encode(SMALL)
    chance = random.Random(7)
    for place in range(len(data)):
        flipped = bytearray(data)
        flipped[place] ^= 1 << chance.randrange(8)
        assert decoded_if_any(bytes(flipped)) in (None, SMALL)  # gzip's header has idle bits


def test_every_cut_and_every_addition_is_found() -> None:
    data = form.encode(SMALL)
    for end in range(len(data)):
        with problem("bundle_invalid"):
            form.decode(data[:end])
    for more in (b"\0", data, b"x"):
        with problem("bundle_invalid", "does not end"):
            form.decode(data + more)


HOSTILE = {
    "a bomb": (gzip.compress(b" " * (form.MOST_BYTES + 1), 9), "decompresses to more than"),
    "nested deep": (gzip.compress(b"[" * 1_000_000), "does not decode"),
    "nested deep in a field": (gzip.compress(b'{"bundle":1,"events":' + b"[" * 1_000_000), ""),
    "nested deep, unknown": (gzip.compress(b'{"bundle":1,"a":' + b'{"a":' * 200_000), ""),
    "a key twice": (edited(b'{"bundle":1', b'{"bundle":1,"bundle":1'), "canonical"),
    "white space": (gzip.compress(plain(SMALL) + b"\n"), "canonical"),
    "keys in another order": (reordered(), "canonical"),
    "an escape": (edited(b'"h"', b'"\\u0068"'), "canonical"),
    "an unknown key": (changed(more=1), "unknown field"),
    "a newer version": (changed(bundle=2), "version 2"),
    "no version": (packed({}), "does not decode"),
    "a number as text": (changed(bundle="1"), "does not decode"),
    "a fraction": (changed(bundle=1.0), "does not decode"),
    "no event": (changed(events=[]), "does not decode"),
    "too many events": (changed(events=[{"leaf": ""}] * (form.MOST_EVENTS + 1)), "does not decode"),
    "too many hashes": (changed(inclusion=["a" * 64] * 129), "does not decode"),
    "a hash in capitals": (changed(inclusion=["A" * 64]), "does not decode"),
    "a hash with a line feed": (changed(inclusion=["a" * 64 + "\n"]), "does not decode"),
    "a huge leaf": (changed(tip={"inclusion": [], "leaf": "a" * 5_000}), "does not decode"),
    "half a surrogate pair": (edited(b'"h"', b'"\\ud800"'), ""),
    "not UTF-8": (edited(b'"h"', b'"\xff"'), ""),
    "zlib, not gzip": (zlib.compress(plain(SMALL)), "decompress"),
    "nothing": (b"", "does not end"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_bundle_is_refused(name: str) -> None:
    data, what = HOSTILE[name]
    with problem("bundle_invalid", what):
        form.decode(data)


def test_what_no_bundle_can_hold_is_not_made() -> None:
    huge = form.Bundle(
        bundle=form.VERSION,
        events=SMALL.events,
        inclusion=(),
        head="h",
        tip=SMALL.tip,
        blobs={"a" * 64: "A" * (form.MOST_BYTES + 1)},
    )
    with problem("bundle_too_large"):
        form.encode(huge)
