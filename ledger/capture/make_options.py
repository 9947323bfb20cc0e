"""The options of ``make`` that decide whether anything is built, and whether its failure shows."""

import re
from collections.abc import Iterator, Sequence

GOING_ON = frozenset(("ignore-errors", "keep-going"))
BUILDING_NOTHING = frozenset(
    ("dry-run", "help", "just-print", "question", "recon", "touch", "version")
)

_LONG = GOING_ON | BUILDING_NOTHING | {"eval"}
_LETTERS = {"i": "ignore-errors", "k": "keep-going", "E": "eval"} | {
    "n": "dry-run",
    "h": "help",
    "q": "question",
    "t": "touch",
    "v": "version",
}
_HARMLESS_FLAG = re.compile(r"-?([jl][0-9.]*|[sw]|O[a-z]*)|--no-print-directory")


def goes_on(words: Sequence[str]) -> bool:
    """Return whether the ``make`` of *words* may lose a failure; what cannot be seen may."""
    return any(
        option in GOING_ON or option == "eval" or option[0] in "$`{" for option in options(words)
    )


def builds_nothing(words: Sequence[str]) -> bool:
    """Return whether the ``make`` of *words* only tells or pretends."""
    return not BUILDING_NOTHING.isdisjoint(options(words))


def sets_flags(word: str) -> bool:
    """Return whether *word* may give any ``make`` below it options, or errors to ignore."""
    if ".IGNORE" in word or ".SHELLFLAGS" in word:
        return True
    name, _, flags = word.partition("=")
    if name in ("MAKEFLAGS", "GNUMAKEFLAGS"):
        return not all(map(_HARMLESS_FLAG.fullmatch, flags.split()))
    return "MAKEFLAGS" in word


def options(words: Sequence[str]) -> Iterator[str]:
    """Yield the options in *words* by their long names, and the words that may hide some."""
    is_value = False
    for word in words[1:]:
        if is_value:
            is_value = False
        elif word.startswith("--"):
            name = word[2:].partition("=")[0]  # which GNU programs take when it is cut short
            yield from (full for full in sorted(_LONG) if name and full.startswith(name))
        elif word.startswith("-"):
            flags = re.split("[CfIoWEO]", word[1:])[0]  # the rest is the value of that letter
            valued = word[1 + len(flags) :]
            yield from (_LETTERS[letter] for letter in (*flags, *valued[:1]) if letter in _LETTERS)
            is_value = valued in tuple("CfIoWE")
        elif word[:1] in ("$", "`", "{"):
            yield word
