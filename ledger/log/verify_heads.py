"""The checks of signed heads: along the key epochs, and against heads that lie outside the log.

All of them compare with roots that ``verify`` has computed from the leaves, not with stored nodes.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from memprove.ledger.domain.events import KeyRotated, LedgerCreated
from memprove.ledger.domain.record import Record, decode, decode_leaf
from memprove.ledger.log.epochs import (
    Epoch,
    EpochInvalid,
    Epochs,
    Pin,
    WrongEpoch,
    began_origin,
    first_epoch,
    follow,
    origin_ends,
)
from memprove.ledger.log.remembered import Found, Memory, contradiction
from memprove.ledger.log.walk import Walk
from memprove.ledger.problems import LEDGER_RESTORED, WRONG_EPOCH, Problem
from memprove.ledger.storage.interface import Reader, StoredHead
from memprove.ledger.tlog import Invalid
from memprove.ledger.tlog.head import Head, parse_head
from memprove.ledger.tlog.note import format_vkey


def check_heads(walk: Walk, reader: Reader, pin: Pin, earlier: Sequence[Pin] = ()) -> Epochs:
    """Find heads that do not hold; return the key epochs, as far as their rotations hold.

    *earlier* are the pins of the log's earlier origins, in order.
    """
    epochs = Epochs([])
    with walk.making("epochs", "head", "heads"):
        is_whole = not walk.failed
        found: list[Epoch] = []
        for place, one in enumerate(pins := (*earlier, pin)):
            following = pins[place + 1] if place + 1 < len(pins) else None
            if is_whole:
                _check_beginning(walk, reader, one)
            found += _check_epochs(walk, reader, one, following)
            if following is not None and one.until is not None:
                _check_end(walk, one.until, following)
        epochs = Epochs(found)
        _check_each(walk, epochs)
        if pin.until is not None and pin.until != (walk.frontier.size, walk.frontier.root()):
            walk.find("head", f"the trust file has the log end otherwise, at {pin.until[0]} events")
    return epochs


def check_new_heads(walk: Walk, known: Epochs) -> Epochs:
    """Find heads that do not hold, where *known* are the epochs before those of the walk."""
    epochs = Epochs(_followed(walk, list(known), walk.rotations))
    _check_each(walk, epochs)
    return epochs


def outside_heads(memory: Memory | None, required: bytes | None) -> list[Head]:
    """Return the heads outside it with which the log is compared."""
    seen = memory.seen if memory is not None else None
    heads = (seen.head if seen is not None else None, claimed(required))
    return [head for head in heads if head is not None]


def claimed(note: bytes | None) -> Head | None:
    """Return what the head in *note* says, whoever signed it; None if there is none."""
    try:
        return parse_head((note or b"").decode().partition("\n\n")[0] + "\n")
    except (UnicodeDecodeError, Invalid):
        return None


def check_outside(
    walk: Walk, reader: Reader, epochs: Epochs, memory: Memory | None, required: bytes | None
) -> None:
    """Find that the log does not continue a head that was seen, or that is required."""
    found = _found(walk, epochs)
    seen = memory.seen if memory is not None else None
    broken = seen is not None and not _continues(walk, _under_new(reader, seen.head, found))
    if memory is not None and seen is not None and broken:
        was = Found(seen.head, seen.note, format_vkey(seen.epoch.verifier))
        _contradicted(walk, reader, "remembered", was, found, memory)
    if required is not None:
        _check_required(walk, reader, epochs, found, memory, required)


def _check_beginning(walk: Walk, reader: Reader, pin: Pin) -> None:
    """Find a log, or an epoch of it, that does not begin with the pinned key."""
    began = reader.event(pin.first) if pin.first > 1 else None
    restored = began_origin(began) if began is not None else None
    if restored is not None and restored.origin == pin.verifier.name:
        if restored.key != format_vkey(pin.verifier):
            walk.find("epochs", "an origin does not begin with its pinned key", pin.first)
        return
    at = max(pin.first - 1, 1)
    event = reader.event(at)
    begun = decode(decode_leaf(event.leaf), event.payload).event if event else None
    want = (pin.verifier.name, format_vkey(pin.verifier))
    match begun:
        case LedgerCreated(origin=origin, key=key) if pin.first == 1:
            found = (origin, key) == want
        case KeyRotated(key=key):
            found = key == want[1]
        case _:
            found = False
    if not found:
        walk.find("epochs", "the log does not begin with the pinned key", at)


def _check_end(walk: Walk, until: tuple[int, bytes], following: Pin) -> None:
    """Find that an origin ended otherwise than its pin says."""
    size, root = until
    if size != following.first - 1 or walk.roots.get(size) != root:
        walk.find("epochs", f"the trust file has an origin end otherwise, at {size} events")


def _check_epochs(walk: Walk, reader: Reader, pin: Pin, following: Pin | None) -> list[Epoch]:
    """Return the epochs that follow from *pin*, up to the origin that *following* begins."""
    last = pin.until[0] if pin.until is not None else walk.size
    last = following.first - 1 if following is not None else last
    rotations = [record for record in walk.rotations if pin.first <= record.seq <= last]
    return _followed(walk, [first_epoch(reader, pin)], rotations)


def _followed(walk: Walk, epochs: list[Epoch], rotations: Sequence[Record]) -> list[Epoch]:
    """Return *epochs* and those that *rotations* begin; find the first one that does not hold."""
    heads = {head.size: head for head in walk.heads}
    for record in rotations:
        if not isinstance(record.event, KeyRotated):
            continue
        try:
            if record.seq not in heads:
                raise EpochInvalid("no head covers the rotation of keys")
            head = Epochs(epochs[-1:]).open(heads[record.seq].note, record.seq)
            if walk.roots.get(record.seq) != head.root:
                raise EpochInvalid("the head over the rotation of keys signs another tree")
            epochs.append(follow(epochs[-1], record.event, head))
        except Invalid as error:
            walk.find("epochs", str(error), record.seq, _code(error))
            break
    return epochs


def _check_each(walk: Walk, epochs: Epochs) -> None:
    newest = walk.heads[-1].size if walk.heads else 0
    if newest != walk.frontier.size:
        walk.find("head", f"the newest head signs {newest} events, the log has another number")
    for stored in walk.heads:
        check = "head" if stored.size == newest else "heads"
        try:
            _check_head(walk, epochs, stored)
        except Invalid as error:
            walk.find(check, str(error), stored.size or None, _code(error))
            continue
        walk.signed = stored.size
        if stored.size < newest and not stored.keep:
            walk.find(check, f"the head at {stored.size} is not marked as kept", stored.size)


def _check_head(walk: Walk, epochs: Epochs, stored: StoredHead) -> None:
    try:
        head = epochs.open(stored.note, stored.size)
    except EpochInvalid:
        raise
    except Invalid as error:
        what = f"the head at {stored.size} does not hold under the key of its epoch: {error}"
        raise EpochInvalid(what) from None
    if walk.roots.get(head.size) != head.root:
        raise EpochInvalid(f"the head at {stored.size} signs another tree")


def _code(error: Invalid) -> str:
    return WRONG_EPOCH.code if isinstance(error, WrongEpoch) else ""


def _found(walk: Walk, epochs: Epochs) -> Found | None:
    """Return the newest head, if there is one that is a head at all."""
    stored = walk.heads[-1] if walk.heads else None
    head = claimed(stored.note) if stored is not None else None
    if stored is None or head is None:
        return None
    return Found(head, stored.note, _vkey(epochs, head, stored.note))


def _vkey(epochs: Epochs, head: Head, note: bytes) -> str:
    """Return the vkey that *note* holds under; - if there is none."""
    try:
        epochs.open(note, head.size)
        return format_vkey(epochs.of_size(head.size))
    except Invalid:
        return "-"


def _under_new(reader: Reader, head: Head, found: Found | None) -> Head:
    """Return *head*, of an earlier origin of the log, as the newest one has it.

    What was seen of that origin beyond its end is lost, as the new origin's first event says: then
    the newest head itself.
    """
    end = origin_ends(reader).get(head.origin)
    if found is None or end is None:
        return head
    return found.head if head.size > end else replace(head, origin=found.head.origin)


def _continues(walk: Walk, head: Head) -> bool:
    newest = claimed(walk.heads[-1].note) if walk.heads else None
    same = newest is None or newest.origin == head.origin
    return same and walk.roots.get(head.size) == head.root


def _check_required(
    walk: Walk,
    reader: Reader,
    epochs: Epochs,
    found: Found | None,
    memory: Memory | None,
    required: bytes,
) -> None:
    head = claimed(required)
    if head is None:
        walk.find("required", "the required head is none")
        return
    end = origin_ends(reader).get(head.origin)
    if end is not None and head.size > end:
        what = f"{head.origin} ended at {end} events; the required head's {head.size} are lost"
        walk.find("required", what, code=LEDGER_RESTORED.code)
        return
    if not _continues(walk, _under_new(reader, head, found)):
        was = Found(head, required, _vkey(epochs, head, required))
        _contradicted(walk, reader, "required", was, found, memory)
        return
    try:
        epochs.open(required, head.size)
    except Invalid as error:
        walk.find("required", f"the required head does not hold: {error}", code=_code(error))


def _contradicted(
    walk: Walk,
    reader: Reader,
    check: str,
    was: Found,
    found: Found | None,
    memory: Memory | None,
) -> None:
    if found is None:
        walk.find(check, f"it was seen with {was.head.size} events")
        return
    state_dir = memory.state_dir if memory is not None else None
    try:
        problem = contradiction(reader, was, found, state_dir)
    except Problem as damaged:
        problem = damaged
    walk.find(check, problem.detail, code=problem.code)
