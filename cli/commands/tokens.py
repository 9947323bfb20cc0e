"""``token``: issue, rotate, revoke and list tokens, as the owner. A secret goes to a file only."""

import re
from pathlib import Path
from typing import Annotated, Final

import typer

from memprove.cli import options, tables
from memprove.cli.invocation import Invocation, invoked
from memprove.cli.private_files import new_file, replacement
from memprove.cli.verbs import verbs
from memprove.cli.words import given
from memprove.ledger import settings
from memprove.ledger.domain import printing
from memprove.ledger.domain.lines import utc
from memprove.ledger.operations.tokens import (
    Issued,
    IssueToken,
    ListTokens,
    RevokeToken,
    TokenTold,
)
from memprove.ledger.problems import (
    ARGUMENT_MISSING,
    TOKEN_REVOKED,
    TOKEN_UNKNOWN,
    TOKEN_UNREADABLE,
    Problem,
)
from memprove.ledger.scopes import Role, Scope
from memprove.ledger.tokens import parse_token

_IN_A_FILE_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_MOST: Final = 4096

app = verbs()
below = verbs(help="Issue, rotate, revoke and list tokens.")
app.add_typer(below, name="token")

Id = Annotated[str, typer.Argument(metavar="ID", help="As `memprove token list` prints it.")]
File = Annotated[str | None, typer.Option("--output", "-o", metavar="FILE", help="Where to.")]


@below.command()
def issue(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is for.")],
    role: Annotated[Role, typer.Option(help="owner: may issue tokens, too.")] = Role.AGENT,
    scope: Annotated[
        list[str] | None,
        typer.Option(metavar="SCOPE", help="mcp-read, mcp-write (both by default); repeatable."),
    ] = None,
    output: File = None,
    from_agent: options.FromAgent = False,
    as_json: options.Json = False,
) -> None:
    """Issue a token into a new file that only you can read; print the file's path.

    Examples:
      memprove token issue reviewer --scope mcp-read
      memprove token issue ci -o ~/ci-token

    """
    call = invoked(context, as_json=as_json, from_agent=from_agent)
    file = Path(given(output)) if output else _default_file(call, name)
    scopes = tuple(scope) if scope else (Scope.READ, Scope.WRITE)
    with new_file(file) as write:
        issued = call.execute(IssueToken(name=name, role=role, scopes=scopes))
        write(f"{issued.token}\n")
    _tell(call, issued, file.absolute())


@below.command()
def rotate(
    context: typer.Context,
    id: Id,
    output: File = None,
    from_agent: options.FromAgent = False,
    as_json: options.Json = False,
) -> None:
    """Issue a token anew in the file that holds it, then revoke the old one.

    Examples:
      memprove token rotate 9f3c2a7711d04e6b
      memprove token rotate 9f3c2a7711d04e6b -o ~/ci-token

    """
    call = invoked(context, as_json=as_json, from_agent=from_agent)
    old = _live(call, id)
    file = Path(given(output)) if output else _holder(call, id)
    with replacement(file) as write:
        issued = call.execute(IssueToken(name=old.name, role=Role(old.role), scopes=old.scopes))
        write(f"{issued.token}\n")
    # Only now: if anything failed so far, the old token still opens the door.
    call.execute(RevokeToken(id))
    _tell(call, issued, file.absolute(), revoked=id)


@below.command()
def revoke(
    context: typer.Context,
    id: Id,
    from_agent: options.FromAgent = False,
    as_json: options.Json = False,
) -> None:
    """Revoke a token: the next call with it fails.

    Examples:
      memprove token revoke 9f3c2a7711d04e6b

    """
    call = invoked(context, as_json=as_json, from_agent=from_agent)
    told = call.execute(RevokeToken(id))
    call.answer(told, f"{printing.name(told.id)} revoked")


@below.command(name="list")
def list_tokens(
    context: typer.Context,
    from_agent: options.FromAgent = False,
    as_json: options.Json = False,
) -> None:
    """List all tokens, without their secrets.

    Examples:
      memprove token list
      memprove token list --json

    """
    call = invoked(context, as_json=as_json, from_agent=from_agent)
    listed = call.execute(ListTokens())
    if as_json:
        call.answer(listed)
        return
    rows = [
        (
            printing.name(token.id),
            printing.name(token.role),
            "revoked" if token.revoked else "live",
            utc(token.issued_at),
            " ".join(map(printing.name, token.scopes)),
            printing.quoted(token.name),
        )
        for token in listed.tokens
    ]
    tables.show(call.output, ("Token", "Role", "State", "Issued", "Scopes", "Name"), rows)


def _tell(call: Invocation, issued: Issued, file: Path, revoked: str = "") -> None:
    document = {
        "file": file,
        "id": issued.id,
        "name": issued.name,
        "revoked": revoked,
        "role": issued.role,
        "scopes": issued.scopes,
        "seq": issued.seq,
    }
    lines = [f"{issued.id} issued, in {printing.code(str(file))}"]
    if revoked:
        lines.append(f"{printing.name(revoked)} revoked")
    call.answer(document, *lines)


def _default_file(call: Invocation, name: str) -> Path:
    if not _IN_A_FILE_NAME.fullmatch(name):
        raise ARGUMENT_MISSING("--output FILE: the name cannot be that of a file")
    return settings.config_dir(call.caller()) / f"token-{name}"


def _live(call: Invocation, id: str) -> TokenTold:
    for token in call.execute(ListTokens()).tokens:
        if token.id == id:
            if token.revoked:
                raise TOKEN_REVOKED(id)
            return token
    raise TOKEN_UNKNOWN(id)


def _holder(call: Invocation, id: str) -> Path:
    """Return the file that holds the token *id*, where tokens are looked for."""
    caller = call.caller()
    folder = settings.config_dir(caller)
    files = [folder / "token", folder / "owner-token", *sorted(folder.glob("token-*"))]
    if named := caller.variable("MEMPROVE_TOKEN_FILE"):
        files.insert(0, settings.expanded(named, TOKEN_UNREADABLE))
    for file in files:
        try:
            with file.open("rb") as opened:
                text = opened.read(_MOST).decode("ascii", "replace")
            if parse_token(text, str(file)).id == id:
                return file
        except (OSError, Problem):
            continue
    raise ARGUMENT_MISSING(f"--output FILE: no known file holds {id}")
