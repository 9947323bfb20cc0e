"""Ways to lie with a bundle: each an edit of an honest one, with what is said of the result."""

import json
from base64 import b64encode
from typing import Any, Final

from support.bundles import Edit, bundle_of, document, two_tasks
from support.logs import BLOB, DATA, ORIGIN, TASKS, Log, a_task, registered

from memprove.ledger.domain import events as e
from memprove.ledger.tlog.head import Head, sign_head
from memprove.ledger.tlog.merkle import leaf_hash
from memprove.ledger.tlog.note import Signer

LOG: Final = two_tasks()
DATA_ONE: Final = bundle_of(LOG)
MORE: Final = e.CheckpointRecorded(facts=(e.Fact(text="more"),))


def drop(name: str, place: int) -> Edit:
    return lambda said: said[name].pop(place)


def put(value: object, *path: str | int) -> Edit:
    def edit(said: Any) -> None:
        for step in path[:-1]:
            said = said[step]
        said[path[-1]] = value

    return edit


def swap(said: dict[str, Any]) -> None:
    said["events"][1], said["events"][2] = said["events"][2], said["events"][1]


def relabelled(said: dict[str, Any]) -> None:
    event = said["events"][1]
    event["leaf"] = event["leaf"].replace('"c1"', '"c7"')


def reworded(said: dict[str, Any]) -> None:
    event = said["events"][1]
    event["payload"] = event["payload"].replace("one 0", "one 9")


def renumbered(said: dict[str, Any]) -> None:
    """Leave an event out and number those behind it anew."""
    del said["events"][1]
    prev = leaf_hash(said["events"][0]["leaf"].encode()).hex()
    for number, event in enumerate(said["events"][1:], 2):
        leaf = {**json.loads(event["leaf"]), "stream_seq": number, "stream_prev": prev}
        event["leaf"] = json.dumps(leaf, sort_keys=True, separators=(",", ":"))
        prev = leaf_hash(event["leaf"].encode()).hex()


def of_the_other(*names: str) -> Edit:
    other = document(bundle_of(LOG, TASKS[1]))
    return lambda said: said.update({name: other[name] for name in names})


def erased(said: dict[str, Any]) -> None:
    del said["events"][1]["payload"], said["events"][1]["salt"]


def bad_salt(said: dict[str, Any]) -> None:
    said["events"][1]["salt"] = "0" * 32


def blob(digest: str, data: bytes) -> Edit:
    return put({digest: b64encode(data).decode()}, "blobs")


def resized(said: dict[str, Any]) -> None:
    said["head"] = said["head"].replace(f"\n{LOG.head().size}\n", "\n9\n")


FORGED: dict[str, tuple[Edit, str]] = {
    "the last event cut off": (drop("events", -1), "not in the signed tree"),
    "the first event cut off": (drop("events", 0), "event 1 of the Task is missing"),
    "an event in the middle left out": (drop("events", 2), "event 3 of the Task is missing"),
    "one left out, the others numbered anew": (renumbered, "not in the signed tree"),
    "two events swapped": (swap, "is missing"),
    "an event twice": (lambda said: said["events"].insert(1, said["events"][1]), "is missing"),
    "a leaf edited": (relabelled, "does not follow"),
    "a payload edited": (reworded, "is not what was committed to"),
    "a payload left out": (erased, "is missing"),
    "another salt": (bad_salt, "is not what was committed to"),
    "the events of another Task": (of_the_other("events"), "not in the signed tree"),
    "the proof of another Task": (of_the_other("inclusion"), "not in the signed tree"),
    "an event of another Task added": (
        lambda said: said["events"].append(document(bundle_of(LOG, TASKS[1]))["events"][-1]),
        "is missing",
    ),
    "no proof": (put([], "inclusion"), "not in the signed tree"),
    "a longer proof": (
        lambda said: said["inclusion"].append("a" * 64),
        "not in the signed tree",
    ),
    "another tip": (
        lambda said: said["tip"].update(leaf=said["events"][0]["leaf"]),
        "not the last leaf",
    ),
    "no proof of the tip": (put([], "tip", "inclusion"), "the tip is not in the signed tree"),
    "a tip that is none": (put("{}", "tip", "leaf"), "the tip does not decode"),
    "a head of another size": (resized, "false signature"),
    "no head": (put("", "head"), "three lines"),
    "an epoch too many": (
        put([{"event": {"leaf": ""}, "head": "", "inclusion": [], "consistency": []}], "epochs"),
        "a rotation of keys does not decode",
    ),
    "a blob that no event names": (blob("0" * 64, b""), "is another one"),
    "a blob too many": (
        blob("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", b""),
        "no event names",
    ),
    "another blob": (blob(BLOB, DATA + b"x"), "is another one"),
    "a blob that is no base64": (put({BLOB: "a"}, "blobs"), "not in base64"),
}


def rotated() -> tuple[Log, list[Signer]]:
    """Return a log of three epochs, and their keys."""
    log = Log().begin()
    signers = [log.signer]
    log.append([registered(), a_task()])
    for _ in range(2):
        log.append([MORE, MORE])
        log.rotate()
        signers.append(log.signer)
    log.append([MORE])
    return log, signers


ROTATED_LOG, SIGNERS = rotated()
ROTATED_DATA = bundle_of(ROTATED_LOG)


def resigned(size: int, signer: Signer, *path: str | int) -> Edit:
    """Put a head of *size* in place that *signer* signed over the true root."""

    def edit(said: Any) -> None:
        log, _ = rotated()
        short = Log()
        short.put_events(log.disk.state.events[:size])
        root = bytes.fromhex(short.verify().root)
        put(sign_head(Head(ORIGIN, size, root), signer).decode(), *path)(said)

    return edit


FORGED_EPOCHS: dict[str, tuple[Edit, str]] = {
    "no handover": (lambda said: said.pop("epochs"), "no known key signed it"),
    "the first handover left out": (drop("epochs", 0), "no known key signed it"),
    "the last handover left out": (drop("epochs", 1), "no known key signed it"),
    "the handovers swapped": (lambda said: said["epochs"].reverse(), "no known key signed it"),
    "a handover twice": (
        lambda said: said["epochs"].insert(0, said["epochs"][0]),
        "no pinned key speaks",
    ),
    "no proof of the rotation": (put([], "epochs", 0, "inclusion"), "not in the signed tree"),
    "no proof that the next head continues": (
        put([], "epochs", 0, "consistency"),
        "does not continue the head of size 6",
    ),
    "an event that is no rotation": (
        lambda said: said["epochs"][0].update(event=said["events"][0]),
        "no rotation of keys",
    ),
    "the rotation's payload left out": (
        lambda said: said["epochs"][0]["event"].pop("payload"),
        "is missing",
    ),
    "the rotation's payload edited": (
        lambda said: said["epochs"][0]["event"].update(payload='{"epoch":2,"key":"x"}'),
        "not what was committed to",
    ),
    "the newest head under the first key": (resigned(10, SIGNERS[0], "head"), "key of epoch 1"),
    "the newest head under the second key": (resigned(10, SIGNERS[1], "head"), "key of epoch 2"),
    "a handover's head under today's key": (
        resigned(9, SIGNERS[2], "epochs", 1, "head"),
        "no known key signed it",
    ),
}
