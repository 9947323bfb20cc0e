"""The files of Claude Code, as bytes: our server in ``.mcp.json``, our hooks in its settings.

Each function takes the bytes of a file (None: there is none) and returns what they should be. It
raises Unfit where the file is not what it should be, and Foreign where our name is taken. What the
client itself does not load is refused: comments, a trailing comma, a list where an object belongs.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from json import loads
from typing import Any, Final

from memprove.hooks.install import entries, splice
from memprove.hooks.install.entries import CONFIG, EVENTS, SERVER
from memprove.hooks.install.spans import NotJson, Value, parse

SERVERS: Final = "mcpServers"
HOOKS: Final = "hooks"
_MARK: Final = "\ufeff"


class Unfit(Exception):
    """The file is not one that can be edited; the text says why."""


class Foreign(Exception):
    """Something else has the name that is ours."""


@dataclass(frozen=True, slots=True)
class Edited:
    """A file as it should be, and which objects around our entry were made for it."""

    data: bytes
    made: tuple[str, ...] = ()


def with_server(data: bytes | None, wanted: Mapping[str, Any]) -> Edited:
    """Return the ``.mcp.json`` in *data* with our server started as *wanted* says.

    What a user added to our entry stays: other keys, other variables, further arguments.
    """
    text = _text(data)
    made: tuple[str, ...] = ()
    if _child(text, SERVERS) is None:
        text, made = splice.add_member(text, parse(text), SERVERS, {}), (SERVERS,)
    servers = _child(text, SERVERS)
    assert servers is not None
    entry = servers.get(SERVER)
    if entry is None:
        return Edited(splice.add_member(text, servers, SERVER, wanted).encode(), made)
    if not entries.is_server(entry):
        raise Foreign(f"{SERVERS}.{SERVER}")
    arguments = entries.server_arguments(entry, wanted["args"])
    text = _set(text, (SERVERS, SERVER), "command", wanted["command"])
    text = _set(text, (SERVERS, SERVER), "args", arguments)
    return Edited(_with_env(text, wanted["env"]).encode(), made)


def has_portable_server(data: bytes | None) -> bool:
    """Tell whether our server is in *data* already and holds nothing of one machine."""
    entry = _child(_text(data), SERVERS, SERVER)
    return entry is not None and entries.is_portable_server(entry)


def without_server(data: bytes, made: tuple[str, ...]) -> bytes:
    """Return the ``.mcp.json`` in *data* without our server, and without what was *made* for it."""
    text = _text(data)
    servers = _child(text, SERVERS)
    for index, member in enumerate(servers.members if servers is not None else ()):
        if servers is not None and member.name == SERVER and entries.is_server(member.value):
            text = splice.remove(text, servers, index)
    return _without_empty(text, (SERVERS,), made).encode()


def with_hooks(data: bytes | None, wanted: Mapping[str, Mapping[str, Any]]) -> Edited:
    """Return the settings in *data* with our handler at each event of *wanted*.

    Our handlers at other events stay if *wanted* could have named them. Each of ours is told by its
    own command, whatever group it is in. What a user added to it stays.
    """
    text = _text(data)
    made: list[str] = []
    if wanted and _child(text, HOOKS) is None:
        text = splice.add_member(text, parse(text), HOOKS, {})
        made.append(HOOKS)
    while (changed := _mended(text, wanted)) is not None:
        text = changed
    for event, handler in wanted.items():
        listed = _list(text, event)
        if listed is None:
            hooks = _child(text, HOOKS)
            assert hooks is not None
            text = splice.add_member(text, hooks, event, [])
            made.append(f"{HOOKS}.{event}")
        if event not in {place.event for place in _ours(text)}:
            listed = _list(text, event)
            assert listed is not None
            text = splice.add_item(text, listed, _group(event, handler))
    return Edited(text.encode(), tuple(made))


def without_hooks(
    data: bytes, made: tuple[str, ...], events: frozenset[str] | None = None
) -> bytes:
    """Return the settings in *data* without our handlers, and without what was *made* for them.

    With *events*, only without those at them.
    """
    text = _text(data)
    while (place := _first(text, events)) is not None:
        text = _taken_out(text, place)
    for event in EVENTS:
        text = _without_empty(text, (HOOKS, event), made)
    return _without_empty(text, (HOOKS,), made).encode()


def our_events(data: bytes | None) -> frozenset[str]:
    """Return the events that a handler of ours is at."""
    return frozenset(place.event for place in _ours(_text(data)))


@dataclass(frozen=True, slots=True)
class Handler:
    """A handler of ours as it is written: at *event*, number *index* in group number *group*."""

    event: str
    group: int
    index: int
    written: Mapping[str, Any]
    matcher: str | None = None
    """Of its group."""


def our_server(data: bytes | None) -> Mapping[str, Any] | None:
    """Return our entry in the ``.mcp.json`` in *data* as it is written, if it is there."""
    text = _text(data)
    entry = _child(text, SERVERS, SERVER) if _child(text, SERVERS) is not None else None
    if entry is None or not entries.is_server(entry):
        return None
    written: Mapping[str, Any] = loads(text[entry.start : entry.end])
    return written


def our_handlers(data: bytes | None) -> tuple[Handler, ...]:
    """Return our handlers in the settings in *data*, in their order."""
    text = _text(data)
    return tuple(
        Handler(
            place.event,
            place.number,
            place.index,
            loads(text[place.handler.start : place.handler.end]),
            matcher.text if (matcher := place.group.get("matcher")) is not None else None,
        )
        for place in _ours(text)
    )


def enables_plugin(data: bytes | None) -> bool:
    """Tell whether the settings in *data* turn the plugin ``memprove`` on."""
    try:
        plugins = parse(_text(data)).get("enabledPlugins")
    except Unfit:  # nor does the client load them
        return False
    return plugins is not None and any(
        member.name.partition("@")[0] == SERVER and member.value.kind not in ("false", "null")
        for member in plugins.members
    )


def is_blank(data: bytes) -> bool:
    """Tell whether the file says nothing."""
    return not parse(_text(data)).elements


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a handler of ours is: the *index* in the list of *group*, group *number* of *event*."""

    event: str
    number: int
    group: Value
    index: int
    handler: Value
    verb: str

    @property
    def is_alone(self) -> bool:
        handlers = self.group.get(HOOKS)
        return handlers is not None and len(handlers.items) == 1


