"""Write ``docs/reference/`` anew from the code; ``--check`` only says which pages would change.

A page is a function of the code, of ``fields.toml`` for what payload fields say and of
``arguments.toml`` for what arguments of tools do: no clock, no machine, no terminal is in it. The
page of the command line is its own ``--help``, verb by verb.
"""

import inspect
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, fields
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import msgspec

from memprove.ledger import operations, problems, scopes
from memprove.ledger.domain import events
from memprove.ledger.operations.base import LocalOperation, Operation

DOCS = Path(__file__).resolve().parent
REFERENCE = DOCS / "reference"
NOTE = "<!-- Written by docs/generate.py from the code: change that, then `make docs`. -->"
WIDTH = 90
"""Columns of a help text."""

_SIMPLE = {str: "text", int: "integer", bool: "boolean", float: "number", bytes: "bytes"}


def main(arguments: list[str]) -> int:
    """Write the pages that changed, or with ``--check`` name them; return the exit code."""
    if arguments not in ([], ["--check"]):
        print("usage: generate.py [--check]", file=sys.stderr)
        return 2
    changed = [name for name, page in PAGES.items() if _text(page) != _written(name)]
    for name in changed:
        if arguments:
            print(f"docs/reference/{name} is not up to date: run `make docs`", file=sys.stderr)
        else:
            REFERENCE.mkdir(exist_ok=True)
            (REFERENCE / name).write_text(_text(PAGES[name]), encoding="utf-8", newline="\n")
            print(f"docs/reference/{name} written")
    return 1 if changed and arguments else 0


def problems_page() -> Iterator[str]:
    """Yield the lines of the page on Problems."""
    yield "# Problems"
    yield ""
    yield "Every failure that you can meet has a code and a sentence. Neither ever changes with the"
    yield "arguments; what varies follows the sentence. Scripts may rely on the code."
    yield ""
    yield from _table(
        ("code", "sentence"),
        [(f"`{kind.code}`", kind.sentence) for _, kind in sorted(problems.KINDS.items())],
    )


def events_page() -> Iterator[str]:
    """Yield the lines of the page on kinds of events."""
    meanings = _meanings()
    yield "# Events"
    yield ""
    yield "Every kind of event and the fields of its payload. How payloads become bytes is in the"
    yield "[log format](../log-format.md). A field with a default is left out where it has it."
    yield ""
    rows = [(f"[`{kind}`](#{_anchor(kind)})", str(v)) for kind, (_, v) in events.KINDS.items()]
    yield from _table(("kind", "version"), rows)
    for kind, (struct, version) in events.KINDS.items():
        yield from ("", f"## {kind}", "", f"Version {version}. {_prose(struct)}", "")
        yield from _struct_table(struct, meanings)
    yield from ("", "## Values", "", "What fields hold that are neither text nor number.")
    for value in _values():
        yield from ("", f"### {value.__name__}", "", _prose(value), "")
        if issubclass(value, StrEnum):
            yield f"One of {', '.join(f'`{member}`' for member in value)}."
        else:
            yield from _struct_table(value, meanings)


def operations_page() -> Iterator[str]:
    """Yield the lines of the page on operations."""
    yield "# Operations"
    yield ""
    yield "Every read and every write is an operation. It names the wire operations that it"
    yield "stands for. Each of these needs a scope, and the token must have them all. `owner` is no"
    yield "scope that a token can be given: it is the role of the owner's token."
    yield ""
    yield "## Wire operations"
    yield ""
    known = list(_operations())
    senders = {
        wire: ", ".join(
            f"[{cls.__name__}](#{cls.__name__.lower()})" for _, cls in known if wire in cls.sends
        )
        for wire in scopes.WIRE
    }
    yield from _table(
        ("wire operation", "scope", "sent by"),
        [(f"`{wire}`", f"`{scope}`", senders[wire]) for wire, scope in scopes.WIRE.items()],
    )
    noun = ""
    for module, cls in known:
        if module != noun:
            noun = module
            yield from ("", f"## {noun.capitalize()}")
        yield from ("", f"### {cls.__name__}", "", _prose(cls), "", *_demands(cls))
        arguments = [_argument(cls, name) for name in get_type_hints(cls) if _is_field(cls, name)]
        if arguments:
            yield from ("", *_table(("argument", "type", "default"), arguments))


