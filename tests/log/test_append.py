"""Appending: what is linked, committed and signed, and what is refused."""

from hashlib import sha256

import pytest
from hypothesis import given, settings
from support.expected import problem
from support.logs import Log, a_run, a_task, busy_log, histories, registered, written

from memprove.ledger.domain import events as e
from memprove.ledger.domain.record import Actor, decode_leaf
from memprove.ledger.log.append import Appender, commitment
from memprove.ledger.storage.interface import StoredEvent
from memprove.ledger.tlog import merkle
from memprove.ledger.tlog.head import open_head

ACTOR = Actor(installation="i", token="t", role="agent", face="cli")


def stored(log: Log) -> list[StoredEvent]:
    with log.store.read() as reader:
        return list(reader.events())


def hash_of(event: StoredEvent) -> str:
    return sha256(b"\0" + event.leaf).hexdigest()


@settings(deadline=None)
@given(histories)
def test_each_event_names_the_one_before_it_in_the_log_and_in_its_stream(
    history: list[tuple[list[e.Event], str, bool]],
) -> None:
    tails: dict[str, StoredEvent] = {}
    prev = None
    for seq, event in enumerate(stored(written(history)), 1):
        leaf = decode_leaf(event.leaf)
        before = tails.get(leaf.stream)
        assert (leaf.seq, leaf.prev) == (seq, prev)
        assert leaf.stream_seq == (before.stream_seq + 1 if before else 1)
        assert leaf.stream_prev == (hash_of(before) if before else None)
        assert (event.seq, event.stream, event.stream_seq, event.kind) == (
            leaf.seq,
            leaf.stream,
            leaf.stream_seq,
            leaf.kind,
        )
        tails[leaf.stream], prev = event, hash_of(event)


@settings(deadline=None)
@given(histories)
def test_the_newest_head_signs_the_tree_of_all_leaves(
    history: list[tuple[list[e.Event], str, bool]],
) -> None:
    log = written(history)
    leaves = [merkle.leaf_hash(event.leaf) for event in stored(log)]
    frontier = merkle.Frontier()
    frontier.extend(leaves)
    head = open_head(log.head().note, log.signer.verifier)
    assert (head.size, head.root) == (len(leaves), frontier.root())


def test_a_leaf_commits_to_its_payload_under_a_salt_of_its_own() -> None:
    log = busy_log()
    salts = set()
    for event in stored(log):
        assert event.payload is not None
        assert event.salt is not None
        assert len(event.salt) == 16
        digest = sha256(b"memprove payload v1\n" + event.salt + event.payload).hexdigest()
        assert decode_leaf(event.leaf).payload == digest
        assert commitment(event.salt, event.payload) == digest
        salts.add(event.salt)
    assert len(salts) == len(stored(log))


def test_one_commit_is_one_head_and_only_kept_heads_stay() -> None:
    log = Log().begin()
    log.append([registered(), a_task()], keep=True)
    log.append([e.TaskMoved(source=e.TaskState.PENDING, target=e.TaskState.BACKLOG)])
    log.append([e.TaskMoved(source=e.TaskState.BACKLOG, target=e.TaskState.PENDING)])
    with log.store.read() as reader:
        assert [(head.size, head.keep) for head in reader.heads()] == [(3, True), (5, False)]


def test_the_actor_and_the_session_stand_in_the_leaf() -> None:
    log = Log().begin()
    log.append([registered(), a_task()])
    actor = decode_leaf(stored(log)[2].leaf).actor
    assert (actor.token, actor.role, actor.face, actor.session) == ("t", "agent", "cli", 1)
    assert actor.client == "client"


def test_labels_are_in_the_leaf_and_never_in_the_payload() -> None:
    log = Log().begin()
    log.append([registered(), a_task(), a_run(), a_run()])
    labels = [decode_leaf(event.leaf).labels for event in stored(log)]
    assert labels == [(), ("ws1",), ("t1",), ("r1",), ("r2",)]
    assert all(b'"r1"' not in (event.payload or b"") for event in stored(log))


@pytest.mark.parametrize("size", [1024 * 1024 - 200, 1024 * 1024, 2 * 1024 * 1024])
def test_a_payload_over_the_limit_is_refused_and_nothing_is_kept(size: int) -> None:
    log = Log().begin()
    event = e.TaskCreated(id="one", title="x" * size)
    if size < 1024 * 1024 - 100:
        assert log.append([event]) == [2]
        return
    with problem("event_too_large"):
        log.append([registered(), event])
    assert len(stored(log)) == 1
    assert log.verify().ok


def test_a_leaf_over_the_limit_is_refused() -> None:
    log = Log().begin()
    facts = tuple(e.Fact(text="f") for _ in range(1_500))
    with problem("event_too_large", "leaf"):
        log.append([e.CheckpointRecorded(facts=facts)])
    assert log.verify().ok


@pytest.mark.parametrize(
    "event",
    [
        e.TaskCreated(id="one", title="\ud800"),
        e.SessionEnded(session=2**53),
        e.Completion(accept_stale="\udfff"),
    ],
)
def test_an_event_that_has_no_canonical_form_is_refused(event: e.Event | e.Completion) -> None:
    log = Log().begin()
    if isinstance(event, e.Completion):
        state = e.TaskState.PENDING
        event = e.TaskMoved(source=state, target=state, completion=event)
    with problem("text_invalid"):
        log.append([event])
    assert len(stored(log)) == 1
    assert log.verify().ok


def test_an_exception_of_the_projection_keeps_nothing() -> None:
    log = Log().begin()

    def refuse(*_: object) -> None:
        raise RuntimeError("no")

    def attempt() -> None:
        with log.store.write() as writer:
            given = Appender(writer, actor=ACTOR, at=1, random=lambda n: b"s" * n, project=refuse)
            given.append(a_task(), stream="task/one", workspace="w", labels=["t1"])

    with pytest.raises(RuntimeError, match="no"):
        attempt()
    assert len(stored(log)) == 1
    assert log.verify().ok


def test_a_lost_tree_node_stops_the_append() -> None:
    log = Log().begin()
    log.append([registered(), a_task()])
    del log.disk.state.nodes[0, 2]
    with problem("ledger_damaged", "tree node 0/2 is missing"):
        log.append([a_run()])
