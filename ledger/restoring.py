"""A new origin: a ledger goes on after a backup was put back, or without its key.

Within an origin there is no going back: two logs that differ, both signed for one origin, are what
a forger makes. So the log goes on under a new name and key, and its first event under them says
what came before and what is known to be lost. Numbers and hashes go on.

Each step leaves either the old ledger or the new one. The key and the pin of the new origin are on
disk before its first event is; to the old ledger they mean nothing. What is restored is made ready
in a folder of its own and then takes the place of the database in one rename; that one is kept.
"""

import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from memprove.ledger import durable, projections, settings
from memprove.ledger.admission import check_token
from memprove.ledger.backups import Pins, verified
from memprove.ledger.domain.events import LedgerRestored
from memprove.ledger.domain.record import Actor
from memprove.ledger.ids import uuid7
from memprove.ledger.log.append import Appender
from memprove.ledger.log.epochs import Epoch, Pin, began_log
from memprove.ledger.log.keys import Keys
from memprove.ledger.log.reading import (
    ERASED,
    Opened,
    check_head,
    erased_by,
    read_events,
    read_stream,
)
from memprove.ledger.log.remembered import Memory
from memprove.ledger.log.trust import FILE_NAME as TRUST
from memprove.ledger.log.trust import format_pin, pins_of, read_pins
from memprove.ledger.log.walk import TableRows
from memprove.ledger.operations.base import Progress
from memprove.ledger.operations.restores import Restored, RestoreLedger
from memprove.ledger.paths import to_text
from memprove.ledger.problems import (
    BACKUP_UNFIT,
    CONFIG_UNREADABLE,
    DATA_DIR_UNREADABLE,
    KEY_HERE,
    KEY_MISSING,
    LEDGER_DAMAGED,
    LEDGER_UNWRITABLE,
    NOT_AS_WRITTEN,
    OWNER_IN_AGENT_SHELL,
    TRUST_MISSING,
    Problem,
    at_file,
)
from memprove.ledger.projections import TokenRow
from memprove.ledger.settings import Caller
from memprove.ledger.storage.interface import Reader, StoredHead, Writer
from memprove.ledger.storage.lock import writers_lock
from memprove.ledger.storage.registry import FILE_NAME, open_file, open_store, settle
from memprove.ledger.tlog.note import Signer, format_vkey

ORIGIN_HOST: Final = "memprove.local"
_WORKSHOP: Final = "restoring"
_ASIDE: Final = ".before-"


