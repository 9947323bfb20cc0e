"""What the tools say of a damaged ledger, and how far a verification is."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from support.ledgers import Project, new_project
from support.tools import Served

from memprove.ledger.settings import Caller
from memprove.mcp_facade.tool import Cancelled
from memprove.mcp_facade.tools import TOOLS


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return new_project(tmp_path, repository=True)


@pytest.fixture
def served(project: Project) -> Served:
    return Served(project.folder, dict(project.env))


def test_a_damaged_ledger_gives_no_pack_and_verification_says_so(
    project: Project, served: Served
) -> None:
    served.done("begin", new_task="t")
    assert served.done("ledger_verify", full=True).structured["ok"] is True
    project.tamper("UPDATE event SET payload = x'7b7d' WHERE seq = (SELECT max(seq) FROM event)")
    told = served.call("pack")
    assert told.code == "ledger_damaged"
    assert "\n" not in told.text
    assert "not re-read" in served.done("ledger_verify").text
    found = served.done("ledger_verify", full=True)
    assert found.structured["ok"] is False
    assert "FAILED payloads" in found.text


@dataclass
class Heard:
    """A client that hears of progress, until it wants no answer any more."""

    caller: Caller
    told: list[tuple[int, int]] = field(default_factory=list)
    leaves: bool = False
    era: str = "2026-07-28"

    def progress(self, done: int, total: int) -> None:
        if self.leaves:
            raise Cancelled
        self.told.append((done, total))

    def cancelled(self) -> bool:
        return self.leaves


def test_verification_tells_how_far_it_is(project: Project, served: Served) -> None:
    verify = next(tool for tool in TOOLS if tool.name == "ledger_verify")
    heard = Heard(served.caller())
    assert not verify.call(verify.input.model_validate({}), heard).is_error
    assert heard.told == [(project.size(), project.size())]
    gone = Heard(served.caller(), leaves=True)
    with pytest.raises(Cancelled):
        verify.call(verify.input.model_validate({"full": "true"}), gone)
