"""Events as bytes: each kind comes back as it went, and its bytes are those of the vectors."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.samples import SALT, SAMPLES, leaf
from support.snapshots import snapshot

from memprove.ledger.domain import canonical, record
from memprove.ledger.domain.canonical import NotCanonical
from memprove.ledger.domain.events import KINDS, Event, RunStarted, TaskCreated
from memprove.ledger.domain.record import Erased, Record, Unknown

VECTORS = Path(__file__).resolve().parent.parent / "vectors" / "events.json"
kinds = pytest.mark.parametrize("kind", KINDS)


def vector(kind: str) -> dict[str, object]:
    payload = record.encode(SAMPLES[kind])
    data = record.encode(leaf(kind, payload))
    return {
        "kind": kind,
        "kind_v": KINDS[kind][1],
        "salt": SALT.hex(),
        "payload": payload.decode(),
        "commitment": sha256(b"memprove payload v1\n" + SALT + payload).hexdigest(),
        "leaf": data.decode(),
        "leaf_hash": sha256(b"\0" + data).hexdigest(),
    }


def vectors() -> list[dict[str, Any]]:
    found = json.loads(VECTORS.read_text(encoding="utf-8"))
    assert isinstance(found, list)
    return found


def test_there_is_a_sample_of_every_kind_with_every_field_set() -> None:
    assert set(SAMPLES) == set(KINDS)
    for kind, event in SAMPLES.items():
        assert type(event) is KINDS[kind][0]
        for field in msgspec.structs.fields(event):
            assert getattr(event, field.name) != field.default, f"{kind}.{field.name}"


def test_the_table_of_kinds_holds_every_event_once() -> None:
    structs = [struct for struct, _ in KINDS.values()]
    assert set(structs) == set(Event.__args__)
    assert len(structs) == len(set(structs))


def test_the_bytes_of_every_kind_are_those_of_the_vectors() -> None:
    """UPDATE_SNAPSHOTS=1 writes them; a change of an old one is a change of the format."""
    text = json.dumps([vector(kind) for kind in KINDS], indent=1, ensure_ascii=False) + "\n"
    assert text == snapshot("../vectors/events.json", text)


@pytest.mark.parametrize("one", vectors(), ids=lambda one: one["kind"])
def test_a_vector_holds_by_hash_functions_alone(one: dict[str, str]) -> None:
    data, salt = one["leaf"].encode(), bytes.fromhex(one["salt"])
    committed = sha256(b"memprove payload v1\n" + salt + one["payload"].encode()).hexdigest()
    assert json.loads(data)["payload"] == committed == one["commitment"]
    assert sha256(b"\0" + data).hexdigest() == one["leaf_hash"]
    canonical.check(data)
    canonical.check(one["payload"].encode())


@pytest.mark.parametrize("one", vectors(), ids=lambda one: one["kind"])
def test_a_vector_reads_as_the_sample(one: dict[str, str]) -> None:
    found = record.decode(record.decode_leaf(one["leaf"].encode()), one["payload"].encode())
    assert found.event == SAMPLES[one["kind"]]


@kinds
def test_an_event_comes_back_as_it_went(kind: str) -> None:
    payload = record.encode(SAMPLES[kind])
    written = leaf(kind, payload)
    read = record.decode(record.decode_leaf(record.encode(written)), payload)
    assert read == Record(written, SAMPLES[kind])
    assert (read.seq, read.labels) == (written.seq, written.labels)


@kinds
def test_an_event_without_its_defaults_is_short_and_comes_back(kind: str) -> None:
    struct = KINDS[kind][0]
    given_ = {
        field.encode_name: getattr(SAMPLES[kind], field.name)
        for field in msgspec.structs.fields(struct)
        if field.required
    }
    event = struct(**given_)
    payload = record.encode(event)
    assert set(json.loads(payload)) == set(given_)
    assert record.decode(leaf(kind, payload), payload).event == event


@given(st.text(st.characters(exclude_categories=["Cs"])), st.lists(st.text(max_size=5)))
def test_any_text_comes_back_as_it_went(text: str, words: list[str]) -> None:
    event = TaskCreated(id="i", title=text, description="".join(words))
    try:
        payload = record.encode(event)
    except NotCanonical:
        assert any("\ud800" <= c <= "\udfff" for c in event.description)
        return
    assert record.decode(leaf("task.created", payload), payload).event == event


@kinds
def test_a_later_version_of_a_kind_is_unknown(kind: str) -> None:
    payload = b'{"new":1}'
    later = msgspec.structs.replace(leaf(kind, payload), kind_v=KINDS[kind][1] + 1)
    assert record.decode(later, payload).event == Unknown(kind, later.kind_v)


def test_a_kind_of_a_newer_program_is_unknown_and_keeps_its_labels() -> None:
    other = msgspec.structs.replace(leaf("task.created", b"{}"), kind="memory.kept", kind_v=3)
    read = record.decode(other, b'{"anything":[]}')
    assert read.event == Unknown("memory.kept", 3)
    assert read.labels == ("t3",)


def test_a_payload_that_is_gone_is_erased() -> None:
    assert record.decode(leaf("task.created", b""), None).event == Erased()


def test_a_field_that_a_newer_program_added_is_passed_over() -> None:
    payload = b'{"id":"i","later":{"a":1},"title":"t"}'
    read = record.decode(leaf("task.created", payload), payload)
    assert read.event == TaskCreated(id="i", title="t")


@pytest.mark.parametrize(
    "payload",
    [b"", b"{", b"[]", b"null", b'{"id":"i"}', b'{"id":"i","title":1}', b'"\xff"', b"[" * 90_000],
    ids=lambda payload: repr(payload[:20]),
)
def test_a_payload_that_is_none_of_its_kind_is_refused(payload: bytes) -> None:
    with pytest.raises(NotCanonical):
        record.decode(leaf("task.created", payload), payload)


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"[]", b'{"v":"1"}', b"\xff", b"[" * 90_000], ids=lambda d: repr(d[:20])
)
def test_bytes_that_are_no_leaf_are_refused(data: bytes) -> None:
    with pytest.raises(NotCanonical):
        record.decode_leaf(data)


@given(st.binary(max_size=300))
def test_any_bytes_are_a_leaf_or_refused(data: bytes) -> None:
    try:
        record.decode_leaf(data)
    except NotCanonical:
        return


def test_a_closed_set_of_words_is_held_when_read() -> None:
    started = SAMPLES["run.started"]
    assert isinstance(started, RunStarted)
    payload = record.encode(started).replace(b'"kind":"test"', b'"kind":"tests"')
    with pytest.raises(NotCanonical):
        record.decode(leaf("run.started", payload), payload)