def tools_page() -> Iterator[str]:
    """Yield the lines of the page on the tools of the MCP server."""
    from memprove.mcp_facade.tools import OPERATIONS, TOOLS

    said = tomllib.loads((DOCS / "arguments.toml").read_text(encoding="utf-8"))
    there = {f"{tool.name}.{name}" for tool in TOOLS for name in tool.schema["properties"]}
    _check_complete("arguments", said, there)
    yield "# Tools"
    yield ""
    yield "The tools that `memprove mcp serve` offers to an agent's client, in the order of"
    yield "`tools/list`. Each is one [operation](operations.md). Numbers may come as texts, lists"
    yield "as JSON in a text, `null` for what is left out; unknown arguments are ignored. What an"
    yield "argument means must be beyond doubt: else the answer is a [Problem](problems.md)."
    yield ""
    yield "Every result has a text for the model and an object for programs, which begins with"
    yield "`task_id` and `session_id`. The text of an error begins with the code and the sentence"
    yield "of a Problem."
    yield ""
    rows = [
        (f"[`{tool.name}`](#{tool.name})", "read" if tool.annotations.read_only else "write")
        for tool in TOOLS
    ]
    yield from _table(("tool", "kind"), rows)
    for tool in TOOLS:
        operation = OPERATIONS[tool.name]
        yield from ("", f"## {tool.name}", "", f"{tool.title}. {tool.description}", "")
        yield from _demands(operation)
        link = f"[{operation.__name__}](operations.md#{operation.__name__.lower()})"
        yield from ("", f"The operation is {link}.")
        needed = tool.schema.get("required", ())
        arguments = [
            (f"`{name}`", _schema_type(schema, needed=name in needed), said[tool.name][name])
            for name, schema in tool.schema["properties"].items()
        ]
        if arguments:
            yield from ("", *_table(("argument", "type", "what it says"), arguments))


def _schema_type(schema: dict[str, Any], *, needed: bool) -> str:
    """Return the type of an argument in words."""
    kind = schema["type"]
    if kind == "array":
        kind = f"list of {'objects' if schema['items']['type'] == 'object' else 'texts'}"
    words = [{"string": "text"}.get(kind, kind)]
    if "maximum" in schema:
        words.append(f"{schema['minimum']} to {schema['maximum']}")
    if "default" in schema:
        words.append(f"default {schema['default']}")
    return ", ".join([*words, *(["needed"] if needed else [])])


def cli_page() -> Iterator[str]:
    """Yield the lines of the page on the command line: each verb's help, as it prints it."""
    import typer

    from memprove.cli.app import app

    root = typer.main.get_command(app)
    context = root.make_context(
        "memprove", [], resilient_parsing=True, terminal_width=WIDTH, max_content_width=WIDTH
    )
    yield "# Command line"
    yield ""
    yield "What `memprove VERB --help` prints. Exit codes: 0 done; 1 a [Problem](problems.md);"
    yield "2 wrong usage; 3 `verify` found something. `memprove run` returns the code of the"
    yield "command that it ran."
    yield from _helps(root, context, 2)


PAGES: dict[str, Callable[[], Iterator[str]]] = {
    "problems.md": problems_page,
    "events.md": events_page,
    "operations.md": operations_page,
    "tools.md": tools_page,
    "cli.md": cli_page,
}
"""File name → what yields its lines."""


def _text(page: Callable[[], Iterator[str]]) -> str:
    return "\n".join((NOTE, "", *page())) + "\n"


def _written(name: str) -> str:
    file = REFERENCE / name
    return file.read_text(encoding="utf-8") if file.exists() else ""


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    for row in (head, ("---",) * len(head), *rows):
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"


def _meanings() -> dict[str, dict[str, str]]:
    """Return what each field of each Struct says; a ValueError unless it is said of every one."""
    meanings = tomllib.loads((DOCS / "fields.toml").read_text(encoding="utf-8"))
    structs: list[type[msgspec.Struct]] = [struct for struct, _ in events.KINDS.values()]
    structs += [value for value in _values() if issubclass(value, msgspec.Struct)]
    there = {f"{s.__name__}.{f.name}" for s in structs for f in msgspec.structs.fields(s)}
    _check_complete("fields", meanings, there)
    return meanings


def _check_complete(name: str, meanings: dict[str, dict[str, str]], there: set[str]) -> None:
    """Raise a ValueError unless *meanings* has a row for each of *there*, and no other."""
    said = {f"{thing}.{field}" for thing, table in meanings.items() for field in table}
    if said != there:
        raise ValueError(f"docs/{name}.toml is not complete: {', '.join(sorted(said ^ there))}")