def _ours(text: str) -> Iterator[_Place]:
    hooks = _child(text, HOOKS)
    for member in hooks.members if hooks is not None else ():
        for number, group in enumerate(member.value.items):
            handlers = group.get(HOOKS)
            for index, handler in enumerate(handlers.items if handlers is not None else ()):
                if (verb := entries.hook_verb(handler)) is not None:
                    yield _Place(member.name, number, group, index, handler, verb)


def _first(text: str, events: frozenset[str] | None) -> _Place | None:
    wanted = (place for place in _ours(text) if events is None or place.event in events)
    return next(wanted, None)


def _mended(text: str, wanted: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Return *text* with one more of our handlers as it should be; None: all of them are."""
    seen: set[str] = set()
    for place in _ours(text):
        if place.event not in EVENTS or place.event in seen:
            return _taken_out(text, place)
        seen.add(place.event)
        if place.verb != place.event and not _reaches(place):
            return _moved(text, place, wanted)
        if place.event in wanted:
            changed = _updated(text, place.handler, wanted[place.event])
            if changed != text:
                return changed
    return None


def _reaches(place: _Place) -> bool:
    return entries.covers(place.group.get("matcher"), EVENTS[place.event].matcher)


def _moved(text: str, place: _Place, wanted: Mapping[str, Mapping[str, Any]]) -> str:
    """Give an old handler of ours, called too rarely in the group it is in, a group of its own.

    The group's matcher is not ours to change: others are in it.
    """
    kept = loads(text[place.handler.start : place.handler.end])
    handler = {**kept, **wanted.get(place.event, {"args": ["hook", place.event]})}
    handler |= {name: kept[name] for name in kept if name not in ("type", "command", "args")}
    text = _taken_out(text, place)
    listed = _list(text, place.event)
    assert listed is not None
    return splice.add_item(text, listed, _group(place.event, handler))


def _updated(text: str, handler: Value, wanted: Mapping[str, Any]) -> str:
    """Return *text* with the command of *handler* as *wanted*; the rest is added if it lacks."""
    for name, value in wanted.items():
        now = parse(text).starting(handler.start)  # what is before it has not moved
        old = now.get(name)
        if old is None:
            text = splice.add_member(text, now, name, value)
        elif name in ("command", "args") and loads(text[old.start : old.end]) != value:
            text = splice.replace(text, old, value)
    return text


def _taken_out(text: str, place: _Place) -> str:
    """Return *text* without a handler of ours; a group that holds nothing else goes with it."""
    handlers = place.group.get(HOOKS)
    groups = _child(text, HOOKS, place.event)
    assert handlers is not None
    assert groups is not None
    if place.is_alone and {member.name for member in place.group.members} <= {HOOKS, "matcher"}:
        return splice.remove(text, groups, place.number)
    return splice.remove(text, handlers, place.index)


def _group(event: str, handler: Mapping[str, Any]) -> dict[str, Any]:
    matcher = EVENTS[event].matcher
    return {**({"matcher": matcher} if matcher is not None else {}), HOOKS: [dict(handler)]}


def _with_env(text: str, wanted: Mapping[str, str]) -> str:
    env = _child(text, SERVERS, SERVER, "env")
    if env is None:
        return _set(text, (SERVERS, SERVER), "env", dict(wanted))
    return _set(text, (SERVERS, SERVER, "env"), CONFIG, wanted[CONFIG])


def _set(text: str, path: tuple[str, ...], name: str, value: Any) -> str:
    """Return *text* with the member *name* of the object at *path* equal to *value*."""
    parent = parse(text).get(*path)
    assert parent is not None
    old = parent.get(name)
    if old is None:
        return splice.add_member(text, parent, name, value)
    if loads(text[old.start : old.end]) == value:
        return text
    return splice.replace(text, old, value)


def _without_empty(text: str, path: tuple[str, ...], made: tuple[str, ...]) -> str:
    """Return *text* without the empty value at *path*, if it was *made* by us."""
    value = parse(text).get(*path)
    parent = parse(text).get(*path[:-1])
    if ".".join(path) not in made or value is None or parent is None or value.elements:
        return text
    names = [member.name for member in parent.members]
    return splice.remove(text, parent, names.index(path[-1]))


def _child(text: str, *path: str) -> Value | None:
    """Return the object at *path*, checked all the way down; a list belongs at an event."""
    value: Value | None = parse(text)
    for depth, name in enumerate(path, 1):
        assert value is not None
        value = value.get(name)
        if value is None:
            return None
        wanted = "array" if path[0] == HOOKS and depth == 2 else "object"
        if value.kind != wanted:
            raise Unfit(f"{'.'.join(path[:depth])} is no {'list' if wanted == 'array' else wanted}")
    return value


def _list(text: str, event: str) -> Value | None:
    return _child(text, HOOKS, event)


def _text(data: bytes | None) -> str:
    """Return the text of a file whose root is an object; an empty file counts as one."""
    try:
        text = (data or b"").decode()
    except UnicodeDecodeError:
        raise Unfit("it is not UTF-8") from None
    if not text.removeprefix(_MARK).strip(" \t\r\n"):
        return f"{text[: text.startswith(_MARK)]}{{}}\n"
    try:
        root = parse(text)
    except NotJson as error:
        raise Unfit(str(error)) from None
    if root.kind != "object":
        raise Unfit("it holds no object")
    return text
