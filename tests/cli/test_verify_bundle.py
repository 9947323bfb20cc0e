"""``verify --bundle`` in a clone that has no ledger, and the gate of CI."""

import gzip
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.command_line import Desk, Done
from support.git_repository import commit_all, git

CONFIG = '[evidence]\nignore = ["docs/"]\n'


@dataclass(frozen=True)
class Review:
    """A clone on another machine: a bundle, a trust file, and no configuration at all."""

    desk: Desk
    clone: Path
    bundle: Path
    trust: Path

    def __call__(self, *arguments: str, trust: str = "", **env: str) -> Done:
        """Verify the bundle in the clone; no variable of ours, no home."""
        trusted = ("--trust", trust or str(self.trust)) if trust != "-" else ()
        return Desk(self.desk.base, {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}).memprove(
            *("verify", "--bundle", str(self.bundle)), *trusted, *arguments, cwd=self.clone, env=env
        )

    def pull(self) -> None:
        """Bring the clone to where the desk is."""
        git(self.clone, "pull", "--quiet")

    def export(self, *arguments: str) -> None:
        """Make the bundle anew."""
        done = self.desk.memprove("export", "--task", "1", "-o", str(self.bundle), *arguments)
        assert done.code == 0, done


@pytest.fixture
def review(desk: Desk) -> Review:
    """A Task whose Run was on a dirty tree, which was committed afterwards."""
    desk.begin("Sort them")
    (desk.folder / "a.txt").write_text("b\na\n")
    (desk.folder / "new.txt").write_text("new\n")
    assert desk.memprove("run", "--kind", "build", "--", "sort", "a.txt").code == 0
    assert desk.memprove("checkpoint", "--fact", "it sorts [r1]").code == 0
    assert desk.memprove("complete").code == 0
    bundle, trust = desk.base / "task-1.bundle", desk.base / "elsewhere"
    shutil.copy(desk.config / "trust", trust)
    commit_all(desk.folder, "second")
    clone = desk.base / "clone"
    git(desk.base, "clone", "--quiet", str(desk.folder), str(clone))
    made = Review(desk, clone, bundle, trust)
    made.export()
    return made


def test_a_run_on_a_dirty_tree_proves_the_commit_made_of_it_in_another_clone(
    review: Review,
) -> None:
    done = review("--require-fresh", "--require-complete", "--task", "1")
    tree = git(review.clone, "rev-parse", "HEAD^{tree}")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[:7] == [
        "ok     bundle",
        "ok     fresh",
        "ok     complete",
        "Task 1 · completed · “Sort them”",
        f"on tree {tree}",
        "Proven (1)",
        "  c1 r1 `sort a.txt` build · “it sorts”",
    ]
    assert lines[9].startswith("7 events, the last at ")
    assert lines[10].startswith("head of 11 events at ")
    assert lines[-1] == "the bundle holds"
    assert not (review.clone / ".memprove").exists()


def test_it_says_nothing_and_writes_nothing_where_a_person_keeps_things(review: Review) -> None:
    before = set(Path(os.environ["HOME"]).rglob("*"))
    assert review().code == 0
    assert set(Path(os.environ["HOME"]).rglob("*")) == before


def test_what_changed_since_is_named_in_every_format(review: Review) -> None:
    (review.clone / "a.txt").write_text("c\n")
    text = review("--require-fresh")
    stale = "c1 r1 `sort a.txt` build, then `a.txt` changed · “it sorts”"
    assert text.code == 3
    assert "FAILED fresh\n" in text.out
    assert f"  fresh: stale · {stale}\n" in text.out
    assert text.out.endswith("1 finding\n")
    told = review("--require-fresh", "--json")
    assert (told.code, told.json["ok"], told.json["bundle"]["size"]) == (3, False, 11)
    assert told.json["findings"] == [
        {"check": "fresh", "label": "c1", "state": "stale", "what": stale, "paths": ["a.txt"]}
    ]
    for options, env in ((("--format", "github"), {}), ((), {"GITHUB_ACTIONS": "true"})):
        github = review("--require-fresh", *options, **env)
        assert github.code == 3
        error, notice = github.out.splitlines()
        assert error == f"::error file=a.txt,title=memprove%3A c1 stale::fresh: stale · {stale}"
        assert notice.startswith("::notice title=memprove verify::Task 1 · completed")
    assert review("--format", "text", GITHUB_ACTIONS="true").out.startswith("ok     bundle\n")


def test_without_a_demand_stale_claims_are_only_told(review: Review) -> None:
    (review.clone / "a.txt").write_text("c\n")
    done = review()
    assert done.code == 0
    assert "Stale (1)\n" in done.out


def test_outside_a_checkout_the_bundle_is_verified_and_nothing_is_proven(
    review: Review, tmp_path: Path
) -> None:
    nowhere = tmp_path / "nowhere"
    nowhere.mkdir()
    away = Review(review.desk, nowhere, review.bundle, review.trust)
    assert away().code == 0
    assert "no checkout here" in away().out
    done = away("--require-fresh")
    assert done.code == 3
    assert "fresh: unknown · Task 1" in done.out


