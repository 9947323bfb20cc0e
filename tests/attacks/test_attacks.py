"""Thirteen attacks on a ledger's file, without a key and with the stolen live key.

What finds each of them: the pinned key alone, the remembered head, a head that was saved elsewhere
at the end of the last key epoch. The table is docs/threat-model.md's.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.expected import problem
from support.forging import ATTACKS, Scene, new_scene

from memprove.ledger.log.report import Report
from memprove.ledger.operations.base import Operation
from memprove.ledger.operations.ledgers import VerifyLedger
from memprove.ledger.operations.tasks import CreateTask, ListTasks
from memprove.ledger.problems import Problem

ALWAYS = {(who, by) for who in ("nobody", "thief") for by in ("pin", "remembered", "saved")}
NEVER: set[tuple[str, str]] = set()
SEEN = {("nobody", "remembered"), ("thief", "remembered")}
WITHOUT_KEY = {("nobody", by) for by in ("pin", "remembered", "saved")}

FOUND: dict[str, set[tuple[str, str]]] = {
    **{f"{attack} old": ALWAYS for attack in ("edit", "delete", "insert", "reorder")},
    **{
        f"{attack} recent": WITHOUT_KEY | {("thief", "remembered")}
        for attack in ("edit", "delete", "insert", "reorder")
    },
    "truncate tail": SEEN,
    "rollback to old copy": SEEN | {("nobody", "saved"), ("thief", "saved")},
    "rollback and new history": ALWAYS,
    "rewrite all": ALWAYS,
    "fork at tail": WITHOUT_KEY | {("thief", "remembered")},
}
"""Attack → by which attacker, with what at hand, it is found."""

SMALLER = ("truncate tail", "rollback to old copy", "delete recent")
"""Attacks after which the log is shorter, and valid by itself."""

attacks = pytest.mark.parametrize("attack", ATTACKS)


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    return new_scene(tmp_path_factory.mktemp("attacked"))


@pytest.fixture
def scene(grown: Scene) -> Iterator[Scene]:
    grown.reset()
    yield grown
    grown.reset()


def attacked(scene: Scene, attack: str, who: str) -> None:
    act, where = ATTACKS[attack]
    act(scene, where, scene.stolen if who == "thief" else None)


def verdict(scene: Scene, by: str) -> Report:
    saved = scene.notes[scene.ends[-1]].note if by == "saved" else None
    if by != "remembered":
        scene.project.forget()
    return scene.project.execute(VerifyLedger(required=saved, full=True))


def codes(report: Report) -> set[str]:
    return {finding.code for finding in report.findings} - {""}


@pytest.mark.parametrize("by", ["pin", "remembered", "saved"])
def test_without_an_attack_nothing_is_found(scene: Scene, by: str) -> None:
    report = verdict(scene, by)
    assert report.ok, report.findings
    assert report.epoch_protected == scene.ends[-1]


@pytest.mark.parametrize("by", ["pin", "remembered", "saved"])
@pytest.mark.parametrize("who", ["nobody", "thief"])
@attacks
def test_an_attack_is_found_by_whom_the_table_says(
    scene: Scene, attack: str, who: str, by: str
) -> None:
    attacked(scene, attack, who)
    report = verdict(scene, by)
    assert report.ok is ((who, by) not in FOUND[attack]), report.findings


@pytest.mark.parametrize("attack", SMALLER)
def test_a_log_that_holds_less_than_was_seen_is_truncated(scene: Scene, attack: str) -> None:
    attacked(scene, attack, "thief")
    assert codes(verdict(scene, "remembered")) == {"ledger_truncated"}


@pytest.mark.parametrize(
    "attack", ["edit recent", "insert recent", "reorder recent", "fork at tail"]
)
def test_a_log_that_tells_something_else_is_forked(scene: Scene, attack: str) -> None:
    attacked(scene, attack, "thief")
    assert codes(verdict(scene, "remembered")) == {"ledger_forked"}


def test_a_saved_head_finds_a_log_that_is_shorter(scene: Scene) -> None:
    attacked(scene, "rollback to old copy", "nobody")
    report = verdict(scene, "saved")
    assert codes(report) == {"ledger_truncated"}
    assert [check.check for check in report.checks if not check.ok] == ["required"]


@pytest.mark.parametrize("attack", ["rollback and new history", "rewrite all"])
def test_the_stolen_key_signs_nothing_of_an_earlier_epoch(scene: Scene, attack: str) -> None:
    attacked(scene, attack, "thief")
    failed = {check.check for check in verdict(scene, "pin").checks if not check.ok}
    assert "head" in failed


@pytest.mark.parametrize("who", ["nobody", "thief"])
@attacks
def test_what_was_seen_stops_every_operation(scene: Scene, attack: str, who: str) -> None:
    attacked(scene, attack, who)
    expected = ("ledger_", "wrong_epoch")
    operations: list[Operation[Any]] = [ListTasks(), CreateTask("t")]
    for operation in operations:
        with pytest.raises(Problem) as caught:
            scene.project.execute(operation)
        assert caught.value.code.startswith(expected)


def test_the_live_key_is_not_touched_by_a_refused_write(scene: Scene) -> None:
    attacked(scene, "rollback to old copy", "nobody")
    before = [(path.name, path.read_bytes()) for path in scene.project.keys]
    with problem("ledger_truncated"):
        scene.project.execute(CreateTask("t"))
    assert [(path.name, path.read_bytes()) for path in scene.project.keys] == before


def test_after_a_rollback_that_nobody_remembers_the_key_is_missing(scene: Scene) -> None:
    attacked(scene, "rollback to old copy", "nobody")
    scene.project.forget()
    with problem("key_missing", "2.key"):
        scene.project.execute(CreateTask("t"))
    assert scene.project.execute(ListTasks()).tasks


def test_the_attacks_are_thirteen(tmp_path: Path) -> None:
    assert len(ATTACKS) == 13
    assert set(FOUND) == set(ATTACKS)