class Restoring:
    """What one caller needs to begin a new origin. Refused in an agent's shell."""

    def __init__(self, caller: Caller, *, random: Callable[[int], bytes] = os.urandom) -> None:
        if caller.agent_env and not caller.from_agent:
            raise OWNER_IN_AGENT_SHELL()
        self._caller = caller
        self._random = random
        self._token = settings.token(caller, owner=True)
        self._config_dir = settings.config_dir(caller)
        self._data_dir = settings.data_dir(caller)
        self._memory = Memory(settings.state_dir(caller), self._data_dir)
        self._at = time.time_ns() // 1_000_000

    def adopt(self, *, copied: bool) -> Restored:
        """Let the ledger go on under a new origin, because its key is not here.

        *copied*: the key is here, but this is a copy of a ledger that goes on elsewhere.
        """
        pins = read_pins(self._config_dir)
        with closing(open_store(self._data_dir)) as store, store.write() as writer:
            pin, _ = pins_of(writer, pins)
            opened = check_head(writer, pin, self._memory)
            self._check_key_gone(writer, opened, copied=copied)
            row = self._admit(writer)
            restored, begun = self._begin(writer, opened, row, "adopt")
            ended = _ended(pin, opened)
            writer.after_commit(lambda: self._finish(ended, begun))
        return _told(restored, ended, begun[0])

    def restore(self, backup: Path, progress: Progress | None = None) -> Restored:
        """Put *backup* in the place of the ledger, whose database is kept aside.

        Nobody writes meanwhile: what they wrote would be lost unsaid.
        """
        with writers_lock(self._data_dir), self._ready(backup) as copy:
            pins = self._check_backup(copy, progress)
            with closing(open_file(copy)) as store, store.write() as writer:
                opened = check_head(writer, pins[0])
                row = self._admit(writer)
                restored, begun = self._begin(writer, opened, row, "restore")
                revived = self._revived(writer)
            settle(copy)
            aside = self._put(copy, restored.seq)
            ended = _ended(pins[0], opened)
            self._finish(ended, begun)
        restored = msgspec.structs.replace(restored, revived=revived)
        return _told(restored, ended, begun[0], to_text(aside) if aside else "")

    def _check_key_gone(self, writer: Writer, opened: Opened, *, copied: bool) -> None:
        epoch = opened.epochs.newest
        try:
            signer = self._keys(writer).signer(epoch.number, epoch.verifier.name)
        except Problem as problem:
            if problem.kind is not KEY_MISSING:
                raise
            return
        if signer.verifier == epoch.verifier and not copied:
            raise KEY_HERE()

    def _check_backup(self, copy: Path, progress: Progress | None) -> Pins:
        """Return the pins under which the backup verifies. Raises ``backup_unfit``."""
        try:
            with closing(open_file(copy)) as store, store.read() as reader:
                pins = pins_of(reader, read_pins(self._config_dir))
            verified(copy, (_open_ended(pins[0]), pins[1]), progress)
        except Problem as problem:
            if problem.kind in (*NOT_AS_WRITTEN, DATA_DIR_UNREADABLE, TRUST_MISSING):
                raise BACKUP_UNFIT(problem.detail) from None
            raise
        return _open_ended(pins[0]), pins[1]

    def _admit(self, reader: Reader) -> TokenRow:
        """Return the row of the owner's token, as the signed events have it."""
        tables = TableRows()
        for record in read_stream(reader, "ledger"):
            projections.apply(tables, record)
        return check_token(tables, self._token, RestoreLedger())

    def _begin(
        self, writer: Writer, opened: Opened, row: TokenRow, why: str
    ) -> tuple[Restored, tuple[Pin, Epoch, StoredHead]]:
        """Append the first event of a new origin, its key and pin being on disk before."""
        size, keys = opened.head.size, self._keys(writer)
        number = max(opened.epochs.newest.number, keys.highest()) + 1  # that of no key in use
        if projections.are_of_another_version(writer):
            projections.rebuild(writer, read_events(writer))
        origin, seed = f"{ORIGIN_HOST}/{uuid7(self._at, self._random)}", self._random(32)
        signer = Signer(origin, seed)
        newest, lost = self._known_beyond(opened)
        event = LedgerRestored(
            origin=origin,
            epoch=number,
            key=format_vkey(signer.verifier),
            before=opened.head.origin,
            head=opened.note.decode(),
            why=why,
            newest=newest,
            lost=lost,
        )
        pin = Pin(signer.verifier, size + 1)
        keys.put_next(number, seed)
        self._trust(lambda pins: {**pins, origin: pin})
        writer.put_head(StoredHead(size, opened.note, keep=True))
        appender = self._appender(writer, row)
        seq = appender.append(event, stream="ledger").seq
        head = appender.seal(signer, keep=True)
        told = Restored(origin=origin, before=event.before, seq=seq, key=event.key, lost=event.lost)
        return told, (pin, Epoch(number, signer.verifier, seq), head)

    def _known_beyond(self, opened: Opened) -> tuple[str, tuple[int, ...]]:
        """Return the newest head known, if it is beyond what is at hand, and what is lost."""
        known = max(self._heads_known(), key=lambda head: head[0], default=(0, ""))
        if known[0] <= opened.head.size:
            return "", ()
        return known[1], (opened.head.size + 1, known[0])

    def _heads_known(self) -> Iterator[tuple[int, str]]:
        """Yield size and note of the remembered head, and of that of the ledger as it is here."""
        memory = Memory(settings.state_dir(self._caller), self._data_dir)
        if memory.seen is not None:
            yield memory.seen.head.size, memory.seen.note.decode()
        with suppress(Problem), closing(open_store(self._data_dir)) as store:
            with store.read() as reader:
                opened = check_head(reader, pins_of(reader, read_pins(self._config_dir))[0])
            yield opened.head.size, opened.note.decode()

    def _revived(self, copy: Reader) -> tuple[int, ...]:
        """Return which events of *copy* still hold what was erased of the ledger as it is here."""
        with suppress(Problem), closing(open_store(self._data_dir)) as store, store.read() as here:
            gone = {seq for event in here.of_kind(ERASED) for seq in erased_by(event)}
            return tuple(seq for seq in sorted(gone) if _is_whole(copy, here, seq))
        return ()

    def _finish(self, ended: Pin, begun: tuple[Pin, Epoch, StoredHead]) -> None:
        """Pin where the old origin *ended*, and remember the new one's head."""
        pin, epoch, head = begun
        self._trust(lambda pins: {**pins, ended.verifier.name: ended})
        self._memory.keep(pin, epoch, head.note)

    def _trust(self, change: Callable[[dict[str, Pin]], dict[str, Pin]]) -> None:
        """Write the trust file anew, with its comments before its lines."""
        file = self._config_dir / TRUST
        pins = change(read_pins(self._config_dir))
        comments = [line for line in file.read_text().splitlines() if line.startswith("#")]
        text = "".join(f"{line}\n" for line in comments) + "".join(map(format_pin, pins.values()))
        _write_private(file, text)

    def _appender(self, writer: Writer, row: TokenRow) -> Appender:
        actor = Actor(
            installation=settings.installation(self._caller),
            token=row.token,
            role=row.role,
            face=self._caller.face,
            agent_env=self._caller.agent_env,
        )
        return Appender(
            writer, actor=actor, at=self._at, random=self._random, project=projections.apply
        )

    def _keys(self, reader: Reader) -> Keys:
        first = reader.event(1)
        created = began_log(first) if first is not None else None
        assert created is not None  # its head was checked, and its pin found by it
        return Keys(self._config_dir, created.ledger)

    @contextmanager
    def _ready(self, backup: Path) -> Iterator[Path]:
        """Copy *backup* into a folder beside the database, and take that away at the end."""
        folder = self._data_dir / _WORKSHOP
        shutil.rmtree(folder, ignore_errors=True)  # of a restore that was killed: we have the lock
        try:
            folder.mkdir(mode=0o700)
        except OSError as error:
            raise at_file(error, folder, DATA_DIR_UNREADABLE) from None
        try:
            yield _copied(backup, folder / FILE_NAME)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _put(self, copy: Path, seq: int) -> Path | None:
        """Let *copy* be the database; return where the one before is, if there was one."""
        database = self._data_dir / FILE_NAME
        with suppress_damage():
            settle(database)
        aside = _free_name(self._data_dir / f"{FILE_NAME}{_ASIDE}{seq}")
        try:
            for ending in ("", "-wal"):
                if os.path.lexists(f"{database}{ending}"):
                    os.link(f"{database}{ending}", f"{aside}{ending}")
            durable.sync_folder(self._data_dir)
            for ending in ("-wal", "-shm"):  # of the one before: not to be taken for this one's
                Path(f"{database}{ending}").unlink(missing_ok=True)
            os.replace(copy, database)
            durable.sync_folder(self._data_dir)
        except OSError as error:
            raise at_file(error, database, DATA_DIR_UNREADABLE) from None
        return aside if aside.exists() else None