def test_a_bundle_of_another_task_is_not_taken_for_this_one(review: Review) -> None:
    done = review("--task", "2")
    assert done.code == 3
    assert "it is of Task 1, not 2" in done.out


def test_trust_is_named_or_the_usage_is_wrong(review: Review) -> None:
    for words in ((), ("--require-fresh",)):
        assert review(*words, trust="-").code == 2
    assert review("--full").code == 2
    alone = review.desk.memprove("verify", "--trust", str(review.trust))
    assert alone.code == 2


def test_another_trust_is_a_finding_and_none_a_problem(review: Review) -> None:
    key = "other.example/x+00000000+AAAA"
    review.trust.write_text("# nobody\n")
    done = review()
    assert done.code == 3
    assert done.out.startswith("FAILED bundle\n  no key is trusted for memprove.local/")
    review.trust.write_text(f"other.example/x {key}\n")
    assert review().problem == "trust_invalid"
    assert review(trust=str(review.desk.base / "nosuch")).problem == "file_unreadable"
    assert review(trust=str(review.desk.base)).problem == "file_unreadable"


def test_a_tampered_bundle_is_a_finding_in_every_format(review: Review) -> None:
    plain = gzip.decompress(review.bundle.read_bytes())
    review.bundle.write_bytes(gzip.compress(plain.replace(b"it sorts", b"it works")))
    what = "the payload of event 10 is not what was committed to"
    summary = "the bundle does not hold; do not rely on it"
    assert review("--require-fresh").out == f"FAILED bundle\n  {what}\n{summary}\n"
    assert review("--json").json["findings"][0]["what"] == what
    assert review("--format", "github").out == (
        f"::error title=memprove verify::{what}\n::notice title=memprove verify::{summary}\n"
    )
    review.bundle.write_bytes(b"::error::x\n##[error]y")
    assert review().code == 3
    review.bundle.unlink()
    assert review().problem == "file_unreadable"
    os.mkfifo(review.bundle)
    assert review().problem == "file_unreadable"


# The base commit


def with_trust(review: Review, config: str = "") -> str:
    """Commit trust, and an ignore list, at the desk; return the commit."""
    folder = review.desk.folder / ".memprove"
    shutil.copy(review.trust, folder / "trust")
    (folder / "config.toml").write_text(config)
    commit = commit_all(review.desk.folder, "trust")
    review.pull()
    return commit


def test_trust_comes_from_a_commit(review: Review) -> None:
    base = with_trust(review)
    (review.clone / ".memprove" / "trust").write_text("this is not believed\n")
    for trust in (f"git:{base}:.memprove/trust", "git:HEAD:.memprove/trust"):
        assert review("--require-fresh", trust=trust).code == 0
    assert review("--base", base, "--require-fresh", trust="-").code == 0
    assert review("--base", "HEAD~1", trust="-").problem == "trust_missing"
    assert review("--base", "nosuch", trust="-").problem == "revision_unknown"
    assert review(trust="git:HEAD").problem == "trust_missing"
    away = Review(review.desk, review.desk.base, review.bundle, review.trust)
    assert away("--base", "HEAD", trust="-").problem == "revision_unknown"


def test_the_ignore_list_is_that_of_the_base_commit_and_never_the_changes(review: Review) -> None:
    base = with_trust(review, CONFIG)
    assert review.desk.memprove("rerun", "r1").code == 0  # under that list
    review.export()
    (review.clone / "docs").mkdir()
    (review.clone / "docs" / "a").write_text("x")
    assert review("--base", base, "--require-fresh", trust="-").code == 0
    assert "ignoring 1 pattern" in review("--base", base, trust="-").out
    own = review("--require-fresh")
    assert own.code == 3
    assert "fresh: unbelieved · the change under test could have written its ignore list" in own.out
    assert review().code == 0
    (review.clone / ".memprove" / "config.toml").write_text('[evidence]\nignore = ["*.txt"]\n')
    (review.clone / "a.txt").write_text("worse\n")
    done = review("--base", base, "--require-fresh", trust="-")
    assert done.code == 3
    assert "then `a.txt` changed" in done.out


# The required head


def test_a_bundle_must_not_be_older_than_the_required_head(review: Review) -> None:
    head = review.desk.base / "head"
    said = json.loads(gzip.decompress(review.bundle.read_bytes()))
    head.write_text(said["head"], encoding="utf-8")
    assert "it continues the required head of 11 events" in review("--require-head", str(head)).out
    assert review.desk.memprove("rerun", "r1").code == 0
    review.export()
    refused = review("--require-head", str(head))
    assert refused.code == 3
    assert "export it with --since" in refused.out
    review.export("--since", str(head))
    done = review("--require-head", str(head))
    assert (done.code, "required head of 11 events" in done.out) == (0, True)
    missing = review("--require-head", str(review.desk.base / "nosuch"))
    assert missing.problem == "argument_invalid"


