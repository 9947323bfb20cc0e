"""What leaves the ledger through an open transaction: bundles, and the log as lines."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from memprove.ledger.log.bundling import check_earlier, make_bundle
from memprove.ledger.log.epochs import Pin, walk_from
from memprove.ledger.log.lines import lines_of_log, lines_of_stream
from memprove.ledger.log.trust import pinned
from memprove.ledger.problems import LEDGER_DAMAGED
from memprove.ledger.projections import LEDGER_KEY, LedgerRow, decode_row
from memprove.ledger.storage.interface import Reader


def bundle(
    reader: Reader, config_dir: Path, task_id: str, *, since: Sequence[bytes], outputs: bool
) -> tuple[bytes, int]:
    """Return the bundle of a Task, and how many events it holds.

    The heads in *since* hold from the key pinned in *config_dir* on.
    """
    epochs = walk_from(reader, _pin(reader, config_dir)) if since else None
    sizes = [check_earlier(reader, note, epochs) for note in since if epochs]
    return make_bundle(reader, f"task/{task_id}", since=sizes, outputs=outputs)


def lines(reader: Reader, task_id: str | None) -> Iterator[bytes]:
    """Return the events of a Task, or of the whole log, as lines of JSON."""
    return lines_of_log(reader) if task_id is None else lines_of_stream(reader, f"task/{task_id}")


def _pin(reader: Reader, config_dir: Path) -> Pin:
    value = reader.row("ledger", LEDGER_KEY)
    if value is None:
        raise LEDGER_DAMAGED("it does not say which ledger it is")
    return pinned(config_dir, decode_row(LedgerRow, value).origin)
