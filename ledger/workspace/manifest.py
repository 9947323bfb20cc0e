"""The tree outside git: a hash over what the folder holds.

The id is ``m`` and, in hexadecimal, the SHA-256 of the rows sorted by path: mode in octal, space,
SHA-256 of the content in hexadecimal, tab, path, NUL. Modes are git's: 100644, 100755 (the owner
may execute it), 120000 (a link, whose content is its target); a FIFO, socket or device counts by
its type and is never opened. Empty folders do not count, and no link is followed.

Left out are:

- ``.memprove`` in the root, and every ``.git``: a repository further down counts with its files;
- what ``.gitignore`` files say, read as git reads them; these files themselves always count, so
  that nothing is hidden without a trace, and where they leave nothing else the tree is unknown;
- what tools write beside the sources of whoever runs them, in `LEFT_OUT`.

Every file is read every time: stat data say nothing about content whose mtime was restored, and
there is no index that says since when they are known. That costs about as much as ``sha256sum``
of all files, so the count, the bytes and the time are limited.
"""

import os
import stat
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from memprove.ledger.workspace.git import Unknown
from memprove.ledger.workspace.listing import OWN_FOLDER, path_text
from memprove.ledger.workspace.patterns import Patterns, parse_patterns
from memprove.ledger.workspace.tree import MANIFEST, MOST_ROWS, Entry, Tree

MOST_FILES = 200_000
"""Files and folders together."""
MOST_BYTES = 4 * 1024**3
IGNORE_LIMIT = 64 * 1024
"""The most bytes of a ``.gitignore``: its patterns are compiled, then tried on every path."""

LEFT_OUT = frozenset(
    {
        b".git",  # its index and logs change with every look
        b"__pycache__",  # Python writes bytecode at each import
        b".pytest_cache",  # which tests failed last
        b".mypy_cache",
        b".ruff_cache",
        b".hypothesis",  # examples that failed before
        b".coverage",  # rewritten by each measured run
        b".venv",  # what is installed follows from files that count
        b".tox",
        b".nox",
        b"node_modules",
        b".DS_Store",  # Finder writes it for a folder that was looked at
    }
)
"""Names, in any folder, of what tools make by themselves and nobody edits."""

_GITIGNORE = b".gitignore"
_CHUNK = 1024 * 1024
_READ = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)

_Rules = tuple[tuple[int, Patterns], ...]
"""Patterns in force in a folder, its own first, each with where paths below their folder begin."""


def read_manifest(root: Path, *, deadline_s: float) -> Tree:
    """Return the tree of the folder *root*, which is no repository, within *deadline_s* seconds.

    *base* and *branch* are None, and *changed* has a row for every path. Where the tree cannot be
    known, the reason is ``timeout``, ``too_large``, ``unreadable`` with the path,
    ``all_ignored``.
    """
    walk = _Walk(os.fsencode(os.path.realpath(root)), time.monotonic() + deadline_s)
    try:
        rows = sorted(walk.rows())
        if walk.ignored and all(_name(path) == _GITIGNORE for path, _, _ in rows):
            raise Unknown("all_ignored")
    except Unknown as unknown:
        return Tree(None, str(unknown), None, None, (), False, 0)
    digest = sha256()
    for path, mode, oid in rows:
        digest.update(b"%o %s\t%s\0" % (mode, oid.encode(), path))
    known = len(rows) <= MOST_ROWS
    entries = (Entry(path_text(path), mode, oid, False) for path, mode, oid in rows if known)
    changed = tuple(sorted(entries, key=lambda entry: entry.path))
    return Tree(MANIFEST + digest.hexdigest(), "", None, None, changed, known, 0)


