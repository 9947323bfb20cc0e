"""Where ``memprove`` starts: first nobody else's code, then the command.

We run inside other people's folders and hold a signing key. With ``PYTHONPATH=.`` a repository's
``json.py`` would be imported in place of Python's. So before anything else is imported, all entries
of ``sys.path`` are dropped that are empty, relative, or inside the working directory or Workspace.

Out of reach is what Python imports before ``main`` runs: ``sitecustomize`` and ``.pth`` files, what
the generated ``memprove`` script itself imports (``re``, in older ones), what ``python -m`` imports
(``runpy``), and a package ``memprove`` with an ``__init__.py`` on PYTHONPATH, which is then what
runs. ``python -I`` closes all of these.
"""

import gc
import os
import sys

_MARKS = (".git", ".memprove")


def main() -> None:
    """Run the command in ``sys.argv`` and leave with its exit code."""
    sys.path[:] = trusted(sys.path, _places(sys.argv[1:]))
    gc.set_threshold(50_000)  # imports leave no garbage; looking for it took a tenth of the start
    if is_hook(sys.argv[1:]):
        _answer_a_hook(sys.argv[1:])
    if is_server(sys.argv[1:]):
        _leave(_serve(sys.argv[3:]))
    try:
        from memprove.cli import app  # late: it imports what the path decides

        if sys.argv[1:2] == ["run"]:
            from memprove.cli.commands import runs  # noqa: F401  (or it is imported too late)
    except Exception as error:  # too few descriptors, too little memory
        _become_the_command(sys.argv[1:], error)
        raise
    _leave(app.run(sys.argv[1:]))


def is_hook(arguments: list[str]) -> bool:
    """Tell whether *arguments* are ``[-C DIR] [--config-dir DIR] hook …``, no help asked for."""
    words = iter(arguments)
    for word in words:
        if word in ("-C", "--config-dir"):
            next(words, None)
        elif not word.startswith("--config-dir="):
            return word == "hook" and not {"-h", "--help"}.intersection(arguments)
    return False


def _answer_a_hook(arguments: list[str]) -> None:
    """Answer an agent's client and leave, with exit code 0 even if nothing of ours can be had."""
    try:
        from memprove.hooks import main as hooks  # late: it imports what the path decides

        hooks.main(arguments, _distrust)
    except BaseException:
        os._exit(0)


def is_server(arguments: list[str]) -> bool:
    """Tell whether *arguments* are those of an entry for clients: the server starts as often."""
    verb, options = arguments[:2], arguments[2:]
    plain = not options or (options[0] == "--config-dir" and len(options) == 2 and options[1])
    return verb == ["mcp", "serve"] and bool(plain)


def _serve(options: list[str]) -> int:
    from pathlib import Path  # late, all: the path decides what is imported

    from memprove.cli.version import VERSION
    from memprove.mcp_facade.main import serve

    config_dir = Path(options[1]).expanduser().absolute() if options else None
    return serve(config_dir, version=VERSION)


def _distrust(places: list[str]) -> None:
    sys.path[:] = trusted(sys.path, places)


def _become_the_command(arguments: list[str], error: Exception) -> None:
    """Run the command of a plain ``run -- CMD`` in our place: its exit code comes first.

    Nothing of ours could be imported. Options before the ``--`` are understood where they do not
    matter now; a ``--strict`` run is refused.
    """
    verb, end = arguments[:1], arguments.index("--") if "--" in arguments else len(arguments)
    command, options = arguments[end + 1 :], arguments[1:end]
    if verb != ["run"] or not command or "--strict" in options:
        return
    os.environ.pop("MEMPROVE_TOKEN", None)
    os.write(2, f"memprove: not recorded: {type(error).__name__}\n".encode())
    try:
        os.execvp(command[0], command)
    except FileNotFoundError:
        os._exit(127)
    except OSError:
        os._exit(126)


def _leave(code: int) -> None:
    """End at once: what a command had to keep is on disk, and to take Python apart costs 20 ms."""
    from contextlib import suppress  # late, as above

    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # closed, gone, or never there
            stream.flush()
    os._exit(code)


def trusted(path: list[str], places: list[str]) -> list[str]:
    """Return the entries of *path* that do not lie in one of *places* or in a Workspace around it.

    Python's own libraries and the folder that we were imported from stay wherever they lie: a
    virtual environment inside the Workspace is the usual case.
    """
    roots = {root for place in places for root in _roots(os.path.realpath(place))}
    libraries = _libraries()
    ours = _upwards(os.path.abspath(__file__), 3)

    def is_trusted(entry: str) -> bool:
        plain = os.path.normpath(entry)
        if plain == ours or any(_within(plain, library) for library in libraries):
            return True
        return not any(_within(os.path.realpath(entry), root) for root in roots)

    return [entry for entry in path if os.path.isabs(entry) and is_trusted(entry)]


def _places(arguments: list[str]) -> list[str]:
    """Return the working directory, and what ``-C`` may make it."""
    places = [after for i, after in enumerate(arguments) if arguments[i - 1 : i] == ["-C"]]
    try:
        return [os.getcwd(), *places]
    except OSError:  # it was removed
        return places


def _roots(folder: str) -> list[str]:
    """Return *folder*, and every folder above it that may be a Workspace's root."""
    roots = [folder]
    while (above := os.path.dirname(folder)) != folder:
        folder = above
        if any(os.path.lexists(os.path.join(folder, mark)) for mark in _MARKS):
            roots.append(folder)
    return roots


def _libraries() -> list[str]:
    """Return the folders below which this Python keeps libraries.

    Not the whole prefix: a virtual environment can be the Workspace's root itself.
    """
    prefixes = (sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix)
    names = ("lib", sys.platlibdir, "Lib", "DLLs")
    return [os.path.join(prefix, name) for prefix in prefixes for name in names]


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _upwards(path: str, levels: int) -> str:
    for _ in range(levels):
        path = os.path.dirname(path)
    return path
