"""What Claude Code makes of the texts in its files: ``${VAR}`` and ``${VAR:-default}``, no more."""

import re
from collections.abc import Mapping
from typing import Final

_REFERENCE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


def expanded(text: str, env: Mapping[str, str]) -> str:
    """Return *text* as the client hands it on; a variable that is unset stays as it is written."""

    def value(found: re.Match[str]) -> str:
        name, default = found[1], found[2]
        if default is not None:  # as in a shell: empty counts as unset
            return env.get(name) or default
        return env.get(name, found[0])

    return _REFERENCE.sub(value, text)
