"""A repository that would make git run its programs makes no verb of ours run one."""

from pathlib import Path

import pytest
from support.command_line import Desk, Inside, new_desk
from support.git_repository import isolate
from support.hostile_repository import HOSTILE, Hostile

VERBS = (
    ("init",),
    ("begin", "try it"),
    ("run", "--", "true"),
    ("checkpoint", "--fact", "it runs [r1]"),
    ("decide", "this", "--choice", "so", "--rationale", "because"),
    ("claims",),
    ("resume",),
    ("rerun", "r1"),
    ("show", "c1"),
    ("complete",),
    ("task", "set", "1", "completed"),
    ("tasks",),
    ("context",),
    ("log",),
    ("verify",),
    ("workspace", "attach", "1"),
    ("end",),
)
FEW = ("init", "begin", "run", "claims", "resume", "complete")
"""Those that ask git each in its own way."""


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A clone that nobody has looked at: its ledger is yet to be made."""
    isolate(monkeypatch, tmp_path / "home")
    return new_desk(tmp_path)


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda row: row.name)
def test_no_verb_fires_the_tripwire(
    hostile: Hostile,
    desk: Desk,
    inside: Inside,
    monkeypatch: pytest.MonkeyPatch,
    thorough: bool,
) -> None:
    marker = desk.base / "tripwire" / "fired"
    marker.parent.mkdir()
    environment = hostile.plant(desk.folder, marker)
    (desk.folder / "a.txt").write_text("changed\n")
    (desk.folder / "new.txt").write_text("new\n")
    marker.unlink(missing_ok=True)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    for verb in (verb for verb in VERBS if thorough or verb[0] in FEW):
        done = inside(*verb)
        assert "internal" not in done.err, (verb, done.err)
        assert not marker.exists(), verb
