"""``init``: make a ledger, register the Workspace, and put memprove into clients' files."""

import shlex
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memprove.cli import options
from memprove.cli.invocation import Invocation, invoked
from memprove.cli.verbs import verbs
from memprove.ledger.domain import printing

if TYPE_CHECKING:
    from collections.abc import Iterable

WOULD_CHANGE = 1

app = verbs()


@app.command()
def init(
    context: typer.Context,
    more_hooks: Annotated[
        list[str] | None, typer.Argument(metavar="[EVENT...]", hidden=True)
    ] = None,
    shared: Annotated[
        bool, typer.Option("--shared", help="Write what may be committed, for everybody here.")
    ] = False,
    here: Annotated[
        bool, typer.Option("--here", help="Ledger and keys in .memprove/here/, no file elsewhere.")
    ] = False,
    hooks: Annotated[
        list[str] | None, typer.Option("--hooks", metavar="EVENT...", help="More hooks; see above.")
    ] = None,
    instructions: Annotated[
        bool, typer.Option("--instructions", help="A block for agents in AGENTS.md, CLAUDE.md too.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would change as a diff; write nothing.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Exit with 1 if something would change; write nothing.")
    ] = False,
    remove: Annotated[
        bool, typer.Option("--uninstall", help="Take out of these files what init put in.")
    ] = False,
    from_agent: options.FromAgent = False,
    as_json: options.Json = False,
) -> int:
    """Make what is missing: ledger, keys, tokens, this Workspace, and the way into Claude Code.

    A ledger that is there is used, never replaced. `.mcp.json` gets the server, the main checkout's
    `.claude/settings.local.json` the hook SessionStart; nothing else in them changes. More hooks:
    SubagentStart, SessionEnd, PostToolUse, PostToolUseFailure, PreCompact.

    A ledger that is made --here is found by MEMPROVE_CONFIG_DIR alone, which these entries set and
    you export for your shell.

    Examples:
      memprove init
      memprove init --dry-run
      memprove init --shared --instructions
      memprove init --here
      memprove init --hooks SubagentStart SessionEnd
      memprove init --uninstall

    """
    # Late: a shell starts another one only when it is asked to.
    from memprove.hooks.install import initialize
    from memprove.hooks.install.entries import EVENTS
    from memprove.hooks.install.plan import Wishes

    call = invoked(context, as_json=as_json, from_agent=from_agent)
    if more_hooks and not hooks:
        raise typer.BadParameter(
            f"unexpected: {more_hooks[0]}; a project is named by -C, before init"
        )
    events = tuple(
        event
        for word in (*(hooks or ()), *(more_hooks or ()))
        for event in word.split(",")
        if event
    )
    if unknown := [event for event in events if event not in EVENTS]:
        raise typer.BadParameter(f"no hook of memprove: {unknown[0]}; {', '.join(EVENTS)}")
    if here and call.config_dir is not None:
        raise typer.BadParameter("--here and --config-dir name two places")
    wishes = Wishes(
        shared=shared, hooks=events, instructions=instructions, uninstall=remove, here=here
    )
    if dry_run or check:
        return _preview(call, initialize.preview(call.caller(), wishes), check=check)
    if remove:
        removed = initialize.uninstall(call.caller(), wishes)
        call.note(removed.notes)
        lines = [_line(file) for file in removed.files] or ["nothing of memprove was in the files"]
        call.answer(removed, *lines, "the ledger and .memprove/ stay")
        return 0
    told = initialize.initialize(call.caller(), wishes)
    call.note(told.notes)
    call.answer(told, *_lines(told))
    if here and not as_json:
        call.output.print(
            "for your shell:", f"export MEMPROVE_CONFIG_DIR={_quoted(told.config_dir)}"
        )
    return 0


def _quoted(path: Any) -> str:
    """Return *path* as a shell reads it, and as a terminal may see it."""
    return printing.escape(shlex.quote(str(path)))


def _preview(call: Invocation, preview: Any, *, check: bool) -> int:
    call.note(preview.notes)
    if check:
        lines = [f"would make {printing.escape(one)}" for one in preview.missing]
        lines += [f"would be {_line(file, later=True)}" for file in preview.files]
        call.answer(preview, *(lines or ["all is as it should be"]))
        return WOULD_CHANGE if preview.changes else 0
    call.note(f"would make {one}" for one in preview.missing)
    call.answer(preview, *preview.diff.splitlines())
    return 0


def _lines(told: Any) -> "Iterable[str]":
    workspace = told.workspace
    state = "registered" if workspace.seq else "registered before"
    yield f"ledger {'made' if told.created else 'used'} in {printing.code(str(told.data_dir))}"
    yield f"configuration, keys and tokens in {printing.code(str(told.config_dir))}"
    yield f"Workspace {workspace.number} {state}: {printing.code(workspace.root)}"
    yield from map(_line, told.files)
    names = {file.path.name for file in told.files}
    if not told.files:
        yield "Claude Code's files are as they should be"
    elif ".mcp.json" in names:
        yield "next: start Claude Code anew here, and approve its server memprove when it asks"
    else:
        yield "next: start Claude Code anew here"


def _line(file: Any, *, later: bool = False) -> str:
    path = printing.code(str(file.path))
    return f"{file.did}: {path} ({file.what})" if later else f"{path} {file.did}: {file.what}"
