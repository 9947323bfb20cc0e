"""Erased payloads among those who read a log: neither gone nor back without a word."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import structs
from support.expected import problem
from support.logs import Log, a_task, registered

from memprove.ledger import erasing, projections
from memprove.ledger.domain import events as e
from memprove.ledger.domain.erasure import erasable, mark, plan, surviving
from memprove.ledger.domain.record import Actor, Record
from memprove.ledger.log.append import Appender
from memprove.ledger.log.reading import read_events, read_newest, read_stream
from memprove.ledger.storage.interface import StoredEvent
from memprove.ledger.storage.registry import create_store

STREAM = "task/one"


@pytest.fixture(params=["memory", "sqlite"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Log]:
    log = filled(Log(create_store(tmp_path) if request.param == "sqlite" else None))
    yield log
    log.store.close()


@pytest.fixture
def memory() -> Log:
    """The same log, in memory, where events can be edited."""
    return filled(Log())


def filled(log: Log) -> Log:
    log.begin()
    log.append([registered(), a_task(), a_task("two")])
    log.append([e.SessionStarted(id="i", agent="SECRET", role="SECRET")])
    log.append([e.SessionEnded(session=1, note="SECRET")])
    return log


def records(log: Log) -> list[Record]:
    with log.store.read() as reader:
        return list(read_events(reader))


def erase(log: Log, seq: int, *fields: str, reason: str = "leak") -> int:
    """Erase *fields* of event *seq*, and return the number of the tombstone."""
    with log.store.write() as writer:
        appender = Appender(
            writer,
            actor=Actor(installation="i", token="t", role="owner", face="cli"),
            at=log.at,
            random=lambda count: b"s" * count,
            project=projections.apply,
        )
        record = next(read_events(writer, seq - 1, seq))
        for step in plan([record], fields, lambda: [record]):
            left = surviving(step, mark(reason))
            erasing.PayloadEraser(writer, appender).erase(step.record, left, step.fields, reason)
        appender.seal(log.signer)
        return appender.records[-1].seq


def findings(log: Log) -> list[tuple[str, int | None, str]]:
    return [(one.check, one.seq, one.what) for one in log.verify().findings]


def test_an_erased_event_reads_as_what_survives_wherever_it_is_read(log: Log) -> None:
    by = erase(log, 5, "agent")
    with log.store.read() as reader:
        (found,) = read_events(reader, 4, 5)
        assert found == read_stream(reader, STREAM)[1] == read_newest(reader, STREAM, 1)[0]
        assert next(record for record in read_events(reader) if record.seq == 5) == found
    assert found.event == e.SessionStarted(id="i", agent="[erased: leak]", role="SECRET")
    assert found.erasure is not None
    assert (found.erasure.by, found.erasure.fields) == (by, ("agent",))
    report = log.verify()
    assert (report.ok, report.erased) == (True, 1), report.findings


def test_the_newest_tombstone_counts_and_the_older_one_gives_way(log: Log) -> None:
    first = erase(log, 5, "agent")
    second = erase(log, 5, "role", reason="more")
    third = erase(log, 6)
    found = records(log)
    assert found[4].event == e.SessionStarted(id="i", agent="[erased: leak]", role="[erased: more]")
    assert found[4].erasure is not None
    assert found[4].erasure.replaces == (first,)
    assert erasable(found[4]) == []
    with log.store.read() as reader:
        gone = [event.seq for event in reader.events() if event.payload is None]
    assert gone == [5, 6, first]
    assert third > second
    report = log.verify()
    assert (report.ok, report.erased) == (True, 2), report.findings


def test_the_tables_hold_what_survives_as_if_they_were_built_anew(log: Log) -> None:
    erase(log, 3)
    erase(log, 5)
    with log.store.read() as reader:
        rows = {name: dict(reader.rows(name)) for name in reader.tables()}
    with log.store.write() as writer:
        projections.rebuild(writer, list(read_events(writer)))
    with log.store.read() as reader:
        assert {name: dict(reader.rows(name)) for name in reader.tables()} == rows
    assert b"SECRET" not in b"".join(b"".join(table.values()) for table in rows.values())


def edit(log: Log, seq: int, **changes: object) -> None:
    log.edit_event(seq, lambda event: structs.replace(event, **changes))


def test_a_payload_that_is_gone_without_a_tombstone_is_found(memory: Log) -> None:
    edit(memory, 6, payload=None, salt=None)
    assert findings(memory)[0] == ("payloads", 6, "its payload is missing, and nothing erased it")
    with problem("ledger_damaged", "event 6: its payload is missing"):
        records(memory)
    with memory.store.read() as reader, problem("ledger_damaged", "event 6"):
        read_stream(reader, STREAM)


def test_a_payload_that_was_put_back_is_found(memory: Log) -> None:
    before = memory.disk.state.events[5]
    by = erase(memory, 6)
    memory.edit_event(6, lambda _: before)
    assert findings(memory)[0] == ("payloads", 6, f"its payload is here, and event {by} erased it")
    with memory.store.read() as reader, problem("ledger_damaged", f"event {by} erased it"):
        read_stream(reader, STREAM)
    with problem("ledger_damaged", "event 6"):
        records(memory)


def test_a_tombstone_that_is_erased_too_leaves_its_event_unaccounted(memory: Log) -> None:
    by = erase(memory, 6)
    edit(memory, by, payload=None, salt=None)
    assert [(check, seq) for check, seq, _ in findings(memory)][:2] == [
        ("payloads", 6),
        ("payloads", by),
    ]


def test_half_of_an_erasure_is_found(memory: Log) -> None:
    by = erase(memory, 6)
    edit(memory, 6, salt=b"s" * 16)
    assert findings(memory)[0][:2] == ("payloads", 6)
    edit(memory, 6, salt=None, payload=b"{}")
    assert findings(memory)[0][:2] == ("payloads", 6)
    with problem("ledger_damaged", "event 6 is not as it was written"):
        records(memory)
    assert by == 7


def stone(event: int, kept: str = '{"note":"x","session":1}') -> e.PayloadErased:
    return e.PayloadErased(event=event, fields=("note",), reason="r", kept=kept)


@pytest.mark.parametrize(
    ("tombstone", "task"),
    [
        (stone(6), "two"),
        (stone(99), "one"),
        (stone(6, '{"note":1}'), "one"),
        (stone(6, "{"), "one"),
    ],
    ids=["of another stream", "of no event", "of another shape", "of no JSON"],
)
def test_a_tombstone_that_does_not_fit_accounts_for_nothing(
    memory: Log, tombstone: e.PayloadErased, task: str
) -> None:
    edit(memory, 6, payload=None, salt=None)
    memory.append([tombstone], task=task)
    assert findings(memory)[0][:2] == ("payloads", 6)
    with problem("ledger_damaged", "event 6"):
        records(memory)


def test_no_tombstone_stands_for_what_trust_rests_on(memory: Log) -> None:
    kept = '{"key":"k","ledger":"test","origin":"o"}'
    memory.append([e.PayloadErased(event=1, fields=(), reason="r", kept=kept)])
    edit(memory, 1, payload=None, salt=None)
    memory.append([stone(1)])
    assert findings(memory)[0][:2] == ("payloads", 1)
    with problem("ledger_damaged", "event 1"):
        records(memory)


def test_a_tombstone_before_its_event_accounts_for_nothing(memory: Log) -> None:
    memory.append([stone(8)], task="one")
    memory.append([e.SessionEnded(session=1, note="x")])
    edit(memory, 8, payload=None, salt=None)
    assert findings(memory)[0] == ("payloads", 8, "event 7 cannot have erased it")


def test_a_column_that_hides_a_tombstone_is_found(memory: Log) -> None:
    by = erase(memory, 6)
    edit(memory, by, kind="session.ended")
    assert {check for check, _, _ in findings(memory)} >= {"payloads", "leaves"}


def stored(log: Log) -> list[StoredEvent]:
    with log.store.read() as reader:
        return list(reader.events())


def test_erasing_changes_no_leaf_and_no_hash(log: Log) -> None:
    before = stored(log)
    erase(log, 6)
    assert [event.leaf for event in stored(log)][: len(before)] == [event.leaf for event in before]
