"""``memprove doctor``: all checks, of what lies below the clients and of their wiring."""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from memprove.hooks.doctor import entries, trial
from memprove.hooks.doctor.codex import codex
from memprove.hooks.doctor.wiring import Wiring
from memprove.ledger import health
from memprove.ledger.domain.redaction import Redactor, environment_secrets
from memprove.ledger.executable import executable
from memprove.ledger.findings import Check, Checked, State, checked, fault_of
from memprove.ledger.health import Site
from memprove.ledger.settings import Caller

CHECKS: Final[Mapping[str, Check[Wiring]]] = {
    "server": trial.server,
    "hook": trial.hook,
    "duplicates": entries.duplicates,
    "dropped entries": entries.dropped,
    "tracked paths": entries.tracked,
    "codex": codex,
}


def examine(caller: Caller) -> tuple[Checked, ...]:
    """Return all that is found, without secrets of the environment. The ledger stays as it is."""
    redact = Redactor(environment_secrets(caller.env)).text
    return tuple(
        replace(one, what=redact(one.what), cure=redact(one.cure)) for one in _found(caller)
    )


def _found(caller: Caller) -> Iterator[Checked]:
    site = Site(caller, None)
    try:
        site = Site.of(caller)
    except Exception as error:
        yield _unseen("workspace", error)
    below = tuple(checked(health.CHECKS, site))
    yield from below
    registered = any(one.check == "workspace" and one.state is State.OK for one in below)
    if site.place is None:
        return
    try:
        own = executable(sys.argv[0])
        wiring = Wiring.look(caller, site.place, registered=registered, own=own)
    except Exception as error:
        yield _unseen("clients", error)
        return
    yield from checked(CHECKS, wiring)


def _unseen(name: str, error: Exception) -> Checked:
    """Return that *name* could not be looked at: all checks that do not need it hold."""
    found = fault_of(error)
    return Checked(name, found.state, found.what, found.cure)
