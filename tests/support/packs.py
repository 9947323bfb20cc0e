"""A strict reader of Packs: what does not fit the grammar was forged."""

import re
from dataclasses import dataclass, field
from typing import Final

from memprove.ledger.domain.capsule import Capsule
from memprove.ledger.domain.events import DecisionState

HEADS: Final = (
    "Open",
    "Refuted",
    "Stale",
    "Proven",
    "Observed",
    "Asserted",
    "Decisions",
    "Runs",
    "Sessions",
)
NAME: Final = r"(?:K|[A-Za-z0-9._/@+-]+)"
PLAIN: Final = r"[A-Za-z0-9 .,:;/_()+-]+"
PATHS: Final = r"K(?:, K)*(?: and \d+ more)?"
VERDICT: Final = r"(?:lost|interrupted|failed|masked|vacuous|moved|passed)"
COUNTED: Final = r"(?:build|lint|other|test(?: \d+/\d+)?)(?:, \d+ skipped)?"
FEWER: Final = r"(?:, \d+ tests? \(\d+ in r\d+\))?"
TEST: Final = r"test K \w+(?:, flaky on this tree)?"
BEHIND: Final = rf"!?r\d+ K(?: in K)? (?:{COUNTED}{FEWER}(?: {VERDICT})?|{TEST})"
SINCE: Final = (
    rf"(?:, then {PATHS} changed(?:, which r\d+ itself made: name it in .evidence. ignore)?)?"
)
GAPS: Final = rf"r\d+ {VERDICT}(?:, r\d+ {VERDICT})*"
TASK: Final = re.compile(
    rf"Task 3 · (?:in_progress|blocked(?: Q)?|completed(?: with {GAPS})?)"
    r"(?: · accepted (?:stale|untested)(?: by an agent)? Q)*"
    rf"(?: · ignoring \d+ patterns?)?(?: · tree unknown: (?:K|{PLAIN}))? · Q"
)
ABOUT: Final = re.compile("About: Q")
NEXT: Final = re.compile(rf"Next \((?:{NAME}, )?Session \d+\): Q")
HEAD: Final = re.compile(rf"({'|'.join(HEADS)}) \((\d+)(?: of (\d+))?\)")
LEFT: Final = re.compile(r"Left out: ([a-z0-9 ,()…S-]+)")
CLAIM: Final = re.compile(
    rf"  (c\d+)(?: {BEHIND}(?:, {BEHIND})*(?:, \d+ more Runs?)?{SINCE}(?:, (?:K|{PLAIN}))? ·)?"
    rf"(?: (?:[cd]\d+ )+·)?(?: paths {PATHS} ·)? Q"
)
LINE: Final = {
    "Open": re.compile(r"  (o\d+) Q"),
    **dict.fromkeys(HEADS[1:6], CLAIM),
    "Decisions": re.compile(r"  (d\d+) (?:proposed|accepted|rejected) · (?:Q: )?Q because Q"),
    "Runs": re.compile(
        rf"  (r\d+) {VERDICT} {COUNTED}{FEWER}(?: \d+\.\d s)? tree (?:\w+|unknown: (?:K|{PLAIN}))"
        rf"(?: hidden: \d+)?(?:, stale)?(?: changed {PATHS})? K(?: in K)?"
    ),
    "Sessions": re.compile(
        rf"  Session (\d+) {NAME}(?: \({NAME}\))? (?:open|ended|abandoned)(?:, under Session \d+)?"
        r"(?: · Q)?"
    ),
}


@dataclass
class Read:
    """What a Pack shows and what it says it left out. *whole*: no ``…`` stands in for labels."""

    shown: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    whole: bool = True


def read(pack: str) -> Read:
    """Return what *pack* holds; AssertionError where a line is not of our grammar."""
    assert pack.endswith("\n")
    lines = [_masked(line) for line in pack[:-1].split("\n")]
    found = Read()
    assert TASK.fullmatch(lines.pop(0))
    if lines and lines[-1].startswith("Left out: "):
        _read_left_out(lines.pop(), found)
    if lines and ABOUT.fullmatch(lines[0]):
        found.shown.append("description")
        del lines[0]
    if lines and NEXT.fullmatch(lines[0]):
        found.shown.append("next action")
        del lines[0]
    order = -1
    while lines:
        head = HEAD.fullmatch(lines.pop(0))
        assert head
        assert HEADS.index(head[1]) > order
        order = HEADS.index(head[1])
        for line in lines[: int(head[2])]:
            matched = LINE[head[1]].fullmatch(line)
            assert matched, line
            found.shown.append(f"s{matched[1]}" if head[1] == "Sessions" else matched[1])
        del lines[: int(head[2])]
    return found


def expected(capsule: Capsule) -> set[str]:
    """Return the labels of all that a Pack shows or names as left out."""
    claims = {c.label for c in capsule.claims.values() if c.withdrawn is None}
    items = {item.label for item in capsule.live_items()}
    decisions = {
        d.label for d in capsule.decisions.values() if d.state is not DecisionState.SUPERSEDED
    }
    sessions = {
        f"s{s.number}"
        for s in capsule.sessions.values()
        if s.ended is None or s.abandoned or s.note
    }
    following = {"next action"} if capsule.next_action else set()
    following |= {"description"} if capsule.description.strip() else set()
    return claims | items | decisions | sessions | following | set(capsule.runs)


def _masked(line: str) -> str:
    """Return *line* with Q for each quoted text and K for each span of code."""
    line = re.sub("“[^“”\n]*”", "Q", line)
    return re.sub("`[^`]*`", "K", line)


def _read_left_out(line: str, found: Read) -> None:
    matched = LEFT.fullmatch(line)
    assert matched, line
    found.whole = "…" not in line
    for group in re.findall(r"([^()]+) \((?:claims|memprove show|memprove log)\)", matched[1]):
        words = group.removeprefix(", ")
        for text in ("description", "next action"):
            if text in words:
                found.left_out.append(text)
                words = words.replace(text, "")
        letter = "s" if words.startswith("Sessions ") else ""
        for word in words.removeprefix("Sessions ").replace("…", "").split():
            found.left_out += _expanded(letter, word)


def _expanded(letter: str, word: str) -> list[str]:
    matched = re.fullmatch(r"([a-z]?)(\d+)(?:-[a-z]?(\d+))?", word)
    assert matched, word
    first, last = int(matched[2]), int(matched[3] or matched[2])
    return [f"{letter or matched[1]}{number}" for number in range(first, last + 1)]