def databases_aside(caller: Caller) -> list[Path]:
    """Return the databases that restores kept, which hold what they held."""
    return sorted(settings.data_dir(caller).glob(f"{FILE_NAME}{_ASIDE}*[0-9]"))


@contextmanager
def suppress_damage() -> Iterator[None]:
    """Go on where a database is not there, or cannot be read: it is kept as it is."""
    try:
        yield
    except Problem as problem:
        if problem.kind not in (LEDGER_DAMAGED, DATA_DIR_UNREADABLE, LEDGER_UNWRITABLE):
            raise


def _open_ended(pin: Pin) -> Pin:
    """Return *pin* for a backup, which ends before the origin did."""
    return Pin(pin.verifier, pin.first)


def _is_whole(copy: Reader, here: Reader, seq: int) -> bool:
    """Tell whether *copy* has the payload of an event that is *here* without it."""
    event, same = copy.event(seq), here.event(seq)
    alike = event is not None and same is not None and event.leaf == same.leaf
    return alike and event is not None and event.payload is not None


def _ended(pin: Pin, opened: Opened) -> Pin:
    """Return *pin* for an origin that came to its end with *opened*."""
    return Pin(pin.verifier, pin.first, (opened.head.size, opened.head.root))


def _told(restored: Restored, ended: Pin, begun: Pin, aside: str = "") -> Restored:
    trust = tuple(format_pin(pin).strip() for pin in (ended, begun))
    return msgspec.structs.replace(restored, aside=aside, trust=trust)


def _copied(backup: Path, copy: Path) -> Path:
    try:
        with _opened(backup) as source, copy.open("xb") as target:
            os.chmod(copy, 0o600)
            shutil.copyfileobj(source, target, 1 << 20)
            target.flush()
            os.fsync(target.fileno())
    except OSError as error:
        raise at_file(error, error.filename or copy, BACKUP_UNFIT) from None
    return copy


def _opened(backup: Path) -> BinaryIO:
    """Open *backup*: a device would fill the disk, and a pipe keep all writers waiting."""
    descriptor = os.open(backup, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    raise BACKUP_UNFIT(f"{backup} is no regular file")


def _free_name(file: Path) -> Path:
    number = 1
    free = file
    while os.path.lexists(free):
        number += 1
        free = file.with_name(f"{file.name}-{number}")
    return free


def _write_private(file: Path, text: str) -> None:
    try:
        durable.put(file, text.encode())
    except OSError as error:
        raise at_file(error, file, CONFIG_UNREADABLE) from None