class _Walk:
    """One walk over a folder, within its limits. Paths are relative to *root*."""

    def __init__(self, root: bytes, end: float) -> None:
        self.ignored = False
        self._root = root
        self._end = end
        self._count = 0
        self._size = 0
        self._waiting: list[tuple[bytes, _Rules]] = [(b"", ())]

    def rows(self) -> Iterator[tuple[bytes, int, str]]:
        """Yield path, mode and content of everything that counts, in any order.

        Raises Unknown: ``timeout``, ``too_large``, ``unreadable``.
        """
        while self._waiting:
            folder, rules = self._waiting.pop()
            try:
                yield from self._folder(folder, rules)
            except FileNotFoundError:  # removed meanwhile
                if not folder:
                    raise Unknown("unreadable", ".") from None
            except OSError as error:
                raise Unknown("unreadable", path_text(folder) or ".") from error

    def _folder(self, folder: bytes, rules: _Rules) -> Iterator[tuple[bytes, int, str]]:
        self._spend()
        with os.scandir(os.path.join(self._root, folder)) as listed:
            entries = list(listed)
        below = folder + b"/" if folder else b""
        if any(entry.name == _GITIGNORE for entry in entries):
            rules = ((len(below), self._patterns(below + _GITIGNORE)), *rules)
        for entry in entries:
            path = below + entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if entry.name in LEFT_OUT or path == OWN_FOLDER:
                continue
            if entry.name != _GITIGNORE and _ignores(rules, path, is_folder):
                self.ignored = True
            elif is_folder:
                self._waiting.append((path, rules))
            else:
                yield from self._file(path)

    def _file(self, path: bytes) -> Iterator[tuple[bytes, int, str]]:
        self._spend()
        place = os.path.join(self._root, path)
        try:
            mode = os.lstat(place).st_mode
            if stat.S_ISLNK(mode):
                yield path, 0o120000, sha256(os.readlink(place)).hexdigest()
            elif stat.S_ISREG(mode):
                executable = mode & stat.S_IXUSR
                yield path, 0o100755 if executable else 0o100644, self._digest(place)
            else:
                yield path, stat.S_IFMT(mode), sha256().hexdigest()
        except FileNotFoundError:  # removed meanwhile
            return
        except OSError as error:
            raise Unknown("unreadable", path_text(path)) from error

    def _digest(self, place: bytes) -> str:
        digest = sha256()
        for chunk in self._chunks(place):
            digest.update(chunk)
        return digest.hexdigest()

    def _chunks(self, place: bytes) -> Iterator[bytes]:
        descriptor = os.open(place, _READ)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError("another file came in its place")
            while chunk := os.read(descriptor, _CHUNK):
                self._spend(size=len(chunk))
                yield chunk
        finally:
            os.close(descriptor)

    def _patterns(self, path: bytes) -> Patterns:
        """Return what a ``.gitignore`` says; like git, read no pattern through a link."""
        place = os.path.join(self._root, path)
        try:
            if not stat.S_ISREG(os.lstat(place).st_mode):
                return parse_patterns(b"")
            content = bytearray()
            for chunk in self._chunks(place):
                content += chunk
                if len(content) > IGNORE_LIMIT:
                    raise Unknown("unreadable", f"{path_text(path)} (over {IGNORE_LIMIT} bytes)")
        except OSError as error:
            raise Unknown("unreadable", path_text(path)) from error
        return parse_patterns(bytes(content))

    def _spend(self, *, size: int = 0) -> None:
        """Count one more thing to look at, or *size* bytes of one."""
        self._count += not size
        self._size += size
        if self._count > MOST_FILES or self._size > MOST_BYTES:
            raise Unknown("too_large")
        if time.monotonic() > self._end:
            raise Unknown("timeout")


def _ignores(rules: _Rules, path: bytes, is_folder: bool) -> bool:
    """Tell whether *rules* leave out *path*: the deepest one that says something decides.

    Its parents were asked before: nothing in an ignored folder is ever looked at.
    """
    for start, patterns in rules:
        verdict = patterns.verdict(path[start:], is_folder=is_folder)
        if verdict is not None:
            return verdict
    return False


def _name(path: bytes) -> bytes:
    return path[path.rfind(b"/") + 1 :]