def _struct_table(
    struct: type[msgspec.Struct], meanings: dict[str, dict[str, str]]
) -> Iterator[str]:
    rows = [
        (
            f"`{f.encode_name}`",
            _type(f.type, link=True),
            _default(f.default, f.default_factory),
            meanings[struct.__name__][f.name],
        )
        for f in msgspec.structs.fields(struct)
    ]
    return _table(("field", "type", "default", "what it says"), rows)


def _values() -> list[type[Any]]:
    """Return the Structs and enumerations that payloads hold, in the order of the module."""
    kinds = {struct for struct, _ in events.KINDS.values()}
    return [
        value
        for value in vars(events).values()
        if inspect.isclass(value)
        and value.__module__ == events.__name__
        and issubclass(value, StrEnum | msgspec.Struct)
        and value not in kinds
        and not value.__name__.startswith("_")
    ]


def _operations() -> Iterator[tuple[str, type[Any]]]:
    """Yield every operation with the name of its module, in the order of the source."""
    for module in iter_modules(operations.__path__):
        if module.name == "base":
            continue
        for cls in vars(import_module(f"{operations.__name__}.{module.name}")).values():
            if (
                inspect.isclass(cls)
                and issubclass(cls, Operation | LocalOperation)
                and cls.__module__.endswith(f".{module.name}")
            ):
                yield module.name, cls


def _demands(cls: type[Any]) -> Iterator[str]:
    if not cls.sends:
        yield "Needs no token and opens no ledger."
        return
    needed = ", ".join(f"`{scope}`" for scope in sorted(scopes.needed(cls.sends)))
    yield f"- {'Writes' if scopes.writes(cls.sends) else 'Reads'}; needs {needed}"
    yield f"- stands for {', '.join(f'`{wire}`' for wire in cls.sends)}"
    if cls.needs is not Operation.needs:
        yield f"- beyond that: {_prose(cls.needs)}"


def _is_field(cls: type[Any], name: str) -> bool:
    return name in _defaults(cls)


def _argument(cls: type[Any], name: str) -> tuple[str, str, str]:
    return f"`{name}`", _type(get_type_hints(cls)[name]), _default(_defaults(cls)[name])


def _defaults(cls: type[Any]) -> dict[str, Any]:
    """Return the default of each field of an operation: NODEFAULT where there is none."""
    if issubclass(cls, msgspec.Struct):
        return {field.name: field.default for field in msgspec.structs.fields(cls)}
    none = msgspec.NODEFAULT
    return {f.name: none if f.default is MISSING else f.default for f in fields(cls)}


def _type(hint: Any, *, link: bool = False) -> str:
    """Return *hint* in the words of the documents; values become links where *link* says so."""
    if hint in _SIMPLE:
        return _SIMPLE[hint]
    if get_origin(hint) is tuple:
        return f"list of {_type(get_args(hint)[0], link=link)}"
    if get_origin(hint) in (Union, UnionType):
        words = [_type(part, link=link) for part in get_args(hint) if part is not NoneType]
        return " or ".join([*words, *(["null"] if NoneType in get_args(hint) else [])])
    if inspect.isclass(hint):
        return f"[{hint.__name__}](#{hint.__name__.lower()})" if link else hint.__name__
    return "function"


def _default(value: Any, factory: Any = msgspec.NODEFAULT) -> str:
    if factory is not msgspec.NODEFAULT:
        value = factory()
    match value:
        case msgspec.NODEFAULT:
            return "needed"
        case None:
            return "none"
        case bool():
            return str(value).lower()
        case "" | ():
            return "empty"
        case tuple():
            return ", ".join(f"`{item}`" for item in value)
        case _:
            return f"`{value}`"


def _prose(thing: Any) -> str:
    """Return the docstring of *thing* as Markdown."""
    text = inspect.cleandoc(thing.__doc__ or "").replace("``", "`")
    return re.sub(r"\*(\w+)\*", r"`\1`", text)


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _helps(command: Any, context: Any, level: int) -> Iterator[str]:
    """Yield the help of *command* and of the commands below it; of hidden ones, nothing."""
    help = "\n".join(line.rstrip() for line in command.get_help(context).strip().splitlines())
    yield from ("", f"{'#' * level} {context.command_path}", "", "```text", help, "```")
    if not hasattr(command, "list_commands"):
        return
    for name in command.list_commands(context):
        below = command.get_command(context, name)
        if not below.hidden:
            inner = below.make_context(name, [], parent=context, resilient_parsing=True)
            yield from _helps(below, inner, level + (level > 2))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
