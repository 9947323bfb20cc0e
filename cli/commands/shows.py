"""``show``: what a label or an event's number names."""

from collections.abc import Iterable
from typing import Annotated, Any

import typer

from memprove.cli import capsules, options
from memprove.cli.invocation import invoked
from memprove.cli.verbs import verbs
from memprove.ledger.domain import printing
from memprove.ledger.domain.lines import Lines, utc
from memprove.ledger.operations.ledgers import EventTold, Show, Shown
from memprove.ledger.problems import ARGUMENT_INVALID

app = verbs()


@app.command()
def show(
    context: typer.Context,
    label: Annotated[
        str, typer.Argument(metavar="LABEL|N", help="r3, w1, c7, o4, d1, or an event's number.")
    ],
    output: Annotated[
        bool, typer.Option("--output", help="Write what a Run wrote, as it was kept.")
    ] = False,
    task: options.TaskNumber = None,
    session: options.SessionNumber = None,
    as_json: options.Json = False,
) -> None:
    """Show a Run, claim, open item or Decision, or an event.

    --output writes the bytes as they are: standard output, then standard error.

    Examples:
      memprove show r3
      memprove show r3 --output | less
      memprove show c7 --task 3
      memprove show 42 --json

    """
    call = invoked(context, as_json=as_json, session=session)
    shown = call.execute(Show(label=label, task=task, output=output))
    if output:
        if shown.output is None:
            raise ARGUMENT_INVALID(f"no output was kept of {label}")
        call.output.write(shown.output)
    else:
        found, lines = _found(shown)
        call.answer(found, *lines)


def _found(shown: Shown) -> tuple[Any, Iterable[str]]:
    """Return what *shown* names, and its lines."""
    capsule, label = shown.capsule, shown.label
    if shown.event is not None:
        return shown.event, _event(shown.event)
    if label in capsule.runs:
        run = capsule.runs[label]
        return {"kind": "run", "verdict": run.verdict, "run": run}, capsules.run(capsule, run)
    if label in capsule.claims and shown.evidence is not None:
        claim, lines = capsule.claims[label], Lines(shown.evidence)
        proof = shown.evidence.prove(claim)
        told = {"kind": "claim", "proof": proof.state, "claim": claim, "paths": proof.paths}
        return told, [lines.claim(claim, proof), *lines.claim_history(claim)]
    if label in capsule.open_items:
        item = capsule.open_items[label]
        return {"kind": "open_item", "open_item": item}, capsules.item(capsule, item)
    decision = capsule.decisions[label]
    return {"kind": "decision", "decision": decision}, capsules.decision(capsule, decision)


def _event(event: EventTold) -> list[str]:
    by = f"{printing.name(event.role)} through {printing.name(event.face)}"
    where = "" if event.session is None else f" in Session {event.session}"
    lines = [
        f"event {event.seq} {printing.name(event.kind)} {_labels(event)}".rstrip(),
        f"  {utc(event.at)} by {by}{where}{', in an agent shell' if event.agent_env else ''}",
        f"  stream {printing.escape(event.stream)}",
    ]
    if event.erased_by is not None:
        lines.append(f"  erased by event {event.erased_by}")
        if event.payload is None:
            return lines
    if event.payload is None:
        return [*lines, "  its payload is not here, or of a newer memprove"]
    return [
        *lines,
        *(f"  {printing.escape(key)} {_value(value)}" for key, value in event.payload.items()),
    ]


def _labels(event: EventTold) -> str:
    return printing.escape(" ".join(event.labels))


def _value(value: object) -> str:
    if isinstance(value, str):
        return printing.quoted(value)
    if isinstance(value, dict):
        return (
            "{"
            + ", ".join(f"{printing.escape(key)} {_value(item)}" for key, item in value.items())
            + "}"
        )
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    return str(value)
