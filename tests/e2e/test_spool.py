"""A shell that cannot reach the ledger: its Runs are kept in the Workspace and adopted later."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.command_line import Desk, Done, desk_with_ledger
from support.git_repository import isolate

LABEL = re.compile(r"memprove: (x[a-z0-9]{6}) is kept in \.memprove/spool/")
SHUT_IN = {"MEMPROVE_CONFIG_DIR": "/nonexistent", "MEMPROVE_DATA_DIR": ""}
TEST = ("sh", "-c", "cat verdict; echo '1 passed in 0.01s'; test ! -s verdict")


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    isolate(monkeypatch, tmp_path / "home")
    desk = desk_with_ledger(tmp_path)
    (desk.folder / "verdict").write_text("")
    desk.begin()
    return desk


def spool(desk: Desk, *command: str, code: int = 0, **env: str) -> str:
    done = desk.memprove("run", "--", *command, env={**SHUT_IN, **env})
    assert done.code == code, done
    match = LABEL.search(done.err)
    assert match is not None, done
    return match[1]


def files(desk: Desk) -> list[str]:
    return sorted(path.name for path in (desk.folder / ".memprove/spool").iterdir())


def verified(desk: Desk) -> None:
    done = desk.memprove("verify", "--full")
    assert done.code == 0, done


def test_the_next_write_adopts_the_run_and_may_cite_it(desk: Desk) -> None:
    label = spool(desk, "make", "--version")
    assert files(desk) == ["1-1.run", "1.key"]
    assert desk.memprove("log").out.count("run.") == 0
    done = desk.memprove("checkpoint", "--fact", f"it runs [{label}]")
    assert (done.code, done.err) == (0, "memprove: adopted 1 spooled Run\n")
    assert files(desk) == ["1.key"]
    assert "(spooled)" in desk.memprove("resume", "--pack").out
    (claim,) = desk.memprove("claims", "--json").json["claims"]
    assert (claim["proof"], claim["spooled"]) == ("proven", True)
    assert "proof proven (spooled)" in desk.memprove("claims").out
    assert desk.memprove("show", label).code == 0
    verified(desk)


def test_the_command_its_code_and_its_output_are_as_without_memprove(desk: Desk) -> None:
    done = desk.memprove("run", "-q", "--", "sh", "-c", "echo out; exit 7", env=SHUT_IN)
    assert (done.code, done.stdout) == (7, b"out\n")


def test_runs_are_adopted_in_their_order_over_several_writes(desk: Desk) -> None:
    labels = [spool(desk, "true") for _ in range(3)]
    assert desk.memprove("checkpoint", "--next", "a").code == 0
    labels += [spool(desk, "true") for _ in range(2)]
    assert files(desk) == ["1-4.run", "1-5.run", "1.key"]
    assert desk.memprove("checkpoint", "--next", "b").code == 0
    events = desk.memprove("log", "--json").json["events"]
    assert [e["labels"][0] for e in events if e["kind"] == "run.started"] == labels
    verified(desk)


def test_two_runs_at_once_are_both_kept(desk: Desk) -> None:
    with ThreadPoolExecutor(4) as pool:
        labels = list(pool.map(lambda _: spool(desk, "true"), range(4)))
    assert desk.memprove("checkpoint", "--next", "a").err.startswith("memprove: adopted 4 spooled")
    events = desk.memprove("log", "--json").json["events"]
    assert {e["labels"][0] for e in events if e["kind"] == "run.started"} == set(labels)


def refused(desk: Desk, done: Done) -> None:
    assert done.code == 0
    assert "memprove: spool_refused: " in done.err
    assert not any(
        "run.started" in e["kind"] for e in desk.memprove("log", "--json").json["events"]
    )
    assert any(name.endswith(".unreadable") for name in files(desk))
    verified(desk)


def test_a_changed_file_is_set_aside_and_stops_nothing(desk: Desk) -> None:
    spool(desk, "false", code=1)
    path = desk.folder / ".memprove/spool/1-1.run"
    path.write_bytes(path.read_bytes().replace(b'"exit":1', b'"exit":0'))
    refused(desk, desk.memprove("checkpoint", "--next", "a"))


def test_a_missing_one_refuses_those_after_it(desk: Desk) -> None:
    spool(desk, "false", code=1)
    spool(desk, "true")
    (desk.folder / ".memprove/spool/1-1.run").unlink()
    refused(desk, desk.memprove("checkpoint", "--next", "a"))


def test_a_file_under_another_name_is_set_aside(desk: Desk) -> None:
    spool(desk, "true")
    folder = desk.folder / ".memprove/spool"
    (folder / "1-1.run").rename(folder / "1-2.run")
    refused(desk, desk.memprove("checkpoint", "--next", "a"))


def test_a_replayed_file_is_adopted_once(desk: Desk) -> None:
    spool(desk, "true")
    path = desk.folder / ".memprove/spool/1-1.run"
    kept = path.read_bytes()
    assert desk.memprove("checkpoint", "--next", "a").code == 0
    path.write_bytes(kept)
    assert desk.memprove("checkpoint", "--next", "b").code == 0
    kinds = [e["kind"] for e in desk.memprove("log", "--json").json["events"]]
    assert kinds.count("run.started") == 1
    assert files(desk) == ["1.key"]


def test_another_key_beside_the_files_is_not_believed(desk: Desk) -> None:
    folder = desk.folder / ".memprove/spool"
    (folder / "1.key").write_text(f"memprove-spool {'0' * 64} 0\n")
    spool(desk, "true")
    refused(desk, desk.memprove("checkpoint", "--next", "a"))


@pytest.mark.parametrize("content", [b"", b"{}\n", b"\xff" * 100, b"x\n" * 1000])
def test_rubbish_in_the_spool_is_set_aside(desk: Desk, content: bytes) -> None:
    (desk.folder / ".memprove/spool/1-1.run").write_bytes(content)
    refused(desk, desk.memprove("checkpoint", "--next", "a"))


def test_of_much_rubbish_little_is_told(desk: Desk) -> None:
    for number in range(1, 1_002):
        (desk.folder / f".memprove/spool/77-{number}.run").write_bytes(b"junk")
    told = desk.memprove("checkpoint", "--fact", "so").err.splitlines()
    assert (len(told), told[-1]) == (10, "memprove: 991 more spooled Runs were set aside")
    left = [name for name in files(desk) if name.endswith(".run")]
    assert left == ["77-1001.run"], "a thousand at once"


def test_a_file_of_no_session_and_a_link_are_set_aside(desk: Desk, tmp_path: Path) -> None:
    folder = desk.folder / ".memprove/spool"
    (folder / "77-1.run").write_bytes(b"x")
    (folder / "1-1.run").symlink_to(tmp_path / "elsewhere")
    refused(desk, desk.memprove("checkpoint", "--next", "a"))


def test_a_spooled_pass_completes_nothing_unless_the_owner_allows_it(desk: Desk) -> None:
    label = spool(desk, "sh", "-c", "true", MEMPROVE_SESSION="1")
    assert "run_spooled" in desk.memprove("complete", label).err
    make = spool_build(desk)
    assert "run_spooled" in desk.memprove("complete").err
    (desk.config / "config.toml").write_text("[complete]\nspooled = true\n")
    assert desk.memprove("complete", make).code == 0
    verified(desk)


def spool_build(desk: Desk) -> str:
    (desk.folder / "Makefile").write_text("all:\n\t@echo built\n")
    return spool(desk, "make")


def test_a_failure_that_was_spooled_speaks_against_an_older_pass(desk: Desk) -> None:
    assert desk.memprove("run", "--", *TEST).code == 0
    assert desk.memprove("checkpoint", "--fact", "it works [r1]").code == 0
    flag = ("sh", "-c", "exit $FLAG")
    assert desk.memprove("run", "--", *flag, env={"FLAG": "0"}).code == 0
    assert desk.memprove("checkpoint", "--fact", "the flag is down [r2]").code == 0
    spool(desk, *flag, code=1, FLAG="1")
    assert desk.memprove("checkpoint", "--next", "a").code == 0
    proofs = {c["claim"]: c["proof"] for c in desk.memprove("claims", "--json").json["claims"]}
    assert proofs == {"c1": "proven", "c2": "refuted"}


def test_a_pass_that_was_spooled_earlier_does_not_hide_a_later_failure(desk: Desk) -> None:
    flag = ("sh", "-c", "exit $FLAG")
    assert desk.memprove("run", "--", *flag, env={"FLAG": "0"}).code == 0
    assert desk.memprove("checkpoint", "--fact", "the flag is down [r1]").code == 0
    spool(desk, *flag, FLAG="0")
    kept = (desk.folder / ".memprove/spool/1-1.run").rename(desk.base / "kept")
    assert desk.memprove("run", "--", *flag, env={"FLAG": "1"}).code == 1
    kept.rename(desk.folder / ".memprove/spool/1-1.run")
    assert desk.memprove("checkpoint", "--next", "a").code == 0
    (claim,) = desk.memprove("claims", "--json").json["claims"]
    assert claim["proof"] == "refuted"


def test_a_spooled_command_is_not_run_again(desk: Desk) -> None:
    label = spool(desk, "touch", "ran")
    (desk.folder / "ran").unlink()
    assert desk.memprove("checkpoint", "--next", "a").code == 0
    assert desk.memprove("rerun", label).problem == "rerun_untrusted"
    assert not (desk.folder / "ran").exists()


def test_secrets_are_cut_from_what_is_spooled(desk: Desk) -> None:
    secret = "ghp_" + "a1B2" * 9
    spool(desk, "sh", "-c", f"echo {secret} >&2", "DB_PASSWORD=hunter22")
    data = (desk.folder / ".memprove/spool/1-1.run").read_text()
    assert secret not in data
    assert "hunter22" not in data
    assert "[REDACTED:" in data


def test_without_a_session_or_its_key_nothing_is_spooled(desk: Desk) -> None:
    (desk.folder / ".memprove/spool/1.key").unlink()
    done = desk.memprove("run", "--", "sh", "-c", "exit 3", env=SHUT_IN)
    assert done.code == 3
    assert "memprove: not recorded: " in done.err
    assert files(desk) == []


def test_strict_is_content_with_the_spool(desk: Desk) -> None:
    assert desk.memprove("run", "--strict", "--", "true", env=SHUT_IN).code == 0
    (desk.folder / ".memprove/spool/1.key").unlink()
    assert desk.memprove("run", "--strict", "--", "true", env=SHUT_IN).code == 125


def test_adoption_is_no_operation_of_its_client(desk: Desk) -> None:
    first = desk.memprove("checkpoint", "--fact", "so", "--json").json
    spool(desk, "true")
    again = desk.memprove("checkpoint", "--fact", "so", "--json").json
    assert again["replayed"]
    assert again["claims"] == first["claims"]


def test_every_agents_key_is_its_own_and_never_printed(desk: Desk) -> None:
    done = desk.memprove("begin", "--task", "1", "--json")
    folder = desk.folder / ".memprove/spool"
    keys = [path.read_text().split()[1] for path in sorted(folder.glob("*.key"))]
    assert len(set(keys)) == 2
    logged = json.dumps(desk.memprove("log", "--json").json)
    for key in keys:
        assert key not in done.out + done.err + logged
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in folder.iterdir())
