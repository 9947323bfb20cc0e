"""What the SQLite file must look like. It is input: compared with this before it is used.

``user_version`` is the format. A later format may add tables; ``min_writer`` says which format a
program must know in order to write, so that an older one still reads and verifies.
"""

from contextlib import closing
from typing import Any

import apsw

from memprove.ledger.problems import LEDGER_DAMAGED, LEDGER_NEWER

FORMAT = 1
APPLICATION_ID = 0x6D707276  # "mprv"

SCHEMA = (
    """CREATE TABLE format(
  min_writer INTEGER NOT NULL
) STRICT""",
    """CREATE TABLE event(
  seq INTEGER PRIMARY KEY,
  stream TEXT NOT NULL,
  stream_seq INTEGER NOT NULL,
  kind TEXT NOT NULL,
  leaf BLOB NOT NULL,
  payload BLOB,
  salt BLOB,
  UNIQUE(stream, stream_seq)
) STRICT""",
    "CREATE INDEX event_kind ON event(kind)",
    # Against accidents only; whoever can write the file can drop a trigger. Erasing a payload and
    # its salt is the one change that the log knows.
    """CREATE TRIGGER event_is_never_deleted BEFORE DELETE ON event
BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END""",
    """CREATE TRIGGER event_is_never_changed BEFORE UPDATE ON event
WHEN new.seq IS NOT old.seq OR new.stream IS NOT old.stream OR new.stream_seq IS NOT old.stream_seq
  OR new.kind IS NOT old.kind OR new.leaf IS NOT old.leaf
  OR new.payload IS NOT NULL OR new.salt IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'events are never changed'); END""",
    """CREATE TABLE node(
  level INTEGER NOT NULL,
  position INTEGER NOT NULL,
  hash BLOB NOT NULL,
  PRIMARY KEY(level, position)
) STRICT, WITHOUT ROWID""",
    """CREATE TABLE head(
  size INTEGER PRIMARY KEY,
  note BLOB NOT NULL,
  keep INTEGER NOT NULL
) STRICT""",
    """CREATE TABLE row(
  tbl TEXT NOT NULL,
  key TEXT NOT NULL,
  value BLOB NOT NULL,
  PRIMARY KEY(tbl, key)
) STRICT, WITHOUT ROWID""",
    """CREATE TABLE blob(
  digest TEXT PRIMARY KEY,
  data BLOB NOT NULL
) STRICT""",
)
"""The statements that make the tables, as SQLite keeps them in ``sqlite_schema``."""


def lay_schema(connection: apsw.Connection) -> None:
    """Make the tables in an empty database, in one transaction."""
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")
    for statement in SCHEMA:
        connection.execute(statement)
    connection.execute("INSERT INTO format VALUES (?)", (FORMAT,))
    connection.execute("COMMIT")


SCHEMA_ROWS = "SELECT type, name, tbl_name, sql FROM sqlite_schema"


def laid_schema() -> set[tuple[Any, ...]]:
    """Return what ``SCHEMA_ROWS`` gives of a new ledger."""
    with closing(apsw.Connection(":memory:")) as connection:
        lay_schema(connection)
        return set(connection.execute(SCHEMA_ROWS))


def check_schema(connection: apsw.Connection) -> None:
    """Raise Problem ``ledger_damaged`` unless the tables are ours, or of a later format of ours."""
    if connection.pragma("application_id") != APPLICATION_ID:
        raise LEDGER_DAMAGED("this database is not a ledger")
    query = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL"
    found = {sql for (sql,) in connection.execute(query)}
    version = connection.pragma("user_version")
    if not (found >= set(SCHEMA) if version > FORMAT else found == set(SCHEMA)):
        raise LEDGER_DAMAGED("the tables of this database are not those of a ledger")
    query = "SELECT count(*), typeof(min_writer), min_writer FROM format"
    count, kind, needed = connection.execute(query).get
    if version < FORMAT or (count, kind) != (1, "integer") or not 1 <= needed <= version:
        raise LEDGER_DAMAGED("this database does not say of which format it is")
    if connection.pragma("journal_mode") != "wal":
        raise LEDGER_DAMAGED("this database is not in WAL mode")


def check_writable_format(connection: apsw.Connection) -> None:
    """Raise Problem ``ledger_newer`` if only a program that knows a later format may write."""
    needed = connection.execute("SELECT max(min_writer) FROM format").get
    if not isinstance(needed, int) or needed > FORMAT:
        raise LEDGER_NEWER(f"it needs format {needed}, this program knows {FORMAT}")
