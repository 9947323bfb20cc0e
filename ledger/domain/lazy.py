"""Regular expressions that are compiled at their first use: most processes need few of them."""

import re
from typing import Any, AnyStr, cast


class _Lazy:
    """Stands for a pattern until something of it is asked for."""

    __slots__ = ("_flags", "_source", "fullmatch", "match", "search", "sub")

    def __init__(self, source: str | bytes, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self._source, self._flags)
        for method in ("fullmatch", "match", "search", "sub"):
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def lazily(source: AnyStr, flags: int = 0) -> "re.Pattern[AnyStr]":
    """Return the pattern of *source*, compiled when it is first used."""
    return cast("re.Pattern[AnyStr]", _Lazy(source, flags))