# The gate on a ledger


def test_the_gate_judges_the_task_of_a_ledger(review: Review) -> None:
    desk = review.desk
    done = desk.memprove("verify", "--task", "1", "--require-fresh", "--require-complete")
    assert done.code == 0
    assert "ok     remembered\nok     fresh\nok     complete\nTask 1 · completed" in done.out
    assert desk.memprove("verify", "--require-fresh").code == 0  # the current Task
    (desk.folder / "a.txt").write_text("c\n")
    stale = desk.memprove("verify", "--task", "1", "--require-fresh", "--json")
    assert (stale.code, stale.json["ok"]) == (3, False)
    assert stale.json["task"]["findings"][0]["label"] == "c1"
    assert desk.memprove("verify", "--task", "1").code == 0
    assert desk.memprove("verify", "--task", "9", "--require-fresh").problem == "task_unknown"


def test_the_gate_takes_the_ignore_list_of_a_base_commit(review: Review) -> None:
    base = with_trust(review, CONFIG)
    desk = review.desk
    assert desk.memprove("rerun", "r1").code == 0
    (desk.folder / ".memprove" / "config.toml").write_text('[evidence]\nignore = ["*.txt"]\n')
    own = desk.memprove("verify", "--require-fresh")
    assert "the ignore list changed" in own.out
    assert desk.memprove("verify", "--require-fresh", "--base", base).code == 0
    unknown = desk.memprove("verify", "--require-fresh", "--base", "nosuch")
    assert unknown.problem == "revision_unknown"


def damaged(desk: Desk) -> None:
    (desk.data / "ledger.db").write_bytes(b"not SQLite")


def test_a_damaged_ledger_judges_no_task(review: Review) -> None:
    damaged(review.desk)
    done = review.desk.memprove("verify", "--require-fresh")
    assert done.code == 3
    assert "fresh" not in done.out


ORDERS: dict[str, Callable[[Desk], Done]] = {
    "a title": lambda desk: desk.memprove("begin", "##[error]x\n::error::y"),
    "a fact": lambda desk: desk.memprove(
        "checkpoint", "--fact", "\n::add-mask::x ##[stop-commands]"
    ),
}


@pytest.mark.parametrize("what", ORDERS)
@pytest.mark.parametrize("form", ["text", "github", "json"])
def test_what_was_said_gives_a_runner_no_order(review: Review, what: str, form: str) -> None:
    assert ORDERS[what](review.desk).code == 0
    task = "2" if what == "a title" else "1"
    done = review.desk.memprove("export", "--task", task, "-o", str(review.bundle))
    assert done.code == 0
    told = review("--format", form, GITHUB_ACTIONS="true").out
    assert "##[" not in told
    ours = ("::error title=memprove", "::notice title=memprove")
    orders = [line for line in told.splitlines() if line.lstrip().startswith("::")]
    assert [line for line in orders if not line.startswith(ours)] == []


def test_a_runner_that_does_not_say_so_gets_no_order_either(review: Review) -> None:
    assert review.desk.memprove("begin", "##[error]x").code == 0
    review.desk.memprove("export", "--task", "2", "-o", str(review.bundle))
    assert "##[" not in review("--format", "github").out


# Erasures


def test_what_was_erased_is_named_in_a_bundle_and_of_an_earlier_one(review: Review) -> None:
    earlier = review.bundle.with_name("earlier.bundle")
    shutil.copy(review.bundle, earlier)
    assert review.desk.memprove("redact", "c1", "--task", "1", "--reason", "a\x1bb").code == 0
    review.export()
    named = "event 10 checkpoint.recorded c1: facts.c1 by event 12, “a\\x1bb”"
    done = review()
    assert (done.code, f"erased: {named}" in done.out.splitlines()) == (0, True), done.out
    told = review("--json").json["bundle"]
    assert [one["event"] for one in told["erased"]] == [10]
    assert told["erased_since"] == []
    before = Review(review.desk, review.clone, earlier, review.trust)
    assert "erased" not in before().out
    done = before("--later", str(review.bundle))
    assert f"erased since, and still in here: {named}" in done.out.splitlines()
    refused = before("--later", str(review.trust))
    assert refused.code == 3
    assert "the later bundle: " in refused.out


def test_a_later_bundle_is_wrong_usage_without_one(review: Review) -> None:
    assert review.desk.memprove("verify", "--later", str(review.bundle)).code == 2


@pytest.mark.parametrize(
    "options", [("--base", "HEAD"), ("--allow-spooled",), ("--task", "1", "--allow-spooled")]
)
def test_what_says_how_to_judge_is_wrong_usage_where_nothing_is_judged(
    review: Review, options: tuple[str, ...]
) -> None:
    assert review.desk.memprove("verify", *options).code == 2
